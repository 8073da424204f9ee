"""The command line: dataclasses in, one call out.

A command is a frozen dataclass whose fields are its arguments, whose docstring is its help, and whose ``run`` returns
the exit status. Ours are below; others come through the entry points ``spacecast.commands``. Only the command that is
asked for is imported, so that help is instant.

Exit status: 0, 1 (work done, something is wrong with the data or the answers), 2 (cannot do it; one line on stderr).
"""

from __future__ import annotations

import ast
import difflib
import importlib.util
import inspect
import io
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import OmitArgPrefixes, OmitSubcommandPrefixes, Positional, UseAppendAction, arg

from spacecast.errors import SpacecastError, one_line

if TYPE_CHECKING:
    from rich.progress import Progress

    from spacecast.dataset.build import BuildReport
    from spacecast.relations import Answer
    from spacecast.scan import Scan
    from spacecast.scene import Scene as SceneValue

Frame = Literal["world", "camera", "object"]


@dataclass(frozen=True)
class Scene:
    """Show one scene: its objects, who carries whom, and a map from above."""

    root: Positional[Path]
    """Folder that holds the scans."""
    scene: Positional[str]
    """Scene id, for example scene0011_00."""
    cameras: str | None = None
    """Whose pictures, of scans with several cameras, as in spacecast build."""
    picture: Path | None = None
    """Write the map to this PNG file."""

    def run(self) -> int:
        """Print the scene."""
        from spacecast.report.console import print_scene
        from spacecast.scene import Scene as SceneValue

        scan = _open(self.root, self.scene, self.cameras)
        scene = SceneValue.from_scan(scan)
        print_scene(scene)
        if self.picture:
            from spacecast.sight import SceneColors, map_picture

            _save_picture(map_picture(scene, SceneColors.from_scan(scan), names=True), self.picture)
        return 0


@dataclass(frozen=True)
class Direction:
    """Where is the target from the reference?"""

    target: Positional[str]
    """Object id, or a label that only one object has."""
    reference: str
    """The object that the direction counts from."""
    frame: Frame = "world"
    """Whose front: north, the camera's, or the reference's own when it faces something."""
    view: str | None = None
    """Name of the view, for the camera's frame (and to face the camera)."""
    facing: str | None = None
    """Object that the reference faces, or 'camera'; for the object's frame."""

    def answer(self, scan: Scan, scene: SceneValue) -> Answer:
        """The direction, in words, with its angle."""
        from spacecast.relations import direction

        return direction(
            scene,
            _named(self.target),
            reference=_named(self.reference),
            frame=self.frame,
            view=scan.view(self.view) if self.view else None,
            facing=_named(self.facing) if self.facing else None,
        )


@dataclass(frozen=True)
class Distance:
    """How far are two objects apart, surface to surface?"""

    one: Positional[str]
    """Object id, or a label that only one object has."""
    other: Positional[str]
    """The other object."""

    def answer(self, scan: Scan, scene: SceneValue) -> Answer:
        """The distance's bin, with its metres."""
        from spacecast.relations import distance

        return distance(scene, _named(self.one), _named(self.other))


@dataclass(frozen=True)
class Occlusion:
    """Is the target hidden in a view?"""

    target: Positional[str]
    """Object id, or a label that only one object has."""
    view: str
    """Name of the view."""
    by: str | None = None
    """Ask of this object alone whether it hides the target, or the target hides it."""

    def answer(self, scan: Scan, scene: SceneValue) -> Answer:
        """The state of occlusion, with its shares."""
        from spacecast.relations import occlusion, pairwise_occlusion

        view = scan.view(self.view)
        if self.by:
            return pairwise_occlusion(scene, _named(self.target), _named(self.by), view=view)
        return occlusion(scene, _named(self.target), view=view)


@dataclass(frozen=True)
class Attachment:
    """What goes along when an object is moved?"""

    mover: Positional[str]
    """Object id, or a label that only one object has."""

    def answer(self, scan: Scan, scene: SceneValue) -> Answer:
        """Ids of what goes along."""
        from spacecast.relations import attachment

        return attachment(scene, _named(self.mover))


Relation = (
    Annotated[Direction, arg(name="direction")]
    | Annotated[Distance, arg(name="distance")]
    | Annotated[Occlusion, arg(name="occlusion")]
    | Annotated[Attachment, arg(name="attachment")]
)


@dataclass(frozen=True)
class Ask:
    """Answer one question about a scene, with the numbers behind the answer and what makes it uncertain."""

    root: Positional[Path]
    """Folder that holds the scans."""
    scene: Positional[str]
    """Scene id."""
    relation: OmitSubcommandPrefixes[OmitArgPrefixes[Relation]]
    """What to ask."""
    after: UseAppendAction[tuple[str, ...]] = ()
    """What is done first, for example 'move desk north 1.5', 'orbit chair around table 90 clockwise', 'remove lamp',
    'spin desk 45 clockwise' or 'turn layout 90'; several are done one after another, and it is asked after each."""
    cameras: str | None = None
    """Whose pictures, of scans with several cameras, as in spacecast build."""
    picture: Path | None = None
    """Write what the asked view sees (or else a map) to this PNG file; with --after, before and after."""
    map: Path | None = None
    """Write a map to this PNG file; with --after, before and after."""

    def run(self) -> int:
        """Print the answer."""
        from spacecast.report.console import print_answer, print_change
        from spacecast.scene import Scene as SceneValue
        from spacecast.scene.spoken import spoken

        scan = _open(self.root, self.scene, self.cameras)
        scene = SceneValue.from_scan(scan)
        steps = [spoken(text, lambda name: scan.view(name).world_from_camera) for text in self.after]
        print_answer(scene, self.relation.answer(scan, scene))
        states = [scene]
        for step in steps:
            states.append(states[-1].apply(step.intervention))
            print_change(states[-2], states[-1], step.text)
            print_answer(states[-1], self.relation.answer(scan, states[-1]))
        if self.picture or self.map:
            from spacecast.report.beside import before_and_after

            view = getattr(self.relation, "view", None)
            shown = (scene, states[-1]) if steps else (scene,)
            caption = ", ".join(step.text for step in steps)
            if self.picture:
                _save_picture(before_and_after(scan, shown, caption, scan.view(view) if view else None), self.picture)
            if self.map:
                _save_picture(before_and_after(scan, shown, caption), self.map)
        return 0


@dataclass(frozen=True)
class Build:
    """Build a benchmark: raw scans in, questions with answers out."""

    paths: Annotated[Positional[tuple[Path, ...]], arg(metavar="ROOT [ROOT ...] OUT")]
    """One or more folders that hold scans, then the folder to write."""
    suite: str = "spacecast"
    """Which questions: a suite that is registered under spacecast.suites."""
    questions: int | None = None
    """How many in all; by default as many as the suite has, or as the scans allow."""
    scenes: int | None = None
    """Use this many scenes, drawn by the seed, one scan of a room before its rescans; scenes that fail or give nothing
    are replaced by the next. By default all."""
    per_dataset: str | None = None
    """How the questions are shared out among datasets, for example scannet=718,scannetpp=3144; by default as published,
    where all scans are of these two. With --questions only their proportion counts. What one cannot give the others
    do; of a dataset with 0 no scan is read."""
    exclude: UseAppendAction[tuple[Path, ...]] = ()
    """Leave out every room that this dataset of questions uses; may be given several times."""
    seed: int = 0
    """The same seed, scans and settings give the same bytes."""
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    """Processes; one scene is one task."""
    scheduler: str | None = None
    """Address of a Dask scheduler, as tcp://login1:8786, whose workers do the scenes in place of --workers (start them
    with one thread each). Roots and OUT have to be visible to all of them under the same paths."""
    shard: str | None = None
    """Only the i-th of n parts of the scenes, as 2/5, without choosing questions: for batch systems, a folder OUT each,
    with the same roots and settings; spacecast merge makes the dataset of all."""
    cameras: str | None = None
    """Whose pictures, of scans with several cameras: of ScanNet++ dslr (by default), iphone or both. spacecast verify
    finds it in the manifest."""
    pictures: Literal["photos", "render"] = "photos"
    """Photos as they were taken, or pictures rendered from the mesh for every pose."""
    language: Literal["en", "zh"] = "en"
    """Language of questions and options."""
    resume: bool = False
    """Go on with an interrupted build in the same folder."""
    evidence: bool = False
    """Also write 3D metadata and a map for every question."""
    quiet: bool = False
    """No progress and no table; errors are still said."""

    def run(self) -> int:
        """Build; 1 where a scene failed."""
        from spacecast.dataset.build import BuildSettings, build, build_shard
        from spacecast.dataset.draw import rooms_of
        from spacecast.dataset.share import Share
        from spacecast.report.console import print_shard

        if len(self.paths) < 2:
            raise SpacecastError("give at least one folder with scans and then the folder to write")
        *roots, out = self.paths
        settings = BuildSettings(
            suite=self.suite,
            questions=self.questions,
            scenes=self.scenes,
            per_dataset=_counts(self.per_dataset),
            excluded_rooms=rooms_of(self.exclude),
            seed=self.seed,
            workers=self.workers,
            scheduler=self.scheduler,
            cameras=self.cameras,
            pictures=self.pictures,
            language=self.language,
            resume=self.resume,
            evidence=self.evidence,
        )
        with _progress(self.quiet) as progress:
            if self.shard is None:
                report = build(roots, out, settings, progress=progress)
            else:
                shard = build_shard(roots, out, Share.parse(self.shard), settings, progress=progress)
        if self.shard is None:
            return _built(report, self.quiet)
        if not self.quiet:
            print_shard(shard)
        return _failed(shard.failures)


@dataclass(frozen=True)
class Merge:
    """Make one dataset of the shards of a build, with the same bytes as a build in one go."""

    paths: Annotated[Positional[tuple[Path, ...]], arg(metavar="SHARD [SHARD ...] OUT")]
    """All folders that were built with --shard i/n, then the folder to write. The scans are not needed."""
    quiet: bool = False
    """No progress and no table; errors are still said."""

    def run(self) -> int:
        """Merge; 1 where a scene failed."""
        from spacecast.dataset.merge import merge

        if len(self.paths) < 2:
            raise SpacecastError("give the folders of all shards and then the folder to write")
        *shards, out = self.paths
        with _progress(self.quiet) as progress:
            report = merge(shards, out, progress=progress)
        return _built(report, self.quiet)


def _built(report: BuildReport, quiet: bool) -> int:
    from spacecast.report.console import print_build

    if not quiet:
        print_build(report, report.path)
    return _failed(report.failures)


def _failed(failures: Sequence[str]) -> int:
    """Say which scenes failed; the exit status."""
    for failure in failures:
        print(f"spacecast: {one_line(failure)}", file=sys.stderr)
    return 1 if failures else 0


@dataclass(frozen=True)
class Verify:
    """Compute every answer of a benchmark again, a second way, and look for what gives answers away."""

    benchmark: Positional[Path]
    """Folder of the dataset."""
    roots: Positional[tuple[Path, ...]] = ()
    """Folders with the raw scans: then boxes, distances and occlusions are checked against them too."""
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    """Processes; one scene is one task."""
    quiet: bool = False
    """No progress."""

    def run(self) -> int:
        """Print what was found; 1 where there is something."""
        from spacecast.dataset.verify import verify
        from spacecast.report.console import print_findings

        with _progress(self.quiet) as progress:
            findings = verify(self.benchmark, list(self.roots), progress=progress, workers=self.workers)
        print_findings(findings)
        return 1 if findings else 0


@dataclass(frozen=True)
class Evaluate:
    """Answer a benchmark with a baseline, and score it."""

    benchmark: Positional[Path]
    """Folder of the dataset."""
    out: Positional[Path]
    """Folder to write predictions.jsonl, report.json and per_question.jsonl to."""
    model: Literal["random", "majority", "oracle"] = "random"
    """random: a fair die; majority: the commonest answer of each type; oracle: computes from the facts alone."""
    seed: int = 0
    """For random."""

    def run(self) -> int:
        """Write predictions and scores, print the scores."""
        from spacecast.evaluation.baselines import evaluate_baseline
        from spacecast.report.console import print_scores

        print_scores(evaluate_baseline(self.benchmark, self.out, model=self.model, seed=self.seed), title=self.model)
        return 0


@dataclass(frozen=True)
class Score:
    """Score predictions: JSONL with question_uid and prediction or raw_response."""

    benchmark: Positional[Path]
    """Folder of the dataset."""
    predictions: Positional[Path]
    """JSONL file."""
    out: Positional[Path]
    """Folder to write report.json and per_question.jsonl to."""

    def run(self) -> int:
        """Write and print the scores."""
        from spacecast.evaluation.score import score
        from spacecast.report.console import print_scores

        print_scores(score(self.benchmark, self.predictions, self.out), title=self.predictions.name)
        return 0


@dataclass(frozen=True)
class Report:
    """Draw static pages to look at a benchmark and its scores."""

    benchmark: Positional[Path]
    """Folder of the dataset."""
    site: Positional[Path]
    """Folder to write; open index.html in it."""
    scores: tuple[Path, ...] = ()
    """Folders with report.json, to show beside."""

    def run(self) -> int:
        """Write the pages and the contact sheet."""
        from spacecast.report import write_report

        write_report(self.benchmark, self.site, scores=list(self.scores))
        print(f"{self.site / 'index.html'}")
        return 0


_OURS: dict[str, type] = {
    "scene": Scene,
    "ask": Ask,
    "build": Build,
    "merge": Merge,
    "verify": Verify,
    "evaluate": Evaluate,
    "score": Score,
    "report": Report,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; see the module's head for the exit status."""
    args = list(sys.argv[1:] if argv is None else argv)
    if not args or args[0] in ("-h", "--help", "help"):
        print(_overview())
        return 0 if args else 2
    if args[0] == "--version":
        from spacecast import __version__

        print(__version__)
        return 0
    try:
        return _command(args[0], args[1:]).run()
    except SpacecastError as error:
        print(f"spacecast: {one_line(error)}", file=sys.stderr)
    except KeyboardInterrupt:
        print("spacecast: stopped; what was finished is kept", file=sys.stderr)
    except BrokenPipeError:  # the reader of our output went away: nothing to say
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # a full disk, a folder that may not be written to, a folder in a file's place
        print(f"spacecast: {one_line(_of_a_file(error))}", file=sys.stderr)
    return 2


def _of_a_file(error: OSError) -> str:
    """One line: which file or folder, and what the system says."""
    names = [str(name) for name in (error.filename, error.filename2) if name is not None]
    return f"{' -> '.join(names) or 'a file'}: {error.strerror or error}; give another place, or make room"


def _command(name: str, args: list[str]) -> Any:
    import tyro

    from spacecast import registry

    if name in _OURS:
        kind = _OURS[name]
    elif name in registry.names("spacecast.commands"):
        kind = registry.load("spacecast.commands", name)
    else:
        near = difflib.get_close_matches(name, [*_OURS, *registry.names("spacecast.commands")], n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "; see spacecast --help"
        raise SpacecastError(f"no command {name!r}{hint}")
    said, prog = io.StringIO(), f"spacecast {name}"
    try:
        with redirect_stderr(said):
            return tyro.cli(kind, prog=prog, args=args, config=(tyro.conf.CascadeSubcommandArgs,))
    except SystemExit as stop:
        if not stop.code:  # --help
            raise
        raise SpacecastError(_in_one_line(said.getvalue(), prog)) from None


def _in_one_line(box: str, prog: str) -> str:
    """What tyro says of arguments in a frame of several lines, its title and sections joined by semicolons; the frame
    is drawn with dashes and blanks where the terminal has no other signs."""
    title, *lines = [line.strip(" │╭╮╰╯─") for line in box.strip().splitlines()]
    rest = "\n".join(line if line.strip("-") else "" for line in lines)
    sections = [" ".join(section.split()).rstrip(".") for section in rest.split("\n\n")]
    line = "; ".join([title, *(section for section in sections if section)])
    value = re.match(r"Value error; Error parsing (--[\w-]+): .*?'([^']*)'.* helptext: --[\w-]+ (\S+)", line)
    if value is None:
        return line
    option, found, kind = value.groups()
    words = {"INT": "a whole number", "FLOAT": "a number"}
    return f"{option} should be {words.get(kind.rpartition('|')[2], kind)}, found {found!r}; see {prog} --help"


def _overview() -> str:
    lines = ["usage: spacecast COMMAND ...        spacecast COMMAND --help", ""]
    summaries = {name: (inspect.getdoc(kind) or "").splitlines()[0] for name, kind in _OURS.items()}
    summaries.update(_summaries_of_others())
    lines += [f"  {name:<10} {text}" for name, text in sorted(summaries.items())]
    lines += ["", "Exit status: 0; 1 something is wrong with the data or the answers; 2 cannot do it."]
    return "\n".join(lines)


def _summaries_of_others() -> Iterator[tuple[str, str]]:
    """First lines of the help of commands from other packages, read from their source without importing it."""
    from importlib.metadata import entry_points

    for entry in entry_points(group="spacecast.commands"):
        text = ""
        spec = importlib.util.find_spec(entry.module)
        if spec and spec.origin:
            for node in ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and node.name == entry.attr:
                    text = (ast.get_docstring(node) or "").partition("\n")[0]
        yield entry.name, text


def _open(root: Path, scene_id: str, cameras: str | None) -> Scan:
    from spacecast.registry import find_scans

    scans = find_scans(root, cameras)
    if scene_id not in scans:
        near = difflib.get_close_matches(scene_id, list(scans), n=3) or list(scans)[:3]
        raise SpacecastError(f"{root}: no scene {scene_id!r} among {len(scans)}; for example {', '.join(near)}")
    reader, path = scans[scene_id]
    return reader.read(path)


def _counts(text: str | None) -> tuple[tuple[str, int], ...]:
    """Numbers by name, as ``scannet=718,scannetpp=3144`` gives them."""
    pairs = [entry.strip().partition("=") for entry in text.split(",")] if text is not None else []
    counts = {name: int(count) for name, _, count in pairs if name and count.isdecimal()}
    if len(counts) < len(pairs):
        raise SpacecastError(f"give numbers by dataset as scannet=718,scannetpp=3144, each once; found {text!r}")
    return tuple(sorted(counts.items()))


def _named(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def _save_picture(pixels: Any, path: Path) -> None:
    from PIL import Image

    from spacecast.files import write_whole

    with write_whole(path) as aside:
        Image.fromarray(pixels).save(aside, format="PNG")
    print(path)


@contextmanager
def _progress(quiet: bool) -> Iterator[Any]:
    """A callback ``progress(stage, done, total)`` that moves a bar when a person is watching."""
    if quiet or not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    window_s = 3600.0  # what is done in it tells the time left: a scene takes minutes
    with Bars(*columns, console=Console(stderr=True), speed_estimate_period=window_s) as bars:
        yield _Stages(bars)


class _Stages:
    def __init__(self, bars: Progress) -> None:
        self._bars, self._tasks = bars, dict[str, Any]()

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(stage, total=total or None)
        self._bars.update(self._tasks[stage], completed=done, total=total or None)


if __name__ == "__main__":
    sys.exit(main())
