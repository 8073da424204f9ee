"""Attachment, supports and boxes of demo scans against what their generator knows.

    python benchmarks/attachment_truth.py ROOT [--verbose]

ROOT is a folder that ``spacecast demo`` wrote. Prints precision and recall of the certain edges, and how far boxes are
from those of the labelled vertices before noise. Exit status 1 where precision is below 1.00, recall below 0.95, or a
box is off by more than 3 cm.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from scannet_tools.scannet import READER
from spacecast.scene import Scene

MIN_PRECISION, MIN_RECALL, MAX_BOX_M = 1.0, 0.95, 0.03


@dataclass
class Comparison:
    """One or several scenes against their truth. Lines name what differs."""

    right: int = 0
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    possible: int = 0
    other_kind: list[str] = field(default_factory=list)
    other_support: list[str] = field(default_factory=list)
    off_box: list[str] = field(default_factory=list)
    largest_box_m: float = 0.0
    kinds: Counter[str] = field(default_factory=Counter)

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + len(self.wrong))

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + len(self.missed))

    @property
    def is_good(self) -> bool:
        good = self.precision >= MIN_PRECISION and self.recall >= MIN_RECALL
        return good and self.largest_box_m <= MAX_BOX_M


def compare(scene: Scene, truth: dict, into: Comparison) -> None:
    """Add one scene's comparison."""

    def name(number: int) -> str:
        return f"{scene.objects[number].label} {number}" if number in scene.objects else f"(gone) {number}"

    def edge(parent: int, child: int) -> str:
        how = scene.attachment.get_edge_data(parent, child)
        said = f"{how['certainty']} {how['kind']} {how['score']:.2f}" if how else "no edge"
        return f"{scene.scene_id}: {name(child)} on {name(parent)} ({said})"

    true = {(row["parent"], row["child"]): row["kind"] for row in truth["attachment"]}
    found = {(p, c): d["kind"] for p, c, d in scene.attachment.edges(data=True) if d["certainty"] == "certain"}
    held = {child for _, child in found}
    into.possible += sum(d["certainty"] == "possible" for _, _, d in scene.attachment.edges(data=True))
    into.right += len(true.keys() & found.keys())
    into.wrong += [edge(*pair) for pair in sorted(found.keys() - true.keys())]
    into.missed += [f"{edge(*pair)} truth {true[pair]}" for pair in sorted(true.keys() - found.keys())]
    for pair in sorted(true.keys() & found.keys()):
        into.kinds[true[pair]] += 1
        if true[pair] != found[pair]:
            into.other_kind.append(f"{edge(*pair)} truth {true[pair]}")
    for row in truth["objects"]:
        item = scene.objects.get(row["id"])
        if item is None:
            continue
        if item.support is None:
            continue
        support = "object" if item.id in held and item.support.kind == "none" else str(item.support.kind)
        if row["support"] != support:
            into.other_support.append(f"{scene.scene_id}: {name(item.id)} {support} truth {row['support']}")
        off = max(np.abs(item.aabb.min - row["min"]).max(), np.abs(item.aabb.max - row["max"]).max())
        into.largest_box_m = max(into.largest_box_m, float(off))
        if off > MAX_BOX_M:
            into.off_box.append(f"{scene.scene_id}: {name(item.id)} off by {off:.3f} m")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", type=Path)
    parser.add_argument("--verbose", action="store_true", help="name what differs")
    given = parser.parse_args()
    total, scenes = Comparison(), 0
    for folder in READER.find(given.root).values():
        truth_file = folder / "truth.json"
        if truth_file.is_file():
            compare(Scene.from_scan(READER.read(folder)), json.loads(truth_file.read_text()), total)
            scenes += 1
    if not scenes:
        print(f"{given.root}: no scan with a truth.json; write some with: spacecast demo {given.root}", file=sys.stderr)
        return 2
    print(f"{scenes} scenes, {total.right + len(total.missed)} true edges {dict(sorted(total.kinds.items()))}")
    print(f"certain edges: precision {total.precision:.3f}, recall {total.recall:.3f}; {total.possible} possible")
    print(f"boxes of what is not structure: largest difference {total.largest_box_m * 100:.1f} cm")
    print(f"kinds that differ: {len(total.other_kind)}; supports that differ: {len(total.other_support)}")
    if given.verbose:
        for title in ("wrong", "missed", "other_kind", "other_support", "off_box"):
            print(title, *getattr(total, title), sep="\n  ")
    return 0 if total.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
