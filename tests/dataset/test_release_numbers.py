"""Whole builds on invented scans of two datasets: shares, scenes drawn and replaced, rooms that are left out."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import synthetic_suite as synthetic

from spacecast.cli import main
from spacecast.dataset.build import BuildReport, BuildSettings, build, build_shard
from spacecast.dataset.draw import Draw, draw_order, rooms_of
from spacecast.dataset.manifest import spread_of
from spacecast.dataset.merge import merge
from spacecast.dataset.reader import Benchmark
from spacecast.dataset.settings import Folder
from spacecast.dataset.share import Share
from spacecast.dataset.types import DatasetQuota
from spacecast.errors import InputError, SpacecastError

SUITE = replace(synthetic.SUITE, per_dataset=(DatasetQuota("few", 17, 4), DatasetQuota("many", 74, 6)))
"""91 questions: 40, 30 and 21 by type."""


def find(root: Path) -> list[Folder]:
    """Folders are ``few`` and ``many``, each with scenes ``r3_1``: scan 1 of room r3."""
    return [
        Folder(path.parent.name, path.name, path, path.name.partition("_")[0])
        for path in root.glob("*/*")
        if (path / "objects").exists()
    ]


def read(folder: Folder) -> Any:
    return replace(synthetic.read(folder), room_id=folder.room)


SOURCES = replace(synthetic.SOURCES, find=find, read=read, suite=lambda name: SUITE)


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six rooms of few, each scanned twice, and nine of many; read-only."""
    root = tmp_path_factory.mktemp("two") / "raw"
    for room in range(6):
        for scan in range(2):
            synthetic.write_scene(root / "few", f"r{room}_{scan}", objects=5, photos=8)
    for room in range(9):
        synthetic.write_scene(root / "many", f"r{room}_0", objects=6, photos=8)
    return root


def built(root: Path, out: Path, **settings: Any) -> BuildReport:
    return build([root], out, BuildSettings(**settings), sources=SOURCES)


def by_dataset(out: Path) -> Counter[str]:
    return Counter(row.dataset for row in Benchmark.open(out))


def test_a_whole_release(raw: Path, tmp_path: Path) -> None:
    report = built(raw, tmp_path / "out", scenes=10)
    rows = Benchmark.open(tmp_path / "out").rows
    assert Counter(row.source_type for row in rows) == {
        "direction_allocentric": 40, "occlusion": 30, "attachment_chain": 21,
    }  # fmt: skip
    assert by_dataset(tmp_path / "out") == {"few": 17, "many": 74}
    scenes = {(row.dataset, row.scene_id) for row in rows}
    assert Counter(dataset for dataset, _ in scenes) == {"few": 4, "many": 6}
    assert len({scene_id.partition("_")[0] for dataset, scene_id in scenes if dataset == "few"}) == 4  # no rescan
    said = report.manifest["published"]
    assert [said[f"{name}_equal"] for name in ("by_type", "by_dataset", "scenes")] == [True, True, True]
    assert said["by_dataset"] == {"few": {"published": 17, "here": 17}, "many": {"published": 74, "here": 74}}
    assert report.unmet == ()
    card = (tmp_path / "out" / "README.md").read_text()
    assert "These are the numbers of the whole release." in card
    assert "| few | 17 | 4 | " in card


def test_another_number_is_shared_out_in_proportion(raw: Path, tmp_path: Path) -> None:
    """45 x 17 / 91 = 8.41 and 45 x 74 / 91 = 36.59."""
    report = built(raw, tmp_path / "out", questions=45)
    assert by_dataset(tmp_path / "out") == {"few": 8, "many": 37}
    assert report.questions == 45
    assert not report.manifest["published"]["by_dataset_equal"]


def test_shares_can_be_given(raw: Path, tmp_path: Path) -> None:
    built(raw, tmp_path / "out", per_dataset=(("many", 10), ("few", 20)))
    assert by_dataset(tmp_path / "out") == {"few": 20, "many": 10}
    built(raw, tmp_path / "none", per_dataset=(("many", 0), ("few", 20)), scenes=5)
    assert by_dataset(tmp_path / "none") == {"few": 20}
    report = built(raw, tmp_path / "unread", per_dataset=(("many", 0), ("few", 20)))
    assert {scene.partition("-")[0] for scene in report.manifest["scenes"]} == {"few"}
    with pytest.raises(SpacecastError, match="given for few, but the scans are of few, many"):
        built(raw, tmp_path / "other", per_dataset=(("few", 20),))
    assert not (tmp_path / "other").exists()
    with pytest.raises(SpacecastError, match="at least 0"):
        built(raw, tmp_path / "other", per_dataset=(("few", 0), ("many", 0)))


def test_one_dataset_gives_all(raw: Path, tmp_path: Path) -> None:
    report = build([_only(raw, tmp_path, "few")], tmp_path / "out", BuildSettings(questions=30), sources=SOURCES)
    assert report.questions == 30
    assert report.unmet == ()
    assert report.manifest["published"]["by_dataset"]["many"] == {"published": 74, "here": 0}


def _only(raw: Path, tmp_path: Path, dataset: str) -> Path:
    root = tmp_path / "one"
    root.mkdir()
    (root / dataset).symlink_to(raw / dataset)
    return root


def test_what_a_dataset_cannot_give_the_other_gives_and_it_is_said(raw: Path, tmp_path: Path) -> None:
    """many has one small scene: three objects give no attachment (four are needed) and few others."""
    root = tmp_path / "raw"
    for room in range(9):
        synthetic.write_scene(root / "few", f"r{room}_0", objects=6, photos=8)
    synthetic.write_scene(root / "many", "r0_0", objects=3, photos=8)
    report = build([root], tmp_path / "out", BuildSettings(), sources=SOURCES)
    counts = by_dataset(tmp_path / "out")
    assert report.questions == 91
    assert counts["many"] < 30
    unmet = {(entry["type_code"], entry["dataset"]): entry for entry in report.manifest["unmet"]}
    assert ("attachment_chain", "") not in unmet
    entry = unmet["attachment_chain", "many"]
    assert (entry["chosen"], entry["candidates"]) == (0, 0)
    assert any(line.startswith("L1 / Attachment from many: 0 of ") for line in report.unmet)
    directions = unmet["direction_allocentric", "many"]
    assert directions["chosen"] + sum(directions["against"].values()) == directions["candidates"] > 0
    assert directions["refused_most"] == [["relation/ambiguous", directions["refused_most"][0][1]]]


def test_only_scenes_that_are_drawn_are_looked_into(raw: Path, tmp_path: Path) -> None:
    sought: list[str] = []

    def context(scan: Any, pictures: str) -> Any:
        sought.append(f"{scan.dataset}-{scan.scene_id}")
        return synthetic.context(scan, pictures)

    report = build([raw], tmp_path / "out", BuildSettings(scenes=5), sources=replace(SOURCES, context=context))
    assert report.scenes == 5
    assert sorted(sought) == sorted(report.manifest["scenes"])


@pytest.mark.parametrize("fault", ["broken", "empty", "pictures"])
def test_a_scene_that_fails_or_gives_nothing_is_replaced_by_the_next(fault: str, raw: Path, tmp_path: Path) -> None:
    order = [folder.key for folder in draw_order(find(raw), 0) if folder.dataset == "few"]
    spoiled, reads = order[1], Counter[str]()

    def spoil(folder: Folder) -> Any:
        reads[folder.key] += 1
        if folder.key != spoiled or (fault == "pictures" and reads[folder.key] == 1):
            return read(folder)
        if fault == "empty":
            return replace(read(folder), instances={}, instance_ids=read(folder).instance_ids * 0 - 1)
        raise InputError(f"{folder.path}: cannot be read; copy it again")

    sources = replace(SOURCES, read=spoil)
    report = build([raw], tmp_path / "out", BuildSettings(scenes=10), sources=sources)
    scenes = {f"{row.dataset}-{row.scene_id}" for row in Benchmark.open(tmp_path / "out")}
    assert {key for key in scenes if key.startswith("few")} == set(order[:5]) - {spoiled}
    assert len(scenes) == 10
    assert bool(report.failures) == (fault != "empty")
    assert report.manifest["passed_over"] == ([spoiled] if fault == "empty" else [])


def test_more_scenes_than_rooms_take_rescans_and_never_fail(raw: Path, tmp_path: Path) -> None:
    report = built(raw, tmp_path / "out", scenes=50)
    assert report.scenes == 21
    rows = Benchmark.open(tmp_path / "out").rows
    assert len({row.scene_id for row in rows if row.dataset == "few"}) == 12


def test_rescans_of_a_room_ask_of_a_thing_once(raw: Path, tmp_path: Path) -> None:
    """In every type: also what moves with a thing, whatever is offered."""
    built(raw, tmp_path / "out", per_dataset=(("few", 91), ("many", 0)))
    asked: dict[tuple[str, ...], set[str]] = {}
    for row in Benchmark.open(tmp_path / "out"):
        about = row.facts["objects"][: 1 if row.multi_select else None]
        key = (row.source_type, row.scene_id.partition("_")[0], *(item["label"] for item in about))
        asked.setdefault(key, set()).add(row.scene_id)
    assert {key[0] for key in asked} == {kind.code for kind in SUITE.types}
    assert max(map(len, asked.values())) == 1


def test_few_questions_in_as_many_scenes(raw: Path, tmp_path: Path) -> None:
    """few gives 30 x 17 / 91 = 6 questions and 15 x 4 / 10 = 6 scenes."""
    assert built(raw, tmp_path / "out", questions=30, scenes=15).scenes == 15


def test_rooms_of_another_dataset_are_left_out(raw: Path, tmp_path: Path) -> None:
    built(raw, tmp_path / "test", scenes=4)
    used = rooms_of([tmp_path / "test"])
    assert {room.partition("-")[0] for room in used} == {"few", "many"}
    report = built(raw, tmp_path / "train", excluded_rooms=used)
    trained = {(row.dataset, row.scene_id) for row in Benchmark.open(tmp_path / "train")}
    assert {f"{dataset}-{scene_id.partition('_')[0]}" for dataset, scene_id in trained}.isdisjoint(used)
    assert not set(report.manifest["rooms"]) & set(used)
    # a rescan of a used room is gone too, and a room of the same name in the other dataset is not
    every = {folder.room_key for folder in find(raw)}
    assert set(report.manifest["rooms"]) == every - set(used)
    with pytest.raises(InputError, match="all of 21 scenes are of rooms that are left out"):
        built(raw, tmp_path / "nothing", excluded_rooms=tuple(every))


def test_what_is_no_dataset_has_no_rooms(raw: Path) -> None:
    with pytest.raises(InputError, match=r"no release_manifest.json in it; give the folder of a dataset"):
        rooms_of([raw])


def test_a_folder_that_does_not_say_what_was_built_in_it_is_left_alone(raw: Path, tmp_path: Path) -> None:
    built(raw, tmp_path / "out", questions=9)
    (tmp_path / "out" / "release_manifest.json").write_text("{")
    with pytest.raises(InputError, match=r"release_manifest.json: does not say what was built here"):
        built(raw, tmp_path / "out", questions=9)


def test_a_dataset_that_lists_no_rooms_is_refused(raw: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    built(raw, tmp_path / "test", questions=9)
    manifest = tmp_path / "test" / "release_manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "rooms": []}))
    with pytest.raises(InputError, match="lists no rooms of its questions"):
        rooms_of([tmp_path / "test"])
    manifest.write_text(manifest.read_text().replace('"rooms"', '"halls"'))
    with pytest.raises(InputError, match="does not list the dataset's rooms"):
        rooms_of([tmp_path / "test"])
    assert main(["build", str(raw), str(tmp_path / "out"), "--exclude", str(tmp_path / "test")]) == 2
    assert "does not list the dataset's rooms" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "scannet", "scannet=", "scannet=1,scannet=2", "=3", "scannet=-1"])
def test_numbers_by_dataset_that_cannot_be_read(text: str, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["build", str(tmp_path), str(tmp_path / "out"), "--per-dataset", text]) == 2
    assert "give numbers by dataset as scannet=718,scannetpp=3144" in capsys.readouterr().err


def spoilt(root: Path, key: str, fault: str) -> None:
    """Make a scene fail: it cannot be read, has nothing to ask about, or shows a photo that is none."""
    folder = root / key.replace("-", "/")
    if fault == "broken":
        (folder / "broken").touch()
    if fault == "empty":
        (folder / "objects").write_text("0")
    if fault == "pictures":
        for photo in folder.glob("*.jpg"):
            photo.write_bytes(b"no picture")


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def shards(root: Path, folder: Path, **settings: Any) -> list[Path]:
    paths = [folder / f"shard{i}" for i in (1, 2)]
    for i, path in enumerate(paths, start=1):
        build_shard([root], path, Share(i, 2), BuildSettings(**settings), sources=SOURCES)
    return paths


@pytest.mark.parametrize(
    "faults",
    [
        {0: "broken"},
        {0: "empty"},
        {0: "pictures"},
        {1: "pictures", 0: "broken"},
        {0: "broken", 2: "pictures"},  # what comes instead fails too
        {0: "pictures", 2: "empty", 3: "broken"},
    ],
)
@pytest.mark.parametrize("evidence", [False, True])
def test_shards_of_a_draw_are_merged_to_the_same_dataset(
    faults: dict[int, str], evidence: bool, raw: Path, tmp_path: Path
) -> None:
    """Of what is drawn something fails: no shard looked for what comes instead, and merge finds it in the scans."""
    root = tmp_path / "raw"
    shutil.copytree(raw, root)
    order = [folder.key for folder in draw_order(find(root), 0) if folder.dataset == "few"]
    for place, fault in faults.items():
        spoilt(root, order[place], fault)
    settings: dict[str, Any] = {"scenes": 6, "questions": 30, "evidence": evidence}
    whole = built(root, tmp_path / "whole", **settings)
    merged = merge(shards(root, tmp_path, **settings), tmp_path / "merged", sources=SOURCES)
    assert files(tmp_path / "merged") == files(tmp_path / "whole")
    assert merged.failures == whole.failures
    assert [line.partition(":")[0] for line in merged.failures] == sorted(
        order[place] for place, fault in faults.items() if fault != "empty"
    )
    used = {f"few-{row.scene_id}" for row in Benchmark.open(tmp_path / "merged") if row.dataset == "few"}
    assert used == set([key for place, key in enumerate(order) if place not in faults][:2])


def test_scenes_that_give_way_in_a_build_do_so_in_a_merge(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 12 scenes for 12 questions one has nothing that is chosen, as often as it may be replaced."""
    redrawn = []
    without = Draw.without
    monkeypatch.setattr(Draw, "without", lambda draw, idle: redrawn.append(set(idle)) or without(draw, idle))
    settings: dict[str, Any] = {"scenes": 12, "questions": 12}
    built(raw, tmp_path / "whole", **settings)
    once = list(redrawn)
    merge(shards(raw, tmp_path, **settings), tmp_path / "merged", sources=SOURCES)
    assert once
    assert redrawn == once * 2
    assert files(tmp_path / "merged") == files(tmp_path / "whole")


def test_a_scan_that_comes_instead_has_to_be_where_it_was(raw: Path, tmp_path: Path) -> None:
    root = tmp_path / "raw"
    shutil.copytree(raw, root)
    order = [folder.key for folder in draw_order(find(root), 0) if folder.dataset == "few"]
    spoilt(root, order[0], "broken")
    parts = shards(root, tmp_path, scenes=6, questions=30)
    instead = root / order[2].replace("-", "/")
    instead.rename(tmp_path / "away")
    with pytest.raises(InputError) as error:
        merge(parts, tmp_path / "out", sources=SOURCES)
    assert str(error.value) == f"{instead}: takes the place of a scene that failed; put the scan back there"
    (tmp_path / "away").rename(instead)
    built(root, tmp_path / "whole", scenes=6, questions=30)
    merge(parts, tmp_path / "out", sources=SOURCES)
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def test_spread_is_counted() -> None:
    """A move of two that go along and one picture; a layout in two pictures; what one wrong option stands for."""
    changes: list[dict[str, Any] | None] = [
        {"kind": "move", "direction": "north", "distance_m": 1.5, "moved": [3, 4, 5]},
        {"kind": "rotate_layout", "angle_deg": 90},
        None,
    ]
    rows = [
        SimpleNamespace(
            category="c",
            image_paths=("a",) * count,
            facts={"intervention": change, "options": [{"tag": None}, {"tag": "other"}, {"tag": "no_update"}]},
        )
        for change, count in zip(changes, (1, 2, 1), strict=True)
    ]
    assert spread_of(rows) == {
        "c": {
            "angle_deg": {"90": 1},
            "direction": {"north": 1},
            "distance_m": {"1.5": 1},
            "follow": {"2": 1},
            "images": {"1": 2, "2": 1},
            "tags": {"no_update": 3, "other": 3},
        }
    }
