"""Evidence of hand-made rooms: every number written by hand, and nothing in it that tells the answer."""

from __future__ import annotations

import copy
import io
from typing import Any

import numpy as np
import pytest
from handmade import box, camera_looking, facts_with, view
from PIL import Image

from spacecast.dataset.evidence import (
    Asked,
    Survey,
    asked_of,
    map_of,
    metadata_text,
    names_in,
    without_pictures,
)
from spacecast.sight import MapFrame


def thing(label: str, center: tuple[float, float, float], *, carrier: int | None = None, support="floor") -> dict:
    """0.4 x 0.2 x 0.6 at yaw 0."""
    half = np.array([0.2, 0.1, 0.3])
    return {
        "label": label, "label_zh": {"lamp": "灯", "desk": "书桌"}.get(label), "center": list(center),
        "min": (np.array(center) - half).tolist(), "max": (np.array(center) + half).tolist(),
        "obb": {"center": list(center), "size": [0.4, 0.2, 0.6], "yaw_deg": 0.0},
        "support": "none" if carrier is not None else support, "carrier": carrier,
        "carried_as": None if carrier is None else "supported_by",
    }  # fmt: skip


ROOM = Survey(
    objects={
        1: thing("desk", (1.0, 2.0, 0.3)),
        2: thing("tray", (1.0, 2.0, 0.9), carrier=1),
        3: thing("lamp", (1.0, 2.0, 1.5), carrier=2),
        4: thing("bed", (2.0, 3.0, 0.3)),
        5: thing("clock", (-1.0, 2.0, 1.5), support="wall"),
    },
    is_aligned=True,
    room_center=(0.25, 1.0),
    frame=MapFrame(-2.0, 4.0, 40.0, 200, 180),
    canvas=np.full((180, 200, 3), 200, np.uint8),
)


def moved(**parts: Any) -> dict[str, Any]:
    """The desk goes to the right; where is the lamp, which it carries, from the bed?"""
    return facts_with(
        **{
            "objects": [
                box(1, "desk", (1.0, 2.0, 0.3), ["mover", "moved"]),
                box(2, "tray", (1.0, 2.0, 0.9), ["moved"]),
                box(3, "lamp", (1.0, 2.0, 1.5), ["query", "moved"]),
                box(4, "bed", (2.0, 3.0, 0.3), ["reference"]),
            ],
            "views": [view("120", camera_looking(0.0, 1.0))],
            "binding_view": "120",
            "frame": {"kind": "camera", "anchor": None, "facing": None, "heading_in_world": [0.0, 1.0]},
            "intervention": {
                "kind": "move", "object": 1, "moved": [1, 2, 3], "direction": "right", "distance_m": 1.0,
                "vector_in_world": [1.0, 0.0, 0.0],
                "frame": {"kind": "camera", "anchor": None, "facing": None, "heading_in_world": [0.0, 1.0]},
            },
            "relation": {
                "kind": "direction", "target": 3, "reference": 4,
                "before": {"value": "back-left", "angle_deg": -135.0}, "after": {"value": "back", "angle_deg": 180.0},
            },
            "options": [{"text": "back", "value": "back", "tag": None}],
            **parts,
        }
    )  # fmt: skip


MOVED_TEXT = """\
Measured before anything is changed.
Frame: metres. x points east, y points north, z points up; the floor is near z = 0.
A heading is given in degrees clockwise from north, seen from above (0 north, 90 east, 180 south, 270 west), and as a \
unit vector (x, y) on the floor plan; to the right of a heading (x, y) is (y, -x).
A centre is that of the box along the axes, whose corners are given as from and to. A size is length x width x height \
of the upright box whose longest side lies at yaw degrees counterclockwise from the x axis.
The room's centre on the floor plan: (0.25, 1.00).

Pictures, and the cameras that took them
  picture 1: camera at (0.00, 0.00, 1.50), looks along (0.00, 1.00, 0.00), heading 0.0 (0.00, 1.00); shows desk \
(id 1), lamp (id 3), bed (id 4)

Objects named in the question
  desk (id 1): centre (1.00, 2.00, 0.30); from (0.80, 1.90, 0.00) to (1.20, 2.10, 0.60); size 0.40 x 0.20 x 0.60, \
yaw 0.0; stands on the floor
  lamp (id 3): centre (1.00, 2.00, 1.50); from (0.80, 1.90, 1.20) to (1.20, 2.10, 1.80); size 0.40 x 0.20 x 0.60, \
yaw 0.0; carried by tray (id 2) (standing on it)
  bed (id 4): centre (2.00, 3.00, 0.30); from (1.80, 2.90, 0.00) to (2.20, 3.10, 0.60); size 0.40 x 0.20 x 0.60, \
yaw 0.0; stands on the floor

What these carry, and what carries them
  tray (id 2): centre (1.00, 2.00, 0.90); from (0.80, 1.90, 0.60) to (1.20, 2.10, 1.20); size 0.40 x 0.20 x 0.60, \
yaw 0.0; carried by desk (id 1) (standing on it)
"""


def test_the_text_says_what_was_measured_and_what_carries_what() -> None:
    assert metadata_text(asked_of(moved()), ROOM) == MOVED_TEXT


def test_in_chinese_things_are_named_in_chinese_where_they_have_a_name() -> None:
    text = metadata_text(asked_of(moved(wording={"id": "hand", "language": "zh", "version": 1})), ROOM)
    assert "  灯 (id 3)：中心 (1.00, 2.00, 1.50)" in text
    assert "由tray (id 2)承载（放在其上）" in text
    assert "  第1张照片：相机位于 (0.00, 0.00, 1.50)" in text
    assert names_in(text) == {1: "书桌", 2: "tray", 3: "灯", 4: "bed"}


# -- what may not be there --------------------------------------------------------------------------------------------


def other_answers() -> dict[str, dict[str, Any]]:
    """The same question with all that hangs on the answer made another, a part at a time."""
    found = {}
    for name, change in {
        "relation": {"relation": {**moved()["relation"], "after": {"value": "left", "angle_deg": -90.0}}},
        "before": {"relation": {**moved()["relation"], "before": {"value": "front", "angle_deg": 0.0}}},
        "options": {"options": [{"text": "left", "value": "left", "tag": None}]},
        "twin": {"twin": {"value": "front", "question_uid": "x"}},
        "margins": {"margins": {"ambiguity": 0.31}},
        "motion": {"intervention": {**moved()["intervention"], "direction": "forward", "distance_m": 3.0,
                                    "vector_in_world": [0.0, 3.0, 0.0]}},
        "moved": {"intervention": {**moved()["intervention"], "moved": [1]}},
        "edges": {"attachment": [{"parent": 1, "child": 3, "kind": "affixed_to", "certainty": "certain"}]},
        "heading": {"frame": {**moved()["frame"], "heading_in_world": [1.0, 0.0]}},
        "roles": {"objects": [{**item, "roles": [*item["roles"], "moved"]} for item in moved()["objects"]]},
        "unnamed": {"objects": [*moved()["objects"], box(5, "clock", (-1.0, 2.0, 1.5), ["occluder"])]},
    }.items():  # fmt: skip
        found[name] = moved(**copy.deepcopy(change))
    return found


@pytest.mark.parametrize("part", sorted(other_answers()))
def test_what_hangs_on_the_answer_makes_no_difference(part: str) -> None:
    one, other = asked_of(moved()), asked_of(other_answers()[part])
    assert other_answers()[part] != moved()
    assert metadata_text(one, ROOM) == metadata_text(other, ROOM)
    assert np.array_equal(map_of(one, ROOM), map_of(other, ROOM))


def test_what_is_named_does_make_a_difference() -> None:
    asked = asked_of(moved(objects=moved()["objects"][:1]))
    assert metadata_text(asked, ROOM) != MOVED_TEXT
    assert not np.array_equal(map_of(asked, ROOM), map_of(asked_of(moved()), ROOM))


def test_attachment_is_not_told_where_it_is_asked() -> None:
    facts = facts_with(
        objects=[box(1, "desk", (1, 2, 0.3), ["mover"]), box(2, "tray", (1, 2, 0.9), ["carried"]),
                 box(3, "lamp", (1, 2, 1.5), ["carried", "option"]), box(4, "bed", (2, 3, 0.3), ["option"])],
        relation={"kind": "attachment", "target": 1, "reference": None, "after": None, "before": {"value": [3]}},
    )  # fmt: skip
    text = metadata_text(asked_of(facts), ROOM)
    assert names_in(text) == {1: "desk", 3: "lamp", 4: "bed"}
    assert not any(word in text for word in ("carried", "carry", "stands on", "tray"))


def test_which_picture_shows_what_is_not_told_where_that_is_asked() -> None:
    facts = facts_with(
        objects=[box(5, "clock", (-1, 2, 1.5), ["target"]), box(4, "bed", (2, 3, 0.3), ["occluder"])],
        relation={"kind": "occlusion", "target": 5, "reference": None, "after": None, "before": {"value": "occluded"}},
    )
    text = metadata_text(asked_of(facts), ROOM)
    assert "shows" not in text
    assert "bed" not in text
    assert "clock (id 5)" in text
    assert "hangs on a wall" in text


# -- who faces whom ---------------------------------------------------------------------------------------------------


def facing(kind: str | None, anchor: int = 1, faced: int | str = 4, own: dict | None = None) -> dict[str, Any]:
    change = None if kind is None else {**moved()["intervention"], "kind": kind, "frame": own}
    frame = {"kind": "object", "anchor": anchor, "facing": faced, "heading_in_world": [9.0, 9.0]}
    return moved(frame=frame, intervention=change)


def test_who_faces_whom_at_first_is_told() -> None:
    """From the desk at (1, 2) the bed at (2, 3) is in the northeast; from the lamp the camera at (0, 0) is at 206.6."""
    assert "  desk (id 1) faces bed (id 4): heading 45.0 (0.71, 0.71)\n" in metadata_text(asked_of(facing(None)), ROOM)
    own = {"kind": "object", "anchor": 1, "facing": "camera", "heading_in_world": [0.0, 0.0]}
    text = metadata_text(asked_of(facing("move", 3, "camera", own)), ROOM)
    assert "  desk (id 1) faces the camera of picture 1: heading 206.6 (-0.45, -0.89)\n" in text
    assert "  lamp (id 3) faces the camera of picture 1: heading 206.6 (-0.45, -0.89)\n" in text


def test_whom_something_faces_after_the_change_is_not_told() -> None:
    facts = facing("orbit")
    assert asked_of(facts).facings == ()
    assert "faces" not in metadata_text(asked_of(facts), ROOM)


# -- several pictures -------------------------------------------------------------------------------------------------


def chain() -> dict[str, Any]:
    looks = [(0.0, 1.0, "main_a"), (1.0, 0.0, "bridge"), (0.0, -1.0, "main_b")]
    views = [
        {**view(str(n), camera_looking(east, north, (0.5 * n, 0.0, 1.5))), "role": role}
        for n, (east, north, role) in enumerate(looks)
    ]
    return moved(views=views)


def test_each_main_picture_shows_its_group_and_bridges_are_places_only() -> None:
    text = metadata_text(asked_of(chain()), ROOM)
    lines = [line for line in text.splitlines() if line.startswith("  picture")]
    assert [line.partition(";")[2] for line in lines] == [" shows desk (id 1), lamp (id 3)", "", " shows bed (id 4)"]
    assert "heading 90.0 (1.00, 0.00)" in lines[1]
    assert "heading 180.0 (0.00, -1.00)" in lines[2]
    short = without_pictures(text, [2])
    assert [line for line in short.splitlines() if line.startswith("  picture")] == [lines[0], lines[2]]
    assert set(text.splitlines()) - set(short.splitlines()) == {lines[1]}


@pytest.mark.parametrize(
    "frame, change, group_b",
    [("camera", None, "reference"), ("object", None, "target"), ("object", "rotate_layout", "target"),
     ("object", "move", "reference"), ("object", "orbit", "reference"), ("world", "move", "reference")],
)  # fmt: skip
def test_groups_are_those_of_the_table_of_types(frame: str, change: str | None, group_b: str) -> None:
    facts = chain()
    facts["objects"] = [box(1, "desk", (1, 2, 0.3), ["target"]), box(4, "bed", (2, 3, 0.3), ["reference"])]
    anchor = 4 if group_b == "target" else 1
    facts["frame"] = {"kind": frame, "anchor": anchor, "facing": 5, "heading_in_world": [0, 1]}
    facts["intervention"] = None if change is None else {"kind": change}
    shown = {picture.role: picture.shows for picture in asked_of(facts).pictures}
    assert shown == {"main_a": (4,), "bridge": (), "main_b": (1,)} if group_b == "target" else {
        "main_a": (1,), "bridge": (), "main_b": (4,)
    }  # fmt: skip


# -- map --------------------------------------------------------------------------------------------------------------


def test_cameras_and_boxes_are_where_they_are() -> None:
    """40 pixels a metre; the map's west edge is at x = -2, its north edge at y = 4."""
    pixels = map_of(asked_of(moved()), ROOM).astype(int)
    changed = (pixels != 200).any(axis=2)
    assert tuple(pixels[160 + 5, 80]) == (150, 0, 0)  # the disc of the camera at (0, 0)
    assert changed[160 - 18, 80 - 8 : 80 + 8].any()  # its wedge goes north
    assert not changed[160 + 14 :, :].any()  # and not south
    assert tuple(pixels[40 - 4, 160]) == (0, 158, 115)  # the third colour, at the bed's north side (2, 3.1)
    assert not changed[:, :65].any()  # neither the clock, which is not named, nor anything else in the west


def test_bridges_are_small_and_hollow() -> None:
    pixels = map_of(asked_of(chain()), ROOM).astype(int)
    assert tuple(pixels[160, 100]) == (255, 255, 255)
    assert tuple(pixels[160 + 5, 80]) == tuple(pixels[160 + 5, 120]) == (150, 0, 0)


def test_a_camera_outside_the_map_is_drawn_at_its_border() -> None:
    facts = moved(views=[view("120", camera_looking(0.0, 1.0, (9.0, 0.0, 1.5)))])
    assert tuple(map_of(asked_of(facts), ROOM)[160 + 5, 190]) == (150, 0, 0)


def test_a_survey_is_read_as_it_was_written() -> None:
    again = Survey.from_parts(ROOM.parts())
    assert (again.objects, again.frame, again.room_center, again.is_aligned) == (
        ROOM.objects, ROOM.frame, ROOM.room_center, True
    )  # fmt: skip
    assert np.array_equal(again.canvas, ROOM.canvas)
    assert again.parts() == ROOM.parts()
    assert Image.open(io.BytesIO(ROOM.parts()["/map"])).size == (200, 180)


def test_a_scan_without_north_says_so() -> None:
    crooked = Survey(ROOM.objects, False, None, ROOM.frame, ROOM.canvas)
    text = metadata_text(Asked("en", (1,), (), (), True), crooked)
    assert "Where north is is not known" in text
    assert "room's centre" not in text
