"""The assertions fail where they should, and the strategies reach the cases that they promise."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import find, given

from spacecast.errors import FrameError
from spacecast.frames import COMPASS, SECTORS, Heading, Transform, camera_heading, world_heading
from spacecast.testing import (
    BoxCase,
    MeshCase,
    angles_deg,
    assert_angle_close,
    assert_direction_turns_with_world,
    assert_points_close,
    assert_same_direction_after_turn,
    assert_transform_close,
    boxes,
    headings,
    opposite,
    rotations,
    small_meshes,
    transforms,
    upright_cameras,
    yaw_turns,
)

CAMERA = Transform.looking_at([0, 0, 1], [1, 0, 1])
QUARTER = Transform.from_yaw_deg(90.0, target="world", source="world")


def test_transforms_that_differ_are_told_apart() -> None:
    assert_transform_close(CAMERA, Transform.looking_at([0, 0, 1], [5, 0, 1]))
    for other in (
        Transform.looking_at([0, 0, 1.001], [1, 0, 1.001]),
        Transform.looking_at([0, 0, 1], [1, 0.001, 1]),
        Transform("world", "other", CAMERA.rotation, CAMERA.translation),
    ):
        with pytest.raises(AssertionError, match="is not"):
            assert_transform_close(CAMERA, other)
    assert_transform_close(CAMERA, Transform.looking_at([0, 0, 1.001], [1, 0, 1.001]), atol_m=0.002)


def test_points_that_differ_are_told_apart() -> None:
    assert_points_close([[0.0, 0.0, 0.0]], [[0.0, 0.0, 1e-10]])
    with pytest.raises(AssertionError, match="differ by up to 1 m"):
        assert_points_close([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    with pytest.raises(AssertionError, match="shapes differ"):
        assert_points_close([[0.0, 0.0, 0.0]], [0.0, 0.0, 0.0])
    with pytest.raises(AssertionError, match="differ by up to nan"):
        assert_points_close([np.nan, 0.0, 0.0], [0.0, 0.0, 0.0])


def test_angles_are_compared_around_the_circle() -> None:
    assert_angle_close(180.0, -180.0)
    assert_angle_close(359.0, -1.0)
    for other in (1.0, 180.0, np.nan):
        with pytest.raises(AssertionError, match="differ by"):
            assert_angle_close(0.0, other)


def test_the_turn_assertions_tell_a_camera_from_a_compass() -> None:
    one, other = np.array([3.0, 1.0, 0.0]), np.array([1.0, 2.0, 0.0])

    def by_camera(place: Transform) -> float:
        return camera_heading(place @ CAMERA).angle_deg_of(place @ one - place @ other)

    def by_compass(place: Transform) -> float:
        return world_heading().angle_deg_of(place @ one - place @ other)

    assert_same_direction_after_turn(by_camera, QUARTER)
    assert_direction_turns_with_world(by_compass, QUARTER)
    with pytest.raises(AssertionError, match="differ by 90"):
        assert_same_direction_after_turn(by_compass, QUARTER)
    with pytest.raises(AssertionError, match="differ by 90"):
        assert_direction_turns_with_world(by_camera, QUARTER)


@pytest.mark.parametrize("value, other", [("front", "back"), ("left", "right"), ("back-right", "front-left")])
def test_opposites(value: str, other: str) -> None:
    assert opposite(value) == other
    assert opposite(other) == value
    assert opposite("northeast", COMPASS) == "southwest"
    assert sorted(map(opposite, SECTORS)) == sorted(SECTORS)


@pytest.mark.parametrize(
    "reaches",
    [
        lambda rotation: bool((rotation == np.eye(3)).all()),
        lambda rotation: 0.0 < np.abs(rotation - np.eye(3)).max() < 1e-6,
        lambda rotation: np.trace(rotation) < -1.0 + 1e-6,
        lambda rotation: abs(np.trace(rotation) - 1.0) < 0.5,
    ],
    ids=["none", "next to none", "half turn", "about a quarter"],
)
def test_rotations_reach(reaches) -> None:
    find(rotations(), reaches)


@given(rotations())
def test_rotations_are_proper(rotation: np.ndarray) -> None:
    assert np.abs(rotation @ rotation.T - np.eye(3)).max() < 1e-12
    assert np.linalg.det(rotation) > 0.0


@given(transforms("a", "b"))
def test_transforms_have_the_names_asked_for(transform: Transform) -> None:
    assert transform.name == "a_from_b"


@given(upright_cameras())
def test_upright_cameras_have_a_heading(camera: Transform) -> None:
    assert camera.name == "world_from_camera"
    assert camera_heading(camera).kind == "camera"
    assert camera.rotation[2, 1] < 0.0  # down is down


def test_steeper_cameras_can_be_asked_for() -> None:
    def has_no_heading(camera: Transform) -> bool:
        try:
            camera_heading(camera)
        except FrameError:
            return True
        return False

    find(upright_cameras(max_pitch_deg=85.0), has_no_heading)


@given(yaw_turns())
def test_turns_of_the_world_keep_up_up(turn: Transform) -> None:
    assert_points_close(turn.turn([0.0, 0.0, 1.0]), [0.0, 0.0, 1.0])


@given(yaw_turns(quarter_turns=True))
def test_quarter_turns_are_exact(turn: Transform) -> None:
    assert sorted(np.unique(turn.rotation).tolist()) in ([0.0, 1.0], [-1.0, 0.0, 1.0])


@given(angles_deg(within_deg=90.0))
def test_angles_stay_within(angle_deg: float) -> None:
    assert -90.0 <= angle_deg <= 90.0


@given(headings("world"), headings())
def test_world_headings_face_north(north: Heading, other: Heading) -> None:
    assert north.forward_in_world == (0.0, 1.0)
    if other.kind == "world":
        assert other.forward_in_world == (0.0, 1.0)


@given(boxes(), boxes(upright=False))
def test_boxes_have_sides_and_axes(upright: BoxCase, any_way: BoxCase) -> None:
    for box in (upright, any_way):
        assert (box.size > 0.0).all()
        assert np.abs(box.rotation @ box.rotation.T - np.eye(3)).max() < 1e-12
    assert_points_close(upright.rotation[:, 2], [0.0, 0.0, 1.0])


def test_square_boxes_are_reached() -> None:
    find(boxes(), lambda box: bool(box.size[0] == box.size[1]))


@given(small_meshes(), small_meshes(with_faces=False))
def test_meshes_name_vertices_that_are_there(mesh: MeshCase, loose: MeshCase) -> None:
    assert mesh.faces.dtype == np.int32
    assert 0 <= mesh.faces.min() <= mesh.faces.max() < len(mesh.vertices)
    assert loose.faces.shape == (0, 3)
    assert len(loose.vertices) >= 1


def test_without_hypothesis_the_error_says_what_to_install() -> None:
    code = "import sys; sys.modules['hypothesis'] = None; import spacecast.testing"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "spacecast.testing needs hypothesis; run: pip install 'spacecast[dev]'" in done.stderr
