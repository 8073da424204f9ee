"""Move types: one thing goes straight to another place on the floor; what is the relation now? SEMANTICS 5 and 6.

All moves of the settings are tried, of everything that may move, in every view: where there is room, they are sifted by
bounds that see only centres and boxes, and what is kept is worked out exactly, on the state after the move.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from questions.changes import (
    Body,
    bodies,
    changed_facts,
    margins_of,
    move_facts,
    preference_of,
    with_after,
)
from questions.common import (
    BuiltType,
    named,
    no_chain,
    relation_refusals,
    seen_refusals,
    words_of,
    words_of_pictures,
)
from questions.fair import drafts_of, in_turn, key_of
from spacecast.dataset.context import SceneContext, ViewRecord
from spacecast.dataset.showings import Images, Showing
from spacecast.dataset.types import Choice, Draft, Refusal
from spacecast.errors import FrameError
from spacecast.frames import COMPASS, Heading, Transform, facing_heading, world_heading
from spacecast.geometry.boxes import AxisBox
from spacecast.relations import Answer
from spacecast.relations.direction import attached_pairs
from spacecast.scene import Move, Scene, SceneObject
from spacecast.scene.feasibility import Clearance
from spacecast.scene.interventions import MOVE_WORDS, move_shifts


@dataclass(frozen=True)
class MoveSettings:
    """Which moves are tried; SEMANTICS section 5."""

    distances_m: tuple[float, ...] = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
    """How far."""
    attach_beside_m: float = 0.1
    """Boxes that are farther apart on the floor plan have no edge between them: contact is looked for within 0.08
    (SEMANTICS 3, loose values)."""
    attach_above_m: float = 0.2
    """The same for heights: within 0.17."""


SETTINGS = MoveSettings()


class Start(NamedTuple):
    """A body in the first view of what is shown, before it moves."""

    view: str
    world_from_camera: Transform
    camera: Heading
    """Of the view's camera."""
    body: Body
    heading: Heading
    """In which the direction of the move counts."""
    facing: Literal["camera"] | None
    """What the mover faces, where the heading is its own."""


class Step(NamedTuple):
    """One move of a body in a view."""

    start: Start
    direction: str
    distance_m: float
    shift: tuple[float, float]
    """On the floor plan, in world."""

    @property
    def move(self) -> Move:
        """The intervention."""
        start = self.start
        frame: Any = start.heading.kind
        return Move(start.body.root, self.direction, self.distance_m, frame, start.world_from_camera, start.facing)


class Pair(NamedTuple):
    """What is asked about, and how it is shown: mover and query in the first view, the reference in the last."""

    query: int
    reference: int
    showing: Showing


class Found(NamedTuple):
    """What could be asked."""

    step: Step
    pair: Pair
    before: Answer
    expected: str
    """The answer, as far as it is known before the state after the move is looked at."""
    doubt: float
    """Smaller is clearer."""
    tempts: bool = True
    """The answer before the move is among the options."""

    @property
    def query(self) -> int:
        """What moves and is asked about."""
        return self.pair.query

    @property
    def reference(self) -> int:
        """What stays and is asked about."""
        return self.pair.reference

    @property
    def unchanged(self) -> bool:
        """True if the answer stays."""
        return bool(self.expected == self.before.value)

    @property
    def rank(self) -> tuple[Any, ...]:
        """Smaller is better, unique: the answer changes; the query is carried; the old answer tempts; it is clear."""
        carried = preference_of(self.step.start.body, self.query)
        return self.unchanged, carried, not self.tempts, self.doubt, self.case

    @property
    def case(self) -> str:
        """Unique in its scene and type."""
        step = self.step
        ids = f"{step.start.body.root}-{self.query}-{self.reference}"
        return f"{ids}-{self.pair.showing.case}-{step.direction}-{step.distance_m:g}"


class Ways:
    """What every move type asks of one scene: which shifts of a root end in free space.

    Kept for the last two scenes: it holds its scene, so that a weak key would never let go of either.
    """

    def __init__(self) -> None:
        self._clearances: dict[int, Clearance] = {}
        self._free: dict[int, dict[tuple[float, float], bool]] = {}
        self._clear: dict[tuple[int, tuple[float, float]], bool] = {}

    @staticmethod
    @lru_cache(maxsize=2)
    def of(scene: Scene) -> Ways:
        """The one of a scene."""
        return Ways()

    def free(self, scene: Scene, body: Body, shifts: Sequence[tuple[float, float]]) -> list[bool]:
        """Which shifts end inside the room and in nothing."""
        known = self._free.setdefault(body.root, {})
        unknown = sorted(set(shifts).difference(known))
        if unknown:
            if body.root not in self._clearances:
                self._clearances[body.root] = Clearance(scene, body.root, body.moved)
            known.update(zip(unknown, self._clearances[body.root].free(unknown).tolist(), strict=True))
        return [known[shift] for shift in shifts]

    def path_is_clear(self, shift: tuple[float, float], body: Body) -> bool:
        """True if the straight way to a shift that was asked about is free, too."""
        key = (body.root, shift)
        if key not in self._clear:
            self._clear[key] = self._clearances[body.root].path_is_clear([(0.0, 0.0), shift])
        return self._clear[key]


class MoveType(BuiltType):
    """The mover goes by a vector in a heading; the relation of query to reference is asked for."""

    frame: Literal["camera", "object", "world"]

    def enumerate(self, context: SceneContext) -> Iterator[Draft | Refusal]:
        """Drafts of every move that is feasible and has a certain answer, in turn over answers and directions."""
        yield from seen_refusals(context)
        movable = []
        for body in bodies(context):
            if isinstance(body, Body):
                movable.append(body)
            else:
                yield body
        best: dict[Images, dict[tuple[Any, ...], Found]] = {images: {} for images in self.images}
        for record in context.records:
            for body in movable:
                if body.root in record.seen_ids:
                    for found in self._in_view(context, record, body):
                        if isinstance(found, Refusal):
                            yield found
                            continue
                        alike, key = best[found.pair.showing.images], self._key(found)
                        if key not in alike or self._rank(found) < self._rank(alike[key]):
                            alike[key] = found
        for images, alike in best.items():
            yield from in_turn(
                alike.values(),
                stated=lambda found: (
                    found.step.start.body.is_carried(found.query),
                    *self._stated_first(found.step),
                    *self._from_names(context, found.pair).values(),
                ),
                answer=lambda found: found.expected,
                alike=self._alike,
                rank=lambda found: found.rank,
                case=lambda found: found.case,
                make=lambda found: self._made(context, found),
                key=key_of(context, self.code, images),
                max_drafts=self._most(images),
            )

    def _most(self, images: Images) -> int:
        """Drafts from one scene with so many pictures."""
        return drafts_of(images)

    def _key(self, found: Found) -> tuple[Any, ...]:
        """Of questions that differ in nothing but the pictures one is enough."""
        step = found.step
        ids = (step.start.body.root, found.query, found.reference)
        return (*ids, step.direction, step.distance_m, found.expected, *self._stated(step).values())

    def _rank(self, found: Found) -> tuple[float, str]:
        return -found.pair.showing.clearness, found.step.start.view

    def _stated_first(self, step: Step) -> tuple[Any, ...]:
        """What is drawn before the answer, beside whether the mover is asked about or what it carries."""
        return (step.direction, step.distance_m, *self._stated(step).values())

    def _alike(self, found: Found) -> tuple[Any, ...]:
        return (found.step.start.body.root, found.query, found.reference)

    def _in_view(self, context: SceneContext, record: ViewRecord, body: Body) -> Iterator[Found | Refusal]:
        """Everything about a body in a first view that has a certain answer and room to move."""
        pairs = [(images, *ids) for images in self.images for ids in self._pairs(context, record, body, images)]
        if not pairs:
            return
        start = self._start(context, record.name, body)
        if isinstance(start, Refusal):
            yield start
            return
        words = COMPASS if start.heading.kind == "world" else MOVE_WORDS
        shifts = move_shifts(start.heading, SETTINGS.distances_m)
        steps = [
            Step(start, word, distance_m, (float(x), float(y)))
            for word, row in zip(words, shifts, strict=True)
            for distance_m, (x, y) in zip(SETTINGS.distances_m, row, strict=True)
        ]
        free = Ways.of(context.scene).free(context.scene, body, [step.shift for step in steps])
        for step, is_free in zip(steps, free, strict=True):
            if not is_free:
                example = f"{named(context, body.root)} {step.distance_m:g} m {step.direction} in {record.name}"
                yield Refusal("change", "infeasible", example)
        steps = [step for step, is_free in zip(steps, free, strict=True) if is_free]
        if not steps:
            return
        for images, query, reference in pairs:
            example = f"{named(context, query)} from {named(context, reference)} in {record.name}"
            showing = context.showings.showing({body.root, query}, {reference}, images, (record.name,))
            if showing is None:
                yield no_chain(example)
                continue
            pair = Pair(query, reference, showing)
            before = self._before(context, start, pair)
            if not before.certain:
                yield from relation_refusals(before, example)
                continue
            possible = self._possible(context, steps, pair, before)
            if not possible:
                yield Refusal("relation", "no_certain_move", example)
            yield from possible

    def _pairs(self, context: SceneContext, record: ViewRecord, body: Body, images: Images) -> list[tuple[int, int]]:
        """(query, reference) that can be named together with the mover, the view being the first."""
        objects, names = context.scene.objects, context.names
        return [
            (query, reference)
            for query in record.seen_ids
            if query in body.moved and self._may_be(objects[query])
            for reference in context.showings.partners(record.name, {body.root, query}, images)
            if self._may_be(objects[reference])
            and reference not in body.moved
            and names.differ({body.root, query, reference})
        ]

    def _may_be(self, item: SceneObject) -> bool:
        return True

    def _start(self, context: SceneContext, view: str, body: Body) -> Start | Refusal:
        camera, pose = context.heading(view), context.view(view).world_from_camera
        center = context.scene.objects[body.root].center_in_world
        if camera is None:
            return Refusal("view", "no_camera_heading", view)
        if self.frame == "world":
            if not context.scene.is_aligned:
                return Refusal("relation", "not_aligned", view)
            return Start(view, pose, camera, body, world_heading(center), None)
        if self.frame == "camera":
            return Start(view, pose, camera, body, camera.at(center), None)
        try:
            return Start(view, pose, camera, body, facing_heading(center, pose.translation), "camera")
        except FrameError:
            return Refusal("relation", "unstable_facing", f"{named(context, body.root)} in {view}")

    @abstractmethod
    def _before(self, context: SceneContext, start: Start, pair: Pair) -> Answer:
        """The relation before the move."""

    @abstractmethod
    def _possible(self, context: SceneContext, steps: Sequence[Step], pair: Pair, before: Answer) -> list[Found]:
        """The moves that may lead to a certain answer, found by bounds."""

    @abstractmethod
    def _after(self, context: SceneContext, found: Found, state: Scene) -> Answer:
        """The relation in the state after the move, exactly."""

    @abstractmethod
    def _relation(self, found: Found, answer: Answer) -> dict[str, Any]:
        """``facts.relation`` in one state."""

    @abstractmethod
    def _choices(self, context: SceneContext, found: Found, after: Answer) -> tuple[Choice, ...]:
        """The options, with the mistakes that make them."""

    def _frame(self, context: SceneContext, found: Found) -> Mapping[str, Any] | None:
        """``facts.frame``."""
        return None

    def _stated(self, step: Step) -> dict[str, str]:
        """What the text states beside direction and distance."""
        return {}

    def _from_names(self, context: SceneContext, pair: Pair) -> dict[str, str]:
        """What the names tell of the answer to one who knows the world, as if it were stated."""
        return {}

    def _relative(self, found: Found, after: Answer) -> str | None:
        return None

    def _made(self, context: SceneContext, found: Found) -> Draft | list[Refusal]:
        """The draft, or what stands against it in the state after the move."""
        step, start = found.step, found.step.start
        body = start.body
        state = context.scene.apply(step.move, check=False)
        after = self._after(context, found, state)
        if not after.certain:
            return relation_refusals(after, found.case)
        relation = with_after(self._relation(found, found.before), self._relation(found, after))
        showing = found.pair.showing
        stated = {
            "direction": step.direction,
            "distance": f"{step.distance_m:g}",
            **self._stated(step),
            **self._from_names(context, found.pair),
            "images": showing.images,
        }
        has_facing = start.facing is not None
        clear = Ways.of(context.scene).path_is_clear(step.shift, body)
        return Draft(
            case=found.case,
            views=showing.views,
            facts=changed_facts(
                context,
                showing.views,
                body=body,
                named_as=[(body.root, "mover"), (found.query, "query"), (found.reference, "reference")],
                intervention=move_facts(
                    body,
                    start.heading,
                    step.direction,
                    step.distance_m,
                    (*step.shift, 0.0),
                    anchor=body.root if has_facing else None,
                    facing=start.facing,
                ),
                relation=relation,
                margins={
                    **margins_of(found.before.margins, after.margins),
                    "path_clear": float(clear),
                    **showing.margins,
                },
                binding_view=start.view,
                camera_compass=stated.get("camera_compass"),
                frame=self._frame(context, found),
            ),
            choices=self._choices(context, found, after),
            words={
                **words_of(context, {"mover": body.root, "query": found.query, "reference": found.reference}),
                **words_of_pictures(showing),
                "direction": step.direction if self.frame == "world" else f"{self.frame} {step.direction}",
                "distance": f"{step.distance_m:.1f} m",
                "query_is": "carried" if body.is_carried(found.query) else "mover",
                **({"heading": stated["camera_compass"]} if "camera_compass" in stated else {}),
            },
            stated=stated,
            balance=after.value,
            likeness="-".join(map(str, sorted((found.query, found.reference)))),
            preference=preference_of(body, found.query),
            relative=self._relative(found, after),
            unchanged=after.value == found.before.value,
        )


def may_attach(scene: Scene, state: Scene, body: Body, other: int) -> bool:
    """True if a body, where it is in a state, may have come to be attached to another object, directly or by a chain.

    Only then the state's attachment has to be derived.
    """
    pairs = attached_pairs(scene)
    ends = [state.objects[i].aabb for i in body.moved]
    for i, item in state.objects.items():
        if i in body.moved or item.is_structure or not (i == other or (i, other) in pairs):
            continue
        if any(_are_near(end, item.aabb) for end in ends):
            return True
    return False


def _are_near(one: AxisBox, other: AxisBox) -> bool:
    """True if two boxes are near enough for an edge."""
    apart = np.maximum(one.min - other.max, other.min - one.max)
    return bool(max(apart[0], apart[1]) <= SETTINGS.attach_beside_m and apart[2] <= SETTINGS.attach_above_m)
