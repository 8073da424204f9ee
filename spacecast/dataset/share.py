"""A shard of a build: the candidates of its share of the scenes, and every picture that they may show.

A folder that is no dataset: ``candidates/`` and ``pictures/`` hold a file a scene, and ``shard.json``, which comes
last, says which build it is of: settings, versions, thresholds, all scenes in their order, and the hash of every file.
Other machines than the one that made it can select from it without the scans.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spacecast.dataset.manifest import settings_of_modules, versions_of
from spacecast.dataset.release import SHARE, WORK, differences
from spacecast.dataset.settings import BuildSettings, Folder, Sources, digest_of
from spacecast.dataset.types import Suite
from spacecast.errors import InputError, SpacecastError
from spacecast.files import sha256_of, write_whole

SCHEMA = "spacecast-shard/1"
CANDIDATES, PICTURES = "candidates", "pictures"
SHARED = (CANDIDATES, PICTURES, SHARE)
"""What a shard's folder holds."""
_OF_ONE_RUN = frozenset({"workers", "resume", "scheduler"})
"""Settings that change no byte."""


@dataclass(frozen=True)
class Share:
    """Which part of a build: every ``count``-th scene, from the ``number``-th on (from 1)."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def of(self, keys: Sequence[str]) -> list[str]:
        """The scenes of this part; those of all parts together are the whole."""
        return list(keys[self.number - 1 :: self.count])

    @classmethod
    def parse(cls, text: str) -> Share:
        """From ``2/5``.

        Raises:
            SpacecastError: it is none.
        """
        match = re.fullmatch(r"(\d+)/(\d+)", text.strip())
        share = cls(*map(int, match.groups())) if match else None
        if share is None or not 1 <= share.number <= share.count:
            raise SpacecastError(f"--shard should be i/n with i from 1 to n, for example 2/5; found {text!r}")
        return share


@dataclass(frozen=True)
class Shard:
    """What a shard's folder says of itself.

    Attributes:
        path: the folder.
        share: which part.
        settings: of the build, but what changes no byte.
        shown: ``settings.shown()``.
        versions: of code, suite, types, wording.
        thresholds: digest of the settings of all modules.
        scenes: of the whole build, in their order, and where they lay.
        spare: scenes that take the place of such as fail, and where they lay.
        failures: scene key -> why it cannot be used; of this part alone.
        files: name in the folder -> SHA-256.
    """

    path: Path
    share: Share
    settings: BuildSettings
    shown: Mapping[str, Any]
    versions: Mapping[str, Any]
    thresholds: str
    scenes: tuple[Folder, ...]
    spare: tuple[Folder, ...]
    failures: Mapping[str, str]
    files: Mapping[str, str]


@dataclass(frozen=True)
class Given:
    """What shards give to a build: it does not look for these scenes again.

    Attributes:
        folders: all scenes of the build, in their order.
        spare: scenes that take the place of such as fail; shards did not look for their candidates.
        failures: scene key -> why it cannot be used.
        candidates: scene key -> its file of candidates.
        pictures: scene key -> its file of pictures.
    """

    folders: Mapping[str, Folder]
    spare: Mapping[str, Folder]
    failures: Mapping[str, str]
    candidates: Mapping[str, Path]
    pictures: Mapping[str, Path]


def thresholds_of(suite: Suite, sources: Sources, folders: Iterable[Folder]) -> str:
    """Digest of the settings of all modules that a build of these scenes rests on."""
    packages = sources.packages(suite, sorted({folder.dataset for folder in folders}))
    return digest_of(settings_of_modules(packages))


def shard_of(
    share: Share,
    settings: BuildSettings,
    suite: Suite,
    sources: Sources,
    *,
    folders: Mapping[str, Folder],
    spare: Mapping[str, Folder],
    failures: Mapping[str, str],
    files: Mapping[str, Sequence[Path]],
) -> dict[str, Any]:
    """The content of ``shard.json``.

    Args:
        share: which part.
        settings: of the build.
        suite: of the build.
        sources: of the build.
        folders: all scenes of the whole build, in their order.
        spare: scenes that take the place of such as fail.
        failures: scene key -> why it cannot be used.
        files: name of a folder of the shard -> its files, wherever they are now.
    """
    return {
        "schema": SCHEMA,
        "build": {**settings.shown(), "shard": str(share)},
        "settings": {name: value for name, value in asdict(settings).items() if name not in _OF_ONE_RUN},
        "versions": versions_of(suite),
        "thresholds": thresholds_of(suite, sources, folders.values()),
        "scenes": _listed(folders),
        "spare": _listed(spare),
        "failures": dict(failures),
        "files": {f"{name}/{path.name}": sha256_of(path) for name, paths in files.items() for path in paths},
    }


def _listed(folders: Mapping[str, Folder]) -> list[dict[str, Any]]:
    return [{**scene._asdict(), "path": str(scene.path)} for scene in folders.values()]


def _scenes(said: Sequence[Mapping[str, Any]]) -> tuple[Folder, ...]:
    return tuple(Folder(**{**scene, "path": Path(scene["path"])}) for scene in said)


def write_shard(said: Mapping[str, Any], files: Mapping[str, Sequence[Path]], folder: Path) -> None:
    """Move the files of a shard into a folder, and write ``shard.json`` there."""
    for name, paths in files.items():
        (folder / name).mkdir()
        for path in paths:
            path.replace(folder / name / path.name)
    with write_whole(folder / SHARE) as aside:
        aside.write_text(json.dumps(said, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def read_shard(path: Path) -> Shard:
    """What a shard's folder says.

    Raises:
        InputError: it is none, or it is unfinished.
    """
    file = path / SHARE
    if not file.is_file():
        if (path / WORK).is_dir():
            raise InputError(f"{path}: holds an unfinished build; finish it with the same --shard and --resume")
        raise InputError(f"{path}: holds no {SHARE}; give folders that were built with --shard i/n")
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
        if said["schema"] != SCHEMA:
            raise InputError(f"{file}: is of schema {said['schema']}, not {SCHEMA}; build the shard again")
        settings: dict[str, Any] = {name: _frozen(value) for name, value in said["settings"].items()}
        shown = dict(said["build"])
        return Shard(
            path=path,
            share=Share.parse(shown.pop("shard")),
            settings=BuildSettings(**settings),
            shown=shown,
            versions=said["versions"],
            thresholds=said["thresholds"],
            scenes=_scenes(said["scenes"]),
            spare=_scenes(said["spare"]),
            failures=said["failures"],
            files=said["files"],
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{file}: does not read as a shard; build it again") from error


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def given_by(shards: Sequence[Shard]) -> Given:
    """What the shards of one build give together.

    Raises:
        InputError: one is missing, there twice, of another build, made by other code, or damaged.
    """
    first, *others = shards
    for shard in others:
        problem = _foreign(first, shard)
        if problem:
            raise InputError(f"{shard.path}: is not of the same build as {first.path}: {problem}; build it again")
    places: dict[int, Path] = {}
    for shard in shards:
        if shard.share.number in places:
            both = f"{places[shard.share.number]} and {shard.path}"
            raise InputError(f"{both}: are both shard {shard.share}; give one of them")
        places[shard.share.number] = shard.path
    lacking = [str(Share(i, first.share.count)) for i in range(1, first.share.count + 1) if i not in places]
    if lacking:
        raise InputError(f"shard {', '.join(lacking)} is missing; give all {first.share.count} folders of the build")
    folders = {folder.key: folder for folder in first.scenes}
    failures: dict[str, str] = {}
    candidates: dict[str, Path] = {}
    pictures: dict[str, Path] = {}
    for shard in shards:
        failures.update(shard.failures)
        for key in shard.share.of(list(folders)):
            if key not in shard.failures:
                candidates[key] = _whole(shard, f"{CANDIDATES}/{key}.parquet")
                pictures[key] = _whole(shard, f"{PICTURES}/{key}.parquet")
    spare = {folder.key: folder for folder in first.spare}
    return Given(folders, spare, failures, candidates, pictures)


def _foreign(one: Shard, other: Shard) -> str:
    """How another shard differs in what all shards of one build have in common; empty if in nothing."""
    found = differences(other.shown, one.shown)
    if one.share.count != other.share.count:
        found.append(f"of {other.share.count} shards, not {one.share.count}")
    if [folder.key for folder in (*one.scenes, *one.spare)] != [folder.key for folder in (*other.scenes, *other.spare)]:
        found.append(f"of {len(other.scenes)} scenes, and other ones than the {len(one.scenes)}")
    if (one.versions, one.thresholds) != (other.versions, other.thresholds):
        found.append("made by another version of the code, or with other thresholds")
    return ", ".join(found)


def _whole(shard: Shard, name: str) -> Path:
    file = shard.path / name
    if not file.is_file() or shard.files.get(name) != sha256_of(file):
        what = "is missing" if not file.is_file() else "is not as it was written"
        raise InputError(f"{file}: {what}; copy the shard again")
    return file
