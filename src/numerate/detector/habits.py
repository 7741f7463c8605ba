"""How whoever wrote a text writes numerals: thousands, the mark of decimals, `.05`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from numerate.numeral import NARROW_SPACES


@dataclass(frozen=True, slots=True)
class Habits:
    """How the numerals of a text are written, for those that do not say it themselves."""

    decimal: str  # which mark the rules take for that of decimals
    mark: str
    grouping: str | None  # between thousands; None: there are none to tell
    is_bare: bool  # `.05`

    @classmethod
    def of(cls, written: Sequence[str], decimal: str = "point") -> "Habits":
        marks = "." if decimal == "point" else ","
        mark = next((found[0] for one in written if (found := _mark(one, decimal))), marks)
        grouping = next((found for one in written if (found := _grouping(one, decimal))), None)
        if grouping is None and any(len(_whole(one, decimal)) > 3 for one in written):
            grouping = ""
        return cls(decimal, mark, grouping, any(_whole(one, decimal) == "" for one in written))

    def written_like(self, numeral: str, right: str) -> str:
        """A numeral, normalised, as who wrote another one in its place would have written it."""
        whole, point, decimals = numeral.partition(".")
        theirs = _whole(right, self.decimal)
        if len(theirs) > 3:
            grouping = _grouping(right, self.decimal) or ""
        elif self.grouping is not None:
            grouping = self.grouping
        else:
            grouping = ("," if self.decimal == "point" else ".") if len(whole) > 4 else ""
        if whole == "0" and point and (theirs == "" or (self.is_bare and theirs[:1] != "0")):
            whole = ""
        elif len(theirs) > 1 and theirs[0] == "0":
            whole = whole.zfill(len(theirs))
        elif grouping and len(whole) > 3:
            first = len(whole) % 3 or 3
            groups = [whole[:first], *(whole[at : at + 3] for at in range(first, len(whole), 3))]
            whole = grouping.join(groups)
        mark = _mark(right, self.decimal) or self.mark
        return whole + (mark if point else "") + decimals


_MARKS = {"point": ".·∙", "comma": ",·∙"}
_GROUPING = {
    decimal: re.compile(rf"[0-9]([{mark}’' {NARROW_SPACES}])[0-9]{{3}}")
    for decimal, mark in (("point", ","), ("comma", "."))
}


def _mark(written: str, decimal: str) -> str:
    return next((mark for mark in _MARKS[decimal] if mark in written), "")


def _grouping(written: str, decimal: str) -> str:
    found = _GROUPING[decimal].search(written)
    return found[1] if found else ""


def _whole(written: str, decimal: str) -> str:
    """Its digits before the mark."""
    mark = _mark(written, decimal)
    before = written.partition(mark)[0] if mark else written
    return "".join(filter(str.isdecimal, before))
