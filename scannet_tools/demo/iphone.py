"""What the phone beside the scanner took: video or pictures, depth in one of three forms, and poses.

The phone sees the pictures of the walk. H.264 bytes come from libx264 with one thread and without a build's marks: they
are the same on one machine; another version of the library may write others.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scannet_tools.demo.colmap import ModelImage, ModelPoints, write_model
from scannet_tools.demo.dslr import seen_in
from scannet_tools.demo.photos import Sensor
from scannet_tools.demo.site import SETTINGS as SITE
from scannet_tools.demo.site import Site, write_bytes, write_json
from spacecast.errors import SpacecastError
from spacecast.files import write_whole
from spacecast.frames import Transform

PICTURES = ("video", "both", "frames")
"""``rgb.mkv``, ``rgb/``, or both."""
DEPTHS = ("deflated", "lz4", "deflated_frames")
"""One raw-deflate block of all frames; blocks of uint16 mm in lz4; blocks of float32 metres in raw deflate."""


@dataclass(frozen=True)
class PhoneSettings:
    """The demo's phone; all our own."""

    depth_width_px: int = 256
    depth_height_px: int = 192
    crf: int = 20
    """Quality of the video: libx264's constant rate factor."""
    deflate_level: int = 4
    point_reach_m: float = 0.03
    """A point is seen where the depth of the nearest pixel differs by no more."""


SETTINGS = PhoneSettings()


def require_packages() -> None:
    """Raise where packages are missing that write video and lz4.

    Raises:
        SpacecastError: a package is missing; the message is the line to run.
    """
    try:
        import av  # noqa: F401
        import lz4.block  # noqa: F401
    except ImportError as error:
        raise SpacecastError(
            f"ScanNet++ demo scans hold video and lz4: {error}; run: pip install 'spacecast[video]'"
        ) from error


class Phone:
    """Writes ``iphone/`` of a scene, inside a with block: every frame of the walk, then the rest.

    Which form of pictures and of depth comes from the scene's number, so that a few scenes show all.
    """

    def __init__(self, folder: Path, site: Site) -> None:
        self.folder = folder
        self.site = site
        self.pictures = PICTURES[site.index % len(PICTURES)]
        self.depth = DEPTHS[(site.index + site.seed) % len(DEPTHS)]
        size = SETTINGS.depth_width_px, SETTINGS.depth_height_px
        self.depth_camera = site.color_camera.scaled_to(*size)
        self._rays = Sensor.of(self.depth_camera).rays
        self._depth_mm: list[NDArray[np.uint16]] = []
        self._video: _Video | None = None

    def __enter__(self) -> Phone:
        if self.pictures != "frames":
            camera = self.site.color_camera
            self._video = _Video(self.folder / "rgb.mkv", camera.width, camera.height).__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._video is not None:
            self._video.__exit__(kind, error, trace)

    def add(self, number: int, color: NDArray[np.uint8], jpeg: bytes, *, threads: int = 0) -> None:
        """Store one frame: its picture (H, W, 3), also as JPEG; depth is looked up at the depth sensor's own pixels."""
        if self._video is not None:
            self._video.add(color)
        if self.pictures != "video":
            write_bytes(self.folder / "rgb" / f"{_stem(number)}.jpg", jpeg)
        pose = self.site.poses[number]
        origin, turn = pose.translation.astype(np.float32), pose.rotation.T.astype(np.float32)
        hits = self.site.solid.rays.cast(origin, self._rays @ turn, threads=threads)
        depth_m = np.where(hits.face >= 0, hits.t, 0).astype(np.float64)
        self._depth_mm.append(np.round(depth_m * 1000).clip(0, 65535).astype(np.uint16))

    def finish(self, points: ModelPoints) -> None:
        """Store depth, poses and the COLMAP model, in which lost frames are not registered."""
        write_bytes(self.folder / "depth.bin", depth_bytes(np.stack(self._depth_mm), self.depth))
        poses = {_stem(n): self._record(n, pose) for n, pose in enumerate(self.site.poses)}
        write_json(self.folder / "pose_intrinsic_imu.json", poses)
        camera = self.site.color_camera
        numbers = camera.fx, camera.fy, camera.cx, camera.cy, 0.0, 0.0, 0.0, 0.0
        text = " ".join(repr(float(value)) for value in numbers)
        images = [self._image(n, pose, points) for n, pose in enumerate(self.site.poses) if n not in self.site.lost]
        write_model(
            self.folder / "colmap", f"OPENCV {camera.width} {camera.height} {text}", images, points,
            self.site.chance("phone"),
        )  # fmt: skip

    def _record(self, number: int, pose: Transform) -> dict[str, Any]:
        """One frame: its own world is y up and starts anywhere, as a phone's does."""
        raw_from_world = self.site.scan_from_world
        upright = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
        own = Transform("phone", "camera", upright, np.zeros(3)).rotation @ (raw_from_world @ pose).matrix[:3]
        down = pose.rotation.T @ np.array([0.0, 0.0, -1.0])
        return {
            "timestamp": number * SITE.frame_time_us / 1e6,
            "pose": [*own.tolist(), [0.0, 0.0, 0.0, 1.0]],
            "aligned_pose": pose.matrix.tolist(),
            "intrinsic": self.site.color_camera.matrix.tolist(),
            "imu": {"gravity": down.tolist()},
        }

    def _image(self, number: int, pose: Transform, points: ModelPoints) -> ModelImage:
        in_camera = pose.inverse() @ points.places
        shape = self.depth_camera.height, self.depth_camera.width
        small = self.depth_camera.project(in_camera)
        depth_m = self._depth_mm[number].reshape(shape) / 1000.0
        _, seen = seen_in(depth_m, in_camera[:, 2], small, reach_m=SETTINGS.point_reach_m)
        pixels = self.site.color_camera.project(in_camera[seen])
        return ModelImage(f"{_stem(number)}.jpg", pose, pixels, seen)


def depth_bytes(depth_mm: NDArray[np.uint16], form: str) -> bytes:
    """Depth of all frames (n, 192, 256) in millimetres, in one of the three forms of ``depth.bin``."""
    depth_m = (depth_mm / np.float32(1000)).astype("<f4")
    if form == "deflated":
        return _deflated(depth_m.tobytes())
    if form == "deflated_frames":
        blocks = [_deflated(frame.tobytes()) for frame in depth_m]
    else:
        import lz4.block

        blocks = [lz4.block.compress(frame.astype("<u2").tobytes(), store_size=False) for frame in depth_mm]
    return b"".join(struct.pack("<I", len(block)) + block for block in blocks)


def _deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(SETTINGS.deflate_level, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def _stem(number: int) -> str:
    return f"frame_{number:06d}"


class _Video:
    """An H.264 video in Matroska; the file appears whole when the with block ends, and not if that fails."""

    def __init__(self, path: Path, width: int, height: int) -> None:
        self._whole = write_whole(path)
        self._size = width, height
        self._container: Any = None

    def __enter__(self) -> _Video:
        import av
        from av.codec.context import Flags

        aside = self._whole.__enter__()
        self._container = av.open(str(aside), "w", format="matroska", options={"fflags": "+bitexact"})
        options = {"preset": "veryfast", "crf": str(SETTINGS.crf), "x264-params": "threads=1:lookahead-threads=1"}
        stream: Any = self._container.add_stream("libx264", rate=round(1e6 / SITE.frame_time_us), options=options)
        stream.width, stream.height = self._size
        stream.pix_fmt = "yuv420p"
        stream.codec_context.thread_count = 1
        stream.codec_context.flags |= int(Flags.bitexact)
        self._stream = stream
        return self

    def add(self, color: NDArray[np.uint8]) -> None:
        import av

        self._container.mux(self._stream.encode(av.VideoFrame.from_ndarray(color, format="rgb24")))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._container.mux(self._stream.encode(None))
        finally:
            self._container.close()
            self._whole.__exit__(kind, error, trace)
