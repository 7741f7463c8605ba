"""`numerate lsp`: speak with an editor over standard input and output until it leaves."""

import importlib
import logging
import os
import sys

from numerate.errors import NumerateError


def check_extra() -> None:
    try:
        importlib.import_module("pygls")
    except ImportError:
        raise NumerateError(
            "pygls is not installed: the language server needs pip install 'numerate[lsp]'"
        ) from None


def serve_editor() -> None:
    check_extra()
    if sys.stdin.isatty():
        raise NumerateError("lsp: got a terminal, expected an editor: see docs/editors.md")
    from numerate.serve.editors.language_server import language_server

    logging.getLogger("pygls").setLevel(logging.CRITICAL)  # editors are told by the protocol
    # Only the protocol may write to standard output: whatever else is printed goes beside it.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as protocol:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        server, desk = language_server()
        try:
            server.start_io(sys.stdin.buffer, protocol)
        finally:
            desk.end()
