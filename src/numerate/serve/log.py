"""The log of the server, on standard error: never a text, a query or what a client made up."""

import logging
import sys

from numerate.reports.notices import is_quiet

LOG = logging.getLogger("numerate.serve")


def log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    LOG.addHandler(handler)
    LOG.setLevel(logging.WARNING if is_quiet() else logging.INFO)
    LOG.propagate = False


def log_reload(reason: str | None) -> None:
    """What came of loading models anew; a `reason` is why they could not be."""
    if reason is None:
        LOG.info("the models were loaded anew, and answer from now on")
    else:
        LOG.error("the models could not be loaded anew, those from before answer: %s", reason)
