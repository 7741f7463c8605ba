"""A clock that other work on the machine does not make run faster."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def processor_seconds(most: float) -> Iterator[None]:
    """Fails when what is done within needs more seconds of the processor."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"took more than {most} seconds of the processor")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
