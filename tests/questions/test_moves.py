"""Directions after a move, on small scenes whose answers are written down by hand."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, radians, sin

import numpy as np
import pytest
from box_scans import Box, box_scan, looking, on_floor

from questions.fair import FairSettings
from questions.move_directions import (
    MoveCameraDirection,
    MoveDirection,
    MoveObjectDirection,
    MoveWorldDirection,
    sectors_of,
)
from questions.moves import MoveType, may_attach
from spacecast.dataset.coherence import facts_problems
from spacecast.dataset.context import SceneContext
from spacecast.dataset.recompute import solve
from spacecast.dataset.types import Draft, Refusal
from spacecast.frames import COMPASS, SECTORS, Transform, sector_of, world_heading
from spacecast.relations import direction
from spacecast.relations.direction import attached_pairs
from spacecast.scene import Move
from spacecast.scene.interventions import MOVE_WORDS

pytestmark = pytest.mark.usefixtures("all_offered")

# A camera in the south that looks north: forward and front are +y, right is +x.
FROM_SOUTH = looking((0.0, -7.0, 3.5), (0.0, 0.0, 0.2))
# One in the west that looks east: forward is +x, right is -y.
FROM_WEST = looking((-7.0, 0.0, 3.5), (0.0, 0.0, 0.2))
TYPES: tuple[MoveDirection, ...] = (MoveCameraDirection(), MoveWorldDirection(), MoveObjectDirection())
TO_COMPASS = dict(zip(MOVE_WORDS, COMPASS, strict=True)) | dict(zip(SECTORS, COMPASS, strict=True))


def context_of(boxes: Sequence[Box], camera: Transform = FROM_SOUTH, **more: object) -> SceneContext:
    return SceneContext(box_scan(boxes, {"0": camera}, floor=(7.6, 7.6), **more), pictures="render")


def chair_and_bin(bin_from_chair: tuple[float, float], camera: Transform = FROM_SOUTH, **more: object) -> SceneContext:
    """A chair, the mover, in the middle of the room, and a bin somewhere."""
    return context_of([on_floor(1, "chair", 0.0, 0.0), on_floor(2, "bin", *bin_from_chair)], camera, **more)


def desk_and_bin(bin_from_desk: tuple[float, float], camera: Transform = FROM_SOUTH) -> SceneContext:
    """A desk that carries a lamp, and a bin."""
    desk, lamp = Box(1, "desk", (0.0, 0.0, 0.35), (0.5, 0.5, 0.7)), Box(3, "lamp", (0.0, 0.0, 0.9), (0.3, 0.3, 0.4))
    return context_of([desk, lamp, on_floor(2, "bin", *bin_from_desk)], camera)


def drafts(kind: MoveType, context: SceneContext) -> dict[str, Draft]:
    found = [item for item in kind.enumerate(context) if isinstance(item, Draft)]
    assert len({draft.case for draft in found}) == len(found)
    return {draft.case: draft for draft in found}


def refusals(kind: MoveType, context: SceneContext) -> set[tuple[str, str]]:
    return {(item.stage, item.reason) for item in kind.enumerate(context) if isinstance(item, Refusal)}


def tags(draft: Draft) -> dict[str, str | None]:
    return {choice.value: choice.tag for choice in draft.choices}


AS_SEEN = [  # the chair from the bin, before; it moves; by; where it then is from the bin; both in words
    ((-1.0, -1.0), "right", 2.0, "back-left", "back-right"),
    ((0.0, -1.0), "forward", 2.0, "back", "front"),
    ((-1.0, 1.0), "backward", 2.0, "front-left", "back-left"),
    ((1.0, 1.0), "left", 2.0, "front-right", "front-left"),
    ((-1.5, 0.0), "forward-right", 2.0, "left", "front"),
    ((1.5, 0.0), "backward-left", 2.0, "right", "back"),
    ((0.0, 1.5), "backward-right", 2.0, "front", "right"),
    ((0.0, -1.5), "forward-left", 2.0, "back", "left"),
    ((-2.0, 0.0), "right", 3.0, "left", "right"),
    ((0.0, -2.0), "backward", 0.5, "back", "back"),
]


@pytest.mark.parametrize(("chair_from_bin", "way", "distance_m", "before", "after"), AS_SEEN)
def test_camera_directions_by_hand(
    chair_from_bin: tuple[float, float], way: str, distance_m: float, before: str, after: str
) -> None:
    context = chair_and_bin((-chair_from_bin[0], -chair_from_bin[1]))
    draft = drafts(MoveCameraDirection(), context)[f"1-1-2-0-{way}-{distance_m:g}"]
    assert draft.balance == after
    assert [c.value for c in draft.choices if c.is_right] == [after]
    assert draft.unchanged is (before == after)
    assert draft.facts["twin"] == {"value": before, "question_uid": None}
    assert draft.facts["relation"]["before"]["value"] == before
    assert draft.facts["relation"]["after"]["value"] == after
    assert int(draft.relative) == 45 * ((SECTORS.index(after) - MOVE_WORDS.index(way)) % 8)
    if before != after:
        assert tags(draft)[before] == "no_update"


@pytest.mark.parametrize(("chair_from_bin", "way", "distance_m", "before", "after"), AS_SEEN)
def test_world_directions_by_hand(
    chair_from_bin: tuple[float, float], way: str, distance_m: float, before: str, after: str
) -> None:
    # The same vectors; the camera looks east, which makes no difference to a compass.
    context = chair_and_bin((-chair_from_bin[0], -chair_from_bin[1]), FROM_WEST)
    draft = drafts(MoveWorldDirection(), context)[f"1-1-2-0-{TO_COMPASS[way]}-{distance_m:g}"]
    assert draft.balance == TO_COMPASS[after]
    assert draft.facts["twin"]["value"] == TO_COMPASS[before]
    assert draft.stated == {
        "direction": TO_COMPASS[way], "distance": f"{distance_m:g}", "camera_compass": "east", "images": "1",
    }  # fmt: skip
    assert draft.facts["frame"]["heading_in_world"] == [0.0, 1.0]
    assert draft.facts["camera_compass"] == "east"


TO_THE_BIN = [  # the bin from the chair, which faces south; the chair moves in its own axes; where the bin is, to it
    ((0.0, -1.5), "forward", 3.0, "front", "back"),
    ((1.5, 0.0), "left", 3.0, "left", "right"),
    ((1.0, -1.0), "left", 2.0, "front-left", "front-right"),
    ((0.0, 1.5), "backward-left", 2.0, "back", "right"),
    ((0.0, -1.5), "forward-right", 2.0, "front", "left"),
    ((-1.5, 0.0), "backward-right", 2.0, "right", "front"),
    ((1.5, 0.0), "forward-left", 2.0, "left", "back"),
    ((-1.0, 1.0), "right", 2.0, "back-right", "back-left"),
    ((0.0, -2.0), "backward", 1.0, "front", "front"),
    ((0.0, -2.0), "forward", 0.5, "front", "front"),
]


@pytest.mark.parametrize(("bin_from_chair", "way", "distance_m", "before", "after"), TO_THE_BIN)
def test_object_directions_by_hand(
    bin_from_chair: tuple[float, float], way: str, distance_m: float, before: str, after: str
) -> None:
    draft = drafts(MoveObjectDirection(), chair_and_bin(bin_from_chair))[f"1-1-2-0-{way}-{distance_m:g}"]
    assert draft.balance == after
    assert draft.facts["twin"]["value"] == before
    assert draft.facts["relation"]["target"] == 2  # where is the bin
    assert draft.facts["relation"]["reference"] == 1  # as seen from the chair
    for frame in (draft.facts["frame"], draft.facts["intervention"]["frame"]):
        assert frame == {"kind": "object", "anchor": 1, "facing": "camera", "heading_in_world": [0.0, -1.0]}
    assert draft.unchanged is (before == after)
    if before != after:
        assert tags(draft)[before] == "no_update"


CARRIED = [  # the desk goes, and so does its lamp: how it goes; the bin from both before; the answer before and after
    (MoveCameraDirection(), ("forward", 2.0), (1.0, 1.0), ("back-left", "front-left")),
    (MoveCameraDirection(), ("right", 3.0), (1.5, 0.0), ("left", "right")),
    (MoveCameraDirection(), ("backward-right", 2.0), (1.5, 0.0), ("left", "back")),
    (MoveWorldDirection(), ("north", 2.0), (1.0, 1.0), ("southwest", "northwest")),
    (MoveWorldDirection(), ("east", 3.0), (1.5, 0.0), ("west", "east")),
    (MoveWorldDirection(), ("southeast", 2.0), (1.5, 0.0), ("west", "south")),
    (MoveObjectDirection(), ("left", 2.0), (1.0, 1.0), ("back-left", "back-right")),
    (MoveObjectDirection(), ("left", 3.0), (1.5, 0.0), ("left", "right")),
    (MoveObjectDirection(), ("forward-left", 2.0), (1.5, 0.0), ("left", "back")),
]


@pytest.mark.parametrize(("kind", "way", "bin_xy", "answers"), CARRIED)
def test_what_is_carried_goes_along_and_whoever_forgets_it_keeps_the_old_answer(
    kind: MoveDirection, way: tuple[str, float], bin_xy: tuple[float, float], answers: tuple[str, str]
) -> None:
    found, before, after = drafts(kind, desk_and_bin(bin_xy)), *answers
    lamp, desk = (found[f"1-{query}-2-0-{way[0]}-{way[1]:g}"] for query in (3, 1))
    for draft, tag, preference in ((lamp, "forgot_attachment", 0), (desk, "no_update", 1)):
        assert draft.balance == after
        assert draft.facts["twin"]["value"] == before
        assert tags(draft)[before] == tag
        assert draft.preference == preference
        assert draft.facts["intervention"]["object"] == 1
        assert draft.facts["intervention"]["moved"] == [1, 3]
        assert [(e["parent"], e["child"], e["certainty"]) for e in draft.facts["attachment"]] == [(1, 3, "certain")]
    assert {o["id"]: o["roles"] for o in lamp.facts["objects"]} == {
        1: ["moved", "mover"], 2: ["reference"], 3: ["moved", "query"],
    }  # fmt: skip
    assert {o["id"]: o["roles"] for o in desk.facts["objects"]} == {
        1: ["moved", "mover", "query"], 2: ["reference"], 3: ["moved"],
    }  # fmt: skip
    assert (lamp.words["query_is"], desk.words["query_is"]) == ("carried", "mover")


def test_the_mistakes_by_hand() -> None:
    camera = drafts(MoveCameraDirection(), chair_and_bin((1.0, 1.0)))["1-1-2-0-right-2"]
    # Back-right of the bin now. One who stands at the bin and faces the camera has the chair front-left.
    assert tags(camera) == {
        "front-right": "other", "back-right": None, "back-left": "no_update", "front-left": "wrong_frame",
    }  # fmt: skip
    # From the west, north of the bin is left. The chair goes from right of it to far in front.
    west = drafts(MoveCameraDirection(), chair_and_bin((0.0, 1.5), FROM_WEST))["1-1-2-0-forward-left-2"]
    assert tags(west) == {"front": None, "right": "no_update", "back": "wrong_frame", "left": "other"}
    # Gone 3 m to the right it is at the right; gone to the left, the wrong way, it would still be at the left.
    far = drafts(MoveCameraDirection(), chair_and_bin((2.0, 0.0)))["1-1-2-0-right-3"]
    assert tags(far) == {"front": "other", "right": None, "back": "other", "left": "no_update"}
    # North of the bin, moved east by as much; who moves it west finds it in the northwest.
    world = drafts(MoveWorldDirection(), chair_and_bin((0.0, -1.5)))["1-1-2-0-east-1.5"]
    assert tags(world) == {"northeast": None, "southeast": "other", "southwest": "wrong_sense", "northwest": "mirrored"}
    # The same with a camera that looks east: its left is north, and its forward, taken for north, is east.
    turned = drafts(MoveWorldDirection(), chair_and_bin((0.0, -1.5), FROM_WEST))["1-1-2-0-east-1.5"]
    # The top of the picture taken for north: the chair, truly northeast, is in the picture to the front and left.
    assert tags(turned)["northwest"] == "mirrored"
    assert tags(turned)["southwest"] == "wrong_sense"
    # In the place of the chair, facing the camera: the bin, in front, is passed on its right side, so it is left.
    own = drafts(MoveObjectDirection(), chair_and_bin((0.0, -1.5)))["1-1-2-0-forward-right-2"]
    # As the camera sees it the bin is to the right; north taken for front says the same: a wrong frame, and mirrored.
    assert tags(own) == {"front": "no_update", "right": "mirrored", "back": "other", "left": None}


@pytest.mark.parametrize(("camera_deg", "asked"), [(0.0, True), (8.0, True), (14.0, False), (-14.0, False)])
def test_a_rounded_compass_counts_for_what_is_seen_and_not_for_the_move(camera_deg: float, asked: bool) -> None:
    """The chair is 2 m north of the bin and comes 0.5 m south. Who takes the camera's heading for exactly north sees it
    up to 14 degrees off, 0.48 m beside, and after the move that is 19 degrees of 1.44 m: beyond 0.7 of a sector."""
    angle = radians(camera_deg)
    camera = looking((-7.0 * sin(angle), -7.0 * cos(angle), 3.5), (0.0, 0.0, 0.2))
    context = chair_and_bin((0.0, -2.0), camera)
    assert direction(context.scene, 1, reference=2, frame="world", view=context.view("0")).certain
    found = drafts(MoveWorldDirection(), context)
    assert ("1-1-2-0-south-0.5" in found) is asked
    assert "1-1-2-0-north-0.5" in found  # farther away the error is smaller
    for draft in found.values():
        assert draft.facts["camera_compass"] == "north"
        assert draft.facts["margins"]["ambiguity_as_stated"] <= 0.7
        assert not list(facts_problems(draft.facts))


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.code)
@pytest.mark.parametrize("camera", [FROM_SOUTH, FROM_WEST, looking((4.5, -5.0, 3.0), (0.0, 0.0, 0.2))])
def test_every_draft_is_feasible_and_its_answer_is_found_again(kind: MoveDirection, camera: Transform) -> None:
    desk, lamp = Box(1, "desk", (0.2, -0.3, 0.35), (0.8, 0.5, 0.7)), Box(3, "lamp", (0.3, -0.3, 0.9), (0.3, 0.3, 0.4))
    others = [on_floor(2, "bin", 1.3, 1.1), on_floor(4, "stool", -1.4, 0.6)]
    context = context_of([desk, lamp, *others], camera)
    found = drafts(kind, context)
    assert len(found) > 40
    opposite = "0" if kind.code == "object_move_object_centric" else "180"
    for draft in found.values():
        facts = draft.facts
        assert not list(facts_problems(facts))
        assert (solve(facts).before, solve(facts).after) == (draft.facts["twin"]["value"], draft.balance)
        step = facts["intervention"]
        view = context.view("0").world_from_camera
        facing = "camera" if step["frame"]["kind"] == "object" else None
        move = Move(step["object"], step["direction"], step["distance_m"], step["frame"]["kind"], view, facing)
        assert context.scene.problems(move) == []
        assert facts["margins"]["path_clear"] == float(context.scene.path_is_clear(move))
        state = context.scene.apply(move)
        shift = state.objects[step["object"]].center_in_world - context.scene.objects[step["object"]].center_in_world
        np.testing.assert_allclose(step["vector_in_world"], shift, atol=1e-4)
        names = context.scene.objects
        assert (
            len({names[i].label for i in (step["object"], *(facts["relation"][e] for e in ("target", "reference")))})
            > 1
        )
        # What lies opposite to the move can only lie there if it did before.
        assert draft.relative != opposite or draft.unchanged
        assert {c.value for c in draft.choices} == {
            w for w in kind._names if (kind._names.index(w) - kind._names.index(draft.balance)) % 2 == 0
        }
        if kind.frame != "object":  # the frame is the world's in both states, or the camera's
            target, reference = facts["relation"]["target"], facts["relation"]["reference"]
            again = direction(state, target, reference=reference, frame=kind.frame, view=context.view("0"))
            assert again.value == draft.balance


def test_moves_of_half_a_metre_to_three_are_all_tried() -> None:
    context = chair_and_bin((0.0, 2.9))
    found = drafts(MoveCameraDirection(), context)
    chair = {(d.stated["direction"], d.stated["distance"]) for case, d in found.items() if case.startswith("1-")}
    assert {way for way, _ in chair} == set(MOVE_WORDS)
    assert {metres for _, metres in chair} == {"0.5", "1", "1.5", "2", "2.5", "3"}
    assert {metres for way, metres in chair if way == "backward"} == {"0.5", "1", "1.5", "2", "2.5", "3"}
    # At 2.5 m it would touch the bin, and at 3 m stand in it.
    assert {metres for way, metres in chair if way == "forward"} == {"0.5", "1", "1.5", "2"}
    assert ("change", "infeasible") in refusals(MoveCameraDirection(), context)


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.code)
def test_only_what_certainly_stands_on_the_floor_moves(kind: MoveDirection) -> None:
    found = drafts(kind, desk_and_bin((1.0, 1.0)))
    assert {d.facts["intervention"]["object"] for d in found.values()} == {1, 2}
    assert ("object", "not_on_the_floor") in refusals(kind, desk_and_bin((1.0, 1.0)))  # the lamp
    shelf = [on_floor(1, "chair", 0.0, 0.0), Box(4, "shelf", (1.5, 0.0, 1.0), (0.5, 0.3, 0.3))]
    assert {d.facts["intervention"]["object"] for d in drafts(kind, context_of(shelf)).values()} == {1}


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.code)
def test_shapeless_things_neither_move_nor_are_looked_for(kind: MoveDirection) -> None:
    plain = [on_floor(1, "chair", 0.0, 0.0), on_floor(2, "bin", 1.5, 0.0)]
    rug = on_floor(4, "bag", -1.5, 0.5, traits=frozenset({"shapeless"}))
    ids = {i for d in drafts(kind, context_of([*plain, rug])).values() for i in (o["id"] for o in d.facts["objects"])}
    assert ids == {1, 2}


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.code)
def test_what_is_built_in_stays_and_is_looked_for(kind: MoveDirection) -> None:
    stove = on_floor(4, "stove", -1.5, 0.5, traits=frozenset({"installed"}))
    context = context_of([on_floor(1, "chair", 0.0, 0.0), on_floor(2, "bin", 1.5, 0.0), stove])
    found = drafts(kind, context).values()
    assert {d.facts["intervention"]["object"] for d in found} == {1, 2}
    assert 4 in {o["id"] for d in found for o in d.facts["objects"]}
    assert ("object", "built_in") in refusals(kind, context)
    assert [problem.kind for problem in context.scene.problems(Move(4, "north", 0.5))] == ["support"]


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.code)
def test_whether_the_mover_is_asked_about_is_drawn_before_the_answer(
    kind: MoveDirection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the direction and the distance are: one of each is begun. Otherwise what is carried, which can be asked about
    less often, would be a small part of few drafts."""
    things = [("bin", -2.2, -1.8), ("chair", 2.2, -1.8), ("suitcase", -2.4, 1.5), ("drum", 2.4, 1.5)]
    desk = [Box(1, "desk", (0.0, 0.0, 0.35), (0.5, 0.5, 0.7)), Box(3, "lamp", (0.0, 0.0, 0.9), (0.3, 0.3, 0.4))]
    context = context_of([*desk, *(on_floor(10 + n, *thing) for n, thing in enumerate(things))])
    assert {d.preference for d in drafts(kind, context).values()} == {0, 1}
    monkeypatch.setattr("questions.fair.SETTINGS", FairSettings(max_drafts=1, max_chain_drafts=1))
    begun = drafts(kind, context).values()
    assert len(begun) > 1
    assert len({(d.preference, d.stated["direction"], d.stated["distance"]) for d in begun}) == 1


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.code)
def test_names_in_one_question_differ(kind: MoveDirection) -> None:
    twins = [on_floor(1, "chair", 0.0, 0.0), on_floor(2, "chair", 1.5, 0.5), on_floor(3, "bin", -1.5, 0.5)]
    context = context_of([*twins, on_floor(4, "stool", -1.5, -1.2)])
    assert {i for d in drafts(kind, context).values() for i in (o["id"] for o in d.facts["objects"])} == {3, 4}
    assert ("name", "not_unique") in refusals(kind, context)


def test_no_north_no_compass_question() -> None:
    context = chair_and_bin((1.0, 1.0), is_aligned=False)
    assert drafts(MoveWorldDirection(), context) == {}
    assert ("relation", "not_aligned") in refusals(MoveWorldDirection(), context)
    assert drafts(MoveCameraDirection(), context)


def test_what_comes_to_touch_has_no_direction() -> None:
    # Moved 1.1 - 0.5 - 0.0: the desk's box would touch the bin's exactly, which is feasible, but no direction.
    boxes = [Box(1, "desk", (0.0, 0.0, 0.35), (0.6, 0.6, 0.7)), Box(2, "bin", (1.5, 0.0, 0.25), (0.4, 0.4, 0.5))]
    context = context_of(boxes)
    found = drafts(MoveCameraDirection(), context)
    assert "1-1-2-0-right-0.5" in found  # 0.5 m are left between them
    assert context.scene.problems(Move(1, "right", 1.0, "camera", context.view("0").world_from_camera)) == []
    assert "1-1-2-0-right-1" not in found
    assert ("relation", "boxes_touch") in refusals(MoveCameraDirection(), context)


def test_a_bound_tells_where_attachment_can_change() -> None:
    context = desk_and_bin((0.0, 3.0))
    scene = context.scene
    body = next(b for b in _bodies(context) if b.root == 1)
    far, near = (scene.apply(Move(1, "north", metres), check=False) for metres in (1.0, 2.5))
    assert not may_attach(scene, far, body, 2)
    assert may_attach(scene, near, body, 2)
    for metres in np.arange(0.25, 3.0, 0.25):
        state = scene.apply(Move(1, "north", float(metres)), check=False)
        pairs = {pair for pair in attached_pairs(state) if 2 in pair}
        assert not pairs or may_attach(scene, state, body, 2)


def _bodies(context: SceneContext) -> list:
    from questions.changes import Body, bodies

    return [body for body in bodies(context) if isinstance(body, Body)]


def test_sectors_of_many_are_those_of_one() -> None:
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(200, 2))
    for turn in (0.0, 33.0, 180.0):
        heading = world_heading().turned(turn)
        index, ambiguity = sectors_of(vectors, heading)
        for vector, i, doubt in zip(vectors, index.tolist(), ambiguity.tolist(), strict=True):
            one = sector_of(heading.angle_deg_of(vector), COMPASS)
            assert one.value == COMPASS[i]
            assert one.ambiguity == pytest.approx(doubt)


def test_order_of_scan_objects_makes_no_difference() -> None:
    boxes = [on_floor(1, "chair", 0.0, 0.0), on_floor(2, "bin", 1.3, 1.0), on_floor(4, "stool", -1.4, 0.6)]
    for kind in TYPES:
        assert list(drafts(kind, context_of(boxes))) == list(drafts(kind, context_of(boxes[::-1])))
