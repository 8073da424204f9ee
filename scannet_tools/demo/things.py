"""Small things that stand on, lie on or hang beside furniture, and what is put where.

Same axes as furniture. What hangs on a wall has its back at y = 0 and its lower side at z = 0.
"""

from __future__ import annotations

import numpy as np

from scannet_tools.demo.furniture import (
    CLOTHS,
    DARK,
    METAL,
    WHITE,
    Chance,
    Recipe,
    Style,
    fitted,
)
from scannet_tools.demo.furniture import basket as floor_basket
from scannet_tools.demo.furniture import box as floor_box
from scannet_tools.demo.shapes import Blob, Color, Material, Part, Spot, Thing, Turned, post, slab, vessel


def _bright(chance: Chance) -> Color:
    red, green, blue = chance.uniform(0.15, 0.85, size=3)
    return (float(red), float(green), float(blue))


def _paint(chance: Chance, kind: str = "plain", tile_m: float | None = 0.2) -> Material:
    return Material(kind, _bright(chance), tile_m, _bright(chance))


def _round(label: str, parts: tuple, radius: float, height: float, spots: tuple[Spot, ...] = ()) -> Thing:
    return Thing(label, parts, (2 * radius, 2 * radius, height), spots, True)


def cup(chance: Chance, style: Style) -> Thing:
    """An open cup with a handle."""
    radius, height = chance.uniform(0.042, 0.05), chance.uniform(0.095, 0.12)
    paint = _paint(chance)
    handle = slab(paint, (0.035, 0.014, 0.05), (radius + 0.014, 0, height * 0.35))
    return _round("cup", (vessel(paint, radius * 0.85, radius, height), handle), radius + 0.03, height)


def plate(chance: Chance, style: Style) -> Thing:
    """A flat plate with a raised rim."""
    radius = chance.uniform(0.105, 0.112)
    profile = ((0, 0), (radius * 0.7, 0), (radius, 0.02), (radius - 0.005, 0.025), (radius * 0.68, 0.010), (0, 0.010))
    spot = Spot((0, 0), (0.17, 0.17), 0.010, 0.3, role="middle")
    paint = Material("plain", (0.9, 0.9, 0.92) if chance.random() < 0.5 else _bright(chance))
    return _round("plate", (Turned(profile, (0, 0, 0), paint),), radius, 0.025, (spot,))


def bowl(chance: Chance, style: Style) -> Thing:
    """A deep bowl."""
    radius, height = chance.uniform(0.105, 0.11), chance.uniform(0.105, 0.115)
    profile = ((0, 0), (radius * 0.8, 0), (radius * 0.98, height * 0.5), (radius, height), (radius - 0.008, height))
    inside = ((radius * 0.9, height * 0.5), (radius * 0.75, 0.01), (0, 0.01))
    spot = Spot((0, 0), (radius, radius), 0.01, height - 0.02, "contained_in", "inside")
    return _round("bowl", (Turned(profile + inside, (0, 0, 0), _paint(chance)),), radius, height, (spot,))


def tray(chance: Chance, style: Style) -> Thing:
    """A tray with a rim."""
    width, depth = chance.uniform(0.40, 0.44), chance.uniform(0.285, 0.31)
    wood, rim = style.other_wood, 0.022
    parts = (
        slab(wood, (width, depth, 0.012), (0, 0, 0)),
        slab(wood, (width, 0.014, rim - 0.012), (0, depth / 2 - 0.007, 0.012)),
        slab(wood, (width, 0.014, rim - 0.012), (0, -depth / 2 + 0.007, 0.012)),
        slab(wood, (0.014, depth, rim - 0.012), (width / 2 - 0.007, 0, 0.012)),
        slab(wood, (0.014, depth, rim - 0.012), (-width / 2 + 0.007, 0, 0.012)),
    )
    spot = Spot((0, 0), (width - 0.05, depth - 0.05), 0.012, 0.4, role="tray")
    return Thing("tray", parts, (width, depth, rim), (spot,))


def apple(chance: Chance, style: Style) -> Thing:
    """A red or green apple."""
    color = (0.70, 0.12, 0.10) if chance.random() < 0.5 else (0.45, 0.60, 0.15)
    return _round("apple", (Blob((0.088, 0.088, 0.09), (0, 0, 0), Material("plain", color), 0.85, 0.14),), 0.044, 0.077)


def bottle(chance: Chance, style: Style) -> Thing:
    """A bottle with a neck."""
    color = Material(
        "label", ((0.12, 0.35, 0.18), (0.35, 0.55, 0.7), (0.4, 0.2, 0.1))[chance.integers(3)], None, (0.9, 0.9, 0.8)
    )
    profile = ((0, 0), (0.042, 0), (0.042, 0.17), (0.018, 0.21), (0.018, 0.26), (0, 0.26))
    return _round("bottle", (Turned(profile, (0, 0, 0), color),), 0.042, 0.26)


def vase(chance: Chance, style: Style) -> Thing:
    """A vase with flowers."""
    profile = ((0, 0), (0.05, 0), (0.075, 0.09), (0.04, 0.18), (0.05, 0.21), (0.042, 0.21), (0.034, 0.18), (0, 0.1))
    flowers = tuple(
        Blob((0.065, 0.065, 0.06), (0.055 * np.cos(a), 0.055 * np.sin(a), z), _paint(chance))
        for a, z in zip(chance.uniform(0, 6.28, 5), chance.uniform(0.24, 0.34, 5), strict=True)
    )
    stems = tuple(
        post(Material("plain", (0.2, 0.4, 0.15)), 0.006, 0.12, (f.at[0] * 0.6, f.at[1] * 0.6, 0.16)) for f in flowers
    )
    return _round("vase", (Turned(profile, (0, 0, 0), _paint(chance)), *stems, *flowers), 0.09, 0.4)


def lamp(chance: Chance, style: Style) -> Thing:
    """A table lamp with a shade."""
    shade = Material("cloth", (0.95, 0.90, 0.72), 0.2)
    parts = (
        Turned(
            ((0, 0), (0.09, 0), (0.09, 0.02), (0.05, 0.10), (0.035, 0.16), (0.012, 0.20), (0.012, 0.26), (0, 0.26)),
            (0, 0, 0),
            _paint(chance),
        ),
        Turned(((0.125, 0.24), (0.085, 0.42), (0.08, 0.42), (0.12, 0.24)), (0, 0, 0), shade),
    )
    return _round("lamp", parts, 0.125, 0.42)


def desk_lamp(chance: Chance, style: Style) -> Thing:
    """A lamp with a bent arm."""
    paint = _paint(chance)
    parts = (
        Turned(((0, 0), (0.10, 0), (0.10, 0.02), (0, 0.025)), (0, 0, 0), paint),
        slab(METAL, (0.018, 0.018, 0.34), (0, 0.01, 0.02), tilt_deg=-6),
        slab(METAL, (0.016, 0.19, 0.016), (0, -0.06, 0.345), tilt_deg=-15),
        Turned(((0.075, 0), (0.035, 0.09), (0, 0.09), (0, 0.08), (0.068, 0)), (0, -0.14, 0.27), paint),
    )
    return Thing("desk lamp", parts, (0.20, 0.33, 0.37))


def monitor_stand(chance: Chance, style: Style) -> Thing:
    """A low chest that lifts a screen."""
    width, depth, height = 0.56, 0.27, 0.11
    wood = style.other_wood
    parts = (
        slab(wood, (width - 0.02, depth - 0.02, height - 0.02), (0, 0, 0), front=fitted("doors", wood)),
        slab(wood, (width, depth, 0.02), (0, 0, height - 0.02)),
    )
    spot = Spot((0, 0), (width - 0.04, depth - 0.03), height, 0.7, role="middle")
    return Thing("monitor stand", parts, (width, depth, height), (spot,))


def monitor(chance: Chance, style: Style) -> Thing:
    """A flat screen on a foot."""
    picture = Material("screen", (0.1, 0.1, 0.1), None)
    parts = (
        slab(DARK, (0.26, 0.19, 0.015), (0, 0, 0)),
        slab(DARK, (0.06, 0.03, 0.14), (0, 0.03, 0.015)),
        slab(DARK, (0.52, 0.03, 0.32), (0, 0.0, 0.11), front=picture),
    )
    return Thing("monitor", parts, (0.52, 0.19, 0.43))


def tv(chance: Chance, style: Style) -> Thing:
    """A wide television on a foot."""
    width = chance.uniform(0.85, 1.1)
    picture = Material("screen", (0.1, 0.1, 0.1), None)
    parts = (
        slab(DARK, (width * 0.55, 0.22, 0.02), (0, 0, 0)),
        slab(DARK, (0.12, 0.04, 0.08), (0, 0.02, 0.02)),
        slab(DARK, (width, 0.045, width * 0.56), (0, 0, 0.08), front=picture),
    )
    return Thing("tv", parts, (width, 0.22, 0.08 + width * 0.56))


def keyboard(chance: Chance, style: Style) -> Thing:
    """A keyboard."""
    dark = chance.random() < 0.6
    body, keys = ((0.08, 0.08, 0.09), (0.28, 0.28, 0.3)) if dark else ((0.7, 0.7, 0.7), (0.92, 0.92, 0.9))
    top = Material("keys", body, None, keys)
    return Thing(
        "keyboard", (slab(Material("plain", body), (0.43, 0.145, 0.024), (0, 0, 0), top=top),), (0.43, 0.145, 0.024)
    )


def mouse(chance: Chance, style: Style) -> Thing:
    """A computer mouse."""
    return Thing("mouse", (Blob((0.07, 0.115, 0.055), (0, 0, 0), DARK, 0.8, 0.25),), (0.07, 0.115, 0.041))


def laptop(chance: Chance, style: Style) -> Thing:
    """An open laptop."""
    gray = Material("plain", (0.55, 0.56, 0.58))
    parts = (
        slab(gray, (0.34, 0.24, 0.018), (0, 0, 0), top=Material("keys", (0.5, 0.5, 0.52), None, (0.1, 0.1, 0.1))),
        slab(
            gray, (0.34, 0.014, 0.23), (0, 0.14, 0.012), tilt_deg=-12, front=Material("screen", (0.1, 0.1, 0.1), None)
        ),
    )
    return Thing("laptop", parts, (0.34, 0.35, 0.24))


def book(chance: Chance, style: Style) -> Thing:
    """A thick book that lies flat."""
    cover = _paint(chance, "book", None)
    size = (chance.uniform(0.16, 0.19), chance.uniform(0.23, 0.26), chance.uniform(0.035, 0.05))
    pages = Material("grille", (0.9, 0.88, 0.8), 0.3)
    return Thing("book", (slab(cover, size, (0, 0, 0), front=pages, right=pages, back=pages),), size)


def standing_book(chance: Chance, style: Style) -> Thing:
    """A thick book that stands upright, its back to the front."""
    cover = _paint(chance, "book", None)
    size = (chance.uniform(0.05, 0.065), chance.uniform(0.16, 0.19), chance.uniform(0.22, 0.25))
    return Thing("book", (slab(cover, size, (0, 0, 0)),), size)


def books(chance: Chance, style: Style) -> Thing:
    """A row of books, annotated as one."""
    size = (chance.uniform(0.18, 0.28), 0.18, chance.uniform(0.21, 0.25))
    spines = Material("books", (0.5, 0.4, 0.3), None)
    return Thing("books", (slab(Material("grille", (0.85, 0.82, 0.74), 0.2), size, (0, 0, 0), front=spines),), size)


def teddy(chance: Chance, style: Style) -> Thing:
    """A sitting stuffed animal."""
    fur = Material("fur", ((0.55, 0.36, 0.2), (0.7, 0.65, 0.6), (0.35, 0.25, 0.2))[chance.integers(3)], 0.15)
    parts = [
        Blob((0.17, 0.15, 0.18), (0, 0.02, 0), fur, 1.0, 0.12),
        Blob((0.14, 0.13, 0.13), (0, 0.0, 0.13), fur),
        Blob((0.05, 0.04, 0.04), (0, -0.065, 0.16), WHITE),
    ]
    for side in (-1, 1):
        parts += [
            Blob((0.05, 0.03, 0.05), (side * 0.05, 0.01, 0.235), fur),
            Blob((0.065, 0.13, 0.065), (side * 0.06, -0.08, 0), fur, 1.0, 0.1),
            Blob((0.055, 0.10, 0.055), (side * 0.10, -0.03, 0.08), fur),
        ]
    return Thing("stuffed animal", tuple(parts), (0.26, 0.30, 0.28))


def ball(chance: Chance, style: Style) -> Thing:
    """A ball that lies in something."""
    size = chance.uniform(0.13, 0.16)
    return _round(
        "ball", (Blob((size, size, size), (0, 0, 0), _paint(chance, "stripes", 0.1), 1.0, 0.02),), size / 2, size * 0.98
    )


def toy(chance: Chance, style: Style) -> Thing:
    """A toy car."""
    paint, pane = _paint(chance), Material("plain", (0.25, 0.4, 0.5))
    wheels = tuple(Blob((0.05, 0.03, 0.05), (x, y, 0), DARK) for x in (-0.06, 0.06) for y in (-0.05, 0.05))
    parts: tuple[Part, ...] = (
        slab(paint, (0.22, 0.10, 0.05), (0, 0, 0.02)),
        slab(pane, (0.11, 0.09, 0.04), (-0.01, 0, 0.07), top=paint),
        *wheels,
    )
    return Thing("toy", parts, (0.22, 0.13, 0.11))


def paper_ball(chance: Chance, style: Style) -> Thing:
    """Crumpled paper."""
    return _round(
        "paper", (Blob((0.13, 0.12, 0.11), (0, 0, 0), Material("fur", (0.85, 0.85, 0.8), 0.2), 0.7, 0.1),), 0.065, 0.10
    )


def pillow(chance: Chance, style: Style) -> Thing:
    """A pillow."""
    cloth = (
        Material("stripes", (0.9, 0.9, 0.88), 0.3, style.cloth.color)
        if chance.random() < 0.4
        else Material("cloth", (0.92, 0.91, 0.88), 0.2)
    )
    return Thing("pillow", (Blob((0.52, 0.36, 0.15), (0, 0, 0), cloth, 0.6, 0.2),), (0.52, 0.36, 0.12))


def cushion(chance: Chance, style: Style) -> Thing:
    """A square cushion."""
    cloth = _paint(chance, str(chance.choice(["checker", "stripes", "cloth"])), 0.2)
    return Thing("cushion", (Blob((0.38, 0.36, 0.15), (0, 0, 0), cloth, 0.6, 0.2),), (0.38, 0.36, 0.12))


def blanket(chance: Chance, style: Style) -> Thing:
    """A folded blanket."""
    cloth = Material("checker", CLOTHS[chance.integers(len(CLOTHS))], 0.16, (0.85, 0.82, 0.76))
    return Thing("blanket", (Blob((0.52, 0.40, 0.10), (0, 0, 0), cloth, 0.35, 0.1),), (0.52, 0.40, 0.09))


def candle(chance: Chance, style: Style) -> Thing:
    """A thick candle."""
    wax = Material("plain", (0.9, 0.82, 0.66))
    return _round("candle", (post(wax, 0.042, 0.11, (0, 0, 0)), post(DARK, 0.004, 0.02, (0, 0, 0.11))), 0.042, 0.13)


def tissue_box(chance: Chance, style: Style) -> Thing:
    """A box of tissues."""
    card = _paint(chance, "label", None)
    return Thing(
        "tissue box",
        (slab(card, (0.23, 0.12, 0.09), (0, 0, 0)), Blob((0.09, 0.04, 0.06), (0, 0, 0.08), WHITE)),
        (0.23, 0.12, 0.14),
    )


def printer(chance: Chance, style: Style) -> Thing:
    """A printer with paper."""
    gray = Material("plain", (0.78, 0.78, 0.76))
    parts = (
        slab(gray, (0.44, 0.36, 0.17), (0, 0, 0)),
        slab(DARK, (0.40, 0.30, 0.02), (0, 0, 0.17)),
        slab(DARK, (0.30, 0.02, 0.06), (0, -0.185, 0.07)),
        slab(WHITE, (0.22, 0.015, 0.16), (0, 0.14, 0.18), tilt_deg=-12),
    )
    return Thing("printer", parts, (0.44, 0.39, 0.34))


def telephone(chance: Chance, style: Style) -> Thing:
    """A desk telephone."""
    parts = (
        slab(DARK, (0.19, 0.20, 0.04), (0, 0, 0), top=Material("keys", (0.1, 0.1, 0.1), None, (0.7, 0.7, 0.7))),
        slab(METAL, (0.05, 0.19, 0.03), (-0.06, 0, 0.045)),
    )
    return Thing("telephone", parts, (0.19, 0.20, 0.075))


def speaker(chance: Chance, style: Style) -> Thing:
    """A loudspeaker."""
    parts = (
        slab(style.wood, (0.18, 0.20, 0.30), (0, 0, 0), front=Material("plain", (0.1, 0.1, 0.1))),
        Blob((0.13, 0.03, 0.13), (0, -0.10, 0.03), METAL),
        Blob((0.07, 0.025, 0.07), (0, -0.10, 0.19), METAL),
    )
    return Thing("speaker", parts, (0.18, 0.24, 0.30))


def globe(chance: Chance, style: Style) -> Thing:
    """A globe on a foot."""
    sea = Material("leaves", (0.2, 0.4, 0.65), 0.2)
    parts = (
        Turned(((0, 0), (0.085, 0), (0.085, 0.015), (0.015, 0.03), (0.015, 0.08), (0, 0.08)), (0, 0, 0), style.wood),
        Blob((0.23, 0.23, 0.23), (0, 0, 0.07), sea),
    )
    return _round("globe", parts, 0.115, 0.30)


def microwave(chance: Chance, style: Style) -> Thing:
    """A microwave oven."""
    steel = Material("plain", (0.65, 0.66, 0.67))
    parts = (
        slab(steel, (0.48, 0.34, 0.28), (0, 0, 0)),
        slab(DARK, (0.34, 0.015, 0.22), (-0.05, -0.178, 0.03)),
        slab(WHITE, (0.08, 0.015, 0.22), (0.18, -0.178, 0.03)),
    )
    return Thing("microwave", parts, (0.48, 0.38, 0.28))


def jar(chance: Chance, style: Style) -> Thing:
    """A jar with a lid."""
    glass, lid = _paint(chance, "label", None), _paint(chance)
    return _round("jar", (post(glass, 0.055, 0.13, (0, 0, 0)), post(lid, 0.05, 0.025, (0, 0, 0.13))), 0.055, 0.155)


def potted_plant(chance: Chance, style: Style) -> Thing:
    """A little plant in a pot."""
    leaf = Material("leaves", (0.2, 0.45, 0.18), 0.12)
    leaves = tuple(
        Blob((0.10, 0.07, 0.12), (0.05 * np.cos(a), 0.05 * np.sin(a), z), leaf, yaw_deg=float(np.degrees(a)))
        for a, z in zip(chance.uniform(0, 6.28, 6), chance.uniform(0.11, 0.2, 6), strict=True)
    )
    pot = Turned(((0, 0), (0.06, 0), (0.08, 0.12), (0.07, 0.12), (0.065, 0.10), (0, 0.10)), (0, 0, 0), _paint(chance))
    return _round("potted plant", (pot, *leaves), 0.10, 0.3)


def small_box(chance: Chance, style: Style) -> Thing:
    """A small open box for the top of furniture."""
    return floor_box(chance, style)


def small_basket(chance: Chance, style: Style) -> Thing:
    """A basket for the top of furniture."""
    return floor_basket(chance, style)


def odd_object(chance: Chance, style: Style) -> Thing:
    """Something that an annotator called no more than an object: a jagged lump, like nothing else in the rooms."""
    return _lump(chance, 1.0)


def odd_bit(chance: Chance, style: Style) -> Thing:
    """The same, small."""
    return _lump(chance, 0.45)


def _lump(chance: Chance, scale: float) -> Thing:
    """A flat foot, and three knobs of different heights grown together on it."""
    foot, paint = _paint(chance, "label", None), _paint(chance)
    knobs = (((0.18, 0.09, 0.12), (0.0, 0.0)), ((0.07, 0.15, 0.20), (0.04, 0.0)), ((0.06, 0.06, 0.26), (-0.05, 0.03)))
    base = slab(foot, (0.20 * scale, 0.17 * scale, 0.03 * scale), (0, 0, 0))
    grown = [
        Blob((a * scale, b * scale, c * scale), (x * scale, y * scale, 0.02 * scale), paint)
        for (a, b, c), (x, y) in knobs
    ]
    return Thing("object", (base, *grown), (0.20 * scale, 0.17 * scale, 0.28 * scale))


# What hangs on walls: back at y = 0, lower side at z = 0.


def picture(chance: Chance, style: Style) -> Thing:
    """A framed picture."""
    width, height = chance.uniform(0.45, 0.8), chance.uniform(0.4, 0.6)
    front = Material("picture", _bright(chance), None, style.wood.color)
    return Thing(
        "picture", (slab(style.wood, (width, 0.03, height), (0, -0.015, 0), front=front),), (width, 0.03, height)
    )


def mirror(chance: Chance, style: Style) -> Thing:
    """A mirror in a frame."""
    front = Material("mirror", (0.7, 0.75, 0.8), None, style.wood.color)
    return Thing("mirror", (slab(style.wood, (0.5, 0.03, 0.8), (0, -0.015, 0), front=front),), (0.5, 0.03, 0.8))


def whiteboard(chance: Chance, style: Style) -> Thing:
    """A whiteboard with writing and a ledge."""
    width = chance.uniform(1.1, 1.5)
    parts = (
        slab(METAL, (width, 0.03, 0.85), (0, -0.015, 0), front=Material("board", (0.9, 0.9, 0.9), None)),
        slab(METAL, (width, 0.05, 0.015), (0, -0.04, 0)),
    )
    return Thing("whiteboard", parts, (width, 0.065, 0.85))


def clock(chance: Chance, style: Style) -> Thing:
    """A round wall clock, as a thin square with a round face."""
    face = Material("clock", style.wall.color, None)
    return Thing(
        "clock",
        (slab(Material("plain", _bright(chance)), (0.34, 0.04, 0.34), (0, -0.02, 0), front=face),),
        (0.34, 0.04, 0.34),
    )


def wall_cabinet(chance: Chance, style: Style) -> Thing:
    """A cupboard on the wall."""
    width = chance.uniform(0.7, 1.0)
    parts = (slab(style.wood, (width, 0.32, 0.6), (0, -0.16, 0), front=fitted("doors", style.wood)),)
    return Thing("cabinet", parts, (width, 0.32, 0.6))


def wall_shelf(chance: Chance, style: Style) -> Thing:
    """A board on two brackets."""
    width = chance.uniform(0.7, 0.95)
    parts = (
        slab(style.wood, (width, 0.26, 0.03), (0, -0.13, 0.10)),
        slab(METAL, (0.025, 0.20, 0.10), (-width / 2 + 0.1, -0.10, 0)),
        slab(METAL, (0.025, 0.20, 0.10), (width / 2 - 0.1, -0.10, 0)),
    )
    return Thing("shelf", parts, (width, 0.26, 0.13), (Spot((0, -0.13), (width - 0.08, 0.20), 0.13, 0.5),))


def curtain(chance: Chance, style: Style) -> Thing:
    """A curtain in folds."""
    cloth = (
        Material("stripes", style.cloth.color, 0.4, style.other_cloth.color) if chance.random() < 0.3 else style.cloth
    )
    return Thing("curtain", (slab(cloth, (0.46, 0.02, 1.95), (0, -0.045, 0), wave=(0.028, 0.153)),), (0.46, 0.09, 1.95))


MENUS: dict[str, tuple[Recipe, ...]] = {
    "dining table": (tray, bowl, vase, plate, bottle, candle),
    "coffee table": (tray, book, laptop, candle, vase),
    "side table": (lamp, vase, plate, potted_plant, telephone),
    "desk": (desk_lamp, cup, book, telephone, potted_plant, tissue_box),
    "nightstand": (lamp, book, cup, tissue_box),
    "dresser": (tray, small_box, jar, globe, lamp, small_basket),
    "cabinet": (tray, printer, globe, jar, potted_plant, bowl),
    "file cabinet": (printer, globe, potted_plant),
    "tv stand": (tv,),
    "bench": (small_basket, book, small_box),
    "stool": (bowl, plate, book, potted_plant),
    "ottoman": (tray, book),
    "shelf": (potted_plant, candle, jar, speaker),
    "bookshelf": (globe, vase, small_basket, speaker),
    "chair": (cushion, book),
    "plate": (cup, apple, candle),
    "bowl": (apple,),
    "trash can": (paper_ball,),
    "bed": (teddy, blanket, tray, book, laptop),
    "couch": (cushion, blanket, teddy, book),
    "armchair": (cushion, book, teddy),
}
"""What may stand on the top or the seat of a thing, by its label."""
ROLE_MENUS: dict[str, tuple[Recipe, ...]] = {
    "tray": (plate, cup, bowl, jar, candle),
    "shelf": (books, standing_book, standing_book, speaker, jar, vase, teddy),
    "head": (pillow,),
    "inside": (ball, teddy, toy, apple, bottle, paper_ball),
}
"""What may be put into a place of a role, where the label of the thing does not say."""
