"""How far a pass over many things has come, and how long it will take."""

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from numerate.errors import printable
from numerate.reports.notices import notice_console


class PassProgress:
    """A bar for each pass, over a split or other things, gone when it is done; none without a
    terminal."""

    def __init__(self, things: str = "paragraphs") -> None:
        console = notice_console()
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn(things),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )

    def __call__(self, what: str, done: int, total: int) -> None:
        if not self.progress.tasks:
            self.progress.start()
            self.progress.add_task(printable(what))
        self.progress.update(self.progress.tasks[0].id, completed=done, total=total)
        if done == total:
            self.close()

    def close(self) -> None:
        for task in self.progress.tasks:
            self.progress.remove_task(task.id)
        self.progress.stop()

    def __enter__(self) -> "PassProgress":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
