"""Parts and the total that they are said to make."""

from collections.abc import Sequence
from decimal import Decimal

from numerate.rules.finding import RECOMPUTED, Evidence, Finding, Suggestion
from numerate.rules.one_slip import one_slip
from numerate.rules.stated import Stated


def wrong_sum(code: str, parts: Sequence[Stated], total: Stated, where: str = "") -> Finding:
    """Of numbers that do not add up; the one is suspected that would be right but for a slip."""
    values = [part.number.value for part in parts]
    made, stated = sum(values, Decimal(0)), total.number.value
    wrong, meant = total, made
    if not one_slip(total.number.written, f"{made:f}"):
        for part, value in zip(parts, values, strict=True):
            other = stated - made + value
            if other >= 0 and part.is_numeral and one_slip(part.number.written, f"{other:f}"):
                wrong, meant = part, other
                break
    arithmetic = f"{' + '.join(f'{value:,}' for value in values)} = {made:,}"
    return Finding(
        code,
        wrong.where,
        wrong.number.written,
        f"The parts make {made:,}, not {stated:,}.",
        (Evidence(RECOMPUTED, f"{arithmetic}{where}", tuple(s.where for s in [*parts, total])),),
        tuple(s.where for s in [*parts, total] if s.is_numeral),
        Suggestion(as_written_like(wrong.number.written, meant)),
    )


def as_written_like(written: str, value: Decimal | int) -> str:
    """With commas between thousands, where those were."""
    return f"{value:,}" if "," in written else f"{Decimal(value):f}"


def is_near(total: int, parts: Sequence[int]) -> bool:
    """Whether a sum that is not the total may have been meant as it: some parts may be unsaid."""
    made = sum(parts)
    if abs(made - total) <= max(2, total // 20):
        return True
    if min(made, total) > 9 and one_slip(str(total), str(made)):
        return True
    return any(
        part > 9 and total - made + part > 9 and one_slip(str(part), str(total - made + part))
        for part in parts
    )
