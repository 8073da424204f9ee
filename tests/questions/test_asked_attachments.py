"""Attachment questions by hand."""

from __future__ import annotations

from box_scans import Box, box_scan, looking, on_floor

from questions.attachments import AttachmentChain
from spacecast.dataset.context import SceneContext
from spacecast.dataset.types import Draft, Refusal

CAMERA = looking((0.0, -3.2, 2.2), (0.0, 0.3, 0.6))
# A table with a tray and a box on it, and a mug on the tray; a bin and a stool beside it.
TABLE = Box(1, "table", (0.0, 0.5, 0.35), (1.6, 0.9, 0.7))
TRAY = Box(2, "tray", (-0.3, 0.5, 0.74), (0.6, 0.5, 0.08))
MUG = Box(3, "mug", (-0.3, 0.5, 0.88), (0.2, 0.2, 0.2))
CASE = Box(4, "suitcase", (0.5, 0.5, 0.8), (0.3, 0.3, 0.2))
BIN = on_floor(5, "bin", 1.3, 0.5)
STOOL = on_floor(6, "stool", -1.3, 0.5)
ROOM = [TABLE, TRAY, MUG, CASE, BIN, STOOL]


def context_of(*boxes: Box) -> SceneContext:
    return SceneContext(box_scan(boxes, {"0": CAMERA}), pictures="render")


def asked(context: SceneContext) -> dict[tuple[int, tuple[int, ...]], Draft]:
    """Mover and options -> draft."""
    found = {}
    for draft in AttachmentChain().enumerate(context):
        if isinstance(draft, Draft):
            mover, options, _ = draft.case.split("-")
            found[int(mover), tuple(int(i) for i in options.split("."))] = draft
    return found


def refused(context: SceneContext) -> set[tuple[str, str]]:
    return {(d.stage, d.reason) for d in AttachmentChain().enumerate(context) if isinstance(d, Refusal)}


def right(draft: Draft) -> set[str]:
    return {c.value for c in draft.choices if c.is_right}


def test_the_graph_that_these_tests_stand_on() -> None:
    scene = context_of(*ROOM).scene
    assert scene.carried_by(1) == (2, 3, 4)
    assert scene.carried_by(2) == (3,)
    assert scene.possible_neighbours([1, 2, 3, 4]) == ()
    assert [scene.objects[i].support.kind for i in (1, 5, 6)] == ["floor"] * 3


def test_every_set_of_options_of_the_table() -> None:
    found = {options: right(d) for (mover, options), d in asked(context_of(*ROOM)).items() if mover == 1}
    assert found == {
        (2, 3, 4): {"2", "3", "4"},
        (2, 3, 5): {"2", "3"},
        (2, 3, 6): {"2", "3"},
        (2, 4, 5): {"2", "4"},
        (2, 4, 6): {"2", "4"},
        (3, 4, 5): {"3", "4"},
        (3, 4, 6): {"3", "4"},
        (2, 5, 6): {"2"},
        (3, 5, 6): {"3"},
        (4, 5, 6): {"4"},
    }


def test_the_tray_is_carried_itself_and_leaves_its_carrier_behind() -> None:
    found = {options: d for (mover, options), d in asked(context_of(*ROOM)).items() if mover == 2}
    assert {right(d) == {"3"} for d in found.values()} == {True}
    assert set(found) == {(1, 3, 4), (1, 3, 5), (1, 3, 6), (3, 4, 5), (3, 4, 6), (3, 5, 6)}
    tags = {c.value: c.tag for c in found[1, 3, 5].choices}
    assert tags == {"1": "wrong_sense", "3": None, "5": "other"}
    assert {d.words["motion"] for d in found.values()} == {"carried_away"}
    assert found[1, 3, 4].preference == 1
    assert found[3, 4, 5].preference == 2


def test_chains_come_first_and_the_answer_is_balanced_by_how_many_are_right() -> None:
    found = asked(context_of(*ROOM))
    assert {options: found[1, options].preference for options in [(2, 4, 5), (2, 3, 5), (3, 5, 6)]} == {
        (2, 4, 5): 2,
        (2, 3, 5): 0,
        (3, 5, 6): 0,
    }
    assert {d.balance for d in found.values()} == {"1", "2", "3"}
    assert all(d.balance == str(len(right(d))) for d in found.values())
    assert {d.words["motion"] for (mover, _), d in found.items() if mover == 1} == {"moved"}


def test_facts_hold_the_edges_that_matter() -> None:
    facts = asked(context_of(*ROOM))[2, (1, 3, 5)].facts
    assert facts["relation"] == {
        "kind": "attachment",
        "target": 2,
        "reference": None,
        "before": {"value": [3], "carried": [3]},
        "after": None,
    }
    assert [(e["parent"], e["child"], e["certainty"]) for e in facts["attachment"]] == [
        (1, 2, "certain"),
        (2, 3, "certain"),
    ]
    assert {o["id"]: o["roles"] for o in facts["objects"]} == {
        1: ["carrier", "option"],
        2: ["mover"],
        3: ["carried", "option"],
        5: ["option"],
    }


def test_what_moves_but_is_not_named_is_in_the_facts() -> None:
    facts = asked(context_of(*ROOM))[1, (2, 5, 6)].facts
    assert facts["relation"]["before"]["carried"] == [2, 3, 4]
    assert {o["id"]: o["roles"] for o in facts["objects"]}[3] == ["carried"]


def test_nothing_is_asked_where_an_edge_is_in_doubt() -> None:
    # A board that hangs over the edge by most of its length: perhaps on the table, perhaps held by something else.
    board = Box(7, "board", (1.05, 0.25, 0.72), (0.9, 0.2, 0.04))
    context = context_of(TABLE, TRAY, MUG, board, BIN, STOOL)
    assert context.scene.possible_neighbours([1]) == (7,)
    assert {mover for mover, _ in asked(context)} == {2}
    assert ("relation", "possible_attachment") in refused(context)


def test_a_right_option_has_to_be_seen() -> None:
    # Behind a screen on the table, the suitcase cannot be seen.
    screen = Box(8, "monitor", (0.5, 0.2, 0.95), (0.5, 0.05, 0.5))
    context = context_of(*ROOM, screen)
    assert 4 not in context.record("0").seen_ids
    found = asked(context)
    assert found
    assert not any(4 in options for _, options in found)
    assert any(8 in options for _, options in found)


def test_a_mover_that_cannot_be_named_is_not_asked_about() -> None:
    other = Box(9, "side table", (0.0, 2.0, 0.4), (0.8, 0.5, 0.8))
    context = context_of(*ROOM, other)
    assert 1 in context.record("0").problems
    found = asked(context)
    assert {mover for mover, _ in found} == {2}
    assert not any(1 in options for _, options in found)
    assert ("options", "too_few_seen_together") in refused(context)


def test_far_things_are_no_neighbours() -> None:
    far = on_floor(6, "stool", -3.0, 1.5)
    found = asked(SceneContext(box_scan([*ROOM[:5], far], {"0": looking((0.0, -4.5, 2.4), (-0.8, 0.5, 0.5))}),
                               pictures="render"))  # fmt: skip
    assert found
    assert not any(6 in options for _, options in found)


def test_what_stands_against_the_mover_is_no_neighbour() -> None:
    for gap_m, is_offered in ((0.02, False), (0.10, True)):
        bin_ = Box(5, "bin", (0.8 + gap_m + 0.15, 0.5, 0.2), (0.3, 0.3, 0.4))
        found = asked(context_of(TABLE, TRAY, MUG, CASE, bin_, STOOL))
        assert found
        assert any(mover == 1 and 5 in options for mover, options in found) == is_offered


def test_a_cloth_does_not_move_things() -> None:
    cloth = Box(2, "cloth", (-0.3, 0.5, 0.74), (0.6, 0.5, 0.08), frozenset({"shapeless"}))
    context = context_of(TABLE, cloth, MUG, CASE, BIN, STOOL)
    assert {mover for mover, _ in asked(context)} == {1}
    assert ("object", "shapeless") in refused(context)


def test_with_nothing_carried_nothing_is_asked() -> None:
    assert asked(context_of(BIN, STOOL)) == {}
    assert refused(context_of(BIN, STOOL)) == set()
