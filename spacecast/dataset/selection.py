"""Which candidates become questions: one choice over all of them, type by type.

The choice minimises, in this order: how unequally answers are right (in the whole type, for each value that the text
states and for two together, and counted from a stated motion: :mod:`spacecast.dataset.balance`), how many answers a
change leaves as they were, how many questions of lower preference are taken, how unevenly scenes, views, objects,
numbers of pictures and stated values are used. Bounds of inequality are never broken: fewer questions are chosen
instead. Scenes that have no question yet come first, the more the fewer types can still give them one. The choice is
greedy and then swapped until no swap helps or the steps are used up. All costs are whole numbers and ties go to the
candidate whose drawn rank is smaller, so neither the order of input nor the machine makes a difference.

Datasets have shares of a type's quota. What one cannot give, for want of candidates or within the bounds, the others
do, once all that each can give of its own share is chosen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

import numpy as np

from spacecast.dataset.balance import Balance, Feature, NameBalance, TypeRules, answer_of
from spacecast.dataset.chance import generator, number
from spacecast.dataset.groups import Groups, Ints, coded, joined

_BLOCKED = 1 << 44
"""Added to a cost for everything that stands against a candidate; costs proper are far below."""
_ALLOWED = _BLOCKED >> 1


@dataclass(frozen=True)
class SelectionSettings:
    """Caps, and what outweighs what (own)."""

    max_per_scene: int = 12
    """Questions of one type from one scene."""
    max_per_view: int = 4
    """Questions of one type that show one picture as a main picture."""
    max_per_object: int = 6
    """Questions of one type that name one object."""
    max_alike: int = 1
    """Questions of one type about the same objects (``Draft.likeness``); and about objects of the same names in
    different scans of one room."""
    balance_weight: int = 1024
    """Cost of one answer beyond the equal share, times the weight of the table."""
    name_weight: int = 128
    """The same for an answer beside a name, or a size: the words should tell little of what is known of the world."""
    preference_weight: int = 256
    """Cost of a step of ``Draft.preference``."""
    unchanged_weight: int = 128
    """Cost of an answer that the change leaves as it was: a type may have few of them, and some that must be."""
    twin_weight: int = 64
    """What it is worth that the same is asked before the change."""
    cover_weight: int = 8192
    """What it is worth that a scene without a question gets its first, shared over the types that could ask it."""
    scene_weight: int = 8
    """Cost, times (2 n + 1), of one more question from a scene that has n of the type."""
    total_weight: int = 2
    """The same for a scene that has n questions of types chosen so far."""
    stated_weight: int = 8
    """The same for a value that the text states, and for how many objects go along."""
    images_weight: int = 2
    """The same for a number of pictures."""
    object_weight: int = 1
    """The same for an object that is named."""
    view_weight: int = 1
    """The same for a picture."""
    max_swap_passes: int = 8
    """Times that every chosen question is compared with all others."""
    max_repair_steps: int = 4096
    """Exchanges (one for two) that are tried where the quota is not met."""


SETTINGS = SelectionSettings()


class Selection(NamedTuple):
    """The questions chosen for a type."""

    chosen: tuple[str, ...]
    """Uids, sorted."""
    refused: dict[str, str]
    """Every other candidate's uid -> ``quota_met``, ``alike``, ``scene_full``, ``view_full``, ``object_full`` or
    ``answer_full``."""


@dataclass(frozen=True)
class Before:
    """What is known when a type's questions are chosen.

    Attributes:
        relations: ``Feature.relation`` of chosen questions of level 1.
        questions: scene -> how many questions of other types are chosen.
        chances: scene -> how many types, this one included, could still ask something in it.
    """

    relations: frozenset[str] = frozenset()
    questions: Mapping[str, int] = field(default_factory=dict)
    chances: Mapping[str, int] = field(default_factory=dict)


NOTHING = Before()


def rank_of(seed: int, uid: str) -> int:
    """The place of a candidate among equals, drawn from its uid."""
    return number(seed, "selection", uid)


def select(
    features: Sequence[Feature], quota: int | Mapping[str, int], rules: TypeRules, before: Before = NOTHING
) -> Selection:
    """At most ``quota`` of a type's candidates, balanced; see the module's head.

    Args:
        features: all candidates of the type, in any order.
        quota: how many are wanted, in all or by dataset; fewer are chosen where caps and balance allow no more.
        rules: of the type.
        before: what is chosen of other types.
    """
    ordered = sorted(features, key=lambda feature: (feature.rank, feature.uid))
    if not ordered:
        return Selection((), {})
    state = _State(ordered, rules, before)
    if isinstance(quota, int):
        wanted = quota
        _reach(state, wanted)
    else:
        wanted = sum(quota.values())
        _share(state, quota)
    _improve(state, wanted)
    chosen = tuple(sorted(ordered[i].uid for i in state.chosen()))
    full = state.size >= wanted
    refused = {ordered[i].uid: "quota_met" if full else state.why_not(i) for i in state.others()}
    return Selection(chosen, dict(sorted(refused.items())))


class _Use:
    """How often each group of a key is used; what that costs, and whom a full group blocks, is kept by candidate."""

    def __init__(self, groups: Groups, cost: Ints, *, weight: int, cap: int) -> None:
        self.groups = groups
        self.count = np.zeros(len(groups), dtype=np.int64)
        self._cost, self._weight, self._cap = cost, weight, cap

    def put(self, i: int, step: int) -> None:
        for group in self.groups.of(i):
            was_full = self.count[group] >= self._cap
            self.count[group] += step
            blocks = int(self.count[group] >= self._cap) - int(was_full)
            self._cost[self.groups.members(group)] += 2 * self._weight * step + _BLOCKED * blocks

    def is_full(self, i: int) -> bool:
        return any(self.count[group] >= self._cap for group in self.groups.of(i))


class _Rescans:
    """Blocks a candidate where another scan of its room gives a question about objects of the same names."""

    def __init__(self, features: Sequence[Feature], scene: Ints, cost: Ints) -> None:
        room, rooms = coded(feature.room for feature in features)
        scans = np.bincount(np.unique(np.stack([room, scene]), axis=1)[0], minlength=len(rooms))
        names, known = coded(feature.names for feature in features)
        there = (scans > 1) & np.array([bool(name) for name in rooms])
        own = there[room] & np.array([bool(name) for name in known])[names]
        self._rooms = Groups(np.where(own, room * len(known) + names, -1)[:, None])
        self._scenes = Groups(np.where(own, scene * len(known) + names, -1)[:, None])
        self._in_room = np.zeros(len(self._rooms), dtype=np.int64)
        self._in_scene = np.zeros(len(self._scenes), dtype=np.int64)
        self._cost = cost

    def put(self, i: int, step: int) -> None:
        for group in self._rooms.of(i):
            members = self._rooms.members(group)
            before = self._elsewhere(members)
            self._in_room[group] += step
            self._in_scene[self._scenes.values[i, 0]] += step
            self._cost[members] += _BLOCKED * (self._elsewhere(members) - before)

    def _elsewhere(self, members: Ints) -> Ints:
        """(members,) 1 where another scan blocks them."""
        rooms, scenes = self._rooms.values[members, 0], self._scenes.values[members, 0]
        return np.asarray(self._in_room[rooms] - self._in_scene[scenes] >= SETTINGS.max_alike, dtype=np.int64)

    def is_full(self, i: int) -> bool:
        return bool(self._rooms.of(i)) and bool(self._elsewhere(np.array([i]))[0])


class _State:
    """Counts of what is chosen, as arrays over all candidates of a type.

    What changes for few candidates at a time is kept by candidate (``_own``); what is counted in tables is worked out
    for each kind of candidate, the same signature, number of pictures and dataset. A cost of ``_BLOCKED`` or more is
    of a candidate that may not be chosen.
    """

    def __init__(self, features: Sequence[Feature], rules: TypeRules, before: Before) -> None:
        count = len(features)
        twins = (feature.relation in before.relations for feature in features)
        has_twin = np.fromiter(twins, dtype=np.int64, count=count)
        preference = np.fromiter((feature.preference for feature in features), dtype=np.int64, count=count)
        unchanged = np.fromiter((feature.unchanged for feature in features), dtype=np.int64, count=count)
        self._own: Ints = SETTINGS.preference_weight * preference - SETTINGS.twin_weight * has_twin
        self._own += SETTINGS.unchanged_weight * unchanged
        scene, scene_names = coded(feature.scene for feature in features)
        scene_use = SETTINGS.scene_weight + SETTINGS.total_weight
        self._scene = _Use(Groups(scene[:, None]), self._own, weight=scene_use, cap=SETTINGS.max_per_scene)
        likeness, known = coded(feature.likeness for feature in features)
        alike = Groups((scene * len(known) + likeness)[:, None])
        self._alike = _Use(alike, self._own, weight=0, cap=SETTINGS.max_alike)
        views = Groups.within(scene, (feature.views for feature in features))
        self._views = _Use(views, self._own, weight=SETTINGS.view_weight, cap=SETTINGS.max_per_view)
        objects = Groups.within(scene, (feature.objects for feature in features))
        self._objects = _Use(objects, self._own, weight=SETTINGS.object_weight, cap=SETTINGS.max_per_object)
        self._rescans = _Rescans(features, scene, self._own)
        self._names = NameBalance(features, rules, self._own, weight=SETTINGS.name_weight)
        self._cover(scene, [str(name) for name in scene_names], before)
        pairs = np.unique(np.stack([scene, alike.values[:, 0]], axis=1), axis=0)
        self.room = int(np.minimum(np.bincount(pairs[:, 0]) * SETTINGS.max_alike, SETTINGS.max_per_scene).sum())
        """No more than this can be chosen, whatever balance allows."""
        self._by_kind(features, rules)
        self.is_chosen = np.zeros(count, dtype=bool)
        self.size = 0

    def _by_kind(self, features: Sequence[Feature], rules: TypeRules) -> None:
        self._balance = Balance(features, rules)
        images = np.fromiter((feature.images for feature in features), dtype=np.int64, count=len(features))
        dataset, datasets = coded(feature.dataset for feature in features)
        self._kind: Ints = joined(joined(self._balance.signature, images), dataset)
        """(candidates,)"""
        _, first = np.unique(self._kind, return_index=True)
        self._signature, self._images, self._dataset = self._balance.signature[first], images[first], dataset[first]
        self._image_count = np.zeros(int(images.max()) + 1, dtype=np.int64)
        self._datasets = [str(name) for name in datasets]
        self._dataset_count = np.zeros(len(datasets), dtype=np.int64)
        self._dataset_limit = np.full(len(datasets), len(features), dtype=np.int64)

    def _cover(self, scene: Ints, names: Sequence[str], before: Before) -> None:
        """What scenes have of other types, and what their first question is worth; by the groups of scenes."""
        self._others: Ints = np.array([0, *(before.questions.get(name, 0) for name in names)], dtype=np.int64)
        chances = [1, *(max(1, before.chances.get(name, 1)) for name in names)]
        self._worth: Ints = SETTINGS.cover_weight // np.array(chances, dtype=np.int64)
        self._own += 2 * SETTINGS.total_weight * self._others[scene + 1]
        self._own -= np.where(self._others == 0, self._worth, 0)[scene + 1]

    def chosen(self) -> list[int]:
        return [int(i) for i in np.flatnonzero(self.is_chosen)]

    def others(self) -> list[int]:
        return [int(i) for i in np.flatnonzero(~self.is_chosen)]

    def limit(self, limits: Mapping[str, int]) -> None:
        """How many of each dataset may be chosen; none of one that is not listed."""
        self._dataset_limit[:] = [limits.get(name, 0) for name in self._datasets]

    def count_of(self, dataset: str) -> int:
        """How many of a dataset are chosen."""
        return int(self._dataset_count[self._datasets.index(dataset)]) if dataset in self._datasets else 0

    def put(self, i: int, step: int = 1) -> None:
        """Choose a candidate, or with ``step=-1`` give it back."""
        self.is_chosen[i] = step > 0
        self.size += step
        self._own[i] += _BLOCKED * step
        (scene,) = self._scene.groups.of(i)
        was_bare = self._is_bare(scene)
        for use in (self._scene, self._alike, self._views, self._objects, self._rescans, self._names):
            use.put(i, step)
        covered = int(was_bare) - int(self._is_bare(scene))
        if covered:
            self._own[self._scene.groups.members(scene)] += covered * self._worth[scene]
        kind = self._kind[i]
        self._balance.put(int(self._signature[kind]), step)
        self._image_count[self._images[kind]] += step
        self._dataset_count[self._dataset[kind]] += step

    def _is_bare(self, scene: int) -> bool:
        return bool(self._others[scene] + self._scene.count[scene] == 0)

    def is_broken(self) -> bool:
        """True if a bound of balance is broken."""
        return self._balance.is_broken()

    def why_not(self, i: int) -> str:
        """What stands against a candidate that is not chosen."""
        if self._alike.is_full(i) or self._rescans.is_full(i):
            return "alike"
        for use, reason in ((self._scene, "scene_full"), (self._views, "view_full"), (self._objects, "object_full")):
            if use.is_full(i):
                return reason
        return "answer_full"

    def costs(self) -> Ints:
        """(candidates,) what choosing each next would cost; ``_BLOCKED`` or more where that is not allowed."""
        cost = SETTINGS.balance_weight * self._balance.inequality()
        cost += SETTINGS.stated_weight * self._balance.unevenness()
        cost += _BLOCKED * self._balance.is_full()
        cost = cost[self._signature] + (2 * SETTINGS.images_weight * self._image_count)[self._images]
        cost += (_BLOCKED * (self._dataset_count >= self._dataset_limit))[self._dataset]
        return np.asarray(cost[self._kind] + self._own)

    def allowed(self) -> Ints:
        """Which candidates may be chosen next."""
        return np.flatnonzero(self.costs() < _ALLOWED)

    def cheapest(self) -> int | None:
        """The allowed candidate of least cost, the first in rank of several."""
        costs = self.costs()
        best = int(costs.argmin())
        return best if costs[best] < _ALLOWED else None


def _share(state: _State, quota: Mapping[str, int]) -> None:
    """Every dataset its share; what is lacking then one by one from any, and again from those that lack something.

    Limits stay so that no dataset falls below what it has.
    """
    wanted = sum(quota.values())
    state.limit(quota)
    _reach(state, wanted)
    while state.size < wanted:
        state.limit({name: state.count_of(name) + 1 for name in quota})
        if not _add(state):
            break
        state.limit({name: max(state.count_of(name), share) for name, share in quota.items()})
        _fill(state, wanted)
    if state.size < wanted:
        state.limit({name: state.count_of(name) + wanted for name in quota})
        _reach(state, wanted)
    state.limit({name: max(state.count_of(name), share) for name, share in quota.items()})


def _reach(state: _State, quota: int) -> None:
    """As many as can be, up to the quota."""
    _fill(state, quota)
    steps = SETTINGS.max_repair_steps
    while steps and state.size < min(quota, state.room):
        steps = _repair(state, steps)
        _fill(state, quota)


def _improve(state: _State, quota: int) -> None:
    for _ in range(SETTINGS.max_swap_passes):
        if not _swap(state):
            break
        _fill(state, quota)


def _fill(state: _State, quota: int) -> None:
    while state.size < quota and _add(state):
        pass


def _add(state: _State) -> bool:
    """Choose the cheapest; False where none is allowed."""
    best = state.cheapest()
    if best is not None:
        state.put(best)
    return best is not None


def _repair(state: _State, steps: int) -> int:
    """Give one back for two others.

    Returns:
        Steps that are left, or 0 where no exchange of that kind was found.
    """
    for i in state.chosen():
        state.put(i, -1)
        for one in state.allowed():
            if one == i:
                continue
            if steps == 0:
                state.put(i)
                return 0
            steps -= 1
            state.put(int(one))
            second = state.cheapest()
            if second is not None and second != i:
                state.put(second)
                if not state.is_broken():
                    return steps
                state.put(second, -1)
            state.put(int(one), -1)
        state.put(i)
    return 0


def _swap(state: _State) -> bool:
    """Exchange every chosen candidate for a cheaper one; False where none was."""
    changed = False
    for i in state.chosen():
        state.put(i, -1)
        costs = state.costs()
        best = int(costs.argmin())
        if costs[best] < costs[i]:
            state.put(best)
            if not state.is_broken():
                changed = True
                continue
            state.put(best, -1)
        state.put(i)
    return changed


def orders_of(features: Sequence[Feature], rules: TypeRules, seed: int) -> dict[str, tuple[int, ...]]:
    """The order in which each chosen question shows its options: uid -> permutation of its choices.

    Letters (for multi-select: sets of letters) are right equally often, differing by at most one, in the type and for
    each answer; which option stands at the other letters is drawn from the question's own generator.
    """
    draw = generator(seed, "letters", rules.code)
    ordered = sorted(features, key=lambda feature: (answer_of(feature, rules), feature.rank, feature.uid))
    turns: dict[int, list[tuple[int, ...]]] = {}
    next_turn: Counter[int] = Counter()
    orders = {}
    for size in range(1, rules.option_count + 1):
        places = _places(rules.option_count, size)
        turns[size] = [places[int(i)] for i in draw.permutation(len(places))]
    for feature in ordered:
        size = len(feature.right)
        places_right = turns[size][next_turn[size] % len(turns[size])]
        next_turn[size] += 1
        own = generator(seed, "options", feature.uid)
        wrong = [i for i in range(rules.option_count) if i not in feature.right]
        order = [-1] * rules.option_count
        for place, k in zip(places_right, own.permutation(len(feature.right)), strict=True):
            order[place] = feature.right[int(k)]
        left = [place for place in range(rules.option_count) if place not in places_right]
        for place, k in zip(left, own.permutation(len(wrong)), strict=True):
            order[place] = wrong[int(k)]
        orders[feature.uid] = tuple(order)
    return dict(sorted(orders.items()))


def _places(count: int, size: int) -> list[tuple[int, ...]]:
    return list(combinations(range(count), size))
