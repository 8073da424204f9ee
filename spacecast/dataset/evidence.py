"""What may be shown beside a question's pictures: positions and sizes as text, and the scene's map from above.

Both come from a :class:`Survey` of the scene before any change, and of a question they know what :class:`Asked` holds:
which objects it names, its pictures, and who faces whom in it. Options, answers, the change itself and the facts that
an answer rests on do not get here. The relation that is asked about is never stated, only what it follows from: a
question about attachment is not told who carries whom, one about occlusion not which picture shows what.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from spacecast.dataset.reader import evidence_paths
from spacecast.dataset.rows import Row, plain
from spacecast.dataset.types import UNNAMED_ROLES, Language
from spacecast.errors import FrameError
from spacecast.files import write_whole
from spacecast.frames import Heading, Transform, camera_heading, facing_heading
from spacecast.sight.maps import MapFrame, MarkedBox, MarkedCamera, marked_map

if TYPE_CHECKING:
    from spacecast.scan import Scan

MAP, SURVEY = "/map", "/survey"
"""Names of a survey's parts among a scene's pictures; no view is named so."""
SURVEY_PARTS = (MAP, SURVEY)


@dataclass(frozen=True)
class EvidenceSettings:
    """How evidence is written (own)."""

    length_decimals: int = 2
    """Of metres and of unit vectors: 1 cm moves a direction between centres 0.5 m apart by under 2 degrees, and no
    certain one is closer to a border than 6.75."""
    angle_decimals: int = 1
    """Of degrees."""


SETTINGS = EvidenceSettings()


# -- the scene --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Survey:
    """A scene before any change.

    Attributes:
        objects: by id: ``label``, ``label_zh`` or None, ``min``, ``max``, ``center`` (of the box along the axes),
            ``obb`` (``center``, ``size``, ``yaw_deg``), ``support`` (``floor``, ``wall`` or ``none``), ``carrier`` and
            ``carried_as`` (of the certain edge; None where there is none).
        is_aligned: the scan's own axes are the world's, so that +y is north.
        room_center: (x, y) of the largest room; None where the scan shows no floor.
        frame: where the map lies.
        canvas: (H, W, 3) uint8, the map without names.
    """

    objects: Mapping[int, Mapping[str, Any]]
    is_aligned: bool
    room_center: tuple[float, float] | None
    frame: MapFrame
    canvas: NDArray[np.uint8]

    def parts(self) -> dict[str, bytes]:
        """As files: the map as PNG, the rest as JSON."""
        said = {
            "objects": {str(i): self.objects[i] for i in sorted(self.objects)},
            "is_aligned": self.is_aligned,
            "room_center": self.room_center,
            "frame": self.frame._asdict(),
        }
        return {MAP: _png(self.canvas), SURVEY: json.dumps(plain(said), sort_keys=True).encode()}

    @classmethod
    def from_parts(cls, parts: Mapping[str, bytes]) -> Survey:
        """The survey that :meth:`parts` wrote."""
        said = json.loads(parts[SURVEY])
        center = said["room_center"]
        return cls(
            objects={int(i): entry for i, entry in said["objects"].items()},
            is_aligned=said["is_aligned"],
            room_center=None if center is None else (center[0], center[1]),
            frame=MapFrame(**said["frame"]),
            canvas=np.asarray(Image.open(io.BytesIO(parts[MAP])).convert("RGB")),
        )

    def carried_by(self, object_id: int) -> list[int]:
        """All that an object carries along certain edges, sorted."""
        found = [i for i, entry in sorted(self.objects.items()) if entry["carrier"] == object_id]
        return sorted({*found, *(i for child in found for i in self.carried_by(child))})

    def carriers_of(self, object_id: int) -> list[int]:
        """What carries an object, what carries that, and so on."""
        carrier = self.objects[object_id]["carrier"]
        return [] if carrier is None else [carrier, *self.carriers_of(carrier)]


def survey(scan: Scan) -> Survey:
    """The survey of a scan, cast on one core."""
    from spacecast.scene import Scene
    from spacecast.sight import SceneColors, map_frame, map_picture

    scene = Scene.from_scan(scan)
    objects = {}
    for i, item in scene.objects.items():
        if item.is_structure:
            continue
        carrier = scene.carrier_of(i)
        objects[i] = {
            "label": item.label,
            "label_zh": item.instance.label_zh,
            "min": item.aabb.min,
            "max": item.aabb.max,
            "center": item.center_in_world,
            "obb": {"center": item.obb.center, "size": item.obb.size, "yaw_deg": item.obb.yaw_deg},
            "support": "none" if item.support is None else item.support.kind,
            "carrier": carrier,
            "carried_as": None if carrier is None else scene.attachment.edges[carrier, i]["kind"],
        }
    center = scene.room_center_in_world if scene.rooms else None
    frame = map_frame(scene)
    return Survey(
        objects={i: plain(entry) for i, entry in objects.items()},
        is_aligned=scene.is_aligned,
        room_center=None if center is None else (float(center[0]), float(center[1])),
        frame=frame,
        canvas=map_picture(scene, SceneColors.from_scan(scan), frame=frame, threads=1),
    )


# -- the question -----------------------------------------------------------------------------------------------------


class Shown(NamedTuple):
    """A picture of a question."""

    role: str
    world_from_camera: tuple[float, ...]
    """16 numbers, row-major."""
    shows: tuple[int, ...]
    """Ids of named objects that the text lets one look for in it; empty where that is what is asked."""


class Asked(NamedTuple):
    """All that evidence knows of a question."""

    language: Language
    named: tuple[int, ...]
    """Ids that the text or the options name, sorted."""
    pictures: tuple[Shown, ...]
    facings: tuple[tuple[int, int | None], ...]
    """(who, whom) before the change, as the text says; whom None: the camera of the first picture."""
    tells_attachment: bool
    """False where attachment is asked."""


def asked_of(facts: Mapping[str, Any]) -> Asked:
    """What evidence may know of a question, from its facts (FORMATS section 3)."""
    roles = {int(item["id"]): set(item["roles"]) - UNNAMED_ROLES for item in facts["objects"]}
    named = tuple(sorted(i for i, told in roles.items() if told))
    kind = facts["relation"]["kind"]
    change = facts.get("intervention") or {}
    frames = [facts.get("frame"), change.get("frame")] if change.get("kind") != "orbit" else []  # faced afterwards
    facings = {
        (int(frame["anchor"]), None if frame["facing"] == "camera" else int(frame["facing"]))
        for frame in frames
        if frame is not None and frame["kind"] == "object"
    }
    behind = {i for i in named if roles[i] & _group_b_roles(facts)}
    groups = {"main_a": set(named) - behind, "main_b": behind, "image": set(named)}
    return Asked(
        language=facts["wording"]["language"],
        named=named,
        pictures=tuple(
            Shown(
                view["role"],
                tuple(map(float, view["world_from_camera"])),
                () if kind == "occlusion" else tuple(sorted(groups.get(view["role"], ()))),
            )
            for view in facts["views"]
        ),
        facings=tuple(sorted(facings, key=lambda pair: (pair[0], -1 if pair[1] is None else pair[1]))),
        tells_attachment=kind != "attachment",
    )


def _group_b_roles(facts: Mapping[str, Any]) -> set[str]:
    """Roles of what main view B of a pair shows; last column of the table in SEMANTICS section 6."""
    change, frame = facts.get("intervention"), facts.get("frame") or {}
    if frame.get("kind") == "object" and (change is None or change["kind"] == "rotate_layout"):
        return {"target"}
    return {"reference", "other"}


# -- text -------------------------------------------------------------------------------------------------------------

_EN = {
    "title": "Measured before anything is changed.",
    "north": "Frame: metres. x points east, y points north, z points up; the floor is near z = 0.",
    "no_north": (
        "Frame: metres. x and y are the scan's own axes and z points up; the floor is near z = 0. Where north is is "
        "not known: headings are counted from y, as if it were north."
    ),
    "headings": (
        "A heading is given in degrees clockwise from north, seen from above (0 north, 90 east, 180 south, 270 west), "
        "and as a unit vector (x, y) on the floor plan; to the right of a heading (x, y) is (y, -x)."
    ),
    "boxes": (
        "A centre is that of the box along the axes, whose corners are given as from and to. A size is length x width "
        "x height of the upright box whose longest side lies at yaw degrees counterclockwise from the x axis."
    ),
    "room": "The room's centre on the floor plan: {point}.",
    "pictures": "Pictures, and the cameras that took them",
    "camera": "  {picture}: camera at {position}, looks along {forward}, {heading}{shows}",
    "picture": "picture {n}",
    "heading": "heading {degrees} {vector}",
    "no_heading": "no stable heading",
    "shows": "; shows {names}",
    "named": "Objects named in the question",
    "attached": "What these carry, and what carries them",
    "object": "  {name}: centre {center}; from {low} to {high}; size {size}, yaw {yaw}{stands}",
    "carried": "; carried by {carrier} ({kind})",
    "floor": "; stands on the floor",
    "wall": "; hangs on a wall",
    "none": "; what it stands on is not known",
    "facings": "Who faces whom before anything is changed",
    "facing": "  {who} faces {whom}: heading {degrees} {vector}",
    "first_camera": "the camera of {picture}",
    "contained_in": "inside it",
    "affixed_to": "fixed to it",
    "resting_on_soft_surface": "resting on its soft surface",
    "supported_by": "standing on it",
    "and": ", ",
}
_ZH = {
    "title": "以下数据均在任何改动之前测得。",
    "north": "坐标系：单位为米。x 指向东，y 指向北，z 指向上；地面约在 z = 0。",
    "no_north": (
        "坐标系：单位为米。x、y 为扫描自身的坐标轴，z 指向上；地面约在 z = 0。"
        "北的方向未知：朝向从 y 轴算起，把 y 当作北。"
    ),
    "headings": (
        "朝向以度数给出：从上往下看，从北起顺时针（0 北，90 东，180 南，270 西），并附平面图上的单位向量 (x, y)；"
        "朝向 (x, y) 的右侧是 (y, -x)。"
    ),
    "boxes": (
        "“中心”是沿坐标轴的包围盒的中心，包围盒的两角以“从…到…”给出。“尺寸”是直立包围盒的长 x 宽 x 高，"
        "其最长边与 x 轴的夹角为“偏航”（逆时针，度）。"
    ),
    "room": "房间在平面图上的中心：{point}。",
    "pictures": "照片及拍摄它们的相机",
    "camera": "  {picture}：相机位于 {position}，视线方向 {forward}，{heading}{shows}",
    "picture": "第{n}张照片",
    "heading": "朝向 {degrees} {vector}",
    "no_heading": "没有稳定的朝向",
    "shows": "；其中可见{names}",
    "named": "题目提到的物体",
    "attached": "它们承载的物体，以及承载它们的物体",
    "object": "  {name}：中心 {center}；从 {low} 到 {high}；尺寸 {size}，偏航 {yaw}{stands}",
    "carried": "；由{carrier}承载（{kind}）",
    "floor": "；立在地面上",
    "wall": "；挂在墙上",
    "none": "；支撑物未知",
    "facings": "任何改动之前的朝向关系",
    "facing": "  {who}面向{whom}：朝向 {degrees} {vector}",
    "first_camera": "{picture}的相机",
    "contained_in": "在其内部",
    "affixed_to": "固定在其上",
    "resting_on_soft_surface": "放在其柔软表面上",
    "supported_by": "放在其上",
    "and": "、",
}
_SAID: dict[Language, dict[str, str]] = {"en": _EN, "zh": _ZH}
_NAMED = re.compile(r"^  (?P<name>[^:：]+) \(id (?P<id>\d+)\)[:：]", re.MULTILINE)
_PICTURE = re.compile(r"^  (?:picture |第)(?P<number>\d+)(?:张照片)?[:：]")


def metadata_text(asked: Asked, scene: Survey) -> str:
    """What was measured, in words: the frame, the cameras, the objects named, and who faces whom.

    Metres, degrees; world frame (SEMANTICS section 1). In the language of the question. Objects that are attached to
    those named are listed too (along certain edges, both ways), unless attachment is what is asked.
    """
    said = _SAID[asked.language]
    lines = [said["title"], said["north" if scene.is_aligned else "no_north"], said["headings"], said["boxes"]]
    if scene.room_center is not None:
        lines.append(said["room"].format(point=_point(scene.room_center)))
    lines += ["", said["pictures"]]
    lines += [_camera_line(n, shown, scene, said, asked.language) for n, shown in enumerate(asked.pictures, start=1)]
    lines += ["", said["named"], *(_object_line(i, asked, scene) for i in asked.named)]
    attached = _attached(asked, scene)
    if attached:
        lines += ["", said["attached"], *(_object_line(i, asked, scene) for i in attached)]
    if asked.facings:
        lines += ["", said["facings"], *(_facing_line(who, whom, asked, scene) for who, whom in asked.facings)]
    return "\n".join(lines) + "\n"


def _attached(asked: Asked, scene: Survey) -> list[int]:
    if not asked.tells_attachment:
        return []
    found = {i for named in asked.named for i in (*scene.carried_by(named), *scene.carriers_of(named))}
    return sorted(i for i in found - set(asked.named) if i in scene.objects)


def _name(object_id: int, scene: Survey, language: Language) -> str:
    entry = scene.objects[object_id]
    label = entry["label_zh"] if language == "zh" and entry["label_zh"] else entry["label"]
    return f"{label} (id {object_id})"


def _camera_line(number: int, shown: Shown, scene: Survey, said: Mapping[str, str], language: Language) -> str:
    pose = _pose(shown)
    try:
        heading = said["heading"].format(**_heading(camera_heading(pose)))
    except FrameError:
        heading = said["no_heading"]
    names = said["and"].join(_name(i, scene, language) for i in shown.shows)
    return said["camera"].format(
        picture=said["picture"].format(n=number),
        position=_point(pose.translation),
        forward=_point(pose.rotation[:, 2]),
        heading=heading,
        shows=said["shows"].format(names=names) if names else "",
    )


def _object_line(object_id: int, asked: Asked, scene: Survey) -> str:
    said, entry = _SAID[asked.language], scene.objects[object_id]
    stands = ""
    if asked.tells_attachment:
        stands = said[entry["support"]]
        if entry["carrier"] is not None:
            carrier = _name(entry["carrier"], scene, asked.language)
            stands = said["carried"].format(carrier=carrier, kind=said[entry["carried_as"]])
    return said["object"].format(
        name=_name(object_id, scene, asked.language),
        center=_point(entry["center"]),
        low=_point(entry["min"]),
        high=_point(entry["max"]),
        size=" x ".join(_length(value) for value in entry["obb"]["size"]),
        yaw=_angle(entry["obb"]["yaw_deg"]),
        stands=stands,
    )


def _facing_line(who: int, whom: int | None, asked: Asked, scene: Survey) -> str:
    said = _SAID[asked.language]
    if whom is None:
        faced: Any = _pose(asked.pictures[0]).translation
        name = said["first_camera"].format(picture=said["picture"].format(n=1))
    else:
        faced, name = scene.objects[whom]["center"], _name(whom, scene, asked.language)
    heading = _heading(facing_heading(scene.objects[who]["center"], faced))
    return said["facing"].format(who=_name(who, scene, asked.language), whom=name, **heading)


def _pose(shown: Shown) -> Transform:
    matrix = np.reshape(shown.world_from_camera, (4, 4))
    return Transform.from_matrix(matrix, target="world", source="camera")


def _heading(heading: Heading) -> dict[str, str]:
    return {"degrees": _angle(heading.compass_deg % 360.0, 360.0), "vector": _point(heading.forward_in_world)}


def _angle(value: float, wrap: float | None = None) -> str:
    rounded = round(value, SETTINGS.angle_decimals)
    return f"{(rounded % wrap if wrap else rounded) + 0.0:.{SETTINGS.angle_decimals}f}"


def _length(value: float) -> str:
    return f"{round(float(value), SETTINGS.length_decimals) + 0.0:.{SETTINGS.length_decimals}f}"


def _point(values: Iterable[float]) -> str:
    return "(" + ", ".join(_length(value) for value in values) + ")"


def names_in(text: str) -> dict[int, str]:
    """Names, in the question's language, of the objects that a text of :func:`metadata_text` lists, by id."""
    return {int(found["id"]): found["name"] for found in _NAMED.finditer(text)}


def without_pictures(text: str, dropped: Iterable[int]) -> str:
    """A text of :func:`metadata_text` without the lines of some pictures, by number; the others keep theirs."""
    gone = set(dropped)
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not ((at := _PICTURE.match(line)) and int(at["number"]) in gone))


# -- map --------------------------------------------------------------------------------------------------------------


def map_of(asked: Asked, scene: Survey) -> NDArray[np.uint8]:
    """The scene from above, (H, W, 3) uint8: objects named outlined, with label and id, and the cameras.

    The camera of the one picture, or of main view A, is the disc with an A, that of main view B the one with a B;
    bridges are small and hollow. A wedge shows which way each looks.
    """
    boxes = [MarkedBox(f"{scene.objects[i]['label']} {i}", _plan_corners(scene.objects[i]["obb"])) for i in asked.named]
    letters = {"image": "A", "main_a": "A", "main_b": "B"}
    cameras = []
    for shown in asked.pictures:
        pose = _pose(shown)
        cameras.append(MarkedCamera(letters.get(shown.role, ""), pose.translation, pose.rotation[:, 2]))
    cameras.sort(key=lambda camera: camera.letter)  # stable; those with letters lie on top
    return marked_map(scene.canvas, scene.frame, boxes, cameras)


def _plan_corners(obb: Mapping[str, Any]) -> NDArray[np.float64]:
    yaw, (length, width, _) = np.radians(obb["yaw_deg"]), obb["size"]
    along = length / 2 * np.array([np.cos(yaw), np.sin(yaw)])
    across = width / 2 * np.array([-np.sin(yaw), np.cos(yaw)])
    corners: NDArray[np.float64] = np.array(obb["center"][:2]) + np.array(
        [along + across, along - across, -along - across, across - along]
    )
    return corners


def _png(pixels: NDArray[np.uint8]) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, format="PNG")
    return buffer.getvalue()


# -- files ------------------------------------------------------------------------------------------------------------


def write_evidence(row: Row, scene: Survey, folder: Path) -> dict[str, str]:
    """Write a question's text and map.

    Args:
        row: the question.
        scene: its scene before any change.
        folder: of the dataset.

    Returns:
        Names from the dataset's folder -> SHA-256.
    """
    asked = asked_of(row.facts)
    contents: Sequence[bytes] = (metadata_text(asked, scene).encode(), _png(map_of(asked, scene)))
    hashes = {}
    for name, data in zip(evidence_paths(row.question_uid), contents, strict=True):
        with write_whole(folder / name) as aside:
            aside.write_bytes(data)
        hashes[name] = hashlib.sha256(data).hexdigest()
    return hashes
