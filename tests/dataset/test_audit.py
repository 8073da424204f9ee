"""Give-aways that are planted are found, and a fair set passes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from handmade import (
    COMPASS,
    COMPASS_FOURS,
    DISTANCES,
    FOURS,
    SIZES,
    WORDS,
    attachment_question,
    box,
    direction_question,
    facts_with,
    options_of,
    questions,
    row_with,
)

from spacecast.dataset.audit import audit, limit_of, without_names

LABELS = ("chair", "table", "lamp", "coffee table", "book", "bed", "sofa", "desk", "shelf", "monitor", "bin", "vase")


def verdict(rows, reading="names_replaced"):
    (found,) = [v for v in audit(rows) if v.reading == reading]
    return found


def set_of(make, scenes=40, each=10):
    return [make(f"q-{s}-{n}", f"scene{s:04d}_00", s * each + n) for s in range(scenes) for n in range(each)]


def asked(uid, scene, four, right, rng, question="Where is the {b} from the {a}?", *, code="direction_agent"):  # noqa: PLR0917
    """A question about two things drawn by chance."""
    a, b = rng.choice(LABELS, 2, replace=False)
    facts = facts_with(
        objects=[box(1, str(a), (0, 0, 0)), box(2, str(b), (1, 1, 0))], options=options_of({v: v for v in four},
        [right], rng)
    )  # fmt: skip
    return row_with(code, uid, scene, question.format(a=a, b=b), facts)


@pytest.mark.parametrize("seed", range(8))
def test_a_fair_set_passes(seed: int) -> None:
    rng = np.random.default_rng(seed)

    def make(uid, scene, n):
        heading = COMPASS[int(rng.integers(8))]
        word = COMPASS[n % 8]
        return asked(
            uid, scene, COMPASS_FOURS[word], word, rng,
            f"The camera faces {heading}. Where is the {{b}} from the {{a}}?",
            code="direction_allocentric",
        )  # fmt: skip

    for found in audit(set_of(make, scenes=20, each=8)):
        assert not found.fails, str(found)
        assert found.chance == 0.25


def test_the_hand_made_benchmark_passes() -> None:
    found = audit(questions(scenes=12, seed=9, per_type=24))
    assert [v.category for v in found if v.fails] == []
    assert len(found) == 12  # two readings of six types


def test_an_option_that_is_never_right_is_found() -> None:
    rng = np.random.default_rng(1)
    texts = list(DISTANCES.values())
    rows = set_of(lambda uid, scene, n: asked(uid, scene, texts, texts[n % 2], rng, code="distance"))
    found = verdict(rows)
    assert found.fails
    assert found.accuracy > 0.4  # two of four are ruled out
    once = set_of(lambda uid, scene, n: asked(uid, scene, texts, texts[n % 3], rng, code="distance"), scenes=80)
    assert verdict(once).fails


def test_an_answer_that_follows_a_stated_direction_is_found() -> None:
    rng = np.random.default_rng(2)

    def make(uid, scene, n):
        turn = 0 if n % 5 < 2 else int(rng.integers(0, 4)) * 2  # equal to the move more often than not
        move = n % 8
        word = WORDS[(move + turn) % 8]
        said = WORDS[move].replace("front", "forward").replace("back", "backward")
        return asked(uid, scene, FOURS[word], word, rng, f"The {{a}} goes {said}. Where is the {{b}} from it?")

    assert verdict(set_of(make)).fails


def test_an_answer_that_follows_a_number_is_found() -> None:
    rng = np.random.default_rng(3)

    def make(uid, scene, n):
        angle = (90, 180, 270)[n % 3]
        word = WORDS[angle // 45] if n % 2 else WORDS[2 * int(rng.integers(4))]
        return asked(uid, scene, FOURS[word], word, rng, f"Everything turns by {angle} degrees. Where is the {{b}}?")

    assert verdict(set_of(make)).fails


def test_a_letter_that_is_preferred_is_found() -> None:
    rng = np.random.default_rng(4)

    def make(uid, scene, n):
        row = asked(uid, scene, FOURS["left"], FOURS["left"][n % 4], rng)
        if n % 3:
            return row
        facts = row.facts
        facts["options"].sort(key=lambda option: option["tag"] is not None)
        return row_with("direction_agent", uid, scene, row.question, facts)

    assert verdict(set_of(make)).fails


def test_the_longest_option_is_found() -> None:
    rng = np.random.default_rng(5)

    def make(uid, scene, n):
        four = [f"thing {w}" for w in rng.choice(LABELS, 4, replace=False)]
        right = max(four, key=len) if n % 2 else four[int(rng.integers(4))]
        return asked(uid, scene, four, right, rng)

    assert verdict(set_of(make)).fails


def test_a_paraphrase_that_tells_is_found() -> None:
    rng = np.random.default_rng(6)

    def make(uid, scene, n):
        word = WORDS[2 * (n % 4)]
        return asked(
            uid, scene, FOURS[word], word, rng, ("Where", "Say where", "Tell where", "And where")[n % 4] + " is it?"
        )

    assert verdict(set_of(make)).accuracy > 0.9


def test_names_tell_only_in_the_full_text() -> None:
    """Lamps are always to the left: knowledge of the world, as far as the words go."""
    rng = np.random.default_rng(7)

    def make(uid, scene, n):
        word = FOURS["left"][n % 4]
        facts = facts_with(
            objects=[box(1, LABELS[n % 4], (0, 0, 0)), box(2, "rug", (1, 1, 0))],
            options=options_of({v: v for v in FOURS["left"]}, [word], rng),
        )
        return row_with("direction_agent", uid, scene, f"Where is the {LABELS[n % 4]} from the rug?", facts)

    rows = set_of(make, scenes=20)
    assert not verdict(rows).fails
    full = verdict(rows, "full_text")
    assert full.fails
    assert full.accuracy > 0.9


def test_chinese_names_are_replaced_too() -> None:
    rng = np.random.default_rng(7)
    chinese = ("椅子", "桌子", "台灯", "书")

    def make(uid, scene, n):
        word, thing = FOURS["left"][n % 4], box(1, LABELS[n % 4], (0, 0, 0)) | {"label_zh": chinese[n % 4]}
        facts = facts_with(objects=[thing], options=options_of({v: v for v in FOURS["left"]}, [word], rng))
        return row_with("direction_agent", uid, scene, f"{chinese[n % 4]}在哪个方向？", facts)

    rows = set_of(make, scenes=20)
    assert not verdict(rows).fails
    assert verdict(rows, "full_text").fails


def test_attachment_is_exempt_from_the_full_text_and_not_from_the_other() -> None:
    rng = np.random.default_rng(8)
    rows = set_of(lambda uid, scene, n: attachment_question(uid, scene, SIZES[n % 7], rng), scenes=20)
    names, full = verdict(rows), verdict(rows, "full_text")
    assert full.accuracy > full.limit  # the tray always goes first
    assert not full.fails
    assert names.chance == pytest.approx(1 / 7)
    one = [replace(row, answer=("A",)) for row in rows]
    assert verdict(one).fails


def test_letters_in_sets_are_found() -> None:
    rng = np.random.default_rng(10)
    rows = set_of(lambda uid, scene, n: attachment_question(uid, scene, 2, rng), scenes=20)
    assert verdict(rows).fails  # always two of three


SHOWN = (("image",), ("main_a", "main_b"), ("main_a", "bridge", "main_b"))


@pytest.mark.parametrize("rigged", [False, True])
def test_questions_on_several_pictures_are_looked_at_by_themselves(rigged) -> None:
    """A fifth of a type's questions shows three pictures; of these alone the paraphrase tells, if rigged."""
    rng = np.random.default_rng(13)

    def make(uid, scene, n):
        roles = SHOWN[(0, 0, 1, 1, 2)[n % 5]]
        right, style = FOURS["left"][int(rng.integers(4))], int(rng.integers(4))
        if rigged and len(roles) == 3:
            style = FOURS["left"].index(right)
        row = asked(
            uid, scene, FOURS["left"], right, rng, ("Where", "Say where", "Tell where", "And where")[style] + " is it?"
        )
        return replace(row, image_roles=roles)

    found = {v.category: v.fails for v in audit(set_of(make)) if v.reading == "names_replaced"}
    name = "L1 / Camera Direction"
    assert set(found) == {name, *(f"{name}, {part} pictures" for part in ("two", "more")), f"{name}, one picture"}
    assert found[f"{name}, more pictures"] is rigged
    assert not found[f"{name}, one picture"]
    assert not found[f"{name}, two pictures"]
    one = [replace(row, image_roles=("image",)) for row in set_of(make)]
    assert {v.category for v in audit(one)} == {name}


def test_few_questions_prove_nothing() -> None:
    assert limit_of(0.25, 10_000, "names_replaced") == pytest.approx(0.29)
    assert limit_of(0.25, 100, "names_replaced") == pytest.approx(0.25 + 3 * np.sqrt(0.25 * 0.75 / 100))
    assert limit_of(0.25, 10_000, "full_text") == pytest.approx(0.40)
    rng = np.random.default_rng(11)
    rows = [direction_question(f"q{n}", f"scene{n:04d}_00", "left", rng) for n in range(4)]
    assert not verdict(rows).fails


def test_one_scene_cannot_be_audited() -> None:
    rng = np.random.default_rng(12)
    assert audit([direction_question(f"q{n}", "scene0000_00", "left", rng) for n in range(30)]) == []


def test_the_same_twice_and_in_any_order() -> None:
    rows = questions(scenes=5, seed=1)
    assert audit(rows) == audit(list(reversed(rows)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where is the coffee table from the table?", "Where is the <name1> from the <name2>?"),
        ("The Table and the tables.", "The <name1> and the <name1>."),
        ("A tablet is no table.", "A tablet is no <name1>."),
        ("Nothing here", "Nothing here"),
    ],
)
def test_names_become_tokens(text: str, expected: str) -> None:
    assert without_names(text, ["table", "coffee table"], {}) == expected
