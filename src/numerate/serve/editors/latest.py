"""One thread that does the newest of what is asked; what is out of date is dropped, or left."""

from collections.abc import Callable, Hashable
from itertools import count
from threading import Condition, Thread

IsCurrent = Callable[[], bool]
"""Whether nothing newer has been asked, nor has it been called off."""
Task = Callable[[IsCurrent], None]


class Latest:
    """At most one task waits for each key, however many have been asked."""

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._failed = failed
        self._waiting: dict[Hashable, Task] = {}
        self._numbers = count()
        self._asked: dict[Hashable, int] = {}  # the number of the newest
        self._changed = Condition()
        self._is_over = False
        self._thread = Thread(target=self._work, name="checking", daemon=True)
        self._thread.start()

    def ask(self, key: Hashable, task: Task) -> None:
        with self._changed:
            self._asked[key] = next(self._numbers)
            self._waiting.pop(key, None)
            self._waiting[key] = task  # the last that was asked, and the first to be done
            self._changed.notify()

    def call_off(self, key: Hashable) -> None:
        with self._changed:
            self._waiting.pop(key, None)
            self._asked.pop(key, None)

    def stop(self, seconds: float = 10.0) -> None:
        """What is being done ends where it next asks whether it is current."""
        with self._changed:
            self._is_over = True
            self._changed.notify()
        self._thread.join(seconds)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._is_over)
                if self._is_over:
                    return
                key, task = self._waiting.popitem()
                number = self._asked[key]

            def is_current(key: Hashable = key, number: int = number) -> bool:
                return not self._is_over and self._asked.get(key) == number

            try:
                task(is_current)
            except Exception as error:  # the thread must live on
                self._failed(error)
