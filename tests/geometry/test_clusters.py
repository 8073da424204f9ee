"""Clusters against what plain reachability gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from spacecast.geometry import clusters
from spacecast.geometry.clusters import grid_clusters, is_scattered


def reachable(points: np.ndarray, gap: float) -> int:
    """How many sets there are if every step is at most the gap, by visiting."""
    near, left, count = cdist(points, points) <= gap, set(range(len(points))), 0
    while left:
        count += 1
        todo = [left.pop()]
        while todo:
            found = [j for j in left if near[todo[-1], j]]
            todo.pop()
            left -= set(found)
            todo += found
    return count


POINTS = st.lists(st.tuples(*[st.integers(0, 14)] * 3), min_size=1, max_size=30).map(
    lambda rows: np.array(rows, dtype=float) * 0.1003
)


@given(POINTS)
@settings(max_examples=200)
def test_scattered_is_what_cannot_be_reached_in_steps(points: np.ndarray) -> None:
    assert is_scattered(points, gap_m=0.5) == (reachable(points, 0.5) > 1)


@pytest.mark.parametrize("gap, scattered", [(0.49, False), (0.5, False), (0.51, True), (3.0, True)])
def test_the_border_of_scattered(gap: float, scattered: bool) -> None:
    line = np.linspace(0, 0.25, 6)
    points = np.stack([np.concatenate([line, line + 0.25 + gap]), np.zeros(12), np.zeros(12)], axis=1)
    assert is_scattered(points, gap_m=0.5) == scattered


def test_one_point_or_none_is_not_scattered() -> None:
    assert not is_scattered(np.zeros((0, 3)), gap_m=0.5)
    assert not is_scattered(np.zeros((1, 3)), gap_m=0.5)
    assert not is_scattered(np.zeros((5, 3)), gap_m=0.5)


def same_parts(one: np.ndarray, other: np.ndarray) -> bool:
    return len({*zip(one.tolist(), other.tolist(), strict=True)}) == len({*one.tolist()}) == len({*other.tolist()})


@given(POINTS)
def test_neighbours_are_together_and_far_ones_apart(points: np.ndarray) -> None:
    labels = grid_clusters(points, cell_m=0.15)
    apart = cdist(points, points)
    together = labels[:, None] == labels[None, :]
    assert together[apart <= 0.15].all()
    assert reachable(points, 2 * np.sqrt(3) * 0.15) <= labels.max() + 1 <= reachable(points, 0.15)
    assert labels[0] == 0
    assert (np.maximum.accumulate(labels) >= labels).all()  # numbered by first point


@given(POINTS)
def test_the_sparse_way_says_the_same(points: np.ndarray) -> None:
    cells = np.floor(points / 0.2).astype(np.int64)
    dense = grid_clusters((cells + 0.5) * 1.0, cell_m=1.0)
    assert same_parts(dense, clusters._sparse_clusters(cells - cells.min(axis=0)))


def test_points_kilometres_apart_cost_no_memory() -> None:
    points = np.array([[0.0, 0, 0], [0.01, 0, 0], [1e4, 1e4, 1e4]])
    assert grid_clusters(points, cell_m=0.05).tolist() == [0, 0, 1]


def test_empty() -> None:
    assert grid_clusters(np.zeros((0, 3)), cell_m=0.05).shape == (0,)
