"""Sentences to interventions."""

from __future__ import annotations

import pytest

from spacecast.errors import InputError, InterventionError
from spacecast.frames import Transform
from spacecast.scene import Move, Orbit, Remove, RotateLayout, Spin
from spacecast.scene.interventions import Single
from spacecast.scene.spoken import USAGE, spoken

CAMERA = Transform.looking_at((0.0, 0.0, 1.5), (1.0, 0.0, 1.0))


def cameras(name: str) -> Transform:
    if name != "120":
        raise InputError(f"no view {name!r}")
    return CAMERA


@pytest.mark.parametrize(
    "text, meant",
    [
        ("move desk north 1.5", Move("desk", "north", 1.5)),
        ("Move  coffee table NORTH-EAST .5 m", Move("coffee table", "northeast", 0.5)),
        ("move 12 west 2 metres", Move(12, "west", 2.0)),
        ("move chair 12 south 1", Move("chair 12", "south", 1.0)),
        ("move desk forward-left 1 as the camera 120", Move("desk", "forward-left", 1.0, "camera", CAMERA)),
        ("move desk right 1 facing trash can", Move("desk", "right", 1.0, "object", facing="trash can")),
        ("move desk right 1 facing 7", Move("desk", "right", 1.0, "object", facing=7)),
        ("move desk left 1 facing camera 120", Move("desk", "left", 1.0, "object", CAMERA, "camera")),
        ("orbit office chair around coffee table 90 clockwise", Orbit("office chair", "coffee table", 90.0)),
        ("orbit 3 around 4 by 45 degrees counter-clockwise", Orbit(3, 4, 45.0, "counterclockwise")),
        ("spin desk 45 anticlockwise", Spin("desk", 45.0, "counterclockwise")),
        ("spin chair 3 45 clockwise", Spin("chair 3", 45.0)),
        ("remove floor lamp", Remove("floor lamp")),
        ("remove desk leaving what it carries", Remove("desk", "stays")),
        ("turn layout 270", RotateLayout(270.0)),
        ("turn the layout by 90 degrees counterclockwise", RotateLayout(-90.0)),
    ],
)
def test_what_a_sentence_means(text: str, meant: Single) -> None:
    assert spoken(text, cameras).intervention == meant


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "begins with none of move, orbit, spin, remove, turn"),
        ("shift desk north 1", "begins with none of move, orbit, spin, remove, turn"),
        ("move desk north", USAGE["move"]),
        ("move north 1", USAGE["move"]),
        ("orbit chair table 90 clockwise", USAGE["orbit"]),
        ("orbit chair around table 90", USAGE["orbit"]),
        ("spin desk 90", USAGE["spin"]),
        ("remove", USAGE["remove"]),
        ("turn desk 90", USAGE["turn"]),
        ("move desk left 1", "left of what?"),
        ("move desk left 1 facing camera", "camera of which view?"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(text: str, words: str) -> None:
    with pytest.raises(InterventionError) as error:
        spoken(text, cameras)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_view_is_said() -> None:
    with pytest.raises(InputError, match="no view '121'"):
        spoken("move desk left 1 as the camera 121", cameras)
