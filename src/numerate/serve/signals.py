"""Signals of a server: SIGTERM and Ctrl-C end it, SIGHUP makes it load its models again."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Act = Callable[[], None]


@contextmanager
def on_signals(end: Act, hang_up: Act) -> Iterator[None]:
    """Within it, signals do this and nothing else; after it, what they did before."""
    acts = {signal.SIGINT: end, signal.SIGTERM: end, signal.SIGHUP: hang_up}
    before = {
        kind: signal.signal(kind, lambda number, frame, act=act: act())  # type: ignore[misc]
        for kind, act in acts.items()
    }
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


def hang_up_of(reload: Act, end: Act) -> Act:
    """SIGHUP also comes when a terminal is closed; then a server that was started there ends."""
    had_terminal = _has_terminal()

    def hang_up() -> None:
        if had_terminal and not _has_terminal():
            end()
        else:
            reload()

    return hang_up


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True
