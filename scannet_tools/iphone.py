"""The iPhone frames of a ScanNet++ scene: pictures or the video, sensor depth, and poses from two sources.

COLMAP's pose and lens are taken where it lists a frame, else ``aligned_pose`` and ``intrinsic`` of
``pose_intrinsic_imu.json``; both have to agree where both are there. Frame ``frame_000120`` is number 120 of the video
and of ``depth.bin``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from scannet_tools.colmap import read_colmap
from scannet_tools.depth_bin import HEIGHT, WIDTH, DepthFile, open_depth
from scannet_tools.dslr import stored_photo
from scannet_tools.lenses import Lens
from scannet_tools.listing import (
    Agreement,
    Depth,
    Frames,
    Listed,
    Listing,
    Photo,
    collect,
    photo_files,
    read_json,
    read_listings,
    resized,
    settle,
    stem_of,
    view_of,
)
from scannet_tools.video import NoVideoReaderError, Video, open_video
from spacecast.errors import FrameError, InputError
from spacecast.frames import Intrinsics, Transform
from spacecast.scan import Problem, View, by_number


@dataclass(frozen=True)
class IphoneSettings:
    """Bounds in reading iPhone frames."""

    max_pose_distance_m: float = 0.25
    """COLMAP and the phone's own tracking may put a frame so far apart (own: tracking drifts by some centimetres)."""
    max_pose_angle_deg: float = 10.0
    """... and turn it by so much against each other (own)."""
    max_disagreeing_share: float = 0.5
    """If a larger share of the frames in both disagrees, tracking is not taken for frames that COLMAP lacks (own)."""
    max_off_centre: float = 0.2
    """A principal point farther from the middle, as a share of a side, is for a picture of another size (own)."""


SETTINGS = IphoneSettings()

COLMAP = "colmap/images.txt"
TRACKING = "pose_intrinsic_imu.json"
_NUMBER = re.compile(r"(\d+)$")


def read_tracking(path: Path) -> Listing:
    """The frames of ``pose_intrinsic_imu.json`` with ``aligned_pose``, camera to world with OpenCV axes in the mesh's
    world; lenses are for a picture twice as large as the principal point says, to be fitted to the picture that is
    there.

    Raises:
        InputError: the file cannot be read, or is no map of frames.
    """
    data = read_json(path, dict)
    return collect(path, [_tracked(stem_of(str(key)), entry) for key, entry in data.items()])


def read_iphone(folder: Path) -> Frames:
    """The views of a scene's ``iphone`` folder, without loading a picture.

    Pictures come from ``rgb/`` where there are any, else from ``rgb.mkv``.
    """
    listings, problems = read_listings(folder, {COLMAP: read_colmap, TRACKING: read_tracking})
    inputs = {
        f"iphone/{name}": folder / name
        for name in (COLMAP, "colmap/cameras.txt", TRACKING)
        if (folder / name).is_file()
    }
    photos = _photos(folder, problems)
    depths = _depths(folder, problems)
    agreement = Agreement(SETTINGS.max_pose_distance_m, SETTINGS.max_pose_angle_deg)
    trusted = _trusted(listings, agreement, problems)

    views: dict[str, View] = {}
    lenses: dict[str, Lens] = {}
    listed = {name for listing in listings for name in listing.frames}
    tracked = next((listing.frames for listing in listings if listing.path.name == TRACKING), {})
    for name in by_number(sorted(listed)):
        entry = settle(name, listings, agreement)
        if entry is not None and entry.fault is None and not any(name in listing.frames for listing in trusted):
            detail = f"only in {TRACKING}, whose poses disagree with COLMAP's; left out"
            entry = Listed(name, None, None, Problem("poses_disagree", name, detail))
        if entry is None or entry.fault is not None or entry.world_from_camera is None:
            problems += [entry.fault] if entry is not None and entry.fault is not None else []
            continue
        photo = photos.of(name)
        if photo is None:
            problems.append(Problem("unstored_photo", name, "listed, and there is no picture of it; left out"))
            continue
        lens = _lens(entry, photo, is_tracked=name in tracked and entry.lens is tracked[name].lens)
        if isinstance(lens, Problem):
            problems.append(lens)
            continue
        view = view_of(name, entry.world_from_camera, lens, photo, problems, depth=_depth_of(name, depths, problems))
        if view is not None:
            views[name], lenses[name] = view, lens
    for name in photos.names:
        if name not in listed:
            problems.append(Problem("missing_pose", name, "a picture that no file of poses lists; left out"))
    unlisted = photos.unlisted_video_frames(listed)
    if unlisted:
        detail = f"{unlisted} frames of the video are in no file of poses; left out"
        problems.append(Problem("missing_pose", "rgb.mkv", detail))
    problems += resized(views, lenses)
    return Frames(views, tuple(problems), inputs)


class _Photos(NamedTuple):
    files: Mapping[str, Path]
    video: Video | None

    @property
    def names(self) -> list[str]:
        """Of picture files; frames of a video have a name only where a file of poses gives one."""
        return list(self.files)

    def unlisted_video_frames(self, listed: set[str]) -> int:
        """How many frames of the video no name stands for."""
        if self.video is None:
            return 0
        numbers = {number for name in listed if (number := number_of(name)) is not None}
        return sum(number not in numbers for number in range(len(self.video)))

    def of(self, name: str) -> Photo | None:
        if name in self.files:
            return stored_photo(self.files[name])
        number = number_of(name)
        if self.video is None or number is None or number >= len(self.video):
            return None
        frame = self.video[number]
        return Photo(frame.measure, frame.load_color, None)


def number_of(name: str) -> int | None:
    """120 of ``frame_000120``; None where a name does not end in a number."""
    found = _NUMBER.search(name)
    return int(found.group(1)) if found else None


def _photos(folder: Path, problems: list[Problem]) -> _Photos:
    files = photo_files(folder / "rgb")
    path = folder / "rgb.mkv"
    if files or not path.is_file():
        return _Photos(files, None)
    try:
        return _Photos(files, open_video(path))
    except NoVideoReaderError as error:
        problems.append(Problem("no_video_reader", path.name, str(error)))
    except InputError as error:
        problems.append(Problem("broken_video", path.name, str(error)))
    return _Photos(files, None)


def _depths(folder: Path, problems: list[Problem]) -> DepthFile | None:
    path = folder / "depth.bin"
    if not path.is_file():
        problems.append(Problem("no_depth", path.name, "no sensor depth"))
        return None
    try:
        depths = open_depth(path)
    except InputError as error:
        problems.append(Problem("broken_depth", path.name, f"{error}; views have no depth"))
        return None
    if depths.is_cut:
        detail = f"cut short after {len(depths.frames)} frames; download it again"
        problems.append(Problem("broken_depth", path.name, detail))
    return depths


def _depth_of(name: str, depths: DepthFile | None, problems: list[Problem]) -> Depth | None:
    if depths is None:
        return None
    number = number_of(name)
    frame = depths.frames[number] if number is not None and number < len(depths.frames) else None
    if frame is None:
        problems.append(Problem("missing_depth", name, "no depth; the view has none"))
        return None
    return Depth((WIDTH, HEIGHT), frame.load)


def _trusted(listings: list[Listing], agreement: Agreement, problems: list[Problem]) -> list[Listing]:
    """Listings whose poses may stand alone: not tracking that mostly disagrees with COLMAP."""
    by_name = {listing.path.name: listing for listing in listings}
    tracking = by_name.get(TRACKING)
    if tracking is None or len(listings) < 2:
        return listings
    (colmap,) = [listing for listing in listings if listing is not tracking]
    pairs = [
        (a, b)
        for name in colmap.frames.keys() & tracking.frames.keys()
        if (a := colmap.frames[name].world_from_camera) and (b := tracking.frames[name].world_from_camera)
    ]
    apart = sum(not a.is_close(b, atol_m=agreement.distance_m, atol_deg=agreement.angle_deg) for a, b in pairs)
    return [colmap] if apart > SETTINGS.max_disagreeing_share * len(pairs) else listings


def _tracked(name: str, entry: Any) -> Listed:
    try:
        if not isinstance(entry, Mapping):
            raise FrameError("is no entry of a frame")
        pose = _numbers(entry.get("aligned_pose"), (4, 4), "aligned_pose")
        world_from_camera = Transform.from_matrix(pose, target="world", source="camera")
        matrix = _numbers(entry.get("intrinsic"), (3, 3), "intrinsic")
    except FrameError as error:
        return Listed(name, None, None, Problem("lost_pose", name, f"{TRACKING}: {error}; left out"))
    try:
        camera = Intrinsics.from_matrix(matrix, 1, 1)
        # Of which size its picture is, is not stated: twice the principal point, until the picture is looked at.
        width, height = max(1, round(2.0 * camera.cx)), max(1, round(2.0 * camera.cy))
        return Listed(name, world_from_camera, Lens(camera.fx, camera.fy, camera.cx, camera.cy, width, height))
    except FrameError as error:
        return Listed(name, None, None, Problem("no_camera", name, f"{TRACKING}: {error}; left out"))


def _numbers(value: Any, shape: tuple[int, int], what: str) -> np.ndarray:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        array = np.empty(())
    if array.size != shape[0] * shape[1] or array.ndim not in (1, 2):
        raise FrameError(f"{what} is not {shape[0]} x {shape[1]} numbers")
    return array.reshape(shape)


def _lens(entry: Listed, photo: Photo, *, is_tracked: bool) -> Lens | Problem:
    """The lens of a frame for the picture that is there; or why there is none."""
    if entry.lens is None:
        return Problem("no_camera", entry.name, "no file states its camera; left out")
    if not is_tracked:
        return entry.lens
    try:
        width, height = photo.size()
    except InputError as error:
        return Problem("broken_photo", entry.name, f"{error}; left out")
    off = max(abs(entry.lens.cx / width - 0.5), abs(entry.lens.cy / height - 0.5))
    if off > SETTINGS.max_off_centre:
        detail = (
            f"its principal point ({entry.lens.cx:.0f}, {entry.lens.cy:.0f}) is not near the middle of a picture of "
            f"{width} x {height} px; left out"
        )
        return Problem("no_camera", entry.name, detail)
    try:
        return replace(entry.lens, width=width, height=height)
    except FrameError as error:
        return Problem("no_camera", entry.name, f"{error}; left out")
