"""``spacecast check`` on ScanNet++ roots, and the lists beside the scenes."""

from __future__ import annotations

import re

import pytest
from raw_scenepp import GROUPS, NAME, frame, jpeg, write_dslr_scene, write_photo, write_scene, write_transforms

from scannet_tools import check
from scannet_tools.check import Check
from scannet_tools.scannetpp import READER
from scannet_tools.scannetpp_lists import find_lists, read_lists
from spacecast.registry import find_scans


@pytest.fixture(autouse=True)
def _only_scannetpp(monkeypatch):
    """The reader under test, whatever is installed beside it."""
    monkeypatch.setattr("spacecast.registry.readers", lambda: (READER,))
    assert check.find_scans is find_scans


def row(output: str, scene: str) -> list[str]:
    return next(line for line in output.splitlines() if line.startswith(scene)).split()


def write_lists(root):
    (root / "splits").mkdir()
    (root / "splits/nvs_sem_train.txt").write_text(f"{NAME}\nffffffffff\n\n")
    (root / "splits/nvs_sem_val.txt").write_text("eeeeeeeeee\n")
    (root / "metadata/semantic_benchmark").mkdir(parents=True)
    (root / "metadata/semantic_classes.txt").write_text("wall\nstorage cabinet\nREMOVE\n")
    (root / "metadata/semantic_benchmark/top100.txt").write_text("Wall\nstorage cabinent\n")


def test_a_whole_scene_is_a_row_and_nothing_is_wrong(tmp_path, capsys):
    write_dslr_scene(tmp_path)
    assert Check(tmp_path).run() == 0
    output = capsys.readouterr().out
    assert row(output, NAME) == [NAME, "14", "14", "2", "1", "1", "0", "yes", "yes"]
    assert "1 scenes, nothing missing or broken" in output
    assert "benchmark" not in output


def test_splits_and_classes_are_read_and_shown(tmp_path, capsys):
    folder = write_dslr_scene(tmp_path)
    write_lists(tmp_path)
    lists = find_lists(folder)
    assert lists.root == tmp_path
    assert lists.splits == {"nvs_sem_train": (NAME, "ffffffffff"), "nvs_sem_val": ("eeeeeeeeee",)}
    assert lists.splits_of(NAME) == ("nvs_sem_train",)
    assert lists.classes == {
        "semantic_benchmark/top100": ("Wall", "storage cabinent"),
        "semantic_classes": ("wall", "storage cabinet", "REMOVE"),
    }
    assert lists.benchmark_classes == {"wall", "storage cabinet"}
    scan = READER.read(folder)
    assert [lists.is_benchmark_class(scan.instances[i]) for i in (0, 3)] == [False, True]
    for root in (tmp_path, tmp_path / "data", folder):
        assert Check(root).run() == 0
        output = capsys.readouterr().out
        assert row(output, NAME)[-2:] == ["1", "nvs_sem_train"]
        assert "split nvs_sem_train: 1 of 2 scenes are here" in output
        assert "split nvs_sem_val: 0 of 1 scenes are here" in output


def test_without_lists_there_are_none(tmp_path):
    assert find_lists(write_dslr_scene(tmp_path)) is None
    lists = read_lists(tmp_path)
    assert (lists.splits, lists.classes, lists.problems) == ({}, {}, ())


def test_lists_that_are_none_are_told(tmp_path, capsys):
    write_dslr_scene(tmp_path)
    write_lists(tmp_path)
    (tmp_path / "splits/nvs_sem_val.txt").write_text("<html>\n0a7cc12c0e\n")
    (tmp_path / "metadata/semantic_classes.txt").write_bytes(b"\xff\xfe\x00")
    lists = read_lists(tmp_path)
    assert lists.splits["nvs_sem_val"] == (NAME,)
    assert [p.subject for p in lists.problems] == ["splits/nvs_sem_val.txt", "metadata/semantic_classes.txt"]
    assert Check(tmp_path).run() == 1
    assert "broken_lists: splits/nvs_sem_val.txt: '<html>' is no scene id" in capsys.readouterr().out


def test_what_is_missing_or_broken_and_what_it_costs(tmp_path, capsys):
    folder = write_dslr_scene(tmp_path)
    for name in ("cut.JPG", "bad.JPG"):
        write_photo(folder, name, jpeg()[:-300])
    frames = [frame("DSC01.JPG"), frame("cut.JPG"), frame("bad.JPG", is_bad=True), frame("gone.JPG")]
    write_transforms(folder, frames)
    (tmp_path / "data/00000aaaaa/scans").mkdir(parents=True)
    write_scene(tmp_path, "bbbbbbbbbb", groups=[GROUPS[0]])
    assert Check(tmp_path).run() == 1
    output = capsys.readouterr().out
    assert row(output, "00000aaaaa")[1:] == ["-"] * 8 + ["cannot", "be", "read"]
    assert "has no mesh scans/mesh_aligned_0.05.ply; download it" in output
    assert f"{NAME} bad_frame: bad: transforms_undistorted.json marks it is_bad; left out" in output
    assert f"{NAME} unstored_photo: gone: listed, and not on disk; left out" in output
    assert re.search(r"broken_photo +1 +1 +the frame", output)
    assert re.search(r"no_dslr +1 +1 +the DSLR's photos", output)
    assert re.search(r"unreadable +1 +1 +the scene", output)


def test_what_is_missing_alone_is_no_error(tmp_path, capsys):
    folder = write_dslr_scene(tmp_path)
    write_transforms(folder, [frame("DSC01.JPG"), frame("gone.JPG"), frame("bad.JPG", is_bad=True)])
    assert Check(tmp_path).run() == 0
    assert "unstored_photo 1" in capsys.readouterr().out
