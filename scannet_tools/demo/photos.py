"""Colour pictures and depth of a solid room as a hand-held sensor gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    blur_px: int = 23
    """Length of motion blur in blurred frames."""


SETTINGS = PhotoSettings()


class Photo(NamedTuple):
    """One frame: color (H, W, 3) uint8; depth_mm (h, w) uint16, 0 where unknown; face (H, W) int32, -1 for none."""

    color: NDArray[np.uint8]
    depth_mm: NDArray[np.uint16]
    face: NDArray[np.int32]


def photo_of(
    solid: Solid,
    camera: Transform,
    intrinsics: Intrinsics,
    chance: np.random.Generator,
    *,
    exposure: float = 1.0,
    blurred: bool = False,
    threads: int = 0,
) -> Photo:
    """Look at a room through one camera."""
    u, v = np.meshgrid(np.arange(intrinsics.width), np.arange(intrinsics.height))
    rays = intrinsics.rays(np.stack([u, v], axis=-1)).astype(np.float32)
    along = rays @ camera.rotation.T.astype(np.float32)
    origin = camera.translation.astype(np.float32)
    hits = solid.rays.cast(origin, along, threads=threads)
    face = hits.face
    there = face >= 0
    t = np.where(there, hits.t, 0).astype(np.float32)
    points = origin + along * t[..., None]
    at = np.where(there, face, 0)
    texel = solid.texel[at]
    uv = np.einsum("hwki,hwi->hwk", texel[..., :3], points) + texel[..., 3]
    cell = ((uv - np.floor(uv)) * SIZE).astype(np.int32).clip(0, SIZE - 1)
    albedo = solid.textures[solid.material[at], cell[..., 1], cell[..., 0]]
    light = solid.light[at]
    brightness = np.einsum("hwi,hwi->hw", light[..., :3], points) + light[..., 3]
    brightness = np.clip(brightness, 0.05, 1.6) * there * exposure
    linear = albedo * brightness[..., None]
    soft = linear.copy()  # a lens is not sharper than this
    soft[:, 1:-1] = 0.25 * linear[:, :-2] + 0.5 * linear[:, 1:-1] + 0.25 * linear[:, 2:]
    if blurred:
        kernel = SETTINGS.blur_px
        sums = np.cumsum(np.pad(soft, ((0, 0), (kernel // 2 + 1, kernel // 2), (0, 0)), mode="edge"), axis=1)
        soft = (sums[:, kernel:] - sums[:, :-kernel]) / kernel
    color = np.clip(soft, 0, 1) ** np.float32(1 / 1.6) * 255
    color += chance.normal(0, SETTINGS.color_noise, size=color.shape[:2]).astype(np.float32)[..., None]
    return Photo(np.clip(color, 0, 255).astype(np.uint8), _depth(solid, t, along, face, chance), face)


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
