"""Which pictures of a scan questions are asked about: usable, and different from one another.

Geometry goes first, since it is cheap: pose, what is in sight at low resolution, how far one view is from another. Only
frames that geometry keeps have their photo opened and judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from spacecast.errors import InputError
from spacecast.frames import Array, Transform
from spacecast.scan import Scan, View
from spacecast.scene import Scene, SceneObject
from spacecast.sight import Camera, Sight
from spacecast.views.names import SETTINGS as NAME_SETTINGS
from spacecast.views.names import Names, scaled_px
from spacecast.views.usable import photo_problem

Pictures = Literal["photos", "render"]


@dataclass(frozen=True)
class ChoiceSettings:
    """How many views are looked at, and when two differ (own; SEMANTICS section 7 asks for usable ones)."""

    max_views: int = 16
    """Views kept per scene."""
    probe_width_px: int = 160
    """Width of the picture that tells what is in sight."""
    min_objects: int = 2
    """A view with fewer objects that can be named and are large enough is dropped; see :func:`choose_views`."""
    samples: int = 64
    """Vertices of each object that tell how much of it is inside the picture."""
    min_step_m: float = 0.10
    """A frame that moved less than this and turned less than the next since the last one looked at is passed over."""
    min_step_deg: float = 8.0
    """See above."""
    max_probed: int = 400
    """At most this many frames are looked at; of more, evenly spaced ones."""
    unit_m: float = 1.0
    """Two views this far apart differ by one unit."""
    unit_deg: float = 45.0
    """Two views turned by this against each other differ by one unit."""
    objects_weight: float = 2.0
    """Views that show no common object differ by this many units."""
    min_difference: float = 0.35
    """A view that differs by less from one that is kept is dropped."""
    max_difference: float = 2.0
    """A larger difference counts as this, so that far views do not outweigh those that show more."""


SETTINGS = ChoiceSettings()


class RefusedView(NamedTuple):
    """A frame that is not used: ``no_photo``, ``passed_over``, ``few_objects``, ``broken_photo``, ``broken_depth``,
    ``blurred``, ``under_exposed``, ``over_exposed``, ``like_another`` or ``enough_views``."""

    name: str
    reason: str


class ChosenViews(NamedTuple):
    """Names of the views to use, in capture order, and every other frame with the reason."""

    names: tuple[str, ...]
    refused: tuple[RefusedView, ...]


class _Probe(NamedTuple):
    name: str
    position_in_world: np.ndarray
    forward_in_world: np.ndarray
    object_ids: frozenset[int]
    """Objects that can be named there, and seem to be seen well enough."""
    area_px: int
    """Pixels of labelled things."""


def choose_views(
    scan: Scan,
    scene: Scene,
    sight: Sight,
    *,
    names: Names | None = None,
    pictures: Pictures = "photos",
    max_views: int = SETTINGS.max_views,
) -> ChosenViews:
    """Usable views of a scan that differ in place, heading and what they show.

    What counts is the objects that a view shows, that can be named in it, and of which enough pixels and enough of
    their vertices are inside the picture. The first view is the one with most of them; then again and again the one
    whose number of them, times its difference from the nearest kept view, is largest, until ``max_views`` are kept or
    none differs by ``SETTINGS.min_difference``. Ties go to the earlier frame.

    Args:
        scan: its views are looked at in their order.
        scene: of the scan.
        sight: of the scene.
        names: of the scene, if they are there already.
        pictures: ``photos`` uses only views with a photo, and judges it; ``render`` uses any pose.
        max_views: how many to keep.
    """
    reasons: dict[str, str] = {}
    posed = []
    for view in scan.views.values():
        if pictures == "photos" and not view.has_photo:
            reasons[view.name] = "no_photo"
        else:
            posed.append(view)
    walked = thinned(posed)
    probed = (
        walked
        if len(walked) <= SETTINGS.max_probed
        else [walked[i] for i in np.linspace(0, len(walked) - 1, SETTINGS.max_probed).round().astype(int)]
    )
    looked_at = {view.name for view in probed}
    reasons.update({view.name: "passed_over" for view in posed if view.name not in looked_at})
    probes: list[_Probe] = []
    names = Names(scene) if names is None else names
    samples = {i: _samples(o) for i, o in scene.objects.items() if o.may_be_asked}
    for view in probed:
        probe = _probe(view, sight, names, samples)
        if len(probe.object_ids) < SETTINGS.min_objects:
            reasons[view.name] = "few_objects"
        else:
            probes.append(probe)
    kept = _different(probes, scan.views, pictures, max_views, reasons)
    return ChosenViews(
        tuple(name for name in scan.views if name in kept),
        tuple(RefusedView(name, reasons[name]) for name in scan.views if name not in kept),
    )


def probe_camera(view: View) -> Camera:
    """The camera of a view at the size of the cheap pass."""
    width = SETTINGS.probe_width_px
    height = max(1, round(width * view.intrinsics.height / view.intrinsics.width))
    return Camera(view.world_from_camera, view.intrinsics.scaled_to(width, height))


def _samples(o: SceneObject) -> Array:
    """(n, 3) some of an object's vertices in world, evenly spaced in their order."""
    count = len(o.vertices_in_world)
    return o.vertices_in_world[np.unique(np.linspace(0, count - 1, min(count, SETTINGS.samples)).astype(int))]


def _probe(view: View, sight: Sight, names: Names, samples: Mapping[int, Array]) -> _Probe:
    camera = probe_camera(view)
    intrinsics, pose = camera.intrinsics, view.world_from_camera
    camera_from_world = pose.inverse()
    ids = sight.id_image(camera, threads=1).ids
    found, counts = np.unique(ids[ids >= 0], return_counts=True)
    visible = dict(zip(found.tolist(), counts.tolist(), strict=True))
    least = scaled_px(NAME_SETTINGS.min_seen_px, intrinsics.width, intrinsics.height)
    wanted = []
    for object_id, count in visible.items():
        if count < least or object_id not in samples or not names.points_at_one(object_id, frozenset(visible)):
            continue
        pixels = intrinsics.project(camera_from_world @ samples[object_id])
        inside = (pixels > -0.5).all(axis=1) & (pixels < (intrinsics.width - 0.5, intrinsics.height - 0.5)).all(axis=1)
        if inside.mean() >= 1.0 - NAME_SETTINGS.max_truncation:
            wanted.append(object_id)
    return _Probe(view.name, pose.translation, pose.rotation[:, 2], frozenset(wanted), int(counts.sum()))


def turn_deg(one: Transform, other: Transform) -> float:
    """Angle of the rotation between two poses."""
    cosine = (np.trace(one.rotation.T @ other.rotation) - 1.0) / 2.0
    return float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))


def thinned(views: list[View]) -> list[View]:
    """Views without those that hardly moved since the last one kept."""
    kept: list[View] = []
    for view in views:
        if kept:
            last, pose = kept[-1].world_from_camera, view.world_from_camera
            moved_m = float(np.linalg.norm(pose.translation - last.translation))
            if moved_m < SETTINGS.min_step_m and turn_deg(last, pose) < SETTINGS.min_step_deg:
                continue
        kept.append(view)
    return kept


def _worth(probe: _Probe, difference: float) -> float:
    if difference < SETTINGS.min_difference:
        return -1.0
    return len(probe.object_ids) * min(difference, SETTINGS.max_difference)


def _difference(one: _Probe, other: _Probe) -> float:
    """Units apart: place, viewing direction, and objects that only one of them shows."""
    apart_m = float(np.linalg.norm(one.position_in_world - other.position_in_world))
    cosine = float(np.clip(one.forward_in_world @ other.forward_in_world, -1.0, 1.0))
    common, either = one.object_ids & other.object_ids, one.object_ids | other.object_ids
    unlike = 1.0 - len(common) / len(either)
    return (
        apart_m / SETTINGS.unit_m
        + float(np.degrees(np.arccos(cosine))) / SETTINGS.unit_deg
        + SETTINGS.objects_weight * unlike
    )


def picture_problem(view: View, pictures: Pictures) -> str | None:
    """Why what was recorded at a frame rules it out, or None: a photo or depth that cannot be decoded costs its frame,
    whatever its head promised."""
    try:
        problem = photo_problem(view.load_color()) if pictures == "photos" and view.load_color is not None else None
    except InputError:
        return "broken_photo"
    try:
        if problem is None and view.load_depth is not None:
            view.load_depth()
    except InputError:
        return "broken_depth"
    return problem


def _different(
    probes: list[_Probe], views: Mapping[str, View], pictures: Pictures, max_views: int, reasons: dict[str, str]
) -> set[str]:
    """Greedy farthest views; why the others are not kept goes into ``reasons``."""
    kept: set[str] = set()
    open_ = dict(enumerate(probes))
    distance = {i: float("inf") for i in open_}
    while open_ and len(kept) < max_views:
        if kept:
            best = max(open_, key=lambda i: (_worth(probes[i], distance[i]), distance[i], -i))
        else:
            best = max(open_, key=lambda i: (len(probes[i].object_ids), probes[i].area_px, -i))
        probe = open_.pop(best)
        if distance[best] < SETTINGS.min_difference:
            reasons[probe.name] = "like_another"
            continue
        problem = picture_problem(views[probe.name], pictures)
        if problem:
            reasons[probe.name] = problem
            continue
        kept.add(probe.name)
        for i in open_:
            distance[i] = min(distance[i], _difference(probe, probes[i]))
    reasons.update({probe.name: "enough_views" for probe in open_.values()})
    return kept
