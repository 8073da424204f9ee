"""Every question of direction follows from the metadata and its own words: a reader without facts answers all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from reckoner import Reckoner

from spacecast.dataset.evidence import asked_of
from spacecast.dataset.reader import Benchmark
from spacecast.dataset.rows import Row
from spacecast.dataset.types import UNNAMED_ROLES
from spacecast.errors import InputError
from spacecast.evaluation.prompts import PromptStyle, TextPart, prompt

# Roles of what main view A shows, and B; the table in SEMANTICS section 6.
TARGET, ANCHOR = ({"target"}, {"reference"}), ({"anchor", "facing"}, {"target"})
MOVER = ({"mover", "query", "facing"}, {"reference"})
GROUPS = {
    "direction_agent": TARGET,
    "direction_object_centric": ANCHOR,
    "direction_allocentric": TARGET,
    "distance": ({"one"}, {"other"}),
    "object_move_agent": MOVER,
    "object_move_object_centric": MOVER,
    "object_rotate_object_centric": MOVER,
    "object_move_allocentric": MOVER,
    "object_move_distance": MOVER,
    "object_move_occlusion": MOVER,
    "coordinate_rotation_agent": TARGET,
    "coordinate_rotation_object_centric": ANCHOR,
    "coordinate_rotation_allocentric": TARGET,
}
DIRECTIONS = 10
"""Types of questions of direction, levels 1 to 3."""


@pytest.fixture(scope="module")
def data(demo_benchmark: Path) -> Benchmark:
    return Benchmark.open(demo_benchmark)


def directions(data: Benchmark) -> list[Row]:
    return [row for row in data.rows if row.facts["relation"]["kind"] == "direction"]


def test_all_directions_can_be_reckoned_from_the_metadata(data: Benchmark) -> None:
    asked: Counter[str] = Counter()
    wrong = []
    for row in directions(data):
        asked[row.category] += 1
        answer = Reckoner(row.question, data.evidence(row.question_uid).text).answer(list(row.options))
        if (answer,) != row.correct_values:
            wrong.append((row.question_uid, answer, row.correct_values))
    assert len(asked) == DIRECTIONS
    assert min(asked.values()) >= 20, asked
    assert wrong == []


def test_who_carries_whom_is_needed_where_what_is_carried_is_asked_about(data: Benchmark) -> None:
    """Without it the reader forgets: its answer is the one of before, and wrong where that is an option."""
    told = forgotten = 0
    for row in directions(data):
        change = row.facts["intervention"]
        roles = {role: item["id"] for item in row.facts["objects"] for role in item["roles"] if role != "moved"}
        if change is None or change["kind"] not in ("move", "orbit") or roles["query"] == change["object"]:
            continue
        text = re.sub(r"; carried by [^\n]*", "", data.evidence(row.question_uid).text)
        tags = {option["value"]: option["tag"] for option in row.facts["options"]}
        before = row.facts["twin"]["value"]
        told += 1
        if before in tags and not row.relation_unchanged:
            forgotten += 1
            assert tags[Reckoner(row.question, text).answer(list(row.options))] == "forgot_attachment"
    assert told >= 10
    assert forgotten >= 5


def on_several(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if len(row.image_roles) > 1]


def test_pairs_can_be_reckoned_without_their_bridges(data: Benchmark) -> None:
    several = on_several(directions(data))
    assert sum(len(row.image_roles) > 2 for row in several) >= 3
    for row in several:
        shown = prompt(data, row.question_uid, PromptStyle("metadata", "drop"))
        *_, measured, question, _ = shown.parts
        assert isinstance(measured, TextPart)
        assert isinstance(question, TextPart)
        assert [picture.name for picture in shown.pictures] == [row.image_name, row.auxiliary_image_names[-1]]
        assert not re.search(r"picture [3-8]", shown.text)
        assert Reckoner(question.text, measured.text).answer(list(row.options)) == row.correct_values[0]


def test_each_main_picture_shows_the_group_of_the_type(data: Benchmark) -> None:
    several = on_several(data.rows)
    assert len({row.source_type for row in several}) >= 6
    for row in several:
        first, *bridges, last = asked_of(row.facts).pictures
        assert not any(bridge.shows for bridge in bridges)
        for picture, roles in zip((first, last), GROUPS[row.source_type], strict=True):
            group = {item["id"] for item in row.facts["objects"] if roles & {*item["roles"]}}
            assert {*picture.shows} == group


def test_evidence_is_there_for_each_question_and_is_what_the_manifest_says(data: Benchmark) -> None:
    for row in data.rows:
        evidence = data.evidence(row.question_uid)
        assert evidence.map_png.startswith(b"\x89PNG")
        for item in row.facts["objects"]:
            if set(item["roles"]) - UNNAMED_ROLES:
                assert f"  {item['label']} (id {item['id']}): centre" in evidence.text


def test_evidence_that_is_not_there_or_was_changed_is_one_line(demo_benchmark: Path, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(demo_benchmark, copy)
    one, other = (row.question_uid for row in Benchmark.open(copy).rows[:2])
    (copy / f"evidence/{one}.txt").write_text("the answer is B")
    (copy / f"evidence/{other}.png").unlink()
    changed = Benchmark.open(copy)
    with pytest.raises(InputError, match="changed after the build"):
        changed.evidence(one)
    with pytest.raises(InputError, match="build the dataset with --evidence"):
        changed.evidence(other)
    with pytest.raises(InputError, match="no question nothing"):
        changed.evidence("nothing")
