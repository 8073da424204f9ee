"""The least distance between two surfaces from dense samples of both: a second way, plain and slow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GapSettings:
    """How finely."""

    spacings_m: tuple[float, ...] = (0.05, 0.015, 0.005)
    """Spacings of samples on a surface: each round keeps the faces that can be nearest, the last one measures."""


SETTINGS = GapSettings()


def surface_gap_m(one: Array, other: Array) -> float:
    """Least distance between samples of triangles (n, 3, 3) and (m, 3, 3): at most one spacing above the true one."""
    faces, nearest = [one, other], np.inf
    for spacing_m in SETTINGS.spacings_m:
        points = [samples(triangles, spacing_m) for triangles in faces]
        trees = [cKDTree(some) for some in points]
        small, large = (0, 1) if len(points[0]) < len(points[1]) else (1, 0)
        found = trees[large].query(points[small], distance_upper_bound=nearest + spacing_m)[0]
        nearest = min(nearest, float(found.min()))
        if spacing_m == SETTINGS.spacings_m[-1]:
            break
        kept = []
        for triangles, tree in zip(faces, trees[::-1], strict=True):
            middle = triangles.mean(axis=1)
            reach = np.linalg.norm(triangles - middle[:, None], axis=2).max(axis=1)
            gap = tree.query(middle, distance_upper_bound=nearest + spacing_m + float(reach.max()) + 1e-6)[0]
            kept.append(triangles[gap - reach <= nearest + spacing_m])
        faces = kept
    return nearest


def gap_bounds_m(one: Array, other: Array) -> tuple[float, float]:
    """Two lengths between which the distance of triangles (n, 3, 3) and (m, 3, 3) lies, from coarse samples alone."""
    spacing_m = SETTINGS.spacings_m[0]
    nearest = float(cKDTree(samples(one, spacing_m)).query(samples(other, spacing_m))[0].min())
    return max(0.0, nearest - 2.0 * spacing_m), nearest


def samples(triangles: Array, spacing_m: float) -> Array:
    """(m, 3) points on triangles (n, 3, 3), corners and edges too, no point of them farther than a spacing from one."""
    edges = np.linalg.norm(triangles - np.roll(triangles, 1, axis=1), axis=2).max(axis=1)
    parts = np.maximum(1, np.ceil(edges / spacing_m)).astype(int)
    found = []
    for count in np.unique(parts).tolist():
        some = triangles[parts == count]
        i, j = np.meshgrid(np.arange(count + 1), np.arange(count + 1), indexing="ij")
        inside = i + j <= count
        weights = np.stack([i[inside], j[inside], (count - i - j)[inside]], axis=1) / count
        found.append(np.einsum("wc,tcd->twd", weights, some).reshape(-1, 3))
    return np.concatenate(found)
