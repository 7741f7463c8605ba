"""A dataset that is not as it was written ends in one line, wherever it was spoilt."""

import json
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.lm.data.test_prepare import articles, write_folder

from numerate.errors import DatasetError, NumerateError
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.describe import describe
from numerate.lm.data.integrity import seal
from numerate.lm.data.prepare import prepare
from numerate.lm.train.run import train

MANIFEST = "manifest.json"
DEV = "dev-00000.parquet"
TABLES = "tables-train-00000.parquet"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dataset")
    prepare(write_folder(folder / "corpus", articles(20)), folder / "whole", seed=1)
    return folder / "whole"


@pytest.fixture
def out(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "out"))


def manifest_of(folder: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
    return manifest


def change_manifest(folder: Path, **changes: Any) -> None:
    (folder / MANIFEST).write_text(json.dumps(manifest_of(folder) | changes))


def seal_again(folder: Path) -> None:
    """Give the manifest the sizes and hashes of the files as they are now."""
    change_manifest(folder, files=seal(folder, manifest_of(folder)["files"]))


def rewrite(folder: Path, name: str, change: Callable[[pa.Table], pa.Table]) -> None:
    """Another table in the place of a file, which the manifest vouches for."""
    pq.write_table(change(pq.read_table(folder / name)), folder / name)
    seal_again(folder)


def with_column(name: str, values: list[Any], kind: pa.DataType) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        column = pa.array((values * table.num_rows)[: table.num_rows], kind)
        return table.set_column(table.schema.get_field_index(name), name, column)

    return change


TOKENS = pa.list_(pa.string())
DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "no manifest": (lambda out: (out / MANIFEST).unlink(), "not a dataset"),
    "other manifest": (lambda out: (out / MANIFEST).write_text("{}"), "not the manifest"),
    "no JSON": (lambda out: (out / MANIFEST).write_text(""), "cannot be read"),
    "no object": (lambda out: (out / MANIFEST).write_text("[]"), "got a list, expected an object"),
    "half a manifest": (
        lambda out: (out / MANIFEST).write_text('{"format": "numerate dataset", "version": 1}'),
        "spoilt, or made by a version before 0.5: numerate is missing; prepare it again",
    ),
    "another version": (lambda out: change_manifest(out, version=99), "got 99, expected 1"),
    "no shard": (lambda out: (out / DEV).unlink(), "dev-00000.parquet is missing"),
    "no tables": (lambda out: (out / TABLES).unlink(), "tables.* is missing"),
    "bad shard": (lambda out: (out / DEV).write_bytes(b"x"), r"dev.*got 1 bytes, expected [\d,]+"),
    "bad tables": (lambda out: (out / TABLES).write_bytes(b"x"), "tables.*got 1 bytes"),
    "bad sealed shard": (
        lambda out: ((out / DEV).write_bytes(b"x"), seal_again(out)),
        "dev.*cannot be read",
    ),
    "another hash": (
        lambda out: change_manifest(out, content_hash="0" * 64),
        "its hashes do not fit together",
    ),
    "shard elsewhere": (
        lambda out: change_manifest(out, tables=["../whole/tables-train-00000.parquet"]),
        "expected the name of a file",
    ),
    "a column whose name is no UTF-8": (
        lambda out: (
            (out / DEV).write_bytes((out / DEV).read_bytes().replace(b"starts", b"start\xf4")),
            seal_again(out),
        ),
        "dev.*cannot be read",
    ),
    "endless name": (
        lambda out: change_manifest(out, tables=["x" * 5000]),
        "expected the name of a file",
    ),
    "unsealed": (lambda out: change_manifest(out, files={}), r"files\.train.* is missing"),
    "fewer rows": (
        lambda out: rewrite(out, DEV, lambda table: table.slice(0, 1)),
        "dev: got 1 paragraphs, expected 2",
    ),
    "no column": (
        lambda out: rewrite(out, DEV, lambda table: table.drop_columns(["tokens"])),
        "column tokens is missing",
    ),
    "another type": (
        lambda out: rewrite(out, DEV, with_column("tokens", ["a"], pa.string())),
        "column tokens: got string, expected list<",
    ),
    "tables of another type": (
        lambda out: rewrite(out, TABLES, with_column("header", [1], pa.int8())),
        "column header: got int8, expected list<",
    ),
    "null": (
        lambda out: rewrite(out, DEV, with_column("tokens", [None], TOKENS)),
        "column tokens: got null",
    ),
    "null inside": (
        lambda out: rewrite(out, DEV, with_column("tokens", [["a", None]], TOKENS)),
        "column tokens: got null",
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_dataset_is_an_error(out: Path, kind: str) -> None:
    damage, reason = DAMAGE[kind]
    damage(out)
    with pytest.raises(DatasetError, match=reason):
        describe(Dataset.open(out))


def every_key(record: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(record, dict):
        for key, value in record.items():
            yield (*path, key)
            yield from every_key(value, (*path, key))


WRONG = (None, True, -1, 1e400, "", "x\x1b[2J", [], [None], {}, {"a": 1})


def test_no_manifest_ends_in_a_traceback(out: Path) -> None:
    """Every key missing, and of every other type: described, or refused in one line."""
    whole = json.dumps(manifest_of(out))
    keys = list(every_key(json.loads(whole)))
    assert len(keys) > 50
    lines: list[str] = []
    for path in keys:
        for wrong in ("missing", *WRONG):
            manifest = json.loads(whole)
            parent = manifest
            for key in path[:-1]:
                parent = parent[key]
            if wrong == "missing":
                del parent[path[-1]]
            else:
                parent[path[-1]] = wrong
            (out / MANIFEST).write_text(json.dumps(manifest))
            try:
                Dataset.open(out).reading.record()
            except NumerateError as error:
                lines.append(str(error))
    assert all(line.isprintable() for line in lines)
    assert len(lines) > 6 * len(keys)


def test_flipped_bits_are_told_by_what_reads_them(out: Path) -> None:
    """Where sizes and columns stay as they were: by the sums of pages, or by the hashes."""
    untouched = {path.name: path.read_bytes() for path in out.glob("*.parquet")}
    expected = describe(Dataset.open(out))
    chance = random.Random(1)
    silent = 0
    for _ in range(80):
        name = chance.choice(sorted(untouched))
        spoilt = bytearray(untouched[name])
        spoilt[chance.randrange(len(spoilt))] ^= 1 << chance.randrange(8)
        (out / name).write_bytes(spoilt)
        with suppress(DatasetError):
            silent += describe(Dataset.open(out)) != expected
        with pytest.raises(DatasetError):
            Dataset.open(out, verified=True)
        (out / name).write_bytes(untouched[name])
    assert silent == 0
    Dataset.open(out, verified=True)


def test_another_text_of_the_same_size_is_told_when_verified(out: Path) -> None:
    """Also if the manifest vouches for the file: by the hash of the dataset's content."""
    rewrite(
        out, DEV, with_column("text", ["Of 99 patients, 7.99 % improved (_ref_)."], pa.string())
    )
    Dataset.open(out)
    with pytest.raises(DatasetError, match="dev: changed since it was prepared: another content"):
        Dataset.open(out, verified=True)


def test_training_verifies_its_dataset(out: Path, tmp_path: Path) -> None:
    table = pq.read_table(out / DEV)
    size = (out / DEV).stat().st_size
    pq.write_table(table, out / DEV)  # the same rows, written by somebody else
    manifest = manifest_of(out)
    manifest["files"][DEV]["bytes"] = (out / DEV).stat().st_size
    assert manifest["files"][DEV]["bytes"] != size
    (out / MANIFEST).write_text(json.dumps(manifest))
    Dataset.open(out)
    with pytest.raises(DatasetError, match=r"dev-00000\.parquet: changed since it was prepared"):
        train(out, tmp_path / "run", device="cpu")
    assert not (tmp_path / "run").exists()
