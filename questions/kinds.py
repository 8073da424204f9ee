"""The sixteen published types: codes, names and how many questions of each a whole release has. SEMANTICS section 6."""

from __future__ import annotations

from typing import Literal, NamedTuple

Family = Literal["direction", "distance", "occlusion", "attachment"]


class Kind(NamedTuple):
    """One row of the published table; level and name together are the category."""

    level: str
    name: str
    code: str
    family: Family
    max_images: int
    option_count: int
    multi_select: bool
    questions: int


PUBLISHED: tuple[Kind, ...] = (
    Kind("L1", "Camera Direction", "direction_agent", "direction", 8, 4, False, 264),
    Kind("L1", "Object Direction", "direction_object_centric", "direction", 8, 4, False, 251),
    Kind("L1", "World Direction", "direction_allocentric", "direction", 8, 4, False, 263),
    Kind("L1", "Distance", "distance", "distance", 8, 4, False, 272),
    Kind("L1", "Occlusion", "occlusion", "occlusion", 1, 3, False, 221),
    Kind("L1", "Attachment", "attachment_chain", "attachment", 1, 3, True, 97),
    Kind("L2", "Move Camera Direction", "object_move_agent", "direction", 8, 4, False, 293),
    Kind("L2", "Move Object Direction", "object_move_object_centric", "direction", 8, 4, False, 256),
    Kind("L2", "Rotate Object Direction", "object_rotate_object_centric", "direction", 8, 4, False, 256),
    Kind("L2", "Move World Direction", "object_move_allocentric", "direction", 8, 4, False, 264),
    Kind("L2", "Move Distance", "object_move_distance", "distance", 8, 4, False, 285),
    Kind("L2", "Move Occlusion", "object_move_occlusion", "occlusion", 8, 3, False, 139),
    Kind("L2", "Remove Occlusion", "object_remove", "occlusion", 1, 3, False, 216),
    Kind("L3", "Rotate Camera Direction", "coordinate_rotation_agent", "direction", 8, 4, False, 263),
    Kind("L3", "Rotate Object Direction", "coordinate_rotation_object_centric", "direction", 8, 4, False, 256),
    Kind("L3", "Rotate World Direction", "coordinate_rotation_allocentric", "direction", 8, 4, False, 266),
)

KIND_BY_CODE: dict[str, Kind] = {kind.code: kind for kind in PUBLISHED}

Groups = tuple[tuple[str, ...], tuple[str, ...]]
"""Roles of ``facts.objects`` that a chain of pictures shows in its first view, and in its last."""

_TARGET_REFERENCE: Groups = (("target",), ("reference",))
_ANCHOR_TARGET: Groups = (("anchor", "facing"), ("target",))
_MOVER_REFERENCE: Groups = (("mover", "query"), ("reference",))

GROUPS: dict[str, Groups] = {
    "direction_agent": _TARGET_REFERENCE,
    "direction_object_centric": _ANCHOR_TARGET,
    "direction_allocentric": _TARGET_REFERENCE,
    "distance": (("one",), ("other",)),
    "object_move_agent": _MOVER_REFERENCE,
    "object_move_object_centric": _MOVER_REFERENCE,
    "object_rotate_object_centric": (("mover", "query", "facing"), ("reference",)),
    "object_move_allocentric": _MOVER_REFERENCE,
    "object_move_distance": _MOVER_REFERENCE,
    "object_move_occlusion": _MOVER_REFERENCE,
    "coordinate_rotation_agent": _TARGET_REFERENCE,
    "coordinate_rotation_object_centric": _ANCHOR_TARGET,
    "coordinate_rotation_allocentric": _TARGET_REFERENCE,
}
"""Of the types that are asked on several pictures too: groups A and B of the table in SEMANTICS section 6."""
