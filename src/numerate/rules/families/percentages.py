"""NUM101 and NUM102: a count and its percentage in running text; parts that exceed their whole."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from numerate.rules.finding import RECOMPUTED, Evidence, Finding
from numerate.rules.numbers import Number
from numerate.rules.percentage import (
    ROUGHLY,
    contradiction,
    fits,
    is_count,
    is_percentage,
    is_year,
    wholes,
)
from numerate.rules.reading import Piece, ReadDocument
from numerate.rules.rule import Outcome, Rule, add_rule
from numerate.rules.shape import Shape, shape_of
from numerate.rules.stated import Stated
from numerate.rules.where import Where

_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = (
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
    "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
IN_WORDS = {word: value for value, word in enumerate([*_ONES, *_TEENS], 1)} | {
    f"{tens}{between}{ones}": 10 * ten + one
    for ten, tens in enumerate(_TENS, 2)
    for one, ones in enumerate(["", *_ONES])
    for between in (("-", " ") if ones else ("",))
}
_NUMBER = (
    # `all but one of 74 (98.6%)`, `one hundred and sixty-three of 176`
    r"(?<!\bbut\s)(?<!hundred\s)(?<!hundred\sand\s)(?<!thousand\s)"
    rf"(#(?<![#/.,]#)(?<!\bor\s#)|\b(?<!-)(?:(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_ONES)}))?"
    rf"|{'|'.join([*_TEENS, *_ONES])})(?=\s))"
)
_WORD = r"[^\W\d_][\w’'/*-]*"
_ALL = r"(?:\s(?:the|all|these|those|our|a\stotal\sof|total|only))*"
_OUT_OF = rf"(?:\s?/\s?|\s(?:out\s)?of{_ALL}\s)"
_UNIT = (
    r"(?!\s?(?:[-–/:]\s?[#a-z]|mm|mg|m?l\b|[µμ]|k?g\b|cm|hz|°|min|hours?|h\b|days?|weeks?|months?"
    r"|years?|wk|mo\b|yr|×|x\b|%|per\s?cent|fold|times|vision|k\b|m\b|thousand|million|billion))"
)
_OPEN = r"\s?[(\[]\s?(?:(?:i\.\s?e\.|or|n)[,=:]?\s?)?"
_PERCENT = re.compile(
    r"#(?<!#,#)\s?(?:%|per\s?cent\b)(?!\s?(?:ci\b|c\.i|confidence|cr\.?i|credib|prediction|limits))"
)
MOST = 10**7  # in a group of which nobody says how large it is
BESIDE = 130  # characters of a statement on either side of its percentage
# Before it: `42 of 120 patients (35%)`, `42/120, 35%`
_COUNT_AND_WHOLE = re.compile(
    rf"{_NUMBER}{_OUT_OF}(#){_UNIT}"
    rf"(?:(?:\s{_WORD}){{0,8}}?{_OPEN}|(?:\s(?!to\b){_WORD}){{0,2}}?[,;:=]\s?|\s?=\s?)\Z"
)
# After it: `35% (42 of 120)`, `35%; 42/120`, `35% of patients (n = 42/120)`
_AND_COUNT_AND_WHOLE = re.compile(
    rf"(?:(?:\s(?!in\b){_WORD}(?:\s{_WORD}){{0,7}}?)?{_OPEN}|\s?[,;:=]\s?)(?:n\s?=\s?)?"
    rf"{_NUMBER}{_OUT_OF}(#){_UNIT}"
)
# On both sides: `42 (35%) of 120 patients`
_COUNT = re.compile(rf"{_NUMBER}(?:\s{_WORD}){{0,4}}?{_OPEN}\Z|\bn\s?=\s?(#)[,;]\s?\Z")
_AND_WHOLE = re.compile(
    rf"\s?[)\]](?:\s(?!(?:had|have|has|with|an?|at|to)\b){_WORD}){{0,3}}?\s(?:out\s)?(?<!total\s)(?<!number\s)of{_ALL}\s(#){_UNIT}"
)
# After it, without the whole: `35% of patients (n = 42)`, but not `1% gel (n = 42)`
_AND_COUNT = re.compile(
    r"(?:\s(?:of|were|was|are|had|fe?male|women|men)\b"
    rf"(?:\s{_WORD}){{0,4}}?)?\s?[(\[,;]\s?n\s?=\s?(#)(?!\s?/)"
)
# What follows a percentage: `(59% of the treated)` and `, 0.05% Tween` have wholes of their own.
_ANOTHER = re.compile(
    r"\s(?!(?:vs|versus|and|or|in|at|for|from|compared|with|among|on|respectively|p)\b)[a-z]"
)
_OF = re.compile(r"\sof\b")
# What follows a count and its whole: a percentage of their own, or another count to be added.
_OWN_PERCENTAGE = re.compile(r"[^#%.;()\[\]]{0,60}[(\[,]\s?#\s?%(?!\s?ci)")
_ANOTHER_COUNT = re.compile(r"[^#%()\[\]]{0,40}[;,]\s?#\s?/\s?#")
# `Of the 120 patients`
_WHOLE_FIRST = re.compile(rf"\s?(?:of|among(?:st)?|from|out\sof){_ALL}\s(#){_UNIT}(?=\s[a-z]{{3}})")
_ANOTHER_WHOLE = re.compile(
    r"\b(?:of|among)\s(?:these|them|whom|which|those|#|the\s#)|\b(?:groups?|arms?|respectively)\b"
)
# `Of the 26 patients, 12 (63.2%) receiving the drug` is a percentage of those who received it.
_OF_TREATED = re.compile(
    r"(?<!were )(?<!was )(?<!been )\b(?:receiving|taking|treated|given|assigned|allocated"
    r"|randomi[sz]ed)\b|\bin\s(?:the\s)?[^.,;#]{0,40}?\b(?:group|arm)\b"
)
AFTER = 120  # characters in which the group may be named that a count is of
# Those whose end is not known count in part: 6 of 51 may be 12.4 %.
_OVER_TIME = re.compile(
    r"\bkaplan|\bactuarial|\blife[- ]?tables?\b|\blog-?rank\b|\bhazards?\s(?:ratio|rate|model)"
    r"|\bproportional\shazards\b|(?<![#\s])\s?\bhr\s?[=:#,]"
    r"|\bcumulative (?:incidence|probabilit|rate)"
)
_PART = re.compile(
    rf"#(?<![#/.,^-]#)\s(?:out\s)?of(?:\s(?:the|all|these))*\s(#){_UNIT}(?=\s[a-z]{{3}})"
)

# `by day 60 of 5 patients`: a number that is a name
_NAMED = re.compile(
    r"\b(?:days?|weeks?|months?|years?|visits?|ages?|grades?|stages?|phases?|types?|aged)\s\Z"
)


@dataclass(frozen=True, slots=True)
class _Share:
    """A count with its percentage; `whole` is what it is a part of, where that is said."""

    count: Stated
    percentage: Stated
    whole: Stated | None
    at: int  # in the shape
    end: int


def percentages_in_text(read: ReadDocument) -> Iterator[Outcome]:
    for piece in read.running():
        if "%" in piece.text or "cent" in piece.text:
            yield from _in_piece(piece)


def _in_piece(piece: Piece) -> Iterator[Outcome]:
    shape = shape_of(piece)
    wrong: dict[Where, list[tuple[Outcome, _Share]]] = defaultdict(list)  # by a whole said once
    for share in _shares(shape):
        where = shape.where(share.at, share.end)
        count = int(share.count.number.value)
        whole = share.whole
        others: set[int] = set()
        if whole is None:
            whole, others = _whole_of_sentence(shape, share)
        if whole is None:
            yield Outcome(where, missing="a stated whole")
            continue
        size = int(whole.number.value)
        percentage = share.percentage.number
        used = (share.count.where, whole.where, share.percentage.where)
        if any(fits(count, other, percentage) for other in {size, *others}):
            yield Outcome(where, used=used)
        elif _OVER_TIME.search(shape.sentence(share.at, share.end).lower()):
            yield Outcome(where, missing="what it was estimated from", used=used)
        else:
            found = contradiction("NUM101", share.count, whole, size, share.percentage, "")
            if share.whole is not None:
                yield Outcome(where, found)
            else:
                wrong[whole.where].append((Outcome(where, found), share))
    for some in wrong.values():
        of_another = _have_another_whole([share for _, share in some])
        for outcome, _ in some:
            missing = Outcome(outcome.where, missing="a stated whole")
            yield missing if of_another else outcome


def _have_another_whole(shares: Sequence[_Share]) -> bool:
    """Whether several are percentages of one other whole: `Of 27 drugs, 7 (8.8%) and 6 (7.5%)`."""
    known = [
        wholes(int(share.count.number.value), share.percentage.number, MOST) for share in shares
    ]
    return (
        len(known) > 1
        and all(known)
        and max(one[0] for one in known) <= min(one[-1] for one in known)
    )


def _shares(shape: Shape) -> Iterator[_Share]:
    text = shape.folded
    for found in _PERCENT.finditer(text):
        at, end = found.span()
        start = max(at - BESIDE, 0)
        if ROUGHLY.search(text, max(at - 20, 0), at):
            continue
        count = whole = _before(text, at, end) or _after(text, end)
        if count is None and (count := _COUNT.search(text, start, at)):
            if _OF.match(text, end):
                continue  # `418 proteins (40.7% of all that are known)`
            whole = _AND_WHOLE.match(text, end, end + BESIDE)
        if count is None and not (count := _AND_COUNT.match(text, end, end + BESIDE)):
            continue
        group = 1 if count[1] else 2
        share = _Share(
            _stated(shape, count.start(group), count[group]),
            _stated(shape, at, "#"),
            _stated(shape, whole.start(whole.re.groups), "#") if whole else None,
            min(at, count.start()),
            max(end, count.end(), whole.end() if whole else 0),
        )
        if not _is_share(share) or _NAMED.search(
            text, max(count.start(group) - 12, 0), count.start(group)
        ):
            continue
        if not (whole and _is_ratio(share, text[slice(*whole.span())])):
            yield share


def _before(text: str, at: int, end: int) -> re.Match[str] | None:
    """`42 of 120 patients (` before a percentage of these."""
    found = _COUNT_AND_WHOLE.search(text, max(at - BESIDE, 0), at)
    if found is None:
        return None
    is_of = _OF.match(text, end) and found[0].rstrip()[-1] in ",;:="
    return None if _ANOTHER.match(text, end) and not is_of else found


def _after(text: str, end: int) -> re.Match[str] | None:
    """` (42/120` after a percentage of these."""
    found = _AND_COUNT_AND_WHOLE.match(text, end, end + BESIDE)
    if found is None or _ANOTHER_COUNT.match(text, found.end()):
        return None
    is_beside = found[0].lstrip()[0] in ",;:="
    return None if is_beside and _OWN_PERCENTAGE.match(text, found.end()) else found


def _is_ratio(share: _Share, written: str) -> bool:
    """`24/7`, `120/80`, `2023/24`, `39/1000`: two numbers and a stroke, of which the first is no
    part, or so many in a thousand."""
    if share.whole is None or re.search(r"#\s?/\s?#", written) is None:
        return False
    whole = share.whole.number.value
    return share.count.number.value >= whole or whole in (1000, 10_000, 100_000)


def _is_share(share: _Share) -> bool:
    whole = share.whole
    return (
        is_count(share.count.number)
        and is_percentage(share.percentage.number)
        and (whole is None or (is_count(whole.number) and whole.number.value > 0))
    )


def _stated(shape: Shape, at: int, sign: str) -> Stated:
    if sign == "#":
        number = shape.number(at)
    else:
        start = shape.offset(at)
        end = start + len(sign)
        words = shape.piece.text[start:end]
        number = Number(start, end, words, Decimal(IN_WORDS[sign]), 0, end)
    return Stated(number, shape.piece.of(number))


def _whole_of_sentence(shape: Shape, share: _Share) -> tuple[Stated | None, set[int]]:
    """`Of the 120 patients, 42 (35%) …`; and all else in the sentence that it may be a part of."""
    start = max(shape.folded.rfind(". ", max(share.at - 400, 0), share.at) + 1, share.at - 400, 0)
    first = _WHOLE_FIRST.match(shape.folded, start, share.at)
    if first is None:
        return None, set()
    at = first.start(1)
    is_first = "#" not in shape.folded[at + 1 : share.at]
    stop = shape.folded.find(". ", share.end, share.end + AFTER)
    stop = share.at if is_first else stop if stop >= 0 else share.end + AFTER
    if _ANOTHER_WHOLE.search(shape.folded, at, stop) or _OF_TREATED.search(
        shape.folded, share.end, share.end + AFTER // 2
    ):
        return None, set()
    whole = _stated(shape, at, "#")
    if not is_count(whole.number) or (
        whole.number.value < share.count.number.value and not is_first
    ):
        return None, set()
    between = (shape.number(at) for at in range(at + 1, share.at) if shape.folded[at] == "#")
    return whole, {int(number.value) for number in between if is_count(number)}


def parts_that_exceed(read: ReadDocument) -> Iterator[Outcome]:
    for piece in read.running():
        if " of " not in piece.text:
            continue
        shape = shape_of(piece)
        for match in _PART.finditer(shape.folded):
            part, whole = (_stated(shape, match.start(group), "#") for group in (0, 1))
            if not (is_count(part.number) and is_count(whole.number)):
                continue
            if _NAMED.search(shape.folded, max(match.start() - 12, 0), match.start()):
                continue
            if is_year(part.number) and part.number.value > whole.number.value:
                continue  # `until September 2012 out of 113 children`
            where = shape.where(*match.span())
            if part.number.value <= whole.number.value:
                yield Outcome(where)
                continue
            said = f"{part.number.written} > {whole.number.written}"
            places = (part.where, whole.where)
            message = f"{part.number.written} of {whole.number.written} is more than all."
            evidence = (Evidence(RECOMPUTED, said, places),)
            finding = Finding("NUM102", part.where, part.number.written, message, evidence, places)
            yield Outcome(where, finding)


add_rule(
    Rule(
        "NUM101",
        "percentage-of-count",
        "percentages",
        "A count, its whole and its percentage do not agree.",
        "Whoever reads 42 of 120 (53%) cannot know which of the three is wrong. Percentages may be "
        "rounded or cut off. Where the whole stands in the same sentence, but not beside the "
        "count, nothing is said if any other number there explains the percentage.",
        (
            "In all, 42 of 120 patients (53%) responded.",
            "Response: 35.0% (24/120) after a week.",
            "Of the 120 patients, 42 (35%) were women and 30 (52%) smoked.",
            "Seventeen of the 23 (47%) mice survived.",
        ),
        (
            "In all, 42 of 120 patients (35%) responded.",
            "Response: 35.0% (42/120) after a week.",
            "Of the 120 patients, 42 (35%) were women and 30 (25%) smoked.",
            "Seventeen of the 23 (74%) mice survived.",
        ),
        "Recompute the percentage from the data, and look which of the numbers is not as counted.",
        0.92,
        percentages_in_text,
    )
)
add_rule(
    Rule(
        "NUM102",
        "part-exceeds-whole",
        "parts of a whole",
        "More are said to be among them than there are.",
        "A part cannot be larger than its whole. Only what is counted in people, animals, samples "
        "and the like is read: a score of 12 of 10 may be one.",
        ("We enrolled 130 of 120 patients.",),
        ("We enrolled 120 of 130 patients.",),
        "Look up both numbers; often they are swapped.",
        0.5,
        parts_that_exceed,
    )
)
