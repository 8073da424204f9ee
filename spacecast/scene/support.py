"""What objects stand on and hang on: an attribute, not an edge, since structure does not move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from spacecast.frames import Array
from spacecast.geometry.sampling import sample_faces
from spacecast.scene.surface import Surface

if TYPE_CHECKING:
    from spacecast.scene.objects import SceneObject


@dataclass(frozen=True)
class SupportSettings:
    """Standing on the floor and hanging on a wall; SEMANTICS section 3, Attachment."""

    lowest_share: float = 0.01
    """The lowest share of the samples says how high an object stands."""
    max_above_floor_m: float = 0.12
    """What stands on the floor has its lowest samples within this of it."""
    foot_m: float = 0.05
    """Cells of the lower surface up to this above the lowest samples are feet (own)."""
    floor_radius_m: float = 0.06
    """A foot touches the floor where a floor sample is this near on the plan; the radius of contact."""
    min_feet_share: float = 0.10
    """Share of the feet that touch the floor, of what stands on it; most of a scanned floor is hidden by what stands
    there (own)."""
    min_up: float = 0.7
    """A floor's faces have a normal with more than this upward."""
    wall_touch_m: float = 0.06
    """What has a sample this near to one of a wall touches it: 0.05, and the lag between samples (own)."""
    max_wall_up: float = 0.5
    """A wall's faces have a normal with less than this up or down."""
    floor_spacing_m: float = 0.05
    wall_spacing_m: float = 0.04
    """Samples on structure, which has much area."""


SETTINGS = SupportSettings()


class Support(NamedTuple):
    """What part of the building an object stands on or hangs on.

    ``kind`` is ``floor``, ``wall`` or ``none``; ``structure_id`` the id of that floor or wall, or None.
    """

    kind: Literal["floor", "wall", "none"]
    structure_id: int | None = None


@dataclass(frozen=True, eq=False)
class Part:
    """Samples of the building, with the id that each belongs to."""

    points: Array
    ids: NDArray[np.int64]
    tree: cKDTree


@dataclass(frozen=True, eq=False)
class Ground:
    """The floors and the upright parts of the building."""

    floor: Part | None
    walls: Part | None

    @classmethod
    def of(cls, structure: Sequence[SceneObject]) -> Ground:
        """From the structure objects of a scene."""
        floors, walls = [], []
        for item in structure:
            is_floor = "floor" in item.traits
            spacing_m = SETTINGS.floor_spacing_m if is_floor else SETTINGS.wall_spacing_m
            samples = sample_faces(item.vertices_in_world, item.shape.faces, spacing_m=spacing_m)
            if is_floor:
                floors.append((item.id, samples.points[samples.normals[:, 2] > SETTINGS.min_up]))
            else:
                walls.append((item.id, samples.points[np.abs(samples.normals[:, 2]) < SETTINGS.max_wall_up]))
        return cls(_part(floors, dimensions=2), _part(walls, dimensions=3))

    def support(self, surface: Surface) -> Support:
        """What an object stands on, or else which wall it touches."""
        return self._floor_under(surface) or self._wall_beside(surface) or Support("none")

    def clearance_m(self, surface: Surface) -> float:
        """How far the lowest samples are above the middle height of the nearest floor samples; inf without a floor."""
        if self.floor is None:
            return float("inf")
        _, which = self.floor.tree.query(surface.points[surface.lowest, :2])
        return _lowest(surface) - float(np.median(self.floor.points[which, 2]))

    def _floor_under(self, surface: Surface) -> Support | None:
        if self.floor is None:
            return None
        lowest = _lowest(surface)
        cells = surface.points[surface.lowest]
        feet = cells[cells[:, 2] <= lowest + SETTINGS.foot_m]
        far, which = self.floor.tree.query(feet[:, :2])
        touching = far <= SETTINGS.floor_radius_m
        if touching.mean() < SETTINGS.min_feet_share:
            return None
        floor_z = float(np.median(self.floor.points[which[touching], 2]))
        if lowest - floor_z > SETTINGS.max_above_floor_m:
            return None
        ids, counts = np.unique(self.floor.ids[which[touching]], return_counts=True)
        return Support("floor", int(ids[np.argmax(counts)]))

    def _wall_beside(self, surface: Surface) -> Support | None:
        if self.walls is None:
            return None
        far, which = self.walls.tree.query(surface.points, distance_upper_bound=SETTINGS.wall_touch_m)
        touching = np.isfinite(far)
        if not touching.any():
            return None
        ids, counts = np.unique(self.walls.ids[which[touching]], return_counts=True)
        return Support("wall", int(ids[np.argmax(counts)]))


def _lowest(surface: Surface) -> float:
    return float(np.quantile(surface.points[:, 2], SETTINGS.lowest_share))


def _part(samples: Sequence[tuple[int, Array]], *, dimensions: int) -> Part | None:
    if not sum(len(points) for _, points in samples):
        return None
    points = np.concatenate([points for _, points in samples])
    ids = np.concatenate([np.full(len(points), number, dtype=np.int64) for number, points in samples])
    return Part(points, ids, cKDTree(points[:, :dimensions], balanced_tree=False))
