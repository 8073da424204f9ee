"""Demo scans in ScanNet++'s layout: files, mesh and annotation, read with plain code, so that no reader and no writer
says here what they mean."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from scannet_tools.demo import write
from scannet_tools.demo.scannetpp_files import scene_id_of, write_splits
from scannet_tools.demo.scannetpp_labels import MISSPELT, WORDS, turned_box
from scannet_tools.labels import canonical_label
from scannet_tools.ply import read_ply
from spacecast.errors import SpacecastError

pytest.importorskip("av")
pytest.importorskip("lz4")


def _digests(folder):
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _owned(scan):
    """(n,) objectId per vertex, -1 for none: the smallest group that lists it; and how many groups list it."""
    numbers = np.array(scan.json("scans/segments.json")["segIndices"])
    groups = scan.json("scans/segments_anno.json")["segGroups"]
    inside = {group["objectId"]: np.isin(numbers, group["segments"]) for group in groups}
    owner, count = np.full(len(numbers), -1), np.zeros(len(numbers), int)
    for number in sorted(inside, key=lambda n: -inside[n].sum()):
        owner[inside[number]] = number
        count += inside[number]
    return owner, count, groups


# Layout


def test_files_are_those_of_scannetpp_and_the_truth(scan):
    assert scan.folder.parent == scan.root / "data"
    assert len(scan.folder.name) == 10
    assert set(scan.folder.name) <= set("0123456789abcdef")
    listed = {p.relative_to(scan.folder).as_posix() for p in scan.folder.rglob("*") if p.is_file()}
    photos = {name for name in listed if name.endswith(".JPG")}
    assert listed - photos == {
        "scans/mesh_aligned_0.05.ply",
        "scans/segments.json",
        "scans/segments_anno.json",
        "dslr/nerfstudio/transforms.json",
        "dslr/nerfstudio/transforms_undistorted.json",
        *(f"{camera}/colmap/{name}.txt" for camera in ("dslr", "iphone") for name in ("cameras", "images", "points3D")),
        "dslr/train_test_lists.json",
        "iphone/rgb.mkv",
        "iphone/depth.bin",
        "iphone/pose_intrinsic_imu.json",
        "truth.json",
    }
    fisheye = {Path(p).name for p in photos if p.startswith("dslr/resized_images/")}
    assert photos == {
        f"dslr/{kind}/{name}" for kind in ("resized_images", "resized_undistorted_images") for name in fisheye
    }
    assert {p.name for p in scan.root.iterdir()} == {
        "DEMO.txt", "data", "splits", "metadata", "scans", "scannetv2-labels.combined.tsv",
    }  # fmt: skip
    assert (scan.root / "splits" / "nvs_sem_train.txt").read_text() == f"{scan.folder.name}\n"


def test_a_scene_takes_about_fifteen_megabytes(scan):
    sizes = {path: path.stat().st_size for path in scan.folder.rglob("*") if path.is_file()}
    walked = sum(size for path, size in sizes.items() if path.relative_to(scan.folder).parts[0] in ("dslr", "iphone"))
    assert sum(sizes.values()) + walked < 18e6  # half of the walk is here


@pytest.fixture(scope="module")
def short(scan, tmp_path_factory):
    """A short walk through the same room as scene 1: alone in both layouts, and ScanNet++ alone."""
    root = tmp_path_factory.mktemp("short")
    site = replace(scan.site, index=1, poses=[*scan.site.poses[::3], scan.site.poses[-1]], lost=frozenset())
    return *write.write_site(root / "both", site, "both"), *write.write_site(root / "one", site, "scannetpp", threads=1)


def test_the_same_bytes_alone_and_beside_the_other_layout(short):
    _, beside, alone = short
    assert len(_digests(alone)) > 20
    assert _digests(alone) == _digests(beside)


def test_scene_ids_and_splits(tmp_path):
    names = [scene_id_of(0, index) for index in range(200)]
    assert len(set(names)) == 200
    assert names[0] != scene_id_of(1, 0)
    write_splits(tmp_path, 0, 9)
    train, val = ((tmp_path / "splits" / f"nvs_sem_{kind}.txt").read_text().split() for kind in ("train", "val"))
    assert train + val == [names[k] for k in (0, 1, 2, 4, 5, 6, 8, 3, 7)]


def test_missing_packages_are_one_line_that_says_what_to_run(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(SpacecastError, match=r"pip install 'spacecast\[video\]'") as error:
        write.write_demo(tmp_path / "x", 1, 0, layout="scannetpp")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "x").exists()


# Mesh and annotation


def test_mesh_and_labels_are_those_of_the_other_layout(scan):
    name = scan.other.name
    truth = json.loads((scan.other / "truth.json").read_text())
    mesh = read_ply(scan.other / f"{name}_vh_clean_2.ply")
    scan_from_world = np.array(truth["scan_from_world"]).reshape(4, 4)
    world = (mesh.vertices - scan_from_world[:3, 3]) @ scan_from_world[:3, :3]
    assert np.abs(world - scan.vertices).max() < 1e-5
    segments = np.array(json.loads((scan.other / f"{name}_vh_clean_2.0.010000.segs.json").read_text())["segIndices"])
    ids = np.full(len(segments), -1)
    for group in json.loads((scan.other / f"{name}.aggregation.json").read_text())["segGroups"]:
        ids[np.isin(segments, group["segments"])] = group["objectId"]
    owner, _, groups = _owned(scan)
    labels = {group["objectId"]: group["label"] for group in groups}
    pairs = set(zip(ids.tolist(), owner.tolist(), strict=True))
    named = {(one, two) for one, two in pairs if one != -1}
    assert len(named) == len(truth["objects"]) == len({one for one, _ in named}) == len({two for _, two in named})
    assert {labels[two].lower() for one, two in pairs if one == -1 and two != -1} <= {"remove", "split"}
    boxes = {o["id"]: (o["min"], o["max"], o["label"]) for o in scan.truth["objects"]}
    assert boxes == {dict(named)[o["id"]]: (o["min"], o["max"], o["label"]) for o in truth["objects"]}
    assert {o["id"]: o["raw_label"] for o in scan.truth["objects"]} == {
        n: label for n, label in labels.items() if n in boxes
    }


def test_groups_overlap_leave_out_and_have_boxes_that_are_turned(scan):
    owner, count, groups = _owned(scan)
    numbers = np.array(scan.json("scans/segments.json")["segIndices"])
    assert (count > 1).sum() >= 3
    assert (count == 0).sum() >= 20
    assert any(group["label"].lower() in ("split", "remove") for group in groups)
    raw = np.c_[scan.vertices, np.ones(len(scan.vertices))] @ scan.site.scan_from_world.matrix.T
    ids = [group["objectId"] for group in groups]
    assert min(ids) >= 1
    assert len(set(ids)) == len(ids) < max(ids)
    for group in groups:
        inside = np.isin(numbers, group["segments"])
        assert (owner[inside] == group["objectId"]).mean() >= 0.95
        points, obb = scan.vertices[inside], group["obb"]
        axes = np.array(obb["normalizedAxes"]).reshape(3, 3)
        assert np.abs(axes @ axes.T - np.eye(3)).max() < 1e-6
        assert np.linalg.det(axes) == pytest.approx(1)
        along = (points - obb["centroid"]) @ axes.T
        assert np.abs(np.abs(along).max(axis=0) - np.array(obb["axesLengths"]) / 2).max() < 1e-4
        assert np.prod(obb["axesLengths"][:2]) <= np.prod(np.ptp(points[:, :2], axis=0)) + 1e-4
        assert np.abs(np.array(obb["min"]) - raw[inside, :3].min(axis=0)).max() < 1e-4
        assert np.abs(np.array(obb["min"])[:2] - points[:, :2].min(axis=0)).max() > 0.3


def test_segments_are_vertices_or_real_ones(scan, short):
    read = [json.loads((folder / "scans" / "segments.json").read_text()) for folder in (scan.folder, short[-1])]
    numbers = [np.array(one["segIndices"]) for one in read]
    whole = [np.array_equal(one, np.arange(len(one))) for one in numbers]
    assert sorted(whole) == [False, True]
    real = numbers[whole.index(False)]
    assert len(np.unique(real)) < len(real) / 10


def test_a_turned_box_of_known_points():
    corners = np.array([[x, y, z] for x in (-2, 2) for y in (-1, 1) for z in (0, 3)], float)
    turn = np.radians(30)
    plan = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    box = turned_box(corners @ plan.T + (5, 6, 7))
    assert box["centroid"] == pytest.approx([5, 6, 8.5])
    assert sorted(box["axesLengths"]) == pytest.approx([2, 3, 4])
    long = np.array(box["normalizedAxes"]).reshape(3, 3)[int(np.argmax(box["axesLengths"]))]
    assert abs(long @ [np.cos(turn), np.sin(turn), 0]) == pytest.approx(1)
    assert np.array(box["normalizedAxes"])[6:] == pytest.approx([0, 0, 1])


def test_words_are_mended_to_those_of_the_other_layout_or_are_its_synonyms(scan):
    assert all(canonical_label(spelt) == label for label, spelt in MISSPELT.items())
    for item in scan.truth["objects"]:
        assert canonical_label(item["raw_label"]) == WORDS.get(item["label"], item["label"])
