"""A scene from above: orthographic, north up, without its ceiling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw, ImageFont

from spacecast.frames import Array, Transform
from spacecast.scene import Scene
from spacecast.sight.pictures import SETTINGS as PICTURE
from spacecast.sight.pictures import Colors, Paint, SceneColors, average, plain_colors
from spacecast.sight.rays import Hits
from spacecast.sight.sight import Part, sight_of

DOWN = np.array([0.0, 0.0, -1.0])


@dataclass(frozen=True)
class MapSettings:
    """How maps are made (own)."""

    px_per_m: float = 80.0
    """Scale, unless the map would be larger than the next."""
    max_side_px: int = 1400
    """Longest side."""
    margin_m: float = 0.4
    """Around what the scene holds."""
    min_ceiling_m: float = 1.9
    """Ceilings are looked for above this height over the floor; what faces down there is not drawn."""
    min_ceiling_m2: float = 0.5
    """Area of a ceiling in a band of heights."""
    band_m: float = 0.1
    """Height of such a band; the map is cut one below the ceiling."""
    floor_percentile: float = 1.0
    """Of all heights: where the floor is, below which only noise lies."""
    passes: int = 6
    """How many surfaces that face down a ray goes through."""
    font_px: int = 13
    """Size of names."""


SETTINGS = MapSettings()


class MapFrame(NamedTuple):
    """Where a map lies: its west and north edge in world, its scale and its size."""

    west_m: float
    north_m: float
    px_per_m: float
    width: int
    height: int

    def pixel_of(self, points_in_world: ArrayLike) -> Array:
        """Pixels (..., 2) of points (..., 2) or (..., 3): x right is east, y down is south."""
        points = np.asarray(points_in_world, dtype=np.float64)
        x = (points[..., 0] - self.west_m) * self.px_per_m - 0.5
        y = (self.north_m - points[..., 1]) * self.px_per_m - 0.5
        return np.stack([x, y], axis=-1)


def map_frame(*scenes: Scene) -> MapFrame:
    """The map that holds all of a scene, or of several states of it, with a margin."""
    boxes = [item.aabb for scene in scenes for item in scene.objects.values()]
    ends = [np.stack([box.min, box.max])[:, :2] for box in boxes]
    for scene in scenes:
        if len(scene.rest.faces):
            used = scene.rest.vertices[np.unique(scene.rest.faces)][:, :2]
            ends.append(np.stack([used.min(axis=0), used.max(axis=0)]).astype(np.float64))
    if not ends:
        return MapFrame(-1.0, 1.0, SETTINGS.px_per_m, int(2 * SETTINGS.px_per_m), int(2 * SETTINGS.px_per_m))
    low = np.min([e[0] for e in ends], axis=0) - SETTINGS.margin_m
    high = np.max([e[1] for e in ends], axis=0) + SETTINGS.margin_m
    scale = min(SETTINGS.px_per_m, SETTINGS.max_side_px / float((high - low).max()))
    width, height = (int(np.ceil(side * scale)) for side in high - low)
    return MapFrame(float(low[0]), float(high[1]), scale, width, height)


def map_picture(
    scene: Scene,
    colors: SceneColors | None = None,
    *,
    frame: MapFrame | None = None,
    names: bool | Sequence[int] = False,
    supersample: int = 2,
    threads: int = 0,
) -> NDArray[np.uint8]:
    """A state of a scene from above, (H, W, 3) uint8: north is up, the ceiling is left out.

    Args:
        scene: any state.
        colors: of the scan that the scene comes from; without them every object has a colour of its own.
        frame: where the map lies, for maps of several states side by side; by default what holds this state.
        names: write labels and ids: True for all that is not structure, or the ids of some.
        supersample: rays per pixel and axis, averaged.
        threads: 0 for all cores, 1 in build workers.
    """
    where = frame or map_frame(scene)
    fine = where._replace(
        px_per_m=where.px_per_m * supersample, width=where.width * supersample, height=where.height * supersample
    )
    canvas = average(_cast(scene, fine, Paint(colors or plain_colors(scene)), threads), supersample)
    image = Image.fromarray(canvas)
    _draw_north(image, where, north=scene.is_aligned)
    if names:
        ids = [i for i, o in scene.objects.items() if not o.is_structure] if names is True else sorted(names)
        _draw_names(image, where, scene, ids)
    return np.asarray(image)


def _cast(scene: Scene, frame: MapFrame, paint: Paint, threads: int) -> Colors:
    parts = sight_of(scene).parts
    floor_m, cut_m = _floor_and_cut(parts)
    canvas = np.full((frame.height, frame.width, 3), PICTURE.background, dtype=np.float32)
    best = np.full((frame.height, frame.width), -np.inf)
    x = _centres(frame.west_m, frame.width, frame.px_per_m)
    y = _centres(frame.north_m, frame.height, -frame.px_per_m)
    for part in parts:
        rows, columns = _window(part, x, y)
        if not (len(x[columns]) and len(y[rows])):
            continue
        origins = np.empty((len(y[rows]), len(x[columns]), 3))
        origins[..., 0], origins[..., 1], origins[..., 2] = x[columns], y[rows, None], cut_m
        hits, top = _first_upper(part, origins, floor_m + SETTINGS.min_ceiling_m, threads)
        nearer = top > best[rows, columns]
        best[rows, columns][nearer] = top[nearer]
        along = part.world_from_part.inverse().turn(DOWN)
        canvas[rows, columns][nearer] = paint.at(part, hits, nearer, along)
    return canvas


def _centres(start_m: float, count: int, px_per_m: float) -> Array:
    return np.asarray(start_m + (np.arange(count) + 0.5) / px_per_m, dtype=np.float64)


def _first_upper(part: Part, origins: Array, ceiling_m: float, threads: int) -> tuple[Hits, Array]:
    """The first hit straight down that is not the back of something high up, and its height (-inf for none)."""
    back: Transform = part.world_from_part.inverse()
    along = back.turn(DOWN).astype(np.float32)
    a, b, c = (part.rays.vertices[part.rays.faces[:, i]] for i in range(3))
    faces_down = np.append(np.cross(b - a, c - a) @ along > 0.0, False)
    start = origins.copy()
    rays = np.empty((*origins.shape[:2], 6), dtype=np.float32)
    rays[..., 3:] = along
    for _ in range(SETTINGS.passes):
        rays[..., :3] = back @ start
        hits = part.rays.cast_rays(rays, threads=threads)
        top = start[..., 2] - np.where(hits.face >= 0, hits.t, np.inf)
        again = faces_down[hits.face] & (top > ceiling_m)
        if not again.any():
            break
        start[..., 2] = np.where(again, top - 1e-3, start[..., 2])
    return hits, top


def _window(part: Part, x: Array, y: Array) -> tuple[slice, slice]:
    """Rows (y falling) and columns (x rising) of a map that a part can lie in."""
    corners = part.world_from_part @ np.stack(np.meshgrid(*part.bounds.T), axis=-1).reshape(-1, 3)
    (west, south), (east, north) = corners[:, :2].min(axis=0), corners[:, :2].max(axis=0)
    columns = slice(int(np.searchsorted(x, west)), int(np.searchsorted(x, east, side="right")))
    rows = slice(int(np.searchsorted(-y, -north)), int(np.searchsorted(-y, -south, side="right")))
    return rows, columns


def _floor_and_cut(parts: Sequence[Part]) -> tuple[float, float]:
    """Height of the floor, and the height below the ceiling (above everything where there is none)."""
    heights, lows, areas = [], [], []
    for part in parts:
        points = part.world_from_part @ part.rays.vertices.astype(np.float64)
        heights.append(points[:, 2])
        a, b, c = (points[part.rays.faces[:, i]] for i in range(3))
        normal = np.cross(b - a, c - a)
        down = normal[:, 2] < -0.9 * np.linalg.norm(normal, axis=1)
        lows.append((a + b + c)[down, 2] / 3)
        areas.append(0.5 * np.linalg.norm(normal[down], axis=1))
    every = np.concatenate(heights) if heights else np.zeros(1)
    floor_m, top_m = float(np.percentile(every, SETTINGS.floor_percentile)), float(every.max()) + SETTINGS.band_m
    if not lows:
        return floor_m, top_m
    low, area = np.concatenate(lows), np.concatenate(areas)
    bands = np.arange(floor_m + SETTINGS.min_ceiling_m, top_m + 2 * SETTINGS.band_m, SETTINGS.band_m)
    if len(bands) < 2:
        return floor_m, top_m
    found, _ = np.histogram(low, bands, weights=area)
    if found.max() < SETTINGS.min_ceiling_m2:
        return floor_m, top_m
    return floor_m, float(bands[int(found.argmax())]) - SETTINGS.band_m


def _draw_north(image: Image.Image, frame: MapFrame, *, north: bool) -> None:
    """An arrow to the north (where north is known) and a bar of one metre, in the upper left corner."""
    draw = ImageDraw.Draw(image)
    ink = (40, 40, 40)
    if north:
        draw.line([(16, 40), (16, 16)], fill=ink, width=2)
        draw.polygon([(16, 6), (10, 18), (22, 18)], fill=ink)
        _text(draw, (28, 10), "N", ink)
    left = 48
    draw.line([(left, 26), (left + frame.px_per_m, 26)], fill=ink, width=2)
    for x in (left, left + frame.px_per_m):
        draw.line([(x, 22), (x, 30)], fill=ink, width=2)
    _text(draw, (left + 4, 8), "1 m", ink)


def _draw_names(image: Image.Image, frame: MapFrame, scene: Scene, ids: Sequence[int]) -> None:
    draw = ImageDraw.Draw(image)
    taken: list[tuple[float, float, float, float]] = []
    for i in ids:
        item = scene.objects[i]
        text = f"{item.label} {i}"
        x, y = frame.pixel_of(item.center_in_world)
        left, top, right, bottom = draw.textbbox((0, 0), text, font=_font())
        width, height = right - left, bottom - top
        x, y = float(np.clip(x - width / 2, 2, max(2, frame.width - width - 2))), float(y - height / 2)
        for _ in range(12):  # one below the other where they would lie on each other
            clash = [b for b in taken if x < b[2] and b[0] < x + width and y < b[3] and b[1] < y + height]
            if not clash:
                break
            y = max(b[3] for b in clash) + 1
        taken.append((x, y, x + width, y + height))
        _text(draw, (x - left, y - top), text, (20, 20, 20))


def _text(draw: ImageDraw.ImageDraw, at: tuple[float, float], text: str, ink: tuple[int, int, int]) -> None:
    draw.text(at, text, fill=ink, font=_font(), stroke_width=2, stroke_fill=(255, 255, 255))


def _font() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(SETTINGS.font_px)
