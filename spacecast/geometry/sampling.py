"""Points spread evenly over the faces of a mesh, without chance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

_EDGE_PER_SPACING = 2.5
"""Longest edge of a part, in spacings: slivers have little area, but their samples should lie close together too."""
_SLACK = 0.25
"""Share of a spacing by which a part may be larger, since one more cut makes four times as many."""
_MAX_SPLIT = 1024
"""A face is cut into at most this many parts along an edge: a bound on memory for faces of tens of metres."""


class FaceSamples(NamedTuple):
    """Samples of faces: ``points`` (n, 3) metres, ``areas`` (n,) square metres that each stands for, ``normals`` (n, 3)
    unit vectors by the right-hand rule, 0 for faces without area."""

    points: Array
    areas: Array
    normals: Array

    def only(self, which: ArrayLike) -> FaceSamples:
        """Some of the samples, by mask or by number."""
        chosen = np.asarray(which)
        return FaceSamples(self.points[chosen], self.areas[chosen], self.normals[chosen])


def sample_faces(vertices: ArrayLike, faces: ArrayLike, *, spacing_m: float) -> FaceSamples:
    """Cut every face into equal triangles like itself and take their centres.

    A face is cut k times along each edge, with the smallest k for which a part has about ``spacing_m`` squared or less
    and no edge above 2.5 spacings. So the samples depend on each face alone: not on the order of faces, nor on where
    the mesh lies.

    Args:
        vertices: (n, 3) metres.
        faces: (m, 3) vertex numbers.
        spacing_m: side of the square that one sample stands for.
    """
    points = np.asarray(vertices, dtype=np.float64).reshape(-1, 3)
    corners = points[np.asarray(faces, dtype=np.int64).reshape(-1, 3)]
    first, one, two = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normals = np.cross(one, two)
    doubled = np.sqrt(np.einsum("ij,ij->i", normals, normals))
    normals /= np.where(doubled > 0.0, doubled, 1.0)[:, None]
    other = two - one
    squares = [np.einsum("ij,ij->i", edge, edge) for edge in (one, two, other)]
    longest = np.sqrt(np.maximum(np.maximum(squares[0], squares[1]), squares[2]))
    by_area = np.sqrt(doubled / 2.0) / spacing_m - _SLACK
    by_edge = longest / (_EDGE_PER_SPACING * spacing_m)
    cuts = np.ceil(np.maximum(by_area, by_edge)).clip(1, _MAX_SPLIT).astype(np.int64)

    whole = cuts == 1
    if whole.all():
        return FaceSamples(first + (one + two) / 3.0, doubled / 2.0, normals)
    parts = [FaceSamples(first[whole] + (one[whole] + two[whole]) / 3.0, doubled[whole] / 2.0, normals[whole])]
    for count in np.unique(cuts[~whole]).tolist():
        chosen = np.flatnonzero(cuts == count)
        weights = _centres(count)
        spread = np.stack([one[chosen], two[chosen]], axis=1)  # (m, 2, 3)
        found = first[chosen][:, None, :] + np.einsum("ki,mij->mkj", weights, spread)
        each = np.repeat(chosen, count * count)
        parts.append(FaceSamples(found.reshape(-1, 3), doubled[each] / (2.0 * count * count), normals[each]))
    return FaceSamples(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _centres(count: int) -> Array:
    """(count^2, 2) weights of the two edge vectors at the centres of the small triangles."""
    i, j = np.meshgrid(np.arange(count), np.arange(count), indexing="ij")
    upright = i + j < count
    turned = i + j < count - 1
    up = np.stack([i[upright] + 1.0 / 3.0, j[upright] + 1.0 / 3.0], axis=1)
    down = np.stack([i[turned] + 2.0 / 3.0, j[turned] + 2.0 / 3.0], axis=1)
    return np.concatenate([up, down]) / count
