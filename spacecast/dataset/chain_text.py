"""In which picture a text says that an object is to be found, read back from the words.

A question on several pictures says it in one sentence that names the first and the last picture and every object:
"The chair is in picture 1, the desk in picture 4." Clauses are parted by semicolons and commas, a number belongs to the
names beside it. Nothing of the templates is known here; a wording that cannot be read so says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Literal, NamedTuple

_SENTENCE = re.compile(r"(?<=[.?!])\s+|(?<=[。？！])")
_PICTURE = re.compile(r"\bpictures? (\d+)|第\s*(\d+)\s*张")
_COUNTS = {
    word: count
    for count, words in enumerate(
        ("two 两", "three 三", "four 四", "five 五", "six 六", "seven 七", "eight 八"), start=2
    )
    for word in words.split()
}
_COUNT = re.compile(rf"\b({'|'.join(w for w in _COUNTS if w.isascii())}) pictures\b|([两三四五六七八])张")


class Said(NamedTuple):
    """What a text says of the pictures."""

    places: Mapping[int, int]
    """Object id -> number of the picture in which it is to be found, from 1; empty where nothing is said."""
    counts: frozenset[int]
    """How many pictures there are, as the text says it."""
    numbers: frozenset[int]
    """Pictures that are mentioned at all."""
    afterwards: frozenset[int]
    """Pictures that are mentioned in sentences after the one that says where objects are."""


def said_of(question: str, names: Mapping[int, str], last: int) -> Said:
    """What a question says of pictures.

    Args:
        question: in English or Chinese.
        names: of the objects, as the text has them.
        last: number of the last picture.
    """
    text = question.replace("\n", " ")
    places: dict[int, int] = {}
    afterwards: set[int] = set()
    for sentence in _SENTENCE.split(text):
        if places:
            afterwards |= _pictures(sentence)
        else:
            places = _places(sentence, names, last)
    counts = frozenset(_COUNTS[match[1] or match[2]] for match in _COUNT.finditer(text.lower()))
    return Said(places, counts, frozenset(_pictures(text)), frozenset(afterwards))


def mentioned(text: str, names: Mapping[int, str]) -> frozenset[int]:
    """Ids of the objects that a text in English or Chinese names; of names within names the longest is meant."""
    found = {names[i].lower() for kind, i in _mentions(text, names) if kind == "object"}
    return frozenset(i for i, name in names.items() if name.lower() in found)


def _pictures(text: str) -> set[int]:
    return {number for _, number in _mentions(text, {})}


Mention = tuple[Literal["picture", "object"], int]


def _places(sentence: str, names: Mapping[int, str], last: int) -> dict[int, int]:
    """Object id -> picture, if a sentence names all objects, each once, and the first and the last picture alone."""
    mentions = list(_mentions(sentence, names))
    ids = [i for kind, i in mentions if kind == "object"]
    if sorted(ids) != sorted(names) or {n for kind, n in mentions if kind == "picture"} != {1, last}:
        return {}
    found: dict[int, int] = {}
    for part in re.split(r"[;；]", sentence):
        runs = [(kind, [n for _, n in run]) for kind, run in groupby(_mentions(part, names), key=lambda m: m[0])]
        if len(runs) % 2 or any(kind == "picture" and len(set(run)) > 1 for kind, run in runs):
            return {}
        for (kind, one), (_, other) in zip(runs[::2], runs[1::2], strict=True):
            objects, pictures = (one, other) if kind == "object" else (other, one)
            found |= dict.fromkeys(objects, pictures[0])
    return found


def _mentions(sentence: str, names: Mapping[int, str]) -> Iterator[Mention]:
    """Pictures and objects in the order in which a sentence has them; of names within names the longest."""
    ids = {name.lower(): i for i, name in names.items() if name}
    longest = sorted(ids, key=lambda name: (-len(name), name))
    inner = "|".join(rf"(?<![a-z0-9]){re.escape(n)}(?![a-z0-9])" if n.isascii() else re.escape(n) for n in longest)
    for match in re.finditer(rf"{_PICTURE.pattern}|({inner or '(?!)'})", sentence.lower()):
        number = match[1] or match[2]
        yield ("picture", int(number)) if number else ("object", ids[match[3]])
