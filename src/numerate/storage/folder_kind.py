"""The folders that a command writes: which ones are its own, and which files in them.

Every command writes into a folder that is new, empty or its own. A folder is a command's own if it
has the record that the command writes, and nothing but files with the names that the command gives.
The names come from the code, never from a record, since somebody may have edited that.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from numerate.errors import NumerateError

SUMS = ".numerate-sha256"  # the hashes of the files that were published together, elsewhere
ATTEMPTS = 5  # at removing a folder in which a worker that was given up still writes
_TEMPORARY = re.compile(r"\.(.+)\.([0-9a-f]{8})-([0-9a-f]{8})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FolderKind:
    title: str
    record: str  # name of the file that marks the folder
    fault: Callable[[Path], str | None]
    """Says why a folder's record is not one of ours; None if it is."""
    names: str
    """A regular expression for the names of its files, with `/` after the names of folders."""
    folders: frozenset[str] = frozenset()
    drafts: str = "(?!)"
    """A regular expression for files that are there only while the folder is being filled."""

    def holds(self, name: str, *, drafts: bool = False) -> bool:
        """Whether the command gives a file this name, or writes it under a temporary one."""
        if name == SUMS:  # in a copy that was made without numerate
            return True
        folder, slash, last = name.rpartition("/")
        name = folder + slash + (written_as(last) or last)
        patterns = [self.names, self.drafts] if drafts else [self.names]
        return any(re.fullmatch(pattern, name) for pattern in patterns)

    def stranger_among(self, names: Iterable[str]) -> str | None:
        """The first name that the command does not give."""
        return min((name for name in names if not self.holds(name)), default=None)

    def stranger(self, folder: Path, *, drafts: bool = False) -> str | None:
        """The first entry of a folder that the command does not write. Links are among these."""
        found = [name for name, is_own in self._entries(folder, "", drafts) if not is_own]
        return min(found, default=None)

    def is_unwritten(self, folder: Path) -> bool:
        """Whether a folder holds at most files of ours under the names that they are written by."""
        entries = self._entries(folder, "", drafts=False)
        return all(is_own and written_as(Path(name).name) for name, is_own in entries)

    def check_replaceable(self, folder: Path, target: str | Path) -> None:
        """Refuse a folder, known to the user as `target`, unless it is empty or the command's."""
        if not folder.is_dir():
            raise NumerateError(f"{target}: is a file, expected a folder")
        if not any(folder.iterdir()):
            return
        if fault := self.fault(folder):
            raise NumerateError(f"{target}: {fault}, so it is not replaced; choose another folder")
        if stranger := self.stranger(folder):
            raise strange(target, stranger)

    def remove(self, folder: Path, *, drafts: bool = False) -> bool:
        """Remove a folder with the files that the command writes.

        Returns False, and leaves what is there, if there are other files.
        """
        for _ in range(ATTEMPTS):
            entries = list(self._entries(folder, "", drafts))
            if not all(is_own for _, is_own in entries):
                return False
            for name, _ in entries:
                with suppress(OSError):  # what remains, the next attempt or the end tells
                    if name.endswith("/"):
                        (folder / name).rmdir()
                    else:
                        (folder / name).unlink()
            try:
                folder.rmdir()
            except FileNotFoundError:
                return True
            except OSError:
                continue
            return True
        return False

    def _entries(self, folder: Path, before: str, drafts: bool) -> Iterator[tuple[str, bool]]:
        """Names, and whether each is the command's. A folder ends in `/` and follows its files."""
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except FileNotFoundError:
            return
        for entry in entries:
            name = before + entry.name
            if entry.is_dir(follow_symlinks=False):
                is_own = name in self.folders
                if is_own:
                    yield from self._entries(folder / entry.name, f"{name}/", drafts)
                yield f"{name}/", is_own
            else:
                is_file = entry.is_file(follow_symlinks=False)
                yield name, is_file and self.holds(name, drafts=drafts)


def strange(target: str | Path, name: str) -> NumerateError:
    """The error over a file in a folder of ours that is not ours."""
    what = "which numerate did not write; move it away or choose another folder"
    return NumerateError(f"{target}: holds {name}, {what}")


def temporary_name(name: str) -> str:
    """A hidden name for a file while it is written.

    It has a random part and a sum over all of it, so that nobody gives it to a file by chance.
    """
    mark = token_hex(4)
    return f".{name}.{mark}-{_sum(name, mark)}"


def written_as(name: str) -> str | None:
    """The name that a file has when it is written, if `temporary_name` made its name."""
    found = _TEMPORARY.fullmatch(name)
    return found[1] if found and found[3] == _sum(found[1], found[2]) else None


def _sum(name: str, mark: str) -> str:
    return sha256(f"numerate\0{name}\0{mark}".encode("utf-8", "surrogateescape")).hexdigest()[:8]
