"""Questions on the real scan; what the three photos show was written down by eye."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from questions.kinds import KIND_BY_CODE
from questions.suites import TYPES
from questions.wording import word
from spacecast.dataset.chance import generator
from spacecast.dataset.context import SceneContext
from spacecast.dataset.types import Draft
from spacecast.registry import open_scan

KIND = {kind.code: kind for kind in TYPES}


@pytest.fixture(scope="module")
def photos(real_scans: Path) -> SceneContext:
    return SceneContext(open_scan(real_scans / "scans" / "scene0000_00"), pictures="photos")


@cache
def asked(context: SceneContext, code: str) -> tuple[Draft, ...]:
    return tuple(d for d in KIND[code].enumerate(context) if isinstance(d, Draft))


def labels(draft: Draft) -> dict[str, str]:
    return {role: o["label"] for o in draft.facts["objects"] for role in o["roles"]}


def test_the_three_photos_are_used_and_the_other_poses_counted(photos: SceneContext) -> None:
    assert photos.view_names == ("0", "11", "102")
    assert Counter(r.reason for r in photos.view_refusals) == {"no_photo": 185}


def test_most_types_are_asked_on_the_photos(photos: SceneContext) -> None:
    counts = {code: len(asked(photos, code)) for code in KIND}
    assert all(counts[code] > 0 for code in KIND if code != "attachment_chain"), counts


@pytest.mark.parametrize(
    ("view", "target", "reference", "answers"),
    [
        # In photo 102, over the back of the couch: the television stands far on the left, in its cabinet.
        ("102", "tv", "couch", {"front-left", "front"}),
        ("102", "couch", "tv", {"back-right", "back"}),
        # In photo 0 the desk is on the left of the low table.
        ("0", "desk", "table", {"left", "front-left"}),
        ("0", "table", "desk", {"right", "back-right"}),
    ],
)
def test_camera_directions_that_a_person_sees(
    photos: SceneContext, view: str, target: str, reference: str, answers: set[str]
) -> None:
    found = [
        d.balance
        for d in asked(photos, "direction_agent")
        if d.views[0].name == view and labels(d) == {"target": target, "reference": reference}
    ]
    assert len(found) == 1
    assert set(found) <= answers


def test_distances_that_a_person_sees(photos: SceneContext) -> None:
    found = {frozenset(labels(d).values()): d.balance for d in asked(photos, "distance")}
    assert found[frozenset({"desk", "table"})] == "very close"
    assert found[frozenset({"tv", "couch"})] == "close"


def test_names_that_two_things_in_a_photo_could_have_are_not_used(photos: SceneContext) -> None:
    # Photo 0 shows two curtains; photo 102 the counter and the ottoman, both labelled table.
    assert {photos.scene.objects[i].label for i, p in photos.record("0").problems.items() if p == "not_unique"} == {
        "curtain"
    }
    assert {photos.scene.objects[i].label for i, p in photos.record("102").problems.items() if p == "not_unique"} == {
        "table"
    }


def test_every_draft_can_be_worded(photos: SceneContext) -> None:
    for code in KIND:
        for draft in asked(photos, code):
            wording_id, question, options = word(code, draft, "en", generator(draft.case))
            assert wording_id
            assert question
            assert len(set(options)) == len(draft.choices)


def test_all_types_are_asked_where_pictures_are_rendered(real_scans: Path) -> None:
    context = SceneContext(open_scan(real_scans / "scans" / "scene0000_00"), pictures="render")
    assert 10 <= len(context.view_names) <= 16
    for code in KIND:
        drafts = asked(context, code)
        assert drafts, code
        for draft in drafts:
            named = [o["id"] for o in draft.facts["objects"] if set(o["roles"]) - {"carried", "carrier", "moved"}]
            first, last = (context.record(draft.views[n].name) for n in (0, -1))
            # Whose occlusion is asked about need not be well seen.
            asked_about = {draft.words["target"]} if code in {"occlusion", "object_remove"} else set()
            assert set(named) - asked_about <= {*first.seen_ids, *last.seen_ids}
            assert context.names.differ(named)
        if KIND_BY_CODE[code].max_images > 1:
            assert {draft.stated["images"] for draft in drafts} == {"1", "2", "3+"}, code
