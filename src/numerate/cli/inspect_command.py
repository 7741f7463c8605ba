"""`numerate inspect`: says what it is doing, what it left out, and where the report is."""

from pathlib import Path

from rich.text import Text

from numerate.errors import printable
from numerate.lm.inspect.inspect import FIGURES, inspect_runs
from numerate.lm.model.opening import Settings
from numerate.reports.notices import notice_console
from numerate.storage import path_here


def inspect_with_progress(
    runs: list[Path],
    out: str | Path,
    *,
    contexts: list[str],
    dataset: Path | None,
    device: str | None,
    limit: int | None = None,
    backbone: str | None = None,
    cache: Path | None = None,
    trust_remote_code: bool = False,
) -> None:
    console = notice_console()

    def say(line: str) -> None:
        console.print(printable(line), highlight=False, soft_wrap=True)

    def doing(what: str) -> None:
        status.update(Text(f"{printable(what)} …"))

    def progress(what: str, done: int, total: int) -> None:
        doing(f"{what}: {done:,} of {total:,} paragraphs")

    folder = path_here(out)
    with console.status("opening runs …") as status:
        report = inspect_runs(
            runs,
            folder,
            contexts=contexts,
            dataset=dataset,
            device=device,
            limit=limit,
            settings=Settings(
                cache,
                trust_remote_code=trust_remote_code,
                progress=progress,
                backbone=backbone,
            ),
            say=say,
            watch=lambda title: doing(f"drawing: {title.lower()}"),
        )
    print(f"Figures and their data: {printable(folder / FIGURES)}\nReport: {printable(report)}")
