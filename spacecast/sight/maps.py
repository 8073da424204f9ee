"""A scene from above: orthographic, north up, without its ceiling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    outline_px: int = 3
    """Width of the outline of a marked box."""
    small_px: float = 60.0
    """A marked box no longer than this has its name beside it."""
    camera_px: int = 9
    """Radius of the disc of a camera with a letter; one without is half as large."""
    sight_m: float = 0.7
    """Length of the wedge that shows which way a camera looks."""
    sight_half_deg: float = 22.0
    """Half of the wedge's opening; not the camera's own."""


SETTINGS = MapSettings()

# Okabe and Ito's colours, told apart by the colour-blind.
MARKS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442")


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


class MarkedBox(NamedTuple):
    """An outline on a map."""

    name: str
    corners_in_world: Array
    """(n, 2) or (n, 3) in walking order."""


class MarkedCamera(NamedTuple):
    """A camera on a map."""

    letter: str
    """Written on its disc; without one it is drawn small and hollow."""
    position_in_world: Array
    """(2,) or (3,)."""
    forward_in_world: Array
    """(2,) or (3,); drawn as it lies on the floor plan."""


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


def marked_map(
    canvas: NDArray[np.uint8], frame: MapFrame, boxes: Sequence[MarkedBox], cameras: Sequence[MarkedCamera]
) -> NDArray[np.uint8]:
    """A copy of a map with boxes outlined and named, and cameras with the way they look.

    Args:
        canvas: (H, W, 3), of :func:`map_picture`.
        frame: where it lies.
        boxes: in the order of their colours; names are moved apart where they would lie on each other.
        cameras: those outside the map are drawn at its border.
    """
    image = Image.fromarray(canvas)
    draw = ImageDraw.Draw(image)
    for number, box in enumerate(boxes):
        corners = [tuple(corner) for corner in frame.pixel_of(box.corners_in_world).tolist()]
        draw.line([*corners, corners[0], corners[1]], fill=MARKS[number % len(MARKS)], width=SETTINGS.outline_px)
    taken = [_draw_camera(draw, frame, camera) for camera in cameras]
    for box in boxes:  # a name stands beside a thing that it would cover
        low, high = (edge(frame.pixel_of(box.corners_in_world), axis=0) for edge in (np.min, np.max))
        if (high - low).max() < SETTINGS.small_px:
            taken.append((*low.tolist(), *(high + SETTINGS.outline_px).tolist()))
    centers = {box.name: np.asarray(box.corners_in_world).mean(axis=0) for box in boxes}
    _draw_labels(image, frame, centers, taken=taken)
    return np.asarray(image)


def _draw_camera(draw: ImageDraw.ImageDraw, frame: MapFrame, camera: MarkedCamera) -> tuple[float, float, float, float]:
    """Draws it; the box of its disc."""
    ink = (150, 0, 0)
    radius = SETTINGS.camera_px if camera.letter else SETTINGS.camera_px / 2
    x, y = np.clip(
        frame.pixel_of(camera.position_in_world), radius, np.array([frame.width, frame.height]) - 1 - radius
    ).tolist()
    forward = np.asarray(camera.forward_in_world, dtype=np.float64)[:2]
    length = float(np.linalg.norm(forward))
    if length > 1e-6:  # else it looks straight down, and no way on the plan
        east, north = forward / length
        reach = SETTINGS.sight_m * frame.px_per_m * (1.0 if camera.letter else 0.5)
        ends = []
        for turn_deg in (-SETTINGS.sight_half_deg, SETTINGS.sight_half_deg):
            cos, sin = np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))
            ends.append((x + reach * (east * cos - north * sin), y - reach * (east * sin + north * cos)))
        draw.line([ends[0], (x, y), ends[1]], fill=ink, width=2, joint="curve")
        if camera.letter:
            draw.line(ends, fill=ink, width=2)
    disc = (x - radius, y - radius, x + radius, y + radius)
    draw.ellipse(disc, fill=ink if camera.letter else (255, 255, 255), outline=ink, width=2)
    if camera.letter:
        draw.text((x, y), camera.letter, fill=(255, 255, 255), font=_font(), anchor="mm")
    return disc


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
    objects = {f"{scene.objects[i].label} {i}": scene.objects[i].center_in_world for i in ids}
    _draw_labels(image, frame, objects)


def _draw_labels(
    image: Image.Image,
    frame: MapFrame,
    points_in_world: Mapping[str, Array],
    taken: Sequence[tuple[float, float, float, float]] = (),
) -> None:
    """Texts at points of the map, one below the other where they would lie on each other, or on what is taken."""
    draw = ImageDraw.Draw(image)
    taken = list(taken)
    for text, point in points_in_world.items():
        x, y = frame.pixel_of(point)
        left, top, right, bottom = draw.textbbox((0, 0), text, font=_font())
        width, height = right - left, bottom - top
        x, y = float(np.clip(x - width / 2, 2, max(2, frame.width - width - 2))), float(y - height / 2)
        for _ in range(12):
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
