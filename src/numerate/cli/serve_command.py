"""`numerate serve`: load models, bind, serve until told to stop."""

import importlib
import signal
import socket
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from numerate.errors import NumerateError, printable
from numerate.lm.model.source import ModelSource
from numerate.serve.hosts import is_loopback
from numerate.serve.listening import address_of, bind

if TYPE_CHECKING:
    from numerate.serve.process import ServerProcess
    from numerate.serve.served_files import ServedFiles
    from numerate.serve.served_models import Plan

EXTRA = ("fastapi", "uvicorn", "prometheus_client")


def serve(
    sources: Sequence[ModelSource],
    *,
    host: str,
    port: int,
    token: str | None = None,
    tables: Sequence[Path] = (),
    workers: int = 1,
) -> None:
    """Serve until SIGTERM or Ctrl-C; what was asked before is still answered.

    The models may be one run or hf:PATH, and detectors; without any, numbers are recomputed.
    The `tables` are in view where a request gives none. When the files of the models change, or
    on SIGHUP, they are loaded again. Nothing listens until all is loaded.
    """
    check_extra()
    from numerate.serve.guard import Access
    from numerate.serve.log import log_to_stderr
    from numerate.serve.served_models import Plan

    check_token(host, token)
    access = Access(loopback=is_loopback(host), token=token)
    plan = Plan(sources, access, tables, workers)
    with bind(host, port) as listener:
        log_to_stderr()
        if workers > 1:
            from numerate.serve.supervisor import Supervisor

            Supervisor(plan, listener, lambda: _tell(plan, listener)).run()
        else:
            _serve_alone(plan, listener)


def check_extra() -> None:
    for name in EXTRA:
        try:
            importlib.import_module(name)
        except ImportError:
            raise NumerateError(
                f"{name} is not installed: the server needs pip install 'numerate[server]'"
            ) from None


def check_token(host: str, token: str | None) -> None:
    if token is None and not is_loopback(host):
        raise NumerateError(
            f"--host {host} can be reached from other machines: add --token, or set NUMERATE_TOKEN"
        )
    if token is not None and not (token.isascii() and token.isprintable() and token.strip()):
        raise NumerateError("--token: expected visible ASCII characters")
    if token is not None and token != token.strip():
        raise NumerateError("--token: got space at an end, expected none")


def _tell(plan: "Plan", listener: socket.socket) -> None:
    served = printable(", ".join(source.run for source in plan.sources)) or "rules alone"
    print(f"{served}: {address_of(listener)} (Ctrl-C to stop)", flush=True)


def _serve_alone(plan: "Plan", listener: socket.socket) -> None:
    """In this process, with a thread that loads models anew when they have changed."""
    from numerate.serve.process import ServerProcess
    from numerate.serve.served_files import ServedFiles
    from numerate.serve.signals import hang_up_of, on_signals

    files = ServedFiles(plan.sources)
    process = ServerProcess(plan)
    files.were_opened()
    over = threading.Event()
    reloading = threading.Thread(target=_reload_on_change, args=(files, process, over))
    hang_up = hang_up_of(files.ask, lambda: signal.raise_signal(signal.SIGTERM))
    # uvicorn raises the signal that ended it once more; stopping when told to is no error.
    with on_signals(lambda: None, hang_up):
        reloading.start()
        try:
            process.run(listener, lambda: _tell(plan, listener))
        finally:
            over.set()
            reloading.join()


def _reload_on_change(
    files: "ServedFiles", process: "ServerProcess", over: threading.Event
) -> None:
    from numerate.serve.log import log_reload
    from numerate.serve.served_files import EVERY

    while not over.wait(EVERY):
        if not files.have_changed():
            continue
        reason = None
        try:
            process.load()
            process.switch()
        except NumerateError as error:
            process.drop()
            reason = str(error)
        process.tell(is_stale=reason is not None)
        log_reload(reason)
        files.were_opened()
