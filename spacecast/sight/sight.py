"""What is seen from where: one ray-casting scene per object, in object coordinates, and one for what never moves.

A picture of any state of a scene is the nearest hit over objects, with rays carried into each object's frame. So a
state after an intervention builds nothing anew: ray-casting scenes are kept per :class:`~spacecast.scene.Shape` and per
rest of the mesh, as long as these live, and states share them. Structure and unlabelled faces lie in one scene, mixed
faces that touch objects in small ones, one per set of objects touched, since they go away with any of these. The
unchanged scan also has one scene over the whole mesh. Nothing falls back to boxes.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacecast.frames import Array, Transform
from spacecast.scan import View
from spacecast.scene import Scene, SceneObject, Shape
from spacecast.sight.cameras import Camera, Window, box_window, camera_of, pixel_rays, window_rays
from spacecast.sight.rays import Hits, RayScene

if TYPE_CHECKING:
    from spacecast.sight.look import Look

NO_OBJECT = -1
"""Id of unlabelled and of mixed faces."""
NO_HIT = -2
"""Id where nothing is hit."""

MASK_WIDTH_PX = 640
"""Masks are cast this wide, and all pixel counts refer to it; SEMANTICS, head."""

_ROUNDING_M = 1e-3
"""Depths are float32, and a box is so much larger than its mesh."""

_WORLD = Transform.identity(target="world", source="world")


class IdImage(NamedTuple):
    """``ids`` (H, W) int32: object id, -1 for unlabelled or mixed faces, -2 where nothing is hit; ``depth`` (H, W)
    float32 metres along the optical axis, inf where nothing is hit."""

    ids: NDArray[np.int32]
    depth: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Part:
    """Triangles that keep together, and where they are in one state."""

    rays: RayScene
    world_from_part: Transform
    ids: NDArray[np.int32]
    """(faces + 1,): whose each face is; the last stands for no face at all, so that ``ids[-1]`` is :data:`NO_HIT`."""
    bounds: Array
    """(2, 3) lowest and highest corner, in the part's frame."""
    blocks: tuple[tuple[int, NDArray[np.int64] | None], ...]
    """Where vertices come from, in order: (object id, None for all of its vertices), or (-1, numbers in the rest)."""

    in_place: bool
    """True if the part's frame is the world."""

    def from_camera(self, camera: Camera) -> Transform:
        """The camera in the part's frame."""
        if self.in_place:
            return camera.world_from_camera
        return self.world_from_part.inverse() @ camera.world_from_camera

    def window(self, camera: Camera) -> Window:
        """Where the part can be seen, beyond the picture too."""
        return box_window(self.bounds, self.from_camera(camera), camera.intrinsics)

    @cached_property
    def corners_in_world(self) -> Array:
        """(8, 3) of its box."""
        corners = np.array(np.meshgrid(*self.bounds.T)).reshape(3, -1).T
        return np.asarray(self.world_from_part @ corners)

    def cast(self, camera: Camera, window: Window, threads: int) -> Hits:
        """Nearest hits (h, w) through the pixels of a window of the picture."""
        if self.in_place:
            rays = _rays_in_world(camera, window)
        else:
            rays = window_rays(self.from_camera(camera), camera.intrinsics, window)
        return self.rays.cast_rays(rays, threads=threads)


_PICTURE: dict[Camera, NDArray[np.float32]] = {}
"""Rays through every pixel of the picture that was cast whole last: all that is in place is then cut from it."""


def _rays_in_world(camera: Camera, window: Window) -> NDArray[np.float32]:
    """Rays (h, w, 6) through the pixels of a window of the picture."""
    whole = _PICTURE.get(camera)
    if whole is None:
        rays = window_rays(camera.world_from_camera, camera.intrinsics, window)
        if window == Window.of(camera.intrinsics):
            _PICTURE.clear()
            _PICTURE[camera] = rays
        return rays
    return np.ascontiguousarray(whole[window.slices])


def _nearest_m(parts: Sequence[Part], camera: Camera) -> Array:
    """(n,): no point of a part is nearer along the optical axis."""
    corners = np.stack([part.corners_in_world for part in parts]) - camera.world_from_camera.translation
    nearest: Array = (corners @ camera.world_from_camera.rotation[:, 2]).min(axis=1) - _ROUNDING_M
    return nearest


class Crop(NamedTuple):
    """One object alone: where in the picture it can be, and its depth there, inf beside it."""

    window: Window
    depth: NDArray[np.float32]


class Sight:
    """What one state of a scene looks like from any camera. Get one from :func:`sight_of`."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._looks: dict[tuple[Any, ...], Look] = {}

    def id_image(self, view_or_camera: View | Camera, threads: int = 0) -> IdImage:
        """Who is seen first in each pixel, at the camera's own size.

        Args:
            view_or_camera: where it is seen from.
            threads: 0 for all cores, 1 in build workers.
        """
        return self.image_and_crops(camera_of(view_or_camera), threads)[0]

    def look(
        self,
        view_or_camera: View | Camera,
        width_px: int = MASK_WIDTH_PX,
        *,
        about: tuple[int, ...] | None = None,
        attachment_of: Scene | None = None,
        threads: int = 0,
    ) -> Look:
        """All that is to be known of one view. The last few are kept.

        Args:
            view_or_camera: a view brings its sensor depth, a camera has none.
            width_px: of the masks; the height follows.
            about: ids of the only objects that the look will be asked about, so that no more of the picture is cast
                than where they are; None for all.
            attachment_of: the state whose attachment counts, None for this one: deriving it takes longer than a look
                about two objects, and only ``opened_near`` needs it.
            threads: 0 for all cores, 1 in build workers.
        """
        from spacecast.sight.look import KEPT_LOOKS, Look

        whole = (view_or_camera, width_px, None, None)
        key = whole if whole in self._looks else (view_or_camera, width_px, about, attachment_of)
        look = self._looks.pop(key, None)
        if look is None:
            look = Look(self, view_or_camera, width_px, about=about, attachment_of=attachment_of, threads=threads)
        self._looks[key] = look
        while len(self._looks) > KEPT_LOOKS:
            del self._looks[next(iter(self._looks))]
        return look

    def mask_image(self, view_or_camera: View | Camera, width_px: int = MASK_WIDTH_PX, threads: int = 0) -> IdImage:
        """The id image that masks are cut from: of the look at a view where one is kept, so that nothing is cast twice,
        else cast, and not kept.

        Args:
            view_or_camera: where it is seen from.
            width_px: of the masks; the height follows.
            threads: 0 for all cores, 1 in build workers.
        """
        look = self._looks.get((view_or_camera, width_px, None, None))
        if look is not None:
            return look.image
        return self.id_image(camera_of(view_or_camera).scaled_to_width(width_px), threads)

    def crop(self, object_id: int, camera: Camera, threads: int = 0) -> Crop:
        """One object alone, cast through the part of the picture that its box covers."""
        part = self.part_of(object_id)
        window = part.window(camera).within(Window.of(camera.intrinsics))
        return Crop(window, part.cast(camera, window, threads).t)

    def image_and_crops(self, camera: Camera, threads: int = 0) -> tuple[IdImage, dict[int, Crop]]:
        """The id image, and the objects that were cast alone for it (none where the whole mesh was cast)."""
        crops: dict[int, Crop] = {}
        if len(self.parts) == 1:
            (part,) = self.parts
            hits = part.cast(camera, Window.of(camera.intrinsics), threads)
            return IdImage(part.ids[hits.face], hits.t), crops
        shape = (camera.intrinsics.height, camera.intrinsics.width)
        image = IdImage(np.full(shape, NO_HIT, np.int32), np.full(shape, np.inf, np.float32))
        for part, window, hits, nearer in self.layers(camera, threads):
            image.depth[window.slices][nearer] = hits.t[nearer]
            image.ids[window.slices][nearer] = part.ids[hits.face[nearer]]
            if len(part.blocks) == 1 and part.blocks[0][0] in self._objects:
                crops[part.blocks[0][0]] = Crop(window, hits.t)
        return image, crops

    def image_at(
        self, pixels: NDArray[np.bool_], crops: Mapping[int, Crop], camera: Camera, threads: int = 0
    ) -> IdImage:
        """The id image in some pixels; elsewhere it reads as if nothing but these crops were hit.

        Args:
            pixels: (H, W) of the picture.
            crops: objects that were cast already. Nothing is cast where one of them is nearer than the box of a part.
            camera: the picture's.
            threads: 0 for all cores, 1 in build workers.
        """
        image = IdImage(np.full(pixels.shape, NO_HIT, np.int32), np.full(pixels.shape, np.inf, np.float32))
        for object_id, (window, depth) in crops.items():
            nearer = depth < image.depth[window.slices]
            image.depth[window.slices][nearer] = depth[nearer]
            image.ids[window.slices][nearer] = object_id
        rows, columns = np.nonzero(pixels)
        if not len(rows):
            return image
        around = Window(int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1)
        ids, depth = image.ids[rows, columns], image.depth[rows, columns]
        parts = [part for part in self.parts if not (len(part.blocks) == 1 and part.blocks[0][0] in crops)]
        near_m = _nearest_m(parts, camera) if parts else np.zeros(0)
        for number in np.argsort(near_m, kind="stable").tolist():
            if near_m[number] >= depth.max():  # so are all that follow
                break
            part, window = parts[number], parts[number].window(camera).within(around)
            if not window.area:
                continue
            beside = (columns < window.left) | (columns >= window.right) | (rows < window.top) | (rows >= window.bottom)
            open_px = np.flatnonzero(~beside & (depth > near_m[number]))
            if not len(open_px):
                continue
            rays = pixel_rays(part.from_camera(camera), camera.intrinsics, columns[open_px], rows[open_px])
            hits = part.rays.cast_rays(rays, threads=threads)
            nearer = hits.t < depth[open_px]
            depth[open_px[nearer]] = hits.t[nearer]
            ids[open_px[nearer]] = part.ids[hits.face[nearer]]
        image.ids[rows, columns], image.depth[rows, columns] = ids, depth
        return image

    def layers(self, camera: Camera, threads: int = 0) -> Iterator[tuple[Part, Window, Hits, NDArray[np.bool_]]]:
        """Part after part: where it may be seen, its hits there, and in which pixels it is nearer than all before."""
        picture = Window.of(camera.intrinsics)
        depth = np.full((picture.bottom, picture.right), np.inf, np.float32)
        for part in self.parts:
            window = part.window(camera).within(picture)
            if not window.area:
                continue
            hits = part.cast(camera, window, threads)
            before = depth[window.slices]
            nearer = hits.t < before
            before[nearer] = hits.t[nearer]
            yield part, window, hits, nearer

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """What has to be cast to see everything: the whole mesh if it is unchanged, else one part after another."""
        scene = self.scene
        fixed = [o for o in scene.objects.values() if o.is_structure and o.is_in_place]
        loose = [o for o in scene.objects.values() if not (o.is_structure and o.is_in_place)]
        kept = _KEPT.of(scene.rest.vertices)
        if all(o.is_in_place for o in loose):
            key: tuple[Any, ...] = (*(o.shape for o in scene.objects.values()), len(scene.rest.faces))
            if "whole" not in kept:
                kept["whole"] = (key, _merged([*fixed, *loose], scene, None))
            whole = kept["whole"]  # the first state with all in place is the scan; one with less is cast in parts
            if whole[0] == key:
                return (whole[1],) if whole[1].rays.face_count else ()
        sets = scene.rest.sets([o.id for o in loose])
        parts = []
        for touched in sorted({(), *sets}):
            objects = fixed if touched == () else []
            key = (touched, *(o.shape for o in objects))
            if key not in kept:
                kept[key] = _merged(objects, scene, sets.get(touched, np.zeros(0, np.int64)))
            parts.append(kept[key])
        return (*(p for p in parts if p.rays.face_count), *(self.part_of(o.id) for o in loose))

    def part_of(self, object_id: int) -> Part:
        """One object alone, where it is."""
        return self._objects[object_id]

    @cached_property
    def _objects(self) -> dict[int, Part]:
        return {i: _object_part(o) for i, o in self.scene.objects.items()}


@lru_cache(maxsize=4)
def sight_of(scene: Scene) -> Sight:
    """The sight of a scene: the last four are kept, and their ray-casting scenes as long as the shapes live."""
    return Sight(scene)


class _PerArray:
    """Values that are kept as long as an array lives (arrays have no hash, so that a weak dictionary cannot)."""

    def __init__(self) -> None:
        self._values: dict[int, tuple[weakref.ref[Any], dict[Any, Any]]] = {}

    def of(self, array: NDArray[Any]) -> dict[Any, Any]:
        key = id(array)
        if key not in self._values:
            self._values[key] = (weakref.ref(array, self._forget(key)), {})
        return self._values[key][1]

    def _forget(self, key: int) -> Callable[[Any], None]:
        def forget(_: Any) -> None:
            self._values.pop(key, None)

        return forget


_KEPT = _PerArray()
_RAYS: weakref.WeakKeyDictionary[Shape, RayScene] = weakref.WeakKeyDictionary()


_PARTS: weakref.WeakKeyDictionary[Shape, Part] = weakref.WeakKeyDictionary()
"""Of each shape the part that was asked for last: most things stand in the same place from state to state."""


def _object_part(item: SceneObject) -> Part:
    part = _PARTS.get(item.shape)
    if part is None or part.world_from_part is not item.world_from_object or part.blocks[0][0] != item.id:
        part = _PARTS[item.shape] = _new_part(item)
    return part


def _new_part(item: SceneObject) -> Part:
    rays = _RAYS.get(item.shape)
    if rays is None:
        rays = _RAYS[item.shape] = RayScene(item.shape.vertices, item.shape.faces)
    ids = np.full(rays.face_count + 1, item.id, dtype=np.int32)
    ids[-1] = NO_HIT
    bounds = np.stack([item.shape.aabb.min, item.shape.aabb.max]).astype(np.float64)
    return Part(rays, item.world_from_object, ids, bounds, ((item.id, None),), item.is_in_place)


def _merged(objects: list[SceneObject], scene: Scene, rest_faces: NDArray[np.int64] | None) -> Part:
    """Objects in place and faces of the rest (all of them for None), as one mesh in world."""
    rest = scene.rest
    faces = rest.faces if rest_faces is None else rest.faces[rest_faces]
    used, local = np.unique(faces, return_inverse=True)
    vertices: list[NDArray[np.float32]] = [*(o.shape.vertices for o in objects), rest.vertices[used]]
    starts = np.cumsum([0, *(len(v) for v in vertices)])
    triangles: list[NDArray[Any]] = [*(o.shape.faces for o in objects), local.reshape(-1, 3)]
    rays = RayScene(
        np.concatenate(vertices),
        np.concatenate([t + start for t, start in zip(triangles, starts, strict=False)]),
    )
    ids = np.repeat(
        np.array([*(o.id for o in objects), NO_OBJECT, NO_HIT], dtype=np.int32), [*(len(t) for t in triangles), 1]
    )
    blocks = (*((o.id, None) for o in objects), (NO_OBJECT, used.astype(np.int64)))
    return Part(rays, _WORLD, ids, _bounds(rays.vertices), blocks, True)


def _bounds(vertices: NDArray[np.float32]) -> Array:
    if not len(vertices):
        return np.zeros((2, 3))
    return np.stack([vertices.min(axis=0), vertices.max(axis=0)]).astype(np.float64)
