"""How long it takes to find chains of views in a scan of 2,000 frames with photos and sensor depth, stage by stage.

Run by hand: ``python benchmarks/chains.py [FRAMES]``. Prints seconds of each stage on one thread, as a build worker
takes them, beside bare ray casting of the same rays, and what was found. Exit status 1 where a bound is missed.
"""

from __future__ import annotations

import dataclasses
import io
import sys
import zlib
from collections import Counter
from collections.abc import Callable
from itertools import permutations, product
from typing import Any

import numpy as np
from PIL import Image
from sight import BareCaster, Cost, best, large_scan, rays_of

from spacecast.frames import Intrinsics, Transform
from spacecast.scan import Scan, View
from spacecast.scene import Scene
from spacecast.sight import Camera, Sight
from spacecast.views.chains import Chains
from spacecast.views.choose import choose_views
from spacecast.views.links import Links
from spacecast.views.names import Names
from spacecast.views.pool import pool_of_frames

FRAMES = 2000
COLOR = Intrinsics(1168.0, 1168.0, 647.5, 483.5, 1296, 968)
DEPTH = COLOR.scaled_to(320, 239)
BOUND_CORES_S = 30.0
"""Of all stages together."""
BOUND_CALL_MS = 1.0
"""Of one search for a chain, with what is kept from the searches before."""


def main() -> int:
    """Measure and print."""
    frames = int(sys.argv[1]) if len(sys.argv) > 1 else FRAMES
    scan = walked_scan(frames)
    scene = Scene.from_scan(scan)
    sight, names = Sight(scene), Names(scene)
    sight.id_image(Camera(next(iter(scan.views.values())).world_from_camera, DEPTH))  # builds the hierarchy
    print(f"{len(scan.vertices)} vertices, {len(scan.views)} frames")

    chosen, choosing = timed(lambda: choose_views(scan, scene, sight, names=names))
    pool, pooling = timed(lambda: pool_of_frames(scan, chosen))
    views = [scan.views[name] for name in pool.names]
    links, linking = timed(lambda: Links.of(views, sight, threads=1))
    chains = Chains(links, {view.name: view.world_from_camera for view in views})
    questions = [
        (a, b, one, other)
        for a, b in permutations(chosen.names, 2)
        for one, other in product(sorted(links.named_ids[a]), sorted(links.named_ids[b]))
        if one != other and one not in links.visible_ids[b] and other not in links.visible_ids[a]
    ]
    found, searching = timed(lambda: [chains.between(a, b, [one], [other]) for a, b, one, other in questions])
    bare = BareCaster(scan.vertices, scan.faces)
    rays = [rays_of(Camera(v.world_from_camera, v.intrinsics).scaled_to_width(640)) for v in views]
    casting = best(lambda: [bare.cast(r) for r in rays], repeats=1)

    print(f"{'':44}{'clock s':>9}{'cores s':>9}")
    rows = [
        (f"main views: {len(chosen.names)} of {len(scan.views)}", choosing),
        (f"pool: {len(pool.names)} frames", pooling),
        (f"links: {int((links.strengths > 0).sum()) // 2} of {len(views) * (len(views) - 1) // 2} pairs", linking),
        (f"chains: {len(questions)} searches", searching),
        ("bare casting of the rays of the pool", casting),
    ]
    for name, cost in rows:
        print(f"{name:44}{cost.clock:9.2f}{cost.cores:9.2f}")
    images = Counter(chain.images if chain else 0 for chain in found)
    print("pictures: " + ", ".join(f"{n or 'no chain'}: {count}" for n, count in sorted(images.items())))
    whole_s = sum(cost.cores for _, cost in rows[:4])
    call_ms = 1000.0 * searching.cores / max(1, len(questions))
    print(
        f"all stages {whole_s:.1f} s, links {linking.cores / casting.cores:.2f} times bare, a search {call_ms:.3f} ms"
    )
    missed = [
        name
        for name, value, bound in (("all stages", whole_s, BOUND_CORES_S), ("a search", call_ms, BOUND_CALL_MS))
        if value > bound
    ]
    missed += ["chains of three and more"] if not any(n > 2 for n in images) else []
    print("missed: " + ", ".join(missed) if missed else "all bounds kept")
    return 1 if missed else 0


def timed(work: Callable[[], Any]) -> tuple[Any, Cost]:
    """What some work gives, and what it took."""
    results: list[Any] = []
    cost = best(lambda: results.append(work()), repeats=1)
    return results[-1], cost


def walked_scan(frames: int) -> Scan:
    """The room of the other benchmark, its shell a wall, with a walk through it: photos of noise, depth of the mesh."""
    bare = large_scan()
    instances = {
        i: o if i != 100 else dataclasses.replace(o, traits=o.traits | {"wall"}) for i, o in bare.instances.items()
    }
    noise = np.random.Generator(np.random.Philox(0)).integers(60, 200, (968, 1296, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(noise).save(buffer, "JPEG", quality=60)
    photo = buffer.getvalue()
    scan = dataclasses.replace(bare, instances=instances)
    sight = Sight(Scene.from_scan(scan))
    views = {str(i): _frame(i, frames, sight, photo) for i in range(frames)}
    return dataclasses.replace(scan, views=views)


def _frame(number: int, frames: int, sight: Sight, photo: bytes) -> View:
    """Three rounds about the middle of the room, looking across it and turning a little faster than walking."""
    angle = 6.0 * np.pi * number / frames
    at = np.array([1.8 * np.cos(angle), 1.3 * np.sin(angle), 1.5 + 0.2 * np.sin(5.0 * angle)])
    towards = at + np.array([np.cos(1.7 * angle), np.sin(1.7 * angle), -0.35])
    pose = Transform.looking_at(at, towards)
    seen = sight.id_image(Camera(pose, DEPTH)).depth
    stored = zlib.compress((np.where(np.isfinite(seen), seen, 0.0) * 1000.0).astype(np.uint16).tobytes(), 1)

    def load_depth() -> np.ndarray:
        return np.frombuffer(zlib.decompress(stored), np.uint16).reshape(seen.shape) / np.float32(1000.0)

    def load_color() -> np.ndarray:
        return np.asarray(Image.open(io.BytesIO(photo)))

    return View(
        str(number), pose, COLOR, load_color=load_color, load_encoded=lambda: photo, load_depth=load_depth,
        depth_intrinsics=DEPTH,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
