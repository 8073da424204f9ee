"""Move Occlusion: which of query and reference hides the other once the mover has gone. SEMANTICS sections 3 to 6.

It is seen from the last view that is shown. In one picture that is the picture. In a chain it is main view B, which
shows the reference, and into which the query comes; before, nothing of the query shows there, and neither occludes the
other. The move is told in the heading of the first view's camera all the same.

A moved scan shows faces that no camera saw, and has holes where none did. So the state has to be the same with the
meshes of all that moved and with their convex hulls (SEMANTICS 4.6). Both are cast by the same machinery: hulls are
shapes of a second state, prepared once an object.

What answer is likely is read from the outlines of the hulls in the picture; only what is kept is cast.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from questions.changes import Mistakes, tagged
from questions.common import kept
from questions.moves import Found, MoveType, Pair, Start, Step
from spacecast.dataset.context import SETTINGS as CONTEXT
from spacecast.dataset.context import SceneContext
from spacecast.dataset.showings import Images
from spacecast.dataset.types import Choice
from spacecast.frames import Array
from spacecast.relations import Answer
from spacecast.relations.occlusion import SETTINGS as RULE
from spacecast.relations.occlusion import pairwise_in
from spacecast.scan import View
from spacecast.scene import Scene, SceneObject, Shape
from spacecast.sight import Camera, Look, Sight, sight_of
from spacecast.sight.cameras import camera_of

STATES = ("query_occluded", "reference_occluded", "neither")


@dataclass(frozen=True)
class MoveOcclusionSettings:
    """How many are worked out, and what is certain beyond the rule of the relation."""

    max_drafts: int = 9
    """Drafts from one scene on one picture, three answers of three stated values, say; each is cast twice (own)."""
    max_chain_drafts: int = 6
    """The same of those that show two pictures, and of those that show more."""
    likely_covered: float = 0.15
    """Of the outline of what is farther, the other's covers at least this share where an occlusion is looked for; where
    it covers less, but something, nothing is (own)."""
    min_covered: float = 0.10
    """Of what is occluded, the other alone covers at least this share, opened: it is what hides, no third (own)."""


SETTINGS = MoveOcclusionSettings()

MOTIONS = {
    "forward": "away",
    "forward-right": "away",
    "forward-left": "away",
    "backward": "towards",
    "backward-right": "towards",
    "backward-left": "towards",
    "right": "sideways",
    "left": "sideways",
}
"""What a move comes to, as seen from the camera: the three answers are balanced for each."""

HIDDEN = {"query_occluded": "query", "reference_occluded": "reference"}
"""Who is hidden, by answer."""


class MoveOcclusion(MoveType):
    """Pairwise occlusion of query and reference after a move in the camera's heading."""

    code = "object_move_occlusion"
    frame = "camera"

    def _most(self, images: Images) -> int:
        return SETTINGS.max_drafts if images == "1" else SETTINGS.max_chain_drafts

    def _may_be(self, item: SceneObject) -> bool:
        return "see_through" not in item.traits

    def _before(self, context: SceneContext, start: Start, pair: Pair) -> Answer:
        view = context.view(pair.showing.last)
        return _before_in(_look(context.scene, view, pair.query, pair.reference), pair.query, pair.reference)

    def _possible(self, context: SceneContext, steps: Sequence[Step], pair: Pair, before: Answer) -> list[Found]:
        """Moves that bring or leave the query in the picture, with the likely answer: by the outlines of the hulls."""
        objects, (query, reference, showing) = context.scene.objects, pair
        camera = camera_of(context.view(showing.last)).scaled_to_width(CONTEXT.look_width_px)
        other = kept(
            context,
            ("outline", reference, showing.last),
            lambda: outlines(objects[reference], camera, np.zeros((1, 3)))[0],
        )
        if other is None:
            return []
        moves = tuple(step.shift for step in steps)
        key = ("outlines", query, showing.last, moves)  # all references of one query share them
        insides, shows = kept(context, key, lambda: _shown(objects[query], camera, np.array(moves)))
        shares, areas = shapely.area(shapely.intersection(insides, other)), shapely.area(insides)
        shifts, other_area = np.array([[*step.shift, 0.0] for step in steps]), other.area
        found = []
        for n in np.flatnonzero(shows).tolist():
            expected, hidden = _in_front(objects[query], objects[reference], camera, shifts[n])
            share = float(shares[n] / (areas[n] if hidden == query else other_area))
            if share == 0.0:
                expected = "neither"
            elif share < SETTINGS.likely_covered:
                continue
            found.append(Found(steps[n], pair, before, expected, doubt=-share))
        return found

    def _stated_first(self, step: Step) -> tuple[Any, ...]:
        return (MOTIONS[step.direction],)

    def _alike(self, found: Found) -> tuple[Any, ...]:
        return (found.step.direction, found.step.distance_m)

    def _stated(self, step: Step) -> dict[str, str]:
        return {"motion": MOTIONS[step.direction]}

    def _from_names(self, context: SceneContext, pair: Pair) -> dict[str, str]:
        """Large things hide small ones far more often than the reverse: answers are balanced for either."""
        query, reference = (math.prod(context.scene.objects[i].obb.size) for i in (pair.query, pair.reference))
        return {"larger": "query" if query > reference else "reference"}

    def _after(self, context: SceneContext, found: Found, state: Scene) -> Answer:
        ids, body = (found.query, found.reference), found.step.start.body
        view = context.view(found.pair.showing.last)
        after = _pair(state, view, *ids)
        if not after.certain:
            return after
        if after.value != found.expected:
            return Answer(after.value, after.numbers, after.margins, ("not_as_likely",))
        if after.value == "neither":  # likely, that is: the outlines of the hulls are apart
            return after
        if _pair(with_hulls(state, body.moved), view, *ids).value != after.value:
            return Answer(after.value, after.numbers, after.margins, ("hulls_disagree",))
        return after

    def _relation(self, found: Found, answer: Answer) -> dict[str, Any]:
        numbers = answer.numbers
        before = {
            "value": answer.value,
            "query_hidden": float(numbers["query_covered_by_other"]),
            "reference_hidden": float(numbers["reference_covered_by_other"]),
            "query_silhouette_px": int(numbers["query_silhouette_px"]),
            "reference_silhouette_px": int(numbers["reference_silhouette_px"]),
        }
        kind, target, reference = "pairwise_occlusion", found.query, found.reference
        return {"kind": kind, "target": target, "reference": reference, "before": before, "after": None}

    def _choices(self, context: SceneContext, found: Found, after: Answer) -> tuple[Choice, ...]:
        """Wrong sense: front and behind exchanged."""
        swapped = {"query_occluded": ["reference_occluded"], "reference_occluded": ["query_occluded"]}
        mistakes = Mistakes(
            before=found.before.value,
            carried=found.step.start.body.is_carried(found.query),
            wrong_sense=swapped.get(after.value, []),
        )
        return tagged(STATES, after.value, mistakes)


def settled(answer: Answer) -> Answer:
    """A pairwise answer that is certain only if it is one of the two, and no third thing, that hides the other.

    That is: what one alone covers of the other, opened, is at least 0.10 where it occludes it, and less the other way.
    """
    hidden = answer.value in HIDDEN and HIDDEN[answer.value]
    if not hidden:
        return answer
    other = "reference" if hidden == "query" else "query"
    covered, back = (float(answer.numbers[f"{role}_covered_by_other"]) for role in (hidden, other))
    if covered >= SETTINGS.min_covered > back:
        return answer
    return Answer(answer.value, answer.numbers, answer.margins, (*answer.reasons, "third_hides"))


def with_hulls(state: Scene, ids: Sequence[int]) -> Scene:
    """The state with some objects as solid as their convex hulls."""
    hulls = {i: replace(state.objects[i], shape=hull_of(state.objects[i].shape)) for i in ids}
    return replace(state, objects={**state.objects, **hulls})


_HULLS: WeakKeyDictionary[Shape, Shape] = WeakKeyDictionary()


def hull_of(shape: Shape) -> Shape:
    """The convex hull of a shape's vertices, kept as long as the shape: so are its rays."""
    if shape not in _HULLS:
        hull = ConvexHull(shape.vertices.astype(np.float64))
        used, faces = np.unique(hull.simplices, return_inverse=True)
        _HULLS[shape] = Shape(shape.vertices[used].copy(), faces.reshape(-1, 3).astype(np.int32))
    return _HULLS[shape]


def _shown(item: SceneObject, camera: Camera, shifts: Array) -> tuple[NDArray[np.object_], NDArray[np.bool_]]:
    """Outlines (n,) of an object after shifts (n, 2) on the floor plan, as far as they are in the picture, and which of
    them (n,) show enough of it."""
    width, height = camera.intrinsics.width, camera.intrinsics.height
    least_px = RULE.min_silhouette_px * width * height / RULE.reference_area_px
    wholes = outlines(item, camera, np.column_stack([shifts, np.zeros(len(shifts))]))
    insides = shapely.intersection(wholes, shapely.box(-0.5, -0.5, width - 0.5, height - 0.5))
    # Where there is no outline, its area is no number, and it is not shown.
    return insides, shapely.area(insides) >= np.maximum(least_px, (1.0 - RULE.max_truncation) * shapely.area(wholes))


def _in_front(query: SceneObject, reference: SceneObject, camera: Camera, shift: Array) -> tuple[str, int]:
    """The answer if the two overlap in the picture after a shift, and who is hidden: the centre that is farther."""
    eye = camera.world_from_camera.translation
    query_m = float(np.linalg.norm(query.center_in_world + shift - eye))
    reference_m = float(np.linalg.norm(reference.center_in_world - eye))
    return ("query_occluded", query.id) if query_m > reference_m else ("reference_occluded", reference.id)


def _look(state: Scene, view: View | Camera, query: int, reference: int) -> Look:
    """At two objects; only looks at the scan itself are worth keeping."""
    about, scanned = (query, reference), state.as_scanned
    if state is scanned:
        return sight_of(state).look(view, about=about, threads=1)
    return Look(Sight(state), view, about=about, attachment_of=scanned, threads=1)


def _pair(state: Scene, view: View | Camera, query: int, reference: int) -> Answer:
    return settled(pairwise_in(_look(state, view, query, reference), query, reference))


def _before_in(look: Look, query: int, reference: int) -> Answer:
    """The state before the move: ``neither`` where nothing of the query shows and neither covers any of the other.

    A query that the reference hides wholly is refused (``hidden_before``): nobody could tell that it is there.
    """
    answer = settled(pairwise_in(look, query, reference))
    if look.visibility(query).visible_px > 0:
        return answer
    covered = max(float(answer.numbers[f"{role}_covered_by_other"]) for role in ("query", "reference"))
    clear_by = RULE.pair_max_opened - covered
    if clear_by <= RULE.least_margin:
        return Answer(None, answer.numbers, {}, ("hidden_before",))
    return Answer("neither", answer.numbers, {"clear_by": clear_by}, ())


def outlines(item: SceneObject, camera: Camera, shifts: Array) -> NDArray[np.object_]:
    """The convex outlines (n,), in pixels, that hold an object's silhouette after shifts; None where a part of it is
    then beside the camera or behind.

    Args:
        item: where it is.
        camera: that sees it.
        shifts: (n, 3) of the object, in world.
    """
    points = (item.world_from_object @ hull_of(item.shape).vertices) + shifts[:, None, :]
    pixels = camera.intrinsics.project(camera.world_from_camera.inverse() @ points)
    ahead = np.isfinite(pixels).all(axis=(1, 2))
    found = np.full(len(shifts), None, dtype=object)
    numbers = np.repeat(np.arange(int(ahead.sum())), pixels.shape[1])
    if ahead.any():
        found[ahead] = shapely.convex_hull(shapely.multipoints(pixels[ahead].reshape(-1, 2), indices=numbers))
    return found
