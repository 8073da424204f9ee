"""How long a scene takes: splitting a large scan, attachment, rooms, beside one pass over the same numbers.

Run by hand: ``python benchmarks/scene.py``. Prints seconds by the clock and of the processor. Exit status 1 where the
bound on splitting and attachment is missed.
"""

from __future__ import annotations

import io
import sys

import numpy as np
from sight import best, box_sheets, merged

from spacecast.frames import Transform
from spacecast.scan import Instance, Scan
from spacecast.scene import Scene

BOUND_S = 0.5
SPACING_M = 0.036
Box = tuple[tuple[float, float, float], tuple[float, float, float]]
"""Middle and size."""


def main() -> int:
    """Measure and print."""
    scan = furnished()
    movable = sum(not i.is_structure for i in scan.instances.values())
    print(f"{len(scan.vertices)} vertices, {len(scan.faces)} faces, {movable} objects")
    stored = io.BytesIO()
    np.savez(stored, vertices=scan.vertices, faces=scan.faces, ids=scan.instance_ids)

    def read() -> None:
        stored.seek(0)
        with np.load(stored) as arrays:
            _ = [arrays[name] for name in arrays.files]

    rows = {
        "bare reading": best(read),
        "splitting": best(lambda: Scene.from_scan(scan)),
        "splitting and attachment": best(lambda: Scene.from_scan(scan).attachment),
        "splitting and rooms": best(lambda: Scene.from_scan(scan).rooms),
    }
    for name, cost in rows.items():
        print(f"{name:26} {cost.clock:7.3f} s by the clock, {cost.cores:7.3f} s of the processor")
    found = Scene.from_scan(scan).attachment.edges(data="certainty")
    print(f"{sum(how == 'certain' for _, _, how in found)} certain edges")
    return 0 if rows["splitting and attachment"].clock < BOUND_S else 1


def furnished() -> Scan:
    """A room of 7 by 6 with six tables, each with a tray and a cup on it, a bed and a wardrobe: 20 objects."""
    floor = frozenset({"structure", "floor"})
    wall = frozenset({"structure", "wall"})
    things: list[tuple[str, frozenset[str], list[Box], float]] = [
        ("floor", floor, [((0.0, 0.0, -0.02), (7.0, 6.0, 0.04))], SPACING_M),
        ("wall", wall, [((0.0, 3.05, 1.3), (7.0, 0.1, 2.6))], SPACING_M),
        ("wall", wall, [((3.55, 0.0, 1.3), (0.1, 6.0, 2.6))], SPACING_M),
        ("bed", frozenset({"soft"}), [((-2.3, 1.8, 0.25), (1.6, 2.0, 0.5))], SPACING_M),
        ("wardrobe", frozenset(), [((2.8, 2.4, 1.0), (1.2, 0.6, 2.0))], SPACING_M),
    ]
    for k in range(6):
        x, y = -2.4 + 2.4 * (k % 3), -2.0 + 1.9 * (k // 3)
        legs: list[Box] = [((x + a * 0.55, y + b * 0.35, 0.355), (0.05, 0.05, 0.71)) for a in (-1, 1) for b in (-1, 1)]
        things += [
            ("table", frozenset(), [((x, y, 0.73), (1.2, 0.8, 0.04)), *legs], SPACING_M),
            ("tray", frozenset(), [((x, y, 0.765), (0.5, 0.4, 0.03))], 0.4 * SPACING_M),
            ("cup", frozenset(), [((x, y, 0.83), (0.1, 0.1, 0.1))], 0.3 * SPACING_M),
        ]
    meshes = [merged([box_sheets(middle, size, spacing) for middle, size in boxes]) for _, _, boxes, spacing in things]
    vertices, faces = merged(meshes)
    vertices = vertices + np.random.default_rng(0).normal(0.0, 0.001, vertices.shape)
    return Scan(
        dataset="benchmark", scene_id="furnished", room_id="furnished", vertices=vertices.astype(np.float32),
        faces=faces.astype(np.int32), colors=np.full((len(vertices), 3), 128, np.uint8),
        instance_ids=np.concatenate([np.full(len(m[0]), i) for i, m in enumerate(meshes)]).astype(np.int32),
        instances={i: Instance(i, label, label, traits=traits) for i, (label, traits, _, _) in enumerate(things)},
        world_from_scan=Transform.identity(target="world", source="scan"), is_aligned=True, has_labels=True, views={},
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
