"""Boxes of named objects over a picture, as lines in its pixels, from the facts alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacecast.dataset.evidence import asked_of
from spacecast.sight.maps import MARKS

Array = NDArray[np.float64]


@dataclass(frozen=True)
class OverlaySettings:
    """How boxes are drawn."""

    near_m: float = 0.05
    """Edges are cut off this far before the camera."""
    label_margin: float = 0.12
    """Share of the picture's width at its borders where labels are not centred."""


SETTINGS = OverlaySettings()

_CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
_EDGES = [(a, b) for a in range(8) for b in range(a + 1, 8) if bin(a ^ b).count("1") == 1]


class DrawnBox(NamedTuple):
    """An object in a picture."""

    label: str
    roles: str
    color: str
    lines: tuple[tuple[float, float, float, float], ...]
    """x1, y1, x2, y2 in pixels; may leave the picture."""
    place: tuple[float, float] | None
    """Where the label stands, inside the picture; None where the centre is not in it."""
    anchor: str
    """How the label stands there, so that it stays in the picture: ``start``, ``middle`` or ``end``."""
    is_told: bool = True
    """The question says that the picture shows it; else it is only where the picture looks, perhaps hidden."""


class Mark(NamedTuple):
    """An object of a question and its colour."""

    item: dict[str, Any]
    """Its entry of ``facts.objects``."""
    color: str
    pictures: tuple[int, ...]
    """Numbers of the pictures that show it, as the question says; all where it shows only one."""


def marks_of(facts: Mapping[str, Any]) -> list[Mark]:
    """The objects of a question: those that are named, in the colours of its map, then those that are not."""
    asked = asked_of(facts)
    single = len(asked.pictures) == 1
    items = sorted(facts["objects"], key=lambda item: (item["id"] not in asked.named, item["id"]))
    return [
        Mark(
            item,
            MARKS[number % len(MARKS)],
            (1,) if single else tuple(n for n, shown in enumerate(asked.pictures, 1) if item["id"] in shown.shows),
        )
        for number, item in enumerate(items)
    ]


def role_word(role: str) -> str:
    """A picture's role as people read it: ``main A``, ``bridge``."""
    word, _, letter = role.partition("_")
    return f"{word} {letter.upper()}".strip()


def boxes_of(facts: Mapping[str, Any]) -> list[list[DrawnBox]]:
    """What is drawn over each picture of a question, in the order shown.

    What a main view of a pair does not show, since the other one does, is not drawn over it.
    """
    marks = marks_of(facts)
    drawn = []
    for number, view in enumerate(facts["views"], 1):
        boxes = []
        for mark in marks:
            is_told = number in mark.pictures
            if is_told or not (view["role"].startswith("main") and mark.pictures):
                boxes += [box._replace(color=mark.color, is_told=is_told) for box in boxes_in(view, [mark.item])]
        drawn.append(boxes)
    return drawn


def boxes_in(view: Mapping[str, Any], objects: list[dict[str, Any]]) -> list[DrawnBox]:
    """The oriented boxes of objects as seen in a view; objects that are not before the camera are left out.

    Args:
        view: an entry of ``facts.views``.
        objects: entries of ``facts.objects``.
    """
    world_from_camera = np.array(view["world_from_camera"], float).reshape(4, 4)
    pixel_from_camera = np.array(view["pixel_from_camera"], float).reshape(3, 3)
    rotation, translation = world_from_camera[:3, :3], world_from_camera[:3, 3]
    drawn = []
    for number, item in enumerate(objects):
        corners = (_corners_in_world(item["obb"]) - translation) @ rotation
        lines = []
        for a, b in _EDGES:
            ends = _clipped(corners[a], corners[b])
            if ends is not None:
                (x1, y1), (x2, y2) = (_pixel(end, pixel_from_camera) for end in ends)
                lines.append((round(x1, 1), round(y1, 1), round(x2, 1), round(y2, 1)))
        if not lines:
            continue
        center = (np.array(item["center_in_world"], float) - translation) @ rotation
        place, anchor = None, "middle"
        if center[2] > SETTINGS.near_m:
            x, y = _pixel(center, pixel_from_camera)
            if 0 <= x < view["width"] and 0 <= y < view["height"]:
                place = (round(x, 1), round(y, 1))
                margin = SETTINGS.label_margin * view["width"]
                anchor = "start" if x < margin else "end" if x > view["width"] - margin else "middle"
        drawn.append(
            DrawnBox(item["label"], ", ".join(item["roles"]), MARKS[number % len(MARKS)], tuple(lines), place, anchor)
        )
    return drawn


def _corners_in_world(obb: Mapping[str, Any]) -> Array:
    yaw = np.radians(float(obb["yaw_deg"]))
    local = _CORNERS * np.array(obb["size"], float)
    turn = np.array([[np.cos(yaw), np.sin(yaw), 0.0], [-np.sin(yaw), np.cos(yaw), 0.0], [0.0, 0.0, 1.0]])
    corners: Array = local @ turn + np.array(obb["center"], float)
    return corners


def _clipped(one: Array, other: Array) -> tuple[Array, Array] | None:
    near = SETTINGS.near_m
    if one[2] < near and other[2] < near:
        return None
    if one[2] < near:
        one = one + (other - one) * (near - one[2]) / (other[2] - one[2])
    elif other[2] < near:
        other = other + (one - other) * (near - other[2]) / (one[2] - other[2])
    return one, other


def _pixel(point: Array, pixel_from_camera: Array) -> tuple[float, float]:
    x, y, w = pixel_from_camera @ point
    return float(x / w), float(y / w)
