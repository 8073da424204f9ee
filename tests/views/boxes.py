"""Views of rooms of boxes, with or without sensor depth."""

from __future__ import annotations

import numpy as np

from spacecast.frames import Intrinsics, Transform
from spacecast.scan import View
from spacecast.scene import LabelledBox, Scene
from spacecast.sight import sight_of
from spacecast.views.links import Links

PIXELS = Intrinsics(500.0, 500.0, 319.5, 239.5, 640, 480)
"""Half of the picture's width is 320 / 500 of the depth: 32.6 degrees."""
WALL = frozenset({"structure", "wall"})
FLOOR = frozenset({"structure", "floor"})
CEILING = frozenset({"structure", "ceiling"})
DOOR = frozenset({"structure", "door"})


def view(name: str, at: tuple[float, float, float], yaw_deg: float, depth: np.ndarray | None = None) -> View:
    """A level camera that looks north, turned clockwise by a yaw; sensor depth has the size of the picture."""
    ahead = (np.sin(np.radians(yaw_deg)), np.cos(np.radians(yaw_deg)), 0.0)
    pose = Transform.looking_at(at, np.add(at, ahead))
    if depth is None:
        return View(name, pose, PIXELS)
    return View(name, pose, PIXELS, load_depth=lambda: depth.astype(np.float32), depth_intrinsics=PIXELS)


def links_of(boxes: list[LabelledBox], *views: View) -> Links:
    return Links.of(views, sight_of(Scene.from_boxes(boxes)), threads=1)
