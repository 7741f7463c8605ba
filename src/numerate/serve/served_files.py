"""Have the files of what is served changed? They are looked at again and again.

A look takes a few calls of the system. A change counts once two looks agree: who copies a large
file over another, or exchanges several, is waited for.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from numerate.lm.backbones.pretrained.backbone import parse_reference
from numerate.lm.model.run_folder import BESIDE_THE_MODEL, CALIBRATION, REFERENCE
from numerate.lm.model.run_reference import split_reference
from numerate.lm.model.shipped.installed import is_shipped
from numerate.lm.model.source import ModelSource
from numerate.places import is_remote
from numerate.plugins import MODELS, folder_of

Look = dict[str, tuple[int, int, int]]
"""The file itself, how long it is, and when it was written."""

EVERY = 1.0  # seconds between two looks
FOUND_OUT = tuple(Path(name).stem for name in (REFERENCE, CALIBRATION))  # kept when it is opened


class ServedFiles:
    def __init__(self, sources: Sequence[ModelSource], *others: Path | None) -> None:
        self._places = [place_of(source.run) for source in sources]
        self._places += [place for place in others if place is not None]
        self._seen = self._last = self._look()
        self._is_asked = False

    def ask(self) -> None:
        """Load again at the next look, whether or not anything has changed."""
        self._is_asked = True

    def have_changed(self) -> bool:
        """Whether there is something to be loaded that was not tried yet."""
        now, before = self._look(), self._last
        self._last = now
        if not self._is_asked and (now == self._seen or now != before):
            return False
        self._is_asked, self._seen = False, now
        return True

    def were_opened(self) -> None:
        """What opening itself has written beside the rest is no change."""
        now = self._look()
        others = [
            {place: found for place, found in look.items() if not _is_found_out(place)}
            for look in (self._seen, now)
        ]
        if others[0] == others[1]:
            self._seen = self._last = now

    def _look(self) -> Look:
        found: Look = {}
        for place in self._places:
            for file in _files(place):
                try:
                    status = os.stat(file)
                except OSError:  # it has gone since it was listed, or is nobody's to read
                    continue
                found[file] = (status.st_ino, status.st_size, status.st_mtime_ns)
        return found


def place_of(reference: str) -> Path:
    """The folder or the file that a model is opened from; of `RUN:MEMBER`, that of the run."""
    if is_shipped(reference):
        return folder_of(MODELS, reference)
    if is_remote(reference):  # which to look at would be to fetch: there is no such path here
        return Path(reference)
    return parse_reference(reference) or split_reference(reference)[0]


def _files(place: Path) -> Iterator[str]:
    if not place.is_dir():
        yield str(place)
    for folder, inner, names in os.walk(place):
        inner[:] = [name for name in inner if _is_read(name)]
        yield from (os.path.join(folder, name) for name in names if _is_read(name))


def _is_read(name: str) -> bool:
    return not name.startswith(".") and name not in BESIDE_THE_MODEL


def _is_found_out(place: str) -> bool:
    return Path(place).name.startswith(FOUND_OUT)
