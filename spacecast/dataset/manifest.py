"""``release_manifest.json`` and ``rejections.parquet``: what a dataset was made from, and what it is not."""

from __future__ import annotations

import dataclasses
import importlib
import math
import pkgutil
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import spacecast
from spacecast.dataset.rows import FACTS_SCHEMA, Row, plain
from spacecast.dataset.settings import BuildSettings
from spacecast.dataset.shards import Shard
from spacecast.dataset.tasks import Refused, SceneWork
from spacecast.dataset.types import Suite
from spacecast.files import write_whole

SCHEMA = "spacecast-release/1"
_ENGINE = ("frames", "scan", "geometry", "scene", "sight", "relations", "views", "dataset")
_OF_VERIFICATION = (
    *("askable", "audit", "chain_facts", "chain_sight", "coherence", "distractors", "findings", "gaps", "plausible"),
    *("recompute", "remeasure", "rescan", "shadows", "together", "verify", "walkable"),
)
_OF_RUNNING = ("pool",)
_NOT_OF_A_BUILD = frozenset(f"spacecast.dataset.{name}" for name in (*_OF_VERIFICATION, *_OF_RUNNING))


class Unmet(NamedTuple):
    """A type that has fewer questions than were wanted."""

    level: str
    name: str
    type_code: str
    dataset: str
    """Whose share was not met; empty where the type has too few in all."""
    wanted: int
    chosen: int
    candidates: int
    against: dict[str, int]
    """What stood against the other candidates: reason -> how many."""
    refused_most: tuple[tuple[str, int], ...]
    """Reasons that refused most before there were candidates: ``stage/reason`` and how many."""

    def __str__(self) -> str:
        where = f" from {self.dataset}" if self.dataset else ""
        parts = [f"{self.level} / {self.name}{where}: {self.chosen} of {self.wanted}", f"{self.candidates} candidates"]
        if self.against:
            parts.append("left out: " + ", ".join(f"{reason} {count}" for reason, count in self.against.items()))
        if self.refused_most:
            parts.append("refused most: " + ", ".join(f"{reason} {count}" for reason, count in self.refused_most))
        return "; ".join(parts)


def versions_of(suite: Suite) -> dict[str, Any]:
    """Versions of code, suite, types and wording."""
    return {
        "spacecast": spacecast.__version__,
        "suite": {"name": suite.name, "version": suite.version},
        "types": {kind.code: kind.version for kind in suite.types},
        "wording": suite.wording_version,
        "facts": FACTS_SCHEMA,
    }


def settings_of_modules(packages: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Every module's ``SETTINGS``, by module name: of the engine up to the dataset, and of other packages.

    Args:
        packages: names of the packages that read the scans and ask the questions; their modules, not their
            subpackages, are looked into.
    """
    names: set[str] = set()
    for floor in _ENGINE:
        names |= _modules(f"spacecast.{floor}", deep=True)
    for package in packages:
        names |= _modules(package, deep=False)
    found = {}
    for name in sorted(names - _NOT_OF_A_BUILD):
        settings = getattr(importlib.import_module(name), "SETTINGS", None)
        if dataclasses.is_dataclass(settings) and not isinstance(settings, type):
            found[name] = {key: _shown(value) for key, value in sorted(dataclasses.asdict(settings).items())}
    return found


def _modules(name: str, *, deep: bool) -> set[str]:
    module = importlib.import_module(name)
    names = {name}
    for entry in pkgutil.iter_modules(getattr(module, "__path__", ()), f"{name}."):
        names |= _modules(entry.name, deep=True) if deep else (set() if entry.ispkg else {entry.name})
    return names


def _shown(value: Any) -> Any:
    """Settings are not facts: every digit is kept, and what is no JSON is shown as text."""
    if isinstance(value, set | frozenset):
        return sorted(_shown(entry) for entry in value)
    if isinstance(value, Mapping):
        return {str(key): _shown(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


def manifest_of(
    *,
    settings: BuildSettings,
    suite: Suite,
    packages: Sequence[str],
    rows: Collection[Row],
    shards: Sequence[Shard],
    scenes: Mapping[str, SceneWork],
    failures: Sequence[str],
    unmet: Sequence[Unmet],
    rooms: Sequence[str],
    passed_over: Sequence[str],
    evidence: Mapping[str, str],
) -> dict[str, Any]:
    """The manifest as a value; nothing in it depends on time, machine, path or number of workers."""
    per_scene = Counter(f"{row.dataset}-{row.scene_id}" for row in rows)
    manifest: dict[str, Any] = {
        "schema": SCHEMA,
        "build": settings.shown(),
        "seed": settings.seed,
        "pictures": settings.pictures,
        "language": settings.language,
        "versions": versions_of(suite),
        "questions": len(rows),
        "counts": counts_of(rows),
        "published": published_of(suite, rows),
        "rooms": list(rooms),
        "balance": balance_of(rows),
        "spread": spread_of(rows),
        "changes": changes_of(rows),
        "limits": {
            "max_shares": [list(rule) for rule in suite.max_shares],
            "max_unchanged": {rule.type_code: rule.share for rule in suite.max_unchanged},
        },
        "margins": margins_of(rows),
        "shards": [shard._asdict() for shard in shards],
        "scenes": {
            key: {
                "questions": per_scene[key],
                "candidates": work.candidates,
                "is_aligned": work.is_aligned,
                "problems": work.problems,
                "inputs": work.inputs,
            }
            for key, work in sorted(scenes.items())
        },
        "problems": _summed(work.problems for work in scenes.values()),
        "failures": sorted(failures),
        "passed_over": list(passed_over),
        "unmet": [{**entry._asdict(), "refused_most": [list(pair) for pair in entry.refused_most]} for entry in unmet],
        "settings": settings_of_modules(packages),
    }
    if evidence:
        manifest["evidence"] = dict(sorted(evidence.items()))
    shown: dict[str, Any] = plain(manifest)
    return shown


def counts_of(rows: Collection[Row]) -> dict[str, dict[str, int]]:
    """How many questions per level, type, dataset, scene, and number of pictures."""
    keys: dict[str, list[str]] = {
        "by_level": [row.level for row in rows],
        "by_type": [row.category for row in rows],
        "by_dataset": [row.dataset for row in rows],
        "by_dataset_and_type": [f"{row.dataset} / {row.category}" for row in rows],
        "by_scene": [f"{row.dataset}-{row.scene_id}" for row in rows],
        "by_images": [str(len(row.image_paths)) for row in rows],
    }
    return {name: dict(sorted(Counter(values).items())) for name, values in keys.items()}


def published_of(suite: Suite, rows: Collection[Row]) -> dict[str, Any]:
    """Are counts those of the suite's whole release, per category, per dataset, and in scenes: with both numbers."""
    categories = {kind.code: f"{kind.level} / {kind.name}" for kind in suite.types}
    here = Counter(row.category for row in rows)
    by_type = {
        categories[quota.type_code]: {"published": quota.questions, "here": here[categories[quota.type_code]]}
        for quota in suite.quotas
    }
    of_dataset = Counter(row.dataset for row in rows)
    scenes = Counter(dataset for dataset, _ in {(row.dataset, row.scene_id) for row in rows})
    published = {quota.dataset: quota for quota in suite.per_dataset}
    names = sorted({*published, *of_dataset}) if published else []
    by_dataset = {
        name: {"published": published[name].questions if name in published else 0, "here": of_dataset[name]}
        for name in names
    }
    by_scenes = {
        name: {"published": published[name].scenes if name in published else 0, "here": scenes[name]} for name in names
    }
    found: dict[str, Any] = {"by_type": by_type, "by_dataset": by_dataset, "scenes": by_scenes}
    for name, entries in list(found.items()):
        found[f"{name}_equal"] = all(entry["published"] == entry["here"] for entry in entries.values())
    return found


def balance_of(rows: Collection[Row]) -> dict[str, dict[str, dict[str, int]]]:
    """Per type: how often each letter (set of letters) and each value is right."""
    found: dict[str, dict[str, Counter[str]]] = {}
    for row in rows:
        entry = found.setdefault(row.category, {"letters": Counter(), "values": Counter()})
        entry["letters"][",".join(row.answer)] += 1
        value = f"{len(row.answer)} right" if row.multi_select else row.correct_values[0]
        entry["values"][value] += 1
    return {
        category: {name: dict(sorted(counter.items())) for name, counter in entry.items()}
        for category, entry in sorted(found.items())
    }


_STATED = ("direction", "distance_m", "angle_deg", "sense")
"""What is told of a change, as facts name it."""


def spread_of(rows: Collection[Row]) -> dict[str, dict[str, dict[str, int]]]:
    """Per type: how many questions show so many pictures, state a direction, distance, angle or sense, have so many
    objects go along with the one that is moved; and how many wrong options each mistake makes."""
    found: dict[str, dict[str, Counter[str]]] = {}
    for row in rows:
        entry = found.setdefault(row.category, {})
        change = row.facts.get("intervention") or {}
        values = {"images": str(len(row.image_paths))}
        values.update({name: str(change[name]) for name in _STATED if change.get(name) is not None})
        together = change.get("moved", change.get("removed"))
        if together is not None:
            values["follow"] = str(len(together) - 1)
        for name, value in values.items():
            entry.setdefault(name, Counter())[value] += 1
        tags = [option["tag"] for option in row.facts.get("options", ()) if option["tag"] is not None]
        entry.setdefault("tags", Counter()).update(tags)
    return {
        category: {name: dict(sorted(counter.items())) for name, counter in sorted(entry.items())}
        for category, entry in sorted(found.items())
    }


def changes_of(rows: Collection[Row]) -> dict[str, dict[str, int]]:
    """Per type about a change: how many answers it leaves as they were, and how many twins are asked too."""
    found: dict[str, Counter[str]] = {}
    for row in rows:
        if row.relation_unchanged is None:
            continue
        twin = row.facts.get("twin") or {}
        entry = found.setdefault(row.category, Counter(unchanged=0, twins=0))
        entry["unchanged"] += row.relation_unchanged
        entry["twins"] += twin.get("question_uid") is not None
    return {category: dict(counts) for category, counts in sorted(found.items())}


def margins_of(rows: Collection[Row]) -> dict[str, dict[str, dict[str, float]]]:
    """Per type and margin: how many questions record it, least, median and largest."""
    values: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        for name, value in row.facts.get("margins", {}).items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                values.setdefault(row.category, {}).setdefault(name, []).append(float(value))
    return {
        category: {
            name: {
                "count": len(numbers),
                "least": round(min(numbers), 4),
                "median": round(float(np.median(numbers)), 4),
                "largest": round(max(numbers), 4),
            }
            for name, numbers in sorted(margins.items())
        }
        for category, margins in sorted(values.items())
    }


def _summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for entry in counts:
        total.update(entry)
    return dict(sorted(total.items()))


_REJECTIONS = pa.schema(
    [
        ("dataset", pa.string()),
        ("scene_id", pa.string()),
        ("type", pa.string()),
        ("stage", pa.string()),
        ("reason", pa.string()),
        ("count", pa.int64()),
        ("examples", pa.list_(pa.string())),
    ]
)


def write_rejections(rejections: Mapping[tuple[str, str], Sequence[Refused]], path: Path) -> None:
    """One row per (scene, type, stage, reason).

    Args:
        rejections: by dataset and scene id; type ``*`` is what refused views or objects to every type.
        path: of the Parquet file.
    """
    rows = [
        {
            "dataset": dataset,
            "scene_id": scene_id,
            "type": refused.type_code,
            "stage": refused.stage,
            "reason": refused.reason,
            "count": refused.times,
            "examples": list(refused.examples),
        }
        for (dataset, scene_id), entries in sorted(rejections.items())
        for refused in sorted(entries)
    ]
    with write_whole(path) as aside:
        pq.write_table(pa.Table.from_pylist(rows, schema=_REJECTIONS), aside)
