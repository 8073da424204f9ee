"""Painted squares for the surfaces of demo scans: wood, cloth, screens, book spines, pictures.

A texture is (SIZE, SIZE, 3) float32 albedo in [0, 1]; row 0 is at v = 0, the lower edge of a standing face.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from scannet_tools.demo.shapes import Material
from spacecast.dataset.chance import generator

SIZE = 256
Texture = NDArray[np.float32]
Chance = np.random.Generator


def _grid() -> tuple[Texture, Texture]:
    steps = (np.arange(SIZE, dtype=np.float32) + 0.5) / SIZE
    u, v = np.meshgrid(steps, steps)
    return u.astype(np.float32), v.astype(np.float32)


def _noise(chance: Chance, cells: int, octaves: int = 3) -> Texture:
    """Smooth noise of mean 0 and spread about 1 that repeats at the borders."""
    total = np.zeros((SIZE, SIZE), dtype=np.float32)
    for octave in range(octaves):
        count = min(cells << octave, SIZE)
        values = chance.normal(size=(count, count)).astype(np.float32)
        at = np.arange(SIZE, dtype=np.float32) * count / SIZE
        low = at.astype(int) % count
        part = (at - np.floor(at)).astype(np.float32)
        part = part * part * (3 - 2 * part)
        rows = values[low] * (1 - part)[:, None] + values[(low + 1) % count] * part[:, None]
        total += (rows[:, low] * (1 - part) + rows[:, (low + 1) % count] * part) * 0.6**octave
    return total


def _tint(material: Material, factor: Texture) -> Texture:
    return np.clip(np.asarray(material.color, np.float32) * factor[..., None], 0.0, 1.0)


def _plain(material: Material, chance: Chance) -> Texture:
    grain = chance.normal(size=(SIZE, SIZE)).astype(np.float32)
    return _tint(material, 1.0 + 0.022 * _noise(chance, 5) + 0.05 * _noise(chance, 100, 1) + 0.04 * grain)


def _wood(material: Material, chance: Chance) -> Texture:
    u, v = _grid()
    warp = _noise(chance, 4)
    rings = np.sin(2 * np.pi * (v * 9 + 0.22 * warp + 0.08 * np.sin(2 * np.pi * u)))
    fibre = np.repeat(_noise(chance, 32, 2)[:, ::16], 16, axis=1)
    return _tint(material, 0.96 + 0.06 * rings + 0.05 * fibre + 0.02 * _noise(chance, 128, 1))


def _planks(material: Material, chance: Chance) -> Texture:
    u, v = _grid()
    rows = 6
    row = np.floor(v * rows)
    shade = chance.normal(1.0, 0.13, size=(rows, 2)).astype(np.float32)
    half = ((u + row * 0.37) % 1.0 > 0.5).astype(int)
    factor = shade[row.astype(int), half]
    seam = ((v * rows) % 1.0 < 0.035) | (np.abs((u + row * 0.37) % 0.5) < 0.006)
    return _tint(material, np.where(seam, 0.45, factor * (0.95 + 0.09 * _wood(_white(), chance)[..., 0])))


def _white() -> Material:
    return Material("plain", (1.0, 1.0, 1.0))


def _cloth(material: Material, chance: Chance) -> Texture:
    u, v = _grid()
    weave = np.sin(2 * np.pi * 42 * u) * np.sin(2 * np.pi * 42 * v)
    return _tint(material, 0.95 + 0.13 * weave + 0.06 * _noise(chance, 6))


def _carpet(material: Material, chance: Chance) -> Texture:
    return _tint(material, 0.95 + 0.16 * _noise(chance, 64, 2) + 0.05 * _noise(chance, 4))


def _stripes(material: Material, chance: Chance) -> Texture:
    u, _ = _grid()
    band = ((u * 5) % 1.0 < 0.45)[..., None]
    colors = np.where(band, np.asarray(material.accent, np.float32), np.asarray(material.color, np.float32))
    return np.clip(colors * (0.95 + 0.08 * _noise(chance, 32, 2))[..., None], 0, 1)


def _checker(material: Material, chance: Chance) -> Texture:
    u, v = _grid()
    dark = ((np.floor(u * 4) + np.floor(v * 4)) % 2 == 0)[..., None]
    colors = np.where(dark, np.asarray(material.accent, np.float32), np.asarray(material.color, np.float32))
    return np.clip(colors * (0.97 + 0.05 * _noise(chance, 16, 2))[..., None], 0, 1)


def _tiles(material: Material, chance: Chance) -> Texture:
    u, v = _grid()
    joint = ((u * 3) % 1.0 < 0.03) | ((v * 3) % 1.0 < 0.03)
    shade = chance.normal(1.0, 0.05, size=(3, 3)).astype(np.float32)
    factor = shade[(v * 3).astype(int), (u * 3).astype(int)] * (1 + 0.04 * _noise(chance, 12))
    return _tint(material, np.where(joint, 0.6, factor))


def _rug(material: Material, chance: Chance) -> Texture:
    u, v = _grid()
    edge = np.minimum(np.minimum(u, 1 - u), np.minimum(v, 1 - v))
    diamonds = (np.abs(((u * 6) % 1.0) - 0.5) + np.abs(((v * 4) % 1.0) - 0.5)) < 0.3
    accent = ((edge > 0.05) & (edge < 0.09)) | (diamonds & (edge > 0.12))
    colors = np.where(
        accent[..., None], np.asarray(material.accent, np.float32), np.asarray(material.color, np.float32)
    )
    return np.clip(colors * (0.95 + 0.14 * _noise(chance, 64, 2))[..., None], 0, 1)


def _books(material: Material, chance: Chance) -> Texture:
    picture = np.full((SIZE, SIZE, 3), 0.12, dtype=np.float32)
    at = 0
    while at < SIZE:
        width = int(chance.integers(14, 30))
        color = chance.uniform(0.12, 0.85, size=3).astype(np.float32)
        picture[:, at : at + width - 1] = color
        title = int(chance.integers(60, 150))
        picture[title : title + 60, at + width // 3 : at + width // 3 + 4] = np.clip(1.0 - color, 0, 1)
        picture[20:28, at : at + width - 1] *= 0.55
        at += width
    return picture


def _book(material: Material, chance: Chance) -> Texture:
    picture = _plain(material, chance)
    picture[150:205, 50:206] = np.clip(np.asarray(material.accent, np.float32), 0, 1)
    picture[60:72, 80:176] *= 0.4
    picture[40:48, 100:156] *= 0.4
    return picture


def _screen(material: Material, chance: Chance) -> Texture:
    picture = np.empty((SIZE, SIZE, 3), dtype=np.float32)
    picture[:] = np.linspace(0.25, 0.5, SIZE, dtype=np.float32)[:, None, None] * np.asarray((0.5, 0.9, 1.5), np.float32)
    for _ in range(3):
        x, y = chance.integers(20, 130, size=2)
        w, h = chance.integers(70, 110, size=2)
        picture[y : y + h, x : x + w] = 0.92
        for line in range(y + 8, y + h - 14, 9):
            picture[line : line + 3, x + 6 : x + 6 + int(chance.integers(25, w - 10))] = 0.25
        picture[y + h - 10 : y + h, x : x + w] = chance.uniform(0.2, 0.8, size=3)
    picture[:14] = 0.08
    return _framed(picture, (0.03, 0.03, 0.035), 8)


def _framed(picture: Texture, color: tuple[float, float, float], width_px: int) -> Texture:
    framed = picture.copy()
    for part in (
        framed[:width_px],
        framed[-width_px:],
        framed[:, :width_px],
        framed[:, -width_px:],
    ):
        part[:] = color
    return framed


def _keys(material: Material, chance: Chance) -> Texture:
    u, v = _grid()
    key = ((u * 15 + 0.3 * np.floor(v * 5)) % 1.0 > 0.18) & ((v * 5) % 1.0 > 0.2)
    key &= (u > 0.03) & (u < 0.97) & (v > 0.04) & (v < 0.96)
    colors = np.where(key[..., None], np.asarray(material.accent, np.float32), np.asarray(material.color, np.float32))
    return np.clip(colors + 0.02 * _noise(chance, 64, 1)[..., None], 0, 1)


def _picture(material: Material, chance: Chance) -> Texture:
    u, v = _grid()
    if chance.random() < 0.5:  # a landscape
        hills = 0.35 + 0.12 * np.sin(2 * np.pi * (u * chance.uniform(0.8, 1.6) + chance.random()))
        near = 0.18 + 0.08 * np.sin(2 * np.pi * (u * chance.uniform(1.2, 2.2) + chance.random()))
        sky = np.stack([0.95 - 0.5 * v, 0.75 - 0.15 * v, 0.6 + 0.3 * v], axis=-1)
        picture = np.where((v < hills)[..., None], np.asarray((0.25, 0.42, 0.33), np.float32), sky)
        picture = np.where((v < near)[..., None], np.asarray(material.color, np.float32), picture)
        sun = (u - chance.uniform(0.2, 0.8)) ** 2 + (v - 0.75) ** 2 < 0.006
        picture = np.where(sun[..., None], np.asarray((1.0, 0.93, 0.7), np.float32), picture)
    else:  # coloured shapes
        picture = np.full((SIZE, SIZE, 3), 0.88, dtype=np.float32)
        for _ in range(9):
            x, y, r = chance.uniform(0.1, 0.9), chance.uniform(0.1, 0.9), chance.uniform(0.06, 0.2)
            inside = (
                (np.abs(u - x) < r) & (np.abs(v - y) < r * 0.7)
                if chance.random() < 0.5
                else (u - x) ** 2 + (v - y) ** 2 < r * r
            )
            picture[inside] = chance.uniform(0.1, 0.9, size=3)
    speckled = picture * (1 + 0.05 * _noise(chance, 32, 2))[..., None]
    return _framed(np.clip(speckled, 0, 1).astype(np.float32), material.accent, 16)


def _board(material: Material, chance: Chance) -> Texture:
    picture = np.full((SIZE, SIZE, 3), 0.93, dtype=np.float32)
    for row in range(60, 220, 26):
        x = 24
        while x < 220:
            length = int(chance.integers(8, 34))
            ink = (0.1, 0.15, 0.6) if chance.random() < 0.7 else (0.7, 0.1, 0.1)
            wobble = (3 * np.sin(np.arange(length) * 0.9)).astype(int)
            for step, shift in enumerate(wobble):
                if x + step < 232:
                    picture[row + shift : row + shift + 3, x + step] = ink
            x += length + 9
    return _framed(picture, (0.55, 0.56, 0.58), 7)


def _clock(material: Material, chance: Chance) -> Texture:
    u, v = _grid()
    x, y = u - 0.5, v - 0.5
    radius, angle = np.hypot(x, y), np.arctan2(x, y)
    picture = np.where((radius < 0.44)[..., None], np.float32(0.95), np.asarray(material.color, np.float32))
    ticks = (radius > 0.34) & (radius < 0.42) & (np.abs(np.sin(angle * 6)) < 0.22)
    for turn, length in ((chance.uniform(-3, 3), 0.32), (chance.uniform(-3, 3), 0.22)):
        along, across = x * np.sin(turn) + y * np.cos(turn), x * np.cos(turn) - y * np.sin(turn)
        ticks |= (along > 0) & (along < length) & (np.abs(across) < 0.018)
    return np.where(ticks[..., None], np.float32(0.05), picture).astype(np.float32)


def _window(material: Material, chance: Chance) -> Texture:
    u, v = _grid()
    sky = np.stack([0.62 + 0.2 * (1 - v), 0.78 + 0.1 * (1 - v), np.full_like(v, 0.98)], axis=-1)
    clouds = np.clip(0.5 * _noise(chance, 3, 4), 0, 0.8)[..., None]
    picture = sky * (1 - clouds) + clouds
    trees = v < 0.3 + 0.06 * _noise(chance, 8, 2)
    picture = np.where(trees[..., None], np.asarray((0.25, 0.4, 0.2), np.float32), picture)
    bars = (np.abs(u - 0.5) < 0.02) | (np.abs(v - 0.62) < 0.018)
    picture = np.where(bars[..., None], np.asarray(material.color, np.float32), picture)
    return _framed(picture.astype(np.float32), material.color, 12)


def _panels(material: Material, chance: Chance) -> Texture:
    """A door with panels and a handle, or a cupboard's front."""
    u, v = _grid()
    shade = 1 + 0.03 * _noise(chance, 24, 2)
    for low, high in ((0.06, 0.46), (0.54, 0.94)):
        for left, right in ((0.10, 0.46), (0.54, 0.90)):
            edge = np.minimum(np.minimum(u - left, right - u) * 0.6, np.minimum(v - low, high - v))
            shade = np.where((edge > 0) & (edge < 0.012), 0.62, shade)
    picture = _tint(material, shade.astype(np.float32))
    picture[118:126, 12:30] = np.asarray(material.accent, np.float32)
    return picture


def _drawers(material: Material, chance: Chance) -> Texture:
    u, v = _grid()
    picture = _wood(material, chance)
    rows = 3
    across = (v * rows) % 1.0
    seam = (across < 0.035) | (across > 0.965) | (u < 0.02) | (u > 0.98)
    picture[seam] *= 0.4
    knob = (np.hypot((u - 0.5) * 2.2, (across - 0.5) * 0.9) < 0.07) & ~seam
    picture[knob] = np.asarray(material.accent, np.float32)
    return picture


def _doors(material: Material, chance: Chance) -> Texture:
    u, v = _grid()
    picture = _wood(material, chance)
    across = (u * 2) % 1.0
    seam = (across < 0.02) | (across > 0.98) | (v < 0.015) | (v > 0.985)
    picture[seam] *= 0.4
    knob = (np.abs(np.abs(u - 0.5) - 0.05) < 0.012) & (np.abs(v - 0.5) < 0.06)
    picture[knob] = np.asarray(material.accent, np.float32)
    return picture


def _grille(material: Material, chance: Chance) -> Texture:
    u, _ = _grid()
    return _tint(material, np.where((u * 14) % 1.0 < 0.3, 0.62, 1.0) + 0.03 * _noise(chance, 16, 1))


def _mirror(material: Material, chance: Chance) -> Texture:
    u, v = _grid()
    shine = 0.62 + 0.16 * np.sin(2 * np.pi * (0.7 * u + 0.9 * v)) + 0.02 * _noise(chance, 8, 2)
    picture = np.stack([shine * 0.95, shine, shine * 1.05], axis=-1).astype(np.float32)
    return _framed(np.clip(picture, 0, 1), material.accent, 14)


def _fur(material: Material, chance: Chance) -> Texture:
    return _tint(material, 0.92 + 0.22 * _noise(chance, 48, 2))


def _leaves(material: Material, chance: Chance) -> Texture:
    return _tint(material, 0.9 + 0.4 * _noise(chance, 20, 2))


def _label(material: Material, chance: Chance) -> Texture:
    """A box or a bottle with something printed on it."""
    picture = _plain(material, chance)
    picture[90:180, 40:216] = np.asarray(material.accent, np.float32)
    for row in range(104, 168, 14):
        picture[row : row + 5, 60 : 60 + int(chance.integers(50, 130))] = 0.15
    return picture


PAINTERS: dict[str, Callable[[Material, Chance], Texture]] = {
    "plain": _plain,
    "wood": _wood,
    "planks": _planks,
    "cloth": _cloth,
    "carpet": _carpet,
    "stripes": _stripes,
    "checker": _checker,
    "tiles": _tiles,
    "rug": _rug,
    "books": _books,
    "book": _book,
    "screen": _screen,
    "keys": _keys,
    "picture": _picture,
    "board": _board,
    "clock": _clock,
    "window": _window,
    "panels": _panels,
    "drawers": _drawers,
    "doors": _doors,
    "grille": _grille,
    "mirror": _mirror,
    "fur": _fur,
    "leaves": _leaves,
    "label": _label,
}


def painted(materials: list[Material], *key: str | int) -> Texture:
    """(len(materials), SIZE, SIZE, 3) float32 albedo; each depends on the key, the material and its place alone."""
    pictures = [
        PAINTERS[material.kind](material, generator("texture", *key, number, material.kind))
        for number, material in enumerate(materials)
    ]
    return np.stack(pictures).astype(np.float32)
