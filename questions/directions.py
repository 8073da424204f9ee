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
    clearest,
    facts_of,
    groups_seen,
    named,
    relation_refusals,
    seen_refusals,
    single,
    words_of,
)
from spacecast.dataset.context import SceneContext
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


class Found(NamedTuple):
    """A certain answer for two objects in a view."""

    target: int
    reference: int
    view: str
    heading: Heading
    answer: Answer

    @property
    def ids(self) -> tuple[int, int]:
        """The two that the text names."""
        return self.target, self.reference


class PairDirection(BuiltType):
    """Target from reference, in a frame that the camera of the picture gives: its own, or the compass as stated."""

    frame: Literal["camera", "world"]
    names: tuple[str, ...]
    """The eight words of the frame, clockwise from forward."""

    def enumerate(self, context: SceneContext) -> Iterator[Draft | Refusal]:
        """One draft for each that is found."""
        for found in self.found(context):
            yield self._draft(context, found) if isinstance(found, Found) else found

    def found(self, context: SceneContext) -> Iterator[Found | Refusal]:
        """One for each ordered pair, answer and stated heading: of the views that give it, the clearest."""
        yield from seen_refusals(context)
        for pair, views in groups_seen(context, 2, can_direct).items():
            near = too_near(context, *pair)
            if near:
                yield from near
                continue
            for target, reference in permutations(pair):
                groups: dict[tuple[str, ...], list[Found]] = {}
                for name in views:
                    found = self._found(context, target, reference, name)
                    if isinstance(found, Found):
                        key = (*self.stated(found.heading).values(), found.answer.value)
                        groups.setdefault(key, []).append(found)
                    else:
                        yield from found
                for key in sorted(groups):
                    best = clearest(context, [found.view for found in groups[key]], pair)
                    yield next(f for f in groups[key] if f.view == best)

    def _found(self, context: SceneContext, target: int, reference: int, name: str) -> Found | list[Refusal]:
        example = f"{named(context, target)} from {named(context, reference)} in {name}"
        heading = context.heading(name)
        if heading is None:
            return [Refusal("view", "no_camera_heading", example)]
        view = context.view(name)
        answer = direction(context.scene, target, reference=reference, frame=self.frame, view=view)
        if not answer.certain:
            return relation_refusals(answer, example)
        return Found(target, reference, name, heading, answer)

    def _draft(self, context: SceneContext, found: Found) -> Draft:
        views, stated = single(found.view), self.stated(found.heading)
        target, reference = found.target, found.reference
        frame = found.heading if self.frame == "camera" else world_heading()
        return Draft(
            case=f"{target}-{reference}-{found.view}",
            views=views,
            facts=facts_of(
                context,
                views,
                roles={target: ["target"], reference: ["reference"]},
                relation=direction_relation(target, reference, found.answer),
                margins=found.answer.margins,
                binding_view=found.view,
                camera_compass=stated.get("camera_compass"),
                frame=frame_facts(frame),
            ),
            choices=direction_choices(found.answer.value, frame.names, self.elsewhere(context, context.scene, found)),
            words={**words_of(context, {"target": target, "reference": reference}), **self._said(stated)},
            stated=stated,
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
        camera_in_world = context.view(found.view).world_from_camera.translation
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
    view: str
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

    def found(self, context: SceneContext) -> Iterator[Faced | Refusal]:
        """For each anchor, target and answer one: the faced object that makes it least ambiguous."""
        yield from seen_refusals(context)
        views_of = groups_seen(context, 3, can_direct)
        best: dict[tuple[int, int, str], tuple[float, int, Answer]] = {}
        near = set()
        for pair in sorted({pair for triple in views_of for pair in combinations(triple, 2)}):
            refusals = too_near(context, *pair)
            if refusals:
                near.add(pair)
                yield from refusals
        for triple in views_of:
            for anchor, facing, target in permutations(triple):
                if (min(anchor, target), max(anchor, target)) in near:
                    continue
                example = f"{named(context, target)} from {named(context, anchor)} facing {named(context, facing)}"
                answer = direction(context.scene, target, reference=anchor, frame="object", facing=facing)
                if not answer.certain:
                    yield from relation_refusals(answer, example)
                    continue
                key = (anchor, target, answer.value)
                rank = (float(answer.margins["ambiguity"]), facing, answer)
                if key not in best or rank[:2] < best[key][:2]:
                    best[key] = rank
        for (anchor, target, _), (_, facing, answer) in sorted(best.items(), key=lambda item: item[0]):
            ids = (anchor, facing, target)
            yield Faced(*ids, clearest(context, views_of[tuple(sorted(ids))], ids), answer)


class ObjectDirection(FacedDirection):
    """You are the anchor and face an object; where is the target?"""

    code = "direction_object_centric"

    def enumerate(self, context: SceneContext) -> Iterator[Draft | Refusal]:
        """One draft for each that is found."""
        for found in self.found(context):
            yield self._draft(context, found) if isinstance(found, Faced) else found

    def _draft(self, context: SceneContext, found: Faced) -> Draft:
        anchor, facing, target, name, answer = found
        objects, views = context.scene.objects, single(name)
        heading = facing_heading(objects[anchor].center_in_world, objects[facing].center_in_world)
        others = [h for h in (context.heading(name), world_heading()) if h is not None]
        return Draft(
            case=f"{anchor}-{facing}-{target}-{name}",
            views=views,
            facts=facts_of(
                context,
                views,
                roles={target: ["target"], anchor: ["anchor"], facing: ["facing"]},
                relation=direction_relation(target, anchor, answer),
                margins=answer.margins,
                frame=frame_facts(heading, anchor, facing),
            ),
            choices=direction_choices(
                answer.value, SECTORS, [sector_in(h, context.scene, target, anchor, SECTORS) for h in others]
            ),
            words=words_of(context, {"target": target, "anchor": anchor, "facing": facing}),
            stated={},
            balance=answer.value,
            likeness="-".join(map(str, sorted(found.ids))),
        )
