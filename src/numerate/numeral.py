"""Numerals: the strings that write numbers.

A *numeral* is text (`1.50`), a *number* is its value (1.5). Two numerals may write
the same number with different precision, so the text is what identifies a numeral,
and its digits are always taken from the text, never from floating-point arithmetic.
"""

import re
from dataclasses import dataclass, field
from decimal import Decimal

MAX_DIGITS = 32
"""A longer string of digits is an identifier, that is, a word."""

WRITTEN_NUMERAL = r"(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?"
"""How numerals stand in text: optional thousands groups, optional decimal part.

A group cannot start with zero: `0,123` is a decimal comma or a list, not 123.
"""

_WRITTEN = re.compile(WRITTEN_NUMERAL)
_NORMAL = re.compile(r"(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")


def normalise(written: str) -> str:
    """Drop thousands separators and leading zeros; trailing zeros carry precision and stay."""
    whole, point, decimals = written.replace(",", "").partition(".")
    return (whole.lstrip("0") or "0") + point + decimals


def count_digits(text: str) -> int:
    return len(text) - text.count(",") - text.count(".")


def is_numeral(text: str) -> bool:
    """Whether `text` is a normalised numeral, as the tokenizer writes numerals."""
    return _NORMAL.fullmatch(text) is not None and count_digits(text) <= MAX_DIGITS


@dataclass(frozen=True, slots=True, order=False)
class Numeral:
    """A normalised numeral with its exact value and its precision (decimals written)."""

    text: str
    value: Decimal = field(compare=False)
    precision: int = field(compare=False)

    @classmethod
    def parse(cls, written: str) -> "Numeral":
        """Read a numeral as it stands in text: `2,000`, `007`, `1.50`."""
        if _WRITTEN.fullmatch(written) is None:
            raise ValueError(
                f"not a numeral: got {written[:80]!r}, expected digits such as 7, 2,000 or 1.50"
            )
        if count_digits(written) > MAX_DIGITS:
            raise ValueError(
                f"not a numeral: got {count_digits(written)} digits, expected at most {MAX_DIGITS}"
            )
        text = normalise(written)
        return cls(text, Decimal(text), len(text.partition(".")[2]))

    @property
    def digits(self) -> str:
        """The characters that spell it, without the decimal point."""
        return self.text.replace(".", "")

    def __str__(self) -> str:
        return self.text

    def __float__(self) -> float:
        return float(self.value)
