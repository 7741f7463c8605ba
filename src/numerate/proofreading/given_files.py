"""What `check` reads: every format that there is a reader for, tables by themselves, folders."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from numerate.configuration import OWN_FILE
from numerate.documents import AUTO, STANDARD_INPUT, read_file, suits
from numerate.documents.document import Document
from numerate.documents.table_file import is_table_file, read_table_file
from numerate.errors import SourceError, counted
from numerate.notices import say
from numerate.places import is_remote, local_path, protocol_of
from numerate.storage import files_in, read
from numerate.storage.trees import is_hidden

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


def all_files(given: Iterable[str], format: str = AUTO) -> Iterator[tuple[str, bool]]:
    """Files, and of folders those that are read, in an order that does not depend on the disk; each
    with whether it was found in a folder, and not named."""
    for name in given:
        elsewhere = files_in(name) if is_remote(name) else []
        if not elsewhere and (name == STANDARD_INPUT or not local_path(name).is_dir()):
            yield name, False
            continue
        inside = elsewhere or list(_inside(str(local_path(name)) if protocol_of(name) else name))
        found = [file for file in inside if is_read(file, format)]
        if not found:
            raise SourceError(f"{name}: a folder without a file of a format that is read")
        others = {*inside} - {*found}
        if left_out := sum(Path(file).name != OWN_FILE for file in others):
            kinds = f"{counted(left_out, 'file')} of other kinds"
            say(f"{name}: {kinds} not checked; name them to have them read as text")
        yield from ((file, True) for file in found)


def _inside(folder: str) -> Iterator[str]:
    """What is hidden is left out, as are the notes that Office keeps beside what is open; links to
    folders are not followed."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not is_hidden(name))
        yield from (os.path.join(parent, name) for name in sorted(names) if not is_hidden(name))
