"""Which scenes are used: fair, stable, one scan of a room before its rescans, replaced where they are unusable."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from spacecast.dataset.draw import draw_order, drawn
from spacecast.dataset.settings import Folder


def scans(dataset: str, rooms: int, each: int = 1) -> list[Folder]:
    return [
        Folder(dataset, f"r{room:03d}_{scan:02d}", Path(), f"r{room:03d}")
        for room in range(rooms)
        for scan in range(each)
    ]


def test_rooms_come_before_rescans() -> None:
    order = draw_order(scans("a", 20, each=3), seed=0)
    for k in range(3):
        assert len({folder.room for folder in order[20 * k : 20 * k + 20]}) == 20
    assert sum(folder.scene_id.endswith("_00") for folder in order[:20]) < 15  # which scan of a room is drawn too


def test_not_the_first_by_id_and_another_seed_is_another_draw() -> None:
    folders = scans("a", 50)
    one, other = (list(drawn(folders, 10, seed, {"a": 1})) for seed in (0, 1))
    assert one != other
    assert one != [folder.key for folder in folders[:10]]
    assert one == list(drawn(folders[::-1], 10, 0, {"a": 1})) == sorted(one)


def test_every_scene_is_drawn_equally_often() -> None:
    """5 of 20 in 400 draws: 100 each, 3.9 sigma of sqrt(400 x 0.25 x 0.75) = 8.7."""
    times = Counter(key for seed in range(400) for key in drawn(scans("a", 20), 5, seed, {"a": 1}))
    assert all(66 <= times[folder.key] <= 134 for folder in scans("a", 20))


def test_new_scans_change_little() -> None:
    """Of 100 rooms 20 are drawn; with 10 more rooms those that stay keep their order, and few are displaced."""
    before, after = draw_order(scans("a", 100), 0), draw_order(scans("a", 110), 0)
    assert [folder for folder in after if folder in before] == before
    assert len(set(drawn(scans("a", 100), 20, 0, {"a": 1})) & set(drawn(scans("a", 110), 20, 0, {"a": 1}))) >= 15


def test_datasets_have_shares() -> None:
    folders = scans("scannet", 300) + scans("scannetpp", 200)
    weights = {"scannet": 134, "scannetpp": 48}
    assert Counter(f.dataset for f in drawn(folders, 182, 0, weights).values()) == weights
    few = scans("scannet", 300) + scans("scannetpp", 10)
    assert Counter(f.dataset for f in drawn(few, 182, 0, weights).values()) == {"scannet": 172, "scannetpp": 10}


@pytest.mark.parametrize("unusable", [0, 3, 7])
def test_an_unusable_scene_is_replaced_by_the_next(unusable: int) -> None:
    folders = scans("a", 30)
    order = draw_order(folders, 0)
    found = set(drawn(folders, 8, 0, {"a": 1}, {order[unusable].key}))
    assert found == {folder.key for folder in order[:9]} - {order[unusable].key}


def test_where_a_dataset_has_no_more_another_gives_the_scene() -> None:
    folders = scans("a", 4) + scans("b", 10)
    found = drawn(folders, 8, 0, {"a": 1, "b": 1}, {"a-r000_00", "a-r001_00"})
    assert Counter(folder.dataset for folder in found.values()) == {"a": 2, "b": 6}


def test_the_failure_of_one_scan_does_not_move_its_rescan_up() -> None:
    folders = scans("a", 10, each=2)
    order = draw_order(folders, 0)
    found = list(drawn(folders, 9, 0, {"a": 1}, {order[0].key}).values())
    assert {folder.key for folder in found} == {folder.key for folder in order[1:10]}
