"""Direction questions on small scenes whose answers are written down by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from box_scans import Box, box_scan, looking, on_floor

from questions.directions import CameraDirection, ObjectDirection, WorldDirection, direction_choices
from spacecast.dataset.context import SceneContext
from spacecast.dataset.types import Draft, Refusal
from spacecast.frames import COMPASS, SECTORS, Transform

# A camera in the south that looks north: x is to its right, y is away from it.
FROM_SOUTH = looking((0.0, -4.0, 1.8), (0.0, 0.5, 0.3))
FROM_EAST = looking((5.0, 1.0, 1.8), (0.0, 1.0, 0.3))
CROSS = [
    on_floor(1, "chair", 0.0, 0.5),
    on_floor(2, "lamp", 1.5, 0.5),
    on_floor(3, "bin", 0.0, 2.0),
    on_floor(4, "plant", 1.5, 2.0),
]

OPPOSITE = {word: SECTORS[(i + 4) % 8] for i, word in enumerate(SECTORS)} | {
    word: COMPASS[(i + 4) % 8] for i, word in enumerate(COMPASS)
}


def context_of(boxes: Sequence[Box], cameras: dict[str, Transform], **more: object) -> SceneContext:
    return SceneContext(box_scan(boxes, cameras, **more), pictures="render")


def drafts(kind: object, context: SceneContext) -> dict[str, Draft]:
    found = [item for item in kind.enumerate(context) if isinstance(item, Draft)]
    assert len({draft.case for draft in found}) == len(found)
    return {draft.case: draft for draft in found}


def refusals(kind: object, context: SceneContext) -> set[tuple[str, str]]:
    return {(item.stage, item.reason) for item in kind.enumerate(context) if isinstance(item, Refusal)}


CAMERA_TABLE = [  # target, reference, seen from the south, seen from the east
    (2, 1, "right", "back"),
    (3, 1, "front", "right"),
    (4, 1, "front-right", "back-right"),
    (1, 2, "left", "front"),
    (3, 2, "front-left", "front-right"),
    (4, 2, "front", "right"),
    (1, 3, "back", "left"),
    (2, 3, "back-right", "back-left"),
    (4, 3, "right", "back"),
    (1, 4, "back-left", "front-left"),
    (2, 4, "back", "left"),
    (3, 4, "left", "front"),
]


def test_camera_direction_by_hand() -> None:
    south = drafts(CameraDirection(), context_of(CROSS, {"0": FROM_SOUTH}))
    assert {case: d.balance for case, d in south.items()} == {f"{t}-{r}-0": word for t, r, word, _ in CAMERA_TABLE}
    east = drafts(CameraDirection(), context_of(CROSS, {"0": FROM_EAST}))
    assert {case: d.balance for case, d in east.items()} == {f"{t}-{r}-0": word for t, r, _, word in CAMERA_TABLE}


def test_one_draft_for_each_answer_though_many_views_show_it() -> None:
    nearer = looking((0.0, -3.0, 1.8), (0.0, 0.5, 0.3))
    context = context_of(CROSS, {"0": FROM_SOUTH, "1": FROM_EAST, "2": nearer})
    assert context.view_names == ("0", "1", "2")
    found = drafts(CameraDirection(), context)
    assert len(found) == 24
    # Of the two views from the south, the nearer one shows the objects larger.
    assert {d.views[0].name for d in found.values()} == {"1", "2"}


def test_world_direction_by_hand() -> None:
    words = dict(zip(SECTORS, COMPASS, strict=True))
    south = drafts(WorldDirection(), context_of(CROSS, {"0": FROM_SOUTH}))
    assert {case: d.balance for case, d in south.items()} == {
        f"{t}-{r}-0": words[word] for t, r, word, _ in CAMERA_TABLE
    }
    assert {d.stated["camera_compass"] for d in south.values()} == {"north"}
    assert {d.words["heading"] for d in south.values()} == {"north"}
    east = drafts(WorldDirection(), context_of(CROSS, {"0": FROM_EAST}))
    assert {case: d.balance for case, d in east.items()} == {case: d.balance for case, d in south.items()}
    assert {d.facts["camera_compass"] for d in east.values()} == {"west"}


def test_object_direction_by_hand() -> None:
    found = drafts(ObjectDirection(), context_of(CROSS, {"0": FROM_SOUTH}))
    answers = {case.rsplit("-", 1)[0]: d.balance for case, d in found.items()}
    # At the chair in the corner: the lamp in the east, the bin in the north, the plant between them.
    assert answers["1-3-2"] == "right"
    assert answers["1-2-3"] == "left"
    assert answers["1-4-2"] == "front-right"
    assert answers["1-4-3"] == "front-left"
    assert answers["1-2-4"] == "front-left"
    assert answers["1-3-4"] == "front-right"
    assert answers["4-1-2"] == "front-left"
    assert len(answers) == 24
    facts = next(d for case, d in found.items() if case.startswith("1-3-2")).facts
    assert facts["frame"] == {"kind": "object", "anchor": 1, "facing": 3, "heading_in_world": [0.0, 1.0]}
    assert facts["relation"]["target"] == 2
    assert facts["relation"]["reference"] == 1
    assert facts["binding_view"] is None


def test_of_several_that_could_be_faced_the_least_ambiguous_is() -> None:
    # From the chair, both the bin (exactly north) and the plant (10 degrees off north) leave the lamp to the right.
    boxes = [*CROSS[:3], on_floor(4, "plant", 2.6 * np.sin(np.radians(10.0)), 0.5 + 2.6 * np.cos(np.radians(10.0)))]
    found = drafts(ObjectDirection(), context_of(boxes, {"0": FROM_SOUTH}))
    right = [case for case, d in found.items() if case.startswith("1-") and "-2-0" in case and d.balance == "right"]
    assert right == ["1-3-2-0"]


@pytest.mark.parametrize("kind", [CameraDirection(), WorldDirection()])
def test_swapping_target_and_reference_gives_the_opposite(kind: object) -> None:
    found = drafts(kind, context_of(CROSS, {"0": FROM_SOUTH, "1": FROM_EAST}))
    answers: dict[tuple[str, str, str], str] = {}
    for draft in found.values():
        target, reference, view = draft.case.split("-")
        answers[target, reference, view] = draft.balance
    assert len(answers) == len(found) == 24
    for (target, reference, view), value in answers.items():
        assert answers[reference, target, view] == OPPOSITE[value]


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_turning_everything_keeps_camera_and_object_answers_and_turns_the_compass(quarters: int) -> None:
    turn = Transform.from_yaw_deg(-90.0 * quarters, target="world", source="world")  # clockwise
    turned = [Box(b.id, b.label, tuple((turn @ np.array(b.center)).tolist()), b.size) for b in CROSS]
    before = context_of(CROSS, {"0": FROM_SOUTH})
    after = context_of(turned, {"0": turn @ FROM_SOUTH})
    for kind in (CameraDirection(), ObjectDirection()):
        one, other = drafts(kind, before), drafts(kind, after)
        assert {case: (d.balance, d.choices) for case, d in one.items()} == {
            case: (d.balance, tuple(c._replace(tag=t.tag) for c, t in zip(d.choices, one[case].choices, strict=True)))
            for case, d in other.items()
        }
    one, other = drafts(WorldDirection(), before), drafts(WorldDirection(), after)
    assert len(one) == 12
    assert {case: COMPASS[(COMPASS.index(d.balance) + 2 * quarters) % 8] for case, d in one.items()} == {
        case: d.balance for case, d in other.items()
    }
    assert {d.stated["camera_compass"] for d in other.values()} == {COMPASS[2 * quarters]}


def test_options_are_the_four_labels_that_hold_the_answer_in_a_fixed_order() -> None:
    for value in SECTORS:
        choices = direction_choices(value, SECTORS, [])
        diagonal = "-" in value
        assert [c.value for c in choices] == [word for word in SECTORS if ("-" in word) == diagonal]
        assert [c.value for c in choices if c.is_right] == [value]


@pytest.mark.parametrize(
    ("value", "elsewhere", "tags"),
    [
        ("left", [], {"front": "other", "right": "mirrored", "back": "other"}),
        ("front", [], {"right": "other", "back": "other", "left": "other"}),
        ("front-left", [], {"front-right": "mirrored", "back-right": "other", "back-left": "other"}),
        ("front", ["back", "front-left"], {"right": "other", "back": "wrong_frame", "left": "other"}),
        ("left", ["right", "back"], {"front": "other", "right": "mirrored", "back": "wrong_frame"}),
        ("left", ["left"], {"front": "other", "right": "mirrored", "back": "other"}),
    ],
)
def test_tags_of_wrong_directions(value: str, elsewhere: list[str], tags: dict[str, str]) -> None:
    choices = direction_choices(value, SECTORS, elsewhere)
    assert {c.value: c.tag for c in choices if not c.is_right} == tags


def test_the_frame_that_a_wrong_answer_comes_from() -> None:
    # From the east, north is to the right: "front" by the compass for what is really to the right.
    east = drafts(CameraDirection(), context_of(CROSS, {"0": FROM_EAST}))["3-1-0"]
    assert {c.value: c.tag for c in east.choices} == {
        "front": "wrong_frame", "right": None, "back": "other", "left": "mirrored",
    }  # fmt: skip
    # One who stands at the chair and faces a camera straight in front of it has the lamp, to the right, on the left.
    south = drafts(CameraDirection(), context_of(CROSS, {"0": FROM_SOUTH}))["3-1-0"]
    assert {c.value: c.tag for c in south.choices} == {
        "front": None, "right": "other", "back": "wrong_frame", "left": "other",
    }  # fmt: skip
    world = drafts(WorldDirection(), context_of(CROSS, {"0": FROM_EAST}))["3-1-0"]
    assert {c.value: c.tag for c in world.choices} == {
        "north": None, "east": "wrong_frame", "south": "other", "west": "other",
    }  # fmt: skip


def at_angle(angle_deg: float, distance_m: float = 1.6) -> list[Box]:
    """A lamp at an angle clockwise from north of the chair."""
    angle = np.radians(angle_deg)
    lamp = on_floor(2, "lamp", float(distance_m * np.sin(angle)), 0.5 + float(distance_m * np.cos(angle)))
    return [on_floor(1, "chair", 0.0, 0.5), lamp]


@pytest.mark.parametrize(
    ("angle_deg", "answer"),
    [(0.0, "front"), (15.0, "front"), (17.0, None), (28.0, None), (30.0, "front-right"), (60.0, "front-right")],
)
def test_ambiguity_of_seven_tenths_is_the_most(angle_deg: float, answer: str | None) -> None:
    context = context_of(at_angle(angle_deg), {"0": FROM_SOUTH})
    found = drafts(CameraDirection(), context)
    assert {d.balance for case, d in found.items() if case == "2-1-0"} == ({answer} if answer else set())
    assert (("relation", "ambiguous") in refusals(CameraDirection(), context)) is (answer is None)


@pytest.mark.parametrize(
    ("camera_deg", "asked"),
    [(0.0, True), (10.0, True), (14.0, True), (17.0, False), (20.0, False), (-14.0, True), (-20.0, False)],
)
def test_a_compass_statement_may_be_rounded_only_so_far(camera_deg: float, asked: bool) -> None:
    # The lamp lies exactly north; the camera looks north up to rounding, by which the reader's answer is off.
    angle = np.radians(camera_deg)
    pose = looking((-4.5 * np.sin(angle), 1.3 - 4.5 * np.cos(angle), 1.8), (0.0, 1.3, 0.3))
    context = context_of(at_angle(0.0), {"0": pose})
    found = drafts(WorldDirection(), context)
    assert set(found) == ({"1-2-0", "2-1-0"} if asked else set())
    assert (("relation", "compass_rounding") in refusals(WorldDirection(), context)) is not asked
    for draft in found.values():
        assert draft.facts["camera_compass"] == "north"
        assert draft.facts["margins"]["ambiguity_as_stated"] == pytest.approx(abs(camera_deg) / 22.5, abs=1e-3)


def test_no_camera_or_world_direction_from_a_camera_that_looks_down() -> None:
    down = looking((0.05, 1.0, 5.5), (0.0, 1.2, 0.0))
    context = context_of(CROSS, {"0": down})
    assert context.heading("0") is None
    for kind in (CameraDirection(), WorldDirection()):
        assert drafts(kind, context) == {}
        assert ("view", "no_camera_heading") in refusals(kind, context)
    assert len(drafts(ObjectDirection(), context)) == 24


def test_no_north_in_a_scan_that_is_not_aligned() -> None:
    context = context_of(CROSS, {"0": FROM_SOUTH}, is_aligned=False)
    assert WorldDirection().needs_north
    assert drafts(WorldDirection(), context) == {}
    assert refusals(WorldDirection(), context) == {("relation", "not_aligned")}
    assert len(drafts(CameraDirection(), context)) == 12
    assert not CameraDirection().needs_north


def test_shapeless_things_have_no_direction() -> None:
    boxes = [*CROSS, on_floor(5, "curtain", -1.5, 0.5, traits=frozenset({"shapeless"}))]
    context = context_of(boxes, {"0": FROM_SOUTH})
    assert 5 in context.record("0").seen_ids
    for kind in (CameraDirection(), WorldDirection(), ObjectDirection()):
        assert drafts(kind, context) == drafts(kind, context_of(CROSS, {"0": FROM_SOUTH}))


def test_what_touches_or_stands_on_what_is_faced_is_not_looked_for() -> None:
    """It would be in front, whatever the pictures show."""
    table, vase = Box(1, "table", (0.0, 1.0, 0.35), (1.6, 0.8, 0.7)), Box(2, "vase", (0.6, 1.0, 0.8), (0.2, 0.2, 0.2))
    context = context_of([table, vase, on_floor(3, "bin", 0.0, -2.0)], {"0": FROM_SOUTH})
    asked = set()
    for draft in drafts(ObjectDirection(), context).values():
        role = {role: o["id"] for o in draft.facts["objects"] for role in o["roles"]}
        asked.add((role["anchor"], role["facing"], role["target"]))
    assert asked == {
        (1, 2, 3),
        (2, 1, 3),
    }  # not the bin that faces the table, and the vase on it, or the other way round
    assert ("relation", "attached") in refusals(ObjectDirection(), context)


def test_what_touches_or_stands_on_the_other_has_no_direction() -> None:
    table = Box(1, "table", (0.0, 0.5, 0.35), (1.6, 0.8, 0.7))
    cup = Box(2, "vase", (0.6, 0.5, 0.8), (0.2, 0.2, 0.2))
    context = context_of([table, cup, on_floor(3, "bin", 2.0, 1.5)], {"0": FROM_SOUTH})
    found = drafts(CameraDirection(), context)
    assert {case for case in found if {"1", "2"} <= set(case.split("-")[:2])} == set()
    assert ("relation", "attached") in refusals(CameraDirection(), context)
    assert ("relation", "footprints_overlap") in refusals(ObjectDirection(), context)


def test_facing_what_is_almost_above_is_not_asked() -> None:
    shelf = Box(2, "shelf", (0.2, 0.5, 1.6), (0.3, 0.3, 0.3))
    context = context_of([CROSS[0], shelf, CROSS[2]], {"0": FROM_SOUTH})
    assert not any(case.startswith(("1-2-", "2-1-")) for case in drafts(ObjectDirection(), context))
    assert ("relation", "unstable_facing") in refusals(ObjectDirection(), context)


def test_facts_hold_what_an_answer_can_be_computed_from() -> None:
    draft = drafts(CameraDirection(), context_of(CROSS, {"0": FROM_SOUTH}))["4-1-0"]
    facts = draft.facts
    assert facts["schema"] == "spacecast-facts/1"
    assert [(o["id"], o["label"], o["roles"]) for o in facts["objects"]] == [
        (1, "chair", ["reference"]),
        (4, "plant", ["target"]),
    ]
    assert facts["objects"][1]["center_in_world"] == [1.5, 2.0, 0.25]
    assert facts["objects"][1]["aabb"] == {"min": [1.3, 1.8, 0.0], "max": [1.7, 2.2, 0.5]}
    assert facts["objects"][1]["obb"]["size"] == [0.4, 0.4, 0.5]
    assert facts["binding_view"] == "0"
    assert facts["camera_compass"] is None
    assert facts["intervention"] is None
    assert facts["attachment"] == []
    assert facts["relation"]["before"] == {"value": "front-right", "angle_deg": 45.0, "ambiguity": 0.0}
    assert facts["relation"]["after"] is None
    (view,) = facts["views"]
    assert (view["name"], view["role"], view["width"], view["height"]) == ("0", "image", 640, 480)
    assert view["pixel_from_camera"] == [500.0, 0.0, 319.5, 0.0, 500.0, 239.5, 0.0, 0.0, 1.0]
    assert view["world_from_camera"][3::4] == [0.0, -4.0, 1.8, 1.0]
    assert draft.views[0] == ("0", "image")
    assert draft.likeness == "1-4"
