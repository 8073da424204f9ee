"""Runs one function over many tasks in processes that may die: of this machine, or of a Dask cluster."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    as_completed,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from typing import TypeVar

from spacecast.errors import SpacecastError

Task = TypeVar("Task")
Result = TypeVar("Result")

TRIES_ALONE = 2
"""A task during which a worker died is run this often in a process of its own before it is given up."""


@dataclass(frozen=True)
class PoolSettings:
    """Waiting for other machines (own); changes no byte of what is built."""

    connect_s: float = 10.0
    """A scheduler that does not answer for this long is not there."""


SETTINGS = PoolSettings()


def run(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    workers: int,
    died: Callable[[Task], Result],
    executor: Executor | None = None,
) -> Iterator[tuple[Task, Result]]:
    """Results as they come, each with its task.

    With one worker everything runs in this process. A worker that dies costs the tasks that were running, which are
    then tried alone, so that only a task that kills its process is given up.

    Args:
        function: of a module, and so are the types of tasks and results: they are sent to spawned processes. A task
            may be run more than once, and twice at once.
        tasks: what to run it on.
        workers: number of processes.
        died: the result of a task that killed its process each time.
        executor: run there instead, on as many processes as it has; it replaces workers that die itself.

    Raises:
        SpacecastError: the executor went away.
    """
    if executor is not None:
        yield from _on(executor, function, tasks, died)
        return
    if workers <= 1 or len(tasks) <= 1:
        for task in tasks:
            yield task, function(task)
        return
    waiting, running = deque(tasks), dict[Future[Result], Task]()
    pool = _pool(workers)
    try:
        while waiting or running:
            suspects: list[Task] = []
            try:
                while waiting and len(running) < workers:  # no more: what waits in a pool that breaks is no suspect
                    running[pool.submit(function, waiting[0])] = waiting[0]
                    waiting.popleft()
            except BrokenProcessPool:
                suspects = list(running.values())
                running.clear()
            for future in wait(running, return_when=FIRST_COMPLETED).done if running else ():
                task = running.pop(future)
                try:
                    result = future.result()
                except BrokenProcessPool:
                    suspects.append(task)
                    continue
                yield task, result
            if suspects:
                suspects += running.values()
                running.clear()
                pool.shutdown(wait=False, cancel_futures=True)
                for task in suspects:
                    yield task, _alone(function, task, died)
                pool = _pool(workers)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _alone(function: Callable[[Task], Result], task: Task, died: Callable[[Task], Result]) -> Result:
    for _ in range(TRIES_ALONE):
        with _pool(1) as pool:
            try:
                return pool.submit(function, task).result()
            except BrokenProcessPool:
                continue
    return died(task)


def _on(
    executor: Executor, function: Callable[[Task], Result], tasks: Sequence[Task], died: Callable[[Task], Result]
) -> Iterator[tuple[Task, Result]]:
    """All tasks at once: the executor shares them out. Those that it gives up are tried alone in the end."""
    futures = {_submitted(executor, function, task): task for task in tasks}
    suspects = []
    for future in as_completed(list(futures)):
        task = futures.pop(future)
        try:
            result = _result(future)
        except _WorkerDied:
            suspects.append(task)
            continue
        yield task, result
    for task in suspects:
        for _ in range(TRIES_ALONE):
            try:
                yield task, _result(_submitted(executor, function, task))
                break
            except _WorkerDied:
                continue
        else:
            yield task, died(task)


class _WorkerDied(Exception):
    """An executor gave up a task during which its workers died."""


_GONE = "the cluster went away while it worked; start it again, and the same build with --resume"


def _submitted(executor: Executor, function: Callable[[Task], Result], task: Task) -> Future[Result]:
    try:
        return executor.submit(_one_at_a_time, function, task)
    except Exception as error:  # what it raises depends on the library
        raise SpacecastError(f"{_GONE} ({type(error).__name__})") from error


def _result(future: Future[Result]) -> Result:
    try:
        return future.result()
    except CancelledError as error:
        raise SpacecastError(_GONE) from error
    except Exception as error:
        if type(error).__name__ == "KilledWorker" or isinstance(error, BrokenExecutor):
            raise _WorkerDied from error
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise SpacecastError(f"a worker cannot do its work: {said}") from error


_ALONE = threading.Lock()


def _one_at_a_time(function: Callable[[Task], Result], task: Task) -> Result:
    """One task at a time in a process, however many threads it has: memory is bounded by one scene, and what is kept
    for a scene belongs to one."""
    with _ALONE:
        return function(task)


@contextmanager
def cluster(address: str | None) -> Iterator[Executor | None]:
    """The executor of a Dask cluster that runs already; None without an address.

    Args:
        address: of its scheduler, for example ``tcp://login1:8786``.

    Raises:
        SpacecastError: Dask is not installed, or no scheduler answers.
    """
    if address is None:
        yield None
        return
    try:
        from distributed import Client
        from distributed.comm import connect
    except ImportError as error:
        text = "--scheduler needs Dask, which is not installed: pip install 'spacecast[cluster]'"
        raise SpacecastError(text) from error

    async def knock() -> None:
        await (await connect(address, timeout=SETTINGS.connect_s)).close()

    try:
        asyncio.run(knock())  # a client that finds nobody goes on trying, and says so, long after it was given up
        client = Client(address, timeout=SETTINGS.connect_s, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise SpacecastError(
            f"--scheduler {address}: no scheduler answers ({reason}); start one with 'dask scheduler', or leave it away"
        ) from error
    try:
        yield client.get_executor(pure=False)
    finally:
        client.close(timeout=SETTINGS.connect_s)


def _pool(workers: int) -> ProcessPoolExecutor:
    for library in ("OPENBLAS", "MKL", "OMP"):  # numpy reads it when a worker starts: workers share the cores already
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    return ProcessPoolExecutor(max_workers=workers, mp_context=get_context("spawn"), initializer=_end_with_parent)


def _end_with_parent() -> None:
    """Lets a worker end with the process that started it. Where that one is killed, workers would wait for tasks for
    ever, since each holds the other ends of its siblings' pipes."""
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
