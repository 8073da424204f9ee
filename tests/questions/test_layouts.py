"""Level 3 on small scenes whose answers are written down by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from box_scans import Box, box_scan, looking, on_floor

from questions.directions import CameraDirection, ObjectDirection, WorldDirection
from questions.layouts import RotatedCameraDirection, RotatedObjectDirection, RotatedWorldDirection, turned, turned_by
from spacecast.dataset.context import SceneContext
from spacecast.dataset.recompute import solve
from spacecast.dataset.types import Draft, Refusal
from spacecast.frames import COMPASS, SECTORS, Transform

pytestmark = pytest.mark.usefixtures("all_offered")

# From the south north is ahead and east to the right; from the east west is ahead and north to the right. The layout
# turns about the middle of the floor, (0, 0).
CAMERAS = {"south": looking((0.0, -4.0, 1.8), (0.0, 0.5, 0.3)), "east": looking((5.0, 1.0, 1.8), (0.0, 1.0, 0.3))}
CHAIR = on_floor(1, "chair", 0.0, 0.5)
OFFSETS = {"north": (0.0, 1.4), "northeast": (1.2, 1.2), "east": (1.4, 0.0), "west": (-1.4, 0.0), "south": (0.0, -1.4)}


def placed(id: int, label: str, compass: str) -> Box:
    """Something in a compass direction from the chair."""
    x, y = OFFSETS[compass]
    return on_floor(id, label, x, 0.5 + y)


def context_of(boxes: Sequence[Box], cameras: Mapping[str, Transform], **more: object) -> SceneContext:
    return SceneContext(box_scan(boxes, dict(cameras), **more), pictures="render")


def drafts(kind: object, context: SceneContext) -> dict[str, Draft]:
    found = [item for item in kind.enumerate(context) if isinstance(item, Draft)]
    assert len({draft.case for draft in found}) == len(found)
    return {draft.case: draft for draft in found}


def tags(draft: Draft) -> dict[str, str | None]:
    return {choice.value: choice.tag for choice in draft.choices}


CAMERA_TABLE = [  # where the lamp is from the chair, seen from, turned by, before, after
    ("east", "south", 90, "right", "back"),
    ("east", "south", 180, "right", "left"),
    ("east", "south", 270, "right", "front"),
    ("north", "south", 90, "front", "right"),
    ("north", "south", 270, "front", "left"),
    ("northeast", "south", 90, "front-right", "back-right"),
    ("northeast", "south", 180, "front-right", "back-left"),
    ("northeast", "south", 270, "front-right", "front-left"),
    ("west", "south", 90, "left", "front"),
    ("north", "east", 90, "right", "back"),
    ("east", "east", 90, "back", "left"),
    ("east", "east", 180, "back", "front"),
    ("northeast", "east", 270, "back-right", "front-right"),
]


@pytest.mark.parametrize(("where", "camera", "angle_deg", "before", "after"), CAMERA_TABLE)
def test_the_camera_stays(where: str, camera: str, angle_deg: int, before: str, after: str) -> None:
    context = context_of([CHAIR, placed(2, "lamp", where)], {camera: CAMERAS[camera]})
    draft = drafts(RotatedCameraDirection(), context)[f"2-1-{camera}-{angle_deg}"]
    assert draft.balance == after
    assert [c.value for c in draft.choices if c.is_right] == [after]
    assert draft.facts["relation"]["before"]["value"] == draft.facts["twin"]["value"] == before
    assert draft.stated == {"angle_deg": str(angle_deg), "images": "1"}
    assert draft.words["angle"] == f"clockwise_{angle_deg}"
    assert draft.unchanged is False


WORLD_TABLE = [  # where the lamp is from the chair, seen from, turned by, after
    ("north", "south", 90, "east"),
    ("north", "south", 180, "south"),
    ("north", "south", 270, "west"),
    ("northeast", "south", 90, "southeast"),
    ("northeast", "south", 270, "northwest"),
    ("west", "south", 90, "north"),
    ("north", "east", 90, "east"),
    ("east", "east", 270, "north"),
    ("northeast", "east", 180, "southwest"),
]


@pytest.mark.parametrize(("where", "camera", "angle_deg", "after"), WORLD_TABLE)
def test_the_compass_stays(where: str, camera: str, angle_deg: int, after: str) -> None:
    context = context_of([CHAIR, placed(2, "lamp", where)], {camera: CAMERAS[camera]})
    draft = drafts(RotatedWorldDirection(), context)[f"2-1-{camera}-{angle_deg}"]
    faces = {"south": "north", "east": "west"}[camera]
    assert draft.balance == after
    assert draft.facts["twin"] == {"value": where, "question_uid": None}
    assert draft.stated == {"angle_deg": str(angle_deg), "camera_compass": faces, "images": "1"}
    assert draft.words["heading"] == draft.facts["camera_compass"] == faces
    assert draft.facts["binding_view"] == camera


OBJECT_TABLE = [  # the bin, which is faced; the lamp; turned by; before; after
    ("north", "east", 90, "right", "back"),
    ("north", "east", 180, "right", "left"),
    ("north", "east", 270, "right", "front"),
    ("east", "north", 90, "left", "front"),
    ("east", "northeast", 90, "front-left", "front-right"),
    ("north", "northeast", 180, "front-right", "back-left"),
    ("west", "east", 90, "back", "left"),
    ("west", "north", 270, "right", "front"),
    ("northeast", "east", 90, "front-right", "back-right"),
]


@pytest.mark.parametrize(("bin_at", "lamp_at", "angle_deg", "before", "after"), OBJECT_TABLE)
def test_the_anchor_keeps_the_direction_in_which_it_faced(
    bin_at: str, lamp_at: str, angle_deg: int, before: str, after: str
) -> None:
    boxes = [CHAIR, placed(2, "lamp", lamp_at), placed(3, "bin", bin_at)]
    context = context_of(boxes, {"0": CAMERAS["south"]})
    draft = drafts(RotatedObjectDirection(), context)[f"1-3-2-0-{angle_deg}"]
    x, y = OFFSETS[bin_at]
    assert draft.balance == after
    assert draft.facts["twin"]["value"] == before
    assert draft.facts["frame"]["anchor"] == 1
    assert draft.facts["frame"]["facing"] == 3
    np.testing.assert_allclose(draft.facts["frame"]["heading_in_world"], np.array([x, y]) / np.hypot(x, y), atol=1e-3)
    assert draft.stated == {"angle_deg": str(angle_deg), "images": "1"}


def test_what_is_turned_and_about_which_point() -> None:
    context = context_of([CHAIR, placed(2, "lamp", "east")], CAMERAS)
    for kind in (RotatedCameraDirection(), RotatedWorldDirection()):
        for draft in drafts(kind, context).values():
            change = draft.facts["intervention"]
            assert change["kind"] == "rotate_layout"
            assert str(int(change["angle_deg"])) == draft.stated["angle_deg"]
            np.testing.assert_allclose(change["center_in_world"], [0.0, 0.0], atol=0.03)
    # A quarter turn clockwise about (0, 0): (x, y) -> (y, -x).
    after = turned(context.scene, 90)
    np.testing.assert_allclose(after.objects[1].center_in_world[:2], [0.5, 0.0], atol=0.05)
    np.testing.assert_allclose(after.objects[2].center_in_world[:2], [0.5, -1.4], atol=0.05)
    np.testing.assert_allclose(after.objects[900].center_in_world[:2], [0.0, 0.0], atol=1e-9)  # the floor


TAG_TABLE = [  # type, (bin that is faced or None, lamp, seen from), turned by, tags
    # The layout turned the wrong way, and not at all; with the top of the picture for north it is the same here.
    (RotatedWorldDirection(), (None, "east", "south"), 90,
     {"north": "wrong_sense", "east": "no_update", "south": None, "west": "other"}),
    # Left and right exchanged comes before the wrong way round.
    (RotatedWorldDirection(), (None, "north", "south"), 90,
     {"north": "no_update", "east": None, "south": "other", "west": "mirrored"}),
    # From the east, what is truly in the east is at the bottom of the picture: south, if its top is taken for north.
    (RotatedWorldDirection(), (None, "north", "east"), 90,
     {"north": "no_update", "east": None, "south": "wrong_frame", "west": "mirrored"}),
    # After half a turn both senses are the same, and right.
    (RotatedWorldDirection(), (None, "east", "south"), 180,
     {"north": "other", "east": "no_update", "south": "other", "west": None}),
    (RotatedObjectDirection(), ("north", "east", "south"), 90,
     {"front": "wrong_sense", "right": "no_update", "back": None, "left": "other"}),
    # The bin was in the east; the lamp, in the north, comes to lie east, ahead. For the camera that is to the right.
    (RotatedObjectDirection(), ("east", "north", "south"), 90,
     {"front": None, "right": "wrong_frame", "back": "wrong_sense", "left": "no_update"}),
    # The lamp comes to lie east, to the right. To one at the chair, then at (0.5, 0), who faces the camera: left.
    (RotatedCameraDirection(), (None, "north", "south"), 90,
     {"front": "no_update", "right": None, "back": "other", "left": "mirrored"}),
    # The lamp comes to lie east, to this camera the back; by the compass to the right.
    (RotatedCameraDirection(), (None, "north", "east"), 90,
     {"front": "wrong_frame", "right": "no_update", "back": None, "left": "other"}),
    # The lamp comes to lie south, to this camera left; with north for front, behind.
    (RotatedCameraDirection(), (None, "east", "east"), 90,
     {"front": "other", "right": "mirrored", "back": "no_update", "left": None}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "where", "angle_deg", "expected"), TAG_TABLE)
def test_the_mistake_that_makes_each_wrong_option(
    kind: object, where: tuple[str | None, str, str], angle_deg: int, expected: dict[str, str | None]
) -> None:
    bin_at, lamp_at, camera = where
    boxes = [CHAIR, placed(2, "lamp", lamp_at), *([placed(3, "bin", bin_at)] if bin_at else [])]
    context = context_of(boxes, {camera: CAMERAS[camera]})
    ids = "1-3-2" if bin_at else "2-1"
    assert tags(drafts(kind, context)[f"{ids}-{camera}-{angle_deg}"]) == expected


ROOM = [CHAIR, placed(2, "lamp", "east"), placed(3, "bin", "north"), placed(4, "plant", "northeast")]


@pytest.mark.parametrize("angle_deg", [90, 180, 270])
@pytest.mark.parametrize(
    ("turned_type", "plain_type"),
    [(RotatedCameraDirection(), CameraDirection()), (RotatedWorldDirection(), WorldDirection())],
)
def test_a_scan_of_the_turned_room_says_the_same(turned_type: object, plain_type: object, angle_deg: int) -> None:
    turn = Transform.from_yaw_deg(-float(angle_deg), target="world", source="world")
    moved = [Box(b.id, b.label, tuple((turn @ np.array(b.center)).tolist()), b.size) for b in ROOM]
    asked = drafts(turned_type, context_of(ROOM, {"0": CAMERAS["south"]}))
    seen = drafts(plain_type, context_of(moved, {"0": CAMERAS["south"]}))
    compared = 0
    for case, draft in asked.items():
        target, reference, view, angle = case.split("-")
        if int(angle) == angle_deg and f"{target}-{reference}-{view}" in seen:
            assert draft.balance == seen[f"{target}-{reference}-{view}"].balance
            compared += 1
    assert compared >= 8


@pytest.mark.parametrize("kind", [RotatedCameraDirection(), RotatedWorldDirection(), RotatedObjectDirection()])
def test_the_facts_alone_give_the_answer_and_none_is_unchanged(kind: object) -> None:
    found = drafts(kind, context_of(ROOM, CAMERAS))
    assert len(found) >= 36
    for draft in found.values():
        solved = solve(draft.facts)
        assert solved.answer == draft.balance
        assert solved.before == draft.facts["twin"]["value"]
        assert draft.unchanged is False
        assert solved.before != solved.answer
        assert draft.relative is None
        assert [e for e in draft.facts["objects"] if "moved" in e["roles"]] == []


@pytest.mark.parametrize("kind", [RotatedCameraDirection(), RotatedWorldDirection(), RotatedObjectDirection()])
def test_every_answer_turns_by_the_stated_angle_whatever_it_was(kind: object) -> None:
    names = COMPASS if kind.needs_north else SECTORS
    found = drafts(kind, context_of(ROOM, CAMERAS)).values()
    turns = {
        (draft.stated["angle_deg"], (names.index(draft.balance) - names.index(draft.facts["twin"]["value"])) % 8)
        for draft in found
    }
    assert turns == {("90", 2), ("180", 4), ("270", 6)}


@pytest.mark.parametrize(
    ("kind", "plain"),
    [
        (RotatedCameraDirection(), CameraDirection()),
        (RotatedWorldDirection(), WorldDirection()),
        (RotatedObjectDirection(), ObjectDirection()),
    ],
)
def test_what_level_one_asks_is_asked_after_each_turn(kind: object, plain: object) -> None:
    context = context_of(ROOM, CAMERAS)
    before = drafts(plain, context)
    assert set(drafts(kind, context)) == {f"{case}-{angle}" for case in before for angle in (90, 180, 270)}


def test_nothing_turns_where_no_room_is_known() -> None:
    context = context_of(ROOM, {"0": CAMERAS["south"]}, floor=(0.6, 0.6))
    for kind in (RotatedCameraDirection(), RotatedWorldDirection(), RotatedObjectDirection()):
        assert list(kind.enumerate(context)) == [Refusal("scene", "no_room", "box0000_00")]


def test_what_is_carried_goes_round_with_the_rest() -> None:
    table = Box(1, "table", (0.0, 0.5, 0.35), (0.8, 0.8, 0.7))
    mug = Box(2, "mug", (0.1, 0.5, 0.8), (0.2, 0.2, 0.2))
    context = context_of([table, mug, placed(3, "bin", "east")], {"0": CAMERAS["south"]})
    assert context.scene.carried_by(1) == (2,)
    found = drafts(RotatedCameraDirection(), context)
    assert found["2-3-0-90"].balance == "front"  # it lay west of the bin, and north is ahead
    assert found["3-2-0-90"].balance == "back"
    assert not [case for case in found if case.startswith(("1-2-", "2-1-"))]  # they are attached


@pytest.mark.parametrize(
    ("value", "angle_deg", "after"),
    [("front", 90, "right"), ("left", 90, "front"), ("front-left", 270, "back-left"), ("back", -90, "right")],
)
def test_clockwise_is_from_front_to_right(value: str, angle_deg: int, after: str) -> None:
    assert turned_by(value, angle_deg, SECTORS) == after
