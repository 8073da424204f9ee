"""Runs one function over many tasks in processes that may die."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

TRIES_ALONE = 2
"""A task during which a worker died is run this often in a process of its own before it is given up."""


def run(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    workers: int,
    died: Callable[[Task], Result],
) -> Iterator[tuple[Task, Result]]:
    """Results as they come, each with its task.

    With one worker everything runs in this process. A worker that dies costs the tasks that were running, which are
    then tried alone, so that only a task that kills its process is given up.

    Args:
        function: of a module, and so are the types of tasks and results: they are sent to spawned processes.
        tasks: what to run it on.
        workers: number of processes.
        died: the result of a task that killed its process each time.
    """
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


def _pool(workers: int) -> ProcessPoolExecutor:
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
