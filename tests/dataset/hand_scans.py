"""Scans of boxes whose sizes, gaps and shadows are known by hand, and rows about them."""

from __future__ import annotations

import numpy as np
from handmade import facts_with, options_of, row_with

from spacecast.frames import Intrinsics, Transform
from spacecast.scan import Instance, Scan, View

PIXELS = Intrinsics(500.0, 500.0, 319.5, 239.5, 640, 480)


def box_mesh(low, high, step=0.1):
    """Faces of a box, cut into squares of about a step."""
    low, high = np.array(low, float), np.array(high, float)
    vertices, faces, start = [], [], 0
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        nu, nv = (max(1, round((high[k] - low[k]) / step)) for k in (u, v))
        for side in (low[axis], high[axis]):
            grid = np.zeros((nu + 1, nv + 1, 3))
            grid[..., axis] = side
            grid[..., u] = np.linspace(low[u], high[u], nu + 1)[:, None]
            grid[..., v] = np.linspace(low[v], high[v], nv + 1)[None]
            corner = start + np.arange((nu + 1) * (nv + 1)).reshape(nu + 1, nv + 1)
            a, b, c, d = corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]
            faces += [np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)]
            vertices.append(grid.reshape(-1, 3))
            start += len(vertices[-1])
    return np.concatenate(vertices), np.concatenate(faces)


def scan_of(boxes, camera=(0.0, -4.0, 1.0)):
    """A scan of boxes {id: (label, low, high)}, or with traits at the end, seen from a camera that looks north.

    Two boxes of one label and one id in a list are one object.
    """
    vertices, faces, ids, instances, start = [], [], [], {}, 0
    for i, parts in boxes.items():
        for label, low, high, *traits in parts if isinstance(parts, list) else [parts]:
            v, f = box_mesh(low, high)
            vertices.append(v)
            faces.append(f + start)
            ids.append(np.full(len(v), i))
            start += len(v)
            if i >= 0:
                instances[i] = Instance(i, label, label, traits=frozenset(*traits))
    pose = Transform.looking_at(camera, (camera[0], camera[1] + 1.0, camera[2]))
    view = View("7", pose, PIXELS)
    return Scan(
        dataset="hand", scene_id="room", room_id="room", vertices=np.concatenate(vertices).astype(np.float32),
        faces=np.concatenate(faces).astype(np.int32), colors=np.zeros((start, 3), np.uint8),
        instance_ids=np.concatenate(ids).astype(np.int32), instances=instances,
        world_from_scan=Transform.identity(target="world", source="scan"), is_aligned=True, has_labels=True,
        views={"7": view},
    )  # fmt: skip


DESK = ("desk", (-0.5, 0.0, 0.5), (0.5, 0.4, 1.5))
LAMP = ("lamp", (1.5, 0.0, 0.5), (1.9, 0.4, 1.5))


def entry(i, box, roles):
    label, low, high = box
    low, high = np.array(low, float), np.array(high, float)
    size = high - low
    long = size if size[0] >= size[1] else size[[1, 0, 2]]
    return {
        "id": i, "label": label, "raw_label": label, "roles": roles,
        "aabb": {"min": low.tolist(), "max": high.tolist()}, "center_in_world": ((low + high) / 2).tolist(),
        "obb": {"center": ((low + high) / 2).tolist(), "size": long.tolist(),
        "yaw_deg": 0.0 if size[0] >= size[1] else -90.0},
    }  # fmt: skip


def row_of(scan, kind, before, objects, *, target=1, reference=2):
    view = scan.views["7"]
    facts = facts_with(
        objects=objects,
        views=[{
            "name": "7", "role": "image", "world_from_camera": view.world_from_camera.matrix.reshape(-1).tolist(),
            "pixel_from_camera": PIXELS.matrix.reshape(-1).tolist(), "width": 640, "height": 480,
        }],
        relation={"kind": kind, "target": target, "reference": reference, "before": before, "after": None},
        options=options_of({"x": "x", "y": "y"}, ["x"], np.random.default_rng(0)),
    )  # fmt: skip
    return row_with("distance", "q", "room", "desk lamp", facts, dataset="hand")
