"""How a command ends when something is wrong: one line on standard error, and a status."""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from numerate.errors import BROKEN, FAILED, WRONG_USE, FailureError, NumerateError, printable

EXIT_STATUS = (
    "Exit status: 0 done; 1 something was flagged, or failed on the way; 2 wrong use: an argument, "
    "an option, a file or a folder cannot be what is asked for; 70 a mistake of numerate itself."
)
_WRONG_PATHS = (
    FileNotFoundError,
    FileExistsError,
    IsADirectoryError,
    NotADirectoryError,
    PermissionError,
)


@contextmanager
def errors_exit() -> Iterator[None]:
    """The same mistake has the same status in every command."""
    try:
        yield
    except FailureError as error:
        _leave(str(error), FAILED)
    except NumerateError as error:
        _leave(str(error), WRONG_USE)
    except BrokenPipeError:  # who reads has left, as `head` does: nothing more to say, or to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(FAILED) from None
    except OSError as error:
        status = WRONG_USE if isinstance(error, _WRONG_PATHS) else FAILED
        _leave(f"{error.filename or 'input/output'}: {error.strerror or error}", status)
    except Exception:  # Python would leave with 1, which says that something was flagged
        traceback.print_exc()
        raise SystemExit(BROKEN) from None


def _leave(message: str, status: int) -> None:
    print(f"numerate: {' '.join(printable(message).split())}", file=sys.stderr)
    raise SystemExit(status)
