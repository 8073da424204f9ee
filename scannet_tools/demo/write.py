"""Writes demo scans: raw ScanNet v2 files, and beside them the truth that readers never look at."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from scannet_tools.demo.camera import between, depth_intrinsics_of, intrinsics_of, path_of
from scannet_tools.demo.furnish import KINDS, SCENE_TYPES, furnished
from scannet_tools.demo.label_map import write_label_map
from scannet_tools.demo.photos import Sensor, faces_seen, photo_of
from scannet_tools.demo.rooms import Layout, Placed
from scannet_tools.demo.scanner import UNLABELLED, ScanMesh, scanned
from scannet_tools.demo.solid import Solid, solid_of
from scannet_tools.ply import write_ply
from scannet_tools.sens import SensHeader, SensWriter
from spacecast.dataset.chance import generator
from spacecast.dataset.pool import run
from spacecast.errors import InputError, SpacecastError
from spacecast.files import write_whole
from spacecast.frames import Intrinsics, Transform

TRUTH_NAME = "truth.json"
TRUTH_SCHEMA = "spacecast-demo-truth/1"


@dataclass(frozen=True)
class WriteSettings:
    """How frames are stored; all our own."""

    jpeg_quality: int = 88
    blurred_share: float = 0.06
    """Share of frames that the hand blurred."""
    pieces: int = 3
    """The scanner looked so many times as often as frames are stored."""
    frame_time_us: int = 333_333


SETTINGS = WriteSettings()


class Capture(NamedTuple):
    """What the scanner brought home, and from where: ``world_from_camera`` of each frame, frames without a pose."""

    mesh: ScanMesh
    poses: list[Transform]
    lost: set[int]
    scan_from_world: Transform


def write_demo(directory: str | Path, scenes: int, seed: int, *, workers: int = 1) -> list[Path]:
    """Write demo scans and their label map; scene k is the same whatever else is written.

    Args:
        directory: gets ``scans/`` and the label map.
        scenes: how many, from number 0.
        seed: of all chance.
        workers: processes; what is written does not depend on it.

    Returns:
        The scenes' folders.

    Raises:
        InputError: no scenes asked for, or the directory is a file.
    """
    root = Path(directory)
    if scenes < 1 or scenes > 10_000:
        raise InputError(f"{scenes} scenes cannot be written; ask for 1 to 10000")
    if root.exists() and not root.is_dir():
        raise InputError(f"{root}: is a file; give a folder to write demo scans to")
    root.mkdir(parents=True, exist_ok=True)
    write_label_map(root)
    one = partial(_write_scene, root, seed)
    if workers <= 1 or scenes == 1:
        return [one(index) for index in range(scenes)]
    written = run(partial(_write_scene, root, seed, threads=1), range(scenes), workers=min(workers, scenes), died=_died)
    return [folder for _, folder in sorted(written)]


def _died(index: int) -> Path:
    raise SpacecastError(f"demo scene {index}: its process was killed each time; give fewer --scenes, or free memory")


def write_demo_scan(directory: str | Path, *, seed: int, index: int) -> Path:
    """Write one demo scan, ``<directory>/scans/scene<index>_00``, and the label map; returns the scan's folder.

    What is written depends on (seed, index) alone.
    """
    root = Path(directory)
    root.mkdir(parents=True, exist_ok=True)
    write_label_map(root)
    return _write_scene(root, seed, index)


def _write_scene(root: Path, seed: int, index: int, threads: int = 0) -> Path:
    scene_id = f"scene{index:04d}_00"
    folder = root / "scans" / scene_id
    folder.mkdir(parents=True, exist_ok=True)
    kind = KINDS[(index + int(generator("demo", seed, "kinds").integers(len(KINDS)))) % len(KINDS)]
    layout = furnished(generator("demo", seed, index, "room"), kind)
    solid = solid_of(layout, seed, index)
    chance = generator("demo", seed, index, "camera")
    poses = path_of(layout, solid, chance)
    color_camera = intrinsics_of(chance)
    sensor = Sensor.of(color_camera)
    depth_camera = depth_intrinsics_of(color_camera)
    scan_from_world = _raw_frame(chance)
    lost = {int(n) for n in chance.choice(np.arange(3, len(poses) - 3), int(chance.integers(1, 3)), replace=False)}
    hit = faces_seen(solid, between(poses, SETTINGS.pieces), color_camera, threads=threads)
    header = SensHeader(
        color_camera.width, color_camera.height, depth_camera.width, depth_camera.height,
        _four(color_camera), _four(depth_camera), sensor_name="demo",
    )  # fmt: skip
    with SensWriter(folder / f"{scene_id}.sens", header, zlib_level=3) as writer:
        for number, pose in enumerate(poses):
            frame_chance = generator("demo", seed, index, "frame", number)
            photo = photo_of(
                solid, pose, sensor, frame_chance,
                exposure=float(frame_chance.uniform(0.92, 1.08)),
                blurred=bool(frame_chance.random() < SETTINGS.blurred_share), threads=threads,
            )  # fmt: skip
            hit[photo.face[photo.face >= 0]] = True
            stored = np.full((4, 4), -np.inf) if number in lost else (scan_from_world @ pose).matrix
            time_us = number * SETTINGS.frame_time_us
            writer.add(stored, _jpeg(photo.color), photo.depth_mm, times=(time_us, time_us))
    mesh = scanned(solid, layout, hit, generator("demo", seed, index, "scanner"))
    ids = _object_ids(mesh, generator("demo", seed, index, "ids"))
    write_ply(folder / f"{scene_id}_vh_clean_2.ply", scan_from_world @ mesh.vertices, mesh.faces, mesh.colors)
    _write_json(
        folder / f"{scene_id}_vh_clean_2.0.010000.segs.json",
        {
            "params": {"kThresh": "0.010000", "segMinVerts": "20"},
            "sceneId": scene_id,
            "segIndices": mesh.segments.tolist(),
        },
    )
    _write_json(folder / f"{scene_id}.aggregation.json", _aggregation(scene_id, solid, mesh, ids))
    _write_text(
        folder / f"{scene_id}.txt",
        _description(scan_from_world.inverse(), color_camera, depth_camera, len(poses), SCENE_TYPES[kind]),
    )
    _write_json(folder / TRUTH_NAME, _truth(scene_id, kind, layout, ids, Capture(mesh, poses, lost, scan_from_world)))
    return folder


def _raw_frame(chance: np.random.Generator) -> Transform:
    """``scan_from_world``: a turn that is plainly off the axes, and a shift."""
    yaw = float(chance.integers(4)) * 90.0 + chance.uniform(12.0, 78.0)
    turn = Transform.from_yaw_deg(yaw, target="scan", source="world")
    shift = np.append(chance.uniform(2.0, 6.0, 2), chance.uniform(-0.2, 0.2))
    return Transform("scan", "world", turn.rotation, np.round(shift, 6))


def _four(camera: Intrinsics) -> NDArray[np.float32]:
    matrix = np.eye(4, dtype=np.float32)
    matrix[:3, :3] = camera.matrix
    return matrix


def _jpeg(color: NDArray[np.uint8]) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(color).save(buffer, "JPEG", quality=SETTINGS.jpeg_quality)
    return buffer.getvalue()


def _object_ids(mesh: ScanMesh, chance: np.random.Generator) -> dict[int, int]:
    """Owner -> objectId of what is annotated: in no order of ours, from 0, with a gap or two as after corrections."""
    owners = np.unique(mesh.label_owner[mesh.label_owner != UNLABELLED])
    numbers = list(range(len(owners) + 2))
    for _ in range(2):
        numbers.pop(int(chance.integers(1, len(numbers) - 1)))
    return {int(owner): number for owner, number in zip(chance.permutation(owners), numbers, strict=True)}


def _aggregation(scene_id: str, solid: Solid, mesh: ScanMesh, ids: dict[int, int]) -> dict[str, Any]:
    groups = []
    for position, (owner, number) in enumerate(sorted(ids.items(), key=lambda item: item[1])):
        segments = np.unique(mesh.segments[mesh.label_owner == owner]).tolist()
        groups.append({"id": position, "objectId": number, "segments": segments, "label": solid.names[owner]})
    return {
        "sceneId": f"scannet.{scene_id}",
        "appId": "spacecast.demo",
        "segGroups": groups,
        "segmentsFile": f"scannet.{scene_id}_vh_clean_2.0.010000.segs.json",
    }


def _description(world_from_scan: Transform, color: Intrinsics, depth: Intrinsics, frames: int, scene_type: str) -> str:
    identity = " ".join(f"{value:.6f}" for value in np.eye(4).ravel())
    lines = {
        "axisAlignment": " ".join(f"{value:.6f}" for value in world_from_scan.matrix.ravel()),
        "colorHeight": color.height,
        "colorToDepthExtrinsics": identity,
        "colorWidth": color.width,
        "depthHeight": depth.height,
        "depthWidth": depth.width,
        "fx_color": f"{color.fx:.6f}",
        "fx_depth": f"{depth.fx:.6f}",
        "fy_color": f"{color.fy:.6f}",
        "fy_depth": f"{depth.fy:.6f}",
        "mx_color": f"{color.cx:.6f}",
        "mx_depth": f"{depth.cx:.6f}",
        "my_color": f"{color.cy:.6f}",
        "my_depth": f"{depth.cy:.6f}",
        "numColorFrames": frames,
        "numDepthFrames": frames,
        "numIMUmeasurements": 0,
        "sceneType": scene_type,
    }
    return "".join(f"{name} = {value}\n" for name, value in lines.items())


def _truth(scene_id: str, kind: str, layout: Layout, ids: dict[int, int], capture: Capture) -> dict[str, Any]:
    """What the generator knows, in world: boxes of the labelled vertices before noise and without bleeding."""
    objects, attachment = [], []
    mesh = capture.mesh
    for owner, number in sorted(ids.items(), key=lambda item: item[1]):
        points = mesh.clean[mesh.owner == owner]
        placed = layout.placed[owner] if owner < len(layout.placed) else None
        low, high = points.min(axis=0), points.max(axis=0)
        objects.append(
            {
                "id": number,
                "label": _label(placed) if placed else _structure_label(owner, layout),
                "structure": placed is None or placed.support == "structure",
                "support": placed.support if placed else None,
                "min": _rounded(low),
                "max": _rounded(high),
                "center": _rounded((low + high) / 2),
                "yaw_deg": round(placed.pose.yaw_deg, 4) if placed else 0.0,
                "vertices": len(points),
                "bled_onto": int(((mesh.label_owner == owner) & (mesh.owner != owner)).sum()),
                "bled_away": int(((mesh.label_owner != owner) & (mesh.owner == owner)).sum()),
            }
        )
        if placed and placed.parent is not None:
            attachment.append({"parent": ids[placed.parent], "child": number, "kind": placed.kind})
    return {
        "schema": TRUTH_SCHEMA,
        "scene_id": scene_id,
        "kind": kind,
        "room": [_rounded(corner) for corner in layout.room.corners],
        "height_m": layout.room.height_m,
        "scan_from_world": _rounded(capture.scan_from_world.matrix.ravel(), 9),
        "objects": objects,
        "attachment": attachment,
        "poses": [
            {"frame": n, "world_from_camera": _rounded(p.matrix.ravel(), 9), "lost": n in capture.lost}
            for n, p in enumerate(capture.poses)
        ],
    }


def _label(placed: Placed) -> str:
    return placed.thing.label


def _structure_label(owner: int, layout: Layout) -> str:
    after = owner - len(layout.placed)
    return "floor" if after == 0 else "wall" if after <= len(layout.room.walls) else "ceiling"


def _rounded(values: NDArray[np.floating], digits: int = 5) -> list[float]:
    return [round(float(value), digits) + 0.0 for value in values]


def _write_json(path: Path, value: dict[str, Any]) -> None:
    _write_text(path, json.dumps(value, separators=(",", ":")) + "\n")


def _write_text(path: Path, text: str) -> None:
    with write_whole(path) as aside:
        aside.write_text(text, encoding="utf-8", newline="\n")
