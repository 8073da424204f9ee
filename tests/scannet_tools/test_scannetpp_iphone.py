"""ScanNet++: the iPhone's frames, its depth in three forms, its video, and poses from two sources."""

from __future__ import annotations

import pickle
import struct
import sys

import numpy as np
import pytest
from raw_scenepp import (
    COLMAP_LINE,
    CORNER,
    HEIGHT,
    WIDTH,
    WORLD_FROM_CAMERA,
    deflate,
    depth_bin,
    depth_mm,
    jpeg,
    literal_lz4,
    tracked,
    write_colmap,
    write_dslr_scene,
    write_rgb,
    write_scene,
    write_tracking,
)

from scannet_tools.depth_bin import SETTINGS as DEPTH_SETTINGS
from scannet_tools.depth_bin import lz4_block, open_depth
from scannet_tools.scannetpp import read
from scannet_tools.video import open_video
from spacecast.errors import InputError
from spacecast.frames import Intrinsics

FORMS = ("one block", "lz4", "deflate")
PINHOLE = f"PINHOLE {WIDTH} {HEIGHT} 100 100 80 60"


def iphone_scene(root, numbers=(0, 10, 20), *, form: str | None = "lz4", last: int = 20):
    folder = write_scene(root)
    for number in numbers:
        write_rgb(folder, f"frame_{number:06d}.jpg")
    write_tracking(folder, {f"frame_{number:06d}": tracked() for number in numbers})
    if form is not None:
        (folder / "iphone/depth.bin").write_bytes(depth_bin(form, range(last + 1)))
    return folder


def shifted(x: float):
    matrix = np.array(WORLD_FROM_CAMERA, dtype=float)
    matrix[0, 3] += x
    return matrix


def pixel_of(view, point):
    return view.intrinsics.project(view.world_from_camera.inverse() @ np.array(point))


@pytest.mark.parametrize("form", FORMS)
def test_a_whole_scene(tmp_path, form):
    folder = iphone_scene(tmp_path, form=form)
    scan = read(folder, "iphone")
    assert scan.problem_counts() == {}
    assert list(scan.views) == ["frame_000000", "frame_000010", "frame_000020"]
    for number, view in zip((0, 10, 20), scan.views.values(), strict=True):
        np.testing.assert_allclose(view.world_from_camera.matrix, WORLD_FROM_CAMERA, atol=1e-12)
        np.testing.assert_allclose(pixel_of(view, CORNER), [130, 85], atol=1e-9)
        assert view.intrinsics == Intrinsics(100, 100, 80, 60, WIDTH, HEIGHT)
        # 1.6 times as large: 1.6 * 80.5 - 0.5 and 1.6 * 60.5 - 0.5
        assert (view.depth_intrinsics.width, view.depth_intrinsics.height) == (256, 192)
        np.testing.assert_allclose(view.depth_intrinsics.matrix[:2], [[160, 0, 128.3], [0, 160, 96.3]], atol=1e-9)
        assert view.load_encoded() == jpeg()
        depth = view.load_depth()
        assert depth.dtype == np.float32
        np.testing.assert_allclose(depth, depth_mm(number) / 1000, atol=1e-6)
        assert depth[5, 7] == 0
        moved = pickle.loads(pickle.dumps(view))
        assert (moved.load_depth() == depth).all()
        assert moved.load_color().shape == (HEIGHT, WIDTH, 3)


def test_a_known_corner_lands_on_its_pixel_by_colmap(tmp_path):
    folder = iphone_scene(tmp_path, (0,), last=0)
    (folder / "iphone/pose_intrinsic_imu.json").unlink()
    write_colmap(folder, "iphone", {"frame_000000.jpg": COLMAP_LINE}, camera=PINHOLE)
    scan = read(folder, "iphone")
    assert scan.problem_counts() == {}
    np.testing.assert_allclose(pixel_of(scan.views["frame_000000"], CORNER), [130, 85], atol=1e-9)


def test_a_lens_with_distortion_bends_pictures_and_depth_alike(tmp_path):
    folder = iphone_scene(tmp_path, (0,), last=0)
    metres = np.ones((192, 256), dtype="<f4")
    metres[:, 128:] = 3.0
    block = deflate(metres.tobytes())
    (folder / "iphone/depth.bin").write_bytes(struct.pack("<I", len(block)) + block)
    write_colmap(folder, "iphone", {"frame_000000.jpg": COLMAP_LINE}, camera="OPENCV 160 120 100 100 80 60 .1 0 0 0")
    view = read(folder, "iphone").views["frame_000000"]
    assert view.load_encoded is None
    assert view.intrinsics.fx > 100  # a pincushion: all of the widest full picture comes from within
    assert view.depth_intrinsics == view.intrinsics.scaled_to(256, 192)
    assert view.load_color().shape == (HEIGHT, WIDTH, 3)
    depth = view.load_depth()
    assert depth.shape == (192, 256)
    assert (depth[96, 110], depth[96, 140]) == (1.0, 3.0)
    assert set(np.unique(depth)) <= {0.0, 1.0, 3.0}
    assert (depth == 0).mean() < 0.001  # a corner reaches half a colour pixel farther than colour does


def test_colmap_stands_before_tracking_and_tracking_fills_its_gaps(tmp_path):
    folder = iphone_scene(tmp_path, (0, 1, 2, 3), last=3)
    write_tracking(
        folder,
        {
            "frame_000000": tracked(shifted(0.2)),  # drift
            "frame_000001": tracked(),  # not in COLMAP
            "frame_000002": tracked(shifted(1.0)),  # lost
            "frame_000003": tracked(f=120.0),
        },
    )
    poses = {f"frame_{n:06d}.jpg": COLMAP_LINE for n in (0, 2, 3)}
    write_colmap(folder, "iphone", poses, camera=PINHOLE)
    scan = read(folder, "iphone")
    assert list(scan.views) == ["frame_000000", "frame_000001", "frame_000003"]
    assert scan.problem_counts() == {"poses_disagree": 1}
    np.testing.assert_allclose(scan.views["frame_000000"].world_from_camera.matrix, WORLD_FROM_CAMERA, atol=1e-12)
    assert scan.views["frame_000003"].intrinsics.fx == 100


def test_tracking_that_mostly_disagrees_does_not_stand_alone(tmp_path):
    folder = iphone_scene(tmp_path, (0, 1, 2, 3), last=3)
    entries = {f"frame_{n:06d}": tracked(shifted(2.0 if n < 2 else 0.0)) for n in range(4)}
    write_tracking(folder, entries)
    write_colmap(folder, "iphone", {f"frame_{n:06d}.jpg": COLMAP_LINE for n in (0, 1, 2)}, camera=PINHOLE)
    scan = read(folder, "iphone")
    assert list(scan.views) == ["frame_000002"]
    assert scan.problem_counts() == {"poses_disagree": 3}


def test_what_frames_cost_and_how_it_is_counted(tmp_path):
    folder = iphone_scene(tmp_path, range(8), last=5)
    entries = {f"frame_{n:06d}": tracked() for n in range(8)}
    entries["frame_000001"]["aligned_pose"][0][0] = float("nan")
    del entries["frame_000002"]["aligned_pose"]
    entries["frame_000003"]["intrinsic"] = [[100, 0, 960], [0, 100, 720], [0, 0, 1]]  # of a picture of 1920 x 1440
    entries["frame_000004"] = None
    del entries["frame_000005"]
    entries["frame_000099"] = tracked()
    write_tracking(folder, entries)
    scan = read(folder, "iphone")
    assert list(scan.views) == ["frame_000000", "frame_000006", "frame_000007"]
    assert scan.problem_counts() == {
        "lost_pose": 3,
        "missing_depth": 2,  # 6 and 7
        "missing_pose": 1,
        "no_camera": 1,
        "unstored_photo": 1,
    }
    assert scan.views["frame_000006"].load_depth is None


# depth.bin


def test_depth_frames_are_reached_from_any_mark(tmp_path):
    path = tmp_path / "depth.bin"
    count = 2 * DEPTH_SETTINGS.frames_between_marks + 3
    path.write_bytes(depth_bin("one block", range(count)))
    depths = open_depth(path)
    assert len(depths.frames) == count
    assert not depths.is_cut
    for number in (count - 1, 0, 31, 32, 33, 64):
        np.testing.assert_allclose(depths.frames[number].load(), depth_mm(number) / 1000, atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_of_a_cut_file_the_whole_frames_serve(tmp_path, form):
    folder = iphone_scene(tmp_path, (0, 1, 2), form=None)
    data = depth_bin(form, range(3))
    (folder / "iphone/depth.bin").write_bytes(data[: len(data) - 40])
    scan = read(folder, "iphone")
    assert [view.load_depth is not None for view in scan.views.values()] == [True, True, False]
    np.testing.assert_allclose(scan.views["frame_000001"].load_depth(), depth_mm(1) / 1000, atol=1e-6)
    assert scan.problem_counts() == {"broken_depth": 1, "missing_depth": 1}


@pytest.mark.parametrize("data", [b"", b"<!DOCTYPE html><html>sign in</html>", bytes(5000), b"\xff" * 5000])
def test_a_depth_file_that_is_none_costs_depth_alone(tmp_path, data):
    folder = iphone_scene(tmp_path, (0,), form=None)
    (folder / "iphone/depth.bin").write_bytes(data)
    scan = read(folder, "iphone")
    assert scan.views["frame_000000"].load_depth is None
    assert scan.problem_counts() == {"broken_depth": 1}
    assert "not a depth.bin" in scan.problems[-1].detail


def test_a_broken_block_costs_its_frame_and_an_empty_one_is_no_depth(tmp_path):
    folder = iphone_scene(tmp_path, (0, 1, 2), form=None)
    good = literal_lz4(depth_mm(2).tobytes())
    blocks = [b"rubbish", b"", good]
    (folder / "iphone/depth.bin").write_bytes(b"".join(struct.pack("<I", len(b)) + b for b in blocks))
    scan = read(folder, "iphone")
    assert scan.problem_counts() == {"missing_depth": 1}
    with pytest.raises(InputError, match="frame 0: depth is neither") as caught:
        scan.views["frame_000000"].load_depth()
    assert "\n" not in str(caught.value)
    np.testing.assert_allclose(scan.views["frame_000002"].load_depth(), depth_mm(2) / 1000, atol=1e-6)


def test_metres_that_are_none_are_unknown(tmp_path):
    path = tmp_path / "depth.bin"
    metres = np.ones((192, 256), dtype="<f4")
    metres[0, :3] = np.nan, np.inf, -1
    block = deflate(metres.tobytes())
    path.write_bytes(struct.pack("<I", len(block)) + block)
    assert open_depth(path).frames[0].load()[0, :4].tolist() == [0, 0, 0, 1]


def test_lz4_blocks_by_hand():
    # Three literals, then 3 back for 9 (4 + 5): overlapping; the last sequence has one literal.
    assert lz4_block(b"\x35abc\x03\x00" + b"\x10z", 13) == b"abcabcabcabcz"
    # One literal, 1 back for 4 + 15 + 255 + 2 = 276.
    assert lz4_block(b"\x1fa\x01\x00\xff\x02" + b"\x00", 277) == b"a" * 277
    # 5 back for 4 of 5 literals: not overlapping.
    assert lz4_block(b"\x50abcde\x05\x00" + b"\x10!", 10) == b"abcdeabcd!"
    for broken in (b"", b"\x35ab", b"\x35abc\x03", b"\x35abc\x04\x00\x10z", b"\x35abc\x00\x00\x10z", b"\xf0\xff"):
        with pytest.raises(ValueError, match="lz4 block"):
            lz4_block(broken, 13)
    with pytest.raises(ValueError, match="holds 13 bytes, not 14"):
        lz4_block(b"\x35abc\x03\x00\x10z", 14)


def test_lz4_blocks_as_the_reference_packs_them():
    block = pytest.importorskip("lz4.block")
    noise = np.random.Generator(np.random.Philox(7)).integers(0, 4, 98304).astype(np.uint8).tobytes()
    for data in (depth_mm(3).tobytes(), bytes(98304), noise, b"a"):
        assert lz4_block(block.compress(data, store_size=False), len(data)) == data


# Video


def write_video(folder, count: int, *, cut: int = 0):
    """Frames of one grey each, 5 apart; H.264 with a key frame every 4."""
    av = pytest.importorskip("av")
    path = folder / "iphone/rgb.mkv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=30, options={"g": "4", "crf": "10", "bf": "2"})
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for number in range(count):
            pixels = np.full((HEIGHT, WIDTH, 3), 40 + 5 * number, dtype=np.uint8)
            for packet in stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    if cut:
        path.write_bytes(path.read_bytes()[:-cut])
    return path


def test_frames_straight_from_the_video(tmp_path):
    folder = write_scene(tmp_path)
    write_video(folder, 11)
    write_tracking(folder, {f"frame_{n:06d}": tracked() for n in (9, 0, 5, 10, 11)})
    scan = read(folder, "iphone")
    assert list(scan.views) == ["frame_000000", "frame_000005", "frame_000009", "frame_000010"]
    assert scan.problem_counts() == {"missing_pose": 1, "no_depth": 1, "unstored_photo": 1}
    assert "7 frames of the video" in next(p.detail for p in scan.problems if p.kind == "missing_pose")
    for number, view in zip((0, 5, 9, 10), scan.views.values(), strict=True):
        assert view.load_encoded is None
        picture = pickle.loads(pickle.dumps(view)).load_color()
        assert picture.shape == (HEIGHT, WIDTH, 3)
        assert picture.dtype == np.uint8
        assert abs(float(picture.mean()) - (40 + 5 * number)) < 2


def test_extracted_frames_stand_before_the_video(tmp_path):
    folder = iphone_scene(tmp_path, (0, 1), last=1)
    (folder / "iphone/rgb.mkv").write_bytes(b"never opened")
    assert read(folder, "iphone").problem_counts() == {}


def test_a_video_that_is_none_costs_the_frames(tmp_path):
    folder = write_dslr_scene(tmp_path)
    (folder / "iphone").mkdir()
    (folder / "iphone/rgb.mkv").write_bytes(b"<html>" * 50)
    scan = read(folder, "both")
    assert list(scan.views) == ["DSC01"]
    assert scan.problem_counts()["broken_video"] == 1
    with pytest.raises(InputError, match="not a video") as caught:
        open_video(folder / "iphone/rgb.mkv")
    assert "\n" not in str(caught.value)


def test_without_pyav_one_line_says_what_to_install(tmp_path, monkeypatch):
    folder = write_scene(tmp_path)
    (folder / "iphone").mkdir()
    (folder / "iphone/rgb.mkv").write_bytes(b"some video")
    write_tracking(folder, {"frame_000000": tracked()})
    monkeypatch.setitem(sys.modules, "av", None)
    scan = read(folder, "iphone")
    detail = next(p.detail for p in scan.problems if p.kind == "no_video_reader")
    assert "pip install 'spacecast[video]'" in detail
