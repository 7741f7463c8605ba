"""Whether the files of a dataset are those that were written: sizes always, hashes when asked."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from numerate.errors import DatasetError, one_line
from numerate.lm.data.schema import SPLITS, TABLES, paragraph_schema
from numerate.storage.regular_files import check_regular, file_digest

_SPLIT = f"(?:{'|'.join(SPLITS)})"
NAMES = rf"(?:tables-)?{_SPLIT}-[0-9]{{5,9}}\.parquet|sight-{_SPLIT}\.arrow"
"""A regular expression for the files that a manifest names, all in the folder itself."""
DRAFTS = rf"block-[0-9]{{8,}}\.arrow|staged-{_SPLIT}-[a-z_]+\.bin"
"""The same for files that are there only while a dataset is prepared."""


def seal(folder: Path, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What the manifest keeps of each file, so that a change is noticed."""
    return {
        name: {"bytes": (folder / name).stat().st_size, "sha256": file_digest(folder / name)}
        for name in names
    }


def add_rows(digest: Any, batch: pa.RecordBatch) -> None:
    """Add the texts of some paragraphs to the hash of a split's content."""
    documents, texts = batch["document"].to_pylist(), batch["text"].to_pylist()
    for document, text in zip(documents, texts, strict=True):
        digest.update(f"{document}\0{text}\0".encode())


def content_hash(splits: Iterable[str]) -> str:
    """The hash of a dataset's content, of those of its splits in order."""
    return hashlib.sha256("".join(splits).encode()).hexdigest()


def check_files(folder: Path, manifest: dict[str, Any]) -> None:
    """Names, sizes, columns and numbers of rows: no more than the ends of the files are read."""
    for name in manifest["files"]:
        _check_name(folder, name)
    paragraphs = paragraph_schema(manifest["oracle"], manifest["options"].get("tables", False))
    splits = manifest["splits"]
    for split in SPLITS:
        rows = sum(_rows(folder, name, manifest, paragraphs) for name in splits[split]["shards"])
        if rows != splits[split]["paragraphs"]:
            expected = f"expected {splits[split]['paragraphs']:,}"
            raise DatasetError(f"{folder}: {split}: got {rows:,} paragraphs, {expected}")
        _sized(folder, splits[split]["sight"]["file"], manifest)
    of_splits = [name for split in SPLITS for name in splits[split]["tables"]]
    for name in dict.fromkeys([*manifest["tables"], *of_splits]):
        _rows(folder, name, manifest, TABLES)
    if manifest["content_hash"] != content_hash(splits[split]["content_hash"] for split in SPLITS):
        raise DatasetError(f"{folder}: the manifest was changed: its hashes do not fit together")


def verify(folder: Path, manifest: dict[str, Any]) -> None:
    """Read every byte: the files have the hashes, and the texts the content, of the manifest."""
    for name, sealed in manifest["files"].items():
        path = _sized(folder, name, manifest)
        if file_digest(path) != sealed["sha256"]:
            raise DatasetError(f"{path}: changed since it was prepared: another hash")
    for split in SPLITS:
        about = manifest["splits"][split]
        digest = hashlib.sha256()
        for batch in read_batches(folder, about["shards"], ["document", "text"]):
            add_rows(digest, batch)
        if digest.hexdigest() != about["content_hash"]:
            raise DatasetError(f"{folder}: {split}: changed since it was prepared: another content")


def read_batches(
    folder: Path, shards: list[str], columns: list[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of some files. Pages carry a sum, so a flipped bit is no other text."""
    for shard in shards:
        try:
            check_regular(folder / shard)
            with pq.ParquetFile(folder / shard, page_checksum_verification=True) as file:
                for batch in file.iter_batches(columns=columns):
                    batch.validate(full=True)
                    _refuse_gaps(batch)
                    yield batch
        except (OSError, pa.ArrowException) as error:
            raise DatasetError(f"{folder / shard}: cannot be read: {one_line(error)}") from None


def _refuse_gaps(batch: pa.RecordBatch) -> None:
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        while column.null_count == 0 and pa.types.is_list(column.type):
            column = column.flatten()
        if column.null_count:
            raise pa.ArrowInvalid(f"column {name}: got null, expected a value in every row")


def _sized(folder: Path, name: str, manifest: dict[str, Any]) -> Path:
    """A file that is there, and as long as it was."""
    _check_name(folder, name)
    path = folder / name
    if not path.is_file():
        raise DatasetError(f"{folder}: incomplete dataset: {name} is missing")
    sealed = manifest["files"].get(name)
    if sealed is None:
        raise DatasetError(f"{folder}: incomplete manifest: files.{name} is missing")
    if (size := path.stat().st_size) != sealed["bytes"]:
        raise DatasetError(f"{path}: got {size:,} bytes, expected {sealed['bytes']:,}: damaged")
    return path


def _check_name(folder: Path, name: str) -> None:
    if not re.fullmatch(NAMES, name):
        raise DatasetError(
            f"{folder}: got {name!r:.60} in the manifest, expected the name of a file"
        )


def _rows(folder: Path, name: str, manifest: dict[str, Any], schema: pa.Schema) -> int:
    path = _sized(folder, name, manifest)
    try:
        with pq.ParquetFile(path) as file:
            found = {field.name: field.type for field in file.schema_arrow}
            rows = file.metadata.num_rows
    except (OSError, ValueError, pa.ArrowException) as error:  # a name may be no UTF-8
        raise DatasetError(f"{path}: cannot be read: {one_line(error)}") from None
    for column in schema:
        if column.name not in found:
            raise DatasetError(f"{path}: column {column.name} is missing")
        if (got := found[column.name]) != column.type:
            raise DatasetError(f"{path}: column {column.name}: got {got}, expected {column.type}")
    return int(rows)
