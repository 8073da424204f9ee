"""What is the same in every layout: the room, the walk through it, what the scanner brings home, and the truth."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from scannet_tools.demo.camera import intrinsics_of, path_of
from scannet_tools.demo.furnish import KINDS, furnished
from scannet_tools.demo.photos import Photo
from scannet_tools.demo.rooms import Layout
from scannet_tools.demo.scanner import ScanMesh
from scannet_tools.demo.solid import Solid, solid_of
from spacecast.dataset.chance import generator
from spacecast.files import write_whole
from spacecast.frames import Intrinsics, Transform

TRUTH_NAME = "truth.json"
TRUTH_SCHEMA = "spacecast-demo-truth/1"


@dataclass(frozen=True)
class SiteSettings:
    """How pictures are stored; our own."""

    jpeg_quality: int = 88
    frame_time_us: int = 333_333


SETTINGS = SiteSettings()


@dataclass(frozen=True, eq=False)
class Site:
    """A furnished room and the walk through it.

    Attributes:
        seed, index: of all chance in it.
        kind: of room.
        poses: ``world_from_camera`` of each frame.
        color_camera: the hand-held camera.
        scan_from_world: where a raw frame lies that is not aligned.
        lost: numbers of frames whose pose the tracker lost.
    """

    seed: int
    index: int
    kind: str
    layout: Layout
    solid: Solid
    poses: list[Transform]
    color_camera: Intrinsics
    scan_from_world: Transform
    lost: frozenset[int]

    def chance(self, *what: str | int) -> np.random.Generator:
        """The generator of one use of chance in this room."""
        return generator("demo", self.seed, self.index, *what)


def site_of(seed: int, index: int) -> Site:
    """Room ``index`` of a seed; it depends on nothing else."""
    kind = KINDS[(index + int(generator("demo", seed, "kinds").integers(len(KINDS)))) % len(KINDS)]
    layout = furnished(generator("demo", seed, index, "room"), kind)
    solid = solid_of(layout, seed, index)
    chance = generator("demo", seed, index, "camera")
    poses = path_of(layout, solid, chance)
    color_camera = intrinsics_of(chance)
    scan_from_world = _raw_frame(chance)
    lost = chance.choice(np.arange(3, len(poses) - 3), int(chance.integers(1, 3)), replace=False)
    return Site(seed, index, kind, layout, solid, poses, color_camera, scan_from_world, frozenset(int(n) for n in lost))


def _raw_frame(chance: np.random.Generator) -> Transform:
    """``scan_from_world``: a turn that is plainly off the axes, and a shift."""
    yaw = float(chance.integers(4)) * 90.0 + chance.uniform(12.0, 78.0)
    turn = Transform.from_yaw_deg(yaw, target="scan", source="world")
    shift = np.append(chance.uniform(2.0, 6.0, 2), chance.uniform(-0.2, 0.2))
    return Transform("scan", "world", turn.rotation, np.round(shift, 6))


class Files(Protocol):
    """Writes one scene in one layout, inside a with block: every frame, then the mesh."""

    folder: Path

    def __enter__(self) -> Files: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def add(self, number: int, photo: Photo, jpeg: bytes, *, threads: int = 0) -> None:
        """Store one frame of the walk."""

    def finish(self, mesh: ScanMesh, *, threads: int = 0) -> None:
        """Store what is left."""


def object_ids(mesh: ScanMesh, chance: np.random.Generator, *, first: int = 0) -> dict[int, int]:
    """Owner -> objectId of what is annotated: in no order of ours, with a gap or two as after corrections."""
    owners = mesh.annotated
    numbers = list(range(first, first + len(owners) + 2))
    for _ in range(2):
        numbers.pop(int(chance.integers(1, len(numbers) - 1)))
    return {int(owner): number for owner, number in zip(chance.permutation(owners), numbers, strict=True)}


def truth_of(scene_id: str, site: Site, mesh: ScanMesh, ids: dict[int, int], scan: Transform) -> dict[str, Any]:
    """What the generator knows, in world: boxes of the labelled vertices before noise and without bleeding.

    Args:
        scene_id: as in the layout.
        site: the room.
        mesh: what was scanned of it.
        ids: owner -> objectId in this layout.
        scan: ``scan_from_world`` of this layout.
    """
    layout = site.layout
    objects, attachment = [], []
    for owner, number in sorted(ids.items(), key=lambda item: item[1]):
        points = mesh.clean[mesh.owner == owner]
        placed = layout.placed[owner] if owner < len(layout.placed) else None
        low, high = points.min(axis=0), points.max(axis=0)
        objects.append(
            {
                "id": number,
                "label": placed.thing.label if placed else _structure_label(owner, layout),
                "structure": placed is None or placed.support == "structure",
                "support": placed.support if placed else None,
                "min": rounded(low),
                "max": rounded(high),
                "center": rounded((low + high) / 2),
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
        "kind": site.kind,
        "room": [rounded(corner) for corner in layout.room.corners],
        "height_m": layout.room.height_m,
        "scan_from_world": rounded(scan.matrix.ravel(), 9),
        "objects": objects,
        "attachment": attachment,
        "poses": [
            {"frame": n, "world_from_camera": rounded(p.matrix.ravel(), 9), "lost": n in site.lost}
            for n, p in enumerate(site.poses)
        ],
    }


def _structure_label(owner: int, layout: Layout) -> str:
    after = owner - len(layout.placed)
    return "floor" if after == 0 else "wall" if after <= len(layout.room.walls) else "ceiling"


def rounded(values: NDArray[np.floating], digits: int = 5) -> list[float]:
    """A list of plain numbers, and no minus zero."""
    return [round(float(value), digits) + 0.0 for value in values]


def jpeg_of(color: NDArray[np.uint8]) -> bytes:
    """A picture (H, W, 3) as JPEG."""
    buffer = io.BytesIO()
    Image.fromarray(color).save(buffer, "JPEG", quality=SETTINGS.jpeg_quality)
    return buffer.getvalue()


def write_json(path: Path, value: Any, *, indent: int | None = None) -> None:
    """Write JSON, close together unless it is indented."""
    separators = (",", ":") if indent is None else None
    write_text(path, json.dumps(value, separators=separators, indent=indent) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write text; the file appears whole."""
    with write_whole(path) as aside:
        aside.write_text(text, encoding="utf-8", newline="\n")


def write_bytes(path: Path, data: bytes) -> None:
    """Write bytes; the file appears whole."""
    with write_whole(path) as aside:
        aside.write_bytes(data)
