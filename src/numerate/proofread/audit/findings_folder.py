"""The folder that an audit writes: finished blocks of two files each, a summary and a page.

A block is there when its documents are: they are written after its findings. Nothing is ever
appended to a file, so that a kill leaves whole blocks, and at most findings without documents,
which the next audit writes again. The summary is written last: without one, it has not ended.
"""

import hashlib
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from numerate.documents.sources import Source
from numerate.errors import NumerateError, counted, one_line
from numerate.proofread.audit.audited import DOCUMENTS, FINDINGS, Audited, Row
from numerate.proofread.audit.looked_for import differences
from numerate.storage.folder_kind import FolderKind, written_as
from numerate.storage.records import Shape, parse_record
from numerate.storage.shared_folder import SharedFolder

SETTINGS, SUMMARY, PAGE = "audit.json", "summary.json", "index.html"
FORMAT, VERSION = "numerate audit", 2
CALIBRATIONS = "calibrations"
_BLOCK = re.compile(r"(documents|findings)-([0-9]{5,})\.parquet")
AUDIT = FolderKind(
    "an audit",
    SETTINGS,
    lambda _: None,  # the folder is gone on with, so its settings are read when it is opened
    "|".join([*map(re.escape, (SETTINGS, SUMMARY, PAGE)), _BLOCK.pattern]),
)
_AUDIT = b"audit"  # a key of the metadata of blocks
_SHOWN = 4  # differences that are named
_SHAPE: dict[str, Shape] = {
    "format": str,
    "version": int,
    "settings": dict,
    "source": {"files": int, "bytes": int, "digest": str},
    f"{CALIBRATIONS}?": {"*": str},
}


class FindingsFolder:
    def __init__(self, place: str | Path) -> None:
        self.place = SharedFolder.at(place)
        self.name = str(place)
        self._new: dict[str, Any] | None = None  # settings of an audit that begins anew
        self._record: dict[str, Any] = {}  # of one that goes on
        self._source: dict[str, Any] = {}
        self._calibrations: Callable[[], dict[str, str]] = dict
        self._is_sealed = True

    # Blocks

    @property
    def blocks(self) -> int:
        """How many there are; they are counted from 0, and none may be missing."""
        if self._new:
            return 0
        found = [_BLOCK.fullmatch(name) for name in self.place.names()]
        numbers = {int(one[2]) for one in found if one and one[1] == "documents"}
        findings = {int(one[2]) for one in found if one and one[1] == "findings"}
        for number in range(len(numbers)):
            for kind, those in (("documents", numbers), ("findings", findings)):
                if number not in those:
                    raise NumerateError(
                        f"{self.name}: {_name(kind, number)} is missing, though later ones are "
                        "there; add --force to audit anew"
                    )
        return len(numbers)

    @property
    def source_blocks(self) -> int:
        """Count the blocks of the source that are checked: a block of findings has whole ones."""
        if not (blocks := self.blocks):
            return 0
        last: int = self.documents(blocks - 1, ["block"])["block"][-1].as_py()
        return last + 1

    def write_block(self, number: int, found: Audited) -> None:
        findings = pa.Table.from_pylist(found.findings, schema=FINDINGS)
        self.write_tables(number, findings, found.documents)

    def write_tables(self, number: int, findings: pa.Table, documents: list[Row]) -> None:
        """Findings first: without documents they do not count."""
        if self._is_sealed:
            self._unseal()
        self._write_table(_name("findings", number), findings)
        table = pa.Table.from_pylist(documents, schema=DOCUMENTS)
        self._write_table(_name("documents", number), table)

    def documents(self, number: int, columns: list[str] | None = None) -> pa.Table:
        return self._read_table(_name("documents", number), columns)

    def findings(self, number: int, columns: list[str] | None = None) -> pa.Table:
        return self._read_table(_name("findings", number), columns)

    def _write_table(self, name: str, table: pa.Table) -> None:
        table = table.replace_schema_metadata({_AUDIT: self._digest()})
        stream = io.BytesIO()
        pq.write_table(table, stream, compression="zstd", write_page_checksum=True)
        self.place.write(name, stream.getvalue())

    def _read_table(self, name: str, columns: list[str] | None) -> pa.Table:
        data = self.place.read(name)
        if data is None:
            raise NumerateError(f"{self.name}/{name}: is no longer there")
        try:
            stream = io.BytesIO(data)
            table = pq.read_table(stream, columns=columns, page_checksum_verification=True)
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            raise NumerateError(f"{self.name}/{name}: cannot be read: {one_line(error)}") from None

        if (table.schema.metadata or {}).get(_AUDIT) != self._digest():
            raise NumerateError(
                f"{self.name}/{name}: is of another audit, which wrote there at the same time; add "
                "--force to audit anew"
            )
        return table

    def _digest(self) -> bytes:
        """By which the blocks of this audit are known, since two may write to one bucket."""
        settings = self._new or self._record.get("settings")
        described = json.dumps([settings, self._source], sort_keys=True)
        return hashlib.sha256(described.encode()).hexdigest().encode()

    # What was looked for

    def begin(
        self,
        settings: dict[str, Any],
        calibrations: Callable[[], dict[str, str]],
        *,
        force: bool,
    ) -> None:
        """Go on with an audit of the same settings, or begin anew.

        An old audit goes when the first block of the new one is written. Calibrations are compared
        again then: whoever opens a model may have made its calibration only now.
        """
        self._calibrations = calibrations
        self.place.check_own(AUDIT)
        names = [name for name in self.place.names() if not written_as(name)]
        if names and SETTINGS not in names:
            raise NumerateError(
                f"{self.name}: has no {SETTINGS}, expected a new folder or one of an audit"
            )
        if not names or self._is_replaced(force):
            self._new = settings
            return
        record = self._read_settings(_SHAPE)
        self._refuse(differences(record["settings"], settings))
        self._record = record
        self._known_calibrations()

    def check_source(self, source: Source) -> None:
        """Go on only with a source that has not changed since the audit began."""
        self._source = {
            "files": source.files,
            "bytes": source.progress.total,
            "digest": hashlib.sha256(source.digest().encode()).hexdigest(),
        }
        if self._new is None and (before := self._record["source"]) != self._source:
            raise NumerateError(
                f"{self._record['settings']['source']}: has changed since the audit in {self.name} "
                f"began: {_size(before)} then, {_size(self._source)} now; choose another place, or "
                "add --force to audit all of it anew"
            )

    def _is_replaced(self, force: bool) -> bool:
        """Check that the record is one of an audit, and whether this audit begins anew."""
        record = self._read_settings({"format": str, "version": int})
        got = f"{record['format']} {record['version']}"
        if record["format"] != FORMAT or not (force or record["version"] == VERSION):
            anew = "; add --force to audit anew" if record["format"] == FORMAT else ""
            where = f"{self.name}/{SETTINGS}"
            raise NumerateError(f"{where}: got {got!r}, expected '{FORMAT} {VERSION}'{anew}")
        return force

    def _read_settings(self, shape: dict[str, Shape]) -> dict[str, Any]:
        text = (self.place.read(SETTINGS) or b"").decode("utf-8", "replace")
        return parse_record(text, shape, NumerateError, f"{self.name}/{SETTINGS}")

    def _known_calibrations(self) -> dict[str, str]:
        """Those of before and of now; of a model that has both, they must be the same."""
        before: dict[str, str] = self._record.get(CALIBRATIONS, {})
        known = before | self._calibrations()
        same = {name: known[name] for name in before}
        self._refuse(differences({CALIBRATIONS: before}, {CALIBRATIONS: same}))
        return known

    def _refuse(self, other: list[str]) -> None:
        if other:
            told = "; ".join(other[:_SHOWN]) + "; …" * (len(other) > _SHOWN)
            raise NumerateError(
                f"{self.name}: was audited otherwise: {told}; choose another place, or add --force "
                "to audit all of it anew"
            )

    def _unseal(self) -> None:
        """From now on it is not whole. Settings stay until there are others: by them a folder is
        known as one of an audit."""
        calibrations = self._known_calibrations()
        self.place.make()
        others = set(self.place.own(AUDIT)) - {SETTINGS}
        for name in sorted(others, key=lambda name: name != SUMMARY):
            if self._new or name in (SUMMARY, PAGE) or written_as(name):
                self.place.remove(name)
        record = self._record
        if self._new:
            record = {"format": FORMAT, "version": VERSION, "settings": self._new}
            record["source"] = self._source
        if self._new or calibrations != record.get(CALIBRATIONS, {}):
            self.place.write(SETTINGS, as_json(record | {CALIBRATIONS: calibrations}))
        self._new, self._record = None, record
        self._is_sealed = False


def as_json(record: dict[str, Any]) -> bytes:
    text = json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return text.encode("utf-8", "backslashreplace")


def _size(source: dict[str, Any]) -> str:
    return f"{counted(source['files'], 'file')} of {counted(source['bytes'], 'byte')}"


def _name(kind: str, number: int) -> str:
    return f"{kind}-{number:05}.parquet"
