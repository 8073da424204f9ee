"""Rotate Object Direction: one thing is carried around another; where is a third, to one who then faces the centre?

Every orbit of everything that may move, around everything that can be faced, is tried at once on centres alone: which
answers would be certain before and after, and differ. Where there is room for the orbit is asked next, and what is kept
is worked out exactly on the state after it. SEMANTICS sections 5 and 6.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from questions.changes import (
    Body,
    Mistakes,
    bodies,
    changed_facts,
    margins_of,
    orbit_facts,
    preference_of,
    tagged_directions,
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
from questions.directions import directed_ids, direction_relation, frame_facts, sector_in, too_near
from questions.fair import drafts_of, in_turn, key_of
from questions.moves import may_attach
from spacecast.dataset.context import SceneContext
from spacecast.dataset.showings import Images, Showing
from spacecast.dataset.types import Draft, Refusal
from spacecast.frames import SECTORS, Array, world_heading
from spacecast.frames import SETTINGS as FRAMES
from spacecast.relations.direction import SETTINGS as DIRECTION
from spacecast.relations.direction import direction_in, headings_of
from spacecast.scene import Orbit
from spacecast.scene.feasibility import Clearance
from spacecast.scene.interventions import SETTINGS as INTERVENTION
from spacecast.scene.interventions import Sense, orbit_shifts, resolve


@dataclass(frozen=True)
class RotationSettings:
    """Which orbits are tried; SEMANTICS section 5."""

    angles_deg: tuple[int, ...] = (45, 90, 135)
    """Either way; and half a circle, which has no sense."""
    half_circle_deg: int = 180
    sector_deg: float = 45.0
    """Width of one direction."""


SETTINGS = RotationSettings()


class Turn(NamedTuple):
    """By how much, and which way round, seen from above."""

    angle_deg: int
    sense: Sense

    @property
    def clockwise_deg(self) -> float:
        """Negative the other way round."""
        return float(self.angle_deg if self.sense == "clockwise" else -self.angle_deg)

    @property
    def opposite(self) -> Turn:
        """The other way round; of half a circle, itself."""
        if self.angle_deg == SETTINGS.half_circle_deg:
            return self
        return Turn(self.angle_deg, "counterclockwise" if self.sense == "clockwise" else "clockwise")

    @property
    def stated(self) -> dict[str, str]:
        """What the text states; half a circle ends in one place either way round."""
        angle = {"angle_deg": str(self.angle_deg)}
        return angle if self.angle_deg == SETTINGS.half_circle_deg else {**angle, "sense": self.sense}

    @property
    def word(self) -> str:
        """Key of the wording tables."""
        if self.angle_deg == SETTINGS.half_circle_deg:
            return "half_circle"
        return f"{self.sense}_{self.angle_deg}"


TURNS: tuple[Turn, ...] = (
    *(Turn(angle, "clockwise") for angle in SETTINGS.angles_deg),
    *(Turn(angle, "counterclockwise") for angle in SETTINGS.angles_deg),
    Turn(SETTINGS.half_circle_deg, "clockwise"),
)
"""All orbits that are asked about."""


class Found(NamedTuple):
    """An orbit and a relation that centres alone make certain before and after."""

    body: Body
    around: int
    turn: Turn
    query: int
    reference: int
    value: str
    """The answer."""
    other_way: str
    """The answer if the orbit went the other way round."""
    ambiguity: float

    @property
    def shown_first(self) -> frozenset[int]:
        """What is to be seen in the first view; the reference is in the last."""
        return frozenset((self.body.root, self.around, self.query))

    @property
    def case(self) -> str:
        """Unique in a scene."""
        ids = (self.body.root, self.around, self.query, self.reference)
        return "-".join(map(str, (*ids, self.turn.angle_deg, self.turn.sense)))

    @property
    def orbit(self) -> Orbit:
        """The intervention."""
        return Orbit(self.body.root, self.around, float(self.turn.angle_deg), self.turn.sense)


class Told(NamedTuple):
    """Directions by centres alone, of n references after each of k shifts of the one who looks; (k, n)."""

    sector: NDArray[np.int64]
    """Numbers of :data:`SECTORS`."""
    ambiguity: Array
    certain: NDArray[np.bool_]
    """Facing stable, not ambiguous, the three centres agree, and not too close."""


def told(query: Array, faced: Array, references: Array, shifts: Array) -> Told:
    """Where references are to one who stands at a query and faces something, after each of some shifts of the query.

    Exactly what :func:`spacecast.relations.direction.direction_in` makes of centres, for many at once.

    Args:
        query: (3, 3) the three centres, in world.
        faced: (3, 3) of what is faced, which does not move.
        references: (n, 3, 3) of what is looked for, which does not move.
        shifts: (k, 2) on the floor plan.
    """
    stands = np.repeat(query[None], len(shifts), axis=0)
    stands[:, :, :2] += shifts[:, None, :]
    ahead = faced[None] - stands  # (k, 3, 3)
    flat, full = np.linalg.norm(ahead[..., :2], axis=-1), np.linalg.norm(ahead, axis=-1)
    stable = ((flat >= FRAMES.min_facing_distance_m) & (flat >= FRAMES.min_facing_horizontal_share * full)).all(axis=-1)
    x, y = np.moveaxis(references[None, :, :, :2] - stands[:, None, :, :2], -1, 0)  # (k, n, 3)
    fx, fy = np.moveaxis(ahead[:, None, :, :2], -1, 0)
    angle = np.degrees(np.arctan2(x * fy - y * fx, x * fx + y * fy))
    number = np.floor(angle / SETTINGS.sector_deg + 0.5)
    ambiguity = np.abs(angle[..., 0] / SETTINGS.sector_deg - number[..., 0]) * 2.0
    sector = number.astype(np.int64) % len(SECTORS)
    certain = (
        stable[:, None]
        & (ambiguity <= DIRECTION.max_ambiguity)
        & (sector == sector[..., :1]).all(axis=-1)
        & (np.hypot(x[..., 0], y[..., 0]) >= DIRECTION.min_center_distance_m)
    )
    return Told(sector[..., 0], ambiguity, certain)


class RotatedObject(BuiltType):
    """The mover orbits an object; the query, it or something that it carries, then faces that object."""

    code = "object_rotate_object_centric"

    def enumerate(self, context: SceneContext) -> Iterator[Draft | Refusal]:
        """Drafts of all feasible orbits with certain answers that change, in turn over answers, angles and senses."""
        yield from seen_refusals(context)
        search = _Search(context)
        movable = []
        for body in bodies(context):
            if isinstance(body, Refusal):
                yield body
            else:
                movable.append(body)
        for images in self.images:
            found: list[Found] = []
            for body in movable:
                for item in search.found(body, images):
                    if isinstance(item, Refusal):
                        yield item
                    else:
                        found.append(item)
            yield from in_turn(
                found,
                stated=lambda item: (item.body.is_carried(item.query), item.turn.angle_deg, item.turn.sense),
                answer=lambda item: item.value,
                alike=lambda item: (item.query, item.reference),
                rank=lambda item: (preference_of(item.body, item.query), item.ambiguity, item.case),
                case=lambda item: item.case,
                make=partial(self._made, context, search, images),
                key=key_of(context, self.code, images),
                max_drafts=drafts_of(images),
            )

    def _made(self, context: SceneContext, search: _Search, images: Images, found: Found) -> Draft | list[Refusal]:
        """The draft, or what stands against it in the state after the orbit."""
        showing = context.showings.showing(found.shown_first, {found.reference}, images)
        return [no_chain(found.case)] if showing is None else self._worked_out(context, search, showing, found)

    def _worked_out(
        self, context: SceneContext, search: _Search, showing: Showing, found: Found
    ) -> Draft | list[Refusal]:
        scene, body, turn = context.scene, found.body, found.turn
        query, reference, around = found.query, found.reference, found.around
        start = headings_of(scene, query, frame="object", facing=around)
        before = direction_in(scene, reference, reference=query, headings=start)
        state = scene.apply(found.orbit, check=False)
        derived = state if may_attach(scene, state, body, reference) else scene
        faces = headings_of(state, query, frame="object", facing=around)
        after = direction_in(state, reference, reference=query, headings=faces, attachment_of=derived)
        for answer in (before, after):
            if not answer.certain:
                return relation_refusals(answer, found.case)
        heading, kept = faces.by_center[0], start.by_center[0]
        if heading is None or kept is None or after.value == before.value:
            return [Refusal("relation", "unchanged", found.case)]
        others = [h for h in (kept, context.heading(showing.first), world_heading()) if h is not None]
        mistakes = Mistakes(
            before.value,
            carried=body.is_carried(query),
            wrong_frame=[sector_in(h, state, reference, query, SECTORS) for h in others],
            wrong_sense=[found.other_way],
        )
        named_as = [(body.root, "mover"), (query, "query"), (around, "facing"), (reference, "reference")]
        return Draft(
            # One picture of an orbit goes without saying which: the clearest.
            case=found.case if showing.images == "1" else f"{found.case}-{showing.case}",
            views=showing.views,
            facts=changed_facts(
                context,
                showing.views,
                body=body,
                named_as=named_as,
                intervention=orbit_facts(body, around, turn.angle_deg, turn.sense),
                relation=with_after(
                    direction_relation(reference, query, before), direction_relation(reference, query, after)
                ),
                margins={
                    **margins_of(before.margins, after.margins),
                    "path_clear": float(search.path_is_clear(body, found.orbit)),
                    **showing.margins,
                },
                frame=frame_facts(heading, query, around),
            ),
            choices=tagged_directions(after.value, SECTORS, mistakes),
            words={
                **words_of(context, {"mover": body.root, "query": query, "around": around, "reference": reference}),
                **words_of_pictures(showing),
                "orbit": turn.word,
            },
            stated={**turn.stated, "images": showing.images},
            balance=after.value,
            likeness="-".join(map(str, sorted((query, around, reference)))),
            preference=preference_of(body, query),
            unchanged=False,
        )


class _Search:
    """What can be asked of the bodies of one scene."""

    def __init__(self, context: SceneContext) -> None:
        self._context = context
        self._seen = directed_ids(context)
        self._centers = np.array([context.scene.objects[i].centers_in_world for i in self._seen]).reshape(-1, 3, 3)
        self._row = {i: row for row, i in enumerate(self._seen)}
        self._clearances: dict[int, Clearance] = {}
        self._free: dict[tuple[int, int], dict[Turn, bool]] = {}
        self._near_ids: dict[int, set[int]] = {}

    def path_is_clear(self, body: Body, orbit: Orbit) -> bool:
        """True if the way around is free, too."""
        return self._clearance(body).path_is_clear(resolve(self._context.scene, orbit).path_in_world)

    def _clearance(self, body: Body) -> Clearance:
        if body.root not in self._clearances:
            self._clearances[body.root] = Clearance(self._context.scene, body.root, body.moved)
        return self._clearances[body.root]

    def found(self, body: Body, images: Images) -> Iterator[Found | Refusal]:
        """All orbits of a body that have room and lead from one certain answer to another, and may be shown so."""
        if body.root not in self._row:
            return
        queries = [i for i in body.moved if i in self._row]
        for around in self._seen:
            if around not in body.moved and self._context.views_seeing((body.root, around)):
                if around not in self._near_ids:
                    yield from self._look_near(around)
                yield from self._around(body, around, queries, images)

    def _around(self, body: Body, around: int, queries: Sequence[int], images: Images) -> Iterator[Found | Refusal]:
        scene = self._context.scene
        example = f"{named(self._context, body.root)} around {named(self._context, around)}"
        center, start = scene.objects[around].center_in_world, scene.objects[body.root].center_in_world
        if np.linalg.norm((start - center)[:2]) < INTERVENTION.min_radius_m:
            yield Refusal("change", "no_way_around", example)
            return
        shifts = orbit_shifts(start, center, [turn.clockwise_deg for turn in TURNS])
        possible = [item for query in queries for item in self._certain(body, around, query, shifts, images)]
        if not possible:
            yield Refusal("relation", "no_certain_orbit", example)
            return
        key = (body.root, around)
        if key not in self._free:
            self._free[key] = dict(zip(TURNS, self._clearance(body).free(shifts).tolist(), strict=True))
        is_free = self._free[key]
        for turn in sorted({item.turn for item in possible}):
            if not is_free[turn]:
                yield Refusal("change", "infeasible", f"{example} by {turn.angle_deg} degrees {turn.sense}")
        yield from (item for item in possible if is_free[item.turn])

    def _look_near(self, around: int) -> Iterator[Refusal]:
        """Finds what touches or carries what is orbited, and so is in front of whoever faces that; says why once."""
        near = {i: too_near(self._context, i, around) for i in self._seen if i != around}
        self._near_ids[around] = {around, *(i for i, refusals in near.items() if refusals)}
        for refusals in near.values():
            yield from refusals

    def _certain(self, body: Body, around: int, query: int, shifts: Array, images: Images) -> Iterator[Found]:
        """What centres alone make certain before and after, and different."""
        ends = self._context.showings.ends({body.root, around, query}, images)
        references = [i for i in ends if i in self._row and i not in body.moved and i not in self._near_ids[around]]
        if not references:
            return
        rows = [self._row[i] for i in references]
        centers = self._centers
        states = told(
            centers[self._row[query]],
            centers[self._row[around]],
            centers[rows],
            np.concatenate([np.zeros((1, 2)), shifts]),
        )
        good = states.certain[1:] & states.certain[:1] & (states.sector[1:] != states.sector[:1])
        for k, n in np.argwhere(good).tolist():
            turn = TURNS[k]
            back = TURNS.index(turn.opposite)
            yield Found(
                body,
                around,
                turn,
                query,
                references[n],
                SECTORS[states.sector[1 + k, n]],
                SECTORS[states.sector[1 + back, n]],
                float(states.ambiguity[1 + k, n]),
            )
