"""Estimates with their confidence intervals, p-values and standard errors, as sentences state
them: `HR 0.61 (95% CI 0.54 to 0.69; p < 0.001)`."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace

from numerate.rules.numbers import MINUS
from numerate.rules.p_values import PlacedPValue, PValue, p_values_in
from numerate.rules.reading import Piece, ReadDocument
from numerate.rules.scale import Scale, scale_of
from numerate.rules.shape import Shape, shape_of
from numerate.rules.stated import Stated
from numerate.rules.where import Where


@dataclass(frozen=True, slots=True)
class ReportedInterval:
    low: Stated
    high: Stated
    where: Where
    estimate: Stated | None = None
    level: float = 0.95
    scale: Scale | None = None  # where words say which
    p: PValue | None = None
    p_at: Where | None = None
    error: Stated | None = None  # standard
    name: str = ""  # what is written before it and with it
    around: str = ""  # the sentence, or the headers and caption
    in_percent: bool = False  # but for its bounds

    @property
    def written(self) -> str:
        return f"{self.low} to {self.high}"


SIGN = rf"[+{MINUS}]?\s?"
UNIT = (
    r"(?:\s?(?!to\b|and\b|through\b)"
    r"(?:%|°C?|[/-]?[A-Za-zµμΩ][A-Za-zµμΩ/·⋅-]{0,11}(?:\^[−–-]?#|/#)?(?:/[A-Za-z]{1,8})?))"
)
BETWEEN = rf"\s?(?:to|and|through|[,;:—/]|[{MINUS}])\s?"
BOUNDS = (
    rf"(?P<low>{SIGN}(?:[€$£]\s?{SIGN})?\#){UNIT}?(?P<between>{BETWEEN})"
    rf"(?P<high>{SIGN}(?:[€$£]\s?{SIGN})?\#)(?!\s?/\s?#|,#)"
)
IS_INTERVAL = r"(?<![A-Za-z])(?:CIs?(?![A-Za-z])|C\.I\.s?|[Cc]onfidence (?:[Ii]nterval|[Ll]imit)s?)"
_NAME = (
    rf"(?:(?P<level>\#)\s?%[\s-]?(?:[a-zA-Z-]{{4,12}}\s)?{IS_INTERVAL}"
    rf"|{IS_INTERVAL}[\s_(\[]{{0,2}}(?P<later>\#)\s?%[)\]]?|{IS_INTERVAL}(?=\s?[:=,(\[]|\s{SIGN}\#))"
    r"(?:\s?[(\[](?:\#%\s?)?CIs?[)\]])?"
)
_LEVEL = re.compile(r"#\s?%[\s-]?(?:[a-zA-Z-]{4,12}\s)?\Z")
_DIRECT = re.compile(
    rf"{_NAME}(?P<of>[)\]]?(?:[\s:=,;]|of|was|is|were|from|between|ranging|for|the|difference|in){{0,8}}+"
    rf"[(\[{{]?\s?){BOUNDS}(?P<unit>\s?%)?(?!\s?%?[,;]?\s?CI)(?!\s?%?,?\s(?:and\s)?#\s?%)"
)
# `relative risk, 95% CI 4.10, 1.32–12.75`, `(HR; 95% CI: 1.19; 0.94–1.50)`
_ESTIMATE_FIRST = re.compile(
    rf"{_NAME}[)\]]?[\s:=,;]{{0,3}}+(?P<estimate>{SIGN}\#){UNIT}{{0,2}}[,;]\s"
    rf"(?P<low>{SIGN}\#)(?P<between>\s?(?:to|[{MINUS}])\s?)(?P<high>{SIGN}\#)"
)
_WITH_ESTIMATE = re.compile(
    rf"{_NAME}[)\]]?[^#.;]{{0,50}}?(?P<estimate>{SIGN}\#){UNIT}{{0,2}}\s?[(\[]\s?{BOUNDS}\s?%?\s?[)\]]"
)
_ANOTHER = re.compile(
    rf"[^#.;]{{0,30}}?(?P<estimate>{SIGN}\#){UNIT}{{0,2}}\s?[(\[]\s?{BOUNDS}\s?%?\s?[)\]]"
)
_BESIDE = r"(?:[nN]|S\.?[DE]\.?M?|s\.[de]\.|Wald|d\.?f\.?|median|range|max|min|ES|[Ee]ffect size)"
_DEGREES = r"\s?_?\s?(?:[(\[]\s?\#(?:\s?,\s?\#)?\s?[)\]]|[0-9.]{1,7}(?:,\s?[0-9.#]{1,7})?)"
_BESIDE = rf"(?:{_BESIDE}|[tTzZF](?:{_DEGREES})?)"
_SIDES = r"(?:(?:two|one|\#)[\s-]?(?:sided|tailed)\s?)?"
_CLAUSE = (
    r"[\s,;:(\[]{1,3}[pP](?:[\s-]?[vV]alue)?\s?[=<>≤≥]{1,2}\s?\#"
    rf"|[\s,;:(\[]{{1,3}}{_BESIDE}\s?[=:]?\s?{SIGN}\#"
)
_CLAUSES = re.compile(_CLAUSE)
_ESTIMATE = re.compile(
    rf"(?P<estimate>{SIGN}(?:[€$£]\s?)?\#)(?P<unit>{UNIT}{{0,3}})(?P<clauses>(?:{_CLAUSE}){{0,3}})"
    rf"[\s,;:]{{0,2}}[(\[]?\s?(?:with\s(?:a\s)?)?{_SIDES}\Z"
)
_SUMMARY = re.compile(
    r"\b(?:of|patients|participants|subjects|women|men|children|cases|events|deaths|and|versus|vs"
    r"|to|in|with|for|from|among|had|were|was|who|the|or|groups?|at|by|on|after|times|bootstrap\w*"
    r"|resampl\w*)\b|^[a-z]{1,2}[A-Z]"  # `2hG`
)
_DOUBTFUL = re.compile(
    r"(?:\b(?:versus|vs?\.?|from|to|than|between|or|range|per|at|after|within|over|during|arms?|groups?"
    r"|[Tt]ime|[Dd]ay|[Ww]eek|[Pp]hase|[Ss]tudy|[Ee]xperiment"
    rf"|[Pp](?:[\s_-]{{1,2}}[a-z]{{1,12}}){{0,3}}|{_BESIDE}\s?,?)\s?[=:<>]?"
    rf"|[/±^≥≤<>{MINUS}]|\b(?:versus|vs?\.)[^#,;]{{0,25}}|#(?!\s?%)[^#]{{0,20}}\bof)\s?[€$£]?\Z"
)
_ERROR = re.compile(
    r"\b(?:SE|S\.E\.|SEM|s\.e\.|[Ss]tandard error)\s?(?:of|was|is|=|:)?\s?(?P<error>\#)"
)
_AFTER = re.compile(r"\s?%?[\s)\],;:(\[]{0,4}(?:[a-z -]{0,24}[\s,:])?")
_NAMED = re.compile(IS_INTERVAL)
_DIFFERENCE = re.compile(r"differen|change|reduc|increas|decreas|Δ|effect|minus", re.IGNORECASE)
_OF_INTERVAL = re.compile(rf"[(\[]?#\s?%\s?{IS_INTERVAL}[)\]]?")
_SHARE = re.compile(rf"{SIGN}#\s?%")
_TWICE = re.compile(r"\s?#\s?%\s#\s?%")
_SEVERAL = re.compile(r"[^.;]{0,60}\band\b[^.;]{0,60}\brespectively")
REACH = 140
LEVELS = (80, 90, 95, 99)


def intervals_in_text(read: ReadDocument) -> Iterator[ReportedInterval]:
    for piece in read.pieces():
        text = piece.text
        if "CI" in text or "C.I." in text or "onfidence" in text:
            yield from _in_piece(piece)


def _in_piece(piece: Piece) -> Iterator[ReportedInterval]:
    shape = shape_of(piece)
    text = shape.text
    p_values = list(p_values_in(shape))
    starts = [placed.start for placed in p_values]
    at = 0
    while at < len(text) and (named := _NAMED.search(text, at)):
        at = named.end()
        level = _LEVEL.search(text, max(0, named.start() - 20), named.start())
        start = level.start() if level else named.start()
        if first := _ESTIMATE_FIRST.match(text, start, at + REACH):
            estimate = first.start("estimate"), first.end("estimate") - 1
            yield _interval(shape, first, estimate, p_values, starts)
            at = first.end()
            continue
        if direct := _DIRECT.match(text, start, at + REACH):
            of_many = "between" in direct["of"] or "ranging" in direct["of"]
            before = None if of_many else _estimate_before(shape, direct.start())
            yield _interval(shape, direct, before, p_values, starts)
            at = direct.end()
            continue
        match = first = _WITH_ESTIMATE.match(text, start, at + REACH)
        while match:
            estimate = match.start("estimate"), match.end("estimate") - 1
            yield _interval(shape, match, estimate, p_values, starts, first)
            at = match.end()
            match = _ANOTHER.match(text, at, at + REACH)


def _estimate_before(shape: Shape, start: int) -> tuple[int, int] | None:
    """From where to where its name and number stand before the interval."""
    text = shape.text
    match = _ESTIMATE.search(text, max(0, start - REACH), start)
    if match is None or _SUMMARY.search(match["unit"]):
        return None
    number = match.end("estimate") - 1
    if match["estimate"][0] in MINUS and shape.number(number).value >= 0:
        return None  # the end of a range
    return match.start("estimate"), number


def _interval(
    shape: Shape,
    match: re.Match[str],
    estimate: tuple[int, int] | None,
    p_values: list[PlacedPValue],
    starts: list[int],
    level: re.Match[str] | None = None,
) -> ReportedInterval:
    text, piece = shape.text, shape.piece
    low, high = bounds_at(shape, match)
    named = level or match
    said = next((shape.number(named.start(g)) for g in ("level", "later") if named[g]), None)
    begin = estimate[0] if estimate else match.start()
    name_start = max(0, begin - 90, text.rfind(". ", max(0, begin - 90), begin) + 1)
    before = text[name_start:begin]
    around = shape.sentence(begin, match.end())
    between = text[begin : match.start("low")]
    placed = None
    if estimate is not None and not _DOUBTFUL.search(text, max(0, begin - 90), begin):
        number = shape.number(estimate[1])
        is_level = number.value in LEVELS and (said is None or _TWICE.match(between))  # `95 CI`
        if not is_level and not (
            _is_of_another(before, between, match, low, high) or _SEVERAL.match(text, match.end())
        ):
            placed = Stated(number, piece.of(number))
    found = ReportedInterval(
        low,
        high,
        shape.where(begin, match.end()),
        placed,
        float(said) / 100 if said is not None and 50 <= said.value < 100 else 0.95,
        scale_of(_OF_INTERVAL.sub(" ", before), between, has_percent="%" in _written_bounds(match)),
        in_percent=_SHARE.match(between) is not None and "%" not in _written_bounds(match),
        around=around,
        name=f"{before[-45:]} {text[begin : match.end() + 2]}",
    )
    if error := _ERROR.search(text, begin, match.start("low")):
        number = shape.number(error.start("error"))
        found = replace(found, error=Stated(number, piece.of(number)))
    p = _p_of(text, (begin, match.end()), p_values, starts)
    if p is not None:
        p_at = None if p.number is None else piece.of(p.number)
        found = replace(found, p=p, p_at=p_at)
    return found


def _is_of_another(
    before: str, between: str, match: re.Match[str], low: Stated, high: Stated
) -> bool:
    """Of two groups' difference, where the number before it is the second group's, or of an effect
    that a percentage is only said beside."""
    if _DIFFERENCE.search(before):
        return False
    if "differen" in between:
        return True
    if not _SHARE.match(between):
        return False
    is_bare = "%" not in _written_bounds(match) and _CLAUSES.search(between) is not None
    return float(low) < 0 < float(high) or is_bare


def _written_bounds(match: re.Match[str]) -> str:
    return match[0][match.start("low") - match.start() :]


def bounds_at(shape: Shape, match: re.Match[str]) -> tuple[Stated, Stated]:
    """The second one is not negative for the dash between them, `0.5 -0.7`, but after a smaller
    one, `−0.7 −0.5`; both are for one that joins them to a word: `CI-0.3 to-0.1`."""
    low, high = (shape.number(match.end(name) - 1) for name in ("low", "high"))
    signs, between = {*MINUS}, match["between"]
    has_sign = bool({*match["high"]} & signs)
    if high.value < 0 and not has_sign:
        joined = between[0] == " " != between[-1]
        if not (joined and low.value < high.value):
            high = replace(high, value=-high.value)
    elif high.value > 0 and has_sign and (not {*between} & signs or low.value <= -high.value):
        high = replace(high, value=-high.value)
    is_signed = match["low"][0] in signs and (match["low"][1] == "#" or low.value > high.value)
    if low.value > 0 and is_signed:
        low = replace(low, value=-low.value)
    if low.stop == low.end and high.stop != high.end:  # `1.1–2.7 × 10^−9`
        power = len(high.written.partition(".")[2]) - high.precision
        low = replace(low, value=low.value.scaleb(power), precision=low.precision - power)
    return Stated(low, shape.piece.of(low)), Stated(high, shape.piece.of(high))


def _p_of(
    text: str, span: tuple[int, int], p_values: list[PlacedPValue], starts: list[int]
) -> PValue | None:
    """Said between the estimate and the interval, or right after it."""
    start, end = span
    index = bisect_left(starts, start)
    for placed in p_values[index : index + 2]:
        if placed.end <= end:
            return placed.p
        if placed.start >= end and placed.start <= end + 40:
            return placed.p if _AFTER.fullmatch(text, end, placed.start) else None
    return None
