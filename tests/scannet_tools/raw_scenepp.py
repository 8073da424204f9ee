"""A smallest ScanNet++ scene, written here by hand: the tests' own writers, apart from those under test.

One camera stands at (1, 2, 1.5) in the mesh's world and looks along +x: its right is -y, its down is -z. The corner
(3, 1, 1) of the box is 1 m right, 0.5 m down and 2 m ahead of it.
"""

from __future__ import annotations

import io
import json
import struct
import zlib
from pathlib import Path

import numpy as np
from PIL import Image
from raw_scene import ply_bytes

NAME = "0a7cc12c0e"
WIDTH, HEIGHT = 160, 120

CORNER = (3.0, 1.0, 1.0)
WORLD_FROM_CAMERA = [[0, 0, 1, 1], [-1, 0, 0, 2], [0, -1, 0, 1.5], [0, 0, 0, 1]]
# Camera from world has the rows right, down, forward; by hand: w = 1/2, x = 1/2, y = -1/2, z = 1/2; t = -R (1, 2, 1.5).
COLMAP_LINE = "0.5 0.5 -0.5 0.5 2 1.5 -1"
# The columns right, up, back and place, each with x and y swapped and z negated.
NERFSTUDIO = [[-1, 0, 0, 2], [0, 0, -1, 1], [0, -1, 0, -1.5], [0, 0, 0, 1]]

# A box of 12 triangles (object 3) with CORNER first, two triangles that stand alone (object 0), one nobody's.
_BOX = [(x, y, z) for z in (1.0, 0.0) for x, y in ((3, 1), (4, 1), (4, 0), (3, 0))]
VERTICES = [*_BOX, (0, 0, 0), (1, 0, 0), (0, 1, 0), (5, 5, 1), (6, 5, 1), (5, 6, 1)]
_SIDES = [(0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7), (0, 3, 2, 1), (4, 5, 6, 7)]
FACES = [t for a, b, c, d in _SIDES for t in ((a, b, c), (a, c, d))] + [(8, 9, 10), (11, 12, 13)]
OBB = {
    "centroid": [3.5, 0.5, 0.5],
    "axesLengths": [1, 1, 1],
    "normalizedAxes": [1, 0, 0, 0, 1, 0, 0, 0, 1],
    "min": [-7, -7, -7],
    "max": [-6, -6, -6],
}
GROUPS = [
    {"id": 3, "objectId": 3, "segments": list(range(8)), "label": "Storage Cabinet", "obb": OBB},
    {"id": 0, "objectId": 0, "segments": [8, 9, 10], "label": "REMOVE"},
]
LENS = {"fl_x": 100.0, "fl_y": 100.0, "cx": 80.0, "cy": 60.0, "w": WIDTH, "h": HEIGHT}
FISHEYE_K = (0.1, 0.0, 0.0, 0.0)


def jpeg(width: int = WIDTH, height: int = HEIGHT, value: int = 90) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (width, height), (value, value // 2, 5)).save(buffer, format="JPEG", quality=95)
    return buffer.getvalue()


def write_scene(root: Path, name: str = NAME, *, groups=GROUPS, numbers=None) -> Path:
    folder = root / "data" / name
    (folder / "scans").mkdir(parents=True)
    (folder / "scans/mesh_aligned_0.05.ply").write_bytes(ply_bytes(VERTICES, FACES))
    numbers = list(range(len(VERTICES))) if numbers is None else numbers
    (folder / "scans/segments.json").write_text(json.dumps({"segIndices": numbers}))
    (folder / "scans/segments_anno.json").write_text(json.dumps({"segGroups": groups}))
    return folder


def frame(name: str, matrix=NERFSTUDIO, **more) -> dict:
    return {"file_path": name, "transform_matrix": np.asarray(matrix).tolist(), **more}


def write_transforms(folder: Path, frames: list[dict], tests: list[dict] = (), *, flat: bool = True, **more) -> None:
    model = "PINHOLE" if flat else "OPENCV_FISHEYE"
    k = dict(zip(("k1", "k2", "k3", "k4"), (0.0,) * 4 if flat else FISHEYE_K, strict=True))
    data = {**LENS, "camera_model": model, **k, "frames": frames, "test_frames": list(tests), **more}
    path = folder / "dslr/nerfstudio" / ("transforms_undistorted.json" if flat else "transforms.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))


def write_photo(folder: Path, name: str, data: bytes | None = None, *, flat: bool = True) -> None:
    path = folder / "dslr" / ("resized_undistorted_images" if flat else "resized_images") / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(jpeg() if data is None else data)


def write_colmap(folder: Path, part: str, poses: dict[str, str], camera: str | None = None) -> None:
    place = folder / part / "colmap"
    place.mkdir(parents=True, exist_ok=True)
    k = " ".join(map(str, FISHEYE_K))
    camera = camera or f"OPENCV_FISHEYE {WIDTH} {HEIGHT} 100 100 80 60 {k}"
    (place / "cameras.txt").write_text(f"# Camera list\n# Number of cameras: 1\n1 {camera}\n")
    lines = [f"{i} {pose} 1 {name}\n10.5 20.5 -1 11 21 7\n" for i, (name, pose) in enumerate(poses.items(), start=1)]
    lines = [line if i else f"{line.splitlines()[0]}\n\n" for i, line in enumerate(lines)]  # the first has no points
    (place / "images.txt").write_text("# Image list with two lines of data per image:\n" + "".join(lines))
    (place / "points3D.txt").write_text("# 3D point list\n")


def write_tracking(folder: Path, entries: dict) -> None:
    path = folder / "iphone/pose_intrinsic_imu.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(entries))


def tracked(matrix=WORLD_FROM_CAMERA, *, f: float = 100.0, cx: float = 80.0, cy: float = 60.0) -> dict:
    """``pose`` is in another world: whoever takes it is far off."""
    wrong = np.eye(4)
    wrong[:3, 3] = 50.0
    return {
        "timestamp": 1.5,
        "pose": wrong.tolist(),
        "aligned_pose": np.asarray(matrix).tolist(),
        "intrinsic": [[f, 0, cx], [0, f, cy], [0, 0, 1]],
        "imu": {"rotate_rate": [0, 0, 0]},
    }


def write_rgb(folder: Path, name: str, data: bytes | None = None) -> None:
    path = folder / "iphone/rgb" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(jpeg() if data is None else data)


def depth_mm(number: int) -> np.ndarray:
    """(192, 256) uint16 millimetres, another picture for each number, with a hole."""
    rows, columns = np.mgrid[:192, :256]
    picture = (1000 + 10 * number + rows + (columns // 16)).astype("<u2")
    picture[5, 7] = 0
    return picture


def deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def literal_lz4(data: bytes) -> bytes:
    """An lz4 block of literals alone: a token, the rest of the length in 255s, the bytes."""
    more, last = divmod(len(data) - 15, 255)
    return b"\xf0" + b"\xff" * more + bytes([last]) + data


def depth_bin(form: str, numbers) -> bytes:
    pictures = [depth_mm(n) for n in numbers]
    metres = [(p / np.float32(1000)).astype("<f4").tobytes() for p in pictures]
    if form == "one block":
        return deflate(b"".join(metres))
    blocks = [deflate(m) for m in metres] if form == "deflate" else [literal_lz4(p.tobytes()) for p in pictures]
    return b"".join(struct.pack("<I", len(b)) + b for b in blocks)


def write_dslr_scene(root: Path, name: str = NAME) -> Path:
    """A scene with one undistorted photo and nothing wrong."""
    folder = write_scene(root, name)
    write_photo(folder, "DSC01.JPG")
    write_transforms(folder, [frame("DSC01.JPG")])
    return folder
