"""Demo scans in ScanNet++'s layout through the reader, and the same room through both readers."""

import json
from dataclasses import replace

import numpy as np
import pytest

from questions.suites import SPACECAST
from scannet_tools.demo.scannetpp_labels import WORDS
from scannet_tools.labels import canonical_label
from scannet_tools.scannet import READER as SCANNET
from scannet_tools.scannetpp import READER as SCANNETPP
from scannet_tools.scannetpp import read as read_scannetpp
from spacecast.dataset.build import BuildSettings, build
from spacecast.dataset.reader import Benchmark
from spacecast.dataset.settings import REGISTERED
from spacecast.dataset.verify import verify
from spacecast.errors import InputError
from spacecast.relations import direction, distance
from spacecast.scene import Scene
from spacecast.sight import Camera, sight_of

pytest.importorskip("av")
pytest.importorskip("lz4")


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
        assert b.label == canonical_label(WORDS.get(a.raw_label, a.raw_label))
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


def distances_alone(name):
    """Of the suite one type, to be quick."""
    types = tuple(kind for kind in SPACECAST.types if kind.code == "distance")
    return replace(SPACECAST, types=types, quotas=tuple(q for q in SPACECAST.quotas if q.type_code == "distance"))


def test_a_build_shows_the_cameras_that_were_chosen_and_verify_finds_them(scan, tmp_path):
    roots, out, sources = [scan.root / "data"], tmp_path / "out", replace(REGISTERED, suite=distances_alone)
    chosen = BuildSettings(questions=2, cameras="iphone")
    report = build(roots, out, chosen, sources=sources)
    assert report.manifest["build"]["cameras"] == "iphone"
    names = {view["name"] for row in Benchmark.open(out).rows for view in row.facts["views"]}
    assert names
    assert all(name.startswith("frame_") for name in names)
    assert not [finding for finding in verify(out, roots) if finding.kind != "text_gives_answer_away"]
    with pytest.raises(InputError, match=r"other settings \(cameras 'iphone', not the default\); choose another"):
        build(roots, out, replace(chosen, cameras=None, resume=True), sources=sources)
    said = json.loads((out / "release_manifest.json").read_text())
    said["build"]["cameras"] = None
    (out / "release_manifest.json").write_text(json.dumps(said))
    assert any("is not in the scan" in finding.detail for finding in verify(out, roots))  # the DSLR's views are


def test_scans_without_a_choice_of_cameras_go_along_and_are_not_enough(scan, tmp_path):
    sources = replace(REGISTERED, suite=distances_alone)
    for root, cameras, said in (
        (scan.root / "scans", "iphone", "cameras 'iphone': none of these scans has several cameras"),
        (scan.root, "phone", "scannetpp scans have the cameras dslr, iphone, both; found 'phone'"),
    ):
        with pytest.raises(InputError, match=said):
            build([root], tmp_path / "out", BuildSettings(cameras=cameras), sources=sources)
        assert not (tmp_path / "out").exists()
