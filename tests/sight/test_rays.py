import numpy as np
import pytest

from spacecast.sight import RayScene
from spacecast.sight.rays import _BUILT, SETTINGS

TRIANGLE = RayScene([[0.0, 0.0, 2.0], [1.0, 0.0, 2.0], [0.0, 1.0, 2.0]], [[0, 1, 2]])


@pytest.mark.parametrize("threads", [0, 1])
def test_a_ray_hits_at_a_distance_counted_in_its_own_length(threads: int) -> None:
    hits = TRIANGLE.cast([0.25, 0.5, 0.0], [[0.0, 0.0, 1.0], [0.0, 0.0, 4.0], [0.0, 0.0, -1.0]], threads=threads)
    assert hits.t.tolist() == pytest.approx([2.0, 0.5, np.inf])
    assert hits.face.tolist() == [0, 0, -1]
    assert hits.uv[0].tolist() == pytest.approx([0.25, 0.5])


def test_the_nearest_of_two_faces_is_hit_from_either_side() -> None:
    pair = RayScene([[0, 0, 2], [1, 0, 2], [0, 1, 2], [0, 0, 5], [1, 0, 5], [0, 1, 5]], [[0, 1, 2], [3, 5, 4]])
    hits = pair.cast([[0.2, 0.2, 0.0], [0.2, 0.2, 9.0], [0.2, 0.2, 3.0]], [[0, 0, 1], [0, 0, -1], [0, 0, 1]])
    assert hits.face.tolist() == [0, 1, 1]
    assert hits.t.tolist() == pytest.approx([2.0, 4.0, 2.0])


def test_a_mesh_without_faces_is_never_hit() -> None:
    hits = RayScene(np.zeros((0, 3)), np.zeros((0, 3))).cast(np.zeros((2, 3, 3)), [0.0, 0.0, 1.0])
    assert hits.t.shape == hits.face.shape == (2, 3)
    assert np.isinf(hits.t).all()
    assert (hits.face == -1).all()


def test_no_rays_give_no_hits() -> None:
    assert TRIANGLE.cast(np.zeros((0, 3)), np.zeros((0, 3))).t.shape == (0,)


def test_a_process_may_hold_more_meshes_than_hierarchies() -> None:
    """open3d ends the process where more than some thousand of them live at once."""
    meshes = [RayScene([[0, 0, n], [1, 0, n], [0, 1, n]], [[0, 1, 2]]) for n in range(1, 1301)]
    for turn in range(2):  # the second time those of the first that were dropped are built anew
        for n in range(0, 1300, 1 if turn == 0 else 50):
            assert meshes[n].cast([[0.2, 0.2, 0.0]], [0.0, 0.0, 1.0], threads=1).t[0] == pytest.approx(n + 1)
    assert len(_BUILT) == SETTINGS.max_hierarchies
    alive = len(_BUILT)
    del meshes
    assert len(_BUILT) < alive - 500 + 1
