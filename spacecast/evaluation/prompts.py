"""What a model is shown for a question: texts and pictures in order. No network, no chance, no client.

Three choices (:class:`PromptStyle`): what is shown beside the pictures, whether the bridges between the main pictures
of a pair are shown, and whether the model is to think aloud. Where bridges are left out the pictures that stay are
numbered anew, and every text is rewritten to these numbers; a text that still speaks of one that was left out is an
error, never shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from spacecast.dataset.evidence import names_in, without_pictures
from spacecast.dataset.reader import Benchmark, Evidence, Picture
from spacecast.dataset.rows import Row
from spacecast.errors import InputError

EvidenceKind = Literal["none", "metadata", "bev"]
Bridges = Literal["keep", "drop"]
Mode = Literal["cot", "direct"]


class TextPart(NamedTuple):
    """A text of a prompt."""

    text: str


class PicturePart(NamedTuple):
    """A picture of a prompt, encoded (JPEG or PNG)."""

    name: str
    """The view's; ``map`` for the map from above."""
    encoded: bytes


@dataclass(frozen=True)
class PromptStyle:
    """How questions are put.

    Attributes:
        evidence: ``none``; ``metadata``, positions and sizes as text; ``bev``, the map from above.
        bridges: ``keep`` all pictures, or ``drop`` those between the main pictures of a pair.
        mode: ``cot`` asks for the steps first, ``direct`` for the letter alone.

    Raises:
        InputError: another word.
    """

    evidence: EvidenceKind = "none"
    bridges: Bridges = "keep"
    mode: Mode = "direct"

    def __post_init__(self) -> None:
        for name, known in (("evidence", EvidenceKind), ("bridges", Bridges), ("mode", Mode)):
            if getattr(self, name) not in get_args(known):
                raise InputError(f"{name} is {getattr(self, name)!r}; give one of {', '.join(get_args(known))}")


@dataclass(frozen=True)
class Prompt:
    """What a model is shown for one question, in order."""

    question_uid: str
    parts: tuple[TextPart | PicturePart, ...]

    @property
    def text(self) -> str:
        """The texts, a blank line between them, with ``<image>`` where a picture stands."""
        return "\n\n".join(part.text if isinstance(part, TextPart) else "<image>" for part in self.parts)

    @property
    def pictures(self) -> tuple[PicturePart, ...]:
        """The pictures, in order."""
        return tuple(part for part in self.parts if isinstance(part, PicturePart))


_EN = {
    "picture": "Picture {n}:",
    "the_picture": "The picture:",
    "map": (
        "A map of the room from above, before anything is changed; an arrow shows north. What the question names is "
        "outlined and labelled. {cameras} A wedge shows which way a camera looks."
    ),
    "one_camera": "The disc A is the camera.",
    "two_cameras": "The disc A is the camera of picture 1, the disc B that of picture {last}.",
    "bridges_keep": "Small hollow discs are the cameras of the pictures between them, in their order along the walk.",
    "bridges_drop": "Small hollow discs are cameras whose pictures are not shown.",
    "label": "",
    "measurements": "Measurements:",
    "direct": "Reply with the letter of the one right option and nothing else.",
    "direct_multi": "Reply with the letters of all right options, separated by commas, and nothing else.",
    "cot": (
        "Think step by step. Then end with a line that has only the letter of the one right option: "
        '"Answer: " and the letter.'
    ),
    "cot_multi": (
        "Think step by step. Then end with a line that has only the letters of all right options, separated by "
        'commas: "Answer: " and the letters.'
    ),
}
_ZH = {
    "picture": "第{n}张照片：",
    "the_picture": "照片：",
    "map": (
        "任何改动之前房间的俯视图，箭头指向北。题目提到的物体都画出了轮廓并标有名称和编号。{cameras}扇形表示相机的朝向。"
    ),
    "one_camera": "圆点A是相机。",
    "two_cameras": "圆点A是拍摄第1张照片的相机，圆点B是拍摄第{last}张照片的相机。",
    "bridges_keep": "空心小圆点依次是拍摄其间各张照片的相机。",
    "bridges_drop": "空心小圆点是未给出照片的相机。",
    "label": "图上的编号：{names}。",
    "measurements": "测量数据：",
    "direct": "只回答唯一正确选项的字母，不要写其他内容。",
    "direct_multi": "只回答所有正确选项的字母，用逗号隔开，不要写其他内容。",
    "cot": "请逐步思考，最后单独用一行给出唯一正确选项的字母，写成“答案：”加字母。",
    "cot_multi": "请逐步思考，最后单独用一行给出所有正确选项的字母，用逗号隔开，写成“答案：”加字母。",
}
_SAID = {"en": _EN, "zh": _ZH}


def prompt(benchmark: Benchmark, question_uid: str, style: PromptStyle | None = None) -> Prompt:
    """The prompt of a question of a dataset.

    Raises:
        InputError: no such question, pictures are not embedded, or the dataset was built without evidence and the style
            wants some.
    """
    style = style or PromptStyle()
    pictures = benchmark.pictures(question_uid)
    evidence = None if style.evidence == "none" else benchmark.evidence(question_uid)
    return prompt_of(benchmark.by_uid[question_uid], pictures, style, evidence)


def prompt_of(row: Row, pictures: Sequence[Picture], style: PromptStyle, evidence: Evidence | None = None) -> Prompt:
    """The prompt of a question.

    Args:
        row: the question.
        pictures: in the order shown, all of them.
        style: how it is put.
        evidence: of the question; needed where the style shows some.

    Raises:
        InputError: a text speaks of a picture that is left out, or evidence is wanted and not given.
    """
    language = row.facts["wording"]["language"]
    if language not in _SAID:
        raise InputError(f"question {row.question_uid}: no prompts in {language!r}; known: {', '.join(sorted(_SAID))}")
    said = _SAID[language]
    kept = [n for n, picture in enumerate(pictures, 1) if style.bridges == "keep" or picture.role != "bridge"]
    numbers = {old: new for new, old in enumerate(kept, 1)}
    parts: list[TextPart | PicturePart] = []
    for old in kept:
        if len(kept) > 1:
            parts.append(TextPart(said["picture"].format(n=numbers[old])))
        elif style.evidence == "bev":
            parts.append(TextPart(said["the_picture"]))
        parts.append(PicturePart(pictures[old - 1].name, pictures[old - 1].encoded))
    if style.evidence != "none" and evidence is None:
        raise InputError(f"question {row.question_uid}: no evidence given; build the dataset with --evidence")
    if style.evidence == "bev" and evidence is not None:
        parts += [
            TextPart(_about_map(said, evidence, pictures, style, len(kept))),
            PicturePart("map", evidence.map_png),
        ]
    if style.evidence == "metadata" and evidence is not None:
        dropped = set(range(1, len(pictures) + 1)) - set(kept)
        measured = _rewritten(without_pictures(evidence.text, dropped), numbers, row)
        parts.append(TextPart(f"{said['measurements']}\n{measured.rstrip()}"))
    options = "\n".join(f"{label}. {text}" for label, text in zip(row.option_labels, row.options, strict=True))
    parts.append(TextPart(f"{_rewritten(row.question, numbers, row)}\n{_rewritten(options, numbers, row)}"))
    parts.append(TextPart(said[f"{style.mode}_multi" if row.multi_select else style.mode]))
    return Prompt(row.question_uid, tuple(parts))


def _about_map(
    said: Mapping[str, str], evidence: Evidence, pictures: Sequence[Picture], style: PromptStyle, last: int
) -> str:
    cameras = [said["one_camera"] if len(pictures) == 1 else said["two_cameras"].format(last=last)]
    if any(picture.role == "bridge" for picture in pictures):
        cameras.append(said[f"bridges_{style.bridges}"])
    text = said["map"].format(cameras=(" " if said is _EN else "").join(cameras))
    names = "、".join(f"{i} {name}" for i, name in sorted(names_in(evidence.text).items()))
    return text + said["label"].format(names=names)


def _rewritten(text: str, numbers: Mapping[int, int], row: Row) -> str:
    try:
        return renumbered(text, numbers, count=len(row.image_roles))
    except InputError as error:
        raise InputError(f"question {row.question_uid}: {error}; keep the bridges") from error


# A number in a text that is a picture's: "picture 3", "pictures 2, 3 and 5", "第3张照片", "图3". A length is none:
# "pushes the picture 1.0 m".
_WHOLE = r"\d+(?!\d|\.\d)"
_MENTION = re.compile(
    rf"(?P<en>\b[Pp]ictures?\s+{_WHOLE}(?:\s*(?:,\s*and|,|and|or|to|-|–)\s*{_WHOLE})*)"
    rf"|(?P<zh>第\s*{_WHOLE}\s*(?=张)|图\s*{_WHOLE})"
)
_COUNTS_EN = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight")
_COUNTS_ZH = "零一两三四五六七八"


def renumbered(text: str, numbers: Mapping[int, int], *, count: int) -> str:
    """A text about pictures in new numbers.

    Args:
        text: English or Chinese, pictures named by their number: ``picture 3``, ``pictures 2 and 3``, ``第3张照片``,
            ``图3``; how many there are as a word: ``five pictures``, ``五张照片``.
        numbers: old number -> new, of the pictures that are shown, both from 1.
        count: how many pictures there were.

    Raises:
        InputError: it speaks of a picture that has no new number.
    """

    def number(found: re.Match[str]) -> str:
        old = int(found.group())
        if old not in numbers:
            raise InputError(f"its text speaks of picture {old}, which is left out")
        return str(numbers[old])

    text = _MENTION.sub(lambda mention: re.sub(r"\d+", number, mention.group()), text)
    if count < len(_COUNTS_EN) and count > 1:
        text = re.sub(rf"\b{_COUNTS_EN[count]}(?= pictures\b)", _COUNTS_EN[len(numbers)], text)
        text = re.sub(rf"(?<!第){_COUNTS_ZH[count]}(?=张(?:照片|图))", _COUNTS_ZH[len(numbers)], text)
    return text
