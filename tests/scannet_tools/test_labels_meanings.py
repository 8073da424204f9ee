"""What else could be meant by a label: our own groups, for both datasets, against pairs written by hand."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from importlib.resources import files
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from questions.wording import TAKEN
from scannet_tools.labels import (
    CATCH_ALL,
    LABEL_MAP_NAME,
    LabelMap,
    canonical_label,
    class_names,
    instance_of,
    is_known,
    label_zh,
    meanings_of,
)
from spacecast.dataset.askable import could_be_meant
from spacecast.errors import InputError
from spacecast.frames import Transform
from spacecast.scan import Instance
from spacecast.scene import SceneObject, Shape
from spacecast.views.names import have_one_name

UNASKED = {"structure", "clutter", "collective"}
TABLE = tomllib.loads(files("scannet_tools").joinpath("label_meanings.toml").read_text(encoding="utf-8"))
BENCHMARKS = ("nyu40", "mpcat40", "scannet200", "scannetpp100")
CUBE = Shape.box((0.0, 0.0, 0.2), (0.4, 0.4, 0.4), np.eye(3))


def one_name(one: Instance, other: Instance) -> bool:
    pose = Transform.identity(target="world", source="object")
    things = [SceneObject(instance, CUBE, pose) for instance in (one, other)]
    assert have_one_name(*things) is have_one_name(*reversed(things))
    return have_one_name(*things)


# A person who is told to look at the first may look at the second, or the other way round.
COULD_BE_MEANT = [
    ("chair", "office chair"), ("office chair", "dining chair"), ("chair", "chair with armrests"),
    ("monitor", "computer screen"), ("monitor", "tv"), ("television", "TV"), ("screen", "projector screen"),
    ("trash can", "bin"), ("trash can", "dustbin"), ("trashcan", "recycle bin"), ("storage bin", "plastic box"),
    ("sofa", "couch"), ("sofa", "loveseat"), ("armchair", "sofa chair"), ("sofa", "white leather couch"),
    ("cupboard", "kitchen cabinet"), ("cupboard", "wardrobe"), ("wardrobe", "closet"), ("shelf", "bookcase"),
    ("shelf", "metal storage rack"), ("cup", "mug"), ("cup", "drinking glass"), ("glass", "glass pane"),
    ("painting", "picture"), ("poster", "picture frame"), ("whiteboard", "notice board"), ("jacket", "coat"),
    ("socket", "power outlet"), ("socket", "wall socket"), ("heater", "radiator"), ("table lamp", "desk lamp"),
    ("ceiling lamp", "ceiling light"), ("plant", "potted plant"), ("plant pot", "vase"), ("pot", "plant pot"),
    ("pot", "pan"), ("stove", "cooktop"), ("oven", "stove"), ("refrigerator", "fridge"), ("fridge", "freezer"),
    ("tap", "faucet"), ("sink", "wash basin"), ("tissue box", "cardboard box"), ("crate", "plastic box"),
    ("backpack", "bag"), ("suitcase", "luggage bag"), ("mouse", "computer mouse"), ("keyboard", "computer keyboard"),
    ("computer tower", "desktop computer"), ("telephone", "landline phone"), ("coat hanger", "clothes hanger"),
    ("mop", "broom"), ("trolley", "kitchen cart"), ("rug", "door mat"), ("pillow", "sofa cushion"),
    ("blanket", "duvet"), ("notebook", "laptop"), ("notebook", "book"), ("binder", "file folder"),
    ("desk", "office table"), ("office table", "table"), ("nightstand", "bedside table"), ("blanket", "bed sheet"),
    ("refrigrator", "refrigerator"), ("wardrobe", "wardrobee"), ("stool", "bar stool"), ("bench", "piano bench"),
]  # fmt: skip
# Different things to anybody.
ARE_TOLD_APART = [
    ("desk", "table"), ("desk", "coffee table"), ("chair", "table"), ("chair", "stool"), ("sofa", "bed"),
    ("nightstand", "bed"), ("monitor", "keyboard"), ("monitor", "laptop"), ("keyboard", "piano"), ("lamp", "chair"),
    ("trash can", "suitcase"), ("trash can", "cardboard box"), ("tv", "tv stand"), ("cup", "plate"),
    ("cutting board", "whiteboard"), ("ironing board", "whiteboard"), ("sleeping bag", "backpack"),
    ("shoe rack", "shelf"),
    ("sink", "toilet"), ("table lamp", "table"), ("kettle", "cup"), ("bookshelf", "book"), ("paper bag", "paper towel"),
    ("file cabinet", "desk"), ("microwave", "refrigerator"), ("door mat", "blanket"), ("shower head", "shower curtain"),
    ("curtain", "curtain rod"), ("backpack", "suitcase"), ("printer", "computer tower"), ("pillow", "blanket"),
    ("window", "mirror"), ("picture", "mirror"), ("cabinet", "bookshelf"), ("dresser", "bookshelf"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), COULD_BE_MEANT)
def test_what_could_be_meant_without_a_label_map(one, other):
    assert one_name(instance_of(1, one), instance_of(2, other))


@pytest.mark.parametrize(("one", "other"), ARE_TOLD_APART)
def test_what_is_told_apart_without_a_label_map(one, other):
    a, b = instance_of(1, one), instance_of(2, other)
    assert not one_name(a, b)
    assert not could_be_meant(a, b)


@pytest.mark.parametrize(
    ("label", "meanings"),
    [
        ("wooden dining chair", {"chair"}),
        ("stack of books", {"book"}),
        ("bag of apples", {"bag", "suitcase"}),
        ("chest of drawers", {"drawers"}),
        ("box on wheels", {"box"}),
        ("metal bookshelves", {"shelf"}),
        ("big screens", {"display", "projection"}),
        ("folding ironing board", set()),  # the longest last words count, and these stand alone
        ("sousaphone", set()),
        ("of", set()),
        ("", set()),
    ],
)
def test_last_words_give_the_meanings_of_what_no_group_lists(label, meanings):
    assert meanings_of(label) == meanings


def test_the_table_is_clean():
    """Canonical labels, none twice in a group, no group of one, and none that stands alone in a group."""
    listed = [label for labels in TABLE["groups"].values() for label in labels]
    for label in {*listed, *TABLE["alone"]["labels"]}:
        assert canonical_label(label) == label, label
    for name, labels in TABLE["groups"].items():
        assert max(Counter(labels).values()) == 1, name
    assert set(listed).isdisjoint(TABLE["alone"]["labels"])


def test_nothing_is_called_as_texts_call_what_they_show():
    listed = {label for labels in TABLE["groups"].values() for label in labels} | set(TABLE["alone"]["labels"])
    listed |= {label for name in BENCHMARKS for label in class_names(name)}
    told = [instance_of(0, label) for label in sorted(listed)]
    assert len(told) > 500
    assert TAKEN["en"].isdisjoint(instance.label for instance in told)
    assert TAKEN["zh"].isdisjoint(instance.label_zh for instance in told)


def test_the_classes_of_public_benchmarks():
    assert {name: len(class_names(name)) for name in BENCHMARKS} == {
        "nyu40": 40,
        "mpcat40": 41,
        "scannet200": 200,
        "scannetpp100": 100,
    }
    for name in BENCHMARKS:
        assert max(Counter(class_names(name)).values()) == 1
    with pytest.raises(InputError, match="known: nyu40, mpcat40, scannet200, scannetpp100"):
        class_names("coco")


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_class_of_a_benchmark_is_known_and_has_a_chinese_name(name):
    told = [instance_of(0, raw) for raw in class_names(name)]
    assert [i.label for i in told if not is_known(i.label)] == []
    assert [i.label for i in told if i.label_zh is None and not i.traits & UNASKED] == []


def test_classes_of_the_real_map_are_those_listed(real_scans):
    rows = LabelMap.read(real_scans / LABEL_MAP_NAME).rows
    assert {row.nyu40class for row in rows.values()} == set(class_names("nyu40"))
    assert {row.mpcat40 for row in rows.values()} - {None} == set(class_names("mpcat40")) - {"unlabeled"}
    assert set(class_names("scannet200")) <= set(rows)


def test_our_meanings_are_as_wide_as_the_classes_of_the_real_map(real_scans):
    """What ScanNet's map puts into one class by both of its lists could be meant by one name without the map, too."""
    label_map = LabelMap.read(real_scans / LABEL_MAP_NAME)
    mapped = [instance_of(0, raw, label_map) for raw in sorted(label_map.rows)]
    pairs = 0
    for one, other in combinations([i for i in mapped if not i.traits & UNASKED], 2):
        group = one.class_group
        if group is not None and group == other.class_group and CATCH_ALL.isdisjoint(group.split("|")):
            pairs += 1
            assert one_name(instance_of(1, one.raw_label), instance_of(2, other.raw_label)), (one.label, other.label)
    assert pairs > 100


def test_with_the_real_map_few_names_are_lost_to_our_own_meanings(real_scans):
    """Of the pairs of labels that may be asked about, fewer than one in a hundred; desks and tables stay apart."""
    label_map = LabelMap.read(real_scans / LABEL_MAP_NAME)
    told = {raw: instance_of(0, raw, label_map) for raw in sorted(label_map.rows)}
    asked = [i for i in told.values() if not i.traits & UNASKED]
    lost = [(a.label, b.label) for a, b in combinations(asked, 2) if a.meanings & b.meanings and a.label != b.label]
    assert 100 < len(lost) < 0.015 * len(asked) * (len(asked) - 1) / 2
    for one, other in [("desk", "table"), ("bookshelf", "cabinet"), ("dresser", "nightstand"), ("tv", "laptop")]:
        assert told[one].meanings.isdisjoint(told[other].meanings)
    assert told["tv"].meanings & told["monitor"].meanings


def test_labels_of_real_scans_and_published_answers_are_known(real: Path):
    """Every label that is found there stands in some table of ours, spelling mended."""
    rows = json.loads((real / "relations" / "published_relations.json").read_text())
    found = {
        thing["label"] for kind in rows.values() for row in kind for thing in row.values() if isinstance(thing, dict)
    }
    groups = real.glob("scannet/scans/*/*.aggregation.json")
    found |= {group["label"] for path in groups for group in json.loads(path.read_text())["segGroups"]}
    assert len(found) > 40
    assert [label for label in sorted(found) if not is_known(canonical_label(label))] == []
    askable = [instance_of(0, label) for label in sorted(found)]
    assert [i.label for i in askable if not i.traits & UNASKED and label_zh(i.label) is None] == []


def test_what_no_table_lists_is_not_known():
    assert not is_known("sousaphone")
    assert is_known("ironing board")
    assert is_known("wooden chair")
