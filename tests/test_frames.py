from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from spacecast.errors import FrameError, SpacecastError
from spacecast.frames import (
    COMPASS,
    SECTORS,
    Heading,
    Intrinsics,
    Transform,
    camera_heading,
    facing_heading,
    heading_towards,
    is_facing_stable,
    opencv_from_opengl,
    sector_of,
    world_heading,
    wrap_deg,
)
from spacecast.testing import (
    angles_deg,
    assert_angle_close,
    assert_direction_turns_with_world,
    assert_points_close,
    assert_same_direction_after_turn,
    assert_transform_close,
    headings,
    intrinsics,
    points,
    rotations,
    transforms,
    upright_cameras,
    yaw_turns,
)

AHEAD_X = Transform.looking_at([0, 0, 0], [1, 0, 0])
"""A camera at the origin that looks along +x (east)."""


# --- transforms: a group -------------------------------------------------------------------------------------------


@given(transforms("a", "b"), transforms("b", "c"), transforms("c", "d"))
def test_composition_is_associative(a_b: Transform, b_c: Transform, c_d: Transform) -> None:
    assert_transform_close((a_b @ b_c) @ c_d, a_b @ (b_c @ c_d))


@given(transforms("a", "b"))
def test_identity_and_inverse(a_from_b: Transform) -> None:
    one_a, one_b = Transform.identity(target="a", source="a"), Transform.identity(target="b", source="b")
    assert_transform_close(one_a @ a_from_b, a_from_b)
    assert_transform_close(a_from_b @ one_b, a_from_b)
    assert_transform_close(a_from_b @ a_from_b.inverse(), one_a)
    assert_transform_close(a_from_b.inverse() @ a_from_b, one_b)
    assert a_from_b.inverse().name == "b_from_a"


@given(transforms("a", "b"), transforms("b", "c"), points())
def test_applying_a_product_is_applying_one_after_the_other(a_b: Transform, b_c: Transform, point: np.ndarray) -> None:
    assert_points_close((a_b @ b_c) @ point, a_b @ (b_c @ point))


@given(transforms(), points(), points())
def test_distances_and_handedness_are_kept(transform: Transform, one: np.ndarray, other: np.ndarray) -> None:
    assert np.linalg.norm(transform @ one - transform @ other) == pytest.approx(np.linalg.norm(one - other), abs=1e-9)
    assert_points_close(
        np.cross(transform.turn(one), transform.turn(other)), transform.turn(np.cross(one, other)), atol_m=1e-7
    )


@given(transforms("a", "b"), st.lists(points(), min_size=6, max_size=6))
def test_points_of_any_leading_shape(a_from_b: Transform, six: list[np.ndarray]) -> None:
    grid = np.array(six).reshape(2, 3, 3)
    moved = a_from_b @ grid
    assert moved.shape == (2, 3, 3)
    # A second way: homogeneous coordinates.
    by_hand = np.concatenate([grid, np.ones((2, 3, 1))], axis=-1) @ a_from_b.matrix.T
    assert_points_close(moved, by_hand[..., :3])


def test_frames_that_do_not_meet_do_not_compose() -> None:
    world_from_camera = Transform.identity(target="world", source="camera")
    object_from_world = Transform.identity(target="object", source="world")
    assert (object_from_world @ world_from_camera).name == "object_from_camera"
    with pytest.raises(FrameError, match="cannot compose world_from_camera with object_from_world"):
        world_from_camera @ object_from_world
    with pytest.raises(FrameError, match="'camera' is not 'world'"):
        world_from_camera @ world_from_camera


def test_points_on_the_wrong_side_or_of_a_wrong_shape_are_refused() -> None:
    transform = Transform.identity(target="a", source="b")
    with pytest.raises(TypeError):
        np.zeros((4, 3)) @ transform
    for wrong in (np.zeros(2), np.zeros((3, 4)), np.zeros((4, 4)), 1.0):
        with pytest.raises(FrameError, match="expected points"):
            transform @ wrong


@given(points(within_m=1.0).filter(lambda axis: np.linalg.norm(axis) > 0.1), st.sampled_from([1e-10, 1e-8, 1e-6, 1e-4]))
def test_next_to_the_identity_angles_are_told_apart(axis: np.ndarray, angle: float) -> None:
    one = Transform.identity(target="a", source="b")
    rotation = Rotation.from_rotvec(axis / np.linalg.norm(axis) * angle).as_matrix()
    near = Transform("a", "b", rotation, np.zeros(3))
    assert near.is_close(one, atol_deg=np.degrees(angle) * 1.01)
    assert not near.is_close(one, atol_deg=np.degrees(angle) * 0.99 - 1e-13)
    assert_transform_close(near @ near.inverse(), Transform.identity(target="a", source="a"), atol_deg=1e-9)


@given(points(within_m=1.0).filter(lambda axis: np.linalg.norm(axis) > 0.1))
def test_half_turns_undo_themselves(axis: np.ndarray) -> None:
    rotation = Rotation.from_rotvec(axis / np.linalg.norm(axis) * np.pi).as_matrix()
    half = Transform("a", "a", rotation, np.zeros(3))
    one = Transform.identity(target="a", source="a")
    assert_transform_close(half @ half, one)
    assert not half.is_close(one, atol_deg=179.0)


def test_is_close_reads_frames_and_distance() -> None:
    one = Transform.from_translation([1.0, 0.0, 0.0], target="a", source="b")
    assert one.is_close(Transform.from_translation([1.0, 0.0, 0.5], target="a", source="b"), atol_m=0.5)
    assert not one.is_close(Transform.from_translation([1.0, 0.0, 0.5], target="a", source="b"), atol_m=0.49)
    assert not one.is_close(Transform.from_translation([1.0, 0.0, 0.0], target="a", source="c"))


def test_values_cannot_be_changed_and_do_not_follow_what_they_were_made_from() -> None:
    rotation, translation = np.eye(3), np.zeros(3)
    transform = Transform("a", "b", rotation, translation)
    translation[0] = 5.0
    assert transform.translation[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        transform.rotation[0, 0] = 2.0


# --- ways to make one ------------------------------------------------------------------------------------------------


@given(transforms())
def test_matrix_and_back(transform: Transform) -> None:
    again = Transform.from_matrix(transform.matrix, target=transform.target, source=transform.source)
    assert_transform_close(again, transform)


@given(transforms())
def test_matrices_rounded_to_six_digits_become_the_nearest_rotation(transform: Transform) -> None:
    rounded = Transform.from_matrix(np.round(transform.matrix, 6), target="world", source="camera")
    assert_transform_close(rounded, transform, atol_m=2e-6, atol_deg=2e-4)
    one = Transform.identity(target="world", source="world")
    assert_transform_close(rounded @ rounded.inverse(), one, atol_m=1e-12, atol_deg=1e-9)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda m: m * np.inf, "not finite"),
        (lambda m: m - np.inf, "not finite"),
        (lambda m: np.where(np.eye(4) == 1.0, np.nan, m), "not finite"),
        (lambda m: np.where(np.arange(16).reshape(4, 4) == 7, np.inf, m), "not finite"),
        (lambda m: m * 0.0, "last row"),
        (lambda m: m * np.array([[0.0], [0.0], [0.0], [1.0]]), "not orthonormal"),
        (lambda m: m * np.array([[1.0], [1.0], [0.0], [1.0]]), "not orthonormal"),
        (lambda m: m @ np.diag([1.0, 1.0, -1.0, 1.0]), "determinant -1"),
        (lambda m: m @ np.diag([-1.0, -1.0, -1.0, 1.0]), "determinant -1"),
        (lambda m: m @ np.diag([1.01, 1.01, 1.01, 1.0]), "not orthonormal"),
        (lambda m: m + np.array([[0, 0.05, 0, 0], [0] * 4, [0] * 4, [0] * 4]), "not orthonormal"),
        (lambda m: m + np.array([[0] * 4, [0] * 4, [0] * 4, [0, 0, 0.1, 0]]), "last row"),
        (lambda m: m + np.array([[0] * 4, [0] * 4, [0] * 4, [0, 0, 0, 1.0]]), "last row"),
        (lambda m: m[:3], r"expected a \(4, 4\)"),
        (lambda m: m.T + 0.0, "last row"),
    ],
)
def test_poses_that_are_none_are_refused(change, message: str) -> None:
    good = Transform.looking_at([1.0, 2.0, 1.5], [3.0, 3.0, 1.0]).matrix
    Transform.from_matrix(good, target="world", source="camera")
    with np.errstate(invalid="ignore"):
        bad = change(good)
    with pytest.raises(FrameError, match=message) as caught:
        Transform.from_matrix(bad, target="world", source="camera")
    assert isinstance(caught.value, SpacecastError)
    assert "world_from_camera" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_constructor_refuses_as_well() -> None:
    with pytest.raises(FrameError, match="expected a"):
        Transform("a", "b", np.eye(4), np.zeros(3))
    with pytest.raises(FrameError, match="expected a"):
        Transform("a", "b", np.eye(3), np.zeros((3, 1)))
    with pytest.raises(FrameError, match="not finite"):
        Transform("a", "b", np.eye(3), np.array([0.0, np.nan, 0.0]))
    with pytest.raises(FrameError, match="determinant -1"):
        Transform("a", "b", -np.eye(3), np.zeros(3))


@pytest.mark.parametrize(
    "yaw_deg, east_becomes", [(0, (1, 0)), (90, (0, 1)), (180, (-1, 0)), (270, (0, -1)), (-90, (0, -1)), (360, (1, 0))]
)
def test_quarter_turns_are_counterclockwise_and_exact(yaw_deg: float, east_becomes: tuple[int, int]) -> None:
    turn = Transform.from_yaw_deg(yaw_deg, target="w", source="w")
    assert (turn @ np.array([1.0, 0.0, 0.0])).tolist() == [*east_becomes, 0.0]


def test_a_turn_about_a_point_leaves_the_point() -> None:
    turn = Transform.from_yaw_deg(90.0, target="w", source="w", about=[2.0, 1.0, 7.0])
    assert_points_close(turn @ np.array([2.0, 1.0, 0.3]), [2.0, 1.0, 0.3])
    assert_points_close(turn @ np.array([3.0, 1.0, 0.0]), [2.0, 2.0, 0.0])


def test_quaternions_are_w_first_and_normalised() -> None:
    half = np.sqrt(0.5)
    quarter = Transform.from_quat_wxyz([half, 0, 0, half], [1, 2, 3], target="w", source="c")  # 90 degrees about z
    assert_points_close(quarter @ np.array([1.0, 0.0, 0.0]), [1.0, 3.0, 3.0])
    assert_transform_close(quarter, Transform.from_quat_wxyz([3, 0, 0, 3], [1, 2, 3], target="w", source="c"))
    assert_transform_close(quarter, Transform.from_quat_wxyz([-3, 0, 0, -3], [1, 2, 3], target="w", source="c"))
    for bad in ([0, 0, 0, 0], [1, 0, 0], [np.nan, 0, 0, 1]):
        with pytest.raises(FrameError, match="not a quaternion"):
            Transform.from_quat_wxyz(bad, [0, 0, 0], target="w", source="c")


def test_looking_at_is_an_opencv_camera() -> None:
    right, down, forward = AHEAD_X.rotation.T
    assert_points_close([right, down, forward], [[0, -1, 0], [0, 0, -1], [1, 0, 0]])
    for straight in ([0, 0, 5], [0, 0, -5], [0, 0, 0]):
        with pytest.raises(FrameError, match="no upright pose"):
            Transform.looking_at([0, 0, 0], straight)


def test_opengl_cameras_have_y_up_and_look_back_along_z() -> None:
    # OpenGL camera without rotation: looks along world -z, up is world +y.
    opengl = Transform.identity(target="world", source="camera")
    opencv = opencv_from_opengl(opengl)
    assert_points_close(opencv.turn([0, 0, 1]), [0, 0, -1])  # forward
    assert_points_close(opencv.turn([0, 1, 0]), [0, -1, 0])  # down
    assert_points_close(opencv.turn([1, 0, 0]), [1, 0, 0])  # right


@given(transforms())
def test_opengl_twice_is_the_same_camera(camera: Transform) -> None:
    assert_transform_close(opencv_from_opengl(opencv_from_opengl(camera)), camera)
    assert_points_close(opencv_from_opengl(camera).translation, camera.translation)


# --- intrinsics -----------------------------------------------------------------------------------------------------


def test_pixel_centres_are_at_whole_numbers() -> None:
    # 4 pixels wide: from -0.5 to 3.5, so the middle is 1.5.
    camera = Intrinsics(2.0, 2.0, 1.5, 0.5, 4, 2)
    assert camera.project([0.0, 0.0, 3.0]).tolist() == [1.5, 0.5]
    assert camera.project([1.0, 0.0, 1.0]).tolist() == [3.5, 0.5]  # the right border
    assert camera.project([-1.0, -0.5, 1.0]).tolist() == [-0.5, -0.5]  # the upper left corner
    assert camera.rays([1.5, 0.5]).tolist() == [0.0, 0.0, 1.0]


def test_x_is_right_and_y_is_down() -> None:
    camera = Intrinsics(100.0, 100.0, 50.0, 50.0, 101, 101)
    left_up = AHEAD_X.inverse() @ np.array([2.0, 0.5, 0.5])  # +y is left of one who looks along +x
    x, y = camera.project(left_up)
    assert x < 50.0
    assert y < 50.0


@given(intrinsics(), points(within_m=3.0), st.floats(0.1, 20.0))
def test_rays_and_projection_undo_each_other(camera: Intrinsics, point: np.ndarray, depth: float) -> None:
    in_front = np.array([point[0], point[1], depth])
    ray = camera.rays(camera.project(in_front))
    assert_points_close(ray * depth, in_front, atol_m=1e-8)
    homogeneous = camera.matrix @ in_front  # a second way
    assert_points_close(camera.project(in_front), homogeneous[:2] / homogeneous[2], atol_m=1e-6)


def test_points_behind_the_camera_have_no_pixel() -> None:
    camera = Intrinsics(100.0, 100.0, 50.0, 50.0, 101, 101)
    assert np.isnan(camera.project([[0.0, 0.0, -1.0], [0.0, 0.0, 0.0]])).all()


@given(intrinsics(), st.integers(1, 3000), st.integers(1, 3000))
def test_scaling_keeps_the_field_of_view(camera: Intrinsics, width: int, height: int) -> None:
    scaled = camera.scaled_to(width, height)
    corners = np.array([[-0.5, -0.5], [camera.width - 0.5, camera.height - 0.5]])
    scaled_corners = np.array([[-0.5, -0.5], [width - 0.5, height - 0.5]])
    assert_points_close(scaled.rays(scaled_corners), camera.rays(corners), atol_m=1e-9)
    back = scaled.scaled_to(camera.width, camera.height)
    assert np.allclose(back.matrix, camera.matrix, atol=1e-6)
    assert (back.width, back.height) == (camera.width, camera.height)


def test_halving_a_picture_by_hand() -> None:
    # Two pixels become one: the centre of the new first pixel lies between the old first two, at 0.5.
    half = Intrinsics(600.0, 600.0, 319.5, 239.5, 640, 480).scaled_to(320, 240)
    assert half == Intrinsics(300.0, 300.0, 159.5, 119.5, 320, 240)


def test_intrinsics_from_a_matrix() -> None:
    wanted = Intrinsics(600.0, 610.0, 319.5, 239.5, 640, 480)
    assert Intrinsics.from_matrix(wanted.matrix, 640, 480) == wanted
    as_in_files = np.eye(4)
    as_in_files[:3, :3] = wanted.matrix
    assert Intrinsics.from_matrix(as_in_files, 640, 480) == wanted
    for wrong in (wanted.matrix.T, np.zeros((3, 3)), np.full((3, 3), np.nan), np.eye(2), -wanted.matrix):
        with pytest.raises(FrameError, match="intrinsics"):
            Intrinsics.from_matrix(wrong, 640, 480)


@pytest.mark.parametrize(
    "values",
    [(0.0, 1.0, 0.0, 0.0, 1, 1), (1.0, -1.0, 0.0, 0.0, 1, 1), (1.0, np.nan, 0, 0, 1, 1), (1.0, 1.0, 0, 0, 0, 1)],
)
def test_intrinsics_that_are_none_are_refused(values: tuple) -> None:
    with pytest.raises(FrameError, match="intrinsics need"):
        Intrinsics(*values)


# --- angles and sectors ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "angle_deg, wrapped", [(0, 0), (180, 180), (-180, 180), (181, -179), (-181, 179), (360, 0), (540, 180), (-90, -90)]
)
def test_wrapping(angle_deg: float, wrapped: float) -> None:
    assert wrap_deg(angle_deg) == wrapped


@given(st.floats(-1e4, 1e4))
def test_wrapping_stays_in_range(angle_deg: float) -> None:
    assert -180.0 < wrap_deg(angle_deg) <= 180.0


@pytest.mark.parametrize(
    "angle_deg, value, ambiguity",
    [
        (0.0, "front", 0.0),
        (22.4, "front", 22.4 / 22.5),
        (22.6, "front-right", 22.4 / 22.5),
        (45.0, "front-right", 0.0),
        (90.0, "right", 0.0),
        (99.0, "right", 0.4),
        (135.0, "back-right", 0.0),
        (180.0, "back", 0.0),
        (-180.0, "back", 0.0),
        (-135.0, "back-left", 0.0),
        (-90.0, "left", 0.0),
        (-45.0, "front-left", 0.0),
        (-11.25, "front", 0.5),
        (315.0, "front-left", 0.0),
    ],
)
def test_sectors(angle_deg: float, value: str, ambiguity: float) -> None:
    sector = sector_of(angle_deg)
    assert sector.value == value
    assert sector.ambiguity == pytest.approx(ambiguity, abs=1e-9)


@given(angles_deg())
def test_opposite_angles_have_opposite_sectors(angle_deg: float) -> None:
    one, other = sector_of(angle_deg), sector_of(wrap_deg(angle_deg + 180.0))
    assert 0.0 <= one.ambiguity <= 1.0
    assert other.ambiguity == pytest.approx(one.ambiguity, abs=1e-9)
    if one.ambiguity < 1.0 - 1e-9:
        assert SECTORS.index(other.value) == (SECTORS.index(one.value) + 4) % 8


# --- headings ---------------------------------------------------------------------------------------------------------

DIRECTIONS_IN_WORLD = {  # as (x, y): +x is east, +y is north
    "north": (0, 1),
    "northeast": (1, 1),
    "east": (1, 0),
    "southeast": (1, -1),
    "south": (0, -1),
    "southwest": (-1, -1),
    "west": (-1, 0),
    "northwest": (-1, 1),
}


@pytest.mark.parametrize("word, vector", DIRECTIONS_IN_WORLD.items())
def test_the_compass(word: str, vector: tuple[int, int]) -> None:
    north = world_heading()
    assert sector_of(north.angle_deg_of(vector), north.names).value == word
    assert north.angle_deg_of((*vector, 99.0)) == north.angle_deg_of(vector)  # height is no matter


# A camera that looks one way, an object to the side: written by hand.
SEEN_BY_A_CAMERA = [
    ((1, 0, 0), (0, 1, 0), "left"),
    ((1, 0, 0), (0, -1, 0), "right"),
    ((1, 0, 0), (1, 0, 0), "front"),
    ((1, 0, 0), (-1, 0, 0), "back"),
    ((1, 0, 0), (1, 1, 0), "front-left"),
    ((0, 1, 0), (1, 0, 0), "right"),
    ((0, 1, 0), (-1, 0, 0), "left"),
    ((0, 1, 0), (-1, -1, 0), "back-left"),
    ((-1, 0, 0), (0, 1, 0), "right"),
    ((-1, 0, 0), (-1, 1, 0), "front-right"),
    ((0, -1, 0), (1, 0, 0), "left"),
    ((1, 0, -1), (0, 1, 0), "left"),
    ((1, 0, -1), (1, 0, 9), "front"),
    ((1, 1, 0.5), (1, -1, 0), "right"),
    ((1, 1, 0.5), (-1, 0, 0), "back-left"),
]


@pytest.mark.parametrize("looks, at, value", SEEN_BY_A_CAMERA)
def test_what_a_camera_sees_beside_it(looks: tuple, at: tuple, value: str) -> None:
    heading = camera_heading(Transform.looking_at([0, 0, 0], looks))
    assert heading.kind == "camera"
    assert sector_of(heading.angle_deg_to(at), heading.names).value == value
    # The same seen from an object elsewhere: front is away from the camera.
    elsewhere = camera_heading(Transform.looking_at([0, 0, 0], looks), [4.0, -3.0])
    assert elsewhere.angle_deg_to(np.array([4.0, -3.0]) + at[:2]) == pytest.approx(heading.angle_deg_to(at))


@pytest.mark.parametrize("looks, compass_deg", [((0, 1, 0), 0), ((1, 0, 0), 90), ((0, -1, 0), 180), ((-1, 0, 0), -90)])
def test_compass_of_a_camera(looks: tuple, compass_deg: float) -> None:
    assert camera_heading(Transform.looking_at([5, 5, 1], looks + np.array([5, 5, 1]))).compass_deg == compass_deg


def tilted(pitch_deg: float = 0.0, roll_deg: float = 0.0) -> Transform:
    """A camera that looks east, tilted up by a pitch, then rolled about its own forward axis."""
    turn = Rotation.from_euler("XZ", [pitch_deg, roll_deg], degrees=True).as_matrix()
    return Transform("world", "camera", AHEAD_X.rotation @ turn, np.zeros(3))


@pytest.mark.parametrize("pitch_deg", [-69.9, -30, 0, 30, 69.9])
@pytest.mark.parametrize("roll_deg", [-19.0, 0, 19.0])
def test_cameras_with_a_heading(pitch_deg: float, roll_deg: float) -> None:
    heading = camera_heading(tilted(pitch_deg, roll_deg))
    assert_angle_close(heading.compass_deg, 90.0)


@pytest.mark.parametrize(
    "camera, message",
    [
        (tilted(pitch_deg=70.1), "looks 20 degrees from straight"),
        (tilted(pitch_deg=-70.1), "looks 20 degrees from straight"),
        (tilted(pitch_deg=90), "looks 0 degrees from straight"),
        (tilted(pitch_deg=-90), "looks 0 degrees from straight"),
        (tilted(roll_deg=20.1), "rolled by 20 degrees"),
        (tilted(roll_deg=-20.1), "rolled by 20 degrees"),
        (tilted(roll_deg=90), "rolled by 90 degrees"),
        (tilted(roll_deg=180), "upside down"),
        (tilted(roll_deg=170, pitch_deg=10), "upside down"),
        (tilted(roll_deg=180, pitch_deg=69), "upside down"),
        (tilted(roll_deg=180, pitch_deg=-69), "upside down"),
    ],
)
def test_cameras_without_a_heading(camera: Transform, message: str) -> None:
    with pytest.raises(FrameError, match=message):
        camera_heading(camera)


@pytest.mark.parametrize(
    "anchor, faced, stable",
    [
        ((0, 0, 0), (0.3, 0, 0), True),
        ((0, 0, 0), (0.29, 0, 0), False),
        ((0, 0, 0), (0.3, 0, 0.5), True),
        ((0, 0, 0), (0.3, 0, 0.53), False),  # 0.3 of 0.609
        ((0, 0, 2), (1, 0, 0), False),  # 1 of 2.236
        ((0, 0, 1.7), (1, 0, 0), True),  # 1 of 1.972
        ((1, 1, 0), (1, 1, 1), False),
        ((1, 1, 0), (1, 1, 0), False),
        ((5, 5, 0), (2, 1, 0), True),
    ],
)
def test_stable_facing(anchor: tuple, faced: tuple, stable: bool) -> None:
    assert is_facing_stable(anchor, faced) is stable
    assert is_facing_stable(faced, anchor) is stable
    if stable:
        assert facing_heading(anchor, faced) == heading_towards(anchor, faced)
    else:
        with pytest.raises(FrameError, match="no stable facing"):
            facing_heading(anchor, faced)


def test_heading_towards_needs_a_way_to_go() -> None:
    assert heading_towards((0, 0, 0), (0, 0.1, 9)).forward_in_world == (0.0, 1.0)
    with pytest.raises(FrameError, match="above one another"):
        heading_towards((1, 1, 0), (1, 1, 2))


def test_a_heading_is_a_unit_vector_from_somewhere() -> None:
    for forward in ((0.0, 0.0), (1.0, 1.0), (np.nan, 1.0), (np.inf, 0.0)):
        with pytest.raises(FrameError, match="unit vector"):
            Heading((0.0, 0.0), forward, "object")
    with pytest.raises(FrameError, match="finite"):
        Heading((np.nan, 0.0), (0.0, 1.0), "object")
    with pytest.raises(FrameError, match="no direction"):
        world_heading([1.0, 1.0]).angle_deg_to([1.0, 1.0, 3.0])


@given(headings(), angles_deg(), st.floats(0.01, 10.0))
def test_vectors_and_angles_undo_each_other(heading: Heading, angle_deg: float, length_m: float) -> None:
    vector = heading.vector_in_world(angle_deg, length_m)
    assert vector[2] == 0.0
    assert np.linalg.norm(vector) == pytest.approx(length_m)
    assert_angle_close(heading.angle_deg_of(vector), angle_deg)
    assert_angle_close(heading.angle_deg_to(heading.origin_in_world + vector[:2]), angle_deg, atol_deg=1e-4)


@given(headings(), angles_deg())
def test_turning_clockwise(heading: Heading, angle_deg: float) -> None:
    turned = heading.turned(angle_deg)
    assert_angle_close(turned.compass_deg, heading.compass_deg + angle_deg)
    assert_angle_close(turned.angle_deg_of(heading.vector_in_world(0.0)), -angle_deg)
    assert_angle_close(turned.angle_deg_of((*turned.right_in_world, 0.0)), 90.0)


@given(headings())
def test_names_follow_the_kind(heading: Heading) -> None:
    assert heading.names == (COMPASS if heading.kind == "world" else SECTORS)


@given(upright_cameras(), points(), points(), yaw_turns())
def test_camera_directions_stay_when_the_world_turns(
    camera: Transform, one: np.ndarray, other: np.ndarray, turn: Transform
) -> None:
    if np.linalg.norm((one - other)[:2]) < 1e-2:
        return

    def angle_deg(place: Transform) -> float:
        return camera_heading(place @ camera).angle_deg_of(place @ one - place @ other)

    assert_same_direction_after_turn(angle_deg, turn)


@given(points(), points(), yaw_turns())
def test_compass_directions_turn_with_the_world(one: np.ndarray, other: np.ndarray, turn: Transform) -> None:
    if np.linalg.norm((one - other)[:2]) < 1e-2:
        return
    assert_direction_turns_with_world(lambda place: world_heading().angle_deg_of(place @ one - place @ other), turn)


@given(rotations())
def test_rotations_of_the_strategy_are_rotations(rotation: np.ndarray) -> None:
    assert np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(rotation) == pytest.approx(1.0)
