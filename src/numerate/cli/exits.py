"""How a command ends when something is wrong: one line on standard error, and a status."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from numerate.errors import NumerateError, printable


@contextmanager
def errors_exit_with(status: int) -> Iterator[None]:
    try:
        yield
    except NumerateError as error:
        _fail(str(error), status)
    except BrokenPipeError:  # who reads has left, as `head` does: nothing more to say, or to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(status) from None
    except OSError as error:
        _fail(f"{error.filename or 'input/output'}: {error.strerror or error}", status)


def _fail(message: str, status: int) -> None:
    print(f"numerate: {' '.join(printable(message).split())}", file=sys.stderr)
    raise SystemExit(status)
