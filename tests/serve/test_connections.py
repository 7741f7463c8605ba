"""Clients that keep the server waiting lose their connection; whoever asks is answered."""

import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import count
from typing import Any

import httpx
import pytest

from numerate.documents.document import Document, Table
from numerate.lm.model.assessments import Assessments, Glance
from numerate.serve.limits import Limits
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
