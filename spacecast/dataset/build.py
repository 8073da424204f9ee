"""Builds a dataset of questions from scans: scenes one by one, one selection over all, shards.

What is unfinished lies in ``OUT/.work``; the dataset appears when everything is written and compared.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from spacecast.dataset.balance import Feature
from spacecast.dataset.card import card_of
from spacecast.dataset.choosing import Choice, Scene, choose, refused_most, rejections_of, rules_of, unmet_of
from spacecast.dataset.draw import SETTINGS as DRAW_SETTINGS
from spacecast.dataset.draw import Draw, drawn
from spacecast.dataset.evidence import SURVEY_PARTS, write_evidence
from spacecast.dataset.manifest import manifest_of, versions_of, write_rejections
from spacecast.dataset.pool import cluster, run
from spacecast.dataset.quotas import question_weights, scene_weights
from spacecast.dataset.reader import MANIFEST
from spacecast.dataset.release import WORK, held, publish, staging
from spacecast.dataset.selection import orders_of
from spacecast.dataset.settings import REGISTERED, BuildSettings, Folder, Sources, digest_of
from spacecast.dataset.shards import SETTINGS as SHARD_SETTINGS
from spacecast.dataset.shards import Shard, write_shards
from spacecast.dataset.share import CANDIDATES, PICTURES, SHARED, Given, Share, shard_of, write_shard
from spacecast.dataset.streams import Pictures, Questions, Rows
from spacecast.dataset.tasks import (
    EVERY_TYPE,
    PictureTask,
    SceneTask,
    SceneWork,
    find_candidates,
    make_pictures,
    picture_failure,
    views_of,
    work_of,
    worker_died,
)
from spacecast.dataset.tasks import SETTINGS as TASK_SETTINGS
from spacecast.dataset.types import Suite
from spacecast.errors import InputError, SpacecastError
from spacecast.files import apart, write_whole
from spacecast.registry import no_choice

__all__ = ["BuildReport", "BuildSettings", "build", "build_given", "build_shard"]

_SceneOrPictures = TypeVar("_SceneOrPictures", SceneTask, PictureTask)

Progress = Callable[[str, int, int], None]
"""``progress(stage, done, total)``, called as scenes and shards are done; a total of 0 is of what is only counted."""


@dataclass(frozen=True)
class BuildReport:
    """What a build has made.

    Attributes:
        path: the dataset's folder.
        questions: how many.
        scenes: how many scenes have questions.
        by_type: (level, name) -> questions, for every type of the suite.
        unmet: that there are fewer scenes than were wanted, and types with fewer questions, in all or of a dataset, a
            line each, with what stood against more.
        failures: scenes that could not be used, a line each.
        manifest: as written.
    """

    path: Path
    questions: int
    scenes: int
    by_type: Mapping[tuple[str, str], int]
    unmet: tuple[str, ...]
    failures: tuple[str, ...]
    manifest: Mapping[str, Any] = field(repr=False)


def build(
    roots: Sequence[str | Path],
    out: str | Path,
    settings: BuildSettings | None = None,
    *,
    progress: Progress | None = None,
    sources: Sources = REGISTERED,
) -> BuildReport:
    """Build a dataset of questions.

    With more than one worker, processes are spawned: a script that calls this needs ``if __name__ == "__main__":``.

    Args:
        roots: folders that hold scans of a known layout.
        out: folder to write; new, empty, or of a build with the same settings.
        settings: what to build; by default as :class:`BuildSettings` is.
        progress: called with (stage, done, total).
        sources: where scans, contexts and suites come from; by default the entry points.

    Raises:
        InputError: ``out`` holds something else, or lies in a root or around one; a root holds no scans, or a scene
            lies in two roots.
        SpacecastError: an unknown suite, or no question could be asked.
    """
    return _Build(Path(out), settings or BuildSettings(), sources, progress or _silent).run(roots)


def build_shard(
    roots: Sequence[str | Path],
    out: str | Path,
    share: Share,
    settings: BuildSettings | None = None,
    *,
    progress: Progress | None = None,
    sources: Sources = REGISTERED,
) -> ShardReport:
    """The candidates of a share of the scenes, with every picture that they may show, for ``merge``.

    Arguments and errors are those of :func:`build`; ``share`` says which part.
    """
    return _Build(Path(out), settings or BuildSettings(), sources, progress or _silent).run_share(roots, share)


def build_given(
    given: Given, out: Path, settings: BuildSettings, *, progress: Progress | None = None, sources: Sources = REGISTERED
) -> BuildReport:
    """Build from candidates and pictures that are there; see ``merge.py``."""
    return _Build(out, settings, sources, progress or _silent, given).run(())


def _silent(stage: str, done: int, total: int) -> None:
    pass


class ShardReport(NamedTuple):
    """What a shard holds."""

    path: Path
    share: Share
    scenes: int
    candidates: int
    failures: tuple[str, ...]
    """Scenes that could not be used, a line each."""


@dataclass(frozen=True)
class _Build:
    out: Path
    settings: BuildSettings
    sources: Sources
    progress: Progress
    given: Given | None = None

    @cached_property
    def suite(self) -> Suite:
        return self.sources.suite(self.settings.suite)

    @cached_property
    def order_of_types(self) -> dict[str, int]:
        return {kind.code: i for i, kind in enumerate(self.suite.types)}

    @cached_property
    def work(self) -> Path:
        return self.out.absolute() / WORK  # workers elsewhere stand in another folder

    def run(self, roots: Sequence[str | Path]) -> BuildReport:
        self._check(roots)
        folders = self._folders(roots)
        self._check_shares(folders)
        with (
            cluster(self.settings.scheduler) as executor,
            held(self.out, self.settings.shown(), resume=self.settings.resume),
        ):
            return self._run(folders, executor)

    def _run(self, folders: Mapping[str, Folder], executor: Executor | None) -> BuildReport:
        datasets = sorted({folder.dataset for folder in folders.values()})
        draw = Draw()
        while True:  # scenes that fail or give nothing leave, others come, and selection is made again
            usable = self._search(folders, draw, executor)
            if not usable:
                raise SpacecastError(f"none of {len(folders)} scenes can be used; {self._why(draw)}")
            works = {key: work_of(self._file(key)) for key in usable}
            scenes = {key: Scene(folder.dataset, self._file(key), works[key]) for key, folder in usable.items()}
            choices = choose(self.suite, self.settings, scenes, datasets, partial(self.progress, "selection"))
            questions = self._questions(choices)
            if not len(questions):
                raise SpacecastError(f"no question can be asked in {len(usable)} scenes; {self._top(works)}")
            asked = set(questions.files)
            if self._can_be_better(folders, usable, asked, len(questions), draw):
                draw = draw.without(idle=set(usable) - asked)
                continue
            lost = self._pictures(usable, works, questions, executor)
            if not lost:
                break
            draw.failures.update(lost)
        return self._release(folders, scenes, choices, questions, draw)

    def _search(self, folders: Mapping[str, Folder], draw: Draw, executor: Executor | None) -> dict[str, Folder]:
        """Candidates of as many scenes as are wanted, where there are so many; what fails is noted in the draw."""
        while True:
            usable = self._drawn(folders, draw)
            fresh = {key: folder for key, folder in usable.items() if key not in draw.sought}
            if not fresh:
                return usable
            draw.failures.update(self._find(fresh, executor, len(draw.sought)))
            draw.sought.update(fresh)
            if self.settings.scenes is not None:
                found = {key: work_of(self._file(key)).candidates for key in fresh if key not in draw.failures}
                draw.barren.update(key for key, candidates in found.items() if not any(candidates.values()))

    def _drawn(self, folders: Mapping[str, Folder], draw: Draw) -> dict[str, Folder]:
        left_out = {name for name, questions in self.settings.per_dataset if questions == 0}
        if self.settings.scenes is None:
            return {
                key: folder
                for key, folder in folders.items()
                if key not in draw.unusable and folder.dataset not in left_out
            }
        counts = Counter(folder.dataset for folder in folders.values())
        weights = scene_weights(counts, self.suite.per_dataset)
        weights |= dict.fromkeys(left_out, 0)
        return drawn(list(folders.values()), self.settings.scenes, self.settings.seed, weights, draw.unusable)

    def _can_be_better(
        self, folders: Mapping[str, Folder], usable: Mapping[str, Folder], asked: set[str], questions: int, draw: Draw
    ) -> bool:
        """True where scenes have candidates and no question, though there are enough, and others can come instead."""
        return (
            self.settings.scenes is not None
            and len(asked) < len(usable) <= questions
            and len(draw.unusable) + len(usable) < len(folders)
            and draw.times_redrawn < DRAW_SETTINGS.max_redraws
        )

    def _why(self, draw: Draw) -> str:
        return (
            min(draw.failures.values())
            if draw.failures
            else self._top({k: work_of(self._file(k)) for k in draw.barren})
        )

    def run_share(self, roots: Sequence[str | Path], share: Share) -> ShardReport:
        self._check(roots)
        every = self._folders(roots)
        self._check_shares(every)
        folders = self._drawn(every, Draw())
        spare = {key: folder for key, folder in every.items() if key not in folders}
        if self.settings.scenes is None:
            spare = {}
        own = {key: folders[key] for key in share.of(list(folders))}
        if not own:
            raise SpacecastError(f"shard {share} has none of {len(folders)} scenes; use at most {len(folders)} shards")
        said = {**self.settings.shown(), "shard": str(share)}
        with (
            cluster(self.settings.scheduler) as executor,
            held(self.out, said, resume=self.settings.resume),
        ):
            failures = self._find(own, executor, 0)
            works = {key: work_of(self._file(key)) for key in own if key not in failures}
            tasks = []
            for key, work in works.items():
                views = tuple(view for _, view in sorted(work.views.items()))
                stamp = digest_of([work.key, work.inputs, "all"])
                file = self._pictures_file(key)
                tasks.append(PictureTask(own[key], file, stamp, self.settings, self.sources, views, keep_failures=True))
            failures.update(self._done(make_pictures, tasks, executor, "pictures"))
            whole = [key for key in works if key not in failures]
            files = {
                name: [file_of(key) for key in whole]
                for name, file_of in ((CANDIDATES, self._file), (PICTURES, self._pictures_file))
            }
            said = shard_of(
                share,
                self.settings,
                self.suite,
                self.sources,
                folders=folders,
                spare=spare,
                failures=failures,
                files=files,
            )
            write_shard(said, files, staging(self.out))
            publish(self.out, SHARED)
        found = sum(sum(work.candidates.values()) for key, work in works.items() if key not in failures)
        return ShardReport(self.out, share, len(own) - len(failures), found, tuple(sorted(failures.values())))

    def _check(self, roots: Sequence[str | Path]) -> None:
        apart(self.out, roots)
        if not self.suite.types:
            raise SpacecastError(f"suite {self.suite.name} has no question types")
        if self.settings.language not in self.suite.languages:
            known = ", ".join(self.suite.languages)
            language = self.settings.language
            raise SpacecastError(f"suite {self.suite.name} is not worded in {language!r}; it is in {known}")
        for name in ("questions", "scenes", "workers"):
            value = getattr(self.settings, name)
            if value is not None and value < 1:
                raise SpacecastError(f"{name} should be at least 1, found {value}")

        counts = [count for _, count in self.settings.per_dataset]
        if counts and (min(counts) < 0 or sum(counts) < 1):
            raise SpacecastError(f"questions per dataset should be at least 0, and one above, found {counts}")

    def _check_shares(self, folders: Mapping[str, Folder]) -> None:
        datasets = sorted({folder.dataset for folder in folders.values()})
        question_weights(datasets, self.suite.per_dataset, dict(self.settings.per_dataset))

    def _folders(self, roots: Sequence[str | Path]) -> Mapping[str, Folder]:
        """All scenes that a build may use, by key; those that it does use are drawn."""
        if self.given is not None:
            return {**self.given.folders, **self.given.spare}
        found: dict[str, Folder] = {}
        for root in map(Path, roots):
            for folder in self.sources.find(root):
                if folder.key in found:
                    both = f"{found[folder.key].path}, {folder.path}"
                    raise InputError(f"scene {folder.scene_id} is found twice: {both}; give one of them")
                found[folder.key] = folder._replace(path=folder.path.absolute())
        cameras = self.settings.cameras
        if cameras is not None:
            found = {key: self.sources.choose(folder, cameras) for key, folder in found.items()}
            if found and not any(folder.cameras for folder in found.values()):
                raise no_choice(cameras)
        if not found:
            raise InputError("no scenes: give at least one folder that holds scans")
        excluded = set(self.settings.excluded_rooms)
        left = {key: folder for key, folder in sorted(found.items()) if folder.room_key not in excluded}
        if not left:
            raise InputError(f"all of {len(found)} scenes are of rooms that are left out; give other scans")
        return left

    def _file(self, key: str) -> Path:
        """A scene's candidates."""
        if self.given is not None and key in self.given.candidates:
            return self.given.candidates[key]
        return self.work / CANDIDATES / f"{key}.parquet"

    def _pictures_file(self, key: str) -> Path:
        """A scene's pictures: at least those that are shown."""
        if self.given is not None and key in self.given.pictures:
            return self.given.pictures[key]
        return self.work / PICTURES / f"{key}.parquet"

    def _find(self, folders: Mapping[str, Folder], executor: Executor | None, before: int) -> dict[str, str]:
        """Candidates of every scene into their files, after some others; failures by scene."""
        # What is wanted comes in at draw and selection alone: a scene's candidates are the same for any.
        apart = ("questions", "scenes", "per_dataset", "excluded_rooms")
        shown = {name: value for name, value in self.settings.shown().items() if name not in apart}
        key = digest_of([shown, versions_of(self.suite), str(TASK_SETTINGS), Feature._fields, SceneWork._fields])
        tasks, failures = [], {}
        for name, folder in folders.items():
            if self.given is not None and name in self.given.failures:
                failures[name] = self.given.failures[name]
            elif self.given is None or name not in self.given.candidates:
                if self.given is not None and not folder.path.exists():
                    raise InputError(f"{folder.path}: takes the place of a scene that failed; put the scan back there")
                tasks.append(SceneTask(folder, self._file(name), key, self.settings, self.sources))
        return failures | self._done(find_candidates, tasks, executor, "scenes", before)

    def _done(
        self,
        function: Callable[[_SceneOrPictures], str | None],
        tasks: Sequence[_SceneOrPictures],
        executor: Executor | None,
        stage: str,
        before: int = 0,
    ) -> dict[str, str]:
        """Run the tasks of a stage, after some others of it; failures by scene.

        Raises:
            SpacecastError: a worker wrote to where this process cannot see it.
        """
        failures, found, total = {}, 0, before + len(tasks)
        self.progress(stage, before, total)
        results = run(function, tasks, workers=self.settings.workers, died=worker_died, executor=executor)
        for done, (task, failure) in enumerate(results, start=before + 1):
            if failure is not None:
                failures[task.folder.key] = failure
            elif not task.file.is_file():
                raise SpacecastError(
                    f"{task.file}: was written by a worker of the cluster and is not here; "
                    "its workers have to see the folder that is written under the same path"
                )
            elif isinstance(task, SceneTask):
                found += sum(work_of(task.file).candidates.values())
                self.progress("candidates so far", found, 0)
            self.progress(stage, done, total)
        return failures

    def _questions(self, choices: Mapping[str, Choice]) -> Questions:
        kinds = {kind.code: kind for kind in self.suite.types}
        orders: dict[str, tuple[int, ...]] = {}
        by_scene: dict[str, dict[str, str]] = {}
        for code, choice in choices.items():
            rules = rules_of(self.suite, kinds[code])
            orders.update(orders_of(list(choice.features.values()), rules, self.settings.seed))
            for uid, feature in choice.features.items():
                by_scene.setdefault(feature.scene, {})[uid] = code
        files = {key: self._file(key) for key in sorted(by_scene)}
        return Questions(self.suite, files, by_scene, orders)

    def _pictures(
        self,
        folders: Mapping[str, Folder],
        works: Mapping[str, SceneWork],
        questions: Questions,
        executor: Executor | None,
    ) -> dict[str, str]:
        """Encoded pictures of every scene's questions into its file; failures by scene."""
        tasks, failures = [], {}
        for key in questions.files:
            of_scene: dict[str, dict[str, Any]] = {}
            for question in questions.of_scene(key):
                of_scene.update(views_of(question.candidate.draft))
            if self.given is not None and key in self.given.pictures:
                failure = picture_failure(
                    self._pictures_file(key),
                    [*sorted(of_scene), *SURVEY_PARTS] if self.settings.evidence else sorted(of_scene),
                )
                if failure is not None:
                    failures[key] = failure
                continue
            shown = tuple(view for _, view in sorted(of_scene.items()))
            stamp = digest_of([works[key].key, works[key].inputs, list(shown)])
            file = self._pictures_file(key)
            tasks.append(PictureTask(folders[key], file, stamp, self.settings, self.sources, shown))
        return failures | self._done(make_pictures, tasks, executor, "pictures")

    def _release(
        self,
        folders: Mapping[str, Folder],
        scenes: Mapping[str, Scene],
        choices: Mapping[str, Choice],
        questions: Questions,
        draw: Draw,
    ) -> BuildReport:
        folder = staging(self.out)
        pictures = Pictures(self._pictures_file)
        shards: list[Shard] = []
        total = -(-len(questions) // SHARD_SETTINGS.rows_per_shard)
        for shard in write_shards(questions, pictures, folder):
            shards.append(shard)
            self.progress("shards", len(shards), total)
        rows = Rows(folder, shards)
        evidence: dict[str, str] = {}
        if self.settings.evidence:
            for row in rows:
                evidence.update(write_evidence(row, pictures.survey_of(row), folder))
        unmet = unmet_of(self.suite, scenes, choices)
        failures = sorted(draw.failures.values())
        passed_over = {key: work_of(self._file(key)) for key in sorted(draw.barren | draw.idle)}
        works = {**passed_over, **{key: scene.work for key, scene in scenes.items()}}
        refused = rejections_of(works, choices)
        datasets = sorted({folders[key].dataset for key in questions.files})
        manifest = manifest_of(
            settings=self.settings,
            suite=self.suite,
            packages=self.sources.packages(self.suite, datasets),
            rows=rows,
            shards=shards,
            scenes=works,
            failures=failures,
            unmet=unmet,
            rooms=sorted({folders[key].room_key for key in questions.files}),
            passed_over=sorted(passed_over),
            evidence=evidence,
        )
        scene_ids = {key: (folders[key].dataset, folders[key].scene_id) for key in works}
        write_rejections({scene_ids[key]: entries for key, entries in refused.items()}, folder / "rejections.parquet")
        _write_text(folder / "README.md", card_of(manifest))
        _write_text(folder / MANIFEST, json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
        publish(self.out)
        return BuildReport(
            path=self.out,
            questions=len(questions),
            scenes=len(questions.files),
            by_type={(kind.level, kind.name): len(choices[kind.code].features) for kind in self.suite.types},
            unmet=(*self._few_scenes(len(folders)), *map(str, unmet)),
            failures=tuple(failures),
            manifest=manifest,
        )

    def _few_scenes(self, there: int) -> list[str]:
        """A line where more scenes are wanted than there are."""
        wanted = self.settings.scenes or 0
        return [f"{wanted} scenes are wanted, {there} are there"] if wanted > there else []

    def _top(self, works: Mapping[str, SceneWork]) -> str:
        reasons = refused_most(works.values(), {EVERY_TYPE, *self.order_of_types})
        return "refused most: " + (", ".join(f"{reason} {count}" for reason, count in reasons) or "nothing was tried")


def _write_text(path: Path, text: str) -> None:
    with write_whole(path) as aside:
        aside.write_text(text, encoding="utf-8")
