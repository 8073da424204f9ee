"""Samples of faces against areas and places known by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacecast.geometry.boxes import box_mesh
from spacecast.geometry.sampling import sample_faces

SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
HALVES = np.array([[0, 1, 2], [0, 2, 3]])


def test_square() -> None:
    samples = sample_faces(SQUARE, HALVES, spacing_m=0.02)
    assert samples.areas.sum() == pytest.approx(1.0)
    assert (samples.areas <= 0.02**2 * 1.6).all()  # a part may be a quarter of the spacing larger, by each side
    assert np.allclose(samples.normals, (0, 0, 1))
    assert np.average(samples.points, axis=0, weights=samples.areas) == pytest.approx((0.5, 0.5, 0.0))
    # Nowhere in the square is the next sample further than the side of the largest part.
    grid = np.stack(np.meshgrid(np.linspace(0, 1, 41), np.linspace(0, 1, 41)), axis=-1).reshape(-1, 2)
    far = np.linalg.norm(grid[:, None] - samples.points[None, :, :2], axis=2).min(axis=1)
    assert far.max() <= 0.02 * 1.25


def test_one_small_face_is_its_centre() -> None:
    samples = sample_faces([[0, 0, 0], [0.02, 0, 0], [0, 0.02, 0]], [[0, 1, 2]], spacing_m=0.02)
    assert np.allclose(samples.points, [[0.02 / 3, 0.02 / 3, 0]])
    assert np.allclose(samples.areas, [0.0002])


def test_a_sliver_is_cut_along_its_length() -> None:
    samples = sample_faces([[0, 0, 0], [1, 0, 0], [1, 0.001, 0]], [[0, 1, 2]], spacing_m=0.02)
    assert np.diff(np.unique(np.round(samples.points[:, 0], 6))).max() <= 0.05
    assert samples.areas.sum() == pytest.approx(0.0005)


def test_degenerate_faces_have_no_normal_and_no_area() -> None:
    samples = sample_faces(SQUARE, [[0, 1, 1], [0, 0, 0]], spacing_m=0.5)
    assert (samples.areas == 0).all()
    assert (samples.normals == 0).all()
    assert np.isfinite(samples.points).all()


def test_no_faces() -> None:
    samples = sample_faces(SQUARE, np.zeros((0, 3)), spacing_m=0.02)
    assert samples.points.shape == (0, 3)
    assert samples.normals.shape == (0, 3)


@given(st.permutations(range(12)), st.integers(0, 2**32 - 1))
def test_order_of_faces_and_vertices_does_not_matter(order: list[int], seed: int) -> None:
    vertices, faces = box_mesh((0.1, 0.2, 0.3), (0.3, 0.2, 0.1))
    names = np.random.default_rng(seed).permutation(8)
    place = np.argsort(names)
    one = sample_faces(vertices, faces, spacing_m=0.03)
    other = sample_faces(vertices[names], place[faces[order]], spacing_m=0.03)
    keys = [np.round(np.column_stack([s.points, s.areas, s.normals]), 9) + 0.0 for s in (one, other)]
    keys = [rows[np.lexsort(rows.T)] for rows in keys]
    assert np.allclose(keys[0], keys[1])


def test_all_samples_of_a_box_look_outward() -> None:
    samples = sample_faces(*box_mesh((1, 2, 3), (0.4, 0.6, 0.8)), spacing_m=0.05)
    outward = np.einsum("ij,ij->i", samples.points - (1, 2, 3), samples.normals)
    assert (outward >= 0.2 - 1e-9).all()
    assert samples.areas.sum() == pytest.approx(2 * (0.24 + 0.32 + 0.48))
