"""Whatever is sent: an answer in the four hundreds, and a healthy server after it."""

import json
import socket
from contextlib import suppress

import httpx
import pytest

JSON = {"content-type": "application/json"}
NUMERALS = " ".join(map(str, range(10_000)))

BODIES: dict[str, bytes] = {
    "nothing": b"",
    "binary": bytes(range(256)) * 64,
    "not UTF-8": b'{"text": "\xff\xfe\x80"}',
    "half a request": b'{"text": "7',
    "nested arrays": b"[" * 100_000 + b"]" * 100_000,
    "nested objects": b'{"text":' * 20_000 + b"7" + b"}" * 20_000,
    "NaN": b'{"text": "7", "alarms": NaN}',
    "infinity": b'{"text": "7", "alarms": 1e999}',
    "NaN as text": b'{"text": NaN}',
    "long integer": b'{"text": "7", "alarms": ' + b"9" * 50_000 + b"}",
    "raw control characters": b'{"text": "a\x00\x01\x1b[31mb"}',
    "escaped control characters": b'{"text": "a\\u0000\\u0001\\u001b[31mb"}',
    "lone surrogate": b'{"text": "\\ud800 7"}',
    "lone surrogate as a name": b'{"text": "7", "\\udfff": 1}',
    "array": b'["text"]',
    "string": b'"text"',
    "null": b"null",
    "repeated unknown names": b'{"a": 1, "a": 2}',
    "10,000 numerals": json.dumps({"text": NUMERALS}).encode(),
    "a million characters": json.dumps({"text": "a" * 1_000_000}).encode(),
    "twenty megabytes": b'{"text": "' + b"1 " * 10_000_000 + b'"}',
}


@pytest.mark.parametrize("path", ["check", "predict", "rank"])
@pytest.mark.parametrize("name", BODIES)
def test_hostile_bodies(client: httpx.Client, path: str, name: str) -> None:
    answer = client.post(f"/v1/{path}", content=BODIES[name], headers=JSON)
    assert 400 <= answer.status_code < 500, answer.text
    assert answer.json().keys() == {"error"}
    assert len(answer.content) < 1000
    assert "Traceback" not in answer.text
    assert client.get("/v1/health").json() == {"status": "ok", "busy": 0}


@pytest.mark.parametrize(
    "text",
    [
        "1" * 19_000,
        "." * 20_000,
        "1." * 900,
        "1,000," * 300,
        "\u202e\u200f7\ufeff",
        "７７７ ٣٤ ² 10⁶ ½",
        "a\u0301" * 9_000 + " 7",
        "\n" * 19_999 + "7",
        "<script>alert(7)</script>",
        "'; DROP TABLE numerals; -- 7",
        "🫀" * 19_000 + " 7",
    ],
)
def test_odd_but_possible_texts_are_answered(client: httpx.Client, text: str) -> None:
    answer = client.post("/v1/check", json={"text": text})
    assert answer.status_code == 200, answer.text
    for numeral in answer.json()["numerals"]:
        assert text[numeral["start"] : numeral["end"]] == numeral["written"]


def test_a_long_text_after_a_gap_is_refused_before_it_is_read(client: httpx.Client) -> None:
    """It would be read once for each of some hundred candidates."""
    for text in ("It is ___ ml. " + "and so on " * 1_900, "and so on " * 1_900 + "___ ml."):
        answer = client.post("/v1/predict", json={"text": text})
        assert answer.status_code == 413
        assert answer.json()["error"].endswith(" tokens around the gap, expected at most 500")
    text = "１ " * 1_001  # full-width digits are numerals too
    answer = client.post("/v1/check", json={"text": text})
    assert answer.json() == {"error": "too long: got 1,001 numerals, expected at most 1,000"}


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_other_methods_are_refused(client: httpx.Client, method: str) -> None:
    assert client.request(method, "/v1/check").status_code == 405


@pytest.mark.parametrize(
    "path",
    [
        "/page/../api.py",
        "/page/%2e%2e/api.py",
        "/page/",
        "/page/index.html",
        "/docs",
        "/v1/check/",
        "/v3/check",
    ],
)
def test_other_paths_lead_nowhere(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.json()) == (404, {"error": "not found"})


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS
        b"GET / HTTP/1.1\r\n\r\n",  # no host
        b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
    ],
)
def test_what_is_no_request_closes_its_own_connection_only(
    client: httpx.Client, sent: bytes
) -> None:
    with socket.create_connection(("127.0.0.1", client.base_url.port or 0), 10) as connection:
        answer = b""
        with suppress(OSError):  # the server may close before all is sent
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(1000)
    assert not answer or answer.startswith(b"HTTP/1.1 4")
    assert client.get("/v1/health").status_code == 200
