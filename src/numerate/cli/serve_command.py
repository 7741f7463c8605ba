"""`numerate serve`: load models, bind, serve until told to stop."""

import importlib
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from numerate.cli.exits import errors_exit
from numerate.errors import NumerateError, printable
from numerate.lm.model.source import ModelSource
from numerate.serve.hosts import is_loopback
from numerate.serve.listening import address_of, bind

if TYPE_CHECKING:
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
    The `tables` are in view where a request gives none. SIGHUP opens the models again. Nothing
    listens until they are open.
    """
    check_extra()
    from numerate.serve.guard import Access
    from numerate.serve.log import LOG, log_to_stderr
    from numerate.serve.served_models import Plan

    check_token(host, token)
    access = Access(loopback=is_loopback(host), token=token)
    plan = Plan(sources, access, tables, workers)
    with bind(host, port) as listener:
        log_to_stderr(LOG)
        if workers > 1:
            from numerate.serve.supervisor import serve_in_workers

            serve_in_workers(plan, listener, lambda: _announce(plan, listener), errors_exit)
        else:
            from numerate.serve.alone import serve_alone

            serve_alone(plan, listener, lambda: _announce(plan, listener))


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


def _announce(plan: "Plan", listener: socket.socket) -> None:
    served = printable(", ".join(source.run for source in plan.sources)) or "rules alone"
    print(f"{served}: {address_of(listener)} (Ctrl-C to stop)", flush=True)
