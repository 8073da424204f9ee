"""What hides what in one state of a scan, by brute force: the second measure of visibility.

Vertices of what moves are carried to where it goes, the mesh is put together anew by the face rule of SEMANTICS 2, and
one ray-casting scene over all of it says what is hit first; another over one object alone says what it would cover.
Masks and their opening are made here. Nothing of ``spacecast.scene``, ``spacecast.relations`` or the looks of
``spacecast.sight`` is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_opening
from scipy.spatial import ConvexHull, QhullError

from spacecast.dataset.recompute import Motion
from spacecast.scan import Scan
from spacecast.sight.rays import RayScene

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Numbers = NDArray[np.int64]
NOTHING = -2
"""Id where nothing is hit; -1 is unlabelled and mixed faces."""


@dataclass(frozen=True)
class ShadowSettings:
    """Numbers of SEMANTICS, head and section 3, stated a second time."""

    mask_width_px: int = 640
    """Width of masks; SEMANTICS, head."""
    tolerance_m: float = 1e-4
    """A target this close behind the first hit is the first thing hit; FAULTS, Geometry."""
    nearer_m: float = 0.05
    """What hides a target is nearer by more than this; SEMANTICS 3."""
    opening_px: int = 5
    """Side of the square that fits into what is hidden, at 640 wide; SEMANTICS 3."""
    beyond_step_px: int = 4
    """Step of the grid that counts pixels beyond the picture, as far as one picture to each side (own)."""
    max_sights: int = 24
    """Views of one state that are kept, the last used ones: 2.5 MB each (own)."""
    near_plane_m: float = 0.05
    """The window of what reaches nearer to the camera, or behind it, is the whole picture (own)."""
    sensor_nearer_m: float = 0.10
    """Sensor depth nearer by more than this ..."""
    sensor_nearer_share: float = 0.05
    """... and by more than this share is nearer; SEMANTICS 3."""


SETTINGS = ShadowSettings()


class Mesh(NamedTuple):
    """A state of a scan: ``vertices`` (V, 3) float32, ``faces`` (F, 3), and of each face the id of the object whose
    vertices all of its corners are, -1 where there is none."""

    vertices: NDArray[np.float32]
    faces: NDArray[np.int32]
    face_ids: NDArray[np.int64]

    def triangles_of(self, object_id: int) -> Array:
        """(n, 3, 3) corners of an object's faces."""
        return self.vertices[self.faces[self.face_ids == object_id]].astype(np.float64)


def mesh_of(scan: Scan, steps: Sequence[Motion] = (), *, hulls: bool = False) -> Mesh:
    """The mesh of a scan after some motions.

    A face belongs to an object if all three of its vertices do. Faces of what is removed go; mixed faces that touch
    what is moved or removed go too.

    Args:
        scan: as read.
        steps: one after another; what moves by itself is no part of the building.
        hulls: put in place of what moved its convex hull, object by object.
    """
    corners = scan.instance_ids[scan.faces].astype(np.int64)
    whole = (corners == corners[:, :1]).all(axis=1)
    face_ids = np.where(whole, corners[:, 0], -1)
    vertices = scan.vertices.astype(np.float64)
    loose = [i for i, instance in scan.instances.items() if not instance.is_structure]
    moved: set[int] = set()
    gone: set[int] = set()
    for motion in steps:
        going = sorted(i for i in loose if motion.takes(i) and i not in gone)
        rows = np.isin(scan.instance_ids, going)
        vertices[rows] = motion.of(vertices[rows])
        moved |= set(going)
        gone |= motion.removed
    touched = np.isin(corners, sorted(moved | gone)).any(axis=1)
    keep = np.where(whole, ~np.isin(face_ids, sorted(gone)), ~touched)
    mesh = Mesh(vertices.astype(np.float32), scan.faces[keep], face_ids[keep])
    return with_hulls(mesh, scan.instance_ids, sorted(moved - gone)) if hulls else mesh


def with_hulls(mesh: Mesh, vertex_ids: NDArray[np.int32], ids: Sequence[int]) -> Mesh:
    """A mesh in which some objects are their convex hulls; what lies in a plane stays as it is."""
    keep = np.ones(len(mesh.faces), dtype=bool)
    faces, face_ids = [], []
    for object_id in ids:
        numbers = np.flatnonzero(vertex_ids == object_id)
        try:
            hull = ConvexHull(mesh.vertices[numbers].astype(np.float64))
        except (QhullError, ValueError):
            continue
        keep &= mesh.face_ids != object_id
        faces.append(numbers[hull.simplices].astype(np.int32))
        face_ids.append(np.full(len(hull.simplices), object_id, dtype=np.int64))
    return Mesh(
        mesh.vertices,
        np.concatenate([mesh.faces[keep], *faces]).astype(np.int32),
        np.concatenate([mesh.face_ids[keep], *face_ids]),
    )


class Seen(NamedTuple):
    """An object in a view: pixels it covers alone, pixels seen, and shares of the first."""

    silhouette_px: int
    visible_px: int
    blocked: float
    opened: float
    opened_near: float
    unknown_share: float
    truncation: float


class Pair(NamedTuple):
    """One object as another hides it in a view: shares of its silhouette, but for ``hidden_by_other``."""

    silhouette_px: int
    opened: float
    hidden_by_other: float
    """Share of the opened hidden part where the other is the first hit; 0 where nothing is hidden."""
    covered_by_other: float
    """Share of the silhouette, opened, that the other would hide if there were nothing else."""
    unknown_share: float
    truncation: float


class _Sight(NamedTuple):
    """One view of the whole mesh: ids (H, W) and depth (H, W) of the first hit, and how it was cast."""

    ids: NDArray[np.int32]
    depth: NDArray[np.float32]
    matrix: Array
    """(4, 4) ``world_from_camera``."""
    pixels: Array
    """(fx, fy, cx, cy) of the mask."""

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the mask."""
        return int(self.ids.shape[0]), int(self.ids.shape[1])


class Shadows:
    """Casts rays at one state; what was cast last is kept."""

    def __init__(self, scan: Scan, mesh: Mesh, *, scanned: Shadows | None = None, threads: int = 0) -> None:
        """Prepare.

        Args:
            scan: for its views.
            mesh: of the state.
            scanned: the state that the sensor saw; None if it is this one.
            threads: of a cast; 0 for all cores.
        """
        self.scan, self.mesh, self._scanned, self._threads = scan, mesh, scanned, threads
        self._whole = RayScene(mesh.vertices, mesh.faces)
        self._alone: dict[int, tuple[RayScene, Array]] = {}
        self._sights: dict[str, _Sight] = {}
        self._visible: dict[str, dict[int, int]] = {}
        self._read: dict[str, NDArray[np.float32] | None] = {}
        self._looked_at: str | None = None
        self._depths: dict[tuple[str, int], NDArray[np.float32]] = {}
        self._seen: dict[tuple[str, int, frozenset[int]], Seen] = {}
        self._sensors: dict[str, NDArray[np.float64]] = {}
        self._nudge_px = (0.0, 0.0)

    def nudged(self, right_px: float, down_px: float) -> Shadows:
        """The same state, with every ray so far (of a mask's pixels) beside the middle of its pixel."""
        other = Shadows.__new__(Shadows)
        other.__dict__.update(self.__dict__, _nudge_px=(right_px, down_px), _looked_at=None)
        for name in ("_sights", "_visible", "_depths", "_seen", "_sensors"):
            setattr(other, name, {})
        return other

    def sight(self, name: str) -> _Sight:
        """The whole mesh from a view, with a mask of 640 pixels across; the last ones are kept."""
        if name in self._sights:
            self._sights[name] = self._sights.pop(name)  # the last one used, at the end
        else:
            self._sights[name] = self._cast(name)
            if len(self._sights) > SETTINGS.max_sights:
                del self._sights[next(iter(self._sights))]
        if name != self._looked_at:
            self._depths.clear()
            self._looked_at = name
        return self._sights[name]

    def _cast(self, name: str) -> _Sight:
        matrix, pixels, (height, width) = self.frame(name)
        ids, depth = self.first_hits(name, *_grid(range(width), range(height)))
        return _Sight(ids.astype(np.int32), depth, matrix, pixels)

    def frame(self, name: str) -> tuple[Array, Array, tuple[int, int]]:
        """Of a view's mask: ``world_from_camera`` (4, 4), (fx, fy, cx, cy), height and width."""
        view, width = self.scan.views[name], SETTINGS.mask_width_px
        own = view.intrinsics
        height = round(own.height * width / own.width)
        x, y = width / own.width, height / own.height
        right, down = self._nudge_px
        center = ((own.cx + 0.5) * x - 0.5 - right, (own.cy + 0.5) * y - 0.5 - down)
        pixels = np.array([own.fx * x, own.fy * y, *center])
        return np.asarray(view.world_from_camera.matrix), pixels, (height, width)

    def first_hits(self, name: str, columns: Array | Numbers, rows: Array | Numbers) -> tuple[Numbers, Any]:
        """Ids and depths (along the optical axis) of what is hit first through some places of a view's mask."""
        matrix, pixels, _ = self.frame(name)
        hits = self._whole.cast(matrix[:3, 3], _directions(pixels, columns, rows, matrix), threads=self._threads)
        return np.where(hits.face >= 0, self.mesh.face_ids[hits.face], NOTHING), hits.t

    def normals_at(self, name: str, columns: Array | Numbers, rows: Array | Numbers) -> Array:
        """(n, 3) normals, not of length 1, of the faces hit first, towards the camera; 0 where nothing is hit."""
        matrix, pixels, _ = self.frame(name)
        along = _directions(pixels, columns, rows, matrix)
        face = self._whole.cast(matrix[:3, 3], along, threads=self._threads).face
        corners = self.mesh.vertices[self.mesh.faces[np.maximum(face, 0)]].astype(np.float64)
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals *= -np.sign((normals * along).sum(axis=1, keepdims=True))
        return np.where(face[:, None] >= 0, normals, 0.0)

    def visible_px(self, name: str) -> dict[int, int]:
        """How many pixels of a view's mask show each id; kept for every view, whose sight is not for that."""
        if name not in self._visible:
            sight = self._sights[name] if name in self._sights else self._cast(name)
            ids, counts = np.unique(sight.ids, return_counts=True)
            self._visible[name] = dict(zip(ids.tolist(), counts.tolist(), strict=True))
        return self._visible[name]

    def sensor_at(self, name: str, columns: Array | Numbers, rows: Array | Numbers) -> Array:
        """What the sensor read nearest to some places (n,) of a view's mask; 0 where it has none."""
        stored, view = self._stored(name), self.scan.views[name]
        found = np.zeros(np.shape(columns))
        if stored is None or view.depth_intrinsics is None:
            return found
        source, (_, (fx, fy, cx, cy), _) = view.depth_intrinsics, self.frame(name)
        u = np.rint((columns - cx) / fx * source.fx + source.cx).astype(int)
        v = np.rint((rows - cy) / fy * source.fy + source.cy).astype(int)
        there = (u >= 0) & (u < stored.shape[1]) & (v >= 0) & (v < stored.shape[0])
        found[there] = stored[v[there], u[there]]
        return found

    def _stored(self, name: str) -> NDArray[np.float32] | None:
        """The sensor's picture, in metres; the last ones are kept."""
        if name not in self._read:
            load = self.scan.views[name].load_depth
            self._read[name] = None if load is None else np.asarray(load(), dtype=np.float32)
            if len(self._read) > SETTINGS.max_sights:
                del self._read[next(iter(self._read))]
        return self._read[name]

    def depth_alone(self, name: str, object_id: int) -> NDArray[np.float32]:
        """(H, W) depth of an object as if there were nothing else, inf beside it."""
        sight = self.sight(name)
        key = (name, object_id)
        if key not in self._depths:
            height, width = sight.shape
            depth = np.full((height, width), np.inf, dtype=np.float32)
            left, top, right, bottom = self._window(sight, object_id, (0, 0, width, height))
            if left < right and top < bottom:
                columns, rows = _grid(range(left, right), range(top, bottom))
                depth[top:bottom, left:right] = self._cast_alone(sight, object_id, columns, rows)
            self._depths[key] = depth
        return self._depths[key]

    def seen(self, name: str, object_id: int, attached: frozenset[int] = frozenset()) -> Seen:
        """What is to be seen of an object, by casting the same rays at it alone.

        Args:
            name: of the view.
            object_id: one that is there in this state.
            attached: ids that do not count as being in front of it.
        """
        key = (name, object_id, attached)
        if key not in self._seen:
            self._seen[key] = self._measure(name, object_id, attached)
        return self._seen[key]

    def pair(self, name: str, one: int, other: int) -> Pair:
        """How far one object is hidden, and how far by the other."""
        sight, seen = self.sight(name), self.seen(name, one)
        mine, theirs = self.depth_alone(name, one), self.depth_alone(name, other)
        silhouette, hidden = self._silhouette_and_hidden(name, one)
        count = int(silhouette.sum())
        if not count:
            return Pair(0, 1.0, 0.0, 0.0, 0.0, seen.truncation)
        opened = opened_mask(hidden)
        by_other = float((sight.ids[opened] == other).mean()) if opened.any() else 0.0
        covered = opened_mask(silhouette & (theirs < mine))
        shares = (int(opened.sum()) / count, by_other, int(covered.sum()) / count)
        return Pair(count, *shares, seen.unknown_share, seen.truncation)

    def pairs(self, name: str, one: int, other: int) -> tuple[Pair, Pair]:
        """:meth:`pair` both ways."""
        return self.pair(name, one, other), self.pair(name, other, one)

    def hidden_beside(self, name: str, object_id: int, ids: Sequence[int]) -> float:
        """Share of a silhouette that is hidden, opened, where none of some objects is in front of it."""
        silhouette, hidden = self._silhouette_and_hidden(name, object_id)
        depth = self.depth_alone(name, object_id)
        for other in ids:
            hidden = hidden & ~(self.depth_alone(name, other) < depth)
        return int(opened_mask(hidden).sum()) / max(1, int(silhouette.sum()))

    def _silhouette_and_hidden(self, name: str, object_id: int) -> tuple[Mask, Mask]:
        sight, depth = self.sight(name), self.depth_alone(name, object_id)
        silhouette = np.isfinite(depth)
        visible = silhouette & ((sight.ids == object_id) | (depth <= sight.depth + SETTINGS.tolerance_m))
        return silhouette, silhouette & ~visible

    def _measure(self, name: str, object_id: int, attached: frozenset[int]) -> Seen:
        sight, depth = self.sight(name), self.depth_alone(name, object_id)
        silhouette, hidden = self._silhouette_and_hidden(name, object_id)
        count = int(silhouette.sum())
        near = hidden & (sight.depth < depth - SETTINGS.nearer_m) & ~np.isin(sight.ids, sorted(attached))
        beyond = self._beyond_px(sight, object_id)
        truncation = beyond / (beyond + count) if beyond + count else 1.0
        if not count:
            return Seen(0, 0, 1.0, 1.0, 1.0, 0.0, truncation)
        blocked = int(hidden.sum()) / count
        return Seen(
            count,
            count - int(hidden.sum()),
            blocked,
            int(opened_mask(hidden).sum()) / count,
            int(opened_mask(near).sum()) / count,
            float((is_nearer(self._sensor(name), depth) & silhouette).sum()) / count,
            truncation,
        )

    def _beyond_px(self, sight: _Sight, object_id: int) -> int:
        step = SETTINGS.beyond_step_px
        height, width = sight.shape
        left, top, right, bottom = self._window(sight, object_id, (-width, -height, 2 * width, 2 * height))
        left, top = step * (left // step), step * (top // step)
        columns, rows = _grid(range(left, right, step), range(top, bottom, step))
        outside = (columns < 0) | (columns >= width) | (rows < 0) | (rows >= height)
        if not outside.any():
            return 0
        found = self._cast_alone(sight, object_id, columns[outside], rows[outside])
        return int(np.isfinite(found).sum()) * step * step

    def _of(self, object_id: int) -> tuple[RayScene, Array]:
        if object_id not in self._alone:
            faces = self.mesh.faces[self.mesh.face_ids == object_id]
            numbers, local = np.unique(faces, return_inverse=True)
            points = self.mesh.vertices[numbers]
            self._alone[object_id] = RayScene(points, local.reshape(-1, 3)), points.astype(np.float64)
        return self._alone[object_id]

    def _window(self, sight: _Sight, object_id: int, bounds: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
        """Left, top, right and bottom (these two beyond) of the pixels that an object can cover, within bounds."""
        _, points = self._of(object_id)
        left, top, right, bottom = bounds
        if not len(points):
            return left, top, left, top
        in_camera = (points - sight.matrix[:3, 3]) @ sight.matrix[:3, :3]
        depth = in_camera[:, 2]
        if (depth < SETTINGS.near_plane_m).any():
            return bounds
        fx, fy, cx, cy = sight.pixels
        columns, rows = fx * in_camera[:, 0] / depth + cx, fy * in_camera[:, 1] / depth + cy
        return (
            max(left, int(np.floor(columns.min())) - 1),
            max(top, int(np.floor(rows.min())) - 1),
            min(right, int(np.ceil(columns.max())) + 2),
            min(bottom, int(np.ceil(rows.max())) + 2),
        )

    def _cast_alone(self, sight: _Sight, object_id: int, columns: Numbers, rows: Numbers) -> NDArray[np.float32]:
        directions = _directions(sight.pixels, columns, rows, sight.matrix)
        return self._of(object_id)[0].cast(sight.matrix[:3, 3], directions, threads=self._threads).t

    def _sensor(self, name: str) -> NDArray[np.float64]:
        """(H, W) sensor depth where it is nearer than the mesh as scanned; inf elsewhere."""
        if self._scanned is not None:
            return self._scanned._sensor(name)
        if name not in self._sensors:
            sight = self.sight(name)
            read = self.sensor_at(name, *_grid(range(sight.shape[1]), range(sight.shape[0])))
            sensor = np.where(read > 0.0, read, np.inf)
            self._sensors = {name: np.where(is_nearer(sensor, sight.depth), sensor, np.inf)}
        return self._sensors[name]


def is_nearer(sensor: Array, mesh: NDArray[np.float32]) -> Mask:
    """Where sensor depth is nearer than a mesh by more than 0.10 and 5 %; anything is nearer than nothing."""
    margin = np.maximum(SETTINGS.sensor_nearer_m, SETTINGS.sensor_nearer_share * np.where(np.isfinite(mesh), mesh, 0.0))
    return np.asarray(sensor < mesh - margin)


def opened_mask(mask: Mask) -> Mask:
    """The pixels of a mask (H, W) that lie in a square of 5x5 pixels within it."""
    opened = np.zeros_like(mask)
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if len(rows):
        part = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        side = SETTINGS.opening_px
        opened[part] = binary_opening(mask[part], np.ones((side, side), dtype=bool))
    return opened


def _grid(columns: range, rows: range) -> tuple[Numbers, Numbers]:
    found = np.meshgrid(np.array(columns, dtype=np.int64), np.array(rows, dtype=np.int64))
    return found[0], found[1]


def _directions(pixels: Array, columns: Array | Numbers, rows: Array | Numbers, matrix: Array) -> NDArray[np.float32]:
    fx, fy, cx, cy = pixels
    in_camera = np.stack([(columns - cx) / fx, (rows - cy) / fy, np.ones(columns.shape)], axis=-1)
    return np.asarray((in_camera @ matrix[:3, :3].T).astype(np.float32))
