"""Blocks of extracted rows, each one file, until it is known which split they belong to.

A file holds four Arrow streams: what the ledger needs of each document, then its paragraphs, its
tables and what it has in view; of each, one batch a unit. Who deals the rows out therefore sees the
same batches whoever has extracted them, and wherever.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from socket import gethostname

import pyarrow as pa

from numerate.documents.sources import Block
from numerate.errors import DocumentError, FailureError, NumerateError
from numerate.lm.data.extract import Extracted, Rules, extract
from numerate.lm.data.schema import TABLES
from numerate.lm.data.sight_file import STAGED
from numerate.storage.shared_folder import SharedFolder

SHORT = 16  # bytes of a hash by which documents are told apart
DOCUMENTS = pa.schema(
    [
        ("document", pa.string()),
        ("digest", pa.binary(SHORT)),  # of its text
        ("split", pa.string()),  # where the source prescribes it
        ("rows", pa.int32()),  # paragraphs
        ("table_rows", pa.int32()),
        ("files", pa.list_(pa.string())),  # that it takes in
    ]
)
BLOCK = r"block-([0-9]{8,})\.arrow"
"""A regular expression for the names of blocks."""
Rows = tuple[pa.RecordBatch, pa.RecordBatch, pa.RecordBatch, pa.RecordBatch]


@dataclass(slots=True)
class Staged:
    """What the ledger is told of a block."""

    number: int
    done: int  # how far the source is worked on
    documents: list[pa.RecordBatch] = field(default_factory=list)  # one a unit
    errors: list[DocumentError] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Staging:
    """Where the driver and its workers keep blocks."""

    folder: SharedFolder

    def write(self, staged: Staged, rows: list[Extracted], schema: pa.Schema) -> None:
        errors = [[error.where, error.reason] for error in staged.errors]
        record = {"done": staged.done, "errors": errors, "counts": staged.counts}
        documents = DOCUMENTS.with_metadata({"block": json.dumps(record)})
        sink = pa.BufferOutputStream()
        for kind, batches in (
            (documents, staged.documents),
            (schema, [extracted.paragraphs for extracted in rows]),
            (TABLES, [extracted.tables for extracted in rows]),
            (STAGED, [extracted.sight for extracted in rows]),
        ):
            with pa.ipc.new_stream(sink, kind) as writer:
                for batch in batches:
                    writer.write_batch(batch)
        self.folder.write(_name(staged.number), memoryview(sink.getvalue()))

    def recall(self, number: int) -> Staged:
        """What the ledger was told of a block; no more of it is read."""
        with self.folder.opened(_name(number)) as stream, pa.ipc.open_stream(stream) as reader:
            record = json.loads(reader.schema.metadata[b"block"])
            errors = [DocumentError(*error) for error in record["errors"]]
            counts = Counter[str](record["counts"])
            return Staged(number, record["done"], list(reader), errors, counts)

    def read(self, number: int) -> Iterator[Rows]:
        """The documents of each unit of a block, and their rows."""
        data = self.folder.read(_name(number))
        if data is None:
            raise FailureError(f"{self.folder.place}/{_name(number)}: has disappeared")
        stream = pa.BufferReader(data)
        kinds = []
        for _ in range(4):
            with pa.ipc.open_stream(stream) as reader:
                kinds.append(list(reader))
        yield from zip(*kinds, strict=True)

    def name_of(self, place: int) -> str:
        """Of the document that is there, counted over all blocks."""
        for number in sorted(self.finished()):
            for documents, *_ in self.read(number):
                if place < documents.num_rows:
                    return str(documents["document"][place])
                place -= documents.num_rows
        raise IndexError(place)

    def clear(self) -> None:
        """The blocks, and nothing else."""
        for number in self.finished():
            self.folder.remove(_name(number))

    def finished(self) -> set[int]:
        """Numbers of the blocks that are there."""
        found = [re.fullmatch(BLOCK, name) for name in self.folder.names()]
        return {int(one[1]) for one in found if one}


def _name(number: int) -> str:
    return f"block-{number:08d}.arrow"


@dataclass(frozen=True, slots=True)
class BlockExtraction:
    """What every worker makes: extraction of blocks, once it is sure to see the staging folder."""

    rules: Rules
    staging: Staging
    token: str | None = None  # name of a file there, where driver and worker may be on two machines

    def __call__(self) -> Callable[[Block], Staged]:
        folder = self.staging.folder
        if self.token and folder.read(self.token) is None:
            raise NumerateError(
                f"{folder.place}: rows are staged there, and the worker on {gethostname()} does "
                "not see it; expected --out in a place that all machines share"
            )
        return partial(extract_block, self.rules, self.staging)


def extract_block(rules: Rules, staging: Staging, block: Block) -> Staged:
    staged = Staged(block.number, block.done)
    rows: list[Extracted] = []
    for unit in block.units():
        if isinstance(unit, DocumentError):
            staged.errors.append(unit)
            continue
        extracted = extract(unit, rules)
        staged.errors += extracted.errors
        staged.counts.update(extracted.counts)
        staged.documents.append(_documents(extracted))
        rows.append(extracted)
    staging.write(staged, rows, rules.schema)
    return staged


def _documents(extracted: Extracted) -> pa.RecordBatch:
    documents = extracted.documents
    columns = [
        [id for id, _, _ in documents],
        [digest[:SHORT] for _, digest, _ in documents],
        [split for _, _, split in documents],
        extracted.rows,
        extracted.table_rows,
        extracted.files,
    ]
    arrays = [pa.array(c, type=field.type) for c, field in zip(columns, DOCUMENTS, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=DOCUMENTS)
