"""Builds in parts, killed builds, two at once: the bytes are those of one build in one go."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import synthetic_suite as synthetic

from spacecast.cli import main
from spacecast.dataset.build import BuildSettings, build, build_shard
from spacecast.dataset.chance import generator
from spacecast.dataset.merge import merge
from spacecast.dataset.reader import Benchmark
from spacecast.dataset.release import held
from spacecast.dataset.share import Share
from spacecast.errors import InputError, SpacecastError

HERE = Path(__file__).parent


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def root(invented_root: Path, tmp_path: Path) -> Path:
    """A copy of the invented scans that may be spoiled."""
    shutil.copytree(invented_root, tmp_path / "raw")
    return tmp_path / "raw"


def shards(root: Path, folder: Path, count: int = 3, sources: Any = synthetic.SOURCES, **settings: Any) -> list[Path]:
    """All shards of a build."""
    paths = [folder / f"shard{i}" for i in range(1, count + 1)]
    for i, path in enumerate(paths, start=1):
        build_shard([root], path, Share(i, count), BuildSettings(**settings), sources=sources)
    return paths


@pytest.fixture(scope="module")
def three(invented_root: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The three shards of the build ``invented``; read-only."""
    return shards(invented_root, tmp_path_factory.mktemp("three"))


def copied(paths: Sequence[Path], folder: Path) -> list[Path]:
    return [Path(shutil.copytree(path, folder / path.name)) for path in paths]


# Shards


def test_shares_are_the_whole_and_each_scene_is_in_one() -> None:
    keys = list("abcdefg")
    assert [Share(i, 3).of(keys) for i in (1, 2, 3)] == [["a", "d", "g"], ["b", "e"], ["c", "f"]]
    assert Share(1, 1).of(keys) == keys
    assert str(Share.parse(" 2/5 ")) == "2/5"
    for text in ("0/3", "4/3", "3", "1/0", "a/b", "-1/2", "1/2/3"):
        with pytest.raises(SpacecastError, match="--shard should be i/n"):
            Share.parse(text)


@pytest.mark.parametrize(
    "settings",
    [{}, {"pictures": "render", "evidence": True, "questions": 30}, {"scenes": 3, "seed": 7, "questions": 12}],
)
def test_shards_merged_are_one_build_without_the_scans(settings: dict[str, Any], root: Path, tmp_path: Path) -> None:
    whole = build([root], tmp_path / "whole", BuildSettings(**settings), sources=synthetic.SOURCES)
    parts = shards(root, tmp_path, **settings)
    shutil.rmtree(root)
    report = merge([parts[2], parts[0], parts[1]], tmp_path / "out", sources=synthetic.SOURCES)
    assert files(tmp_path / "out") == files(tmp_path / "whole")
    assert (report.questions, report.scenes, report.by_type) == (whole.questions, whole.scenes, whole.by_type)


def test_a_shard_is_no_dataset_and_says_what_it_holds(three: list[Path]) -> None:
    assert sorted(path.name for path in three[0].iterdir()) == ["candidates", "pictures", "shard.json"]
    assert [path.name for path in sorted(three[0].glob("*/*"))] == ["synthetic-s0.parquet", "synthetic-s3.parquet"] * 2
    with pytest.raises(InputError, match="no data/test"):
        Benchmark.open(three[0])


def test_failures_are_those_of_one_build(root: Path, tmp_path: Path) -> None:
    """One scene cannot be read; of another a photo that is shown has the wrong size."""
    (root / "s1" / "broken").touch()
    shutil.copy(HERE.parent / "conftest.py", root / "s2" / "2.jpg")  # no picture
    whole = build([root], tmp_path / "whole", sources=synthetic.SOURCES)
    parts = shards(root, tmp_path)
    report = merge(parts, tmp_path / "out", sources=synthetic.SOURCES)
    assert [failure.partition(":")[0] for failure in report.failures] == ["synthetic-s1", "synthetic-s2"]
    assert report.failures == whole.failures
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def test_a_picture_that_is_not_shown_costs_nothing(root: Path, tmp_path: Path) -> None:
    """Twelve of many questions show few of the views: one that none shows is broken."""
    settings = {"questions": 6}
    build([root], tmp_path / "before", BuildSettings(**settings), sources=synthetic.SOURCES)
    shown = {(row.scene_id, row.image_name) for row in Benchmark.open(tmp_path / "before")}
    scene, name = min({(f"s{i}", str(k)) for i in range(4) for k in range(4)} - shown)
    (root / scene / f"{name}.jpg").write_bytes(b"no picture")
    report = merge(shards(root, tmp_path, **settings), tmp_path / "out", sources=synthetic.SOURCES)
    assert report.failures == ()
    assert Benchmark.open(tmp_path / "out").rows == Benchmark.open(tmp_path / "before").rows


def test_a_shard_that_was_stopped_goes_on(three: list[Path], root: Path, tmp_path: Path) -> None:
    sought: list[str] = []

    def context(scan: Any, pictures: str) -> Any:
        sought.append(scan.scene_id)
        if scan.scene_id == "s3" and sought.count("s3") == 1:
            raise KeyboardInterrupt
        return synthetic.context(scan, pictures)

    sources = replace(synthetic.SOURCES, context=context)
    with pytest.raises(KeyboardInterrupt):
        build_shard([root], tmp_path / "out", Share(1, 3), sources=sources)
    with pytest.raises(InputError, match="holds an unfinished build; finish it with the same --shard and --resume"):
        merge([tmp_path / "out"], tmp_path / "merged", sources=synthetic.SOURCES)
    with pytest.raises(InputError, match=r"other settings .*shard '1/3', not '2/3'"):
        build_shard([root], tmp_path / "out", Share(2, 3), BuildSettings(resume=True), sources=sources)
    build_shard([root], tmp_path / "out", Share(1, 3), BuildSettings(resume=True), sources=sources)
    assert sought == ["s0", "s3", "s3"]
    made, expected = files(tmp_path / "out"), files(three[0])
    assert set(made) == set(expected)
    assert all(made[name] == expected[name] for name in made if name.startswith("pictures/"))


def test_more_shards_than_scenes_are_refused(root: Path, tmp_path: Path) -> None:
    with pytest.raises(SpacecastError, match="shard 5/5 has none of 4 scenes; use at most 4 shards"):
        build_shard([root], tmp_path / "out", Share(5, 5), sources=synthetic.SOURCES)


def refused(paths: Sequence[Path], out: Path, match: str, sources: Any = synthetic.SOURCES) -> None:
    with pytest.raises(InputError, match=match) as error:
        merge(paths, out, sources=sources)
    assert "\n" not in str(error.value)
    assert not out.exists()


def test_shards_that_are_missing_doubled_or_none_are_named(three: list[Path], invented: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    refused(three[:1], out, "shard 2/3, 3/3 is missing; give all 3 folders")
    refused([*three, three[1]], out, r"shard2 and .*shard2: are both shard 2/3; give one of them")
    refused([three[0], invented], out, r"holds no shard.json; give folders that were built with --shard i/n")
    refused([], out, "no shards")


def test_shards_of_other_builds_are_named(three: list[Path], root: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    one, two, _ = three
    other = tmp_path / "other"
    build_shard([root], other, Share(3, 3), BuildSettings(seed=5), sources=synthetic.SOURCES)
    refused([one, two, other], out, r"other: is not of the same build as .*shard1: seed 5, not 0; build it again")
    build_shard([root], tmp_path / "of_four", Share(3, 4), sources=synthetic.SOURCES)
    refused([one, two, tmp_path / "of_four"], out, "of_four: is not of the same build as .*: of 4 shards, not 3")
    synthetic.write_scene(root, "s9")
    build_shard([root], tmp_path / "more", Share(3, 3), sources=synthetic.SOURCES)
    refused([one, two, tmp_path / "more"], out, "of 5 scenes, and other ones than the 4")
    newer = replace(synthetic.SOURCES, suite=lambda name: replace(synthetic.SUITE, version=4))
    shutil.rmtree(root / "s9")
    build_shard([root], tmp_path / "newer", Share(3, 3), sources=newer)
    refused([one, two, tmp_path / "newer"], out, "made by another version of the code, or with other thresholds")
    refused(three, out, "built by another version of the code than this one", sources=newer)


def test_shards_that_were_spoiled_are_named(three: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    one, two, last = copied(three, tmp_path)
    file = two / "candidates" / "synthetic-s1.parquet"
    data = file.read_bytes()
    file.write_bytes(data[:-1])
    refused([one, two, last], out, "synthetic-s1.parquet: is not as it was written; copy the shard again")
    file.unlink()
    refused([one, two, last], out, "synthetic-s1.parquet: is missing; copy the shard again")
    file.write_bytes(data)
    text = (last / "shard.json").read_text()
    (last / "shard.json").write_text(text[:100])
    refused([one, two, last], out, "shard.json: does not read as a shard; build it again")
    (last / "shard.json").write_text(json.dumps({**json.loads(text), "schema": "spacecast-shard/9"}))
    refused([one, two, last], out, "is of schema spacecast-shard/9, not spacecast-shard/1")


def test_the_command_line_says_what_is_wrong_in_one_line(
    three: list[Path], invented_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    for args, said in (
        (["build", str(invented_root), out, "--shard", "4/3"], "--shard should be i/n"),
        (["merge", str(three[0])], "give the folders of all shards and then the folder to write"),
        (["merge", str(three[0]), out], "2/3, 3/3 is missing"),
    ):
        assert main(args) == 2
        error = capsys.readouterr().err
        assert said in error
        assert error.count("\n") == 1


# Killed at any moment


KILLED = """
import os, signal, sys, time
sys.path.insert(0, {here!r})
import synthetic_suite
from spacecast.dataset.build import BuildSettings, build
CHANGES = {{"os.rename", "os.remove", "os.rmdir", "os.mkdir", "shutil.rmtree"}}
left = {moment}
def audit(event, args):
    global left
    if event in CHANGES or (event == "open" and isinstance(args[1], str) and "w" in args[1]):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
if __name__ == "__main__":
    if {moment}:
        sys.addaudithook(audit)
    build([{root!r}], {out!r}, BuildSettings(workers={workers}, resume=True), sources=synthetic_suite.SOURCES)
    print("done", 1000 - left)
"""


def interrupted(root: Path, out: Path, *, moment: int = 0, workers: int = 1) -> subprocess.CompletedProcess[str]:
    """A build in its own process that kills itself before its ``moment``-th change of a file or folder."""
    script = out.parent / f"build{moment}.py"
    script.write_text(KILLED.format(here=str(HERE), root=str(root), out=str(out), moment=moment, workers=workers))
    return subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=600, check=False, env={**os.environ}
    )


def test_a_build_that_is_killed_ten_times_at_any_moment_is_the_same(invented: Path, root: Path, tmp_path: Path) -> None:
    """Moments are counted in changes of files and folders, so that they do not hang on the speed of the machine. What
    a killed build leaves is never taken for a dataset that it is not."""
    out = tmp_path / "out"
    done = interrupted(root, tmp_path / "whole", moment=1000)
    changes = int(done.stdout.split()[1])
    assert changes > 20
    draw = generator("kills", "tests/dataset/test_scale.py")
    moments = [1, 2, changes, *draw.integers(3, changes, 7).tolist()]
    for number, drawn in enumerate(draw.permutation(moments).tolist()):
        moment, workers = drawn, 2 if number == 3 else 1
        while (killed := interrupted(root, out, moment=moment, workers=workers)).returncode != -9:
            assert killed.returncode == 0, killed.stderr  # of a build that went on: all was done before that moment
            moment = 1 + moment // 2
        if (out / "release_manifest.json").exists():
            assert Benchmark.open(out).shard_problems() == []
    assert interrupted(root, out).returncode == 0
    assert files(out) == files(invented)


# Two builds in one folder


def test_two_builds_at_once_are_refused_and_the_first_goes_on(invented: Path, root: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    said: list[str] = []

    def progress(stage: str, done: int, total: int) -> None:
        for resume in (False, True):
            with pytest.raises(InputError, match="another build writes here now; wait for it") as error:
                build([root], out, BuildSettings(resume=resume), sources=synthetic.SOURCES)
            assert "\n" not in str(error.value)
        said.append(stage)

    build([root], out, sources=synthetic.SOURCES, progress=progress)
    assert {"scenes", "candidates so far", "selection", "pictures", "shards"} == set(said)
    assert files(out) == files(invented)


def test_a_lock_outlives_no_process(tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = (
        "import sys, time; from pathlib import Path; from spacecast.dataset.release import held\n"
        f"with held(Path({str(out)!r}), {{'seed': 0}}, resume=False): print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(InputError, match="another build writes here"), held(out, {"seed": 0}, resume=True):
        pass
    holder.kill()
    holder.wait()
    with held(out, {"seed": 0}, resume=True) as work:
        assert work == out / ".work"
