"""Photos of a camera with a fisheye lens, and the same without the lens, as ScanNet++ has them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates

from scannet_tools.demo.colmap import ModelImage, ModelPoints, write_model
from scannet_tools.demo.photos import Shot, faces_seen, shot_of
from scannet_tools.demo.site import Site, jpeg_of, write_bytes, write_json
from spacecast.frames import Intrinsics, Transform

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DslrSettings:
    """The demo's DSLR; all our own, after the photos of ScanNet++ at less than half their size."""

    width_px: int = 768
    height_px: int = 512
    focal_share: float = 0.45
    """Focal length over the width: about 127 degrees across."""
    photos: int = 26
    """Photos of the walk, at most every second frame."""
    test_every: int = 8
    bad: int = 2
    """Photos that the hand blurred, and the dataset marks as bad."""
    coarse_step: int = 3
    """Every so many pixels are looked up to find what the photos show."""
    absent: int = 1
    """Photos that are listed, and were not downloaded."""
    points: int = 500
    """Points that the COLMAP model knows, where two photos show them."""
    point_reach_m: float = 0.02
    """A point is seen where the surface lies no farther from it along the ray."""


SETTINGS = DslrSettings()


@dataclass(frozen=True)
class Fisheye:
    """OpenCV's fisheye camera: a ray at an angle t from the axis meets the picture at the distance
    f (t + k1 t^3 + k2 t^5 + k3 t^7 + k4 t^9) from its middle. Pixel centres are whole numbers."""

    fx: float
    fy: float
    cx: float
    cy: float
    k: tuple[float, float, float, float]
    width: int
    height: int

    def bent(self, angle: Array) -> Array:
        """Distance from the middle, in focal lengths, of rays at angles from the axis, in radians."""
        square = angle**2
        k1, k2, k3, k4 = self.k
        return angle * (1 + square * (k1 + square * (k2 + square * (k3 + square * k4))))

    def project(self, points_in_camera: NDArray[np.floating]) -> Array:
        """Pixels (..., 2) of points (..., 3); nan for what is not in front of the camera."""
        points = np.asarray(points_in_camera, dtype=np.float64)
        off = np.hypot(points[..., 0], points[..., 1])
        angle = np.where(points[..., 2] > 1e-9, np.arctan2(off, points[..., 2]), np.nan)
        stretch = np.where(off > 1e-12, self.bent(angle) / np.maximum(off, 1e-12), 0.0)
        pixel = points[..., :2] * stretch[..., None] * (self.fx, self.fy) + (self.cx, self.cy)
        pixel[np.isnan(angle)] = np.nan
        return pixel

    def rays(self) -> Array:
        """(H, W, 3) directions through the pixels, z = 1."""
        u, v = np.meshgrid(np.arange(self.width), np.arange(self.height))
        x, y = (u - self.cx) / self.fx, (v - self.cy) / self.fy
        distance = np.hypot(x, y)
        table = np.linspace(0.0, 1.5, 3001)  # a start for Newton's steps
        bent = self.bent(table)
        angle = np.interp(distance, bent, table)
        k1, k2, k3, k4 = self.k
        for _ in range(3):
            square = angle**2
            slope = 1 + square * (3 * k1 + square * (5 * k2 + square * (7 * k3 + square * 9 * k4)))
            angle = angle - (self.bent(angle) - distance) / slope
        stretch = np.where(distance > 1e-12, np.tan(angle) / np.maximum(distance, 1e-12), 1.0)
        return np.stack([x * stretch, y * stretch, np.ones_like(x)], axis=-1)

    def undistorted(self) -> Intrinsics:
        """The pinhole camera of the same size whose whole picture lies within this one's."""
        low, high = np.array([-self.cx, -self.cy]), np.array([self.width - 1 - self.cx, self.height - 1 - self.cy])
        table = np.linspace(0.0, 1.5, 3001)
        bent = self.bent(table)
        edges = np.minimum(-low, high) / (self.fx, self.fy)
        slopes = np.tan(np.interp(edges, bent, table))
        half = np.array([self.width, self.height]) / 2
        focal = float((half / slopes).max())
        return Intrinsics(focal, focal, half[0] - 0.5, half[1] - 0.5, self.width, self.height)


def fisheye_of(chance: np.random.Generator) -> Fisheye:
    """A camera a little unlike the last one."""
    focal = SETTINGS.width_px * SETTINGS.focal_share * chance.uniform(0.99, 1.01)
    return Fisheye(
        focal,
        focal * chance.uniform(0.998, 1.002),
        (SETTINGS.width_px - 1) / 2 + chance.uniform(-4, 4),
        (SETTINGS.height_px - 1) / 2 + chance.uniform(-4, 4),
        (
            chance.uniform(0.02, 0.05),
            chance.uniform(-0.012, 0.004),
            chance.uniform(-0.002, 0.002),
            chance.uniform(-4e-4, 4e-4),
        ),
        SETTINGS.width_px,
        SETTINGS.height_px,
    )


class Entry(NamedTuple):
    """A photo that is listed: its name, the frame of the walk it was taken at, and what became of it."""

    name: str
    frame: int
    is_test: bool
    is_bad: bool
    on_disk: bool


def entries_of(site: Site, chance: np.random.Generator) -> list[Entry]:
    """The photos of a walk, in the order in which they were taken."""
    there = [number for number in range(len(site.poses)) if number not in site.lost]
    count = min(SETTINGS.photos, len(there) // 2)
    frames = [there[at] for at in np.linspace(0, len(there) - 1, count).round().astype(int)]
    numbers = int(chance.integers(1000, 8000)) + np.cumsum(chance.integers(1, 4, count))
    test = np.arange(count) % SETTINGS.test_every == SETTINGS.test_every - 1
    odd = chance.choice(np.flatnonzero(~test)[1:-1], SETTINGS.bad + SETTINGS.absent, replace=False)
    bad, absent = set(odd[: SETTINGS.bad].tolist()), set(odd[SETTINGS.bad :].tolist())
    return [
        Entry(f"DSC{numbers[k]:05d}.JPG", frame, bool(test[k]), k in bad, k not in absent)
        for k, frame in enumerate(frames)
    ]


def dslr_of(site: Site) -> tuple[Fisheye, list[Entry]]:
    """The DSLR that was along on a walk, and its photos."""
    chance = site.chance("dslr")
    return fisheye_of(chance), entries_of(site, chance)


def dslr_sees(site: Site, *, threads: int = 0) -> NDArray[np.bool_]:
    """(m,) True for faces that the photos show, looked up at some of their pixels: all that they show was scanned."""
    camera, entries = dslr_of(site)
    step = slice(SETTINGS.coarse_step // 2, None, SETTINGS.coarse_step)
    rays = camera.rays()[step, step].astype(np.float32)
    return faces_seen(site.solid, [site.poses[entry.frame] for entry in entries], rays, threads=threads)


def write_dslr(folder: Path, site: Site, points: ModelPoints, *, threads: int = 0) -> list[Entry]:
    """Write ``dslr/`` of a scene: photos, poses in both forms, lists; returns what is listed."""
    camera, entries = dslr_of(site)
    plain = camera.undistorted()
    rays = camera.rays().astype(np.float32)
    u, v = np.meshgrid(np.arange(plain.width), np.arange(plain.height))
    bent = camera.project(plain.rays(np.stack([u, v], axis=-1)))
    across = np.stack([bent[..., 1], bent[..., 0]])
    images = []
    for entry in entries:
        pose = site.poses[entry.frame]
        frame_chance = site.chance("dslr", entry.frame)
        exposure = float(frame_chance.uniform(0.96, 1.04))
        shot = shot_of(site.solid, pose, rays, frame_chance, exposure=exposure, blurred=entry.is_bad, threads=threads)
        if entry.on_disk:
            write_bytes(folder / "resized_images" / entry.name, jpeg_of(shot.color))
            without = np.stack([map_coordinates(shot.color[..., c], across, order=1, mode="nearest") for c in range(3)])
            write_bytes(folder / "resized_undistorted_images" / entry.name, jpeg_of(np.moveaxis(without, 0, -1)))
        images.append(_image(entry.name, pose, camera, shot, points))
    _write_transforms(folder / "nerfstudio", site, entries, camera, plain)
    write_json(
        folder / "train_test_lists.json",
        {
            "train": [entry.name for entry in entries if not entry.is_test],
            "test": [entry.name for entry in entries if entry.is_test],
            "has_masks": False,
        },
        indent=4,
    )
    numbers = [*_numbers(camera).values(), *camera.k]
    parameters = " ".join(repr(float(value)) for value in numbers)
    text = f"OPENCV_FISHEYE {camera.width} {camera.height} {parameters}"
    write_model(folder / "colmap", text, images, points, site.chance("dslr", "model"))
    return entries


def _image(name: str, pose: Transform, camera: Fisheye, shot: Shot, points: ModelPoints) -> ModelImage:
    in_camera = pose.inverse() @ points.places
    pixels = camera.project(in_camera)
    return ModelImage(name, pose, *seen_in(shot.depth_m, in_camera[:, 2], pixels, reach_m=SETTINGS.point_reach_m))


def seen_in(
    depth_m: NDArray[np.floating], away_m: Array, pixels: Array, *, reach_m: float
) -> tuple[Array, NDArray[np.int64]]:
    """Pixels and numbers of the points that a picture shows, given its depth (H, W) and theirs (n,), both along z."""
    height, width = depth_m.shape
    whole = np.nan_to_num(np.round(pixels), nan=-1, posinf=-1, neginf=-1).astype(int)
    inside = np.all((whole >= 0) & (whole < (width, height)), axis=1)
    at = np.where(inside[:, None], whole, 0)
    seen = np.flatnonzero(inside & (np.abs(depth_m[at[:, 1], at[:, 0]] - away_m) < reach_m))
    return pixels[seen], seen


def _numbers(camera: Fisheye | Intrinsics) -> dict[str, float]:
    return {"fl_x": camera.fx, "fl_y": camera.fy, "cx": camera.cx, "cy": camera.cy}


def nerfstudio_matrix(world_from_camera: Transform) -> Array:
    """(4, 4) camera to world with OpenGL camera axes, in the world whose x and y are swapped and whose z is negated."""
    matrix = world_from_camera.matrix
    matrix[:3, 1:3] *= -1
    matrix = matrix[[1, 0, 2, 3]]
    matrix[2] *= -1
    return matrix


def _write_transforms(folder: Path, site: Site, entries: list[Entry], camera: Fisheye, plain: Intrinsics) -> None:
    frames: dict[bool, list[dict[str, Any]]] = {False: [], True: []}
    for entry in entries:
        matrix = nerfstudio_matrix(site.poses[entry.frame]) + 0.0
        frames[entry.is_test].append(
            {"file_path": entry.name, "transform_matrix": matrix.tolist(), "is_bad": entry.is_bad}
        )
    bent = dict(zip(("k1", "k2", "k3", "k4"), camera.k, strict=True))
    for name, one, model, rest in (
        ("transforms.json", camera, "OPENCV_FISHEYE", bent),
        ("transforms_undistorted.json", plain, "PINHOLE", dict.fromkeys(bent, 0.0)),
    ):
        values = {
            **_numbers(one), "w": one.width, "h": one.height, **rest, "camera_model": model,
            "frames": frames[False], "test_frames": frames[True],
        }  # fmt: skip
        write_json(folder / name, values, indent=4)
