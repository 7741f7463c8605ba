"""Work within Python on several runs at a time: their evaluation."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, as_completed
from typing import TypeVar

from numerate.errors import NumerateError, one_line
from numerate.lm.reproduce.choices import Plan, Task

Result = TypeVar("Result")


def each_task(
    plan: Plan, work: Callable[[Plan, Task], Result], tasks: Sequence[Task]
) -> Iterator[tuple[Task, Result | NumerateError]]:
    """Results as they come, from as many processes as training uses, with as many threads.

    What goes wrong with one does not keep the others from theirs. When a process dies, all at work
    beside it are lost; one of these was its own, so each of them is done once more by itself.
    """
    left = list(tasks)
    while left:
        left = yield from _at_once(plan, work, left, plan.workers)
        first, left = left[: plan.workers], left[plan.workers :]
        for task in first:
            if len(first) == 1 or (yield from _at_once(plan, work, [task], 1)):
                yield task, NumerateError("its process died, perhaps for want of memory")


def _at_once(
    plan: Plan, work: Callable[[Plan, Task], Result], tasks: Sequence[Task], workers: int
) -> Generator[tuple[Task, Result | NumerateError], None, list[Task]]:
    """Results as they come, begun in the order of the tasks; returns those without, since some
    process died."""
    pool = ProcessPoolExecutor(
        min(workers, len(tasks)),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(plan.threads,),
    )
    lost: set[Task] = set()
    try:
        begun = {pool.submit(_in_one_line, work, plan, task): task for task in tasks}
        for ended in as_completed(begun):
            try:
                yield begun[ended], ended.result()
            except NumerateError as error:
                yield begun[ended], error
            except BrokenExecutor:
                lost.add(begun[ended])
        pool.shutdown()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in multiprocessing.active_children():
            worker.terminate()
        raise
    return [task for task in tasks if task in lost]


def _in_one_line(work: Callable[[Plan, Task], Result], plan: Plan, task: Task) -> Result:
    """Told here, where it happens: an error that cannot be sent would break the pool of all."""
    try:
        return work(plan, task)
    except NumerateError:
        raise
    except Exception as error:
        raise NumerateError(f"{type(error).__name__}: {one_line(error)}") from error


def _begin(threads: int) -> None:
    """Set up a worker, before it imports torch. An interrupt is the parent's business."""
    os.environ["OMP_NUM_THREADS"] = str(threads)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
