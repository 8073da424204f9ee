"""Cameras, the rays through their pixels, and where a box lies in a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spacecast.frames import Array, Intrinsics, Transform
from spacecast.scan import View


@dataclass(frozen=True)
class CameraSettings:
    """How far around a picture something is looked for."""

    near_m: float = 1e-3
    """Boxes are cut off this close in front of the camera's plane: what lies behind has no place in a picture (own)."""
    max_off_axis_deg: float = 75.0
    """What lies further than this to one side of the optical axis, beyond the picture, is not counted in a full
    silhouette, since its size on the image plane grows without bounds (own)."""


SETTINGS = CameraSettings()


class Camera(NamedTuple):
    """A posed pinhole camera: ``world_from_camera`` with OpenCV axes, and ``intrinsics`` with the picture's size."""

    world_from_camera: Transform
    intrinsics: Intrinsics

    def scaled_to_width(self, width_px: int) -> Camera:
        """The same camera with a picture of this width and the nearest whole height of the same shape."""
        intrinsics = self.intrinsics
        height_px = max(1, round(intrinsics.height * width_px / intrinsics.width))
        return Camera(self.world_from_camera, intrinsics.scaled_to(width_px, height_px))


def camera_of(view_or_camera: View | Camera) -> Camera:
    """The camera of a view (at the size of its picture), or the camera itself."""
    if isinstance(view_or_camera, View):
        return Camera(view_or_camera.world_from_camera, view_or_camera.intrinsics)
    return view_or_camera


class Window(NamedTuple):
    """Whole pixels ``left <= column < right`` and ``top <= row < bottom``; may reach beyond the picture."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def area(self) -> int:
        """Pixels in it."""
        return max(0, self.right - self.left) * max(0, self.bottom - self.top)

    @property
    def slices(self) -> tuple[slice, slice]:
        """Index of the window in an image that holds all of it."""
        return slice(self.top, self.bottom), slice(self.left, self.right)

    def within(self, other: Window) -> Window:
        """The part that lies in another window; of area 0 where none does."""
        left, top = max(self.left, other.left), max(self.top, other.top)
        return Window(left, top, max(left, min(self.right, other.right)), max(top, min(self.bottom, other.bottom)))

    @classmethod
    def of(cls, intrinsics: Intrinsics) -> Window:
        """The whole picture."""
        return cls(0, 0, intrinsics.width, intrinsics.height)


NOTHING = Window(0, 0, 0, 0)


def pixel_rays(
    mesh_from_camera: Transform, intrinsics: Intrinsics, columns: ArrayLike, rows: ArrayLike
) -> NDArray[np.float32]:
    """Rays (..., 6) in a mesh's frame through pixels, whose hit parameter is depth along the optical axis.

    Args:
        mesh_from_camera: from the camera into the frame of the mesh.
        intrinsics: of the picture.
        columns: pixel coordinates, broadcast with ``rows``: (C,) and (R, 1) give a picture (R, C, 6).
        rows: pixel coordinates.
    """
    x = (np.asarray(columns, dtype=np.float64) - intrinsics.cx) / intrinsics.fx
    y = (np.asarray(rows, dtype=np.float64) - intrinsics.cy) / intrinsics.fy
    rays = np.empty((*np.broadcast_shapes(x.shape, y.shape), 6), dtype=np.float32)
    for axis, (right, down, forward) in enumerate(mesh_from_camera.rotation.tolist()):  # long rows, not threes
        rays[..., axis] = mesh_from_camera.translation[axis]
        np.add(x * right, y * down + forward, out=rays[..., 3 + axis], casting="same_kind")
    return rays


def window_rays(mesh_from_camera: Transform, intrinsics: Intrinsics, window: Window) -> NDArray[np.float32]:
    """Rays (h, w, 6) through every pixel of a window."""
    columns, rows = np.arange(window.left, window.right), np.arange(window.top, window.bottom)
    return pixel_rays(mesh_from_camera, intrinsics, columns, rows[:, None])


_CORNERS = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)])
_EDGES = np.array([(a, a | bit) for bit in (1, 2, 4) for a in range(8) if not a & bit])


def box_window(bounds: Array, mesh_from_camera: Transform, intrinsics: Intrinsics) -> Window:
    """The smallest window that a box can be seen in, beyond the picture too, up to ``max_off_axis_deg``.

    Args:
        bounds: (2, 3) lowest and highest corner, in the mesh's frame.
        mesh_from_camera: from the camera into that frame.
        intrinsics: of the picture.
    """
    corners = np.take_along_axis(bounds, _CORNERS, axis=0)
    points = (corners - mesh_from_camera.translation) @ mesh_from_camera.rotation
    depth = points[:, 2]
    if not (depth > SETTINGS.near_m).all():  # cut the box where it passes the camera's plane
        one, other = points[_EDGES[:, 0]], points[_EDGES[:, 1]]
        crossing = (one[:, 2] > SETTINGS.near_m) != (other[:, 2] > SETTINGS.near_m)
        one, other = one[crossing], other[crossing]
        share = (SETTINGS.near_m - one[:, 2]) / (other[:, 2] - one[:, 2])
        points = np.concatenate([points[depth > SETTINGS.near_m], one + share[:, None] * (other - one)])
        if not len(points):
            return NOTHING
    x, y = points[:, 0] / points[:, 2], points[:, 1] / points[:, 2]
    limit = np.tan(np.radians(SETTINGS.max_off_axis_deg))
    ends = []
    for tangent, focal, center, size in (
        (x, intrinsics.fx, intrinsics.cx, intrinsics.width),
        (y, intrinsics.fy, intrinsics.cy, intrinsics.height),
    ):
        low, high = min(center - limit * focal, -1.0), max(center + limit * focal, size)
        first, last = focal * float(tangent.min()) + center, focal * float(tangent.max()) + center
        # One pixel more than needed, for rays are rounded to float32.
        ends.append((int(np.floor(max(first, low))) - 1, int(np.ceil(min(last, high))) + 2))
    (left, right), (top, bottom) = ends
    return Window(left, top, right, bottom) if left < right and top < bottom else NOTHING
