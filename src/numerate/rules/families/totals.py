"""NUM111 to NUM113: totals of parts and differences, in running text."""

import re
from collections.abc import Iterator, Sequence
from math import isfinite

from numerate.rules.addition import is_near, wrong_sum
from numerate.rules.finding import RECOMPUTED, Evidence, Finding, Suggestion
from numerate.rules.one_slip import one_slip
from numerate.rules.percentage import ROUGHLY, is_count, is_year, written
from numerate.rules.reading import ReadDocument
from numerate.rules.rounding import Interval
from numerate.rules.rule import Outcome, Rule, add_rule
from numerate.rules.shape import Shape, shape_of
from numerate.rules.stated import Stated

_WORD = r"[^\W\d_][\w’'/*-]*"
_MALE, _FEMALE = r"(?:males?|m[ea]n|boys?)", r"(?:females?|wom[ea]n|girls?)"
_PEOPLE = (
    r"(?:patients|participants|subjects|women|men|children|people|persons|individuals|respondents"
    r"|students|infants|adults|cases|volunteers|animals|mice|rats|samples|families|eyes|pupils"
    r"|species|cells|neurons|trials|studies|lines|embryos|fish|larvae|flies|birds|plants|genes|villages"
    r"|schools|clusters|centers|centres|practices|hospitals|items|questions|events|deaths|lesions)"
)
# `36 subjects (20 female, 16 male)`
_BY_SEX = re.compile(
    rf"#(?<![#/.,-]#)\s(?:{_WORD}\s){{0,4}}?{_WORD}\s?[(\[,:]\s?(?:n\s?=\s?#\s?[;,]\s?)?"
    rf"(#)\s(?:{_WORD}\s)?(?:({_MALE})|({_FEMALE}))(?:,\s|,?\sand\s|\s?/\s?|;\s)"
    rf"(#)\s(?:{_WORD}\s)?(?:({_MALE})|({_FEMALE}))\b(?!\s?[,;]\s?#|\sand\s#)"
    r"(?![)\]]\s(?:and|or|versus|vs)\b[^#.;()]{0,60}[(\[]\s?#)"  # two groups are one total
)
# All up to the next number or bracket, with the comma or `and` before it; never tried shorter,
# which would take a time exponential in the items.
_ITEM = r"\s[^\W\d_][^#.;:()\[\]%]{0,70}+"
# `386 patients were enrolled: 179 surgery alone and 207 chemotherapy`
_LISTED = re.compile(
    rf"#(?<![#/.,-]#)\s(?:(?:{_WORD}\s){{0,5}}?{_PEOPLE}|were)(?:\s{_WORD}){{0,4}}?"
    r"\s?[(\[:]\s?"
    rf"(#{_ITEM}(?:(?:(?<=[,+&]\s)|(?<=\sand\s))#{_ITEM})++)"
    r"(?=[()\[\];]|(?<!\s[a-z])\.)"  # and not `H. pylori`
)
# `120 patients were randomised to placebo (n = 60) or drug (n = 60)`
_DIVIDED = re.compile(
    rf"#(?<![#/.,-]#)\s(?:{_WORD}\s){{0,4}}?{_PEOPLE}\b[^#.;]{{0,60}}?"
    r"\b(?:randomi[sz]ed|randomly|assigned|allocated|divided|split)\b"
)
_PARTLY = re.compile(
    r"\b(?:of (?:whom|which|these|them|those)|includ\w*|at least|each|per|or more|respectively"
    r"|least|completed|analy[sz]ed|dropped|withdr\w+|excluded|lost|remaining|twice|both)\b"
)
_GROUP = re.compile(rf"\bn\s?=\s?#|(?<!:)#\s(?=(?:{_PEOPLE}|to|in|received|were|was|into)\b)")
_SCALE = r"(?:m|bn|k|p|\s?(?:million|billion|thousand))\b"  # of money
_BEFORE = rf"[€$£]?(?P<before>#)(?P<before_is>\s?%|{_SCALE})?"
_AFTER = rf"[€$£]?(?P<after>#)(?P<after_is>\s?%|{_SCALE})?"
_FROM_TO = re.compile(rf"\bfrom\s{_BEFORE}(?:\s[^#.;,()]{{0,25}}?)?\sto\s{_AFTER}")
_TO_FROM = re.compile(rf"\bto\s{_AFTER}\sfrom\s{_BEFORE}")
# Percentages that are of something else than the two numbers.
_OTHERWISE = re.compile(
    r"constant|like-for-like|underlying|organic|annuali[sz]ed|adjust|compound|\bcagr\b"
    r"|\b(?:a|per|each) (?:year|annum|month|week|day)\b"
)
_BY = (
    r"[€$£]?(#)(?!\s?(?:to|–|-)\s?#)"
    rf"(\s?%|\s?percentage|\s?-?fold|\s?times|\s?s\.?d\b|\sstandard|{_SCALE})?"
)
_CHANGE = (
    r"(?:increase|decrease|reduction|rise|fall|drop|decline|difference|improvement|gain|loss"
    r"|change)"
)
_CHANGED = (
    r"(?:increased|decreased|reduced|rose|fell|dropped|declined|improved|gained|lost|changed|grew)"
)
# `from 45 to 52, an increase of 7`; `decreased by 25% from 40 to 30`
_THEN_CHANGE = re.compile(
    rf"(?:\s[^#.;()]{{0,30}}?)?[,(;–—]?\s?\(?(?:[^#.;()]{{0,20}}?\s)?{_CHANGE}\s(?:of|by)\s{_BY}"
)
_CHANGE_BEFORE = re.compile(
    rf"\b(?:{_CHANGE}\sof|{_CHANGED}(?:\sby)?)\s{_BY}(?:\s[^#.;,()]{{0,30}}?)?,?\s?\(?\Z"
)
_RANGE = re.compile(r"\b(?:rang|var|span)[a-z]{1,5}\s(?:[a-z]+\s){0,3}\Z")
_AVERAGE = re.compile(r"\b(?:mean|median|average)\b")
_OF_ANOTHER = re.compile(r"#\s?[(\[]\s?\Z")  # `1,021 (n = 507`: parts of what is just said
_PART_OF = re.compile(r"#\s(?:\w+\s)?(?:[(\[]#\s?%?[)\]]\s)?(?:out\s)?of\s(?:the\s|all\s)?\Z")
SENTENCE = 800  # characters in which groups are listed
BESIDE = 100  # characters in which a change may be stated beside what it is between


def totals_in_text(read: ReadDocument) -> Iterator[Outcome]:
    for piece in read.running():
        if len(piece.numbers) < 3:
            continue
        shape = shape_of(piece)
        taken: set[int] = set()
        for total, parts, are_all in _sums(shape):
            if total in taken or _PART_OF.search(shape.folded, max(total - 40, 0), total):
                continue  # a part of the total, and its parts
            if ROUGHLY.search(shape.folded, max(total - 20, 0), total):
                continue
            stated = [_stated(shape, at) for at in (total, *parts)]
            if not all(is_count(one.number) and one.number.value for one in stated):
                continue
            taken.add(total)
            where = shape.where(total, parts[-1] + 1)
            whole, *values = (int(one.number.value) for one in stated)
            if whole in (sum(values), sum(values[:-1])):  # what is named last may be beside them
                yield Outcome(where)
            elif _is_said_before(shape, total, sum(values)):
                continue  # `13 events in 10 patients: 11 of the one kind and 2 of the other`
            elif is_near(whole, values) or (are_all and _is_meant(whole, sum(values))):
                yield Outcome(where, wrong_sum("NUM111", stated[1:], stated[0]))
            else:
                yield Outcome(where, missing="whether these are all parts")


def _is_meant(total: int, made: int) -> bool:
    """Of all parts: whether the total is another only by a slip, or by less than a half."""
    return abs(total - made) < total / 2 or one_slip(str(total), str(made))


def _is_said_before(shape: Shape, total: int, made: int) -> bool:
    """Whether the parts are of another number of the sentence."""
    start = max(shape.folded.rfind(". ", 0, total), total - SENTENCE, 0)
    return any(
        shape.number(at).value == made for at in range(start, total) if shape.folded[at] == "#"
    )


def _sums(shape: Shape) -> Iterator[tuple[int, Sequence[int], bool]]:
    """A total and its parts, as places in the shape; and whether these are certainly all."""
    text = shape.folded
    for match in _BY_SEX.finditer(text):
        if bool(match[2]) != bool(match[5]):
            yield match.start(), (match.start(1), match.start(4)), True
    for match in _LISTED.finditer(text):
        if not _PARTLY.search(match[0]) and " and #" in match[1]:
            parts = [match.start(1) + at for at, sign in enumerate(match[1]) if sign == "#"]
            yield match.start(), parts, False
    for match in _DIVIDED.finditer(text):
        stop = text.find(". ", match.end(), match.end() + SENTENCE)
        stop = stop if stop >= 0 else match.end() + SENTENCE
        groups = list(_GROUP.finditer(text, match.end(), stop))
        sized = [group for group in groups if group[0].startswith("n")]
        groups = sized if len(sized) >= 2 else groups
        parts = [text.index("#", group.start()) for group in groups]
        if not 2 <= len(parts) <= 6 or _OF_ANOTHER.search(text, match.end(), groups[0].start()):
            continue
        if not _PARTLY.search(text, match.start(), parts[-1] + 20):
            yield match.start(), parts, False


def _stated(shape: Shape, at: int) -> Stated:
    number = shape.number(at)
    return Stated(number, shape.piece.of(number))


def differences_in_text(read: ReadDocument) -> Iterator[Outcome]:
    for piece in read.running():
        if "from" not in piece.text or len(piece.numbers) < 3:
            continue
        shape = shape_of(piece)
        text = shape.folded
        for match in (*_FROM_TO.finditer(text), *_TO_FROM.finditer(text)):
            start, end = match.span()
            if _RANGE.search(text, max(start - 40, 0), start):
                continue
            by = _THEN_CHANGE.match(text, end, end + BESIDE)
            by = by or _CHANGE_BEFORE.search(text, max(start - BESIDE, 0), start)
            if by is None or _AVERAGE.search(by[0]):
                continue
            before, after = (_stated(shape, match.start(name)) for name in ("before", "after"))
            if is_year(before.number) and is_year(after.number):  # it says when
                continue
            change, kind = _stated(shape, by.start(1)), (by[2] or "").strip()
            units = {(match[name] or "").strip() for name in ("before_is", "after_is")}
            are_percentages = "%" in units
            where = shape.where(min(start, by.start()), max(end, by.end()))
            sentence = shape.sentence(min(start, by.start()), max(end, by.end())).lower()
            plain = ("", "%", "percentage") if are_percentages else (*units, "%")
            is_of_both = kind in plain and (are_percentages or len(units) == 1)
            if not is_of_both or (kind == "%" and _OTHERWISE.search(sentence)):
                yield Outcome(where, missing="what it is relative to")
                continue
            kind = "%" if kind == "%" else ""
            first, last = before.number.interval, after.number.interval
            made = [_magnitude(last - first)]
            if kind == "%" and first.low > 0:
                made.append(_magnitude((last - first) / first * 100))
            if any(change.number.interval.meets(one) for one in made):
                yield Outcome(where)
                continue
            if kind == "%" and not are_percentages and first.low <= 0:
                yield Outcome(where, missing="what it is relative to")
                continue
            yield Outcome(where, _wrong_difference(before, after, change, kind, are_percentages))


def _magnitude(interval: Interval) -> Interval:
    if interval.low <= 0 <= interval.high:
        return Interval(0.0, max(-interval.low, interval.high))
    return interval if interval.low > 0 else -interval


def _wrong_difference(
    before: Stated, after: Stated, change: Stated, kind: str, are_percentages: bool
) -> Finding | None:
    first, last = before.number, after.number
    value = abs(float(last) - float(first))
    said = f"|{last.written} − {first.written}|"
    if kind == "%" and not are_percentages:
        value, said = 100 * value / float(first), f"100 · {said} / {first.written}"
    if not isfinite(value):
        return None
    expected, sign = written(value, change.number.precision), " %" if kind == "%" else ""
    places = (before.where, after.where, change.where)
    return Finding(
        "NUM112",
        change.where,
        change.number.written,
        f"From {first.written} to {last.written} is a change of {expected}{sign}, "
        f"not {change.number.written}{sign}.",
        (Evidence(RECOMPUTED, f"{said} = {expected}", places),),
        places,
        Suggestion(expected),
    )


add_rule(
    Rule(
        "NUM111",
        "sum-of-parts",
        "sums",
        "The parts of a total do not make it.",
        "Who reads `120 patients (60 women and 50 men)` does not know where ten are. Only lists "
        "that say all parts are read (both sexes, all groups that were divided into); nothing is "
        "said where a sentence speaks of some of them, or where the sum is far from the total.",
        (
            "We studied 120 patients (60 women and 50 men).",
            "In all, 120 patients were randomised to placebo (n = 60) or the drug (n = 66).",
        ),
        (
            "We studied 120 patients (60 women and 60 men).",
            "In all, 120 patients were randomised to placebo (n = 60) or the drug (n = 60).",
        ),
        "Count again; where some belong to no part, say how many.",
        0.43,
        totals_in_text,
    )
)
add_rule(
    Rule(
        "NUM112",
        "difference",
        "differences",
        "A stated change is not the difference of the two numbers that it is between.",
        "`From 45 to 52, an increase of 9` leaves open which number is right. A change in per cent "
        "may be relative or in percentage points; all three numbers may be rounded. It is silent "
        "on what is adjusted, a year or at constant prices.",
        (
            "The score rose from 45 to 52, an increase of 9.",
            "Use decreased by 12% from 40 to 30.",
        ),
        (
            "The score rose from 45 to 52, an increase of 7.",
            "Use decreased by 25% from 40 to 30.",
        ),
        "Recompute the change from the numbers before they were rounded.",
        0.5,
        differences_in_text,
    )
)
