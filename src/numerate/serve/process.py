"""One process that answers: its models, its application, and how one model follows another.

The new model is loaded beside the old, and gets an application of its own; then requests that come
go to it, while those that are under way end with the old one. Threads, counts and connections stay.
"""

import asyncio
import gc
import logging
import socket
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import cast

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from numerate.errors import FailureError, NumerateError, one_line
from numerate.lm.model.given_tables import read_given
from numerate.serve.connections import PunctualProtocol
from numerate.serve.health_routes import Standing
from numerate.serve.limits import Limits
from numerate.serve.listening import BACKLOG, listen
from numerate.serve.metrics import ServerMetrics
from numerate.serve.served_models import Plan, open_served
from numerate.serve.steady_memory import keep_heap_small, keep_memory_steady
from numerate.serve.workers import Workers

MOST_HEADER_BYTES = 16 * 1024


class Switch:
    """The application of the newest model: every request goes to the one that is there when it
    comes."""

    def __init__(self, app: ASGIApp, workers: Workers) -> None:
        self.app, self._workers = app, workers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":  # which none of the applications outlasts
            await self._live(receive, send)
        else:
            await self.app(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        tidying = asyncio.create_task(keep_memory_steady())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        tidying.cancel()
        self._workers.close()
        await send({"type": "lifespan.shutdown.complete"})


class ServerProcess:
    def __init__(
        self,
        plan: Plan,
        *,
        worker: int = 0,
        folder: Path | None = None,
        started: float | None = None,
    ) -> None:
        """`folder` is where several workers count, of which this is one."""
        keep_heap_small()
        self._plan, self._tables = plan, read_given(plan.tables)
        opened = open_served(plan, self._tables)
        self.limits, self._workers = opened.limits, Workers(opened.limits)
        self._metrics = ServerMetrics(worker, folder, started or time.time())
        self._standing = Standing()
        self._switch = Switch(opened.application(plan, self._tables, *self._shared), self._workers)
        self._next: ASGIApp | None = None

    @property
    def _shared(self) -> tuple[Workers, ServerMetrics, Standing]:
        return self._workers, self._metrics, self._standing

    def load(self) -> None:
        """The model as it is now, beside the one that is served.

        Whatever is wrong with it is a NumerateError, and leaves all as it was.
        """
        try:
            opened = open_served(self._plan, self._tables)
        except NumerateError:
            raise
        except Exception as error:  # of what was spoilt, a reader may say anything
            raise FailureError(f"{type(error).__name__}: {one_line(error)}") from error
        if opened.limits != self.limits:
            raise NumerateError("the new model is of a kind with other limits: start the server")
        self._next = opened.application(self._plan, self._tables, *self._shared)

    def switch(self) -> None:
        """What was loaded answers from now on."""
        if self._next is not None:
            self._switch.app, self._next = self._next, None
            gc.collect()  # what is old is large, and held by nobody but itself
            self._metrics.reloaded(switched=True)

    def drop(self) -> None:
        """What was loaded is not wanted: another worker could not load it, or this one."""
        self._next = None
        gc.collect()
        self._metrics.reloaded(switched=False)

    def tell(self, *, is_stale: bool) -> None:
        """Whether the model on disk could be loaded, by all workers."""
        self._standing.is_stale = is_stale
        self._metrics.stale(is_stale)

    def run(self, listener: socket.socket, ready: Callable[[], None]) -> None:
        """Answer until SIGTERM or Ctrl-C; what was asked before is still answered."""
        shared = self._plan.workers > 1
        config = http_config(self._switch, self.limits, self._metrics, takes_one=shared)
        listen(listener)

        class Server(uvicorn.Server):
            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                listen(listener)  # uvicorn has made the queue as short as what it accepts at a time
                ready()

        Server(config).run(sockets=[listener])


def http_config(
    app: ASGIApp, limits: Limits, metrics: ServerMetrics | None = None, *, takes_one: bool = False
) -> uvicorn.Config:
    """Plain HTTP without frills: own log, no header that tells of the software, all bounded.

    `takes_one`: connections are accepted one at a time, which leaves some for other workers.
    """
    logging.getLogger("uvicorn.access").disabled = True  # it would write whole addresses
    protocol = partial(PunctualProtocol, limits, metrics or ServerMetrics())
    return uvicorn.Config(
        app,
        http=cast("type[asyncio.Protocol]", protocol),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=1 if takes_one else BACKLOG,
        timeout_keep_alive=limits.idle_seconds,
        h11_max_incomplete_event_size=MOST_HEADER_BYTES,
        timeout_graceful_shutdown=int(limits.seconds) + 1,
    )
