"""Whether what a question names may be named: looked up in the raw scan and seen by brute force; SEMANTICS 2 and 4."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spacecast.dataset.chain_facts import Groups
from spacecast.dataset.findings import is_named
from spacecast.dataset.shadows import NOTHING, Seen, Shadows
from spacecast.scan import Instance, Scan

Array = NDArray[np.float64]
Facts = Mapping[str, Any]
Problem = tuple[str, str]


@dataclass(frozen=True)
class AskableSettings:
    """Bounds of SEMANTICS 2 and 4, a second time, and how far the second measure may be from the first."""

    min_visible_px: float = 16.0
    """An object with so many visible pixels at 640x480 could be meant."""
    min_seen_px: float = 400.0
    """Least visible pixels of a named object at 640x480."""
    min_unblocked: float = 0.35
    """Least visible share of a named object."""
    max_truncation: float = 0.65
    """Largest share of a named object beyond the picture."""
    silhouette_share: float = 0.01
    """Between two counts of pixels, and a few pixels."""
    few_px: int = 4
    """Pixels on an outline that two ways of casting may count differently."""
    share: float = 0.01
    """Between two shares of a silhouette."""
    truncation: float = 0.03
    """Between two shares beyond the picture, which are counted on grids."""
    min_side_m: float = 0.05
    """Least largest side of what is asked about."""
    rounding_m: float = 1e-4
    """Of a side."""
    min_vertices: int = 50
    """Least vertices of what is asked about."""
    clutter_factor: float = 1.45
    """A clutter object whose sorted sides are within this factor could be meant: 1.5, less what rounding takes."""


SETTINGS = AskableSettings()
UNASKED = ("structure", "clutter", "collective")
"""Traits of what is never asked about."""
SEE_THROUGH, SHAPELESS, INSTALLED = "see_through", "shapeless", "installed"


class Askable:
    """Looks at the names in questions about one scan."""

    def __init__(self, scan: Scan, now: Shadows) -> None:
        """``now`` casts at the scan as it is."""
        self.scan, self._now = scan, now
        self._sides: dict[int, Array] = {}

    def problems(self, facts: Facts, groups: Groups | None = None) -> Iterator[Problem]:
        """Each named object may be asked about and is to be seen, and nothing else could be meant by its name.

        Args:
            facts: of a question.
            groups: of a chain of pictures, the objects that its first and its last view show; None where that is not
                known: then each is to be seen somewhere.
        """
        relation = facts["relation"]
        asked = int(relation["target"]) if relation["kind"] == "occlusion" else None
        named = [int(item["id"]) for item in facts["objects"] if is_named(item)]
        for i in named:
            yield from self._kind_problems(facts, i)
        for one, other in combinations(named, 2):
            if could_be_meant(self.scan.instances[one], self.scan.instances[other]):
                yield "names", f"{one} and {other} could both be meant by one name"
        yield from self._seen_problems(facts, [i for i in named if i != asked], groups)
        shown = self._shown(facts)
        for i in named:
            for other in sorted(shown - {i}):
                if could_be_meant(*(self.scan.instances[j] for j in (i, other))) or self._looks_alike(other, i):
                    mine, theirs = (self.scan.instances[j].label for j in (i, other))
                    yield "names", f"{mine!r} {i} could also mean {theirs!r} {other}"

    def _kind_problems(self, facts: Facts, object_id: int) -> Iterator[Problem]:
        """Kinds of things that are not asked about, or not of this."""
        traits = self.scan.instances[object_id].traits
        points = self._points_of(object_id)
        for trait in UNASKED:
            if trait in traits:
                yield "not_asked", f"object {object_id} is {trait}"
        longest_m = float(self._sides_of(object_id)[2])
        if len(points) < SETTINGS.min_vertices or longest_m < SETTINGS.min_side_m - SETTINGS.rounding_m:
            yield "not_asked", f"object {object_id} is small: {len(points)} vertices, {longest_m:.3f} m"
        relation, intervention = facts["relation"], facts.get("intervention") or {}
        ends = {relation["target"], relation.get("reference")}
        frame = facts.get("frame") or {}
        if SEE_THROUGH in traits and "occlusion" in relation["kind"] and object_id in ends:
            yield "not_asked", f"object {object_id} is see-through, and asked about in occlusion"
        movers = {intervention.get("object"), frame.get("anchor")}
        if SHAPELESS in traits and object_id in (ends | movers if relation["kind"] == "direction" else movers):
            yield "not_asked", f"object {object_id} has no shape of its own"
        goes = relation["target"] if relation["kind"] == "attachment" else intervention.get("object")
        if INSTALLED in traits and object_id == goes:
            yield "not_asked", f"object {object_id} is built in, and moved"

    def _seen_problems(self, facts: Facts, named: list[int], groups: Groups | None) -> Iterator[Problem]:
        """Each is to be seen in its main view, and each main view shows one of them."""
        mains = [str(view["name"]) for view in facts["views"] if view["role"] != "bridge"]
        if groups is None or len(mains) != 2:
            wanted = [(name, set(named)) for name in mains]
        else:
            wanted = [(name, set(group) & set(named)) for name, group in zip(mains, groups, strict=True)]
        seen_in: dict[int, list[Seen]] = {i: [] for i in named}
        good: set[int] = set()
        for name, ids in wanted:
            found = {i: self._now.seen(name, i) for i in sorted(ids)}
            clear = {i for i, seen in found.items() if _is_to_be_seen(seen, self._scale(name))}
            good |= clear
            for i, seen in found.items():
                seen_in[i].append(seen)
            if ids and not clear:
                yield "names", f"view {name} shows nothing that is named"
        for i in named:
            if i not in good:
                yield "names", f"object {i} is not to be seen: {seen_in[i]}"

    def _shown(self, facts: Facts) -> set[int]:
        """Ids of all that a reader of names sees in any view."""
        shown: set[int] = set()
        for view in facts["views"]:
            least_px = SETTINGS.min_visible_px * self._scale(view["name"])
            shown |= {i for i, count in self._now.visible_px(view["name"]).items() if count >= least_px}
        return shown - {-1, NOTHING}

    def _scale(self, name: str) -> float:
        """Area of the masks over that of 640x480."""
        _, _, (height, width) = self._now.frame(name)
        return height * width / (640.0 * 480.0)

    def _looks_alike(self, clutter: int, other: int) -> bool:
        """True if the first is of a clutter class and as long, as wide and as high as the other, side by side."""
        if "clutter" not in self.scan.instances[clutter].traits:
            return False
        ratio = self._sides_of(clutter) / self._sides_of(other)
        return bool((ratio <= SETTINGS.clutter_factor).all() and (ratio >= 1.0 / SETTINGS.clutter_factor).all())

    def _sides_of(self, object_id: int) -> Array:
        """(3,) sorted sides of the smallest upright box, of those at every half degree."""
        if object_id not in self._sides:
            points = self._points_of(object_id)
            angles = np.radians(np.arange(0.0, 90.0, 0.5))
            u = np.ptp(points[:, :1] * np.cos(angles) + points[:, 1:2] * np.sin(angles), axis=0)
            v = np.ptp(points[:, 1:2] * np.cos(angles) - points[:, :1] * np.sin(angles), axis=0)
            best = int((u * v).argmin())
            sides = np.sort([u[best], v[best], np.ptp(points[:, 2])])
            self._sides[object_id] = np.maximum(sides, 1e-3)
        return self._sides[object_id]

    def _points_of(self, object_id: int) -> Array:
        return self.scan.vertices[self.scan.instance_ids == object_id].astype(np.float64)


def could_be_meant(one: Instance, other: Instance) -> bool:
    """True if a person could mean the other by the label of the first; SEMANTICS 2, Names."""
    if one.label == other.label or (one.class_group is not None and one.class_group == other.class_group):
        return True
    if one.synset is not None and one.synset == other.synset:
        return True
    if one.category is not None and one.category == other.category:
        return True
    if one.meanings & other.meanings:
        return True
    return one.label.endswith(f" {other.label}") or other.label.endswith(f" {one.label}")


def _is_to_be_seen(seen: Seen, scale: float) -> bool:
    """With the second measure's tolerance."""
    least_px = SETTINGS.min_seen_px * scale * (1.0 - SETTINGS.silhouette_share) - SETTINGS.few_px
    return (
        seen.visible_px >= least_px
        and seen.visible_px >= (SETTINGS.min_unblocked - SETTINGS.share) * seen.silhouette_px
        and seen.truncation <= SETTINGS.max_truncation + SETTINGS.truncation
    )
