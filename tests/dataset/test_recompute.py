"""Answers computed again, against tables written by hand and rooms laid out from their answers."""

from __future__ import annotations

import numpy as np
import pytest
from handmade import COMPASS, NORTHWARD, WORDS, box, camera_looking, facts_with, questions, view
from hypothesis import given
from hypothesis import strategies as st

from spacecast.dataset import recompute
from spacecast.dataset.recompute import (
    angle_deg,
    apply,
    as_stated,
    carried_by,
    centers,
    compass_of,
    direction_of,
    directions,
    distance_bin,
    letters_of,
    occlusion_state,
    pairwise_state,
    solve,
)
from spacecast.errors import InputError

NORTH, EAST = np.array([0.0, 1.0]), np.array([1.0, 0.0])


def facts_of_direction(kind: str, target, reference, *, camera=(0.0, 1.0), **more):
    frame = {"kind": kind, "anchor": None, "facing": None, "heading_in_world": [0, 1], **more.pop("frame", {})}
    return facts_with(
        objects=[box(1, "bed", reference), box(2, "chair", target), *more.pop("others", [])],
        views=[view("0", camera_looking(*camera))],
        binding_view="0",
        frame=frame,
        relation={"kind": "direction", "target": 2, "reference": 1, "before": {}, "after": {}},
        **more,
    )


@pytest.mark.parametrize(
    ("looking", "target", "word"),
    [
        ((1.0, 0.0), (0.0, 2.0), "left"),  # looks east; north is left
        ((1.0, 0.0), (2.0, 0.0), "front"),
        ((1.0, 0.0), (0.0, -2.0), "right"),
        ((1.0, 0.0), (-2.0, 0.0), "back"),
        ((1.0, 0.0), (2.0, 2.0), "front-left"),
        ((0.0, -1.0), (1.0, 0.0), "left"),  # looks south; east is left
        ((0.0, -1.0), (-1.0, -1.0), "front-right"),
        ((-1.0, 0.0), (0.0, 1.0), "right"),  # looks west; north is right
        ((-1.0, 0.0), (1.0, -1.0), "back-left"),
        ((0.0, 1.0), (-1.0, 1.0), "front-left"),
    ],
)
def test_camera_directions_by_hand(looking, target, word) -> None:
    facts = facts_of_direction("camera", (*target, 0.3), (0.0, 0.0, 1.2), camera=looking)
    assert solve(facts).answer == word


@pytest.mark.parametrize(("word", "way"), list(zip(COMPASS, NORTHWARD.values(), strict=True)))
def test_world_directions_by_hand(word, way) -> None:
    facts = facts_of_direction("world", (2 * way[0], 2 * way[1], 0.0), (0.0, 0.0, 0.0), camera=(1.0, 0.0))
    assert solve(facts).answer == word


def test_object_frame_faces_what_it_faces() -> None:
    facts = facts_of_direction(
        "object", (0.0, 2.0, 0.0), (0.0, 0.0, 0.0), others=[box(3, "door", (-3.0, 0.0, 0.5))],
        frame={"anchor": 1, "facing": 3},
    )  # fmt: skip
    assert solve(facts).answer == "right"  # faces west, so north is right


def test_object_frame_that_faces_the_camera() -> None:
    facts = facts_of_direction("object", (2, 5, 0), (0, 5, 0), frame={"anchor": 1, "facing": "camera"})
    assert solve(facts).answer == "left"  # the camera stands south of the bed: facing south, east is left


@pytest.mark.parametrize("row", questions(scenes=2, seed=3), ids=lambda row: row.question_uid)
def test_rooms_laid_out_from_their_answers(row) -> None:
    facts = row.facts
    values = [option["value"] for option in facts["options"]]
    assert letters_of(row.option_labels, values, solve(facts).answer, kind=facts["relation"]["kind"]) == row.answer
    if row.task == "direction":
        found, before = directions(facts)[0], facts["relation"]["before"]
        assert abs((found.angle_deg - before["angle_deg"] + 180.0) % 360.0 - 180.0) < 1e-6
        assert found.ambiguity == pytest.approx(before["ambiguity"], abs=1e-6)


def test_no_answer_is_read() -> None:
    """Facts with every answer struck out are solved the same."""
    for row in questions(scenes=1, seed=1):
        facts, solved = row.facts, solve(row.facts)
        facts["relation"]["before"]["value"] = "struck out"
        facts["relation"]["before"]["carried"] = None
        for option in facts["options"]:
            option["tag"] = "other"
        assert solve(facts) == solved


angles = st.floats(-179.0, 179.0)


@given(angles, st.floats(-180.0, 180.0), st.floats(0.1, 10.0))
def test_angles_are_clockwise_from_forward(angle, heading, length) -> None:
    forward = np.array([np.sin(np.radians(heading)), np.cos(np.radians(heading))])
    way = np.radians(heading + angle)
    assert angle_deg(length * np.array([np.sin(way), np.cos(way)]), forward) == pytest.approx(angle, abs=1e-6)


@given(angles, angles)
def test_a_swap_gives_the_opposite_word(angle, heading) -> None:
    forward = np.array([np.sin(np.radians(heading)), np.cos(np.radians(heading))])
    vector = np.array([np.sin(np.radians(angle)), np.cos(np.radians(angle))])
    one, other = direction_of(vector, forward), direction_of(-vector, forward)
    if one.ambiguity < 0.999:
        assert WORDS.index(other.value) == (WORDS.index(one.value) + 4) % 8
        assert other.ambiguity == pytest.approx(one.ambiguity, abs=1e-6)


def test_straight_back_is_180_and_never_minus_180() -> None:
    assert direction_of(np.array([0.0, -1.0]), NORTH) == ("back", 180.0, 0.0)
    assert direction_of(np.array([-0.0, -1.0]), NORTH).angle_deg == 180.0


def test_ambiguity_is_the_share_of_the_way_to_the_border() -> None:
    for off, ambiguity in ((0.0, 0.0), (11.25, 0.5), (22.4, 22.4 / 22.5), (-11.25, 0.5)):
        way = np.radians(90.0 + off)
        found = direction_of(np.array([np.sin(way), np.cos(way)]), NORTH)
        assert (found.value, found.ambiguity) == ("right", pytest.approx(ambiguity))


@pytest.mark.parametrize(
    ("forward", "word"),
    [((0, 1), "north"), ((HALF := 0.7071067811865476, HALF), "northeast"), ((1, 0), "east"), ((0, -1), "south"),
     ((-1, 0), "west"), ((-0.3, 0.954), "north"), ((-0.5, 0.866), "northwest")],
)  # fmt: skip
def test_compass_of_a_camera(forward, word) -> None:
    assert compass_of(np.array(forward, float) / np.hypot(*forward)) == word


def test_a_reader_of_the_stated_heading_turns_by_its_error() -> None:
    """The camera looks 10 degrees east of north and is said to look north: what is seen turns 10 degrees back."""
    look = np.radians(10.0)
    facts = facts_of_direction("world", (0, 2, 0), (0, 0, 0), camera=(np.sin(look), np.cos(look)))
    facts["camera_compass"] = "north"
    found = as_stated(facts, np.array([0.0, 2.0, 0.0]))
    assert (found.value, found.angle_deg) == ("north", pytest.approx(-10.0))
    moved = as_stated(facts, np.array([0.0, 2.0, 0.0]), np.array([2.0, 0.0, 0.0]))  # a move in compass words is exact
    assert moved.angle_deg == pytest.approx(np.degrees(np.arctan2(2.0 - 2 * np.sin(look), 2 * np.cos(look))))


# -- attachment and interventions ---------------------------------------------------------------------------------


def edge(parent: int, child: int, certainty: str = "certain") -> dict:
    return {"parent": parent, "child": child, "kind": "supported_by", "certainty": certainty}


def test_what_is_carried_is_the_whole_certain_subtree() -> None:
    facts = {"attachment": [edge(1, 2), edge(2, 3), edge(3, 4), edge(1, 5, "possible"), edge(5, 6), edge(7, 1)]}
    assert carried_by(facts, 1) == {2, 3, 4}
    assert carried_by(facts, 2) == {3, 4}
    assert carried_by(facts, 7) == {1, 2, 3, 4}
    assert carried_by(facts, 4) == set()
    assert carried_by({"attachment": [edge(1, 2), edge(2, 1)]}, 1) == {2}  # a circle ends


def room() -> dict:
    """A table at (2, 0) with a cup on it, a chair at the origin, a lamp to the north."""
    return facts_with(
        objects=[box(1, "table", (2, 0, 0.4)), box(2, "cup", (2.2, 0.2, 0.9)), box(3, "chair", (0, 0, 0.5)),
                 box(4, "lamp", (0, 3, 0.5))],
        views=[view("0", camera_looking(1.0, 0.0, (-3.0, 0.0, 1.5)))],
        binding_view="0",
        attachment=[edge(1, 2)],
    )  # fmt: skip


CAMERA = {"kind": "camera", "anchor": None, "facing": None}
WORLD = {"kind": "world", "anchor": None, "facing": None}


@pytest.mark.parametrize(
    ("step", "table", "cup", "chair"),
    [
        ({"kind": "move", "object": 1, "direction": "forward", "distance_m": 1.0, "frame": CAMERA}, (3, 0), (3.2, 0.2),
        (0, 0)),
        ({"kind": "move", "object": 1, "direction": "left", "distance_m": 1.5, "frame": CAMERA}, (2, 1.5), (2.2, 1.7),
        (0, 0)),
        ({"kind": "move", "object": 1, "direction": "south", "distance_m": 2.0, "frame": WORLD}, (2, -2), (2.2, -1.8),
        (0, 0)),
        ({"kind": "move", "object": 2, "direction": "west", "distance_m": 1.0, "frame": WORLD}, (2, 0), (1.2, 0.2), (0,
        0)),
        # the table faces the camera, which is west of it: its forward is west
        ({"kind": "move", "object": 1, "direction": "forward", "distance_m": 0.5,
          "frame": {"kind": "object", "anchor": 1, "facing": "camera"}}, (1.5, 0), (1.7, 0.2), (0, 0)),
        ({"kind": "move", "object": 1, "direction": "right", "distance_m": 0.5,
          "frame": {"kind": "object", "anchor": 1, "facing": "camera"}}, (2, 0.5), (2.2, 0.7), (0, 0)),
        # clockwise from the east is the south; what is carried is displaced, not turned
        ({"kind": "orbit", "object": 1, "around": 3, "angle_deg": 90, "sense": "clockwise"}, (0, -2), (0.2, -1.8), (0,
        0)),
        ({"kind": "orbit", "object": 1, "around": 3, "angle_deg": 90, "sense": "counterclockwise"}, (0, 2), (0.2, 2.2),
        (0, 0)),
        ({"kind": "orbit", "object": 1, "around": 3, "angle_deg": 180, "sense": None}, (-2, 0), (-1.8, 0.2), (0, 0)),
        ({"kind": "spin", "object": 1, "angle_deg": 90, "sense": "clockwise"}, (2, 0), (2.2, -0.2), (0, 0)),
        ({"kind": "rotate_layout", "angle_deg": 90, "center_in_world": [1.0, 0.0]}, (1, -1), (1.2, -1.2), (1, 1)),
        ({"kind": "rotate_layout", "angle_deg": 270, "center_in_world": [0.0, 0.0]}, (0, 2), (-0.2, 2.2), (0, 0)),
        ({"kind": "sequence", "steps": [
            {"kind": "move", "object": 1, "direction": "north", "distance_m": 1.0, "frame": WORLD},
            {"kind": "orbit", "object": 1, "around": 3, "angle_deg": 180, "sense": None}]},
         (-2, -1), (-1.8, -0.8), (0, 0)),
    ],
)  # fmt: skip
def test_interventions_by_hand(step, table, cup, chair) -> None:
    facts = room()
    after = apply(facts, step, centers(facts))
    assert np.allclose([after[1][:2], after[2][:2], after[3][:2]], [table, cup, chair], atol=1e-9)
    assert [after[i][2] for i in (1, 2, 3)] == [0.4, pytest.approx(0.9), 0.5]


def test_removal_takes_what_is_carried() -> None:
    facts = room()
    assert sorted(apply(facts, {"kind": "remove", "object": 1}, centers(facts))) == [3, 4]


def test_an_observer_on_an_orbit_turns_to_face_its_middle() -> None:
    """The table goes round the chair from east to south and then faces north to it; the lamp is straight ahead."""
    facts = room() | {
        "frame": {"kind": "object", "anchor": 1, "facing": 3},
        "intervention": {"kind": "orbit", "object": 1, "around": 3, "angle_deg": 90, "sense": "clockwise"},
        "relation": {"kind": "direction", "target": 4, "reference": 1, "before": {}, "after": {}},
    }
    before, after = directions(facts)
    assert (before.value, after.value) == ("front-right", "front")  # before: faces west, the lamp is northwest


def test_a_facing_is_kept_through_a_rotation_of_the_layout() -> None:
    """The chair faces the table in the east and keeps to the east; the lamp goes from north to east of it."""
    facts = room() | {
        "frame": {"kind": "object", "anchor": 3, "facing": 1},
        "intervention": {"kind": "rotate_layout", "angle_deg": 90, "center_in_world": [0.0, 0.0]},
        "relation": {"kind": "direction", "target": 4, "reference": 3, "before": {}, "after": {}},
    }
    before, after = directions(facts)
    assert (before.value, after.value) == ("left", "front")


@pytest.mark.parametrize("turns", range(4))
def test_quarter_turns_of_the_scene(turns: int) -> None:
    """Camera and object answers stay; world answers turn with it."""
    for row in questions(scenes=1, seed=5):
        if row.task != "direction":
            continue
        facts = row.facts
        spun = {"kind": "rotate_layout", "angle_deg": 90 * turns, "center_in_world": [0.3, -0.7]}
        moved = apply(facts, spun, centers(facts))
        for item in facts["objects"]:
            item.update(box(item["id"], item["label"], moved[item["id"]]))
        matrix = recompute.matrix_of(facts["views"][0])
        matrix[:3, :] = np.stack([recompute.turned(column, 90 * turns) for column in matrix[:3].T], axis=1)
        facts["views"][0]["world_from_camera"] = matrix.reshape(-1).tolist()
        word = row.correct_values[0]
        expected = COMPASS[(COMPASS.index(word) + 2 * turns) % 8] if word in COMPASS else word
        assert solve(facts).answer == expected


# -- numbers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("distance_m", "value"),
    [(0.0, "very close"), (0.999, "very close"), (1.0, "close"), (1.999, "close"), (2.0, "moderate"), (3.3, "moderate"),
     (3.301, "far"), (9.0, "far")],
)  # fmt: skip
def test_distance_bins(distance_m, value) -> None:
    assert distance_bin({"distance_m": distance_m}) == value


def numbers(silhouette, blocked, opened, near=None):
    found = {"silhouette_px": silhouette, "blocked": blocked, "opened": opened}
    return found if near is None else {**found, "opened_near": near}


@pytest.mark.parametrize(
    ("found", "state"),
    [
        (numbers(400, 0.0, 0.0), "not occluded"), (numbers(5000, 0.0049, 0.0049), "not occluded"),
        (numbers(5000, 0.0299, 0.0049), "not occluded"), (numbers(5000, 0.5, 0.101), "occluded"),
        (numbers(400, 0.95, 0.9), "occluded"), (numbers(0, 1.0, 1.0), "not visible"), (numbers(400, 1.0, 1.0),
        "not visible"),
    ],
)  # fmt: skip
def test_occlusion_states(found, state) -> None:
    assert occlusion_state(found) == state


@pytest.mark.parametrize(
    "found",
    [
        numbers(399, 0.0, 0.0), numbers(5000, 0.03, 0.004), numbers(5000, 0.0051, 0.0051), numbers(5000, 0.5, 0.10),
        numbers(399, 0.5, 0.5), numbers(5000, 0.951, 0.9), numbers(5000, 0.5, 0.2, near=0.05), numbers(399, 1.0, 1.0),
    ],
)  # fmt: skip
def test_grey_zones_have_no_state(found) -> None:
    with pytest.raises(InputError, match="neither"):
        occlusion_state(found)


def pair_numbers(query, reference, px=(1000, 1000)):
    names = ("query_hidden", "reference_hidden", "query_silhouette_px", "reference_silhouette_px")
    return dict(zip(names, (query, reference, *px), strict=True))


@pytest.mark.parametrize(
    ("query", "reference", "state"),
    [
        (0.0, 0.0, "neither"), (0.0049, 0.0, "neither"), (0.10, 0.0, "query_occluded"), (0.0, 0.3,
        "reference_occluded"), (0.2, 0.09, "query_occluded"),
    ],
)  # fmt: skip
def test_pairwise_states(query, reference, state) -> None:
    assert pairwise_state(pair_numbers(query, reference)) == state


@pytest.mark.parametrize(
    ("query", "reference", "px"),
    [(0.05, 0.0, (1000, 1000)), (0.3, 0.2, (1000, 1000)), (0.0, 0.005, (1000, 1000)), (0.0, 0.0, (399, 1000)),
     (0.3, 0.0, (1000, 399))],
)  # fmt: skip
def test_pairwise_grey_zones(query, reference, px) -> None:
    with pytest.raises(InputError, match="pairwise"):
        pairwise_state(pair_numbers(query, reference, px))


@pytest.mark.parametrize(("height", "px"), [(480, 400), (360, 300), (640, 534)])
def test_the_least_silhouette_grows_with_the_mask(height, px) -> None:
    assert pairwise_state(pair_numbers(0.0, 0.0, (px, px)), height / 480.0) == "neither"
    with pytest.raises(InputError):
        pairwise_state(pair_numbers(0.0, 0.0, (px - 1, px)), height / 480.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"binding_view": "9"}, "binding_view is '9'"),
        ({"frame": {"kind": "camara"}}, "frame.kind is 'camara'"),
        ({"relation": {"kind": "nearness"}}, "relation.kind is 'nearness'"),
        ({"relation": {"kind": "direction", "target": 77, "reference": 1}}, "object 77"),
        ({"frame": {"kind": "object", "anchor": 1, "facing": 55}}, "faces 55"),
        ({"intervention": {"kind": "melt", "object": 1}}, "'melt'"),
        ({"intervention": {"kind": "move", "object": 1, "direction": "up", "distance_m": 1, "frame": WORLD}}, "'up'"),
    ],
)
def test_facts_that_do_not_hold_together_say_what(change, message) -> None:
    facts = facts_of_direction("camera", (2, 0, 0), (0, 0, 0)) | change
    with pytest.raises(InputError, match=message):
        solve(facts)
