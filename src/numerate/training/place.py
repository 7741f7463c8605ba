"""Where a run is written, so that nothing is lost: not the run before, nor what is not ours.

A run that replaces another is trained beside it, under a hidden name, and takes its place when it
is complete; until then `--resume` goes on with it there.
"""

import shutil
from pathlib import Path

from numerate.atomic import check_replaceable, exchange, filling_beside, finish_exchange
from numerate.errors import NumerateError, RunError
from numerate.runs.folder import RunFolder, refusal, writing_folder


def check_place(folder: Path, *, resume: bool, force: bool) -> None:
    """Refuse what may neither be replaced nor gone on with."""
    if resume:
        place = writing_folder(folder)
        if place.exists() and not place.is_dir():
            raise RunError(f"{folder}: is a file, expected a folder")
        if _is_filled(place):
            try:
                RunFolder(place).config()
            except RunError as error:
                raise RunError(f"{error}; --resume goes on with runs only") from None
    elif folder.exists():
        if not force:
            raise NumerateError(f"{folder}: already exists; add --resume to go on, or --force")
        try:
            check_replaceable(folder, folder, refusal)
        except NumerateError as error:
            raise RunError(str(error)) from None


def open_place(folder: Path, *, resume: bool, force: bool) -> None:
    """Make the folder in which training writes; only under the lock."""
    finish_exchange(folder)
    check_place(folder, resume=resume, force=force)
    beside = filling_beside(folder)
    if not resume and beside.is_dir():  # of an attempt that was given up
        check_replaceable(beside, beside, refusal)
        shutil.rmtree(beside)
    if not resume and _is_filled(folder):
        beside.mkdir()
    writing_folder(folder).mkdir(parents=True, exist_ok=True)


def close_place(folder: Path) -> None:
    """The run is complete: it takes the place of the one before; only under the lock."""
    beside = filling_beside(folder)
    if beside.is_dir():
        exchange(folder, refusal=refusal)


def _is_filled(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())
