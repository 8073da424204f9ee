"""ScanNet++ scenes, as downloaded, into scans.

Mesh, segments and annotation are read; pictures and depth are loaded when asked, of the DSLR or the iPhone
(:func:`read`). The mesh is aligned, so its frame is the world. A broken frame costs the frame and a broken object the
object; everything that is left out is in ``Scan.problems``, in words shared with ScanNet and these:

======================  ===============================================================================
``bad_frame``           a photo that the dataset marks as bad; left out
``unstored_photo``      a photo that is listed and not on disk; left out
``poses_disagree``      a photo whose poses in two files differ; left out
``broken_listing``      a file of poses that cannot be read; its frames are known from others, if at all
``broken_lists``        a ``train_test_lists.json`` that cannot be read, or that has a photo on both sides
``broken_video``        an ``rgb.mkv`` that is no video
``no_video_reader``     there is a video, and PyAV is not installed
``no_dslr``             no usable DSLR photo; the iPhone's frames are taken
``same_name``           a frame of the iPhone with the name of a DSLR photo; left out
``obb_disagrees``       an object whose stored box is not about its vertices; boxes come from vertices
``not_upright``         a mesh whose floor is not level, or is above the room; its frames are left out
======================  ===============================================================================
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from scannet_tools.dslr import read_dslr
from scannet_tools.iphone import read_iphone
from scannet_tools.labels import instance_of
from scannet_tools.listing import Frames
from scannet_tools.ply import Mesh, read_ply
from scannet_tools.raw_files import scenes_under
from scannet_tools.segments import Group, Groups, Segments, own_vertices, read_groups, read_segments, unfit
from spacecast.errors import InputError
from spacecast.frames import Transform
from spacecast.scan import NO_INSTANCE, Instance, Problem, Reader, Scan, View

CameraChoice = Literal["dslr", "iphone", "both"]


@dataclass(frozen=True)
class ScanNetppSettings:
    """Bounds in reading ScanNet++."""

    max_lost_share: float = 0.05
    """An object that loses a larger share of its vertices to smaller objects is flagged; SEMANTICS section 2."""
    max_floor_tilt_deg: float = 10.0
    """A floor that leans by more is not level, and z is not up (own; as for ScanNet's alignment)."""
    min_floor_faces: int = 20
    """With fewer faces of floor nothing is said about z (own)."""
    obb_tolerance_m: float = 0.10
    """A stored box may end so far from its object's vertices (own: it was drawn on a finer mesh) ..."""
    obb_tolerance_share: float = 0.10
    """... or so far as a share of its side, if that is more (own)."""
    grey: int = 128
    """Colour of a mesh without colours (own)."""


SETTINGS = ScanNetppSettings()

MESH = "scans/mesh_aligned_0.05.ply"
SEGMENTS = "scans/segments.json"
ANNOTATION = "scans/segments_anno.json"
_SCENE_NAME = re.compile(r"[0-9a-f]{10}")
_PARTS = ("scans", "dslr", "iphone")


def find(root: Path) -> dict[str, Path]:
    """The scene folders in a root, by scene id: the root itself, folders in it (``data/``), or folders in those.

    A folder is a scene's if it holds ``scans/mesh_aligned_0.05.ply``, or has a scene's name (ten hex digits) and one
    of the folders ``scans``, ``dslr``, ``iphone``. Where two folders have one scene's name, the one with a mesh counts.

    Raises:
        InputError: two folders hold a mesh of one scene.
    """
    return scenes_under(root, is_scene=_is_scene, has_mesh=_has_mesh)


def read(folder: Path, cameras: CameraChoice = "dslr") -> Scan:
    """Read one scene folder.

    Args:
        folder: ``<root>/data/<scene>``.
        cameras: whose pictures are the views. Where ``dslr`` has no usable photo, the iPhone's are taken, and a
            problem says so.

    Raises:
        InputError: the mesh or the labels cannot be read, or do not belong together; no such choice of cameras.
    """
    if cameras not in get_args(CameraChoice):
        raise InputError(f"cameras are one of {', '.join(get_args(CameraChoice))}, not {cameras!r}")
    folder = Path(os.path.abspath(folder))
    mesh_path = folder / MESH
    if not mesh_path.is_file():
        raise InputError(f"{folder}: has no mesh {MESH}; download it")
    mesh = read_ply(mesh_path)
    inputs = {MESH: mesh_path}
    problems: list[Problem] = []

    instances: dict[int, Instance] = {}
    instance_ids = np.full(len(mesh.vertices), NO_INSTANCE, dtype=np.int32)
    labels = _labels(folder, len(mesh.vertices))
    if labels is None:
        problems.append(Problem("no_labels", folder.name, "no annotation: geometry only"))
    else:
        segments, groups = labels
        inputs[SEGMENTS], inputs[ANNOTATION] = segments.path, groups.path
        ownership = own_vertices(segments.numbers, groups.groups, max_lost_share=SETTINGS.max_lost_share)
        instance_ids = ownership.instance_ids
        lost = ownership.lost_shares
        instances = {g.id: instance_of(g.id, g.label, lost_share=lost[g.id]) for g in groups.groups if g.id in lost}
        problems += [*groups.problems, *ownership.problems, *_obb_problems(mesh, segments, groups.groups, lost)]
    colors = _colors(mesh, mesh_path, problems)
    why = _why_not_upright(mesh, instance_ids, instances)
    if why is None:
        frames = _frames(folder, cameras)
    else:
        frames = Frames({}, (Problem("not_upright", MESH, f"{why}; its frames are left out"),), {})
    return Scan(
        dataset=READER.name,
        scene_id=folder.name,
        room_id=folder.name,
        vertices=mesh.vertices,
        faces=mesh.faces,
        colors=colors,
        instance_ids=instance_ids,
        instances=instances,
        world_from_scan=Transform.identity(target="world", source="scan"),
        is_aligned=why is None,
        has_labels=labels is not None,
        views=frames.views,
        problems=(*problems, *frames.problems),
        input_files=dict(sorted({**inputs, **frames.input_files}.items())),
    )


READER = Reader(
    name="scannetpp",
    find=find,
    read=read,
    cameras={choice: partial(read, cameras=choice) for choice in get_args(CameraChoice)},
)


def _frames(folder: Path, cameras: CameraChoice) -> Frames:
    views: dict[str, View] = {}
    problems: list[Problem] = []
    inputs: dict[str, Path] = {}
    if cameras != "iphone":
        dslr = read_dslr(folder / "dslr")
        views, problems, inputs = dict(dslr.views), list(dslr.problems), dict(dslr.input_files)
    if cameras == "dslr" and not views:
        problems.append(Problem("no_dslr", folder.name, "no usable DSLR photo; the iPhone's frames are taken"))
    if cameras != "dslr" or not views:
        iphone = read_iphone(folder / "iphone")
        problems += iphone.problems
        inputs |= iphone.input_files
        for name, view in iphone.views.items():
            if name in views:
                problems.append(Problem("same_name", name, "the iPhone's frame is named as a DSLR photo; left out"))
            else:
                views[name] = view
    if not views:
        problems.append(Problem("no_frames", folder.name, "no usable frame"))
    return Frames(views, tuple(problems), inputs)


def _labels(folder: Path, vertex_count: int) -> tuple[Segments, Groups] | None:
    """Segments and groups of the mesh; None where there is no annotation."""
    if not (folder / ANNOTATION).is_file():
        return None
    if not (folder / SEGMENTS).is_file():
        raise InputError(f"{folder}: has {ANNOTATION} but no {SEGMENTS}; download it")
    segments, groups = read_segments(folder / SEGMENTS), read_groups(folder / ANNOTATION)
    reason = unfit(segments, groups, vertex_count)
    if reason is not None:
        raise InputError(f"{folder}: labels do not belong to the mesh of {vertex_count} vertices: {reason}")
    return segments, groups


def _obb_problems(
    mesh: Mesh, segments: Segments, groups: tuple[Group, ...], kept: Mapping[int, float]
) -> list[Problem]:
    """A problem for each object that has a stored box which is not about the vertices that it lists."""
    boxed = [group for group in groups if group.obb is not None and group.id in kept]
    order = np.argsort(segments.numbers, kind="stable")
    sorted_numbers = segments.numbers[order]
    problems = []
    for group in boxed:
        starts = np.searchsorted(sorted_numbers, group.segments, side="left")
        ends = np.searchsorted(sorted_numbers, group.segments, side="right")
        members = np.concatenate([order[a:b] for a, b in zip(starts, ends, strict=True)])
        why = _why_obb_disagrees(group.obb, mesh.vertices[members].astype(np.float64))
        if why is not None:
            subject = f"{group.label} {group.id}"
            problems.append(Problem("obb_disagrees", subject, f"{why}; its box comes from its vertices"))
    return problems


def _why_obb_disagrees(obb: Any, vertices: NDArray[np.float64]) -> str | None:
    """Why a stored box does not bound vertices (n, 3) on all six sides, or None.

    ``obb.min`` and ``obb.max`` are not read: they are no axis-aligned box of this mesh. The nine ``normalizedAxes``
    are taken as three axes one after another, or as the columns of a matrix, whichever fits.
    """
    try:
        centroid = np.array(obb["centroid"], dtype=np.float64).reshape(3)
        lengths = np.array(obb["axesLengths"], dtype=np.float64).reshape(3)
        axes = np.array(obb["normalizedAxes"], dtype=np.float64).reshape(3, 3)
    except (KeyError, TypeError, ValueError, OverflowError):
        return "its stored box is no centroid, axesLengths and normalizedAxes"
    if not (np.isfinite(centroid).all() and np.isfinite(lengths).all() and np.isfinite(axes).all()):
        return "its stored box has values that are not finite"
    tolerance = np.maximum(SETTINGS.obb_tolerance_m, SETTINGS.obb_tolerance_share * lengths)
    gaps = []
    for rows in (axes, axes.T):
        along = (vertices - centroid) @ rows.T
        gaps.append(np.abs(np.stack([along.max(axis=0), -along.min(axis=0)]) - lengths / 2.0))
    if any((gap <= tolerance).all() for gap in gaps):
        return None
    return f"a side of its stored box is {min(float(gap.max()) for gap in gaps):.2f} m off its vertices"


def _why_not_upright(mesh: Mesh, instance_ids: NDArray[np.int32], instances: Mapping[int, Instance]) -> str | None:
    """Why z is not up, judged on what is labelled floor; None if it is, or if there is too little floor to tell."""
    floor_ids = [key for key, instance in instances.items() if "floor" in instance.traits]
    is_floor = np.isin(instance_ids, floor_ids)
    corners = mesh.faces[is_floor[mesh.faces].all(axis=1)]
    if len(corners) < SETTINGS.min_floor_faces:
        return None
    a, b, c = mesh.vertices[corners].astype(np.float64).transpose(1, 0, 2)
    normals = np.cross(b - a, c - a)  # as long as twice the face's area
    normals *= np.where(normals[:, np.argmax(np.abs(normals).sum(axis=0))] < 0, -1.0, 1.0)[:, None]
    mean = normals.sum(axis=0)
    if not np.linalg.norm(mean) > 0.0:
        return None
    tilt_deg = float(np.degrees(np.arccos(np.clip(abs(mean[2]) / np.linalg.norm(mean), 0.0, 1.0))))
    if tilt_deg > SETTINGS.max_floor_tilt_deg:
        return f"the floor leans by {tilt_deg:.0f} degrees: z is not up"
    if not is_floor.all() and np.median(mesh.vertices[is_floor, 2]) > np.median(mesh.vertices[~is_floor, 2]):
        return "the floor is above the room: z is not up"
    return None


def _colors(mesh: Mesh, path: Path, problems: list[Problem]) -> NDArray[np.uint8]:
    if mesh.colors is not None:
        return mesh.colors
    problems.append(Problem("no_colors", path.name, "the mesh has no colours; it is grey"))
    return np.full((len(mesh.vertices), 3), SETTINGS.grey, dtype=np.uint8)


def _is_scene(folder: Path) -> bool:
    if _has_mesh(folder):
        return True
    return bool(_SCENE_NAME.fullmatch(folder.name)) and any((folder / part).is_dir() for part in _PARTS)


def _has_mesh(folder: Path) -> bool:
    return (folder / MESH).is_file()
