"""Numbers worked out by hand: a camera at the origin that looks north, for which a metre at 1 m is 320 pixels."""

from collections.abc import Callable

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from spacecast.frames import Intrinsics, Transform
from spacecast.scan import View
from spacecast.scene import LabelledBox, Remove, Scene
from spacecast.sight import Camera, Look, sight_of
from spacecast.sight.look import hull_of, opening

from .small import NORTH, PLAIN, with_gate

PAPER = 1e-3


def plate(id: int, x: tuple[float, float], z: tuple[float, float], at_m: float) -> LabelledBox:
    """A thin upright plate across the view, its front ``at_m`` to the north."""
    center = (sum(x) / 2, at_m + PAPER / 2, sum(z) / 2)
    return LabelledBox(id, f"plate {id}", center, (x[1] - x[0], PAPER, z[1] - z[0]))


TARGET = plate(1, (-0.5, 0.5), (-0.5, 0.5), 2.0)
"""160 by 160 pixels in the middle of the picture: columns 240 to 399, rows 160 to 319."""


def cover(columns: int, *, at_m: float = 1.0, id: int = 2) -> LabelledBox:
    """A plate that hides this many of the target's columns from the left, top to bottom."""
    right = (239.5 + columns - 319.5) / 320 * at_m
    return plate(id, (right - 2.0, right), (-1.5, 1.5), at_m)


def look_at(*boxes: LabelledBox, camera: Camera = PLAIN, width_px: int = 640) -> Look:
    return sight_of(Scene.from_boxes(boxes)).look(camera, width_px)


def test_a_plate_alone() -> None:
    seen = look_at(TARGET).visibility(1)
    assert seen.silhouette_px == seen.visible_px == seen.full_silhouette_px == 160 * 160
    assert (seen.truncation, seen.blocked, seen.opened, seen.opened_near) == (0.0, 0.0, 0.0, 0.0)
    assert seen.unknown_share is None
    mask = look_at(TARGET).mask(1)
    assert np.argwhere(mask).min(axis=0).tolist() == [160, 240]
    assert np.argwhere(mask).max(axis=0).tolist() == [319, 399]


@pytest.mark.parametrize(
    ("columns", "opened_columns"), [(0, 0), (1, 0), (4, 0), (5, 5), (16, 16), (80, 80), (160, 160)]
)
def test_hidden_columns_count_and_slivers_do_not_survive_the_opening(columns: int, opened_columns: int) -> None:
    look = look_at(TARGET, cover(columns))
    seen = look.visibility(1)
    assert seen.silhouette_px == 160 * 160
    assert seen.visible_px == (160 - columns) * 160
    assert seen.blocked == pytest.approx(columns / 160)
    assert seen.opened == seen.opened_near == pytest.approx(opened_columns / 160)
    assert look.blockers(1) == ({2: columns * 160} if columns else {})


def test_who_hides_how_much_most_first() -> None:
    right_half = plate(3, (0.0, 1.0), (-1.5, 1.5), 1.2)
    assert list(look_at(TARGET, cover(10), right_half).blockers(1).items()) == [(3, 80 * 160), (2, 10 * 160)]


def test_what_hides_by_less_than_5_cm_is_not_near() -> None:
    assert look_at(TARGET, cover(80, at_m=1.96)).visibility(1).opened == pytest.approx(0.5)
    assert look_at(TARGET, cover(80, at_m=1.96)).visibility(1).opened_near == 0.0
    assert look_at(TARGET, cover(80, at_m=1.94)).visibility(1).opened_near == pytest.approx(0.5)


def test_what_is_attached_does_not_count_as_near() -> None:
    """A box on the front of a table hides its back; the same box held in front of the table, not attached, does too."""
    table = LabelledBox(1, "table", (0.0, 2.0, -0.5), (1.0, 1.0, 0.6))
    camera = Camera(Transform.looking_at((0.0, 0.0, 1.0), (0.0, 2.0, -0.3)), PLAIN.intrinsics)
    standing = Scene.from_boxes([table, LabelledBox(2, "box", (0.0, 1.7, -0.05), (0.8, 0.3, 0.3))])
    assert standing.attachment.has_edge(1, 2)
    seen = sight_of(standing).look(camera).visibility(1)
    assert seen.opened > 0.2
    assert seen.opened_near == 0.0
    held = Scene.from_boxes([table, LabelledBox(2, "box", (0.0, 1.2, 0.15), (0.8, 0.3, 0.3))])
    assert not held.attachment.edges
    seen = sight_of(held).look(camera).visibility(1)
    assert seen.opened_near > 0.2


def test_a_target_does_not_hide_itself_and_a_copy_of_it_does_not_either() -> None:
    seen = look_at(TARGET, plate(2, (-0.5, 0.5), (-0.5, 0.5), 2.0)).visibility(1)
    assert seen.blocked == 0.0


@pytest.mark.parametrize(
    ("x", "inside", "outside"),
    [
        ((0.5, 1.5), 160, 160),  # 479.5 to 799.5 of 640 columns: 160 in, 160 out
        ((1.25, 1.75), 0, 160),  # beyond the right border
        ((-2.0, 2.0), 640, 640),  # beyond both
    ],
)
def test_truncation_counts_what_lies_beyond_the_picture(x: tuple[float, float], inside: int, outside: int) -> None:
    seen = look_at(plate(1, x, (-0.25, 0.25), 1.0)).visibility(1)
    assert seen.silhouette_px == inside * 160
    assert seen.full_silhouette_px == pytest.approx((inside + outside) * 160, rel=0.02)
    assert seen.truncation == pytest.approx(outside / (inside + outside), abs=0.01)


def test_a_silhouette_beyond_the_picture_is_counted_up_to_75_degrees() -> None:
    """A plate that runs sideways without end is counted up to tan(75) on either side."""
    limit = np.tan(np.radians(75.0)) * 320 * 2
    seen = look_at(plate(1, (-50.0, 50.0), (-0.25, 0.25), 1.0)).visibility(1)
    assert seen.full_silhouette_px == pytest.approx(limit * 160, rel=0.02)
    assert seen.truncation == pytest.approx(1 - 640 / limit, abs=0.01)


def test_a_box_that_crosses_the_cameras_plane_is_seen_as_far_as_it_is_in_front() -> None:
    """A long table beside the camera, from 1 m behind it to 4 m in front."""
    seen = look_at(LabelledBox(1, "table", (0.5, 1.5, -0.6), (0.4, 5.0, 0.2))).visibility(1)
    assert seen.silhouette_px > 4000
    assert 0.3 < seen.truncation < 0.99


@pytest.mark.parametrize("seed", range(8))
def test_a_full_silhouette_is_what_a_larger_picture_shows(seed: int) -> None:
    """The same camera with a picture out to 75 degrees counts every pixel."""
    rng = np.random.default_rng(seed)
    center = rng.uniform((-1.5, -0.5, -1.0), (1.5, 2.5, 1.0))
    turn = Transform.from_yaw_deg(float(rng.uniform(0, 90)), target="world", source="box").rotation
    box = LabelledBox(1, "box", center, rng.uniform(0.2, 1.5, 3), turn)
    reach = int(320 * np.tan(np.radians(75.0)))
    wide = Camera(NORTH, Intrinsics(320.0, 320.0, reach, reach, 2 * reach + 1, 2 * reach + 1))
    expected = look_at(box, camera=wide, width_px=2 * reach + 1).visibility(1)
    seen = look_at(box).visibility(1)
    assert seen.full_silhouette_px == pytest.approx(expected.silhouette_px, rel=0.02, abs=30)
    assert expected.silhouette_px > 0 or center[1] < 0.5


def test_what_is_behind_the_camera_has_no_silhouette() -> None:
    seen = look_at(TARGET, plate(2, (-0.5, 0.5), (-0.5, 0.5), -2.0)).visibility(2)
    assert seen[:6] == (0, 0, 0, 1.0, 1.0, 1.0)


def test_visible_ids_counts_pixels() -> None:
    look = look_at(TARGET, cover(150), plate(5, (-0.01, 0.01), (-0.01, 0.01), 3.0))
    assert look.visible_ids(1) == (1, 2)
    assert look.visible_ids(1600) == (1, 2)
    assert look.visible_ids(1601) == (2,)


def test_masks_of_another_width_are_the_same_picture() -> None:
    look = look_at(TARGET, cover(80), width_px=320)
    assert look.image.ids.shape == (240, 320)
    assert look.visibility(1).silhouette_px == 80 * 80
    assert look.visibility(1).opened == pytest.approx(0.5)


def test_the_image_of_a_kept_look_is_not_cast_again_and_no_look_is_kept_for_an_image() -> None:
    view = View("0", PLAIN.world_from_camera, PLAIN.intrinsics)
    sight = sight_of(Scene.from_boxes([TARGET, cover(40)]))
    alone = sight.mask_image(view)
    assert alone.ids.shape == (480, 640)
    look = sight.look(view)
    assert sight.mask_image(view) is look.image is not alone
    assert (look.image.ids == alone.ids).all()
    assert (look.image.depth == alone.depth).all()
    assert sight.mask_image(view, 160).ids.shape == (120, 160)


def test_an_unknown_object_is_an_error() -> None:
    with pytest.raises(KeyError):
        look_at(TARGET).visibility(2)


def view_with(depth: Callable[[], np.ndarray], intrinsics: Intrinsics) -> View:
    return View("0", NORTH, PLAIN.intrinsics, load_depth=depth, depth_intrinsics=intrinsics)


def test_sensor_depth_in_front_of_the_mesh_is_unknown_and_no_reading_is_not() -> None:
    """A depth picture of half the size: the target's columns 120..199 hold four kinds of reading, 20 each."""
    sensor = Intrinsics(160.0, 160.0, 159.5, 119.5, 320, 240)
    depth = np.full((240, 320), 2.0, np.float32)
    depth[:, 120:140] = 0.0  # no reading
    depth[:, 140:160] = 1.89  # nearer by 0.11: more than 0.10 and more than 5 % of 2 m
    depth[:, 160:180] = 1.91  # nearer by 0.09
    look = sight_of(Scene.from_boxes([TARGET])).look(view_with(lambda: depth, sensor))
    assert look.visibility(1).unknown_share == pytest.approx(0.25, abs=0.01)


def test_a_depth_picture_that_sees_less_has_no_readings_beside_it() -> None:
    """A sensor whose picture begins at the target's middle: column c of it is column c + 320 of the mask."""
    sensor = Intrinsics(320.0, 320.0, -0.5, 239.5, 200, 480)
    depth = np.full((480, 200), 1.0, np.float32)
    look = sight_of(Scene.from_boxes([TARGET])).look(view_with(lambda: depth, sensor))
    assert look.visibility(1).unknown_share == pytest.approx(0.5, abs=0.01)


def test_five_percent_count_where_they_are_more_than_10_cm() -> None:
    sensor = PLAIN.intrinsics
    far = plate(1, (-1.0, 1.0), (-1.0, 1.0), 4.0)  # 5 % are 0.20
    for reading, unknown in ((3.81, 0.0), (3.79, 1.0)):
        depth = np.full((480, 640), reading, np.float32)
        look = sight_of(Scene.from_boxes([far])).look(view_with(lambda depth=depth: depth, sensor))
        assert look.visibility(1).unknown_share == unknown


def test_the_sensor_saw_the_scene_as_scanned() -> None:
    """Once the cover is gone, readings of it say nothing against the target; a thing that the mesh lacks still does."""
    depth = np.full((480, 640), 2.0, np.float32)
    depth[:, 240:320] = 1.0  # the cover
    depth[:, 380:400] = 1.5  # something unscanned
    view = view_with(lambda: depth, PLAIN.intrinsics)
    scanned = Scene.from_boxes([TARGET, cover(80)])
    gone = scanned.apply(Remove(2), check=False)
    assert sight_of(scanned).look(view).visibility(1).unknown_share == pytest.approx(20 / 160, abs=0.01)
    assert sight_of(gone).look(view).visibility(1).unknown_share == pytest.approx(20 / 160, abs=0.01)


def test_holes_are_where_the_mesh_has_nothing_within_the_outline() -> None:
    """A gate of 160 by 160 pixels with an opening of 80 by 120, before nothing, half a wall, and a wall."""
    opening_px = 80 * 120
    for wall_x, holes_px in (((-9.0, -8.0), opening_px), ((-9.0, 0.0), opening_px / 2), ((-9.0, 9.0), 0)):
        wall = plate(9, wall_x, (-9.0, 9.0), 4.0)
        seen = sight_of(with_gate(Scene.from_boxes([wall]))).look(PLAIN).visibility(1)
        assert seen.silhouette_px == 160 * 160 - opening_px
        assert seen.holes_share == pytest.approx(holes_px / seen.silhouette_px)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(1, 30), st.sampled_from([1, 3, 5]))
def test_opening_is_the_binary_opening_by_a_square(seed: int, height: int, width: int, side: int) -> None:
    mask = ndimage.binary_dilation(np.random.default_rng(seed).random((height, width)) < 0.04, np.ones((5, 5)))
    padded = np.pad(mask, side)
    expected = ndimage.binary_opening(padded, np.ones((side, side)))[side:-side, side:-side]
    assert (opening(mask, side) == expected).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 24), st.integers(1, 24))
def test_the_hull_of_a_mask_is_the_convex_hull_of_its_pixels(seed: int, height: int, width: int) -> None:
    mask = np.random.default_rng(seed).random((height, width)) < 0.1
    rows, columns = np.nonzero(mask)
    hull = shapely.convex_hull(shapely.multipoints(np.stack([columns, rows], axis=1)))
    y, x = np.mgrid[:height, :width]
    expected = shapely.distance(hull, shapely.points(x, y)) < 1e-6 if len(rows) else np.zeros_like(mask)
    assert (hull_of(mask) == expected).all()
