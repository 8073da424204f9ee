"""What a change comes to in a scan of boxes: worked out on paper, and wrong facts about it found."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hand_scans import PIXELS, entry, scan_of
from handmade import DISTANCES, facts_with, options_of, row_with

from spacecast.dataset import recompute
from spacecast.dataset.plausible import Plausible
from spacecast.dataset.recompute import Motion
from spacecast.dataset.remeasure import Remeasure
from spacecast.dataset.shadows import Shadows, mesh_of

CAMERA_AT = (0.0, -7.0, 1.0)
FLOOR = ("floor", (-4.0, -6.0, -0.1), (4.0, 6.0, 0.0), {"structure", "floor"})
TABLE = ("table", (-0.4, 0.0, 0.0), (0.4, 0.8, 0.5))
CUP = ("cup", (-0.2, 0.2, 0.5), (0.2, 0.6, 0.9))
LAMP = ("lamp", (2.6, 0.0, 0.0), (3.0, 0.4, 1.0))
CRATE = ("crate", (-2.4, 0.0, 0.0), (-1.6, 0.4, 1.0))
SHELF = ("shelf", (-0.5, 3.0, 0.0), (0.5, 3.4, 2.0))
NORTHWARD = {"kind": "camera", "anchor": None, "facing": None, "heading_in_world": [0.0, 1.0]}
STILL = np.zeros(3)


def motion(*ids: int, shift=(0.0, 0.0, 0.0), removed=()) -> Motion:
    return Motion(frozenset(ids), frozenset(removed), 0.0, STILL, np.array(shift, float))


def move(direction: str, distance_m: float, ids=(1,)) -> dict[str, Any]:
    words = {"right": (1.0, 0.0), "left": (-1.0, 0.0), "forward": (0.0, 1.0), "backward": (0.0, -1.0)}
    return {
        "kind": "move", "object": ids[0], "moved": list(ids), "frame": NORTHWARD, "direction": direction,
        "distance_m": distance_m, "vector_in_world": [*(distance_m * np.array(words[direction])).tolist(), 0.0],
    }  # fmt: skip


def edge(parent: int, child: int, kind: str = "supported_by") -> dict[str, Any]:
    return {"parent": parent, "child": child, "kind": kind, "certainty": "certain"}


def facts_of(scan, boxes: dict[int, Any], roles: dict[int, str], **parts: Any) -> dict[str, Any]:
    view = scan.views["7"]
    seen = {
        "name": "7", "role": "image", "world_from_camera": view.world_from_camera.matrix.reshape(-1).tolist(),
        "pixel_from_camera": PIXELS.matrix.reshape(-1).tolist(), "width": 640, "height": 480,
    }  # fmt: skip
    objects = [entry(i, boxes[i], [role]) for i, role in roles.items()]
    return facts_with(objects=objects, views=[seen], binding_view="7", **parts)


def problems(scan, code: str, facts: dict[str, Any]) -> list[tuple[str, str]]:
    """As the scan says, of a row with these facts."""
    options = {"options": facts["options"] or options_of({"x": "x", "y": "y"}, ["x"], np.random.default_rng(0))}
    row = row_with(code, "q", "room", "?", {**facts, **options}, dataset="hand")
    return Remeasure(scan).row_problems(row)


def copy(facts: dict[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps(facts))


# -- the mesh of a state ------------------------------------------------------------------------------------------


def strip() -> Any:
    """Two boxes, an unlabelled one, and three faces between: one box and nothing, box and box, nothing alone."""
    scan = scan_of({1: CRATE, 2: SHELF, -1: ("", (1.0, 0.0, 0.0), (1.4, 0.4, 1.0)), 9: FLOOR})
    first = {i: int(np.flatnonzero(scan.instance_ids == i)[0]) for i in (1, 2, -1)}
    second = {i: int(np.flatnonzero(scan.instance_ids == i)[1]) for i in (1, 2, -1)}
    extra = [[first[1], second[1], first[-1]], [first[1], first[2], second[2]], [first[-1], second[-1], first[2]]]
    object.__setattr__(scan, "faces", np.concatenate([scan.faces, np.array(extra, np.int32)]))
    return scan


def test_moved_vertices_move_and_nothing_else() -> None:
    scan = strip()
    mesh = mesh_of(scan, [motion(1, shift=(2.0, 0.0, 0.0))])
    step = mesh.vertices - scan.vertices
    assert np.allclose(step[scan.instance_ids == 1], (2.0, 0.0, 0.0), atol=1e-6)
    assert not step[scan.instance_ids != 1].any()


@pytest.mark.parametrize(
    ("steps", "dropped"),
    [
        ([], 0),
        ([motion(1)], 2),  # the faces between the crate and nothing, and between crate and shelf
        ([motion(2)], 2),
        ([motion(removed=(2,))], 2),
        ([motion(1), motion(2)], 3),
        ([Motion(None, frozenset(), 90.0, STILL, STILL)], 3),  # the layout
    ],
)
def test_mixed_faces_that_touch_what_moved_are_dropped(steps, dropped) -> None:
    scan = strip()
    mesh, before = mesh_of(scan, steps), mesh_of(scan)
    mixed = len(scan.faces) - 3
    gone = sum(int((before.face_ids == i).sum()) for motion in steps for i in motion.removed)
    assert len(mesh.faces) == len(scan.faces) - dropped - gone
    assert (before.face_ids[mixed:] == -1).all()
    for i in {1, 2, 9} - {i for motion in steps for i in motion.removed}:
        assert (mesh.face_ids == i).sum() == (before.face_ids == i).sum()


def test_a_turned_layout_turns_all_but_the_building() -> None:
    scan = strip()
    mesh = mesh_of(scan, [Motion(None, frozenset(), 90.0, STILL, STILL)])
    crate, floor = scan.instance_ids == 1, scan.instance_ids == 9
    assert np.allclose(mesh.vertices[crate, 0], scan.vertices[crate, 1], atol=1e-5)  # north goes east
    assert np.allclose(mesh.vertices[crate, 1], -scan.vertices[crate, 0], atol=1e-5)
    assert (mesh.vertices[floor] == scan.vertices[floor]).all()
    unlabelled = scan.instance_ids == -1
    assert (mesh.vertices[unlabelled] == scan.vertices[unlabelled]).all()


def test_hulls_fill_what_is_open() -> None:
    gate = [("gate", (-0.5, 0, 0), (-0.4, 0.1, 2)), ("gate", (0.4, 0, 0), (0.5, 0.1, 2))]
    scan = scan_of({1: gate, 2: SHELF}, camera=CAMERA_AT)
    open_gate, closed = (Shadows(scan, mesh_of(scan, [motion(1)], hulls=hulls)) for hulls in (False, True))
    assert open_gate.pair("7", 2, 1).covered_by_other == 0.0
    assert closed.pair("7", 2, 1).covered_by_other > 0.9


# -- what hides what ----------------------------------------------------------------------------------------------


def test_what_moves_in_front_hides_and_what_is_removed_does_not() -> None:
    """The crate, seven metres away and as high as the camera, hides the lower half of the shelf ten metres away."""
    scan = scan_of({1: CRATE, 2: SHELF, 9: FLOOR}, camera=CAMERA_AT)
    before, after, gone = (
        Shadows(scan, mesh_of(scan, steps)) for steps in ([], [motion(1, shift=(2, 0, 0))], [motion(removed=(1,))])
    )
    shelf_px = (500 / 10) * (2 * 500 / 10)
    for shadows, blocked in ((before, 0.0), (after, 0.5), (gone, 0.0)):
        seen = shadows.seen("7", 2)
        assert seen.silhouette_px == pytest.approx(shelf_px, rel=0.03)
        assert seen.blocked == pytest.approx(blocked, abs=0.02)
    assert after.pair("7", 2, 1).hidden_by_other == 1.0
    assert after.pair("7", 1, 2).covered_by_other == 0.0
    assert after.hidden_beside("7", 2, [1]) == 0.0
    assert after.hidden_beside("7", 2, []) == pytest.approx(0.5, abs=0.02)


def test_a_third_thing_that_hides_is_not_the_other() -> None:
    scan = scan_of({1: CRATE, 2: SHELF, 3: ("box", (-0.6, 0.0, 0.0), (0.6, 0.4, 1.0))}, camera=CAMERA_AT)
    after = Shadows(scan, mesh_of(scan, [motion(1, shift=(2.0, 2.0, 0.0))]))  # behind the box, before the shelf
    pair = after.pair("7", 2, 1)
    assert pair.opened == pytest.approx(0.5, abs=0.02)
    assert pair.hidden_by_other == 0.0
    assert pair.covered_by_other > 0.3


# -- rows ---------------------------------------------------------------------------------------------------------


def distance_facts(scan) -> dict[str, Any]:
    """The cup is 2.4 m from the lamp, and 1.4 m after the table goes 1 m right; the other way 3.4 m."""
    boxes = {1: TABLE, 2: CUP, 3: LAMP}
    tags = {"moderate": "forgot_attachment", "far": "mirrored"}
    return facts_of(
        scan, boxes, {1: "mover", 2: "query", 3: "reference"}, attachment=[edge(1, 2)],
        intervention=move("right", 1.0, (1, 2)),
        relation={"kind": "distance", "target": 2, "reference": 3, "before": {"value": "moderate", "distance_m": 2.4},
                  "after": {"value": "close", "distance_m": 1.4}},
        options=options_of(DISTANCES, ["close"], np.random.default_rng(1), tags),
    )  # fmt: skip


def test_distances_after_a_move() -> None:
    scan = scan_of({1: TABLE, 2: CUP, 3: LAMP, 9: FLOOR}, camera=CAMERA_AT)
    facts = distance_facts(scan)
    assert problems(scan, "object_move_distance", facts) == []

    def found(edit) -> set[str]:
        wrong = copy(facts)
        edit(wrong)
        return {kind for kind, _ in problems(scan, "object_move_distance", wrong)}

    assert found(lambda f: f["relation"]["after"].update(distance_m=1.42)) == {"distance"}
    assert found(lambda f: f["relation"]["before"].update(distance_m=2.3)) == {"distance"}
    assert found(lambda f: f["relation"]["after"].update(distance_m=2.4)) == {"distance"}  # a forgotten follower
    assert "distance" in found(lambda f: f["intervention"].update(distance_m=1.5))

    def tagged(value: str, tag: str):
        return lambda f: next(o for o in f["options"] if o["value"] == value).update(tag=tag)

    assert found(tagged("far", "wrong_sense")) == {"tag"}
    assert found(tagged("far", "other")) == {"tag"}
    assert found(tagged("very close", "mirrored")) == {"tag"}
    assert found(tagged("moderate", "no_update")) == {"tag"}


def pair_facts(scan, boxes, direction="right") -> dict[str, Any]:
    """With the numbers of the second measure, so that what is changed in them can be found."""
    facts = facts_of(
        scan, boxes, {1: "mover", 2: "reference"}, intervention=move(direction, 2.0),
        relation={"kind": "pairwise_occlusion", "target": 1, "reference": 2, "before": {}, "after": {}},
    )  # fmt: skip
    for moment, steps in (("before", []), ("after", recompute.motions(facts))):
        one, other = Shadows(scan, mesh_of(scan, steps)).pairs("7", 1, 2)
        facts["relation"][moment] = {
            "value": "neither", "query_hidden": one.covered_by_other, "reference_hidden": other.covered_by_other,
            "query_silhouette_px": one.silhouette_px, "reference_silhouette_px": other.silhouette_px,
        }  # fmt: skip
    return facts


def test_pairs_after_a_move() -> None:
    boxes = {1: CRATE, 2: SHELF, 9: FLOOR}
    scan = scan_of(boxes, camera=CAMERA_AT)
    facts = pair_facts(scan, boxes)
    facts["relation"]["after"]["value"] = "reference_occluded"
    assert facts["relation"]["after"]["reference_hidden"] == pytest.approx(0.5, abs=0.02)
    assert facts["relation"]["after"]["query_hidden"] == 0.0
    assert problems(scan, "object_move_occlusion", facts) == []
    for moment, change in (
        ("after", {"value": "neither"}),
        ("after", {"value": "query_occluded"}),
        ("before", {"value": "reference_occluded"}),
        ("after", {"reference_hidden": 0.45}),
        ("after", {"query_hidden": 0.02}),
        ("after", {"query_silhouette_px": 100}),
        ("before", {"reference_silhouette_px": 100}),
    ):
        wrong = copy(facts)
        wrong["relation"][moment].update(change)
        assert {kind for kind, _ in problems(scan, "object_move_occlusion", wrong)} == {"occlusion"}, change


def test_a_state_that_hulls_do_not_share_is_found() -> None:
    """The gate goes in front of the shelf, which is seen through it; its hull would hide the shelf."""
    posts = [("gate", (x, 0.0, 0.0), (x + 0.1, 0.1, 2.0)) for x in (-2.5, -1.6)]
    boxes = {1: posts, 2: SHELF, 9: FLOOR}
    scan = scan_of(boxes, camera=CAMERA_AT)
    facts = pair_facts(scan, {1: ("gate", (-2.5, 0.0, 0.0), (-1.5, 0.1, 2.0)), 2: SHELF})
    found = problems(scan, "object_move_occlusion", facts)
    assert [kind for kind, _ in found] == ["not_certain"]
    assert "hulls" in found[0][1]


TALL = ("lamp", (-3.2, 3.0, 0.0), (-2.6, 3.4, 1.6))
SECRET = ("bin", (-2.5, 1.5, 0.0), (-2.1, 1.9, 0.8))


def removal_facts(scan, boxes, after="not occluded") -> dict[str, Any]:
    facts = facts_of(
        scan, boxes, {1: "remover", 2: "target"}, intervention={"kind": "remove", "object": 1, "removed": [1]},
        relation={"kind": "occlusion", "target": 2, "reference": None, "before": {}, "after": {}},
    )  # fmt: skip
    for moment, steps in (("before", []), ("after", recompute.motions(facts))):
        seen = Shadows(scan, mesh_of(scan, steps)).seen("7", 2)
        facts["relation"][moment] = {
            "value": "occluded" if moment == "before" else after, "blocked": seen.blocked, "opened": seen.opened,
            "silhouette_px": seen.silhouette_px,
        }  # fmt: skip
    return facts


def test_what_a_removal_reveals() -> None:
    boxes = {1: CRATE, 2: TALL, 9: FLOOR}
    scan = scan_of(boxes, camera=CAMERA_AT)
    facts = removal_facts(scan, boxes)
    assert facts["relation"]["before"]["blocked"] == pytest.approx(1.0 / 1.6, abs=0.02)  # up to the camera's height
    assert facts["relation"]["after"]["blocked"] == 0.0
    assert problems(scan, "object_remove", facts) == []
    wrong = copy(facts)
    wrong["relation"]["after"].update(value="occluded", blocked=0.6, opened=0.6)
    assert {kind for kind, _ in problems(scan, "object_remove", wrong)} == {"occlusion", "not_certain"}


def test_what_was_hidden_before_does_not_hide_after() -> None:
    boxes = {1: CRATE, 2: TALL, 3: SECRET, 9: FLOOR}
    scan = scan_of(boxes, camera=CAMERA_AT)
    assert Shadows(scan, mesh_of(scan)).seen("7", 3).visible_px == 0
    facts = removal_facts(scan, boxes, after="occluded")
    found = problems(scan, "object_remove", facts)
    assert {kind for kind, _ in found} == {"not_certain"}
    assert any("[3], of which nothing was to be seen" in detail for _, detail in found)


def test_still_occluded_needs_others_beside_what_goes() -> None:
    """A bench hides the lower lamp; what is removed stands beside that, or, wrongly, before all that is hidden.

    The screen that goes is far nearer to the camera and covers all that the bench hides.
    """
    screen = ("screen", (-1.9, -3.0, 0.0), (-1.0, -2.9, 1.0))
    post = ("crate", (-1.2, -3.0, 0.0), (-1.15, -2.9, 1.0))  # just right of the lamp, in front of nothing
    for box, kinds in ((post, set()), (screen, {"not_certain"})):
        boxes = {1: box, 2: TALL, 3: ("bench", *CRATE[1:]), 9: FLOOR}
        scan = scan_of(boxes, camera=CAMERA_AT)
        facts = removal_facts(scan, boxes, after="occluded")
        facts["relation"]["before"]["value"] = "occluded"
        found = [(kind, detail) for kind, detail in problems(scan, "object_remove", facts) if kind != "names"]
        assert {kind for kind, _ in found} == kinds, found


def test_what_is_gone_has_no_silhouette() -> None:
    boxes = {1: TABLE, 2: CUP, 9: FLOOR}
    scan = scan_of(boxes, camera=CAMERA_AT)
    facts = removal_facts(scan, boxes, after="not visible")
    facts["attachment"], facts["intervention"]["removed"] = [edge(1, 2)], [1, 2]
    facts["relation"]["before"]["value"] = "not occluded"
    facts["relation"]["after"].update(silhouette_px=0, blocked=1.0, opened=1.0)
    assert problems(scan, "object_remove", facts) == []
    facts["relation"]["after"].update(silhouette_px=700)
    assert [kind for kind, _ in problems(scan, "object_remove", facts)] == ["occlusion"]


# -- can it be ----------------------------------------------------------------------------------------------------

WALL = ("wall", (-4.0, 2.0, 0.0), (4.0, 2.1, 2.5), {"structure", "wall"})


@pytest.mark.parametrize(
    ("others", "intervention", "kinds"),
    [
        ({}, move("right", 2.0), []),
        ({}, move("forward", 1.5), []),  # ends 0.1 m before the wall
        ({}, move("forward", 2.0), ["infeasible"]),  # in the wall
        ({}, move("left", 3.0), ["infeasible"]),  # beyond the floor
        ({3: ("box", (-0.2, 0.0, 0.0), (0.2, 0.4, 1.0))}, move("right", 2.0), ["infeasible"]),
        ({3: ("box", (-0.2, 0.4, 0.0), (0.2, 0.8, 1.0))}, move("right", 2.0), []),  # side by side
        ({3: ("lid", (-0.2, 0.0, 0.98), (0.2, 0.4, 1.2))}, move("right", 2.0), []),  # above it
        ({3: ("rug", (-1.0, -1.0, 0.0), (1.0, 1.0, 0.02))}, move("right", 2.0), []),  # under it
        ({-1: ("", (-0.2, 0.1, 0.2), (0.2, 0.3, 0.8))}, move("right", 2.0), ["infeasible"]),
        ({3: ("box", (-2.5, 0.1, 0.0), (-2.2, 0.3, 1.0))}, move("left", 0.5), []),  # they overlapped before
    ],
)  # fmt: skip
def test_where_a_move_may_end(others, intervention, kinds) -> None:
    boxes = {1: CRATE, 8: WALL, 9: FLOOR, **others}
    scan = scan_of(boxes, camera=CAMERA_AT)
    facts = facts_of(scan, boxes, {1: "mover"}, intervention=intervention)
    assert [kind for kind, _ in Plausible(scan).problems(facts)] == kinds


def test_what_does_not_stand_on_the_floor_is_not_moved() -> None:
    boxes = {1: ("crate", (-2.4, 0.0, 0.5), (-1.6, 0.4, 1.5)), 9: FLOOR}
    scan = scan_of(boxes, camera=CAMERA_AT)
    for intervention in (move("right", 2.0), {"kind": "remove", "object": 1, "removed": [1]}):
        facts = facts_of(scan, boxes, {1: "mover"}, intervention=intervention)
        assert [kind for kind, _ in Plausible(scan).problems(facts)] == ["support"]


@pytest.mark.parametrize(
    ("link", "kinds"),
    [
        (edge(1, 2), []), (edge(1, 3), ["attachment"]), (edge(1, 3, "contained_in"), ["attachment"]),
        (edge(1, 2, "contained_in"), []), (edge(1, 3, "affixed_to"), ["attachment"]),
    ],
)  # fmt: skip
def test_what_is_carried_touches_its_carrier(link, kinds) -> None:
    scan = scan_of({1: TABLE, 2: CUP, 3: LAMP, 9: FLOOR}, camera=CAMERA_AT)
    facts = facts_with(attachment=[link])
    assert [kind for kind, _ in Plausible(scan).problems(facts)] == kinds


# -- names --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("traits", "kind", "target", "found"),
    [
        (set(), "distance", 2, set()),
        ({"clutter"}, "distance", 2, {"not_asked"}),
        ({"collective"}, "distance", 2, {"not_asked"}),
        ({"structure"}, "distance", 2, {"not_asked"}),
        ({"see_through"}, "distance", 2, set()),
        ({"see_through"}, "pairwise_occlusion", 2, {"not_asked"}),
        ({"shapeless"}, "distance", 2, set()),
        ({"shapeless"}, "direction", 2, {"not_asked"}),
    ],
)
def test_things_that_are_not_asked_about(traits, kind, target, found) -> None:
    boxes = {1: CRATE, 2: (*SHELF, traits), 9: FLOOR}
    scan = scan_of(boxes, camera=CAMERA_AT)
    facts = facts_of(
        scan, {1: CRATE, 2: SHELF}, {1: "one", 2: "other"},
        relation={"kind": kind, "target": target, "reference": 1, "before": {}, "after": None},
    )  # fmt: skip
    assert {k for k, _ in Remeasure(scan).askable.problems(facts)} == found


def test_clutter_of_the_same_size_could_be_meant() -> None:
    for size, kinds in ((0.9, ["names"]), (0.3, [])):
        boxes = {1: CRATE, 2: SHELF, 3: ("object", (1.0, 0.0, 0.0), (1.0 + size, 0.4, 1.0), {"clutter"}), 9: FLOOR}
        scan = scan_of(boxes, camera=CAMERA_AT)
        relation = {"kind": "distance", "target": 1, "reference": 2, "before": {}, "after": None}
        facts = facts_of(scan, boxes | {3: boxes[3][:3]}, {1: "one", 2: "other"}, relation=relation)
        assert [kind for kind, _ in Remeasure(scan).askable.problems(facts)] == kinds
