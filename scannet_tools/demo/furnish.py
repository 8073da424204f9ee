"""Furnishes a room: groups that people know (bed with nightstands, desk with chair, table with chairs), then what
lies, stands and hangs on them."""

from __future__ import annotations

import numpy as np

from scannet_tools.demo import furniture as f
from scannet_tools.demo import things as t
from scannet_tools.demo.rooms import Layout, Placed, Room
from scannet_tools.demo.shapes import Material, Thing, slab

Chance = np.random.Generator
KINDS = ("bedroom", "living room", "office", "dining room", "studio")
SCENE_TYPES = {
    "bedroom": "Bedroom / Hotel",
    "living room": "Living room / Lounge",
    "office": "Office",
    "dining room": "Kitchen",
    "studio": "Apartment",
}
"""What each kind of room is called in a scan's ``.txt``."""
MAX_OBJECTS = 40
MIN_OBJECTS = 12


def furnished(chance: Chance, kind: str) -> Layout:
    """A furnished room of a kind, 12 to 40 labelled objects in it, a chain of three links, and clutter."""
    while True:
        layout = Layout(Room.drawn(chance), f.Style.drawn(chance), chance)
        _openings(layout)
        groups = {
            "bedroom": (_bed, _wardrobe, _dresser, _desk),
            "living room": (_couch, _shelves, _cabinet, _side_table),
            "office": (_desk, _shelves, _files, _desk, _round_table),
            "dining room": (_dining, _kitchen, _cabinet),
            "studio": (_bed, _couch, _dining, _desk, _shelves),
        }[kind]
        area = layout.room.polygon.area
        for group in groups:
            group(layout)
        extras = [_armchair, _shelves, _dresser, _bench, _cabinet, _stool, _ottoman, _side_table]
        for number in chance.permutation(len(extras))[: int(area // 7)]:
            extras[number](layout)
        _corners(layout, int(2 + area // 8))
        _walls(layout, int(3 + area // 8))
        _long_chain(layout)
        _fill(layout, target=int(np.clip(14 + area * 0.8, 18, MAX_OBJECTS - 3)))
        _clutter(layout)
        has_clutter = any(not p.thing.labelled for p in layout.placed)
        if MIN_OBJECTS <= _count(layout) <= MAX_OBJECTS and max(_depths(layout.placed)) >= 3 and has_clutter:
            return layout


def _count(layout: Layout) -> int:
    return sum(1 for p in layout.placed if p.thing.labelled and p.support != "structure")


def _depths(placed: list[Placed]) -> list[int]:
    """How many links lie above each thing."""
    depths: list[int] = []
    for p in placed:
        depths.append(0 if p.parent is None else depths[p.parent] + 1)
    return depths


def _openings(layout: Layout) -> None:
    """A door, one or two windows, curtains beside them."""
    chance, style = layout.chance, layout.style
    leaf = Material("panels", style.wood.color if chance.random() < 0.5 else (0.85, 0.84, 0.8), None, f.STEEL)
    door = Thing("door", (slab(leaf, (0.9, 0.03, 2.02), (0, -0.015, 0)),), (0.9, 0.03, 2.02))
    number = layout.hang(door, 0.004, support="structure")
    if number is not None:
        layout.kept_free.append(layout.placed[number].pose.at(0, -0.4).footprint(Thing("", (), (1.0, 0.8, 0))))
    for _ in range(int(chance.integers(1, 3))):
        width, height = chance.uniform(0.9, 1.5), chance.uniform(1.0, 1.2)
        pane = Material("window", (0.9, 0.9, 0.88), None)
        window = Thing("window", (slab(pane, (width, 0.02, height), (0, -0.01, 0)),), (width, 0.02, height))
        number = layout.hang(window, 0.95, support="structure")
        if number is None or chance.random() < 0.3:
            continue
        wall, low, high, _, _ = layout.on_walls[-1]
        for at in (low - 0.40, high + 0.40):
            layout.hang(t.curtain(chance, style), 0.25, wall=wall, at_m=at, tries=1)


def _turn(chance: Chance, share: float, most_deg: float) -> float:
    """No turn mostly; else one that is plainly off the axes."""
    if chance.random() > share:
        return 0.0
    return float(chance.choice([-1, 1]) * chance.uniform(9.0, most_deg))


def _bed(layout: Layout) -> None:
    chance = layout.chance
    bed = f.bed(chance, layout.style)
    number = layout.against_wall(bed, turn_deg=_turn(chance, 0.25, 20), tries=60)
    if number is None:
        return
    for side in (-1, 1):
        stand = f.nightstand(chance, layout.style)
        x = side * (bed.size[0] / 2 + 0.13 + stand.size[0] / 2)
        layout.beside(number, stand, (x, bed.size[1] / 2 - stand.size[1] / 2), 0.0)
    for _ in range(int(chance.integers(1, 3))):
        layout.put(number, 0, t.pillow(chance, layout.style))


def _desk(layout: Layout) -> None:
    chance, style = layout.chance, layout.style
    desk = f.desk(chance, style)
    number = layout.against_wall(desk, turn_deg=_turn(chance, 0.3, 25), tries=40)
    if number is None:
        return
    width, depth, _ = desk.size
    seat = f.office_chair(chance, style)
    layout.beside(number, seat, (-0.15, -depth / 2 - 0.42), 180 + chance.uniform(-50, 50))
    layout.beside(number, f.trash_can(chance, style), (chance.choice([-1, 1]) * (width / 2 + 0.30), 0.1), 0.0)
    back = t.monitor_stand(chance, style)
    spot = _spot_at(layout, number, back, (-0.12, depth / 2 - 0.20))
    if spot is not None:
        layout.put(spot, 0, t.monitor(chance, style))
        _spot_at(layout, number, t.keyboard(chance, style), (-0.2, -depth / 2 + 0.13))
        _spot_at(layout, number, t.mouse(chance, style), (0.19, -depth / 2 + 0.13))


def _spot_at(layout: Layout, parent: int, thing: Thing, at: tuple[float, float], spot_number: int = 0) -> int | None:
    """Put a thing at a point of another one's first place, if it is clear there."""
    carrier = layout.placed[parent]
    spot = carrier.thing.spots[spot_number]
    pose = carrier.pose.at(*at, spot.z + 0.002)
    shape = pose.footprint(thing)
    for p in layout.placed:
        if p.parent == parent and shape.distance(p.footprint) < 0.10:
            return None
    layout.placed.append(Placed(thing, pose, "object", parent, spot.kind, spot_number))
    return len(layout.placed) - 1


def _couch(layout: Layout) -> None:
    chance, style = layout.chance, layout.style
    couch = f.couch(chance, style)
    number = layout.against_wall(couch, turn_deg=_turn(chance, 0.3, 25), tries=60)
    if number is None:
        return
    table = f.coffee_table(chance, style)
    away = couch.size[1] / 2 + 0.4 + table.size[1] / 2
    layout.beside(number, table, (chance.uniform(-0.15, 0.15), -away), chance.uniform(-12, 12))
    side = chance.choice([-1, 1])
    layout.beside(number, f.armchair(chance, style), (side * 1.45, -away - 0.1), -side * chance.uniform(50, 85))
    stand = layout.against_wall(f.tv_stand(chance, style), tries=30)
    if stand is not None:
        layout.put(stand, 0, t.tv(chance, style))
    if chance.random() < 0.5:
        layout.free(f.rug(chance, style), yaw_deg=float(chance.choice([0.0, 90.0])) + _turn(chance, 0.4, 25))


def _dining(layout: Layout) -> None:
    chance, style = layout.chance, layout.style
    table = f.dining_table(chance, style)
    width, depth, _ = table.size
    yaw = float(chance.choice([0.0, 90.0])) + _turn(chance, 0.5, 35)
    number = layout.free(table, yaw_deg=yaw, tries=80, apart_m=0.5)
    if number is None:
        return
    out = depth / 2 + 0.22
    places = [(-width / 4, -out, 180.0), (width / 4, -out, 180.0), (-width / 4, out, 0.0), (width / 4, out, 0.0)]
    wanted = int(chance.integers(2, 5))
    for place in chance.permutation(4)[:wanted]:
        x, y, turned = places[place]
        shift = chance.uniform(0.10, 0.25) * np.sign(y)
        layout.beside(number, f.chair(chance, style), (x, y + shift), turned + chance.uniform(-20, 20))


def _round_table(layout: Layout) -> None:
    number = layout.free(f.side_table(layout.chance, layout.style), tries=20, apart_m=0.4)
    if number is None:
        return
    for turned in (0.0, 180.0):
        y = 0.62 if turned == 0.0 else -0.62
        layout.beside(number, f.chair(layout.chance, layout.style), (0.0, y), turned + layout.chance.uniform(-15, 15))


def _kitchen(layout: Layout) -> None:
    layout.against_wall(f.refrigerator(layout.chance, layout.style))
    layout.against_wall(f.stove(layout.chance, layout.style))


def _wardrobe(layout: Layout) -> None:
    layout.against_wall(f.wardrobe(layout.chance, layout.style))


def _dresser(layout: Layout) -> None:
    layout.against_wall(f.dresser(layout.chance, layout.style))


def _cabinet(layout: Layout) -> None:
    layout.against_wall(f.cabinet(layout.chance, layout.style))


def _files(layout: Layout) -> None:
    layout.against_wall(f.file_cabinet(layout.chance, layout.style))


def _shelves(layout: Layout) -> None:
    number = layout.against_wall(f.bookshelf(layout.chance, layout.style))
    if number is None:
        return
    for spot, place in enumerate(layout.placed[number].thing.spots):
        if place.role == "shelf" and layout.chance.random() < 0.6:
            recipe = t.books if layout.chance.random() < 0.5 else t.standing_book
            layout.put(number, spot, recipe(layout.chance, layout.style))


def _bench(layout: Layout) -> None:
    layout.against_wall(f.bench(layout.chance, layout.style))


def _side_table(layout: Layout) -> None:
    layout.free(f.side_table(layout.chance, layout.style), tries=20)


def _stool(layout: Layout) -> None:
    layout.free(f.stool(layout.chance, layout.style), tries=20)


def _ottoman(layout: Layout) -> None:
    layout.free(f.ottoman(layout.chance, layout.style), tries=20)


def _armchair(layout: Layout) -> None:
    layout.against_wall(
        f.armchair(layout.chance, layout.style),
        turn_deg=float(layout.chance.choice([-1, 1])) * layout.chance.uniform(20, 45),
    )


def _corners(layout: Layout, count: int) -> None:
    """Things that stand about, mostly along the walls and turned anyhow."""
    chance = layout.chance
    recipes = [
        f.floor_lamp, f.plant, f.basket, f.box, f.laundry_hamper, f.suitcase, f.backpack, f.fan, f.guitar, f.radiator,
        f.trash_can, f.stool,
    ]  # fmt: skip
    for number in chance.permutation(len(recipes))[: count + 1]:
        thing = recipes[number](chance, layout.style)
        if thing.label == "radiator":
            layout.against_wall(thing)
        elif layout.against_wall(thing, turn_deg=0.0 if thing.is_round else float(chance.uniform(-40, 40))) is None:
            layout.free(thing, tries=15)
    for number, placed in list(layout.standing()):
        if placed.thing.spots and placed.thing.spots[0].role == "inside":
            menu = t.MENUS.get(placed.thing.label, t.ROLE_MENUS["inside"])
            layout.put(number, 0, menu[chance.integers(len(menu))](chance, layout.style))


def _walls(layout: Layout, count: int) -> None:
    chance, style = layout.chance, layout.style
    recipes = [
        (t.picture, 1.30), (t.picture, 1.45), (t.mirror, 1.05), (t.whiteboard, 0.95), (t.clock, 1.75),
        (t.wall_cabinet, 1.45), (t.wall_shelf, 1.20), (t.wall_shelf, 1.1),
    ]  # fmt: skip
    for number in chance.permutation(len(recipes))[:count]:
        recipe, z = recipes[number]
        layout.hang(recipe(chance, style), z + float(chance.uniform(-0.05, 0.1)))


def _is_looked_down_on(placed: Placed) -> bool:
    """True if a camera sees all around what stands on it."""
    return placed.thing.label == "dining table" or placed.thing.spots[-1].z <= 0.6


def _long_chain(layout: Layout) -> None:
    """Table, tray, plate, cup: three links, before the tops are full."""
    chance, style = layout.chance, layout.style
    good = [
        (i, p)
        for i, p in enumerate(layout.placed)
        if p.thing.spots
        and p.thing.label
        in ("dining table", "coffee table", "dresser", "cabinet", "bed", "ottoman", "bench", "tv stand", "desk")
    ]
    good.sort(key=lambda item: not _is_looked_down_on(item[1]))
    low = sum(_is_looked_down_on(p) for _, p in good)
    made = 0
    for order in [*chance.permutation(low), *range(low, len(good))]:  # what is looked down on comes first
        number, placed = good[order]
        spot = len(placed.thing.spots) - 1
        tray = layout.put(number, spot, t.tray(chance, style))
        if tray is None:
            continue
        middle = layout.put(tray, 0, (t.plate if chance.random() < 0.6 else t.bowl)(chance, style))
        if middle is not None:
            menu = t.MENUS[layout.placed[middle].thing.label]
            layout.put(middle, 0, menu[chance.integers(len(menu))](chance, style))
        made += 1
        if made >= (2 if layout.room.polygon.area > 24 and chance.random() < 0.4 else 1):
            return


def _fill(layout: Layout, target: int) -> None:
    """Put things from the menus on what has room, one at a time, new labels first, until the target."""
    chance = layout.chance
    for _ in range(12 * target):
        if _count(layout) >= target:
            return
        number = int(chance.integers(len(layout.placed)))
        placed = layout.placed[number]
        if not placed.thing.spots:
            continue
        spot_number = int(chance.integers(len(placed.thing.spots)))
        spot = placed.thing.spots[spot_number]
        role = spot.role
        menu = t.ROLE_MENUS[role] if role in t.ROLE_MENUS else t.MENUS.get(placed.thing.label, ())
        if not menu:
            continue
        thing = menu[chance.integers(len(menu))](chance, layout.style)
        seen = sum(1 for p in layout.placed if p.thing.label == thing.label)
        if seen and chance.random() < 1.0 - 0.35**seen:
            continue
        layout.put(number, spot_number, thing)


def _clutter(layout: Layout) -> None:
    """Things that nobody annotated, and one that got no better name than object. None of them looks like anything that
    has a name: a box without a label would make "the box" mean two things, and no file would say so."""
    chance, style = layout.chance, layout.style
    layout.free(t.odd_object(chance, style), tries=15)
    recipes = (t.odd_object, t.odd_bit)
    for _ in range(int(chance.integers(2, 5))):
        layout.free(recipes[chance.integers(len(recipes))](chance, style).unlabelled(), tries=12)
    tops = [i for i, p in layout.standing() if p.thing.spots and p.thing.spots[-1].role == "top"]
    if tops:
        number = tops[chance.integers(len(tops))]
        spot = len(layout.placed[number].thing.spots) - 1
        layout.put(number, spot, t.odd_bit(chance, style).unlabelled())
