"""ScanNet v2 scenes, as downloaded, into scans.

Mesh, segments, aggregation and ``.txt`` are read; pictures and depth are loaded when asked, from exported frames where
colour files are there, else from the ``.sens`` stream. A broken frame costs the frame and a broken object the object;
everything that is left out is in ``Scan.problems``:

=====================  ================================================================================
``lost_pose``          a pose that is no rigid transform, or cannot be read; the frame is left out
``missing_pose``       a photo without a pose; left out
``missing_photo``      a pose without a photo; the view has no picture
``broken_photo``       a photo that is none, or is cut short; the frame is left out
``photo_aspect``       a photo of another aspect than the camera's; the frame is left out
``resized_photos``     photos of another size than the camera's; intrinsics are scaled (one for all)
``missing_depth``      a frame without depth, where others have it
``broken_depth``       depth that is none or of another aspect; the view has no depth
``no_depth``           no depth at all, or of a kind that is not read
``no_frames``          no frames at all
``broken_sens``        a ``.sens`` that is none
``cut_short``          a frame that the ``.sens`` announces and does not hold whole
``unread_bytes``       what follows the frames of a ``.sens`` and is not read: there may be frames among it
``no_camera``          no intrinsics for the frames, which are left out; or a size of the pictures that was assumed
``not_aligned``        no usable ``axisAlignment``; north is arbitrary
``no_labels``          a scene without annotation
``no_label_map``       no label map beside or above the scene; our own lists stand alone
``broken_label_map``   a label map that is none; our own lists stand alone
``no_colors``          a mesh without colours; it is grey
``broken_object``      an entry of the aggregation that is no object; left out
``empty_object``       an object without a vertex of its own; left out
``shares_vertices``    an object that lost more than 5 % of its vertices to smaller ones
=====================  ================================================================================
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scannet_tools.labels import LABEL_MAP_NAME, LabelMap, find_label_map, instance_of
from scannet_tools.ply import Mesh, read_ply
from scannet_tools.raw_files import scenes_under
from scannet_tools.scannet_frames import Cameras, read_views
from scannet_tools.segments import Group, Groups, Segments, own_vertices, read_groups, read_segments, unfit
from spacecast.errors import FrameError, InputError
from spacecast.frames import Transform
from spacecast.scan import NO_INSTANCE, Instance, Problem, Reader, Scan


@dataclass(frozen=True)
class ScanNetSettings:
    """Bounds in reading ScanNet."""

    max_lost_share: float = 0.05
    """An object that loses a larger share of its vertices to smaller objects is flagged; SEMANTICS section 2."""
    max_text_bytes: int = 1 << 20
    """More of a scene's ``.txt`` is not read (own; real ones have 1 kB)."""
    max_alignment_tilt_deg: float = 10.0
    """An ``axisAlignment`` that tips the scan's vertical by more is not usable (own; real ones turn about it)."""
    grey: int = 128
    """Colour of a mesh without colours (own)."""


SETTINGS = ScanNetSettings()

_SCENE_NAME = re.compile(r"scene\d{4}_\d{2}")
_MESH = "_vh_clean_2.ply"
_SEGMENTS = ("_vh_clean_2.0.010000.segs.json", "_vh_clean.segs.json")
_AGGREGATIONS = (".aggregation.json", "_vh_clean.aggregation.json")


def find(root: Path) -> dict[str, Path]:
    """The scene folders in a root, by scene id: the root itself, folders in it, or folders in those (``scans/``).

    A folder is a scene's if it has a scene's name (``scene0000_00``), or holds ``<its name>_vh_clean_2.ply``. Where
    two folders have one scene's name, the one with a mesh counts.

    Raises:
        InputError: two folders hold a mesh of one scene.
    """
    return scenes_under(root, is_scene=_is_scene, has_mesh=_has_mesh)


def read(folder: Path) -> Scan:
    """Read one scene folder.

    Raises:
        InputError: the mesh or the labels cannot be read, or do not belong together.
    """
    folder = Path(os.path.abspath(folder))
    scene_id = folder.name
    mesh_path = folder / f"{scene_id}{_MESH}"
    if not mesh_path.is_file():
        raise InputError(f"{folder}: has no mesh {mesh_path.name}; download it")
    mesh = read_ply(mesh_path)
    inputs = {mesh_path.name: mesh_path}
    problems: list[Problem] = []

    text_path = folder / f"{scene_id}.txt"
    values: Mapping[str, str] = {}
    if text_path.is_file():
        inputs[text_path.name] = text_path
        values = read_values(text_path)
    world_from_scan = _alignment(values, text_path, problems)

    labels = _labels(folder, scene_id, len(mesh.vertices))
    if labels is None:
        problems.append(Problem("no_labels", scene_id, "no aggregation: geometry only"))
        instance_ids = np.full(len(mesh.vertices), NO_INSTANCE, dtype=np.int32)
        instances: dict[int, Instance] = {}
    else:
        segments, groups = labels
        inputs[segments.path.name], inputs[groups.path.name] = segments.path, groups.path
        map_path = find_label_map(folder)
        if map_path is None:
            detail = "not beside or above the scene; our own lists stand; download it"
            problems.append(Problem("no_label_map", LABEL_MAP_NAME, detail))
        label_map = None
        if map_path is not None:
            inputs[map_path.name] = map_path
            try:
                label_map = LabelMap.read(map_path)
            except InputError as error:
                problems.append(Problem("broken_label_map", LABEL_MAP_NAME, f"{error}; our own lists stand"))
        ownership = own_vertices(segments.numbers, groups.groups, max_lost_share=SETTINGS.max_lost_share)
        instances = _instances(groups.groups, ownership.lost_shares, label_map)
        instance_ids = ownership.instance_ids
        problems += [*groups.problems, *ownership.problems]

    cameras = Cameras.from_values(values)
    frames = read_views(folder, scene_id, cameras, world_from_scan)
    inputs.update(frames.input_files)
    return Scan(
        dataset=READER.name,
        scene_id=scene_id,
        room_id=room_of(scene_id),
        vertices=(world_from_scan @ mesh.vertices).astype(np.float32),
        faces=mesh.faces,
        colors=_colors(mesh, mesh_path, problems),
        instance_ids=instance_ids,
        instances=instances,
        world_from_scan=world_from_scan,
        is_aligned=not any(problem.kind == "not_aligned" for problem in problems),
        has_labels=labels is not None,
        views=frames.views,
        problems=(*problems, *frames.problems),
        input_files=dict(sorted(inputs.items())),
    )


def room_of(scene_id: str) -> str:
    """``scene0000`` for ``scene0000_00`` and its rescans; any other scene is a room of its own."""
    return scene_id.rsplit("_", 1)[0] if _SCENE_NAME.fullmatch(scene_id) else scene_id


READER = Reader(name="scannet", find=find, read=read, room_of=room_of)


def read_values(path: Path) -> dict[str, str]:
    """The ``key = value`` lines of a scene's ``.txt``; other lines are passed over.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            text = file.read(SETTINGS.max_text_bytes).decode("utf-8-sig", errors="replace")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {key.strip(): value.strip() for key, _, value in pairs}


def _alignment(values: Mapping[str, str], path: Path, problems: list[Problem]) -> Transform:
    """World from scan; the identity and a problem where the file has none that is usable."""
    text = values.get("axisAlignment")
    why = f"{path.name} is missing" if not path.is_file() else "no axisAlignment line"
    if text is not None:
        try:
            matrix = np.array(text.split(), dtype=np.float64).reshape(4, 4)
            aligned = Transform.from_matrix(matrix, target="world", source="scan")
            tilt_deg = float(np.degrees(np.arccos(np.clip(aligned.rotation[2, 2], -1.0, 1.0))))
            if tilt_deg <= SETTINGS.max_alignment_tilt_deg:
                return aligned
            why = f"axisAlignment tips the scan over, by {tilt_deg:.0f} degrees"
        except FrameError as error:
            why = f"axisAlignment is not usable: {error}"
        except ValueError:
            why = f"axisAlignment is not 16 numbers: {text[:40]!r}"
    problems.append(Problem("not_aligned", path.name, f"{why}; the raw axes stay, and north is arbitrary"))
    return Transform.identity(target="world", source="scan")


def _labels(folder: Path, scene_id: str, vertex_count: int) -> tuple[Segments, Groups] | None:
    """The pair of segments and aggregation that fits the mesh; None where there is no aggregation."""
    aggregations = [path for ending in _AGGREGATIONS if (path := folder / f"{scene_id}{ending}").is_file()]
    if not aggregations:
        return None
    segmentations = [path for ending in _SEGMENTS if (path := folder / f"{scene_id}{ending}").is_file()]
    if not segmentations:
        raise InputError(f"{folder}: has {aggregations[0].name} but no {scene_id}{_SEGMENTS[0]}; download it")
    reasons: list[str] = []
    groups_read: dict[Path, Groups] = {}
    for segments_path in segmentations:
        try:
            segments = read_segments(segments_path)
        except InputError as error:
            reasons.append(str(error))
            continue
        for path in aggregations:
            try:
                groups = groups_read[path] = groups_read.get(path) or read_groups(path)
            except InputError as error:
                reasons.append(str(error))
                continue
            reason = unfit(segments, groups, vertex_count)
            if reason is None:
                return segments, groups
            reasons.append(reason)
    raise InputError(
        f"{folder}: labels do not belong to the mesh of {vertex_count} vertices: {'; '.join(dict.fromkeys(reasons))}"
    )


def _instances(
    groups: tuple[Group, ...], lost_shares: Mapping[int, float], label_map: LabelMap | None
) -> dict[int, Instance]:
    return {
        group.id: instance_of(group.id, group.label, label_map, lost_share=lost_shares[group.id])
        for group in groups
        if group.id in lost_shares
    }


def _colors(mesh: Mesh, path: Path, problems: list[Problem]) -> NDArray[np.uint8]:
    if mesh.colors is not None:
        return mesh.colors
    problems.append(Problem("no_colors", path.name, "the mesh has no colours; it is grey"))
    return np.full((len(mesh.vertices), 3), SETTINGS.grey, dtype=np.uint8)


def _is_scene(folder: Path) -> bool:
    return bool(_SCENE_NAME.fullmatch(folder.name)) or _has_mesh(folder)


def _has_mesh(folder: Path) -> bool:
    return (folder / f"{folder.name}{_MESH}").is_file()
