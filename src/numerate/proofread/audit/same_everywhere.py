"""What a worker's machine must have as the driver's has it.

Else what is found would depend on where a document lands, and nobody would see it in the findings.
"""

import os
from pathlib import Path
from socket import gethostname

from numerate.documents.reader import Unit
from numerate.errors import NumerateError, SourceError

_TAKING = (b"\\input", b"\\include", b"\\subfile", b"\\import")  # of LaTeX


def check_models(here: dict[str, str], expected: dict[str, str]) -> None:
    """The same names in the same order, which decides whom a document is shown to first, and the
    same files."""
    if list(here.items()) != list(expected.items()):
        raise NumerateError(
            f"worker on {gethostname()}: has the models {_told(here)}, expected "
            f"{_told(expected)} as here: install the same everywhere, or name one with --model"
        )


def check_folder(unit: Unit) -> None:
    """Where a disk that others see is not mounted, there may be an empty folder instead."""
    if unit.folder is not None and _may_take_in(unit) and _is_unseen(unit.folder):
        raise SourceError(
            f"{unit.folder}: {unit.name} takes in files from there, and the worker on "
            f"{gethostname()} does not see it; expected a place that all machines share"
        )


def _may_take_in(unit: Unit) -> bool:
    return unit.format == "latex" and any(sign in unit.data for sign in _TAKING)


def _told(models: dict[str, str]) -> str:
    return ", ".join(f"{name} ({digest[:8]})" for name, digest in models.items()) or "none"


def _is_unseen(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is None
    except OSError:
        return True
