"""Small scans made of boxes, with cameras where a test wants them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from spacecast.frames import Intrinsics, Transform
from spacecast.scan import NO_INSTANCE, Instance, Scan, View

INTRINSICS = Intrinsics(500.0, 500.0, 319.5, 239.5, 640, 480)
FLOOR_ID = 900


@dataclass(frozen=True)
class Box:
    """A labelled box; ``label`` None for unlabelled surface."""

    id: int
    label: str | None
    center: tuple[float, float, float]
    size: tuple[float, float, float]
    traits: frozenset[str] = frozenset()
    more: Mapping[str, str] = field(default_factory=dict)


def on_floor(id: int, label: str, x: float, y: float, *, side: float = 0.4, height: float = 0.5, **more: object) -> Box:
    """A box that stands on the floor."""
    return Box(id, label, (x, y, height / 2), (side, side, height), **more)


def looking(position: Sequence[float], at: Sequence[float]) -> Transform:
    """An upright camera."""
    return Transform.looking_at(position, at)


def box_scan(
    boxes: Sequence[Box],
    cameras: Mapping[str, Transform],
    *,
    is_aligned: bool = True,
    floor: tuple[float, float] = (4.0, 4.0),
    photo: Callable[[], np.ndarray] | None = None,
    scene_id: str = "box0000_00",
) -> Scan:
    """A scan of boxes on a floor around the origin, with a view for each camera."""
    vertices, faces, ids, instances = [], [], [], {}
    slab = Box(FLOOR_ID, "floor", (0.0, 0.0, -0.01), (*floor, 0.02), frozenset({"structure", "floor"}))
    start = 0
    for box in (*boxes, slab):
        points, triangles = _box_grid(box.center, box.size)
        vertices.append(points)
        faces.append(triangles + start)
        start += len(points)
        owner = NO_INSTANCE if box.label is None else box.id
        ids.append(np.full(len(points), owner, dtype=np.int32))
        if box.label is not None:
            instances[box.id] = Instance(box.id, box.label, box.label, traits=box.traits, **box.more)
    merged = np.concatenate(vertices).astype(np.float32)
    load = None if photo is None else photo
    return Scan(
        dataset="boxes",
        scene_id=scene_id,
        room_id=scene_id.split("_", maxsplit=1)[0],
        vertices=merged,
        faces=np.concatenate(faces).astype(np.int32),
        colors=np.full((len(merged), 3), 128, dtype=np.uint8),
        instance_ids=np.concatenate(ids),
        instances=instances,
        world_from_scan=Transform.identity(target="world", source="scan"),
        is_aligned=is_aligned,
        has_labels=True,
        views={name: View(name, pose, INTRINSICS, load_color=load) for name, pose in cameras.items()},
    )


def _box_grid(center: Sequence[float], size: Sequence[float], step: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    """Six faces of a box, each a grid of its own with at least 3 by 3 vertices."""
    points, triangles, start = [], [], 0
    half = np.asarray(size) / 2
    for axis in range(3):
        a, b = [i for i in range(3) if i != axis]
        for sign in (-1.0, 1.0):
            na, nb = (max(3, int(np.ceil(size[i] / step)) + 1) for i in (a, b))
            grid = np.zeros((na, nb, 3))
            grid[..., a] = np.linspace(-half[a], half[a], na)[:, None]
            grid[..., b] = np.linspace(-half[b], half[b], nb)[None]
            grid[..., axis] = sign * half[axis]
            points.append(grid.reshape(-1, 3) + center)
            number = start + np.arange(na * nb).reshape(na, nb)
            p, q, r, s = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
            quads = np.stack([p, q, r, p, r, s], axis=-1).reshape(-1, 3)
            # Outwards: a, b, axis are in cyclic order for axis 0 and 2 only.
            triangles.append(quads if (sign > 0) == (axis != 1) else quads[:, ::-1])
            start += na * nb
    return np.concatenate(points), np.concatenate(triangles)
