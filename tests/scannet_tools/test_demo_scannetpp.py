"""Demo scans in ScanNet++'s layout. Files are read with plain code, so that no reader and no writer says here what they
mean; at the end both readers see the same room."""

import hashlib
import json
import struct
import zlib
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from scannet_tools.demo import write
from scannet_tools.demo.colmap import ModelPoints
from scannet_tools.demo.dslr import Fisheye
from scannet_tools.demo.iphone import DEPTHS, PICTURES, Phone, depth_bytes
from scannet_tools.demo.scannetpp_files import scene_id_of, write_splits
from scannet_tools.demo.scannetpp_labels import MISSPELT, WORDS, turned_box
from scannet_tools.demo.site import jpeg_of
from scannet_tools.labels import canonical_label
from scannet_tools.ply import read_ply
from scannet_tools.scannet import READER as SCANNET
from scannet_tools.scannetpp import READER as SCANNETPP
from scannet_tools.scannetpp import read as read_scannetpp
from spacecast.errors import SpacecastError
from spacecast.relations import direction, distance
from spacecast.scene import Scene
from spacecast.sight import Camera, sight_of
from spacecast.sight.rays import RayScene

pytest.importorskip("av")
pytest.importorskip("lz4")
SEED = 3


@dataclass
class Written:
    root: Path
    folder: Path
    other: Path
    """The same room's ScanNet folder."""
    site: object
    truth: dict
    vertices: np.ndarray
    colors: np.ndarray
    rays: RayScene

    def json(self, name):
        return json.loads((self.folder / name).read_text())

    def seen_from(self, eye):
        """Numbers of vertices (every seventh) with nothing of the mesh before them."""
        some = np.arange(0, len(self.vertices), 7)
        t = self.rays.cast(eye, self.vertices[some] - eye).t
        return some[t > 0.995]


@pytest.fixture(scope="module")
def scan(tmp_path_factory):
    """Scene 0 in both layouts, with every second frame of its walk, to be quick."""
    root = tmp_path_factory.mktemp("pp")
    sites = []

    def half_a_walk(*key, site_of=write.site_of):
        site = site_of(*key)
        sites.append(replace(site, poses=site.poses[::2], lost=frozenset({9})))
        return sites[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write, "site_of", half_a_walk)
        other, folder = write.write_demo(root, 1, SEED, layout="both")
    mesh = read_ply(folder / "scans" / "mesh_aligned_0.05.ply")
    return Written(
        root,
        folder,
        other,
        sites[0],
        json.loads((folder / "truth.json").read_text()),
        mesh.vertices.astype(float),
        mesh.colors,
        RayScene(mesh.vertices, mesh.faces),
    )


# Plain readers


def _quat(w, x, y, z):
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def _colmap(folder):
    """(model, w, h, parameters), {name: (camera_from_world, observations)}, {point: (xyz, rgb, track)}."""
    (line,) = [x for x in (folder / "cameras.txt").read_text().splitlines() if not x.startswith("#")]
    _, model, w, h, *parameters = line.split()
    rows = [x for x in (folder / "images.txt").read_text().splitlines() if not x.startswith("#")]
    images = {}
    for head, seen in zip(rows[::2], rows[1::2], strict=True):
        number, *pose, camera, name = head.split()
        assert camera == "1"
        matrix = np.eye(4)
        matrix[:3, :3] = _quat(*map(float, pose[:4]))
        matrix[:3, 3] = [float(x) for x in pose[4:]]
        images[name] = int(number), matrix, np.array(seen.split(), dtype=float).reshape(-1, 3)
    points = {}
    for row in (folder / "points3D.txt").read_text().splitlines():
        if not row.startswith("#"):
            number, *rest = row.split()
            track = np.array(rest[7:], dtype=int).reshape(-1, 2)
            points[int(number)] = np.array(rest[:3], float), np.array(rest[3:6], int), track
    return (model, int(w), int(h), [float(x) for x in parameters]), images, points


def _fisheye(camera_from_world, points, numbers):
    fx, fy, cx, cy, *k = numbers
    p = points @ camera_from_world[:3, :3].T + camera_from_world[:3, 3]
    p = np.where((p[:, 2] > 0.05)[:, None], p, np.nan)
    r = np.hypot(p[:, 0], p[:, 1]) / p[:, 2]
    theta = np.arctan(r)
    d = theta * (1 + k[0] * theta**2 + k[1] * theta**4 + k[2] * theta**6 + k[3] * theta**8)
    return np.stack([fx * d / r * p[:, 0] / p[:, 2] + cx, fy * d / r * p[:, 1] / p[:, 2] + cy], axis=1)


def _pinhole(camera_from_world, points, numbers):
    fx, fy, cx, cy = numbers
    p = points @ camera_from_world[:3, :3].T + camera_from_world[:3, 3]
    p = np.where((p[:, 2] > 0.05)[:, None], p, np.nan)
    return np.stack([fx * p[:, 0] / p[:, 2] + cx, fy * p[:, 1] / p[:, 2] + cy], axis=1)


def _mesh_from_nerfstudio(matrix):
    """Camera to world with OpenCV axes in the mesh's world."""
    world = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, -1, 0], [0, 0, 0, 1]], float)
    return np.linalg.inv(world) @ np.array(matrix) @ np.diag([1.0, -1, -1, 1])


def _difference(scan, picture, pixels, numbers, shift=(0, 0)):
    """Median difference of a picture at pixels from the colours of the vertices that lie there,
    exposure aside."""
    at = np.nan_to_num(np.round(pixels + shift), nan=-1e6)
    inside = ((at >= 4) & (at < np.array(picture.shape[1::-1]) - 4)).all(axis=1)
    assert inside.sum() > 40
    u, v = at[inside].astype(int).T
    shown, stored = picture[v, u].astype(float), scan.colors[numbers[inside]]
    shown *= np.median(stored) / np.median(shown)
    return float(np.median(np.abs(shown - stored).mean(axis=1)))


def _off_share(scan, picture, pixels, numbers):
    """Share of the vertices far from the picture's middle whose colour is not there."""
    at = np.round(pixels)
    half = np.array(picture.shape[1::-1]) / 2
    with np.errstate(invalid="ignore"):
        inside = (np.abs(at - half) < half - 4).all(axis=1) & (np.linalg.norm(at - half, axis=1) > half[1])
    u, v = at[inside].astype(int).T
    away = np.abs(picture[v, u].astype(float) - scan.colors[numbers[inside]]).mean(axis=1)
    return float((away > 40).mean())


def _assert_shows_the_mesh(scan, picture, world_from_camera, pixels_of):
    """The picture is like the mesh where the pose says, and less so some pixels beside it, and not at all elsewhere."""
    numbers = scan.seen_from(world_from_camera[:3, 3])
    pixels = pixels_of(np.linalg.inv(world_from_camera), scan.vertices[numbers])
    away = {
        (x, y): _difference(scan, picture, pixels, numbers, (x, y)) for x in range(-8, 9, 2) for y in range(-8, 9, 2)
    }
    best = min(away, key=away.get)
    assert away[best] < 11, away[best]
    assert max(map(abs, best)) <= 2, best
    mirrored = pixels * (-1, 1) + (picture.shape[1] - 1, 0)
    assert _difference(scan, picture, mirrored, numbers) > 1.6 * away[best]


def _photo(path):
    return np.asarray(Image.open(path))


def _depth(path, form):
    data = path.read_bytes()
    if form == "deflated":
        return np.frombuffer(zlib.decompress(data, -15), "<f4").reshape(-1, 192, 256)
    frames, at = [], 0
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        block = data[at + 4 : at + 4 + size]
        assert len(block) == size
        at += 4 + size
        if form == "lz4":
            import lz4.block

            frames.append(np.frombuffer(lz4.block.decompress(block, 192 * 256 * 2), "<u2") / 1000)
        else:
            frames.append(np.frombuffer(zlib.decompress(block, -15), "<f4"))
    return np.stack(frames).reshape(-1, 192, 256)


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


def test_photos_that_are_listed_bad_or_not_on_disk(scan):
    lists = scan.json("dslr/train_test_lists.json")
    transforms = scan.json("dslr/nerfstudio/transforms.json")
    for kind, key in (("train", "frames"), ("test", "test_frames")):
        assert lists[kind] == [frame["file_path"] for frame in transforms[key]]
    assert transforms["frames"] == scan.json("dslr/nerfstudio/transforms_undistorted.json")["frames"]
    named = set(lists["train"]) | set(lists["test"])
    on_disk = {path.name for path in (scan.folder / "dslr" / "resized_images").iterdir()}
    assert len(named - on_disk) == 1
    assert on_disk < named
    assert sum(frame["is_bad"] for frame in transforms["frames"]) == 2
    assert len(on_disk) == min(26, len(scan.site.poses) // 2) - 1
    assert len(lists["test"]) >= 1
    assert set(_colmap(scan.folder / "dslr" / "colmap")[1]) == named


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


# Photos of the DSLR


def test_all_that_photos_show_was_scanned(scan):
    """From where a photo was taken, what is hit first in the whole room is hit first in the mesh."""
    solid = scan.site.solid
    _, images, _ = _colmap(scan.folder / "dslr" / "colmap")
    side = np.linspace(-0.5, 0.5, 30)  # to the right and to the left, up to 60 degrees from the middle
    angle, around = (x.ravel() for x in np.meshgrid(np.linspace(0.05, 1.05, 40), np.concatenate([side, side + np.pi])))
    rays = np.stack([np.sin(angle) * np.cos(around), np.sin(angle) * np.sin(around), np.cos(angle)], axis=1)
    holes = []
    for _, camera_from_world, _ in images.values():
        pose = np.linalg.inv(camera_from_world)
        along = rays @ pose[:3, :3].T
        whole, scanned = (x.cast(pose[:3, 3], along).t for x in (solid.rays, scan.rays))
        holes.append((scanned > whole + 0.05).mean())
    assert np.mean(holes) < 0.01, np.mean(holes)  # rays that graze an edge


def test_colmap_and_both_axis_changes_give_one_pose(scan):
    _, images, _ = _colmap(scan.folder / "dslr" / "colmap")
    walk = {pose["frame"]: np.array(pose["world_from_camera"]).reshape(4, 4) for pose in scan.truth["poses"]}
    frames = {entry["name"]: entry["frame"] for entry in scan.truth["photos"]}
    transforms = scan.json("dslr/nerfstudio/transforms.json")
    for frame in transforms["frames"] + transforms["test_frames"]:
        name = frame["file_path"]
        _, camera_from_world, _ = images[name]
        world_from_camera = _mesh_from_nerfstudio(frame["transform_matrix"])
        assert np.abs(world_from_camera @ camera_from_world - np.eye(4)).max() < 1e-9
        assert np.abs(world_from_camera - walk[frames[name]]).max() < 1e-6
        assert np.abs(np.array(frame["transform_matrix"]) - world_from_camera).max() > 0.1


def test_fisheye_photos_show_the_mesh_where_their_poses_say(scan):
    (model, w, h, numbers), images, _ = _colmap(scan.folder / "dslr" / "colmap")
    transforms = scan.json("dslr/nerfstudio/transforms.json")
    assert model == transforms["camera_model"] == "OPENCV_FISHEYE"
    assert numbers == [transforms[key] for key in ("fl_x", "fl_y", "cx", "cy", "k1", "k2", "k3", "k4")]
    for frame in transforms["frames"][:7:3]:
        path = scan.folder / "dslr" / "resized_images" / frame["file_path"]
        if not frame["is_bad"] and path.exists():
            picture = _photo(path)
            assert picture.shape == (h, w, 3) == (transforms["h"], transforms["w"], 3)
            _assert_shows_the_mesh(
                scan, picture, np.linalg.inv(images[path.name][1]),
                lambda camera, points: _fisheye(camera, points, numbers),
            )  # fmt: skip
            seen = scan.seen_from(np.linalg.inv(images[path.name][1])[:3, 3])
            bent, straight = (
                _off_share(scan, picture, _fisheye(images[path.name][1], scan.vertices[seen], lens), seen)
                for lens in (numbers, [*numbers[:4], 0, 0, 0, 0])
            )
            assert bent < 0.08
            assert straight > 2 * bent


def test_undistorted_photos_show_the_mesh_where_their_poses_say(scan):
    transforms = scan.json("dslr/nerfstudio/transforms_undistorted.json")
    assert transforms["camera_model"] == "PINHOLE"
    numbers = [transforms[key] for key in ("fl_x", "fl_y", "cx", "cy")]
    for frame in transforms["frames"][:7:3]:
        path = scan.folder / "dslr" / "resized_undistorted_images" / frame["file_path"]
        if not frame["is_bad"] and path.exists():
            picture = _photo(path)
            assert picture.shape == (transforms["h"], transforms["w"], 3)
            assert picture[[0, -1]].mean(axis=-1).min() > 5  # no black border
            _assert_shows_the_mesh(
                scan, picture, _mesh_from_nerfstudio(frame["transform_matrix"]),
                lambda camera, points: _pinhole(camera, points, numbers),
            )  # fmt: skip


@pytest.mark.parametrize("camera", ["dslr", "iphone"])
def test_points_of_colmap_project_to_their_pixels(scan, camera):
    (model, w, h, numbers), images, points = _colmap(scan.folder / camera / "colmap")
    assert model == {"dslr": "OPENCV_FISHEYE", "iphone": "OPENCV"}[camera]
    assert sorted(number for number, _, _ in images.values()) == list(range(1, len(images) + 1))
    assert len(points) > 200
    by_number = {number: (matrix, seen) for number, matrix, seen in images.values()}
    counts = Counter()
    for number, (place, _, track) in points.items():
        assert len(track) >= 2
        for image, at in track.tolist():
            matrix, seen = by_number[image]
            assert seen[at, 2] == number
            if camera == "dslr":
                (pixel,) = _fisheye(matrix, place[None], numbers)
            else:
                assert numbers[4:] == [0, 0, 0, 0]
                (pixel,) = _pinhole(matrix, place[None], numbers[:4])
            assert np.abs(pixel - seen[at, :2]).max() < 2e-3
            assert (pixel >= -0.5).all()
            assert (pixel <= (w - 0.5, h - 0.5)).all()
            counts[image] += 1
    assert all((seen[:, 2] >= 0).sum() == counts[number] for number, (_, seen) in by_number.items())


def test_fisheye_of_known_angles():
    camera = Fisheye(100.0, 100.0, 50.0, 40.0, (0.1, 0.0, 0.0, 0.0), 101, 81)
    t = np.radians(30)
    assert camera.project([0.0, 0.0, 2.0]).tolist() == [50.0, 40.0]
    assert camera.project([np.sin(t), 0.0, np.cos(t)]) == pytest.approx([50 + 100 * (t + 0.1 * t**3), 40])
    assert camera.project([0.0, -np.sin(t), np.cos(t)]) == pytest.approx([50, 40 - 100 * (t + 0.1 * t**3)])
    assert np.isnan(camera.project([0.1, 0.0, -1.0])).all()
    u, v = np.meshgrid(np.arange(101), np.arange(81))
    assert np.abs(camera.project(camera.rays()) - np.stack([u, v], -1)).max() < 1e-9
    plain = camera.undistorted()
    edge = camera.project(plain.rays([[0, 0], [100, 0], [0, 80], [100, 80], [50, 0], [0, 40]]))
    assert (edge > -0.51).all()
    assert (edge < (100.51, 80.51)).all()


# The phone


def test_phone_pictures_show_the_mesh_where_both_kinds_of_pose_say(scan):
    import av

    records = scan.json("iphone/pose_intrinsic_imu.json")
    _, images, _ = _colmap(scan.folder / "iphone" / "colmap")
    lost = {f"frame_{pose['frame']:06d}" for pose in scan.truth["poses"] if pose["lost"]}
    assert lost
    assert {name.removesuffix(".jpg") for name in images} == set(records) - lost
    with av.open(str(scan.folder / "iphone" / "rgb.mkv")) as video:
        assert video.streams.video[0].codec_context.name == "h264"
        pictures = [frame.to_ndarray(format="rgb24") for frame in video.decode(video=0)]
    assert len(pictures) == len(records) == len(scan.site.poses)
    for number in range(5, len(pictures), 9):
        stem = f"frame_{number:06d}"
        record = records[stem]
        world_from_camera = np.array(record["aligned_pose"])
        if f"{stem}.jpg" in images:
            assert np.abs(images[f"{stem}.jpg"][1] @ world_from_camera - np.eye(4)).max() < 1e-9
        assert np.abs(np.array(record["pose"]) - world_from_camera).max() > 0.5
        assert np.linalg.det(np.array(record["pose"])[:3, :3]) == pytest.approx(1)
        k = np.array(record["intrinsic"])
        _assert_shows_the_mesh(
            scan, pictures[number], world_from_camera,
            lambda camera, points, k=k: _pinhole(camera, points, (k[0, 0], k[1, 1], k[0, 2], k[1, 2])),
        )  # fmt: skip


def test_poses_of_the_phones_own_world_are_all_moved_alike(scan):
    records = scan.json("iphone/pose_intrinsic_imu.json")
    moved = [np.array(r["pose"]) @ np.linalg.inv(r["aligned_pose"]) for r in records.values()]
    assert np.abs(np.array(moved) - moved[0]).max() < 1e-9
    assert moved[0][:3, :3] @ [0, 0, 1] == pytest.approx([0, 1, 0])  # y is up there


def test_depth_is_that_of_the_room(scan):
    depth = _depth(scan.folder / "iphone" / "depth.bin", scan.truth["phone"]["depth"])
    records = scan.json("iphone/pose_intrinsic_imu.json")
    assert len(depth) == len(records)
    u, v = (x.ravel() for x in np.meshgrid(np.arange(8, 256, 24), np.arange(8, 192, 24)))
    for number in range(0, len(depth), 9):
        record = records[f"frame_{number:06d}"]
        pose, k = np.array(record["aligned_pose"]), np.array(record["intrinsic"])
        x = ((u + 0.5) * 2.5 - 0.5 - k[0, 2]) / k[0, 0]
        y = ((v + 0.5) * 2.5 - 0.5 - k[1, 2]) / k[1, 1]
        along = np.stack([x, y, np.ones_like(x)], axis=1) @ pose[:3, :3].T
        t = scan.site.solid.rays.cast(pose[:3, 3], along).t
        near = np.abs(depth[number][v, u] - t)
        assert np.percentile(near, 97) < 0.0012  # rays that graze an edge may fall on either side of it
        assert np.median(near) < 0.0006


@pytest.mark.parametrize("form", DEPTHS)
def test_three_forms_of_depth(form, tmp_path):
    depth_mm = (np.arange(2 * 192 * 256).reshape(2, 192, 256) % 5001).astype(np.uint16)
    (tmp_path / "depth.bin").write_bytes(depth_bytes(depth_mm, form))
    depth = _depth(tmp_path / "depth.bin", form)
    assert depth.shape == (2, 192, 256)
    assert np.abs(depth - depth_mm / 1000).max() < 1e-6
    assert depth[0, 1, 3] == pytest.approx(0.259)


def test_scenes_show_all_forms_of_pictures_and_depth(scan, tmp_path):
    short = replace(scan.site, poses=scan.site.poses[:3], lost=frozenset({1}))
    found = []
    for index in range(3):
        folder = tmp_path / str(index)
        gray = np.full((480, 640, 3), 90, np.uint8)
        with Phone(folder, replace(short, index=index)) as phone:
            for number in range(3):
                phone.add(number, gray, jpeg_of(gray))
            phone.finish(ModelPoints(np.zeros((1, 3)), np.zeros((1, 3), np.uint8)))
        found.append(((folder / "rgb.mkv").exists(), sorted(p.name for p in folder.glob("rgb/*"))))
        depth = _depth(folder / "depth.bin", phone.depth)
        assert depth.shape == (3, 192, 256)
        assert 0.2 < np.median(depth) < 8
        assert set(_colmap(folder / "colmap")[1]) == {"frame_000000.jpg", "frame_000002.jpg"}
    names = ["frame_000000.jpg", "frame_000001.jpg", "frame_000002.jpg"]
    assert PICTURES == ("video", "both", "frames")
    assert found == [(True, []), (True, names), (False, names)]
    assert len({Phone(tmp_path, replace(short, index=k)).depth for k in range(3)}) == 3


# Through the readers


@pytest.fixture(scope="module")
def both(scan):
    """The room as each reader hands it over, and ScanNet's ids -> ScanNet++'s, by the truth."""
    scans = SCANNET.read(scan.other), SCANNETPP.read(scan.folder)
    keys = []
    for folder in (scan.other, scan.folder):
        objects = json.loads((folder / "truth.json").read_text())["objects"]
        keys.append({(o["label"], *o["min"], *o["max"]): o["id"] for o in objects})
    ids = {keys[0][key]: keys[1][key] for key in keys[0]}
    return *scans, Scene.from_scan(scans[0]), Scene.from_scan(scans[1]), ids


def test_reader_finds_nothing_wrong_but_what_was_made_so(scan, both):
    _, found, *_ = both
    absent = [p["name"] for p in scan.truth["photos"] if not p["on_disk"]]
    assert found.problem_counts() == {"bad_frame": 2, "unstored_photo": len(absent)}
    taken = {p["name"][:-4]: p["frame"] for p in scan.truth["photos"] if p["on_disk"] and not p["is_bad"]}
    walk = {pose["frame"]: np.array(pose["world_from_camera"]).reshape(4, 4) for pose in scan.truth["poses"]}
    assert list(found.views) == sorted(taken)
    for name, view in found.views.items():
        assert np.abs(view.world_from_camera.matrix - walk[taken[name]]).max() < 1e-6
    phone = read_scannetpp(scan.folder, cameras="iphone")
    assert phone.problem_counts() == {}
    assert list(phone.views) == [f"frame_{number:06d}" for number in walk]


def test_one_room_through_both_layouts_is_one_scene(both):
    *_, one, two, ids = both
    for number, twin in ids.items():
        a, b = one.objects[number], two.objects[twin]
        assert b.label == WORDS.get(a.label, a.label)
        assert np.abs([a.aabb.min - b.aabb.min, a.aabb.max - b.aabb.max]).max() < 1e-5
        assert np.abs([a.obb.center - b.obb.center, a.obb.size - b.obb.size]).max() < 1e-4
        assert abs((a.obb.yaw_deg - b.obb.yaw_deg + 90) % 180 - 90) < 0.01
        assert a.why_not_asked == b.why_not_asked
        kinds = [None if x.support is None else x.support.kind for x in (a, b)]
        assert kinds[0] == kinds[1]
    clutter = {number for number in two.objects if number not in ids.values()}
    assert all(two.objects[number].label in ("remove", "split") for number in clutter)
    edges = [
        {(u, v, d["kind"], d["certainty"]) for u, v, d in scene.attachment.edges(data=True)} for scene in (one, two)
    ]
    assert len(edges[0]) > 4
    assert {(ids[u], ids[v], *rest) for u, v, *rest in edges[0]} == {e for e in edges[1] if not clutter & set(e[:2])}
    assert np.abs(one.room_center_in_world - two.room_center_in_world).max() < 1e-4


def test_one_room_through_both_layouts_gives_the_same_answers(both):
    scan, _, one, two, ids = both
    things = [number for number in ids if one.objects[number].may_be_asked]
    assert len(things) > 10
    values = set()
    for a in things:
        for b in things:
            if a != b:
                answer, same = direction(one, a, reference=b), direction(two, ids[a], reference=ids[b])
                assert (answer.value, answer.reasons) == (same.value, same.reasons)
                values.add(answer.value)
    assert len(values) == 8
    for a, b in list(zip(things, things[3:], strict=False))[::3]:
        answer, same = distance(one, a, b), distance(two, ids[a], ids[b])
        assert answer.value == same.value
        assert answer.numbers["distance_m"] == pytest.approx(same.numbers["distance_m"], abs=1e-3)
    seen = 0
    for view in list(scan.views.values())[5:25:9]:
        camera = Camera(view.world_from_camera, view.intrinsics)
        looks = [sight_of(scene).look(camera) for scene in (one, two)]
        for number in things:
            a, b = looks[0].visibility(number), looks[1].visibility(ids[number])
            assert abs(a.silhouette_px - b.silhouette_px) <= 2 + 0.002 * a.silhouette_px
            assert abs(a.visible_px - b.visible_px) <= 2 + 0.002 * a.silhouette_px
            seen += a.visible_px > 16
    assert seen > 8
