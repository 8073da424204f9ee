"""How many questions of each type come from each dataset, and how many scenes: whole numbers whose sums hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import networkx as nx

from spacecast.dataset.types import DatasetQuota
from spacecast.errors import SpacecastError

Table = dict[str, dict[str, int]]
"""Row -> column -> how many."""


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


def capped_shares(total: int, weights: Mapping[str, int], limits: Mapping[str, int]) -> dict[str, int]:
    """As :func:`shares_of`, but none above its limit: what one cannot give the others do, as far as they can.

    Keys of weight 0 give nothing.
    """
    shares = dict.fromkeys(weights, 0)
    left, open_weights = total, {key: weight for key, weight in weights.items() if weight}
    while left and open_weights:
        more = shares_of(left, open_weights)
        over = [key for key in open_weights if shares[key] + more[key] >= limits[key]]
        if not over:
            return {key: shares[key] + more.get(key, 0) for key in weights}
        for key in over:
            left -= limits[key] - shares[key]
            shares[key] = limits[key]
            del open_weights[key]
    return shares


def table_of(rows: Mapping[str, int], columns: Mapping[str, int]) -> Table:
    """Whole numbers with exactly these sums, each row x column / total rounded up or down (controlled rounding).

    Of all such tables the one that rounds up where remainders are largest in sum; of several, that which rounds up in
    the earlier cells (by row, then column).

    Args:
        rows: row -> sum.
        columns: column -> sum; both sums are of the same total.

    Raises:
        SpacecastError: the sums are not of one total, or one is negative.
    """
    total = sum(rows.values())
    if total != sum(columns.values()) or min(0, *rows.values(), *columns.values()) < 0:
        raise SpacecastError(f"no table has row sums {dict(rows)} and column sums {dict(columns)}")
    if total == 0:
        return {row: dict.fromkeys(columns, 0) for row in rows}
    table = {row: {column: rows[row] * columns[column] // total for column in columns} for row in rows}
    flow = nx.DiGraph()
    for row in rows:
        flow.add_node(("row", row), demand=sum(table[row].values()) - rows[row])
    for column in columns:
        flow.add_node(("column", column), demand=columns[column] - sum(table[row][column] for row in rows))
    cells = [(row, column) for row in rows for column in columns]
    for place, (row, column) in enumerate(cells):
        remainder = rows[row] * columns[column] % total
        if remainder:  # the second term only parts ties, so that there is one best table
            weight = -(remainder << len(cells)) - (1 << (len(cells) - 1 - place))
            flow.add_edge(("row", row), ("column", column), capacity=1, weight=weight)
    for (_, row), ends in nx.min_cost_flow(flow).items():
        for (_, column), units in ends.items():
            table[row][column] += units
    return table


def scene_weights(found: Mapping[str, int], known: Sequence[DatasetQuota]) -> dict[str, int]:
    """Dataset -> its weight when scenes are drawn: as published where all are known, else as many as there are.

    Args:
        found: dataset -> how many scenes there are.
        known: what the suite says of datasets.
    """
    published = {quota.dataset: quota.scenes for quota in known}
    return {dataset: published[dataset] if set(found) <= set(published) else count for dataset, count in found.items()}


def question_weights(
    found: Sequence[str], known: Sequence[DatasetQuota], asked: Mapping[str, int]
) -> dict[str, int] | None:
    """Dataset -> its weight in the number of questions, or None where datasets have no shares of their own.

    Args:
        found: datasets that there are scans of.
        known: what the suite says of datasets.
        asked: what the build was told; empty for the suite's own shares, which hold where it knows all datasets.

    Raises:
        SpacecastError: what was asked names another set of datasets than there is.
    """
    if asked:
        if set(asked) != set(found):
            raise SpacecastError(
                f"questions per dataset are given for {', '.join(sorted(asked))}, but the scans are of "
                f"{', '.join(sorted(found))}; name each of these once (0 leaves one out)"
            )
        return {dataset: asked[dataset] for dataset in sorted(found)}
    published = {quota.dataset: quota.questions for quota in known}
    if set(found) <= set(published):
        return {dataset: published[dataset] for dataset in sorted(found)}
    return None
