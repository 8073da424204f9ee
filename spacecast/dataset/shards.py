"""Rows to Parquet shards, each read back and compared with what was meant before it counts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

from spacecast.dataset.rows import Row, rows_of, table_of
from spacecast.dataset.types import Candidate
from spacecast.errors import SpacecastError
from spacecast.files import sha256_of, write_whole


@dataclass(frozen=True)
class ShardSettings:
    """Sizes; FORMATS section 3."""

    rows_per_shard: int = 100
    """Rows of a shard; the last may have fewer."""
    rows_per_group: int = 10
    """Rows of a row group (own): what is read to show one question."""


SETTINGS = ShardSettings()


class Question(NamedTuple):
    """A row and the candidate that it was made from."""

    row: Row
    candidate: Candidate


class Shard(NamedTuple):
    """A shard that was written."""

    path: str
    """From the dataset's folder."""
    rows: int
    bytes: int
    sha256: str


def shard_name(number: int, count: int) -> str:
    """``data/test-00000-of-00039.parquet``."""
    return f"data/test-{number:05d}-of-{count:05d}.parquet"


def write_shards(
    questions: Collection[Question], pictures: Callable[[Row], tuple[bytes, ...]], folder: Path
) -> Iterator[Shard]:
    """Write questions in their order; yields each shard when it is written and compared.

    Args:
        questions: in the order of the rows.
        pictures: the encoded pictures of a row, in the order shown.
        folder: of the dataset.

    Raises:
        SpacecastError: what was read back is not what was meant.
    """
    size = SETTINGS.rows_per_shard
    count = -(-len(questions) // size)
    rest = iter(questions)
    for number in range(count):
        part = list(islice(rest, size))
        encoded = [pictures(question.row) for question in part]
        name = shard_name(number, count)
        path = folder / name
        with write_whole(path) as aside:
            table = table_of([question.row for question in part], encoded)
            pq.write_table(table, aside, row_group_size=SETTINGS.rows_per_group)
            _compare(aside, part, encoded, name)
        yield Shard(name, len(part), path.stat().st_size, sha256_of(path))


def _compare(path: Path, questions: Sequence[Question], encoded: Sequence[tuple[bytes, ...]], name: str) -> None:
    table = pq.ParquetFile(path).read()
    rows = rows_of(table, name)
    shown = [tuple(image["bytes"] for image in images) for images in table.column("images").to_pylist()]
    if len(rows) != len(questions) or shown != list(encoded):
        raise SpacecastError(f"{name}: rows or pictures read back are not those that were written; is the disk sound?")
    for row, question in zip(rows, questions, strict=True):
        problem = "differs from what was written" if row != question.row else meaning_problem(row, question.candidate)
        if problem:
            raise SpacecastError(f"{name}: question {row.question_uid} {problem}")


def meaning_problem(row: Row, candidate: Candidate) -> str | None:
    """What of a row's options, gold and facts is not what its candidate means; None where all agrees.

    Looks options up by their text and not by their order, so that it shares nothing with the way they were ordered.
    """
    choices = candidate.draft.choices
    meant = {text: choice for text, choice in zip(candidate.option_texts, choices, strict=True)}
    if len(row.option_labels) != len(row.options) or set(row.options) != set(meant) or len(row.options) != len(meant):
        return "has other options than were drafted"
    gold = {text for label, text in zip(row.option_labels, row.options, strict=True) if label in row.answer}
    if gold != {text for text, choice in meant.items() if choice.is_right} or len(gold) != len(row.answer):
        return "has another right answer than was drafted"
    if set(row.correct_values) != {choice.value for choice in choices if choice.is_right}:
        return "has other correct values than were drafted"
    facts = row.facts["options"]
    if [option["text"] for option in facts] != list(row.options):
        return "lists its options in another order in its facts"
    if any((option["value"], option["tag"]) != tuple(meant[option["text"]]) for option in facts):
        return "says something else of an option in its facts"
    return None
