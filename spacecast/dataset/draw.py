"""Which scenes a build uses where it is told how many: a draw from the seed, rooms before rescans.

Whether a scene comes before another depends on the seed and these two alone (and on the rescans of their rooms), so
scans that are added later change as little as they can.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from spacecast.dataset.chance import number
from spacecast.dataset.quotas import capped_shares
from spacecast.dataset.reader import MANIFEST, read_manifest
from spacecast.dataset.settings import Folder
from spacecast.errors import InputError


@dataclass(frozen=True)
class DrawSettings:
    """How far a draw goes to use every scene (own)."""

    max_redraws: int = 2
    """Times that scenes in which nothing was chosen are replaced, and all is chosen again."""


SETTINGS = DrawSettings()


@dataclass(frozen=True)
class Draw:
    """How a build's scenes turned out; it grows as they are looked into.

    Attributes:
        failures: scene key -> why it cannot be used.
        sought: scenes whose candidates were looked for.
        barren: scenes that have no candidates and gave way to others.
        idle: scenes that have candidates of which none was chosen, and gave way.
        times_redrawn: how often idle scenes gave way.
    """

    failures: dict[str, str] = field(default_factory=dict)
    sought: set[str] = field(default_factory=set)
    barren: set[str] = field(default_factory=set)
    idle: frozenset[str] = frozenset()
    times_redrawn: int = 0

    @property
    def unusable(self) -> set[str]:
        """Scenes that are passed over."""
        return {*self.failures, *self.barren, *self.idle}

    def without(self, idle: Collection[str]) -> Draw:
        """The draw after more scenes gave way."""
        return replace(self, idle=self.idle | frozenset(idle), times_redrawn=self.times_redrawn + 1)


def draw_order(folders: Sequence[Folder], seed: int) -> list[Folder]:
    """All scenes in the order in which they are used: a scan of each room first, then second scans, and so on."""
    rooms: dict[str, list[Folder]] = {}
    for folder in sorted(folders, key=lambda folder: (_of_scan(folder, seed), folder.key)):
        rooms.setdefault(folder.room_key, []).append(folder)
    place = {folder.key: i for scans in rooms.values() for i, folder in enumerate(scans)}
    return sorted(folders, key=lambda folder: (place[folder.key], _of_room(folder, seed), folder.key))


def _of_scan(folder: Folder, seed: int) -> int:
    return number(seed, "scan", folder.dataset, folder.scene_id)


def _of_room(folder: Folder, seed: int) -> int:
    return number(seed, "room", folder.dataset, folder.room)


def drawn(
    folders: Sequence[Folder], wanted: int, seed: int, weights: Mapping[str, int], unusable: Collection[str] = ()
) -> dict[str, Folder]:
    """The scenes that a build uses, by key, sorted: shares of the datasets, each filled in the drawn order.

    A scene that turns out to be unusable is replaced by the next of its dataset, or of another where it has no more.

    Args:
        folders: all scenes that there are.
        wanted: how many.
        seed: of the build.
        weights: dataset -> its weight.
        unusable: keys of scenes that are passed over.
    """
    orders: dict[str, list[Folder]] = {dataset: [] for dataset in sorted(weights)}
    for folder in draw_order(folders, seed):
        if folder.key not in unusable:
            orders[folder.dataset].append(folder)
    limits = {dataset: len(order) for dataset, order in orders.items()}
    shares = capped_shares(wanted, {dataset: weights[dataset] for dataset in orders}, limits)
    found = {folder.key: folder for dataset, order in orders.items() for folder in order[: shares[dataset]]}
    return dict(sorted(found.items()))


def rooms_of(benchmarks: Sequence[str | Path]) -> tuple[str, ...]:
    """The rooms whose scans some datasets of questions use, ``dataset-room``, sorted: not to be used again.

    Raises:
        InputError: a folder holds no dataset, or one whose manifest does not list its rooms.
    """
    found: set[str] = set()
    for path in benchmarks:
        manifest = read_manifest(Path(path))
        if not manifest:
            raise InputError(f"{path}: no {MANIFEST} in it; give the folder of a dataset of questions")
        rooms = manifest.get("rooms")
        if not isinstance(rooms, list) or not all(isinstance(room, str) for room in rooms):
            raise InputError(f"{Path(path) / MANIFEST}: does not list the dataset's rooms; build the dataset again")
        if not rooms and manifest.get("questions"):
            raise InputError(f"{Path(path) / MANIFEST}: lists no rooms of its questions; build the dataset again")
        found.update(rooms)
    return tuple(sorted(found))
