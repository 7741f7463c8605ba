"""p-values as they are written: `p < .001`, `P=0.049`, `p = n.s.`, `P-value of 0.02`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from numerate.rules.numbers import Number
from numerate.rules.reading import Piece
from numerate.rules.rounding import Interval
from numerate.rules.shape import Shape, shape_of
from numerate.rules.table_columns import MARKS

BELOW, EQUAL, ABOVE = "<", "=", ">"
USUAL_LEVEL = 0.05
_TWICE = 0.05  # of the last digit, by which a p-value that was rounded twice may be off
_FINE = 3  # decimals of `p = 0.001`, which is written for all that is smaller too

_LABEL = (
    r"[\s_-]?[({]?(?i:corr\w{0,7}|adj\w{0,5}|fdr\w{0,10}|fwer?|bonf\w{0,8}|holm|tukey|dunn\w{0,3}|perm\w{0,9}"
    r"|boot\w{0,8}|exact|sidak|trend|int\w{0,9}|unc\w{0,9}|raw|(?:one|two)-(?:tailed|sided))[)}]?"
    r"|[_-]?[A-Z][A-Za-z]{1,10}|[\s_-]for[ -][a-z]{4,12}"
)
_P_VALUE = re.compile(
    rf"(?<![A-Za-z0-9^_&])[pP](?:(?P<label>{_LABEL})?\s?(?P<relation>(?:[=<>≤≥⩽⩾≦≧≪≈∼~]\s?){{1,2}}|:\s?)"
    rf"|[\s‐–-]?[vV]al(?:ue)?s?(?P<later>{_LABEL})?"
    r"\s?(?P<said>(?:[=<>≤≥⩽⩾≦≧≪≈∼~]\s?){1,2}|(?:was|of|is)\s|:\s?))"
    r"(?P<value>\#|[nN]\.?[sS]\b\.?)"
)
_CELL = re.compile(
    r"\s?(?:[pP]\s?)?(?P<relation>(?:[=<>≤≥⩽⩾≦≧≪≈∼~]\s?){0,2})"
    rf"(?P<value>#|[nN]\.?[sS]\.?){MARKS}"
)
P_HEADER = re.compile(
    r"(?:\w+[’']s |wald )?[pP](?:[\s-]{0,2}val(?:ue)?s?\.?)?"
    r"(?: ?\(?(?:two|2)[- ](?:tailed|sided)\)?)?"
    r"|sig(?:nificance|\.)?|pr ?\( ?> ?\|?[ftzχc].{0,5}\)|sig\. ?\(2-tailed\)"
)
_CORRECTED = re.compile(
    r"correct(?:ed|ions?) (?:for|p|at|α|alpha|threshold|signific)|[- ]corrected\b|\bcorrection"
    r"|adjusted[- ]p|# (?:adjusted|corrected)\s?[);,]"
    r"|(?:p|signific\w+)[\w -]{0,12} (?:was|were) (?:adjusted|corrected)"
    r"|\bFDR|\bFWE|\bFWER|false discovery|family-?wise|[Bb]onferroni|\bHolm|Hochberg|Tukey|Dunn"
    r"|Scheff|[SŠ]id[aá]k|Benjamini|Games-Howell|[Pp]ermut|[Bb]ootstrap|[Ss]imulat|Monte Carlo"
    r"|multiple (?:comparison|test|hypothes)|[qQ][- ]value|andomi[sz]ation test"
    r"|Fisher.s exact|[Ee]xact (?:test|p|P|Fisher|Mann|Wilcoxon)|Greenhouse|Huynh",
)
_CORRECTED_LABEL = re.compile("corr|adj|fdr|fwe|bonf|holm|tukey|dunn|perm|boot|exact|sidak", re.I)


@dataclass(frozen=True, slots=True)
class PValue:
    """`number` is None where it is only said not to be significant."""

    relation: str
    number: Number | None
    label: str = ""  # `corr`, `trend`

    @property
    def interval(self) -> Interval:
        """All that it may be, rounded or cut off; above 1 where it cannot be one."""
        if self.number is None:
            return Interval(USUAL_LEVEL, 1.0)
        # `p < 0.05` is a level; `p < 0.000`, `p < 3.4e-13` and `p > 0.080` are rounded
        is_level = self.number.value and len(self.number.value.as_tuple().digits) == 1
        number, unit = self.number.rounded, 10.0**-self.number.rounded.precision
        if self.relation == BELOW:
            return Interval(0.0, float(number) if is_level else number.interval.high)
        if self.relation == ABOVE:
            low = float(number) if is_level else number.interval.low
            return Interval(low, max(float(number), 1.0))
        if number.precision >= _FINE and number.value == Decimal(1).scaleb(-number.precision):
            return Interval(0.0, float(number) + unit)
        low = max(float(number) - (0.5 + _TWICE) * unit, 0.0)
        is_cut_off = number is self.number  # and not with a zero appended
        return Interval(low, float(number) + unit if is_cut_off else number.interval.high)

    @property
    def is_corrected(self) -> bool:
        return _CORRECTED_LABEL.search(self.label) is not None

    def __str__(self) -> str:
        if self.number is None:
            return "p not significant"
        has_power = self.number.stop != self.number.end
        shown = f"{float(self.number):.3g}" if has_power else self.number.written
        return f"p {self.relation} {shown}"


@dataclass(frozen=True, slots=True)
class PlacedPValue:
    """`start` to `end` of a shape."""

    start: int
    end: int
    p: PValue


def is_corrected(text: str) -> bool:
    """Whether it speaks of p-values that do not follow from their statistic alone: for many
    comparisons, by permutation, by enumeration."""
    return _CORRECTED.search(text) is not None


def relation_of(signs: str) -> str:
    if "<" in signs or set(signs) & set("≤⩽≦≪"):
        return BELOW
    return ABOVE if ">" in signs or set(signs) & set("≥⩾≧") else EQUAL


def p_value_of_cell(piece: Piece) -> PValue | None:
    """`0.049`, `<.001***`, `ns`, in a column of p-values."""
    shape = shape_of(piece)
    match = _CELL.fullmatch(shape.text)
    if match is None:
        return None
    if match["value"] != "#":
        return PValue(ABOVE, None)
    number = shape.number(match.start("value"))
    if number.value < 0:
        return None
    return PValue(relation_of(match["relation"]), number)


def p_values_in(shape: Shape) -> Iterator[PlacedPValue]:
    for match in _P_VALUE.finditer(shape.text):
        number = shape.number(match.start("value")) if match["value"] == "#" else None
        if number is not None and number.value < 0:
            continue
        relation = relation_of(match["relation"] or match["said"]) if number else ABOVE
        label = match["label"] or match["later"] or ""
        yield PlacedPValue(*match.span(), PValue(relation, number, label))
