"""Rooms put together by hand from blocks, as meshes with vertices every few centimetres."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacecast.frames import Transform
from spacecast.scan import Instance, Scan
from spacecast.scene import Scene

Mesh = tuple[NDArray[np.float64], NDArray[np.int64]]
Point = Sequence[float]


class Thing(NamedTuple):
    """An object of a room: its meshes are joined."""

    id: int
    label: str
    parts: Sequence[Mesh]
    traits: frozenset[str] = frozenset()


def thing(id: int, label: str, *parts: Mesh, traits: str = "") -> Thing:
    return Thing(id, label, parts, frozenset(traits.split()))


def sheet(corner: Point, along: Point, across: Point, spacing: float = 0.03) -> Mesh:
    """A rectangle whose front is along x across."""
    start, one, two = (np.asarray(p, dtype=float) for p in (corner, along, across))
    n, m = (max(1, int(np.ceil(np.linalg.norm(side) / spacing))) for side in (one, two))
    i, j = np.meshgrid(np.arange(n + 1), np.arange(m + 1), indexing="ij")
    vertices = start + (i / n)[..., None] * one + (j / m)[..., None] * two
    number = (i * (m + 1) + j)[:n, :m].ravel()
    step = m + 1
    faces = np.concatenate(
        [
            np.stack([number, number + step, number + step + 1], axis=1),
            np.stack([number, number + step + 1, number + 1], axis=1),
        ]
    )
    return vertices.reshape(-1, 3), faces


def joined(parts: Iterable[Mesh]) -> Mesh:
    vertices, faces, count = [], [], 0
    for points, triangles in parts:
        vertices.append(points)
        faces.append(triangles + count)
        count += len(points)
    return np.concatenate(vertices), np.concatenate(faces)


def block(low: Point, high: Point, spacing: float = 0.03, *, without: str = "") -> Mesh:
    """A closed box from its lowest to its highest corner; ``without`` leaves sides out: ``top``, ``bottom``."""
    a, b = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    x, y, z = np.diag(b - a)
    sides = {
        "bottom": sheet(a, y, x, spacing), "top": sheet(a + z, x, y, spacing),
        "south": sheet(a, x, z, spacing), "north": sheet(a + y, z, x, spacing),
        "west": sheet(a, z, y, spacing), "east": sheet(a + x, y, z, spacing),
    }  # fmt: skip
    return joined(mesh for name, mesh in sides.items() if name not in without.split())


def four_legs(low: Point, high: Point, thick: float = 0.05) -> list[Mesh]:
    """Legs at the corners of a plan, from one height to another."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    return [
        block((x, y, z0), (x + thick, y + thick, z1))
        for x in (x0, x1 - thick)
        for y in (y0, y1 - thick)
    ]  # fmt: skip


def table(id: int, low: Point, high: Point, label: str = "table", traits: str = "") -> Thing:
    """A top 4 cm thick on four legs."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    return thing(
        id, label, block((x0, y0, z1 - 0.04), (x1, y1, z1)), *four_legs((x0, y0, z0), (x1, y1, z1 - 0.04)),
        traits=traits,
    )  # fmt: skip


def tub(low: Point, high: Point, thick: float = 0.01) -> list[Mesh]:
    """An open box: bottom and four sides."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    return [
        block((x0, y0, z0), (x1, y1, z0 + thick)),
        block((x0, y0, z0), (x0 + thick, y1, z1)), block((x1 - thick, y0, z0), (x1, y1, z1)),
        block((x0, y0, z0), (x1, y0 + thick, z1)), block((x0, y1 - thick, z0), (x1, y1, z1)),
    ]  # fmt: skip


FLOOR, NORTH_WALL = 900, 901


def building() -> list[Thing]:
    """A floor of 4 by 4 metres at height 0 and a wall along its north side, y = 2."""
    return [
        thing(FLOOR, "floor", sheet((-2, -2, 0), (4, 0, 0), (0, 4, 0), 0.05), traits="structure floor"),
        thing(NORTH_WALL, "wall", sheet((-2, 2, 0), (4, 0, 0), (0, 0, 2.5), 0.05), traits="structure wall"),
    ]


def scan_of(things: Sequence[Thing], *, noise_m: float = 0.0, seed: int = 0) -> Scan:
    """A scan of them, without faces that join two."""
    meshes = [joined(item.parts) for item in things]
    vertices, faces = joined(meshes)
    ids = np.concatenate([np.full(len(points), item.id) for item, (points, _) in zip(things, meshes, strict=True)])
    vertices = vertices + np.random.default_rng(seed).normal(0.0, 1.0, vertices.shape) * noise_m
    return Scan(
        dataset="hand", scene_id="hand", room_id="hand", vertices=vertices.astype(np.float32),
        faces=faces.astype(np.int32), colors=np.zeros((len(vertices), 3), dtype=np.uint8),
        instance_ids=ids.astype(np.int32),
        instances={t.id: Instance(t.id, t.label, t.label, traits=t.traits) for t in things},
        world_from_scan=Transform.identity(target="world", source="scan"), is_aligned=True, has_labels=True, views={},
    )  # fmt: skip


def scene_of(things: Sequence[Thing], *, noise_m: float = 0.0, seed: int = 0) -> Scene:
    return Scene.from_scan(scan_of(things, noise_m=noise_m, seed=seed))
