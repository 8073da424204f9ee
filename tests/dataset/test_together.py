"""What is given away by values that a text states together is found, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from handmade import COMPASS, COMPASS_FOURS, DISTANCES, box, facts_with, options_of, row_with, write

from spacecast.dataset import together
from spacecast.dataset.audit import audit
from spacecast.dataset.rows import Row
from spacecast.dataset.together import Told, audit_together, stated_of
from spacecast.dataset.verify import verify

DIRECTIONS = ("forward", "forward-right", "right", "backward-right", "backward", "backward-left", "left")
DIRECTIONS = (*DIRECTIONS, "forward-left")
METRES = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
BINS = tuple(DISTANCES)
Make = Callable[[str, str, np.random.Generator], Row]
NORTH = {"kind": "world", "anchor": None, "facing": None, "heading_in_world": [0, 1]}


def after_it(value: str) -> dict[str, dict[str, str]]:
    return {"before": {"value": value}, "after": {"value": value}}


def moved(  # noqa: PLR0917
    uid: str, scene: str, direction: int, metres: int, answer: int, rng: np.random.Generator
) -> Row:
    """How far apart are they, after a move in so many eighths of a turn?"""
    facts = facts_with(
        objects=[box(1, "chair", (0, 0, 0)), box(2, "desk", (1, 1, 0))],
        intervention={
            "kind": "move", "object": 1, "moved": [1], "direction": DIRECTIONS[direction],
            "distance_m": METRES[metres], "frame": NORTH, "vector_in_world": [0, 0, 0],
        },
        relation={"kind": "distance", "target": 1, "reference": 2, **after_it(BINS[answer])},
        options=options_of(DISTANCES, [BINS[answer]], rng),
    )  # fmt: skip
    text = f"The chair goes {METRES[metres]:.1f} m {DIRECTIONS[direction]}. How far is it from the desk?"
    return row_with("object_move_distance", uid, scene, text, facts)


def turned(  # noqa: PLR0917
    uid: str, scene: str, heading: int, direction: int, metres: int, turn: int, rng: np.random.Generator
) -> Row:
    """Where is it by the compass, ``turn`` eighths clockwise from where it went?"""
    right = COMPASS[(direction + turn) % 8]
    facts = facts_with(
        objects=[box(1, "chair", (0, 0, 0)), box(2, "desk", (1, 1, 0))],
        camera_compass=COMPASS[heading],
        intervention={
            "kind": "move", "object": 1, "moved": [1], "direction": COMPASS[direction], "distance_m": METRES[metres],
            "frame": NORTH, "vector_in_world": [0, 0, 0],
        },
        relation={"kind": "direction", "target": 1, "reference": 2, **after_it(right)},
        options=options_of({word: word for word in COMPASS_FOURS[right]}, [right], rng),
    )  # fmt: skip
    text = f"The camera looks {COMPASS[heading]}. The chair goes {METRES[metres]:.1f} m {COMPASS[direction]}. Where?"
    return row_with("object_move_allocentric", uid, scene, text, facts)


def set_of(make: Make, seed: int, questions: int = 264, scenes: int = 132) -> list[Row]:
    rng = np.random.default_rng(seed)
    return [make(f"q{n:04d}", f"scene{n % scenes:04d}_00", rng) for n in range(questions)]


def drawn(share: float = 0.0) -> Make:
    """Moves whose answer is drawn, and in such a share follows from direction and distance, from neither alone."""

    def make(uid: str, scene: str, rng: np.random.Generator) -> Row:
        direction, metres = int(rng.integers(8)), int(rng.integers(4))
        answer = (direction + metres) % 4 if rng.random() < share else int(rng.integers(4))
        return moved(uid, scene, direction, metres, answer, rng)

    return make


def failed(rows: list[Row]) -> dict[str, Told]:
    return {told.category: told for told in audit_together(rows) if told.fails}


def test_what_direction_and_distance_give_away_together_is_found_and_said() -> None:
    """Every direction with every distance eight times, so that neither alone tells anything."""
    rng = np.random.default_rng(0)
    rows = [
        moved(f"q{n}", f"scene{n % 128:04d}_00", n % 8, n // 8 % 4, (n + n // 8) % 4, rng)
        for n in rng.permutation(8 * 4 * 8)
    ]
    assert not any(verdict.fails for verdict in audit(rows))
    (told,) = audit_together(rows)
    assert told.fails
    assert (told.category, told.stated, told.questions) == ("L2 / Move Distance", ("direction", "distance"), 256)
    assert told.accuracy == pytest.approx(1.0)
    assert 0.15 < told.fair < told.limit < 0.4
    assert str(told).startswith(
        "the answer of a question in another scene that states the same direction and distance is right in 100.0 % of "
        "cases, over 256 questions; "
    )


@pytest.mark.parametrize("seed", range(6))
def test_three_in_ten_are_enough(seed: int) -> None:
    assert failed(set_of(drawn(0.3), seed, questions=400))


@pytest.mark.parametrize("seed", range(4))
def test_types_that_give_away_a_little_each_are_found_together(seed: int) -> None:
    """Four types of 200 questions, of which 3 in 10 follow from direction and distance."""
    types = ("L2 / Move Distance", *(f"L2 / Other {n}" for n in range(3)))
    rows = []
    for number, name in enumerate(types):
        some = set_of(drawn(0.3), 10 * seed + number, questions=200, scenes=100)
        rows += [replace(row, type=name.removeprefix("L2 / ")) for row in some]
    found = failed(rows)
    assert found["all types"].questions >= 780
    assert found["all types"].stated == ("direction", "distance")


def test_three_values_of_which_no_two_tell() -> None:
    def make(uid: str, scene: str, rng: np.random.Generator) -> Row:
        heading, direction, metres = (int(rng.integers(4)) for _ in range(3))
        return turned(uid, scene, heading, direction, metres, 2 * ((heading + direction + metres) % 4), rng)

    (told,) = failed(set_of(make, 1)).values()
    assert set(told.stated) == {"camera heading", "direction", "distance"}


def test_an_answer_counted_from_the_motion_that_two_other_values_give_away() -> None:
    def make(uid: str, scene: str, rng: np.random.Generator) -> Row:
        heading, direction, metres = (int(rng.integers(n)) for n in (8, 8, 4))
        turn = 2 * ((heading + metres) % 4) if rng.random() < 0.7 else 2 * int(rng.integers(4))
        return turned(uid, scene, heading, direction, metres, turn, rng)

    (told,) = failed(set_of(make, 2)).values()
    assert told.stated == ("camera heading", "distance")
    assert told.counted_from == "direction"
    assert str(told).startswith("the answer counted from the stated direction of a question in another scene")


def test_questions_on_several_pictures_are_looked_at_by_themselves() -> None:
    """A third shows two pictures, and of these alone direction and distance give the answer."""
    fair, rigged = drawn(), drawn(0.6)

    def make(uid: str, scene: str, rng: np.random.Generator) -> Row:
        if rng.random() < 0.67:
            return fair(uid, scene, rng)
        return replace(rigged(uid, scene, rng), image_roles=("main_a", "main_b"))

    found = failed(set_of(make, 3, questions=600))
    assert "L2 / Move Distance, two pictures" in found
    assert "L2 / Move Distance, one picture" not in found


def test_a_fair_set_passes() -> None:
    """Sixty of two types each; of such sets one in a hundred may fail."""

    def compass(uid: str, scene: str, rng: np.random.Generator) -> Row:
        heading, direction, metres, turn = (int(rng.integers(n)) for n in (8, 8, 6, 8))
        return turned(uid, scene, heading, direction, metres, turn, rng)

    fails = 0
    for seed in range(60):
        rows = set_of(drawn(), seed, questions=80, scenes=40) + set_of(compass, seed, questions=80, scenes=40)
        fails += bool(failed(rows))
    assert fails <= 2


def test_luck_is_as_rare_as_it_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of fair sets with one pair of values a tenth would fail if a tenth might: 20 of 200, give or take 4 each way."""
    monkeypatch.setattr(together, "SETTINGS", together.TogetherSettings(false_alarms=0.1))
    fails = sum(bool(failed(set_of(drawn(), seed, questions=96, scenes=48))) for seed in range(200))
    assert 7 <= fails <= 33


@pytest.mark.parametrize("scenes", [3, 12])
def test_rooms_with_a_favourite_answer_give_nothing_away(scenes: int) -> None:
    """Two in three answers of a room are the same one: what holds in few rooms may be luck."""
    for seed in range(30):
        favourite = np.random.default_rng(1000 + seed).integers(4, size=scenes)

        def make(uid: str, scene: str, rng: np.random.Generator, favourite: np.ndarray = favourite) -> Row:
            answer = favourite[int(scene[5:9])] if rng.random() < 0.67 else rng.integers(4)
            return moved(uid, scene, int(rng.integers(4)), int(rng.integers(3)), int(answer), rng)

        assert not failed(set_of(make, seed, questions=180, scenes=scenes)), seed


def test_answers_that_are_balanced_for_each_value_agree_less_than_by_chance() -> None:
    """Of each direction and each distance every answer equally often, as selection chooses them."""
    rng = np.random.default_rng(5)
    rows = []
    for _ in range(4):
        table = (rng.permutation(8)[:, None] + rng.permutation(8)[None, :4]) % 4
        rows += [(d, m, int(table[d, m])) for d in range(8) for m in range(4)]
    made = [moved(f"q{n}", f"scene{n:04d}_00", *row, rng) for n, row in enumerate(rows)]
    (told,) = audit_together(made)
    assert told.fair < 0.22
    assert not told.fails


def test_copies_counted_by_hand() -> None:
    """Three scenes say forward 0.5 m, with answers 0, 0, 1; two questions of one scene copy from no one."""
    rng = np.random.default_rng(0)
    same = [moved(f"a{n}", f"scene000{n}_00", 0, 0, answer, rng) for n, answer in enumerate((0, 0, 1))]
    other = [moved(f"b{n}", "scene0009_00", 1, n // 2, 2, rng) for n in range(4)]
    more = [moved(f"c{n}", f"scene001{n}_00", 2, 1, 3, rng) for n in range(2)]
    (told,) = audit_together([*same, *other, *more])
    assert told.questions == 5
    assert told.accuracy == pytest.approx(2 / 4)  # of three copies one, and the one of two scenes that say right 1.0 m
    assert not told.fails


def test_what_a_text_states() -> None:
    assert stated_of({"intervention": None, "relation": {"kind": "distance"}}) == {}
    orbit = {"kind": "orbit", "object": 7, "angle_deg": 180, "sense": None}
    relation = {"kind": "direction", "target": 2, "reference": 3}
    assert stated_of({"intervention": orbit, "relation": relation, "camera_compass": "south"}) == {
        "angle": "180", "camera heading": "south", "thing asked about": "another",
    }  # fmt: skip
    move = {"kind": "move", "object": 3, "direction": "left", "distance_m": 1.5}
    assert stated_of({"intervention": move, "relation": relation}) == {
        "direction": "left", "distance": "1.5", "thing asked about": "the mover",
    }  # fmt: skip


def test_what_has_no_single_answer_is_left_out() -> None:
    row = moved("q", "scene0000_00", 0, 0, 0, np.random.default_rng(0))
    for other in (
        replace(row, correct_values=()),
        replace(row, correct_values=("so far",)),
        replace(row, multi_select=True),
        replace(row, source_record_json=row.source_record_json.replace('"value": "close"', '"value": "far"')),
    ):
        assert together.asked_of(row) is not None
        assert together.asked_of(other) is None


def seen_from(share: float) -> Make:
    """Compass questions of one or two pictures; in such a share the answer of one lies before the camera, of two
    behind it, while heading and answer are even each."""

    def make(uid: str, scene: str, rng: np.random.Generator) -> Row:
        heading, several = int(rng.integers(8)), int(rng.integers(2))
        turn = 4 * several if rng.random() < share else int(rng.integers(8))
        right = COMPASS[(heading + turn) % 8]
        facts = facts_with(
            objects=[box(1, "chair", (0, 0, 0)), box(2, "desk", (1, 1, 0))],
            camera_compass=COMPASS[heading],
            relation={"kind": "direction", "target": 1, "reference": 2, "before": {"value": right}, "after": None},
            options=options_of({word: word for word in COMPASS_FOURS[right]}, [right], rng),
        )
        facts["views"] = facts["views"] * (1 + several)
        return row_with("direction_allocentric", uid, scene, f"The camera looks {COMPASS[heading]}. Where?", facts)

    return make


@pytest.mark.parametrize("seed", range(4))
def test_what_lies_before_the_camera_by_the_number_of_pictures_is_found(seed: int) -> None:
    (told,) = failed(set_of(seen_from(0.35), seed)).values()
    assert (told.counted_from, told.stated) == ("camera heading", ("number of pictures",))
    assert "the answer counted from the stated camera heading of a question in another scene that states the same " in (
        str(told)
    )


def test_headings_that_tell_nothing_pass() -> None:
    assert sum(bool(failed(set_of(seen_from(0.0), seed))) for seed in range(30)) <= 1


def test_the_same_in_any_order() -> None:
    rows = set_of(drawn(0.5), 4)
    one, other = audit_together(rows), audit_together(list(reversed(rows)))
    assert [told.category for told in one] == [told.category for told in other]
    assert one[0][4:7] == pytest.approx(other[0][4:7])


def test_it_is_a_finding(tmp_path) -> None:
    rows = set_of(drawn(1.0), 0, questions=96)
    rows = [replace(row, question_uid=f"q{n}") for n, row in enumerate(rows)]
    found = verify(write(tmp_path, rows))
    said = [finding for finding in found if finding.kind == "text_gives_answer_away"]
    assert [finding.where for finding in said] == ["L2 / Move Distance"]
    assert "states the same direction and distance" in said[0].detail
