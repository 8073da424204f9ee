"""A scene: objects where they are, what carries what, and the mesh that belongs to none of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray

from spacecast.errors import InputError, InterventionError, SpacecastError, UnknownObjectError
from spacecast.frames import Transform
from spacecast.scan import NO_INSTANCE, Instance, Scan
from spacecast.scene.attachment import Attachment, Body, Readings, bodies_after, derive_attachment
from spacecast.scene.feasibility import Hindrance, hindrances, path_is_clear, sentence
from spacecast.scene.interventions import Effect, Intervention, Single, resolve, steps_of
from spacecast.scene.objects import SceneObject, Shape, Support
from spacecast.scene.rooms import Room, room_at, room_of, rooms_of
from spacecast.scene.support import Ground


@dataclass(frozen=True, eq=False)
class RestMesh:
    """Faces that belong to no object: unlabelled ones, and mixed ones along the borders. They occlude like structure.

    Attributes:
        vertices: (n, 3) float32, metres, in world; those that the faces need.
        faces: (m, 3) int32 numbers of these vertices.
        touches: (m, 3) int32, the id that owns each corner, -1 where none does. A face with one that is moved or
            removed is dropped from the changed scene.
    """

    vertices: NDArray[np.float32]
    faces: NDArray[np.int32]
    touches: NDArray[np.int32]
    _known: dict[tuple[Any, ...], Any] = field(default_factory=dict, repr=False)
    """What was asked before: many states lack the same faces."""

    @classmethod
    def empty(cls) -> RestMesh:
        """No faces."""
        none = np.zeros((0, 3), dtype=np.int32)
        return cls(np.zeros((0, 3), dtype=np.float32), none, none)

    def without(self, ids: Iterable[int]) -> RestMesh:
        """The faces that touch none of these objects; vertices are shared."""
        gone = sorted(ids)
        key = ("without", *gone)
        if key not in self._known:
            keep = ~np.isin(self.touches, gone).any(axis=1)
            same = bool(keep.all())
            self._known[key] = None if same else RestMesh(self.vertices, self.faces[keep], self.touches[keep])
        found: RestMesh | None = self._known[key]  # None for itself, which must not hold itself
        return self if found is None else found

    def sets(self, ids: Iterable[int]) -> dict[tuple[int, ...], NDArray[np.int64]]:
        """Numbers of the faces by which of these ids they touch: sorted ids -> (k,) face numbers, sorted by key.

        Faces that touch none of them are under ``()``. Give the ids that can be moved: the others never go away.
        """
        can_go = sorted(ids)
        key = ("sets", *can_go)
        if key not in self._known:
            self._known[key] = self._sets(can_go)
        known: dict[tuple[int, ...], NDArray[np.int64]] = self._known[key]
        return known

    def _sets(self, ids: Sequence[int]) -> dict[tuple[int, ...], NDArray[np.int64]]:
        wanted = np.where(np.isin(self.touches, ids), self.touches, np.iinfo(np.int32).max)
        rows = np.sort(wanted, axis=1)
        keys, of_face = np.unique(rows, axis=0, return_inverse=True)
        found: dict[tuple[int, ...], list[NDArray[np.int64]]] = {}
        for number, key in enumerate(keys):
            ids_of_key = tuple(sorted({int(i) for i in key} - {int(np.iinfo(np.int32).max)}))
            found.setdefault(ids_of_key, []).append(np.flatnonzero(of_face.reshape(-1) == number))
        return {key: np.sort(np.concatenate(found[key])) for key in sorted(found)}


@dataclass(frozen=True)
class LabelledBox:
    """A box that stands for an object, for scenes without a mesh.

    Attributes:
        id: its id in the scene.
        label: canonical label.
        center: (3,) metres, in world.
        size: (3,) full side lengths along its own axes.
        rotation: (3, 3), its columns are the box's axes in world.
        traits: what kind of thing it is; :data:`spacecast.scan.Trait`.
    """

    id: int
    label: str
    center: ArrayLike
    size: ArrayLike
    rotation: ArrayLike = field(default_factory=lambda: np.eye(3))
    traits: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Scene:
    """Objects by id (sorted, structure included), and the rest of the mesh. A value: nothing in it changes.

    Build one with :meth:`from_scan` or :meth:`from_boxes`, and changed states with :meth:`apply`, which copy no vertex.
    Attachment is worked out when first asked for.

    Attributes:
        scene_id: the scene's own id.
        dataset: the reader's name.
        is_aligned: False where north is arbitrary.
        objects: by id.
        rest: faces that belong to no object.
    """

    scene_id: str
    dataset: str
    is_aligned: bool
    objects: Mapping[int, SceneObject]
    rest: RestMesh = field(default_factory=RestMesh.empty)
    _scanned: Scene | None = field(default=None, repr=False)
    _bodies: tuple[Body, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        bound = {i: o.bound_to(self._support_of) for i, o in sorted(self.objects.items())}
        object.__setattr__(self, "objects", MappingProxyType(bound))

    @classmethod
    def from_scan(cls, scan: Scan) -> Scene:
        """Split a scan into objects: a face belongs to an object if all three of its vertices do.

        Instances without a vertex are left out (the reader has said so).
        """
        vertices_of = _groups(scan.instance_ids)
        faces_of = _groups(scan.face_instance_ids)
        local = np.empty(len(scan.vertices), dtype=np.int32)
        objects = {}
        for instance_id, instance in scan.instances.items():
            members = vertices_of.get(instance_id)
            if members is None:
                continue
            local[members] = np.arange(len(members), dtype=np.int32)
            faces = scan.faces[faces_of.get(instance_id, _NO_NUMBERS)]
            shape = Shape.from_mesh(scan.vertices[members], local[faces], lost_share=instance.lost_share)
            objects[instance_id] = SceneObject(instance, shape, _in_place())
        rest_faces = scan.faces[faces_of.get(NO_INSTANCE, _NO_NUMBERS)]
        used = np.unique(rest_faces)
        local[used] = np.arange(len(used), dtype=np.int32)
        rest = RestMesh(scan.vertices[used], local[rest_faces], scan.instance_ids[rest_faces])
        return cls(scan.scene_id, scan.dataset, scan.is_aligned, objects, rest)

    @classmethod
    def from_boxes(
        cls, boxes: Sequence[LabelledBox], *, scene_id: str = "boxes", dataset: str = "boxes", is_aligned: bool = True
    ) -> Scene:
        """A scene of filled boxes.

        Raises:
            InputError: two boxes have the same id, or a trait is unknown.
        """
        objects: dict[int, SceneObject] = {}
        for box in boxes:
            if box.id in objects:
                raise InputError(f"{scene_id}: two boxes have the id {box.id}; give each its own")
            instance = Instance(box.id, box.label, box.label, traits=frozenset(box.traits))
            shape = Shape.box(box.center, box.size, box.rotation)
            objects[box.id] = SceneObject(instance, shape, _in_place())
        return cls(scene_id, dataset, is_aligned, objects)

    def resolve(self, name: int | str) -> int:
        """The id of an object named by its id, by a label that only one object has, or by both: ``chair 12``.

        Raises:
            UnknownObjectError: no such id or label (the message gives the nearest), several have the label (the
                message lists them), or it was removed.
        """
        if isinstance(name, int | np.integer) and not isinstance(name, bool):
            if int(name) in self.objects:
                return int(name)
            if int(name) in self.removed:
                raise UnknownObjectError(self._gone(int(name)))
            raise UnknownObjectError(f"{self.scene_id}: no object has the id {name}; ids: {_listed(self.objects)}")
        wanted = " ".join(str(name).lower().split())
        found = [i for i, o in self.objects.items() if o.label.lower() == wanted]
        if len(found) == 1:
            return found[0]
        if found:
            raise UnknownObjectError(
                f"{self.scene_id}: {len(found)} objects have the label {wanted!r}; give an id: {_listed(found)}"
            )
        if wanted.isdecimal():
            return self.resolve(int(wanted))
        label, _, number = wanted.rpartition(" ")
        item = self.objects.get(int(number)) if number.isdecimal() else None
        if item is not None and item.label.lower() == label:
            return item.id
        gone = self.removed_as(name)
        if gone is not None:
            raise UnknownObjectError(self._gone(gone))
        labels = sorted({o.label for o in self.objects.values()})
        near = difflib.get_close_matches(wanted, labels, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise UnknownObjectError(
            f"{self.scene_id}: no object has the label {wanted!r}; {hint}labels: {_listed(labels)}"
        )

    @property
    def attachment(self) -> nx.DiGraph:
        """Who carries whom: frozen, edges (parent, child) with ``kind``, ``certainty`` and ``score``; every object that
        is not structure is a node."""
        return self._attachment.graph

    def carried_by(self, name: int | str) -> tuple[int, ...]:
        """Ids of all that an object carries, directly or through a chain of certain edges, sorted; not itself."""
        return tuple(sorted(nx.descendants(self._attachment.certain, self.resolve(name))))

    def carrier_of(self, name: int | str) -> int | None:
        """The certain parent of an object, or None."""
        return next(iter(self._attachment.certain.predecessors(self.resolve(name))), None)

    def possible_neighbours(self, ids: Iterable[int]) -> tuple[int, ...]:
        """Ids outside a set that a possible edge joins to one inside, either way, sorted."""
        inside = {self.resolve(i) for i in ids}
        found = set()
        for parent, child, data in self.attachment.edges(data=True):
            if data["certainty"] == "possible" and (parent in inside) != (child in inside):
                found.add(child if parent in inside else parent)
        return tuple(sorted(found))

    @property
    def as_scanned(self) -> Scene:
        """The scene that the sensor saw: itself, if nothing was done to it."""
        return self if self._scanned is None else self._scanned

    @cached_property
    def removed(self) -> tuple[int, ...]:
        """Ids of the objects that were taken away, sorted."""
        return tuple(i for i in self.as_scanned.objects if i not in self.objects)

    def removed_as(self, name: int | str) -> int | None:
        """The id of the object that was taken away and had this id or label; None where no such object was."""
        if not self.removed:
            return None
        try:
            number = self.as_scanned.resolve(name)
        except UnknownObjectError:
            return None
        return number if number in self.removed else None

    def _gone(self, object_id: int) -> str:
        label = self.as_scanned.objects[object_id].label
        return f"{self.scene_id}: {label} {object_id} was removed: only its occlusion can be asked (it is not visible)"

    def apply(self, intervention: Intervention, *, check: bool = True) -> Scene:
        """The state after an intervention (a sequence: after all of it); this one stays as it is.

        Ids stay. What is carried along certain edges goes with its carrier, as one rigid body, and keeps what was
        attached in it; what else is attached is derived again from where everything is now.

        Args:
            intervention: what is done.
            check: False applies what is not feasible as well.

        Raises:
            UnknownObjectError: it names no object, or several.
            InterventionError: it makes no sense, or (with ``check``) is not feasible; the message says why not.
            FrameError: the heading that its direction counts in is not defined.
        """
        state = self
        for step, where in _numbered(intervention):
            effect = resolve(state, step)
            found = hindrances(state, step, effect) if check else []
            if found:
                raise InterventionError(where + sentence(state, step, found))
            state = state._after(effect)
        return state

    def problems(self, intervention: Intervention) -> list[Hindrance]:
        """What stands against an intervention; empty where it is feasible.

        Of a sequence, every step is asked of the state that the steps before it leave, feasible or not.

        Raises:
            UnknownObjectError, InterventionError, FrameError: it makes no sense, as for :meth:`apply`.
        """
        state, problems = self, []
        for step, where in _numbered(intervention):
            effect = resolve(state, step)
            problems += [h._replace(detail=where + h.detail) for h in hindrances(state, step, effect)]
            state = state._after(effect)
        return problems

    def path_is_clear(self, intervention: Intervention) -> bool:
        """True if also the way there is free, for the footprint swept along it, in every step.

        What is removed, and the layout that turns, goes no way.
        """
        state = self
        for step, _ in _numbered(intervention):
            effect = resolve(state, step)
            if not path_is_clear(state, step, effect):
                return False
            state = state._after(effect)
        return True

    @cached_property
    def rooms(self) -> tuple[Room, ...]:
        """Rooms, the largest first; the same in every state of a scene, since the building does not move."""
        return rooms_of(self.objects) if self._scanned is None else self._scanned.rooms

    def room_of(self, name: int | str) -> Room | None:
        """The room that holds most of an object's plan, or None."""
        return room_of(self.rooms, self.objects[self.resolve(name)])

    def room_at(self, point_in_world: ArrayLike) -> Room | None:
        """The room in which a point (2,) or (3,) lies on the floor plan, or to which it is near; or None."""
        return room_at(self.rooms, point_in_world)

    @property
    def room_center_in_world(self) -> NDArray[np.float64]:
        """(2,) centroid of the largest room.

        Raises:
            SpacecastError: no floor is labelled, or none of more than 1 square metre.
        """
        if not self.rooms:
            raise SpacecastError(f"{self.scene_id}: no room is known: no labelled floor of more than 1 square metre")
        return self.rooms[0].center_in_world

    @cached_property
    def _attachment(self) -> Attachment:
        return derive_attachment(self.objects, self._bodies, ground=self._ground, readings=self._readings)

    @cached_property
    def _readings(self) -> Readings:
        return Readings(self.objects) if self._scanned is None else self._scanned._readings

    @cached_property
    def _ground(self) -> Ground:
        """The building's surfaces; it does not move."""
        if self._scanned is not None:
            return self._scanned._ground
        return Ground.of([item for item in self.objects.values() if item.is_structure])

    def _support_of(self, object_id: int) -> Support | None:
        return self._attachment.supports.get(object_id)

    def _after(self, effect: Effect) -> Scene:
        poses = {i: effect.world_from_world @ self.objects[i].world_from_object for i in effect.moved}
        bodies = bodies_after(self._bodies, self._attachment, moved=effect.moved, removed=effect.removed)
        return self._with_poses(poses, removed=effect.removed, bodies=bodies)

    def _with_poses(
        self, poses: Mapping[int, Transform], *, removed: Iterable[int] = (), bodies: tuple[Body, ...] = ()
    ) -> Scene:
        """The scene with some objects elsewhere and some gone; mixed faces that touch them are dropped.

        ``bodies`` say what was moved as one; without them all attachment is read from geometry.
        """
        gone = set(removed)
        objects = {
            i: replace(o, world_from_object=poses[i]) if i in poses else o
            for i, o in self.objects.items()
            if i not in gone
        }
        rest = self.rest.without(gone | set(poses))
        return Scene(self.scene_id, self.dataset, self.is_aligned, objects, rest, self.as_scanned, bodies)


def _numbered(intervention: Intervention) -> list[tuple[Single, str]]:
    """Single interventions in order, each with what goes before an error about it."""
    steps = list(steps_of(intervention))
    return [(step, f"step {n} of {len(steps)}: " if len(steps) > 1 else "") for n, step in enumerate(steps, 1)]


_NO_NUMBERS = np.zeros(0, dtype=np.int64)


def _in_place() -> Transform:
    return Transform.identity(target="world", source="object")


def _groups(ids: NDArray[np.int32]) -> dict[int, NDArray[np.int64]]:
    """Positions of each id, in order."""
    order = np.argsort(ids, kind="stable")
    values, starts = np.unique(ids[order], return_index=True)
    return dict(zip(values.tolist(), np.split(order, starts[1:]), strict=True)) if len(ids) else {}


def _listed(items: Iterable[object], limit: int = 12) -> str:
    texts = [str(item) for item in items]
    more = f" and {len(texts) - limit} more" if len(texts) > limit else ""
    return (", ".join(texts[:limit]) or "none") + more
