"""Spatial clusters of points: what lies together, whatever the mesh says of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import label
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

_DENSE_CELLS = 1_000_000
_DENSE_PER_POINT = 50
"""A grid with more cells than both, a million or 50 a point, is held by its filled cells alone."""
_NEIGHBOURS = np.array([(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)], dtype=np.int64)


def grid_clusters(points: ArrayLike, *, cell_m: float) -> NDArray[np.int32]:
    """Which cluster each point belongs to: points in the same or in touching cells of a grid are together.

    Args:
        points: (n, 3) metres, in any frame.
        cell_m: side of a cell. Points up to one cell apart are always together, two points ``2 sqrt(3)`` cells apart or
            more only through others.

    Returns:
        (n,) int32 numbers from 0; clusters are numbered by their first point.
    """
    array = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    if not len(array):
        return np.zeros(0, dtype=np.int32)
    cells = np.floor((array - (array.min(axis=0) + array.max(axis=0)) / 2.0) / cell_m).astype(np.int64)
    cells -= cells.min(axis=0)
    shape = tuple((cells.max(axis=0) + 1).tolist())
    if np.prod(shape, dtype=np.float64) > max(_DENSE_CELLS, _DENSE_PER_POINT * len(array)):
        return _sparse_clusters(cells)
    filled = np.zeros(shape, dtype=bool)
    filled[cells[:, 0], cells[:, 1], cells[:, 2]] = True
    labels, count = label(filled, structure=np.ones((3, 3, 3)))
    if count == 1:
        return np.zeros(len(array), dtype=np.int32)
    return _by_first_point(labels[cells[:, 0], cells[:, 1], cells[:, 2]])


def _sparse_clusters(cells: NDArray[np.int64]) -> NDArray[np.int32]:
    """The same for a grid too large to hold: (n, 3) cell numbers from 0."""
    spans = cells.max(axis=0) + 3  # a margin of one cell on either side keeps neighbours' keys apart
    weights = np.array([1, spans[0], spans[0] * spans[1]], dtype=np.int64)
    keys, of_point = np.unique((cells + 1) @ weights, return_inverse=True)
    steps = _NEIGHBOURS[14:] @ weights  # half of the neighbours: the graph has no direction
    wanted = keys[:, None] + steps[None, :]
    found = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
    one, step = np.nonzero(keys[found] == wanted)
    graph = coo_matrix((np.ones(len(one), dtype=bool), (one, found[one, step])), shape=(len(keys), len(keys)))
    _, labels = connected_components(graph, directed=False)
    return _by_first_point(labels[of_point])


def is_scattered(points: ArrayLike, *, gap_m: float) -> bool:
    """True if the points (n, 3) fall into two or more sets with more than a distance between them.

    Exact: a cluster is what can be reached in steps of at most ``gap_m``. Turning and shifting the points does not
    matter.
    """
    array = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    if len(array) < 2:
        return False
    # Cells of half the gap over sqrt(3): points in touching cells are within the gap, so most work is the grid's.
    labels = grid_clusters(array, cell_m=gap_m / (2.0 * np.sqrt(3.0)))
    if labels.max() == 0:
        return False
    trees = [cKDTree(array[labels == number]) for number in range(int(labels.max()) + 1)]
    reached, waiting = [trees[0]], trees[1:]
    while reached and waiting:
        tree = reached.pop()
        near = [bool(np.isfinite(tree.query(w.data, distance_upper_bound=np.nextafter(gap_m, np.inf))[0]).any())
                for w in waiting]  # fmt: skip
        reached += [w for w, hit in zip(waiting, near, strict=True) if hit]
        waiting = [w for w, hit in zip(waiting, near, strict=True) if not hit]
    return bool(waiting)


def _by_first_point(labels: NDArray[np.int32]) -> NDArray[np.int32]:
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[inverse].astype(np.int32)
