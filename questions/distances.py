"""Distance: in which range the shortest way between the surfaces of two objects lies. SEMANTICS section 3."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any
from weakref import WeakKeyDictionary

from questions.common import (
    BuiltType,
    choices_of,
    facts_of,
    named,
    no_chain,
    relation_refusals,
    seen_refusals,
    words_of,
    words_of_pictures,
)
from spacecast.dataset.context import SceneContext
from spacecast.dataset.showings import Showing
from spacecast.dataset.types import Draft, Refusal
from spacecast.relations import Answer, distance
from spacecast.scene import Scene

BINS = ("very close", "close", "moderate", "far")
"""Nearest first; the option texts state their bounds."""


_KNOWN: WeakKeyDictionary[Scene, dict[tuple[int, int], Answer]] = WeakKeyDictionary()


def known_distance(scene: Scene, one: int, other: int) -> Answer:
    """The distance of two objects, the same in every view and either way round: kept as long as the scene."""
    known = _KNOWN.setdefault(scene, {})
    key = (min(one, other), max(one, other))
    if key not in known:
        known[key] = distance(scene, *key)
    return known[key]


def distance_relation(one: int, other: int, answer: Answer) -> dict[str, Any]:
    """``facts.relation`` of a distance without an intervention."""
    before = {"value": answer.value, "distance_m": float(answer.numbers["distance_m"])}
    return {"kind": "distance", "target": one, "reference": other, "before": before, "after": None}


class Distance(BuiltType):
    """The range of the distance between two objects."""

    code = "distance"

    def enumerate(self, context: SceneContext) -> Iterator[Draft | Refusal]:
        """One draft for each pair and number of pictures, in the views that show it best."""
        yield from seen_refusals(context)
        showings = context.showings
        for one, other in combinations(showings.seen_ids, 2):
            possible = [images for images in self.images if showings.starts({one}, {other}, images)]
            if not possible:
                continue
            example = f"{named(context, one)} to {named(context, other)}"
            answer = known_distance(context.scene, one, other)
            if not answer.certain:
                yield from relation_refusals(answer, example)
                continue
            for images in possible:
                showing = showings.showing({one}, {other}, images)
                yield no_chain(example) if showing is None else self._draft(context, one, other, showing, answer)

    def _draft(self, context: SceneContext, one: int, other: int, showing: Showing, answer: Answer) -> Draft:
        return Draft(
            case=f"{one}-{other}-{showing.case}",
            views=showing.views,
            facts=facts_of(
                context,
                showing.views,
                roles={one: ["one"], other: ["other"]},
                relation=distance_relation(one, other, answer),
                margins={**answer.margins, **showing.margins},
            ),
            choices=choices_of(BINS, answer.value, lambda _: "other"),
            words={**words_of(context, {"one": one, "other": other}), **words_of_pictures(showing)},
            stated={"images": showing.images},
            balance=answer.value,
            likeness=f"{one}-{other}",
        )
