"""ScanNet++: mesh and labels, DSLR photos, and the rows of FAULTS on the smallest scene that shows each."""

from __future__ import annotations

import importlib
import io
import json
import pickle
import tomllib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from raw_scene import broken_poses, ply_bytes
from raw_scenepp import (
    COLMAP_LINE,
    CORNER,
    FACES,
    GROUPS,
    HEIGHT,
    NAME,
    NERFSTUDIO,
    OBB,
    VERTICES,
    WIDTH,
    WORLD_FROM_CAMERA,
    frame,
    jpeg,
    tracked,
    write_colmap,
    write_dslr_scene,
    write_photo,
    write_rgb,
    write_scene,
    write_tracking,
    write_transforms,
)

from scannet_tools.scannetpp import READER, find, read
from spacecast.cli import main
from spacecast.errors import InputError
from spacecast.frames import Intrinsics
from spacecast.registry import open_scan


def counts(scan) -> dict[str, int]:
    return scan.problem_counts()


def pixel_of(view, point):
    return view.intrinsics.project(view.world_from_camera.inverse() @ np.array(point))


def test_a_whole_scene(tmp_path):
    folder = write_dslr_scene(tmp_path)
    scan = READER.read(folder)
    assert (scan.dataset, scan.scene_id, scan.room_id) == ("scannetpp", NAME, NAME)
    assert scan.vertices.tolist() == [list(map(float, v)) for v in VERTICES]
    assert scan.faces.tolist() == [list(f) for f in FACES]
    assert scan.instance_ids.tolist() == [3] * 8 + [0] * 3 + [-1] * 3
    assert {i: (o.raw_label, o.label) for i, o in scan.instances.items()} == {
        0: ("REMOVE", "remove"),
        3: ("Storage Cabinet", "storage cabinet"),
    }
    assert scan.instances[0].traits == {"clutter"}
    assert scan.is_aligned
    assert scan.has_labels
    assert scan.problems == ()
    (view,) = scan.views.values()
    assert view.name == "DSC01"
    np.testing.assert_allclose(view.world_from_camera.matrix, WORLD_FROM_CAMERA, atol=1e-12)
    assert view.intrinsics == Intrinsics(100, 100, 80, 60, WIDTH, HEIGHT)
    assert view.load_encoded() == jpeg()
    assert view.load_color().shape == (HEIGHT, WIDTH, 3)
    assert view.load_depth is None
    assert (pickle.loads(pickle.dumps(view)).load_color() == view.load_color()).all()
    assert sorted(scan.input_files) == [
        "dslr/nerfstudio/transforms_undistorted.json",
        "scans/mesh_aligned_0.05.ply",
        "scans/segments.json",
        "scans/segments_anno.json",
    ]
    assert all(path.is_file() for path in scan.input_files.values())


def test_scenes_are_found_from_the_root_its_data_or_themselves(tmp_path):
    folder = write_dslr_scene(tmp_path)
    other = write_scene(tmp_path, "ffffffffff")
    (tmp_path / "data/nothex").mkdir()
    (tmp_path / "data/0123456789").mkdir()  # an empty folder is no scene
    (tmp_path / "data/00000aaaaa/iphone").mkdir(parents=True)
    (tmp_path / "splits").mkdir()
    expected = {"00000aaaaa": tmp_path / "data/00000aaaaa", NAME: folder, "ffffffffff": other}
    assert find(tmp_path) == expected
    assert find(tmp_path / "data") == expected
    assert find(folder) == {NAME: folder}
    assert find(tmp_path / "splits") == {}


def test_one_scene_in_two_places_is_an_error(tmp_path):
    write_scene(tmp_path)
    write_scene(tmp_path / "more").parent.rename(tmp_path / "copy")
    with pytest.raises(InputError, match="found twice") as caught:
        find(tmp_path)
    assert "\n" not in str(caught.value)


# Mesh and labels


def test_real_segments_and_numbers_of_vertices_are_both_read(tmp_path):
    numbers = [70] * 4 + [71] * 4 + [5] * 3 + [9] * 3
    groups = [{**GROUPS[0], "segments": [71, 70]}, {**GROUPS[1], "segments": [5]}]
    one = read(write_scene(tmp_path / "a", groups=groups, numbers=numbers))
    two = read(write_scene(tmp_path / "b"))
    assert one.instance_ids.tolist() == two.instance_ids.tolist()


def test_of_several_groups_on_a_vertex_the_smaller_owns_it(tmp_path):
    groups = [GROUPS[0], {"id": 9, "objectId": 9, "segments": [0, 1], "label": "cup"}]
    scan = read(write_scene(tmp_path, groups=groups))
    assert scan.instance_ids.tolist() == [9] * 2 + [3] * 6 + [-1] * 6
    assert scan.instances[3].lost_share == pytest.approx(0.25)
    assert counts(scan)["shares_vertices"] == 1


def test_ids_are_kept_and_a_broken_object_costs_itself(tmp_path):
    groups = [{**GROUPS[0], "id": 0, "objectId": 40}, {"objectId": 5, "label": "cup"}, {"label": "x", "segments": [1]}]
    scan = read(write_scene(tmp_path, groups=groups))
    assert list(scan.instances) == [40]
    assert counts(scan)["broken_object"] == 2


@pytest.mark.parametrize("label", ["SPLIT", "split", "Remove", "REMOVE", " Split "])
def test_ignored_classes_in_any_case(tmp_path, label):
    scan = read(write_scene(tmp_path, groups=[{**GROUPS[0], "label": label}]))
    assert scan.instances[3].traits == {"clutter"}
    assert scan.instances[3].raw_label == label


def test_misspelt_labels_are_mended_for_people_and_kept_for_joins(tmp_path):
    scan = read(write_scene(tmp_path, groups=[{**GROUPS[0], "label": "wardobe"}]))
    assert (scan.instances[3].raw_label, scan.instances[3].label) == ("wardobe", "wardrobe")


def test_a_turned_box_with_axes_in_either_order_agrees(tmp_path):
    c, s = 0.6, 0.8
    corners = np.array([(x, y, z) for x in (-2, 2) for y in (-1, 1) for z in (0, 1)], dtype=float)
    turned = corners @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])  # rows: where the axes go
    vertices = [*map(tuple, turned), *VERTICES[8:]]
    for axes in ([c, s, 0, -s, c, 0, 0, 0, 1], [c, -s, 0, s, c, 0, 0, 0, 1]):
        obb = {"centroid": [0, 0, 0.5], "axesLengths": [4, 2, 1], "normalizedAxes": axes}
        folder = write_scene(tmp_path / str(axes[1]), groups=[{**GROUPS[0], "obb": obb}])
        (folder / "scans/mesh_aligned_0.05.ply").write_bytes(ply_bytes(vertices, FACES))
        assert "obb_disagrees" not in counts(read(folder))


@pytest.mark.parametrize(
    "change",
    [
        {"centroid": [3.5, 0.5, 1.5]},
        {"axesLengths": [1, 1, 3]},
        {"axesLengths": [1, 1, 0.5]},
        {"axesLengths": [1, 1]},
        {"centroid": ["a", 0, 0]},
        {"centroid": [float("nan"), 0.5, 0.5]},
    ],
)
def test_a_stored_box_that_is_not_about_the_vertices_is_told_and_not_used(tmp_path, change):
    scan = read(write_scene(tmp_path, groups=[{**GROUPS[0], "obb": {**OBB, **change}}]))
    assert counts(scan)["obb_disagrees"] == 1
    assert list(scan.instances) == [3]


def test_labels_of_another_mesh_are_an_error_with_both_counts(tmp_path):
    folder = write_scene(tmp_path, numbers=[0, 1, 2])
    with pytest.raises(InputError, match=f"3 segment numbers for {len(VERTICES)} vertices"):
        read(folder)
    folder = write_scene(tmp_path / "b", groups=[{**GROUPS[0], "segments": [0, 777]}])
    with pytest.raises(InputError, match=r"of 2 segments in segments_anno\.json, 1 are not in segments\.json"):
        read(folder)


def test_without_annotation_there_is_geometry_only(tmp_path):
    folder = write_dslr_scene(tmp_path)
    (folder / "scans/segments_anno.json").unlink()
    scan = read(folder)
    assert not scan.has_labels
    assert counts(scan) == {"no_labels": 1}


@pytest.mark.parametrize("name", ["scans/mesh_aligned_0.05.ply", "scans/segments.json"])
def test_a_missing_mesh_or_missing_segments_are_an_error(tmp_path, name):
    folder = write_dslr_scene(tmp_path)
    (folder / name).unlink()
    with pytest.raises(InputError, match=rf"no (mesh )?{name}; download it"):
        read(folder)


@pytest.mark.parametrize(
    "data",
    [
        ply_bytes(VERTICES, FACES)[:-3],
        ply_bytes(VERTICES, [*FACES, (0, 1, len(VERTICES))]),
        b"<html>",
    ],
)
def test_a_mesh_that_is_not_whole_is_an_error_in_one_line(tmp_path, data):
    folder = write_dslr_scene(tmp_path)
    (folder / "scans/mesh_aligned_0.05.ply").write_bytes(data)
    with pytest.raises(InputError, match=r"mesh_aligned_0\.05\.ply") as caught:
        read(folder)
    assert "\n" not in str(caught.value)


def floor_scene(root, turn) -> dict[str, int]:
    """A floor of 32 triangles and a box above it, turned; problems of the scan."""
    grid = [(x / 2, y / 2, 0.0) for y in range(5) for x in range(5)]
    faces = []
    for y in range(4):
        for x in range(4):
            a = 5 * y + x
            faces += [(a, a + 1, a + 6), (a, a + 6, a + 5)]
    box = [(x, y, z) for x in (1, 1.5) for y in (1, 1.5) for z in (0.5, 1)]
    vertices = [tuple(np.array(v) @ np.array(turn, dtype=float).T) for v in (*grid, *box)]
    groups = [{"objectId": 1, "segments": list(range(25)), "label": "floor"}]
    folder = write_scene(root, groups=groups, numbers=list(range(33)))
    (folder / "scans/mesh_aligned_0.05.ply").write_bytes(ply_bytes(vertices, [*faces, (25, 26, 27)]))
    write_photo(folder, "DSC01.JPG")
    write_transforms(folder, [frame("DSC01.JPG")])
    scan = read(folder)
    assert scan.is_aligned == (counts(scan) == {})
    assert len(scan.views) == (1 if scan.is_aligned else 0)
    return counts(scan)


def test_z_has_to_be_up(tmp_path):
    assert floor_scene(tmp_path / "a", np.eye(3)) == {}
    assert floor_scene(tmp_path / "b", [[1, 0, 0], [0, 0, -1], [0, 1, 0]]) == {"not_upright": 1}
    assert floor_scene(tmp_path / "c", np.diag([1, -1, -1])) == {"not_upright": 1}
    lean = np.radians(15)
    rows = [[1, 0, 0], [0, np.cos(lean), -np.sin(lean)], [0, np.sin(lean), np.cos(lean)]]
    assert floor_scene(tmp_path / "d", rows) == {"not_upright": 1}


# DSLR


def test_a_known_corner_lands_on_its_pixel_by_transforms(tmp_path):
    """1 m right, 0.5 m down, 2 m ahead: 100 * 1/2 + 80 and 100 * 0.5/2 + 60."""
    scan = read(write_dslr_scene(tmp_path))
    np.testing.assert_allclose(pixel_of(scan.views["DSC01"], CORNER), [130, 85], atol=1e-9)
    assert scan.instance_ids[VERTICES.index(CORNER)] == 3


def test_a_known_corner_lands_on_its_pixel_by_colmap(tmp_path):
    folder = write_scene(tmp_path)
    write_photo(folder, "DSC01.JPG", flat=False)
    write_colmap(folder, "dslr", {"DSC01.JPG": COLMAP_LINE}, camera=f"PINHOLE {WIDTH} {HEIGHT} 100 100 80 60")
    scan = read(folder)
    assert counts(scan) == {}
    np.testing.assert_allclose(scan.views["DSC01"].world_from_camera.matrix, WORLD_FROM_CAMERA, atol=1e-12)
    np.testing.assert_allclose(pixel_of(scan.views["DSC01"], CORNER), [130, 85], atol=1e-9)
    assert scan.views["DSC01"].load_encoded() == jpeg()


def dotted(x: int, y: int) -> bytes:
    """A PNG of a dark picture with a bright spot of 3 x 3 px about a pixel."""
    picture = np.zeros((HEIGHT, WIDTH, 3), dtype=np.uint8)
    picture[y - 1 : y + 2, x - 1 : x + 2] = 250
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, format="PNG")
    return buffer.getvalue()


def brightest(picture) -> np.ndarray:
    weights = picture[..., 0].astype(float)
    rows, columns = np.mgrid[: picture.shape[0], : picture.shape[1]]
    return np.array([(weights * columns).sum(), (weights * rows).sum()]) / weights.sum()


@pytest.mark.parametrize("source", ["transforms", "colmap"])
def test_a_known_corner_lands_on_its_pixel_in_a_fisheye_photo(tmp_path, source):
    """Of the corner x = 0.5, y = 0.25: r = 0.559017, theta = 0.509747, theta_d = theta (1 + 0.1 theta^2) = 0.522992,
    theta_d / r = 0.935558: the fisheye pixel is 100 * 0.467779 + 80 = 126.78 and 100 * 0.233890 + 60 = 83.39."""
    folder = write_scene(tmp_path)
    write_photo(folder, "DSC01.png", dotted(127, 83), flat=False)
    if source == "transforms":
        write_transforms(folder, [frame("DSC01.png")], flat=False)
    else:
        write_colmap(folder, "dslr", {"DSC01.png": COLMAP_LINE})
    scan = read(folder)
    assert counts(scan) == {}
    view = scan.views["DSC01"]
    assert view.load_encoded is None
    picture = view.load_color()
    assert picture.shape == (HEIGHT, WIDTH, 3)
    # A pixel of the fisheye picture is at most 1.2 px wide in the undistorted one.
    np.testing.assert_allclose(brightest(picture), pixel_of(view, CORNER), atol=1.0)
    assert (pickle.loads(pickle.dumps(view)).load_color() == picture).all()


def test_fisheye_photos_take_the_stated_undistorted_camera(tmp_path):
    folder = write_scene(tmp_path)
    write_photo(folder, "DSC01.png", dotted(127, 83), flat=False)
    write_transforms(folder, [frame("DSC01.png")])
    write_transforms(folder, [frame("DSC01.png")], flat=False)
    view = read(folder).views["DSC01"]
    assert view.intrinsics == Intrinsics(100, 100, 80, 60, WIDTH, HEIGHT)
    np.testing.assert_allclose(brightest(view.load_color()), [130, 85], atol=1.0)


def test_an_undistorted_photo_is_preferred_and_each_frame_falls_back_by_itself(tmp_path):
    folder = write_scene(tmp_path)
    write_photo(folder, "DSC1.JPG")
    for name in ("DSC1.JPG", "DSC2.JPG", "DSC10.JPG"):
        write_photo(folder, name, flat=False)
    frames = [frame(name) for name in ("DSC10.JPG", "DSC2.JPG", "DSC1.JPG")]
    write_transforms(folder, frames[:2], frames[2:])
    write_transforms(folder, frames, flat=False)
    write_colmap(folder, "dslr", {f["file_path"]: COLMAP_LINE for f in frames})
    scan = read(folder)
    assert list(scan.views) == ["DSC1", "DSC2", "DSC10"]
    assert [view.load_encoded is not None for view in scan.views.values()] == [True, False, False]
    assert counts(scan) == {}


@pytest.mark.parametrize("source", ["transforms", "tracking"])
@pytest.mark.parametrize("why", broken_poses())
def test_a_lost_pose_costs_its_frame(tmp_path, why, source):
    folder = write_scene(tmp_path)
    if source == "transforms":
        for name in ("DSC01.JPG", "DSC02.JPG"):
            write_photo(folder, name)
        write_transforms(folder, [frame("DSC01.JPG", broken_poses()[why]), frame("DSC02.JPG")])
        scan = read(folder)
        expected = {"lost_pose": 1}
    else:
        for name in ("frame_000001", "frame_000002"):
            write_rgb(folder, f"{name}.jpg")
        write_tracking(folder, {"frame_000001": tracked(broken_poses()[why]), "frame_000002": tracked()})
        scan = read(folder, "iphone")
        expected = {"lost_pose": 1, "no_depth": 1}
    assert len(scan.views) == 1
    assert next(iter(scan.views)).endswith("2")
    assert counts(scan) == expected


def test_what_frames_cost_and_how_it_is_counted(tmp_path):
    folder = write_scene(tmp_path)
    lost = np.array(NERFSTUDIO, dtype=float)
    lost[0, 3] = np.inf
    frames = {
        "good.JPG": frame("images/good.JPG"),
        "bad.JPG": frame("bad.JPG", is_bad=True),
        "fine.JPG": frame("fine.JPG", is_bad=False),
        "lost.JPG": frame("lost.JPG", lost),
        "mirror.JPG": frame("mirror.JPG", np.array(NERFSTUDIO) @ np.diag([1, 1, -1, 1])),
        "short.JPG": {"file_path": "short.JPG", "transform_matrix": [[1, 2, 3]]},
        "cut.JPG": frame("cut.JPG"),
        "square.JPG": frame("square.JPG"),
        "half.JPG": frame("half.JPG"),
    }
    data = {"cut.JPG": jpeg()[:-300], "square.JPG": jpeg(100, 100), "half.JPG": jpeg(80, 60)}
    for name in frames:
        write_photo(folder, name, data.get(name))
    write_photo(folder, "unlisted.JPG")
    write_transforms(folder, [*frames.values(), frame("gone.JPG"), {"transform_matrix": NERFSTUDIO}, 7])
    scan = read(folder)
    assert list(scan.views) == ["fine", "good", "half"]
    assert scan.views["half"].intrinsics == Intrinsics(50, 50, 39.75, 29.75, 80, 60)
    assert counts(scan) == {
        "bad_frame": 1,
        "broken_photo": 1,
        "lost_pose": 5,  # lost, mirror, short, and two entries that name no picture
        "missing_pose": 1,
        "photo_aspect": 1,
        "resized_photos": 1,
        "unstored_photo": 1,
    }
    assert not any("\n" in problem.detail for problem in scan.problems)


def test_poses_that_disagree_cost_their_frame(tmp_path):
    folder = write_scene(tmp_path)
    for name in ("a.JPG", "b.JPG", "c.JPG"):
        write_photo(folder, name)
    write_transforms(folder, [frame("a.JPG"), frame("b.JPG"), frame("c.JPG")])
    # b is 2 cm off; c is taken as camera to world.
    poses = {"a.JPG": COLMAP_LINE, "b.JPG": "0.5 0.5 -0.5 0.5 2 1.5 -1.02", "c.JPG": "0.5 -0.5 0.5 -0.5 1 2 1.5"}
    write_colmap(folder, "dslr", poses)
    scan = read(folder)
    assert list(scan.views) == ["a"]
    assert counts(scan) == {"poses_disagree": 2}
    assert "0.02 m and 0.0 degrees apart" in next(p.detail for p in scan.problems if p.subject == "b")


def test_a_frame_that_is_listed_twice_needs_one_pose(tmp_path):
    folder = write_scene(tmp_path)
    write_photo(folder, "a.JPG")
    write_photo(folder, "b.JPG")
    moved = np.array(NERFSTUDIO, dtype=float)
    moved[0, 3] += 1
    write_transforms(folder, [frame("a.JPG"), frame("b.JPG")], [frame("a.JPG"), frame("b.JPG", moved)])
    scan = read(folder)
    assert list(scan.views) == ["a"]
    assert counts(scan) == {"lost_pose": 1}


@pytest.mark.parametrize("text", ["<html>", "[]", '{"frames": 3}', ""])
def test_a_broken_listing_leaves_the_others(tmp_path, text):
    folder = write_scene(tmp_path)
    write_photo(folder, "a.JPG", flat=False)
    write_transforms(folder, [frame("a.JPG")], flat=False)
    (folder / "dslr/nerfstudio/transforms_undistorted.json").write_text(text)
    scan = read(folder)
    assert list(scan.views) == ["a"]
    assert counts(scan) == {"broken_listing": 1}


def test_broken_lines_of_colmap_cost_their_frames(tmp_path):
    folder = write_scene(tmp_path)
    poses = {
        "a.JPG": COLMAP_LINE,
        "b.JPG": "0 0 0 0 2 1.5 -1",
        "c.JPG": "0.5 0.5 -0.5 0.5 nan 1.5 -1",
        "d.JPG": "0.5 x",
    }
    for name in poses:
        write_photo(folder, name, flat=False)
    write_colmap(folder, "dslr", poses)
    scan = read(folder)
    assert list(scan.views) == ["a"]
    assert counts(scan) == {"lost_pose": 3}


def test_cameras_that_no_file_states_cost_their_frames(tmp_path):
    folder = write_scene(tmp_path)
    write_photo(folder, "a.JPG", flat=False)
    write_colmap(folder, "dslr", {"a.JPG": COLMAP_LINE}, camera="NEW_MODEL 160 120 1 2 3")
    write_transforms(folder, [frame("a.JPG")], flat=False, fl_x=None)
    scan = read(folder)
    assert list(scan.views) == []
    assert counts(scan) == {"no_camera": 3, "no_depth": 1, "no_dslr": 1, "no_frames": 1}


def test_undistorted_photos_with_a_distorted_camera_are_not_believed(tmp_path):
    folder = write_dslr_scene(tmp_path)
    write_transforms(folder, [frame("DSC01.JPG")], k1=0.2)
    scan = read(folder)
    assert not scan.views
    assert counts(scan)["no_camera"] == 2


def test_lists_of_photos_are_read_and_checked(tmp_path):
    from scannet_tools.dslr import PhotoLists, read_photo_lists

    folder = write_dslr_scene(tmp_path)
    path = folder / "dslr/train_test_lists.json"
    path.write_text(json.dumps({"train": ["DSC01.JPG"], "test": ["DSC02.JPG", "DSC01.JPG"], "has_masks": True}))
    assert read_photo_lists(path) == PhotoLists(("DSC01",), ("DSC02", "DSC01"), True)
    scan = read(folder)
    assert counts(scan) == {"broken_lists": 1, "unstored_photo": 1}
    assert "dslr/train_test_lists.json" in scan.input_files
    path.write_text('{"train": 3}')
    assert counts(read(folder)) == {"broken_lists": 1}


def test_without_dslr_photos_the_iphone_serves(tmp_path):
    folder = write_scene(tmp_path)
    write_transforms(folder, [frame("DSC01.JPG")])
    write_rgb(folder, "frame_000000.jpg")
    write_tracking(folder, {"frame_000000": tracked()})
    scan = read(folder)
    assert list(scan.views) == ["frame_000000"]
    assert counts(scan) == {"no_depth": 1, "no_dslr": 1, "unstored_photo": 1}


def test_the_choice_of_cameras(tmp_path):
    folder = write_dslr_scene(tmp_path)
    write_photo(folder, "DSC01.JPG", jpeg(value=91))
    for name in ("frame_000000", "DSC01"):
        write_rgb(folder, f"{name}.jpg")
    write_tracking(folder, {"frame_000000": tracked(), "DSC01": tracked()})
    assert list(read(folder).views) == ["DSC01"]
    assert list(read(folder, "iphone").views) == ["DSC01", "frame_000000"]
    both = read(folder, "both")
    assert list(both.views) == ["DSC01", "frame_000000"]
    assert both.views["DSC01"].load_encoded() == jpeg(value=91)
    assert counts(both)["same_name"] == 1
    with pytest.raises(InputError, match="dslr, iphone, both"):
        read(folder, "lidar")


@pytest.mark.parametrize(
    ("cameras", "shown"), [("dslr", ["DSC01"]), ("iphone", ["frame_000000"]), ("both", ["DSC01", "frame_000000"])]
)
def test_cameras_are_chosen_by_name(cameras, shown, tmp_path, capsys):
    folder = write_dslr_scene(tmp_path)
    write_rgb(folder, "frame_000000.jpg")
    write_tracking(folder, {"frame_000000": tracked()})
    assert list(open_scan(folder, cameras).views) == shown
    assert list(pickle.loads(pickle.dumps(READER.choosing(cameras))).read(folder).views) == shown
    assert main(["check", str(tmp_path), "--cameras", cameras]) == 0
    row = next(line.split() for line in capsys.readouterr().out.splitlines() if line.startswith(f"{NAME} "))
    assert row[4] == str(len(shown))
    for command in (["check", str(tmp_path)], ["scene", str(tmp_path), NAME]):
        assert main([*command, "--cameras", "lidar"]) == 2
        assert (
            capsys.readouterr().err == "spacecast: scannetpp scans have the cameras dslr, iphone, both; found 'lidar'\n"
        )


def test_the_package_registers_the_reader():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["entry-points"]["spacecast.readers"]["scannetpp"].partition(":")
    assert getattr(importlib.import_module(module), name) is READER
    assert READER.name == "scannetpp"
