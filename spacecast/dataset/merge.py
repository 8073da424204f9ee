"""One dataset from the shards of a build, with the bytes that a build in one go has.

The scans are not needed: shards hold candidates and pictures. Only where a scene takes the place of one that failed,
which no shard has looked at, is it read from where it lay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from spacecast.dataset.build import BuildReport, Progress, build_given
from spacecast.dataset.manifest import versions_of
from spacecast.dataset.settings import REGISTERED, Sources
from spacecast.dataset.share import given_by, read_shard, thresholds_of
from spacecast.errors import InputError
from spacecast.files import apart


def merge(
    shards: Sequence[str | Path],
    out: str | Path,
    *,
    workers: int = 1,
    progress: Progress | None = None,
    sources: Sources = REGISTERED,
) -> BuildReport:
    """Build a dataset from all shards of a build.

    Args:
        shards: folders that were built with a share each, in any order.
        out: folder to write; new, empty, or of a build with the same settings.
        workers: processes, for scenes that no shard has looked at.
        progress: called with (stage, done, total).
        sources: where scans and suites come from; by default the entry points.

    Raises:
        InputError: a shard is missing, there twice, of another build, unfinished or damaged, or ``out`` holds
            something else, or lies in a shard or around one.
        SpacecastError: no question could be asked.
    """
    if not shards:
        raise InputError("no shards: give the folders that were built with --shard i/n")
    apart(out, shards)
    read = [read_shard(Path(path)) for path in shards]
    given = given_by(read)
    first = read[0]
    suite = sources.suite(first.settings.suite)
    now = versions_of(suite), thresholds_of(suite, sources, first.scenes)
    if now != (first.versions, first.thresholds):
        version = first.versions.get("spacecast")
        raise InputError(
            f"{first.path}: was built by another version of the code than this one, or with other thresholds; "
            f"merge with the one that built it (spacecast {version})"
        )
    return build_given(given, Path(out), replace(first.settings, workers=workers), progress=progress, sources=sources)
