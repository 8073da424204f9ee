"""Static pages to look at a benchmark and review it: no server, no script or font from elsewhere."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from spacecast.dataset.reader import Benchmark
from spacecast.dataset.rows import Row
from spacecast.errors import InputError
from spacecast.evaluation.score import PER_QUESTION, REPORT
from spacecast.files import outside, write_all
from spacecast.report.contact import write_contact_sheet
from spacecast.report.overlay import boxes_of, marks_of, role_word

CONTACT_SHEET = "contact_sheet.png"
_ENDINGS = {b"\xff\xd8": "jpg", b"\x89P": "png"}


def write_report(
    benchmark: str | Path | Benchmark, site: str | Path, scores: Sequence[str | Path] | None = None
) -> None:
    """Write pages into a folder, all or none: ``index.html``, one page a type, pictures, and the contact sheet.

    Args:
        benchmark: the dataset or its folder.
        site: folder to write; files of the same names are replaced.
        scores: folders with ``report.json`` (and ``per_question.jsonl``), shown beside under the folder's name.

    Raises:
        InputError: the benchmark or a score cannot be read.
    """
    data = benchmark if isinstance(benchmark, Benchmark) else Benchmark.open(benchmark)
    runs = [_run(Path(folder), data) for folder in scores or ()]
    pages = {name: f"{_slug(name)}.html" for name in sorted({row.category for row in data.rows})}
    env = Environment(
        loader=PackageLoader("spacecast.report"),
        autoescape=select_autoescape(("html", "html.j2", "j2"), default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    with write_all(outside(site, data.path)) as out:
        write_contact_sheet(data, out / CONTACT_SHEET)
        _write(out / "style.css", env.get_template("style.css.j2").render())
        _write(
            out / "index.html",
            env.get_template("index.html.j2").render(
                title=data.path.resolve().name,
                overview=_overview(data),
                types=[_type_summary(name, page, data.rows) for name, page in pages.items()],
                scenes=sorted(Counter((row.dataset, row.scene_id) for row in data.rows).items()),
                runs=runs,
                contact_sheet=CONTACT_SHEET,
            ),
        )
        for name, page in pages.items():
            rows = [row for row in data.rows if row.category == name]
            cards = [_card(data, row, out, runs) for row in rows]
            html = env.get_template("type.html.j2").render(
                title=name,
                pages=pages,
                page=page,
                cards=cards,
                scenes=sorted({row.scene_id for row in rows}),
                answers=sorted({card["answer"] for card in cards}),
                pictures=sorted({card["pictures"] for card in cards}),
                runs=runs,
            )
            _write(out / page, html)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


class _Cell(msgspec.Struct):
    """What is read of a cell of ``report.json``; its form is checked, and plain values are shown."""

    count: int
    accuracy: float
    chance: float
    interval: tuple[float, float] | None


class _Report(msgspec.Struct):
    overall: _Cell
    by_type: dict[str, _Cell]
    mean_type_accuracy: float
    mean_type_chance: float
    mean_type_interval: tuple[float, float] | None
    missing: int
    invalid: int
    error: int


class _Chosen(msgspec.Struct):
    question_uid: str
    prediction: list[str]
    correct: bool


def _run(folder: Path, data: Benchmark) -> dict[str, Any]:
    """A model's scores: name, report, and question uid -> what it chose and whether that is right."""
    try:
        text, lines = (folder / REPORT).read_bytes(), (folder / PER_QUESTION).read_bytes().splitlines()
        msgspec.json.decode(text, type=_Report)
        for line in lines:
            msgspec.json.decode(line, type=_Chosen)
        report, chosen = json.loads(text), {line["question_uid"]: line for line in map(json.loads, lines)}
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{folder}: no scores there ({why}); give a folder that score or evaluate wrote") from error
    if chosen.keys() != data.by_uid.keys() or report["overall"]["count"] != len(data):
        raise InputError(f"{folder}: scores of other questions than those of {data.path}; score against these")
    cells = {"overall": report["overall"], **report["by_type"]}
    return {"name": folder.resolve().name, "report": report, "cells": cells, "chosen": chosen}


def _overview(data: Benchmark) -> list[tuple[str, str]]:
    rows = data.rows
    manifest = data.manifest
    facts = [
        ("questions", str(len(rows))),
        ("types", str(len({row.category for row in rows}))),
        ("scenes", str(len({(row.dataset, row.scene_id) for row in rows}))),
        ("pictures", str(len({path for row in rows for path in row.image_paths}))),
    ]
    facts += [(name, str(manifest[name])) for name in ("seed", "pictures", "language") if name in manifest]
    return [(("pictures are" if name == "pictures" and not value.isdigit() else name), value) for name, value in facts]


def _type_summary(name: str, page: str, rows: Sequence[Row]) -> dict[str, Any]:
    """Counts of a type: questions, scenes, letters and answers, widest first in the order of the options."""
    mine = [row for row in rows if row.category == name]
    answers = Counter(_answer_word(row) for row in mine)
    letters = Counter(letter for row in mine for letter in row.answer)
    return {
        "name": name,
        "page": page,
        "count": len(mine),
        "scenes": len({(row.dataset, row.scene_id) for row in mine}),
        "pictures": _bars(dict(sorted(Counter(_pictures_word(row) for row in mine).items())), len(mine)),
        "letters": _bars(dict(sorted(letters.items())), len(mine)),
        "answers": _bars(dict(sorted(answers.items(), key=lambda item: (-item[1], item[0]))), len(mine)),
    }


def _bars(counts: Mapping[str, int], total: int) -> list[dict[str, Any]]:
    return [{"name": name, "count": count, "percent": round(100 * count / total, 1)} for name, count in counts.items()]


def _pictures_word(row: Row) -> str:
    """How many pictures a question shows: ``1``, ``2`` or ``3+``."""
    return str(len(row.image_roles)) if len(row.image_roles) < 3 else "3+"


def _answer_word(row: Row) -> str:
    """What is right, as counted: the value, or for multi-select how many."""
    return f"{len(row.answer)} of {len(row.options)} right" if row.multi_select else row.correct_values[0]


def _card(data: Benchmark, row: Row, out: Path, runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    facts = row.facts
    options = [
        {
            "letter": label,
            "text": text,
            "right": label in row.answer,
            "tag": option.get("tag"),
            "chosen_by": [
                run["name"] for run in runs if label in run["chosen"].get(row.question_uid, {}).get("prediction", ())
            ],
        }
        for label, text, option in zip(row.option_labels, row.options, facts["options"], strict=True)
    ]
    relation = facts["relation"]
    return {
        "uid": row.question_uid,
        "scene": row.scene_id,
        "dataset": row.dataset,
        "question": row.question,
        "options": options,
        "answer": _answer_word(row),
        "wrong_by": [
            run["name"] for run in runs if not run["chosen"].get(row.question_uid, {"correct": True})["correct"]
        ],
        "pictures": _pictures_word(row),
        "views": _views(data, row, facts, out),
        "legend": _legend(facts),
        "evidence": _evidence(data, row, out),
        "numbers": _numbers(relation, facts.get("margins") or {}),
        "facts": json.dumps(facts, indent=1, ensure_ascii=False),
    }


def _views(data: Benchmark, row: Row, facts: Mapping[str, Any], out: Path) -> list[dict[str, Any]]:
    shown = zip(data.pictures(row.question_uid), facts["views"], boxes_of(facts), strict=True)
    return [
        {
            "number": number,
            "name": picture.name,
            "role": picture.role,
            "role_word": role_word(picture.role),
            "file": _picture_file(picture.encoded, f"question {row.question_uid}: picture {picture.name}", out),
            "width": view["width"],
            "height": view["height"],
            "boxes": boxes,
            "told": [box.label for box in boxes if box.is_told],
        }
        for number, (picture, view, boxes) in enumerate(shown, 1)
    ]


def _picture_file(encoded: bytes, what: str, out: Path) -> str:
    """Writes a picture under the name of its content, once; the name from the site's folder."""
    ending = _ENDINGS.get(encoded[:2])
    if ending is None:
        raise InputError(f"{what} is neither JPEG nor PNG; run verify")
    name = f"images/{hashlib.sha256(encoded).hexdigest()[:16]}.{ending}"
    if not (out / name).exists():
        (out / "images").mkdir(exist_ok=True)
        (out / name).write_bytes(encoded)
    return name


def _legend(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    several = len(facts["views"]) > 1
    return [
        {
            "label": mark.item["label"],
            "color": mark.color,
            "roles": ", ".join(mark.item["roles"]),
            "pictures": ", ".join(map(str, mark.pictures)) if several else "",
        }
        for mark in marks_of(facts)
    ]


def _evidence(data: Benchmark, row: Row, out: Path) -> dict[str, str] | None:
    """The map and the text beside a question, where the dataset has them."""
    if not data.manifest.get("evidence"):
        return None
    evidence = data.evidence(row.question_uid)
    return {"map": _picture_file(evidence.map_png, f"question {row.question_uid}: its map", out), "text": evidence.text}


def _numbers(relation: Mapping[str, Any], margins: Mapping[str, Any]) -> list[tuple[str, str]]:
    numbers: list[tuple[str, str]] = []
    for moment in ("before", "after"):
        entry = relation.get(moment) or {}
        numbers += [(name if moment == "before" else f"{name} after", _short(entry[name])) for name in sorted(entry)]
    numbers += [(f"margin: {name}", _short(value)) for name, value in sorted(margins.items())]
    return numbers


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
