"""Spoilt datasets, opened and described with and without their hashes."""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fuzzing.archives import append, cut, delete_span, flip_bits, overwrite, repeat_span
from fuzzing.articles import SAMPLE
from fuzzing.kind import Setting
from numerate.errors import NumerateError
from numerate.lm.data.dataset import MANIFEST, SPLITS, Dataset
from numerate.lm.data.describe import describe
from numerate.lm.data.prepare import prepare

Damage = Callable[[Path, random.Random], None]

VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1 << 70, 0.5, "", "x", "\x1b[2J", "../x", "a\nb", "9" * 5000,
    [], [None], [[]], ["x"], {}, {"x": 1},
)  # fmt: skip
COLUMNS = (
    pa.array([1]), pa.array(["x"]), pa.array([None], pa.string()), pa.array([b"\xff"]),
    pa.array([[]], pa.list_(pa.int32())), pa.array([["x", None]]), pa.array([[1 << 40]]),
    pa.array([[[None]]]),
)  # fmt: skip


def keys(record: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = record.items() if isinstance(record, dict) else enumerate(record)
    found = []
    for key, value in inner:
        found.append((*path, key))
        if isinstance(value, dict | list):
            found += keys(value, (*path, key))
    return found


def change_key(folder: Path, chance: random.Random) -> None:
    """A key of the manifest is missing, or of another type, or has another value."""
    manifest = json.loads((folder / MANIFEST).read_text())
    *path, last = chance.choice(keys(manifest))
    parent = manifest
    for key in path:
        parent = parent[key]
    if chance.random() < 0.3:
        del parent[last]
    else:
        parent[last] = chance.choice(VALUES)
    (folder / MANIFEST).write_text(json.dumps(manifest))


def forget_files(folder: Path, chance: random.Random) -> None:
    """As in datasets before sizes and hashes were kept: then nothing but the files themselves."""
    manifest = json.loads((folder / MANIFEST).read_text())
    if isinstance(manifest, dict):
        manifest.pop("files", None)
    (folder / MANIFEST).write_text(json.dumps(manifest))


def damage_bytes(folder: Path, chance: random.Random) -> None:
    path = chance.choice(sorted(path for path in folder.iterdir() if path.is_file()))
    data = bytearray(path.read_bytes())
    mutations = (flip_bits, flip_bits, cut, delete_span, repeat_span, overwrite, append)
    if data:
        chance.choice(mutations)(data, chance)
    path.write_bytes(data)


def damage_footer(folder: Path, chance: random.Random) -> None:
    """Where Parquet keeps what it knows of its pages, just before the end of a file."""
    path = chance.choice(sorted(folder.glob("*.parquet")))
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 3, 20))):
        data[-chance.randrange(1, min(len(data), 3000))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def replace_file(folder: Path, chance: random.Random) -> None:
    """By nothing, by a folder, by a link, by another file of the dataset."""
    path = chance.choice(sorted(folder.iterdir()))
    other = chance.choice(sorted(folder.iterdir()))
    data = other.read_bytes()
    path.unlink()
    how = chance.choice(("nothing", "folder", "link", "other", "empty"))
    if how == "folder":
        path.mkdir()
    elif how == "link":
        path.symlink_to(path.name)
    elif how != "nothing":
        path.write_bytes(data if how == "other" else b"")


def rewrite_table(folder: Path, chance: random.Random) -> None:
    """Sound Parquet that is not what was written: other columns, types, rows."""
    path = chance.choice(sorted(folder.glob("*.parquet")))
    table = pq.read_table(path)
    at = chance.randrange(table.num_columns)
    how = chance.choice(("drop", "type", "type", "rename", "rows", "order"))
    if how == "drop":
        table = table.remove_column(at)
    elif how == "rename":
        names = [name + "x" * (index == at) for index, name in enumerate(table.column_names)]
        table = table.rename_columns(names)
    elif how == "rows":
        table = table.slice(0, chance.randrange(table.num_rows))
    elif how == "order":
        table = table.select(table.column_names[::-1])
    else:
        column = pa.concat_arrays([chance.choice(COLUMNS)] * table.num_rows)
        table = table.set_column(at, table.column_names[at], column)
    pq.write_table(table, path)


DAMAGE: tuple[Damage, ...] = (
    change_key, change_key, damage_bytes, damage_footer, replace_file, rewrite_table,
)  # fmt: skip


class Datasets:
    share = 1.0

    def __init__(self, setting: Setting) -> None:
        self.wholes = [setting.workspace / "cardiac", setting.workspace / "articles"]
        prepare("cardiac", self.wholes[0], documents=30)
        prepare(SAMPLE, self.wholes[1])

    def damage(self, chance: random.Random, folder: Path) -> str:
        whole = chance.choice(self.wholes)
        shutil.copytree(whole, folder, dirs_exist_ok=True)
        damage = chance.choice(DAMAGE)
        chosen = [forget_files, damage] if chance.random() < 0.5 else [damage]
        for one in chosen:
            one(folder, chance)
        return f"{whole.name} after {', '.join(one.__name__ for one in chosen)}"

    def use(self, folder: Path) -> str:
        dataset = Dataset.open(folder)
        describe(dataset)
        dataset.reading.record()
        for split in SPLITS:
            dataset.split(split).read(["document", "text", "starts", "ends", "numerals"])
            if "sight" in dataset.split(split).summary:
                dataset.split(split).sight("document")
                dataset.split(split).tables()
        try:
            Dataset.open(folder, verified=True)
        except NumerateError:
            return "refused when verified"
        return "read"
