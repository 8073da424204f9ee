"""Relations between the objects of a scene: pure functions of a scene and ids, each answer with its margins.

``direction`` and the others are functions here, though the modules that hold them have the same names.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from spacecast.relations.answer import Answer
from spacecast.relations.direction import direction
from spacecast.relations.distance import distance

_HOMES = {
    "attachment": "spacecast.relations.attachment",
    "occlusion": "spacecast.relations.occlusion",
    "pairwise_occlusion": "spacecast.relations.occlusion",
}
__all__ = ["Answer", "attachment", "direction", "distance", "occlusion", "pairwise_occlusion"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'spacecast.relations' has no attribute {name!r}")
