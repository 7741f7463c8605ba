"""The files of a dataset: a staging file while documents stream in, Parquet shards at the end."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from numerate.corpus.extract import Extracted
from numerate.corpus.integrity import add_rows, content_hash, seal
from numerate.corpus.schema import SPLITS, TABLES
from numerate.corpus.sight_file import STAGED, SightWriter
from numerate.errors import DocumentError, SourceError

SHARD_ROWS = 65_536
GROUP_ROWS = 2_048


class Staging:
    """Rows as they come, in uncompressed Arrow files, until it is known where they belong."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        self.folder = folder
        self.schema = schema
        self._schemas = {"paragraphs": self.schema, "tables": TABLES, "sight": STAGED}
        self._paths = {name: folder / f"staged-{name}.arrow" for name in self._schemas}

    def __enter__(self) -> "Staging":
        self._writers = [
            pa.ipc.new_stream(str(self._paths[name]), schema)
            for name, schema in self._schemas.items()
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
            (extracted.paragraphs, extracted.tables, extracted.sight),
            (extracted.rows, extracted.table_rows, [1] * len(extracted.documents)),
            strict=True,
        ):
            if not all(admitted):
                batch = batch.filter(pa.array(np.repeat(admitted, rows)))
            if batch.num_rows:
                writer.write_batch(batch)

    def deal(self, name: str, splits: dict[str, str]) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The staged rows of paragraphs, tables or sight, with the split of each document; those of
        documents that have none are left out."""
        with pa.OSFile(str(self._paths[name])) as file, pa.ipc.open_stream(file) as reader:
            for batch in reader:
                targets = [splits.get(id) for id in batch["document"].to_pylist()]
                for split in filter(None, dict.fromkeys(targets)):
                    yield split, batch.filter(pa.array([target == split for target in targets]))

    def remove(self) -> None:
        for path in self._paths.values():
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
    table_counts: Counter[str] = field(default_factory=Counter)
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
    for name, part in staging.deal("paragraphs", assignment):
        counts[name] += [
            part.num_rows,
            len(part["tokens"].flatten()),
            len(part["numerals"].flatten()),
        ]
        add_rows(hashes[name], part)
        writers[name].add(part)
    if not sum(count[2] for count in counts.values()):
        raise SourceError("no numeral in any kept paragraph: there is nothing to model")
    tables = {name: ShardWriter(staging.folder, f"tables-{name}", TABLES) for name in SPLITS}
    for name, part in staging.deal("tables", assignment):
        tables[name].add(part)
    written = Written()
    with ExitStack() as stack:
        sights = {n: stack.enter_context(SightWriter(staging.folder, n)) for n in SPLITS}
        for name, part in staging.deal("sight", assignment):
            sights[name].add(part)
            for counts_of_document in part["counts"].to_pylist():
                written.table_counts.update(dict(counts_of_document))
    for name in SPLITS:
        rows, tokens, numerals = map(int, counts[name])
        written.summary[name] = {
            "documents": documents[name],
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
    written.files = seal(staging.folder, [*shards, *written.tables, *sights_of_splits])
    staging.remove()
    return written
