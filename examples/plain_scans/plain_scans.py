"""Scans in plain files: ``<root>/<scene>/{mesh.ply, instances.npy, labels.txt, poses.txt}`` and ``photos/``."""

from functools import partial
from pathlib import Path

import numpy as np

from scannet_tools.labels import instance_of
from scannet_tools.pictures import decode_color
from scannet_tools.ply import read_ply
from spacecast.errors import FrameError, InputError
from spacecast.frames import Intrinsics, Transform
from spacecast.scan import Problem, Reader, Scan, View


def find(root: Path) -> dict[str, Path]:
    """Scene folders by id: the root itself, or the folders in it."""
    return {p.name: p for p in (root.absolute(), *sorted(root.absolute().iterdir())) if (p / "instances.npy").is_file()}


def color(photo: Path):
    """(H, W, 3) uint8 of a photo."""
    return decode_color(photo.read_bytes(), photo.name)


def read(folder: Path) -> Scan:
    """Read a scene: mesh and labels or an error; a broken frame costs the frame."""
    files = {name: folder / name for name in ("mesh.ply", "instances.npy", "labels.txt", "poses.txt")}
    try:  # "3 office chair" a line: the id of an instance and its label
        labels = dict(line.split(maxsplit=1) for line in files["labels.txt"].read_text("utf-8").splitlines() if line)
        instances = {int(number): instance_of(int(number), label) for number, label in labels.items()}
        ids = np.load(files["instances.npy"]).astype(np.int32)  # (V,), -1 where a vertex is no object's
        first, *frames = files["poses.txt"].read_text("utf-8").splitlines()
        intrinsics = Intrinsics(*map(float, first.split()[:4]), *map(int, first.split()[4:]))
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{folder}: not a plain scan ({str(error).splitlines()[0]}); see docs/READERS.md") from None
    mesh = read_ply(files["mesh.ply"])
    colors = np.full(mesh.vertices.shape, 128, np.uint8) if mesh.colors is None else mesh.colors
    views, problems = {}, []
    for line in frames:  # a name and 16 numbers, camera to world by rows, OpenCV axes (x right, y down, z forward)
        name, *numbers = line.split() or [""]
        photo = folder / "photos" / f"{name}.jpg"
        try:
            pose = Transform.from_matrix(np.reshape(np.array(numbers, float), (4, 4)), target="world", source="camera")
        except (FrameError, ValueError):
            problems.append(Problem("lost_pose", name, "not 16 numbers of a rigid pose; left out"))
            continue
        load = {"load_color": partial(color, photo), "load_encoded": photo.read_bytes} if photo.is_file() else {}
        problems += [] if load else [Problem("missing_photo", name, "there is no photo of it")]
        views[name] = View(name, pose, intrinsics, **load)
    world_from_scan = Transform.identity(target="world", source="scan")  # z is up, and +y counts as north
    return Scan(
        READER.name, folder.name, folder.name, mesh.vertices, mesh.faces, colors, ids, instances, world_from_scan,
        is_aligned=True, has_labels=True, views=views, problems=tuple(problems), input_files=files,
    )  # fmt: skip


READER = Reader("plain", find, read)
