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

    sample_m: float = 0.005
    """Spacing of the samples on a surface."""
    coarse_sample_m: float = 0.05
    """Spacing of the samples that find which faces can be nearest."""


SETTINGS = GapSettings()


def surface_gap_m(one: Array, other: Array) -> float:
    """Least distance between samples of triangles (n, 3, 3) and (m, 3, 3): at most one spacing above the true one."""
    faces = (one, other)
    coarse = [samples(triangles, SETTINGS.coarse_sample_m) for triangles in faces]
    trees = [cKDTree(points) for points in coarse]
    nearest = float(trees[0].query(coarse[1])[0].min())
    near = []
    for index, triangles in enumerate(faces):
        middle = triangles.mean(axis=1)
        reach = np.linalg.norm(triangles - middle[:, None], axis=2).max(axis=1)
        gap = trees[1 - index].query(middle)[0]
        near.append(triangles[gap - reach <= nearest + SETTINGS.coarse_sample_m])
    dense = [samples(triangles, SETTINGS.sample_m) for triangles in near]
    return float(cKDTree(dense[0]).query(dense[1])[0].min())


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
