"""Whether an intervention can be, judged from the raw scan by simple means; SEMANTICS 3 and 5.

A rough second look, with stated tolerances: what is said to be carried touches its carrier; the root stands on the
floor; and what moves ends in its room (``walkable.py``), in nothing that has no label, and in no other object, as far
as hulls on the floor plan and heights can tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError
from shapely.geometry.base import BaseGeometry

from spacecast.dataset import recompute
from spacecast.dataset.gaps import surface_gap_m
from spacecast.dataset.recompute import Motion
from spacecast.dataset.walkable import Walkable, with_rim
from spacecast.scan import NO_INSTANCE, Scan

Array = NDArray[np.float64]
Facts = Mapping[str, Any]
Problem = tuple[str, str]


@dataclass(frozen=True)
class PlausibleSettings:
    """Bounds of SEMANTICS, and how far this rough look lets things be beyond them (own)."""

    contact_m: float = 0.13
    """Between the surfaces of a carrier and of what it carries: 0.06 in plan and 0.10 in height, and a sample."""
    affixed_m: float = 0.15
    """The same for what is hung on it or built into it."""
    contained_m: float = 0.05
    """What is contained reaches so far beyond the box of what it is in at most, but upwards."""
    floor_m: float = 0.15
    """The lowest part of what stands on the floor is within this of it: 0.12, and what floors are uneven."""
    floor_reach_m: float = 0.5
    """Floor so near in plan says how high the floor is."""
    lowest_percent: float = 1.0
    """The lowest part."""
    shrink_m: float = 0.02
    """Plan hulls are shrunk by this."""
    overlap_m2: float = 0.003
    """Hulls that share more collide: 0.002 and a little."""
    overlapped_m2: float = 0.0015
    """Hulls that shared more before do not count."""
    height_m: float = 0.035
    """Heights that share more collide: 0.03 and a little."""
    shrink_in_walls_m: float = 0.03
    """The same where it ends, for walls: 0.02 and a little."""
    unlabelled_m2: float = 0.03
    """Unlabelled surface that may come to lie inside, and of walls more than before: 0.02 and a little."""
    outside_share: float = 0.03
    """Share of the plan that may end outside, unless more was outside before."""
    outside_m2: float = 0.003
    """So much more of it may be, since hulls are of rounded vertices; beside a rim of the room, see ``walkable.py``."""


SETTINGS = PlausibleSettings()


def plan_of(points: Array) -> BaseGeometry:
    """The convex hull on the floor plan of points (n, 3)."""
    return shapely.convex_hull(shapely.multipoints(points[:, :2]))


def corners_of(points: Array) -> Array:
    """(k, 3) those of some points (n, 3) that span their hull on the floor plan, and the lowest and the highest."""
    try:
        rows = ConvexHull(points[:, :2]).vertices
    except (QhullError, ValueError):  # in a line, or too few
        return points
    return points[np.concatenate([rows, [points[:, 2].argmin(), points[:, 2].argmax()]])]


class Plausible:
    """Looks at interventions in one scan."""

    def __init__(self, scan: Scan) -> None:
        """What is asked for is worked out once."""
        self.scan = scan
        self._points: dict[int, Array] = {}
        self._corners: dict[int, Array] = {}
        self._touching: dict[tuple[int, int, str], str | None] = {}

    def problems(self, facts: Facts) -> Iterator[Problem]:
        """What speaks against the intervention of some facts: (kind, detail); nothing where there is none."""
        for edge in facts["attachment"]:
            if edge["certainty"] == "certain":
                problem = self._apart(int(edge["parent"]), int(edge["child"]), str(edge["kind"]))
                if problem is not None:
                    yield "attachment", problem
        intervention = facts.get("intervention")
        if intervention is None or intervention["kind"] == "rotate_layout":
            return
        steps = recompute.motions(facts)
        singles = intervention["steps"] if intervention["kind"] == "sequence" else [intervention]
        for number, (single, motion) in enumerate(zip(singles, steps, strict=True)):
            if motion.moved is None:
                continue
            yield from self._support_problems(int(single["object"]))
            if motion.moved:
                yield from self._end_problems(sorted(motion.moved), steps[:number], motion)

    def points_of(self, object_id: int) -> Array:
        """(n, 3) labelled vertices."""
        if object_id not in self._points:
            self._points[object_id] = self.scan.vertices[self.scan.instance_ids == object_id].astype(np.float64)
        return self._points[object_id]

    # -- attachment and support ---------------------------------------------------------------------------------------

    def _apart(self, parent: int, child: int, kind: str) -> str | None:
        """Why one cannot carry the other; None if it can."""
        key = (parent, child, kind)
        if key not in self._touching:
            self._touching[key] = self._why_apart(*key)
        return self._touching[key]

    def _why_apart(self, parent: int, child: int, kind: str) -> str | None:
        if kind == "contained_in":
            outer, inner = self.points_of(parent), self.points_of(child)
            beyond = np.maximum(outer.min(axis=0) - inner.min(axis=0), inner.max(axis=0) - outer.max(axis=0))
            beyond[2] = outer[:, 2].min() - inner[:, 2].min()
            reach_m = float(beyond.max())
            if reach_m > SETTINGS.contained_m:
                return f"{child} is said to be in {parent} and reaches {reach_m:.2f} m beyond it"
            return None
        gap_m = surface_gap_m(self._triangles_of(parent), self._triangles_of(child))
        if gap_m > (SETTINGS.affixed_m if kind == "affixed_to" else SETTINGS.contact_m):
            return f"{parent} is said to carry {child} and is {gap_m:.2f} m from it"
        return None

    def _triangles_of(self, object_id: int) -> Array:
        return self.scan.vertices[self.scan.faces[self._face_ids == object_id]].astype(np.float64)

    def _support_problems(self, root: int) -> Iterator[Problem]:
        points, floor = self.points_of(root), self._floor
        if not len(floor):
            return
        low = np.percentile(points[:, 2], SETTINGS.lowest_percent)
        corners = np.stack([points.min(axis=0), points.max(axis=0)])[:, :2]
        off = np.maximum(0.0, np.maximum(corners[0] - floor[:, :2], floor[:, :2] - corners[1]))
        near = floor[np.hypot(off[:, 0], off[:, 1]) <= SETTINGS.floor_reach_m]
        height = float(low - np.median((near if len(near) else floor)[:, 2]))
        if abs(height) > SETTINGS.floor_m:
            yield "support", f"object {root} is {height:.2f} m above the floor, and moves by itself"

    # -- where it ends ------------------------------------------------------------------------------------------------

    def _end_problems(self, moved: Sequence[int], before: Sequence[Motion], motion: Motion) -> Iterator[Problem]:
        starts = {i: self.corners_after(i, before) for i in self._loose_ids}
        gone = set().union(*(step.removed for step in before)) if before else set()
        plans, ends = {}, {}
        for i in moved:
            plans[i], ends[i] = plan_of(starts[i]), plan_of(motion.of(starts[i]))
        others = {
            i: _shrunk(plan_of(starts[i]), SETTINGS.shrink_m)
            for i in self._loose_ids
            if i not in moved and i not in gone
        }
        outside = list(self._outside_problems(list(plans.values()), list(ends.values())))
        yield from outside
        for i in moved:
            low, high = starts[i][:, 2].min(), starts[i][:, 2].max()
            was, is_now = (_shrunk(plan, SETTINGS.shrink_m) for plan in (plans[i], ends[i]))
            for other, hull in others.items():
                shared_m = min(high, starts[other][:, 2].max()) - max(low, starts[other][:, 2].min())
                if shared_m <= SETTINGS.height_m or not shapely.intersects(is_now, hull):
                    continue
                shared_m2 = float(shapely.area(shapely.intersection(is_now, hull)))
                shared_before_m2 = float(shapely.area(shapely.intersection(was, hull)))
                if shared_m2 > SETTINGS.overlap_m2 and shared_before_m2 <= SETTINGS.overlapped_m2:
                    yield "infeasible", f"object {i} ends in object {other}: {shared_m2:.4f} m2 of their plans"
            middles, areas = self._unlabelled
            held = (middles[:, 2] > low + SETTINGS.height_m) & (middles[:, 2] < high - SETTINGS.height_m)
            inside = held & _holds(is_now, middles) & ~_holds(was, middles)
            if areas[inside].sum() > SETTINGS.unlabelled_m2:
                yield "infeasible", f"object {i} ends in {areas[inside].sum():.3f} m2 that have no label"
            middles, areas = self._walls
            held = (middles[:, 2] > low + SETTINGS.height_m) & (middles[:, 2] < high - SETTINGS.height_m)
            ends_in = _holds(_shrunk(ends[i], SETTINGS.shrink_in_walls_m), middles)
            more_m2 = areas[held & ends_in].sum() - areas[held & _holds(was, middles)].sum()
            if more_m2 > SETTINGS.unlabelled_m2 and not outside:  # that says it already
                yield "infeasible", f"object {i} ends {more_m2:.3f} m2 deeper in walls"

    def _outside_problems(self, plans: Sequence[BaseGeometry], ends: Sequence[BaseGeometry]) -> Iterator[Problem]:
        """Whether more of what moves ends outside of its room than may, the room's rim of one cell granted at the end.

        The rim, not a share, is what two ways to find a room may differ by: half of a radiator is a rim, and of a bed
        that is carried into a wall or through it all but a rim is found.
        """
        was, is_now = shapely.union_all(plans), shapely.union_all(ends)
        area_m2 = float(shapely.area(is_now))
        if not self._walkable.is_known or area_m2 <= 0.0:
            return
        room = self._walkable.room_of(was)
        if room is None:
            yield "infeasible", "what moves stands in no room"
            return
        outside_before_m2 = float(shapely.area(was)) - self._walkable.held_m2(was, room)
        inside_m2 = self._walkable.held_m2(is_now, with_rim(room))
        outside_m2 = area_m2 - inside_m2
        may_m2 = max(SETTINGS.outside_share * area_m2, outside_before_m2) + SETTINGS.outside_m2
        if outside_m2 > may_m2 or inside_m2 == 0.0:
            yield "infeasible", f"{outside_m2:.2f} m2 of {area_m2:.2f} that move end outside of their room"

    def corners_after(self, object_id: int, steps: Sequence[Motion]) -> Array:
        """(k, 3) what spans an object's plan and height where some motions put it."""
        if object_id not in self._corners:
            self._corners[object_id] = corners_of(self.points_of(object_id))
        corners = self._corners[object_id]
        for motion in steps:
            corners = motion.of(corners) if motion.takes(object_id) else corners
        return corners

    # -- the scan -----------------------------------------------------------------------------------------------------

    @cached_property
    def _loose_ids(self) -> list[int]:
        there = set(np.unique(self.scan.instance_ids).tolist())
        return sorted(i for i, instance in self.scan.instances.items() if i in there and not instance.is_structure)

    @cached_property
    def _face_ids(self) -> NDArray[np.int64]:
        corners = self.scan.instance_ids[self.scan.faces].astype(np.int64)
        return np.where((corners == corners[:, :1]).all(axis=1), corners[:, 0], NO_INSTANCE)

    @cached_property
    def _floor(self) -> Array:
        ids = sorted(i for i, instance in self.scan.instances.items() if "floor" in instance.traits)
        return self.scan.vertices[np.isin(self.scan.instance_ids, ids)].astype(np.float64)

    @cached_property
    def _walkable(self) -> Walkable:
        return Walkable(self.scan, [plan_of(self.corners_after(i, ())) for i in self._loose_ids])

    @cached_property
    def _unlabelled(self) -> tuple[Array, Array]:
        """Middles (n, 3) and areas of the faces of which no corner has a label."""
        corners = self.scan.instance_ids[self.scan.faces]
        return _measured(self.scan.vertices[self.scan.faces[(corners == NO_INSTANCE).all(axis=1)]])

    @cached_property
    def _walls(self) -> tuple[Array, Array]:
        """The same of the faces of walls, doors and windows."""
        instances = self.scan.instances.items()
        ids = [i for i, item in instances if item.is_structure and not item.traits & {"floor", "ceiling"}]
        return _measured(self.scan.vertices[self.scan.faces[np.isin(self._face_ids, ids)]])


def _measured(triangles: NDArray[np.float32]) -> tuple[Array, Array]:
    """Middles (n, 3) and areas (n,) of triangles."""
    corners = triangles.astype(np.float64)
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return corners.mean(axis=1), np.linalg.norm(cross, axis=1) / 2.0


def _shrunk(plan: BaseGeometry, by_m: float) -> BaseGeometry:
    return shapely.buffer(plan, -by_m, join_style="mitre")


def _holds(plan: BaseGeometry, points: Array) -> NDArray[np.bool_]:
    return np.asarray(shapely.contains_xy(plan, points[:, 0], points[:, 1]))
