"""A smallest ScanNet scene, written here byte by byte: the tests' own writers, apart from those under test."""

from __future__ import annotations

import io
import json
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

NAME = "scene0007_01"
WIDTH, HEIGHT = 64, 48

# Two triangles that stand alone and share a corner of the grid: six vertices, segments 5 5 5 9 9 2.
VERTICES = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (2, 2, 1), (3, 2, 1), (2, 3, 1.5)]
FACES = [(0, 1, 2), (3, 4, 5)]
SEGMENTS = [5, 5, 5, 9, 9, 2]
GROUPS = [
    {"id": 0, "objectId": 0, "segments": [5], "label": "Table"},
    {"id": 1, "objectId": 7, "segments": [9, 2], "label": "office chair"},
]
# A quarter turn about z and a shift: world = (-y + 10, x + 20, z + 0.5).
ALIGNMENT = [0, -1, 0, 10, 1, 0, 0, 20, 0, 0, 1, 0.5, 0, 0, 0, 1]
TEXT = {
    "axisAlignment": " ".join(map(str, ALIGNMENT)),
    "colorWidth": WIDTH,
    "colorHeight": HEIGHT,
    "depthWidth": 32,
    "depthHeight": 24,
    "fx_color": 60.0,
    "fy_color": 61.0,
    "mx_color": 31.0,
    "my_color": 23.0,
    "fx_depth": 30.0,
    "fy_depth": 30.5,
    "mx_depth": 15.0,
    "my_depth": 11.0,
    "sceneType": "Office",
}


def check_one_line(error: Exception) -> None:
    assert "\n" not in str(error)


def ply_bytes(
    vertices=VERTICES, faces=FACES, *, vertex_count: int | None = None, face_count: int | None = None
) -> bytes:
    head = (
        "ply\nformat binary_little_endian 1.0\ncomment by hand\n"
        f"element vertex {len(vertices) if vertex_count is None else vertex_count}\n"
        "property float x\nproperty float y\nproperty float z\n"
        "property uchar red\nproperty uchar green\nproperty uchar blue\nproperty uchar alpha\n"
        f"element face {len(faces) if face_count is None else face_count}\n"
        "property list uchar int vertex_indices\nend_header\n"
    ).encode()
    body = b"".join(struct.pack("<fff4B", *v, 10 * i % 256, 20, 30, 255) for i, v in enumerate(vertices))
    return head + body + b"".join(struct.pack(f"<B{len(f)}i", len(f), *f) for f in faces)


def ply_text(vertices=VERTICES, faces=FACES) -> bytes:
    lines = ["ply", "format ascii 1.0", f"element vertex {len(vertices)}"]
    lines += [f"property float {axis}" for axis in "xyz"]
    lines += [f"element face {len(faces)}", "property list uchar int vertex_index", "end_header"]
    lines += [" ".join(map(str, v)) for v in vertices] + [" ".join(map(str, (len(f), *f))) for f in faces]
    return ("\n".join(lines) + "\n").encode()


def jpeg(width: int = WIDTH, height: int = HEIGHT, value: int = 90) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (width, height), (value, value // 2, 5)).save(buffer, format="JPEG", quality=95)
    return buffer.getvalue()


def depth_png(millimetres: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(millimetres.astype(np.uint16)).save(buffer, format="PNG")
    return buffer.getvalue()


def pose(x: float = 0.0) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
    matrix[0, 3] = x
    return matrix


def broken_poses() -> dict[str, np.ndarray]:
    lines = {}
    for name, value in (("inf", -np.inf), ("nan", np.nan), ("zero", 0.0)):
        lines[name] = np.full((4, 4), value)
    lines["one nan"] = pose()
    lines["one nan"][1, 3] = np.nan
    lines["mirror"] = pose() @ np.diag([1.0, 1.0, -1.0, 1.0])
    lines["flat"] = pose() @ np.diag([1.0, 1.0, 0.0, 1.0])
    lines["scaled"] = pose() @ np.diag([1.1, 1.1, 1.1, 1.0])
    lines["skewed"] = pose()
    lines["skewed"][0, 1] = 0.05
    lines["last row"] = pose()
    lines["last row"][3] = [0, 0, 1, 1]
    return lines


def matrix_text(matrix) -> str:
    return "\n".join(" ".join(f"{value:f}" for value in row) for row in matrix) + "\n"


def sens_bytes(
    frames: Sequence[tuple[np.ndarray, bytes, bytes]],
    *,
    version: int = 4,
    name: bytes = b"sensor",
    color_code: int = 2,
    depth_code: int = 1,
    sides: tuple[int, int, int, int] = (WIDTH, HEIGHT, 32, 24),
    shift: float = 1000.0,
    count: int | None = None,
) -> bytes:
    color = np.diag([60, 61, 1, 1]).astype("<f4")
    color[:2, 2] = 31, 23
    depth = np.diag([30, 30.5, 1, 1]).astype("<f4")
    depth[:2, 2] = 15, 11
    eye = np.eye(4, dtype="<f4")
    out = struct.pack("<I", version) + struct.pack("<Q", len(name)) + name
    out += color.tobytes() + eye.tobytes() + depth.tobytes() + eye.tobytes()
    out += struct.pack("<ii", color_code, depth_code) + struct.pack("<IIII", *sides) + struct.pack("<f", shift)
    out += struct.pack("<Q", len(frames) if count is None else count)
    for number, (matrix, color_data, depth_data) in enumerate(frames):
        out += np.asarray(matrix, dtype="<f4").tobytes() + struct.pack("<QQ", 1000 + number, 2000 + number)
        out += struct.pack("<QQ", len(color_data), len(depth_data)) + color_data + depth_data
    return out + struct.pack("<Q", 0)


def depth_payload(value: int = 1500, *, width: int = 32, height: int = 24) -> bytes:
    return zlib.compress(np.full((height, width), value, dtype="<u2").tobytes())


def write_scene(root: Path, name: str = NAME, *, labels: bool = True, text: dict | None = None) -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    (folder / f"{name}_vh_clean_2.ply").write_bytes(ply_bytes())
    if labels:
        write_segments(folder, SEGMENTS)
        write_groups(folder, GROUPS)
    write_text(folder, TEXT if text is None else text)
    (root / "scannetv2-labels.combined.tsv").write_text("raw_category\n")  # knows no label
    return folder


def write_segments(folder: Path, numbers, ending: str = "_vh_clean_2.0.010000.segs.json") -> None:
    (folder / f"{folder.name}{ending}").write_text(json.dumps({"segIndices": numbers}))


def write_groups(folder: Path, groups, ending: str = ".aggregation.json") -> None:
    (folder / f"{folder.name}{ending}").write_text(json.dumps({"segGroups": groups}))


def write_text(folder: Path, values: dict) -> None:
    (folder / f"{folder.name}.txt").write_text("".join(f"{key} = {value}\n" for key, value in values.items()))


def write_frame(folder: Path, name: str, *, matrix=None, color: bytes | None = b"", depth: bytes | None = None) -> None:
    """Exported files; ``color`` empty: a usual photo, None: no photo."""
    for part in ("color", "depth", "pose"):
        (folder / part).mkdir(exist_ok=True)
    (folder / "pose" / f"{name}.txt").write_text(matrix_text(pose() if matrix is None else matrix))
    if color is not None:
        (folder / "color" / f"{name}.jpg").write_bytes(color or jpeg())
    if depth is not None:
        (folder / "depth" / f"{name}.png").write_bytes(depth)
