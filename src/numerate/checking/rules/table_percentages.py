"""NUM103: counts and their percentages in the cells of tables, `42 (35.0)` under `n = 120`."""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from numerate.checking.finding import Finding
from numerate.checking.group_sizes import group_sizes, size_said_in
from numerate.checking.one_slip import one_slip
from numerate.checking.percentage import (
    allowed,
    contradiction,
    fits,
    is_count,
    wholes,
    written,
)
from numerate.checking.reading import Piece, ReadDocument
from numerate.checking.rule import Outcome, Rule, add_rule
from numerate.checking.stated import Stated
from numerate.checking.table_columns import MARKS
from numerate.checking.tabulated_shares import Share, is_mean, share_in

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
_MADE_TO_FIT = re.compile(r"\b(?:rounded|adjusted)\b[^.;]{0,40}\b100\b", re.IGNORECASE)
_BARE_END = re.compile(MARKS)
_COUNTS = re.compile(
    r"(?:n|no\.?|number|frequency|counts?|cases|patients|participants)", re.IGNORECASE
)
_PERCENTAGES = re.compile(r"\(?(?:%|percent(?:age)?|per cent)\)?", re.IGNORECASE)
LONGEST = 40  # characters of what names a column anew
LEFTMOST = 12  # columns in which the wholes of others may stand
ABOVE = 8  # rows in which a count may be the whole of one below it
# Share of a group that data is usually known of, by whether a percentage has decimals: one that has
# none is easily another's slip by chance.
USUALLY = (0.8, 0.9)
MOST = 10**7  # in a group of which nobody says how large it is
_PERCENT_FIRST = re.compile(
    r"(?:%|percent(?:ages?)?)\s?[,;/]?\s?[(\[]?\s?(?:n|no\.?|number)\b", re.IGNORECASE
)
ALL_OTHERS = 5  # so many in a column, and none with much data missing
FEWEST, NEARLY_ALL = 4, 0.75  # of percentages of a column, by which its whole is inferred


@dataclass(frozen=True, slots=True)
class _Whole:
    sizes: range
    stated: Stated | None = None
    in_words: str = ""


def percentages_in_tables(read: ReadDocument) -> Iterator[Outcome]:
    for table in range(len(read.tables)):
        yield from _Table(read, table).outcomes()


class _Table:
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
            if share.is_listed and not (share.is_said or self._is_percentage(row, column)):
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
                count, percentage = self._bare(row, column), self._bare(row, column + 1)
                if count and percentage and is_count(count.number):
                    yield (row, column), Share(count, percentage, None, True)

    def _wholes(self) -> Iterator[tuple[tuple[int, int], _Whole]]:
        """Of every share that says none itself: the size of its group as its column says it, or a
        count in its row, or what nearly all others of its column are percentages of."""
        for column, rows in self.columns.items():
            rows = [row for row in rows if self.shares[row, column].whole is None]
            if column in self.sizes:
                size = self.sizes[column]
                words = f" ({self.read.describe(size.where)})"
                stated = Stated(size.number, size.where)
                whole = _Whole(range(size.value, size.value + 1), stated, words)
                yield from (((row, column), whole) for row in rows)
                continue
            beside, common = self._column_of_wholes(column, rows), self._common_whole(column, rows)
            if common and self._fitting(column, common) > self._fitting(column, beside):
                beside = common
            yield from (((row, column), whole) for row, whole in beside.items())

    def _fitting(self, column: int, found: Mapping[int, _Whole]) -> int:
        return sum(self.shares[row, column].fits(whole.sizes) for row, whole in found.items())

    def _column_of_wholes(self, column: int, rows: Sequence[int]) -> Mapping[int, _Whole]:
        for other in range(1, min(column + 2, LEFTMOST)):
            found: dict[int, _Whole] = {}
            fitting = 0
            for row in rows:
                stated = self._bare(row, other) if other != column else None
                if stated and is_count(stated.number) and stated.number.value:
                    size = int(stated.number.value)
                    words = f" ({self.read.describe(stated.where)})"
                    found[row] = _Whole(range(size, size + 1), stated, words)
                    share = self.shares[row, column]
                    fitting += 0 < share.part < size and share.fits(found[row].sizes)
            if fitting >= FEWEST - 1 and fitting >= NEARLY_ALL * len(found):
                return found
        return {}

    def _common_whole(self, column: int, rows: Sequence[int]) -> Mapping[int, _Whole]:
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
        whole = _Whole(range(size, stop), None, " as nearly all of its column are")
        return dict.fromkeys(rows, whole)

    def outcomes(self) -> Iterator[Outcome]:
        if not self.shares:
            return
        fitting = {at: self.shares[at].fits(whole.sizes) for at, whole in self.wholes.items()}
        in_column = Counter(column for (_, column), good in fitting.items() if good)
        for row, columns in self.rows.items():
            told = [column for column in columns if (row, column) in fitting]
            good = [column for column in told if fitting[row, column]]
            for column in columns:
                share, where = self.shares[row, column], self.cells[row, column].place
                is_percentage = share.is_said or self._is_percentage(row, column)
                if share.whole is not None:
                    yield from self._with_whole(row, column, share)
                elif column in good or self._fits_swapped(row, column):
                    yield Outcome(where)
                elif not (is_percentage or good):
                    continue
                else:
                    is_alone = len(told) - len(good) == 1
                    is_wrong = column in told and (
                        self._is_wrong(row, column, in_column[column], len(good), is_alone)
                        or (is_percentage and self._is_above_100(row, column))
                    )
                    yield (
                        Outcome(where, self._finding(row, column))
                        if is_wrong
                        else Outcome(where, missing="what it is a part of")
                    )

    def _with_whole(self, row: int, column: int, share: Share) -> Iterator[Outcome]:
        where = self.cells[row, column].place
        assert share.whole is not None
        size = int(share.whole.number.value)
        if share.fits_own():
            yield Outcome(where)
        elif not (share.is_said or self._is_percentage(row, column)) or share.part > size:
            return
        elif self._are_of_wholes and not self._is_made_to_fit(share, size):
            found = contradiction("NUM103", share.count, share.whole, size, share.percentage, "")
            yield Outcome(where, found)
        else:
            yield Outcome(where, missing="what it is a part of")

    @cached_property
    def _are_of_wholes(self) -> bool:
        """Whether percentages beside their own wholes are of these, and no means of several."""
        shares = [share for share in self.shares.values() if share.whole is not None]
        wrong = sum(not share.fits_own() for share in shares)
        return wrong <= max(1, len(shares) - wrong)

    def _is_made_to_fit(self, share: Share, size: int) -> bool:
        """Where the notes say that percentages were rounded so that they make 100."""
        if not _MADE_TO_FIT.search(self.source.notes):
            return False
        unit = 10.0**-share.percentage.number.precision
        return allowed(share.percentage.number).widened(unit).meets(100 * share.part / size)

    def _is_wrong(
        self, row: int, column: int, fitting: int, fitting_in_row: int, is_alone: bool
    ) -> bool:
        """Whether nothing explains it: not another whole, and not that some data is missing. Where
        others of its row do not fit (it is not `alone`), a slip has to be plain."""
        share, sizes = self.shares[row, column], self.wholes[row, column].sizes
        percentage, others = share.percentage.number, self.in_column[column] - 1
        if percentage.value > 100:
            return (is_alone or fitting_in_row > 1) and self._is_above_100(row, column)
        if (fitting < 2 or 3 * fitting < 2 * others) and fitting_in_row < FEWEST - 1:
            return False
        if share.part > sizes[-1]:
            return is_alone and self._is_slip_of_count(share, sizes[-1])
        others_are = (size for size in self._other_wholes(row, column) if size >= share.part)
        if any(fits(share.part, size, percentage) for size in others_are):
            return False
        if self._is_made_to_fit(share, sizes[0]):
            return False
        if self._makes_whole(row, column):
            return True
        if is_alone and self._makes_whole_with_one(row, column):
            return True
        usually = USUALLY[percentage.precision > 0]
        is_inferred = self.wholes[row, column].stated is None
        known = wholes(share.part, percentage, round(sizes[-1] / (usually if is_inferred else 1)))
        if known and known[-1] >= usually * sizes[0]:
            return False
        if self._is_slip_of_percentage(share, sizes[0]):
            return is_alone or (fitting_in_row > 1 and percentage.precision > 0)
        return is_alone and (not known or fitting == others >= ALL_OTHERS)

    def _is_slip_of_percentage(self, share: Share, size: int) -> bool:
        """Without decimals only two digits swapped, or one more: others are slips by chance."""
        stated, meant = share.percentage.number, 100 * share.part / size
        if stated.is_whole:
            whole = written(meant, 0)
            is_likely = len(whole) != len(stated.written) or sorted(whole) == sorted(stated.written)
            return is_likely and one_slip(stated.written, whole)
        decimals = range(max(stated.precision - 1, 0), stated.precision + 2)  # the point may move
        return any(one_slip(stated.written, written(meant, some)) for some in decimals)

    def _is_above_100(self, row: int, column: int) -> bool:
        share, sizes = self.shares[row, column], self.wholes[row, column].sizes
        return share.percentage.number.value > 100 and share.part <= sizes[-1]

    def _is_slip_of_count(self, share: Share, size: int) -> bool:
        """Whether the count is that of the percentage but for a slip, as `280 (57.1)` of 49."""
        near = round(float(share.percentage.number) * size / 100)
        meant = (n for n in (near - 1, near, near + 1) if fits(n, size, share.percentage.number))
        return any(one_slip(share.count.number.written, str(n)) for n in meant)

    def _makes_whole(self, row: int, column: int) -> bool:
        """Whether it makes up the whole with all others under its heading: nobody is missing."""
        heading, sizes = self.headings[row], self.wholes[row, column].sizes
        return heading is not None and self.under[id(heading), column] in sizes

    def _makes_whole_with_one(self, row: int, column: int) -> bool:
        """Whether it does with the one above or below it: men and women."""
        part, sizes = self.shares[row, column].part, self.wholes[row, column].sizes
        beside = (self.shares.get((other, column)) for other in (row - 1, row + 1))
        return any(other is not None and part + other.part in sizes for other in beside)

    def _other_wholes(self, row: int, column: int) -> Iterator[int]:
        own = self.wholes[row, column].sizes[-1]
        yield from (size.value for size in self.sizes.values() if size.value > own)
        labels = [self.cells.get((row, left)) for left in range(min(column, LEFTMOST))]
        for label in (*labels, self.headings[row]):
            if label is not None and (said := size_said_in(label)):
                yield said.value
        yield sum(self._count(row, other) for other in range(1, len(self.source.body[row])))
        yield from (self._count(other, column) for other in range(max(row - ABOVE, 0), row))
        yield self.under[id(self.headings[row]), column]

    def _bare(self, row: int, column: int) -> Stated | None:
        """The number that a cell is."""
        piece = self.cells.get((row, column))
        if piece is None or len(piece.numbers) != 1:
            return None
        number = piece.numbers[0]
        text = piece.text.replace("#", "♯")
        if text[: number.start].strip() or not _BARE_END.fullmatch(text, number.stop):
            return None
        return Stated(number, piece.of(number))

    def _count(self, row: int, column: int) -> int:
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

    def _fits_swapped(self, row: int, column: int) -> bool:
        swapped, whole = self.shares[row, column].swapped(), self.wholes.get((row, column))
        return bool(swapped and whole and swapped.part and swapped.fits(whole.sizes))

    def _is_percentage(self, row: int, column: int) -> bool:
        for words in self._words(row, column):
            if _OTHERWISE.search(words):
                return False
            if _PERCENT.search(words):
                return True
        about = f"{self.source.caption} {self.source.notes}"
        return bool(_PERCENT.search(about)) and not _OTHERWISE.search(about)

    def _finding(self, row: int, column: int) -> Finding:
        share, whole = self.shares[row, column], self.wholes[row, column]
        size = whole.sizes[0]
        return contradiction(
            "NUM103", share.count, whole.stated, size, share.percentage, whole.in_words
        )


_EXAMPLE = """\
| | Placebo (n = 120) | Drug (n = 80) |
|---|---|---|
| Women, n (%) | 42 ({}) | 40 (50) |
| Smokers, n (%) | 30 (25) | 20 (25) |
| Dead, n (%) | 12 (10) | 8 (10) |
"""

add_rule(
    Rule(
        "NUM103",
        "percentage-in-table",
        "percentages in tables",
        "A count in a table and its percentage do not agree with the size of its group.",
        "Percentages are easily left as they were while the counts beside them change. The size of "
        "a group is read from its header (`n = 120`), from a row of counts, or from what nearly "
        "all other percentages of its column are percentages of. Nothing is said where another "
        "count explains a percentage, where data of a few may be missing, or where a row or column "
        "as a whole does not follow.",
        (_EXAMPLE.format("53"),),
        (_EXAMPLE.format("35"),),
        "Recompute the percentage; where fewer were measured than the group has, say how many.",
        0.93,
        percentages_in_tables,
    )
)
