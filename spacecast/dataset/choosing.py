"""The choice of all questions of a build: type by type over all scenes, each dataset with its share.

Level 1 goes first, since questions about a change are preferred where the same is asked before it; within a level,
types with few candidates for what is wanted of them: what a dataset cannot give of one, it gives of those that follow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from spacecast.dataset.balance import Feature, TypeRules
from spacecast.dataset.manifest import Unmet
from spacecast.dataset.quotas import Table, question_weights, shares_of, table_of
from spacecast.dataset.selection import Before, select
from spacecast.dataset.settings import BuildSettings
from spacecast.dataset.tasks import SETTINGS as TASK_SETTINGS
from spacecast.dataset.tasks import Refused, SceneWork, features_of
from spacecast.dataset.types import QuestionType, Suite

ANY = ""
"""Stands for all datasets where they have no shares of their own."""
_REASONS_SHOWN = 3


class LeftOut(NamedTuple):
    """Candidates of one scene that one reason stood against."""

    times: int
    examples: tuple[str, ...]
    """The first uids."""


class Choice(NamedTuple):
    """Outcome of the selection of one type over all scenes."""

    features: dict[str, Feature]
    """Uid -> feature, of the chosen."""
    left_out: dict[str, dict[str, LeftOut]]
    """Scene key -> reason -> the others."""
    wanted: dict[str, int]
    """Dataset (or ``ANY``) -> how many were wanted."""

    def against(self, scenes: Iterable[str]) -> dict[str, int]:
        """Reason -> how many were left out for it in some scenes."""
        counts: Counter[str] = Counter()
        for scene in scenes:
            counts.update({reason: left.times for reason, left in self.left_out.get(scene, {}).items()})
        return dict(sorted(counts.items()))

    def by_dataset(self) -> Counter[str]:
        """Dataset -> how many are chosen."""
        return Counter(feature.dataset for feature in self.features.values())


class Scene(NamedTuple):
    """A scene that questions are chosen from."""

    dataset: str
    file: Path
    """Of its candidates."""
    work: SceneWork


def rules_of(suite: Suite, kind: QuestionType) -> TypeRules:
    """What selection knows of a type of a suite."""
    shares = tuple((rule.answer, rule.share) for rule in suite.max_shares if rule.type_code == kind.code)
    return TypeRules(kind.code, kind.option_count, kind.multi_select, shares, suite.unchanged_share(kind.code))


def quotas_of(suite: Suite, settings: BuildSettings) -> dict[str, int]:
    """How many questions of each type are wanted: the suite's numbers, or shares of what the build was told."""
    known = {quota.type_code: quota.questions for quota in suite.quotas}
    quotas = {kind.code: known.get(kind.code, 0) for kind in suite.types}
    total = settings.questions or sum(count for _, count in settings.per_dataset)
    return shares_of(total, quotas) if total else quotas


def wanted_of(suite: Suite, settings: BuildSettings, datasets: Sequence[str]) -> Table:
    """Type code -> dataset (or ``ANY``) -> how many questions are wanted.

    Args:
        suite: with its quotas and the shares of datasets.
        settings: of the build.
        datasets: that there are scans of.
    """
    quotas = quotas_of(suite, settings)
    weights = question_weights(datasets, suite.per_dataset, dict(settings.per_dataset)) or {ANY: 1}
    return table_of(quotas, shares_of(sum(quotas.values()), weights))


def choose(
    suite: Suite,
    settings: BuildSettings,
    scenes: Mapping[str, Scene],
    datasets: Sequence[str],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Choice]:
    """Type code -> what is chosen of it; the candidates of one type are in memory at a time.

    Args:
        suite: whose types are asked.
        settings: of the build.
        scenes: by key.
        datasets: that there are scans of; the scenes are of these.
        progress: called with (types done, types in all).
    """
    table = wanted_of(suite, settings, datasets)
    columns = {name: sum(row[name] for row in table.values()) for name in next(iter(table.values()))}
    found = {
        kind.code: sum(scene.work.candidates.get(kind.code, 0) for scene in scenes.values()) for kind in suite.types
    }

    def place(kind: QuestionType) -> tuple[bool, float]:
        return kind.level != "L1", found[kind.code] / max(1, sum(table[kind.code].values()))

    order = sorted(suite.types, key=place)
    before, choices = Before(), dict[str, Choice]()
    for done, kind in enumerate(order):
        rest = order[done:]
        chances = {
            key: sum(scene.work.candidates.get(other.code, 0) > 0 for other in rest) for key, scene in scenes.items()
        }
        choice = _choice(kind, suite, scenes, table[kind.code], Before(before.relations, before.questions, chances))
        choices[kind.code] = choice
        before = _after(before, kind, choice)
        table.update(_rest(table, columns, choices))
        progress(done + 1, len(order))
    return choices


def _choice(
    kind: QuestionType, suite: Suite, scenes: Mapping[str, Scene], wanted: Mapping[str, int], before: Before
) -> Choice:
    features = {f.uid: f for _, scene in sorted(scenes.items()) for f in features_of(scene.file, kind.code)}
    quota = wanted.get(ANY, wanted)
    selection = select(list(features.values()), quota, rules_of(suite, kind), before)
    uids: dict[str, dict[str, list[str]]] = {}
    for uid, reason in selection.refused.items():
        uids.setdefault(features[uid].scene, {}).setdefault(reason, []).append(uid)
    left_out = {
        scene: {
            reason: LeftOut(len(left), tuple(sorted(left)[: TASK_SETTINGS.max_examples]))
            for reason, left in reasons.items()
        }
        for scene, reasons in uids.items()
    }
    return Choice({uid: features[uid] for uid in selection.chosen}, left_out, dict(wanted))


def _after(before: Before, kind: QuestionType, choice: Choice) -> Before:
    chosen = choice.features.values()
    relations = frozenset(feature.relation for feature in chosen) if kind.level == "L1" else frozenset()
    questions = Counter(before.questions) + Counter(feature.scene for feature in chosen)
    return Before(before.relations | relations, questions)


def _rest(table: Table, columns: Mapping[str, int], choices: Mapping[str, Choice]) -> Table:
    """What is wanted of the types that are still to be chosen: datasets make up for what they gave too little of."""
    rest = {code: sum(row.values()) for code, row in table.items() if code not in choices}
    given: Counter[str] = Counter()
    for choice in choices.values():
        given.update({ANY: len(choice.features)} if ANY in columns else choice.by_dataset())
    if all(sum(choices[code].wanted[name] for code in choices) == given[name] for name in columns):
        return {code: table[code] for code in rest}
    lacking = {name: max(0, count - given[name]) for name, count in columns.items()}
    weights = lacking if any(lacking.values()) else columns
    return table_of(rest, shares_of(sum(rest.values()), weights))


def unmet_of(suite: Suite, scenes: Mapping[str, Scene], choices: Mapping[str, Choice]) -> list[Unmet]:
    """Types with fewer questions than wanted, in all or (of several) of a dataset, with what stood against more."""
    found = []
    for kind in suite.types:
        choice, given = choices[kind.code], choices[kind.code].by_dataset()
        wanted_of = {name: count for name, count in choice.wanted.items() if name != ANY}
        lacking = [(n, count, given[n]) for n, count in wanted_of.items() if len(wanted_of) > 1 and given[n] < count]
        total = sum(choice.wanted.values())
        if len(choice.features) < total:
            lacking.insert(0, (ANY, total, len(choice.features)))
        for dataset, wanted, chosen in lacking:
            own = {key: scene for key, scene in scenes.items() if dataset in (ANY, scene.dataset)}
            found.append(
                Unmet(
                    level=kind.level,
                    name=kind.name,
                    type_code=kind.code,
                    dataset=dataset,
                    wanted=wanted,
                    chosen=chosen,
                    candidates=sum(scene.work.candidates.get(kind.code, 0) for scene in own.values()),
                    against=choice.against(own),
                    refused_most=refused_most((scene.work for scene in own.values()), {kind.code}),
                )
            )
    return found


def refused_most(works: Iterable[SceneWork], codes: set[str]) -> tuple[tuple[str, int], ...]:
    """The reasons that refused most to some types, before selection."""
    counts: Counter[str] = Counter()
    for work in works:
        for refused in work.refused:
            if refused.type_code in codes and refused.stage != "selection":
                counts[f"{refused.stage}/{refused.reason}"] += refused.times
    return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:_REASONS_SHOWN])


def rejections_of(works: Mapping[str, SceneWork], choices: Mapping[str, Choice]) -> dict[str, list[Refused]]:
    """Scene key -> what was refused in it, and what selection left out."""
    found = {}
    for key, work in works.items():
        selected = [
            Refused(code, "selection", reason, left.times, left.examples)
            for code, choice in sorted(choices.items())
            for reason, left in sorted(choice.left_out.get(key, {}).items())
        ]
        found[key] = [*work.refused, *selected]
    return found
