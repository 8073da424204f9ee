"""Which frames of a scan questions are asked about."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from box_scans import INTRINSICS, Box, box_scan, looking, on_floor

from spacecast.errors import InputError
from spacecast.frames import Transform
from spacecast.scan import Scan, View
from spacecast.scene import Scene
from spacecast.sight import sight_of
from spacecast.views.choose import SETTINGS, ChosenViews, choose_views

THINGS = [on_floor(1, "chair", -1, 0), on_floor(2, "lamp", 1, 0), on_floor(3, "bin", 0, 1), on_floor(4, "bed", 0, -1)]
AROUND = {
    name: looking((4 * x, 4 * y, 1.6), (0, 0, 0.2))
    for name, x, y in (("0", 0, -1), ("1", 1, 0), ("2", 0, 1), ("3", -1, 0))
}


def chosen(scan: Scan, **more: object) -> ChosenViews:
    scene = Scene.from_scan(scan)
    return choose_views(scan, scene, sight_of(scene), **{"pictures": "render", **more})


def reasons(found: ChosenViews) -> dict[str, str]:
    return dict(found.refused)


def test_views_from_four_sides_are_all_kept_in_capture_order() -> None:
    found = chosen(box_scan(THINGS, AROUND))
    assert found.names == ("0", "1", "2", "3")
    assert found.refused == ()


def test_no_more_than_asked_for() -> None:
    found = chosen(box_scan(THINGS, AROUND), max_views=2)
    assert len(found.names) == 2
    assert list(reasons(found).values()) == ["enough_views"] * 2
    # From the first, the one across the room differs most.
    assert found.names in {("0", "2"), ("1", "3")}


def test_a_frame_that_hardly_moved_is_passed_over() -> None:
    cameras = {"0": AROUND["0"], "1": looking((0.02, -4, 1.6), (0, 0, 0.2)), "2": AROUND["2"]}
    assert reasons(chosen(box_scan(THINGS, cameras))) == {"1": "passed_over"}


def test_a_frame_like_one_that_is_kept_is_dropped() -> None:
    cameras = {"0": AROUND["0"], "1": AROUND["2"], "2": looking((0.15, -4, 1.6), (0, 0, 0.2))}
    assert reasons(chosen(box_scan(THINGS, cameras))) == {"2": "like_another"}


def test_a_frame_that_shows_too_little_is_dropped() -> None:
    cameras = {**AROUND, "4": looking((0, -4, 1.6), (0, -8, 0.2)), "5": looking((-3.0, -0.2, 1.0), (-1.0, 0, 0.0))}
    assert reasons(chosen(box_scan(THINGS, cameras)))["4"] == "few_objects"


def test_objects_that_cannot_be_named_do_not_count() -> None:
    chairs = [on_floor(1, "chair", -1, 0), on_floor(2, "chair", 1, 0), on_floor(3, "chair", 0, 1)]
    assert set(reasons(chosen(box_scan(chairs, AROUND))).values()) == {"few_objects"}


def test_objects_mostly_outside_the_picture_do_not_count() -> None:
    long = [on_floor(1, "chair", 0, 0), Box(2, "bench", (2.5, 0, 0.25), (4.0, 0.4, 0.5))]
    near = looking((0.0, -1.6, 1.2), (0.0, 0.0, 0.3))
    far = looking((1.5, -5.0, 1.6), (1.5, 0.0, 0.3))
    assert reasons(chosen(box_scan(long, {"0": near, "1": far}))) == {"0": "few_objects"}


def test_a_view_without_a_photo_is_only_used_for_rendering() -> None:
    scan = box_scan(THINGS, AROUND)
    assert chosen(scan, pictures="photos").names == ()
    assert reasons(chosen(scan, pictures="photos")) == dict.fromkeys(AROUND, "no_photo")
    assert chosen(scan, pictures="render").names == ("0", "1", "2", "3")


SHARP = np.repeat(
    np.kron(np.random.default_rng(0).integers(60, 190, (30, 40)), np.ones((16, 16)))[..., None], 3, axis=2
).astype(np.uint8)


def with_photos(cameras: dict[str, Transform], photos: dict[str, np.ndarray], opened: list[str]) -> Scan:
    def loader(name: str):
        def load() -> np.ndarray:
            opened.append(name)
            return photos[name]

        return load

    plain = box_scan(THINGS, {})
    views = {name: View(name, pose, INTRINSICS, load_color=loader(name)) for name, pose in cameras.items()}
    kept = {key: getattr(plain, key) for key in plain.__dataclass_fields__ if key != "views"}
    return Scan(**kept, views=views)


def test_photos_are_judged_and_only_those_that_geometry_keeps() -> None:
    cameras = {
        **AROUND,
        "4": looking((0, -4, 1.6), (0, -8, 0.2)),  # shows nothing
        "5": looking((0, -4.01, 1.6), (0, -8, 0.2)),  # hardly moved
    }
    grey, black = np.full_like(SHARP, 128), np.zeros_like(SHARP)
    opened: list[str] = []
    scan = with_photos(cameras, {"0": SHARP, "1": grey, "2": black, "3": SHARP, "4": SHARP, "5": SHARP}, opened)
    found = chosen(scan, pictures="photos")
    assert found.names == ("0", "3")
    assert reasons(found) == {"1": "blurred", "2": "under_exposed", "4": "few_objects", "5": "passed_over"}
    assert sorted(opened) == ["0", "1", "2", "3"]
    opened.clear()
    assert chosen(scan, pictures="render").names == ("0", "1", "2", "3")
    assert opened == []


def test_of_very_many_frames_evenly_spaced_ones_are_looked_at() -> None:
    count = SETTINGS.max_probed + 200
    turns = np.linspace(0.0, 40 * np.pi, count, endpoint=False)
    cameras = {
        str(i): looking((4 * np.cos(t), 4 * np.sin(t), 1.6), (0.0, 0.0, 0.2)) for i, t in enumerate(turns.tolist())
    }
    found = chosen(box_scan(THINGS, cameras))
    assert len(found.names) == SETTINGS.max_views
    assert list(reasons(found).values()).count("passed_over") == 200


def test_the_order_of_objects_makes_no_difference() -> None:
    cameras = {
        str(i): looking((3 * np.cos(t), 3 * np.sin(t), 1.5), (0, 0, 0.3)) for i, t in enumerate(np.arange(0, 6, 0.4))
    }
    assert chosen(box_scan(THINGS, cameras), max_views=5) == chosen(box_scan(THINGS[::-1], cameras), max_views=5)


@pytest.mark.parametrize("turn_deg", [90.0, 180.0, 270.0])
def test_turning_the_whole_scene_keeps_the_choice(turn_deg: float) -> None:
    turn = Transform.from_yaw_deg(turn_deg, target="world", source="world")
    cameras = {
        str(i): looking((3 * np.cos(t), 3 * np.sin(t), 1.5), (0, 0, 0.3)) for i, t in enumerate(np.arange(0, 6, 0.4))
    }
    turned = [
        Box(b.id, b.label, tuple((turn @ np.array(b.center)).tolist()), b.size) for b in THINGS
    ]  # sides are equal, so that the boxes stay along the axes
    scan = box_scan(THINGS, cameras)
    other = box_scan(turned, {name: turn @ pose for name, pose in cameras.items()})
    assert chosen(scan, max_views=5).names == chosen(other, max_views=5).names


def undecodable() -> np.ndarray:
    raise InputError("frame: cannot be decoded")


@pytest.mark.parametrize("pictures", ["photos", "render"])
def test_depth_or_a_photo_that_cannot_be_decoded_costs_its_frame_and_no_other(pictures: str) -> None:
    scan = with_photos(AROUND, dict.fromkeys(AROUND, SHARP), [])
    broken = {
        "1": replace(scan.views["1"], load_color=undecodable),
        "2": replace(scan.views["2"], load_depth=undecodable, depth_intrinsics=INTRINSICS),
    }
    found = chosen(replace(scan, views={**scan.views, **broken}), pictures=pictures)
    lost = {"1": "broken_photo", "2": "broken_depth"} if pictures == "photos" else {"2": "broken_depth"}
    assert reasons(found) == lost
    assert found.names == tuple(name for name in AROUND if name not in lost)
