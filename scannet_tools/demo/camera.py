"""A hand-held walk through a room: where the camera is and where it looks, frame by frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.spatial.transform import Rotation, Slerp
from shapely import contains_xy

from scannet_tools.demo.rooms import Layout, Placed
from scannet_tools.demo.solid import Solid
from spacecast.frames import Intrinsics, Transform

Array = NDArray[np.float64]
Chance = np.random.Generator


@dataclass(frozen=True)
class CameraSettings:
    """The demo camera; all our own, after the hand-held scans that ScanNet is made of."""

    width_px: int = 640
    height_px: int = 480
    full_width_px: int = 1296
    full_height_px: int = 968
    focal_px: float = 1168.0
    """At the full width; about 58 degrees across."""
    depth_step: int = 2
    """Every so many colour pixels have depth."""
    eye_m: tuple[float, float] = (1.35, 1.65)
    step_m: float = 0.30
    """Way between two frames."""
    grid_m: float = 0.15
    turn_deg: float = 17.0
    """Most that the camera turns between two frames."""
    pitch_deg: tuple[float, float] = (-44.0, 2.0)
    roll_deg: float = 2.5
    jitter_deg: float = 1.5
    frames: tuple[int, int] = (54, 76)
    goal_frames: int = 3
    """After so many frames of a goal, others are as welcome."""


SETTINGS = CameraSettings()


def intrinsics_of(chance: Chance) -> Intrinsics:
    """A camera a little unlike the last one, at the size of the pictures."""
    focal = SETTINGS.focal_px * chance.uniform(0.99, 1.01)
    full = Intrinsics(
        focal,
        focal * chance.uniform(0.997, 1.003),
        (SETTINGS.full_width_px - 1) / 2 + chance.uniform(-8, 8),
        (SETTINGS.full_height_px - 1) / 2 + chance.uniform(-8, 8),
        SETTINGS.full_width_px,
        SETTINGS.full_height_px,
    )
    return full.scaled_to(SETTINGS.width_px, SETTINGS.height_px)


def depth_intrinsics_of(color: Intrinsics) -> Intrinsics:
    """The depth camera, whose pixel (u, v) looks through colour pixel (step u + step // 2, step v + step // 2)."""
    step = SETTINGS.depth_step
    half = step // 2
    return Intrinsics(
        color.fx / step,
        color.fy / step,
        (color.cx - half) / step,
        (color.cy - half) / step,
        color.width // step,
        color.height // step,
    )


def path_of(layout: Layout, solid: Solid, chance: Chance) -> list[Transform]:
    """``world_from_camera`` of each frame of a walk that sees every thing in the room."""
    track = _track(layout, chance)
    count = int(np.clip(len(track), *SETTINGS.frames))
    spots = track[np.linspace(0, len(track) - 1, count).round().astype(int)]
    eyes = np.concatenate([spots, _wander(chance, count, SETTINGS.eye_m)[:, None]], axis=1)
    eyes[:, :2] += chance.normal(0, 0.015, size=(count, 2))
    looks = _looks(layout, solid, eyes, chance)
    poses = []
    for eye, look in zip(eyes, looks, strict=True):
        yaw, pitch = look + np.radians(chance.normal(0, SETTINGS.jitter_deg, 2))
        ahead = np.array([np.cos(pitch) * np.cos(yaw), np.cos(pitch) * np.sin(yaw), np.sin(pitch)])
        upright = Transform.looking_at(eye, eye + ahead)
        roll = np.radians(np.clip(chance.normal(0, SETTINGS.roll_deg), -8, 8))
        c, s = np.cos(roll), np.sin(roll)
        turned = upright.rotation @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        poses.append(Transform("world", "camera", turned, upright.translation))
    return poses


def between(poses: list[Transform], pieces: int) -> list[Transform]:
    """The way of the camera between frames: ``pieces - 1`` poses between each two."""
    turns = Rotation.from_matrix(np.stack([pose.rotation for pose in poses]))
    places = np.stack([pose.translation for pose in poses])
    times = np.arange(len(poses), dtype=np.float64)
    at = np.arange((len(poses) - 1) * pieces) / pieces
    at = at[np.arange(len(at)) % pieces != 0]
    rotations = Slerp(times, turns)(at).as_matrix()
    return [
        Transform("world", "camera", rotation, np.array([np.interp(t, times, places[:, k]) for k in range(3)]))
        for t, rotation in zip(at, rotations, strict=True)
    ]


def _wander(chance: Chance, count: int, bounds: tuple[float, float]) -> Array:
    """A smooth random line between two bounds."""
    knots = chance.uniform(*bounds, size=max(3, count // 12))
    return np.interp(np.linspace(0, len(knots) - 1, count), np.arange(len(knots)), knots)


def _track(layout: Layout, chance: Chance) -> Array:
    """(n, 2) points about ``step_m`` apart along a walk through the free floor."""
    free = layout.walkable()
    low_x, low_y, high_x, high_y = free.bounds
    step = SETTINGS.grid_m
    x, y = np.meshgrid(np.arange(low_x, high_x + step, step), np.arange(low_y, high_y + step, step), indexing="ij")
    inside = contains_xy(free.buffer(0.02), x, y)
    number = np.full(x.shape, -1)
    number[inside] = np.arange(inside.sum())
    nodes = np.stack([x[inside], y[inside]], axis=1)
    rows, cols, costs = [], [], []
    for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1)):
        here = number[: x.shape[0] - dx, max(0, -dy) : x.shape[1] - max(0, dy)]
        there = number[dx:, max(0, dy) : x.shape[1] - max(0, -dy)]
        both = (here >= 0) & (there >= 0)
        rows.append(here[both])
        cols.append(there[both])
        costs.append(np.full(both.sum(), step * np.hypot(dx, dy)))
    graph = csr_matrix((np.concatenate(costs), (np.concatenate(rows), np.concatenate(cols))), (len(nodes),) * 2)
    _, part = connected_components(graph, directed=False)
    reached = np.flatnonzero(part == np.bincount(part).argmax())
    start = int(reached[chance.integers(len(reached))])
    targets: list[int] = [start]  # far apart from each other, then visited nearest first
    wanted = int(np.clip(len(reached) * step**2 / 1.2, 4, 9))
    spread = np.linalg.norm(nodes[reached] - nodes[start], axis=1)
    for _ in range(wanted):
        targets.append(int(reached[np.argmax(spread)]))
        spread = np.minimum(spread, np.linalg.norm(nodes[reached] - nodes[targets[-1]], axis=1))
    way = [start]
    left = targets[1:]
    stand = start
    while left:
        lengths, before = dijkstra(graph, directed=False, indices=stand, return_predecessors=True)
        nearest = _nearest(left, lengths)
        left.remove(nearest)
        piece: list[int] = [nearest]
        while piece[-1] != stand:
            piece.append(int(before[piece[-1]]))
        way += piece[::-1][1:]
        stand = nearest
    line = nodes[way]
    if len(line) > 4:
        kernel = np.ones(5) / 5
        padded = np.pad(line, ((2, 2), (0, 0)), mode="edge")
        line = np.stack([np.convolve(padded[:, k], kernel, mode="valid") for k in (0, 1)], axis=1)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    count = max(SETTINGS.frames[0], int(along[-1] / SETTINGS.step_m))
    at = np.linspace(0, along[-1], count)
    return np.stack([np.interp(at, along, line[:, k]) for k in (0, 1)], axis=1)


def _nearest(nodes: list[int], lengths: Array) -> int:
    return min(nodes, key=lambda node: (float(lengths[node]), node))


def _goals(placed: Placed) -> list[tuple[float, float, float]]:
    """Heights and sides of a thing that are to be seen: its foot from where it meets the floor, and its middle."""
    width, depth, height = placed.thing.size
    if placed.support != "floor" or height < 0.3:
        return [(0.0, 0.0 if placed.support != "wall" else -depth, height * 0.6)]
    return [(-width * 0.45, -depth * 0.5, 0.06), (width * 0.45, -depth * 0.5, 0.06), (0.0, -depth * 0.5, height * 0.6)]


def _looks(layout: Layout, solid: Solid, eyes: Array, chance: Chance) -> Array:
    """(n, 2) yaw and pitch in radians: towards what has been seen least, turning as fast as a hand does."""
    goals_of = [(owner, goal) for owner, placed in enumerate(layout.placed) for goal in _goals(placed)]
    owners = np.array([owner for owner, _ in goals_of])
    goals = np.array([layout.placed[owner].pose.at(*goal).origin for owner, goal in goals_of])
    deep = np.array([layout.placed[owner].kind == "contained_in" for owner in owners])
    seen = np.zeros(len(goals))
    most = np.radians(SETTINGS.turn_deg)
    low, high = np.radians(SETTINGS.pitch_deg)
    yaw, pitch, goal = chance.uniform(-np.pi, np.pi), np.radians(-15.0), -1
    looks = []
    for number, eye in enumerate(eyes):
        vector = goals - eye
        away = np.hypot(vector[:, 0], vector[:, 1])
        bearing = np.arctan2(vector[:, 1], vector[:, 0])
        slope = np.arctan2(vector[:, 2], away)
        hits = solid.rays.cast(eye, vector, threads=1)
        bare = (hits.t > 0.97) | (solid.owner_of_face[np.maximum(hits.face, 0)] == owners)
        off = np.abs((bearing - yaw + np.pi) % (2 * np.pi) - np.pi)
        seen += bare & (off < np.radians(24)) & (np.abs(slope - pitch) < np.radians(19)) & (away < 4.5)
        if number % 4 == 0 or goal < 0:
            far = np.where(deep, np.abs(away - 1.2) * 1.2, np.abs(away - 2.7) * 0.4)
            cost = np.minimum(seen, SETTINGS.goal_frames) * 1.5 + seen * 0.1 + far + off * 0.4
            cost += 4.0 * ((away < 0.7) | ~bare) + chance.uniform(0, 0.3, len(goals))
            goal = int(np.argmin(cost))
        wanted = float(np.clip(slope[goal] + np.radians(2.0), low, high))
        turn = (bearing[goal] - yaw + np.pi) % (2 * np.pi) - np.pi
        yaw += float(np.clip(turn, -most, most))
        pitch += float(np.clip(wanted - pitch, -most / 2, most / 2))
        looks.append((yaw, pitch))
    return np.asarray(looks)
