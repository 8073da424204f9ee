"""Shares of datasets and types: whole numbers whose sums hold. Expected numbers are counted by hand."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacecast.dataset.quotas import capped_shares, question_weights, scene_weights, shares_of, table_of
from spacecast.dataset.types import DatasetQuota
from spacecast.errors import SpacecastError

KNOWN = (DatasetQuota("scannet", 718, 134), DatasetQuota("scannetpp", 3144, 48))
PUBLISHED = (264, 251, 263, 272, 221, 97, 293, 256, 256, 264, 285, 139, 216, 263, 256, 266)


@pytest.mark.parametrize(
    "total, weights, limits, expected",
    [
        (10, {"a": 1, "b": 1}, {"a": 99, "b": 99}, {"a": 5, "b": 5}),
        (10, {"a": 1, "b": 1}, {"a": 2, "b": 99}, {"a": 2, "b": 8}),
        (10, {"a": 1, "b": 1}, {"a": 2, "b": 3}, {"a": 2, "b": 3}),
        (10, {"a": 0, "b": 1}, {"a": 99, "b": 4}, {"a": 0, "b": 4}),  # weight 0 gives nothing
        (182, {"a": 134, "b": 48}, {"a": 1513, "b": 1000}, {"a": 134, "b": 48}),
        (182, {"a": 134, "b": 48}, {"a": 1513, "b": 20}, {"a": 162, "b": 20}),
        (12, {"a": 4, "b": 1, "c": 1}, {"a": 2, "b": 4, "c": 99}, {"a": 2, "b": 4, "c": 6}),  # b is capped in its turn
        (0, {"a": 1}, {"a": 1}, {"a": 0}),
    ],
)  # fmt: skip
def test_shares_with_limits(total: int, weights: dict, limits: dict, expected: dict) -> None:
    assert capped_shares(total, weights, limits) == expected


@given(st.integers(0, 60), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 20)), min_size=1, max_size=5))
def test_shares_with_limits_use_all_that_can_be_used(total: int, pairs: list[tuple[int, int]]) -> None:
    weights = {str(i): weight for i, (weight, _) in enumerate(pairs)}
    limits = {str(i): limit for i, (_, limit) in enumerate(pairs)}
    shares = capped_shares(total, weights, limits)
    assert sum(shares.values()) == min(total, sum(limit for weight, limit in pairs if weight))
    assert all(0 <= shares[key] <= limits[key] for key in shares)


def test_a_table_by_hand() -> None:
    """Expected 1.2 and 1.8, 0.8 and 1.2: rounding up 1.8 and 0.8 (remainders 0.8 + 0.8) keeps all four sums."""
    assert table_of({"x": 3, "y": 2}, {"a": 2, "b": 3}) == {"x": {"a": 1, "b": 2}, "y": {"a": 1, "b": 1}}


def test_equal_tables_go_to_the_earlier_cell() -> None:
    assert table_of({"x": 1, "y": 1}, {"a": 1, "b": 1}) == {"x": {"a": 1, "b": 0}, "y": {"a": 0, "b": 1}}


def test_the_published_table() -> None:
    rows = {f"t{i}": count for i, count in enumerate(PUBLISHED)}
    table = table_of(rows, {"scannet": 718, "scannetpp": 3144})
    assert [sum(table[row].values()) for row in rows] == list(PUBLISHED)
    assert sum(table[row]["scannet"] for row in rows) == 718
    assert table["t5"] in (
        {"scannet": 18, "scannetpp": 79},
        {"scannet": 19, "scannetpp": 78},
    )  # 97 x 718 / 3862 = 18.03


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6), st.lists(st.integers(0, 9), min_size=1, max_size=4))
def test_sums_hold_and_every_cell_is_rounded_up_or_down(row_sums: list[int], weights: list[int]) -> None:
    total = sum(row_sums)
    columns = shares_of(total, {f"c{i}": weight + 1 for i, weight in enumerate(weights)})
    rows = {f"r{i}": value for i, value in enumerate(row_sums)}
    table = table_of(rows, columns)
    for row, value in rows.items():
        assert sum(table[row].values()) == value
        for column, other in columns.items():
            assert value * other // max(1, total) <= table[row][column] <= -(-value * other // max(1, total))
    for column, value in columns.items():
        assert sum(table[row][column] for row in rows) == value


@given(st.lists(st.integers(0, 9), min_size=2, max_size=3), st.integers(0, 100))
def test_no_table_is_nearer(row_sums: list[int], share: int) -> None:
    """Against all tables of two columns, counted out: the sum of remainders that are rounded up is the largest."""
    total = sum(row_sums)
    columns = {"a": total * share // 100, "b": total - total * share // 100}
    rows = {f"r{i}": value for i, value in enumerate(row_sums)}
    table = table_of(rows, columns)

    def gain(first: tuple[int, ...]) -> int:
        return sum(
            (value * columns[c] % max(1, total)) * (count > value * columns[c] // max(1, total))
            for value, one in zip(row_sums, first, strict=True)
            for c, count in (("a", one), ("b", value - one))
        )

    bounds = [(v * columns["a"] // max(1, total), -(-v * columns["a"] // max(1, total))) for v in row_sums]
    every = [f for f in itertools.product(*(range(a, b + 1) for a, b in bounds)) if sum(f) == columns["a"]]
    assert gain(tuple(table[row]["a"] for row in rows)) == max(map(gain, every))


def test_sums_that_cannot_hold_are_refused() -> None:
    with pytest.raises(SpacecastError, match="no table"):
        table_of({"x": 3}, {"a": 2})
    with pytest.raises(SpacecastError, match="no table"):
        table_of({"x": 3, "y": -1}, {"a": 2})


def test_weights_are_the_suites_where_it_knows_all_datasets() -> None:
    assert scene_weights({"scannet": 1513, "scannetpp": 856}, KNOWN) == {"scannet": 134, "scannetpp": 48}
    assert scene_weights({"scannet": 10, "mine": 5}, KNOWN) == {"scannet": 10, "mine": 5}
    assert question_weights(["scannetpp", "scannet"], KNOWN, {}) == {"scannet": 718, "scannetpp": 3144}
    assert question_weights(["scannet"], KNOWN, {}) == {"scannet": 718}
    assert question_weights(["scannet", "mine"], KNOWN, {}) is None
    assert question_weights(["scannet", "mine"], KNOWN, {"scannet": 3, "mine": 1}) == {"mine": 1, "scannet": 3}
    with pytest.raises(SpacecastError, match="given for scannet, but the scans are of mine, scannet"):
        question_weights(["scannet", "mine"], KNOWN, {"scannet": 3})
