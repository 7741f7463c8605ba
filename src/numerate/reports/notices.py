"""What is said beside the results, on standard error: notices, progress, details.

How much is said is for the person at the keyboard to choose, so it is one setting of the process:
`numerate --quiet` and `--verbose` make it. Results and errors are no notices and never silenced.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import IntEnum
from typing import Any

from rich.console import Console

from numerate.errors import printable


class Loudness(IntEnum):
    QUIET = 0  # results and errors only
    USUAL = 1
    VERBOSE = 2  # the figures behind what is said, too


_loudness = Loudness.USUAL
_kept: ContextVar[list[str] | None] = ContextVar("kept", default=None)


def set_loudness(loudness: Loudness) -> None:
    global _loudness
    _loudness = loudness


def loudness() -> Loudness:
    """To be set in processes to come."""
    return _loudness


def is_quiet() -> bool:
    return _loudness == Loudness.QUIET


def is_verbose() -> bool:
    return _loudness == Loudness.VERBOSE


@contextmanager
def silently() -> Iterator[None]:
    """For what is done again, and was told of before."""
    before = _loudness
    set_loudness(Loudness.QUIET)
    try:
        yield
    finally:
        set_loudness(before)


@contextmanager
def kept() -> Iterator[list[str]]:
    """What this thread says meanwhile, for somebody who does not sit at this terminal."""
    lines: list[str] = []
    before = _kept.set(lines)
    try:
        yield lines
    finally:
        _kept.reset(before)


def say(message: str) -> None:
    """One line that is good to know, but neither a result nor an error."""
    if not is_quiet() or _kept.get() is not None:
        warn(message)


def warn(message: str) -> None:
    """One line about something that went wrong, and is not the end: it is never silenced."""
    lines = _kept.get()
    if lines is not None:
        lines.append(printable(message))
    else:
        print(f"numerate: {printable(message)}", file=sys.stderr)


def notice_console() -> Console:
    """Where progress is shown.

    A quiet one is no terminal: a bar that nobody sees must not catch what others print meanwhile.
    """
    quiet = is_quiet()
    return plain_console(stderr=True, quiet=quiet, force_terminal=False if quiet else None)


def plain_console(**options: Any) -> Console:
    """A console that shows what is written: `[sic]` is no style, `:100:` no picture.

    The only place that makes one, since most of what is shown was written by strangers.
    """
    return Console(**options, markup=False, emoji=False)
