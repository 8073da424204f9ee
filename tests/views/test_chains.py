"""Chains between main views: by hand, and against all paths counted one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, permutations, product
from pathlib import Path

import numpy as np
import pytest
from boxes import view

from scannet_tools.scannet import READER
from spacecast.frames import Transform
from spacecast.scan import Scan
from spacecast.scene import Scene
from spacecast.sight import sight_of
from spacecast.views.chains import Chain, Chains
from spacecast.views.choose import Pictures, choose_views
from spacecast.views.links import Links
from spacecast.views.names import Names
from spacecast.views.pool import pool_of_frames

DOWN = Transform.from_matrix(
    [[1, 0, 0, 0], [0, -1, 0, 0], [0, 0, -1, 1.5], [0, 0, 0, 1]], target="world", source="camera"
)


def links_of(edges: dict[str, float], shows: dict[str, set[int]] | None = None, named: dict | None = None) -> Links:
    """Links of views named by letters: {"ab": 0.3}; everything shared lies on objects."""
    names = tuple(sorted(set("".join(edges)) | set(shows or {})))
    shares = np.eye(len(names))
    for (one, other), share in edges.items():
        i, j = names.index(one), names.index(other)
        shares[i, j] = shares[j, i] = share
    visible = {name: frozenset((shows or {}).get(name, ())) for name in names}
    return Links(names, shares, shares / 2, visible, visible if named is None else named)


def on_a_line(**east_m: float) -> dict[str, Transform]:
    return {name: view(name, (x, 0.0, 1.5), 0.0).world_from_camera for name, x in east_m.items()}


def turned(**yaw_deg: float) -> dict[str, Transform]:
    return {
        name: view(name, (0.01 * i, 0.0, 1.5), yaw).world_from_camera for i, (name, yaw) in enumerate(yaw_deg.items())
    }


LINE = on_a_line(a=0.0, b=1.0, c=2.0, d=3.0, e=4.0)
LINE_OF_FOUR = on_a_line(a=0.0, b=1.0, c=2.0, d=3.0)


def test_neighbours_are_a_chain_of_two() -> None:
    chains = Chains(links_of({"ae": 0.3, "ab": 0.9, "be": 0.9}), LINE)
    chain = chains.between("a", "e", [1], [2])
    assert chain == Chain("a", (), "e", 0.3)
    assert chain.names == ("a", "e")
    assert chain.images == chains.fewest_images("a", "e") == 2


def test_the_shortest_chain_goes_before_the_stronger_one() -> None:
    chains = Chains(links_of({"ab": 0.9, "bc": 0.9, "ce": 0.9, "ad": 0.2, "de": 0.25}), LINE)
    assert chains.between("a", "e", [1], [2]) == Chain("a", ("d",), "e", 0.2)
    assert chains.between("a", "e", [1], [2]).images == 3


def test_of_equally_short_chains_the_weakest_link_decides_and_then_the_earlier_views() -> None:
    edges = {"ab": 0.9, "be": 0.3, "ac": 0.4, "ce": 0.5, "ad": 0.4, "de": 0.6}
    assert Chains(links_of(edges), LINE).between("a", "e", [1], [2]) == Chain("a", ("c",), "e", 0.4)


def test_no_bridge_shows_objects_of_both_groups() -> None:
    edges = {"ab": 0.9, "be": 0.9, "ac": 0.4, "cd": 0.4, "de": 0.4}
    shows = {"b": {1, 2}, "c": {1, 3}, "d": {2, 4}, "e": {2}, "a": {1}}
    chains = Chains(links_of(edges, shows), LINE)
    assert chains.between("a", "e", [1], [2]).bridges == ("c", "d")
    assert chains.between("a", "e", [1, 3], [2, 4]).bridges == ("c", "d")
    assert chains.between("a", "e", [1], [4]).bridges == ("b",)  # b shows 1, and not 4
    assert chains.between("a", "e", [1, 4], [2]) is None  # d shows 4 and 2
    assert chains.fewest_images("a", "e") == 3


def test_a_main_view_that_shows_the_other_group_has_no_chain() -> None:
    chains = Chains(links_of({"ab": 0.5}, {"a": {1}, "b": {2, 3}}), LINE)
    assert chains.between("a", "b", [1], [2]) is not None
    assert chains.between("a", "b", [1, 3], [2]) is None
    assert chains.between("b", "a", [2], [1, 3]) is None
    assert chains.between("a", "a", [1], [2]) is None


def test_no_view_shows_what_could_be_meant_by_a_name() -> None:
    edges = {"ab": 0.9, "be": 0.9, "ac": 0.4, "ce": 0.4}
    shows = {"a": {1}, "b": {7}, "c": {8}, "e": {2, 9}}
    named = {"a": frozenset({1}), "b": frozenset({7}), "c": frozenset(), "e": frozenset({2, 9})}
    chains = Chains(links_of(edges, shows, named), LINE)
    assert chains.between("a", "e", [1], [2]).bridges == ("b",)
    assert chains.between("a", "e", [1], [2], rivals=[7, 8]).bridges == ("c",)  # 8 is too small there to be meant
    assert chains.between("a", "e", [1], [2], rivals=[9]) is None


def test_each_bridge_is_nearer_to_the_second_camera_than_the_view_before() -> None:
    edges = {"ab": 0.5, "bc": 0.5}
    assert Chains(links_of(edges), on_a_line(a=0.0, b=1.0, c=2.0)).between("a", "c", [1], [2]).bridges == ("b",)
    # b is farther from c than a is; it is as far on the way back.
    assert Chains(links_of(edges), on_a_line(a=0.0, b=-0.5, c=2.0)).between("a", "c", [1], [2]) is None
    assert Chains(links_of(edges), on_a_line(a=0.0, b=-0.5, c=2.0)).between("c", "a", [1], [2]).bridges == ("b",)
    assert Chains(links_of(edges), on_a_line(a=0.0, b=4.0, c=2.0)).between("a", "c", [1], [2]) is None  # as far
    assert Chains(links_of(edges), on_a_line(a=0.0, b=2.0, c=2.0)).between("a", "c", [1], [2]).bridges == ("b",)


def test_a_second_bridge_is_nearer_than_the_first() -> None:
    edges = {"ab": 0.5, "bc": 0.5, "cd": 0.5}
    assert Chains(links_of(edges), on_a_line(a=0.0, b=1.0, c=2.0, d=3.0)).between("a", "d", [1], [2]).images == 4
    assert Chains(links_of(edges), on_a_line(a=0.0, b=2.0, c=1.0, d=3.0)).between("a", "d", [1], [2]) is None


def test_where_the_main_cameras_are_together_progress_is_the_angle() -> None:
    edges = {"ab": 0.5, "bc": 0.5}
    forth = Chains(links_of(edges), turned(a=0.0, b=60.0, c=100.0))
    assert forth.between("a", "c", [1], [2]).bridges == ("b",)
    # 190 degrees are 90 short of 280, or 100 the other way round: no nearer than 0 degrees, 80 away.
    assert Chains(links_of(edges), turned(a=0.0, b=190.0, c=280.0)).between("a", "c", [1], [2]) is None
    across_north = Chains(links_of(edges), turned(a=300.0, b=350.0, c=30.0))
    assert across_north.between("a", "c", [1], [2]).bridges == ("b",)
    assert Chains(links_of(edges), {**turned(a=0.0, b=0.0, c=100.0), "b": DOWN}).between("a", "c", [1], [2]) is None
    assert Chains(links_of(edges), {**turned(a=0.0, b=60.0, c=0.0), "c": DOWN}).between("a", "c", [1], [2]) is None


@pytest.mark.parametrize(("apart_m", "found"), [(0.49, True), (0.5, False)])
def test_cameras_are_together_within_half_a_metre(apart_m: float, found: bool) -> None:
    """b is far away, and turned halfway: progress by angle alone."""
    poses = {
        "a": view("a", (0.0, 0.0, 1.5), 0.0).world_from_camera,
        "b": view("b", (0.0, -3.0, 1.5), 40.0).world_from_camera,
        "c": view("c", (apart_m, 0.0, 1.5), 80.0).world_from_camera,
    }
    assert (Chains(links_of({"ab": 0.5, "bc": 0.5}), poses).between("a", "c", [1], [2]) is not None) is found


@pytest.mark.parametrize(("bridges", "found"), [(6, True), (7, False)])
def test_there_are_at_most_six_bridges(bridges: int, found: bool) -> None:
    letters = "abcdefghi"[: bridges + 2]
    chains = Chains(
        links_of({one + other: 0.5 for one, other in pairwise(letters)}),
        on_a_line(**{name: float(i) for i, name in enumerate(letters)}),
    )
    chain = chains.between(letters[0], letters[-1], [1], [2])
    assert (chain is not None) is found
    assert chains.fewest_images(letters[0], letters[-1]) == (8 if found else None)
    if chain:
        assert chain.bridges == tuple(letters[1:-1])


def test_views_in_two_rooms_have_no_chain() -> None:
    chains = Chains(links_of({"ab": 0.9, "ce": 0.9, "bd": 0.0}), LINE)
    assert chains.between("a", "e", [1], [2]) is None
    assert chains.fewest_images("a", "e") is None


def test_a_view_without_a_pose_or_outside_the_pool_is_an_error() -> None:
    with pytest.raises(KeyError):
        Chains(links_of({"az": 0.5}), LINE)
    with pytest.raises(KeyError):
        Chains(links_of({"ab": 0.5}), LINE).between("a", "z", [1], [2])


# Against all paths, one by one


def paths(links: Links, places: np.ndarray, a: int, b: int, refused: set[int]) -> Iterator[tuple[int, ...]]:
    """All walks that SEMANTICS section 7 allows, by going on until no step is left."""
    left = np.linalg.norm(places - places[b], axis=1)
    stack = [(a,)]
    while stack:
        path = stack.pop()
        if links.linked(path[-1], b):
            yield (*path, b)
        if len(path) <= 6:
            stack.extend(
                (*path, v)
                for v in range(len(places))
                if v not in (*path, b) and v not in refused and links.linked(path[-1], v) and left[v] < left[path[-1]]
            )


@pytest.mark.parametrize("seed", range(12))
def test_the_search_finds_what_counting_all_paths_finds(seed: int) -> None:
    rng = np.random.Generator(np.random.Philox(seed))
    n = 12
    shares = np.where(rng.uniform(size=(n, n)) < 0.6, rng.integers(20, 30, (n, n)) / 100.0, 0.1)  # ties are common
    names = tuple(f"v{i:02d}" for i in range(n))
    shows = {name: frozenset(np.flatnonzero(rng.uniform(size=5) < 0.3).tolist()) for name in names}
    links = Links(names, shares, shares, shows, shows)
    places = np.column_stack([rng.uniform(0, 6, (n, 2)), np.full(n, 1.5)])
    poses = {name: view(name, tuple(at), 0.0).world_from_camera for name, at in zip(names, places, strict=True)}
    chains = Chains(links, poses)
    found = 0
    for a, b in permutations(range(n), 2):
        if np.linalg.norm(places[a] - places[b]) < 0.5:
            continue
        for group_a, group_b in (({0}, {1}), ({0, 2}, {1, 3})):
            chain = chains.between(names[a], names[b], group_a, group_b)
            if shows[names[a]] & group_b or shows[names[b]] & group_a:
                assert chain is None
                continue
            refused = {i for i in range(n) if shows[names[i]] & group_a and shows[names[i]] & group_b}
            weakest = {
                path: min(links.strengths[i, j] for i, j in pairwise(path))
                for path in paths(links, places, a, b, refused)
            }
            best = min(weakest, key=lambda path: (len(path), -weakest[path], path), default=None)
            assert (chain.names if chain else None) == (tuple(names[i] for i in best) if best else None)
            if chain:
                assert chain.weakest_share == weakest[best]
                found += chain.images > 2
    assert found


def check_chains(scan: Scan, pictures: Pictures, *, mains: int, frames: int) -> Counter[int]:
    """Every chain for two named things keeps every rule; how many there are by number of images."""
    scene = Scene.from_scan(scan)
    names, sight = Names(scene), sight_of(scene)
    chosen = choose_views(scan, scene, sight, names=names, max_views=mains, pictures=pictures)
    pool = pool_of_frames(scan, chosen, max_frames=frames, pictures=pictures)
    links = Links.of([scan.views[name] for name in pool.names], sight, threads=1)
    poses = {name: scan.views[name].world_from_camera for name in pool.names}
    chains = Chains(links, poses)
    images: Counter[int] = Counter()
    for a, b in permutations(chosen.names, 2):
        goal = poses[b].translation
        together = np.linalg.norm(poses[a].translation - goal) < 0.5
        for one, other in product(sorted(links.named_ids[a]), sorted(links.named_ids[b])):
            rivals = names.rivals(one) | names.rivals(other)
            chain = chains.between(a, b, [one], [other], rivals=rivals)
            if chain is None:
                continue
            images[chain.images] += 1
            assert (chain.main_a, chain.main_b) == (a, b)
            assert chain.images >= chains.fewest_images(a, b)
            shares = [links.shares[links.index(i), links.index(j)] for i, j in pairwise(chain.names)]
            back = [links.shares[links.index(j), links.index(i)] for i, j in pairwise(chain.names)]
            assert chain.weakest_share == min(shares + back) >= 0.2
            assert other not in links.visible_ids[a]
            assert one not in links.visible_ids[b]
            assert not any({one, other} <= links.visible_ids[name] for name in chain.bridges)
            assert all(rivals.isdisjoint(links.named_ids[name]) for name in chain.names)
            left = [np.linalg.norm(poses[name].translation - goal) for name in chain.names[:-1]]
            assert together or all(after < before for before, after in pairwise(left))
    return images


def test_a_demo_scan_has_chains_of_three_and_more_that_keep_every_rule(demo_root: Path) -> None:
    images = check_chains(READER.read(demo_root / "scans" / "scene0001_00"), "photos", mains=5, frames=20)
    assert min(images[n] for n in (2, 3, 4)) > 0


def test_the_real_scan_has_chains_of_three_and_more_that_keep_every_rule(real_scans: Path) -> None:
    images = check_chains(READER.read(real_scans / "scans" / "scene0000_00"), "render", mains=8, frames=40)
    assert min(images[n] for n in (3, 4, 5)) > 0


def test_a_chain_stays_in_one_room() -> None:
    links = links_of({"ac": 0.9, "bc": 0.9, "cd": 0.9, "ab": 0.5, "bd": 0.5})
    assert Chains(links, LINE_OF_FOUR).between("a", "d", [1], [2]).bridges == ("c",)
    hall = Chains(links, LINE_OF_FOUR, {"a": "bath", "b": "bath", "c": "hall", "d": "bath"})
    assert hall.between("a", "d", [1], [2]).bridges == ("b",)
    assert hall.between("a", "c", [1], [2]) is None
    assert hall.fewest_images("b", "c") is None
    nowhere = Chains(links, LINE_OF_FOUR, dict.fromkeys("abcd"))
    assert nowhere.fewest_images("a", "b") is None
