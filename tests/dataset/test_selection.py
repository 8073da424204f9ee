"""Which candidates become questions: shares, caps, balance, letters. Expected numbers are counted here by hand."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from spacecast.dataset import selection
from spacecast.dataset.balance import Feature, TypeRules, largest_count
from spacecast.dataset.quotas import shares_of
from spacecast.dataset.selection import orders_of, rank_of, select

FOUR = TypeRules("four", 4, multi_select=False)
SETS = TypeRules("sets", 3, multi_select=True)


def candidate(
    number: int,
    balance: str,
    *,
    scene: str | None = None,
    view: str | None = None,
    likeness: str | None = None,
    stated: tuple[tuple[str, str], ...] = (),
    right: tuple[int, ...] = (0,),
    preference: int = 0,
) -> Feature:
    return Feature(
        uid=f"u{number:05d}",
        scene=scene or f"s{number}",
        likeness=likeness or str(number),
        views=(view or str(number),),
        balance=balance,
        right=right,
        stated=stated,
        preference=preference,
        rank=rank_of(0, f"u{number:05d}"),
    )


def picked(features: list[Feature], quota: int, rules: TypeRules = FOUR) -> list[Feature]:
    chosen = set(select(features, quota, rules).chosen)
    return [feature for feature in features if feature.uid in chosen]


@pytest.mark.parametrize(
    "total, weights, expected",
    [
        (10, {"a": 1, "b": 1}, {"a": 5, "b": 5}),
        (10, {"a": 1, "b": 1, "c": 1}, {"a": 4, "b": 3, "c": 3}),  # remainders tie: the first
        (7, {"a": 3, "b": 4}, {"a": 3, "b": 4}),
        (5, {"a": 50, "b": 30, "c": 20}, {"a": 3, "b": 1, "c": 1}),  # 2.5, 1.5, 1.0: a before b at equal remainders
        (1, {"a": 1, "b": 9}, {"a": 0, "b": 1}),
        (0, {"a": 1}, {"a": 0}),
        (3, {"a": 0, "b": 0}, {"a": 0, "b": 0}),
    ],
)
def test_shares_by_largest_remainder(total: int, weights: dict[str, int], expected: dict[str, int]) -> None:
    assert shares_of(total, weights) == expected


@pytest.mark.parametrize(
    "questions, kinds, expected",
    [(264, 4, 71), (264, 8, 36), (100, 4, 28), (80, 4, 22), (20, 4, 7), (1, 4, 2), (97, 7, 16)],
)
def test_the_largest_count_of_one_answer(questions: int, kinds: int, expected: int) -> None:
    assert largest_count(questions, kinds) == expected


def test_every_answer_is_right_equally_often_where_candidates_are_skewed() -> None:
    answers = ["a"] * 500 + ["b"] * 60 + ["c"] * 25 + ["d"] * 22
    chosen = picked([candidate(i, answer) for i, answer in enumerate(answers)], 80)
    assert Counter(feature.balance for feature in chosen) == {"a": 20, "b": 20, "c": 20, "d": 20}


def test_balance_goes_before_number() -> None:
    """With two of one answer out of four kinds, others stop at ceil(1.05 n / 4) + 1: 3 x 9 + 2 = 29 of 200 wanted."""
    answers = ["a", "b", "c"] * 100 + ["d"] * 2
    result = select([candidate(i, answer) for i, answer in enumerate(answers)], 200, FOUR)
    count = Counter(
        feature.balance for feature in [candidate(i, a) for i, a in enumerate(answers)] if feature.uid in result.chosen
    )
    assert count["d"] == 2
    assert max(count.values()) <= largest_count(len(result.chosen), 4)
    assert len(result.chosen) == 29
    assert set(result.refused.values()) == {"answer_full"}


def test_for_every_stated_value_answers_are_equally_often_right() -> None:
    """A world where the heading gives the answer away: 90 of 100 candidates that state n3 have answer a3."""
    draw = random.Random(5)
    features = []
    for i in range(3000):
        heading = draw.randrange(4)
        answer = heading if draw.random() < 0.9 else draw.randrange(4)
        features.append(candidate(i, f"a{answer}", stated=(("heading", f"n{heading}"),)))
    chosen = picked(features, 80)
    cells = Counter((feature.stated[0][1], feature.balance) for feature in chosen)
    for heading in range(4):
        counts = [cells[f"n{heading}", f"a{answer}"] for answer in range(4)]
        assert max(counts) - min(counts) <= 1, cells


def test_two_stated_values_are_balanced_each() -> None:
    draw = random.Random(6)
    features = [
        candidate(
            i, f"a{draw.randrange(4)}", stated=(("far", f"f{draw.randrange(3)}"), ("turn", f"t{draw.randrange(5)}"))
        )
        for i in range(2000)
    ]
    chosen = picked(features, 60)
    for k in range(2):
        cells = Counter((feature.stated[k][1], feature.balance) for feature in chosen)
        for value in {value for value, _ in cells}:
            counts = [cells[value, f"a{answer}"] for answer in range(4)]
            assert max(counts) - min(counts) <= 1


def test_two_stated_values_together_leave_every_answer_equally_often_right() -> None:
    """Candidates lean on one answer for each heading and number of pictures, so that each alone tells nothing."""
    said = [(heading, images) for heading in range(4) for images in range(3)]
    features = []
    for heading, images in said:
        for answer in range(4):
            leaning = answer == (heading + images) % 4
            for _ in range(40 if leaning else 8):
                stated = (("heading", str(heading)), ("images", str(images)))
                features.append(candidate(len(features), str(answer), stated=stated))
    cells = Counter((feature.stated, feature.balance) for feature in picked(features, 240))
    for stated in {feature.stated for feature in features}:
        counts = [cells[stated, str(answer)] for answer in range(4)]
        assert max(counts) - min(counts) <= 1


def test_what_is_asked_about_counts_as_stated_beside_another_value() -> None:
    """What is carried is preferred and rare, and leans on one answer in one picture, on another in two."""
    features = []
    for images in range(2):
        for asked in range(2):
            for answer in range(3):
                for _ in range((5, 40)[asked] * (3 if answer == (images + asked) % 2 else 1)):
                    stated = (("images", str(images)),)
                    features.append(candidate(len(features), str(answer), stated=stated, preference=asked))
    chosen = picked(features, 150, TypeRules("three", 3, multi_select=False))
    cells = Counter((feature.stated, feature.preference, feature.balance) for feature in chosen)
    for pair in {(feature.stated, feature.preference) for feature in chosen}:
        counts = [cells[*pair, str(answer)] for answer in range(3)]
        assert max(counts) - min(counts) <= 1
        assert min(counts) >= 5


def test_near_duplicates_are_left_out() -> None:
    features = [candidate(i, "abcd"[i % 4], scene="s", view=str(i), likeness=str(i // 10)) for i in range(60)]
    result = select(features, 12, FOUR)
    likenesses = [int(uid[1:]) // 10 for uid in result.chosen]
    assert len(likenesses) == len(set(likenesses)) == 6
    assert set(result.refused.values()) == {"alike"}


def test_the_same_likeness_in_another_scene_is_another_thing() -> None:
    features = [candidate(i, "abcd"[i % 4], scene=f"s{i}", likeness="1-2") for i in range(8)]
    assert len(select(features, 8, FOUR).chosen) == 8


def test_caps_of_scenes_and_pictures() -> None:
    one_scene = [candidate(i, "abcd"[i % 4], scene="s") for i in range(100)]
    assert len(select(one_scene, 50, FOUR).chosen) == selection.SETTINGS.max_per_scene
    assert set(select(one_scene, 50, FOUR).refused.values()) == {"scene_full"}
    one_view = [candidate(i, "abcd"[i % 4], scene="s", view="v") for i in range(100)]
    assert len(select(one_view, 50, FOUR).chosen) == selection.SETTINGS.max_per_view
    assert set(select(one_view, 50, FOUR).refused.values()) == {"view_full"}


def test_scenes_have_fair_shares() -> None:
    """One scene has a hundred times the candidates of the others and gets no more than they."""
    scenes = ["big"] * 400 + [f"s{i}" for i in range(4) for _ in range(8)]
    features = [candidate(i, "abcd"[i % 4], scene=scene) for i, scene in enumerate(scenes)]
    counts = Counter(feature.scene for feature in picked(features, 20))
    assert counts == {"big": 4, "s0": 4, "s1": 4, "s2": 4, "s3": 4}


def test_preferred_ones_come_first_where_balance_allows() -> None:
    preferred = [candidate(i, "abcd"[i % 4]) for i in range(12)]
    others = [candidate(i, "abcd"[i % 4], preference=1) for i in range(12, 200)]
    chosen = picked(preferred + others, 20)
    assert sum(feature.preference == 0 for feature in chosen) == 12
    assert Counter(feature.balance for feature in chosen) == {"a": 5, "b": 5, "c": 5, "d": 5}


def test_balance_is_not_given_up_for_preference() -> None:
    preferred = [candidate(i, "a") for i in range(100)]
    others = [candidate(i, "bcd"[i % 3], preference=1) for i in range(100, 200)]
    assert Counter(f.balance for f in picked(preferred + others, 40)) == {"a": 10, "b": 10, "c": 10, "d": 10}


@pytest.mark.parametrize("quota", [7, 8, 9, 30, 31])
def test_at_most_a_third_has_an_answer_that_is_capped(quota: int) -> None:
    rules = TypeRules("o", 3, multi_select=False, max_share=(("not visible", 1 / 3),))
    answers = ["not visible"] * 100 + ["occluded"] * 40 + ["not occluded"] * 40
    chosen = picked([candidate(i, answer) for i, answer in enumerate(answers)], quota, rules)
    assert len(chosen) == quota
    assert sum(feature.balance == "not visible" for feature in chosen) <= quota // 3


def test_nothing_but_a_capped_answer_gives_no_question() -> None:
    rules = TypeRules("o", 3, multi_select=False, max_share=(("not visible", 1 / 3),))
    assert picked([candidate(i, "not visible") for i in range(10)], 5, rules) == []


def test_multi_select_sizes_follow_their_letter_sets() -> None:
    """Of the seven sets of three letters three have one letter, three have two, one has three."""
    features = [candidate(i, "x", right=tuple(range(1 + i % 3))) for i in range(600)]
    sizes = Counter(len(feature.right) for feature in picked(features, 70, SETS))
    assert sizes == {1: 30, 2: 30, 3: 10}


def test_an_exchange_finds_room_that_a_greedy_choice_took() -> None:
    """In one scene with two likenesses, a has both and b only the first: only a on the second leaves room for b."""
    for seed in range(20):
        features = [
            candidate(10 * seed + 1, "a", scene="s", likeness="one"),
            candidate(10 * seed + 2, "a", scene="s", likeness="two"),
            candidate(10 * seed + 3, "b", scene="s", likeness="one"),
        ]
        assert [f.balance for f in picked(features, 2)] == ["a", "b"]


def test_an_exchange_of_one_for_two() -> None:
    """x stands in two pictures that are full with it; without it two others fit."""
    cap = selection.SETTINGS.max_per_view
    fill = [candidate(i, "abcd"[i % 4], scene="s", view=v) for i, v in enumerate(["p"] * (cap - 1) + ["q"] * (cap - 1))]
    both = candidate(50, "a", scene="s")._replace(views=("p", "q"), preference=-1)
    two = [candidate(51, "a", scene="s", view="p"), candidate(52, "b", scene="s", view="q")]
    chosen = picked([*fill, both, *two], 2 * cap)
    assert len(chosen) == 2 * cap
    assert both not in chosen


def test_the_order_of_input_makes_no_difference() -> None:
    draw = random.Random(1)
    features = [
        candidate(
            i,
            f"a{draw.randrange(4)}",
            scene=f"s{draw.randrange(5)}",
            likeness=str(draw.randrange(40)),
            view=str(draw.randrange(9)),
            stated=(("h", str(draw.randrange(8))),),
        )
        for i in range(400)
    ]
    expected = select(features, 40, FOUR)
    for _ in range(5):
        draw.shuffle(features)
        assert select(features, 40, FOUR) == expected


def test_every_candidate_is_chosen_or_refused_once() -> None:
    features = [candidate(i, "abcd"[i % 4], scene=f"s{i % 3}") for i in range(100)]
    result = select(features, 20, FOUR)
    assert sorted([*result.chosen, *result.refused]) == sorted(feature.uid for feature in features)
    assert set(result.refused.values()) == {"quota_met"}


def test_letters_are_right_equally_often_and_for_each_answer() -> None:
    draw = random.Random(2)
    features = [candidate(i, f"a{i % 8}", right=(draw.randrange(4),)) for i in range(203)]
    orders = orders_of(features, FOUR, seed=0)
    letters, cells = Counter(), Counter()
    for feature in features:
        order = orders[feature.uid]
        assert sorted(order) == [0, 1, 2, 3]
        letter = order.index(feature.right[0])
        letters[letter] += 1
        cells[feature.balance, letter] += 1
    assert max(letters.values()) - min(letters.values()) <= 1
    for answer in {feature.balance for feature in features}:
        counts = [cells[answer, letter] for letter in range(4)]
        assert max(counts) - min(counts) <= 1


def test_letter_sets_are_equally_frequent() -> None:
    features = [
        candidate(i, "x", right=tuple(sorted(random.Random(i).sample(range(3), 1 + i % 3)))) for i in range(300)
    ]
    chosen = picked(features, 97, SETS)
    orders = orders_of(chosen, SETS, seed=0)
    sets = Counter(
        tuple(place for place, i in enumerate(orders[feature.uid]) if i in feature.right) for feature in chosen
    )
    assert len(sets) == 7
    assert max(sets.values()) - min(sets.values()) <= 1, sets


def test_wrong_options_stand_anywhere() -> None:
    """Over many questions each wrong option is as often at each place: 3 sigma of a fair draw."""
    features = [candidate(i, "x", right=(0,)) for i in range(2000)]
    orders = orders_of(features, FOUR, seed=0)
    for option in range(4):
        places = Counter(order.index(option) for order in orders.values())
        for place in range(4):
            assert abs(places[place] - 500) < 3 * (2000 * 0.25 * 0.75) ** 0.5


def test_no_candidates_is_no_question() -> None:
    assert select([], 10, FOUR) == ((), {})
    assert select([candidate(1, "a")], 0, FOUR).chosen == ()
