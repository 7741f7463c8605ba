"""Several workers behind one port: they share a socket, and a supervisor looks after them.

The supervisor loads no model. It starts workers and starts anew those that die, hands on signals,
and leads them from one model to the next in two steps: all load, and only when all have loaded do
all switch, so that no answer depends on who gives it for longer than the switch takes.
"""

import multiprocessing
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from numerate.errors import FailureError, NumerateError, one_line
from numerate.reports.notices import loudness
from numerate.serve.listening import listen
from numerate.serve.log import LOG, log_reload
from numerate.serve.served_files import EVERY, ServedFiles
from numerate.serve.served_models import Plan
from numerate.serve.signals import hang_up_of, on_signals
from numerate.serve.worker_main import Order, worker_main

PATIENCE = 90.0  # seconds that workers have to end in: the longest request, and some
LONGEST_PAUSE = 30.0  # seconds before a worker that cannot be started is tried again
STEADY = 10.0  # seconds after which a worker that served and dies is no sign that it cannot live
TRIES = 3  # to start each worker while none answers: one that is killed may have made room
SPAWN = multiprocessing.get_context("spawn")  # after a fork, threads that compute would hang


class Worker:
    """A process with a number of its own, and the pipe to it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.process: BaseProcess | None = None
        self.pipe: Connection | None = None
        self.is_serving = False
        self.is_loading = False  # beside the model that it serves
        self.begun = 0.0  # when it was started, or left for later
        self.pause = 0.0  # seconds until it is started anew
        self.failed_starts = 0  # since it served

    def start(self, *arguments: Any) -> None:
        self.pipe, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(
            target=worker_main, args=(self.number, theirs, *arguments), daemon=True
        )
        self.process.start()
        theirs.close()  # so that its end is seen
        self.begun, self.is_serving, self.is_loading = time.monotonic(), False, False

    def order(self, order: Order) -> None:
        assert self.pipe is not None
        with suppress(OSError):  # it has died, which is seen at the next look
            self.pipe.send(order)

    def answer(self, seconds: float | None = 0.0) -> Exception | str | None:
        """What it says next; None: nothing so far, or nothing ever."""
        assert self.pipe is not None
        try:
            if self.pipe.poll(seconds):
                found: Exception | str = self.pipe.recv()
                return found
        except (EOFError, OSError):
            pass
        return None


class Supervisor:
    def __init__(self, plan: Plan, listener: socket.socket, ready: Callable[[], None]) -> None:
        self._plan, self._listener, self._ready = plan, listener, ready
        self._workers = [Worker(number) for number in range(plan.workers)]
        self._files = ServedFiles(plan.sources)
        self._reasons: list[str] | None = None  # why models could not be loaded; None: no reload
        self._to_load: list[Worker] = []  # the others still answer at full speed
        self._reload_begun = 0.0
        self._is_stale = False
        self._is_over = False
        self._started = time.time()

    def run(self) -> None:
        """Until SIGTERM or Ctrl-C; what was asked before is still answered."""
        with (
            on_signals(self._end, hang_up_of(self._files.ask, self._end)),
            TemporaryDirectory(prefix="numerate-") as folder,
        ):
            self._folder = Path(folder)
            try:
                self._start_all()
                if not self._is_over:
                    self._ready()
                self._look_after()
            finally:
                self._end_all()

    def _end(self) -> None:
        self._is_over = True

    def _start(self, worker: Worker) -> None:
        worker.start(self._plan, self._folder, self._started, self._listener, loudness())

    def _start_all(self) -> None:
        """The first alone: what is wrong with the models is told once, and what is found out of
        them is kept for the others."""
        first, *others = self._workers
        for group in ([first], others):
            for worker in group:
                self._start(worker)
            for worker in group:
                self._expect("loaded", worker)
            if self._is_over:
                return
        self._files.were_opened()
        listen(self._listener)
        for worker in self._workers:
            worker.order("serve")
        for worker in self._workers:
            self._expect("serving", worker)
            worker.is_serving = True

    def _expect(self, word: str, worker: Worker) -> None:
        """Wait until it says so, or all is over."""
        said = None
        while said is None and not self._is_over:
            assert worker.process is not None
            is_dead = not worker.process.is_alive()
            said = worker.answer(EVERY / 4)
            if is_dead and said is None:
                raise _died(worker)
        if isinstance(said, Exception):
            raise said
        assert said in (word, None)

    def _look_after(self) -> None:
        next_look = time.monotonic() + EVERY
        while not self._is_over:
            pipes = [worker.pipe for worker in self._workers if worker.pipe is not None]
            wait(pipes, timeout=EVERY / 4)
            for worker in self._workers:
                self._hear(worker)
            if self._reasons is not None and not any(one.is_loading for one in self._workers):
                self._go_on_loading(self._reasons)
            if time.monotonic() >= next_look:
                next_look = time.monotonic() + EVERY
                if self._reasons is None and self._files.have_changed():
                    self._begin_reload()

    def _hear(self, worker: Worker) -> None:
        said = worker.answer() if worker.pipe is not None else None
        if isinstance(said, Exception):
            if worker.is_loading and self._reasons is not None:
                self._reasons.append(one_line(said))
                worker.is_loading = False
            else:  # it was started anew, and cannot load
                self._give_up(worker, said)
        elif said == "loaded" and worker.is_loading:
            worker.is_loading = False
        elif said == "loaded":
            worker.order("stale" if self._is_stale else "current")
            worker.order("serve")
        elif said == "serving":
            worker.is_serving, worker.failed_starts = True, 0
            if self._is_stale or worker.begun < self._reload_begun:
                self._files.ask()  # its model may be another than that of the others
        elif worker.process is None or not worker.process.is_alive():
            self._start_anew(worker)

    def _give_up(self, worker: Worker, error: Exception) -> None:
        """For a while, as long as others answer."""
        if not any(other.is_serving for other in self._workers if other is not worker):
            raise error
        LOG.error("worker %d cannot be started: %s", worker.number, one_line(error))
        self._leave_for_later(worker)

    def _start_anew(self, worker: Worker) -> None:
        if worker.process is not None:
            LOG.error("worker %d died (%s)", worker.number, worker.process.exitcode)
            if worker.is_serving and time.monotonic() - worker.begun > STEADY:
                worker.pause = 0.0
            died = _died(worker)
            self._leave_for_later(worker)
            if all(one.failed_starts >= TRIES for one in self._workers):
                raise FailureError(f"no worker answers any more: {died}")
        elif time.monotonic() >= worker.begun + worker.pause:
            LOG.warning("worker %d is started anew", worker.number)
            self._start(worker)

    def _leave_for_later(self, worker: Worker) -> None:
        if not worker.is_serving:
            worker.failed_starts += 1
        _stop(worker)
        worker.begun = time.monotonic()
        worker.pause = min(2 * worker.pause + 0.5, LONGEST_PAUSE)

    def _begin_reload(self) -> None:
        self._reasons, self._to_load = [], list(self._workers)
        self._reload_begun = time.monotonic()

    def _go_on_loading(self, reasons: list[str]) -> None:
        """One after the other; who is not serving is passed over: started before this, it makes
        all load once more when it serves; started later, it loads what there is by then."""
        while self._to_load and not reasons:
            worker = self._to_load.pop(0)
            if worker.is_serving:
                worker.is_loading = True
                worker.order("load")
                return
        self._end_reload(reasons)

    def _end_reload(self, reasons: list[str]) -> None:
        self._reasons, self._is_stale = None, bool(reasons)
        answering = [worker for worker in self._workers if worker.is_serving]
        if answering:  # or all have died of it
            log_reload(reasons[0] if reasons else None)
        for worker in answering:
            worker.order("drop" if reasons else "switch")
            worker.order("stale" if reasons else "current")
            if reasons and worker.begun > self._reload_begun:  # it loaded what others could not
                self._files.ask()
        self._files.were_opened()

    def _end_all(self) -> None:
        begun = [one.process for one in self._workers if one.process is not None]
        living = [process for process in begun if process.pid is not None]
        for process in living:
            process.terminate()
        deadline = time.monotonic() + PATIENCE
        for process in living:
            process.join(max(0.0, deadline - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()


def _stop(worker: Worker) -> None:
    if worker.process is not None:
        worker.process.kill()
        worker.process.join()
    if worker.pipe is not None:
        worker.pipe.close()
    worker.process = worker.pipe = None
    worker.is_serving = worker.is_loading = False


def _died(worker: Worker) -> NumerateError:
    assert worker.process is not None
    worker.process.join(5)
    status = worker.process.exitcode
    return FailureError(f"worker {worker.number} ended while it was started, with status {status}")
