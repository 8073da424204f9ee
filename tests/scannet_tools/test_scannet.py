"""The rows of FAULTS, "Raw scans", on mesh, labels and text, each on the smallest scene that shows it."""

from __future__ import annotations

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
    check_one_line,
    depth_payload,
    depth_png,
    jpeg,
    ply_bytes,
    pose,
    sens_bytes,
    write_frame,
    write_groups,
    write_scene,
    write_segments,
)

from scannet_tools.labels import LABEL_MAP_NAME
from scannet_tools.scannet import READER
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
