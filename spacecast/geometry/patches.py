"""Contact between a lower surface and upward faces (or, turned by a quarter, between a back and upright faces)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]


class Matches(NamedTuple):
    """Pairs within reach: ``cell`` and ``face`` numbers, and ``above_m``, how far the face is above the cell."""

    cell: Numbers
    face: Numbers
    above_m: Array


def lowest_per_cell(plan: ArrayLike, heights: ArrayLike, *, cell_m: float) -> Numbers:
    """Numbers of the points that are lowest in their cell of a grid on the plan, by cell.

    The grid's middle is the middle of the points' box, so that the cells turn with the points by quarter turns. Of
    equally low points the one nearest to its cell's middle is taken, so that their order does not matter.

    Args:
        plan: (n, 2) metres.
        heights: (n,) metres.
        cell_m: side of a cell.
    """
    where = np.asarray(plan, dtype=np.float64).reshape(-1, 2)
    if not len(where):
        return np.zeros(0, dtype=np.int64)
    height = np.asarray(heights, dtype=np.float64)
    scaled = (where - (where.min(axis=0) + where.max(axis=0)) / 2.0) / cell_m
    cells = np.floor(scaled)
    off = np.abs(scaled - cells - 0.5).max(axis=1)
    cells -= cells.min(axis=0)
    key = cells[:, 0] * (cells[:, 1].max() + 1) + cells[:, 1]
    # Sorting 16-bit keys is a radix sort, several times as fast; a plan of up to 100 m2 has no more cells.
    order = np.argsort(key.astype(np.uint16 if key.max() < 2**16 else np.int64), kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1.0))
    lowest = np.minimum.reduceat(height[order], starts)
    # Points as low as the lowest, and of these the one in the middle.
    cell = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
    tied = np.flatnonzero(height[order] <= lowest[cell])
    by_middle = tied[np.lexsort((off[order[tied]], cell[tied]))]
    first = np.flatnonzero(np.diff(cell[by_middle], prepend=-1))
    return order[by_middle[first]]


def plan_matches(cells: ArrayLike, faces: ArrayLike, *, radius_m: float, below_m: float, above_m: float) -> Matches:
    """Faces that lie near cells on the plan, and from ``above_m`` above to ``below_m`` below them.

    Args:
        cells: (n, 3) points of the lower surface.
        faces: (m, 3) points of upward faces.
        radius_m: largest distance on the plan.
        below_m: how far a face may be below a cell.
        above_m: how far it may be above, where surfaces run into each other.
    """
    low, up = np.asarray(cells, dtype=np.float64).reshape(-1, 3), np.asarray(faces, dtype=np.float64).reshape(-1, 3)
    if len(low) and len(up):
        reach = np.array([radius_m, radius_m, 0.0])
        floor, top = low.min(axis=0) - reach, low.max(axis=0) + reach
        floor[2] -= below_m
        top[2] += above_m
        near = np.flatnonzero(within(up, floor, top))
    else:
        near = np.zeros(0, dtype=np.int64)
    if not len(near):
        return Matches(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
    cell_tree = cKDTree(low[:, :2], balanced_tree=False, compact_nodes=False)
    face_tree = cKDTree(up[near, :2], balanced_tree=False, compact_nodes=False)
    pairs = cell_tree.sparse_distance_matrix(face_tree, radius_m, output_type="ndarray")
    cell, face = pairs["i"].astype(np.int64), near[pairs["j"].astype(np.int64)]
    above = up[face, 2] - low[cell, 2]
    fits = (above <= above_m) & (above >= -below_m)
    return Matches(cell[fits], face[fits], above[fits])


def hull_m2(plan: ArrayLike, *, margin_m: float = 0.0) -> float:
    """Area of the convex hull of points (n, 2), square metres, widened by a margin all round.

    With a margin r the area is area + perimeter r + pi r^2 (Steiner), so that a row of points and a single point have
    one too.
    """
    where = np.asarray(plan, dtype=np.float64).reshape(-1, 2)
    if not len(where):
        return 0.0
    hull = shapely.convex_hull(shapely.linestrings(where) if len(where) > 1 else shapely.points(where[0]))
    if not margin_m:
        return float(shapely.area(hull))
    around = float(shapely.length(hull)) * (2.0 if shapely.get_dimensions(hull) == 1 else 1.0)
    return float(shapely.area(hull)) + around * margin_m + np.pi * margin_m**2


def hull_corners(plan: ArrayLike) -> Array:
    """(k, 2) corners of the convex hull of points (n, 2), n at least 1; fewer than three where it has no area.

    Of a line through the points, since one line is made many times as fast as many points.
    """
    where = np.asarray(plan, dtype=np.float64).reshape(-1, 2)
    return where if len(where) < 3 else shapely.get_coordinates(shapely.convex_hull(shapely.linestrings(where)))


def nearest_heights(matches: Matches, which: ArrayLike, count: int) -> Array:
    """(count,) per cell the ``above_m`` that is nearest to 0 among some of the matches, nan where there is none."""
    chosen = np.flatnonzero(np.asarray(which))
    cell, above = matches.cell[chosen], matches.above_m[chosen]
    off = np.full(count, np.inf)
    np.minimum.at(off, cell, np.abs(above))
    nearest = np.full(count, -np.inf)
    tied = np.abs(above) <= off[cell]
    np.maximum.at(nearest, cell[tied], above[tied])  # of two equally near, the higher
    return np.where(np.isfinite(nearest), nearest, np.nan)


def within(points: Array, low: ArrayLike, high: ArrayLike) -> NDArray[np.bool_]:
    """(n,) True for points (n, 3) in a box, its borders included. Axis by axis, which is faster than ``all``."""
    x, y, z = points.T
    (x0, y0, z0), (x1, y1, z1) = np.asarray(low), np.asarray(high)
    return (z >= z0) & (z <= z1) & (x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)
