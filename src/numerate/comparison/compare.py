"""`numerate.compare`: which numbers of a text are quoted from its sources, follow from them, or
neither. A guard for what a model has written, and for what a person has."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_type_hints, overload

import numpy as np

from numerate.comparison.fitted import LIMITS, WEIGHTS
from numerate.comparison.mentions import Mention, mentions
from numerate.comparison.support import Sources, Support
from numerate.documents.document import Document, Table
from numerate.documents.text import read_text
from numerate.errors import NumerateError
from numerate.proofread.check import as_document, names_a_file
from numerate.reports.data_frames import arrow_table, pandas_table
from numerate.rules.reading import ReadDocument

ALARMS = 0.05
RARE = 0.02  # ways that are expected by chance: with so many, one that is found counts half
QUOTED, DERIVED, UNSUPPORTED = "quoted", "derived", "unsupported"
_WEIGHTS = np.array(WEIGHTS).ravel()

Source = str | Path | Document | Table


@dataclass(frozen=True, slots=True)
class Compared:
    """A number of the text, and what the sources say of it."""

    written: str
    start: int  # in the text, or in the text of its file; where that has none, in its cell
    end: int
    place: str  # `line 1`; `Table 2, row Age, column Placebo`
    verdict: str  # quoted, derived or unsupported
    because: str  # where it stands, `100 · 12/48 (line 1)`, or what is said instead
    probability: float  # that it is supported

    def __str__(self) -> str:
        return f"{self.written}: {self.verdict}{self.because and ', ' + self.because}"


COLUMNS: dict[str, type] = get_type_hints(Compared)


@dataclass(frozen=True)
class Comparison(Sequence[Compared]):
    """Every number of the text, in its order.

    Examples:
        >>> import numerate
        >>> found = numerate.compare("Of 48 men, 25% smoked.", "There were 48 men; 12 men smoked.")
        >>> [str(one) for one in found][1]
        '25: derived, 100 · 12/48 (line 1)'
    """

    numbers: tuple[Compared, ...]

    @overload
    def __getitem__(self, index: int) -> Compared: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Compared, ...]: ...
    def __getitem__(self, index: int | slice) -> Compared | tuple[Compared, ...]:
        return self.numbers[index]

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Compared]:
        return iter(self.numbers)

    @property
    def unsupported(self) -> list[Compared]:
        """Those that neither stand in a source nor follow from one."""
        return [one for one in self if one.verdict == UNSUPPORTED]

    def to_arrow(self) -> Any:
        """As a table of pyarrow, a number a row."""
        return arrow_table(map(asdict, self), COLUMNS)

    def to_pandas(self) -> Any:
        """As a table of pandas, which has to be installed."""
        return pandas_table(self.to_arrow())


def compare(
    answer: str | Path | Document,
    sources: Source | Iterable[Source],
    *,
    alarms: float = ALARMS,
) -> Comparison:
    """Say of each number of a text whether its sources support it.

    The text is a string, the `Path` of a file of any format that `check` reads, or a document. So
    is each of the sources, of which a string may also be the name of a file; or it is a table, as
    `numerate.read_tables` gives them.

    A number is *quoted* if a source says the same of the same, or more precisely; *derived* if it
    follows from numbers that stand together, in a source or in the text, and then the formula is
    told; and else *unsupported*. Words around the number and other numbers beside it decide whether
    the same number is of the same: in a long source most small numbers stand somewhere.

    `alarms` is the share of right numbers, in summaries of articles, that are called unsupported:
    from 0.01 to 0.2.

    Examples:
        >>> import numerate
        >>> source = "Mean age was 61.2 years with the drug and 59.8 years with placebo."
        >>> found = numerate.compare("Patients on placebo were 58.9 years old.", source)
        >>> found.unsupported[0].because
        '59.8 is said in line 1'
    """
    if not min(LIMITS) <= alarms <= max(LIMITS):
        raise NumerateError(f"alarms: got {alarms}, expected {min(LIMITS)} to {max(LIMITS)}")
    if isinstance(answer, str):  # never a name: who knows what a model writes
        answer = read_text(answer)
    read = ReadDocument(as_document(answer, "compare"))
    given = [_read(source, index) for index, source in enumerate(_listed(sources), start=1)]
    known = Sources([one for source in given for one in mentions(source)])
    found = list(mentions(read))
    return Comparison(tuple(judged(found, known.support(found), alarms)))


def judged(
    numbers: Sequence[Mention], supports: Sequence[Support], alarms: float
) -> Iterator[Compared]:
    """The numbers of a text, as they are supported."""
    levels = sorted(LIMITS)
    limit = float(np.interp(alarms, levels, [LIMITS[level] for level in levels]))
    pairs = list(zip(numbers, supports, strict=True))
    supported = {id(one) for one, of in pairs if probability(of) >= limit_of(of, limit)}
    for number, support in pairs:
        yield _compared(number, support, supported)


def probability(support: Support) -> float:
    """That the sources support the number: nothing where nobody says it, nor it follows."""
    if support.quote is None and support.way is None:
        return 0.0
    found = float(1 / (1 + np.exp(-support.features @ _WEIGHTS)))
    # What follows where hardly anything would by chance need not be said in the same words.
    return found if support.quote is not None else max(found, 1 / (1 + support.chance / RARE))


def limit_of(support: Support, limit: float) -> float:
    """Below which probability a number is called unsupported; of one that nobody says it is half
    of it, or what can be computed, of which there is little to learn from, would hardly count."""
    return limit if support.quote is not None else limit / 2


def _compared(mention: Mention, support: Support, supported: set[int]) -> Compared:
    """The ids of the mentions that are `supported` are known: what follows from such, right before
    it, is derived."""
    own = support.own
    if id(mention) in supported and support.quote is not None:
        verdict, because = QUOTED, _quoted(mention, support.quote)
    elif own is not None and all(id(operand) in supported for operand in own.operands):
        verdict, because = DERIVED, own.formula
    elif id(mention) in supported and support.way is not None:
        places = "; ".join(dict.fromkeys(map(_place, support.way.operands)))
        verdict, because = DERIVED, f"{support.way.formula} ({places})"
    else:
        verdict, because = UNSUPPORTED, _instead(support)
    where, written, chance = mention.where, mention.number.written, probability(support)
    start, end = mention.read.span(where) or (where.start, where.end)
    return Compared(written, start, end, mention.describe(), verdict, because, chance)


def _quoted(mention: Mention, quote: Mention) -> str:
    if quote.amount == mention.amount or quote.value == mention.value:
        return _place(quote)
    return f"rounded from {quote.number.written} in {_place(quote)}"


def _instead(support: Support) -> str:
    if support.other is None:
        return ""
    return f"{support.other.number.written} is said in {_place(support.other)}"


def _place(mention: Mention) -> str:
    """With the name of its source, if there are several or it is a file."""
    name = mention.read.file(mention.where)
    return f"{name}, {mention.describe()}" if name else mention.describe()


def _listed(sources: Source | Iterable[Source]) -> list[Source]:
    if isinstance(sources, str | Path | Document | Table):
        return [sources]
    if not isinstance(sources, Iterable):
        got = type(sources).__name__
        raise NumerateError(f"sources: got {got}, expected texts, files, documents or tables")
    found = list(sources)
    if not found:
        raise NumerateError("sources: got none, expected at least one")
    return found


def _read(source: Source, index: int) -> ReadDocument:
    """The first of the sources needs no name, if it has none; the others are counted."""
    name = "" if index == 1 else f"source {index}"
    if isinstance(source, Table):
        return ReadDocument(read_text("", name), [source])
    if isinstance(source, str) and not names_a_file(source):
        return ReadDocument(read_text(source, name))
    return ReadDocument(as_document(source, "source"))
