"""Objects of a scene: geometry that never changes (:class:`Shape`) and where it is (:class:`SceneObject`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spacecast.errors import InputError
from spacecast.frames import Array, Transform
from spacecast.geometry.boxes import AxisBox, OrientedBox, axis_box, box_mesh, is_degenerate, oriented_box
from spacecast.geometry.clusters import is_scattered
from spacecast.geometry.hulls import plan_hull
from spacecast.geometry.patches import hull_corners
from spacecast.scan import Instance
from spacecast.scene.support import Support
from spacecast.scene.surface import Surface

Flag = Literal["degenerate", "scattered", "few_vertices", "small", "shares_vertices"]

_YAW_ONLY_TOLERANCE = 1e-9


@dataclass(frozen=True)
class ObjectSettings:
    """Which objects are not asked about; SEMANTICS section 2."""

    min_largest_side_m: float = 0.05
    """An object whose largest side is smaller is not asked about."""
    min_vertices: int = 50
    """An object with fewer vertices is not asked about."""
    max_cluster_gap_m: float = 0.5
    """An object in two or more clusters that are further apart is not asked about."""

    max_lost_share: float = 0.05
    """An object that lost more of its vertices to others is not asked about."""


SETTINGS = ObjectSettings()


@dataclass(frozen=True, eq=False)
class Shape:
    """The geometry of one object, in object coordinates, shared by every scene state and read-only.

    Attributes:
        vertices: (n, 3) float32, metres, in the order of the scan.
        faces: (m, 3) int32 numbers of these vertices: the faces whose three vertices are all the object's.
        flags: what is wrong with it, of :data:`Flag`; such objects are not asked about.
    """

    vertices: NDArray[np.float32]
    faces: NDArray[np.int32]
    flags: frozenset[Flag] = frozenset()

    def __post_init__(self) -> None:
        if self.vertices.ndim != 2 or self.vertices.shape[1] != 3 or not len(self.vertices):
            raise InputError(f"a shape needs vertices (n, 3) with n of at least 1, found {self.vertices.shape}")
        if self.vertices.dtype != np.float32 or self.faces.dtype != np.int32 or self.faces.shape[1:] != (3,):
            raise InputError("a shape needs float32 vertices and int32 faces (m, 3)")
        self.vertices.setflags(write=False)
        self.faces.setflags(write=False)

    @classmethod
    def from_mesh(cls, vertices: ArrayLike, faces: ArrayLike, *, lost_share: float = 0.0) -> Shape:
        """A scanned shape, with its flags worked out.

        Args:
            vertices: (n, 3) metres.
            faces: (m, 3) numbers of vertices.
            lost_share: share of the object's vertices that went to others.
        """
        points = np.ascontiguousarray(vertices, dtype=np.float32).reshape(-1, 3)
        plain = cls(points, np.ascontiguousarray(faces, dtype=np.int32).reshape(-1, 3))
        found: set[Flag] = set()
        if is_degenerate(points):
            found.add("degenerate")
        if is_scattered(points, gap_m=SETTINGS.max_cluster_gap_m):
            found.add("scattered")
        if len(points) < SETTINGS.min_vertices:
            found.add("few_vertices")
        # An upright box's sides are at least those along the axes over sqrt(2): most need no other box.
        bound = SETTINGS.min_largest_side_m
        if max(plain.aabb.size) < bound * np.sqrt(2.0) and max(plain.obb.size) < bound:
            found.add("small")
        if lost_share > SETTINGS.max_lost_share:
            found.add("shares_vertices")
        object.__setattr__(plain, "flags", frozenset(found))
        return plain

    @classmethod
    def box(cls, center: ArrayLike, size: ArrayLike, rotation: ArrayLike) -> Shape:
        """A filled box; its eight vertices are exact, so that their number is no flaw."""
        vertices, faces = box_mesh(center, size, rotation)
        points = np.ascontiguousarray(vertices, dtype=np.float32)
        flags: frozenset[Flag] = frozenset({"degenerate"} if is_degenerate(points) else ())
        return cls(points, np.ascontiguousarray(faces, dtype=np.int32), flags)

    @cached_property
    def aabb(self) -> AxisBox:
        """Box along the axes of the object's coordinates."""
        return axis_box(self.vertices)

    @cached_property
    def obb(self) -> OrientedBox:
        """Smallest upright box, in object coordinates."""
        return oriented_box(self.prism)

    @cached_property
    def footprint(self) -> Any:
        """Plan hull (shapely), in object coordinates."""
        return plan_hull(self.prism)

    @cached_property
    def mean(self) -> Array:
        """(3,) mean of the vertices, in object coordinates."""
        return self.vertices.mean(axis=0, dtype=np.float64)

    @cached_property
    def prism(self) -> Array:
        """(2 k, 3) corners of the plan hull at the lowest and the highest height: the same boxes under any yaw."""
        plan = hull_corners(self.vertices[:, :2])
        heights = (float(self.vertices[:, 2].min()), float(self.vertices[:, 2].max()))
        return np.concatenate([np.column_stack([plan, np.full(len(plan), z)]) for z in heights])

    @cached_property
    def surface(self) -> Surface:
        """Samples of the faces without mask leaks, in object coordinates: what attachment is read from."""
        return Surface.of(self.vertices, self.faces)


def _nothing_known(_: int) -> Support | None:
    return None


@dataclass(frozen=True, eq=False)
class SceneObject:
    """One labelled instance in one state of a scene.

    Attributes:
        instance: what the dataset says of it.
        shape: geometry, in object coordinates.
        world_from_object: where it is. The identity in an unchanged scan.
    """

    instance: Instance
    shape: Shape
    world_from_object: Transform
    _support_of: Callable[[int], Support | None] = field(default=_nothing_known, repr=False)

    @property
    def id(self) -> int:
        """As in the dataset."""
        return self.instance.id

    @property
    def label(self) -> str:
        """Canonical label, for people and names."""
        return self.instance.label

    @property
    def raw_label(self) -> str:
        """Label as the dataset spells it."""
        return self.instance.raw_label

    @property
    def traits(self) -> frozenset[str]:
        """What kind of thing it is; :data:`spacecast.scan.Trait`."""
        return self.instance.traits

    @property
    def is_structure(self) -> bool:
        """True if it is a part of the building, which is never moved or removed."""
        return self.instance.is_structure

    def bound_to(self, support_of: Callable[[int], Support | None]) -> SceneObject:
        """The same thing in another state, standing where it stood: what was worked out of its place is shared."""
        twin = object.__new__(SceneObject)
        twin.__dict__.update(self.__dict__, _support_of=support_of)
        return twin

    @property
    def support(self) -> Support | None:
        """What it stands on or hangs on; None for structure. Derived with the attachment, when first asked for."""
        return None if self.is_structure else self._support_of(self.id)

    @property
    def why_not_asked(self) -> str | None:
        """Why no question is about it, as a stable word, or None if it may be asked about; SEMANTICS section 2."""
        if self.is_structure:
            return "structure"
        for trait in ("clutter", "collective"):
            if trait in self.traits:
                return trait
        return next((flag for flag in _FLAGS if flag in self.shape.flags), None)

    @property
    def may_be_asked(self) -> bool:
        """True if questions may be about it."""
        return self.why_not_asked is None

    @cached_property
    def is_upright(self) -> bool:
        """True if its pose is a yaw and a shift, so that plan and height keep apart."""
        return bool(abs(self.world_from_object.rotation[2, 2] - 1.0) <= _YAW_ONLY_TOLERANCE)

    @cached_property
    def is_in_place(self) -> bool:
        """True if its pose is the identity."""
        pose = self.world_from_object
        return bool((pose.rotation == np.eye(3)).all() and (pose.translation == 0.0).all())

    @cached_property
    def vertices_in_world(self) -> Array:
        """(n, 3) float64, read-only."""
        if self.is_in_place:
            points = self.shape.vertices.astype(np.float64)
        else:
            points = self.world_from_object @ self.shape.vertices
        points.setflags(write=False)
        return points

    @cached_property
    def surface_in_world(self) -> Surface:
        """Samples of the faces, without mask leaks, in world."""
        return self.shape.surface if self.is_in_place else self.shape.surface.moved(self.world_from_object)

    @property
    def _extremes_in_world(self) -> Array:
        return self.world_from_object @ self.shape.prism if self.is_upright else self.vertices_in_world

    @cached_property
    def aabb(self) -> AxisBox:
        """Box along the world's axes."""
        return self.shape.aabb if self.is_in_place else axis_box(self._extremes_in_world)

    @cached_property
    def obb(self) -> OrientedBox:
        """Smallest upright box in world: longest side first, yaw in [-90, 90)."""
        return self.shape.obb if self.is_in_place else oriented_box(self._extremes_in_world)

    @cached_property
    def footprint(self) -> Any:
        """Plan hull (shapely), in world; a line or a point where the plan has no area."""
        return self.shape.footprint if self.is_in_place else plan_hull(self._extremes_in_world)

    @property
    def center_in_world(self) -> Array:
        """(3,) centre of the aabb: the centre that relations use."""
        return np.asarray(self.aabb.center, dtype=np.float64)

    @cached_property
    def centers_in_world(self) -> Array:
        """(3, 3): centre of the aabb, centre of the obb, mean of the vertices; the last two are a check."""
        mean = self.world_from_object @ self.shape.mean
        return np.stack([self.center_in_world, np.asarray(self.obb.center, dtype=np.float64), mean])


_FLAGS: tuple[Flag, ...] = ("scattered", "small", "few_vertices", "degenerate", "shares_vertices")
