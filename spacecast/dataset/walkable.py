"""Where furniture can stand, worked out a second time from the raw scan; SEMANTICS 2, Rooms.

The rule is that of SEMANTICS on the grid that it names; the code, and the samples that it rests on, are not those of
``scene/rooms.py``. What the two may differ by is a rim, so that a check allows a margin in metres and not in shares:
of something thin that stands against a wall, a rim is most of the plan.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy import ndimage
from shapely.geometry.base import BaseGeometry

from spacecast.scan import Scan

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class WalkableSettings:
    """SEMANTICS 2, Rooms; metres."""

    cell_m: float = 0.05
    sample_m: float = 0.025
    """Samples of a face are no farther apart (own)."""
    furniture_m2: float = 4.0
    """Plan hulls below this count as floor."""
    floor_gap_m: float = 0.30
    """Floor is closed by this."""
    wall_extent_m: float = 0.3
    wall_from_m: float = 0.3
    wall_to_m: float = 2.0
    wall_gap_m: float = 0.20
    """Walls are closed by this."""
    narrow_m: float = 0.10
    """What is free is opened by this."""
    room_m2: float = 1.0
    same_room: float = 0.5
    """A plan stands in the rooms that hold at least this share of what the one that holds most of it does (own)."""


SETTINGS = WalkableSettings()


class Walkable:
    """The rooms of a scan, as cells on the floor plan."""

    def __init__(self, scan: Scan, plans: Iterable[BaseGeometry]) -> None:
        """Work the rooms out.

        Args:
            scan: vertices in world coordinates.
            plans: convex hulls on the floor plan of all that is no structure.
        """
        kinds = {i: item.traits for i, item in sorted(scan.instances.items()) if item.is_structure}
        floor = _samples(scan, [i for i, traits in kinds.items() if "floor" in traits])
        self.is_known = len(floor) > 0
        if not self.is_known:
            return
        half = np.ceil(np.ptp(floor[:, :2], axis=0) / 2.0 / SETTINGS.cell_m + 12).astype(int)  # room to close in
        self._low = (floor[:, :2].min(axis=0) + floor[:, :2].max(axis=0)) / 2.0 - half * SETTINGS.cell_m
        self._shape = (2 * int(half[0]), 2 * int(half[1]))
        self.rooms = self._rooms(scan, floor, kinds, [plan for plan in plans if plan.area < SETTINGS.furniture_m2])

    def _rooms(
        self, scan: Scan, floor: Array, kinds: dict[int, frozenset[str]], furniture: list[BaseGeometry]
    ) -> list[Mask]:
        ground = self._counted(floor[:, :2]) > 0
        for plan in furniture:
            ground |= self._covered(plan)
        ground = ndimage.binary_fill_holes(_eroded(_dilated(ground, SETTINGS.floor_gap_m), SETTINGS.floor_gap_m))
        walls = _samples(scan, [i for i, traits in kinds.items() if not traits & {"floor", "door"}])
        above = walls[:, 2] - np.median(floor[:, 2])
        walls = walls[(above >= SETTINGS.wall_from_m) & (above <= SETTINGS.wall_to_m)]
        wall = self._heights(walls) > SETTINGS.wall_extent_m
        wall = _eroded(_dilated(wall, SETTINGS.wall_gap_m), SETTINGS.wall_gap_m)
        for i, traits in kinds.items():
            if "door" in traits:
                points = scan.vertices[scan.instance_ids == i][:, :2].astype(np.float64)
                wall |= self._covered(shapely.convex_hull(shapely.multipoints(points)))
        free = ground & ~wall
        free &= _dilated(_eroded(free, SETTINGS.narrow_m), SETTINGS.narrow_m)
        parts, count = ndimage.label(free)
        sizes_m2 = ndimage.sum_labels(free, parts, np.arange(1, count + 1)) * SETTINGS.cell_m**2
        return [parts == number + 1 for number in np.flatnonzero(sizes_m2 > SETTINGS.room_m2)]

    def room_of(self, plan: BaseGeometry) -> Mask | None:
        """Cells of the room in which a plan stands, or of those that hold about as much of it; None if in none.

        Of what stands in none, a room's rim may hold some.
        """
        held = np.array([self.held_m2(plan, room) for room in self.rooms])
        if not held.any():
            held = np.array([self.held_m2(plan, with_rim(room)) for room in self.rooms])
        if not held.any():
            return None
        rooms = [room for room, m2 in zip(self.rooms, held, strict=True) if m2 >= SETTINGS.same_room * held.max()]
        return np.logical_or.reduce(rooms)

    def held_m2(self, plan: BaseGeometry, cells: Mask) -> float:
        """The area of what some cells hold of a plan."""
        window = self._window(plan)
        if window is None:
            return 0.0
        (i, j), low = window
        rows, columns = np.nonzero(cells[i, j])
        x, y = low[0] + rows * SETTINGS.cell_m, low[1] + columns * SETTINGS.cell_m
        squares = shapely.box(x, y, x + SETTINGS.cell_m, y + SETTINGS.cell_m)
        shapely.prepare(plan)
        whole = shapely.contains_properly(plan, squares)
        rim_m2 = shapely.area(shapely.intersection(plan, squares[~whole])).sum()
        return float(whole.sum() * SETTINGS.cell_m**2 + rim_m2)

    # -- cells --------------------------------------------------------------------------------------------------------

    def _window(self, plan: BaseGeometry) -> tuple[tuple[slice, slice], Array] | None:
        """The cells that may meet a plan, and the lowest corner of the first; None where there are none."""
        if plan.is_empty:
            return None
        ends = (np.array(plan.bounds).reshape(2, 2) - self._low) / SETTINGS.cell_m
        (i, j), (k, m) = np.clip([np.floor(ends[0]), np.ceil(ends[1])], 0, self._shape).astype(int).tolist()
        if i >= k or j >= m:
            return None
        return (slice(i, k), slice(j, m)), self._low + np.array([i, j]) * SETTINGS.cell_m

    def _covered(self, plan: BaseGeometry) -> Mask:
        """Cells whose middle is in a plan."""
        mask = np.zeros(self._shape, dtype=bool)
        window = self._window(plan)
        if window is not None:
            (i, j), low = window
            rows, columns = np.indices((i.stop - i.start, j.stop - j.start))
            middles = low[:, None, None] + (np.stack([rows, columns]) + 0.5) * SETTINGS.cell_m
            mask[i, j] = shapely.contains_xy(plan, middles[0], middles[1])
        return mask

    def _placed(self, points: Array) -> tuple[NDArray[np.int64], Mask]:
        """Numbers of the cells of those points (n, 2) that are on the grid, and which are."""
        at = np.floor((points - self._low) / SETTINGS.cell_m).astype(np.int64)
        there = ((at >= 0) & (at < self._shape)).all(axis=1)
        return np.ravel_multi_index((at[there, 0], at[there, 1]), self._shape), there

    def _counted(self, points: Array) -> NDArray[np.int64]:
        numbers, _ = self._placed(points)
        return np.bincount(numbers, minlength=self._shape[0] * self._shape[1]).reshape(self._shape)

    def _heights(self, points: Array) -> Array:
        """How far the points (n, 3) of each cell reach in height."""
        numbers, there = self._placed(points[:, :2])
        order = np.lexsort((points[there, 2], numbers))
        numbers, z = numbers[order], points[there, 2][order]
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        heights = np.zeros(self._shape[0] * self._shape[1])
        heights[numbers[starts]] = z[np.append(starts[1:], len(z)) - 1] - z[starts] if len(z) else 0.0
        return heights.reshape(self._shape)


def with_rim(cells: Mask) -> Mask:
    """Cells, and those that touch one: what two ways to find a room may differ by, where a wall is on cells' border."""
    return np.asarray(ndimage.binary_dilation(cells, np.ones((3, 3), dtype=bool)), dtype=bool)


def _samples(scan: Scan, ids: list[int]) -> Array:
    """(n, 3) points on the faces of some instances, a lattice on each."""
    corners = scan.instance_ids[scan.faces]
    whole = (corners == corners[:, :1]).all(axis=1) & np.isin(corners[:, 0], ids)
    triangles = scan.vertices[scan.faces[whole]].astype(np.float64)
    if not len(triangles):
        return np.zeros((0, 3))
    longest = np.linalg.norm(triangles - np.roll(triangles, 1, axis=1), axis=2).max(axis=1)
    cuts = np.maximum(1, np.ceil(longest / SETTINGS.sample_m)).astype(int)
    found = []
    for n in np.unique(cuts).tolist():
        i, j = np.divmod(np.arange((n + 1) ** 2), n + 1)
        weights = np.stack([i, j, n - i - j], axis=1)[i + j <= n] / n
        found.append(np.einsum("wk,tkx->twx", weights, triangles[cuts == n]).reshape(-1, 3))
    return np.concatenate(found)


def _dilated(mask: Mask, by_m: float) -> Mask:
    """Cells whose middle is within a distance of the middle of one."""
    reach = round(by_m / SETTINGS.cell_m)
    i, j = np.indices((2 * reach + 1, 2 * reach + 1)) - reach
    disc = i**2 + j**2 <= reach**2
    return np.asarray(ndimage.binary_dilation(mask, disc), dtype=bool)


def _eroded(mask: Mask, by_m: float) -> Mask:
    return ~_dilated(~mask, by_m)
