"""Which of many possible questions one scene offers."""

from __future__ import annotations

import random
from collections import Counter
from typing import NamedTuple

from questions.fair import in_turn
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


def test_the_first_round_is_made_in_any_case() -> None:
    assert cases(offered([Item("a", "x", 0), Item("b", "y", 1), Item("a", "z", 2)], 1)) == ["0", "1"]


def test_what_is_stated_does_not_narrow_the_answers_however_few_drafts_are_wanted() -> None:
    cells = [f"{answer} {stated}" for answer in "abcd" for stated in "uvwxyz"]
    offers = {d.balance for d in offered([Item(c, c, i) for i, c in enumerate(cells)], 5) if isinstance(d, Draft)}
    assert offers == set(cells)


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
