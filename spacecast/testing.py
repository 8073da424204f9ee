"""Strategies and assertions for tests of anything that turns, projects or tells directions; for your tests too.

Strategies are hypothesis strategies; the cases that break code are drawn often: rotations next to none and next to a
half turn, exact quarter turns, boxes that are nearly square, points in a plane.

>>> from hypothesis import given
>>> from spacecast.testing import assert_transform_close, transforms
>>> @given(transforms("world", "camera"))
... def test_inverse(world_from_camera):
...     assert_transform_close(world_from_camera.inverse().inverse(), world_from_camera)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spacecast.frames import SECTORS, Array, Heading, Intrinsics, Transform, wrap_deg

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy
except ImportError as error:
    raise ImportError("spacecast.testing needs hypothesis; run: pip install 'spacecast[dev]'") from error

__all__ = [
    "BoxCase",
    "MeshCase",
    "angles_deg",
    "assert_angle_close",
    "assert_direction_turns_with_world",
    "assert_points_close",
    "assert_same_direction_after_turn",
    "assert_transform_close",
    "boxes",
    "headings",
    "intrinsics",
    "opposite",
    "points",
    "rotations",
    "small_meshes",
    "transforms",
    "upright_cameras",
    "yaw_turns",
]


class BoxCase(NamedTuple):
    """A box: ``center`` (3,) and ``size`` (3,) in metres, ``rotation`` (3, 3) with the box's axes as columns."""

    center: Array
    size: Array
    rotation: Array


class MeshCase(NamedTuple):
    """A triangle mesh: ``vertices`` (n, 3) float64 in metres, ``faces`` (m, 3) int32."""

    vertices: Array
    faces: NDArray[np.int32]


def angles_deg(*, within_deg: float = 180.0) -> SearchStrategy[float]:
    """Angles in [-within, within]: exact multiples of 45 and their near neighbours as often as any others."""
    octants = [45.0 * k for k in range(-int(within_deg // 45), int(within_deg // 45) + 1)]
    near = st.tuples(st.sampled_from(octants), st.sampled_from([-1e-3, -1e-9, 0.0, 1e-9, 1e-3])).map(sum)
    anywhere = st.floats(-within_deg, within_deg, allow_nan=False)
    return st.one_of(near, anywhere).map(lambda angle: float(np.clip(angle, -within_deg, within_deg)))


def points(*, within_m: float = 10.0) -> SearchStrategy[Array]:
    """Points (3,) in a cube around the origin, on a grid of a tenth of a millimetre, so that no two nearly coincide."""
    steps = round(within_m * 1e4)
    coordinate = st.integers(-steps, steps).map(lambda step: step / 1e4)
    return st.tuples(coordinate, coordinate, coordinate).map(np.array)


def rotations() -> SearchStrategy[Array]:
    """Rotation matrices (3, 3): any, none at all, within 1e-9 to 1e-3 radians of none, and of a half turn."""
    axis = points(within_m=1.0).filter(lambda vector: bool(np.linalg.norm(vector) > 0.1))
    small = st.sampled_from([0.0, 1e-9, 1e-7, 1e-5, 1e-3])
    angle = st.one_of(st.floats(-np.pi, np.pi), small, small.map(lambda rest: np.pi - rest))
    return st.builds(_rotation_about, axis, angle)


def transforms(target: str = "world", source: str = "camera", *, within_m: float = 10.0) -> SearchStrategy[Transform]:
    """Rigid transforms ``target_from_source`` with any rotation of :func:`rotations`."""
    return st.builds(
        lambda rotation, translation: Transform(target, source, rotation, translation),
        rotations(),
        points(within_m=within_m),
    )


def yaw_turns(frame: str = "world", *, quarter_turns: bool = False) -> SearchStrategy[Transform]:
    """Turns of a whole world about some vertical, and shifts: what keeps up up. Quarter turns are exact."""
    angle = st.sampled_from([0.0, 90.0, 180.0, -90.0]) if quarter_turns else angles_deg()

    def build(angle_deg: float, shift: Array) -> Transform:
        turn = Transform.from_yaw_deg(angle_deg, target=frame, source=frame)
        return Transform(frame, frame, turn.rotation, shift)

    return st.builds(build, angle, points())


def upright_cameras(
    *, max_pitch_deg: float = 60.0, max_roll_deg: float = 15.0, source: str = "camera"
) -> SearchStrategy[Transform]:
    """Hand-held ``world_from_camera`` with OpenCV axes that have a heading: pitch and roll within bounds.

    A bound on pitch of 70 degrees or more reaches cameras without a heading.
    """

    def build(yaw_deg: float, pitch_deg: float, roll_deg: float, place: Array) -> Transform:
        yaw, pitch = np.radians(yaw_deg), np.radians(pitch_deg)
        ahead = np.array([np.cos(yaw) * np.cos(pitch), np.sin(yaw) * np.cos(pitch), np.sin(pitch)])
        level = Transform.looking_at(place, place + ahead, source=source)
        roll = _rotation_about(np.array([0.0, 0.0, 1.0]), np.radians(roll_deg))
        return Transform("world", source, level.rotation @ roll, place)

    return st.builds(
        build, angles_deg(), st.floats(-max_pitch_deg, max_pitch_deg), st.floats(-max_roll_deg, max_roll_deg), points()
    )


def intrinsics() -> SearchStrategy[Intrinsics]:
    """Pinhole cameras with a principal point near the middle of the picture."""

    def build(*, width: int, height: int, focal: float, squeeze: float, off: tuple[float, float]) -> Intrinsics:
        cx, cy = (0.5 + off[0]) * width - 0.5, (0.5 + off[1]) * height - 0.5
        return Intrinsics(focal * width, focal * width * squeeze, cx, cy, width, height)

    size = st.integers(2, 2000)
    share = st.floats(-0.1, 0.1)
    return st.builds(
        build,
        width=size,
        height=size,
        focal=st.floats(0.4, 2.0),
        squeeze=st.floats(0.9, 1.1),
        off=st.tuples(share, share),
    )


def headings(kind: Literal["camera", "object", "world"] | None = None) -> SearchStrategy[Heading]:
    """Headings of a kind, or of any; those of kind ``world`` face north."""

    def build(of_kind: Literal["camera", "object", "world"], clockwise_deg: float, origin: Array) -> Heading:
        north = Heading((float(origin[0]), float(origin[1])), (0.0, 1.0), of_kind)
        return north if of_kind == "world" else north.turned(clockwise_deg)

    kinds = st.sampled_from(("camera", "object", "world")) if kind is None else st.just(kind)
    return st.builds(build, kinds, angles_deg(), points())


def boxes(*, upright: bool = True, within_m: float = 5.0) -> SearchStrategy[BoxCase]:
    """Boxes of 2 cm to 3 m; upright ones are turned about the vertical only, others any way."""
    side = st.one_of(st.integers(2, 300), st.sampled_from([50, 51])).map(lambda cm: cm / 100.0)
    size = st.tuples(side, side, side).map(np.array)
    yaw = angles_deg().map(lambda angle: _rotation_about(np.array([0.0, 0.0, 1.0]), np.radians(angle)))
    return st.builds(BoxCase, points(within_m=within_m), size, yaw if upright else rotations())


def small_meshes(*, max_vertices: int = 12, max_faces: int = 12, with_faces: bool = True) -> SearchStrategy[MeshCase]:
    """Triangle soups, some flat or with repeated corners; ``with_faces=False`` gives points without faces."""

    @st.composite
    def draw_mesh(draw: Callable[..., object]) -> MeshCase:
        count = int(draw(st.integers(1, max_vertices)))  # type: ignore[call-overload]
        steps = st.integers(-20, 20)
        rows = draw(st.lists(st.tuples(steps, steps, steps), min_size=count, max_size=count))
        vertices = np.array(rows, dtype=np.float64) / 10.0
        if draw(st.booleans()):
            vertices[:, int(draw(st.integers(0, 2)))] = 0.0  # type: ignore[call-overload]
        corner = st.integers(0, count - 1)
        limit = max_faces if with_faces else 0
        faces = draw(st.lists(st.tuples(corner, corner, corner), min_size=min(1, limit), max_size=limit))
        return MeshCase(vertices, np.array(faces, dtype=np.int32).reshape(-1, 3))

    return draw_mesh()


def assert_transform_close(
    actual: Transform, expected: Transform, *, atol_m: float = 1e-9, atol_deg: float = 1e-6
) -> None:
    """Fails unless both join the same frames and differ by at most a distance and an angle."""
    if not actual.is_close(expected, atol_m=atol_m, atol_deg=atol_deg):
        raise AssertionError(f"{actual!r} is not {expected!r}")


def assert_points_close(actual: ArrayLike, expected: ArrayLike, *, atol_m: float = 1e-9) -> None:
    """Fails unless both are points (..., 3) of one shape that differ by at most a distance each."""
    a, b = np.asarray(actual, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    if a.shape != b.shape:
        raise AssertionError(f"shapes differ: {a.shape} and {b.shape}")
    off_m = np.linalg.norm(a - b, axis=-1)
    if not (off_m <= atol_m).all():
        raise AssertionError(f"points differ by up to {off_m.max():.3g} m, more than {atol_m:.3g}: {a} and {b}")


def assert_angle_close(actual_deg: float, expected_deg: float, *, atol_deg: float = 1e-6) -> None:
    """Fails unless two angles are equal up to whole turns and a tolerance: 180 and -180 are."""
    off_deg = abs(wrap_deg(actual_deg - expected_deg))
    if not off_deg <= atol_deg:
        raise AssertionError(
            f"{actual_deg} and {expected_deg} degrees differ by {off_deg:.3g}, more than {atol_deg:.3g}"
        )


def assert_same_direction_after_turn(
    angle_deg_of: Callable[[Transform], float], turn: Transform, *, atol_deg: float = 1e-6
) -> None:
    """Fails unless an angle is the same when the whole world is turned, camera and all: camera and object headings.

    Args:
        angle_deg_of: the angle with everything placed by a transform of the world.
        turn: a yaw and a shift of the world (:func:`yaw_turns`).
        atol_deg: how much the angles may differ.
    """
    still = Transform.identity(target=turn.target, source=turn.source)
    assert_angle_close(angle_deg_of(turn), angle_deg_of(still), atol_deg=atol_deg)


def assert_direction_turns_with_world(
    angle_deg_of: Callable[[Transform], float], turn: Transform, *, atol_deg: float = 1e-6
) -> None:
    """Fails unless an angle, clockwise from north, turns by as much as the world: the world heading.

    Arguments as in :func:`assert_same_direction_after_turn`.
    """
    still = Transform.identity(target=turn.target, source=turn.source)
    counterclockwise_deg = float(np.degrees(np.arctan2(turn.rotation[1, 0], turn.rotation[0, 0])))
    assert_angle_close(angle_deg_of(turn), angle_deg_of(still) - counterclockwise_deg, atol_deg=atol_deg)


def opposite(value: str, names: tuple[str, ...] = SECTORS) -> str:
    """The word of the opposite direction among eight, clockwise.

    >>> opposite("front-left")
    'back-right'
    """
    return names[(names.index(value) + 4) % 8]


def _rotation_about(axis: Array, angle_rad: float) -> Array:
    """Rodrigues' formula, with 1 - cos as 2 sin^2 of the half, which is exact for small angles."""
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle_rad) * cross + 2.0 * np.sin(angle_rad / 2.0) ** 2 * (cross @ cross)
