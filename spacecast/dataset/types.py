"""What passes between a question type, the builder and the reader of a dataset.

A question type enumerates :class:`Draft` values from a scene: no words, no chance, sorted. The builder words them
(:class:`Candidate`), selects, orders the options, and writes rows. Chance enters only there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from spacecast.dataset.context import SceneContext

Tag = Literal["forgot_attachment", "no_update", "mirrored", "wrong_frame", "wrong_sense", "other"]
Role = Literal["image", "main_a", "bridge", "main_b"]
Language = Literal["en", "zh"]

UNNAMED_ROLES = frozenset({"carried", "carrier", "moved", "removed", "support", "occluder"})
"""Roles of ``facts.objects`` that no text names; an object with these alone is there for its geometry."""


class ViewUse(NamedTuple):
    """A picture of a question: the view's name, and its role in the order shown."""

    name: str
    role: Role


class Choice(NamedTuple):
    """One option before it has a letter.

    ``value`` is what the option means (``front-left``, ``close``, an object id as text), ``tag`` the mistake that
    makes it, None for a right one.
    """

    value: str
    tag: Tag | None

    @property
    def is_right(self) -> bool:
        """True if choosing it is right."""
        return self.tag is None


class Refusal(NamedTuple):
    """Something that was not asked: counted, with up to five examples kept per (scene, type, stage, reason)."""

    stage: str
    """Where it was refused: ``object``, ``view``, ``name``, ``relation``, ``change``, ``options``, ``wording``,
    ``selection``, or ``scene``."""
    reason: str
    """A stable word: ``ambiguous``, ``grey_zone``, ``not_seen``, ``possible_attachment`` ..."""
    example: str
    """What it was about, short: ``chair 12 from bed 5 in 120``."""


@dataclass(frozen=True)
class Draft:
    """A question without words: every fact certain, nothing drawn by chance.

    Attributes:
        case: unique in its scene and type, and stable: ids and view names, for example ``12-5-120``.
        views: pictures in the order shown.
        facts: the object ``facts`` of FORMATS section 3 without ``wording`` and ``options`` (the builder adds them).
        choices: options in a canonical order that tells nothing.
        words: what the wording templates need beside object labels, value names, as keys of the wording tables:
            ``{"target": <id>, "heading": "north"}``; ids are looked up in ``facts["objects"]``. Chinese names
            by id: ``{"zh:12": "椅子"}``.
        stated: values that the text states, or that follow from them, and answers must be balanced against:
            ``{"camera_compass": "north", "direction": "forward-left", "motion": "away"}``.
        balance: the answer as it is balanced: a value, or for multi-select how many options are right.
        likeness: questions that share it are near-duplicates (the same pair of objects in another picture).
        preference: smaller is chosen first where balance allows (chains of two links: 0, else 1).
        relative: where the text states a direction of motion, the answer counted from it (answer minus move, degrees:
            ``"90"``), balanced too: equal quarters among 0, 90, 180, 270 and among 45, 135, 225, 315. Else None.
        unchanged: the answer before equals the answer after; None for level 1.
    """

    case: str
    views: tuple[ViewUse, ...]
    facts: Mapping[str, Any]
    choices: tuple[Choice, ...]
    words: Mapping[str, str | int]
    stated: Mapping[str, str]
    balance: str
    likeness: str
    preference: int = 0
    relative: str | None = None
    unchanged: bool | None = None


@runtime_checkable
class QuestionType(Protocol):
    """One of the types of a suite. Stateless; pure in the scene."""

    code: str
    """``source_type``: ``direction_agent``."""
    version: int
    level: str
    """``L1``."""
    name: str
    """Display name: ``Camera Direction``."""
    task: str
    """Family: ``direction``, ``distance``, ``occlusion``, ``attachment``."""
    option_count: int
    multi_select: bool
    needs_north: bool
    """True if not asked where the scan is not aligned."""

    def enumerate(self, context: SceneContext) -> Iterator[Draft | Refusal]:
        """Every certain case, sorted, and what was refused on the way."""
        ...


@dataclass(frozen=True)
class Candidate:
    """A worded question whose options have no letters yet; one line of a scene's candidate file.

    Text, objects, answer and uid depend on (seed, dataset, scene, type, version, case) and on nothing else.
    """

    uid: str
    dataset: str
    scene_id: str
    type_code: str
    draft: Draft
    wording_id: str
    language: Language
    question: str
    option_texts: tuple[str, ...]
    """In the order of ``draft.choices``."""


class Quota(NamedTuple):
    """How many questions of a type a whole release has."""

    type_code: str
    questions: int


class DatasetQuota(NamedTuple):
    """How many questions a whole release has from a dataset, and in how many scenes."""

    dataset: str
    questions: int
    scenes: int


class MaxShare(NamedTuple):
    """At most this share of a type's questions has this answer."""

    type_code: str
    answer: str
    share: float


class MaxUnchanged(NamedTuple):
    """At most this share of a type's questions has the same answer before and after; 0: none, and none is offered."""

    type_code: str
    share: float


@dataclass(frozen=True)
class Suite:
    """Which types are asked, how many of each, and how they are worded; an entry point of ``spacecast.suites``.

    ``word`` maps a type code, a draft, a language and a generator to (wording id, question, option texts); it draws
    the paraphrase from the generator and nothing else. It gives a :class:`Refusal` (stage ``wording``) where an object
    has no name in the language.
    """

    name: str
    version: int
    types: tuple[QuestionType, ...]
    quotas: tuple[Quota, ...]
    word: Any = field(repr=False)
    """Callable[[str, Draft, Language, numpy.random.Generator], tuple[str, str, tuple[str, ...]] | Refusal]"""
    languages: tuple[Language, ...] = ("en", "zh")
    wording_version: int = 1
    max_shares: tuple[MaxShare, ...] = ()
    """Beyond the balance that every type has: ``MaxShare("occlusion", "not visible", 1 / 3)``."""
    max_unchanged: tuple[MaxUnchanged, ...] = ()
    """Of types about a change; a type that is not listed has no such bound."""
    per_dataset: tuple[DatasetQuota, ...] = ()
    """A whole release's shares; they hold where all scans are of these datasets."""

    def unchanged_share(self, code: str) -> float:
        """The largest share of a type's questions whose answer the change leaves as it was; 1 where none is set."""
        return next((rule.share for rule in self.max_unchanged if rule.type_code == code), 1.0)

    def type(self, code: str) -> QuestionType:
        """The type with a code; KeyError if the suite has none."""
        return next(t for t in self.types if t.code == code)
