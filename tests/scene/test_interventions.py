"""Interventions: who moves, where to, what stays attached; by hand, by properties, and by moving vertices."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacecast.errors import FrameError, InterventionError, UnknownObjectError
from spacecast.frames import COMPASS, SECTORS, Transform
from spacecast.relations import attachment, direction, distance
from spacecast.scan import Scan
from spacecast.scene import Intervention, Move, Orbit, Remove, RotateLayout, Scene, Sequence, Spin
from spacecast.scene.interventions import MOVE_WORDS, move_heading, move_shifts, orbit_shifts, resolve
from spacecast.testing import assert_angle_close, assert_transform_close

from .hand import FLOOR, block, building, scan_of, scene_of, sheet, table, thing, tub

TABLE, TRAY, CUP, CHEST, LAMP, BOOK = 1, 2, 3, 5, 6, 7
HALF = float(np.sqrt(0.5))
THINGS = [
    table(TABLE, (-0.6, -0.4, 0.0), (0.6, 0.4, 0.75)),
    thing(TRAY, "tray", *tub((-0.2, -0.15, 0.75), (0.2, 0.15, 0.78))),
    thing(CUP, "cup", *tub((-0.04, -0.04, 0.76), (0.04, 0.04, 0.86))),
    # Not symmetric, so that the middle of its box wanders as it turns.
    thing(CHEST, "chest", block((1.0, 1.2, 0.0), (1.6, 1.5, 0.5)), block((1.0, 1.0, 0.0), (1.2, 1.2, 0.3))),
    thing(LAMP, "lamp", block((1.2, 1.25, 0.5), (1.4, 1.45, 0.9))),
    thing(BOOK, "book", block((1.25, 1.3, 0.9), (1.35, 1.4, 0.93))),
    *building(),
]  # fmt: skip
LOOKS_EAST = Transform.looking_at((-1.9, 0.0, 1.5), (0.0, 0.0, 1.0))


@pytest.fixture(scope="module")
def scan() -> Scan:
    return scan_of(THINGS, noise_m=0.0005, seed=4)


@pytest.fixture(scope="module")
def scene(scan: Scan) -> Scene:
    return Scene.from_scan(scan)


def certain(scene: Scene) -> set[tuple[int, int]]:
    return {(p, c) for p, c, how in scene.attachment.edges(data="certainty") if how == "certain"}


CHAINS = {(TABLE, TRAY), (TRAY, CUP), (CHEST, LAMP), (LAMP, BOOK)}


def test_the_hand_made_room_is_as_drawn(scene: Scene) -> None:
    assert certain(scene) == CHAINS
    assert scene.removed == ()
    assert scene.as_scanned is scene


@pytest.mark.parametrize(
    "word, toward",
    [
        ("north", (0, 1)), ("northeast", (HALF, HALF)), ("east", (1, 0)), ("southeast", (HALF, -HALF)),
        ("south", (0, -1)), ("southwest", (-HALF, -HALF)), ("west", (-1, 0)), ("northwest", (-HALF, HALF)),
    ],
)  # fmt: skip
def test_moves_by_the_compass(scene: Scene, word: str, toward: tuple[float, float]) -> None:
    after = scene.apply(Move("table", word, 1.5), check=False)
    for i in (TABLE, TRAY, CUP):
        moved = after.objects[i].center_in_world - scene.objects[i].center_in_world
        assert moved == pytest.approx((1.5 * toward[0], 1.5 * toward[1], 0.0), abs=1e-9)
    assert after.objects[CHEST].center_in_world == pytest.approx(scene.objects[CHEST].center_in_world)


# The camera looks east: forward is east, right is south. Facing the chest's box at (1.3, 1.25) from the origin.
@pytest.mark.parametrize(
    "move, toward",
    [
        (Move(TABLE, "forward", 1.0, "camera", LOOKS_EAST), (1, 0)),
        (Move(TABLE, "right", 1.0, "camera", LOOKS_EAST), (0, -1)),
        (Move(TABLE, "backward-left", 1.0, "camera", LOOKS_EAST), (-HALF, HALF)),
        (Move(TABLE, "left", 1.0, "object", LOOKS_EAST, "camera"), (0, -1)),
        (Move(TABLE, "forward", 1.0, "object", LOOKS_EAST, "camera"), (-1, 0)),
        (Move(TABLE, "forward", 1.0, "object", facing="chest"), np.array((1.3, 1.25)) / np.hypot(1.3, 1.25)),
        (Move(TABLE, "right", 1.0, "object", facing="chest"), np.array((1.25, -1.3)) / np.hypot(1.3, 1.25)),
    ],
)
def test_moves_in_the_cameras_and_in_the_objects_frame(scene: Scene, move: Move, toward: np.ndarray) -> None:
    shift = resolve(scene, move).path_in_world[-1]
    assert shift == pytest.approx(np.asarray(toward, dtype=float), abs=2e-3)  # the box of noisy vertices


def test_clockwise_is_seen_from_above(scene: Scene) -> None:
    east_of_it = Transform.from_translation((2.0, 0.0, 0.0), target="world", source="object")
    chair = scene._with_poses({CHEST: east_of_it})
    around = Orbit(CHEST, TABLE, 90.0, "clockwise")
    before, after = (s.objects[CHEST].center_in_world for s in (chair, chair.apply(around, check=False)))
    centre = scene.objects[TABLE].center_in_world
    # An offset (x, y) turned clockwise by 90 is (y, -x).
    assert (after - centre)[:2] == pytest.approx(((before - centre)[1], -(before - centre)[0]), abs=1e-9)
    spun = scene.apply(Spin(CHEST, 90.0), check=False).objects[CHEST].world_from_object
    assert spun.rotation @ (0.0, 1.0, 0.0) == pytest.approx((1.0, 0.0, 0.0))  # north turns to east
    turned = scene.apply(RotateLayout(90.0)).objects[TABLE].world_from_object
    assert turned.rotation @ (0.0, 1.0, 0.0) == pytest.approx((1.0, 0.0, 0.0))


@given(angle=st.floats(1.0, 359.0), sense=st.sampled_from(["clockwise", "counterclockwise"]))
def test_an_orbit_keeps_radius_and_heading(scene: Scene, angle: float, sense: str) -> None:
    after = scene.apply(Orbit("chest", "table", angle, sense), check=False)  # type: ignore[arg-type]
    centre = scene.objects[TABLE].center_in_world[:2]
    one, other = (s.objects[CHEST].center_in_world[:2] - centre for s in (scene, after))
    assert np.linalg.norm(other) == pytest.approx(np.linalg.norm(one), abs=1e-8)
    turned = np.degrees(np.arctan2(*one[::-1]) - np.arctan2(*other[::-1]))  # clockwise
    assert_angle_close(turned, angle if sense == "clockwise" else -angle, atol_deg=1e-5)
    for i in (CHEST, LAMP, BOOK):
        assert (after.objects[i].world_from_object.rotation == np.eye(3)).all()
        shift = after.objects[i].world_from_object.translation
        assert shift == pytest.approx(after.objects[CHEST].world_from_object.translation, abs=0)


def interventions() -> st.SearchStrategy[Intervention]:
    root = st.sampled_from([TABLE, CHEST])
    far = st.sampled_from([0.5, 1.0, 1.7, 3.0])
    angle = st.one_of(st.sampled_from([45.0, 90.0, 135.0, 180.0]), st.floats(1.0, 360.0))
    sense = st.sampled_from(["clockwise", "counterclockwise"])
    return st.one_of(
        st.builds(Move, root, st.sampled_from(COMPASS), far),
        st.builds(Move, root, st.sampled_from(MOVE_WORDS), far, st.just("camera"), st.just(LOOKS_EAST)),
        st.builds(lambda i, a, s: Orbit(i, CHEST if i == TABLE else TABLE, a, s), root, angle, sense),
        st.builds(Spin, root, angle, sense),
        st.builds(RotateLayout, st.floats(-360.0, 360.0)),
    )


@settings(max_examples=25)
@given(steps=st.lists(interventions(), min_size=1, max_size=4))
def test_what_is_carried_keeps_its_pose_on_its_carrier(scene: Scene, steps: list[Intervention]) -> None:
    after = scene.apply(Sequence(tuple(steps)), check=False)
    for parent, child in CHAINS:
        one, other = (after.objects[i].world_from_object for i in (parent, child))
        carrier_from_carried = replace(one, source="carrier").inverse() @ other
        assert_transform_close(carrier_from_carried, Transform.identity(target="carrier", source="object"))
    assert certain(after) >= CHAINS


def assert_same(one: Scene, other: Scene, *, exactly: bool = False) -> None:
    assert list(one.objects) == list(other.objects)
    for i, item in one.objects.items():
        there = other.objects[i]
        assert_transform_close(item.world_from_object, there.world_from_object)
        if exactly:
            assert (item.world_from_object.matrix == there.world_from_object.matrix).all()
        assert item.aabb.min == pytest.approx(there.aabb.min, abs=1e-9)
        assert item.aabb.max == pytest.approx(there.aabb.max, abs=1e-9)
        assert item.obb.center == pytest.approx(there.obb.center, abs=1e-6)
        assert item.support == there.support
    assert dict(one.attachment.edges) == dict(other.attachment.edges)


@given(frame=st.sampled_from(["world", "camera"]), number=st.integers(0, 7), far=st.floats(0.1, 3.0))
@settings(max_examples=20)
def test_move_and_move_back_is_identity(scene: Scene, frame: str, number: int, far: float) -> None:
    words = COMPASS if frame == "world" else MOVE_WORDS
    there, back = (
        Move(TABLE, words[k % 8], far, frame, LOOKS_EAST)  # type: ignore[arg-type]
        for k in (number, number + 4)
    )
    assert_same(scene.apply(Sequence((there, back)), check=False), scene, exactly=True)


@pytest.mark.parametrize(
    "steps, exactly",
    [
        ([RotateLayout(90.0)] * 4, True),
        ([RotateLayout(270.0), RotateLayout(90.0)], True),
        ([RotateLayout(180.0)] * 2, True),
        ([Spin(CHEST, 90.0)] * 4, True),
        ([Spin(CHEST, 45.0), Spin(CHEST, 45.0, "counterclockwise")], False),
        ([Orbit(CHEST, TABLE, 135.0), Orbit(CHEST, TABLE, 135.0, "counterclockwise")], False),
        ([Orbit(CHEST, TABLE, 180.0), Orbit(CHEST, TABLE, 180.0)], False),
        ([RotateLayout(37.0), RotateLayout(-37.0)], False),
    ],
)
def test_there_and_back(scene: Scene, steps: list[Intervention], exactly: bool) -> None:
    after = scene.apply(Sequence(tuple(steps)), check=False)
    assert_same(after, scene, exactly=exactly)


def test_the_layout_turns_and_keeps_what_is_between_objects(scene: Scene) -> None:
    after = scene.apply(RotateLayout(90.0))
    # No feasibility is asked, but structure and what it is measured from stay.
    assert after.objects[FLOOR].is_in_place
    assert certain(after) == CHAINS
    assert dict(after.attachment.edges) == dict(scene.attachment.edges)
    for one, other in ((TABLE, CHEST), (CUP, BOOK), (CUP, CHEST)):
        was, now = (distance(s, one, other).numbers["distance_m"] for s in (scene, after))
        assert now == pytest.approx(was, abs=1e-5)
        was, now = (direction(s, one, reference=other).numbers["angle_deg"] for s in (scene, after))
        assert_angle_close(now, was + 90.0)
    centre = np.array([*scene.room_center_in_world, 0.0])
    x, y, z = scene.objects[CHEST].center_in_world - centre
    assert after.objects[CHEST].center_in_world - centre == pytest.approx((y, -x, z), abs=1e-9)


def test_an_object_direction_survives_the_turn_of_the_layout(scene: Scene) -> None:
    after = scene.apply(RotateLayout(180.0))
    was, now = (direction(s, CHEST, reference=TABLE, frame="object", facing=BOOK).value for s in (scene, after))
    assert was == now
    assert was in SECTORS


def moved_by_hand(scan: Scan, poses: dict[int, Transform], removed: tuple[int, ...] = ()) -> Scene:
    """The second way: vertices are moved and the scene is built anew."""
    vertices = scan.vertices.astype(np.float64)
    for i, pose in poses.items():
        vertices[scan.instance_ids == i] = pose @ vertices[scan.instance_ids == i]
    ids = np.where(np.isin(scan.instance_ids, removed), -1, scan.instance_ids).astype(np.int32)
    keep = ~np.isin(ids[scan.faces], -1).any(axis=1)
    instances = {i: x for i, x in scan.instances.items() if i not in removed}
    return Scene.from_scan(
        replace(scan, vertices=vertices.astype(np.float32), faces=scan.faces[keep], instance_ids=ids,
                instances=instances)
    )  # fmt: skip


def _world(yaw_deg: float, about: tuple[float, float], shift: tuple[float, float] = (0, 0)) -> Transform:
    turn = Transform.from_yaw_deg(yaw_deg, target="world", source="object", about=(*about, 0.0))
    return Transform("world", "object", turn.rotation, turn.translation + np.array([*shift, 0.0]))


@pytest.mark.parametrize(
    "step, pose, ids",
    [
        (Move(TABLE, "southwest", 1.0), _world(0, (0, 0), (-HALF, -HALF)), (TABLE, TRAY, CUP)),
        (Orbit(CHEST, TABLE, 90.0, "counterclockwise"), None, (CHEST, LAMP, BOOK)),
        (Spin(TABLE, 30.0), _world(-30, (0, 0)), (TABLE, TRAY, CUP)),
    ],
)
def test_a_state_is_what_moving_vertices_gives(
    scan: Scan, scene: Scene, step: Intervention, pose: Transform | None, ids: tuple[int, ...]
) -> None:
    if pose is None:
        x, y = (scene.objects[CHEST].center_in_world - scene.objects[TABLE].center_in_world)[:2]
        pose = _world(0, (0, 0), (-y - x, x - y))  # a quarter counterclockwise carries (x, y) to (-y, x)
    after, other = scene.apply(step, check=False), moved_by_hand(scan, dict.fromkeys(ids, pose))
    for i, item in after.objects.items():
        assert item.aabb.min == pytest.approx(other.objects[i].aabb.min, abs=2e-4)
        assert item.obb.size == pytest.approx(other.objects[i].obb.size, abs=2e-3)
        assert item.footprint.symmetric_difference(other.objects[i].footprint).area < 2e-3
    assert certain(after) == certain(other)
    for one, two in ((TABLE, CHEST), (CUP, LAMP)):
        assert distance(after, one, two).numbers["distance_m"] == pytest.approx(
            distance(other, one, two).numbers["distance_m"], abs=1e-3
        )
        assert direction(after, one, reference=two).value == direction(other, one, reference=two).value


def test_attachment_is_derived_again_beyond_what_moved() -> None:
    """A board that lies across two tables belongs to the one that stays when the other goes."""
    left, right = table(1, (-0.9, -0.3, 0.0), (-0.05, 0.3, 0.75)), table(2, (0.05, -0.3, 0.0), (0.9, 0.3, 0.75))
    board = thing(3, "board", block((-0.5, -0.15, 0.75), (0.5, 0.15, 0.78)))
    scene = scene_of([left, right, board, *building()])
    assert certain(scene) == set()
    after = scene.apply(Move(2, "south", 1.0))
    assert certain(after) == {(1, 3)}
    assert not after.attachment.has_edge(2, 3)
    assert attachment(after, 1).value == (3,)


def test_what_moves_keeps_its_inner_edges_beside_a_rival() -> None:
    """Read from geometry alone, the board on the trolley is as much the table's once they stand side by side."""
    trolley = table(1, (-0.7, -1.5, 0.0), (0.1, -0.9, 0.75), "trolley")
    other = table(2, (0.1, 0.0, 0.0), (0.9, 0.6, 0.75))
    board = thing(3, "board", block((-0.35, -1.3, 0.75), (0.45, -1.1, 0.78)))  # sticks out by 0.35
    scene = scene_of([trolley, other, board, *building()])
    assert certain(scene) == {(1, 3)}
    after = scene.apply(Move("trolley", "north", 1.5), check=False)
    assert certain(scene_of([*_shifted([trolley, board], (0.0, 1.5, 0.0)), other, *building()])) == set()
    assert certain(after) == {(1, 3)}
    assert after.attachment.edges[2, 3]["certainty"] == "possible"
    assert certain(after.apply(Move("trolley", "south", 1.5), check=False)) == {(1, 3)}


def _shifted(things: list, by: tuple[float, float, float]) -> list:
    return [item._replace(parts=[(v + by, f) for v, f in item.parts]) for item in things]


def test_what_is_removed_is_gone_with_what_it_carries(scene: Scene) -> None:
    after = scene.apply(Remove("table"))
    assert after.removed == (TABLE, TRAY, CUP)
    assert after.as_scanned is scene
    assert set(after.attachment.nodes) == {CHEST, LAMP, BOOK}
    for ask in (
        lambda: direction(after, "cup", reference="chest"),
        lambda: distance(after, CHEST, TABLE),
        lambda: attachment(after, "table"),
        lambda: after.apply(Move("table", "north", 0.5)),
        lambda: after.apply(Orbit("chest", "tray", 90.0)),
    ):
        with pytest.raises(UnknownObjectError, match=r"(cup 3|table 1|tray 2) was removed: only its occlusion"):
            ask()
    with pytest.raises(UnknownObjectError, match="no object has the label 'cub'"):
        after.resolve("cub")


def test_what_was_carried_may_stay_floating(scene: Scene) -> None:
    after = scene.apply(Remove("table", carried="stays"))
    assert after.removed == (TABLE,)
    assert after.objects[TRAY].is_in_place
    assert certain(after) == CHAINS - {(TABLE, TRAY)}
    assert after.carrier_of(TRAY) is None
    assert after.problems(Move("tray", "north", 0.5))[0].kind == "support"
    # Also once the layout has turned, when all edges were kept: what lost its carrier is judged anew.
    turned = scene.apply(RotateLayout(90.0)).apply(Remove("table", carried="stays"))
    assert certain(turned) == CHAINS - {(TABLE, TRAY)}


def test_states_share_shapes_and_the_first_stays_as_it_is(scene: Scene) -> None:
    before = {i: (o.world_from_object, o.shape) for i, o in scene.objects.items()}
    after = scene
    for k in range(10):
        after = after.apply(Move(TABLE, COMPASS[k % 8], 0.1), check=False)
    assert all(after.objects[i].shape is shape for i, (_, shape) in before.items())
    assert after.rest.vertices is scene.rest.vertices
    assert after.as_scanned is scene
    assert all(scene.objects[i].world_from_object is pose for i, (pose, _) in before.items())


def test_mixed_faces_go_with_what_moves() -> None:
    base = scan_of([table(1, (-0.6, -0.4, 0), (0.6, 0.4, 0.75)), *building()])
    first = {i: int(np.flatnonzero(base.instance_ids == i)[0]) for i in (1, FLOOR)}
    mixed = [[first[1], first[1] + 1, first[FLOOR]], [first[FLOOR], first[FLOOR] + 1, first[FLOOR] + 2]]
    scan = replace(base, faces=np.concatenate([base.faces, np.array(mixed, dtype=np.int32)]))
    scene = Scene.from_scan(scan)
    assert len(scene.rest.faces) == 1
    assert len(scene.apply(Move(1, "north", 0.5)).rest.faces) == 0
    assert len(scene.apply(Remove(1)).rest.faces) == 0


@pytest.mark.parametrize(
    "step, words",
    [
        (Move("floor", "north", 1.0), "floor is part of the building"),
        (Remove("wall"), "wall is part of the building"),
        (Move("table", "up", 1.0), "no direction 'up' in the world's frame; known: north"),
        (Move("table", "north", 1.0, "camera", LOOKS_EAST), "no direction 'north' in the camera's frame"),
        (Move("table", "north", 0.0), "distance_m must be a finite number above 0"),
        (Move("table", "north", float("nan")), "distance_m must be a finite number above 0"),
        (Move("table", "forward", 1.0, "camera"), "needs a camera"),
        (Move("table", "forward", 1.0, "object"), "needs what the object faces"),
        (Move("table", "forward", 1.0, "room"), "no frame 'room'"),
        (Orbit("table", "table", 90.0), "table cannot orbit itself"),
        (Orbit("table", "cup", 90.0), "table cannot orbit cup, which goes along with it"),
        (Orbit("cup", "table", 90.0), "one is above the other"),
        (Orbit("chest", "table", 90.0, "left"), "sense must be clockwise or counterclockwise"),
        (Spin("chest", -90.0), "angle_deg must be a finite number above 0"),
        (Spin("chest", 361.0), "angle_deg must be at most 360"),
        (Remove("chest", carried="floats"), "carried must be goes or stays"),
        (RotateLayout(float("inf")), "angle_deg must be a finite number"),
        ("move it", "not an intervention"),
        (Move("cup", "north", 0.5), "cup cannot move 0.5 m north: it would be taken off the tray, which carries it"),
        (Sequence((Move("table", "west", 0.5), Remove("cup"))), "step 2 of 2: cup cannot be removed: it would be"),
    ],
)
def test_what_makes_no_sense_is_said_in_one_line(scene: Scene, step: Intervention, words: str) -> None:
    with pytest.raises(InterventionError) as error:
        scene.apply(step)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_a_heading_that_is_not_defined_is_refused(scene: Scene) -> None:
    down = Transform("world", "camera", np.diag([1.0, -1.0, -1.0]), np.array([0.0, 0.0, 3.0]))
    with pytest.raises(FrameError, match="no camera heading"):
        scene.apply(Move("table", "left", 0.5, "camera", down))
    with pytest.raises(FrameError, match="no stable facing"):
        scene.apply(Move("table", "left", 0.5, "object", facing="cup"))


def test_a_search_gets_the_shifts_that_are_applied(scene: Scene) -> None:
    move = Move(TABLE, "forward", 1.0, "camera", LOOKS_EAST)
    shifts = move_shifts(move_heading(scene, move), [0.5, 1.0, 3.0])
    for k, word in enumerate(MOVE_WORDS):
        for n, far in enumerate((0.5, 1.0, 3.0)):
            path = resolve(scene, replace(move, direction=word, distance_m=far)).path_in_world
            assert (path[-1] == shifts[k, n]).all()
    start, centre = scene.objects[CHEST].center_in_world, scene.objects[TABLE].center_in_world
    for angle, sense in ((45.0, "clockwise"), (135.0, "counterclockwise"), (180.0, "clockwise")):
        path = resolve(scene, Orbit(CHEST, TABLE, angle, sense)).path_in_world  # type: ignore[arg-type]
        assert (path[-1] == orbit_shifts(start, centre, angle if sense == "clockwise" else -angle)[0]).all()
        assert (path[0] == 0.0).all()


def test_attachment_of_a_state_does_not_depend_on_what_was_asked_before(scan: Scan) -> None:
    step = Sequence((Move(CHEST, "west", 0.7), Spin(TABLE, 20.0)))
    fresh = Scene.from_scan(scan).apply(step, check=False)
    used = Scene.from_scan(scan)
    for other in (Move(TABLE, "north", 1.0), RotateLayout(45.0), Remove(LAMP, carried="stays")):
        _ = used.apply(other, check=False).attachment.edges
    again = used.apply(step, check=False)
    assert nx.utils.graphs_equal(fresh.attachment, again.attachment)
    assert {i: o.support for i, o in fresh.objects.items()} == {i: o.support for i, o in again.objects.items()}


def test_a_state_stands_on_a_floor_that_was_not_scanned() -> None:
    """Under a bed the floor is not seen: what moves there and back stands on the floor all the time."""
    seen = [((-2, -2), 1.0, 4.0), ((0.8, -2), 1.2, 4.0), ((-1, -2), 1.8, 1.1), ((-1, 0.9), 1.8, 1.1)]
    parts = [sheet((*corner, 0), (width, 0, 0), (0, depth, 0), 0.05) for corner, width, depth in seen]
    bed = thing(1, "bed", block((-1.0, -0.9, 0.1), (0.8, 0.9, 0.5)), traits="soft")
    crate = thing(2, "crate", block((-0.3, -1.7, 0.0), (0.1, -1.3, 0.4)))
    scene = scene_of([bed, crate, thing(FLOOR, "floor", *parts, traits="structure floor")])
    after = scene.apply(Sequence((Remove("bed"), Move("crate", "north", 1.5))), check=False)
    assert after.objects[2].support == ("floor", FLOOR)
    assert after.apply(Move("crate", "south", 1.5)).objects[2].is_in_place
