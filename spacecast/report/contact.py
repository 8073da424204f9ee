"""A contact sheet: some questions of a benchmark on one picture, each with its picture, options and answer."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from spacecast.dataset.chance import generator
from spacecast.dataset.reader import Benchmark
from spacecast.dataset.rows import Row
from spacecast.files import write_whole
from spacecast.report.overlay import DrawnBox, boxes_of, role_word

# Pillow's own font has no Chinese; these are where systems keep one that has.
CHINESE_FONTS = (
    "NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
    "/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc",
    "/System/Library/Fonts/PingFang.ttc",
    "msyh.ttc",
)
NO_CHINESE_FONT = "(Chinese text: no font for it on this machine; install fonts-noto-cjk)"


@dataclass(frozen=True)
class ContactSettings:
    """Sizes in pixels."""

    columns: int = 4
    tile_width_px: int = 460
    picture_height_px: int = 345
    columns_of_pictures: tuple[int, ...] = (1, 2, 2, 2, 3, 3, 4, 4)
    """How many stand side by side where a question shows one, two, three ... pictures."""
    gap_px: int = 4
    """Between them."""
    margin_px: int = 14
    font_px: int = 17


SETTINGS = ContactSettings()

_INK, _MUTED, _RIGHT, _RIGHT_PAPER, _PAPER, _TILE = "#1d2330", "#667085", "#0b6b3a", "#dff3e6", "#eef0f4", "#ffffff"
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


def write_contact_sheet(benchmark: str | Path | Benchmark, path: str | Path, count: int = 12, seed: int = 0) -> None:
    """Draw some questions, spread over types and scenes, and write them as one PNG.

    Args:
        benchmark: the dataset or its folder.
        path: file to write.
        count: how many questions.
        seed: which of them; the same seed draws the same picture.

    Raises:
        InputError: the benchmark cannot be read.
    """
    data = benchmark if isinstance(benchmark, Benchmark) else Benchmark.open(benchmark)
    tiles = [_tile(data, row) for row in sample(data.rows, count, seed)]
    columns = min(SETTINGS.columns, len(tiles))
    margin = SETTINGS.margin_px
    rows = [tiles[start : start + columns] for start in range(0, len(tiles), columns)]
    heights = [max(tile.height for tile in row) for row in rows]
    sheet = Image.new(
        "RGB",
        (columns * (SETTINGS.tile_width_px + margin) + margin, sum(heights) + margin * (len(rows) + 1)),
        _PAPER,
    )
    top = margin
    for row, height in zip(rows, heights, strict=True):
        for column, tile in enumerate(row):
            left = margin + column * (SETTINGS.tile_width_px + margin)
            sheet.paste(_TILE, (left, top, left + SETTINGS.tile_width_px, top + height))
            sheet.paste(tile, (left, top))
        top += height + margin
    with write_whole(Path(path)) as aside:
        sheet.save(aside, format="PNG")


def sample(rows: Sequence[Row], count: int, seed: int) -> list[Row]:
    """Questions by turns from every type, from scenes not yet taken where there are such; ordered by type."""
    rng = generator("contact sheet", seed)
    left: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.question_uid):
        left.setdefault(row.category, []).append(row)
    for name in sorted(left):
        left[name] = [left[name][i] for i in rng.permutation(len(left[name]))]
    taken: list[Row] = []
    used: dict[str, int] = {}
    while len(taken) < count and any(left.values()):
        for name in sorted(left):
            if left[name] and len(taken) < count:
                row = min(left[name], key=lambda row: used.get(row.scene_id, 0))
                left[name].remove(row)
                used[row.scene_id] = used.get(row.scene_id, 0) + 1
                taken.append(row)
    return sorted(taken, key=lambda row: row.category)


def _tile(data: Benchmark, row: Row) -> Image.Image:
    width, pad = SETTINGS.tile_width_px, SETTINGS.margin_px
    text = [row.question, *row.options]
    font, small, bold, has_chinese = _fonts(text)
    measure = ImageDraw.Draw(Image.new("RGB", (1, 1)))
    inner = width - 2 * pad
    question = wrapped(row.question if has_chinese else NO_CHINESE_FONT, font, inner, measure)
    values = [str(option["value"]) for option in row.facts["options"]]
    shown = row.options if has_chinese else tuple(values)
    options = [
        (
            label in row.answer,
            wrapped(f"{label}.  {option}", bold if label in row.answer else font, inner - 16, measure),
        )
        for label, option in zip(row.option_labels, shown, strict=True)
    ]
    line = SETTINGS.font_px + 6
    pictures = [picture.decoded().convert("RGB") for picture in data.pictures(row.question_uid)]
    shown_px, cells = _cells(len(pictures))
    height = shown_px + 2 * pad + line * (1 + len(question)) + 8
    height += sum(line * len(lines) + 6 for _, lines in options) + pad // 2
    tile = Image.new("RGB", (width, height), _TILE)
    draw = ImageDraw.Draw(tile)
    tile.paste("#20242e", (0, 0, width, shown_px))
    if len(pictures) > 1:
        views = row.facts["views"]
        pictures = [
            _numbered(picture, view, number, boxes, cell[2:])
            for number, (picture, view, boxes, cell) in enumerate(
                zip(pictures, views, boxes_of(row.facts), cells, strict=True), 1
            )
        ]
    for picture, (left, top, cell_width, cell_height) in zip(pictures, cells, strict=True):
        _paste(tile, picture, left=left, top=top, width=cell_width, height=cell_height)
    y = shown_px + pad
    draw.text((pad, y), f"{row.category}  ·  {row.scene_id}", font=small, fill=_MUTED)
    y += line
    for part in question:
        draw.text((pad, y), part, font=font, fill=_INK)
        y += line
    y += 8
    for right, lines in options:
        box = (pad, y - 2, width - pad, y + line * len(lines) + 1)
        if right:
            draw.rounded_rectangle(box, radius=5, fill=_RIGHT_PAPER)
            draw.rectangle((pad, y - 2, pad + 4, y + line * len(lines) + 1), fill=_RIGHT)
        for part in lines:
            draw.text((pad + 12, y), part, font=bold if right else font, fill=_RIGHT if right else _INK)
            y += line
        y += 6
    return tile


def _cells(count: int) -> tuple[int, list[tuple[int, int, int, int]]]:
    """Height of all pictures of a tile, and (left, top, width, height) of each, in walking order."""
    width, height, gap = SETTINGS.tile_width_px, SETTINGS.picture_height_px, SETTINGS.gap_px
    columns = SETTINGS.columns_of_pictures[min(count, len(SETTINGS.columns_of_pictures)) - 1]
    each = (width - gap * (columns - 1)) // columns
    high = round(height * each / width)
    places = [((n % columns) * (each + gap), (n // columns) * (high + gap), each, high) for n in range(count)]
    return places[-1][1] + high, places


def _numbered(
    picture: Image.Image, view: Mapping[str, Any], number: int, boxes: Sequence[DrawnBox], size: tuple[int, int]
) -> Image.Image:
    """One of several pictures: what the question says that it shows is outlined and named, and its number and role."""
    scale = min(size[0] / picture.width, size[1] / picture.height)
    small = picture.resize(
        (max(1, round(picture.width * scale)), max(1, round(picture.height * scale))), Image.Resampling.LANCZOS
    )
    draw = ImageDraw.Draw(small)
    font = _default(SETTINGS.font_px - 6)
    across, down = small.width / view["width"], small.height / view["height"]
    for box in boxes:
        if box.is_told:
            for x1, y1, x2, y2 in box.lines:
                draw.line((x1 * across, y1 * down, x2 * across, y2 * down), fill=box.color, width=2)
    for box in boxes:
        if box.is_told and box.place:
            at = (box.place[0] * across, box.place[1] * down)
            side = {"start": "l", "middle": "m", "end": "r"}[box.anchor]
            draw.text(at, box.label, font=font, fill=box.color, anchor=f"{side}m", stroke_width=2, stroke_fill="#fff")
    is_main = view["role"].startswith("main")
    text = f"{number}  {role_word(view['role'])}" if is_main else str(number)
    left, top, right, bottom = draw.textbbox((5, small.height - 5), text, font=font, anchor="lb")
    draw.rectangle((left - 4, top - 3, right + 4, bottom + 3), fill="#20242e")
    draw.text((5, small.height - 5), text, font=font, fill="#fff", anchor="lb")
    return small


def _paste(tile: Image.Image, picture: Image.Image, *, left: int, top: int, width: int, height: int) -> None:
    """The picture, whole, in the middle of a space."""
    scale = min(width / picture.width, height / picture.height)
    size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    tile.paste(
        picture.resize(size, Image.Resampling.LANCZOS),
        (left + (width - size[0]) // 2, top + (height - size[1]) // 2),
    )


def _fonts(texts: Sequence[str]) -> tuple[Font, Font, Font, bool]:
    """Fonts for text, small print and what is right; and whether they have all of the text's letters."""
    size = SETTINGS.font_px
    if not any(_is_chinese(char) for text in texts for char in text):
        return _default(size), _default(size - 3), _default(size), True
    for name in CHINESE_FONTS:
        try:
            font, small = ImageFont.truetype(name, size), ImageFont.truetype(name, size - 3)
        except OSError:
            continue
        return font, small, font, True
    return _default(size), _default(size - 3), _default(size), False


def _default(size: int) -> Font:
    return ImageFont.load_default(size=size)


def _is_chinese(char: str) -> bool:
    return unicodedata.east_asian_width(char) in ("W", "F")


def wrapped(text: str, font: Font, width: int, draw: ImageDraw.ImageDraw) -> list[str]:
    """Lines no wider than so many pixels; broken at spaces, Chinese anywhere, a word that is too long where it must."""
    lines: list[str] = []
    line = ""
    for part in _pieces(text):
        if draw.textlength((line + part).rstrip(), font=font) <= width or not line.strip():
            line += part
        else:
            lines.append(line.rstrip())
            line = part.lstrip()
        while draw.textlength(line.rstrip(), font=font) > width and len(line) > 1:
            cut = next(
                n for n in range(len(line) - 1, 0, -1) if n == 1 or draw.textlength(line[:n], font=font) <= width
            )
            lines.append(line[:cut])
            line = line[cut:]
    return [*lines, line.rstrip()] if line.strip() or not lines else lines


def _pieces(text: str) -> list[str]:
    pieces = [""]
    for char in " ".join(text.split()):
        if _is_chinese(char):
            pieces += [char, ""]
        elif char == " ":
            pieces[-1] += char
            pieces.append("")
        else:
            pieces[-1] += char
    return [piece for piece in pieces if piece]
