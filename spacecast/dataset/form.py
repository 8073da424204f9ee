"""The form of a question: which parts it has, and of what kind each is. Nothing here asks whether they are right.

What reads questions relies on it: :meth:`~spacecast.dataset.reader.Benchmark.open` refuses a dataset with a damaged
question, unless it is told not to; verification lists such questions, and leaves them out where it looks at many.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from spacecast.dataset.rows import COLUMNS, Row

GARBLED = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError)
"""What computing from facts raises where they are garbled more deeply than :func:`damage_of` looks."""

Number = Annotated[float, Meta(ge=-1e9, le=1e9)]
"""No length in metres or pixels, and no angle, is larger (own)."""
Two = Annotated[list[Number], Meta(min_length=2, max_length=2)]
Three = Annotated[list[Number], Meta(min_length=3, max_length=3)]
Nine = Annotated[list[Number], Meta(min_length=9, max_length=9)]
Sixteen = Annotated[list[Number], Meta(min_length=16, max_length=16)]
Sides = Annotated[list[Annotated[float, Meta(ge=0.0, le=1e9)]], Meta(min_length=3, max_length=3)]
Pixels = Annotated[int, Meta(gt=0)]
Word = Annotated[str, Meta(min_length=1)]
Value = str | list[int]


# What facts are read as, FORMATS section 3. A field without a default is in every question.


class _Wording(Struct):
    language: str


class _Box(Struct):
    min: Three
    max: Three


class _TurnedBox(Struct):
    center: Three
    size: Sides
    yaw_deg: Number


class _Object(Struct):
    id: int
    label: Word
    roles: list[str]
    aabb: _Box
    obb: _TurnedBox
    center_in_world: Three
    label_zh: str | None = None


class _View(Struct):
    name: str
    role: str
    world_from_camera: Sixteen
    pixel_from_camera: Nine
    width: Pixels
    height: Pixels


class _CameraFrame(Struct, tag_field="kind", tag="camera"):
    anchor: None
    facing: None
    heading_in_world: Two


class _WorldFrame(Struct, tag_field="kind", tag="world"):
    anchor: None
    facing: None
    heading_in_world: Two


class _ObjectFrame(Struct, tag_field="kind", tag="object"):
    anchor: int
    facing: int | Literal["camera"]
    heading_in_world: Two


_Frame = _CameraFrame | _WorldFrame | _ObjectFrame


class _Move(Struct, tag_field="kind", tag="move"):
    object: int
    moved: list[int]
    frame: _Frame
    direction: str
    distance_m: Number
    vector_in_world: Three


class _Orbit(Struct, tag_field="kind", tag="orbit"):
    object: int
    moved: list[int]
    around: int
    angle_deg: Number
    sense: str | None


class _Spin(Struct, tag_field="kind", tag="spin"):
    object: int
    moved: list[int]
    angle_deg: Number
    sense: str | None


class _Remove(Struct, tag_field="kind", tag="remove"):
    object: int
    removed: list[int]


class _RotateLayout(Struct, tag_field="kind", tag="rotate_layout"):
    angle_deg: Number
    center_in_world: Two


_Step = _Move | _Orbit | _Spin | _Remove | _RotateLayout


class _Sequence(Struct, tag_field="kind", tag="sequence"):
    steps: list[_Step]


class _Edge(Struct):
    parent: int
    child: int
    kind: str
    certainty: str


class _State(Struct):
    value: Value


class _Relation(Struct):
    kind: str
    target: int
    reference: int | None
    before: _State
    after: _State | None


class _Option(Struct):
    text: str
    value: str
    tag: str | None


class _Twin(Struct):
    value: Value
    question_uid: str | None


class _Facts(Struct):
    schema: str
    wording: _Wording
    objects: list[_Object]
    views: list[_View]
    binding_view: str | None
    camera_compass: str | None
    frame: _Frame | None
    intervention: _Step | _Sequence | None
    attachment: list[_Edge]
    relation: _Relation
    options: list[_Option]
    twin: _Twin | None
    margins: dict[str, Any]


class _Record(Struct):
    facts: _Facts


class _Shard(Struct):
    path: str
    sha256: str
    rows: int = 0


class _Build(Struct):
    cameras: str | None = None


class _Manifest(Struct):
    """What is read of ``release_manifest.json`` when a dataset is used; it holds much more."""

    pictures: Literal["photos", "render"] = "photos"
    language: str = "en"
    seed: int = 0
    questions: int | None = None
    shards: list[_Shard] = []
    counts: dict[str, dict[str, int]] | None = None
    evidence: dict[str, str] | None = None
    build: _Build | None = None


_DECODER = msgspec.json.Decoder(_Record)
_MANIFEST = msgspec.json.Decoder(_Manifest)
_NULLS = frozenset({"main_image_a_name", "main_image_b_name", "relation_unchanged"})
"""Columns that may be null."""


class Damage(NamedTuple):
    """A part of a question that is not there, or is of another kind than it should be."""

    kind: str
    """Of a finding: ``columns``, ``options``, ``answer``, ``views`` or ``facts``."""
    detail: str
    """In one line."""


def manifest_damage(text: bytes) -> str | None:
    """What is damaged in ``release_manifest.json``, in one line, or None where it has its form; any part may lack."""
    try:
        _MANIFEST.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return str(error)
    return None


def damage_of(row: Row) -> Damage | None:
    """The first damage of a question, or None where it has its form."""
    return next(_damages(row), None)


def _damages(row: Row) -> Iterator[Damage]:
    for name in COLUMNS[1:]:
        value = getattr(row, name)
        if value is None and name not in _NULLS:
            yield Damage("columns", f"{name} is null")
        if isinstance(value, tuple) and None in value:
            yield Damage("columns", f"{name} holds a null: {list(value)}")
    if len(row.options) < 2 or len(row.options) != len(row.option_labels):
        yield Damage("options", f"{len(row.options)} options have the letters {list(row.option_labels)}")
    if not row.answer or not set(row.answer) <= set(row.option_labels):
        yield Damage("answer", f"{list(row.answer)} is no choice of {list(row.option_labels)}")
    if len(row.answer) != len(row.correct_values):
        yield Damage("answer", f"{list(row.answer)} is right, and correct_values are {list(row.correct_values)}")
    try:
        facts = _DECODER.decode(row.source_record_json).facts
    except (msgspec.MsgspecError, RecursionError) as error:
        yield Damage("facts", f"source_record_json is not as it should be: {error}")
        return
    for view in facts.views:
        focal_x, _, _, _, focal_y, _, *last = view.pixel_from_camera
        if min(focal_x, focal_y) <= 0.0 or last != [0.0, 0.0, 1.0]:
            yield Damage("views", f"pixel_from_camera of view {view.name} is no matrix of a camera")
    if len(facts.options) != len(row.options):
        yield Damage("options", f"the row shows {len(row.options)}, the facts have {len(facts.options)}")
    counts = (1 + len(row.auxiliary_image_names), len(row.image_roles), len(row.image_paths), len(facts.views))
    if len(set(counts)) > 1:
        told = "{} names, {} roles, {} paths, {} views in the facts".format(*counts)
        yield Damage("views", f"of pictures there are {told}")
    if facts.intervention is not None and facts.relation.after is None:
        yield Damage("facts", "facts.relation.after is null, though something is changed")
