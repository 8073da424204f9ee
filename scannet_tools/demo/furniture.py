"""Furniture that stands on the floor: each recipe draws its measures and gives a thing made of real parts.

Fronts face -y; what stands against a wall has its back at +y. Every recipe is a function of (chance, style).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scannet_tools.demo.shapes import Blob, Color, Material, Part, Spot, Thing, Turned, post, slab, vessel

Chance = np.random.Generator
WOODS: tuple[Color, ...] = (
    (0.62, 0.42, 0.24),
    (0.45, 0.28, 0.16),
    (0.78, 0.62, 0.42),
    (0.32, 0.20, 0.13),
    (0.86, 0.80, 0.70),
)
CLOTHS: tuple[Color, ...] = (
    (0.22, 0.34, 0.55),
    (0.55, 0.20, 0.18),
    (0.35, 0.45, 0.30),
    (0.62, 0.58, 0.52),
    (0.30, 0.30, 0.34),
    (0.72, 0.55, 0.25),
    (0.24, 0.48, 0.50),
    (0.50, 0.33, 0.48),
)
METAL = Material("plain", (0.45, 0.46, 0.48))
DARK = Material("plain", (0.09, 0.09, 0.10))
WHITE = Material("plain", (0.88, 0.88, 0.86))
STEEL: Color = (0.75, 0.75, 0.72)


@dataclass(frozen=True)
class Style:
    """What the furniture of one room has in common."""

    wood: Material
    other_wood: Material
    cloth: Material
    other_cloth: Material
    wall: Material
    floor: Material

    @classmethod
    def drawn(cls, chance: Chance) -> Style:
        """A style by chance."""
        woods = chance.permutation(len(WOODS))
        cloths = chance.permutation(len(CLOTHS))
        wall = np.asarray(((0.86, 0.84, 0.78), (0.80, 0.85, 0.88), (0.88, 0.80, 0.74), (0.80, 0.86, 0.78)))
        floors = (
            Material("planks", (0.66, 0.47, 0.29), 1.2),
            Material("planks", (0.42, 0.29, 0.19), 1.2),
            Material("carpet", (0.52, 0.50, 0.47), 1.0),
            Material("carpet", (0.40, 0.44, 0.50), 1.0),
            Material("tiles", (0.74, 0.71, 0.65), 1.2),
        )
        red, green, blue = wall[chance.integers(len(wall))]
        return cls(
            Material("wood", WOODS[woods[0]], 0.6),
            Material("wood", WOODS[woods[1]], 0.6),
            Material(str(chance.choice(["cloth", "carpet"])), CLOTHS[cloths[0]], 0.3),
            Material(str(chance.choice(["stripes", "checker", "cloth"])), CLOTHS[cloths[1]], 0.3, (0.85, 0.82, 0.75)),
            Material("plain", (float(red), float(green), float(blue)), 0.8),
            floors[chance.integers(len(floors))],
        )


def fitted(kind: str, material: Material, accent: Color = STEEL) -> Material:
    """A picture of a kind in a material's colour, fitted to each face."""
    return Material(kind, material.color, None, accent)


def _legs(material: Material, width: float, depth: float, height: float, side: float) -> tuple[Part, ...]:
    x, y = width / 2 - side / 2 - 0.02, depth / 2 - side / 2 - 0.02
    return tuple(slab(material, (side, side, height), (sx * x, sy * y, 0)) for sx in (-1, 1) for sy in (-1, 1))


def _top_spot(width: float, depth: float, z: float, *, margin: float = 0.04) -> Spot:
    return Spot((0.0, 0.0), (width - 2 * margin, depth - 2 * margin), z)


def _table(label: str, material: Material, size: tuple[float, float, float]) -> Thing:
    width, depth, height = size
    thick = 0.035
    parts = (
        slab(material, (width, depth, thick), (0, 0, height - thick)),
        *_legs(material, width, depth, height - thick, 0.055),
        slab(material, (width - 0.16, 0.025, 0.07), (0, depth / 2 - 0.05, height - thick - 0.07)),
        slab(material, (width - 0.16, 0.025, 0.07), (0, -depth / 2 + 0.05, height - thick - 0.07)),
    )
    return Thing(label, parts, (width, depth, height), (_top_spot(width, depth, height),))


def dining_table(chance: Chance, style: Style) -> Thing:
    """A big table with four legs."""
    return _table("dining table", style.wood, (chance.uniform(1.3, 1.7), chance.uniform(0.85, 0.95), 0.75))


def coffee_table(chance: Chance, style: Style) -> Thing:
    """A low table."""
    return _table("coffee table", style.other_wood, (chance.uniform(0.95, 1.2), chance.uniform(0.6, 0.7), 0.44))


def side_table(chance: Chance, style: Style) -> Thing:
    """A small round table on one foot."""
    radius, height = chance.uniform(0.27, 0.32), chance.uniform(0.52, 0.6)
    parts = (
        Turned(
            ((0, 0), (0.17, 0), (0.17, 0.02), (0.03, 0.05), (0.03, height - 0.03), (0, height - 0.03)),
            (0, 0, 0),
            METAL,
        ),
        post(style.other_wood, radius, 0.03, (0, 0, height - 0.03)),
    )
    inside = 2 * radius * 0.68
    return Thing("side table", parts, (2 * radius, 2 * radius, height), (_top_spot(inside, inside, height),), True)


def desk(chance: Chance, style: Style) -> Thing:
    """A desk with a chest of drawers under its right end."""
    width, depth, height = chance.uniform(1.4, 1.65), chance.uniform(0.7, 0.78), 0.74
    wood = style.wood
    front = fitted("drawers", wood)
    parts = (
        slab(wood, (width, depth, 0.035), (0, 0, height - 0.035)),
        slab(wood, (0.03, depth - 0.06, height - 0.035), (-width / 2 + 0.04, 0, 0)),
        slab(wood, (0.40, depth - 0.06, height - 0.04), (width / 2 - 0.23, 0, 0), front=front),
        slab(wood, (width - 0.5, 0.02, 0.35), (-0.2, depth / 2 - 0.06, height - 0.4)),
    )
    return Thing("desk", parts, (width, depth, height), (_top_spot(width, depth, height),))


def bed(chance: Chance, style: Style) -> Thing:
    """A bed with a frame, a mattress with a cover, and a headboard at +y."""
    width, length, top = chance.uniform(1.15, 1.6), 2.05, chance.uniform(0.44, 0.52)
    head_m = chance.uniform(0.85, 1.05)
    parts = (
        slab(style.wood, (width, length, 0.26), (0, 0, 0.0)),
        slab(WHITE, (width - 0.04, length - 0.06, top - 0.26), (0, -0.02, 0.26)),
        slab(style.cloth, (width + 0.02, length * 0.62, top - 0.20), (0, -length * 0.19 - 0.01, 0.212)),
        slab(style.wood, (width + 0.06, 0.05, head_m), (0, length / 2 + 0.01, 0)),
    )
    head = Spot((0.0, length / 2 - 0.33), (width - 0.14, 0.50), top, 1.0, "resting_on_soft_surface", "head")
    foot = Spot(
        (0.0, -length * 0.19), (width - 0.2, length * 0.62 - 0.3), top + 0.012, 1.0, "resting_on_soft_surface", "seat"
    )
    return Thing("bed", parts, (width + 0.06, length + 0.08, head_m), (head, foot))


def couch(chance: Chance, style: Style) -> Thing:
    """A couch with arms and a back."""
    width, depth, seat = chance.uniform(1.7, 2.1), 0.88, 0.43
    cloth = style.cloth
    parts = (
        slab(cloth, (width, depth, 0.24), (0, 0, 0.04)),
        *_legs(DARK, width, depth, 0.06, 0.05),
        slab(cloth, (width - 0.36, depth - 0.24, seat - 0.28), (0, -0.11, 0.28)),
        slab(cloth, (width, 0.20, 0.58), (0, depth / 2 - 0.10, 0.28)),
        slab(cloth, (0.17, depth - 0.2, 0.34), (-width / 2 + 0.085, -0.1, 0.28)),
        slab(cloth, (0.17, depth - 0.2, 0.34), (width / 2 - 0.085, -0.1, 0.28)),
    )
    spot = Spot((0, -0.12), (width - 0.5, depth - 0.36), seat, 1.0, "resting_on_soft_surface", "seat")
    return Thing("couch", parts, (width, depth, 0.86), (spot,))


def armchair(chance: Chance, style: Style) -> Thing:
    """An upholstered chair for one."""
    width, depth, seat = 0.82, 0.80, 0.42
    cloth = style.other_cloth
    parts = (
        slab(cloth, (width, depth, 0.22), (0, 0, 0.05)),
        *_legs(style.wood, width, depth, 0.06, 0.05),
        slab(cloth, (width - 0.30, depth - 0.20, seat - 0.27), (0, -0.09, 0.27)),
        slab(cloth, (width, 0.17, 0.62), (0, depth / 2 - 0.085, 0.27)),
        slab(cloth, (0.14, depth - 0.18, 0.30), (-width / 2 + 0.07, -0.09, 0.27)),
        slab(cloth, (0.14, depth - 0.18, 0.30), (width / 2 - 0.07, -0.09, 0.27)),
    )
    spot = Spot((0, -0.10), (width - 0.38, depth - 0.30), seat, 1.0, "resting_on_soft_surface", "seat")
    return Thing("armchair", parts, (width, depth, 0.89), (spot,))


def chair(chance: Chance, style: Style) -> Thing:
    """A wooden chair with a back of bars."""
    width, depth, seat, top = 0.44, 0.44, 0.45, 0.90
    wood = style.other_wood
    y = depth / 2 - 0.02
    parts = (
        slab(wood, (width, depth, 0.035), (0, 0, seat - 0.035)),
        *_legs(wood, width, depth, seat - 0.035, 0.04),
        slab(wood, (0.035, 0.035, top - seat), (-width / 2 + 0.02, y, seat)),
        slab(wood, (0.035, 0.035, top - seat), (width / 2 - 0.02, y, seat)),
        slab(wood, (width - 0.04, 0.022, 0.11), (0, y, top - 0.12)),
        slab(wood, (width - 0.04, 0.022, 0.08), (0, y, top - 0.28)),
    )
    return Thing(
        "chair", parts, (width, depth, top), (Spot((0, -0.02), (width - 0.06, depth - 0.12), seat, 0.5, role="seat"),)
    )


def office_chair(chance: Chance, style: Style) -> Thing:
    """A swivel chair on a star foot."""
    seat = 0.47
    cloth = Material("cloth", (0.13, 0.13, 0.15), 0.3) if chance.random() < 0.5 else style.cloth
    spokes = tuple(
        slab(
            DARK,
            (0.29, 0.045, 0.04),
            (0.15 * np.cos(a), 0.15 * np.sin(a), 0.03),
            yaw_deg=float(np.degrees(a)),
        )
        for a in np.radians([18, 90, 162, 234, 306])
    )
    wheels = tuple(
        Blob((0.06, 0.06, 0.06), (0.28 * np.cos(a), 0.28 * np.sin(a), 0.0), DARK)
        for a in np.radians([18, 90, 162, 234, 306])
    )
    parts: tuple[Part, ...] = (
        *spokes,
        *wheels,
        post(METAL, 0.03, seat - 0.12, (0, 0, 0.05)),
        Blob((0.50, 0.48, 0.09), (0, 0, seat - 0.09), cloth, 0.5),
        slab(DARK, (0.06, 0.03, 0.30), (0, 0.25, seat - 0.06)),
        Blob((0.46, 0.09, 0.52), (0, 0.235, seat + 0.10), cloth, 0.5),
    )
    return Thing("office chair", parts, (0.62, 0.62, seat + 0.62))


def stool(chance: Chance, style: Style) -> Thing:
    """A round stool with four legs."""
    seat, radius = chance.uniform(0.46, 0.6), 0.19
    parts = (post(style.wood, radius, 0.04, (0, 0, seat - 0.04)), *_legs(style.wood, 0.34, 0.34, seat - 0.04, 0.04))
    return Thing("stool", parts, (0.38, 0.38, seat), (_top_spot(0.30, 0.30, seat, margin=0.01),), True)


def bench(chance: Chance, style: Style) -> Thing:
    """A bench without a back."""
    return _table("bench", style.wood, (chance.uniform(1.0, 1.25), 0.40, 0.45))


def ottoman(chance: Chance, style: Style) -> Thing:
    """A soft box to put the feet on."""
    parts = (
        slab(style.cloth, (0.55, 0.45, 0.32), (0, 0, 0.06)),
        *_legs(style.wood, 0.55, 0.45, 0.07, 0.05),
    )
    spot = Spot((0, 0), (0.49, 0.39), 0.38, 1.0, "resting_on_soft_surface", "seat")
    return Thing("ottoman", parts, (0.55, 0.45, 0.38), (spot,))


def nightstand(chance: Chance, style: Style) -> Thing:
    """A small chest beside a bed."""
    width, depth, height = chance.uniform(0.5, 0.56), 0.44, chance.uniform(0.52, 0.6)
    wood = style.wood
    parts = (
        slab(wood, (width, depth, height - 0.10), (0, 0, 0.08), front=fitted("drawers", wood)),
        slab(wood, (width + 0.02, depth + 0.02, 0.022), (0, 0, height - 0.022)),
        *_legs(wood, width, depth, 0.09, 0.045),
    )
    return Thing("nightstand", parts, (width + 0.02, depth + 0.02, height), (_top_spot(width, depth, height),))


def _chest(
    label: str, material: Material, front: str, size: tuple[float, float, float], *, has_top: bool = True
) -> Thing:
    width, depth, height = size
    parts = (
        slab(material, (width - 0.04, depth - 0.04, 0.06), (0, 0.01, 0)),
        slab(material, (width - 0.02, depth - 0.02, height - 0.082), (0, 0, 0.06), front=fitted(front, material)),
        slab(material, (width, depth, 0.022), (0, 0, height - 0.022)),
    )
    return Thing(label, parts, size, (_top_spot(width, depth, height),) if has_top else ())


def dresser(chance: Chance, style: Style) -> Thing:
    """A wide chest of drawers."""
    return _chest("dresser", style.other_wood, "drawers", (chance.uniform(1.1, 1.4), 0.5, chance.uniform(0.78, 0.9)))


def wardrobe(chance: Chance, style: Style) -> Thing:
    """A tall cupboard with two doors."""
    size = (chance.uniform(0.9, 1.2), 0.58, chance.uniform(1.8, 2.0))
    return _chest("wardrobe", style.wood, "doors", size, has_top=False)


def cabinet(chance: Chance, style: Style) -> Thing:
    """A low cupboard with two doors."""
    return _chest("cabinet", style.wood, "doors", (chance.uniform(0.8, 1.1), 0.45, chance.uniform(0.8, 1.0)))


def file_cabinet(chance: Chance, style: Style) -> Thing:
    """A steel cabinet with drawers."""
    return _chest("file cabinet", Material("plain", (0.5, 0.54, 0.56)), "drawers", (0.48, 0.55, 1.02))


def tv_stand(chance: Chance, style: Style) -> Thing:
    """A low board for a television."""
    return _chest("tv stand", style.other_wood, "doors", (chance.uniform(1.3, 1.6), 0.45, 0.5))


def refrigerator(chance: Chance, style: Style) -> Thing:
    """A tall white fridge."""
    white = Material("plain", (0.86, 0.87, 0.88))
    parts = (
        slab(white, (0.62, 0.60, 1.10), (0, 0, 0.03)),
        slab(white, (0.62, 0.60, 0.52), (0, 0, 1.14)),
        slab(DARK, (0.58, 0.56, 0.04), (0, 0.01, 0)),
        slab(METAL, (0.025, 0.03, 0.4), (-0.26, -0.315, 0.6)),
        slab(METAL, (0.025, 0.03, 0.2), (-0.26, -0.315, 1.2)),
    )
    return Thing("refrigerator", parts, (0.62, 0.66, 1.66))


def stove(chance: Chance, style: Style) -> Thing:
    """A cooker with four plates and an oven."""
    white = Material("plain", (0.85, 0.85, 0.83))
    plates = tuple(post(DARK, 0.085, 0.012, (x, y, 0.88)) for x in (-0.15, 0.15) for y in (-0.13, 0.13))
    parts: tuple[Part, ...] = (
        slab(white, (0.6, 0.58, 0.88), (0, 0, 0), front=Material("panels", (0.25, 0.25, 0.27), None, STEEL)),
        *plates,
    )
    return Thing("stove", parts, (0.6, 0.58, 0.89))


def bookshelf(chance: Chance, style: Style) -> Thing:
    """Shelves with sides, a back and one or two columns, for books."""
    columns, levels = int(chance.integers(1, 3)), int(chance.integers(2, 5))
    material, side, board, foot, depth = style.wood, 0.025, 0.025, 0.16, 0.35
    inner = chance.uniform(0.43, 0.47)
    width, height = columns * inner + (columns + 1) * side, 0.36 * levels + foot + board
    step = (height - board - foot) / levels
    dividers = (0.0,) if columns == 2 else ()
    middles = (-(inner + side) / 2, (inner + side) / 2) if columns == 2 else (0.0,)
    boards = tuple(slab(material, (width - 2 * side, depth, board), (0, 0, foot + step * k)) for k in range(1, levels))
    parts = (
        slab(material, (side, depth, height), (-width / 2 + side / 2, 0, 0)),
        slab(material, (side, depth, height), (width / 2 - side / 2, 0, 0)),
        slab(material, (width - 2 * side, 0.015, height - 0.06), (0, depth / 2 - 0.0075, 0.03)),
        slab(material, (width - 2 * side, depth, foot), (0, 0, 0)),
        slab(material, (width - 2 * side, depth, board), (0, 0, height - board)),
        *boards,
        *(slab(material, (side, depth - 0.01, height - foot), (x, 0, foot)) for x in dividers),
    )
    inside = [
        Spot(
            (x, -0.01),
            (inner - 0.12, depth - 0.10),
            foot + step * k + (board if k else 0.0),
            step - board - 0.01,
            "contained_in",
            "shelf",
        )
        for k in range(levels)
        for x in middles
    ]
    top = Spot((0, 0), (width - 0.1, depth - 0.06), height, 0.6)
    return Thing("bookshelf", parts, (width, depth, height), (*inside, top) if height < 1.35 else tuple(inside))


def floor_lamp(chance: Chance, style: Style) -> Thing:
    """A lamp on a tall stand."""
    height = chance.uniform(1.4, 1.6)
    shade = Material("cloth", (0.95, 0.88, 0.70), 0.3)
    parts = (
        Turned(
            ((0, 0), (0.15, 0), (0.15, 0.025), (0.02, 0.04), (0.015, height - 0.2), (0, height - 0.2)), (0, 0, 0), METAL
        ),
        Turned(((0.19, height - 0.28), (0.13, height), (0.12, height), (0.18, height - 0.28)), (0, 0, 0), shade),
    )
    return Thing("floor lamp", parts, (0.38, 0.38, height), (), True)


def plant(chance: Chance, style: Style) -> Thing:
    """A big plant in a pot."""
    height = chance.uniform(0.9, 1.3)
    leaf = Material("leaves", (0.16, 0.38, 0.14), 0.3)
    pot = Material("plain", CLOTHS[chance.integers(len(CLOTHS))])
    blobs = []
    for _ in range(7):
        a, r = chance.uniform(0, 2 * np.pi), chance.uniform(0.04, 0.16)
        size = chance.uniform(0.18, 0.28)
        z = chance.uniform(0.45, height - size)
        blobs.append(
            Blob((size, size * 0.75, size), (r * np.cos(a), r * np.sin(a), z), leaf, yaw_deg=chance.uniform(0, 180))
        )
    parts: tuple[Part, ...] = (
        Turned(((0, 0), (0.12, 0), (0.17, 0.30), (0.15, 0.30), (0.14, 0.26), (0, 0.26)), (0, 0, 0), pot),
        post(Material("wood", (0.3, 0.2, 0.1)), 0.02, 0.35, (0, 0, 0.25)),
        *blobs,
    )
    return Thing("plant", parts, (0.56, 0.56, height), (), True)


def radiator(chance: Chance, style: Style) -> Thing:
    """A ribbed heater on feet, close to a wall."""
    width = chance.uniform(0.8, 1.2)
    front = Material("grille", (0.85, 0.85, 0.83), None)
    parts = (
        slab(WHITE, (width, 0.09, 0.50), (0, 0, 0.08), front=front),
        slab(WHITE, (0.05, 0.07, 0.09), (-width / 2 + 0.1, 0, 0)),
        slab(WHITE, (0.05, 0.07, 0.09), (width / 2 - 0.1, 0, 0)),
    )
    return Thing("radiator", parts, (width, 0.09, 0.58))


def fan(chance: Chance, style: Style) -> Thing:
    """A fan on a stand."""
    parts = (
        Turned(((0, 0), (0.19, 0), (0.17, 0.03), (0.02, 0.05), (0.02, 0.85), (0, 0.85)), (0, 0, 0), WHITE),
        slab(DARK, (0.10, 0.16, 0.10), (0, 0.0, 0.87)),
        Blob((0.42, 0.10, 0.42), (0, -0.10, 0.71), Material("grille", (0.75, 0.8, 0.85), 0.3), 0.8),
    )
    return Thing("fan", parts, (0.44, 0.40, 1.13))


def rug(chance: Chance, style: Style) -> Thing:
    """A flat rug with a pattern."""
    width, depth = chance.uniform(1.2, 1.7), chance.uniform(0.8, 1.1)
    top = Material("rug", style.cloth.color, None, style.other_cloth.color)
    return Thing("rug", (slab(style.cloth, (width, depth, 0.012), (0, 0, 0), top=top),), (width, depth, 0.012))


def _open_box(label: str, material: Material, size: tuple[float, float, float], wall: float = 0.015) -> Thing:
    width, depth, height = size
    parts = (
        slab(material, (width, depth, wall), (0, 0, 0)),
        slab(material, (wall, depth, height - wall), (-width / 2 + wall / 2, 0, wall)),
        slab(material, (wall, depth, height - wall), (width / 2 - wall / 2, 0, wall)),
        slab(material, (width - 2 * wall, wall, height - wall), (0, -depth / 2 + wall / 2, wall)),
        slab(material, (width - 2 * wall, wall, height - wall), (0, depth / 2 - wall / 2, wall)),
    )
    margin = wall + 0.02
    spot = Spot((0, 0), (width - 2 * margin, depth - 2 * margin), wall, height - wall - 0.025, "contained_in", "inside")
    return Thing(label, parts, size, (spot,))


def box(chance: Chance, style: Style) -> Thing:
    """An open cardboard box."""
    size = (chance.uniform(0.38, 0.5), chance.uniform(0.32, 0.4), chance.uniform(0.2, 0.26))
    return _open_box("box", Material("plain", (0.66, 0.50, 0.33)), size)


def basket(chance: Chance, style: Style) -> Thing:
    """A wide woven basket."""
    size = (chance.uniform(0.42, 0.5), chance.uniform(0.34, 0.4), chance.uniform(0.22, 0.27))
    return _open_box("basket", Material("checker", (0.70, 0.54, 0.32), 0.12, (0.52, 0.37, 0.20)), size, 0.02)


def trash_can(chance: Chance, style: Style) -> Thing:
    """A round open bin."""
    top, height = chance.uniform(0.15, 0.17), chance.uniform(0.28, 0.32)
    material = Material("plain", CLOTHS[chance.integers(len(CLOTHS))])
    inside = 2 * (top - 0.035) * 0.68
    spot = Spot((0, 0), (inside, inside), 0.01, height - 0.04, "contained_in", "inside")
    return Thing(
        "trash can",
        (vessel(material, top - 0.03, top, height, thick=0.01),),
        (2 * top, 2 * top, height),
        (spot,),
        True,
    )


def laundry_hamper(chance: Chance, style: Style) -> Thing:
    """A tall oval hamper with a lid."""
    material = Material("checker", (0.82, 0.74, 0.6), 0.1, (0.7, 0.6, 0.45))
    body = Turned(((0, 0), (0.19, 0), (0.22, 0.5), (0.225, 0.5), (0.225, 0.54), (0, 0.56)), (0, 0, 0), material)
    return Thing("laundry hamper", (body,), (0.45, 0.45, 0.56), (), True)


def suitcase(chance: Chance, style: Style) -> Thing:
    """A suitcase that stands upright."""
    color = Material("plain", CLOTHS[chance.integers(len(CLOTHS))])
    parts = (
        slab(color, (0.45, 0.24, 0.60), (0, 0, 0.04), front=fitted("grille", color)),
        *_legs(DARK, 0.42, 0.22, 0.05, 0.045),
        slab(DARK, (0.18, 0.03, 0.03), (0, 0, 0.68)),
        slab(DARK, (0.02, 0.03, 0.05), (-0.08, 0, 0.64)),
        slab(DARK, (0.02, 0.03, 0.05), (0.08, 0, 0.64)),
    )
    return Thing("suitcase", parts, (0.45, 0.24, 0.71))


def backpack(chance: Chance, style: Style) -> Thing:
    """A full backpack on the floor."""
    color = Material("cloth", CLOTHS[chance.integers(len(CLOTHS))], 0.2)
    parts = (
        Blob((0.34, 0.24, 0.48), (0, 0, 0), color, 0.55, 0.06),
        Blob((0.26, 0.12, 0.24), (0, -0.13, 0.02), color, 0.55, 0.06),
    )
    return Thing("backpack", parts, (0.36, 0.34, 0.46))


def guitar(chance: Chance, style: Style) -> Thing:
    """A guitar on its stand."""
    wood = Material("wood", (0.72, 0.42, 0.16), 0.5)
    parts = (
        slab(DARK, (0.34, 0.30, 0.03), (0, 0, 0)),
        slab(DARK, (0.05, 0.05, 0.14), (0, 0.06, 0.02)),
        Blob((0.38, 0.10, 0.34), (0, 0, 0.08), wood, 0.8),
        Blob((0.28, 0.10, 0.26), (0, 0, 0.32), wood, 0.8),
        slab(Material("wood", (0.25, 0.15, 0.1)), (0.05, 0.03, 0.46), (0, -0.01, 0.54)),
        slab(Material("wood", (0.25, 0.15, 0.1)), (0.08, 0.03, 0.14), (0, -0.01, 1.0)),
    )
    return Thing("guitar", parts, (0.38, 0.30, 1.14))


Recipe = Callable[[Chance, Style], Thing]
