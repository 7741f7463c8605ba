"""A few threads that compute, and a bounded queue before them.

A thread cannot be stopped from outside. A call that outlasts its time limit is therefore given up
by the request that made it, but keeps its place until it ends: however slow the model is, no more
than `threads` calls run and `waiting` wait.
"""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from numerate.serve.limits import Limits
from numerate.serve.problems import GONE, RefusedError

Result = TypeVar("Result")


class Workers:
    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.places = limits.threads + limits.waiting
        self.taken = 0  # touched by the event loop only
        self.pool = ThreadPoolExecutor(limits.threads, thread_name_prefix="numerate")

    async def call(
        self, gone: Callable[[], Awaitable[Any]], function: Callable[[], Result], seconds: float
    ) -> Result:
        """What `function` returns, from one of the threads, within some `seconds`.

        `gone` returns when the client has left; what nobody waits for is not begun.
        """
        if self.taken >= self.places:
            raise RefusedError(429, "the server is busy: try again in a second", retry_after=1)
        self.taken += 1
        loop = asyncio.get_running_loop()
        work: Future[Result] = self.pool.submit(function)
        work.add_done_callback(lambda _: loop.call_soon_threadsafe(self._release))
        waiter = asyncio.ensure_future(asyncio.wrap_future(work))
        left = asyncio.ensure_future(gone())
        try:
            await asyncio.wait({waiter, left}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if waiter.done():
                return waiter.result()
            if left.done():
                raise RefusedError(GONE, "the client has gone")
            raise RefusedError(
                503, f"not done within {seconds:g} s: try a shorter text, or later", retry_after=5
            )
        finally:
            work.cancel()  # without effect once it runs
            waiter.cancel()
            left.cancel()

    def _release(self) -> None:
        self.taken -= 1

    def close(self) -> None:
        self.pool.shutdown(cancel_futures=True)
