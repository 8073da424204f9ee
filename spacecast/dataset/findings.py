"""What verification finds, as values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from spacecast.errors import InputError, one_line


class Finding(NamedTuple):
    """Something that does not hold.

    Attributes:
        kind: a stable word for counting: ``answer``, ``columns``, ``picture``, ``hash``, ``text_gives_answer_away`` ...
        where: the question's uid, or the file, or the category.
        detail: what was found, in one line.
    """

    kind: str
    where: str
    detail: str

    def __str__(self) -> str:
        return one_line(f"{self.kind}: {self.where}: {self.detail}")


UNNAMED_ROLES = frozenset({"carried", "carrier", "moved", "removed", "support", "occluder"})


def is_named(item: Mapping[str, Any]) -> bool:
    """True if an object of the facts is there because the text names it: it has a role that is not only geometry."""
    return bool(set(item["roles"]) - UNNAMED_ROLES)


def name_said(item: Mapping[str, Any], facts: Mapping[str, Any]) -> str | None:
    """The name that a text should have for an object of its facts, in its language; None where the facts hold none."""
    return item.get("label_zh" if facts["wording"]["language"] == "zh" else "label")


def names_said(facts: Mapping[str, Any]) -> dict[int, str]:
    """Names of all objects that a text names, by id.

    Raises:
        InputError: the facts hold no name of one in the language of the text.
    """
    names = {int(item["id"]): name_said(item, facts) for item in facts["objects"] if is_named(item)}
    for i, name in names.items():
        if not name:
            raise InputError(f"the facts hold no {facts['wording']['language']} name of object {i}: build it again")
    return {i: str(name) for i, name in names.items()}
