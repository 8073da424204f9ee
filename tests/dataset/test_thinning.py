"""Which drafts are kept where there are too many: fair over all that is balanced later, whatever the order."""

from __future__ import annotations

import random
from collections import Counter
from types import SimpleNamespace

import synthetic_changes as changes
from synthetic_suite import SUITE

from spacecast.dataset import tasks
from spacecast.dataset.chance import number
from spacecast.dataset.settings import BuildSettings
from spacecast.dataset.thinning import in_turns
from spacecast.dataset.types import Choice, Draft, ViewUse


def draft(case: int, balance: str, **own: object) -> Draft:
    values: dict[str, object] = {
        "case": f"{case:05d}",
        "views": (ViewUse("v", "image"),),
        "facts": {},
        "choices": (Choice(balance, None),),
        "words": {},
        "stated": {},
        "balance": balance,
        "likeness": str(case),
        **own,
    }
    return Draft(**values)  # type: ignore[arg-type]


def draw(case: str) -> int:
    return number("test", case)


def test_rare_answers_come_in_turn() -> None:
    """Of 960 a, 30 b and 10 c the first 30 have ten of each, in whatever order they are found."""
    drafts = [draft(i, "a" if i < 960 else "b" if i < 990 else "c") for i in range(1000)]
    first = [d.case for d in in_turns(drafts, draw)[:30]]
    assert Counter(d.balance for d in drafts if d.case in first) == {"a": 10, "b": 10, "c": 10}
    random.Random(0).shuffle(drafts)
    assert [d.case for d in in_turns(drafts, draw)[:30]] == first


def test_every_cell_keeps_its_first_ones() -> None:
    """8 answers, 8 directions, 6 distances: 800 of the commonest and one or two of each other pair with an answer."""
    source = random.Random(3)
    common = [
        draft(i, "a0", relative="0", stated={"direction": "d0", "distance": "0.5"}, unchanged=True) for i in range(800)
    ]
    rare = []
    for answer in range(8):
        for key, values in (("direction", [f"d{i}" for i in range(8)]), ("distance", ["0.5", "1", "2", "3"])):
            for value in values:
                stated = {"direction": "d1", "distance": "1"} | {key: value}
                case = 1000 + len(rare)
                rare.append(draft(case, f"a{answer}", relative=str(45 * answer), stated=stated, unchanged=False))
    drafts = [*common, *rare]
    source.shuffle(drafts)
    kept = in_turns(drafts, draw)[: len(rare) + 10]
    for want in rare:
        for item in want.stated.items():
            assert any(d.balance == want.balance and item in d.stated.items() for d in kept), (want.balance, item)
    assert {d.relative for d in kept} == {str(45 * i) for i in range(8)}
    assert {d.unchanged for d in kept} == {True, False}


def test_unlike_drafts_and_pictures_come_first() -> None:
    drafts = [draft(i, "a", likeness="one" if i < 90 else str(i)) for i in range(100)]
    assert len({d.likeness for d in in_turns(drafts, draw)[:11]}) == 11
    drafts = [draft(i, "a", views=(ViewUse("main" if i < 90 else str(i), "image"),)) for i in range(100)]
    assert len({d.views for d in in_turns(drafts, draw)[:11]}) == 11


def test_preferred_drafts_come_first_among_equals() -> None:
    drafts = [draft(i, "a", preference=int(i % 10 > 0)) for i in range(100)]
    assert {d.preference for d in in_turns(drafts, draw)[:10]} == {0}


def test_nothing_is_lost_or_doubled() -> None:
    drafts = [draft(i, "abc"[i % 3], likeness=str(i % 7)) for i in range(200)]
    assert sorted(d.case for d in in_turns(drafts, draw)) == [d.case for d in drafts]


def test_what_is_kept_is_worded_and_the_rest_is_counted(monkeypatch) -> None:
    """Of 400 drafts a tenth has no name in the language: 50 others are kept all the same."""
    monkeypatch.setattr(tasks, "SETTINGS", tasks.TaskSettings(max_candidates=50))
    kind = next(kind for kind in changes.TYPES if kind.code == "coordinate_rotation_allocentric")
    drafts = list(kind.drafts(changes.Room("s0")))[:400]
    scan = SimpleNamespace(dataset="d", scene_id="s", room_id="s")
    nameless = {d.case for d in drafts[::10]}

    def word(code, d, language, generator):
        from spacecast.dataset.types import Refusal

        if d.case in nameless:
            return Refusal("wording", "no_name", d.case)
        return changes.word(code, d, language, generator)

    from dataclasses import replace

    kept, refused = tasks._worded(drafts, kind, replace(changes.SUITE, word=word), scan, BuildSettings())
    assert len(kept) == 50
    reasons = Counter(refusal.reason for refusal in refused)
    assert reasons["no_name"] > 0
    assert reasons["no_name"] + reasons["more_than_enough"] == 350
    again, _ = tasks._worded(drafts[::-1], kind, replace(changes.SUITE, word=word), scan, BuildSettings())
    assert again == kept
    assert SUITE.unchanged_share("occlusion") == 1.0
