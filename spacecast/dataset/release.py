"""The folder that a build writes to: refused where it holds something else, changed only when all is there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from spacecast.dataset.reader import MANIFEST
from spacecast.dataset.settings import BuildSettings
from spacecast.errors import InputError
from spacecast.files import write_whole

WORK = ".work"
"""Folder in the dataset's folder for what is unfinished."""
_STATE = "build.json"
_RELEASED = ("data", "evidence", "rejections.parquet", "README.md", MANIFEST)


def prepare(out: Path, settings: BuildSettings) -> Path:
    """Make sure that a folder may be written to, and start or keep its working folder.

    Returns:
        The working folder; with ``settings.resume`` it holds what an earlier build left.

    Raises:
        InputError: it is a file, or holds what is not of a build with these settings.
    """
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: is a file; give a folder to write")
    work = out / WORK
    states = [path for path in (work / _STATE, out / MANIFEST) if path.is_file()]
    if not states and out.is_dir() and any(out.iterdir()):
        raise InputError(f"{out}: is not empty and holds no build; choose a new or empty folder")
    for path in states:
        problem = _difference(_settings_in(path), settings.shown())
        if problem:
            raise InputError(f"{out}: holds a build with other settings ({problem}); choose another folder")
    if work.exists() and not settings.resume:
        shutil.rmtree(work)
    work.mkdir(parents=True, exist_ok=True)
    with write_whole(work / _STATE) as aside:
        aside.write_text(json.dumps({"build": settings.shown()}, sort_keys=True), encoding="utf-8")
    return work


def _settings_in(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8"))["build"])
    except (ValueError, KeyError, TypeError):
        return {}


def _difference(there: dict[str, Any], wanted: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} {there.get(name)!r}, not {wanted.get(name)!r}"
        for name in sorted({*there, *wanted})
        if there.get(name) != wanted.get(name) or (name in there) != (name in wanted)
    )


def staging(out: Path) -> Path:
    """An empty folder beside the dataset's files to write the new ones to."""
    folder = out / WORK / "release"
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    return folder


def publish(out: Path) -> None:
    """Put what was staged into place, the manifest last, and remove the working folder.

    Without a manifest a folder holds no dataset: one that is stopped in here is not taken for a whole one.
    """
    (out / MANIFEST).unlink(missing_ok=True)
    for name in _RELEASED:
        if (out / name).is_dir():
            shutil.rmtree(out / name)
        staged = out / WORK / "release" / name
        if staged.exists():
            staged.replace(out / name)
    shutil.rmtree(out / WORK)
