"""From a draft to a worded candidate: the paraphrase is drawn here, and the uid made from the content."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from spacecast.dataset.chance import generator
from spacecast.dataset.rows import canonical_json, plain
from spacecast.dataset.types import Candidate, Choice, Draft, Language, QuestionType, Refusal, Suite, ViewUse

_UID_DIGITS = 12


def worded(
    draft: Draft, kind: QuestionType, suite: Suite, *, seed: int, dataset: str, scene_id: str, language: Language
) -> Candidate | Refusal:
    """The candidate of a draft, or why its options cannot be asked.

    Depends on (seed, dataset, scene, type, version, case) and on the draft, and on nothing else.
    """
    problem = _choice_problem(draft, kind)
    if problem:
        return Refusal("options", problem, draft.case)
    draw = generator(seed, dataset, scene_id, kind.code, kind.version, draft.case, "wording")
    words = suite.word(kind.code, draft, language, draw)
    if isinstance(words, Refusal):  # looks like the three texts: a named tuple of three
        return words
    wording_id, question, texts = words
    problem = _text_problem(question, tuple(texts), len(draft.choices))
    if problem:
        return Refusal("options", problem, draft.case)
    uid = _uid(draft, kind, question, tuple(texts), dataset=dataset, scene_id=scene_id)
    return Candidate(
        uid, dataset, scene_id, kind.code, draft, str(wording_id), language, str(question), tuple(map(str, texts))
    )


def _choice_problem(draft: Draft, kind: QuestionType) -> str | None:
    right = sum(choice.is_right for choice in draft.choices)
    if not draft.views:
        return "no_picture"
    if len(draft.choices) != kind.option_count:
        return "too_few_options" if len(draft.choices) < kind.option_count else "too_many_options"
    if len({choice.value for choice in draft.choices}) < len(draft.choices):
        return "repeated_option"
    if right == 0:
        return "none_right"
    if right > 1 and not kind.multi_select:
        return "several_right"
    return None


def _text_problem(question: str, texts: tuple[str, ...], count: int) -> str | None:
    if not question.strip():
        return "empty_question"
    if len(texts) != count or not all(text.strip() for text in texts):
        return "empty_option"
    if len({text.strip().casefold() for text in texts}) < count:
        return "repeated_option"
    return None


def _uid(
    draft: Draft, kind: QuestionType, question: str, texts: tuple[str, ...], *, dataset: str, scene_id: str
) -> str:
    content = {
        "dataset": dataset,
        "scene": scene_id,
        "type": kind.code,
        "version": kind.version,
        "case": draft.case,
        "question": question,
        "options": [[text, *choice] for text, choice in zip(texts, draft.choices, strict=True)],
        "views": [list(view) for view in draft.views],
    }
    digest = hashlib.sha256(canonical_json(content).encode()).hexdigest()
    return f"{kind.code}-{scene_id}-{digest[:_UID_DIGITS]}"


def record_of(candidate: Candidate) -> str:
    """A candidate as one JSON object, exact: floats are not rounded."""
    draft = candidate.draft
    record = {
        "uid": candidate.uid,
        "dataset": candidate.dataset,
        "scene_id": candidate.scene_id,
        "type_code": candidate.type_code,
        "wording_id": candidate.wording_id,
        "language": candidate.language,
        "question": candidate.question,
        "option_texts": list(candidate.option_texts),
        "draft": {
            "case": draft.case,
            "views": [list(view) for view in draft.views],
            "facts": draft.facts,
            "choices": [list(choice) for choice in draft.choices],
            "words": draft.words,
            "stated": draft.stated,
            "balance": draft.balance,
            "likeness": draft.likeness,
            "preference": draft.preference,
            "relative": draft.relative,
            "unchanged": draft.unchanged,
        },
    }
    return json.dumps(record, default=plain, sort_keys=True, ensure_ascii=False, allow_nan=False)


def candidate_from(record: str) -> Candidate:
    """The candidate that :func:`record_of` wrote."""
    data: dict[str, Any] = json.loads(record)
    draft = data.pop("draft")
    draft["views"] = tuple(ViewUse(*view) for view in draft["views"])
    draft["choices"] = tuple(Choice(*choice) for choice in draft["choices"])
    data["option_texts"] = tuple(data["option_texts"])
    return Candidate(draft=Draft(**draft), **data)
