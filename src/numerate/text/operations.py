"""What can be computed from numbers in view. To add an operation, add a line to `OPERATIONS`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

KEY_BASE = 16
"""Precisions that the key of a numeral has room for."""

PRECISIONS = (0, 1, 2, 3)
"""Decimals to which a result may be rounded."""

LARGEST, FINEST = 1e6, 4
"""Larger numbers and those with more decimals are not computed with, so that every result that is
written has few enough digits to be exact."""


Numbers = Any  # an array or a tensor of values, none of them negative: what is asked works for both


def _any(values: Numbers) -> Numbers:
    return values >= 0


def _positive(values: Numbers) -> Numbers:
    return values > 0


def _percentage(values: Numbers) -> Numbers:
    return values <= 100


@dataclass(frozen=True, slots=True)
class Operation:
    """Something to compute from one number or from two. No result is negative.

    Operands are chosen by the roles they play, and operations whose operands play the same roles
    share what is learnt about that. Where both play the same one, their order does not matter.
    """

    name: str
    roles: tuple[str, ...]
    compute: Callable[[np.ndarray, np.ndarray], np.ndarray]
    shown: str  # with the operands in braces
    takes_a: Callable[[Numbers], Numbers] = _any  # which numbers it can be computed of
    takes_b: Callable[[Numbers], Numbers] = _any

    @property
    def operands(self) -> int:
        return len(self.roles)

    @property
    def is_symmetric(self) -> bool:
        return self.operands == 2 and self.roles[0] == self.roles[1]


_FRACTION, _TERMS = ("part", "whole"), ("term", "term")
OPERATIONS = (
    Operation("percentage", _FRACTION, lambda a, b: 100 * a / b, "100 · {a}/{b}", _any, _positive),
    Operation("ratio", _FRACTION, lambda a, b: a / b, "{a}/{b}", _any, _positive),
    Operation(
        "change",
        _FRACTION,
        lambda a, b: 100 * np.abs(a - b) / b,
        "100 · |{a} − {b}|/{b}",
        _any,
        _positive,
    ),
    Operation("difference", _TERMS, lambda a, b: np.abs(a - b), "|{a} − {b}|"),
    Operation("sum", _TERMS, lambda a, b: a + b, "{a} + {b}"),
    # Of clinical reports: a flow in litres from millilitres a beat, and Mosteller's formula.
    Operation("flow", _TERMS, lambda a, b: a * b / 1000, "{a} · {b}/1000"),
    Operation("body surface", _TERMS, lambda a, b: np.sqrt(a * b / 3600), "√({a} · {b}/3600)"),
    Operation("complement", ("complement",), lambda a, _: 100 - a, "100 − {a}", _percentage),
)


def is_computable(values: Numbers, precisions: Numbers) -> Numbers:
    """Say which numbers are computed with at all: bool like the values."""
    return (values <= LARGEST) & (precisions <= FINEST)


def units(values: np.ndarray, precisions: np.ndarray | int) -> np.ndarray:
    """Values in units of the last decimal, rounded half up: int64.

    What floating point leaves just below a half is a half: 0.285 is written 0.29.
    """
    scaled = values * 10.0**precisions
    return np.floor(scaled + 0.5 + np.minimum(1e-9 + 1e-14 * scaled, 1e-3)).astype(np.int64)


def key_of(units: np.ndarray, precisions: np.ndarray | int) -> np.ndarray:
    """Identify a numeral of so many units: int64, the same as in `NumeralTable.keys`."""
    return units * KEY_BASE + precisions


def drop_decimals(units: Numbers, scale: Numbers) -> Numbers:
    """Units of a numeral in units of fewer decimals, `scale` times as large, rounded half up."""
    return (units + scale // 2) // scale


def written(key: int) -> str:
    """The numeral that a key is of; long ones have keys that say nothing."""
    units, precision = divmod(key, KEY_BASE)
    if not precision:
        return str(units)
    digits = f"{units:0{precision + 1}d}"
    return f"{digits[:-precision]}.{digits[-precision:]}"
