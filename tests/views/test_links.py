"""What two views share: by hand, by properties, and against dense rays cast a second way on demo scans."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from boxes import CEILING, DOOR, FLOOR, PIXELS, WALL, links_of, view

from scannet_tools.scannet import READER
from spacecast.frames import Transform
from spacecast.scan import Scan, View
from spacecast.scene import LabelledBox, Scene
from spacecast.sight import sight_of
from spacecast.sight.rays import RayScene
from spacecast.views.choose import ChosenViews, RefusedView, choose_views
from spacecast.views.links import Links
from spacecast.views.pool import SETTINGS as POOL_SETTINGS
from spacecast.views.pool import pool_of_frames

EYE = (0.0, 0.0, 1.5)
STRIPE = LabelledBox(1, "poster", (0.0, 4.05, 1.5), (20.0, 0.1, 0.14))
"""So low that each column of points meets it in two rows, 236 and 244, wherever a camera at EYE turns."""


def test_two_cameras_turned_by_30_degrees_share_what_the_angle_says() -> None:
    """A direction is in both pictures from 2.62 degrees on the far side of the axis (30 - 32.62): at column
    319.5 + 500 tan(-2.62) = 296.6. Points are at columns 4, 12 ... 636: 37 of 80 lie before it, 43 after."""
    links = links_of([STRIPE], view("a", EYE, 0.0), view("b", EYE, 30.0))
    assert links.shares == pytest.approx(np.array([[1.0, 43 / 80], [43 / 80, 1.0]]))
    assert links.object_shares == pytest.approx(np.array([[160, 86], [86, 160]]) / 4800)
    assert not links.linked("a", "b")  # 86 of 4800 points is less than 0.03


@pytest.mark.parametrize(
    ("traits", "counts"), [(WALL, False), (FLOOR, False), (CEILING, False), (DOOR, True), (frozenset(), True)]
)
def test_floor_wall_and_ceiling_do_not_count_as_objects_and_doors_do(traits: frozenset[str], counts: bool) -> None:
    board = LabelledBox(1, "board", (0.0, 4.05, 1.5), (20.0, 0.1, 3.0), traits=traits)
    links = links_of([board], view("a", EYE, 0.0), view("b", EYE, 20.0))
    assert links.shares[0, 1] > 0.5
    assert bool(links.object_shares[0, 1] > 0.2) is counts
    assert links.object_shares[0, 1] <= links.shares[0, 1]
    assert links.linked("a", "b") is links.linked(1, 0) is counts


def test_no_view_is_linked_to_itself_though_it_shares_all() -> None:
    links = links_of([LabelledBox(1, "board", (0.0, 4.05, 1.5), (20.0, 0.1, 3.0))], view("a", EYE, 0.0))
    assert links.shares.tolist() == [[1.0]]
    assert not links.linked("a", "a")


@pytest.mark.parametrize(("turn_deg", "linked"), [(40.0, True), (54.0, False)])
def test_a_link_needs_a_fifth_both_ways(turn_deg: float, linked: bool) -> None:
    """From columns 319.5 + 500 tan(turn - 32.62) on: 0.40 of the picture at 40 degrees, 0.19 or less at 54."""
    ring = [
        LabelledBox(1, "board", (0.0, 3.05, 1.5), (6.0, 0.1, 4.0)),
        LabelledBox(2, "shelf", (3.05, 0.0, 1.5), (0.1, 6.0, 4.0)),
    ]
    links = links_of(ring, view("a", EYE, 45.0 - turn_deg / 2), view("b", EYE, 45.0 + turn_deg / 2))
    by_hand = 0.5 - 500.0 * np.tan(np.radians(turn_deg - 32.62)) / 640.0
    assert links.shares[0, 1] <= by_hand + 0.02  # what leaves the picture above or below is not shared
    assert links.linked("a", "b") is linked


def test_what_lies_behind_another_thing_is_not_shared() -> None:
    """b stands aside of a and sees the near board, which hides the far one from it, edge on."""
    far = LabelledBox(1, "far board", (0.0, 5.0, 1.5), (8.0, 0.1, 3.0))
    near = LabelledBox(2, "near board", (1.2, 2.5, 1.5), (0.05, 4.0, 3.0))
    bare = links_of([far], view("a", EYE, 0.0), view("b", (2.4, 0.0, 1.5), -25.0))
    hidden = links_of([far, near], view("a", EYE, 0.0), view("b", (2.4, 0.0, 1.5), -25.0))
    assert bare.linked("a", "b")
    assert not hidden.linked("a", "b")


@pytest.mark.parametrize("thickness_m", [0.3, 0.06])
def test_two_rooms_are_not_linked_through_a_wall_or_a_closed_door(thickness_m: float) -> None:
    """However thin: from either side the door is at the depth that the other side has, within 0.10."""
    wall = LabelledBox(1, "wall", (0.0, 2.0, 1.5), (8.0, thickness_m, 3.0), traits=WALL)
    door = LabelledBox(2, "door", (0.0, 2.0, 1.0), (1.5, thickness_m + 0.02, 2.0), traits=DOOR)
    links = links_of([wall, door], view("a", EYE, 0.0), view("b", (0.0, 4.0, 1.5), 180.0))
    assert links.object_shares[0, 0] > 0.2
    assert links.shares[0, 1] == links.shares[1, 0] == 0.0
    beside = links_of([wall, door], view("a", EYE, 0.0), view("b", (0.5, 0.3, 1.5), -10.0))
    assert beside.linked("a", "b")


def test_a_camera_that_looks_the_same_way_from_behind_a_wall_shares_nothing() -> None:
    wall = LabelledBox(1, "wall", (0.0, 1.0, 1.5), (8.0, 0.1, 3.0), traits=WALL)
    shelf = LabelledBox(2, "shelf", (0.0, 4.0, 1.5), (6.0, 0.4, 3.0))
    links = links_of([wall, shelf], view("a", EYE, 0.0), view("b", (0.0, 1.5, 1.5), 0.0))
    assert links.shares[0, 1] == links.shares[1, 0] == 0.0


def test_sensor_depth_that_says_otherwise_than_the_mesh_wins() -> None:
    board = LabelledBox(1, "board", (0.0, 4.05, 1.5), (20.0, 0.1, 8.0))
    two, none = np.full((480, 640), 2.0), np.zeros((480, 640))
    mesh, sensor, blind = view("mesh", EYE, 0.0), view("sensor", EYE, 0.0, two), view("blind", EYE, 0.0, none)
    again = view("again", EYE, 0.0, two)
    links = links_of([board], mesh, sensor, again, blind)
    assert links.shares.tolist() == [[1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1]]
    # What the sensor saw in front of the board is not the board.
    assert links.object_shares.tolist() == [[1, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 1]]
    assert links.visible_ids["sensor"] == {1}


@pytest.mark.parametrize(
    ("depth_m", "seen_m", "lands"),
    [(4.0, 4.09, True), (4.0, 4.11, False), (4.0, 3.89, False), (8.0, 8.15, True), (8.0, 8.17, False)],
)
def test_a_point_lands_within_ten_centimetres_or_two_percent(depth_m: float, seen_m: float, lands: bool) -> None:
    board = LabelledBox(1, "board", (0.0, depth_m + 0.05, 1.5), (20.0, 0.1, 12.0))
    links = links_of([board], view("a", EYE, 0.0), view("b", EYE, 0.0, np.full((480, 640), seen_m)))
    assert links.shares[0, 1] == float(lands)


def test_who_is_visible_and_who_could_be_meant_by_a_name() -> None:
    """At 2 m a side of 1 cm is 2.5 px, one of 3 cm is 7.5 px."""
    boxes = [
        LabelledBox(1, "stamp", (-0.5, 2.0, 1.5), (0.01, 0.0001, 0.01)),
        LabelledBox(2, "coin", (0.5, 2.0, 1.5), (0.03, 0.0001, 0.03)),
        LabelledBox(3, "behind", (0.0, -2.0, 1.5), (1.0, 1.0, 1.0)),
    ]
    links = links_of(boxes, view("a", EYE, 0.0))
    assert links.visible_ids["a"] == {1, 2}
    assert links.named_ids["a"] == {2}


def test_a_view_that_sees_nothing_shares_nothing() -> None:
    board = LabelledBox(1, "board", (0.0, 4.05, 1.5), (20.0, 0.1, 8.0))
    links = links_of([board], view("a", EYE, 180.0), view("b", EYE, 0.0))
    assert links.shares.tolist() == [[0, 0], [0, 1]]
    assert links.visible_ids["a"] == frozenset()


def test_no_views_have_no_links() -> None:
    assert links_of([STRIPE]).names == ()


# The pool


def scan_of(*yaws_deg: float) -> Scan:
    return Scan(
        "hand", "room", "room", np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int32), np.zeros((0, 3), np.uint8),
        np.zeros(0, np.int32), {}, Transform.identity(target="world", source="scan"), True, True,
        {str(i): view(str(i), EYE, yaw) for i, yaw in enumerate(yaws_deg)},
    )  # fmt: skip


def test_the_pool_holds_main_views_and_the_poses_farthest_from_them() -> None:
    scan = scan_of(0.0, 5.0, 90.0, 45.0, 89.0, 180.0)
    chosen = ChosenViews(("0", "1"), (RefusedView("2", "few_objects"),))
    assert pool_of_frames(scan, chosen, pictures="render").names == ("0", "1", "2", "3", "5")
    assert pool_of_frames(scan, chosen, pictures="render", max_frames=3).names == ("0", "1", "5")
    assert pool_of_frames(scan, chosen, pictures="render", max_frames=1).names == ("0", "1")


def test_what_the_choice_of_main_views_found_unusable_is_no_bridge() -> None:
    scan = scan_of(0.0, 90.0, 180.0)
    chosen = ChosenViews(("0",), (RefusedView("1", "blurred"), RefusedView("2", "like_another")))
    assert pool_of_frames(scan, chosen, pictures="render").names == ("0", "2")
    assert pool_of_frames(scan, chosen, pictures="photos").names == ("0",)  # the others have no photo


def test_a_photo_is_judged_only_when_its_pose_is_wanted() -> None:
    """Grey all over is blurred, and the next best pose takes its place; what is like another is never opened."""
    opened = []

    def photographed(name: str, yaw_deg: float, sharp: bool) -> View:
        photo = np.random.Generator(np.random.Philox(0)).integers(0, 256, (480, 640, 3), dtype=np.uint8)
        coarse = np.repeat(np.repeat(photo[::8, ::8], 8, axis=0), 8, axis=1)  # sharp also at quarter size

        def load() -> np.ndarray:
            opened.append(name)
            return coarse if sharp else np.full_like(photo, 128)

        return replace(view(name, EYE, yaw_deg), load_color=load)

    yaws = {"0": (0.0, True), "1": (5.0, True), "2": (90.0, False), "3": (80.0, True), "4": (-90.0, True)}
    views = {name: photographed(name, *yaw) for name, yaw in yaws.items()}
    pool = pool_of_frames(replace(scan_of(), views=views), ChosenViews(("0",), ()))
    assert pool.names == ("0", "3", "4")
    assert pool.refused == (RefusedView("2", "blurred"),)
    assert sorted(opened) == ["2", "3", "4"]


# Demo scans


@pytest.fixture(scope="module")
def demo(demo_root: Path) -> tuple[Scan, Links]:
    scan = READER.read(demo_root / "scans" / "scene0001_00")
    scene = Scene.from_scan(scan)
    chosen = choose_views(scan, scene, sight_of(scene), max_views=4)
    pool = pool_of_frames(scan, chosen, max_frames=14)
    assert len(pool.names) == 14
    assert set(chosen.names) <= set(pool.names)
    return scan, Links.of([scan.views[name] for name in pool.names], sight_of(scene), threads=1)


def test_links_of_a_demo_scan_are_symmetric_shares(demo: tuple[Scan, Links]) -> None:
    _, links = demo
    n = len(links.names)
    assert links.shares.shape == links.object_shares.shape == (n, n)
    assert ((links.shares >= 0) & (links.shares <= 1)).all()
    assert (links.object_shares <= links.shares).all()
    assert np.diag(links.shares) == pytest.approx(1.0)
    assert (links.strengths == links.strengths.T).all()
    assert 0 < (links.strengths > 0).sum() < n * (n - 1)
    assert all(links.linked(i, j) == (links.strengths[i, j] > 0) for i, j in permutations(range(n), 2))
    assert all(links.named_ids[name] <= links.visible_ids[name] for name in links.names)


def test_linked_views_of_a_demo_scan_share_the_surface_of_the_mesh(demo: tuple[Scan, Links]) -> None:
    """A second way: rays to the mesh every 5 px from one view, and from the other camera to what they meet; nothing of
    depth pictures. Sensor noise, holes and a thinner grid may make up a few points of a hundred."""
    scan, links = demo
    rays = RayScene(scan.vertices, scan.faces)
    columns, rows = np.meshgrid(np.arange(2, 640, 5), np.arange(2, 480, 5))
    apart = 0
    for i, j in permutations(range(len(links.names)), 2):
        one, other = (scan.views[links.names[k]] for k in (i, j))
        directions = one.world_from_camera.turn(one.intrinsics.rays(np.stack([columns, rows], -1).reshape(-1, 2)))
        start = one.world_from_camera.translation
        t = rays.cast(start, directions).t
        points = start + directions[np.isfinite(t)] * t[np.isfinite(t), None]
        pixels = other.intrinsics.project(other.world_from_camera.inverse() @ points)
        inside = (pixels > -0.5).all(axis=1) & (pixels < (639.5, 479.5)).all(axis=1)
        eye = other.world_from_camera.translation
        seen = rays.cast(eye, points[inside] - eye).t > 1.0 - 0.02
        share = seen.sum() / len(points)
        assert links.shares[i, j] == pytest.approx(share, abs=0.05), (links.names[i], links.names[j])
        if links.linked(i, j):
            assert share > 0.2 - 0.05
        apart += share < 0.01
    assert apart > 0  # pairs with nothing in common are among them


def test_a_view_of_a_demo_scan_shares_nothing_with_one_through_the_wall_behind_it(demo: tuple[Scan, Links]) -> None:
    """The same camera, drawn back out of the room: what the room's wall lets through is nothing, from either side."""
    scan, _ = demo
    sight = sight_of(Scene.from_scan(scan))
    floor_plan = scan.vertices[:, :2].min(axis=0) - 1.0, scan.vertices[:, :2].max(axis=0) + 1.0
    for inside in list(scan.views.values())[::40]:
        bare = replace(inside, load_depth=None, load_color=None)
        pose, back = bare.world_from_camera, bare.world_from_camera.rotation[:, 2].copy()
        back[2] = 0.0
        back /= np.linalg.norm(back)
        away = pose.translation
        while (away[:2] > floor_plan[0]).all() and (away[:2] < floor_plan[1]).all():
            away = away - 0.25 * back
        outside = replace(bare, name="outside", world_from_camera=replace(pose, translation=away))
        links = Links.of([bare, outside], sight, threads=1)
        assert links.shares[0, 0] == pytest.approx(1.0)
        assert links.shares[0, 1] == links.shares[1, 0] == 0.0


def test_the_pool_differs_in_pose(demo: tuple[Scan, Links]) -> None:
    scan, links = demo
    poses = [scan.views[name].world_from_camera for name in links.names]
    places = np.array([pose.translation for pose in poses])
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    forwards = np.array([pose.rotation[:, 2] for pose in poses])
    turned = np.degrees(np.arccos(np.clip(forwards @ forwards.T, -1.0, 1.0)))
    assert (apart / 1.0 + turned / 45.0 + np.eye(len(poses)) > 0.5 * POOL_SETTINGS.min_difference).all()
    assert PIXELS.width == scan.views[links.names[0]].intrinsics.width  # what the dense rays above take for granted
