"""Whether something can be where an intervention puts it: inside its room, on the floor, through nothing.

Everything is tested on plan hulls and heights, which is tight for upright furniture, and for many shifts at once, so
that a search can ask of every direction and distance. Source: SEMANTICS section 5, "Feasible".
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray
from shapely.geometry.base import BaseGeometry

from spacecast.frames import Array, Transform
from spacecast.scene.interventions import Effect, Move, Orbit, Remove, Single, Spin, called, describe, resolve
from spacecast.scene.objects import SceneObject
from spacecast.scene.rooms import Room

if TYPE_CHECKING:
    from spacecast.scene.scene import RestMesh, Scene

Geometries = NDArray[np.object_]


@dataclass(frozen=True)
class FeasibilitySettings:
    """How much of a touch is no collision; SEMANTICS section 5."""

    shrink_m: float = 0.02
    """Plan hulls are shrunk by this before they are compared."""
    max_overlap_m2: float = 0.002
    """Hulls that share no more in plan do not collide."""
    max_height_overlap_m: float = 0.03
    """Objects that share no more in height do not collide; nor does unlabelled surface in the lowest and highest of
    what moves (own)."""
    max_unlabelled_m2: float = 0.02
    """Area of unlabelled surface that may come to lie inside what moves; and so much more surface than before of walls
    and doors (own: the room's outline does not keep out of them what stood partly on floor that nobody saw), and, where
    plan hulls overlapped before, of one object inside the other (own: a table in the corner of a couch may go away from
    there, but not into the couch)."""
    max_share_outside: float = 0.03
    """Share of the plan that may end outside the room, unless more was outside before."""
    way_step_m: float = 0.02
    """Steps in which a way is followed (own)."""
    max_said: int = 4
    """Hindrances that an error names; the rest is counted (own)."""
    spin_step_deg: float = 5.0
    """Steps in which a turn on the spot is followed (own)."""


SETTINGS = FeasibilitySettings()
_ROUNDING = 1e-9
_LEVEL = frozenset({"floor", "ceiling"})
"""Traits of what of the building one stands on or under."""


class Hindrance(NamedTuple):
    """What stands against an intervention."""

    kind: Literal["support", "room", "object", "unlabelled"]
    object: int | None
    """The object that is hit, or that carries what should move, or None."""
    detail: str
    """A clause for a person: ``it would hit the couch``."""


class Clearance:
    """Where what moves with a root can be shifted to. Worked out once for a root; asked of many shifts at once."""

    def __init__(
        self, scene: Scene, root: int, moved: tuple[int, ...] | None = None, turn: Transform | None = None
    ) -> None:
        """Prepare.

        Args:
            scene: the state before.
            root: id of what is moved.
            moved: ids that move as one body, the root among them; None for the root and all that it carries.
            turn: world_from_world, a turn that comes before the shift, or None.
        """
        moved = tuple(sorted((root, *scene.carried_by(root)))) if moved is None else moved
        plans = _Plans.of(scene)
        standing = [scene.objects[i] for i in moved]
        parts = standing if turn is None else [_carried_by(turn, item) for item in standing]
        before = plans.shrunk([plans.row[i] for i in moved])
        self._scene, self._moved, self._root = scene, moved, moved.index(root)
        self._hulls = before if turn is None else _shrunk(parts)
        self._low_m, self._high_m = (np.array([getattr(part.aabb, end)[2] for part in parts]) for end in ("min", "max"))
        self._room = scene.room_of(root)
        self._plan = shapely.union_all([part.footprint for part in parts])
        self._allowed_outside = 0.0
        if self._room is not None:
            stood = shapely.union_all([item.footprint for item in standing])
            outside = float(_share_outside(stood, np.zeros((1, 2)), self._room)[0])
            self._allowed_outside = max(SETTINGS.max_share_outside, outside) + _ROUNDING
        self._pairs, self._others = self._find_pairs(plans, before)
        self._tangles = [
            _Tangle.of(standing[p], parts[p], scene.objects[i], (before[p], self._hulls[p], plans.hulls[plans.row[i]]))
            for p, i in self._overlapped
        ]
        self._loose, self._walls = _Loose.of(scene.rest), _Loose.of_walls(scene)
        self._near_walls = [self._walls.between(*ends) for ends in zip(self._low_m, self._high_m, strict=True)]
        self._in_walls_m2 = self._walls.area_inside_any(self._near_walls, before)
        self._near = [self._loose.between(*ends) for ends in zip(self._low_m, self._high_m, strict=True)]
        held = [self._loose.inside(near, hull) for near, hull in zip(self._near, before, strict=True)]
        inside_before = np.unique(np.concatenate(held))
        if len(inside_before):  # what lay inside before does not count
            self._near = [near[~np.isin(near, inside_before)] for near in self._near]

    def _find_pairs(self, plans: _Plans, before: Geometries) -> tuple[NDArray[np.int64], Geometries]:
        """(k, 2) (part, row of another object) that share height and did not overlap before, and the others' hulls."""
        rows = np.array([row for i, row in plans.row.items() if i not in self._moved], dtype=np.int64)
        shared_m = np.minimum(self._high_m[:, None], plans.high_m[rows]) - np.maximum(
            self._low_m[:, None], plans.low_m[rows]
        )
        part, other = np.nonzero(shared_m > SETTINGS.max_height_overlap_m)
        pairs = np.stack([part, rows[other]], axis=1)
        meet = _boxes_meet(_bounds(before)[part], plans.bounds[pairs[:, 1]])
        apart = np.ones(len(pairs), dtype=bool)
        apart[meet] = _overlap_m2(before[part[meet]], plans.hulls[pairs[meet, 1]]) <= SETTINGS.max_overlap_m2
        self._overlapped = [(int(p), int(plans.ids[row])) for p, row in pairs[~apart]]
        pairs = pairs[apart]
        self._other_ids = plans.ids[pairs[:, 1]]
        return pairs, plans.hulls[pairs[:, 1]]

    def free(self, shifts_m: ArrayLike) -> NDArray[np.bool_]:
        """(n,) True where a shift (n, 2) on the floor plan ends inside the room and in nothing."""
        shifts = np.asarray(shifts_m, dtype=np.float64).reshape(-1, 2)
        free = self._ends_inside(shifts)
        todo = np.flatnonzero(free)
        free[todo[self._hits(shifts[todo]).any(axis=0)]] = False
        for n in np.flatnonzero(free):
            free[n] = not any(tangle.tightens(shifts[n]) for tangle in self._tangles)
        for n in np.flatnonzero(free):
            free[n] = self._loose_m2(self._hulls, shifts[n]) <= SETTINGS.max_unlabelled_m2
        for n in np.flatnonzero(free):
            free[n] = not self._ends_in_wall(shifts[n])
        return free

    def hindrances(self, path_m: ArrayLike) -> list[Hindrance]:
        """All that stands against the end of a path of shifts (n, 2); a single shift will do.

        The way before the end only says how far it is to the wall.
        """
        path = np.asarray(path_m, dtype=np.float64).reshape(-1, 2)
        end = path[-1:]
        found = []
        if self._room is None:
            found.append(Hindrance("room", None, "it stands in no room that is known"))
        elif not self._ends_inside(end)[0]:
            where = f" (wall at {self._way_m(path):.1f} m)" if np.any(end) else ""
            found.append(Hindrance("room", None, f"it would end outside its room{where}"))
        elif self._ends_in_wall(end[0]):
            found.append(Hindrance("room", None, "it would end in a wall"))
        hit: dict[int, str] = {}
        hits = np.flatnonzero(self._hits(end)[:, 0])
        collisions = [(int(self._pairs[k, 0]), int(self._other_ids[k])) for k in hits]
        for pair, tangle in zip(self._overlapped, self._tangles, strict=True):
            collisions += [pair] if tangle.tightens(end[0]) else []
        for part, other in collisions:
            if part == self._root or other not in hit:
                carried = called(self._scene, self._moved[part])
                hit[other] = "it" if part == self._root else f"the {carried} that it carries"
        for other, what in sorted(hit.items()):
            found.append(Hindrance("object", other, f"{what} would hit the {called(self._scene, other)}"))
        if self._loose_m2(self._hulls, end[0]) > SETTINGS.max_unlabelled_m2:
            found.append(Hindrance("unlabelled", None, "it would end in something that has no label"))
        return found

    def path_is_clear(self, path_m: ArrayLike) -> bool:
        """True if the footprint swept along shifts (n, 2) stays in the room and meets nothing at its height.

        What overlapped before does not count here either.
        """
        path = np.asarray(path_m, dtype=np.float64).reshape(-1, 2)
        if not (self._stays_inside(path) or self._ends_inside(_followed(path)).all()):
            return False
        swept = np.array([_swept(hull, path) for hull in self._hulls], dtype=object)
        meet = _boxes_meet(_bounds(swept)[self._pairs[:, 0]], _bounds(self._others))
        overlap_m2 = _overlap_m2(swept[self._pairs[meet, 0]], self._others[meet])
        return not (overlap_m2 > SETTINGS.max_overlap_m2).any() and (
            self._loose_m2(swept, np.zeros(2)) <= SETTINGS.max_unlabelled_m2
        )

    def _ends_inside(self, shifts: Array) -> NDArray[np.bool_]:
        if self._room is None:
            return np.zeros(len(shifts), dtype=bool)
        return _share_outside(self._plan, shifts, self._room) <= self._allowed_outside

    def _stays_inside(self, path: Array) -> bool:
        """True if the room holds all that the plan covers on its way, and more: then so is every step of it."""
        if self._room is None:
            return False
        shapely.prepare(self._room.polygon)
        return bool(shapely.covers(self._room.polygon, _swept(self._plan, path)))

    def _hits(self, shifts: Array) -> NDArray[np.bool_]:
        """(pairs, n) True where a shifted part collides."""
        bounds = _bounds(self._hulls)[self._pairs[:, 0], None, :] + np.tile(shifts, 2)[None, :, :]
        pair, shift = np.nonzero(_boxes_meet(bounds, _bounds(self._others)[:, None, :]))
        hits = np.zeros(bounds.shape[:2], dtype=bool)
        moved = _shifted(self._hulls[self._pairs[pair, 0]], shifts[shift])
        hits[pair, shift] = _overlap_m2(moved, self._others[pair]) > SETTINGS.max_overlap_m2
        return hits

    def _loose_m2(self, hulls: Geometries, shift: Array) -> float:
        """Area of the unlabelled surface inside hulls, one per part, that are shifted."""
        return self._loose.area_inside_any(self._near, hulls, shift)

    def _ends_in_wall(self, shift: Array) -> bool:
        inside_m2 = self._walls.area_inside_any(self._near_walls, self._hulls, shift)
        return inside_m2 > self._in_walls_m2 + SETTINGS.max_unlabelled_m2

    def _way_m(self, path: Array) -> float:
        """How far along a path the plan stays in the room."""
        at = _followed(path)
        inside = self._ends_inside(at)
        last = len(at) - 1 if inside.all() else max(int(inside.argmin()) - 1, 0)
        return float(np.linalg.norm(np.diff(at[: last + 1], axis=0), axis=1).sum())


def hindrances(scene: Scene, intervention: Single, effect: Effect | None = None) -> list[Hindrance]:
    """What stands against an intervention; empty where it is feasible. The layout may always turn.

    Raises:
        InterventionError, UnknownObjectError, FrameError: it makes no sense; see :func:`interventions.resolve`.
    """
    effect = effect or resolve(scene, intervention)
    if effect.root is None:
        return []
    found = support_hindrances(scene, effect.root)
    if isinstance(intervention, Remove):
        return found
    turn = effect.world_from_world if isinstance(intervention, Spin) else None
    path = np.zeros((1, 2)) if len(effect.path_in_world) < 2 else effect.path_in_world
    ends = Clearance(scene, effect.root, effect.moved, turn).hindrances(path)
    if found and scene.room_of(effect.root) is None:  # what hangs on a wall often is within it: that says nothing more
        ends = [hindrance for hindrance in ends if hindrance.kind != "room"]
    return found + ends


def support_hindrances(scene: Scene, root: int) -> list[Hindrance]:
    """Why an object is not one that certainly stands on the floor, alone and loose; empty if it is."""
    if "installed" in scene.objects[root].traits:
        return [Hindrance("support", None, "it is built in")]
    support, carrier = scene.objects[root].support, scene.carrier_of(root)
    if carrier is not None:
        return [Hindrance("support", carrier, f"it would be taken off the {called(scene, carrier)}, which carries it")]
    if support is not None and support.kind == "floor":
        return []
    if support is not None and support.kind == "wall":
        return [Hindrance("support", None, "it hangs on a wall and does not stand on the floor")]
    return [Hindrance("support", None, "it is not known to stand on the floor")]


def path_is_clear(scene: Scene, intervention: Single, effect: Effect | None = None) -> bool:
    """True if nothing is in the way to where an intervention puts something; what goes no way meets nothing.

    Raises:
        InterventionError, UnknownObjectError, FrameError: it makes no sense; see :func:`interventions.resolve`.
    """
    effect = effect or resolve(scene, intervention)
    if effect.root is None:
        return True
    if isinstance(intervention, Move | Orbit):
        return Clearance(scene, effect.root, effect.moved).path_is_clear(effect.path_in_world)
    if isinstance(intervention, Spin):
        count = int(np.ceil(intervention.angle_deg / SETTINGS.spin_step_deg))
        for angle_deg in np.linspace(0.0, intervention.angle_deg, count + 1)[1:]:
            part = resolve(scene, replace(intervention, angle_deg=float(angle_deg)))
            if not Clearance(scene, effect.root, effect.moved, part.world_from_world).free((0.0, 0.0)).all():
                return False
    return True


def sentence(scene: Scene, intervention: Single, found: Sequence[Hindrance]) -> str:
    """One line for a person: ``desk cannot move 3.0 m north: it would end outside its room (wall at 1.2 m)``."""
    root = getattr(intervention, "object", None)
    label = "the layout" if root is None else called(scene, scene.resolve(root))
    said = [hindrance.detail for hindrance in found[: SETTINGS.max_said]]
    more = [f"and {len(found) - len(said)} more"] if len(found) > len(said) else []
    return f"{label} cannot {describe(scene, intervention)}: {'; '.join(said + more)}"


class _Plans:
    """Hulls and heights of a scene's objects that are not structure, in rows; kept as long as the scene lives."""

    _kept: ClassVar[weakref.WeakKeyDictionary[Scene, _Plans]] = weakref.WeakKeyDictionary()

    def __init__(self, scene: Scene) -> None:
        items = [item for item in scene.objects.values() if not item.is_structure]
        self.ids = np.array([item.id for item in items], dtype=np.int64)
        self.row = {item.id: n for n, item in enumerate(items)}
        self.low_m = np.array([item.aabb.min[2] for item in items])
        self.high_m = np.array([item.aabb.max[2] for item in items])
        self.hulls = _shrunk(items)
        self.bounds = _bounds(self.hulls)

    @classmethod
    def of(cls, scene: Scene) -> _Plans:
        plans = cls._kept.get(scene)
        if plans is None:
            plans = cls._kept[scene] = cls(scene)
        return plans

    def shrunk(self, rows: Sequence[int]) -> Geometries:
        return self.hulls[np.asarray(rows, dtype=np.int64)]


class _Loose:
    """Surface as points with areas, by rising x; of the faces without a label, and of walls and doors, kept as long as
    the mesh's rest."""

    _kept: ClassVar[weakref.WeakKeyDictionary[RestMesh, _Loose]] = weakref.WeakKeyDictionary()
    _kept_walls: ClassVar[weakref.WeakKeyDictionary[RestMesh, _Loose]] = weakref.WeakKeyDictionary()

    def __init__(self, points: Array, areas: Array) -> None:
        order = np.argsort(points[:, 0], kind="stable")
        self.points, self.areas = points[order], areas[order]

    @classmethod
    def of(cls, rest: RestMesh) -> _Loose:
        loose = cls._kept.get(rest)
        if loose is None:
            corners = rest.vertices[rest.faces[(rest.touches < 0).all(axis=1)]].astype(np.float64)
            normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            loose = cls._kept[rest] = cls(corners.mean(axis=1), 0.5 * np.linalg.norm(normals, axis=1))
        return loose

    @classmethod
    def of_walls(cls, scene: Scene) -> _Loose:
        """Of all of the building that one neither stands on nor under."""
        walls = cls._kept_walls.get(scene.rest)
        if walls is None:
            upright = [item for item in scene.objects.values() if item.is_structure and not item.traits & _LEVEL]
            surfaces = [item.surface_in_world for item in upright]
            points = np.concatenate([np.zeros((0, 3)), *(surface.points for surface in surfaces)])
            areas = np.concatenate([np.zeros(0), *(surface.areas for surface in surfaces)])
            walls = cls._kept_walls[scene.rest] = cls(points, areas)
        return walls

    def between(self, low_m: float, high_m: float) -> NDArray[np.int64]:
        """Numbers of the points inside a span of heights, by rising x."""
        z, margin = self.points[:, 2], SETTINGS.max_height_overlap_m
        return np.flatnonzero((z > low_m + margin) & (z < high_m - margin))

    def inside(self, among: NDArray[np.int64], hull: BaseGeometry, shift: ArrayLike = (0.0, 0.0)) -> NDArray[np.int64]:
        """Those of some points, given by rising x, that a shifted hull has inside."""
        if not len(among) or shapely.is_empty(hull):
            return among[:0]
        x0, y0, x1, y1 = shapely.bounds(hull).tolist()
        dx, dy = np.asarray(shift, dtype=np.float64).tolist()
        first, last = np.searchsorted(self.points[among, 0], (x0 + dx, x1 + dx))
        some = among[first:last]
        y = self.points[some, 1] - dy
        some = some[(y > y0) & (y < y1)]
        return some[shapely.contains_xy(hull, self.points[some, 0] - dx, self.points[some, 1] - dy)]

    def area_inside_any(
        self, among: Sequence[NDArray[np.int64]], hulls: Geometries, shift: ArrayLike = (0.0, 0.0)
    ) -> float:
        """Area of what some shifted hulls have inside, each of some points of its own; what two hold counts once."""
        inside = [self.inside(near, hull, shift) for near, hull in zip(among, hulls, strict=True)]
        return float(self.areas[np.unique(np.concatenate(inside))].sum())

    def area_inside(self, among: NDArray[np.int64], hull: BaseGeometry, shift: ArrayLike = (0.0, 0.0)) -> float:
        return float(self.areas[self.inside(among, hull, shift)].sum())


class _Tangle(NamedTuple):
    """Two objects whose hulls overlapped before: how much surface of one was in the hull of the other, both ways."""

    sides: tuple[tuple[_Loose, NDArray[np.int64], BaseGeometry, float, float], ...]
    """Surface, those of its points that share heights with a hull, the hull, 1 where the hull moves and -1 where the
    surface does, and the area inside before."""

    @classmethod
    def of(
        cls,
        stood: SceneObject,
        part: SceneObject,
        other: SceneObject,
        hulls: tuple[BaseGeometry, BaseGeometry, BaseGeometry],
    ) -> _Tangle:
        """What moves, as it stood and as it is turned, and the other; their hulls."""
        hull_before, hull, other_hull = hulls

        def surface(item: SceneObject, within: SceneObject) -> tuple[_Loose, NDArray[np.int64]]:
            found = _Loose(item.surface_in_world.points, item.surface_in_world.areas)
            return found, found.between(float(within.aabb.min[2]), float(within.aabb.max[2]))

        its, near = surface(other, stood)
        mine_before, near_before = surface(stood, other)
        mine, near_now = (mine_before, near_before) if part is stood else surface(part, other)
        return cls(
            (
                (its, near, hull, 1.0, its.area_inside(near, hull_before)),
                (mine, near_now, other_hull, -1.0, mine_before.area_inside(near_before, other_hull)),
            )
        )

    def tightens(self, shift: Array) -> bool:
        """True if more lies inside than before."""
        return any(
            surface.area_inside(near, hull, sign * shift) > before_m2 + SETTINGS.max_unlabelled_m2
            for surface, near, hull, sign, before_m2 in self.sides
        )


def _carried_by(turn: Transform, item: SceneObject) -> SceneObject:
    return replace(item, world_from_object=turn @ item.world_from_object)


def _shrunk(items: Sequence[SceneObject]) -> Geometries:
    plans = np.array([item.footprint for item in items], dtype=object)
    return np.asarray(shapely.buffer(plans, -SETTINGS.shrink_m, join_style="mitre"), dtype=object).reshape(-1)


def _bounds(geometries: Geometries) -> Array:
    """(n, 4) lowest x and y, highest x and y; nan where there is nothing."""
    return np.asarray(shapely.bounds(geometries), dtype=np.float64).reshape(-1, 4)


def _boxes_meet(one: Array, other: Array) -> NDArray[np.bool_]:
    """Where bounds (..., 4) overlap; never those of nothing."""
    low, high = np.maximum(one[..., :2], other[..., :2]), np.minimum(one[..., 2:], other[..., 2:])
    return np.asarray((low < high).all(axis=-1))


def _overlap_m2(one: Geometries, other: Geometries) -> Array:
    return np.asarray(shapely.area(shapely.intersection(one, other)), dtype=np.float64)


def _shifted(geometries: Geometries, shifts: Array) -> Geometries:
    """Copies of geometries (n,), each shifted by (n, 2)."""
    points, owner = shapely.get_coordinates(geometries, return_index=True)
    return np.asarray(shapely.set_coordinates(geometries.copy(), points + shifts[owner]), dtype=object)


def _share_outside(plan: BaseGeometry, shifts: Array, room: Room) -> Array:
    """(n,) share of a shifted plan's area outside a room; of one without an area, 0 or 1."""
    copies = _shifted(np.repeat(np.array([plan], dtype=object), len(shifts)), shifts)
    shapely.prepare(room.polygon)
    area_m2 = float(shapely.area(plan))
    if area_m2 <= 0.0:
        return np.asarray(~shapely.intersects(room.polygon, copies), dtype=np.float64)
    share = np.zeros(len(shifts))
    partly = np.flatnonzero(~shapely.covers(room.polygon, copies))
    share[partly] = 1.0 - _overlap_m2(copies[partly], np.array([room.polygon], dtype=object)) / area_m2
    return share


def _followed(path: Array) -> Array:
    """The points of a path, and those between at steps of the settings."""
    pieces = [path[:1]]
    for start, end in pairwise(path):
        count = max(1, int(np.ceil(np.linalg.norm(end - start) / SETTINGS.way_step_m)))
        pieces.append(start + (end - start) * (np.arange(1, count + 1) / count)[:, None])
    return np.concatenate(pieces)


def _swept(hull: BaseGeometry, path: Array) -> BaseGeometry:
    """What a convex hull covers on its way."""
    copies = _shifted(np.repeat(np.array([hull], dtype=object), len(path)), path)
    if len(copies) < 2:
        return copies[0]
    return shapely.union_all(shapely.convex_hull(shapely.union(copies[:-1], copies[1:])))
