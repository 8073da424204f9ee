"""Where a target is, seen from a reference, in a heading: eight directions on the floor plan (SEMANTICS 1 and 3).

Reasons why a direction is not certain:

* ``ambiguous``: the angle is too near to the next sector;
* ``centers_disagree``: the three centres (aabb, obb, vertex mean) give different sectors;
* ``centers_close``: the two centres are close on the floor plan;
* ``boxes_touch``, ``footprints_overlap``: the two objects are not clearly beside each other;
* ``attached``: one carries the other, directly or through a chain, certainly or possibly;
* ``unstable_facing``: the anchor and what it faces are too near on the floor plan;
* ``no_camera_heading``: the camera looks too steeply, is rolled too far, or is upside down;
* ``not_aligned``: north is arbitrary in this scene;
* ``compass_rounding``: the stated 8-way heading of the camera would give another direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike

from spacecast.errors import FrameError, RelationError
from spacecast.frames import (
    COMPASS,
    Array,
    Heading,
    Transform,
    camera_heading,
    heading_towards,
    is_facing_stable,
    sector_of,
    world_heading,
    wrap_deg,
)
from spacecast.geometry.hulls import footprints_overlap_m2
from spacecast.relations.answer import Answer

if TYPE_CHECKING:
    from spacecast.scene import Scene, SceneObject

FrameKind = Literal["world", "camera", "object"]


@dataclass(frozen=True)
class DirectionSettings:
    """When a direction is certain; SEMANTICS sections 3 and 4.1."""

    max_ambiguity: float = 0.7
    """Largest share of the way from a sector's centre to its border."""
    min_center_distance_m: float = 0.5
    """Centres that are closer on the floor plan have no certain direction."""
    touch_gap_m: float = 1e-3
    """Boxes with a smaller gap touch: scans are not exact to less."""
    overlap_m2: float = 1e-4
    """Footprints that share more than this overlap: 1 cm by 1 cm, so that touching is not overlapping."""


SETTINGS = DirectionSettings()


class Posed(Protocol):
    """Anything that stands for a camera: a view of a scan, or a camera of one's own."""

    @property
    def world_from_camera(self) -> Transform:
        """OpenCV axes."""
        ...


class DirectionValue(NamedTuple):
    """One direction: its word, the angle clockwise from forward in (-180, 180], and how near to the next sector."""

    value: str
    angle_deg: float
    ambiguity: float


class Headings(NamedTuple):
    """The heading that a direction is told in, once for each of the three centres, and what stands against it.

    They can be kept and used after a change: a heading that is frozen stays as it was before.
    """

    kind: FrameKind
    by_center: tuple[Heading | None, Heading | None, Heading | None]
    """For the aabb's centre, the obb's, and the mean of the vertices; None where there is no heading."""
    reasons: tuple[str, ...] = ()


class StatedCompass(NamedTuple):
    """The 8-way compass heading that a text gives for a camera."""

    value: str
    rounding_deg: float
    """Stated heading minus true heading, clockwise, in [-22.5, 22.5]."""


def direction(
    scene: Scene,
    target: int | str,
    *,
    reference: int | str,
    frame: FrameKind = "world",
    view: Posed | None = None,
    facing: int | str | None = None,
) -> Answer:
    """The direction of a target from a reference on the floor plan.

    ``camera``: ``front`` is farther from the camera. ``object``: the reference is the anchor, who stands at its centre
    and faces another object, or ``facing="camera"`` the camera of the view. ``world``: a compass word; with a view, the
    direction has to hold as well for somebody who takes the camera's stated 8-way heading for the true one.

    Swapping target and reference gives the opposite word in the camera and the world frame.

    Args:
        scene: where the objects are.
        target: id or unique label.
        reference: id or unique label.
        frame: whose heading.
        view: whose camera; needed for ``camera`` and for ``facing="camera"``.
        facing: what the anchor faces, for ``object``.

    Returns:
        ``value``: the word of the sector, None where there is no heading or the centres lie above one another.
        ``numbers``: ``angle_deg``, ``ambiguity``, ``heading_in_world`` (x, y).
        ``margins``: ``ambiguity``, ``ambiguity_as_stated`` (world with a view), ``center_distance_m`` (on the floor
        plan), ``box_gap_m``. ``reasons``: see the module.

    Raises:
        RelationError: an object and itself, or no view or facing where one is needed.
        UnknownObjectError: no such object, or several of that label.
    """
    headings = headings_of(scene, reference, frame=frame, view=view, facing=facing)
    answer = direction_in(scene, target, reference=reference, headings=headings)
    if frame != "world" or view is None or answer.value is None:
        return answer
    vector = _pair(scene, target, reference).vectors[0]
    try:
        stated = stated_compass(view.world_from_camera)
    except FrameError:
        return Answer(answer.value, answer.numbers, answer.margins, (*answer.reasons, "no_camera_heading"))
    as_read = direction_as_stated(vector, stated.rounding_deg)
    margins = {**answer.margins, "ambiguity_as_stated": as_read.ambiguity}
    reason = compass_rounding(vector, stated.rounding_deg)
    return Answer(answer.value, answer.numbers, margins, (*answer.reasons, *([reason] if reason else [])))


def headings_of(
    scene: Scene,
    reference: int | str,
    *,
    frame: FrameKind,
    view: Posed | None = None,
    facing: int | str | None = None,
) -> Headings:
    """The headings in which :func:`direction` tells directions from a reference.

    Raises:
        RelationError: no view or facing where one is needed, facing itself, or an unknown frame.
        UnknownObjectError: no such object, or several of that label.
    """
    anchor = scene.objects[scene.resolve(reference)]
    if facing is not None and frame != "object":
        raise RelationError(f"only the object frame faces something; found frame {frame!r} and facing {facing!r}")
    if frame == "world":
        north = world_heading()
        return Headings("world", (north, north, north), () if scene.is_aligned else ("not_aligned",))
    if frame == "camera":
        if view is None:
            raise RelationError("a direction in the camera frame needs a view")
        try:
            ahead = camera_heading(view.world_from_camera)
        except FrameError:
            return Headings("camera", (None, None, None), ("no_camera_heading",))
        return Headings("camera", (ahead, ahead, ahead))
    if frame != "object":
        raise RelationError(f"unknown frame {frame!r}; known: world, camera, object")
    return _facing(anchor, _faced_centers(scene, anchor, facing, view))


def direction_in(
    scene: Scene, target: int | str, *, reference: int | str, headings: Headings, attachment_of: Scene | None = None
) -> Answer:
    """As :func:`direction`, in headings that are given: for headings frozen before a change.

    Args:
        scene: where the objects are.
        target: id or unique label.
        reference: id or unique label.
        headings: of :func:`headings_of`.
        attachment_of: the state whose attachment counts, None for that of ``scene``: a search that knows that a change
            joins nothing need not derive it again.

    Raises:
        RelationError: an object and itself.
        UnknownObjectError: no such object, or several of that label.
    """
    pair = _pair(scene, target, reference, attachment_of)
    margins = {"center_distance_m": pair.distance_m, "box_gap_m": pair.gap_m}
    reasons = [*headings.reasons, *pair.reasons]

    found = [_told(vector, heading) for vector, heading in zip(pair.vectors, headings.by_center, strict=True)]
    first, heading = found[0], headings.by_center[0]
    if first is None or heading is None:
        return Answer(None, {}, margins, tuple(reasons))
    if first.ambiguity > SETTINGS.max_ambiguity:
        reasons.append("ambiguous")
    if any(other_told is None or other_told.value != first.value for other_told in found[1:]):
        reasons.append("centers_disagree")
    numbers: dict[str, Any] = {
        "angle_deg": first.angle_deg,
        "ambiguity": first.ambiguity,
        "heading_in_world": heading.forward_in_world,
    }
    return Answer(first.value, numbers, {"ambiguity": first.ambiguity, **margins}, tuple(reasons))


def direction_between(target_center: ArrayLike, reference_center: ArrayLike, heading: Heading) -> DirectionValue:
    """The direction of one point (2,) or (3,) in world from another, in a heading, wherever that starts.

    >>> direction_between([3.0, 1.0], [1.0, 1.0], world_heading())
    DirectionValue(value='east', angle_deg=90.0, ambiguity=0.0)

    Raises:
        FrameError: the points lie above one another.
    """
    vector = np.asarray(target_center, dtype=np.float64)[:2] - np.asarray(reference_center, dtype=np.float64)[:2]
    return _direction_of(vector, heading)


def stated_compass(world_from_camera: Transform) -> StatedCompass:
    """The camera's own heading to eight compass words, and what the rounding added.

    >>> stated_compass(Transform.looking_at([0.0, 0.0, 1.5], [1.0, 0.0, 1.5]))
    StatedCompass(value='east', rounding_deg=0.0)

    Raises:
        FrameError: the camera has no heading.
    """
    true_deg = camera_heading(world_from_camera).compass_deg
    value = sector_of(true_deg, COMPASS).value
    return StatedCompass(value, wrap_deg(45.0 * COMPASS.index(value) - true_deg))


def direction_as_stated(
    vector_in_world: ArrayLike, rounding_deg: float, move_in_world: ArrayLike = (0.0, 0.0)
) -> DirectionValue:
    """The compass direction that a viewer finds who takes the stated heading for the true one.

    What is seen turns with the error, clockwise by it; a move that the text gives in compass words does not.

    Args:
        vector_in_world: (2,) or (3,), from reference to target, before the move.
        rounding_deg: of :class:`StatedCompass`.
        move_in_world: (2,) or (3,), how far the target moves with respect to the reference, in compass words.

    Raises:
        FrameError: the vector has no horizontal part.
    """
    vector = np.asarray(vector_in_world, dtype=np.float64)[:2]
    angle = np.radians(rounding_deg)
    seen = np.array(
        [
            vector[0] * np.cos(angle) + vector[1] * np.sin(angle),
            vector[1] * np.cos(angle) - vector[0] * np.sin(angle),
        ]
    )
    return _direction_of(seen + np.asarray(move_in_world, dtype=np.float64)[:2], world_heading())


def compass_rounding(
    vector_in_world: ArrayLike, rounding_deg: float, move_in_world: ArrayLike = (0.0, 0.0)
) -> str | None:
    """``compass_rounding`` if the stated heading gives another direction than the true one, else None.

    Exactly: the words differ, or the ambiguity is above 0.7 either way. Arguments as in :func:`direction_as_stated`.
    """
    try:
        true = direction_as_stated(vector_in_world, 0.0, move_in_world)
        read = direction_as_stated(vector_in_world, rounding_deg, move_in_world)
    except FrameError:
        return "compass_rounding"
    holds = true.value == read.value and max(true.ambiguity, read.ambiguity) <= SETTINGS.max_ambiguity
    return None if holds else "compass_rounding"


class _Pair(NamedTuple):
    """What does not depend on a heading."""

    vectors: tuple[tuple[float, float], ...]
    """On the floor plan, from reference to target, for each of the three centres."""
    distance_m: float
    gap_m: float
    reasons: tuple[str, ...]


_pairs: WeakKeyDictionary[Scene, dict[tuple[int, int], _Pair]] = WeakKeyDictionary()


def _pair(scene: Scene, target: int | str, reference: int | str, attachment_of: Scene | None = None) -> _Pair:
    ids = scene.resolve(target), scene.resolve(reference)
    if attachment_of is not None:
        return _pair_of(attachment_of, scene.objects[ids[0]], scene.objects[ids[1]])
    known = _pairs.setdefault(scene, {})
    if ids not in known:
        known[ids] = _pair_of(scene, scene.objects[ids[0]], scene.objects[ids[1]])
    return known[ids]


def _pair_of(attachment_of: Scene, one: SceneObject, other: SceneObject) -> _Pair:
    if one.id == other.id:
        raise RelationError(f"{one.label} ({one.id}) has no direction from itself")
    vectors = (one.centers_in_world - other.centers_in_world)[:, :2]
    distance_m, gap_m = float(np.linalg.norm(vectors[0])), one.aabb.gap_m(other.aabb)
    reasons = _too_near(attachment_of, one, other, distance_m, gap_m)
    return _Pair(tuple((float(x), float(y)) for x, y in vectors), distance_m, gap_m, tuple(reasons))


def _told(vector: tuple[float, float], heading: Heading | None) -> DirectionValue | None:
    return _direction_of(vector, heading) if heading is not None and any(vector) else None


def _direction_of(vector: Array | tuple[float, float], heading: Heading) -> DirectionValue:
    angle_deg = heading.angle_deg_of(vector)
    sector = sector_of(angle_deg, heading.names)
    return DirectionValue(sector.value, angle_deg, sector.ambiguity)


def _faced_centers(scene: Scene, anchor: SceneObject, facing: int | str | None, view: Posed | None) -> Array:
    if facing is None:
        raise RelationError('a direction in the object frame needs what the anchor faces: an object, or "camera"')
    if facing == "camera":
        if view is None:
            raise RelationError("an anchor that faces the camera needs a view")
        return np.repeat(view.world_from_camera.translation[None], 3, axis=0)
    faced = scene.objects[scene.resolve(facing)]
    if faced.id == anchor.id:
        raise RelationError(f"{anchor.label} ({anchor.id}) cannot face itself")
    return np.asarray(faced.centers_in_world)


def _facing(anchor: SceneObject, faced_centers: Sequence[Array] | Array) -> Headings:
    headings: list[Heading | None] = []
    stable = True
    for center, faced in zip(anchor.centers_in_world, faced_centers, strict=True):
        stable = stable and is_facing_stable(center, faced)
        has_heading = np.linalg.norm(faced[:2] - center[:2]) > 0.0
        headings.append(heading_towards(center, faced) if has_heading else None)
    return Headings("object", (headings[0], headings[1], headings[2]), () if stable else ("unstable_facing",))


def _too_near(attachment_of: Scene, one: SceneObject, other: SceneObject, distance_m: float, gap_m: float) -> list[str]:
    reasons = []
    if distance_m < SETTINGS.min_center_distance_m:
        reasons.append("centers_close")
    if gap_m < SETTINGS.touch_gap_m:
        reasons.append("boxes_touch")
    if footprints_overlap_m2(one.footprint, other.footprint) > SETTINGS.overlap_m2:
        reasons.append("footprints_overlap")
    if (one.id, other.id) in attached_pairs(attachment_of):
        reasons.append("attached")
    return reasons


_attached: WeakKeyDictionary[Scene, frozenset[tuple[int, int]]] = WeakKeyDictionary()


def attached_pairs(scene: Scene) -> frozenset[tuple[int, int]]:
    """Pairs of ids, both ways round, of which one carries the other, directly or through a chain of certain or possible
    edges."""
    found = _attached.get(scene)
    if found is None:
        graph = scene.attachment
        down = [(parent, child) for parent in graph for child in nx.descendants(graph, parent)]
        found = frozenset(down) | frozenset((child, parent) for parent, child in down)
        _attached[scene] = found
    return found
