import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacecast.frames import Intrinsics, Transform
from spacecast.sight import Window
from spacecast.sight.cameras import box_window, pixel_rays, window_rays

from .small import NORTH, PLAIN

K = PLAIN.intrinsics


def test_the_ray_of_a_pixel_goes_through_its_centre() -> None:
    rays = window_rays(NORTH, K, Window.of(K))
    assert rays.shape == (480, 640, 6)
    # Pixel (0, 0) of a camera that looks north: left is west, up is up; depth is along y.
    assert rays[0, 0].tolist() == pytest.approx([0, 0, 0, -319.5 / 320, 1, 239.5 / 320])
    assert rays[479, 639].tolist() == pytest.approx([0, 0, 0, 319.5 / 320, 1, -239.5 / 320])


def test_rays_end_on_points_that_project_back() -> None:
    pose = Transform.looking_at((1.0, -2.0, 1.5), (0.3, 0.2, 0.4))
    columns, rows = np.array([-70.0, 0.0, 12.5, 639.0, 900.0]), np.array([3.0, 0.0, 470.25, 100.0, -300.0])
    rays = pixel_rays(pose, K, columns, rows)
    points = rays[:, :3] + 2.5 * rays[:, 3:]
    in_camera = pose.inverse() @ points.astype(np.float64)
    assert in_camera[:, 2] == pytest.approx(2.5, abs=1e-5)
    assert K.project(in_camera) == pytest.approx(np.stack([columns, rows], 1), abs=1e-3)


def test_a_box_covers_the_window_of_its_front() -> None:
    # One metre wide at two metres: 160 pixels, 240..399; the window is a pixel or two larger, no more.
    window = box_window(np.array([[-0.5, 2.0, -0.5], [0.5, 2.1, 0.5]]), NORTH, K)
    assert 237 <= window.left <= 239
    assert 401 <= window.right <= 403
    assert 157 <= window.top <= 159
    assert 321 <= window.bottom <= 323


def test_a_box_behind_the_camera_has_no_window() -> None:
    assert box_window(np.array([[-0.5, -2.0, -0.5], [0.5, -1.0, 0.5]]), NORTH, K).area == 0


def test_a_camera_inside_a_box_sees_it_everywhere() -> None:
    window = box_window(np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]]), NORTH, K)
    limit = 320 * np.tan(np.radians(75))
    assert window.left == pytest.approx(319.5 - limit, abs=3)
    assert window.right == pytest.approx(319.5 + limit, abs=3)


@settings(max_examples=60, deadline=None)
@given(
    st.tuples(*[st.floats(-3, 3)] * 3), st.tuples(*[st.floats(0.01, 3)] * 3), st.floats(-180, 180), st.integers(0, 99)
)
def test_no_point_of_a_box_is_seen_outside_its_window(
    low: tuple[float, ...], size: tuple[float, ...], yaw_deg: float, seed: int
) -> None:
    bounds = np.array([low, np.add(low, size)])
    pose = Transform.from_yaw_deg(yaw_deg, target="world", source="tripod") @ Transform(
        "tripod", "camera", NORTH.rotation, NORTH.translation
    )
    points = np.random.default_rng(seed).uniform(*bounds, (300, 3))
    in_camera = pose.inverse() @ points
    seen = in_camera[in_camera[:, 2] > 1e-3]
    pixels = K.project(seen)
    limit = 320 * np.tan(np.radians(75))
    pixels = pixels[(np.abs(pixels - (319.5, 239.5)) < limit).all(axis=1)]
    window = box_window(bounds, pose, K)
    for (low_px, high_px), values in zip(
        ((window.left, window.right), (window.top, window.bottom)), pixels.T, strict=True
    ):
        assert (values >= low_px).all()
        assert (values <= high_px - 1).all()


def test_a_camera_scaled_to_a_width_sees_the_same() -> None:
    half = PLAIN.scaled_to_width(320)
    assert half.intrinsics == Intrinsics(160.0, 160.0, 159.5, 119.5, 320, 240)
