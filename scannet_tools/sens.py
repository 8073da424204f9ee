"""The ``.sens`` stream of ScanNet, version 4: poses without pictures, one frame without the rest; also writes it.

Layout (little-endian): u32 version; u64 length and the sensor's name; four 4x4 float32 matrices (intrinsic colour,
extrinsic colour, intrinsic depth, extrinsic depth); i32 colour compression; i32 depth compression; u32 colour width
and height, depth width and height; f32 depth units per metre; u64 number of frames. A frame: 16 float32 camera to scan;
u64 colour time; u64 depth time; u64 colour bytes; u64 depth bytes; the two payloads. Then u64 number of IMU records
and the records, which are not read.

A file is opened by one pass over the frames' heads, which seeks over the payloads. Nothing is kept on disk, and no file
handle is kept: every load opens the file, so that frames can go to other processes.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scannet_tools.pictures import SETTINGS as PICTURE_SETTINGS
from scannet_tools.pictures import PictureError, decode_color, encode_color, picture_size
from spacecast.errors import InputError
from spacecast.files import write_whole

ColorCompression = Literal["raw", "png", "jpeg"]
DepthCompression = Literal["raw_ushort", "zlib_ushort", "occi_ushort"]
COLOR_COMPRESSIONS: tuple[ColorCompression, ...] = get_args(ColorCompression)
DEPTH_COMPRESSIONS: tuple[DepthCompression, ...] = get_args(DepthCompression)

VERSION = 4
_FIXED = struct.Struct("<256siiIIIIfQ")  # what follows the name
_FRAME = np.dtype(
    [
        ("scan_from_camera", "<f4", (4, 4)),
        ("color_time", "<u8"),
        ("depth_time", "<u8"),
        ("color_bytes", "<u8"),
        ("depth_bytes", "<u8"),
    ]
)


@dataclass(frozen=True)
class SensSettings:
    """Bounds of what counts as a ``.sens`` file."""

    max_name_bytes: int = 4096
    """A longer sensor name is a broken file (own)."""
    max_payload_bytes: int = 1 << 28
    """A picture that takes more bytes is none, and what follows is not found (own)."""
    max_frames: int = 500_000
    """More frames are none (own; a walk of four hours)."""
    max_imu_record_bytes: int = 1024
    """Longer IMU records are none (own; ScanNet's have 128 bytes)."""
    padding_bytes: int = 1 << 20
    """So many zeros in place of a frame are no frames: the file was cut short (own; a frame's head has 96 bytes)."""


SETTINGS = SensSettings()


@dataclass(frozen=True, eq=False)
class SensHeader:
    """What a stream says once.

    Attributes:
        color_width, color_height, depth_width, depth_height: pixels.
        intrinsic_color, intrinsic_depth: (4, 4) float32 pixel_from_camera, as stored.
        extrinsic_color, extrinsic_depth: (4, 4) float32, as stored; usually the identity.
        depth_shift: depth units per metre.
    """

    color_width: int
    color_height: int
    depth_width: int
    depth_height: int
    intrinsic_color: NDArray[np.float32]
    intrinsic_depth: NDArray[np.float32]
    extrinsic_color: NDArray[np.float32] = field(default_factory=lambda: np.eye(4, dtype=np.float32))
    extrinsic_depth: NDArray[np.float32] = field(default_factory=lambda: np.eye(4, dtype=np.float32))
    color_compression: ColorCompression = "jpeg"
    depth_compression: DepthCompression = "zlib_ushort"
    depth_shift: float = 1000.0
    sensor_name: str = "StructureSensor"

    def __post_init__(self) -> None:
        for name in ("intrinsic_color", "extrinsic_color", "intrinsic_depth", "extrinsic_depth"):
            matrix = np.array(getattr(self, name), dtype="<f4")
            if matrix.shape != (4, 4):
                raise InputError(f".sens header: {name} should be (4, 4), found {matrix.shape}")
            matrix.setflags(write=False)
            object.__setattr__(self, name, matrix)
        sides = (self.color_width, self.color_height, self.depth_width, self.depth_height)
        if max(sides) > PICTURE_SETTINGS.max_side_px or min(sides) < 0:
            raise InputError(f".sens header: pictures of {sides[:2]} and {sides[2:]} px are not believable")
        if max(sides[0] * sides[1], sides[2] * sides[3]) > PICTURE_SETTINGS.max_area_px:
            raise InputError(f".sens header: pictures of {sides[:2]} and {sides[2:]} px are not believable")
        if not (np.isfinite(self.depth_shift) and self.depth_shift > 0):
            raise InputError(f".sens header: {self.depth_shift} depth units per metre are not believable")
        if self.color_compression not in COLOR_COMPRESSIONS or self.depth_compression not in DEPTH_COMPRESSIONS:
            raise InputError(f".sens header: unknown compression {self.color_compression}, {self.depth_compression}")


class SensFrame(NamedTuple):
    """One frame of a file, not loaded: small, picklable, and without an open file.

    ``scan_from_camera`` is (4, 4) float64 as stored: a lost pose is all -inf, nan or zero. Times are as stored.
    """

    path: Path
    header: SensHeader
    number: int
    scan_from_camera: NDArray[np.float64]
    times: tuple[int, int]
    color_start: int
    color_bytes: int
    depth_bytes: int

    @property
    def name(self) -> str:
        """``<file> frame <number>``, for messages."""
        return f"{self.path.name} frame {self.number}"

    def encoded_color(self) -> bytes:
        """The colour payload as stored.

        Raises:
            InputError: the file is gone or became shorter.
        """
        return self._read(self.color_start, self.color_bytes)

    def encoded_depth(self) -> bytes:
        """The depth payload as stored."""
        return self._read(self.color_start + self.color_bytes, self.depth_bytes)

    def color_size(self) -> tuple[int, int]:
        """(width, height) of the colour picture, from its first bytes.

        Raises:
            PictureError: it is no picture, or raw bytes of another count than the header's size needs.
        """
        header = self.header
        if header.color_compression == "raw":
            self._check_raw(self.color_bytes, 3 * header.color_width * header.color_height, "colour")
            return header.color_width, header.color_height
        head = self._read(self.color_start, min(self.color_bytes, PICTURE_SETTINGS.head_bytes))
        try:
            return picture_size(head, self.name)
        except PictureError:  # long metadata can push the size beyond the first bytes
            return picture_size(self.encoded_color(), self.name)

    def depth_size(self) -> tuple[int, int]:
        """(width, height) of the depth picture.

        Raises:
            PictureError: raw bytes of another count than the header's size needs.
        """
        header = self.header
        if header.depth_compression == "raw_ushort":
            self._check_raw(self.depth_bytes, 2 * header.depth_width * header.depth_height, "depth")
        return header.depth_width, header.depth_height

    def color(self) -> NDArray[np.uint8]:
        """(H, W, 3) uint8.

        Raises:
            PictureError: the payload cannot be decoded.
        """
        return color_of(self.header, self.encoded_color(), self.name)

    def depth(self) -> NDArray[np.float32]:
        """(h, w) float32 metres along z, 0 where unknown.

        Raises:
            PictureError: the payload cannot be decoded, or is compressed by occi.
        """
        return depth_of(self.header, self.encoded_depth(), self.name)

    def _check_raw(self, found: int, needed: int, what: str) -> None:
        if found != needed:
            raise PictureError(f"{self.name}: raw {what} should be {needed} bytes, found {found}")

    def _read(self, start: int, size: int) -> bytes:
        try:
            with self.path.open("rb", buffering=0) as file:
                data = os.pread(file.fileno(), size, start)
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read ({error.strerror})") from None
        if len(data) != size:
            raise InputError(f"{self.name}: the file became shorter since it was opened; check {self.path}")
        return data


class SensPayload(NamedTuple):
    """A frame with its payloads as stored, from :meth:`SensFile.stream`."""

    frame: SensFrame
    color: bytes
    depth: bytes


@dataclass(frozen=True, eq=False)
class SensFile:
    """An opened stream: header and the heads of its whole frames.

    Attributes:
        declared_frames: how many frames the header announces; more than ``len(file)`` if it is cut short.
        heads: structured (n,) array of the frames' heads as stored.
        color_starts: (n,) int64 byte offset of each colour payload.
        unread_bytes: what follows all announced frames and is no whole IMU section: the header may count too few.
    """

    path: Path
    header: SensHeader
    declared_frames: int
    heads: NDArray[np.void]
    color_starts: NDArray[np.int64]
    unread_bytes: int = 0

    @classmethod
    def open(cls, path: str | Path) -> SensFile:
        """Read the header and the heads of all whole frames; payloads are seeked over.

        Raises:
            InputError: ``not a .sens version 4 file: <name> (starts with ...)``, or the file cannot be read.
        """
        path = Path(path)
        try:
            with path.open("rb", buffering=0) as file:
                return cls(path, *_read_heads(file, path.name))
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from None

    def __len__(self) -> int:
        return len(self.heads)

    def __getitem__(self, number: int) -> SensFrame:
        """The frame of a number in [0, len).

        Raises:
            IndexError: no such frame.
        """
        if not 0 <= number < len(self):
            raise IndexError(f"{self.path.name} has frames 0 to {len(self) - 1}, not {number}")
        head = self.heads[number]
        return SensFrame(
            self.path,
            self.header,
            number,
            np.array(head["scan_from_camera"], dtype=np.float64),
            (int(head["color_time"]), int(head["depth_time"])),
            int(self.color_starts[number]),
            int(head["color_bytes"]),
            int(head["depth_bytes"]),
        )

    def __iter__(self) -> Iterator[SensFrame]:
        return (self[number] for number in range(len(self)))

    @property
    def missing_frames(self) -> int:
        """How many announced frames the file does not hold whole."""
        return self.declared_frames - len(self)

    @property
    def scan_from_camera(self) -> NDArray[np.float32]:
        """(n, 4, 4) float32 poses as stored, lost ones included."""
        return self.heads["scan_from_camera"]

    def stream(self) -> Iterator[SensPayload]:
        """All frames in order with their payloads, one at a time, through one open file."""
        with self.path.open("rb") as file:
            for frame in self:
                file.seek(frame.color_start)
                color, depth = file.read(frame.color_bytes), file.read(frame.depth_bytes)
                if len(color) + len(depth) != frame.color_bytes + frame.depth_bytes:
                    raise InputError(f"{frame.name}: the file became shorter since it was opened; check {self.path}")
                yield SensPayload(frame, color, depth)


class SensWriter:
    """Writes a ``.sens`` file frame by frame; it appears whole when the ``with`` block ends, and not if that fails.

    Example::

        with SensWriter(path, header) as writer:
            writer.add(scan_from_camera, jpeg_bytes, depth_in_mm, times=(0, 0))
    """

    def __init__(self, path: str | Path, header: SensHeader, *, zlib_level: int = 6) -> None:
        self.path = Path(path)
        self.header = header
        self.zlib_level = zlib_level
        self.count = 0
        self._stack = ExitStack()
        self._file: BinaryIO | None = None
        self._count_at = 0

    def __enter__(self) -> SensWriter:
        aside = self._stack.enter_context(write_whole(self.path))
        self._file = self._stack.enter_context(aside.open("wb"))
        head = _header_bytes(self.header, 0)
        self._count_at = len(head) - 8
        self._file.write(head)
        return self

    def add(
        self,
        scan_from_camera: ArrayLike,
        color: bytes | NDArray[np.uint8],
        depth: bytes | NDArray[np.uint16],
        times: tuple[int, int] = (0, 0),
    ) -> None:
        """Append a frame.

        Args:
            scan_from_camera: (4, 4) pose in the raw scan frame, OpenCV axes; anything for a lost pose, such as -inf.
            color: the payload as it is to be stored, or (H, W, 3) uint8 to be encoded as the header says.
            depth: the payload as it is to be stored, or (h, w) uint16 units to be compressed as the header says.
            times: colour and depth time, as stored.
        """
        if self._file is None:
            raise InputError(f"{self.path}: frames are added inside a with block")
        pose = np.asarray(scan_from_camera, dtype="<f4")
        if pose.shape != (4, 4):
            raise InputError(f"{self.path.name} frame {self.count}: expected a (4, 4) pose, found {pose.shape}")
        color_data = color if isinstance(color, bytes) else self._encode_color(color)
        depth_data = depth if isinstance(depth, bytes) else self._encode_depth(depth)
        head = np.zeros((), dtype=_FRAME)
        head["scan_from_camera"] = pose
        head["color_time"], head["depth_time"] = times
        head["color_bytes"], head["depth_bytes"] = len(color_data), len(depth_data)
        self._file.write(head.tobytes() + color_data)
        self._file.write(depth_data)
        self.count += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._file is not None:
            self._file.write(struct.pack("<Q", 0))  # no IMU records
            self._file.seek(self._count_at)
            self._file.write(struct.pack("<Q", self.count))
        self._file = None
        self._stack.__exit__(kind, error, trace)

    def _encode_color(self, color: NDArray[np.uint8]) -> bytes:
        shape = (self.header.color_height, self.header.color_width, 3)
        if color.shape != shape or color.dtype != np.uint8:
            raise InputError(f"{self.path.name}: colour should be {shape} uint8, found {color.shape} {color.dtype}")
        if self.header.color_compression == "raw":
            return color.tobytes()
        return encode_color(color, self.header.color_compression.upper())

    def _encode_depth(self, depth: NDArray[np.uint16]) -> bytes:
        shape = (self.header.depth_height, self.header.depth_width)
        if depth.shape != shape or depth.dtype != np.uint16:
            raise InputError(f"{self.path.name}: depth should be {shape} uint16, found {depth.shape} {depth.dtype}")
        raw = depth.astype("<u2").tobytes()
        if self.header.depth_compression == "raw_ushort":
            return raw
        if self.header.depth_compression == "zlib_ushort":
            return zlib.compress(raw, self.zlib_level)
        raise InputError(f"{self.path.name}: depth cannot be written as occi; choose zlib_ushort")


def color_of(header: SensHeader, payload: bytes, name: str) -> NDArray[np.uint8]:
    """(H, W, 3) uint8 of a colour payload; ``name`` is for the :class:`PictureError` where it cannot be decoded."""
    if header.color_compression != "raw":
        return decode_color(payload, name)
    shape = (header.color_height, header.color_width, 3)
    if len(payload) != shape[0] * shape[1] * 3:
        raise PictureError(f"{name}: raw colour should be {shape[0] * shape[1] * 3} bytes, found {len(payload)}")
    return np.frombuffer(payload, dtype=np.uint8).reshape(shape).copy()


def depth_of(header: SensHeader, payload: bytes, name: str) -> NDArray[np.float32]:
    """(h, w) float32 metres of a depth payload; ``name`` is for the :class:`PictureError` where it has none."""
    if header.depth_compression == "occi_ushort":
        raise PictureError(f"{name}: depth is compressed by occi, which is not read; use the frame without depth")
    size = 2 * header.depth_width * header.depth_height
    raw = payload
    if header.depth_compression == "zlib_ushort":
        try:
            raw = zlib.decompressobj().decompress(payload, size + 1)  # bounded: a bomb ends here
        except zlib.error as error:
            raise PictureError(f"{name}: depth cannot be decompressed ({error})") from None
    if len(raw) != size:
        raise PictureError(f"{name}: depth should be {size} bytes, found {'more' if len(raw) > size else len(raw)}")
    units = np.frombuffer(raw, dtype="<u2").reshape(header.depth_height, header.depth_width)
    return units.astype(np.float32) / np.float32(header.depth_shift)


def _header_bytes(header: SensHeader, frames: int) -> bytes:
    name = header.sensor_name.encode()
    matrices = b"".join(
        np.asarray(m, dtype="<f4").tobytes()
        for m in (header.intrinsic_color, header.extrinsic_color, header.intrinsic_depth, header.extrinsic_depth)
    )
    return (
        struct.pack("<IQ", VERSION, len(name))
        + name
        + _FIXED.pack(
            matrices,
            COLOR_COMPRESSIONS.index(header.color_compression),
            DEPTH_COMPRESSIONS.index(header.depth_compression),
            header.color_width,
            header.color_height,
            header.depth_width,
            header.depth_height,
            header.depth_shift,
            frames,
        )
    )


def _read_heads(file: BinaryIO, name: str) -> tuple[SensHeader, int, NDArray[np.void], NDArray[np.int64], int]:
    handle = file.fileno()
    size = os.fstat(handle).st_size
    header, declared, at = _read_header(handle, name)
    heads: list[bytes] = []
    starts: list[int] = []
    step = _FRAME.itemsize
    blank = bytes(step)
    while len(heads) < min(declared, SETTINGS.max_frames):
        head = os.pread(handle, step, at)
        if len(head) < step or (head == blank and _is_padding(handle, at)):
            break
        color_bytes, depth_bytes = struct.unpack_from("<QQ", head, step - 16)
        end = at + step + color_bytes + depth_bytes
        if end > size or max(color_bytes, depth_bytes) > SETTINGS.max_payload_bytes:
            break
        heads.append(head)
        starts.append(at + step)
        at = end
    unread = _unread_bytes(handle, at, size) if len(heads) == declared else 0
    return header, declared, np.frombuffer(b"".join(heads), dtype=_FRAME), np.array(starts, dtype=np.int64), unread


def _unread_bytes(handle: int, at: int, size: int) -> int:
    """How many bytes from ``at`` to the end are there that are no IMU section: a count, and records of one size.

    A stream may end without the section, and zeros may follow it.
    """
    rest = size - at
    start = os.pread(handle, min(rest, SETTINGS.padding_bytes), at)
    if not any(start):
        return 0
    count = int.from_bytes(start[:8], "little")
    records, more = divmod(rest - 8, count) if count and rest > 8 else (0, 1)
    return 0 if more == 0 and 0 < records <= SETTINGS.max_imu_record_bytes else rest


def _is_padding(handle: int, at: int) -> bool:
    """True if a stretch of zeros follows: space that was set aside for a download that then stopped."""
    ahead = os.pread(handle, SETTINGS.padding_bytes, at)
    return len(ahead) == SETTINGS.padding_bytes and not any(ahead)


def _read_header(handle: int, name: str) -> tuple[SensHeader, int, int]:
    """Header, announced frames, and where the first frame begins."""
    start = os.pread(handle, 12 + SETTINGS.max_name_bytes + _FIXED.size, 0)
    refusal = InputError(f"not a .sens version 4 file: {name} (starts with {_shown(start)})")
    if len(start) < 12:
        raise refusal
    version, length = struct.unpack_from("<IQ", start)
    if version != VERSION or length > SETTINGS.max_name_bytes or len(start) < 12 + length + _FIXED.size:
        raise refusal
    matrices, color, depth, *sides, shift, frames = _FIXED.unpack_from(start, 12 + length)
    if not (0 <= color < len(COLOR_COMPRESSIONS) and 0 <= depth < len(DEPTH_COMPRESSIONS)):
        raise InputError(f"{name}: .sens header has unknown compression codes (colour {color}, depth {depth})")
    intrinsic_color, extrinsic_color, intrinsic_depth, extrinsic_depth = np.frombuffer(matrices, dtype="<f4").reshape(
        4, 4, 4
    )
    try:
        header = SensHeader(
            color_width=sides[0],
            color_height=sides[1],
            depth_width=sides[2],
            depth_height=sides[3],
            intrinsic_color=intrinsic_color,
            extrinsic_color=extrinsic_color,
            intrinsic_depth=intrinsic_depth,
            extrinsic_depth=extrinsic_depth,
            color_compression=COLOR_COMPRESSIONS[color],
            depth_compression=DEPTH_COMPRESSIONS[depth],
            depth_shift=shift,
            sensor_name=start[12 : 12 + length].decode("utf-8", errors="replace"),
        )
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    return header, frames, 12 + length + _FIXED.size


def _shown(start: bytes) -> str:
    """The first bytes for a person: as text where they are text."""
    if not start:
        return "nothing: the file is empty"
    head = start[:16]
    return ascii(head.decode("ascii")) if all(32 <= b < 127 or b in b"\r\n\t" for b in head) else head.hex(" ")
