"""Twins: the question of level 1 that asks for the relation which a question about a change starts from.

Both have the same kind of relation, target, reference, frame and pictures; SEMANTICS section 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from spacecast.dataset.types import Candidate
from spacecast.errors import SpacecastError

_SYMMETRIC = frozenset({"distance"})


def relation_key(dataset: str, scene_id: str, facts: Mapping[str, Any]) -> str:
    """One text for one relation before any change, seen in the same pictures.

    A facing is named by who faces what: after an orbit the heading is another, and the question before it is not.
    """
    relation, frame = facts["relation"], facts.get("frame")
    ends = [relation["target"], relation.get("reference")]
    if relation["kind"] in _SYMMETRIC:
        ends.sort()
    kind = [] if frame is None else [frame["kind"], frame["anchor"], frame["facing"]]
    return repr([dataset, scene_id, relation["kind"], *ends, *kind, *(view["name"] for view in facts["views"])])


def twins_of(candidates: Iterable[Candidate]) -> dict[str, str]:
    """Uid of a question about a change -> uid of its twin, where the twin is among the same questions.

    Raises:
        SpacecastError: the twin's answer is not the relation before the change.
    """
    before: dict[str, tuple[str, str]] = {}
    changed = []
    for candidate in sorted(candidates, key=lambda candidate: candidate.uid):
        facts = candidate.draft.facts
        key = relation_key(candidate.dataset, candidate.scene_id, facts)
        if facts.get("intervention") is None:
            before.setdefault(key, (candidate.uid, facts["relation"]["before"]["value"]))
        elif facts.get("twin") is not None:
            changed.append((candidate.uid, key, facts["twin"]["value"]))
    found = {}
    for uid, key, value in changed:
        if key not in before:
            continue
        twin, answer = before[key]
        if answer != value:
            raise SpacecastError(f"question {uid} starts from {value!r}, but its twin {twin} has the answer {answer!r}")
        found[uid] = twin
    return found
