"""Whether the facts of a question hold together: with one another, and with what may be asked.

SEMANTICS sections 1 and 3 to 6 a second time, on numbers in the row alone (:mod:`spacecast.dataset.recompute`):
what an intervention says it does is what its words come to, every relation is certain before and after, and the
answer changes, or stays, as its type wants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spacecast.dataset import recompute

Facts = Mapping[str, Any]
Problem = tuple[str, str]
"""(kind of finding, detail)."""


@dataclass(frozen=True)
class CoherenceSettings:
    """Tolerances: facts are rounded to four places; bounds are those of SEMANTICS, stated a second time."""

    angle_deg: float = 0.05
    """Between an angle in the facts and the one from rounded centres, at least 0.5 apart."""
    ambiguity: float = 0.005
    """The same, for the share of the way to a border."""
    length_m: float = 1e-3
    """Between a length in the facts and the one computed."""
    rounding_m: float = 2e-4
    """Of a gap between two boxes whose corners are rounded."""
    heading: float = 1e-3
    """Between the numbers of two unit vectors."""
    min_center_distance_m: float = 0.5
    """Centres that are closer have no certain direction; SEMANTICS 3."""
    min_box_gap_m: float = 1e-3
    """Boxes with a smaller gap touch (own)."""
    min_facing_m: float = 0.3
    """Least horizontal distance of a stable facing; SEMANTICS 1."""
    min_facing_share: float = 0.5
    """Least horizontal share of a stable facing; SEMANTICS 1."""
    min_pitch_from_vertical_deg: float = 20.0
    """A camera that looks closer to straight up or down has no heading; SEMANTICS 1."""
    max_roll_deg: float = 20.0
    """A camera whose right axis is farther off horizontal has no heading; SEMANTICS 1."""
    move_distances_m: tuple[float, ...] = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
    """How far things are moved; SEMANTICS 5."""
    orbit_angles_deg: tuple[float, ...] = (45.0, 90.0, 135.0, 180.0)
    """How far things orbit; SEMANTICS 5."""
    layout_angles_deg: tuple[float, ...] = (90.0, 180.0, 270.0)
    """How far the layout turns; SEMANTICS 5."""


SETTINGS = CoherenceSettings()


def facts_problems(facts: Facts) -> Iterator[Problem]:
    """Facts that contradict one another, or that no certain answer has.

    Raises:
        InputError: they lack what is needed, or numbers lie in a grey zone.
        KeyError, TypeError, ValueError, IndexError: they are garbled.
    """
    for item in facts["objects"]:
        low, high = np.array(item["aabb"]["min"], float), np.array(item["aabb"]["max"], float)
        middle = np.array(item["center_in_world"], float)
        if (low > high).any() or np.abs((low + high) / 2.0 - middle).max() > SETTINGS.length_m:
            yield "facts", f"object {item['id']}: its centre is not the middle of its box"
    if len({item["id"] for item in facts["objects"]}) < len(facts["objects"]):
        yield "facts", "one object is there twice"
    parents = {int(edge["child"]): int(edge["parent"]) for edge in facts["attachment"]}
    for child in parents:
        above, seen = parents.get(child), {child}
        while above is not None and above not in seen:
            seen.add(above)
            above = parents.get(above)
        if above == child:
            yield "facts", f"object {child} carries itself"
    yield from _moment_problems(facts)
    if facts.get("intervention") is not None:
        yield from _intervention_problems(facts, facts["intervention"], recompute.centers(facts))
        yield from _ends_problems(facts)
        yield from _change_problems(facts)
    relation = facts["relation"]
    if uses_camera(facts):
        yield from _camera_problems(recompute.binding_matrix(facts))
    if relation["kind"] == "direction":
        yield from _direction_problems(facts)
    elif relation["kind"] == "distance":
        for moment in ("before", "after"):
            if relation.get(moment):
                yield from _distance_problems(float(relation[moment]["distance_m"]), moment)
    elif relation["kind"] == "attachment":
        carried = sorted(recompute.carried_by(facts, int(relation["target"])))
        if relation["before"].get("carried") != carried:
            yield "answer", f"carried is {relation['before'].get('carried')}, along the edges {carried}"
        yield from _possible_edges(facts, {int(relation["target"]), *carried})


def uses_camera(facts: Facts) -> bool:
    """True if a heading or a position of the binding view's camera goes into the answer or is stated."""
    frames = [frame for frame in (facts.get("frame"), *_frames_of(facts.get("intervention"))) if frame is not None]
    return facts["camera_compass"] is not None or any(
        frame["kind"] == "camera" or frame.get("facing") == "camera" for frame in frames
    )


def _frames_of(intervention: Facts | None) -> list[Facts]:
    if intervention is None:
        return []
    if intervention["kind"] == "sequence":
        return [frame for step in intervention["steps"] for frame in _frames_of(step)]
    return [intervention["frame"]] if "frame" in intervention else []


def _moment_problems(facts: Facts) -> Iterator[Problem]:
    """There is an answer after a change where there is a change, and a twin."""
    relation, twin = facts["relation"], facts.get("twin")
    if facts.get("intervention") is None:
        if relation.get("after") is not None:
            yield "facts", "there is an answer after a change, and no change"
        if twin is not None:
            yield "twin", "there is a question before a change, and no change"
        return
    if not relation.get("after"):
        yield "facts", "there is a change, and no answer after it"
    if twin is None:
        yield "twin", "the question before the change is not recorded"


# -- interventions ----------------------------------------------------------------------------------------------------


def _intervention_problems(facts: Facts, step: Facts, positions: recompute.Positions) -> Iterator[Problem]:
    """What a step says against what its words and the edges come to."""
    if step["kind"] == "sequence":
        for part in step["steps"]:
            yield from _intervention_problems(facts, part, positions)
            positions = recompute.apply(facts, part, positions)
        return
    if "object" in step:
        yield from _body_problems(facts, step)
    if step["kind"] == "move":
        yield from _move_problems(facts, step, positions)
    elif step["kind"] == "orbit":
        if float(step["angle_deg"]) not in SETTINGS.orbit_angles_deg:
            yield "facts", f"an orbit by {step['angle_deg']} degrees; known are {SETTINGS.orbit_angles_deg}"
        senses = (None,) if float(step["angle_deg"]) == 180.0 else ("clockwise", "counterclockwise")
        if step["sense"] not in senses:
            yield "facts", f"an orbit by {step['angle_deg']} degrees has the sense {step['sense']!r}"
    elif step["kind"] == "rotate_layout" and float(step["angle_deg"]) not in SETTINGS.layout_angles_deg:
        yield "facts", f"the layout turns by {step['angle_deg']} degrees; known are {SETTINGS.layout_angles_deg}"


def _body_problems(facts: Facts, step: Facts) -> Iterator[Problem]:
    """What goes is the certain closure of the root, which nothing carries."""
    root = int(step["object"])
    subtree = {root, *recompute.carried_by(facts, root)}
    stored = step.get("removed" if step["kind"] == "remove" else "moved")
    if stored is None or list(stored) != sorted(subtree):
        yield "facts", f"the intervention takes {stored}, along the edges {sorted(subtree)}"
    missing = sorted(subtree - {int(item["id"]) for item in facts["objects"]})
    if missing:
        yield "facts", f"{missing} go along and are not in facts.objects"
    carriers = sorted(e["parent"] for e in facts["attachment"] if e["child"] == root and e["certainty"] == "certain")
    if carriers:
        yield "not_certain", f"object {root} is taken off {carriers}, which carries it"
    yield from _possible_edges(facts, subtree)


def _move_problems(facts: Facts, step: Facts, positions: recompute.Positions) -> Iterator[Problem]:
    vector = recompute.move_vector(facts, step, positions)
    stored = np.array(step["vector_in_world"], float)
    if stored.shape != (3,) or np.abs(vector - stored).max() > SETTINGS.length_m:
        yield "facts", f"vector_in_world is {step['vector_in_world']}, in words {vector.round(4).tolist()}"
    if float(step["distance_m"]) not in SETTINGS.move_distances_m:
        yield "facts", f"a move by {step['distance_m']} m; known are {SETTINGS.move_distances_m}"
    frame = step["frame"]
    forward = recompute.heading(facts, frame, positions)
    if np.abs(forward - np.array(frame["heading_in_world"], float)).max() > SETTINGS.heading:
        yield "facts", f"the move's heading is {frame['heading_in_world']}, computed again {forward.round(4).tolist()}"
    if frame["kind"] == "object":
        if frame["anchor"] != step["object"]:
            yield "facts", f"object {step['object']} moves in the heading of object {frame['anchor']}"
        yield from _facing_problems(facts, frame, positions)


def _ends_problems(facts: Facts) -> Iterator[Problem]:
    """Which end of the relation goes along: the query, and never both."""
    intervention, relation, frame = facts["intervention"], facts["relation"], facts.get("frame")
    if intervention["kind"] not in ("move", "orbit"):
        return
    subtree = {int(intervention["object"]), *recompute.carried_by(facts, int(intervention["object"]))}
    query, still = int(relation["target"]), int(relation["reference"])
    if relation["kind"] == "direction" and frame is not None and frame["kind"] == "object":
        query, still = still, query
    if query not in subtree or still in subtree:
        yield "facts", f"the query {query} should go along and {still} should not; {sorted(subtree)} go"
    if intervention["kind"] == "orbit":
        around = int(intervention["around"])
        if frame is None or frame["kind"] != "object" or frame["facing"] != around:
            yield "facts", f"an orbit around {around}, and the query does not turn to face it"
        if still == around:
            yield "facts", f"what is looked for, {still}, is what the query faces"


def _change_problems(facts: Facts) -> Iterator[Problem]:
    """Whether the answer may stay as it was, and by how much it may change; SEMANTICS 6."""
    kind, relation = facts["intervention"]["kind"], facts["relation"]
    solved = recompute.solve(facts)
    if kind in ("rotate_layout", "orbit") and solved.before == solved.after:
        yield "unchanged", f"it is {solved.after} before and after; after {kind} an answer always changes"
    if kind == "move" and relation["kind"] == "distance":
        bins = [recompute.DISTANCE_BINS.index(value) for value in solved]
        if abs(bins[1] - bins[0]) != 1:
            yield "unchanged", f"from {solved.before} to {solved.after}: the distance changes by exactly one bin"
    if kind == "move" and relation["kind"] == "direction" and solved.before != solved.after:
        yield from _opposite_problems(facts, solved.after)
    if kind == "remove" and relation["kind"] == "occlusion":
        remover = int(facts["intervention"]["object"])
        gone = {remover, *recompute.carried_by(facts, remover)}
        target = int(relation["target"])
        if target == remover:
            yield "facts", f"object {target} is removed itself"
        if solved.before == "not visible":
            yield "not_certain", "the target is not visible before the change"
        if (solved.after == "not visible") != (target in gone):
            yield "answer", f"{target} is {solved.after} after {sorted(gone)} were removed"
        if target not in gone and solved.before != "occluded":
            yield "unchanged", f"it is {solved.before} before: neither revealed nor still occluded nor gone"


def _opposite_problems(facts: Facts, after: str) -> Iterator[Problem]:
    """What was moved that way cannot come to be on the other side, unless it was there before."""
    words = recompute.names_of(facts["frame"])
    step = facts["intervention"]
    if step["frame"]["kind"] != facts["frame"]["kind"]:
        return
    moves = recompute.COMPASS if step["frame"]["kind"] == "world" else recompute.MOVES
    turn = (words.index(after) - moves.index(step["direction"])) % 8
    # Where the query is looked from, the reference goes the other way.
    if turn == (0 if facts["frame"]["kind"] == "object" else 4):
        yield "answer", f"a move {step['direction']} cannot lead to {after}"


def _possible_edges(facts: Facts, subtree: set[int]) -> Iterator[Problem]:
    for edge in facts["attachment"]:
        if edge["certainty"] != "certain" and (edge["parent"] in subtree) != (edge["child"] in subtree):
            yield "not_certain", f"a possible edge joins {edge['parent']} and {edge['child']}, of which one moves"


# -- relations --------------------------------------------------------------------------------------------------------


def _distance_problems(distance_m: float, moment: str) -> Iterator[Problem]:
    margin, least = recompute.distance_margin_m(distance_m), recompute.SETTINGS.min_distance_to_border_m
    if distance_m < recompute.SETTINGS.min_distance_m - 1e-4 or margin < least - 1e-4:
        yield "not_certain", f"{moment}: {distance_m:.3f} m is {margin:.3f} m from a border of the bins, or too near"


def _direction_problems(facts: Facts) -> Iterator[Problem]:
    relation, frame = facts["relation"], facts["frame"]
    steps, start = recompute.motions(facts), recompute.centers(facts)
    end = recompute.carried_along(steps, start)
    yield from _numbers_problems(facts)
    used = end if recompute.turns_to_face(facts) else start
    forward = recompute.heading(facts, frame, used)
    if np.abs(forward - np.array(frame["heading_in_world"], float)).max() > SETTINGS.heading:
        yield "facts", f"heading_in_world is {frame['heading_in_world']}, computed again {forward.round(4).tolist()}"
    if frame["kind"] == "object":
        if frame["anchor"] != relation["reference"]:
            yield "facts", f"directions from {relation['reference']} in the heading of {frame['anchor']}"
        for place in (start, end) if recompute.turns_to_face(facts) else (start,):
            yield from _facing_problems(facts, frame, place)
    states = (start, end) if steps else (start,)
    target, reference = int(relation["target"]), int(relation["reference"])
    faced = frame["facing"]
    if isinstance(faced, int) and _box_gap_m(facts, [], faced, target) < SETTINGS.min_box_gap_m - SETTINGS.rounding_m:
        yield "not_certain", f"the target {target} touches {faced}, which is faced: it is in front in any picture"
    for number, place in enumerate(states):
        apart_m = float(np.linalg.norm((place[target] - place[reference])[:2]))
        if apart_m < SETTINGS.min_center_distance_m - SETTINGS.length_m:
            yield "not_certain", f"the centres are {apart_m:.2f} m apart"
        gap_m = _box_gap_m(facts, steps[: len(steps) * number], target, reference)
        if gap_m < SETTINGS.min_box_gap_m - SETTINGS.rounding_m:
            yield "not_certain", f"the boxes of {target} and {reference} touch {('before', 'after')[number]} the change"
    if target in recompute.carried_by(facts, reference) or reference in recompute.carried_by(facts, target):
        yield "not_certain", "one carries the other"
    yield from _compass_problems(facts, start, end)


def _numbers_problems(facts: Facts) -> Iterator[Problem]:
    """Angle and ambiguity before and after, and the sector of the other centre that the facts hold."""
    relation = facts["relation"]
    others = recompute.directions(facts, recompute.centers(facts, "obb"))
    for moment, found, other in zip(("before", "after"), recompute.directions(facts), others, strict=True):
        stored = relation.get(moment)
        if found is None or other is None or not stored:
            continue
        off = abs((float(stored["angle_deg"]) - found.angle_deg + 180.0) % 360.0 - 180.0)
        if off > SETTINGS.angle_deg or abs(float(stored["ambiguity"]) - found.ambiguity) > SETTINGS.ambiguity:
            yield (
                "facts",
                (
                    f"relation.{moment}: angle {stored['angle_deg']}, ambiguity {stored['ambiguity']}; "
                    f"computed again {found.angle_deg:.4f}, {found.ambiguity:.4f}"
                ),
            )
        if found.ambiguity > recompute.SETTINGS.max_ambiguity + 1e-3:
            yield "not_certain", f"{moment} the change: {found.value} with ambiguity {found.ambiguity:.3f}"
        on_the_border = other.ambiguity > 1.0 - SETTINGS.ambiguity  # there, rounded facts may read as the next sector
        if other.value != found.value and not on_the_border:
            yield "not_certain", f"{moment} the change: {found.value}, but {other.value} from the centres of the obbs"


def _facing_problems(facts: Facts, frame: Facts, place: recompute.Positions) -> Iterator[Problem]:
    vector = _faced(facts, frame, place) - place[frame["anchor"]]
    if not is_stable(vector):
        flat, full = float(np.hypot(vector[0], vector[1])), float(np.linalg.norm(vector))
        yield "not_certain", f"the facing is not stable: {flat:.2f} m apart on the floor plan, {full:.2f} m in all"


def is_stable(vector: NDArray[np.float64]) -> bool:
    """True if one who looks along a vector (3,) has a stable facing, within the rounding of facts."""
    flat, full = float(np.hypot(vector[0], vector[1])), float(np.linalg.norm(vector))
    slack = SETTINGS.length_m
    return flat >= SETTINGS.min_facing_m - slack and flat >= SETTINGS.min_facing_share * full - slack


def _faced(facts: Facts, frame: Facts, place: recompute.Positions) -> NDArray[np.float64]:
    if frame["facing"] == "camera":
        return recompute.binding_matrix(facts)[:3, 3]
    return place[frame["facing"]]


def _box_gap_m(facts: Facts, steps: list[recompute.Motion], one: int, other: int) -> float:
    """Between two aabbs after some motions; what turns by other angles than quarters gets the box of its corners."""
    bounds = []
    for object_id in (one, other):
        item = {int(item["id"]): item for item in facts["objects"]}[object_id]
        ends = np.array([item["aabb"]["min"], item["aabb"]["max"]], float)
        corners = np.stack([axis.ravel() for axis in np.meshgrid(*ends.T)], axis=1)
        for motion in steps:
            corners = motion.of(corners) if motion.takes(object_id) else corners
        bounds.append((corners.min(axis=0), corners.max(axis=0)))
    (low, high), (other_low, other_high) = bounds
    return float(np.linalg.norm(np.maximum(0.0, np.maximum(low - other_high, other_low - high))))


def _compass_problems(facts: Facts, start: recompute.Positions, end: recompute.Positions) -> Iterator[Problem]:
    """The stated heading of the camera, and whether it leads a reader astray."""
    stated = facts["camera_compass"]
    if stated is None:
        if facts["frame"]["kind"] == "world":
            yield "facts", "a compass question without camera_compass"
        return
    true = recompute.compass_of(recompute.camera_forward(recompute.binding_matrix(facts)))
    if stated != true:
        yield "facts", f"camera_compass is {stated!r}, the camera faces {true!r}"
        return
    if facts["frame"]["kind"] != "world":
        return
    before, after = recompute.directions(facts)
    target, reference = int(facts["relation"]["target"]), int(facts["relation"]["reference"])
    seen = start[target] - start[reference]
    readings = [("before", recompute.as_stated(facts, seen), before)]
    if after is not None:
        # What turns with the picture is the layout; what the text gives in compass words does not turn with it.
        shown = end[target] - end[reference]
        layout = facts["intervention"]["kind"] == "rotate_layout"
        read = recompute.as_stated(facts, shown) if layout else recompute.as_stated(facts, seen, shown - seen)
        readings.append(("after", read, after))
    for moment, read, truth in readings:
        if read.value != truth.value or read.ambiguity > recompute.SETTINGS.max_ambiguity + 1e-3:
            misled = f"{read.value} (ambiguity {read.ambiguity:.2f}) if the stated heading is taken for the true one"
            yield "not_certain", f"{moment} the change: {truth.value}, but {misled}"


def _camera_problems(world_from_camera: NDArray[np.float64]) -> Iterator[Problem]:
    if not has_heading(world_from_camera):
        pitch, roll = _pitch_and_roll(world_from_camera)
        yield "not_certain", f"the camera has no heading: {pitch:.0f} degrees from the vertical, rolled by {roll:.0f}"


def has_heading(world_from_camera: NDArray[np.float64]) -> bool:
    """True if a camera looks neither too steeply nor is rolled too far, nor upside down; SEMANTICS 1."""
    pitch, roll = _pitch_and_roll(world_from_camera)
    is_upright = world_from_camera[2, 1] <= 0.0
    return is_upright and pitch >= SETTINGS.min_pitch_from_vertical_deg and roll <= SETTINGS.max_roll_deg


def _pitch_and_roll(world_from_camera: NDArray[np.float64]) -> tuple[float, float]:
    """Degrees from the vertical, and of the right axis off horizontal."""
    right, forward = world_from_camera[:3, 0], world_from_camera[:3, 2]
    pitch = np.degrees(np.arccos(min(1.0, abs(float(forward[2])))))
    return float(pitch), float(np.degrees(np.arcsin(min(1.0, abs(float(right[2]))))))
