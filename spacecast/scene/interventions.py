"""Interventions: data that says what is done to a scene, and the rigid motion that each comes to.

An intervention names objects by id or label and is independent of any scene; :func:`resolve` works out against one
scene which objects go where (:class:`Effect`). What is carried along certain edges goes with its carrier, as one rigid
body. Sources: SEMANTICS section 5.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from spacecast.errors import InterventionError
from spacecast.frames import (
    COMPASS,
    Array,
    Heading,
    Transform,
    camera_heading,
    facing_heading,
    world_heading,
)

if TYPE_CHECKING:
    from spacecast.scene.scene import Scene

Name = int | str
Sense = Literal["clockwise", "counterclockwise"]

MOVE_WORDS = (
    *("forward", "forward-right", "right", "backward-right"),
    *("backward", "backward-left", "left", "forward-left"),
)
"""Directions of a move in a camera's or an object's heading, clockwise from forward in steps of 45 degrees."""


@dataclass(frozen=True)
class InterventionSettings:
    """What still makes an intervention, and how paths are sampled (own)."""

    grid_per_m: float = 2.0**32
    """Shifts and pivots are rounded to so many parts of a metre; see the module's head."""
    min_radius_m: float = 0.01
    """Nothing orbits what is nearer on the floor plan: there is no way around."""
    path_step_deg: float = 5.0
    """Steps of an orbit's path."""


SETTINGS = InterventionSettings()


@dataclass(frozen=True)
class Move:
    """Translate horizontally.

    Attributes:
        object: what is moved, with all that it carries.
        direction: one of :data:`MOVE_WORDS` in the camera's or the object's frame, a compass word in the world's.
        distance_m: how far, above 0.
        frame: whose heading the direction counts in.
        world_from_camera: the camera, for the camera's frame or for an object that faces the camera.
        facing: what the moved object faces, for the object's frame: an object (by id if its label is ``camera``), or
            ``camera``, which needs ``world_from_camera``.
    """

    object: Name
    direction: str
    distance_m: float
    frame: Literal["world", "camera", "object"] = "world"
    world_from_camera: Transform | None = None
    facing: Name | None = None


@dataclass(frozen=True)
class Orbit:
    """Carry along a horizontal circle around another object's centre, seen from above, own heading unchanged."""

    object: Name
    around: Name
    angle_deg: float
    sense: Sense = "clockwise"


@dataclass(frozen=True)
class Spin:
    """Turn about the object's own vertical axis, seen from above, with all that it carries.

    The axis goes through the middle of the box that the object had in the scan, so that it turns with the object.
    """

    object: Name
    angle_deg: float
    sense: Sense = "clockwise"


@dataclass(frozen=True)
class Remove:
    """Take away. ``carried``: ``goes`` takes what it carries along, ``stays`` leaves that floating where it was."""

    object: Name
    carried: Literal["goes", "stays"] = "goes"


@dataclass(frozen=True)
class RotateLayout:
    """Turn everything but structure clockwise, seen from above, about the room's centre; camera and compass stay.

    Feasible whatever it does: relative positions are kept, and whether there is room is not asked.
    """

    angle_deg: float
    center_in_world: tuple[float, float] | None = None
    """None for the centroid of the largest room."""


@dataclass(frozen=True)
class Sequence:
    """Several interventions, one after another, each on what the one before left."""

    steps: tuple[Intervention, ...]


Single = Move | Orbit | Spin | Remove | RotateLayout
Intervention = Single | Sequence


class Effect(NamedTuple):
    """What a single intervention does to one scene.

    Attributes:
        root: the object that it names, or None where it names none.
        moved: ids that move as one rigid body, sorted, the root among them.
        removed: ids that are gone, sorted.
        world_from_world: the rigid motion of all that moves, in world.
        path_in_world: (n, 2) shifts of the root along the way, the first zero, the last the whole shift.
    """

    root: int | None
    moved: tuple[int, ...]
    removed: tuple[int, ...]
    world_from_world: Transform
    path_in_world: Array


def resolve(scene: Scene, intervention: Single) -> Effect:
    """Work out what an intervention does to a scene, without asking whether it is feasible.

    Raises:
        UnknownObjectError: no such object, or several.
        InterventionError: it makes no sense: structure, an unknown direction, no distance, around itself ...
        FrameError: the heading that its direction counts in is not defined.
    """
    if isinstance(intervention, RotateLayout):
        return _rotate_layout(scene, intervention)
    root = scene.resolve(intervention.object)
    label = scene.objects[root].label
    if scene.objects[root].is_structure:
        raise InterventionError(f"{label} is part of the building: it is never moved or removed")
    subtree = tuple(sorted((root, *scene.carried_by(root))))
    if isinstance(intervention, Remove):
        if intervention.carried not in ("goes", "stays"):
            raise InterventionError(f"carried must be goes or stays, found {intervention.carried!r}")
        gone = subtree if intervention.carried == "goes" else (root,)
        return Effect(root, (), gone, _shift(np.zeros(3)), np.zeros((1, 2)))
    if isinstance(intervention, Move):
        angle_deg = 45.0 * _index(intervention)  # words first: a wrong one is said before a missing camera
        distance_m = _positive(intervention.distance_m, "distance_m")
        shift = on_grid(move_heading(scene, intervention).vector_in_world(angle_deg, distance_m))
        return Effect(root, subtree, (), _shift(shift), np.stack([np.zeros(2), shift[:2]]))
    angle_deg = _clockwise(intervention)
    if isinstance(intervention, Spin):
        axis = scene.objects[root].world_from_object @ scene.objects[root].shape.aabb.center
        turn = Transform.from_yaw_deg(-angle_deg, target="world", source="world", about=on_grid(axis))
        return Effect(root, subtree, (), turn, np.zeros((1, 2)))
    around = scene.resolve(intervention.around)
    if around in subtree:
        which = "itself" if around == root else f"{scene.objects[around].label}, which goes along with it"
        raise InterventionError(f"{label} cannot orbit {which}")
    center, start = scene.objects[around].center_in_world, scene.objects[root].center_in_world
    if np.linalg.norm((start - center)[:2]) < SETTINGS.min_radius_m:
        raise InterventionError(f"{label} cannot orbit {scene.objects[around].label}: one is above the other")
    steps = max(2, int(np.ceil(abs(angle_deg) / SETTINGS.path_step_deg)) + 1)
    path = orbit_shifts(start, center, np.linspace(0.0, angle_deg, steps))
    return Effect(root, subtree, (), _shift(np.append(path[-1], 0.0)), path)


def on_grid(values: ArrayLike) -> Array:
    """Metres, rounded to the grid on which sums are exact."""
    return np.asarray(np.rint(np.asarray(values, dtype=np.float64) * SETTINGS.grid_per_m) / SETTINGS.grid_per_m)


def move_shifts(heading: Heading, distances_m: ArrayLike) -> Array:
    """(8, n, 2) shifts on the floor plan of moves in all eight directions of a heading, clockwise from forward.

    Just those that :func:`resolve` gives for a :class:`Move` in that heading, for a search that asks of many at once.
    """
    directions = range(0, 360, 45)
    distances = np.asarray(distances_m, dtype=np.float64).ravel().tolist()
    vectors = [[heading.vector_in_world(float(angle), metres)[:2] for metres in distances] for angle in directions]
    return on_grid(np.asarray(vectors).reshape(len(directions), len(distances), 2))


def orbit_shifts(start_in_world: ArrayLike, center_in_world: ArrayLike, clockwise_deg: ArrayLike) -> Array:
    """(n, 2) shifts on the floor plan that carry a point around a centre by angles (n,), clockwise from above.

    Just those that :func:`resolve` gives for an :class:`Orbit`; the other sense has negative angles.
    """
    spoke = np.asarray(start_in_world, dtype=np.float64)[:2] - np.asarray(center_in_world, dtype=np.float64)[:2]
    angles = np.asarray(clockwise_deg, dtype=np.float64).ravel().tolist()
    turns = np.asarray([_turn(angle) for angle in angles]).reshape(-1, 2, 2)
    return on_grid(turns @ spoke - spoke)


def steps_of(intervention: Intervention) -> Iterable[Single]:
    """Single interventions in order.

    Raises:
        InterventionError: something else than an intervention.
    """
    if isinstance(intervention, Sequence):
        for step in intervention.steps:
            yield from steps_of(step)
    elif isinstance(intervention, get_args(Single)):
        yield intervention
    else:
        raise InterventionError(f"not an intervention: {intervention!r}")


def move_heading(scene: Scene, move: Move) -> Heading:
    """The heading that a move's direction counts in, at the moved object's centre.

    Raises:
        InterventionError: the frame needs a camera or a faced object that is not given.
        FrameError: the camera gives no heading, or the facing is not stable.
    """
    center = scene.objects[scene.resolve(move.object)].center_in_world
    if move.frame == "world":
        return world_heading(center)
    if move.frame == "camera":
        return camera_heading(_camera_of(move), center)
    if move.facing is None:
        raise InterventionError("a move in the object's frame needs what the object faces; give facing=")
    if move.facing == "camera":
        return facing_heading(center, _camera_of(move).translation)
    return facing_heading(center, scene.objects[scene.resolve(move.facing)].center_in_world)


def describe(scene: Scene, intervention: Single) -> str:
    """What is done, as the middle of a sentence: ``move 3.0 m north``."""
    if isinstance(intervention, Move):
        whose = {"world": "", "camera": " as the camera looks", "object": " as it faces"}[intervention.frame]
        return f"move {_metres(intervention.distance_m)} {intervention.direction}{whose}"
    if isinstance(intervention, Orbit):
        around = called(scene, scene.resolve(intervention.around))
        return f"orbit the {around} by {intervention.angle_deg:g} degrees {intervention.sense}"
    if isinstance(intervention, Spin):
        return f"spin by {intervention.angle_deg:g} degrees {intervention.sense}"
    if isinstance(intervention, Remove):
        return "be removed"
    return f"turn by {intervention.angle_deg:g} degrees clockwise"


def called(scene: Scene, object_id: int) -> str:
    """An object's label, with its id where others have the label too."""
    label = scene.objects[object_id].label
    alone = sum(item.label == label for item in scene.objects.values()) == 1
    return label if alone else f"{label} {object_id}"


def _metres(value: float) -> str:
    return f"{value:.1f} m" if round(value, 1) == value else f"{value:g} m"


def _rotate_layout(scene: Scene, intervention: RotateLayout) -> Effect:
    if not np.isfinite(intervention.angle_deg):
        raise InterventionError(f"angle_deg must be a finite number, found {intervention.angle_deg}")
    center = scene.room_center_in_world if intervention.center_in_world is None else intervention.center_in_world
    about = on_grid([*np.asarray(center, dtype=np.float64)[:2], 0.0])
    turn = Transform.from_yaw_deg(-intervention.angle_deg, target="world", source="world", about=about)
    moved = tuple(i for i, item in scene.objects.items() if not item.is_structure)
    return Effect(None, moved, (), turn, np.zeros((1, 2)))


@lru_cache(maxsize=1024)
def _turn(clockwise_deg: float) -> Array:
    """(2, 2) turn of the floor plan; a search asks for the same few again and again."""
    return Transform.from_yaw_deg(-clockwise_deg, target="world", source="world").rotation[:2, :2]


def _shift(vector_in_world: Array) -> Transform:
    return Transform.from_translation(vector_in_world, target="world", source="world")


def _index(move: Move) -> int:
    if move.frame not in ("world", "camera", "object"):
        raise InterventionError(f"no frame {move.frame!r}; known: world, camera, object")
    words = COMPASS if move.frame == "world" else MOVE_WORDS
    if move.direction not in words:
        raise InterventionError(
            f"no direction {move.direction!r} in the {move.frame}'s frame; known: {', '.join(words)}"
        )
    return words.index(move.direction)


def _positive(value: float, name: str) -> float:
    if not np.isfinite(value) or value <= 0.0:
        raise InterventionError(f"{name} must be a finite number above 0, found {value}")
    return float(value)


def _clockwise(intervention: Orbit | Spin) -> float:
    if intervention.sense not in ("clockwise", "counterclockwise"):
        raise InterventionError(f"sense must be clockwise or counterclockwise, found {intervention.sense!r}")
    angle_deg = _positive(intervention.angle_deg, "angle_deg")
    if angle_deg > 360.0:
        raise InterventionError(f"angle_deg must be at most 360, found {angle_deg:g}")
    return angle_deg if intervention.sense == "clockwise" else -angle_deg


def _camera_of(move: Move) -> Transform:
    if move.world_from_camera is None:
        raise InterventionError(f"a move in the {move.frame}'s frame here needs a camera; give world_from_camera=")
    return move.world_from_camera
