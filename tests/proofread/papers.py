"""Texts to proofread, and models that say what they are told to."""

from collections.abc import Sequence

from numerate.detector.scored import Scored, Told
from numerate.documents.document import Document, Table
from numerate.rules.numbers import numbers_in
from numerate.rules.where import Where

RIGHT = "The groups differed, t(28) = 2.20, p = 0.036."
WRONG = "The groups differed, t(28) = 2.20, p = 0.36."
TABLE = """| Term | t | df | p |
|---|---|---|---|
| Age | 2.05 | 28 | 0.49 |
| Sex | 2.05 | 28 | 0.05 |"""
PAPER = f"""All <b>was</b> well & "fine" in 1999.

{WRONG} A test without them is t = 3.10.

Table 1. Coefficients

{TABLE}
"""


class FakeDetector:
    """Log odds by numeral; of others, hardly any."""

    name = "fake"
    finest_alarms = 0.0005

    def __init__(self, **odds: float) -> None:
        self.odds = {
            name.removeprefix("_").replace("_", "."): value for name, value in odds.items()
        }

    def log_odds(
        self, document: Document, tables: Sequence[Table], told: Told | None = None
    ) -> list[Scored]:
        if told is not None:
            told(len(document.paragraphs))
        return [
            Scored(
                Where(number.start, number.end, paragraph=index),
                number.written,
                self.odds.get(number.written, -9.0),
                0.5 if number.written not in self.odds else 0.001,
            )
            for index, paragraph in enumerate(document.paragraphs)
            for number in numbers_in(paragraph.text)
        ]
