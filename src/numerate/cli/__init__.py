"""The command line: thin commands over the library's functions.

Heavy modules are imported inside the commands that use them, so that `--help` is instant.
"""

import signal
import sys
from io import TextIOWrapper
from types import FrameType

from numerate.cli import data, learning, study, use  # noqa: F401  in the order of --help
from numerate.cli.app import app
from numerate.cli.exits import errors_exit

__all__ = ["app", "main"]


def main() -> None:
    """Run the command; every error a user can mend is one line on standard error."""
    signal.signal(signal.SIGTERM, _terminate)
    if isinstance(sys.stdout, TextIOWrapper):  # a file name may hold what no encoding can write
        sys.stdout.reconfigure(errors="backslashreplace")
    with errors_exit():
        try:
            app(prog_name="numerate")
        finally:
            sys.stdout.flush()


def _terminate(number: int, frame: FrameType | None) -> None:
    """Leave as after Ctrl-C: what has begun is cleaned up."""
    raise SystemExit(128 + number)
