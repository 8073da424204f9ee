"""Chains of views from one main view to another: SEMANTICS section 7.

Neighbours in a chain are linked (:mod:`spacecast.views.links`), each bridge is nearer to the goal than the view before
it, and no bridge shows objects of both groups. Since every step makes progress no chain comes back, so that the search
is exact: the fewest views first, then the strongest weakest link, then the earliest views in capture order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacecast.errors import FrameError
from spacecast.frames import Array, Transform, camera_heading
from spacecast.views.links import Links


@dataclass(frozen=True)
class ChainSettings:
    """How long a chain may be, and what progress is; SEMANTICS section 7."""

    max_bridges: int = 6
    """Views between two main views."""
    near_m: float = 0.5
    """Where the main cameras are closer than this, progress is the angle to the heading of main view B."""
    min_progress_m: float = 1e-3
    """A bridge is nearer by more than this, so that poses rounded in the facts tell the same (own)."""
    min_progress_deg: float = 0.1
    """The same for angles (own)."""


SETTINGS = ChainSettings()


class Chain(NamedTuple):
    """Views in walking order."""

    main_a: str
    bridges: tuple[str, ...]
    main_b: str
    weakest_share: float
    """The smallest share of seen surface that a view has in common with a neighbour, either way, in [0.2, 1]."""

    @property
    def names(self) -> tuple[str, ...]:
        """All views in walking order: main A, bridges, main B."""
        return (self.main_a, *self.bridges, self.main_b)

    @property
    def images(self) -> int:
        """How many pictures it shows, 2 to 8."""
        return len(self.bridges) + 2


class Chains:
    """Finds chains between views of a pool; what it finds is kept."""

    def __init__(self, links: Links, poses: Mapping[str, Transform], rooms: Mapping[str, object] | None = None) -> None:
        """Takes the links of a pool, and ``world_from_camera`` of each of its views, by name.

        Args:
            links: of the pool.
            poses: of its views.
            rooms: what stands for the room in which each camera is, None for none known. A chain stays in one room, as
                its text says (own), whatever can be seen through a door. Without it all are in one.

        Raises:
            KeyError: a view has no pose.
        """
        self.links = links
        self._strengths = links.strengths if rooms is None else _within(links, rooms)
        self._places_in_world = np.array([poses[name].translation for name in links.names]).reshape(-1, 3)
        self._yaws_deg = np.array([_yaw_deg(poses[name]) for name in links.names])
        self._seeing = _bits_by_object([links.visible_ids[name] for name in links.names])
        self._naming = _bits_by_object([links.named_ids[name] for name in links.names])
        self._goals: dict[tuple[int, bool], _Goal] = {}
        self._ways: dict[tuple[int, int], _Way] = {}

    def between(
        self,
        main_a: str,
        main_b: str,
        group_a: Iterable[int],
        group_b: Iterable[int],
        *,
        rivals: Iterable[int] = (),
    ) -> Chain | None:
        """The chain from one main view to another for two groups of objects, or None where there is none.

        Whether the objects are to be seen in the main views is the caller's to know; that each main view shows nothing
        of the other's objects (V = 0) is tested here.

        Args:
            main_a: shows group A; in the pool.
            main_b: shows group B; in the pool.
            group_a: ids of the objects that only main A, and some bridges, may show.
            group_b: ids of the objects that only main B, and other bridges, may show.
            rivals: ids of objects that could be meant by a name in the question: no view of the chain shows them with V
                of at least 16 px.

        Raises:
            KeyError: a main view is not in the pool.
        """
        a, b = self.links.index(main_a), self.links.index(main_b)
        showing_a, showing_b = _any(self._seeing, group_a), _any(self._seeing, group_b)
        unnamed = _any(self._naming, rivals)
        if a == b or showing_a >> b & 1 or showing_b >> a & 1 or unnamed >> a & 1 or unnamed >> b & 1:
            return None
        way = self._way(a, b)
        return way.chain((showing_a & showing_b | unnamed) & way.bits, self.links.names)

    def fewest_images(self, main_a: str, main_b: str) -> int | None:
        """How many pictures the shortest chain would have if every view could be its bridge; None where even then there
        is none. A bound to look at before objects are: no chain between these is shorter."""
        chain = self._way(self.links.index(main_a), self.links.index(main_b)).chain(0, self.links.names)
        return chain.images if chain else None

    def _way(self, a: int, b: int) -> _Way:
        if (a, b) not in self._ways:
            apart_m = float(np.linalg.norm(self._places_in_world[a] - self._places_in_world[b]))
            self._ways[a, b] = _Way(a, b, self._goal(b, apart_m < SETTINGS.near_m), self._strengths)
        return self._ways[a, b]

    def _goal(self, b: int, by_angle: bool) -> _Goal:
        if (b, by_angle) not in self._goals:
            if by_angle:
                left = np.abs((self._yaws_deg - self._yaws_deg[b] + 180.0) % 360.0 - 180.0)
                least = SETTINGS.min_progress_deg
            else:
                left = np.linalg.norm(self._places_in_world - self._places_in_world[b], axis=1)
                least = SETTINGS.min_progress_m
            self._goals[b, by_angle] = _Goal.towards(b, left, least, self._strengths)
        return self._goals[b, by_angle]


def _within(links: Links, rooms: Mapping[str, object]) -> Array:
    """(n, n) strengths of the links between views whose cameras are in one room."""
    here = [rooms[name] for name in links.names]
    together = np.array([[one is not None and one == other for other in here] for one in here], dtype=np.bool_)
    return np.where(together.reshape(links.strengths.shape), links.strengths, 0.0)


def _yaw_deg(world_from_camera: Transform) -> float:
    """Of a camera's heading, counterclockwise from east; nan where it has none: it makes no progress by angle."""
    try:
        east, north = camera_heading(world_from_camera).forward_in_world
    except FrameError:
        return float("nan")
    return float(np.degrees(np.arctan2(north, east)))


def _bits_by_object(shown: Sequence[frozenset[int]]) -> dict[int, int]:
    """Object id -> the set of views that show it, bit i for view i."""
    bits: dict[int, int] = {}
    for i, ids in enumerate(shown):
        for object_id in sorted(ids):
            bits[object_id] = bits.get(object_id, 0) | 1 << i
    return bits


def _any(bits: Mapping[int, int], object_ids: Iterable[int]) -> int:
    found = 0
    for object_id in object_ids:
        found |= bits.get(object_id, 0)
    return found


class _Goal(NamedTuple):
    """Steps that make progress towards one main view."""

    steps: Array
    """(n, n) strength of the link from view i to bridge j, 0 where it is none or makes no progress."""
    links_left: NDArray[np.int64]
    """(n,) fewest links from each view to the goal; more than a chain may have where there is no way."""

    @classmethod
    def towards(cls, b: int, left: Array, least: float, strengths: Array) -> _Goal:
        with np.errstate(invalid="ignore"):
            steps = np.where(left[None, :] < left[:, None] - least, strengths, 0.0)
        steps[:, b] = 0.0
        links_left = np.full(len(left), SETTINGS.max_bridges + 2)
        reached = strengths[:, b] > 0.0
        for count in range(1, SETTINGS.max_bridges + 2):
            links_left[reached & (links_left > count)] = count
            reached = np.asarray((steps[:, reached] > 0.0).any(axis=1))
        return cls(steps, links_left)


def _bridges(a: int, goal: _Goal) -> list[int]:
    """Views that lie on a chain from view a that is short enough, in capture order."""
    most = SETTINGS.max_bridges + 1
    links_gone = np.full(len(goal.steps), most + 1)
    reached = np.zeros(len(goal.steps), dtype=np.bool_)
    reached[a] = True
    for count in range(1, most):
        reached = np.asarray((goal.steps[reached] > 0.0).any(axis=0))
        links_gone[reached & (links_gone > count)] = count
    return [int(i) for i in np.flatnonzero(links_gone + goal.links_left <= most)]


class _Way:
    """All chains from one main view to another: the bridges that any of them uses, and the chains found so far."""

    def __init__(self, a: int, b: int, goal: _Goal, strengths: Array) -> None:
        bridges = _bridges(a, goal)
        self._a, self._b, self._bridges = a, b, bridges
        self._direct = float(strengths[a, b])
        self._first = goal.steps[a, bridges]
        self._inner = goal.steps[np.ix_(bridges, bridges)]
        self._last = strengths[bridges, b]
        self.bits = sum(1 << i for i in bridges)
        self._found: dict[int, Chain | None] = {}

    def chain(self, refused: int, names: Sequence[str]) -> Chain | None:
        """The best chain without the refused bridges (bits)."""
        if refused not in self._found:
            self._found[refused] = self._search(refused, names)
        return self._found[refused]

    def _search(self, refused: int, names: Sequence[str]) -> Chain | None:
        if self._direct > 0.0:
            return Chain(names[self._a], (), names[self._b], self._direct)
        allowed = np.array([not refused >> i & 1 for i in self._bridges], dtype=np.bool_)
        if not allowed.any():
            return None
        # layers[k][u]: the weakest link of the best way from bridge u to the goal over k more bridges.
        layers = [np.where(allowed, self._last, 0.0)]
        while not (weakest := float(np.minimum(self._first, layers[-1]).max())) > 0.0:
            if len(layers) == SETTINGS.max_bridges:
                return None
            layers.append(np.where(allowed, np.minimum(self._inner, layers[-1]).max(axis=1), 0.0))
        steps, bridges = self._first, []
        for layer in reversed(layers):
            # The earliest of those that are as strong as the weakest link must be.
            bridge = int(np.argmax(np.minimum(steps, layer) >= weakest))
            bridges.append(names[self._bridges[bridge]])
            steps = self._inner[bridge]
        return Chain(names[self._a], tuple(bridges), names[self._b], weakest)
