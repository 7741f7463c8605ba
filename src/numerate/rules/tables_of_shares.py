"""A table with counts and percentages in it: `42 (35.0)` under `n = 120`, and what they are of."""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from numerate.rules.group_sizes import group_sizes
from numerate.rules.percentage import is_count, wholes
from numerate.rules.reading import Piece, ReadDocument
from numerate.rules.stated import Stated
from numerate.rules.table_columns import MARKS
from numerate.rules.tabulated_shares import Share, is_mean, share_in

_PERCENT = re.compile(
    r"\(\s?%\s?\)|\[\s?%\s?\]|[,;/]\s?%|%\s?\)?$|^%|percent|% of|[(\[]%", re.IGNORECASE
)
_OTHERWISE = re.compile(
    r"\b(?:mean|median|sd|iqr|range|se|sem|ci|s\.d|average|quartiles?|ratio|per 1,?000|min|max)\b|±"
    r"|\bperson-",
    re.IGNORECASE,
)
_NO_PERCENTAGES = re.compile(
    r"\bparenthes[ie]s\b[^.;]{0,20}\b(?:are|is|indicates?|represents?)\b[^.;%]{0,20}\bnumbers?\b",
    re.IGNORECASE,
)
_PERCENT_FIRST = re.compile(
    r"(?:%|percent(?:ages?)?)\s?[,;/]?\s?[(\[]?\s?(?:n|no\.?|number)\b", re.IGNORECASE
)
_BARE_END = re.compile(MARKS)
_COUNTS = re.compile(
    r"(?:n|no\.?|number|frequency|counts?|cases|patients|participants)", re.IGNORECASE
)
_PERCENTAGES = re.compile(r"\(?(?:%|percent(?:age)?|per cent)\)?", re.IGNORECASE)
LONGEST = 40  # characters of what names a column anew
LEFTMOST = 12  # columns in which the wholes of others may stand
MOST = 10**7  # in a group of which nobody says how large it is
FEWEST, NEARLY_ALL = 4, 0.75  # of percentages of a column, by which its whole is inferred


@dataclass(frozen=True, slots=True)
class Whole:
    sizes: range
    stated: Stated | None = None
    in_words: str = ""


class TableOfShares:
    """By row and column: its shares, and the wholes of those that do not say theirs themselves."""

    def __init__(self, read: ReadDocument, table: int) -> None:
        self.read = read
        self.source = read.tables[table]
        self.cells = read.cells[table]
        self.headings = self._headings()
        self.shares = {**dict(self._shares_in_two_columns()), **dict(self._shares_in_cells())}
        if self.shares:
            self.sizes = group_sizes(read, table)
            self.columns: dict[int, list[int]] = defaultdict(list)  # rows of each
            self.rows: dict[int, list[int]] = defaultdict(list)
            for row, column in self.shares:
                self.columns[column].append(row)
                self.rows[row].append(column)
            self.wholes = dict(self._wholes())
            self.in_column = Counter(column for _, column in self.wholes)
            self.under: Counter[tuple[int, int]] = Counter()  # a heading, in a column: all counts
            for (row, column), share in self.shares.items():
                self.under[id(self.headings[row]), column] += share.part

    def _shares_in_cells(self) -> Iterator[tuple[tuple[int, int], Share]]:
        if _NO_PERCENTAGES.search(f"{self.source.caption} {self.source.notes}"):
            return
        cells = [(at, piece) for at, piece in self.cells.items() if at[0] >= 0 and at[1] > 0]
        not_counts = {row for (row, _), piece in cells if is_mean(piece)}
        for (row, column), piece in cells:
            share = share_in(piece)
            swapped = share.swapped() if share is not None else None
            if swapped is not None and self._is_percent_first(row, column):
                share = swapped
            if share is None or (row in not_counts and not (share.is_said or share.whole)):
                continue
            if share.is_listed and not (share.is_said or self.is_percentage(row, column)):
                continue  # `5, 7` are two of anything
            yield (row, column), share

    def _shares_in_two_columns(self) -> Iterator[tuple[tuple[int, int], Share]]:
        """Counts under `n`, and beside them percentages under `%`."""
        lowest = self.source.header[-1] if self.source.header else []
        for column in range(1, len(lowest) - 1):
            if not (
                _COUNTS.fullmatch(lowest[column]) and _PERCENTAGES.fullmatch(lowest[column + 1])
            ):
                continue
            for row in range(len(self.source.body)):
                count, percentage = self.bare(row, column), self.bare(row, column + 1)
                if count and percentage and is_count(count.number):
                    yield (row, column), Share(count, percentage, None, True)

    def _wholes(self) -> Iterator[tuple[tuple[int, int], Whole]]:
        """Of every share that says none itself: the size of its group as its column says it, or a
        count in its row, or what nearly all others of its column are percentages of."""
        for column, rows in self.columns.items():
            rows = [row for row in rows if self.shares[row, column].whole is None]
            if column in self.sizes:
                size = self.sizes[column]
                words = f" ({self.read.describe(size.where)})"
                stated = Stated(size.number, size.where)
                whole = Whole(range(size.value, size.value + 1), stated, words)
                yield from (((row, column), whole) for row in rows)
                continue
            beside, common = self._column_of_wholes(column, rows), self._common_whole(column, rows)
            if common and self._fitting(column, common) > self._fitting(column, beside):
                beside = common
            yield from (((row, column), whole) for row, whole in beside.items())

    def _fitting(self, column: int, found: Mapping[int, Whole]) -> int:
        return sum(self.shares[row, column].fits(whole.sizes) for row, whole in found.items())

    def _column_of_wholes(self, column: int, rows: Sequence[int]) -> Mapping[int, Whole]:
        for other in range(1, min(column + 2, LEFTMOST)):
            found: dict[int, Whole] = {}
            fitting = 0
            for row in rows:
                stated = self.bare(row, other) if other != column else None
                if stated and is_count(stated.number) and stated.number.value:
                    size = int(stated.number.value)
                    words = f" ({self.read.describe(stated.where)})"
                    found[row] = Whole(range(size, size + 1), stated, words)
                    share = self.shares[row, column]
                    fitting += 0 < share.part < size and share.fits(found[row].sizes)
            if fitting >= FEWEST - 1 and fitting >= NEARLY_ALL * len(found):
                return found
        return {}

    def _common_whole(self, column: int, rows: Sequence[int]) -> Mapping[int, Whole]:
        shares = [self.shares[row, column] for row in rows]
        ranges = [
            wholes(share.part, share.percentage.number, MOST)
            for share in shares
            if share.part and share.part != share.percentage.number.value  # of 100, or two counts
        ]
        begins = Counter(known[0] for known in ranges if known)
        ends = Counter(known[-1] + 1 for known in ranges if known)
        best, covered, size, stop = 0, 0, 0, 0
        places = sorted({*begins, *ends})
        for at, after in pairwise(places):
            covered += begins[at] - ends[at]
            if covered > best:
                best, size, stop = covered, at, after
        if best < max(FEWEST, NEARLY_ALL * len(ranges)):
            return {}
        whole = Whole(range(size, stop), None, " as nearly all of its column are")
        return dict.fromkeys(rows, whole)

    def bare(self, row: int, column: int) -> Stated | None:
        """The number that a cell is."""
        piece = self.cells.get((row, column))
        if piece is None or len(piece.numbers) != 1:
            return None
        number = piece.numbers[0]
        text = piece.text.replace("#", "♯")
        if text[: number.start].strip() or not _BARE_END.fullmatch(text, number.stop):
            return None
        return Stated(number, piece.of(number))

    def count_at(self, row: int, column: int) -> int:
        piece = self.cells.get((row, column))
        if piece is None or not piece.numbers or not is_count(piece.numbers[0]):
            return 0
        return int(piece.numbers[0].value)

    def _headings(self) -> list[Piece | None]:
        """Of each row, the heading that it stands under: a row with nothing but its first cell."""
        heading: Piece | None = None
        found = []
        for row, texts in enumerate(self.source.body):
            found.append(heading)
            if texts and texts[0] and all(text in ("", texts[0]) for text in texts[1:]):
                heading = self.cells.get((row, 0))
        return found

    def _words(self, row: int, column: int) -> Iterator[str]:
        """What its headings say, the nearest first."""
        label, heading = self.cells.get((row, 0)), self.headings[row]
        yield from (piece.text for piece in (label, heading) if piece is not None)
        inner = self.inner.get(column, [])
        before = bisect_left(inner, row, key=lambda one: one[0]) - 1
        if before >= 0:
            yield inner[before][1]
        yield from (cells[column] for cells in reversed(self.source.header) if column < len(cells))

    @cached_property
    def inner(self) -> dict[int, list[tuple[int, str]]]:
        """Of each column, the rows that name anew what stands below them: `Median (IQR)`."""
        found: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for (row, column), piece in self.cells.items():
            is_name = row >= 0 and column > 0 and len(piece.text) < LONGEST and not piece.numbers
            if is_name and (_OTHERWISE.search(piece.text) or _PERCENT.search(piece.text)):
                found[column].append((row, piece.text))
        return {column: sorted(rows) for column, rows in found.items()}

    def _is_percent_first(self, row: int, column: int) -> bool:
        for words in self._words(row, column):
            if _PERCENT.search(words):
                return _PERCENT_FIRST.search(words) is not None
        return False

    def is_percentage(self, row: int, column: int) -> bool:
        for words in self._words(row, column):
            if _OTHERWISE.search(words):
                return False
            if _PERCENT.search(words):
                return True
        about = f"{self.source.caption} {self.source.notes}"
        return bool(_PERCENT.search(about)) and not _OTHERWISE.search(about)
