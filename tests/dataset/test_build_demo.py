"""The registered suite on demo scans: the same bytes however it is run, balanced, photos as taken."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from spacecast.dataset.balance import largest_count
from spacecast.dataset.reader import Benchmark
from spacecast.registry import open_scan


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_equal_bytes_for_hash_seeds_and_workers(demo_root: Path, tmp_path: Path) -> None:
    outs = []
    for hash_seed, workers in ((1, 1), (2, 2)):
        outs.append(tmp_path / f"out{hash_seed}")
        command = [sys.executable, "-m", "spacecast.cli", "build", str(demo_root), str(outs[-1]), "--scenes", "2"]
        environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
        subprocess.run([*command, "--workers", str(workers), "--quiet"], env=environment, check=True, timeout=600)
    one, other = map(files, outs)
    assert set(one) == set(other)
    assert [name for name in one if one[name] != other[name]] == []


def test_letters_and_answers_are_balanced(demo_benchmark: Path) -> None:
    rows = Benchmark.open(demo_benchmark, check=True).rows
    assert {row.level for row in rows} == {"L1", "L2", "L3"}
    for category in sorted({row.category for row in rows}):
        of_type = [row for row in rows if row.category == category]
        letters = Counter(row.answer for row in of_type)
        kinds = 2 ** len(of_type[0].options) - 1 if of_type[0].multi_select else len(of_type[0].options)
        assert max(letters.values()) <= largest_count(len(of_type), kinds), category
        if not of_type[0].multi_select:
            values = Counter(row.correct_values[0] for row in of_type)
            assert max(values.values()) <= largest_count(len(of_type), len(values)), category
    occlusions = [row for row in rows if row.source_type == "occlusion"]
    assert sum(row.correct_values == ("not visible",) for row in occlusions) <= len(occlusions) / 3


def test_pictures_are_the_photos_that_the_reader_gives(demo_benchmark: Path, demo_root: Path) -> None:
    benchmark = Benchmark.open(demo_benchmark)
    row = benchmark.rows[-1]
    (folder,) = (path for path in demo_root.rglob(row.scene_id) if path.is_dir())
    load = open_scan(folder).views[row.image_name].load_encoded
    assert load is not None
    assert benchmark.pictures(row.question_uid)[0].encoded == load()
