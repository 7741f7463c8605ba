"""How two numerals stand to each other: equal, rounded, or one slip apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

DIGITS = 10  # of a numeral that are compared; longer ones are alike only if they are equal
_PAD = 200
CLOSE = (0.01, 0.05, 0.2, 0.5, 1.0)  # decades

RELATIONS = (
    "same text",
    "same value",  # written otherwise
    "rounds it",
    "is rounded by it",
    "digit replaced",
    "digits swapped",
    "digit more",
    "digit less",
    "factor 10",
    "other power of ten",
    *(f"within {decades:g} decades" for decades in CLOSE),
    "smaller",
    "same precision",
    "same whole digits",
)
SAME, SAME_VALUE, ROUNDS = map(RELATIONS.index, ("same text", "same value", "rounds it"))
SLIPS_APART = slice(RELATIONS.index("digit replaced"), RELATIONS.index("other power of ten") + 1)


@dataclass(frozen=True, slots=True)
class NumeralColumns:
    """T distinct numerals as arrays."""

    texts: Sequence[str]
    values: np.ndarray  # float64 [T]
    logs: np.ndarray  # float64 [T] decimal logarithms; a little below what is smallest for 0
    precisions: np.ndarray  # int64 [T]
    lengths: np.ndarray  # int64 [T] digits, without the point
    significant: np.ndarray  # int64 [T] digits without zeros at either end; 0: none, or too many
    left: np.ndarray  # uint8 [T, DIGITS] digits from the left
    right: np.ndarray  # uint8 [T, DIGITS] and from the right, the last one first

    @classmethod
    def of(cls, texts: Sequence[str]) -> "NumeralColumns":
        """Of normalised numerals."""
        digits = [text.replace(".", "") for text in texts]
        values = np.array([float(text) for text in texts], dtype=np.float64)
        # A numeral beyond floating point is as large as one can be.
        values = np.minimum(np.nan_to_num(values, posinf=1e300), 1e300)
        precisions = np.array([len(text.partition(".")[2]) for text in texts], dtype=np.int64)
        logs = np.log10(np.where(values > 0, values, 1.0))
        logs = np.where(values > 0, logs, -precisions - 1.0)
        stripped = [text.strip("0") for text in digits]
        significant = [int(text) if 0 < len(text) <= 18 else 0 for text in stripped]
        return cls(
            texts,
            values,
            logs,
            precisions,
            np.array([len(text) for text in digits], dtype=np.int64),
            np.array(significant, dtype=np.int64),
            _matrix([text[:DIGITS] for text in digits]),
            _matrix([text[::-1][:DIGITS] for text in digits]),
        )


def _matrix(digits: list[str]) -> np.ndarray:
    padded = "".join(text.ljust(DIGITS, chr(_PAD - 128)) for text in digits).encode("ascii")
    return np.frombuffer(padded, dtype=np.uint8).reshape(len(digits), DIGITS)


def relations(numerals: NumeralColumns, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How numerals `a` stand to numerals `b`, both rows [K] of the columns: bool [K, RELATIONS]."""
    values, precisions, lengths = numerals.values, numerals.precisions, numerals.lengths
    value_a, value_b, places_a, places_b = values[a], values[b], precisions[a], precisions[b]
    length_a, length_b = lengths[a], lengths[b]
    equal = numerals.left[a] == numerals.left[b]  # [K, DIGITS]
    from_left = np.logical_and.accumulate(equal, axis=1).sum(1)
    shorter = np.minimum(length_a, length_b)
    known = np.maximum(length_a, length_b) <= DIGITS
    from_left = np.minimum(from_left, shorter)
    equal_right = numerals.right[a] == numerals.right[b]
    from_right = np.minimum(np.logical_and.accumulate(equal_right, axis=1).sum(1), shorter)
    same_precision, same_length = places_a == places_b, length_a == length_b
    alike = known & same_precision & same_length
    different = DIGITS - equal.sum(1)  # digits, where both are alike
    same_value = value_a == value_b
    same = same_precision & same_value
    half_a, half_b = (0.5 * 10.0 ** -places.astype(np.float64) for places in (places_a, places_b))
    distance = np.abs(value_a - value_b)
    slack = 1e-9 * np.maximum(value_a, value_b)
    swapped = alike & (different == 2) & (from_left + from_right == length_a - 2)
    first = from_left.clip(max=DIGITS - 2)[:, None]  # of the two that have changed places
    left_a, left_b = numerals.left[a], numerals.left[b]
    for one, other in ((first, first + 1), (first + 1, first)):
        there = np.take_along_axis(left_a, one, 1) == np.take_along_axis(left_b, other, 1)
        swapped &= there[:, 0]
    through = known & (from_left + from_right >= shorter) & ~same_value
    log = numerals.logs[a] - numerals.logs[b]
    power = np.rint(log).astype(np.int64)
    significant = numerals.significant[a]
    scaled = (significant == numerals.significant[b]) & (significant > 0) & ~same_value
    apart = np.abs(log)
    found = [
        same,
        same_value & ~same,
        (places_a < places_b) & (distance <= half_a + slack) & ~same_value,
        (places_b < places_a) & (distance <= half_b + slack) & ~same_value,
        alike & (different == 1),
        swapped,
        through & (length_a == length_b + 1),
        through & (length_a + 1 == length_b),
        scaled & (np.abs(power) == 1),
        scaled & (np.abs(power) > 1),
        *(apart < decades for decades in CLOSE),
        value_a < value_b,
        same_precision,
        length_a - places_a == length_b - places_b,
    ]
    return np.stack(found, axis=1)
