"""At the end of an audit: which documents do not count, since others stand for them.

Files that another document takes in are checked there, and files that had other content later are
no longer what they were. Their findings go, and their rows say why.
"""

from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from numerate.documents.taken_in import taken_in
from numerate.proofread.audit.audited import (
    CHECKED,
    DUPLICATE,
    FAILED,
    REPLACED,
    TAKEN_IN,
    UNREAD,
    Row,
)
from numerate.proofread.audit.findings_folder import FindingsFolder
from numerate.proofread.audit.pieces import LINES
from numerate.storage.hashes import hash_of

_LIVE = (CHECKED, DUPLICATE, UNREAD, FAILED, TAKEN_IN)
_UNSETTLED = [_LIVE.index(FAILED), _LIVE.index(DUPLICATE)]  # a later row says more of the file
_COLUMNS = ["source", "file", "format", "first", "digest", "status", "takes_in"]
_ALONE = "was a part of another document, and is none now: audit again to have it checked"
_KNOWN = np.dtype(
    [("file", "u8"), ("digest", "u8"), ("status", "u1"), ("block", "u4"), ("row", "u4")]
)


def settle(folder: FindingsFolder) -> None:
    known: list[np.ndarray] = []
    had_parts = False  # what was a part of another document may be none now
    taking: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for number in range(folder.blocks):
        rows = folder.documents(number, _COLUMNS).to_pylist()
        known.append(
            np.array(
                [
                    (
                        _file(row),
                        hash_of(row["digest"]),
                        _LIVE.index(row["status"]),
                        number,
                        index,
                    )
                    for index, row in enumerate(rows)
                    if row["status"] in _LIVE
                    and (row["format"], row["status"]) != (LINES, DUPLICATE)
                ],
                _KNOWN,
            )
        )
        for row in rows:
            had_parts |= row["status"] == TAKEN_IN
            if row["status"] == CHECKED:  # the last row of a file counts
                taking.pop((row["source"], row["file"]), None)
            if row["status"] == CHECKED and row["takes_in"]:
                taking[row["source"], row["file"]] = [
                    (row["source"], file) for file in row["takes_in"]
                ]
    if not known:
        return
    changes = _replaced(np.concatenate(known))
    inside = taken_in(taking)
    for number in range(folder.blocks) if inside or had_parts else sorted(changes):
        _mark(folder, number, changes.get(number, ()), inside)


def _file(row: Row) -> int:
    """Of which the last row counts. A line has no name, since a line before it makes it another: it
    is known by its content, and its copies say nothing of it."""
    if row["format"] == LINES:
        return hash_of(row["digest"])
    return hash_of(row["source"], row["file"], row["first"])


def _replaced(known: np.ndarray) -> dict[int, list[int]]:
    """Rows of each block whose file has a later row: with other content, or since it failed or was
    a copy of what did. What was checked and still stands elsewhere, in a copy, stays."""
    known = known[np.lexsort((known["row"], known["block"], known["file"]))]
    is_last = np.append(known["file"][1:] != known["file"][:-1], True)[: len(known)]
    last = np.flatnonzero(is_last)[np.cumsum(is_last) - is_last]
    other = known["digest"] != known["digest"][last]
    tried_again = np.isin(known["status"], _UNSETTLED) & ~is_last
    copies = known["digest"][~other & (known["status"] == _LIVE.index(DUPLICATE))]
    gone = (other & ~np.isin(known["digest"], copies)) | tried_again | _is_again(known, is_last)
    found: dict[int, list[int]] = {}
    for row in known[gone]:
        found.setdefault(int(row["block"]), []).append(int(row["row"]))
    return found


def _is_again(known: np.ndarray, is_last: np.ndarray) -> np.ndarray:
    """Rows of a file that is what it was before, and was checked then: counted there already."""
    pair = known["file"] ^ (known["digest"] * np.uint64(0x9E3779B97F4A7C15))
    was_checked = known["status"] == _LIVE.index(CHECKED)
    is_copy = known["status"] == _LIVE.index(DUPLICATE)
    found: np.ndarray = is_copy & is_last & np.isin(pair, pair[was_checked])
    return found


def _mark(
    folder: FindingsFolder,
    number: int,
    replaced: Collection[int],
    inside: Collection[tuple[str, str]],
) -> None:
    documents = folder.documents(number)
    rows, gone, has_changed = documents.to_pylist(), set[str](), False
    for index, row in enumerate(rows):
        was_checked = row["status"] == CHECKED
        if index in replaced:
            row["status"], row["findings"] = REPLACED, 0
        elif row["status"] == CHECKED and (row["source"], row["file"]) in inside:
            row["status"], row["findings"] = TAKEN_IN, 0
        elif row["status"] == TAKEN_IN and (row["source"], row["file"]) not in inside:
            row["status"], row["reason"] = FAILED, _ALONE
        else:
            continue
        has_changed = True
        if was_checked:  # what is found in a document is not its copies'
            gone.add(row["digest"])
    if has_changed:
        findings = folder.findings(number)
        is_gone = pc.is_in(findings["digest"], value_set=pa.array(sorted(gone), pa.string()))
        folder.write_tables(number, findings.filter(pc.invert(is_gone)), rows)
