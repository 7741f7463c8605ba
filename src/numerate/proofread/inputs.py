"""What `check` reads: every format that there is a reader for, tables by themselves, folders."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from numerate.config import OWN_FILE
from numerate.documents import AUTO, STANDARD_INPUT, read_file, suits
from numerate.documents.document import Document
from numerate.documents.table_file import is_table_file, read_table_file
from numerate.errors import DocumentError, NumerateError, SourceError, counted
from numerate.places import is_remote, local_path, protocol_of
from numerate.reports.notices import say
from numerate.storage import files_in, read
from numerate.storage.trees import LINK_OUT, File, LocalTree, hidden

AS_TEXT = (".rst",)  # sources that people write, with markup


def read_document(
    file: str, format: str = AUTO, field: str = "text", data: bytes | None = None
) -> list[Document]:
    """The documents of a file, or of standard input; a file whose `data` are given is not opened,
    nor is any beside it, as of one that lies elsewhere."""
    if is_remote(file) and data is None:
        data = read(file)
    elif protocol_of(file):
        file = str(local_path(file))
    if format == AUTO and is_table_file(file) and file != STANDARD_INPUT:
        return [read_table_file(file, data)]
    return read_file(file, format, field, data)


def is_read(name: str, format: str = AUTO) -> bool:
    """Whether a file is of a format that is read, by its name; any other is taken for text."""
    if suits(name, format):
        return True
    return format == AUTO and (is_table_file(name) or name.lower().endswith(AS_TEXT))


@dataclass(frozen=True, slots=True)
class Input:
    """A file to check, or what keeps it from being read."""

    name: str
    in_folder: bool = False  # found in a folder that was named, and not named itself
    error: NumerateError | None = None


def all_inputs(given: Iterable[str], format: str = AUTO) -> Iterator[Input]:
    """Files, and those of folders whose format is read, in an order that does not depend on the
    disk."""
    for name in given:
        try:
            is_folder, inside, others = _inside(name, format)
        except NumerateError as error:
            yield Input(name, error=error)
            continue
        if not is_folder:
            yield Input(name)
        elif not inside:
            reason = f"{name}: a folder without a file of a format that is read"
            yield Input(name, error=SourceError(reason))
        else:
            if others:
                kinds = f"{counted(others, 'file')} of other kinds"
                say(f"{name}: {kinds} not checked; name them to have them read as text")
            yield from inside


def _inside(place: str, format: str) -> tuple[bool, list[Input], int]:
    """Whether it is a folder, what is read in it, and how many files are of other kinds."""
    if place == STANDARD_INPUT:
        return False, [], 0
    if is_remote(place):
        root = place.rstrip("/")
        names = [file.removeprefix(f"{root}/") for file in files_in(place)]
        found: Iterable[File | DocumentError] = [File(name, 0, 0) for name in names]
        is_folder = bool(names)
    else:
        root = str(local_path(place)) if protocol_of(place) else place
        is_folder = os.path.isdir(root)
        found = LocalTree(Path(root)).files(partial(_is_wanted, format)) if is_folder else []
    inside, others = list[Input](), 0
    for one in found:
        if isinstance(one, DocumentError):
            inside.append(_unread(root, one))
        elif _is_wanted(format, one.name):
            inside.append(Input(_join(root, one.name), in_folder=True))
        elif not hidden(one.name):
            others += Path(one.name).name != OWN_FILE
    return is_folder, inside, others


def _is_wanted(format: str, name: str) -> bool:
    return is_read(name, format) and not hidden(name)


def _unread(root: str, error: DocumentError) -> Input:
    name = root if error.where == "." else _join(root, error.where)
    hint = "; name it to have it read" if error.reason == LINK_OUT else ""
    return Input(name, in_folder=True, error=DocumentError(name, f"{error.reason}{hint}"))


def _join(root: str, name: str) -> str:
    return f"{root}/{name}" if is_remote(root) else os.path.join(root, name)
