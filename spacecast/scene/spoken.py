"""Interventions as people write them: ``move desk north 1.5``, ``orbit chair around table 90 clockwise``.

Objects are named by label, spaces and all, or by id. Words that shape a sentence (``around``, ``as the camera``,
``facing``, ``leaving what it carries``) part names from the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

from spacecast.errors import InterventionError
from spacecast.frames import COMPASS, Transform
from spacecast.scene.interventions import (
    MOVE_WORDS,
    Move,
    Name,
    Orbit,
    Remove,
    RotateLayout,
    Sense,
    Sequence,
    Single,
    Spin,
)

Cameras = Callable[[str], Transform]
"""``world_from_camera`` of a view, by its name; raises a SpacecastError for a name that there is not."""

USAGE = {
    "move": "move OBJECT DIRECTION METRES [as the camera VIEW | facing OBJECT | facing camera VIEW]",
    "orbit": "orbit OBJECT around OBJECT DEGREES clockwise|counterclockwise",
    "spin": "spin OBJECT DEGREES clockwise|counterclockwise",
    "remove": "remove OBJECT [leaving what it carries]",
    "turn": "turn layout DEGREES [clockwise|counterclockwise]",
}
"""Each verb, and what goes with it."""

_NUMBER = r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)"
_METRES = rf"{_NUMBER}\s*(?:m|metres?|meters?)?"
_DEGREES = rf"{_NUMBER}\s*(?:deg|degrees?)?"
_SENSE = r"(?P<sense>clockwise|counter-?clockwise|anti-?clockwise)"
_MOVE = re.compile(
    rf"(?P<object>.+?)\s+(?P<direction>[a-z-]+)\s+{_METRES}"
    r"(?:\s+as\s+(?:the\s+)?camera\s+(?P<view>\S+)|\s+facing\s+camera\s+(?P<faced_view>\S+)|\s+facing\s+(?P<faced>.+))?",
    re.IGNORECASE,
)
_ORBIT = re.compile(rf"(?P<object>.+?)\s+around\s+(?P<around>.+?)\s+(?:by\s+)?{_DEGREES}\s+{_SENSE}", re.IGNORECASE)
_SPIN = re.compile(rf"(?P<object>.+?)\s+(?:by\s+)?{_DEGREES}\s+{_SENSE}", re.IGNORECASE)
_REMOVE = re.compile(r"(?P<object>.+?)(?P<leaving>\s+leaving\s+what\s+it\s+carries)?", re.IGNORECASE)
_TURN = re.compile(rf"(?:the\s+)?layout\s+(?:by\s+)?{_DEGREES}(?:\s+{_SENSE})?", re.IGNORECASE)


class Spoken(NamedTuple):
    """One sentence: ``text`` as it was written, and the intervention that it means."""

    text: str
    intervention: Single


def spoken(text: str, cameras: Cameras) -> Spoken:
    """Read one sentence.

    Args:
        text: one of :data:`USAGE`, upper or lower case.
        cameras: gives the camera of a view that is named.

    Raises:
        InterventionError: it is none of these; the message says how it goes.
        SpacecastError: what ``cameras`` raises.
    """
    plain = " ".join(text.split())
    verb, _, rest = plain.partition(" ")
    readers = {"move": _move, "orbit": _orbit, "spin": _spin, "remove": _remove, "turn": _turn}
    if verb.lower() not in readers:
        raise InterventionError(f"{plain!r} begins with none of {', '.join(readers)}; for example: {USAGE['move']}")
    found = readers[verb.lower()](rest, cameras)
    if found is None:
        raise InterventionError(f"cannot read {plain!r}; it goes: {USAGE[verb.lower()]}")
    return Spoken(plain, found)


def sequence_of(sentences: list[Spoken]) -> Sequence:
    """All of them, one after another."""
    return Sequence(tuple(sentence.intervention for sentence in sentences))


def _move(rest: str, cameras: Cameras) -> Single | None:
    found = _MOVE.fullmatch(rest)
    if not found:
        return None
    item, direction, distance_m = _named(found["object"]), _direction(found["direction"]), float(found["number"])
    if found["view"]:
        return Move(item, direction, distance_m, "camera", cameras(found["view"]))
    if found["faced_view"]:
        return Move(item, direction, distance_m, "object", cameras(found["faced_view"]), "camera")
    if (found["faced"] or "").lower() == "camera":
        raise InterventionError("facing the camera of which view? it goes: " + USAGE["move"])
    if found["faced"]:
        return Move(item, direction, distance_m, "object", facing=_named(found["faced"]))
    if direction not in COMPASS and direction in MOVE_WORDS:
        raise InterventionError(f"{direction} of what? add: as the camera VIEW, facing OBJECT, or facing camera VIEW")
    return Move(item, direction, distance_m)


def _orbit(rest: str, _: Cameras) -> Single | None:
    found = _ORBIT.fullmatch(rest)
    if not found:
        return None
    return Orbit(_named(found["object"]), _named(found["around"]), float(found["number"]), _sense(found["sense"]))


def _spin(rest: str, _: Cameras) -> Single | None:
    found = _SPIN.fullmatch(rest)
    return Spin(_named(found["object"]), float(found["number"]), _sense(found["sense"])) if found else None


def _remove(rest: str, _: Cameras) -> Single | None:
    found = _REMOVE.fullmatch(rest)
    if not found:
        return None
    carried: Literal["goes", "stays"] = "stays" if found["leaving"] else "goes"
    return Remove(_named(found["object"]), carried)


def _turn(rest: str, _: Cameras) -> Single | None:
    found = _TURN.fullmatch(rest)
    if not found:
        return None
    angle_deg = float(found["number"])
    return RotateLayout(-angle_deg if _sense(found["sense"] or "clockwise") == "counterclockwise" else angle_deg)


def _named(text: str) -> Name:
    return int(text) if text.isdecimal() else text


def _sense(text: str) -> Sense:
    return "clockwise" if text.lower() == "clockwise" else "counterclockwise"


def _direction(text: str) -> str:
    """Compass words also with a hyphen: north-east."""
    word = text.lower()
    return word.replace("-", "") if word.replace("-", "") in COMPASS else word
