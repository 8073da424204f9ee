"""Convex hulls on the floor plan and how much two of them overlap."""

from __future__ import annotations

import numpy as np
import shapely
from numpy.typing import ArrayLike
from shapely.geometry.base import BaseGeometry


def plan_hull(points: ArrayLike) -> BaseGeometry:
    """The convex hull on the floor plan of points (n, 2) or (n, 3), metres.

    A Polygon; a LineString where all points lie on a line, a Point where they coincide, and an empty geometry where
    there are none: all have an area and can be overlapped.
    """
    array = np.asarray(points, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise ValueError(f"expected points (n, 2) or (n, 3), found {array.shape}")
    return shapely.convex_hull(shapely.multipoints(array[:, :2]))


def footprints_overlap_m2(a: BaseGeometry, b: BaseGeometry) -> float:
    """Area that two footprints share, square metres; 0 where they only touch, and for lines and points.

    ``footprints_overlap_m2(a, b) == footprints_overlap_m2(b, a)`` and ``footprints_overlap_m2(a, a) == a.area``, up to
    rounding.

    >>> square = plan_hull([[0, 0], [1, 0], [1, 1], [0, 1]])
    >>> footprints_overlap_m2(square, plan_hull([[0.5, 0], [2, 0], [2, 1], [0.5, 1]]))
    0.5
    """
    return float(shapely.area(shapely.intersection(a, b)))
