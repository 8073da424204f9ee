"""Move Camera, World and Object Direction: where query and reference are from each other once the mover has gone.

The compass as stated. A world question gives the camera's heading rounded to eight words. A reader who takes it for the
true one turns all that the picture shows by the rounding, but makes the stated move exactly, since it is told in
compass words. So with v the vector from reference to query before, d the move, and R the turn by the rounding, he finds
R v + d where the truth is v + d. Asked is only where both lie in one sector with ambiguity at most 0.7, and likewise
R v and v before the move. (The place to which he takes the mover is another one; whether there is room is not his.)
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from questions.changes import Mistakes, tagged_directions, turn_between
from questions.directions import SETTINGS as OPTIONS
from questions.directions import can_direct, direction_relation, facing_or_none, frame_facts
from questions.moves import Found, MoveType, Pair, Start, Step, may_attach
from spacecast.dataset.context import SceneContext
from spacecast.dataset.types import Choice
from spacecast.frames import COMPASS, SECTORS, Array, Heading, sector_of, world_heading
from spacecast.relations import Answer, direction
from spacecast.relations.direction import SETTINGS as RULE
from spacecast.relations.direction import (
    Headings,
    attached_pairs,
    compass_rounding,
    direction_as_stated,
    direction_in,
    headings_of,
    stated_compass,
)
from spacecast.scene import Scene, SceneObject
from spacecast.scene.interventions import MOVE_WORDS


class MoveDirection(MoveType):
    """A direction after a move; what is looked for, and from where, is in the subclasses."""

    def _may_be(self, item: SceneObject) -> bool:
        return can_direct(item)

    def _ends(self, query: int, reference: int) -> tuple[int, int]:
        """Target and anchor: the query is looked for, from the reference."""
        return query, reference

    @abstractmethod
    def _headings(self, scene: Scene, start: Start, query: int, reference: int) -> Headings:
        """The headings in which the answer is told, for each of the three centres; frozen before the move."""

    def _before(self, context: SceneContext, start: Start, pair: Pair) -> Answer:
        target, anchor = self._ends(pair.query, pair.reference)
        headings = self._headings(context.scene, start, pair.query, pair.reference)
        return direction_in(context.scene, target, reference=anchor, headings=headings)

    def _possible(self, context: SceneContext, steps: Sequence[Step], pair: Pair, before: Answer) -> list[Found]:
        scene, start, (query, reference, _) = context.scene, steps[0].start, pair
        target, anchor = self._ends(query, reference)
        headings = self._headings(scene, start, query, reference).by_center
        shifts = np.array([step.shift for step in steps]) * (1.0 if target == query else -1.0)
        lasting = (scene.objects[target].centers_in_world - scene.objects[anchor].centers_in_world)[:, :2]
        vectors = lasting[:, None, :] + shifts[None, :, :]
        told = [sectors_of(some, heading) for some, heading in zip(vectors, headings, strict=True) if heading]
        index, ambiguity = told[0]
        certain = ambiguity <= RULE.max_ambiguity
        for other, _ in told[1:]:
            certain &= other == index
        certain &= np.linalg.norm(vectors[0], axis=1) >= RULE.min_center_distance_m
        names = self._names
        old = names.index(before.value)
        return [
            Found(
                steps[n],
                pair,
                before,
                expected=names[int(index[n])],
                doubt=float(ambiguity[n]),
                tempts=(int(index[n]) - old) % OPTIONS.apart == 0,
            )
            for n in np.flatnonzero(certain).tolist()
        ]

    def _after(self, context: SceneContext, found: Found, state: Scene) -> Answer:
        target, anchor = self._ends(found.query, found.reference)
        scene, body = context.scene, found.step.start.body
        headings = self._headings(scene, found.step.start, found.query, found.reference)
        after = direction_in(state, target, reference=anchor, headings=headings, attachment_of=scene)
        if (
            after.certain
            and may_attach(scene, state, body, found.reference)
            and (target, anchor) in attached_pairs(state)
        ):
            return Answer(after.value, after.numbers, after.margins, ("attached",))
        return after

    def _relation(self, found: Found, answer: Answer) -> dict[str, Any]:
        return direction_relation(*self._ends(found.query, found.reference), answer)

    def _relative(self, found: Found, after: Answer) -> str | None:
        return turn_between(after.value, found.step.direction, self._names, self._move_names)

    @property
    def _names(self) -> tuple[str, ...]:
        return COMPASS if self.frame == "world" else SECTORS

    @property
    def _move_names(self) -> tuple[str, ...]:
        return COMPASS if self.frame == "world" else MOVE_WORDS

    def _choices(self, context: SceneContext, found: Found, after: Answer) -> tuple[Choice, ...]:
        """Wrong senses: the mover goes the opposite way, or the two ends are exchanged. Wrong frames: the answer, or
        the move, told in another heading."""
        scene, step = context.scene, found.step
        target, anchor = self._ends(found.query, found.reference)
        sign = 1.0 if target == found.query else -1.0
        vector = (scene.objects[target].center_in_world - scene.objects[anchor].center_in_world)[:2]
        shift = np.array(step.shift)
        heading = self._headings(scene, step.start, found.query, found.reference).by_center[0]
        turned = [
            h.vector_in_world(45.0 * self._move_names.index(step.direction), step.distance_m)[:2]
            for h in self._other_moves(step.start)
        ]
        end = vector + sign * shift
        mistakes = Mistakes(
            before=found.before.value,
            carried=step.start.body.is_carried(found.query),
            wrong_frame=_words(
                [(end, h) for h in self._other_headings(context, found)]
                + [(vector + sign * t, heading) for t in turned],
                self._names,
            ),
            wrong_sense=_words([(vector - sign * shift, heading), (-end, heading)], self._names),
        )
        return tagged_directions(after.value, self._names, mistakes)

    @abstractmethod
    def _other_moves(self, start: Start) -> list[Heading]:
        """Headings in which a careless reader may take the move's direction."""

    @abstractmethod
    def _other_headings(self, context: SceneContext, found: Found) -> list[Heading]:
        """Headings in which a careless reader may tell the answer."""


class MoveCameraDirection(MoveDirection):
    """Move and answer as the camera looks: front, and forward, lead away from it."""

    code = "object_move_agent"
    frame = "camera"

    def _headings(self, scene: Scene, start: Start, query: int, reference: int) -> Headings:
        return Headings("camera", (start.camera, start.camera, start.camera))

    def _frame(self, context: SceneContext, found: Found) -> Mapping[str, Any]:
        return frame_facts(found.step.start.camera)

    def _other_moves(self, start: Start) -> list[Heading]:
        return [world_heading()]

    def _other_headings(self, context: SceneContext, found: Found) -> list[Heading]:
        """North taken for front; and as seen by one who stands at the reference and faces the camera."""
        start = found.step.start
        center = context.scene.objects[found.reference].center_in_world
        facing = facing_or_none(center, start.world_from_camera.translation)
        return [world_heading(), *([] if facing is None else [facing])]


class MoveWorldDirection(MoveDirection):
    """Move and answer by the compass; see the module for what the stated heading asks of both."""

    code = "object_move_allocentric"
    frame = "world"
    needs_north = True

    def _headings(self, scene: Scene, start: Start, query: int, reference: int) -> Headings:
        return headings_of(scene, reference, frame="world")

    def _stated(self, step: Step) -> dict[str, str]:
        return {"camera_compass": stated_compass(step.start.world_from_camera).value}

    def _frame(self, context: SceneContext, found: Found) -> Mapping[str, Any]:
        return frame_facts(world_heading())

    def _before(self, context: SceneContext, start: Start, pair: Pair) -> Answer:
        view = context.view(start.view)
        return direction(context.scene, pair.query, reference=pair.reference, frame="world", view=view)

    def _possible(self, context: SceneContext, steps: Sequence[Step], pair: Pair, before: Answer) -> list[Found]:
        rounding_deg = stated_compass(steps[0].start.world_from_camera).rounding_deg
        vector = _between(context.scene, pair.query, pair.reference)
        return [
            found
            for found in super()._possible(context, steps, pair, before)
            if compass_rounding(vector, rounding_deg, found.step.shift) is None
        ]

    def _after(self, context: SceneContext, found: Found, state: Scene) -> Answer:
        after = super()._after(context, found, state)
        rounding_deg = stated_compass(found.step.start.world_from_camera).rounding_deg
        vector = _between(context.scene, found.query, found.reference)
        reason = compass_rounding(vector, rounding_deg, found.step.shift)
        read = direction_as_stated(vector, rounding_deg, found.step.shift)
        margins = {**after.margins, "ambiguity_as_stated": read.ambiguity}
        return Answer(after.value, after.numbers, margins, (*after.reasons, *([reason] if reason else [])))

    def _other_moves(self, start: Start) -> list[Heading]:
        return [start.camera]

    def _other_headings(self, context: SceneContext, found: Found) -> list[Heading]:
        """The top of the picture taken for north."""
        return [found.step.start.camera]


class MoveObjectDirection(MoveDirection):
    """Mover and query both face the camera at the start and keep these axes; the reference is looked for.

    The move counts in the mover's axes, the answer in the query's.
    """

    code = "object_move_object_centric"
    frame = "object"

    def _ends(self, query: int, reference: int) -> tuple[int, int]:
        return reference, query

    def _headings(self, scene: Scene, start: Start, query: int, reference: int) -> Headings:
        camera = _Posed(start)
        return headings_of(scene, query, frame="object", view=camera, facing="camera")

    def _frame(self, context: SceneContext, found: Found) -> Mapping[str, Any]:
        heading = self._headings(context.scene, found.step.start, found.query, found.reference).by_center[0]
        if heading is None:
            raise ValueError(f"{found.case}: the query has no heading")
        return frame_facts(heading, found.query, "camera")

    def _other_moves(self, start: Start) -> list[Heading]:
        return [start.camera]

    def _other_headings(self, context: SceneContext, found: Found) -> list[Heading]:
        """As the camera sees it, and with north taken for front."""
        return [found.step.start.camera, world_heading()]


class _Posed:
    """The camera of a start, as relations want it."""

    def __init__(self, start: Start) -> None:
        self.world_from_camera = start.world_from_camera


def sectors_of(vectors: Array, heading: Heading) -> tuple[Array, Array]:
    """(n,) numbers of sectors and (n,) ambiguities of vectors (n, 2): :func:`spacecast.frames.sector_of` for many."""
    forward, right = np.array(heading.forward_in_world), np.array(heading.right_in_world)
    angle_deg = np.degrees(np.arctan2(vectors @ right, vectors @ forward))
    index = np.floor(angle_deg / 45.0 + 0.5)
    return index.astype(np.int64) % 8, np.abs(angle_deg - 45.0 * index) / 22.5


def _between(scene: Scene, query: int, reference: int) -> Array:
    """(2,) from reference to query, on the floor plan."""
    vector: Array = scene.objects[query].center_in_world - scene.objects[reference].center_in_world
    return vector[:2]


def _words(cases: Iterable[tuple[Array, Heading | None]], names: Sequence[str]) -> list[str]:
    """Directions of vectors in headings, in the answer's words; what has none is left out."""
    return [
        sector_of(heading.angle_deg_of(vector), names).value
        for vector, heading in cases
        if heading is not None and np.any(vector)
    ]
