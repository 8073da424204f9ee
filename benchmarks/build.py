"""What the builder itself costs: selection at full size, and shards beside bare files of the same bytes.

Run by hand: ``python benchmarks/build.py``. Ratios are within one run; the scenes' own work is in the other benchmarks.
"""

from __future__ import annotations

import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from spacecast.dataset.balance import Feature, TypeRules
from spacecast.dataset.chance import generator
from spacecast.dataset.rows import row_of
from spacecast.dataset.selection import orders_of, select
from spacecast.dataset.shards import Question, write_shards
from spacecast.dataset.types import Candidate, Choice, Draft, ViewUse
from spacecast.frames import COMPASS

SCENES, PER_SCENE, QUESTIONS, PHOTO_BYTES = 182, 600, 264, 80_000


class Kind:
    code, version, level, name, task = "direction_allocentric", 1, "L1", "World Direction", "direction"
    option_count, multi_select, needs_north = 4, False, True


def features() -> list[Feature]:
    """As many candidates of one type as 182 scenes can give, skewed, of moves by the compass: three stated values."""
    draw = generator("benchmark", "features")
    count = SCENES * PER_SCENE
    answers = np.minimum(7, draw.exponential(2.5, count).astype(int))
    numbers = {
        name: draw.integers(0, high, count)
        for name, high in (("view", 16), ("pair", 200), ("compass", 8), ("direction", 8), ("step", 6))
    }
    return [
        Feature(
            uid=f"u{i}",
            scene=f"s{i // PER_SCENE}",
            likeness=f"p{numbers['pair'][i]}",
            views=(f"v{numbers['view'][i]}",),
            balance=COMPASS[answers[i]],
            right=(0,),
            stated=(
                ("camera_compass", COMPASS[numbers["compass"][i]]),
                ("direction", COMPASS[numbers["direction"][i]]),
                ("distance", str(numbers["step"][i])),
            ),
            preference=i % 3 % 2,
            rank=int(rank),
            options=str(answers[i] % 2),
            relative=str(45 * ((answers[i] - numbers["direction"][i]) % 8)),
            unchanged=i % 5 < 2,
        )
        for i, rank in enumerate(draw.integers(2**62, size=count))
    ]


def question(number: int) -> Question:
    objects = [
        {"id": i, "label": "thing", "roles": ["target"], "center_in_world": [0.1 * number, i / 3, 1.0]}
        for i in range(12)
    ]
    draft = Draft(
        case=str(number),
        views=(ViewUse(str(number), "image"),),
        facts={"objects": objects, "intervention": None, "relation": {"before": {"value": "north"}, "after": None}},
        choices=tuple(Choice(value, None if value == "north" else "other") for value in COMPASS[::2]),
        words={},
        stated={},
        balance="north",
        likeness="",
    )
    texts = tuple(choice.value for choice in draft.choices)
    candidate = Candidate(f"u{number}", "scannet", "s", Kind.code, draft, "w", "en", f"Where is thing {number}?", texts)
    return Question(row_of(candidate, Kind(), (0, 1, 2, 3), wording_version=1), candidate)


def timed(what: str, start: float) -> float:
    seconds = time.perf_counter() - start
    print(f"{what:<58}{seconds:8.2f} s")
    return seconds


def main() -> None:
    candidates = features()
    rules = TypeRules(Kind.code, Kind.option_count, multi_select=False, max_unchanged=0.25)
    start = time.perf_counter()
    chosen = set(select(candidates, QUESTIONS, rules).chosen)
    timed(f"select {len(chosen)} of {len(candidates)} candidates of one type", start)
    start = time.perf_counter()
    orders_of([feature for feature in candidates if feature.uid in chosen], rules, 0)
    timed(f"letters of {len(chosen)} questions", start)

    questions = [question(number) for number in range(1000)]
    noise = generator("benchmark", "photos").bytes(PHOTO_BYTES)
    photos = {q.row.question_uid: q.row.question_uid.encode() + noise for q in questions}
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        list(write_shards(questions, lambda row: (photos[row.question_uid],), Path(folder)))
        shards = timed("write, read back, compare and hash 1000 rows", start)
        start = time.perf_counter()
        for uid, data in photos.items():
            (Path(folder) / uid).write_bytes(data)
        for uid, data in photos.items():
            assert (Path(folder) / uid).read_bytes() == data
        bare = timed("the same pictures as bare files, written and read", start)
    print(f"{'ratio':<58}{shards / bare:8.1f}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
