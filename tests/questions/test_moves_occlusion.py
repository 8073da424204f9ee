"""Who hides whom after a move: a cabinet and a bin before a camera in the south, worked out by hand."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import shapely
from box_scans import Box, box_scan, looking, on_floor

from questions.move_occlusions import MOTIONS, MoveOcclusion, hull_of, outlines, settled, with_hulls
from spacecast.dataset.coherence import facts_problems
from spacecast.dataset.context import SceneContext
from spacecast.dataset.reader import Benchmark
from spacecast.dataset.recompute import solve
from spacecast.dataset.showings import Images
from spacecast.dataset.types import Draft, Refusal
from spacecast.relations import Answer, pairwise_occlusion
from spacecast.scene import Move
from spacecast.scene.interventions import MOVE_WORDS
from spacecast.sight import Camera, Sight

# At the height of a person, far in the south: forward is +y, right is +x.
CAMERA = looking((0.0, -7.0, 2.0), (0.0, 0.0, 0.3))
CABINET = Box(1, "cabinet", (0.0, 0.0, 0.6), (1.0, 0.4, 1.2))
SMALL = {"side": 0.5, "height": 0.6}


def context_of(*boxes: Box) -> SceneContext:
    return SceneContext(box_scan(boxes, {"0": CAMERA}, floor=(7.6, 7.6)), pictures="render")


class Everything(MoveOcclusion):
    """Without the bound on how many."""

    def _most(self, images: Images) -> int:
        return 10_000


def drafts(context: SceneContext, kind: MoveOcclusion | None = None) -> dict[str, Draft]:
    found = [item for item in (kind or Everything()).enumerate(context) if isinstance(item, Draft)]
    assert len({draft.case for draft in found}) == len(found)
    return {draft.case: draft for draft in found}


def reasons(context: SceneContext) -> set[str]:
    return {item.reason for item in Everything().enumerate(context) if isinstance(item, Refusal)}


TABLE = [  # the bin; who moves, and how; before; after
    # The bin comes before the cabinet, and hides a part of it, or goes behind it.
    ((1.5, -1.0), (2, "left", 1.5), "neither", "reference_occluded"),
    ((1.5, 1.0), (2, "left", 1.5), "neither", "query_occluded"),
    ((-1.5, -1.0), (2, "right", 1.5), "neither", "reference_occluded"),
    ((1.5, -0.2), (2, "backward-left", 2.0), "neither", "reference_occluded"),
    ((1.5, -0.8), (2, "forward-left", 2.0), "neither", "query_occluded"),
    # From before it, it goes to the side, or through to behind.
    ((0.0, -1.0), (2, "right", 1.5), "reference_occluded", "neither"),
    ((0.0, -1.0), (2, "forward", 2.5), "reference_occluded", "query_occluded"),
    ((0.0, -1.0), (2, "backward", 0.5), "reference_occluded", "reference_occluded"),
    # The cabinet is the mover, and the query: it comes before the bin, or behind it, or away from it.
    ((1.5, 1.2), (1, "right", 1.5), "neither", "reference_occluded"),
    ((1.5, -1.2), (1, "right", 1.5), "neither", "query_occluded"),
    ((0.0, -1.0), (1, "left", 1.5), "query_occluded", "neither"),
]


@pytest.mark.parametrize(("bin_xy", "step", "before", "after"), TABLE)
def test_occlusions_by_hand(bin_xy: tuple[float, float], step: tuple[int, str, float], before: str, after: str) -> None:
    mover, way, metres = step
    context = context_of(CABINET, on_floor(2, "bin", *bin_xy, **SMALL))
    draft = drafts(context)[f"{mover}-{mover}-{3 - mover}-0-{way}-{metres:g}"]
    relation = draft.facts["relation"]
    assert relation["kind"] == "pairwise_occlusion"
    assert (relation["target"], relation["reference"]) == (mover, 3 - mover)
    assert (relation["before"]["value"], relation["after"]["value"]) == (before, after)
    assert draft.balance == after
    assert draft.facts["twin"]["value"] == before
    assert draft.unchanged is (before == after)
    assert solve(draft.facts) == (before, after)
    assert not list(facts_problems(draft.facts))
    wrong = {c.value: c.tag for c in draft.choices if not c.is_right}
    swapped = {"query_occluded": "reference_occluded", "reference_occluded": "query_occluded"}.get(after)
    expected = {value: "wrong_sense" if value == swapped else "other" for value in wrong}
    if before != after:
        expected[before] = "no_update"
    assert wrong == expected
    assert draft.stated == {
        "direction": way, "distance": f"{metres:g}", "motion": MOTIONS[way], "images": "1",
        "larger": "query" if mover == 1 else "reference",
    }  # fmt: skip


def test_the_cabinet_goes_with_what_stands_on_it() -> None:
    vase = Box(3, "vase", (0.0, 0.0, 1.4), (0.4, 0.3, 0.4))
    tall = Box(2, "shelf", (1.5, -1.2, 0.9), (0.6, 0.4, 1.8))
    found = drafts(context_of(CABINET, vase, tall))
    draft = found["1-3-2-0-right-1.5"]  # the vase ends behind the shelf
    assert draft.balance == "query_occluded"
    assert draft.facts["twin"]["value"] == "neither"
    assert {c.value: c.tag for c in draft.choices}["neither"] == "forgot_attachment"
    assert draft.facts["intervention"]["moved"] == [1, 3]
    assert draft.preference == 0


def test_every_motion_has_a_name() -> None:
    assert set(MOTIONS) == set(MOVE_WORDS)
    assert {motion: sum(m == motion for m in MOTIONS.values()) for motion in MOTIONS.values()} == {
        "away": 3, "towards": 3, "sideways": 2,
    }  # fmt: skip


def test_states_after_are_those_of_the_scene_that_was_moved() -> None:
    context = context_of(CABINET, on_floor(2, "bin", 1.2, -1.0, **SMALL), on_floor(4, "stool", -1.3, 0.8, **SMALL))
    found = drafts(context)
    assert len(found) > 30
    assert {d.balance for d in found.values()} == {"query_occluded", "reference_occluded", "neither"}
    for draft in found.values():
        step, relation = draft.facts["intervention"], draft.facts["relation"]
        move = Move(step["object"], step["direction"], step["distance_m"], "camera", CAMERA)
        state = context.scene.apply(move)
        again = pairwise_occlusion(state, relation["target"], relation["reference"], view=context.view("0"))
        assert (again.value, again.certain) == (draft.balance, True)
        for role in ("query", "reference"):
            assert relation["after"][f"{role}_silhouette_px"] >= 400
            assert again.numbers[f"{role}_truncation"] <= 0.65


def test_few_are_kept_and_every_answer_for_every_motion() -> None:
    context = context_of(CABINET, on_floor(2, "bin", 1.2, -1.0, **SMALL), on_floor(4, "stool", -1.3, 0.8, **SMALL))
    all_of_them, kept = drafts(context), drafts(context, MoveOcclusion())
    for stated in ("motion", "larger"):
        cells = [{(d.balance, d.stated[stated]) for d in some.values()} for some in (all_of_them, kept)]
        assert cells[0] == cells[1]
    assert len(kept) <= 18 < len(all_of_them)


def test_who_is_larger_does_not_tell_who_is_hidden(demo_benchmark: Path) -> None:
    answers: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for row in Benchmark.open(demo_benchmark).rows:
        if row.source_type == MoveOcclusion.code:
            relation = row.facts["relation"]
            volume = {item["id"]: float(np.prod(item["obb"]["size"])) for item in row.facts["objects"]}
            is_larger = volume[relation["target"]] > volume[relation["reference"]]
            answers[is_larger][row.correct_values[0]] += 1
    for counts in answers.values():
        assert len(counts) == 3
        assert max(counts.values()) <= math.ceil(1.05 * counts.total() / 3)


GATE = [  # one thing of three boxes that one looks through
    Box(5, "gate", (-1.45, -1.5, 0.5), (0.1, 0.1, 1.0)),
    Box(5, "gate", (-0.35, -1.5, 0.5), (0.1, 0.1, 1.0)),
    Box(5, "gate", (-0.9, -1.5, 1.05), (1.2, 0.1, 0.1)),
]


def test_what_only_a_hull_hides_is_not_asked() -> None:
    context = context_of(*GATE, on_floor(2, "bin", 0.6, -0.5, side=0.3, height=0.4))
    camera, scene = context.view("0"), context.scene
    # At 1.5 m to the right the gate frames the bin: nothing is hidden, but all is by its hull.
    state = scene.apply(Move(5, "right", 1.5, "camera", CAMERA))
    assert pairwise_occlusion(state, 5, 2, view=camera).value == "neither"
    assert pairwise_occlusion(with_hulls(state, (5,)), 5, 2, view=camera).value == "reference_occluded"
    found = drafts(context)
    assert not [case for case in found if case.startswith("5-5-2-0-right-1.5")]
    assert reasons(context) & {"hulls_disagree", "not_as_likely"}


def test_a_third_that_hides_is_not_taken_for_the_other() -> None:
    numbers = {"query_covered_by_other": 0.08, "reference_covered_by_other": 0.0}
    assert settled(Answer("query_occluded", numbers)).reasons == ("third_hides",)
    assert settled(Answer("query_occluded", {**numbers, "query_covered_by_other": 0.10})).certain
    assert settled(Answer("reference_occluded", {**numbers, "reference_covered_by_other": 0.3})).certain
    assert settled(Answer("neither", numbers)).certain
    both = {"query_covered_by_other": 0.2, "reference_covered_by_other": 0.1}
    assert not settled(Answer("query_occluded", both)).certain


def test_see_through_things_are_not_asked_about() -> None:
    glass = Box(1, "glass door", CABINET.center, CABINET.size, frozenset({"see_through"}))
    assert drafts(context_of(glass, on_floor(2, "bin", 1.5, -1.0, **SMALL))) == {}


def test_outlines_hold_silhouettes() -> None:
    context = context_of(*GATE, CABINET, on_floor(2, "bin", 1.2, -1.0, **SMALL))
    view = context.view("0")
    camera = Camera(view.world_from_camera, view.intrinsics)
    shifts = np.array([[0.0, 0.0, 0.0], [0.5, 0.3, 0.0]])
    for i in (1, 2, 5):
        state = context.scene.apply(Move(i, "east", 0.5), check=False)
        state = state.apply(Move(i, "north", 0.3), check=False)
        rows, columns = np.nonzero(Sight(state).look(camera, threads=1).mask(i))
        there = outlines(context.scene.objects[i], camera, shifts)[1]
        grown = shapely.buffer(there, 1.0)
        assert len(rows) > 400
        assert shapely.contains_xy(grown, columns, rows).all()
        if i != 5:
            assert there.area == pytest.approx(len(rows), rel=0.03)
    behind = camera._replace(world_from_camera=looking((0.0, 0.3, 0.6), (0.0, 4.0, 0.6)))
    assert outlines(context.scene.objects[1], behind, shifts[:1]).tolist() == [None]


def test_hulls_are_prepared_once() -> None:
    scene = context_of(*GATE, CABINET).scene
    shape = scene.objects[5].shape
    hull = hull_of(shape)
    assert hull_of(shape) is hull
    np.testing.assert_allclose([hull.aabb.min, hull.aabb.max], [shape.aabb.min, shape.aabb.max])
    assert with_hulls(scene, (5,)).objects[1].shape is scene.objects[1].shape
