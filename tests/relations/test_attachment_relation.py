"""What moves along, in small stacks of boxes whose answers are plain."""

from __future__ import annotations

import pytest

from spacecast.errors import UnknownObjectError
from spacecast.relations.attachment import attachment
from spacecast.scene import LabelledBox, Scene

FLOOR = LabelledBox(90, "floor", (0, 0, -0.05), (8, 8, 0.1), traits=frozenset({"structure", "floor"}))
TABLE = LabelledBox(1, "table", (0, 0, 0.4), (1.2, 0.8, 0.8))
TRAY = LabelledBox(2, "tray", (0, 0, 0.82), (0.5, 0.4, 0.04))
CUP = LabelledBox(3, "cup", (0.1, 0, 0.89), (0.08, 0.08, 0.10))
LAMP = LabelledBox(4, "lamp", (0.45, 0.2, 1.0), (0.2, 0.2, 0.4))
CHAIR = LabelledBox(5, "chair", (0, -0.8, 0.4), (0.5, 0.5, 0.8))
SECOND = LabelledBox(6, "desk", (1.25, 0, 0.4), (1.2, 0.8, 0.8))
BOARD = LabelledBox(7, "board", (0.62, -0.2, 0.81), (0.6, 0.2, 0.02))


@pytest.mark.parametrize(
    "mover, carried, direct, chain, carrier",
    [("table", (2, 3, 4), 2, 2, None), ("tray", (3,), 1, 1, 1), (3, (), 0, 0, 2), ("chair", (), 0, 0, None)],
)
def test_stack(mover: str | int, carried: tuple[int, ...], direct: int, chain: int, carrier: int | None) -> None:
    answer = attachment(Scene.from_boxes([FLOOR, TABLE, TRAY, CUP, LAMP, CHAIR]), mover)
    assert answer.value == carried
    assert answer.numbers == {
        "count": len(carried), "direct": direct, "chain": chain, "carrier": carrier, "possible": (),
    }  # fmt: skip
    assert answer.certain


def test_a_possible_edge_across_the_border_makes_it_uncertain() -> None:
    scene = Scene.from_boxes([FLOOR, TABLE, TRAY, CUP, SECOND, BOARD])  # the board lies half on either
    for mover, possible in (("table", (7,)), ("desk", (7,)), ("board", (1, 6))):
        answer = attachment(scene, mover)
        assert answer.reasons == ("possible_attachment",)
        assert answer.numbers["possible"] == possible
    assert attachment(scene, "table").value == (2, 3)
    assert attachment(scene, "tray").certain


def test_structure_does_not_move() -> None:
    answer = attachment(Scene.from_boxes([FLOOR, TABLE]), "floor")
    assert answer.value is None
    assert answer.reasons == ("structure",)


def test_unknown_mover() -> None:
    with pytest.raises(UnknownObjectError, match="did you mean 'table'"):
        attachment(Scene.from_boxes([FLOOR, TABLE]), "tabel")
