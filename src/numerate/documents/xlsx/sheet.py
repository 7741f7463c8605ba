"""Where the cells of a table stand in a sheet of a workbook, and what they are called there."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

MAX_COLUMN = 16_384  # XFD
MAX_ROW = 1_048_576

_NAME = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
_BARE = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class SheetCells:
    sheet: str
    rows: Sequence[int]  # of the header, and of the body, from 1
    columns: Sequence[int]
    height: int  # rows of the header

    def name(self, row: int, column: int) -> str:
        """`Baseline!C4`; rows as in `Table.repeated`."""
        sheet = self.sheet
        if not _BARE.fullmatch(sheet):
            sheet = "'" + sheet.replace("'", "''") + "'"
        place = f"{column_name(self.columns[column])}{self.rows[row + self.height]}"
        return f"{sheet}!{place}"


def column_name(number: int) -> str:
    """1 is A, 27 is AA."""
    letters = ""
    while number:
        number, letter = divmod(number - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters


def row_and_column(name: str) -> tuple[int, int] | None:
    """`C4` is row 4 and column 3; None if there is no such cell."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    column = 0
    for letter in found[1].upper():
        column = column * 26 + ord(letter) - ord("A") + 1
    row = int(found[2])
    return (row, column) if 1 <= row <= MAX_ROW and column <= MAX_COLUMN else None
