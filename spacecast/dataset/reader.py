"""Reads a dataset of questions: rows as values, facts parsed, pictures when asked for."""

from __future__ import annotations

import hashlib
import io
import json
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from spacecast.dataset.form import damage_of, manifest_damage
from spacecast.dataset.rows import COLUMNS, Row, rows_of
from spacecast.errors import InputError
from spacecast.files import sha256_of

MANIFEST = "release_manifest.json"
SHARDS = "data/test-*.parquet"
_MOST_SHARDS = 10_000
"""More are not looked for, whatever a file's name says."""


class Picture(NamedTuple):
    """An encoded picture (JPEG or PNG) of a question."""

    name: str
    role: str
    encoded: bytes

    def decoded(self) -> Image.Image:
        """Its pixels, read whole.

        Raises:
            InputError: it is no JPEG or PNG picture, or is cut off.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", Image.DecompressionBombWarning)  # a hundred megapixels is no picture
                image = Image.open(io.BytesIO(self.encoded), formats=("JPEG", "PNG"))
                image.load()
        except Exception as error:  # what a broken picture raises is not told
            raise InputError(f"picture {self.name} cannot be decoded as JPEG or PNG; run verify") from error
        return image


class Evidence(NamedTuple):
    """What may be shown beside a question's pictures (:mod:`spacecast.dataset.evidence`)."""

    text: str
    map_png: bytes


def evidence_paths(question_uid: str) -> tuple[str, str]:
    """Where a question's text and map lie in its dataset, where it was built with evidence."""
    return f"evidence/{question_uid}.txt", f"evidence/{question_uid}.png"


class _Place(NamedTuple):
    shard: Path
    row: int


@dataclass(frozen=True, eq=False)
class Benchmark:
    """A dataset of questions on disk. Iterating gives its rows in the order of the files.

    Attributes:
        path: the folder.
        rows: every question, without pictures.
        manifest: ``release_manifest.json`` parsed; empty where the dataset has none.
    """

    path: Path
    rows: tuple[Row, ...]
    manifest: Mapping[str, Any]
    _places: Mapping[str, _Place] = field(repr=False)
    _last_group: dict[tuple[Path, int], pa.Array] = field(default_factory=dict, repr=False)

    @classmethod
    def open(cls, path: str | Path, *, check: bool = False, whole: bool = True) -> Benchmark:
        """Read all rows of a dataset; pictures stay on disk.

        Args:
            path: the folder that holds ``data/test-*.parquet``.
            check: also compare every shard with the manifest's hash.
            whole: refuse a dataset that lacks a shard, or in which a question lacks a part
                (:mod:`spacecast.dataset.form`); what reads one that is not has to expect that.

        Raises:
            InputError: no dataset there, a shard that cannot be read or lacks a column, two questions with one uid;
                with ``check`` a shard that is not the one that the manifest names; with ``whole`` what it refuses.
        """
        folder = Path(path)
        shards = sorted(folder.glob(SHARDS))
        if not folder.is_dir():
            what = "is a file" if folder.exists() else "no such folder"
            raise InputError(f"{folder}: {what}; give the folder of a dataset of questions")
        if not shards:
            raise InputError(f"{folder}: no {SHARDS} in it; give the folder of a dataset of questions")
        rows: list[Row] = []
        places: dict[str, _Place] = {}
        for shard in shards:
            for number, row in enumerate(rows_in(shard)):
                if row.question_uid in places:
                    raise InputError(f"{shard}: question {row.question_uid} is there twice; build the dataset again")
                places[row.question_uid] = _Place(shard, number)
                rows.append(row)
        benchmark = cls(folder, tuple(rows), read_manifest(folder), places)
        if whole:
            benchmark._refuse_parts()
        if check:
            problems = benchmark.shard_problems()
            if problems:
                raise InputError(problems[0])
        return benchmark

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def by_uid(self) -> dict[str, Row]:
        """Rows by ``question_uid``, in the order of the files."""
        return {row.question_uid: row for row in self.rows}

    def pictures(self, question_uid: str) -> tuple[Picture, ...]:
        """The encoded pictures of a question, in the order shown.

        Raises:
            InputError: no question has this uid, or its pictures are not embedded.
        """
        if question_uid not in self._places:
            raise InputError(f"{self.path}: no question {question_uid}")
        place = self._places[question_uid]
        images = self._images(place)
        row = self.by_uid[question_uid]
        names = (row.image_name, *row.auxiliary_image_names)
        if not len(images) == len(names) == len(row.image_roles) or None in images:
            raise InputError(f"{place.shard}: question {question_uid} has no pictures embedded, or not all")
        shown = zip(names, row.image_roles, images, strict=True)
        return tuple(Picture(name, role, encoded) for name, role, encoded in shown if encoded is not None)

    def evidence(self, question_uid: str) -> Evidence:
        """The text and the map of a question.

        Raises:
            InputError: the dataset has none for it, or a file is not the one that the manifest names.
        """
        if question_uid not in self._places:
            raise InputError(f"{self.path}: no question {question_uid}")
        listed = self.manifest.get("evidence") or {}
        contents = []
        for name in evidence_paths(question_uid):
            path = self.path / name
            if name not in listed or not path.is_file():
                raise InputError(f"{path}: no evidence for this question; build the dataset with --evidence")
            contents.append(path.read_bytes())
            if hashlib.sha256(contents[-1]).hexdigest() != listed[name]:
                raise InputError(f"{path}: its bytes are not those of {MANIFEST}; it was changed after the build")
        text, map_png = contents
        try:
            return Evidence(text.decode("utf-8"), map_png)
        except UnicodeDecodeError as error:
            raise InputError(f"{self.path / evidence_paths(question_uid)[0]}: not UTF-8; build it again") from error

    def _images(self, place: _Place) -> list[bytes | None]:
        try:
            images = self._entry_of(place)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{place.shard}: its pictures cannot be read; build or download it again") from error
        if not isinstance(images, list):
            return []
        return [image.get("bytes") if isinstance(image, dict) else None for image in images]

    def _entry_of(self, place: _Place) -> Any:
        file = pq.ParquetFile(place.shard)
        first = 0
        for number in range(file.num_row_groups):
            count = file.metadata.row_group(number).num_rows
            if place.row < first + count:
                key = (place.shard, number)
                if key not in self._last_group:  # one row group is kept: rows are mostly read in order
                    self._last_group.clear()
                    group = file.read_row_group(number, columns=["images"])
                    self._last_group[key] = group.column("images") if group.num_columns else pa.nulls(count)
                return self._last_group[key][place.row - first].as_py()
            first += count
        raise InputError(f"{place.shard}: has no row {place.row}; it changed while it was read")

    def _refuse_parts(self) -> None:
        names = {str(entry["path"]) for entry in self.manifest.get("shards", [])}
        for shard in self.path.glob(SHARDS):  # each says how many there are, as test-00003-of-00039
            count = re.fullmatch(r"test-\d{5}-of-(\d{5})", shard.stem)
            if count:
                numbers = range(min(int(count[1]), _MOST_SHARDS))
                names |= {f"data/test-{number:05d}-of-{count[1]}.parquet" for number in numbers}
        lacking = sorted(name for name in names if not (self.path / name).is_file())
        if lacking:
            raise InputError(
                f"{self.path}: {len(lacking)} of its {len(names)} shards are not there, as {lacking[0]}; "
                "build or download the dataset again"
            )
        if not self.rows:
            raise InputError(f"{self.path}: there is no question in it; build or download the dataset again")
        questions = self.manifest.get("questions")
        if questions not in (None, len(self)):
            raise InputError(
                f"{self.path}: {len(self)} questions, and {MANIFEST} says {questions}; build or download it again"
            )
        for row in self.rows:
            damage = damage_of(row)
            if damage is not None:
                raise InputError(
                    f"{self._places[row.question_uid].shard}: question {row.question_uid}: {damage.detail}; "
                    "build or download the dataset again"
                )

    def shard_problems(self) -> list[str]:
        """What does not agree between the shards and the manifest's hashes, a line each; empty if all agrees."""
        listed = {entry["path"]: entry["sha256"] for entry in self.manifest.get("shards", [])}
        if not listed:
            what = "names no shards" if (self.path / MANIFEST).is_file() else "is not there"
            return [f"{self.path / MANIFEST}: {what}; the shards' hashes cannot be checked"]
        found = {str(shard.relative_to(self.path).as_posix()): shard for shard in sorted(self.path.glob(SHARDS))}
        problems = [
            f"{self.path / name}: named in {MANIFEST} and not there" for name in sorted(set(listed) - set(found))
        ]
        for name, shard in found.items():
            if name not in listed:
                problems.append(f"{shard}: not named in {MANIFEST}")
            elif sha256_of(shard) != listed[name]:
                problems.append(f"{shard}: its bytes are not those of {MANIFEST}; it was changed after the build")
        return problems


def rows_in(shard: Path) -> list[Row]:
    """The rows of one shard.

    Raises:
        InputError: it cannot be read, or lacks a column.
    """
    try:
        table = pq.ParquetFile(shard).read(columns=[name for name in COLUMNS if name != "images"])
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{shard}: not a readable Parquet file; build or download it again") from error
    try:
        return rows_of(table, str(shard))
    except UnicodeDecodeError as error:
        raise InputError(f"{shard}: a text is not UTF-8; build or download it again") from error


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a dataset; empty where it has none.

    Raises:
        InputError: it is not JSON, or a part that is read of it is of another kind.
    """
    path = folder / MANIFEST
    if not path.is_file():
        return {}
    text = path.read_bytes()
    damage = manifest_damage(text)
    if damage is not None:
        raise InputError(f"{path}: {damage}; build or download the dataset again")
    manifest: dict[str, Any] = json.loads(text)
    return manifest
