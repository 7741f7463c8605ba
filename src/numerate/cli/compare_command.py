"""`numerate compare`: a text beside its sources, number by number."""

import json
from collections import Counter
from dataclasses import asdict

from rich.text import Text

from numerate.comparison.compare import COLUMNS, DERIVED, QUOTED, UNSUPPORTED, Comparison, compare
from numerate.documents import STANDARD_INPUT
from numerate.documents.document import Document
from numerate.errors import NumerateError, check_choice, printable
from numerate.proofread.inputs import read_document
from numerate.reports.notices import plain_console, say, warn
from numerate.reports.tables import csv_text
from numerate.rules.reading import ReadDocument

FORMATS = ("terminal", "json", "csv")


def compare_files(
    file: str, sources: list[str], alarms: float, format: str, *, verbose: bool
) -> int:
    """Print which numbers are not supported, or all; the exit status: 1 if there is one."""
    check_choice("format", format, FORMATS)
    if [file, *sources].count(STANDARD_INPUT) > 1:
        raise NumerateError("standard input: got it twice, expected it once")
    documents, *per_source = _read_all([file, *sources])
    if len(documents) != 1:
        raise NumerateError(f"{file}: got {len(documents)} documents, expected one")
    read = [one for some in per_source for one in some]
    for one in read:
        if not any(piece.numbers for piece in ReadDocument(one).pieces()):
            say(f"{one.name}: no number in it, so that it supports none")
    found = compare(documents[0], read, alarms=alarms)
    if format == "json":
        records = [asdict(one) for one in found]
        print(json.dumps({"file": file, "numbers": records}, indent=1, ensure_ascii=False))
    elif format == "csv":
        rows = [list(asdict(one).values()) for one in found]
        print(csv_text([list(COLUMNS), *rows]).rstrip("\n"))
    else:
        _print(file, found, verbose=verbose)
    return 1 if found.unsupported else 0


def _read_all(files: list[str]) -> list[list[Document]]:
    """Read each file. Where one cannot be read nothing is compared, since it may support what would
    seem unsupported; every such file is named, and the last error is raised."""
    found: list[list[Document]] = []
    errors: list[NumerateError] = []
    for file in files:
        try:
            found.append(read_document(file))
        except NumerateError as error:
            errors.append(error)
    for one in errors[:-1]:
        warn(str(one))
    if errors:
        raise errors[-1]
    return found


def _print(file: str, found: Comparison, *, verbose: bool) -> None:
    console = plain_console()
    for one in found if verbose else found.unsupported:
        style = "bold red" if one.verdict == UNSUPPORTED else ""
        because = f": {printable(one.because)}" if one.because else ""
        line = Text.assemble(
            (f"{printable(file)}, {printable(one.place)}: ", "bold"),
            (f"{printable(one.written)} {one.verdict}", style),
            because,
        )
        console.print(line, soft_wrap=True)
    counts = Counter(one.verdict for one in found)
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in (QUOTED, DERIVED, UNSUPPORTED))
    numbers = "1 number" if len(found) == 1 else f"{len(found):,} numbers"
    console.print(f"{numbers}: {said}.", highlight=False)
