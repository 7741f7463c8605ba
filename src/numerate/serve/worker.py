"""One worker of several: uvicorn calls it in a process of its own, and gets the application."""

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from multiprocessing import parent_process
from pathlib import Path
from typing import TYPE_CHECKING

from numerate.reports.notices import Loudness, set_loudness, silently
from numerate.serve.listening import listen
from numerate.serve.log import LOG, log_to_stderr
from numerate.serve.served_models import Plan, open_served

if TYPE_CHECKING:
    from starlette.types import ASGIApp

PAUSE = 2.0  # seconds until uvicorn may replace a worker that could not open its models
Report = Callable[[], AbstractContextManager[None]]
"""Print an error in one line, and exit with its status."""


@dataclass(slots=True)
class Worker:
    """An application factory, which is pickled for each worker."""

    plan: Plan
    folder: Path  # where the workers count
    started: float
    listener: socket.socket
    loudness: Loudness
    report: Report
    is_first: bool = True  # its notices are those of all, and its error ends the server

    def __call__(self) -> "ASGIApp":
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # it is for the supervisor
        threading.Thread(target=_end_with_supervisor, daemon=True).start()
        set_loudness(self.loudness)
        log_to_stderr(LOG)
        try:
            with self.report():
                return self._open()
        except SystemExit:
            if not self.is_first:
                time.sleep(PAUSE)
            raise

    def _open(self) -> "ASGIApp":
        from numerate.serve.metrics import ServerMetrics, claim_number
        from numerate.serve.steady_memory import keep_memory_steady

        keep_memory_steady()
        with nullcontext() if self.is_first else silently():
            opened = open_served(self.plan)
        listen(self.listener)
        number = claim_number(self.folder, self.plan.workers)
        metrics = ServerMetrics(number, self.folder, self.started)
        return opened.application(self.plan, metrics)


def _end_with_supervisor() -> None:
    """End this process when its parent has died: uvicorn's workers would go on by themselves."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
