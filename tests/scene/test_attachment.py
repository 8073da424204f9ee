"""Attachment in rooms put together by hand, against tables written by hand, and under what must not matter."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from spacecast.frames import Transform
from spacecast.scan import Instance, Scan
from spacecast.scene import Scene

from .cases import Case, cases, room
from .hand import scan_of, scene_of

CASES = cases()
each_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def edges_of(scene: Scene) -> dict[tuple[int, int], tuple[str, str]]:
    return {(p, c): (d["kind"], d["certainty"]) for p, c, d in scene.attachment.edges(data=True)}


def certain_of(scene: Scene) -> dict[tuple[int, int], str]:
    return {pair: kind for pair, (kind, certainty) in edges_of(scene).items() if certainty == "certain"}


def check(scene: Scene, case: Case) -> None:
    edges = edges_of(scene)
    assert certain_of(scene) == dict(case.certain)
    for pair in case.possible:
        assert edges.get(pair, (None, "absent"))[1] == "possible", edges
    for number, kind in case.supports.items():
        support = scene.objects[number].support
        assert support is not None
        assert support.kind == kind


@each_case
def test_hand_made_room(case: Case) -> None:
    check(scene_of(room(case)), case)


@each_case
def test_noise_of_millimetres_changes_no_certain_edge(case: Case) -> None:
    check(scene_of(room(case), noise_m=0.002, seed=1), case)


def changed(scan: Scan, vertices: NDArray[np.float64], order: NDArray[np.int64], id_of: dict[int, int]) -> Scan:
    place = np.argsort(order)
    return Scan(
        dataset=scan.dataset, scene_id=scan.scene_id, room_id=scan.room_id,
        vertices=vertices[order].astype(np.float32), faces=place[scan.faces][::-1].astype(np.int32),
        colors=scan.colors[order],
        instance_ids=np.array([id_of[i] for i in scan.instance_ids[order].tolist()], dtype=np.int32),
        instances={
            id_of[i]: Instance(id_of[i], o.raw_label, o.label, traits=o.traits) for i, o in scan.instances.items()
        },
        world_from_scan=scan.world_from_scan, is_aligned=True, has_labels=True, views={},
    )  # fmt: skip


@each_case
@pytest.mark.parametrize("quarter", [1, 2])
def test_turning_lifting_and_renaming_change_nothing_else(case: Case, quarter: int) -> None:
    scan = scan_of(room(case), noise_m=0.001, seed=2)
    before = Scene.from_scan(scan)
    turn = Transform.from_yaw_deg(90.0 * quarter, target="world", source="world")
    lifted = turn @ scan.vertices + np.array([3.0, -7.0, 2.5])
    rng = np.random.default_rng(quarter)
    ids = sorted(scan.instances)
    id_of = dict(zip(ids, rng.permutation(1000)[: len(ids)].tolist(), strict=True))
    after = Scene.from_scan(changed(scan, lifted, rng.permutation(len(scan.vertices)), id_of))
    renamed = {(id_of[p], id_of[c]): kind for (p, c), kind in certain_of(before).items()}
    assert certain_of(after) == renamed
    assert set(edges_of(after)) == {(id_of[p], id_of[c]) for p, c in edges_of(before)}
    for number, item in before.objects.items():
        support, other = item.support, after.objects[id_of[number]].support
        assert (support and support.kind) == (other and other.kind)


def test_what_a_wall_shelf_carries_does_not_carry_the_shelf() -> None:
    case = next(case for case in CASES if case.name == "cup on a wall cabinet")
    ((parent, child),) = case.certain
    scene = scene_of(room(case))
    assert edges_of(scene) == {(parent, child): ("supported_by", "certain")}
    assert scene.possible_neighbours([child]) == ()
