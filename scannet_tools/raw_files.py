"""Files and folders of raw data, whatever stands there: bounded reading, and only what is a file or a folder.

A link that leads nowhere or in a circle, a pipe or a device is none; names that cannot be written in a line are none.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacecast.errors import InputError


@dataclass(frozen=True)
class RawFileSettings:
    """Bounds of what is read at once."""

    max_whole_bytes: int = 1 << 28
    """A larger file that is read whole is none of ours (own; the largest, segments of a big mesh, have some 100 MB)."""
    max_name_chars: int = 255
    """A longer name is no file's (own; what file systems hold)."""


SETTINGS = RawFileSettings()


def read_whole(path: Path, *, max_bytes: int = SETTINGS.max_whole_bytes) -> bytes:
    """A file's bytes.

    Raises:
        InputError: it cannot be read, or has more than ``max_bytes``.
    """
    try:
        with path.open("rb") as file:
            is_larger = os.fstat(file.fileno()).st_size > max_bytes
            data = b"" if is_larger else file.read(max_bytes)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except MemoryError:
        raise InputError(f"{path}: does not fit into memory") from None
    if is_larger:
        raise InputError(f"{path}: more than {max_bytes} bytes, which no such file has; download it again")
    return data


def load_json(path: Path) -> Any:
    """The content of a JSON file.

    Raises:
        InputError: the file cannot be read, or is no JSON.
    """
    try:
        return json.loads(read_whole(path))
    except (ValueError, RecursionError):
        raise InputError(f"{path}: not whole JSON; download it again") from None
    except MemoryError:
        raise InputError(f"{path}: does not fit into memory") from None


def is_name(name: str) -> bool:
    """True if this can be a file's name in a line of text: not empty, not too long, and all of it printable."""
    return 0 < len(name) <= SETTINGS.max_name_chars and name.isprintable()


def folders_in(folder: Path) -> list[Path]:
    """The folders in a folder, sorted; links to folders are folders.

    Raises:
        InputError: the folder cannot be read.
    """
    return [path for path in _listed(folder) if is_name(path.name) and _is(path.is_dir)]


def scenes_under(root: Path, *, is_scene: Callable[[Path], bool], has_mesh: Callable[[Path], bool]) -> dict[str, Path]:
    """Scene folders by name, sorted: the root itself, folders in it, or folders in those.

    Where two folders have one scene's name, the one with a mesh counts.

    Args:
        root: absolute or not.
        is_scene: tells a scene's folder.
        has_mesh: tells one that can be read.

    Raises:
        InputError: two folders hold a mesh of one scene, or a folder cannot be read.
    """
    root = Path(os.path.abspath(root))
    if is_scene(root):
        return {root.name: root}
    found: dict[str, Path] = {}
    for child in folders_in(root):
        for folder in [child] if is_scene(child) else [f for f in folders_in(child) if is_scene(f)]:
            other = found.setdefault(folder.name, folder)
            if other == folder or not has_mesh(folder) or os.path.samefile(other, folder):
                continue
            if has_mesh(other):
                raise InputError(f"{root}: scene {folder.name} is found twice: {other} and {folder}; give one of them")
            found[folder.name] = folder
    return dict(sorted(found.items()))


def files_in(folder: Path, suffixes: Sequence[str]) -> list[Path]:
    """The files in a folder with one of some endings in any case, sorted; none where there is no such folder.

    Raises:
        InputError: the folder cannot be read.
    """
    if not _is(folder.is_dir):
        return []
    return [path for path in _listed(folder) if path.name.lower().endswith(tuple(suffixes)) and _is_readable(path)]


def _listed(folder: Path) -> list[Path]:
    try:
        return [folder / name for name in sorted(os.listdir(folder)) if not name.startswith(".")]
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({error.strerror})") from None


def _is_readable(path: Path) -> bool:
    """True of a file, and of a link that leads nowhere: that is told where it is opened."""
    return _is(path.is_file) or (path.is_symlink() and not _is(path.exists))


def _is(test: Any) -> bool:
    try:
        return bool(test())
    except OSError:  # no way to it
        return False
