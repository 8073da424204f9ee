"""Builds on a Dask cluster, one of whose workers dies, and on what is no cluster."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import synthetic_suite as synthetic

from spacecast.cli import main
from spacecast.dataset import pool
from spacecast.dataset.build import BuildSettings, build
from spacecast.errors import SpacecastError


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def root(invented_root: Path, tmp_path: Path) -> Path:
    """A copy of the invented scans that may be spoiled."""
    shutil.copytree(invented_root, tmp_path / "raw")
    return tmp_path / "raw"


def test_a_cluster_whose_worker_is_killed_gives_the_bytes_of_one_process(
    invented: Path, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes; the scene s2 kills the one that reads it first. Folders are named from where the build stands,
    which is not where workers stand."""
    distributed = pytest.importorskip("distributed", reason="no Dask: pip install 'spacecast[cluster]'")
    (root / "s2" / "deadly_once").touch()
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        monkeypatch.chdir(tmp_path)
        settings = BuildSettings(scheduler=cluster.scheduler_address)
        report = build(["raw"], "out", settings, sources=synthetic.SOURCES)
    assert not (root / "s2" / "deadly_once").exists()
    assert report.failures == ()
    assert files(tmp_path / "out") == files(invented)


class Failing(Executor):
    """Runs what it is given, but some tasks end otherwise."""

    def __init__(self, ends: Callable[[Any, int], BaseException | None]) -> None:
        self.ends, self.tried = ends, list[Any]()

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.tried.append(args[-1])
        end = self.ends(args[-1], self.tried.count(args[-1]))
        if isinstance(end, KeyboardInterrupt):
            future.cancel()
            future.set_running_or_notify_cancel()
        elif end is not None:
            future.set_exception(end)
        else:
            future.set_result(function(*args, **kwargs))
        return future


class KilledWorker(Exception):
    """As Dask names what it says of a task whose workers died."""


def run(executor: Executor) -> dict[str, str]:
    return dict(pool.run(str.upper, list("abc"), workers=1, died=lambda task: f"died {task}", executor=executor))


@pytest.mark.parametrize("error", [KilledWorker(), BrokenExecutor()])
def test_a_task_that_is_given_up_is_tried_alone_and_then_left(error: Exception) -> None:
    once = Failing(lambda task, time: error if (task, time) == ("b", 1) else None)
    assert run(once) == {"a": "A", "b": "B", "c": "C"}
    assert once.tried == ["a", "b", "c", "b"]
    always = Failing(lambda task, time: error if task == "b" else None)
    assert run(always) == {"a": "A", "b": "died b", "c": "C"}
    assert always.tried.count("b") == 1 + pool.TRIES_ALONE


def test_a_cluster_that_goes_away_or_cannot_work_is_said() -> None:
    with pytest.raises(SpacecastError, match="the cluster went away while it worked; start it again"):
        run(Failing(lambda task, time: KeyboardInterrupt() if task == "b" else None))
    with pytest.raises(SpacecastError, match="a worker cannot do its work: ModuleNotFoundError: no questions here"):
        run(Failing(lambda task, time: ModuleNotFoundError("no questions\nhere") if task == "b" else None))


def test_threads_of_one_worker_take_scenes_in_turn() -> None:
    running: list[int] = []
    together: list[int] = []

    def task(number: int) -> int:
        running.append(number)
        time.sleep(0.02)
        together.append(len(running))
        running.remove(number)
        return number

    with ThreadPoolExecutor(4) as executor:
        results = sorted(pool.run(task, range(6), workers=1, died=lambda number: -1, executor=executor))
    assert results == [(i, i) for i in range(6)]
    assert together == [1] * 6


def test_no_scheduler_is_one_line(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed", reason="no Dask: pip install 'spacecast[cluster]'")
    monkeypatch.setattr(pool, "SETTINGS", pool.PoolSettings(connect_s=0.5))
    out = tmp_path / "out"
    for address in ("tcp://127.0.0.1:9", "login1", "carrier-pigeon://roof"):
        with pytest.raises(SpacecastError, match=f"--scheduler {address}: no scheduler answers") as error:
            build([root], out, BuildSettings(scheduler=address), sources=synthetic.SOURCES)
        assert "\n" not in str(error.value)
    monkeypatch.setattr("spacecast.dataset.build._Build._folders", lambda build, roots: {})
    assert main(["build", str(root), str(out), "--scheduler", "tcp://127.0.0.1:9"]) == 2
    said = capsys.readouterr().err
    assert "no scheduler answers" in said
    assert said.count("\n") == 1
    assert not out.exists()


def test_dask_that_is_not_installed_is_said(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SpacecastError, match=r"not installed: pip install 'spacecast\[cluster\]'"):
        build([root], tmp_path / "out", BuildSettings(scheduler="tcp://127.0.0.1:9"), sources=synthetic.SOURCES)


def test_workers_that_do_not_see_the_folder_are_said(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task says that it is done, and its file is not here."""
    monkeypatch.setattr("spacecast.dataset.build.find_candidates", lambda task: None)
    with pytest.raises(SpacecastError, match=r"s0.parquet: was written by a worker of the cluster and is not here"):
        build([root], tmp_path / "out", sources=synthetic.SOURCES)
