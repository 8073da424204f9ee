"""Frames straight from a video, by PyAV (the extra ``video``); imported when a video is opened, and not before."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scannet_tools.pictures import SETTINGS as PICTURES
from spacecast.errors import InputError


class NoVideoReaderError(InputError):
    """There is a video and nothing to read it with."""


@dataclass(frozen=True)
class Video:
    """An indexed video: nothing is decoded and nothing stays open.

    Attributes:
        size: (width, height) in pixels.
        times: of the frames in the order shown, in the stream's own units.
    """

    path: Path
    size: tuple[int, int]
    times: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, number: int) -> VideoFrame:
        """The frame of a number in [0, len).

        Raises:
            IndexError: no such frame.
        """
        if not 0 <= number < len(self):
            raise IndexError(f"{self.path.name} has frames 0 to {len(self) - 1}, not {number}")
        return VideoFrame(self.path, number, self.times[number], self.size)


class VideoFrame(NamedTuple):
    """One frame of a video by its place: small and picklable."""

    path: Path
    number: int
    time: int
    size: tuple[int, int]

    def measure(self) -> tuple[int, int]:
        """(width, height), as the stream states it."""
        return self.size

    def load_color(self) -> NDArray[np.uint8]:
        """(H, W, 3) uint8: from the key frame before it, decoded up to it.

        Raises:
            InputError: the video cannot be read, or the frame cannot be decoded.
        """
        av = _av(self.path)
        for seek in (True, False):  # some files cannot be entered in the middle
            try:
                with av.open(str(self.path)) as container:
                    stream = container.streams.video[0]
                    if seek:
                        container.seek(self.time, stream=stream, backward=True)
                    for frame in container.decode(stream):
                        if frame.pts == self.time:
                            return _pixels(frame, self)
                        if frame.pts is not None and frame.pts > self.time:
                            break
            except InputError:
                raise
            except Exception as error:  # a decoder fed with broken bytes raises nearly anything
                if not seek:
                    raise InputError(f"{self.path}: frame {self.number} cannot be decoded ({_line(error)})") from None
        raise InputError(f"{self.path}: frame {self.number} cannot be decoded (the video does not give it)")


def open_video(path: Path) -> Video:
    """Index a video: packets are read, no frame is decoded.

    Raises:
        NoVideoReaderError: PyAV is not installed.
        InputError: the file is no video, or holds no frame.
    """
    status = path.stat()
    return _index(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=4)
def _index(path: Path, size_bytes: int, time_ns: int) -> Video:
    del size_bytes, time_ns  # of the key: a file that was changed is another
    av = _av(path)
    times: list[int] = []
    try:
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            size = (int(stream.codec_context.width), int(stream.codec_context.height))
            if max(size) > PICTURES.max_side_px or size[0] * size[1] > PICTURES.max_area_px:
                raise InputError(f"{path}: frames of {size[0]} x {size[1]} px are not believable; download it again")
            try:
                for packet in container.demux(stream):
                    if packet.pts is not None and packet.size:
                        times.append(int(packet.pts))
            except av.error.FFmpegError:  # of a cut file, the frames before the cut
                pass
    except InputError:
        raise
    except Exception as error:  # a decoder fed with broken bytes raises nearly anything
        raise InputError(f"{path}: not a video that can be read ({_line(error)}); download it again") from None
    if not times or min(size) < 1:
        raise InputError(f"{path}: a video without frames; download it again")
    return Video(path, size, tuple(sorted(times)))


def _pixels(frame: Any, wanted: VideoFrame) -> NDArray[np.uint8]:
    if (frame.width, frame.height) != wanted.size:
        raise InputError(f"{wanted.path}: frame {wanted.number} has another size than the video's {wanted.size}")
    pixels: NDArray[np.uint8] = frame.to_ndarray(format="rgb24")
    return pixels


def _av(path: Path) -> Any:
    try:
        import av
    except ImportError:
        raise NoVideoReaderError(
            f"{path}: to read it, pip install 'spacecast[video]' (PyAV), or extract its frames to rgb/frame_%06d.jpg"
        ) from None
    return av


def _line(error: Exception) -> str:
    text = str(error).splitlines()
    return text[0][:120] if text else type(error).__name__
