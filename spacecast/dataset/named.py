"""What the names of a question tell one who knows the world: which things they are, and about how large."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from spacecast.dataset.findings import UNNAMED_ROLES


@dataclass(frozen=True)
class NamedSettings:
    """How finely sizes are told apart."""

    least_m3: float = 1e-6
    """Anything smaller is as large: a scan can be flat (own)."""
    steps_per_decade: int = 2
    """Steps of size in a factor of ten: names tell no more (own)."""


SETTINGS = NamedSettings()

_SIZES_TELL = ("occlusion", "pairwise_occlusion")
"""Relations."""


def labels_of(facts: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """(role, label) of what is asked about, one of each role; what is offered to choose from is not."""
    return tuple((role, item["label"]) for role, item in _by_role(facts).items())


def sizes_of(facts: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """How large things are says who hides whom, and who goes along with another; of other questions nothing is said.

    Returns:
        ("size of <role>", step) of what is asked about and ("size of <role>/<role>", step) of one beside another: steps
        of the volumes of their upright boxes, and of their ratios, two in a factor of ten.
    """
    if facts["relation"]["kind"] not in _SIZES_TELL:
        return ()
    volumes = {
        role: max(SETTINGS.least_m3, math.prod(map(float, item["obb"]["size"])))
        for role, item in _by_role(facts).items()
    }
    ratios = {f"{one}/{other}": volumes[one] / volumes[other] for one, other in combinations(volumes, 2)}
    return tuple((f"size of {what}", _step(value)) for what, value in {**volumes, **ratios}.items())


def _step(value: float) -> str:
    return str(math.floor(SETTINGS.steps_per_decade * math.log10(value)))


def _by_role(facts: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The first object of each role that a text names, by role; sorted."""
    items: dict[str, Mapping[str, Any]] = {}
    for item in facts["objects"]:
        for role in set(item["roles"]) - UNNAMED_ROLES - {"option"}:
            items.setdefault(role, item)
    return dict(sorted(items.items()))
