"""What attachment reads of an object: samples of its faces, without mask leaks, and its lower surface."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import ConvexHull, QhullError

from spacecast.frames import Array, Transform
from spacecast.geometry.clusters import grid_clusters
from spacecast.geometry.patches import hull_m2, lowest_per_cell
from spacecast.geometry.sampling import FaceSamples, sample_faces


@dataclass(frozen=True)
class SurfaceSettings:
    """How surfaces are sampled; SEMANTICS section 3, Attachment."""

    spacing_m: float = 0.02
    """Side of the square that one sample stands for."""
    leak_grid_m: float = 0.05
    """Samples in touching cells of this grid are one cluster."""
    min_cluster_share: float = 0.05
    """A cluster with a smaller share of the object's area is a leak of its mask and is dropped."""
    min_rising: float = 0.5
    """The loosest bound on the upward part of the normal of a face that carries."""
    lower_cell_m: float = 0.04
    """The lower surface is the lowest sample of each cell of this grid on the plan."""


SETTINGS = SurfaceSettings()
CELL_MARGIN_M = SETTINGS.lower_cell_m / 2.0
"""How far a cell of the lower surface reaches around its sample (own)."""


@dataclass(frozen=True, eq=False)
class Surface:
    """Samples of one object's faces.

    Attributes:
        points: (n, 3) float64 metres.
        areas: (n,) square metres that each sample stands for.
        normals: (n, 3) unit vectors, 0 where unknown.
    """

    points: Array
    areas: Array
    normals: Array

    @classmethod
    def of(cls, vertices: ArrayLike, faces: ArrayLike) -> Surface:
        """Samples without mask leaks; of a mesh without faces its vertices, each for the same area."""
        samples = sample_faces(vertices, faces, spacing_m=SETTINGS.spacing_m)
        if not samples.areas.sum() > 0.0:
            points = np.asarray(vertices, dtype=np.float64).reshape(-1, 3)
            samples = FaceSamples(points, np.full(len(points), SETTINGS.spacing_m**2), np.zeros_like(points))
        cluster = grid_clusters(samples.points, cell_m=SETTINGS.leak_grid_m)
        if cluster.max() > 0:
            area = np.bincount(cluster, weights=samples.areas)
            large = area >= SETTINGS.min_cluster_share * area.sum()
            if large.any():
                samples = samples.only(large[cluster])
        return cls(*samples)

    def moved(self, pose: Transform) -> Surface:
        """The same surface elsewhere; under a yaw and a shift its lower surface is the same."""
        moved = Surface(pose @ self.points, self.areas, pose.turn(self.normals))
        if pose.rotation[2, 2] == 1.0:
            object.__setattr__(moved, "lowest", self.lowest)
        return moved

    def seen_along(self, up: Array) -> Surface:
        """The surface in coordinates whose third axis is a horizontal unit vector (3,): that side counts as up."""
        rows = np.stack([np.array([-up[1], up[0], 0.0]), np.array([0.0, 0.0, 1.0]), up])
        return Surface(self.points @ rows.T, self.areas, self.normals @ rows.T)

    @cached_property
    def lowest(self) -> NDArray[np.int64]:
        """Numbers of the samples of the lower surface."""
        return lowest_per_cell(self.points[:, :2], self.points[:, 2], cell_m=SETTINGS.lower_cell_m)

    @cached_property
    def rising(self) -> NDArray[np.int64]:
        """Numbers of the samples whose faces look upward at all, by the loosest of the bounds in use."""
        return np.flatnonzero(self.normals[:, 2] > SETTINGS.min_rising)

    @cached_property
    def low(self) -> Array:
        """(3,) minimum."""
        return self.points.min(axis=0)

    @cached_property
    def high(self) -> Array:
        """(3,) maximum."""
        return self.points.max(axis=0)

    @property
    def height_m(self) -> float:
        """From the lowest sample to the highest."""
        return float(self.high[2] - self.low[2])

    @cached_property
    def area_m2(self) -> float:
        """Of all samples."""
        return float(self.areas.sum())

    @cached_property
    def plan_m2(self) -> float:
        """Area of the plan hull."""
        return hull_m2(self.points[:, :2])

    @cached_property
    def wide_plan_m2(self) -> float:
        """Area of the plan hull, widened by half a cell all round."""
        return hull_m2(self.points[:, :2], margin_m=CELL_MARGIN_M)

    @cached_property
    def hull_planes(self) -> Array | None:
        """(k, 4) planes of the convex hull: inside is where ``normal @ point + offset`` is at most 0; None if flat."""
        try:
            return ConvexHull(self.points).equations
        except (QhullError, ValueError):
            return None
