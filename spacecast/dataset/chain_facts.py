"""Chains of pictures, from the facts and the text of a question alone; SEMANTICS 6 (table) and 7, a second time.

How many pictures a type may show and in which order, which objects belong to the first and to the last of them, whose
camera is meant, whether bridges lead on, and whether the text says what is so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from spacecast.dataset import recompute
from spacecast.dataset.chain_text import Said, said_of
from spacecast.dataset.coherence import uses_camera
from spacecast.dataset.findings import is_named, names_said
from spacecast.dataset.rows import Row

Facts = Mapping[str, Any]
Problem = tuple[str, str]


@dataclass(frozen=True)
class ChainFactsSettings:
    """Bounds of SEMANTICS 7, stated a second time."""

    max_images: int = 8
    """Main A, at most six bridges, main B."""
    near_m: float = 0.5
    """Where the main cameras are closer, progress is the angle to the heading of B."""
    near_rounding_m: float = 2e-4
    """At that distance facts, which are rounded, allow either."""


SETTINGS = ChainFactsSettings()

_PLACES = (("target",), ("reference",))
_FACED = (("anchor", "facing"), ("target",))
_MOVED = (("mover", "query"), ("reference",))
GROUPS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "direction_agent": _PLACES,
    "direction_object_centric": _FACED,
    "direction_allocentric": _PLACES,
    "distance": (("one",), ("other",)),
    "object_move_agent": _MOVED,
    "object_move_object_centric": _MOVED,
    "object_rotate_object_centric": (("mover", "query", "facing"), ("reference",)),
    "object_move_allocentric": _MOVED,
    "object_move_distance": _MOVED,
    "object_move_occlusion": _MOVED,
    "coordinate_rotation_agent": _PLACES,
    "coordinate_rotation_object_centric": _FACED,
    "coordinate_rotation_allocentric": _PLACES,
}
"""Roles of the objects of A and of B, by ``source_type``: the last column of the table in SEMANTICS 6."""
SINGLE = frozenset({"occlusion", "attachment_chain", "object_remove"})
"""Types that show one picture."""


class Groups(NamedTuple):
    """Ids of the objects of main view A and of main view B."""

    a: frozenset[int]
    b: frozenset[int]


def groups_of(source_type: str, facts: Facts) -> Groups | None:
    """The objects of each main view of a chain; None where the type is not of the published ones."""
    if source_type not in GROUPS:
        return None
    one, other = (
        frozenset(int(item["id"]) for item in facts["objects"] if set(item["roles"]) & set(roles))
        for roles in GROUPS[source_type]
    )
    return Groups(one, other)


def is_chain(facts: Facts) -> bool:
    """True if a question shows several pictures."""
    return len(facts["views"]) > 1


def chain_problems(row: Row, facts: Facts) -> Iterator[Problem]:
    """What is wrong with the pictures of a question, as far as the facts tell.

    Raises:
        KeyError, TypeError, ValueError, IndexError: the facts are garbled.
    """
    roles, count = [view["role"] for view in facts["views"]], len(facts["views"])
    if not is_chain(facts):
        if roles != ["image"]:
            yield "views", f"one picture has the role {roles}, not image"
        return
    if row.source_type in SINGLE:
        yield "views", f"{count} pictures, and {row.source_type} shows one"
        return
    if count > SETTINGS.max_images:
        yield "views", f"{count} pictures are more than {SETTINGS.max_images}"
    if roles != ["main_a", *["bridge"] * (count - 2), "main_b"]:
        yield "views", f"roles {roles} are not main_a, bridges, main_b"
        return
    yield from _binding_problems(facts)
    yield from _progress_problems(facts)
    if "weakest_link_share" not in facts["margins"]:
        yield "margins", "several pictures, and no weakest_link_share"
    groups = groups_of(row.source_type, facts)
    if groups is None:
        return
    yield from _group_problems(facts, groups)
    yield from _text_problems(row.question, facts, groups, names_said(facts))


def _binding_problems(facts: Facts) -> Iterator[Problem]:
    first = facts["views"][0]["name"]
    bound = facts.get("binding_view")
    if bound is None and uses_camera(facts):
        yield "views", "a camera is asked about or stated, and no view binds it"
    if bound is not None and bound != first:
        yield "views", f"binding_view is {bound}, main view A is {first}"


def _group_problems(facts: Facts, groups: Groups) -> Iterator[Problem]:
    if not groups.a or not groups.b or groups.a & groups.b:
        yield "views", f"main view A is for the objects {sorted(groups.a)}, B for {sorted(groups.b)}"
    named = {int(item["id"]) for item in facts["objects"] if is_named(item)}
    beside = sorted(named - groups.a - groups.b)
    if beside:
        yield "views", f"the objects {beside} are named and belong to neither main view"


def _progress_problems(facts: Facts) -> Iterator[Problem]:
    """Each bridge's camera is closer to camera B than the one before, or, where the main cameras are near to one
    another, looks closer to where B looks."""
    poses = [recompute.matrix_of(view) for view in facts["views"]]
    last = poses[-1]
    away_m = [float(np.linalg.norm(pose[:3, 3] - last[:3, 3])) for pose in poses[:-1]]
    wide = [_turn_deg(pose, last) for pose in poses[:-1]]
    measures = []
    if away_m[0] >= SETTINGS.near_m - SETTINGS.near_rounding_m:
        measures.append((away_m, "m from camera B"))
    if away_m[0] < SETTINGS.near_m + SETTINGS.near_rounding_m:
        measures.append((wide, "degrees from its heading"))
    found = [_standstill(facts, left, unit) for left, unit in measures]
    if all(problem is not None for problem in found):
        yield "views", str(found[0])


def _standstill(facts: Facts, left: list[float], unit: str) -> str | None:
    for number in range(1, len(left)):
        if not left[number] < left[number - 1]:
            name = facts["views"][number]["name"]
            return f"bridge {name} is {left[number]:.3f} {unit}, the view before it {left[number - 1]:.3f}"
    return None


def _turn_deg(one: recompute.Array, other: recompute.Array) -> float:
    """Between the headings of two cameras on the floor plan, without a sign; nan where one has none."""
    ahead, goal = one[:2, 2], other[:2, 2]
    cross, dot = ahead[0] * goal[1] - ahead[1] * goal[0], float(ahead @ goal)
    if not np.linalg.norm(ahead) > 0.0 or not np.linalg.norm(goal) > 0.0:
        return float("nan")
    return float(np.degrees(abs(np.arctan2(cross, dot))))


def _text_problems(question: str, facts: Facts, groups: Groups, names: Mapping[int, str]) -> Iterator[Problem]:
    """Whether a text says of each object the picture that shows it, how many pictures there are, and whose camera.

    Args:
        question: the text.
        facts: of a chain.
        groups: of its objects.
        names: of all that are named, as the text calls them.
    """
    last = len(facts["views"])
    said = said_of(question, names, last)
    if not said.places:
        yield "text", "does not say in which picture which object is to be found"
        return
    for i, number in sorted(said.places.items()):
        if number != (1 if i in groups.a else last):
            yield "text", f"says that the {names[i]} is in picture {number}, not {1 if i in groups.a else last}"
    yield from _mention_problems(said, facts, last)


def _mention_problems(said: Said, facts: Facts, last: int) -> Iterator[Problem]:
    if said.counts != {last}:
        yield "text", f"says that there are {sorted(said.counts)} pictures; there are {last}"
    if not said.numbers <= {1, last}:
        yield "text", f"speaks of the pictures {sorted(said.numbers)} of {last}"
    if uses_camera(facts) and 1 not in said.afterwards:
        yield "text", "does not say that the camera of picture 1 is meant"
    if facts["relation"]["kind"] == "pairwise_occlusion" and last not in said.afterwards:
        yield "text", f"does not say that it is seen from picture {last}"
