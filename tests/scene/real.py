"""The real scan, read here by hand so that the engine's tests need no reader."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from spacecast.frames import Transform
from spacecast.scan import Instance, Scan

FOLDER = Path(__file__).resolve().parents[3] / "shared/real/scannet/scans/scene0000_00"

STRUCTURE = {"floor", "wall", "ceiling", "window", "door", "doorframe"}
FIXTURE = {
    "cabinet", "kitchen counter", "shelves", "curtain", "mirror", "sink", "toilet", "shower", "clock", "tv",
}  # fmt: skip
SOFT = {"bed", "couch", "pillow"}


def traits_of(label: str) -> frozenset[str]:
    found = set()
    if label in STRUCTURE:
        found.add("structure")
    if label in ("floor", "wall"):
        found.add(label)
    if label in FIXTURE - {"tv"}:
        found.add("fixture")
    if label in ("door", "doorframe"):
        found.add("door")
    if label in SOFT:
        found.add("soft")
    if label == "curtain":
        found |= {"carries_nothing", "shapeless"}
    if label == "otherprop":
        found.add("clutter")
    return frozenset(found)


def read_scan() -> Scan:
    if not FOLDER.is_dir():
        pytest.skip(f"the real scan is not here: {FOLDER}")
    name = FOLDER.name
    raw = (FOLDER / f"{name}_vh_clean_2.ply").read_bytes()
    head, body = raw.split(b"end_header\n", 1)
    lines = head.decode().splitlines()
    counts = {line.split()[1]: int(line.split()[2]) for line in lines if line.startswith("element")}
    types = {"float": "<f4", "uchar": "u1"}
    fields = []
    for line in lines:
        if line.startswith("property list"):
            break
        if line.startswith("property"):
            _, kind, field = line.split()
            fields.append((field, types[kind]))
    table = np.frombuffer(body, dtype=fields, count=counts["vertex"])
    face_type = np.dtype([("n", "u1"), ("i", "<i4", 3)])
    faces = np.frombuffer(body, dtype=face_type, count=counts["face"], offset=table.nbytes)["i"]
    points = np.stack([table["x"], table["y"], table["z"]], axis=1).astype(np.float64)

    text = (FOLDER / f"{name}.txt").read_text()
    numbers = next(line for line in text.splitlines() if line.startswith("axisAlignment")).split("=")[1].split()
    world_from_scan = Transform.from_matrix(np.array(numbers, float).reshape(4, 4), target="world", source="scan")

    segments = np.array(json.loads((FOLDER / f"{name}_vh_clean_2.0.010000.segs.json").read_text())["segIndices"])
    groups = json.loads((FOLDER / f"{name}.aggregation.json").read_text())["segGroups"]
    ids = np.full(len(points), -1, dtype=np.int32)
    instances = {}
    for group in groups:
        ids[np.isin(segments, group["segments"])] = group["objectId"]
        label = group["label"]
        instances[group["objectId"]] = Instance(group["objectId"], label, label, traits=traits_of(label))
    return Scan(
        dataset="scannet", scene_id=name, room_id=name[:9], vertices=(world_from_scan @ points).astype(np.float32),
        faces=np.ascontiguousarray(faces, dtype=np.int32),
        colors=np.stack([table["red"], table["green"], table["blue"]], axis=1).astype(np.uint8),
        instance_ids=ids, instances=instances, world_from_scan=world_from_scan, is_aligned=True, has_labels=True,
        views={},
    )  # fmt: skip
