"""One process that answers: plain uvicorn, and models that SIGHUP opens again."""

import signal
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import uvicorn

from numerate.errors import one_line
from numerate.serve.http_config import http_config
from numerate.serve.listening import listen
from numerate.serve.log import LOG
from numerate.serve.metrics import ServerMetrics
from numerate.serve.served_models import Plan, open_served
from numerate.serve.steady_memory import keep_memory_steady
from numerate.serve.terminal import has_terminal


def serve_alone(plan: Plan, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until SIGTERM or Ctrl-C; call `ready` once the models are open."""
    keep_memory_steady()
    metrics = ServerMetrics()
    config = http_config(open_served(plan).application(plan, metrics))
    server = uvicorn.Server(config)
    had_terminal = has_terminal()

    def end() -> None:
        server.should_exit = True

    def reload() -> None:
        try:
            config.loaded_app = open_served(plan).application(plan, metrics)
        except Exception as error:  # a reader of a broken file may raise anything
            LOG.error("the models cannot be opened, the old ones go on: %s", one_line(error))
        else:
            LOG.info("the models were opened again, and answer from now on")

    def hang_up() -> None:
        if had_terminal and not has_terminal():
            end()
        else:
            reloading.submit(reload)

    listen(listener)
    with ThreadPoolExecutor(1) as reloading:
        signal.signal(signal.SIGHUP, lambda *_: hang_up())
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: end())  # until uvicorn runs, which raises it once more
        ready()
        server.run(sockets=[listener])
