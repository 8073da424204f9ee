"""Lower surfaces and contact against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacecast.geometry.patches import hull_corners, hull_m2, lowest_per_cell, nearest_heights, plan_matches, within


def test_lowest_of_four_cells() -> None:
    # The box reaches from 0 to 1.9: cells of 1 about its middle, 0.95, where their border is.
    points = np.array(
        [[0, 0, 5], [0.5, 0.5, 1], [0.6, 0.4, 3], [1.5, 0.5, 2], [1.9, 1.9, 9], [1.5, 1.5, -1], [0.5, 1.5, 4]]
    )
    assert sorted(lowest_per_cell(points[:, :2], points[:, 2], cell_m=1.0).tolist()) == [1, 3, 5, 6]


def test_of_equally_low_points_the_middle_one() -> None:
    # One cell from -0.5 to 0.5 about the middle of the box, whose corners are the first two; two more lie beside it.
    plan = np.array([[-1.4, -1.4], [1.4, 1.4], [0.4, 0.1], [0.05, 0.0], [-0.3, 0.3]])
    for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 3, 4, 1]):
        found = lowest_per_cell(plan[order], np.zeros(5), cell_m=1.0)
        right = np.hypot(*(plan - 0.5).T)  # the cell from 0 to 1 holds 2 and 3; its middle is at (0.5, 0.5)
        assert right[2] < right[3]
        assert {order[i] for i in found.tolist()} == {0, 1, 2, 4}


@given(st.integers(0, 2**32 - 1), st.integers(1, 60))
def test_lowest_against_a_loop_in_any_order(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    plan, heights = rng.uniform(0, 0.3, (count, 2)), rng.uniform(0, 1, count)
    middle = (plan.min(axis=0) + plan.max(axis=0)) / 2
    best: dict[tuple[int, int], int] = {}
    for number in range(count):
        cell = tuple(np.floor((plan[number] - middle) / 0.04).astype(int).tolist())
        if cell not in best or heights[number] < heights[best[cell]]:
            best[cell] = number
    assert sorted(lowest_per_cell(plan, heights, cell_m=0.04).tolist()) == sorted(best.values())
    order = rng.permutation(count)
    again = order[lowest_per_cell(plan[order], heights[order], cell_m=0.04)]
    assert sorted(again.tolist()) == sorted(best.values())


@given(st.integers(0, 2**32 - 1), st.integers(0, 25), st.integers(0, 25))
def test_matches_against_a_loop(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    cells, faces = rng.uniform(0, 0.3, (n, 3)), rng.uniform(0, 0.3, (m, 3))
    matches = plan_matches(cells, faces, radius_m=0.06, below_m=0.1, above_m=0.05)
    found = set(zip(matches.cell.tolist(), matches.face.tolist(), strict=True))
    wanted = {
        (i, j)
        for i in range(n)
        for j in range(m)
        if np.hypot(*(cells[i] - faces[j])[:2]) <= 0.06 and -0.1 <= faces[j, 2] - cells[i, 2] <= 0.05
    }
    assert found == wanted
    assert np.allclose(matches.above_m, faces[matches.face, 2] - cells[matches.cell, 2])
    nearest = nearest_heights(matches, np.ones(len(matches.cell), dtype=bool), n)
    for i in range(n):
        heights = [faces[j, 2] - cells[i, 2] for k, j in wanted if k == i]
        assert np.isnan(nearest[i]) if not heights else nearest[i] == pytest.approx(min(heights, key=abs))


def test_hull_area() -> None:
    assert hull_m2([[0, 0], [2, 0], [2, 3], [0, 3], [1, 1]]) == pytest.approx(6.0)
    assert hull_m2([[0, 0], [1, 1], [2, 2]]) == 0.0
    assert hull_m2([[0, 0], [1, 1]]) == 0.0
    assert hull_m2(np.zeros((0, 2))) == 0.0
    # Widened by 0.5: sides of 2 and 3 grow by strips of 0.5 and four quarters of a disc.
    assert hull_m2([[0, 0], [2, 0], [2, 3], [0, 3]], margin_m=0.5) == pytest.approx(6 + 10 * 0.5 + np.pi * 0.25)
    assert hull_m2([[0, 0], [1, 0], [2, 0]], margin_m=0.5) == pytest.approx(2.0 + np.pi * 0.25)
    assert hull_m2([[7, 7]], margin_m=0.5) == pytest.approx(np.pi * 0.25)
    assert hull_m2([[7, 7], [7, 7], [7, 7]], margin_m=0.5) == pytest.approx(np.pi * 0.25)


def test_hull_corners() -> None:
    corners = hull_corners([[0, 0], [2, 0], [1, 0.5], [2, 3], [0, 3], [1, 1]])
    assert {tuple(c) for c in corners.tolist()} == {(0, 0), (2, 0), (2, 3), (0, 3)}
    assert {tuple(c) for c in hull_corners([[0, 0], [1, 1], [2, 2]]).tolist()} == {(0, 0), (2, 2)}
    assert hull_corners([[1, 2]]).tolist() == [[1, 2]]


def test_within() -> None:
    points = np.array([[0, 0, 0], [1, 2, 3], [1, 2, 3.1], [-0.1, 0, 0], [0.5, 2.1, 1], [0.5, 1, 1]])
    assert within(points, (0, 0, 0), (1, 2, 3)).tolist() == [True, True, False, False, False, True]
