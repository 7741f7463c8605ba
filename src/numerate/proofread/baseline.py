"""Findings that are known: a file of fingerprints, so that only new ones are reported.

A fingerprint is made of the code, the numeral and the words around it, and of nothing that an edit
elsewhere changes: no line, no offset, no other number.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from os.path import normpath
from pathlib import Path
from typing import Any

from numerate.errors import NumerateError, counted
from numerate.proofread.proofread import ProofreadDocument
from numerate.rules.finding import Finding
from numerate.rules.where import Where
from numerate.storage import write
from numerate.storage.records import Shape, read_record

AROUND = 5  # words on either side
NEAR = 200  # characters within which they are looked for
_WORD = re.compile(r"[^\W\d_]+")
_SHAPE: dict[str, Shape] = {
    "version": int,
    "findings": [{"fingerprint": str, "file": str, "code": str, "written": str}],
}


def fingerprint(proofread: ProofreadDocument, finding: Finding) -> str:
    """The same for two findings that nothing tells apart; a baseline counts them."""
    words = _words(proofread, finding.where)
    content = "\x1f".join([finding.code, " ".join(finding.written.split()), *words])
    return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:16]


def _words(proofread: ProofreadDocument, where: Where) -> list[str]:
    text = proofread.read.whole(where)
    before = _WORD.findall(text[max(where.start - NEAR, 0) : where.start].lower())[-AROUND:]
    after = _WORD.findall(text[where.end : where.end + NEAR].lower())[:AROUND]
    if where.table is None or where.row is None or where.column is None or where.row < 0:
        return [*before, "|", *after]
    cell = proofread.read.tables[where.table].cell(where.row, where.column)
    headers = " | ".join([cell.row_header, *cell.column_header]).lower()
    return [*before, "|", *after, "|", *_WORD.findall(headers)]


@dataclass(frozen=True, slots=True)
class Written:
    """How many findings a baseline has from now on, against before."""

    added: int
    kept: int
    dropped: int

    def __str__(self) -> str:
        total = self.added + self.kept
        known = f"{counted(total, 'finding')} known now"
        return f"{known}: {self.added} added, {self.kept} kept, {self.dropped} dropped"


def write_baseline(
    path: Path, documents: Sequence[ProofreadDocument], looked_for: Collection[str]
) -> Written:
    """Known findings of other files, and of codes that were not looked for, stay known."""
    before = _read(path) if path.exists() else []
    read = [proofread.document for proofread in documents]
    files = {normpath(name) for document in read for name in (document.name, *document.files)}
    found = [
        {
            "fingerprint": fingerprint(proofread, finding),
            "file": proofread.read.file(finding.where),
            "code": finding.code,
            "written": finding.written,
        }
        for proofread in documents
        for finding in proofread.all_in_text_order
    ]
    again = _counted(found)
    others = []
    for known in before:
        if normpath(known["file"]) in files and known["code"] in looked_for:
            continue
        if again[_key(known)] > 0:
            again[_key(known)] -= 1
        else:
            others.append(known)
    record: dict[str, Any] = {"version": 1, "findings": [*others, *found]}
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    write(path, text.encode("utf-8", "backslashreplace"))
    old, new = _counted(before), _counted(record["findings"])
    return Written((new - old).total(), (new & old).total(), (old - new).total())


def _counted(findings: Iterable[dict[str, str]]) -> Counter[tuple[str, str]]:
    return Counter(map(_key, findings))


def _key(known: dict[str, str]) -> tuple[str, str]:
    return normpath(known["file"]), known["fingerprint"]


def read_baseline(path: Path) -> Counter[str]:
    return Counter(known["fingerprint"] for known in _read(path))


def _read(path: Path) -> list[dict[str, str]]:
    try:
        record = read_record(path, _SHAPE, NumerateError)
    except (FileNotFoundError, NotADirectoryError):
        raise NumerateError(
            f"{path}: no such baseline; numerate check … --baseline {path} --write-baseline "
            "makes one"
        ) from None
    if record["version"] != 1:
        raise NumerateError(f"{path}: version: got {record['version']}, expected 1")
    findings: list[dict[str, str]] = record["findings"]
    return findings


def without_known(
    documents: Sequence[ProofreadDocument], known: Counter[str]
) -> list[ProofreadDocument]:
    """Each known finding hides one that has its fingerprint; a second one is new."""
    left = Counter(known)

    def is_new(proofread: ProofreadDocument, finding: Finding) -> bool:
        mark = fingerprint(proofread, finding)
        left[mark] -= 1
        return left[mark] < 0

    return [
        proofread.only(lambda finding, proofread=proofread: is_new(proofread, finding))  # type: ignore[misc]
        for proofread in documents
    ]
