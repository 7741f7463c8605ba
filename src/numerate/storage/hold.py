"""One writer at a time for a place elsewhere: a note there says who, renewed while they live.

An object store has no locks that end with their process. So a note counts as given up when its
writer, if of this machine, is gone, and in any case when it was not renewed for `GIVEN_UP` seconds.
Where a store can refuse to create what exists (S3, Google's, local disks), two writers cannot both
begin; elsewhere who comes second sees it before its work is sealed, unless both look at once.
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from socket import gethostname
from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from numerate.errors import FailureError, NumerateError
from numerate.storage.atomic import InUseError
from numerate.storage.filesystems import told
from numerate.storage.stored_files import HOLD, create, put_whole

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

RENEWED, GIVEN_UP = 60.0, 300.0  # seconds
_PAUSES = (0.1, 0.2, 0.4)  # seconds before it is believed that there is no note
_KEYS = {"id", "process", "machine", "since", "renewed"}  # of the note


class Hold:
    """That a place is ours to write to."""

    def __init__(self, system: "AbstractFileSystem", root: str, place: str) -> None:
        self.store, self.place = system, place
        self.path = f"{root}/{HOLD}"
        self.id = uuid4().hex
        self.since = time.time()

    def take(self) -> None:
        """Or say who has it."""
        with told(self.place):
            try:
                create(self.store, self.path, self._note())
            except FileExistsError:
                note = self._read()
                if note is not None and not _is_given_up(note):
                    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(note["since"]))
                    who = f"process {note['process']} on {note['machine']} since {since}"
                    minutes = f"{GIVEN_UP / 60:.0f} minutes"
                    raise InUseError(
                        f"{self.place}: in use by {who}; wait until it has ended; "
                        f"if it was killed, its hold ends after {minutes}"
                    ) from None
                put_whole(self.store, self.path, self._note())
        self.check()

    def check(self) -> None:
        """Raises where the place has become another's."""
        with told(self.place):
            note = self._read()
        if note is None or note["id"] != self.id:
            raise FailureError(f"{self.place}: another process has begun to write there: given up")

    def release(self) -> None:
        """Whatever was written, it is for others now. Where the store is gone, so is the note."""
        try:
            self.check()
            with told(self.place):
                self.store.rm_file(self.path)
        except NumerateError:
            pass

    def renew(self) -> None:
        self.check()
        with told(self.place):
            put_whole(self.store, self.path, self._note())

    def _note(self) -> bytes:
        note = {
            "id": self.id,
            "process": os.getpid(),
            "machine": gethostname(),
            "numbers": _numbers(),
            "since": self.since,
            "renewed": time.time(),
        }
        return json.dumps(note).encode()

    def _read(self) -> dict[str, Any] | None:
        """Where a store replaces no file in one step, there may be none, or a part, for a moment
        while it is renewed; so a note that is not there is looked for again."""
        for pause in _PAUSES:
            if (note := self._look()) is not None:
                return note
            time.sleep(pause)
        return self._look()

    def _look(self) -> dict[str, Any] | None:
        try:
            note = json.loads(self.store.cat_file(self.path))
        except (FileNotFoundError, ValueError):
            return None
        is_ours = isinstance(note, dict) and note.keys() >= _KEYS
        return note if is_ours else None  # what nobody of ours wrote holds nothing


def _is_given_up(note: dict[str, Any]) -> bool:
    if time.time() - float(note["renewed"]) > GIVEN_UP:
        return True  # also here: containers have the same names and numbers again and again
    is_here = (note["machine"], note.get("numbers")) == (gethostname(), _numbers())
    return is_here and not _is_alive(note["process"])


def _numbers() -> str:
    """Whose numbers of processes are ours: each container of a machine may have its own."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:  # not Linux
        return ""


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@contextmanager
def held(system: "AbstractFileSystem", root: str, place: str) -> Iterator[Hold]:
    """A place that is ours to write to until the block ends."""
    hold = Hold(system, root, place)
    hold.take()
    ended = Event()

    def renew() -> None:
        while not ended.wait(RENEWED):
            try:
                hold.renew()
            except NumerateError:
                continue  # what has become of it is seen before anything is sealed

    thread = Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield hold
    finally:
        ended.set()
        thread.join()
        hold.release()
