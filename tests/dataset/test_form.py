"""A damaged question is told by its uid: verification goes on without it, and what needs every one says so first."""

from __future__ import annotations

import copy
import io
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from changes_by_hand import BY_HAND
from handmade import direction_question, picture, questions, write
from PIL import Image

from spacecast.cli import main
from spacecast.dataset.audit import audit
from spacecast.dataset.form import damage_of
from spacecast.dataset.reader import Benchmark
from spacecast.dataset.rows import SCHEMA, Row
from spacecast.dataset.together import audit_together
from spacecast.dataset.verify import row_problems, verify
from spacecast.errors import InputError
from spacecast.evaluation.baselines import evaluate_baseline, oracle_letters
from spacecast.evaluation.score import score
from spacecast.report import write_report
from spacecast.report.overlay import boxes_of, marks_of

ROWS = {row.source_type: row for row in [*questions(scenes=1), *BY_HAND.values()]}
"""One of each type."""
Path_ = tuple[str | int, ...]


def with_facts(row: Row, edit: Callable[[dict[str, Any]], None]) -> Row:
    record = json.loads(row.source_record_json)
    edit(record["facts"])
    return replace(row, source_record_json=json.dumps(record))


def places(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Where something stands in facts, at any depth."""
    entries: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield (*path, key)
        yield from places(entry, (*path, key))


GONE = object()
OTHERS = (GONE, None, 0, -7, 2.5, 1e300, "", "nonsense", True, [], {}, [[]], [None], {"kind": "nonsense"})


def planted(facts: dict[str, Any], path: Path_, value: object) -> dict[str, Any]:
    damaged = copy.deepcopy(facts)
    inner: Any = damaged
    for key in path[:-1]:
        inner = inner[key]
    if value is GONE:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return damaged


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_question_that_holds_is_whole(row: Row) -> None:
    assert damage_of(row) is None


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_whatever_stands_in_facts_nothing_ends_in_a_traceback(row: Row) -> None:
    """Anything in place of anything: found to be damaged, or every reader gets by with it or says one line."""
    for path, value in product(places(row.facts), OTHERS):
        record = {**json.loads(row.source_record_json), "facts": planted(row.facts, path, value)}
        damaged = replace(row, source_record_json=json.dumps(record))
        found = row_problems(damaged)
        if damage_of(damaged) is not None:
            assert found, (path, value)
            continue
        audit([damaged])
        audit_together([damaged])
        marks_of(damaged.facts)
        boxes_of(damaged.facts)
        with suppress(InputError):
            oracle_letters(damaged)


@pytest.mark.parametrize(
    ("columns", "kind", "said"),
    [
        ({"question": None}, "columns", "question is null"),
        ({"level": None}, "columns", "level is null"),
        ({"source_record_json": None}, "columns", "source_record_json is null"),
        ({"multi_select": None}, "columns", "multi_select is null"),
        ({"options": ("front", None, "back", "left")}, "columns", "options holds a null"),
        ({"options": ()}, "options", "0 options have the letters ['A', 'B', 'C', 'D']"),
        ({"options": ("front", "right")}, "options", "2 options have the letters"),
        ({"options": ("front",), "option_labels": ("A",), "answer": ("A",)}, "options", "1 options"),
        ({"answer": ()}, "answer", "[] is no choice"),
        ({"answer": ("E",)}, "answer", "['E'] is no choice"),
        ({"correct_values": ()}, "answer", "correct_values are []"),
        ({"image_roles": ()}, "views", "1 names, 0 roles, 1 paths, 1 views"),
        ({"auxiliary_image_names": ("7",)}, "views", "2 names, 1 roles"),
        ({"source_record_json": ""}, "facts", "truncated"),
        ({"source_record_json": "nonsense"}, "facts", "malformed"),
        ({"source_record_json": "[" * 100_000}, "facts", "source_record_json is not as it should be"),
        ({"source_record_json": '{"facts": {}}'}, "facts", "missing required field `schema`"),
    ],
)
def test_a_damaged_column_is_told(columns: dict[str, Any], kind: str, said: str) -> None:
    row = replace(direction_question("q", "scene0000_00", "front", np.random.default_rng(0)), **columns)
    (found,) = row_problems(row)
    assert (found.kind, found.where) == (kind, "q")
    assert said in found.detail
    assert "\n" not in found.detail


def _short(facts: dict[str, Any]) -> None:
    del facts["options"][0]


def _no_matrix(facts: dict[str, Any]) -> None:
    facts["views"][0]["world_from_camera"].pop()


def _no_number(facts: dict[str, Any]) -> None:
    facts["objects"][0]["center_in_world"][1] = float("nan")


def _no_focal_length(facts: dict[str, Any]) -> None:
    facts["views"][0]["pixel_from_camera"][0] = 0.0


def _unknown_change(facts: dict[str, Any]) -> None:
    facts["intervention"] = {"kind": "melt"}


def _no_end(facts: dict[str, Any]) -> None:
    facts["intervention"] = {"kind": "remove", "object": 1, "removed": [1]}


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda facts: facts.pop("relation"), "missing required field `relation` - at `$.facts`"),
        (_short, "the row shows 4, the facts have 3"),
        (_no_matrix, "`$.facts.views[0].world_from_camera`"),
        (_no_number, "malformed"),
        (lambda facts: facts["objects"][0].update(label=""), "`$.facts.objects[0].label`"),
        (lambda facts: facts["objects"][0]["obb"].update(size=[1.0, -1.0, 1.0]), "`$.facts.objects[0].obb.size[1]`"),
        (lambda facts: facts["frame"].update(anchor=12345), "`$.facts.frame.anchor`"),
        (_no_focal_length, "pixel_from_camera of view 120 is no matrix of a camera"),
        (_unknown_change, "'melt' - at `$.facts.intervention.kind`"),
        (_no_end, "relation.after is null"),
    ],
)
def test_damaged_facts_are_told(edit: Callable[[dict[str, Any]], None], said: str) -> None:
    row = direction_question("q", "scene0000_00", "front", np.random.default_rng(0))
    (found,) = row_problems(with_facts(row, edit))
    assert said in found.detail


# -- datasets ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def clean(tmp_path_factory) -> Path:
    return write(tmp_path_factory.mktemp("clean"), questions(scenes=2, seed=6, per_type=4), shard_rows=20)


def damaged(source: Path, out: Path, number: int, **columns: Any) -> Path:
    """The dataset with columns of one question changed; its manifest agrees."""
    data = Benchmark.open(source)
    rows = list(data.rows)
    pictures = [[picture.encoded for picture in data.pictures(row.question_uid)] for row in rows]
    rows[number] = replace(rows[number], **columns)
    return write(out, rows, shard_rows=20, pictures=pictures)


NEEDS_ALL: dict[str, Callable[[Path, Path], object]] = {
    "random": lambda dataset, out: evaluate_baseline(dataset, out, model="random"),
    "majority": lambda dataset, out: evaluate_baseline(dataset, out, model="majority"),
    "oracle": lambda dataset, out: evaluate_baseline(dataset, out, model="oracle"),
    "score": lambda dataset, out: score(dataset, Path(__file__), out),
    "report": write_report,
}


@pytest.mark.parametrize("use", NEEDS_ALL)
@pytest.mark.parametrize("column", ["question", "options", "source_record_json", "level"])
def test_a_damaged_question_is_refused_before_anything_is_written(clean, tmp_path, use: str, column: str) -> None:
    dataset = damaged(clean, tmp_path / "set", 21, **{column: None if column != "options" else ()})
    uid = Benchmark.open(clean).rows[21].question_uid
    with pytest.raises(InputError, match=rf"data/test-00001-of-00003\.parquet: question {uid}: ") as error:
        NEEDS_ALL[use](dataset, tmp_path / "out")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("column", ["question", "options", "source_record_json", "level"])
def test_verification_tells_it_and_looks_at_all_others(clean, tmp_path, column: str) -> None:
    dataset = damaged(clean, tmp_path / "set", 21, **{column: None if column != "options" else ()})
    other = Benchmark.open(clean).rows[30]
    assert {finding.where for finding in verify(dataset)} == {Benchmark.open(clean).rows[21].question_uid}
    letter = next(label for label in other.option_labels if label not in other.answer)
    again = write(
        tmp_path / "again",
        [replace(row, answer=(letter,)) if row.question_uid == other.question_uid else row
         for row in Benchmark.open(dataset, whole=False)],
        shard_rows=20,
    )  # fmt: skip
    assert other.question_uid in {finding.where for finding in verify(again)}


@pytest.mark.parametrize("use", NEEDS_ALL)
def test_a_dataset_without_one_of_its_shards_is_refused(clean, tmp_path, use: str) -> None:
    dataset = shutil.copytree(clean, tmp_path / "set")
    (dataset / "data/test-00001-of-00003.parquet").unlink()
    with pytest.raises(InputError, match=r"1 of its 3 shards are not there, as data/test-00001"):
        NEEDS_ALL[use](dataset, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("use", NEEDS_ALL)
def test_and_it_is_where_its_manifest_is_gone_too(clean, tmp_path, use: str) -> None:
    """The names of the others say how many there were."""
    dataset = shutil.copytree(clean, tmp_path / "set")
    (dataset / "data/test-00001-of-00003.parquet").unlink()
    (dataset / "release_manifest.json").unlink()
    with pytest.raises(InputError, match=r"1 of its 3 shards are not there, as data/test-00001"):
        NEEDS_ALL[use](dataset, tmp_path / "out")


@pytest.mark.parametrize("use", NEEDS_ALL)
def test_a_dataset_without_questions_is_refused(clean, tmp_path, use: str) -> None:
    dataset = shutil.copytree(clean, tmp_path / "set")
    (dataset / "release_manifest.json").unlink()
    for shard in dataset.glob("data/*.parquet"):
        pq.write_table(pq.read_table(shard).slice(0, 0), shard)
    with pytest.raises(InputError, match="there is no question in it"):
        NEEDS_ALL[use](dataset, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def _column_twice(table: pa.Table) -> pa.Table:
    return table.append_column("question", table.column("question"))


def _not_utf8(table: pa.Table) -> pa.Table:
    texts = pa.array([b"\xff\xfe"] * len(table), pa.binary()).view(pa.string())
    return table.set_column(table.column_names.index("task"), "task", texts)


@pytest.mark.parametrize(
    ("spoil", "said"), [(_column_twice, "a column is there twice"), (_not_utf8, "a text is not UTF-8")]
)
def test_a_shard_that_cannot_be_read_is_one_line(clean, tmp_path, spoil, said: str) -> None:
    dataset = shutil.copytree(clean, tmp_path / "set")
    shard = next(dataset.glob("data/*.parquet"))
    pq.write_table(spoil(pq.read_table(shard)), shard)
    for use in (verify, Benchmark.open):
        with pytest.raises(InputError, match=f"{shard.name}: {said}"):
            use(dataset)


def test_a_dataset_that_lost_questions_is_refused(clean, tmp_path) -> None:
    dataset = shutil.copytree(clean, tmp_path / "set")
    shard = dataset / "data/test-00001-of-00003.parquet"
    pq.write_table(pq.read_table(shard).slice(1), shard)
    with pytest.raises(InputError, match=r"47 questions, and release_manifest\.json says 48"):
        Benchmark.open(dataset)
    assert len(Benchmark.open(dataset, whole=False)) == 47


def _no_images(table: pa.Table) -> pa.Table:
    return table.drop_columns(["images"])


def _null_images(table: pa.Table) -> pa.Table:
    return table.set_column(0, SCHEMA.field("images"), pa.nulls(len(table), SCHEMA.field("images").type))


def _bare_images(table: pa.Table) -> pa.Table:
    return table.set_column(0, "images", pa.array([[b"x"]] * len(table)))


def _cut_images(table: pa.Table) -> pa.Table:
    images = [[{"bytes": picture(1)[:200], "path": "p"}]] * len(table)
    return table.set_column(0, SCHEMA.field("images"), pa.array(images, SCHEMA.field("images").type))


def _vast_images(table: pa.Table) -> pa.Table:
    file = io.BytesIO()
    Image.new("1", (12_000, 12_000)).save(file, "PNG")
    images = [[{"bytes": file.getvalue(), "path": "p"}]] * len(table)
    return table.set_column(0, SCHEMA.field("images"), pa.array(images, SCHEMA.field("images").type))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("spoil", [_vast_images, _no_images, _null_images, _bare_images, _cut_images])
def test_pictures_that_cannot_be_shown_leave_the_pages_as_they_were(clean, tmp_path, spoil) -> None:
    dataset, site = shutil.copytree(clean, tmp_path / "set"), tmp_path / "site"
    for shard in dataset.glob("data/*.parquet"):
        pq.write_table(spoil(pq.read_table(shard)), shard)
    with pytest.raises(InputError) as error:
        write_report(dataset, site)
    assert "\n" not in str(error.value)
    assert not site.exists()
    site.mkdir()
    (site / "index.html").write_text("before")
    with pytest.raises(InputError):
        write_report(dataset, site)
    assert [path.name for path in site.iterdir()] == ["index.html"]
    found = verify(dataset)
    assert {finding.kind for finding in found} == {"hash", "picture"}
    assert len([finding for finding in found if finding.kind == "picture"]) == 48


def test_pages_that_cannot_be_read_from_the_disk_are_one_line(clean, tmp_path) -> None:
    """Bytes in the middle of the pictures of a shard are others."""
    dataset = shutil.copytree(clean, tmp_path / "set")
    shard = dataset / "data/test-00000-of-00003.parquet"
    column = next(i for i in range(50) if pq.ParquetFile(shard).metadata.row_group(0).column(i).path_in_schema[:6])
    chunk = pq.ParquetFile(shard).metadata.row_group(0).column(column)
    start = min(filter(None, (chunk.dictionary_page_offset, chunk.data_page_offset)))
    content = bytearray(shard.read_bytes())
    content[start : start + 40] = b"\xff" * 40
    shard.write_bytes(content)
    data = Benchmark.open(dataset)
    with pytest.raises(InputError, match="its pictures cannot be read"):
        data.pictures(data.rows[0].question_uid)


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ("[]", "Expected `object`, got `array`"),
        ("{", "truncated"),
        ('{"shards": "all"}', "`$.shards`"),
        ('{"shards": [{"path": "data/test-0.parquet"}]}', "missing required field `sha256`"),
        ('{"counts": {"by_level": 7}}', "`$.counts[...]`"),
        ('{"evidence": ["map"]}', "`$.evidence`"),
        ('{"questions": "48"}', "`$.questions`"),
        ('{"pictures": "drawn"}', "`$.pictures`"),
    ],
)
def test_a_damaged_manifest_is_one_line(clean, tmp_path, manifest: str, said: str) -> None:
    dataset = shutil.copytree(clean, tmp_path / "set")
    (dataset / "release_manifest.json").write_text(manifest)
    for use in (verify, Benchmark.open):
        with pytest.raises(InputError, match=r"release_manifest\.json: ") as error:
            use(dataset)
        assert said in str(error.value)
        assert "\n" not in str(error.value)


def test_a_question_without_a_uid_is_one_line(clean, tmp_path) -> None:
    dataset = damaged(clean, tmp_path / "set", 3, question_uid=None)
    with pytest.raises(InputError, match="row 3 has no question_uid"):
        verify(dataset)


def test_a_dataset_without_a_manifest_is_a_finding(clean, tmp_path) -> None:
    dataset = shutil.copytree(clean, tmp_path / "set")
    (dataset / "release_manifest.json").unlink()
    (found,) = verify(dataset)
    assert found.detail.endswith("release_manifest.json: is not there; the shards' hashes cannot be checked")


@pytest.mark.parametrize("column", ["question", "level", "type", "scene_id", "image_name", "question_uid"])
def test_what_was_found_is_shown_in_one_line_however_long_it_is(clean, tmp_path, capsys, column: str) -> None:
    dataset = damaged(clean, tmp_path / "set", 3, **{column: "x\n" * 30_000})
    assert main(["verify", str(dataset), "--workers", "1"]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    assert 1 < len(out.splitlines()) < 12
    assert max(map(len, out.splitlines())) < 1_000
    if main(["report", str(dataset), str(tmp_path / "out")]):
        assert capsys.readouterr().err.count("\n") == 1
        assert not (tmp_path / "out").exists()
