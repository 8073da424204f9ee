"""COLMAP text models of demo scenes: world to camera, quaternions w x y z, points with their tracks.

Principal points and pixels count from the middle of the first pixel, as OpenCV does, to which ScanNet++'s own tools
hand these numbers as they stand (COLMAP itself counts from that pixel's corner).
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from scannet_tools.demo.site import write_text
from spacecast.frames import Transform

Array = NDArray[np.float64]


class ModelImage(NamedTuple):
    """A registered picture.

    ``pixels`` (n, 2) of the points that it shows, and ``points`` (n,) their numbers.
    """

    name: str
    world_from_camera: Transform
    pixels: Array
    points: NDArray[np.int64]


class ModelPoints(NamedTuple):
    """Points (n, 3) in world and their colours (n, 3) uint8."""

    places: Array
    colors: NDArray[np.uint8]


def write_model(
    folder: Path,
    camera: str,
    images: list[ModelImage],
    points: ModelPoints,
    chance: np.random.Generator,
) -> None:
    """Write ``cameras.txt``, ``images.txt`` and ``points3D.txt``, without points that fewer than two pictures show.

    Args:
        folder: to write to.
        camera: model, size and parameters of the one camera, as COLMAP writes them.
        images: in capture order; their ids come in another one, as COLMAP's do.
        points: what ``ModelImage.points`` number.
        chance: for the order of ids, and for the errors of the points.
    """
    ids = (chance.permutation(len(images)) + 1).tolist()
    shown = np.bincount(np.concatenate([image.points for image in images]), minlength=len(points.places))
    kept = np.flatnonzero(shown >= 2)
    point_ids = np.full(len(shown), -1, dtype=np.int64)
    point_ids[kept] = np.sort(chance.choice(np.arange(1, 4 * len(kept) + 1), len(kept), replace=False))
    errors = chance.uniform(0.2, 0.9, len(shown))
    tracks: dict[int, list[str]] = {int(point): [] for point in kept}
    lines = []
    for image_id, image in sorted(zip(ids, images, strict=True)):
        camera_from_world = image.world_from_camera.inverse()
        x, y, z, w = Rotation.from_matrix(camera_from_world.rotation).as_quat(canonical=True)
        numbers = " ".join(repr(float(value)) for value in (w, x, y, z, *camera_from_world.translation))
        lines.append(f"{image_id} {numbers} 1 {image.name}")
        seen = []
        for at, (pixel, point) in enumerate(zip(image.pixels, image.points.tolist(), strict=True)):
            seen.append(f"{pixel[0]:.3f} {pixel[1]:.3f} {point_ids[point]}")
            if point in tracks:
                tracks[point].append(f"{image_id} {at}")
        lines.append(" ".join(seen))
    write_text(
        folder / "cameras.txt",
        "# Camera list with one line of data per camera:\n#   CAMERA_ID, MODEL, WIDTH, HEIGHT, PARAMS[]\n"
        f"# Number of cameras: 1\n1 {camera}\n",
    )
    observed = sum(len(image.points) for image in images) / len(images)
    write_text(
        folder / "images.txt",
        "# Image list with two lines of data per image:\n"
        "#   IMAGE_ID, QW, QX, QY, QZ, TX, TY, TZ, CAMERA_ID, NAME\n#   POINTS2D[] as (X, Y, POINT3D_ID)\n"
        f"# Number of images: {len(images)}, mean observations per image: {observed!r}\n" + "\n".join(lines) + "\n",
    )
    length = float(np.mean([len(track) for track in tracks.values()])) if tracks else 0.0
    rows = []
    for point, track in tracks.items():
        place = " ".join(repr(float(value)) for value in points.places[point])
        color = " ".join(str(value) for value in points.colors[point].tolist())
        rows.append(f"{point_ids[point]} {place} {color} {errors[point]:.6f} {' '.join(track)}\n")
    write_text(
        folder / "points3D.txt",
        "# 3D point list with one line of data per point:\n"
        "#   POINT3D_ID, X, Y, Z, R, G, B, ERROR, TRACK[] as (IMAGE_ID, POINT2D_IDX)\n"
        f"# Number of points: {len(rows)}, mean track length: {length!r}\n" + "".join(rows),
    )
