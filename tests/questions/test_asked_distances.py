"""Distance questions by hand."""

from __future__ import annotations

import pytest
from box_scans import Box, box_scan, looking, on_floor

from questions.distances import Distance
from spacecast.dataset.context import SceneContext
from spacecast.dataset.types import Draft, Refusal

CAMERA = looking((0.0, -6.0, 2.5), (0.0, 0.5, 0.3))


def context_of(boxes: list[Box]) -> SceneContext:
    return SceneContext(box_scan(boxes, {"0": CAMERA}), pictures="render")


def pair(gap_m: float) -> list[Box]:
    """Two boxes of 0.4 whose facing sides are this far apart."""
    half = gap_m / 2 + 0.2
    return [on_floor(1, "chair", -half, 0.5), on_floor(2, "lamp", half, 0.5)]


@pytest.mark.parametrize(
    ("gap_m", "answer"),
    [
        (0.5, "very close"),
        (0.89, "very close"),
        (1.11, "close"),
        (1.5, "close"),
        (1.89, "close"),
        (2.11, "moderate"),
        (3.19, "moderate"),
        (3.41, "far"),
    ],
)
def test_bins_of_the_gap_between_surfaces(gap_m: float, answer: str) -> None:
    (draft,) = [d for d in Distance().enumerate(context_of(pair(gap_m))) if isinstance(d, Draft)]
    assert draft.balance == answer
    assert [c.value for c in draft.choices] == ["very close", "close", "moderate", "far"]
    assert [c.value for c in draft.choices if c.is_right] == [answer]
    assert {c.tag for c in draft.choices if not c.is_right} == {"other"}
    assert draft.facts["relation"]["before"] == {"value": answer, "distance_m": pytest.approx(gap_m, abs=1e-3)}
    assert (draft.facts["frame"], draft.facts["binding_view"]) == (None, None)
    assert draft.case == "1-2-0"


@pytest.mark.parametrize(
    ("gap_m", "reason"),
    [(0.1, "too_close"), (0.92, "near_border"), (1.08, "near_border"), (2.05, "near_border"), (3.25, "near_border")],
)
def test_distances_near_a_border_are_not_asked(gap_m: float, reason: str) -> None:
    found = list(Distance().enumerate(context_of(pair(gap_m))))
    assert found == [Refusal("relation", reason, "chair 1 to lamp 2")]


def test_each_pair_is_asked_once_in_the_view_that_shows_it_best() -> None:
    boxes = [*pair(1.5), on_floor(3, "bin", 0.0, 2.5)]
    near = looking((0.0, -3.0, 2.0), (0.0, 1.0, 0.3))
    context = SceneContext(box_scan(boxes, {"0": CAMERA, "1": near}), pictures="render")
    assert context.view_names == ("0", "1")
    assert [d.case for d in Distance().enumerate(context) if isinstance(d, Draft)] == ["1-2-1", "1-3-1", "2-3-1"]
