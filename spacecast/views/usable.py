"""Whether a photo can be used: sharp enough, and neither too dark nor too bright. SEMANTICS section 7."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image


@dataclass(frozen=True)
class PhotoSettings:
    """Bounds of a usable photo."""

    shrink: int = 4
    """Sharpness is judged on the photo at one part in this many of its size, each axis; SEMANTICS section 7."""
    min_laplacian_variance: float = 50.0
    """Least variance of the Laplacian of the grey values (0 to 255) at quarter size; SEMANTICS section 7."""
    dark_level: float = 8.0
    """A grey value below this shows nothing (own)."""
    bright_level: float = 250.0
    """A grey value above this shows nothing (own)."""
    max_lost_share: float = 0.4
    """Largest share of the photo that may be darker or brighter than these (own)."""
    mean_level_range: tuple[float, float] = (30.0, 225.0)
    """A photo whose mean grey value is outside is under- or over-exposed (own)."""


SETTINGS = PhotoSettings()

_REC_601 = np.array([0.299, 0.587, 0.114])


def grey_at_quarter_size(photo: NDArray[np.uint8]) -> NDArray[np.float64]:
    """(h, w) grey values, 0 to 255, of a photo (H, W, 3), each the mean of a block of ``SETTINGS.shrink`` squared."""
    small = np.asarray(Image.fromarray(photo).reduce(SETTINGS.shrink), dtype=np.float64)
    return small[..., :3] @ _REC_601 if small.ndim == 3 else small


def laplacian_variance(grey: NDArray[np.float64]) -> float:
    """Variance of the four-neighbour Laplacian of grey values (h, w), border left out."""
    if min(grey.shape) < 3:
        return 0.0
    middle = grey[1:-1, 1:-1]
    around = grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:]
    return float(np.var(around - 4.0 * middle))


def photo_problem(photo: NDArray[np.uint8]) -> str | None:
    """Why a photo (H, W, 3) is not usable: ``under_exposed``, ``over_exposed`` or ``blurred``; None where it is."""
    grey = grey_at_quarter_size(photo)
    darkest, brightest = SETTINGS.mean_level_range
    mean = float(grey.mean())
    if mean < darkest or float((grey < SETTINGS.dark_level).mean()) > SETTINGS.max_lost_share:
        return "under_exposed"
    if mean > brightest or float((grey > SETTINGS.bright_level).mean()) > SETTINGS.max_lost_share:
        return "over_exposed"
    if laplacian_variance(grey) < SETTINGS.min_laplacian_variance:
        return "blurred"
    return None
