"""A draft depends on what it is about and on nothing else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import pytest
from box_scans import Box, box_scan, looking, on_floor

from questions.suites import TYPES
from spacecast.dataset.context import SceneContext
from spacecast.dataset.types import Draft, QuestionType, Refusal

CAMERAS = {
    "0": looking((0.0, -3.2, 2.2), (0.0, 0.3, 0.6)),
    "1": looking((3.2, 0.5, 2.2), (0.0, 0.5, 0.6)),
    "2": looking((2.2, 3.0, 2.0), (0.0, 0.5, 0.4)),
}
ROOM = [
    Box(1, "table", (0.0, 0.5, 0.35), (1.6, 0.9, 0.7)),
    Box(2, "tray", (-0.3, 0.5, 0.74), (0.6, 0.5, 0.08)),
    Box(3, "mug", (-0.3, 0.5, 0.88), (0.2, 0.2, 0.2)),
    on_floor(5, "bin", 1.5, 0.5),
    on_floor(6, "stool", -1.3, 0.5),
    on_floor(8, "plant", 0.3, 1.9),
]
FAR = on_floor(7, "bed", 4.0, -4.0)


def context_of(boxes: Sequence[Box], **more: object) -> SceneContext:
    return SceneContext(box_scan(boxes, CAMERAS, **more), pictures="render")


def drafts(items: Iterable[Draft | Refusal]) -> dict[str, Draft]:
    return {d.case: d for d in items if isinstance(d, Draft)}


@cache
def plain(kind: QuestionType) -> tuple[Draft | Refusal, ...]:
    """What a type alone asks in the room."""
    return tuple(kind.enumerate(context_of(ROOM)))


@pytest.fixture(scope="module")
def used() -> SceneContext:
    """The room, after every type asked in it."""
    context = context_of(ROOM)
    for kind in TYPES[::-1]:
        list(kind.enumerate(context))
    return context


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.code)
def test_the_same_scene_gives_the_same_drafts_in_the_same_order(kind: QuestionType) -> None:
    one = plain(kind)
    assert any(isinstance(item, Draft) for item in one)
    assert one == tuple(kind.enumerate(context_of(ROOM)))
    assert one == tuple(kind.enumerate(context_of(ROOM[::-1])))


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.code)
def test_something_that_no_view_shows_changes_no_other_draft(kind: QuestionType) -> None:
    context = context_of([*ROOM, FAR])
    assert all(7 not in record.visible_ids for record in context.records)
    before, after = drafts(plain(kind)), drafts(kind.enumerate(context))
    more = set(after) - set(before)
    assert {case: after[case] for case in after if case not in more} == before
    if kind.code == "occlusion":
        assert more == {"7-0", "7-1", "7-2"}
        assert {after[case].balance for case in more} == {"not visible"}
    else:
        assert more == set()


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.code)
def test_another_type_asked_before_changes_nothing(kind: QuestionType, used: SceneContext) -> None:
    assert tuple(kind.enumerate(used)) == plain(kind)


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.code)
def test_refusals_are_counted_and_short(kind: QuestionType) -> None:
    second = on_floor(9, "stool", 0.9, -0.6)
    found = [item for item in kind.enumerate(context_of([*ROOM, second])) if isinstance(item, Refusal)]
    assert ("name", "not_unique") in {(r.stage, r.reason) for r in found}
    assert all(r.stage in {"view", "name", "relation", "options", "object", "change", "selection"} for r in found)
    assert all(r.reason.replace("_", "").isalpha() and 0 < len(r.example) < 80 for r in found)


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.code)
def test_draft_shape(kind: QuestionType) -> None:
    for draft in drafts(plain(kind)).values():
        assert len(draft.choices) == kind.option_count
        assert len({c.value for c in draft.choices}) == kind.option_count
        right = [c.value for c in draft.choices if c.is_right]
        assert len(right) == (int(draft.balance) if kind.multi_select else 1)
        if not kind.multi_select:
            moment = "before" if draft.facts["intervention"] is None else "after"
            assert right == [draft.balance] == [draft.facts["relation"][moment]["value"]]
        assert [view.role for view in draft.views] == ["image"]
        assert [v["name"] for v in draft.facts["views"]] == [view.name for view in draft.views]
        ids = [o["id"] for o in draft.facts["objects"]]
        assert ids == sorted(set(ids))
        assert {v for v in draft.words.values() if isinstance(v, int)} <= set(ids)


_PRINT = """
import hashlib, sys
sys.path.insert(0, sys.argv[1])
from test_independence import ROOM, TYPES, context_of
from spacecast.dataset.rows import canonical_json
context = context_of(ROOM)
items = [item for kind in TYPES for item in kind.enumerate(context)]
text = [canonical_json([i._asdict() if hasattr(i, "_asdict") else dict(i.__dict__)]) for i in items]
print(len(text), hashlib.sha256("".join(text).encode()).hexdigest())
"""


def test_the_hash_seed_makes_no_difference() -> None:
    here = Path(__file__).parent
    out = {
        subprocess.run(
            [sys.executable, "-c", _PRINT, str(here)],
            env={"PYTHONHASHSEED": seed, "PATH": "/usr/bin:/bin"},
            cwd=here.parent.parent,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(out) == 1
