"""NUM103: counts and their percentages in the cells of tables, `42 (35.0)` under `n = 120`."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property

from numerate.rules.finding import Finding
from numerate.rules.group_sizes import size_said_in
from numerate.rules.one_slip import one_slip
from numerate.rules.percentage import allowed, contradiction, fits, wholes, written
from numerate.rules.reading import ReadDocument
from numerate.rules.rule import Outcome, Rule, add_rule
from numerate.rules.tables_of_shares import FEWEST, LEFTMOST, TableOfShares
from numerate.rules.tabulated_shares import Share

_MADE_TO_FIT = re.compile(r"\b(?:rounded|adjusted)\b[^.;]{0,40}\b100\b", re.IGNORECASE)
ABOVE = 8  # rows in which a count may be the whole of one below it
# Share of a group that data is usually known of, by whether a percentage has decimals: one that has
# none is easily another's slip by chance.
USUALLY = (0.8, 0.9)
ALL_OTHERS = 5  # so many in a column, and none with much data missing


def percentages_in_tables(read: ReadDocument) -> Iterator[Outcome]:
    for table in range(len(read.tables)):
        yield from _Table(read, table).outcomes()


class _Table(TableOfShares):
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
                is_percentage = share.is_said or self.is_percentage(row, column)
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
                        else Outcome(where, missing="a stated whole")
                    )

    def _with_whole(self, row: int, column: int, share: Share) -> Iterator[Outcome]:
        where = self.cells[row, column].place
        assert share.whole is not None
        size = int(share.whole.number.value)
        if share.fits_own():
            yield Outcome(where, used=(share.whole.where,))
        elif not (share.is_said or self.is_percentage(row, column)) or share.part > size:
            return
        elif self._are_of_wholes and not self._is_made_to_fit(share, size):
            found = contradiction("NUM103", share.count, share.whole, size, share.percentage, "")
            yield Outcome(where, found)
        else:
            yield Outcome(where, missing="a stated whole")

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
        yield sum(self.count_at(row, other) for other in range(1, len(self.source.body[row])))
        yield from (self.count_at(other, column) for other in range(max(row - ABOVE, 0), row))
        yield self.under[id(self.headings[row]), column]

    def _fits_swapped(self, row: int, column: int) -> bool:
        swapped, whole = self.shares[row, column].swapped(), self.wholes.get((row, column))
        return bool(swapped and whole and swapped.part and swapped.fits(whole.sizes))

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
        0.97,
        percentages_in_tables,
    )
)
