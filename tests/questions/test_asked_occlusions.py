"""Occlusion questions by hand."""

from __future__ import annotations

from box_scans import Box, box_scan, looking, on_floor

from questions.occlusions import Occlusion
from spacecast.dataset.context import SceneContext
from spacecast.dataset.types import Draft, Refusal
from spacecast.relations import occlusion

CAMERA = looking((0.0, -4.0, 1.5), (0.0, 1.0, 0.4))
PAIR = [on_floor(1, "chair", -1.0, 1.0), on_floor(2, "lamp", 1.0, 1.0)]


def context_of(*boxes: Box) -> SceneContext:
    return SceneContext(box_scan([*PAIR, *boxes], {"0": CAMERA}), pictures="render")


def asked(context: SceneContext) -> dict[int, Draft]:
    found = [d for d in Occlusion().enumerate(context) if isinstance(d, Draft)]
    return {int(d.case.split("-")[0]): d for d in found}


def refused(context: SceneContext) -> set[Refusal]:
    return {d for d in Occlusion().enumerate(context) if isinstance(d, Refusal)}


def half_wall(x: float, *, label: str | None = "wall", **more: object) -> Box:
    """A slab half a metre in front of what stands at y = 1, from x to the right."""
    traits = {"traits": frozenset({"structure"})} if label == "wall" else {}
    return Box(9, label, (x + 0.5, 0.4, 0.6), (1.0, 0.05, 1.2), **{**traits, **more})


def test_nothing_in_front() -> None:
    found = asked(context_of())
    assert {i: d.balance for i, d in found.items()} == {1: "not occluded", 2: "not occluded"}
    assert [c.value for c in found[1].choices] == ["not occluded", "occluded", "not visible"]
    assert found[1].facts["relation"]["before"]["blocked"] == 0.0


def test_half_behind_a_slab() -> None:
    found = asked(context_of(half_wall(-0.9)))
    assert {i: d.balance for i, d in found.items()} == {1: "occluded", 2: "not occluded"}
    assert 0.3 < found[1].facts["relation"]["before"]["opened"] < 0.7


def test_unlabelled_surface_occludes() -> None:
    assert asked(context_of(half_wall(-0.9, label=None)))[1].balance == "occluded"


def test_wholly_behind_a_slab_is_not_visible_and_tests_more_than_being_out_of_the_frame() -> None:
    behind = Box(3, "bin", (0.0, 1.0, 0.25), (0.4, 0.4, 0.5))
    away = on_floor(4, "bed", 0.0, -5.0, side=1.5)
    found = asked(context_of(behind, away, half_wall(-0.5)))
    assert found[3].balance == "not visible"
    assert found[3].preference == 0
    assert found[4].balance == "not visible"
    assert found[4].preference == 1
    assert found[4].facts["relation"]["before"]["silhouette_px"] == 0


def test_being_cut_by_the_frame_is_not_occlusion() -> None:
    found = asked(context_of(Box(3, "sofa", (5.5, 1.0, 0.4), (6.0, 0.8, 0.8))))
    assert found[3].balance == "not occluded"


def test_a_little_behind_is_neither() -> None:
    context = context_of(half_wall(-0.71))
    share = occlusion(context.scene, 1, view=context.view("0")).numbers["blocked"]
    assert 0.03 < share < 0.10
    assert 1 not in asked(context)
    assert Refusal("relation", "grey_zone", "chair 1 in 0") in refused(context)


def test_not_visible_is_not_asked_where_another_could_be_meant() -> None:
    other = on_floor(3, "office chair", 0.0, -5.0)
    context = context_of(other)
    assert 3 not in asked(context)  # the chair in the picture could be meant
    assert Refusal("name", "not_unique", "office chair 3 in 0") in refused(context)
    assert asked(context)[1].balance == "not occluded"  # and the one in the picture can be
    assert asked(context_of(on_floor(3, "stool", 0.0, -5.0)))[3].balance == "not visible"


def test_what_is_visible_needs_a_name_of_its_own() -> None:
    context = context_of(on_floor(3, "office chair", 0.0, 2.0), on_floor(4, "bin", 0.0, 0.5))
    assert set(asked(context)) == {2, 4}


def test_mirrors_are_not_asked_about() -> None:
    context = context_of(on_floor(3, "mirror", 0.0, 2.0, traits=frozenset({"see_through"})))
    assert set(asked(context)) == {1, 2}
    assert Refusal("relation", "see_through", "mirror 3 in 0") in refused(context)


def test_what_glass_hides_is_not_asked_about() -> None:
    context = context_of(half_wall(-0.9, label="glass pane", traits=frozenset({"see_through"})))
    assert set(asked(context)) == {2}
    assert Refusal("relation", "see_through_occluder", "chair 1 in 0") in refused(context)


def test_the_asked_object_need_not_be_well_seen() -> None:
    boxes = [Box(3, "bed", (0.0, 2.5, 0.5), (2.0, 1.0, 1.0)), Box(4, "screen", (-0.3, 1.6, 0.75), (1.5, 0.1, 1.5))]
    context = context_of(*boxes)
    assert context.record("0").problems[3] == "hidden"
    assert asked(context)[3].balance == "occluded"
