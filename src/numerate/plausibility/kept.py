"""What is found out once about a run and kept in its folder."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numerate.atomic import write_file

Say = Callable[[str], None]
Record = dict[str, Any]


def keep(
    folder: Path, name: str, identity: Record, find_out: Callable[[], Record], say: Say
) -> Record:
    """The record in the file `name` of the run if it is of this identity; else found out anew.

    A folder that cannot be written to is no reason to fail: then it is found out each time.
    """
    path = folder / name
    stored = _read(path)
    if stored is not None and stored.get("identity") == identity:
        return dict(stored["record"])
    if path.exists():
        say(f"{path}: of other weights or data, made anew")
    record = find_out()
    content = json.dumps({"identity": identity, "record": record}, ensure_ascii=False)
    try:
        write_file(path, (content + "\n").encode())
    except OSError as error:
        say(f"{path}: cannot be kept ({error.strerror}), will be needed again next time")
    return record


def _read(path: Path) -> Record | None:
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return stored if isinstance(stored, dict) and isinstance(stored.get("record"), dict) else None
