"""Rigid transforms that carry the frames they join, pinhole intrinsics, and headings on the floor plan.

Conventions (the one page of them):

* A transform is named ``target_from_source`` and maps points of source into target:
  ``points_in_world = world_from_camera @ points_in_camera``.
* World: right-handed, z up, +y is north, +x is east. Camera: OpenCV axes, x right, y down, z forward.
* Pixel centres are at whole numbers: the first pixel's centre is (0, 0) and the image reaches from -0.5 to width - 0.5.
* A heading is a point on the floor plan and a horizontal unit vector forward; right = (f_y, -f_x).
  Angles are clockwise seen from above, counted from forward, in (-180, 180].
* Metres; degrees at the edge (names end in ``_deg``), radians inside.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spacecast.errors import FrameError

Array = NDArray[np.float64]

SECTORS = ("front", "front-right", "right", "back-right", "back", "back-left", "left", "front-left")
COMPASS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")


@dataclass(frozen=True)
class FrameSettings:
    """Bounds of what counts as a frame; SEMANTICS section 1."""

    rigid_tolerance: float = 1e-3
    """Largest entry of R R^T - I, and of the last row minus (0, 0, 0, 1), in a matrix that counts as rigid."""
    rounding_tolerance: float = 1e-12
    """A rotation that is off by more, though rigid, is replaced by the nearest one."""
    min_pitch_from_vertical_deg: float = 20.0
    """A camera that looks within this of straight down or up gives no heading."""
    max_roll_deg: float = 20.0
    """A camera whose right axis is more than this off horizontal gives no heading."""
    min_facing_distance_m: float = 0.3
    """A facing over a shorter horizontal distance is not stable."""
    min_facing_horizontal_share: float = 0.5
    """A facing whose horizontal distance is a smaller share of the full distance is not stable."""


SETTINGS = FrameSettings()


@dataclass(frozen=True, eq=False)
class Transform:
    """A rigid transform ``target_from_source``.

    >>> world_from_camera = Transform.looking_at([0.0, 0.0, 1.5], [1.0, 0.0, 1.5])
    >>> world_from_camera @ np.array([0.0, 0.0, 2.0])  # two metres ahead
    array([2. , 0. , 1.5])
    >>> (world_from_camera.inverse() @ world_from_camera).name
    'camera_from_camera'

    Attributes:
        target: name of the frame that points are mapped into.
        source: name of the frame that points come from.
        rotation: (3, 3) float64, orthonormal, determinant +1.
        translation: (3,) float64, metres; the source's origin in the target.

    Raises:
        FrameError: other shapes, values that are not finite, rows that are not orthonormal, or a determinant that is
            not +1. What is off by less than the tolerance (files round to six digits) becomes the nearest rotation, so
            that a transform and its inverse cancel.
    """

    target: str
    source: str
    rotation: Array
    translation: Array

    __array_ufunc__ = None  # `points @ transform` is refused, not guessed

    def __post_init__(self) -> None:
        rotation = np.array(self.rotation, dtype=np.float64)
        translation = np.array(self.translation, dtype=np.float64)
        if rotation.shape != (3, 3) or translation.shape != (3,):
            raise FrameError(
                f"{self.name}: expected a (3, 3) rotation and a (3,) translation, "
                f"found {rotation.shape} and {translation.shape}"
            )
        problem, off = _rigid_problem(rotation, translation)
        if problem:
            raise FrameError(f"{self.name}: {problem}")
        if off > SETTINGS.rounding_tolerance:
            u, _, vt = np.linalg.svd(rotation)
            rotation = u @ vt
        rotation.setflags(write=False)
        translation.setflags(write=False)
        object.__setattr__(self, "rotation", rotation)
        object.__setattr__(self, "translation", translation)

    @property
    def name(self) -> str:
        """``target_from_source``."""
        return f"{self.target}_from_{self.source}"

    @classmethod
    def identity(cls, *, target: str, source: str) -> Transform:
        """The transform between two frames that coincide."""
        return cls(target, source, np.eye(3), np.zeros(3))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike, *, target: str, source: str) -> Transform:
        """From a (4, 4) homogeneous matrix.

        Raises:
            FrameError: values that are not finite, a last row that is not 0 0 0 1, rows that are not orthonormal,
                or a determinant that is not +1.
        """
        array = np.asarray(matrix, dtype=np.float64)
        if array.shape != (4, 4):
            raise FrameError(f"{target}_from_{source}: expected a (4, 4) matrix, found {array.shape}")
        if not np.isfinite(array).all():
            raise FrameError(f"{target}_from_{source}: has values that are not finite")
        if np.abs(array[3] - (0.0, 0.0, 0.0, 1.0)).max() > SETTINGS.rigid_tolerance:
            raise FrameError(f"{target}_from_{source}: last row is {array[3].tolist()}, not 0 0 0 1")
        return cls(target, source, array[:3, :3], array[:3, 3])

    @classmethod
    def from_translation(cls, translation: ArrayLike, *, target: str, source: str) -> Transform:
        """A shift by (3,) metres without rotation."""
        return cls(target, source, np.eye(3), np.asarray(translation, dtype=np.float64))

    @classmethod
    def from_yaw_deg(cls, yaw_deg: float, *, target: str, source: str, about: ArrayLike = (0.0, 0.0, 0.0)) -> Transform:
        """A turn about the vertical through ``about`` (3,), counterclockwise seen from above."""
        rotation = _yaw_matrix(yaw_deg)
        pivot = np.asarray(about, dtype=np.float64)
        return cls(target, source, rotation, pivot - rotation @ pivot)

    @classmethod
    def from_quat_wxyz(cls, quat_wxyz: ArrayLike, translation: ArrayLike, *, target: str, source: str) -> Transform:
        """From a quaternion (w, x, y, z), normalised here, and a (3,) translation."""
        from scipy.spatial.transform import Rotation

        quat = np.asarray(quat_wxyz, dtype=np.float64)
        with np.errstate(over="ignore"):
            norm = np.linalg.norm(quat)
        if quat.shape != (4,) or not 1e-8 <= norm < np.inf:  # also true of nan
            raise FrameError(f"{target}_from_{source}: {quat.tolist()} is not a quaternion w x y z")
        rotation = Rotation.from_quat(quat, scalar_first=True).as_matrix()
        return cls(target, source, rotation, np.asarray(translation, dtype=np.float64))

    @classmethod
    def looking_at(
        cls, camera_in_world: ArrayLike, point_in_world: ArrayLike, *, target: str = "world", source: str = "camera"
    ) -> Transform:
        """The upright OpenCV camera at a point (3,) whose forward axis meets another point (3,).

        Raises:
            FrameError: the points coincide or lie above one another.
        """
        origin = np.asarray(camera_in_world, dtype=np.float64)
        forward = np.asarray(point_in_world, dtype=np.float64) - origin
        right = np.array([forward[1], -forward[0], 0.0])
        if np.linalg.norm(right) < 1e-9:
            raise FrameError(f"{target}_from_{source}: no upright pose looks straight up or down, or at its own place")
        forward = forward / np.linalg.norm(forward)
        right = right / np.linalg.norm(right)
        return cls(target, source, np.stack([right, np.cross(forward, right), forward], axis=1), origin)

    @property
    def matrix(self) -> Array:
        """(4, 4) float64 homogeneous matrix."""
        matrix = np.eye(4)
        matrix[:3, :3] = self.rotation
        matrix[:3, 3] = self.translation
        return matrix

    def inverse(self) -> Transform:
        """``source_from_target``."""
        return Transform(self.source, self.target, self.rotation.T, -self.rotation.T @ self.translation)

    @overload
    def __matmul__(self, other: Transform) -> Transform: ...
    @overload
    def __matmul__(self, other: NDArray[np.floating]) -> Array: ...
    def __matmul__(self, other: Transform | NDArray[np.floating]) -> Transform | Array:
        """Compose with a transform whose target is this one's source, or apply to points (..., 3)."""
        if isinstance(other, Transform):
            if other.target != self.source:
                raise FrameError(
                    f"cannot compose {self.name} with {other.name}: {self.source!r} is not {other.target!r}"
                )
            return Transform(
                self.target,
                other.source,
                self.rotation @ other.rotation,
                self.rotation @ other.translation + self.translation,
            )
        return self.turn(other) + self.translation

    def turn(self, vectors: ArrayLike) -> Array:
        """Rotate vectors (..., 3) of the source into the target, without the shift."""
        array = np.asarray(vectors, dtype=np.float64)
        if array.shape[-1:] != (3,):
            raise FrameError(f"{self.name}: expected points (..., 3), found {array.shape}")
        return array @ self.rotation.T

    def is_close(self, other: Transform, *, atol_m: float = 1e-9, atol_deg: float = 1e-6) -> bool:
        """True if both join the same frames and differ by at most a distance and an angle."""
        if (self.target, self.source) != (other.target, other.source):
            return False
        # The chord of a rotation by an angle is 2 sqrt(2) sin(angle / 2); exact also near 0, where arccos is not.
        chord = np.linalg.norm(self.rotation - other.rotation) / (2.0 * np.sqrt(2.0))
        angle_deg = np.degrees(2.0 * np.arcsin(min(1.0, float(chord))))
        return bool(np.linalg.norm(self.translation - other.translation) <= atol_m and angle_deg <= atol_deg)

    def __repr__(self) -> str:
        rows = np.array2string(self.matrix[:3], precision=4, suppress_small=True, separator=", ")
        return f"Transform({self.name}, {' '.join(rows.split())})"


def opencv_from_opengl(world_from_opengl_camera: Transform) -> Transform:
    """The same camera with OpenCV axes (y down, z forward), given one with OpenGL axes (y up, z back)."""
    flip = np.diag([1.0, -1.0, -1.0])
    given = world_from_opengl_camera
    return Transform(given.target, given.source, given.rotation @ flip, given.translation)


@dataclass(frozen=True)
class Intrinsics:
    """A pinhole camera: focal lengths and principal point in pixels, pixel centres at whole numbers."""

    fx: float
    fy: float
    cx: float
    cy: float
    width: int
    height: int

    def __post_init__(self) -> None:
        values = np.array([self.fx, self.fy, self.cx, self.cy], dtype=np.float64)
        if not np.isfinite(values).all() or self.fx <= 0 or self.fy <= 0 or self.width < 1 or self.height < 1:
            raise FrameError(f"intrinsics need finite values, focal lengths above 0 and a size: found {self}")

    @property
    def matrix(self) -> Array:
        """(3, 3) ``pixel_from_camera``."""
        return np.array([[self.fx, 0.0, self.cx], [0.0, self.fy, self.cy], [0.0, 0.0, 1.0]])

    @classmethod
    def from_matrix(cls, pixel_from_camera: ArrayLike, width: int, height: int) -> Intrinsics:
        """From a (3, 3) matrix, or the (4, 4) one that has it in its corner, for a picture of a size in pixels.

        Raises:
            FrameError: another shape, values that are not finite, or entries that no pinhole without skew has.
        """
        array = np.asarray(pixel_from_camera, dtype=np.float64)
        if array.shape not in ((3, 3), (4, 4)):
            raise FrameError(f"intrinsics: expected a (3, 3) or (4, 4) matrix, found {array.shape}")
        fx, fy, cx, cy = (float(array[at]) for at in ((0, 0), (1, 1), (0, 2), (1, 2)))
        pinhole = np.eye(len(array))
        pinhole[:2, :3] = [[fx, 0.0, cx], [0.0, fy, cy]]
        if not np.abs(array - pinhole).max() <= SETTINGS.rigid_tolerance:  # also true of nan
            raise FrameError(f"intrinsics: {array.tolist()} is not a pinhole without skew")
        return cls(fx, fy, cx, cy, width, height)

    def scaled_to(self, width: int, height: int) -> Intrinsics:
        """The same camera with its picture resized, each axis by its own factor."""
        sx, sy = width / self.width, height / self.height
        return Intrinsics(
            self.fx * sx, self.fy * sy, (self.cx + 0.5) * sx - 0.5, (self.cy + 0.5) * sy - 0.5, width, height
        )

    def project(self, points_in_camera: ArrayLike) -> Array:
        """Pixels (..., 2) of points (..., 3); nan for points that are not in front of the camera."""
        points = np.asarray(points_in_camera, dtype=np.float64)
        depth = np.where(points[..., 2] > 1e-9, points[..., 2], np.nan)
        return np.stack(
            [self.fx * points[..., 0] / depth + self.cx, self.fy * points[..., 1] / depth + self.cy], axis=-1
        )

    def rays(self, pixels: ArrayLike) -> Array:
        """Directions (..., 3) in the camera frame with z = 1 through pixels (..., 2), so that ray length is depth."""
        array = np.asarray(pixels, dtype=np.float64)
        x = (array[..., 0] - self.cx) / self.fx
        y = (array[..., 1] - self.cy) / self.fy
        return np.stack([x, y, np.ones_like(x)], axis=-1)


class Sector(NamedTuple):
    """One of eight directions, and how far from its centre: 0 in the middle, 1 on the border to the next."""

    value: str
    ambiguity: float


def sector_of(angle_deg: float, names: Sequence[str] = SECTORS) -> Sector:
    """The 45 degree sector that holds an angle (clockwise from forward), and its ambiguity in [0, 1].

    Sectors are centred on 0, 45, ...; an angle on the border of two belongs to the one clockwise.

    >>> sector_of(99.0)
    Sector(value='right', ambiguity=0.4)
    """
    index = math.floor(angle_deg / 45.0 + 0.5)
    return Sector(names[index % 8], min(1.0, abs(angle_deg - 45.0 * index) / 22.5))


def wrap_deg(angle_deg: float) -> float:
    """The same angle in (-180, 180]."""
    wrapped = float(angle_deg) % 360.0
    return wrapped - 360.0 if wrapped > 180.0 else wrapped


@dataclass(frozen=True)
class Heading:
    """A point on the floor plan and a horizontal unit vector forward, both (x, y) in world."""

    origin_in_world: tuple[float, float]
    forward_in_world: tuple[float, float]
    kind: Literal["camera", "object", "world"]

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, self.origin_in_world)):
            raise FrameError(f"a heading starts at a point with finite values, found {self.origin_in_world}")
        if not abs(math.hypot(*self.forward_in_world) - 1.0) <= 1e-6:  # also true of nan
            raise FrameError(f"a heading's forward is a horizontal unit vector, found {self.forward_in_world}")

    @property
    def right_in_world(self) -> tuple[float, float]:
        """(f_y, -f_x)."""
        return (self.forward_in_world[1], -self.forward_in_world[0])

    @property
    def names(self) -> tuple[str, ...]:
        """The eight words for directions in this heading, clockwise from forward."""
        return COMPASS if self.kind == "world" else SECTORS

    @property
    def compass_deg(self) -> float:
        """Angle of forward clockwise from north, in (-180, 180]."""
        return wrap_deg(float(np.degrees(np.arctan2(self.forward_in_world[0], self.forward_in_world[1]))))

    def angle_deg_of(self, vector_in_world: ArrayLike) -> float:
        """Angle of a vector (2,) or (3,), on the floor plan, clockwise from forward, in (-180, 180].

        Raises:
            FrameError: the vector has no horizontal part.
        """
        x, y = np.asarray(vector_in_world, dtype=np.float64)[:2].tolist()  # plain numbers: numpy is slow on two
        if not math.hypot(x, y) > 0.0:
            raise FrameError("a vector without a horizontal part has no direction")
        ahead_x, ahead_y = self.forward_in_world
        return wrap_deg(math.degrees(math.atan2(x * ahead_y - y * ahead_x, x * ahead_x + y * ahead_y)))

    def angle_deg_to(self, point_in_world: ArrayLike) -> float:
        """Angle from forward to a point (2,) or (3,), clockwise, as seen from the origin."""
        return self.angle_deg_of(np.asarray(point_in_world, dtype=np.float64)[:2] - self.origin_in_world)

    def vector_in_world(self, angle_deg: float, length_m: float = 1.0) -> Array:
        """(3,) horizontal vector at an angle clockwise from forward."""
        (ahead_x, ahead_y), (right_x, right_y) = self.forward_in_world, self.right_in_world
        cos, sin = _cos_sin(angle_deg)
        return np.array([length_m * (cos * ahead_x + sin * right_x), length_m * (cos * ahead_y + sin * right_y), 0.0])

    def at(self, origin_in_world: ArrayLike) -> Heading:
        """The same forward from another origin (2,) or (3,)."""
        x, y = np.asarray(origin_in_world, dtype=np.float64)[:2].tolist()
        return Heading((x, y), self.forward_in_world, self.kind)

    def turned(self, angle_deg: float) -> Heading:
        """Turned clockwise by an angle, about its origin."""
        x, y, _ = self.vector_in_world(angle_deg)
        return Heading(self.origin_in_world, (float(x), float(y)), self.kind)


def world_heading(origin_in_world: ArrayLike = (0.0, 0.0)) -> Heading:
    """Forward is north, +y."""
    return Heading((0.0, 0.0), (0.0, 1.0), "world").at(origin_in_world)


def camera_heading(world_from_camera: Transform, origin_in_world: ArrayLike | None = None) -> Heading:
    """The camera's forward axis on the floor plan, from a point (2,) or (3,), or from the camera itself.

    Raises:
        FrameError: the camera looks too steeply, is rolled too far, or its image is upside down.
    """
    heading = _camera_heading(world_from_camera)
    return heading if origin_in_world is None else heading.at(origin_in_world)


@lru_cache(maxsize=256)
def _camera_heading(world_from_camera: Transform) -> Heading:
    right, down, forward = world_from_camera.rotation.T
    off_vertical_deg = np.degrees(np.arctan2(np.linalg.norm(forward[:2]), abs(forward[2])))
    if off_vertical_deg < SETTINGS.min_pitch_from_vertical_deg:
        raise FrameError(f"no camera heading: the camera looks {off_vertical_deg:.0f} degrees from straight up or down")
    roll_deg = np.degrees(np.arctan2(abs(right[2]), np.linalg.norm(right[:2])))
    if roll_deg > SETTINGS.max_roll_deg:
        raise FrameError(f"no camera heading: the image is rolled by {roll_deg:.0f} degrees")
    if down[2] > 0.0:
        raise FrameError("no camera heading: the image is upside down")
    return _heading(world_from_camera.translation, forward, "camera")


def facing_heading(anchor_in_world: ArrayLike, faced_in_world: ArrayLike) -> Heading:
    """The heading of one who stands at a centre (3,) and faces another centre (3,).

    Raises:
        FrameError: the facing is not stable; :func:`is_facing_stable`.
    """
    if not is_facing_stable(anchor_in_world, faced_in_world):
        vector = np.asarray(faced_in_world, dtype=np.float64) - np.asarray(anchor_in_world, dtype=np.float64)
        horizontal_m, full_m = float(np.linalg.norm(vector[:2])), float(np.linalg.norm(vector))
        raise FrameError(f"no stable facing: {horizontal_m:.2f} m apart on the floor plan, {full_m:.2f} m in all")
    return heading_towards(anchor_in_world, faced_in_world)


def is_facing_stable(anchor_in_world: ArrayLike, faced_in_world: ArrayLike) -> bool:
    """True if a centre (3,) can face another centre (3,) without a small error turning the heading far.

    Exactly: the horizontal distance is at least 0.3 m and at least half of the full distance.
    ``is_facing_stable(a, b) == is_facing_stable(b, a)``.
    """
    vector = np.asarray(faced_in_world, dtype=np.float64) - np.asarray(anchor_in_world, dtype=np.float64)
    x, y, z = vector.tolist()
    horizontal_m, full_m = math.hypot(x, y), math.hypot(x, y, z)
    return horizontal_m >= max(SETTINGS.min_facing_distance_m, SETTINGS.min_facing_horizontal_share * full_m)


def heading_towards(anchor_in_world: ArrayLike, faced_in_world: ArrayLike) -> Heading:
    """The heading from a point (3,) towards another (3,), stable or not.

    Raises:
        FrameError: one lies above the other, so that there is no heading at all.
    """
    anchor = np.asarray(anchor_in_world, dtype=np.float64)
    vector = np.asarray(faced_in_world, dtype=np.float64) - anchor
    if not math.hypot(*vector[:2].tolist()) > 0.0:
        raise FrameError("no heading between points that lie above one another")
    return _heading(anchor, vector, "object")


def _heading(origin: ArrayLike, vector: Array, kind: Literal["camera", "object", "world"]) -> Heading:
    start_x, start_y = np.asarray(origin, dtype=np.float64)[:2].tolist()
    x, y = vector[:2].tolist()
    length = math.hypot(x, y)
    return Heading((start_x, start_y), (x / length, y / length), kind)


def _cos_sin(angle_deg: float) -> tuple[float, float]:
    quarter, rest = divmod(angle_deg, 90.0)
    if rest == 0.0:  # quarter turns are exact, so that four of them are the identity
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[int(quarter) % 4]
    return float(np.cos(np.radians(angle_deg))), float(np.sin(np.radians(angle_deg)))


def _yaw_matrix(yaw_deg: float) -> Array:
    cos, sin = _cos_sin(yaw_deg)
    return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])


def _rigid_problem(rotation: Array, translation: Array) -> tuple[str | None, float]:
    """What is wrong with a rotation (3, 3) and a translation (3,), and how far the rows are from orthonormal."""
    a, b, c = rotation.tolist()  # plain numbers: numpy is slow on nine
    if not all(map(math.isfinite, (*a, *b, *c, *translation.tolist()))):
        return "has values that are not finite", math.nan
    lengths, angles = (abs(_dot(row, row) - 1.0) for row in (a, b, c)), (_dot(a, b), _dot(b, c), _dot(c, a))
    off = max(*lengths, *map(abs, angles))
    if not off <= SETTINGS.rigid_tolerance:  # huge values give infinity, or nan
        return f"rows are not orthonormal (off by {off:.2g})", off
    if _dot(a, (b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0])) < 0.0:
        return "mirrors (determinant -1)", off
    return None, off


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]
