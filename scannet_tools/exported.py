"""Frames exported to files: ``color/<i>.jpg``, ``depth/<i>.png``, ``pose/<i>.txt``, ``intrinsic/*.txt``.

Also the naming of ``scannet_frames_25k`` (``%06d``, and ``intrinsics_color.txt`` beside the folders).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scannet_tools.pictures import SETTINGS as PICTURE_SETTINGS
from scannet_tools.pictures import PictureError, decode_color, decode_depth, is_cut, picture_format, picture_size
from scannet_tools.raw_files import files_in, read_whole
from spacecast.errors import InputError
from spacecast.scan import by_number

_MAX_MATRIX_BYTES = 1 << 16
_TAIL_BYTES = 1024  # some cameras pad a picture after its end mark
_COLOR_SUFFIXES = (".jpg", ".jpeg", ".png")


class ExportedFrame(NamedTuple):
    """One frame by its files; None where a file is not there. Small and picklable; nothing is loaded."""

    name: str
    color: Path | None
    depth: Path | None
    pose: Path | None

    def encoded_color(self) -> bytes:
        """The colour file's bytes.

        Raises:
            InputError: the file cannot be read.
        """
        return read_bytes(self.color)

    def load_color(self) -> NDArray[np.uint8]:
        """(H, W, 3) uint8.

        Raises:
            InputError: the file cannot be read or decoded.
        """
        return decode_color(read_bytes(self.color), str(self.color))

    def load_depth(self) -> NDArray[np.float32]:
        """(h, w) float32 metres along z, 0 where unknown.

        Raises:
            InputError: the file cannot be read or decoded.
        """
        return decode_depth(read_bytes(self.depth), str(self.depth))


def exported_frames(folder: Path) -> list[ExportedFrame]:
    """The frames of which a folder holds a pose or a colour picture, by number.

    Raises:
        InputError: a folder of them cannot be read.
    """
    colors = {}
    for suffix in reversed(_COLOR_SUFFIXES):
        colors.update(_files(folder / "color", suffix))
    depths, poses = _files(folder / "depth", ".png"), _files(folder / "pose", ".txt")
    names = by_number(sorted(colors.keys() | poses.keys()))
    return [ExportedFrame(name, colors.get(name), depths.get(name), poses.get(name)) for name in names]


def stored_size(path: Path) -> tuple[int, int]:
    """(width, height) in pixels of a picture file, from its head; its last bytes are looked at too.

    Raises:
        PictureError: not a picture, or cut short.
    """
    try:
        with path.open("rb", buffering=0) as file:
            head = file.read(PICTURE_SETTINGS.head_bytes)
            file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL_BYTES))
            tail = file.read()
    except OSError as error:
        raise PictureError(f"{path.name}: cannot be read ({error.strerror})") from None
    if is_cut(tail, picture_format(head)):
        raise PictureError(f"{path.name}: the picture is cut short")
    try:
        return picture_size(head, path.name)
    except PictureError:  # long metadata can push the size beyond the first bytes
        return picture_size(read_bytes(path), path.name)


def read_matrix(path: Path) -> NDArray[np.float64]:
    """(4, 4) numbers of a text file; inf and nan are numbers here.

    Raises:
        InputError: the file cannot be read, or holds something else.
    """
    text = read_whole(path, max_bytes=_MAX_MATRIX_BYTES).decode("latin-1")
    try:
        return np.array(text.split(), dtype=np.float64).reshape(4, 4)
    except ValueError:
        raise InputError(f"{path.name}: expected 16 numbers, found {text[:40].strip()!r}") from None


def find_intrinsic(folder: Path, kind: str) -> Path | None:
    """The file with the intrinsics of ``color`` or ``depth`` in a folder of exported frames."""
    names = (f"intrinsic/intrinsic_{kind}.txt", f"intrinsics_{kind}.txt", f"intrinsic_{kind}.txt")
    return next((folder / name for name in names if (folder / name).is_file()), None)


def read_bytes(path: Path | None) -> bytes:
    """A file's bytes.

    Raises:
        InputError: there is no such file, or it cannot be read.
    """
    if path is None:
        raise InputError("this frame has no such file")
    return read_whole(path)


def _files(folder: Path, suffix: str) -> dict[str, Path]:
    return {path.name[: -len(suffix)]: path for path in files_in(folder, [suffix])}
