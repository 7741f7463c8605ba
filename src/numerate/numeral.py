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

DECIMALS = ("point", "comma")
"""Which mark comes before the decimals; the other one may stand between thousands."""

NARROW_SPACES = "\u2009\u202f\u00a0"
"""Thin and no-break spaces, which keep the groups of one number together."""

# Full-width forms (U+FF01..U+FF5E) have one ASCII counterpart each, so translating
# them keeps every offset. Full NFKC would not, and would turn `10⁶` into `106`.
_WIDTH = {0xFF00 + code: 0x20 + code for code in range(1, 0x5F)}

# Words that number things: in `day 84 120 patients` no number goes on after the space.
_LABELS = (
    "age", "aged", "ages", "appendix", "arm", "arms", "chapter", "cohort", "cohorts", "cycle",
    "cycles", "day", "days", "experiment", "experiments", "fig", "figs", "figure", "figures",
    "grade", "grades", "group", "groups", "item", "items", "level", "levels", "month", "months",
    "number", "numbers", "phase", "phases", "section", "sections", "session", "sessions", "stage",
    "stages", "step", "steps", "studies", "study", "table", "tables", "trial", "trials", "type",
    "types", "visit", "visits", "week", "weeks", "year", "years",
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip


NOT_DEGREES = "".join(rf"(?<!\bF{a}[(\[]{b})" for a in ("", " ") for b in ("", " "))
"""A condition: not the degrees of freedom in `F(1,139)`, which are two numbers."""


def fold(text: str) -> str:
    """Full-width letters, digits and marks as plain ones; every offset stays what it was."""
    return text if text.isascii() else text.translate(_WIDTH)


def not_after(words: tuple[str, ...], between: str = "") -> str:
    """A condition: none of these words, in whatever case, stands whole before this place."""
    by_length: dict[int, list[str]] = {}
    for word in words:
        by_length.setdefault(len(word), []).append(word)
    return "".join(
        rf"(?<!(?<![A-Za-z])(?i:{'|'.join(same)}){between})" for same in by_length.values()
    )


def written_numeral(decimal: str = "point") -> str:
    """How numerals stand in text, as a regular expression: thousands groups, decimals, or neither.

    A group cannot start with zero: `0,123` is a decimal comma or a list, not 123. What comes
    before counts where the same signs may mean something else: the two degrees of freedom of
    `F(1,139)`, the end of a sentence in `found.05`, two numbers in `week 12 150 patients`.
    """
    point, comma = (r"\.", ",") if decimal == "point" else (",", r"\.")
    head = "[1-9][0-9]{0,2}+"
    marked = "|".join(f"(?:{mark}[0-9]{{3}})+" for mark in (comma, "[’']", f"[{NARROW_SPACES}]"))
    grouped = rf"{head}(?:{marked})(?![0-9])"
    # A plain space, where nothing else fits: not in a row of numbers, nor after `day`.
    spaced = (
        rf"(?={head} [0-9]{{3}}(?![0-9A-Za-z]))(?<![^\s(\[=<>≤≥~≈£$€+−–—-])(?<![0-9%] )"
        rf"{not_after(_LABELS, ' ')}{head}(?: [0-9]{{3}}){{1,2}}+(?![A-Za-z]| ?[0-9%]|{comma}[0-9])"
    )
    decimals = rf"(?:{point}[0-9]+|[·∙](?!10(?:\^|[⁰¹²³⁴-⁹⁻]|[−–-][0-9]))[0-9]+)?"
    leading = rf"(?<![^\s<>=≤≥⩽⩾~≈∼±+−–—(\[{{/|,;:×*^$£€“‘\"'-]){point}[0-9]++(?!{point}[0-9])"
    if decimal == "comma":  # degrees of freedom are whole, and so have no decimals
        return rf"(?:{NOT_DEGREES}(?:{grouped}|{spaced}|[0-9]+){decimals}|[0-9]+|{leading})"
    return rf"(?:(?:{NOT_DEGREES}{grouped}|{spaced}|[0-9]+){decimals}|{leading})"


_WRITTEN = {decimal: re.compile(written_numeral(decimal)) for decimal in DECIMALS}
_NORMAL = re.compile(r"(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_RAISED_AND_GROUPS = {ord("·"): ".", ord("∙"): "."} | {ord(mark): None for mark in "’' "}
_MARKS = {
    "point": _RAISED_AND_GROUPS | {ord(mark): None for mark in "," + NARROW_SPACES},
    "comma": _RAISED_AND_GROUPS
    | {ord(mark): None for mark in "." + NARROW_SPACES}
    | {ord(","): "."},
}


def normalise(written: str, decimal: str = "point") -> str:
    """Drop thousands separators and leading zeros; trailing zeros carry precision and stay."""
    if not written.isdecimal():
        written = written.translate(_MARKS[decimal])
    whole, point, decimals = written.partition(".")
    return (whole.lstrip("0") or "0") + point + decimals


def count_digits(text: str) -> int:
    return sum(map(str.isdecimal, text))


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
    def parse(cls, written: str, decimal: str = "point") -> "Numeral":
        """Read a numeral as it stands in text: `2,000`, `007`, `1.50`, `.05`."""
        if _WRITTEN[decimal].fullmatch(written) is None:
            raise ValueError(
                f"not a numeral: got {written[:80]!r}, expected digits such as 7, 2,000 or 1.50"
            )
        if count_digits(written) > MAX_DIGITS:
            raise ValueError(
                f"not a numeral: got {count_digits(written)} digits, expected at most {MAX_DIGITS}"
            )
        text = normalise(written, decimal)
        return cls(text, Decimal(text), len(text.partition(".")[2]))

    @property
    def digits(self) -> str:
        """The characters that spell it, without the decimal point."""
        return self.text.replace(".", "")

    def __str__(self) -> str:
        return self.text

    def __float__(self) -> float:
        return float(self.value)
