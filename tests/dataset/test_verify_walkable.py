"""Where furniture may end, a second way: rooms whose size is known, rims that are no fault, and what is really out."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hand_scans import scan_of
from test_remeasure_changes import facts_of, move

from spacecast.dataset.plausible import Plausible, plan_of
from spacecast.dataset.walkable import Walkable
from spacecast.scene import Scene

WALL = {"structure", "wall"}
FLOOR = ("floor", (-3.0, -3.0, -0.1), (3.0, 3.0, 0.0), {"structure", "floor"})
WALLS = {
    80: ("wall", (-3.1, -3.0, 0.0), (-3.0, 3.0, 2.5), WALL),
    81: ("wall", (3.0, -3.0, 0.0), (3.1, 3.0, 2.5), WALL),
    82: ("wall", (-3.0, 3.0, 0.0), (3.0, 3.1, 2.5), WALL),
}
RADIATOR = ("radiator", (-3.06, -0.5, 0.0), (-2.94, 0.5, 0.6))
"""Half of it is in the wall."""
CAN = ("trash can", (0.65, -0.1, 0.0), (0.85, 0.1, 0.3))
CRATE = ("crate", (-0.4, -0.2, 0.0), (0.4, 0.2, 0.8))
SHORT_FLOOR = ("floor", (-3.0, -3.0, -0.1), (2.4, 3.0, 0.0), {"structure", "floor"})
"""Along a wall, where cupboards stand, no floor was seen."""
CUPBOARDS = {
    5: ("cupboard", (2.4, 0.25, 0.0), (3.0, 1.2, 1.5)),
    6: ("cupboard", (2.4, -1.2, 0.0), (3.0, -0.25, 1.5)),
}


def rooms_of(scan) -> Walkable:
    loose = [i for i, item in scan.instances.items() if not item.is_structure]
    return Walkable(scan, [plan_of(scan.vertices[scan.instance_ids == i].astype(float)) for i in loose])


def test_a_room_is_its_floor_between_its_walls() -> None:
    walkable = rooms_of(scan_of({1: CRATE, 9: FLOOR, **WALLS}))
    (room,) = walkable.rooms
    assert room.sum() * 0.05**2 == pytest.approx(36.0, rel=0.03)
    assert walkable.held_m2(shapely.box(-0.5, -0.5, 0.5, 0.52), room) == pytest.approx(1.02)
    assert walkable.held_m2(shapely.box(3.2, 0.0, 4.0, 1.0), room) == 0.0


def test_a_wall_makes_two_rooms_of_one_and_what_is_seen_of_no_floor_is_unknown() -> None:
    partition = ("wall", (0.0, -3.0, 0.0), (0.1, 3.0, 2.5), WALL)
    assert len(rooms_of(scan_of({9: FLOOR, 83: partition, **WALLS})).rooms) == 2
    low = ("wall", (0.0, -3.0, 0.0), (0.1, 3.0, 0.25), WALL)
    assert len(rooms_of(scan_of({9: FLOOR, 83: low, **WALLS})).rooms) == 1
    assert not rooms_of(scan_of({1: CRATE})).is_known


@pytest.mark.parametrize(
    ("mover", "others", "intervention", "ends_outside"),
    [
        (RADIATOR, {}, move("right", 1.0), False),
        (RADIATOR, {}, move("right", 6.0), False),  # half of it in the other wall, as in this: it may
        (RADIATOR, {}, move("right", 6.1), True),  # all but a rim of it
        (RADIATOR, {}, move("right", 6.5), True),  # beyond the wall
        (RADIATOR, {}, move("left", 1.0), True),
        (RADIATOR, {}, move("forward", 3.0), False),  # in its own wall, but in the other wall with a rim only
        (RADIATOR, {}, move("forward", 3.5), True),
        (CAN, CUPBOARDS | {9: SHORT_FLOOR}, move("right", 2.0), False),  # on floor that the cupboards hide
        (CAN, {9: SHORT_FLOOR}, move("right", 2.0), True),  # beyond the floor
        (CAN, {}, move("right", 2.5), True),
        (CRATE, {}, move("right", 2.5), False),
        (CRATE, {}, move("right", 3.0), True),  # half of it
        (CRATE, {83: ("wall", (1.4, -3.0, 0.0), (1.5, 3.0, 2.5), WALL)}, move("right", 1.5), True),
        (CRATE, {83: ("wall", (1.0, -3.0, 0.0), (1.1, 3.0, 2.5), WALL)}, move("right", 2.0), True),  # through it
        (CRATE, {83: ("wall", (1.4, -1.0, 0.0), (1.6, 1.0, 2.5), WALL)}, move("right", 1.5), True),  # it stands free
        (CRATE, {83: ("wall", (1.78, -3.0, 0.0), (1.88, 3.0, 2.5), WALL)}, move("right", 1.5), True),
        (CRATE, {83: ("wall", (1.86, -3.0, 0.0), (1.96, 3.0, 2.5), WALL)}, move("right", 1.5), True),  # 4 cm
        (CRATE, {83: ("wall", (1.95, -3.0, 0.0), (2.05, 3.0, 2.5), WALL)}, move("right", 1.5), False),
    ],
)  # fmt: skip
def test_what_ends_outside_is_found_and_a_rim_is_no_fault(mover, others, intervention, ends_outside) -> None:
    boxes = {1: mover, 9: FLOOR, **WALLS, **others}
    scan = scan_of(boxes)
    facts = facts_of(scan, boxes, {1: "mover"}, intervention=intervention)
    found = [detail for kind, detail in Plausible(scan).problems(facts) if kind == "infeasible"]
    told = [("outside of their room" in detail or "deeper in walls" in detail) for detail in found]
    assert told == [True] * ends_outside, found


def test_what_stands_in_no_room_is_not_moved() -> None:
    away = ("crate", (5.0, 0.0, 0.0), (5.4, 0.4, 0.8))
    boxes = {1: away, 9: FLOOR, **WALLS}
    scan = scan_of(boxes)
    facts = facts_of(scan, boxes, {1: "mover"}, intervention=move("left", 1.0))
    assert ("infeasible", "what moves stands in no room") in list(Plausible(scan).problems(facts))


@pytest.mark.parametrize("shift", [0.0, 0.013, 0.031])
def test_two_ways_to_find_a_room_differ_by_a_rim(shift) -> None:
    """Whatever the walls' place on the grid."""
    moved = {
        i: (label, np.add(low, (shift, shift, 0.0)), np.add(high, (2 * shift, shift, 0.0)), *traits)
        for i, (label, low, high, *traits) in {**WALLS, **CUPBOARDS}.items()
    }
    scan = scan_of({1: CRATE, 9: SHORT_FLOOR, **moved})
    (room,) = rooms_of(scan).rooms
    (other,) = Scene.from_scan(scan).rooms
    perimeter_m = float(other.polygon.length)
    assert abs(room.sum() * 0.05**2 - other.area_m2) < 0.05 * perimeter_m
    assert rooms_of(scan).held_m2(other.polygon, room) > other.area_m2 - 0.05 * perimeter_m
