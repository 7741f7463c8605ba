"""Numbers in view of a split's paragraphs, as one file that is mapped into memory.

It is an Arrow file of a single row whose columns are lists. Each list is one array, uncompressed:
what is not used of it is not read.
"""

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa

from numerate.errors import DatasetError, one_line
from numerate.lm.data.document_sight import DocumentSight
from numerate.lm.data.hashes import Hashes, hash_of
from numerate.storage.regular_files import file_digest
from numerate.text.columns import HEADER_WORDS, SightColumns

# Of each table its numbers and bags, of each paragraph its views: counts, then where they begin.
_OFFSETS = {
    "number_offsets": "number_counts",
    "bag_offsets": "bag_counts",
    "view_offsets": "view_counts",
    "document_view_offsets": "document_view_counts",
}
_PLACES = ("number_rows", "number_columns", "cell_rows", "cell_columns")
_CODES = ("number_numerals", "bags", "views", "document_views", "sources")
_TEXTS = {"words": pa.large_string(), "numerals": pa.large_string()}
_ENDS = [f"{name}_ends" for name in _TEXTS]  # of each text in the bytes of all


def _schema(types: dict[str, pa.DataType]) -> pa.Schema:
    return pa.schema([(name, pa.large_list(kind)) for name, kind in types.items()])


_INTEGERS = dict.fromkeys(_PLACES, pa.int16()) | dict.fromkeys(_CODES, pa.int32())
STAGED = (
    _schema(dict.fromkeys(_OFFSETS.values(), pa.int32()) | _INTEGERS | _TEXTS)
    .append(pa.field("document", pa.string()))
    .append(pa.field("counts", pa.map_(pa.string(), pa.int64())))
)
"""One row a document, while they stream in."""
SIGHT = _schema(dict.fromkeys(_OFFSETS, pa.int64()) | _INTEGERS | _TEXTS)
NARROW = SIGHT.set(SIGHT.get_field_index("bags"), pa.field("bags", pa.large_list(pa.int16())))
"""Where there are so few words that their codes fit."""


def staged_row(document: str, sight: DocumentSight) -> dict[str, Any]:
    columns = sight.columns
    paragraphs_as_tables = len(columns.number_offsets) - 1 - sight.tables
    row = {name: getattr(columns, name) for name in (*_PLACES, *_CODES[:3], *_TEXTS)}
    return row | {
        "document": document,
        "counts": list(sight.counts.items()),
        "bags": columns.bags.reshape(-1),
        "number_counts": np.diff(columns.number_offsets),
        "bag_counts": np.diff(columns.bag_offsets),
        "view_counts": np.diff(columns.view_offsets),
        "document_view_counts": list(map(len, sight.document_views)),
        "document_views": [table for views in sight.document_views for table in views],
        "sources": [*range(sight.tables), *range(-1, -1 - paragraphs_as_tables, -1)],
    }


class SightWriter:
    """The sight of a split. Arrays wait in files of their own until all documents are in.

    So do the different texts of all tables, of which hashes alone are held.
    """

    def __init__(self, folder: Path, split: str) -> None:
        self.name = f"sight-{split}.arrow"
        self._folder = folder
        types = {field.name: field.type.value_type.to_pandas_dtype() for field in SIGHT}
        self._types = types | dict.fromkeys(_TEXTS, np.uint8) | dict.fromkeys(_ENDS, np.int64)
        self._parts = {name: folder / f"staged-{split}-{name}.bin" for name in self._types}
        self._known = {name: Hashes() for name in _TEXTS}
        counted = [*_OFFSETS, *_ENDS, "tables", "sources", "paragraphs"]
        self._ends = dict.fromkeys(counted, 0)

    def __enter__(self) -> "SightWriter":
        with ExitStack() as stack:
            self._files = {
                name: stack.enter_context(path.open("wb")) for name, path in self._parts.items()
            }
            self._stack = stack.pop_all()
        for name in (*_OFFSETS, *_ENDS):
            self._write(name, np.zeros(1))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def add(self, batch: pa.RecordBatch) -> None:
        """Some documents, by rows of `STAGED`: what they count from 0 is counted on."""
        for name, counts in _OFFSETS.items():
            self._count_on(name, _flat(batch, counts))
        for name in _PLACES:
            self._write(name, _flat(batch, name))
        self._write("number_numerals", self._recode(batch, "number_numerals", "numerals"))
        self._write("bags", self._recode(batch, "bags", "words"))
        tables = _lengths(batch, "sources")  # with paragraphs that are read as tables
        before = self._ends["sources"] + np.cumsum(tables) - tables
        for name in ("views", "document_views"):
            self._write(name, _flat(batch, name) + np.repeat(before, _lengths(batch, name)))
        self._ends["sources"] += int(tables.sum())
        self._write("sources", self._recount(batch, tables))

    def close(self) -> dict[str, int | str]:
        """Put the file together; what the manifest tells of it."""
        self._stack.close()
        schema = NARROW if len(self._known["words"]) <= np.iinfo(np.int16).max else SIGHT
        arrays = []
        for column in schema:
            values = self._values(column.name, column.type.value_type)
            arrays.append(pa.LargeListArray.from_arrays([0, len(values)], values))
        with pa.ipc.new_file(str(self._folder / self.name), schema) as file:
            file.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
        for path in self._parts.values():
            path.unlink()
        return {
            "file": self.name,
            "sha256": file_digest(self._folder / self.name),
            "tables": self._ends["tables"],
            "numbers": self._ends["number_offsets"],
        }

    def _write(self, name: str, values: np.ndarray) -> None:
        self._files[name].write(values.astype(self._types[name]).tobytes())

    def _count_on(self, name: str, counts: np.ndarray) -> None:
        """Write where so many end that come after those that have been counted."""
        ends = np.cumsum(counts, dtype=np.int64) + self._ends[name]
        self._write(name, ends)
        self._ends[name] = int(ends[-1]) if len(ends) else self._ends[name]

    def _values(self, name: str, kind: pa.DataType) -> pa.Array:
        """All of a column, mapped into memory."""
        if name not in _TEXTS:
            return pa.array(self._written(name), kind)
        ends = self._written(f"{name}_ends")
        parts = [None, pa.py_buffer(ends), pa.py_buffer(self._written(name))]
        return pa.Array.from_buffers(kind, len(ends) - 1, parts)

    def _written(self, name: str) -> np.ndarray:
        path, dtype = self._parts[name], self._types[name]
        # What is empty cannot be mapped.
        return np.memmap(path, dtype, mode="r") if path.stat().st_size else np.zeros(0, dtype)

    def _recode(self, batch: pa.RecordBatch, name: str, texts: str) -> np.ndarray:
        """Places in the texts of each document as places in those of all."""
        codes = self._numbered(texts, batch[texts].flatten().to_pylist())
        of_document = _lengths(batch, texts)
        before = np.cumsum(of_document) - of_document
        values = _flat(batch, name)
        at = values + np.repeat(before, _lengths(batch, name))
        is_text = values >= 0
        recoded = np.full(len(values), -1, dtype=np.int32)
        recoded[is_text] = codes[at[is_text]]
        return recoded

    def _numbered(self, name: str, texts: list[str]) -> np.ndarray:
        """Their places among all texts of their kind; those that are new are written down."""
        before = len(self._known[name])
        codes = self._known[name].add_all(list(map(hash_of, texts)))
        _, first = np.unique(codes, return_index=True)
        new = [texts[place].encode() for place in first if codes[place] >= before]
        self._files[name].write(b"".join(new))
        self._count_on(f"{name}_ends", np.array(list(map(len, new)), np.int64))
        return codes

    def _recount(self, batch: pa.RecordBatch, lengths: np.ndarray) -> np.ndarray:
        """Tables and paragraphs of each document as those of the split."""
        values = _flat(batch, "sources")
        document = np.repeat(np.arange(len(lengths)), lengths)
        tables = np.bincount(document[values >= 0], minlength=len(lengths))
        paragraphs = _lengths(batch, "view_counts")
        tables_before = self._ends["tables"] + np.cumsum(tables) - tables
        paragraphs_before = self._ends["paragraphs"] + np.cumsum(paragraphs) - paragraphs
        self._ends["tables"] += int(tables.sum())
        self._ends["paragraphs"] += int(paragraphs.sum())
        before = np.where(values >= 0, tables_before[document], -paragraphs_before[document])
        return values + before


def _flat(batch: pa.RecordBatch, name: str) -> np.ndarray:
    return np.asarray(batch[name].flatten().to_numpy(zero_copy_only=False))


def _lengths(batch: pa.RecordBatch, name: str) -> np.ndarray:
    """Of the lists of a column: int64 [documents]."""
    lengths = batch[name].value_lengths().to_numpy(zero_copy_only=False)
    return np.asarray(lengths, dtype=np.int64)


def read_sight(path: Path, sha256: str, level: str) -> SightColumns:
    """The sight of a split, mapped into memory. It has no sums but its hash, which is looked at."""
    try:
        if file_digest(path) != sha256:
            raise DatasetError(f"{path}: changed since it was prepared: another hash")
        with pa.memory_map(str(path)) as source:
            file = pa.ipc.open_file(source)
            if file.schema not in (SIGHT, NARROW) or file.num_record_batches != 1:
                raise pa.ArrowInvalid("got other columns than those of sight")
            batch = file.get_batch(0)
        batch.validate(full=True)
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{path}: cannot be read: {one_line(error)}") from None
    views = "document_" if level == "document" else ""
    same = ("number_offsets", "number_numerals", "bag_offsets", "sources", *_PLACES)
    stored: dict[str, Any] = {name: _flat(batch, name) for name in same}
    return SightColumns(
        **stored | {name: batch[name].flatten().to_pylist() for name in _TEXTS},
        bags=_flat(batch, "bags").reshape(-1, HEADER_WORDS),
        view_offsets=_flat(batch, f"{views}view_offsets"),
        views=_flat(batch, f"{views}views"),
    )
