"""Who carries whom, read from geometry; SEMANTICS section 3, Attachment.

The rule runs with tight and with loose thresholds (:mod:`spacecast.scene.contact`). What the loose run alone finds, and
what stands against another reading, is possible; the rest is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import networkx as nx
import numpy as np

from spacecast.scene.contact import SETTINGS as CONTACT
from spacecast.scene.contact import Carrying, affixing, carrying, containing, has_bottom, near
from spacecast.scene.support import Ground, Support
from spacecast.scene.surface import Surface

if TYPE_CHECKING:
    from spacecast.scene.objects import SceneObject

Kind = Literal["contained_in", "affixed_to", "resting_on_soft_surface", "supported_by"]
Certainty = Literal["certain", "possible"]
Value = TypeVar("Value")


@dataclass(frozen=True)
class AttachmentSettings:
    """Choosing among candidates; SEMANTICS section 3, Attachment."""

    reach_m: float = 0.12
    """Objects whose boxes are further apart than the largest gap are not compared."""
    rival_share: float = 0.6
    """A rival with more than this share of the best score is possible."""
    near_m: float = 0.05
    """With neither floor nor certain parent, everything within this is a possible parent."""
    min_clearance_m: float = 0.30
    """What hangs on another object has its lowest samples further than this above the floor: lower things may stand on
    a floor that the scan does not show (own)."""


SETTINGS = AttachmentSettings()


@dataclass(frozen=True)
class Attachment:
    """What :func:`derive_attachment` finds.

    Attributes:
        graph: frozen, all objects that are not structure; edges (parent, child) with ``kind``, ``certainty`` and
            ``score``.
        certain: all objects, the certain edges alone.
        supports: what each object that is not structure stands on or hangs on.
    """

    graph: nx.DiGraph
    certain: nx.DiGraph
    supports: Mapping[int, Support]


class Edge(NamedTuple):
    """A reading of one pair: how the parent would hold the child, and how well."""

    kind: Kind
    certainty: Certainty
    score: float


Edges = Mapping[tuple[int, int], Edge]
"""(parent, child) -> how."""


class Body(NamedTuple):
    """Objects that were moved as one: what was true among them stays true, wherever they stand now.

    ``edges`` are all edges among ``ids``; ``floors`` says which of these stand on a floor, since no intervention lifts
    anything (the scan may lack the floor at the new place, where it was hidden).
    """

    ids: frozenset[int]
    edges: Edges
    floors: Mapping[int, Support]

    @classmethod
    def of(cls, attachment: Attachment, ids: Iterable[int]) -> Body:
        """What was true among some objects."""
        inside = frozenset(ids)
        found = attachment.graph.edges(sorted(inside), data=True)
        edges = {(parent, child): Edge(**data) for parent, child, data in found if child in inside}
        on_floor = {i: attachment.supports[i] for i in sorted(inside) if attachment.supports[i].kind == "floor"}
        return cls(inside, edges, on_floor)

    def without(self, ids: Iterable[int]) -> Body:
        """The same of those that are left."""
        inside = self.ids.difference(ids)
        edges = {pair: edge for pair, edge in self.edges.items() if inside.issuperset(pair)}
        return Body(inside, edges, {i: support for i, support in self.floors.items() if i in inside})


def bodies_after(
    bodies: Sequence[Body], attachment: Attachment, *, moved: Iterable[int], removed: Iterable[int]
) -> tuple[Body, ...]:
    """The bodies of the next state: what moves is one, and what loses one of its parents is judged anew."""
    gone = frozenset(removed)
    orphans = sorted({child for _, child in attachment.graph.edges(sorted(gone)) if child not in gone})
    groups = [frozenset(moved), *(frozenset({i, *nx.descendants(attachment.certain, i)}) for i in orphans)]
    groups = [group for group in groups if group and not any(group < other for other in groups)]
    elsewhere = gone.union(*groups)
    kept = [*(body.without(elsewhere) for body in bodies), *(Body.of(attachment, group) for group in groups)]
    return tuple(body for body in kept if body.ids)


class Readings:
    """What rules read from surfaces, kept between states for objects that stand where they stood at first."""

    def __init__(self, objects: Mapping[int, SceneObject]) -> None:
        self._at_first = objects
        self._kept: dict[tuple[Any, ...], Any] = {}

    def in_place(self, objects: Mapping[int, SceneObject]) -> frozenset[int]:
        """Ids of the objects that are as they were at first."""
        first = self._at_first
        return frozenset(
            i
            for i, item in objects.items()
            if i in first
            and item.world_from_object is first[i].world_from_object
            and item.shape is first[i].shape
            and item.traits == first[i].traits
        )

    def value(self, key: tuple[Any, ...], work: Callable[[], Any]) -> Any:
        """The value under a key, worked out if it is not known."""
        if key not in self._kept:
            self._kept[key] = work()
        return self._kept[key]


@dataclass(frozen=True, eq=False)
class _State:
    """Where everything is; objects that are not structure, by id."""

    objects: Mapping[int, SceneObject]
    surfaces: Mapping[int, Surface]
    ground: Ground
    supports: Mapping[int, Support]
    kept: Edges
    body_of: Mapping[int, int]
    readings: Readings
    in_place: frozenset[int]

    def read(self, rule: Callable[..., Value], *ids: int) -> Value:
        """What a rule, which is no closure, says of the surfaces of some objects."""
        surfaces = [self.surfaces[i] for i in ids]
        if not self.in_place.issuperset(ids):
            return rule(*surfaces)
        value: Value = self.readings.value((rule, *ids), lambda: rule(*surfaces))
        return value

    def pairs(self, reach_m: float) -> list[tuple[int, int]]:
        """(one, other) whose boxes are within reach, both ways, sorted; not those that were moved as one."""
        found = _pairs(self.surfaces, reach_m)
        return [(a, b) for a, b in found if a not in self.body_of or self.body_of[a] != self.body_of.get(b)]

    def has(self, trait: str, object_id: int) -> bool:
        return trait in self.objects[object_id].traits

    def stands(self, child: int) -> bool:
        return self.supports[child].kind == "floor"

    def is_high(self, child: int) -> bool:
        """True if it is so far above the floor that it cannot stand on one that the scan does not show."""
        return self.read(self.ground.clearance_m, child) > SETTINGS.min_clearance_m

    def is_upright_and_flat(self, child: int) -> bool:
        """True for what has the form of things on walls: a screen, a board, a guitar."""
        across, depth, height = self.objects[child].obb.size
        return bool(depth <= CONTACT.max_depth_ratio * min(across, height))

    def bearing(self, parent: int) -> Kind:
        return "resting_on_soft_surface" if self.has("soft", parent) else "supported_by"


def derive_attachment(
    objects: Mapping[int, SceneObject],
    bodies: Sequence[Body] = (),
    *,
    ground: Ground | None = None,
    readings: Readings | None = None,
) -> Attachment:
    """Attachment of a scene's state, from its geometry in world. Ids and their order do not matter.

    Args:
        objects: where everything is.
        bodies: what was moved as one keeps its inner edges, no more and no fewer; no object is in two.
        ground: of the structure among the objects, if it is known already.
        readings: of another state with this ground, so that only what moved since is read again.
    """
    loose = {i: o for i, o in sorted(objects.items()) if not o.is_structure}
    surfaces = {i: o.surface_in_world for i, o in loose.items()}
    ground = ground or Ground.of([o for o in objects.values() if o.is_structure])
    bodies = [body if body.ids <= loose.keys() else body.without(body.ids - loose.keys()) for body in bodies]
    kept = {pair: edge for body in bodies for pair, edge in body.edges.items()}
    body_of = {i: n for n, body in enumerate(bodies) for i in body.ids}
    readings = readings or Readings(objects)
    supports: dict[int, Support] = {}
    state = _State(loose, surfaces, ground, supports, kept, body_of, readings, readings.in_place(loose))
    supports.update({i: state.read(ground.support, i) for i in loose})
    supports.update({i: floor for b in bodies for i, floor in b.floors.items() if supports[i].kind != "floor"})

    edges = _borne(state)
    _break_cycles(edges, kept)
    edges.update(_affixed(state, edges))
    _break_cycles(edges, kept)
    edges.update(_beside(state, edges))
    certain = nx.DiGraph()
    certain.add_nodes_from(sorted(objects))
    certain.add_edges_from(sorted(_certain(edges)))
    graph = nx.DiGraph()
    graph.add_nodes_from(loose)
    graph.add_edges_from((*pair, edge._asdict()) for pair, edge in sorted(edges.items()))
    return Attachment(nx.freeze(graph), nx.freeze(certain), _final_supports(state, edges))


def _certain(edges: Edges) -> list[tuple[int, int]]:
    return [pair for pair, edge in edges.items() if edge.certainty == "certain"]


def _held(edges: Edges) -> set[int]:
    """Objects with a certain parent."""
    return {child for _, child in _certain(edges)}


def _final_supports(state: _State, edges: Edges) -> dict[int, Support]:
    """What has a certain parent stands on that alone; only what may hang hangs on a wall that it touches."""
    held = _held(edges)
    borne = {child for (_, child), edge in edges.items() if edge.score > 0.0}
    supports = {}
    for child, support in state.supports.items():
        hangs = state.has("fixture", child) or (
            child not in borne and state.is_high(child) and state.is_upright_and_flat(child)
        )
        no = child in held or (support.kind == "wall" and not hangs)
        supports[child] = Support("none") if no else support
    return supports


def _pairs(surfaces: Mapping[int, Surface], reach_m: float) -> list[tuple[int, int]]:
    """(one, other) whose boxes are within reach, both ways, sorted."""
    ids = list(surfaces)
    if not ids:
        return []
    low = np.stack([surfaces[i].low for i in ids])
    high = np.stack([surfaces[i].high for i in ids])
    close = (low[:, None] <= high[None, :] + reach_m).all(axis=2)
    close = close & close.T & ~np.eye(len(ids), dtype=bool)
    return [(ids[a], ids[b]) for a, b in np.argwhere(close).tolist()]


def _carrying(child: Surface, parent: Surface) -> tuple[Carrying | None, Carrying | None]:
    return carrying(child, parent, soft=False)


def _carrying_softly(child: Surface, parent: Surface) -> tuple[Carrying | None, Carrying | None]:
    return carrying(child, parent, soft=True)


def _is_beside(child: Surface, parent: Surface) -> bool:
    return len(near(child, parent, reach_m=SETTINGS.near_m)) > 0


def _borne(state: _State) -> dict[tuple[int, int], Edge]:
    """What contains or carries what: candidates from every pair, then the choice among each child's parents."""
    found: dict[tuple[int, int], Edge] = dict(state.kept)
    for parent, child in state.pairs(SETTINGS.reach_m):
        if state.has("carries_nothing", parent):
            continue
        inside = state.read(containing, child, parent)
        tight, loose = state.read(_carrying_softly if state.has("soft", parent) else _carrying, child, parent)
        rests = tight is not None and tight.holds
        sinks_in = rests and state.has("soft", parent)  # a pillow before the headboard lies on the bed, not in it
        if inside.holds and not sinks_in:
            kind: Kind = "affixed_to" if state.has("fixture", child) else "contained_in"  # built in, or put in
            sure = not state.stands(child) or has_bottom(inside, tight)
            found[parent, child] = Edge(kind, "certain" if sure else "possible", inside.score)
        elif tight is not None and rests:
            found[parent, child] = Edge(state.bearing(parent), "certain", tight.score)
        elif loose is not None and loose.holds:
            found[parent, child] = Edge(state.bearing(parent), "possible", loose.score)

    sure = nx.DiGraph(_certain(found))
    edges: dict[tuple[int, int], Edge] = {}
    stays = _held(state.kept)
    for child in state.surfaces:
        mine = {parent: edge for (parent, other), edge in found.items() if other == child}
        contained = any(edge.kind == "contained_in" and edge.certainty == "certain" for edge in mine.values())
        by_structure = state.stands(child) and not contained
        by_structure |= state.supports[child].kind == "wall" and state.has("fixture", child)
        for parent, edge in _choose(mine, sure).items():
            at_most = by_structure or child in stays
            edges[parent, child] = edge._replace(certainty="possible") if at_most else edge
    edges.update(state.kept)
    return edges


def _choose(mine: Mapping[int, Edge], sure: nx.DiGraph) -> dict[int, Edge]:
    """Parents of one child: who carries another of them gives way to it; near rivals make all of them possible."""

    def carries(one: int, other: int) -> bool:
        return one in sure and other in sure and nx.has_path(sure, one, other)

    direct = [parent for parent, edge in mine.items() if edge.certainty == "certain"]
    left = {
        parent: edge
        for parent, edge in mine.items()
        if not any(other != parent and carries(parent, other) and not carries(other, parent) for other in direct)
    }
    if not left:
        return {}
    best = max((edge.certainty == "certain", edge.score) for edge in left.values())[1]
    rivals = {parent: edge for parent, edge in left.items() if edge.score > SETTINGS.rival_share * best}
    if len(rivals) > 1:
        return {parent: edge._replace(certainty="possible") for parent, edge in rivals.items()}
    return rivals


def _break_cycles(edges: dict[tuple[int, int], Edge], kept: Edges) -> None:
    """A circle of certain edges says that the geometry cannot tell: all of it is possible, but for what is kept."""
    sure = nx.DiGraph(_certain(edges))
    for part in nx.strongly_connected_components(sure):
        if len(part) > 1:
            for pair in sorted(set(sure.subgraph(part).edges) - set(kept)):
                edges[pair] = edges[pair]._replace(certainty="possible")


def _affixed(state: _State, edges: Edges) -> dict[tuple[int, int], Edge]:
    """What neither floor nor parent bears may hang on an upright face of another object.

    Certain only where no wall, no other parent and no hidden floor could hold it as well.
    """
    held = _held(edges)
    found: dict[tuple[int, int], Edge] = {}
    for parent, child in state.pairs(SETTINGS.reach_m):
        if child in held or state.stands(child) or state.has("carries_nothing", parent) or (parent, child) in edges:
            continue
        tight, loose = state.read(affixing, child, parent)
        if tight is not None and tight.holds:
            found[parent, child] = Edge("affixed_to", "certain", tight.score)
        elif loose is not None and loose.holds:
            found[parent, child] = Edge("affixed_to", "possible", loose.score)
    chosen: dict[tuple[int, int], Edge] = {}
    for child in sorted({child for _, child in found}):
        mine = {parent: edge for (parent, other), edge in found.items() if other == child}
        alone = not any(other == child for _, other in edges)
        free = alone and state.supports[child].kind == "none" and state.is_high(child)
        for parent, edge in _choose(mine, nx.DiGraph()).items():
            chosen[parent, child] = edge if free else edge._replace(certainty="possible")
    return chosen


def _beside(state: _State, edges: Edges) -> dict[tuple[int, int], Edge]:
    """With neither floor nor certain parent, everything within reach is a possible parent, except what is certainly
    carried: a candle does not carry the shelf that it stands on."""
    held = _held(edges)
    carries = nx.DiGraph(_certain(edges))
    found: dict[tuple[int, int], Edge] = {}
    for parent, child in state.pairs(SETTINGS.near_m):
        if child in held or state.stands(child) or state.has("carries_nothing", parent) or (parent, child) in edges:
            continue
        if child in carries and parent in nx.descendants(carries, child):
            continue
        if state.read(_is_beside, child, parent):
            found[parent, child] = Edge(state.bearing(parent), "possible", 0.0)
    return found
