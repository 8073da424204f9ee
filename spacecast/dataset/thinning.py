"""Which drafts of one scene and type are kept where there are more than selection can look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from spacecast.dataset.types import Draft


def in_turns(drafts: Sequence[Draft], draw: Callable[[str], int]) -> list[Draft]:
    """Drafts in such an order that any first part of it is as varied as may be.

    What is balanced later is a cell here: an answer, an answer counted from the stated motion, both beside each value
    that the text states, and a picture. Every cell has its first draft before any cell has its second for its own
    sake, and so on; in a cell unlike drafts come first, then preferred ones, then those of smaller draw.

    Args:
        drafts: of one type and scene, in any order.
        draw: case -> a number drawn from it.
    """
    drawn = {draft.case: draw(draft.case) for draft in drafts}
    ordered = sorted(drafts, key=lambda draft: (draft.preference, drawn[draft.case], draft.case))
    alike: Counter[str] = Counter()
    unlike_first: list[tuple[int, int, Draft]] = []
    for place, draft in enumerate(ordered):
        unlike_first.append((alike[draft.likeness], place, draft))
        alike[draft.likeness] += 1
    unlike_first.sort(key=lambda entry: entry[:2])
    taken: Counter[tuple[str, ...]] = Counter()
    turns = []
    for place, (_, _, draft) in enumerate(unlike_first):
        cells = _cells(draft)
        turns.append((min(taken[cell] for cell in cells), place, draft))
        taken.update(cells)
    turns.sort(key=lambda entry: entry[:2])
    return [draft for _, _, draft in turns]


def _cells(draft: Draft) -> list[tuple[str, ...]]:
    outcomes = [("answer", draft.balance)]
    if draft.relative is not None:
        outcomes.append(("relative", draft.relative))
    if draft.unchanged is not None:
        outcomes.append(("unchanged", str(draft.unchanged)))
    stated = [(*outcome, str(key), str(value)) for outcome in outcomes for key, value in draft.stated.items()]
    return [*outcomes, *stated, *(("view", view.name) for view in draft.views if view.role != "bridge")]
