"""Which of many possible questions one scene offers."""

from __future__ import annotations

import random
from collections import Counter
from typing import NamedTuple

from questions.fair import _on_diagonals, in_turn
from spacecast.dataset.types import Draft, Refusal


class Item(NamedTuple):
    """Something that could be asked: its cell, what it is like, and how good it is."""

    cell: str
    like: str
    rank: int
    fails: bool = False


def drafted(item: Item) -> Draft | list[Refusal]:
    if item.fails:
        return [Refusal("relation", "fails", str(item.rank))]
    return Draft(str(item.rank), (), {}, (), {}, {}, item.cell, item.like)


def offered(items: list[Item], max_drafts: int) -> list[Draft | Refusal]:
    found = in_turn(
        items,
        cell=lambda item: (item.cell,),
        alike=lambda item: item.like,
        rank=lambda item: (item.rank,),
        case=lambda item: str(item.rank),
        make=drafted,
        max_drafts=max_drafts,
    )
    return list(found)


def cases(found: list[Draft | Refusal]) -> list[str]:
    return [item.case for item in found if isinstance(item, Draft)]


def test_one_of_each_cell_a_round_and_only_whole_rounds() -> None:
    items = [Item(cell, f"{cell}{n}", 10 * n + i) for i, cell in enumerate("abc") for n in range(4)]
    found = offered(items, 8)  # two rounds of three; a third would be nine
    assert cases(found) == ["0", "1", "2", "10", "11", "12"]
    left = [item for item in found if isinstance(item, Refusal)]
    assert {item.reason for item in left} == {"more_than_enough"}
    assert [item.example for item in left] == ["20", "30", "21", "31", "22", "32"]


def test_of_too_many_cells_diagonals_are_kept_on_which_every_value_is_as_frequent() -> None:
    kept = _on_diagonals([(d, m) for d in range(6) for m in "abcdef"], 12)
    assert len(kept) == 12  # 36 cells, every third diagonal
    assert Counter(d for d, _ in kept) == dict.fromkeys(range(6), 2)
    assert Counter(m for _, m in kept) == dict.fromkeys("abcdef", 2)
    assert _on_diagonals([(0, "a"), (0, "b")], 2) == [(0, "a"), (0, "b")]
    assert _on_diagonals([], 5) == []


def test_what_lies_off_the_diagonals_is_refused_by_name() -> None:
    found = offered([Item("a", "x", 0), Item("b", "y", 1), Item("a", "z", 2)], 1)
    assert cases(found) == ["0"]
    assert [item.example for item in found if isinstance(item, Refusal)] == ["1", "2"]


def test_a_cell_that_runs_out_leaves_its_place_to_none() -> None:
    items = [Item("a", "x", 0), *(Item("b", f"y{n}", 10 + n) for n in range(9))]
    counts = Counter(d.balance for d in offered(items, 5) if isinstance(d, Draft))
    assert counts == {"a": 1, "b": 4}


def test_unlike_ones_come_first_then_better_ones() -> None:
    items = [Item("a", "x", 0), Item("a", "x", 1), Item("a", "y", 2), Item("a", "z", 3), Item("a", "y", 4)]
    assert cases(offered(items, 4)) == ["0", "2", "3", "1"]


def test_one_that_fails_gives_way_to_the_next_of_its_cell() -> None:
    items = [Item("a", "x", 0, fails=True), Item("a", "y", 1), Item("b", "z", 2), Item("c", "w", 3, fails=True)]
    found = offered(items, 3)
    assert cases(found) == ["1", "2"]
    assert [item for item in found if isinstance(item, Refusal)] == [
        Refusal("relation", "fails", "0"),
        Refusal("relation", "fails", "3"),
    ]


def test_the_order_of_what_is_found_makes_no_difference() -> None:
    items = [Item("abcd"[n % 4], f"l{n % 7}", n, fails=n % 5 == 0) for n in range(60)]
    expected = offered(items, 20)
    for seed in range(3):
        shuffled = items.copy()
        random.Random(seed).shuffle(shuffled)
        assert offered(shuffled, 20) == expected
