"""Distance: in which range the shortest way between the surfaces of two objects lies. SEMANTICS section 3."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from questions.common import (
    BuiltType,
    choices_of,
    clearest,
    facts_of,
    groups_seen,
    named,
    relation_refusals,
    seen_refusals,
    single,
    words_of,
)
from spacecast.dataset.context import SceneContext
from spacecast.dataset.types import Draft, Refusal
from spacecast.relations import Answer, distance

BINS = ("very close", "close", "moderate", "far")
"""Nearest first; the option texts state their bounds."""


def distance_relation(one: int, other: int, answer: Answer) -> dict[str, Any]:
    """``facts.relation`` of a distance without an intervention."""
    before = {"value": answer.value, "distance_m": float(answer.numbers["distance_m"])}
    return {"kind": "distance", "target": one, "reference": other, "before": before, "after": None}


class Distance(BuiltType):
    """The range of the distance between two objects."""

    code = "distance"

    def enumerate(self, context: SceneContext) -> Iterator[Draft | Refusal]:
        """One draft for each pair, in the view that shows it best."""
        yield from seen_refusals(context)
        for (one, other), views in groups_seen(context, 2).items():
            answer = distance(context.scene, one, other)
            if not answer.certain:
                yield from relation_refusals(answer, f"{named(context, one)} to {named(context, other)}")
                continue
            name = clearest(context, views, (one, other))
            yield Draft(
                case=f"{one}-{other}-{name}",
                views=single(name),
                facts=facts_of(
                    context,
                    single(name),
                    roles={one: ["one"], other: ["other"]},
                    relation=distance_relation(one, other, answer),
                    margins=answer.margins,
                ),
                choices=choices_of(BINS, answer.value, lambda _: "other"),
                words=words_of(context, {"one": one, "other": other}),
                stated={},
                balance=answer.value,
                likeness=f"{one}-{other}",
            )
