"""What a reader hands over: a scan, its labelled instances and its views.

Everything here is in the world frame (z up, +y north, floor near z = 0); only readers know the scan frame. Nothing is
loaded that is not asked for: pictures and depth come through the loaders of a :class:`View`.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from spacecast.errors import InputError
from spacecast.frames import Intrinsics, Transform

NO_INSTANCE = -1
"""Instance id of a vertex that belongs to no object. Ids are kept as the dataset has them: gaps, and 0, are ids."""

Trait = Literal[
    "structure",  # floor, wall, ceiling, window, door ...: occludes, carries and bounds; never moved or asked about
    "clutter",  # "object", "otherprop" ...: never asked about, judged on the raw label
    "see_through",  # mirrors, glass and other see-through or reflecting things: not asked about in occlusion
    "shapeless",  # cloths, rugs, curtains: no anchors, movers or targets of direction
    "soft",  # beds, couches, cushions: carrying on them is `resting_on_soft_surface`
    "fixture",  # cabinets, counters, pictures ...: hang on the wall where they touch one off the floor
    "installed",  # radiators, baths, stoves ...: joined to the building by pipes or bricks; never moved or removed
    "carries_nothing",  # curtains and cloths
    "collective",  # one label for several things: books, shoes, kitchen cabinets
    "floor",  # the structure that things stand on
    "wall",  # the structure that fixtures hang on
    "ceiling",  # the structure overhead
    "door",  # the structure where one room ends and the next begins: doors, doorframes
]
TRAITS: frozenset[str] = frozenset(get_args(Trait))


@dataclass(frozen=True)
class Instance:
    """What the dataset says of one labelled instance.

    Attributes:
        id: as in the dataset (``objectId``).
        raw_label: spelling as it is, for joins.
        label: canonical, for people and for names: lower case, spelling mended.
        class_group: one key for the class that the label belongs to (for ScanNet ``nyu40class|mpcat40``), None where
            the label map has none or only a catch-all one. Objects of one class group could be meant by one name.
        category: the more general word that the label map gives, or None.
        synset: the WordNet synset that the label map gives, or None.
        traits: what kind of thing it is; see :data:`Trait`.
        label_zh: the canonical label in Chinese, or None where the reader knows none: then not asked about in Chinese.
        lost_share: share of its labelled vertices that went to smaller objects, where the dataset lists vertices in
            several; above 0.05 it is flagged and not asked about.
        meanings: keys of all that the label could mean, by the reader's own groups (``shelf``, ``cabinet``). Objects
            that share one could be meant by one name, whatever else their labels say.
    """

    id: int
    raw_label: str
    label: str
    class_group: str | None = None
    category: str | None = None
    synset: str | None = None
    traits: frozenset[str] = frozenset()
    label_zh: str | None = None
    lost_share: float = 0.0
    meanings: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        unknown = sorted(set(self.traits) - TRAITS)
        if unknown:
            raise InputError(f"instance {self.id} ({self.label}): unknown traits {unknown}; known: {sorted(TRAITS)}")

    @property
    def is_structure(self) -> bool:
        """True if this is a part of the building."""
        return "structure" in self.traits


class Problem(NamedTuple):
    """Something that was wrong in the raw data and was left out or put right."""

    kind: str
    """A stable word for counting: ``lost_pose``, ``missing_photo``, ``cut_short``, ``not_aligned`` ..."""
    subject: str
    """The frame, object or file that it is about."""
    detail: str
    """One clause for a person: what was found, what was done."""

    def in_one_line(self) -> Problem:
        """The same with what cannot be printed escaped: names in raw data hold anything."""
        return Problem(self.kind, _printable(self.subject), _printable(self.detail))


def _printable(text: str) -> str:
    """A text with each character that is not printable as its escape."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


@dataclass(frozen=True)
class View:
    """One posed picture. Loaders are called when asked and keep nothing.

    Attributes:
        name: file stem of the picture, unique in its scan (``120``, ``frame_000120``).
        world_from_camera: camera pose, OpenCV axes.
        intrinsics: of the colour picture at its stored size, undistorted.
        load_color: (H, W, 3) uint8, or None where there is no picture.
        load_encoded: the picture's bytes as stored (JPEG or PNG), or None where there is no picture or it has to be
            undistorted first.
        load_depth: (h, w) float32 metres along z, 0 where unknown, or None where there is no sensor depth.
        depth_intrinsics: of the depth picture, in the same camera; None where there is no depth.
    """

    name: str
    world_from_camera: Transform
    intrinsics: Intrinsics
    load_color: Callable[[], NDArray[np.uint8]] | None = field(default=None, compare=False, repr=False)
    load_encoded: Callable[[], bytes] | None = field(default=None, compare=False, repr=False)
    load_depth: Callable[[], NDArray[np.float32]] | None = field(default=None, compare=False, repr=False)
    depth_intrinsics: Intrinsics | None = None

    @property
    def has_photo(self) -> bool:
        """True if a picture was taken here; otherwise one can be rendered from the mesh."""
        return self.load_color is not None


@dataclass(frozen=True, eq=False)
class Scan:
    """One scanned room, in world.

    Attributes:
        dataset: the reader's name (``scannet``).
        scene_id: the scene's own id.
        room_id: scans of one room share it (``scene0000`` for ``scene0000_00``): they never part between splits.
        vertices: (V, 3) float32, metres, in world, order as in the file.
        faces: (F, 3) int32 vertex numbers.
        colors: (V, 3) uint8.
        instance_ids: (V,) int32, id of the instance that a vertex belongs to, or -1.
        instances: by id.
        world_from_scan: where the raw frame lies in the world.
        is_aligned: False where the alignment was missing: north is then arbitrary and not asked about.
        has_labels: False for scans without annotation: geometry only.
        views: by name, in capture order (numbers sorted as numbers).
        problems: what was wrong and left out.
        input_files: files that were read, for hashes in the manifest, relative name -> path.
    """

    dataset: str
    scene_id: str
    room_id: str
    vertices: NDArray[np.float32]
    faces: NDArray[np.int32]
    colors: NDArray[np.uint8]
    instance_ids: NDArray[np.int32]
    instances: Mapping[int, Instance]
    world_from_scan: Transform
    is_aligned: bool
    has_labels: bool
    views: Mapping[str, View]
    problems: tuple[Problem, ...] = ()
    input_files: Mapping[str, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        count = len(self.vertices)
        for name, array, shape, kind in (
            ("vertices", self.vertices, (count, 3), np.float32),
            ("faces", self.faces, (len(self.faces), 3), np.int32),
            ("colors", self.colors, (count, 3), np.uint8),
            ("instance_ids", self.instance_ids, (count,), np.int32),
        ):
            if array.shape != shape or array.dtype != kind:
                raise InputError(
                    f"{self.scene_id}: {name} should be {shape} {np.dtype(kind).name}, "
                    f"found {array.shape} {array.dtype.name}"
                )
            array.setflags(write=False)
        if len(self.faces) and (self.faces.min() < 0 or self.faces.max() >= count):
            raise InputError(f"{self.scene_id}: a face names a vertex that is not there (the mesh has {count})")
        if not np.isfinite(self.vertices).all():
            raise InputError(f"{self.scene_id}: the mesh has vertices that are not finite")
        unknown = sorted(set(np.unique(self.instance_ids).tolist()) - {NO_INSTANCE} - set(self.instances))
        if unknown:
            raise InputError(f"{self.scene_id}: vertices belong to instances that are not listed: {unknown[:5]}")
        object.__setattr__(self, "problems", tuple(problem.in_one_line() for problem in self.problems))
        object.__setattr__(self, "instances", MappingProxyType(dict(sorted(self.instances.items()))))
        object.__setattr__(self, "views", MappingProxyType(dict(self.views)))

    @cached_property
    def face_instance_ids(self) -> NDArray[np.int32]:
        """(F,) the instance that owns all three vertices of a face, or -1: mixed and unlabelled faces."""
        corners = self.instance_ids[self.faces]
        same = (corners[:, 0] == corners[:, 1]) & (corners[:, 1] == corners[:, 2])
        return np.where(same, corners[:, 0], NO_INSTANCE).astype(np.int32)

    def view(self, name: str) -> View:
        """The view with a name.

        Raises:
            InputError: the scan has no such view; the message gives the nearest names.
        """
        if name not in self.views:
            near = difflib.get_close_matches(name, list(self.views), n=3) or list(self.views)[:3]
            hint = f"for example {', '.join(near)}" if near else "it has none"
            raise InputError(f"{self.scene_id}: no view {name!r} among {len(self.views)}; {hint}")
        return self.views[name]

    def problem_counts(self) -> dict[str, int]:
        """How many problems of each kind, sorted by kind."""
        return dict(sorted(Counter(problem.kind for problem in self.problems).items()))


@dataclass(frozen=True)
class SceneStatus:
    """A row of ``spacecast check``: what one scene holds, and what is missing or broken, without loading it whole."""

    scene_id: str
    path: Path
    facts: Mapping[str, str]
    """Column -> short text for people: vertices, objects, frames, depth ..."""
    problems: tuple[Problem, ...]
    readable: bool


@dataclass(frozen=True)
class Reader:
    """How scans of one layout are found and read; register one under the entry point ``spacecast.readers``.

    Attributes:
        name: goes into the ``dataset`` column.
        find: the scene folders under a root, by scene id, without reading them; empty where the root has another
            layout.
        read: a scene folder -> Scan; raises :class:`InputError` where mesh or labels cannot be read.
        room_of: a scene id -> the ``room_id`` of its scan; by default every scene is a room of its own.
        cameras: where scans have several cameras: the name of each choice of them -> ``read`` for that choice, one of
            which ``read`` itself makes; empty where there is nothing to choose.
    """

    name: str
    find: Callable[[Path], Mapping[str, Path]]
    read: Callable[[Path], Scan]
    room_of: Callable[[str], str] = str
    cameras: Mapping[str, Callable[[Path], Scan]] = field(default_factory=dict)

    def choosing(self, cameras: str | None) -> Reader:
        """The reader that reads with a choice of cameras; this one where there is nothing to choose, or for None.

        Raises:
            InputError: the scans have other cameras.
        """
        if not cameras or not self.cameras:
            return self
        if cameras not in self.cameras:
            raise InputError(f"{self.name} scans have the cameras {', '.join(self.cameras)}; found {cameras!r}")
        return replace(self, read=self.cameras[cameras])


def by_number(names: Sequence[str]) -> list[str]:
    """Names sorted with their digits as numbers: 2 before 10."""
    import re

    return sorted(names, key=lambda name: [int(p) if p.isdecimal() else p for p in re.split(r"(\d+)", name)])
