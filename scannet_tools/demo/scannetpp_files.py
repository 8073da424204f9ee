"""A demo scene as raw ScanNet++ files."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import numpy as np

from scannet_tools.demo.colmap import ModelPoints
from scannet_tools.demo.dslr import SETTINGS as DSLR
from scannet_tools.demo.dslr import write_dslr
from scannet_tools.demo.iphone import Phone, require_packages
from scannet_tools.demo.photos import Photo
from scannet_tools.demo.scanner import ScanMesh
from scannet_tools.demo.scannetpp_labels import annotated, classes
from scannet_tools.demo.site import TRUTH_NAME, Site, truth_of, write_json, write_text
from scannet_tools.ply import write_ply
from spacecast.dataset.chance import generator
from spacecast.frames import Transform

__all__ = ["ScanNetPPFiles", "require_packages", "scene_id_of", "write_lists", "write_splits"]

STRUCTURE = ("ceiling", "floor", "wall")


def scene_id_of(seed: int, index: int) -> str:
    """Ten hex digits for scene ``index`` of a seed."""
    digits = generator("demo", seed, index, "scannetpp", "name").integers(16, size=10)
    return "".join(f"{digit:x}" for digit in digits)


class ScanNetPPFiles:
    """Writes ``data/<scene id>`` in a root."""

    def __init__(self, root: Path, site: Site) -> None:
        self.site = site
        self.scene_id = scene_id_of(site.seed, site.index)
        self.folder = root / "data" / self.scene_id
        self.folder.mkdir(parents=True, exist_ok=True)
        self._phone = Phone(self.folder / "iphone", site)

    def __enter__(self) -> ScanNetPPFiles:
        self._phone.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._phone.__exit__(kind, error, trace)

    def add(self, number: int, photo: Photo, jpeg: bytes, *, threads: int = 0) -> None:
        """Store one frame of the walk, which the phone took."""
        self._phone.add(number, photo.color, jpeg, threads=threads)

    def finish(self, mesh: ScanMesh, *, threads: int = 0) -> None:
        """Store mesh, annotation, photos of the other camera, poses and truth."""
        site, scans = self.site, self.folder / "scans"
        write_ply(scans / "mesh_aligned_0.05.ply", mesh.vertices, mesh.faces, mesh.colors)
        annotation = annotated(site, mesh)
        write_json(scans / "segments.json", {"sceneId": self.scene_id, "segIndices": annotation.segments.tolist()})
        write_json(scans / "segments_anno.json", {"sceneId": self.scene_id, "segGroups": annotation.groups})
        picked = site.chance("scannetpp", "points").choice(len(mesh.clean), DSLR.points, replace=False)
        points = ModelPoints(np.round(mesh.clean[picked], 6), mesh.colors[picked])
        self._phone.finish(points)
        entries = write_dslr(self.folder / "dslr", site, points, threads=threads)
        truth = truth_of(self.scene_id, site, mesh, annotation.ids, Transform.identity(target="scan", source="world"))
        by_id = {number: annotation.labels[owner] for owner, number in annotation.ids.items()}
        for item in truth["objects"]:
            item["raw_label"] = by_id[item["id"]]
        truth["photos"] = [entry._asdict() for entry in entries]
        truth["phone"] = {"pictures": self._phone.pictures, "depth": self._phone.depth}
        write_json(self.folder / TRUTH_NAME, truth)


def write_splits(root: Path, seed: int, scenes: int) -> None:
    """Write ``splits/*.txt``: every fourth scene is for validation, the rest for training."""
    names = {"nvs_sem_train": [], "nvs_sem_val": []}  # type: dict[str, list[str]]
    for index in range(scenes):
        names["nvs_sem_val" if index % 4 == 3 else "nvs_sem_train"].append(scene_id_of(seed, index))
    for name, ids in names.items():
        write_text(root / "splits" / f"{name}.txt", "".join(f"{scene_id}\n" for scene_id in ids))


def write_lists(root: Path) -> None:
    """Write ``metadata/``: which classes there are, and which of them have instances."""
    labels = classes()
    things = [label for label in labels if label not in STRUCTURE]
    for name, listed in (
        ("semantic_classes.txt", labels),
        ("instance_classes.txt", things),
        ("semantic_benchmark/top100.txt", labels[:100]),
        ("semantic_benchmark/top100_instance.txt", [label for label in labels[:100] if label not in STRUCTURE]),
    ):
        write_text(root / "metadata" / name, "".join(f"{label}\n" for label in listed))
