"""Scenes and objects: names, flags, faces, boxes, poses."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import shapely

from spacecast.errors import InputError, UnknownObjectError
from spacecast.frames import Transform
from spacecast.scan import Instance, Scan
from spacecast.scene import LabelledBox, RestMesh, Scene, Shape

from .cases import cases, room
from .hand import block, building, scan_of, scene_of, table, thing

BOXES = [
    LabelledBox(3, "desk", (0, 0, 0.4), (1.2, 0.6, 0.8)),
    LabelledBox(0, "lamp", (0, 0, 0.95), (0.2, 0.2, 0.3)),
    LabelledBox(7, "chair", (2, 0, 0.5), (0.5, 0.5, 1.0)),
    LabelledBox(12, "chair", (-2, 0, 0.5), (0.5, 0.5, 1.0)),
    LabelledBox(20, "floor", (0, 0, -0.05), (6, 6, 0.1), traits=frozenset({"structure", "floor"})),
]


@pytest.fixture
def scene() -> Scene:
    return Scene.from_boxes(BOXES)


def test_objects_are_sorted_and_keep_their_ids(scene: Scene) -> None:
    assert list(scene.objects) == [0, 3, 7, 12, 20]


@pytest.mark.parametrize("name, number", [(0, 0), (12, 12), ("desk", 3), (" Desk ", 3), ("12", 12), (np.int32(7), 7)])
def test_resolve(scene: Scene, name: object, number: int) -> None:
    assert scene.resolve(name) == number  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name, words",
    [
        ("chair", "2 objects have the label 'chair'; give an id: 7, 12"),
        ("dsek", "did you mean 'desk'? labels: chair, desk, floor, lamp"),
        (5, "no object has the id 5; ids: 0, 3, 7, 12, 20"),
        (-1, "no object has the id -1"),
        (True, "no object has the label 'true'"),
    ],
)
def test_resolve_says_what_there_is(scene: Scene, name: int | str, words: str) -> None:
    with pytest.raises(UnknownObjectError) as error:
        scene.resolve(name)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_two_boxes_with_one_id_are_refused() -> None:
    with pytest.raises(InputError, match="two boxes have the id 3"):
        Scene.from_boxes([BOXES[0], BOXES[0]])


def test_boxes_are_where_they_were_put(scene: Scene) -> None:
    desk = scene.objects[3]
    assert np.allclose(desk.aabb.min, (-0.6, -0.3, 0.0), atol=1e-6)
    assert np.allclose(desk.aabb.max, (0.6, 0.3, 0.8), atol=1e-6)
    assert np.allclose(desk.center_in_world, (0, 0, 0.4), atol=1e-6)
    assert np.allclose(desk.centers_in_world, [[0, 0, 0.4]] * 3, atol=1e-6)
    assert desk.footprint.area == pytest.approx(0.72, abs=1e-5)
    assert desk.may_be_asked


def test_a_turned_box_has_its_axes_in_the_columns() -> None:
    axes = Transform.from_yaw_deg(30.0, target="world", source="box").rotation
    item = Scene.from_boxes([LabelledBox(1, "bed", (1, 2, 0.3), (2.0, 1.0, 0.6), axes)]).objects[1]
    assert np.allclose(item.obb.size, (2.0, 1.0, 0.6), atol=1e-6)
    assert item.obb.yaw_deg == pytest.approx(30.0, abs=1e-4)
    assert item.aabb.size[0] == pytest.approx(2.0 * np.cos(np.pi / 6) + 1.0 * np.sin(np.pi / 6), abs=1e-6)


def test_attachment_of_boxes(scene: Scene) -> None:
    assert scene.carrier_of("lamp") == 3
    assert scene.carried_by("desk") == (0,)
    assert scene.carried_by("lamp") == ()
    assert scene.carrier_of("desk") is None
    assert scene.objects[3].support == ("floor", 20)
    assert scene.objects[20].support is None


def test_what_is_carried_is_the_whole_subtree() -> None:
    chain = next(case for case in cases() if case.name == "cup on tray on table")
    scene = scene_of(room(chain))
    assert scene.carried_by("table") == (2, 3)
    assert scene.carried_by("tray") == (3,)
    assert scene.carrier_of("cup") == 2
    assert scene.possible_neighbours(["table", "tray", "cup"]) == ()


def test_possible_neighbours_are_outside_and_joined_either_way() -> None:
    bridge = next(case for case in cases() if case.name == "board across two tables")
    scene = scene_of(room(bridge))
    assert scene.possible_neighbours([1]) == (3,)
    assert scene.possible_neighbours([3]) == (1, 2)
    assert scene.possible_neighbours([1, 3]) == (2,)
    assert scene.possible_neighbours([1, 2, 3]) == ()


def test_the_graph_is_frozen_and_holds_what_is_not_structure(scene: Scene) -> None:
    assert list(scene.attachment.nodes) == [0, 3, 7, 12]
    with pytest.raises(Exception, match="Frozen"):
        scene.attachment.add_edge(0, 3)
    with pytest.raises(TypeError):
        scene.objects[99] = scene.objects[0]  # type: ignore[index]
    with pytest.raises(dataclasses.FrozenInstanceError):
        scene.scene_id = "other"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        scene.objects[3].vertices_in_world[0] = 0.0


def _instance(number: int, *traits: str, lost_share: float = 0.0) -> Instance:
    return Instance(number, "thing", "thing", traits=frozenset(traits), lost_share=lost_share)


def _scan(vertices: np.ndarray, faces: np.ndarray, ids: np.ndarray, *instances: Instance) -> Scan:
    return Scan(
        dataset="hand", scene_id="hand", room_id="hand", vertices=np.asarray(vertices, dtype=np.float32),
        faces=np.asarray(faces, dtype=np.int32).reshape(-1, 3), colors=np.zeros((len(vertices), 3), dtype=np.uint8),
        instance_ids=np.asarray(ids, dtype=np.int32), instances={i.id: i for i in instances},
        world_from_scan=Transform.identity(target="world", source="scan"), is_aligned=True, has_labels=True, views={},
    )  # fmt: skip


def test_mixed_and_unlabelled_faces_belong_to_the_rest() -> None:
    # Face 0 is object 0's alone, 1 joins 0 and 4, 2 joins 4 and none, 3 is nobody's.
    vertices = np.array(
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [-1, 1, 0], [-1, 0, 0], [-1, -1, 0.5]], dtype=float
    )
    faces = [[0, 1, 2], [1, 2, 3], [3, 4, 5], [4, 5, 6]]
    owners = [0, 0, 0, 4, -1, -1, -1]
    scene = Scene.from_scan(_scan(vertices, faces, owners, _instance(0), _instance(4), _instance(8)))
    assert list(scene.objects) == [0, 4]  # 8 has no vertex
    assert scene.objects[0].shape.faces.tolist() == [[0, 1, 2]]
    assert scene.objects[4].shape.faces.tolist() == []
    assert scene.rest.touches.tolist() == [[0, 0, 4], [4, -1, -1], [-1, -1, -1]]
    corners = scene.rest.vertices[scene.rest.faces]
    assert np.array_equal(corners, vertices[np.array(faces[1:])].astype(np.float32))
    assert {key: value.tolist() for key, value in scene.rest.sets([0, 4]).items()} == {(): [2], (0, 4): [0], (4,): [1]}
    assert {key: value.tolist() for key, value in scene.rest.sets([4]).items()} == {(): [2], (4,): [0, 1]}
    assert scene.rest.without([0]).touches.tolist() == [[4, -1, -1], [-1, -1, -1]]
    assert scene.rest.without([]) is scene.rest
    assert RestMesh.empty().sets([1]) == {}


ROOMY = block((0, 0, 0), (0.4, 0.4, 0.4))
FAR = block((1.2, 0, 0), (1.4, 0.2, 0.2))
NEAR = block((0.85, 0, 0), (1.0, 0.2, 0.2))


@pytest.mark.parametrize(
    "item, lost_share, reason",
    [
        (thing(1, "box", ROOMY), 0.0, None),
        (thing(1, "wall", ROOMY, traits="structure wall"), 0.0, "structure"),
        (thing(1, "object", ROOMY, traits="clutter"), 0.0, "clutter"),
        (thing(1, "books", ROOMY, traits="collective"), 0.0, "collective"),
        (thing(1, "box", ROOMY, FAR), 0.0, "scattered"),  # 0.8 apart
        (thing(1, "box", ROOMY, NEAR), 0.0, None),  # 0.45 apart
        (thing(1, "box", ROOMY, NEAR, FAR), 0.0, None),  # from one to the next by less than 0.5
        (thing(1, "box", block((0, 0, 0), (0.04, 0.04, 0.04), 0.008)), 0.0, "small"),
        (thing(1, "box", block((0, 0, 0), (0.06, 0.04, 0.04), 0.008)), 0.0, None),
        (thing(1, "box", block((0, 0, 0), (0.4, 0.4, 0.4), 0.3)), 0.0, None),  # 54 vertices: 9 a side
        (thing(1, "box", block((0, 0, 0), (0.4, 0.4, 0.4), 0.3, without="top")), 0.0, "few_vertices"),  # 45
        (thing(1, "paper", (ROOMY[0] * (1, 1, 0), ROOMY[1])), 0.0, "degenerate"),
        (thing(1, "box", ROOMY), 0.05, None),
        (thing(1, "box", ROOMY), 0.06, "shares_vertices"),
    ],
)
def test_what_is_not_asked_about(item, lost_share: float, reason: str | None) -> None:
    scan = scan_of([item])
    lost = dataclasses.replace(scan.instances[1], lost_share=lost_share)
    found = Scene.from_scan(dataclasses.replace(scan, instances={1: lost})).objects[1]
    assert found.why_not_asked == reason
    assert found.may_be_asked == (reason is None)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_degenerate_objects_cost_nothing_but_themselves(count: int) -> None:
    points = np.array([[0.0, 0, 1], [0.1, 0, 1], [0.2, 0, 1], [0.3, 0, 1]])[:count]
    whole = scan_of([table(1, (-0.6, -0.4, 0), (0.6, 0.4, 0.75)), *building()])
    scan = _scan(
        np.concatenate([whole.vertices, points]), whole.faces, np.concatenate([whole.instance_ids, [77] * count]),
        *whole.instances.values(), _instance(77),
    )  # fmt: skip
    scene = Scene.from_scan(scan)
    assert "degenerate" in scene.objects[77].shape.flags
    assert not scene.objects[77].may_be_asked
    assert (scene.objects[77].aabb.size >= 1e-3 - 1e-9).all()
    assert scene.objects[1].support == ("floor", 900)
    assert scene.carried_by(1) == ()


def test_without_labels_there_is_only_the_rest() -> None:
    scan = scan_of(building())
    bare = dataclasses.replace(scan, instance_ids=np.full(len(scan.vertices), -1, dtype=np.int32), instances={})
    scene = Scene.from_scan(bare)
    assert len(scene.objects) == 0
    assert len(scene.rest.faces) == len(scan.faces)
    assert len(scene.attachment) == 0


def test_poses_are_applied_to_everything() -> None:
    chain = next(case for case in cases() if case.name == "cup on tray on table")
    scene = scene_of(room(chain), noise_m=0.001)
    turn = Transform.from_yaw_deg(35.0, target="world", source="object", about=(0.3, 0.1, 0.0))
    pose = Transform("world", "object", turn.rotation, turn.translation + np.array([0.5, -0.4, 0.0]))
    moved = scene._with_poses({1: pose, 2: pose, 3: pose})
    cup, before = moved.objects[3], scene.objects[3]
    assert cup.shape is before.shape
    assert np.allclose(cup.vertices_in_world, pose @ before.vertices_in_world)
    assert np.allclose(cup.aabb.min, cup.vertices_in_world.min(axis=0), atol=1e-9)
    assert np.allclose(cup.aabb.max, cup.vertices_in_world.max(axis=0), atol=1e-9)
    hull = shapely.convex_hull(shapely.MultiPoint(cup.vertices_in_world[:, :2]))
    assert cup.footprint.symmetric_difference(hull).area < 1e-9
    assert np.allclose(np.sort(cup.obb.size), np.sort(before.obb.size), atol=1e-6)
    assert np.allclose(cup.centers_in_world[2], pose @ before.centers_in_world[2])
    assert moved.carried_by(1) == (2, 3)
    assert moved.carrier_of(3) == 2


def test_attachment_is_derived_again_after_a_move() -> None:
    chain = next(case for case in cases() if case.name == "cup on tray on table")
    scene = scene_of(room(chain))
    aside = Transform.from_translation((1.2, 0.0, -0.75), target="world", source="object")
    moved = scene._with_poses({2: aside})  # the tray alone, to the floor beside the table; the cup stays on nothing
    assert moved.carrier_of(2) is None
    assert moved.objects[2].support == ("floor", 900)
    assert moved.carried_by(1) == (3,)  # 1 cm above the table's top now: it stands there
    assert scene.carried_by(1) == (2, 3)  # the first scene is as it was


def test_what_is_removed_is_gone_with_its_mixed_faces() -> None:
    vertices = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.2], [2, 2, 0]], dtype=float)
    scan = _scan(vertices, [[0, 1, 2], [1, 2, 3], [2, 3, 4]], [1, 1, 1, 2, -1], _instance(1), _instance(2))
    scene = Scene.from_scan(scan)
    left = scene._with_poses({}, removed=[2])
    assert list(left.objects) == [1]
    assert left.rest.touches.tolist() == []
    assert list(scene.objects) == [1, 2]


def test_a_shape_needs_vertices() -> None:
    with pytest.raises(InputError, match="needs vertices"):
        Shape.from_mesh(np.zeros((0, 3)), np.zeros((0, 3)))
