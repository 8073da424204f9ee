"""Verification: every answer of a dataset again by a second way, and what does not hold together.

Without the scans: columns against ``source_record_json``, options and letters, pictures, hashes and counts of the
manifest, and every answer from the facts (:mod:`spacecast.dataset.recompute`). With the scans also: boxes, poses and
pictures, distances, occlusions and names, measured again from the raw mesh (:mod:`spacecast.dataset.remeasure`).
Nothing here is trusted because another file of the dataset says so; a changed answer is found even where the manifest
was changed with it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from spacecast.dataset import recompute
from spacecast.dataset.audit import Verdict, audit
from spacecast.dataset.chain_facts import chain_problems
from spacecast.dataset.chain_text import mentioned
from spacecast.dataset.coherence import facts_problems
from spacecast.dataset.distractors import tag_problems
from spacecast.dataset.findings import Finding, name_said, names_said
from spacecast.dataset.form import GARBLED, damage_of
from spacecast.dataset.manifest import counts_of
from spacecast.dataset.reader import MANIFEST, Benchmark, evidence_paths
from spacecast.dataset.rows import FACTS_SCHEMA, LETTERS, Row
from spacecast.dataset.together import Told, audit_together
from spacecast.errors import InputError
from spacecast.files import sha256_of

Progress = Callable[[str, int, int], None]
TAGS = frozenset({"forgot_attachment", "no_update", "mirrored", "wrong_frame", "wrong_sense", "other"})
ROLES = {"image", "main_a", "bridge", "main_b"}
LEVELS = ("L1", "L2", "L3")
NAMING_KINDS = frozenset({"attachment", "pairwise_occlusion"})
"""Relations whose options name objects, so that one meaning has many texts."""
NO_NAMES = frozenset({"picture", "photo", "camera", "照片", "画面", "相机"})
"""What texts call that which they show, and what took it."""

_CHINESE_COMPASS = ("正北", "东北", "正东", "东南", "正南", "西南", "正西", "西北")
_COMPASS = {word: rf"\b{word}\b|{chinese}" for word, chinese in zip(recompute.COMPASS, _CHINESE_COMPASS, strict=True)}
"""What a text says of a heading, in English or Chinese."""


@dataclass(frozen=True)
class VerifySettings:
    """Tolerances: facts are rounded to four places; bounds are those of SEMANTICS, stated a second time."""

    rigid: float = 1e-3
    """Largest entry of R R^T - I of a pose in the facts."""
    max_unchanged: float = 0.25
    """Largest share of a move type's questions whose answer stays as it was; SEMANTICS 6."""


SETTINGS = VerifySettings()


def verify(
    benchmark: str | Path,
    roots: Sequence[str | Path] = (),
    *,
    progress: Progress | None = None,
    workers: int = 1,
) -> list[Finding]:
    """Everything that is wrong with a dataset; empty if nothing is.

    Args:
        benchmark: the dataset's folder.
        roots: folders with the raw scans; without them what only a scan can tell is not looked at.
        progress: called with (stage, done, total).
        workers: at least 1, processes that measure scans; they are spawned, so more than one needs a main module that
            can be imported.

    Raises:
        InputError: the dataset cannot be read at all, a root holds no scans, or ``workers`` is below 1.
    """
    if workers < 1:
        raise InputError(f"workers should be at least 1, found {workers}")
    step = progress or (lambda stage, done, total: None)
    data = Benchmark.open(benchmark, whole=False)
    if roots:
        from spacecast.dataset.rescan import scan_problems, scans_under

        scans = scans_under([Path(root) for root in roots])  # first, so that a wrong folder is said at once
    whole = replace(data, rows=tuple(row for row in data.rows if damage_of(row) is None))
    findings = list(dataset_problems(data))
    if len(whole) == len(data):
        findings += count_problems(data)
    findings += [*_option_texts(whole.rows), *_unchanged_shares(whole.rows)]
    total = len(data.rows)
    for number, row in enumerate(data.rows):
        step("rows and answers", number, total)
        findings += row_problems(row)
        findings += picture_problems(data, row)
    step("rows and answers", total, total)
    verdicts: list[Verdict | Told] = [*audit_together(whole.rows), *audit(whole.rows, progress)]
    findings += [
        Finding("text_gives_answer_away", verdict.category, str(verdict)) for verdict in verdicts if verdict.fails
    ]
    if roots:
        findings += scan_problems(whole, scans, step, workers=workers)
    return findings


# -- the dataset as a whole -------------------------------------------------------------------------------------------


def dataset_problems(data: Benchmark) -> Iterator[Finding]:
    """Hashes of the manifest, how many questions there are, and files beside the shards."""
    if not data.rows:
        yield Finding("empty", data.path.name, "there is no question in it: nothing was verified")
    for problem in data.shard_problems():
        yield Finding("hash", MANIFEST, problem)
    manifest = data.manifest
    listed = sum(int(entry.get("rows", 0)) for entry in manifest.get("shards", []))
    if manifest and listed != len(data.rows):
        yield Finding("count", MANIFEST, f"its shards have {listed} rows, the files {len(data.rows)}")
    if "questions" in manifest and manifest["questions"] != len(data.rows):
        yield Finding("count", MANIFEST, f"says {manifest['questions']} questions, the files have {len(data.rows)}")
    for name, digest in sorted((manifest.get("evidence") or {}).items()):
        path = data.path / name
        if not path.is_file() or sha256_of(path) != digest:
            yield Finding("hash", name, "the evidence is not there, or is not that of the manifest")
    if manifest.get("evidence"):
        listed_evidence = {*manifest["evidence"]}
        lack = [
            row.question_uid for row in data.rows if not listed_evidence.issuperset(evidence_paths(row.question_uid))
        ]
        if lack:
            yield Finding("evidence", MANIFEST, f"{len(lack)} questions have no text or no map, as {lack[0]}")


def count_problems(data: Benchmark) -> Iterator[Finding]:
    """Counts of the manifest that are not those of the rows, a finding for each table of them."""
    said = data.manifest.get("counts")
    if said is None:
        return
    for name, mine in sorted(counts_of(data.rows).items()):
        counts = said.get(name, {})
        wrong = [key for key in sorted({*counts, *mine}) if counts.get(key, 0) != mine.get(key, 0)]
        if wrong:
            first = f"{wrong[0]}: {counts.get(wrong[0], 0)}, the files have {mine.get(wrong[0], 0)}"
            yield Finding("count", MANIFEST, f"counts.{name} says {first}; {len(wrong)} such entries differ")


def _unchanged_shares(rows: Sequence[Row]) -> Iterator[Finding]:
    """At most a quarter of the directions and occlusions of pairs after moves stay as they were; SEMANTICS 6."""
    stays: dict[str, Counter[bool]] = {}
    for row in rows:
        kinds = [(row.facts[name] or {}).get("kind") for name in ("intervention", "relation")]
        if kinds[0] == "move" and kinds[1] in ("direction", "pairwise_occlusion"):
            stays.setdefault(row.category, Counter())[row.relation_unchanged is True] += 1
    for category, counts in sorted(stays.items()):
        if counts[True] > SETTINGS.max_unchanged * counts.total():
            yield Finding(
                "unchanged", category, f"{counts[True]} of {counts.total()} answers stay: more than a quarter"
            )


def _option_texts(rows: Sequence[Row]) -> Iterator[Finding]:
    """One meaning has one text, within a type and a language, and one text one meaning."""
    texts: dict[tuple[str, str, str], Counter[str]] = {}
    places: dict[tuple[str, str, str, str], str] = {}
    for row in rows:
        facts = row.facts
        if facts["relation"]["kind"] in NAMING_KINDS:
            continue
        for text, option in zip(row.options, facts["options"], strict=True):
            key = (row.category, facts["wording"]["language"], option["value"])
            texts.setdefault(key, Counter())[text] += 1
            places.setdefault((*key, text), row.question_uid)
    for key, counts in sorted(texts.items()):
        usual = min(counts, key=lambda text: (-counts[text], text))
        for text in sorted(set(counts) - {usual}):
            yield Finding(
                "options", places[(*key, text)], f"{key[2]!r} reads {text!r} here and {usual!r} elsewhere in {key[0]}"
            )


# -- one row ----------------------------------------------------------------------------------------------------------


def row_problems(row: Row) -> list[Finding]:
    """What does not hold in one row, pictures apart."""
    damage = damage_of(row)
    if damage is not None:
        return [Finding(damage.kind, row.question_uid, damage.detail)]
    found = [Finding(kind, row.question_uid, detail) for kind, detail in _columns(row)]
    facts = row.facts
    try:
        found += [Finding(kind, row.question_uid, detail) for kind, detail in _options(row, facts)]
        found += [Finding(kind, row.question_uid, detail) for kind, detail in _views(row, facts)]
        found += [Finding(kind, row.question_uid, detail) for kind, detail in chain_problems(row, facts)]
        found += [Finding(kind, row.question_uid, detail) for kind, detail in facts_problems(facts)]
        found += [Finding(kind, row.question_uid, detail) for kind, detail in _answer(row, facts)]
        found += [Finding(kind, row.question_uid, detail) for kind, detail in tag_problems(facts)]
    except InputError as error:
        found.append(Finding("facts", row.question_uid, str(error)))
    except GARBLED as error:
        found.append(Finding("facts", row.question_uid, f"garbled: {type(error).__name__} {error}"))
    return found


def _columns(row: Row) -> Iterator[tuple[str, str]]:
    record = json.loads(row.source_record_json)
    for column in fields(row):
        if column.name == "source_record_json":
            continue
        value = getattr(row, column.name)
        stored = record.get(column.name)
        if (list(value) if isinstance(value, tuple) else value) != stored:
            yield "columns", f"{column.name} is {value!r}, source_record_json says {stored!r}"
    if not row.question.strip():
        yield "columns", "the question is empty"
    if row.type != row.question_type:
        yield "columns", f"type {row.type!r} and question_type {row.question_type!r} differ"
    if row.level not in LEVELS:
        yield "columns", f"level is {row.level!r}"
    if row.option_labels != tuple(LETTERS[: len(row.options)]):
        yield "options", f"{len(row.options)} options have the letters {list(row.option_labels)}"
    if not all(text.strip() for text in row.options):
        yield "options", f"an empty one: {list(row.options)}"
    if len({text.strip().casefold() for text in row.options}) < len(row.options):
        yield "options", f"two read the same: {list(row.options)}"
    if list(row.answer) != sorted(set(row.answer)):
        yield "answer", f"{list(row.answer)} is in no order, or has a letter twice"
    if len(row.answer) > 1 and not row.multi_select:
        yield "answer", f"{list(row.answer)} for a single choice"


def _options(row: Row, facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    options = facts["options"]
    if [option["text"] for option in options] != list(row.options):
        yield "options", f"the row shows {list(row.options)}, the facts {[option['text'] for option in options]}"
    unknown = sorted({str(option["tag"]) for option in options} - TAGS - {"None"})
    if unknown:
        yield "options", f"tags {unknown} are not known"
    right = [label for label, option in zip(row.option_labels, options, strict=True) if option["tag"] is None]
    if right != list(row.answer):
        yield "answer", f"{list(row.answer)}, but the options without a tag are {right}"
    values = [option["value"] for label, option in zip(row.option_labels, options, strict=True) if label in row.answer]
    if values != list(row.correct_values):
        yield "answer", f"correct_values {list(row.correct_values)}, but {list(row.answer)} mean {values}"
    if len({option["value"] for option in options}) < len(options):
        yield "options", "two mean the same"
    kind = facts["relation"]["kind"]
    if kind == "direction":
        names = recompute.names_of(facts["frame"])
        places = sorted(names.index(option["value"]) for option in options if option["value"] in names)
        if len(places) != 4 or any(b - a != 2 for a, b in pairwise(places)):
            yield "options", f"{[option['value'] for option in options]} are not four directions 90 degrees apart"
    if kind in NAMING_KINDS:
        yield from _naming_options(facts)


def _naming_options(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Whether options that name objects name the right ones."""
    labels = {str(item["id"]): str(name_said(item, facts)) for item in facts["objects"]}
    texts = {str(option["value"]): str(option["text"]) for option in facts["options"]}
    if facts["relation"]["kind"] == "attachment":
        for value, text in texts.items():
            if labels.get(value) != text:
                yield "options", f"{text!r} stands for object {value}, {labels.get(value)!r}"
        return
    # Who hides whom: the names exchanged give the text of the reverse, and the hidden one comes first.
    query, reference = (labels[str(facts["relation"][end])] for end in ("target", "reference"))
    swap = {query: reference, reference: query}
    pattern = "|".join(re.escape(name) for name in sorted(swap, key=lambda name: (-len(name), name)))
    one, other = texts.get("query_occluded", ""), texts.get("reference_occluded", "")
    named = re.findall(pattern, one)
    if named != [query, reference] or re.sub(pattern, lambda match: swap[match[0]], one) != other:
        yield "options", f"{list(texts.values())} do not say who hides whom"


def _views(row: Row, facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    names = [row.image_name, *row.auxiliary_image_names]
    if facts["schema"] != FACTS_SCHEMA:
        yield "facts", f"schema is {facts['schema']!r}, not {FACTS_SCHEMA!r}"
    if [view["name"] for view in facts["views"]] != names or [v["role"] for v in facts["views"]] != list(
        row.image_roles
    ):
        yield "views", f"the row shows {names}, the facts {[view['name'] for view in facts['views']]}, or roles differ"
    if list(row.image_paths) != [f"{row.dataset}/{row.scene_id}/{name}" for name in names]:
        yield "views", f"image_paths are {list(row.image_paths)}"
    if not set(row.image_roles) <= ROLES or len(set(names)) < len(names):
        yield "views", f"roles {list(row.image_roles)} of {names}"
    by_role = {role: [n for n, r in zip(names, row.image_roles, strict=False) if r == role] for role in sorted(ROLES)}
    mains = [[name] if name else [] for name in (row.main_image_a_name, row.main_image_b_name)]
    if [by_role["main_a"], by_role["main_b"]] != mains or by_role["bridge"] != list(row.bridge_view_names):
        yield "views", "main and bridge views do not agree with image_roles"
    for view in facts["views"]:
        matrix = recompute.matrix_of(view)
        off = np.abs(matrix[:3, :3] @ matrix[:3, :3].T - np.eye(3)).max()
        if not np.isfinite(matrix).all() or off > SETTINGS.rigid or np.linalg.det(matrix[:3, :3]) < 0:
            yield "views", f"the pose of {view['name']} is not rigid"
    intervention, relation = facts.get("intervention"), facts["relation"]
    unchanged = None if intervention is None else relation["before"]["value"] == relation["after"]["value"]
    if row.relation_unchanged is not unchanged:
        yield "columns", f"relation_unchanged is {row.relation_unchanged}, the facts say {unchanged}"
    yield from _said(row, facts)


def _said(row: Row, facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Whether the text names what it is about, and says how the camera faces."""
    names = names_said(facts)
    roles = {int(item["id"]): ", ".join(item["roles"]) for item in facts["objects"]}
    for i in sorted(set(names) - mentioned("\n".join([row.question, *row.options]), names)):
        yield "text", f"names no {names[i]!r} ({roles[i]})"
    for i in sorted(i for i, name in names.items() if name.lower() in NO_NAMES):
        yield "text", f"calls an object {names[i]!r} ({roles[i]}), as it calls what it shows, or what took it"
    compass = facts["camera_compass"]
    if compass is not None and not re.search(_COMPASS[str(compass)], row.question.replace("-", "").lower()):
        yield "text", f"does not say that the camera faces {compass}"


def picture_problems(data: Benchmark, row: Row) -> list[Finding]:
    """Pictures that are not there, cannot be decoded, or have another size than the facts say."""
    try:
        pictures = data.pictures(row.question_uid)
    except InputError as error:
        return [Finding("picture", row.question_uid, str(error))]
    sizes = [(view["width"], view["height"]) for view in row.facts["views"]] if damage_of(row) is None else ()
    found = []
    for picture, size in zip_longest(pictures, sizes):
        try:
            shown = picture.decoded().size
        except InputError as error:
            found.append(Finding("picture", row.question_uid, str(error)))
            continue
        if size is not None and shown != size:
            found.append(
                Finding("picture", row.question_uid, f"{picture.name} has {shown} pixels, the facts say {size}")
            )
    return found


# -- facts ------------------------------------------------------------------------------------------------------------


def _answer(row: Row, facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The answer again, and the relation before and after."""
    solved = recompute.solve(facts)
    relation = facts["relation"]
    for moment, value in (("before", solved.before), ("after", solved.after)):
        stored = (relation.get(moment) or {}).get("value")
        computed = list(value) if isinstance(value, tuple) else value
        if value is not None and stored != computed:
            yield "answer", f"relation.{moment} is {stored!r}, computed again {computed!r}"
    values = [option["value"] for option in facts["options"]]
    letters = recompute.letters_of(row.option_labels, values, solved.answer, kind=relation["kind"])
    if letters != row.answer:
        yield "answer", f"{list(row.answer)}, computed again {list(letters)}"
    twin = facts.get("twin")
    if twin is not None and twin["value"] != relation["before"]["value"]:
        yield "twin", f"its answer is {twin['value']!r}, before the change it is {relation['before']['value']!r}"
