from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import lsq_linear
from scipy.spatial.distance import cdist

from spacecast.frames import Transform
from spacecast.geometry.boxes import box_mesh
from spacecast.geometry.distance import SETTINGS, SurfaceIndex, surface_distance_m, triangle_separations
from spacecast.testing import MeshCase, small_meshes, transforms

TRIANGLE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
NO_FACES = np.zeros((0, 3), dtype=np.int32)


def triangles_of(mesh: MeshCase) -> np.ndarray:
    return mesh.vertices[mesh.faces] if len(mesh.faces) else np.repeat(mesh.vertices[:, None], 3, axis=1)


def distance_by_optimisation(one: np.ndarray, other: np.ndarray) -> float:
    """A second way: the two points as weights of corners, the squared distance minimised within bounds.

    With u = 1 - s, (s, t) of a triangle lie in a square where t counts as a share of the rest: not linear. So the
    weights stay free, at least 0, and a heavy row makes each three add up to 1.
    """
    heavy = 1e4
    matrix = np.zeros((5, 6))
    matrix[:3, :3], matrix[:3, 3:] = one.T, -other.T
    matrix[3, :3] = matrix[4, 3:] = heavy
    found = lsq_linear(matrix, [0.0, 0.0, 0.0, heavy, heavy], (0.0, np.inf), method="bvls", tol=1e-14)
    weights_a, weights_b = found.x[:3] / found.x[:3].sum(), found.x[3:] / found.x[3:].sum()
    return float(np.linalg.norm(weights_a @ one - weights_b @ other))


def distance_by_brute_force(one: MeshCase, other: MeshCase) -> float:
    return min(distance_by_optimisation(a, b) for a in triangles_of(one) for b in triangles_of(other))


def grid(size_m: float, cells: int, *, noise_m: float = 0.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A square sheet in the plane z = 0, its middle at the origin."""
    line = np.linspace(-size_m / 2, size_m / 2, cells + 1)
    vertices = np.stack([*np.meshgrid(line, line, indexing="ij"), np.zeros((cells + 1, cells + 1))], axis=-1)
    numbers = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    corners = [numbers[:-1, :-1], numbers[1:, :-1], numbers[1:, 1:], numbers[:-1, 1:]]
    a, b, c, d = (corner.reshape(-1) for corner in corners)
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    noise = np.random.default_rng(seed).normal(0.0, noise_m, (vertices.size // 3, 3)) if noise_m else 0.0
    return vertices.reshape(-1, 3) + noise, faces


# --- pairs of triangles ----------------------------------------------------------------------------------------------

BY_HAND = {
    "corner over the face": ([[0.2, 0.2, 0.5], [0.3, 0.2, 2.0], [0.2, 0.3, 2.0]], 0.5),
    "corner beside an edge": ([[0.5, -2.0, 0.0], [0.5, -3.0, 0.0], [0.6, -3.0, 0.0]], 2.0),
    "corner off a corner": ([[4.0, -4.0, 0.0], [5.0, -5.0, 0.0], [5.0, -6.0, 0.0]], 5.0),
    "edge over the long edge": ([[0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.5, 0.5, 3.0]], 1.0),
    "edge across an edge outside": ([[0.5, -0.5, -1.0], [0.5, -0.5, 1.0], [0.5, -3.0, 0.0]], 0.5),
    "parallel faces": (TRIANGLE + np.array([0.0, 0.0, 0.25]), 0.25),
    "parallel edges in a plane": ([[0.0, -0.75, 0.0], [1.0, -0.75, 0.0], [0.0, -2.0, 0.0]], 0.75),
    "the same": (TRIANGLE, 0.0),
    "one corner in common": ([[0.0, 0.0, 0.0], [-1.0, 0.0, 1.0], [0.0, -1.0, 1.0]], 0.0),
    "an edge goes through": ([[0.2, 0.2, -1.0], [0.2, 0.2, 1.0], [9.0, 9.0, 0.5]], 0.0),
    "its edge is gone through": ([[0.5, 0.5, -1.0], [2.0, 2.0, 1.0], [-1.0, -1.0, 1.0]], 0.0),
    "crosses in the plane": ([[0.2, -1.0, 0.0], [0.3, 3.0, 0.0], [0.25, 3.0, 0.0]], 0.0),
    "inside, in the plane": ([[0.2, 0.2, 0.0], [0.3, 0.2, 0.0], [0.2, 0.3, 0.0]], 0.0),
    "around, in the plane": ([[-5.0, -5.0, 0.0], [9.0, -5.0, 0.0], [-5.0, 9.0, 0.0]], 0.0),
    "a point over the face": ([[0.2, 0.2, 0.5]] * 3, 0.5),
    "a point on the face": ([[0.2, 0.2, 0.0]] * 3, 0.0),
    "a point off the plane and the edge": ([[0.5, -3.0, 4.0]] * 3, 5.0),
    "a segment through the face": ([[0.2, 0.2, -1.0], [0.2, 0.2, 1.0], [0.2, 0.2, 0.0]], 0.0),
    "a segment beside": ([[0.5, -1.0, -1.0], [0.5, -1.0, 1.0], [0.5, -1.0, 0.0]], 1.0),
    "a needle over the face": ([[0.2, 0.2, 0.5], [0.2, 0.2, 5.0], [0.2 + 1e-13, 0.2, 5.0]], 0.5),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_triangles_by_hand(name: str) -> None:
    other, expected = np.array(BY_HAND[name][0]), BY_HAND[name][1]
    for one, two in ((TRIANGLE, other), (other, TRIANGLE)):
        for k in range(3):  # whichever corner comes first
            apart = triangle_separations(np.roll(one, k, axis=0)[None], two[None])
            assert np.linalg.norm(apart[0]) == pytest.approx(expected, abs=1e-9)
    assert distance_by_optimisation(TRIANGLE, other) == pytest.approx(expected, abs=1e-5)


def test_many_pairs_at_once_are_the_same_as_one_at_a_time() -> None:
    rng = np.random.default_rng(1)
    one, other = rng.normal(size=(300, 3, 3)), rng.normal(size=(300, 3, 3)) + rng.normal(size=(300, 1, 3)) * 0.7
    found = np.linalg.norm(triangle_separations(one, other), axis=1)
    expected = [distance_by_optimisation(a, b) for a, b in zip(one, other, strict=True)]
    assert found == pytest.approx(np.array(expected), abs=1e-5)
    assert (found == 0.0).sum() > 20  # both cases are there
    assert (found > 0.0).sum() > 20


def test_the_vector_joins_the_two() -> None:
    rng = np.random.default_rng(2)
    one, other = rng.normal(size=(100, 3, 3)), rng.normal(size=(100, 3, 3)) + np.array([5.0, 0.0, 0.0])
    apart = triangle_separations(one, other)
    apart *= np.sign(apart[:, :1])  # from one to the other: along +x
    length = np.linalg.norm(apart, axis=1)
    # Shifting one by the vector, less a hair, keeps them apart by the hair; by the whole, makes them meet.
    shifted = triangle_separations(one + (apart * (1.0 - 1e-3))[:, None], other)
    assert np.linalg.norm(shifted, axis=1) == pytest.approx(length * 1e-3, abs=1e-9)


# --- meshes ----------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=150)
@given(small_meshes(max_faces=6), small_meshes(max_faces=6), transforms("world", "object", within_m=4.0))
def test_meshes_against_brute_force(one: MeshCase, other: MeshCase, world_from_other: Transform) -> None:
    moved = MeshCase(world_from_other @ other.vertices, other.faces)
    expected = distance_by_brute_force(one, moved)
    a, b = SurfaceIndex(*one), SurfaceIndex(*other)
    assert a.distance_m(b, world_from_other=world_from_other) == pytest.approx(expected, abs=1e-4)
    assert b.distance_m(a, world_from_self=world_from_other) == pytest.approx(expected, abs=1e-4)
    assert surface_distance_m(*one, *moved) == pytest.approx(expected, abs=1e-4)


@settings(deadline=None)
@given(small_meshes(with_faces=False), small_meshes(with_faces=False), transforms("world", "object"))
def test_points_without_faces(one: MeshCase, other: MeshCase, world_from_other: Transform) -> None:
    moved = world_from_other @ other.vertices
    expected = cdist(one.vertices, moved).min()
    assert surface_distance_m(*one, moved, NO_FACES) == pytest.approx(expected, abs=2 * SETTINGS.resolution_m)


@settings(deadline=None)
@given(small_meshes(), small_meshes(), transforms("world", "object"))
def test_moving_both_changes_nothing(one: MeshCase, other: MeshCase, place: Transform) -> None:
    a, b = SurfaceIndex(*one), SurfaceIndex(*other)
    still, moved = a.distance_m(b), a.distance_m(b, world_from_self=place, world_from_other=place)
    assert moved == pytest.approx(still, abs=2 * SETTINGS.resolution_m)


@pytest.mark.parametrize("seed", range(6))
def test_larger_meshes_against_every_pair_of_triangles(seed: int) -> None:
    """The search opens a few boxes; here every pair of triangles is compared instead."""
    rng = np.random.default_rng(seed)
    first, second = grid(1.0, 14, noise_m=0.01, seed=seed), grid(1.5, 9, noise_m=0.01, seed=seed + 100)
    axis = rng.normal(size=3)
    camera = Transform.looking_at(rng.uniform(-0.2, 0.2, 3) + np.array([0.0, 0.0, max(0.0, seed - 2.0)]), axis)
    moved = camera @ second[0]
    index_a, index_b = SurfaceIndex(*first), SurfaceIndex(*second)
    assert index_a.leaves.shape[0] > 1
    one = np.repeat(first[0][first[1]], len(second[1]), axis=0)
    other = np.tile(moved[second[1]], (len(first[1]), 1, 1))
    expected = np.linalg.norm(triangle_separations(one, other), axis=1).min()
    assert (expected > 0.0) == (seed > 2)  # both crossing and apart
    found = index_a.distance_m(index_b, world_from_other=camera)
    assert found == pytest.approx(expected, abs=2 * SETTINGS.resolution_m)


def test_a_cube_over_the_middle_of_a_large_face() -> None:
    # No vertex is near: the distance of vertices would be wrong by far.
    table = box_mesh([0.0, 0.0, 0.0], [4.0, 4.0, 0.1])
    cup = box_mesh([0.0, 0.0, 0.4], [0.1, 0.1, 0.1])
    assert cdist(table[0], cup[0]).min() > 2.0
    assert surface_distance_m(*table, *cup) == pytest.approx(0.3, abs=1e-6)


@pytest.mark.parametrize("gap_m", [0.0, 0.01, 1.0, 4.0])
def test_sheets_that_face_each_other(gap_m: float) -> None:
    vertices, faces = grid(2.0, 40)
    turn = Transform.from_yaw_deg(33.0, target="w", source="w")
    other = vertices + np.array([0.01, 0.3, gap_m])
    found = surface_distance_m(turn @ vertices, faces, turn @ other, faces)
    assert found == pytest.approx(gap_m, abs=2 * SETTINGS.resolution_m)


def test_crossing_meshes_meet() -> None:
    one, other = box_mesh([0, 0, 0], [1, 1, 1]), box_mesh([0.9, 0.2, 0.1], [1, 1, 1])
    assert surface_distance_m(*one, *other) == 0.0
    bar = box_mesh([0, 0, 0], [5.0, 0.1, 0.1])  # no corner of one in the other
    assert surface_distance_m(*one, *bar) == 0.0


def test_a_box_in_a_box_is_as_far_as_its_surface() -> None:
    assert surface_distance_m(*box_mesh([0, 0, 0], [4, 4, 4]), *box_mesh([0.5, 0, 0], [1, 1, 1])) == pytest.approx(1.0)


def test_vertices_that_no_face_uses_do_not_count_where_there_are_faces() -> None:
    vertices = np.concatenate([TRIANGLE, [[0.2, 0.2, 9.0]]])
    point = [[0.2, 0.2, 10.0]]
    assert surface_distance_m(vertices, [[0, 1, 2]], point, NO_FACES) == pytest.approx(10.0)
    assert surface_distance_m(vertices, NO_FACES, point, NO_FACES) == pytest.approx(1.0)


def test_an_index_holds_every_triangle() -> None:
    vertices, faces = grid(1.0, 13, noise_m=0.1)
    index = SurfaceIndex(vertices, faces)
    found = {tuple(sorted(map(tuple, triangle))) for triangle in index.vertices[index.leaves.reshape(-1, 3)].tolist()}
    assert found == {tuple(sorted(map(tuple, triangle))) for triangle in vertices[faces].tolist()}
    with pytest.raises(ValueError, match="read-only"):
        index.vertices[0, 0] = 1.0


@pytest.mark.parametrize(
    "vertices, faces, message",
    [
        (np.zeros((0, 3)), NO_FACES, "at least one vertex"),
        (TRIANGLE, [[0, 1, 3]], "not there"),
        (TRIANGLE, [[0, 1, -1]], "not there"),
        (TRIANGLE * np.nan, [[0, 1, 2]], "finite"),
    ],
)
def test_what_is_no_mesh_is_refused(vertices, faces, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SurfaceIndex(vertices, faces)
