"""Chains of pictures: a good one in a room of boxes passes, and each fault, planted alone, is found alone."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from chain_rooms import ROOM, TEXT, left_of_the_lamp, room, row_of, view_entry, views_of
from hand_scans import PIXELS, entry
from handmade import facts_with, options_of

from spacecast.dataset import recompute
from spacecast.dataset.chain_text import said_of
from spacecast.dataset.remeasure import Remeasure
from spacecast.dataset.verify import row_problems
from spacecast.errors import InputError
from spacecast.frames import Transform
from spacecast.scan import View


@pytest.fixture(scope="module")
def scan():
    return room()


@pytest.fixture(scope="module")
def measure(scan) -> Remeasure:
    return Remeasure(scan)


def found_in_facts(facts: dict[str, Any], **more: Any) -> set[str]:
    return {finding.kind for finding in row_problems(row_of(facts, **more))}


def copy(facts: dict[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps(facts))


# -- the facts and the text ---------------------------------------------------------------------------------------


def test_a_good_chain_has_no_problems(scan, measure) -> None:
    facts = left_of_the_lamp(scan)
    assert row_problems(row_of(facts)) == []
    facts["margins"]["weakest_link_share"] = min(
        min(measure.chains.overlap(*ends).share for ends in (pair, pair[::-1])) for pair in (("a", "m"), ("m", "b"))
    )
    assert measure.row_problems(row_of(facts)) == []


def move_bridge(east: float):
    def edit(facts) -> None:
        facts["views"][1]["world_from_camera"][3] = east

    return edit


def set_roles(*roles: str):
    def edit(facts) -> None:
        for view, role in zip(facts["views"], roles, strict=True):
            view["role"] = role

    return edit


def many_bridges(count: int):
    """Bridges on the way, each nearer to camera B."""

    def edit(facts) -> None:
        bridge = facts["views"][1]
        bridges = []
        for number in range(count):
            pose = [*bridge["world_from_camera"]]
            pose[3] = -2.9 + 0.5 * number
            bridges.append({**bridge, "name": f"m{number}", "world_from_camera": pose})
        facts["views"][1:2] = bridges

    return edit


@pytest.mark.parametrize(
    ("edit", "kinds"),
    [
        (lambda f: None, set()),
        (move_bridge(-2.9), set()),
        (move_bridge(-3.0), {"views"}),  # no nearer than main A
        (move_bridge(-4.0), {"views"}),
        (move_bridge(9.5), {"views"}),  # beyond B, and farther from it
        (set_roles("main_a", "main_b", "bridge"), {"views"}),
        (set_roles("main_b", "bridge", "main_a"), {"views"}),
        (set_roles("image", "image", "image"), {"views"}),
        (lambda f: f.update(binding_view="b"), {"views"}),
        (lambda f: f.update(binding_view=None), {"views"}),
        (lambda f: f["margins"].clear(), {"margins"}),
        (lambda f: f["objects"][0].update(roles=["reference"]), {"views", "text"}),  # A has no object
        (lambda f: f["objects"].append(entry(3, ROOM[3], ["anchor"])), {"views", "text"}),  # in neither
        (lambda f: f["objects"].append(entry(3, ROOM[3], ["moved"])), set()),
        (lambda f: f.update(camera_compass="south"), {"facts", "text"}),
    ],
)  # fmt: skip
def test_a_planted_fault_is_found_and_nothing_else(scan, edit, kinds) -> None:
    facts = copy(left_of_the_lamp(scan))
    edit(facts)
    assert found_in_facts(facts) == kinds


def test_at_most_six_bridges(scan) -> None:
    for count, kinds in ((6, set()), (7, {"views"})):
        facts = copy(left_of_the_lamp(scan))
        many_bridges(count)(facts)
        words = {6: "eight", 7: "nine"}[count]
        text = TEXT.replace("three pictures", f"{words} pictures").replace("picture 3", f"picture {count + 2}")
        assert found_in_facts(facts, text=text) - {"text"} == kinds


def test_where_the_main_cameras_are_near_progress_is_the_angle(scan) -> None:
    """Main B looks east, main A north: a bridge looks between them, wherever it stands."""

    def turned(name: str, role: str, clockwise_deg: float, east: float) -> dict[str, Any]:
        view = view_entry(scan, "a", role)
        turn = np.radians(clockwise_deg)
        right, ahead = (np.cos(turn), -np.sin(turn)), (np.sin(turn), np.cos(turn))
        pose = [right[0], 0.0, ahead[0], east, right[1], 0.0, ahead[1], -2.0, 0.0, -1.0, 0.0, 1.2, 0.0, 0.0, 0.0, 1.0]
        return {**view, "name": name, "world_from_camera": pose}

    for clockwise_deg, east, kinds in ((40.0, -4.0, set()), (40.0, -2.9, set()), (-5.0, -2.9, {"views"})):
        facts = copy(left_of_the_lamp(scan))
        facts["views"] = [
            turned("a", "main_a", 0.0, -3.0),
            turned("m", "bridge", clockwise_deg, east),
            turned("b", "main_b", 80.0, -2.7),
        ]
        assert found_in_facts(facts) == kinds, (clockwise_deg, east)


def test_one_picture_has_the_role_image(scan) -> None:
    facts = copy(left_of_the_lamp(scan, "far"))
    text = "Where is the desk from the lamp?"
    assert found_in_facts(facts, text=text) == set()
    facts["views"][0]["role"] = "main_a"
    assert found_in_facts(facts, text=text) == {"views"}


def test_types_of_one_picture_have_one(scan) -> None:
    numbers = {"value": "not occluded", "silhouette_px": 3000, "visible_px": 3000, "blocked": 0.0, "opened": 0.0}
    facts = facts_with(
        objects=[entry(1, ROOM[1], ["target"])], views=views_of(scan, "a"), binding_view="a",
        relation={"kind": "occlusion", "target": 1, "reference": None, "after": None, "before": numbers},
        options=options_of({v: v for v in ("not occluded", "occluded")}, ["not occluded"], np.random.default_rng(0)),
    )  # fmt: skip
    assert found_in_facts(facts, code="occlusion", text="Is the desk hidden?") == set()
    facts["views"] = views_of(scan, "a m b")
    assert found_in_facts(facts, code="occlusion", text="Is the desk hidden?") == {"views"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The desk is in picture 1, the lamp in picture 3.", "The desk is in picture 3, the lamp in picture 1."),
        ("The desk is in picture 1, the lamp in picture 3.", "The lamp is in picture 1, the desk in picture 3."),
        ("The desk is in picture 1, the lamp in picture 3.", "The desk is in picture 1, the lamp in picture 2."),
        ("The desk is in picture 1, the lamp in picture 3.", ""),
        ("three pictures", "four pictures"),
        ("three pictures", "pictures"),
        ("The camera is the one that took picture 1.", ""),
        ("The camera is the one that took picture 1.", "The camera is the one that took picture 2."),
    ],
)
def test_a_text_that_says_otherwise_is_found(scan, old, new) -> None:
    assert TEXT.count(old) == 1
    assert found_in_facts(left_of_the_lamp(scan), text=TEXT.replace(old, new)) == {"text"}


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("The desk and the lamp are in picture 1, the picture in picture 4.", {1: 1, 2: 1, 3: 4}),
        ("Look for the picture in picture 1 and for the desk and the lamp in picture 4.", {1: 4, 2: 4, 3: 1}),
        ("In picture 1 you see the desk; to see the lamp and the picture, look in picture 4.", {1: 1, 2: 4, 3: 4}),
        ("In picture 4 is the desk, and in picture 1 are the lamp and the picture.", {1: 4, 2: 1, 3: 1}),
        ("The desk, the picture and the lamp are in picture 1; picture 4 comes last.", {}),
        ("The desk is in picture 1. The lamp and the picture are in picture 4.", {}),  # not in one sentence
        ("The desk and the lamp are in picture 1, the picture in picture 3.", {}),  # not the last
    ],
)  # fmt: skip
def test_places_are_read_from_a_text(text, places) -> None:
    assert dict(said_of(text, {1: "desk", 2: "lamp", 3: "picture"}, 4).places) == places


@pytest.mark.parametrize(
    "text",
    [
        "这三张照片拍的是同一个房间。书桌在第1张照片里，台灯在第3张照片里。相机指第1张照片的相机。",
        "请在第1张照片里找书桌，在第3张照片里找台灯。共三张照片，都以第1张照片的相机为准。",
        "共拍了三张照片。第1张照片里可以看到书桌；要看台灯，请看第3张照片。相机是第1张的。",
    ],
)
def test_places_are_read_from_a_chinese_text(text) -> None:
    said = said_of(text, {1: "书桌", 2: "台灯"}, 3)
    assert (dict(said.places), said.counts, said.numbers, said.afterwards) == ({1: 1, 2: 3}, {3}, {1, 3}, {1})


IN_CHINESE = (
    "这三张照片拍的是同一个房间。书桌在第1张照片里，台灯在第3张照片里。相机指第1张照片的相机。书桌在台灯的哪个方向？"
)


def in_chinese(scan, **names: str) -> dict[str, Any]:
    facts = left_of_the_lamp(scan)
    facts["wording"] = {"id": "hand", "language": "zh", "version": 1}
    for item in facts["objects"]:
        item["label_zh"] = names.get(item["label"], {"desk": "书桌", "lamp": "台灯"}[item["label"]])
    return facts


@pytest.mark.parametrize(("old", "new"), [("书桌在第1张", "书桌在第3张"), ("台灯", "吊灯")])
def test_a_chinese_text_that_says_otherwise_is_found(scan, old, new) -> None:
    assert found_in_facts(in_chinese(scan), text=IN_CHINESE) == set()
    assert found_in_facts(in_chinese(scan), text=IN_CHINESE.replace(old, new)) == {"text"}


def test_a_chinese_name_that_is_not_that_of_the_scan_is_found(scan) -> None:
    named = {1: "书桌", 2: "台灯"}
    instances = {i: replace(item, label_zh=named.get(i)) for i, item in scan.instances.items()}
    chinese = Remeasure(replace(scan, instances=instances))
    assert "scan" not in problems(chinese, in_chinese(scan), text=IN_CHINESE)
    assert problems(chinese, in_chinese(scan, lamp="吊灯"), text=IN_CHINESE.replace("台灯", "吊灯")) == {"scan"}


# -- the scan -----------------------------------------------------------------------------------------------------


def problems(measure: Remeasure, facts: dict[str, Any], **more: Any) -> set[str]:
    """Kinds of problems, the weakest share being as measured."""
    names = [view["name"] for view in facts["views"]]
    pairs = [pair for one, other in pairwise(names) for pair in ((one, other), (other, one))]
    facts["margins"]["weakest_link_share"] = min(measure.chains.overlap(*pair).share for pair in pairs)
    return {kind for kind, _ in measure.row_problems(row_of(facts, **more))}


def test_overlaps_are_as_on_paper(measure) -> None:
    """Camera a sees 6.4 m of the wall, of which m, 3 m to the east, sees 3.4 m; and itself it sees whole."""
    assert measure.chains.overlap("a", "a").share == pytest.approx(1.0, abs=0.005)
    there, back = measure.chains.overlap("a", "m").share, measure.chains.overlap("m", "a").share
    assert there == pytest.approx(back, abs=0.02)
    assert 0.3 < there < 3.4 / 6.4 + 0.02
    assert measure.chains.overlap("a", "b").share < 0.05
    assert measure.chains.overlap("m", "w").share == 0.0


@pytest.mark.parametrize(
    ("names", "kinds"),
    [
        ("a m b", set()),
        ("a b", {"chain"}),  # a bridge is missing
        ("a far b", {"chain"}),  # a bridge that shows both
        ("a w b", {"chain"}),  # through the wall
        ("b m a", {"chain", "names"}),  # exchanged: each shows the other's object, and not its own
        ("far m b", {"chain"}),  # main A shows what belongs to B
        ("a m far", {"chain"}),
        ("m b", {"names"}),  # main A does not show what belongs to it
    ],
)
def test_a_chain_that_shows_what_it_should_not_is_found(scan, measure, names, kinds) -> None:
    assert problems(measure, left_of_the_lamp(scan, names)) == kinds


def test_another_share_of_the_weakest_link_is_found(scan, measure) -> None:
    facts = left_of_the_lamp(scan)
    assert problems(measure, facts) == set()
    facts["margins"]["weakest_link_share"] += 0.05
    assert {kind for kind, _ in measure.row_problems(row_of(facts))} == {"margins"}


def test_a_wall_that_a_view_looks_along_is_measured_both_ways() -> None:
    """0.1 m beside it half a pixel is metres of the wall: points land where they do, or in the middle of the pixel."""
    scan = room({5: ("tapestry", (-6.0, 2.98, 0.2), (-1.0, 3.0, 2.8))})
    along = View("along", Transform.looking_at((-6.5, 2.9, 1.6), (-5.5, 2.9, 1.6)), PIXELS)
    chains = Remeasure(replace(scan, views={**scan.views, "along": along})).chains
    pairs = [("a", "along"), ("along", "a")]
    there = min(chains.overlap(*pair).share for pair in pairs)
    in_pixels = min(chains.overlap(*pair, in_pixels=True).share for pair in pairs)
    assert there > in_pixels + 0.05

    def found(share: float) -> set[str]:
        facts = left_of_the_lamp(scan, "a m")
        facts["views"][1]["name"] = "along"
        facts["margins"]["weakest_link_share"] = share
        return {kind for kind, _ in chains.problems(facts, None)}

    assert found(there) == found(in_pixels) == set()
    assert found(in_pixels - 0.05) == found(there + 0.05) == {"margins"}


def test_another_lamp_that_a_bridge_alone_shows_is_found() -> None:
    scan = room({5: ("lamp", (-0.3, 1.0, 0.0), (0.3, 1.4, 0.5))})
    assert problems(Remeasure(scan), left_of_the_lamp(scan)) == {"names"}


def test_bare_walls_are_no_link() -> None:
    """Without couch and dresser, what the views have in common is wall and floor."""
    scan = room({3: ("wall", *ROOM[3][1:], {"structure", "wall"}), 4: ("wall", *ROOM[4][1:], {"structure", "wall"})})
    assert problems(Remeasure(scan), left_of_the_lamp(scan)) == {"chain"}


def test_the_two_sides_of_a_board_are_not_one_surface() -> None:
    """5 cm thick, and less than what a point may be off; the cameras look at it from both sides."""
    thin = room({91: ("wall", (-7.0, 3.0, 0.0), (7.0, 3.05, 3.0), {"structure", "wall"})})
    chains = Remeasure(thin).chains
    assert chains.overlap("m", "w").share < 0.01
    assert chains.overlap("w", "m").share < 0.01
    assert chains.overlap("a", "m").share > 0.3


def test_the_sensor_is_believed_and_not_the_mesh(scan) -> None:
    sight = Remeasure(scan).now.sight("m")
    seen = np.where(np.isfinite(sight.depth), sight.depth, 0.0).astype(np.float32)
    for load, kinds in (
        (lambda: seen, set()),
        (lambda: np.zeros_like(seen), set()),  # no reading: the mesh
        (lambda: seen * np.float32(0.5), {"chain"}),
    ):
        sensed = room(m=load)
        assert problems(Remeasure(sensed), left_of_the_lamp(sensed)) == kinds


# -- a move into main view B --------------------------------------------------------------------------------------


def into_view(scan, **before: Any) -> dict[str, Any]:
    """The desk is moved 2.5 m to the right, and comes into main B, camera ``m``, beside the dresser."""
    facts = facts_with(
        objects=[entry(1, ROOM[1], ["mover", "query"]), entry(4, ROOM[4], ["reference"])],
        views=views_of(scan, "a m"), binding_view="a",
        intervention={
            "kind": "move", "object": 1, "moved": [1], "direction": "right", "distance_m": 2.5,
            "vector_in_world": [2.5, 0.0, 0.0],
            "frame": {"kind": "camera", "anchor": None, "facing": None, "heading_in_world": [0.0, 1.0]},
        },
        relation={
            "kind": "pairwise_occlusion", "target": 1, "reference": 4,
            "before": {"value": "neither", "query_hidden": 0.0, "reference_hidden": 0.0, "query_silhouette_px": 0,
                       "reference_silhouette_px": 0} | before,
            "after": {},
        },
        options=options_of(
            {"query_occluded": "the desk is occluded by the dresser",
             "reference_occluded": "the dresser is occluded by the desk", "neither": "neither occludes the other"},
            ["neither"], np.random.default_rng(0), {},
        ),
        twin={"value": "neither", "question_uid": None},
    )  # fmt: skip
    return facts


MOVE_TEXT = (
    "You see two pictures of one room. The desk is in picture 1, the dresser in picture 2. The desk is moved 2.5 m to "
    "the right, as seen by the camera of picture 1. Does one hide the other then, as seen from picture 2?"
)


def measured(measure: Remeasure, facts: dict[str, Any]) -> dict[str, Any]:
    for moment in ("before", "after"):
        pair = measure._shadows(facts, moment).pairs("m", 1, 4)
        facts["relation"][moment] |= {
            "value": "neither", "query_hidden": pair[0].covered_by_other, "reference_hidden": pair[1].covered_by_other,
            "query_silhouette_px": pair[0].silhouette_px, "reference_silhouette_px": pair[1].silhouette_px,
        }  # fmt: skip
    return facts


def test_a_move_into_main_view_b(scan, measure) -> None:
    facts = measured(measure, into_view(scan))
    assert facts["relation"]["before"]["query_silhouette_px"] == 0
    assert facts["relation"]["after"]["query_silhouette_px"] > 10_000
    assert problems(measure, facts, code="object_move_occlusion", text=MOVE_TEXT, unchanged=True) == set()
    assert found_in_facts(facts, code="object_move_occlusion", text=MOVE_TEXT, unchanged=True) == set()
    unsaid = MOVE_TEXT.replace(", as seen from picture 2", "")
    assert found_in_facts(facts, code="object_move_occlusion", text=unsaid, unchanged=True) == {"text"}


@pytest.mark.parametrize(
    ("before", "kinds"),
    [({"value": "query_occluded"}, {"answer", "twin", "columns"}), ({"reference_hidden": 0.02}, {"facts"})],
)
def test_before_it_neither_hides_the_other(scan, measure, before, kinds) -> None:
    facts = measured(measure, into_view(scan))
    facts["margins"]["weakest_link_share"] = 0.4
    facts["relation"]["before"] |= before
    assert found_in_facts(facts, code="object_move_occlusion", text=MOVE_TEXT, unchanged=True) == kinds


def test_the_asked_view_is_main_b(scan) -> None:
    facts = into_view(scan)
    assert recompute.asked_view(facts)["name"] == "m"
    hidden = {"query_hidden": 1.0, "reference_hidden": 0.0}
    with pytest.raises(InputError, match="main view B"):
        recompute.solve({**facts, "relation": {**facts["relation"], "before": hidden}})
