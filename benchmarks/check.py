"""``spacecast check`` over demo scans of which a copy has faults planted in it: are these named, and nothing more?

Run by hand: ``python benchmarks/check.py ROOT [FAULTS] [SCENES]`` with ROOT a folder of demo scans in ScanNet's layout
(``spacecast demo``), which stays as it is: the copy is of links, and of the files that are broken. With SCENES the copy
has so many, the given ones again under other names. Prints the faults, what of them was named, and the seconds. Exit
status 1 where a fault was not named, or more was, or a core would need a minute for 182 scenes.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from scannet_tools.check import Check
from scannet_tools.sens import SensFile, SensFrame

FAULTS = 30
BOUND_S = 60.0
"""Of a check of 182 scenes, on a machine that has nothing else to do."""


class Plant(NamedTuple):
    """A way to break a scene: what of its files, by which change of bytes, and the kind and subject that name it."""

    ending: str
    change: Callable[[bytes, Path], bytes | None]
    kind: str
    subject: str


def _posed(path: Path, number: int) -> SensFrame:
    """The first frame from a number on whose pose is not lost already."""
    sens = SensFile.open(path)
    return next(f for i in range(number, len(sens)) if np.isfinite((f := sens[i]).scan_from_camera).all())


def _payload(number: int, which: str, change: Callable[[bytes], bytes]) -> Callable[[bytes, Path], bytes]:
    """Changes the colour or depth payload of one frame of a stream, keeping its length."""

    def changed(data: bytes, path: Path) -> bytes:
        frame = _posed(path, number)
        start = frame.color_start + (frame.color_bytes if which == "depth" else 0)
        size = frame.depth_bytes if which == "depth" else frame.color_bytes
        new = change(data[start : start + size])
        if len(new) != size:
            raise ValueError("a payload keeps its length")
        return data[:start] + new + data[start + size :]

    return changed


def _pose(number: int, pose: bytes) -> Callable[[bytes, Path], bytes]:
    def changed(data: bytes, path: Path) -> bytes:
        start = _posed(path, number).color_start - 96
        return data[:start] + pose + data[start + 64 :]

    return changed


def _count(data: bytes, path: Path, *, change: int) -> bytes:
    start = SensFile.open(path)[0].color_start - 96 - 8
    count = int.from_bytes(data[start : start + 8], "little") + change
    return data[:start] + count.to_bytes(8, "little") + data[start + 8 :]


def _groups(data: bytes, change: Callable[[dict], None]) -> bytes:
    content = json.loads(data)
    change(content["segGroups"][1])
    return json.dumps(content).encode()


MESH, SEGMENTS, GROUPS = "_vh_clean_2.ply", "_vh_clean_2.0.010000.segs.json", ".aggregation.json"
PAGE = b"<!DOCTYPE html>\n<html><body>sign in</body></html>\n"
PLANTS = (
    Plant(MESH, lambda data, _: data[: len(data) // 2], "unreadable", ""),
    Plant(MESH, lambda data, _: data[:-1], "unreadable", ""),
    Plant(MESH, lambda data, _: PAGE, "unreadable", ""),
    Plant(MESH, lambda data, _: data[:-4] + b"\xff" * 4, "unreadable", ""),
    Plant(MESH, lambda data, _: re.sub(rb"element face \d+", b"element face 12", data), "unreadable", ""),
    Plant(MESH, lambda data, _: None, "unreadable", ""),
    Plant(SEGMENTS, lambda data, _: data[: len(data) // 3], "unreadable", ""),
    Plant(SEGMENTS, lambda data, _: data.replace(b"[", b"[7, ", 1), "unreadable", ""),
    Plant(SEGMENTS, lambda data, _: None, "unreadable", ""),
    Plant(GROUPS, lambda data, _: PAGE, "unreadable", ""),
    Plant(GROUPS, lambda data, _: _groups(data, lambda g: g.update(segments=[10**9])), "unreadable", ""),
    Plant(GROUPS, lambda data, _: _groups(data, lambda g: g.pop("label")), "broken_object", "segGroups[1]"),
    Plant(GROUPS, lambda data, _: _groups(data, lambda g: g.update(objectId="x")), "broken_object", "segGroups[1]"),
    Plant(GROUPS, lambda data, _: None, "no_labels", "<scene>"),
    Plant(".txt", lambda data, _: re.sub(rb"(?m)^axisAlignment", b"other", data), "not_aligned", "<scene>.txt"),
    Plant(
        ".txt",
        lambda data, _: re.sub(rb"axisAlignment = \S+", b"axisAlignment = nan", data),
        "not_aligned",
        "<scene>.txt",
    ),
    Plant(".sens", lambda data, _: PAGE, "broken_sens", "<scene>.sens"),
    Plant(".sens", lambda data, _: data[:-20], "cut_short", "<last>"),
    Plant(".sens", lambda data, path: _count(data, path, change=-2), "unread_bytes", "<scene>.sens"),
    Plant(".sens", lambda data, path: _count(data, path, change=1), "cut_short", "<beyond>"),
    Plant(".sens", _pose(5, b"\x00\x00\x80\xff" * 16), "lost_pose", "5"),
    Plant(".sens", _pose(6, bytes(64)), "lost_pose", "6"),
    Plant(".sens", _payload(7, "depth", lambda p: p[:-4] + bytes(4)), "broken_depth", "7"),
    Plant(".sens", _payload(8, "depth", lambda p: bytes(len(p))), "broken_depth", "8"),
    Plant(".sens", _payload(9, "color", lambda p: PAGE + p[len(PAGE) :]), "broken_photo", "9"),
    Plant(".sens", _payload(10, "color", lambda p: p.replace(b"\xff\xdb", b"\xff\xfe")), "broken_photo", "10"),
    Plant(".sens", _payload(11, "color", lambda p: bytes(len(p))), "broken_photo", "11"),
    Plant(".sens", _pose(12, b"\x00\x00\xc0\x7f" * 16), "lost_pose", "12"),
    Plant(
        ".sens", _payload(13, "depth", lambda p: p[: len(p) // 2] + bytes(len(p) - len(p) // 2)), "broken_depth", "13"
    ),
    Plant(".sens", lambda data, _: b"", "broken_sens", "<scene>.sens"),
)


class Named(NamedTuple):
    """A problem as the output has it."""

    scene: str
    kind: str
    subject: str


def plant(scans: Path, copy: Path, faults: int, scenes: int | None = None) -> set[Named]:
    """A copy of a root with a fault in each of some scenes, spread over all; and what should be named.

    Args:
        scans: the root.
        copy: a folder to make.
        faults: how many.
        scenes: how many the copy has; None: as many as the root.
    """
    folders = sorted(folder for folder in (scans / "scans").iterdir() if folder.is_dir())
    scenes = scenes or len(folders)
    sources = {f"scene{i:04d}_00": folders[i % len(folders)] for i in range(scenes)}
    names = list(sources)
    chosen = {names[i * scenes // faults]: PLANTS[i % len(PLANTS)] for i in range(min(faults, scenes))}
    copy.mkdir(parents=True)
    if (scans / "scannetv2-labels.combined.tsv").is_file():
        (copy / "scannetv2-labels.combined.tsv").symlink_to(scans / "scannetv2-labels.combined.tsv")
    for name, folder in sources.items():
        fault = chosen.get(name)
        (copy / "scans" / name).mkdir(parents=True)
        for file in sorted(folder.iterdir()):
            ending = file.name.removeprefix(folder.name)
            new = copy / "scans" / name / f"{name}{ending}"
            data = fault.change(file.read_bytes(), file) if fault is not None and ending == fault.ending else b""
            if fault is None or ending != fault.ending:
                new.symlink_to(file)
            elif data is not None:
                new.write_bytes(data)
    return {Named(name, fault.kind, _subject(fault, name, sources[name])) for name, fault in chosen.items()}


def _subject(fault: Plant, name: str, folder: Path) -> str:
    if fault.kind == "unreadable":
        return name
    if fault.subject in ("<last>", "<beyond>"):
        frames = len(SensFile.open(folder / f"{folder.name}.sens"))
        return str(frames - 1 if fault.subject == "<last>" else frames)
    if fault.subject.isdecimal():
        return str(_posed(folder / f"{folder.name}.sens", int(fault.subject)).number)
    return fault.subject.replace("<scene>", name)


def named(root: Path) -> tuple[set[Named], int, float]:
    """What ``check --all`` names under a root, its exit status, and the seconds that it took."""
    output = io.StringIO()
    start = time.perf_counter()
    with contextlib.redirect_stdout(output):
        status = Check(root, all=True, quiet=True).run()
    seconds = time.perf_counter() - start
    lines = re.findall(r"^(scene\S+) (\w+): (.+?): ", output.getvalue(), re.MULTILINE)
    return {Named(*line) for line in lines}, status, seconds


def main(scans: Path, faults: int = FAULTS, scenes: int | None = None) -> int:
    """Plant, check and compare with what a copy without faults has."""
    with tempfile.TemporaryDirectory() as folder:
        plant(scans, Path(folder) / "whole", 0, scenes)
        before, _, _ = named(Path(folder) / "whole")
        planted = plant(scans, Path(folder) / "copy", faults, scenes)
        cpu = time.process_time()
        found, status, seconds = named(Path(folder) / "copy")
        cpu = time.process_time() - cpu
        count = sum(1 for _ in (Path(folder) / "copy/scans").iterdir())
    streams = {name.scene for name in planted if name.kind == "broken_sens"}
    # without its stream a scene has no frames: that is said beside it
    new = {name for name in found - before if not (name.kind == "no_frames" and name.scene in streams)}
    for name in sorted(planted):
        print(f"{'named ' if name in new else 'MISSED'} {name.scene} {name.kind} {name.subject}")
    for name in sorted(new - planted):
        print(f"MORE   {name.scene} {name.kind} {name.subject}")
    print(
        f"{count} scenes, {len(planted)} faults, {len(planted & new)} named, {len(new - planted)} more; exit {status}"
    )
    print(f"{seconds:.1f} s, {cpu:.1f} s of a core: {cpu / count * 182:.0f} s of a core for 182 scenes")
    return 0 if new == planted and status == 1 and cpu / count * 182 < BOUND_S else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), *map(int, sys.argv[2:4])))
