from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from spacecast.errors import RelationError, UnknownObjectError
from spacecast.frames import Transform
from spacecast.geometry.boxes import box_mesh
from spacecast.relations import distance
from spacecast.relations.distance import SETTINGS, distance_bin, surface_distance_between_m
from spacecast.scan import Instance
from spacecast.scene import LabelledBox, Scene, SceneObject, Shape
from spacecast.testing import BoxCase, boxes, transforms


def gap(gap_m: float) -> Scene:
    """Two cubes with a gap along x."""
    return Scene.from_boxes(
        [LabelledBox(4, "a", (0, 0, 0), (1, 1, 1)), LabelledBox(9, "b", (1 + gap_m, 0.3, 0), (1, 1, 1))]
    )


def moved(scene: Scene, object_id: int, place: Transform) -> Scene:
    where = scene.objects[object_id].world_from_object
    objects = {**scene.objects, object_id: replace(scene.objects[object_id], world_from_object=place @ where)}
    return Scene(scene.scene_id, scene.dataset, scene.is_aligned, objects)


@pytest.mark.parametrize(
    "gap_m, value, reasons",
    [
        (0.0, "very close", ("too_close",)),
        (0.19, "very close", ("too_close",)),
        (0.21, "very close", ()),
        (0.89, "very close", ()),
        (0.91, "very close", ("near_border",)),
        (0.99, "very close", ("near_border",)),
        (1.01, "close", ("near_border",)),
        (1.11, "close", ()),
        (1.89, "close", ()),
        (1.95, "close", ("near_border",)),
        (2.05, "moderate", ("near_border",)),
        (2.11, "moderate", ()),
        (3.19, "moderate", ()),
        (3.25, "moderate", ("near_border",)),
        (3.35, "far", ("near_border",)),
        (3.41, "far", ()),
        (20.0, "far", ()),
    ],
)
def test_bins_by_hand(gap_m: float, value: str, reasons: tuple) -> None:
    answer = distance(gap(gap_m), "a", "b")
    assert answer.value == value
    assert answer.reasons == reasons
    assert answer.certain is (not reasons)
    assert answer.numbers["distance_m"] == pytest.approx(gap_m, abs=1e-5)
    assert answer.margins["border_m"] == pytest.approx(min(abs(gap_m - b) for b in (1.0, 2.0, 3.3)), abs=1e-5)


@pytest.mark.parametrize(
    "distance_m, value",
    [(0.0, "very close"), (np.nextafter(1.0, 0.0), "very close"), (1.0, "close"), (np.nextafter(2.0, 0.0), "close"),
     (2.0, "moderate"), (3.3, "moderate"), (np.nextafter(3.3, 4.0), "far")],
)  # fmt: skip
def test_borders_belong_where_the_text_says(distance_m: float, value: str) -> None:
    assert distance_bin(distance_m) == value


def test_one_word_more_than_borders() -> None:
    assert len(SETTINGS.names) == len(SETTINGS.borders_m) + 1


def test_overlapping_objects_are_at_no_distance() -> None:
    answer = distance(gap(-0.5), "a", "b")
    assert answer.numbers["distance_m"] == 0.0
    assert answer.reasons == ("too_close",)


def test_surfaces_count_and_not_boxes() -> None:
    # Two thin boards that lean at 45 degrees, one behind the other: their boxes overlap, they are 1 m / sqrt(2) apart.
    lean = Transform.from_yaw_deg(45.0, target="w", source="w").rotation
    boards = [LabelledBox(i, f"board {i}", (float(i), 0, 0), (3.0, 0.02, 1.0), lean) for i in (1, 2)]
    scene = Scene.from_boxes(boards)
    assert scene.objects[1].aabb.gap_m(scene.objects[2].aabb) == 0.0
    assert distance(scene, 1, 2).numbers["distance_m"] == pytest.approx(np.sqrt(0.5) - 0.02, abs=1e-5)


def test_what_makes_no_sense_is_an_error() -> None:
    with pytest.raises(RelationError, match="no distance from itself"):
        distance(gap(1.0), "a", 4)
    with pytest.raises(UnknownObjectError):
        distance(gap(1.0), "a", "c")


def scene_of(one: BoxCase, other: BoxCase) -> Scene:
    return Scene.from_boxes([LabelledBox(1, "one", *one), LabelledBox(2, "other", *other)])


@settings(deadline=None)
@given(boxes(upright=False), boxes(), transforms("world", "world"))
def test_swapped_or_moved_together_the_distance_stays(one: BoxCase, other: BoxCase, place: Transform) -> None:
    scene = scene_of(one, other)
    there, back = distance(scene, 1, 2).numbers["distance_m"], distance(scene, 2, 1).numbers["distance_m"]
    both = moved(moved(scene, 1, place), 2, place)
    assert back == pytest.approx(there, abs=1e-5)
    assert distance(both, 1, 2).numbers["distance_m"] == pytest.approx(there, abs=1e-5)


@settings(deadline=None)
@given(boxes(), boxes(), transforms("world", "world", within_m=3.0))
def test_a_moved_object_is_as_far_as_one_that_was_always_there(one: BoxCase, other: BoxCase, place: Transform) -> None:
    there = moved(scene_of(one, other), 2, place)
    always = scene_of(one, BoxCase(place @ other.center, other.size, place.rotation @ other.rotation))
    assert distance(there, 1, 2).numbers["distance_m"] == pytest.approx(
        distance(always, 1, 2).numbers["distance_m"], abs=1e-5
    )
    # Not further than any two corners, nor nearer than the boxes along the axes.
    found = surface_distance_between_m(there.objects[1], there.objects[2])
    corners = [there.objects[i].vertices_in_world for i in (1, 2)]
    assert found <= np.linalg.norm(corners[0][:, None] - corners[1][None], axis=-1).min() + 1e-9
    if there.objects[1].aabb.gap_m(there.objects[2].aabb) > 0.0:
        assert found >= there.objects[1].aabb.gap_m(there.objects[2].aabb) - 1e-5


def test_an_object_without_faces_is_its_vertices() -> None:
    vertices, faces = box_mesh((0, 0, 0), (1, 1, 1))
    place = Transform.identity(target="world", source="object")
    shapes = [
        Shape(vertices.astype(np.float32), faces, frozenset()),
        Shape(np.array([[3.0, 0.2, 0.1], [9.0, 0.0, 0.0]], dtype=np.float32), faces[:0], frozenset()),
    ]
    objects = {i: SceneObject(Instance(i, "thing", f"thing {i}"), shape, place) for i, shape in enumerate(shapes)}
    answer = distance(Scene("hand", "hand", True, objects), 0, 1)
    assert answer.numbers["distance_m"] == pytest.approx(2.5, abs=1e-6)
    assert answer.value == "moderate"
