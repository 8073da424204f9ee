"""Every answer again, from the facts of a question alone.

Plain numpy, written from the page that says what every answer means (SEMANTICS 1, 3 and 5). It shares no code with
``spacecast.relations``, nor the headings of ``spacecast.frames``: a fault there is not repeated here. Nothing here
reads an answer: not ``relation.before.value``, not ``relation.after.value``, not a tag.

All vectors are in world: +x east, +y north, z up; angles in degrees, clockwise seen from above.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacecast.errors import InputError

Array = NDArray[np.float64]
Facts = Mapping[str, Any]
Center = Literal["aabb", "obb"]
Positions = dict[int, Array]
"""Centre (3,) of every object in the facts that is there, by id."""

EGOCENTRIC = ("front", "front-right", "right", "back-right", "back", "back-left", "left", "front-left")
COMPASS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")
MOVES = (
    *("forward", "forward-right", "right", "backward-right"),
    *("backward", "backward-left", "left", "forward-left"),
)
DISTANCE_BINS = ("very close", "close", "moderate", "far")


@dataclass(frozen=True)
class RecomputeSettings:
    """Numbers of SEMANTICS sections 3 and 4, stated here a second time."""

    sector_deg: float = 45.0
    """Width of a direction."""
    max_ambiguity: float = 0.7
    """Directions are asked about up to this share of the way from the sector's middle to its border."""
    distance_borders_m: tuple[float, float, float] = (1.0, 2.0, 3.3)
    """Borders of the four bins; a border belongs to the bin above it, ``far`` begins above the last."""
    min_distance_to_border_m: float = 0.1
    """Least distance from a border that is asked about."""
    min_distance_m: float = 0.2
    """Least distance that is asked about."""
    min_silhouette_px: float = 400.0
    """Least silhouette at 640x480."""
    not_occluded_blocked: float = 0.005
    """Blocked, or opened, below this is not occluded."""
    not_occluded_slivers: float = 0.03
    """Blocked below this where only slivers are blocked."""
    occluded_opened: float = 0.10
    """Opened above this is occluded."""
    min_visible_px: float = 16.0
    """Least visible pixels of what is occluded, in a mask 640 wide, whatever its height."""
    min_visible_share: float = 0.05
    """Least visible share of what is occluded."""
    pairwise_opened: float = 0.10
    """The other hides at least this share, opened, of what is occluded by it."""
    pairwise_most: float = 0.5
    """The other is the first hit on more than this share of what hides the occluded one."""
    pairwise_neither: float = 0.005
    """Each hides less than this of the other, opened, where neither occludes."""


SETTINGS = RecomputeSettings()


class Direction(NamedTuple):
    """A direction as computed: its word, its angle in (-180, 180] and its ambiguity in [0, 1]."""

    value: str
    angle_deg: float
    ambiguity: float


class Solved(NamedTuple):
    """The relation before and after the intervention; ``after`` is None where there is none.

    A value is a word, or for attachment the tuple of the ids that are carried, sorted.
    """

    before: Any
    after: Any

    @property
    def answer(self) -> Any:
        """What the question asks for."""
        return self.before if self.after is None else self.after


def solve(facts: Facts) -> Solved:
    """The relation that a question asks for.

    Raises:
        InputError: the facts lack what the relation needs, or hold numbers that no certain answer has.
    """
    relation = facts["relation"]
    changed = facts.get("intervention") is not None
    kind = relation["kind"]
    if kind == "direction":
        before, after = directions(facts)
        return Solved(before.value, after.value if after else None)
    if kind == "attachment":
        carried = tuple(sorted(carried_by(facts, int(relation["target"]))))
        return Solved(carried, None)
    read = {"distance": distance_bin, "occlusion": occlusion_state, "pairwise_occlusion": pairwise_state}.get(kind)
    if read is None:
        raise InputError(f"relation.kind is {kind!r}, which has no meaning here")
    scale = _picture_scale(facts)
    values = []
    for moment in ("before", "after") if changed else ("before",):
        numbers = relation.get(moment)
        if not numbers:
            raise InputError(f"relation.{moment} is empty")
        unseen = kind == "pairwise_occlusion" and moment == "before" and len(facts["views"]) > 1
        values.append(state_of_unseen(numbers) if unseen else read(numbers, scale))
    return Solved(values[0], values[1] if changed else None)


def letters_of(labels: Sequence[str], values: Sequence[str], answer: object, *, kind: str) -> tuple[str, ...]:
    """The letters of the options that mean an answer; for attachment, of all that are carried."""
    if kind == "attachment" and isinstance(answer, tuple):
        carried = {str(i) for i in answer}
        return tuple(label for label, value in zip(labels, values, strict=True) if str(value) in carried)
    return tuple(label for label, value in zip(labels, values, strict=True) if value == answer)


# -- directions -----------------------------------------------------------------------------------------------------


def directions(facts: Facts, start: Positions | None = None) -> tuple[Direction, Direction | None]:
    """The direction of ``relation.target`` from ``relation.reference`` in the frame, before and after.

    Args:
        facts: of a direction.
        start: centres before the change, if others than the middle of the aabb are to be looked at; what is done is
            counted from that in any case.
    """
    frame, start = facts["frame"], centers(facts) if start is None else start
    before = _direction(facts, start, heading(facts, frame, start))
    if facts.get("intervention") is None:
        return before, None
    end = carried_along(motions(facts), start)
    return before, _direction(facts, end, heading(facts, frame, end if turns_to_face(facts) else start))


def _direction(facts: Facts, positions: Positions, forward: Array) -> Direction:
    relation = facts["relation"]
    target, reference = int(relation["target"]), int(relation["reference"])
    for end in (target, reference):
        if end not in positions:
            raise InputError(f"relation names object {end}, which facts.objects does not hold")
    return direction_of(positions[target] - positions[reference], forward, names_of(facts["frame"]))


def names_of(frame: Facts) -> tuple[str, ...]:
    """The eight words of a frame, clockwise from forward."""
    return COMPASS if frame["kind"] == "world" else EGOCENTRIC


def direction_of(vector: Array, forward: Array, names: tuple[str, ...] = EGOCENTRIC) -> Direction:
    """The direction of a vector, of which the first two numbers count, in a heading whose forward (2,) is a unit."""
    angle = angle_deg(vector, forward)
    nearest = round(angle / SETTINGS.sector_deg)
    off = abs(angle - SETTINGS.sector_deg * nearest) / (SETTINGS.sector_deg / 2)
    return Direction(names[nearest % 8], angle, off)


def angle_deg(vector: Array, forward: Array) -> float:
    """Clockwise from forward, in (-180, 180]."""
    # As complex numbers with north as the real axis, a turn clockwise is a turn back: angle = arg(forward / vector).
    one, other = complex(forward[0], forward[1]), complex(vector[0], vector[1])
    if abs(other) == 0.0:
        raise InputError("a vector without a horizontal part has no direction")
    angle = float(np.degrees(np.angle(one / other)))
    return 180.0 if angle == -180.0 else angle


def turned(vector: Array, clockwise_deg: float) -> Array:
    """Vectors (..., 2) or (..., 3) turned clockwise seen from above; z is kept."""
    found = np.array(vector, dtype=np.float64)
    plan = (found[..., 0] + 1j * found[..., 1]) * np.exp(-1j * np.radians(clockwise_deg))
    found[..., 0], found[..., 1] = plan.real, plan.imag
    return found


def heading(facts: Facts, frame: Facts, positions: Positions) -> Array:
    """Forward (2,) of a frame, from the views and from where things are.

    Raises:
        InputError: the binding view, the anchor or what it faces is not in the facts.
    """
    kind = frame["kind"]
    if kind == "world":
        return np.array([0.0, 1.0])
    if kind == "camera":
        return camera_forward(binding_matrix(facts))
    if kind != "object":
        raise InputError(f"frame.kind is {kind!r}; known are camera, object, world")
    anchor, facing = frame["anchor"], frame["facing"]
    if anchor not in positions or (facing != "camera" and facing not in positions):
        raise InputError(f"frame stands at {anchor} and faces {facing}, which facts.objects does not hold")
    faced = binding_matrix(facts)[:3, 3] if facing == "camera" else positions[facing]
    return _unit((faced - positions[anchor])[:2])


def turns_to_face(facts: Facts) -> bool:
    """True if the observer turns, after the change, to what it faces: it does after an orbit.

    Every other facing is kept from before the change.
    """
    intervention = facts.get("intervention")
    while intervention is not None and intervention["kind"] == "sequence":
        intervention = intervention["steps"][-1]
    return intervention is not None and intervention["kind"] == "orbit"


def binding_matrix(facts: Facts) -> Array:
    """(4, 4) ``world_from_camera`` of the binding view; of the first view where none binds."""
    name = facts.get("binding_view")
    views = [view for view in facts["views"] if name is None or view["name"] == name]
    if not views:
        raise InputError(f"binding_view is {name!r}, which facts.views does not hold")
    return matrix_of(views[0])


def matrix_of(view: Facts) -> Array:
    """(4, 4) ``world_from_camera`` of a view."""
    return np.array(view["world_from_camera"], dtype=np.float64).reshape(4, 4)


def camera_forward(world_from_camera: Array) -> Array:
    """Forward (2,) of a camera: its third axis, laid on the floor plan."""
    return _unit(world_from_camera[:2, 2])


def compass_of(forward: Array) -> str:
    """The compass word that a forward (2,) is rounded to."""
    return direction_of(forward, np.array([0.0, 1.0]), COMPASS).value


def as_stated(facts: Facts, seen: Array, told: Array | None = None) -> Direction:
    """The compass direction that one finds who holds the stated heading of the camera to be its true one.

    Args:
        facts: with the binding view and ``camera_compass``.
        seen: (3,) from reference to target, as the picture shows it: it turns with the error of the statement.
        told: (3,) a further displacement that the text gives in compass words: it does not.
    """
    stated = str(facts["camera_compass"])
    if stated not in COMPASS:
        raise InputError(f"camera_compass is {stated!r}, which is no compass word")
    north = np.array([0.0, 1.0])
    true_deg = angle_deg(camera_forward(binding_matrix(facts)), north)
    found = turned(seen, SETTINGS.sector_deg * COMPASS.index(stated) - true_deg)
    return direction_of(found if told is None else found + told, north, COMPASS)


def _unit(vector: Array) -> Array:
    length = float(np.hypot(vector[0], vector[1]))
    if length < 1e-9:
        raise InputError("a heading without a horizontal part: the facts name one point twice")
    return np.asarray(vector, dtype=np.float64) / length


# -- interventions --------------------------------------------------------------------------------------------------


def centers(facts: Facts, which: Center = "aabb") -> Positions:
    """Centres before the change: the middle of the aabb, or that of the obb."""
    if which == "obb":
        return {int(item["id"]): np.array(item["obb"]["center"], float) for item in facts["objects"]}
    return {
        int(item["id"]): (np.array(item["aabb"]["min"], float) + np.array(item["aabb"]["max"], float)) / 2.0
        for item in facts["objects"]
    }


class Motion(NamedTuple):
    """One step of an intervention: a turn about a vertical axis, and then a shift, of what goes as one.

    Attributes:
        moved: ids, or None for all that is no part of the building.
        removed: ids that are gone.
        clockwise_deg: the turn, seen from above.
        pivot: (3,) a point of its axis, in world.
        shift: (3,) in world.
    """

    moved: frozenset[int] | None
    removed: frozenset[int]
    clockwise_deg: float
    pivot: Array
    shift: Array

    def takes(self, object_id: int) -> bool:
        """True if an object that is no part of the building goes along."""
        return self.moved is None or object_id in self.moved

    def of(self, points: Array) -> Array:
        """Where points (..., 3) of what goes along come to be."""
        return np.asarray(self.pivot + turned(points - self.pivot, self.clockwise_deg) + self.shift)


def motions(facts: Facts) -> list[Motion]:
    """What the intervention of some facts comes to, step by step; empty where there is none."""
    found: list[Motion] = []
    if facts.get("intervention") is not None:
        _follow(facts, facts["intervention"], centers(facts), found)
    return found


def apply(facts: Facts, intervention: Facts, positions: Positions) -> Positions:
    """Where everything is after an intervention; what is removed is not there."""
    return _follow(facts, intervention, positions, [])


def carried_along(steps: Sequence[Motion], positions: Positions) -> Positions:
    """Where points of objects, one each, are after some motions; what is removed is not there."""
    for motion in steps:
        positions = {i: motion.of(p) if motion.takes(i) else p for i, p in positions.items() if i not in motion.removed}
    return positions


def _follow(facts: Facts, intervention: Facts, positions: Positions, found: list[Motion]) -> Positions:
    """Adds the motions of an intervention to a list; where everything is after it."""
    if intervention["kind"] == "sequence":
        for step in intervention["steps"]:
            positions = _follow(facts, step, positions, found)
        return positions
    found.append(motion_of(facts, intervention, positions))
    return carried_along(found[-1:], positions)


def motion_of(facts: Facts, step: Facts, positions: Positions) -> Motion:
    """What a single intervention comes to where objects are at some positions.

    Raises:
        InputError: it has no meaning.
    """
    kind, still = step["kind"], np.zeros(3)
    if kind == "rotate_layout":
        pivot = np.array([*step["center_in_world"], 0.0], dtype=np.float64)
        return Motion(None, frozenset(), float(step["angle_deg"]), pivot, still)
    if kind not in ("remove", "move", "orbit", "spin"):
        raise InputError(f"intervention.kind is {kind!r}, which has no meaning here")
    root = int(step["object"])
    subtree = frozenset({root, *carried_by(facts, root)})
    if kind == "remove":
        return Motion(frozenset(), subtree, 0.0, still, still)
    if kind == "move":
        return Motion(subtree, frozenset(), 0.0, still, move_vector(facts, step, positions))
    angle = float(step["angle_deg"])
    clockwise_deg = -angle if step["sense"] == "counterclockwise" else angle
    if root not in positions:
        raise InputError(f"the intervention names object {root}, which facts.objects does not hold")
    if kind == "spin":
        return Motion(subtree, frozenset(), clockwise_deg, positions[root], still)
    around = int(step["around"])
    if around not in positions or around in subtree:
        raise InputError(f"object {root} orbits {around}, which goes along, or which facts.objects does not hold")
    spoke = positions[root] - positions[around]
    return Motion(subtree, frozenset(), 0.0, still, turned(spoke, clockwise_deg) - spoke)


def move_vector(facts: Facts, intervention: Facts, positions: Positions) -> Array:
    """(3,) the way that a ``move`` goes, from its words."""
    frame, word = intervention["frame"], intervention["direction"]
    words = COMPASS if frame["kind"] == "world" else MOVES
    if word not in words:
        raise InputError(f"a move in the {frame['kind']} heading goes {word!r}; known are {', '.join(words)}")
    plan = turned(heading(facts, frame, positions), SETTINGS.sector_deg * words.index(word))
    return np.array([*(plan * float(intervention["distance_m"])), 0.0])


def carried_by(facts: Facts, root: int) -> set[int]:
    """Ids of what is carried by an object, directly or through what it carries, along certain edges."""
    found: set[int] = set()
    grew = True
    while grew:
        level = {
            int(edge["child"])
            for edge in facts["attachment"]
            if edge["certainty"] == "certain" and (edge["parent"] == root or edge["parent"] in found)
        }
        grew = not level <= found
        found |= level
    return found - {root}


# -- distance and occlusion, from their numbers -----------------------------------------------------------------------


def distance_bin(numbers: Facts, scale: float = 1.0) -> str:
    """The bin of ``distance_m``."""
    distance_m = float(numbers["distance_m"])
    near, middle, far = SETTINGS.distance_borders_m
    if distance_m > far:
        return DISTANCE_BINS[3]
    return DISTANCE_BINS[(distance_m >= near) + (distance_m >= middle)]


def distance_margin_m(distance_m: float) -> float:
    """From the nearest border of a bin."""
    return min(abs(distance_m - border) for border in SETTINGS.distance_borders_m)


def occlusion_state(numbers: Facts, scale: float = 1.0) -> str:
    """The state that ``silhouette_px``, ``blocked``, ``opened`` (and ``opened_near``) stand for.

    Args:
        numbers: of one object in one view.
        scale: area of the mask over that of 640x480.

    Raises:
        InputError: the numbers lie in a grey zone.
    """
    silhouette = float(numbers["silhouette_px"])
    blocked, opened = float(numbers["blocked"]), float(numbers["opened"])
    opened_near = float(numbers.get("opened_near", opened))
    visible = silhouette * (1.0 - blocked)
    large = silhouette >= SETTINGS.min_silhouette_px * scale
    if silhouette == 0.0 or (large and visible < 0.5):
        return "not visible"
    slivers = opened < SETTINGS.not_occluded_blocked and blocked < SETTINGS.not_occluded_slivers
    if large and (blocked < SETTINGS.not_occluded_blocked or slivers):
        return "not occluded"
    seen = visible >= SETTINGS.min_visible_px - 0.5 and 1.0 - blocked >= SETTINGS.min_visible_share
    if large and opened_near > SETTINGS.occluded_opened and seen:
        return "occluded"
    raise InputError(
        f"silhouette {silhouette:.0f} px, blocked {blocked:.4f}, opened {opened:.4f} is neither not occluded, nor "
        "occluded, nor not visible"
    )


def pairwise_state(numbers: Facts, scale: float = 1.0) -> str:
    """Who occludes whom, from ``query_hidden`` and ``reference_hidden``: the opened share of each that the other hides.

    Args:
        numbers: of both objects in one view, with ``query_silhouette_px`` and ``reference_silhouette_px``.
        scale: area of the mask over that of 640x480.

    Raises:
        InputError: the numbers lie in a grey zone, a silhouette is too small, or each hides a part of the other.
    """
    query, reference = float(numbers["query_hidden"]), float(numbers["reference_hidden"])
    least_px = SETTINGS.min_silhouette_px * scale
    if min(float(numbers["query_silhouette_px"]), float(numbers["reference_silhouette_px"])) < least_px:
        raise InputError("a silhouette is too small for a pairwise state")
    if max(query, reference) < SETTINGS.pairwise_neither:
        return "neither"
    if query >= SETTINGS.pairwise_opened > reference:
        return "query_occluded"
    if reference >= SETTINGS.pairwise_opened > query:
        return "reference_occluded"
    raise InputError(f"query hidden {query:.4f}, reference hidden {reference:.4f}: no pairwise state is certain")


def state_of_unseen(numbers: Facts) -> str:
    """``neither``, the pairwise state before a move into main view B, of which the query shows nothing; SEMANTICS 6.

    Raises:
        InputError: one covers a part of the other even so.
    """
    covered = max(float(numbers["query_hidden"]), float(numbers["reference_hidden"]))
    if covered < SETTINGS.pairwise_neither:
        return "neither"
    raise InputError(f"before the move one of the two covers {covered:.4f} of the other in main view B")


def asked_view(facts: Facts) -> Facts:
    """The view that an occlusion is asked about: the one that binds; of a chain the last, main view B.

    Raises:
        InputError: the binding view is not in the facts.
    """
    if facts["relation"]["kind"] == "pairwise_occlusion" and len(facts["views"]) > 1:
        return facts["views"][-1]  # type: ignore[no-any-return]
    name = facts.get("binding_view")
    views = [view for view in facts["views"] if name is None or view["name"] == name]
    if not views:
        raise InputError(f"binding_view is {name!r}, which facts.views does not hold")
    return views[0]  # type: ignore[no-any-return]


def _picture_scale(facts: Facts) -> float:
    """Area of the masks, which are 640 wide, over that of 640x480."""
    view = asked_view(facts)
    return round(640.0 * view["height"] / view["width"]) / 480.0
