"""What question types enumerate from: one scene, the views that are used, and what each of them shows.

A view is looked at once; numbers are kept, pictures of ids are not, so that memory stays bounded by the number of
objects and views.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from types import MappingProxyType
from typing import Any, Literal

from spacecast.dataset.rows import SETTINGS as ROW_SETTINGS
from spacecast.dataset.rows import plain
from spacecast.dataset.showings import Showings
from spacecast.dataset.types import Refusal, Role
from spacecast.errors import FrameError
from spacecast.frames import Heading, Intrinsics, camera_heading
from spacecast.relations import Answer, occlusion
from spacecast.scan import Scan, View
from spacecast.scene import Scene
from spacecast.scene.rooms import Room
from spacecast.sight import Camera, Look, Sight, Visibility, sight_of
from spacecast.views.chains import Chains
from spacecast.views.choose import Pictures, choose_views
from spacecast.views.links import Links
from spacecast.views.names import SETTINGS as NAME_SETTINGS
from spacecast.views.names import Names, scaled_px
from spacecast.views.pool import pool_of_frames


@dataclass(frozen=True)
class ContextSettings:
    """How a scene is looked at while questions are sought."""

    look_width_px: int = 640
    """Width of the masks that all pixel counts refer to; SEMANTICS, head."""
    render_width_px: int = 640
    """Width of a picture that is rendered where photos are not used (own)."""


SETTINGS = ContextSettings()

NotSeen = Literal["not_in_view", "not_unique", "too_small", "truncated", "hidden", "depth_disagrees"]


@dataclass(frozen=True, eq=False)
class ViewRecord:
    """What one view shows, as numbers.

    Attributes:
        name: the view's name.
        width: of the cast, pixels.
        height: of the cast, pixels.
        visible_ids: every object, structure included, with enough visible pixels to be meant by a name.
        visibility: of the objects that may be asked about and are among these.
        problems: why an object that may be asked about is not nameable and to be seen; it is where it has no entry.
        seen_ids: objects that can be named and are to be seen (SEMANTICS sections 2 and 4), sorted.
        occlusions: the occlusion state of every object that may be asked about, by id.
    """

    name: str
    width: int
    height: int
    visible_ids: frozenset[int]
    visibility: MappingProxyType[int, Visibility]
    problems: MappingProxyType[int, NotSeen]
    seen_ids: tuple[int, ...]
    occlusions: MappingProxyType[int, Answer]


class SceneContext:
    """A scene ready to be asked about.

    Attributes:
        scan: as read.
        scene: of the scan.
        sight: of the scene.
        pictures: ``photos``, or ``render`` for pictures drawn from the mesh.
        names: which objects a name could mean.
        view_names: views that questions use, in capture order.
        view_refusals: every other frame, with the reason.
        object_refusals: objects that are never asked about, with the reason.
    """

    def __init__(self, scan: Scan, *, pictures: Pictures = "photos", scene: Scene | None = None) -> None:
        """Derives the scene, unless it is given, and chooses views; looks are cast when first asked for."""
        self.scan = scan
        self.scene = Scene.from_scan(scan) if scene is None else scene
        self.sight: Sight = sight_of(self.scene)
        self.pictures: Pictures = pictures
        self.names = Names(self.scene)
        self._chosen = chosen = choose_views(scan, self.scene, self.sight, names=self.names, pictures=pictures)
        self.view_names = chosen.names
        self.view_refusals = tuple(Refusal("view", reason, name) for name, reason in chosen.refused)
        self.object_refusals = tuple(
            Refusal("object", str(o.why_not_asked), f"{o.label} {o.id}")
            for o in self.scene.objects.values()
            if not o.may_be_asked
        )
        self._records: dict[str, ViewRecord] = {}
        self._headings: dict[str, Heading | None] = {}
        self._object_facts: dict[int, dict[str, Any]] = {}
        self._view_facts: dict[str, dict[str, Any]] = {}

    @cached_property
    def askable_ids(self) -> tuple[int, ...]:
        """Objects that questions may be about, sorted."""
        return tuple(i for i, o in sorted(self.scene.objects.items()) if o.may_be_asked)

    @cached_property
    def chains(self) -> Chains:
        """Ways from one view in use to another, over views that need not be; SEMANTICS section 7."""
        pool = pool_of_frames(self.scan, self._chosen, pictures=self.pictures)
        views = [self.view(name) for name in pool.names]
        links = Links.of(views, self.sight, threads=1)
        rooms = {view.name: self._room_at(view.name) for view in views}
        return Chains(links, {view.name: view.world_from_camera for view in views}, rooms)

    @cached_property
    def showings(self) -> Showings:
        """The pictures, one or several, in which groups of objects can be named."""
        rooms = {i: self.scene.room_of(i) for i in self.askable_ids}
        elsewhere = {
            name: [i for i, room in rooms.items() if room is not self._room_at(name)] for name in self.view_names
        }
        return Showings(tuple(self.records), self.names, self.chains, elsewhere)

    def _room_at(self, view: str) -> Room | None:
        """The room in which a view's camera is."""
        return self.scene.room_at(self.view(view).world_from_camera.translation)

    def view(self, name: str) -> View:
        """A view of the scan."""
        return self.scan.views[name]

    def look(self, name: str) -> Look:
        """The look from a view, masks 640 wide; the sight keeps the last few."""
        return self.sight.look(self.view(name), SETTINGS.look_width_px, threads=1)

    def record(self, name: str) -> ViewRecord:
        """What a view shows; kept."""
        if name not in self._records:
            self._records[name] = self._recorded(name)
        return self._records[name]

    @property
    def records(self) -> Iterator[ViewRecord]:
        """What each view in use shows, in capture order."""
        return (self.record(name) for name in self.view_names)

    def heading(self, name: str) -> Heading | None:
        """The heading of a view's camera, from the camera; None where it has none (SEMANTICS section 1)."""
        if name not in self._headings:
            try:
                self._headings[name] = camera_heading(self.view(name).world_from_camera)
            except FrameError:
                self._headings[name] = None
        return self._headings[name]

    def views_seeing(self, object_ids: Iterable[int]) -> list[str]:
        """Views in which all of these can be named and are to be seen, in capture order."""
        wanted = set(object_ids)
        return [record.name for record in self.records if wanted.issubset(record.seen_ids)]

    def clearness(self, name: str, object_ids: Iterable[int]) -> float:
        """How well the worst seen of some objects is seen in a view: its visible pixels times its open share."""
        visibility = self.record(name).visibility
        return min(float(v.visible_px) * (1.0 - v.blocked) for v in (visibility[i] for i in object_ids))

    def picture_intrinsics(self, name: str) -> Intrinsics:
        """Of the picture as it is written: the photo's own, or those of the rendered picture."""
        own = self.view(name).intrinsics
        if self.pictures == "photos":
            return own
        width = SETTINGS.render_width_px
        return own.scaled_to(width, max(1, round(width * own.height / own.width)))

    def picture_camera(self, name: str) -> Camera:
        """The camera that a picture is rendered with."""
        return Camera(self.view(name).world_from_camera, self.picture_intrinsics(name))

    def object_facts(self, object_id: int, roles: Sequence[str]) -> dict[str, Any]:
        """The entry of ``facts.objects``, rounded as it is written; FORMATS section 3."""
        if object_id not in self._object_facts:
            o = self.scene.objects[object_id]
            entry = {
                "id": o.id,
                "label": o.label,
                "raw_label": o.raw_label,
                "aabb": {"min": o.aabb.min, "max": o.aabb.max},
                "obb": {"center": o.obb.center, "size": o.obb.size, "yaw_deg": _written_yaw_deg(o.obb.yaw_deg)},
                "center_in_world": o.center_in_world,
            }
            self._object_facts[object_id] = plain(entry, decimals=ROW_SETTINGS.decimals)
        return {**self._object_facts[object_id], "roles": list(roles)}

    def view_facts(self, name: str, role: Role) -> dict[str, Any]:
        """The entry of ``facts.views``, rounded as it is written; FORMATS section 3."""
        if name not in self._view_facts:
            intrinsics = self.picture_intrinsics(name)
            entry = {
                "name": name,
                "world_from_camera": self.view(name).world_from_camera.matrix.reshape(-1),
                "pixel_from_camera": intrinsics.matrix.reshape(-1),
                "width": intrinsics.width,
                "height": intrinsics.height,
            }
            self._view_facts[name] = plain(entry, decimals=ROW_SETTINGS.decimals)
        return {**self._view_facts[name], "role": role}

    def _recorded(self, name: str) -> ViewRecord:
        view, look = self.view(name), self.look(name)
        width, height = look.camera.intrinsics.width, look.camera.intrinsics.height
        visible = frozenset(look.visible_ids(ceil(scaled_px(NAME_SETTINGS.min_visible_px, width, height))))
        visibility = {i: look.visibility(i) for i in self.askable_ids if i in visible}
        least_px = scaled_px(NAME_SETTINGS.min_seen_px, width, height)
        problems: dict[int, NotSeen] = {}
        for i in self.askable_ids:
            problem = self._problem(i, visibility[i], visible, least_px) if i in visibility else "not_in_view"
            if problem is not None:
                problems[i] = problem
        # All that needs the look is done at once, so that it is cast once.
        occlusions = {i: occlusion(self.scene, i, view=view, threads=1) for i in self.askable_ids}
        return ViewRecord(
            name,
            width,
            height,
            visible,
            MappingProxyType(visibility),
            MappingProxyType(problems),
            tuple(i for i in self.askable_ids if i not in problems),
            MappingProxyType(occlusions),
        )

    def _problem(self, i: int, seen: Visibility, visible: frozenset[int], least_px: float) -> NotSeen | None:
        if not self.names.points_at_one(i, visible):
            return "not_unique"
        if seen.visible_px < least_px:
            return "too_small"
        if seen.truncation > NAME_SETTINGS.max_truncation:
            return "truncated"
        if seen.visible_px < NAME_SETTINGS.min_unblocked * seen.silhouette_px:
            return "hidden"
        if (seen.unknown_share or 0.0) > NAME_SETTINGS.max_unknown_share:
            return "depth_disagrees"
        return None


def _written_yaw_deg(yaw_deg: float) -> float:
    """A yaw that is in [-90, 90) when it is rounded, too: 89.99999 degrees is written as -90."""
    rounded = round(float(yaw_deg), ROW_SETTINGS.decimals)
    return rounded - 180.0 if rounded >= 90.0 else rounded
