"""Where things can stand: tables by hand, plain polygons as a second way, and the real flat."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from spacecast.errors import InterventionError
from spacecast.frames import COMPASS, Transform, world_heading
from spacecast.scan import Scan
from spacecast.scene import Clearance, LabelledBox, Move, Orbit, Remove, RotateLayout, Scene, Sequence, Spin
from spacecast.scene.feasibility import SETTINGS
from spacecast.scene.interventions import Single, move_shifts, orbit_shifts

from .hand import block, building, joined, scan_of, scene_of, sheet, table, thing
from .real import read_scan
from .test_rooms import ell, floor, two_rooms, wall

DESK, LAMP, BOX, RUG, SHELF, PICTURE, STICK = 1, 2, 3, 4, 5, 6, 7


def furnished() -> list:
    """6 by 5 inside four walls whose faces are 0.05 nearer; the desk's top is 1.2 by 0.8 around (1.5, 1.5)."""
    corners = [(0, 0), (6, 0), (6, 5), (0, 5)]
    return [
        floor(800, (0, 0, 6, 5)),
        *(wall(900 + k, corners[k], corners[(k + 1) % 4]) for k in range(4)),
        table(DESK, (0.9, 1.1, 0.0), (2.1, 1.9, 0.75), "desk"),
        thing(LAMP, "lamp", block((1.8, 1.4, 0.75), (2.4, 1.6, 1.2))),  # sticks out by 0.3 to the east
        thing(BOX, "box", block((3.6, 1.1, 0.0), (4.2, 1.9, 0.5))),
        thing(RUG, "rug", block((0.5, 3.0, 0.0), (2.5, 4.0, 0.015)), traits="shapeless carries_nothing"),
        thing(SHELF, "shelf", block((5.2, 4.0, 1.5), (5.9, 4.9, 1.8)), traits="fixture"),
        thing(PICTURE, "picture", block((2.0, 4.9, 1.2), (2.6, 4.945, 1.7)), traits="fixture"),
        thing(STICK, "stick", block((5.3, 1.0, 0.0), (5.32, 1.02, 1.0), 0.01)),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def scene() -> Scene:
    return scene_of(furnished())


def kinds(scene: Scene, step: Single | Sequence) -> list[tuple[str, int | None]]:
    return [(found.kind, found.object) for found in scene.problems(step)]


def test_the_room_is_as_drawn(scene: Scene) -> None:
    assert [scene.objects[i].support.kind for i in (DESK, BOX, RUG, SHELF, PICTURE)] == [
        *("floor", "floor", "floor"),
        *("wall", "wall"),
    ]
    assert scene.carrier_of(LAMP) == DESK


@pytest.mark.parametrize(
    "step, found",
    [
        (Move("desk", "east", 1.2), []),  # to x = 3.3; the lamp to 3.6, which touches the box's side, above it
        (Move("desk", "east", 1.55), [("object", BOX)]),  # the top ends at 3.65
        (Move("desk", "east", 1.52), []),  # 0.02 in is within what hulls are shrunk by
        (Move("desk", "east", 3.5), []),  # beyond the box, 4.4 to 5.6; the lamp at 5.9 ends before the wall at 5.95
        (Move("desk", "north", 1.5), []),  # over the rug, which is flat
        (Move("desk", "north", 3.0), []),  # to y = 4.9; under the picture
        (Move("desk", "north", 3.2), [("room", None)]),
        (Move("desk", "west", 1.5), [("room", None)]),
        (Move("box", "west", 1.5), []),  # it touches
        (Move("box", "west", 1.6), [("object", DESK)]),
        (Move("box", "west", 1.2), []),  # under the lamp that sticks out: 0.5 high, and the lamp begins at 0.75
        (Move("box", "north", 3.0), []),  # beside the shelf on the wall
        (Sequence((Move("box", "north", 2.9), Move("box", "east", 1.3))), []),  # under the shelf at 1.5
        (Move("stick", "west", 1.5), []),  # into the box, but a hull of 0.02 is nothing once shrunk
        (Move("lamp", "north", 0.5), [("support", DESK)]),
        (Remove("lamp"), [("support", DESK)]),
        (Move("picture", "east", 0.5), [("support", None)]),
        (Orbit("shelf", "box", 90.0), [("support", None), ("room", None)]),
        (Remove("desk"), []),
        (Remove("picture"), [("support", None)]),
        (Orbit("desk", "box", 180.0), [("room", None)]),  # from 2.4 before the box to 2.4 behind it: 5.7 to 6.9
        (Orbit("box", "desk", 90.0, "clockwise"), [("room", None)]),  # from east to south: y = -0.9
        (Orbit("box", "desk", 90.0, "counterclockwise"), []),  # to (1.5, 3.9), on the rug
        (Spin("desk", 90.0), []),
        (RotateLayout(90.0), []),
    ],
)  # fmt: skip
def test_what_stands_against_it(scene: Scene, step: Single | Sequence, found: list) -> None:
    assert kinds(scene, step) == found


def test_a_spin_needs_room_too(scene: Scene) -> None:
    near = scene.apply(Move("desk", "south", 1.0))  # its top from y = 0.1 to 0.9
    assert near.problems(Spin("desk", 180.0)) == []
    assert [h.kind for h in near.problems(Spin("desk", 90.0))] == ["room"]  # then from -0.1 to 1.1
    box_beside = scene.apply(Move("box", "west", 1.4))  # 2.2 to 2.8, the desk's top ends at 2.1
    assert [h.detail for h in box_beside.problems(Spin("desk", 45.0))] == []
    assert 0.5 * np.hypot(1.2, 0.8) > 0.7  # so that its corners reach x = 2.22 on the way, at 34 degrees


@pytest.mark.parametrize(
    "step, line",
    [
        (Move("desk", "north", 3.5),
         "desk cannot move 3.5 m north: it would end outside its room (wall at 3.0 m)"),  # 4.95 - 1.9
        (Move("desk", "east", 1.75), "desk cannot move 1.75 m east: it would hit the box"),
        (Move("lamp", "east", 0.5),
         "lamp cannot move 0.5 m east: it would be taken off the desk, which carries it"),
        (Move("picture", "east", 0.5),
         "picture cannot move 0.5 m east: it hangs on a wall and does not stand on the floor"),
        (Orbit("box", "desk", 90.0),
         "box cannot orbit the desk by 90 degrees clockwise: it would end outside its room (wall at 1.1 m)"),
        (Sequence((Move("box", "north", 1.0), Move("box", "east", 3.0))),
         "step 2 of 2: box cannot move 3.0 m east: it would end outside its room (wall at 1.7 m)"),  # 5.95 - 4.2
    ],
)  # fmt: skip
def test_one_line_says_why(scene: Scene, step: Single | Sequence, line: str) -> None:
    with pytest.raises(InterventionError) as error:
        scene.apply(step)
    said, wanted = re.split(r"([\d.]+)(?= m\))", str(error.value)), re.split(r"([\d.]+)(?= m\))", line)
    assert said[0::2] == wanted[0::2]
    for one, other in zip(said[1::2], wanted[1::2], strict=True):
        assert float(one) == pytest.approx(float(other), abs=0.11)  # rooms are made of cells of 0.05
    scene.apply(step, check=False)


def test_what_is_carried_is_hit_and_named() -> None:
    tall = thing(9, "cupboard", block((3.6, 1.1, 0.0), (4.2, 1.9, 2.0)))
    scene = scene_of([t for t in furnished() if t.id != BOX] + [tall])
    (found,) = scene.problems(Move("desk", "east", 1.3))  # the lamp to 3.7, the desk to 3.4
    assert found == ("object", 9, "the lamp that it carries would hit the cupboard")


def test_what_overlapped_before_does_not_count() -> None:
    chair = thing(9, "chair", block((1.3, 1.3, 0.0), (1.7, 1.7, 0.9)))  # its back through the desk's top
    scene = scene_of([*furnished(), chair])
    assert kinds(scene, Move("desk", "east", 0.5)) == []
    assert kinds(scene, Move("chair", "west", 0.3)) == []
    away = scene.apply(Move("chair", "north", 1.5))
    assert kinds(away, Move("chair", "south", 1.5)) == [("object", DESK)]


def test_what_stood_in_a_corner_of_a_couch_goes_out_but_not_into_it() -> None:
    """The couch is an L, 1.0 to 3.0 by 1.0 to 3.0 with arms of 0.8; the table stands in its hull and not in it."""
    couch = thing(1, "couch", block((1.0, 1.0, 0.0), (3.0, 1.8, 0.5)), block((1.0, 1.8, 0.0), (1.8, 3.0, 0.5)),
                  traits="soft")  # fmt: skip
    low = table(2, (1.85, 1.85, 0.0), (2.25, 2.25, 0.6), "low table")
    scene = scene_of([floor(800, (0, 0, 6, 5)), *(t for t in furnished() if t.id >= 900), couch, low])
    assert kinds(scene, Move("low table", "north", 0.3)) == []
    assert kinds(scene, Move("low table", "northeast", 2.0)) == []
    assert kinds(scene, Move("low table", "west", 0.5)) == [("object", 1)]
    assert kinds(scene, Move("low table", "south", 0.6)) == [("object", 1)]
    assert kinds(scene, Move("couch", "west", 0.5)) == []  # away from it
    assert kinds(scene, Move("couch", "east", 0.5)) == [("object", 2)]  # its arm over it


def test_unlabelled_surface_is_no_place_to_be() -> None:
    scan = scan_of(furnished())
    heap = joined([block((1.2, 3.2, 0.05), (1.4, 3.4, 0.4))])

    def with_heap(share: float) -> Scene:
        faces = heap[1][: round(share * len(heap[1]))].astype(np.int32) + len(scan.vertices)
        points = np.concatenate([scan.vertices, heap[0].astype(np.float32)])
        return Scene.from_scan(
            replace(
                scan, vertices=points, faces=np.concatenate([scan.faces, faces], dtype=np.int32),
                colors=np.zeros((len(points), 3), np.uint8),
                instance_ids=np.concatenate([scan.instance_ids, np.full(len(heap[0]), -1, np.int32)]),
            )
        )  # fmt: skip

    assert kinds(with_heap(1.0), Move("desk", "north", 2.0)) == [("unlabelled", None)]
    assert kinds(with_heap(0.02), Move("desk", "north", 2.0)) == []  # 0.36 m2 in all
    there = with_heap(1.0).apply(Move("desk", "north", 2.0), check=False)
    assert kinds(there, Move("desk", "north", 0.1)) == []  # it lay inside before


def test_a_share_outside_before_may_stay_outside() -> None:
    poking = thing(9, "trunk", block((4.75, 0.3, 0.0), (6.15, 0.9, 0.5)))  # 0.2 of 1.4 is beyond the wall's face
    scene = scene_of([*(t for t in furnished() if t.id not in (BOX, STICK)), poking])
    assert kinds(scene, Move("trunk", "north", 1.0)) == []
    assert kinds(scene, Move("trunk", "east", 0.1)) == [("room", None)]
    inside = scene.apply(Move("trunk", "west", 0.5))
    assert kinds(inside, Move("trunk", "east", 0.5)) == [("room", None)]


def test_what_stood_on_floor_that_nobody_saw_is_kept_out_of_walls() -> None:
    """A trunk most of which is outside the room's outline, as where the floor beneath it was not scanned."""
    trunk = thing(9, "trunk", block((4.45, 0.3, 0.0), (5.85, 0.9, 0.5)))  # the wall's face is 0.1 to the east
    clearance = Clearance(scene_of([*(t for t in furnished() if t.id not in (BOX, STICK)), trunk]), 9)
    clearance._allowed_outside = 0.4
    assert clearance.free([[0.0, 1.0], [0.08, 0.0], [0.5, 0.0], [-1.0, 0.0]]).tolist() == [True, True, False, True]
    assert clearance.hindrances((0.5, 0.0)) == [("room", None, "it would end in a wall")]


def test_an_object_stays_in_its_room() -> None:
    scene = scene_of(two_rooms("structure door"))
    assert kinds(scene, Move("desk", "east", 2.0)) == []
    assert kinds(scene, Move("desk", "east", 4.0)) == [("room", None), ("object", 2)]
    assert kinds(scene, Sequence((Move("desk", "north", 0.6), Move("desk", "east", 5.0)))) == [
        ("room", None),
        ("object", 2),
    ]


def test_without_a_room_nothing_is_moved() -> None:
    scene = Scene.from_boxes([LabelledBox(1, "bed", (0, 0, 0.3), (2, 1, 0.6))])
    assert kinds(scene, Move("bed", "north", 0.5)) == [("support", None)]
    assert Clearance(scene, 1).hindrances((0.5, 0.0)) == [("room", None, "it stands in no room that is known")]
    assert not Clearance(scene, 1).free([[0.5, 0.0]]).any()


def test_the_way_through_is_another_question(scene: Scene) -> None:
    over = Move("desk", "east", 3.5)  # its place is free, but the box stands between
    assert scene.problems(over) == []
    assert not scene.path_is_clear(over)
    assert scene.path_is_clear(Move("desk", "east", 1.2))
    assert scene.path_is_clear(Orbit("box", "desk", 90.0, "counterclockwise"))
    assert scene.path_is_clear(Remove("desk"))
    assert scene.path_is_clear(RotateLayout(90.0))
    # Half around the desk the box passes the wall in the south or the free floor in the north.
    assert not scene.path_is_clear(Orbit("box", "desk", 270.0, "clockwise"))
    assert scene.problems(Orbit("box", "desk", 270.0, "clockwise")) == []
    assert scene.path_is_clear(Sequence((Move("desk", "north", 1.0), over)))  # past the box
    assert not scene.path_is_clear(Sequence((Move("desk", "west", 0.5), Move("desk", "east", 4.0))))


def test_the_way_around_a_corner_leaves_the_room() -> None:
    trunk = thing(1, "trunk", block((4.0, 0.3, 0.0), (4.6, 0.9, 0.5)))
    pillar = thing(2, "pillar", block((2.2, 2.6, 0.0), (2.3, 2.7, 1.0)))
    scene = scene_of([*ell(), trunk, pillar])
    step = Move("trunk", "northwest", 3.2)  # from (4.3, 0.6) to (2.04, 2.86), past the corner at (3, 2)
    assert [h.kind for h in scene.problems(step)] == ["object"]
    free = scene_of([*ell(), trunk])
    assert free.problems(step) == []
    assert free.path_is_clear(step) == _passes_by_hand(free, step)


def _passes_by_hand(scene: Scene, step: Move) -> bool:
    room, plan = scene.rooms[0].polygon, scene.objects[1].footprint
    along = np.linspace(0.0, step.distance_m, 400) * np.sqrt(0.5)
    outside = [1 - shapely.affinity.translate(plan, -d, d).intersection(room).area / plan.area for d in along]
    return max(outside) <= SETTINGS.max_share_outside


def test_a_turn_on_the_spot_sweeps() -> None:
    post = thing(9, "post", block((2.11, 1.55, 0.0), (2.3, 1.9, 1.0)))  # beside the desk, whose corner sweeps through
    scene = scene_of([t for t in furnished() if t.id not in (LAMP, BOX)] + [post])
    assert scene.problems(Spin("desk", 180.0)) == []
    assert not scene.path_is_clear(Spin("desk", 180.0))
    assert scene.path_is_clear(Spin("rug", 10.0))


def free_by_hand(scene: Scene, root: int, shift: np.ndarray) -> bool:
    """The second way: one shift, one polygon after another."""
    moved = (root, *scene.carried_by(root))
    room = scene.room_of(root)
    assert room is not None
    plans = {i: scene.objects[i].footprint for i in moved}
    union = shapely.union_all(list(plans.values()))
    there = shapely.affinity.translate(union, *shift)
    before, after = (1.0 - plan.intersection(room.polygon).area / union.area for plan in (union, there))
    if after > max(0.03, before) + 1e-9:
        return False
    for i, plan in plans.items():
        mine = plan.buffer(-0.02, join_style="mitre")
        for other in scene.objects.values():
            if other.id in moved or other.is_structure:
                continue
            box, its = scene.objects[i].aabb, other.footprint.buffer(-0.02, join_style="mitre")
            high = min(box.max[2], other.aabb.max[2]) - max(box.min[2], other.aabb.min[2])
            if high <= 0.03 or mine.intersection(its).area > 0.002:
                continue
            if shapely.affinity.translate(mine, *shift).intersection(its).area > 0.002:
                return False
    return True


@given(root=st.sampled_from([DESK, BOX, RUG]), x=st.floats(-5.0, 5.0), y=st.floats(-4.0, 4.0))
@settings(max_examples=150)
def test_free_is_what_plain_polygons_say(scene: Scene, root: int, x: float, y: float) -> None:
    shift = np.array([x, y])
    assert Clearance(scene, root).free(shift)[0] == free_by_hand(scene, root, shift)


def test_many_shifts_at_once_are_what_each_gives_alone(scene: Scene) -> None:
    rng = np.random.default_rng(5)
    clearance, shifts = Clearance(scene, DESK), rng.uniform(-4, 4, (60, 2))
    together = clearance.free(shifts)
    assert 0 < together.sum() < 60
    assert together.tolist() == [bool(clearance.free(shift)[0]) for shift in shifts]
    assert together.tolist() == [not clearance.hindrances(shift) for shift in shifts]
    assert clearance.free(np.zeros((0, 2))).shape == (0,)
    assert clearance.free((0.0, 0.0)).all()


@settings(max_examples=20)
@given(turn=st.sampled_from([90.0, 180.0, 270.0]), word=st.sampled_from(COMPASS), far=st.sampled_from([0.5, 1.0, 2.0]))
def test_feasibility_turns_with_the_scene(scene: Scene, turn: float, word: str, far: float) -> None:
    pose = Transform.from_yaw_deg(-turn, target="world", source="world")
    turned = [t._replace(parts=[(pose @ v + (10.0, 3.0, 0.0), f) for v, f in t.parts]) for t in furnished()]
    later = COMPASS[(COMPASS.index(word) + int(turn // 45)) % 8]
    other = _turned_scene(turn, turned)
    assert bool(other.problems(Move("desk", later, far))) == bool(scene.problems(Move("desk", word, far)))


_TURNED: dict[float, Scene] = {}


def _turned_scene(turn: float, things: list) -> Scene:
    if turn not in _TURNED:
        _TURNED[turn] = scene_of(things)
    return _TURNED[turn]


def test_the_real_flat_is_searched_in_a_second() -> None:
    scan: Scan = read_scan()
    scene = Scene.from_scan(scan)
    _ = scene.attachment, scene.rooms
    roots = [i for i, o in scene.objects.items() if not o.is_structure and o.support == ("floor", 9)]
    started = time.process_time()
    asked, free = 0, {}
    for root in roots:
        start = scene.objects[root].center_in_world
        shifts = [move_shifts(world_heading(start), (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)).reshape(-1, 2)]
        for other in scene.objects.values():
            if other.id != root and not other.is_structure:
                shifts.append(orbit_shifts(start, other.center_in_world, (45, 90, 135, 180, -45, -90, -135)))
        every = np.concatenate(shifts)
        asked += len(every)
        free[root] = int(Clearance(scene, root).free(every).sum())
    assert time.process_time() - started < 2.0
    assert len(roots) >= 25
    assert asked > 10_000
    assert free[18] > 40, "a backpack goes to many places"
    assert free[37] < free[18], "a bed to fewer"
    for root in (18, 32, 34):
        for word in COMPASS:
            for far in (0.5, 2.0):
                shift = move_shifts(world_heading((0, 0)), far)[COMPASS.index(word), 0]
                if not free_by_hand(scene, root, shift):
                    assert not Clearance(scene, root).free(shift)[0]


def test_rest_meshes_without_unlabelled_faces_cost_nothing() -> None:
    far = thing(10, "crate", joined([sheet((0, 0, 0), (0.4, 0, 0), (0, 0.4, 0)), block((0, 0, 0), (0.4, 0.4, 0.4))]))
    scene = scene_of([far, *building()])
    assert len(scene.rest.faces) == 0
    assert scene.problems(Move("crate", "north", 1.0)) == []
