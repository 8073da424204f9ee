"""Colour and depth pictures: the size from the head of a file, and decoding that fails in one line."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from spacecast.errors import InputError


@dataclass(frozen=True)
class PictureSettings:
    """What counts as a picture of a scan."""

    max_side_px: int = 32768
    """A longer side is a broken header, not a picture (own; ScanNet colour is 1296 wide, DSLR pictures 8000)."""
    max_area_px: int = 64_000_000
    """More pixels are a broken header, not a picture (own)."""
    head_bytes: int = 4096
    """Bytes of an encoded picture that hold its size, unless it carries long metadata (own)."""


SETTINGS = PictureSettings()

_ENDS = {"JPEG": b"\xff\xd9", "PNG": b"IEND"}


class PictureError(InputError):
    """A picture that cannot be decoded; costs its frame."""


def picture_size(data: bytes, what: str) -> tuple[int, int]:
    """(width, height) in pixels from the first bytes of an encoded picture.

    Raises:
        PictureError: not the head of a picture, or of one beyond the bounds of :data:`SETTINGS`.
    """
    width, height = _open(data, what).size
    return width, height


def is_cut(tail: bytes, data_format: str | None) -> bool:
    """True if the last bytes of a JPEG or PNG file lack its end mark."""
    end = _ENDS.get(data_format or "")
    return end is not None and end not in tail


def picture_format(data: bytes) -> str | None:
    """``JPEG`` or ``PNG`` by the first bytes, or None."""
    if data.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    return "PNG" if data.startswith(b"\x89PNG\r\n\x1a\n") else None


def decode_color(data: bytes, what: str, *, shrink: int = 1) -> NDArray[np.uint8]:
    """(H, W, 3) uint8 of an encoded picture.

    Args:
        data: a JPEG or PNG file.
        what: names it in errors.
        shrink: 2, 4 or 8 gives a JPEG at that part of its size, in less time; all of its data is read.

    Raises:
        PictureError: the picture cannot be decoded.
    """
    image = _open(data, what)
    try:
        if shrink > 1:
            image.draft("RGB", (image.size[0] // shrink, image.size[1] // shrink))
        return np.array(image.convert("RGB"), dtype=np.uint8)
    except Exception as error:  # a decoder fed with broken bytes raises nearly anything
        raise PictureError(f"{what}: picture cannot be decoded ({_reason(error)})") from None


def decode_depth(data: bytes, what: str, *, units_per_m: float = 1000.0) -> NDArray[np.float32]:
    """(h, w) float32 metres of a 16-bit PNG, 0 where unknown.

    Raises:
        PictureError: the picture cannot be decoded, or has no 16 bits of depth.
    """
    image = _open(data, what)
    if not image.mode.startswith("I"):
        raise PictureError(f"{what}: expected a picture of 16-bit depth, found mode {image.mode}")
    try:
        array = np.array(image, dtype=np.float32)
    except Exception as error:  # as above
        raise PictureError(f"{what}: depth cannot be decoded ({_reason(error)})") from None
    return array / np.float32(units_per_m)


def encode_color(color: NDArray[np.uint8], data_format: str, *, quality: int = 90) -> bytes:
    """(H, W, 3) uint8 as ``JPEG`` or ``PNG`` bytes."""
    buffer = io.BytesIO()
    Image.fromarray(color).save(buffer, format=data_format, quality=quality)
    return buffer.getvalue()


def _open(data: bytes, what: str) -> Image.Image:
    try:
        image = Image.open(io.BytesIO(data), formats=("JPEG", "PNG"))
    except Exception as error:  # as above
        raise PictureError(f"{what}: not a JPEG or PNG picture ({_reason(error)})") from None
    width, height = image.size
    if max(width, height) > SETTINGS.max_side_px or width * height > SETTINGS.max_area_px or min(width, height) < 1:
        raise PictureError(f"{what}: a picture of {width} x {height} px is not believable")
    return image


def _reason(error: Exception) -> str:
    text = str(error).splitlines()[0] if str(error) else ""
    return "unknown format" if "cannot identify" in text else text or type(error).__name__
