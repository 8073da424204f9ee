"""A whole build at several sizes, beside what it reads and the rays that it casts, bare.

Run by hand: ``python benchmarks/build_scale.py ROOT [NUMBER ...]`` (by default 10, 50 and 182 scans; numbers beyond
what there is are left out, and that is said). One table: seconds of processor a scene with one worker; of them, in the
reader and its loaders and in open3d's casts of the same rays; the ratio (bound: 3); how much faster two workers are by
the clock (bound: 1.7, with two cores free); peak memory of the main process and of the largest worker (bound: 1.5 GB),
and of one process that does all.
"""

from __future__ import annotations

import json
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
    """One build in a process of its own."""

    clock_s: float
    processor_s: float
    bare_s: float
    main_mb: float
    worker_mb: float
    questions: int


def measured(root: str, out: str, scenes: int, workers: int) -> Run:
    """Build here; with one worker everything runs in this process, and bare costs are known."""
    bare, sources = Bare(), REGISTERED
    if workers == 1:
        from spacecast.sight.rays import RayScene

        RayScene.cast_rays = bare.timed(RayScene.cast_rays)  # type: ignore[method-assign]
        sources = bare.sources()
    clock, processor = time.perf_counter(), time.process_time()
    report = build([root], out, BuildSettings(scenes=scenes, workers=workers), sources=sources)
    peaks = [resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = time.perf_counter() - clock, time.process_time() - processor
    return Run(*seconds, bare.seconds, *peaks, report.questions)


def run(root: Path, scenes: int, workers: int) -> Run:
    """A build whose memory is nobody else's."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--one", str(root), f"{folder}/out", str(scenes), str(workers)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Run(*json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    if sys.argv[1] == "--one":
        root, out, scenes, workers = sys.argv[2:]
        print(json.dumps(measured(root, out, int(scenes), int(workers))))
        return
    folder, wanted = Path(sys.argv[1]), [int(text) for text in sys.argv[2:]] or [10, 50, 182]
    there = len(REGISTERED.find(folder))
    if max(wanted) > there:
        print(f"{folder} has {there} scans: {', '.join(str(n) for n in wanted if n > there)} left out")
    heads = ("scenes", "questions", "s/scene", "bare", "ratio", "2 workers", "main MB", "worker MB", "alone MB")
    print("".join(f"{head:>11}" for head in heads))
    for number in [number for number in wanted if number <= there]:
        one, two = run(folder, number, 1), run(folder, number, 2)
        cells = (
            *(f"{number}", f"{one.questions}", f"{one.processor_s / number:.2f}", f"{one.bare_s / number:.2f}"),
            *(f"{one.processor_s / one.bare_s:.2f}", f"{one.clock_s / two.clock_s:.2f}x"),
            *(f"{two.main_mb:.0f}", f"{two.worker_mb:.0f}", f"{one.main_mb:.0f}"),
        )
        print("".join(f"{cell:>11}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
