"""Which views show the same surface: SEMANTICS section 7, "Links".

Points of one view, from its depth, land in another at the depth seen there. Depth is the sensor's where it has a
reading, else the mesh's; what each pixel shows, and how much is visible of an object, is the mesh's (masks 640 wide).
A point does not land in a view from behind: the two sides of a wall or of a closed door are within 0.10 of each other,
and are not one surface (own). Each view is cast once, and only numbers are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacecast.frames import Array
from spacecast.scan import View
from spacecast.scene import Scene
from spacecast.sight import Camera, Sight
from spacecast.sight.cameras import camera_of
from spacecast.sight.sight import MASK_WIDTH_PX
from spacecast.views.names import SETTINGS as NAME_SETTINGS
from spacecast.views.names import scaled_px


@dataclass(frozen=True)
class LinkSettings:
    """When two views are neighbours in a chain; SEMANTICS section 7."""

    step_px: int = 8
    """Points of a view are this far apart, at a width of 640."""
    tolerance_m: float = 0.10
    """A point lands where the depth seen differs from its own by less than this, or than the share below."""
    tolerance_share: float = 0.02
    """Of the depth seen there."""
    min_share: float = 0.20
    """Least share of a view's seen points that land in the other, both ways."""
    min_object_share: float = 0.03
    """Least share of a view's points that land and are on labelled objects other than floor, wall, ceiling."""
    slope_px: int = 3
    """How the surface lies at a point is read from the mesh's depth this far beside it, on the smoother side (own)."""
    tile_points: int = 8
    """Points are held against a picture in tiles of so many squared, most of which lie beside it as a whole (own)."""


SETTINGS = LinkSettings()

_ROUNDING_M = 1e-3
"""Points are float32, and a ball around them is so much larger."""

_BARE = frozenset({"floor", "wall", "ceiling"})
"""Traits of what does not tell one place of a room from another."""


@dataclass(frozen=True, eq=False)
class Links:
    """What the views of a pool share, and what each of them shows.

    Attributes:
        names: of the views, in capture order.
        shares: (n, n) share of view i's seen points that land in view j at the depth seen there.
        object_shares: (n, n) the same for points on labelled objects other than floor, wall and ceiling, as a share of
            all points of view i, seen or not.
        visible_ids: by view, every object (structure too) that is the first thing hit in at least one pixel, V > 0.
        named_ids: by view, those with V of at least 16 px at 640x480: who could be meant by a name.
    """

    names: tuple[str, ...]
    shares: Array
    object_shares: Array
    visible_ids: Mapping[str, frozenset[int]]
    named_ids: Mapping[str, frozenset[int]]

    def __post_init__(self) -> None:
        both = np.minimum(self.shares, self.shares.T)
        objects = np.minimum(self.object_shares, self.object_shares.T)
        strengths = np.where((both >= SETTINGS.min_share) & (objects >= SETTINGS.min_object_share), both, 0.0)
        np.fill_diagonal(strengths, 0.0)
        for array in (self.shares, self.object_shares, strengths):
            array.setflags(write=False)
        object.__setattr__(self, "_strengths", strengths)
        object.__setattr__(self, "_index", {name: i for i, name in enumerate(self.names)})

    @property
    def strengths(self) -> Array:
        """(n, n) the smaller of the two shares of linked views, 0 where they are not linked; symmetric."""
        strengths: Array = self.__dict__["_strengths"]
        return strengths

    def index(self, name: str) -> int:
        """Where a view is in ``names``.

        Raises:
            KeyError: it is not in the pool.
        """
        index: dict[str, int] = self.__dict__["_index"]
        return index[name]

    def linked(self, one: int | str, other: int | str) -> bool:
        """True if two views (numbers in ``names``, or names) share at least 0.20 of what is seen, and 0.03 on objects,
        both ways. ``linked(a, b) == linked(b, a)``; no view is linked to itself."""
        i, j = (v if isinstance(v, int) else self.index(v) for v in (one, other))
        return bool(self.strengths[i, j] > 0.0)

    @classmethod
    def of(cls, views: Sequence[View], sight: Sight, *, threads: int = 0) -> Links:
        """Cast every view once and compare all pairs.

        Args:
            views: in capture order, names unique.
            sight: of the scene as scanned.
            threads: of the casts; 0 for all cores, 1 in build workers.
        """
        countable = _countable(sight.scene)
        shown = [_show(view, sight, countable, threads) for view in views]
        shares, object_shares = _shares(shown)
        names = tuple(view.name for view in views)
        return cls(
            names,
            shares,
            object_shares,
            MappingProxyType({name: s.visible_ids for name, s in zip(names, shown, strict=True)}),
            MappingProxyType({name: s.named_ids for name, s in zip(names, shown, strict=True)}),
        )


class _Shown(NamedTuple):
    camera: Camera
    depth: NDArray[np.float32]
    """(H, W) seen depth, metres along the optical axis; 0 where nothing is seen."""
    points_in_world: NDArray[np.float32]
    """(m, 3) seen points of the grid."""
    on_object: NDArray[np.bool_]
    """(m,) on a labelled object other than floor, wall, ceiling."""
    planes_in_world: NDArray[np.float32]
    """(m, 4) the surface at each point: p is on this camera's side where planes[:3] @ p < planes[3]."""
    tiles: NDArray[np.intp]
    """(m,) rising: the tile of the picture that each point lies in."""
    grid_points: int
    visible_ids: frozenset[int]
    named_ids: frozenset[int]


def _countable(scene: Scene) -> NDArray[np.int32]:
    """Ids of labelled objects other than floor, wall and ceiling, sorted; windows and doors are among them."""
    return np.array([i for i, o in sorted(scene.objects.items()) if not o.traits & _BARE], dtype=np.int32)


def _show(view: View, sight: Sight, countable: NDArray[np.int32], threads: int) -> _Shown:
    camera = camera_of(view).scaled_to_width(MASK_WIDTH_PX)
    width, height = camera.intrinsics.width, camera.intrinsics.height
    image = sight.mask_image(view, threads=threads)
    mesh = np.where(np.isfinite(image.depth), image.depth, np.float32(0.0))
    sensor = sensor_depth(view, camera)
    depth = mesh if sensor is None else np.where(sensor > 0.0, sensor, mesh)
    found, counts = np.unique(image.ids, return_counts=True)
    visible = {i: n for i, n in zip(found.tolist(), counts.tolist(), strict=True) if i >= 0}
    least = ceil(scaled_px(NAME_SETTINGS.min_visible_px, width, height))

    rows, columns, tiles = _grid(width, height)
    seen = depth[rows, columns] > 0.0
    rows_seen, columns_seen = rows[seen], columns[seen]
    z = depth[rows_seen, columns_seen].astype(np.float64)
    directions = camera.intrinsics.rays(np.stack([columns_seen, rows_seen], axis=1))
    # A pixel's label and slope are the mesh's: they say nothing of what the sensor saw elsewhere along the ray.
    on_mesh = np.abs(z - mesh[rows_seen, columns_seen]) < _tolerance_m(z)
    planes = _planes(mesh, camera, rows_seen, columns_seen, directions)
    planes[~on_mesh] = (0.0, 0.0, 0.0, 1.0)
    pose = camera.world_from_camera
    normals = pose.turn(planes[:, :3])
    return _Shown(
        camera,
        depth,
        (pose @ (directions * z[:, None])).astype(np.float32),
        on_mesh & np.isin(image.ids[rows_seen, columns_seen], countable),
        np.column_stack([normals, planes[:, 3] + normals @ pose.translation]).astype(np.float32),
        tiles[seen],
        len(rows),
        frozenset(visible),
        frozenset(i for i, n in visible.items() if n >= least),
    )


def _grid(width: int, height: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Rows, columns and tiles (g,) of the points of a picture, tile after tile."""
    step, side = SETTINGS.step_px, SETTINGS.tile_points * SETTINGS.step_px
    rows, columns = np.mgrid[step // 2 : height : step, step // 2 : width : step].reshape(2, -1)
    tiles = rows // side * (width // side + 1) + columns // side
    order = np.argsort(tiles, kind="stable")
    return rows[order], columns[order], tiles[order]


def _planes(
    mesh: NDArray[np.float32],
    camera: Camera,
    rows: NDArray[np.intp],
    columns: NDArray[np.intp],
    directions: Array,
) -> Array:
    """(m, 4) planes through what is seen in some pixels, in the camera's frame; the camera is on the side where
    planes[:3] @ p < planes[3].

    On a plane the inverse of depth is linear in the picture: 1 = z (a x + b y + c) with directions (x, y, 1), so that
    (a, b, c) is read from it and from its slopes; of the two sides of a pixel the one with the smaller slope, since the
    other may be beyond an edge.
    """
    height, width = mesh.shape
    with np.errstate(divide="ignore"):
        inverse = np.where(mesh > 0.0, 1.0 / mesh.astype(np.float64), 0.0)
    here, slopes = inverse[rows, columns], []
    for dy, dx, focal in ((0, SETTINGS.slope_px, camera.intrinsics.fx), (SETTINGS.slope_px, 0, camera.intrinsics.fy)):
        after = inverse[np.minimum(rows + dy, height - 1), np.minimum(columns + dx, width - 1)] - here
        before = here - inverse[np.maximum(rows - dy, 0), np.maximum(columns - dx, 0)]
        # At the border of the picture there is one side only.
        inside_after, inside_before = rows + dy < height, rows - dy >= 0
        inside_after, inside_before = inside_after & (columns + dx < width), inside_before & (columns - dx >= 0)
        smoother = np.where(inside_before & (~inside_after | (np.abs(before) < np.abs(after))), before, after)
        slopes.append(smoother * focal / SETTINGS.slope_px)
    a, b = slopes
    c = here - a * directions[:, 0] - b * directions[:, 1]
    return np.column_stack([a, b, c, np.ones(len(here))])


def sensor_depth(view: View, camera: Camera) -> NDArray[np.float32] | None:
    """(H, W) the sensor's depth at the pixels of a camera in the place of a view, nearest reading, 0 where it has none;
    None where the view has no sensor depth."""
    if view.load_depth is None or view.depth_intrinsics is None:
        return None
    stored, source, target = view.load_depth(), view.depth_intrinsics, camera.intrinsics
    columns = np.rint((np.arange(target.width) - target.cx) / target.fx * source.fx + source.cx).astype(int)
    rows = np.rint((np.arange(target.height) - target.cy) / target.fy * source.fy + source.cy).astype(int)
    rows_in, columns_in = (rows >= 0) & (rows < stored.shape[0]), (columns >= 0) & (columns < stored.shape[1])
    depth = np.zeros((target.height, target.width), dtype=np.float32)
    depth[np.ix_(rows_in, columns_in)] = stored[np.ix_(rows[rows_in], columns[columns_in])]
    return depth


def _tolerance_m(depth: NDArray[np.floating]) -> NDArray[np.floating]:
    return np.maximum(SETTINGS.tolerance_m, SETTINGS.tolerance_share * depth)


def _shares(shown: Sequence[_Shown]) -> tuple[Array, Array]:
    """(n, n) shares and shares on objects, from each view (row) in each other (column)."""
    count = len(shown)
    if not count:
        return np.zeros((0, 0)), np.zeros((0, 0))
    points = np.concatenate([s.points_in_world for s in shown])
    planes = np.concatenate([s.planes_in_world for s in shown])
    owners = np.repeat(np.arange(count), [len(s.points_in_world) for s in shown])
    on_object = np.concatenate([s.on_object for s in shown])
    tiles = _Tiles.of(points, owners, np.concatenate([s.tiles for s in shown]))
    landed, landed_on_object = np.zeros((count, count)), np.zeros((count, count))
    for j, target in enumerate(shown):
        numbers = tiles.near(target.camera)
        numbers = numbers[_land(points[numbers], planes[numbers], target)]
        landed[:, j] = np.bincount(owners[numbers], minlength=count)
        landed_on_object[:, j] = np.bincount(owners[numbers[on_object[numbers]]], minlength=count)
    seen = np.array([max(1, len(s.points_in_world)) for s in shown])
    grid = np.array([s.grid_points for s in shown])
    return landed / seen[:, None], landed_on_object / grid[:, None]


class _Tiles(NamedTuple):
    """Balls around the points of each tile of each view."""

    starts: NDArray[np.intp]
    """(t + 1,) number of the first point of each tile, and of all points."""
    centers_in_world: Array
    """(t, 3)"""
    radii_m: Array
    """(t,)"""

    @classmethod
    def of(cls, points: NDArray[np.float32], owners: NDArray[np.intp], tiles: NDArray[np.intp]) -> _Tiles:
        if not len(points):
            return cls(np.zeros(1, np.intp), np.zeros((0, 3)), np.zeros(0))
        first = np.flatnonzero(np.diff(owners, prepend=-1) | np.diff(tiles, prepend=-1))
        low, high = (extreme.reduceat(points, first).astype(np.float64) for extreme in (np.minimum, np.maximum))
        radii = np.linalg.norm(high - low, axis=1) / 2.0
        return cls(np.append(first, len(points)), (low + high) / 2.0, radii + _ROUNDING_M)

    def near(self, camera: Camera) -> NDArray[np.intp]:
        """Numbers of the points whose tile is not as a whole behind a camera or beside its picture."""
        k, pose = camera.intrinsics, camera.world_from_camera
        # Inward sides of the pyramid that the picture's border draws, in the camera's frame.
        sides = np.array(
            [
                (0.0, 0.0, 1.0),
                (k.fx, 0.0, k.cx + 1.0),
                (-k.fx, 0.0, k.width - k.cx),
                (0.0, k.fy, k.cy + 1.0),
                (0.0, -k.fy, k.height - k.cy),
            ]
        )
        normals = pose.turn(sides / np.linalg.norm(sides, axis=1, keepdims=True))
        inside = (self.centers_in_world - pose.translation) @ normals.T > -self.radii_m[:, None]
        kept = np.flatnonzero(inside.all(axis=1))
        counts = self.starts[kept + 1] - self.starts[kept]
        offsets = np.cumsum(counts) - counts
        return np.arange(counts.sum()) + np.repeat(self.starts[kept] - offsets, counts)


def _land(
    points_in_world: NDArray[np.float32], planes_in_world: NDArray[np.float32], target: _Shown
) -> NDArray[np.bool_]:
    """(m,) which points a view sees: in its picture, at the depth seen there, and not from behind."""
    k, pose = target.camera.intrinsics, target.camera.world_from_camera
    x, y, z = ((points_in_world - pose.translation.astype(np.float32)) @ pose.rotation.astype(np.float32)).T
    ahead = z > 0.0
    z = np.where(ahead, z, np.float32(1.0))
    columns = np.rint(x * np.float32(k.fx) / z + np.float32(k.cx))
    rows = np.rint(y * np.float32(k.fy) / z + np.float32(k.cy))
    inside = ahead & (columns >= 0) & (columns < k.width) & (rows >= 0) & (rows < k.height)
    seen = np.zeros(len(z), np.float32)
    seen[inside] = target.depth[rows[inside].astype(np.intp), columns[inside].astype(np.intp)]
    in_front = planes_in_world[:, :3] @ pose.translation.astype(np.float32) < planes_in_world[:, 3]
    return in_front & (seen > 0.0) & (np.abs(z - seen) < _tolerance_m(seen))
