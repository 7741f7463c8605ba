"""What holds for every request: who may ask, how much, how long, and what is logged."""

import http.client
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from numerate.documents.document import Document, Table
from numerate.lm.model.assessments import Assessments, Glance
from numerate.serve.guard import Access
from numerate.serve.limits import Limits
from numerate.text.tokenizer import tokenize

SECRET = "Mrs Miller's potassium is 4.2"


class Fake:
    """A model that waits, or fails, as a test wants it."""

    name = "fake"
    members = ()
    usual_alarms = 0.01
    tokens = staticmethod(tokenize)
    sees_tables = False

    def __init__(self, act: Callable[[str], Any] = lambda text: None) -> None:
        self.checker = self
        self.act = act

    def glance(self, text: Document, alarms: float, tables: list[Table]) -> Assessments[Glance]:
        assert not tables
        self.act(text.text)
        return Assessments([], 0)


def check(client: httpx.Client, text: str = "7") -> httpx.Response:
    return client.post("/v1/check", json={"text": text})


def wait_until(happened: Callable[[], object], seconds: float = 60, pause: float = 0.01) -> None:
    """What never happens is a failure, and not a test that never ends."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(pause)


def test_a_foreign_host_name_is_refused(client: httpx.Client) -> None:
    """A page of another site whose name was made to point to this machine."""
    foreign = ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "[::2]")
    disguised = ("[::1].evil.example", "[::1]evil.example:80", "[::1%evil.example]", "127.0.0.1:x")
    for host in (*foreign, *disguised, "[localhost]", "::1", "192.168.1.2", "0.0.0.0", ""):
        answer = client.get("/v1/model", headers={"host": host})
        assert (answer.status_code, answer.json().keys()) == (421, {"error"}), host
    for host in ("localhost", "LOCALHOST:8000", "127.0.0.1:9", "[::1]:8000", "127.0.0.2:8000"):
        assert client.get("/v1/model", headers={"host": host}).status_code == 200


def test_a_form_of_another_page_cannot_ask(client: httpx.Client) -> None:
    """A browser sends these types without asking the server first; JSON it does not."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        answer = client.post("/v1/check", content=b'{"text": "7"}', headers={"content-type": kind})
        assert answer.status_code == 422
    answer = client.options("/v1/check", headers={"origin": "https://evil.example"})
    assert answer.status_code == 405
    assert "access-control-allow-origin" not in answer.headers


def test_a_token_is_needed_for_the_api_but_not_for_the_page(serving: Any) -> None:
    with serving(Fake(), access=Access(loopback=False, token="right")) as client:
        assert client.get("/").status_code == 200
        assert client.get("/", headers={"host": "any.example"}).status_code == 200
        for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "right"}):
            for path in ("model", "health", "openapi.json"):
                answer = client.get(f"/v1/{path}", headers=headers)
                assert answer.status_code == 401
                assert answer.headers["www-authenticate"] == "Bearer"
            assert client.post("/v1/check", json={"text": "7"}, headers=headers).status_code == 401
        right = {"authorization": "Bearer right"}
        assert client.get("/v1/model", headers=right).status_code == 200


def test_every_answer_has_the_security_headers(client: httpx.Client) -> None:
    for path in ("/", "/page/main.js", "/v1/health", "/nowhere", "/v1/openapi.json"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none';")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers


def test_too_long_bodies_are_refused_whether_they_say_so_or_not(client: httpx.Client) -> None:
    body = b'{"text": "' + b"x" * 2_000_000 + b'"}'
    chunks = (body[start : start + 10_000] for start in range(0, len(body), 10_000))
    for content in (body, chunks):  # with a length; in chunks, without one
        answer = client.post(
            "/v1/check", content=content, headers={"content-type": "application/json"}
        )
        assert answer.status_code == 413
        assert "expected at most 1,572,864 bytes" in answer.json()["error"]
    assert check(client).status_code == 200


def test_a_body_that_does_not_come_is_not_waited_for(serving: Any) -> None:
    with serving(Fake(), limits=Limits(seconds=0.2)) as client:
        connection = http.client.HTTPConnection("127.0.0.1", client.base_url.port, timeout=10)
        connection.putrequest("POST", "/v1/check")
        connection.putheader("content-type", "application/json")
        connection.putheader("content-length", "100")
        connection.endheaders(b'{"text"')
        assert connection.getresponse().status == 408
        connection.close()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x" * 21, "too long: got 21 characters, expected at most 20"),
        ("1 2 3 4", "too long: got 4 numerals, expected at most 3"),
        ("１ ２ ３ ４", "too long: got 4 numerals, expected at most 3"),
    ],
)
def test_too_long_texts_are_refused(serving: Any, text: str, message: str) -> None:
    with serving(Fake(), limits=Limits(characters=20, numerals=3, claims=2)) as client:
        for path, body in (
            ("check", {"text": text}),
            ("predict", {"text": text}),
            ("rank", {"claims": [text]}),
        ):
            answer = client.post(f"/v1/{path}", json=body)
            assert (answer.status_code, answer.json()) == (413, {"error": message})
        answer = client.post("/v1/rank", json={"claims": ["1", "2", "3"]})
        assert answer.json() == {"error": "too long: got 3 texts, expected at most 2"}


def test_what_takes_too_long_is_given_up_but_keeps_its_place(serving: Any) -> None:
    go_on = threading.Event()
    limits = Limits(seconds=0.3, threads=1, waiting=0)
    with serving(Fake(lambda text: go_on.wait(20)), limits=limits) as client:
        late = check(client)
        assert late.status_code == 503
        assert late.headers["retry-after"] == "5"
        assert late.json()["error"].startswith("not done within 0.3 s")
        assert check(client).status_code == 429  # the thread is still at it
        assert client.get("/v1/health").json() == {"status": "ok", "busy": 1}
        go_on.set()
        wait_until(lambda: not client.get("/v1/health").json()["busy"])
        assert check(client).status_code == 200


def test_beyond_the_places_requests_are_turned_away_at_once(serving: Any) -> None:
    go_on = threading.Event()
    running = threading.Semaphore(0)

    def act(text: str) -> None:
        running.release()
        go_on.wait(20)

    limits = Limits(threads=2, waiting=3)
    with serving(Fake(act), limits=limits) as client, ThreadPoolExecutor(12) as pool:
        answers = [pool.submit(check, client) for _ in range(12)]
        wait_until(lambda: sum(answer.done() for answer in answers) >= 7)
        assert client.get("/v1/health").json()["busy"] == 5
        go_on.set()
        results = [answer.result() for answer in answers]
    assert sorted(result.status_code for result in results) == [200] * 5 + [429] * 7
    turned_away = next(result for result in results if result.status_code == 429)
    assert turned_away.headers["retry-after"] == "1"


def test_what_nobody_waits_for_is_not_begun(serving: Any) -> None:
    go_on = threading.Event()
    seen: list[str] = []

    def act(text: str) -> None:
        seen.append(text)
        go_on.wait(20)

    with (
        serving(Fake(act), limits=Limits(threads=1)) as client,
        ThreadPoolExecutor(1) as pool,
    ):
        first = pool.submit(check, client, "first")
        wait_until(lambda: seen)
        with pytest.raises(httpx.ReadTimeout):
            client.post("/v1/check", json={"text": "left"}, timeout=0.2)
        wait_until(lambda: client.get("/v1/health").json()["busy"] <= 1)
        go_on.set()
        assert first.result().status_code == 200
        assert check(client, "last").status_code == 200
    assert seen == ["first", "last"]


def test_an_error_of_the_model_is_no_stack_trace(
    serving: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(text: str) -> None:
        raise RuntimeError(f"cannot read {text}")

    with caplog.at_level(logging.DEBUG), serving(Fake(fail)) as client:
        answer = check(client, SECRET)
        assert answer.status_code == 500
        assert answer.json() == {"error": "an error of the server; its log says where"}
        assert client.get("/v1/health").status_code == 200
    lines = written(caplog)
    assert any(line.startswith("RuntimeError in test_guard.py, line ") for line in lines)
    assert not any("Miller" in line for line in lines)
    assert not any(record.exc_info for record in caplog.records)


def written(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The lines of the log, without those of the client."""
    ours = [record for record in caplog.records if not record.name.startswith(("http", "asyncio"))]
    return [record.getMessage() for record in ours]


def test_the_log_has_no_text(client: httpx.Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        check(client, SECRET)
        client.post("/v1/check", json={"text": SECRET, SECRET: 1})
        client.post("/v1/check", content=SECRET)
        client.get(f"/v1/check/{SECRET}")
        client.get("/v1/model", params={"text": SECRET})
        client.post("/v1/predict", json={"text": SECRET, "start": 0, "end": 3})
        while len(lines := written(caplog)) < 6:  # a line follows its answer
            time.sleep(0.01)
    assert not any("Miller" in line or "4.2" in line for line in lines)
    assert lines[0].startswith("POST /v1/check 200 ")
    assert lines[3].startswith("GET (other) 404 ")
    assert all(line.endswith(" ms") for line in lines)
