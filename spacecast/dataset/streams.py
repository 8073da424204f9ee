"""The questions, rows and pictures of a build, made or read anew each time that they are gone through, so that memory
does not grow with their number."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spacecast.dataset.evidence import SURVEY_PARTS, Survey
from spacecast.dataset.reader import rows_in
from spacecast.dataset.rows import Row, row_of
from spacecast.dataset.settings import Folder
from spacecast.dataset.shards import Question, Shard
from spacecast.dataset.tasks import pictures_of, records_of
from spacecast.dataset.twins import twins_of
from spacecast.dataset.types import Suite
from spacecast.dataset.words import candidate_from


@dataclass(frozen=True)
class Questions(Collection[Question]):
    """The questions in the order of the dataset: by scene, type and uid. They are made a scene at a
    time."""

    suite: Suite
    files: Mapping[str, Path]
    """Scene key -> its candidates; in order, only scenes with questions."""
    chosen: Mapping[str, Mapping[str, str]]
    """Scene key -> uid -> type code."""
    orders: Mapping[str, tuple[int, ...]]
    """Uid -> order of its options."""

    def __len__(self) -> int:
        return len(self.orders)

    def __contains__(self, question: object) -> bool:
        return isinstance(question, Question) and question.row.question_uid in self.orders

    def __iter__(self) -> Iterator[Question]:
        for key in self.files:
            yield from self.of_scene(key)

    def of_scene(self, key: str) -> list[Question]:
        """The questions of one scene."""
        kinds = {kind.code: kind for kind in self.suite.types}
        places = {code: i for i, code in enumerate(kinds)}
        codes = self.chosen[key]
        records = records_of(self.files[key], set(codes))
        candidates = {uid: candidate_from(records[uid]) for uid in sorted(codes)}
        twins = twins_of(candidates.values())
        version = self.suite.wording_version
        return [
            Question(
                row_of(candidates[uid], kinds[code], self.orders[uid], wording_version=version, twin=twins.get(uid)),
                candidates[uid],
            )
            for uid, code in sorted(codes.items(), key=lambda pair: (places[pair[1]], pair[0]))
        ]


@dataclass(frozen=True)
class Rows(Collection[Row]):
    """The rows as they were written, read a shard at a time each time that they are gone through."""

    folder: Path
    shards: Sequence[Shard]

    def __len__(self) -> int:
        return sum(shard.rows for shard in self.shards)

    def __contains__(self, row: object) -> bool:
        return any(row == other for other in self)

    def __iter__(self) -> Iterator[Row]:
        for shard in self.shards:
            yield from rows_in(self.folder / shard.path)


class Pictures:
    """Encoded pictures of rows, of one scene at a time, each read when it is first shown: rows come scene by scene."""

    def __init__(self, file_of: Callable[[str], Path]) -> None:
        self._file_of = file_of
        self._scene = ""
        self._encoded: dict[str, bytes] = {}
        self._survey: Survey | None = None

    def _named(self, row: Row, names: Sequence[str]) -> tuple[bytes, ...]:
        if self._scene != _scene_of(row):
            self._scene = _scene_of(row)
            self._encoded, self._survey = {}, None
        missing = {name for name in names if name not in self._encoded}
        if missing:
            self._encoded.update(pictures_of(self._file_of(self._scene), missing))
        return tuple(self._encoded[name] for name in names)

    def __call__(self, row: Row) -> tuple[bytes, ...]:
        """Those of a row, in the order shown."""
        return self._named(row, (row.image_name, *row.auxiliary_image_names))

    def survey_of(self, row: Row) -> Survey:
        """The survey of a row's scene."""
        parts = self._named(row, SURVEY_PARTS)
        if self._survey is None:
            self._survey = Survey.from_parts(dict(zip(SURVEY_PARTS, parts, strict=True)))
        return self._survey


def _scene_of(row: Row) -> str:
    return Folder(row.dataset, row.scene_id, Path()).key
