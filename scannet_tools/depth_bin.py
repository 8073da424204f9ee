"""``iphone/depth.bin`` of ScanNet++: sensor depth of all frames in one file, in one of three forms.

One raw-deflate block of all frames, float32 metres; or per frame a u32 size (little-endian) and an lz4 block of uint16
millimetres; or per frame a u32 size and a raw-deflate block of float32 metres. Every frame is 192 rows of 256. Files
with sizes are walked without decoding; the one block has to be unpacked once to count its frames, and is then entered
at marks, so that a frame costs the unpacking of a few.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scannet_tools.pictures import PictureError
from spacecast.errors import InputError

WIDTH, HEIGHT = 256, 192

_MM_BYTES = 2 * WIDTH * HEIGHT
_FLOAT_BYTES = 4 * WIDTH * HEIGHT


@dataclass(frozen=True)
class DepthFileSettings:
    """Bounds in reading ``depth.bin``."""

    max_block_bytes: int = 2 * _FLOAT_BYTES
    """A size before a block that is larger is none: a frame unpacked has half of it (own)."""
    frames_between_marks: int = 32
    """Frames of the one block between two places where unpacking can begin (own; a mark takes some 50 kB)."""
    chunk_bytes: int = 1 << 18
    """Bytes of the one block that are read at once (own)."""
    max_empty_run: int = 256
    """More empty blocks in a row are padding, not frames (own)."""
    max_frames: int = 100_000
    """More frames are none (own; half an hour at 60 a second; a block of deflate can unpack to a thousand times as
    many bytes)."""
    tried_blocks: int = 8
    """Blocks that are unpacked to tell the form of a file (own)."""


SETTINGS = DepthFileSettings()


class DepthFrame(NamedTuple):
    """One frame by its place: small, picklable; ``start`` is -1 in a file that is one block."""

    path: Path
    number: int
    start: int
    size: int

    def load(self) -> NDArray[np.float32]:
        """(192, 256) float32 metres along z, 0 where unknown.

        Raises:
            InputError: the file cannot be read, or the frame cannot be unpacked.
        """
        if self.start < 0:
            return _metres(_from_one_block(self.path, self.number))
        return decode_block(_read(self.path, self.start, self.size), f"{self.path.name} frame {self.number}")


@dataclass(frozen=True)
class DepthFile:
    """The frames of a ``depth.bin``.

    Attributes:
        frames: by number; None where a frame is empty.
        is_cut: the file ends within a frame.
    """

    path: Path
    frames: tuple[DepthFrame | None, ...]
    is_cut: bool


def open_depth(path: Path) -> DepthFile:
    """Where the frames of a ``depth.bin`` lie.

    Raises:
        InputError: the file cannot be read, or is in none of the three forms.
    """
    try:
        blocks, rest = _walk(path)
        full = [block for block in blocks if block[1]]
        if full and (rest == 0 or any(_can_be_unpacked(path, *b) for b in full[: SETTINGS.tried_blocks])):
            frames = tuple(DepthFrame(path, i, *block) if block[1] else None for i, block in enumerate(blocks))
            return DepthFile(path, frames, rest > 0)
        marks = _marks(path, *_stamp(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    if not marks.frames:
        with path.open("rb") as file:
            start = file.read(8).hex(" ")
        raise InputError(f"{path}: not a depth.bin in one of its three forms (starts with {start or 'nothing'})")
    return DepthFile(path, tuple(DepthFrame(path, i, -1, 0) for i in range(marks.frames)), marks.is_cut)


def decode_block(data: bytes, what: str) -> NDArray[np.float32]:
    """(192, 256) float32 metres of one frame's block: lz4 of millimetres, or raw deflate of metres.

    Raises:
        PictureError: it is neither.
    """
    try:
        units = np.frombuffer(lz4_block(data, _MM_BYTES), dtype="<u2")
        return (units.astype(np.float32) / np.float32(1000.0)).reshape(HEIGHT, WIDTH)
    except ValueError:
        pass
    try:
        raw = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, _FLOAT_BYTES + 1)
    except zlib.error:
        raw = b""
    if len(raw) != _FLOAT_BYTES:
        raise PictureError(f"{what}: depth is neither lz4 of 256 x 192 millimetres nor deflate of as many metres")
    return _metres(raw)


def lz4_block(data: bytes, size: int) -> bytes:
    """An lz4 block (the bare format, without a frame around it) unpacked.

    A sequence is a token (length of literals, length of a match less 4, 4 bits each; 15 goes on in bytes until one is
    not 255), the literals, a u16 distance back, and the match, which may overlap what it writes; the last sequence
    ends with its literals.

    Raises:
        ValueError: the block is not whole, or unpacks to another number of bytes than ``size``.
    """
    out = bytearray()
    at, end = 0, len(data)
    try:
        while True:
            token = data[at]
            at += 1
            count = token >> 4
            if count == 15:
                count, at = _longer(data, at, count)
            if at + count > end:
                raise ValueError("lz4 block is cut short")
            out += data[at : at + count]
            at += count
            if at == end:
                break
            back = data[at] | data[at + 1] << 8
            at += 2
            count = token & 15
            if count == 15:
                count, at = _longer(data, at, count)
            count += 4
            start = len(out) - back
            if back == 0 or start < 0 or len(out) + count > size:
                raise ValueError("lz4 block points outside of what it holds")
            if back >= count:
                out += out[start : start + count]
            else:
                out += (bytes(out[start:]) * (count // back + 1))[:count]
    except IndexError:
        raise ValueError("lz4 block is cut short") from None
    if len(out) != size:
        raise ValueError(f"lz4 block holds {len(out)} bytes, not {size}")
    return bytes(out)


def _longer(data: bytes, at: int, count: int) -> tuple[int, int]:
    while True:
        more = data[at]
        at += 1
        count += more
        if more != 255:
            return count, at


def _metres(raw: bytes) -> NDArray[np.float32]:
    metres = np.frombuffer(raw, dtype="<f4").reshape(HEIGHT, WIDTH)
    return np.where(np.isfinite(metres) & (metres > 0), metres, np.float32(0.0))


def _walk(path: Path) -> tuple[list[tuple[int, int]], int]:
    """Start and size of every whole block, if sizes stand before blocks, and how many bytes remain after them."""
    total = path.stat().st_size
    blocks: list[tuple[int, int]] = []
    at, empty_run = 0, 0
    with path.open("rb", buffering=0) as file:
        while at + 4 <= total and len(blocks) < SETTINGS.max_frames:
            (size,) = struct.unpack("<I", os.pread(file.fileno(), 4, at))
            empty_run = 0 if size else empty_run + 1
            if size > SETTINGS.max_block_bytes or at + 4 + size > total or empty_run > SETTINGS.max_empty_run:
                break
            blocks.append((at + 4, size))
            at += 4 + size
    return blocks, total - at


def _can_be_unpacked(path: Path, start: int, size: int) -> bool:
    try:
        decode_block(_read(path, start, size), path.name)
    except InputError:
        return False
    return True


def _read(path: Path, start: int, size: int) -> bytes:
    try:
        with path.open("rb", buffering=0) as file:
            data = os.pread(file.fileno(), size, start)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    if len(data) != size:
        raise InputError(f"{path}: became shorter since it was opened; check it")
    return data


class _Mark(NamedTuple):
    at: int  # byte of the file from which unpacking goes on
    state: Any  # a decompressobj before a frame begins; copied before use


class _Marks(NamedTuple):
    frames: int
    is_cut: bool
    marks: tuple[_Mark, ...]


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


@lru_cache(maxsize=2)  # of a process; loaders themselves hold a path and a number
def _marks(path: Path, size: int, time_ns: int) -> _Marks:
    del size, time_ns  # of the key: a file that was changed is another
    marks: list[_Mark] = []
    number = 0
    unpacked = _Unpacked(path, 0, zlib.decompressobj(-zlib.MAX_WBITS))
    with unpacked:
        while True:
            if number % SETTINGS.frames_between_marks == 0:
                marks.append(unpacked.mark())
            raw = unpacked.frame()
            if len(raw) < _FLOAT_BYTES or number == SETTINGS.max_frames:
                return _Marks(number, bool(raw) or not unpacked.state.eof, tuple(marks))
            number += 1


def _from_one_block(path: Path, number: int) -> bytes:
    try:
        marks = _marks(path, *_stamp(path))
        place, more = divmod(number, SETTINGS.frames_between_marks)
        mark = marks.marks[place]
        with _Unpacked(path, mark.at, mark.state.copy()) as unpacked:
            for _ in range(more):
                unpacked.frame()
            raw = unpacked.frame()
    except (OSError, IndexError) as error:
        raise InputError(f"{path}: frame {number} cannot be read ({error})") from None
    if len(raw) != _FLOAT_BYTES:
        raise InputError(f"{path}: became shorter since it was opened; check it")
    return raw


class _Unpacked:
    """The one block, unpacked frame by frame from a mark."""

    def __init__(self, path: Path, at: int, state: Any) -> None:
        self.state = state
        self._file = path.open("rb", buffering=0)
        self._file.seek(at)
        self._at = at
        self._packed = b""
        self._chunks = self._read_on()

    def __enter__(self) -> _Unpacked:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def mark(self) -> _Mark:
        """Where the next frame begins."""
        return _Mark(self._at - len(self._packed), self.state.copy())

    def frame(self) -> bytes:
        """The next frame's bytes; fewer at the end, or where the block is broken."""
        pieces: list[bytes] = []
        missing = _FLOAT_BYTES
        try:
            while missing and not self.state.eof:
                if not self._packed:
                    self._packed = next(self._chunks, b"")
                piece = self.state.decompress(self._packed, missing)
                self._packed = self.state.unconsumed_tail
                if not piece and not self._packed and self._at >= self._size():
                    break
                pieces.append(piece)
                missing -= len(piece)
        except zlib.error:
            pass
        return b"".join(pieces)

    def _size(self) -> int:
        return os.fstat(self._file.fileno()).st_size

    def _read_on(self) -> Iterator[bytes]:
        while chunk := self._file.read(SETTINGS.chunk_bytes):
            self._at += len(chunk)
            yield chunk
