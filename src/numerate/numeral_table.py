"""Numerals as arrays: what any head needs to know of them, computed once per table.

A corpus has far fewer distinct numerals than numeral tokens. The table holds the distinct
ones; a batch is a list of rows of the table, laid out for recurrent networks that read
or write digits.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor, nn

from numerate.numeral import MAX_DIGITS, Numeral
from numerate.packing import Packing, PackingArrays, assemble_packing, flatten, move, pack

SYMBOLS = "0123456789."
POINT, END = 10, 11
START = END  # as an input, the twelfth symbol means that nothing is written yet
SYMBOL_COUNT = 12  # ten digits, the point, the end: nothing else can be written
LONGEST = MAX_DIGITS + 2  # with point and end
PADDED_SYMBOLS, PADDED_DECIMALS = 12, 8  # steps of padded layouts; longer numerals are rare
_CODE = np.full(128, END, dtype=np.int64)
for _index, _symbol in enumerate(SYMBOLS):
    _CODE[ord(_symbol)] = _index


@dataclass(frozen=True, slots=True)
class DigitStrings:
    """The symbols of N numerals, for a network that reads them."""

    symbols: Tensor  # [S] digits, point and end of each numeral
    digits: Packing


@dataclass(frozen=True, slots=True)
class NumeralBatch(DigitStrings):
    """N numerals of a table, in any order, with repetitions, for a network that writes them."""

    table: "NumeralTable"
    rows: Tensor  # [N] rows of the table
    known: Tensor  # [N] ids in the vocabulary's numeral partition, 0 for the unknown
    precisions: Tensor  # [N]
    previous: Tensor  # [S] the symbol before each, START before the first
    decimals: Packing  # one element per decimal and one for the end

    def __len__(self) -> int:
        return self.rows.shape[0]

    @property
    def values(self) -> Tensor:  # float64 [N]
        return self.table.on_device("values").index_select(0, self.rows)

    @property
    def texts(self) -> list[str]:
        """As they are written; waits for the device."""
        return [self.table.texts[row] for row in self.rows.tolist()]


@dataclass(frozen=True, slots=True)
class NumeralArrays:
    """A batch as integer arrays, and what of its shape the device must know beforehand."""

    arrays: dict[str, np.ndarray]
    digit_sizes: tuple[int, ...]
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
        if device != self.device:
            self.device = device
            self._on_device.clear()
            self._constants.clear()
        return self

    def on_device(self, column: str) -> Tensor:
        """One of the arrays as a tensor where the table is; moved once."""
        if column not in self._on_device:
            self._on_device[column] = torch.from_numpy(getattr(self, column)).to(self.device)
        return self._on_device[column]

    def intervals(self) -> tuple[Tensor, Tensor]:
        """Values and half the distance to the next numeral of the same precision: float64 [T]."""
        half_widths = 0.5 * 10.0 ** -self.precisions.astype(np.float64)
        return self.on_device("values"), torch.from_numpy(half_widths).to(self.device)

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
        arrays = self.writing_arrays(rows)
        flat = move(flatten(arrays.arrays), self.device)
        lengths = [len(array) for array in arrays.arrays.values()]
        tensors = dict(zip(arrays.arrays, torch.split(flat, lengths), strict=True))
        return self.assemble(tensors, arrays.digit_sizes, arrays.decimal_sizes)

    def fits_padding(self, rows: np.ndarray) -> bool:
        """Whether these numerals are short enough for a padded layout."""
        short = self.lengths[rows].max(initial=0) <= PADDED_SYMBOLS
        return bool(short and self.precisions[rows].max(initial=0) < PADDED_DECIMALS)

    def reading_arrays(self, rows: np.ndarray, *, padded: bool = False) -> NumeralArrays:
        """What a network needs that reads these numerals."""
        digits = pack(self.lengths[rows], PADDED_SYMBOLS if padded else None)
        arrays = {
            "known": self.known[rows],
            "symbols": self.symbols[rows[digits.arrays["owners"]], digits.steps],
        }
        return NumeralArrays(arrays | _prefixed("digits", digits), digits.sizes)

    def writing_arrays(self, rows: np.ndarray, *, padded: bool = False) -> NumeralArrays:
        """What a network needs that writes these numerals."""
        reading = self.reading_arrays(rows, padded=padded)
        owners = reading.arrays["digits owners"]
        steps = np.repeat(np.arange(len(reading.digit_sizes)), reading.digit_sizes)
        decimals = pack(self.precisions[rows] + 1, PADDED_DECIMALS if padded else None)
        arrays = {
            "rows": rows,
            "precisions": self.precisions[rows],
            "previous": self._previous[rows[owners], steps],
            **reading.arrays,
            **_prefixed("decimals", decimals),
        }
        return NumeralArrays(arrays, reading.digit_sizes, decimals.sizes)

    def assemble(
        self,
        tensors: dict[str, Tensor],
        digit_sizes: tuple[int, ...],
        decimal_sizes: tuple[int, ...],
    ) -> NumeralBatch:
        """A batch from arrays that have arrived on the device."""
        return NumeralBatch(
            symbols=tensors["symbols"],
            digits=assemble_packing(digit_sizes, _part("digits", tensors)),
            table=self,
            rows=tensors["rows"],
            known=tensors["known"],
            precisions=tensors["precisions"],
            previous=tensors["previous"],
            decimals=assemble_packing(decimal_sizes, _part("decimals", tensors)),
        )


def assemble_strings(tensors: dict[str, Tensor], sizes: tuple[int, ...]) -> DigitStrings:
    return DigitStrings(tensors["symbols"], assemble_packing(sizes, _part("digits", tensors)))


def _prefixed(name: str, packing: PackingArrays) -> dict[str, np.ndarray]:
    return {f"{name} {key}": array for key, array in packing.arrays.items()}


def _part(name: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    prefix = name + " "
    return {
        key.removeprefix(prefix): tensor
        for key, tensor in tensors.items()
        if key.startswith(prefix)
    }
