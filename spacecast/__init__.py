"""Measure and train whether a vision-language model can predict how a room changes.

Names are imported when first used, so that ``import spacecast`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Scan": "spacecast.scan",
    "View": "spacecast.scan",
    "Instance": "spacecast.scan",
    "open_scan": "spacecast.registry",
    "Scene": "spacecast.scene",
    "LabelledBox": "spacecast.scene",
    "Move": "spacecast.scene",
    "Orbit": "spacecast.scene",
    "Spin": "spacecast.scene",
    "Remove": "spacecast.scene",
    "RotateLayout": "spacecast.scene",
    "Sequence": "spacecast.scene",
    "Transform": "spacecast.frames",
    "Heading": "spacecast.frames",
    "Intrinsics": "spacecast.frames",
    "Answer": "spacecast.relations",
    "direction": "spacecast.relations",
    "distance": "spacecast.relations",
    "occlusion": "spacecast.relations",
    "pairwise_occlusion": "spacecast.relations",
    "attachment": "spacecast.relations",
    "SpacecastError": "spacecast.errors",
}
__all__ = sorted(_HOMES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'spacecast' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
