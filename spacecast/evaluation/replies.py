"""From what a model said to the letters that it chose.

A reply is read in this order, and the first reading holds:

1. Thinking is cut away (``<think> ... </think>``; what follows an opening tag that is never closed is thinking too).
2. A form that was made for machines: the last ``<answer>``, a JSON value, the last ``\\boxed{}``.
3. The whole reply is letters, or an option's text.
4. The last explicit statement: "the answer is B", "I choose B", "so B", "B is correct", a line that is only a letter.
5. The only letter, or the only option text, that a short rest mentions and does not deny.

Two letters for a single choice, and a letter that is not offered, are no answer. Letters are told from the words "a"
and "I" by what follows them.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Problem = Literal["empty", "unread", "several", "not_offered"]


@dataclass(frozen=True)
class ReplySettings:
    """Bounds of what is read as an answer."""

    max_words_of_mention: int = 40
    """A longer reply that states nothing is not searched for the only option text that it mentions: it is reasoning
    that was cut off, and the text may be the one that it was about to refuse."""
    max_chars: int = 20_000
    """Of a longer reply the end is read: a model that repeats itself is not read for hours."""
    look_back_chars: int = 120
    """What denies a letter, or supposes it, stands so near before it."""
    look_ahead_chars: int = 400
    """What a letter or a cue is followed by is read so far."""


SETTINGS = ReplySettings()


class Reading(NamedTuple):
    """What was read: the letters chosen, in the order offered; none, and why, where there is no answer."""

    letters: tuple[str, ...]
    problem: Problem | None


# What follows "A" or "I" where it is a letter and not the article or the pronoun.
_AFTER_A_LETTER = (
    "because since as is was and or due given for with based the this it that which where when in on at from by to "
    "would will should must seems seem appears looks are not if while so then but"
)
_NO_NOUN = frozenset(_AFTER_A_LETTER.split())
_AFTER = r"(?![A-Za-z0-9]|['’-][A-Za-z])"
_LETTER = rf"(?<![A-Za-z0-9])(?<![A-Za-z0-9]['’])(?P<letter>[A-Za-z]){_AFTER}"
_ONE = (
    rf"(?:(?:the\s+)?(?:options?|choices?|answers?|letters?|选项)\s*)?[(\[{{\"'“‘]{{0,4}}\s*{_LETTER}\s*[)\]}}\"'”’]*"
)
_JOIN = r"\s*(?:,\s*and|,\s*or|,|;|/|&|\+|、|和|与|以及|或|and|or)\s*"
_ONE_RE = re.compile(_ONE, re.IGNORECASE)
_JOIN_RE = re.compile(_JOIN, re.IGNORECASE)
_RUN_RE = re.compile(r"[(\[{\"'“‘]{0,4}\s*(?P<run>[A-Z]{2,26})" + _AFTER + r"\s*[)\]}\"'”’]*")
_END_RE = re.compile(
    r"\s*(?:$|[\n.!,;:。！；)\]-]|because\b|since\b|因为|是(?:对|正确)|(?:is|are)\s+(?:the\s+)?(?:correct|right)\b)"
)

_BE = (
    r"\s*(?:\s+(?:option|choice|letter))?\s*(?:is|are|should\s+be|would\s+be|must\s+be|will\s+be|might\s+be|:|=|-)+\s*"
)
_CUE_RE = re.compile(
    r"(?:"
    rf"(?<![A-Za-z])(?:answers?|correct\s+(?:option|choice|letter)s?|right\s+(?:option|choice)|conclusion|choices?)\b{_BE}"
    r"|(?:答案|正确选项|正确的选项|正确的是|结论)\s*(?:应该|应当|应|选择|选)?\s*(?:是|为|:|选)+\s*"
    r")",
    re.IGNORECASE,
)
# Cues whose letter has to end the clause: the words are common otherwise.
_WEAK_CUE_RE = re.compile(
    r"(?:"
    r"(?<![A-Za-z])(?:I(?:'d|’d|\s+would|\s+will|'ll|’ll)?\s+)?(?:choose|pick|select|go\s+with|chose|selected|going\s+with)\s+"
    r"|(?<![A-Za-z])(?:so|therefore|thus|hence|actually|finally)\s*[,:]?\s*(?:it(?:'s|’s|\s+is|\s+must\s+be)\s+)?"
    r"|(?<!不)(?<!不应)(?<!不能)选(?:择|项)?\s*(?:是|为|:)?\s*"
    r"|(?:所以|因此|故|因而)\s*(?:是|为|应该是|[,:])?\s*"
    r")",
    re.IGNORECASE,
)
_IS_RIGHT_RE = re.compile(
    rf"{_ONE}\s*(?:\s+(?:is|are|must\s+be)\s+(?:the\s+)?(?:correct|right|best|answer|true)\b|(?:是)?(?:正确|对的))",
    re.IGNORECASE,
)
_IS_WRONG_RE = re.compile(
    r"\s*(?:(?:is|are|was|would\s+be|can\s*be|must\s+be|seems)\s+(?:\w+\s+)?(?:not\b|wrong|incorrect|false|out\b|ruled\s+out|impossible)"
    r"|(?:isn't|isn’t|cannot|can't|can’t)\b|(?:是|也|并)?(?:不|错))",
    re.IGNORECASE,
)
_DENIED_RE = re.compile(
    r"(?:\bnot|n't|n’t|\bneither|\bnor|\bexcept|\bnever|\brule\s+out|\bexclude|不是|不|非|排除)\s*(?:option|选项|选|the|to|in|on|at|是|在|\s)*[(\[\"'“]*\s*$",
    re.IGNORECASE,
)
_HYPOTHESIS_RE = re.compile(
    r"(?:\bif|\bwhether|\bunless|\bwhy|如果|假如|若)\s*(?:the|that|my|your|correct|正确|\s)*$", re.IGNORECASE
)
_THINK_END_RE = re.compile(r"</\s*(?:think|thinking|thought|reasoning)\s*>", re.IGNORECASE)
_THINK_START_RE = re.compile(r"<\s*(?:think|thinking|thought|reasoning)\s*>", re.IGNORECASE)
_ANSWER_TAG_RE = re.compile(r"<\s*answer\s*>(.*?)(?:</\s*answer\s*>|$)", re.IGNORECASE | re.DOTALL)
_TAG_RE = re.compile(r"</?[A-Za-z][^<>]{0,40}>")
_FENCE_RE = re.compile(r"```[a-zA-Z]*\s*\n?(.*?)```", re.DOTALL)
_JSON_KEY_RE = re.compile(
    r"\"(?:final_?answer|answer|choice|option|letter|prediction|答案)\"\s*:\s*(\[[^\]]*\]|\"[^\"]*\")", re.IGNORECASE
)
_JSON_KEYS = ("final_answer", "finalanswer", "answer", "choice", "option", "letter", "prediction", "答案")
_COMPASS_RE = re.compile(r"\b(north|south) (east|west)\b")
_ARTICLES_RE = re.compile(
    r"^(?:(?:it|that|this)(?:'s|’s| is) )?(?:(?:to|in|on|at|towards?) )?(?:(?:the|a|an|its|your) )?(?:option )?"
)


def read_reply(reply: str, options: Sequence[str], labels: Sequence[str], *, multi_select: bool = False) -> Reading:
    """The letters that a reply chooses.

    Args:
        reply: what the model said, whole.
        options: texts, in the order of ``labels``.
        labels: the letters offered, upper case.
        multi_select: True if several letters may be chosen.
    """
    return _Reader(options, labels, multi_select).read(reply)


def read_prediction(prediction: Any, options: Sequence[str], labels: Sequence[str], *, multi_select: bool) -> Reading:
    """The letters of a ``prediction`` field: a letter, a comma list, or a list of letters; None is no answer."""
    reader = _Reader(options, labels, multi_select)
    if isinstance(prediction, str):
        return reader.read(prediction)
    if isinstance(prediction, list | tuple):
        return reader.from_parts(list(prediction))
    return Reading((), "empty" if prediction is None else "unread")


class _Reader:
    """Reads replies to one question."""

    def __init__(self, options: Sequence[str], labels: Sequence[str], multi_select: bool) -> None:
        self.labels = tuple(labels)
        self.multi_select = multi_select
        self.letters_of_text = _letters_of_texts(options, labels)
        texts = sorted(self.letters_of_text, key=lambda text: (-len(text), text))
        inner = "|".join(re.escape(text) for text in texts) or r"(?!)"
        self.text_re = re.compile(rf"(?<![A-Za-z0-9])(?:{inner})(?![A-Za-z0-9])")

    # -- whole reply ------------------------------------------------------------------------------------------------

    def read(self, reply: str) -> Reading:
        text = _without_thinking(unicodedata.normalize("NFKC", reply))[-SETTINGS.max_chars :]
        if not text.strip():
            return Reading((), "empty")
        tagged = _ANSWER_TAG_RE.findall(text)
        if tagged and tagged[-1].strip():
            return self.read_text(tagged[-1])
        return self.read_text(text)

    def read_text(self, text: str) -> Reading:
        for form in (self.json_form, self.boxed_form):
            found = form(text)
            if found is not None:
                return found
        plain = _plain(text)
        for reading in (self.whole(plain), self.statement(plain), self.mention(plain)):
            if reading is not None:
                return reading
        return Reading((), "unread" if plain.strip() else "empty")

    def json_form(self, text: str) -> Reading | None:
        fenced = _FENCE_RE.findall(text)
        for body in [*reversed(fenced), text]:
            try:
                value = json.loads(body)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                lowered = {str(key).lower(): entry for key, entry in value.items()}
                value = next((lowered[key] for key in _JSON_KEYS if key in lowered), None)
            if isinstance(value, str) and value.strip():
                return self.read_text(value) if value != text else None
            if isinstance(value, list):
                return self.from_parts(value)
        inside = _JSON_KEY_RE.findall(text)
        if inside:
            value = json.loads(inside[-1]) if _is_json(inside[-1]) else None
            if isinstance(value, str):
                return self.read_text(value)
            if isinstance(value, list):
                return self.from_parts(value)
        return None

    def boxed_form(self, text: str) -> Reading | None:
        start = text.rfind("\\boxed")
        if start < 0:
            return None
        body = _braced(text[start + len("\\boxed") :])
        return self.read_text(body) if body.strip() else None

    def from_parts(self, parts: list[Any]) -> Reading:
        letters: list[str] = []
        for part in parts:
            if not isinstance(part, str):
                return Reading((), "unread")
            one = self.whole(_plain(unicodedata.normalize("NFKC", part)))
            if one is None:
                return Reading((), "unread")
            if one.problem:
                return one
            letters += one.letters
        return self.chosen(letters) if letters else Reading((), "empty")

    # -- parts of a reply -------------------------------------------------------------------------------------------

    def whole(self, plain: str) -> Reading | None:
        """The reply is letters alone, or one option's text alone (several for a multi-select)."""
        text = plain.strip()
        by_text = self.letters_of_text.get(_key(text))
        if by_text is not None:
            return self.of_text(by_text)
        found = self.letters_at(text, 0)
        if found is not None and re.fullmatch(r"[\s.!,;:。)\]]*", text[found[1] :]):
            return self.chosen(found[0])
        if re.fullmatch(r"[A-Za-z]{2,26}", text.rstrip(".!。")) and self.multi_select:
            run = text.rstrip(".!。").upper()
            if set(run) <= set(self.labels) and len(set(run)) == len(run):
                return self.chosen(list(run))
        if self.multi_select:
            if re.fullmatch(r"[A-Za-z](?:[\s,;、]+[A-Za-z])+[\s.。]*", text):
                return self.chosen(re.findall(r"[A-Z]", text.upper()))
            parts = [part for part in re.split(r"[,;、\n]|\band\b|和", text.rstrip(".。")) if part.strip()]
            named = [self.named_part(part) for part in parts]
            if parts and all(named):
                return self.chosen([letter for letter in named if letter])
        return None

    def named_part(self, part: str) -> str | None:
        """The letter of one part of a list: an option's text, with or without its letter."""
        letters = self.letters_of_text.get(_key(part))
        if letters is not None and len(letters) == 1:
            return letters[0]
        at = self.letters_at(part, 0)
        if at is not None and len(at[0]) == 1 and self.own_text_follows(at[0][0], part[at[1] :]):
            return at[0][0]
        return None

    def statement(self, plain: str) -> Reading | None:
        """The last explicit statement."""
        found: list[tuple[int, Reading]] = []
        for match in _CUE_RE.finditer(plain):
            if not _HYPOTHESIS_RE.search(_before(plain, match.start())):
                reading = self.payload(plain, match.end())
                if reading is not None:
                    found.append((match.end(), reading))
        for match in _WEAK_CUE_RE.finditer(plain):
            at = self.letters_at(plain, match.end())
            before = _before(plain, match.start())
            denied = _DENIED_RE.search(before) or _HYPOTHESIS_RE.search(before)
            if at is not None and not denied and _END_RE.match(plain, at[1]) and not _IS_WRONG_RE.match(plain, at[1]):
                found.append((match.end(), self.chosen(at[0])))
        for match in _IS_RIGHT_RE.finditer(plain):
            letter = match["letter"]
            if letter.isupper() and not _DENIED_RE.search(_before(plain, match.start())):
                found.append((match.start(), self.chosen([letter])))
        found += self.lines(plain)
        return max(found, key=lambda item: item[0])[1] if found else None

    def payload(self, plain: str, start: int) -> Reading | None:
        """What a strong cue is followed by: letters, an option's text, or a clause with one letter in it."""
        at = self.letters_at(plain, start)
        if at is not None:
            return None if _IS_WRONG_RE.match(plain, at[1]) else self.chosen(at[0])
        rest = plain[start : start + SETTINGS.look_ahead_chars].lstrip()
        clause = re.split(r"\n|(?<=[a-z)])\.(?:\s|$)|。", rest, maxsplit=1)[0]
        if self.multi_select:
            listed = self.whole(clause)
            if listed is not None:
                return listed
        key = _ARTICLES_RE.sub("", _key(clause))
        match = self.text_re.match(key)
        if match:
            return self.of_text(self.letters_of_text[match[0]])
        if re.match(r"(?:not|n't|neither|不)\b", key):
            return None
        letters = self.mentioned_letters(clause)
        return self.chosen(letters) if letters and not self.multi_select else None

    def lines(self, plain: str) -> list[tuple[int, Reading]]:
        """Lines that are only letters; or a letter and its own option's text, where that is no list of options."""
        alone: list[tuple[int, Reading]] = []
        with_text: list[tuple[int, list[str]]] = []
        position = 0
        for line in plain.splitlines(keepends=True):
            text = line.strip()
            at = self.letters_at(text, 0)
            if at is not None:
                rest = text[at[1] :]
                if re.fullmatch(r"[\s.!,;:。)\]]*", rest):
                    alone.append((position, self.chosen(at[0])))
                elif len(at[0]) == 1 and self.own_text_follows(at[0][0], rest):
                    with_text.append((position, at[0]))
                elif (
                    position == 0
                    and re.match(r"\s*[.):,;—–-]\s*\S|\s*(?:because|since)\b", rest)
                    and not _IS_WRONG_RE.match(rest)
                ):
                    alone.append((position, self.chosen(at[0])))
            position += len(line)
        letters = sorted({letter for _, found in with_text for letter in found})
        if len(letters) == 1 or (letters and self.multi_select):
            alone.append((with_text[-1][0], self.chosen(letters)))
        return alone

    def mention(self, plain: str) -> Reading | None:
        """The only letter that is mentioned and not denied; else the only option text of a short reply."""
        if self.multi_select:
            letters = self.mentioned_letters(plain)
            return self.chosen(letters) if len(set(letters)) == 1 and self.is_short(plain) else None
        letters = self.mentioned_letters(plain)
        if letters:
            return self.chosen(letters)
        if not self.is_short(plain):
            return None
        key = _key(plain)
        texts = {
            self.letters_of_text[match[0]]
            for match in self.text_re.finditer(key)
            if not _DENIED_RE.search(_before(key, match.start()))
        }
        if len(texts) > 1:
            return Reading((), "several")
        return self.of_text(texts.pop()) if texts else None

    def mentioned_letters(self, text: str) -> list[str]:
        found = []
        for match in _ONE_RE.finditer(text):
            letter = match["letter"]
            meant = letter.isupper() or match[0].strip().startswith(("(", "["))
            denied = _DENIED_RE.search(_before(text, match.start())) or _IS_WRONG_RE.match(text, match.end())
            if meant and not denied and not self.is_word(text, match):
                found.append(letter.upper())
        return found

    # -- small parts ------------------------------------------------------------------------------------------------

    def letters_at(self, text: str, start: int) -> tuple[list[str], int] | None:
        """A list of letters at a position, and where it ends."""
        while start < len(text) and text[start].isspace():
            start += 1
        run = _RUN_RE.match(text, start)
        if run and self.multi_select and set(run["run"]) & set(self.labels) and len(set(run["run"])) == len(run["run"]):
            return list(run["run"]), run.end()
        letters: list[str] = []
        end = start
        while True:
            join = _JOIN_RE.match(text, end) if letters else None
            if letters and join is None:
                break
            one = _ONE_RE.match(text, join.end() if join else end)
            if one is None or self.is_word(text, one):
                break
            letters.append(one["letter"].upper())
            end = one.end()
        return (letters, end) if letters else None

    def is_word(self, text: str, match: re.Match[str]) -> bool:
        """True if what looks like a letter is the article "a" or the pronoun "I"."""
        letter = match["letter"]
        if letter.upper() not in "AI":
            return False
        after = text[match.end() : match.end() + SETTINGS.look_ahead_chars]
        if match.end() != match.end("letter") and text[match.end("letter")] in ")]}\"'”’":
            return False
        word = re.match(r"[ \t]+([A-Za-z]+)", after)
        if word is None and match[0][-1].isspace():  # the pattern has eaten the space
            word = re.match(r"([A-Za-z]+)", after)
        if word is None:
            return False
        return word[1].lower() not in _NO_NOUN and not self.own_text_follows(letter.upper(), after)

    def own_text_follows(self, letter: str, rest: str) -> bool:
        key = _key(re.sub(r"^[\s.):,;\]—–-]+", "", rest))
        match = self.text_re.match(key)
        return match is not None and letter in self.letters_of_text[match[0]]

    def is_short(self, plain: str) -> bool:
        return len(plain.split()) <= SETTINGS.max_words_of_mention

    def of_text(self, letters: tuple[str, ...]) -> Reading:
        return self.chosen(letters) if len(letters) == 1 else Reading((), "several")

    def chosen(self, letters: Sequence[str]) -> Reading:
        if not set(letters) <= set(self.labels):
            return Reading((), "not_offered")
        ordered = tuple(label for label in self.labels if label in letters)
        if len(ordered) > 1 and not self.multi_select:
            return Reading((), "several")
        return Reading(ordered, None)


def _letters_of_texts(options: Sequence[str], labels: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Normalised option text -> the letters that read so; also the text without what it says in brackets."""
    found: dict[str, list[str]] = {}
    for option, label in zip(options, labels, strict=True):
        text = unicodedata.normalize("NFKC", option)
        for form in sorted({_key(text), _key(re.sub(r"\([^)]*\)", "", text))} - {""}):
            found.setdefault(form, []).append(label)
    return {text: tuple(letters) for text, letters in found.items()}


def _key(text: str) -> str:
    """Lower case, words apart by one space, no marks at the ends: what two spellings of one text share."""
    words = re.sub(r"[-_\s]+", " ", text.lower()).strip(" .!?,;:。\"'“”()[]")
    return _COMPASS_RE.sub(r"\1\2", words)


def _without_thinking(text: str) -> str:
    ends = list(_THINK_END_RE.finditer(text))
    if ends:
        text = text[ends[-1].end() :]
    start = _THINK_START_RE.search(text)
    return text[: start.start()] if start else text


def _plain(text: str) -> str:
    """Without markup: LaTeX text commands, tags, fences, emphasis."""
    text = re.sub(r"\\(?:text|mathrm|mathbf|textbf|mathit|rm)\s*\{([^{}]*)\}", r"\1", text)
    text = re.sub(r"\\[()\[\]]", " ", text)
    text = re.sub(r"```[a-zA-Z]*", "", _TAG_RE.sub("", text))
    text = re.sub(r"(?<![A-Za-z0-9])_+(?=\S)|(?<=\S)_+(?![A-Za-z0-9])", "", text)
    text = re.sub(r"[*`$#>]", "", text)
    return re.sub(r"([ \t\n])\1{3,}", r"\1\1\1", text)


def _before(text: str, end: int) -> str:
    """As much of what stands before a place as is read."""
    return text[max(0, end - SETTINGS.look_back_chars) : end]


def _braced(text: str) -> str:
    """What the braces at the start of a text hold; without braces, its first word."""
    text = text.lstrip()
    if not text.startswith("{"):
        return text.split()[0] if text.split() else ""
    depth = 0
    for index, char in enumerate(text):
        depth += (char == "{") - (char == "}")
        if depth == 0:
            return text[1:index]
    return text[1:]


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
