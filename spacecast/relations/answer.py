"""What a relation says: a value, the numbers behind it, its margins, and why it may not be certain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Answer:
    """The value of a relation.

    Attributes:
        value: the relation's word (``front-left``, ``close``, ``not occluded``), a tuple of ids for attachment, or None
            where the relation has no value: ``reasons`` then says why.
        numbers: what the value was read from: ``angle_deg``, ``distance_m``, ``blocked`` ...
        margins: how far from where the value would change or not be certain: ``ambiguity``, ``distance_to_border_m``.
        reasons: stable words for why the value is not certain in the sense of SEMANTICS section 4, sorted; empty where
            it is.
    """

    value: Any
    numbers: Mapping[str, Any] = field(default_factory=dict)
    margins: Mapping[str, float] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", MappingProxyType(dict(self.numbers)))
        object.__setattr__(self, "margins", MappingProxyType(dict(self.margins)))
        object.__setattr__(self, "reasons", tuple(sorted(set(self.reasons))))

    def __reduce__(self) -> tuple[Any, ...]:  # a mapping proxy cannot be pickled
        return (Answer, (self.value, dict(self.numbers), dict(self.margins), self.reasons))

    @property
    def certain(self) -> bool:
        """True if nothing stands against asking about it."""
        return not self.reasons
