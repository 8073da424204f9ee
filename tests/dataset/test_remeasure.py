"""The second measure on meshes whose sizes, gaps and shadows are known by hand, and on a built dataset."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hand_scans import DESK, LAMP, entry, row_of, scan_of
from handmade import questions, write

from spacecast.dataset.askable import could_be_meant
from spacecast.dataset.gaps import samples
from spacecast.dataset.reader import Benchmark
from spacecast.dataset.remeasure import Remeasure
from spacecast.dataset.verify import verify
from spacecast.errors import InputError
from spacecast.scan import Instance


@pytest.mark.parametrize(
    ("other", "distance_m"),
    [
        (((1.5, 0.0, 0.5), (1.9, 0.4, 1.5)), 1.0),  # beside, face to face
        (((0.8, 0.8, 0.5), (1.2, 1.2, 1.5)), 0.5),  # edge to edge: 0.3 and 0.4
        (((0.6, 0.6, 1.7), (1.0, 1.0, 2.0)), 0.3),  # corner to corner: 0.1, 0.2, 0.2
        (((-0.2, 0.1, 1.8), (0.2, 0.3, 2.0)), 0.3),  # above, within its outline
    ],
)
def test_distances_by_hand(other, distance_m) -> None:
    measure = Remeasure(scan_of({1: DESK, 2: ("lamp", *other)}))
    assert measure.distance_m(1, 2) == pytest.approx(distance_m, abs=0.005)
    assert measure.distance_m(2, 1) == measure.distance_m(1, 2)


def test_samples_lie_on_the_triangle_and_are_dense() -> None:
    triangle = np.array([[[0.0, 0, 0], [1.0, 0, 0], [0.0, 1.0, 0]]])
    points = samples(triangle, 0.1)
    assert (points >= 0).all()
    assert (points[:, :2].sum(axis=1) <= 1 + 1e-9).all()
    rng = np.random.default_rng(0)
    weights = rng.dirichlet((1, 1, 1), 300)
    inside = weights @ triangle[0]
    assert np.linalg.norm(inside[:, None] - points[None], axis=2).min(axis=1).max() < 0.1


def test_a_screen_hides_half_of_a_desk() -> None:
    """Unlabelled, halfway to the camera: it covers x < 0 of the desk's front; -1 is what hides it."""
    scan = scan_of({1: DESK, -1: ("", (-1.0, -2.05, 0.0), (0.0, -2.0, 2.0))})
    seen = Remeasure(scan).seen("7", 1)
    front = 500 * 1.0 / 4.0  # one metre wide and high, four metres away
    assert seen.silhouette_px == pytest.approx(front * front, rel=0.03)
    assert seen.blocked == pytest.approx(0.5, abs=0.02)
    assert seen.opened == pytest.approx(seen.blocked, abs=0.01)
    assert seen.opened_near == pytest.approx(seen.blocked, abs=0.01)
    assert seen.truncation == 0.0


def test_a_sliver_is_blocked_and_not_opened() -> None:
    wire = ("", (-0.005, -2.0, 0.0), (0.005, -1.99, 2.0))  # 2.5 pixels wide
    seen = Remeasure(scan_of({1: DESK, -1: wire})).seen("7", 1)
    assert 0.01 < seen.blocked < 0.03
    assert seen.opened == 0.0


def test_what_is_carried_does_not_count_as_near() -> None:
    scan = scan_of({1: DESK, 2: ("cup", (-0.5, -0.2, 0.5), (0.5, -0.1, 1.0))})
    measure = Remeasure(scan)
    assert measure.seen("7", 1, frozenset({2})).opened_near == 0.0
    assert measure.seen("7", 1).opened_near > 0.4


def test_truncation_counts_what_lies_beyond_the_picture() -> None:
    edge = 319.5 / 500 * 4.0  # x at which the picture ends, four metres away
    half = ("desk", (edge - 0.5, 0.0, 0.5), (edge + 0.5, 0.02, 1.5))
    assert Remeasure(scan_of({1: half})).seen("7", 1).truncation == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("change", [None, {"kind": "remove", "object": 1, "removed": [1]}])
def test_what_is_built_in_and_goes_is_found(change) -> None:
    """As what an attachment question moves, or what is removed; that it is asked about is no fault."""
    scan = scan_of({1: (*DESK, {"installed"}), 2: LAMP})
    kind = "attachment" if change is None else "occlusion"
    for own, other, is_found in ((1, 2, True), (2, 1, False)):
        target = own if change is None else other
        row = row_of(
            scan, kind, {"value": "x"}, [entry(1, DESK, ["a"]), entry(2, LAMP, ["b"])], target=target, reference=None
        )
        facts = {**row.facts, "intervention": change and {**change, "object": own}}
        found = [detail for _, detail in Remeasure(scan).askable.problems(facts)]
        assert any("is built in, and moved" in detail for detail in found) is is_found


def test_right_facts_have_no_problems() -> None:
    scan = scan_of({1: DESK, 2: LAMP})
    objects = [entry(1, DESK, ["one"]), entry(2, LAMP, ["other"])]
    assert Remeasure(scan).row_problems(row_of(scan, "distance", {"value": "close", "distance_m": 1.0}, objects)) == []


def test_wrong_facts_are_problems() -> None:
    scan = scan_of({1: DESK, 2: LAMP})
    objects = [entry(1, DESK, ["one"]), entry(2, LAMP, ["other"])]

    def found(change_objects=lambda o: None, distance_m=1.0, view=lambda v: None):
        copy = json.loads(json.dumps(objects))
        change_objects(copy)
        row = row_of(scan, "distance", {"value": "close", "distance_m": distance_m}, copy)
        record = json.loads(row.source_record_json)
        view(record["facts"]["views"][0])
        return {kind for kind, _ in Remeasure(scan).row_problems(replace(row, source_record_json=json.dumps(record)))}

    assert found() == set()
    assert found(distance_m=1.02) == {"distance"}
    assert found(lambda o: o[0]["aabb"]["max"].__setitem__(0, 0.52)) == {"box"}
    assert found(lambda o: o[0]["obb"].update(size=[1.2, 0.5, 1.0])) == {"box"}
    assert found(lambda o: o[0]["obb"].update(yaw_deg=30.0)) == {"box"}
    assert found(lambda o: o[0].update(label="table")) == {"scan"}
    assert found(lambda o: o[0].update(id=99)) == {"scan"}
    assert found(view=lambda v: v["world_from_camera"].__setitem__(3, 0.01)) == {"pose"}
    assert found(view=lambda v: v["pixel_from_camera"].__setitem__(0, 501.0)) == {"pose"}
    assert found(view=lambda v: v.update(name="8")) == {"scan"}


def test_an_occlusion_that_the_scan_does_not_show_is_found() -> None:
    scan = scan_of({1: DESK, -1: ("", (-1.0, -2.05, 0.0), (0.0, -2.0, 2.0))})
    true = Remeasure(scan).seen("7", 1)
    numbers = {"value": "occluded", "blocked": true.blocked, "opened": true.opened, "silhouette_px": true.silhouette_px}
    objects = [entry(1, DESK, ["target"])]

    def found(**change):
        row = row_of(scan, "occlusion", {**numbers, **change}, objects, reference=None)
        return [kind for kind, _ in Remeasure(scan).row_problems(row)]

    assert found() == []
    assert found(blocked=true.blocked + 0.02) == ["occlusion"]
    assert found(opened=0.0) == ["occlusion"]
    assert found(silhouette_px=true.silhouette_px + 300) == ["occlusion"]
    assert "occlusion" in found(value="not visible", blocked=1.0, opened=1.0)


def test_an_edge_in_the_middle_of_a_pixel_is_no_fault() -> None:
    """A slat five pixels wide, 0.02 beyond the middles of the outer ones: a ray 0.05 to the right misses the last, and
    what is four pixels wide is not opened."""
    left, right = ((column - 319.5) * 1.95 / 500.0 for column in (316.98, 321.02))
    scan = scan_of({1: DESK, -1: ("", (left, -2.05, 0.0), (right, -2.0, 2.0))})
    measure = Remeasure(scan)
    there, beside = measure.now.seen("7", 1), measure.now.nudged(0.05, 0.0).seen("7", 1)
    assert there.opened == pytest.approx(5 / 125, abs=0.002)
    assert beside.opened == 0.0
    assert measure.now.seen("7", 1) == there

    def found(opened: float) -> list[str]:
        numbers = {
            "value": "not occluded", "blocked": there.blocked, "opened": opened, "silhouette_px": there.silhouette_px,
        }  # fmt: skip
        row = row_of(scan, "occlusion", numbers, [entry(1, DESK, ["target"])], reference=None)
        return [detail for _, detail in measure.row_problems(row)]

    assert found(there.opened) == []
    assert found(beside.opened) == []
    assert found(0.02) == [f"before: opened 0.02, measured again {there.opened:.4f}"]
    assert found(0.06) == [f"before: opened 0.06, measured again {there.opened:.4f}"]


def test_a_second_chair_makes_the_name_useless() -> None:
    twin = ("desk", (-1.9, 0.0, 0.5), (-1.5, 0.4, 1.5))
    scan = scan_of({1: DESK, 2: LAMP, 3: twin})
    objects = [entry(1, DESK, ["one"]), entry(2, LAMP, ["other"])]
    problems = Remeasure(scan).row_problems(row_of(scan, "distance", {"value": "close", "distance_m": 1.0}, objects))
    assert [kind for kind, _ in problems] == ["names"]
    assert "could also mean" in problems[0][1]


def test_a_named_object_that_is_hidden_is_found() -> None:
    wall = ("", (-1.0, -2.05, 0.0), (0.6, -2.0, 2.0))
    scan = scan_of({1: DESK, 2: LAMP, -1: wall})
    objects = [entry(1, DESK, ["one"]), entry(2, LAMP, ["other"])]
    problems = Remeasure(scan).row_problems(row_of(scan, "distance", {"value": "close", "distance_m": 1.0}, objects))
    assert [kind for kind, _ in problems] == ["names"]
    assert "object 1 is not to be seen" in problems[0][1]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (Instance(1, "table", "table"), Instance(2, "table", "table"), True),
        (Instance(1, "coffee table", "coffee table"), Instance(2, "table", "table"), True),
        (Instance(1, "table", "table"), Instance(2, "vegetable", "vegetable"), False),
        (Instance(1, "sofa", "sofa", class_group="sofa|sofa"), Instance(2, "couch", "couch", class_group="sofa|sofa"),
        True),
        (Instance(1, "lamp", "lamp", synset="lamp.n.01"), Instance(2, "light", "light", synset="lamp.n.01"), True),
        (Instance(1, "lamp", "lamp"), Instance(2, "bed", "bed"), False),
        (Instance(1, "tv", "tv", meanings=frozenset({"display"})),
        Instance(2, "monitor", "monitor", meanings=frozenset({"display", "desk things"})), True),
    ],
)  # fmt: skip
def test_names_that_could_mean_another(one, other, same) -> None:
    assert could_be_meant(one, other) is same
    assert could_be_meant(other, one) is same


# -- a built dataset ------------------------------------------------------------------------------------------------


def test_a_built_dataset_holds_against_its_scans(demo_benchmark: Path, demo_root: Path) -> None:
    findings = verify(demo_benchmark, [demo_root])
    assert [str(finding) for finding in findings] == []


def test_a_scan_that_is_not_there_is_a_finding(demo_root: Path, tmp_path: Path) -> None:
    rows = [row for row in questions(scenes=1) if row.source_type == "distance"][:1]
    elsewhere = write(tmp_path, [replace(rows[0], scene_id="scene9999_00")])
    found = [finding for finding in verify(elsewhere, [demo_root]) if finding.kind == "scan"]
    assert [finding.where for finding in found] == ["scannet/scene9999_00"]


def test_a_photo_that_was_exchanged_is_found(demo_benchmark: Path, demo_root: Path, tmp_path: Path) -> None:
    """Of the same size, and the manifest written anew: only the scan can tell."""
    data = Benchmark.open(demo_benchmark)
    single = [row for row in data.rows if len(row.image_paths) == 1]
    row = next(row for row in single if row.source_type == "distance")
    other = next(r for r in single if r.scene_id == row.scene_id and r.image_name != row.image_name)
    for picture, kinds in ((row, set()), (other, {"picture"})):
        folder = tmp_path / picture.question_uid
        write(folder, [row], pictures=[[p.encoded for p in data.pictures(picture.question_uid)]])
        assert {finding.kind for finding in verify(folder, [demo_root])} == kinds


def test_a_scan_that_cannot_be_read_is_a_finding_and_the_others_are_looked_at(
    demo_benchmark: Path, demo_root: Path, tmp_path: Path
) -> None:
    root = shutil.copytree(demo_root, tmp_path / "raw")
    mesh = sorted(root.rglob("*_vh_clean_2.ply"))[0]
    mesh.write_bytes(mesh.read_bytes()[:5_000])
    found = verify(demo_benchmark, [root])
    assert [(finding.kind, finding.where.partition("/")[2]) for finding in found] == [("scan", mesh.parent.name)]
    assert mesh.name in found[0].detail


def test_a_root_without_scans_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        verify(write(tmp_path / "set", questions(scenes=1)[:1]), [tmp_path])
