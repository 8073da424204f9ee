"""Text-only audit: can the answer be guessed from the words? SEMANTICS section 6, its last paragraph.

A classifier sees question and options, no picture. It is trained on the questions of some scenes and asked about those
of others. Two readings: (a) with object names replaced by tokens, where nothing but a fault of ours can help; (b) the
full text, where knowledge of the world may.

The classifier is a conditional logit (McFadden 1974): every choice that a question leaves (an option; for multi-
select a set of options) gets a score, linear in its features, and the choices of one question compete in a softmax.
Features of an option: its words and pairs of words, its letter, its length against the others, whether its words are
in the question, each of these words of the question beside the option's text, and, for directions, how far it is
turned against each direction that the question states. Weights have a Gaussian prior; fitted by Newton's method;
nothing is drawn.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize
from scipy.stats import binom, norm

from spacecast.dataset.rows import Row

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]
Reading = Literal["names_replaced", "full_text"]


@dataclass(frozen=True)
class AuditSettings:
    """When the text gives answers away, and how hard the classifier looks."""

    above_chance: float = 0.04
    """(a) fails above chance by more than this; SEMANTICS 6."""
    above_chance_full_text: float = 0.15
    """(b) fails above chance by more than this; SEMANTICS 6."""
    standard_errors: float = 3.0
    """And by more than so many sqrt(c (1 - c) / n); SEMANTICS 6 for (a), ours for (b): few questions prove nothing."""
    standard_errors_of_a_part: float = 4.0
    """The same for the questions of a type that show one, two, or more pictures: there are three times as many such
    parts as types, and none of a fair dataset may fail (own)."""
    exempt_from_full_text: tuple[str, ...] = ("attachment",)
    """Families whose names carry knowledge of the world: what stands on a table."""
    folds: int = 5
    """Parts that scenes are dealt into; fewer where there are fewer scenes (own)."""
    prior_precision: float = 1.0
    """Of the Gaussian prior on weights (own)."""
    min_questions_of_feature: int = 3
    """A feature in fewer questions of the training part is left out (own)."""
    max_question_words: int = 150
    """Words and pairs of the question that are paired with options: the commonest that are not in all (own)."""
    max_iterations: int = 60
    """Of Newton's method (own)."""
    tolerance: float = 1e-4
    """Mean step of a weight at which it stops (own): the accuracy no longer changes."""


SETTINGS = AuditSettings()


class Verdict(NamedTuple):
    """What the classifier reached on one type in one reading.

    ``limit`` is the largest accuracy that passes. ``fails`` is true above it, except where the type is exempt, and
    except where so few questions were asked that a fair die does as well more often than ``standard_errors`` stand for.
    """

    category: str
    reading: Reading
    questions: int
    scenes: int
    chance: float
    accuracy: float
    limit: float
    fails: bool

    def __str__(self) -> str:
        how = "with names replaced" if self.reading == "names_replaced" else "with the full text"
        return (
            f"words alone, {how}, give {100 * self.accuracy:.1f} % right of {self.questions} questions; "
            f"chance is {100 * self.chance:.1f} %, the limit {100 * self.limit:.1f} %"
        )


def audit(rows: Sequence[Row], progress: Callable[[str, int, int], None] | None = None) -> list[Verdict]:
    """Both readings of every category that has questions in at least two scenes, by category.

    Of a category whose questions show one picture or several, the first reading also of those with one, with two, and
    with more: what the text says of pictures must not help either.

    Args:
        rows: of one dataset.
        progress: called with (stage, done, total).
    """
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.category, []).append(row)
    tasks: list[tuple[str, list[Row], Reading, float]] = []
    for name, group in sorted(groups.items()):
        for reading in ("names_replaced", "full_text"):
            tasks.append((name, group, reading, SETTINGS.standard_errors))
        for part, some in _parts(group).items():
            tasks.append((f"{name}, {part}", some, "names_replaced", SETTINGS.standard_errors_of_a_part))
    tasks = [task for task in tasks if len({scene_of(row) for row in task[1]}) > 1]
    verdicts = []
    for number, task in enumerate(tasks):
        if progress:
            progress("text-only audit", number, len(tasks))
        verdicts.append(_verdict(*task))
    if progress:
        progress("text-only audit", len(tasks), len(tasks))
    return verdicts


PARTS = ("one picture", "two pictures", "more pictures")


def part_of(row: Row) -> str:
    """How many pictures a question shows, of :data:`PARTS`."""
    return PARTS[min(len(row.image_roles), len(PARTS)) - 1]


def _parts(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Questions by how many pictures they show; empty where all show as many."""
    parts: dict[str, list[Row]] = {part: [] for part in PARTS}
    for row in rows:
        parts[part_of(row)].append(row)
    found = {name: part for name, part in parts.items() if part}
    return found if len(found) > 1 else {}


def limit_of(
    chance: float, questions: int, reading: Reading, standard_errors: float = SETTINGS.standard_errors
) -> float:
    """The largest accuracy that passes."""
    points = SETTINGS.above_chance if reading == "names_replaced" else SETTINGS.above_chance_full_text
    noise = standard_errors * float(np.sqrt(chance * (1.0 - chance) / questions))
    return chance + max(points, noise)


def without_names(text: str, names: Sequence[str], mentioned: dict[str, str]) -> str:
    """A text with object names replaced by tokens, numbered by their first mention in the question.

    Args:
        text: question or option.
        names: labels, in any case.
        mentioned: name -> token; a question adds to it, so read the question first and pass a copy to options.
    """
    ordered = sorted({name.lower() for name in names if name.strip()}, key=lambda name: (-len(name), name))
    if not ordered:
        return text
    inner = "|".join(re.escape(name) for name in ordered)
    pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{inner})(?:e?s)?(?![A-Za-z0-9])", re.IGNORECASE)

    def token(match: re.Match[str]) -> str:
        found = match[0].lower()
        name = next(name for name in ordered if found.startswith(name))
        return mentioned.setdefault(name, f"<name{len(mentioned) + 1}>")

    return pattern.sub(token, text)


# -- one category -----------------------------------------------------------------------------------------------------


class _Choices(NamedTuple):
    """What one question leaves to choose: the features of each choice, and which is right."""

    features: list[Counter[str]]
    right: int
    scene: tuple[str, str]


def _verdict(category: str, rows: Sequence[Row], reading: Reading, standard_errors: float) -> Verdict:
    texts = [_texts(row, reading) for row in rows]
    common = _common_words([question for question, _ in texts])
    items = [
        choices
        for row, (question, options) in zip(rows, texts, strict=True)
        if (choices := _choices(row, question, options, common)) is not None
    ]
    chance = float(np.mean([1.0 / len(item.features) for item in items]))
    accuracy = _accuracy(items)
    limit = limit_of(chance, len(items), reading, standard_errors)
    exempt = reading == "full_text" and rows[0].task in SETTINGS.exempt_from_full_text
    # The bound in standard errors holds for many questions; of few, luck passes it too often (own).
    by_luck = float(binom.sf(int(accuracy * len(items) + 1e-9) - 1, len(items), chance))
    fails = accuracy > limit and by_luck < float(norm.sf(standard_errors)) and not exempt
    scenes = len({item.scene for item in items})
    return Verdict(category, reading, len(items), scenes, chance, accuracy, limit, fails)


def scene_of(row: Row) -> tuple[str, str]:
    """What says of which scene a question is."""
    return (row.dataset, row.scene_id)


def _texts(row: Row, reading: Reading) -> tuple[str, list[str]]:
    if reading == "full_text":
        return row.question, list(row.options)
    names = [
        str(item[key])
        for item in row.facts["objects"]
        for key in ("label", "raw_label", "label_zh")
        if item.get(key) is not None
    ]
    mentioned: dict[str, str] = {}
    question = without_names(row.question, names, mentioned)
    options = []
    for option in row.options:
        known = dict(mentioned)
        text = without_names(option, names, known)
        for name, token in known.items():  # a name that the question does not hold has no number
            if name not in mentioned:
                text = text.replace(token, "<other>")
        options.append(text)
    return question, options


_WORD = re.compile(r"<\w+>|[A-Za-z]+(?:-[A-Za-z]+)*|\d+(?:\.\d+)?|[\u4e00-\u9fff]")


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _grams(text: str) -> list[str]:
    words = _words(text)
    return words + [f"{one} {other}" for one, other in pairwise(words)]


def _common_words(questions: Sequence[str]) -> frozenset[str]:
    """Words and pairs that some questions have and others have not: the commonest of them."""
    counts: Counter[str] = Counter()
    for question in questions:
        counts.update(set(_grams(question)))
    kept = [
        (word, count) for word, count in counts.items() if SETTINGS.min_questions_of_feature <= count < len(questions)
    ]
    kept.sort(key=lambda item: (-item[1], item[0]))
    return frozenset(word for word, _ in kept[: SETTINGS.max_question_words])


def _choices(row: Row, question: str, options: Sequence[str], common: frozenset[str]) -> _Choices | None:
    """None where the answer is no choice at all: verification says so elsewhere."""
    features = _option_features(question, options, common)
    if not row.multi_select:
        if len(row.answer) != 1 or row.answer[0] not in row.option_labels:
            return None
        return _Choices(features, row.option_labels.index(row.answer[0]), scene_of(row))
    sets = [s for size in range(1, len(options) + 1) for s in combinations(range(len(options)), size)]
    summed = []
    for members in sets:
        total: Counter[str] = Counter({f"size={len(members)}": 1, f"set={members}": 1})
        for member in members:
            total.update(features[member])
        summed.append(total)
    right = tuple(number for number, label in enumerate(row.option_labels) if label in row.answer)
    return _Choices(summed, sets.index(right), scene_of(row)) if right in sets else None


def _option_features(question: str, options: Sequence[str], common: frozenset[str]) -> list[Counter[str]]:
    asked = set(_grams(question))
    stated = _stated_directions(question)
    values = sorted(asked & common)
    numbers = sorted({word for word in asked if word[0].isdigit() and re.fullmatch(r"\d+(?:\.\d+)?", word)})
    lengths = [len(option) for option in options]
    found = []
    for index, option in enumerate(options):
        own = Counter({f"letter={index}": 1})
        own.update({f"word={gram}": 1 for gram in set(_grams(option))})
        own[f"text={option.lower()}"] += 1
        own["longest"] += lengths[index] == max(lengths) > min(lengths)
        own["shortest"] += lengths[index] == min(lengths) < max(lengths)
        own["words in question"] += bool(set(_words(option)) & asked)
        own.update({f"text={option.lower()} beside {word}": 1 for word in values})
        turn = turn_of(option)
        if turn is not None:
            for order, other in enumerate(stated):
                own[f"turned {(turn - other) % 8} from stated {order}"] += 1
                own.update({f"turned {(turn - other) % 8} from stated {order} beside {n}": 1 for n in numbers})
        found.append(+own)
    return found


_TURNS = {
    word: index
    for words in (
        ("front", "front-right", "right", "back-right", "back", "back-left", "left", "front-left"),
        ("forward", "forward-right", "right", "backward-right", "backward", "backward-left", "left", "forward-left"),
        ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest"),
        ("前方", "右前方", "右方", "右后方", "后方", "左后方", "左方", "左前方"),
        ("北", "东北", "东", "东南", "南", "西南", "西", "西北"),
    )
    for index, word in enumerate(words)
}
_TURN = re.compile(
    "|".join(
        rf"(?<![A-Za-z-]){word}(?![A-Za-z-])" if word.isascii() else word
        for word in sorted(_TURNS, key=lambda word: (-len(word), word))
    ),
    re.IGNORECASE,
)


def _stated_directions(question: str) -> list[int]:
    """Eighths of a turn of the direction words that a question says, in order, each once."""
    return list(dict.fromkeys(_TURNS[match[0].lower()] for match in _TURN.finditer(question)))[:4]


def turn_of(option: str) -> int | None:
    """Eighths of a turn of the direction that a text names; None where it names none, or several."""
    words = _TURN.findall(option)
    return _TURNS[words[0].lower()] if len(words) == 1 else None


# -- the classifier ---------------------------------------------------------------------------------------------------


class _Table(NamedTuple):
    """All choices of some questions, one after the other."""

    matrix: sparse.csr_array
    """(choices, features) in the order of the features' names."""
    item: Ints
    """(choices,) number of the question."""
    right: Flags
    """(choices,)"""

    @classmethod
    def of(cls, items: Sequence[_Choices]) -> _Table:
        names = sorted({name for item in items for features in item.features for name in features})
        column = {name: number for number, name in enumerate(names)}
        columns = [column[name] for item in items for features in item.features for name in features]
        values = [float(count) for item in items for features in item.features for count in features.values()]
        starts = np.cumsum([0, *(len(features) for item in items for features in item.features)])
        matrix = sparse.csr_array((values, columns, starts), shape=(len(starts) - 1, len(names)))
        matrix.sort_indices()
        sizes = [len(item.features) for item in items]
        right = np.concatenate([np.arange(len(item.features)) == item.right for item in items])
        return cls(matrix, np.repeat(np.arange(len(items)), sizes), right)

    def part(self, chosen: Flags) -> _Table:
        """Those of some of the questions (questions,)."""
        kept = np.flatnonzero(chosen[self.item])
        return _Table(self.matrix[kept], self.item[kept], self.right[kept])

    def only(self, features: Ints) -> _Table:
        """The same with some of the features."""
        return self._replace(matrix=self.matrix[:, features])

    def frequent(self) -> Ints:
        """Features that are in enough questions."""
        questions, number = np.unique(self.item, return_inverse=True)
        of = sparse.csr_array((np.ones(len(number)), (number, np.arange(len(number)))), (len(questions), len(number)))
        seen = np.bincount((of @ self.matrix).tocsr().indices, minlength=self.matrix.shape[1])
        return np.flatnonzero(seen >= SETTINGS.min_questions_of_feature)

    @property
    def starts(self) -> Ints:
        """(questions,) where the choices of each begin."""
        return np.flatnonzero(np.diff(self.item, prepend=-1))


def _accuracy(items: Sequence[_Choices]) -> float:
    """Share of questions that are answered right by a model that never saw their scene; ties share the point."""
    fold_of = _folds(items)
    fold = np.array([fold_of[item.scene] for item in items])
    table, points = _Table.of(items), 0.0
    for number in sorted(set(fold_of.values())):
        train, test = table.part(fold != number), table.part(fold == number)
        features = train.frequent()
        scores = test.only(features).matrix @ _fit(train.only(features))
        sizes = np.diff([*test.starts, len(scores)])
        best = scores >= np.repeat(np.maximum.reduceat(scores, test.starts), sizes) - 1e-9
        points += float(((best & test.right) / np.repeat(np.add.reduceat(best.astype(int), test.starts), sizes)).sum())
    return points / len(items)


def _folds(items: Iterable[_Choices]) -> dict[tuple[str, str], int]:
    """Scenes dealt into parts of like size, the largest first."""
    sizes = Counter(item.scene for item in items)
    count = min(SETTINGS.folds, len(sizes))
    filled = [0] * count
    fold_of = {}
    for scene, size in sorted(sizes.items(), key=lambda entry: (-entry[1], entry[0])):
        fold = filled.index(min(filled))
        fold_of[scene] = fold
        filled[fold] += size
    return fold_of


def _fit(table: _Table) -> Array:
    """(features,) weights."""
    matrix, first, right = table.matrix, table.starts, np.flatnonzero(table.right)
    sizes = np.diff([*first, len(table.item)])

    prior = SETTINGS.prior_precision
    across = matrix.T.tocsr()

    def shares(weights: Array) -> tuple[Array, Array]:
        """Logarithms of the chances that the model gives the choices, and the chances."""
        scores = matrix @ weights
        scores = scores - np.repeat(np.maximum.reduceat(scores, first), sizes)
        logs = scores - np.repeat(np.log(np.add.reduceat(np.exp(scores), first)), sizes)
        return logs, np.exp(logs)

    def loss(weights: Array) -> float:
        logs, _ = shares(weights)
        return float(-logs[right].sum() + 0.5 * prior * (weights @ weights))

    def slope(weights: Array) -> Array:
        _, share = shares(weights)
        share[right] -= 1.0
        return np.asarray(across @ share + prior * weights)

    def bend(weights: Array, way: Array) -> Array:
        _, share = shares(weights)
        step = share * (matrix @ way)
        step -= share * np.repeat(np.add.reduceat(step, first), sizes)
        return np.asarray(across @ step + prior * way)

    if not matrix.shape[1]:
        return np.zeros(0)
    # Products with sparse matrices only: quasi-Newton solvers call threaded libraries for tiny systems, which takes
    # many times longer than the work where the machine is busy.
    found = minimize(
        loss,
        np.zeros(matrix.shape[1]),
        jac=slope,
        hessp=bend,
        method="Newton-CG",
        options={"maxiter": SETTINGS.max_iterations, "xtol": SETTINGS.tolerance},
    )
    return np.asarray(found.x)
