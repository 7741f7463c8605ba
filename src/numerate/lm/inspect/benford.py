"""`numerate benford`: the significant digits of any text, list of numbers or dataset. No torch."""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from numerate.documents import PLAIN, STANDARD_INPUT, documents, units
from numerate.documents.document import Document, Paragraph
from numerate.documents.reader import Unit
from numerate.documents.sources import Source
from numerate.errors import DocumentError, SourceError, check_choice
from numerate.lm.data.dataset import MANIFEST, SPLITS, Dataset, is_dataset
from numerate.lm.data.keep import Keep
from numerate.lm.inspect.digit_laws import (
    LEAST_EXPECTED,
    NAMES,
    POSITIONS,
    DigitShares,
    benford,
    conformity,
)
from numerate.lm.inspect.exhibit import KINDS
from numerate.lm.inspect.significant_digits import conformity_table, significant_digit_shares
from numerate.numeral import is_numeral
from numerate.places import is_remote, join
from numerate.reports.notices import say
from numerate.reports.tables import ResultTable, as_latex, as_markdown, print_tables
from numerate.storage import exists, path_here
from numerate.storage.folder_kind import FolderKind, strange
from numerate.text.reading_rules import ReadingRules
from numerate.text.tokenizer import DEFAULT_RULES, iter_tokens

FORMATS = ("table", "markdown", "latex", "csv")
MAX_ERROR_LINES = 5

_NUMBER = re.compile(r"[+\-−]?(?:\d+|\d{1,3}(?:,\d{3})+)?(?:\.\d*)?(?:[eE][+\-−]?\d+)?")
"""A line that is a number and nothing else, with sign and exponent where it has them."""

_FIGURE = FolderKind(
    "a figure",
    "significant-digits.csv",
    lambda _: None,  # it has no record
    rf"significant-digits\.(?:{'|'.join(KINDS)})",
)


def print_benford(
    source: str,
    out: str | Path | None,
    *,
    field: str = "text",
    format: str,
    rules: ReadingRules = DEFAULT_RULES,
) -> None:
    """Count, print the table, and with `out` write the figure as PNG, SVG and CSV."""
    check_choice("format", format, FORMATS)
    folder = None if out is None else path_here(out)
    counted = count_digits_of(source, field=field, rules=rules)
    exhibit = significant_digit_shares([counted])
    if folder is not None:
        if stranger := _FIGURE.stranger(folder):
            raise strange(folder, stranger)
        exhibit.save(folder)
    tables = [shares_table(counted), conformity_table([counted])]
    if format == "csv":
        print(exhibit.table.csv(), end="")
    elif format == "table":
        print_tables(tables)
    else:
        print(as_markdown(tables) if format == "markdown" else as_latex(tables))
    warning = few_numbers(counted)
    if warning:
        say(warning)


def few_numbers(counted: DigitShares) -> str | None:
    """Where the chi-square test does not hold, in one line."""
    few = [
        f"{name} digit of {counted.having(position):,.0f} numbers"
        for position, name in zip(POSITIONS, NAMES, strict=True)
        if counted.having(position) and not conformity(counted, position).enough
    ]
    if not few:
        return None
    return (
        f"chi-square and p do not hold for the {', '.join(few)}: expected counts are below "
        f"{LEAST_EXPECTED}"
    )


def count_digits_of(
    source: str, *, field: str = "text", rules: ReadingRules = DEFAULT_RULES
) -> DigitShares:
    """The digits of all numbers in a file, a folder, an archive, a dataset, or `-` for stdin.

    Text is cut by `rules`; the tokens of a dataset are those it was prepared with.
    """
    if is_remote(source) and exists(join(source, MANIFEST)):
        name, numbers = Path(source).name, _dataset_numbers(source)
    elif source != STANDARD_INPUT and is_dataset(Path(source)):
        name, numbers = Path(source).resolve().name, _dataset_numbers(Path(source))
    else:
        name = "standard input" if source == STANDARD_INPUT else Path(source).name
        numbers = Counter(_numbers(source, field, rules))
    counted = DigitShares.of(name, numbers)
    if not counted.numbers:
        raise SourceError(f"{name}: no number in it")
    if not counted.having(1):
        raise SourceError(f"{name}: no number but zero in it")
    return counted


def shares_table(counted: DigitShares) -> ResultTable:
    """Per cent of each digit at each place, beside Benford's law."""
    columns = ["digit"]
    for name in NAMES:
        columns += [f"{name}\n%", "Benford\n%"]
    rows = []
    for digit in range(10):
        row = [str(digit)]
        for position in POSITIONS:
            for shares in (counted.shares(position), benford(position)):
                possible = digit or position > 1
                row.append(f"{100 * shares[digit]:.2f}" if possible else "")
        rows.append([cell.replace("nan", "–") for cell in row])
    zeros = counted.numbers - counted.having(1)
    title = f"Significant digits of {counted.numbers:,.0f} numbers in {counted.name}"
    if zeros:
        title += f"; zeros, {zeros:,.0f} of them, have none"
    return ResultTable(title, columns, rows)


def _dataset_numbers(folder: str | Path) -> dict[str, int]:
    """Of all splits."""
    dataset = Dataset.open(folder)
    found: Counter[str] = Counter()
    for name in SPLITS:
        encoded = dataset.split(name).encode()
        for text, count in zip(encoded.types, encoded.counts.tolist(), strict=True):
            if is_numeral(text):
                found[text] += count
    return found


def _numbers(source: str, field: str, rules: ReadingRules) -> Iterator[str]:
    """Written numbers as they come; what cannot be read is named on standard error."""
    if source == STANDARD_INPUT:
        pieces = units(sys.stdin.buffer, Unit("standard input", PLAIN, lone=True))
    else:
        pieces = Source(source, "auto", field=field).units()
    skipped = 0
    for piece in pieces:
        read = [piece] if isinstance(piece, DocumentError) else documents(piece, Keep.ALL.wants)
        for document in read:
            if isinstance(document, DocumentError):
                skipped += 1
                if skipped <= MAX_ERROR_LINES:
                    say(f"skipped {document}")
                continue
            for paragraph in [*document.paragraphs, *_cells(document)]:
                yield from _numbers_of(paragraph, rules)
    if skipped > MAX_ERROR_LINES:
        say(f"… and {skipped - MAX_ERROR_LINES:,} more")


def _cells(document: Document) -> Iterator[Paragraph]:
    """Of the sheets of a workbook, which is where its numbers are."""
    for table in document.tables:
        if table.sheet is not None:
            for cell in table.cells():
                if (cell.row, cell.column) not in table.repeated:
                    yield Paragraph(cell.text)


def _numbers_of(paragraph: Paragraph, rules: ReadingRules) -> Iterator[str]:
    """Where a line is a number and nothing else, every line is read by itself: it is a list."""
    lines = paragraph.as_given.splitlines()
    for text in lines if any(map(_is_number, lines)) else [paragraph.text]:
        if _is_number(text):
            yield text.strip()
        else:
            yield from (token.text for token in iter_tokens(text, rules) if token.is_numeral)


def _is_number(line: str) -> bool:
    stripped = line.strip()
    return any(map(str.isdigit, stripped)) and _NUMBER.fullmatch(stripped) is not None
