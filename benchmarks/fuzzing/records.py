"""Damage to the files of a folder, JSON first of all."""

import json
import random
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from fuzzing.datasets import VALUES, Damage, keys

FIRST = 300  # of the keys and items of a file; long lists have no end
NO_VALUES = (float("nan"), float("inf"), "\ud800", "\0")


def change_record(folder: Path, chance: random.Random) -> None:
    """A key of a JSON file is missing, or of another type, or has another value."""
    path = chance.choice(sorted([*folder.glob("*.json"), *folder.glob("*.jsonl")]))
    record = json.loads(path.read_text())
    *outer, last = chance.choice(keys(record)[:FIRST])
    parent = record
    for key in outer:
        parent = parent[key]
    if chance.random() < 0.3:
        del parent[last]
    else:
        parent[last] = chance.choice([*VALUES, *NO_VALUES])
    path.write_text(json.dumps(record))


def spoil(folder: Path, damages: Sequence[Damage], chance: random.Random) -> str:
    """One or two damages; what was done, in words."""
    chosen = chance.choices(damages, k=chance.choice((1, 1, 1, 2)))
    for damage in chosen:
        with suppress(OSError, ValueError, IndexError):  # what is spoilt may not bear more
            damage(folder, chance)
    return ", ".join(damage.__name__ for damage in chosen)
