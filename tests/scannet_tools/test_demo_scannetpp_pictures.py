"""Demo scans in ScanNet++'s layout: pictures, poses and depth of both cameras, read with plain code, so that no reader
and no writer says here what they mean."""

import struct
import zlib
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from scannet_tools.demo.colmap import ModelPoints
from scannet_tools.demo.dslr import Fisheye
from scannet_tools.demo.iphone import DEPTHS, PICTURES, Phone, depth_bytes
from scannet_tools.demo.site import jpeg_of

pytest.importorskip("av")
pytest.importorskip("lz4")


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


# Photos of the DSLR


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
