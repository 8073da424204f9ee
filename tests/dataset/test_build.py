"""Whole builds on invented scans: balance, bytes, failures, resuming, what the folder may hold."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import synthetic_suite as synthetic
from PIL import Image

from spacecast.dataset.balance import largest_count
from spacecast.dataset.build import BuildSettings, build
from spacecast.dataset.reader import Benchmark
from spacecast.errors import InputError, SpacecastError

HERE = Path(__file__).parent


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def built(root: Path, out: Path, **settings: Any) -> Any:
    return build([root], out, BuildSettings(**settings), sources=synthetic.SOURCES)


@pytest.fixture
def root(invented_root: Path, tmp_path: Path) -> Path:
    """A copy of the invented scans that may be spoiled."""
    shutil.copytree(invented_root, tmp_path / "raw")
    return tmp_path / "raw"


def script(root: Path, out: Path, *, hash_seed: int = 0, workers: int = 1, extra: str = "") -> subprocess.Popen[bytes]:
    """A build in a process of its own."""
    code = f"""
import os, signal, sys
sys.path.insert(0, {str(HERE)!r})
import synthetic_suite
from spacecast.dataset.build import BuildSettings, build
def progress(stage, done, total):
    {extra or "pass"}
if __name__ == "__main__":
    build([{str(root)!r}], {str(out)!r}, BuildSettings(workers={workers}), sources=synthetic_suite.SOURCES,
          progress=progress)
"""
    path = out.parent / f"{out.name}.py"  # a file: spawned workers import it
    path.write_text(code)
    return subprocess.Popen([sys.executable, str(path)], env={**os.environ, "PYTHONHASHSEED": str(hash_seed)})


def test_equal_bytes_for_hash_seeds_and_workers(invented: Path, invented_root: Path, tmp_path: Path) -> None:
    expected = files(invented)
    for hash_seed, workers in ((0, 1), (1, 1), (2, 2), (3, 4)):
        out = tmp_path / f"seed{hash_seed}"
        assert script(invented_root, out, hash_seed=hash_seed, workers=workers).wait(timeout=120) == 0
        assert files(out) == expected


def test_equal_bytes_wherever_the_scans_lie_and_in_whatever_order(invented: Path, root: Path, tmp_path: Path) -> None:
    parts = [tmp_path / "far" / "b", tmp_path / "a"]
    for i in range(4):
        target = parts[i % 2]
        target.mkdir(parents=True, exist_ok=True)
        (root / f"s{i}").rename(target / f"s{i}")
    build(parts, tmp_path / "out", BuildSettings(), sources=synthetic.SOURCES)
    assert files(tmp_path / "out") == files(invented)


def test_no_file_names_the_machine(invented: Path, invented_root: Path) -> None:
    host = os.uname().nodename.encode()
    for name, data in files(invented).items():
        assert str(invented_root).encode() not in data, name
        assert len(host) < 4 or host not in data, name


def test_another_seed_asks_otherwise(invented: Path, invented_root: Path, tmp_path: Path) -> None:
    built(invented_root, tmp_path / "out", seed=1)
    one, other = Benchmark.open(invented), Benchmark.open(tmp_path / "out")
    assert {row.question for row in one} != {row.question for row in other}
    assert Counter(row.source_type for row in one) == Counter(row.source_type for row in other)


def test_another_scene_changes_no_candidate(invented_root: Path, tmp_path: Path) -> None:
    """Each question of the larger build that is in both has the same text, facts (but options' order) and uid."""
    built(invented_root, tmp_path / "few", scenes=2)
    built(invented_root, tmp_path / "all")
    few, every = Benchmark.open(tmp_path / "few").by_uid, Benchmark.open(tmp_path / "all").by_uid
    common = sorted(set(few) & set(every))
    assert len(common) > 10
    for uid in common:
        assert few[uid].question == every[uid].question
        assert sorted(few[uid].options) == sorted(every[uid].options)
        assert few[uid].correct_values == every[uid].correct_values or few[uid].multi_select


def test_answers_letters_and_states_are_balanced(invented: Path) -> None:
    rows = Benchmark.open(invented).rows
    for category in sorted({row.category for row in rows}):
        of_type = [row for row in rows if row.category == category]
        if of_type[0].multi_select:
            sets = Counter(row.answer for row in of_type)
            assert len(sets) == 7
            assert max(sets.values()) - min(sets.values()) <= 1
            continue
        letters = Counter(row.answer[0] for row in of_type)
        values = Counter(row.correct_values[0] for row in of_type)
        assert max(letters.values()) <= largest_count(len(of_type), len(of_type[0].options))
        assert max(values.values()) <= largest_count(len(of_type), len(values))
    occlusions = [row for row in rows if row.source_type == "occlusion"]
    assert sum(row.correct_values == ("not visible",) for row in occlusions) <= len(occlusions) // 3
    assert all(len(set(row.options)) == len(row.options) and all(row.options) for row in rows)
    texts = [(row.scene_id, row.image_name, row.question) for row in rows if not row.multi_select]
    assert len(set(texts)) == len(texts)


def test_the_number_of_questions_is_shared_out_as_published(invented_root: Path, tmp_path: Path) -> None:
    """20 over quotas 40, 30, 21 (91): 8.79, 6.59, 4.62 -> 9, 6, 5 by the largest remainders."""
    report = built(invented_root, tmp_path / "out", questions=20)
    assert list(report.by_type.values()) == [9, 6, 5]
    assert report.questions == 20
    assert report.unmet == ()


def test_fewer_scenes_than_are_wanted_is_said(invented_root: Path, tmp_path: Path) -> None:
    there = len(synthetic.SOURCES.find(invented_root))
    report = built(invented_root, tmp_path / "out", questions=20, scenes=there + 5)
    assert report.unmet == (f"{there + 5} scenes are wanted, {there} are there",)
    assert built(invented_root, tmp_path / "all", questions=20, scenes=there).unmet == ()


def test_what_cannot_be_met_is_said(invented_root: Path, tmp_path: Path) -> None:
    report = built(invented_root, tmp_path / "out", questions=900)
    asked = {entry["type_code"]: entry for entry in report.manifest["unmet"]}
    assert asked["direction_allocentric"]["wanted"] == 395  # of 395.60, 296.70, 207.69
    assert asked["direction_allocentric"]["refused_most"][0][0] == "relation/ambiguous"
    assert asked["direction_allocentric"]["refused_most"][0][1] > 0
    directions = asked["direction_allocentric"]
    assert sum(directions["against"].values()) + directions["chosen"] == directions["candidates"]
    assert any("refused most: relation/ambiguous" in line for line in report.unmet)


def test_the_manifest_says_what_was_made_from_what(invented: Path, invented_root: Path) -> None:
    import hashlib

    manifest = json.loads((invented / "release_manifest.json").read_text())
    rows = Benchmark.open(invented).rows
    assert manifest["counts"]["by_type"] == dict(sorted(Counter(row.category for row in rows).items()))
    assert sum(manifest["counts"]["by_scene"].values()) == manifest["questions"] == len(rows)
    for shard in manifest["shards"]:
        assert shard["sha256"] == hashlib.sha256((invented / shard["path"]).read_bytes()).hexdigest()
    scene = manifest["scenes"]["synthetic-s2"]
    assert scene["inputs"] == {"objects": hashlib.sha256((invented_root / "s2/objects").read_bytes()).hexdigest()}
    assert scene["problems"] == {"lost_pose": 1}
    assert manifest["problems"] == {"lost_pose": 4}
    assert manifest["pictures"] == "photos"
    assert manifest["versions"]["suite"] == {"name": "synthetic", "version": 3}
    assert manifest["versions"]["types"]["occlusion"] == 1
    assert manifest["settings"]["spacecast.dataset.balance"]["slack"] == 1.05
    assert manifest["settings"]["spacecast.frames"]["max_roll_deg"] == 20.0
    least = min(row.facts["margins"]["ambiguity"] for row in rows if row.source_type == "occlusion")
    assert manifest["margins"]["L1 / Occlusion"]["ambiguity"]["least"] == least


def test_rejections_add_up(invented: Path) -> None:
    """Of each scene and type: candidates found = questions + what selection left out."""
    manifest = json.loads((invented / "release_manifest.json").read_text())
    rejections = pq.read_table(invented / "rejections.parquet").to_pylist()
    rows = Benchmark.open(invented).rows
    for key, scene in manifest["scenes"].items():
        for code, candidates in scene["candidates"].items():
            left = sum(
                entry["count"]
                for entry in rejections
                if (f"{entry['dataset']}-{entry['scene_id']}", entry["type"], entry["stage"])
                == (key, code, "selection")
            )
            asked = sum(f"{row.dataset}-{row.scene_id}" == key and row.source_type == code for row in rows)
            assert left + asked == candidates
    keys = [(e["dataset"], e["scene_id"], e["type"], e["stage"], e["reason"]) for e in rejections]
    assert len(set(keys)) == len(keys)
    assert all(1 <= len(entry["examples"]) <= min(5, entry["count"]) for entry in rejections)
    assert ("synthetic", "s0", "*", "view", "blurred") in keys
    assert ("synthetic", "s0", "*", "object", "small") in keys


def test_the_card_has_a_head_that_loaders_read(invented: Path) -> None:
    yaml = pytest.importorskip("yaml")
    _, head, body = (invented / "README.md").read_text().split("---\n", 2)
    assert yaml.safe_load(head)["configs"] == [
        {"config_name": "default", "data_files": [{"split": "test", "path": "data/test-*.parquet"}]}
    ]
    manifest = json.loads((invented / "release_manifest.json").read_text())
    by_type, unmet = body.split("## What the scans did not allow")
    for category, count in manifest["counts"]["by_type"].items():
        assert f"| {category} | {count} |" in by_type
    assert f"| L1 / World Direction | all | 40 | {manifest['counts']['by_type']['L1 / World Direction']} |" in unmet
    own = sorted(manifest["counts"]["by_scene"].values())
    assert f"| synthetic | {sum(own)} | 4 | {own[0]} to {own[3]}, median {(own[1] + own[2]) / 2:g} |" in body
    assert "not the numbers of the whole release: other numbers per category." in body


def test_rendered_pictures_are_said_to_be(invented_root: Path, tmp_path: Path) -> None:
    report = built(invented_root, tmp_path / "out", pictures="render", questions=12)
    assert report.manifest["pictures"] == "render"
    assert "rendered from the scans' meshes" in (tmp_path / "out/README.md").read_text()
    benchmark = Benchmark.open(tmp_path / "out")
    for row in benchmark:
        image = Image.open(io.BytesIO(benchmark.pictures(row.question_uid)[0].encoded))
        assert image.size == (synthetic.WIDTH, synthetic.HEIGHT)
        assert abs(image.getpixel((5, 5))[0] - 10 * int(row.image_name)) <= 1


def test_evidence_is_written_and_hashed(invented_root: Path, tmp_path: Path) -> None:
    import hashlib

    report = built(invented_root, tmp_path / "out", evidence=True, questions=12)
    evidence = report.manifest["evidence"]
    assert len(evidence) == 2 * report.questions
    for name, digest in evidence.items():
        assert hashlib.sha256((tmp_path / "out" / name).read_bytes()).hexdigest() == digest
    row = Benchmark.open(tmp_path / "out").rows[0]
    text = (tmp_path / f"out/evidence/{row.question_uid}.txt").read_text()
    assert f"thing {row.facts['objects'][0]['id']}" in text
    assert "from (0.12, 0.00, 0.00) to (1.00, 1.00, 1.00)" in text


# A scene that fails


@pytest.mark.parametrize(
    "fault, workers, said",
    [
        ("broken", 1, "synthetic-s1: objects: holds no number; copy the scene again"),
        ("unlabelled", 1, "synthetic-s1: s1: has no labels"),
        ("bug", 1, "synthetic-s1: KeyError at synthetic_suite.py:"),
        ("bug", 2, "synthetic-s1: KeyError at synthetic_suite.py:"),
    ],
)
def test_a_scene_that_fails_is_said_and_others_go_on(
    fault: str, workers: int, said: str, root: Path, tmp_path: Path
) -> None:
    (root / "s1" / fault).touch()
    report = built(root, tmp_path / "out", workers=workers)
    assert len(report.failures) == 1
    assert report.failures[0].startswith(said)
    assert str(tmp_path) not in report.failures[0]
    assert report.manifest["failures"] == list(report.failures)
    assert {row.scene_id for row in Benchmark.open(tmp_path / "out")} == {"s0", "s2", "s3"}


def test_the_rest_is_as_if_the_failed_scene_were_not_there(root: Path, tmp_path: Path) -> None:
    (root / "s1" / "broken").touch()
    built(root, tmp_path / "with")
    shutil.rmtree(root / "s1")
    built(root, tmp_path / "without")
    assert Benchmark.open(tmp_path / "with").rows == Benchmark.open(tmp_path / "without").rows


def test_north_is_not_asked_about_where_it_is_not_known(root: Path, tmp_path: Path) -> None:
    (root / "s1" / "crooked").touch()
    built(root, tmp_path / "out")
    rows = Benchmark.open(tmp_path / "out").rows
    assert {row.scene_id for row in rows if row.source_type == "direction_allocentric"} == {"s0", "s2", "s3"}
    assert "s1" in {row.scene_id for row in rows if row.source_type == "occlusion"}
    rejected = pq.read_table(tmp_path / "out/rejections.parquet").to_pylist()
    assert [entry["scene_id"] for entry in rejected if entry["reason"] == "not_aligned"] == ["s1"]


def test_a_worker_that_is_killed_costs_its_scene_and_is_tried_again(invented: Path, root: Path, tmp_path: Path) -> None:
    (root / "s2" / "deadly_once").touch()
    report = built(root, tmp_path / "out", workers=2)
    assert report.failures == ()
    assert files(tmp_path / "out") == files(invented)


def test_a_scene_that_kills_every_worker_is_given_up(root: Path, tmp_path: Path) -> None:
    (root / "s2" / "deadly").touch()
    report = built(root, tmp_path / "out", workers=2)
    assert [failure.partition(":")[0] for failure in report.failures] == ["synthetic-s2"]
    assert {row.scene_id for row in Benchmark.open(tmp_path / "out")} == {"s0", "s1", "s3"}


def test_pictures_that_cannot_be_made_cost_their_scene_before_anything_is_written(root: Path, tmp_path: Path) -> None:
    reads: Counter[str] = Counter()

    def read(folder: synthetic.Folder) -> Any:
        reads[folder.scene_id] += 1
        scan = synthetic.read(folder)
        if folder.scene_id == "s3" and reads["s3"] > 1:
            small = {name: replace(view, load_encoded=_small_photo) for name, view in scan.views.items()}
            object.__setattr__(scan, "views", small)
        return scan

    sources = replace(synthetic.SOURCES, read=read)
    report = build([root], tmp_path / "out", BuildSettings(), sources=sources)
    assert "is 8x8, not 64x48 as its camera says" in report.failures[0]
    assert {row.scene_id for row in Benchmark.open(tmp_path / "out")} == {"s0", "s1", "s2"}


def _small_photo() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8)).save(buffer, format="JPEG")
    return buffer.getvalue()


def test_nothing_to_ask_says_why(root: Path, tmp_path: Path) -> None:
    for i in range(4):
        (root / f"s{i}" / "objects").write_text("0")
    with pytest.raises(SpacecastError, match="no question can be asked in 4 scenes; refused most: object/small 4"):
        built(root, tmp_path / "out")
    for i in range(4):
        (root / f"s{i}" / "broken").touch()
    with pytest.raises(SpacecastError, match="none of 4 scenes can be used; synthetic-s0"):
        built(root, tmp_path / "other")
    assert not (tmp_path / "out" / "data").exists()


# Stopping and going on


class Counting:
    """Sources that count whose candidates are sought."""

    def __init__(self) -> None:
        self.sought: list[str] = []
        self.sources = replace(synthetic.SOURCES, context=self._context)

    def _context(self, scan: Any, pictures: str) -> Any:
        self.sought.append(scan.scene_id)
        return synthetic.context(scan, pictures)


def killed(root: Path, out: Path, *, workers: int = 1) -> None:
    """A build that is killed when two scenes are done."""
    process = script(root, out, workers=workers, extra="done == 2 and os.kill(os.getpid(), signal.SIGKILL)")
    assert process.wait(timeout=120) == -9


def test_a_killed_build_leaves_no_dataset_and_goes_on(invented: Path, root: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    killed(root, out)
    assert [path.name for path in out.iterdir()] == [".work"]
    with pytest.raises(InputError):
        Benchmark.open(out)
    counting = Counting()
    build([root], out, BuildSettings(resume=True), sources=counting.sources)
    assert counting.sought == ["s2", "s3"]
    assert files(out) == files(invented)
    assert not (out / ".work").exists()


def test_a_killed_build_of_two_workers_goes_on(invented: Path, root: Path, tmp_path: Path) -> None:
    killed(root, tmp_path / "out", workers=2)
    built(root, tmp_path / "out", workers=2, resume=True)
    assert files(tmp_path / "out") == files(invented)


def test_without_resume_all_is_done_again(invented: Path, root: Path, tmp_path: Path) -> None:
    killed(root, tmp_path / "out")
    counting = Counting()
    build([root], tmp_path / "out", BuildSettings(), sources=counting.sources)
    assert counting.sought == ["s0", "s1", "s2", "s3"]
    assert files(tmp_path / "out") == files(invented)


def _same_size(scene: Path) -> None:
    (scene / "objects").write_text("4")


def _new_photo(scene: Path) -> None:
    shutil.copy(scene / "0.jpg", scene / "4.jpg")


@pytest.mark.parametrize("change", [_same_size, _new_photo])
def test_only_what_still_matches_is_kept(change: Callable[[Path], None], root: Path, tmp_path: Path) -> None:
    killed(root, tmp_path / "out")
    change(root / "s0")
    counting = Counting()
    build([root], tmp_path / "out", BuildSettings(resume=True), sources=counting.sources)
    assert counting.sought == ["s0", "s2", "s3"]
    built(root, tmp_path / "fresh")
    assert files(tmp_path / "out") == files(tmp_path / "fresh")


def test_another_version_of_a_type_matches_nothing(root: Path, tmp_path: Path) -> None:
    killed(root, tmp_path / "out")
    newer = replace(synthetic.SUITE, types=(replace(synthetic.SUITE.types[0], version=2), *synthetic.SUITE.types[1:]))
    counting = Counting()
    sources = replace(counting.sources, suite=lambda name: newer)
    build([root], tmp_path / "out", BuildSettings(resume=True), sources=sources)
    assert counting.sought == ["s0", "s1", "s2", "s3"]


def test_a_file_of_candidates_that_is_cut_short_is_made_again(invented: Path, root: Path, tmp_path: Path) -> None:
    killed(root, tmp_path / "out")
    file = tmp_path / "out/.work/candidates/synthetic-s0.parquet"
    file.write_bytes(file.read_bytes()[:1000])
    built(root, tmp_path / "out", resume=True)
    assert files(tmp_path / "out") == files(invented)


# The folder


def test_a_folder_with_something_else_is_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/thesis.tex").write_text("mine")
    with pytest.raises(InputError, match="is not empty and holds no build") as error:
        built(root, tmp_path / "out")
    assert "\n" not in str(error.value)
    assert files(tmp_path / "out") == {"thesis.tex": b"mine"}
    with pytest.raises(InputError, match="is a file"):
        built(root, tmp_path / "out/thesis.tex")


def test_a_build_with_other_settings_is_refused_and_kept(root: Path, tmp_path: Path) -> None:
    built(root, tmp_path / "out", questions=12)
    before = files(tmp_path / "out")
    with pytest.raises(InputError, match=r"other settings \(questions 12, not 13, seed 0, not 5\)"):
        built(root, tmp_path / "out", questions=13, seed=5)
    assert files(tmp_path / "out") == before
    killed(root, tmp_path / "half")
    with pytest.raises(InputError, match="other settings"):
        built(root, tmp_path / "half", seed=5, resume=True)


def test_a_build_is_made_again_in_its_own_folder(root: Path, tmp_path: Path) -> None:
    built(root, tmp_path / "out", questions=12)
    before = files(tmp_path / "out")
    built(root, tmp_path / "out", questions=12)
    assert files(tmp_path / "out") == before
    shutil.rmtree(root / "s0")
    built(root, tmp_path / "out", questions=12)
    assert {row.scene_id for row in Benchmark.open(tmp_path / "out", check=True)} == {"s1", "s2", "s3"}


def test_what_is_asked_for_is_checked(root: Path, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    with pytest.raises(SpacecastError, match="not worded in 'zh'; it is in en"):
        built(root, tmp_path / "out", language="zh")
    with pytest.raises(SpacecastError, match="questions should be at least 1"):
        built(root, tmp_path / "out", questions=0)
    with pytest.raises(SpacecastError, match="no scenes"):
        built(nothing, tmp_path / "out")
    with pytest.raises(InputError, match=r"scene s. is found twice"):
        build([root, root], tmp_path / "out", sources=synthetic.SOURCES)
    assert not (tmp_path / "out").exists()
    with pytest.raises(SpacecastError, match="no suites named 'spacecats'; did you mean 'spacecast'"):
        build([root], tmp_path / "out", BuildSettings(suite="spacecats"))


def test_a_type_that_enumerates_a_case_twice_is_a_fault(root: Path, tmp_path: Path) -> None:
    class Twice(synthetic.Occlusions):
        def enumerate(self, context: Any) -> Any:
            for draft in super().enumerate(context):
                yield draft
                yield draft

    sources = replace(synthetic.SOURCES, suite=lambda name: replace(synthetic.SUITE, types=(Twice(),)))
    with pytest.raises(SpacecastError, match="enumerates case 1-0 twice"):
        build([root], tmp_path / "out", sources=sources)


def test_progress_counts_up(root: Path, tmp_path: Path) -> None:
    said: list[tuple[str, int, int]] = []
    build([root], tmp_path / "out", sources=synthetic.SOURCES, progress=lambda *event: said.append(event))
    assert [event for event in said if event[0] == "scenes"] == [("scenes", i, 4) for i in range(5)]
    assert [event[0] for event in said if event[1] == event[2]] == ["scenes", "selection", "pictures", "shards"]
