"""Rows have the published columns and read back as they were meant; `datasets` decodes their pictures."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import synthetic_suite as synthetic

from spacecast.dataset.reader import Benchmark
from spacecast.dataset.rows import COLUMNS, SCHEMA, Row, canonical_json, plain, row_of, rows_of, table_of
from spacecast.dataset.shards import meaning_problem
from spacecast.dataset.types import Candidate, Choice, Draft, ViewUse
from spacecast.errors import InputError, SpacecastError

# FORMATS section 3, written by hand.
PUBLISHED = [
    *("images", "question_uid", "dataset", "scene_id", "level", "type", "question_type", "source_type", "task"),
    *("question", "options", "option_labels", "answer", "multi_select", "correct_values"),
    *("image_name", "auxiliary_image_names", "main_image_a_name", "main_image_b_name", "bridge_view_names"),
    *("image_roles", "image_paths", "relation_unchanged", "source_record_json"),
]

KIND = synthetic.Directions()
CHOICES = (Choice("back", "other"), Choice("front", None), Choice("left", "mirrored"), Choice("right", "other"))


def candidate(language: str = "en", **changes: object) -> Candidate:
    draft = Draft(
        case="1-2-120",
        views=(ViewUse("120", "image"),),
        facts={
            "objects": [{"id": 1, "label": "chair", "center_in_world": [1.23456789, -0.00001, 2]}],
            "views": [{"name": "120", "role": "image"}],
            "intervention": None,
            "relation": {"before": {"value": "front"}, "after": None},
        },
        choices=CHOICES,
        words={},
        stated={},
        balance="front",
        likeness="1-2",
    )
    texts = ("behind", "in front", "to the left", "to the right")
    return Candidate(
        "u1", "scannet", "scene0000_00", KIND.code, replace(draft, **changes), "w.1", language, "Where?", texts
    )  # type: ignore[arg-type]


def test_columns_are_the_published_ones() -> None:
    assert list(COLUMNS) == PUBLISHED
    assert SCHEMA.names == PUBLISHED


def test_names_of_a_chinese_text_are_in_its_facts_and_in_no_others() -> None:
    named = {"words": {"target": 1, "zh:1": "椅子", "zh:9": "床"}}
    chinese, english = (
        row_of(candidate(language, **named), KIND, range(4), wording_version=1) for language in ("zh", "en")
    )
    assert [item["label_zh"] for item in chinese.facts["objects"]] == ["椅子"]
    assert "label_zh" not in english.facts["objects"][0]


def test_options_and_gold_are_permuted_in_one_step() -> None:
    row = row_of(candidate(), KIND, [2, 1, 3, 0], wording_version=4)
    assert row.options == ("to the left", "in front", "to the right", "behind")
    assert row.option_labels == ("A", "B", "C", "D")
    assert row.answer == ("B",)
    assert row.correct_values == ("front",)
    assert row.facts["options"] == [
        {"text": "to the left", "value": "left", "tag": "mirrored"},
        {"text": "in front", "value": "front", "tag": None},
        {"text": "to the right", "value": "right", "tag": "other"},
        {"text": "behind", "value": "back", "tag": "other"},
    ]
    assert row.facts["wording"] == {"id": "w.1", "language": "en", "version": 4}
    assert row.facts["schema"] == "spacecast-facts/1"


def test_a_row_by_hand() -> None:
    row = row_of(candidate(), KIND, [0, 1, 2, 3], wording_version=1)
    assert (row.level, row.type, row.question_type, row.source_type, row.task) == (
        *("L1", "World Direction", "World Direction", "direction_allocentric", "direction"),
    )
    assert row.category == "L1 / World Direction"
    assert (row.image_name, row.auxiliary_image_names) == ("120", ())
    assert (row.main_image_a_name, row.main_image_b_name, row.bridge_view_names) == (None, None, ())
    assert (row.image_roles, row.image_paths) == (("image",), ("scannet/scene0000_00/120",))
    assert row.relation_unchanged is None
    assert row.multi_select is False
    record = json.loads(row.source_record_json)
    assert set(record) == (set(PUBLISHED) - {"images", "source_record_json"}) | {"facts"}
    assert record["answer"] == ["B"]
    assert record["facts"]["objects"][0]["center_in_world"] == [1.2346, 0.0, 2]


def test_a_chain_of_views_names_its_parts() -> None:
    views = (ViewUse("9", "main_a"), ViewUse("12", "bridge"), ViewUse("15", "bridge"), ViewUse("40", "main_b"))
    row = row_of(candidate(views=views), KIND, [0, 1, 2, 3], wording_version=1)
    assert (row.main_image_a_name, row.bridge_view_names, row.main_image_b_name) == ("9", ("12", "15"), "40")
    assert row.image_roles == ("main_a", "bridge", "bridge", "main_b")
    assert (row.image_name, row.auxiliary_image_names) == ("9", ("12", "15", "40"))


@pytest.mark.parametrize("after, expected", [("front", True), ("left", False)])
def test_relation_unchanged_compares_before_and_after(after: str, expected: bool) -> None:
    facts = {"intervention": {"kind": "move"}, "relation": {"before": {"value": "front"}, "after": {"value": after}}}
    assert row_of(candidate(facts=facts), KIND, [0, 1, 2, 3], wording_version=1).relation_unchanged is expected


@pytest.mark.parametrize("order", [[0, 1, 2], [0, 1, 2, 2], [1, 2, 3, 4]])
def test_what_is_no_order_is_refused(order: list[int]) -> None:
    with pytest.raises(SpacecastError, match="no order of 4 options"):
        row_of(candidate(), KIND, order, wording_version=1)


def test_json_is_canonical() -> None:
    value = {
        "b": [np.float32(0.5), np.int64(3), -0.00001],
        "a": {2, 1},
        "c": np.array([[1.00004, 2]]),
        "d": (True, None),
    }
    assert canonical_json(value) == '{"a": [1, 2], "b": [0.5, 3, 0.0], "c": [[1.0, 2.0]], "d": [true, null]}'
    assert plain({"x": 0.123456789}) == {"x": 0.123456789}


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), np.float64("nan"), object()])
def test_json_without_a_form_is_an_error(bad: object) -> None:
    with pytest.raises(SpacecastError):
        canonical_json({"x": bad})


def spoiled(row: Row, **changes: object) -> Row:
    return replace(row, **changes)  # type: ignore[arg-type]


def test_meaning_is_compared_with_what_was_drafted() -> None:
    """Every way in which options, gold and facts can come apart is found."""
    one = candidate()
    row = row_of(one, KIND, [2, 1, 3, 0], wording_version=1)
    assert meaning_problem(row, one) is None
    shuffled = ("in front", "to the left", "to the right", "behind")
    facts = row.source_record_json
    cases = {
        "another right answer": spoiled(row, answer=("A",)),
        "another right answer ": spoiled(row, answer=("A", "B")),
        "another right answer  ": spoiled(row, options=shuffled),  # gold left behind
        "in another order": spoiled(row, options=shuffled, answer=("A",)),  # facts left behind
        "other correct values": spoiled(row, correct_values=("left",)),
        "other options": spoiled(row, options=("to the left", "in front", "to the right", "above")),
        "something else": spoiled(row, source_record_json=facts.replace('"mirrored"', '"wrong_frame"')),
    }
    for said, wrong in cases.items():
        assert said.strip() in str(meaning_problem(wrong, one))


def test_rows_read_back_as_they_were(invented: Path) -> None:
    benchmark = Benchmark.open(invented, check=True)
    assert len(benchmark) == len(benchmark.rows) == benchmark.manifest["questions"] > 60
    table = pa.concat_tables(pq.read_table(path) for path in sorted(invented.glob("data/*.parquet")))
    assert rows_of(table, "all") == list(benchmark)
    assert rows_of(table_of(benchmark.rows, [[b""] for _ in benchmark]), "again") == list(benchmark)


def test_photos_keep_their_bytes(invented: Path, invented_root: Path) -> None:
    benchmark = Benchmark.open(invented)
    for row in benchmark:
        (picture,) = benchmark.pictures(row.question_uid)
        assert picture.encoded == (invented_root / row.scene_id / f"{row.image_name}.jpg").read_bytes()
        assert (picture.name, picture.role) == (row.image_name, "image")
    first, last = benchmark.rows[0], benchmark.rows[-1]  # out of order, too
    assert benchmark.pictures(first.question_uid)[0].name == first.image_name
    assert benchmark.pictures(last.question_uid)[0].name == last.image_name


def test_datasets_decodes_what_we_write(invented: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the published loader does: `datasets` on data/test-*.parquet, offline."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    if not hasattr(datasets, "List"):
        pytest.skip("this version of datasets has no List feature")
    loaded = datasets.load_dataset(
        "parquet", data_files={"test": str(invented / "data/test-*.parquet")}, split="test", cache_dir=str(tmp_path)
    )
    assert loaded.features["images"] == datasets.List(datasets.Image())
    assert loaded.column_names == PUBLISHED
    assert loaded._info.features.arrow_schema.metadata == SCHEMA.metadata
    rows = Benchmark.open(invented).rows
    assert len(loaded) == len(rows)
    for entry, row in zip(loaded, rows, strict=True):
        assert entry["question_uid"] == row.question_uid
        assert entry["answer"] == list(row.answer)
        assert entry["relation_unchanged"] is None
        assert [image.size for image in entry["images"]] == [(synthetic.WIDTH, synthetic.HEIGHT)]


def test_a_changed_answer_is_seen_by_the_hash(invented: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(invented, copy)
    shard = next(copy.glob("data/*.parquet"))
    table = pq.read_table(shard)
    answers = table["answer"].to_pylist()
    answers[0] = ["A"] if answers[0] != ["A"] else ["B"]
    place = table.column_names.index("answer")
    pq.write_table(
        table.set_column(place, SCHEMA.field("answer"), pa.array(answers, SCHEMA.field("answer").type)), shard
    )
    with pytest.raises(InputError, match="it was changed after the build"):
        Benchmark.open(copy, check=True)
    assert len(Benchmark.open(copy)) == len(Benchmark.open(invented))  # not asked, not checked


def _no_folder(path: Path) -> None:
    shutil.rmtree(path / "data")


def _no_parquet(path: Path) -> None:
    next(path.glob("data/*.parquet")).write_bytes(b"<html>")


def _missing_column(path: Path) -> None:
    shard = next(path.glob("data/*.parquet"))
    pq.write_table(pq.read_table(shard).drop_columns(["answer"]), shard)


def _twice(path: Path) -> None:
    shutil.copy(next(path.glob("data/*.parquet")), path / "data/test-00009-of-00010.parquet")


def _bad_manifest(path: Path) -> None:
    (path / "release_manifest.json").write_text("{")


def _wrong_type(path: Path) -> None:
    shard = next(path.glob("data/*.parquet"))
    table = pq.read_table(shard)
    place = table.column_names.index("options")
    pq.write_table(table.set_column(place, "options", pa.array(["A"] * len(table))), shard)


@pytest.mark.parametrize(
    "spoil, said",
    [
        (_no_folder, "give the folder of a dataset"),
        (_no_parquet, "not a readable Parquet file"),
        (_missing_column, "column answer is missing"),
        (_twice, "is there twice"),
        (_bad_manifest, "release_manifest.json: .* truncated"),
        (_wrong_type, "column options should hold strings, found str"),
    ],
)
def test_what_is_no_dataset_says_so(spoil: object, said: str, invented: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(invented, copy)
    spoil(copy)  # type: ignore[operator]
    with pytest.raises(InputError, match=said) as error:
        Benchmark.open(copy)
    assert "\n" not in str(error.value)


def test_shards_that_are_gone_or_added_are_found(invented: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(invented, copy)
    shard = next(copy.glob("data/*.parquet"))
    shard.rename(shard.with_name("test-00007-of-00008.parquet"))
    problems = Benchmark.open(copy, whole=False).shard_problems()
    assert [problem.rpartition(": ")[2] for problem in problems] == [
        "named in release_manifest.json and not there",
        "not named in release_manifest.json",
    ]
    (copy / "release_manifest.json").unlink()
    assert "cannot be checked" in Benchmark.open(copy, whole=False).shard_problems()[0]
    with pytest.raises(InputError, match=r"7 of its 8 shards are not there, as data/test-00000-of-00008\.parquet"):
        Benchmark.open(copy)


def test_facts_that_are_missing_are_an_error_only_when_asked_for(invented: Path) -> None:
    row = replace(Benchmark.open(invented).rows[0], source_record_json="{}")
    with pytest.raises(InputError, match="holds no facts"):
        _ = row.facts
    with pytest.raises(InputError, match="no question nobody"):
        Benchmark.open(invented).pictures("nobody")
