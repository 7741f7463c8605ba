"""The log of the server, on standard error: never a text, a query or what a client made up."""

import logging
import sys

from numerate.reports.notices import is_quiet

LOG = logging.getLogger("numerate.serve")
UVICORN = logging.getLogger("uvicorn.error")  # what its supervisor does


def log_to_stderr(log: logging.Logger) -> None:
    """Write what is logged to standard error, with the time."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    log.addHandler(handler)
    log.setLevel(logging.WARNING if is_quiet() else logging.INFO)
    log.propagate = False
