"""Counts and bounds of balance, by hand; and whole types in invented rooms, with the text-only audit as the judge."""

from __future__ import annotations

from collections import Counter
from functools import cache
from types import SimpleNamespace

import pytest
import synthetic_changes as changes

from spacecast.dataset import tasks
from spacecast.dataset.audit import audit
from spacecast.dataset.balance import Balance, Feature, TypeRules
from spacecast.dataset.chance import number
from spacecast.dataset.rows import row_of
from spacecast.dataset.selection import Before, orders_of, rank_of, select
from spacecast.dataset.settings import BuildSettings
from spacecast.dataset.together import Asked, Told, verdicts_of
from spacecast.dataset.words import candidate_from
from spacecast.errors import SpacecastError

FOUR = TypeRules("four", 4, multi_select=False)
ROOMS, QUOTA = 8, 96
KINDS = {kind.code: kind for kind in changes.TYPES}


def feature(uid: int, balance: str = "a", **own: object) -> Feature:
    name = f"u{uid:05d}"
    plain = Feature(name, f"s{uid}", str(uid), (str(uid),), balance, (0,), (), 0, rank_of(0, name))
    return plain._replace(**own)


# -- by hand ----------------------------------------------------------------------------------------------------------


def test_one_more_of_a_stated_value_costs_what_it_adds_to_the_inequality() -> None:
    """Stated x: a three times, b once. The equal share of the next is 4 // 2 = 2: a costs 3 - 2 = 1, b 1 - 2 = -1.

    In the type the same counts stand once more; what states y is only in the type.
    """
    x, y = (("k", "x"),), (("k", "y"),)
    features = [feature(0, "a", stated=x), feature(1, "b", stated=x), feature(2, "a", stated=y)]
    balance = Balance(features, FOUR)
    for i, times in ((0, 3), (1, 1)):
        for _ in range(times):
            balance.put(int(balance.signature[i]), 1)
    costs = balance.inequality()[balance.signature]
    assert costs.tolist() == [4 * (1 + 1), 4 * (-1 - 1), 4 * (1 + 0)]  # both weigh four times


@pytest.mark.parametrize(
    "chosen, full",
    [
        ("", ""),  # the first of a row may be anything
        ("a", "a"),  # ceil(1.05 x 2 / 4) = 1 of two
        ("ab", "ab"),  # of three
        ("abc", ""),  # ceil(1.05 x 4 / 4) = 2 of four
        ("abcda", "a"),
        ("aabbcc", "abc"),  # ceil(1.05 x 7 / 4) = 2 of seven
        ("aabbccd", ""),  # ceil(1.05 x 8 / 4) = 3 of eight
    ],
)
def test_bounds_where_the_text_states_something(chosen: str, full: str) -> None:
    stated = (("k", "x"),)
    features = [feature(i, answer, stated=stated, options="abcd") for i, answer in enumerate("abcd")]
    balance = Balance(features, FOUR)
    for answer in chosen:
        balance.put(int(balance.signature["abcd".index(answer)]), 1)
    assert {a for a, is_full in zip("abcd", balance.is_full()[balance.signature], strict=True) if is_full} == set(full)


def test_answers_of_other_options_are_apart() -> None:
    """north among north, east, south, west says nothing about northeast and its four."""
    stated = (("k", "x"),)
    features = [feature(0, "n", stated=stated, options="nesw"), feature(1, "ne", stated=stated, options="diagonal")]
    balance = Balance(features, FOUR)
    balance.put(int(balance.signature[0]), 1)
    assert balance.is_full()[balance.signature].tolist() == [True, False]


def test_answers_counted_from_the_motion_are_apart_by_right_angles() -> None:
    """90 is full after one of two; 45 is of the other four, and what has no motion is in no row."""
    features = [feature(i, f"a{i}", relative=r) for i, r in enumerate(("90", "270", "45", ""))]
    balance = Balance(features, FOUR)
    balance.put(int(balance.signature[0]), 1)
    assert balance.is_full()[balance.signature].tolist() == [True, False, False, False]


def test_at_most_a_quarter_is_unchanged() -> None:
    features = [feature(0, "a", unchanged=True), feature(1, "b"), feature(2, "c"), feature(3, "d")]
    balance = Balance(features, FOUR._replace(max_unchanged=0.25))
    signature = balance.signature
    assert balance.is_full()[signature].tolist() == [True, False, False, False]
    for i in (1, 2, 3):
        balance.put(int(signature[i]), 1)
    assert not balance.is_full()[signature][0]  # one of four
    balance.put(int(signature[0]), 1)
    assert balance.is_full()[signature][0]  # two of five
    assert not balance.is_broken()
    balance.put(int(signature[3]), -1)
    assert balance.is_broken()  # one of three


def test_what_the_change_leaves_as_it_was_is_taken_only_where_balance_needs_it() -> None:
    """Answers b, c and d come changed and unchanged; a always stays, and is a quarter of what is chosen."""
    features = [feature(i, "abcd"[i % 4], unchanged=i % 4 == 0 or i // 4 % 2 == 0) for i in range(400)]
    chosen = set(select(features, 40, FOUR).chosen)
    assert Counter(f.balance for f in features if f.uid in chosen and f.unchanged) == {"a": 10}
    assert len(chosen) == 40


@pytest.mark.parametrize("relative", ["30", "360", "-45", "left", "45.0"])
def test_an_answer_counted_from_the_motion_is_a_multiple_of_45(relative: str) -> None:
    with pytest.raises(SpacecastError, match="should be a multiple of 45 from 0 to 315"):
        Balance([feature(0, relative=relative)], FOUR)


def test_a_text_that_gives_the_answer_away_is_asked_once_for_each_value() -> None:
    features = [feature(i, "abcd"[i % 4], stated=(("k", str(i % 4)),), options="abcd") for i in range(400)]
    assert len(select(features, 100, FOUR).chosen) == 4


def test_how_many_go_along_is_spread() -> None:
    follows = ["0"] * 300 + ["1"] * 60 + ["2"] * 40
    features = [feature(i, "abcd"[i % 4], follows=follows[i]) for i in range(400)]
    chosen = set(select(features, 60, FOUR).chosen)
    assert Counter(f.follows for f in features if f.uid in chosen) == {"0": 20, "1": 20, "2": 20}


def test_what_is_asked_before_the_change_comes_first_where_balance_allows() -> None:
    features = [feature(i, "abcd"[i % 4], relation=str(i)) for i in range(400)]
    asked = frozenset(str(i) for i in range(0, 400, 10))  # half a, half c
    chosen = set(select(features, 40, FOUR, Before(relations=asked)).chosen)
    found = [f for f in features if f.uid in chosen]
    assert Counter(f.balance for f in found) == {"a": 10, "b": 10, "c": 10, "d": 10}
    assert sum(f.relation in asked for f in found) == 20


# -- whole types ------------------------------------------------------------------------------------------------------


@cache
def pool(code: str) -> dict[str, tuple[Feature, str]]:
    """Every candidate of a type in invented rooms, as the builder's own tasks find and cut them."""
    kind, found = KINDS[code], {}
    for place in range(ROOMS):
        scan = SimpleNamespace(dataset="invented", scene_id=f"s{place}", room_id=f"s{place}", is_aligned=True)
        context = SimpleNamespace(room=changes.Room(f"s{place}"))
        drafts = tasks._drafts(kind, changes.SUITE, scan, context, tasks._Tally())
        kept, _ = tasks._worded(drafts, kind, changes.SUITE, scan, BuildSettings())
        found.update({entry.feature.uid: (entry.feature, entry.record) for entry in kept})
    return found


def rules_of(code: str) -> TypeRules:
    kind = KINDS[code]
    return TypeRules(code, kind.option_count, kind.multi_select, (), changes.SUITE.unchanged_share(code))


def chosen_of(code: str, features: list[Feature], quota: int = QUOTA) -> list[Feature]:
    chosen = set(select(features, quota, rules_of(code)).chosen)
    return [f for f in features if f.uid in chosen]


def judged(code: str, chosen: list[Feature]) -> dict[str, bool]:
    """Reading -> whether the words alone give the answers away."""
    orders = orders_of(chosen, rules_of(code), 0)
    rows = [row_of(candidate_from(pool(code)[f.uid][1]), KINDS[code], orders[f.uid], wording_version=1) for f in chosen]
    return {verdict.reading: verdict.fails for verdict in audit(rows)}


def is_gone(f: Feature) -> bool:
    return f.balance == "not visible"


def spread(counts: Counter[str], kinds: int) -> int:
    return max(counts.values()) - (min(counts.values()) if len(counts) == kinds else 0)


@pytest.mark.parametrize("code", sorted(KINDS))
def test_a_type_of_skewed_rooms_is_balanced_and_its_words_give_nothing_away(code: str) -> None:
    features = [f for f, _ in pool(code).values()]
    # All that eight rooms may have; of removals, three times those that take the target along.
    quota = QUOTA if code != "object_remove" else 3 * len({f.likeness + f.scene for f in features if is_gone(f)})
    chosen = chosen_of(code, features, quota)
    assert len(chosen) == quota
    kinds = len({f.balance for f in features})
    answers = Counter(f.balance for f in chosen)
    # Answers by the compass are spread over what is seen from the stated heading, too.
    assert spread(answers, kinds) <= (2 if "camera_compass" in dict(features[0].stated) else 1)
    rows: dict[tuple[str, ...], Counter[str]] = {}
    quarters: dict[tuple[str, ...], Counter[str]] = {}
    for f in chosen:
        for stated in f.stated:
            rows.setdefault(stated, Counter())[f.balance] += 1
        if f.relative:
            is_odd = str(int(f.relative) % 90)
            for stated in ((), *f.stated):
                quarters.setdefault((*stated, is_odd), Counter())[f.relative] += 1
    for stated, counts in rows.items():
        assert spread(counts, kinds) <= 2, (stated, counts)
    for stated, counts in quarters.items():
        assert spread(counts, 4) <= 2, (stated, counts)
    share = {rule.type_code: rule.share for rule in changes.SUITE.max_unchanged}.get(code, 1.0)
    assert sum(f.unchanged for f in chosen) <= share * len(chosen)
    verdicts = judged(code, chosen)
    assert not verdicts["names_replaced"]
    if code != "object_remove":  # there what is carried is always the same thing
        assert not verdicts["full_text"]


def mostly(uid: str, share: float) -> bool:
    return number("mostly", uid) < share * 2**62


SKEWED = {
    "answers follow the motion": ("object_move_allocentric", lambda f: f.relative in {"0", "45"}),
    "the camera's heading gives the answer": (
        "object_move_allocentric",
        lambda f: dict(f.stated)["camera_compass"] == f.balance,
    ),
    "only long moves bring things near": (
        "object_move_distance",
        lambda f: (f.balance in {"very close", "close"}) == (float(dict(f.stated)["distance"]) > 1.7),
    ),
    "what goes away is hidden": (
        "object_move_occlusion",
        lambda f: (
            {"away": "first by second", "towards": "second by first", "sideways": "neither"}[dict(f.stated)["motion"]]
            == f.balance
        ),
    ),
}


@pytest.mark.parametrize("what", sorted(SKEWED))
def test_fewer_questions_rather_than_words_that_give_answers_away(what: str) -> None:
    """97 of 100 of the others are taken away: drawn by chance, the words give answers away, and selection does not."""
    code, gives_away = SKEWED[what]
    features = [f for f, _ in pool(code).values() if gives_away(f) or mostly(f.uid, 0.03)]
    some = sorted(features, key=lambda f: f.rank)[:QUOTA]
    assert judged(code, some)["names_replaced"]
    chosen = chosen_of(code, features)
    assert len(chosen) >= 24
    assert not judged(code, chosen)["names_replaced"]


def told_together(code: str, chosen: list[Feature]) -> Told:
    """What direction and distance give away together in questions about bins of distances."""
    options = frozenset(changes.BINS)
    asked = [{"": Asked(("invented", f.scene), dict(f.stated), options, f.balance)} for f in chosen]
    (told,) = verdicts_of({(code, ""): asked})
    return told


def test_drafts_thinned_by_a_sum_that_holds_the_answer_are_found() -> None:
    """Direction, distance and answer add up to a multiple of four: each alone is as even as before."""
    code = "object_move_distance"
    features = [f for f, _ in pool(code).values()]
    orders = [changes.STEPS, tuple(map(str, changes.DISTANCES_M)), changes.BINS]

    def total(f: Feature) -> int:
        stated = dict(f.stated)
        values = (stated["direction"], stated["distance"], f.balance)
        return sum(order.index(value) for order, value in zip(orders, values, strict=True))

    thinned = chosen_of(code, [f for f in features if total(f) % 4 == 0])
    assert not judged(code, thinned)["names_replaced"]
    assert told_together(code, thinned).fails
    assert not told_together(code, chosen_of(code, features)).fails


@pytest.mark.parametrize("code", ["object_move_allocentric", "object_move_occlusion"])
def test_no_bound_is_broken_however_many_are_wanted(code: str) -> None:
    features = [f for f, _ in pool(code).values() if f.relative != "135" and (f.unchanged or mostly(f.uid, 0.2))]
    for quota in (1, 2, 7, 30, 100):
        chosen = chosen_of(code, features, quota)
        balance = Balance(features, rules_of(code))
        place = {f.uid: i for i, f in enumerate(features)}
        for f in chosen:
            balance.put(int(balance.signature[place[f.uid]]), 1)
        assert not balance.is_broken()
        assert sum(f.unchanged for f in chosen) <= len(chosen) / 4


@pytest.mark.parametrize("told_by", ["names", "sizes"])
def test_a_name_goes_with_every_answer_equally_often_where_that_costs_nothing_else(told_by: str) -> None:
    """Nine of ten wardrobes have answer a, nine of ten cups b; a quarter of forty is each answer's, whatever stands."""
    features = []
    for i in range(800):
        answer, usual = "abcd"[i % 4], {"a": "wardrobe", "b": "cup"}.get("abcd"[i % 4], "chair")
        others = ("wardrobe", "cup", "chair")
        label = usual if i // 4 % 10 else others[i // 40 % 3]
        features.append(feature(i, answer, **{told_by: (("target", label),)}))
    chosen = set(select(features, 40, FOUR).chosen)
    beside: dict[str, Counter[str]] = {}
    for f in features:
        if f.uid in chosen:
            beside.setdefault(getattr(f, told_by)[0][1], Counter())[f.balance] += 1
    assert sum((counts for counts in beside.values()), Counter()) == Counter(a=10, b=10, c=10, d=10)
    for label, counts in beside.items():
        assert spread(counts, 4) <= 1, (label, counts)
