"""A look about two objects says of these what a look at everything says."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from spacecast.scene import Move, Scene
from spacecast.sight import Look, Sight

from .small import FURNITURE, PLAIN, small_scan, standing

DESK, CHAIR = 0, 3
CAMERAS = (standing(-1.5, -1.7, 1.6, (0.4, 0.8, 0.4)), standing(1.6, -1.0, 0.5, (0.0, 0.6, 0.4)))


@pytest.fixture(scope="module")
def scene() -> Scene:
    return Scene.from_scan(small_scan(FURNITURE))


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("camera", CAMERAS)
def test_masks_and_numbers_agree_with_the_look_at_everything(scene: Scene, camera: object, moved: bool) -> None:
    state = scene.apply(Move(DESK, "west", 0.5), check=False) if moved else scene
    whole = Sight(state).look(camera, threads=1)
    ids = [i for i, item in state.objects.items() if not item.is_structure]
    compared = 0
    for pair in combinations(ids, 2):
        part = Sight(state).look(camera, about=pair, threads=1)
        for i in pair:
            one, other = whole.masks(i), part.masks(i)
            for name in ("silhouette", "visible", "blocked", "opened"):
                ours, theirs = np.zeros_like(whole.mask(i)), np.zeros_like(whole.mask(i))
                ours[one.window.slices] = getattr(one, name)
                theirs[other.window.slices] = getattr(other, name)
                # Two casts of one ray may differ where it grazes an edge: one hierarchy here, many there.
                assert (ours != theirs).sum() <= 2
            seen, again = whole.visibility(i), part.visibility(i)
            assert again.silhouette_px == pytest.approx(seen.silhouette_px, abs=2)
            assert again.truncation == pytest.approx(seen.truncation, abs=1e-3)
            assert again.holes_share == pytest.approx(seen.holes_share, abs=1e-2)
            compared += seen.silhouette_px > 400
            first = np.where(one.blocked, one.first, -9)
            assert set(np.unique(first)) - {-9} == set(part.blockers(i))
    assert compared > 10


def test_only_what_it_is_about_can_be_asked(scene: Scene) -> None:
    look = Sight(scene).look(PLAIN, about=(DESK, CHAIR), threads=1)
    with pytest.raises(ValueError, match="about"):
        look.masks(7)
    with pytest.raises(ValueError, match="about"):
        look.visible_ids()


def test_a_look_at_everything_that_is_kept_serves_for_two(scene: Scene) -> None:
    sight = Sight(scene)
    whole = sight.look(PLAIN, threads=1)
    assert sight.look(PLAIN, about=(DESK, CHAIR), threads=1) is whole
    assert isinstance(whole, Look)
