from __future__ import annotations

import doctest
import importlib
import pickle
from dataclasses import replace
from types import SimpleNamespace
from typing import NamedTuple

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spacecast.errors import FrameError, RelationError, UnknownObjectError
from spacecast.frames import COMPASS, SECTORS, Heading, Transform, camera_heading, world_heading
from spacecast.relations import Answer, direction
from spacecast.relations.direction import (
    SETTINGS,
    attached_pairs,
    compass_rounding,
    direction_as_stated,
    direction_between,
    direction_in,
    headings_of,
    stated_compass,
)
from spacecast.scan import Instance
from spacecast.scene import LabelledBox, Scene, SceneObject, Shape
from spacecast.testing import angles_deg, assert_angle_close, opposite, points, upright_cameras, yaw_turns


class Pose(NamedTuple):
    world_from_camera: Transform


def camera(looks: tuple, at: tuple = (0.0, 0.0, 1.5)) -> Pose:
    return Pose(Transform.looking_at(at, np.add(at, looks)))


EAST = camera((1.0, 0.0, 0.0), (-3.0, 0.0, 1.5))
DOWN = camera((0.2, 0.0, -1.0))


def cubes(*centers: tuple, side: float = 0.2, is_aligned: bool = True) -> Scene:
    """Cubes with the ids 1, 2, ... and labels a, b, ..., resting on nothing."""
    boxes = [LabelledBox(i + 1, "abcdefgh"[i], center, [side] * 3) for i, center in enumerate(centers)]
    return Scene.from_boxes(boxes, is_aligned=is_aligned)


def of_meshes(*vertices: np.ndarray) -> Scene:
    objects = {}
    for i, points_in_world in enumerate(vertices):
        faces = np.array([[0, 1, 2]], dtype=np.int32)
        shape = Shape.from_mesh(points_in_world, faces)
        place = Transform.identity(target="world", source="object")
        objects[i + 1] = SceneObject(Instance(i + 1, "thing", f"thing {i + 1}"), shape, place)
    return Scene("meshes", "hand", True, objects)


def placed(scene: Scene, place: Transform) -> Scene:
    """The scene with everything moved as a whole, without attachments."""
    moved = {i: replace(o, world_from_object=place @ o.world_from_object) for i, o in scene.objects.items()}
    return with_edges(Scene(scene.scene_id, scene.dataset, scene.is_aligned, moved))


def with_edges(scene: Scene, *edges: tuple[int, int, str]) -> Scene:
    """The scene with an attachment graph of our own."""
    graph = nx.DiGraph()
    graph.add_nodes_from(scene.objects)
    for parent, child, certainty in edges:
        graph.add_edge(parent, child, kind="supported_by", certainty=certainty, score=1.0)
    scene.__dict__["_attachment"] = SimpleNamespace(graph=graph, certain=graph, supports={})
    return scene


# --- written by hand -------------------------------------------------------------------------------------------------

# The reference at the origin; a target 2 m away.
AROUND = [
    # target, seen by a camera that looks east, compass
    ((2.0, 0.0), "front", "east"),
    ((1.5, 1.5), "front-left", "northeast"),
    ((0.0, 2.0), "left", "north"),
    ((-1.5, 1.5), "back-left", "northwest"),
    ((-2.0, 0.0), "back", "west"),
    ((-1.5, -1.5), "back-right", "southwest"),
    ((0.0, -2.0), "right", "south"),
    ((1.5, -1.5), "front-right", "southeast"),
]


@pytest.mark.parametrize("at, in_camera, in_world", AROUND)
def test_eight_directions(at: tuple, in_camera: str, in_world: str) -> None:
    scene = cubes((0.0, 0.0, 0.5), (*at, 1.0))
    seen = direction(scene, "b", reference="a", frame="camera", view=EAST)
    told = direction(scene, "b", reference="a")
    assert (seen.value, told.value) == (in_camera, in_world)
    assert seen.certain
    assert told.certain
    assert seen.numbers["ambiguity"] == pytest.approx(0.0, abs=1e-5)
    assert seen.margins["ambiguity"] == seen.numbers["ambiguity"]
    assert seen.numbers["heading_in_world"] == pytest.approx((1.0, 0.0))
    assert told.numbers["heading_in_world"] == (0.0, 1.0)


@pytest.mark.parametrize(
    "anchor, faced, target, value",
    [
        # One who stands at the origin and faces north:
        ((0, 0), (0, 2), (1, 0), "right"),
        ((0, 0), (0, 2), (-1, 0), "left"),
        ((0, 0), (0, 2), (0, -1), "back"),
        ((0, 0), (0, 2), (0, 3), "front"),
        ((0, 0), (0, 2), (2, 2), "front-right"),
        # faces east:
        ((1, 1), (3, 1), (1, 3), "left"),
        ((1, 1), (3, 1), (2, 0), "front-right"),
        # faces southwest:
        ((0, 0), (-1, -1), (-1, 1), "right"),
        ((0, 0), (-1, -1), (0, -2), "front-left"),
        ((0, 0), (-1, -1), (1, 1), "back"),
    ],
)
def test_facing_another_object(anchor: tuple, faced: tuple, target: tuple, value: str) -> None:
    scene = cubes((*anchor, 0.5), (*faced, 0.7), (*target, 0.2))
    answer = direction(scene, "c", reference="a", frame="object", facing="b")
    assert answer.value == value
    assert answer.certain


def test_facing_the_camera_turns_left_and_right_round() -> None:
    # The camera stands in the west and looks east; the anchor looks back at it. What lies north is left for the camera
    # and right for the anchor.
    scene = cubes((0, 0, 0.5), (0, 2, 0.5))
    assert direction(scene, 2, reference=1, frame="camera", view=EAST).value == "left"
    assert direction(scene, 2, reference=1, frame="object", facing="camera", view=EAST).value == "right"


def test_height_is_no_matter() -> None:
    for z in (-1.0, 0.5, 9.0):
        assert direction(cubes((0, 0, 0.5), (2, 0, z)), 2, reference=1).value == "east"


def test_names_and_ids_mean_the_same() -> None:
    scene = cubes((0, 0, 0.5), (2, 0, 0.5))
    assert direction(scene, "b", reference="a") == direction(scene, 2, reference=1)


# --- what stands against it ------------------------------------------------------------------------------------------


def at_angle(clockwise_deg: float, length_m: float = 2.0) -> tuple[float, float, float]:
    angle = np.radians(clockwise_deg)
    return (length_m * np.sin(angle), length_m * np.cos(angle), 0.5)


@pytest.mark.parametrize("sector", range(8))
@pytest.mark.parametrize("share, certain", [(0.0, True), (0.69, True), (0.71, False), (-0.69, True), (-0.71, False)])
def test_ambiguity(sector: int, share: float, certain: bool) -> None:
    answer = direction(cubes((0, 0, 0.5), at_angle(45.0 * sector + 22.5 * share)), 2, reference=1)
    assert answer.value == COMPASS[sector]
    assert answer.numbers["ambiguity"] == pytest.approx(abs(share), abs=1e-5)
    assert answer.reasons == (() if certain else ("ambiguous",))


@pytest.mark.parametrize("distance_m, certain", [(0.51, True), (0.49, False)])
def test_centers_that_are_close_on_the_floor_plan(distance_m: float, certain: bool) -> None:
    answer = direction(cubes((0, 0, 0.5), (distance_m, 0, 3.0)), 2, reference=1)
    assert answer.value == "east"
    assert answer.margins["center_distance_m"] == pytest.approx(distance_m, abs=1e-6)
    assert answer.reasons == (() if certain else ("centers_close",))


@pytest.mark.parametrize("gap_m, touches", [(0.01, False), (0.0, True), (-0.01, True)])
def test_boxes_that_touch(gap_m: float, touches: bool) -> None:
    answer = direction(cubes((0, 0, 0.5), (1.0 + gap_m, 0, 0.5), side=1.0), 2, reference=1)
    assert answer.value == "east"
    assert ("boxes_touch" in answer.reasons) is touches
    assert answer.margins["box_gap_m"] == pytest.approx(max(gap_m, 0.0), abs=1e-6)
    assert ("footprints_overlap" in answer.reasons) is (gap_m < 0.0)  # touching is not overlapping


def test_footprints_that_overlap_at_different_heights() -> None:
    boxes = [
        LabelledBox(1, "table", (0, 0, 0.5), (2, 1, 0.1)),
        LabelledBox(2, "lamp", (0.9, 0.4, 2.0), (0.4, 0.4, 0.4)),
    ]
    answer = direction(Scene.from_boxes(boxes), "lamp", reference="table")
    assert answer.reasons == ("ambiguous", "footprints_overlap")
    assert answer.value == "northeast"  # 66 degrees


def test_a_turned_footprint_counts_and_not_its_box() -> None:
    turn = Transform.from_yaw_deg(45.0, target="w", source="w").rotation
    boxes = [
        LabelledBox(1, "beam", (0, 0, 0.5), (4.0, 0.2, 0.2), turn),
        LabelledBox(2, "lamp", (1.2, -1.2, 2.0), (0.2, 0.2, 0.2)),
    ]
    assert direction(Scene.from_boxes(boxes), "lamp", reference="beam").certain


def test_a_cup_on_a_table_is_attached() -> None:
    boxes = [
        LabelledBox(1, "table", (0, 0, 0.7), (2.0, 1.0, 0.1)),
        LabelledBox(2, "cup", (0.8, 0.0, 0.8), (0.2, 0.2, 0.1)),
    ]
    scene = Scene.from_boxes(boxes)
    assert scene.carried_by("table") == (2,)
    for one, other in ((1, 2), (2, 1)):
        assert "attached" in direction(scene, one, reference=other).reasons


def test_attachment_goes_through_chains_of_certain_and_possible_edges_but_not_to_siblings() -> None:
    scene = with_edges(
        cubes(*[(2.0 * k, 0.0, 0.5) for k in range(6)]), (1, 2, "certain"), (2, 3, "possible"), (1, 4, "certain")
    )
    pairs = {(i, j) for i in scene.objects for j in scene.objects if i < j and (i, j) in attached_pairs(scene)}
    assert pairs == {(1, 2), (1, 3), (2, 3), (1, 4)}
    assert direction(scene, 3, reference=1).reasons == ("attached",)
    assert direction(scene, 1, reference=3).reasons == ("attached",)
    assert direction(scene, 4, reference=2).certain  # on the same carrier


def test_three_centres_have_to_agree() -> None:
    box = np.array([[x, y, z] for x in (-0.2, 0.2) for y in (-0.2, 0.2) for z in (0.0, 0.4)])
    tall = np.array([[x, y, z] for x in (1.8, 2.2) for y in (-0.6, 1.9) for z in (0.0, 0.4)])
    even = of_meshes(box, tall)
    answer = direction(even, 2, reference=1)
    assert answer.value == "east"  # the centre is at (2, 0.65): 72 degrees
    assert answer.reasons == ("ambiguous",)
    # Many more vertices at the northern end: the mean is at about (2, 1.8), northeast.
    crowd = np.concatenate([tall, np.tile(tall[tall[:, 1] > 0], (20, 1))])
    lopsided = of_meshes(box, crowd)
    answer = direction(lopsided, 2, reference=1)
    assert answer.value == "east"
    assert answer.reasons == ("ambiguous", "centers_disagree")


def test_three_centres_of_what_is_faced_count_too() -> None:
    box = np.array([[x, y, z] for x in (-0.2, 0.2) for y in (-0.2, 0.2) for z in (0.0, 0.4)])
    faced = np.array([[x, y, z] for x in (-1.5, 1.5) for y in (1.8, 2.2) for z in (0.0, 0.4)])
    target = box + np.array([2.0, 2.1, 0.0])
    even = of_meshes(box, faced, target)
    answer = direction(even, 3, reference=1, frame="object", facing=2)
    assert answer.value == "front-right"
    assert answer.certain
    # The mean of the faced one moves to about (1.5, 2): forward turns by 36 degrees for this centre alone.
    crowd = np.concatenate([faced, np.tile(faced[faced[:, 0] > 0], (20, 1))])
    answer = direction(of_meshes(box, crowd, target), 3, reference=1, frame="object", facing=2)
    assert answer.value == "front-right"
    assert answer.reasons == ("centers_disagree",)


@pytest.mark.parametrize(
    "faced, stable",
    [((0.0, 0.35, 0.5), True), ((0.0, 0.25, 0.5), False), ((0.0, 1.0, 2.1), True), ((0.0, 1.0, 2.4), False)],
)
def test_facing_has_to_be_stable(faced: tuple, stable: bool) -> None:
    answer = direction(cubes((0, 0, 0.5), faced, (2, 0, 0.5)), 3, reference=1, frame="object", facing=2)
    assert answer.value == "right"  # a value all the same
    assert answer.reasons == (() if stable else ("unstable_facing",))


def test_facing_straight_up_has_no_value() -> None:
    answer = direction(cubes((0, 0, 0.5), (0, 0, 2.5), (2, 0, 0.5)), 3, reference=1, frame="object", facing=2)
    assert answer.value is None
    assert answer.reasons == ("unstable_facing",)


def test_a_camera_without_a_heading_gives_no_direction() -> None:
    answer = direction(cubes((0, 0, 0.5), (2, 0, 0.5)), 2, reference=1, frame="camera", view=DOWN)
    assert answer.value is None
    assert answer.reasons == ("no_camera_heading",)


def test_one_above_the_other_has_no_direction() -> None:
    answer = direction(cubes((0, 0, 0.5), (0, 0, 2.5)), 2, reference=1)
    assert answer.value is None
    assert answer.reasons == ("centers_close", "footprints_overlap")


def test_without_alignment_north_is_arbitrary_and_other_frames_are_not() -> None:
    scene = cubes((0, 0, 0.5), (2, 0, 0.5), (0, 2, 0.5), is_aligned=False)
    assert direction(scene, 2, reference=1).reasons == ("not_aligned",)
    assert direction(scene, 2, reference=1).value == "east"
    assert direction(scene, 2, reference=1, frame="camera", view=EAST).certain
    assert direction(scene, 2, reference=1, frame="object", facing=3).certain


def test_what_makes_no_sense_is_an_error() -> None:
    scene = cubes((0, 0, 0.5), (2, 0, 0.5))
    with pytest.raises(RelationError, match="no direction from itself"):
        direction(scene, 1, reference="a")
    with pytest.raises(RelationError, match="cannot face itself"):
        direction(scene, 2, reference=1, frame="object", facing="a")
    with pytest.raises(RelationError, match="needs what the anchor faces"):
        direction(scene, 2, reference=1, frame="object")
    with pytest.raises(RelationError, match="needs a view"):
        direction(scene, 2, reference=1, frame="camera")
    with pytest.raises(RelationError, match="needs a view"):
        direction(scene, 2, reference=1, frame="object", facing="camera")
    with pytest.raises(RelationError, match="only the object frame"):
        direction(scene, 2, reference=1, frame="world", facing=2)
    with pytest.raises(RelationError, match="unknown frame 'map'"):
        direction(scene, 2, reference=1, frame="map")  # type: ignore[arg-type]
    for wrong in ("z", 99):
        with pytest.raises(UnknownObjectError):
            direction(scene, wrong, reference=1)
        with pytest.raises(UnknownObjectError):
            direction(scene, 2, reference=1, frame="object", facing=wrong)


# --- properties ------------------------------------------------------------------------------------------------------

few_cubes = st.lists(points(within_m=3.0), min_size=3, max_size=3).map(
    lambda at: with_edges(cubes(*map(tuple, at)))  # what carries what is no matter here, and takes its time
)
FRAMES = [
    {"frame": "world"},
    {"frame": "camera"},
    {"frame": "object", "facing": 3},
    {"frame": "object", "facing": "camera"},
]


def ask(scene: Scene, view: Transform, how: dict, target: int = 2, reference: int = 1) -> Answer:
    return direction(scene, target, reference=reference, view=Pose(view) if how["frame"] != "world" else None, **how)


def clear(answer: Answer) -> bool:
    """Far from any border that rounding could cross."""
    near = (
        [abs(answer.margins["ambiguity"] - bound) for bound in (SETTINGS.max_ambiguity, 1.0)] if answer.value else [0]
    )
    near += [abs(answer.margins["center_distance_m"] - 0.5), abs(answer.margins["box_gap_m"] - SETTINGS.touch_gap_m)]
    return min(near) > 1e-4


@settings(deadline=None)
@given(few_cubes, upright_cameras(), st.sampled_from(FRAMES[:2]))
def test_swapping_gives_the_opposite(scene: Scene, view: Transform, how: dict) -> None:
    there, back = ask(scene, view, how), ask(scene, view, how, target=1, reference=2)
    assume(clear(there) and clear(back))
    names = COMPASS if how["frame"] == "world" else SECTORS
    assert back.value == opposite(there.value, names)
    assert back.reasons == there.reasons
    assert_angle_close(back.numbers["angle_deg"], there.numbers["angle_deg"] + 180.0, atol_deg=1e-4)


@settings(deadline=None)
@given(few_cubes, upright_cameras(), yaw_turns(), st.sampled_from(FRAMES[1:]))
def test_camera_and_object_directions_stay_when_the_world_turns(
    scene: Scene, view: Transform, turn: Transform, how: dict
) -> None:
    still, moved = ask(scene, view, how), ask(placed(scene, turn), turn @ view, how)
    assume(still.value is not None and still.margins["ambiguity"] < 0.99)
    assert moved.value == still.value
    assert_angle_close(moved.numbers["angle_deg"], still.numbers["angle_deg"], atol_deg=1e-3)


@settings(deadline=None)
@given(few_cubes, upright_cameras(), yaw_turns(quarter_turns=True), st.sampled_from(FRAMES))
def test_quarter_turns_change_nothing_but_compass_words(
    scene: Scene, view: Transform, turn: Transform, how: dict
) -> None:
    still, moved = ask(scene, view, how), ask(placed(scene, turn), turn @ view, how)
    assume(clear(still))
    assert moved.reasons == still.reasons
    quarters = round(np.degrees(np.arctan2(turn.rotation[1, 0], turn.rotation[0, 0])) / 90.0)
    if how["frame"] == "world":
        assert COMPASS.index(moved.value) == (COMPASS.index(still.value) - 2 * quarters) % 8
    else:
        assert moved.value == still.value


@settings(deadline=None)
@given(few_cubes, points(), st.sampled_from([{"frame": "world"}, {"frame": "object", "facing": 3}]))
def test_where_the_origin_is_does_not_matter(scene: Scene, shift: np.ndarray, how: dict) -> None:
    place = Transform.from_translation(shift, target="world", source="world")
    still, moved = direction(scene, 2, reference=1, **how), direction(placed(scene, place), 2, reference=1, **how)
    assume(clear(still))
    assert (moved.value, moved.reasons) == (still.value, still.reasons)


@settings(deadline=None, max_examples=20)
@given(st.permutations(range(4)), st.lists(points(within_m=3.0), min_size=4, max_size=4))
def test_ids_and_their_order_do_not_matter(order: list[int], at: list[np.ndarray]) -> None:
    ids = [7, 0, 300, 12]
    one = Scene.from_boxes([LabelledBox(ids[k], "abcd"[k], at[k], [0.2] * 3) for k in range(4)])
    other = Scene.from_boxes([LabelledBox(ids[order[k]], "abcd"[k], at[k], [0.2] * 3) for k in order])
    for target, reference in (("a", "b"), ("c", "d")):
        assert direction(one, target, reference=reference) == direction(other, target, reference=reference)


# --- headings that are kept ------------------------------------------------------------------------------------------


def test_a_frozen_heading_stays_when_the_faced_object_has_gone_elsewhere() -> None:
    before = cubes((0, 0, 0.5), (0, 2, 0.5), (2, 0, 0.5))
    after = cubes((0, 0, 0.5), (2, 2, 0.5), (2, 0, 0.5))
    frozen = headings_of(before, 1, frame="object", facing=2)
    assert frozen.reasons == ()
    assert direction_in(after, 3, reference=1, headings=frozen).value == "right"
    assert direction(after, 3, reference=1, frame="object", facing=2).value == "front-right"
    assert direction_in(before, 3, reference=1, headings=frozen) == direction(
        before, 3, reference=1, frame="object", facing=2
    )


def test_the_reference_of_a_frozen_heading_may_be_another_object() -> None:
    scene = cubes((0, 0, 0.5), (0, 2, 0.5), (2, 0, 0.5))
    north = headings_of(scene, 1, frame="object", facing=2)
    assert direction_in(scene, 1, reference=3, headings=north).value == "left"


# --- the compass that the text states --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "true_deg, value, rounding_deg",
    [(0, "north", 0), (20, "north", -20), (25, "northeast", 20), (-20, "north", 20), (180, "south", 0),
     (170, "south", 10), (-170, "south", -10), (-90, "west", 0), (100, "east", -10), (-130, "southwest", -5)],
)  # fmt: skip
def test_stated_compass(true_deg: float, value: str, rounding_deg: float) -> None:
    stated = stated_compass(
        camera((np.sin(np.radians(true_deg)), np.cos(np.radians(true_deg)), -0.3)).world_from_camera
    )
    assert stated.value == value
    assert stated.rounding_deg == pytest.approx(rounding_deg, abs=1e-9)


def test_a_camera_without_a_heading_has_no_compass() -> None:
    with pytest.raises(FrameError, match="no camera heading"):
        stated_compass(DOWN.world_from_camera)


@pytest.mark.parametrize(
    "angle_deg, rounding_deg, reason",
    [
        (0.0, 0.0, None),
        (0.0, 15.0, None),  # read as 15 degrees: ambiguity 0.67
        (0.0, 16.0, "compass_rounding"),  # 0.71
        (10.0, -20.0, None),  # read as -10
        (10.0, 10.0, "compass_rounding"),  # read as 20: still north, but 0.89
        (15.7, 0.0, None),
        (16.0, 0.0, "compass_rounding"),
        (16.0, -10.0, "compass_rounding"),  # fine as read, not in truth
        (40.0, -22.0, "compass_rounding"),  # another word
        (180.0, 15.0, None),
        (-175.0, -10.0, None),  # read as 175
    ],
)
def test_directions_that_rounding_spoils(angle_deg: float, rounding_deg: float, reason: str | None) -> None:
    assert compass_rounding(world_heading().vector_in_world(angle_deg, 3.0), rounding_deg) == reason
    as_read = direction_as_stated(world_heading().vector_in_world(angle_deg), rounding_deg)
    assert_angle_close(as_read.angle_deg, angle_deg + rounding_deg)


def test_a_move_in_compass_words_does_not_turn_with_the_error() -> None:
    # One metre north of the reference in truth, read as 20 degrees more: (0.342, 0.940). A move of 2 m east in the text
    # ends at (2, 1) in truth, and at (2.342, 0.940) as read: 63.4 and 68.1 degrees.
    vector, move = (0.0, 1.0, 0.3), (2.0, 0.0)
    assert direction_as_stated(vector, 0.0, move).angle_deg == pytest.approx(63.435, abs=1e-3)
    read = direction_as_stated(vector, 20.0, move)
    assert read.angle_deg == pytest.approx(np.degrees(np.arctan2(2.34202, 0.93969)), abs=1e-3)
    assert compass_rounding(vector, 20.0, move) == "compass_rounding"  # northeast against east
    assert compass_rounding((0.0, 1.0), 0.0, (0.0, -1.0)) == "compass_rounding"  # ends above the reference


@given(upright_cameras(), points(within_m=3.0), points(within_m=3.0), angles_deg(), st.floats(0.0, 3.0))
def test_as_read_is_the_world_turned_until_the_camera_looks_as_stated(
    view: Transform, target: np.ndarray, reference: np.ndarray, move_deg: float, move_m: float
) -> None:
    """A second way: turn the room, with the camera, so that the statement is true, and look at it there."""
    stated = stated_compass(view)
    turn = Transform.from_yaw_deg(-stated.rounding_deg, target="world", source="world")
    assert_angle_close(camera_heading(turn @ view).compass_deg, 45.0 * COMPASS.index(stated.value))
    move = world_heading().vector_in_world(move_deg, move_m)
    landed, origin = turn @ target + move, turn @ reference
    assume(np.linalg.norm((landed - origin)[:2]) > 1e-3)
    assume(np.linalg.norm((target - reference)[:2]) > 1e-3)
    read = direction_as_stated(target - reference, stated.rounding_deg, move)
    there = direction_between(landed, origin, world_heading())
    assert_angle_close(read.angle_deg, there.angle_deg, atol_deg=1e-5)
    assert -22.5 <= stated.rounding_deg <= 22.5


def test_a_world_direction_with_a_view_has_to_hold_as_stated() -> None:
    scene = cubes((0, 0, 0.5), at_angle(-10.0))
    almost_north = camera((np.sin(np.radians(15.0)), np.cos(np.radians(15.0)), 0.0))  # stated as north, 15 degrees less
    assert direction(scene, 2, reference=1).certain
    answer = direction(scene, 2, reference=1, view=almost_north)
    assert answer.value == "north"
    assert answer.reasons == ("compass_rounding",)
    assert answer.margins["ambiguity_as_stated"] == pytest.approx(20.0 / 22.5, abs=1e-4)  # read as -25: northwest
    assert direction(scene, 2, reference=1, view=camera((0, 1, 0))).certain
    assert direction(scene, 2, reference=1, view=DOWN).reasons == ("no_camera_heading",)


# --- small things ----------------------------------------------------------------------------------------------------


@given(points(), points(), angles_deg())
def test_a_direction_between_points_does_not_ask_where_the_heading_starts(
    one: np.ndarray, other: np.ndarray, turn_deg: float
) -> None:
    assume(np.linalg.norm((one - other)[:2]) > 1e-3)
    here = Heading((0.0, 0.0), (0.0, 1.0), "object").turned(turn_deg)
    assert direction_between(one, other, here) == direction_between(one, other, here.at((5.0, -2.0)))


def test_answers_are_values() -> None:
    answer = direction(cubes((0, 0, 0.5), at_angle(20.0)), 2, reference=1)
    assert pickle.loads(pickle.dumps(answer)) == answer
    assert not answer.certain
    with pytest.raises(TypeError):
        answer.numbers["angle_deg"] = 0.0  # type: ignore[index]
    assert Answer("x", reasons=("b", "a", "b")).reasons == ("a", "b")
    assert Answer("x").certain


@pytest.mark.parametrize("module", ["frames", "testing", "geometry.hulls", "geometry.distance", "relations.direction"])
def test_examples_in_docstrings_run(module: str) -> None:
    found = doctest.testmod(importlib.import_module(f"spacecast.{module}"))
    assert found.attempted > 0
    assert found.failed == 0
