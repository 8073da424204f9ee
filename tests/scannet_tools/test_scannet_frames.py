"""The rows of FAULTS, "Raw scans", on poses, pictures and depth, each on the smallest scene that shows it."""

from __future__ import annotations

import numpy as np
import pytest
from raw_scene import (
    HEIGHT,
    NAME,
    TEXT,
    WIDTH,
    broken_poses,
    depth_payload,
    depth_png,
    jpeg,
    matrix_text,
    pose,
    sens_bytes,
    write_frame,
    write_scene,
    write_text,
)

from scannet_tools.scannet import READER
from scannet_tools.scannet_frames import registered_depth
from spacecast.errors import InputError
from spacecast.frames import Intrinsics, Transform


def counts(scan) -> dict[str, int]:
    return scan.problem_counts()


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
