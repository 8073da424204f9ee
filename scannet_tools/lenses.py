"""Cameras with distortion, and pictures without it: OpenCV's fisheye and radial-tangential models.

A ray (x, y, 1) of the camera meets the picture at ``fx x' + cx, fy y' + cy``. Without distortion x' = x. Fisheye
(``OPENCV_FISHEYE``): r = |(x, y)|, theta = atan r, (x', y') = (x, y) theta (1 + k1 theta^2 + k2 theta^4 + k3 theta^6 +
k4 theta^8) / r. Radial (``OPENCV`` and simpler ones): x' = x (1 + k1 r^2 + k2 r^4 + k3 r^6 + k4 r^8) + 2 p1 x y +
p2 (r^2 + 2 x^2), and y' likewise.

Numbers are taken as files state them: principal points count from the middle of the first pixel, as OpenCV does, which
made the undistorted pictures. (COLMAP counts from its corner: half a pixel of a picture 1752 wide.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scannet_tools.scannet_frames import Camera, check_camera
from spacecast.errors import FrameError, InputError
from spacecast.frames import Intrinsics


@dataclass(frozen=True)
class LensSettings:
    """What counts as a lens, and bounds in taking distortion out of pictures."""

    min_zoom: float = 0.05
    """The widest undistorted picture: its focal length as a share of the lens's (own)."""
    max_zoom: float = 4.0
    """The narrowest one (own)."""
    zoom_steps: int = 40
    """Halvings in the search between both (own; beyond double precision's need for a pixel)."""
    fold_samples: int = 4096
    """Rays on which a lens is searched for the angle where its polynomial turns back (own)."""
    max_radius: float = 3.0
    """Distance from the axis, at z = 1, up to which a radial lens is believed (own; 72 degrees)."""


SETTINGS = LensSettings()

# Parameters in the order of a COLMAP cameras.txt.
_COLMAP_PARAMETERS = {
    "SIMPLE_PINHOLE": ("f", "cx", "cy"),
    "PINHOLE": ("fx", "fy", "cx", "cy"),
    "SIMPLE_RADIAL": ("f", "cx", "cy", "k1"),
    "RADIAL": ("f", "cx", "cy", "k1", "k2"),
    "OPENCV": ("fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2"),
    "OPENCV_FISHEYE": ("fx", "fy", "cx", "cy", "k1", "k2", "k3", "k4"),
    "SIMPLE_RADIAL_FISHEYE": ("f", "cx", "cy", "k1"),
    "RADIAL_FISHEYE": ("f", "cx", "cy", "k1", "k2"),
}
MODELS = tuple(_COLMAP_PARAMETERS)


@dataclass(frozen=True)
class Lens:
    """A camera as a file states it, for pictures of one size.

    Attributes:
        fx, fy, cx, cy: focal lengths and principal point in pixels.
        width, height: of the picture that these are for.
        kind: which formula at the head of this module.
        radial: k1 to k4.
        tangential: p1 and p2, of a radial lens.

    Raises:
        FrameError: values that are not finite, or that no camera has: a size beyond that of pictures, a principal point
            outside of the picture, a focal length beyond the bounds of ``scannet_frames.SETTINGS``.
    """

    fx: float
    fy: float
    cx: float
    cy: float
    width: int
    height: int
    kind: Literal["radial", "fisheye"] = "radial"
    radial: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    tangential: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        Intrinsics(self.fx, self.fy, self.cx, self.cy, self.width, self.height)
        if not np.isfinite([*self.radial, *self.tangential]).all():
            raise FrameError(f"distortion needs finite values: found {self.radial} and {self.tangential}")
        check_camera((self.fx, self.fy), (self.cx, self.cy), (self.width, self.height))

    @classmethod
    def from_colmap(cls, model: str, parameters: ArrayLike, width: int, height: int) -> Lens:
        """From a line of ``cameras.txt``.

        Raises:
            FrameError: a model that is not known, another number of parameters, or values that no camera has.
        """
        names = _COLMAP_PARAMETERS.get(model)
        if names is None:
            raise FrameError(f"camera model {model[:40]!r} is not known; known: {', '.join(MODELS)}")
        values = np.asarray(parameters, dtype=np.float64)
        if values.shape != (len(names),):
            raise FrameError(f"camera model {model} has {len(names)} parameters, found {values.size}")
        return cls.from_parameters(model, dict(zip(names, values.tolist(), strict=True)), width, height)

    @classmethod
    def from_parameters(cls, model: str, values: dict[str, float], width: int, height: int) -> Lens:
        """From named parameters: ``fx fy cx cy`` (or ``f``), ``k1`` to ``k4``, ``p1 p2``; those left out are 0.

        Raises:
            FrameError: a model that is not known, or values that no camera has.
        """
        if model not in _COLMAP_PARAMETERS:
            raise FrameError(f"camera model {model[:40]!r} is not known; known: {', '.join(MODELS)}")
        k1, k2, k3, k4, p1, p2 = (float(values.get(name, 0.0)) for name in ("k1", "k2", "k3", "k4", "p1", "p2"))
        fx, fy = values.get("fx", values.get("f", 0.0)), values.get("fy", values.get("f", 0.0))
        kind: Literal["radial", "fisheye"] = "fisheye" if model.endswith("FISHEYE") else "radial"
        return cls(fx, fy, values["cx"], values["cy"], width, height, kind, (k1, k2, k3, k4), (p1, p2))

    @property
    def is_pinhole(self) -> bool:
        """True if the picture needs no undistorting."""
        return self.kind == "radial" and not any(self.radial) and not any(self.tangential)

    @property
    def pinhole(self) -> Intrinsics:
        """Focal lengths and principal point without the distortion."""
        return Intrinsics(self.fx, self.fy, self.cx, self.cy, self.width, self.height)

    def scaled_to(self, size: tuple[int, int]) -> Lens | None:
        """The same lens with its picture resized, each axis by its own factor; None where the aspect is another."""
        scaled = Camera(self.fx, self.fy, self.cx, self.cy, (self.width, self.height)).intrinsics(size)
        if scaled is None:
            return None
        return replace(
            self, fx=scaled.fx, fy=scaled.fy, cx=scaled.cx, cy=scaled.cy, width=scaled.width, height=scaled.height
        )

    def project(self, points_in_camera: ArrayLike) -> NDArray[np.float64]:
        """Pixels (..., 2) of the distorted picture for points (..., 3).

        nan for points that are not in front of the camera, or beyond the angle where the lens's polynomial turns back.
        """
        points = np.asarray(points_in_camera, dtype=np.float64)
        depth = np.where(points[..., 2] > 1e-9, points[..., 2], np.nan)
        x, y = points[..., 0] / depth, points[..., 1] / depth
        radius = np.hypot(x, y)
        k1, k2, k3, k4 = self.radial
        if self.kind == "fisheye":
            angle = np.arctan(radius)
            s = angle * angle
            stretch = 1.0 + s * (k1 + s * (k2 + s * (k3 + s * k4)))
            with np.errstate(invalid="ignore", divide="ignore"):
                stretch = stretch * np.where(radius > 1e-12, angle / radius, 1.0)
            bent_x, bent_y = x * stretch, y * stretch
        else:
            s = radius * radius
            p1, p2 = self.tangential
            stretch = 1.0 + s * (k1 + s * (k2 + s * (k3 + s * k4)))
            bent_x = x * stretch + 2.0 * p1 * x * y + p2 * (s + 2.0 * x * x)
            bent_y = y * stretch + 2.0 * p2 * x * y + p1 * (s + 2.0 * y * y)
        believed = radius <= _max_radius(self.kind, self.radial)
        pixels = np.stack([self.fx * bent_x + self.cx, self.fy * bent_y + self.cy], axis=-1)
        return np.where(believed[..., None], pixels, np.nan)

    def undistorted(self) -> Intrinsics:
        """The pinhole camera of the undistorted picture: the widest that this lens fills, at the same size.

        It keeps the principal point and the ratio of the focal lengths; every pixel of its border, and so every
        pixel, comes from the lens's picture. (OpenCV's ``estimateNewCameraMatrixForUndistortRectify`` with balance 0
        is made for the same end.)

        Raises:
            FrameError: no pinhole camera within the bounds of :data:`SETTINGS` is filled by this lens.
        """
        return self.pinhole if self.is_pinhole else _widest_of(self)

    def _widest(self) -> Intrinsics:
        border = _border_pixels(self.width, self.height)

        def at(zoom: float) -> Intrinsics:
            return replace(self.pinhole, fx=self.fx * zoom, fy=self.fy * zoom)

        def is_filled(zoom: float) -> bool:
            return bool(self._is_inside(self.project(at(zoom).rays(border))).all())

        low, high = SETTINGS.min_zoom, SETTINGS.max_zoom
        if not is_filled(high):
            raise FrameError(f"the lens {self} fills no undistorted picture")
        for _ in range(SETTINGS.zoom_steps):
            middle = (low + high) / 2.0
            low, high = (low, middle) if is_filled(middle) else (middle, high)
        return at(high)

    def _is_inside(self, pixels: NDArray[np.float64]) -> NDArray[np.bool_]:
        x, y = pixels[..., 0], pixels[..., 1]  # nan is outside
        return (x >= -0.5) & (x <= self.width - 0.5) & (y >= -0.5) & (y <= self.height - 0.5)


def undistort(
    picture: NDArray[np.generic], lens: Lens, target: Intrinsics, *, nearest: bool = False
) -> NDArray[np.generic]:
    """A picture (H, W) or (H, W, C) of a lens as a pinhole camera would have taken it.

    Args:
        picture: of the lens's size.
        lens: what took it.
        target: camera and size of the result.
        nearest: take the nearest pixel (depth); otherwise four are mixed.

    Returns:
        (h, w) or (h, w, C) of the same dtype; 0 where the lens saw nothing.

    Raises:
        InputError: the picture is not of the lens's size.
    """
    from scipy.ndimage import map_coordinates

    if picture.shape[:2] != (lens.height, lens.width):
        raise InputError(
            f"the picture is {picture.shape[1]} x {picture.shape[0]} px, its lens is for {lens.width} x {lens.height}"
        )
    where = _source_pixels(lens, target)
    planes = picture[..., None] if picture.ndim == 2 else picture
    out = np.empty((target.height, target.width, planes.shape[2]), dtype=picture.dtype)
    for plane in range(planes.shape[2]):
        taken = map_coordinates(
            planes[..., plane], where.coordinates, order=0 if nearest else 1, mode="nearest", output=np.float32
        )
        if np.issubdtype(picture.dtype, np.integer):
            taken = np.rint(taken)
        out[..., plane] = np.where(where.seen, taken, 0)
    return out[..., 0] if picture.ndim == 2 else out


def load_undistorted(
    load: Callable[[], NDArray[np.generic]], lens: Lens, target: Intrinsics, nearest: bool = False
) -> NDArray[np.generic]:
    """What a loader gives, undistorted; a partial of it is a loader that can be pickled."""
    return undistort(load(), lens, target, nearest=nearest)


class _Source(NamedTuple):
    coordinates: NDArray[np.float32]  # (2, h, w): row and column in the lens's picture
    seen: NDArray[np.bool_]


@lru_cache(maxsize=64)  # all photos of a camera ask for it
def _widest_of(lens: Lens) -> Intrinsics:
    return lens._widest()


@lru_cache(maxsize=2)  # one map serves all photos of a camera; 25 MB at 1752 x 1168
def _source_pixels(lens: Lens, target: Intrinsics) -> _Source:
    columns, rows = np.meshgrid(np.arange(target.width), np.arange(target.height))
    pixels = lens.project(target.rays(np.stack([columns, rows], axis=-1)))
    seen = lens._is_inside(pixels)
    pixels = np.where(seen[..., None], pixels, 0.0)
    coordinates = np.ascontiguousarray(pixels[..., ::-1].transpose(2, 0, 1), dtype=np.float32)
    coordinates.setflags(write=False)
    seen.setflags(write=False)
    return _Source(coordinates, seen)


@lru_cache(maxsize=64)
def _max_radius(kind: str, radial: tuple[float, float, float, float]) -> float:
    """Distance from the axis, at z = 1, beyond which the distorted radius no longer grows."""
    fisheye = kind == "fisheye"
    end = np.pi / 2.0 if fisheye else SETTINGS.max_radius
    u = np.linspace(0.0, end, SETTINGS.fold_samples, endpoint=False)
    k1, k2, k3, k4 = radial
    s = u * u
    slope = 1.0 + s * (3.0 * k1 + s * (5.0 * k2 + s * (7.0 * k3 + s * 9.0 * k4)))
    folds = np.flatnonzero(slope <= 0.0)
    last = float(u[folds[0] - 1]) if len(folds) else float(end)
    if not fisheye:
        return last if len(folds) or any(radial) else float("inf")
    return float(np.tan(last)) if len(folds) else float("inf")


def _border_pixels(width: int, height: int) -> NDArray[np.float64]:
    """(n, 2) pixels along the border of a picture."""
    x, y = np.arange(width, dtype=np.float64), np.arange(height, dtype=np.float64)
    sides = [
        np.stack([x, np.zeros_like(x)], axis=1),
        np.stack([x, np.full_like(x, height - 1)], axis=1),
        np.stack([np.zeros_like(y), y], axis=1),
        np.stack([np.full_like(y, width - 1), y], axis=1),
    ]
    return np.concatenate(sides)
