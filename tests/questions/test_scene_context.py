"""What a view shows: which objects can be named in it and are to be seen, and why others are not."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from box_scans import FLOOR_ID, INTRINSICS, Box, box_scan, looking, on_floor

from spacecast.dataset.context import SETTINGS, SceneContext, _written_yaw_deg
from spacecast.dataset.types import Refusal
from spacecast.scan import Scan, View

CAMERA = looking((0.0, -4.0, 1.8), (0.0, 0.5, 0.3))
PAIR = [on_floor(1, "chair", -0.8, 0.5), on_floor(2, "lamp", 0.8, 0.5)]


def record_of(boxes: list[Box], camera: object = CAMERA):
    context = SceneContext(box_scan([*PAIR, *boxes], {"0": camera}), pictures="render")
    return context.record("0")


def test_what_is_in_plain_sight_is_seen() -> None:
    record = record_of([])
    assert record.seen_ids == (1, 2)
    assert record.problems == {}
    assert record.visible_ids == {1, 2, FLOOR_ID}
    assert (record.width, record.height) == (640, 480)


def test_two_chairs_cannot_be_told_apart() -> None:
    record = record_of([on_floor(3, "office chair", 0.0, 1.5)])
    assert record.seen_ids == (2,)
    assert record.problems == {1: "not_unique", 3: "not_unique"}


def test_a_second_chair_outside_the_picture_does_no_harm() -> None:
    record = record_of([on_floor(3, "office chair", 0.0, -5.0)])
    assert record.seen_ids == (1, 2)
    assert record.problems == {3: "not_in_view"}


def test_a_second_chair_that_is_wholly_hidden_does_no_harm() -> None:
    wall = Box(4, "wall", (-0.8, 1.2, 1.2), (1.6, 0.1, 2.4), frozenset({"structure"}))
    assert record_of([wall, on_floor(3, "office chair", -0.8, 1.6)]).seen_ids == (1, 2)


def test_a_far_small_thing_is_too_small() -> None:
    cup = Box(3, "vase", (0.0, 3.5, 0.05), (0.1, 0.1, 0.1))
    record = record_of([cup])
    assert record.problems == {3: "too_small"}
    assert 16 <= record.visibility[3].visible_px < 400


def test_a_thing_cut_by_the_frame_is_truncated() -> None:
    sofa = Box(3, "sofa", (5.0, 0.5, 0.4), (6.0, 0.8, 0.8))
    record = record_of([sofa])
    assert record.problems == {3: "truncated"}
    assert record.visibility[3].truncation > 0.65
    shorter = Box(3, "sofa", (2.5, 0.5, 0.4), (2.0, 0.8, 0.8))
    assert record_of([shorter]).problems == {}


def test_a_thing_behind_another_is_hidden() -> None:
    bed = Box(3, "bed", (0.0, 2.5, 0.5), (2.0, 1.0, 1.0))
    screen = Box(4, "screen", (-0.3, 1.6, 0.75), (1.5, 0.1, 1.5))
    record = record_of([bed, screen])
    assert record.problems == {3: "hidden"}
    seen = record.visibility[3]
    assert seen.visible_px >= 400
    assert seen.visible_px < 0.35 * seen.silhouette_px


def test_unlabelled_surface_hides_too() -> None:
    bed = Box(3, "bed", (0.0, 2.5, 0.5), (2.0, 1.0, 1.0))
    screen = Box(4, None, (-0.3, 1.6, 0.75), (1.5, 0.1, 1.5))
    assert record_of([bed, screen]).problems == {3: "hidden"}


def with_depth(scan: Scan, depth: np.ndarray) -> Scan:
    views = {
        name: View(name, v.world_from_camera, v.intrinsics, load_depth=lambda: depth, depth_intrinsics=INTRINSICS)
        for name, v in scan.views.items()
    }
    return Scan(**{f.name: getattr(scan, f.name) for f in fields(scan) if f.name != "views"}, views=views)


def test_where_the_sensor_saw_something_in_front_an_object_is_skipped() -> None:
    scan = box_scan(PAIR, {"0": CAMERA})
    look = SceneContext(scan, pictures="render").look("0")
    depth = look.image.depth.copy()
    depth[~np.isfinite(depth)] = 0.0
    agreed = SceneContext(with_depth(scan, depth), pictures="render").record("0")
    assert agreed.seen_ids == (1, 2)
    depth[look.mask(1)] = 1.0  # a hand's breadth in front of the camera
    record = SceneContext(with_depth(scan, depth), pictures="render").record("0")
    assert record.seen_ids == (2,)
    assert record.problems == {1: "depth_disagrees"}


@pytest.mark.parametrize(
    ("box", "reason"),
    [
        (on_floor(3, "object", 0, 1.5, traits=frozenset({"clutter"})), "clutter"),
        (on_floor(3, "books", 0, 1.5, traits=frozenset({"collective"})), "collective"),
        (Box(3, "coin", (0, 1.5, 0.02), (0.04, 0.04, 0.04)), "small"),
    ],
)
def test_what_is_never_asked_about(box: Box, reason: str) -> None:
    context = SceneContext(box_scan([*PAIR, box], {"0": CAMERA}), pictures="render")
    assert context.askable_ids == (1, 2)
    assert Refusal("object", reason, f"{box.label} 3") in context.object_refusals
    assert 3 not in context.record("0").seen_ids


def test_clutter_of_the_size_of_a_chair_takes_its_name() -> None:
    same = on_floor(3, "object", 0.0, 1.5, traits=frozenset({"clutter"}))
    larger = on_floor(3, "object", 0.0, 1.5, side=1.0, height=1.0, traits=frozenset({"clutter"}))
    assert record_of([same]).seen_ids == ()
    assert record_of([larger]).seen_ids == (1, 2)


def test_refused_frames_are_counted_with_reasons() -> None:
    away = looking((0.0, -4.0, 1.8), (0.0, -9.0, 0.3))
    context = SceneContext(box_scan(PAIR, {"0": CAMERA, "1": away}), pictures="render")
    assert context.view_names == ("0",)
    assert context.view_refusals == (Refusal("view", "few_objects", "1"),)


def test_a_picture_has_the_size_that_it_is_written_in() -> None:
    photo = np.repeat(np.random.default_rng(0).integers(60, 190, (480, 640, 1), dtype=np.uint8), 3, axis=2)
    large = INTRINSICS.scaled_to(1296, 968)
    scan = box_scan(PAIR, {"0": CAMERA}, photo=lambda: photo)
    views = {"0": replace(scan.views["0"], intrinsics=large)}
    scan = Scan(**{f.name: getattr(scan, f.name) for f in fields(scan) if f.name != "views"}, views=views)
    written = SceneContext(scan, pictures="photos").view_facts("0", "image")
    assert (written["width"], written["height"]) == (1296, 968)
    assert written["pixel_from_camera"] == large.matrix.reshape(-1).round(4).tolist()
    drawn = SceneContext(scan, pictures="render").view_facts("0", "image")
    assert (drawn["width"], drawn["height"]) == (SETTINGS.render_width_px, 478)
    assert SceneContext(scan, pictures="render").picture_camera("0").intrinsics.width == SETTINGS.render_width_px


def test_each_view_is_cast_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from spacecast.sight.sight import Sight

    cast: list[int] = []
    plain = Sight.image_and_crops

    def counted(self: Sight, camera: object, threads: int = 0):
        cast.append(camera.intrinsics.width)
        assert threads == 1
        return plain(self, camera, threads)

    monkeypatch.setattr(Sight, "image_and_crops", counted)
    from questions.suites import TYPES

    context = SceneContext(box_scan(PAIR, {"0": CAMERA}), pictures="render")
    for kind in TYPES:
        list(kind.enumerate(context))
    assert cast == [160, 640]


@pytest.mark.parametrize(
    "yaw_deg, written", [(89.99999, -90.0), (89.9999, 89.9999), (-90.0, -90.0), (-89.99999, -90.0), (12.34567, 12.3457)]
)
def test_a_yaw_is_in_its_range_when_it_is_written(yaw_deg: float, written: float) -> None:
    assert _written_yaw_deg(yaw_deg) == written
