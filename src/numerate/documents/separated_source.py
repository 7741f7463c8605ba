"""Where the cells of separated values stand in their file: looked up only when asked."""

import re
from functools import cached_property

_WORD = re.compile(r"\S+")


class SeparatedSource:
    """Cells between delimiters, perhaps in quotation marks, as Python's `csv` reads them."""

    def __init__(self, text: str, delimiter: str) -> None:
        self.text = text
        self.height = 0  # rows of the header
        self.drops: re.Pattern[str] | None = None
        """Cells in which points only group digits, and are left out."""
        sign = re.escape(delimiter)
        self._cell = re.compile(
            rf'(?:"(?P<quoted>[^"]*(?:""[^"]*)*+)"|(?P<bare>[^{sign}\r\n]*))(?P<after>{sign}|\r\n?|\n|\Z)'
        )

    @property
    def stretches(self) -> list[tuple[int, int]]:
        return [(0, len(self.text))]

    @cached_property
    def _rows(self) -> list[list[tuple[int, int]]]:
        """Of each row that is not blank, where its cells begin and end, without their marks."""
        rows: list[list[tuple[int, int]]] = []
        row: list[tuple[int, int]] = []
        at = 0
        while at < len(self.text) or row:
            found = self._cell.match(self.text, at)
            if found is None:  # no table has been made of such a text
                break
            row.append(found.span("quoted" if found["quoted"] is not None else "bare"))
            if found["after"] in ("", "\n", "\r", "\r\n"):
                if len(row) > 1 or found.end("after") - at > len(found["after"]):
                    rows.append(row)
                row = []
            at = found.end()
        return rows

    def span(self, row: int | None, column: int | None, start: int, end: int) -> tuple[int, int]:
        assert row is not None, "it has no caption"
        assert column is not None
        places = self._places(*self._rows[row + self.height][column])
        return places[start], places[end - 1] + 1

    def span_of_notes(self, start: int, end: int) -> None:
        """It has none."""

    def _places(self, first: int, last: int) -> list[int]:
        """Of every character of a cell as read: with single spaces, and single marks in quotes."""
        places = list(range(first, last))
        if first and self.text[first - 1] == '"':
            written = self.text[first:last].replace('""', '"\0')
            places = [at for at, sign in zip(places, written, strict=True) if sign != "\0"]
        cell = "".join(self.text[at] for at in places)
        words = [word.span() for word in _WORD.finditer(cell)]
        joined = [place for start, end in words for place in places[max(start - 1, 0) : end]]
        if words and words[0][0]:
            joined = joined[1:]
        read = " ".join(cell.split())
        if self.drops is not None and self.drops.fullmatch(read):
            return [at for at, sign in zip(joined, read, strict=True) if sign != "."]
        return joined
