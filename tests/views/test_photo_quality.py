"""Which photos are usable."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageFilter

from spacecast.views.usable import grey_at_quarter_size, laplacian_variance, photo_problem


def textured(low: int = 60, high: int = 190) -> np.ndarray:
    """Squares of 16 pixels, light and dark by chance."""
    small = np.random.default_rng(0).integers(low, high, (30, 40), dtype=np.uint8)
    return np.repeat(np.kron(small, np.ones((16, 16), dtype=np.uint8))[..., None], 3, axis=2)


def test_a_sharp_photo_is_usable() -> None:
    assert photo_problem(textured()) is None


def test_the_same_photo_out_of_focus_is_blurred() -> None:
    soft = np.asarray(Image.fromarray(textured()).filter(ImageFilter.GaussianBlur(40)))
    assert photo_problem(soft) == "blurred"


@pytest.mark.parametrize(
    ("photo", "problem"),
    [
        (textured(0, 12), "under_exposed"),
        (textured(246, 256), "over_exposed"),
        (np.zeros((480, 640, 3), np.uint8), "under_exposed"),
        (np.full((480, 640, 3), 255, np.uint8), "over_exposed"),
        (np.full((480, 640, 3), 128, np.uint8), "blurred"),
    ],
)
def test_photos_that_show_nothing(photo: np.ndarray, problem: str) -> None:
    assert photo_problem(photo) == problem


def test_a_photo_half_of_which_is_burnt_out_is_over_exposed() -> None:
    photo = textured()
    photo[:240] = 255
    assert photo_problem(photo) == "over_exposed"


def test_the_laplacian_by_hand() -> None:
    grey = np.zeros((3, 4))
    grey[1, 1] = 8.0  # inside the border there are two pixels: -4 * 8, and its neighbour, 8
    assert laplacian_variance(grey) == np.var([-32.0, 8.0])
    assert laplacian_variance(np.zeros((2, 9))) == 0.0


def test_quarter_size_is_the_mean_of_blocks() -> None:
    photo = np.zeros((8, 8, 3), np.uint8)
    photo[:4, :4] = (100, 50, 200)
    grey = grey_at_quarter_size(photo)
    assert grey.shape == (2, 2)
    assert grey[0, 0] == pytest.approx(0.299 * 100 + 0.587 * 50 + 0.114 * 200)
    assert grey[1, 1] == 0.0
