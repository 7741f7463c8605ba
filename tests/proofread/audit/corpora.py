"""Corpora whose errors are known, and engines that tell what they were given."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from numerate.engines import Engine, engine
from numerate.proofread.audit.audit import run_audit
from numerate.proofread.audit.looked_for import LookedFor
from numerate.proofread.audit.packets import Piece
from numerate.proofread.audit.summary import Summary
from numerate.proofread.options import CheckOptions

RULES_ALONE = LookedFor(CheckOptions(chooses=False))


def note(number: int, percent: int | None = None) -> str:
    """Of `number + 30` patients 30 are women; another percentage than theirs is an error."""
    whole = number + 30
    share = round(3000 / whole) if percent is None else percent
    return f"# Ward {number}\n\nOf the patients, 30 of {whole} ({share}%) were women.\n"


def write_notes(folder: Path, count: int, *, first: int = 0) -> dict[str, str]:
    """Every third of them is wrong by 20 points: name -> what is written there."""
    folder.mkdir(parents=True, exist_ok=True)
    wrong = {}
    for number in range(first, first + count):
        name = f"ward-{number:03}.md"
        percent = None
        if number % 3 == 0:
            percent = round(3000 / (number + 30)) - 20
            wrong[name] = str(percent)
        (folder / name).write_text(note(number, percent), encoding="utf-8")
    return wrong


class Watched:
    """An engine that notes what it was given, and may be interrupted after some of it."""

    def __init__(self, until: int | None = None) -> None:
        self.names: list[str] = []
        self._until = until

    def map(
        self, make: Callable[[], Callable[[Any], Any]], units: Iterable[list[Piece]]
    ) -> Iterator[Any]:
        work = make()
        for number, unit in enumerate(units):
            if number == self._until:
                raise KeyboardInterrupt
            self.names += [getattr(piece, "name", str(piece)) for piece in unit]
            yield work(unit)


def audited(
    source: Path,
    out: Path | str,
    workers: Engine | None = None,
    what: LookedFor = RULES_ALONE,
    **options: Any,
) -> Summary:
    return run_audit(source, out, what, workers or engine(processes=1), **options)


def findings(out: Path) -> list[dict[str, Any]]:
    return _rows(out, "findings")


def documents(out: Path) -> list[dict[str, Any]]:
    return _rows(out, "documents")


def _rows(out: Path, kind: str) -> list[dict[str, Any]]:
    shards = sorted(out.glob(f"{kind}-*.parquet"))
    return [row for shard in shards for row in pq.read_table(shard).to_pylist()]


def files(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in out.iterdir()}
