"""What stands before the application: who may ask, how much, and what is written about it.

The outermost layer, so that its rules hold for every answer: security headers, no stack trace,
and a log of methods, paths, statuses and times, never of texts.
"""

import asyncio
import hmac
import time
from dataclasses import dataclass
from pathlib import Path

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from numerate.serve.hosts import is_of_another_site, is_own_host
from numerate.serve.limits import FILES, Limits
from numerate.serve.log import LOG
from numerate.serve.metrics import ServerMetrics
from numerate.serve.problems import GONE, LANGUAGETOOL, SERVER_ERROR, RefusedError, refusal

API = ("/v1/", LANGUAGETOOL, "/metrics")
DISCARDED_BYTES = 64 << 20  # of a body that is too long: who sends it should also read why
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
RAW_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


@dataclass(frozen=True, slots=True)
class Access:
    """Who may ask."""

    loopback: bool = True  # only this machine: then a name that is not its own is an attack
    token: str | None = None  # what a request for the API must bear

    def check(self, path: str, headers: dict[bytes, bytes]) -> None:
        if self.loopback and not is_own_host(headers.get(b"host", b"")):
            raise RefusedError(421, "this server answers on localhost only")
        if path.startswith(LANGUAGETOOL) and is_of_another_site(headers):
            raise RefusedError(403, "pages of other sites may not ask")
        if path.startswith(API) and not self.is_borne(headers):
            raise RefusedError(401, "a token is needed: send it as Authorization: Bearer …")

    def is_borne(self, headers: dict[bytes, bytes]) -> bool:
        """Whether a request bears the token, or none is needed."""
        if self.token is None:
            return True
        got = headers.get(b"authorization", b"")
        return hmac.compare_digest(got, b"Bearer " + self.token.encode())


class Guard:
    def __init__(
        self,
        app: ASGIApp,
        limits: Limits,
        access: Access,
        paths: set[str],
        metrics: ServerMetrics,
    ) -> None:
        self.app = app
        self.limits = limits
        self.access = access
        self.paths = paths  # that may be logged; another could hold anything
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        self.metrics.begun()
        answer = _Answer(send)
        try:
            await self._answer(scope, receive, answer)
        except RefusedError as refused:
            await answer.end(refusal(refused, scope["path"]), scope, receive)
        except Exception as error:
            LOG.error("%s in %s", type(error).__name__, _place(error))  # its message may quote text
            await answer.end(refusal(SERVER_ERROR, scope["path"]), scope, receive)
        finally:
            method = scope["method"] if scope["method"] in METHODS else "(other)"
            path = scope["path"] if scope["path"] in self.paths else "(other)"
            took = time.perf_counter() - start
            self.metrics.ended(method, path, answer.status, took)
            LOG.info("%s %s %s %.0f ms", method, path, answer.status or "gone", 1000 * took)

    async def _answer(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        headers = dict(scope["headers"])
        try:
            async with asyncio.timeout(self.limits.seconds):
                body = await self._body(receive, self._most(scope["path"], headers))
        except TimeoutError:
            raise RefusedError(408, "the request did not arrive in time") from None
        self.access.check(scope["path"], headers)
        await self.app(scope, _replay(body, receive), answer.send)

    def _most(self, path: str, headers: dict[bytes, bytes]) -> int:
        """Bytes that are kept: files are large, but for those who may not ask they are not kept."""
        try:
            self.access.check(path, headers)
        except RefusedError:
            return self.limits.body_bytes
        return self.limits.file_bytes if path.startswith(FILES) else self.limits.body_bytes

    async def _body(self, receive: Receive, most: int) -> bytes:
        """The whole body; one that is too long is read on without being kept, then refused."""
        parts: list[bytes] = []
        size, more = 0, True
        while more and size < most + DISCARDED_BYTES:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise RefusedError(GONE, "the client has gone")
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
            if size <= most:
                parts.append(message.get("body", b""))
        if size > most:
            raise RefusedError(413, f"the request is too long: expected at most {most:,} bytes")
        return b"".join(parts)


class _Answer:
    """Sends an answer with the headers that all have, and knows what has been sent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status: int | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = list(message.get("headers", []))
            names = {name for name, _ in own}
            message["headers"] = own + [pair for pair in RAW_HEADERS if pair[0] not in names]
        await self._send(message)

    async def end(self, response: Response, scope: Scope, receive: Receive) -> None:
        """The last word, unless something has been sent already or nobody listens."""
        if self.status is None and response.status_code != GONE:
            await response(scope, receive, self.send)


def _replay(body: bytes, receive: Receive) -> Receive:
    """The body in one piece; after it, what the client does next: leave."""
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _place(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "an unknown place"
    return f"{Path(trace.tb_frame.f_code.co_filename).name}, line {trace.tb_lineno}"
