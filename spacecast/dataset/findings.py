"""What verification finds, as values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


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
        return f"{self.kind}: {self.where}: {self.detail}"


UNNAMED_ROLES = frozenset({"carried", "carrier", "moved", "removed", "support", "occluder"})


def is_named(item: Mapping[str, Any]) -> bool:
    """True if an object of the facts is there because the text names it: it has a role that is not only geometry."""
    return bool(set(item["roles"]) - UNNAMED_ROLES)
