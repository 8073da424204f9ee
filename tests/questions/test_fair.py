"""Which of many possible questions one scene offers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

from questions.fair import in_turn
from spacecast.dataset.types import Draft, Refusal


class Item(NamedTuple):
    """Something that could be asked: what is stated and answered, what it is like, and how good it is."""

    stated: tuple[str, ...]
    answer: str
    like: str
    rank: int
    fails: bool = False


def drafted(item: Item) -> Draft | list[Refusal]:
    if item.fails:
        return [Refusal("relation", "fails", str(item.rank))]
    said = {f"part {n}": value for n, value in enumerate(item.stated)}
    return Draft(str(item.rank), (), {}, (), {}, said, item.answer, item.like)


def offered(items: list[Item], max_drafts: int, scene: str = "scene0000_00") -> list[Draft | Refusal]:
    found = in_turn(
        items,
        stated=lambda item: item.stated,
        answer=lambda item: item.answer,
        alike=lambda item: item.like,
        rank=lambda item: (item.rank,),
        case=lambda item: str(item.rank),
        make=drafted,
        key=("scannet", scene, "a_type", "1"),
        max_drafts=max_drafts,
    )
    return list(found)


def cases(found: list[Draft | Refusal]) -> list[str]:
    return [item.case for item in found if isinstance(item, Draft)]


def answers(found: list[Draft | Refusal]) -> dict[tuple[str, ...], Counter[str]]:
    """Stated value -> how often each answer goes with it."""
    counts: dict[tuple[str, ...], Counter[str]] = {}
    for item in found:
        if isinstance(item, Draft):
            counts.setdefault(tuple(item.stated.values()), Counter())[item.balance] += 1
    return counts


def many(stated: Iterable[tuple[str, ...]], answers: str, each: int) -> list[Item]:
    cells = [(said, answer) for said in stated for answer in answers]
    return [
        Item(said, answer, f"{i} {n}", n * len(cells) + i)
        for n in range(each)
        for i, (said, answer) in enumerate(cells)
    ]


def test_one_of_each_answer_for_each_stated_value_and_then_again() -> None:
    items = many([("x",), ("y",)], "abc", 3)
    assert answers(offered(items, 6)) == {("x",): Counter("abc"), ("y",): Counter("abc")}
    assert answers(offered(items, 12)) == {("x",): Counter("aabbcc"), ("y",): Counter("aabbcc")}
    assert answers(offered(items, 99)) == {("x",): Counter("aaabbbccc"), ("y",): Counter("aaabbbccc")}


def test_what_is_not_offered_is_said_once() -> None:
    items = many([("x",), ("y",)], "abc", 3)
    found = offered(items, 6)
    left = [item for item in found if isinstance(item, Refusal)]
    assert {(item.stage, item.reason) for item in left} == {("selection", "more_than_enough")}
    assert sorted([*cases(found), *(item.example for item in left)]) == sorted(str(item.rank) for item in items)


def test_a_stated_value_is_never_left_before_each_answer_had_its_turn() -> None:
    stated = list(product("uvwxyz", "1234"))
    for wanted in range(1, 40):
        counts = answers(offered(many(stated, "abcde", 2), wanted))
        assert all(counter == Counter("abcde") for counter in counts.values())
        assert len(counts) == min(len(stated), -(-wanted // 5))


def test_few_drafts_still_hold_every_part_of_what_is_stated() -> None:
    stated = list(product("uvwxyz", "123456"))
    said = answers(offered(many(stated, "ab", 1), 12))
    assert len(said) == 6
    assert {first for first, _ in said} == set("uvwxyz")
    assert {second for _, second in said} == set("123456")


def test_scenes_differ_in_what_is_stated() -> None:
    items = many(list(product("uvwxyz", "123456")), "ab", 1)
    pairs = Counter(said for n in range(60) for said in answers(offered(items, 12, f"scene{n:04d}_00")))
    assert len(pairs) == 36  # each about ten times
    assert max(pairs.values()) < 25


def test_an_answer_that_runs_out_leaves_its_place_to_none() -> None:
    items = [Item(("x",), "a", "x", 0), *(Item(("x",), "b", f"y{n}", 10 + n) for n in range(9))]
    assert answers(offered(items, 5)) == {("x",): Counter("abbbb")}


def test_unlike_ones_come_first_then_better_ones() -> None:
    likes = ["x", "x", "y", "z", "y"]
    items = [Item(("said",), "a", like, rank) for rank, like in enumerate(likes)]
    assert cases(offered(items, 4)) == ["0", "2", "3", "1"]


def test_one_that_fails_gives_way_to_the_next_like_it() -> None:
    told = [("a", True), ("a", False), ("b", False), ("c", True)]
    items = [Item(("said",), answer, str(rank), rank, fails) for rank, (answer, fails) in enumerate(told)]
    found = offered(items, 3)
    assert cases(found) == ["1", "2"]
    assert [item for item in found if isinstance(item, Refusal)] == [
        Refusal("relation", "fails", "0"),
        Refusal("relation", "fails", "3"),
    ]


def test_the_order_of_what_is_found_makes_no_difference() -> None:
    items = [Item(("uvw"[n % 3],), "abcd"[n % 4], f"l{n % 7}", n, fails=n % 5 == 0) for n in range(60)]
    expected = offered(items, 20)
    for seed in range(3):
        shuffled = items.copy()
        random.Random(seed).shuffle(shuffled)
        assert offered(shuffled, 20) == expected
