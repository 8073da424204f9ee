"""Coloured pictures of any state of a scene, from any camera: vertex colours at the hit, and mild shading."""

from __future__ import annotations

import colorsys
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacecast.frames import Intrinsics
from spacecast.scan import NO_INSTANCE, Scan, View
from spacecast.scene import Scene
from spacecast.sight.cameras import Camera, camera_of
from spacecast.sight.rays import Hits, RayScene
from spacecast.sight.sight import Part, sight_of

Colors = NDArray[np.float32]


@dataclass(frozen=True)
class PictureSettings:
    """How pictures look (own)."""

    background: tuple[int, int, int] = (222, 222, 220)
    """Where nothing is hit: holes of the scan."""
    shade: float = 0.25
    """How much darker a surface is that is seen edge-on; scans carry the light of their room already."""
    plain_structure: tuple[int, int, int] = (205, 200, 192)
    """Of structure and of what has no label, where a scene comes without colours."""
    rays_at_once: int = 400_000
    """Pictures are cast in strips of about so many rays, to bound memory."""


SETTINGS = PictureSettings()


class SceneColors(NamedTuple):
    """Colours of a scan's vertices, as scenes split them; they stay the same through every state.

    ``of_object``: id -> (n, 3) uint8 in the order of the shape's vertices; ``of_rest``: (n, 3) uint8.
    """

    of_object: Mapping[int, NDArray[np.uint8]]
    of_rest: NDArray[np.uint8]

    @classmethod
    def from_scan(cls, scan: Scan) -> SceneColors:
        """The colours of ``Scene.from_scan(scan)`` and of every state made from it."""
        order = np.argsort(scan.instance_ids, kind="stable")
        ids, starts = np.unique(scan.instance_ids[order], return_index=True)
        groups = np.split(scan.colors[order], starts[1:]) if len(ids) else []
        of_rest = scan.colors[np.unique(scan.faces[scan.face_instance_ids == NO_INSTANCE])]
        return cls(dict(zip(ids.tolist(), groups, strict=True)), of_rest)

    def of_part(self, part: Part) -> Colors:
        """(vertices, 3) float32 of a part's mesh."""
        blocks = [self.of_rest[which] if which is not None else self.of_object[i] for i, which in part.blocks]
        return np.concatenate(blocks).astype(np.float32)


def plain_colors(scene: Scene) -> SceneColors:
    """One quiet colour per object id, and one for structure, for scenes without colours."""
    of_object = {}
    for i, item in scene.objects.items():
        hue, light = (i * 0.618034) % 1.0, 0.52 + 0.14 * ((i * 7) % 3)
        color = (
            SETTINGS.plain_structure
            if item.is_structure
            else tuple(255 * c for c in colorsys.hls_to_rgb(hue, light, 0.5))
        )
        of_object[i] = np.tile(np.array(color, dtype=np.uint8), (len(item.shape.vertices), 1))
    return SceneColors(of_object, np.tile(np.array(SETTINGS.plain_structure, np.uint8), (len(scene.rest.vertices), 1)))


def picture(
    scene: Scene,
    view_or_camera: View | Camera,
    colors: SceneColors | None = None,
    *,
    supersample: int = 2,
    threads: int = 0,
) -> NDArray[np.uint8]:
    """What a state of a scene looks like, (H, W, 3) uint8, at the camera's own size.

    Args:
        scene: any state.
        view_or_camera: where it is seen from.
        colors: of the scan that the scene comes from; without them every object has a colour of its own.
        supersample: rays per pixel and axis, averaged.
        threads: 0 for all cores, 1 in build workers.
    """
    camera = camera_of(view_or_camera)
    k = camera.intrinsics
    fine = Camera(camera.world_from_camera, k.scaled_to(k.width * supersample, k.height * supersample))
    paint = Paint(colors or plain_colors(scene))
    sight = sight_of(scene)
    strips = []
    for strip in _strips(fine, supersample):
        shape = (strip.intrinsics.height, strip.intrinsics.width, 3)
        canvas = np.full(shape, SETTINGS.background, dtype=np.float32)
        forward = camera.world_from_camera.rotation[:, 2]
        for part, window, hits, nearer in sight.layers(strip, threads):
            towards = part.world_from_part.inverse().turn(forward)
            canvas[window.slices][nearer] = paint.at(part, hits, nearer, towards)
        strips.append(average(canvas, supersample))
    return np.concatenate(strips)


class Paint:
    """Colours and normals of parts, looked up at hits."""

    def __init__(self, colors: SceneColors) -> None:
        self._colors = colors
        self._of_part: dict[int, Colors] = {}

    def at(self, part: Part, hits: Hits, where: NDArray[np.bool_], along: NDArray[np.float64]) -> Colors:
        """(k, 3) shaded colours of the hits where a mask holds, seen along a direction (3,) in the part's frame."""
        key = id(part.rays)
        if key not in self._of_part:
            self._of_part[key] = self._colors.of_part(part)
        corners = part.rays.faces[hits.face[where]]
        u, v = hits.uv[where].T
        weights = np.stack([1.0 - u - v, u, v], axis=1)[..., None]
        color = (self._of_part[key][corners] * weights).sum(axis=1)
        normal = (vertex_normals(part.rays)[corners] * weights).sum(axis=1)
        length = np.maximum(np.linalg.norm(normal, axis=1), 1e-9)
        facing = np.abs(normal @ along.astype(np.float32)) / length  # scans are thin: both sides are lit
        return color * (1.0 - SETTINGS.shade * (1.0 - np.minimum(facing, 1.0)))[:, None]


_NORMALS: weakref.WeakKeyDictionary[RayScene, Colors] = weakref.WeakKeyDictionary()


def vertex_normals(rays: RayScene) -> Colors:
    """(V, 3) float32, the mean normal of the faces around each vertex by area, not of length 1."""
    if rays not in _NORMALS:
        a, b, c = (rays.vertices[rays.faces[:, i]] for i in range(3))
        normal = np.cross(b - a, c - a)
        count = len(rays.vertices)
        summed = [
            sum(np.bincount(rays.faces[:, corner], normal[:, axis], minlength=count) for corner in range(3))
            for axis in range(3)
        ]
        _NORMALS[rays] = np.stack(summed, axis=1).astype(np.float32)
    return _NORMALS[rays]


def average(canvas: Colors, block: int) -> NDArray[np.uint8]:
    """Means of square blocks of pixels, as bytes."""
    height, width = canvas.shape[0] // block, canvas.shape[1] // block
    means = canvas.reshape(height, block, width, block, 3).mean(axis=(1, 3))
    return np.clip(np.rint(means), 0, 255).astype(np.uint8)


def _strips(camera: Camera, block: int) -> Iterator[Camera]:
    k = camera.intrinsics
    rows = max(1, SETTINGS.rays_at_once // (k.width * block)) * block
    for top in range(0, k.height, rows):
        height = min(rows, k.height - top)
        yield Camera(camera.world_from_camera, Intrinsics(k.fx, k.fy, k.cx, k.cy - top, k.width, height))
