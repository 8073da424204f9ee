from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from raw_scene import (
    NAME,
    depth_payload,
    depth_png,
    jpeg,
    ply_bytes,
    pose,
    sens_bytes,
    write_frame,
    write_scene,
    write_segments,
)

import scannet_tools.opened
from scannet_tools import colmap, dslr, iphone, listing, nerfstudio, scannet, scannet_frames, scannetpp, segments
from scannet_tools.check import COSTS, Check, status_of
from scannet_tools.check import SETTINGS as CHECK_SETTINGS
from scannet_tools.opened import spread
from scannet_tools.scannet import READER
from spacecast.errors import InputError


def good_scene(root, name=NAME):
    folder = write_scene(root, name)
    write_frame(folder, "0", depth=depth_png(np.full((24, 32), 1500)))
    return folder


def row(output: str, scene: str) -> list[str]:
    return next(line for line in output.splitlines() if line.startswith(scene)).split()


def test_a_whole_scene_is_a_row_and_nothing_is_wrong(tmp_path, capsys):
    good_scene(tmp_path)
    assert Check(tmp_path).run() == 0
    output = capsys.readouterr().out
    assert row(output, NAME) == [NAME, "6", "2", "2", "1", "1", "1", "yes", "yes"]
    assert "1 scenes, nothing missing or broken" in output


def test_a_scene_that_cannot_be_read_is_a_row_and_the_others_go_on(tmp_path, capsys):
    good_scene(tmp_path, "scene0001_00")
    (tmp_path / "scene0002_00").mkdir()
    broken = good_scene(tmp_path, "scene0003_00")
    (broken / "scene0003_00_vh_clean_2.ply").write_bytes(ply_bytes()[:-1])
    unfit = good_scene(tmp_path, "scene0004_00")
    write_segments(unfit, [5, 9, 2])
    good_scene(tmp_path, "scene0005_00")
    assert Check(tmp_path).run() == 1
    output = capsys.readouterr().out
    assert row(output, "scene0002_00")[1:] == ["-"] * 8 + ["cannot", "be", "read"]
    assert row(output, "scene0005_00")[1:5] == ["6", "2", "2", "1"]
    assert "has no mesh scene0002_00_vh_clean_2.ply" in output
    assert "scene0003_00_vh_clean_2.ply: cut short" in output
    assert "3 segment numbers for 6 vertices" in output
    assert re.search(r"unreadable +3 +3 +the scene", output)
    assert "Traceback" not in output


def test_what_is_missing_is_told_and_is_no_error(tmp_path, capsys):
    folder = good_scene(tmp_path)
    for number in range(1, 6):
        write_frame(folder, str(number), color=None, depth=depth_png(np.full((24, 32), 1500)))
    assert Check(tmp_path).run() == 0
    output = capsys.readouterr().out
    assert "missing_photo 5" in output
    assert f"{NAME} missing_photo: 3: a pose without a photo" in output
    assert f"{NAME} missing_photo: 4:" not in output
    assert "and 2 more; --all names them" in output
    assert Check(tmp_path, all=True).run() == 0
    output = capsys.readouterr().out
    assert [f"missing_photo: {n}:" in output for n in range(1, 6)] == [True] * 5
    assert "more; --all" not in output


def test_every_problem_that_reading_names_is_named(tmp_path, capsys):
    folder = good_scene(tmp_path)
    write_frame(folder, "1", matrix=np.full((4, 4), -np.inf))
    write_frame(folder, "2", color=jpeg()[:-200], depth=depth_png(np.full((24, 32), 1500)))
    write_frame(folder, "3", color=jpeg(64, 64))
    (folder / f"{NAME}.txt").write_text((folder / f"{NAME}.txt").read_text().replace("axisAlignment", "other"))
    problems = READER.read(folder).problems
    assert len({problem.kind for problem in problems}) == 4
    assert Check(tmp_path, all=True).run() == 1
    output = capsys.readouterr().out
    for problem in problems:
        assert f"{NAME} {problem.kind}: {problem.subject}: {problem.detail}" in output
        assert COSTS[problem.kind].text in output
    assert row(output, NAME)[4:9] == ["1", "1", "1", "no", "yes"]


def test_every_kind_that_the_reader_has_is_told_with_its_cost():
    kinds = set()
    modules = (
        scannet,
        scannet_frames,
        scannet_tools.opened,
        segments,
        scannetpp,
        dslr,
        iphone,
        listing,
        colmap,
        nerfstudio,
    )
    for module in modules:
        kinds |= set(re.findall(r'Problem\(\s*"(\w+)"', Path(module.__file__).read_text(encoding="utf-8")))
    assert kinds | {"unreadable", "unknown_label"} == set(COSTS)
    documented = set(re.findall(r"^``(\w+)``  ", scannet.__doc__ + scannetpp.__doc__, re.MULTILINE))
    assert documented == kinds


def test_a_label_that_nothing_knows_is_told_once_with_its_count(tmp_path, capsys):
    folder = good_scene(tmp_path)
    path = next(folder.glob("*.aggregation.json"))
    path.write_text(path.read_text().replace("office chair", "Sousaphone").replace("Table", "sousaphone"))
    assert Check(tmp_path).run() == 0
    output = capsys.readouterr().out
    assert f"{NAME} unknown_label: sousaphone: " in output
    assert "(2 here)" in output
    # A label map that lists it knows it.
    (tmp_path / "scannetv2-labels.combined.tsv").write_text("raw_category\tcategory\nsousaphone\ttuba\n")
    assert Check(tmp_path).run() == 0
    assert "unknown_label" not in capsys.readouterr().out


def test_roots_without_scenes(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        Check(tmp_path / "none").run()
    with pytest.raises(InputError, match="no scene of a known layout"):
        Check(tmp_path).run()


def test_nothing_is_loaded_to_read_a_scene(tmp_path, monkeypatch):
    folder = good_scene(tmp_path)

    def refuse(*_):
        raise AssertionError("a picture was decoded")

    monkeypatch.setattr("scannet_tools.exported.decode_color", refuse)
    monkeypatch.setattr("scannet_tools.exported.decode_depth", refuse)
    assert len(READER.read(folder).views) == 1
    with pytest.raises(AssertionError, match="decoded"):
        status_of(NAME, READER, folder)


def test_what_no_head_tells_is_found_by_opening(tmp_path, capsys):
    folder = good_scene(tmp_path)
    photo, depth = jpeg(), depth_png(np.full((24, 32), 1500))
    write_frame(folder, "1", color=photo.replace(b"\xff\xdb", b"\xff\xfe"), depth=depth)  # tables become comments
    write_frame(folder, "2", depth=depth[:-30] + bytes(10) + depth[-20:])
    grey = io.BytesIO()
    Image.new("L", (32, 24)).save(grey, format="PNG")
    write_frame(folder, "3", depth=grey.getvalue())
    write_frame(folder, "4", depth=depth)
    assert READER.read(folder).problems == ()
    status = status_of(NAME, READER, folder)
    assert [(p.kind, p.subject) for p in status.problems] == [
        ("broken_photo", "1"),
        ("broken_depth", "2"),
        ("broken_depth", "3"),
    ]
    assert Check(tmp_path).run() == 1
    output = capsys.readouterr().out
    assert re.search(r"broken_depth +2 +1 ", output)
    assert "the frame is not used" in output


def test_broken_payloads_of_a_stream_are_found_by_opening(tmp_path):
    folder = write_scene(tmp_path)
    payload = depth_payload()
    frames = [
        (pose(), jpeg(), payload),
        (pose(), jpeg(), payload[:-4] + bytes(4)),  # the sum at its end
        (pose(), jpeg()[:-30], payload),
    ]
    (folder / f"{NAME}.sens").write_bytes(sens_bytes(frames))
    assert READER.read(folder).problems == ()
    problems = status_of(NAME, READER, folder).problems
    assert [(p.kind, p.subject) for p in problems] == [("broken_depth", "1"), ("broken_photo", "2")]


def test_of_a_long_walk_some_pictures_are_opened_and_it_says_so(tmp_path, capsys, monkeypatch):
    folder = good_scene(tmp_path)
    for number in range(1, 9):
        write_frame(folder, str(number), depth=depth_png(np.full((24, 32), 1500)))
    opened = []
    real = scannet_tools.opened.decode_color
    monkeypatch.setattr("scannet_tools.opened.decode_color", lambda *a, **k: opened.append(a[1]) or real(*a, **k))
    status = status_of(NAME, READER, folder, opened=3)
    assert status.facts["opened"] == "3"
    assert sorted(Path(name).stem for name in opened) == ["0", "4", "8"]
    assert "opened" not in status_of(NAME, READER, folder, opened=None).facts
    assert len(opened) == 12
    assert Check(tmp_path, full=True).run() == 0
    assert len(opened) == 21
    assert "opened" not in capsys.readouterr().out


def test_evenly_spread():
    assert spread(range(10), 4) == [0, 3, 6, 9]
    assert spread("abc", 3) == ["a", "b", "c"]
    assert spread("", 3) == []


def test_of_many_scenes_one_screen_says_what_is_broken(tmp_path, capsys):
    for number in range(CHECK_SETTINGS.max_rows + 1):
        folder = good_scene(tmp_path, f"scene{number:04d}_00")
        write_frame(folder, "1", matrix=np.full((4, 4), -np.inf))
    assert Check(tmp_path).run() == 0
    output = capsys.readouterr().out
    assert len(output.splitlines()) < 10
    assert "21 scenes (42 objects, 21 frames, 21 photos, 21 depth); in 21 nothing is broken" in output
    assert re.search(r"lost_pose +21 +21 +the frame", output)
    assert "scene00" not in output
    (tmp_path / "scene0004_00/scene0004_00_vh_clean_2.ply").write_bytes(b"<html>")
    (tmp_path / "scene0005_00/color/0.jpg").write_bytes(jpeg()[:-100])
    assert Check(tmp_path).run() == 1
    output = capsys.readouterr().out
    assert [line.split()[0] for line in output.splitlines() if line.startswith("scene0")] == [
        *("scene0004_00", "scene0005_00"),
        *("scene0004_00", "scene0005_00"),
    ]
    assert "in 19 nothing is broken" in output
    assert "scene0005_00 broken_photo: 0:" in output
    assert Check(tmp_path, all=True).run() == 1
    output = capsys.readouterr().out
    assert row(output, "scene0017_00")[1] == "6"
    assert "scene0017_00 lost_pose: 1:" in output


def test_the_real_scan(real_scans, capsys):
    assert Check(real_scans).run() == 0
    output = capsys.readouterr().out
    assert row(output, "scene0000_00")[1:] == [
        *("81369", "153587", "67", "188", "3", "0", "yes", "yes"),
        *("missing_photo", "185,", "no_depth", "1"),
    ]
