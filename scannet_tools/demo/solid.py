"""The complete room as triangles, with the light that falls on it: what the scanner's cameras look at."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from shapely import contains_xy

from scannet_tools.demo.rooms import Layout, Room
from scannet_tools.demo.shapes import Material, Mesh, Thing
from scannet_tools.demo.textures import SIZE, painted
from spacecast.sight.rays import RayScene

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SolidSettings:
    """How finely surfaces are cut and how light falls; all our own."""

    coarse_m: float = 0.034
    """Grid on big surfaces: with the diagonals, vertices lie 2 to 4 cm apart."""
    structure_m: float = 0.036
    finest_m: float = 0.007
    faces_wanted: float = 480.0
    """Grid cells over the whole surface of a small thing, most of which no camera may see."""
    sky_rays: int = 10
    """Rays from each vertex that find out how much light from above reaches it."""
    light_reach_m: float = 1.2
    """What is nearer than this takes light away."""
    gamma: float = 1.6
    """Between the light that falls and the value that is shown."""
    ambient: float = 0.42
    lamp: float = 0.55


SETTINGS = SolidSettings()


@dataclass(frozen=True, eq=False)
class Solid:
    """Triangles of everything. Owners are numbers of ``names``: first the placed things, then floor, walls, ceiling.

    Attributes:
        vertices: (n, 3) float64, in world.
        faces: (m, 3) int32.
        owner_of_vertex, owner_of_face: int32.
        names: label of each owner.
        material: (m,) int32 number of a texture.
        maps: (m, 3, 4) float32: texture coordinates u, v and brightness of a point (x, y, z, 1) of the face.
        colors: (n, 3) uint8, as a scanner stores them.
        textures: (k, SIZE, SIZE, 3) float32 in 0 to 255, as shown in full light.
    """

    vertices: Array
    faces: NDArray[np.int32]
    owner_of_vertex: NDArray[np.int32]
    owner_of_face: NDArray[np.int32]
    names: tuple[str, ...]
    normals: Array
    material: NDArray[np.int32]
    maps: NDArray[np.float32]
    colors: NDArray[np.uint8]
    textures: NDArray[np.float32]
    rays: RayScene


def spacing_of(thing: Thing) -> float:
    """Grid for a thing: coarse for furniture, finer for small things so that they keep enough vertices."""
    fine = (thing.area_m2 / SETTINGS.faces_wanted) ** 0.5
    return float(np.clip(fine, SETTINGS.finest_m, SETTINGS.coarse_m))


def _flat(points: Array, uv: Array, faces: NDArray[np.int64], material: Material) -> Mesh:
    used, inverse = np.unique(faces, return_inverse=True)
    triangles = inverse.reshape(-1, 3).astype(np.int32)
    return Mesh(points[used], triangles, uv[faces], np.zeros(len(faces), np.int32), (material,))


def _level(room: Room, z: float, material: Material, up: bool) -> Mesh:
    """Floor or ceiling: a grid over the room's plan, whose lines go through all corners."""
    lines = []
    for axis in (0, 1):
        corners = np.unique(room.corners[:, axis])
        cuts = [
            np.linspace(a, b, max(2, int(np.ceil((b - a) / SETTINGS.structure_m)) + 1))[:-1]
            for a, b in pairwise(corners)
        ]
        lines.append(np.append(np.concatenate(cuts), corners[-1]))
    x, y = np.meshgrid(*lines, indexing="ij")
    index = np.arange(x.size).reshape(x.shape)
    middle_x, middle_y = (x[:-1, :-1] + x[1:, 1:]) / 2, (y[:-1, :-1] + y[1:, 1:]) / 2
    inside = contains_xy(room.polygon, middle_x, middle_y)
    a, b, c, d = (i[inside] for i in (index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]))
    faces = np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)])
    points = np.stack([x.ravel(), y.ravel(), np.full(x.size, z)], axis=-1)
    return _flat(points, points[:, :2] / (material.tile_m or 1.0), faces if up else faces[:, ::-1], material)


def _wall(room: Room, number: int, material: Material) -> Mesh:
    wall = room.walls[number]
    across = np.linspace(0, wall.length_m, int(np.ceil(wall.length_m / SETTINGS.structure_m)) + 1)
    rise = np.linspace(0, room.height_m, int(np.ceil(room.height_m / SETTINGS.structure_m)) + 1)
    s, z = np.meshgrid(across, rise, indexing="ij")
    plan = wall.start + s[..., None] * wall.along
    points = np.concatenate([plan, z[..., None]], axis=-1).reshape(-1, 3)
    index = np.arange(s.size).reshape(s.shape)
    a, b, c, d = (i.ravel() for i in (index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]))
    faces = np.concatenate([np.stack([a, c, b], -1), np.stack([a, d, c], -1)])
    return _flat(points, np.stack([s.ravel(), z.ravel()], -1) / (material.tile_m or 1.0), faces, material)


def solid_of(layout: Layout, *key: str | int) -> Solid:
    """Cut everything in a room into triangles, paint it, and light it; textures depend on the key."""
    meshes: list[tuple[Mesh, int]] = []
    names: list[str] = []
    for owner, placed in enumerate(layout.placed):
        names.append(placed.thing.label)
        spacing = spacing_of(placed.thing)
        if placed.support == "structure":
            spacing = SETTINGS.structure_m
        for part in placed.thing.parts:
            mesh = part.mesh(spacing)
            world = mesh.vertices @ placed.pose.rotation.T + placed.pose.origin
            meshes.append((mesh._replace(vertices=world), owner))
    room, style = layout.room, layout.style
    white = Material("plain", (0.9, 0.9, 0.88), 1.0)
    structure = [("floor", _level(room, 0.0, style.floor, True))]
    structure += [("wall", _wall(room, number, style.wall)) for number in range(len(room.walls))]
    structure.append(("ceiling", _level(room, room.height_m, white, False)))
    for name, mesh in structure:
        meshes.append((mesh, len(names)))
        names.append(name)
    return _joined(meshes, tuple(names), *key)


def _joined(meshes: list[tuple[Mesh, int]], names: tuple[str, ...], *key: str | int) -> Solid:
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh, _ in meshes)])
    vertices = np.concatenate([mesh.vertices for mesh, _ in meshes])
    faces = np.concatenate([mesh.faces + start for (mesh, _), start in zip(meshes, starts, strict=False)])
    owner_of_vertex = np.concatenate([np.full(len(mesh.vertices), owner) for mesh, owner in meshes])
    owner_of_face = np.concatenate([np.full(len(mesh.faces), owner) for mesh, owner in meshes])
    numbers: dict[tuple[int, Material], int] = {}  # things of one owner and material share a texture
    material = []
    for mesh, owner in meshes:
        shared = [owner if m.tile_m is None else -1 for m in mesh.materials]
        own = [numbers.setdefault((s, m), len(numbers)) for s, m in zip(shared, mesh.materials, strict=True)]
        material.append(np.asarray(own)[mesh.material])
    materials = np.concatenate(material)
    uv = np.concatenate([mesh.uv for mesh, _ in meshes])
    corner = vertices[faces]
    cross = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    area = np.linalg.norm(cross, axis=1)
    whole = area > 1e-10
    faces, corner, cross, area = faces[whole], corner[whole], cross[whole], area[whole]
    materials, uv, owner_of_face = materials[whole], uv[whole], owner_of_face[whole]
    normals = cross / area[:, None]
    textures = painted([m for _, m in numbers], *key) ** np.float32(1 / SETTINGS.gamma) * np.float32(255)
    rays = RayScene(vertices, faces)
    brightness = _light(vertices, faces, cross, rays)
    along = _planar(corner, normals)
    values = np.concatenate([uv, brightness[faces][..., None]], axis=-1)
    rows = np.einsum("fij,fjk->fki", along, values)
    offset = values[:, 0] - np.einsum("fki,fi->fk", rows, corner[:, 0])
    maps = np.concatenate([rows, offset[..., None]], axis=-1).astype(np.float32)
    colors = np.zeros((len(vertices), 3), dtype=np.float32)
    texels = textures[materials[:, None], _cell(uv[..., 1]), _cell(uv[..., 0])]
    colors[faces.ravel()] = texels.reshape(-1, 3)
    return Solid(
        vertices, faces.astype(np.int32), owner_of_vertex.astype(np.int32), owner_of_face.astype(np.int32), names,
        normals, materials.astype(np.int32), maps,
        np.clip(colors * brightness[:, None], 0, 255).astype(np.uint8), textures, rays,
    )  # fmt: skip


def _cell(coordinate: NDArray[np.floating]) -> NDArray[np.int64]:
    return (np.clip(coordinate % 1.0, 0, 0.9999) * SIZE).astype(np.int64)


def _planar(corner: Array, normals: Array) -> Array:
    """(m, 3, 3): for values at a face's corners, the gradient in the face's plane is ``sum_j out[:, :, j] value_j``."""
    opposite = np.roll(corner, -2, axis=1) - np.roll(corner, -1, axis=1)
    inward = np.cross(normals[:, None, :], opposite)
    height = np.einsum("fji,fji->fj", inward, corner - np.roll(corner, -1, axis=1))
    return np.swapaxes(inward / np.where(np.abs(height) > 1e-12, height, 1e-12)[..., None], 1, 2)


def _light(vertices: Array, faces: NDArray[np.int32], cross: Array, rays: RayScene) -> NDArray[np.float64]:
    """(n,) brightness: what comes from above, less what stands close by, more for what faces the lamps."""
    normal = np.zeros_like(vertices)
    for corner in range(3):
        for axis in range(3):
            normal[:, axis] += np.bincount(faces[:, corner], cross[:, axis], len(vertices))
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    count = SETTINGS.sky_rays
    k = np.arange(count) + 0.5  # a spiral over the sphere, turned into each normal's half
    z = 1 - 2 * k / count
    around = np.pi * (1 + 5**0.5) * k
    sphere = np.stack([np.sqrt(1 - z**2) * np.cos(around), np.sqrt(1 - z**2) * np.sin(around), z], axis=-1)
    direction = normal[:, None, :] * 1.02 + sphere[None]
    start = vertices + normal * 0.004
    hits = rays.cast(start[:, None, :], direction * (SETTINGS.light_reach_m / 2), threads=1)
    opened = np.clip(hits.t / 2, 0, 1).mean(axis=1)
    lamp = np.array([0.35, -0.25, 0.9])
    facing = np.clip(normal @ (lamp / np.linalg.norm(lamp)), 0, 1)
    second = np.clip(normal @ np.array([-0.75, 0.65, 0.1]), 0, 1)
    fallen = (SETTINGS.ambient + SETTINGS.lamp * facing + 0.18 * second) * (0.25 + 0.85 * opened)
    shown: NDArray[np.float64] = fallen ** (1 / SETTINGS.gamma)
    return shown
