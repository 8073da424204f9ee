"""Remove Occlusion: one thing is taken away with all that it carries; how is another seen then? SEMANTICS 5 and 6.

The answers are of three kinds: what the removed hid is revealed, something else still hides the target, or the target
is gone, because the removed carried it. What pictures from before tell is used first; only where an answer is left
possible, the state after is looked at. What goes along is small, since things carry it; so that its name alone does not
say that it goes, what stands on other things is preferred where the target stays, too (own).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from questions.changes import Body, Mistakes, bodies, changed_facts, margins_of, remove_facts, tagged, with_after
from questions.common import BuiltType, named, relation_refusals, seen_refusals, single, words_of
from questions.occlusions import STATES, occlusion_relation
from spacecast.dataset.context import SceneContext, ViewRecord
from spacecast.dataset.types import Draft, Refusal
from spacecast.relations import Answer, occlusion
from spacecast.relations.occlusion import SETTINGS as OCCLUSION
from spacecast.scene import Remove, Scene
from spacecast.sight import Look, sight_of
from spacecast.sight.cameras import Window
from spacecast.sight.look import Masks, opening

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class RemovalSettings:
    """Which removals are asked about; SEMANTICS section 6."""

    min_others: float = 0.10
    """Still occluded: others hide more than this share of the target where nothing of what is removed is in front."""
    max_unseen: float = 0.005
    """What no pixel of the picture shows hides at most this share of the target afterwards."""
    near_outline_px: float = 20.0
    """Still occluded: what is removed shows this near to the target's silhouette, at 640 wide (own)."""
    max_views: int = 3
    """So many views are tried for one target and one removal, the clearest first (own)."""


SETTINGS = RemovalSettings()


class Found(NamedTuple):
    """A removal and a target, in a view."""

    body: Body
    target: int
    view: str
    others: float
    """Share of the target that others hide where nothing of what is removed is in front; 0 for what goes along."""
    visible_ids: frozenset[int]
    """All of which the picture shows a pixel."""

    @property
    def case(self) -> str:
        """Unique in its scene and type."""
        return f"{self.body.root}-{self.target}-{self.view}"


class RemoveOcclusion(BuiltType):
    """The state of a target in the picture that the same camera would take once the remover is gone."""

    code = "object_remove"

    def enumerate(self, context: SceneContext) -> Iterator[Draft | Refusal]:
        """For each remover and target one draft, in the clearest of the views in which it is certain."""
        yield from seen_refusals(context)
        removable = []
        for body in bodies(context):
            if isinstance(body, Refusal):
                yield body
            elif "see_through" in context.scene.objects[body.root].traits:
                yield Refusal("object", "see_through", named(context, body.root))
            else:
                removable.append(body)
        groups: dict[tuple[int, int], list[Found]] = {}
        for record in context.records:
            for item in _Picture(context, record).found(removable):
                if isinstance(item, Refusal):
                    yield item
                else:
                    groups.setdefault((item.body.root, item.target), []).append(item)
        for key in sorted(groups):  # by remover, so that its state and what it looks like are worked out once
            yield from self._clearest(context, groups[key])

    def _clearest(self, context: SceneContext, found: Sequence[Found]) -> Iterator[Draft | Refusal]:
        ranked = sorted(found, key=lambda f: (-context.clearness(f.view, (f.body.root, f.target)), f.view))
        for item in ranked[: SETTINGS.max_views]:
            result = self._made(context, item)
            if isinstance(result, Draft):
                yield result
                return
            yield from result
        for item in ranked[SETTINGS.max_views :]:
            yield Refusal("selection", "more_than_enough", item.case)

    def _made(self, context: SceneContext, found: Found) -> Draft | list[Refusal]:
        """The draft, or what stands against it in the state after the removal."""
        body, target = found.body, found.target
        before = context.record(found.view).occlusions[target]
        state = context.scene.apply(Remove(body.root), check=False)
        after = occlusion(state, target, view=context.view(found.view), threads=1)
        example = f"{named(context, target)} without {named(context, body.root)} in {found.view}"
        if not after.certain:
            return relation_refusals(after, example)
        problem = None if target in body.moved else self._problem(context, found, before, after, state)
        if problem is not None:
            return [Refusal("relation", problem, example)]
        views = single(found.view)
        beside = {"hidden_beside_by": found.others - SETTINGS.min_others} if after.value == before.value else {}
        return Draft(
            case=found.case,
            views=views,
            facts=changed_facts(
                context,
                views,
                body=body,
                named_as=[(body.root, "remover"), (target, "target")],
                intervention=remove_facts(body),
                relation=with_after(occlusion_relation(target, before), occlusion_relation(target, after)),
                margins={**margins_of(before.margins, after.margins), **beside},
            ),
            choices=tagged(STATES, after.value, Mistakes(before.value, carried=body.is_carried(target))),
            words=words_of(context, {"remover": body.root, "target": target}),
            stated={},
            balance=after.value,
            likeness=f"{target}-{body.root}",
            unchanged=after.value == before.value,
            preference=int(context.scene.carrier_of(target) is None),  # what goes along is carried: so be what stays
        )

    def _problem(self, context: SceneContext, found: Found, before: Answer, after: Answer, state: Scene) -> str | None:
        """Why what becomes of a target that stays cannot be told from the picture."""
        if after.value == "not visible":
            return "not_visible_after"
        if after.value == before.value and found.others <= SETTINGS.min_others:
            return "hidden_behind_the_removed"
        look = sight_of(state).look(context.view(found.view), about=(found.target,), threads=1)
        unseen = sum(count for i, count in look.blockers(found.target).items() if i >= 0 and i not in found.visible_ids)
        if unseen > SETTINGS.max_unseen * look.visibility(found.target).silhouette_px:
            return "hidden_by_what_was_not_seen"
        return None


class _Picture:
    """What one picture tells of removals."""

    def __init__(self, context: SceneContext, record: ViewRecord) -> None:
        self._context = context
        self._record = record

    @cached_property
    def _look(self) -> Look:
        return self._context.look(self._record.name)

    @cached_property
    def _visible_ids(self) -> frozenset[int]:
        return frozenset(self._look.visible_ids())

    def found(self, removable: Sequence[Body]) -> Iterator[Found | Refusal]:
        """Removals and targets of this picture that may be asked about."""
        seen = frozenset(self._record.seen_ids)
        removers = [body for body in removable if body.root in seen]
        if not removers:
            return
        for target, before in self._record.occlusions.items():
            if not before.certain or before.value == "not visible" or target not in self._record.visible_ids:
                continue
            if not self._context.names.points_at_one(target, self._record.visible_ids):
                yield Refusal("name", "not_unique", f"{named(self._context, target)} in {self._record.name}")
                continue
            for body in removers:
                if body.root == target:
                    continue
                if target in body.moved:
                    yield Found(body, target, self._record.name, 0.0, frozenset())
                elif before.value == "occluded":
                    yield from self._staying(body, target)

    def _staying(self, body: Body, target: int) -> Iterator[Found | Refusal]:
        """What is occluded and stays, if a removal near it can be asked about."""
        masks = self._look.masks(target)
        if not self._is_near(body, masks):
            return
        removed = np.isin(masks.first, body.moved)
        # Labelled things that stay go on hiding; unlabelled faces may be the removed object's own border.
        kept = masks.blocked & (masks.first >= 0) & ~removed
        silhouette_px = int(masks.silhouette.sum())
        stays_hidden = not removed[masks.blocked].any() or kept.sum() >= OCCLUSION.max_blocked_slivers * silhouette_px
        beside = masks.opened_near & ~removed & ~self._in_front(body, masks)
        others = int(opening(beside, self._look.opening_side_px).sum()) / silhouette_px
        if stays_hidden and others <= SETTINGS.min_others:
            example = f"{named(self._context, target)} without {named(self._context, body.root)} in {self._record.name}"
            yield Refusal("relation", "neither_revealed_nor_occluded_beside", example)
            return
        yield Found(body, target, self._record.name, others, self._visible_ids)

    def _is_near(self, body: Body, masks: Masks) -> bool:
        """True if a pixel of what is removed shows within or near the target's silhouette."""
        ids = self._look.image.ids
        reach = SETTINGS.near_outline_px * ids.shape[1] / 640
        rows, columns = np.nonzero(np.isin(ids, body.moved))
        window = masks.window
        near = (
            (rows >= window.top - reach)
            & (rows < window.bottom + reach)
            & (columns >= window.left - reach)
            & (columns < window.right + reach)
        )
        if not near.any():
            return False
        margin = int(np.ceil(reach))
        silhouette = np.pad(masks.silhouette, margin)
        away = distance_transform_edt(~silhouette)
        inside = (rows[near] - window.top + margin, columns[near] - window.left + margin)
        return bool((away[inside] <= reach).any())

    def _in_front(self, body: Body, masks: Masks) -> Mask:
        """Pixels of the target's window where something of what is removed is nearer than the target."""
        front = np.zeros_like(masks.silhouette)
        for i in body.moved:
            other = self._look.masks(i)
            common = masks.window.within(other.window)
            if not common.area:
                continue
            part = _slices(common, masks)
            front[part] |= other.depth[_slices(common, other)] < masks.depth[part]
        return front


def _slices(window: Window, masks: Masks) -> tuple[slice, slice]:
    """Index of a window of the picture in masks that hold all of it."""
    left, top = masks.window.left, masks.window.top
    return slice(window.top - top, window.bottom - top), slice(window.left - left, window.right - left)
