"""Raw files broken at random: how each is read, in a process that may take 2 GB and some seconds for each.

Run by hand: ``python benchmarks/fuzz.py [COUNT] [SEED] [KIND]`` (2,000 files, seed 0; KIND: a part of a file's name).
Prints a row per kind of file with how many were refused in one line, read with what is lost counted, or read whole; and
every fault: another exception, a hang, more memory, a part of a mesh or of a scene without a word. Exit status 1 where
there is one.
"""

from __future__ import annotations

import faulthandler
import json
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path.insert(0, str(HERE.parent.parent / "tests" / "scannet_tools"))

COUNT = 2000
MAX_BYTES = 2 << 30
"""Memory that reading may ask for."""
MAX_CPU_S = 20.0
"""Of a core, for one file; usual ones take a fiftieth of a second."""
MAX_WALL_S = 300.0
"""For one file, on a machine that has other things to do: it hangs, and its process ends."""
MAX_DEATHS = 10
"""After so many processes that died nothing more is tried."""


class OutOfTimeError(BaseException):
    """A file took more time than it may."""


def main(count: int = COUNT, seed: int = 0, kind: str = "") -> int:
    """Break and read files, in a process, and in another where one dies of it; print what came of it."""
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    faults = []
    at, deaths, peak_mb = 0, 0, 0
    while at < count and deaths < MAX_DEATHS:
        for row in _rows_of_a_process(at, count, seed, kind):
            at, peak_mb = row["case"] + 1, max(peak_mb, row["peak_mb"])
            outcomes[row["kind"]][row["outcome"]] += 1
            if row["outcome"] == "fault":
                faults.append(row)
        if at < count:
            faults.append({"case": at, "kind": "?", "how": "?", "why": "the process died or hung"})
            at, deaths = at + 1, deaths + 1
    for name in sorted(outcomes):
        print(f"{name:56}" + "".join(f"{outcomes[name][key]:6} {key}" for key in ("refused", "lost", "whole", "fault")))
    total = sum(outcomes.values(), Counter())
    counts = ", ".join(f"{total[key]} {key}" for key in ("refused", "lost", "whole"))
    print(f"{at} files: {counts}; {len(faults)} faults; at most {peak_mb} MB")
    for fault in faults:
        print(f"FAULT case {fault['case']} ({fault['kind']}, {fault['how']}): {fault['why']}")
    return 1 if faults else 0


def _rows_of_a_process(start: int, count: int, seed: int, kind: str) -> Iterator[dict]:
    command = [sys.executable, str(HERE), "--child", str(start), str(count), str(seed), kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout or ():
            yield json.loads(line)


def child(start: int, count: int, seed: int, kind: str) -> None:
    """Read broken files, a line of JSON for each; memory and time are bounded for all of this process."""
    import numpy as np
    from mutations import FaultError, bases, judge, mutations

    warnings.simplefilter("error", RuntimeWarning)
    with tempfile.TemporaryDirectory() as folder:
        made = bases(Path(folder))
        files = [(base, file) for base in made for file in base.files if kind in base.kind(file)]
        resource.setrlimit(resource.RLIMIT_DATA, (MAX_BYTES, MAX_BYTES))
        signal.signal(signal.SIGPROF, _stop)
        for case in range(start, count):
            rng = np.random.Generator(np.random.Philox(key=[seed, case]))
            base, file = files[case % len(files)]
            mutation = mutations(file.read_bytes(), rng, file.suffix)
            faulthandler.dump_traceback_later(MAX_WALL_S, exit=True)
            signal.setitimer(signal.ITIMER_PROF, MAX_CPU_S)
            why = None
            try:
                outcome = judge(base, file, mutation)
            except FaultError as error:
                outcome, why = "fault", str(error)
            except (Exception, OutOfTimeError) as error:
                lines = traceback.format_exception_only(error)
                place = traceback.extract_tb(error.__traceback__)[-1]
                outcome, why = "fault", f"{lines[-1].strip()[:300]} at {place.filename}:{place.lineno}"
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            row = {"case": case, "kind": base.kind(file), "how": mutation.name, "outcome": outcome, "why": why}
            peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
            print(json.dumps(row | {"peak_mb": peak_mb}), flush=True)


def _stop(*_: object) -> None:
    raise OutOfTimeError(f"more than {MAX_CPU_S} s")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
    else:
        sys.exit(main(*map(int, sys.argv[1:3]), *sys.argv[3:4]))
