"""Distances after a move, on boxes of 0.4 m whose gaps are worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from box_scans import Box, box_scan, looking, on_floor

from questions.move_distances import MoveDistance, bounds_of
from spacecast.dataset.coherence import facts_problems
from spacecast.dataset.context import SceneContext
from spacecast.dataset.recompute import solve
from spacecast.dataset.types import Draft, Refusal
from spacecast.frames import Transform
from spacecast.relations import distance
from spacecast.scene import Move

FROM_SOUTH = looking((0.0, -7.0, 3.5), (0.0, 0.0, 0.2))
FROM_WEST = looking((-7.0, 0.0, 3.5), (0.0, 0.0, 0.2))


def context_of(boxes: list[Box], camera: Transform = FROM_SOUTH) -> SceneContext:
    return SceneContext(box_scan(boxes, {"0": camera}, floor=(7.6, 7.6)), pictures="render")


def chair_and_bin(bin_xy: tuple[float, float], camera: Transform = FROM_SOUTH) -> SceneContext:
    return context_of([on_floor(1, "chair", 0.0, 0.0), on_floor(2, "bin", *bin_xy)], camera)


def drafts(context: SceneContext) -> dict[str, Draft]:
    found = [item for item in MoveDistance().enumerate(context) if isinstance(item, Draft)]
    assert len({draft.case for draft in found}) == len(found)
    return {draft.case: draft for draft in found}


def tags(draft: Draft) -> dict[str, str | None]:
    return {choice.value: choice.tag for choice in draft.choices}


TABLE = [  # the bin from the chair, which moves; gaps before and after; bins before and after
    ((1.6, 0.0), "right", 0.5, (1.2, 0.7), ("close", "very close")),
    ((1.6, 0.0), "left", 1.0, (1.2, 2.2), ("close", "moderate")),
    ((3.0, 0.0), "right", 1.0, (2.6, 1.6), ("moderate", "close")),
    ((3.0, 0.0), "left", 1.0, (2.6, 3.6), ("moderate", "far")),
    ((0.0, 1.2), "backward", 0.5, (0.8, 1.3), ("very close", "close")),
    ((0.0, 2.0), "forward", 1.0, (1.6, 0.6), ("close", "very close")),
    ((0.0, 3.0), "backward", 1.5, (2.6, 4.1), ("moderate", "far")),
    # 1.6 m beside each other on both axes: 2.263 m; then 0.893 m: 1.263 m.
    ((2.0, 2.0), "forward-right", 1.0, (2.2627, 1.2627), ("moderate", "close")),
    ((1.0, 0.0), "left", 1.0, (0.6, 1.6), ("very close", "close")),
]


@pytest.mark.parametrize(("bin_xy", "way", "metres", "gaps_m", "values"), TABLE)
def test_distances_by_hand(
    bin_xy: tuple[float, float], way: str, metres: float, gaps_m: tuple[float, float], values: tuple[str, str]
) -> None:
    draft = drafts(chair_and_bin(bin_xy))[f"1-1-2-0-{way}-{metres:g}"]
    relation = draft.facts["relation"]
    assert (relation["before"]["value"], relation["after"]["value"]) == values
    assert (relation["before"]["distance_m"], relation["after"]["distance_m"]) == pytest.approx(gaps_m, abs=1e-3)
    assert draft.balance == values[1]
    assert draft.unchanged is False
    assert draft.relative is None
    assert draft.facts["twin"]["value"] == values[0]
    assert tags(draft)[values[0]] == "no_update"
    assert draft.stated == {"direction": way, "distance": f"{metres:g}", "images": "1"}
    assert solve(draft.facts) == values
    assert not list(facts_problems(draft.facts))


def test_the_mistakes_by_hand() -> None:
    # Left instead of right: 3.6 m. The opposite and the mirrored move are one here.
    right = drafts(chair_and_bin((3.0, 0.0)))["1-1-2-0-right-1"]
    assert tags(right) == {"very close": "other", "close": None, "moderate": "no_update", "far": "mirrored"}
    # Towards the camera instead of away: 2.6 m. Left and right exchanged changes nothing.
    forward = drafts(chair_and_bin((0.0, 2.0)))["1-1-2-0-forward-1"]
    assert tags(forward) == {"very close": None, "close": "no_update", "moderate": "wrong_sense", "far": "other"}
    # The camera looks east, so back is west: 2.1 m beside and 1.2 m apart, 2.42 m. Taken for south: 3.7 m.
    west = drafts(chair_and_bin((0.0, 1.6), FROM_WEST))["1-1-2-0-backward-2.5"]
    assert west.facts["relation"]["after"]["distance_m"] == pytest.approx(np.hypot(2.1, 1.2), abs=1e-3)
    assert tags(west) == {"very close": "other", "close": "no_update", "moderate": None, "far": "wrong_frame"}


def test_the_bin_changes_by_exactly_one_and_is_certain() -> None:
    near = drafts(chair_and_bin((1.0, 0.0)))
    assert "1-1-2-0-left-1" in near  # 0.6 to 1.6
    assert "1-1-2-0-left-2" not in near  # 0.6 to 2.6: two bins
    far = drafts(chair_and_bin((1.6, 0.0)))
    assert "1-1-2-0-left-0.5" not in far  # 1.2 to 1.7: none
    assert "1-1-2-0-right-1" not in far  # 1.2 to 0.2: at the least distance that is asked about, if rounding lets it
    border = drafts(chair_and_bin((1.85, 0.0)))
    assert "1-1-2-0-right-0.5" not in border  # 1.45 to 0.95: within 0.1 of the border
    assert "1-1-2-0-right-1" in border  # 1.45 to 0.45


def test_what_is_carried_goes_along() -> None:
    desk, lamp = Box(1, "desk", (0.0, 0.0, 0.35), (0.5, 0.5, 0.7)), Box(3, "lamp", (0.0, 0.0, 0.9), (0.3, 0.3, 0.4))
    found = drafts(context_of([desk, lamp, on_floor(2, "bin", 1.65, 0.0)]))
    # The lamp stands 0.2 m above the bin's top, 1.3 m beside it, and then 0.8 m.
    draft = found["1-3-2-0-right-0.5"]
    numbers = [draft.facts["relation"][moment]["distance_m"] for moment in ("before", "after")]
    assert numbers == pytest.approx([np.hypot(1.3, 0.2), np.hypot(0.8, 0.2)], abs=1e-3)
    assert (draft.balance, draft.preference) == ("very close", 0)
    assert tags(draft)["close"] == "forgot_attachment"
    assert draft.facts["intervention"]["moved"] == [1, 3]
    # The desk: 1.2 m, and then 0.7 m.
    assert found["1-1-2-0-right-0.5"].preference == 1
    assert tags(found["1-1-2-0-right-0.5"])["close"] == "no_update"


def test_every_draft_is_feasible_and_measured_on_the_state_after() -> None:
    desk, lamp = Box(1, "desk", (0.2, -0.3, 0.35), (0.8, 0.5, 0.7)), Box(3, "lamp", (0.3, -0.3, 0.9), (0.3, 0.3, 0.4))
    context = context_of([desk, lamp, on_floor(2, "bin", 1.3, 1.1), on_floor(4, "stool", -1.4, 0.6)])
    found = drafts(context)
    assert len(found) > 40
    for draft in found.values():
        step, relation = draft.facts["intervention"], draft.facts["relation"]
        view = context.view("0").world_from_camera
        state = context.scene.apply(Move(step["object"], step["direction"], step["distance_m"], "camera", view))
        assert distance(state, relation["target"], relation["reference"]).value == draft.balance
        assert [c.value for c in draft.choices] == ["very close", "close", "moderate", "far"]
        assert not list(facts_problems(draft.facts))


def test_bounds_hold() -> None:
    rng = np.random.default_rng(3)
    context = context_of(
        [
            Box(1, "desk", (0.2, -0.3, 0.35), (0.8, 0.5, 0.7)),
            on_floor(2, "bin", 1.3, 1.1),
            on_floor(4, "stool", -1.4, 0.6),
        ]
    )
    scene = context.scene
    for one, other in ((1, 2), (1, 4), (2, 4)):
        before_m = distance(scene, one, other).numbers["distance_m"]
        shifts = np.column_stack([rng.uniform(-2.0, 2.0, size=(30, 2)), np.zeros(30)])
        bounds = bounds_of(scene.objects[one], scene.objects[other], shifts, before_m)
        for shift, lower, upper, likely in zip(shifts, *bounds, strict=True):
            angle = float(np.degrees(np.arctan2(shift[0], shift[1])))
            turned = Transform.looking_at([0.0, 0.0, 1.0], [np.sin(np.radians(angle)), np.cos(np.radians(angle)), 1.0])
            move = Move(one, "forward", float(np.linalg.norm(shift)), "camera", turned)
            after_m = distance(scene.apply(move, check=False), one, other).numbers["distance_m"]
            assert lower - 1e-4 <= after_m <= upper + 1e-4
            assert lower - 1e-9 <= likely


def test_no_pair_that_is_near_a_border_before() -> None:
    context = chair_and_bin((1.45, 0.0))  # 1.05 m
    assert drafts(context) == {}
    reasons = {item.reason for item in MoveDistance().enumerate(context) if isinstance(item, Refusal)}
    assert "near_border" in reasons
