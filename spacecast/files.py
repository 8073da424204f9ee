"""Files appear whole or not at all."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from spacecast.errors import InputError


@contextmanager
def write_whole(path: Path) -> Iterator[Path]:
    """Yields a name beside ``path`` to write to; renamed onto ``path`` when the block ends, removed when it fails.

    The name is nobody else's: processes of several machines, which may have equal ids, write to one folder.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        yield aside
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


@contextmanager
def write_all(folder: Path) -> Iterator[Path]:
    """Yields an empty folder in ``folder`` to write to; when the block ends its files take their places in ``folder``,
    where files of other names stay; when it fails, ``folder`` is as it was."""
    was_there = folder.exists()
    if was_there and not folder.is_dir():
        raise InputError(f"{folder}: is a file; give a folder to write")
    aside = folder / f".{os.getpid()}-{secrets.token_hex(4)}.part"
    aside.mkdir(parents=True)
    try:
        yield aside
        for path in sorted(aside.rglob("*")):
            if path.is_file():
                place = folder / path.relative_to(aside)
                place.parent.mkdir(parents=True, exist_ok=True)
                path.replace(place)
    except BaseException:
        if not was_there:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def sha256_of(path: Path) -> str:
    """Hex digest of a file's bytes, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def outside(path: str | Path, folder: str | Path) -> Path:
    """A path that is not a folder, nor lies in it, links followed: what is read and what is written are kept apart.

    Raises:
        InputError: it is, or does; nothing needs to be there yet.
    """
    inner, outer = Path(os.path.realpath(path)), Path(os.path.realpath(folder))
    if inner == outer:
        raise InputError(f"{path}: is read from, and is kept as it is; give another one to write to")
    if inner.is_relative_to(outer):
        raise InputError(f"{path}: lies in {folder}, and only one of them may be changed; give another one to write to")
    return Path(path)


def apart(out: str | Path, given: Iterable[str | Path]) -> None:
    """A folder to write is :func:`outside` every one that is given, and these outside it; ``InputError`` otherwise."""
    for folder in given:
        outside(out, folder)
        outside(folder, out)
