"""The published columns of a question, and how a worded candidate becomes one row of them.

FORMATS section 3. A row holds the published columns and no others; everything else is in ``source_record_json``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from spacecast.dataset.types import Candidate, QuestionType
from spacecast.errors import InputError, SpacecastError

FACTS_SCHEMA = "spacecast-facts/1"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class RowSettings:
    """How facts are written; FORMATS section 3."""

    decimals: int = 4
    """Places that numbers in ``source_record_json`` are rounded to."""


SETTINGS = RowSettings()

_STRING, _STRINGS, _BOOL = "string", "strings", "bool"
_KINDS: dict[str, str] = {
    "question_uid": _STRING,
    "dataset": _STRING,
    "scene_id": _STRING,
    "level": _STRING,
    "type": _STRING,
    "question_type": _STRING,
    "source_type": _STRING,
    "task": _STRING,
    "question": _STRING,
    "options": _STRINGS,
    "option_labels": _STRINGS,
    "answer": _STRINGS,
    "multi_select": _BOOL,
    "correct_values": _STRINGS,
    "image_name": _STRING,
    "auxiliary_image_names": _STRINGS,
    "main_image_a_name": _STRING,
    "main_image_b_name": _STRING,
    "bridge_view_names": _STRINGS,
    "image_roles": _STRINGS,
    "image_paths": _STRINGS,
    "relation_unchanged": _BOOL,
    "source_record_json": _STRING,
}
COLUMNS: tuple[str, ...] = ("images", *_KINDS)
"""The published columns, in the order in which they are written."""

_ARROW = {_STRING: pa.string(), _STRINGS: pa.list_(pa.string()), _BOOL: pa.bool_()}
_PYTHON: dict[str, tuple[type, ...]] = {
    _STRING: (str, type(None)),
    _STRINGS: (list, type(None)),
    _BOOL: (bool, type(None)),
}
_TEXT_FEATURE = {"dtype": "string", "_type": "Value"}
_FEATURES = {
    _STRING: _TEXT_FEATURE,
    _STRINGS: {"feature": _TEXT_FEATURE, "_type": "List"},
    _BOOL: {"dtype": "bool", "_type": "Value"},
}


def _schema() -> pa.Schema:
    images = pa.field("images", pa.list_(pa.struct([("bytes", pa.binary()), ("path", pa.string())])))
    features: dict[str, Any] = {"images": {"feature": {"_type": "Image"}, "_type": "List"}}
    features |= {name: _FEATURES[kind] for name, kind in _KINDS.items()}
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    return pa.schema([images, *(pa.field(name, _ARROW[kind]) for name, kind in _KINDS.items())], metadata=metadata)


SCHEMA: pa.Schema = _schema()
"""Arrow schema of a shard; its metadata tells Hugging Face ``datasets`` that ``images`` is ``List(Image())``."""


@dataclass(frozen=True)
class Row:
    """One question as published, without its pictures; fields are the columns of FORMATS section 3."""

    question_uid: str
    dataset: str
    scene_id: str
    level: str
    type: str
    question_type: str
    source_type: str
    task: str
    question: str
    options: tuple[str, ...]
    option_labels: tuple[str, ...]
    answer: tuple[str, ...]
    """Letters of all right options, sorted; one letter unless ``multi_select``."""
    multi_select: bool
    correct_values: tuple[str, ...]
    """What the right options mean, in the order of ``answer``."""
    image_name: str
    auxiliary_image_names: tuple[str, ...]
    main_image_a_name: str | None
    main_image_b_name: str | None
    bridge_view_names: tuple[str, ...]
    image_roles: tuple[str, ...]
    image_paths: tuple[str, ...]
    relation_unchanged: bool | None
    source_record_json: str

    @property
    def category(self) -> str:
        """Level and name, the key of scores: ``L1 / Camera Direction``."""
        return f"{self.level} / {self.type}"

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The facts object of FORMATS section 3, parsed.

        Raises:
            InputError: ``source_record_json`` is no JSON object with ``facts``.
        """
        try:
            return dict(json.loads(self.source_record_json)["facts"])
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise InputError(f"question {self.question_uid}: source_record_json holds no facts") from error


_LIST_FIELDS = frozenset(name for name, kind in _KINDS.items() if kind == _STRINGS)


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, numbers rounded to ``SETTINGS.decimals``, no minus zero.

    Raises:
        SpacecastError: a number that is not finite, or a value that JSON has no form for.
    """
    rounded = plain(value, decimals=SETTINGS.decimals)
    return json.dumps(rounded, sort_keys=True, ensure_ascii=False, allow_nan=False)


_AS_IT_IS = frozenset({str, bool, int, type(None)})


def plain(value: Any, *, decimals: int | None = None) -> Any:
    """A value as JSON has it: numpy numbers, arrays, tuples and sets become numbers and lists (sets sorted).

    Args:
        value: mappings, sequences, sets, arrays, numbers, texts, None.
        decimals: places to round to; None keeps every digit.

    Raises:
        SpacecastError: a number that is not finite, or a value that JSON has no form for.
    """
    kind = type(value)  # what facts are made of comes first: this is called for every number of every candidate
    if kind in _AS_IT_IS:
        return value
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist(), decimals=decimals)
    if isinstance(value, str | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise SpacecastError(f"a number in the facts is {value}; every fact of a question is finite")
        return value if decimals is None else round(value, decimals) + 0.0
    if isinstance(value, dict | Mapping):
        return {
            str(key): entry if type(entry) in _AS_IT_IS else plain(entry, decimals=decimals)
            for key, entry in value.items()
        }
    if isinstance(value, set | frozenset):
        return plain(sorted(value), decimals=decimals)
    if isinstance(value, list | tuple | Sequence):
        return [entry if type(entry) in _AS_IT_IS else plain(entry, decimals=decimals) for entry in value]
    raise SpacecastError(f"facts hold a {kind.__name__}, which JSON has no form for")


def relation_unchanged(facts: Mapping[str, Any]) -> bool | None:
    """True if the answer before the intervention equals the answer after it; None where nothing changes."""
    if facts.get("intervention") is None:
        return None
    relation = facts["relation"]
    return bool(relation["before"]["value"] == relation["after"]["value"])


def row_of(
    candidate: Candidate, kind: QuestionType, order: Sequence[int], *, wording_version: int, twin: str | None = None
) -> Row:
    """The row of a candidate whose options are shown in an order.

    Args:
        candidate: a worded question.
        kind: its type.
        order: permutation; the option shown at position i is ``candidate.draft.choices[order[i]]``. Options, gold
            letters and tags are permuted in this one step.
        wording_version: goes into ``facts.wording``.
        twin: uid of the question that asks for the relation before the change, if it is asked.
    """
    draft = candidate.draft
    if sorted(order) != list(range(len(draft.choices))):
        raise SpacecastError(f"question {candidate.uid}: {list(order)} is no order of {len(draft.choices)} options")
    shown = [(candidate.option_texts[i], draft.choices[i]) for i in order]
    labels = tuple(LETTERS[: len(shown)])
    right = [(label, choice.value) for label, (_, choice) in zip(labels, shown, strict=True) if choice.is_right]
    facts = dict(draft.facts)
    facts["schema"] = FACTS_SCHEMA
    facts["wording"] = {"id": candidate.wording_id, "language": candidate.language, "version": wording_version}
    if facts.get("twin") is not None:
        facts["twin"] = {**facts["twin"], "question_uid": twin}
    facts["options"] = [{"text": text, "value": choice.value, "tag": choice.tag} for text, choice in shown]
    if candidate.language == "zh":
        facts["objects"] = [_named_in_chinese(item, draft.words) for item in facts["objects"]]
    names_by_role: dict[str, list[str]] = {"image": [], "main_a": [], "bridge": [], "main_b": []}
    for view in draft.views:
        names_by_role[view.role].append(view.name)
    columns: dict[str, Any] = {
        "question_uid": candidate.uid,
        "dataset": candidate.dataset,
        "scene_id": candidate.scene_id,
        "level": kind.level,
        "type": kind.name,
        "question_type": kind.name,
        "source_type": kind.code,
        "task": kind.task,
        "question": candidate.question,
        "options": tuple(text for text, _ in shown),
        "option_labels": labels,
        "answer": tuple(label for label, _ in right),
        "multi_select": kind.multi_select,
        "correct_values": tuple(value for _, value in right),
        "image_name": draft.views[0].name,
        "auxiliary_image_names": tuple(view.name for view in draft.views[1:]),
        "main_image_a_name": next(iter(names_by_role["main_a"]), None),
        "main_image_b_name": next(iter(names_by_role["main_b"]), None),
        "bridge_view_names": tuple(names_by_role["bridge"]),
        "image_roles": tuple(view.role for view in draft.views),
        "image_paths": tuple(f"{candidate.dataset}/{candidate.scene_id}/{view.name}" for view in draft.views),
        "relation_unchanged": relation_unchanged(facts),
    }
    return Row(**columns, source_record_json=canonical_json({**columns, "facts": facts}))


def _named_in_chinese(item: Mapping[str, Any], words: Mapping[str, str | int]) -> Mapping[str, Any]:
    """An object of the facts with ``label_zh``, the name that a Chinese text has for it, if the text names it."""
    name = words.get(f"zh:{item['id']}")
    return item if name is None else {**item, "label_zh": name}


def table_of(rows: Sequence[Row], pictures: Sequence[Sequence[bytes]]) -> pa.Table:
    """Rows and their encoded pictures, in the order of ``image_paths``, as a table with the published columns."""
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for row, encoded in zip(rows, pictures, strict=True):
        columns["images"].append(
            [{"bytes": data, "path": path} for data, path in zip(encoded, row.image_paths, strict=True)]
        )
        for name in _KINDS:
            value = getattr(row, name)
            columns[name].append(list(value) if name in _LIST_FIELDS else value)
    return pa.Table.from_pydict(columns, schema=SCHEMA)


def rows_of(table: pa.Table, source: str) -> list[Row]:
    """The rows of a table that has at least the published columns except ``images``.

    Args:
        table: read from a shard.
        source: the file's name, for the message.

    Raises:
        InputError: a column is missing, or holds another type.
    """
    missing = [field.name for field in fields(Row) if field.name not in table.column_names]
    if missing:
        raise InputError(f"{source}: column {', '.join(missing)} is missing; is this a shard of questions?")
    if len(set(table.column_names)) < table.num_columns:
        raise InputError(f"{source}: a column is there twice; build or download it again")
    rows: list[Row] = []
    record: dict[str, Any]
    for record in table.select(list(_KINDS)).to_pylist():
        for name, kind in _KINDS.items():
            value = record[name]
            if not isinstance(value, _PYTHON[kind]):
                raise InputError(f"{source}: column {name} should hold {kind}, found {type(value).__name__}")
            if name == "question_uid" and not value:
                raise InputError(f"{source}: row {len(rows)} has no question_uid; build or download it again")
            if kind == _STRINGS:
                record[name] = tuple(record[name] or ())
        rows.append(Row(**record))
    return rows
