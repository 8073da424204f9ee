"""The label map of demo scans, in the columns of ScanNet's: our own rows for our own labels.

Classes are those of NYU40 and of Matterport's 40 (``mpcat40``); synsets are WordNet 3.0's, left empty where we are not
sure of one.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from spacecast.files import write_whole

FILE_NAME = "scannetv2-labels.combined.tsv"
COLUMNS = (
    "id", "raw_category", "category", "count", "nyu40id", "eigen13id", "nyuClass", "nyu40class", "eigen13class",
    "ModelNet40", "ModelNet10", "ShapeNetCore55", "synsetoffset", "wnsynsetid", "wnsynsetkey", "mpcat40",
    "mpcat40index",
)  # fmt: skip


class LabelRow(NamedTuple):
    """One label of the demo."""

    label: str
    nyu40id: int
    nyu40class: str
    mpcat40: str
    mpcat40index: int
    synset: str = ""
    category: str = ""
    """Empty where it is the label itself."""


LABELS = (
    LabelRow("wall", 1, "wall", "wall", 1, "n04546855"),
    LabelRow("floor", 2, "floor", "floor", 2, "n03365592"),
    LabelRow("ceiling", 22, "ceiling", "ceiling", 17, "n02990373"),
    LabelRow("door", 8, "door", "door", 4, "n03221720"),
    LabelRow("window", 9, "window", "window", 9, "n04587648"),
    LabelRow("apple", 40, "otherprop", "objects", 39, "n07739125"),
    LabelRow("armchair", 5, "chair", "chair", 3, "n02738535"),
    LabelRow("backpack", 40, "otherprop", "objects", 39, "n02769748"),
    LabelRow("ball", 40, "otherprop", "objects", 39),
    LabelRow("basket", 40, "otherprop", "objects", 39, "n02801938"),
    LabelRow("bed", 4, "bed", "bed", 11, "n02818832"),
    LabelRow("bench", 39, "otherfurniture", "seating", 34, "n02828884"),
    LabelRow("blanket", 40, "otherprop", "objects", 39),
    LabelRow("book", 23, "books", "objects", 39, "n02870526"),
    LabelRow("books", 23, "books", "objects", 39, "n02870526", "book"),
    LabelRow("bookshelf", 10, "bookshelf", "shelving", 31, "n02871439"),
    LabelRow("bottle", 40, "otherprop", "objects", 39, "n02876657"),
    LabelRow("bowl", 40, "otherprop", "objects", 39),
    LabelRow("box", 29, "box", "objects", 39, "n02883344"),
    LabelRow("cabinet", 3, "cabinet", "cabinet", 7, "n02933112"),
    LabelRow("candle", 40, "otherprop", "objects", 39, "n02948072"),
    LabelRow("chair", 5, "chair", "chair", 3, "n03001627"),
    LabelRow("clock", 40, "otherprop", "objects", 39, "n03046257"),
    LabelRow("coffee table", 7, "table", "table", 5, "n03063968"),
    LabelRow("couch", 6, "sofa", "sofa", 10, "n04256520"),
    LabelRow("cup", 40, "otherprop", "objects", 39, "n03147509"),
    LabelRow("curtain", 16, "curtain", "curtain", 12, "n03151077"),
    LabelRow("cushion", 18, "pillow", "cushion", 8, "n03151500"),
    LabelRow("desk", 14, "desk", "table", 5, "n03179701"),
    LabelRow("desk lamp", 35, "lamp", "lighting", 28),
    LabelRow("dining table", 7, "table", "table", 5, "n03201208"),
    LabelRow("dresser", 17, "dresser", "chest_of_drawers", 13, "n03015254"),
    LabelRow("fan", 40, "otherprop", "misc", 40, "n03320046"),
    LabelRow("file cabinet", 3, "cabinet", "cabinet", 7, "n03337140"),
    LabelRow("floor lamp", 35, "lamp", "lighting", 28, "n03367059"),
    LabelRow("globe", 40, "otherprop", "objects", 39),
    LabelRow("guitar", 40, "otherprop", "objects", 39, "n03467517"),
    LabelRow("jar", 40, "otherprop", "objects", 39, "n03593526"),
    LabelRow("keyboard", 40, "otherprop", "objects", 39, "n03085013"),
    LabelRow("lamp", 35, "lamp", "lighting", 28, "n03636649"),
    LabelRow("laptop", 40, "otherprop", "objects", 39, "n03642806"),
    LabelRow("laundry hamper", 40, "otherprop", "objects", 39, category="basket"),
    LabelRow("microwave", 40, "otherprop", "appliances", 37, "n03761084"),
    LabelRow("mirror", 19, "mirror", "mirror", 21, "n03773035"),
    LabelRow("monitor", 40, "otherprop", "tv_monitor", 22, "n03782190"),
    LabelRow("monitor stand", 40, "otherprop", "objects", 39),
    LabelRow("mouse", 40, "otherprop", "objects", 39, "n03793489"),
    LabelRow("nightstand", 32, "night stand", "chest_of_drawers", 13),
    LabelRow("object", 40, "otherprop", "objects", 39),
    LabelRow("office chair", 5, "chair", "chair", 3, "n04373704"),
    LabelRow("ottoman", 39, "otherfurniture", "stool", 19, "n03380724"),
    LabelRow("paper", 40, "otherprop", "objects", 39),
    LabelRow("picture", 11, "picture", "picture", 6, "n03931044"),
    LabelRow("pillow", 18, "pillow", "cushion", 8, "n03938244"),
    LabelRow("plant", 40, "otherprop", "plant", 14, "n00017222"),
    LabelRow("plate", 40, "otherprop", "objects", 39, "n03959485"),
    LabelRow("potted plant", 40, "otherprop", "plant", 14),
    LabelRow("printer", 40, "otherprop", "appliances", 37, "n04004475"),
    LabelRow("radiator", 39, "otherfurniture", "misc", 40, "n04041069"),
    LabelRow("refrigerator", 24, "refridgerator", "appliances", 37, "n04070727"),
    LabelRow("rug", 20, "floor mat", "floor", 2, "n04118021"),
    LabelRow("shelf", 15, "shelves", "shelving", 31, "n04190052"),
    LabelRow("side table", 7, "table", "table", 5),
    LabelRow("speaker", 40, "otherprop", "objects", 39, "n03691459"),
    LabelRow("stool", 40, "otherprop", "stool", 19, "n04326896"),
    LabelRow("stove", 38, "otherstructure", "appliances", 37, "n04330267"),
    LabelRow("stuffed animal", 40, "otherprop", "objects", 39),
    LabelRow("suitcase", 40, "otherprop", "objects", 39),
    LabelRow("telephone", 40, "otherprop", "objects", 39, "n04401088"),
    LabelRow("tissue box", 40, "otherprop", "objects", 39),
    LabelRow("toy", 40, "otherprop", "objects", 39),
    LabelRow("trash can", 39, "otherfurniture", "objects", 39, "n02747177"),
    LabelRow("tray", 40, "otherprop", "objects", 39, "n04476259"),
    LabelRow("tv", 25, "television", "tv_monitor", 22, "n03211117"),
    LabelRow("tv stand", 39, "otherfurniture", "furniture", 36),
    LabelRow("vase", 40, "otherprop", "objects", 39, "n04522168"),
    LabelRow("wardrobe", 39, "otherfurniture", "furniture", 36, "n04550184"),
    LabelRow("whiteboard", 30, "whiteboard", "board_panel", 35, "n03211616"),
)


def write_label_map(directory: Path) -> Path:
    """Write the label map into a folder; columns that we have nothing for are empty."""
    lines = ["\t".join(COLUMNS)]
    for number, row in enumerate(LABELS, start=1):
        cells = dict.fromkeys(COLUMNS, "")
        cells |= {
            "id": str(number),
            "raw_category": row.label,
            "category": row.category or row.label,
            "nyu40id": str(row.nyu40id),
            "nyu40class": row.nyu40class,
            "wnsynsetid": row.synset,
            "mpcat40": row.mpcat40,
            "mpcat40index": str(row.mpcat40index),
        }
        if row.synset:
            cells["synsetoffset"] = str(int(row.synset[1:]))
        lines.append("\t".join(cells[column] for column in COLUMNS))
    path = directory / FILE_NAME
    with write_whole(path) as aside:
        aside.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return path
