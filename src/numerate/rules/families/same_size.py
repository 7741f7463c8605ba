"""NUM602: how many were in a group, said of the same group with two numbers."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from numerate.rules.finding import RECOMPUTED, Evidence, Finding, Suggestion
from numerate.rules.group_sizes import N_IS
from numerate.rules.numbers import Number
from numerate.rules.one_slip import one_slip
from numerate.rules.percentage import is_count
from numerate.rules.reading import Piece, ReadDocument
from numerate.rules.rule import Outcome, Rule, add_rule
from numerate.rules.shape import shape_of

_NAME = re.compile(r"((?:[^\W\d_][\w+-]*\s){0,2}[^\W\d_][\w+-]*)\s?[(\[,]?\s?\Z")
_FILLER = re.compile(
    r"\b(?:the|a|an|group|groups|arm|in|of|and|to|or|for|with|patients|total|all)\b"
)
_RANDOMISED = re.compile(
    r"#(?<![-–#/.,]#)\s(?:[^\W\d_][\w-]*\s){0,3}?(?:patients|participants|subjects|women|men|children"
    r"|individuals|people|adults|infants|volunteers)\s(?:were|had\sbeen|was)\s"
    r"(?:randomi[sz]ed|randomly\s(?:assigned|allocated))\b"
)
RANDOMISED = "randomised"
BEFORE = 60  # characters in which the name of a group stands
SHOWN = 5  # of the places that say otherwise


@dataclass(frozen=True, slots=True)
class _Said:
    piece: Piece
    number: Number

    @property
    def value(self) -> int:
        return int(self.number.value)


def sizes_said_twice(read: ReadDocument) -> Iterator[Outcome]:
    groups: dict[str, list[_Said]] = defaultdict(list)
    for name, said in _sizes(read):
        groups[name].append(said)
    for name, found in groups.items():
        in_table = any(said.piece.place.row is not None for said in found)
        if len(found) < 2 or not (in_table or name == RANDOMISED):
            continue
        odd = _odd_one(found)
        for said in found:
            where = said.piece.of(said.number)
            yield Outcome(where, _finding(read, name, said, found) if said is odd else None)


def _odd_one(found: Sequence[_Said]) -> _Said | None:
    """The one against two or more alike, if a slip would explain it."""
    counts = Counter(said.value for said in found)
    if len(counts) != 2 or min(counts.values()) != 1 or len(found) < 3:
        return None
    (usual, _), (value, _) = counts.most_common()
    return next(said for said in found if said.value == value) if _is_slip(value, usual) else None


def _sizes(read: ReadDocument) -> Iterator[tuple[str, _Said]]:
    for piece in read.pieces():
        if not piece.numbers:
            continue
        is_said = "=" in piece.text or ":" in piece.text
        sizes = N_IS.finditer(piece.text) if is_said else ()
        after = {match.end(): match.start() for match in sizes}
        for number in piece.numbers if after else ():
            if number.start in after and is_count(number) and number.value:
                start = after[number.start]
                if name := _name(piece.text[max(start - BEFORE, 0) : start]):
                    yield name, _Said(piece, number)
        if "andom" in piece.text and piece.place.row is None:
            shape = shape_of(piece)
            for match in _RANDOMISED.finditer(shape.folded):
                number = shape.number(match.start())
                if is_count(number):
                    yield RANDOMISED, _Said(piece, number)


def _name(before: str) -> str:
    """The words right before `(n = 60)`, without those that say nothing of the group."""
    named = _NAME.search(before.lower())
    return " ".join(_FILLER.sub(" ", named[1]).split()) if named else ""


def _is_slip(value: int, usual: int) -> bool:
    """Not fewer, as between those randomised and those analysed: digits swapped, or one too many or
    too few."""
    first, second = str(value), str(usual)
    is_likely = len(first) != len(second) or sorted(first) == sorted(second)
    return is_likely and one_slip(first, second)


def _finding(read: ReadDocument, name: str, said: _Said, found: Sequence[_Said]) -> Finding:
    where = said.piece.of(said.number)
    usual = [other for other in found if other is not said][:SHOWN]
    places = tuple(other.piece.of(other.number) for other in usual)
    of = "were randomised" if name == RANDOMISED else f"are in “{name}”"
    meant = usual[0].number.written
    words = "; ".join(dict.fromkeys(f"{read.describe(place)}: {meant}" for place in places))
    return Finding(
        "NUM602",
        where,
        said.number.written,
        f"{said.number.written} {of} here, and {meant} elsewhere.",
        (Evidence(RECOMPUTED, words, places),),
        (where, *places),
        Suggestion(meant),
    )


_EXAMPLE = """\
In all, {} patients were randomised.

As said, 124 patients were randomised, to two groups. Of the 124 patients were most women.

Later, 124 participants were randomly assigned again.
"""
add_rule(
    Rule(
        "NUM602",
        "two-sizes",
        "sizes of groups",
        "A group has another size elsewhere.",
        "The number of those who were randomised, and of each group, is the number that readers of "
        "a trial look for first. As groups shrink between two analyses, only a number is found "
        "that stands once against two or more alike, and is a slip away from them: digits swapped, "
        "or one dropped or added.",
        (_EXAMPLE.format("142"),),
        (_EXAMPLE.format("124"),),
        "Look up which of the two is right; where they are two groups, name them differently.",
        0.9,
        sizes_said_twice,
    )
)
