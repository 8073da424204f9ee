"""Which objects a name points at: SEMANTICS section 2, "Names".

An object is named by its label. The label serves only where no other object that could be meant by it is to be seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from spacecast.scene import Scene, SceneObject


@dataclass(frozen=True)
class NameSettings:
    """When an object could be meant by a name, and when it is to be seen; SEMANTICS sections 2 and 4."""

    min_visible_px: float = 16.0
    """An object with fewer visible pixels, at 640x480, is not visible to a reader of names."""
    min_seen_px: float = 400.0
    """A named object that is to be seen has at least as many visible pixels, at 640x480."""
    min_unblocked: float = 0.35
    """Least share of the silhouette inside the picture that is unblocked, for an object that is to be seen."""
    max_truncation: float = 0.65
    """Largest share of the full silhouette outside the picture, for an object that is to be seen."""
    max_unknown_share: float = 0.05
    """With a larger share of the silhouette where sensor depth is nearer than the mesh, an object is skipped."""
    clutter_side_factor: float = 1.5
    """A clutter object whose three sorted sides are within this factor of an object's could be meant by its name."""
    min_general_letters: int = 3
    """A shorter word is looked for as the last word of longer labels, not at the end of one (own)."""
    min_slip_letters: int = 6
    """Labels so long that differ by one letter, or by two that changed places, are one name misspelt (own)."""


SETTINGS = NameSettings()

REFERENCE_AREA_PX = 640.0 * 480.0


def scaled_px(pixels: float, width: int, height: int) -> float:
    """A pixel count that is stated for 640x480, for a picture of another size."""
    return pixels * (width * height) / REFERENCE_AREA_PX


_PLURALS = (("shelves", "shelf"), ("ches", "ch"), ("shes", "sh"), ("sses", "ss"), ("xes", "x"), ("ies", "y"))
_HEAD = re.compile(r" (?:of|with|without|for|on|in|from) ")


def _singular(label: str) -> str:
    for ending, one in _PLURALS:
        if label.endswith(ending):
            return label[: -len(ending)] + one
    return label[:-1] if label.endswith("s") and not label.endswith("ss") else label


def is_more_general(word: str, label: str) -> bool:
    """True if a label ends in a word: ``table`` of ``coffee table``, ``shelf`` of ``bookshelf``.

    Regular plurals are looked through, and so is what follows the thing in a longer label (``chair with arms``).
    """
    general = _singular(word)
    for special in (_singular(label), _singular(_HEAD.split(label, maxsplit=1)[0])):
        if special == general or special.endswith(" " + general):
            return True
        if len(general) >= SETTINGS.min_general_letters and special.endswith(general):
            return True
    return False


def is_slip(one: str, other: str) -> bool:
    """True if one label may be the other with one slip of the keyboard.

    Exactly: both have at least six letters, and one letter is wrong, missing or too many, or two next to each other
    changed places. ``is_slip(a, b) == is_slip(b, a)``.
    """
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) < SETTINGS.min_slip_letters or len(longer) - len(shorter) > 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(shorter, longer, strict=False)) if a != b), len(shorter))
    if len(shorter) < len(longer):
        return shorter[at:] == longer[at + 1 :]
    swapped = longer[at + 1 : at + 2] + longer[at : at + 1] + longer[at + 2 :]
    return shorter[at + 1 :] == longer[at + 1 :] or shorter[at:] == swapped


def have_one_name(one: SceneObject, other: SceneObject) -> bool:
    """True if a person could mean either by the label of one of them.

    Exactly: the same canonical label; the same class group, category or synset; one of the reader's own meanings in
    common; one label ends in the other, is the other's category, or is the other misspelt; or one Chinese name is or
    ends in the other. ``have_one_name(a, b) == have_one_name(b, a)``.
    """
    a, b = one.instance, other.instance
    for key in ("class_group", "category", "synset"):
        value = getattr(a, key)
        if value is not None and value == getattr(b, key):
            return True
    if not a.meanings.isdisjoint(b.meanings):
        return True
    if a.label_zh is not None and b.label_zh is not None:
        shorter, longer = sorted((a.label_zh, b.label_zh), key=len)
        if longer.endswith(shorter):
            return True
    if is_more_general(a.label, b.label) or is_more_general(b.label, a.label) or is_slip(a.label, b.label):
        return True
    return a.label == b.category or b.label == a.category


def looks_alike(clutter: SceneObject, other: SceneObject) -> bool:
    """True if the first is of a clutter class and its sorted sides are each within a factor 1.5 of the other's."""
    if "clutter" not in clutter.traits:
        return False
    ratio = np.sort(clutter.obb.size) / np.sort(other.obb.size)
    factor = SETTINGS.clutter_side_factor
    return bool((ratio <= factor).all() and (ratio >= 1.0 / factor).all())


class Names:
    """Which objects of a scene could be meant by the name of another."""

    def __init__(self, scene: Scene) -> None:
        objects = list(scene.objects.values())
        rivals: dict[int, set[int]] = {o.id: set() for o in objects}
        for one, other in combinations(objects, 2):
            if not (one.may_be_asked or other.may_be_asked):
                continue
            if have_one_name(one, other) or looks_alike(one, other) or looks_alike(other, one):
                rivals[one.id].add(other.id)
                rivals[other.id].add(one.id)
        self._rivals = {i: frozenset(found) for i, found in rivals.items()}

    def rivals(self, object_id: int) -> frozenset[int]:
        """Ids of the other objects that could be meant by an object's name."""
        return self._rivals[object_id]

    def points_at_one(self, object_id: int, visible_ids: frozenset[int]) -> bool:
        """True if no other object that could be meant is among the visible ones; the object itself need not be."""
        return self._rivals[object_id].isdisjoint(visible_ids)

    def differ(self, object_ids: Iterable[int]) -> bool:
        """True if no two of these could be meant by one name."""
        ids = sorted(object_ids)
        return len(set(ids)) == len(ids) and all(b not in self._rivals[a] for a, b in combinations(ids, 2))
