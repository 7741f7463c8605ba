"""The one progress display for all runs, on standard error."""

import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from numerate.errors import counted, printable
from numerate.notices import notice_console

_EPOCH = re.compile(r"epoch +(\d+) .*dev loss (\S+) .*numeral perplexity (\S+)")


@dataclass(slots=True)
class Standing:
    """Where one run stands."""

    state: str = "waiting"  # training, trained, interrupted, failed, evaluating, evaluated
    epoch: int = 0
    dev_loss: str = ""
    numeral_perplexity: str = ""
    reason: str = ""  # of a failure
    started: float | None = None
    seconds: float = 0.0

    def read(self, line: str) -> bool:
        """Take in a line if `numerate train` writes it about an epoch, and say whether it is."""
        found = _EPOCH.match(line)
        if found:
            self.epoch = int(found[1])
            self.dev_loss, self.numeral_perplexity = found[2], found[3]
        return found is not None

    def start(self, state: str) -> None:
        self.state, self.started = state, time.monotonic()

    def end(self, state: str, reason: str = "") -> None:
        self.seconds = self.elapsed
        self.state, self.reason, self.started = state, reason, None

    @property
    def elapsed(self) -> float:
        return self.seconds + (time.monotonic() - self.started if self.started else 0.0)


class Board:
    """A table that renews itself on a terminal; elsewhere, a line for each step that ended."""

    def __init__(self, names: Sequence[str], epochs: int) -> None:
        self.rows = {name: Standing() for name in names}
        self.epochs = epochs
        self.console = notice_console()
        self._deadline: float | None = None
        self._live = Live(
            console=self.console,
            get_renderable=self._render,
            refresh_per_second=2,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> "Board":
        if self.console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._deadline = None
        self._live.stop()

    def say(self, line: str) -> None:
        self.console.print(printable(line), highlight=False, soft_wrap=True)

    def expect(self, seconds: float) -> None:
        """Say how long it will take, and count down from there."""
        self._deadline = time.monotonic() + seconds
        self.say(
            f"expected to take at most {duration(seconds)}, less where a model stops learning early"
        )

    def ended(self, name: str) -> None:
        """Where no table shows it, say that a run has come a step further."""
        if self.console.is_terminal:
            return
        row = self.rows[name]
        line = f"{name}: {row.state}"
        if row.reason:
            line += f": {row.reason}"
        elif row.state == "trained":
            line += f" in {duration(row.seconds)}, {counted(row.epoch, 'epoch')}"
            line += f", dev loss {row.dev_loss}"
        self.say(line)

    def _render(self) -> Group:
        """All runs; where they are more than fit, those under way and what there is of others."""
        lines: list[Table | Text] = [self._table(self.rows)]
        if len(self.rows) + 3 > self.console.height:
            busy = {n: row for n, row in self.rows.items() if row.started or row.reason}
            states = Counter(row.state for n, row in self.rows.items() if n not in busy)
            counted = ", ".join(f"{count} {state}" for state, count in states.items())
            lines = [self._table(busy), *([Text(f"others: {counted}")] if counted else [])]
        if self._deadline is not None:
            left = self._deadline - time.monotonic()
            footer = f"at most about {duration(left)} left" if left > 0 else "longer than expected"
            lines.append(Text(footer))
        return Group(*lines)

    def _table(self, rows: dict[str, Standing]) -> Table:
        table = Table(box=None, pad_edge=False)
        table.add_column("model")
        table.add_column("state")
        for column in (f"epoch of {self.epochs}", "dev loss", "numeral perplexity", "time"):
            table.add_column(column, justify="right")
        for name, row in rows.items():
            table.add_row(
                name,
                Text(row.state, style="red" if row.state == "failed" else ""),
                str(row.epoch or ""),
                row.dev_loss,
                row.numeral_perplexity,
                duration(row.elapsed) if row.elapsed else "",
            )
        return table


def duration(seconds: float) -> str:
    """An amount of time to read: 8 s, 4 min 10 s, 3 h 20 min."""
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"
