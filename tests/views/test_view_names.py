"""Which objects a name could mean."""

from __future__ import annotations

import numpy as np
import pytest

from spacecast.frames import Transform
from spacecast.scan import Instance
from spacecast.scene import Scene, SceneObject, Shape
from spacecast.views.names import Names, have_one_name, looks_alike, scaled_px


def thing(id: int, label: str, size: tuple[float, float, float] = (0.4, 0.4, 0.4), **more: object) -> SceneObject:
    shape = Shape.box((2.0 * id, 0.0, 0.2), size, np.eye(3))
    return SceneObject(Instance(id, label, label, **more), shape, Transform.identity(target="world", source="object"))


def names_of(*things: SceneObject) -> Names:
    return Names(Scene("s", "boxes", True, {o.id: o for o in things}))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("chair", "chair", True),
        ("coffee table", "table", True),
        ("table", "coffee table", True),
        ("armchair", "chair", True),
        ("pillows", "pillow", True),
        ("table lamp", "table", False),
        ("glass", "lass", True),  # a suffix, however odd, is refused: better too few questions than two meanings
        ("bed", "bedside cabinet", False),
        ("tv", "desk tv", True),
        ("tv", "hdtv", False),  # too short to be looked for within a word
        ("shelves", "bookshelf", True),
        ("benches", "piano bench", True),
        ("chair with arms", "office chair", False),  # siblings are told apart, unless a reader says that they are one
        ("chair with arms", "chair", True),
        ("monitor", "monitr", True),
        ("monitor", "monitro", True),
        ("monitor", "monitoor", True),
        ("monitor", "monitox", True),
        ("monitor", "moniotrs", False),
        ("cup", "cap", False),  # in a short word another letter is another word
        ("desk", "lamp", False),
    ],
)
def test_labels_that_could_mean_the_same(one: str, other: str, same: bool) -> None:
    assert have_one_name(thing(1, one), thing(2, other)) is same
    assert have_one_name(thing(2, other), thing(1, one)) is same


@pytest.mark.parametrize("key", ["class_group", "category", "synset", "label_zh"])
def test_one_group_category_synset_or_chinese_name_could_mean_the_same(key: str) -> None:
    assert have_one_name(thing(1, "sofa", **{key: "x"}), thing(2, "couch", **{key: "x"}))
    assert not have_one_name(thing(1, "sofa", **{key: "x"}), thing(2, "couch", **{key: "y"}))
    assert not have_one_name(thing(1, "sofa"), thing(2, "couch"))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("bin box", "bin", True),
        ("screen", "projection", False),
        ("screen display", "display", True),
        ("", "bin", False),
    ],
)
def test_a_meaning_in_common_could_mean_the_same(one: str, other: str, same: bool) -> None:
    things = (
        thing(1, "foo", meanings=frozenset(one.split())),
        thing(2, "quux", meanings=frozenset(other.split())),
    )
    assert have_one_name(*things) is same
    assert have_one_name(*reversed(things)) is same


def test_a_chinese_name_that_ends_in_another_could_mean_it() -> None:
    assert have_one_name(thing(1, "painting", label_zh="油画"), thing(2, "picture", label_zh="画"))
    assert not have_one_name(thing(1, "easel", label_zh="画架"), thing(2, "picture", label_zh="画"))


def test_a_label_that_is_the_category_of_another_could_mean_it() -> None:
    assert have_one_name(thing(1, "stool", category="seat"), thing(2, "seat"))
    assert have_one_name(thing(2, "seat"), thing(1, "stool", category="seat"))


@pytest.mark.parametrize(
    ("size", "alike"),
    [
        ((0.4, 0.4, 0.4), True),
        ((0.4, 0.59, 0.4), True),
        ((0.4, 0.61, 0.4), False),
        ((0.27, 0.4, 0.4), True),
        ((0.26, 0.4, 0.4), False),
    ],
)
def test_clutter_of_like_size_could_be_meant(size: tuple[float, float, float], alike: bool) -> None:
    clutter = thing(1, "object", size, traits=frozenset({"clutter"}))
    box = thing(2, "box")
    assert looks_alike(clutter, box) is alike
    assert not looks_alike(box, clutter)
    assert names_of(clutter, box).points_at_one(2, frozenset({1, 2})) is not alike


def test_clutter_is_compared_by_sorted_sides() -> None:
    clutter = thing(1, "object", (1.2, 0.3, 0.6), traits=frozenset({"clutter"}))
    assert looks_alike(clutter, thing(2, "box", (0.3, 0.6, 1.2)))


def test_a_name_points_at_one_where_no_rival_is_visible() -> None:
    names = names_of(thing(1, "chair"), thing(2, "office chair"), thing(3, "lamp"), thing(4, "bed"))
    assert names.rivals(1) == frozenset({2})
    assert names.rivals(2) == frozenset({1})
    assert names.points_at_one(1, frozenset({1, 3, 4}))
    assert names.points_at_one(1, frozenset({3}))
    assert not names.points_at_one(1, frozenset({1, 2}))
    assert names.differ([1, 3, 4])
    assert not names.differ([1, 2, 3])
    assert not names.differ([3, 3])


def test_structure_counts_among_what_could_be_meant() -> None:
    names = names_of(thing(1, "cabinet door"), thing(2, "door", traits=frozenset({"structure"})))
    assert names.rivals(1) == frozenset({2})


def test_pixel_counts_scale_with_the_picture() -> None:
    assert scaled_px(400.0, 640, 480) == 400.0
    assert scaled_px(400.0, 160, 120) == 25.0
    assert scaled_px(16.0, 640, 360) == 12.0
