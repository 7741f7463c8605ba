"""Hostile HTTP: requests that are odd as bytes, as JSON, or as text, sent to a real server."""

import json
import logging
import random
import re
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn

import numerate
from fuzzing.kind import Setting
from numerate.lm.data.prepare import prepare
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.run import train
from numerate.serve.api import create_app
from numerate.serve.http_config import http_config
from numerate.serve.limits import Limits
from numerate.serve.listening import bind, listen

LIMITS = Limits(seconds=2.0, head_seconds=0.2)  # impatient: what never comes is waited for
PATIENCE = 100.0  # seconds for the last byte of an answer, on a machine that does other things
LARGEST_ANSWER = 4 << 20  # bytes
_STATUS = re.compile(rb"(?:HTTP/1\.1 100 \w*\r\n\r\n)?HTTP/1\.1 (\d{3}) ")

_PIECES = (
    "7", " 1,000.50 ", "007", "0.05", "1e308", "9" * 40, "9" * 5_000, "1 " * 1_200, "１２ ", "٣١",
    "10⁶", "½", "___", "_____", " ___ ___ ", "LV ejection fraction is ", " % of 412 patients",
    "\n\n", "\t", "\r", " ", "\u2028", "\x00", "\x1b[2J", "\x7f", "\ufeff", "\u202e",
    "a\u0301" * 500, "🫀", "\U0010ffff", "[/b]", "<script>", "=1+1", "word " * 600, "x" * 21_000,
    "1." * 600, "1,000," * 300, "-" * 5_000, "(" * 3_000, "\\ud800", "e" * 19_999,
)  # fmt: skip
_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 3, 50, 51, 2**63, 10**400, 0.5, 1e-300, 1.5, float("nan"),
    float("inf"), "", "7", "é", [], {}, [None], ["7"] * 101, {"text": "7"}, "numerals", "sentence",
    [[[[[[]]]]]], "x" * 50_000,
)  # fmt: skip
_FIELDS = (
    "text", "alarms", "details", "start", "end", "count", "level", "claims", "by", "\x00",
    "__proto__", "a" * 9_000,
)  # fmt: skip
_HEADERS = (
    b"Host: evil.example", b"Host: [::1].evil.example", b"Host: ", b"Host: localhost:x",
    b"Content-Length: -1", b"Content-Length: 9999999999999999999", b"Content-Length: 5, 5",
    b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip, chunked", b"Expect: 100-continue",
    b"Upgrade: websocket\r\nConnection: Upgrade", b"Content-Type: text/plain",
    b"Content-Type: application/json; charset=utf-7", b"Content-Encoding: gzip",
    b"Authorization: Bearer \xff", b"Range: bytes=0-", b"Cookie: " + b"a=b; " * 2_000,
    b"X: " + b"a" * 70_000, b"Connection: keep-alive", b"X\x00: 1", b" folded: 1", b"\xff\xfe: 1",
    b"A: 1\r\n" * 300 + b"B: 2",
)  # fmt: skip
_TARGETS = (
    b"/", b"/page/main.js", b"/page/../api.py", b"/%2e%2e/%2e%2e/etc/passwd", b"/v1/openapi.json",
    b"/v1/model", b"/v1/check?" + b"a" * 9_000, b"http://evil.example/v1/model", b"*", b"//",
    b"/v1/\x00", b"/v1/%ff%00", b"/v1/check/", b"", b" ", b"/\xff", b"/" + b"a/" * 5_000,
)  # fmt: skip
_METHODS = (
    b"GET", b"PUT", b"DELETE", b"OPTIONS", b"HEAD", b"TRACE", b"CONNECT", b"PRI", b"\x16\x03\x01",
    b"", b"G\x00T",
)  # fmt: skip


class Requests:
    """An answer is no 500 and has no stack trace, and the server goes on as before."""

    share = 1.0

    def __init__(self, setting: Setting) -> None:
        data, run = setting.workspace / "data", setting.workspace / "run"
        prepare("cardiac", data, documents=200, seed=1, processes=1)
        options = TrainingOptions(epochs=4, batch_size=10)
        train(data, run, vocabulary=200, hidden=32, options=options, device="cpu")
        model = numerate.load(run)
        _ = model.checker.calibration  # what is computed once is computed now
        self._errors = _Errors()
        logging.getLogger().addHandler(self._errors)
        listener = bind("127.0.0.1", 0)
        listen(listener)
        self._address: tuple[str, int] = listener.getsockname()[:2]
        server = uvicorn.Server(http_config(create_app(model, name="run", limits=LIMITS)))
        threading.Thread(target=server.run, args=([listener],), daemon=True).start()

    def damage(self, chance: random.Random, folder: Path) -> str:
        way = chance.choice((odd_text, odd_text, odd_json, odd_head, odd_bytes))
        (folder / "request").write_bytes(way(chance))
        return way.__name__.replace("_", " ")

    def use(self, folder: Path) -> str:
        answer = self._ask((folder / "request").read_bytes())
        assert not self._errors.lines, self._errors.take()
        assert len(answer) <= LARGEST_ANSWER, f"an answer of {len(answer):,} bytes"
        assert b"Traceback" not in answer, "a stack trace"
        found = _STATUS.match(answer)
        assert found or not answer, f"no HTTP: {answer[:80]!r}"
        assert not found or found[1] != b"500", "an error of the server"
        self._wait_until_idle()
        return found[1].decode() if found else "closed"

    def _wait_until_idle(self) -> None:
        """A call that was given up runs on, but not without end."""
        while True:
            health = self._ask(_request(b"GET", b"/v1/health", b""))
            assert _STATUS.match(health), f"not healthy: {health[:80]!r}"
            if b'"busy":0' in health:
                return
            time.sleep(0.01)

    def _ask(self, sent: bytes) -> bytes:
        """All that comes back until the server hangs up."""
        parts: list[bytes] = []
        with socket.create_connection(self._address, PATIENCE) as connection:
            try:
                connection.sendall(sent)
                while part := connection.recv(1 << 16):
                    parts.append(part)
            except ConnectionError:  # it need not listen to the end
                pass
        return b"".join(parts)


class _Errors(logging.Handler):
    """What any logger has to say of an error."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))

    def take(self) -> str:
        told, self.lines = "; ".join(self.lines), []
        return told


def _request(method: bytes, target: bytes, body: bytes, *headers: bytes) -> bytes:
    head = [
        b"%b %b HTTP/1.1" % (method, target),
        b"Host: localhost",
        b"Connection: close",
        b"Content-Type: application/json",
        b"Content-Length: %d" % len(body),
        *headers,
    ]
    return b"\r\n".join(head) + b"\r\n\r\n" + body


def _text(chance: random.Random) -> str:
    pieces = chance.choices(_PIECES, k=chance.choice((1, 2, 2, 3, 5)))
    if chance.random() < 0.3:
        pieces += [chr(chance.randrange(0x20, 0xD800)) for _ in range(chance.randrange(60))]
        chance.shuffle(pieces)
    return "".join(pieces)


def _asked(chance: random.Random) -> tuple[bytes, dict[str, Any]]:
    """A request that is well-formed, of texts that need not be."""
    path = chance.choice((b"check", b"predict", b"rank"))
    if path == b"rank":
        claims = [_text(chance) for _ in range(chance.choice((1, 2, 5)))]
        return b"/v1/rank", {"claims": claims, "by": chance.choice(("numerals", "sentence"))}
    body: dict[str, Any] = {"text": _text(chance)}
    if path == b"check":
        body["details"] = chance.random() < 0.5
    elif chance.random() < 0.4:
        body["start"] = chance.randrange(30)
        body["end"] = body["start"] + chance.randrange(5)
    return b"/v1/" + path, body


def odd_text(chance: random.Random) -> bytes:
    target, body = _asked(chance)
    return _request(b"POST", target, json.dumps(body, ensure_ascii=chance.random() < 0.5).encode())


def odd_json(chance: random.Random) -> bytes:
    target, body = _asked(chance)
    for _ in range(chance.choice((1, 1, 2, 4))):
        body[chance.choice(_FIELDS)] = chance.choice(_VALUES)
    if chance.random() < 0.3:
        body.pop(chance.choice(list(body)))
    text = json.dumps(body)
    if chance.random() < 0.2:
        depth = chance.choice((10, 1_000, 100_000))
        text = text.replace("{", "[" * depth, 1)
    return _request(b"POST", target, text.encode(errors="replace"))


def odd_head(chance: random.Random) -> bytes:
    target, body = _asked(chance)
    method = chance.choice(_METHODS) if chance.random() < 0.4 else b"POST"
    if chance.random() < 0.4:
        target = chance.choice(_TARGETS)
    headers = chance.choices(_HEADERS, k=chance.choice((0, 1, 1, 2, 4)))
    return _request(method, target, json.dumps(body).encode(), *headers)


def odd_bytes(chance: random.Random) -> bytes:
    """A request, or several at once, with bytes lost, changed or repeated."""
    ways: tuple[Callable[[random.Random], bytes], ...] = (odd_text, odd_json, odd_head)
    data = bytearray(b"".join(chance.choice(ways)(chance) for _ in range(chance.choice((1, 1, 3)))))
    for _ in range(chance.choice((1, 1, 3))):
        at = chance.randrange(min(len(data), chance.choice((300, 10**9))) or 1)
        match chance.randrange(4):
            case 0:
                del data[at:]
            case 1:
                del data[at : at + chance.choice((1, 10, 1_000))]
            case 2:
                data[at : at + 1] = chance.randbytes(chance.choice((1, 1, 4, 1_000)))
            case _:
                data[at:at] = data[at : at + 500] * chance.choice((1, 2, 20))
    return bytes(data)
