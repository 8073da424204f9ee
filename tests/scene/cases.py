"""Small rooms, and by hand who carries whom in them.

``certain``: every certain edge (parent, child) with its kind. ``possible``: (parent, child) that are to be possible.
``supports``: what part of the building an object is to stand on or hang on. Nothing else may be certain.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .hand import Thing, block, building, four_legs, sheet, table, thing, tub

SOFT = "resting_on_soft_surface"
ON = "supported_by"
IN = "contained_in"
AT = "affixed_to"


class Case(NamedTuple):
    name: str
    things: list[Thing]
    certain: Mapping[tuple[int, int], str]
    possible: tuple[tuple[int, int], ...] = ()
    supports: Mapping[int, str] = {}


def _cup(id: int, x: float, y: float, z: float) -> Thing:
    return thing(id, "cup", *tub((x - 0.04, y - 0.04, z), (x + 0.04, y + 0.04, z + 0.1)))


def _shelf(id: int) -> Thing:
    """1 m wide, 0.3 deep, 1.6 high, three boards, back to the north, open to the south."""
    boards = [block((-0.5, 0.7, z), (0.5, 1.0, z + 0.02)) for z in (0.05, 0.55, 1.05, 1.58)]
    sides = [block((x, 0.7, 0.0), (x + 0.02, 1.0, 1.6)) for x in (-0.5, 0.48)]
    return thing(id, "shelf", *boards, *sides, block((-0.5, 0.98, 0.0), (0.5, 1.0, 1.6)), traits="fixture")


def _bed(id: int) -> Thing:
    return thing(id, "bed", block((-0.8, -1.0, 0.1), (0.8, 1.0, 0.5)), *four_legs((-0.8, -1, 0), (0.8, 1, 0.1)),
                 traits="soft")  # fmt: skip


def _chair(id: int, x: float, y: float) -> Thing:
    """A seat at 0.45 with a back up to 0.9 on its south side."""
    return thing(
        id, "chair", block((x - 0.2, y - 0.2, 0.41), (x + 0.2, y + 0.2, 0.45)),
        block((x - 0.2, y - 0.24, 0.45), (x + 0.2, y - 0.2, 0.9)),
        *four_legs((x - 0.2, y - 0.2, 0.0), (x + 0.2, y + 0.2, 0.41), 0.04),
    )  # fmt: skip


TABLE = table(1, (-0.6, -0.4, 0.0), (0.6, 0.4, 0.75))
"""Its top is at 0.75."""


def cases() -> list[Case]:
    tray = thing(2, "tray", *tub((-0.2, -0.15, 0.75), (0.2, 0.15, 0.78)))
    cup = _cup(3, 0.0, 0.0, 0.76)
    return [
        Case("cup on tray on table", [TABLE, tray, cup], {(1, 2): ON, (2, 3): ON}, (), {1: "floor", 3: "none"}),
        Case("book standing in a shelf", [_shelf(1), thing(2, "book", block((0.0, 0.76, 0.57), (0.05, 0.96, 0.85)))],
             {(1, 2): IN}, (), {1: "floor"}),
        Case("thin book that stands alone on a table",
             [TABLE, thing(2, "book", block((0.1, 0.0, 0.75), (0.125, 0.18, 1.0), 0.02))], {(1, 2): ON}),
        Case("screen on the wall, and a stool beside it whose legs were not scanned",
             [thing(1, "tv", block((-0.5, 1.93, 1.1), (0.5, 1.99, 1.7))),
              thing(2, "stool", block((0.8, 1.6, 0.6), (1.2, 1.99, 0.64)))],
             {}, (), {1: "wall", 2: "none"}),
        Case("pillow on bed", [_bed(1), thing(2, "pillow", block((-0.3, 0.5, 0.47), (0.3, 0.9, 0.62)), traits="soft")],
             {(1, 2): SOFT}),
        Case("chair under table", [TABLE, _chair(2, 0.0, -0.3)], {}, (), {1: "floor", 2: "floor"}),
        Case("lamp on a nightstand, touching the wall",
             [thing(1, "nightstand", block((-0.25, 1.5, 0.0), (0.25, 1.95, 0.5))),
              thing(2, "lamp", block((-0.1, 1.8, 0.5), (0.1, 1.99, 0.53)),
                block((-0.02, 1.88, 0.53), (0.02, 1.92, 0.9)),
                    block((-0.1, 1.79, 0.9), (0.1, 1.99, 1.1)))],
             {(1, 2): ON}, (), {1: "floor", 2: "none"}),
        Case("floor lamp touching the wall",
             [thing(1, "lamp", block((-0.15, 1.7, 0.0), (0.15, 1.99, 0.03)),
               block((-0.02, 1.85, 0.03), (0.02, 1.89, 1.5)))],
             {}, (), {1: "floor"}),
        Case("picture on the wall", [thing(1, "picture", block((-0.3, 1.97, 1.2), (0.3, 1.995, 1.7)),
          traits="fixture")],
             {}, (), {1: "wall"}),
        Case("book half over the edge", [TABLE, thing(2, "book", block((0.45, -0.1, 0.75), (0.75, 0.1, 0.78)))],
             {(1, 2): ON}),
        Case("board with a fifth on the table",
             [TABLE, thing(2, "board", block((0.52, -0.1, 0.75), (0.92, 0.1, 0.78)))], {}, ((1, 2),)),
        Case("boxes side by side on the floor",
             [thing(1, "box", block((0.0, 0.0, 0.0), (0.4, 0.4, 0.4))), thing(2, "crate",
               block((0.4, 0.0, 0.0), (0.8, 0.4, 0.6)))],
             {}, (), {1: "floor", 2: "floor"}),
        Case("boxes side by side on a table",
             [TABLE, thing(2, "box", block((-0.3, -0.1, 0.75), (0.0, 0.1, 0.95))),
              thing(3, "crate", block((0.0, -0.1, 0.75), (0.3, 0.1, 1.05)))],
             {(1, 2): ON, (1, 3): ON}),
        Case("box on a box", [thing(1, "crate", block((0.0, 0.0, 0.0), (0.5, 0.5, 0.5))),
                              thing(2, "box", block((0.05, 0.05, 0.5), (0.4, 0.4, 0.8)))], {(1, 2): ON}),
        Case("table on a rug",
             [TABLE, thing(2, "rug", block((-1.0, -0.8, 0.0), (1.0, 0.8, 0.01)), traits="shapeless carries_nothing")],
             {}, (), {1: "floor", 2: "floor"}),
        Case("ball in a bin", [thing(1, "bin", *tub((-0.2, -0.2, 0.0), (0.2, 0.2, 0.45))),
                               thing(2, "ball", block((-0.12, -0.12, 0.02), (0.12, 0.12, 0.26)))],
             {(1, 2): IN}, (), {1: "floor", 2: "none"}),
        Case("ball in a bin of which the top alone was scanned",
             [thing(1, "bin", *tub((-0.2, -0.2, 0.0), (0.2, 0.2, 0.45))),
              thing(2, "ball", sheet((-0.05, -0.05, 0.2), (0.1, 0, 0.005), (0, 0.1, 0.005), 0.01))],
             {(1, 2): IN}, (), {1: "floor", 2: "none"}),
        Case("bin on the floor between the sides of a desk",
             [thing(1, "desk", block((-0.7, -0.3, 0.71), (0.7, 0.3, 0.75)),
               block((-0.7, -0.3, 0.0), (-0.66, 0.3, 0.71)),
                    block((0.66, -0.3, 0.0), (0.7, 0.3, 0.71)), block((-0.7, 0.27, 0.0), (0.7, 0.3, 0.71))),
              thing(2, "bin", *tub((-0.15, -0.15, 0.0), (0.15, 0.15, 0.35)))],
             {}, (), {1: "floor", 2: "floor"}),
        Case("coffee table in the corner of a couch",
             [thing(1, "couch", block((-1.2, 0.6, 0.0), (1.2, 1.4, 0.45)), block((0.5, -1.2, 0.0), (1.2, 0.6, 0.45)),
                    block((-1.2, 1.2, 0.45), (1.2, 1.4, 0.85)), traits="soft"),
              table(2, (-0.5, -0.1, 0.0), (0.4, 0.5, 0.4), "coffee table")],
             {}, (), {1: "floor", 2: "floor"}),
        Case("cup on a wall cabinet",
             [thing(1, "cabinet", block((-0.4, 1.65, 1.3), (0.4, 1.99, 1.8)), traits="fixture"),
               _cup(2, 0.0, 1.8, 1.8)],
             {(1, 2): ON}, (), {1: "wall", 2: "none"}),
        Case("wall cabinet that touches the refrigerator below",
             [thing(1, "refrigerator", block((-0.4, 1.3, 0.0), (0.4, 1.98, 1.8))),
              thing(2, "cabinet", block((-0.4, 1.4, 1.82), (0.4, 1.99, 2.3)), traits="fixture")],
             {}, ((1, 2),), {1: "floor", 2: "wall"}),
        Case("cup on a cloth on a table",
             [TABLE, thing(2, "tablecloth", block((-0.5, -0.3, 0.75), (0.5, 0.3, 0.755)),
               traits="shapeless carries_nothing"),
              _cup(3, 0.0, 0.0, 0.755)],
             {(1, 2): ON, (1, 3): ON}),
        Case("board across two tables",
             [table(1, (-0.9, -0.3, 0.0), (-0.05, 0.3, 0.75)), table(2, (0.05, -0.3, 0.0), (0.9, 0.3, 0.75)),
              thing(3, "board", block((-0.5, -0.15, 0.75), (0.5, 0.15, 0.78)))],
             {}, ((1, 3), (2, 3))),
        Case("sink built into a counter",
             [thing(1, "counter", block((-0.9, -0.3, 0.0), (-0.25, 0.3, 0.9)),
               block((0.25, -0.3, 0.0), (0.9, 0.3, 0.9)),
                    block((-0.25, -0.3, 0.0), (0.25, -0.22, 0.9)), block((-0.25, 0.22, 0.0), (0.25, 0.3, 0.9)),
                    traits="fixture"),
              thing(2, "sink", *tub((-0.25, -0.22, 0.72), (0.25, 0.22, 0.9)), traits="fixture")],
             {(1, 2): AT}, (), {1: "floor"}),
        Case("mirror on the side of a wardrobe",
             [thing(1, "wardrobe", block((-0.5, -0.3, 0.0), (0.5, 0.3, 2.0))),
              thing(2, "mirror", block((-0.2, -0.33, 0.9), (0.2, -0.3, 1.6)), traits="fixture see_through")],
             {(1, 2): AT}, (), {1: "floor", 2: "none"}),
        Case("box held by nothing that was scanned, near a shelf",
             [_shelf(1), thing(2, "box", block((0.53, 0.75, 0.8), (0.8, 1.0, 1.0)))], {}, ((1, 2),), {2: "none"}),
        Case("towel over a rail",
             [thing(1, "rail", block((-0.4, 0.0, 1.19), (0.4, 0.02, 1.21)),
               block((-0.4, 0.0, 0.0), (-0.38, 0.02, 1.21)),
                    block((0.38, 0.0, 0.0), (0.4, 0.02, 1.21))),
              thing(2, "towel", block((-0.2, -0.02, 0.6), (0.2, -0.005, 1.22)),
                block((-0.2, 0.025, 0.7), (0.2, 0.04, 1.22)),
                    block((-0.2, -0.02, 1.215), (0.2, 0.04, 1.23)), traits="shapeless carries_nothing")],
             {}, ((1, 2),), {2: "none"}),
        Case("book on the seat of a chair",
             [_chair(1, 0.0, 0.0), thing(2, "book", block((-0.1, -0.12, 0.45), (0.1, 0.12, 0.48)))], {(1, 2): ON}),
        Case("two chairs on either side of a table",
             [TABLE, _chair(2, 0.0, -0.8), _chair(3, 1.0, 0.0)], {}, (), {2: "floor", 3: "floor"}),
        Case("curtain in front of a cup on a sill that is part of the building",
             [thing(910, "window", block((-0.5, 1.85, 0.85), (0.5, 2.0, 0.9)),
               sheet((-0.5, 1.99, 0.9), (1, 0, 0), (0, 0, 1)),
                    traits="structure"),
              thing(1, "curtain", block((-0.6, 1.75, 0.02), (0.6, 1.8, 2.2)),
                traits="shapeless carries_nothing fixture"),
              _cup(2, 0.0, 1.92, 0.9)],
             {}, (), {1: "floor"}),
        Case("laptop on a book on a desk", [TABLE, thing(2, "book", block((-0.2, -0.15, 0.75), (0.2, 0.15, 0.79))),
                                            thing(3, "laptop", block((-0.18, -0.13, 0.79), (0.18, 0.13, 0.81)),
                                                  block((-0.18, 0.12, 0.81), (0.18, 0.13, 1.05)))],
             {(1, 2): ON, (2, 3): ON}),
    ]  # fmt: skip


def room(case: Case) -> list[Thing]:
    return [*case.things, *building()]
