"""COLMAP models as text: ``cameras.txt`` and ``images.txt``.

A line of ``images.txt`` is ``IMAGE_ID QW QX QY QZ TX TY TZ CAMERA_ID NAME``: camera from world, so poses are inverted
here. The line after it lists 2D points, may be empty, and is not read.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from scannet_tools.lenses import Lens
from scannet_tools.listing import PHOTO_SUFFIXES, Listed, Listing, collect, stem_of
from scannet_tools.raw_files import read_whole
from spacecast.errors import FrameError, InputError
from spacecast.frames import Transform
from spacecast.scan import Problem

_LONGEST_LINE = 1 << 26  # bytes; a picture with a million points has half of it
_LONGEST_NAME = 4096  # bytes at the end of a line that tell a picture's name from a list of points


def read_colmap(images_path: Path) -> Listing:
    """The frames of ``images.txt``, with their lenses from ``cameras.txt`` beside it.

    Frames of a camera that is missing or cannot be used have no lens. The world is that of the model, which in
    ScanNet++ is the mesh's.

    Raises:
        InputError: ``images.txt`` cannot be read, or lists no picture.
    """
    lenses, problems = read_cameras(images_path.with_name("cameras.txt"))
    entries = []
    try:
        with images_path.open("rb") as file:
            while line := file.readline(_LONGEST_LINE):
                if len(line) == _LONGEST_LINE:
                    raise InputError(f"{images_path}: a line of more than {_LONGEST_LINE} bytes; download it again")
                tail = line[-_LONGEST_NAME:].rstrip().lower()
                if not line.startswith(b"#") and tail.endswith(_SUFFIX_BYTES):
                    entries.append(_image(line.decode("utf-8", errors="replace"), lenses))
    except OSError as error:
        raise InputError(f"{images_path}: cannot be read ({error.strerror})") from None
    if not entries:
        raise InputError(f"{images_path}: lists no picture")
    return collect(images_path, entries, problems)


_SUFFIX_BYTES = tuple(suffix.encode() for suffix in PHOTO_SUFFIXES)


def read_cameras(path: Path) -> tuple[dict[str, Lens], list[Problem]]:
    """The lenses of ``cameras.txt`` by camera id; what cannot be used is a problem."""
    name = f"{path.parent.name}/{path.name}"
    try:
        text = read_whole(path).decode("utf-8", errors="replace")
    except InputError as error:
        return {}, [Problem("no_camera", name, f"{error}; its frames have no intrinsics")]
    lenses: dict[str, Lens] = {}
    problems = []
    for line in text.splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            key, model, width, height, *parameters = words
            lenses[key] = Lens.from_colmap(model, [float(p) for p in parameters], int(width), int(height))
        except FrameError as error:
            problems.append(Problem("no_camera", name, f"camera {words[0]}: {error}; its frames are left out"))
        except ValueError:
            problems.append(Problem("no_camera", name, f"makes no sense: {line[:60]!r}; its frames are left out"))
    return lenses, problems


def _image(line: str, lenses: dict[str, Lens]) -> Listed:
    words = line.split(None, 9)
    name = stem_of(words[-1].strip())
    try:
        if len(words) != 10:
            raise FrameError(f"images.txt: expected 10 entries in a line, found {len(words)}")
        try:
            quat_wxyz, shift = np.array(words[1:5], dtype=np.float64), np.array(words[5:8], dtype=np.float64)
        except ValueError:
            raise FrameError(f"images.txt: a pose of numbers is needed, found {' '.join(words[1:8])[:60]!r}") from None
        camera_from_world = Transform.from_quat_wxyz(quat_wxyz, shift, target="camera", source="world")
        return Listed(name, camera_from_world.inverse(), lenses.get(words[8]))
    except FrameError as error:
        return Listed(name, None, None, Problem("lost_pose", name, f"{error}; left out"))
