"""What only a scan can tell, measured again by brute force.

Boxes from labelled vertices; poses, pictures and labels against the reader's; distance by dense samples of both
surfaces and a tree; occlusion and names by rays (:mod:`spacecast.dataset.shadows`), before a change and after it; that
an intervention can be (:mod:`spacecast.dataset.plausible`). Nothing of ``spacecast.relations``, ``spacecast.scene`` or
``spacecast.geometry`` is used, nor masks of ``spacecast.sight``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from spacecast.dataset import chain_facts, distractors, recompute
from spacecast.dataset.askable import Askable
from spacecast.dataset.chain_sight import ChainSight
from spacecast.dataset.form import GARBLED
from spacecast.dataset.gaps import gap_bounds_m, surface_gap_m
from spacecast.dataset.plausible import Plausible, plan_of
from spacecast.dataset.rows import Row
from spacecast.dataset.shadows import NOTHING, Pair, Seen, Shadows, mesh_of
from spacecast.errors import InputError
from spacecast.scan import Scan

Array = NDArray[np.float64]
Facts = Mapping[str, Any]
Problem = tuple[str, str]
MOMENTS = ("before", "after")


@dataclass(frozen=True)
class RemeasureSettings:
    """How finely, and how far the second measure may be from the first."""

    box_m: float = 1e-3
    """Between a box in the facts (four places) and the labelled vertices."""
    obb_area_share: float = 0.005
    """A rectangle may be so much larger than the smallest of those at every 0.25 degrees."""
    pose: float = 1e-3
    """Between the numbers of two poses; facts have four places, and translations are in metres."""
    intrinsics_px: float = 0.01
    """Between two focal lengths or principal points."""
    distance_m: float = 0.01
    """Between two distances; samples are at most one spacing off."""
    silhouette_share: float = 0.01
    """Between two counts of a silhouette, and a few pixels."""
    nudge_px: float = 0.05
    """Rays may pass so far beside the middle of a pixel, at 640 wide: facts round where a thing goes to 5e-5 m, and at
    an edge that passes through the middle one pixel more or less turns a whole square of the opening (own)."""
    few_px: int = 4
    """Pixels on a silhouette's border that two ways of casting may count differently."""
    share: float = 0.01
    """Between two shares of a silhouette."""
    min_others: float = 0.10
    """Still occluded: others hide more than this beside what is removed; SEMANTICS 6."""
    outline_px: float = 20.0
    """Still occluded: what is removed shows so near the target's silhouette, at 640 wide (own)."""
    max_unseen: float = 0.005
    """What was not to be seen before hides at most this afterwards; SEMANTICS 6."""
    footprint_m2: float = 2e-4
    """Footprints that share more overlap: their directions are not certain; SEMANTICS 3."""
    max_truncation: float = 0.65
    """Largest share of one of a pair beyond the picture; SEMANTICS 4."""
    max_unknown_share: float = 0.05
    """With a larger share nearer in the sensor's depth than in the mesh an object is skipped; SEMANTICS 3."""


SETTINGS = RemeasureSettings()


class Remeasure:
    """Measures one scan."""

    def __init__(self, scan: Scan, *, threads: int = 0) -> None:
        """``threads`` of a cast: 0 for all cores, 1 in workers."""
        self.scan, self._threads = scan, threads
        self.now = Shadows(scan, mesh_of(scan), threads=threads)
        self.plausible = Plausible(scan)
        self.askable = Askable(scan, self.now)
        self.chains = ChainSight(scan, self.now)
        self._after: tuple[str, dict[bool, Shadows]] = ("", {})
        self._distances: dict[tuple[int, int, str], float] = {}
        self._boxes: dict[tuple[int, str], list[Problem]] = {}

    def row_problems(self, row: Row) -> list[Problem]:
        """What in a row does not agree with the scan: (kind, detail)."""
        facts = row.facts
        try:
            found = [*self._objects(facts), *self._views(facts)]
            if found:
                return found  # what follows would only say it again
            found += self._relation(facts)
            if facts.get("intervention") is not None:
                found += self.plausible.problems(facts)
            groups = chain_facts.groups_of(row.source_type, facts) if chain_facts.is_chain(facts) else None
            found += self.askable.problems(facts, groups)
            if chain_facts.is_chain(facts):
                found += self.chains.problems(facts, groups)
            return found
        except InputError as error:
            return [("facts", str(error))]
        except GARBLED as error:
            return [("facts", f"garbled: {type(error).__name__} {error}")]

    # -- objects and views ----------------------------------------------------------------------------------------

    def _objects(self, facts: Facts) -> Iterator[Problem]:
        for item in facts["objects"]:
            instance = self.scan.instances.get(int(item["id"]))
            if instance is None:
                yield "scan", f"object {item['id']} is not in the scan"
                continue
            if (instance.label, instance.raw_label) != (item["label"], item["raw_label"]):
                yield "scan", f"object {item['id']} is {instance.label!r} in the scan, {item['label']!r} in the facts"
            if item.get("label_zh") not in (None, instance.label_zh):
                yield (
                    "scan",
                    f"object {item['id']} is {instance.label_zh!r} in Chinese, {item['label_zh']!r} in the facts",
                )
            key = (instance.id, json.dumps([item["aabb"], item["obb"]], sort_keys=True))
            if key not in self._boxes:
                self._boxes[key] = list(self._box_problems(item))
            yield from self._boxes[key]

    def _box_problems(self, item: Facts) -> Iterator[Problem]:
        points = self.plausible.points_of(int(item["id"]))
        low, high = points.min(axis=0), points.max(axis=0)
        stored = np.array([item["aabb"]["min"], item["aabb"]["max"]], float)
        if np.abs(stored - [low, high]).max() > SETTINGS.box_m:
            yield "box", f"object {item['id']}: aabb is off by {np.abs(stored - [low, high]).max():.4f} m"
        yield from _obb_problems(item, points)

    def _views(self, facts: Facts) -> Iterator[Problem]:
        for stored in facts["views"]:
            view = self.scan.views.get(stored["name"])
            if view is None:
                yield "scan", f"view {stored['name']} is not in the scan"
                continue
            off = np.abs(recompute.matrix_of(stored) - view.world_from_camera.matrix).max()
            if off > SETTINGS.pose:
                yield "pose", f"view {stored['name']}: the pose is off by {off:.4f}"
            own = view.intrinsics
            x, y = stored["width"] / own.width, stored["height"] / own.height
            expected = [own.fx * x, own.fy * y, (own.cx + 0.5) * x - 0.5, (own.cy + 0.5) * y - 0.5]
            pixel = np.array(stored["pixel_from_camera"], float).reshape(3, 3)
            found = [pixel[0, 0], pixel[1, 1], pixel[0, 2], pixel[1, 2]]
            if np.abs(np.subtract(found, expected)).max() > SETTINGS.intrinsics_px:
                yield "pose", f"view {stored['name']}: intrinsics {found}, in the scan {np.round(expected, 4).tolist()}"

    # -- relations ------------------------------------------------------------------------------------------------

    def _relation(self, facts: Facts) -> Iterator[Problem]:
        kind = facts["relation"]["kind"]
        if kind == "direction":
            yield from self._direction(facts)
        elif kind == "distance":
            yield from self._distance(facts)
        elif kind in ("occlusion", "pairwise_occlusion"):
            yield from self._what_hides(facts)

    def _what_hides(self, facts: Facts) -> list[Problem]:
        """Visibility before and after; a problem is one that rays beside the middles of pixels, each way, see too."""
        first = list(self._hiding_problems(facts, (0, 0)))
        for right, down in product((-1, 0, 1), repeat=2):
            if first and not list(self._hiding_problems(facts, (right, down))):
                return []
        return first

    def _hiding_problems(self, facts: Facts, beside: tuple[int, int]) -> Iterator[Problem]:
        relation, changed = facts["relation"], facts.get("intervention") is not None
        look = self._occlusion if relation["kind"] == "occlusion" else self._pairwise
        for moment in MOMENTS[: 1 + changed]:
            yield from (said(moment, problem) for problem in look(facts, moment, relation[moment], beside))
        if relation["kind"] == "occlusion" and changed:
            yield from self._removal(facts, beside)

    def _direction(self, facts: Facts) -> Iterator[Problem]:
        """The third centre, that is in no facts, and footprints that overlap."""
        means = {int(item["id"]): self.plausible.points_of(int(item["id"])).mean(axis=0) for item in facts["objects"]}
        for moment, mine, other in zip(
            MOMENTS, recompute.directions(facts), recompute.directions(facts, means), strict=True
        ):
            if mine is not None and other is not None and mine.value != other.value:
                yield "not_certain", f"{moment} the change: {mine.value}, but {other.value} from the means of vertices"
        steps = recompute.motions(facts)
        ends = [int(facts["relation"][end]) for end in ("target", "reference")]
        for number in range(2 if steps else 1):
            hulls = [plan_of(self.plausible.corners_after(i, steps[: len(steps) * number])) for i in ends]
            shared_m2 = float(shapely.area(shapely.intersection(*hulls)))
            if shared_m2 > SETTINGS.footprint_m2:
                yield "not_certain", f"{MOMENTS[number]} the change: the footprints share {shared_m2:.4f} m2"

    def _distance(self, facts: Facts) -> Iterator[Problem]:
        """Both distances, and, after a move, which mistakes lead to the wrong options."""
        relation, steps = facts["relation"], recompute.motions(facts)
        changed = facts.get("intervention") is not None
        for moment, done in zip(MOMENTS[: 1 + changed], ([], steps), strict=False):
            numbers = relation[moment]
            found = self.distance_m(int(relation["target"]), int(relation["reference"]), done)
            if abs(found - float(numbers["distance_m"])) > SETTINGS.distance_m:
                yield "distance", f"{moment}: {numbers['distance_m']} m, measured again {found:.4f} m"
        if changed and facts["intervention"]["kind"] == "move":
            yield from distractors.against(facts, [*distractors.old_answer(facts), *self._distance_mistakes(facts)])

    def _distance_mistakes(self, facts: Facts) -> Iterator[distractors.Mistake]:
        """Where other moves than the one asked about would lead: the bin, with its neighbours near a border."""
        relation, before = facts["relation"], str(recompute.solve(facts).before)
        if all(option["tag"] is None or option["value"] == before for option in facts["options"]):
            return
        target, reference = int(relation["target"]), int(relation["reference"])
        motion, bins = recompute.motions(facts)[0], recompute.DISTANCE_BINS
        for tag, shift in distractors.distance_moves(facts, facts["intervention"]):
            step = motion._replace(shift=shift)
            ends_m = gap_bounds_m(*(self._triangles(i, [step]) for i in (target, reference)))
            if recompute.distance_bin({"distance_m": ends_m[0]}) != recompute.distance_bin({"distance_m": ends_m[1]}):
                found_m = self.distance_m(target, reference, [step])
                ends_m = (found_m - SETTINGS.distance_m, found_m + SETTINGS.distance_m)
            low, high = (bins.index(recompute.distance_bin({"distance_m": end_m})) for end_m in ends_m)
            values = frozenset(bins[low : high + 1])
            yield distractors.Mistake(tag, values if low == high else frozenset(), values)

    def state(self, facts: Facts, *, hulls: bool = False) -> Shadows:
        """The state after the intervention of some facts; the last one is kept."""
        key = json.dumps([facts["intervention"], facts["attachment"]], sort_keys=True)
        if self._after[0] != key:
            self._after = (key, {})
        if hulls not in self._after[1]:
            mesh = mesh_of(self.scan, recompute.motions(facts), hulls=hulls)
            self._after[1][hulls] = Shadows(self.scan, mesh, scanned=self.now, threads=self._threads)
        return self._after[1][hulls]

    def _shadows(self, facts: Facts, moment: str, beside: tuple[int, int] = (0, 0), *, hulls: bool = False) -> Shadows:
        """A state, seen by rays that pass beside the middles of pixels by so many times the most that they may."""
        state = self.now if moment == "before" else self.state(facts, hulls=hulls)
        return state.nudged(*(times * SETTINGS.nudge_px for times in beside)) if any(beside) else state

    def _occlusion(self, facts: Facts, moment: str, numbers: Facts, beside: tuple[int, int]) -> Iterator[Problem]:
        target = int(facts["relation"]["target"])
        if moment == "after" and any(target in motion.removed for motion in recompute.motions(facts)):
            if int(numbers["silhouette_px"]) != 0:
                yield "occlusion", f"silhouette {numbers['silhouette_px']} px of what is gone"
            return
        view, value = asked_view(facts), numbers["value"]
        seen = self._shadows(facts, moment, beside).seen(view, target, attached_to(facts, target))
        yield from silhouette_problems(seen.silhouette_px, int(numbers["silhouette_px"]))
        for name, found in (("blocked", seen.blocked), ("opened", seen.opened)):
            if seen.silhouette_px and abs(found - float(numbers[name])) > SETTINGS.share:
                yield "occlusion", f"{name} {numbers[name]}, measured again {found:.4f}"
        if seen.unknown_share > SETTINGS.max_unknown_share + SETTINGS.share:
            yield "occlusion", f"the sensor saw something nearer on {seen.unknown_share:.2f} of the silhouette"
        least = recompute.SETTINGS.occluded_opened - SETTINGS.share
        if value == "occluded" and seen.opened_near < least:
            yield "occlusion", f"occluded, but only {seen.opened_near:.3f} is hidden by what is in front of it"
        if value == "not visible" and seen.visible_px > 0:
            yield "occlusion", f"not visible, but {seen.visible_px} px are seen"

    def _pairwise(self, facts: Facts, moment: str, numbers: Facts, beside: tuple[int, int]) -> Iterator[Problem]:
        """Both objects' numbers, the state they stand for, and, after a move, that it is the same with convex hulls."""
        ends = {"query": int(facts["relation"]["target"]), "reference": int(facts["relation"]["reference"])}
        view, value = asked_view(facts), str(numbers["value"])
        found = self._shadows(facts, moment, beside).pairs(view, ends["query"], ends["reference"])
        for role, pair in zip(ends, found, strict=True):
            for problem in silhouette_problems(pair.silhouette_px, int(numbers[f"{role}_silhouette_px"])):
                yield said(role, problem)
            stored = float(numbers[f"{role}_hidden"])
            if abs(stored - pair.covered_by_other) > SETTINGS.share:
                yield "occlusion", f"{role}_hidden {stored}, measured again {pair.covered_by_other:.4f}"
            unseen = role == "query" and moment == "before" and chain_facts.is_chain(facts)
            if pair.truncation > SETTINGS.max_truncation + 3 * SETTINGS.share and not unseen:
                yield "not_certain", f"{pair.truncation:.2f} of the {role} lies beyond the picture"
            if pair.unknown_share > SETTINGS.max_unknown_share + SETTINGS.share:
                yield "occlusion", f"the sensor saw something nearer on {pair.unknown_share:.2f} of the {role}"
        if moment == "before" and chain_facts.is_chain(facts):
            # Nothing of the query shows: that is looked at with the views. What is hidden wholly is not asked about.
            covered = max(pair.covered_by_other for pair in found)
            if value != "neither" or covered >= recompute.SETTINGS.pairwise_neither + SETTINGS.share:
                yield "occlusion", f"{value}, but measured again {found}"
        elif not could_be(value, *found):
            yield "occlusion", f"{value}, but measured again {found}"
        elif moment == "after":
            hulls = self._shadows(facts, moment, beside, hulls=True).pairs(view, ends["query"], ends["reference"])
            if not could_be(value, *hulls):
                yield "not_certain", f"{value}, but not with convex hulls: {hulls}"

    def _removal(self, facts: Facts, beside: tuple[int, int]) -> Iterator[Problem]:
        """What hides a target that stays: others, beside what goes, or what was not to be seen before."""
        relation, view, target = facts["relation"], asked_view(facts), int(facts["relation"]["target"])
        gone = sorted({i for motion in recompute.motions(facts) for i in motion.removed})
        now = self._shadows(facts, "before", beside)
        sight = now.sight(view)
        if now.seen(view, target).visible_px == 0:
            yield "not_certain", "nothing of the target is visible before the change"
        if target in gone or not gone:
            return
        depth = now.depth_alone(view, target)
        if relation["after"]["value"] == "occluded":
            others = now.hidden_beside(view, target, gone)
            if others <= SETTINGS.min_others - SETTINGS.share:
                yield "not_certain", f"still occluded, but beside what goes others hide only {others:.3f}"
            shown = np.isin(sight.ids, gone)
            away = distance_transform_edt(~np.isfinite(depth))[shown]
            if not shown.any() or away.min() > SETTINGS.outline_px + 1:
                yield "not_certain", "still occluded, and what goes is nowhere near the target in the picture"
        after = self._shadows(facts, "after", beside).sight(view)
        new = sorted(set(np.unique(after.ids).tolist()) - set(np.unique(sight.ids).tolist()) - {-1, NOTHING, target})
        unseen = np.isin(after.ids, new) & np.isfinite(depth) & (after.depth < depth - SETTINGS.box_m)
        share = int(unseen.sum()) / max(1, int(np.isfinite(depth).sum()))
        if share > SETTINGS.max_unseen + SETTINGS.few_px / max(1, int(np.isfinite(depth).sum())):
            yield "not_certain", f"{new}, of which nothing was to be seen, hide {share:.3f} of the target afterwards"

    def distance_m(self, one: int, other: int, steps: Sequence[recompute.Motion] = ()) -> float:
        """Least distance between dense samples of two surfaces: at most one spacing above the true distance.

        Args:
            one: id.
            other: id.
            steps: what both go through before they are measured.
        """
        low, high = min(one, other), max(one, other)
        key = (low, high, repr([(m.takes(low), m.takes(high), *m[2:]) for m in steps]))
        if key not in self._distances:
            self._distances[key] = surface_gap_m(*(self._triangles(i, steps) for i in (low, high)))
        return self._distances[key]

    def _triangles(self, object_id: int, steps: Sequence[recompute.Motion]) -> Array:
        """(n, 3, 3) corners of an object's faces where some motions put them."""
        triangles = self.now.mesh.triangles_of(object_id)
        for motion in steps:
            triangles = motion.of(triangles) if motion.takes(object_id) else triangles
        return triangles

    # -- rays -----------------------------------------------------------------------------------------------------

    def seen(self, name: str, object_id: int, attached: frozenset[int] = frozenset()) -> Seen:
        """An object in a view of the scan as it is."""
        return self.now.seen(name, object_id, attached)


def asked_view(facts: Facts) -> str:
    """Name of the view that is asked about: the one that binds, the only one, or main view B of a chain."""
    return str(recompute.asked_view(facts)["name"])


def said(where: str, problem: Problem) -> Problem:
    """A problem that says at which moment, or of what."""
    return problem[0], f"{where}: {problem[1]}"


def silhouette_problems(found_px: int, stored_px: int) -> Iterator[Problem]:
    """Whether two counts of a silhouette agree."""
    if abs(found_px - stored_px) > SETTINGS.few_px + SETTINGS.silhouette_share * found_px:
        yield "occlusion", f"silhouette {stored_px} px, measured again {found_px}"


def could_be(value: str, query: Pair, reference: Pair) -> bool:
    """True if numbers of a pair, known within the tolerance of shares, allow a pairwise state."""
    slack, rule = SETTINGS.share, recompute.SETTINGS

    def hidden(one: Pair, less: float) -> bool:
        return one.opened >= rule.pairwise_opened - less and one.hidden_by_other > rule.pairwise_most - less

    if min(query.silhouette_px, reference.silhouette_px) == 0:
        return False
    if value == "neither":
        covered = max(query.covered_by_other, reference.covered_by_other)
        return covered < rule.pairwise_neither + slack and not hidden(query, -slack) and not hidden(reference, -slack)
    one, other = (query, reference) if value == "query_occluded" else (reference, query)
    return hidden(one, slack) and not hidden(other, -slack)


def attached_to(facts: Facts, object_id: int) -> frozenset[int]:
    """What the edges of the facts join to an object, upwards or downwards, certain or not."""
    found: set[int] = set()
    for start, end in (("parent", "child"), ("child", "parent")):
        front = {object_id}
        while front:
            front = {int(e[end]) for e in facts["attachment"] if int(e[start]) in front} - found - {object_id}
            found |= front
    return frozenset(found)


def _obb_problems(item: Facts, points: Array) -> Iterator[Problem]:
    """The rectangle holds all vertices, and no turned rectangle is smaller."""
    box = item["obb"]
    center, size, yaw = np.array(box["center"], float), np.array(box["size"], float), float(box["yaw_deg"])
    turn = np.radians(yaw)
    local = points[:, :2] - center[:2]
    across = local @ np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    spill = max(
        float((np.abs(across) - size[:2] / 2.0).max()), float((np.abs(points[:, 2] - center[2]) - size[2] / 2).max())
    )
    if spill > SETTINGS.box_m:
        yield "box", f"object {item['id']}: a vertex is {spill:.4f} m outside the obb"
    angles = np.radians(np.arange(0.0, 90.0, 0.25))
    cos, sin = np.cos(angles), np.sin(angles)
    u = points[:, :1] * cos + points[:, 1:2] * sin
    v = points[:, 1:2] * cos - points[:, :1] * sin
    least = float((np.ptp(u, axis=0) * np.ptp(v, axis=0)).min())
    if size[0] * size[1] > least * (1.0 + SETTINGS.obb_area_share) + 1e-4:
        yield "box", f"object {item['id']}: the obb covers {size[0] * size[1]:.4f} m2, {least:.4f} m2 would do"
    if not -90.0 <= yaw < 90.0 or size[0] < size[1] - SETTINGS.box_m:
        yield "box", f"object {item['id']}: yaw {yaw} is not in [-90, 90), or the longest side is not first"
