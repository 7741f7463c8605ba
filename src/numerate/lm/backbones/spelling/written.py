"""How text writes a numeral, and what could carry it on."""

import re

from numerate.numeral import fold, normalise

_SPELLED = re.compile(r"(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?")


def written_forms(numeral: str) -> tuple[str, ...]:
    """A numeral as text may write it: plain, and in thousands groups."""
    whole, point, decimals = numeral.partition(".")
    if len(whole) < 4:
        return (numeral,)
    return numeral, f"{int(whole):,}" + point + decimals


def spelled_form(written: str, numeral: str) -> str:
    """A numeral as it stands in text, in a form that can be spelled: the same, if it can.

    `.05` becomes `0.05`; `1’000`, and `1.000` beside a decimal comma, become `1,000`.
    """
    written = fold(written)
    if _SPELLED.fullmatch(written) and normalise(written) == numeral:
        return written
    marks = sum(not is_digit(character) for character in written)
    return written_forms(numeral)[-1] if marks > ("." in numeral) else numeral


def may_group(written: str) -> bool:
    """Whether a comma and digits after it would belong to the numeral."""
    return bool(re.fullmatch(r"[1-9][0-9]{0,2}(?:,[0-9]{3})*", written))


def goes_on(written: str, text: str) -> bool | None:
    """Whether text after a numeral carries it on; None where only what follows can tell."""
    mark = text[0]
    may = {".": "." not in written, ",": may_group(written)}.get(mark, is_digit(mark))
    if not may or is_digit(mark):
        return may
    return is_digit(text[1]) if len(text) > 1 else None


def is_digit(character: str) -> bool:
    return "0" <= character <= "9"
