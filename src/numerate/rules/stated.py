"""A number together with where it stands."""

from dataclasses import dataclass

from numerate.rules.numbers import Number
from numerate.rules.rounding import Interval
from numerate.rules.where import Where


@dataclass(frozen=True, slots=True)
class Stated:
    """One in words (`Seventeen`) is no numeral to be found."""

    number: Number
    where: Where

    @property
    def is_numeral(self) -> bool:
        return self.number.written[0] in "0123456789."

    @property
    def interval(self) -> Interval:
        return self.number.interval

    def __float__(self) -> float:
        return float(self.number)

    def __str__(self) -> str:
        return ("−" if self.number.value < 0 else "") + self.number.written
