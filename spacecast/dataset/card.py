"""The dataset card: a YAML head for loaders, then what the dataset holds, for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

_HEAD = """---
configs:
- config_name: default
  data_files:
  - split: test
    path: data/test-*.parquet
language:
- {language}
task_categories:
- visual-question-answering
pretty_name: {name}
---
"""

_PICTURES = {
    "photos": "Pictures are the scans' photos; their bytes are unchanged where they need no undistortion.",
    "render": "Pictures are rendered from the scans' meshes at the poses of their cameras; none is a photo.",
}


def card_of(manifest: Mapping[str, Any]) -> str:
    """README.md of a dataset, from its manifest alone."""
    suite = manifest["versions"]["suite"]
    counts = manifest["counts"]
    parts = [
        _HEAD.format(language=manifest["language"], name=f"{suite['name']} questions"),
        f"# {suite['name']} {suite['version']}\n",
        f"{manifest['questions']} questions in {len(counts['by_scene'])} scenes about where things are in a scanned "
        "room and how that changes. Every answer is computed from the scan; what was not certain was not asked "
        "(`rejections.parquet` says how often, and why).\n",
        f"{_PICTURES[manifest['pictures']]} They come from scans that have their own terms, which hold for this "
        "dataset too.\n",
        f"Made by spacecast {manifest['versions']['spacecast']} with seed {manifest['seed']}; settings, versions, "
        "input hashes and the hash of every shard are in `release_manifest.json`.\n",
        "## Load\n",
        '```python\nfrom datasets import load_dataset\nrows = load_dataset("parquet", '
        'data_files={"test": "data/test-*.parquet"}, split="test")\n```\n',
        "`source_record_json` holds the facts of a question (`facts`: objects, cameras, frame, intervention, relation "
        "before and after, margins): direction, attachment and rotation answers can be computed again from them.\n",
        "## Questions\n",
        _table(("category", "questions", "right answers", "letters"), _by_type(manifest)),
        _table(("level", "questions"), counts["by_level"].items()),
        _table(("dataset", "questions", "scenes", "questions per scene"), _by_dataset(manifest)),
        _release(manifest),
        "## How they are spread\n",
        _table(("pictures", "questions"), counts["by_images"].items()),
        _table(("category", "pictures", "wrong options by mistake"), _spread(manifest, ("images", "tags"))),
    ]
    told = _spread(manifest, ("direction", "distance_m", "angle_deg", "sense", "follow"))
    told = [row for row in told if any(row[1:])]
    if told:
        head = ("category", "directions", "distances in metres", "angles in degrees", "sense", "objects that go along")
        parts.append(_table(head, told))
    if manifest["changes"]:
        parts.append(
            _table(
                ("category about a change", "answers it leaves as they were", "also asked before the change"),
                [(name, entry["unchanged"], entry["twins"]) for name, entry in manifest["changes"].items()],
            )
        )
    if manifest["unmet"]:
        parts.append("## What the scans did not allow\n")
        parts.append(
            _table(
                ("category", "from", "wanted", "chosen", "candidates", "left out", "refused most"),
                [
                    (
                        f"{entry['level']} / {entry['name']}",
                        entry["dataset"] or "all",
                        entry["wanted"],
                        entry["chosen"],
                        entry["candidates"],
                        _listed(entry["against"].items()),
                        _listed(entry["refused_most"]),
                    )
                    for entry in manifest["unmet"]
                ],
            )
        )
    if manifest["failures"]:
        parts += ["## Scenes that could not be used\n", *(f"- {line}\n" for line in manifest["failures"])]
    return "\n".join(parts)


_SAID = {"query_occluded": "the one asked about is occluded", "reference_occluded": "the other one is occluded"}
"""Values that are not words themselves."""


def _by_type(manifest: Mapping[str, Any]) -> list[tuple[str, int, str, str]]:
    return [
        (
            category,
            count,
            _listed((_SAID.get(value, value), n) for value, n in manifest["balance"][category]["values"].items()),
            _listed(manifest["balance"][category]["letters"].items()),
        )
        for category, count in manifest["counts"]["by_type"].items()
    ]


def _by_dataset(manifest: Mapping[str, Any]) -> list[tuple[str, int, int, str]]:
    """With least, median and largest number of questions in a scene."""
    counts = manifest["counts"]
    found = []
    for dataset, questions in counts["by_dataset"].items():
        own = sorted(n for scene, n in counts["by_scene"].items() if scene.startswith(f"{dataset}-"))
        found.append((dataset, questions, len(own), f"{own[0]} to {own[-1]}, median {median(own):g}"))
    return found


def _release(manifest: Mapping[str, Any]) -> str:
    """Whether this is the whole release, in one paragraph."""
    said = manifest["published"]
    parts = (("by_type", "per category"), ("by_dataset", "per dataset"), ("scenes", "of scenes"))
    other = [words for name, words in parts if said[name] and not said[f"{name}_equal"]]
    if not other:
        return "These are the numbers of the whole release.\n"
    return f"These are not the numbers of the whole release: other numbers {', '.join(other)}.\n"


def _spread(manifest: Mapping[str, Any], names: Sequence[str]) -> list[tuple[str, ...]]:
    return [
        (category, *(_listed(sorted(entry.get(name, {}).items(), key=_in_order)) for name in names))
        for category, entry in manifest["spread"].items()
    ]


def _in_order(pair: tuple[str, int]) -> tuple[float, str]:
    """Numbers as numbers."""
    try:
        return float(pair[0]), ""
    except ValueError:
        return 0.0, pair[0]


def _listed(pairs: Any) -> str:
    return ", ".join(f"{name} {count}" for name, count in pairs)


def _table(head: Sequence[str], rows: Any) -> str:
    lines = [_line(head), _line(["---"] * len(head)), *(_line(row) for row in rows)]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[Any]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
