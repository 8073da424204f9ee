"""Questions made by hand, whose answers are put in and not computed, and a dataset of them on disk.

A room is laid out *from* the answer: the camera looks along a chosen way, the reference stands somewhere,
and the target
is put at the place that a word means.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from PIL import Image

from spacecast.dataset.rows import Row, table_of

# Unit vectors (east, north) of the compass, written down, and the words of a viewer who looks north.
HALF = 0.7071067811865476
NORTHWARD = {
    "front": (0.0, 1.0), "front-right": (HALF, HALF), "right": (1.0, 0.0), "back-right": (HALF, -HALF),
    "back": (0.0, -1.0), "back-left": (-HALF, -HALF), "left": (-1.0, 0.0), "front-left": (-HALF, HALF),
}  # fmt: skip
WORDS = tuple(NORTHWARD)
COMPASS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")
FOURS = {word: WORDS[index % 2 :: 2] for index, word in enumerate(WORDS)}
COMPASS_FOURS = {word: COMPASS[index % 2 :: 2] for index, word in enumerate(COMPASS)}
DISTANCES = {
    "very close": "very close (below 1.0 m)",
    "close": "close (1.0 m to 2.0 m)",
    "moderate": "moderate (2.0 m to 3.3 m)",
    "far": "far (above 3.3 m)",
}
SIZES = (1, 2, 3, 2, 1, 2, 1)
"""How many of three are right, so that the seven sets of letters are equally frequent."""
STATES = ("not occluded", "occluded", "not visible")
NAMES = {
    "direction_agent": ("L1", "Camera Direction", "direction"),
    "direction_object_centric": ("L1", "Object Direction", "direction"),
    "direction_allocentric": ("L1", "World Direction", "direction"),
    "distance": ("L1", "Distance", "distance"),
    "occlusion": ("L1", "Occlusion", "occlusion"),
    "attachment_chain": ("L1", "Attachment", "attachment"),
    "object_move_agent": ("L2", "Move Camera Direction", "direction"),
    "object_move_object_centric": ("L2", "Move Object Direction", "direction"),
    "object_rotate_object_centric": ("L2", "Rotate Object Direction", "direction"),
    "object_move_allocentric": ("L2", "Move World Direction", "direction"),
    "object_move_distance": ("L2", "Move Distance", "distance"),
    "object_move_occlusion": ("L2", "Move Occlusion", "occlusion"),
    "object_remove": ("L2", "Remove Occlusion", "occlusion"),
    "coordinate_rotation_agent": ("L3", "Rotate Camera Direction", "direction"),
    "coordinate_rotation_object_centric": ("L3", "Rotate Object Direction", "direction"),
    "coordinate_rotation_allocentric": ("L3", "Rotate World Direction", "direction"),
}
WIDTH, HEIGHT = 64, 48
PIXELS = [50.0, 0.0, 31.5, 0.0, 50.0, 23.5, 0.0, 0.0, 1.0]


def camera_looking(east: float, north: float, at: Sequence[float] = (0.0, 0.0, 1.5)) -> list[float]:
    """``world_from_camera``, row-major, of a level camera: right, down and forward are its columns."""
    return [north, 0.0, east, at[0], -east, 0.0, north, at[1], 0.0, -1.0, 0.0, at[2], 0.0, 0.0, 0.0, 1.0]


def box(id: int, label: str, center: Sequence[float], roles: Sequence[str] = (), size: float = 0.4) -> dict[str, Any]:
    middle = np.asarray(center, dtype=float)
    return {
        "id": id, "label": label, "raw_label": label, "roles": list(roles),
        "aabb": {"min": (middle - size / 2).tolist(), "max": (middle + size / 2).tolist()},
        "obb": {"center": middle.tolist(), "size": [size] * 3, "yaw_deg": 0.0},
        "center_in_world": middle.tolist(),
    }  # fmt: skip


def view(name: str, world_from_camera: Sequence[float]) -> dict[str, Any]:
    return {
        "name": name, "role": "image", "world_from_camera": list(world_from_camera), "pixel_from_camera": PIXELS,
        "width": WIDTH, "height": HEIGHT,
    }  # fmt: skip


def facts_with(**parts: Any) -> dict[str, Any]:
    """Facts of FORMATS section 3, empty but for what is given."""
    empty: dict[str, Any] = {
        "schema": "spacecast-facts/1", "wording": {"id": "hand", "language": "en", "version": 1}, "objects": [],
        "views": [view("0", camera_looking(0.0, 1.0))], "binding_view": None, "camera_compass": None, "frame": None,
        "intervention": None, "attachment": [], "relation": None, "options": [], "twin": None, "margins": {},
    }  # fmt: skip
    return {**empty, **parts}


def row_with(  # noqa: PLR0917
    code: str, uid: str, scene: str, question: str, facts: dict[str, Any], unchanged: bool | None = None,
    dataset: str = "scannet",
) -> Row:  # fmt: skip
    """A row whose right options are those without a tag."""
    level, name, task = NAMES[code]
    options = facts["options"]
    labels = tuple("ABCDEFGH"[: len(options)])
    right = [(label, o["value"]) for label, o in zip(labels, options, strict=True) if o["tag"] is None]
    views = facts["views"]
    columns: dict[str, Any] = {
        "question_uid": uid, "dataset": dataset, "scene_id": scene, "level": level, "type": name, "question_type": name,
        "source_type": code, "task": task, "question": question, "options": tuple(o["text"] for o in options),
        "option_labels": labels, "answer": tuple(label for label, _ in right),
        "multi_select": code == "attachment_chain",
        "correct_values": tuple(value for _, value in right), "image_name": views[0]["name"],
        "auxiliary_image_names": tuple(v["name"] for v in views[1:]), "main_image_a_name": None,
        "main_image_b_name": None, "bridge_view_names": (), "image_roles": tuple(v["role"] for v in views),
        "image_paths": tuple(f"{dataset}/{scene}/{v['name']}" for v in views), "relation_unchanged": unchanged,
    }  # fmt: skip
    record = {**columns, "facts": facts}
    return Row(**columns, source_record_json=json.dumps(record, sort_keys=True))


def options_of(
    texts: dict[str, str], right: Sequence[str], rng: np.random.Generator, tags: dict[str, str] | None = None
) -> list[dict]:
    """Options in a drawn order; value -> text. A wrong one that has no tag is some other."""
    order = rng.permutation(len(texts))
    items, known = list(texts.items()), tags or {}
    return [
        {"text": text, "value": value, "tag": None if value in right else known.get(value, "other")}
        for value, text in (items[i] for i in order)
    ]


def word_of(vector: Sequence[float], east: float, north: float) -> str:
    """The word of a vector to one who looks along (east, north)."""
    ahead, sideways = vector[0] * east + vector[1] * north, vector[0] * north - vector[1] * east
    return WORDS[round(np.degrees(np.arctan2(sideways, ahead)) / 45.0) % 8]


def direction_tags(word: str, elsewhere: Sequence[str]) -> dict[str, str]:
    """Tags of a direction without a change: what is told in another frame, and, before that, left for right."""
    mirrored = word.replace("left", "right") if "left" in word else word.replace("right", "left")
    return {**dict.fromkeys(elsewhere, "wrong_frame"), mirrored: "mirrored"}


def in_compass(tags: dict[str, str]) -> dict[str, str]:
    """The same in compass words, north for front."""
    return {COMPASS[WORDS.index(word)]: tag for word, tag in tags.items()}


def turned_words(word: str, east: float, north: float) -> np.ndarray:
    """(3,) the way that a word means to one who looks along (east, north)."""
    sideways, ahead = NORTHWARD[word]
    return np.array([sideways * north + ahead * east, -sideways * east + ahead * north, 0.0])


def direction_question(uid: str, scene: str, word: str, rng: np.random.Generator, code: str = "direction_agent") -> Row:
    """Camera or world direction whose answer is the word (for world, the compass word at its place)."""
    look = COMPASS[int(rng.integers(8))]
    east, north = NORTHWARD[WORDS[COMPASS.index(look)]]
    reference = np.array([rng.uniform(-1, 1), rng.uniform(2, 4), rng.uniform(0.2, 1.0)])
    world = code == "direction_allocentric"
    way = np.array([*NORTHWARD[word], 0.0]) if world else turned_words(word, east, north)
    off = np.radians(rng.uniform(-12, 12))
    way = np.array([way[0] * np.cos(off) - way[1] * np.sin(off), way[0] * np.sin(off) + way[1] * np.cos(off), 0.0])
    target = reference + rng.uniform(0.8, 2.0) * way
    value = COMPASS[WORDS.index(word)] if world else word
    as_seen, by_north = word_of(way, east, north), word_of(way, 0.0, 1.0)
    to_camera = word_of(way, *-reference[:2])  # one who stands at the reference and faces the camera, at (0, 0)
    tags = in_compass(direction_tags(word, [as_seen])) if world else direction_tags(word, [by_north, to_camera])
    four = COMPASS_FOURS[value] if world else FOURS[value]
    facts = facts_with(
        objects=[box(5, "bed", reference, ["reference"]), box(12, "chair", target, ["target"])],
        views=[view("120", camera_looking(east, north))],
        binding_view="120",
        camera_compass=look if world else None,
        frame={
            "kind": "world" if world else "camera", "anchor": None, "facing": None,
            "heading_in_world": [0.0, 1.0] if world else [east, north],
        },
        relation={
            "kind": "direction", "target": 12, "reference": 5, "after": None,
            "before": {
                "value": value,
                "angle_deg": (45.0 * WORDS.index(word) - np.degrees(off) + 180.0) % 360.0 - 180.0,
                "ambiguity": abs(np.degrees(off)) / 22.5,
            },
        },
        options=options_of({v: v for v in four}, [value], rng, tags),
    )  # fmt: skip
    text = f"The camera looks {look}. Where is the chair from the bed?" if world else "Where is the chair from the bed?"
    return row_with(code, uid, scene, text, facts)


def object_question(uid: str, scene: str, word: str, rng: np.random.Generator) -> Row:
    """Anchor, faced object, target."""
    east, north = NORTHWARD[WORDS[int(rng.integers(8))]]
    anchor = np.array([rng.uniform(-1, 1), rng.uniform(-1, 1), 0.4])
    faced = anchor + 1.5 * np.array([east, north, 0.1])
    target = anchor + rng.uniform(0.8, 2.0) * turned_words(word, east, north)
    facts = facts_with(
        objects=[box(1, "desk", anchor, ["anchor"]), box(2, "door mat", faced), box(3, "lamp", target, ["target"])],
        frame={"kind": "object", "anchor": 1, "facing": 2, "heading_in_world": [east, north]},
        relation={
            "kind": "direction", "target": 3, "reference": 1, "after": None,
            "before": {"value": word, "angle_deg": (45.0 * WORDS.index(word) + 180.0) % 360.0 - 180.0,
            "ambiguity": 0.0},
        },
        # the camera of the picture looks north, so that both other frames are one
        options=options_of(
            {v: v for v in FOURS[word]}, [word], rng, direction_tags(word, [word_of(target - anchor, 0.0, 1.0)])
        ),
    )  # fmt: skip
    facts["relation"]["before"]["angle_deg"] = 180.0 if word == "back" else facts["relation"]["before"]["angle_deg"]
    return row_with("direction_object_centric", uid, scene, "You are the desk and face the mat. The lamp?", facts)


def distance_question(uid: str, scene: str, value: str, rng: np.random.Generator) -> Row:
    distance_m = {"very close": 0.5, "close": 1.5, "moderate": 2.6, "far": 4.0}[value] + rng.uniform(-0.2, 0.2)
    facts = facts_with(
        objects=[box(1, "desk", (0, 0, 0.5)), box(2, "lamp", (distance_m + 0.4, 0, 0.5))],
        relation={
            "kind": "distance", "target": 2, "reference": 1, "after": None,
            "before": {"value": value, "distance_m": distance_m},
        },
        options=options_of(DISTANCES, [value], rng),
    )  # fmt: skip
    return row_with("distance", uid, scene, "How far is the lamp from the desk?", facts)


def occlusion_question(uid: str, scene: str, value: str, rng: np.random.Generator) -> Row:
    numbers = {
        "not occluded": {"silhouette_px": 3000, "visible_px": 3000, "blocked": 0.0, "opened": 0.0},
        "occluded": {"silhouette_px": 3000, "visible_px": 1500, "blocked": 0.5, "opened": 0.45},
        "not visible": {"silhouette_px": 3000, "visible_px": 0, "blocked": 1.0, "opened": 1.0},
    }[value]
    facts = facts_with(
        objects=[box(1, "desk", (0, 3, 0.5))],
        binding_view="0",
        relation={
            "kind": "occlusion", "target": 1, "reference": None, "after": None, "before": {"value": value, **numbers}
        },
        options=options_of({v: v for v in STATES}, [value], rng),
    )  # fmt: skip
    return row_with("occlusion", uid, scene, "Is the desk hidden in the picture?", facts)


def attachment_question(uid: str, scene: str, count: int, rng: np.random.Generator) -> Row:
    """A table that carries ``count`` of three: a tray, a cup on the tray, a book; the others stand elsewhere."""
    edges = [{"parent": 8, "child": 9, "kind": "supported_by", "certainty": "possible"}]
    things = {2: "tray", 3: "cup", 4: "book"}
    for child in sorted(things)[:count]:
        edges.append({"parent": 2 if child == 3 else 1, "child": child, "kind": "supported_by", "certainty": "certain"})
    facts = facts_with(
        objects=[box(1, "table", (0, 0, 0.5), ["mover"]), *(box(i, n, (i, 0, 1)) for i, n in things.items())],
        attachment=edges,
        relation={
            "kind": "attachment", "target": 1, "reference": None, "after": None,
            "before": {"value": sorted(things)[:count], "carried": sorted(things)[:count]},
        },
        options=options_of({str(i): n for i, n in things.items()}, [str(i) for i in sorted(things)[:count]], rng),
    )  # fmt: skip
    return row_with("attachment_chain", uid, scene, "The table moves. What moves too?", facts)


def questions(scenes: int = 6, seed: int = 0, per_type: int = 8) -> list[Row]:
    """All six types of level 1, each answer equally often, spread over scenes."""
    rng = np.random.default_rng(seed)
    rows = []
    for scene_number in range(scenes):
        scene = f"scene{scene_number:04d}_00"
        for number in range(per_type):
            uid = f"{scene}-{number}"
            word = WORDS[(number + scene_number) % 8]
            rows += [
                direction_question(f"camera-{uid}", scene, word, rng),
                direction_question(f"world-{uid}", scene, word, rng, "direction_allocentric"),
                object_question(f"object-{uid}", scene, word, rng),
                distance_question(f"distance-{uid}", scene, tuple(DISTANCES)[number % 4], rng),
                occlusion_question(f"occlusion-{uid}", scene, STATES[number % 3], rng),
                attachment_question(f"attachment-{uid}", scene, SIZES[(number + scene_number) % 7], rng),
            ]
    return rows


def picture(seed: int, width: int = WIDTH, height: int = HEIGHT) -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 255, (height // 8, width // 8, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).resize((width, height)).save(file, "PNG")
    return file.getvalue()


def write(
    folder: Path, rows: Sequence[Row], *, shard_rows: int = 100, pictures: Sequence[Sequence[bytes]] | None = None
) -> Path:
    """A dataset on disk, with a manifest that names its shards."""
    images = pictures or [[picture(n) for _ in row.image_roles] for n, row in enumerate(rows)]
    (folder / "data").mkdir(parents=True, exist_ok=True)
    count = -(-len(rows) // shard_rows)
    shards = []
    for number in range(count):
        part = slice(number * shard_rows, (number + 1) * shard_rows)
        name = f"data/test-{number:05d}-of-{count:05d}.parquet"
        pq.write_table(table_of(rows[part], images[part]), folder / name)
        shards.append({"path": name, "rows": len(rows[part]), "sha256": digest(folder / name)})
    manifest = {"shards": shards, "questions": len(rows)}
    (folder / "release_manifest.json").write_text(json.dumps(manifest))
    return folder


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
