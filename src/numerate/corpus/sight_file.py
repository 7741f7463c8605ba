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

from numerate.corpus.document_sight import DocumentSight
from numerate.errors import DatasetError, one_line
from numerate.sight.columns import HEADER_WORDS, SightColumns

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


def _schema(types: dict[str, pa.DataType]) -> pa.Schema:
    return pa.schema([(name, pa.large_list(kind)) for name, kind in types.items()])


_INTEGERS = dict.fromkeys((*_PLACES, *_CODES), pa.int32())
STAGED = _schema(dict.fromkeys(_OFFSETS.values(), pa.int32()) | _INTEGERS | _TEXTS).append(
    pa.field("document", pa.string())
)
"""One row a document, while they stream in."""
SIGHT = _schema(dict.fromkeys(_OFFSETS, pa.int64()) | _INTEGERS | _TEXTS)


def staged_row(document: str, sight: DocumentSight) -> dict[str, Any]:
    columns = sight.columns
    paragraphs_as_tables = len(columns.number_offsets) - 1 - sight.tables
    row = {name: getattr(columns, name) for name in (*_PLACES, *_CODES[:3], *_TEXTS)}
    return row | {
        "document": document,
        "bags": columns.bags.reshape(-1),
        "number_counts": np.diff(columns.number_offsets),
        "bag_counts": np.diff(columns.bag_offsets),
        "view_counts": np.diff(columns.view_offsets),
        "document_view_counts": list(map(len, sight.document_views)),
        "document_views": [table for views in sight.document_views for table in views],
        "sources": [*range(sight.tables), *range(-1, -1 - paragraphs_as_tables, -1)],
    }


class SightWriter:
    """The sight of a split. Arrays wait in files of their own until all documents are in."""

    def __init__(self, folder: Path, split: str) -> None:
        self.name = f"sight-{split}.arrow"
        self._folder = folder
        self._types = {field.name: field.type.value_type for field in SIGHT}
        arrays = [name for name in self._types if name not in _TEXTS]
        self._parts = {name: folder / f"staged-{split}-{name}.bin" for name in arrays}
        self._codes: dict[str, dict[str, int]] = {name: {} for name in _TEXTS}
        self._ends = dict.fromkeys([*_OFFSETS, "tables", "sources", "paragraphs"], 0)

    def __enter__(self) -> "SightWriter":
        with ExitStack() as stack:
            self._files = {
                name: stack.enter_context(path.open("wb")) for name, path in self._parts.items()
            }
            self._stack = stack.pop_all()
        for name in _OFFSETS:
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
            offsets = np.cumsum(_flat(batch, counts), dtype=np.int64) + self._ends[name]
            self._write(name, offsets)
            self._ends[name] = int(offsets[-1]) if len(offsets) else self._ends[name]
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
        arrays: list[pa.Array] = []
        for name, kind in self._types.items():
            if name in _TEXTS:
                values = pa.array(self._codes[name], kind)
            else:
                values = pa.array(_mapped(self._parts[name], kind.to_pandas_dtype()), kind)
            arrays.append(pa.LargeListArray.from_arrays([0, len(values)], values))
        with pa.ipc.new_file(str(self._folder / self.name), SIGHT) as file:
            file.write_batch(pa.RecordBatch.from_arrays(arrays, schema=SIGHT))
        del arrays, values
        for path in self._parts.values():
            path.unlink()
        return {
            "file": self.name,
            "tables": self._ends["tables"],
            "numbers": self._ends["number_offsets"],
        }

    def _write(self, name: str, values: np.ndarray) -> None:
        self._files[name].write(values.astype(self._types[name].to_pandas_dtype()).tobytes())

    def _recode(self, batch: pa.RecordBatch, name: str, texts: str) -> np.ndarray:
        """Places in the texts of each document as places in those of all."""
        known = self._codes[texts]
        codes = np.array(
            [known.setdefault(text, len(known)) for text in batch[texts].flatten().to_pylist()],
            dtype=np.int32,
        )
        of_document = _lengths(batch, texts)
        before = np.cumsum(of_document) - of_document
        values = _flat(batch, name)
        at = values + np.repeat(before, _lengths(batch, name))
        is_text = values >= 0
        recoded = np.full(len(values), -1, dtype=np.int32)
        recoded[is_text] = codes[at[is_text]]
        return recoded

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


def _mapped(path: Path, dtype: Any) -> np.ndarray:
    if not path.stat().st_size:
        return np.zeros(0, dtype)  # which cannot be mapped
    return np.memmap(path, dtype, mode="r")


def read_sight(path: Path, level: str) -> SightColumns:
    """The sight of a split, mapped into memory; what a flipped bit would make of it is refused."""
    try:
        with pa.memory_map(str(path)) as source:
            file = pa.ipc.open_file(source)
            if file.schema != SIGHT or file.num_record_batches != 1:
                raise pa.ArrowInvalid("got other columns than those of sight")
            batch = file.get_batch(0)
        if batch.num_rows != 1:
            raise pa.ArrowInvalid(f"got {batch.num_rows} rows, expected 1")
        batch.validate(full=True)
        stored: dict[str, Any] = {
            name: batch[name].flatten().to_pylist() if name in _TEXTS else _flat(batch, name)
            for name in batch.schema.names
        }
        views = "document_" if level == "document" else ""
        columns = SightColumns(
            **{name: stored[name] for name in (*_TEXTS, *_PLACES, "number_numerals", "sources")},
            number_offsets=stored["number_offsets"],
            bag_offsets=stored["bag_offsets"],
            bags=stored["bags"].reshape(-1, HEADER_WORDS),
            view_offsets=stored[f"{views}view_offsets"],
            views=stored[f"{views}views"],
        )
    except (OSError, ValueError, pa.ArrowException) as error:
        raise DatasetError(f"{path}: cannot be read: {one_line(error)}") from None
    if wrong := _misfit(columns):
        raise DatasetError(f"{path}: damaged: {wrong}")
    return columns


def _misfit(sight: SightColumns) -> str | None:
    """The first thing that does not fit together."""
    tables, numbers = len(sight.number_offsets) - 1, len(sight.number_numerals)
    for name, offsets, total in (
        ("number_offsets", sight.number_offsets, numbers),
        ("bag_offsets", sight.bag_offsets, len(sight.bags)),
        ("view_offsets", sight.view_offsets, len(sight.views)),
    ):
        fits = len(offsets) and not offsets[0] and offsets[-1] == total
        if not fits or np.any(np.diff(offsets) < 0):
            return f"{name}: expected to grow from 0 to {total:,}"
    sources = 0 if sight.sources is None else len(sight.sources)
    if not len(sight.bag_offsets) - 1 == sources == tables:
        return f"expected bags and sources of {tables:,} tables"
    bags = np.repeat(np.diff(sight.bag_offsets), np.diff(sight.number_offsets))  # [E]
    expected: list[tuple[str, np.ndarray, int, int | np.ndarray]] = [
        ("number_numerals", sight.number_numerals, 0, len(sight.numerals)),
        ("number_rows", sight.number_rows, 0, bags),
        ("number_columns", sight.number_columns, 0, bags),
        ("bags", sight.bags, -1, len(sight.words)),
        ("views", sight.views, 0, tables),
    ]
    for name, values, least, end in expected:
        if name.startswith("number") and len(values) != numbers:
            return f"{name}: got {len(values):,}, expected {numbers:,}"
        if np.any(values < least) or np.any(values >= end):
            return f"{name}: got {values.min()} to {values.max()}, which are not there"
    return None
