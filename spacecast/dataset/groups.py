"""Candidates by what they have in common, as arrays: who shares a scene, a picture, a name."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def coded(values: Iterable[Hashable]) -> tuple[Ints, list[Hashable]]:
    """A number from 0 for every value, equal for equal values, and the values by number (as they first come)."""
    known: dict[Hashable, int] = {}
    codes = np.fromiter((known.setdefault(value, len(known)) for value in values), dtype=np.int64)
    return codes, list(known)


def joined(one: Ints, other: Ints) -> Ints:
    """A number from 0 for every pair that there is, without gaps."""
    pairs = one * (int(other.max(initial=0)) + 2) + other
    return np.asarray(np.unique(pairs, return_inverse=True)[1], dtype=np.int64).reshape(-1)


class Groups:
    """Candidates by the values of a key; a candidate may be in several groups (its pictures), or in none."""

    def __init__(self, keys: Ints) -> None:
        """Args:
        keys: (candidates, most groups of one) a number for each value, -1 where a candidate is in fewer groups.
        """
        known = np.unique(keys[keys >= 0])
        self.values: Ints = np.where(keys < 0, 0, np.searchsorted(known, keys) + 1)
        """(candidates, most groups of one) groups, numbered from 1 and padded with 0."""
        flat = self.values.reshape(-1)
        order = np.argsort(flat, kind="stable")
        self._order: Ints = order // keys.shape[1]
        self._starts: Ints = np.searchsorted(flat[order], np.arange(len(known) + 2))

    @classmethod
    def within(cls, scene: Ints, lists: Iterable[Sequence[Hashable]]) -> Groups:
        """Groups by the values that every candidate lists, apart for each scene."""
        rows, unique = coded(lists)
        texts: list[Sequence[Hashable]] = list(unique)  # type: ignore[arg-type]
        flat, values = coded(value for row in texts for value in row)
        lengths = np.array([len(row) for row in texts])
        table = np.full((len(texts), max(1, int(lengths.max(initial=0)))), -1, dtype=np.int64)
        table[np.arange(table.shape[1]) < lengths[:, None]] = flat
        keys = table[rows]
        return cls(np.where(keys < 0, -1, scene[:, None] * max(1, len(values)) + keys))

    def __len__(self) -> int:
        """One more than there are groups: the length of an array by group."""
        return len(self._starts) - 1

    def of(self, i: int) -> list[int]:
        """The groups of a candidate."""
        return [value for value in self.values[i].tolist() if value]

    def members(self, group: int) -> Ints:
        """The candidates of a group."""
        return self._order[self._starts[group] : self._starts[group + 1]]
