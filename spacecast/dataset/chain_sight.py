"""Whether a chain of pictures shows what it has to, measured again by rays of its own; SEMANTICS 7.

Points of a view, on a grid of its own, are carried into the next view by plain matrices; what is seen there is read
from the sensor, and where it has no reading a ray is cast through the very place where the point lands. Along a wall
that the next camera looks along, depth changes by as much within one pixel as points may be off: what fails there is
looked at once more with rays through the middle of the pixel in which the point lands, and has to fail so too. Nothing
of ``spacecast.views`` is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacecast.dataset.chain_facts import Groups
from spacecast.dataset.shadows import Shadows
from spacecast.scan import Scan

Array = NDArray[np.float64]
Facts = Mapping[str, Any]
Problem = tuple[str, str]


@dataclass(frozen=True)
class ChainSightSettings:
    """Bounds of SEMANTICS 7, stated a second time, and how far the second measure may be from the first."""

    step_px: int = 8
    """Points of a view are so far apart, at 640 wide."""
    landing_m: float = 0.10
    """A point lands where what is seen is nearer to its depth than this ..."""
    landing_share: float = 0.02
    """... or than this share of the depth seen there."""
    min_share: float = 0.20
    """Least share of the seen surface that consecutive views have in common, each way."""
    min_object_share: float = 0.03
    """Least share of the view that is so on labelled objects other than floor, wall, ceiling."""
    share: float = 0.03
    """Between two shares of surface, whose points lie on different grids (measured on a demo scene: up to 0.024)."""
    object_share: float = 0.01
    """The same for shares of the view that are small."""
    few_px: int = 4
    """Pixels that two ways of casting may count differently where an object should not show."""


SETTINGS = ChainSightSettings()
BARE = frozenset({"floor", "wall", "ceiling"})
"""What does not tell one place of a room from another, by trait or label."""


class Overlap(NamedTuple):
    """What a view shows of what another shows: shares of its seen points, and, on objects, of all its points."""

    share: float
    object_share: float


class _Points(NamedTuple):
    """The grid of a view: seen points (n, 3) in world, which of them are on objects, and how many there are in all."""

    in_world: Array
    normals: Array
    """(n, 3) of the surface, towards the camera; 0 where the sensor saw another than the mesh."""
    on_object: NDArray[np.bool_]
    in_all: int


class ChainSight:
    """Looks at chains of views of one scan; what was measured once is kept."""

    def __init__(self, scan: Scan, now: Shadows) -> None:
        """``now`` casts at the scan as it is."""
        self.scan, self._now = scan, now
        bare = [i for i, item in scan.instances.items() if item.traits & BARE or item.label in BARE]
        self._bare = np.array([-2, -1, *sorted(bare)], dtype=np.int64)
        self._points: dict[str, _Points] = {}
        self._overlaps: dict[tuple[str, str, bool], Overlap] = {}

    def problems(self, facts: Facts, groups: Groups | None) -> Iterator[Problem]:
        """What the views of a chain show and should not, and where one does not lead to the next."""
        names = [str(view["name"]) for view in facts["views"]]
        if groups is not None:
            yield from self._shown_problems(names, groups)
        found = list(self._link_problems(names, facts["margins"].get("weakest_link_share")))
        if found and list(self._link_problems(names, facts["margins"].get("weakest_link_share"), in_pixels=True)):
            yield from found

    def overlap(self, one: str, other: str, *, in_pixels: bool = False) -> Overlap:
        """How much of what the first view shows is seen in the other, where a point lands or in the pixel there."""
        key = (one, other, in_pixels)
        if key not in self._overlaps:
            self._overlaps[key] = self._measured(*key)
        return self._overlaps[key]

    def _shown_problems(self, names: list[str], groups: Groups) -> Iterator[Problem]:
        for main, name, others in (("A", names[0], groups.b), ("B", names[-1], groups.a)):
            for i in self._visible(name, others):
                yield "chain", f"main view {main}, {name}, shows object {i}, which belongs to the other"
        for name in names[1:-1]:
            one, other = (self._visible(name, ids) for ids in groups)
            if one and other:
                yield "chain", f"bridge {name} shows {one} and {other}, objects of both main views"

    def _visible(self, name: str, ids: frozenset[int]) -> list[int]:
        counts = self._now.visible_px(name)
        return [i for i in sorted(ids) if counts.get(i, 0) > SETTINGS.few_px]

    def _link_problems(self, names: list[str], stored: float | None, *, in_pixels: bool = False) -> Iterator[Problem]:
        weakest = 1.0
        for one, other in pairwise(names):
            both = [self.overlap(*pair, in_pixels=in_pixels) for pair in ((one, other), (other, one))]
            share, object_share = (min(found) for found in zip(*both, strict=True))
            weakest = min(weakest, share)
            if share < SETTINGS.min_share - SETTINGS.share:
                yield "chain", f"{one} and {other} have {share:.3f} of their surface in common"
            if object_share < SETTINGS.min_object_share - SETTINGS.object_share:
                yield "chain", f"{one} and {other} have {object_share:.4f} of the view in common on objects"
        if stored is not None and abs(float(stored) - weakest) > SETTINGS.share:
            yield "margins", f"weakest_link_share {stored}, measured again {weakest:.4f}"

    def _measured(self, one: str, other: str, in_pixels: bool) -> Overlap:
        points = self._points_of(one)
        depth, seen = self._landed(points.in_world, other, in_pixels)
        lands = np.abs(depth - seen) < np.maximum(SETTINGS.landing_m, SETTINGS.landing_share * seen)
        # The two sides of a door are nearer to one another than that, and are not one surface (own).
        lands &= (points.normals * (self._now.frame(other)[0][:3, 3] - points.in_world)).sum(axis=1) >= 0.0
        share = float(lands.sum()) / max(1, len(points.in_world))
        return Overlap(share, float((lands & points.on_object).sum()) / points.in_all)

    def _points_of(self, name: str) -> _Points:
        if name not in self._points:
            matrix, pixels, (height, width) = self._now.frame(name)
            step = SETTINGS.step_px
            columns, rows = (
                axis.ravel() for axis in np.meshgrid(np.arange(0, width, step) + 3.0, np.arange(0, height, step) + 3.0)
            )
            inside = (columns < width) & (rows < height)
            columns, rows = columns[inside], rows[inside]
            ids, mesh = self._now.first_hits(name, columns, rows)
            sensor = self._now.sensor_at(name, columns, rows)
            depth = np.where(sensor > 0.0, sensor, mesh)
            seen = np.isfinite(depth)
            slack = np.maximum(SETTINGS.landing_m, SETTINGS.landing_share * depth)
            with np.errstate(invalid="ignore"):
                is_mesh = np.abs(depth - mesh) < slack
            labelled = ~np.isin(ids, self._bare) & is_mesh
            normals = self._now.normals_at(name, columns, rows) * is_mesh[:, None]
            x, y = (columns - pixels[2]) / pixels[0], (rows - pixels[3]) / pixels[1]
            in_camera = np.stack([x, y, np.ones_like(x)], axis=1)[seen] * depth[seen, None]
            in_world = in_camera @ matrix[:3, :3].T + matrix[:3, 3]
            self._points[name] = _Points(in_world, normals[seen], labelled[seen], len(columns))
        return self._points[name]

    def _landed(self, in_world: Array, name: str, in_pixels: bool) -> tuple[Array, Array]:
        """Depths (n,) of points in a view, and what is seen where they land; inf and 0 beside the picture."""
        matrix, (fx, fy, cx, cy), (height, width) = self._now.frame(name)
        x, y, z = ((in_world - matrix[:3, 3]) @ matrix[:3, :3]).T
        depth, seen = np.full(len(z), np.inf), np.zeros(len(z))
        ahead = np.flatnonzero(z > 0.0)
        columns, rows = fx * x[ahead] / z[ahead] + cx, fy * y[ahead] / z[ahead] + cy
        inside = (columns >= -0.5) & (columns < width - 0.5) & (rows >= -0.5) & (rows < height - 0.5)
        ahead, columns, rows = ahead[inside], columns[inside], rows[inside]
        if in_pixels:
            columns, rows = np.rint(columns), np.rint(rows)
        sensor = self._now.sensor_at(name, columns, rows)
        blind = np.flatnonzero(~(sensor > 0.0))
        found = sensor.copy()
        _, mesh = self._now.first_hits(name, columns[blind], rows[blind])
        found[blind] = np.where(np.isfinite(mesh), mesh, 0.0)
        depth[ahead], seen[ahead] = z[ahead], found
        return depth, seen
