"""Questions on pairs and chains of pictures, in a ring of things whose answers are known by hand."""

from __future__ import annotations

import itertools
from collections import Counter
from functools import cache

import numpy as np
import pytest
from box_scans import Box
from ring import LABELS, place, ring, whole_ring

from questions.directions import CameraDirection, ObjectDirection, WorldDirection
from questions.distances import Distance
from questions.kinds import GROUPS, KIND_BY_CODE
from questions.layouts import RotatedCameraDirection
from questions.move_directions import MoveCameraDirection, MoveObjectDirection
from questions.move_occlusions import MoveOcclusion
from questions.rotations import RotatedObject
from questions.suites import TYPES
from spacecast.dataset.context import SceneContext
from spacecast.dataset.recompute import solve
from spacecast.dataset.showings import IMAGES, Images
from spacecast.dataset.twins import relation_key
from spacecast.dataset.types import Draft, QuestionType, Refusal
from spacecast.frames import SECTORS, camera_heading, sector_of
from spacecast.relations import pairwise_occlusion
from spacecast.scene import Move

CHAINED = [kind for kind in TYPES if KIND_BY_CODE[kind.code].max_images > 1]
SINGLE = [kind for kind in TYPES if KIND_BY_CODE[kind.code].max_images == 1]


def drafts(kind: QuestionType, context: SceneContext) -> dict[str, Draft]:
    found = [item for item in kind.enumerate(context) if isinstance(item, Draft)]
    assert len({draft.case for draft in found}) == len(found)
    return {draft.case: draft for draft in found}


@cache
def asked(kind: QuestionType) -> dict[str, Draft]:
    return drafts(kind, whole_ring())


def chains(kind: QuestionType) -> list[Draft]:
    return [draft for draft in asked(kind).values() if len(draft.views) > 1]


def with_roles(draft: Draft, roles: tuple[str, ...]) -> list[int]:
    return [o["id"] for o in draft.facts["objects"] if set(roles) & set(o["roles"])]


def test_the_ring_is_as_it_is_said_to_be() -> None:
    context = whole_ring()
    for k in range(8):
        own = {(2 * k - 1) % 16, 2 * k, 2 * k + 1}
        assert set(context.record(str(k)).seen_ids) == own
        assert context.chains.links.visible_ids[str(k)] == own | {900}
        linked = {j for j in range(8) if context.chains.links.linked(k, j)}
        assert linked == {(k - 1) % 8, (k + 1) % 8}


@pytest.mark.parametrize("images", IMAGES)
def test_what_may_be_shown_last_is_what_a_first_view_is_found_for(images: Images) -> None:
    showings = whole_ring().showings
    groups = [{i} for i in showings.seen_ids] + [set(pair) for pair in itertools.combinations(showings.seen_ids, 2)]
    found = 0
    for group in groups:
        firsts = {b: showings.starts(group, {b}, images) for b in showings.seen_ids}
        for view in whole_ring().view_names:
            partners = showings.partners(view, group, images)
            assert partners == [b for b, views in firsts.items() if view in views]
            found += len(partners)
        assert showings.ends(group, images) == [b for b, views in firsts.items() if views]
    assert found > 0


# -- what every question on several pictures keeps to ---------------------------------------------


@pytest.mark.parametrize("kind", CHAINED, ids=lambda kind: kind.code)
def test_groups_are_seen_where_the_table_says_and_nowhere_else(kind: QuestionType) -> None:
    context = whole_ring()
    group_a, group_b = GROUPS[kind.code]
    links = context.chains.links
    found = chains(kind)
    assert {len(draft.views) for draft in found} >= {2, 3}
    for draft in found:
        a, b = with_roles(draft, group_a), with_roles(draft, group_b)
        assert a
        assert len(b) == 1
        assert not set(a) & set(b)
        roles = [v.role for v in draft.views]
        assert roles == ["main_a", *["bridge"] * (len(roles) - 2), "main_b"]
        assert len(roles) <= KIND_BY_CODE[kind.code].max_images
        names = [v.name for v in draft.views]
        assert [(v["name"], v["role"]) for v in draft.facts["views"]] == list(draft.views)
        assert set(a) <= set(context.record(names[0]).seen_ids)
        assert set(b) <= set(context.record(names[-1]).seen_ids)
        assert not links.visible_ids[names[0]] & set(b)
        assert not links.visible_ids[names[-1]] & set(a)
        for name in names[1:-1]:
            assert not (links.visible_ids[name] & set(a) and links.visible_ids[name] & set(b))
        for name in names:
            assert all(context.names.points_at_one(i, links.named_ids[name]) for i in (*a, *b))
        assert all(links.linked(one, other) for one, other in itertools.pairwise(names))
        weakest = min(links.strengths[links.index(p), links.index(q)] for p, q in itertools.pairwise(names))
        assert draft.facts["margins"]["weakest_link_share"] == pytest.approx(weakest, abs=1e-4)
        assert draft.stated["images"] == ("2" if len(names) == 2 else "3+")
        assert draft.facts["binding_view"] in (None, names[0])


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.code)
def test_pairs_change_no_question_on_one_picture(kind: QuestionType) -> None:
    class Alone(type(kind)):  # type: ignore[misc]
        """The same type, but that it is asked on single pictures only."""

        images = ("1",)

    alone, all_of_them = drafts(Alone(), whole_ring()), asked(kind)
    assert {case: d for case, d in all_of_them.items() if len(d.views) == 1} == alone
    assert all(d.stated.get("images", "1") == "1" for d in alone.values())
    if kind in SINGLE:
        assert alone == all_of_them
    else:
        assert len(all_of_them) > len(alone) > 0


@pytest.mark.parametrize("kind", [k for k in CHAINED if k.task != "occlusion"], ids=lambda kind: kind.code)
def test_answers_come_from_the_facts(kind: QuestionType) -> None:
    for draft in chains(kind):
        before, after = solve(draft.facts)
        relation = draft.facts["relation"]
        assert before == relation["before"]["value"]
        assert (relation["after"] or relation["before"])["value"] == draft.balance == (after or before)


def test_for_each_answer_there_is_one_of_each_number_of_pictures() -> None:
    found = asked(CameraDirection()).values()
    counts = Counter(
        (*(with_roles(d, (role,))[0] for role in ("target", "reference")), d.balance, d.stated["images"]) for d in found
    )
    assert set(counts.values()) == {1}
    assert {images for *_, images in counts} == {"1", "2", "3+"}


# -- directions by hand ---------------------------------------------------------------------------

# Both ends; main A and main B; the answer. Things: 0 north, 4 east, 8 south, 12 west; 2, 6, ... between them.
OPPOSITE = [(0, 8), (4, 12), (8, 0), (12, 4), (2, 10), (6, 14), (10, 2), (14, 6)]


@pytest.mark.parametrize(("target", "reference"), OPPOSITE)
def test_what_is_behind_the_first_camera_has_the_target_in_front(target: int, reference: int) -> None:
    # The first camera looks at the target; the reference is at its back, so the target is farther along its view.
    names = f"{target // 2}+"
    found = {c: d for c, d in asked(CameraDirection()).items() if c.startswith(f"{target}-{reference}-{names}")}
    assert [d.balance for d in found.values()] == ["front"]
    draft = next(iter(found.values()))
    assert draft.views[-1].name == str(reference // 2)
    assert len(draft.views) == 5
    assert draft.facts["binding_view"] == str(target // 2)
    x, y = place(target, 1.0)
    np.testing.assert_allclose(draft.facts["frame"]["heading_in_world"], [x, y], atol=1e-3)


def test_camera_directions_are_those_of_the_first_camera() -> None:
    # The first camera looks north at the fan (thing 0); the lamp (3), seen in the next picture, which looks northeast,
    # lies at (2.77, 1.15): the fan is at (-2.77, 1.85) from it, 56 degrees to the left of north.
    draft = asked(CameraDirection())["0-3-0+1"]
    assert draft.balance == "front-left"
    # Told by the second camera it would be 101 degrees to the left: the answer if one takes the wrong camera.
    vector = np.array(place(0)) - np.array(place(3))
    second = camera_heading(whole_ring().view("1").world_from_camera)
    assert sector_of(second.angle_deg_of((*vector, 0.0)), SECTORS).value == "left"


def test_the_compass_is_that_of_the_first_camera() -> None:
    draft = asked(WorldDirection())["8-0-4+3+2+1+0"]
    assert draft.facts["camera_compass"] == draft.stated["camera_compass"] == draft.words["heading"] == "south"
    assert draft.balance == "south"
    assert asked(WorldDirection())["0-8-0+1+2+3+4"].facts["camera_compass"] == "north"


def test_who_stands_and_who_is_faced_are_in_the_first_picture() -> None:
    # At the fan in the north (0, 3), facing the barrel (15) at (-1.15, 2.77), which is to the west-south-west, 248.75
    # degrees by the compass; the suitcase (8) is due south, 180 degrees: 68.75 to the left.
    found = [d for d in asked(ObjectDirection()).values() if d.case.startswith("0-15-8-")]
    assert [d.balance for d in found] == ["left"]
    assert [v.name for v in found[0].views] == ["0", "1", "2", "3", "4"]
    assert found[0].facts["binding_view"] is None


def test_a_wrong_frame_in_a_pair() -> None:
    # The first camera looks east at thing 4, with thing 12 at its back; by the compass east is no front: it is right.
    draft = next(d for c, d in asked(CameraDirection()).items() if c.startswith("4-12-2+"))
    assert {c.value: c.tag for c in draft.choices} == {
        "front": None, "right": "wrong_frame", "back": "other", "left": "other",
    }  # fmt: skip


def test_distances_of_what_no_picture_shows_together() -> None:
    # Across the ring: 6 m between the centres, less half a metre.
    draft = next(d for c, d in asked(Distance()).items() if c.startswith("0-8-"))
    assert draft.balance == "far"
    assert draft.facts["relation"]["before"]["distance_m"] == pytest.approx(5.5)
    assert len(draft.views) == 5
    # Next to one another in different pictures: (1.15, 2.77) and (2.77, 1.15), half a metre each way less.
    near = next(d for c, d in asked(Distance()).items() if c.startswith("1-3-") and len(d.views) == 1)
    assert near.facts["relation"]["before"]["distance_m"] == pytest.approx(np.sqrt(2) * (2.772 - 1.148 - 0.5), abs=1e-3)


# -- moves ----------------------------------------------------------------------------------------


class All(MoveCameraDirection):
    """Without the bound on how many."""

    def _most(self, images: Images) -> int:
        return 100_000


def test_a_move_is_told_by_the_first_camera() -> None:
    # The fan (0, 3) goes 3 m towards the first camera, which looks north: to the middle. The chair (4) at (3, 0), in
    # picture 3, then has it to the west: left of a camera that looks north; before, it lay to the northwest.
    context = ring(things=(15, 0, 1, 2, 3, 4, 5), views=(0, 1, 2))
    draft = drafts(All(), context)["0-0-4-0+1+2-backward-3"]
    assert draft.balance == "left"
    assert draft.facts["twin"]["value"] == "front-left"
    np.testing.assert_allclose(draft.facts["intervention"]["vector_in_world"], [0.0, -3.0, 0.0], atol=1e-6)
    assert draft.facts["intervention"]["frame"]["heading_in_world"] == pytest.approx([0.0, 1.0], abs=1e-3)
    tags = {c.value: c.tag for c in draft.choices}
    assert tags["left"] is None
    assert tags["right"] == "mirrored"


def test_a_follower_that_is_forgotten_in_a_pair() -> None:
    # In the place of the fan a table with a vase; it goes to the middle. The basket (1.5, 1.3) is in picture 2 alone:
    # the vase lay at (-1.5, 1.7) from it, and now lies at (-1.5, -1.3).
    x, y = place(0)
    table, vase = Box(0, "table", (x, y, 0.3), (0.6, 0.6, 0.6)), Box(20, "vase", (x, y, 0.75), (0.3, 0.3, 0.3))
    basket = Box(21, "basket", (1.5, 1.3, 0.2), (0.3, 0.3, 0.4))
    draft = drafts(All(), ring((15, 1, 3), (0, 1), [table, vase, basket]))["0-20-21-0+1-backward-3"]
    assert (draft.facts["twin"]["value"], draft.balance) == ("front-left", "back-left")
    assert {c.value: c.tag for c in draft.choices}["front-left"] == "forgot_attachment"
    assert with_roles(draft, ("mover",)) == [0]
    assert with_roles(draft, ("query",)) == [20]
    assert draft.facts["intervention"]["moved"] == [0, 20]


def test_mover_and_query_face_the_first_camera() -> None:
    # The fan faces the camera in the middle: south. It goes forward, to the south, by 3 m, to the middle; the chair (4)
    # is then in the east: on the left of one who faces south. At first it was in the southeast: front-left.
    class Every(MoveObjectDirection):
        def _most(self, images: Images) -> int:
            return 100_000

    context = ring(things=(15, 0, 1, 2, 3, 4, 5), views=(0, 1, 2))
    draft = drafts(Every(), context)["0-0-4-0+1+2-forward-3"]
    assert (draft.facts["twin"]["value"], draft.balance) == ("front-left", "left")
    assert draft.facts["frame"]["heading_in_world"] == pytest.approx([0.0, -1.0], abs=1e-3)


# -- occlusion after a move into the second view ---------------------------------------------------


class Everything(MoveOcclusion):
    """Without the bound on how many."""

    def _most(self, images: Images) -> int:
        return 100_000


@cache
def occlusions() -> dict[str, Draft]:
    return drafts(Everything(), ring(things=(15, 0, 1, 2, 3), views=(0, 1)))


INTO_VIEW_B = [  # the fan comes from (0, 3) into the picture that looks northeast; how; what it does to thing 3 or 2
    # To (1.77, 1.23), before thing 2 at (2.12, 2.12): its bearings 44 to 67 overlap those of thing 2, 38 to 52.
    (2, "backward-right", 2.5, "reference_occluded"),
    # To (1.06, 1.94), bearings 21 to 37: beside thing 2.
    (2, "backward-right", 1.5, "neither"),
    (3, "backward-right", 1.5, "neither"),
    # To (2.12, 0.88): bearing 67, in front of thing 3 at (2.77, 1.15).
    (3, "backward-right", 3.0, "reference_occluded"),
]


@pytest.mark.parametrize(("reference", "way", "metres", "answer"), INTO_VIEW_B)
def test_who_hides_whom_once_the_mover_has_come_into_the_second_picture(
    reference: int, way: str, metres: float, answer: str
) -> None:
    draft = occlusions()[f"0-0-{reference}-0+1-{way}-{metres:g}"]
    relation = draft.facts["relation"]
    assert (relation["before"]["value"], draft.balance) == ("neither", answer)
    assert relation["before"]["query_silhouette_px"] == 0
    assert draft.unchanged is (answer == "neither")
    assert draft.facts["binding_view"] == "0"
    assert draft.words["last"] == "picture_2"


def test_chains_of_occlusion_are_seen_from_the_last_picture() -> None:
    context = ring(things=(15, 0, 1, 2, 3), views=(0, 1))
    pairs = [d for d in occlusions().values() if len(d.views) > 1]
    assert len(pairs) >= 10
    assert {d.balance for d in pairs} >= {"neither", "reference_occluded"}
    for draft in pairs:
        first, last = draft.views[0].name, draft.views[-1].name
        step, relation = draft.facts["intervention"], draft.facts["relation"]
        pose = context.view(first).world_from_camera
        state = context.scene.apply(Move(step["object"], step["direction"], step["distance_m"], "camera", pose))
        again = pairwise_occlusion(state, relation["target"], relation["reference"], view=context.view(last))
        assert (again.value, again.certain) == (draft.balance, True)
        for role in ("query", "reference"):
            assert again.numbers[f"{role}_silhouette_px"] >= 400
            assert again.numbers[f"{role}_truncation"] <= 0.65
        assert relation["before"]["value"] == "neither"


# -- names, twins, refusals -------------------------------------------------------------------------------------------


def test_a_second_thing_of_the_name_in_any_picture_refuses_the_chain() -> None:
    views, things = (0, 1, 2), (15, 0, 1, 2, 3, 4, 5)
    free = drafts(CameraDirection(), ring(things, views))
    assert "0-4-0+1+2" in free
    # Thing 2 stands in the middle picture, and is another lamp than thing 4 is now.
    x, y = place(2)
    second = Box(2, LABELS[4], (x, y, 0.4), (0.5, 0.5, 0.8))
    found = drafts(CameraDirection(), ring((15, 0, 1, 3, 4, 5), views, [second]))
    assert not [case for case in found if case.startswith(("0-4-", "4-0-"))]
    assert "0-5-0+1+2" in found


def test_no_bridge_shows_both() -> None:
    # Things 1 and 3 are both in the only bridge between views 0 and 2.
    found = drafts(CameraDirection(), ring((15, 0, 1, 2, 3, 4, 5), (0, 1, 2)))
    ends = {tuple(case.split("-")[:2]) for case, d in found.items() if len(d.views) == 3}
    assert ("0", "4") in ends
    assert ("1", "4") in ends
    assert ("0", "3") in ends
    assert ("1", "3") not in ends
    items = CameraDirection().enumerate(ring((15, 0, 1, 3, 4, 5), (0, 2)))
    assert not [item for item in items if isinstance(item, Draft) and len(item.views) > 1]


def test_a_question_about_a_change_has_its_twin_in_the_same_pictures() -> None:
    level_one = {relation_key("boxes", "s", d.facts) for d in chains(CameraDirection())}
    turned = [relation_key("boxes", "s", d.facts) for d in chains(RotatedCameraDirection())]
    moved = [relation_key("boxes", "s", d.facts) for d in chains(MoveCameraDirection())]
    assert turned
    assert set(turned) <= level_one
    assert sum(key in level_one for key in moved) > 0.5 * len(moved)


@pytest.mark.parametrize("kind", [ObjectDirection(), Distance(), RotatedObject(), All()], ids=lambda kind: kind.code)
def test_the_same_scene_gives_the_same_chains(kind: QuestionType) -> None:
    things, views = (15, 0, 1, 2, 3, 4, 5), (0, 1, 2)
    one = list(kind.enumerate(ring(things, views)))
    assert any(isinstance(item, Draft) and len(item.views) > 1 for item in one)
    assert one == list(kind.enumerate(ring(things[::-1], views)))
    assert all(0 < len(item.example) < 80 for item in one if isinstance(item, Refusal))
