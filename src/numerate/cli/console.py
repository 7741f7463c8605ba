"""What commands print: progress on standard error, results on standard output."""

from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from numerate.documents.sources import Progress as SourceProgress
from numerate.engines import RAY
from numerate.errors import DocumentError, printable
from numerate.lm.data.dataset import MANIFEST, SPLITS, Dataset
from numerate.lm.data.describe import Description, description_rows, tables_in_words
from numerate.lm.data.prepare import prepare
from numerate.places import as_place, join
from numerate.reports.notices import notice_console, plain_console, say
from numerate.threads import cores

MAX_ERROR_LINES = 20  # the manifest lists more


def prepare_with_progress(
    source: str, out: str | Path, *, processes: int, engine: str, **options: Any
) -> None:
    console = notice_console()
    skipped = 0

    def show_error(error: DocumentError) -> None:
        nonlocal skipped
        skipped += 1
        if skipped <= MAX_ERROR_LINES:
            console.print(f"skipped {error}", highlight=False, soft_wrap=True)

    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[read]:,} documents read"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task(f"Preparing {printable(Path(source).name)}", total=None, read=0)

        def report(state: SourceProgress, counts: Counter[str]) -> None:
            progress.update(
                task,
                total=state.total,
                completed=min(state.done, state.total),
                read=counts["documents_read"],
            )

        manifest = prepare(
            source,
            out,
            processes=processes if engine == RAY else processes or cores(),
            engine=engine,
            report=report,
            on_error=show_error,
            **options,
        )
    counts: dict[str, int] = manifest["counts"]
    if skipped > MAX_ERROR_LINES:
        named = join(as_place(out), MANIFEST)
        say(f"… and {skipped - MAX_ERROR_LINES:,} more skipped, see {named}")
    splits: dict[str, dict[str, int]] = manifest["splits"]
    paragraphs = sum(split["paragraphs"] for split in splits.values())
    documents = sum(split["documents"] for split in splits.values())
    print(
        f"{printable(out)}: {paragraphs:,} paragraphs kept from {documents:,} of "
        f"{counts['documents_read']:,} documents ({counts['documents_skipped']:,} skipped, "
        f"{counts['documents_duplicate']:,} duplicates, "
        f"{counts['documents_taken_in']:,} taken in by others, "
        f"{counts['documents_without_numerals']:,} without numerals, "
        f"{counts['files_ignored']:,} other files)"
    )


def print_description(
    dataset: Dataset, description: Description, console: Console | None = None
) -> None:
    console = console or plain_console()
    name, source = dataset.folder.resolve().name, dataset.manifest["options"]["source"]
    title = name if name == source else f"{name} ({source})"
    table = Table(title=Text(printable(title), "table.title"))
    table.add_column("")
    for split in SPLITS:
        table.add_column(split, justify="right")
    for label, cells in description_rows(description).items():
        table.add_row(
            label, *cells, end_section=label in {"% numerals", "max", "% unknown numerals"}
        )
    console.print(table)
    console.print(
        f"Vocabulary of {description.vocabulary_size:,} out of {description.types:,} training "
        f"types, {description.numeral_types_percent:.1f} % of them numerals."
    )
    if tables := tables_in_words(description):
        console.print(tables, highlight=False)
    frequent = ", ".join(f"{text} ({count:,})" for text, count in description.frequent_numerals)
    console.print(f"Most frequent numerals: {frequent}", highlight=False, markup=False)
