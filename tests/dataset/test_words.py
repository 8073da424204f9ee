"""Drafts to candidates: what is refused, what a uid depends on, and that records are exact."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic_suite as synthetic

from spacecast.dataset.types import Candidate, Choice, Draft, Refusal
from spacecast.dataset.words import candidate_from, record_of, worded

KIND = synthetic.Directions()


@pytest.fixture
def draft(tmp_path: Path) -> Draft:
    folder = synthetic.write_scene(tmp_path, "s0")
    scan = synthetic.read(synthetic.Folder("synthetic", "s0", folder))
    drafts: Iterator[object] = KIND.enumerate(synthetic.context(scan, "photos"))
    return next(entry for entry in drafts if isinstance(entry, Draft))


def word(draft: Draft, *, seed: int = 0, dataset: str = "d", scene: str = "s", suite=synthetic.SUITE):  # type: ignore[no-untyped-def]
    return worded(draft, KIND, suite, seed=seed, dataset=dataset, scene_id=scene, language="en")


A, B, C, D = Choice("a", None), Choice("b", "other"), Choice("c", "other"), Choice("d", "other")


@pytest.mark.parametrize(
    "choices, reason",
    [
        ((A, B, C), "too_few_options"),
        ((A, B, C, D, Choice("e", "other")), "too_many_options"),
        ((A, B, C, Choice("b", "mirrored")), "repeated_option"),
        ((Choice("a", "other"), B, C, D), "none_right"),
        ((A, Choice("b", None), C, D), "several_right"),
        ((A, B, C, Choice("B", "other")), "repeated_option"),  # the same text but for case
    ],
)
def test_options_that_cannot_be_asked_are_refused(draft: Draft, choices: tuple[Choice, ...], reason: str) -> None:
    assert word(replace(draft, choices=choices)) == Refusal("options", reason, draft.case)


@pytest.mark.parametrize(
    "question, texts, reason",
    [
        ("Where?", ("a", "b", " ", "d"), "empty_option"),
        ("Where?", ("a", "b", "c"), "empty_option"),
        ("Where?", ("a", "b", "a", "d"), "repeated_option"),
        ("  ", ("a", "b", "c", "d"), "empty_question"),
    ],
)
def test_texts_that_are_empty_or_repeated_are_refused(
    draft: Draft, question: str, texts: tuple[str, ...], reason: str
) -> None:
    suite = replace(synthetic.SUITE, word=lambda code, draft, language, draw: ("w", question, texts))
    assert word(draft, suite=suite) == Refusal("options", reason, draft.case)


def test_a_language_without_a_name_refuses(draft: Draft) -> None:
    refusal = Refusal("wording", "no_name", "thing 5")
    assert word(draft, suite=replace(synthetic.SUITE, word=lambda code, draft, language, draw: refusal)) == refusal


def test_a_question_without_pictures_is_refused(draft: Draft) -> None:
    assert word(replace(draft, views=())) == Refusal("options", "no_picture", draft.case)


def test_the_uid_is_of_the_content(draft: Draft) -> None:
    one = word(draft)
    assert isinstance(one, Candidate)
    assert one.uid == word(draft).uid
    others = [
        word(replace(draft, case="other")),
        word(replace(draft, views=(draft.views[0]._replace(name="3"),))),
        word(replace(draft, choices=draft.choices[::-1])),
        word(replace(draft, stated={"camera_compass": "nowhere"})),
        word(draft, dataset="e"),
        word(draft, scene="t"),
    ]
    assert len({one.uid, *(other.uid for other in others)}) == 7


def test_every_paraphrase_is_drawn_and_none_by_order(draft: Draft) -> None:
    said = [word(draft, seed=seed).wording_id for seed in range(60)]
    assert set(said) == {f"{KIND.code}.{k}" for k in range(3)}
    assert said == [word(draft, seed=seed).wording_id for seed in range(60)]


def test_records_are_exact(draft: Draft) -> None:
    one = word(replace(draft, facts={**draft.facts, "exact": 0.1234567890123456}))
    again = candidate_from(record_of(one))
    assert again.draft.facts["exact"] == 0.1234567890123456
    assert replace(again, draft=replace(again.draft, facts={})) == replace(one, draft=replace(one.draft, facts={}))
    assert record_of(again) == record_of(one)
