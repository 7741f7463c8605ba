"""A small trained run, and servers on free ports of this machine."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from tests.trials import TABLE, TEXT

import numerate
from numerate.lm.data.prepare import prepare
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.run import train
from numerate.serve.api import create_app
from numerate.serve.http_config import http_config
from numerate.serve.listening import bind, listen

Serving = Callable[..., AbstractContextManager[httpx.Client]]


def pytest_configure(config: pytest.Config) -> None:
    """Load what tests of models share; a `conftest.py` below the first cannot name plugins."""
    config.pluginmanager.import_plugin("tests.trained")


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("server")
    prepare("cardiac", folder / "data", documents=300, seed=1, processes=1)
    options = TrainingOptions(epochs=6, batch_size=16)
    train(folder / "data", folder / "run", vocabulary=300, options=options, device="cpu")
    return folder / "run"


@pytest.fixture(scope="session")
def model(run: Path) -> NumeralLM:
    return numerate.load(run)


@contextmanager
def serve(model: Any, **options: Any) -> Iterator[httpx.Client]:
    """A real server in a thread, and a client of it."""
    app = create_app(model, **{"name": "run", **options})
    server = uvicorn.Server(http_config(app))
    with bind("127.0.0.1", 0) as listener:
        listen(listener)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            with httpx.Client(base_url=address(listener), timeout=30) as client:
                client.get("/v1/health")
                yield client
        finally:
            server.should_exit = True
            thread.join()


def address(listener: socket.socket) -> str:
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture(scope="session")
def serving() -> Serving:
    return serve


@pytest.fixture(scope="session")
def seeing(grounded: dict[str, NumeralLM]) -> Iterator[httpx.Client]:
    """A server whose model sees tables, and was started with one."""
    with serve(grounded["tables"], examples=[TEXT], tables=[TABLE]) as client:
        yield client


@pytest.fixture(scope="session")
def client(model: NumeralLM) -> Iterator[httpx.Client]:
    """The server that most tests share: healthy after each of them."""
    with serve(model, examples=["The ejection fraction is 60 %."]) as client:
        yield client
