"""A long room of boxes with cameras along it, and questions on chains of pictures of it, all known by hand.

The cameras look north from y = -2, the wall is 5 m away: each sees 6.4 m of it. At the desk's distance, 3 m, each sees
3.84 m: camera ``a`` the desk, ``b`` the lamp, ``m`` between them neither.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
from hand_scans import PIXELS, entry, scan_of
from handmade import FOURS, facts_with, options_of, row_with

from spacecast.dataset.rows import Row
from spacecast.frames import Transform
from spacecast.scan import Scan, View

DESK = ("desk", (-3.4, 0.8, 0.0), (-2.6, 1.2, 1.0))
LAMP = ("lamp", (2.7, 0.8, 0.0), (3.3, 1.2, 1.4))
ROOM: dict[int, Any] = {
    1: DESK,
    2: LAMP,
    3: ("couch", (-2.3, 2.3, 0.0), (-0.5, 2.9, 1.2)),
    4: ("dresser", (0.5, 2.3, 0.0), (2.3, 2.9, 1.2)),
    90: ("floor", (-7.0, -4.0, -0.1), (7.0, 3.0, 0.0), {"structure", "floor"}),
    91: ("wall", (-7.0, 3.0, 0.0), (7.0, 3.4, 3.0), {"structure", "wall"}),
}
CAMERAS: dict[str, tuple[float, float, float]] = {
    "a": (-3.0, -2.0, 1.2),
    "m": (0.0, -2.0, 1.2),
    "b": (3.0, -2.0, 1.2),
    "far": (0.0, -5.5, 1.2),  # sees both
}
BEHIND = (0.0, 8.0, 1.2)
"""Of a camera ``w`` that looks south at the other side of the wall."""
TEXT = (
    "You see three pictures of one room, from picture 1 to picture 3 in the order of a walk through it. The desk is in "
    "picture 1, the lamp in picture 3. The camera is the one that took picture 1. Where is the desk from the lamp?"
)


def room(boxes: dict[int, Any] | None = None, **sensors: Any) -> Scan:
    """The room, with other boxes too, and with sensors (what ``load_depth`` gives) of some views."""
    scan = scan_of({**ROOM, **(boxes or {})})
    poses = {
        name: Transform.looking_at(at, (at[0], at[1] + 1.0, at[2])) for name, at in CAMERAS.items()
    } | {"w": Transform.looking_at(BEHIND, (BEHIND[0], BEHIND[1] - 1.0, BEHIND[2]))}  # fmt: skip
    views = {name: View(name, pose, PIXELS) for name, pose in poses.items()}
    for name, load in sensors.items():
        views[name] = replace(views[name], load_depth=load, depth_intrinsics=PIXELS)
    return replace(scan, views=views)


def view_entry(scan: Scan, name: str, role: str) -> dict[str, Any]:
    matrix = scan.views[name].world_from_camera.matrix
    return {
        "name": name, "role": role, "world_from_camera": matrix.reshape(-1).round(4).tolist(),
        "pixel_from_camera": PIXELS.matrix.reshape(-1).tolist(), "width": 640, "height": 480,
    }  # fmt: skip


def views_of(scan: Scan, names: str) -> list[dict[str, Any]]:
    """Views by their names, parted by blanks, in the roles of a chain; of one, of a picture."""
    listed = names.split()
    roles = ["image"] if len(listed) == 1 else ["main_a", *["bridge"] * (len(listed) - 2), "main_b"]
    return [view_entry(scan, name, role) for name, role in zip(listed, roles, strict=True)]


def left_of_the_lamp(scan: Scan, names: str = "a m b", share: float = 0.53) -> dict[str, Any]:
    """Camera Direction of the desk, in main A, from the lamp, in main B: left, for both cameras look north."""
    return facts_with(
        objects=[entry(1, DESK, ["target"]), entry(2, LAMP, ["reference"])],
        views=views_of(scan, names),
        binding_view=names.split(maxsplit=1)[0],
        frame={"kind": "camera", "anchor": None, "facing": None, "heading_in_world": [0.0, 1.0]},
        relation={
            "kind": "direction", "target": 1, "reference": 2, "after": None,
            "before": {"value": "left", "angle_deg": -90.0, "ambiguity": 0.0},
        },
        options=options_of({v: v for v in FOURS["left"]}, ["left"], np.random.default_rng(0), {"right": "mirrored"}),
        margins={"weakest_link_share": share},
    )  # fmt: skip


def row_of(
    facts: dict[str, Any], code: str = "direction_agent", text: str = TEXT, unchanged: bool | None = None
) -> Row:
    """A row of a chain, its columns as the facts have it."""
    row = row_with(code, "q", "room", text, facts, unchanged, dataset="hand")
    roles = ("image", "main_a", "bridge", "main_b")
    names = {role: [v["name"] for v in facts["views"] if v["role"] == role] for role in roles}
    return changed(
        row,
        main_image_a_name=next(iter(names["main_a"]), None),
        main_image_b_name=next(iter(names["main_b"]), None),
        bridge_view_names=tuple(names["bridge"]),
    )


def changed(row: Row, **columns: Any) -> Row:
    """A row with columns changed, in its record too."""
    record = json.loads(row.source_record_json)
    record.update({key: list(value) if isinstance(value, tuple) else value for key, value in columns.items()})
    return replace(row, **columns, source_record_json=json.dumps(record, sort_keys=True))
