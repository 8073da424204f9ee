"""Whether something can be where an intervention puts it: inside its room, on the floor, through nothing.

Everything is tested on plan hulls and heights, which is tight for upright furniture, and for many shifts at once, so
that a search can ask of every direction and distance. Source: SEMANTICS section 5, "Feasible".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from spacecast.frames import Array, Transform
from spacecast.scene.interventions import Effect, Remove, RotateLayout, Single, Spin, describe, resolve
from spacecast.scene.objects import SceneObject

if TYPE_CHECKING:
    from spacecast.scene.scene import Scene


@dataclass(frozen=True)
class FeasibilitySettings:
    """How much of a touch is no collision; SEMANTICS section 5."""

    shrink_m: float = 0.02
    """Plan hulls are shrunk by this before they are compared."""
    max_overlap_m2: float = 0.002
    """Hulls that share no more in plan do not collide."""
    max_height_overlap_m: float = 0.03
    """Objects that share no more in height do not collide."""
    max_unlabelled_m2: float = 0.02
    """Area of unlabelled surface that may come to lie inside what moves."""
    max_share_outside: float = 0.03
    """Share of the plan that may end outside the room, unless more was outside before."""
    free_way_step_m: float = 0.05
    """Steps in which an error looks for how far the way is free."""


SETTINGS = FeasibilitySettings()


class Hindrance(NamedTuple):
    """What stands against an intervention."""

    kind: Literal["support", "room", "object", "unlabelled"]
    object: int | None
    """The object that is hit, or None."""
    detail: str
    """A clause for a person: ``it would hit the couch 12``."""


class Clearance:
    """Where a subtree can be shifted to. Worked out once for a scene and a root; asked of many shifts at once."""

    def __init__(self, scene: Scene, root: int, moved: tuple[int, ...], turn: Transform | None = None) -> None:
        """Takes the scene before, the ids that move as one body (the root among them), and a turn that comes before
        the shift: world_from_world, or None."""
        standing = [scene.objects[i] for i in moved]
        self._root = moved.index(root)
        self._parts = standing if turn is None else [_carried_by(turn, item) for item in standing]
        self._others = [o for i, o in scene.objects.items() if i not in moved and not o.is_structure]
        self._room = scene.room_of(root)
        self._plan = shapely.union_all([part.footprint for part in self._parts])
        outside_before = self._share_outside(np.zeros((1, 2)), shapely.union_all([o.footprint for o in standing]))[0]
        self._allowed_outside = max(SETTINGS.max_share_outside, float(outside_before) + 1e-9)
        self._hulls, self._other_hulls = _shrunk(self._parts), _shrunk(self._others)
        hulls_before = _shrunk(standing)
        self._pairs: list[tuple[int, int]] = []
        for p, part in enumerate(self._parts):
            for o, other in enumerate(self._others):
                shared_m = min(part.aabb.max[2], other.aabb.max[2]) - max(part.aabb.min[2], other.aabb.min[2])
                if shared_m > SETTINGS.max_height_overlap_m:
                    before_m2 = shapely.area(shapely.intersection(hulls_before[p], self._other_hulls[o]))
                    if before_m2 <= SETTINGS.max_overlap_m2:  # what overlapped before the move does not count
                        self._pairs.append((p, o))
        self._loose_points, self._loose_m2 = _unlabelled(scene, moved)
        self._inside_before = [self._inside(part, np.zeros(2)) for part in standing]

    def free(self, shifts_m: Array) -> NDArray[np.bool_]:
        """(n,) True where a shift (n, 2) of the subtree ends inside its room and in nothing."""
        shifts = np.asarray(shifts_m, dtype=np.float64).reshape(-1, 2)
        free = self._share_outside(shifts) <= self._allowed_outside
        for p, o in self._pairs:
            todo = np.flatnonzero(free)
            if not len(todo):
                break
            free[todo] = self._overlap_m2(p, o, shifts[todo]) <= SETTINGS.max_overlap_m2
        for n in np.flatnonzero(free):
            free[n] = self._new_loose_m2(shifts[n]) <= SETTINGS.max_unlabelled_m2
        return free

    def hindrances(self, shift_m: Array) -> list[Hindrance]:
        """All that stands against one shift (2,)."""
        shift = np.asarray(shift_m, dtype=np.float64).reshape(1, 2)
        found = []
        if self._share_outside(shift)[0] > self._allowed_outside:
            found.append(
                Hindrance("room", None, f"it would end outside its room (wall at {self._way_m(shift[0]):.1f} m)")
            )
        for p, o in self._pairs:
            if self._overlap_m2(p, o, shift)[0] > SETTINGS.max_overlap_m2:
                part, other = self._parts[p], self._others[o]
                what = "it" if p == self._root else f"the {part.label} that it carries"
                found.append(Hindrance("object", other.id, f"{what} would hit the {other.label} {other.id}"))
        if self._new_loose_m2(shift[0]) > SETTINGS.max_unlabelled_m2:
            found.append(Hindrance("unlabelled", None, "it would end in something that has no label"))
        return found

    def path_is_clear(self, path_m: Array) -> bool:
        """True if the footprint swept along shifts (n, 2) meets nothing that stands at the same height."""
        path = np.asarray(path_m, dtype=np.float64).reshape(-1, 2)
        for p, o in self._pairs:
            hulls = _copies(self._hulls[p], path)
            swept = shapely.union_all([shapely.convex_hull(shapely.union(a, b)) for a, b in pairwise(hulls)])
            if shapely.area(shapely.intersection(swept, self._other_hulls[o])) > SETTINGS.max_overlap_m2:
                return False
        return True

    def _share_outside(self, shifts: Array, plan: BaseGeometry | None = None) -> Array:
        """(n,) share of the subtree's plan that lies outside the room; all of it where no room is known."""
        plan = self._plan if plan is None else plan
        area = float(shapely.area(plan))
        if self._room is None:
            return np.ones(len(shifts))
        if area <= 0.0:  # a line or a point: in or out
            return np.asarray(~shapely.intersects(_copies(plan, shifts), self._room.polygon), dtype=np.float64)
        inside = shapely.area(shapely.intersection(_copies(plan, shifts), self._room.polygon))
        return np.asarray(1.0 - inside / area)

    def _overlap_m2(self, p: int, o: int, shifts: Array) -> Array:
        return np.asarray(shapely.area(shapely.intersection(_copies(self._hulls[p], shifts), self._other_hulls[o])))

    def _inside(self, part: SceneObject, shift: Array) -> NDArray[np.bool_]:
        """(n,) True for the unlabelled points that a part, shifted, holds."""
        low, high = part.aabb.min[2], part.aabb.max[2]
        points = self._loose_points
        margin = SETTINGS.max_height_overlap_m
        near = (points[:, 2] > low + margin) & (points[:, 2] < high - margin)
        found = np.zeros(len(points), dtype=bool)
        found[near] = shapely.contains_xy(part.footprint, points[near, 0] - shift[0], points[near, 1] - shift[1])
        return found

    def _new_loose_m2(self, shift: Array) -> float:
        if not len(self._loose_points):
            return 0.0
        new = [self._inside(p, shift) & ~before for p, before in zip(self._parts, self._inside_before, strict=True)]
        return float(self._loose_m2[np.logical_or.reduce(new)].sum())

    def _way_m(self, shift: Array) -> float:
        """How far along a shift the plan stays in the room."""
        length = float(np.linalg.norm(shift))
        along = np.arange(0.0, length, SETTINGS.free_way_step_m)
        inside = self._share_outside(along[:, None] * shift / length) <= self._allowed_outside
        return float(along[inside.argmin() - 1]) if not inside.all() and inside[0] else (length if inside[0] else 0.0)


def hindrances(scene: Scene, intervention: Single, effect: Effect | None = None) -> list[Hindrance]:
    """What stands against an intervention; empty where it is feasible.

    Raises:
        InterventionError, UnknownObjectError, FrameError: it makes no sense; see :func:`interventions.resolve`.
    """
    effect = effect or resolve(scene, intervention)
    if isinstance(intervention, RotateLayout) or effect.root is None:
        return []
    found = support_hindrances(scene, effect.root)
    if isinstance(intervention, Remove):
        return found
    turn = effect.world_from_world if isinstance(intervention, Spin) else None
    return found + Clearance(scene, effect.root, effect.moved, turn).hindrances(effect.path_in_world[-1])


def support_hindrances(scene: Scene, root: int) -> list[Hindrance]:
    """Why an object is not one that certainly stands on the floor, alone; empty if it is."""
    item = scene.objects[root]
    carrier = scene.carrier_of(root)
    if carrier is not None:
        return [Hindrance("support", carrier, f"it rests on the {scene.objects[carrier].label} {carrier}")]
    if item.support is None or item.support.kind != "floor":
        hangs = item.support is not None and item.support.kind == "wall"
        return [Hindrance("support", None, "it hangs on a wall" if hangs else "what it stands on is not known")]
    return []


def sentence(scene: Scene, intervention: Single, found: list[Hindrance]) -> str:
    """One line for a person: ``desk cannot move 3.0 m north: it would end outside its room (wall at 1.2 m)``."""
    label = "the layout"
    if not isinstance(intervention, RotateLayout):
        label = scene.objects[scene.resolve(intervention.object)].label
    return f"{label} cannot {describe(scene, intervention)}: {'; '.join(h.detail for h in found)}"


def _carried_by(turn: Transform, item: SceneObject) -> SceneObject:
    return replace(item, world_from_object=turn @ item.world_from_object)


def _shrunk(items: list[SceneObject]) -> NDArray[np.object_]:
    return np.asarray(shapely.buffer([item.footprint for item in items], -SETTINGS.shrink_m, join_style="mitre"))


def _copies(hull: BaseGeometry, shifts: Array) -> NDArray[np.object_]:
    """(n,) copies of a geometry, each shifted by (n, 2)."""
    coordinates = shapely.get_coordinates(hull)
    many = np.repeat(np.asarray([hull], dtype=object), len(shifts))
    moved = (coordinates[None, :, :] + shifts[:, None, :]).reshape(-1, 2)
    return np.asarray(shapely.set_coordinates(many.copy(), moved))


def _unlabelled(scene: Scene, moved: tuple[int, ...]) -> tuple[Array, Array]:
    """Centres (n, 3) and areas (n,) of the faces that belong to no object and touch nothing that moves."""
    rest = scene.rest.without(moved)
    loose = (rest.touches < 0).all(axis=1)
    corners = rest.vertices[rest.faces[loose]].astype(np.float64)
    if not len(corners):
        return np.zeros((0, 3)), np.zeros(0)
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return corners.mean(axis=1), 0.5 * np.linalg.norm(cross, axis=1)
