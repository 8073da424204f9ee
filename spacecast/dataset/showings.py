"""What a question shows: one picture, or a chain of pictures from one main view to another; SEMANTICS section 7.

Both are one thing: some views in the order shown, of which the first shows the objects of group A and the last those
of group B, each so that they can be named. In a single picture the first view is the last.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from spacecast.dataset.types import ViewUse

if TYPE_CHECKING:
    from spacecast.dataset.context import ViewRecord
    from spacecast.views.chains import Chains
    from spacecast.views.names import Names

Images = Literal["1", "2", "3+"]
"""How many pictures a question shows, as far as its answers are balanced against it."""

IMAGES: tuple[Images, ...] = ("1", "2", "3+")
"""One picture, two main views that are linked, and chains with bridges."""


class Showing(NamedTuple):
    """The views of one question."""

    views: tuple[ViewUse, ...]
    """In the order shown."""
    clearness: float
    """How well the worst seen of the named objects is seen in its main view; see ``SceneContext.clearness``."""
    weakest_share: float | None
    """Of a chain, the smallest share of seen surface that two consecutive views have in common."""

    @property
    def first(self) -> str:
        """The view of group A, whose camera gives the camera heading and the compass statement."""
        return self.views[0].name

    @property
    def last(self) -> str:
        """The view of group B, from which an occlusion is seen."""
        return self.views[-1].name

    @property
    def images(self) -> Images:
        """How many pictures there are."""
        return IMAGES[min(len(self.views), len(IMAGES)) - 1]

    @property
    def case(self) -> str:
        """The part of a draft's case that says what is shown."""
        return "+".join(view.name for view in self.views)

    @property
    def margins(self) -> dict[str, float]:
        """What a draft records of the links."""
        return {} if self.weakest_share is None else {"weakest_link_share": self.weakest_share}


class Showings:
    """All that can be shown of one scene, by the objects that have to be named.

    Sets of views are whole numbers, a bit for each view in use: a scene has many groups of objects and few views.
    """

    def __init__(
        self,
        records: Sequence[ViewRecord],
        names: Names,
        chains: Chains,
        elsewhere: Mapping[str, Collection[int]] = MappingProxyType({}),
    ) -> None:
        """From what the views in use show, and the chains between them.

        Args:
            records: of the views in use.
            names: of the scene.
            chains: of a pool that holds these views.
            elsewhere: by view, objects in another room than the camera: a chain is said to show one room (own).
        """
        self._names = names
        self._chains = chains
        self._views = tuple(record.name for record in records)
        self._number = {name: number for number, name in enumerate(self._views)}
        self._all = (1 << len(self._views)) - 1
        links = chains.links
        self._seen: dict[int, int] = {}
        self._clear: dict[int, dict[int, float]] = {}
        self._shown: dict[int, int] = {}
        for number, record in enumerate(records):
            for i in record.seen_ids:
                self._seen[i] = self._seen.get(i, 0) | 1 << number
                v = record.visibility[i]
                self._clear.setdefault(i, {})[number] = float(v.visible_px) * (1.0 - v.blocked)
            for i in links.visible_ids[record.name]:
                self._shown[i] = self._shown.get(i, 0) | 1 << number
        named = [links.named_ids[name] for name in self._views]
        far = [frozenset(elsewhere.get(name, ())) for name in self._views]
        self._plain = {
            i: sum(1 << n for n, ids in enumerate(named) if names.points_at_one(i, ids) and i not in far[n])
            for i in self._seen
        }
        self._reach: dict[Images, list[int]] = {"1": [1 << number for number in range(len(self._views))]}
        self._reach["2"], self._reach["3+"] = self._reaches()
        self._rivals_of: dict[frozenset[int], frozenset[int]] = {}

    @cached_property
    def seen_ids(self) -> tuple[int, ...]:
        """Objects that can be named and are to be seen in some view, sorted."""
        return tuple(sorted(self._seen))

    def starts(self, group_a: Collection[int], group_b: Collection[int], images: Images) -> list[str]:
        """Views that may come first where all of A are seen in the first and all of B in the last, in capture order.

        Exact for one picture and for two; for more, no bridge has been looked at yet.
        """
        return [self._views[first] for first, _ in self._mains(group_a, group_b, images)]

    def partners(self, view: str, group_a: Collection[int], images: Images) -> list[int]:
        """Every object that can be all of B where a view comes first and shows A, sorted: those for which it is one of
        :meth:`starts`."""
        first = self._number[view]
        bit, lasts = 1 << first, self._reach[images][first]
        if not all(self._seen.get(i, 0) & bit for i in group_a):
            return []
        if images == "1":
            return [i for i in self.seen_ids if self._seen[i] & bit]
        for i in group_a:
            lasts &= ~self._shown.get(i, 0) & self._plain[i]
        return [i for i in self.seen_ids if self._seen[i] & lasts and ~self._shown.get(i, 0) & self._plain[i] & bit]

    def ends(self, group_a: Collection[int], images: Images) -> list[int]:
        """Every object that can be all of B for some first view that shows A, sorted."""
        return sorted({i for view in self._views for i in self.partners(view, group_a, images)})

    def showing(
        self,
        group_a: Collection[int],
        group_b: Collection[int],
        images: Images,
        starts: Collection[str] | None = None,
    ) -> Showing | None:
        """The clearest way to show two groups in so many pictures; the first in capture order of equals.

        Args:
            group_a: all of them are to be seen in the first view; in a chain nothing of B shows there.
            group_b: the same for the last.
            images: one picture, two, or more.
            starts: the first is one of these; None for any.

        Returns:
            None if there is none.
        """
        a, b = frozenset(group_a), frozenset(group_b)
        pairs = []
        for first, lasts in self._mains(a, b, images):
            if starts is not None and self._views[first] not in starts:
                continue
            clear_a = min(self._clear[i][first] for i in a)
            for last in _bits(lasts):
                pairs.append((-min(clear_a, *(self._clear[i][last] for i in b)), first, last))
        for unclear, first, last in sorted(pairs):
            if first == last:
                return Showing((ViewUse(self._views[first], "image"),), -unclear, None)
            chain = self._chains.between(self._views[first], self._views[last], a, b, rivals=self._rivals(a | b))
            if chain is not None:
                bridges = (ViewUse(name, "bridge") for name in chain.bridges)
                views = (ViewUse(chain.main_a, "main_a"), *bridges, ViewUse(chain.main_b, "main_b"))
                return Showing(views, -unclear, float(chain.weakest_share))
        return None

    def _mains(self, group_a: Collection[int], group_b: Collection[int], images: Images) -> Iterator[tuple[int, int]]:
        """(first view, set of last views) for two groups, before bridges are looked at."""
        firsts, lasts = self._all, self._all
        for i in group_a:
            firsts &= self._seen.get(i, 0)
        for i in group_b:
            lasts &= self._seen.get(i, 0)
        if images != "1":  # in one picture a view that shows both is what is wanted
            for i in group_a:
                lasts &= ~self._shown.get(i, 0) & self._plain[i]
            for i in group_b:
                firsts &= ~self._shown.get(i, 0) & self._plain[i]
        reach = self._reach[images]
        for first in _bits(firsts):
            found = reach[first] & lasts
            if found:
                yield first, found

    def _reaches(self) -> tuple[list[int], list[int]]:
        """From each view, those that are linked to it, and those that a chain leads to, whatever it shows."""
        linked, far = [0] * len(self._views), [0] * len(self._views)
        for first, one in enumerate(self._views):
            for last, other in enumerate(self._views):
                fewest = None if first == last else self._chains.fewest_images(one, other)
                if fewest is not None:
                    (linked if fewest == 2 else far)[first] |= 1 << last
        return linked, far

    def _rivals(self, ids: frozenset[int]) -> frozenset[int]:
        """Whatever else could be meant by one of some names: no view of a chain shows it."""
        if ids not in self._rivals_of:
            self._rivals_of[ids] = frozenset[int]().union(*(self._names.rivals(i) for i in ids))
        return self._rivals_of[ids]


def _bits(views: int) -> Iterator[int]:
    """Numbers of the views of a set, rising."""
    while views:
        lowest = views & -views
        yield lowest.bit_length() - 1
        views ^= lowest
