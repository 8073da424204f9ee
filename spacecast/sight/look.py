"""One view of one state: what is visible of each object, what hides it, and how far the scan can be believed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from spacecast.scan import View
from spacecast.scene import Scene
from spacecast.sight.cameras import Camera, Window, camera_of, pixel_rays
from spacecast.sight.sight import MASK_WIDTH_PX, Crop, IdImage, Sight

Mask = NDArray[np.bool_]

KEPT_LOOKS = 16
"""How many looks a sight keeps: of every view that questions use (3 MB each)."""


@dataclass(frozen=True)
class LookSettings:
    """How hidden pixels are counted; SEMANTICS section 3, Occlusion."""

    tolerance_m: float = 1e-4
    """A target that is this close behind the first hit is itself the first thing hit; FAULTS, Geometry."""
    opening_px: int = 5
    """Side of the square that has to fit into a hidden part, at a width of 640."""
    nearer_m: float = 0.05
    """``opened_near`` counts only what is nearer than the target by more than this."""
    sensor_nearer_m: float = 0.10
    """Sensor depth that is nearer than the mesh by more than this, and by more than the share below, is unknown."""
    sensor_nearer_share: float = 0.05
    """Of the mesh's depth."""
    max_samples: int = 20_000
    """Beyond the picture a silhouette is counted on a grid of about this many rays: within 1 % of the full count
    (own)."""


SETTINGS = LookSettings()


class Visibility(NamedTuple):
    """What is seen of an object, in pixels of the mask and shares of its silhouette."""

    silhouette_px: int
    """S: pixels of the image that the object alone would cover."""
    visible_px: int
    """V: pixels of S where it is the first thing hit."""
    full_silhouette_px: int
    """S and what lies beyond the image, up to 75 degrees off the optical axis, counted there on a grid."""
    truncation: float
    """Share of the full silhouette outside the image; 1 where nothing of it is inside."""
    blocked: float
    """1 - V/S; 1 where S is 0."""
    opened: float
    """Share of S that is blocked and survives the opening."""
    opened_near: float
    """The same, of what is blocked by something nearer by more than 0.05 that is not attached to the object."""
    unknown_share: float | None
    """Share of S where the sensor saw something nearer than the mesh; None where there is no sensor depth."""
    holes_share: float
    """Pixels in the convex hull of the silhouette where the mesh has nothing at all, by S: where no sensor depth says
    what is missing, such holes tell that something that stood there was not scanned (own)."""


GONE = Visibility(0, 0, 0, 1.0, 1.0, 1.0, 1.0, None, 0.0)
"""Of what was removed: it has no silhouette anywhere."""


class Masks(NamedTuple):
    """Where an object is in a view: a window of the picture, and masks (h, w) of that window."""

    window: Window
    depth: NDArray[np.float32]
    """Of the object alone, inf beside it."""
    silhouette: Mask
    visible: Mask
    blocked: Mask
    first: NDArray[np.int32]
    """Id of the first thing hit."""
    opened: Mask
    opened_near: Mask


class Look:
    """One view of one state, worked out as it is asked for. Get one from :meth:`Sight.look`."""

    def __init__(
        self,
        sight: Sight,
        view_or_camera: View | Camera,
        width_px: int = MASK_WIDTH_PX,
        *,
        about: tuple[int, ...] | None = None,
        attachment_of: Scene | None = None,
        threads: int = 0,
    ) -> None:
        self.sight = sight
        self._about = about
        self._attachment_of = sight.scene if attachment_of is None else attachment_of
        self.view = view_or_camera if isinstance(view_or_camera, View) else None
        self.camera = camera_of(view_or_camera).scaled_to_width(width_px)
        self._threads = threads
        self._masks: dict[int, Masks] = {}
        self._visibility: dict[int, Visibility] = {}

    @property
    def image(self) -> IdImage:
        """Ids and depth of everything."""
        return self._image_and_crops[0]

    @property
    def area_px(self) -> int:
        """Pixels of the picture."""
        return self.image.ids.size

    @property
    def opening_side_px(self) -> int:
        """Side of the square of the opening, at the width of these masks."""
        return max(1, round(SETTINGS.opening_px * self.camera.intrinsics.width / MASK_WIDTH_PX))

    def visible_ids(self, min_px: int = 1) -> tuple[int, ...]:
        """Objects, structure too, that are the first thing hit in at least so many pixels, sorted.

        Raises:
            ValueError: the look is about some objects only.
        """
        if self._about is not None:
            raise ValueError(f"this look is about {self._about} only; what else is visible is not known")
        return tuple(i for i, count in self._visible_px.items() if count >= min_px)

    def visibility(self, object_id: int) -> Visibility:
        """What is seen of an object.

        Raises:
            KeyError: no object has this id in this state.
        """
        if object_id not in self._visibility:
            self._visibility[object_id] = self._measure(object_id)
        return self._visibility[object_id]

    def mask(self, object_id: int) -> Mask:
        """(H, W) the object's silhouette: where it would be seen if it were alone."""
        masks = self.masks(object_id)
        whole = np.zeros(self.image.ids.shape, dtype=np.bool_)
        whole[masks.window.slices] = masks.silhouette
        return whole

    def blockers(self, object_id: int) -> Mapping[int, int]:
        """Who is the first hit on the hidden pixels of an object: id -> pixels, most first; -1 is unlabelled."""
        masks = self.masks(object_id)
        ids, counts = np.unique(masks.first[masks.blocked], return_counts=True)
        found = zip(ids.tolist(), counts.tolist(), strict=True)
        return dict(sorted(found, key=lambda item: (-item[1], item[0])))

    def masks(self, object_id: int) -> Masks:
        """Where an object is, where it is seen, and where it is hidden.

        ``opened`` is the union of all 5x5 squares (at 640 wide) that fit into the blocked part inside the picture: a
        hidden strip of less than five pixels along the picture's border is a sliver too, whatever lies outside.
        """
        if self._about is not None and object_id not in self._about:
            raise ValueError(f"this look is about {self._about} only, not about {object_id}")
        if object_id not in self._masks:
            self._masks[object_id] = self._mask(object_id)
        return self._masks[object_id]

    @cached_property
    def _image_and_crops(self) -> tuple[IdImage, dict[int, Crop]]:
        if self._about is None:
            return self.sight.image_and_crops(self.camera, self._threads)
        crops = {i: self.sight.crop(i, self.camera, self._threads) for i in self._about}
        wanted = np.zeros((self.camera.intrinsics.height, self.camera.intrinsics.width), dtype=np.bool_)
        for window, depth in crops.values():
            # Holes are counted in the hull of a silhouette.
            wanted[window.slices] |= hull_of(np.isfinite(depth))
        return self.sight.image_at(wanted, crops, self.camera, self._threads), crops

    @cached_property
    def _visible_px(self) -> dict[int, int]:
        ids, counts = np.unique(self.image.ids, return_counts=True)
        return {i: n for i, n in zip(ids.tolist(), counts.tolist(), strict=True) if i >= 0}

    def _mask(self, object_id: int) -> Masks:
        image, crops = self._image_and_crops
        window, depth = crops.get(object_id) or self.sight.crop(object_id, self.camera, self._threads)
        first, front = image.ids[window.slices], image.depth[window.slices]
        silhouette = np.isfinite(depth)
        visible = silhouette & ((first == object_id) | (depth <= front + SETTINGS.tolerance_m))
        blocked = silhouette & ~visible
        near = blocked & (front < depth - SETTINGS.nearer_m)
        if near.any():  # only then is the attachment worked out
            near &= ~np.isin(first, self._attached_to(object_id))
        opened, opened_near = (opening(hidden, self.opening_side_px) for hidden in (blocked, near))
        return Masks(window, depth, silhouette, visible, blocked, first, opened, opened_near)

    def _measure(self, object_id: int) -> Visibility:
        masks = self.masks(object_id)
        silhouette_px = int(masks.silhouette.sum())
        full_px = silhouette_px + self._outside_px(object_id)
        truncation = 1.0 - silhouette_px / full_px if full_px else 1.0
        if not silhouette_px:
            unknown = None if self._sensor is None else 0.0
            return Visibility(0, 0, full_px, truncation, 1.0, 1.0, 1.0, unknown, 0.0)
        visible_px = int(masks.visible.sum())
        return Visibility(
            silhouette_px,
            visible_px,
            full_px,
            truncation,
            1.0 - visible_px / silhouette_px,
            int(masks.opened.sum()) / silhouette_px,
            int(masks.opened_near.sum()) / silhouette_px,
            self._unknown_share(masks),
            self._holes_px(masks) / silhouette_px,
        )

    def _outside_px(self, object_id: int) -> int:
        """Pixels of the silhouette beyond the picture, counted on a grid where there are many."""
        part, picture = self.sight.part_of(object_id), Window.of(self.camera.intrinsics)
        window = part.window(self.camera)
        outside = window.area - window.within(picture).area
        if not outside:
            return 0
        step = max(1, int(np.ceil(np.sqrt(outside / SETTINGS.max_samples))))
        columns, rows = np.meshgrid(
            np.arange(window.left, window.right, step), np.arange(window.top, window.bottom, step)
        )
        beyond = (columns < 0) | (columns >= picture.right) | (rows < 0) | (rows >= picture.bottom)
        rays = pixel_rays(part.from_camera(self.camera), self.camera.intrinsics, columns[beyond], rows[beyond])
        hits = part.rays.cast_rays(rays, threads=self._threads)
        return int(np.isfinite(hits.t).sum()) * step * step

    def _attached_to(self, object_id: int) -> list[int]:
        """What a path of edges, certain or possible, joins to the object, upwards or downwards."""
        graph = self._attachment_of.attachment
        if object_id not in graph:
            return []
        return sorted(nx.ancestors(graph, object_id) | nx.descendants(graph, object_id))

    @cached_property
    def _sensor(self) -> NDArray[np.float32] | None:
        """(H, W) sensor depth where the sensor saw something nearer than the mesh as scanned, inf elsewhere."""
        view, scanned = self.view, self.sight.scene.as_scanned
        if view is None or view.load_depth is None or view.depth_intrinsics is None:
            return None
        if scanned is not self.sight.scene:  # the sensor saw that one: depth is loaded and compared once for all states
            from spacecast.sight.sight import sight_of

            return sight_of(scanned).look(view, self.camera.intrinsics.width, threads=self._threads)._sensor
        stored, source, mask = view.load_depth(), view.depth_intrinsics, self.camera.intrinsics
        # One camera: a mask pixel's ray meets the depth picture at a place that does not depend on depth.
        columns = np.rint((np.arange(mask.width) - mask.cx) / mask.fx * source.fx + source.cx).astype(int)
        rows = np.rint((np.arange(mask.height) - mask.cy) / mask.fy * source.fy + source.cy).astype(int)
        rows_in, columns_in = (rows >= 0) & (rows < stored.shape[0]), (columns >= 0) & (columns < stored.shape[1])
        depth = np.zeros((mask.height, mask.width), dtype=np.float32)
        depth[np.ix_(rows_in, columns_in)] = stored[np.ix_(rows[rows_in], columns[columns_in])]
        return np.where(_sensor_is_nearer(depth, self.image.depth), depth, np.float32(np.inf))

    def _unknown_share(self, masks: Masks) -> float | None:
        if self._sensor is None:
            return None
        sensor = self._sensor[masks.window.slices]
        return float((_sensor_is_nearer(sensor, masks.depth) & masks.silhouette).sum() / masks.silhouette.sum())

    def _holes_px(self, masks: Masks) -> int:
        nothing = ~np.isfinite(self.image.depth[masks.window.slices])
        return int((nothing & hull_of(masks.silhouette)).sum()) if nothing.any() else 0


def _sensor_is_nearer(sensor: NDArray[np.float32], mesh: NDArray[np.float32]) -> Mask:
    """Where there is a reading that is nearer than the mesh by more than 0.10 and 5 %; anything is nearer than none."""
    finite = np.where(np.isfinite(mesh), mesh, np.float32(np.finfo(np.float32).max))
    margin = np.maximum(SETTINGS.sensor_nearer_m, SETTINGS.sensor_nearer_share * finite)
    return (sensor > 0.0) & (sensor < finite - margin)


def opening(mask: Mask, side: int) -> Mask:
    """The union of all squares of this side that fit into a mask (h, w)."""
    if side <= 1 or not mask.any():
        return mask.copy()
    if min(mask.shape) < side:
        return np.zeros_like(mask)
    fits = mask
    for axis in (0, 1):  # corner pixels of the squares that fit
        count = fits.shape[axis] - side + 1
        fits = np.logical_and.reduce([fits.take(range(i, i + count), axis=axis) for i in range(side)])
    opened = np.zeros_like(mask)
    rows, columns = fits.shape
    spread = np.zeros((rows, mask.shape[1]), dtype=np.bool_)
    for i in range(side):
        spread[:, i : i + columns] |= fits
    for i in range(side):
        opened[i : i + rows] |= spread
    return opened


def hull_of(mask: Mask) -> Mask:
    """The pixels (h, w) whose centres lie in the convex hull of a mask's pixel centres."""
    rows = np.flatnonzero(mask.any(axis=1))
    if not len(rows):
        return np.zeros_like(mask)
    some = mask[rows]
    left = some.argmax(axis=1)
    right = mask.shape[1] - 1 - some[:, ::-1].argmax(axis=1)
    all_rows, columns = np.arange(rows[0], rows[-1] + 1), np.arange(mask.shape[1])
    first, last = _envelope(rows, left, all_rows), -_envelope(rows, -right, all_rows)
    hull = np.zeros_like(mask)
    slack = 1e-9  # a centre on the hull's edge is in it, however the edge is rounded
    hull[all_rows] = (columns >= first[:, None] - slack) & (columns <= last[:, None] + slack)
    return hull


def _envelope(x: NDArray[np.int64], y: NDArray[np.int64], at: NDArray[np.int64]) -> NDArray[np.float64]:
    """The largest convex function below points (x rising), where asked."""
    kept: list[tuple[int, int]] = []
    for px, py in zip(x.tolist(), y.tolist(), strict=True):
        while len(kept) > 1:
            (ax, ay), (bx, by) = kept[-2:]
            if (by - ay) * (px - ax) < (py - ay) * (bx - ax):
                break
            kept.pop()
        kept.append((px, py))
    return np.interp(at, *np.array(kept, dtype=np.float64).T)
