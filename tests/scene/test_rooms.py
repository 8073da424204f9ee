"""Rooms: an L, two rooms joined by a door, an unseen floor, the real flat."""

from __future__ import annotations

import time

import numpy as np
import pytest
import shapely

from spacecast.errors import SpacecastError
from spacecast.frames import Transform
from spacecast.scene import LabelledBox, Scene

from .hand import Thing, block, joined, scene_of, sheet, thing
from .real import read_scan


def wall(id: int, start: tuple[float, float], end: tuple[float, float]) -> Thing:
    """A wall 2.5 high and 0.1 thick along the plan, its middle from start to end (along x or y)."""
    low, high = np.minimum(start, end) - 0.05, np.maximum(start, end) + 0.05
    return thing(id, "wall", block((*low, 0.0), (*high, 2.5), 0.05), traits="structure wall")


def floor(id: int, *rectangles: tuple[float, float, float, float]) -> Thing:
    parts = [sheet((x0, y0, 0), (x1 - x0, 0, 0), (0, y1 - y0, 0), 0.04) for x0, y0, x1, y1 in rectangles]
    return thing(id, "floor", joined(parts), traits="structure floor")


def ell() -> list[Thing]:
    """5 by 4 without its north-east quarter of 2 by 2: 16 square metres of floor to the walls' middles."""
    corners = [(0, 0), (5, 0), (5, 2), (3, 2), (3, 4), (0, 4)]
    walls = [wall(900 + k, corners[k], corners[(k + 1) % 6]) for k in range(6)]
    return [floor(800, (0, 0, 5, 2), (0, 2, 3, 4)), *walls]


def test_an_ell() -> None:
    scene = scene_of(ell())
    (room,) = scene.rooms
    # Inside the walls' faces: 4.9 by 1.9, and 2.9 by 2.0 above it; a cell more or less along 18 m of wall.
    assert room.area_m2 == pytest.approx(4.9 * 1.9 + 2.9 * 2.0, abs=18 * 0.05)
    assert room.polygon.area == pytest.approx(room.area_m2)
    assert room.center_in_world == pytest.approx(
        ((10 * 2.5 + 6 * 1.5) / 16, (10 * 1.0 + 6 * 3.0) / 16), abs=0.05
    )  # fmt: skip
    assert not shapely.contains_xy(room.polygon, 4.0, 3.0)
    assert shapely.contains_xy(room.polygon, 4.0, 1.0)
    assert scene.room_center_in_world == pytest.approx(room.center_in_world)


def two_rooms(traits: str) -> list[Thing]:
    """4 by 3 and 3 by 3 with a wall between at x = 4, which has a way of 0.8 through it that something fills."""
    around = [wall(900, (0, 0), (7, 0)), wall(901, (7, 0), (7, 3)), wall(902, (7, 3), (0, 3)),
              wall(903, (0, 3), (0, 0)), wall(904, (4, 0), (4, 1.1)), wall(905, (4, 1.9), (4, 3))]  # fmt: skip
    door = thing(700, "door", block((3.96, 1.15, 0.0), (4.04, 1.85, 0.2), 0.05), traits=traits)
    desk = thing(1, "desk", block((0.5, 0.5, 0.0), (1.5, 1.2, 0.75)))
    bed = thing(2, "bed", block((5.0, 0.5, 0.0), (6.5, 2.5, 0.5)))
    return [floor(800, (0, 0, 7, 3)), *around, door, desk, bed]


def test_a_door_parts_two_rooms() -> None:
    scene = scene_of(two_rooms("structure door"))
    large, small = scene.rooms
    assert large.area_m2 == pytest.approx(3.9 * 2.9, abs=0.7)
    assert small.area_m2 == pytest.approx(2.9 * 2.9, abs=0.6)
    assert scene.room_of("desk") is large
    assert scene.room_of("bed") is small


def test_somebody_stands_in_the_room_that_is_near() -> None:
    scene = scene_of(two_rooms("structure door"))
    large = scene.rooms[0]
    for room in scene.rooms:
        assert scene.room_at(room.center_in_world) is room
        x_low = room.polygon.bounds[0]
        assert scene.room_at((x_low, room.center_in_world[1], 1.5)) is room
    assert scene.room_at((large.polygon.bounds[0] - 0.25, large.center_in_world[1])) is large
    assert scene.room_at((large.polygon.bounds[0] - 0.35, large.center_in_world[1])) is None


def test_an_open_way_joins_them() -> None:
    scene = scene_of([t for t in two_rooms("structure door") if t.id != 700])
    assert len(scene.rooms) == 1


def test_floor_under_furniture_counts_although_it_is_not_seen() -> None:
    things = [t for t in ell() if t.id != 800]
    unseen = (1.0, 1.0, 2.4, 2.3)  # under a bed of 1.4 by 1.3
    seen = floor(800, (0, 0, 5, 1.0), (0, 1.0, 1.0, 4), (2.4, 1.0, 5, 2), (2.4, 2, 3, 4), (1.0, 2.3, 2.4, 4))
    bed = thing(1, "bed", block((unseen[0], unseen[1], 0.1), (unseen[2], unseen[3], 0.5)))
    with_bed = scene_of([*things, seen, bed])
    assert with_bed.rooms[0].area_m2 == pytest.approx(scene_of(ell()).rooms[0].area_m2, abs=0.4)
    assert shapely.contains_xy(with_bed.rooms[0].polygon, 1.7, 1.6)


def test_rooms_stay_when_things_move() -> None:
    scene = scene_of(two_rooms("structure door"))
    pose = Transform.from_translation((0.5, 0.5, 0.0), target="world", source="object")
    assert scene._with_poses({1: pose}, removed=[2]).rooms is scene.rooms


@pytest.mark.parametrize("quarter", [1, 2, 3])
def test_rooms_turn_with_the_scene(quarter: int) -> None:
    turn = Transform.from_yaw_deg(90.0 * quarter, target="world", source="world")
    turned = [
        item._replace(parts=[(turn @ vertices + (7.0, -3.0, 5.0), faces) for vertices, faces in item.parts])
        for item in two_rooms("structure door")
    ]
    # Millimetres of noise, since faces that lie on the border between two cells may fall to either side.
    before = scene_of(two_rooms("structure door"), noise_m=0.003, seed=3)
    for one, other in zip(before.rooms, scene_of(turned, noise_m=0.003, seed=3).rooms, strict=True):
        assert other.area_m2 == pytest.approx(one.area_m2, abs=0.2)
        there = turn @ np.array([*one.center_in_world, 0.0]) + (7.0, -3.0, 5.0)
        assert other.center_in_world == pytest.approx(there[:2], abs=0.03)


def test_without_a_floor_there_is_no_room() -> None:
    scene = Scene.from_boxes([LabelledBox(1, "bed", (0, 0, 0.3), (2, 1, 0.6))])
    assert scene.rooms == ()
    assert scene.room_of(1) is None
    with pytest.raises(SpacecastError, match="no room is known"):
        _ = scene.room_center_in_world


def test_boxes_have_rooms_too() -> None:
    ground = LabelledBox(9, "floor", (0, 0, -0.05), (4, 3, 0.1), traits=frozenset({"structure", "floor"}))
    scene = Scene.from_boxes([ground, LabelledBox(1, "bed", (1, 0, 0.3), (2, 1, 0.6))])
    assert scene.rooms[0].area_m2 == pytest.approx(12.0, abs=0.4)
    assert scene.room_of("bed") is scene.rooms[0]


def test_the_real_flat() -> None:
    """Its main room and the bathroom behind a wall; the couch and the bed are in the one, the toilet in the other."""
    scene = Scene.from_scan(read_scan())
    started = time.process_time()
    rooms = scene.rooms
    assert time.process_time() - started < 2.0
    assert 25.0 < rooms[0].area_m2 < 45.0
    assert scene.room_of("couch") is rooms[0]
    assert scene.room_of("bed") is rooms[0]
    bath = scene.room_of("toilet")
    assert bath is not rooms[0]
    assert scene.room_of(10) is bath  # the sink
