"""``spacecast check``: what is there under a root, and what is missing or broken, scene by scene.

Every scene is read by the reader that will read it for a build, and then pictures are opened as a build opens them:
what a build would meet is what is named here. Of a long walk the pictures of some frames are opened, evenly spread, and
the table says of how many; ``--full`` opens all. Where a root holds many scenes, those with nothing broken are counted,
so that what is wrong stands on one screen; ``--all`` names everything.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.progress import track
from rich.table import Table
from tyro.conf import Positional

from scannet_tools.labels import is_known
from scannet_tools.opened import SETTINGS as OPENING
from scannet_tools.opened import open_pictures
from scannet_tools.scannetpp import READER as SCANNETPP
from scannet_tools.scannetpp_lists import ScanNetppLists, find_lists
from spacecast.errors import SpacecastError
from spacecast.registry import find_scans
from spacecast.scan import Problem, Reader, Scan, SceneStatus


class Cost(NamedTuple):
    """What a kind of problem costs, and whether it means that a file is broken: then the exit status is 1."""

    text: str
    is_broken: bool = False


COSTS = {
    "unreadable": Cost("the scene: nothing can be asked in it", True),
    "lost_pose": Cost("the frame"),
    "missing_pose": Cost("the frame"),
    "missing_photo": Cost("the photo: its view can only be rendered (--pictures render)"),
    "broken_photo": Cost("the frame", True),
    "photo_aspect": Cost("the frame", True),
    "resized_photos": Cost("nothing: intrinsics are scaled"),
    "missing_depth": Cost("the check of occlusions against sensor depth in that view"),
    "broken_depth": Cost(
        "the check of occlusions against sensor depth there, or the frame if it cannot be opened", True
    ),
    "no_depth": Cost("the check of occlusions against sensor depth"),
    "no_frames": Cost("all questions: there is no picture to ask about"),
    "broken_sens": Cost("all frames of the scene", True),
    "cut_short": Cost("the frame", True),
    "unread_bytes": Cost("frames that the head of the stream does not count, if there are any", True),
    "no_camera": Cost("the frames or the depth of that camera, unless a size was taken from pictures", True),
    "not_aligned": Cost("world questions: north is not known"),
    "no_labels": Cost("all questions: geometry only"),
    "no_label_map": Cost("classes and synonyms of labels: only our own groups say what one name could mean"),
    "unknown_label": Cost("nothing, unless it is another word for something in its scene; questions in Chinese"),
    "broken_label_map": Cost("as no_label_map", True),
    "no_colors": Cost("colour of rendered views"),
    "broken_object": Cost("the object", True),
    "empty_object": Cost("the object", True),
    "shares_vertices": Cost("questions about the object"),
    # ScanNet++
    "bad_frame": Cost("the frame"),
    "unstored_photo": Cost("the frame"),
    "poses_disagree": Cost("the frame", True),
    "broken_listing": Cost("frames that no other file of poses lists", True),
    "broken_lists": Cost("nothing in questions: which scenes or photos are for training is not known", True),
    "broken_video": Cost("the iPhone's frames, unless they are extracted", True),
    "no_video_reader": Cost("the iPhone's frames, until PyAV is installed or they are extracted"),
    "no_dslr": Cost("the DSLR's photos: the iPhone's frames are asked about"),
    "same_name": Cost("the iPhone's frame", True),
    "obb_disagrees": Cost("nothing: boxes come from vertices"),
    "not_upright": Cost("all questions: the mesh is not the aligned one", True),
}
_UNKNOWN = Cost("see the reader that names it", True)

_COLUMNS = ("vertices", "faces", "objects", "frames", "photos", "depth", "aligned", "labels")
_MORE_COLUMNS = ("benchmark", "splits", "opened")
"""Of ScanNet++ roots with lists: objects whose class a benchmark counts, and the splits that the scene is in. Of long
walks: how many frames' pictures were opened."""


@dataclass(frozen=True)
class CheckSettings:
    """How much is printed."""

    examples: int = 3
    """Problems of one kind in one scene that are named without --all."""
    max_rows: int = 20
    """With more scenes than this, those with nothing broken have no row without --all, and of the others what is
    broken is named."""
    width: int = 160
    """Columns of the table where the output is no terminal."""


SETTINGS = CheckSettings()


@dataclass(frozen=True)
class Check:
    """Say what scans hold, and what is missing or broken, a row per scene. Exit status 1 if a file is broken."""

    root: Positional[Path]
    """Folder that holds the scans, or one scene's folder."""
    all: bool = False
    """Name every scene and every problem, not the first few of each kind."""
    full: bool = False
    """Open the pictures of all frames, not of some that are spread over the walk."""
    cameras: str | None = None
    """Whose pictures, of scans with several cameras, as in spacecast build."""
    quiet: bool = False
    """No progress bar."""

    def run(self) -> int:
        """Print a row per scene, what is wrong, and what it costs."""
        found = find_scans(self.root, self.cameras)
        hidden = self.quiet or not sys.stderr.isatty()
        scenes = track(found.items(), "checking", console=Console(stderr=True), disable=hidden, transient=True)
        lists = _all_lists([path for reader, path in found.values() if reader.name == SCANNETPP.name])
        opened = None if self.full else OPENING.max_views
        statuses = [
            status_of(scene_id, reader, path, lists.get(path.parent), opened=opened)
            for scene_id, (reader, path) in scenes
        ]
        limit = None if self.all else SETTINGS.examples
        print_statuses(statuses, limit=limit)
        for one in dict.fromkeys(lists.values()):
            print_lists(one, set(found), limit=limit)
        kinds = {problem.kind for of in (statuses, lists.values()) for one in of for problem in one.problems}
        return 1 if any(cost_of(kind).is_broken for kind in kinds) else 0


def status_of(
    scene_id: str,
    reader: Reader,
    path: Path,
    lists: ScanNetppLists | None = None,
    *,
    opened: int | None = OPENING.max_views,
) -> SceneStatus:
    """What one scene holds; a scene that cannot be read is a status too.

    Args:
        scene_id: its id.
        reader: of its layout.
        path: its folder.
        lists: the splits and class lists of its root, if there are any.
        opened: of how many frames the pictures are opened; None: of all.
    """
    try:
        scan = reader.read(path)
    except SpacecastError as error:
        return SceneStatus(scene_id, path, {}, (Problem("unreadable", scene_id, str(error)),), readable=False)
    facts = _facts(scan)
    if lists is not None and lists.classes:
        facts["benchmark"] = str(sum(lists.is_benchmark_class(instance) for instance in scan.instances.values()))
    if lists is not None and lists.splits:
        facts["splits"] = ", ".join(lists.splits_of(scene_id)) or "none"
    pictures = open_pictures(scan, max_views=opened)
    if pictures.passed_over:
        facts["opened"] = str(pictures.views)
    more = [problem.in_one_line() for problem in (*pictures.problems, *_unknown_labels(scan))]
    problems = (*scan.problems, *more)
    return SceneStatus(scene_id, path, facts, problems, readable=True)


def _unknown_labels(scan: Scan) -> list[Problem]:
    """A problem for each label that neither a table of ours nor a label map knows anything of."""
    counts = Counter(
        instance.label
        for instance in scan.instances.values()
        if not (instance.class_group or instance.category or instance.synset or is_known(instance.label))
    )
    detail = "no table and no label map knows it; what else it could mean is not known"
    return [Problem("unknown_label", label, f"{detail} ({count} here)") for label, count in sorted(counts.items())]


def print_lists(lists: ScanNetppLists, here: set[str], *, limit: int | None) -> None:
    """How many scenes of each split are among those checked, and what is wrong with lists.

    Args:
        lists: of one root.
        here: ids of the scenes that were found.
        limit: how many problems are named; None: all.
    """
    console = Console(width=None if sys.stdout.isatty() else SETTINGS.width)
    lines = [
        f"split {name}: {len(here.intersection(ids))} of {len(ids)} scenes are here"
        for name, ids in lists.splits.items()
    ]
    lines += [f"{p.kind}: {p.subject}: {p.detail}" for p in lists.problems[:limit]]
    if limit is not None and len(lists.problems) > limit:
        lines.append(f"and {len(lists.problems) - limit} more; --all names them")
    for line in ("", *lines):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _all_lists(paths: Iterable[Path]) -> dict[Path, ScanNetppLists]:
    """The lists of each folder that scenes lie in (``data/``), where its root has any."""
    folders = {path.parent: path for path in paths}
    return {folder: lists for folder, path in folders.items() if (lists := find_lists(path)) is not None}


def cost_of(kind: str) -> Cost:
    """What a kind of problem costs."""
    return COSTS.get(kind, _UNKNOWN)


def print_statuses(statuses: Sequence[SceneStatus], *, limit: int | None) -> None:
    """The table of scenes, the problems by name (up to ``limit`` of a kind in a scene), and what each kind costs.

    Of more than ``SETTINGS.max_rows`` scenes only those with something broken are in the table, unless ``limit`` is
    None.
    """
    console = Console(width=None if sys.stdout.isatty() else SETTINGS.width)
    folded = limit is not None and len(statuses) > SETTINGS.max_rows
    shown = [status for status in statuses if not folded or _is_broken(status)]
    if shown:
        console.print(_scene_table(shown))
    if folded:
        print(_total(statuses, len(statuses) - len(shown)))
    problems = [problem for status in statuses for problem in status.problems]
    if not problems:
        console.print(f"\n{len(statuses)} scenes, nothing missing or broken")
        return
    console.print()
    for status in shown:
        for line in _lines(status, limit, only_broken=folded):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    console.print()
    console.print(_cost_table(statuses))


def _facts(scan: Scan) -> dict[str, str]:
    views = scan.views.values()
    values = (
        len(scan.vertices),
        len(scan.faces),
        len(scan.instances),
        len(views),
        sum(view.has_photo for view in views),
        sum(view.load_depth is not None for view in views),
        "yes" if scan.is_aligned else "no",
        "yes" if scan.has_labels else "no",
    )
    return dict(zip(_COLUMNS, map(str, values), strict=True))


def _scene_table(statuses: Sequence[SceneStatus]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("scene", no_wrap=True)
    more = [column for column in _MORE_COLUMNS if any(column in status.facts for status in statuses)]
    for column in (*_COLUMNS, *more):
        table.add_column(column, justify="right", overflow="fold")
    table.add_column("missing or broken", overflow="fold")
    for status in statuses:
        counts = Counter(problem.kind for problem in status.problems)
        wrong = ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items()))
        if not status.readable:
            wrong = "cannot be read"
        table.add_row(
            escape(status.scene_id), *(escape(status.facts.get(c, "-")) for c in (*_COLUMNS, *more)), escape(wrong)
        )
    return table


def _is_broken(status: SceneStatus) -> bool:
    return any(cost_of(problem.kind).is_broken for problem in status.problems)


def _total(statuses: Sequence[SceneStatus], left_out: int) -> str:
    sums = {
        column: sum(int(status.facts[column]) for status in statuses if column in status.facts)
        for column in ("objects", "frames", "photos", "depth")
    }
    counts = ", ".join(f"{count} {column}" for column, count in sums.items())
    return f"{len(statuses)} scenes ({counts}); in {left_out} nothing is broken; --all names them all"


def _lines(status: SceneStatus, limit: int | None, *, only_broken: bool = False) -> list[str]:
    by_kind: dict[str, list[Problem]] = {}
    for problem in status.problems:
        if only_broken and not cost_of(problem.kind).is_broken:
            continue
        by_kind.setdefault(problem.kind, []).append(problem)
    lines = []
    for kind, problems in sorted(by_kind.items()):
        shown = problems if limit is None else problems[:limit]
        lines += [f"{status.scene_id} {kind}: {problem.subject}: {problem.detail}" for problem in shown]
        if len(problems) > len(shown):
            lines.append(f"{status.scene_id} {kind}: and {len(problems) - len(shown)} more; --all names them")
    return lines


def _cost_table(statuses: Sequence[SceneStatus]) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in ("kind", "count", "scenes"):
        table.add_column(column, justify="left" if column == "kind" else "right")
    table.add_column("what it costs", overflow="fold")
    counts = Counter(problem.kind for status in statuses for problem in status.problems)
    for kind, count in sorted(counts.items()):
        scenes = sum(any(problem.kind == kind for problem in status.problems) for status in statuses)
        table.add_row(escape(kind), str(count), str(scenes), cost_of(kind).text)
    return table
