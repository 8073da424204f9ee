"""The real scan: who carries whom, seen in its photos and in pictures of its coloured mesh, written down by eye."""

from __future__ import annotations

import numpy as np
import pytest

from spacecast.scan import Scan
from spacecast.scene import Scene

from .real import read_scan

SEEN = {
    (8, 15),  # the television stands in the open middle of the corner cabinet (photo 102)
    (37, 16),  # the pillow at the head of the bed
    (37, 61), (37, 62),  # things that lie on the bed's left half
    (62, 61),  # ... where it cannot be seen whether the one lies partly on the other
    (3, 45), (3, 53), (3, 51),  # toaster oven, a second small one and the dish rack on the kitchen counter
    (49, 48),  # the tissue box on the nightstand (photo 11)
}  # fmt: skip
"""(parent, child) that a person sees. Nothing else carries anything."""
PLAIN = {(8, 15), (37, 16), (37, 62), (3, 45), (3, 53)}
"""Those that are plain to see, with clean masks."""
STANDING = {7: "desk", 32: "couch", 33: "refrigerator", 34: "table", 35: "table", 36: "toilet", 37: "bed",
            28: "stool", 14: "trash can", 18: "backpack", 57: "bicycle", 49: "nightstand"}  # fmt: skip
HANGING = {17: "clock", 41: "cabinet", 43: "cabinet", 64: "mirror"}


@pytest.fixture(scope="module")
def scan() -> Scan:
    return read_scan()


@pytest.fixture(scope="module")
def scene(scan: Scan) -> Scene:
    return Scene.from_scan(scan)


def test_certain_edges_are_those_that_a_person_sees(scene: Scene) -> None:
    certain = {(p, c) for p, c, d in scene.attachment.edges(data=True) if d["certainty"] == "certain"}
    assert certain <= SEEN
    assert certain >= PLAIN


def test_what_is_seen_but_not_certain_is_possible(scene: Scene) -> None:
    known = {(p, c) for p, c in scene.attachment.edges}
    assert {(3, 51), (49, 48)} <= known
    assert known & {(37, 61), (62, 61)}


def test_kinds(scene: Scene) -> None:
    assert scene.attachment.edges[8, 15]["kind"] == "contained_in"
    assert scene.attachment.edges[37, 16]["kind"] == "resting_on_soft_surface"
    assert scene.attachment.edges[3, 45]["kind"] == "supported_by"


def test_what_stands_on_the_floor_and_what_hangs_on_a_wall(scene: Scene) -> None:
    for number, label in STANDING.items():
        assert scene.objects[number].label == label
        assert scene.objects[number].support == ("floor", 9), label
    for number, label in HANGING.items():
        assert scene.objects[number].label == label
        assert scene.objects[number].support.kind == "wall", label
    for _, child in PLAIN:
        assert scene.objects[child].support.kind == "none"


def test_boxes_are_those_of_the_labelled_vertices(scan: Scan, scene: Scene) -> None:
    assert len(scene.objects) == 67
    for number, item in scene.objects.items():
        own = scan.vertices[scan.instance_ids == number]
        assert np.array_equal(item.aabb.min, own.min(axis=0))
        assert np.array_equal(item.aabb.max, own.max(axis=0))
        assert np.allclose(item.centers_in_world[2], own.astype(float).mean(axis=0))


def test_every_face_is_in_one_place(scan: Scan, scene: Scene) -> None:
    whole = sum(len(item.shape.faces) for item in scene.objects.values())
    assert whole + len(scene.rest.faces) == len(scan.faces)
    corners = scan.instance_ids[scan.faces]
    mixed = (corners == corners[:, :1]).all(axis=1) & (corners[:, 0] >= 0)
    assert whole == mixed.sum()


def test_why_the_others_are_not_asked(scene: Scene) -> None:
    why = {number: item.why_not_asked for number, item in scene.objects.items()}
    assert why[9] == "structure"
    assert why[31] == "clutter"
    assert why[17] == "few_vertices"  # the clock has 46
    assert why[37] is None
    # 67 objects: 16 of the building, 7 "otherprop", and the clock.
    assert sum(reason is None for reason in why.values()) == 67 - 16 - 7 - 1
