from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spacecast.frames import Transform
from spacecast.geometry.boxes import AxisBox, OrientedBox, axis_box, box_mesh, is_degenerate, oriented_box
from spacecast.testing import BoxCase, angles_deg, assert_points_close, boxes

clouds = hnp.arrays(np.float64, st.tuples(st.integers(1, 30), st.just(3)), elements=st.integers(-50, 50).map(float))


def corners_of(box: BoxCase) -> np.ndarray:
    return box_mesh(box.center, box.size, box.rotation)[0]


def plan_area_of_smallest_rectangle_by_search(points: np.ndarray) -> float:
    """A second way: every direction between two points, not the hull's edges alone, and a fan of others."""
    plan = np.unique(points[:, :2], axis=0)
    offsets = (plan[:, None] - plan[None]).reshape(-1, 2)
    angles = np.concatenate([np.arctan2(offsets[:, 1], offsets[:, 0]), np.linspace(0.0, np.pi, 181)])
    along = plan @ np.stack([np.cos(angles), np.sin(angles)])
    across = plan @ np.stack([-np.sin(angles), np.cos(angles)])
    return float((np.ptp(along, axis=0) * np.ptp(across, axis=0)).min())


# --- along the axes -------------------------------------------------------------------------------------------


@given(clouds)
def test_axis_box_is_min_and_max_unless_thin(points: np.ndarray) -> None:
    box = axis_box(points)
    for axis in range(3):
        low, high = points[:, axis].min(), points[:, axis].max()
        if low == high:
            assert (box.min[axis], box.max[axis]) == pytest.approx((low - 0.0005, low + 0.0005))
        else:
            assert (box.min[axis], box.max[axis]) == (low, high)
    assert_points_close(box.center, (box.min + box.max) / 2)
    assert_points_close(box.size, box.max - box.min)


def test_axis_box_of_float32_is_exact() -> None:
    points = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
    box = axis_box(points)
    assert (box.min.astype(np.float32) == points.min(axis=0)).all()
    assert (box.max.astype(np.float32) == points.max(axis=0)).all()


@pytest.mark.parametrize(
    "low, high, gap_m",
    [
        ((2, 0, 0), (3, 1, 1), 1.0),
        ((1, 0, 0), (2, 1, 1), 0.0),  # touch
        ((0.5, 0.5, 0.5), (2, 2, 2), 0.0),  # overlap
        ((0.2, 0.2, 0.2), (0.4, 0.4, 0.4), 0.0),  # inside
        ((4, 5, 0), (6, 6, 1), 5.0),  # 3 and 4 apart
        ((-2, 2, -3), (-1, 3, -2), np.sqrt(1 + 1 + 4)),
    ],
)
def test_gap_from_the_unit_cube(low: tuple, high: tuple, gap_m: float) -> None:
    cube, other = AxisBox(np.zeros(3), np.ones(3)), AxisBox(np.array(low), np.array(high))
    assert cube.gap_m(other) == pytest.approx(gap_m)
    assert other.gap_m(cube) == pytest.approx(gap_m)


def test_an_axis_box_that_is_inside_out_is_refused() -> None:
    with pytest.raises(ValueError, match="min is at most its max"):
        AxisBox(np.ones(3), np.zeros(3))
    with pytest.raises(ValueError, match="min is at most its max"):
        AxisBox(np.array([np.nan, 0, 0]), np.ones(3))


# --- oriented -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("yaw_deg", [-90.0, -60.0, -45.0, -10.0, 0.0, 30.0, 45.0, 60.0, 89.0])
def test_a_turned_box_by_hand(yaw_deg: float) -> None:
    turn = Transform.from_yaw_deg(yaw_deg, target="w", source="b")
    corners = turn.turn(box_mesh(np.zeros(3), [2.0, 1.0, 0.5])[0]) + np.array([3.0, 4.0, 0.25])
    box = oriented_box(corners)
    assert_points_close(box.center, [3.0, 4.0, 0.25])
    assert_points_close(box.size, [2.0, 1.0, 0.5])
    assert box.yaw_deg == pytest.approx(yaw_deg, abs=1e-9)


@given(boxes())
def test_the_box_of_a_box_is_the_box(given_box: BoxCase) -> None:
    corners = corners_of(given_box)
    box = oriented_box(corners)
    assert_points_close(box.center, given_box.center)
    longer_first = [*sorted(given_box.size[:2], reverse=True), given_box.size[2]]
    assert_points_close(box.size, longer_first)
    assert -90.0 <= box.yaw_deg < 90.0
    found = sorted(map(tuple, np.round(box.corners, 6) + 0.0))
    assert_points_close(found, sorted(map(tuple, np.round(corners, 6) + 0.0)), atol_m=1e-5)


@given(clouds)
def test_the_rectangle_holds_the_points_and_is_the_smallest(points: np.ndarray) -> None:
    box = oriented_box(points)
    local = (points - box.center) @ box.rotation
    assert (np.abs(local) <= box.size / 2 + 1e-9).all()
    sides = np.where(box.size[:2] > 0.001, box.size[:2], 0.0)
    assert sides[0] * sides[1] == pytest.approx(plan_area_of_smallest_rectangle_by_search(points), abs=1e-6)
    assert box.size[0] >= box.size[1] - 1e-9
    assert -90.0 <= box.yaw_deg < 90.0


@given(clouds, st.randoms(use_true_random=False))
def test_the_order_of_points_and_repeats_do_not_matter(points: np.ndarray, random) -> None:
    order = list(range(len(points)))
    random.shuffle(order)
    one, other = oriented_box(points), oriented_box(np.concatenate([points[order], points[order[:5]]]))
    assert (one.center == other.center).all()
    assert (one.size == other.size).all()
    assert one.yaw_deg == other.yaw_deg


@given(clouds, st.integers(1, 3))
def test_the_box_turns_with_the_points_by_quarter_turns(points: np.ndarray, quarters: int) -> None:
    turn = Transform.from_yaw_deg(90.0 * quarters, target="w", source="w")
    one, other = oriented_box(points), oriented_box(turn @ points)
    assert_points_close(other.center, turn @ one.center, atol_m=1e-6)
    assert_points_close(other.size, one.size, atol_m=1e-6)


@given(clouds, angles_deg())
def test_area_and_height_stay_under_any_turn(points: np.ndarray, yaw_deg: float) -> None:
    turn = Transform.from_yaw_deg(yaw_deg, target="w", source="w")
    one, other = oriented_box(points), oriented_box(turn @ points)
    # A needle may be turned by rounding: compare areas, not sides.
    assert other.size[0] * other.size[1] == pytest.approx(one.size[0] * one.size[1], rel=1e-6, abs=0.2 * 1e-3)
    assert other.size[2] == pytest.approx(one.size[2])


@pytest.mark.parametrize("yaw_deg", [0.0, 90.0, 180.0, -90.0])
def test_a_square_has_the_same_yaw_after_quarter_turns(yaw_deg: float) -> None:
    square = box_mesh([1.0, 2.0, 0.0], [1.0, 1.0, 1.0])[0]
    turned = Transform.from_yaw_deg(yaw_deg, target="w", source="w") @ square
    assert oriented_box(turned).yaw_deg == pytest.approx(0.0, abs=1e-9)


def test_corners_are_numbered_as_said() -> None:
    box = OrientedBox(np.array([1.0, 1.0, 1.0]), np.array([4.0, 2.0, 1.0]), -90.0)
    assert_points_close(box.corners[0], [0.0, 3.0, 0.5])  # lower ends: -x of the box is +y, -y of the box is -x
    assert_points_close(box.corners[1] - box.corners[0], [0.0, -4.0, 0.0])
    assert_points_close(box.corners[2] - box.corners[0], [2.0, 0.0, 0.0])
    assert_points_close(box.corners[4] - box.corners[0], [0.0, 0.0, 1.0])


# --- degenerate -----------------------------------------------------------------------------------------------

DEGENERATE = {
    "one point": [[1.0, 2.0, 3.0]],
    "one point, often": [[1.0, 2.0, 3.0]] * 9,
    "two points": [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]],
    "three points": [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0]],
    "on a line": [[t, 2 * t, -t] for t in np.linspace(0.0, 1.0, 20)],
    "upright line": [[1.0, 1.0, t] for t in np.linspace(0.0, 1.0, 20)],
    "lying plane": [[x, y, 0.5] for x in range(4) for y in range(4)],
    "upright plane": [[x, 0.7, z] for x in range(4) for z in range(4)],
    "turned upright plane": [[x, x, z] for x in range(4) for z in range(4)],
    "slanting plane": [[x, y, x + 0.3 * y] for x in range(4) for y in range(4)],
    "thinner than 1 mm": [[x, y, 0.0004 * ((x + y) % 2)] for x in range(4) for y in range(4)],
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_points_have_a_thin_box_and_a_flag(name: str) -> None:
    points = np.array(DEGENERATE[name])
    assert is_degenerate(points)
    upright, oriented = axis_box(points), oriented_box(points)
    for size in (upright.size, oriented.size):
        assert (size >= 0.001 - 1e-12).all()
    assert (points >= upright.min - 1e-12).all()
    assert (points <= upright.max + 1e-12).all()
    assert (np.abs((points - oriented.center) @ oriented.rotation) <= oriented.size / 2 + 1e-9).all()


@pytest.mark.parametrize(
    "name, size, yaw_deg",
    [
        ("one point", [0.001, 0.001, 0.001], 0.0),
        ("upright line", [0.001, 0.001, 1.0], 0.0),
        ("on a line", [np.sqrt(5.0), 0.001, 1.0], np.degrees(np.arctan(2.0))),
        ("upright plane", [3.0, 0.001, 3.0], 0.0),
        ("turned upright plane", [3.0 * np.sqrt(2.0), 0.001, 3.0], 45.0),
        ("lying plane", [3.0, 3.0, 0.001], 0.0),
    ],
)
def test_thin_boxes_by_hand(name: str, size: list, yaw_deg: float) -> None:
    box = oriented_box(DEGENERATE[name])
    assert_points_close(box.size, size)
    # A plane at 45 degrees is as well at -45: a half turn less a quarter. Only the axis counts.
    assert np.mod(box.yaw_deg - yaw_deg, 180.0) == pytest.approx(0.0, abs=1e-6)


@given(boxes(upright=False))
def test_boxes_of_2_cm_are_not_degenerate(given_box: BoxCase) -> None:
    assert not is_degenerate(corners_of(given_box))


@given(boxes(upright=False), st.integers(0, 2))
def test_flat_boxes_are_degenerate_any_way_they_lie(given_box: BoxCase, axis: int) -> None:
    size = given_box.size.copy()
    size[axis] = 0.0005
    assert is_degenerate(box_mesh(given_box.center, size, given_box.rotation)[0])


def test_a_picture_with_millimetre_noise_is_an_object() -> None:
    rng = np.random.default_rng(0)
    picture = np.column_stack([rng.uniform(0, 1, 400), rng.normal(0, 0.002, 400), rng.uniform(0, 1, 400)])
    assert not is_degenerate(picture)


@pytest.mark.parametrize("function", [axis_box, oriented_box])
def test_no_box_without_finite_points(function) -> None:
    for wrong in (np.zeros((0, 3)), np.zeros(3), np.zeros((4, 2))):
        with pytest.raises(ValueError, match="expected points"):
            function(wrong)
    with pytest.raises(ValueError, match="finite"):
        function([[0.0, np.nan, 0.0]])


# --- meshes ---------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(boxes(upright=False))
def test_the_mesh_of_a_box_is_closed_and_faces_outward(given_box: BoxCase) -> None:
    vertices, faces = box_mesh(given_box.center, given_box.size, given_box.rotation)
    triangles = vertices[faces]
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    # The divergence theorem gives volume and surface by another way than sides.
    volume = np.einsum("ij,ij->", triangles[:, 0] - given_box.center, normals) / 6.0
    assert volume == pytest.approx(np.prod(given_box.size))
    x, y, z = given_box.size
    assert np.linalg.norm(normals, axis=1).sum() / 2.0 == pytest.approx(2.0 * (x * y + y * z + z * x))
    edges = [tuple(face[[i, (i + 1) % 3]]) for face in faces for i in range(3)]
    assert len(set(edges)) == 36  # each edge once in each of its directions
    assert {(b, a) for a, b in edges} == set(edges)
