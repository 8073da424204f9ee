from dataclasses import replace

import numpy as np
import pytest

from spacecast.frames import Transform
from spacecast.scan import Scan
from spacecast.scene import LabelledBox, Scene
from spacecast.sight import SceneColors, map_frame, map_picture, picture, sight_of
from spacecast.sight.pictures import SETTINGS

from .small import FURNITURE, PLAIN, small_scan, standing

CAMERA = standing(-1.5, -1.7, 1.6, (0.4, 0.8, 0.4))


@pytest.fixture(scope="module")
def scan() -> Scan:
    return small_scan(FURNITURE)


def painted(scan: Scan, color_of: dict[int, tuple[int, int, int]]) -> Scan:
    colors = np.full(scan.colors.shape, 100, np.uint8)
    for object_id, color in color_of.items():
        colors[scan.instance_ids == object_id] = color
    return replace(scan, colors=colors)


def test_each_object_is_seen_in_its_own_colour(scan: Scan) -> None:
    red_chair = painted(scan, {3: (200, 0, 0), 0: (0, 200, 0)})
    scene = Scene.from_scan(red_chair)
    image = picture(scene, CAMERA, SceneColors.from_scan(red_chair), supersample=1)
    ids = sight_of(scene).id_image(CAMERA).ids
    for object_id, channel in ((3, 0), (0, 1)):
        pixels = image[ids == object_id].astype(int)
        assert len(pixels) > 100
        assert (pixels[:, channel] >= 200 * (1 - SETTINGS.shade) - 1).all()
        assert (np.delete(pixels, channel, axis=1) == 0).all()


def test_colours_run_from_corner_to_corner() -> None:
    """A plate whose left corners are black and whose right corners are white, seen straight on, is a ramp."""
    plate = Scene.from_boxes([LabelledBox(1, "plate", (0.0, 2.0, 0.0), (1.0, 0.001, 1.0))])
    vertices = plate.objects[1].shape.vertices
    ramp = np.repeat((vertices[:, :1] > 0) * 255, 3, axis=1).astype(np.uint8)
    image = picture(plate, PLAIN, SceneColors({1: ramp}, np.zeros((0, 3), np.uint8)), supersample=1)
    row = image[240, 240:400].mean(axis=1)
    steps = np.diff(row)
    # Shading varies where corner normals do, in the same way on either side.
    assert row[0] < 5
    assert row[-1] > 190
    assert (steps > -0.5).all()
    assert row[80] == pytest.approx(row[-1] / 2, abs=25)


def test_holes_have_the_background(scan: Scan) -> None:
    scene = Scene.from_scan(scan)
    image = picture(scene, standing(0.0, -3.0, 1.0, (0.0, -9.0, 1.0)))
    assert (image == SETTINGS.background).all()


def test_a_picture_made_in_strips_is_the_picture(scan: Scan, monkeypatch: pytest.MonkeyPatch) -> None:
    scene, colors = Scene.from_scan(scan), SceneColors.from_scan(scan)
    whole = picture(scene, CAMERA, colors)
    monkeypatch.setattr("spacecast.sight.pictures.SETTINGS", replace(SETTINGS, rays_at_once=2000))
    assert (picture(scene, CAMERA, colors) == whole).mean() > 0.999


def test_a_state_keeps_its_colours_where_it_goes(scan: Scan) -> None:
    red_chair = painted(scan, {3: (200, 0, 0)})
    scene = Scene.from_scan(red_chair)
    moved = Transform.from_translation((0.6, 1.0, 0.0), target="world", source="object")
    state = replace(
        scene,
        objects={i: replace(o, world_from_object=moved) if i == 3 else o for i, o in scene.objects.items()},
        rest=scene.rest.without({3}),
    )
    image = picture(state, CAMERA, SceneColors.from_scan(red_chair), supersample=1)
    chair = sight_of(state).id_image(CAMERA).ids == 3
    assert chair.sum() > 50
    is_red = (image[..., 0] > 120) & (image[..., 1] == 0)
    assert (is_red == chair).mean() > 0.999


# maps


def test_a_map_has_east_at_the_right_and_north_at_the_top() -> None:
    scene = Scene.from_boxes(
        [
            LabelledBox(1, "east", (2.0, 0.0, 0.5), (0.5, 0.5, 1.0)),
            LabelledBox(2, "north", (0.0, 3.0, 0.5), (0.5, 0.5, 1.0)),
        ]
    )
    frame = map_frame(scene)
    colors = SceneColors(
        {1: np.full((8, 3), (255, 0, 0), np.uint8), 2: np.full((8, 3), (0, 0, 255), np.uint8)},
        np.zeros((0, 3), np.uint8),
    )
    image = map_picture(scene, colors)
    assert image.shape == (frame.height, frame.width, 3)
    for object_id, channel in ((1, 0), (2, 2)):
        column, row = np.rint(frame.pixel_of(scene.objects[object_id].center_in_world)).astype(int)
        assert image[row, column].argmax() == channel
        rows, columns = np.nonzero((image[..., channel] > 150) & (image.sum(axis=2) < 300))
        half_px = 0.25 * frame.px_per_m
        assert columns.mean() == pytest.approx(column, abs=1)
        assert rows.mean() == pytest.approx(row, abs=1)
        assert np.ptp(columns) == pytest.approx(2 * half_px, abs=2)


def test_a_ceiling_is_not_in_the_way() -> None:
    table = LabelledBox(1, "table", (0.0, 0.0, 0.4), (1.0, 1.0, 0.8))
    floor = LabelledBox(2, "floor", (0.0, 0.0, -0.05), (4.0, 4.0, 0.1), traits=frozenset({"structure", "floor"}))
    ceiling = LabelledBox(3, "ceiling", (0.0, 0.0, 2.5), (4.0, 4.0, 0.1), traits=frozenset({"structure"}))
    open_above = map_picture(Scene.from_boxes([table, floor]))
    assert (map_picture(Scene.from_boxes([table, floor, ceiling])) == open_above).all()
    assert len(np.unique(open_above.reshape(-1, 3), axis=0)) > 3


def test_names_are_written_on_a_map() -> None:
    scene = Scene.from_boxes([LabelledBox(1, "table", (0.0, 0.0, 0.4), (1.0, 1.0, 0.8))])
    plain, named = map_picture(scene), map_picture(scene, names=True)
    row, column = np.argwhere((plain != named).any(axis=2)).mean(axis=0)
    assert map_frame(scene).pixel_of((0.0, 0.0)) == pytest.approx((column, row), abs=6)
    assert (map_picture(scene, names=()) == plain).all()


def test_an_empty_scene_has_an_empty_map() -> None:
    image = map_picture(Scene("s", "d", False, {}))
    assert image.ndim == 3
    assert (image[60:] == SETTINGS.background).all()
