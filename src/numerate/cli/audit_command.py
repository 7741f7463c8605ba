"""`numerate audit`: progress on standard error while it lasts, the summary at the end."""

import time
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from numerate.engines import Engine
from numerate.errors import BROKEN, FailureError, counted, printable
from numerate.proofread.audit.audit import State, run_audit
from numerate.proofread.audit.findings_folder import PAGE
from numerate.proofread.audit.looked_for import LookedFor
from numerate.proofread.audit.page import in_words, kinds_table
from numerate.proofread.audit.summary import Summary
from numerate.reports.notices import is_quiet, notice_console, plain_console, say
from numerate.reports.tables import print_tables

MOST_LINES = 20  # documents that were not read; the summary names more
CERTAIN = 10  # findings that are printed
EVERY = 60.0  # seconds between lines where there is no terminal


def audit_corpus(
    source: str,
    out: str,
    what: LookedFor,
    workers: Engine,
    *,
    timeout: float,
    follow_links: bool,
    force: bool,
) -> int:
    """Print what was found; the exit status: that of a mistake of ours when a rule has failed."""
    with Cost(Path(source).name) as cost:
        try:
            summary = run_audit(
                source,
                out,
                what,
                workers,
                timeout=timeout,
                follow_links=follow_links,
                force=force,
                report=cost.report,
            )
        except (KeyboardInterrupt, FailureError):
            if cost.has_begun:
                say(f"{out}: whole blocks are kept; the same command goes on after them")
            raise
    if not cost.has_begun:
        say(f"{out}: this audit is finished and {source} has not changed; --force audits it anew")
    cost.tell()
    print_summary(summary, out, plain_console())
    return BROKEN if summary.failures else 0


class Cost:
    """How many documents a minute, and how long it will take: a bar on a terminal, else a line
    now and then."""

    def __init__(self, name: str) -> None:
        console = notice_console()
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[told]}", markup=False),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task(f"Auditing {printable(name)}", total=None, told="")
        self._is_shown = console.is_terminal
        self._start = self._told = time.monotonic()
        self._last: State | None = None

    def __enter__(self) -> "Cost":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    @property
    def has_begun(self) -> bool:
        return self._last is not None

    def report(self, state: State) -> None:
        now = time.monotonic()
        self._last = state
        line = cost_in_words(state, now - self._start)
        self._progress.update(
            self._task, total=state.total, completed=min(state.done, state.total), told=line
        )
        if not self._is_shown and not is_quiet() and now - self._told >= EVERY:
            self._told = now
            say(line)

    def tell(self) -> None:
        """What it has cost."""
        if self._last is not None and self._last.checked:
            seconds = time.monotonic() - self._start
            rate = f"{60 * self._last.checked / seconds:,.0f} a minute"
            say(f"{counted(self._last.checked, 'document')} in {_duration(seconds)}, {rate}")


def cost_in_words(state: State, seconds: float) -> str:
    """Say it as `120 documents, 35 a minute, 14 findings, about 2 h 5 min left`."""
    parts = [counted(state.checked, "document")]
    if state.checked and seconds > 0:
        parts.append(f"{60 * state.checked / seconds:,.0f} a minute")
    parts.append(counted(state.findings, "finding"))
    done, left = state.done - state.before, state.total - state.done
    if state.checked and done > 0 and left > 0:
        parts.append(f"about {_duration(seconds * left / done)} left")
    return ", ".join(parts)


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{max(seconds, 1):.0f} s"
    hours, minutes = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours / 24:.0f} days"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def print_summary(summary: Summary, out: str, console: Console) -> None:
    for line in in_words(summary):
        console.print(line, highlight=False, soft_wrap=True)
    if summary.kinds:
        print_tables([kinds_table(summary)])
    for number, row in enumerate(summary.first[:CERTAIN], 1):
        sure = f"{100 * row['probability']:.0f} %" if row["calibrated"] else "uncalibrated"
        said = f"{number}. {row['place']} {row['code']} {row['message']} ({sure})"
        console.print(printable(said), highlight=False, soft_wrap=True)
    for row in summary.skipped[:MOST_LINES]:
        said = f"not checked: {row['document']}: {row['reason']}"
        console.print(printable(said), highlight=False, soft_wrap=True)
    left = summary.documents["unread"] + summary.documents["failed"] - MOST_LINES
    if left > 0:
        console.print(
            f"{left:,} more were not checked: see summary.json", highlight=False, soft_wrap=True
        )
    console.print(
        f"All of it: {out}/{PAGE}, and Parquet beside it.", highlight=False, soft_wrap=True
    )
