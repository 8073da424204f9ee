"""A demo scene as raw ScanNet v2 files."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scannet_tools.demo.camera import depth_intrinsics_of
from scannet_tools.demo.furnish import SCENE_TYPES
from scannet_tools.demo.photos import Photo
from scannet_tools.demo.scanner import ScanMesh
from scannet_tools.demo.site import SETTINGS, TRUTH_NAME, Site, object_ids, truth_of, write_json, write_text
from scannet_tools.demo.solid import Solid
from scannet_tools.ply import write_ply
from scannet_tools.sens import SensHeader, SensWriter
from spacecast.frames import Intrinsics, Transform


def scene_id_of(index: int) -> str:
    """The name of scene ``index``."""
    return f"scene{index:04d}_00"


class ScanNetFiles:
    """Writes ``scans/<scene id>`` in a root."""

    def __init__(self, root: Path, site: Site) -> None:
        self.site = site
        self.scene_id = scene_id_of(site.index)
        self.folder = root / "scans" / self.scene_id
        self.folder.mkdir(parents=True, exist_ok=True)
        color = site.color_camera
        self.depth_camera = depth_intrinsics_of(color)
        header = SensHeader(
            color.width, color.height, self.depth_camera.width, self.depth_camera.height,
            _four(color), _four(self.depth_camera), sensor_name="demo",
        )  # fmt: skip
        self._sens = SensWriter(self.folder / f"{self.scene_id}.sens", header, zlib_level=3)

    def __enter__(self) -> ScanNetFiles:
        self._sens.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sens.__exit__(kind, error, trace)

    def add(self, number: int, photo: Photo, jpeg: bytes, *, threads: int = 0) -> None:
        """Store one frame of the walk."""
        lost = number in self.site.lost
        stored = np.full((4, 4), -np.inf) if lost else (self.site.scan_from_world @ self.site.poses[number]).matrix
        time_us = number * SETTINGS.frame_time_us
        self._sens.add(stored, jpeg, photo.depth_mm, times=(time_us, time_us))

    def finish(self, mesh: ScanMesh, *, threads: int = 0) -> None:
        """Store mesh, annotation, description and truth."""
        site, scene_id = self.site, self.scene_id
        scan_from_world = site.scan_from_world
        ids = object_ids(mesh, site.chance("ids"))
        mesh_path = self.folder / f"{scene_id}_vh_clean_2.ply"
        write_ply(mesh_path, scan_from_world @ mesh.vertices, mesh.faces, mesh.colors)
        write_json(
            self.folder / f"{scene_id}_vh_clean_2.0.010000.segs.json",
            {
                "params": {"kThresh": "0.010000", "segMinVerts": "20"},
                "sceneId": scene_id,
                "segIndices": mesh.segments.tolist(),
            },
        )
        write_json(self.folder / f"{scene_id}.aggregation.json", _aggregation(scene_id, site.solid, mesh, ids))
        write_text(
            self.folder / f"{scene_id}.txt",
            _description(
                scan_from_world.inverse(), site.color_camera, self.depth_camera, len(site.poses), SCENE_TYPES[site.kind]
            ),
        )
        write_json(self.folder / TRUTH_NAME, truth_of(scene_id, site, mesh, ids, scan_from_world))


def _four(camera: Intrinsics) -> NDArray[np.float32]:
    matrix = np.eye(4, dtype=np.float32)
    matrix[:3, :3] = camera.matrix
    return matrix


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
