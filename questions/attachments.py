"""Attachment: one thing moves; which others move too? SEMANTICS section 6."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from questions.common import (
    BuiltType,
    clearest,
    facts_of,
    named,
    relation_refusals,
    seen_refusals,
    single,
    words_of,
)
from spacecast.dataset.context import SceneContext
from spacecast.dataset.types import Choice, Draft, Refusal
from spacecast.relations import attachment


@dataclass(frozen=True)
class AttachmentSettings:
    """Which options are offered (own)."""

    min_neighbor_gap_m: float = 0.05
    """A neighbour whose box is nearer to what moves may be built in one with it, for all that a picture shows."""
    max_neighbor_gap_m: float = 1.5
    """A neighbour's box is at most this far from the box of the mover or of something that it carries."""
    max_neighbors: int = 4
    """The nearest so many neighbours are offered."""
    max_carried: int = 5
    """Of the carried, at most so many are offered: those at the ends of longer chains first."""


SETTINGS = AttachmentSettings()


class _Case(NamedTuple):
    """One mover: what it carries, what carries it, and what stands near it; ids."""

    mover: int
    carried: tuple[int, ...]
    deep: frozenset[int]
    carrier: int | None
    near: tuple[int, ...]


class AttachmentChain(BuiltType):
    """Which of three objects move along with the mover."""

    code = "attachment_chain"

    def enumerate(self, context: SceneContext) -> Iterator[Draft | Refusal]:
        """For each mover, every set of three options of which one, two or three are right, in its clearest view."""
        yield from seen_refusals(context)
        for mover in context.askable_ids:
            if not context.scene.carried_by(mover) and not context.scene.possible_neighbours([mover]):
                continue  # carries nothing, and nothing is in doubt: no question
            found = self._case(context, mover)
            if isinstance(found, _Case):
                yield from self._drafts(context, found)
            else:
                yield from found

    def _case(self, context: SceneContext, mover: int) -> _Case | list[Refusal]:
        scene, example = context.scene, named(context, mover)
        answer = attachment(scene, mover)
        if not answer.certain:
            return relation_refusals(answer, example)
        carried = tuple(sorted(answer.value))
        carrier = answer.numbers["carrier"]
        if not carried:
            return [Refusal("options", "carries_nothing", example)]
        for trait, reason in (("shapeless", "shapeless"), ("installed", "built_in")):
            if trait in scene.objects[mover].traits:
                return [Refusal("object", reason, example)]
        support = scene.objects[mover].support
        if carrier is None and (support is None or support.kind != "floor"):
            return [Refusal("relation", "not_on_the_floor", example)]
        deep = frozenset(i for i in carried if scene.carrier_of(i) != mover)
        return _Case(mover, carried, deep, carrier, self._near(context, mover, carried))

    def _near(self, context: SceneContext, mover: int, carried: Sequence[int]) -> tuple[int, ...]:
        """Askable objects that stay though they are near what moves, nearest first; nothing that carries the mover."""
        scene = context.scene
        moving = [mover, *carried]
        above = nx.ancestors(scene.attachment, mover)
        gaps = []
        for other in context.askable_ids:
            if other in moving or other in above:
                continue
            gap_m = min(scene.objects[other].aabb.gap_m(scene.objects[i].aabb) for i in moving)
            if SETTINGS.min_neighbor_gap_m <= gap_m <= SETTINGS.max_neighbor_gap_m:
                gaps.append((gap_m, other))
        return tuple(other for _, other in sorted(gaps))

    def _drafts(self, context: SceneContext, case: _Case) -> Iterator[Draft | Refusal]:
        """Option sets of which all are seen together in some view, each in its clearest view."""
        offered: dict[tuple[int, ...], list[str]] = {}
        for record in context.records:
            seen = frozenset(record.seen_ids)
            if case.mover not in seen:
                continue
            right = [i for i in case.carried if i in seen]
            right = sorted(right, key=lambda i: (i not in case.deep, i))[: SETTINGS.max_carried]
            wrong = [i for i in case.near if i in seen][: SETTINGS.max_neighbors]
            if case.carrier is not None and case.carrier in seen:
                wrong.append(case.carrier)
            for count in (1, 2, 3):
                for some in combinations(sorted(right), count):
                    for others in combinations(sorted(wrong), 3 - count):
                        offered.setdefault(tuple(sorted(some + others)), []).append(record.name)
        if not offered:
            yield Refusal("options", "too_few_seen_together", named(context, case.mover))
        for options in sorted(offered):
            name = clearest(context, offered[options], (case.mover, *options))
            yield self._draft(context, case, options, name)

    def _draft(self, context: SceneContext, case: _Case, options: tuple[int, ...], name: str) -> Draft:
        right = [i for i in options if i in case.carried]
        roles: dict[int, list[str]] = {case.mover: ["mover"]}
        for i in case.carried:
            roles.setdefault(i, []).append("carried")
        for i in options:
            roles.setdefault(i, []).append("option")
        if case.carrier is not None:
            roles.setdefault(case.carrier, []).append("carrier")
        value = list(case.carried)
        return Draft(
            case=f"{case.mover}-{'.'.join(map(str, options))}-{name}",
            views=single(name),
            facts=facts_of(
                context,
                single(name),
                roles=roles,
                relation={
                    "kind": "attachment",
                    "target": case.mover,
                    "reference": None,
                    "before": {"value": value, "carried": value},
                    "after": None,
                },
                margins=self._margins(context, case),
                attachment=self._edges(context, case, options),
            ),
            choices=tuple(Choice(str(i), None if i in right else self._tag(case, i)) for i in options),
            words={
                **words_of(context, {"mover": case.mover}, options),
                "motion": "moved" if case.carrier is None else "carried_away",
            },
            stated={},
            balance=str(len(right)),
            likeness=str(case.mover),
            preference=0 if case.deep.intersection(right) else 1 if case.carrier in options else 2,
        )

    def _tag(self, case: _Case, option: int) -> Any:
        """The carrier is chosen by one who follows the link the wrong way round."""
        return "wrong_sense" if option == case.carrier else "other"

    def _edges(self, context: SceneContext, case: _Case, options: Sequence[int]) -> list[tuple[int, int]]:
        """Certain edges among what moves and what is named."""
        ids = {case.mover, *case.carried, *options} | ({case.carrier} if case.carrier is not None else set())
        edges = context.scene.attachment.edges(data="certainty")
        return [(a, b) for a, b, certainty in edges if certainty == "certain" and a in ids and b in ids]

    def _margins(self, context: SceneContext, case: _Case) -> dict[str, float]:
        """The least score of the edges that carry."""
        moving = {case.mover, *case.carried}
        scores = [
            float(data["score"])
            for parent, child, data in context.scene.attachment.edges(data=True)
            if parent in moving and child in moving and data["certainty"] == "certain"
        ]
        return {"attachment_score": float(np.min(scores))}
