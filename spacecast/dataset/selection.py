"""Which candidates become questions: one choice over all of them, type by type.

The choice minimises, in this order: how unequally answers are right (in the whole type, for each value that the text
states, and counted from a stated motion: :mod:`spacecast.dataset.balance`), how many questions of lower preference are
taken, how unevenly scenes, views and stated values are used. Bounds of inequality are never broken: fewer questions
are chosen instead. The choice is greedy and then swapped until no swap helps or the steps are used up. All costs are
whole numbers and ties go to the candidate whose drawn rank is smaller, so neither the order of input nor the machine
makes a difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from spacecast.dataset.balance import Balance, Feature, Flags, Ints, NameBalance, TypeRules, answer_of, numbered
from spacecast.dataset.chance import generator, number

_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class SelectionSettings:
    """Caps, and what outweighs what (own)."""

    max_per_scene: int = 12
    """Questions of one type from one scene."""
    max_per_view: int = 4
    """Questions of one type that show one picture as a main picture."""
    max_alike: int = 1
    """Questions of one type about the same objects (``Draft.likeness``)."""
    balance_weight: int = 1024
    """Cost of one answer beyond the equal share in one table."""
    name_weight: int = 64
    """The same for an answer beside a name: the words should tell little of what is known of the world."""
    preference_weight: int = 256
    """Cost of a step of ``Draft.preference``."""
    twin_weight: int = 64
    """What it is worth that the same is asked before the change."""
    scene_weight: int = 8
    """Cost, times (2 n + 1), of one more question from a scene that has n."""
    stated_weight: int = 8
    """The same for a value that the text states, and for how many objects go along."""
    view_weight: int = 1
    """The same for a picture."""
    max_swap_passes: int = 8
    """Times that every chosen question is compared with all others."""
    max_repair_steps: int = 512
    """Exchanges (one for two) that are tried where the quota is not met."""


SETTINGS = SelectionSettings()


class Selection(NamedTuple):
    """The questions chosen for a type."""

    chosen: tuple[str, ...]
    """Uids, sorted."""
    refused: dict[str, str]
    """Every other candidate's uid -> ``quota_met``, ``alike``, ``scene_full``, ``view_full`` or ``answer_full``."""


def shares_of(total: int, weights: Mapping[str, int]) -> dict[str, int]:
    """``total`` shared out in proportion to weights, whole numbers, by the largest remainder; ties to the first key."""
    whole = sum(weights.values())
    if whole == 0:
        return dict.fromkeys(weights, 0)
    shares = {key: total * weight // whole for key, weight in weights.items()}
    by_remainder = sorted(weights, key=lambda key: -(total * weights[key] % whole))
    for key in by_remainder[: total - sum(shares.values())]:
        shares[key] += 1
    return shares


def rank_of(seed: int, uid: str) -> int:
    """The place of a candidate among equals, drawn from its uid."""
    return number(seed, "selection", uid)


def select(
    features: Sequence[Feature], quota: int, rules: TypeRules, asked_before: frozenset[str] = frozenset()
) -> Selection:
    """At most ``quota`` of a type's candidates, balanced; see the module's head.

    Args:
        features: all candidates of the type, in any order.
        quota: how many are wanted; fewer are chosen where caps and balance allow no more.
        rules: of the type.
        asked_before: relations (``Feature.relation``) that chosen questions of level 1 ask for.
    """
    ordered = sorted(features, key=lambda feature: (feature.rank, feature.uid))
    if not ordered:
        return Selection((), {})
    state = _State(ordered, rules, asked_before)
    _fill(state, quota)
    steps = SETTINGS.max_repair_steps
    while steps and state.size < min(quota, state.room):
        steps = _repair(state, steps)
        _fill(state, quota)
    for _ in range(SETTINGS.max_swap_passes):
        if not _swap(state):
            break
        _fill(state, quota)
    chosen = tuple(sorted(ordered[i].uid for i in state.chosen()))
    full = state.size >= quota
    refused = {ordered[i].uid: "quota_met" if full else state.why_not(i) for i in state.others()}
    return Selection(chosen, dict(sorted(refused.items())))


class _State:
    """Counts of what is chosen, as arrays over all candidates of a type."""

    def __init__(self, features: Sequence[Feature], rules: TypeRules, asked_before: frozenset[str]) -> None:
        self._balance = Balance(features, rules)
        self._names = NameBalance(features, rules)
        self._scene = numbered([feature.scene for feature in features])
        self._alike = numbered([f"{feature.scene}\x1f{feature.likeness}" for feature in features])
        self._views = _padded([[f"{feature.scene}\x1f{view}" for view in feature.views] for feature in features])
        has_twin = np.array([feature.relation in asked_before for feature in features], dtype=np.int64)
        preference = np.array([feature.preference for feature in features], dtype=np.int64)
        self._own = SETTINGS.preference_weight * preference - SETTINGS.twin_weight * has_twin
        pairs = np.unique(np.stack([self._scene, self._alike], axis=1), axis=0)
        self.room = int(np.minimum(np.bincount(pairs[:, 0]) * SETTINGS.max_alike, SETTINGS.max_per_scene).sum())
        """No more than this can be chosen, whatever balance allows."""
        self.is_chosen = np.zeros(len(features), dtype=bool)
        self.size = 0
        self._scene_count = np.zeros(self._scene.max() + 1, dtype=np.int64)
        self._alike_count = np.zeros(self._alike.max() + 1, dtype=np.int64)
        self._view_count = np.zeros(self._views.max() + 1, dtype=np.int64)

    def chosen(self) -> list[int]:
        return [int(i) for i in np.flatnonzero(self.is_chosen)]

    def others(self) -> list[int]:
        return [int(i) for i in np.flatnonzero(~self.is_chosen)]

    def put(self, i: int, step: int = 1) -> None:
        """Choose a candidate, or with ``step=-1`` give it back."""
        self.is_chosen[i] = step > 0
        self.size += step
        self._balance.put(int(self._balance.signature[i]), step)
        self._names.put(i, step)
        self._scene_count[self._scene[i]] += step
        self._alike_count[self._alike[i]] += step
        for view in self._views[:, i]:
            if view > 0:  # 0 pads
                self._view_count[view] += step

    def allowed(self) -> Flags:
        """Which candidates may be chosen next."""
        full_views = self._view_count >= SETTINGS.max_per_view
        return (
            ~self.is_chosen
            & (self._alike_count < SETTINGS.max_alike)[self._alike]
            & (self._scene_count < SETTINGS.max_per_scene)[self._scene]
            & ~full_views[self._views].any(axis=0)
            & ~self._balance.is_full()[self._balance.signature]
        )

    def is_broken(self) -> bool:
        """True if a bound of balance is broken."""
        return self._balance.is_broken()

    def why_not(self, i: int) -> str:
        """What stands against a candidate that is not chosen."""
        if self._alike_count[self._alike[i]] >= SETTINGS.max_alike:
            return "alike"
        if self._scene_count[self._scene[i]] >= SETTINGS.max_per_scene:
            return "scene_full"
        if (self._view_count[self._views[:, i]] >= SETTINGS.max_per_view).any():
            return "view_full"
        return "answer_full"

    def costs(self) -> Ints:
        """What choosing each candidate next would cost."""
        shared = SETTINGS.balance_weight * self._balance.inequality()
        shared += SETTINGS.stated_weight * self._balance.unevenness()
        scene = SETTINGS.scene_weight * (2 * self._scene_count + 1)
        view = SETTINGS.view_weight * (2 * self._view_count + 1)
        return np.asarray(
            shared[self._balance.signature]
            + SETTINGS.name_weight * self._names.inequality()
            + self._own
            + scene[self._scene]
            + view[self._views].sum(axis=0)
        )

    def cheapest(self) -> int | None:
        """The allowed candidate of least cost, the first in rank of several."""
        allowed = self.allowed()
        if not allowed.any():
            return None
        return int(np.where(allowed, self.costs(), _NEVER).argmin())


def _fill(state: _State, quota: int) -> None:
    while state.size < quota:
        best = state.cheapest()
        if best is None:
            return
        state.put(best)


def _repair(state: _State, steps: int) -> int:
    """Give one back for two others.

    Returns:
        Steps that are left, or 0 where no exchange of that kind was found.
    """
    for i in state.chosen():
        state.put(i, -1)
        for one in np.flatnonzero(state.allowed()):
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
        allowed = state.allowed()
        best = int(np.where(allowed, costs, _NEVER).argmin())
        if allowed[best] and costs[best] < costs[i]:
            state.put(best)
            if not state.is_broken():
                changed = True
                continue
            state.put(best, -1)
        state.put(i)
    return changed


def _padded(lists: Sequence[Sequence[str]]) -> Ints:
    """(longest, lists) numbers from 1, padded with 0."""
    known = {value: i for i, value in enumerate(sorted({value for row in lists for value in row}), start=1)}
    table = np.zeros((max(1, *(len(row) for row in lists)), len(lists)), dtype=np.int64)
    for place, row in enumerate(table):
        row[:] = [known[values[place]] if place < len(values) else 0 for values in lists]
    return table


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
