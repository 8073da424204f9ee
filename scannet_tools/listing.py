"""Files that list posed pictures, whatever their form: what each says, held against the others.

A :class:`Listing` is what one file says: by file stem a pose in the mesh's world and the lens that took the picture, or
why the frame cannot be used. Several listings of one camera are joined by :func:`settle`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scannet_tools.lenses import Lens, load_undistorted
from scannet_tools.raw_files import files_in, is_name, load_json
from scannet_tools.scannet_frames import why_not_near
from spacecast.errors import FrameError, InputError
from spacecast.frames import Intrinsics, Transform
from spacecast.scan import Problem, View, by_number

PHOTO_SUFFIXES = (".jpg", ".jpeg", ".png")


class Listed(NamedTuple):
    """One frame of a listing.

    ``name`` is the picture's file stem; ``fault`` says why the frame cannot be used, and there is no pose then.
    ``lens`` is None where the file says nothing that can be used about the camera.
    """

    name: str
    world_from_camera: Transform | None
    lens: Lens | None
    fault: Problem | None = None


class Listing(NamedTuple):
    """What one file says of its frames, by file stem, and what was wrong with the file itself."""

    path: Path
    frames: Mapping[str, Listed]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class Agreement:
    """How far two listings of one camera may be apart; beyond, the frame is not used."""

    distance_m: float
    angle_deg: float


class Frames(NamedTuple):
    """Views by name in capture order, what was wrong, and the files read whose bytes matter to all views."""

    views: dict[str, View]
    problems: tuple[Problem, ...]
    input_files: dict[str, Path]


class Photo(NamedTuple):
    """A picture as stored: how to measure and load it; ``load_encoded`` None where its bytes are no picture file."""

    size: Callable[[], tuple[int, int]]
    load_color: Callable[[], NDArray[np.uint8]]
    load_encoded: Callable[[], bytes] | None


class Depth(NamedTuple):
    """A depth picture as stored, (h, w) float32 metres along z, and its size (width, height)."""

    size: tuple[int, int]
    load: Callable[[], NDArray[np.float32]]


def stem_of(file_name: str) -> str:
    """``frame_000120`` of ``images/frame_000120.jpg``, with either kind of slash."""
    last = re.split(r"[\\/]", file_name)[-1]
    head, dot, tail = last.rpartition(".")
    return head if dot and f".{tail.lower()}" in PHOTO_SUFFIXES else last


def collect(path: Path, entries: Sequence[Listed], problems: Sequence[Problem] = ()) -> Listing:
    """A listing of entries in file order; a stem that comes again with another pose is a fault of that frame.

    What can be no file's name is a problem; a camera that is nowhere near is a fault.
    """
    frames: dict[str, Listed] = {}
    nameless = []
    for entry in map(partial(_near, path), entries):
        if not is_name(entry.name):
            detail = f"names {ascii(entry.name)[:60]}, which is no name of a picture; left out"
            nameless.append(Problem("lost_pose", path.name, detail))
            continue
        other = frames.setdefault(entry.name, entry)
        if other is entry or other.fault is not None:
            continue
        one, two = other.world_from_camera, entry.world_from_camera
        if entry.fault is not None or one is None or two is None:
            frames[entry.name] = entry
        elif not one.is_close(two):
            fault = Problem("lost_pose", entry.name, f"{path.name} lists it twice with different poses; left out")
            frames[entry.name] = Listed(entry.name, None, None, fault)
    return Listing(path, frames, (*problems, *nameless))


def read_json(path: Path, kind: type) -> Any:
    """The content of a JSON file, of a kind (dict or list).

    Raises:
        InputError: the file cannot be read, is no JSON, or holds something else.
    """
    data = load_json(path)
    if not isinstance(data, kind):
        raise InputError(f"{path}: expected a {kind.__name__}, found {type(data).__name__}; download it again")
    return data


def read_listings(
    folder: Path, readers: Mapping[str, Callable[[Path], Listing]]
) -> tuple[list[Listing], list[Problem]]:
    """Those listings that are there, in the order given; one that cannot be read is a problem.

    Args:
        folder: what the names are relative to.
        readers: name of a file -> how it is read.
    """
    found, problems = [], []
    for name, read in readers.items():
        if not (folder / name).is_file():
            continue
        try:
            listing = read(folder / name)
        except InputError as error:
            problems.append(Problem("broken_listing", name, f"{error}; its frames are not known"))
            continue
        found.append(listing)
        problems += listing.problems
    return found, problems


def settle(name: str, listings: Sequence[Listing], agreement: Agreement) -> Listed | None:
    """What listings say together of one frame: the first that lists it, unless one has a fault or disagrees.

    None where no listing has it. The lens is that of the first listing that states one.
    """
    said = [(listing, listing.frames[name]) for listing in listings if name in listing.frames]
    if not said:
        return None
    for _, entry in said:
        if entry.fault is not None:
            return entry
    (first_listing, first), *others = said
    for listing, entry in others:
        fault = _disagreement(first_listing, first, listing, entry, agreement)
        if fault is not None:
            return Listed(name, None, None, fault)
    return first._replace(lens=next((entry.lens for _, entry in said if entry.lens is not None), None))


def photo_files(folder: Path) -> dict[str, Path]:
    """The picture files of a folder by stem, by number; empty where there is no such folder.

    Raises:
        InputError: the folder cannot be read.
    """
    by_stem: dict[str, Path] = {}
    for path in files_in(folder, PHOTO_SUFFIXES):
        by_stem.setdefault(path.stem, path)
    return {stem: by_stem[stem] for stem in by_number(list(by_stem))}


def view_of(
    name: str,
    world_from_camera: Transform,
    lens: Lens,
    photo: Photo,
    problems: list[Problem],
    *,
    target: Intrinsics | None = None,
    depth: Depth | None = None,
) -> View | None:
    """A view of a picture, undistorted when loaded if its lens bends it; None, with a problem, where it is of no use.

    Args:
        name: of the view.
        world_from_camera: its pose.
        lens: as stated, for a picture of its own size; scaled to the picture that is there.
        photo: the picture.
        problems: what is wrong is added here.
        target: pinhole camera of the undistorted picture, if one is stated; else the widest that the lens fills.
        depth: of the same lens, if there is one.
    """
    try:
        size = photo.size()
    except InputError as error:
        problems.append(Problem("broken_photo", name, f"{error}; left out"))
        return None
    try:
        scaled = lens.scaled_to(size)
    except FrameError as error:
        problems.append(Problem("no_camera", name, f"{error}; left out"))
        return None
    if scaled is None:
        detail = f"{size[0]} x {size[1]} px is another aspect than the camera's {lens.width} x {lens.height}; left out"
        problems.append(Problem("photo_aspect", name, detail))
        return None
    try:
        pinhole = scaled.pinhole if scaled.is_pinhole else _resized_as(target or lens.undistorted(), lens, size)
    except FrameError as error:
        problems.append(Problem("no_camera", name, f"{error}; left out"))
        return None
    bent = not scaled.is_pinhole
    load_depth, depth_intrinsics = None, None
    if depth is not None:
        load_depth, depth_intrinsics = _depth(name, depth, scaled, pinhole, problems)
    return View(
        name=name,
        world_from_camera=world_from_camera,
        intrinsics=pinhole,
        load_color=partial(load_undistorted, photo.load_color, scaled, pinhole) if bent else photo.load_color,  # type: ignore[arg-type]
        load_encoded=None if bent else photo.load_encoded,
        load_depth=load_depth,
        depth_intrinsics=depth_intrinsics,
    )


def resized(views: Mapping[str, View], lenses: Mapping[str, Lens]) -> list[Problem]:
    """A problem for each size of picture that is not its camera's, with how many have it."""
    counts: dict[tuple[int, int, int, int], int] = {}
    for name, view in views.items():
        lens = lenses[name]
        key = (view.intrinsics.width, view.intrinsics.height, lens.width, lens.height)
        if key[:2] != key[2:]:
            counts[key] = counts.get(key, 0) + 1
    return [
        Problem(
            "resized_photos", f"{w} x {h} px", f"{n} photos have this size, the camera {a} x {b}; intrinsics are scaled"
        )
        for (w, h, a, b), n in sorted(counts.items())
    ]


def _near(path: Path, entry: Listed) -> Listed:
    """An entry as it is, or with a fault if its camera is nowhere near."""
    far = why_not_near(entry.world_from_camera) if entry.world_from_camera is not None else None
    if far is None:
        return entry
    return Listed(entry.name, None, None, Problem("lost_pose", entry.name, f"{path.name}: {far}; left out"))


def _resized_as(target: Intrinsics, lens: Lens, size: tuple[int, int]) -> Intrinsics:
    """The undistorted camera, its picture resized by as much as the lens's is."""
    width, height = round(target.width * size[0] / lens.width), round(target.height * size[1] / lens.height)
    return target if (width, height) == (target.width, target.height) else target.scaled_to(width, height)


def _depth(
    name: str, depth: Depth, lens: Lens, pinhole: Intrinsics, problems: list[Problem]
) -> tuple[Callable[[], NDArray[np.float32]] | None, Intrinsics | None]:
    """How to load depth, and its intrinsics; both None, with a problem, where it is not of this lens."""
    scaled = lens.scaled_to(depth.size)
    if scaled is None:
        detail = (
            f"{depth.size[0]} x {depth.size[1]} px is another aspect than the camera's "
            f"{lens.width} x {lens.height}; the view has no depth"
        )
        problems.append(Problem("broken_depth", name, detail))
        return None, None
    intrinsics = pinhole.scaled_to(*depth.size)
    if scaled.is_pinhole:
        return depth.load, intrinsics
    return partial(load_undistorted, depth.load, scaled, intrinsics, True), intrinsics  # type: ignore[return-value]


def _disagreement(
    one_listing: Listing, one: Listed, other_listing: Listing, other: Listed, agreement: Agreement
) -> Problem | None:
    a, b = one.world_from_camera, other.world_from_camera
    if a is None or b is None:  # only a fault has no pose
        return None
    if a.is_close(b, atol_m=agreement.distance_m, atol_deg=agreement.angle_deg):
        return None
    apart_m, angle_deg = pose_difference(a, b)
    detail = (
        f"{one_listing.path.name} and {other_listing.path.parent.name}/{other_listing.path.name} put it "
        f"{apart_m:.2f} m and {angle_deg:.1f} degrees apart; left out"
    )
    return Problem("poses_disagree", one.name, detail)


def pose_difference(one: Transform, other: Transform) -> tuple[float, float]:
    """Distance in metres and angle in degrees between two poses of one camera in one world."""
    apart = one.inverse() @ Transform(one.target, one.source, other.rotation, other.translation)
    angle = float(np.arccos(np.clip((np.trace(apart.rotation) - 1.0) / 2.0, -1.0, 1.0)))
    return float(np.linalg.norm(one.translation - other.translation)), float(np.degrees(angle))
