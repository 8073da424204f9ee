"""One question of each type of levels 2 and 3, worked out on paper: where everything is, the answer, and each mistake.

A table (1) carries a cup (2). Seen from above, north up; where the camera looks east, its left is north.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from handmade import COMPASS, DISTANCES, STATES, WORDS, box, camera_looking, facts_with, options_of, row_with, view

from spacecast.dataset.rows import Row

EAST, NORTH = (1.0, 0.0), (0.0, 1.0)
CARRIES = [{"parent": 1, "child": 2, "kind": "supported_by", "certainty": "certain"}]
CAMERA = {"kind": "camera", "anchor": None, "facing": None}
WORLD = {"kind": "world", "anchor": None, "facing": None, "heading_in_world": [0.0, 1.0]}


def moved(direction: str, distance_m: float, vector: tuple[float, float], frame: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": "move", "object": 1, "moved": [1, 2], "frame": frame, "direction": direction, "distance_m": distance_m,
        "vector_in_world": [*vector, 0.0],
    }  # fmt: skip


def told(word: str, names: tuple[str, ...] = WORDS) -> dict[str, Any]:
    """A direction in the middle of its sector."""
    angle = 45.0 * names.index(word)
    return {"value": word, "angle_deg": angle if angle <= 180.0 else angle - 360.0, "ambiguity": 0.0}


def question(
    code: str, text: str, tags: dict[str, str | None], before: dict, after: dict, *, kind: str, **facts: Any
) -> Row:  # fmt: skip
    """A row; ``tags`` are its options, the right one has none."""
    right = [value for value, tag in tags.items() if tag is None]
    texts = {value: DISTANCES.get(value, value) for value in tags} | facts.pop("texts", {})
    ends = facts.pop("ends")
    whole = facts_with(
        relation={"kind": kind, "target": ends[0], "reference": ends[1], "before": before, "after": after},
        options=options_of(texts, right, np.random.default_rng(3), {v: t for v, t in tags.items() if t is not None}),
        twin={"value": before["value"], "question_uid": None},
        **facts,
    )
    return row_with(code, code, "scene0000_00", text, whole, unchanged=before["value"] == after["value"])


def move_camera(query: int = 2) -> Row:
    """Camera at the origin, looking east. The cup is south of the lamp: right. Three metres left bring it north of the
    lamp: left. North taken for front: the cup is in front. Nothing leads to the back."""
    old = "forgot_attachment" if query == 2 else "no_update"
    return question(
        "object_move_agent", "The table goes 3 m left. Where is the cup, or table, from the lamp?",
        {"left": None, "right": old, "front": "wrong_frame", "back": "other"}, told("right"), told("left"),
        kind="direction", ends=(query, 3),
        objects=[box(1, "table", (3, -1, 0.3), ["mover"]), box(2, "cup", (3, -1, 0.8), ["query"]),
                 box(3, "lamp", (3, 1, 0.5), ["reference"])],
        views=[view("0", camera_looking(*EAST))], binding_view="0", attachment=CARRIES,
        frame={**CAMERA, "heading_in_world": [1.0, 0.0]},
        intervention=moved("left", 3.0, (0.0, 3.0), {**CAMERA, "heading_in_world": [1.0, 0.0]}),
    )  # fmt: skip


def move_world() -> Row:
    """The same room by the compass: from the south of the lamp to the north. The top of the picture, which is east,
    taken for north: the cup is to the left, which would be west. Nothing leads east."""
    return question(
        "object_move_allocentric", "The camera looks east. The table goes 3 m north. Where is the cup from the lamp?",
        {"north": None, "south": "forgot_attachment", "west": "wrong_frame", "east": "other"},
        told("south", COMPASS), told("north", COMPASS), kind="direction", ends=(2, 3),
        objects=[box(1, "table", (3, -1, 0.3), ["mover"]), box(2, "cup", (3, -1, 0.8), ["query"]),
                 box(3, "lamp", (3, 1, 0.5), ["reference"])],
        views=[view("0", camera_looking(*EAST))], binding_view="0", camera_compass="east", attachment=CARRIES,
        frame=WORLD, intervention=moved("north", 3.0, (0.0, 3.0), WORLD),
    )  # fmt: skip


def move_object() -> Row:
    """Table and cup stand east of the camera and face it: west. The lamp is north of them: right. Three metres right
    bring them north of the lamp: left. North taken for front: it is at the back."""
    faces = {"kind": "object", "facing": "camera", "heading_in_world": [-1.0, 0.0]}
    return question(
        "object_move_object_centric", "The table goes 3 m right. Where is the lamp from the cup?",
        {"left": None, "right": "forgot_attachment", "back": "wrong_frame", "front": "other"},
        told("right"), told("left"), kind="direction", ends=(3, 2),
        objects=[box(1, "table", (3, 0, 0.3), ["mover"]), box(2, "cup", (3, 0, 0.8), ["query"]),
                 box(3, "lamp", (3, 2, 0.5), ["reference"])],
        views=[view("0", camera_looking(*EAST))], binding_view="0", attachment=CARRIES, frame={**faces, "anchor": 2},
        intervention=moved("right", 3.0, (0.0, 3.0), {**faces, "anchor": 1}),
    )  # fmt: skip


def rotate_object() -> Row:
    """The table, two metres north of a chair, goes a quarter clockwise around it: to the east. The cup faced south, the
    lamp in the east was left; it faces west now, and the lamp in the north is right. Still facing south it were at the
    back; as the camera sees, which looks north, in front. (The other way round: front-left, which is not offered.)"""
    return question(
        "object_rotate_object_centric", "The table goes round the chair. The cup faces the chair. Where is the lamp?",
        {"right": None, "left": "forgot_attachment", "back": "wrong_frame", "front": "wrong_frame"},
        told("left"), told("right"), kind="direction", ends=(4, 2),
        objects=[box(1, "table", (0, 2, 0.3), ["mover"]), box(2, "cup", (0, 2, 0.8), ["query"]),
                 box(3, "chair", (0, 0, 0.5), ["facing"]), box(4, "lamp", (2, 2, 0.5), ["reference"])],
        views=[view("0", camera_looking(*NORTH, (0.0, -4.0, 1.5)))], attachment=CARRIES,
        frame={"kind": "object", "anchor": 2, "facing": 3, "heading_in_world": [-1.0, 0.0]},
        intervention={"kind": "orbit", "object": 1, "moved": [1, 2], "around": 3, "angle_deg": 90.0,
                      "sense": "clockwise"},
    )  # fmt: skip


def move_distance() -> Row:
    """From 1.5 m to 2.6 m."""
    return question(
        "object_move_distance", "The table goes 1 m forward. How far is the cup from the lamp?",
        {"very close": "wrong_sense", "close": "forgot_attachment", "moderate": None, "far": "other"},
        {"value": "close", "distance_m": 1.5}, {"value": "moderate", "distance_m": 2.6}, kind="distance", ends=(2, 3),
        objects=[box(1, "table", (3, 0, 0.3), ["mover"]), box(2, "cup", (3, 0, 0.8), ["query"]),
                 box(3, "lamp", (1.2, 0, 0.8), ["reference"])],
        views=[view("0", camera_looking(*EAST))], binding_view="0", attachment=CARRIES,
        intervention=moved("forward", 1.0, (1.0, 0.0), {**CAMERA, "heading_in_world": [1.0, 0.0]}),
    )  # fmt: skip


def hidden(query: float, reference: float, value: str) -> dict[str, Any]:
    return {
        "value": value, "query_hidden": query, "reference_hidden": reference, "query_silhouette_px": 900,
        "reference_silhouette_px": 4000,
    }  # fmt: skip


def move_occlusion() -> Row:
    """The cup comes to stand behind the lamp."""
    return question(
        "object_move_occlusion", "The table goes 1 m away. Who hides whom, the cup or the lamp?",
        {"query_occluded": None, "reference_occluded": "wrong_sense", "neither": "forgot_attachment"},
        hidden(0.0, 0.0, "neither"), hidden(0.6, 0.0, "query_occluded"), kind="pairwise_occlusion", ends=(2, 3),
        texts={"query_occluded": "the cup is occluded by the lamp", "reference_occluded":
               "the lamp is occluded by the cup", "neither": "neither occludes the other"},
        objects=[box(1, "table", (3, 0, 0.3), ["mover"]), box(2, "cup", (3, 0, 0.8), ["query"]),
                 box(3, "lamp", (1.2, 0, 0.8), ["reference"])],
        views=[view("0", camera_looking(*EAST))], binding_view="0", attachment=CARRIES,
        intervention=moved("forward", 1.0, (1.0, 0.0), {**CAMERA, "heading_in_world": [1.0, 0.0]}),
    )  # fmt: skip


def occlusion(value: str) -> dict[str, Any]:
    blocked = {"not occluded": 0.0, "occluded": 0.5, "not visible": 1.0}[value]
    return {"value": value, "blocked": blocked, "opened": blocked, "silhouette_px": 0 if blocked == 1.0 else 3000}


def remove_occlusion(target: int = 3) -> Row:
    """The table is taken away: the lamp behind it is revealed, or the cup on it is gone."""
    answer, old = ("not occluded", "no_update") if target == 3 else ("not visible", "forgot_attachment")
    tags = {state: old if state == "occluded" else "other" for state in STATES} | {answer: None}
    return question(
        "object_remove", "The table is taken away. How is the cup, or lamp, seen?", tags, occlusion("occluded"),
        occlusion(answer), kind="occlusion", ends=(target, None),
        objects=[box(1, "table", (0, 3, 0.3), ["remover"]), box(2, "cup", (0, 3, 0.8), ["target"]),
                 box(3, "lamp", (0, 5, 0.5), ["target"])],
        attachment=CARRIES, intervention={"kind": "remove", "object": 1, "removed": [1, 2]},
    )  # fmt: skip


def turn(angle_deg: float) -> dict[str, Any]:
    return {"kind": "rotate_layout", "angle_deg": angle_deg, "center_in_world": [0.0, 0.0]}


def rotate_camera() -> Row:
    """The lamp is north of the table, and the camera looks north: front. A quarter clockwise: right. The other way
    round were left, which is mirrored first of all."""
    return question(
        "coordinate_rotation_agent", "All turns a quarter clockwise. Where is the lamp from the table?",
        {"right": None, "front": "no_update", "left": "mirrored", "back": "other"}, told("front"), told("right"),
        kind="direction", ends=(3, 1),
        objects=[box(1, "table", (1, 0, 0.3), ["reference"]), box(3, "lamp", (1, 2, 0.5), ["target"])],
        views=[view("0", camera_looking(*NORTH, (0.0, -4.0, 1.5)))], binding_view="0",
        frame={**CAMERA, "heading_in_world": [0.0, 1.0]}, intervention=turn(90.0),
    )  # fmt: skip


def rotate_anchor() -> Row:
    """The chair faces a table in the north and keeps to the north; the lamp goes from the east, right, to the south,
    back. The other way round: the front."""
    return question(
        "coordinate_rotation_object_centric", "You are the chair and face the table. All turns. Where is the lamp?",
        {"back": None, "right": "no_update", "front": "wrong_sense", "left": "other"}, told("right"), told("back"),
        kind="direction", ends=(3, 4),
        objects=[box(1, "table", (0, 2, 0.3), ["facing"]), box(3, "lamp", (2, 0, 0.5), ["target"]),
                 box(4, "chair", (0, 0, 0.5), ["anchor"])],
        frame={"kind": "object", "anchor": 4, "facing": 1, "heading_in_world": [0.0, 1.0]}, intervention=turn(90.0),
    )  # fmt: skip


def rotate_world() -> Row:
    """From north to south by half a turn. The camera looks east: the south is on its right, which would be east."""
    return question(
        "coordinate_rotation_allocentric", "The camera looks east. All turns by 180. Where is the lamp from the table?",
        {"south": None, "north": "no_update", "east": "wrong_frame", "west": "other"},
        told("north", COMPASS), told("south", COMPASS), kind="direction", ends=(3, 1),
        objects=[box(1, "table", (1, 0, 0.3), ["reference"]), box(3, "lamp", (1, 2, 0.5), ["target"])],
        views=[view("0", camera_looking(*EAST))], binding_view="0", camera_compass="east", frame=WORLD,
        intervention=turn(180.0),
    )  # fmt: skip


BY_HAND: dict[str, Row] = {
    row.source_type: row
    for row in (
        move_camera(), move_object(), rotate_object(), move_world(), move_distance(), move_occlusion(),
        remove_occlusion(), rotate_camera(), rotate_anchor(), rotate_world(),
    )
}  # fmt: skip
"""All ten types, by code."""
