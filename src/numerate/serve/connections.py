"""Connections that keep the server waiting: for how long, and how many of them.

uvicorn by itself waits without end for the first request of a connection, for the rest of a head,
and for a client that does not read its answer; and once there are too many connections it turns
away whoever comes next. Here every connection has a deadline, and where there are too many, the
one that has kept us waiting longest makes room: who asks is answered, who is silent is not kept.
"""

import asyncio
from collections.abc import Callable
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

from numerate.serve.guard import Guard

LAST_MOMENT = 0.5  # seconds: a request that is on its way when the server ends still arrives


class PunctualProtocol(H11Protocol):
    """uvicorn's protocol with the limits of the application, which a `Guard` protects."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        guard = cast(Guard, self.app)
        self._limits, self._metrics = guard.limits, guard.metrics
        self.timeout_keep_alive = guard.limits.idle_seconds
        self._deadline: asyncio.TimerHandle | None = None
        self._since = 0.0  # when the current wait began
        self._is_last = False  # no request after this one

    @property
    def address(self) -> str | None:
        return self.client[0] if self.client else None

    @property
    def is_answering(self) -> bool:
        """Whether it is our turn: a request is here, and what was said so far has been read."""
        cycle = self.cycle
        if cycle is None or cycle.response_complete or cycle.more_body:
            return False
        return not self.transport.get_write_buffer_size()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait(self._limits.head_seconds)
        self._make_room()

    def handle_events(self) -> None:
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            if self._is_last:
                self._close_after_answer()
            # A time each for the body, for the answer, and for the client to read it.
            limits, answer = self._limits, self._limits.answer_seconds(self.scope["path"])
            self._wait(limits.seconds + answer + limits.head_seconds)

    def on_response_complete(self) -> None:
        self._wait(self._limits.head_seconds)
        super().on_response_complete()  # a request that waits already has a deadline of its own

    def shutdown(self) -> None:
        """Answer the request under way, or one that comes at once, and close.

        So none fails while uvicorn replaces workers.
        """
        self._is_last = True
        if self.cycle is None or self.cycle.response_complete:
            self._begin_wait(LAST_MOMENT, super().shutdown)
        else:
            self._close_after_answer()

    def _close_after_answer(self) -> None:
        self.cycle.keep_alive = False
        self.cycle.default_headers = [*self.cycle.default_headers, (b"connection", b"close")]

    def connection_lost(self, exc: Exception | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        super().connection_lost(exc)

    def _wait(self, seconds: float) -> None:
        """Until the deadline, however many bytes come meanwhile."""
        self._begin_wait(seconds, lambda: self._leave("deadline"))

    def _begin_wait(self, seconds: float, then: Callable[[], None]) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._since = self.loop.time()
        self._deadline = self.loop.call_later(seconds, then)

    def _leave(self, reason: str) -> None:
        self._metrics.closed(reason)
        self.connections.discard(self)
        self.transport.abort()  # what is not read yet is not waited for

    def _make_room(self) -> None:
        everyone = [other for other in self.connections if isinstance(other, PunctualProtocol)]
        neighbours = [other for other in everyone if other.address == self.address]
        if len(neighbours) > self._limits.per_address:
            crowd = neighbours
        elif len(everyone) > self._limits.connections:
            crowd = everyone
        else:
            return
        waiting = [other for other in crowd if other is not self and not other.is_answering]
        min(waiting, key=lambda other: other._since, default=self)._leave("crowd")
