"""What `lm.check` gives: the numerals that are flagged, as a sequence that shows itself."""

from collections.abc import Sequence
from typing import overload

from numerate.plausibility.finding import Finding
from numerate.plausibility.showing import as_table
from numerate.plausibility.wording import explain

SHOWN = 5  # numerals that are named in a line


class Findings(Sequence[Finding]):
    """In the order of the text. `numerals` is how many the text has, flagged or not."""

    def __init__(self, flagged: Sequence[Finding], numerals: int) -> None:
        self._flagged = tuple(flagged)
        self.numerals = numerals

    def __len__(self) -> int:
        return len(self._flagged)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> list[Finding]: ...
    def __getitem__(self, index: int | slice) -> Finding | list[Finding]:
        return list(self._flagged[index]) if isinstance(index, slice) else self._flagged[index]

    def __eq__(self, other: object) -> bool:
        """As a list of the same findings is."""
        return isinstance(other, list | tuple | Findings) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        named = ", ".join(finding.written for finding in self[:SHOWN])
        more = ", …" if len(self) > SHOWN else ""
        return f"Findings({self._summary}{f': {named}{more}' if self else ''})"

    def _repr_html_(self) -> str:
        rows = ((finding.start, finding.written, explain(finding)) for finding in self)
        return as_table(self._summary, ("at", "numeral", "why"), rows)

    @property
    def _summary(self) -> str:
        return f"{len(self)} of {self.numerals:,} numeral{'s' * (self.numerals != 1)} flagged"
