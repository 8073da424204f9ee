"""What a ScanNet++ root says beside its scenes: splits in ``splits/*.txt``, class lists in ``metadata/``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from scannet_tools.labels import canonical_label
from scannet_tools.raw_files import read_whole
from spacecast.errors import InputError
from spacecast.scan import Instance, Problem

_SCENE_NAME = re.compile(r"[0-9a-f]{10}")
_BENCHMARK = re.compile(r"(^|/)semantic_benchmark/|top\d+")


@dataclass(frozen=True, eq=False)
class ScanNetppLists:
    """Splits and class lists of a root.

    Attributes:
        root: the folder that holds ``data/``, ``splits/`` and ``metadata/``.
        splits: name (``nvs_sem_train``) -> scene ids in the order of the file.
        classes: name (``semantic_classes``, ``semantic_benchmark/top100``) -> labels in the order of the file.
        problems: lists that cannot be read, and lines that are no scene id.
    """

    root: Path
    splits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def splits_of(self, scene_id: str) -> tuple[str, ...]:
        """Names of the splits that a scene is in, sorted."""
        return tuple(sorted(name for name, scenes in self.splits.items() if scene_id in scenes))

    @cached_property
    def benchmark_classes(self) -> frozenset[str]:
        """Canonical labels of the classes that benchmarks count.

        Those of the lists in ``semantic_benchmark/`` or named ``top<number>``; where there is no such list, of all.
        """
        chosen = [name for name in self.classes if _BENCHMARK.search(name)] or list(self.classes)
        return frozenset(canonical_label(label) for name in chosen for label in self.classes[name])

    def is_benchmark_class(self, instance: Instance) -> bool:
        """True if an object's label, mended, is one that benchmarks count."""
        return instance.label in self.benchmark_classes


def find_lists(scene_folder: Path) -> ScanNetppLists | None:
    """The lists of the root that a scene's folder lies in (``<root>/data/<scene>``); None where it has none.

    Raises:
        InputError: a folder of lists cannot be read.
    """
    root = Path(os.path.abspath(scene_folder)).parent.parent
    return read_lists(root) if (root / "splits").is_dir() or (root / "metadata").is_dir() else None


def read_lists(root: Path) -> ScanNetppLists:
    """Splits and class lists under a root; a list that cannot be read is a problem.

    Raises:
        InputError: a folder of lists cannot be read.
    """
    problems: list[Problem] = []
    splits: dict[str, tuple[str, ...]] = {}
    for name, lines in _lists(root / "splits", problems).items():
        bad = [line for line in lines if not _SCENE_NAME.fullmatch(line)]
        problems += [Problem("broken_lists", f"splits/{name}.txt", f"{line[:40]!r} is no scene id") for line in bad]
        splits[name] = tuple(dict.fromkeys(line for line in lines if _SCENE_NAME.fullmatch(line)))
    classes = {name: tuple(dict.fromkeys(lines)) for name, lines in _lists(root / "metadata", problems).items()}
    return ScanNetppLists(root, splits, classes, tuple(problems))


def _lists(folder: Path, problems: list[Problem]) -> dict[str, list[str]]:
    """The lines of every ``.txt`` in a folder and below, by name relative to it, without its suffix."""
    found: dict[str, list[str]] = {}
    if not folder.is_dir():
        return found
    for path in sorted(path for path in folder.rglob("*.txt") if path.is_file()):
        name = path.relative_to(folder).with_suffix("").as_posix()
        try:
            text = read_whole(path).decode("utf-8-sig")
        except (InputError, UnicodeDecodeError) as error:
            problems.append(Problem("broken_lists", f"{folder.name}/{name}.txt", f"cannot be read: {error}"))
            continue
        found[name] = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return found
