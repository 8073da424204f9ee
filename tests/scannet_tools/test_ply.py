from __future__ import annotations

import struct
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from raw_scene import FACES, VERTICES, check_one_line, ply_bytes, ply_text

from scannet_tools.ply import read_ply, write_ply
from spacecast.errors import InputError


def written(tmp_path, data: bytes):
    path = tmp_path / "m.ply"
    path.write_bytes(data)
    return path


def test_reads_a_binary_mesh_written_by_hand(tmp_path):
    mesh = read_ply(written(tmp_path, ply_bytes()))
    assert mesh.vertices.tolist() == [list(map(float, v)) for v in VERTICES]
    assert mesh.faces.tolist() == [list(f) for f in FACES]
    assert mesh.colors.tolist() == [[10 * i, 20, 30] for i in range(6)]
    assert (mesh.vertices.dtype, mesh.faces.dtype, mesh.colors.dtype) == (np.float32, np.int32, np.uint8)


def test_reads_text_other_widths_and_no_colours(tmp_path):
    mesh = read_ply(written(tmp_path, ply_text()))
    assert mesh.vertices.tolist() == [list(map(float, v)) for v in VERTICES]
    assert mesh.faces.tolist() == [list(f) for f in FACES]
    assert mesh.colors is None
    head = (
        "ply\r\nformat binary_big_endian 1.0\r\nelement vertex 3\r\nproperty double x\r\nproperty double y\r\n"
        "property double z\r\nelement face 1\r\nproperty list int uint vertex_index\r\n"
        "property int material\r\nend_header\r\n"
    )
    body = struct.pack(">9d", *range(9)) + struct.pack(">i3Ii", 3, 2, 0, 1, 9)
    mesh = read_ply(written(tmp_path, head.encode() + body))
    assert mesh.vertices.tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert mesh.faces.tolist() == [[2, 0, 1]]


def test_the_bytes_written_are_those_of_the_format(tmp_path):
    colors = np.array([[10 * i, 20, 30] for i in range(6)], dtype=np.uint8)
    write_ply(tmp_path / "w.ply", np.array(VERTICES, dtype=float), np.array(FACES), colors)
    assert (tmp_path / "w.ply").read_bytes() == ply_bytes().replace(b"comment by hand\n", b"")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not a PLY mesh"),
        (b"<!DOCTYPE html><html>", "not a PLY mesh .starts with '<!DOCTYPE html><'"),
        (ply_bytes()[:60], "not a PLY mesh"),
        (ply_bytes(vertex_count=2**62), "cut short"),
        (ply_bytes(face_count=2**40), "cut short"),
        (ply_text()[:-20], "cut short|cannot be read"),
        (ply_text().replace(b"vertex 6", b"vertex 1000000000000"), "cut short"),
        (ply_bytes(faces=[(0, 1, 6)]), "names vertex 6, the mesh has 6"),
        (ply_bytes(faces=[(0, 1, -1)]), "names vertex -1"),
        (ply_bytes(faces=[(0, 1, 2, 3)]), "cannot be read"),
        (ply_bytes(faces=[(0, 1, 2), (0, 1, 2, 3)]), "cannot be read"),
        (ply_text(faces=[(0, 1, 2), (0, 1, 2, 3)]), "cannot be read|cut short"),
        (ply_bytes(vertices=[(0, 0, float("nan")), *VERTICES[1:]]), "1 of 6 vertices are not finite"),
        (ply_bytes(vertices=[]), "no vertices"),
        (ply_bytes(faces=[]), "no faces"),
        (ply_bytes().replace(b"property float y", b"property float q"), "no vertices"),
        (ply_bytes().replace(b"uchar int vertex", b"uchar huge vertex"), "makes no sense"),
        (ply_bytes().replace(b"binary_little_endian", b"binary_middle_endian"), "makes no sense"),
        (ply_bytes().replace(b"element vertex 6", b"element vertex -6"), "makes no sense"),
    ],
)
def test_what_is_wrong_is_one_line_that_names_the_file(tmp_path, data, words):
    with pytest.raises(InputError, match=words) as caught:
        read_ply(written(tmp_path, data))
    assert "m.ply" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_such_file(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_ply(tmp_path / "none.ply")


@pytest.mark.parametrize("whole", [ply_bytes(), ply_text()])
def test_cut_at_every_byte_is_an_error_and_never_a_part(tmp_path, whole):
    for size in range(len(whole) - (whole[-1:] == b"\n")):
        try:
            mesh = read_ply(written(tmp_path, whole[:size]))
        except InputError as error:
            check_one_line(error)
        else:  # text cut within its last number is another number
            assert whole is not ply_bytes()
            assert len(mesh.vertices) == 6
            assert len(mesh.faces) == 2


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 10**6), bit=st.integers(0, 7), text=st.booleans())
def test_a_flipped_bit_gives_a_whole_mesh_or_one_line(tmp_path, at, bit, text):
    data = bytearray(ply_text() if text else ply_bytes())
    data[at % len(data)] ^= 1 << bit
    try:
        mesh = read_ply(written(tmp_path, bytes(data)))
    except InputError as error:
        check_one_line(error)
        return
    assert np.isfinite(mesh.vertices).all()
    assert mesh.faces.min() >= 0
    assert mesh.faces.max() < len(mesh.vertices)


def test_a_usual_mesh_is_parsed_in_little_time(tmp_path):
    rng = np.random.default_rng(0)
    vertices = rng.normal(size=(150_000, 3)).astype(np.float32)
    faces = rng.integers(0, 150_000, (300_000, 3))
    colors = rng.integers(0, 256, (150_000, 3)).astype(np.uint8)
    write_ply(tmp_path / "big.ply", vertices, faces, colors)
    read_ply(written(tmp_path, ply_bytes()))  # imports
    before = time.perf_counter()
    mesh = read_ply(tmp_path / "big.ply")
    assert time.perf_counter() - before < 0.3
    assert (mesh.vertices == vertices).all()
    assert (mesh.faces == faces).all()
    assert (mesh.colors == colors).all()


def test_a_room_in_millimetres_is_refused(tmp_path):
    path = tmp_path / "mesh.ply"
    vertices = np.array(VERTICES, np.float64)
    room = (vertices - vertices.min(axis=0)) / np.ptp(vertices, axis=0).max()
    grey = np.zeros((len(room), 3), np.uint8)
    write_ply(path, 400.0 * room, np.array(FACES), grey)
    assert len(read_ply(path).vertices) == len(room)
    write_ply(path, 4000.0 * room, np.array(FACES), grey)
    with pytest.raises(InputError, match="the mesh is 4000 m across; coordinates should be in metres") as error:
        read_ply(path)
    check_one_line(error.value)
