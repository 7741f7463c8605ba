"""`numerate serve`: load a model, bind, serve until told to stop."""

import importlib
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from numerate.errors import CalibrationError, NumerateError, printable
from numerate.notices import is_quiet, say
from numerate.plausibility.source import ModelSource
from numerate.server.hosts import is_loopback

if TYPE_CHECKING:
    import asyncio

    import uvicorn
    from starlette.types import ASGIApp

    from numerate.documents.document import Table
    from numerate.model.numeral_lm import NumeralLM
    from numerate.proofreading.joining import Joining
    from numerate.proofreading.witnesses import DetectorLike
    from numerate.server.guard import Access
    from numerate.server.limits import Limits

EXTRA = ("fastapi", "uvicorn")
EXAMPLE = (
    "In 2016, 412 patients (mean age 63.5 years, 48 % women) were followed for 12 months. "
    "Of the 206 in the treatment group, 31 (15.0 %) had an event, against 52 of 206 (52.2 %)."
)  # with a slip, so that there is something to see
MOST_HEADER_BYTES = 16 * 1024


def serve(
    sources: Sequence[ModelSource],
    *,
    host: str,
    port: int,
    token: str | None = None,
    tables: Sequence[Path] = (),
    force_domain: bool = False,
    joining: Path | None = None,
) -> None:
    """Serve until SIGTERM or Ctrl-C; what was asked before is still answered.

    The models may be one run or hf:PATH, and detectors; without any, numbers are recomputed.
    The `tables` are in view where a request gives none.
    """
    check_extra()
    from numerate.plausibility.given_tables import read_given
    from numerate.proofreading.opened_models import joining_for
    from numerate.server.guard import Access

    check_token(host, token)
    access = Access(loopback=is_loopback(host), token=token)
    given = read_given(tables)
    weights = joining_for([source.run for source in sources], joining)
    with bind(host, port) as listener:
        _serve(sources, listener, access, given, force_domain, weights)


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


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens; a port that is taken is one clear line."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.create_server(address[:2], family=family, backlog=128)
        # Connections inherit it: the body of an answer does not wait for its head's receipt.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except socket.gaierror as error:
        reason = error.strerror
    except OSError as error:
        reason = os.strerror(error.errno or 0)  # without the address, which is named anyway
    raise NumerateError(f"--host {host} --port {port}: cannot listen there: {reason}")


def _serve(
    sources: Sequence[ModelSource],
    listener: socket.socket,
    access: "Access",
    tables: "list[Table]",
    force_domain: bool,
    joining: "Joining",
) -> None:
    import uvicorn

    from numerate.server.api import create_app
    from numerate.server.guard import LOG
    from numerate.server.limits import Limits

    model, detectors = _open(sources, tables)
    limits, name, examples = Limits(), None, list[str]()
    if model is not None:
        limits, name, examples = _prepared(*model, access)
    log_to_stderr(LOG, logging.WARNING if is_quiet() else logging.INFO)
    app = create_app(
        model[0] if model else None,
        name=name,
        detectors=detectors,
        examples=examples or [EXAMPLE],
        tables=tables,
        limits=limits,
        access=access,
        force_domain=force_domain,
        joining=joining,
    )
    config = http_config(app, limits)
    host, port = listener.getsockname()[:2]
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}/"

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            served = printable(", ".join(source.run for source in sources)) or "rules alone"
            print(f"{served}: {address} (Ctrl-C to stop)", flush=True)

    with _quiet_signals():
        Server(config).run(sockets=[listener])


def _open(
    sources: "Sequence[ModelSource]", tables: "list[Table]"
) -> "tuple[tuple[NumeralLM, ModelSource] | None, list[DetectorLike]]":
    """The language model, with where it is from, and the detectors."""
    from numerate.plausibility.given_tables import check_given
    from numerate.proofreading.opened_models import open_models
    from numerate.proofreading.witnesses import DetectorLike

    found: list[tuple[NumeralLM, ModelSource]] = []
    detectors: list[DetectorLike] = []
    for source in sources:
        for opened in open_models(source.run, source, with_tables=bool(tables)):
            if isinstance(opened, DetectorLike):
                detectors.append(opened)
            else:
                found.append((cast("NumeralLM", opened), source))
    if len(found) > 1:
        names = ", ".join(source.run for _, source in found)
        raise NumerateError(f"serve: got {names}, expected one language model; detectors beside it")
    for model, _ in found:
        if model.sees_tables:
            check_given(model, tables)
    return (found[0] if found else None), detectors


def _prepared(
    model: "NumeralLM", source: ModelSource, access: "Access"
) -> "tuple[Limits, str, list[str]]":
    """Limits, a name and examples; what is computed once is computed now."""
    import torch

    from numerate.pretrained.backbone import parse_reference
    from numerate.server.limits import FOR_LARGE_MODELS, Limits

    limits = FOR_LARGE_MODELS if model.backbone.title else Limits()
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // limits.threads))
    examples = source.example_texts() if access.loopback else []
    try:
        model.checker.glance((examples or [EXAMPLE])[0], model.checker.usual_alarms)
    except CalibrationError as error:
        say(f"{source.run}: predicts, and checks nothing: {error}")
    name = str(model.name) if parse_reference(source.run) else Path(source.run).resolve().name
    return limits, name, examples


def http_config(app: "ASGIApp", limits: "Limits") -> "uvicorn.Config":
    """Plain HTTP without frills: own log, no header that tells of the software, all bounded."""
    import uvicorn

    from numerate.server.connections import PunctualProtocol

    logging.getLogger("uvicorn.access").disabled = True  # it would write whole addresses
    return uvicorn.Config(
        app,
        http=cast("type[asyncio.Protocol]", partial(PunctualProtocol, limits)),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=limits.idle_seconds,
        h11_max_incomplete_event_size=MOST_HEADER_BYTES,
        timeout_graceful_shutdown=int(limits.seconds) + 1,
    )


def log_to_stderr(log: logging.Logger, level: int) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    log.addHandler(handler)
    log.setLevel(level)
    log.propagate = False


@contextmanager
def _quiet_signals() -> Iterator[None]:
    """uvicorn raises the signal that ended it once more; stopping when told to is no error."""
    kinds = (signal.SIGINT, signal.SIGTERM)
    before = {kind: signal.signal(kind, signal.SIG_IGN) for kind in kinds}
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
