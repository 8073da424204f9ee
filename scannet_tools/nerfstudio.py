"""``transforms.json`` of nerfstudio, as ScanNet++ has it.

Its poses are camera to world with OpenGL camera axes (y up, z back) and in another world than the mesh: x and y
swapped, z negated. Both are put right here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from scannet_tools.lenses import Lens
from scannet_tools.listing import Listed, Listing, collect, read_json, stem_of
from spacecast.errors import FrameError, InputError
from spacecast.frames import Transform, opencv_from_opengl
from spacecast.scan import Problem

_CAMERA_KEYS = ("fl_x", "fl_y", "cx", "cy", "w", "h", "camera_model", "k1", "k2", "k3", "k4", "p1", "p2")
_MODELS = {"OPENCV": "OPENCV", "OPENCV_FISHEYE": "OPENCV_FISHEYE", "PINHOLE": "OPENCV", "SIMPLE_PINHOLE": "OPENCV"}
"""Of a pinhole too the coefficients are read, so that ``dslr.py`` can refuse undistorted photos that state some."""
_WORLD_FROM_NERFSTUDIO = Transform(
    "world", "nerfstudio", np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]]), np.zeros(3)
)
"""Swap x and y, negate z: its own inverse, and a rotation (determinant +1)."""


def read_transforms(path: Path) -> Listing:
    """The frames and test frames of a ``transforms.json``; frames marked ``is_bad`` carry the fault ``bad_frame``.

    Raises:
        InputError: the file cannot be read, or has no list of frames.
    """
    data = read_json(path, dict)
    frames = data.get("frames")
    tests = data.get("test_frames") or []
    if not isinstance(frames, list) or not isinstance(tests, list):
        raise InputError(f"{path}: has no list frames; download it again")
    problems: list[Problem] = []
    lens = _lens(data, path, problems)
    entries = []
    for position, frame in enumerate([*frames, *tests]):
        file_path = frame.get("file_path") if isinstance(frame, dict) else None
        if not isinstance(file_path, str) or not stem_of(file_path):
            problems.append(Problem("lost_pose", f"{path.name} frame {position}", "names no picture; left out"))
            continue
        own = lens if not any(key in frame for key in _CAMERA_KEYS) else _lens({**data, **frame}, path, problems)
        entries.append(_frame(stem_of(file_path), frame, own, path))
    return collect(path, entries, problems)


def _frame(name: str, frame: Mapping[str, Any], lens: Lens | None, path: Path) -> Listed:
    if frame.get("is_bad") not in (None, False, 0, "", "false", "False"):
        return Listed(name, None, None, Problem("bad_frame", name, f"{path.name} marks it is_bad; left out"))
    try:
        try:
            matrix = np.array(frame.get("transform_matrix"), dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise FrameError("transform_matrix is not 16 numbers") from None
        if matrix.shape == (3, 4):
            matrix = np.vstack([matrix, [0.0, 0.0, 0.0, 1.0]])
        nerfstudio_from_opengl = Transform.from_matrix(matrix, target="nerfstudio", source="camera")
    except FrameError as error:
        return Listed(name, None, None, Problem("lost_pose", name, f"{path.name}: {error}; left out"))
    return Listed(name, _WORLD_FROM_NERFSTUDIO @ opencv_from_opengl(nerfstudio_from_opengl), lens)


def _lens(data: Mapping[str, Any], path: Path, problems: list[Problem]) -> Lens | None:
    """The lens that the file states; None, with a problem, where it states none that can be used."""
    stated = str(data.get("camera_model", "OPENCV"))
    try:
        if stated not in _MODELS:
            raise FrameError(f"camera model {stated[:40]!r} is not known; known: {', '.join(_MODELS)}")
        values = {name: float(data.get(name) or 0.0) for name in ("k1", "k2", "k3", "k4", "p1", "p2")}
        values |= {to: float(data[key]) for to, key in (("fx", "fl_x"), ("fy", "fl_y"), ("cx", "cx"), ("cy", "cy"))}
        return Lens.from_parameters(_MODELS[stated], values, int(data["w"]), int(data["h"]))
    except FrameError as error:
        why = str(error)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        why = f"needs fl_x fl_y cx cy w h: {type(error).__name__} {str(error)[:80]}"
    problem = Problem("no_camera", path.name, f"{why}; its frames have no intrinsics")
    if problem not in problems:
        problems.append(problem)
    return None
