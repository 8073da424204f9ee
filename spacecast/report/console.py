"""What the command line prints: tables for people."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

if TYPE_CHECKING:
    from spacecast.dataset.build import BuildReport, ShardReport
    from spacecast.dataset.findings import Finding
    from spacecast.relations import Answer
    from spacecast.scene import Scene

MAX_FINDINGS = 30
"""Findings that are printed; the rest is counted."""
MAX_NAMES = 12
"""Objects that are named in one line; the rest is counted."""
PIPE_WIDTH = 140
"""Columns where no terminal says how wide it is."""


def _console() -> Console:
    """As wide as the terminal; into a file or a pipe, wide enough that no row breaks."""
    return Console() if sys.stdout.isatty() else Console(width=PIPE_WIDTH)


def _table(title: str, *columns: str, right: Sequence[str] = ()) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return table


def print_scene(scene: Scene) -> None:
    """Objects with their boxes, and who carries whom."""
    console = _console()
    objects = _table(
        f"{scene.dataset} {scene.scene_id}: {len(scene.objects)} objects, centre and size in world, metres",
        *("id", "label", "centre", "size", "stands on", "not asked about, because"),
        right=("id",),
    )
    for item in scene.objects.values():
        support = item.support
        objects.add_row(
            str(item.id),
            escape(item.label),
            " ".join(f"{value:6.2f}" for value in item.center_in_world),
            " ".join(f"{value:5.2f}" for value in item.aabb.max - item.aabb.min),
            "" if item.is_structure or support is None else support.kind,
            escape(item.why_not_asked or ""),
        )
    console.print(objects)
    console.print()
    graph = scene.attachment
    tree = Tree("who carries whom")
    roots = [node for node in sorted(graph.nodes) if graph.out_degree(node) and not graph.in_degree(node)]
    for root in roots:
        _add_carried(tree, scene, root, "", set())
    console.print(tree if roots else "nothing carries anything")


def _add_carried(tree: Tree, scene: Scene, node: int, note: str, above: set[int]) -> None:
    branch = tree.add(escape(f"{scene.objects[node].label} {node}{note}"))
    for _, child, edge in sorted(scene.attachment.out_edges(node, data=True), key=lambda e: e[1]):
        if child not in above:  # possible edges may form a cycle
            _add_carried(branch, scene, child, f"  ({edge['kind']}, {edge['certainty']})", above | {node})


def print_change(before: Scene, after: Scene, what: str) -> None:
    """What was done, and which objects moved or went."""
    poses = {i: item.world_from_object for i, item in before.objects.items()}
    moved = [i for i, item in after.objects.items() if item.world_from_object is not poses[i]]
    gone = [i for i in before.objects if i not in after.objects]
    print(f"after {what}:")
    for word, ids in (("moved", moved), ("gone", gone)):
        names = [f"{before.objects[i].label} {i}" for i in ids[:MAX_NAMES]]
        if names:
            more = f" and {len(ids) - MAX_NAMES} more" if len(ids) > MAX_NAMES else ""
            print(f"  {word}: {', '.join(names)}{more}")


def print_answer(scene: Scene, answer: Answer) -> None:
    """The value, the numbers behind it, and what makes it uncertain."""
    value = answer.value
    if isinstance(value, tuple):
        value = ", ".join(f"{scene.objects[i].label} {i}" for i in value) or "nothing"
    print("no value" if value is None else value)
    for name, number in sorted({**answer.numbers, **answer.margins}.items()):
        print(f"  {name} = {number:.4g}" if isinstance(number, float) else f"  {name} = {number}")
    print("  certain" if answer.certain else f"  not certain: {', '.join(answer.reasons)}")


def print_build(report: BuildReport, out: Path) -> None:
    """Counts per type, and what was refused most."""
    console = _console()
    counts = _table(f"{out}: {report.questions} questions in {report.scenes} scenes", "level", "type", "questions")
    for (level, name), count in report.by_type.items():
        counts.add_row(level, name, str(count))
    console.print(counts)
    for line in report.unmet:
        console.print(f"  {line}", markup=False, highlight=False)


def print_shard(report: ShardReport) -> None:
    """What a shard holds, in one line."""
    scenes = "scene" if report.scenes == 1 else "scenes"
    print(f"{report.path}: shard {report.share}: {report.candidates} candidates in {report.scenes} {scenes}")


def print_findings(findings: Sequence[Finding]) -> None:
    """What verification found, the first of them in full."""
    for finding in findings[:MAX_FINDINGS]:
        print(finding)
    if len(findings) > MAX_FINDINGS:
        print(f"... and {len(findings) - MAX_FINDINGS} more")
    print(f"{len(findings)} findings" if findings else "nothing found: every answer was computed again and holds")


def print_scores(report: Mapping[str, Any], *, title: str) -> None:
    """Accuracy in all and per type, beside chance."""
    console = _console()
    table = _table(
        f"{title}: accuracy in percent", "type", "n", "accuracy", "chance", right=("n", "accuracy", "chance")
    )
    for key, entry in report["by_type"].items():
        table.add_row(key, *_score_cells(entry))
    table.add_row("all questions", *_score_cells(report["overall"]))
    console.print(table)


def _score_cells(entry: Mapping[str, Any]) -> tuple[str, str, str]:
    return str(entry["count"]), f"{100 * entry['accuracy']:.1f}", f"{100 * entry['chance']:.1f}"
