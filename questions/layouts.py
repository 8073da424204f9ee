"""Camera, Object and World Direction after the whole layout has turned: level 3. SEMANTICS sections 5 and 6.

Everything but structure turns clockwise about the room's centre; the camera, the compass and the direction in which an
anchor faced at first stay. So every answer turns by the stated angle, and none is unchanged. What is certain before is
certain after, quarter turns being exact; both states are asked all the same.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

from questions.changes import Mistakes, changed_facts, layout_facts, margins_of, tagged_directions, with_after
from questions.common import BuiltType, named, relation_refusals, words_of, words_of_pictures
from questions.directions import (
    CameraDirection,
    Faced,
    FacedDirection,
    Found,
    PairDirection,
    WorldDirection,
    direction_relation,
    frame_facts,
    sector_in,
)
from questions.fair import drafts_of, in_turn, key_of
from spacecast.dataset.context import SceneContext
from spacecast.dataset.showings import Images
from spacecast.dataset.types import Draft, Refusal
from spacecast.frames import SECTORS, Heading, facing_heading, world_heading
from spacecast.relations import Answer, direction
from spacecast.relations.direction import direction_in, headings_of
from spacecast.scene import RotateLayout, Scene

F = TypeVar("F", Found, Faced)


@dataclass(frozen=True)
class LayoutSettings:
    """By how much a layout turns; SEMANTICS section 5."""

    angles_deg: tuple[int, ...] = (90, 180, 270)
    """Clockwise, seen from above."""
    sector_deg: int = 45
    """Width of one direction."""


SETTINGS = LayoutSettings()


@lru_cache(maxsize=len(SETTINGS.angles_deg))
def turned(scene: Scene, angle_deg: int) -> Scene:
    """The state after the layout has turned; the types of level 3 share the last few.

    Raises:
        SpacecastError: no room is known, hence no centre.
    """
    return scene.apply(RotateLayout(float(angle_deg)))


def turned_by(value: str, angle_deg: int, names: Sequence[str]) -> str:
    """A direction turned clockwise, by a multiple of 45 degrees; names are clockwise."""
    return names[(names.index(value) + angle_deg // SETTINGS.sector_deg) % len(names)]


@dataclass(frozen=True)
class Turned(Generic[F]):
    """A relation that is certain, and by how much the layout then turns."""

    found: F
    angle_deg: int
    value: str
    """The answer after the turn."""

    @property
    def likeness(self) -> str:
        """The same for all questions about the same objects."""
        return "-".join(map(str, sorted(self.found.ids)))

    @property
    def case(self) -> str:
        """Unique in a scene."""
        return "-".join(map(str, (*self.found.ids, self.found.showing.case, self.angle_deg)))

    def example(self, context: SceneContext) -> str:
        """For refusals."""
        ends = f"{named(context, self.found.target)} from {named(context, self.found.reference)}"
        return f"{ends} after {self.angle_deg} degrees in {self.found.showing.case}"


class RotatedLayout(BuiltType, Generic[F]):
    """What the three types share: which turns are asked about, in turn, and what is common to their drafts."""

    def _asked(
        self, context: SceneContext, found: Iterable[F | Refusal], names: Sequence[str]
    ) -> Iterator[Draft | Refusal]:
        """Drafts of all turns of what is found, fair over answers, angles and stated headings."""
        if not context.scene.rooms:
            yield Refusal("scene", "no_room", context.scene.scene_id)
            return
        turning = {i for i in context.askable_ids if context.scene.room_of(i) is context.scene.rooms[0]}
        certain: dict[Images, list[Turned[F]]] = {images: [] for images in self.images}
        for item in found:
            if isinstance(item, Refusal):
                yield item
                continue
            if not turning.issuperset(item.ids):  # "all objects in the room" would not say whether these turn
                yield Refusal("relation", "another_room", item.showing.case)
                continue
            for angle_deg in SETTINGS.angles_deg:
                turn = Turned(item, angle_deg, turned_by(item.answer.value, angle_deg, names))
                certain[item.showing.images].append(turn)
        for images, turns in certain.items():
            yield from in_turn(
                turns,
                stated=lambda turn: (turn.angle_deg, *self._stated_of(turn.found).values()),
                answer=lambda turn: turn.value,
                alike=lambda turn: turn.likeness,
                rank=lambda turn: (float(turn.found.answer.margins["ambiguity"]), turn.found.ids, turn.case),
                case=lambda turn: turn.case,
                make=lambda turn: self._made(context, turn),
                key=key_of(context, self.code, images),
                max_drafts=drafts_of(images),
            )

    def _stated_of(self, found: F) -> dict[str, str]:
        """What the text states beside the angle."""
        return {}

    @abstractmethod
    def _made(self, context: SceneContext, turn: Turned[F]) -> Draft | list[Refusal]:
        """The draft of a turn, or why it is not certain in the changed state."""

    def _draft(
        self,
        context: SceneContext,
        turn: Turned[F],
        after: Answer,
        *,
        frame: Heading,
        anchor: int | None = None,
        facing: int | None = None,
        roles: dict[str, int],
        elsewhere: Sequence[str],
        binding_view: str | None = None,
    ) -> Draft:
        """The draft of a turn.

        Args:
            context: the scene.
            turn: which relation, by how much.
            after: the relation in the changed state.
            frame: the heading, which stays.
            anchor: who stands where the heading begins, for the object frame.
            facing: what that faced at first.
            roles: slot of the wording -> object id; ``target``, and ``reference`` or ``anchor``.
            elsewhere: answers after the turn in other frames.
            binding_view: the view whose camera gives a heading.
        """
        found, angle_deg, showing = turn.found, turn.angle_deg, turn.found.showing
        stated = {"angle_deg": str(angle_deg), **self._stated_of(found), "images": showing.images}
        mistakes = Mistakes(
            found.answer.value,
            carried=False,
            wrong_frame=tuple(elsewhere),
            wrong_sense=(turned_by(found.answer.value, -angle_deg, frame.names),),
        )
        return Draft(
            case=turn.case,
            views=showing.views,
            facts=changed_facts(
                context,
                showing.views,
                body=None,
                named_as=[(object_id, role) for role, object_id in roles.items()],
                intervention=layout_facts(angle_deg, context.scene.room_center_in_world),
                relation=with_after(
                    direction_relation(found.target, found.reference, found.answer),
                    direction_relation(found.target, found.reference, after),
                ),
                margins={**margins_of(found.answer.margins, after.margins), **showing.margins},
                binding_view=binding_view,
                camera_compass=stated.get("camera_compass"),
                frame=frame_facts(frame, anchor, facing),
            ),
            choices=tagged_directions(after.value, frame.names, mistakes),
            words={
                **words_of(context, roles),
                **words_of_pictures(showing),
                "angle": f"clockwise_{angle_deg}",
                **({"heading": stated["camera_compass"]} if "camera_compass" in stated else {}),
            },
            stated=stated,
            balance=after.value,
            likeness=turn.likeness,
            unchanged=after.value == found.answer.value,
        )


class RotatedPairDirection(RotatedLayout[Found]):
    """Target from reference after the turn, in a frame that the camera of the picture gives."""

    level_one: PairDirection

    def enumerate(self, context: SceneContext) -> Iterator[Draft | Refusal]:
        """Every certain relation of level 1, with every turn of the layout."""
        yield from self._asked(context, self.level_one.found(context, self.images), self.level_one.names)

    def _stated_of(self, found: Found) -> dict[str, str]:
        return self.level_one.stated(found.heading)

    def _made(self, context: SceneContext, turn: Turned[Found]) -> Draft | list[Refusal]:
        found = turn.found
        scene, kind = turned(context.scene, turn.angle_deg), self.level_one.frame
        view = context.view(found.showing.first)
        after = direction(scene, found.target, reference=found.reference, frame=kind, view=view)
        if not after.certain:
            return relation_refusals(after, turn.example(context))
        return self._draft(
            context,
            turn,
            after,
            frame=found.heading if kind == "camera" else world_heading(),
            roles={"target": found.target, "reference": found.reference},
            elsewhere=self.level_one.elsewhere(context, scene, found),
            binding_view=found.showing.first,
        )


class RotatedCameraDirection(RotatedPairDirection):
    """Target from reference once the layout has turned; the camera stays."""

    code = "coordinate_rotation_agent"
    level_one = CameraDirection()


class RotatedWorldDirection(RotatedPairDirection):
    """Target from reference by the compass once the layout has turned; the compass and the camera stay."""

    code = "coordinate_rotation_allocentric"
    needs_north = True
    level_one = WorldDirection()


class RotatedObjectDirection(RotatedLayout[Faced], FacedDirection):
    """Where the target is from the anchor, who keeps the compass direction in which it faced before the turn."""

    code = "coordinate_rotation_object_centric"

    def enumerate(self, context: SceneContext) -> Iterator[Draft | Refusal]:
        """Every certain relation of level 1, with every turn of the layout."""
        yield from self._asked(context, self.found(context, self.images), SECTORS)

    def _made(self, context: SceneContext, turn: Turned[Faced]) -> Draft | list[Refusal]:
        found = turn.found
        scene, objects = turned(context.scene, turn.angle_deg), context.scene.objects
        frozen = headings_of(context.scene, found.anchor, frame="object", facing=found.facing)
        after = direction_in(scene, found.target, reference=found.anchor, headings=frozen)
        if not after.certain:
            return relation_refusals(after, turn.example(context))
        others = [h for h in (context.heading(found.showing.first), world_heading()) if h is not None]
        return self._draft(
            context,
            turn,
            after,
            frame=facing_heading(objects[found.anchor].center_in_world, objects[found.facing].center_in_world),
            anchor=found.anchor,
            facing=found.facing,
            roles={"target": found.target, "anchor": found.anchor, "facing": found.facing},
            elsewhere=[sector_in(h, scene, found.target, found.anchor, SECTORS) for h in others],
        )
