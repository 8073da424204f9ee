"""Writes demo scans: raw ScanNet v2 or ScanNet++ files, and beside them the truth that readers never look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, get_args

from scannet_tools.demo.camera import between
from scannet_tools.demo.dslr import dslr_sees
from scannet_tools.demo.label_map import FILE_NAME, write_label_map
from scannet_tools.demo.photos import Sensor, coarse_rays, faces_seen, photo_of
from scannet_tools.demo.scanner import scanned
from scannet_tools.demo.scannet_files import ScanNetFiles
from scannet_tools.demo.scannetpp_files import ScanNetPPFiles, require_packages, write_lists, write_splits
from scannet_tools.demo.site import TRUTH_NAME, TRUTH_SCHEMA, Files, Site, jpeg_of, site_of, write_json, write_text
from spacecast.dataset.pool import run
from spacecast.errors import InputError, SpacecastError

__all__ = ["LAYOUTS", "TRUTH_NAME", "TRUTH_SCHEMA", "Layout", "write_demo", "write_demo_scan"]

Layout = Literal["scannet", "scannetpp", "both"]
LAYOUTS: tuple[str, ...] = get_args(Layout)
_WRITERS: dict[str, tuple[Callable[[Path, Site], Files], ...]] = {
    "scannet": (ScanNetFiles,),
    "scannetpp": (ScanNetPPFiles,),
    "both": (ScanNetFiles, ScanNetPPFiles),
}
_MARK = "DEMO.txt"
"""Stands in a folder of demo scans, and says that it is one."""
_OURS = frozenset({_MARK, FILE_NAME, "scans", "data", "splits", "metadata"})


@dataclass(frozen=True)
class WriteSettings:
    """How the room is walked through; all our own."""

    blurred_share: float = 0.06
    """Share of frames that the hand blurred."""
    pieces: int = 3
    """The scanner looked so many times as often as frames are stored."""


SETTINGS = WriteSettings()


def write_demo(
    directory: str | Path, scenes: int, seed: int, *, layout: Layout = "scannet", workers: int = 1
) -> list[Path]:
    """Write demo scans and their lists; scene k is the same room whatever else is written, and in every layout.

    Args:
        directory: gets ``scans/`` and the label map (ScanNet), ``data/``, ``splits/`` and ``metadata/`` (ScanNet++), or
            all of these: readers find both in one root. New, empty, or of demo scans, which are added to.
        scenes: how many, from number 0.
        seed: of all chance.
        layout: which raw files to write.
        workers: processes; what is written does not depend on it.

    Returns:
        The scenes' folders.

    Raises:
        InputError: no scenes asked for, an unknown layout, or the directory is a file or holds something else.
        SpacecastError: a package is missing that ScanNet++ files need.
    """
    root = Path(directory)
    if scenes < 1 or scenes > 10_000:
        raise InputError(f"{scenes} scenes cannot be written; ask for 1 to 10000")
    _start(root, layout)
    if layout != "scannet":
        write_splits(root, seed, scenes)
    one = partial(_write_scene, root, seed, layout)
    if workers <= 1 or scenes == 1:
        written = [one(index) for index in range(scenes)]
    else:
        workers = min(workers, scenes)
        written = [f for _, f in sorted(run(partial(one, threads=1), range(scenes), workers=workers, died=_died))]
    return [folder for folders in written for folder in folders]


def write_demo_scan(directory: str | Path, *, seed: int, index: int, layout: Layout = "scannet") -> Path:
    """Write one demo scan, and the lists beside it; returns the scan's folder (for ``both``, ScanNet's).

    What is written depends on (seed, index) alone: ``scans/scene<index>_00``, or ``data/<ten hex digits>``.

    Raises:
        InputError: an unknown layout, or the directory is a file or holds something else.
        SpacecastError: a package is missing that ScanNet++ files need.
    """
    root = Path(directory)
    _start(root, layout)
    return _write_scene(root, seed, layout, index)[0]


def _start(root: Path, layout: str) -> None:
    if layout not in LAYOUTS:
        raise InputError(f"no layout {layout!r} of demo scans; known: {', '.join(LAYOUTS)}")
    if root.exists() and not root.is_dir():
        raise InputError(f"{root}: is a file; give a folder to write demo scans to")
    foreign = _foreign(root)
    if foreign is not None:
        raise InputError(f"{root}: holds {foreign}, which is of no demo; give an empty folder, or one of demo scans")
    if layout != "scannet":
        require_packages()
    write_text(root / _MARK, "Furnished rooms made by spacecast demo; nothing in this folder was scanned.\n")
    if layout != "scannetpp":
        write_label_map(root)
    if layout != "scannet":
        write_lists(root)


def _foreign(root: Path) -> str | None:
    """Something in a folder that no demo wrote, or None; where the mark is not there, anything at all."""
    if not root.is_dir():
        return None
    names = sorted(path.name for path in root.iterdir() if not path.name.startswith("."))
    if _MARK not in names:
        return names[0] if names else None
    for name in names:
        if name not in _OURS:
            return name
    scenes = sorted(path for part in ("scans", "data") for path in (root / part).glob("[!.]*"))
    without = (path for path in scenes if not (path / TRUTH_NAME).is_file())
    return next((str(path.relative_to(root)) for path in without), None)


def _died(index: int) -> Sequence[Path]:
    raise SpacecastError(f"demo scene {index}: its process was killed each time; give fewer --scenes, or free memory")


def _write_scene(root: Path, seed: int, layout: str, index: int, threads: int = 0) -> Sequence[Path]:
    return write_site(root, site_of(seed, index), layout, threads=threads)


def write_site(root: Path, site: Site, layout: str, *, threads: int = 0) -> Sequence[Path]:
    """Walk through a room once, and write it in every layout that is asked for; returns the scenes' folders."""
    solid, camera = site.solid, site.color_camera
    sensor = Sensor.of(camera)
    hit = faces_seen(solid, between(site.poses, SETTINGS.pieces), coarse_rays(camera), threads=threads)
    hit |= dslr_sees(site, threads=threads)
    with ExitStack() as stack:
        layouts = [files(root, site) for files in _WRITERS[layout]]
        for files in layouts:  # whose folder it is stands there from the start, should this be stopped
            write_json(files.folder / TRUTH_NAME, {"schema": TRUTH_SCHEMA})
            stack.enter_context(files)
        for number, pose in enumerate(site.poses):
            chance = site.chance("frame", number)
            photo = photo_of(
                solid, pose, sensor, chance,
                exposure=float(chance.uniform(0.92, 1.08)),
                blurred=bool(chance.random() < SETTINGS.blurred_share), threads=threads,
            )  # fmt: skip
            hit[photo.face[photo.face >= 0]] = True
            jpeg = jpeg_of(photo.color)
            for files in layouts:
                files.add(number, photo, jpeg, threads=threads)
        mesh = scanned(solid, site.layout, hit, site.chance("scanner"))
        for files in layouts:
            files.finish(mesh, threads=threads)
    return [files.folder for files in layouts]
