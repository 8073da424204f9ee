"""Labels: canonical spelling, what could be meant by one name, and what kind of thing a label names.

The kinds (``spacecast.scan.Trait``) come from our own lists in ``labels.toml``, after SEMANTICS section 2 ("Not asked
about", "Names") and section 3 (fixtures; what carries nothing); what else could be meant by a name from our own groups
in ``label_meanings.toml``; Chinese names from ``labels_zh.toml``. A label map (``scannetv2-labels.combined.tsv``),
where there is one, gives class groups, categories and synsets beside them, and confirms kinds by its NYU40 class.
``label_classes.toml`` has the class lists of public benchmarks.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from scannet_tools.raw_files import read_whole
from spacecast.errors import InputError
from spacecast.scan import Instance, Trait

LABEL_MAP_NAME = "scannetv2-labels.combined.tsv"

CATCH_ALL = frozenset(
    (
        "otherprop",
        "otherfurniture",
        "otherstructure",
        "objects",
        "appliances",
        "misc",
        "furniture",
        "lighting",
        "unlabeled",
    )
)
"""Classes that hold whatever fits nowhere else; SEMANTICS section 2, "Names"."""

_PLURALS = (
    *(("shelves", "shelf"), ("boxes", "box"), ("benches", "bench"), ("couches", "couch"), ("brushes", "brush")),
    *(("dishes", "dish"), ("mattresses", "mattress"), ("ies", "y"), ("ss", "ss"), ("s", "")),
)
"""Endings of several, and of one of them."""

_FOLLOWS = re.compile(r" (?:of|with|without|for|on|in|from) ")
"""After these words a label says more about the thing that stands before them."""

_WORD_TRAITS: tuple[Trait, ...] = (
    "structure",
    "floor",
    "wall",
    "ceiling",
    "door",
    "see_through",
    "shapeless",
    "carries_nothing",
    "soft",
    "fixture",
    "installed",
)


class LabelRow(NamedTuple):
    """What a label map says of one raw label; None where a cell is empty or a column is not there."""

    category: str | None
    nyu40class: str | None
    mpcat40: str | None
    synset: str | None


@dataclass(frozen=True, eq=False)
class LabelMap:
    """A label map by raw label; of repeated labels the first row counts."""

    rows: Mapping[str, LabelRow] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str | Path) -> LabelMap:
        """Read a tab-separated label map with a column ``raw_category``; other columns and cells may be missing.

        Raises:
            InputError: the file cannot be read, or has no such column.
        """
        path = Path(path)
        text = read_whole(path).decode("utf-8-sig", errors="replace")
        lines = [line for line in re.split(r"[\r\n]+", text) if line.strip()]
        names = [name.strip() for name in lines[0].split("\t")] if lines else []
        if "raw_category" not in names:
            raise InputError(f"{path}: not a label map: its first line has no column raw_category")
        rows: dict[str, LabelRow] = {}
        for line in lines[1:]:
            cells = {name: cell.strip() for name, cell in zip(names, line.split("\t"), strict=False)}
            raw_label = _plain(cells.get("raw_category", ""))
            row = LabelRow(
                cells.get("category") or None,
                cells.get("nyu40class") or None,
                cells.get("mpcat40") or None,
                cells.get("wnsynsetid") or cells.get("wnsynsetkey") or None,
            )
            if raw_label:
                rows.setdefault(raw_label, row)
        return cls(rows)

    def get(self, raw_label: str) -> LabelRow | None:
        """The row of a raw label in any case and spacing, or of its mended spelling."""
        return self.rows.get(_plain(raw_label)) or self.rows.get(canonical_label(raw_label))


def find_label_map(folder: Path, *, levels: int = 3) -> Path | None:
    """The label map in a folder or in up to ``levels`` folders above it."""
    folder = folder.absolute()
    for place in (folder, *list(folder.parents)[:levels]):
        path = place / LABEL_MAP_NAME
        if path.is_file():
            return path
    return None


def canonical_label(raw_label: str) -> str:
    """A label for people: lower case, single spaces, spelling mended, and no word that questions have for their
    pictures and cameras; ``unknown`` where it is blank."""
    plain = _plain(raw_label)
    mended = _lists()["spelling"].get(plain, plain)
    return _lists()["renamed"].get(mended, mended) or "unknown"


def instance_of(
    instance_id: int, raw_label: str, label_map: LabelMap | None = None, *, lost_share: float = 0.0
) -> Instance:
    """The instance of a raw label, with everything that this module knows of it."""
    label = canonical_label(raw_label)
    row = label_map.get(raw_label) if label_map is not None else None
    return Instance(
        instance_id,
        raw_label,
        label,
        class_group=_class_group(row),
        meanings=meanings_of(label, is_mapped=row is not None),
        category=canonical_label(row.category) if row and row.category else None,
        synset=row.synset if row else None,
        traits=traits_of(label, row.nyu40class if row else None),
        label_zh=label_zh(label),
        lost_share=lost_share,
    )


@cache
def traits_of(label: str, nyu40class: str | None = None) -> frozenset[Trait]:
    """What kind of thing a canonical label names; a NYU40 class, where known, adds to it."""
    lists = _lists()
    if label in lists["clutter"]["exact"]:
        return frozenset({"clutter"})
    before, _, after = label.partition(" of ")
    heap = bool(after) and before in lists["collective"]["heaps"]
    head = after if heap else before
    singular = _singular(head)
    found: set[Trait] = set()
    for trait in _WORD_TRAITS:
        entry = lists[trait]
        wrong = any(_is_or_ends_in(word, entry.get("not", ())) for word in (head, singular))
        if not wrong and any(_is_or_ends_in(word, entry["words"]) for word in (head, singular)):
            found.add(trait)
    found.update(lists["nyu40"].get(nyu40class, ()))
    if heap or _is_collective(head):
        found.add("collective")
    return frozenset(found)


@cache
def meanings_of(label: str, *, is_mapped: bool = False) -> frozenset[str]:
    """Our own groups of a canonical label: two labels that share one could be meant by one name.

    Args:
        label: as :func:`canonical_label` gives it.
        is_mapped: True where a label map lists the label: then only groups that list it too count. Otherwise a label
            that no group lists has the groups of its longest last words that some group lists.
    """
    groups = _meanings()
    ways = _ways_to_say(label)
    for way in ways:
        if canonical_label(way) in groups:
            return groups[canonical_label(way)]
    if is_mapped:
        return frozenset()
    split = [way.split(" ") for way in ways]
    for length in range(max(map(len, split)) - 1, 0, -1):
        for words in split:
            ending = canonical_label(" ".join(words[-length:]))
            if length < len(words) and ending in groups:
                return groups[ending]
    return frozenset()


def is_known(label: str) -> bool:
    """True if some table of ours says what a canonical label is: its kind, what it could mean, its name in Chinese."""
    return bool(traits_of(label) or meanings_of(label)) or label in _meanings() or label in _table_zh()


def class_names(benchmark: str) -> tuple[str, ...]:
    """The classes of a public benchmark, in its order and spelling.

    Args:
        benchmark: ``nyu40``, ``mpcat40``, ``scannet200`` or ``scannetpp100``.

    Raises:
        InputError: no such list.
    """
    lists = _classes()
    if benchmark not in lists:
        raise InputError(f"no list of classes {benchmark!r}; known: {', '.join(lists)}")
    return tuple(lists[benchmark])


@cache
def label_zh(label: str) -> str | None:
    """The Chinese name of a canonical label, or None where the table has none."""
    return _table_zh().get(label)


def _is_collective(head: str) -> bool:
    entry = _lists()["collective"]
    if _is_or_ends_in(head, entry["not"]):
        return False
    is_plural = head.endswith("s") and not head.endswith("ss") and not _is_or_ends_in(head, entry["singular"])
    return is_plural or _is_or_ends_in(head, entry["words"])


def _class_group(row: LabelRow | None) -> str | None:
    """The pair of a label map's classes, unless both are catch-all or one is missing."""
    if row is None or row.nyu40class is None or row.mpcat40 is None or {row.nyu40class, row.mpcat40} <= CATCH_ALL:
        return None
    return f"{row.nyu40class}|{row.mpcat40}"


def _ways_to_say(label: str) -> list[str]:
    """A label; the thing alone that it says more about ("chair with arms"), or that a heap is of; and one of each."""
    ways = [label]
    before, _, after = label.partition(" of ")
    if after and before in _lists()["collective"]["heaps"]:
        ways.append(after)
    else:
        ways.append(_FOLLOWS.split(label, maxsplit=1)[0])
    return list(dict.fromkeys(form for way in ways for form in (way, _singular(way))))


def _is_or_ends_in(label: str, words: list[str] | tuple[str, ...]) -> bool:
    return any(label == word or label.endswith(" " + word) for word in words)


def _singular(label: str) -> str:
    """One of several, by the regular endings: ``shower walls``, ``boxes``, ``shelves``; else the label itself."""
    for ending, one in _PLURALS:
        if label.endswith(ending):
            return label[: len(label) - len(ending)] + one
    return label


def _plain(text: str) -> str:
    return " ".join(text.replace("_", " ").lower().split())


@cache
def _lists() -> dict[str, Any]:
    return tomllib.loads(files("scannet_tools").joinpath("labels.toml").read_text(encoding="utf-8"))


@cache
def _table_zh() -> dict[str, str]:
    return tomllib.loads(files("scannet_tools").joinpath("labels_zh.toml").read_text(encoding="utf-8"))["labels"]


@cache
def _meanings() -> dict[str, frozenset[str]]:
    """Label -> its groups; none for a label that stands alone."""
    table = tomllib.loads(files("scannet_tools").joinpath("label_meanings.toml").read_text(encoding="utf-8"))
    found: dict[str, set[str]] = {label: set() for label in table["alone"]["labels"]}
    for name, labels in table["groups"].items():
        for label in labels:
            found.setdefault(label, set()).add(name)
    return {label: frozenset(names) for label, names in found.items()}


@cache
def _classes() -> dict[str, list[str]]:
    return tomllib.loads(files("scannet_tools").joinpath("label_classes.toml").read_text(encoding="utf-8"))["classes"]
