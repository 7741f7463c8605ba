"""Watching a run: a progress bar in the terminal, TensorBoard files, or both."""

import time
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from numerate.errors import NumerateError
from numerate.lm.model.run_folder import TENSORBOARD, writing_folder
from numerate.lm.train.loop import Reporter
from numerate.lm.train.options import TrainingOptions
from numerate.reports.notices import notice_console

SHOW_EVERY = 0.1  # seconds: a bar that moves at every step of a GPU would slow it down


class Reporters:
    """Several reporters as one."""

    def __init__(self, *reporters: Reporter) -> None:
        self.reporters = reporters

    def on_start(self, options: TrainingOptions, tokens: int, epoch: int) -> None:
        for reporter in self.reporters:
            reporter.on_start(options, tokens, epoch)

    def on_step(self, epoch: int, tokens: int, loss: float | None) -> None:
        for reporter in self.reporters:
            reporter.on_step(epoch, tokens, loss)

    def on_epoch(self, record: dict[str, Any]) -> None:
        for reporter in self.reporters:
            reporter.on_epoch(record)


class TerminalReporter:
    """A bar per epoch, and one line for each epoch done.

    The time left is that of all epochs; early stopping may end the run before.
    """

    def __init__(self, name: str) -> None:
        self.console = notice_console()
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[speed]} tokens/s  train loss {task.fields[loss]}  at most"),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
        )
        self.name = name
        self._epoch_start = 0.0
        self._tokens = 0
        self._pending = 0  # tokens that the bar does not show yet
        self._shown = 0.0

    def __enter__(self) -> "TerminalReporter":
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def on_start(self, options: TrainingOptions, tokens: int, epoch: int) -> None:
        self.epochs = options.epochs
        self.progress.start()
        self.task = self.progress.add_task(
            self.name, total=tokens * options.epochs, completed=tokens * epoch, speed="–", loss="–"
        )
        self._epoch_start = time.monotonic()

    def on_step(self, epoch: int, tokens: int, loss: float | None) -> None:
        self._tokens += tokens
        self._pending += tokens
        now = time.monotonic()
        if loss is None and now - self._shown < SHOW_EVERY:
            return
        speed = self._tokens / max(1e-9, now - self._epoch_start)
        fields: dict[str, Any] = {"speed": f"{speed:,.0f}"}
        if loss is not None:
            fields["loss"] = f"{loss:.3f}"
        self._shown = now
        description = f"{self.name}, epoch {epoch + 1} of at most {self.epochs}"
        self.progress.update(self.task, advance=self._pending, description=description, **fields)
        self._pending = 0

    def on_epoch(self, record: dict[str, Any]) -> None:
        self._tokens, self._epoch_start = 0, time.monotonic()
        self.console.print(
            f"epoch {record['epoch']:3}  train loss {record['train_loss']:.4f}  "
            f"dev loss {record['dev_loss']:.4f}  word perplexity "
            f"{record['dev_word_perplexity']:.2f}  numeral perplexity "
            f"{record['dev_numeral_perplexity']:,.1f}  {record['tokens_per_second']:,} tokens/s",
            highlight=False,
            soft_wrap=True,
        )


class TensorBoardReporter:
    """The figures of every epoch as TensorBoard scalars."""

    def __init__(self, run: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise NumerateError(
                "TensorBoard is not installed: pip install 'numerate[tensorboard]'"
            ) from None
        self.run = run
        self._open = SummaryWriter
        self._writer: Any = None

    def on_start(self, options: TrainingOptions, tokens: int, epoch: int) -> None:
        self._writer = self._open(str(writing_folder(self.run) / TENSORBOARD), purge_step=epoch + 1)

    def on_step(self, epoch: int, tokens: int, loss: float | None) -> None:
        pass

    def on_epoch(self, record: dict[str, Any]) -> None:
        for name, value in record.items():
            if name != "epoch":
                self._writer.add_scalar(name, value, record["epoch"])
        self._writer.flush()
