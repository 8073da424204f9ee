"""Colour pictures and depth of a solid room as a hand-held sensor gives them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter

from scannet_tools.demo.camera import SETTINGS as CAMERA
from scannet_tools.demo.solid import Solid
from scannet_tools.demo.textures import SIZE
from spacecast.frames import Intrinsics, Transform


@dataclass(frozen=True)
class PhotoSettings:
    """Sensor noise; our own, after the Structure sensor of ScanNet."""

    color_noise: float = 2.5
    """Standard deviation of a colour value of 0 to 255."""
    depth_noise: float = 0.0012
    """Standard deviation of depth in metres at 1 m; grows with the square of depth."""
    grazing: float = 0.16
    """Cosine of the angle to a surface below which no depth comes back."""
    near_m: float = 0.4
    far_m: float = 6.0
    edge_m: float = 0.08
    """A step in depth beside which depth is lost."""
    speckle: float = 0.004
    """Share of pixels that are lost anywhere."""
    blur_px: tuple[int, int] = (21, 61)
    """Lengths of motion blur down and across in blurred frames: they fail the test of SEMANTICS section 7."""
    coarse_px: int = 208
    """Width of the pictures between frames, of which only what they hit is kept."""


SETTINGS = PhotoSettings()


class Photo(NamedTuple):
    """One frame: color (H, W, 3) uint8; depth_mm (h, w) uint16, 0 where unknown; face (H, W) int32, -1 for none."""

    color: NDArray[np.uint8]
    depth_mm: NDArray[np.uint16]
    face: NDArray[np.int32]


class Shot(NamedTuple):
    """One look: color (H, W, 3) uint8; depth_m (H, W) float32 along z, 0 for none; along (H, W, 3) float32, the rays in
    world; face (H, W) int32, -1 for none."""

    color: NDArray[np.uint8]
    depth_m: NDArray[np.float32]
    along: NDArray[np.float32]
    face: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Sensor:
    """A camera with the rays of its pixels: (H, W, 3) float32 in the camera frame, z = 1."""

    intrinsics: Intrinsics
    rays: NDArray[np.float32]

    @classmethod
    def of(cls, intrinsics: Intrinsics) -> Sensor:
        """The sensor of a camera."""
        u, v = np.meshgrid(np.arange(intrinsics.width), np.arange(intrinsics.height))
        return cls(intrinsics, intrinsics.rays(np.stack([u, v], axis=-1)).astype(np.float32))


def photo_of(
    solid: Solid,
    camera: Transform,
    sensor: Sensor,
    chance: np.random.Generator,
    *,
    exposure: float = 1.0,
    blurred: bool = False,
    threads: int = 0,
) -> Photo:
    """Look at a room through one camera, with its depth sensor beside it."""
    shot = shot_of(solid, camera, sensor.rays, chance, exposure=exposure, blurred=blurred, threads=threads)
    return Photo(shot.color, _depth(solid, shot.depth_m, shot.along, shot.face, chance), shot.face)


def shot_of(
    solid: Solid,
    camera: Transform,
    rays: NDArray[np.float32],
    chance: np.random.Generator,
    *,
    exposure: float = 1.0,
    blurred: bool = False,
    threads: int = 0,
) -> Shot:
    """Look at a room along the rays of a camera's pixels, (H, W, 3) in the camera frame with z = 1."""
    along = rays @ camera.rotation.T.astype(np.float32)
    origin = camera.translation.astype(np.float32)
    hits = solid.rays.cast(origin, along, threads=threads)
    there = hits.face >= 0
    t = np.where(there, hits.t, 0).astype(np.float32)
    shown = _shaded(solid, origin, along, t, np.where(there, hits.face, 0))
    shown *= (there * np.float32(exposure))[..., None]
    soft = shown.copy()  # a lens is not sharper than this
    soft[:, 1:-1] += shown[:, :-2] * np.float32(0.5) + shown[:, 2:] * np.float32(0.5)
    soft[:, 1:-1] *= np.float32(0.5)
    if blurred:
        soft = uniform_filter(soft, (*SETTINGS.blur_px, 1), mode="nearest")
    soft += chance.standard_normal(t.shape, dtype=np.float32)[..., None] * np.float32(SETTINGS.color_noise)
    color = np.clip(soft, 0, 255, out=soft).astype(np.uint8)
    return Shot(color, t, along, hits.face)


def _shaded(
    solid: Solid,
    origin: NDArray[np.float32],
    along: NDArray[np.float32],
    t: NDArray[np.float32],
    face: NDArray[np.int32],
) -> NDArray[np.float32]:
    """(H, W, 3) float32 colours of 0 to 255 where rays meet faces."""
    maps = solid.maps[face]  # (H, W, 3, 4)
    points = along * t[..., None] + origin
    values = np.einsum("hwki,hwi->hwk", maps[..., :3], points)
    values += maps[..., 3]
    uv = values[..., :2]
    cell = ((uv - np.floor(uv)) * np.float32(SIZE)).astype(np.int32)
    np.clip(cell, 0, SIZE - 1, out=cell)
    texel = (solid.material[face] * SIZE + cell[..., 1]) * SIZE + cell[..., 0]
    brightness = np.clip(values[..., 2], 0.15, 1.35)
    return solid.textures.reshape(-1, 3)[texel] * brightness[..., None]


def faces_seen(
    solid: Solid, cameras: Iterable[Transform], rays: NDArray[np.float32], *, threads: int = 0
) -> NDArray[np.bool_]:
    """(m,) True for faces that rays (H, W, 3) in the camera frame hit from any of the cameras."""
    seen = np.zeros(len(solid.faces), dtype=bool)
    for camera in cameras:
        hits = solid.rays.cast(
            camera.translation.astype(np.float32), rays @ camera.rotation.T.astype(np.float32), threads=threads
        )
        seen[hits.face[hits.face >= 0]] = True
    return seen


def coarse_rays(intrinsics: Intrinsics) -> NDArray[np.float32]:
    """Rays of a coarse picture of a camera."""
    width = SETTINGS.coarse_px
    return Sensor.of(intrinsics.scaled_to(width, width * intrinsics.height // intrinsics.width)).rays


def _depth(
    solid: Solid,
    depth_m: NDArray[np.float32],
    along: NDArray[np.float32],
    face: NDArray[np.int32],
    chance: np.random.Generator,
) -> NDArray[np.uint16]:
    step = CAMERA.depth_step
    pick = (slice(step // 2, None, step), slice(step // 2, None, step))
    depth, ray, faces = depth_m[pick].astype(np.float64), along[pick], face[pick]
    there = faces >= 0
    normal = solid.normals[np.where(there, faces, 0)]
    cosine = np.abs(np.einsum("hwi,hwi->hw", normal, ray)) / np.linalg.norm(ray, axis=-1)
    jump = np.zeros(depth.shape, dtype=bool)
    for axis in (0, 1):
        difference = np.abs(np.diff(depth, axis=axis)) > SETTINGS.edge_m
        lost = difference & (chance.random(difference.shape) < 0.6)
        if axis == 0:
            jump[1:] |= lost
            jump[:-1] |= lost
        else:
            jump[:, 1:] |= lost
            jump[:, :-1] |= lost
    keep = there & (cosine > SETTINGS.grazing * chance.uniform(0.7, 1.3, depth.shape)) & ~jump
    keep &= (depth > SETTINGS.near_m) & (depth < SETTINGS.far_m) & (chance.random(depth.shape) > SETTINGS.speckle)
    noisy = depth + chance.normal(size=depth.shape) * SETTINGS.depth_noise * depth**2
    return np.where(keep, np.round(noisy * 1000), 0).astype(np.uint16)
