"""How often each answer is right, in a type and wherever the text gives something away: counts, costs and bounds.

A table has a row for each value of something that is known from the text, and a column for each outcome that should be
equally frequent in it. Tables of a type:

- all questions x answer;
- a stated value x answer; and the same apart for each set of options, since options are read too;
- two stated values together x answer, apart for each set of options: bounded nowhere, since rows are short; what is
  preferred counts as stated here, since the text tells whether what moves is asked about, or what it carries;
- all questions, and one stated value or two, x the answer counted from the stated motion: two rows each, for right
  angles and for odd multiples of 45 degrees;
- all questions, one stated value, and two, x an answer by the compass counted from the camera's stated heading: costs;
- all questions x whether the answer is changed.

Cells of all tables lie in one array. Candidates that fall into the same cells of every table have one signature, so
that costs and bounds are worked out per signature.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacecast.dataset.groups import Ints, coded, joined
from spacecast.errors import SpacecastError
from spacecast.frames import COMPASS

Flags = NDArray[np.bool_]

_QUARTERS = 4
_UNBOUNDED = 1e6


@dataclass(frozen=True)
class BalanceSettings:
    """Bounds of inequality; SEMANTICS section 6, 'Options'."""

    slack: float = 1.05
    """No answer is right more often than ceil(slack * n / k) + 1 times of n questions with k answers."""
    stated_slack: float = 1.05
    """Where the text states something, not more often than ceil(slack * n / k) of n that state the same (own): without
    the 1, which is much in a row of few questions, a row whose text gives the answer away holds one question."""


SETTINGS = BalanceSettings()


class Feature(NamedTuple):
    """What selection knows of a candidate."""

    uid: str
    scene: str
    likeness: str
    views: tuple[str, ...]
    """Main pictures."""
    balance: str
    right: tuple[int, ...]
    """Positions of the right choices in canonical order."""
    stated: tuple[tuple[str, str], ...]
    preference: int
    rank: int
    """Drawn from the uid; ties go to the smaller."""
    options: str = ""
    """One text for each set of options that questions of the type can show."""
    relative: str = ""
    """Degrees of the answer from the stated motion; empty where there is none."""
    unchanged: bool = False
    follows: str = ""
    """How many objects go along with the one that is moved; empty where none is."""
    names: tuple[tuple[str, str], ...] = ()
    """(role, label) of objects that the text asks about."""
    sizes: tuple[tuple[str, str], ...] = ()
    """(what, step) how large they are, and one beside another, where that says something of answers; no ``what`` is a
    role of ``names``."""
    relation: str = ""
    """Names what is asked (at levels 2 and 3: what is asked before the change), as ``twins.relation_key`` does."""
    images: int = 1
    """How many pictures are shown, bridges included."""
    objects: tuple[int, ...] = ()
    """Ids of the objects that the text names."""
    room: str = ""
    """Scans of one room share it."""
    dataset: str = ""


class TypeRules(NamedTuple):
    """What selection knows of a type."""

    code: str
    option_count: int
    multi_select: bool
    max_share: tuple[tuple[str, float], ...] = ()
    """Largest share of questions with an answer, where a type has such a rule."""
    max_unchanged: float = 1.0
    """Largest share of questions whose answer the change leaves as it was."""


def largest_count(questions: int, kinds: int, slack: float = SETTINGS.slack) -> int:
    """How often one of ``kinds`` equal answers may be right in ``questions``: ceil(slack n / k) + 1."""
    return math.ceil(round(slack * questions / kinds, 9)) + 1


def answer_of(feature: Feature, rules: TypeRules) -> str:
    """The answer as it is balanced: a value, or for multi-select how many options are right."""
    return str(len(feature.right)) if rules.multi_select else feature.balance


class _Table(NamedTuple):
    rows: Ints
    """Row of every candidate, -1 where it is in none."""
    columns: Ints
    sets: Ints
    """Of each column: how many equally frequent kinds it stands for (letter sets of its size; else 1)."""
    kinds: int
    """Equally frequent kinds of a row."""
    weight: int
    """Of columns that should be equal: what counts alone weighs four times what counts beside another value. 0 if they
    are only bounded."""
    slack: float
    spare: int
    """A cell holds at most (ceil(slack * row / kinds) + spare) * sets."""
    shares: NDArray[np.float64]
    """Of each column: largest share of a row."""


class Balance:
    """Counts of what is chosen in all tables of a type."""

    def __init__(self, features: Sequence[Feature], rules: TypeRules) -> None:
        tables, keys = _tables(features, rules)
        signatures = np.zeros(len(features), dtype=np.int64)
        for table in tables:
            signatures = joined(signatures, joined(table.rows, table.columns))
        for key in keys:
            signatures = joined(signatures, key)
        _, first, number = np.unique(signatures, return_index=True, return_inverse=True)
        self.signature: Ints = np.asarray(number, dtype=np.int64).reshape(-1)
        """Of every candidate."""
        self._lay_out(tables, first)
        self._spread = _offset([key[first] for key in keys])
        """(keys, signatures) a number for each value of a key that should be used evenly, whatever the answer."""
        self._spread_count = np.zeros(int(self._spread.max(initial=-1)) + 1, dtype=np.int64)

    def _lay_out(self, tables: Sequence[_Table], first: Ints) -> None:
        """All cells in one array; cell 0 and row 0 are of candidates that a table does not hold."""
        nothing = np.zeros(1, dtype=np.int64)
        outside = _Table(nothing, nothing, np.ones(1, np.int64), 1, 0, _UNBOUNDED, 0, np.ones(1))
        cells, rows, cell_row = [], [], []
        cells_before, rows_before = 0, 0
        lengths = []
        for table in [outside, *tables]:
            length, width = int(table.rows.max(initial=-1)) + 1, len(table.sets)
            if table is not outside:
                row, column = table.rows[first], table.columns[first]
                cells.append(np.where(row < 0, 0, cells_before + row * width + column))
                rows.append(np.where(row < 0, 0, rows_before + row))
            cell_row.append(np.repeat(np.arange(rows_before, rows_before + length), width))
            lengths.append(length)
            cells_before, rows_before = cells_before + length * width, rows_before + length
        every = [outside, *tables]
        self._cells: Ints = np.stack(cells)  # (tables, signatures): numpy adds up the first axis much faster
        self._rows: Ints = np.stack(rows)
        self._cell_row: Ints = np.concatenate(cell_row)
        self._sets: Ints = np.concatenate([np.tile(t.sets, n) for t, n in zip(every, lengths, strict=True)])
        self._share = np.concatenate([np.tile(t.shares, n) for t, n in zip(every, lengths, strict=True)])
        self._kinds: Ints = np.repeat([t.kinds for t in every], lengths)
        self._slack = np.repeat([t.slack for t in every], lengths) / self._kinds
        self._spare: Ints = np.repeat([t.spare for t in every], lengths)
        self._equal: Ints = np.repeat([t.weight for t in every], lengths)[self._cell_row]
        self._cell_count = np.zeros(cells_before, dtype=np.int64)
        self._row_count = np.zeros(rows_before, dtype=np.int64)

    def put(self, signature: int, step: int) -> None:
        """One more, or with ``step=-1`` one less, of a signature. Cells of a signature lie in different tables."""
        self._cell_count[self._cells[:, signature]] += step
        self._row_count[self._rows[:, signature]] += step
        self._spread_count[self._spread[:, signature]] += step

    def is_full(self) -> Flags:
        """(signatures,) true where one more would break a bound."""
        full = self._cell_count + 1 > self._bounds(self._row_count + 1)
        return np.asarray(full[self._cells].any(axis=0))

    def is_broken(self) -> bool:
        """True if a bound is broken: a row has become shorter, and one of its cells is too large for it now."""
        return bool((self._cell_count > self._bounds(self._row_count)).any())

    def _bounds(self, row_count: Ints) -> Ints:
        """(cells,) how many each may hold where rows are so long."""
        each = np.ceil(np.round(self._slack * row_count, 9)).astype(np.int64) + self._spare
        shares = np.floor(np.round(self._share * row_count[self._cell_row], 9)).astype(np.int64)
        bounds = np.minimum(each[self._cell_row] * self._sets, shares)
        bounds[0] = np.iinfo(np.int64).max  # what a table does not hold
        return np.asarray(bounds)

    def inequality(self) -> Ints:
        """(signatures,) how much more unequal one more would make the tables.

        In each, the growth of the sum of squares over equal kinds, less the least that it could grow, times the table's
        weight: 0 while kinds differ by one.
        """
        over = self._equal * (self._cell_count // self._sets - (self._row_count // self._kinds)[self._cell_row])
        return np.asarray(over[self._cells].sum(axis=0))

    def unevenness(self) -> Ints:
        """(signatures,) the same for values that should be used evenly, whatever the answer: sum of 2 n + 1."""
        return np.asarray((2 * self._spread_count + 1)[self._spread].sum(axis=0))


class NameBalance:
    """How often each answer is right beside each name in each role, and beside each size.

    A large thing hides more often than it is hidden. Costs only, no bounds: names say something of the world, and many
    are in few questions. How many of several options are right says nothing of a name.
    """

    def __init__(self, features: Sequence[Feature], rules: TypeRules, cost: Ints, *, weight: int) -> None:
        """Args:
        features: all candidates.
        rules: of the type.
        cost: (candidates,) what choosing each costs, kept up to date here.
        weight: of one answer beyond the equal share beside one name.
        """
        answers, known = coded(answer_of(feature, rules) for feature in features)
        names, unique = coded(() if rules.multi_select else (*feature.names, *feature.sizes) for feature in features)
        pairs = [dict(entry) for entry in unique]  # type: ignore[call-overload]
        roles = sorted({role for entry in pairs for role in entry})
        self._kinds = len(known)
        columns, rows = [], 0
        for role in roles:
            codes, labels = coded(entry.get(role, "") for entry in pairs)
            columns.append((codes[names] + rows) * self._kinds + answers)
            rows += len(labels)
        width = (len(features), 0)
        cells: Ints = np.stack(columns, axis=1) if columns else np.zeros(width, dtype=np.int64)
        self._cell_count = np.zeros((rows, self._kinds), dtype=np.int64)
        self._cells = cells
        self._order: Ints = np.argsort(cells, axis=None, kind="stable")
        self._starts: Ints = np.searchsorted(cells.reshape(-1)[self._order], np.arange(rows * self._kinds + 1))
        self._order //= max(1, len(columns))
        self._cost, self._weight = cost, weight

    def put(self, candidate: int, step: int) -> None:
        """One more, or with ``step=-1`` one less: of each name the growth of the sum of squares, as in Balance."""
        for cell in self._cells[candidate].tolist():
            row, answer = divmod(cell, self._kinds)
            before = int(self._cell_count[row].sum()) // self._kinds
            self._cell_count[row, answer] += step
            share = before - int(self._cell_count[row].sum()) // self._kinds
            if share:  # the equal share is another now: so much for every answer beside this name
                first, last = self._starts[row * self._kinds], self._starts[(row + 1) * self._kinds]
                self._cost[self._order[first:last]] += self._weight * share
            self._cost[self._order[self._starts[cell] : self._starts[cell + 1]]] += self._weight * step


def _tables(features: Sequence[Feature], rules: TypeRules) -> tuple[list[_Table], list[Ints]]:
    """The tables of a type, and the keys whose values should be used evenly."""
    names = sorted({answer_of(feature, rules) for feature in features})
    answers = numbered([answer_of(feature, rules) for feature in features], names)
    sets: Ints = np.array([_sets_of(name, rules) for name in names], dtype=np.int64)
    shares = np.array([dict(rules.max_share).get(name, 1.0) for name in names])
    everything = np.zeros(len(features), dtype=np.int64)
    unbounded = np.ones(len(names))
    kinds = 2**rules.option_count - 1 if rules.multi_select else rules.option_count
    stated = _stated(features)
    tables = [_Table(everything, answers, sets, int(sets.sum()), 4, SETTINGS.slack, 1, shares)]
    options = numbered([feature.options for feature in features])
    for value in stated:
        tables.append(_Table(value, answers, sets, int(sets.sum()), 4, _UNBOUNDED, 0, unbounded))
        apart = _together(value, options)
        tables.append(_Table(apart, answers, sets, kinds, 0, SETTINGS.stated_slack, 0, unbounded))
    preferred = np.array([feature.preference for feature in features], dtype=np.int64)
    told = [preferred] if len(np.unique(preferred)) > 1 and not rules.multi_select else []
    pairs = [_together(one, other) for one, other in combinations([*stated, *told], 2)]
    for pair in pairs:
        tables.append(_Table(_together(pair, options), answers, sets, kinds, 1, _UNBOUNDED, 0, unbounded))
    four, whole = np.ones(_QUARTERS, dtype=np.int64), np.ones(_QUARTERS)
    degrees: Ints = np.array([_degrees(feature) for feature in features], dtype=np.int64)
    if (degrees >= 0).any():
        quarter, is_odd = degrees // 90, np.where(degrees < 0, -1, degrees % 90 // 45)
        for values, weight, slack in (([everything, *stated], 4, SETTINGS.stated_slack), (pairs, 1, _UNBOUNDED)):
            for value in values:
                tables.append(_Table(_together(value, is_odd), quarter, four, _QUARTERS, weight, slack, 0, whole))
    seen: Ints = np.array([_degrees_from_heading(feature) for feature in features], dtype=np.int64)
    if (seen >= 0).any():
        quarter, is_odd = seen // 90, np.where(seen < 0, -1, seen % 90 // 45)
        for values, weight in (([everything, *stated], 2), (pairs, 1)):
            for value in values:
                tables.append(_Table(_together(value, is_odd), quarter, four, _QUARTERS, weight, _UNBOUNDED, 0, whole))
    unchanged: Ints = np.array([feature.unchanged for feature in features], dtype=np.int64)
    limits = np.array([1.0, rules.max_unchanged])
    tables.append(_Table(everything, unchanged, np.ones(2, dtype=np.int64), 1, 0, _UNBOUNDED, 0, limits))
    follows = numbered([feature.follows for feature in features])
    return tables, [*(value + 1 for value in stated), follows]


def _together(one: Ints, other: Ints) -> Ints:
    """A number from 0 for each pair of values; -1 where either is -1."""
    return _packed(np.where((one < 0) | (other < 0), -1, joined(one, other)))


def _degrees(feature: Feature) -> int:
    """The answer from the stated motion, or -1."""
    if not feature.relative:
        return -1
    degrees = int(feature.relative) if feature.relative.isdecimal() else -1
    if degrees % 45 or not 0 <= degrees < 360:
        raise SpacecastError(
            f"question {feature.uid}: its answer counted from the motion is {feature.relative!r}, "
            "which should be a multiple of 45 from 0 to 315"
        )
    return degrees


def _degrees_from_heading(feature: Feature) -> int:
    """An answer by the compass from the heading that the text gives the camera, clockwise; -1 where it is none."""
    heading = dict(feature.stated).get("camera_compass")
    if heading not in COMPASS or feature.balance not in COMPASS:
        return -1
    return 45 * ((COMPASS.index(feature.balance) - COMPASS.index(heading)) % len(COMPASS))


def _sets_of(answer: str, rules: TypeRules) -> int:
    return math.comb(rules.option_count, int(answer)) if rules.multi_select else 1


def _stated(features: Sequence[Feature]) -> list[Ints]:
    """For every key that some text states: the number of each candidate's value, -1 where it states none."""
    known = {stated: dict(stated) for stated in {feature.stated for feature in features}}
    keys = sorted({key for values in known.values() for key in values})
    found = []
    for key in keys:
        numbers = {v: i for i, v in enumerate(sorted({values[key] for values in known.values() if key in values}))}
        of = {stated: numbers[values[key]] if key in values else -1 for stated, values in known.items()}
        found.append(np.array([of[feature.stated] for feature in features], dtype=np.int64))
    return found


def numbered(values: Sequence[str], known: Iterable[str] | None = None) -> Ints:
    """Every value's place among the known ones, by default among the values themselves, sorted."""
    number: Mapping[str, int] = {value: i for i, value in enumerate(sorted(set(values)) if known is None else known)}
    return np.array([number[value] for value in values], dtype=np.int64)


def _packed(numbers: Ints) -> Ints:
    """Numbers from 0 without gaps in the same order; -1 stays."""
    known = np.unique(numbers[numbers >= 0])
    return np.asarray(np.where(numbers < 0, -1, np.searchsorted(known, numbers)), dtype=np.int64)


def _offset(columns: Sequence[Ints]) -> Ints:
    """Rows of numbers below one another, those of each starting where those before end."""
    starts = np.cumsum([0, *(int(column.max(initial=-1)) + 1 for column in columns)])
    return np.stack([column + start for column, start in zip(columns, starts, strict=False)])
