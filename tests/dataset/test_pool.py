"""Processes that tasks run in."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PARENT = """
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
from test_pool import note_and_wait
from spacecast.dataset.pool import run

if __name__ == "__main__":
    list(run(note_and_wait, [Path({folder!r}) / name for name in "ab"], workers=2, died=str))
"""


def note_and_wait(path: Path) -> str:
    """Write down this process's id, and keep working for a minute."""
    aside = path.with_suffix(".part")
    aside.write_text(str(os.getpid()))
    aside.replace(path)
    time.sleep(60)
    return ""


def until(happened, seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while not (found := happened()) and time.monotonic() < end:
        time.sleep(0.1)
    return bool(found)


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT.format(here=str(Path(__file__).parent), folder=str(tmp_path)))
    parent = subprocess.Popen([sys.executable, str(script)])
    notes = [tmp_path / "a", tmp_path / "b"]
    try:
        assert until(lambda: all(note.exists() for note in notes))
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    workers = [int(note.read_text()) for note in notes]
    assert until(lambda: not any(runs(pid) for pid in workers), seconds=20.0)
