"""The shortest distance between the surfaces of two triangle meshes.

A mesh is prepared once (:class:`SurfaceIndex`, in object coordinates) and then compared wherever it stands. The search
keeps a best distance so far and looks at triangle pairs only where a lower bound lies below it. The bound is the gap
between boxes along axes of which one joins the nearest vertices found at first: along that axis two surfaces that face
each other are thin, whichever way they stand, so that hardly anything but the nearest triangles is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from spacecast.frames import Transform

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DistanceSettings:
    """How the search goes; results do not depend on these beyond ``resolution_m``."""

    resolution_m: float = 1e-6
    """Triangle pairs that could improve the distance by less than this are not looked at."""
    leaf_faces: int = 32
    """At most so many triangles share a box."""
    batch_leaf_pairs: int = 64
    """So many pairs of boxes are opened at a time, nearest first."""
    batch_triangle_pairs: int = 512
    """So many pairs of triangles are compared at a time, nearest first."""
    flat_share: float = 1e-10
    """A triangle whose doubled area is below this share of its longest side squared counts as its edges."""


SETTINGS = DistanceSettings()


class SurfaceIndex:
    """One mesh, prepared for :meth:`distance_m`. Never changes.

    Attributes:
        vertices: (n, 3) float64, object coordinates: those that faces use; all where there are no faces.
        leaves: (k, m, 3) vertex numbers: k groups of m triangles that lie together; some triangles are repeated to
            make the groups equal. A vertex of a mesh without faces is a triangle of three equal corners.
    """

    def __init__(self, vertices: ArrayLike, faces: ArrayLike) -> None:
        """Takes (n, 3) metres and (m, 3) vertex numbers.

        Raises:
            ValueError: no vertices, values that are not finite, or a face that names a vertex that is not there.
        """
        points = np.asarray(vertices, dtype=np.float64).reshape(-1, 3)
        triangles = np.asarray(faces, dtype=np.int64).reshape(-1, 3)
        if not len(points):
            raise ValueError("a surface needs at least one vertex")
        if not len(triangles):
            triangles = np.repeat(np.arange(len(points))[:, None], 3, axis=1)
        if triangles.min() < 0 or triangles.max() >= len(points):
            raise ValueError(f"a face names a vertex that is not there (the mesh has {len(points)})")
        used, numbers = np.unique(triangles, return_inverse=True)
        self.vertices: Array = np.ascontiguousarray(points[used])
        if not np.isfinite(self.vertices).all():
            raise ValueError("a surface needs vertices with finite values")
        triangles = numbers.reshape(-1, 3)
        self.leaves: NDArray[np.int64] = triangles[_leaves(self.vertices[triangles].mean(axis=1))]
        self.vertices.setflags(write=False)
        self.leaves.setflags(write=False)

    def distance_m(
        self,
        other: SurfaceIndex,
        *,
        world_from_self: Transform | None = None,
        world_from_other: Transform | None = None,
    ) -> float:
        """Shortest distance between the two surfaces, metres; 0 where they meet.

        A closed surface wholly inside another one is as far from it as its surface is: there is no inside here.
        ``a.distance_m(b) == b.distance_m(a)`` up to rounding.

        Args:
            other: the other mesh.
            world_from_self: where this mesh stands; object coordinates are the world's where it is None.
            world_from_other: where the other mesh stands.
        """
        a = self.vertices if world_from_self is None else world_from_self @ self.vertices
        b = other.vertices if world_from_other is None else world_from_other @ other.vertices
        i, j = _nearest_vertices(a, self.leaves[:, 0, 0], b, other.leaves[:, 0, 0])
        at_a, at_b = a[self._faces_at(i)], b[other._faces_at(j)]
        apart = triangle_separations(np.repeat(at_a, len(at_b), axis=0), np.tile(at_b, (len(at_a), 1, 1)))
        length_m = np.linalg.norm(apart, axis=1)
        nearest = int(length_m.argmin())
        axes = _axes_along(apart[nearest])
        return _search(_Boxes.of(a @ axes, self.leaves), _Boxes.of(b @ axes, other.leaves), float(length_m[nearest]))

    def _faces_at(self, vertex: int) -> NDArray[np.int64]:
        leaf, face, _ = np.nonzero(self.leaves == vertex)
        return self.leaves[leaf, face]


def surface_distance_m(vertices_a: ArrayLike, faces_a: ArrayLike, vertices_b: ArrayLike, faces_b: ArrayLike) -> float:
    """Shortest distance between two triangle meshes in one frame, metres; 0 where they meet.

    The vertices stand for the surface of a mesh without faces. Exact to ``SETTINGS.resolution_m``. To compare one mesh
    with many, build a :class:`SurfaceIndex` for each once.

    >>> triangle = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    >>> surface_distance_m(triangle, [[0, 1, 2]], [[0.2, 0.2, 0.5]], [])
    0.5
    """
    return SurfaceIndex(vertices_a, faces_a).distance_m(SurfaceIndex(vertices_b, faces_b))


def triangle_separations(triangles_a: ArrayLike, triangles_b: ArrayLike) -> Array:
    """Shortest vectors (n, 3) between pairs of triangles (n, 3 corners, 3), one way or the other; 0 where they meet.

    Two triangles that do not meet are nearest between two edges, or between a corner and the inside of a face; they
    meet where an edge goes through a face. Triangles may be flat: segments or points.
    """
    a, b = np.asarray(triangles_a, dtype=np.float64), np.asarray(triangles_b, dtype=np.float64)
    along_a, along_b = np.roll(a, -1, axis=1) - a, np.roll(b, -1, axis=1) - b
    candidates = [_edge_edge(a, along_a, b, along_b)]
    meets = np.zeros(len(a), dtype=bool)
    for corners, along, face, face_along in ((a, along_a, b, along_b), (b, along_b, a, along_a)):
        candidates.append(_corner_edge(corners, face, face_along))
        plane = _Plane.of(face, face_along)
        height = plane.heights(corners)
        to_plane = height[..., None] * plane.normal[:, None]
        candidates.append(np.where(plane.covers(corners)[..., None], to_plane, np.inf))
        ends = np.roll(height, -1, axis=1)
        crosses = (height * ends <= 0.0) & (height != ends)
        if crosses.any():
            share = np.divide(height, height - ends, out=np.zeros_like(height), where=crosses)
            meets |= (crosses & plane.covers(corners + share[..., None] * along)).any(axis=1)
    vectors = np.concatenate([candidate.reshape(len(a), -1, 3) for candidate in candidates], axis=1)
    shortest = _dot(vectors, vectors).argmin(axis=1)
    return np.where(meets[:, None], 0.0, vectors[np.arange(len(a)), shortest])


class _Boxes(NamedTuple):
    """Triangles of a mesh and the boxes around them, in the axes of a search."""

    triangles: Array
    """(k, m, 3 corners, 3)"""
    low: Array
    """(k, m, 3)"""
    high: Array
    leaf_low: Array
    """(k, 3)"""
    leaf_high: Array

    @classmethod
    def of(cls, vertices: Array, leaves: NDArray[np.int64]) -> _Boxes:
        triangles = vertices[leaves]
        first, second, third = triangles[:, :, 0], triangles[:, :, 1], triangles[:, :, 2]
        low = np.minimum(np.minimum(first, second), third)
        high = np.maximum(np.maximum(first, second), third)
        return cls(triangles, low, high, low.min(axis=1), high.max(axis=1))


def _search(a: _Boxes, b: _Boxes, best_m: float) -> float:
    near_a = np.flatnonzero(
        _gap_sq(a.leaf_low, a.leaf_high, b.leaf_low.min(axis=0), b.leaf_high.max(axis=0)) < best_m**2
    )
    near_b = np.flatnonzero(
        _gap_sq(b.leaf_low, b.leaf_high, a.leaf_low.min(axis=0), a.leaf_high.max(axis=0)) < best_m**2
    )
    gap_m = np.sqrt(
        _gap_sq(a.leaf_low[near_a, None], a.leaf_high[near_a, None], b.leaf_low[near_b], b.leaf_high[near_b])
    )
    rows, columns = np.nonzero(gap_m < best_m - SETTINGS.resolution_m)
    gap_m = gap_m[rows, columns]
    order = np.argsort(gap_m, kind="stable")
    gap_m, leaf_a, leaf_b = gap_m[order], near_a[rows[order]], near_b[columns[order]]
    start = 0
    while start < len(gap_m) and gap_m[start] < best_m - SETTINGS.resolution_m:
        batch = slice(start, start + SETTINGS.batch_leaf_pairs)
        best_m = _search_leaves(a, b, leaf_a[batch], leaf_b[batch], best_m)
        start += SETTINGS.batch_leaf_pairs
    return best_m


def _search_leaves(a: _Boxes, b: _Boxes, leaf_a: NDArray[np.intp], leaf_b: NDArray[np.intp], best_m: float) -> float:
    limit_sq = max(0.0, best_m - SETTINGS.resolution_m) ** 2
    low_a, high_a, low_b, high_b = a.low[leaf_a], a.high[leaf_a], b.low[leaf_b], b.high[leaf_b]
    near_a = _gap_sq(low_a, high_a, b.leaf_low[leaf_b, None], b.leaf_high[leaf_b, None]) < limit_sq
    near_b = _gap_sq(low_b, high_b, a.leaf_low[leaf_a, None], a.leaf_high[leaf_a, None]) < limit_sq
    pair, one, other = np.nonzero(near_a[:, :, None] & near_b[:, None, :])
    gap_sq = _gap_sq(low_a[pair, one], high_a[pair, one], low_b[pair, other], high_b[pair, other])
    order = np.argsort(gap_sq, kind="stable")
    order = order[gap_sq[order] < limit_sq]
    gap_m = np.sqrt(gap_sq[order])
    at_a, at_b = (leaf_a[pair[order]], one[order]), (leaf_b[pair[order]], other[order])
    start = 0
    while start < len(order) and gap_m[start] < best_m - SETTINGS.resolution_m:
        batch = slice(start, start + SETTINGS.batch_triangle_pairs)
        apart = triangle_separations(
            a.triangles[at_a[0][batch], at_a[1][batch]], b.triangles[at_b[0][batch], at_b[1][batch]]
        )
        best_m = min(best_m, float(np.linalg.norm(apart, axis=1).min()))
        start += SETTINGS.batch_triangle_pairs
    return best_m


def _gap_sq(low_a: Array, high_a: Array, low_b: Array, high_b: Array) -> Array:
    apart = np.maximum(low_a - high_b, low_b - high_a)
    np.maximum(apart, 0.0, out=apart)
    return np.einsum("...i,...i->...", apart, apart)


def _nearest_vertices(a: Array, sample_a: NDArray[np.int64], b: Array, sample_b: NDArray[np.int64]) -> tuple[int, int]:
    """Numbers of two vertices each of which is the nearest to the other: near each other, if not nearest of all."""
    apart = cdist(a[sample_a], b[sample_b], "sqeuclidean")
    row, column = np.unravel_index(int(apart.argmin()), apart.shape)
    i, j, best = int(sample_a[row]), int(sample_b[column]), float(apart[row, column])
    while True:
        j = int(cdist(a[i : i + 1], b, "sqeuclidean").argmin())
        from_b = cdist(b[j : j + 1], a, "sqeuclidean")[0]
        i = int(from_b.argmin())
        if not from_b[i] < best:
            return i, j
        best = float(from_b[i])


def _axes_along(vector: Array) -> Array:
    """(3, 3) orthonormal columns, the first along a vector; those of the frame where it has no length."""
    length = np.linalg.norm(vector)
    if length < SETTINGS.resolution_m:
        return np.eye(3)
    first = vector / length
    second = np.cross(first, np.eye(3)[np.abs(first).argmin()])
    second /= np.linalg.norm(second)
    return np.stack([first, second, np.cross(first, second)], axis=1)


def _leaves(centers: Array) -> NDArray[np.intp]:
    """(k, m) numbers of points (n, 3) in k groups that lie together: halved again and again along the longest side."""
    depth = max(0, int(np.ceil(np.log2(len(centers) / SETTINGS.leaf_faces))))
    size = -(-len(centers) // 2**depth)
    groups = np.minimum(np.arange(size * 2**depth), len(centers) - 1)[None]
    for _ in range(depth):
        points = centers[groups]
        longest = np.ptp(points, axis=1).argmax(axis=1)
        keys = np.take_along_axis(points, longest[:, None, None], axis=2)[..., 0]
        order = np.argsort(keys, axis=1, kind="stable")
        groups = np.take_along_axis(groups, order, axis=1).reshape(2 * len(groups), -1)
    return groups


def _dot(a: Array, b: Array) -> Array:
    return np.einsum("...i,...i->...", a, b)


def _corner_edge(corners: Array, starts: Array, along: Array) -> Array:
    """(n, 3, 3, 3) vectors from the nearest points of edges to corners (n, 3, 3)."""
    offset = corners[:, :, None] - starts[:, None]
    edge = np.broadcast_to(along[:, None], offset.shape)
    length_sq = _dot(edge, edge)
    share = np.divide(_dot(offset, edge), length_sq, out=np.zeros_like(length_sq), where=length_sq > 0.0)
    return offset - np.clip(share, 0.0, 1.0)[..., None] * edge


def _edge_edge(starts_a: Array, along_a: Array, starts_b: Array, along_b: Array) -> Array:
    """(n, 3, 3, 3) vectors between edges that are nearest inside both; inf for others, which are nearest at an end."""
    shape = (len(starts_a), 3, 3, 3)
    u, v = np.broadcast_to(along_a[:, :, None], shape), np.broadcast_to(along_b[:, None], shape)
    w = starts_a[:, :, None] - starts_b[:, None]
    uu, vv, uv, uw, vw = _dot(u, u), _dot(v, v), _dot(u, v), _dot(u, w), _dot(v, w)
    cross_sq = uu * vv - uv**2
    meet = cross_sq > 1e-12 * uu * vv  # edges that are nearly parallel are as near at an end
    s = np.divide(uv * vw - vv * uw, cross_sq, out=np.full_like(uu, -1.0), where=meet)
    t = np.divide(uu * vw - uv * uw, cross_sq, out=np.full_like(uu, -1.0), where=meet)
    inside = (s >= 0.0) & (s <= 1.0) & (t >= 0.0) & (t <= 1.0)
    return np.where(inside[..., None], w + s[..., None] * u - t[..., None] * v, np.inf)


class _Plane(NamedTuple):
    """The planes of faces; a flat face, which has none, covers nothing."""

    corners: Array
    """(n, 3, 3)"""
    normal: Array
    """(n, 3) unit; 0 where a face is flat"""
    inward: Array
    """(n, 3, 3) in the plane, from each edge to the face"""
    exists: NDArray[np.bool_]
    """(n, 1)"""

    @classmethod
    def of(cls, face: Array, along: Array) -> _Plane:
        normal = _cross(along[:, 0], along[:, 1])
        length = np.sqrt(_dot(normal, normal))
        exists = (length > SETTINGS.flat_share * _dot(along, along).max(axis=1))[:, None]
        normal = np.divide(normal, length[:, None], out=np.zeros_like(normal), where=exists)
        return cls(face, normal, _cross(np.broadcast_to(normal[:, None], along.shape), along), exists)

    def heights(self, points: Array) -> Array:
        """(n, 3) of points (n, 3, 3) over the planes."""
        return _dot(points - self.corners[:, :1], np.broadcast_to(self.normal[:, None], points.shape))

    def covers(self, points: Array) -> NDArray[np.bool_]:
        """(n, 3) true where the foot of a point (n, 3, 3) on a face's plane lies in the face."""
        offset = points[:, :, None] - self.corners[:, None]
        inside = _dot(offset, np.broadcast_to(self.inward[:, None], offset.shape)) >= 0.0
        return np.all(inside, axis=2) & self.exists


def _cross(a: Array, b: Array) -> Array:  # np.cross spends more on checks than on the product
    out = np.empty(a.shape)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[..., i] = a[..., j] * b[..., k] - a[..., k] * b[..., j]
    return out
