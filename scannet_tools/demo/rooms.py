"""An empty room and where things stand in it: footprints that do not overlap, walls with room on them.

World frame: z up, floor at z = 0, walls along the axes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from shapely import Point, Polygon, box, unary_union
from shapely.affinity import affine_transform
from shapely.geometry.base import BaseGeometry

from scannet_tools.demo.furniture import Style
from scannet_tools.demo.shapes import Spot, Thing

Chance = np.random.Generator


@dataclass(frozen=True)
class RoomSettings:
    """Measures of demo rooms; all our own."""

    min_area_m2: float = 10.0
    max_area_m2: float = 40.0
    apart_m: float = 0.10
    """Least distance between footprints on the floor: farther than any reach of the contact rule (SEMANTICS 3)."""
    siblings_apart_m: float = 0.10
    """Least distance between things on one top, for the same reason: the rule looks 0.08 around a cell."""
    rest_gap_m: float = 0.002
    """How high a thing rests above what carries it, so that no two faces coincide."""
    walk_radius_m: float = 0.30
    """The walker keeps this far from furniture and walls."""
    min_walk_share: float = 0.13
    """Share of the floor that stays free to walk on."""
    wall_item_apart_m: float = 0.15
    """Least distance between things on a wall, and from furniture before it."""
    headroom_m: float = 0.55
    """Height above furniture with a top that nothing hung on the wall comes into."""


SETTINGS = RoomSettings()


@dataclass(frozen=True)
class Pose:
    """Where a thing stands in the world: the middle of its foot, and its turn counterclockwise seen from above."""

    x: float
    y: float
    z: float
    yaw_deg: float

    @cached_property
    def rotation(self) -> NDArray[np.float64]:
        """(3, 3) world from thing."""
        c, s = np.cos(np.radians(self.yaw_deg)), np.sin(np.radians(self.yaw_deg))
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    @property
    def origin(self) -> NDArray[np.float64]:
        """(3,) metres."""
        return np.array([self.x, self.y, self.z])

    def at(self, x: float, y: float, z: float = 0.0, yaw_deg: float = 0.0) -> Pose:
        """The pose of something at a point of this thing, turned against it."""
        moved = self.rotation @ (x, y, z) + self.origin
        return Pose(float(moved[0]), float(moved[1]), float(moved[2]), self.yaw_deg + yaw_deg)

    def footprint(self, thing: Thing) -> Polygon:
        """The floor that a thing covers here."""
        width, depth, _ = thing.size
        c, s = self.rotation[0, 0], self.rotation[1, 0]
        shape = Point(0, 0).buffer(width / 2) if thing.is_round else box(-width / 2, -depth / 2, width / 2, depth / 2)
        return affine_transform(shape, [c, -s, s, c, self.x, self.y])


@dataclass(frozen=True)
class Placed:
    """A thing in the room."""

    thing: Thing
    pose: Pose
    support: str
    """``floor``, ``wall``, ``object`` or ``structure`` (doors and windows)."""
    parent: int | None = None
    kind: str | None = None
    spot: int | None = None
    """Number of the parent's place that it is in."""

    @cached_property
    def footprint(self) -> Polygon:
        """The floor that it covers or hangs over; what hangs has its origin at its back."""
        hangs = self.support in ("wall", "structure")
        return (self.pose.at(0.0, -self.thing.size[1] / 2) if hangs else self.pose).footprint(self.thing)

    @property
    def top_m(self) -> float:
        """Height of its top above the floor."""
        return self.pose.z + self.thing.size[2]


@dataclass(frozen=True)
class Wall:
    """One wall, seen from inside: from ``start`` to ``end`` with the room on the left."""

    start: NDArray[np.float64]
    end: NDArray[np.float64]

    @property
    def length_m(self) -> float:
        """Along the floor."""
        return float(np.linalg.norm(self.end - self.start))

    @property
    def along(self) -> NDArray[np.float64]:
        """(2,) unit vector from start to end."""
        return (self.end - self.start) / self.length_m

    @property
    def inward(self) -> NDArray[np.float64]:
        """(2,) unit vector into the room."""
        x, y = self.along
        return np.array([-y, x])

    def strip(self, low_m: float, high_m: float, off_m: float) -> Polygon:
        """The floor before a part of the wall."""
        corners = ((low_m, 0.0), (high_m, 0.0), (high_m, off_m), (low_m, off_m))
        return Polygon([self.start + self.along * a + self.inward * o for a, o in corners])

    def pose(self, at_m: float, off_m: float, z: float = 0.0, turn_deg: float = 0.0) -> Pose:
        """Something with its back (+y) to the wall, its origin ``at_m`` along and ``off_m`` before it."""
        point = self.start + self.along * at_m + self.inward * off_m
        yaw = np.degrees(np.arctan2(-self.along[1], -self.along[0]))
        return Pose(float(point[0]), float(point[1]), z, float(yaw) + turn_deg)


@dataclass(frozen=True)
class Room:
    """The empty room: corners (n, 2) counterclockwise, metres in world."""

    corners: NDArray[np.float64]
    height_m: float

    @classmethod
    def drawn(cls, chance: Chance) -> Room:
        """A rectangle or an L of 10 to 40 square metres, centred on the origin, in one of its turns and mirrorings."""
        while True:
            area = float(np.exp(chance.uniform(np.log(12.0), np.log(36.0))))
            ratio = chance.uniform(1.0, 1.7)
            width, depth = np.sqrt(area * ratio), np.sqrt(area / ratio)
            if chance.random() < 0.4:
                cut_x, cut_y = width * chance.uniform(0.3, 0.5), depth * chance.uniform(0.3, 0.5)
                corners = [(0, 0), (width, 0), (width, depth - cut_y), (width - cut_x, depth - cut_y)]
                corners += [(width - cut_x, depth), (0, depth)]
            else:
                corners = [(0, 0), (width, 0), (width, depth), (0, depth)]
            middle = np.array([width / 2, depth / 2]).round(2)
            points = np.array(corners, dtype=np.float64).round(2) - middle
            if chance.random() < 0.5:
                points = (points * (-1, 1))[::-1]
            if chance.random() < 0.5:
                points = points[:, ::-1][::-1]
            room = cls(points, round(float(chance.uniform(2.4, 2.8)), 2))
            widest = room.polygon.buffer(-1.1).area > 0
            if SETTINGS.min_area_m2 <= room.polygon.area <= SETTINGS.max_area_m2 and widest:
                return room

    @cached_property
    def polygon(self) -> Polygon:
        """The floor."""
        return Polygon(self.corners)

    @cached_property
    def walls(self) -> tuple[Wall, ...]:
        """Walls in the order of the corners."""
        return tuple(Wall(a, b) for a, b in zip(self.corners, np.roll(self.corners, -1, axis=0), strict=True))


@dataclass
class Layout:
    """A room that is being furnished."""

    room: Room
    style: Style
    chance: Chance
    placed: list[Placed] = field(default_factory=list)
    kept_free: list[BaseGeometry] = field(default_factory=list)
    """Floor that furniture stays out of: before doors."""
    on_walls: list[tuple[int, float, float, float, float]] = field(default_factory=list)
    """Taken parts of walls: wall, from and to along it, from and to in height."""

    def standing(self) -> Iterator[tuple[int, Placed]]:
        """What stands on the floor, with its number."""
        return ((i, p) for i, p in enumerate(self.placed) if p.support == "floor")

    def walkable(self, extra: tuple[BaseGeometry, ...] = ()) -> BaseGeometry:
        """Floor on which the walker's middle can be: the largest connected part."""
        radius = SETTINGS.walk_radius_m
        solid = [p.footprint for _, p in self.standing() if p.thing.size[2] > 0.05]
        free = self.room.polygon.buffer(-radius - 0.05) - unary_union([*solid, *extra]).buffer(radius)
        parts = list(getattr(free, "geoms", [free]))
        return max(parts, key=lambda part: part.area)

    def fits(self, thing: Thing, pose: Pose, apart_m: float | None = None) -> bool:
        """True if a thing can stand there: inside, clear of all others, and one can still walk."""
        apart = SETTINGS.apart_m if apart_m is None else apart_m
        shape = pose.footprint(thing)
        if not self.room.polygon.buffer(-0.015).contains(shape):
            return False
        if any(shape.intersects(keep) for keep in self.kept_free):
            return False
        for _, other in self.standing():
            if shape.distance(other.footprint) < apart:
                return False
        for wall, low, high, bottom, _ in self.on_walls:  # nothing stands before a low window, a picture or a curtain
            side = self.room.walls[wall]
            if bottom < thing.size[2] + 0.1 and shape.intersects(side.strip(low - 0.12, high + 0.12, 0.4)):
                return False
        share = self.walkable((shape,)).area / self.room.polygon.area
        return thing.size[2] < 0.05 or share >= SETTINGS.min_walk_share

    def stand(self, thing: Thing, pose: Pose, apart_m: float | None = None) -> int | None:
        """Put a thing on the floor if it fits there; its number."""
        pose = Pose(pose.x, pose.y, SETTINGS.rest_gap_m, pose.yaw_deg)
        if not self.fits(thing, pose, apart_m):
            return None
        self.placed.append(Placed(thing, pose, "floor"))
        return len(self.placed) - 1

    def against_wall(self, thing: Thing, *, turn_deg: float = 0.0, tries: int = 30) -> int | None:
        """Put a thing with its back to some wall."""
        half = box(-thing.size[0] / 2, -thing.size[1] / 2, thing.size[0] / 2, thing.size[1] / 2)
        c, s = np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))
        min_x, _, max_x, max_y = affine_transform(half, [c, -s, s, c, 0, 0]).bounds
        for _ in range(tries):
            wall = self.room.walls[self.chance.integers(len(self.room.walls))]
            room_for = wall.length_m - (max_x - min_x) - 0.1
            if room_for <= 0:
                continue
            at = 0.05 - min_x + self.chance.uniform(0, room_for)
            if self.chance.random() < 0.35:  # furniture likes corners
                at = self.chance.choice([0.08 - min_x, wall.length_m - 0.08 - max_x])
            pose = wall.pose(float(at), max_y + self.chance.uniform(0.03, 0.06), 0.0, turn_deg)
            number = self.stand(thing, pose)
            if number is not None:
                return number
        return None

    def beside(
        self, number: int, thing: Thing, at: tuple[float, float], yaw_deg: float, apart_m: float = 0.08
    ) -> int | None:
        """Put a thing at a point of another one's own axes."""
        return self.stand(thing, self.placed[number].pose.at(*at, 0.0, yaw_deg), apart_m)

    def free(self, thing: Thing, *, yaw_deg: float | None = None, tries: int = 40, apart_m: float = 0.15) -> int | None:
        """Put a thing anywhere on the floor."""
        low_x, low_y, high_x, high_y = self.room.polygon.bounds
        for _ in range(tries):
            yaw = self.chance.uniform(0, 360) if yaw_deg is None else yaw_deg
            pose = Pose(self.chance.uniform(low_x, high_x), self.chance.uniform(low_y, high_y), 0.0, float(yaw))
            number = self.stand(thing, pose, apart_m)
            if number is not None:
                return number
        return None

    def hang(
        self,
        thing: Thing,
        z: float,
        *,
        support: str = "wall",
        wall: int | None = None,
        at_m: float | None = None,
        tries: int = 30,
    ) -> int | None:
        """Hang a thing on a wall with its lower side at a height, clear of other things there and before it."""
        width, depth, height = thing.size
        for _ in range(tries):
            which = int(self.chance.integers(len(self.room.walls))) if wall is None else wall
            side = self.room.walls[which]
            if side.length_m < width + 0.3:
                continue
            at = self.chance.uniform(width / 2 + 0.15, side.length_m - width / 2 - 0.15) if at_m is None else at_m
            low, high = at - width / 2, at + width / 2
            if low < 0.08 or high > side.length_m - 0.08 or self._wall_taken(which, low, high, z, z + height):
                continue
            pose = side.pose(float(at), SETTINGS.rest_gap_m, z)
            if depth > 0.2 and z < 1.9:  # nobody walks into a cupboard
                self.kept_free.append(pose.at(0, -depth / 2).footprint(thing).buffer(0.05))
            self.on_walls.append((which, float(low), float(high), z, z + height))
            self.placed.append(Placed(thing, pose, support))
            return len(self.placed) - 1
        return None

    def _wall_taken(self, which: int, low: float, high: float, bottom: float, top: float) -> bool:
        apart = SETTINGS.wall_item_apart_m
        for wall, other_low, other_high, other_bottom, other_top in self.on_walls:
            if (
                wall == which
                and low < other_high + apart
                and other_low < high + apart
                and bottom < other_top + apart
                and other_bottom < top + apart
            ):
                return True
        side = self.room.walls[which]
        strip = side.strip(low - apart, high + apart, 0.45)
        for other in self.placed:
            if other.support not in ("floor", "object"):
                continue
            has_top = other.support == "floor" and other.thing.spots
            clear_m = SETTINGS.headroom_m if has_top else apart
            if other.top_m + clear_m > bottom and strip.intersects(other.footprint):
                return True
        return False

    def _below_wall_item(self, shape: Polygon, foot_m: float, top_m: float) -> bool:
        """True if a thing with this foot and top would come up to something on the wall above it."""
        for wall, low, high, bottom, _ in self.on_walls:
            side = self.room.walls[wall]
            is_above = foot_m < bottom < top_m + SETTINGS.apart_m
            if is_above and shape.intersects(side.strip(low - 0.1, high + 0.1, 0.45)):
                return True
        return False

    def put(self, parent: int, spot_number: int, thing: Thing, tries: int = 25) -> int | None:
        """Put a thing into a place of another one, if it fits there clear of what is there."""
        carrier = self.placed[parent]
        spot: Spot = carrier.thing.spots[spot_number]
        if thing.size[2] > spot.clear_height_m:
            return None
        area = box(
            spot.center[0] - spot.size[0] / 2,
            spot.center[1] - spot.size[1] / 2,
            spot.center[0] + spot.size[0] / 2,
            spot.center[1] + spot.size[1] / 2,
        ).buffer(1e-6)
        others = [p.footprint for p in self.placed if p.parent == parent and p.spot == spot_number]
        for attempt in range(tries):
            straight = thing.is_round or spot.role in ("shelf", "head", "middle") or attempt > tries // 2
            yaw = 0.0 if straight else float(self.chance.uniform(-25, 25))
            half_x, half_y = spot.size[0] / 2, spot.size[1] / 2
            x = spot.center[0] + self.chance.uniform(-half_x, half_x)
            y = spot.center[1] + self.chance.uniform(-half_y, half_y)
            if spot.role in ("middle", "inside") or attempt == tries - 1:
                x, y = spot.center
            local = Pose(float(x), float(y), 0.0, yaw).footprint(thing)
            if not area.contains(local):
                continue
            pose = carrier.pose.at(float(x), float(y), spot.z + SETTINGS.rest_gap_m, yaw)
            shape = pose.footprint(thing)
            if any(shape.distance(other) < SETTINGS.siblings_apart_m for other in others):
                continue
            if self._below_wall_item(shape, pose.z, pose.z + thing.size[2]):
                continue
            self.placed.append(Placed(thing, pose, "object", parent, spot.kind, spot_number))
            return len(self.placed) - 1
        return None
