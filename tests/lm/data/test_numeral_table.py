from decimal import Decimal

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from numerate.lm.data.numeral_table import END, SYMBOL_COUNT, SYMBOLS, NumeralTable

whole = st.integers(0, 10**16 - 1).map(str)
decimals = st.text("0123456789", min_size=1, max_size=16)
numerals = st.one_of(whole, st.builds("{}.{}".format, whole, decimals))


def spelled(table: NumeralTable, row: int) -> str:
    """What the digits of a row spell, up to the end."""
    symbols = table.symbols[row].tolist()
    return "".join(SYMBOLS[symbol] for symbol in symbols[: symbols.index(END)])


@given(st.lists(numerals, min_size=1, max_size=8))
def test_digits_spell_the_text(texts: list[str]) -> None:
    table = NumeralTable(texts)
    assert table.texts == texts
    assert [spelled(table, row) for row in range(len(texts))] == texts


@given(numerals)
def test_the_interval_reaches_half_way_to_the_next_numeral(text: str) -> None:
    values, half_widths = NumeralTable([text]).intervals()
    precision = len(text.partition(".")[2])
    assert values.dtype == half_widths.dtype == torch.float64
    assert values.tolist() == [float(Decimal(text))]
    assert half_widths.item() == pytest.approx(0.5 * 10.0**-precision, rel=1e-15, abs=0)


def test_digits_of_every_integer_below_a_thousand_are_its_own() -> None:
    table = NumeralTable([str(value) for value in range(1000)])
    assert [spelled(table, row) for row in range(1000)] == [str(value) for value in range(1000)]


def test_there_are_twelve_symbols() -> None:
    table = NumeralTable(["1234567890.5"])
    assert SYMBOL_COUNT == len(SYMBOLS) + 1 == 12
    assert set(np.unique(table.symbols)) == set(range(12))


@pytest.mark.parametrize("text", ["9" * 32, "0." + "3" * 31, "1" * 16 + "." + "2" * 16])
def test_the_longest_numerals_fit(text: str) -> None:
    table = NumeralTable(["1", text])
    assert spelled(table, 1) == text
    assert table.values[1] == float(text)


def test_numerals_are_normalised() -> None:
    table = NumeralTable(["2,000", "007", "00.50"])
    assert table.texts == ["2000", "7", "0.50"]
    assert table.values.tolist() == [2000, 7, 0.5]
    assert table.precisions.tolist() == [0, 0, 2]


def test_equal_values_written_differently_are_two_rows() -> None:
    table = NumeralTable(["2", "2.0"], {"2": 4, "2.0": 5})
    assert len(table) == 2
    assert table.values[0] == table.values[1]
    assert table.precisions.tolist() == [0, 1]
    assert table.known.tolist() == [4, 5]


def test_numerals_outside_the_vocabulary_have_the_unknown_id() -> None:
    assert NumeralTable(["3", "2", "3.0"], {"3": 1}).known.tolist() == [1, 0, 0]
    assert NumeralTable(["3"]).known.tolist() == [0]


def test_a_batch_may_repeat_and_reorder_rows() -> None:
    table = NumeralTable(["5", "123.25", "17"], {"17": 3, "5": 1})
    assert len(table.batch(np.array([2, 0, 2, 1]))) == 4
    assert len(table.batch(np.array([1]))) == 1
    assert len(table.all()) == len(table) == 3


def test_a_batch_knows_what_its_numerals_are() -> None:
    texts = ["5", "123.25", "17", "0.50"]
    batch = NumeralTable(texts).batch(np.array([2, 0, 2, 1, 3]))
    assert batch.texts == ["17", "5", "17", "123.25", "0.50"]
    assert batch.values.dtype == torch.float64
    assert batch.values.tolist() == [17.0, 5.0, 17.0, 123.25, 0.5]
    assert batch.precisions.tolist() == [0, 0, 0, 2, 2]


@pytest.mark.parametrize("text", ["", "abc", "-1", "1e5", "1.", "..5", "٣", "1 2", "9" * 33])
def test_what_is_not_a_numeral_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a numeral"):
        NumeralTable(["1", text])


def test_what_a_module_derives_is_computed_once() -> None:
    table, calls = NumeralTable(["1", "2"]), []
    first, second = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)

    def compute(given: NumeralTable) -> torch.Tensor:
        calls.append(given)
        return torch.tensor(len(calls))

    results = [table.constant(module, 1, compute).item() for module in (first, second, first)]
    assert results == [1, 2, 1]
    assert calls == [table, table]
