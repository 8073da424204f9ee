"""Scores: a benchmark and a model's predictions to ``report.json`` and ``per_question.jsonl``. FORMATS section 3.

A question is right if exactly its letters are chosen. What is missing, invalid or failed is wrong, in the full
denominator.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spacecast.dataset.chance import generator
from spacecast.dataset.reader import MANIFEST, Benchmark
from spacecast.dataset.rows import Row
from spacecast.evaluation.predictions import Response, read_predictions
from spacecast.files import outside, write_whole

REPORT = "report.json"
PER_QUESTION = "per_question.jsonl"
SCHEMA = "spacecast-report/1"

Report = dict[str, Any]
"""What ``report.json`` holds, tables in a stable order; its cells are those of :class:`Cell`, :class:`Twins` and
:class:`Mistake`. ``by_type`` has the keys ``level / name``. ``macro_type_accuracy`` is None unless the dataset is the
whole release; ``mean_type_accuracy`` is the mean over the categories that are there."""


@dataclass(frozen=True)
class ScoreSettings:
    """How scores are made."""

    resamples: int = 1000
    """Draws of scenes, with replacement, behind a confidence interval."""
    interval: float = 0.95
    """Share of the draws that lies inside an interval."""
    release_categories: int = 16
    """Categories (level and name) of the whole release; SEMANTICS section 6."""
    decimals: int = 6
    """Places that shares are written with."""


SETTINGS = ScoreSettings()


@dataclass(frozen=True)
class Cell:
    """The score of some questions.

    Attributes:
        count: questions; the denominator.
        correct: how many are right.
        accuracy: ``correct / count``.
        interval: of the accuracy, resampling scenes; None where fewer than two scenes are in it.
        chance: expected accuracy of a uniform guess (multi-select: among the non-empty sets of letters).
        above_chance: ``accuracy - chance``.
        missing: no prediction.
        invalid: a reply without an answer.
        error: the model failed.
    """

    count: int
    correct: int
    accuracy: float
    interval: tuple[float, float] | None
    chance: float
    above_chance: float
    missing: int
    invalid: int
    error: int


@dataclass(frozen=True)
class Twins:
    """Questions about a change beside the same questions before it, where both are asked.

    ``lost`` counts pairs whose question before the change is right and after it wrong: lost to the update.
    """

    pairs: int
    twin_accuracy: float
    accuracy: float
    drop: float
    interval: tuple[float, float] | None
    both_right: int
    lost: int
    gained: int
    both_wrong: int


@dataclass(frozen=True)
class Mistake:
    """How often a kind of distractor was chosen, among the answered questions that offered one."""

    chosen: int
    offered: int
    share: float


@dataclass(frozen=True)
class _Marked:
    """A question with its response."""

    row: Row
    response: Response

    @property
    def correct(self) -> bool:
        return self.response.status == "answered" and set(self.response.letters) == set(self.row.answer)

    @property
    def chance(self) -> float:
        count = len(self.row.options)
        return 1.0 / (2**count - 1 if self.row.multi_select else count)

    @property
    def scene(self) -> tuple[str, str]:
        return (self.row.dataset, self.row.scene_id)


def score(benchmark_path: str | Path, predictions_path: str | Path, out_path: str | Path) -> Report:
    """Score predictions, and write ``report.json`` and ``per_question.jsonl`` into a folder.

    Raises:
        InputError: the benchmark or the predictions cannot be read, a shard is not the one that the benchmark's
            manifest names, or a uid is unknown or there twice.
    """
    benchmark = opened(benchmark_path)
    responses = read_predictions(Path(predictions_path), benchmark.by_uid)
    report = score_responses(benchmark, responses)
    write_report(benchmark, responses, report, outside(out_path, benchmark.path))
    return report


def opened(benchmark_path: str | Path) -> Benchmark:
    """A benchmark that may be scored: whole, and, where it has a manifest, as it was built.

    Raises:
        InputError: it is not.
    """
    return Benchmark.open(benchmark_path, check=(Path(benchmark_path) / MANIFEST).is_file())


def score_responses(benchmark: Benchmark, responses: Mapping[str, Response]) -> Report:
    """The report of responses that are already read; there is one for every row."""
    marked = [_Marked(row, responses[row.question_uid]) for row in benchmark.rows]
    draws = _Draws([item.scene for item in marked])
    cell = draws.cell
    by_type = _cells(marked, lambda item: item.row.category, cell)
    levels = sorted({item.row.level for item in marked})
    mean, mean_interval = draws.mean_over_types(marked)
    counts = Counter(item.response.status for item in marked)
    problems = Counter(str(item.response.problem) for item in marked if item.response.status == "invalid")
    twins = [item for item in marked if _twin_uid(item.row) in benchmark.by_uid]
    right = {item.row.question_uid: item.correct for item in marked}
    report = {
        "schema": SCHEMA,
        "overall": cell(marked),
        "by_level": _cells(marked, lambda item: item.row.level, cell),
        "by_dataset": _cells(marked, lambda item: item.row.dataset, cell),
        "by_type": by_type,
        "by_level_type": {
            level: _cells([item for item in marked if item.row.level == level], lambda item: item.row.type, cell)
            for level in levels
        },
        "macro_type_accuracy": mean if _is_whole_release(benchmark) else None,
        "mean_type_accuracy": mean,
        "mean_type_interval": mean_interval,
        "mean_type_chance": float(np.mean([entry.chance for entry in by_type.values()])),
        "missing": counts["missing"],
        "invalid": counts["invalid"],
        "error": counts["error"],
        "invalid_by_problem": dict(sorted(problems.items())),
        "by_frame": _cells(marked, lambda item: str((item.row.facts.get("frame") or {}).get("kind", "none")), cell),
        "by_image_count": _cells(marked, lambda item: str(len(item.row.image_roles)), cell),
        "by_relation_unchanged": _cells(marked, lambda item: json.dumps(item.row.relation_unchanged), cell),
        "twins": draws.twins(twins, right) if twins else None,
        "twins_by_type": {
            name: draws.twins(group, right) for name, group in _groups(twins, lambda item: item.row.category).items()
        },
        "mistakes": _mistakes(marked),
        "mistakes_by_type": {
            name: _mistakes(group) for name, group in _groups(marked, lambda item: item.row.category).items()
        },
        "multi_select": _multi_select(marked),
    }
    plain: Report = _plain(report)
    return plain


def write_report(benchmark: Benchmark, responses: Mapping[str, Response], report: Report, out: Path) -> None:
    """Write ``report.json`` and ``per_question.jsonl`` (in the order of the benchmark) into a folder."""
    with write_whole(out / PER_QUESTION) as aside, aside.open("w", encoding="utf-8", newline="\n") as file:
        for row in benchmark.rows:
            item = _Marked(row, responses[row.question_uid])
            file.write(json.dumps(_line(item), ensure_ascii=False) + "\n")
    with write_whole(out / REPORT) as aside:
        aside.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


class _Draws:
    """Scenes drawn with replacement, the same draws for every table."""

    def __init__(self, scenes: Sequence[tuple[str, str]]) -> None:
        self.scenes = sorted(set(scenes))
        self.index = {scene: number for number, scene in enumerate(self.scenes)}
        count = len(self.scenes)
        rng = generator("score", "scenes", count)
        self.weights = rng.multinomial(count, np.full(count, 1.0 / count), size=SETTINGS.resamples)

    def shares(self, items: Sequence[_Marked], values: Sequence[float]) -> NDArray[np.float64]:
        """(resamples,) mean of the values in each draw; nan where no scene of theirs is drawn."""
        numbers = np.array([self.index[item.scene] for item in items])
        sums = np.bincount(numbers, weights=np.asarray(values, dtype=np.float64), minlength=len(self.scenes))
        counts = np.bincount(numbers, minlength=len(self.scenes))
        total = self.weights @ counts
        with np.errstate(invalid="ignore"):
            return np.where(total > 0, (self.weights @ sums) / total, np.nan)

    def interval(self, items: Sequence[_Marked], shares: NDArray[np.float64]) -> tuple[float, float] | None:
        if len({item.scene for item in items}) < 2:
            return None
        tail = (1.0 - SETTINGS.interval) / 2.0
        low, high = np.nanquantile(shares, [tail, 1.0 - tail])
        return float(low), float(high)

    def cell(self, items: Sequence[_Marked]) -> Cell:
        right = [float(item.correct) for item in items]
        chance = float(np.mean([item.chance for item in items]))
        counts = Counter(item.response.status for item in items)
        accuracy = sum(right) / len(items)
        return Cell(
            count=len(items),
            correct=int(sum(right)),
            accuracy=accuracy,
            interval=self.interval(items, self.shares(items, right)),
            chance=chance,
            above_chance=accuracy - chance,
            missing=counts["missing"],
            invalid=counts["invalid"],
            error=counts["error"],
        )

    def mean_over_types(self, items: Sequence[_Marked]) -> tuple[float, tuple[float, float] | None]:
        groups = _groups(items, lambda item: item.row.category).values()
        right = [[float(item.correct) for item in group] for group in groups]
        shares = np.stack([self.shares(group, values) for group, values in zip(groups, right, strict=True)])
        drawn = ~np.isnan(shares)
        means = np.where(drawn, shares, 0.0).sum(axis=0) / np.maximum(drawn.sum(axis=0), 1)
        return float(np.mean([np.mean(values) for values in right])), self.interval(items, means)

    def twins(self, items: Sequence[_Marked], right: Mapping[str, bool]) -> Twins:
        before = [right[str(_twin_uid(item.row))] for item in items]
        after = [item.correct for item in items]
        pairs = Counter(zip(before, after, strict=True))
        drops = [float(b) - float(a) for b, a in zip(before, after, strict=True)]
        return Twins(
            pairs=len(items),
            twin_accuracy=sum(before) / len(items),
            accuracy=sum(after) / len(items),
            drop=sum(drops) / len(items),
            interval=self.interval(items, self.shares(items, drops)),
            both_right=pairs[True, True],
            lost=pairs[True, False],
            gained=pairs[False, True],
            both_wrong=pairs[False, False],
        )


def _is_whole_release(benchmark: Benchmark) -> bool:
    """True if all sixteen categories are there; a dataset that lacks questions of its manifest is not opened."""
    return len({row.category for row in benchmark.rows}) == SETTINGS.release_categories


def _twin_uid(row: Row) -> str | None:
    return (row.facts.get("twin") or {}).get("question_uid")


def _groups(items: Iterable[_Marked], key: Callable[[_Marked], str]) -> dict[str, list[_Marked]]:
    groups: dict[str, list[_Marked]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return dict(sorted(groups.items()))


def _cells(
    items: Sequence[_Marked], key: Callable[[_Marked], str], cell: Callable[[Sequence[_Marked]], Cell]
) -> dict[str, Cell]:
    return {name: cell(group) for name, group in _groups(items, key).items()}


def _tags(row: Row) -> dict[str, str | None]:
    """Letter -> the mistake that its option stands for; None for a right one."""
    options = row.facts.get("options") or []
    return {label: option["tag"] for label, option in zip(row.option_labels, options, strict=False)}


def _mistakes(items: Iterable[_Marked]) -> dict[str, Mistake]:
    """By the tag of a distractor: questions in which one was chosen, and answered questions that offered one."""
    chosen: Counter[str] = Counter()
    offered: Counter[str] = Counter()
    for item in items:
        if item.response.status != "answered":
            continue
        tags = _tags(item.row)
        offered.update({str(tag) for tag in tags.values() if tag is not None})
        chosen.update({str(tags[letter]) for letter in item.response.letters if tags.get(letter) is not None})
    return {
        tag: Mistake(chosen=chosen[tag], offered=offered[tag], share=chosen[tag] / offered[tag])
        for tag in sorted(offered)
    }


def _multi_select(items: Iterable[_Marked]) -> dict[str, int] | None:
    """How answered multi-select questions fail: right letters left out, wrong ones added, or both."""
    answered = [item for item in items if item.row.multi_select and item.response.status == "answered"]
    if not answered:
        return None
    kinds: Counter[str] = Counter()
    for item in answered:
        gold, given = set(item.row.answer), set(item.response.letters)
        kinds["exact" if gold == given else "left_out" if given < gold else "added" if gold < given else "both"] += 1
    return {name: kinds[name] for name in ("exact", "left_out", "added", "both")}


def _line(item: _Marked) -> dict[str, Any]:
    row, response = item.row, item.response
    tags = _tags(row)
    return {
        "question_uid": row.question_uid,
        "dataset": row.dataset,
        "scene_id": row.scene_id,
        "level": row.level,
        "type": row.type,
        "answer": list(row.answer),
        "prediction": list(response.letters),
        "correct": item.correct,
        "status": response.status,
        "problem": response.problem,
        "mistakes": sorted({str(tags[letter]) for letter in response.letters if tags.get(letter) is not None}),
        "images": len(row.image_roles),
        "relation_unchanged": row.relation_unchanged,
        "twin_uid": _twin_uid(row),
    }


def _plain(value: Any) -> Any:
    """As JSON has it: cells as objects, shares rounded, pairs as lists."""
    if isinstance(value, Cell | Twins | Mistake):
        return _plain(asdict(value))
    if isinstance(value, float):
        return round(value, SETTINGS.decimals)
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value
