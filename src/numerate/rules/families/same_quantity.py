"""NUM601: one statement in two places, with all of its numbers alike but one, which is a slip."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from numerate.numeral import normalise
from numerate.rules.finding import RECOMPUTED, Evidence, Finding, Suggestion
from numerate.rules.numbers import Number
from numerate.rules.one_slip import one_slip
from numerate.rules.reading import Piece, ReadDocument
from numerate.rules.rule import Outcome, Rule, add_rule
from numerate.rules.shape import Shape, shape_of
from numerate.rules.where import Where

_TO = r"\s?(?:–|—|-|−|to|,|;)\s?[-−–]?"
_CI = r"(?:#\s?%\s?(?:ci|confidence\sintervals?|cri)\s?[:=,]?\s?)?"
_SD = r"(?:(?:s\.?d\.?|s\.?e\.?m?\.?|iqr|range)\s?[=:,]?\s?)?"
_UNIT = r"(?:\s?(?:%|[^\W\d_][^\s#()\[\],;]{0,8}))?"
# A number, and in brackets or behind ± what is said of it: one more, or two.
_STATEMENT = re.compile(
    rf"(#)(?<![-–#/.]#)(?<!#\sof\s#)(?<!out\sof\s#)(?<!of\sthe\s#){_UNIT}\s?(?:±\s?(#)|[(\[,;]\s?{_CI}{_SD}[-−–]?(#)(?:{_TO}(#))?\s?%?\s?[)\]])"
)
_WORD = re.compile(r"[^\W\d_]{4,}")
_SENTENCE_END = re.compile(r"\.\s[A-Z]")
_COMMON = frozenset(
    {
        "with", "from", "were", "that", "this", "than", "those", "these", "mean", "median", "table",
        "group", "groups", "total", "number", "value", "values", "patients", "participants",
        "subjects", "their", "between", "after", "before", "study", "which", "have", "been",
        "score", "baseline", "difference", "significant", "higher", "lower", "compared",
        "respectively", "range", "data", "rate", "rates", "ratio", "ratios", "odds", "hazard",
        "risk", "estimate", "estimates", "adjusted", "unadjusted", "crude", "confidence",
        "interval", "cases", "controlling", "increase", "increased", "decrease",
        "decreased", "significantly", "control", "controls",
    }
)  # fmt: skip
STEM = 6  # letters by which words are told apart
MANY = 20  # statements with the same numbers: too many to be one


@dataclass(frozen=True)
class _Statement:
    piece: Piece
    numbers: tuple[Number, ...]
    shape: Shape
    at: int
    end: int
    number: int  # among those of the document

    @cached_property
    def written(self) -> tuple[str, ...]:
        return tuple(normalise(number.written) for number in self.numbers)

    @property
    def where(self) -> Where:
        return self.shape.where(self.at, self.end)

    @property
    def is_cell(self) -> bool:
        return self.piece.place.row is not None


def _statements(read: ReadDocument) -> Iterator[_Statement]:
    count = 0
    for piece in read.pieces():
        if len(piece.numbers) < 2:
            continue
        shape = shape_of(piece)
        for match in _STATEMENT.finditer(shape.folded):
            numbers = tuple(
                shape.number(match.start(group)) for group in (1, 2, 3, 4) if match[group]
            )
            yield _Statement(piece, numbers, shape, *match.span(), count)
            count += 1


def near_copies(read: ReadDocument) -> Iterator[Outcome]:
    statements = list(_statements(read))
    alike: dict[tuple[str, ...], list[_Statement]] = defaultdict(list)
    but_one: dict[tuple[int, tuple[str, ...]], list[_Statement]] = defaultdict(list)
    for statement in statements:
        alike[statement.written].append(statement)
    for written, same in alike.items():
        first = [same[0], *(one for one in same[1:] if one.is_cell)][:2]  # one of a table too
        for place in range(len(written)):
            but_one[place, (*written[:place], "", *written[place + 1 :])] += first
    in_text = [statement for statement in statements if not statement.is_cell]
    same_elsewhere = [len(alike[statement.written]) > 1 for statement in in_text]
    found = [
        None if same else _near_copy(read, statement, but_one)
        for statement, same in zip(in_text, same_elsewhere, strict=True)
    ]
    for index, (statement, copy) in enumerate(zip(in_text, found, strict=True)):
        if same_elsewhere[index]:
            yield Outcome(statement.where)
        elif copy is not None:
            beside = list(_beside(in_text, index))
            agreeing = sum(same_elsewhere[other] for other in beside)
            near = 1 + sum(found[other] is not None for other in beside)
            if len(beside) < near <= 2 or agreeing >= near:
                yield Outcome(statement.where, _finding(read, statement, *copy))


def _near_copy(
    read: ReadDocument,
    statement: _Statement,
    but_one: Mapping[tuple[int, tuple[str, ...]], Sequence[_Statement]],
) -> tuple[_Statement, int] | None:
    """The one other that is this statement but for a slip in the number at that place."""
    written = statement.written
    for place in range(len(written)):
        rest = (*written[:place], "", *written[place + 1 :])
        others = [
            other
            for other in but_one[place, rest][:MANY]
            if one_slip(written[place], other.written[place])
            and _differ(statement.numbers[place], other.numbers[place])
            and _is_copy(read, statement, other, rest)
        ]
        if len({other.written for other in others}) == 1:
            return others[0], place
    return None


def _beside(statements: Sequence[_Statement], index: int) -> Iterator[int]:
    """The others of its sentence: if nothing of it is said elsewhere, it is of something else."""
    own = statements[index]
    for step in (-1, 1):
        for at in range(index + step, index + step * MANY, step):
            if not 0 <= at < len(statements) or statements[at].piece is not own.piece:
                break
            first, second = sorted((statements[at], own), key=lambda one: one.at)
            if _SENTENCE_END.search(own.shape.text, first.end, second.at):
                break
            yield at


def _is_copy(
    read: ReadDocument, statement: _Statement, other: _Statement, rest: tuple[str, ...]
) -> bool:
    """Whether two statements are one: of numbers and words that are hardly alike by chance."""
    said = statement.shape.text[statement.at : statement.end]
    if len(rest) == 2 and not rest[0] and "%" in said:
        return False  # 15 of 120 and 5 of 40 are 12.5 %
    digits = sum(len(text.replace(".", "").lstrip("0")) for text in rest)
    if digits < (3 if len(rest) == 2 else 4 if "." in "".join(rest) else 5):
        return False
    own = _words(statement.shape.sentence(statement.at, statement.end))
    if other.is_cell:
        place = other.piece.place
        assert place.table is not None
        assert place.row is not None
        row = read.tables[place.table].body[place.row] if place.row >= 0 else [""]
        return bool(own & _words(row[0]))
    if other.piece is statement.piece or statement.number < other.number:
        return False  # of two texts, the second is told of
    if _is_body(read, statement) and _is_body(read, other):
        return False  # two groups are alike by chance; only the abstract repeats
    return len(own & _words(other.shape.sentence(other.at, other.end))) >= 3


def _is_body(read: ReadDocument, statement: _Statement) -> bool:
    paragraph = statement.piece.place.paragraph
    return paragraph is not None and not read.document.paragraphs[paragraph].in_abstract


def _differ(first: Number, second: Number) -> bool:
    """Beyond that one may be rounded further than the other."""
    if first.precision == second.precision:
        return first.value != second.value
    return not first.interval.meets(second.interval)


def _words(text: str) -> set[str]:
    return {word[:STEM] for word in _WORD.findall(text.lower()) if word not in _COMMON}


def _finding(read: ReadDocument, statement: _Statement, other: _Statement, place: int) -> Finding:
    number, meant = statement.numbers[place], other.numbers[place]
    where, elsewhere = statement.piece.of(number), other.piece.of(meant)
    there = read.text(other.where)
    said = f"{read.describe(elsewhere)}: {there}"
    message = f"{number.written} stands here, and {meant.written} in {read.describe(elsewhere)}."
    evidence = (Evidence(RECOMPUTED, said, (elsewhere,)),)
    return Finding(
        "NUM601",
        where,
        number.written,
        message,
        evidence,
        (where, elsewhere),
        Suggestion(meant.written),
    )


_EXAMPLE = """\
After a week, heart rate was {} (12.14) with placebo.

| Sign | Placebo | Drug |
|---|---|---|
| Heart rate, mean (SD) | 97.5 (12.14) | 88.1 (11.2) |
"""
add_rule(
    Rule(
        "NUM601",
        "two-values",
        "statements made twice",
        "The same statement has another number elsewhere.",
        "Text and tables are written at different times. Two statements are taken for one where "
        "all of their numbers agree but one, that one is a slip away (a digit swapped, replaced, "
        "dropped or added, or the point moved), and their words agree too.",
        (_EXAMPLE.format("79.5"),),
        (_EXAMPLE.format("97.5"),),
        "Look up which of the two is right.",
        0.77,
        near_copies,
    )
)
