"""Finds readers, suites and commands through entry points, so that the engine imports none of them."""

from __future__ import annotations

import difflib
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from spacecast.errors import InputError, SpacecastError
from spacecast.scan import Reader, Scan

GROUPS = ("spacecast.readers", "spacecast.suites", "spacecast.commands")


@cache
def names(group: str) -> tuple[str, ...]:
    """Registered names of a group, sorted.

    Raises:
        SpacecastError: two packages register the same name; the message names both.
    """
    found: dict[str, Any] = {}
    for entry in entry_points(group=group):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:
            raise SpacecastError(
                f"{group} {entry.name!r} is registered twice: by {other.value} and by {entry.value}; uninstall one"
            )
    return tuple(sorted(found))


@cache
def load(group: str, name: str) -> Any:
    """The object registered under a name.

    Raises:
        SpacecastError: no such name; the message suggests the nearest.
    """
    if name not in names(group):
        near = difflib.get_close_matches(name, names(group), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(names(group)) or 'none'}"
        raise SpacecastError(f"no {group.removeprefix('spacecast.')} named {name!r}{hint}")
    entry = next(entry for entry in entry_points(group=group) if entry.name == name)
    return entry.load()


def readers() -> tuple[Reader, ...]:
    """All registered readers, by name."""
    return tuple(load("spacecast.readers", name) for name in names("spacecast.readers"))


def find_scans(root: Path, cameras: str | None = None) -> dict[str, tuple[Reader, Path]]:
    """Every scene under a root that some reader knows: scene id -> reader and folder.

    Args:
        root: folder that holds scans.
        cameras: whose pictures readers take, of scans that have several cameras; None: as each reader does by itself.

    Raises:
        InputError: the root is no folder, or holds no scene of a known layout, or none with these cameras.
    """
    if not root.is_dir():
        what = "is a file" if root.exists() else "no such folder"
        raise InputError(f"{root}: {what}; give the folder that holds your scans")
    found: dict[str, tuple[Reader, Path]] = {}
    for reader in readers():
        for scene_id, path in reader.find(root).items():
            if scene_id in found:
                raise InputError(
                    f"{root}: scene {scene_id} is found twice: {found[scene_id][1]} and {path}; take one away"
                )
            found[scene_id] = (reader, path)
    if not found:
        known = ", ".join(names("spacecast.readers"))
        raise InputError(f"{root}: no scene of a known layout ({known}) in this folder; give the folder above them")
    if cameras is not None and not any(reader.cameras for reader, _ in found.values()):
        raise no_choice(cameras)
    return {scene_id: (reader.choosing(cameras), path) for scene_id, (reader, path) in sorted(found.items())}


def no_choice(cameras: str) -> InputError:
    """The error where cameras are chosen and no scan has several."""
    return InputError(f"cameras {cameras!r}: none of these scans has several cameras to choose from; leave it out")


def open_scan(folder: str | Path, cameras: str | None = None) -> Scan:
    """Read one scene folder with the reader that knows its layout.

    Args:
        folder: of the scene.
        cameras: as in :func:`find_scans`.

    Raises:
        InputError: no reader knows the folder, or its mesh or labels cannot be read, or it has no such cameras.
    """
    path = Path(folder)
    scans = find_scans(path, cameras)
    if len(scans) > 1:
        raise InputError(
            f"{path}: holds {len(scans)} scenes; give one scene's folder, for example {path}/{next(iter(scans))}"
        )
    ((reader, scene_path),) = scans.values()
    return reader.read(scene_path)
