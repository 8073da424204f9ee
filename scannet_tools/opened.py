"""Pictures opened to see whether they can be used: what no head of a file tells. For ``spacecast check``.

A photo is decoded as a whole, small where its format allows it; depth is unpacked as it is stored, before it is
undistorted or registered. What is found here is what a build would find, at the frames that it opens.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from scannet_tools.exported import ExportedFrame
from scannet_tools.lenses import load_undistorted
from scannet_tools.pictures import decode_color
from scannet_tools.scannet_frames import load_registered
from scannet_tools.sens import SensFrame
from scannet_tools.video import VideoFrame
from spacecast.errors import InputError
from spacecast.scan import Problem, Scan, View


@dataclass(frozen=True)
class OpeningSettings:
    """How many pictures are opened, and how small."""

    max_views: int = 128
    """Views of a scene whose pictures are opened, spread evenly over the walk (own; half a second of a core)."""
    max_video_frames: int = 8
    """Views among them whose photo is a frame of a video, which takes all frames from the last key frame (own)."""
    shrink: int = 8
    """A JPEG is decoded at one part in this many of its size: all of it is read, and time is saved (own)."""


SETTINGS = OpeningSettings()

_Item = TypeVar("_Item")


class Opened(NamedTuple):
    """What was wrong with pictures that were opened, in capture order, and of how many views they were, or not all."""

    problems: tuple[Problem, ...]
    views: int
    passed_over: int


def open_pictures(scan: Scan, *, max_views: int | None = SETTINGS.max_views) -> Opened:
    """Open the photos and depth of a scan's views.

    Args:
        scan: as read; its problems are not told again.
        max_views: of how many views, spread evenly; None: of all, frames of a video too.
    """
    views = [view for view in scan.views.values() if view.has_photo or view.load_depth is not None]
    chosen = views if max_views is None else spread(views, max_views)
    videos = [view.name for view in chosen if isinstance(_owner(view.load_color), VideoFrame)]
    decoded = set(videos if max_views is None else spread(videos, SETTINGS.max_video_frames))
    passed_over = set(videos) - decoded
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # decoders run without the interpreter's lock
        found = list(pool.map(lambda view: _problems_of(view, photo=view.name not in passed_over), chosen))
    count = len(chosen) - len(passed_over)
    return Opened(tuple(problem for problems in found for problem in problems), count, len(views) - count)


def spread(items: Sequence[_Item], count: int) -> list[_Item]:
    """Up to ``count`` items at even steps, the first and the last among them."""
    if len(items) <= count:
        return list(items)
    return [items[i] for i in np.unique(np.linspace(0, len(items) - 1, count).round().astype(int)).tolist()]


def _problems_of(view: View, *, photo: bool) -> list[Problem]:
    problems = []
    if photo and view.load_color is not None:
        problems += _tried(partial(_open_photo, view.load_color), "broken_photo", view.name)
    if view.load_depth is not None:
        problems += _tried(_stored(view.load_depth), "broken_depth", view.name)
    return problems


def _tried(load: Callable[[], Any], kind: str, name: str) -> list[Problem]:
    try:
        load()
    except InputError as error:
        return [Problem(kind, name, f"{error}; the frame is not used")]
    return []


def _open_photo(load: Callable[[], Any]) -> None:
    frame = _owner(load)
    if isinstance(frame, ExportedFrame) or (isinstance(frame, SensFrame) and frame.header.color_compression != "raw"):
        name = str(frame.color) if isinstance(frame, ExportedFrame) else frame.name
        decode_color(frame.encoded_color(), name, shrink=SETTINGS.shrink)
    else:
        _stored(load)()


def _owner(load: Callable[[], Any] | None) -> Any:
    """The frame whose method a loader is, below what is done with the picture after."""
    return None if load is None else getattr(_stored(load), "__self__", None)


def _stored(load: Callable[[], Any]) -> Callable[[], Any]:
    """The loader of a picture as it is stored."""
    while isinstance(load, partial) and load.func in (load_undistorted, load_registered):
        load = load.args[0]
    return load
