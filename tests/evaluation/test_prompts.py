"""Prompts: what is shown in which order, and numbers of pictures that stay right when bridges are left out."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from handmade import attachment_question, box, camera_looking, direction_question, facts_with, row_with, view, write

from questions.kinds import KIND_BY_CODE
from questions.wording import table
from spacecast.dataset.evidence import Survey, asked_of, metadata_text, names_in
from spacecast.dataset.reader import Benchmark, Evidence, Picture
from spacecast.errors import InputError
from spacecast.evaluation.prompts import (
    Bridges,
    EvidenceKind,
    Mode,
    PicturePart,
    PromptStyle,
    TextPart,
    prompt,
    prompt_of,
    renumbered,
)
from spacecast.evaluation.replies import read_reply
from spacecast.sight import MapFrame

QUESTION = {
    "en": (
        "You see four pictures of one room, from picture 1 to picture 4 in the order of a walk through it. The lamp is "
        "in picture 1, the bed in picture 4. Where is the lamp from the bed, for the camera of picture 1?"
    ),
    "zh": "这四张照片拍的是同一个房间，从第1张照片到第4张照片。灯在第1张照片里，床在第4张照片里。灯在床的哪个方向？",
}


def thing(label: str, label_zh: str, x: float) -> dict:
    return {
        "label": label, "label_zh": label_zh, "min": [x, 0, 0], "max": [x + 1, 1, 1], "center": [x + 0.5, 0.5, 0.5],
        "obb": {"center": [x + 0.5, 0.5, 0.5], "size": [1, 1, 1], "yaw_deg": 0.0}, "support": "floor",
        "carrier": None, "carried_as": None,
    }  # fmt: skip


ROOM = Survey(
    {3: thing("lamp", "灯", 0.0), 4: thing("bed", "床", 3.0)},
    True, None, MapFrame(-1.0, 2.0, 20.0, 100, 60), np.zeros((60, 100, 3), np.uint8),
)  # fmt: skip


def chain_question(language: str = "en", question: str | None = None):
    """A row with four pictures, its pictures and its evidence."""
    roles = ("main_a", "bridge", "bridge", "main_b")
    views = [{**view(f"v{n}", camera_looking(0.0, 1.0, (n, -1.0, 1.5))), "role": role} for n, role in enumerate(roles)]
    facts = facts_with(
        wording={"id": "hand", "language": language, "version": 1},
        objects=[box(3, "lamp", (0.5, 0.5, 0.5), ["target"]), box(4, "bed", (3.5, 0.5, 0.5), ["reference"])],
        views=views,
        relation={"kind": "direction", "target": 3, "reference": 4, "before": {"value": "left"}, "after": None},
        options=[{"text": word, "value": word, "tag": tag} for word, tag in (("left", None), ("right", "mirrored"))],
    )
    row = row_with("direction_agent", "q", "scene0000_00", question or QUESTION[language], facts)
    pictures = [Picture(f"v{n}", role, f"picture of v{n}".encode()) for n, role in enumerate(roles)]
    return row, pictures, Evidence(metadata_text(asked_of(facts), ROOM), b"the map")


def said(style: PromptStyle, language: str = "en") -> str:
    row, pictures, evidence = chain_question(language)
    return prompt_of(row, pictures, style, evidence).text


# -- numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("The lamp is in picture 1, the bed in picture 5.", "The lamp is in picture 1, the bed in picture 2."),
        ("Picture 5 was taken last; pictures 1 and 5.", "Picture 2 was taken last; pictures 1 and 2."),
        ("five pictures, from picture 1 to picture 5", "two pictures, from picture 1 to picture 2"),
        ("pictures 1, 5 and 1; pictures 1-5", "pictures 1, 2 and 1; pictures 1-2"),
        ("从第1张照片到第5张照片，共五张照片", "从第1张照片到第2张照片，共两张照片"),
        ("灯在图1，床在图 5；第五张画", "灯在图1，床在图 2；第五张画"),
        ("pushes the picture 5.0 m, 3 chairs, 5 lamps", "pushes the picture 5.0 m, 3 chairs, 5 lamps"),
        ("the five chairs of picture 5's room", "the five chairs of picture 2's room"),
        ("picture 1, 3.0 m away", "picture 1, 3.0 m away"),
        ("the picture (id 3)", "the picture (id 3)"),
    ],
)
def test_numbers_of_pictures_are_rewritten_and_no_others(text: str, wanted: str) -> None:
    assert renumbered(text, {1: 1, 5: 2}, count=5) == wanted
    assert renumbered(text, {n: n for n in range(1, 6)}, count=5) == text


@pytest.mark.parametrize(
    "text", ["look at picture 3", "pictures 1 to 4", "pictures 1 and 12", "第2张照片", "图4", "Pictures 1, 2"]
)
def test_what_speaks_of_a_picture_that_is_left_out_is_an_error(text: str) -> None:
    with pytest.raises(InputError, match=r"speaks of picture \d+, which is left out"):
        renumbered(text, {1: 1, 5: 2}, count=5)


@pytest.mark.parametrize("count", range(3, 9))
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_last_of_any_number_becomes_the_second(count: int, language: str) -> None:
    words = {"en": ("picture {}", "{} pictures", ["three", "four", "five", "six", "seven", "eight"], "two"),
             "zh": ("第{}张照片", "{}张照片", list("三四五六七八"), "两")}  # fmt: skip
    one, many, counts, two = words[language]
    text = f"{many.format(counts[count - 3])}: {one.format(1)}, {one.format(count)}"
    wanted = f"{many.format(two)}: {one.format(1)}, {one.format(2)}"
    assert renumbered(text, {1: 1, count: 2}, count=count) == wanted


@pytest.mark.parametrize("count", range(3, 9))
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_wording_can_be_renumbered(count: int, language: str) -> None:
    """What a template says of ``count`` pictures becomes what it says of two."""
    words = table(language)
    values = words["values"]
    chain = [template[key] for template in words["chain"]["templates"] for key in ("text", "camera")]
    texts = chain + [t["text"] for kind in KIND_BY_CODE for t in words[kind]["templates"]]
    assert len(texts) > 50

    def filled(text: str, number: int) -> str:
        told = {
            "last": f"picture_{number}",
            "count": f"pictures_{number}",
            "first": "picture_1",
            "the_first": "picture_1",
        }
        return re.sub(
            r"\{(\w+) (\w+)\}", lambda slot: values[told[slot[2]]] if slot[2] in told else "the picture", text
        )

    for text in texts:
        assert renumbered(filled(text, count), {1: 1, count: 2}, count=count) == filled(text, 2)
    assert any(filled(text, count) != filled(text, 2) for text in chain)


# -- chains -----------------------------------------------------------------------------------------------------------


def test_all_pictures_in_walking_order() -> None:
    row, pictures, _ = chain_question()
    found = prompt_of(row, pictures, PromptStyle())
    assert [p.name for p in found.pictures] == ["v0", "v1", "v2", "v3"]
    assert found.text == (
        "Picture 1:\n\n<image>\n\nPicture 2:\n\n<image>\n\nPicture 3:\n\n<image>\n\nPicture 4:\n\n<image>\n\n"
        + QUESTION["en"]
        + "\nA. left\nB. right\n\nReply with the letter of the one right option and nothing else."
    )


def test_without_bridges_the_last_picture_is_the_second() -> None:
    row, pictures, _ = chain_question()
    found = prompt_of(row, pictures, PromptStyle(bridges="drop"))
    assert found.pictures == (PicturePart("v0", b"picture of v0"), PicturePart("v3", b"picture of v3"))
    assert [part.text for part in found.parts if isinstance(part, TextPart)][2].startswith(
        "You see two pictures of one room, from picture 1 to picture 2 in the order of a walk through it. The lamp is "
        "in picture 1, the bed in picture 2."
    )
    assert "picture 4" not in found.text


def test_metadata_without_bridges_tells_of_the_pictures_that_are_shown() -> None:
    whole, short = said(PromptStyle("metadata")), said(PromptStyle("metadata", "drop"))
    assert "  picture 3: camera at (2.00, -1.00, 1.50)" in whole
    assert "  picture 4: camera at (3.00, -1.00, 1.50)" in whole
    (line,) = (line for line in short.splitlines() if line.startswith("  picture 2"))
    assert line.startswith("  picture 2: camera at (3.00, -1.00, 1.50)")
    assert line.endswith("; shows bed (id 4)")
    assert "(1.00, -1.00, 1.50)" not in short
    assert "(2.00, -1.00, 1.50)" not in short


def test_a_question_that_needs_a_bridge_is_not_shown_without() -> None:
    row, pictures, evidence = chain_question(question="The lamp is in picture 2.")
    with pytest.raises(InputError, match="question q: its text speaks of picture 2, which is left out; keep the bridg"):
        prompt_of(row, pictures, PromptStyle(bridges="drop"), evidence)
    assert "picture 2" in prompt_of(row, pictures, PromptStyle(), evidence).text


def test_the_map_is_explained() -> None:
    whole, short = said(PromptStyle("bev")), said(PromptStyle("bev", "drop"))
    assert "the disc B that of picture 4. Small hollow discs are the cameras of the pictures between them" in whole
    assert "the disc B that of picture 2. Small hollow discs are cameras whose pictures are not shown." in short
    row, pictures, evidence = chain_question()
    assert prompt_of(row, pictures, PromptStyle("bev"), evidence).pictures[-1] == PicturePart("map", b"the map")


def test_a_chinese_question_has_a_chinese_prompt() -> None:
    text = said(PromptStyle("bev", "drop", "cot"), "zh")
    assert "这两张照片拍的是同一个房间，从第1张照片到第2张照片。" in text
    assert "图上的编号：3 灯、4 床。" in text
    assert "圆点B是拍摄第2张照片的相机" in text
    assert "第2张照片：相机位于 (3.00, -1.00, 1.50)" in said(PromptStyle("metadata", "drop"), "zh")
    shown = said(PromptStyle("metadata", "keep", "cot"), "zh")
    assert not any(word in shown for word in ("picture", "camera", "Answer", "lamp"))


# -- styles -----------------------------------------------------------------------------------------------------------


def test_one_picture_is_the_same_with_and_without_bridges(tmp_path) -> None:
    row = direction_question("q", "scene0000_00", "left", np.random.default_rng(0))
    benchmark = Benchmark.open(write(tmp_path / "set", [row]))
    keep, drop = (prompt(benchmark, "q", PromptStyle(bridges=bridges)) for bridges in get_args(Bridges))
    assert keep == drop == prompt(benchmark, "q")
    assert isinstance(keep.parts[0], PicturePart)
    assert keep.text.startswith(f"<image>\n\n{row.question}\nA. {row.options[0]}\nB. ")
    with pytest.raises(InputError, match="build the dataset with --evidence"):
        prompt(benchmark, "q", PromptStyle("bev"))


def test_nothing_of_the_answer_makes_a_difference() -> None:
    row, pictures, evidence = chain_question()
    other = replace(row, answer=("B",), correct_values=("right",), relation_unchanged=True)
    for style in itertools.starmap(PromptStyle, itertools.product(*map(get_args, (EvidenceKind, Bridges, Mode)))):
        assert prompt_of(row, pictures, style, evidence) == prompt_of(other, pictures, style, evidence)


def test_every_style_says_something_of_its_own() -> None:
    styles = [PromptStyle(*choice) for choice in itertools.product(*map(get_args, (EvidenceKind, Bridges, Mode)))]
    assert len({said(style) for style in styles}) == len(styles) == 12


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("multi", [False, True])
def test_an_answer_as_it_is_asked_for_is_read(language: str, multi: bool) -> None:
    rng = np.random.default_rng(0)
    row = attachment_question("q", "s", 2, rng) if multi else direction_question("q", "s", "left", rng)
    facts = {**row.facts, "wording": {"id": "x", "language": language, "version": 1}}
    row = row_with(row.source_type, "q", "s", "?", facts)
    letters = ", ".join(row.answer)
    asked = prompt_of(row, [Picture("0", "image", b"")], PromptStyle(mode="cot")).parts[-1]
    assert isinstance(asked, TextPart)
    assert ("all right" in asked.text or "所有正确" in asked.text) is multi
    stem = {"en": "Answer: ", "zh": "答案："}[language]
    assert stem in asked.text
    for reply in (letters, f"Steps: the A side, then B and C.\n{stem}{letters}"):
        assert read_reply(reply, row.options, row.option_labels, multi_select=multi).letters == row.answer


@pytest.mark.parametrize(
    "choice", [{"evidence": "map"}, {"bridges": "some"}, {"mode": "think"}], ids=["evidence", "bridges", "mode"]
)
def test_unknown_styles_are_one_line(choice: dict) -> None:
    with pytest.raises(InputError, match="give one of"):
        PromptStyle(**choice)


def test_a_language_without_prompts_is_one_line() -> None:
    row, pictures, evidence = chain_question("en")
    foreign = replace(row, source_record_json=row.source_record_json.replace('"language": "en"', '"language": "fr"'))
    with pytest.raises(InputError, match="no prompts in 'fr'; known: en, zh"):
        prompt_of(foreign, pictures, PromptStyle(), evidence)


def test_names_of_the_metadata_are_read_back() -> None:
    _, _, evidence = chain_question("zh")
    assert names_in(evidence.text) == {3: "灯", 4: "床"}
