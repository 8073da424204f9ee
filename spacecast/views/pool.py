"""The frames that chains are made of: usable ones whose poses differ, whatever objects they show.

A bridge shows no object that a question names, so it need not be a view that questions are asked about. Geometry goes
first: a frame's photo is judged only when its pose is wanted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacecast.scan import Scan, View
from spacecast.views.choose import SETTINGS as CHOICE_SETTINGS
from spacecast.views.choose import ChosenViews, Pictures, RefusedView, picture_problem

_UNUSABLE = frozenset({"no_photo", "broken_photo", "broken_depth", "blurred", "under_exposed", "over_exposed"})
"""What the choice of main views has found out about a picture; its other reasons do not rule a bridge out."""


@dataclass(frozen=True)
class PoolSettings:
    """How many frames are held ready as bridges (own; SEMANTICS section 7 asks for usable ones)."""

    max_frames: int = 120
    """Frames of a scene, main views among them; more would cost time and give no new way through a room."""
    min_difference: float = 0.25
    """A frame whose pose differs by less from one in the pool is left out; 1 m apart or turned by 45 degrees is 1."""


SETTINGS = PoolSettings()


class Pool(NamedTuple):
    """Names of the frames that chains may use, main views included, in capture order, and why others whose pictures
    were opened are not among them."""

    names: tuple[str, ...]
    refused: tuple[RefusedView, ...]


def pool_of_frames(
    scan: Scan, chosen: ChosenViews, *, pictures: Pictures = "photos", max_frames: int = SETTINGS.max_frames
) -> Pool:
    """Main views, and usable frames whose poses cover the rest of the walk evenly.

    Again and again the frame whose pose is farthest from all that are in the pool, until there are ``max_frames`` or
    none differs by ``SETTINGS.min_difference``. Ties go to the earlier frame.

    Args:
        scan: its views are candidates.
        chosen: its main views; all of them are in the pool.
        pictures: ``photos`` takes only frames with a photo that is sharp and well exposed; ``render`` takes any pose.
        max_frames: how many, unless there are more main views.
    """
    known = {name: reason for name, reason in chosen.refused if reason in _UNUSABLE}
    frames = [
        view
        for view in scan.views.values()
        if view.name not in known and (pictures == "render" or view.has_photo or view.name in chosen.names)
    ]
    names = [view.name for view in frames]
    poses = _Poses.of(frames)
    kept = {names.index(name) for name in chosen.names}
    away = np.full(len(frames), np.inf)
    for i in sorted(kept):
        away = np.minimum(away, poses.differences(i))
    refused: list[RefusedView] = []
    while len(kept) < min(max_frames, len(frames)):
        best = int(np.argmax(away))
        if away[best] < SETTINGS.min_difference:
            break
        problem = picture_problem(frames[best], pictures)
        if problem is None:
            kept.add(best)
            away = np.minimum(away, poses.differences(best))
        else:
            refused.append(RefusedView(names[best], problem))
        away[best] = -1.0
    order: Mapping[str, int] = {name: i for i, name in enumerate(scan.views)}
    return Pool(tuple(names[i] for i in sorted(kept)), tuple(sorted(refused, key=lambda frame: order[frame.name])))


class _Poses(NamedTuple):
    places_in_world: NDArray[np.float64]
    """(n, 3)"""
    rotations: NDArray[np.float64]
    """(n, 9)"""

    @classmethod
    def of(cls, views: list[View]) -> _Poses:
        return cls(
            np.array([view.world_from_camera.translation for view in views]).reshape(-1, 3),
            np.array([view.world_from_camera.rotation.ravel() for view in views]).reshape(-1, 9),
        )

    def differences(self, i: int) -> NDArray[np.float64]:
        """(n,) units that each pose differs from one."""
        apart_m = np.linalg.norm(self.places_in_world - self.places_in_world[i], axis=1)
        cosine = np.clip((self.rotations @ self.rotations[i] - 1.0) / 2.0, -1.0, 1.0)
        return apart_m / CHOICE_SETTINGS.unit_m + np.degrees(np.arccos(cosine)) / CHOICE_SETTINGS.unit_deg
