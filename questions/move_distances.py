"""Move Distance: in which range the distance lies once the mover has gone; the range changes by one. SEMANTICS 6."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from questions.changes import Mistakes, mirrored_of, tagged
from questions.distances import BINS, distance_relation, known_distance
from questions.moves import Found, MoveType, Pair, Start, Step
from spacecast.dataset.context import SceneContext
from spacecast.dataset.types import Choice
from spacecast.frames import Array, Heading, Transform, world_heading
from spacecast.relations import Answer, distance
from spacecast.relations.distance import SETTINGS as RULE
from spacecast.relations.distance import distance_bin, surface_distance_between_m
from spacecast.scene import Scene, SceneObject
from spacecast.scene.interventions import MOVE_WORDS, move_shifts


@dataclass(frozen=True)
class MoveDistanceSettings:
    """How the search is bounded."""

    sample_vertices: int = 48
    """Vertices of each object whose distances bound that of the surfaces from above (own)."""
    bins_apart: int = 1
    """By so many bins the answer changes; SEMANTICS section 6."""


SETTINGS = MoveDistanceSettings()


class MoveDistance(MoveType):
    """The distance between query and reference after a move in the camera's heading."""

    code = "object_move_distance"
    frame = "camera"

    def _before(self, context: SceneContext, start: Start, pair: Pair) -> Answer:
        return known_distance(context.scene, pair.query, pair.reference)

    def _possible(self, context: SceneContext, steps: Sequence[Step], pair: Pair, before: Answer) -> list[Found]:
        """Moves after which bounds leave room for a certain distance in a bin next to the old one."""
        one, other = context.scene.objects[pair.query], context.scene.objects[pair.reference]
        shifts = np.array([[*step.shift, 0.0] for step in steps])
        bounds = bounds_of(one, other, shifts, float(before.numbers["distance_m"]))
        found = []
        for step, lower_m, upper_m, likely_m in zip(steps, *(some.tolist() for some in bounds), strict=True):
            wanted = [name for name in _next_to(before.value) if _reaches(name, lower_m, upper_m)]
            if wanted:
                expected = distance_bin(likely_m) if distance_bin(likely_m) in wanted else wanted[0]
                # Safe is what is far from every border, up to where that no longer matters.
                doubt = -min(abs(likely_m - border_m) for border_m in RULE.borders_m)
                found.append(Found(step, pair, before, expected, doubt))
        return found

    def _after(self, context: SceneContext, found: Found, state: Scene) -> Answer:
        after = distance(state, found.query, found.reference)
        apart = abs(BINS.index(after.value) - BINS.index(found.before.value))
        reasons = () if apart == SETTINGS.bins_apart else ("not_the_next_range",)
        return Answer(after.value, after.numbers, after.margins, (*after.reasons, *reasons))

    def _relation(self, found: Found, answer: Answer) -> dict[str, Any]:
        return distance_relation(found.query, found.reference, answer)

    def _choices(self, context: SceneContext, found: Found, after: Answer) -> tuple[Choice, ...]:
        """Mirrored: left and right of the move exchanged. Wrong frame: away from the camera taken for north. Wrong
        sense: the opposite move."""
        start, turn = found.step.start, MOVE_WORDS.index(found.step.direction)
        opposite = MOVE_WORDS[(turn + len(MOVE_WORDS) // 2) % len(MOVE_WORDS)]
        mistakes = Mistakes(
            before=found.before.value,
            carried=start.body.is_carried(found.query),
            mirrored=[_bin_after(context.scene, found, start.heading, mirrored_of(MOVE_WORDS[turn], MOVE_WORDS))],
            wrong_frame=[_bin_after(context.scene, found, world_heading(), MOVE_WORDS[turn])],
            wrong_sense=[_bin_after(context.scene, found, start.heading, opposite)],
        )
        return tagged(BINS, after.value, mistakes)


class Bounds(NamedTuple):
    """Of the distance of two surfaces after shifts, each (n,) metres."""

    lower_m: Array
    upper_m: Array
    likely_m: Array


def bounds_of(one: SceneObject, other: SceneObject, shifts: Array, distance_m: float) -> Bounds:
    """What is known of the distance after shifts (n, 3) of one object, without looking at the surfaces.

    It is at least the gap of the boxes and at most the distance of any two points; and it changes by no more than the
    length of the shift. Likely is how the nearest of some vertices change.

    Args:
        one: where it is before.
        other: what stays.
        shifts: (n, 3) of the first.
        distance_m: before.
    """
    length_m = np.linalg.norm(shifts, axis=1)
    apart = np.maximum(
        other.aabb.min - (one.aabb.max + shifts), (one.aabb.min + shifts) - other.aabb.max
    )  # per axis, negative where the boxes overlap
    gap_m = np.linalg.norm(np.maximum(apart, 0.0), axis=1)
    vectors = (_some_vertices(one)[:, None] - _some_vertices(other)[None]).reshape(-1, 3)
    all_shifts = np.concatenate([np.zeros((1, 3)), shifts])
    # |v + s|^2 without a copy of v for every s.
    least = ((vectors**2).sum(axis=1)[:, None] + 2.0 * vectors @ all_shifts.T).min(axis=0)
    nearest_m = np.sqrt(np.maximum(least + (all_shifts**2).sum(axis=1), 0.0))
    lower_m = np.maximum(gap_m, distance_m - length_m)
    upper_m = np.minimum(nearest_m[1:], distance_m + length_m)
    likely_m = np.clip(nearest_m[1:] - (nearest_m[0] - distance_m), lower_m, np.maximum(lower_m, upper_m))
    return Bounds(lower_m, upper_m, likely_m)


def _some_vertices(item: SceneObject) -> Array:
    step = max(1, len(item.shape.vertices) // SETTINGS.sample_vertices)
    return np.asarray(item.world_from_object @ item.shape.vertices[::step])


def _next_to(value: str) -> list[str]:
    old = BINS.index(value)
    return [name for i, name in enumerate(BINS) if abs(i - old) == SETTINGS.bins_apart]


def _reaches(name: str, lower_m: float, upper_m: float) -> bool:
    """True if a distance between two bounds can lie in a bin, and certainly so."""
    ends = (0.0, *RULE.borders_m, np.inf)
    first, last = ends[BINS.index(name)], ends[BINS.index(name) + 1]
    least_m = max(first + RULE.min_border_margin_m, RULE.min_distance_m)
    return bool(lower_m <= last - RULE.min_border_margin_m and upper_m >= least_m)


def _bin_after(scene: Scene, found: Found, heading: Heading, direction: str) -> str:
    """The bin after another move than the one that is asked about, whether there is room for it or not."""
    shift = move_shifts(heading, found.step.distance_m)[MOVE_WORDS.index(direction)]
    shift = np.column_stack([shift, np.zeros(1)])
    one, other = scene.objects[found.query], scene.objects[found.reference]
    bounds = bounds_of(one, other, shift, float(found.before.numbers["distance_m"]))
    ends = {distance_bin(float(bounds.lower_m[0])), distance_bin(float(bounds.upper_m[0]))}
    if len(ends) == 1:
        return ends.pop()
    there = Transform.from_translation(shift[0], target="world", source="world")
    return distance_bin(
        surface_distance_between_m(replace(one, world_from_object=there @ one.world_from_object), other)
    )
