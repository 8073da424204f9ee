"""Lenses by numbers worked out by hand, and pictures without their distortion."""

from __future__ import annotations

import math

import numpy as np
import pytest

from scannet_tools.lenses import Lens, undistort
from spacecast.errors import FrameError, InputError
from spacecast.frames import Intrinsics

FISHEYE = Lens(100, 110, 80, 60, 161, 121, "fisheye", (0.1, -0.02, 0.003, -0.0004))


def test_a_ray_at_45_degrees_through_an_equidistant_lens():
    lens = Lens(100, 100, 80, 60, 161, 121, "fisheye")
    np.testing.assert_allclose(lens.project([2.0, 0.0, 2.0]), [80 + 100 * math.pi / 4, 60], atol=1e-12)
    np.testing.assert_allclose(lens.project([0.0, 0.0, 2.0]), [80, 60], atol=1e-12)
    np.testing.assert_allclose(lens.project([0.0, -3.0, 3.0]), [80, 60 - 100 * math.pi / 4], atol=1e-12)


def test_fisheye_coefficients():
    # theta = pi/4 = 0.785398; theta^2 = 0.616850, ^4 = 0.380504, ^6 = 0.234714, ^8 = 0.144783.
    # 1 + 0.0616850 - 0.00761008 + 0.000704142 - 0.0000579132 = 1.0547212; theta_d = 0.8283760.
    np.testing.assert_allclose(FISHEYE.project([1.0, 0.0, 1.0]), [80 + 82.83760, 60], atol=1e-4)


def test_radial_and_tangential_coefficients():
    lens = Lens.from_parameters(
        "OPENCV", {"fx": 100, "fy": 200, "cx": 0, "cy": 0, "k1": 0.1, "k2": 0.01, "p1": 0.02, "p2": 0.03}, 10, 10
    )
    # x = 0.5, y = 1: r^2 = 1.25, 1 + 0.125 + 0.015625 = 1.140625.
    # x' = 0.5703125 + 2 * 0.02 * 0.5 + 0.03 * (1.25 + 0.5) = 0.6428125
    # y' = 1.140625 + 2 * 0.03 * 0.5 + 0.02 * (1.25 + 2) = 1.235625
    np.testing.assert_allclose(lens.project([1.0, 2.0, 2.0]), [64.28125, 247.125], atol=1e-9)


def test_behind_the_camera_and_behind_the_fold_is_nowhere():
    assert np.isnan(FISHEYE.project([0.0, 0.0, -1.0])).all()
    folded = Lens(100, 100, 80, 60, 161, 121, "fisheye", (-0.5, 0, 0, 0))  # turns back at theta^2 = 1 / 1.5: 46.8 deg
    assert np.isfinite(folded.project([math.tan(math.radians(46)), 0, 1])).all()
    assert np.isnan(folded.project([math.tan(math.radians(48)), 0, 1])).all()


@pytest.mark.parametrize(
    "lens",
    [
        FISHEYE,
        Lens(790, 790, 876, 584, 1752, 1168, "fisheye", (0.03, -0.01, 0.002, -0.0005)),
        Lens(100, 100, 80, 60, 161, 121, "radial", (0.1, 0.0, 0.0, 0.0), (0.001, -0.002)),
        Lens(100, 100, 80, 60, 161, 121, "radial", (-0.1, 0.0, 0.0, 0.0)),
    ],
)
def test_the_undistorted_picture_is_full_and_no_narrower_than_need_be(lens):
    target = lens.undistorted()
    assert (target.width, target.height, target.cx, target.cy) == (lens.width, lens.height, lens.cx, lens.cy)
    rows, columns = np.mgrid[: target.height : 3, : target.width : 3]
    pixels = lens.project(target.rays(np.stack([columns, rows], axis=-1)))
    assert (pixels > -0.51).all()
    assert (pixels < np.array([lens.width - 0.49, lens.height - 0.49])).all()
    border = lens.project(
        target.rays([[0, lens.cy], [lens.cx, 0], [lens.width - 1, lens.cy], [lens.cx, lens.height - 1]])
    )
    corners = lens.project(target.rays([[0, 0], [lens.width - 1, 0], [0, lens.height - 1]]))
    found = np.concatenate([border, corners])
    gap = np.minimum(found + 0.5, np.array([lens.width - 0.5, lens.height - 0.5]) - found)
    assert gap.min() < 0.01  # somewhere it touches the edge of what the lens saw


def test_a_pinhole_is_left_alone():
    lens = Lens.from_colmap("SIMPLE_PINHOLE", [100, 80, 60], 160, 120)
    assert lens.is_pinhole
    assert lens.undistorted() == Intrinsics(100, 100, 80, 60, 160, 120)


def test_a_straight_edge_is_straight_again():
    """A wall with an edge along x = 0.4 z, seen through the fisheye, undistorted: one column."""
    lens, target = FISHEYE, FISHEYE.undistorted()
    rows, columns = np.mgrid[: lens.height, : lens.width].astype(float)
    grid = np.linspace(-3, 3, 2401)
    edge = lens.project(np.stack([np.full_like(grid, 0.4), grid, np.ones_like(grid)], axis=-1))
    limits = np.interp(rows[:, 0], edge[:, 1], edge[:, 0])  # the edge's column at each row
    picture = np.where(columns > limits[:, None], 200, 20).astype(np.uint8)
    assert np.ptp(limits) > 2  # it is bent
    flat = undistort(np.repeat(picture[..., None], 3, axis=2), lens, target)
    assert flat.shape == (lens.height, lens.width, 3)
    assert flat.dtype == np.uint8
    steps = (flat[..., 0] < 110).sum(axis=1)
    assert np.abs(steps - (0.4 * target.fx + target.cx)).max() < 1.5


def test_depth_takes_the_nearest_pixel_and_nothing_where_nothing_was_seen():
    depth = np.where(np.mgrid[:121, :161][1] > 80, 3.0, 1.0).astype(np.float32)
    wide = Intrinsics(20, 20, 80, 60, 161, 121)
    flat = undistort(depth, FISHEYE, wide, nearest=True)
    assert flat.dtype == np.float32
    assert set(np.unique(flat)) == {0.0, 1.0, 3.0}
    assert flat[60, 0] == 0.0
    assert (flat[60, 70], flat[60, 90]) == (1.0, 3.0)


def test_what_is_no_lens_is_refused_in_one_line():
    for model, parameters in (("THIN_PRISM_FISHEYE", [1] * 12), ("PINHOLE", [1, 2, 3]), ("PINHOLE", [0, 1, 2, 3])):
        with pytest.raises(FrameError) as caught:
            Lens.from_colmap(model, parameters, 10, 10)
        assert "\n" not in str(caught.value)
    with pytest.raises(FrameError, match="finite"):
        Lens.from_colmap("OPENCV_FISHEYE", [1, 1, 1, 1, np.nan, 0, 0, 0], 10, 10)
    with pytest.raises(InputError, match="picture is 5 x 5 px"):
        undistort(np.zeros((5, 5), np.uint8), FISHEYE, FISHEYE.undistorted())


def test_a_lens_scales_with_its_picture_and_refuses_another_aspect():
    half = Lens(100, 110, 79.5, 59.5, 160, 120, "fisheye", (0.1, 0, 0, 0)).scaled_to((80, 60))
    assert half == Lens(50, 55, 39.5, 29.5, 80, 60, "fisheye", (0.1, 0, 0, 0))
    assert FISHEYE.scaled_to((100, 100)) is None
