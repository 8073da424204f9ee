"""A whole build at several sizes, beside what it reads and the rays that it casts, bare.

Run by hand: ``python benchmarks/build_scale.py ROOT [ROOT ...] [--scenes 10 50 182] [--keep OUT]``; numbers beyond what
there is are left out, and that is said. First the smallest number with one worker: seconds of processor a scene; of
them, bare: in the reader and its loaders, in making the same rays and in open3d's casts of them; the ratio (bound: 3),
and what it is without the making of rays. Then a table with two
workers: seconds by the clock in all, a scene, and for each stage; peak memory of the main process and of the largest
worker (bound: 1.5 GB). How much faster two are than one, by the clock (bound: 1.7, with two cores free), is said of the
smallest number. ``--keep`` leaves the dataset of the largest.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from spacecast.dataset.build import BuildSettings, build
from spacecast.dataset.settings import REGISTERED, Folder, Sources


class Bare:
    """Seconds of this process's processor in what is wrapped; what is called within counts once."""

    def __init__(self) -> None:
        self.seconds, self._depth = 0.0, 0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            start, self._depth = time.process_time(), self._depth + 1
            try:
                return function(*args, **kwargs)
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self.seconds += time.process_time() - start

        return wrapper

    def sources(self) -> Sources:
        """The registered ones, reading timed."""

        def read(folder: Folder) -> Any:
            scan = self.timed(REGISTERED.read)(folder)
            views = {}
            for name, view in scan.views.items():
                loaders = {f.name: getattr(view, f.name) for f in fields(view) if f.name.startswith("load_")}
                views[name] = replace(view, **{n: load and self.timed(load) for n, load in loaders.items()})
            object.__setattr__(scan, "views", views)
            return scan

        return replace(REGISTERED, read=read)


class Run(NamedTuple):
    """One build in a process of its own; seconds by the clock, but for processor and bare."""

    clock_s: float
    processor_s: float
    bare_s: float
    """Reading and casting."""
    rays_s: float
    """Making the rays."""
    main_mb: float
    worker_mb: float
    questions: int
    scenes: int
    stages_s: dict[str, float]


def measured(roots: list[str], out: str, scenes: int, workers: int) -> Run:
    """Build here; with one worker everything runs in this process, and bare costs are known."""
    bare, rays, sources = Bare(), Bare(), REGISTERED
    if workers == 1:
        from spacecast.sight import cameras, look, sight
        from spacecast.sight.rays import RayScene

        RayScene.cast_rays = bare.timed(RayScene.cast_rays)  # type: ignore[method-assign]
        for module in (cameras, look, sight):  # each calls it by its own name
            module.pixel_rays = rays.timed(module.pixel_rays)  # type: ignore[attr-defined]
        sources = bare.sources()
    clock, processor = time.perf_counter(), time.process_time()
    ends: dict[str, float] = {}

    def progress(stage: str, done: int, total: int) -> None:
        if total:
            ends[stage] = time.perf_counter()

    settings = BuildSettings(scenes=scenes, workers=workers)
    report = build(roots, out, settings, sources=sources, progress=progress)
    end = time.perf_counter()
    peaks = [resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    starts = [clock, *ends.values()]
    stages = {stage: ends[stage] - start for stage, start in zip(ends, starts, strict=False)}
    stages["release"] = stages.get("release", 0.0) + end - starts[-1]
    seconds = end - clock, time.process_time() - processor
    return Run(*seconds, bare.seconds, rays.seconds, *peaks, report.questions, report.scenes, stages)


def run(roots: list[str], out: str, scenes: int, workers: int) -> Run:
    """A build whose memory is nobody else's."""
    command = [sys.executable, __file__, "--one", out, str(scenes), str(workers), *roots]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # as the workers of a build have it
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return Run(*json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    if sys.argv[1] == "--one":
        out, scenes, workers, *roots = sys.argv[2:]
        print(json.dumps(measured(roots, out, int(scenes), int(workers))))
        return
    parser = argparse.ArgumentParser(description="Builds at several sizes.")
    parser.add_argument("roots", nargs="+")
    parser.add_argument("--scenes", nargs="+", type=int, default=[10, 50, 182])
    parser.add_argument("--keep", help="folder for the dataset of the largest")
    given = parser.parse_args()
    there = sum(len(REGISTERED.find(Path(root))) for root in given.roots)
    numbers = sorted(number for number in given.scenes if number <= there)
    if len(numbers) < len(given.scenes):
        print(f"{there} scans are there: {', '.join(str(n) for n in given.scenes if n > there)} left out")
    with tempfile.TemporaryDirectory() as folder:
        one = run(given.roots, f"{folder}/one", numbers[0], 1)
        bare_s = one.bare_s + one.rays_s
        print(
            f"{numbers[0]} scenes, one worker, {one.main_mb:.0f} MB: {one.processor_s / numbers[0]:.2f} s of processor",
            end="",
        )
        print(f" a scene, bare {bare_s / numbers[0]:.2f}: ratio {one.processor_s / bare_s:.2f}", end="")
        print(f" ({one.processor_s / one.bare_s:.2f} without the making of rays)")
        heads = ("scenes", "questions", "asked of", "clock s", "s/scene", "main MB", "worker MB")
        print("".join(f"{head:>11}" for head in heads), " stages")
        for number in numbers:
            out = given.keep if given.keep and number == numbers[-1] else f"{folder}/{number}"
            two = run(given.roots, out, number, 2)
            cells = (
                *(f"{number}", f"{two.questions}", f"{two.scenes}", f"{two.clock_s:.0f}"),
                *(f"{two.clock_s / number:.2f}", f"{two.main_mb:.0f}", f"{two.worker_mb:.0f}"),
            )
            stages = ", ".join(f"{stage} {seconds:.0f} s" for stage, seconds in two.stages_s.items())
            print("".join(f"{cell:>11}" for cell in cells), "", stages, flush=True)
            if number == numbers[0]:
                print(f"two workers: {one.clock_s / two.clock_s:.2f} times one")


if __name__ == "__main__":
    main()
