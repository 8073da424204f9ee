"""Demo scans: what they have to be, read from the files that were written."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import laplace
from scipy.spatial import cKDTree

from scannet_tools.demo import furniture, things
from scannet_tools.demo.command import Demo
from scannet_tools.demo.furnish import KINDS, MAX_OBJECTS, MIN_OBJECTS, furnished
from scannet_tools.demo.label_map import COLUMNS, FILE_NAME, LABELS
from scannet_tools.demo.shapes import Blob, Material, Turned, slab, vessel
from scannet_tools.demo.write import TRUTH_NAME, write_demo, write_demo_scan
from scannet_tools.ply import read_ply
from scannet_tools.scannet import READER
from scannet_tools.sens import SensFile
from spacecast.cli import main
from spacecast.dataset.chance import generator
from spacecast.errors import SpacecastError

SEED = 5
CLAY = Material("plain", (0.5, 0.5, 0.5))


@dataclass(frozen=True)
class Written:
    folder: Path
    truth: dict
    world: np.ndarray
    """(n, 3) vertices of the file, carried into the world by the truth's own matrix."""
    faces: np.ndarray
    ids: np.ndarray
    """(n,) objectId of the annotation, read here without the reader; -1 where there is none."""


def _read(folder: Path) -> Written:
    name = folder.name
    truth = json.loads((folder / "truth.json").read_text())
    mesh = read_ply(folder / f"{name}_vh_clean_2.ply")
    segments = np.array(json.loads((folder / f"{name}_vh_clean_2.0.010000.segs.json").read_text())["segIndices"])
    groups = json.loads((folder / f"{name}.aggregation.json").read_text())["segGroups"]
    ids = np.full(len(segments), -1)
    for group in groups:
        ids[np.isin(segments, group["segments"])] = group["objectId"]
    scan_from_world = np.array(truth["scan_from_world"]).reshape(4, 4)
    points = np.c_[mesh.vertices.astype(float), np.ones(len(mesh.vertices))]
    world = (np.linalg.inv(scan_from_world) @ points.T).T[:, :3]
    return Written(folder, truth, world, mesh.faces, ids)


@pytest.fixture(scope="module")
def root(once):
    return once("demo-of-another-seed", lambda directory: write_demo(directory, 2, SEED, workers=2))


@pytest.fixture(scope="module")
def scans(root):
    return [_read(folder) for folder in sorted((root / "scans").iterdir())]


def _layouts(count=12, seed=SEED):
    return [furnished(generator("test", seed, k), KINDS[k % len(KINDS)]) for k in range(count)]


@pytest.fixture(scope="module")
def layouts():
    return _layouts()


def _digests(folder: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.iterdir())}


# What is written


def test_the_same_seed_gives_the_same_bytes_whatever_else_is_written(root, tmp_path):
    alone = write_demo_scan(tmp_path, seed=SEED, index=1)
    assert _digests(alone) == _digests(root / "scans" / "scene0001_00")
    assert (tmp_path / FILE_NAME).read_bytes() == (root / FILE_NAME).read_bytes()


def test_files_are_those_of_a_scannet_scene_and_the_truth(scans):
    for scan in scans:
        name = scan.folder.name
        assert sorted(p.name for p in scan.folder.iterdir()) == sorted(
            [
                f"{name}.aggregation.json",
                f"{name}.sens",
                f"{name}.txt",
                f"{name}_vh_clean_2.0.010000.segs.json",
                f"{name}_vh_clean_2.ply",
                "truth.json",
            ]
        )


def test_two_seeds_look_different():
    for one, other in zip(_layouts(4, 0), _layouts(4, 1), strict=True):
        assert abs(one.room.polygon.area - other.room.polygon.area) > 0.01
        assert {p.thing.label for p in one.placed} != {p.thing.label for p in other.placed}
        assert one.style != other.style


def test_raw_frame_is_not_the_aligned_one_and_the_alignment_undoes_it(scans):
    for scan in scans:
        text = (scan.folder / f"{scan.folder.name}.txt").read_text()
        (line,) = [line for line in text.splitlines() if line.startswith("axisAlignment")]
        world_from_scan = np.array([float(x) for x in line.split("=")[1].split()]).reshape(4, 4)
        scan_from_world = np.array(scan.truth["scan_from_world"]).reshape(4, 4)
        assert np.abs(world_from_scan @ scan_from_world - np.eye(4)).max() < 1e-4
        yaw = np.degrees(np.arctan2(world_from_scan[1, 0], world_from_scan[0, 0]))
        assert min(abs(yaw - turn) for turn in (-180, -90, 0, 90, 180)) > 10
        assert np.linalg.norm(world_from_scan[:3, 3]) > 1


def test_reader_reads_it_and_does_not_need_the_truth(scans, tmp_path):
    for scan in scans:
        copy = tmp_path / scan.folder.name
        copy.mkdir()
        for path in scan.folder.iterdir():
            if path.name != "truth.json":
                (copy / path.name).write_bytes(path.read_bytes())
        read = READER.read(copy)
        assert read.is_aligned
        assert np.abs(read.vertices - scan.world).max() < 1e-4
        assert (read.instance_ids == scan.ids).all()
        assert {i: x.raw_label for i, x in read.instances.items()} == {
            o["id"]: o["label"] for o in scan.truth["objects"]
        }
        lost = [pose for pose in scan.truth["poses"] if pose["lost"]]
        assert 1 <= len(lost) <= 2
        assert len(read.views) == len(scan.truth["poses"]) - len(lost)
        for pose in scan.truth["poses"]:
            if not pose["lost"]:
                world_from_camera = np.array(pose["world_from_camera"]).reshape(4, 4)
                assert np.abs(read.views[str(pose["frame"])].world_from_camera.matrix - world_from_camera).max() < 1e-4


def test_label_map_has_a_row_for_every_label_in_the_published_columns(root, scans):
    lines = (root / FILE_NAME).read_text().splitlines()
    assert lines[0].split("\t") == list(COLUMNS)
    rows = [dict(zip(COLUMNS, line.split("\t"), strict=True)) for line in lines[1:]]
    known = {row["raw_category"] for row in rows}
    assert len(known) == len(rows) == len(LABELS)
    assert {o["label"] for scan in scans for o in scan.truth["objects"]} <= known
    chance, style = generator("every recipe"), furniture.Style.drawn(generator("style"))
    made = {
        recipe(chance, style).label
        for module in (furniture, things)
        for name, recipe in sorted(vars(module).items())
        if getattr(recipe, "__annotations__", {}).get("return") == "Thing" and not name.startswith("_")
        if len(recipe.__annotations__) == 3
    }
    assert len(made) > 50
    assert made <= known


# The room


def test_rooms_are_10_to_40_m2_and_some_are_l_shaped(layouts):
    areas = [layout.room.polygon.area for layout in layouts]
    assert min(areas) >= 10
    assert max(areas) <= 40
    assert {len(layout.room.corners) for layout in layouts} == {4, 6}
    assert max(areas) > 1.5 * min(areas)


def test_each_room_has_12_to_40_objects_and_all_rooms_30_labels(layouts):
    labels = set()
    for layout in layouts:
        objects = [p for p in layout.placed if p.thing.labelled and p.support != "structure"]
        assert MIN_OBJECTS <= len(objects) <= MAX_OBJECTS
        labels |= {p.thing.label for p in objects}
        assert any(not p.thing.labelled for p in layout.placed)
    assert (MIN_OBJECTS, MAX_OBJECTS) == (12, 40)
    assert len(labels) >= 30


def test_chains_of_two_and_of_three_links(layouts):
    def depth(layout, placed):
        return 0 if placed.parent is None else 1 + depth(layout, layout.placed[placed.parent])

    for layout in layouts:
        depths = [depth(layout, p) for p in layout.placed if p.thing.labelled]
        assert max(depths) == 3
        assert depths.count(2) >= 1


def test_labels_repeat_and_furniture_is_turned(layouts):
    repeated = turned = 0
    for layout in layouts:
        labels = [p.thing.label for p in layout.placed if p.support == "floor"]
        repeated += any(labels.count(label) >= 2 for label in labels)
        turned += any(
            5 < p.pose.yaw_deg % 90 < 85 for p in layout.placed if p.support == "floor" and p.thing.size[0] > 0.4
        )
    assert repeated >= 6
    assert turned >= 10


def test_things_on_the_floor_are_apart_and_inside(layouts):
    for layout in layouts:
        standing = [(p.footprint, p.thing.label) for p in layout.placed if p.support == "floor"]
        for number, (shape, label) in enumerate(standing):
            assert layout.room.polygon.contains(shape), label
            for other, other_label in standing[:number]:
                assert shape.distance(other) >= 0.079, (label, other_label)


def test_what_is_carried_is_over_its_carrier_and_apart_from_others_there(layouts):
    for layout in layouts:
        for number, p in enumerate(layout.placed):
            if p.parent is None:
                continue
            carrier = layout.placed[p.parent]
            shape = p.footprint
            assert carrier.footprint.buffer(0.002).contains(shape), (
                p.thing.label,
                carrier.thing.label,
            )
            for other in layout.placed[:number]:
                if other.parent == p.parent and other.spot == p.spot:
                    assert shape.distance(other.footprint) >= 0.099


# Mesh and annotation


def test_vertex_spacing_is_2_to_4_cm_and_noise_is_millimetres(scans):
    for scan in scans:
        edges = np.concatenate([scan.faces[:, [0, 1]], scan.faces[:, [1, 2]], scan.faces[:, [2, 0]]])
        lengths = np.linalg.norm(scan.world[edges[:, 0]] - scan.world[edges[:, 1]], axis=1)
        assert 0.02 <= np.median(lengths) <= 0.04
        (floor,) = [o["id"] for o in scan.truth["objects"] if o["label"] == "floor"]
        height = scan.world[scan.ids == floor, 2]
        level = height[np.abs(height) < 0.01]  # not what it bled up
        assert 0.001 < level.std() < 0.003


def test_small_things_keep_60_vertices(scans):
    for scan in scans:
        for item in scan.truth["objects"]:
            if not item["structure"]:
                assert item["vertices"] >= 60, item["label"]
                assert (scan.ids == item["id"]).sum() >= 40, item["label"]


def test_boxes_of_labelled_vertices_agree_with_the_truth_to_3_cm(scans):
    for scan in scans:
        for item in scan.truth["objects"]:
            points = scan.world[scan.ids == item["id"]]
            assert np.abs(points.min(axis=0) - item["min"]).max() <= 0.03, item["label"]
            assert np.abs(points.max(axis=0) - item["max"]).max() <= 0.03, item["label"]
            if not item["bled_onto"] and not item["bled_away"]:
                assert np.abs(points.min(axis=0) - item["min"]).max() <= 0.005, item["label"]
                assert np.abs(points.max(axis=0) - item["max"]).max() <= 0.005, item["label"]


def test_labels_bleed_and_objects_are_several_segments_and_some_surface_is_unlabelled(scans):
    for scan in scans:
        assert sum(o["bled_onto"] > 0 for o in scan.truth["objects"]) >= 3
        segments = json.loads((scan.folder / f"{scan.folder.name}_vh_clean_2.0.010000.segs.json").read_text())[
            "segIndices"
        ]
        groups = json.loads((scan.folder / f"{scan.folder.name}.aggregation.json").read_text())["segGroups"]
        assert all(len(group["segments"]) >= 2 for group in groups)
        named = [s for group in groups for s in group["segments"]]
        assert len(named) == len(set(named))
        assert set(segments) - set(named)
        assert (scan.ids == -1).sum() > 60
        ids = [group["objectId"] for group in groups]
        assert ids[0] == 0
        assert len(set(ids)) == len(ids) < max(ids) + 1  # gaps


def test_hidden_faces_are_holes_and_touching_things_are_welded(scans):
    for scan in scans:
        by_id = {o["id"]: o for o in scan.truth["objects"]}
        corners = scan.ids[scan.faces]
        centre = scan.world[scan.faces].mean(axis=1)
        (floor,) = [o["id"] for o in scan.truth["objects"] if o["label"] == "floor"]
        under = 0.0
        for item in by_id.values():
            if (
                item["support"] == "floor"
                and item["min"][2] < 0.05
                and item["label"] in ("wardrobe", "dresser", "cabinet", "bed", "tv stand", "file cabinet")
            ):
                middle = np.array(item["center"])[:2]
                near = (corners == floor).all(axis=1) & (np.linalg.norm(centre[:, :2] - middle, axis=1) < 0.15)
                under += near.sum()
        assert under == 0  # no camera saw the floor there
        for edge in scan.truth["attachment"]:
            if edge["kind"] == "supported_by" and not by_id[edge["child"]]["bled_onto"]:
                mixed = (corners == edge["parent"]).any(axis=1) & (corners == edge["child"]).any(axis=1)
                assert mixed.any(), (by_id[edge["parent"]]["label"], by_id[edge["child"]]["label"])


def test_children_rest_on_their_carriers(scans):
    for scan in scans:
        by_id = {o["id"]: o for o in scan.truth["objects"]}
        assert len(scan.truth["attachment"]) >= 3
        for edge in scan.truth["attachment"]:
            parent, child = by_id[edge["parent"]], by_id[edge["child"]]
            near, _ = cKDTree(scan.world[scan.ids == parent["id"]]).query(scan.world[scan.ids == child["id"]])
            assert near.min() < (0.1 if edge["kind"] == "contained_in" else 0.05), (parent["label"], child["label"])
            if edge["kind"] == "contained_in":
                low, high = np.array(parent["min"]) - 0.01, np.array(parent["max"]) + 0.01
                assert (np.array(child["min"]) >= low).all()
                assert (np.array(child["max"]) <= high).all()


# Frames


def test_pictures_and_depth(scans):
    for scan in scans:
        sens = SensFile.open(scan.folder / f"{scan.folder.name}.sens")
        assert 40 <= len(sens) <= 80
        sharp, gaps, errors = [], [], []
        for number in range(0, len(sens), 3):
            color = Image.fromarray(sens[number].color()).convert("L")
            quarter = np.asarray(color.resize((color.width // 4, color.height // 4), Image.Resampling.BOX), dtype=float)
            sharp.append(laplace(quarter).var())
            depth = sens[number].depth()
            gaps.append((depth == 0).mean())
            errors.append(_depth_error(scan, sens, number, depth))
        assert np.mean(np.array(sharp) >= 50) > 0.8
        assert 0.002 < np.mean(gaps) < 0.3
        assert np.nanmedian(errors) < 0.02


def _depth_error(scan, sens, number, depth):
    """Median distance of depth points from the nearest vertex of the mesh, less what the grid makes of it."""
    pose = scan.truth["poses"][number]
    world_from_camera = np.array(pose["world_from_camera"]).reshape(4, 4)
    k = sens.header.intrinsic_depth
    v, u = np.nonzero(depth)
    pick = slice(None, None, 97)
    z = depth[v, u][pick]
    points = np.stack([(u[pick] - k[0, 2]) / k[0, 0] * z, (v[pick] - k[1, 2]) / k[1, 1] * z, z, np.ones_like(z)])
    away, _ = cKDTree(scan.world).query((world_from_camera @ points).T[:, :3])
    return float(np.median(away))


def test_camera_is_held_by_a_hand(scans):
    for scan in scans:
        poses = np.array([pose["world_from_camera"] for pose in scan.truth["poses"]]).reshape(-1, 4, 4)
        assert (poses[:, 2, 3] > 1.25).all()
        assert (poses[:, 2, 3] < 1.75).all()
        steps = np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1)
        assert steps.max() < 0.8
        roll = np.degrees(np.arcsin(np.abs(poses[:, 2, 0])))
        assert 0.2 < np.median(roll) < 6
        assert roll.max() < 15
        pitch = np.degrees(np.arcsin(poses[:, 2, 2]))
        assert pitch.min() > -55
        assert pitch.max() < 12


# Solids and the command


@pytest.mark.parametrize(
    ("part", "volume"),
    [
        (slab(CLAY, (0.3, 0.2, 0.1), (1, 2, 3), yaw_deg=30, tilt_deg=10), 0.006),
        (Turned(((0, 0), (0.1, 0), (0.1, 0.2), (0, 0.2)), (0, 0, 0), CLAY), np.pi * 0.01 * 0.2),
        (vessel(CLAY, 0.1, 0.1, 0.2, thick=0.02), np.pi * (0.01 * 0.2 - 0.0064 * 0.18)),
        (Blob((0.2, 0.3, 0.4), (0, 0, 0), CLAY), np.pi / 6 * 0.024),
    ],
)
def test_parts_are_closed_and_face_outward(part, volume):
    mesh = part.mesh(0.01)
    edges = np.concatenate([mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]], mesh.faces[:, [2, 0]]])
    assert {tuple(e) for e in edges.tolist()} == {tuple(e) for e in edges[:, ::-1].tolist()}
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6 == pytest.approx(volume, rel=0.03)
    side = np.linalg.norm(mesh.vertices[edges[:, 0]] - mesh.vertices[edges[:, 1]], axis=1)
    assert side.max() < 0.01 * 2.2


def test_blob_stands_at_its_foot_and_has_its_size():
    mesh = Blob((0.2, 0.3, 0.4), (1, 2, 3), CLAY, 0.5).mesh(0.01)
    assert mesh.vertices[:, 2].min() == pytest.approx(3.0, abs=1e-9)
    assert np.ptp(mesh.vertices, axis=0) == pytest.approx([0.2, 0.3, 0.4], abs=0.003)


def test_an_unknown_layout_is_refused_in_one_line(tmp_path):
    with pytest.raises(SpacecastError, match="known: scannet, scannetpp, both") as error:
        Demo(tmp_path, layout="kitti").run()
    assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())


def test_directory_that_is_a_file_is_refused(tmp_path):
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(SpacecastError, match="is a file"):
        write_demo(path, 1, 0)
    with pytest.raises(SpacecastError, match="0 scenes"):
        write_demo(tmp_path, 0, 0)


@pytest.mark.parametrize(
    ("places", "named"),
    [
        (["notes/thesis.txt"], "notes"),
        (["scannetv2-labels.combined.tsv"], "scannetv2-labels.combined.tsv"),
        (["DEMO.txt", "thesis.txt"], "thesis.txt"),
        (["DEMO.txt", "scans/scene0000_00/scene0000_00.sens"], "scans/scene0000_00"),
        (["DEMO.txt", "data/0123456789/truth.json", "data/9876543210/dslr/a.jpg"], "data/9876543210"),
    ],
)
def test_a_folder_with_anything_else_in_it_is_refused_and_left_as_it_was(places, named, tmp_path, capsys):
    for place in places:
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    assert main(["demo", str(tmp_path), "--scenes", "1"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        f"spacecast: {tmp_path}: holds {named}, which is of no demo; give an empty folder, or one of demo scans\n"
    )
    assert sorted(tmp_path.rglob("*")) == before
    assert all((tmp_path / place).read_text() == "mine" for place in places)


def test_a_demo_is_added_to_also_where_it_was_stopped(tmp_path, monkeypatch):
    """Stopped in the middle of a scene's walk, before any picture: the second time is past the look at the folder."""

    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    for name in ("faces_seen", "dslr_sees"):
        monkeypatch.setattr(f"scannet_tools.demo.write.{name}", lambda *args, **kwargs: 0)
    monkeypatch.setattr("scannet_tools.demo.write.photo_of", stop)
    (tmp_path / ".DS_Store").touch()
    (tmp_path / "scans").mkdir()
    (tmp_path / "DEMO.txt").touch()
    for layout in ("scannet", "both", "scannet"):
        with pytest.raises(KeyboardInterrupt):
            write_demo_scan(tmp_path, seed=SEED, index=0, layout=layout)
    assert (tmp_path / "scans" / "scene0000_00" / TRUTH_NAME).is_file()
    assert len(list((tmp_path / "data").iterdir())) == 1
