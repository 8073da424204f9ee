"""The folder that a build writes to: refused where it holds something else, changed only when all is there."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spacecast.dataset.reader import MANIFEST
from spacecast.errors import InputError
from spacecast.files import write_whole

WORK = ".work"
"""Folder in the dataset's folder for what is unfinished."""
SHARE = "shard.json"
"""File in a shard's folder (see ``share.py``); it is no dataset."""
_STATE = "build.json"
_LOCK = "lock"
_RELEASED = ("data", "evidence", "rejections.parquet", "README.md", MANIFEST)


@contextmanager
def held(out: Path, said: Mapping[str, Any], *, resume: bool) -> Iterator[Path]:
    """A folder that nobody else builds in meanwhile, with its working folder started or kept.

    Args:
        out: the folder to write.
        said: what the build is, as in ``BuildSettings.shown``; a build in the folder has to be the same.
        resume: keep what an earlier build left in the working folder.

    Yields:
        The working folder.

    Raises:
        InputError: the folder is a file, holds what is not of this build, or another process builds in it.
    """
    work = out / WORK
    _check(out, said)  # a folder that is refused is left as it was
    lock = _locked(work / _LOCK)
    try:
        _check(out, said)  # of a build that ended meanwhile
        if not resume:
            for path in sorted(work.iterdir()):
                if path.is_dir():
                    shutil.rmtree(path)
                elif path.name not in (_LOCK, _STATE):
                    path.unlink()
        with write_whole(work / _STATE) as aside:
            aside.write_text(json.dumps({"build": said}, sort_keys=True), encoding="utf-8")
        yield work
    finally:
        os.close(lock)


def _check(out: Path, said: Mapping[str, Any]) -> None:
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: is a file; give a folder to write")
    states = _states(out)
    if not states and not _is_fresh(out):
        raise InputError(f"{out}: is not empty and holds no build; choose a new or empty folder")
    for path in states:
        problems = differences(_settings_in(path), said)
        if problems:
            raise InputError(f"{out}: holds a build with other settings ({', '.join(problems)}); choose another folder")


def _states(out: Path) -> list[Path]:
    """Files that say of what build a folder holds something."""
    return [path for path in (out / WORK / _STATE, out / MANIFEST, out / SHARE) if path.is_file()]


def _is_fresh(out: Path) -> bool:
    """Not there, empty, or left by a build that was killed before it wrote what it is."""
    if not out.is_dir():
        return True
    work = out / WORK
    started = [path.name for path in work.iterdir()] if work.is_dir() else []
    return {path.name for path in out.iterdir()} <= {WORK} and all(
        name == _LOCK or name.startswith(f".{_STATE}.") for name in started
    )


def _locked(path: Path) -> int:
    """A file descriptor that holds a lock on a file; the system frees it when the process ends, however it ends.

    Raises:
        InputError: another process holds it.
    """
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except BlockingIOError as error:
            os.close(descriptor)
            out = path.parent.parent
            raise InputError(f"{out}: another build writes here now; wait for it, or choose another folder") from error
        except OSError:
            os.close(descriptor)
            raise
        os.close(descriptor)  # a build that ended meanwhile took the file away


def _settings_in(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8"))["build"])
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{path}: does not say what was built here; choose another folder or empty it") from None


def differences(there: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Where two settings of a build are not the same, as ``questions 12, not 13``; ``None`` is shown as the default."""
    return [
        f"{name} {_shown(there.get(name))}, not {_shown(wanted.get(name))}"
        for name in sorted({*there, *wanted})
        if there.get(name) != wanted.get(name) or (name in there) != (name in wanted)
    ]


def _shown(value: object) -> str:
    return "the default" if value is None else repr(value)


def staging(out: Path) -> Path:
    """An empty folder beside the dataset's files to write the new ones to."""
    folder = out / WORK / "release"
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    return folder


def publish(out: Path, names: Sequence[str] = _RELEASED) -> None:
    """Put what was staged into place, the last name last, and remove the working folder.

    Without a manifest a folder holds no dataset: one that is stopped in here is not taken for a whole one.

    Args:
        out: the folder.
        names: files and folders that may be staged; the last says that all is there.
    """
    (out / names[-1]).unlink(missing_ok=True)
    for name in names:
        if (out / name).is_dir():
            shutil.rmtree(out / name)
        staged = out / WORK / "release" / name
        if staged.exists():
            staged.replace(out / name)
    shutil.rmtree(out / WORK)
