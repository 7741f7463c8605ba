"""The folder of a reproduction: the files that it wrote there, and the rows that it has runs of."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from numerate.errors import NumerateError, RunError
from numerate.lm.model.run_folder import METRICS
from numerate.lm.reproduce.choices import Plan, Task
from numerate.lm.reproduce.suites import Row
from numerate.storage.records import read_record, typed, write_record

RECORD = "reproduce.json"
_FORMAT, _VERSION = "numerate reproduction", 1


@dataclass(frozen=True, slots=True)
class Record:
    """`reproduce.json`: the rows in the order in which they were added, and the files."""

    format: str
    version: int
    rows: tuple[Row, ...]
    files: tuple[str, ...]


class OwnFolder:
    """A folder in which a reproduction touches only the files that it wrote itself."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.record = _read(path / RECORD)

    def check(self, names: Iterable[str]) -> None:
        """Refuse to write files of these names where somebody else's are in their place."""
        others = set(names).difference(self.record.files)
        taken = sorted(name for name in others if os.path.lexists(self.path / name))
        if taken:
            raise NumerateError(
                f"{self.path}: {', '.join(taken)}: not written by a reproduction of this version; "
                "choose another --out, or move away what has these names"
            )

    def claim(self, names: Iterable[str], rows: Sequence[Row] = ()) -> None:
        """Note files before they are written, and rows before they are trained."""
        names = [*names]
        self.check(names)
        known = {row.name: row for row in [*self.record.rows, *rows]}
        files = tuple(sorted({*self.record.files, *names}))
        record = replace(self.record, rows=tuple(known.values()), files=files)
        if record != self.record or not (self.path / RECORD).exists():
            self.path.mkdir(parents=True, exist_ok=True)
            write_record(self.path / RECORD, asdict(record))
        self.record = record


def _read(path: Path) -> Record:
    if not os.path.lexists(path):
        return Record(_FORMAT, _VERSION, (), ())
    try:
        record = typed(Record, read_record(path, Record, NumerateError))
    except (NumerateError, OSError):
        record = None
    if record is None or (record.format, record.version) != (_FORMAT, _VERSION):
        raise NumerateError(
            f"{path}: not the record of a reproduction of this version; choose another --out"
        )
    return record


def tasks_of_tables(plan: Plan, recorded: Sequence[Row]) -> list[Task]:
    """Return the plan's tasks and all others that the folder has complete runs of.

    Rows come in the order of the suite, then in that of their addition. A run of other options or
    data is refused.
    """
    ordered = [*plan.suite_rows, *recorded, *plan.rows]
    rows = {row.name: row for row in ordered}
    rows |= {row.name: row for row in [*recorded, *plan.suite_rows, *plan.rows]}
    asked = {(task.row.name, task.seed): task for task in plan.tasks}
    seeds = {task.seed for task in plan.tasks} | _seeds_there(plan)
    return [
        task
        for seed in sorted(seeds, key=lambda seed: (seed != plan.options.seed, seed))
        for name, row in rows.items()
        if (task := asked.get((name, seed))) or (task := _complete(plan, row, seed))
    ]


def _seeds_there(plan: Plan) -> set[int]:
    """Seeds that have a folder beside that of the first."""
    names = [path.name.removeprefix("seed-") for path in (plan.out / "runs").glob("seed-*")]
    return {int(name) for name in names if name.isdecimal() and name == str(int(name))}


def _complete(plan: Plan, row: Row, seed: int) -> Task | None:
    """Return the task of a row that is not of the plan, if its run is there and finished."""
    is_first = seed == plan.options.seed
    task = Task(row.name if is_first else f"{row.name}, seed {seed}", row, seed)
    folder = plan.run(task)
    if not folder.is_dir():
        return None
    if row.backbone != plan.rows[0].backbone and (row.is_pretrained or plan.rows[0].is_pretrained):
        raise RunError(
            f"{folder}: a run of other options or data: backbone was {row.backbone}, got "
            f"{plan.rows[0].backbone}; choose another --out, or remove it"
        )
    if not row.is_trained:
        return task if is_first and (folder / METRICS).exists() else None
    return task if plan.is_trained(task) else None
