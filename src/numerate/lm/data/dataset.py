"""A prepared dataset: open it and read its splits as columns."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from numerate.documents.document import Table
from numerate.errors import DatasetError, NumerateError, printable
from numerate.lm.data.integrity import DRAFTS, NAMES, check_files, read_batches, verify
from numerate.lm.data.keep import Keep
from numerate.lm.data.schema import (
    FORMAT_NAME,
    FORMAT_VERSION,
    MANIFEST_SHAPE,
    ORACLE,
    ORACLE_WITH_TABLES,
)
from numerate.lm.data.schema import SPLITS as SPLITS
from numerate.lm.data.sight_file import read_sight
from numerate.storage import here
from numerate.storage.atomic import recover
from numerate.storage.folder_kind import FolderKind
from numerate.storage.records import misfit, read_record
from numerate.text.columns import SightColumns, check_level
from numerate.text.reading_rules import ReadingRules

MANIFEST = "manifest.json"
SAMPLE_SEED = 1


@dataclass(frozen=True, slots=True)
class Encoded:
    """The tokens of a split as integers: no Python object per token."""

    types: list[str]  # distinct tokens, in order of first appearance
    codes: np.ndarray  # int32 [tokens], indices into types
    offsets: np.ndarray  # int64 [paragraphs + 1], where each paragraph starts in codes

    @property
    def counts(self) -> np.ndarray:
        """How often each type occurs: int64 [types]."""
        return np.bincount(self.codes, minlength=len(self.types))

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.offsets)


@dataclass(frozen=True, slots=True, repr=False)
class Split:
    """One split. It knows its name, so that a model is never tested on what it was tuned on."""

    name: str
    folder: Path
    summary: dict[str, Any]
    has_rows: bool = False  # its paragraphs are rows of tables

    def __repr__(self) -> str:
        return f"Split({self.name} of {printable(self.folder)}: {_extent(self.summary)})"

    def batches(self, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        return read_batches(self.folder, self.summary["shards"], columns)

    def read(self, columns: list[str]) -> pa.Table:
        batches = list(self.batches(columns))
        if not batches:
            raise DatasetError(f"{self.folder}: the {self.name} split is empty")
        return pa.Table.from_batches(batches)

    def encode(self) -> Encoded:
        """All tokens of the split, dictionary-encoded."""
        tokens = self.read(["tokens"])["tokens"].combine_chunks()
        encoded = tokens.flatten().dictionary_encode()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.combine_chunks()
        lengths = pc.list_value_length(tokens).to_numpy(zero_copy_only=False)
        offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
        return Encoded(encoded.dictionary.to_pylist(), codes, offsets)

    def sight(self, level: str) -> SightColumns:
        """The numbers that its paragraphs have in view, mapped into memory."""
        check_level(level)
        if level in ("none", "paragraph"):
            return SightColumns.nothing(self.summary["paragraphs"])
        if level == "document" and self.has_rows:
            # A row is left out of the table that its own line sees, and of no other.
            got = "sight: got document for rows of tables, each of which the others show"
            raise DatasetError(f"{got}: {self.folder}")
        about = self.summary["sight"]
        columns = read_sight(self.folder / about["file"], about["sha256"], level)
        if len(columns) != (expected := self.summary["paragraphs"]):
            got = f"sight of {len(columns):,} paragraphs, expected {expected:,}"
            raise DatasetError(f"{self.folder}: {self.name}: got {got}")
        return columns

    def tables(self) -> list[Table]:
        """All tables of its documents, as the sources of its sight count them."""
        return [
            Table(**row | {"repeated": frozenset(map(tuple, row["repeated"]))})
            for batch in read_batches(self.folder, self.summary["tables"])
            for row in batch.drop_columns(["document"]).to_pylist()
        ]

    def table_documents(self) -> list[str]:
        """Of each of these tables, the document that it is of."""
        batches = read_batches(self.folder, self.summary["tables"], ["document"])
        return [document for batch in batches for document in batch.column(0).to_pylist()]

    def log_probs(self, *, with_tables: bool = False) -> np.ndarray:
        """The generator's own log-probabilities, one per token and one per end: float64."""
        name = (ORACLE_WITH_TABLES if with_tables else ORACLE).name
        column = self.read([name])[name].combine_chunks()
        return column.flatten().to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def is_dataset(folder: Path) -> bool:
    """Whether the folder holds a dataset, of whatever version."""
    try:
        return bool(read_record(folder / MANIFEST, {}, DatasetError).get("format") == FORMAT_NAME)
    except (OSError, DatasetError):
        return False


def _fault(folder: Path) -> str | None:
    return None if is_dataset(folder) else "not a dataset"


DATASET = FolderKind("a dataset", MANIFEST, _fault, f"{re.escape(MANIFEST)}|{NAMES}", drafts=DRAFTS)


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        manifest = read_record(path, {}, DatasetError)
    except (FileNotFoundError, NotADirectoryError):
        raise DatasetError(f"{folder}: not a dataset: expected a folder with {MANIFEST}") from None
    if manifest.get("format") != FORMAT_NAME:
        raise DatasetError(f"{path}: not the manifest of a dataset")
    if manifest.get("version") != FORMAT_VERSION:
        raise DatasetError(
            f"{folder}: dataset of another version: got {manifest.get('version')}, "
            f"expected {FORMAT_VERSION}; prepare it again"
        )
    if wrong := misfit(manifest, MANIFEST_SHAPE):
        cause = "spoilt, or made by a version before 0.5"
        raise DatasetError(f"{path}: {cause}: {wrong}; prepare it again")
    try:
        ReadingRules(**manifest["options"]["reading"])
    except NumerateError as error:
        raise DatasetError(f"{path}: options.reading: {error}; prepare it again") from None
    return manifest


@dataclass(frozen=True, slots=True, repr=False)
class Dataset:
    folder: Path
    manifest: dict[str, Any]

    def __repr__(self) -> str:
        splits = (f"{name} {_extent(self.manifest['splits'][name])}" for name in SPLITS)
        return f"Dataset({printable(self.folder)}: {', '.join(splits)})"

    @classmethod
    def open(cls, folder: str | Path, *, verified: bool = False) -> "Dataset":
        """Sizes, columns and counts of its files are looked at; if `verified`, all of them is.

        One that lies elsewhere, as at `s3://bucket/data`, is fetched first, unless it was before.
        """
        folder = here(folder)
        recover(folder, DATASET)
        manifest = _read_manifest(folder)
        check_files(folder, manifest)
        if verified:
            verify(folder, manifest)
        return cls(folder, manifest)

    def split(self, name: str) -> Split:
        if name not in SPLITS:
            raise DatasetError(f"unknown split {name!r}: expected one of {', '.join(SPLITS)}")
        return Split(name, self.folder, self.manifest["splits"][name], self.has_rows)

    @property
    def reading(self) -> ReadingRules:
        """How its texts were cut into tokens."""
        return ReadingRules(**self.manifest["options"]["reading"])

    @property
    def has_oracle(self) -> bool:
        return bool(self.manifest["oracle"])

    @property
    def has_oracle_with_tables(self) -> bool:
        return self.has_oracle and bool(self.manifest["options"].get("tables", False))

    @property
    def has_rows(self) -> bool:
        """Whether its paragraphs are rows of tables."""
        return bool(self.manifest["options"].get("keep") == Keep.ROWS)

    def tables(self) -> Iterator[pa.RecordBatch]:
        return read_batches(self.folder, self.manifest["tables"])


def _extent(summary: dict[str, Any]) -> str:
    return f"{summary['paragraphs']:,} paragraphs of {summary['documents']:,} documents"


def some_paragraphs(count: int, limit: int | None) -> np.ndarray:
    """Which of `count` paragraphs are taken if at most `limit` shall be: always the same ones."""
    if limit is None:
        return np.arange(count)
    if limit < 1:
        raise NumerateError(f"limit: got {limit}, expected 1 paragraph or more")
    return np.sort(order_of_sampling(count)[:limit])


def order_of_sampling(count: int) -> np.ndarray:
    """Which paragraph is taken first, second …: a small sample is part of every larger one."""
    return np.random.default_rng(SAMPLE_SEED).permutation(count)
