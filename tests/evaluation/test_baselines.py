"""Chance is chance, the majority is counted, and the oracle is right without reading an answer."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from handmade import direction_question, occlusion_question, questions, write

from spacecast.dataset.reader import Benchmark
from spacecast.errors import InputError
from spacecast.evaluation.baselines import evaluate_baseline, oracle_letters, random_letters


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Path:
    rows = questions(scenes=20, seed=4, per_type=12)
    return write(tmp_path_factory.mktemp("baselines"), rows, shard_rows=5000, pictures=[[b"x"]] * len(rows))


def test_oracle_is_right_on_everything(dataset, tmp_path) -> None:
    assert evaluate_baseline(dataset, tmp_path, model="oracle")["overall"]["accuracy"] == 1.0


def test_oracle_reads_no_answer() -> None:
    for row in questions(scenes=1):
        record = json.loads(row.source_record_json)
        record["facts"]["relation"]["before"]["value"] = None
        record["facts"]["relation"]["before"].pop("carried", None)
        for option in record["facts"]["options"]:
            option["tag"] = "other"
        blind = replace(row, answer=(), correct_values=(), source_record_json=json.dumps(record))
        assert oracle_letters(blind) == row.answer


def test_oracle_says_where_facts_are_broken() -> None:
    row = direction_question("q", "s", "left", np.random.default_rng(0))
    record = json.loads(row.source_record_json)
    del record["facts"]["frame"]
    with pytest.raises(InputError, match="question q"):
        oracle_letters(replace(row, source_record_json=json.dumps(record)))


def test_random_is_at_chance(dataset, tmp_path) -> None:
    """The mean over six types is 24.6 %, within three standard errors; ten seeds, so that luck does not decide."""
    rows = Benchmark.open(dataset).rows
    by_type = [[row for row in rows if row.category == name] for name in sorted({row.category for row in rows})]
    hits = [[random_letters(row, seed) == row.answer for row in group for seed in range(10)] for group in by_type]
    chances = [1 / 4] * 4 + [1 / 3, 1 / 7]
    error = np.sqrt(sum(c * (1 - c) / len(hits[0]) for c in chances)) / 6
    assert abs(np.mean([np.mean(group) for group in hits]) - 0.246) < 3 * error
    report = evaluate_baseline(dataset, tmp_path, model="random", seed=0)
    assert report["mean_type_accuracy"] == pytest.approx(np.mean([np.mean(group[::10]) for group in hits]), abs=1e-6)
    assert report["mean_type_chance"] == pytest.approx(0.246, abs=5e-4)


def test_random_depends_on_seed_and_uid_alone() -> None:
    rows = questions(scenes=3)
    assert [random_letters(r, 1) for r in rows] == [random_letters(r, 1) for r in reversed(rows)][::-1]
    assert [random_letters(r, 1) for r in rows] != [random_letters(r, 2) for r in rows]


def test_random_sets_are_uniform_over_the_seven() -> None:
    row = next(r for r in questions(scenes=1) if r.multi_select)
    counts = Counter(random_letters(row, seed) for seed in range(7000))
    assert len(counts) == 7
    assert all(abs(n - 1000) < 5 * np.sqrt(1000 * 6 / 7) for n in counts.values())


def test_majority_gives_the_commonest_text(tmp_path) -> None:
    rng = np.random.default_rng(0)
    states = ["occluded"] * 5 + ["not occluded"] * 3 + ["not visible"] * 2
    rows = [occlusion_question(f"q{n}", f"scene{n:04d}_00", state, rng) for n, state in enumerate(states)]
    report = evaluate_baseline(write(tmp_path / "set", rows), tmp_path / "out", model="majority")
    assert report["overall"]["correct"] == 5


def test_an_unknown_model_is_refused(dataset, tmp_path) -> None:
    with pytest.raises(InputError, match="no baseline named 'clever'"):
        evaluate_baseline(dataset, tmp_path, model="clever")  # type: ignore[arg-type]
