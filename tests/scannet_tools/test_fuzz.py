"""Whatever bytes, text or JSON stand in a raw file: refused in one line, read with losses counted, or read whole."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutations import FaultError, Mutation, bases, judge, mutations, sens_counts

from spacecast.scan import Scan

FUZZ = Path(__file__).parent.parent.parent / "benchmarks" / "fuzz.py"
FEW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return {base.name: base for base in bases(tmp_path_factory.mktemp("fuzz"))}


def file_of(base, ending: str) -> Path:
    return next(file for file in base.files if file.name.endswith(ending))


def test_two_hundred_broken_files_in_a_process_with_two_gigabytes():
    done = subprocess.run([sys.executable, str(FUZZ), "200", "7"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    last = done.stdout.splitlines()[-1]
    refused, lost, whole = map(
        int, re.match(r"200 files: (\d+) refused, (\d+) lost, (\d+) whole; 0 faults", last).groups()
    )
    assert refused + lost + whole == 200
    assert min(refused, lost, whole) >= 20


def test_files_are_broken_as_the_seed_says():
    data = bytes(range(256)) * 4

    def drawn(case: int) -> bytes:
        return mutations(data, np.random.Generator(np.random.Philox(key=[1, case])), ".sens").data

    assert [drawn(case) for case in range(20)] == [drawn(case) for case in range(20)]
    assert len({drawn(case) for case in range(20)}) > 12


def test_an_outcome_that_may_not_be_is_a_fault(made):
    base = made["exported"]
    pose = base.folder / "pose/2.txt"
    whole = Mutation("none", pose.read_bytes())
    assert judge(base, pose, whole) == "whole"

    def changed(**changes):
        def read(folder):
            scan = base.read(folder)
            fields = {name: getattr(scan, name) for name in Scan.__dataclass_fields__}
            return Scan(**{**fields, **{name: change(scan) for name, change in changes.items()}})

        return base._replace(read=read)

    faults = {
        "gone without a word": changed(views=lambda scan: {"2": scan.views["2"]}),
        "a part of a mesh": changed(faces=lambda scan: scan.faces[:1].copy()),
        "another mesh": changed(faces=lambda scan: scan.faces[::-1].copy()),
        "not the same": changed(instance_ids=lambda scan: np.zeros_like(scan.instance_ids)),
    }
    for words, broken in faults.items():
        with pytest.raises(FaultError, match=words):
            judge(broken, pose, whole)

    def crash(folder):
        raise KeyError("x")

    with pytest.raises(KeyError):
        judge(base._replace(read=crash), pose, whole)
    assert pose.read_bytes() == whole.data


def test_every_count_and_size_of_a_stream(made):
    base = made["stream"]
    file = file_of(base, ".sens")
    before = file.read_bytes()
    outcomes = {m.name: judge(base, file, m) for m in sens_counts(before) if m.data != before}
    assert len(outcomes) > 50
    whole = {int(name.split()[-1]) for name, outcome in outcomes.items() if outcome == "whole"}
    assert whole == {274, 282, 286}  # colour's codec, which a picture names too, and its size, which the text has too


TEXTS = st.text() | st.text(alphabet="0123456789.-+einf \n\t#=,", max_size=300)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
KEYS = ("segIndices", "segGroups", "frames", "train", "frame_000000")
TEXT_FILES = [
    *(("exported", "pose/2.txt"), ("exported", "scene0007_01.txt"), ("exported", "intrinsic_color.txt")),
    *(("exported", "combined.tsv"), ("scannet++ one block", "images.txt"), ("scannet++ one block", "cameras.txt")),
    *(("scannet++ one block", "nvs_sem_train.txt"), ("scannet++ one block", "semantic_classes.txt")),
]


@FEW
@given(text=TEXTS, place=st.sampled_from(TEXT_FILES))
def test_any_text(made, text, place):
    base = made[place[0]]
    file = next(f for f in base.files if f.as_posix().endswith(place[1]))
    judge(base, file, Mutation("text", text.encode("utf-8", "surrogatepass"), is_hidden=True))


@FEW
@given(content=JSON, key=st.none() | st.sampled_from(KEYS), at=st.integers(0, 100))
def test_any_json(made, content, key, at):
    files = [(base, file) for base in made.values() for file in base.files if file.suffix == ".json"]
    base, file = files[at % len(files)]
    data = json.dumps(content if key is None else {key: content}).encode()
    judge(base, file, Mutation("json", data, is_hidden=True))
