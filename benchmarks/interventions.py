"""How long a search takes to ask where everything could go, and what a state after a change costs.

Run by hand: ``python benchmarks/interventions.py ROOT [ROOT ...]`` with folders of raw scans. For each scan: every root
that stands on the floor, in 8 directions by 6 distances and around every other object by 45, 90, 135 degrees either way
and 180; then applying one of the feasible moves, and its attachment. Exit status 1 where a bound is missed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from spacecast import Move, Scene
from spacecast.frames import COMPASS, world_heading
from spacecast.registry import find_scans
from spacecast.scene import Clearance
from spacecast.scene.feasibility import support_hindrances
from spacecast.scene.interventions import move_shifts, orbit_shifts

DISTANCES_M = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
ORBITS_DEG = (45.0, 90.0, 135.0, 180.0, -45.0, -90.0, -135.0)
SEARCH_BOUND_S = 1.0
"""Seconds of the processor for all of a scan."""
APPLY_BOUND_S = 0.01


def main(roots: list[str]) -> int:
    """Measure and print."""
    missed = False
    for root in roots:
        for scene_id, (reader, path) in find_scans(Path(root)).items():
            scene = Scene.from_scan(reader.read(path))
            movable = [i for i, item in scene.objects.items() if not item.is_structure]
            derived_s, _ = measured(lambda scene=scene: (scene.attachment, scene.rooms))
            search_s, found = measured(lambda scene=scene: search(scene))
            asked, free = (sum(len(shifts[k]) for shifts in found.values()) for k in (0, 1))
            ways = sum(int(is_free.sum()) for _, is_free in found.values())
            moves = [
                Move(i, COMPASS[n // 6], DISTANCES_M[n % 6])
                for i, (_, is_free) in found.items()
                for n in np.flatnonzero(is_free[:48])
            ][:20]
            apply_s, states = measured(lambda scene=scene, moves=moves: [scene.apply(m, check=False) for m in moves])
            attach_s, _ = measured(lambda states=states: [state.attachment for state in states])
            count = max(1, len(moves))
            print(
                f"{scene_id}: {len(movable)} objects, attachment and rooms {derived_s:.2f} s; {len(found)} roots, "
                f"{asked} shifts, {ways} of {free} free, {search_s:.2f} s; "
                f"a state {1e3 * apply_s / count:.1f} ms, its attachment {1e3 * attach_s / count:.0f} ms"
            )
            missed |= search_s > SEARCH_BOUND_S or apply_s / count > APPLY_BOUND_S
    return int(missed)


def search(scene: Scene) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Per root: all shifts asked, and which of them are free."""
    found = {}
    for root, item in scene.objects.items():
        if item.is_structure or support_hindrances(scene, root):
            continue
        start = item.center_in_world
        shifts = [move_shifts(world_heading(start), DISTANCES_M).reshape(-1, 2)]
        for other, around in scene.objects.items():
            if other != root and not around.is_structure:
                shifts.append(orbit_shifts(start, around.center_in_world, ORBITS_DEG))
        every = np.concatenate(shifts)
        found[root] = (every, Clearance(scene, root).free(every))
    return found


def measured(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the processor, and what came out."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
