"""NUM501 to NUM507: values that nothing can have, whatever else is said."""

import re
from collections.abc import Iterator
from functools import partial

from numerate.rules.finding import RECOMPUTED, Evidence, Finding
from numerate.rules.numbers import Number
from numerate.rules.reading import ReadDocument
from numerate.rules.rule import Outcome, Rule, add_rule
from numerate.rules.shape import Shape, shape_of

_PEOPLE = (
    r"(?:patients|participants|subjects|women|men|children|people|persons|individuals|respondents"
    r"|students|infants|adults|volunteers|families|households|mothers|pupils|cases)"
)
_SHARE = re.compile(
    rf"#(?<![-–#]#)\s?(?:%|per\s?cent)\s"
    rf"(?:of\s(?:(?:the|all|these|those|our|eligible|included)\s){{0,2}}(?:\w+\s)?)?{_PEOPLE}\b(?!’|')|#\s?[(\[]\s?#\s?%\s?[)\]]"
)
_NO_UNIT = r"(?!\s?[,.]?\s?#|\s?(?:[%a-z±×*^/’'°]|10\b))"
_P = re.compile(
    r"(?<![\w.])(?:[(,;]\s?|\s)p(?:[\s-]?values?)?(?:\s(?:of|was|is))?\s?[=<≤]\s?[-−–]?\s?#"
    + _NO_UNIT
)
_COUNT = re.compile(rf"(?<=[(,;])\s?n\s?=\s?[-−–]\s?#|(?:(?<=\()[-−–]|(?<=\s)−)#\s{_PEOPLE}\b")
_CORRELATION = re.compile(
    r"(?<![\w.])(?:r|ρ|rho|correlation\scoefficients?(?:\s(?:of|was|is))?)"
    r"(?:\s?=\s?|\s)(?<![rρo]\s)[-−–]?\s?#" + _NO_UNIT
)
_AGE = re.compile(
    r"\baged?\s(?:of\s|was\s|is\s|about\s)?#\s?(?:years?|yrs?|y)\b|#(?<![-–#.]#)[\s-]years?[\s-]olds?\b"
    r"|#(?<![-–#.]#)\s?(?:years?|yrs?)\sof\sage\b"
)
_HUMAN = re.compile(
    rf"\b(?:{_PEOPLE}|patient|woman|man|boy|girl|child|person|infant|volunteers?|he|she|male|female"
    r"|(?:mean|median|average)\sage)\b"
)
_TESTED = re.compile(
    r"signific|differ|\btest|compar|versus|\bvs\b|\bci\b|confidence|anova|χ|correlat|associat"
)
_CORRELATED = re.compile(r"correlat|associat|pearson|spearman|(?<![\w.])p\s?[=<]")
_GROWTH = re.compile(
    r"increas|decreas|grow|grew|\brise|\brose|chang|improv|declin|gain|relative|higher|more than"
)
_CONTEXT = {"NUM502": _TESTED, "NUM504": _CORRELATED, "NUM505": _HUMAN}
_OTHERWISE = re.compile(
    r"\b(?:trees?|fossils?|sediments?|rocks?|ice|carbon|bce?|ancient|samples?|wine|parameters?"
    r"|radius|pressure|barostat|power)\b"
)
_SPREAD = re.compile(
    r"(?<![\w.±/-])(?<![±/-]\s)(?<!and\s)(?:s\.?d\.?|standard\sdeviations?|s\.?e\.?m?\.?|standard\serrors?|variances?)"
    r"(?:\s(?:of|was|is))?\s?[=:]?\s?[-−–]\s?#(?!\s?%?\s?[-–to±(])|±\s?[-−–]\s?#"
)
OLDEST = 122
INFINITE = float("inf")


def _beyond(
    code: str,
    pattern: re.Pattern[str],
    low: float,
    high: float,
    what: str,
    read: ReadDocument,
) -> Iterator[Outcome]:
    """Of every number that stands where a pattern says: whether it lies between the bounds."""
    for piece in read.running():
        if not piece.numbers or (high == INFINITE and not any(n.value < 0 for n in piece.numbers)):
            continue
        shape = shape_of(piece)
        for match in pattern.finditer(shape.folded):
            number = shape.number(match.start() + match[0].rindex("#"))
            where = shape.where(*match.span())
            if code == "NUM503" and not number.is_whole:
                continue
            if low <= number.value <= high:
                yield Outcome(where)
            elif _is_meant(code, shape, match):
                yield Outcome(where, _finding(code, shape, number, what))


def _is_meant(code: str, shape: Shape, match: re.Match[str]) -> bool:
    """Whether the number is what the pattern takes it for, by what the sentence speaks of."""
    sentence = shape.sentence(*match.span()).lower()
    if code == "NUM501":
        return not _GROWTH.search(sentence)
    speaks_of = _CONTEXT.get(code)
    return speaks_of is None or bool(speaks_of.search(sentence) and not _OTHERWISE.search(sentence))


def _finding(code: str, shape: Shape, number: Number, what: str) -> Finding:
    where = shape.piece.of(number)
    sign = "−" if number.value < 0 else ""
    shown = f"{sign}{number.written}"
    evidence = (Evidence(RECOMPUTED, f"{shown}: {what}", (where,)),)
    return Finding(code, where, number.written, f"{shown} cannot be: {what}.", evidence, (where,))


for code, name, statements, pattern, low, high, what, wrong, right, reason, precision in (
    (
        "NUM501",
        "percentage-above-100",
        "shares of people",
        _SHARE,
        0,
        100,
        "a part is at most 100 % of its whole",
        "We found that 120% of patients responded.",
        "We found that 12.0% of patients responded.",
        "A share of people is at most all of them. Growth, and levels relative to others, are not "
        "read.",
        0.5,
    ),
    (
        "NUM502",
        "p-value-above-1",
        "p-values",
        _P,
        0,
        1,
        "a p-value is a probability, from 0 to 1",
        "There was no difference (p = 1.32).",
        "There was no difference (p = 0.32).",
        "A p-value is a probability.",
        0.92,
    ),
    (
        "NUM503",
        "negative-count",
        "negative counts",
        _COUNT,
        0,
        INFINITE,
        "a count is not negative",
        "One group was smaller (n = −12).",
        "One group was smaller (n = 12).",
        "Nothing can be counted less than zero times; often a dash was taken for a minus sign.",
        0.5,
    ),
    (
        "NUM504",
        "correlation-beyond-1",
        "correlations",
        _CORRELATION,
        -1,
        1,
        "a correlation lies between −1 and 1",
        "Weight and height were correlated (r = 1.42).",
        "Weight and height were correlated (r = 0.42).",
        "No correlation is stronger than a perfect one.",
        0.9,
    ),
    (
        "NUM505",
        "age",
        "ages",
        _AGE,
        0,
        OLDEST,
        "nobody has become so old",
        "The mean age was 635 years.",
        "The mean age was 63.5 years.",
        "The oldest person known became 122. Nothing is said of trees, rocks, samples and the "
        "like, or where a sentence names nobody.",
        0.9,
    ),
    (
        "NUM506",
        "negative-spread",
        "negative standard deviations",
        _SPREAD,
        0,
        INFINITE,
        "a standard deviation, error or variance is not negative",
        "The mean was 5.2 (SD = −1.3).",
        "The mean was 5.2 (SD = 1.3).",
        "Spread is a root of squares, or their mean.",
        0.9,
    ),
):
    add_rule(
        Rule(
            code,
            name,
            statements,
            f"A value cannot be: {what}.",
            reason,
            (wrong,),
            (right,),
            "Look the value up; most often a digit or the decimal point is wrong.",
            precision,
            partial(_beyond, code, pattern, low, high, what),
        )
    )
