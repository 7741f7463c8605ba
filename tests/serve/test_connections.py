"""Clients that keep the server waiting lose their connection; whoever asks is answered."""

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.types import ASGIApp
from tests.serve.test_guard import wait_until

from numerate.documents.document import Document, Table
from numerate.lm.model.assessments import Assessments, Glance
from numerate.serve import connections
from numerate.serve.api import create_app
from numerate.serve.http_config import http_config
from numerate.serve.limits import Limits
from numerate.serve.listening import address_of, bind, listen
from numerate.text.tokenizer import tokenize

IMPATIENT = Limits(seconds=0.1, head_seconds=0.2)
NEVER = 600.0  # seconds: what happens is not a matter of time
ASKED = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Fake:
    """A model whose answers wait until they may go on."""

    name = "fake"
    members = ()
    usual_alarms = 0.01
    tokens = staticmethod(tokenize)
    sees_tables = False

    def __init__(self) -> None:
        self.checker = self
        self.begun = threading.Semaphore(0)
        self.go_on = threading.Event()

    def glance(self, text: Document, alarms: float, tables: list[Table]) -> Assessments[Glance]:
        self.begun.release()
        self.go_on.wait(20)
        return Assessments([], 0)


def connect(client: httpx.Client, source: str = "127.0.0.1") -> socket.socket:
    server = ("127.0.0.1", client.base_url.port or 0)
    return socket.create_connection(server, timeout=10, source_address=(source, 0))


def is_closed(connection: socket.socket) -> bool:
    """Whether the server hangs up; a connection that it keeps times out."""
    with suppress(ConnectionError):
        while connection.recv(1000):
            pass
    return True


def hangs_up(connection: socket.socket, sent: bytes) -> bool:
    try:
        connection.sendall(sent)
        return connection.recv(1000) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


@pytest.mark.parametrize("sent", [b"", b"GET", ASKED[:-2]])
def test_a_head_that_does_not_come_is_not_waited_for(serving: Any, sent: bytes) -> None:
    with serving(Fake(), limits=IMPATIENT) as client, connect(client) as connection:
        connection.sendall(sent)
        assert is_closed(connection)
        health = httpx.get(client.base_url.join("/v1/health"))  # on a connection of its own
        assert health.status_code == 200


def test_a_head_that_comes_byte_by_byte_is_not_waited_for(serving: Any) -> None:
    with serving(Fake(), limits=IMPATIENT) as client, connect(client) as connection:
        connection.settimeout(0.01)
        assert any(hangs_up(connection, b"X") for _ in range(1000))  # ten seconds


def test_the_next_request_has_a_time_limit_as_the_first(serving: Any) -> None:
    with serving(Fake(), limits=IMPATIENT) as client, connect(client) as connection:
        connection.sendall(ASKED)
        assert connection.recv(10_000).startswith(b"HTTP/1.1 200")
        connection.sendall(ASKED[:10])
        assert is_closed(connection)


def test_who_does_not_read_the_answers_is_not_waited_for(serving: Any) -> None:
    with serving(Fake(), limits=IMPATIENT) as client, socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(10)
        connection.connect(("127.0.0.1", client.base_url.port))
        asked = b"GET /page/style.css HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000
        with pytest.raises(ConnectionError):
            all(connection.sendall(asked) is None for _ in count())  # all buffers are full


def is_healthy(client: httpx.Client) -> bool:
    """By a connection of its own: one that was kept alive may be the first to go."""
    return httpx.get(client.base_url.join("/v1/health"), timeout=30).status_code == 200


def test_silent_connections_do_not_shut_anyone_out(serving: Any) -> None:
    limits = Limits(head_seconds=NEVER, connections=8, per_address=4)
    with serving(Fake(), limits=limits) as client, ExitStack() as opened:
        silent = [opened.enter_context(connect(client)) for _ in range(40)]
        silent[0].sendall(ASKED[:20])
        assert is_healthy(client)
        assert all(is_closed(connection) for connection in silent[:30])


def test_one_address_does_not_shut_out_another(serving: Any) -> None:
    limits = Limits(head_seconds=NEVER, connections=8, per_address=4)
    with serving(Fake(), limits=limits) as client, ExitStack() as opened:
        first = opened.enter_context(connect(client, "127.0.0.2"))
        crowd = [opened.enter_context(connect(client, "127.0.0.3")) for _ in range(40)]
        first.sendall(ASKED)
        assert first.recv(10_000).startswith(b"HTTP/1.1 200")  # it was not its turn to go
        crowd[-1].sendall(ASKED)
        assert crowd[-1].recv(10_000).startswith(b"HTTP/1.1 200")
        for last in range(4, 10):  # more addresses than there is room for
            opened.enter_context(connect(client, f"127.0.0.{last}"))
        assert is_healthy(client)


def test_a_request_that_is_computed_keeps_its_connection(serving: Any) -> None:
    model = Fake()
    limits = Limits(head_seconds=NEVER, seconds=20, per_address=2)
    with (
        serving(model, limits=limits) as client,
        ExitStack() as opened,
        ThreadPoolExecutor(2) as pool,
    ):

        def check() -> int:
            with httpx.Client(base_url=client.base_url, timeout=30) as other:
                return other.post("/v1/check", json={"text": "7"}).status_code

        answers = [pool.submit(check) for _ in range(2)]
        for _ in answers:
            assert model.begun.acquire(timeout=60)
        newcomers = [opened.enter_context(connect(client)) for _ in range(5)]
        assert all(is_closed(connection) for connection in newcomers)
        model.go_on.set()
        assert [answer.result() for answer in answers] == [200, 200]


@contextmanager
def server_of(app: ASGIApp) -> Iterator[tuple[uvicorn.Server, httpx.Client]]:
    """A server that a test can end, and a client of it."""
    server = uvicorn.Server(http_config(app))
    with bind("127.0.0.1", 0) as listener, ThreadPoolExecutor(1) as pool:
        listen(listener)
        running = pool.submit(server.run, sockets=[listener])
        with httpx.Client(base_url=address_of(listener), timeout=30) as client:
            yield server, client
            server.should_exit = True
            running.result(20)


def test_a_request_that_is_on_its_way_when_the_server_ends_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So that no request fails while one worker takes the place of another."""
    monkeypatch.setattr(connections, "LAST_MOMENT", 5.0)
    with server_of(create_app(None)) as (server, client), ExitStack() as opened:
        kept, new = (opened.enter_context(connect(client)) for _ in range(2))
        kept.sendall(ASKED)
        assert kept.recv(10_000).startswith(b"HTTP/1.1 200")
        wait_until(lambda: len(server.server_state.connections) == 2)
        server.should_exit = True
        wait_until(lambda: not server.servers[0].is_serving())
        for connection in (kept, new):
            connection.sendall(ASKED)
            answer = connection.recv(10_000)
            assert answer.startswith(b"HTTP/1.1 200")
            assert b"connection: close" in answer
            assert is_closed(connection)


def test_who_asks_nothing_is_not_waited_for_when_the_server_ends() -> None:
    limits = Limits(head_seconds=NEVER)
    with server_of(create_app(None, limits=limits)) as (server, client), connect(client) as silent:
        wait_until(lambda: len(server.server_state.connections) == 1)
        server.should_exit = True
        assert is_closed(silent)


def test_requests_under_way_end_with_the_old_models_and_new_connections_have_the_new() -> None:
    old, new = Fake(), Fake()
    asked = {"text": "7"}
    with (
        server_of(create_app(old, name="old")) as (server, client),  # type: ignore[arg-type]
        ThreadPoolExecutor(1) as pool,
    ):
        under_way = pool.submit(client.post, "/v1/check", json=asked)
        assert old.begun.acquire(timeout=20)
        server.config.loaded_app = create_app(new, name="new")  # type: ignore[arg-type]
        new.go_on.set()
        with httpx.Client(base_url=client.base_url, timeout=30) as other:
            assert other.post("/v1/check", json=asked).status_code == 200
            assert other.get("/v1/model").json()["name"] == "new"
        assert not under_way.done()
        old.go_on.set()
        assert under_way.result().status_code == 200
