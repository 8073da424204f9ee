"""Text-only audit of values that are stated together: direction and distance, say, where each alone tells nothing.

The classifier of :mod:`spacecast.dataset.audit` sees stated values one by one. Here one guesses by copying: the answer
of a question of the same type from another scene that states the same and has the same options. Where what is stated
has nothing to do with the answer, a copy is right once in as many times as there are options, and of any two copies
each is right whether or not the other is. So how many copies of all are right has a known mean and variance: no model
is fitted and nothing drawn. What each value alone tells is taken off, since selection makes answers equal for each.

Looked at are all sets of two or more of the values that a type states, with answers as they are, as they are counted
from the stated direction, and, where they are by the compass, from the stated heading of the camera (there also single
values: of one picture, what is asked about lies before the camera); in a type, in those of its questions that show one,
two or more pictures, and in all types together. Of all that is looked at in a dataset, something fails in one of a
hundred fair datasets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import pearson3

from spacecast.dataset.audit import PARTS, part_of, scene_of, turn_of
from spacecast.dataset.audit import SETTINGS as AUDIT
from spacecast.dataset.balance import numbered
from spacecast.dataset.groups import Ints, coded, joined
from spacecast.dataset.recompute import COMPASS
from spacecast.dataset.rows import Row

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TogetherSettings:
    """When values that are stated together give answers away."""

    false_alarms: float = 0.01
    """Of fair datasets, at most such a share fails (own)."""
    least_kept: float = 0.05
    """Where what each value alone tells takes more of the variance, nothing is left to look at (own)."""


SETTINGS = TogetherSettings()


class Told(NamedTuple):
    """What copying reaches with those values of a type that look least like luck.

    ``limit`` is the largest accuracy that passes, ``fails`` is true above it.
    """

    category: str
    stated: tuple[str, ...]
    """What is stated: ``direction``, ``distance`` ..."""
    counted_from: str
    """Which stated direction the answer is counted from, if what is copied is by how much it is turned; else empty."""
    questions: int
    """That have another to copy from."""
    fair: float
    """What a copy reaches where the values tell nothing together: chance, or less where each is balanced by itself."""
    accuracy: float
    """Of a copy."""
    limit: float
    fails: bool

    def __str__(self) -> str:
        what = f"the answer counted from the stated {self.counted_from}" if self.counted_from else "the answer"
        return (
            f"{what} of a question in another scene that states the same {_in_words(self.stated)} is right in "
            f"{100 * self.accuracy:.1f} % of cases, over {self.questions} questions; {100 * self.fair:.1f} % would be "
            f"fair, the limit is {100 * self.limit:.1f} %"
        )


class Asked(NamedTuple):
    """What of a question is looked at."""

    scene: tuple[str, str]
    stated: Mapping[str, str]
    options: frozenset[str]
    right: str


Questioned = Mapping[str, Asked]
"""A question with its answer as it is, under "", and as it is counted from what is stated, if it can be."""


def audit_together(rows: Sequence[Row]) -> list[Told]:
    """One verdict of every category whose questions state two values or more, of its parts by how many pictures are
    shown, and of all categories together; by category.

    Args:
        rows: of one dataset.
    """
    types: dict[str, list[Questioned]] = {}
    for row in rows:
        asked = asked_of(row)
        if asked is not None:
            types.setdefault(row.category, []).append(asked)
    looked = {}
    for name, questions in sorted(types.items()):
        looked[name, ""] = questions
        parts = {part: [one for one in questions if one[""].stated[PICTURES] == part] for part in PARTS}
        looked |= {(name, part): some for part, some in parts.items() if 0 < len(some) < len(questions)}
    return verdicts_of(looked)


def asked_of(row: Row) -> Questioned | None:
    """What is looked at; None where several or none may be right, or two mean the same: that is said elsewhere."""
    facts = row.facts
    values = [str(option["value"]) for option in facts["options"]]
    if row.multi_select or len(row.correct_values) != 1 or row.correct_values[0] not in values:
        return None
    if len(set(values)) < len(values):
        return None
    stated = {PICTURES: part_of(row), **stated_of(facts)}
    plain = Asked(scene_of(row), stated, frozenset(values), row.correct_values[0])
    found = {"": plain}
    turns = {value: turn for value in values if (turn := turn_of(value)) is not None}
    for name in COUNTED_FROM:
        start = turn_of(stated.get(name, ""))
        if start is not None and len(turns) == len(values) and (name != HEADING or set(values) <= set(COMPASS)):
            turned = {value: str((turn - start) % 8) for value, turn in turns.items()}
            found[name] = plain._replace(options=frozenset(turned.values()), right=turned[plain.right])
    return found


PICTURES, HEADING = "number of pictures", "camera heading"
COUNTED_FROM = ("direction", HEADING)
"""What answers are counted from, beside as they are."""
_STATED = {"direction": "direction", "distance": "distance_m", "angle": "angle_deg", "sense": "sense"}
"""Of an intervention: what it is called here, and in the facts."""


def stated_of(facts: Mapping[str, Any]) -> dict[str, str]:
    """All that the text of a question states beside names and pictures, as it is written there; by what it is."""
    step, relation = facts.get("intervention") or {}, facts["relation"]
    stated = {}
    for name, key in _STATED.items():
        if step.get(key) is not None:
            stated[name] = str(step[key])
    if facts.get("camera_compass") is not None:
        stated[HEADING] = str(facts["camera_compass"])
    if "object" in step:
        ends = (relation["target"], relation.get("reference"))
        stated["thing asked about"] = "the mover" if step["object"] in ends else "another"
    return stated


def verdicts_of(types: Mapping[tuple[str, str], Sequence[Questioned]]) -> list[Told]:
    """See :func:`audit_together`.

    Args:
        types: questions by category and part of it; the part is empty for all of it.
    """
    found = {key: list(_all_copies(questions)) for key, questions in types.items()}
    alike: dict[tuple[str, tuple[str, ...], str], list[_Copies]] = {}
    for (_, part), copies in found.items():
        for one in copies:
            alike.setdefault((part, one.stated, one.counted_from), []).append(one)
    for (part, _, _), copies in alike.items():
        if len(copies) > 1:
            found.setdefault(("all types", part), []).append(_pooled(copies))
    looks = sum(map(len, found.values()))
    verdicts = []
    for names, copies in found.items():
        if copies:
            worst = min(copies, key=lambda copy: (copy.luck, len(copy.stated), copy.stated))
            verdicts.append(worst.judged(", ".join(filter(None, names)), SETTINGS.false_alarms / looks))
    return verdicts


class _Copies(NamedTuple):
    """How many copies are right, of one set of values; all but the first two fields add up over types."""

    stated: tuple[str, ...]
    counted_from: str
    questions: int
    pairs: float
    """Questions that may copy from each other, two and two: so many copies."""
    by_chance: float
    """So many are right where answers are drawn."""
    right: float
    """So many are."""
    excess: float
    """So many more are than is fair, given what each value alone tells."""
    variance: float
    """Of those that are right in a fair type, and ..."""
    third: float
    """... their third central moment."""

    @property
    def skew(self) -> float:
        """Of those that are right in a fair type."""
        return self.third / self.variance**1.5

    @property
    def luck(self) -> float:
        """How often a fair type has so many right."""
        return float(pearson3.sf(self.excess / self.variance**0.5, self.skew))

    def judged(self, category: str, luck: float) -> Told:
        """``luck``: what is rarer fails."""
        accuracy, fair = self.right / self.pairs, (self.right - self.excess) / self.pairs
        kinds = self.pairs / self.by_chance
        # Where one answer is so much above chance and the others are equal, copies agree so much more often.
        least = AUDIT.above_chance**2 * kinds / (kinds - 1.0)
        noise = float(pearson3.isf(luck, self.skew)) * self.variance**0.5 / self.pairs
        limit = min(1.0, fair + max(least, noise))
        fails = self.luck < luck and accuracy - fair > least
        return Told(category, self.stated, self.counted_from, self.questions, fair, accuracy, limit, fails)


def _pooled(copies: Sequence[_Copies]) -> _Copies:
    """Of one set of values in several types."""
    return _Copies(*copies[0][:2], *(sum(column) for column in zip(*(one[2:] for one in copies), strict=True)))


class _Questions(NamedTuple):
    """Questions as numbers."""

    scene: Ints
    """(n,)"""
    stated: Mapping[str, Ints]
    """(n,) by what is stated: a number for each value, and one where it is not stated."""
    options: Ints
    """(n,) a number for each set of options."""
    answers: Array
    """(n, answers of the type) the right one less equal shares of those that are offered: 3/4, -1/4, -1/4, -1/4."""
    kinds: float
    """How many options there are."""

    @classmethod
    def of(cls, asked: Sequence[Asked]) -> _Questions:
        names = sorted({name for one in asked for name in one.stated})
        stated = {name: numbered([one.stated.get(name, "") for one in asked]) for name in names}
        known = sorted({option for one in asked for option in one.options})
        offered = np.array([[option in one.options for option in known] for one in asked], float)
        right = np.array([[option == one.right for option in known] for one in asked], float)
        kinds = offered.sum(axis=1)
        return cls(
            coded(one.scene for one in asked)[0],
            {name: values for name, values in stated.items() if len(np.unique(values)) > 1},
            coded(one.options for one in asked)[0],
            right - offered / kinds[:, None],
            float(kinds.mean()),
        )


def _all_copies(questions: Sequence[Questioned]) -> Iterator[_Copies]:
    """Of all sets of stated values that are looked at, with answers as they are and counted from what is stated."""
    for start in ("", *COUNTED_FROM):
        asked = [one[start] for one in questions if start in one]
        if len(asked) < len(questions):
            continue
        told = _Questions.of(asked)
        least = 1 if start == HEADING else 2
        for size in range(least, len(told.stated) + 1):
            for names in combinations(told.stated, size):
                if start not in names:  # beside it both ways to count are one
                    yield from _copies(told, names, counted_from=start)


def _copies(told: _Questions, names: tuple[str, ...], *, counted_from: str) -> Iterator[_Copies]:
    """Nothing where no question has another to copy from.

    With y the answers less equal shares, y_i y_j over all pairs that may copy from each other, A, is how many copies
    are right beyond chance. What each value alone tells is taken off first, by least squares: selection makes answers
    equal for each, and what is equal agrees less often than chance has it. Mean and variance are those of a quadratic
    form in what is left.
    """
    alone = [joined(told.options, told.stated[name]) for name in names]
    group = told.options
    for values in alone:
        group = joined(group, values)
    if len(names) == 1:  # nothing but how often each answer is right
        alone = [told.options]
    both = joined(group, told.scene)
    of_group, of_both = _members(group), _members(both)

    def summed(values: Array) -> Array:
        """A times values (n, m): for each question the sum over all that it may copy from."""
        return of_group.T @ (of_group @ values) - of_both.T @ (of_both @ values)

    copies = summed(np.ones((len(group), 1)))[:, 0]
    if not copies.any():
        return
    basis = _basis(sparse.vstack([_members(values) for values in alone]).T.toarray())
    left = told.answers - basis @ (basis.T @ told.answers)
    copied = summed(basis)
    pairs, share = float(copies.sum()) / 2.0, 1.0 / told.kinds
    fair = -0.5 * float((basis * copied).sum()) * (1.0 - share)
    squares = 2.0 * pairs - 2.0 * float((copied**2).sum()) + float(((basis.T @ copied) ** 2).sum())
    kept = squares / (2.0 * pairs)  # of the variance, where what each value alone tells is taken off
    if kept < SETTINGS.least_kept:
        return
    variance = max(pairs * share * (1.0 - share), _between_scenes(told.scene, group, left))
    yield _Copies(
        names,
        counted_from,
        int((copies > 0).sum()),
        pairs,
        pairs * share,
        pairs * share + 0.5 * float((told.answers * summed(told.answers)).sum()),
        0.5 * float((left * summed(left)).sum()) - fair,
        kept * variance,
        kept * _third_moment(np.bincount(group, copies) / 2.0, told.kinds),
    )


def _members(values: Ints) -> sparse.csr_array:
    """(values, n) 1 where a question has a value."""
    places = np.arange(len(values))
    return sparse.csr_array((np.ones(len(values)), (values, places)), shape=(int(values.max()) + 1, len(values)))


def _basis(columns: Array) -> Array:
    """(n, rank) orthonormal, of the space that columns (n, m) span."""
    sizes, ways = np.linalg.eigh(columns.T @ columns)
    kept = sizes > 1e-9 * sizes.max()
    return np.asarray(columns @ ways[:, kept] / np.sqrt(sizes[kept]))


def _between_scenes(scene: Ints, group: Ints, left: Array) -> float:
    """Variance of all copies if two scenes agree or do not as one pair: the questions of a scene may hang together."""
    width = left.shape[1]
    places = (group[:, None] * width + np.arange(width)).reshape(-1)
    shape = (int(scene.max()) + 1, (int(group.max()) + 1) * width)
    of_scene = sparse.csr_array((left.reshape(-1), (np.repeat(scene, width), places)), shape=shape)
    return float((sparse.triu(of_scene @ of_scene.T, 1).data ** 2).sum())


def _third_moment(pairs: Array, kinds: float) -> float:
    """Of how many copies are right: in one group that is a chi-square of ``kinds - 1`` degrees, or less skewed.

    Args:
        pairs: (groups,) how many can copy from each other in each.
        kinds: how many options there are.
    """
    free = kinds - 1.0
    variance = pairs * free / kinds**2
    return float((8.0 * free * (variance / (2.0 * free)) ** 1.5).sum())


def _in_words(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
