"""Work on this machine: in this process where one is wanted, else in processes that it starts."""

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any, TypeVar

from numerate.errors import WorkerDiedError
from numerate.threads import cores, use_threads

U = TypeVar("U")
R = TypeVar("R")
UNDER_WAY = 4  # units a worker: some wait for it, so that it never waits for them

_make: Callable[[], Callable[[Any], Any]]  # of a worker process
_over: Any  # whether nobody waits for results any more
_work: Callable[[Any], Any] | None = None


@dataclass(frozen=True, slots=True)
class LocalEngine:
    processes: int
    gpus: float = 0

    def map(self, make: Callable[[], Callable[[U], R]], units: Iterable[U]) -> Iterator[R]:
        processes = self.processes or _places(self.gpus)
        if processes > 1:
            return _in_processes(processes, self.gpus, make, units)
        return _here(make, units)


def _places(gpus: float) -> int:
    """As many workers as there is room for: on GPUs, where they want any and there are some."""
    there = len(_visible_gpus()) if gpus else 0
    return max(1, int(there / gpus)) if there else cores()


def _here(make: Callable[[], Callable[[U], R]], units: Iterable[U]) -> Iterator[R]:
    work: Callable[[U], R] | None = None
    for unit in units:
        work = work or make()
        yield work(unit)


def _in_processes(
    processes: int, gpus: float, make: Callable[[], Callable[[U], R]], units: Iterable[U]
) -> Iterator[R]:
    pending: deque[Future[R]] = deque()
    # Not forked: the threads of libraries would not survive it.
    context = get_context("spawn")
    over = context.RawValue("b", 0)
    initial = (make, over, context.Value("i", 0), gpus, _threads(processes))
    pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_begin, initargs=initial)
    try:
        for unit in units:
            pending.append(_submit(pool, unit))
            while pending and (len(pending) > UNDER_WAY * processes or pending[0].done()):
                yield _result(pending.popleft())
        while pending:
            yield _result(pending.popleft())
    finally:
        over.value = 1  # some were handed out, and can no longer be taken back
        pool.shutdown(wait=True, cancel_futures=True)


def _submit(pool: ProcessPoolExecutor, unit: object) -> Future[Any]:
    # A worker may be started here, and inherits that Ctrl-C is not for it but for its parent.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with _deaths_told():
            return pool.submit(_work_on, unit)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _result(future: Future[R]) -> R:
    with _deaths_told():
        return future.result()


@contextmanager
def _deaths_told() -> Iterator[None]:
    """A pool of which a worker has died says so to whoever asks next, for a result or for work."""
    try:
        yield
    except BrokenProcessPool:
        reason = "perhaps for want of memory: try fewer --processes"
        raise WorkerDiedError(f"a worker process died, {reason}") from None


def _threads(processes: int) -> int | None:
    """Of each worker: what was told, else its part of the cores."""
    told = "OMP_NUM_THREADS" in os.environ
    return None if told else max(1, cores() // processes)


def _begin(
    make: Callable[[], Callable[[Any], Any]],
    over: Any,
    begun: Any,
    gpus: float,
    threads: int | None,
) -> None:
    """In a worker. What goes wrong in `make` is told with its first unit, not here."""
    global _make, _over
    _make, _over = make, over
    use_threads(threads)
    Thread(target=_die_with_parent, daemon=True).start()
    if gpus:
        with begun.get_lock():
            index, begun.value = begun.value, begun.value + 1
        _see_own_gpus(index, gpus)


def _die_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _see_own_gpus(index: int, gpus: float) -> None:
    """Of the GPUs that this process may use, those that are its own; they are shared out in turn.

    CUDA reads the variable when it is first used, so torch may be there already.
    """
    names = _visible_gpus()
    if names:
        first = int(index * gpus) % len(names)
        own = [names[(first + i) % len(names)] for i in range(min(len(names), max(1, int(gpus))))]
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(own)


def _visible_gpus() -> list[str]:
    """The names of those that this process may use."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        import torch

        visible = ",".join(map(str, range(torch.cuda.device_count())))
    return [name for name in visible.split(",") if name]


def _work_on(unit: object) -> Any:
    global _work
    if _over.value:
        return None
    _work = _work or _make()
    return _work(unit)
