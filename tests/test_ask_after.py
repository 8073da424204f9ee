"""``spacecast ask ... --after``: the state after each step, before and after pictures, one line for what cannot be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from scannet_tools.scannet import READER
from spacecast.cli import main
from spacecast.frames import COMPASS
from spacecast.relations import distance
from spacecast.scene import Move, RotateLayout, Scene
from spacecast.sight import map_frame


@pytest.fixture(scope="module")
def case(demo_root: Path) -> tuple[Scene, int, int, str]:
    """A scene, something in it that carries and can be moved, something else, and a direction that is free."""
    for folder in READER.find(demo_root).values():
        scene = Scene.from_scan(READER.read(folder))
        for i, item in scene.objects.items():
            if item.is_structure or not scene.carried_by(i):
                continue
            for word in COMPASS:
                if not scene.problems(Move(i, word, 0.5)):
                    others = [j for j, o in scene.objects.items() if j != i and o.may_be_asked]
                    other = next(j for j in others if j not in scene.carried_by(i))
                    return scene, i, other, word
    pytest.fail("nothing that carries something can be moved in any demo scan")


def test_the_state_after_each_step(demo_root: Path, case: tuple[Scene, int, int, str], tmp_path: Path, capsys) -> None:
    scene, mover, other, word = case
    back = COMPASS[(COMPASS.index(word) + 4) % 8]
    ask = ["ask", str(demo_root), scene.scene_id, "distance", str(mover), str(other)]
    steps = [f"move {mover} {word} 0.5", f"move {scene.objects[mover].label} {mover} {back} 0.5", "turn layout 90"]
    shown = tmp_path / "map.png"
    assert main([*ask, *(part for step in steps for part in ("--after", step)), "--map", str(shown)]) == 0
    said = capsys.readouterr().out
    values = [line.split(" = ")[1] for line in said.splitlines() if line.startswith("  distance_m = ")]
    states = [scene, scene.apply(Move(mover, word, 0.5))]
    wanted = [distance(state, mover, other).numbers["distance_m"] for state in states]
    assert values == [f"{x:.4g}" for x in (wanted[0], wanted[1], wanted[0], wanted[0])]
    assert [line for line in said.splitlines() if line.startswith("after ")] == [f"after {step}:" for step in steps]
    moved = [line for line in said.splitlines() if line.startswith("  moved: ")]
    assert {int(name.split()[-1]) for name in moved[0].removeprefix("  moved: ").split(",")} == {
        *(mover, *scene.carried_by(mover)),
    }
    with Image.open(shown) as picture:
        frame = map_frame(scene, states[1].apply(Move(mover, back, 0.5)).apply(RotateLayout(90.0)))
        assert picture.size == (2 * frame.width + 8, frame.height + 24)


def test_before_and_after_side_by_side(
    demo_root: Path, case: tuple[Scene, int, int, str], tmp_path: Path, capsys
) -> None:
    scene, mover, _, _ = case
    scan = READER.read(READER.find(demo_root)[scene.scene_id])
    view = next(iter(scan.views.values()))
    shown = tmp_path / "seen.png"
    ask = ["ask", str(demo_root), scene.scene_id, "occlusion", str(mover), "--view", view.name]
    assert main([*ask, "--after", f"remove {mover}", "--picture", str(shown)]) == 0
    assert capsys.readouterr().out.count("not visible") >= 1
    k = view.intrinsics
    pixels = np.asarray(Image.open(shown))
    assert pixels.shape == (k.height + 24, 2 * k.width + 8, 3)
    assert (pixels[24:, k.width : k.width + 8] == 255).all()


@pytest.mark.parametrize(
    "step, words",
    [
        ("move {mover} {word} 99", "cannot move 99.0 m"),
        ("fly {mover}", "begins with none of move"),
        ("move nothing north 1", "no object has the label 'nothing'"),
        ("move {mover} left 1 as the camera nowhere", "no view 'nowhere'"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    demo_root: Path, case: tuple[Scene, int, int, str], capsys, step: str, words: str
) -> None:
    scene, mover, _, word = case
    text = step.format(mover=mover, word=word)
    assert main(["ask", str(demo_root), scene.scene_id, "attachment", str(mover), "--after", text]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert words in lines[0]
