"""Whether one surface carries, holds or bears another: the three ways of attachment, each by tight or loose bounds.

SEMANTICS section 3, Attachment, gives the numbers; those marked (own) fill what it leaves open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from spacecast.geometry.patches import Matches, hull_m2, nearest_heights, plan_matches, within
from spacecast.scene.surface import CELL_MARGIN_M, Surface


@dataclass(frozen=True)
class Bounds:
    """One run of the rule. Metres and shares; SEMANTICS section 3, Attachment."""

    min_up: float
    """An upward face has a normal with at least this much along up."""
    radius_m: float
    """How near on the plan a face is to a cell that it carries."""
    above_m: float
    """How far a face may be above the cell that it carries: surfaces sink into each other in a scan."""
    gap_scale: float
    gap_extra_m: float
    """A face may be below the cell by the gap times the one plus the other."""
    min_contact: float
    """Share of the base cells that are in contact."""
    min_hull: float
    """Share of the child's plan hull that the hull of the cells in contact has."""
    min_hull_soft: float
    """The same on soft parents, which give way."""
    max_lower: float
    """Share of the child's area that lies more than ``lower_m`` below the carrying height."""


@dataclass(frozen=True)
class ContactSettings:
    """Numbers of the rule; SEMANTICS section 3, Attachment, and own ones where it is silent."""

    tight: Bounds = Bounds(0.7, 0.06, 0.05, 1.0, 0.0, 0.40, 0.20, 0.12, 0.15)
    loose: Bounds = Bounds(0.5, 0.08, 0.08, 1.5, 0.02, 0.15, 0.08, 0.05, 0.35)
    gap_base_m: float = 0.02
    gap_per_height: float = 0.05
    min_gap_m: float = 0.03
    max_gap_m: float = 0.10
    gap_per_child_height: float = 0.30
    """gap = min(clip(base + per_height * h_parent, min, max), max(per_child_height * h_child, min))"""
    lower_m: float = 0.05
    max_plan_ratio: float = 1.2
    """The child's plan is at most this many times the parent's."""
    max_steep: float = 0.5
    """An upright face has a normal with less than this up or down (own)."""
    hang_reach_m: float = 0.05
    """What hangs on a face has samples this near to it: the distance of possible parents (own)."""
    max_depth_ratio: float = 0.5
    """What certainly hangs is at most this deep, in its lesser side across (own)."""
    min_agreement: float = 0.5
    """Length of the mean of unit normals below which faces do not look one way (own)."""
    min_inside: float = 0.9
    """Share of the child inside the parent's hull, of what is contained."""
    sectors: int = 16
    min_sectors: float = 0.6
    """Share of the directions around the child in which the parent is, of what contains it."""
    min_sectors_closed: float = 0.9
    """The same where the child is near the floor and nothing of the parent is seen under it (own)."""


SETTINGS = ContactSettings()
RUNS = (SETTINGS.tight, SETTINGS.loose)


class Carrying(NamedTuple):
    """One surface on another, in one run. ``score`` is the share of base cells in contact."""

    holds: bool
    score: float
    hull: float
    lower: float
    height: float


def gap_m(child: Surface, parent: Surface) -> float:
    """How far below the child's lower surface the parent may be and still carry it."""
    s = SETTINGS
    by_parent = float(np.clip(s.gap_base_m + s.gap_per_height * parent.height_m, s.min_gap_m, s.max_gap_m))
    return min(by_parent, max(s.gap_per_child_height * child.height_m, s.min_gap_m))


def carrying(
    child: Surface, parent: Surface, *, soft: bool, gap: float | None = None
) -> tuple[Carrying | None, Carrying | None]:
    """Whether the parent carries the child, by the tight and by the loose bounds; None where nothing is near.

    ``gap`` is :func:`gap_m` unless given.
    """
    if child.plan_m2 > SETTINGS.max_plan_ratio * parent.plan_m2:
        return None, None
    gap = gap_m(child, parent) if gap is None else gap
    loose = SETTINGS.loose
    cells = child.points[child.lowest]
    upward = parent.rising
    matches = plan_matches(
        cells,
        parent.points[upward],
        radius_m=loose.radius_m,
        below_m=loose.gap_scale * gap + loose.gap_extra_m,
        above_m=loose.above_m,
    )
    if not len(matches.cell):
        return None, None
    faces = upward[matches.face]
    up = parent.normals[faces, 2]
    plan = np.linalg.norm(parent.points[faces, :2] - cells[matches.cell, :2], axis=1)
    tight, loose_run = (
        _carrying(child, matches, run, gap, fits=(up > run.min_up) & (plan <= run.radius_m), soft=soft) for run in RUNS
    )
    return tight, loose_run


def _carrying(
    child: Surface, matches: Matches, run: Bounds, gap: float, *, fits: NDArray[np.bool_], soft: bool
) -> Carrying | None:
    below = run.gap_scale * gap + run.gap_extra_m
    cells = child.points[child.lowest]
    within = fits & (matches.above_m >= -below) & (matches.above_m <= run.above_m)
    above = nearest_heights(matches, within, len(cells))
    touching = np.isfinite(above)
    if not touching.any():
        return None
    height = float(np.median(cells[touching, 2] + above[touching]))
    base = cells[:, 2] <= height + below
    held = base & touching
    contact = float(held.sum() / base.sum()) if base.any() else 0.0
    # A cell stands for 0.04 of surface: both hulls are widened by half of it, so that a narrow thing has a base too.
    hull = hull_m2(cells[held, :2], margin_m=CELL_MARGIN_M) / child.wide_plan_m2
    lower = float(child.areas[child.points[:, 2] < height - SETTINGS.lower_m].sum() / child.area_m2)
    holds = (
        contact >= run.min_contact and hull >= (run.min_hull_soft if soft else run.min_hull) and lower <= run.max_lower
    )
    return Carrying(holds, contact, hull, lower, height)


class Containing(NamedTuple):
    """How far one surface is within another: share of its area inside the hull (the score), and of sides closed."""

    holds: bool
    inside: float
    sectors: float

    @property
    def score(self) -> float:
        """Comparable with the share of base cells in contact."""
        return self.inside


def containing(child: Surface, parent: Surface) -> Containing:
    """Whether the parent contains the child: 0.9 of it in the parent's hull, the parent on 0.6 of 16 sides."""
    in_box = np.ones(len(child.points), dtype=bool)
    for axis in (2, 0, 1):  # most pairs are told apart by height alone
        along = child.points[:, axis]
        in_box &= (along >= parent.low[axis]) & (along <= parent.high[axis])
        inside = float(child.areas[in_box].sum() / child.area_m2)
        if inside < SETTINGS.min_inside:
            return Containing(False, inside, 0.0)
    if parent.hull_planes is None:
        return Containing(False, 0.0, 0.0)
    numbers = np.flatnonzero(in_box)
    planes = parent.hull_planes
    within = (child.points[numbers] @ planes[:, :3].T + planes[:, 3] <= 1e-9).all(axis=1)
    inside = float(child.areas[numbers[within]].sum() / child.area_m2)
    middle = (child.low + child.high) / 2.0
    # Not beside its lowest part: the seat under a book is not around it, though in a scan both meet at one height.
    from_z = min(float(middle[2]), float(child.low[2]) + SETTINGS.lower_m)
    to_z = max(float(child.high[2]), from_z + SETTINGS.lower_m)  # never a band between two rows of samples
    beside = (parent.points[:, 2] >= from_z) & (parent.points[:, 2] <= to_z)
    away = parent.points[beside, :2] - middle[:2]
    angle = np.arctan2(away[:, 1], away[:, 0]) * (SETTINGS.sectors / (2.0 * np.pi))
    sectors = len(np.unique(np.floor(angle).astype(np.int64) % SETTINGS.sectors)) / SETTINGS.sectors
    return Containing(inside >= SETTINGS.min_inside and sectors >= SETTINGS.min_sectors, inside, sectors)


def has_bottom(inside: Containing, tight: Carrying | None) -> bool:
    """Whether what is inside and near the floor is held, and does not stand on the floor between the parent's sides.

    True if an upward face of the parent is under the child, or if the parent is all around it: the bottom of a bin is
    often not seen in a scan, but a desk and a couch are open to one side.
    """
    bears = tight is not None and tight.score >= SETTINGS.tight.min_contact
    return bears or inside.sectors >= SETTINGS.min_sectors_closed


def affixing(child: Surface, parent: Surface) -> tuple[Carrying | None, Carrying | None]:
    """Whether the child hangs on an upright face of the parent: the rule of carrying, with that face's side as up.

    The face looks along the mean of the parent's upright normals near the child; None where there is no such face, or
    where faces all around cancel out. Certain only for what is flat: a thick thing beside an upright face may rest on
    something that was not scanned.
    """
    reach_m = SETTINGS.hang_reach_m
    steep = np.abs(parent.normals[:, 2]) < SETTINGS.max_steep
    faces = np.flatnonzero(steep & within(parent.points, child.low - reach_m, child.high + reach_m))
    if not len(faces):
        return None, None
    tree = cKDTree(child.points, balanced_tree=False, compact_nodes=False)
    far, _ = tree.query(parent.points[faces], distance_upper_bound=reach_m)
    faces = faces[np.isfinite(far)]
    if not len(faces):
        return None, None
    areas = parent.areas[faces]
    mean = (parent.normals[faces, :2] * areas[:, None]).sum(axis=0) / areas.sum()
    length = float(np.linalg.norm(mean))
    if length < SETTINGS.min_agreement:
        return None, None
    up = np.array([mean[0], mean[1], 0.0]) / length
    turned = child.seen_along(up)
    tight, loose = carrying(turned, parent.seen_along(up), soft=False, gap=SETTINGS.min_gap_m)
    across = float((turned.high - turned.low)[:2].min())
    if tight is not None and turned.height_m > SETTINGS.max_depth_ratio * across:
        tight = tight._replace(holds=False)
    return tight, loose


def near(child: Surface, parent: Surface, *, reach_m: float) -> NDArray[np.int64]:
    """Numbers of the child's samples that have one of the parent's within a distance."""
    close = parent.points[within(parent.points, child.low - reach_m, child.high + reach_m)]
    own = np.flatnonzero(within(child.points, parent.low - reach_m, parent.high + reach_m))
    if not len(close) or not len(own):
        return np.zeros(0, dtype=np.int64)
    tree = cKDTree(close, balanced_tree=False, compact_nodes=False)
    far, _ = tree.query(child.points[own], distance_upper_bound=float(np.nextafter(reach_m, np.inf)))
    return own[np.isfinite(far)]
