"""Rooms of a scan: where furniture can stand; SEMANTICS section 2, Rooms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import binary_fill_holes, distance_transform_edt, label
from shapely.geometry.base import BaseGeometry

from spacecast.frames import Array
from spacecast.geometry.sampling import sample_faces

if TYPE_CHECKING:
    from spacecast.scene.objects import SceneObject

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class RoomSettings:
    """How rooms are told apart; SEMANTICS section 2, Rooms. Metres."""

    cell_m: float = 0.05
    max_object_m2: float = 4.0
    """Plan hulls of smaller objects count as floor, since it lies unseen under furniture."""
    close_floor_m: float = 0.30
    min_wall_extent_m: float = 0.3
    wall_from_m: float = 0.3
    wall_to_m: float = 2.0
    """A cell is wall where the walls' samples between these heights above the floor reach over the extent."""
    close_wall_m: float = 0.20
    open_m: float = 0.10
    min_area_m2: float = 1.0
    stand_m: float = 0.30
    """A point so far from a room may be in it: somebody beside a wall, whose cells are no room (own)."""


SETTINGS = RoomSettings()


@dataclass(frozen=True, eq=False)
class Room:
    """A connected part of the floor plan.

    Attributes:
        polygon: shapely Polygon or MultiPolygon on the floor plan, in world, made of cells of 0.05.
        center_in_world: (2,) its centroid.
        area_m2: its area.
    """

    polygon: BaseGeometry
    center_in_world: Array
    area_m2: float


def rooms_of(objects: Mapping[int, SceneObject]) -> tuple[Room, ...]:
    """Rooms, the largest first; none where no floor is labelled.

    The grid's middle is the middle of the floor's box, so that rooms turn with the scene by quarter turns.
    """
    floors = [o for o in objects.values() if "floor" in o.traits]
    if not floors:
        return ()
    floor_points = np.concatenate([_samples(o) for o in floors])
    floor_z = float(np.median(floor_points[:, 2]))
    grid = _Grid.around(floor_points)

    floor = grid.cells(floor_points[:, :2])
    for item in objects.values():
        if not item.is_structure and shapely.area(item.footprint) < SETTINGS.max_object_m2:
            floor |= grid.inside(item.footprint)
    floor = binary_fill_holes(_closed(floor, SETTINGS.close_floor_m))

    uprights = [o for o in objects.values() if o.is_structure and not o.traits & {"floor", "door"}]
    walls = np.concatenate([_samples(o) for o in uprights]) if uprights else np.zeros((0, 3))
    above = walls[:, 2] - floor_z
    walls = walls[(above >= SETTINGS.wall_from_m) & (above <= SETTINGS.wall_to_m)]
    blocked = _closed(grid.extent_m(walls) > SETTINGS.min_wall_extent_m, SETTINGS.close_wall_m)
    for item in objects.values():
        if "door" in item.traits:
            blocked |= grid.inside(item.footprint)

    free = _opened(floor & ~blocked, SETTINGS.open_m)
    parts, count = label(free)
    rooms = [grid.room(parts == number) for number in range(1, count + 1)]
    large = [room for room in rooms if room.area_m2 > SETTINGS.min_area_m2]
    return tuple(sorted(large, key=lambda room: (-room.area_m2, *room.center_in_world.tolist())))


def room_of(rooms: tuple[Room, ...], item: SceneObject) -> Room | None:
    """The room that holds most of an object's plan; None where no room holds any of it."""
    if not rooms:
        return None
    plan = item.footprint if shapely.area(item.footprint) > 0.0 else shapely.buffer(item.footprint, SETTINGS.cell_m)
    shares = [float(shapely.area(shapely.intersection(plan, room.polygon))) for room in rooms]
    best = int(np.argmax(shares))
    return rooms[best] if shares[best] > 0.0 else None


def room_at(rooms: tuple[Room, ...], point_in_world: ArrayLike) -> Room | None:
    """The nearest room of a point (2,) or (3,), seen from above; None where it is farther than 0.30 from all."""
    point = shapely.Point(np.asarray(point_in_world, dtype=np.float64)[:2])
    near = [float(shapely.distance(point, room.polygon)) for room in rooms]
    return rooms[int(np.argmin(near))] if near and min(near) <= SETTINGS.stand_m else None


@dataclass(frozen=True, eq=False)
class _Grid:
    """Cells on the plan: ``corner`` (2,) is the lowest corner of cell (0, 0)."""

    corner: Array
    shape: tuple[int, int]

    @classmethod
    def around(cls, points: Array) -> _Grid:
        low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
        margin = SETTINGS.close_floor_m + 3 * SETTINGS.cell_m  # so that closing does not meet the border
        half = np.ceil(((high - low) / 2.0 + margin) / SETTINGS.cell_m).astype(int)
        return cls((low + high) / 2.0 - half * SETTINGS.cell_m, (2 * int(half[0]), 2 * int(half[1])))

    def _numbers(self, plan: Array) -> tuple[NDArray[np.int64], Mask]:
        """Cell numbers of those points (n, 2) that are on the grid, and which these are."""
        cells = np.floor((plan - self.corner) / SETTINGS.cell_m).astype(np.int64)
        on_grid: Mask = np.logical_and.reduce((cells >= 0) & (cells < self.shape), axis=1)
        return cells[on_grid, 0] * self.shape[1] + cells[on_grid, 1], on_grid

    def cells(self, plan: Array) -> Mask:
        """Cells that hold one of the points (n, 2)."""
        mask = np.zeros(self.shape, dtype=bool)
        mask.ravel()[self._numbers(plan)[0]] = True
        return mask

    def extent_m(self, points: Array) -> Array:
        """Per cell, from its lowest to its highest point (n, 3); 0 where it has none."""
        numbers, on_grid = self._numbers(points[:, :2])
        low, high = np.full(self.shape, np.inf), np.full(self.shape, -np.inf)
        np.minimum.at(low.ravel(), numbers, points[on_grid, 2])
        np.maximum.at(high.ravel(), numbers, points[on_grid, 2])
        return np.where(np.isfinite(low), high - low, 0.0)

    def inside(self, plan: BaseGeometry) -> Mask:
        """Cells whose middle is inside a plan hull."""
        mask = np.zeros(self.shape, dtype=bool)
        if shapely.is_empty(plan):
            return mask
        bounds = (np.asarray(shapely.bounds(plan)).reshape(2, 2) - self.corner) / SETTINGS.cell_m
        (i0, j0), (i1, j1) = np.clip([np.floor(bounds[0]), np.ceil(bounds[1])], 0, self.shape).astype(int).tolist()
        x = self.corner[0] + (np.arange(i0, i1) + 0.5) * SETTINGS.cell_m
        y = self.corner[1] + (np.arange(j0, j1) + 0.5) * SETTINGS.cell_m
        shapely.prepare(plan)
        mask[i0:i1, j0:j1] = shapely.contains_xy(plan, *np.meshgrid(x, y, indexing="ij"))
        return mask

    def room(self, mask: Mask) -> Room:
        """The plan of a mask: its rows' runs of cells, joined."""
        edges = np.diff(np.pad(mask.astype(np.int8), ((0, 0), (1, 1))), axis=1)
        row, start = np.nonzero(edges == 1)
        _, end = np.nonzero(edges == -1)
        low = self.corner + np.stack([row, start], axis=1) * SETTINGS.cell_m
        high = self.corner + np.stack([row + 1, end], axis=1) * SETTINGS.cell_m
        polygon = shapely.union_all(shapely.box(low[:, 0], low[:, 1], high[:, 0], high[:, 1]))
        middle = np.argwhere(mask).mean(axis=0) + 0.5
        return Room(polygon, self.corner + middle * SETTINGS.cell_m, float(mask.sum() * SETTINGS.cell_m**2))


def _samples(item: SceneObject) -> Array:
    return sample_faces(item.vertices_in_world, item.shape.faces, spacing_m=SETTINGS.cell_m / 2.0).points


def _grown(mask: Mask, by_m: float) -> Mask:
    if not mask.any():
        return mask
    return distance_transform_edt(~mask) * SETTINGS.cell_m <= by_m + 1e-9


def _shrunk(mask: Mask, by_m: float) -> Mask:
    return ~_grown(~mask, by_m)


def _closed(mask: Mask, by_m: float) -> Mask:
    return _shrunk(_grown(mask, by_m), by_m)


def _opened(mask: Mask, by_m: float) -> Mask:
    return _grown(_shrunk(mask, by_m), by_m) & mask
