"""Whether something hides an object in a view, by ray casting against the whole mesh; SEMANTICS section 3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spacecast.errors import RelationError
from spacecast.relations.answer import Answer
from spacecast.sight import NO_OBJECT, Camera, Look, Visibility, sight_of
from spacecast.sight.look import GONE, Masks, opening

if TYPE_CHECKING:
    from spacecast.scan import View
    from spacecast.scene import Scene


@dataclass(frozen=True)
class OcclusionSettings:
    """Bounds of the states; SEMANTICS section 3 where no other source is given.

    Pixels are those of masks 640 wide. ``min_silhouette_px`` is meant at 640x480 and scales with the mask's area.
    """

    min_silhouette_px: float = 400.0
    """A smaller silhouette has no state. At 640x480; a mask of another height asks for its share of this."""
    reference_area_px: int = 640 * 480
    """The area that the number above is meant at."""
    max_blocked: float = 0.005
    """Not occluded: blocked, or opened, is below this."""
    max_blocked_slivers: float = 0.03
    """Not occluded by ``opened``: blocked is below this."""
    min_opened: float = 0.10
    """Occluded: opened is above this, counting only what is nearer and not attached."""
    min_visible_px: int = 16
    """Occluded: at least so many pixels are visible. Not scaled."""
    min_visible_share: float = 0.05
    """Occluded: at least this share of the silhouette is visible."""
    max_unknown_share: float = 0.05
    """More of the silhouette that the sensor saw something in front of, against the mesh: not certain."""
    max_holes_share: float = 0.05
    """More holes of the mesh around an object, where there is no sensor depth: not certain (own; on the real scan
    parts that the scan lacks leave 0.07 and more, whole ones below 0.03)."""
    pair_min_opened: float = 0.10
    """One occludes the other: at least this share of the other is hidden, opened."""
    pair_max_opened: float = 0.005
    """Neither occludes the other: each covers less than this of the other, opened."""
    least_margin: float = 0.0001
    """A share that is nearer to a strict bound has no state: facts are written to four decimals, and whoever reads them
    has to come to the same (own)."""
    max_truncation: float = 0.65
    """A pair that is cut more by the frame is not certain; SEMANTICS section 4."""


SETTINGS = OcclusionSettings()


class Occluder(NamedTuple):
    """Something that hides a part of a target."""

    id: int
    """Object id, -1 for unlabelled and mixed faces."""
    label: str
    """Its label, ``unlabelled`` for -1."""
    hidden_px: int
    """Pixels of the target's silhouette where it is the first thing hit."""
    hidden_share: float
    """The same by S."""


def occlusion(
    scene: Scene,
    target: int | str,
    *,
    view: View | Camera,
    threads: int = 0,
) -> Answer:
    """The state of a target in a view: ``not occluded``, ``occluded`` or ``not visible``.

    The value is None in the grey zone between the states (reason ``grey_zone``) and for a silhouette that is too small
    to have one (``small_silhouette``). Further reasons: ``see_through`` (the target is a mirror, glass ...),
    ``see_through_occluder`` (what hides most of it is), ``sensor_disagrees`` (sensor depth saw something in front that
    the mesh lacks), ``holes`` (no sensor depth, and the mesh has holes around the target). Being cut by the picture's
    frame is not occlusion; what lies behind the camera is ``not visible``, and so is what was removed.

    Args:
        scene: a state of a scene.
        target: id, or a label that only one object has.
        view: a view of the scan, or a camera (which brings no sensor depth).
        threads: 0 for all cores, 1 in build workers.

    Raises:
        UnknownObjectError: no such object, or several.
    """
    if scene.removed_as(target) is not None:
        return Answer("not visible", _numbers(GONE), {}, ())
    target_id = scene.resolve(target)
    # A scan is one mesh, cast once for all that is asked; a changed state is many, of which the near ones are enough.
    about = None if scene is scene.as_scanned else (target_id,)
    look = sight_of(scene).look(view, about=about, threads=threads)
    seen = look.visibility(target_id)
    least_px = _least_silhouette_px(look)
    reasons = _doubts(scene, target_id, seen)
    value: str | None = None
    margins: dict[str, float] = {"silhouette_px": seen.silhouette_px - least_px}
    if seen.silhouette_px == 0:
        value, margins = "not visible", {}
    elif seen.silhouette_px < least_px:
        reasons.append("small_silhouette")
    elif seen.visible_px == 0:
        value = "not visible"
    else:
        clear, hidden = _clear_margin(seen), _hidden_margin(seen)
        if clear > SETTINGS.least_margin:
            value, margins["clear_by"] = "not occluded", clear
        elif hidden is not None and hidden > SETTINGS.least_margin:
            value, margins["hidden_by"] = "occluded", hidden
        else:
            reasons.append("grey_zone")
    if value in ("occluded", "not visible") and _main_occluder_is_see_through(scene, look, target_id):
        reasons.append("see_through_occluder")
    return Answer(value, _numbers(seen), margins, tuple(reasons))


def pairwise_occlusion(
    scene: Scene,
    query: int | str,
    reference: int | str,
    *,
    view: View | Camera,
    threads: int = 0,
) -> Answer:
    """Which of two objects hides the other: ``query_occluded``, ``reference_occluded`` or ``neither``.

    The query is occluded if at least 0.10 of its silhouette is hidden, opened, and the reference is the first hit on
    more than half of that; the other way round likewise. ``neither``: each, taken alone, covers less than 0.005 of the
    other, opened (even where both are hidden by a third). The value is None in between (``grey_zone``) and where both
    hide each other (``both_ways``). Further reasons, of either object: as for :func:`occlusion`, and ``truncated``.
    Swapping query and reference swaps the first two values.

    Args:
        scene: a state of a scene.
        query: id, or a label that only one object has.
        reference: the other object.
        view: a view of the scan, or a camera (which brings no sensor depth).
        threads: 0 for all cores, 1 in build workers.

    Raises:
        UnknownObjectError: no such object, or several.
        RelationError: both are the same object.
    """
    query_id, reference_id = scene.resolve(query), scene.resolve(reference)
    if query_id == reference_id:
        raise RelationError(f"object {query_id} and itself: occlusion of a pair needs two objects")
    # Nothing here depends on attachment; that of the scan is there already.
    about = tuple(sorted((query_id, reference_id)))
    look = sight_of(scene).look(view, about=about, attachment_of=scene.as_scanned, threads=threads)
    return pairwise_in(look, query_id, reference_id)


def pairwise_in(look: Look, query_id: int, reference_id: int) -> Answer:
    """As :func:`pairwise_occlusion`, in a look that is there already."""
    scene = look.sight.scene
    numbers: dict[str, Any] = {}
    reasons: list[str] = []
    hidden: dict[str, bool] = {}
    covered: dict[str, float] = {}
    for role, one, other in (("query", query_id, reference_id), ("reference", reference_id, query_id)):
        seen = look.visibility(one)
        numbers |= {f"{role}_{name}": number for name, number in _numbers(seen).items() if name != "opened_near"}
        reasons += _doubts(scene, one, seen)
        if seen.silhouette_px < _least_silhouette_px(look):
            reasons.append("small_silhouette")
        if seen.truncation > SETTINGS.max_truncation:
            reasons.append("truncated")
        masks = look.masks(one)
        opened_px = int(masks.opened.sum())
        share = float((masks.first[masks.opened] == other).sum() / opened_px) if opened_px else 0.0
        covered[role] = _covered_share(look, one, other)
        hidden[role] = seen.silhouette_px > 0 and seen.opened >= SETTINGS.pair_min_opened and share > 0.5
        numbers |= {f"{role}_hidden_by_other": share, f"{role}_covered_by_other": covered[role]}
    value: str | None = None
    margins: dict[str, float] = {}
    if "small_silhouette" in reasons:
        pass
    elif all(hidden.values()):
        reasons.append("both_ways")
    elif any(hidden.values()):
        role = "query" if hidden["query"] else "reference"
        value = f"{role}_occluded"
        margins = {
            "hidden_by": numbers[f"{role}_opened"] - SETTINGS.pair_min_opened,
            "majority_by": numbers[f"{role}_hidden_by_other"] - 0.5,
        }
    elif max(covered.values()) < SETTINGS.pair_max_opened - SETTINGS.least_margin:
        value, margins = "neither", {"clear_by": SETTINGS.pair_max_opened - max(covered.values())}
    else:
        reasons.append("grey_zone")
    return Answer(value, numbers, margins, tuple(reasons))


def occluders(scene: Scene, target: int | str, *, view: View | Camera, threads: int = 0) -> tuple[Occluder, ...]:
    """Who hides how much of a target in a view, most first.

    Raises:
        UnknownObjectError: no such object, or several.
    """
    target_id = scene.resolve(target)
    look = sight_of(scene).look(view, threads=threads)
    silhouette_px = look.visibility(target_id).silhouette_px
    return tuple(
        Occluder(i, "unlabelled" if i == NO_OBJECT else scene.objects[i].label, count, count / silhouette_px)
        for i, count in look.blockers(target_id).items()
    )


def _least_silhouette_px(look: Look) -> float:
    return SETTINGS.min_silhouette_px * look.area_px / SETTINGS.reference_area_px


def _clear_margin(seen: Visibility) -> float:
    """How far below the bounds of ``not occluded``."""
    by_blocked = SETTINGS.max_blocked - seen.blocked
    by_opened = min(SETTINGS.max_blocked - seen.opened, SETTINGS.max_blocked_slivers - seen.blocked)
    return max(by_blocked, by_opened)


def _hidden_margin(seen: Visibility) -> float | None:
    """How far above the bound of ``occluded``; None where too little is visible to say so."""
    share = seen.visible_px / seen.silhouette_px
    if seen.visible_px < SETTINGS.min_visible_px or share < SETTINGS.min_visible_share:
        return None
    return seen.opened_near - SETTINGS.min_opened


def _doubts(scene: Scene, object_id: int, seen: Visibility) -> list[str]:
    """Reasons that do not depend on the state."""
    found = []
    if "see_through" in scene.objects[object_id].traits:
        found.append("see_through")
    if seen.unknown_share is None:
        if seen.holes_share > SETTINGS.max_holes_share:
            found.append("holes")
    elif seen.unknown_share > SETTINGS.max_unknown_share:
        found.append("sensor_disagrees")
    return found


def _main_occluder_is_see_through(scene: Scene, look: Look, target_id: int) -> bool:
    main = next(iter(look.blockers(target_id)), NO_OBJECT)
    return main in scene.objects and "see_through" in scene.objects[main].traits


def _covered_share(look: Look, one: int, other: int) -> float:
    """Share of one's silhouette where the other, if there were nothing else, is in front of it; opened."""
    behind, before = look.masks(one), look.masks(other)
    common = behind.window.within(before.window)
    silhouette_px = int(behind.silhouette.sum())
    if not common.area or not silhouette_px:
        return 0.0
    covered = _part(before, common) < _part(behind, common)
    return int(opening(covered & np.isfinite(_part(behind, common)), look.opening_side_px).sum()) / silhouette_px


def _part(masks: Masks, window: Any) -> Any:
    left, top = masks.window.left, masks.window.top
    return masks.depth[window.top - top : window.bottom - top, window.left - left : window.right - left]


def _numbers(seen: Visibility) -> dict[str, Any]:
    return dict(seen._asdict())
