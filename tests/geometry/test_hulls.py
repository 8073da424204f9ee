from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spacecast.frames import Transform
from spacecast.geometry.boxes import box_mesh
from spacecast.geometry.hulls import footprints_overlap_m2, plan_hull
from spacecast.testing import BoxCase, boxes

clouds = hnp.arrays(np.float64, st.tuples(st.integers(0, 20), st.just(2)), elements=st.integers(-9, 9).map(float))


def square(x: float = 0.0, y: float = 0.0, side: float = 1.0):
    return plan_hull([[x, y], [x + side, y], [x + side, y + side], [x, y + side]])


@pytest.mark.parametrize(
    "points, kind, area",
    [
        ([[0, 0], [2, 0], [2, 1], [0, 1], [1, 0.5]], "Polygon", 2.0),
        ([[0, 0, 5], [2, 0, 6], [0, 1, 7]], "Polygon", 1.0),
        ([[0, 0], [1, 1], [3, 3]], "LineString", 0.0),
        ([[0, 0], [1, 1]], "LineString", 0.0),
        ([[1, 1], [1, 1]], "Point", 0.0),
        ([[1, 1]], "Point", 0.0),
    ],
)
def test_hulls_of_any_dimension(points: list, kind: str, area: float) -> None:
    hull = plan_hull(points)
    assert hull.geom_type == kind
    assert hull.area == pytest.approx(area)


def test_nothing_has_an_empty_hull() -> None:
    empty = plan_hull(np.zeros((0, 3)))
    assert empty.is_empty
    assert footprints_overlap_m2(empty, square()) == 0.0


@pytest.mark.parametrize("wrong", [np.zeros(2), np.zeros((2, 4)), np.zeros((2, 2, 2))])
def test_other_shapes_are_refused(wrong: np.ndarray) -> None:
    with pytest.raises(ValueError, match="expected points"):
        plan_hull(wrong)


@pytest.mark.parametrize(
    "other, area",
    [
        (square(), 1.0),
        (square(0.5), 0.5),
        (square(0.25, 0.25, 0.5), 0.25),
        (square(1.0), 0.0),  # shares an edge
        (square(1.0, 1.0), 0.0),  # shares a corner
        (square(3.0), 0.0),
        (square(-1.0, -1.0, 3.0), 1.0),
        (plan_hull([[-1, 0.5], [2, 0.5]]), 0.0),  # a line through it
        (plan_hull([[0.5, 0.5]]), 0.0),
    ],
)
def test_overlap_with_the_unit_square(other, area: float) -> None:
    assert footprints_overlap_m2(square(), other) == pytest.approx(area)
    assert footprints_overlap_m2(other, square()) == pytest.approx(area)


@given(clouds, clouds)
def test_overlap_is_symmetric_and_at_most_either_area(one: np.ndarray, other: np.ndarray) -> None:
    a, b = plan_hull(one), plan_hull(other)
    shared = footprints_overlap_m2(a, b)
    assert shared == pytest.approx(footprints_overlap_m2(b, a))
    assert 0.0 <= shared <= min(a.area, b.area) + 1e-9
    assert footprints_overlap_m2(a, a) == pytest.approx(a.area)


@given(boxes(), boxes(), st.integers(0, 2**32 - 1))
def test_overlap_agrees_with_counting_points(one: BoxCase, other: BoxCase, seed: int) -> None:
    """A second way: the share of random points of one box's plan that lie in the other's."""
    near = other._replace(center=one.center + (other.center - one.center) * 0.1)
    hulls = [plan_hull(box_mesh(*box)[0]) for box in (one, near)]
    local = np.random.default_rng(seed).uniform(-0.5, 0.5, (4000, 3)) * one.size
    in_near = ((local @ one.rotation.T + one.center - near.center) @ near.rotation)[:, :2]
    share = (np.abs(in_near) <= near.size[:2] / 2).all(axis=1).mean()
    assert footprints_overlap_m2(*hulls) / hulls[0].area == pytest.approx(share, abs=0.05)


@given(boxes(), st.sampled_from([90.0, 180.0, 37.0]))
def test_areas_stay_under_turns(box: BoxCase, yaw_deg: float) -> None:
    corners = box_mesh(*box)[0]
    turned = Transform.from_yaw_deg(yaw_deg, target="w", source="w") @ corners
    assert plan_hull(turned).area == pytest.approx(plan_hull(corners).area)
    assert plan_hull(corners).area == pytest.approx(box.size[0] * box.size[1])
