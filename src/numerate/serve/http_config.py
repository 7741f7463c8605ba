"""How uvicorn speaks HTTP here: without frills, with our own log, and all of it bounded."""

import logging
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

from numerate.serve.connections import PunctualProtocol
from numerate.serve.listening import BACKLOG

MOST_HEADER_BYTES = 16 * 1024
ENDING_SECONDS = 90  # for what was asked to be answered: longer than a file may take
LOADING_SECONDS = 120  # for a new worker to answer, and for any to answer uvicorn's ping


def http_config(app: ASGIApp | Callable[[], ASGIApp], workers: int = 1) -> uvicorn.Config:
    """Return the configuration for an application, or for several workers for its factory."""
    logging.getLogger("uvicorn.access").disabled = True  # it would write whole addresses
    return uvicorn.Config(
        app,
        factory=workers > 1,
        workers=workers,
        http=PunctualProtocol,
        ws="none",
        lifespan="on" if workers > 1 else "off",  # one application may follow another
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        h11_max_incomplete_event_size=MOST_HEADER_BYTES,
        timeout_graceful_shutdown=ENDING_SECONDS,
        timeout_worker_healthcheck=LOADING_SECONDS,
    )
