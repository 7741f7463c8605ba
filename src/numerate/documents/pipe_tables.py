"""Tables of Markdown: rows of cells between bars, under a row of dashes."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate

from numerate.documents.cell_grid import MAX_AREA
from numerate.documents.document import Table

_DASHES = re.compile(r":?-+:?")
_FENCE = re.compile(r"\s{0,3}(```|~~~)")
_BAR = re.compile(r"(?<!\\)\|")
_LINK = re.compile(r"!?\[([^][]*)\]\([^()\s]*\)")
_RAISED = re.compile(r"<sup>([^<>]*)</sup>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_EMPHASIS = re.compile(r"(\*\*|__|~~|`)(?=\S)(.{1,200}?)(?<=\S)\1")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_NUMBERS = r"[0-9]{1,4}(?:\s?[–-]\s?[0-9]{1,4})?"
_NAMED = re.compile(rf"\b[Tt]ables? ({_NUMBERS}(?:(?:,|,? and|,? &) {_NUMBERS})*)")
_LABEL = re.compile(r"[\W_]*(Table\s+[A-Z]?[0-9]+[A-Za-z]?)\b[\s.:—–*_-]*(.*)", re.IGNORECASE)


def pipe_tables(text: str) -> Iterator[Table]:
    """All tables of a text. What a row has beyond the others stays; short rows are filled up."""
    return (table for _, table in placed_tables(text))


def placed_tables(text: str) -> Iterator[tuple[int, Table]]:
    """The same, each after where it begins.

    A text with more bars than a table may have cells is not looked through.
    """
    if not 2 <= text.count("|") <= MAX_AREA:
        return
    lines = text.splitlines()
    starts = [0, *accumulate(map(len, text.splitlines(keepends=True)))]
    number, index, fence = 0, 0, ""
    while index < len(lines):
        line = lines[index]
        mark = _FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        elif not fence and _begins_table(lines, index):
            end = index + 2
            while end < len(lines) and "|" in lines[end] and not _FENCE.match(lines[end]):
                end += 1
            number += 1
            yield starts[index], _table(lines, index, end, number)
            index = end
            continue
        index += 1


def _begins_table(lines: Sequence[str], index: int) -> bool:
    """A row of cells, and under it as many dashes."""
    if "|" not in lines[index] or index + 1 == len(lines):
        return False
    below = lines[index + 1]
    if "|" not in below or "-" not in below:
        return False
    dashes = _cells(below)
    return all(map(_DASHES.fullmatch, dashes)) and len(_cells(lines[index])) == len(dashes)


def _table(lines: Sequence[str], start: int, end: int, number: int) -> Table:
    header = _cells(lines[start])
    body = [_cells(line) for line in lines[start + 2 : end]]
    for cells in body:
        cells += [""] * (len(header) - len(cells))
    label, caption = label_and_caption(_caption(lines, start, end))
    return Table(f"#{number}", label or f"Table {number}", caption, [header], body)


def _caption(lines: Sequence[str], start: int, end: int) -> str:
    """The line above it that names a table, or the one below it that begins with a colon."""
    above = next((line for line in reversed(lines[max(0, start - 2) : start]) if line.strip()), "")
    if _LABEL.fullmatch(above):
        return _plain(above)
    below = next((line for line in lines[end : end + 2] if line.strip()), "")
    return _plain(below.lstrip()[1:]) if below.lstrip().startswith(":") else ""


def label_and_caption(text: str) -> tuple[str, str]:
    """`Table 2. Ages` as `Table 2` and `Ages`."""
    named = _LABEL.fullmatch(text)
    return (" ".join(named[1].split()), named[2]) if named else ("", text)


def tables_named(text: str, tables: Sequence[Table]) -> tuple[str, ...]:
    """The ids of the tables that a text refers to by their numbers: `Tables 1 and 3–5`."""
    numbered = {table.label.removeprefix("Table "): table.id for table in tables}
    named: dict[str, None] = {}
    for match in _NAMED.finditer(text):
        for numbers in re.findall(_NUMBERS, match[1]):
            first, last = re.findall("[0-9]+", numbers)[0], re.findall("[0-9]+", numbers)[-1]
            for number in range(int(first), min(int(last), int(first) + len(tables)) + 1):
                if id := numbered.get(str(number)):
                    named[id] = None
    return tuple(named)


def _cells(line: str) -> list[str]:
    line = line.strip()
    line = line[1:] if line.startswith("|") else line
    cells = _BAR.split(line)
    if len(cells) > 1 and not cells[-1].strip():
        cells.pop()
    return [_plain(cell) for cell in cells]


def _plain(text: str) -> str:
    text = _RAISED.sub(lambda raised: f"^{raised[1].strip()}", _LINK.sub(r"\1", text))
    text = _EMPHASIS.sub(r"\2", _TAG.sub(" ", text))
    return " ".join(_ESCAPED.sub(r"\1", text).split())
