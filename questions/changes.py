"""What the question types about a change share: levels 2 and 3. SEMANTICS sections 4 to 6.

A change takes a :class:`Body` with it: an object that stands on the floor, and all that it carries. A question names
the relation before (its twin) and asks for the one after; each wrong option says which mistake makes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from questions.common import facts_of, named
from questions.directions import SETTINGS as DIRECTION_SETTINGS
from questions.directions import frame_facts
from spacecast.dataset.context import SceneContext
from spacecast.dataset.types import Choice, Refusal, Tag, ViewUse
from spacecast.frames import Heading
from spacecast.scene.feasibility import support_hindrances


class Body(NamedTuple):
    """What moves, or goes, as one."""

    root: int
    moved: tuple[int, ...]
    """The root and all that it carries along certain edges, sorted."""

    def is_carried(self, object_id: int) -> bool:
        """True if the object goes along without being the root."""
        return object_id != self.root and object_id in self.moved


def bodies(context: SceneContext) -> Iterator[Body | Refusal]:
    """Whatever may be moved, orbited or removed, by rising id of its root, and why other objects may not.

    A root can be asked about, has a shape of its own, certainly stands on the floor, is not built in, and no possible
    edge joins what moves to anything that does not (SEMANTICS 4.4 and 5).
    """
    scene = context.scene
    for root in context.askable_ids:
        moved = tuple(sorted((root, *scene.carried_by(root))))
        example = named(context, root)
        if "shapeless" in scene.objects[root].traits:
            yield Refusal("object", "shapeless", example)
        elif "installed" in scene.objects[root].traits:
            yield Refusal("object", "built_in", example)
        elif support_hindrances(scene, root):
            yield Refusal("object", "not_on_the_floor", example)
        elif scene.possible_neighbours(moved):
            yield Refusal("relation", "possible_attachment", example)
        else:
            yield Body(root, moved)


# -- facts ------------------------------------------------------------------------------------------------------------


def move_facts(
    body: Body,
    heading: Heading,
    direction: str,
    distance_m: float,
    vector_in_world: Iterable[float],
    *,
    anchor: int | None = None,
    facing: int | str | None = None,
) -> dict[str, Any]:
    """``facts.intervention`` of a move; the heading is the one that the direction counts in."""
    return {
        "kind": "move",
        "object": body.root,
        "moved": list(body.moved),
        "frame": frame_facts(heading, anchor, facing),
        "direction": direction,
        "distance_m": float(distance_m),
        "vector_in_world": [float(number) for number in vector_in_world],
    }


def orbit_facts(body: Body, around: int, angle_deg: float, sense: str) -> dict[str, Any]:
    """``facts.intervention`` of an orbit; half a turn has no sense."""
    return {
        "kind": "orbit",
        "object": body.root,
        "moved": list(body.moved),
        "around": around,
        "angle_deg": float(angle_deg),
        "sense": None if angle_deg == 180.0 else sense,
    }


def remove_facts(body: Body) -> dict[str, Any]:
    """``facts.intervention`` of a removal, with what is carried."""
    return {"kind": "remove", "object": body.root, "removed": list(body.moved)}


def layout_facts(angle_deg: float, center_in_world: Iterable[float]) -> dict[str, Any]:
    """``facts.intervention`` of a turn of the layout, clockwise."""
    center = [float(number) for number in center_in_world][:2]
    return {"kind": "rotate_layout", "angle_deg": float(angle_deg), "center_in_world": center}


def with_after(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """``facts.relation`` before and after, from two that were each made for one state."""
    return {**before, "after": after["before"]}


def margins_of(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """Margins of both states: those before under ``before_...``."""
    return {**{f"before_{name}": value for name, value in before.items()}, **after}


def roles_of(body: Body | None, named_as: Iterable[tuple[int, str]]) -> dict[int, list[str]]:
    """Roles by id: those that the text names, and ``moved`` for what goes along unnamed.

    Args:
        body: what moves or is removed, if anything does.
        named_as: (id, role) of what is named; one object may have several roles.
    """
    roles: dict[int, list[str]] = {}
    for object_id, role in named_as:
        roles.setdefault(object_id, []).append(role)
    for object_id in () if body is None else body.moved:
        roles.setdefault(object_id, []).append("moved")
    return roles


def changed_facts(
    context: SceneContext,
    views: Sequence[ViewUse],
    *,
    body: Body | None,
    named_as: Iterable[tuple[int, str]],
    intervention: Mapping[str, Any],
    relation: Mapping[str, Any],
    margins: Mapping[str, float],
    binding_view: str | None = None,
    camera_compass: str | None = None,
    frame: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The facts of a draft about a change; FORMATS section 3. The twin is the relation before.

    Args:
        context: the scene, before the change.
        views: in the order shown.
        body: what moves or is removed; None where the layout turns.
        named_as: (id, role) of every object that the text names: mover, query, reference, target, anchor, facing ...
        intervention: of :func:`move_facts` and its like.
        relation: of :func:`with_after`.
        margins: of :func:`margins_of`.
        binding_view: the view whose camera gives the camera heading or the compass statement.
        camera_compass: its stated heading.
        frame: as used for the answer.
    """
    roles = roles_of(body, named_as)
    edges = context.scene.attachment.edges(data="certainty")
    return facts_of(
        context,
        views,
        roles=roles,
        relation=relation,
        margins=margins,
        binding_view=binding_view,
        camera_compass=camera_compass,
        frame=frame,
        intervention=intervention,
        attachment=[(a, b) for a, b, certainty in edges if certainty == "certain" and a in roles and b in roles],
    )


# -- options ----------------------------------------------------------------------------------------------------------


class Mistakes(NamedTuple):
    """What one would answer who makes a mistake; values in the words of the answer."""

    before: str
    """The relation before the change."""
    carried: bool
    """True if what is asked about goes along because it is carried: the old answer then forgets attachment."""
    mirrored: Collection[str] = ()
    wrong_frame: Collection[str] = ()
    wrong_sense: Collection[str] = ()

    def tag(self, value: str) -> Tag:
        """Of the mistakes that make a wrong value, the first in the order of SEMANTICS 6."""
        if value == self.before:
            return "forgot_attachment" if self.carried else "no_update"
        if value in self.mirrored:
            return "mirrored"
        if value in self.wrong_frame:
            return "wrong_frame"
        return "wrong_sense" if value in self.wrong_sense else "other"


def mirrored_of(value: str, names: Sequence[str]) -> str:
    """The direction with left and right exchanged; names are clockwise from forward."""
    return names[-names.index(value) % 8]


def tagged(values: Iterable[str], right: str, mistakes: Mistakes) -> tuple[Choice, ...]:
    """Options in the order given; each wrong one with its tag."""
    return tuple(Choice(value, None if value == right else mistakes.tag(value)) for value in values)


def tagged_directions(right: str, names: Sequence[str], mistakes: Mistakes) -> tuple[Choice, ...]:
    """Four directions 90 degrees apart that hold the answer, in the order of the names; ``mirrored`` is added."""
    apart = DIRECTION_SETTINGS.apart
    wrong = mistakes._replace(mirrored=(*mistakes.mirrored, mirrored_of(right, names)))
    return tagged(names[names.index(right) % apart :: apart], right, wrong)


def turn_between(value: str, start: str, names: Sequence[str], start_names: Sequence[str]) -> str:
    """An answer counted from a stated direction, clockwise, as ``Draft.relative`` wants it: ``"90"``."""
    return str(45 * ((names.index(value) - start_names.index(start)) % 8))


def preference_of(body: Body, query: int) -> int:
    """``Draft.preference``: what is carried tests attachment, and comes first."""
    return int(not body.is_carried(query))
