"""What is changed in a dataset is found, also where the manifest is changed with it."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from handmade import digest, direction_question, picture, questions, row_with, write

from spacecast.dataset.manifest import counts_of
from spacecast.dataset.reader import Benchmark
from spacecast.dataset.rescan import photo_problem
from spacecast.dataset.rows import Row, table_of
from spacecast.dataset.verify import Finding, facts_problems, row_problems, verify
from spacecast.errors import InputError


@pytest.fixture(scope="module")
def clean(tmp_path_factory) -> Path:
    return write(tmp_path_factory.mktemp("clean"), questions(scenes=2, seed=6, per_type=4), shard_rows=20)


def copy_with(source: Path, out: Path, change, *, fix_manifest: bool = True) -> Path:
    """The dataset with a change to its list of rows and pictures."""
    data = Benchmark.open(source)
    rows = list(data.rows)
    pictures = [[p.encoded for p in data.pictures(row.question_uid)] for row in rows]
    change(rows, pictures)
    write(out, rows, shard_rows=20, pictures=pictures)
    if not fix_manifest:
        (out / "release_manifest.json").write_bytes((source / "release_manifest.json").read_bytes())
    return out


def changed(row: Row, edit=None, **columns: Any) -> Row:
    """A row with columns and facts changed, in ``source_record_json`` too: somebody who covers the traces."""
    record = json.loads(row.source_record_json)
    record.update({k: list(v) if isinstance(v, tuple) else v for k, v in columns.items()})
    if edit:
        edit(record["facts"])
    return replace(row, **columns, source_record_json=json.dumps(record, sort_keys=True))


def one(code: str, seed: int = 0) -> Row:
    return next(row for row in questions(scenes=1, seed=seed) if row.source_type == code)


def kinds(findings: list[Finding]) -> set[str]:
    return {finding.kind for finding in findings}


def test_a_clean_dataset_has_no_findings(clean) -> None:
    assert verify(clean) == []


def test_progress_is_told(clean) -> None:
    told = []
    verify(clean, progress=lambda stage, done, total: told.append((stage, done, total)))
    assert told[0] == ("rows and answers", 0, 48)
    assert ("rows and answers", 48, 48) in told
    assert told[-1] == ("text-only audit", 12, 12)


@pytest.mark.parametrize("workers", [0, -3])
def test_no_workers_are_refused(tmp_path, workers) -> None:
    with pytest.raises(InputError, match=f"workers should be at least 1, found {workers}"):
        verify(tmp_path, workers=workers)


@pytest.mark.parametrize("index", [0, 1, 2, 3, 4, 5, 47])
def test_one_changed_answer_is_found(clean, tmp_path, index) -> None:
    """In the answer column alone; the manifest is written anew."""

    def change(rows, pictures):
        row = rows[index]
        other = next(label for label in row.option_labels if label not in row.answer) if len(row.answer) < 3 else "A"
        rows[index] = replace(row, answer=(other,))

    findings = verify(copy_with(clean, tmp_path, change))
    uid = Benchmark.open(clean).rows[index].question_uid
    assert "answer" in kinds(findings)
    assert {finding.where for finding in findings} == {uid}


def test_an_answer_changed_with_all_its_traces_is_found(clean, tmp_path) -> None:
    """Answer, correct_values, tags, and the value in the facts."""

    def change(rows, pictures):
        index = next(i for i, row in enumerate(rows) if row.source_type == "direction_agent")
        row = rows[index]
        letter = next(label for label in row.option_labels if label not in row.answer)
        number = row.option_labels.index(letter)
        value = row.facts["options"][number]["value"]

        def edit(facts):
            for i, option in enumerate(facts["options"]):
                option["tag"] = None if i == number else "other"
            facts["relation"]["before"]["value"] = value

        rows[index] = changed(row, edit, answer=(letter,), correct_values=(value,))

    findings = verify(copy_with(clean, tmp_path, change))
    assert kinds(findings) == {"answer", "tag"}
    assert any("computed again" in finding.detail for finding in findings)


def test_a_shard_that_is_not_that_of_the_manifest_is_found(clean, tmp_path) -> None:
    def change(rows, pictures):
        pictures[3] = [picture(999)]

    findings = verify(copy_with(clean, tmp_path, change, fix_manifest=False))
    assert [finding.kind for finding in findings] == ["hash"]
    assert "test-00000" in findings[0].detail


@pytest.mark.parametrize("encoded", [b"", b"no picture", picture(1)[:300], picture(1, 32, 48)])
def test_a_broken_picture_is_found(clean, tmp_path, encoded) -> None:
    def change(rows, pictures):
        pictures[10] = [encoded]

    findings = verify(copy_with(clean, tmp_path, change))
    assert kinds(findings) == {"picture"}


@pytest.mark.parametrize(
    ("pixels", "said"),
    [
        (lambda rng: rng.integers(0, 255, (120, 160)), None),
        (lambda rng: np.tile(np.linspace(40.0, 200.0, 160), (120, 1)), "blurred"),
        (lambda rng: rng.integers(0, 20, (120, 160)), "badly exposed"),
        (lambda rng: rng.integers(240, 256, (120, 160)), "badly exposed"),
        (lambda rng: np.where(np.arange(160) < 90, 0, rng.integers(100, 255, (120, 160))), "badly exposed"),
    ],
)
def test_a_photo_that_cannot_be_used_is_found(pixels, said) -> None:
    grey = np.kron(pixels(np.random.default_rng(0)), np.ones((4, 4))).astype(np.uint8)
    found = photo_problem(np.repeat(grey[..., None], 3, axis=2))
    assert found is None if said is None else said in str(found)


def test_a_lost_picture_is_found(clean, tmp_path) -> None:
    copy_with(clean, tmp_path, lambda rows, pictures: None)
    shard = next(iter(sorted(tmp_path.glob("data/*.parquet"))))
    table = pq.read_table(shard)
    images = table.column("images").to_pylist()
    images[0] = []
    pq.write_table(table.set_column(0, table.schema.field(0), [images]), shard)
    assert kinds(verify(tmp_path)) == {"hash", "picture"}


@pytest.mark.parametrize(
    ("columns", "kind"),
    [
        ({"options": ("front", "right", "behind", "left")}, "options"),
        ({"options": ("front", "front", "back", "left")}, "options"),
        ({"options": ("front", "", "back", "left")}, "options"),
        ({"option_labels": ("A", "B", "C", "E")}, "options"),
        ({"answer": ()}, "answer"),
        ({"answer": ("A", "B")}, "answer"),
        ({"answer": ("E",)}, "answer"),
        ({"correct_values": ("up",)}, "answer"),
        ({"question": "  "}, "columns"),
        ({"question": "Where is the chair?"}, "text"),
        ({"question_type": "Other"}, "columns"),
        ({"level": "L4"}, "columns"),
        ({"image_name": "121"}, "views"),
        ({"image_roles": ("main_a",)}, "views"),
        ({"image_paths": ("scannet/elsewhere/120",)}, "views"),
        ({"relation_unchanged": True}, "columns"),
        ({"main_image_b_name": "7"}, "views"),
    ],
)
def test_a_changed_column_is_found_though_its_record_is_changed_too(columns, kind) -> None:
    row = direction_question("q", "scene0000_00", "front", np.random.default_rng(0))
    assert row_problems(row) == []
    assert kind in kinds(row_problems(changed(row, **columns)))


@pytest.mark.parametrize(
    "column", [f.name for f in fields(Row) if f.name not in ("source_record_json", "multi_select")]
)
def test_every_column_is_compared_with_its_record(column) -> None:
    facts = direction_question("q", "scene0000_00", "front", np.random.default_rng(0)).facts
    row = row_with("direction_agent", "q", "scene0000_00", "Where?", {**facts, "views": facts["views"] * 2})
    value = getattr(row, column)
    other = ("x",) * max(1, len(value)) if isinstance(value, tuple) else "x"  # of the same form
    other = {
        "relation_unchanged": True, "option_labels": value and value[::-1],
        "answer": ("A",) if row.answer != ("A",) else ("B",),
    }.get(column, other)  # fmt: skip
    found = row_problems(replace(row, **{column: other}))
    assert any(f.kind == "columns" and f.detail.startswith(column) for f in found)


def move_target(facts) -> None:
    box = next(item for item in facts["objects"] if item["id"] == 12)
    for key in ("min", "max"):
        box["aabb"][key][0] += 3.0
    box["center_in_world"][0] += 3.0


def turn_camera(facts) -> None:
    facts["views"][0]["world_from_camera"] = [0, 0, 1, 0, -1, 0, 0, 0, 0, -1, 0, 1.5, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("code", "edit", "kind"),
    [
        ("direction_agent", move_target, "answer"),
        ("direction_allocentric", move_target, "facts"),
        ("direction_agent", lambda f: f["relation"]["before"].update(angle_deg=77.7), "facts"),
        ("direction_agent", lambda f: f["relation"]["before"].update(ambiguity=0.1234), "facts"),
        ("direction_agent", lambda f: f["frame"].update(heading_in_world=[0.6, 0.8]), "facts"),
        ("direction_agent", lambda f: f["objects"][0].update(center_in_world=[0, 0, 0]), "facts"),
        ("direction_agent", lambda f: f.update(binding_view="9"), "facts"),
        ("direction_agent", lambda f: f.pop("frame"), "facts"),
        ("direction_agent", lambda f: f.update(schema="spacecast-facts/0"), "facts"),
        ("direction_agent", lambda f: f["views"][0]["world_from_camera"].__setitem__(0, 2.0), "views"),
        ("direction_agent", lambda f: f["options"][0].update(tag="typo"), "options"),
        ("direction_agent", lambda f: f["options"][0].update(text="up"), "options"),
        ("direction_agent", lambda f: f["options"][0].update(value="up"), "options"),
        ("direction_agent", lambda f: f.update(twin={"value": "nowhere", "question_uid": None}), "twin"),
        ("direction_allocentric", lambda f: f.update(camera_compass=None), "facts"),
        ("distance", lambda f: f["relation"]["before"].update(distance_m=1.05), "not_certain"),
        ("distance", lambda f: f["relation"]["before"].update(distance_m=0.15), "not_certain"),
        ("distance", lambda f: f["relation"]["before"].update(distance_m=9.0), "answer"),
        ("occlusion", lambda f: f["relation"]["before"].update(blocked=0.05, opened=0.04), "facts"),
        ("occlusion", lambda f: f["relation"]["before"].update(blocked=0.4, opened=0.3), "answer"),
        ("occlusion", lambda f: f["relation"]["before"].update(silhouette_px=17), "facts"),
        ("attachment_chain", lambda f: f["attachment"].append(
            {"parent": 1, "child": 4, "kind": "supported_by", "certainty": "certain"}), "answer"),
        ("attachment_chain", lambda f: f["attachment"].clear(), "answer"),
        ("attachment_chain", lambda f: f["objects"][1].update(label="jug"), "options"),
        ("direction_agent", lambda f: f["objects"][0].update(label="camera"), "text"),
    ],
)  # fmt: skip
def test_a_changed_fact_is_found(code, edit, kind) -> None:
    row = one(code, seed=1)
    if code == "distance":
        row = next(r for r in questions(scenes=1) if r.source_type == code and r.correct_values == ("close",))
    if code == "occlusion":
        row = next(r for r in questions(scenes=1) if r.source_type == code and r.correct_values == ("not occluded",))
    if code == "attachment_chain":
        row = next(r for r in questions(scenes=1) if r.source_type == code and len(r.answer) == 1)
    assert row_problems(row) == []
    assert kind in kinds(row_problems(changed(row, edit)))


@pytest.mark.parametrize("edges", [[(1, 2), (2, 1)], [(1, 1)]])
def test_what_carries_itself_is_found(edges: list[tuple[int, int]]) -> None:
    def edit(facts) -> None:
        kind = {"kind": "supported_by", "certainty": "certain"}
        facts["attachment"] = [{"parent": parent, "child": child, **kind} for parent, child in edges]

    found = row_problems(changed(one("distance"), edit))
    assert "object 1 carries itself" in {finding.detail for finding in found}


def test_a_possible_edge_at_the_mover_is_found() -> None:
    row = next(r for r in questions(scenes=1) if r.source_type == "attachment_chain" and len(r.answer) == 1)
    row = changed(row, lambda f: f["attachment"].append(
        {"parent": 1, "child": 4, "kind": "supported_by", "certainty": "possible"}))  # fmt: skip
    assert "not_certain" in kinds(row_problems(row))


def test_uncertain_directions_are_found() -> None:
    row = direction_question("q", "scene0000_00", "front", np.random.default_rng(0))

    def near(facts):
        bed, chair = (np.array(item["center_in_world"]) for item in facts["objects"])
        shift = (0.3 / np.linalg.norm((chair - bed)[:2]) - 1.0) * (chair - bed)
        for key in ("min", "max"):
            facts["objects"][1]["aabb"][key] = (np.array(facts["objects"][1]["aabb"][key]) + shift).tolist()
        facts["objects"][1]["center_in_world"] = (chair + shift).tolist()

    facts = json.loads(changed(row, near).source_record_json)["facts"]
    assert ("not_certain", "the centres are 0.30 m apart") in list(facts_problems(facts))

    def steep(facts):
        facts["views"][0]["world_from_camera"] = [1, 0, 0, 0, 0, -0.985, 0.174, 0, 0, -0.174, -0.985, 1.5, 0, 0, 0, 1]

    assert any("no heading" in f.detail for f in row_problems(changed(row, steep)))


def test_a_stated_heading_that_leads_astray_is_found() -> None:
    """The camera faces 22 degrees off the north that the text gives it; the direction is then in the next sector."""
    row = one("direction_allocentric")
    angle = row.facts["relation"]["before"]["angle_deg"]
    off = angle - 45.0 * round(angle / 45.0)

    def edit(facts):
        look = np.radians(-22.0 if off > 0 else 22.0)  # the error adds to what the direction is off already
        facts["views"][0]["world_from_camera"] = [
            np.cos(look), 0, np.sin(look), 0, -np.sin(look), 0, np.cos(look), 0, 0, -1, 0, 1.5, 0, 0, 0, 1,
        ]  # fmt: skip
        facts["camera_compass"] = "north"

    row = changed(row, edit, question="The camera looks north. Where is the chair from the bed?")
    found = [f.detail for f in row_problems(row) if f.kind == "not_certain"]
    assert any("the stated heading is taken for the true one" in detail for detail in found)


def test_counts_that_differ_are_found(clean, tmp_path) -> None:
    copy_with(clean, tmp_path, lambda rows, pictures: None)
    path = tmp_path / "release_manifest.json"
    manifest = json.loads(path.read_text())
    manifest["questions"] = 49
    manifest["counts"] = {**counts_of(Benchmark.open(tmp_path).rows), "by_level": {"L1": 47}}
    del manifest["counts"]["by_dataset"]
    manifest["evidence"] = {"evidence/q.txt": "0" * 64}
    path.write_text(json.dumps(manifest))
    findings = verify(tmp_path)
    assert [finding.kind for finding in findings] == ["count", "hash", "evidence", "count", "count"]
    assert "48 questions have no text or no map" in findings[2].detail
    assert findings[3].detail == "counts.by_dataset says scannet: 0, the files have 48; 1 such entries differ"
    assert findings[4].detail == "counts.by_level says L1: 47, the files have 48; 1 such entries differ"


def test_a_missing_or_added_shard_is_found(clean, tmp_path) -> None:
    copy_with(clean, tmp_path, lambda rows, pictures: None)
    shards = sorted(tmp_path.glob("data/*.parquet"))
    shards[-1].unlink()
    assert kinds(verify(tmp_path)) == {"hash", "count"}
    pq.write_table(table_of(questions(scenes=1, seed=99)[:1], [[picture(0)]]), shards[-1])
    with pytest.raises(InputError, match="there twice"):  # it cannot be said which is meant
        verify(tmp_path)


def test_an_option_text_that_is_changed_everywhere_in_its_row_is_found(clean, tmp_path) -> None:
    def change(rows, pictures):
        index = next(i for i, row in enumerate(rows) if row.source_type == "distance")
        row = rows[index]
        texts = tuple(text.replace("1.0 m to", "1.5 m to") for text in row.options)
        rows[index] = changed(
            row, lambda f: [o.update(text=t) for o, t in zip(f["options"], texts, strict=True)], options=texts
        )

    findings = verify(copy_with(clean, tmp_path, change))
    assert kinds(findings) == {"options"}
    assert "elsewhere" in findings[0].detail


def test_a_text_that_gives_answers_away_is_a_finding(tmp_path) -> None:
    rng = np.random.default_rng(0)
    rows = []
    for number in range(200):
        row = direction_question(f"q{number}", f"scene{number // 5:04d}_00", ("front", "left")[number % 2], rng)
        question = ("Where is it: the chair, from the bed?", "And the chair, from the bed?")[number % 2]
        rows.append(row_with("direction_agent", row.question_uid, row.scene_id, question, row.facts))
    findings = verify(write(tmp_path, rows, shard_rows=200))
    assert kinds(findings) == {"text_gives_answer_away"}
    assert findings[0].where == "L1 / Camera Direction"
    assert "chance is 25.0 %" in str(findings[0])


def test_what_is_no_dataset_is_an_error(tmp_path) -> None:
    with pytest.raises(InputError, match="give the folder of a dataset"):
        verify(tmp_path)


CHINESE = {"bed": "床", "chair": "椅子", "table": "桌子", "tray": "托盘", "cup": "杯子", "book": "书"}


def in_chinese(row: Row, question: str) -> Row:
    """A question in Chinese, whose facts hold the Chinese names; its options too, where they are names."""

    def edit(facts) -> None:
        facts["wording"]["language"] = "zh"
        for item in facts["objects"]:
            item["label_zh"] = CHINESE[item["label"]]
        for option in facts["options"]:
            option["text"] = CHINESE.get(option["text"], option["text"])

    options = tuple(CHINESE.get(option, option) for option in row.options)
    return changed(row, edit, question=question, options=options)


ASKED = "拍照时镜头朝着{}。{}在{}的哪个方位？"
FACES = {"north": "正北", "northeast": "东北", "east": "正东", "southeast": "东南"} | {
    "south": "正南", "southwest": "西南", "west": "正西", "northwest": "西北",
}  # fmt: skip


def test_a_chinese_text_that_names_another_object_is_found() -> None:
    row = one("direction_allocentric")
    faces = FACES[row.facts["camera_compass"]]
    other = FACES["east" if row.facts["camera_compass"] != "east" else "west"]
    assert row_problems(in_chinese(row, ASKED.format(faces, "椅子", "床"))) == []
    (found,) = row_problems(in_chinese(row, ASKED.format(faces, "凳子", "床")))
    assert (found.kind, found.detail) == ("text", "names no '椅子' (target)")
    assert kinds(row_problems(in_chinese(row, ASKED.format(other, "椅子", "床")))) == {"text"}


def test_chinese_options_that_name_another_object_are_found() -> None:
    row = in_chinese(one("attachment_chain"), "桌子被慢慢推走。哪些东西会一起动？")
    assert row_problems(row) == []

    def edit(facts) -> None:
        next(option for option in facts["options"] if option["text"] == "杯子")["text"] = "瓶子"

    wrong = changed(row, edit, options=tuple(option.replace("杯子", "瓶子") for option in row.options))
    assert kinds(row_problems(wrong)) == {"options"}


def test_a_chinese_text_whose_facts_hold_no_names_is_found() -> None:
    row = changed(one("direction_agent"), lambda facts: facts["wording"].update(language="zh"))
    (found,) = row_problems(row)
    assert found.kind == "facts"
    assert found.detail == "the facts hold no zh name of object 5: build it again"


@pytest.mark.parametrize("said", ["chiar", "armchair", "chairlift"])
def test_an_english_text_that_names_another_object_is_found(said: str) -> None:
    row = one("direction_agent")
    wrong = changed(row, question=row.question.replace("chair", said))
    assert [(found.kind, found.detail) for found in row_problems(wrong)] == [("text", "names no 'chair' (target)")]


def test_a_heading_that_only_an_option_names_is_not_said() -> None:
    row = one("direction_allocentric")
    assert kinds(row_problems(changed(row, question="Where is the chair from the bed?"))) == {"text"}


def test_garbled_facts_are_findings_and_no_crash() -> None:
    row = direction_question("q", "scene0000_00", "front", np.random.default_rng(0))
    for text in ("", "[]", "{}", '{"facts": 3}', '{"facts": {}}', "nonsense"):
        assert "facts" in kinds(row_problems(replace(row, source_record_json=text)))


def test_digests_are_of_bytes(tmp_path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    assert digest(tmp_path / "x").startswith("ba7816bf")
