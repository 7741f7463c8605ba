"""Where a run is written, so that neither the run before nor a file of somebody else is lost.

A run that replaces another is trained in a hidden folder beside it, which takes its place when the
run is complete; until then `--resume` goes on with it there.
"""

from pathlib import Path

from numerate.errors import NumerateError, RunError
from numerate.lm.model.run_folder import RUN, RunFolder, writing_folder
from numerate.storage.atomic import Lock, is_occupied


def check_place(folder: Path, *, resume: bool, force: bool) -> None:
    """Refuse a folder that training may neither replace nor go on with."""
    if resume:
        place = writing_folder(folder)
        if place.exists() and not place.is_dir():
            raise RunError(f"{folder}: is a file, expected a folder")
        if _is_taken(place):
            try:
                RunFolder(place).config()
            except RunError as error:
                raise RunError(f"{error}; --resume goes on with runs only") from None
    elif _is_taken(folder):
        if not force:
            raise NumerateError(f"{folder}: already exists; add --resume to go on, or --force")
        RUN.check_replaceable(folder, folder)


def open_place(lock: Lock, *, resume: bool, force: bool) -> None:
    """Make the folder in which training writes."""
    folder = lock.target
    lock.recover(RUN)
    check_place(folder, resume=resume, force=force)
    if not resume:
        lock.discard(RUN)  # an attempt that was given up
        if _is_taken(folder):
            lock.begin(RUN)
    place = writing_folder(folder)
    if is_occupied(place) and not _is_taken(place):
        RUN.remove(place)
    place.mkdir(parents=True, exist_ok=True)


def _is_taken(folder: Path) -> bool:
    """Whether there is more than files of ours that a kill cut off while they were written."""
    return is_occupied(folder) and not (folder.is_dir() and RUN.is_unwritten(folder))


def close_place(lock: Lock) -> None:
    """Let the run, which is complete, take the place of the one before."""
    if lock.new is not None:
        lock.exchange(RUN)
