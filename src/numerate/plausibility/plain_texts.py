"""What stands in for a dataset where there is none: numerals of all sizes, and some sentences."""

from decimal import Decimal

SMALL = 100  # every whole number up to it
LEADING = ("1", "1.2", "1.5", "2", "2.5", "3", "4", "5", "6", "7", "8", "9")
DECADES = range(-2, 7)
DECIMALS = range(3)
WHOLE = 100  # from here on, without decimals
YEARS = range(1950, 2031, 5)

SENTENCES = (
    "The house was built in 1924 and has 12 rooms on 3 floors.",
    "She ran 10 km in 48 minutes, which is 12.5 km an hour.",
    "Of the 250 people who were asked, 64 % said yes and 90 said no.",
    "The temperature fell from 21.5 to 3 degrees within 2 days.",
)
"""Of no particular kind: they tell which symbol a model expects before a text."""


def plain_candidates() -> tuple[str, ...]:
    """Numerals over the number line: whole ones up to 100, years, round ones of every size."""
    texts = dict.fromkeys(str(number) for number in (*range(SMALL + 1), *YEARS))
    for decade in DECADES:
        for leading in LEADING:
            number = Decimal(leading).scaleb(decade)
            for decimals in DECIMALS:
                written = f"{number:.{decimals}f}"
                if Decimal(written) == number and (not decimals or number < WHOLE):
                    texts[written] = None
    return tuple(texts)
