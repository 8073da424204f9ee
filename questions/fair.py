"""How many questions about a change one scene gives: as many as are wanted, fair in what is stated and answered.

A change multiplies what can be asked (every angle, distance and direction of everything that moves), and only what is
kept is worked out exactly. What a text states is drawn first, without a look at the answers, and then each answer that
goes with it is offered alike: so nothing that is stated, alone or with anything else, narrows which answers come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from spacecast.dataset.chance import number
from spacecast.dataset.context import SceneContext
from spacecast.dataset.showings import Images
from spacecast.dataset.types import Draft, Refusal

T = TypeVar("T")


@dataclass(frozen=True)
class FairSettings:
    """How much one scene gives (own)."""

    max_drafts: int = 64
    """Drafts of one type about a change from one scene: eight answers of eight stated values, say. With those below it
    is nine times what selection takes."""
    max_chain_drafts: int = 24
    """The same of those that show two pictures, and of those that show more."""


SETTINGS = FairSettings()


def in_turn(
    found: Iterable[T],
    *,
    stated: Callable[[T], tuple[Any, ...]],
    answer: Callable[[T], str],
    alike: Callable[[T], Hashable],
    rank: Callable[[T], tuple[Any, ...]],
    case: Callable[[T], str],
    make: Callable[[T], Draft | Sequence[Refusal]],
    key: tuple[str, ...],
    max_drafts: int = SETTINGS.max_drafts,
) -> Iterator[Draft | Refusal]:
    """Drafts of the best found: for one stated value after another one of each answer, until there are enough.

    A stated value is never left before each of its answers has had its turn, and comes again only after all others.
    Among those of one stated value and answer, those come first whose like has been offered least, then those of the
    smaller rank; what is left is refused as ``more_than_enough``.

    Args:
        found: what could be asked.
        stated: all that the text states: equally long for all.
        answer: as far as it is known.
        alike: equal for near-duplicates.
        rank: smaller is better; unique, so that the order of ``found`` does not matter.
        case: for refusals.
        make: works one out exactly: a draft, or why it is not asked after all (the next is then tried).
        key: of the scene and the type; which stated values come first is drawn from it.
        max_drafts: no further stated value is begun once there are so many.
    """
    cells: dict[tuple[Any, ...], dict[str, list[T]]] = {}
    for item in found:
        cells.setdefault(stated(item), {}).setdefault(answer(item), []).append(item)
    queues = {
        value: [_unlike_first(answers[name], alike, rank) for name in sorted(answers)]
        for value, answers in cells.items()
    }
    made = 0
    for value in _rounds(queues, key):
        if made >= max_drafts:
            break
        for queue in queues[value]:
            while queue:
                result = make(queue.pop())
                if isinstance(result, Draft):
                    made += 1
                    yield result
                    break
                yield from result
    for value in sorted(queues):
        for queue in queues[value]:
            for item in reversed(queue):
                yield Refusal("selection", "more_than_enough", case(item))


def key_of(context: SceneContext, code: str, images: Images) -> tuple[str, ...]:
    """For :func:`in_turn`: of a scene, a type and a number of pictures."""
    return context.scan.dataset, context.scan.scene_id, code, images


def drafts_of(images: Images) -> int:
    """How many drafts one scene gives of one type and number of pictures."""
    return SETTINGS.max_drafts if images == "1" else SETTINGS.max_chain_drafts


def _rounds(queues: dict[tuple[Any, ...], list[list[T]]], key: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """Stated values as long as they have something left, all once a round."""
    order = []
    for value in _evenly(queues, key):
        order.append(value)
        yield value
    while order := [value for value in order if any(queues[value])]:
        yield from order


def _evenly(values: Iterable[tuple[Any, ...]], key: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """Those first whose parts have come least, so that any first few hold all directions, say; else as drawn."""
    left = {value: number(*key, *map(str, value)) for value in values}
    times: Counter[tuple[int, Any]] = Counter()
    while left:
        value = min(left, key=lambda value: (sum(times[part] for part in enumerate(value)), left[value]))
        del left[value]
        times.update(enumerate(value))
        yield value


def _unlike_first(items: Iterable[T], alike: Callable[[T], Hashable], rank: Callable[[T], tuple[Any, ...]]) -> list[T]:
    """Last to be taken first."""
    seen: Counter[Hashable] = Counter()
    order = []
    for item in sorted(items, key=rank):
        order.append((seen[alike(item)], item))
        seen[alike(item)] += 1
    order.sort(key=lambda pair: pair[0])
    return [item for _, item in reversed(order)]
