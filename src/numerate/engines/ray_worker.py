"""What runs on the machines of a cluster: one worker, which makes its work and does units."""

import platform
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numerate
from numerate.errors import NumerateError
from numerate.reports.notices import kept


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a unit, and what was said meanwhile, which is for the driver's terminal."""

    result: Any
    said: list[str]
    error: NumerateError | None = None


def versions() -> dict[str, str]:
    """What must be the same everywhere, or results would depend on where they were made."""
    return {
        "numerate": numerate.__version__,
        "Python": ".".join(platform.python_version_tuple()[:2]),
    }


class Worker:
    """Made by the cluster; a mistake is given back rather than raised, as the driver knows it."""

    def __init__(self, make: Callable[[], Callable[[Any], Any]], expected: dict[str, str]) -> None:
        self._make = make
        self._expected = expected
        self._work: Callable[[Any], Any] | None = None

    def ready(self) -> NumerateError | None:
        for name, got in versions().items():
            if got != self._expected[name]:
                return NumerateError(
                    f"worker on {socket.gethostname()}: has {name} {got}, "
                    f"expected {self._expected[name]} as here"
                )
        return None

    def do(self, unit: Any) -> Done:
        with kept() as said:
            try:
                self._work = self._work or self._make()
                return Done(self._work(unit), said)
            except NumerateError as error:
                return Done(None, said, error)
