"""What only a scan can tell, measured again by brute force.

Boxes from labelled vertices; poses, pictures and labels against the reader's; distance by dense samples of both
surfaces and a tree; occlusion and names by a ray-casting scene over the whole mesh and one over the object alone.
Nothing of ``spacecast.relations``, ``spacecast.scene`` or ``spacecast.geometry`` is used, nor masks of
``spacecast.sight``.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import binary_opening
from scipy.spatial import cKDTree

from spacecast.dataset import recompute
from spacecast.dataset.reader import Benchmark
from spacecast.dataset.rows import Row
from spacecast.dataset.settings import REGISTERED
from spacecast.dataset.verify import Finding, is_named
from spacecast.errors import InputError
from spacecast.registry import find_scans
from spacecast.scan import Instance, Reader, Scan
from spacecast.sight.rays import RayScene

Array = NDArray[np.float64]
Problem = tuple[str, str]


@dataclass(frozen=True)
class RemeasureSettings:
    """How finely, and how far the second measure may be from the first."""

    box_m: float = 1e-3
    """Between a box in the facts (four places) and the labelled vertices."""
    obb_area_share: float = 0.005
    """A rectangle may be so much larger than the smallest of those at every 0.25 degrees."""
    pose: float = 1e-3
    """Between the numbers of two poses; facts have four places, and translations are in metres."""
    intrinsics_px: float = 0.01
    """Between two focal lengths or principal points."""
    sample_m: float = 0.005
    """Spacing of the samples on a surface."""
    coarse_sample_m: float = 0.05
    """Spacing of the samples that find which faces can be nearest."""
    distance_m: float = 0.01
    """Between two distances; samples are at most one spacing off."""
    mask_width_px: int = 640
    """Width of masks; SEMANTICS, head."""
    tolerance_m: float = 1e-4
    """A target this close behind the first hit is the first thing hit; FAULTS, Geometry."""
    nearer_m: float = 0.05
    """What hides a target is nearer by more than this; SEMANTICS 3."""
    silhouette_share: float = 0.01
    """Between two counts of a silhouette, and 4 pixels."""
    share: float = 0.01
    """Between two shares of a silhouette."""
    min_visible_px: float = 16.0
    """An object with so many visible pixels at 640x480 could be meant; SEMANTICS 2."""
    min_seen_px: float = 400.0
    """Least visible pixels of a named object at 640x480; SEMANTICS 2."""
    min_unblocked: float = 0.35
    """Least visible share of a named object; SEMANTICS 4."""
    max_truncation: float = 0.65
    """Largest share of a named object beyond the picture; SEMANTICS 4."""
    beyond_step_px: int = 4
    """Step of the grid that counts pixels beyond the picture, as far as one picture to each side."""
    max_unknown_share: float = 0.05
    """With a larger share nearer in the sensor's depth than in the mesh an object is skipped; SEMANTICS 3."""
    sensor_nearer_m: float = 0.10
    """Nearer by more than this ..."""
    sensor_nearer_share: float = 0.05
    """... and by more than this share is nearer."""


SETTINGS = RemeasureSettings()


def scans_under(roots: Sequence[Path]) -> dict[tuple[str, str], tuple[Reader, Path]]:
    """Reader and folder of every scan under some folders, by dataset and scene id.

    Raises:
        InputError: a root is no folder or holds no scans.
    """
    found: dict[tuple[str, str], tuple[Reader, Path]] = {}
    for root in roots:
        for scene_id, (reader, path) in find_scans(root).items():
            found[reader.name, scene_id] = (reader, path)
    return found


def scan_problems(
    data: Benchmark,
    found: Mapping[tuple[str, str], tuple[Reader, Path]],
    progress: Callable[[str, int, int], None],
) -> Iterator[Finding]:
    """Findings of all rows against scans, scene by scene.

    Args:
        data: the dataset.
        found: of :func:`scans_under`.
        progress: called with (stage, done, total).

    Raises:
        InputError: a scan cannot be read.
    """
    by_scene: dict[tuple[str, str], list[Row]] = {}
    for row in data.rows:
        by_scene.setdefault((row.dataset, row.scene_id), []).append(row)
    done, total = 0, len(data.rows)
    for key, rows in sorted(by_scene.items()):
        progress("answers from the scans", done, total)
        if key in found:
            reader, path = found[key]
            scan = reader.read(path)
            measure = Remeasure(scan)
            painter = REGISTERED.painter(scan) if data.manifest.get("pictures") == "render" else None
            for number, row in enumerate(sorted(rows, key=lambda row: row.image_name)):
                progress("answers from the scans", done + number, total)
                for kind, detail in (*measure.row_problems(row), *_pictures(data, row, scan, painter)):
                    yield Finding(kind, row.question_uid, detail)
        else:
            yield Finding("scan", f"{key[0]}/{key[1]}", "no such scan under the folders that were given")
        done += len(rows)
    progress("answers from the scans", total, total)


def _pictures(data: Benchmark, row: Row, scan: Scan, painter: Any) -> Iterator[Problem]:
    """Photos are the bytes of the scan, or, where they had to be made anew, its pixels; renderings are drawn again."""
    facts_of = {view["name"]: view for view in row.facts["views"]}
    try:
        pictures = data.pictures(row.question_uid)
    except InputError:
        return  # said elsewhere
    for picture in pictures:
        view = scan.views.get(picture.name)
        if view is None:
            continue
        if painter is None:
            if view.load_encoded is None or view.load_encoded() == picture.encoded:
                continue
            expected = view.load_color() if view.load_color is not None else None
        else:
            expected = painter(facts_of[picture.name])
        try:
            pixels = np.asarray(Image.open(io.BytesIO(picture.encoded)).convert("RGB"))
        except (OSError, ValueError, SyntaxError):
            continue
        if expected is None or pixels.shape != expected.shape or np.abs(pixels.astype(int) - expected).mean() > 2.0:
            yield "picture", f"{picture.name} is not the picture of the scan"


class _Sight(NamedTuple):
    """One view of the whole mesh: ids (H, W) and depth (H, W) of the first hit, and the rays."""

    ids: NDArray[np.int64]
    depth: NDArray[np.float32]
    origin: Array
    directions: NDArray[np.float32]
    pixels: Array
    """(fx, fy, cx, cy) of the mask."""


class Seen(NamedTuple):
    """An object in a view: pixels it covers alone, pixels seen, and shares of the first."""

    silhouette_px: int
    visible_px: int
    blocked: float
    opened: float
    opened_near: float
    unknown_share: float
    truncation: float


class Remeasure:
    """Measures one scan."""

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        corners = scan.instance_ids[scan.faces]
        same = (corners == corners[:, :1]).all(axis=1)
        self.face_ids = np.where(same, corners[:, 0], -1).astype(np.int64)
        self._whole: RayScene | None = None
        self._alone: dict[int, RayScene] = {}
        self._sights: dict[str, _Sight] = {}
        self._beyond: dict[str, NDArray[np.float32]] = {}
        self._seen: dict[tuple[str, int, frozenset[int]], Seen] = {}
        self._distances: dict[tuple[int, int], float] = {}

    def row_problems(self, row: Row) -> list[Problem]:
        """What in a row does not agree with the scan: (kind, detail)."""
        facts = row.facts
        try:
            found = [*self._objects(facts), *self._views(facts)]
            if found:
                return found  # what follows would only say it again
            if facts.get("intervention") is None:
                found += self._relation(facts)
            found += self._names(facts)
            return found
        except (KeyError, TypeError, ValueError, IndexError) as error:
            return [("facts", f"garbled: {type(error).__name__} {error}")]

    # -- objects and views ----------------------------------------------------------------------------------------

    def points_of(self, object_id: int) -> Array:
        """(n, 3) labelled vertices."""
        return self.scan.vertices[self.scan.instance_ids == object_id].astype(np.float64)

    def _objects(self, facts: Mapping[str, Any]) -> Iterator[Problem]:
        for item in facts["objects"]:
            instance = self.scan.instances.get(int(item["id"]))
            if instance is None:
                yield "scan", f"object {item['id']} is not in the scan"
                continue
            if (instance.label, instance.raw_label) != (item["label"], item["raw_label"]):
                yield "scan", f"object {item['id']} is {instance.label!r} in the scan, {item['label']!r} in the facts"
            points = self.points_of(instance.id)
            low, high = points.min(axis=0), points.max(axis=0)
            stored = np.array([item["aabb"]["min"], item["aabb"]["max"]], float)
            if np.abs(stored - [low, high]).max() > SETTINGS.box_m:
                yield "box", f"object {item['id']}: aabb is off by {np.abs(stored - [low, high]).max():.4f} m"
            yield from _obb_problems(item, points)

    def _views(self, facts: Mapping[str, Any]) -> Iterator[Problem]:
        for stored in facts["views"]:
            view = self.scan.views.get(stored["name"])
            if view is None:
                yield "scan", f"view {stored['name']} is not in the scan"
                continue
            off = np.abs(recompute.matrix_of(stored) - view.world_from_camera.matrix).max()
            if off > SETTINGS.pose:
                yield "pose", f"view {stored['name']}: the pose is off by {off:.4f}"
            own = view.intrinsics
            x, y = stored["width"] / own.width, stored["height"] / own.height
            expected = [own.fx * x, own.fy * y, (own.cx + 0.5) * x - 0.5, (own.cy + 0.5) * y - 0.5]
            pixel = np.array(stored["pixel_from_camera"], float).reshape(3, 3)
            found = [pixel[0, 0], pixel[1, 1], pixel[0, 2], pixel[1, 2]]
            if np.abs(np.subtract(found, expected)).max() > SETTINGS.intrinsics_px:
                yield "pose", f"view {stored['name']}: intrinsics {found}, in the scan {np.round(expected, 4).tolist()}"

    # -- relations ------------------------------------------------------------------------------------------------

    def _relation(self, facts: Mapping[str, Any]) -> Iterator[Problem]:
        relation, numbers = facts["relation"], facts["relation"]["before"]
        if relation["kind"] == "distance":
            found = self.distance_m(int(relation["target"]), int(relation["reference"]))
            if abs(found - float(numbers["distance_m"])) > SETTINGS.distance_m:
                yield "distance", f"{numbers['distance_m']} m, measured again {found:.4f} m"
        elif relation["kind"] == "occlusion":
            for view in facts["views"]:
                yield from self._occlusion(facts, view, int(relation["target"]), numbers)

    def _occlusion(
        self, facts: Mapping[str, Any], view: Mapping[str, Any], target: int, numbers: Mapping[str, Any]
    ) -> Iterator[Problem]:
        seen = self.seen(view["name"], target, attached_to(facts, target))
        slack = 4 + SETTINGS.silhouette_share * seen.silhouette_px
        if abs(seen.silhouette_px - int(numbers["silhouette_px"])) > slack:
            yield "occlusion", f"silhouette {numbers['silhouette_px']} px, measured again {seen.silhouette_px}"
        for name, value in (("blocked", seen.blocked), ("opened", seen.opened)):
            if seen.silhouette_px and abs(value - float(numbers[name])) > SETTINGS.share:
                yield "occlusion", f"{name} {numbers[name]}, measured again {value:.4f}"
        if seen.unknown_share > SETTINGS.max_unknown_share + SETTINGS.share:
            yield "occlusion", f"the sensor saw something nearer on {seen.unknown_share:.2f} of the silhouette"
        value = numbers["value"]
        least = recompute.SETTINGS.occluded_opened - SETTINGS.share
        if value == "occluded" and seen.opened_near < least:
            yield "occlusion", f"occluded, but only {seen.opened_near:.3f} is hidden by what is in front of it"
        if value == "not visible" and seen.visible_px > 0:
            yield "occlusion", f"not visible, but {seen.visible_px} px are seen"

    def distance_m(self, one: int, other: int) -> float:
        """Least distance between dense samples of two surfaces: at most one spacing above the true distance."""
        key = (min(one, other), max(one, other))
        if key not in self._distances:
            faces = [self.scan.vertices[self.scan.faces[self.face_ids == i]].astype(np.float64) for i in key]
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
            self._distances[key] = float(cKDTree(dense[0]).query(dense[1])[0].min())
        return self._distances[key]

    # -- rays -----------------------------------------------------------------------------------------------------

    def sight(self, name: str) -> _Sight:
        """The whole mesh from a view, with a mask of 640 pixels across; the last one is kept."""
        if name not in self._sights:
            if self._whole is None:
                self._whole = RayScene(self.scan.vertices, self.scan.faces)
            view = self.scan.views[name]
            own, width = view.intrinsics, SETTINGS.mask_width_px
            height = round(own.height * width / own.width)
            x, y = width / own.width, height / own.height
            pixels = np.array([own.fx * x, own.fy * y, (own.cx + 0.5) * x - 0.5, (own.cy + 0.5) * y - 0.5])
            matrix = view.world_from_camera.matrix
            columns, rows = np.meshgrid(np.arange(width), np.arange(height))
            directions = _directions(pixels, columns, rows, matrix)
            hits = self._whole.cast(matrix[:3, 3], directions)
            ids = np.where(hits.face >= 0, self.face_ids[hits.face], -2)
            self._sights = {name: _Sight(ids, hits.t, matrix[:3, 3], directions, pixels)}
        return self._sights[name]

    def seen(self, name: str, object_id: int, attached: frozenset[int] = frozenset()) -> Seen:
        """An object in a view, by casting the same rays at it alone."""
        key = (name, object_id, attached)
        if key not in self._seen:
            self._seen[key] = self._measure(name, object_id, attached)
        return self._seen[key]

    def _measure(self, name: str, object_id: int, attached: frozenset[int]) -> Seen:
        sight = self.sight(name)
        if object_id not in self._alone:
            self._alone[object_id] = RayScene(self.scan.vertices, self.scan.faces[self.face_ids == object_id])
        alone = self._alone[object_id]
        depth = alone.cast(sight.origin, sight.directions).t
        silhouette = np.isfinite(depth)
        count = int(silhouette.sum())
        visible = silhouette & ((sight.ids == object_id) | (depth <= sight.depth + SETTINGS.tolerance_m))
        hidden = silhouette & ~visible
        near = hidden & (sight.depth < depth - SETTINGS.nearer_m) & ~np.isin(sight.ids, sorted(attached))
        beyond = self._beyond_px(name, sight, alone)
        truncation = beyond / (beyond + count) if beyond + count else 1.0
        if not count:
            return Seen(0, 0, 1.0, 1.0, 1.0, 0.0, truncation)
        return Seen(
            count,
            int(visible.sum()),
            1.0 - int(visible.sum()) / count,
            _opened_px(hidden) / count,
            _opened_px(near) / count,
            self._unknown_share(name, sight, silhouette, depth),
            truncation,
        )

    def _beyond_px(self, name: str, sight: _Sight, alone: RayScene) -> int:
        step = SETTINGS.beyond_step_px
        if name not in self._beyond:
            height, width = sight.ids.shape
            columns, rows = np.meshgrid(np.arange(-width, 2 * width, step), np.arange(-height, 2 * height, step))
            outside = (columns < 0) | (columns >= width) | (rows < 0) | (rows >= height)
            matrix = self.scan.views[name].world_from_camera.matrix
            self._beyond = {name: _directions(sight.pixels, columns[outside], rows[outside], matrix)}
        return int(np.isfinite(alone.cast(sight.origin, self._beyond[name]).t).sum()) * step * step

    def _unknown_share(
        self, name: str, sight: _Sight, silhouette: NDArray[np.bool_], depth: NDArray[np.float32]
    ) -> float:
        view = self.scan.views[name]
        if view.load_depth is None or view.depth_intrinsics is None:
            return 0.0
        stored, source = view.load_depth(), view.depth_intrinsics
        fx, fy, cx, cy = sight.pixels
        rows, columns = np.nonzero(silhouette)
        u = np.rint((columns - cx) / fx * source.fx + source.cx).astype(int)
        v = np.rint((rows - cy) / fy * source.fy + source.cy).astype(int)
        inside = (u >= 0) & (u < stored.shape[1]) & (v >= 0) & (v < stored.shape[0])
        sensor = np.zeros(len(rows))
        sensor[inside] = stored[v[inside], u[inside]]
        mesh = sight.depth[silhouette]
        margin = np.maximum(SETTINGS.sensor_nearer_m, SETTINGS.sensor_nearer_share * mesh)
        return float(((sensor > 0) & (sensor < mesh - margin)).mean())

    # -- names ----------------------------------------------------------------------------------------------------

    def _names(self, facts: Mapping[str, Any]) -> Iterator[Problem]:
        """Each named object is to be seen, and nothing else that its name could mean."""
        relation = facts["relation"]
        asked = int(relation["target"]) if relation["kind"] == "occlusion" else None
        named = [int(item["id"]) for item in facts["objects"] if is_named(item)]
        shown: set[int] = set()
        seen_in: dict[int, list[Seen]] = {i: [] for i in named}
        for view in facts["views"]:
            sight = self.sight(view["name"])
            scale = sight.ids.size / (640.0 * 480.0)
            ids, counts = np.unique(sight.ids, return_counts=True)
            shown |= set(ids[counts >= SETTINGS.min_visible_px * scale].tolist())
            for i in named:
                if i != asked:
                    seen_in[i].append(self.seen(view["name"], i))
            if not any(_is_to_be_seen(self.seen(view["name"], i), scale) for i in named if i != asked) and (
                set(named) - {asked} and view["role"] != "bridge"
            ):
                yield "names", f"view {view['name']} shows nothing that is named"
        for i in named:
            if i != asked and not any(_is_to_be_seen(seen, scale) for seen in seen_in[i]):
                yield "names", f"object {i} is not to be seen: {seen_in[i]}"
            mine = self.scan.instances[i]
            for other in sorted(shown - {i, -1, -2}):
                if could_be_meant(mine, self.scan.instances[other]):
                    yield "names", f"{mine.label!r} {i} could also mean {self.scan.instances[other].label!r} {other}"


def attached_to(facts: Mapping[str, Any], object_id: int) -> frozenset[int]:
    """What the edges of the facts join to an object, upwards or downwards, certain or not."""
    found: set[int] = set()
    for start, end in (("parent", "child"), ("child", "parent")):
        front = {object_id}
        while front:
            front = {int(e[end]) for e in facts["attachment"] if int(e[start]) in front} - found - {object_id}
            found |= front
    return frozenset(found)


def could_be_meant(one: Instance, other: Instance) -> bool:
    """True if a person could mean the other by the label of the first; SEMANTICS 2, Names."""
    if one.label == other.label or (one.class_group is not None and one.class_group == other.class_group):
        return True
    if one.synset is not None and one.synset == other.synset:
        return True
    if one.category is not None and one.category == other.category:
        return True
    return one.label.endswith(f" {other.label}") or other.label.endswith(f" {one.label}")


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


def _directions(pixels: Array, columns: Any, rows: Any, matrix: Array) -> NDArray[np.float32]:
    fx, fy, cx, cy = pixels
    in_camera = np.stack([(columns - cx) / fx, (rows - cy) / fy, np.ones(columns.shape)], axis=-1)
    return (in_camera @ matrix[:3, :3].T).astype(np.float32)


def _opened_px(mask: NDArray[np.bool_]) -> int:
    """Pixels that lie in a square of 5x5 pixels within a mask."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return 0
    window = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return int(binary_opening(window, np.ones((5, 5), dtype=bool)).sum())


def _is_to_be_seen(seen: Seen, scale: float) -> bool:
    """With the second measure's tolerance."""
    return (
        seen.visible_px >= SETTINGS.min_seen_px * scale * (1.0 - SETTINGS.silhouette_share) - 4
        and seen.visible_px >= (SETTINGS.min_unblocked - SETTINGS.share) * seen.silhouette_px
        and seen.truncation <= SETTINGS.max_truncation + 3 * SETTINGS.share
    )


def _obb_problems(item: Mapping[str, Any], points: Array) -> Iterator[Problem]:
    """The rectangle holds all vertices, and no turned rectangle is smaller."""
    box = item["obb"]
    center, size, yaw = np.array(box["center"], float), np.array(box["size"], float), float(box["yaw_deg"])
    turn = np.radians(yaw)
    local = points[:, :2] - center[:2]
    across = local @ np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    spill = max(
        float((np.abs(across) - size[:2] / 2.0).max()), float((np.abs(points[:, 2] - center[2]) - size[2] / 2).max())
    )
    if spill > SETTINGS.box_m:
        yield "box", f"object {item['id']}: a vertex is {spill:.4f} m outside the obb"
    angles = np.radians(np.arange(0.0, 90.0, 0.25))
    cos, sin = np.cos(angles), np.sin(angles)
    u = points[:, :1] * cos + points[:, 1:2] * sin
    v = points[:, 1:2] * cos - points[:, :1] * sin
    least = float((np.ptp(u, axis=0) * np.ptp(v, axis=0)).min())
    if size[0] * size[1] > least * (1.0 + SETTINGS.obb_area_share) + 1e-4:
        yield "box", f"object {item['id']}: the obb covers {size[0] * size[1]:.4f} m2, {least:.4f} m2 would do"
    if not -90.0 <= yaw < 90.0 or size[0] < size[1] - SETTINGS.box_m:
        yield "box", f"object {item['id']}: yaw {yaw} is not in [-90, 90), or the longest side is not first"
