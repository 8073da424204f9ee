"""Three models that need no server: chance, the commonest answer, and one that computes from the facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from spacecast.dataset.chance import generator
from spacecast.dataset.form import GARBLED
from spacecast.dataset.recompute import letters_of, solve
from spacecast.dataset.rows import Row
from spacecast.errors import InputError
from spacecast.evaluation.predictions import write_predictions
from spacecast.evaluation.score import Report, opened, score
from spacecast.files import outside

Baseline = Literal["random", "majority", "oracle"]
PREDICTIONS = "predictions.jsonl"


def evaluate_baseline(benchmark: str | Path, out: str | Path, *, model: Baseline = "random", seed: int = 0) -> Report:
    """Answer every question, write ``predictions.jsonl`` and the scores into a folder, return the report.

    Args:
        benchmark: folder of the dataset.
        out: folder to write.
        model: ``random`` chooses uniformly among the options, or among the non-empty sets of them; ``majority`` chooses
            the answer text (for multi-select the letters) that is most often right in its category in this very
            benchmark; ``oracle`` computes the answer from the facts, and never reads one.
        seed: of ``random``; a question's answer depends on the seed and its uid alone.

    Raises:
        InputError: the benchmark cannot be read, or, for the oracle, facts that no answer can be computed from.
    """
    rows = opened(benchmark).rows
    makers: dict[str, Callable[[], Callable[[Row], Sequence[str]]]] = {
        "random": lambda: lambda row: random_letters(row, seed),
        "majority": lambda: _majority(rows),
        "oracle": lambda: oracle_letters,
    }
    if model not in makers:
        raise InputError(f"no baseline named {model!r}; known: {', '.join(makers)}")
    answer = makers[model]()
    path = outside(out, benchmark) / PREDICTIONS
    given = [{"question_uid": row.question_uid, "prediction": list(answer(row))} for row in rows]
    write_predictions(path, given)  # once all are there: where one cannot be computed no folder is left behind
    return score(benchmark, path, out)


def random_letters(row: Row, seed: int) -> tuple[str, ...]:
    """A uniform draw among the options, for multi-select among the non-empty sets of them."""
    rng = generator("baseline", "random", seed, row.question_uid)
    count = len(row.option_labels)
    if not row.multi_select:
        return (row.option_labels[int(rng.integers(count))],)
    chosen = int(rng.integers(1, 2**count))
    return tuple(label for bit, label in enumerate(row.option_labels) if chosen >> bit & 1)


def oracle_letters(row: Row) -> tuple[str, ...]:
    """The letters whose meaning is the answer that the facts give.

    Raises:
        InputError: the facts do not determine an answer, or no option means it.
    """
    facts = row.facts
    try:
        answer = solve(facts).answer
        values = [option["value"] for option in facts["options"]]
        letters = letters_of(row.option_labels, values, answer, kind=facts["relation"]["kind"])
    except GARBLED as error:
        raise InputError(f"question {row.question_uid}: facts lack or garble {error}") from error
    except InputError as error:
        raise InputError(f"question {row.question_uid}: {error}") from error
    if not letters:
        raise InputError(f"question {row.question_uid}: no option means {answer!r}")
    return letters


def _majority(rows: Sequence[Row]) -> Callable[[Row], tuple[str, ...]]:
    """By category: how often each text (multi-select: each set of letters) is right."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        right = [",".join(row.answer)] if row.multi_select else [_text(row, letter) for letter in row.answer]
        counts.setdefault(row.category, Counter()).update(right)

    def answer(row: Row) -> tuple[str, ...]:
        seen = counts[row.category]
        if row.multi_select:
            return tuple(min(seen, key=lambda letters: (-seen[letters], letters)).split(","))
        return (min(row.option_labels, key=lambda letter: (-seen[_text(row, letter)], letter)),)

    return answer


def _text(row: Row, letter: str) -> str:
    return row.options[row.option_labels.index(letter)]
