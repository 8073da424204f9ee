"""Builds a dataset of questions from scans: scenes one by one, one selection over all, shards.

What is unfinished lies in ``OUT/.work``; the dataset appears when everything is written and compared.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from spacecast.dataset.balance import Feature, TypeRules
from spacecast.dataset.card import card_of
from spacecast.dataset.evidence import SURVEY_PARTS, write_evidence
from spacecast.dataset.manifest import Unmet, manifest_of, versions_of, write_rejections
from spacecast.dataset.pool import cluster, run
from spacecast.dataset.quotas import shares_of
from spacecast.dataset.reader import MANIFEST
from spacecast.dataset.release import WORK, held, publish, staging
from spacecast.dataset.selection import Before, orders_of, select
from spacecast.dataset.settings import REGISTERED, BuildSettings, Folder, Sources, digest_of
from spacecast.dataset.shards import SETTINGS as SHARD_SETTINGS
from spacecast.dataset.shards import Shard, write_shards
from spacecast.dataset.share import CANDIDATES, PICTURES, SHARED, Given, Share, shard_of, write_shard
from spacecast.dataset.streams import Pictures, Questions, Rows
from spacecast.dataset.tasks import (
    EVERY_TYPE,
    PictureTask,
    Refused,
    SceneTask,
    SceneWork,
    features_of,
    find_candidates,
    make_pictures,
    picture_failure,
    views_of,
    work_of,
    worker_died,
)
from spacecast.dataset.tasks import SETTINGS as TASK_SETTINGS
from spacecast.dataset.types import QuestionType, Suite
from spacecast.errors import InputError, SpacecastError
from spacecast.files import write_whole

__all__ = ["BuildReport", "BuildSettings", "build", "build_given", "build_shard"]

_REASONS_SHOWN = 3

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
        unmet: types with fewer questions than were wanted, a line each, with what stood against more.
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
        InputError: ``out`` holds something else, a root holds no scans, or a scene lies in two roots.
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


class _LeftOut(NamedTuple):
    times: int
    examples: tuple[str, ...]
    """The first uids."""


class _Choice(NamedTuple):
    """Outcome of the selection of one type over all scenes."""

    features: dict[str, Feature]
    """Uid -> feature, of the chosen."""
    left_out: dict[str, dict[str, _LeftOut]]
    """Scene key -> reason -> how many others, with examples."""

    def against(self) -> dict[str, int]:
        """Reason -> how many were left out for it."""
        counts: Counter[str] = Counter()
        for reasons in self.left_out.values():
            counts.update({reason: left.times for reason, left in reasons.items()})
        return dict(sorted(counts.items()))


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
        self._check()
        folders = self._folders(roots)
        with (
            cluster(self.settings.scheduler) as executor,
            held(self.out, self.settings.shown(), resume=self.settings.resume),
        ):
            return self._run(folders, executor)

    def _run(self, folders: Mapping[str, Folder], executor: Executor | None) -> BuildReport:
        failures = self._find(folders, executor)
        while True:  # a scene whose pictures fail leaves, and selection is made again without it
            usable = {key: folder for key, folder in folders.items() if key not in failures}
            if not usable:
                raise SpacecastError(f"none of {len(folders)} scenes can be used; {min(failures.values())}")
            works = {key: work_of(self._file(key)) for key in usable}
            choices = self._select(usable)
            questions = self._questions(choices)
            if not questions:
                raise SpacecastError(f"no question can be asked in {len(usable)} scenes; {self._top(works)}")
            lost = self._pictures(usable, works, questions, executor)
            if not lost:
                break
            failures.update(lost)
        return self._release(usable, works, choices, questions, sorted(failures.values()))

    def run_share(self, roots: Sequence[str | Path], share: Share) -> ShardReport:
        self._check()
        folders = self._folders(roots)
        own = {key: folders[key] for key in share.of(list(folders))}
        if not own:
            raise SpacecastError(f"shard {share} has none of {len(folders)} scenes; use at most {len(folders)} shards")
        said = {**self.settings.shown(), "shard": str(share)}
        with (
            cluster(self.settings.scheduler) as executor,
            held(self.out, said, resume=self.settings.resume),
        ):
            failures = self._find(own, executor)
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
                share, self.settings, self.suite, self.sources, folders=folders, failures=failures, files=files
            )
            write_shard(said, files, staging(self.out))
            publish(self.out, SHARED)
        found = sum(sum(work.candidates.values()) for key, work in works.items() if key not in failures)
        return ShardReport(self.out, share, len(own) - len(failures), found, tuple(sorted(failures.values())))

    def _check(self) -> None:
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

    def _folders(self, roots: Sequence[str | Path]) -> Mapping[str, Folder]:
        """The scenes of the build, in their order."""
        if self.given is not None:
            return self.given.folders
        found: dict[str, Folder] = {}
        for root in map(Path, roots):
            for folder in self.sources.find(root):
                if folder.key in found:
                    both = f"{found[folder.key].path}, {folder.path}"
                    raise InputError(f"scene {folder.scene_id} is found twice: {both}; give one of them")
                found[folder.key] = folder._replace(path=folder.path.absolute())
        if not found:
            raise InputError("no scenes: give at least one folder that holds scans")
        return dict(sorted(found.items())[: self.settings.scenes])

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

    def _find(self, folders: Mapping[str, Folder], executor: Executor | None) -> dict[str, str]:
        """Candidates of every scene into their files; failures by scene."""
        # The number of questions comes in at selection alone: scenes are the same for any.
        shown = {name: value for name, value in self.settings.shown().items() if name not in ("questions", "scenes")}
        key = digest_of([shown, versions_of(self.suite), str(TASK_SETTINGS), Feature._fields, SceneWork._fields])
        tasks, failures = [], {}
        for name, folder in folders.items():
            if self.given is not None and name in self.given.failures:
                failures[name] = self.given.failures[name]
            elif self.given is None or name not in self.given.candidates:
                if self.given is not None and not folder.path.exists():
                    raise InputError(f"{folder.path}: takes the place of a scene that failed; put the scan back there")
                tasks.append(SceneTask(folder, self._file(name), key, self.settings, self.sources))
        return failures | self._done(find_candidates, tasks, executor, "scenes")

    def _done(
        self,
        function: Callable[[_SceneOrPictures], str | None],
        tasks: Sequence[_SceneOrPictures],
        executor: Executor | None,
        stage: str,
    ) -> dict[str, str]:
        """Run the tasks of a stage; failures by scene.

        Raises:
            SpacecastError: a worker wrote to where this process cannot see it.
        """
        failures, found = {}, 0
        self.progress(stage, 0, len(tasks))
        results = run(function, tasks, workers=self.settings.workers, died=worker_died, executor=executor)
        for done, (task, failure) in enumerate(results, start=1):
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
            self.progress(stage, done, len(tasks))
        return failures

    def _quotas(self) -> dict[str, int]:
        known = {quota.type_code: quota.questions for quota in self.suite.quotas}
        quotas = {kind.code: known.get(kind.code, 0) for kind in self.suite.types}
        return quotas if self.settings.questions is None else shares_of(self.settings.questions, quotas)

    def _rules(self, kind: QuestionType) -> TypeRules:
        shares = tuple((rule.answer, rule.share) for rule in self.suite.max_shares if rule.type_code == kind.code)
        unchanged = self.suite.unchanged_share(kind.code)
        return TypeRules(kind.code, kind.option_count, kind.multi_select, shares, unchanged)

    def _select(self, folders: Mapping[str, Folder]) -> dict[str, _Choice]:
        """By type code, level 1 first; one type's candidates are in memory at a time."""
        quotas, choices = self._quotas(), {}
        asked_before: frozenset[str] = frozenset()
        for done, kind in enumerate(sorted(self.suite.types, key=lambda kind: kind.level != "L1"), start=1):
            features = {f.uid: f for key in folders for f in features_of(self._file(key), kind.code)}
            selection = select(list(features.values()), quotas[kind.code], self._rules(kind), Before(asked_before))
            if kind.level == "L1":
                asked_before |= {features[uid].relation for uid in selection.chosen}
            uids: dict[str, dict[str, list[str]]] = {}
            for uid, reason in selection.refused.items():
                uids.setdefault(features[uid].scene, {}).setdefault(reason, []).append(uid)
            left_out = {
                scene: {
                    reason: _LeftOut(len(left), tuple(sorted(left)[: TASK_SETTINGS.max_examples]))
                    for reason, left in reasons.items()
                }
                for scene, reasons in uids.items()
            }
            choices[kind.code] = _Choice({uid: features[uid] for uid in selection.chosen}, left_out)
            self.progress("selection", done, len(self.suite.types))
        return choices

    def _questions(self, choices: Mapping[str, _Choice]) -> Questions:
        kinds = {kind.code: kind for kind in self.suite.types}
        orders: dict[str, tuple[int, ...]] = {}
        by_scene: dict[str, dict[str, str]] = {}
        for code, choice in choices.items():
            orders.update(orders_of(list(choice.features.values()), self._rules(kinds[code]), self.settings.seed))
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
        works: Mapping[str, SceneWork],
        choices: Mapping[str, _Choice],
        questions: Questions,
        failures: Sequence[str],
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
        unmet = self._unmet(works, choices)
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
            evidence=evidence,
        )
        write_rejections(self._rejections(folders, works, choices), folder / "rejections.parquet")
        _write_text(folder / "README.md", card_of(manifest))
        _write_text(folder / MANIFEST, json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
        publish(self.out)
        return BuildReport(
            path=self.out,
            questions=len(questions),
            scenes=len(questions.files),
            by_type={(kind.level, kind.name): len(choices[kind.code].features) for kind in self.suite.types},
            unmet=tuple(map(str, unmet)),
            failures=tuple(failures),
            manifest=manifest,
        )

    def _unmet(self, works: Mapping[str, SceneWork], choices: Mapping[str, _Choice]) -> list[Unmet]:
        quotas, found = self._quotas(), []
        for kind in self.suite.types:
            choice = choices[kind.code]
            if len(choice.features) < quotas[kind.code]:
                found.append(
                    Unmet(
                        level=kind.level,
                        name=kind.name,
                        type_code=kind.code,
                        wanted=quotas[kind.code],
                        chosen=len(choice.features),
                        candidates=sum(work.candidates.get(kind.code, 0) for work in works.values()),
                        against=choice.against(),
                        refused_most=_most(works.values(), {kind.code}),
                    )
                )
        return found

    def _rejections(
        self, folders: Mapping[str, Folder], works: Mapping[str, SceneWork], choices: Mapping[str, _Choice]
    ) -> dict[tuple[str, str], list[Refused]]:
        found = {}
        for key, work in works.items():
            selected = [
                Refused(code, "selection", reason, left.times, left.examples)
                for code, choice in sorted(choices.items())
                for reason, left in sorted(choice.left_out.get(key, {}).items())
            ]
            found[folders[key].dataset, folders[key].scene_id] = [*work.refused, *selected]
        return found

    def _top(self, works: Mapping[str, SceneWork]) -> str:
        reasons = _most(works.values(), {EVERY_TYPE, *self.order_of_types})
        return "refused most: " + (", ".join(f"{reason} {count}" for reason, count in reasons) or "nothing was tried")


def _most(works: Iterable[SceneWork], codes: set[str]) -> tuple[tuple[str, int], ...]:
    """The reasons that refused most to some types, before selection."""
    counts: Counter[str] = Counter()
    for work in works:
        for refused in work.refused:
            if refused.type_code in codes and refused.stage != "selection":
                counts[f"{refused.stage}/{refused.reason}"] += refused.times
    return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:_REASONS_SHOWN])


def _write_text(path: Path, text: str) -> None:
    with write_whole(path) as aside:
        aside.write_text(text, encoding="utf-8")
