"""Numerals as arrays: what any head needs to know of them, computed once per table.

A corpus has far fewer distinct numerals than numeral tokens. The table holds the distinct
ones; a batch is a list of rows of the table, laid out for recurrent networks that read
or write digits.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor, nn

from numerate.lm.data.packing import Packing, Padded, move_together, pack, packed
from numerate.numeral import MAX_DIGITS, Numeral
from numerate.text.operations import KEY_BASE

SYMBOLS = "0123456789."
POINT, END = 10, 11
START = END  # as an input, the twelfth symbol means that nothing is written yet
SYMBOL_COUNT = 12  # ten digits, the point, the end: nothing else can be written
LONGEST = MAX_DIGITS + 2  # with point and end
_KEYED_DIGITS = 16  # more have no room
# Symbols and decimals, ends included, of padded layouts: most numerals fit the first.
PADDED_STEPS = ((8, 6), (12, 8), (LONGEST, MAX_DIGITS + 1))
_CODE = np.full(128, END, dtype=np.int64)
for _index, _symbol in enumerate(SYMBOLS):
    _CODE[ord(_symbol)] = _index


@dataclass(frozen=True, slots=True)
class DigitStrings:
    """N numerals of a table, in any order, with repetitions, for a network that reads them."""

    table: "NumeralTable"
    rows: Tensor  # [N] rows of the table
    symbols: Tensor  # [S] digits, point and end of each numeral
    digits: Packing

    def __len__(self) -> int:
        return self.rows.shape[0]

    @property
    def known(self) -> Tensor:  # [N] ids in the vocabulary's numeral partition, 0 for the unknown
        return self.table.on_device("known").index_select(0, self.rows)

    @property
    def values(self) -> Tensor:  # float64 [N]
        return self.table.on_device("values").index_select(0, self.rows)

    @property
    def half_widths(self) -> Tensor:  # float64 [N]
        return self.table.on_device("half_widths").index_select(0, self.rows)

    @property
    def precisions(self) -> Tensor:  # [N]
        return self.table.on_device("precisions").index_select(0, self.rows)

    @property
    def keys(self) -> Tensor:  # [N]
        return self.table.on_device("keys").index_select(0, self.rows)

    @property
    def texts(self) -> list[str]:
        """As they are written; waits for the device."""
        return [self.table.texts[row] for row in self.rows.tolist()]


@dataclass(frozen=True, slots=True)
class NumeralBatch(DigitStrings):
    """The same for a network that writes them."""

    previous: Tensor  # [S] the symbol before each, START before the first
    decimals: Packing  # one element per decimal and one for the end


@dataclass(frozen=True, slots=True)
class NumeralArrays:
    """Numerals as integer arrays, and how many strings of digits and decimals go on at a step."""

    arrays: dict[str, np.ndarray]
    digit_sizes: tuple[int, ...] = ()
    decimal_sizes: tuple[int, ...] = ()


class NumeralTable:
    """Distinct numerals with their symbols, values, precisions and vocabulary ids."""

    def __init__(self, texts: Sequence[str], numeral_ids: dict[str, int] | None = None) -> None:
        numerals = [Numeral.parse(text) for text in texts]
        self.texts = [numeral.text for numeral in numerals]
        ids = numeral_ids or {}
        self.known = np.array([ids.get(text, 0) for text in self.texts], dtype=np.int64)
        self.values = np.array([float(numeral) for numeral in numerals], dtype=np.float64)
        self.precisions = np.array([numeral.precision for numeral in numerals], dtype=np.int64)
        # Lengths count the end symbol.
        self.lengths = np.array([len(text) + 1 for text in self.texts], dtype=np.int64)
        padded = "".join(text.ljust(LONGEST) for text in self.texts)  # a blank codes as END
        codes = _CODE[np.frombuffer(padded.encode("ascii"), dtype=np.uint8)]
        self.symbols = codes.reshape(len(self.texts), LONGEST)  # [T, LONGEST]
        self._previous = np.roll(self.symbols, 1, axis=1)
        self._previous[:, 0] = START
        self.device = torch.device("cpu")
        self._on_device: dict[str, Tensor] = {}
        self._constants: WeakKeyDictionary[nn.Module, tuple[object, Tensor]] = WeakKeyDictionary()

    @classmethod
    def of_text(cls, texts: Iterable[str], numeral_ids: dict[str, int]) -> "NumeralTable":
        """The distinct numerals of a text, the longest first: what recurrent networks want."""
        return cls(sorted(set(texts), key=lambda text: (-len(text), text)), numeral_ids)

    def __len__(self) -> int:
        return len(self.texts)

    def to(self, device: torch.device) -> "NumeralTable":
        if device != self.device:  # another thread may be using what was there
            self.device, self._on_device, self._constants = device, {}, WeakKeyDictionary()
        return self

    def on_device(self, column: str) -> Tensor:
        """One of the arrays as a tensor where the table is; moved once."""
        found = self._on_device.get(column)
        if found is None:
            found = torch.from_numpy(getattr(self, column)).to(self.device)
            self._on_device[column] = found
        return found

    @cached_property
    def keys(self) -> np.ndarray:
        """An integer that identifies each numeral, in whatever table: int64 [T].

        Units of the last decimal, then the precision, so that one can compute with it; negative,
        and without meaning, where a numeral has too many digits for that.
        """
        return np.array([_key(text) for text in self.texts], dtype=np.int64)

    @cached_property
    def half_widths(self) -> np.ndarray:
        """Half the distance to the next numeral of the same precision: float64 [T]."""
        found: np.ndarray = 0.5 * 10.0 ** -self.precisions.astype(np.float64)
        return found

    def intervals(self) -> tuple[Tensor, Tensor]:
        """What each numeral stands for, a value ± half a unit: float64 [T]."""
        return self.on_device("values"), self.on_device("half_widths")

    def constant(
        self, owner: nn.Module, version: object, compute: Callable[["NumeralTable"], Tensor]
    ) -> Tensor:
        """What a module derives from the numerals alone, without trained weights.

        Kept as long as `version` stays the same: it says what else the result depends on.
        """
        kept = self._constants.get(owner)
        if kept is None or kept[0] != version:
            with torch.no_grad():
                kept = (version, compute(self))
            self._constants[owner] = kept
        return kept[1]

    def all(self) -> NumeralBatch:
        return self.batch(np.arange(len(self)))

    def batch(self, rows: np.ndarray) -> NumeralBatch:
        numerals = self.writing_arrays(rows)
        return self.written(numerals, move_together(numerals.arrays, self.device))

    def padded_steps(self) -> np.ndarray:
        """The first of `PADDED_STEPS` in which each numeral has room: [T]."""
        fits = [(self.lengths <= s) & (self.precisions < d) for s, d in PADDED_STEPS]
        first: np.ndarray = np.argmax(fits, axis=0)
        return first

    def padded_batch(self, rows: Tensor, steps: tuple[int, int]) -> NumeralBatch:
        """Rows that are on the device [N], laid out there in a shape that no value decides."""
        symbol_steps, decimal_steps = steps
        symbols = self.on_device("symbols").index_select(0, rows)[:, :symbol_steps].T.flatten()
        count = rows.shape[0]
        return NumeralBatch(
            self,
            rows,
            symbols,
            Padded(self.on_device("lengths").index_select(0, rows), symbol_steps),
            torch.cat([symbols.new_full((count,), START), symbols[:-count]]),
            Padded(self.on_device("precisions").index_select(0, rows) + 1, decimal_steps),
        )

    def reading_arrays(self, rows: np.ndarray) -> NumeralArrays:
        """What a network needs that reads these numerals."""
        digits = pack(self.lengths[rows])
        symbols = self.symbols[rows[digits.arrays["owners"]], digits.steps]
        return NumeralArrays(
            {"rows": rows, "symbols": symbols, **digits.named("digits")}, digits.sizes
        )

    def writing_arrays(self, rows: np.ndarray) -> NumeralArrays:
        """What a network needs that writes these numerals."""
        digits, decimals = pack(self.lengths[rows]), pack(self.precisions[rows] + 1)
        places = rows[digits.arrays["owners"]], digits.steps
        arrays = {
            "rows": rows,
            "symbols": self.symbols[places],
            "previous": self._previous[places],
            **digits.named("digits"),
            **decimals.named("decimals"),
        }
        return NumeralArrays(arrays, digits.sizes, decimals.sizes)

    def read(self, numerals: NumeralArrays, tensors: dict[str, Tensor]) -> DigitStrings:
        """Numerals to be read, from arrays that have arrived on the device."""
        digits = packed(numerals.digit_sizes, tensors, "digits")
        return DigitStrings(self, tensors["rows"], tensors["symbols"], digits)

    def written(self, numerals: NumeralArrays, tensors: dict[str, Tensor]) -> NumeralBatch:
        """Numerals to be written, likewise."""
        return NumeralBatch(
            self,
            tensors["rows"],
            tensors["symbols"],
            packed(numerals.digit_sizes, tensors, "digits"),
            tensors["previous"],
            packed(numerals.decimal_sizes, tensors, "decimals"),
        )


def _key(text: str) -> int:
    whole, _, decimals = text.partition(".")
    if len(whole) + len(decimals) <= _KEYED_DIGITS and len(decimals) < KEY_BASE:
        return int(whole + decimals) * KEY_BASE + len(decimals)
    return -1 - int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")
