"""The files of a dataset: staged rows, dealt out to the splits as Parquet shards."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from numerate.errors import SourceError
from numerate.lm.data.integrity import add_rows, content_hash, seal
from numerate.lm.data.ledger import OUT, Assignment
from numerate.lm.data.schema import SPLITS, TABLES
from numerate.lm.data.sight_file import SightWriter
from numerate.lm.data.staging import Staging

SHARD_ROWS = 65_536
GROUP_ROWS = 2_048


class ShardWriter:
    """One split as Parquet files of bounded size, in row groups of bounded size."""

    def __init__(self, folder: Path, name: str, schema: pa.Schema) -> None:
        self.folder = folder
        self.name = name
        self.schema = schema
        self.shards: list[str] = []
        self._buffer: list[pa.RecordBatch] = []
        self._buffered = 0
        self._written = 0  # rows in the shard being written
        self._writer: pq.ParquetWriter | None = None

    def add(self, batch: pa.RecordBatch) -> None:
        self._buffer.append(batch)
        self._buffered += batch.num_rows
        if self._buffered >= GROUP_ROWS:
            self._flush()

    def close(self) -> list[str]:
        self._flush()
        if self._writer is not None:
            self._writer.close()
        return self.shards

    def _flush(self) -> None:
        if not self._buffer:
            return
        if self._writer is not None and self._written >= SHARD_ROWS:
            self._writer.close()
            self._writer, self._written = None, 0
        if self._writer is None:
            self.shards.append(f"{self.name}-{len(self.shards):05d}.parquet")
            path = self.folder / self.shards[-1]
            self._writer = pq.ParquetWriter(
                path, self.schema, compression="zstd", write_page_checksum=True
            )
        self._writer.write_table(pa.Table.from_batches(self._buffer, self.schema))
        self._written += self._buffered
        self._buffer, self._buffered = [], 0


@dataclass(slots=True)
class Written:
    summary: dict[str, dict[str, object]] = field(default_factory=dict)
    tables: list[str] = field(default_factory=list)
    table_counts: Counter[str] = field(default_factory=Counter)
    content_hash: str = ""
    files: dict[str, dict[str, object]] = field(default_factory=dict)  # size and hash of each


def _deal(
    staging: Staging, blocks: int, codes: np.ndarray
) -> Iterator[tuple[str, str, pa.RecordBatch]]:
    """The staged rows with their kind and the split of their documents, which stand in the order
    of `codes`; those of documents that have none are left out. A block is read once."""
    start = 0
    for number in range(blocks):
        for documents, paragraphs, tables, sight in staging.read(number):
            of_unit = codes[start : start + documents.num_rows]
            start += documents.num_rows
            for kind, batch, rows in (
                ("paragraphs", paragraphs, documents["rows"].to_numpy()),
                ("tables", tables, documents["table_rows"].to_numpy()),
                ("sight", sight, 1),
            ):
                targets = np.repeat(of_unit, rows)
                for code in dict.fromkeys(targets.tolist()):
                    if code != OUT:
                        yield kind, SPLITS[code], batch.filter(pa.array(targets == code))


def write_splits(
    folder: Path, schema: pa.Schema, staging: Staging, blocks: int, assignment: Assignment
) -> Written:
    """Deal the staged rows out to the splits."""
    writers = {name: ShardWriter(folder, name, schema) for name in SPLITS}
    tables = {name: ShardWriter(folder, f"tables-{name}", TABLES) for name in SPLITS}
    hashes = {name: hashlib.sha256() for name in SPLITS}
    counts = {name: np.zeros(3, dtype=np.int64) for name in SPLITS}  # rows, tokens, numerals
    written = Written()
    with ExitStack() as stack:
        sights = {n: stack.enter_context(SightWriter(folder, n)) for n in SPLITS}
        for kind, name, part in _deal(staging, blocks, assignment.codes):
            if kind == "paragraphs":
                counts[name] += [
                    part.num_rows,
                    len(part["tokens"].flatten()),
                    len(part["numerals"].flatten()),
                ]
                add_rows(hashes[name], part)
                writers[name].add(part)
            elif kind == "tables":
                tables[name].add(part)
            else:
                sights[name].add(part)
                for counts_of_document in part["counts"].to_pylist():
                    written.table_counts.update(dict(counts_of_document))
        if not sum(count[2] for count in counts.values()):
            raise SourceError("no numeral in any kept paragraph: there is nothing to model")
    for name in SPLITS:
        rows, tokens, numerals = map(int, counts[name])
        written.summary[name] = {
            "documents": assignment.documents[name],
            "paragraphs": rows,
            "tokens": tokens,
            "numerals": numerals,
            "shards": writers[name].close(),
            "content_hash": hashes[name].hexdigest(),
            "tables": tables[name].close(),
            "sight": sights[name].close(),
        }
        written.tables += tables[name].shards
    written.content_hash = content_hash(hashes[name].hexdigest() for name in SPLITS)
    shards = [shard for name in SPLITS for shard in writers[name].shards]
    sights_of_splits = [sights[name].name for name in SPLITS]
    written.files = seal(folder, [*shards, *written.tables, *sights_of_splits])
    return written
