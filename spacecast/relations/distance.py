"""How far two objects are from each other: the shortest distance between their surfaces (SEMANTICS section 3).

Reasons why a distance is not certain: ``near_border`` (of a bin), ``too_close`` (the two all but touch).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from spacecast.errors import RelationError
from spacecast.geometry.distance import SurfaceIndex
from spacecast.relations.answer import Answer

if TYPE_CHECKING:
    from spacecast.scene import Scene, SceneObject, Shape


@dataclass(frozen=True)
class DistanceSettings:
    """The bins, and when a distance is certain; SEMANTICS sections 3 and 4.2."""

    names: tuple[str, ...] = ("very close", "close", "moderate", "far")
    """Words of the bins, nearest first."""
    borders_m: tuple[float, ...] = (1.0, 2.0, 3.3)
    """Between each bin and the next; a border itself belongs to the upper bin, the last one to the lower: far is above
    3.3."""
    min_border_margin_m: float = 0.1
    """Nearer to a border, the bin is not certain."""
    min_distance_m: float = 0.2
    """At a shorter distance nothing is asked."""


SETTINGS = DistanceSettings()


def distance(scene: Scene, one: int | str, other: int | str) -> Answer:
    """The shortest distance between the surfaces of two objects, on their meshes, wherever they stand.

    ``distance(scene, a, b) == distance(scene, b, a)``, up to rounding.

    Returns:
        ``value``: the word of the bin. ``numbers``: ``distance_m``. ``margins``: ``distance_m``, ``border_m`` (to the
        nearest border of a bin). ``reasons``: see the module.

    Raises:
        RelationError: an object and itself.
        UnknownObjectError: no such object, or several of that label.
    """
    a, b = scene.objects[scene.resolve(one)], scene.objects[scene.resolve(other)]
    if a.id == b.id:
        raise RelationError(f"{a.label} ({a.id}) has no distance from itself")
    distance_m = surface_distance_between_m(a, b)
    border_m = min(abs(distance_m - border) for border in SETTINGS.borders_m)
    reasons = []
    if border_m < SETTINGS.min_border_margin_m:
        reasons.append("near_border")
    if distance_m < SETTINGS.min_distance_m:
        reasons.append("too_close")
    margins = {"distance_m": distance_m, "border_m": border_m}
    return Answer(distance_bin(distance_m), {"distance_m": distance_m}, margins, tuple(reasons))


def distance_bin(distance_m: float) -> str:
    """The word for a distance: ``very close`` below 1.0, ``close`` to 2.0, ``moderate`` to 3.3, ``far`` above 3.3."""
    *inner, last = SETTINGS.borders_m
    above = sum(distance_m >= border for border in inner) + (distance_m > last)
    return SETTINGS.names[above]


def surface_distance_between_m(one: SceneObject, other: SceneObject) -> float:
    """Shortest distance between two objects' surfaces where they stand, metres; what is prepared of a shape is kept as
    long as the shape."""
    return _surface(one.shape).distance_m(
        _surface(other.shape), world_from_self=one.world_from_object, world_from_other=other.world_from_object
    )


_surfaces: WeakKeyDictionary[Shape, SurfaceIndex] = WeakKeyDictionary()


def _surface(shape: Shape) -> SurfaceIndex:
    found = _surfaces.get(shape)
    if found is None:
        found = SurfaceIndex(shape.vertices, shape.faces)
        _surfaces[shape] = found
    return found
