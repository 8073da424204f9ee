"""Raw data that is broken in ways that people have met: what it costs, by hand, with the smallest input."""

from __future__ import annotations

import importlib.util
import json
import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import raw_scene as sn
import raw_scenepp as pp

from scannet_tools import depth_bin, scannet, scannetpp
from scannet_tools.check import Check
from scannet_tools.ply import read_ply
from scannet_tools.raw_files import files_in, folders_in, load_json, read_whole
from scannet_tools.scannetpp_lists import read_lists
from scannet_tools.segments import read_groups, read_segments
from scannet_tools.sens import SensFile
from spacecast.errors import FrameError, InputError
from spacecast.frames import Transform
from spacecast.scan import Problem

BENCHMARK = Path(__file__).parent.parent.parent / "benchmarks" / "check.py"


def refusal(call, *given, **named) -> str:
    with pytest.raises(InputError) as caught:
        call(*given, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def kinds(scan) -> list[str]:
    return [problem.kind for problem in scan.problems]


# Meshes


def test_more_in_a_mesh_than_its_head_says_is_an_error(tmp_path):
    path = tmp_path / "m.ply"
    path.write_bytes(sn.ply_bytes(face_count=1))
    assert "6 vertex and 1 face need 109 bytes, found 122: more than its head says" in refusal(read_ply, path)
    path.write_bytes(sn.ply_text().replace(b"element face 2", b"element face 1"))
    assert "6 vertex and 1 face need 7 lines, found 8" in refusal(read_ply, path)
    path.write_bytes(sn.ply_bytes())
    assert len(read_ply(path).faces) == 2


def test_a_vertex_that_is_nowhere_near_is_an_error(tmp_path):
    path = tmp_path / "m.ply"
    path.write_bytes(sn.ply_bytes(vertices=[(x, y, z - 9_990.0) for x, y, z in sn.VERTICES]))
    assert read_ply(path).vertices[0, 2] == sn.VERTICES[0][2] - 9_990.0
    path.write_bytes(sn.ply_bytes(vertices=[(0, 1e30, 0), *sn.VERTICES[1:]]))
    assert "a vertex lies 1e+30 m off" in refusal(read_ply, path)
    text = sn.ply_text(vertices=[(0, "1e300", 0), *sn.VERTICES[1:]]).replace(b"float", b"double")
    path.write_bytes(text)
    assert "1 of 6 vertices are not finite" in refusal(read_ply, path)


def test_rows_of_nothing_are_an_error(tmp_path):
    path = tmp_path / "m.ply"
    path.write_bytes(sn.ply_bytes().replace(b"end_header", b"element x 999999999999\nend_header"))
    assert "announces 999999999999 'x' of nothing" in refusal(read_ply, path)


# Labels


@pytest.mark.parametrize("values", [[2**63], [2**64], [True, 1], [1.0], ["1"], [[1]], [None], ["x" * 10**6, 1], {}, 1])
def test_segment_numbers_that_are_none(tmp_path, values):
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"segIndices": values}))
    assert "s.json: segIndices" in refusal(read_segments, path) or "no list segIndices" in refusal(read_segments, path)


@pytest.mark.parametrize("label", ["\ud800", "a\x00b", "\u202echair"])
def test_a_label_that_cannot_be_written_costs_its_object(tmp_path, label):
    path = tmp_path / "g.json"
    groups = [{"objectId": 1, "label": label, "segments": [1]}, {"objectId": 2, "label": "a\u00a0b", "segments": [2]}]
    path.write_text(json.dumps({"segGroups": groups}))
    found = read_groups(path)
    assert [group.id for group in found.groups] == [2]
    assert [problem.kind for problem in found.problems] == ["broken_object"]


def test_a_broken_label_map_costs_names_and_not_the_scene(tmp_path):
    folder = sn.write_scene(tmp_path)
    sn.write_frame(folder, "0", depth=sn.depth_png(np.full((24, 32), 1500)))
    (tmp_path / "scannetv2-labels.combined.tsv").write_bytes(b"<html>")
    scan = scannet.read(folder)
    assert kinds(scan) == ["broken_label_map"]
    assert {instance.label for instance in scan.instances.values()} == {"table", "office chair"}
    assert Check(tmp_path).run() == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_json_in_another_encoding_of_unicode_is_read(tmp_path, encoding):
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"segIndices": [5, 6]}), encoding=encoding)
    assert read_segments(path).numbers.tolist() == [5, 6]


@pytest.mark.parametrize("data", [b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5000, b"\xff\xfe{", b"", b"nul"])
def test_json_that_is_none(tmp_path, data):
    path = tmp_path / "s.json"
    path.write_bytes(data)
    assert "not whole JSON" in refusal(load_json, path)


# Streams


def stream(tmp_path, **changes):
    path = tmp_path / "s.sens"
    path.write_bytes(sn.sens_bytes([(sn.pose(i), sn.jpeg(), sn.depth_payload()) for i in range(3)], **changes))
    return path


def test_frames_that_the_head_does_not_count_are_told(tmp_path):
    folder = sn.write_scene(tmp_path)
    whole = stream(tmp_path).read_bytes()
    (folder / f"{sn.NAME}.sens").write_bytes(whole)
    assert kinds(scannet.read(folder)) == []
    (folder / f"{sn.NAME}.sens").write_bytes(stream(tmp_path, count=2).read_bytes())
    scan = scannet.read(folder)
    assert list(scan.views) == ["0", "1"]
    assert kinds(scan) == ["unread_bytes"]


@pytest.mark.parametrize(
    "after, unread",
    [
        (b"", 0),
        (struct.pack("<Q", 0), 0),
        (struct.pack("<Q", 0) + bytes(5000), 0),
        (struct.pack("<Q", 3) + b"x" * 3 * 128, 0),
        (struct.pack("<Q", 3) + b"x" * (3 * 128 - 1), 8 + 3 * 128 - 1),
        (struct.pack("<Q", 2**63) + b"x" * 128, 8 + 128),
        (b"junk", 4),
    ],
)
def test_what_may_follow_the_frames(tmp_path, after, unread):
    path = stream(tmp_path)
    path.write_bytes(path.read_bytes()[:-8] + after)
    sens = SensFile.open(path)
    assert (len(sens), sens.missing_frames, sens.unread_bytes) == (3, 0, unread)


def test_pictures_too_large_to_be_any_are_refused_before_anything_is_unpacked(tmp_path):
    assert "not believable" in refusal(SensFile.open, stream(tmp_path, sides=(64, 48, 30000, 30000)))


def test_depth_that_unpacks_to_more_than_a_picture_ends_there(tmp_path):
    bomb = zlib.compress(bytes(50 << 20))
    path = tmp_path / "s.sens"
    path.write_bytes(sn.sens_bytes([(sn.pose(), sn.jpeg(), bomb)]))
    assert "found more" in refusal(SensFile.open(path)[0].depth)


def test_a_block_that_unpacks_to_endless_frames_ends(tmp_path, monkeypatch):
    path = tmp_path / "depth.bin"
    path.write_bytes(pp.depth_bin("one block", range(5)))
    monkeypatch.setattr(depth_bin, "SETTINGS", depth_bin.DepthFileSettings(max_frames=3))
    depths = depth_bin.open_depth(path)
    assert (len(depths.frames), depths.is_cut) == (3, True)


# Poses and cameras


@pytest.mark.parametrize("value", [1e200, -1e200, 1e308, 1e154])
def test_a_rotation_of_huge_values_is_none(value):
    matrix = np.eye(4)
    matrix[:2, :2] = [[value, value], [value, -value]]
    with pytest.raises(FrameError, match="orthonormal"):
        Transform.from_matrix(matrix, target="scan", source="camera")
    with pytest.raises(FrameError, match="quaternion"):
        Transform.from_quat_wxyz([1e308, 1e308, 0, 0], [0, 0, 0], target="a", source="b")


def test_a_camera_that_is_nowhere_near_costs_its_frame(tmp_path):
    folder = sn.write_scene(tmp_path / "scannet")
    for name, x in (("0", 0.0), ("1", 1e30), ("2", -9999.0)):
        sn.write_frame(folder, name, matrix=sn.pose(x))
    scan = scannet.read(folder)
    assert list(scan.views) == ["0", "2"]
    assert [(p.kind, p.subject) for p in scan.problems] == [("lost_pose", "1"), ("no_depth", sn.NAME)]
    folder = pp.write_dslr_scene(tmp_path / "scannetpp")
    far = np.array(pp.NERFSTUDIO, dtype=float)
    far[0, 3] = 20_000.0
    pp.write_photo(folder, "DSC02.JPG")
    pp.write_transforms(folder, [pp.frame("DSC01.JPG"), pp.frame("DSC02.JPG", far)])
    scan = scannetpp.read(folder)
    assert list(scan.views) == ["DSC01"]
    assert [(p.kind, p.subject) for p in scan.problems] == [("lost_pose", "DSC02")]


@pytest.mark.parametrize(
    "change",
    [{"fx_color": 1e-9}, {"fy_color": 1e9}, {"mx_color": 1e9}, {"my_color": -5}, {"fx_color": "nan"}, {"fx_color": ""}],
)
def test_a_camera_that_is_none_costs_the_frames(tmp_path, change):
    folder = sn.write_scene(tmp_path, text={**sn.TEXT, **change})
    sn.write_frame(folder, "0", depth=sn.depth_png(np.full((24, 32), 1500)))
    scan = scannet.read(folder)
    assert len(scan.views) == 0
    assert kinds(scan) == ["no_camera", "no_frames"]


def test_a_stated_size_that_is_none_gives_way_to_the_pictures(tmp_path):
    folder = sn.write_scene(tmp_path, text={**sn.TEXT, "colorWidth": 10**12})
    sn.write_frame(folder, "0", depth=sn.depth_png(np.full((24, 32), 1500)))
    scan = scannet.read(folder)
    assert (scan.views["0"].intrinsics.width, kinds(scan)) == (sn.WIDTH, ["no_camera"])


def test_a_number_too_large_for_any_is_a_pose_that_is_none(tmp_path):
    folder = pp.write_dslr_scene(tmp_path)
    pp.write_photo(folder, "DSC02.JPG")
    pp.write_transforms(
        folder, [pp.frame("DSC01.JPG"), {"file_path": "DSC02.JPG", "transform_matrix": [[10**400] * 4]}]
    )
    pp.write_tracking(folder, {"frame_000000": {**pp.tracked(), "aligned_pose": [[10**400] * 4] * 4}})
    scan = scannetpp.read(folder, "both")
    assert [(p.kind, p.subject) for p in scan.problems if p.kind == "lost_pose"] == [
        ("lost_pose", "DSC02"),
        ("lost_pose", "frame_000000"),
    ]


# Names, links and folders


def test_paths_in_files_lead_nowhere(tmp_path):
    folder = pp.write_dslr_scene(tmp_path / "root")
    for place in (tmp_path, tmp_path / "root", folder, folder / "dslr"):
        (place / "x.JPG").write_bytes(pp.jpeg())
    paths = ["../../x.JPG", "../x.JPG", "/etc/x.JPG", "..\\..\\x.JPG", f"{tmp_path}/x.JPG"]
    pp.write_transforms(folder, [pp.frame("DSC01.JPG"), *map(pp.frame, paths)])
    pp.write_colmap(folder, "dslr", {"../../../x.JPG": pp.COLMAP_LINE, "a/../../DSC01.JPG": pp.COLMAP_LINE})
    scan = scannetpp.read(folder)
    assert list(scan.views) == ["DSC01"]
    assert [(p.kind, p.subject) for p in scan.problems] == [("unstored_photo", "x")]
    assert all(folder in path.parents for path in scan.input_files.values())


def test_links_that_loop_do_no_harm(tmp_path):
    folder = sn.write_scene(tmp_path)
    sn.write_frame(folder, "0", depth=sn.depth_png(np.full((24, 32), 1500)))
    (tmp_path / "self").symlink_to(tmp_path)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (folder / "self").symlink_to(folder)
    (folder / "color/1.jpg").symlink_to(folder / "color/1.jpg")
    (folder / "color/2.jpg").symlink_to(folder / "gone.jpg")
    assert scannet.find(tmp_path) == {sn.NAME: folder}
    assert [(p.kind, p.subject) for p in scannet.read(folder).problems] == [
        ("missing_pose", "1"),
        ("missing_pose", "2"),
    ]
    for name in ("1", "2"):
        (folder / f"pose/{name}.txt").write_text(sn.matrix_text(sn.pose()))
    assert [(p.kind, p.subject) for p in scannet.read(folder).problems] == [
        ("broken_photo", "1"),
        ("broken_photo", "2"),
    ]


def test_links_that_loop_in_the_other_layout(tmp_path):
    folder = pp.write_dslr_scene(tmp_path)
    (tmp_path / "data/self").symlink_to(tmp_path / "data")
    (tmp_path / "metadata/again").mkdir(parents=True)
    (tmp_path / "metadata/again/above").symlink_to(tmp_path)
    (tmp_path / "metadata/loop.txt").symlink_to(tmp_path / "metadata/loop.txt")
    assert scannetpp.find(tmp_path / "data") == {pp.NAME: folder}
    assert read_lists(tmp_path).problems == ()


def test_a_pipe_is_no_picture_and_nobody_waits_for_it(tmp_path):
    folder = sn.write_scene(tmp_path)
    sn.write_frame(folder, "0", depth=sn.depth_png(np.full((24, 32), 1500)))
    os.mkfifo(folder / "color/1.jpg")
    (folder / "color/2.jpg").mkdir()
    assert kinds(scannet.read(folder)) == []


def test_file_names_with_odd_characters(tmp_path, capsys):
    folder = sn.write_scene(tmp_path)
    depth = sn.depth_png(np.full((24, 32), 1500))
    good = ["0", "[red]1", " 2 ", "\u0663", "\u00b2", "-5", "a" * 200, "%s{0}"]
    odd = ["a\nb", "\udcff", "\x1b[31m"]
    for name in (*good, *odd):
        sn.write_frame(folder, name, depth=depth)
    scan = scannet.read(folder)
    assert set(scan.views) == set(good)
    assert [p.kind for p in scan.problems] == ["broken_photo"] * 3
    assert Check(tmp_path, all=True).run() == 1
    assert "broken_photo: '\\udcff'" in capsys.readouterr().out


def test_names_in_listings_that_are_none_are_told(tmp_path):
    folder = pp.write_dslr_scene(tmp_path)
    pp.write_transforms(folder, [pp.frame("DSC01.JPG"), pp.frame("a\nb.JPG"), pp.frame("9" * 5000), pp.frame("\ud800")])
    scan = scannetpp.read(folder)
    assert list(scan.views) == ["DSC01"]
    assert kinds(scan) == ["lost_pose"] * 3


def test_problems_are_printable_lines(tmp_path):
    assert Problem("k", "a\nb", "\udcff c").in_one_line() == ("k", "a\\nb", "\\udcff c")
    assert Problem("k", "é [x]", "d").in_one_line() == ("k", "é [x]", "d")


def test_bounded_reading(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"12345")
    assert read_whole(path, max_bytes=5) == b"12345"
    assert "more than 4 bytes" in refusal(read_whole, path, max_bytes=4)
    assert "cannot be read" in refusal(read_whole, tmp_path)
    with path.open("wb") as file:
        file.truncate(1 << 40)  # takes no room
    assert "more than" in refusal(read_whole, path)
    assert files_in(tmp_path / "none", [".jpg"]) == []
    assert "cannot be read" in refusal(folders_in, tmp_path / "none")


def test_check_names_what_is_planted_and_nothing_more(tmp_path, capsys):
    spec = importlib.util.spec_from_file_location("benchmark_of_check", BENCHMARK)
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    folder = sn.write_scene(tmp_path / "root/scans")
    frames = [(sn.pose(i), sn.jpeg(), sn.depth_payload(1500 + i)) for i in range(14)]
    (folder / f"{sn.NAME}.sens").write_bytes(sn.sens_bytes(frames))
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert benchmark.main(tmp_path / "root", len(benchmark.PLANTS), len(benchmark.PLANTS) + 2) == 0
    output = capsys.readouterr().out
    assert "32 scenes, 30 faults, 30 named, 0 more; exit 1" in output
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    assert benchmark.main(tmp_path / "root", 1, 2) == 0
