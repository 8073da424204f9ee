"""Shares of datasets, numbers of pictures, objects, rescans and scenes that have nothing yet; counted by hand."""

from __future__ import annotations

import random
from collections import Counter

from spacecast.dataset import selection
from spacecast.dataset.balance import Feature, TypeRules
from spacecast.dataset.selection import Before, rank_of, select

FOUR = TypeRules("four", 4, multi_select=False)


def candidate(number: int, balance: str | None = None, **own: object) -> Feature:
    uid = f"u{number:05d}"
    answer = balance or "abcd"[number % 4]
    plain = Feature(uid, f"s{number}", str(number), (str(number),), answer, (0,), (), 0, rank_of(0, uid))
    return plain._replace(**own)


def picked(features: list[Feature], quota: int | dict[str, int], before: Before | None = None) -> list[Feature]:
    chosen = set(select(features, quota, FOUR, before or Before()).chosen)
    return [feature for feature in features if feature.uid in chosen]


def of_datasets(**sizes: int) -> list[Feature]:
    names = [name for name, size in sizes.items() for _ in range(size)]
    return [candidate(i, dataset=name, scene=f"{name}{i % 7}") for i, name in enumerate(names)]


def test_shares_of_datasets_are_exact() -> None:
    chosen = picked(of_datasets(big=400, small=60), {"big": 9, "small": 31})
    assert Counter(f.dataset for f in chosen) == {"big": 9, "small": 31}
    assert Counter(f.balance for f in chosen) == {"a": 10, "b": 10, "c": 10, "d": 10}


def test_what_one_cannot_give_the_other_does() -> None:
    chosen = picked(of_datasets(big=400, small=12), {"big": 9, "small": 31})
    assert Counter(f.dataset for f in chosen) == {"big": 28, "small": 12}


def test_what_none_can_give_is_not_given() -> None:
    chosen = picked(of_datasets(big=12, small=8), {"big": 19, "small": 31})
    assert Counter(f.dataset for f in chosen) == {"big": 12, "small": 8}


def test_a_dataset_whose_answers_are_one_sided_gives_its_share_all_the_same() -> None:
    """small has the answer a alone, 10 of 40; big gives the 30 others and no a."""
    features = [candidate(i, dataset="big") for i in range(400)]
    features += [candidate(i, "a", dataset="small") for i in range(400, 500)]
    chosen = picked(features, {"big": 30, "small": 10})
    assert Counter((f.dataset, f.balance) for f in chosen) == {
        ("big", "b"): 10, ("big", "c"): 10, ("big", "d"): 10, ("small", "a"): 10,
    }  # fmt: skip


def test_where_bounds_stand_against_a_share_the_other_gives_it() -> None:
    """Of 40 questions at most ceil(1.05 x 40 / 4) + 1 = 12 have the answer a."""
    features = [candidate(i, dataset="big") for i in range(400)]
    features += [candidate(i, "a", dataset="small") for i in range(400, 500)]
    chosen = picked(features, {"big": 10, "small": 30})
    assert len(chosen) == 40
    assert Counter(f.dataset for f in chosen)["small"] in (11, 12)


def test_numbers_of_pictures_are_used_evenly() -> None:
    """One in fifty candidates has another number than one picture, and each number from 1 to 8 is used as often."""
    features = [candidate(i, "abcd"[i // 350 % 4], images=1 if i % 50 else 2 + i // 50 % 7) for i in range(5600)]
    counts = Counter(f.images for f in picked(features, 80))
    assert counts == dict.fromkeys(range(1, 9), 10)


def test_answers_are_balanced_for_each_stated_number_of_pictures() -> None:
    """Chains where the answer is a in nine of ten."""
    draw = random.Random(3)
    features = []
    for i in range(4000):
        images = 1 + draw.randrange(3)
        answer = "a" if images > 1 and draw.random() < 0.9 else "abcd"[draw.randrange(4)]
        stated = (("images", ("1", "2", "3+")[images - 1]),)
        features.append(candidate(i, answer, images=images, stated=stated))
    chosen = picked(features, 60)
    for images in (1, 2, 3):
        assert Counter(f.balance for f in chosen if f.images == images) == dict.fromkeys("abcd", 5)


def test_one_object_is_named_so_often() -> None:
    cap = selection.SETTINGS.max_per_object
    features = [candidate(i, scene="s", objects=(1, 10 + i)) for i in range(100)]
    result = select(features, 50, FOUR)
    assert len(result.chosen) == cap
    assert set(result.refused.values()) == {"object_full"}
    elsewhere = [candidate(i, scene=f"s{i}", objects=(1, 2)) for i in range(40)]  # other scenes' ids are other objects
    assert len(picked(elsewhere, 40)) == 40


def test_objects_are_used_evenly() -> None:
    features = [candidate(i, scene="s", objects=(0 if i < 80 else i % 5,)) for i in range(120)]
    assert max(Counter(f.objects for f in picked(features, 10)).values()) == 2


def test_the_same_names_in_another_scan_of_the_room_are_alike() -> None:
    names = (("reference", "desk"), ("target", "lamp"))
    same = {"names": names, "room": "r"}
    features = [candidate(i, scene=f"scan{i % 2}", **same) for i in range(8)]
    chosen = picked(features, 8)
    assert len(chosen) == 4
    assert len({f.scene for f in chosen}) == 1  # in one scan they are other objects, unless their likeness is the same
    result = select(features, 8, FOUR)
    assert set(result.refused.values()) == {"alike"}
    rooms = [f._replace(room=f.scene) for f in features]
    assert len(picked(rooms, 8)) == 8
    others = [f._replace(names=(("target", f.scene),)) for f in features]
    assert len(picked(others, 8)) == 8


def test_the_same_mover_in_another_scan_of_the_room_is_alike() -> None:
    """Of several right options one set is as good as another: what moves is what is asked about."""
    three = TypeRules("three", 3, multi_select=True)
    features = [
        candidate(i, right=((0,), (0, 1), (0, 1, 2))[i % 3], scene=f"scan{i % 2}", room="r",
                  names=(("mover", f"table {i // 2 % 3}"),))
        for i in range(24)
    ]  # fmt: skip
    chosen = set(select(features, 24, three).chosen)
    scans = {}
    for feature in features:
        if feature.uid in chosen:
            scans.setdefault(feature.names, set()).add(feature.scene)
    assert len(scans) == 3
    assert all(len(scenes) == 1 for scenes in scans.values())
    apart = [feature._replace(room=feature.scene) for feature in features]
    assert len(select(apart, 24, three).chosen) > len(chosen)


def test_every_scene_gets_a_question_where_it_can() -> None:
    """One scene has one candidate, whose answer is asked often enough and which is not preferred."""
    features = [candidate(i, scene=f"s{i % 9}") for i in range(400)]
    lone = candidate(500, "a", scene="lone", preference=3)
    assert lone in picked([*features, lone], 12)
    assert {f.scene for f in picked([*features, lone], 10)} == {*(f"s{i}" for i in range(9)), "lone"}
    assert lone not in picked([*features, lone], 10, Before(questions={"lone": 1}))


def test_a_scene_that_no_other_type_can_ask_in_goes_first() -> None:
    features = [candidate(i, scene=f"s{i}") for i in range(100)]
    chances = {f"s{i}": 1 if i >= 96 else 16 for i in range(100)}
    assert {f.scene for f in picked(features, 4, Before(chances=chances))} == {"s96", "s97", "s98", "s99"}


def test_scenes_with_few_questions_of_other_types_go_first() -> None:
    features = [candidate(i, scene=f"s{i // 20}") for i in range(80)]
    chosen = picked(features, 16, Before(questions={"s0": 30, "s1": 30, "s2": 30, "s3": 10}))
    counts = Counter(f.scene for f in chosen)
    assert counts["s3"] > max(counts["s0"], counts["s1"], counts["s2"])


def test_the_order_of_input_makes_no_difference_to_any_of_this() -> None:
    draw = random.Random(4)
    features = [
        candidate(
            i,
            scene=f"s{draw.randrange(6)}",
            room=f"r{draw.randrange(3)}",
            dataset="ab"[draw.randrange(2)],
            likeness=str(draw.randrange(60)),
            objects=tuple(sorted(draw.sample(range(12), 2))),
            names=(("target", f"n{draw.randrange(9)}"),),
            views=tuple(sorted({str(draw.randrange(9)), str(draw.randrange(9))})),
            images=draw.randrange(1, 9),
        )
        for i in range(400)
    ]
    before = Before(questions={"s1": 3}, chances={"s2": 2})
    expected = select(features, {"a": 20, "b": 12}, FOUR, before)
    for _ in range(4):
        draw.shuffle(features)
        assert select(features, {"b": 12, "a": 20}, FOUR, before) == expected
    for seed in range(3):
        view_use = Counter((f.scene, v) for f in features if f.uid in expected.chosen for v in f.views)
        object_use = Counter((f.scene, o) for f in features if f.uid in expected.chosen for o in f.objects)
        assert max(view_use.values()) <= selection.SETTINGS.max_per_view, seed
        assert max(object_use.values()) <= selection.SETTINGS.max_per_object
