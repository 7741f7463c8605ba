"""The files of a dataset: a staging file while documents stream in, Parquet shards at the end."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from numerate.corpus.extract import Extracted
from numerate.corpus.integrity import add_rows, content_hash, seal
from numerate.corpus.schema import SPLITS, TABLES
from numerate.errors import DocumentError, SourceError

SHARD_ROWS = 65_536
GROUP_ROWS = 2_048


class Staging:
    """Rows as they come, in uncompressed Arrow files, until it is known where they belong."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        self.folder = folder
        self.schema = schema
        self._paths = [folder / "staged-paragraphs.arrow", folder / "staged-tables.arrow"]

    def __enter__(self) -> "Staging":
        self._writers = [
            pa.ipc.new_stream(str(path), schema)
            for path, schema in zip(self._paths, (self.schema, TABLES), strict=True)
        ]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for writer in self._writers:
            writer.close()

    def add(self, extracted: Extracted | DocumentError, admitted: list[bool]) -> None:
        if isinstance(extracted, DocumentError):
            return
        for writer, batch, rows in zip(
            self._writers,
            (extracted.paragraphs, extracted.tables),
            (extracted.rows, extracted.table_rows),
            strict=True,
        ):
            if not all(admitted):
                batch = batch.filter(pa.array(np.repeat(admitted, rows)))
            if batch.num_rows:
                writer.write_batch(batch)

    def paragraphs(self) -> Iterator[pa.RecordBatch]:
        return self._batches(self._paths[0])

    def tables(self) -> Iterator[pa.RecordBatch]:
        return self._batches(self._paths[1])

    @staticmethod
    def _batches(path: Path) -> Iterator[pa.RecordBatch]:
        with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as reader:
            yield from reader

    def remove(self) -> None:
        for path in self._paths:
            path.unlink()


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
    content_hash: str = ""
    files: dict[str, dict[str, object]] = field(default_factory=dict)  # size and hash of each


def write_splits(staging: Staging, assignment: dict[str, str]) -> Written:
    """Deal the staged rows out to the splits and remove the staging files."""
    writers = {name: ShardWriter(staging.folder, name, staging.schema) for name in SPLITS}
    hashes = {name: hashlib.sha256() for name in SPLITS}
    counts = {name: np.zeros(3, dtype=np.int64) for name in SPLITS}  # rows, tokens, numerals
    documents = dict.fromkeys(SPLITS, 0)
    for split in assignment.values():
        documents[split] += 1
    for batch in staging.paragraphs():
        targets = [assignment[id] for id in batch["document"].to_pylist()]
        for name in dict.fromkeys(targets):
            part = batch.filter(pa.array([target == name for target in targets]))
            counts[name] += [
                part.num_rows,
                len(part["tokens"].flatten()),
                len(part["numerals"].flatten()),
            ]
            add_rows(hashes[name], part)
            writers[name].add(part)
    if not sum(count[2] for count in counts.values()):
        raise SourceError("no numeral in any kept paragraph: there is nothing to model")
    tables = ShardWriter(staging.folder, "tables", TABLES)
    for batch in staging.tables():
        tables.add(batch)
    written = Written(tables=tables.close())
    for name in SPLITS:
        rows, tokens, numerals = map(int, counts[name])
        written.summary[name] = {
            "documents": documents[name],
            "paragraphs": rows,
            "tokens": tokens,
            "numerals": numerals,
            "shards": writers[name].close(),
            "content_hash": hashes[name].hexdigest(),
        }
    written.content_hash = content_hash(hashes[name].hexdigest() for name in SPLITS)
    shards = [shard for name in SPLITS for shard in writers[name].shards]
    written.files = seal(staging.folder, [*shards, *written.tables])
    staging.remove()
    return written
