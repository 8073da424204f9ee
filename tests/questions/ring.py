"""A camera in the middle of a ring of sixteen things that turns by 45 degrees between eight views.

Thing ``n`` stands 3 m away, at 22.5 n degrees clockwise from north. View ``k`` looks at 45 k degrees, and shows things
2 k - 1, 2 k and 2 k + 1 whole, and nothing of the others: half of its angle of view is 32.6 degrees, and a thing takes
up less than 7 degrees either way. So neighbouring views share one thing and a third of the floor, and are linked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

import numpy as np
from box_scans import Box, box_scan, looking, on_floor

from spacecast.dataset.context import SceneContext
from spacecast.frames import Transform

LABELS = (
    "fan", "desk", "bin", "lamp", "chair", "plant", "guitar", "stool", "suitcase", "bed", "piano", "heater", "crib",
    "scale", "easel", "barrel",
)  # fmt: skip
CHINESE = (
    "风扇", "书桌", "垃圾桶", "台灯", "椅子", "植物", "吉他", "凳子", "行李箱", "床", "钢琴", "暖炉", "婴儿床", "秤",
    "画架", "木桶",
)  # fmt: skip
RADIUS_M = 3.0
SIDE_M = 0.5
EYE_M = 1.6


def place(n: float, radius_m: float = RADIUS_M) -> tuple[float, float]:
    """Where thing n stands."""
    angle = np.radians(22.5 * n)
    return float(radius_m * np.sin(angle)), float(radius_m * np.cos(angle))


def thing(n: int, **more: object) -> Box:
    return on_floor(n, LABELS[n], *place(n), side=SIDE_M, height=0.8, more={"label_zh": CHINESE[n]}, **more)


def view(k: float) -> Transform:
    return looking((0.0, 0.0, EYE_M), (*place(2 * k), 0.5))


def ring(things: Iterable[int] = range(16), views: Iterable[int] = range(8), more: Iterable[Box] = ()) -> SceneContext:
    cameras: Mapping[str, Transform] = {str(k): view(k) for k in views}
    return SceneContext(box_scan([*(thing(n) for n in things), *more], cameras, floor=(9.0, 9.0)), pictures="render")


@cache
def whole_ring() -> SceneContext:
    return ring()
