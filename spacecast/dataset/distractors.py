"""Which mistake makes each wrong option, worked out again; SEMANTICS 6, Options.

A wrong option carries the first tag that fits, of: the old answer (``forgot_attachment`` where what is asked about is
carried, else ``no_update``), ``mirrored``, ``wrong_frame``, ``wrong_sense``, ``other``. The page leaves open which
frames and senses are confused; here they are, for directions:

* mirrored: left and right of the answer exchanged;
* wrong frame, told after the change: in the camera's frame north taken for front, or as seen by one who stands at the
  reference and faces the camera; in the world's frame the top of the picture taken for north; in an object's frame
  as the camera sees it, or north taken for front, and after an orbit the facing of before. Of a move also: its
  direction counted in another heading (the camera's frame: north for forward; the others: as the camera looks);
* wrong sense: a move the opposite way, or its ends exchanged; an orbit, or the layout, turned the other way round.

For distances after a move the same three are moves: mirrored, counted from north, opposite; their distances take the
scan. Of what is carried by what, the mover's own carrier is the wrong sense; of who hides whom, the reverse.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacecast.dataset import recompute
from spacecast.dataset.coherence import has_heading, is_stable

Array = NDArray[np.float64]
Facts = Mapping[str, Any]
Problem = tuple[str, str]


@dataclass(frozen=True)
class DistractorSettings:
    """Where rounded facts cannot tell what a mistake leads to."""

    clear_ambiguity: float = 0.99
    """A direction that is more ambiguous could as well be the next."""


SETTINGS = DistractorSettings()
OLD_ANSWER = frozenset({"forgot_attachment", "no_update"})
"""Tags that the facts alone can always tell."""


class Mistake(NamedTuple):
    """What a mistake leads to."""

    tag: str
    leads_to: frozenset[str]
    """Values that it certainly leads to."""
    may_lead_to: frozenset[str] = frozenset()
    """Values that lie too near a border to say."""


def tag_problems(facts: Facts) -> Iterator[Problem]:
    """Wrong options whose tag is not that of the mistake that makes them, as far as the facts can tell."""
    known, complete = mistakes_of(facts)
    yield from against(facts, known, complete=complete)


def against(facts: Facts, known: Sequence[Mistake], *, complete: bool = True) -> Iterator[Problem]:
    """Wrong options whose tag is none that these mistakes allow.

    Args:
        facts: with options.
        known: mistakes in the order of their tags.
        complete: False if of the mistakes only the old answer is known; then nothing is said of other tags.
    """
    for option in facts["options"]:
        tag = option["tag"]
        if tag is None:
            continue
        allowed = allowed_tags(str(option["value"]), known)
        if not complete and "other" in allowed:
            if tag in OLD_ANSWER and tag not in allowed:
                yield "tag", f"{option['value']!r} carries {tag}, which does not lead there"
        elif tag not in allowed:
            yield "tag", f"{option['value']!r} carries {tag}, and is made by {' or '.join(allowed)}"


def allowed_tags(value: str, known: Sequence[Mistake]) -> list[str]:
    """The tags that a wrong value may carry: one, or several where a border is too near to say."""
    allowed: list[str] = []
    for mistake in known:
        if value in mistake.leads_to:
            return [*allowed, mistake.tag]
        if value in mistake.may_lead_to:
            allowed.append(mistake.tag)
    return [*allowed, "other"]


def mistakes_of(facts: Facts) -> tuple[list[Mistake], bool]:
    """The mistakes about a question, in the order of their tags, and whether these are all."""
    relation, kind = facts["relation"], facts["relation"]["kind"]
    if kind == "attachment":
        carriers = {
            str(edge["parent"])
            for edge in facts["attachment"]
            if edge["certainty"] == "certain" and edge["child"] == relation["target"]
        }
        return [Mistake("wrong_sense", frozenset(carriers))], True
    if kind == "direction":
        return [*old_answer(facts), *_direction_mistakes(facts)], True
    if kind == "pairwise_occlusion":
        swapped = {"query_occluded": "reference_occluded", "reference_occluded": "query_occluded"}
        answer = str(recompute.solve(facts).answer)
        return [*old_answer(facts), Mistake("wrong_sense", frozenset({swapped.get(answer, "")}))], True
    changes = facts.get("intervention") is not None
    return old_answer(facts), not (changes and kind == "distance")


def old_answer(facts: Facts) -> list[Mistake]:
    """One who leaves everything where it was: nothing, where there is no change."""
    intervention = facts.get("intervention")
    if intervention is None:
        return []
    tag = "forgot_attachment" if asks_of_carried(facts) else "no_update"
    return [Mistake(tag, frozenset({str(recompute.solve(facts).before)}))]


def asks_of_carried(facts: Facts) -> bool:
    """True if an end of the relation goes along with what is moved or removed, and is not that itself."""
    intervention, relation = facts["intervention"], facts["relation"]
    if "object" not in intervention:
        return False
    carried = recompute.carried_by(facts, int(intervention["object"]))
    return any(relation[end] is not None and int(relation[end]) in carried for end in ("target", "reference"))


# -- directions -------------------------------------------------------------------------------------------------------


def _direction_mistakes(facts: Facts) -> list[Mistake]:
    relation, frame, intervention = facts["relation"], facts["frame"], facts.get("intervention")
    names = recompute.names_of(frame)
    start = recompute.centers(facts)
    end = recompute.carried_along(recompute.motions(facts), start)
    target, reference = int(relation["target"]), int(relation["reference"])
    before, after = start[target] - start[reference], end[target] - end[reference]
    forward = recompute.heading(facts, frame, end if recompute.turns_to_face(facts) else start)
    answer = str(recompute.solve(facts).answer)
    mirrored = names[-names.index(answer) % 8]
    frames = [(after, other) for other in _other_headings(facts, start, end)]
    senses: list[tuple[Array, Array]] = []
    kind = None if intervention is None else intervention["kind"]
    if intervention is not None and kind == "move":
        step = after - before
        frames += [(before + _signed(moved, facts), forward) for moved in _other_moves(facts, intervention)]
        senses = [(before - step, forward), (-after, forward)]
    elif intervention is not None and kind in ("orbit", "rotate_layout"):
        other_way = _other_way(facts, intervention, start)
        facing = recompute.heading(facts, frame, other_way if kind == "orbit" else start)
        senses = [(other_way[target] - other_way[reference], facing)]
    return [
        Mistake("mirrored", frozenset({mirrored})),
        _told("wrong_frame", frames, names),
        _told("wrong_sense", senses, names),
    ]


def _other_headings(facts: Facts, start: recompute.Positions, end: recompute.Positions) -> list[Array]:
    """Forwards (2,) in which a careless reader may tell the answer, after the change."""
    frame, matrix = facts["frame"], recompute.binding_matrix(facts)
    north = np.array([0.0, 1.0])
    camera = [recompute.camera_forward(matrix)] if has_heading(matrix) else []
    if frame["kind"] == "world":
        return camera
    if frame["kind"] == "object":
        kept = [recompute.heading(facts, frame, start)] if recompute.turns_to_face(facts) else []
        return [*kept, *camera, north]
    to_camera = matrix[:3, 3] - end[int(facts["relation"]["reference"])]
    facing = [to_camera[:2] / np.hypot(to_camera[0], to_camera[1])] if is_stable(to_camera) else []
    return [north, *facing]


def _other_moves(facts: Facts, step: Facts) -> list[Array]:
    """(3,) shifts if the direction of a move is counted in another heading."""
    if step["frame"]["kind"] == "camera":
        forward = np.array([0.0, 1.0])
    else:
        matrix = recompute.binding_matrix(facts)
        if not has_heading(matrix):
            return []
        forward = recompute.camera_forward(matrix)
    return [move_along(forward, step)]


def distance_moves(facts: Facts, step: Facts) -> Iterator[tuple[str, Array]]:
    """The moves (3,) that mistakes about a distance come to, by tag in order."""
    forward = recompute.heading(facts, step["frame"], recompute.centers(facts))
    yield "mirrored", move_along(forward, step, mirrored=True)
    yield "wrong_frame", move_along(np.array([0.0, 1.0]), step)
    yield "wrong_sense", move_along(forward, step, turn_deg=180.0)


def move_along(forward: Array, step: Facts, *, turn_deg: float = 0.0, mirrored: bool = False) -> Array:
    """(3,) shift of a move whose direction is counted from a forward (2,), turned or mirrored."""
    words = recompute.COMPASS if step["frame"]["kind"] == "world" else recompute.MOVES
    angle_deg = recompute.SETTINGS.sector_deg * words.index(step["direction"])
    plan = recompute.turned(forward, turn_deg + (-angle_deg if mirrored else angle_deg))
    return np.array([*(plan * float(step["distance_m"])), 0.0])


def _signed(moved: Array, facts: Facts) -> Array:
    """By how much the vector of the relation changes where the query moves so: it is looked for, or looks."""
    motion = recompute.motions(facts)[0]
    return moved if motion.takes(int(facts["relation"]["target"])) else -moved


def _other_way(facts: Facts, step: Facts, start: recompute.Positions) -> recompute.Positions:
    """Where everything is after a turn the other way round."""
    if step["kind"] == "rotate_layout":
        return recompute.apply(facts, {**step, "angle_deg": -float(step["angle_deg"])}, start)
    sense = {"clockwise": "counterclockwise", "counterclockwise": "clockwise"}.get(step["sense"])
    return recompute.apply(facts, {**step, "sense": sense}, start)


def _told(tag: str, cases: Iterable[tuple[Array, Array]], names: Sequence[str]) -> Mistake:
    """Directions of vectors in headings, and their neighbours where they lie on a border."""
    sure, unsure = set(), set()
    for vector, forward in cases:
        if np.hypot(vector[0], vector[1]) == 0.0:
            continue
        found = recompute.direction_of(vector, forward, tuple(names))
        if found.ambiguity <= SETTINGS.clear_ambiguity:
            sure.add(found.value)
        else:
            number = names.index(found.value)
            unsure |= {names[(number + step) % 8] for step in (-1, 0, 1)}
    return Mistake(tag, frozenset(sure), frozenset(unsure - sure))
