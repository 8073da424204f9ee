"""Small scans made in code, and a caster that is slow and plain: every ray against every face."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from spacecast.frames import Intrinsics, Transform
from spacecast.geometry.boxes import box_mesh
from spacecast.scan import Instance, Scan
from spacecast.scene import Scene, SceneObject, Shape
from spacecast.sight import NO_HIT, Camera, IdImage

NORTH = Transform(
    "world", "camera", np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]), np.array([0.0, 0.0, 0.0])
)
"""A camera at the origin that looks north, upright."""

PLAIN = Camera(NORTH, Intrinsics(320.0, 320.0, 319.5, 239.5, 640, 480))
"""One metre at a distance of one metre is 320 pixels; at two metres 160."""


class Box(NamedTuple):
    id: int
    label: str
    center: tuple[float, float, float]
    size: tuple[float, float, float]
    traits: frozenset[str] = frozenset()


def sheet(corner: Sequence[float], along: Sequence[float], across: Sequence[float], n: int) -> tuple:
    """A grid of 2 n^2 triangles over a parallelogram."""
    u, v = np.meshgrid(np.linspace(0, 1, n + 1), np.linspace(0, 1, n + 1), indexing="ij")
    vertices = np.asarray(corner) + u[..., None] * np.asarray(along) + v[..., None] * np.asarray(across)
    a = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    faces = np.concatenate([np.stack([a, a + n + 1, a + 1], 1), np.stack([a + 1, a + n + 1, a + n + 2], 1)])
    return vertices.reshape(-1, 3), faces


def small_scan(boxes: Sequence[Box], *, seed: int = 0) -> Scan:
    """A room of 4 by 4 by 2.5 with a labelled floor and one wall, boxes, unlabelled bits, and mixed faces."""
    rng = np.random.default_rng(seed)
    floor, wall = (
        sheet((-2, -2, 0), (4, 0, 0), (0, 4, 0), 6),
        sheet((-2, 2, 0), (4, 0, 0), (0, 0, 2.5), 5),
    )
    meshes = [(90, *floor), (91, *wall), (-1, *sheet((-2, -2, 0), (0, 4, 0), (0, 0, 2.5), 4))]
    meshes += [(box.id, *box_mesh(box.center, box.size, np.eye(3))) for box in boxes]
    starts = np.cumsum([0, *(len(v) for _, v, _ in meshes)])
    vertices = np.concatenate([v for _, v, _ in meshes])
    ids = np.concatenate([np.full(len(v), i) for i, v, _ in meshes])
    faces = np.concatenate([f + start for (_, _, f), start in zip(meshes, starts, strict=False)])
    # Mixed faces: from vertices of boxes to vertices of the floor, and between boxes.
    loose = np.flatnonzero(~np.isin(ids, (90, 91, -1)))
    bridges = [
        [rng.choice(loose), rng.choice(np.flatnonzero(ids == 90)), rng.choice(loose)] for _ in range(3 * len(boxes))
    ]
    faces = np.concatenate([faces, np.array(bridges).reshape(-1, 3)])
    structure = {
        90: Instance(90, "floor", "floor", traits=frozenset({"structure", "floor"})),
        91: Instance(91, "wall", "wall", traits=frozenset({"structure", "wall"})),
    }
    instances = {box.id: Instance(box.id, box.label, box.label, traits=box.traits) for box in boxes}
    colors = rng.integers(0, 256, (len(vertices), 3)).astype(np.uint8)
    identity = Transform.identity(target="world", source="scan")
    return Scan(
        "test",
        "small",
        "small",
        vertices.astype(np.float32),
        faces.astype(np.int32),
        colors,
        ids.astype(np.int32),
        structure | instances,
        identity,
        True,
        True,
        {},
    )


FURNITURE = (
    Box(3, "chair", (-0.6, 0.3, 0.41), (0.5, 0.5, 0.8)),
    Box(0, "desk", (0.7, 0.9, 0.36), (1.2, 0.6, 0.7)),
    Box(7, "lamp", (0.5, 0.9, 0.92), (0.2, 0.2, 0.4)),
    Box(12, "bin", (0.2, 0.1, 0.17), (0.3, 0.3, 0.3)),
)
"""A hair above what they stand on: two faces in one plane would leave it to chance which is hit first."""


def with_gate(scene: Scene) -> Scene:
    """The scene and object 1: two posts and a lintel at 2 m, 1 by 1 m, around an opening of 0.5 by 0.75."""
    bars = [((-0.375, 0.0), (0.25, 1.0)), ((0.375, 0.0), (0.25, 1.0)), ((0.0, 0.375), (1.0, 0.25))]
    meshes = [box_mesh((x, 2.0005, z), (width, 0.001, height), np.eye(3)) for (x, z), (width, height) in bars]
    vertices = np.concatenate([v for v, _ in meshes])
    faces = np.concatenate([f + 8 * i for i, (_, f) in enumerate(meshes)])
    identity = Transform.identity(target="world", source="object")
    gate = SceneObject(Instance(1, "gate", "gate"), Shape.from_mesh(vertices, faces), identity)
    return replace(scene, objects={**scene.objects, 1: gate})


def brute_force(vertices: np.ndarray, faces: np.ndarray, face_ids: np.ndarray, camera: Camera) -> IdImage:
    """Ids and depth by Moeller and Trumbore's test of every ray against every face, in float64."""
    k, pose = camera.intrinsics, camera.world_from_camera
    u, v = np.meshgrid(np.arange(k.width), np.arange(k.height))
    directions = np.stack([(u - k.cx) / k.fx, (v - k.cy) / k.fy, np.ones(u.shape)], -1) @ pose.rotation.T
    depth, ids = np.full(u.shape, np.inf), np.full(u.shape, NO_HIT)
    for (a, b, c), face_id in zip(vertices.astype(np.float64)[faces], face_ids, strict=True):
        normal_b = np.cross(directions, c - a)
        volume = normal_b @ (b - a)
        with np.errstate(divide="ignore", invalid="ignore"):
            s = normal_b @ (pose.translation - a) / volume
            q = np.cross(pose.translation - a, b - a)
            t_second = directions @ q / volume
            t = (c - a) @ q / volume
            hit = (np.abs(volume) > 1e-12) & (s >= 0) & (t_second >= 0) & (s + t_second <= 1) & (t > 0) & (t < depth)
        depth[hit], ids[hit] = t[hit], face_id
    return IdImage(ids.astype(np.int32), depth.astype(np.float32))


def standing(x: float, y: float, z: float, towards: Sequence[float]) -> Camera:
    """An upright camera at a point that looks at another."""
    width, height = 96, 72
    focal = 0.8 * width
    intrinsics = Intrinsics(focal, focal, (width - 1) / 2, (height - 1) / 2, width, height)
    return Camera(Transform.looking_at((x, y, z), towards), intrinsics)


def agreement(one: IdImage, other: IdImage) -> float:
    """Share of pixels with the same id, and depth within 0.1 mm; what is left are outlines."""
    both_miss = ~np.isfinite(one.depth) & ~np.isfinite(other.depth)
    with np.errstate(invalid="ignore"):
        same = (one.ids == other.ids) & (both_miss | (np.abs(one.depth - other.depth) < 1e-4))
    return float(same.mean())
