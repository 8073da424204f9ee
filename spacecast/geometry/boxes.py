"""Axis-aligned and oriented boxes of point sets, and the mesh of a box.

Boxes are in the frame of the points, z up. A side below 1 mm is widened to 1 mm about its middle, so that planar,
collinear and single points have a box too; :func:`is_degenerate` says when that is all there is (SEMANTICS section 2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class BoxSettings:
    """Bounds of what counts as a box; SEMANTICS section 2."""

    min_side_m: float = 1e-3
    """A shorter side is widened to this; a point set thinner than this in some direction is degenerate."""
    tie_share: float = 1e-9
    """Rectangles whose areas differ by a smaller share, and sides by less than this in metres, count as equal."""


SETTINGS = BoxSettings()

_UNIT_CORNERS = np.array([[x, y, z] for z in (-0.5, 0.5) for y in (-0.5, 0.5) for x in (-0.5, 0.5)])
# Two triangles a side, counterclockwise seen from outside; corner number = x + 2 y + 4 z.
_BOX_FACES = np.array(
    [
        [0, 2, 3], [0, 3, 1], [4, 5, 7], [4, 7, 6], [0, 1, 5], [0, 5, 4],
        [2, 6, 7], [2, 7, 3], [0, 4, 6], [0, 6, 2], [1, 3, 7], [1, 7, 5],
    ],
    dtype=np.int32,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class AxisBox:
    """A box along the axes: ``min`` and ``max`` (3,) float64, metres."""

    min: Array
    max: Array

    def __post_init__(self) -> None:
        for name in ("min", "max"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))
        if not (self.min <= self.max).all():
            raise ValueError(f"a box's min is at most its max, found {self.min.tolist()} and {self.max.tolist()}")

    @property
    def center(self) -> Array:
        """(3,) metres."""
        return (self.min + self.max) / 2.0

    @property
    def size(self) -> Array:
        """(3,) metres."""
        return self.max - self.min

    def gap_m(self, other: AxisBox) -> float:
        """Distance between two filled boxes, 0 where they touch or overlap; ``a.gap_m(b) == b.gap_m(a)``."""
        apart = np.maximum(0.0, np.maximum(self.min - other.max, other.min - self.max))
        return float(np.linalg.norm(apart))


@dataclass(frozen=True, eq=False)
class OrientedBox:
    """A box turned about the vertical.

    Attributes:
        center: (3,) metres.
        size: (3,) metres: the longer horizontal side, the shorter one, the height.
        yaw_deg: angle of the longer side from +x, counterclockwise seen from above, in [-90, 90).
    """

    center: Array
    size: Array
    yaw_deg: float

    def __post_init__(self) -> None:
        for name in ("center", "size"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))

    @property
    def rotation(self) -> Array:
        """(3, 3), columns are the box's axes."""
        yaw = np.radians(self.yaw_deg)
        cos, sin = np.cos(yaw), np.sin(yaw)
        return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])

    @property
    def corners(self) -> Array:
        """(8, 3) metres; number = x + 2 y + 4 z with 0 for the lower end along each of the box's axes."""
        return self.center + (_UNIT_CORNERS * self.size) @ self.rotation.T


def axis_box(points: ArrayLike) -> AxisBox:
    """Min and max of points (n, 3), n at least 1; sides below 1 mm are widened to 1 mm about their middle.

    Raises:
        ValueError: no points, another shape, or values that are not finite.
    """
    array = _points(points)
    low, high = array.min(axis=0), array.max(axis=0)
    thin = high - low < SETTINGS.min_side_m
    middle = (low + high) / 2.0
    half = SETTINGS.min_side_m / 2.0
    return AxisBox(np.where(thin, middle - half, low), np.where(thin, middle + half, high))


def oriented_box(points: ArrayLike) -> OrientedBox:
    """The smallest-area rectangle around the horizontal hull of points (n, 3), extruded over their heights.

    A smallest rectangle has a side along an edge of the hull (Freeman and Shapira 1975), so every edge is tried. The
    box does not depend on the order of the points. Rectangles of equal area are told apart by the angle of their sides
    to the axes, the smaller first, so that the box turns with the points by quarter turns; of a square, the side within
    [-45, 45) degrees of +x counts as the longer.

    Raises:
        ValueError: no points, another shape, or values that are not finite.
    """
    array = _points(points)
    ring = shapely.get_coordinates(shapely.convex_hull(shapely.MultiPoint(array[:, :2])))
    edges = np.diff(ring, axis=0)
    edges = edges[np.linalg.norm(edges, axis=1) > 0.0]
    if not len(edges):
        edges = np.array([[1.0, 0.0]])
    # Angle of each edge, folded into [-45, 45): a rectangle has it in both of its directions.
    fold_deg = np.mod(np.degrees(np.arctan2(edges[:, 1], edges[:, 0])) + 45.0, 90.0) - 45.0
    fold_deg = np.where(fold_deg > 45.0 - 1e-9, -45.0, fold_deg)
    fold = np.radians(fold_deg)
    along = np.stack([np.cos(fold), np.sin(fold)])
    across = np.stack([-along[1], along[0]])
    on_along, on_across = ring @ along, ring @ across
    low = np.stack([on_along.min(axis=0), on_across.min(axis=0)])
    high = np.stack([on_along.max(axis=0), on_across.max(axis=0)])
    side = np.maximum(high - low, 0.0)
    area = side[0] * side[1]
    smallest = area.min()
    # A hull without area has rectangles of area 0 in one direction only: along itself.
    tied = np.flatnonzero(area <= smallest + SETTINGS.tie_share * max(smallest, SETTINGS.min_side_m**2))
    angle = np.round(fold_deg[tied], 6)
    best = tied[np.lexsort((angle, np.abs(angle)))[0]]

    middle = (low[:, best] + high[:, best]) / 2.0
    plan = middle[0] * along[:, best] + middle[1] * across[:, best]
    bottom, top = array[:, 2].min(), array[:, 2].max()
    size = np.maximum([*side[:, best], top - bottom], SETTINGS.min_side_m)
    yaw_deg = float(fold_deg[best])
    if size[0] < size[1] - SETTINGS.tie_share:
        size = size[[1, 0, 2]]
        yaw_deg += 90.0 if yaw_deg < 0.0 else -90.0
    return OrientedBox(np.array([plan[0], plan[1], (bottom + top) / 2.0]), size, yaw_deg)


def is_degenerate(points: ArrayLike) -> bool:
    """True if points (n, 3) are fewer than 4, or thinner than 1 mm in some direction: in a plane, on a line, all equal.

    Exactly: their extent along their direction of least variance is below 1 mm.
    """
    array = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    if len(array) < 4:
        return True
    centred = array - array.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)  # ascending: the first axis has the least variance
    return bool(np.ptp(centred @ axes[:, 0]) < SETTINGS.min_side_m)


def box_mesh(center: ArrayLike, size: ArrayLike, rotation: ArrayLike | None = None) -> tuple[Array, NDArray[np.int32]]:
    """Vertices (8, 3) and outward faces (12, 3) of a box.

    Args:
        center: (3,) metres.
        size: (3,) metres, along the box's axes.
        rotation: (3, 3), columns are the box's axes; along the axes of the frame where it is None.
    """
    axes = np.eye(3) if rotation is None else np.asarray(rotation, dtype=np.float64)
    corners = (_UNIT_CORNERS * np.asarray(size, dtype=np.float64)) @ axes.T + np.asarray(center, dtype=np.float64)
    return corners, _BOX_FACES.copy()


def _points(points: ArrayLike) -> Array:
    array = np.asarray(points, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != 3 or not len(array):
        raise ValueError(f"expected points (n, 3) with n at least 1, found {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError("a box needs points with finite values")
    return array


def _frozen(values: ArrayLike) -> Array:
    array = np.array(values, dtype=np.float64)
    if array.shape != (3,):
        raise ValueError(f"expected (3,) metres, found {array.shape}")
    array.setflags(write=False)
    return array
