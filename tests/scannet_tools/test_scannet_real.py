"""The real scan through the reader."""

from __future__ import annotations

import json

import numpy as np
import pytest

from scannet_tools.scannet import READER
from spacecast.frames import Intrinsics


@pytest.fixture(scope="module")
def real_scene(real_scans):
    return real_scans / "scans/scene0000_00"


def aligned_vertices(folder):
    """Vertices of the real mesh in world and their colours, read here by hand."""
    data = next(folder.glob("*_vh_clean_2.ply")).read_bytes()
    head, body = data.split(b"end_header\n", 1)
    count = int(head.split(b"element vertex ")[1].split()[0])
    rows = np.frombuffer(body, dtype=[("xyz", "<f4", 3), ("rgba", "u1", 4)], count=count)
    line = next(x for x in (folder / f"{folder.name}.txt").read_text().splitlines() if x.startswith("axisAlignment"))
    matrix = np.array(line.split("=")[1].split(), dtype=float).reshape(4, 4)
    return rows["xyz"].astype(float) @ matrix[:3, :3].T + matrix[:3, 3], rows["rgba"][:, :3]


def test_real_boxes_equal_min_and_max_of_aligned_vertices(real_scene):
    scan = READER.read(real_scene)
    vertices, colors = aligned_vertices(real_scene)
    numbers = np.array(json.loads(next(real_scene.glob("*.segs.json")).read_bytes())["segIndices"])
    groups = json.loads(next(real_scene.glob("*.aggregation.json")).read_bytes())["segGroups"]
    assert (scan.colors == colors).all()
    np.testing.assert_allclose(scan.vertices, vertices, atol=2e-5)
    assert list(scan.instances) == sorted(group["objectId"] for group in groups)
    for group in groups:
        by_hand = vertices[np.isin(numbers, group["segments"])]
        ours = scan.vertices[scan.instance_ids == group["objectId"]]
        assert len(ours) == len(by_hand)
        np.testing.assert_allclose(ours.min(axis=0), by_hand.min(axis=0), atol=2e-5)
        np.testing.assert_allclose(ours.max(axis=0), by_hand.max(axis=0), atol=2e-5)
        assert scan.instances[group["objectId"]].raw_label == group["label"]


def test_real_views(real_scene):
    scan = READER.read(real_scene)
    assert scan.problem_counts() == {"missing_photo": 185, "no_depth": 1}
    assert len(scan.views) == 188
    assert [name for name, view in scan.views.items() if view.has_photo] == ["0", "11", "102"]
    numbers = [int(name) for name in scan.views]
    assert numbers == sorted(numbers)
    view = scan.views["102"]
    assert view.intrinsics == Intrinsics(1169.621094, 1167.105103, 646.295044, 489.927032, 1296, 968)
    assert view.load_color().shape == (968, 1296, 3)
    stored = np.array((real_scene / "pose/102.txt").read_text().split(), dtype=float).reshape(4, 4)
    line = next(x for x in (real_scene / "scene0000_00.txt").read_text().splitlines() if "axisAlignment" in x)
    alignment = np.array(line.split("=")[1].split(), dtype=float).reshape(4, 4)
    np.testing.assert_allclose(view.world_from_camera.matrix, alignment @ stored, atol=1e-5)


def test_real_photos_show_the_colours_of_the_mesh(real_scene):
    """Poses, intrinsics and alignment fit together: mesh points seen by a camera have the photo's colours there."""
    scan = READER.read(real_scene)
    for name in ("0", "11", "102"):
        view = scan.views[name]
        points = view.world_from_camera.inverse() @ scan.vertices
        pixels = np.rint(view.intrinsics.project(points))
        inside = (points[:, 2] > 0.3) & ((pixels >= 0) & (pixels < (1296, 968))).all(axis=1)
        cells = (pixels[inside] // 12).astype(int)
        cell = cells[:, 1] * 108 + cells[:, 0]
        nearest = np.full(108 * 81, np.inf)
        np.minimum.at(nearest, cell, points[inside, 2])
        front = points[inside, 2] < nearest[cell] + 0.05
        x, y = pixels[inside][front].astype(int).T
        photo = view.load_color().astype(float).mean(axis=2)
        mesh = scan.colors[inside][front].astype(float).mean(axis=1)
        assert len(mesh) > 500
        right = np.corrcoef(photo[y, x], mesh)[0, 1]
        wrong = np.corrcoef(photo[y, 1295 - x], mesh)[0, 1]
        assert right > 0.6, name
        assert wrong < right - 0.3, name
