"""Camera, Object and World Direction: where one object is from another, in three frames. SEMANTICS sections 1 and 3."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike

from questions.common import (
    BuiltType,
    choices_of,
    facts_of,
    kept,
    named,
    no_chain,
    relation_refusals,
    seen_refusals,
    words_of,
    words_of_pictures,
)
from spacecast.dataset.context import SceneContext
from spacecast.dataset.showings import Images, Showing
from spacecast.dataset.types import Choice, Draft, Refusal, Tag
from spacecast.errors import FrameError
from spacecast.frames import COMPASS, SECTORS, Heading, facing_heading, sector_of, world_heading
from spacecast.relations import Answer, direction
from spacecast.scene import Scene, SceneObject


@dataclass(frozen=True)
class DirectionSettings:
    """Which options are offered; SEMANTICS section 6."""

    apart: int = 2
    """Options are this many sectors of 45 degrees apart: four labels."""


SETTINGS = DirectionSettings()


def can_direct(o: SceneObject) -> bool:
    """True if an object may be target, reference or anchor of a direction: it has a shape of its own."""
    return "shapeless" not in o.traits


def direction_choices(value: str, names: Sequence[str], wrong_frames: Iterable[str]) -> tuple[Choice, ...]:
    """Four labels 90 degrees apart that hold the answer, in the order of the names.

    Each wrong one carries the first tag that fits: ``mirrored`` if left and right are exchanged, ``wrong_frame`` if it
    is the answer in another frame, else ``other``.

    Args:
        value: the answer.
        names: the eight words, clockwise from forward.
        wrong_frames: answers in the other frames, in the same eight words.
    """
    index = names.index(value)
    mirrored, elsewhere = names[-index % 8], frozenset(wrong_frames)

    def tag(other: str) -> Tag:
        if other == mirrored:
            return "mirrored"
        return "wrong_frame" if other in elsewhere else "other"

    return choices_of(names[index % SETTINGS.apart :: SETTINGS.apart], value, tag)


def sector_in(heading: Heading, scene: Scene, target: int, reference: int, names: Sequence[str]) -> str:
    """The sector of a target from a reference in a heading's forward, certain or not."""
    objects = scene.objects
    vector = objects[target].center_in_world - objects[reference].center_in_world
    return sector_of(heading.angle_deg_of(vector), names).value


def facing_or_none(anchor_in_world: ArrayLike, faced_in_world: ArrayLike) -> Heading | None:
    """The heading of one who stands at a point (3,) and faces another; None where the facing is not stable."""
    try:
        return facing_heading(anchor_in_world, faced_in_world)
    except FrameError:
        return None


def direction_relation(target: int, reference: int, answer: Answer) -> dict[str, Any]:
    """``facts.relation`` of a direction without an intervention."""
    before = {
        "value": answer.value,
        "angle_deg": float(answer.numbers["angle_deg"]),
        "ambiguity": float(answer.margins["ambiguity"]),
    }
    return {"kind": "direction", "target": target, "reference": reference, "before": before, "after": None}


def frame_facts(heading: Heading, anchor: int | None = None, facing: int | str | None = None) -> dict[str, Any]:
    """``facts.frame``; FORMATS section 3."""
    return {
        "kind": heading.kind,
        "anchor": anchor,
        "facing": facing,
        "heading_in_world": list(heading.forward_in_world),
    }


PAIR_REASONS = frozenset({"attached", "boxes_touch", "centers_close", "footprints_overlap"})
"""Reasons that two objects have no certain direction in any frame."""


def too_near(context: SceneContext, one: int, other: int) -> list[Refusal]:
    """What stands against any direction between two objects; empty if nothing does."""
    reasons = direction(context.scene, one, reference=other, frame="world").reasons
    example = f"{named(context, one)} and {named(context, other)}"
    return [Refusal("relation", reason, example) for reason in reasons if reason in PAIR_REASONS]


def directed_ids(context: SceneContext) -> list[int]:
    """Objects that a direction may be about and that are to be seen in some view, sorted."""
    return [i for i in context.showings.seen_ids if can_direct(context.scene.objects[i])]


class Found(NamedTuple):
    """A certain answer for two objects as they are shown."""

    target: int
    reference: int
    showing: Showing
    heading: Heading
    """Of the first view's camera."""
    answer: Answer

    @property
    def ids(self) -> tuple[int, int]:
        """The two that the text names."""
        return self.target, self.reference


class _Told(NamedTuple):
    """A certain answer in a heading."""

    heading: Heading
    answer: Answer
    group: tuple[str, ...]
    """The answer and what the text states: of views that share it one is enough."""


class PairDirection(BuiltType):
    """Target from reference, in a frame that the camera of the picture gives: its own, or the compass as stated."""

    frame: Literal["camera", "world"]
    names: tuple[str, ...]
    """The eight words of the frame, clockwise from forward."""

    def enumerate(self, context: SceneContext) -> Iterator[Draft | Refusal]:
        """One draft for each that is found."""
        for found in self.found(context, self.images):
            yield self._draft(context, found) if isinstance(found, Found) else found

    def found(self, context: SceneContext, possible: Sequence[Images]) -> Sequence[Found | Refusal]:
        """One for each ordered pair, number of pictures, answer and stated heading: of the views that give it, the
        clearest. The target is in the first view, the reference in the last. Kept, for levels 1 and 3."""
        return kept(context, ("found", self.frame, *possible), lambda: tuple(self._search(context, possible)))

    def _search(self, context: SceneContext, possible: Sequence[Images]) -> Iterator[Found | Refusal]:
        yield from seen_refusals(context)
        starts = context.showings.starts
        for pair in combinations(directed_ids(context), 2):
            shown = [
                (target, reference, images)
                for target, reference in permutations(pair)
                for images in possible
                if starts((target,), (reference,), images)
            ]
            near = too_near(context, *pair) if shown else []
            if near:
                yield from near
                continue
            told: dict[tuple[int, int, str], _Told] = {}
            tried = set()
            for target, reference, images in shown:
                groups: dict[tuple[str, ...], list[str]] = {}
                for name in starts((target,), (reference,), images):
                    key = (target, reference, name)
                    if key not in tried:
                        tried.add(key)
                        known = self._told(context, *key)
                        if isinstance(known, _Told):
                            told[key] = known
                        else:
                            yield from known
                    if key in told:
                        groups.setdefault(told[key].group, []).append(name)
                for group in sorted(groups):
                    showing = context.showings.showing((target,), (reference,), images, groups[group])
                    if showing is None:
                        yield no_chain(f"{named(context, target)} from {named(context, reference)}")
                    else:
                        heading, answer, _ = told[target, reference, showing.first]
                        yield Found(target, reference, showing, heading, answer)

    def _told(self, context: SceneContext, target: int, reference: int, name: str) -> _Told | list[Refusal]:
        """The answer as the camera of a view tells it."""
        example = f"{named(context, target)} from {named(context, reference)} in {name}"
        heading = context.heading(name)
        if heading is None:
            return [Refusal("view", "no_camera_heading", example)]
        view = context.view(name)
        answer = direction(context.scene, target, reference=reference, frame=self.frame, view=view)
        if not answer.certain:
            return relation_refusals(answer, example)
        return _Told(heading, answer, (*self.stated(heading).values(), answer.value))

    def _draft(self, context: SceneContext, found: Found) -> Draft:
        showing, stated = found.showing, self.stated(found.heading)
        target, reference = found.target, found.reference
        frame = found.heading if self.frame == "camera" else world_heading()
        return Draft(
            case=f"{target}-{reference}-{showing.case}",
            views=showing.views,
            facts=facts_of(
                context,
                showing.views,
                roles={target: ["target"], reference: ["reference"]},
                relation=direction_relation(target, reference, found.answer),
                margins={**found.answer.margins, **showing.margins},
                binding_view=showing.first,
                camera_compass=stated.get("camera_compass"),
                frame=frame_facts(frame),
            ),
            choices=direction_choices(found.answer.value, frame.names, self.elsewhere(context, context.scene, found)),
            words={
                **words_of(context, {"target": target, "reference": reference}),
                **words_of_pictures(showing),
                **self._said(stated),
            },
            stated={**stated, "images": showing.images},
            balance=found.answer.value,
            likeness="-".join(map(str, sorted((target, reference)))),
        )

    def stated(self, heading: Heading) -> dict[str, str]:
        """What the text states of the camera."""
        return {}

    def _said(self, stated: Mapping[str, str]) -> dict[str, str]:
        return {"heading": stated["camera_compass"]} if stated else {}

    def elsewhere(self, context: SceneContext, scene: Scene, found: Found) -> list[str]:
        """The answer in a state of the scene: with north taken for front, and to one who faces the camera."""
        answers = [sector_in(world_heading(), scene, found.target, found.reference, SECTORS)]
        camera_in_world = context.view(found.showing.first).world_from_camera.translation
        facing = facing_or_none(scene.objects[found.reference].center_in_world, camera_in_world)
        if facing is not None:
            answers.append(sector_in(facing, scene, found.target, found.reference, SECTORS))
        return answers


class CameraDirection(PairDirection):
    """Target from reference, front being away from the camera."""

    code = "direction_agent"
    frame = "camera"
    names = SECTORS


class WorldDirection(PairDirection):
    """Target from reference by the compass; the text gives the camera's own heading, rounded to eight directions."""

    code = "direction_allocentric"
    needs_north = True
    frame = "world"
    names = COMPASS

    def stated(self, heading: Heading) -> dict[str, str]:
        """The camera's heading by the compass."""
        return {"camera_compass": sector_of(heading.compass_deg, COMPASS).value}

    def elsewhere(self, context: SceneContext, scene: Scene, found: Found) -> list[str]:
        """The answer in a state of the scene, with the top of the picture taken for north."""
        return [sector_in(found.heading, scene, found.target, found.reference, COMPASS)]


class Faced(NamedTuple):
    """A certain answer for one who stands at an anchor and faces an object."""

    anchor: int
    facing: int
    target: int
    showing: Showing
    answer: Answer

    @property
    def ids(self) -> tuple[int, int, int]:
        """The three that the text names."""
        return self.anchor, self.facing, self.target

    @property
    def reference(self) -> int:
        """Where the direction is counted from."""
        return self.anchor


class FacedDirection(BuiltType):
    """Target from an anchor that faces another object."""

    def found(self, context: SceneContext, possible: Sequence[Images]) -> Sequence[Faced | Refusal]:
        """For each number of pictures, anchor, target and answer one: the faced object that makes it least ambiguous.

        Anchor and faced object are in the first view, the target in the last. Kept, for levels 1 and 3.
        """
        return kept(context, ("found", "object", *possible), lambda: tuple(self._search(context, possible)))

    def _search(self, context: SceneContext, possible: Sequence[Images]) -> Iterator[Faced | Refusal]:
        yield from seen_refusals(context)
        search = _FacedSearch(context)
        for images in possible:
            ranked = search.ranked(images)
            yield from search.refused()
            for anchor, target, value in sorted(ranked):
                for _, facing, answer in sorted(ranked[anchor, target, value], key=lambda rank: rank[:2]):
                    showing = context.showings.showing((anchor, facing), (target,), images)
                    if showing is not None:
                        yield Faced(anchor, facing, target, showing, answer)
                        break
                    yield no_chain(search.example(anchor, facing, target))


class _FacedSearch:
    """Answers of all who stand at one thing and face another; each worked out once, refused once."""

    def __init__(self, context: SceneContext) -> None:
        self._context = context
        self._answers: dict[tuple[int, int, int], Answer] = {}
        self._near: dict[tuple[int, int], bool] = {}
        self._refused: list[Refusal] = []

    def ranked(self, images: Images) -> dict[tuple[int, int, str], list[tuple[float, int, Answer]]]:
        """(anchor, target, answer) -> (ambiguity, faced object, answer) of all that so many pictures may show."""
        found: dict[tuple[int, int, str], list[tuple[float, int, Answer]]] = {}
        ids = directed_ids(self._context)
        for anchor, facing in permutations(ids, 2):
            ends = self._context.showings.ends((anchor, facing), images)
            for target in ids:
                if target in (anchor, facing) or target not in ends:
                    continue
                # What touches or carries what is faced is in front, whatever the pictures show.
                if self._is_near(anchor, target) or self._is_near(facing, target):
                    continue
                answer = self._answer(anchor, facing, target)
                if answer.certain:
                    rank = (float(answer.margins["ambiguity"]), facing, answer)
                    found.setdefault((anchor, target, answer.value), []).append(rank)
        return found

    def refused(self) -> list[Refusal]:
        """What has been refused since this was asked last."""
        refused, self._refused = self._refused, []
        return refused

    def example(self, anchor: int, facing: int, target: int) -> str:
        """For refusals."""
        one, other, third = (named(self._context, i) for i in (target, anchor, facing))
        return f"{one} from {other} facing {third}"

    def _is_near(self, anchor: int, target: int) -> bool:
        pair = (min(anchor, target), max(anchor, target))
        if pair not in self._near:
            refusals = too_near(self._context, *pair)
            self._refused += refusals
            self._near[pair] = bool(refusals)
        return self._near[pair]

    def _answer(self, anchor: int, facing: int, target: int) -> Answer:
        key = (anchor, facing, target)
        if key not in self._answers:
            answer = direction(self._context.scene, target, reference=anchor, frame="object", facing=facing)
            self._refused += relation_refusals(answer, self.example(*key))
            self._answers[key] = answer
        return self._answers[key]


class ObjectDirection(FacedDirection):
    """You are the anchor and face an object; where is the target?"""

    code = "direction_object_centric"

    def enumerate(self, context: SceneContext) -> Iterator[Draft | Refusal]:
        """One draft for each that is found."""
        for found in self.found(context, self.images):
            yield self._draft(context, found) if isinstance(found, Faced) else found

    def _draft(self, context: SceneContext, found: Faced) -> Draft:
        anchor, facing, target, showing, answer = found
        objects = context.scene.objects
        heading = facing_heading(objects[anchor].center_in_world, objects[facing].center_in_world)
        others = [h for h in (context.heading(showing.first), world_heading()) if h is not None]
        return Draft(
            case=f"{anchor}-{facing}-{target}-{showing.case}",
            views=showing.views,
            facts=facts_of(
                context,
                showing.views,
                roles={target: ["target"], anchor: ["anchor"], facing: ["facing"]},
                relation=direction_relation(target, anchor, answer),
                margins={**answer.margins, **showing.margins},
                frame=frame_facts(heading, anchor, facing),
            ),
            choices=direction_choices(
                answer.value, SECTORS, [sector_in(h, context.scene, target, anchor, SECTORS) for h in others]
            ),
            words={
                **words_of(context, {"target": target, "anchor": anchor, "facing": facing}),
                **words_of_pictures(showing),
            },
            stated={"images": showing.images},
            balance=answer.value,
            likeness="-".join(map(str, sorted(found.ids))),
        )
