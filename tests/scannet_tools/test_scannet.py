"""The rows of FAULTS, "Raw scans", each on the smallest scene that shows it, and the real scan."""

from __future__ import annotations

import json
import os
import pickle
import shutil

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from raw_scene import (
    GROUPS,
    HEIGHT,
    NAME,
    SEGMENTS,
    TEXT,
    VERTICES,
    WIDTH,
    broken_poses,
    check_one_line,
    depth_payload,
    depth_png,
    jpeg,
    matrix_text,
    ply_bytes,
    pose,
    sens_bytes,
    write_frame,
    write_groups,
    write_scene,
    write_segments,
    write_text,
)

from scannet_tools.labels import LABEL_MAP_NAME
from scannet_tools.scannet import READER
from scannet_tools.scannet_frames import registered_depth
from spacecast.errors import InputError, SpacecastError
from spacecast.frames import Intrinsics, Transform

# Without frames a scene says so; most tests below are about other things.
SILENT = {"no_frames": 1}


def counts(scan) -> dict[str, int]:
    return scan.problem_counts()


def test_a_whole_scene(tmp_path):
    folder = write_scene(tmp_path)
    write_frame(folder, "0", depth=depth_png(np.full((24, 32), 1500)))
    scan = READER.read(folder)
    assert (scan.dataset, scan.scene_id, scan.room_id) == ("scannet", NAME, "scene0007")
    assert scan.vertices.tolist() == [[10 - y, 20 + x, z + 0.5] for x, y, z in VERTICES]
    assert scan.faces.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert scan.colors.tolist() == [[10 * i, 20, 30] for i in range(6)]
    assert scan.instance_ids.tolist() == [0, 0, 0, 7, 7, 7]
    assert {i: (o.raw_label, o.label) for i, o in scan.instances.items()} == {
        0: ("Table", "table"),
        7: ("office chair", "office chair"),
    }
    assert scan.is_aligned
    assert scan.has_labels
    assert scan.problems == ()
    (view,) = scan.views.values()
    assert view.name == "0"
    # The camera stands at the scan's origin and looks along the scan's +y, which is the world's -x.
    assert view.world_from_camera.translation.tolist() == [10, 20, 0.5]
    np.testing.assert_allclose(view.world_from_camera.turn([0, 0, 1]), [-1, 0, 0], atol=1e-12)
    assert view.intrinsics == Intrinsics(60, 61, 31, 23, WIDTH, HEIGHT)
    assert view.depth_intrinsics == Intrinsics(30, 30.5, 15, 11, 32, 24)
    assert view.load_color().shape == (HEIGHT, WIDTH, 3)
    assert view.load_encoded() == jpeg()
    depth = view.load_depth()
    assert depth.dtype == np.float32
    assert np.unique(depth).tolist() == [1.5]
    files = [LABEL_MAP_NAME, *(p.name for p in folder.iterdir() if p.is_file())]
    assert sorted(scan.input_files) == sorted(files)
    moved = pickle.loads(pickle.dumps(view))
    assert (moved.load_color() == view.load_color()).all()


@pytest.mark.parametrize("source", ["exported", "sens"])
@pytest.mark.parametrize("why", broken_poses())
def test_a_lost_pose_costs_its_frame(tmp_path, why, source):
    folder = write_scene(tmp_path)
    if source == "exported":
        write_frame(folder, "1", matrix=broken_poses()[why])
        write_frame(folder, "2")
    else:
        frames = [(matrix, jpeg(), depth_payload()) for matrix in (pose(), broken_poses()[why], pose(1))]
        (folder / f"{NAME}.sens").write_bytes(sens_bytes(frames))
    scan = READER.read(folder)
    assert list(scan.views) == (["2"] if source == "exported" else ["0", "2"])
    assert counts(scan)["lost_pose"] == 1
    assert next(p.subject for p in scan.problems if p.kind == "lost_pose") == "1"


@pytest.mark.parametrize("text", ["", "1 2 3", "<html>", "a b c d " * 4, "1 " * 17])
def test_a_pose_file_that_is_none_costs_its_frame(tmp_path, text):
    folder = write_scene(tmp_path)
    write_frame(folder, "1")
    write_frame(folder, "2")
    (folder / "pose/1.txt").write_text(text)
    scan = READER.read(folder)
    assert list(scan.views) == ["2"]
    assert counts(scan)["lost_pose"] == 1


def test_a_sens_that_is_none_costs_the_frames_and_not_the_scene(tmp_path):
    folder = write_scene(tmp_path)
    (folder / f"{NAME}.sens").write_bytes(b"<!DOCTYPE html><html>sign in</html>")
    scan = READER.read(folder)
    assert counts(scan) == {"broken_sens": 1, "no_frames": 1}
    assert f"not a .sens version 4 file: {NAME}.sens (starts with '<!DOCTYPE html><')" in scan.problems[0].detail


@pytest.mark.parametrize("source", ["sens", "exported"])
def test_a_known_corner_of_the_chair_lands_on_its_pixel(tmp_path, source):
    # By hand: the camera stands at (1, 0, 1) in the scan and looks along +y, its right is +x, its down -z. The chair's
    # last corner, (2, 3, 1.5) in the scan, is then 1 to the right, 0.5 up and 3 ahead.
    folder, matrix = write_scene(tmp_path), pose(1)
    matrix[2, 3] = 1.0
    if source == "sens":
        (folder / f"{NAME}.sens").write_bytes(sens_bytes([(matrix, jpeg(), depth_payload())]))
    else:
        write_frame(folder, "0", matrix=matrix, depth=depth_png(np.full((24, 32), 1500)))
    scan = READER.read(folder)
    (view,) = scan.views.values()
    corner = scan.vertices[scan.instance_ids == 7][-1]
    np.testing.assert_allclose(corner, [7, 22, 2], atol=1e-6)
    in_camera = view.world_from_camera.inverse() @ corner
    np.testing.assert_allclose(in_camera, [1, -0.5, 3], atol=1e-6)
    np.testing.assert_allclose(view.intrinsics.project(in_camera), [60 / 3 + 31, -61 * 0.5 / 3 + 23], atol=1e-4)
    np.testing.assert_allclose(view.depth_intrinsics.project(in_camera), [30 / 3 + 15, -30.5 / 6 + 11], atol=1e-4)


def test_poses_in_files_serve_where_the_sens_cannot(tmp_path):
    folder = write_scene(tmp_path)
    write_frame(folder, "3", color=None)
    (folder / f"{NAME}.sens").write_bytes(b"not yet downloaded")
    scan = READER.read(folder)
    assert list(scan.views) == ["3"]
    assert counts(scan) == {"broken_sens": 1, "missing_photo": 1, "no_depth": 1}


def test_cameras_of_a_sens_that_states_none_come_from_the_text(tmp_path):
    folder = write_scene(tmp_path, text={**TEXT, "fx_color": 70.0, "fx_depth": 35.0})
    data = bytearray(sens_bytes([(pose(), jpeg(), depth_payload())]))
    data[18 : 18 + 256] = bytes(256)  # the four matrices, behind version, length and a name of six letters
    (folder / f"{NAME}.sens").write_bytes(bytes(data))
    view = READER.read(folder).views["0"]
    assert view.intrinsics == Intrinsics(70, 61, 31, 23, WIDTH, HEIGHT)
    assert view.depth_intrinsics == Intrinsics(35, 30.5, 15, 11, 32, 24)


def test_of_a_cut_sens_the_whole_frames_are_used_and_the_rest_counted(tmp_path):
    folder = write_scene(tmp_path)
    data = sens_bytes([(pose(x), jpeg(), depth_payload()) for x in range(5)])
    (folder / f"{NAME}.sens").write_bytes(data[: len(data) // 2 + 100])
    scan = READER.read(folder)
    assert list(scan.views) == ["0", "1"]
    assert counts(scan) == {"cut_short": 3}
    assert [p.subject for p in scan.problems] == ["2", "3", "4"]
    assert scan.views["1"].load_color().shape == (HEIGHT, WIDTH, 3)
    assert np.unique(scan.views["1"].load_depth()).tolist() == [1.5]


def test_a_count_that_is_not_believable_is_one_problem(tmp_path):
    folder = write_scene(tmp_path)
    (folder / f"{NAME}.sens").write_bytes(sens_bytes([(pose(), jpeg(), depth_payload())], count=2**64 - 1))
    scan = READER.read(folder)
    assert list(scan.views) == ["0"]
    assert counts(scan) == {"cut_short": 1}


def test_views_of_a_sens(tmp_path):
    folder = write_scene(tmp_path)
    write_frame(folder, "0", color=None)  # poses without photos beside a stream: the stream is read
    frames = [(pose(), jpeg(), depth_payload(700)), (pose(1), b"", depth_payload()), (pose(2), jpeg(), b"")]
    (folder / f"{NAME}.sens").write_bytes(sens_bytes(frames))
    scan = READER.read(folder)
    assert list(scan.views) == ["0", "1", "2"]
    assert counts(scan) == {"missing_depth": 1, "missing_photo": 1}
    view = scan.views["0"]
    assert view.load_encoded() == jpeg()
    assert np.unique(view.load_depth()).tolist() == [np.float32(0.7)]
    assert view.intrinsics == Intrinsics(60, 61, 31, 23, WIDTH, HEIGHT)
    assert view.depth_intrinsics == Intrinsics(30, 30.5, 15, 11, 32, 24)
    assert not scan.views["1"].has_photo
    assert scan.views["2"].load_depth is None
    assert scan.views["2"].depth_intrinsics is None


def test_exported_photos_go_before_the_stream(tmp_path):
    folder = write_scene(tmp_path)
    write_frame(folder, "40")
    (folder / f"{NAME}.sens").write_bytes(sens_bytes([(pose(), jpeg(), depth_payload())]))
    assert list(READER.read(folder).views) == ["40"]


def test_broken_pictures_in_a_sens(tmp_path):
    folder = write_scene(tmp_path)
    (folder / f"{NAME}.sens").write_bytes(sens_bytes([(pose(), b"no picture", b"x"), (pose(), jpeg(), b"x")]))
    scan = READER.read(folder)
    assert list(scan.views) == ["1"]
    assert counts(scan) == {"broken_photo": 1}
    raw = sens_bytes([(pose(), bytes(WIDTH * HEIGHT * 3), bytes(9)), (pose(), b"?", b"x")], color_code=0, depth_code=0)
    (folder / f"{NAME}.sens").write_bytes(raw)
    scan = READER.read(folder)
    assert counts(scan) == {"broken_depth": 1, "broken_photo": 1, "no_depth": 1}
    assert scan.views["0"].load_encoded().startswith(b"\x89PNG")
    assert scan.views["0"].load_color().max() == 0


def test_occi_depth_is_said_once_and_frames_are_used_without(tmp_path):
    folder = write_scene(tmp_path)
    frames = [(pose(x), jpeg(), b"occi") for x in range(3)]
    (folder / f"{NAME}.sens").write_bytes(sens_bytes(frames, depth_code=2))
    scan = READER.read(folder)
    assert counts(scan) == {"no_depth": 1}
    assert "occi" in scan.problems[0].detail
    assert [view.load_depth for view in scan.views.values()] == [None] * 3


HIGH = {"segments": [5, 5, 5, 9, 9, 2, 2], "groups": [{"objectId": 0, "segments": [5, 77], "label": "table"}]}


def test_the_pair_of_labels_that_fits_the_mesh_is_chosen(tmp_path):
    folder = write_scene(tmp_path, labels=False)
    write_segments(folder, SEGMENTS)
    write_segments(folder, HIGH["segments"], "_vh_clean.segs.json")
    write_groups(folder, HIGH["groups"])  # names a segment that the small mesh does not have
    write_groups(folder, GROUPS, "_vh_clean.aggregation.json")
    scan = READER.read(folder)
    assert sorted(scan.instances) == [0, 7]
    assert f"{NAME}_vh_clean.aggregation.json" in scan.input_files


@pytest.mark.parametrize(
    ("segments", "groups", "words"),
    [
        (SEGMENTS[:5], GROUPS, "mesh of 6 vertices: .* has 5 segment numbers for 6 vertices"),
        ([*SEGMENTS, 1], GROUPS, "has 7 segment numbers for 6 vertices"),
        (SEGMENTS, HIGH["groups"], "of 2 segments in .*, 1 are not in"),
        ("none", GROUPS, "expected a list|has no list segIndices"),
        ([1.5] * 6, GROUPS, "expected a list of whole numbers"),
        (SEGMENTS, {"a": 1}, "has no list segGroups"),
    ],
)
def test_labels_that_do_not_fit_are_an_error_with_both_counts(tmp_path, segments, groups, words):
    folder = write_scene(tmp_path, labels=False)
    write_segments(folder, segments)
    write_groups(folder, groups)
    with pytest.raises(InputError, match=words) as caught:
        READER.read(folder)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("ending", ["_vh_clean_2.0.010000.segs.json", ".aggregation.json"])
def test_label_files_cut_at_every_byte_are_errors(tmp_path, ending):
    folder = write_scene(tmp_path)
    path = folder / f"{NAME}{ending}"
    whole = path.read_bytes()
    for size in range(0, len(whole), 9):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match="not whole JSON"):
            READER.read(folder)
    path.write_text("[" * 100_000)
    with pytest.raises(InputError, match="not whole JSON"):
        READER.read(folder)


def test_aggregation_without_segments_is_an_error(tmp_path):
    folder = write_scene(tmp_path, labels=False)
    write_groups(folder, GROUPS)
    with pytest.raises(InputError, match=r"has .*aggregation.json but no .*segs.json"):
        READER.read(folder)


@pytest.mark.parametrize(
    "text",
    [
        {k: v for k, v in TEXT.items() if k != "axisAlignment"},
        {**TEXT, "axisAlignment": "1 0 0"},
        {**TEXT, "axisAlignment": "1 0 0 x " * 4},
        {**TEXT, "axisAlignment": " ".join(["nan"] * 16)},
        {**TEXT, "axisAlignment": "2 0 0 0 0 2 0 0 0 0 2 0 0 0 0 1"},
        {**TEXT, "axisAlignment": "1 0 0 0 0 0 -1 0 0 1 0 0 0 0 0 1"},  # a rotation that lays the room on its side
    ],
)
def test_without_alignment_the_raw_axes_stay_and_it_is_flagged(tmp_path, text):
    scan = READER.read(write_scene(tmp_path, text=text))
    assert not scan.is_aligned
    assert scan.vertices.tolist() == [list(map(float, v)) for v in VERTICES]
    assert scan.world_from_scan.is_close(Transform.identity(target="world", source="scan"))
    assert counts(scan) == {"not_aligned": 1, **SILENT}


def test_a_text_file_with_a_byte_order_mark_keeps_its_first_line(tmp_path):
    folder = write_scene(tmp_path)
    path = folder / f"{NAME}.txt"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert path.read_text(encoding="utf-8-sig").startswith("axisAlignment")
    assert READER.read(folder).is_aligned


def test_a_missing_label_map_is_told_where_there_are_labels(tmp_path):
    folder = write_scene(tmp_path / "with")
    (tmp_path / "with/scannetv2-labels.combined.tsv").unlink()
    assert counts(READER.read(folder)) == {"no_label_map": 1, **SILENT}
    folder = write_scene(tmp_path / "without", labels=False)
    (tmp_path / "without/scannetv2-labels.combined.tsv").unlink()
    assert counts(READER.read(folder)) == {"no_labels": 1, **SILENT}


def test_a_scene_without_its_text_file(tmp_path):
    folder = write_scene(tmp_path)
    write_frame(folder, "0")
    (folder / f"{NAME}.txt").unlink()
    scan = READER.read(folder)
    assert counts(scan) == {"no_camera": 1, "no_frames": 1, "not_aligned": 1}


@pytest.mark.parametrize("size", [50, 300, -1])
def test_a_truncated_mesh_is_an_error(tmp_path, size):
    folder = write_scene(tmp_path)
    path = folder / f"{NAME}_vh_clean_2.ply"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(InputError, match=path.name):
        READER.read(folder)
    path.write_bytes(ply_bytes(faces=[(0, 1, 6)]))
    with pytest.raises(InputError, match="names vertex 6, the mesh has 6"):
        READER.read(folder)
    path.unlink()
    with pytest.raises(InputError, match="has no mesh"):
        READER.read(folder)


def test_ids_are_kept_with_gaps_and_from_zero_and_position_is_no_id(tmp_path):
    folder = write_scene(tmp_path, labels=False)
    write_segments(folder, SEGMENTS)
    groups = [
        {"id": 0, "objectId": 40, "segments": [2], "label": "lamp"},
        {"id": 1, "objectId": 0, "segments": [9], "label": "desk"},
    ]
    write_groups(folder, groups)
    scan = READER.read(folder)
    assert scan.instance_ids.tolist() == [-1, -1, -1, 0, 0, 40]
    assert {i: o.label for i, o in scan.instances.items()} == {0: "desk", 40: "lamp"}


def test_broken_objects_cost_themselves(tmp_path):
    folder = write_scene(tmp_path, labels=False)
    write_segments(folder, SEGMENTS)
    good = {"objectId": 3, "segments": [5], "label": "desk"}
    bad = [
        {"objectId": -1, "segments": [9], "label": "a"},
        {"objectId": 2**40, "segments": [9], "label": "a"},
        {"objectId": "4", "segments": [9], "label": "a"},
        {"objectId": True, "segments": [9], "label": "a"},
        {"id": 5, "segments": [9], "label": "a"},
        {"objectId": 6, "segments": [9]},
        {"objectId": 7, "segments": [], "label": "a"},
        {"objectId": 8, "segments": ["9"], "label": "a"},
        {"objectId": 9, "label": "a"},
        {"objectId": 3, "segments": [9], "label": "other than desk"},
        "no group",
    ]
    write_groups(folder, [good, *bad])
    scan = READER.read(folder)
    assert list(scan.instances) == [3]
    assert counts(scan) == {"broken_object": len(bad), **SILENT}
    assert scan.instance_ids.tolist() == [3, 3, 3, -1, -1, -1]


def test_the_smaller_object_owns_a_shared_vertex(tmp_path):
    folder = write_scene(tmp_path, labels=False)
    write_segments(folder, SEGMENTS)
    groups = [
        {"objectId": 1, "segments": [2], "label": "cup"},  # 1 vertex
        {"objectId": 2, "segments": [2, 9], "label": "tray"},  # 3, keeps 2
        {"objectId": 3, "segments": [5, 9, 2], "label": "table"},  # 6, keeps 3
        {"objectId": 4, "segments": [2], "label": "saucer"},  # as small as the cup: the first id owns
    ]
    for order in (groups, groups[::-1]):
        write_groups(folder, order)
        scan = READER.read(folder)
        assert scan.instance_ids.tolist() == [3, 3, 3, 2, 2, 1]
        shares = {i: round(o.lost_share, 4) for i, o in scan.instances.items()}
        assert shares == {1: 0.0, 2: 0.3333, 3: 0.5}
        assert counts(scan) == {"empty_object": 1, "shares_vertices": 2, **SILENT}


def test_a_test_scene_has_geometry_only_and_says_so(tmp_path):
    scan = READER.read(write_scene(tmp_path, labels=False))
    assert not scan.has_labels
    assert dict(scan.instances) == {}
    assert scan.instance_ids.tolist() == [-1] * 6
    assert counts(scan) == {"no_labels": 1, **SILENT}


def test_photos_of_another_size_scale_the_intrinsics_per_axis(tmp_path):
    folder = write_scene(tmp_path)
    write_frame(folder, "0", color=jpeg(32, 24))
    write_frame(folder, "1", color=jpeg(128, 97))  # 1 % off the aspect
    write_frame(folder, "2", color=jpeg(64, 64))
    write_frame(folder, "3", color=jpeg(24, 32))
    scan = READER.read(folder)
    assert list(scan.views) == ["0", "1"]
    assert counts(scan) == {"no_depth": 1, "photo_aspect": 2, "resized_photos": 2}
    # A point's ray is the same: pixel centres map by (u + 0.5) * s - 0.5.
    half = scan.views["0"].intrinsics
    assert (half.fx, half.fy, half.cx, half.cy) == (30, 30.5, 15.25, 11.25)
    double = scan.views["1"].intrinsics
    assert (double.width, double.height, double.fx) == (128, 97, 120)
    assert double.fy == pytest.approx(61 * 97 / 48)
    assert scan.views["1"].load_color().shape == (97, 128, 3)


def test_the_border_of_the_aspect_rule(tmp_path):
    wide = {**TEXT, "colorWidth": 100, "colorHeight": 100}
    folder = write_scene(tmp_path, text=wide)
    for name, width in (("0", 102), ("1", 103), ("2", 98), ("3", 97)):
        write_frame(folder, name, color=jpeg(width, 100))
    assert list(READER.read(folder).views) == ["0", "2"]


def test_frames_are_sorted_as_numbers(tmp_path):
    folder = write_scene(tmp_path)
    for name in ("10", "2", "100", "1"):
        write_frame(folder, name)
    assert list(READER.read(folder).views) == ["1", "2", "10", "100"]


def test_what_exported_frames_lack(tmp_path):
    folder = write_scene(tmp_path)
    write_frame(folder, "0", depth=depth_png(np.full((24, 32), 900)))
    write_frame(folder, "1", color=None)
    write_frame(folder, "2", depth=b"no picture")
    write_frame(folder, "3", depth=depth_png(np.full((32, 32), 900)))
    write_frame(folder, "4", color=jpeg()[:-300])
    write_frame(folder, "5", color=b"<html>")
    write_frame(folder, "6")
    (folder / "pose/6.txt").unlink()
    (folder / "color/._0.jpg").write_bytes(b"left by another system")
    scan = READER.read(folder)
    assert list(scan.views) == ["0", "1", "2", "3"]
    assert counts(scan) == {
        "broken_depth": 2,
        "broken_photo": 2,
        "missing_depth": 1,
        "missing_photo": 1,
        "missing_pose": 1,
    }
    assert [view.has_photo for view in scan.views.values()] == [True, False, True, True]
    assert scan.views["1"].intrinsics.width == WIDTH
    assert [view.load_depth is not None for view in scan.views.values()] == [True, False, False, False]


def test_a_photo_that_breaks_later_is_one_line(tmp_path):
    folder = write_scene(tmp_path)
    write_frame(folder, "0", depth=depth_png(np.full((24, 32), 900)))
    view = READER.read(folder).views["0"]
    (folder / "color/0.jpg").write_bytes(b"gone wrong")
    (folder / "depth/0.png").write_bytes(jpeg(32, 24))
    for load, name in ((view.load_color, "0.jpg"), (view.load_depth, "0.png")):
        with pytest.raises(InputError, match=name) as caught:
            load()
        assert "\n" not in str(caught.value)


def test_frames_in_the_naming_of_the_25k_set(tmp_path):
    folder = write_scene(tmp_path / "scans", text={"axisAlignment": TEXT["axisAlignment"]})
    frames = tmp_path / "scannet_frames_25k" / NAME
    frames.mkdir(parents=True)
    for name in ("000100", "000020"):
        write_frame(frames, name, depth=depth_png(np.full((24, 32), 900)))
    matrix = np.diag([60.0, 61.0, 1.0, 1.0])
    matrix[:2, 2] = 31, 23
    (frames / "intrinsics_color.txt").write_text(matrix_text(matrix))
    (frames / "intrinsics_depth.txt").write_text(matrix_text(np.diag([30.0, 30.0, 1.0, 1.0])))
    scan = READER.read(folder)
    assert list(scan.views) == ["000020", "000100"]
    assert scan.views["000020"].intrinsics == Intrinsics(60, 61, 31, 23, WIDTH, HEIGHT)
    assert counts(scan) == {"no_camera": 2}  # sizes that nothing states are taken from the pictures, and told
    assert READER.find(tmp_path) == {NAME: folder}


def test_intrinsics_from_a_file_with_the_size_that_the_text_states(tmp_path):
    text = {key: value for key, value in TEXT.items() if not key.startswith(("fx", "fy", "mx", "my"))}
    folder = write_scene(tmp_path, text=text)
    write_frame(folder, "0", color=jpeg(32, 24))
    (folder / "intrinsic").mkdir()
    matrix = np.diag([60.0, 61.0, 1.0, 1.0])
    matrix[:2, 2] = 31, 23
    (folder / "intrinsic/intrinsic_color.txt").write_text(matrix_text(matrix))
    scan = READER.read(folder)
    assert scan.views["0"].intrinsics == Intrinsics(30, 30.5, 15.25, 11.25, 32, 24)
    assert "intrinsic/intrinsic_color.txt" in scan.input_files
    (folder / "intrinsic/intrinsic_color.txt").write_text("nothing")
    assert counts(READER.read(folder)) == {"no_camera": 2, "no_frames": 1}


def test_intrinsics_that_are_no_camera(tmp_path):
    folder = write_scene(tmp_path, text={**TEXT, "fx_color": "nan"})
    write_frame(folder, "0")
    assert counts(READER.read(folder)) == {"no_camera": 1, "no_frames": 1}


def test_depth_is_registered_to_the_colour_camera(tmp_path):
    # The colour camera stands 0.1 m to the right of the depth camera: depth_from_color shifts by +0.1 in x.
    shift = "1 0 0 0.1 0 1 0 0 0 0 1 0 0 0 0 1"
    folder = write_scene(tmp_path, text={**TEXT, "colorToDepthExtrinsics": shift})
    depth = np.zeros((24, 32))
    depth[10, 20] = 1500
    write_frame(folder, "0", depth=depth_png(depth))
    view = READER.read(folder).views["0"]
    found = view.load_depth()
    # 30 px focal length, 0.1 m at 1.5 m: two pixels to the left.
    assert np.argwhere(found).tolist() == [[10, 18]]
    assert found[10, 18] == np.float32(1.5)
    write_text(folder, {**TEXT, "colorToDepthExtrinsics": "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1"})
    same = READER.read(folder).views["0"].load_depth()
    assert np.argwhere(same).tolist() == [[10, 20]]


def test_of_points_that_fall_on_one_pixel_the_nearest_counts():
    intrinsics = Intrinsics(10, 10, 4, 0, 9, 1)
    depth = np.zeros((1, 9), dtype=np.float32)
    depth[0, 4], depth[0, 5] = 1.0, 2.0  # x = 0 at 1 m and x = 0.2 at 2 m
    shift = Transform.from_translation([0.0, 0.0, -1.0], target="depth_camera", source="camera")
    found = registered_depth(depth, intrinsics, shift)  # from 1 m behind: pixel 4 at 2 m, and 4 + 2/3 at 3 m
    assert found.tolist() == [[0, 0, 0, 0, 2, 3, 0, 0, 0]]
    closer = np.zeros((1, 9), dtype=np.float32)
    closer[0, 3], closer[0, 4] = 2.0, 1.0
    back = Transform.from_translation([0.0, 0.0, -9.0], target="depth_camera", source="camera")
    assert registered_depth(closer, intrinsics, back).tolist() == [[0, 0, 0, 0, 10, 0, 0, 0, 0]]


def test_find(tmp_path):
    one = write_scene(tmp_path / "scans", "scene0001_00")
    two = write_scene(tmp_path / "scans", "my room")
    test = write_scene(tmp_path / "scans_test", "scene0700_00")
    empty = tmp_path / "scans" / "scene0002_00"
    empty.mkdir()
    (tmp_path / "scans" / ".hidden").mkdir()
    (tmp_path / "notes").mkdir()
    scans = {"my room": two, "scene0001_00": one, "scene0002_00": empty}
    assert READER.find(tmp_path / "scans") == scans
    assert READER.find(tmp_path) == {**scans, "scene0700_00": test}
    assert READER.find(one) == {"scene0001_00": one}
    assert READER.find(tmp_path / "notes") == {}
    assert READER.read(two).room_id == "my room"
    shutil.copytree(one, tmp_path / "copy" / "scene0001_00")
    with pytest.raises(InputError, match="scene0001_00 is found twice"):
        READER.find(tmp_path)


def test_paths_that_are_given_from_where_one_stands(tmp_path, monkeypatch):
    folder = write_scene(tmp_path)
    monkeypatch.chdir(folder)
    from pathlib import Path

    assert READER.find(Path(".")) == {NAME: folder}
    assert READER.read(Path(".")).scene_id == NAME


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(file=st.integers(0, 50), at=st.integers(0, 10**6), bit=st.integers(0, 7))
def test_a_flipped_bit_anywhere_is_a_scan_or_one_line(tmp_path, file, at, bit):
    folder = tmp_path / NAME
    shutil.rmtree(folder, ignore_errors=True)
    write_scene(tmp_path)
    write_frame(folder, "0", depth=depth_png(np.full((24, 32), 900)))
    write_frame(folder, "1", depth=depth_png(np.full((24, 32), 901)))
    paths = sorted(p for p in folder.rglob("*") if p.is_file())
    path = paths[file % len(paths)]
    data = bytearray(path.read_bytes())
    data[at % len(data)] ^= 1 << bit
    path.write_bytes(bytes(data))
    try:
        views = READER.read(folder).views.values()
    except SpacecastError as error:
        check_one_line(error)
        return
    for load in [load for view in views for load in (view.load_color, view.load_depth, view.load_encoded) if load]:
        try:
            load()
        except SpacecastError as error:
            check_one_line(error)


def test_a_file_handle_is_never_kept(tmp_path):
    folder = write_scene(tmp_path)
    (folder / f"{NAME}.sens").write_bytes(sens_bytes([(pose(x), jpeg(), depth_payload()) for x in range(3)]))
    scan = READER.read(folder)
    for view in scan.views.values():
        view.load_color()
        view.load_depth()
    open_files = [
        os.readlink(f"/proc/self/fd/{fd}")
        for fd in os.listdir("/proc/self/fd")
        if os.path.exists(f"/proc/self/fd/{fd}")
    ]
    assert not [name for name in open_files if NAME in name]


# The real scan.


@pytest.fixture(scope="module")
def real_scene(real_scans):
    return real_scans / "scans/scene0000_00"


def aligned_vertices(folder):
    """Vertices of the real mesh in world and their colours, read here by hand."""
    data = next(folder.glob("*_vh_clean_2.ply")).read_bytes()
    head, body = data.split(b"end_header\n", 1)
    count = int(head.split(b"element vertex ")[1].split()[0])
    rows = np.frombuffer(body, dtype=[("xyz", "<f4", 3), ("rgba", "u1", 4)], count=count)
    line = next(x for x in (folder / f"{folder.name}.txt").read_text().splitlines() if x.startswith("axisAlignment"))
    matrix = np.array(line.split("=")[1].split(), dtype=float).reshape(4, 4)
    return rows["xyz"].astype(float) @ matrix[:3, :3].T + matrix[:3, 3], rows["rgba"][:, :3]


def test_real_boxes_equal_min_and_max_of_aligned_vertices(real_scene):
    scan = READER.read(real_scene)
    vertices, colors = aligned_vertices(real_scene)
    numbers = np.array(json.loads(next(real_scene.glob("*.segs.json")).read_bytes())["segIndices"])
    groups = json.loads(next(real_scene.glob("*.aggregation.json")).read_bytes())["segGroups"]
    assert (scan.colors == colors).all()
    np.testing.assert_allclose(scan.vertices, vertices, atol=2e-5)
    assert list(scan.instances) == sorted(group["objectId"] for group in groups)
    for group in groups:
        by_hand = vertices[np.isin(numbers, group["segments"])]
        ours = scan.vertices[scan.instance_ids == group["objectId"]]
        assert len(ours) == len(by_hand)
        np.testing.assert_allclose(ours.min(axis=0), by_hand.min(axis=0), atol=2e-5)
        np.testing.assert_allclose(ours.max(axis=0), by_hand.max(axis=0), atol=2e-5)
        assert scan.instances[group["objectId"]].raw_label == group["label"]


def test_real_views(real_scene):
    scan = READER.read(real_scene)
    assert scan.problem_counts() == {"missing_photo": 185, "no_depth": 1}
    assert len(scan.views) == 188
    assert [name for name, view in scan.views.items() if view.has_photo] == ["0", "11", "102"]
    numbers = [int(name) for name in scan.views]
    assert numbers == sorted(numbers)
    view = scan.views["102"]
    assert view.intrinsics == Intrinsics(1169.621094, 1167.105103, 646.295044, 489.927032, 1296, 968)
    assert view.load_color().shape == (968, 1296, 3)
    stored = np.array((real_scene / "pose/102.txt").read_text().split(), dtype=float).reshape(4, 4)
    line = next(x for x in (real_scene / "scene0000_00.txt").read_text().splitlines() if "axisAlignment" in x)
    alignment = np.array(line.split("=")[1].split(), dtype=float).reshape(4, 4)
    np.testing.assert_allclose(view.world_from_camera.matrix, alignment @ stored, atol=1e-5)


def test_real_photos_show_the_colours_of_the_mesh(real_scene):
    """Poses, intrinsics and alignment fit together: mesh points seen by a camera have the photo's colours there."""
    scan = READER.read(real_scene)
    for name in ("0", "11", "102"):
        view = scan.views[name]
        points = view.world_from_camera.inverse() @ scan.vertices
        pixels = np.rint(view.intrinsics.project(points))
        inside = (points[:, 2] > 0.3) & ((pixels >= 0) & (pixels < (1296, 968))).all(axis=1)
        cells = (pixels[inside] // 12).astype(int)
        cell = cells[:, 1] * 108 + cells[:, 0]
        nearest = np.full(108 * 81, np.inf)
        np.minimum.at(nearest, cell, points[inside, 2])
        front = points[inside, 2] < nearest[cell] + 0.05
        x, y = pixels[inside][front].astype(int).T
        photo = view.load_color().astype(float).mean(axis=2)
        mesh = scan.colors[inside][front].astype(float).mean(axis=1)
        assert len(mesh) > 500
        right = np.corrcoef(photo[y, x], mesh)[0, 1]
        wrong = np.corrcoef(photo[y, 1295 - x], mesh)[0, 1]
        assert right > 0.6, name
        assert wrong < right - 0.3, name
