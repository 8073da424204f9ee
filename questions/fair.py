"""How many questions about a change one scene gives: in turn over all answers and stated values, unlike ones first.

A change multiplies what can be asked (every angle, distance and direction of everything that moves), and only what is
kept is worked out exactly. Nothing is drawn by chance here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from spacecast.dataset.showings import Images
from spacecast.dataset.types import Draft, Refusal

T = TypeVar("T")


@dataclass(frozen=True)
class FairSettings:
    """How much one scene gives (own)."""

    max_drafts: int = 144
    """Drafts of one type about a change from one scene: twelve times what selection takes from it."""
    max_chain_drafts: int = 48
    """The same of those that show two pictures, and of those that show more."""


SETTINGS = FairSettings()


def in_turn(
    found: Iterable[T],
    *,
    cell: Callable[[T], tuple[Any, ...]],
    alike: Callable[[T], Hashable],
    rank: Callable[[T], tuple[Any, ...]],
    case: Callable[[T], str],
    make: Callable[[T], Draft | Sequence[Refusal]],
    max_drafts: int = SETTINGS.max_drafts,
) -> Iterator[Draft | Refusal]:
    """Drafts of the best found, one of each cell a round, in as many whole rounds as ``max_drafts`` allows.

    Only whole rounds, so that no cell is favoured, and what a text states does not narrow which answers are offered;
    the first round is made in any case. Within a cell, those come first whose like has been offered least in it, then
    those of the smaller rank; the rest are refused as ``more_than_enough``.

    Args:
        found: what could be asked.
        cell: the answer and all that the text states: what has to be fair.
        alike: equal for near-duplicates.
        rank: smaller is better; unique, so that the order of ``found`` does not matter.
        case: for refusals.
        make: works one out exactly: a draft, or why it is not asked after all (the next of its cell is then tried).
        max_drafts: bound.
    """
    cells: dict[tuple[Any, ...], list[T]] = {}
    for item in found:
        cells.setdefault(cell(item), []).append(item)
    queues = [_unlike_first(cells[key], alike, rank) for key in sorted(cells)]
    made, rounds = 0, 0
    while queues and (rounds == 0 or made + len(queues) <= max_drafts):
        for queue in queues:
            while queue:
                result = make(queue.pop())
                if isinstance(result, Draft):
                    made += 1
                    yield result
                    break
                yield from result
        queues = [queue for queue in queues if queue]
        rounds += 1
    for queue in queues:
        for item in reversed(queue):
            yield Refusal("selection", "more_than_enough", case(item))


def drafts_of(images: Images) -> int:
    """How many drafts one scene gives of one type and number of pictures."""
    return SETTINGS.max_drafts if images == "1" else SETTINGS.max_chain_drafts


def _unlike_first(items: Iterable[T], alike: Callable[[T], Hashable], rank: Callable[[T], tuple[Any, ...]]) -> list[T]:
    """Last to be taken first."""
    seen: Counter[Hashable] = Counter()
    order = []
    for item in sorted(items, key=rank):
        order.append((seen[alike(item)], item))
        seen[alike(item)] += 1
    order.sort(key=lambda pair: pair[0])
    return [item for _, item in reversed(order)]
