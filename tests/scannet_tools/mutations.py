"""Whole small scenes of both layouts, ways to break one of their files, and what reading may make of it.

Three outcomes, and no other: ``refused`` in one line; ``lost``: read, and what is not there is in ``Scan.problems``;
``whole``: read as before, but for values that nobody can know to be wrong.
"""

from __future__ import annotations

import importlib.util
import json
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import raw_scene as sn
import raw_scenepp as pp

from scannet_tools import scannet, scannetpp
from scannet_tools.scannetpp_lists import read_lists
from spacecast.errors import InputError
from spacecast.scan import Scan

Rng = np.random.Generator
LABEL_MAP = (
    "raw_category\tcategory\tnyu40class\tmpcat40\ntable\ttable\ttable\ttable\noffice chair\tchair\tchair\tchair\n"
)


class FaultError(Exception):
    """Reading did what it must not."""


class Base(NamedTuple):
    """A whole scene: where it lies, how it is read, its files that are broken in turn, and its scan while whole."""

    name: str
    root: Path
    folder: Path
    read: Callable[[Path], Scan]
    files: tuple[Path, ...]
    scan: Scan

    def kind(self, file: Path) -> str:
        """A file's kind: its name within the layout."""
        name = file.relative_to(self.root).as_posix().replace(f"{self.folder.name}/", "", 1)
        return f"{self.name}: {name.replace(self.folder.name, '*')}"


class Mutation(NamedTuple):
    """How a file was broken, and its bytes now. ``is_hidden``: what is gone leaves no trace in any file."""

    name: str
    data: bytes
    is_hidden: bool = False


# Scenes -------------------------------------------------------------------------------------------------------------


def bases(root: Path) -> list[Base]:
    """Whole scenes that hold every kind of file of both layouts; nothing is wrong with them."""
    made = [_stream(root / "stream"), _exported(root / "exported")]
    made += [_scannetpp(root / form.replace(" ", "_"), form) for form in ("one block", "deflate", "lz4")]
    made = [made[0], made[1], made[2], *(base._replace(files=_only(base, "depth.bin")) for base in made[3:])]
    if importlib.util.find_spec("av") is not None:  # else there is nothing that reads a video
        video = _with_video(root / "video")
        made.append(video._replace(files=_only(video, "rgb.mkv", "images.txt", "pose_intrinsic_imu.json")))
    return made


def _only(base: Base, *names: str) -> tuple[Path, ...]:
    return tuple(file for file in base.files if file.name in names)


def _base(name: str, root: Path, folder: Path, read: Callable[[Path], Scan]) -> Base:
    scan = read(folder)
    if scan.problems:
        raise FaultError(f"{name}: {scan.problems}")
    return Base(name, root, folder, read, tuple(sorted(p for p in root.rglob("*") if p.is_file())), scan)


def _stream(root: Path) -> Base:
    folder = sn.write_scene(root)
    (root / "scannetv2-labels.combined.tsv").write_text(LABEL_MAP)
    frames = [(sn.pose(i), sn.jpeg(value=90 + i), sn.depth_payload(1500 + i)) for i in range(3)]
    (folder / f"{sn.NAME}.sens").write_bytes(sn.sens_bytes(frames))
    return _base("stream", root, folder, scannet.read)


def _exported(root: Path) -> Base:
    text = {key: value for key, value in sn.TEXT.items() if not key.endswith(("_color", "_depth"))}
    folder = sn.write_scene(root, text=text)
    (root / "scannetv2-labels.combined.tsv").write_text(LABEL_MAP)
    for number in (2, 10):
        sn.write_frame(folder, str(number), matrix=sn.pose(number), depth=sn.depth_png(np.full((24, 32), 1500)))
    (folder / "intrinsic").mkdir()
    for kind, (fx, cx, cy) in {"color": (60, 31, 23), "depth": (30, 15, 11)}.items():
        matrix = np.diag([fx, fx, 1.0, 1.0])
        matrix[:2, 2] = cx, cy
        (folder / f"intrinsic/intrinsic_{kind}.txt").write_text(sn.matrix_text(matrix))
    return _base("exported", root, folder, scannet.read)


def _scannetpp(root: Path, form: str) -> Base:
    folder = pp.write_scene(root)
    pp.write_photo(folder, "DSC01.JPG")
    pp.write_photo(folder, "DSC02.JPG", flat=False)
    frames = [pp.frame("DSC01.JPG", is_bad=False), pp.frame("DSC02.JPG")]
    pp.write_transforms(folder, frames)
    pp.write_transforms(folder, frames[:1], frames[1:], flat=False)
    pp.write_colmap(folder, "dslr", {"DSC01.JPG": pp.COLMAP_LINE, "DSC02.JPG": pp.COLMAP_LINE})
    lists = {"train": ["DSC01.JPG"], "test": ["DSC02.JPG"], "has_masks": False}
    (folder / "dslr/train_test_lists.json").write_text(json.dumps(lists))
    for number in range(2):
        pp.write_rgb(folder, f"frame_{number:06d}.jpg")
    pp.write_tracking(folder, {f"frame_{number:06d}": pp.tracked() for number in range(2)})
    (folder / "iphone/depth.bin").write_bytes(pp.depth_bin(form, range(2)))
    for name, line in {"splits/nvs_sem_train": pp.NAME, "metadata/semantic_classes": "storage cabinet"}.items():
        (root / name).parent.mkdir()
        (root / f"{name}.txt").write_text(f"{line}\n")
    return _base(f"scannet++ {form}", root, folder, partial(scannetpp.read, cameras="both"))


def _with_video(root: Path) -> Base:
    import av

    folder = pp.write_scene(root)
    names = [f"frame_{number:06d}" for number in range(3)]
    pp.write_tracking(folder, {name: pp.tracked() for name in names})
    pp.write_colmap(folder, "iphone", {f"{name}.jpg": pp.COLMAP_LINE for name in names})
    (folder / "iphone/depth.bin").write_bytes(pp.depth_bin("lz4", range(3)))
    with av.open(str(folder / "iphone/rgb.mkv"), "w") as container:
        stream = container.add_stream("mjpeg", rate=60)
        stream.width, stream.height, stream.pix_fmt = pp.WIDTH, pp.HEIGHT, "yuvj420p"
        for number in range(3):
            picture = np.full((pp.HEIGHT, pp.WIDTH, 3), 40 * number, dtype=np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    return _base("video", root, folder, partial(scannetpp.read, cameras="iphone"))


# Ways to break a file -----------------------------------------------------------------------------------------------

ODD_TEXTS = ("", "\x00", "\ud800", "a\nb", "\u202e", "../../../etc/passwd", "x" * 100_000, "REMOVE", "NaN", "é" * 300)
ODD_NUMBERS = (0, -1, 1, 2**31, 2**63, 2**64, 10**400, -(2**70), 1e308, 1e-320, float("nan"), float("inf"), True)
ODD_NUMBER_TEXTS = ("0", "-1", "nan", "inf", "-inf", "1e999", "1e308", "9" * 5000, "2147483648", "0x10", "1_0", "٣", "")
HUGE_INTS = (0, 1, 0x7F, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1)


def mutations(data: bytes, rng: Rng, suffix: str) -> Mutation:
    """A file of one kind broken in a way drawn at random."""
    ways = [*_BYTES]
    if suffix == ".json":
        ways += [_json_value] * len(ways)
    elif suffix in (".txt", ".tsv"):
        ways += [_word, _word, _line] * 3
    elif suffix == ".ply":
        ways += [_ply_count] * 4
    return ways[rng.integers(len(ways))](data, rng)


def _at(data: bytes, rng: Rng) -> int:
    return int(rng.integers(len(data) + 1))


def _cut(data: bytes, rng: Rng) -> Mutation:
    return Mutation("cut", data[: _at(data, rng)])


def _empty(data: bytes, rng: Rng) -> Mutation:
    return Mutation("empty", b"")


def _flip(data: bytes, rng: Rng) -> Mutation:
    changed = bytearray(data)
    for at in rng.integers(len(data), size=rng.integers(1, 9)):
        changed[at] ^= 1 << int(rng.integers(8))
    return Mutation("bits", bytes(changed))


def _flip_head(data: bytes, rng: Rng) -> Mutation:
    changed = bytearray(data)
    changed[int(rng.integers(min(len(data), 600)))] ^= 1 << int(rng.integers(8))
    return Mutation("bit in the head", bytes(changed))


def _huge(data: bytes, rng: Rng) -> Mutation:
    width = int(rng.choice([1, 2, 4, 8]))
    value = HUGE_INTS[rng.integers(len(HUGE_INTS))] * (1 if width < 8 else 2**31)
    at = _at(data, rng)
    packed = (value & (2 ** (8 * width) - 1)).to_bytes(width, "little")
    return Mutation("huge number", data[:at] + packed + data[at + width :])


def _drop(data: bytes, rng: Rng) -> Mutation:
    a, b = sorted((_at(data, rng), _at(data, rng)))
    return Mutation("a part is gone", data[:a] + data[b:])


def _double(data: bytes, rng: Rng) -> Mutation:
    a, b = sorted((_at(data, rng), _at(data, rng)))
    return Mutation("a part is there twice", data[:b] + data[a:])


def _zeros(data: bytes, rng: Rng) -> Mutation:
    a, b = sorted((_at(data, rng), _at(data, rng)))
    return Mutation("zeros", data[:a] + bytes(b - a) + data[b:])


def _noise(data: bytes, rng: Rng) -> Mutation:
    return Mutation("noise", rng.bytes(int(rng.integers(1, 2000))))


def _page(data: bytes, rng: Rng) -> Mutation:
    return Mutation("a download page", b"<!DOCTYPE html>\n<html><body>sign in</body></html>\n")


def _encoding(data: bytes, rng: Rng) -> Mutation:
    name = str(rng.choice(["utf-16", "utf-32-be", "cp037", "utf-8-sig"]))
    return Mutation(f"as {name}", data.decode("latin-1").encode(name, errors="replace"))


def _longer(data: bytes, rng: Rng) -> Mutation:
    return Mutation("more at the end", data + rng.bytes(int(rng.integers(1, 300))))


def _nested(data: bytes, rng: Rng) -> Mutation:
    depth = int(rng.choice([50, 2000, 200_000]))
    bracket = (b"[" if rng.random() < 0.5 else b'{"segIndices":') * depth
    return Mutation("deeply nested", bracket)


_BYTES = (
    *(_cut, _cut, _empty, _flip, _flip, _flip, _flip_head, _flip_head, _huge, _huge, _drop, _double),
    *(_zeros, _noise, _page, _encoding, _longer, _nested),
)


def _paths(value: Any, at: tuple = ()) -> Iterator[tuple]:
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in items:
        yield from _paths(entry, (*at, key))


def _replaced(value: Any, at: tuple, change: Callable[[Any, Any], None], new: Any) -> Any:
    if not at:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    if len(at) == 1:
        change(copy, at[0])
    else:
        copy[at[0]] = _replaced(copy[at[0]], at[1:], change, new)
    return copy


def _json_value(data: bytes, rng: Rng) -> Mutation:
    content = json.loads(data)
    paths = list(_paths(content))
    at = paths[rng.integers(len(paths))]
    deep: list = []
    for _ in range(70):
        deep = [deep]
    others = (None, [], {}, [None], deep, {"": []}, [[1], [1, 2]])
    odd = (*ODD_TEXTS, *ODD_NUMBERS, *others)
    new = odd[rng.integers(len(odd))]
    if rng.random() < 0.2:
        return Mutation("gone from JSON", _json(_replaced(content, at, lambda c, k: c.pop(k), {})), is_hidden=True)
    changed = _replaced(content, at, lambda c, k: c.__setitem__(k, new), new)
    return Mutation("odd value in JSON", _json(changed), is_hidden=True)


def _json(content: Any) -> bytes:
    return json.dumps(content).replace(str(10**400), "1" + "0" * 400).encode("utf-8", "surrogatepass")


def _word(data: bytes, rng: Rng) -> Mutation:
    words = list(re.finditer(rb"\S+", data))
    if not words:
        return _empty(data, rng)
    chosen = words[rng.integers(len(words))]
    new = str(rng.choice([*ODD_NUMBER_TEXTS, "#", "=", "\x00", "\u2028", "x" * 9000])).encode()
    return Mutation("odd word", data[: chosen.start()] + new + data[chosen.end() :], is_hidden=True)


def _line(data: bytes, rng: Rng) -> Mutation:
    lines = data.splitlines(keepends=True)
    at = int(rng.integers(len(lines)))
    repeated = [lines[at]] * int(rng.choice([0, 2, 50]))
    return Mutation("a line is gone or repeated", b"".join([*lines[:at], *repeated, *lines[at + 1 :]]), is_hidden=True)


def _ply_count(data: bytes, rng: Rng) -> Mutation:
    name = str(rng.choice(["vertex", "face"])).encode()
    count = str(rng.choice([0, 1, 2, 3, 5, 7, 13, 15, 2**31, 2**62, 10**30])).encode()
    return Mutation("wrong count", re.sub(rb"element " + name + rb" \d+", b"element " + name + b" " + count, data))


def sens_counts(data: bytes) -> Iterator[Mutation]:
    """Every count, size and length of a stream of ``raw_scene`` in turn set to values that are wrong."""
    frames_at = 12 + len(b"sensor") + 256 + 8 + 16 + 4
    places = {4: 8, frames_at: 8, frames_at + 8 + 80: 8, frames_at + 8 + 88: 8}
    places |= {frames_at - 28 + 4 * i: 4 for i in range(6)}
    for at, width in places.items():
        for value in (0, 1, 2, 5, 2**16, 2**31 - 1, 2**32 - 1, 2**63 - 1):
            if value < 2 ** (8 * width):
                packed = struct.pack("<Q", value)[:width]
                yield Mutation(f"{value} at {at}", data[:at] + packed + data[at + width :])


# What reading may make of it ----------------------------------------------------------------------------------------


def judge(base: Base, file: Path, mutation: Mutation) -> str:
    """Break a file, read the scene and load all that it promises, mend the file; the outcome.

    Raises:
        FaultError: an outcome that may not be.
    """
    before = file.read_bytes()
    try:
        file.write_bytes(mutation.data)
        return _outcome(base, file, mutation)
    finally:
        file.write_bytes(before)


def _outcome(base: Base, file: Path, mutation: Mutation) -> str:
    lists = read_lists(base.root)
    try:
        scan = base.read(base.folder)
    except InputError as error:
        _check_line(str(error))
        return "refused"
    for problem in (*scan.problems, *lists.problems):
        _check_line(f"{problem.kind} {problem.subject} {problem.detail}")
    _check_mesh(base, scan, file)
    unloadable = sum(_check_view(view) for view in scan.views.values())
    new = Counter(p.kind for p in (*scan.problems, *lists.problems))
    lost = _lost(base.scan, scan)
    if lost and not new and not mutation.is_hidden:
        raise FaultError(f"gone without a word: {lost[:5]}")
    return "lost" if lost or new or unloadable else "whole"


def _check_line(text: str) -> None:
    if not text.isprintable() or len(text) > 3000:
        raise FaultError(f"not one line for a person: {text[:300]!a}")


def _check_mesh(base: Base, scan: Scan, file: Path) -> None:
    whole = base.scan
    if scan.vertices.shape != whole.vertices.shape or scan.faces.shape != whole.faces.shape:
        raise FaultError(f"a part of a mesh: {scan.vertices.shape} and {scan.faces.shape}")
    if file.suffix != ".ply" and not (np.array_equal(scan.faces, whole.faces) and (scan.colors == whole.colors).all()):
        raise FaultError("another mesh, from a file that is none")
    if set(np.unique(scan.instance_ids).tolist()) - {-1} != set(scan.instances):
        raise FaultError("objects and owners of vertices are not the same")


def _lost(whole: Scan, scan: Scan) -> list[str]:
    lost = [f"object {key}" for key in whole.instances if key not in scan.instances]
    for name, view in whole.views.items():
        other = scan.views.get(name)
        if other is None:
            lost.append(f"view {name}")
        else:
            lost += [f"photo {name}"] if view.has_photo and not other.has_photo else []
            lost += [f"depth {name}"] if view.load_depth and not other.load_depth else []
    return lost


def _check_view(view: Any) -> int:
    """How many loaders of a view cannot load; what they give has to be what the view promises."""
    unloadable = 0
    for load, intrinsics in ((view.load_color, view.intrinsics), (view.load_depth, view.depth_intrinsics)):
        if load is None:
            continue
        try:
            array = load()
        except InputError as error:
            _check_line(str(error))
            unloadable += 1
            continue
        if array.shape[:2] != (intrinsics.height, intrinsics.width):
            raise FaultError(f"view {view.name}: {array.shape}, promised {intrinsics}")
        if array.dtype == np.float32 and not (np.isfinite(array).all() and (array >= 0).all()):
            raise FaultError(f"view {view.name}: depth that is none")
    try:
        if view.load_encoded is not None and not view.load_encoded():
            raise FaultError(f"view {view.name}: an empty picture")
    except InputError as error:
        _check_line(str(error))
        unloadable += 1
    return unloadable
