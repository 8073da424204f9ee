"""Triangle meshes in PLY files; the one module that imports plyfile (it is GPL: kept easy to swap).

The head is read here, so that counts are held against the size of the file before anything is allocated; plyfile reads
the body. A file that is cut, or that holds something else, is an error: there is no part of a mesh.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacecast.errors import InputError
from spacecast.files import write_whole


@dataclass(frozen=True)
class PlySettings:
    """Bounds of a PLY file."""

    max_head_bytes: int = 65536
    """A head that does not end within this is none (own)."""
    max_across_m: float = 500.0
    """No scanned room is larger; one in millimetres is (own)."""
    max_coordinate_m: float = 10_000.0
    """A vertex that is farther from the origin is a broken number (own; real rooms lie within some 20 m)."""


SETTINGS = PlySettings()

_SIZES = {
    **dict.fromkeys(("char", "uchar", "int8", "uint8"), 1),
    **dict.fromkeys(("short", "ushort", "int16", "uint16"), 2),
    **dict.fromkeys(("int", "uint", "float", "int32", "uint32", "float32"), 4),
    **dict.fromkeys(("double", "float64"), 8),
}
_INDEX_NAMES = ("vertex_indices", "vertex_index")


class Mesh(NamedTuple):
    """A triangle mesh as stored.

    ``vertices`` (V, 3) float32 in the file's frame and order, ``faces`` (F, 3) int32, ``colors`` (V, 3) uint8 or None
    where the file has none.
    """

    vertices: NDArray[np.float32]
    faces: NDArray[np.int32]
    colors: NDArray[np.uint8] | None


@dataclass(frozen=True)
class _Element:
    name: str
    count: int
    scalars: dict[str, str]
    lists: dict[str, tuple[str, str]]

    @property
    def least_bytes(self) -> int:
        """Bytes of a row in a binary file if its lists hold three items each."""
        rows = sum(_SIZES[kind] for kind in self.scalars.values())
        return rows + sum(_SIZES[count] + 3 * _SIZES[item] for count, item in self.lists.values())


class _Head(NamedTuple):
    is_text: bool
    elements: dict[str, _Element]
    body_at: int


def read_ply(path: str | Path) -> Mesh:
    """The whole mesh of a PLY file, text or binary, with the order of its vertices kept.

    Raises:
        InputError: not a PLY file, cut short, faces that are no triangles, a face that names a vertex that is not
            there, coordinates that are not finite or beyond :data:`SETTINGS`, more or less in the file than its head
            says, or a mesh without vertices or faces.
    """
    path = Path(path)
    head = _read_head(path)
    vertex, face, index_name = _mesh_elements(head, path)
    _check_size(head, path)

    from plyfile import PlyData, PlyParseError

    try:
        data = PlyData.read(str(path), mmap=not head.is_text, known_list_len={"face": {index_name: 3}})
        vertex_rows, indices = np.asarray(data["vertex"].data), data["face"].data[index_name]
        with np.errstate(over="ignore", invalid="ignore"):  # beyond float32 is infinite, and told below
            vertices = np.stack([vertex_rows[axis] for axis in "xyz"], axis=1).astype(np.float32, copy=False)
        faces = np.stack(list(indices)) if indices.dtype.hasobject else np.array(indices)
    except (PlyParseError, ValueError, OverflowError, MemoryError, StopIteration) as error:
        raise InputError(f"{path}: the mesh cannot be read ({_one_line(error)}); download it again") from None
    if len(vertices) != vertex.count or faces.shape != (face.count, 3):
        raise InputError(
            f"{path}: the head says {vertex.count} vertices and {face.count} triangles, "
            f"found {len(vertices)} and {faces.shape}; download it again"
        )
    _check_nothing_follows(head, path)
    low, high = int(faces.min()), int(faces.max())
    if low < 0 or high >= vertex.count:
        raise InputError(
            f"{path}: a face names vertex {low if low < 0 else high}, the mesh has {vertex.count}; download it again"
        )
    bad = len(vertices) - int(np.isfinite(vertices).all(axis=1).sum())
    if bad:
        raise InputError(f"{path}: {bad} of {len(vertices)} vertices are not finite; download it again")
    farthest_m = float(np.abs(vertices).max())
    if farthest_m > SETTINGS.max_coordinate_m:
        raise InputError(f"{path}: a vertex lies {farthest_m:.4g} m off; download it again")
    across_m = float(np.ptp(vertices, axis=0).max())
    if across_m > SETTINGS.max_across_m:
        raise InputError(f"{path}: the mesh is {across_m:.4g} m across; coordinates should be in metres, convert them")
    colors = None
    if all(vertex.scalars.get(name) in ("uchar", "uint8") for name in ("red", "green", "blue")):
        colors = np.stack([vertex_rows[name] for name in ("red", "green", "blue")], axis=1)
    return Mesh(vertices, faces.astype(np.int32), colors)


def write_ply(
    path: str | Path, vertices: NDArray[np.floating], faces: NDArray[np.integer], colors: NDArray[np.uint8]
) -> None:
    """Write a binary PLY laid out as ScanNet's: x y z float, red green blue alpha uchar, faces as lists of 3 ints.

    Args:
        path: the file; it appears whole.
        vertices: (V, 3) metres.
        faces: (F, 3) vertex numbers.
        colors: (V, 3) uint8.
    """
    rows = np.empty(len(vertices), dtype=[("xyz", "<f4", 3), ("rgb", "u1", 3), ("alpha", "u1")])
    rows["xyz"], rows["rgb"], rows["alpha"] = vertices, colors, 255
    lists = np.empty(len(faces), dtype=[("count", "u1"), ("indices", "<i4", 3)])
    lists["count"], lists["indices"] = 3, faces
    properties = [f"property float {axis}" for axis in "xyz"]
    properties += [f"property uchar {name}" for name in ("red", "green", "blue", "alpha")]
    head = [
        "ply",
        "format binary_little_endian 1.0",
        f"element vertex {len(rows)}",
        *properties,
        f"element face {len(lists)}",
        "property list uchar int vertex_indices",
        "end_header",
    ]
    with write_whole(Path(path)) as aside, aside.open("wb") as file:
        file.write("\n".join(head).encode() + b"\n" + rows.tobytes())
        file.write(lists.tobytes())


def _read_head(path: Path) -> _Head:
    try:
        with path.open("rb") as file:
            start = file.read(SETTINGS.max_head_bytes)
    except OSError as error:
        raise InputError(f"{path}: the mesh cannot be read ({error.strerror})") from None
    end = start.find(b"end_header")
    body_at = start.find(b"\n", end) + 1
    if not start.startswith(b"ply") or end < 0 or body_at == 0:
        raise InputError(f"{path}: not a PLY mesh (starts with {start[:16].decode('latin-1')!a})")
    is_text, elements = None, {}
    current: _Element | None = None
    for line in start[:end].decode("latin-1").splitlines()[1:]:
        match line.split():
            case ["format", kind, "1.0"] if kind in ("ascii", "binary_little_endian", "binary_big_endian"):
                is_text = kind == "ascii"
            case ["element", name, count] if count.isascii() and count.isdigit() and name not in elements:
                current = elements[name] = _Element(name, int(count), {}, {})
            case ["property", "list", count_kind, kind, name] if current and {count_kind, kind} <= _SIZES.keys():
                current.lists[name] = (count_kind, kind)
            case ["property", kind, name] if current and kind in _SIZES:
                current.scalars[name] = kind
            case ["comment" | "obj_info", *_] | []:
                pass
            case _:
                raise InputError(f"{path}: PLY head has a line that makes no sense: {line[:60]!a}")
    if is_text is None:
        raise InputError(f"{path}: PLY head names no format")
    for element in elements.values():
        if element.count and not element.scalars and not element.lists:
            raise InputError(f"{path}: PLY head announces {element.count} {element.name[:20]!a} of nothing")
    return _Head(is_text, elements, body_at)


def _mesh_elements(head: _Head, path: Path) -> tuple[_Element, _Element, str]:
    vertex, face = head.elements.get("vertex"), head.elements.get("face")
    if vertex is None or not {"x", "y", "z"} <= vertex.scalars.keys() or not vertex.count:
        raise InputError(f"{path}: the mesh has no vertices")
    names = [name for name in _INDEX_NAMES if face is not None and name in face.lists]
    if face is None or not names or not face.count:
        raise InputError(f"{path}: the mesh has no faces")
    return vertex, face, names[0]


def _check_size(head: _Head, path: Path) -> None:
    """The body holds what the head announces: refused before anything of that size is allocated."""
    found = path.stat().st_size - head.body_at
    # As text, a number takes a digit and a space (the last line may lack its end).
    needed = sum(
        element.count * (2 * (len(element.scalars) + 4 * len(element.lists)) if head.is_text else element.least_bytes)
        for element in head.elements.values()
    )
    counts = " and ".join(f"{element.count} {element.name}" for element in head.elements.values())
    if found < needed - head.is_text:
        raise InputError(f"{path}: cut short: {counts} need {needed} bytes, found {found}; download it again")


def _check_nothing_follows(head: _Head, path: Path) -> None:
    """No more is in the file than its head announces; every list that counts is known to be a triangle by now."""
    elements = head.elements.values()
    if head.is_text:
        with path.open("rb") as file:
            file.seek(head.body_at)
            found, needed, unit = sum(1 for line in file if line.strip()), sum(e.count for e in elements), "lines"
    else:
        found, needed, unit = (
            path.stat().st_size - head.body_at,
            sum(e.count * e.least_bytes for e in elements),
            "bytes",
        )
    if found > needed and sum(len(e.lists) for e in elements) == 1:
        counts = " and ".join(f"{e.count} {e.name}" for e in elements)
        raise InputError(f"{path}: {counts} need {needed} {unit}, found {found}: more than its head says")


def _one_line(error: Exception) -> str:
    text = str(error).splitlines()
    return text[0][:200] if text else type(error).__name__
