"""How the runs of a reproduction stand: a line for each step that ended, and one bar."""

import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from numerate.errors import counted, printable
from numerate.reports.notices import notice_console
from numerate.reports.progress import PassProgress

_EPOCH = re.compile(r"epoch +(\d+) .*dev loss (\S+)")


@dataclass(slots=True)
class Standing:
    """The state of one run."""

    state: str = "waiting"  # training, trained, interrupted, failed, evaluating, evaluated
    epoch: int = 0
    dev_loss: str = ""
    reason: str = ""  # of a failure
    started: float = 0.0

    def read(self, line: str) -> bool:
        """Take in a line if `numerate train` writes it about an epoch, and say whether it is."""
        found = _EPOCH.match(line)
        if found:
            self.epoch, self.dev_loss = int(found[1]), found[2]
        return found is not None

    def start(self, state: str) -> None:
        self.state, self.started = state, time.monotonic()

    def end(self, state: str, reason: str = "") -> None:
        self.state, self.reason = state, reason


class Standings:
    """All runs; on a terminal a bar counts their epochs, then their evaluations."""

    def __init__(self, names: Sequence[str]) -> None:
        self.rows = {name: Standing() for name in names}
        self._bar: PassProgress | None = None
        self._guard = threading.Lock()

    def say(self, line: str) -> None:
        bar = self._bar
        console = bar.progress.console if bar else notice_console()
        console.print(printable(line), highlight=False, soft_wrap=True)

    def ended(self, name: str) -> None:
        """Say that a run has come a step further."""
        row = self.rows[name]
        line = f"{name}: {row.state}"
        if row.reason:
            line += f": {row.reason}"
        elif row.state == "trained" and row.started:
            line += f" in {duration(time.monotonic() - row.started)}"
            line += f", {counted(row.epoch, 'epoch')}, dev loss {row.dev_loss}"
        self.say(line)

    def show(self, what: str, things: str, done: int, total: int) -> None:
        """Move the bar, which goes when all is done."""
        with self._guard:
            if self._bar is None:
                self._bar = PassProgress(things)
            self._bar(what, done, total)
            if done == total:
                self._bar = None

    def close(self) -> None:
        with self._guard:
            if self._bar is not None:
                self._bar.close()
            self._bar = None


def duration(seconds: float) -> str:
    """Write an amount of time: 8 s, 4 min 10 s, 3 h 20 min."""
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"
