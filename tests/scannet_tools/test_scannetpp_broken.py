"""Whatever stands in a file of a ScanNet++ scene: a scan with problems, or an error of one line."""

from __future__ import annotations

import json
import struct

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from raw_scenepp import (
    COLMAP_LINE,
    depth_bin,
    frame,
    tracked,
    write_colmap,
    write_photo,
    write_rgb,
    write_scene,
    write_tracking,
    write_transforms,
)

from scannet_tools.scannetpp import read
from spacecast.errors import InputError

JSON_FILES = (
    "scans/segments.json",
    "scans/segments_anno.json",
    "dslr/nerfstudio/transforms.json",
    "dslr/nerfstudio/transforms_undistorted.json",
    "dslr/train_test_lists.json",
    "iphone/pose_intrinsic_imu.json",
)
OTHER_FILES = (
    "scans/mesh_aligned_0.05.ply",
    "dslr/colmap/images.txt",
    "dslr/colmap/cameras.txt",
    "dslr/resized_undistorted_images/DSC01.JPG",
    "dslr/resized_images/DSC02.JPG",
    "iphone/depth.bin",
    "iphone/rgb/frame_000000.jpg",
)
ODD = st.sampled_from(
    [None, True, False, 0, -1, 2**70, 1e308, float("nan"), float("inf"), "", "x", [], [[]], {}, [None]]
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = write_scene(tmp_path_factory.mktemp("broken"))
    write_photo(folder, "DSC01.JPG")
    write_photo(folder, "DSC02.JPG", flat=False)
    frames = [frame("DSC01.JPG", is_bad=False), frame("DSC02.JPG")]
    write_transforms(folder, frames)
    write_transforms(folder, frames[:1], frames[1:], flat=False)
    write_colmap(folder, "dslr", {"DSC01.JPG": COLMAP_LINE, "DSC02.JPG": COLMAP_LINE})
    lists = {"train": ["DSC01.JPG"], "test": ["DSC02.JPG"], "has_masks": False}
    (folder / "dslr/train_test_lists.json").write_text(json.dumps(lists))
    write_rgb(folder, "frame_000000.jpg")
    write_tracking(folder, {"frame_000000": tracked()})
    (folder / "iphone/depth.bin").write_bytes(depth_bin("deflate", [0]))
    scan = read(folder, "both")
    assert len(scan.views) == 3
    assert scan.problems == ()
    return folder


def paths(value, at=()):
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in items:
        yield from paths(entry, (*at, key))


def replaced(value, at, new):
    if not at:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[at[0]] = replaced(copy[at[0]], at[1:], new)
    return copy


def said(do) -> tuple[object, str]:
    """What a call gives, or the message of its error."""
    try:
        return do(), ""
    except InputError as error:
        return None, str(error)


def use(folder) -> None:
    """Read, and load all that was promised."""
    scan, message = said(lambda: read(folder, "both"))
    assert "\n" not in message
    for problem in scan.problems if scan else ():
        assert "\n" not in f"{problem.subject} {problem.detail}"
    for view in scan.views.values() if scan else ():
        for load in (view.load_color, view.load_encoded, view.load_depth):
            assert "\n" not in said(load or bytes)[1]


FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@FEW
@given(data=st.data())
def test_odd_values_in_json(whole, data):
    path = whole / data.draw(st.sampled_from(JSON_FILES))
    before = path.read_bytes()
    content = json.loads(before)
    try:
        path.write_text(json.dumps(replaced(content, data.draw(st.sampled_from(list(paths(content)))), data.draw(ODD))))
        use(whole)
    finally:
        path.write_bytes(before)


@FEW
@given(data=st.data())
def test_files_that_are_cut_or_overwritten(whole, data):
    path = whole / data.draw(st.sampled_from(JSON_FILES + OTHER_FILES))
    before = path.read_bytes()
    at = data.draw(st.integers(0, len(before)))
    new = data.draw(st.sampled_from([b"", b"\xff\xfe", b"<html>", struct.pack("<I", 2**31), b"nan ", b"\n\n1 2 3\n"]))
    try:
        path.write_bytes(before[:at] + new + (before[at + len(new) :] if data.draw(st.booleans()) else b""))
        use(whole)
    finally:
        path.write_bytes(before)
