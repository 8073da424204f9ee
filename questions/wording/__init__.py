"""Words for drafts: paraphrases and option texts from ``<language>.toml``.

A slot of a template is ``{word role}``. ``role`` is a key of the draft's words: an object id, or the key of a value in
the table ``values``. ``word`` says what is written of it:

* ``{the target}``, ``{The target}``: the object with its article; ``{name target}``: without.
* ``{is target}``, ``{does target}``, ``{moves target}``: the verb that goes with the object.
* ``{say heading}``: the value's text.

A template with further keys, as ``query_is = "carried"``, is for drafts that have these words alone. Option texts have
slots too.

Before a question on several pictures the table ``chain`` says that they are of one room, in walking order, in which of
them the objects are to be found, and whose camera is meant. Its roles ``group_a`` and ``group_b`` are the objects that
the first and the last picture show (:mod:`questions.kinds`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from questions.kinds import GROUPS
from spacecast.dataset.types import Draft, Language, Refusal
from spacecast.errors import SpacecastError

VERSION = 3
"""Of the wording tables; goes up when a text changes."""

NO_NAME = {"zh": "no_chinese_name", "en": "no_english_name"}
"""Reason of refusal where a language has no name for an object, or only one that is taken."""

TAKEN = {"zh": frozenset({"照片", "画面", "相机"}), "en": frozenset({"picture", "photo", "camera"})}
"""What texts call that which they show, and what took it: an object of that name would be taken for it."""

_SLOT = re.compile(r"\{(\w+) (\w+)\}")
_SINGULAR_ENDINGS = ("ss", "us", "is")
_SINGULAR_IN_S = frozenset({"canvas", "compass", "lens", "gas"})
_VERBS = {"is": ("is", "are"), "does": ("does", "do"), "stays": ("stays", "stay"), "has": ("has", "have")}


class _NoNameError(Exception):
    """An object without a name of its own in the language."""

    def __init__(self, object_id: int) -> None:
        super().__init__(object_id)
        self.object_id = object_id


@cache
def table(language: Language) -> Mapping[str, Any]:
    """The wording table of a language: ``values``, ``chain``, and per type code ``templates`` (id, text) and
    ``options``."""
    text = files(__package__).joinpath(f"{language}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def word(
    type_code: str, draft: Draft, language: Language, rng: np.random.Generator
) -> tuple[str, str, tuple[str, ...]] | Refusal:
    """A draft in words: wording id, question, and option texts in the order of ``draft.choices``.

    Draws the paraphrases from ``rng`` and nothing else: of the question, then of what is said before it. A refusal
    where an object has no name of its own in the language.
    """
    template = _drawn([t for t in table(language)[type_code]["templates"] if suits(t, draft)], rng)
    wording_id, text = template["id"], template["text"]
    if len(draft.views) > 1:
        chain = _drawn(table(language)["chain"]["templates"], rng)
        wording_id = f"{wording_id}+{chain['id']}"
        text = preceded(text, chain, draft, language)
    try:
        return wording_id, *worded(text, type_code, draft, language)
    except _NoNameError as error:
        return Refusal("wording", NO_NAME[language], f"{_label(draft, error.object_id)} {error.object_id}")


def preceded(text: str, chain: Mapping[str, str], draft: Draft, language: Language) -> str:
    """A template with what is said before a question on several pictures; of cameras only where one is bound."""
    said = [chain["text"], *([chain["camera"]] if draft.facts["binding_view"] is not None else []), text]
    return ("" if language == "zh" else " ").join(said)


def _drawn(templates: Sequence[Mapping[str, str]], rng: np.random.Generator) -> Mapping[str, str]:
    return templates[int(rng.integers(len(templates)))]


def groups_of(type_code: str, draft: Draft) -> dict[str, list[int]]:
    """Ids of the objects that the first and the last of several pictures show, in the order of their roles."""
    objects = draft.facts["objects"]
    return {
        name: list(dict.fromkeys(o["id"] for role in group for o in objects if role in o["roles"]))
        for name, group in zip(("group_a", "group_b"), GROUPS.get(type_code, ((), ())), strict=True)
    }


def suits(template: Mapping[str, str], draft: Draft) -> bool:
    """True if all that a template is for, besides its id and text, is so in a draft."""
    return all(draft.words.get(key) == value for key, value in template.items() if key not in ("id", "text"))


def worded(text: str, type_code: str, draft: Draft, language: Language) -> tuple[str, tuple[str, ...]]:
    """A template filled in for a draft, and the option texts.

    Raises:
        SpacecastError: the template has a slot that the draft has no word for, or two options read the same.
    """

    question = _filled(text, type_code, draft, language)
    options = tuple(_option_text(choice.value, type_code, draft, language) for choice in draft.choices)
    if "{" in question or "}" in question or len(set(options)) != len(options) or not all(options):
        raise SpacecastError(f"wording of {type_code} ({language}): {question!r} with options {options}")
    return question, options


def is_plural(label: str) -> bool:
    """True if an English label takes a plural verb: blinds, scissors."""
    last = label.rsplit(" ", 1)[-1]
    return last.endswith("s") and not last.endswith(_SINGULAR_ENDINGS) and last not in _SINGULAR_IN_S


def _label(draft: Draft, object_id: int) -> str:
    return next(str(entry["label"]) for entry in draft.facts["objects"] if entry["id"] == object_id)


def _object_text(form: str, object_id: int, draft: Draft, language: Language) -> str:
    if language == "zh":
        name = draft.words.get(f"zh:{object_id}")
        if not name or name in TAKEN["zh"]:
            raise _NoNameError(object_id)
        return str(name)
    label = _label(draft, object_id)
    if label in TAKEN["en"]:
        raise _NoNameError(object_id)
    if form in _VERBS:
        return _VERBS[form][is_plural(label)]
    if form in ("the", "The"):
        return f"{form} {label}"
    if form != "name":
        raise SpacecastError(f"wording: unknown form {form!r}; known: the, The, name, {', '.join(sorted(_VERBS))}")
    return label


def _group_text(form: str, object_ids: Sequence[int], draft: Draft, language: Language) -> str:
    """Several objects in a row: the chair, the lamp and the desk."""
    if form in _VERBS and len(object_ids) > 1 and language == "en":
        return _VERBS[form][1]
    first, *others = object_ids
    form_of_others = form.lower() if form == "The" else form
    names = [_object_text(form, first, draft, language)]
    names += [_object_text(form_of_others, i, draft, language) for i in others]
    comma, conjunction = ("、", "和") if language == "zh" else (", ", " and ")
    return comma.join(names) if len(names) == 1 else conjunction.join((comma.join(names[:-1]), names[-1]))


def _filled(text: str, type_code: str, draft: Draft, language: Language) -> str:
    groups = groups_of(type_code, draft)

    def fill(slot: re.Match[str]) -> str:
        form, role = slot.groups()
        if role in groups:
            return _group_text(form, groups[role], draft, language)
        if role not in draft.words:
            raise SpacecastError(f"wording of {type_code} ({language}): no word {role!r} for slot {slot.group()}")
        value = draft.words[role]
        if isinstance(value, int):
            return _object_text(form, value, draft, language)
        return str(table(language)["values"][value])

    return _SLOT.sub(fill, text)


def _option_text(value: str, type_code: str, draft: Draft, language: Language) -> str:
    texts = table(language)[type_code].get("options")
    if texts is None:  # the options are objects
        return _object_text("name", int(value), draft, language)
    return _filled(str(texts[value]), type_code, draft, language)
