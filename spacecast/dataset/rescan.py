"""A dataset against the raw scans that it was made from, scene by scene, in processes of their own.

What is measured in a scene is in :mod:`spacecast.dataset.remeasure`; pictures are compared here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import laplace

from spacecast.dataset import pool
from spacecast.dataset.findings import Finding
from spacecast.dataset.reader import Benchmark, Picture
from spacecast.dataset.remeasure import Remeasure
from spacecast.dataset.rows import Row, canonical_json
from spacecast.dataset.settings import REGISTERED, Painter
from spacecast.errors import InputError
from spacecast.registry import find_scans, load
from spacecast.scan import Scan

Key = tuple[str, str]
"""Dataset and scene id."""
Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class RescanSettings:
    """How far pictures may be from those of the scan."""

    max_pixel_difference: float = 2.0
    """Mean difference, of 255, where a picture was encoded anew."""
    shrink: int = 4
    """Photos are judged at one part in this many of their size; SEMANTICS 7."""
    min_laplacian_variance: float = 45.0
    """Sharp photos have at least 50, SEMANTICS 7; so much less where blocks are cut and averaged otherwise (own)."""
    dark_and_bright: tuple[float, float] = (8.0, 250.0)
    """Grey values beyond show nothing (own)."""
    max_lost_share: float = 0.45
    """Of a photo that is well exposed no larger share shows nothing (own)."""
    mean_level: tuple[float, float] = (27.0, 228.0)
    """The mean grey value of a photo that is well exposed is between these (own)."""


SETTINGS = RescanSettings()


class SceneTask(NamedTuple):
    """The questions of one scene, and where its scan lies."""

    benchmark: str
    key: Key
    scan: str
    rows: tuple[Row, ...]
    pictures: str
    """``photos`` or ``render``."""
    cameras: str | None
    """As the build chose them."""
    threads: int


def scans_under(roots: Sequence[Path]) -> dict[Key, Path]:
    """Folder of every scan under some folders, by dataset and scene id.

    Raises:
        InputError: a root is no folder or holds no scans.
    """
    found: dict[Key, Path] = {}
    for root in roots:
        for scene_id, (reader, path) in find_scans(root).items():
            found[reader.name, scene_id] = path
    return found


def scan_problems(
    data: Benchmark, found: Mapping[Key, Path], progress: Callable[[str, int, int], None], *, workers: int = 1
) -> Iterator[Finding]:
    """Findings of all rows against scans, by scene.

    Args:
        data: the dataset.
        found: of :func:`scans_under`.
        progress: called with (stage, done, total).
        workers: processes; one scene is one task. With one, all runs in this process.

    """
    by_scene: dict[Key, list[Row]] = {}
    for row in data.rows:
        by_scene.setdefault((row.dataset, row.scene_id), []).append(row)
    pictures, threads = str(data.manifest.get("pictures", "photos")), 1 if workers > 1 else 0
    cameras = (data.manifest.get("build") or {}).get("cameras")
    tasks = [
        SceneTask(str(data.path), key, str(found[key]), tuple(rows), pictures, cameras, threads)
        for key, rows in sorted(by_scene.items())
        if key in found
    ]
    done, total = 0, len(data.rows)
    progress("answers from the scans", done, total)
    findings: dict[Key, list[Finding]] = {
        key: [Finding("scan", "/".join(key), "no such scan under the folders that were given")]
        for key in by_scene
        if key not in found
    }
    for task, result in pool.run(scene_findings, tasks, workers=workers, died=_died):
        findings[task.key] = result
        done += len(task.rows)
        progress("answers from the scans", done, total)
    for key in sorted(findings):
        yield from findings[key]


def _died(task: SceneTask) -> list[Finding]:
    return [Finding("scan", "/".join(task.key), "the process that measured it died, each time")]


@lru_cache(maxsize=1)
def _opened(benchmark: str) -> Benchmark:
    return Benchmark.open(benchmark, whole=False)


def scene_findings(task: SceneTask) -> list[Finding]:
    """What in the questions of one scene does not agree with its scan; or that the scan cannot be read."""
    try:
        scan: Scan = load("spacecast.readers", task.key[0]).choosing(task.cameras).read(Path(task.scan))
    except InputError as error:
        return [Finding("scan", "/".join(task.key), str(error))]
    measure, data = Remeasure(scan, threads=task.threads), _opened(task.benchmark)
    painter = REGISTERED.painter(scan) if task.pictures == "render" else None
    pictures = _Pictures(scan, painter)
    return [
        Finding(kind, row.question_uid, detail)
        for row in sorted(task.rows, key=lambda row: (row.image_name, row.question_uid))
        for kind, detail in (*measure.row_problems(row), *pictures.problems(data, row))
    ]


class _Pictures:
    """Compares pictures with those of a scan; each picture of a view once, however many questions show it."""

    def __init__(self, scan: Scan, painter: Painter | None) -> None:
        self._scan, self._painter = scan, painter
        self._found: dict[tuple[str, str], list[str]] = {}

    def problems(self, data: Benchmark, row: Row) -> Iterator[tuple[str, str]]:
        """Photos are the bytes of the scan, or, where they had to be made anew, its pixels; renderings are drawn again.

        Pictures that are not there or cannot be decoded, and views that the scan has not, are said elsewhere.
        """
        try:
            pictures = data.pictures(row.question_uid)
        except InputError:
            return
        facts_of = {view["name"]: view for view in row.facts["views"]}
        for picture in pictures:
            if picture.name not in self._scan.views or picture.name not in facts_of:
                continue
            stored = facts_of[picture.name]
            key = (canonical_json(stored), hashlib.sha256(picture.encoded).hexdigest())
            if key not in self._found:
                self._found[key] = list(self._problems_of(picture, stored))
            for problem in self._found[key]:
                yield "picture", f"{picture.name} {problem}"

    def _problems_of(self, picture: Picture, stored: Mapping[str, Any]) -> Iterator[str]:
        try:
            pixels = np.asarray(picture.decoded().convert("RGB"))
        except InputError:
            return
        if not self._is_same(picture, pixels, stored):
            yield "is not the picture of the scan"
        elif self._painter is None:
            problem = photo_problem(pixels)
            if problem is not None:
                yield problem

    def _is_same(self, picture: Picture, pixels: Pixels, stored: Mapping[str, Any]) -> bool:
        view, expected = self._scan.views[picture.name], None
        if self._painter is not None:
            expected = self._painter(stored)
        elif view.load_encoded is not None and view.load_encoded() == picture.encoded:
            return True
        elif view.load_color is not None:
            expected = view.load_color()
        if expected is None or pixels.shape != expected.shape:
            return False
        return bool(np.abs(pixels.astype(int) - expected).mean() <= SETTINGS.max_pixel_difference)


def photo_problem(photo: Pixels) -> str | None:
    """Why a photo (H, W, 3) cannot be used: it is blurred, or badly exposed; SEMANTICS 7. None where nothing is."""
    grey = photo.astype(np.float64) @ (0.299, 0.587, 0.114)
    step = SETTINGS.shrink
    rows, columns = (size // step for size in grey.shape)
    small = grey[: rows * step, : columns * step].reshape(rows, step, columns, step).mean(axis=(1, 3))
    (dark, bright), (low, high) = SETTINGS.dark_and_bright, SETTINGS.mean_level
    lost = max(float((small < dark).mean()), float((small > bright).mean()))
    if not low <= small.mean() <= high or lost > SETTINGS.max_lost_share:
        return f"is badly exposed: mean grey {small.mean():.0f}, {lost:.2f} of it shows nothing"
    if min(small.shape) > 2 and laplace(small)[1:-1, 1:-1].var() < SETTINGS.min_laplacian_variance:
        return f"is blurred: the Laplacian's variance is {laplace(small)[1:-1, 1:-1].var():.1f}"
    return None
