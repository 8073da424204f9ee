"""Occlusion: whether other things hide an object in a picture. SEMANTICS section 3."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from questions.common import BuiltType, choices_of, facts_of, named, relation_refusals, single, words_of
from spacecast.dataset.context import SceneContext, ViewRecord
from spacecast.dataset.types import Draft, Refusal
from spacecast.relations import Answer

STATES = ("not occluded", "occluded", "not visible")


def occlusion_relation(target: int, answer: Answer) -> dict[str, Any]:
    """``facts.relation`` of an occlusion without an intervention."""
    numbers = answer.numbers
    before = {
        "value": answer.value,
        "blocked": float(numbers["blocked"]),
        "opened": float(numbers["opened"]),
        "silhouette_px": int(numbers["silhouette_px"]),
    }
    return {"kind": "occlusion", "target": target, "reference": None, "before": before, "after": None}


class Occlusion(BuiltType):
    """The state of one object in one view."""

    code = "occlusion"

    def enumerate(self, context: SceneContext) -> Iterator[Draft | Refusal]:
        """Every object that may be asked about, in every view in use."""
        for record in context.records:
            for target, answer in record.occlusions.items():
                example = f"{named(context, target)} in {record.name}"
                problem = self._name_problem(context, record, target, answer)
                if not answer.certain:
                    yield from relation_refusals(answer, example)
                elif problem is not None:
                    yield Refusal("name", problem, example)
                else:
                    yield self._draft(context, record.name, target, answer)

    def _name_problem(self, context: SceneContext, record: ViewRecord, target: int, answer: Answer) -> str | None:
        """Why the name does not point at the target; a target that is not visible needs a picture without any other."""
        if not context.names.points_at_one(target, record.visible_ids):
            return "not_unique"
        if (target in record.visible_ids) == (answer.value == "not visible"):
            return "few_pixels"
        return None

    def _draft(self, context: SceneContext, name: str, target: int, answer: Answer) -> Draft:
        return Draft(
            case=f"{target}-{name}",
            views=single(name),
            facts=facts_of(
                context,
                single(name),
                roles={target: ["target"]},
                relation=occlusion_relation(target, answer),
                margins=answer.margins,
            ),
            choices=choices_of(STATES, answer.value, lambda _: "other"),
            words=words_of(context, {"target": target}),
            stated={},
            balance=answer.value,
            likeness=str(target),
            # What is in the frame and hidden behind something tests more than what is out of the frame.
            preference=int(answer.value == "not visible" and answer.numbers["silhouette_px"] == 0),
        )
