"""The DSLR photos of a ScanNet++ scene: undistorted ones, or fisheye ones undistorted when loaded.

Poses stand in up to three files (``nerfstudio/transforms_undistorted.json``, ``nerfstudio/transforms.json``,
``colmap/images.txt``); a frame on which they disagree, or that one of them marks as bad, is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from scannet_tools.colmap import read_colmap
from scannet_tools.exported import ExportedFrame, stored_size
from scannet_tools.lenses import Lens
from scannet_tools.listing import (
    Agreement,
    Frames,
    Listing,
    Photo,
    photo_files,
    read_json,
    read_listings,
    resized,
    settle,
    stem_of,
    view_of,
)
from scannet_tools.nerfstudio import read_transforms
from spacecast.errors import InputError
from spacecast.scan import Problem, View, by_number


@dataclass(frozen=True)
class DslrSettings:
    """Bounds in reading DSLR photos."""

    max_pose_distance_m: float = 0.01
    """Poses of one photo in two files may lie so far apart (own: one is made from the other)."""
    max_pose_angle_deg: float = 0.5
    """... and be turned by so much against each other (own)."""


SETTINGS = DslrSettings()

UNDISTORTED = "nerfstudio/transforms_undistorted.json"
FISHEYE = "nerfstudio/transforms.json"
COLMAP = "colmap/images.txt"
LISTS = "train_test_lists.json"


class PhotoLists(NamedTuple):
    """``train_test_lists.json``: file stems of the photos to learn from and to test on, and whether masks are there."""

    train: tuple[str, ...]
    test: tuple[str, ...]
    has_masks: bool


def read_photo_lists(path: Path) -> PhotoLists:
    """The lists of photos of a scene.

    Raises:
        InputError: the file cannot be read, or a list in it is none of file names.
    """
    data = read_json(path, dict)
    names: dict[str, tuple[str, ...]] = {}
    for key in ("train", "test"):
        listed = data.get(key, [])
        if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
            raise InputError(f"{path}: {key} is no list of file names; download it again")
        names[key] = tuple(stem_of(name) for name in listed)
    return PhotoLists(names["train"], names["test"], bool(data.get("has_masks", False)))


def read_dslr(folder: Path) -> Frames:
    """The views of the DSLR photos in a scene's ``dslr`` folder, without loading a picture.

    A frame is taken from ``resized_undistorted_images`` where that has its photo and ``transforms_undistorted.json``
    its camera, else from ``resized_images``, undistorted when loaded.
    """
    readers = {UNDISTORTED: read_transforms, FISHEYE: read_transforms, COLMAP: read_colmap}
    listings, problems = read_listings(folder, readers)
    inputs = {f"dslr/{name}": folder / name for name in (*readers, "colmap/cameras.txt") if (folder / name).is_file()}
    by_name = {listing.path.relative_to(folder).as_posix(): listing for listing in listings}
    flat_lenses = _flat_lenses(by_name.get(UNDISTORTED), problems)
    bent_lenses = {**_lenses(by_name.get(COLMAP)), **_lenses(by_name.get(FISHEYE))}
    flat, bent = photo_files(folder / "resized_undistorted_images"), photo_files(folder / "resized_images")
    agreement = Agreement(SETTINGS.max_pose_distance_m, SETTINGS.max_pose_angle_deg)

    views: dict[str, View] = {}
    lenses: dict[str, Lens] = {}
    listed = {name for listing in listings for name in listing.frames}
    for name in by_number(sorted(listed)):
        entry = settle(name, listings, agreement)
        if entry is None or entry.fault is not None or entry.world_from_camera is None:
            problems += [entry.fault] if entry is not None and entry.fault is not None else []
            continue
        if name in flat and name in flat_lenses:
            path, lens, target = flat[name], flat_lenses[name], None
        elif name in bent and name in bent_lenses:
            path, lens = bent[name], bent_lenses[name]
            target = flat_lenses[name].pinhole if name in flat_lenses else None
        else:
            problems.append(_no_photo(name, name in flat or name in bent))
            continue
        view = view_of(name, entry.world_from_camera, lens, stored_photo(path), problems, target=target)
        if view is not None:
            views[name], lenses[name] = view, lens
    for name in by_number(sorted((flat.keys() | bent.keys()) - listed)):
        problems.append(Problem("missing_pose", name, "a photo that no file of poses lists; left out"))
    problems += resized(views, lenses)
    if (folder / LISTS).is_file():
        inputs[f"dslr/{LISTS}"] = folder / LISTS
        problems += _list_problems(folder / LISTS, listed | flat.keys() | bent.keys())
    return Frames(views, tuple(problems), inputs)


def stored_photo(path: Path) -> Photo:
    """A picture file."""
    frame = ExportedFrame(path.stem, path, None, None)
    return Photo(partial(stored_size, path), frame.load_color, frame.encoded_color)


def _lenses(listing: Listing | None) -> dict[str, Lens]:
    return {} if listing is None else {n: f.lens for n, f in listing.frames.items() if f.lens is not None}


def _flat_lenses(listing: Listing | None, problems: list[Problem]) -> Mapping[str, Lens]:
    """Lenses of undistorted photos: whatever model the file names, its coefficients have to be 0."""
    lenses = _lenses(listing)
    bent = sorted(n for n, lens in lenses.items() if any(lens.radial) or any(lens.tangential))
    if bent and listing is not None:
        detail = f"states distortion for {len(bent)} photos that should have none; not used"
        problems.append(Problem("no_camera", listing.path.name, detail))
    return {n: replace(lens, kind="radial") for n, lens in lenses.items() if n not in set(bent)}


def _no_photo(name: str, is_there: bool) -> Problem:
    if is_there:
        return Problem("no_camera", name, "a photo whose camera no file states; left out")
    return Problem("unstored_photo", name, "listed, and not on disk; left out")


def _list_problems(path: Path, known: set[str]) -> list[Problem]:
    try:
        lists = read_photo_lists(path)
    except InputError as error:
        return [Problem("broken_lists", path.name, str(error))]
    both = sorted(set(lists.train) & set(lists.test))
    found = [Problem("broken_lists", name, f"{path.name} has it to train on and to test on") for name in both]
    strange = by_number(sorted((set(lists.train) | set(lists.test)) - known))
    return found + [Problem("unstored_photo", n, f"in {path.name}, and nowhere else; left out") for n in strange]
