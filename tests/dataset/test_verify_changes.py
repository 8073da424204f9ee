"""Questions about a change: right ones, worked out on paper, hold; every fault that is planted in one is found."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow.parquet as pq
import pytest
from changes_by_hand import BY_HAND, move_camera, occlusion, remove_occlusion
from handmade import WORDS, box, write

from spacecast.dataset import recompute
from spacecast.dataset.distractors import allowed_tags, mistakes_of
from spacecast.dataset.rows import Row
from spacecast.dataset.verify import row_problems, verify
from spacecast.evaluation.baselines import evaluate_baseline, oracle_letters

Edit = Callable[[dict[str, Any]], Any]
CODES = sorted(BY_HAND)
DIRECTIONS = [code for code in CODES if BY_HAND[code].task == "direction"]
FROM_THE_SCAN = ("mirrored", "wrong_frame", "wrong_sense", "other")
MOVES = [code for code in CODES if code.startswith("object_move")]
BODIES = [code for code in CODES if code.startswith("object_")]
"""Types in which something moves, or goes, with what it carries."""


def changed(row: Row, edit: Edit, **columns: Any) -> Row:
    """A row with facts and columns changed, in ``source_record_json`` too."""
    record = json.loads(row.source_record_json)
    edit(record["facts"])
    record.update({k: list(v) if isinstance(v, tuple) else v for k, v in columns.items()})
    return replace(row, **columns, source_record_json=json.dumps(record, sort_keys=True))


def kinds(row: Row) -> set[str]:
    return {finding.kind for finding in row_problems(row)}


def answered(row: Row, value: str) -> Row:
    """Another answer, with all its traces: letter, value, tags, relation, whether it changed."""
    letter = row.option_labels[[o["value"] for o in row.facts["options"]].index(value)]

    def edit(facts):
        facts["relation"]["after"]["value"] = value
        for option in facts["options"]:
            option["tag"] = None if option["value"] == value else option["tag"] or "other"

    unchanged = row.facts["relation"]["before"]["value"] == value
    return changed(row, edit, answer=(letter,), correct_values=(value,), relation_unchanged=unchanged)


# -- what is right holds ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", [*BY_HAND.values(), move_camera(1), remove_occlusion(2)], ids=lambda r: r.question_uid)
def test_questions_worked_out_on_paper_hold(row: Row) -> None:
    assert [str(finding) for finding in row_problems(row)] == []


@pytest.mark.parametrize("code", CODES)
def test_the_oracle_reads_no_answer(code: str) -> None:
    row = BY_HAND[code]

    def blind(facts):
        for moment in ("before", "after"):
            facts["relation"][moment]["value"] = None
        facts["twin"]["value"] = None
        for option in facts["options"]:
            option["tag"] = "other"

    assert oracle_letters(changed(row, blind, answer=(), correct_values=())) == row.answer


def test_the_oracle_is_right_on_all_types(tmp_path) -> None:
    folder = write(tmp_path / "set", list(BY_HAND.values()))
    report = evaluate_baseline(folder, tmp_path / "out", model="oracle")
    assert report["overall"]["accuracy"] == 1.0
    assert report["overall"]["count"] == 10


# -- every fault is found -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", CODES)
def test_every_other_answer_is_found(code: str) -> None:
    row = BY_HAND[code]
    for option in row.facts["options"]:
        if option["tag"] is not None:
            assert "answer" in kinds(answered(row, option["value"])), option


@pytest.mark.parametrize("code", CODES)
def test_every_other_tag_is_found(code: str) -> None:
    """But for distances, whose further mistakes only the scan can tell."""
    row = BY_HAND[code]
    for number, option in enumerate(row.facts["options"]):
        for tag in ("forgot_attachment", "no_update", "mirrored", "wrong_frame", "wrong_sense", "other"):
            wrong = changed(row, lambda f, n=number, t=tag: f["options"][n].update(tag=t))
            if option["tag"] in (None, tag):
                continue
            if code == "object_move_distance" and option["value"] != "close" and tag in FROM_THE_SCAN:
                assert kinds(wrong) == set()
            else:
                assert "tag" in kinds(wrong), (option, tag)


@pytest.mark.parametrize("code", CODES)
def test_a_wrong_twin_is_found(code: str) -> None:
    row = BY_HAND[code]
    other = next(o["value"] for o in row.facts["options"] if o["value"] != row.facts["twin"]["value"])
    assert kinds(changed(row, lambda f: f["twin"].update(value=other))) == {"twin"}
    assert kinds(changed(row, lambda f: f.update(twin=None))) == {"twin"}


@pytest.mark.parametrize("code", CODES)
def test_a_wrong_state_before_is_found(code: str) -> None:
    row = BY_HAND[code]
    other = next(o["value"] for o in row.facts["options"] if o["value"] != row.facts["twin"]["value"])

    def edit(facts):
        facts["relation"]["before"]["value"] = facts["twin"]["value"] = other

    assert "answer" in kinds(changed(row, edit))


@pytest.mark.parametrize("code", CODES)
def test_whether_it_changed_is_checked(code: str) -> None:
    row = BY_HAND[code]
    for value in (not row.relation_unchanged, None):
        assert "columns" in kinds(changed(row, lambda f: None, relation_unchanged=value))


@pytest.mark.parametrize("code", CODES)
def test_a_change_without_an_answer_after_it_is_found(code: str) -> None:
    assert "facts" in kinds(changed(BY_HAND[code], lambda f: f["relation"].update(after=None)))


@pytest.mark.parametrize("code", BODIES)
@pytest.mark.parametrize("ids", [[1], [1, 2, 3], [2, 1], [2], []])
def test_a_wrong_set_of_what_goes_along_is_found(code: str, ids: list[int]) -> None:
    name = "removed" if code == "object_remove" else "moved"
    assert "facts" in kinds(changed(BY_HAND[code], lambda f: f["intervention"].update({name: ids})))


@pytest.mark.parametrize("code", BODIES)
def test_a_forgotten_follower_is_found(code: str) -> None:
    """The edge is lost, and what is moved with it: the question then is about something that stays."""

    def edit(facts):
        facts["attachment"].clear()
        facts["intervention"]["removed" if code == "object_remove" else "moved"] = [1]

    row = remove_occlusion(2) if code == "object_remove" else BY_HAND[code]
    assert kinds(changed(row, edit)) & {"answer", "facts"}


@pytest.mark.parametrize("code", BODIES)
@pytest.mark.parametrize(
    ("edit", "kind"),
    [
        (lambda f: f["attachment"][0].update(certainty="possible"), "not_certain"),
        (lambda f: f["attachment"].append({"parent": 9, "child": 1, "kind": "supported_by", "certainty": "certain"}),
         "not_certain"),
        (lambda f: f["attachment"].append({"parent": 2, "child": 7, "kind": "supported_by", "certainty": "certain"}),
         "facts"),
    ],
)  # fmt: skip
def test_edges_that_do_not_allow_it_are_found(code: str, edit: Edit, kind: str) -> None:
    assert kind in kinds(changed(BY_HAND[code], edit))


@pytest.mark.parametrize("code", MOVES)
@pytest.mark.parametrize(
    "edit",
    [
        lambda f: f["intervention"].update(vector_in_world=[-x for x in f["intervention"]["vector_in_world"]]),
        lambda f: f["intervention"]["vector_in_world"].__setitem__(0, f["intervention"]["vector_in_world"][0] + 0.01),
        lambda f: f["intervention"]["vector_in_world"].__setitem__(2, 0.1),
        lambda f: f["intervention"].update(distance_m=0.5),
        lambda f: f["intervention"].update(direction="southwest" if f["frame"] and f["frame"]["kind"] == "world" else
        "backward-left"),
        lambda f: f["intervention"]["frame"].update(heading_in_world=[0.6, 0.8]),
        lambda f: f["intervention"].update(direction="up"),
        lambda f: f["intervention"].update(distance_m=0.7, vector_in_world=[
            0.7 / f["intervention"]["distance_m"] * x for x in f["intervention"]["vector_in_world"]]),
    ],
)  # fmt: skip
def test_a_move_that_is_not_what_its_words_say_is_found(code: str, edit: Edit) -> None:
    assert "facts" in kinds(changed(BY_HAND[code], edit))


@pytest.mark.parametrize(
    ("code", "edit", "kind"),
    [
        ("object_rotate_object_centric", lambda f: f["intervention"].update(sense="counterclockwise"), "answer"),
        ("object_rotate_object_centric", lambda f: f["intervention"].update(angle_deg=180.0), "facts"),
        ("object_rotate_object_centric", lambda f: f["intervention"].update(sense=None), "facts"),
        ("object_rotate_object_centric", lambda f: f["intervention"].update(angle_deg=60.0), "facts"),
        ("object_rotate_object_centric", lambda f: f["intervention"].update(around=4), "facts"),
        ("object_rotate_object_centric", lambda f: f["intervention"].update(around=2), "facts"),
        ("object_rotate_object_centric", lambda f: f["frame"].update(heading_in_world=[0.0, -1.0]), "facts"),
        ("object_rotate_object_centric", lambda f: f["frame"].update(anchor=1), "facts"),
        ("coordinate_rotation_agent", lambda f: f["intervention"].update(angle_deg=270.0), "answer"),
        ("coordinate_rotation_object_centric", lambda f: f["intervention"].update(angle_deg=270.0), "answer"),
        ("coordinate_rotation_allocentric", lambda f: f["intervention"].update(angle_deg=90.0), "answer"),
        ("coordinate_rotation_agent", lambda f: f["intervention"].update(angle_deg=45.0), "facts"),
        ("coordinate_rotation_object_centric", lambda f: f["frame"].update(heading_in_world=[1.0, 0.0]), "facts"),
        ("coordinate_rotation_allocentric", lambda f: f.update(camera_compass="south"), "facts"),
        ("object_move_allocentric", lambda f: f.update(camera_compass=None), "facts"),
        ("object_move_object_centric", lambda f: f["intervention"]["frame"].update(anchor=2), "facts"),
        ("object_move_object_centric", lambda f: f["frame"].update(facing=3), "facts"),
        ("object_move_agent", lambda f: f["relation"].update(target=3, reference=2), "facts"),
        ("object_move_agent", lambda f: f["relation"]["after"].update(angle_deg=-80.0), "facts"),
        ("object_move_agent", lambda f: f["relation"]["before"].update(ambiguity=0.3), "facts"),
        ("object_move_distance", lambda f: f["relation"]["after"].update(distance_m=4.0, value="far"), "unchanged"),
        ("object_move_distance", lambda f: f["relation"]["after"].update(distance_m=3.25), "not_certain"),
        ("object_move_occlusion", lambda f: f["relation"]["after"].update(query_hidden=0.05), "facts"),
        ("object_move_occlusion", lambda f: f["relation"]["after"].update(reference_hidden=0.2), "facts"),
        ("object_move_occlusion", lambda f: f["relation"]["after"].update(query_silhouette_px=20), "facts"),
        ("object_move_occlusion", lambda f: f["relation"]["after"].update(query_hidden=0.0, reference_hidden=0.5),
         "answer"),
        ("object_remove", lambda f: f["relation"]["after"].update(occlusion("occluded"), value="not occluded"),
         "answer"),
        ("object_remove", lambda f: f["relation"].update(before=occlusion("not occluded")), "unchanged"),
        ("object_remove", lambda f: f["relation"].update(before=occlusion("not visible")), "not_certain"),
        ("object_remove", lambda f: f["relation"].update(target=1), "facts"),
        ("object_remove", lambda f: f["relation"].update(target=2), "answer"),
    ],
)  # fmt: skip
def test_a_changed_fact_is_found(code: str, edit: Edit, kind: str) -> None:
    assert kind in kinds(changed(BY_HAND[code], edit))


@pytest.mark.parametrize("code", ["object_rotate_object_centric", *(c for c in CODES if c.startswith("coordinate"))])
def test_an_answer_that_stays_where_none_may_is_found(code: str) -> None:
    """What is looked for stands so that it is seen the same: nearer to the axis than where it stood."""

    def still(facts):
        if code == "object_rotate_object_centric":  # around the chair, with the lamp on the other side of it
            lamp = next(item for item in facts["objects"] if item["id"] == 4)
            lamp.update(box(4, "lamp", (-0.05, -0.05, 0.5), ["reference"]))
        else:
            facts["intervention"]["angle_deg"] = 360.0

    assert "unchanged" in kinds(changed(BY_HAND[code], still))


def test_a_move_that_ends_opposite_to_its_way_and_began_elsewhere_is_found() -> None:
    """No straight move does that: the facts contradict one another, and it is said."""
    row = BY_HAND["object_move_agent"]
    wrong = answered(changed(row, lambda f: f["intervention"].update(direction="right")), "left")
    assert "answer" in kinds(wrong) | {f.kind for f in row_problems(wrong)}


@pytest.mark.parametrize("code", DIRECTIONS)
def test_options_are_four_directions_a_quarter_apart(code: str) -> None:
    def edit(facts):
        wrong = next(option for option in facts["options"] if option["tag"] is not None)
        names = recompute.names_of(facts["frame"])
        wrong.update(value=names[(names.index(wrong["value"]) + 1) % 8])

    assert "options" in kinds(changed(BY_HAND[code], edit))


@pytest.mark.parametrize("code", DIRECTIONS)
def test_boxes_that_touch_after_the_change_have_no_direction(code: str) -> None:
    """Both ends become a metre wide and high: they touch before the change, or after it, or both."""

    def edit(facts):
        for item in facts["objects"]:
            if item["id"] in (facts["relation"]["target"], facts["relation"]["reference"]):
                item.update(box(item["id"], item["label"], item["center_in_world"], item["roles"], size=2.2))

    details = [f.detail for f in row_problems(changed(BY_HAND[code], edit)) if f.kind == "not_certain"]
    assert any("touch" in detail for detail in details)


def test_a_target_that_touches_what_is_faced_is_found() -> None:
    row = BY_HAND["coordinate_rotation_object_centric"]

    def edit(facts):
        faced = next(item for item in facts["objects"] if item["id"] == facts["frame"]["facing"])
        faced.update(box(faced["id"], faced["label"], faced["center_in_world"], faced["roles"], size=4.0))

    assert not any("which is faced" in f.detail for f in row_problems(row))
    assert any("which is faced" in f.detail for f in row_problems(changed(row, edit)) if f.kind == "not_certain")


def test_the_text_says_who_hides_whom() -> None:
    row = BY_HAND["object_move_occlusion"]

    def swap(facts):
        by_value = {option["value"]: option for option in facts["options"]}
        one, other = by_value["query_occluded"], by_value["reference_occluded"]
        one["text"], other["text"] = other["text"], one["text"]

    texts = {option["text"]: option for option in row.facts["options"]}
    swapped = {"the cup is occluded by the lamp": "the lamp is occluded by the cup"}
    swapped |= {b: a for a, b in swapped.items()}
    options = tuple(swapped.get(text, text) for text in row.options)
    assert set(texts) == set(options)
    assert kinds(changed(row, swap, options=options)) == {"options"}


def test_more_than_a_quarter_unchanged_is_found(tmp_path) -> None:
    """Of moves: four questions of which one stays are well, of which two stay are not."""

    def stays(number: int) -> Row:
        """A short way left: the cup stays right of the lamp."""

        def edit(facts):
            facts["intervention"].update(distance_m=0.5, vector_in_world=[0.0, 0.5, 0.0])
            facts["relation"]["after"] = dict(facts["relation"]["before"])
            for option in facts["options"]:
                option["tag"] = {"right": None, "left": "mirrored", "front": "other", "back": "wrong_frame"}[
                    option["value"]
                ]

        row = BY_HAND["object_move_agent"]
        letter = row.option_labels[[o["value"] for o in row.facts["options"]].index("right")]
        uid = f"stays-{number}"
        columns = {"answer": (letter,), "correct_values": ("right",), "question_uid": uid, "relation_unchanged": True}
        return changed(row, edit, **columns)

    def goes(number: int) -> Row:
        return changed(BY_HAND["object_move_agent"], lambda f: None, question_uid=f"goes-{number}")

    assert verify(write(tmp_path / "well", [stays(0), goes(1), goes(2), goes(3)])) == []
    found = verify(write(tmp_path / "ill", [stays(0), stays(1), goes(2), goes(3)]))
    assert [(f.kind, f.where) for f in found] == [("unchanged", "L2 / Move Camera Direction")]


# -- mistakes -----------------------------------------------------------------------------------------------------


def test_the_first_mistake_that_fits_names_the_option() -> None:
    row = BY_HAND["coordinate_rotation_agent"]  # left is mirrored, the other sense, and faces the camera, too
    known, complete = mistakes_of(row.facts)
    assert complete
    assert allowed_tags("left", known) == ["mirrored"]
    assert [m.tag for m in known] == ["no_update", "mirrored", "wrong_frame", "wrong_sense"]
    assert "left" in known[2].leads_to
    assert "left" in known[3].leads_to


def test_a_mistake_on_a_border_allows_both_tags() -> None:
    """The camera looks 22.5 degrees east of north: north taken for front is just between two words."""
    look = (0.3826834324, 0.9238795325)

    def edit(facts):
        east, north = look
        facts["views"][0]["world_from_camera"][:12] = [north, 0, east, 0, -east, 0, north, 0, 0, -1, 0, 1.5]

    facts = changed(BY_HAND["object_move_agent"], edit).facts
    frame = next(mistake for mistake in mistakes_of(facts)[0] if mistake.tag == "wrong_frame")
    assert frame.leads_to | frame.may_lead_to <= set(WORDS)


# -- nothing passes silently --------------------------------------------------------------------------------------


def test_a_dataset_without_questions_is_a_finding(tmp_path) -> None:
    write(tmp_path, [move_camera()])
    shard = next(tmp_path.glob("data/*.parquet"))
    pq.write_table(pq.read_table(shard).slice(0, 0), shard)
    assert "empty" in {finding.kind for finding in verify(tmp_path)}
