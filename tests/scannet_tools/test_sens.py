from __future__ import annotations

import pickle
import struct
import time
import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from raw_scene import HEIGHT, WIDTH, check_one_line, depth_payload, jpeg, pose, sens_bytes

from scannet_tools.pictures import PictureError
from scannet_tools.sens import SensFile, SensHeader, SensWriter
from spacecast.errors import InputError, SpacecastError

FRAMES = [(pose(x), jpeg(value=40 * (x + 1)), depth_payload(1000 + x)) for x in range(3)]


def header(**changes) -> SensHeader:
    values = {
        "color_width": WIDTH,
        "color_height": HEIGHT,
        "depth_width": 32,
        "depth_height": 24,
        "intrinsic_color": [[60, 0, 31, 0], [0, 61, 23, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
        "intrinsic_depth": [[30, 0, 15, 0], [0, 30.5, 11, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
    }
    return SensHeader(**{**values, **changes})


def written(tmp_path, data: bytes, name: str = "a.sens"):
    path = tmp_path / name
    path.write_bytes(data)
    return path


def test_reads_a_file_written_by_hand(tmp_path):
    sens = SensFile.open(written(tmp_path, sens_bytes(FRAMES)))
    assert (len(sens), sens.declared_frames, sens.missing_frames) == (3, 3, 0)
    assert sens.header.sensor_name == "sensor"
    assert (sens.header.color_width, sens.header.color_height) == (64, 48)
    assert (sens.header.depth_width, sens.header.depth_height) == (32, 24)
    assert (sens.header.color_compression, sens.header.depth_compression) == ("jpeg", "zlib_ushort")
    assert sens.header.intrinsic_color[0].tolist() == [60, 0, 31, 0]
    assert sens.header.intrinsic_depth[1].tolist() == [0, 30.5, 11, 0]
    assert sens.header.depth_shift == 1000.0
    frame = sens[2]
    assert frame.times == (1002, 2002)
    assert frame.scan_from_camera.tolist() == pose(2).tolist()
    assert frame.encoded_color() == FRAMES[2][1]
    assert frame.encoded_depth() == FRAMES[2][2]
    assert frame.color_size() == (64, 48)
    color, depth = frame.color(), frame.depth()
    assert color.shape == (48, 64, 3)
    assert color.dtype == np.uint8
    assert abs(int(color[10, 10, 0]) - 120) <= 2
    assert depth.shape == (24, 32)
    assert depth.dtype == np.float32
    assert np.unique(depth).tolist() == [np.float32(1.002)]


def test_frames_one_by_one_and_as_a_stream_are_the_same(tmp_path):
    sens = SensFile.open(written(tmp_path, sens_bytes(FRAMES)))
    streamed = [(p.frame.number, p.color, p.depth) for p in sens.stream()]
    assert streamed == [(i, color, depth) for i, (_, color, depth) in enumerate(FRAMES)]
    assert [frame.number for frame in sens] == [0, 1, 2]
    with pytest.raises(IndexError, match="frames 0 to 2, not 3"):
        sens[3]


def test_raw_png_and_other_units(tmp_path):
    from scannet_tools.pictures import encode_color

    pixels = np.arange(HEIGHT * WIDTH * 3, dtype=np.uint32).astype(np.uint8).reshape(HEIGHT, WIDTH, 3)
    depth = np.arange(24 * 32, dtype="<u2")
    raw = SensFile.open(
        written(
            tmp_path, sens_bytes([(pose(), pixels.tobytes(), depth.tobytes())], color_code=0, depth_code=0, shift=500)
        )
    )
    assert (raw[0].color() == pixels).all()
    assert raw[0].color_size() == (WIDTH, HEIGHT)
    assert raw[0].depth().reshape(-1)[:3].tolist() == [0.0, np.float32(0.002), np.float32(0.004)]
    png = SensFile.open(written(tmp_path, sens_bytes([(pose(), encode_color(pixels, "PNG"), b"")], color_code=1)))
    assert (png[0].color() == pixels).all()


@pytest.mark.parametrize("color", ["raw", "png", "jpeg"])
@pytest.mark.parametrize("depth", ["raw_ushort", "zlib_ushort"])
def test_what_is_written_is_read(tmp_path, color, depth):
    rng = np.random.default_rng(5)
    pixels = rng.integers(0, 256, (HEIGHT, WIDTH, 3)).astype(np.uint8)
    units = rng.integers(0, 9000, (24, 32)).astype(np.uint16)
    lost = np.full((4, 4), -np.inf)
    with SensWriter(tmp_path / "w.sens", header(color_compression=color, depth_compression=depth)) as writer:
        writer.add(pose(3), pixels, units, times=(4, 5))
        writer.add(lost, pixels, units)
    sens = SensFile.open(tmp_path / "w.sens")
    assert [f.times for f in sens] == [(4, 5), (0, 0)]
    assert sens[0].scan_from_camera.tolist() == pose(3).tolist()
    assert np.isneginf(sens[1].scan_from_camera).all()
    np.testing.assert_allclose(sens[0].depth(), units / 1000.0, rtol=1e-6)
    if color != "jpeg":
        assert (sens[0].color() == pixels).all()


def test_the_writer_lays_bytes_out_as_the_format_says(tmp_path):
    with SensWriter(tmp_path / "w.sens", header(sensor_name="sensor")) as writer:
        for number, (matrix, color, depth) in enumerate(FRAMES):
            writer.add(matrix, color, depth, times=(1000 + number, 2000 + number))
    assert (tmp_path / "w.sens").read_bytes() == sens_bytes(FRAMES)


def test_a_file_that_fails_to_be_written_does_not_appear(tmp_path):
    def write() -> None:
        with SensWriter(tmp_path / "w.sens", header()) as writer:
            writer.add(pose(), FRAMES[0][1], FRAMES[0][2])
            writer.add(pose(), FRAMES[0][1], np.zeros((3, 3), dtype=np.uint16))

    with pytest.raises(InputError, match="depth should be"):
        write()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"", "nothing: the file is empty"),
        (b"<!DOCTYPE html><html>", "'<!DOCTYPE html><'"),
        (b"\x04\x00", "04 00"),
        (struct.pack("<IQ", 3, 0) + bytes(400), "03 00 00 00"),
        (struct.pack("<IQ", 4, 2**63) + bytes(400), "04 00 00 00 00 00 00 00"),
        (sens_bytes(FRAMES)[:200], "04 00 00 00 06 00"),
    ],
)
def test_what_is_no_sens_file_says_what_it_starts_with(tmp_path, data, shown):
    with pytest.raises(InputError) as caught:
        SensFile.open(written(tmp_path, data, "scene.sens"))
    assert str(caught.value).startswith("not a .sens version 4 file: scene.sens (starts with ")
    assert shown in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"color_code": 7}, "unknown compression codes"),
        ({"depth_code": -1}, "unknown compression codes"),
        ({"sides": (2**32 - 1, 48, 32, 24)}, "not believable"),
        ({"shift": 0.0}, "units per metre"),
        ({"shift": float("nan")}, "units per metre"),
    ],
)
def test_headers_that_make_no_sense(tmp_path, changes, words):
    with pytest.raises(InputError, match=words):
        SensFile.open(written(tmp_path, sens_bytes(FRAMES, **changes)))


def test_cut_at_every_byte_keeps_the_whole_frames(tmp_path):
    frames = [(pose(x), b"c" * 5, b"d" * 3) for x in range(3)]
    data = sens_bytes(frames)
    head = len(data) - 8 - 3 * (96 + 8)
    path = tmp_path / "a.sens"
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        if size < head:
            with pytest.raises(InputError, match=r"not a \.sens version 4 file"):
                SensFile.open(path)
            continue
        sens = SensFile.open(path)
        assert len(sens) == min(3, (size - head) // 104)
        assert sens.missing_frames == 3 - len(sens)
        assert all(frame.encoded_depth() == b"ddd" for frame in sens)


def test_huge_counts_and_lengths_neither_allocate_nor_hang(tmp_path):
    data = bytearray(sens_bytes(FRAMES, count=2**64 - 1))
    long = bytearray(sens_bytes(FRAMES))
    first = len(sens_bytes([])) - 8
    struct.pack_into("<Q", long, first + 80, 2**63)
    tracemalloc.start()
    before = time.perf_counter()
    many = SensFile.open(written(tmp_path, bytes(data)))
    none = SensFile.open(written(tmp_path, bytes(long), "b.sens"))
    assert time.perf_counter() - before < 2.0
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()
    assert len(many) == 3
    assert many.missing_frames == 2**64 - 4
    assert (len(none), none.missing_frames) == (0, 3)


def test_space_set_aside_by_a_stopped_download_holds_no_frames(tmp_path):
    data = sens_bytes(FRAMES, count=1000)[:-8]
    path = written(tmp_path, data)
    with path.open("r+b") as file:
        file.truncate(200_000_000)  # sparse
    before = time.perf_counter()
    sens = SensFile.open(path)
    assert time.perf_counter() - before < 2.0
    assert (len(sens), sens.missing_frames) == (3, 997)


def test_a_big_file_is_opened_without_being_read(tmp_path):
    path = tmp_path / "big.sens"
    head = sens_bytes([], count=4000)[:-8]
    size = 500_000
    with path.open("wb") as file:
        file.write(head)
        for _ in range(4000):
            file.write(pose().astype("<f4").tobytes() + struct.pack("<QQQQ", 1, 1, size, 0))
            file.seek(size, 1)  # sparse: 2 GB in name
        file.truncate(file.tell())
    assert path.stat().st_size > 2_000_000_000
    before = time.perf_counter()
    tracemalloc.start()
    sens = SensFile.open(path)
    assert len(sens) == 4000
    assert sens[3999].encoded_color() == bytes(size)
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()
    assert time.perf_counter() - before < 1.0


def test_occi_depth_is_refused_in_one_line_that_names_the_frame(tmp_path):
    sens = SensFile.open(written(tmp_path, sens_bytes(FRAMES, depth_code=2)))
    with pytest.raises(PictureError, match=r"^a.sens frame 1: depth is compressed by occi"):
        sens[1].depth()
    assert sens[1].color().shape == (48, 64, 3)


@pytest.mark.parametrize(
    ("color", "depth", "load", "words"),
    [
        (b"no picture", b"", "color", "not a JPEG or PNG"),
        (jpeg()[:-40], b"", "color", "cannot be decoded"),
        (b"", b"no zlib", "depth", "cannot be decompressed"),
        (b"", zlib.compress(bytes(10)), "depth", "should be 1536 bytes, found 10"),
        (b"", zlib.compress(bytes(200_000_000)), "depth", "should be 1536 bytes, found more"),
    ],
)
def test_payloads_that_cannot_be_decoded(tmp_path, color, depth, load, words):
    frame = SensFile.open(written(tmp_path, sens_bytes([(pose(), color, depth)])))[0]
    tracemalloc.start()
    with pytest.raises(PictureError, match=words) as caught:
        getattr(frame, load)()
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()
    assert "a.sens frame 0" in str(caught.value)


def test_a_file_that_is_gone_or_shrinks(tmp_path):
    path = written(tmp_path, sens_bytes(FRAMES))
    sens = SensFile.open(path)
    path.write_bytes(sens_bytes(FRAMES)[:700])
    with pytest.raises(InputError, match="became shorter"):
        sens[2].color()
    with pytest.raises(InputError, match="became shorter"):
        list(sens.stream())
    path.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        sens[0].color()
    with pytest.raises(InputError, match="cannot be read"):
        SensFile.open(path)


def test_loaders_are_small_and_go_to_other_processes(tmp_path):
    sens = SensFile.open(written(tmp_path, sens_bytes(FRAMES)))
    packed = pickle.dumps(sens[1].depth)
    assert len(packed) < 3000
    assert (pickle.loads(packed)() == sens[1].depth()).all()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 10**6), bit=st.integers(0, 7))
def test_a_flipped_bit_gives_frames_or_one_line(tmp_path, at, bit):
    data = bytearray(sens_bytes([(m, jpeg(32, 24), d) for m, _, d in FRAMES], sides=(32, 24, 32, 24)))
    data[at % len(data)] ^= 1 << bit
    try:
        sens = SensFile.open(written(tmp_path, bytes(data)))
    except SpacecastError as error:
        check_one_line(error)
        return
    for frame in sens:
        for load in (frame.color_size, frame.color, frame.depth):
            try:
                load()
            except SpacecastError as error:
                check_one_line(error)
