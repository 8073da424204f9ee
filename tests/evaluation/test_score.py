"""Scores of predictions that are written by hand, counted by hand."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from handmade import box, direction_question, facts_with, options_of, questions, row_with, write

from spacecast.errors import InputError
from spacecast.evaluation.baselines import evaluate_baseline
from spacecast.evaluation.score import PER_QUESTION, REPORT, score

CAMERA, OBJECTS = "L1 / Camera Direction", "L1 / Attachment"


def predict(path: Path, *records: dict) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def wrong(row) -> str:
    return next(label for label in row.option_labels if label not in row.answer)


@pytest.fixture(scope="module")
def rows():
    return questions(scenes=4, seed=2)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory, rows) -> Path:
    return write(tmp_path_factory.mktemp("score"), rows, shard_rows=40)


def test_all_right(dataset, rows, tmp_path) -> None:
    path = predict(
        tmp_path / "p.jsonl", *({"question_uid": r.question_uid, "prediction": list(r.answer)} for r in rows)
    )
    report = score(dataset, path, tmp_path / "out")
    assert report["overall"] == {
        "count": 192, "correct": 192, "accuracy": 1.0, "interval": [1.0, 1.0], "missing": 0, "invalid": 0, "error": 0,
        "chance": round((3 / 4 + 1 / 4 + 1 / 3 + 1 / 7) / 6, 6), "above_chance": round(1 - (1 + 1 / 3 + 1 / 7) / 6, 6),
    }  # fmt: skip
    assert {key: cell["count"] for key, cell in report["by_type"].items()} == dict.fromkeys(
        [f"L1 / {name}" for name in ("Attachment", "Camera Direction", "Distance", "Object Direction", "Occlusion",
                                     "World Direction")], 32
    )  # fmt: skip
    offered = Counter(tag for row in rows for tag in {option["tag"] for option in row.facts["options"]} - {None})
    assert offered.keys() == {"mirrored", "wrong_frame", "other"}
    assert report["mistakes"] == {tag: {"chosen": 0, "offered": n, "share": 0.0} for tag, n in offered.items()}
    assert report["macro_type_accuracy"] is None  # six types are not the whole release
    assert report["mean_type_accuracy"] == 1.0
    assert report["by_frame"]["none"]["count"] == 96
    assert [report["by_frame"][kind]["count"] for kind in ("camera", "object", "world")] == [32, 32, 32]
    assert set(report["by_level"]) == {"L1"}
    assert set(report["by_level_type"]["L1"]) == {key.removeprefix("L1 / ") for key in report["by_type"]}
    assert report["by_relation_unchanged"]["null"]["count"] == 192
    assert report["by_image_count"]["1"]["count"] == 192
    assert report["twins"] is None


def test_missing_invalid_and_failed_are_wrong_and_counted(dataset, rows, tmp_path) -> None:
    camera = [row for row in rows if row.category == CAMERA]
    records = [
        {"question_uid": camera[0].question_uid, "raw_response": f"<think>hm</think>Answer: {camera[0].answer[0]}"},
        {"question_uid": camera[1].question_uid, "raw_response": "I cannot tell."},
        {"question_uid": camera[2].question_uid, "raw_response": "A or B"},
        {"question_uid": camera[3].question_uid, "status": "error", "error_type": "timeout", "error_status": 504},
        {"question_uid": camera[4].question_uid, "prediction": wrong(camera[4])},
        # an error line is an error, whatever else it holds
        {"question_uid": camera[5].question_uid, "status": "error", "prediction": camera[5].answer[0]},
        {"question_uid": camera[6].question_uid, "prediction": "E"},
        {"question_uid": camera[7].question_uid, "prediction": None, "raw_response": camera[7].answer[0].lower()},
        {"question_uid": camera[8].question_uid},
    ]
    report = score(dataset, predict(tmp_path / "p.jsonl", *records), tmp_path / "out")
    cell = report["by_type"][CAMERA]
    assert (cell["count"], cell["correct"], cell["accuracy"]) == (32, 2, 2 / 32)
    assert (cell["missing"], cell["invalid"], cell["error"]) == (23, 4, 2)
    assert (report["missing"], report["invalid"], report["error"]) == (192 - 9, 4, 2)
    assert report["invalid_by_problem"] == {"empty": 1, "not_offered": 1, "several": 1, "unread": 1}
    assert report["overall"]["accuracy"] == round(2 / 192, 6)
    assert report["mistakes"]["other"]["chosen"] == 1
    assert report["mistakes"]["other"]["offered"] == 3  # of what was answered


def test_multi_select_is_the_exact_set(dataset, rows, tmp_path) -> None:
    two = [row for row in rows if row.category == OBJECTS and len(row.answer) == 2]
    first, second = two[0].answer
    other = next(label for label in "ABC" if label not in two[0].answer)
    records = [
        {"question_uid": two[0].question_uid, "prediction": f"{second}, {first}"},
        {"question_uid": two[1].question_uid, "prediction": [two[1].answer[0]]},
        {"question_uid": two[2].question_uid, "prediction": "A,B,C"},
        {"question_uid": two[3].question_uid, "prediction": "ABD"},
    ]
    report = score(dataset, predict(tmp_path / "p.jsonl", *records), tmp_path / "out")
    assert other not in two[0].answer
    assert report["by_type"][OBJECTS]["correct"] == 1
    assert report["by_type"][OBJECTS]["invalid"] == 1
    assert report["by_type"][OBJECTS]["chance"] == round(1 / 7, 6)
    assert report["multi_select"] == {"exact": 1, "left_out": 1, "added": 1, "both": 0}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['{"question_uid": "camera-scene0000_00-0", "prediction": "A"}'] * 2, "p.jsonl:2: .*answered twice"),
        (['{"question_uid": "nobody", "prediction": "A"}'], "p.jsonl:1: question nobody is not in the benchmark"),
        (["", "not json"], "p.jsonl:2: not JSON"),
        (["[" * 100_000], "p.jsonl:1: not JSON"),
        (['{"prediction": "A"}'], "no question_uid"),
        (["[1, 2]"], "no question_uid"),
    ],
)
def test_files_that_cannot_be_scored(dataset, tmp_path, lines, message) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(InputError, match=message):
        score(dataset, path, tmp_path / "out")
    assert not (tmp_path / "out" / REPORT).exists()


def test_a_byte_order_mark_is_no_part_of_the_first_line(dataset, rows, tmp_path) -> None:
    path = predict(tmp_path / "p.jsonl", {"question_uid": rows[0].question_uid, "prediction": rows[0].answer})
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert score(dataset, path, tmp_path / "out")["overall"]["correct"] == 1


def test_a_benchmark_that_was_changed_after_the_build_is_not_scored(dataset, rows, tmp_path) -> None:
    changed = shutil.copytree(dataset, tmp_path / "changed")
    shard = sorted(changed.glob("data/*.parquet"))[0]
    table = pq.read_table(shard)
    column = table.column_names.index("answer")
    answers = [["A"], *table.column("answer").to_pylist()[1:]]
    pq.write_table(table.set_column(column, table.schema.field("answer"), pa.array(answers)), shard)
    for use in (lambda: score(changed, predict(tmp_path / "p.jsonl"), tmp_path / "out"),
                lambda: evaluate_baseline(changed, tmp_path / "out")):  # fmt: skip
        with pytest.raises(InputError, match="it was changed after the build"):
            use()
    assert not (tmp_path / "out").exists()
    (changed / "release_manifest.json").unlink()  # then nothing says how it was
    assert score(changed, predict(tmp_path / "p.jsonl"), tmp_path / "out")["missing"] == len(rows)


def test_a_missing_file_is_one_line(dataset, tmp_path) -> None:
    with pytest.raises(InputError, match="No such file or directory; give a file of JSON lines"):
        score(dataset, tmp_path / "none.jsonl", tmp_path / "out")


def test_per_question_lines(dataset, rows, tmp_path) -> None:
    records = [{"question_uid": row.question_uid, "prediction": wrong(row)} for row in rows if len(row.answer) < 3]
    report = score(dataset, predict(tmp_path / "p.jsonl", *records), tmp_path / "out")
    lines = [json.loads(line) for line in (tmp_path / "out" / PER_QUESTION).read_text().splitlines()]
    assert [line["question_uid"] for line in lines] == [row.question_uid for row in rows]
    assert sum(line["correct"] for line in lines) == report["overall"]["correct"] == 0
    assert sum(line["status"] == "missing" for line in lines) == report["missing"]
    for row, line in zip(rows, lines, strict=True):
        tags = dict(zip(row.option_labels, (option["tag"] for option in row.facts["options"]), strict=True))
        chosen = wrong(row) if line["status"] == "answered" else []
        assert line["mistakes"] == sorted({tags[letter] for letter in chosen} - {None})
    assert json.loads((tmp_path / "out" / REPORT).read_text()) == report


def test_the_same_bytes_twice(dataset, rows, tmp_path) -> None:
    path = predict(tmp_path / "p.jsonl", *({"question_uid": r.question_uid, "prediction": "A"} for r in rows))
    for out in ("one", "two"):
        score(dataset, path, tmp_path / out)
    for name in (REPORT, PER_QUESTION):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_intervals_resample_scenes_and_not_questions(tmp_path) -> None:
    """All right in half of the scenes: the spread is that of scenes, sqrt(p (1 - p) / scenes), not of questions."""
    rng = np.random.default_rng(0)
    rows = [
        direction_question(f"q-{scene}-{number}", f"scene{scene:04d}_00", "front", rng)
        for scene in range(40)
        for number in range(25)
    ]
    dataset = write(tmp_path / "set", rows, shard_rows=1000, pictures=[[b"x"]] * len(rows))
    right = [row for row in rows if int(row.scene_id[5:9]) % 2]
    path = predict(tmp_path / "p.jsonl", *({"question_uid": r.question_uid, "prediction": r.answer[0]} for r in right))
    low, high = score(dataset, path, tmp_path / "out")["overall"]["interval"]
    half_width = 1.96 * np.sqrt(0.25 / 40)
    assert 0.5 - low == pytest.approx(half_width, rel=0.15)
    assert high - 0.5 == pytest.approx(half_width, rel=0.15)


def test_one_scene_has_no_interval(tmp_path) -> None:
    rows = questions(scenes=1)
    dataset = write(tmp_path / "set", rows)
    report = score(dataset, predict(tmp_path / "p.jsonl"), tmp_path / "out")
    assert report["overall"]["interval"] is None
    assert report["overall"]["missing"] == len(rows)


def changed_question(uid: str, twin: str | None, tags: list[str | None], *, unchanged: bool, images: int = 1):
    camera = {"kind": "camera", "anchor": None, "facing": None, "heading_in_world": [0, 1]}
    facts = facts_with(
        objects=[box(1, "bed", (0, 0, 0)), box(2, "chair", (0, 2, 0))],
        frame=camera,
        options=[
            {"text": v, "value": v, "tag": t} for v, t in zip(("front", "right", "back", "left"), tags, strict=True)
        ],
        twin={"value": "front", "question_uid": twin},
        intervention={
            "kind": "move",
            "object": 2,
            "moved": [2],
            "direction": "right",
            "distance_m": 1.0,
            "frame": camera,
            "vector_in_world": [1, 0, 0],
        },
        relation={
            "kind": "direction",
            "target": 2,
            "reference": 1,
            "before": {"value": "front"},
            "after": {"value": "right"},
        },
    )
    facts["views"] = facts["views"] * images
    return row_with("object_move_agent", uid, "scene0000_00", "And now?", facts, unchanged)


def test_twins_mistakes_images_and_unchanged(tmp_path) -> None:
    rng = np.random.default_rng(0)
    twins = [direction_question(f"t{n}", f"scene{n:04d}_00", "front", rng) for n in range(4)]
    tags = [None, "no_update", "mirrored", "other"]
    moved = [
        changed_question("m0", "t0", tags, unchanged=True),
        changed_question("m1", "t1", tags, unchanged=False, images=3),
        changed_question("m2", "t2", ["forgot_attachment", None, "other", "mirrored"], unchanged=False),
        changed_question("m3", None, tags, unchanged=False),  # its twin was not selected
        changed_question("m4", "elsewhere", tags, unchanged=False),  # its twin is in another dataset
    ]
    dataset = write(tmp_path / "set", twins + moved)
    right = {row.question_uid: row.answer[0] for row in twins + moved}
    given = {**right, "t1": wrong(twins[1]), "m1": "B", "m2": "A", "m4": "C"}
    path = predict(tmp_path / "p.jsonl", *({"question_uid": u, "prediction": p} for u, p in given.items()))
    report = score(dataset, path, tmp_path / "out")
    assert report["twins"] | {"interval": None} == {
        "pairs": 3, "twin_accuracy": round(2 / 3, 6), "accuracy": round(1 / 3, 6), "drop": round(1 / 3, 6),
        "interval": None, "both_right": 1, "lost": 1, "gained": 0, "both_wrong": 1,
    }  # fmt: skip
    assert report["twins_by_type"].keys() == {"L2 / Move Camera Direction"}
    assert report["mistakes_by_type"]["L2 / Move Camera Direction"] == {
        "forgot_attachment": {"chosen": 1, "offered": 1, "share": 1.0},
        "mirrored": {"chosen": 1, "offered": 5, "share": 0.2},
        "no_update": {"chosen": 1, "offered": 4, "share": 0.25},
        "other": {"chosen": 0, "offered": 5, "share": 0.0},
    }
    unchanged = report["by_relation_unchanged"]
    assert [unchanged[key]["count"] for key in ("false", "null", "true")] == [4, 4, 1]
    assert unchanged["true"]["accuracy"] == 1.0
    assert report["by_image_count"] == {
        **report["by_image_count"], "3": {**report["by_image_count"]["3"], "count": 1, "correct": 0}
    }  # fmt: skip
    assert report["by_level"]["L2"]["correct"] == 2


def test_macro_accuracy_needs_sixteen_categories(tmp_path) -> None:
    """Sixteen categories of unequal size: the mean of their accuracies, not the accuracy."""
    rng = np.random.default_rng(1)
    rows = []
    for number in range(16):
        for copy in range(1 + number % 2 * 3):
            row = direction_question(f"q{number}-{copy}", f"scene{copy:04d}_00", "front", rng)
            rows.append(type(row)(**{**vars(row), "type": f"Type {number:02d}", "question_type": f"Type {number:02d}"}))
    right = [row for row in rows if int(row.type[-2:]) % 2]
    path = predict(tmp_path / "p.jsonl", *({"question_uid": r.question_uid, "prediction": r.answer[0]} for r in right))
    report = score(write(tmp_path / "whole", rows), path, tmp_path / "out")
    assert report["macro_type_accuracy"] == 0.5
    assert report["overall"]["accuracy"] == 0.8
    fewer = write(tmp_path / "fewer", [row for row in rows if row.type != "Type 00"])
    assert score(fewer, path, tmp_path / "out2")["macro_type_accuracy"] is None


def test_options_keep_their_letters() -> None:
    options = options_of({"front": "front", "back": "back"}, ["back"], np.random.default_rng(0))
    assert [o["value"] for o in options if o["tag"] is None] == ["back"]
