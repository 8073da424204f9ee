"""Segments and the groups of segments that are objects: who owns which vertex.

ScanNet and ScanNet++ share the form: ``segIndices`` has a segment number per vertex, ``segGroups`` lists objects as
*values* of ``segIndices``. A broken group costs its object; files that cannot be read, or that belong to other meshes,
are errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scannet_tools.raw_files import load_json
from spacecast.errors import InputError
from spacecast.scan import NO_INSTANCE, Problem

_MAX_ID = 2**31 - 1


class Group(NamedTuple):
    """One labelled object as listed: its id (``objectId``), raw label, and segments as a sorted (n,) int64 array.

    ``obb`` is the box beside it, as the file has it (ScanNet++), None where there is none or where several groups are
    one object.
    """

    id: int
    label: str
    segments: NDArray[np.int64]
    obb: Any = None


class Segments(NamedTuple):
    """A segment number per vertex, from one file."""

    path: Path
    numbers: NDArray[np.int64]


class Groups(NamedTuple):
    """The objects of one file, and what was wrong with others."""

    path: Path
    groups: tuple[Group, ...]
    problems: tuple[Problem, ...]


class Ownership(NamedTuple):
    """Who owns which vertex.

    ``instance_ids`` (V,) int32 with -1 for nobody; ``lost_shares`` the share of each object's listed vertices that
    smaller objects took, for every object that kept some.
    """

    instance_ids: NDArray[np.int32]
    lost_shares: dict[int, float]
    problems: tuple[Problem, ...]


def read_segments(path: Path) -> Segments:
    """Read ``segIndices``.

    Raises:
        InputError: the file cannot be read, or holds no list of whole numbers.
    """
    return Segments(path, _whole_numbers(_read_list(path, "segIndices"), f"{path}: segIndices"))


def read_groups(path: Path) -> Groups:
    """Read ``segGroups``; groups without a usable id, label or segments are left out as problems.

    Groups that share id and label are one object; of groups that share an id under other labels the first counts.

    Raises:
        InputError: the file cannot be read, or holds no list of groups.
    """
    found: dict[int, Group] = {}
    problems: list[Problem] = []
    for position, entry in enumerate(_read_list(path, "segGroups")):
        try:
            group = _group(entry)
        except InputError as error:
            problems.append(Problem("broken_object", f"segGroups[{position}]", str(error)))
            continue
        other = found.setdefault(group.id, group)
        if other is group:
            continue
        if other.label == group.label:
            found[group.id] = other._replace(segments=np.union1d(other.segments, group.segments), obb=None)
        else:
            detail = f"id {group.id} is listed again as {group.label!r}; it stays {other.label!r}"
            problems.append(Problem("broken_object", f"segGroups[{position}]", detail))
    return Groups(path, tuple(found.values()), tuple(problems))


def unfit(segments: Segments, groups: Groups, vertex_count: int) -> str | None:
    """Why segments, groups and a mesh do not belong together, with both counts; None if they do."""
    if len(segments.numbers) != vertex_count:
        return f"{segments.path.name} has {len(segments.numbers)} segment numbers for {vertex_count} vertices"
    if not groups.groups:
        return None
    named = np.unique(np.concatenate([group.segments for group in groups.groups]))
    missing = int((~np.isin(named, segments.numbers)).sum())
    if missing:
        return f"of {len(named)} segments in {groups.path.name}, {missing} are not in {segments.path.name}"
    return None


def own_vertices(numbers: NDArray[np.int64], groups: Sequence[Group], *, max_lost_share: float) -> Ownership:
    """Give each vertex to the smallest object (by listed vertices, then by id) that lists its segment.

    Args:
        numbers: (V,) segment number per vertex.
        groups: the objects.
        max_lost_share: an object that loses a larger share of its vertices to smaller ones is named in the problems.
    """
    segments, vertex_segment, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    members = {group.id: _rows_of(segments, group.segments) for group in groups}
    sizes = {key: int(counts[rows].sum()) for key, rows in members.items()}
    owner = np.full(len(segments), NO_INSTANCE, dtype=np.int32)
    for key in sorted(members, key=lambda key: (-sizes[key], -key)):
        owner[members[key]] = key
    lost_shares: dict[int, float] = {}
    problems: list[Problem] = []
    for group in sorted(groups, key=lambda group: group.id):
        rows, size = members[group.id], sizes[group.id]
        kept = int(counts[rows][owner[rows] == group.id].sum())
        subject = f"{group.label} {group.id}"
        if not kept:
            why = "all its vertices belong to smaller objects" if size else "no vertex has its segments"
            problems.append(Problem("empty_object", subject, f"{why}; left out"))
            continue
        lost_shares[group.id] = 1.0 - kept / size
        if lost_shares[group.id] > max_lost_share:
            detail = f"{lost_shares[group.id]:.0%} of its vertices belong to smaller objects; not asked about"
            problems.append(Problem("shares_vertices", subject, detail))
    return Ownership(owner[vertex_segment], lost_shares, tuple(problems))


def _rows_of(numbers: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.intp]:
    """Where numbers that are wanted stand in sorted numbers; those that are not there are passed over."""
    rows = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)
    return rows[numbers[rows] == wanted]


def _group(entry: Any) -> Group:
    if not isinstance(entry, dict):
        raise InputError("is no group; left out")
    key, label = entry.get("objectId"), entry.get("label")
    if not isinstance(key, int) or isinstance(key, bool) or not 0 <= key <= _MAX_ID:
        raise InputError(f"objectId is {str(key)[:40]!r}, not a whole number from 0; left out")
    if not isinstance(label, str):
        raise InputError(f"object {key} has no label; left out")
    if not "".join(label.split()).isprintable():
        raise InputError(f"object {key} has a label that cannot be written: {ascii(label)[:60]}; left out")
    segments = np.unique(_whole_numbers(entry.get("segments"), f"segments of object {key}"))
    if not len(segments):
        raise InputError(f"object {key} ({label}) lists no segments; left out")
    return Group(key, label, segments, entry.get("obb"))


def _whole_numbers(values: Any, what: str) -> NDArray[np.int64]:
    if not isinstance(values, list):
        raise InputError(f"{what}: expected a list of whole numbers, found {type(values).__name__}")
    if not set(map(type, values)) <= {int}:
        raise InputError(f"{what}: expected a list of whole numbers, found other things in it")
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        raise InputError(f"{what}: holds a number that is too large") from None


def _read_list(path: Path, key: str) -> list[Any]:
    data = load_json(path)
    values = data.get(key) if isinstance(data, dict) else None
    if not isinstance(values, list):
        raise InputError(f"{path}: has no list {key}; download it again")
    return values
