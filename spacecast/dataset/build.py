"""Builds a dataset of questions from scans: scenes one by one, one selection over all, shards.

What is unfinished lies in ``OUT/.work``; the dataset appears when everything is written and compared.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from spacecast.dataset.balance import Feature, TypeRules
from spacecast.dataset.card import card_of
from spacecast.dataset.evidence import Survey, write_evidence
from spacecast.dataset.manifest import Unmet, manifest_of, versions_of, write_rejections
from spacecast.dataset.pool import run
from spacecast.dataset.quotas import shares_of
from spacecast.dataset.reader import MANIFEST
from spacecast.dataset.release import WORK, prepare, publish, staging
from spacecast.dataset.rows import Row, row_of
from spacecast.dataset.selection import Before, orders_of, select
from spacecast.dataset.settings import REGISTERED, BuildSettings, Folder, Sources, digest_of
from spacecast.dataset.shards import SETTINGS as SHARD_SETTINGS
from spacecast.dataset.shards import Question, Shard, write_shards
from spacecast.dataset.tasks import (
    EVERY_TYPE,
    PictureTask,
    Refused,
    SceneTask,
    SceneWork,
    features_of,
    find_candidates,
    make_pictures,
    pictures_of,
    records_of,
    work_of,
    worker_died,
)
from spacecast.dataset.tasks import SETTINGS as TASK_SETTINGS
from spacecast.dataset.twins import twins_of
from spacecast.dataset.types import QuestionType, Suite
from spacecast.dataset.words import candidate_from
from spacecast.errors import InputError, SpacecastError
from spacecast.files import write_whole

__all__ = ["BuildReport", "BuildSettings", "build"]

_REASONS_SHOWN = 3

Progress = Callable[[str, int, int], None]
"""``progress(stage, done, total)``, called as scenes and shards are done."""


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
    said = progress or (lambda stage, done, total: None)
    return _Build(Path(out), settings or BuildSettings(), sources, said).run([Path(root) for root in roots])


class _Choice(NamedTuple):
    """Outcome of the selection of one type over all scenes."""

    features: dict[str, Feature]
    """Uid -> feature, of the chosen."""
    left_out: dict[str, dict[str, list[str]]]
    """Scene key -> reason -> uids of the others."""

    def against(self) -> dict[str, int]:
        """Reason -> how many were left out for it."""
        counts: Counter[str] = Counter()
        for reasons in self.left_out.values():
            counts.update({reason: len(uids) for reason, uids in reasons.items()})
        return dict(sorted(counts.items()))


@dataclass(frozen=True)
class _Build:
    out: Path
    settings: BuildSettings
    sources: Sources
    progress: Progress

    @cached_property
    def suite(self) -> Suite:
        return self.sources.suite(self.settings.suite)

    @cached_property
    def order_of_types(self) -> dict[str, int]:
        return {kind.code: i for i, kind in enumerate(self.suite.types)}

    @property
    def work(self) -> Path:
        return self.out / WORK

    def run(self, roots: Sequence[Path]) -> BuildReport:
        self._check()
        folders = self._folders(roots)
        prepare(self.out, self.settings)
        failures = self._find(folders)
        while True:  # a scene whose pictures fail leaves, and selection is made again without it
            usable = {key: folder for key, folder in folders.items() if key not in failures}
            if not usable:
                raise SpacecastError(f"none of {len(folders)} scenes can be used; {min(failures.values())}")
            works = {key: work_of(self._file(key)) for key in usable}
            choices = self._select(usable)
            questions = self._questions(choices)
            if not questions:
                raise SpacecastError(f"no question can be asked in {len(usable)} scenes; {self._top(works)}")
            lost = self._pictures(usable, works, questions)
            if not lost:
                break
            failures.update(lost)
        return self._release(usable, works, choices, questions, sorted(failures.values()))

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

    def _folders(self, roots: Sequence[Path]) -> dict[str, Folder]:
        found: dict[str, Folder] = {}
        for root in roots:
            for folder in self.sources.find(root):
                if folder.key in found:
                    both = f"{found[folder.key].path}, {folder.path}"
                    raise InputError(f"scene {folder.scene_id} is found twice: {both}; give one of them")
                found[folder.key] = folder
        if not found:
            raise InputError("no scenes: give at least one folder that holds scans")
        return dict(sorted(found.items())[: self.settings.scenes])

    def _file(self, key: str) -> Path:
        return self.work / "candidates" / f"{key}.parquet"

    def _find(self, folders: Mapping[str, Folder]) -> dict[str, str]:
        """Candidates of every scene into their files; failures by scene."""
        # The number of questions comes in at selection alone: scenes are the same for any.
        shown = {name: value for name, value in self.settings.shown().items() if name not in ("questions", "scenes")}
        key = digest_of([shown, versions_of(self.suite), str(TASK_SETTINGS), Feature._fields])
        tasks = [
            SceneTask(folder, self._file(name), key, self.settings, self.sources) for name, folder in folders.items()
        ]
        failures = {}
        self.progress("scenes", 0, len(tasks))
        results = run(find_candidates, tasks, workers=self.settings.workers, died=worker_died)
        for done, (task, failure) in enumerate(results, start=1):
            if failure is not None:
                failures[task.folder.key] = failure
            self.progress("scenes", done, len(tasks))
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
            left_out: dict[str, dict[str, list[str]]] = {}
            for uid, reason in selection.refused.items():
                left_out.setdefault(features[uid].scene, {}).setdefault(reason, []).append(uid)
            choices[kind.code] = _Choice({uid: features[uid] for uid in selection.chosen}, left_out)
            self.progress("selection", done, len(self.suite.types))
        return choices

    def _questions(self, choices: Mapping[str, _Choice]) -> list[Question]:
        """Rows in the order of the dataset: by scene, type and uid."""
        kinds = {kind.code: kind for kind in self.suite.types}
        orders: dict[str, tuple[int, ...]] = {}
        by_scene: dict[str, dict[str, str]] = {}
        for code, choice in choices.items():
            orders.update(orders_of(list(choice.features.values()), self._rules(kinds[code]), self.settings.seed))
            for uid, feature in choice.features.items():
                by_scene.setdefault(feature.scene, {})[uid] = code
        questions = []
        for key, codes in sorted(by_scene.items()):
            records = records_of(self._file(key), set(codes))
            candidates = {uid: candidate_from(records[uid]) for uid in sorted(codes)}
            twins = twins_of(candidates.values())
            for uid, code in sorted(codes.items(), key=lambda pair: (self.order_of_types[pair[1]], pair[0])):
                kind, version = kinds[code], self.suite.wording_version
                row = row_of(candidates[uid], kind, orders[uid], wording_version=version, twin=twins.get(uid))
                questions.append(Question(row, candidates[uid]))
        return questions

    def _pictures(
        self, folders: Mapping[str, Folder], works: Mapping[str, SceneWork], questions: Sequence[Question]
    ) -> dict[str, str]:
        """Encoded pictures of every scene's questions into its file; failures by scene."""
        views: dict[str, dict[str, Mapping[str, Any]]] = {}
        for question in questions:
            of_scene = views.setdefault(_scene_of(question.row), {})
            for view in question.candidate.draft.facts["views"]:
                of_scene[view["name"]] = {key: value for key, value in view.items() if key != "role"}
        tasks = []
        for key, of_scene in sorted(views.items()):
            shown = tuple(view for _, view in sorted(of_scene.items()))
            stamp = digest_of([works[key].key, works[key].inputs, list(shown)])
            file = self.work / "pictures" / f"{key}.parquet"
            tasks.append(PictureTask(folders[key], file, stamp, self.settings, self.sources, shown))
        failures = {}
        self.progress("pictures", 0, len(tasks))
        results = run(make_pictures, tasks, workers=self.settings.workers, died=worker_died)
        for done, (task, failure) in enumerate(results, start=1):
            if failure is not None:
                failures[task.folder.key] = failure
            self.progress("pictures", done, len(tasks))
        return failures

    def _release(
        self,
        folders: Mapping[str, Folder],
        works: Mapping[str, SceneWork],
        choices: Mapping[str, _Choice],
        questions: Sequence[Question],
        failures: Sequence[str],
    ) -> BuildReport:
        folder = staging(self.out)
        pictures = _Pictures(self.out / WORK / "pictures")
        shards: list[Shard] = []
        total = -(-len(questions) // SHARD_SETTINGS.rows_per_shard)
        for shard in write_shards(questions, pictures, folder):
            shards.append(shard)
            self.progress("shards", len(shards), total)
        rows = [question.row for question in questions]
        evidence: dict[str, str] = {}
        if self.settings.evidence:
            for row in rows:
                evidence.update(write_evidence(row, pictures.survey_of(row), folder))
        unmet = self._unmet(works, choices)
        datasets = sorted({row.dataset for row in rows})
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
        counts = Counter(row.source_type for row in rows)
        return BuildReport(
            path=self.out,
            questions=len(rows),
            scenes=len({_scene_of(row) for row in rows}),
            by_type={(kind.level, kind.name): counts[kind.code] for kind in self.suite.types},
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
                Refused(code, "selection", reason, len(uids), tuple(sorted(uids)[: TASK_SETTINGS.max_examples]))
                for code, choice in sorted(choices.items())
                for reason, uids in sorted(choice.left_out.get(key, {}).items())
            ]
            found[folders[key].dataset, folders[key].scene_id] = [*work.refused, *selected]
        return found

    def _top(self, works: Mapping[str, SceneWork]) -> str:
        reasons = _most(works.values(), {EVERY_TYPE, *self.order_of_types})
        return "refused most: " + (", ".join(f"{reason} {count}" for reason, count in reasons) or "nothing was tried")


class _Pictures:
    """Encoded pictures of rows, one scene's file in memory at a time: rows come scene by scene."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._scene = ""
        self._encoded: dict[str, bytes] = {}
        self._survey: Survey | None = None

    def _of_scene(self, row: Row) -> dict[str, bytes]:
        if self._scene != _scene_of(row):
            self._scene = _scene_of(row)
            self._encoded = pictures_of(self._folder / f"{self._scene}.parquet")
            self._survey = None
        return self._encoded

    def __call__(self, row: Row) -> tuple[bytes, ...]:
        encoded = self._of_scene(row)
        return tuple(encoded[name] for name in (row.image_name, *row.auxiliary_image_names))

    def survey_of(self, row: Row) -> Survey:
        encoded = self._of_scene(row)
        if self._survey is None:
            self._survey = Survey.from_parts(encoded)
        return self._survey


def _scene_of(row: Row) -> str:
    return Folder(row.dataset, row.scene_id, Path()).key


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
