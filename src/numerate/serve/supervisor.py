"""Several workers behind one port: uvicorn's supervisor, and one line for an error at the start.

uvicorn starts the workers and replaces those that die. On SIGHUP it replaces one after the other:
an old worker ends once its successor answers, and goes on if that cannot open the models.
"""

import math
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import uvicorn
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from numerate.errors import BROKEN, FAILED, WRONG_USE, FailureError
from numerate.reports.notices import loudness
from numerate.serve.http_config import http_config
from numerate.serve.log import UVICORN, log_to_stderr
from numerate.serve.served_models import Plan
from numerate.serve.terminal import has_terminal
from numerate.serve.worker import Report, Worker


def serve_in_workers(
    plan: Plan, listener: socket.socket, ready: Callable[[], None], report: Report
) -> None:
    """Serve until SIGTERM or Ctrl-C; call `ready` once the first worker answers."""
    with TemporaryDirectory(prefix="numerate-") as folder:
        worker = Worker(plan, Path(folder), time.time(), listener, loudness(), report)
        Supervisor(http_config(worker, plan.workers), worker, [listener], ready).run()


class Supervisor(Multiprocess):
    """Start the first worker alone, so that an error is reported once, then the others."""

    def __init__(
        self,
        config: uvicorn.Config,
        worker: Worker,
        sockets: list[socket.socket],
        ready: Callable[[], None],
    ) -> None:
        self._had_terminal = has_terminal()
        super().__init__(config, sockets)
        self._worker, self._ready = worker, ready
        for number in (signal.SIGINT, signal.SIGTERM):  # also while workers are replaced
            signal.signal(number, lambda *_: self.should_exit.set())

    def init_processes(self) -> None:
        first = self._start()
        if first.wait_until_ready(math.inf, self.should_exit):
            self._worker.is_first = False
            log_to_stderr(UVICORN)
            self._ready()
            while len(self.processes) < self.processes_num:
                self._start()
        elif not self.should_exit.is_set():
            first.join()
            if first.exitcode in (FAILED, WRONG_USE, BROKEN):
                raise SystemExit(first.exitcode)  # the worker has said why
            raise FailureError(f"a worker ended while it was started, with status {first.exitcode}")

    def handle_hup(self) -> None:
        """Replace the workers, or end if the terminal in which the server was started is closed."""
        if self._had_terminal and not has_terminal():
            self.should_exit.set()
        else:
            super().handle_hup()

    def keep_subprocess_alive(self) -> None:
        """Replace the workers that have died.

        A worker may die before it answers uvicorn's ping. That is noticed at once only where no
        process but the worker holds its end of the pipe; otherwise the answer would be waited for.
        """
        for process in self.processes:
            process.child_conn.close()
        super().keep_subprocess_alive()

    def _start(self) -> Process:
        process = Process(self.config, self.sockets)
        self.processes.append(process)
        process.start()
        return process
