"""Solids that furniture is made of, cut into triangles on a grid.

A part is described by a few numbers and cut only when its thing knows how fine: small things get a finer grid. All
coordinates are those of the thing: origin on the floor under its middle, z up, front towards -y; metres.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Color = tuple[float, float, float]


@dataclass(frozen=True)
class Material:
    """How a surface looks.

    Attributes:
        kind: name of a painter in ``textures``.
        color: linear red, green, blue in [0, 1].
        tile_m: side of one repeat of the texture, or None to fit one picture to each face.
        accent: second colour of painters that need one.
    """

    kind: str
    color: Color
    tile_m: float | None = 0.5
    accent: Color = (0.1, 0.1, 0.1)


class Mesh(NamedTuple):
    """Triangles of one part: vertices (n, 3); faces (m, 3); uv (m, 3, 2), texture coordinates of the face's corners in
    repeats; material (m,), index into ``materials``."""

    vertices: Array
    faces: NDArray[np.int32]
    uv: Array
    material: NDArray[np.int32]
    materials: tuple[Material, ...]


class Part(Protocol):
    """Something that can be cut into triangles."""

    @property
    def area_m2(self) -> float:
        """About how much surface it has."""
        ...

    def mesh(self, spacing_m: float) -> Mesh:
        """Triangles whose sides along the grid are at most about ``spacing_m``; normals point outward."""
        ...


def _rotation(yaw_deg: float, tilt_deg: float, lean_deg: float = 0.0) -> Array:
    """Turn about x by tilt, about y by lean, then about z by yaw."""
    yaw, tilt, lean = np.radians([yaw_deg, tilt_deg, lean_deg])
    about_x = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]])
    about_y = np.array([[np.cos(lean), 0, np.sin(lean)], [0, 1, 0], [-np.sin(lean), 0, np.cos(lean)]])
    about_z = np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


SIDES = ("left", "right", "front", "back", "bottom", "top")


@dataclass(frozen=True)
class Box:
    """A box; ``at`` is the middle of its lower side before it is tilted about its own middle."""

    size: tuple[float, float, float]
    at: tuple[float, float, float]
    material: Material
    yaw_deg: float = 0.0
    tilt_deg: float = 0.0
    lean_deg: float = 0.0
    sides: tuple[tuple[str, Material], ...] = ()
    """Sides that look otherwise, by name of ``SIDES``."""
    wave: tuple[float, float] | None = None
    """Height and length in metres of a ripple along x that moves the box's surface in y: a curtain."""

    @cached_property
    def area_m2(self) -> float:
        """Surface in square metres."""
        x, y, z = self.size
        return 2 * (x * y + y * z + x * z)

    def mesh(self, spacing_m: float) -> Mesh:
        """See :class:`Part`."""
        size = np.asarray(self.size)
        counts = np.maximum(1, np.ceil(size / spacing_m - 1e-6).astype(int))
        materials = [self.material]
        special = dict(self.sides)
        faces, uvs, kinds, keys = [], [], [], []
        total = 0
        for number, side in enumerate(SIDES):
            axis, end = divmod(number, 2)
            a, b = ((1, 2), (0, 2), (0, 1))[axis]
            grid_a, grid_b = np.meshgrid(np.arange(counts[a] + 1), np.arange(counts[b] + 1), indexing="ij")
            lattice = np.zeros((*grid_a.shape, 3), dtype=np.int64)
            lattice[..., a], lattice[..., b] = grid_a, grid_b
            lattice[..., axis] = counts[axis] * end
            index = total + np.arange(grid_a.size).reshape(grid_a.shape)
            total += grid_a.size
            quad = _quads(index)
            outward = (end == 1) != (axis == 1)  # the y axis swaps the hand of (a, b)
            faces.append(quad if outward else quad[:, ::-1])
            material = special.get(side, self.material)
            if material not in materials:
                materials.append(material)
            scale = (
                np.array([1.0 / counts[a], 1.0 / counts[b]])
                if material.tile_m is None
                else np.array([size[a] / counts[a], size[b] / counts[b]]) / material.tile_m
            )
            flat = np.stack([grid_a, grid_b], axis=-1).reshape(-1, 2) * scale
            if material.tile_m is None and side in ("back", "left"):
                flat[:, 0] = 1.0 - flat[:, 0]
            uvs.append(flat)
            kinds.append(np.full(len(quad), materials.index(material), dtype=np.int32))
            keys.append(lattice.reshape(-1, 3))
        every, uv = np.concatenate(keys), np.concatenate(uvs)
        unique, inverse = np.unique(every, axis=0, return_inverse=True)
        triangles = np.concatenate(faces)
        points = (unique / counts - 0.5) * size
        if self.wave is not None:
            points[:, 1] += self.wave[0] * np.sin(2 * np.pi * points[:, 0] / self.wave[1])
        turned = points @ _rotation(self.yaw_deg, self.tilt_deg, self.lean_deg).T
        placed = turned + np.asarray(self.at) + (0.0, 0.0, size[2] / 2)
        return Mesh(
            placed,
            inverse.reshape(-1)[triangles].astype(np.int32),
            uv[triangles],
            np.concatenate(kinds),
            tuple(materials),
        )


@dataclass(frozen=True)
class Turned:
    """A solid of revolution about the vertical through ``at``: the profile (radius, height) goes from the bottom's
    middle outward and up; of open vessels it goes on down inside."""

    profile: tuple[tuple[float, float], ...]
    at: tuple[float, float, float]
    material: Material
    stretch: tuple[float, float] = (1.0, 1.0)
    """Factors in x and y: an oval."""
    yaw_deg: float = 0.0

    @cached_property
    def area_m2(self) -> float:
        """Surface in square metres, of the round solid."""
        line = np.asarray(self.profile)
        steps = np.linalg.norm(np.diff(line, axis=0), axis=1)
        return float(np.sum(steps * np.pi * (line[1:, 0] + line[:-1, 0])))

    def mesh(self, spacing_m: float) -> Mesh:
        """See :class:`Part`."""
        line, arc = _resampled(np.asarray(self.profile, dtype=np.float64), spacing_m)
        radius = float(line[:, 0].max())
        around = max(10, int(np.ceil(2 * np.pi * radius / spacing_m)))
        return _revolved(line, arc, around, self)


@dataclass(frozen=True)
class Blob:
    """A rounded solid, from a ball (roundness 1) to a pillow (roundness below 1); ``at`` is under its middle."""

    size: tuple[float, float, float]
    at: tuple[float, float, float]
    material: Material
    roundness: float = 1.0
    flat_share: float = 0.0
    """Share of the height that is cut off flat below."""
    yaw_deg: float = 0.0
    tilt_deg: float = 0.0

    @cached_property
    def area_m2(self) -> float:
        """Surface of the ellipsoid, in square metres (Knud Thomsen's formula)."""
        a, b, c = (s / 2 for s in self.size)
        p = 1.6075
        return float(4 * np.pi * (((a * b) ** p + (a * c) ** p + (b * c) ** p) / 3) ** (1 / p))

    def mesh(self, spacing_m: float) -> Mesh:
        """See :class:`Part`."""
        half = np.asarray(self.size) / 2
        rings = max(6, int(np.ceil(np.pi * half[[0, 2]].mean() / spacing_m)))
        angles = np.linspace(-np.pi / 2, np.pi / 2, rings + 1)
        line = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        line[[0, -1], 0] = 0.0
        around = max(10, int(np.ceil(2 * np.pi * half[:2].mean() / spacing_m)))
        ball = _revolved(
            line, (angles + np.pi / 2) * half.mean(), around, Turned((), (0, 0, 0), self.material), half.mean()
        )
        shaped = np.sign(ball.vertices) * np.abs(ball.vertices) ** self.roundness * half
        low = -half[2] * (1.0 - 2.0 * self.flat_share)
        shaped[:, 2] = np.maximum(shaped[:, 2], low)
        turned = shaped @ _rotation(self.yaw_deg, self.tilt_deg).T
        return ball._replace(vertices=turned + np.asarray(self.at) - (0.0, 0.0, low))


def _quads(index: NDArray[np.int64]) -> NDArray[np.int64]:
    """Two triangles for each cell of a grid of vertex numbers, counterclockwise in (first, second) axes."""
    a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
    return np.stack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)], axis=2).reshape(-1, 3)


def _resampled(line: Array, spacing_m: float) -> tuple[Array, Array]:
    """The polyline with its corners kept and long pieces cut, and the arc length at each point."""
    pieces = [line[:1]]
    for start, end in pairwise(line):
        count = max(1, int(np.ceil(np.linalg.norm(end - start) / spacing_m - 1e-6)))
        pieces.append(start + (end - start) * (np.arange(1, count + 1) / count)[:, None])
    points = np.concatenate(pieces)
    return points, np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])


def _revolved(line: Array, arc: Array, around: int, solid: Turned, radius_scale: float = 1.0) -> Mesh:
    theta = 2 * np.pi * np.arange(around) / around
    points = np.stack(
        [line[None, :, 0] * np.cos(theta)[:, None], line[None, :, 0] * np.sin(theta)[:, None]], axis=-1
    ) * np.asarray(solid.stretch)
    height = np.broadcast_to(line[None, :, 1], (around, len(line)))
    vertices = np.concatenate([points, height[..., None]], axis=-1).reshape(-1, 3)
    index = np.arange(around * len(line)).reshape(around, len(line))
    for column in np.flatnonzero(line[:, 0] < 1e-9):  # one vertex at each pole
        index[:, column] = index[0, column]
    faces = _quads(np.concatenate([index, index[:1]], axis=0))
    turn = np.arange(around + 1) / around
    if solid.material.tile_m is None:
        u, v = turn, arc / max(arc[-1], 1e-9)
    else:
        u, v = (
            turn * 2 * np.pi * line[:, 0].max() * radius_scale / solid.material.tile_m,
            arc / solid.material.tile_m,
        )
    flat = np.stack(np.meshgrid(u, v, indexing="ij"), axis=-1).reshape(-1, 2)
    corner_uv = flat[_quads(np.arange((around + 1) * len(line)).reshape(around + 1, len(line)))]
    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 0] != faces[:, 2])
    used, inverse = np.unique(faces[whole], return_inverse=True)
    placed = vertices[used] @ _rotation(solid.yaw_deg, 0.0).T + np.asarray(solid.at)
    triangles = inverse.reshape(-1, 3).astype(np.int32)
    return Mesh(placed, triangles, corner_uv[whole], np.zeros(len(triangles), np.int32), (solid.material,))


@dataclass(frozen=True)
class Spot:
    """Where other things may be put: a level rectangle of a thing, in the thing's coordinates."""

    center: tuple[float, float]
    size: tuple[float, float]
    z: float
    clear_height_m: float = 1.0
    kind: str = "supported_by"
    """What a thing put there is to this one: a kind of SEMANTICS section 3."""
    role: str = "top"
    """For menus: ``top``, ``inside``, ``shelf``, ``seat``, ``head``, ``tray``; what comes to ``middle`` is centred."""


@dataclass(frozen=True)
class Thing:
    """A piece of furniture or a small thing, at rest at its own origin."""

    label: str
    parts: tuple[Part, ...]
    size: tuple[float, float, float]
    spots: tuple[Spot, ...] = ()
    is_round: bool = False
    labelled: bool = True
    """False for clutter that nobody annotated."""

    @property
    def area_m2(self) -> float:
        """Surface of all parts."""
        return sum(part.area_m2 for part in self.parts)

    def unlabelled(self) -> Thing:
        """The same thing as clutter that nobody annotated."""
        return replace(self, labelled=False)


def slab(
    material: Material,
    size: Sequence[float],
    at: Sequence[float],
    *,
    yaw_deg: float = 0.0,
    tilt_deg: float = 0.0,
    lean_deg: float = 0.0,
    wave: tuple[float, float] | None = None,
    **sides: Material,
) -> Box:
    """A box in one line: ``slab(oak, (w, d, h), (x, y, z_of_the_lower_side), top=glass)``."""
    width, depth, height = (float(s) for s in size)
    x, y, z = (float(c) for c in at)
    return Box(
        (width, depth, height), (x, y, z), material, yaw_deg, tilt_deg, lean_deg, tuple(sorted(sides.items())), wave
    )


def post(material: Material, radius: float, height: float, at: Sequence[float]) -> Turned:
    """A closed cylinder that stands at a point."""
    x, y, z = (float(c) for c in at)
    return Turned(((0.0, 0.0), (radius, 0.0), (radius, height), (0.0, height)), (x, y, z), material)


def vessel(material: Material, bottom: float, top: float, height: float, *, thick: float = 0.006) -> Turned:
    """An open vessel with a floor that stands at the origin: cup, bowl, pot, bin; radii of its outside."""
    profile = (
        (0.0, 0.0),
        (bottom, 0.0),
        (top, height),
        (top - thick, height),
        (max(bottom - thick, 0.005), thick),
        (0.0, thick),
    )
    return Turned(profile, (0.0, 0.0, 0.0), material)
