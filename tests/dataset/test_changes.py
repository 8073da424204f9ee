"""Questions about a change in a dataset: unchanged ones, twins, and types that are at fault."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import synthetic_suite as synthetic

from spacecast.dataset.build import BuildSettings, build
from spacecast.dataset.reader import Benchmark
from spacecast.dataset.twins import relation_key, twins_of
from spacecast.dataset.types import Candidate
from spacecast.errors import SpacecastError

MOVES = "object_move_allocentric"


@pytest.fixture(scope="module")
def changed(invented_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("changed") / "out"
    build([invented_root], out, BuildSettings(suite="changed"), sources=synthetic.SOURCES)
    return out


def test_at_most_a_quarter_is_unchanged_where_half_of_the_candidates_are(changed: Path) -> None:
    benchmark = Benchmark.open(changed)
    rows = [row for row in benchmark.rows if row.source_type == MOVES]
    unchanged = sum(row.correct_values[0] == row.facts["relation"]["before"]["value"] for row in rows)
    assert len(rows) == 24
    assert unchanged <= 6
    assert sum(bool(row.relation_unchanged) for row in rows) == unchanged
    assert {row.relation_unchanged for row in benchmark.rows if row.level == "L1"} == {None}
    assert benchmark.manifest["changes"]["L2 / Move World Direction"]["unchanged"] == unchanged
    assert benchmark.manifest["limits"]["max_unchanged"] == {MOVES: 0.25}


def test_a_twin_is_named_where_it_is_asked_and_nowhere_else(changed: Path) -> None:
    """The case of an invented move is that of its twin: two objects and a picture."""
    benchmark = Benchmark.open(changed)
    asked = {}
    for row in benchmark.rows:
        if row.source_type == "direction_allocentric":
            relation = row.facts["relation"]
            asked[row.scene_id, relation["target"], relation["reference"], row.image_name] = row
    named = 0
    for row in benchmark.rows:
        if row.source_type != MOVES:
            assert row.facts["twin"] is None
            continue
        relation, twin = row.facts["relation"], row.facts["twin"]
        before = asked.get((row.scene_id, relation["target"], relation["reference"], row.image_name))
        assert twin["question_uid"] == (None if before is None else before.question_uid)
        if before is not None:
            assert list(before.correct_values) == [twin["value"]]
            named += 1
    assert named >= 12, "what is asked before the change is chosen first where balance allows"
    assert benchmark.manifest["changes"]["L2 / Move World Direction"]["twins"] == named


def test_the_card_says_how_many_are_unchanged(changed: Path) -> None:
    counts = json.loads((changed / "release_manifest.json").read_text())["changes"]["L2 / Move World Direction"]
    assert f"| L2 / Move World Direction | {counts['unchanged']} | {counts['twins']} |" in (
        (changed / "README.md").read_text()
    )


def test_a_type_that_offers_unchanged_answers_where_none_may_be_is_a_fault(invented_root: Path, tmp_path: Path) -> None:
    with pytest.raises(
        SpacecastError, match=f"type {MOVES} enumerates case .*, whose answer the change leaves as it was"
    ):
        build([invented_root], tmp_path / "out", BuildSettings(suite="never unchanged"), sources=synthetic.SOURCES)
    assert not (tmp_path / "out" / "release_manifest.json").exists()


class Lying(synthetic.Moves):
    """Says the opposite of its facts."""

    def enumerate(self, context: Any) -> Any:
        for draft in super().enumerate(context):
            yield replace(draft, unchanged=not draft.unchanged) if hasattr(draft, "unchanged") else draft


def test_a_type_that_calls_unchanged_what_is_not_is_a_fault(invented_root: Path, tmp_path: Path) -> None:
    lying = replace(synthetic.CHANGED, types=(Lying(),))
    sources = replace(synthetic.SOURCES, suite=lambda name: lying)
    with pytest.raises(SpacecastError, match=f"type {MOVES} says that case .* its facts say"):
        build([invented_root], tmp_path / "out", BuildSettings(), sources=sources)


# -- twins ------------------------------------------------------------------------------------------------------------


def facts(kind: str = "direction", target: int = 1, reference: int | None = 2, **other: Any) -> dict[str, Any]:
    return {
        "relation": {"kind": kind, "target": target, "reference": reference, "before": {"value": "left"}},
        "frame": {"kind": "camera", "anchor": None, "facing": None, "heading_in_world": [0.0, 1.0]},
        "views": [{"name": "7"}],
        "intervention": None,
        **other,
    }


def frame(kind: str, anchor: int | None = None, facing: int | str | None = None, north: float = 1.0) -> dict[str, Any]:
    return {"kind": kind, "anchor": anchor, "facing": facing, "heading_in_world": [0.0, north]}


SAME = [
    (facts(), facts(intervention={"kind": "move"})),
    (facts("distance", 1, 2, frame=None), facts("distance", 2, 1, frame=None)),
    (facts(frame=frame("object", 2, 3)), facts(frame=frame("object", 2, 3, north=-1.0))),  # turned by its orbit
]
OTHER = [
    (facts(), facts(target=2, reference=1)),
    (facts(), facts("pairwise_occlusion")),
    (facts(), facts(frame=frame("world"))),
    (facts(frame=frame("object", 2, 3)), facts(frame=frame("object", 2, 4))),
    (facts(frame=frame("object", 2, 3)), facts(frame=frame("object", 2, "camera"))),
    (facts(), facts(views=[{"name": "8"}])),
    (facts(views=[{"name": "7"}, {"name": "8"}]), facts(views=[{"name": "8"}, {"name": "7"}])),
]


@pytest.mark.parametrize("one, other", SAME)
def test_what_makes_two_relations_one(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert relation_key("d", "s", one) == relation_key("d", "s", other)


@pytest.mark.parametrize("one, other", OTHER)
def test_what_makes_two_relations_two(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert relation_key("d", "s", one) != relation_key("d", "s", other)
    assert relation_key("d", "s", one) != relation_key("d", "t", one)


def candidate(uid: str, **own: Any) -> Candidate:
    draft = next(d for d in synthetic.Moves().enumerate(synthetic.context(_scan(), "photos")) if hasattr(d, "facts"))
    return Candidate(uid, "d", "s", "t", replace(draft, facts=facts(**own)), "w", "en", "?", ())


def _scan() -> Any:
    from types import SimpleNamespace

    from spacecast.frames import Intrinsics, Transform

    view = SimpleNamespace(
        world_from_camera=Transform.identity(target="world", source="camera"),
        intrinsics=Intrinsics(50.0, 50.0, 31.5, 23.5, 64, 48),
    )
    return SimpleNamespace(scene_id="s", instances={1: None, 2: None, 3: None}, views={"0": view})


def test_a_twin_with_another_answer_is_a_fault() -> None:
    moved = {"intervention": {"kind": "move"}, "twin": {"value": "left", "question_uid": None}}
    assert twins_of([candidate("a"), candidate("b", **moved)]) == {"b": "a"}
    assert twins_of([candidate("a", target=3), candidate("b", **moved)]) == {}
    moved["twin"] = {"value": "right", "question_uid": None}
    with pytest.raises(SpacecastError, match="question b starts from 'right', but its twin a has the answer 'left'"):
        twins_of([candidate("a"), candidate("b", **moved)])


def test_letters_are_equally_frequent_in_every_type(changed: Path) -> None:
    rows = Benchmark.open(changed).rows
    letters = Counter(row.answer[0] for row in rows if row.source_type == MOVES)
    assert sorted(letters.values()) == [6, 6, 6, 6]
