"""What is seen, and what relations say, after something was done: against a mesh that was moved vertex by vertex."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spacecast.errors import UnknownObjectError
from spacecast.frames import Transform
from spacecast.relations import occlusion, pairwise_occlusion
from spacecast.scan import Scan
from spacecast.scene import Intervention, LabelledBox, Move, Orbit, Remove, RotateLayout, Scene, Sequence, Spin
from spacecast.sight import NO_HIT, map_frame, map_picture, picture, sight_of

from .small import FURNITURE, PLAIN, agreement, brute_force, small_scan, standing

CHAIR, DESK, LAMP, BIN = 3, 0, 7, 12
CAMERAS = (standing(-1.5, -1.7, 1.6, (0.4, 0.8, 0.4)), standing(1.6, -1.0, 0.5, (0.0, 0.6, 0.4)))
STEPS: dict[str, Intervention] = {
    "desk moved with its lamp": Move(DESK, "west", 0.5),
    "chair around the bin": Orbit(CHAIR, BIN, 45.0),
    "desk spun": Spin(DESK, 30.0, "counterclockwise"),
    "desk gone with its lamp": Remove(DESK),
    "desk gone, lamp aloft": Remove(DESK, carried="stays"),
    "layout turned": RotateLayout(90.0, (0.0, 0.0)),
    "three things": Sequence((Move(BIN, "south", 0.5), Remove(CHAIR), RotateLayout(180.0, (0.0, 0.0)))),
}


@pytest.fixture(scope="module")
def scan() -> Scan:
    return small_scan(FURNITURE)


def by_hand(scan: Scan, after: Scene) -> tuple[np.ndarray, ...]:
    """Vertices, faces and ids per face of a state, from where its objects are, by the rule for mixed faces alone."""
    vertices, gone, moved = scan.vertices.astype(np.float64), [], []
    for i in scan.instances:
        own = scan.instance_ids == i
        if i not in after.objects:
            gone.append(i)
            continue
        pose = after.objects[i].world_from_object
        if (pose.matrix != np.eye(4)).any():
            moved.append(i)
            vertices[own] = vertices[own] @ pose.rotation.T + pose.translation
    corners = scan.instance_ids[scan.faces]
    mixed = (corners != corners[:, :1]).any(axis=1)
    dropped = np.isin(corners, gone).any(axis=1) | (mixed & np.isin(corners, moved).any(axis=1))
    return vertices, scan.faces[~dropped], np.where(mixed, -1, corners[:, 0])[~dropped]


@pytest.mark.parametrize("name", STEPS)
def test_a_state_looks_as_the_moved_mesh_does(scan: Scan, name: str) -> None:
    scene = Scene.from_scan(scan)
    assert scene.carried_by(DESK) == (LAMP,)
    after = scene.apply(STEPS[name], check=False)
    changed = [i for i in scene.objects if i not in after.objects or not after.objects[i].is_in_place]
    assert changed
    for camera in CAMERAS:
        expected = brute_force(*by_hand(scan, after), camera)
        found = sight_of(after).id_image(camera, threads=1)
        assert agreement(found, expected) > 0.999
        before = sight_of(scene).id_image(camera, threads=1)
        assert agreement(found, before) < 0.999, "the camera sees nothing of it"


@pytest.mark.parametrize("name", ["desk moved with its lamp", "desk gone, lamp aloft", "layout turned"])
def test_occlusion_is_that_of_a_scan_of_the_state(scan: Scan, name: str) -> None:
    scene = Scene.from_scan(scan)
    after = scene.apply(STEPS[name], check=False)
    vertices, faces, _ = by_hand(scan, after)
    gone = after.removed
    ids = np.where(np.isin(scan.instance_ids, gone), -1, scan.instance_ids).astype(np.int32)
    instances = {i: x for i, x in scan.instances.items() if i not in gone}
    again = Scene.from_scan(
        replace(scan, vertices=vertices.astype(np.float32), faces=faces, instance_ids=ids, instances=instances)
    )
    for camera in CAMERAS:
        for i in (CHAIR, LAMP, BIN):
            one, other = (occlusion(s, i, view=camera) for s in (after, again))
            assert one.value == other.value
            assert one.numbers["blocked"] == pytest.approx(other.numbers["blocked"], abs=0.01)


def test_what_was_removed_is_not_visible_and_nothing_else_is_asked() -> None:
    wall = LabelledBox(9, "wall", (0, 4, 0), (9, 0.1, 9), traits=frozenset({"structure", "wall"}))
    screen, jar = (
        LabelledBox(1, "screen", (0, 1.5, 0), (0.6, 0.02, 0.6)),
        LabelledBox(2, "jar", (0, 2.5, 0), (0.3,) * 3),
    )
    scene = Scene.from_boxes([wall, screen, jar])
    assert occlusion(scene, "jar", view=PLAIN).value == "not visible"
    assert occlusion(scene, "screen", view=PLAIN).value == "not occluded"
    after = scene.apply(Remove("screen"), check=False)
    for name in ("screen", 1, "1"):
        answer = occlusion(after, name, view=PLAIN)
        assert (answer.value, answer.certain) == ("not visible", True)
        assert answer.numbers["silhouette_px"] == 0
        assert answer.numbers.keys() == occlusion(after, "jar", view=PLAIN).numbers.keys()
    assert occlusion(after, "jar", view=PLAIN).value == "not occluded"
    with pytest.raises(UnknownObjectError, match="screen 1 was removed"):
        pairwise_occlusion(after, "jar", "screen", view=PLAIN)
    with pytest.raises(UnknownObjectError, match="no object has the id 5"):
        occlusion(after, 5, view=PLAIN)


def test_who_hides_whom_after_a_move() -> None:
    """A plate of 0.4 before a plate of 1.0, two metres and three away; it moves right of it and then before it."""
    plate, board = (
        LabelledBox(1, "plate", (0, 2, 0), (0.4, 0.01, 0.4)),
        LabelledBox(2, "board", (0, 3, 0), (1, 0.01, 1)),
    )
    scene = Scene.from_boxes([plate, board])
    aside = scene.apply(Move("plate", "right", 1.0, "camera", PLAIN.world_from_camera), check=False)
    beyond = scene.apply(Move("plate", "forward", 1.5, "camera", PLAIN.world_from_camera), check=False)
    assert pairwise_occlusion(scene, "board", "plate", view=PLAIN).value == "query_occluded"
    assert pairwise_occlusion(aside, "board", "plate", view=PLAIN).value == "neither"
    assert pairwise_occlusion(beyond, "board", "plate", view=PLAIN).value == "reference_occluded"
    assert occlusion(beyond, "plate", view=PLAIN).value == "not visible"
    back = Sequence((Move("plate", "forward", 1.5, "camera", PLAIN.world_from_camera), Move("plate", "south", 1.5)))
    one, other = (occlusion(s, "board", view=PLAIN) for s in (scene, scene.apply(back, check=False)))
    assert one == other


def test_pictures_and_maps_of_a_state(scan: Scan) -> None:
    scene = Scene.from_scan(scan)
    after = scene.apply(Remove(DESK), check=False)
    camera = CAMERAS[0]
    one, other = picture(scene, camera), picture(after, camera)
    ids = sight_of(scene).id_image(camera).ids
    changed = (one.astype(int) != other).any(axis=2)
    assert changed[np.isin(ids, (DESK, LAMP))].mean() > 0.9
    # Beside these, only the mixed faces that went with them and the outlines change.
    assert changed[ids == CHAIR].mean() < 0.1
    assert (ids != NO_HIT).any()
    frame = map_frame(scene, scene.apply(Move(DESK, "east", 3.0), check=False))
    assert frame.width > map_frame(scene).width
    assert map_picture(after, frame=frame).shape == (frame.height, frame.width, 3)


def test_a_turned_layout_is_seen_by_a_turned_camera_as_before() -> None:
    boxes = [LabelledBox(b.id, b.label, b.center, b.size) for b in FURNITURE]
    scene = Scene.from_boxes(boxes)
    after = scene.apply(RotateLayout(90.0, (0.3, -0.2)))
    turn = Transform.from_yaw_deg(-90.0, target="world", source="world", about=(0.3, -0.2, 0.0))
    for camera in CAMERAS:
        turned = camera._replace(world_from_camera=turn @ camera.world_from_camera)
        assert agreement(sight_of(after).id_image(turned), sight_of(scene).id_image(camera)) > 0.999
