"""What one of several workers does: it loads, answers, and obeys its supervisor."""

import os
import signal
import socket
import sys
import threading
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from numerate.errors import FailureError, NumerateError, one_line
from numerate.reports.notices import Loudness, set_loudness
from numerate.serve.log import log_to_stderr
from numerate.serve.served_models import Plan

if TYPE_CHECKING:
    from numerate.serve.process import ServerProcess

Order = Literal["serve", "load", "switch", "drop", "stale", "current"]


def worker_main(
    number: int,
    pipe: Connection,
    plan: Plan,
    folder: Path,
    started: float,
    listener: socket.socket,
    loudness: Loudness,
) -> None:
    """It says `loaded` or why it could not load, then `serving` once it accepts connections."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # which the supervisor hears, as it does Ctrl-C
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    set_loudness(loudness)
    log_to_stderr()
    if number:  # what there is to say of the models, the first says
        set_loudness(Loudness.QUIET)
    try:
        process = _begin(number, pipe, plan, folder, started)
        if process is not None:
            _serve(process, pipe, listener)
    finally:  # it ends by itself, and is not to be disturbed in it
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _begin(
    number: int, pipe: Connection, plan: Plan, folder: Path, started: float
) -> "ServerProcess | None":
    """None where it cannot: the supervisor has heard why."""
    try:
        from numerate.serve.process import ServerProcess

        process = ServerProcess(plan, worker=number, folder=folder, started=started)
    except (NumerateError, OSError) as error:
        pipe.send(error)
    except Exception as error:
        traceback.print_exc()
        pipe.send(FailureError(f"worker {number}: {type(error).__name__}: {one_line(error)}"))
    else:
        pipe.send("loaded")
        return process
    return None


def _serve(process: "ServerProcess", pipe: Connection, listener: socket.socket) -> None:
    try:
        while (order := pipe.recv()) != "serve":
            _obey(order, process, pipe)
    except EOFError:
        return
    threading.Thread(target=_obey_all, args=(process, pipe), daemon=True).start()
    process.run(listener, lambda: pipe.send("serving"))


def _obey_all(process: "ServerProcess", pipe: Connection) -> None:
    """Until the supervisor has gone: nobody would look after this worker any more."""
    try:
        while True:
            _obey(pipe.recv(), process, pipe)
    except (EOFError, OSError):
        os.kill(os.getpid(), signal.SIGTERM)


def _obey(order: Order, process: "ServerProcess", pipe: Connection) -> None:
    match order:
        case "load":
            try:
                process.load()
                pipe.send("loaded")
            except NumerateError as error:
                pipe.send(error)
        case "switch":
            process.switch()
        case "drop":
            process.drop()
        case "stale" | "current":
            process.tell(is_stale=order == "stale")
