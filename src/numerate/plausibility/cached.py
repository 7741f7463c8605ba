"""What is found out once about a run and kept in its folder."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from numerate.atomic import write_file
from numerate.errors import NumerateError, RunError
from numerate.records import read_record

Say = Callable[[str], None]
Record = dict[str, Any]
T = TypeVar("T")


def cached(
    folder: Path,
    name: str,
    identity: Record,
    find_out: Callable[[], Record],
    read: Callable[[Record], T],
    say: Say,
) -> T:
    """The record in the file `name` of the run if it is of this identity; else found out anew.

    `read` makes of it what it stands for, or raises NumerateError: what can be found out again
    may be spoilt. Nor is a folder that cannot be written to a reason to fail: then it is found
    out each time.
    """
    path = folder / name
    try:
        stored = read_record(path, {"identity": dict, "record": dict}, RunError)
        if stored["identity"] == identity:
            return read(stored["record"])
        say(f"{path}: of other weights or data, made anew")
    except (FileNotFoundError, NotADirectoryError):
        pass
    except NumerateError as error:
        say(f"{path}: spoilt, made anew ({str(error).removeprefix(f'{path}: ')})")
    content = json.dumps({"identity": identity, "record": find_out()}, ensure_ascii=False)
    try:
        write_file(path, (content + "\n").encode())
    except OSError as error:
        say(f"{path}: cannot be kept ({error.strerror}), will be needed again next time")
    return read(json.loads(content)["record"])  # the same as next time
