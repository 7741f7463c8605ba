"""Errors are of their kind, written as the right numeral was, and cut out of the text like it."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.detector.channel import CellNumbers, Channel, InSight, Place
from numerate.detector.edits import Edit, apply, apply_to_table
from numerate.detector.habits import Habits
from numerate.detector.kinds_of_error import (
    BY_SLIP,
    ELSEWHERE,
    HELD_OUT,
    KINDS,
    NEIGHBOUR,
    SIGHT,
    TRAINED,
    add_digit,
    drop_digit,
    mistake_unit,
    move_point,
    slips,
)
from numerate.documents.document import Table
from numerate.errors import NumerateError
from numerate.text.reading_rules import ReadingRules
from numerate.text.table_numbers import numbers_of
from numerate.text.tokenizer import tokenize

TABLE = Table(
    "t1",
    "Table 1",
    "",
    [["", "Placebo (n = 48)", "Active (n = 50)", "Both (n = 98)", "Both (n = 98)"]],
    [
        ["Age", "49 (19–87)", "51 (20–85)", "1,234", "10^6"],
        ["Weight, kg", "71.5", "", "70.2", ".05"],
    ],
    repeated=frozenset({(-1, 4)}),
)
TEXT = "Of 1,234 patients (mean 71.5 kg, p = .05), 12 were aged 49 in 2010; 10^6 cells."


def sight_of(text: str) -> InSight:
    own = [token.text for token in tokenize(text) if token.is_numeral]
    return InSight(own, [CellNumbers.of(TABLE)], ["3", "0.75", "2048"])


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [
        ("1,234", "12340", "12,340"),
        ("1 234", "12340", "12 340"),
        ("1234", "12340", "12340"),  # who wrote no separator writes none
        ("12", "12000", "12,000"),
        ("12", "1200", "1200"),
        (".05", "0.5", ".5"),
        ("0.05", "0.5", "0.5"),
        (".05", "5", "5"),
        ("007", "8", "008"),
        ("1·5", "1.7", "1·7"),
        ("71.5", "715", "715"),
    ],
)
def test_a_wrong_numeral_is_written_like_the_right_one(
    right: str, wrong: str, expected: str
) -> None:
    assert Habits.of([right]).written_like(wrong, right) == expected


def test_what_a_numeral_does_not_say_the_others_do() -> None:
    assert Habits.of(["12", "2000"]).written_like("12000", "12") == "12000"
    assert Habits.of(["12", "2 000"]).written_like("12000", "12") == "12 000"
    assert Habits.of(["12", ".05"]).written_like("0.12", "12") == ".12"
    comma = Habits.of(["1,5", "1.234"], "comma")
    assert comma.written_like("12340.5", "1.234") == "12.340,5"


def test_by_hand() -> None:
    assert drop_digit("135") == ["35", "15", "13"]
    assert drop_digit("7") == []
    assert "1335" in add_digit("135")
    assert all(not text.startswith("0") for text in add_digit("135"))
    assert move_point("12.5") == ["1.25"]
    assert move_point("0.05") == ["0.5"]
    assert move_point("125") == []
    assert "12.50" not in slips("digit added", "12.5")  # the same value
    assert {"1.5", "5400", "630"} <= set(mistake_unit("90"))
    assert "6.9" in mistake_unit("2.7")


@given(st.integers(0, 10**6), st.integers(0, 3), st.sampled_from(sorted(BY_SLIP)))
def test_no_error_has_the_value_of_what_is_right(units: int, decimals: int, kind: str) -> None:
    numeral = f"{Decimal(units).scaleb(-decimals):f}"
    assert all(Decimal(wrong) != Decimal(numeral) for wrong in slips(kind, numeral))


@pytest.mark.parametrize("kind", KINDS)
def test_errors_of_every_kind_in_a_text(kind: str) -> None:
    tokens = tokenize(TEXT)
    numerals = [token for token in tokens if token.is_numeral]
    channel, seen = Channel([kind]), set()
    for seed in range(20):
        edits = channel.some(
            channel.places(TEXT, tokens), sight_of(TEXT), np.random.default_rng(seed), 0.7
        )
        wrong, spans = apply(TEXT, [(token.start, token.end) for token in numerals], edits)
        expected = [token.text for token in numerals]
        for edit in edits:
            assert edit.kind == kind
            assert Decimal(edit.numeral) != Decimal(expected[edit.index])
            assert wrong[slice(*spans[edit.index])] == edit.written
            if kind in BY_SLIP:
                assert edit.numeral in BY_SLIP[kind](expected[edit.index])
            expected[edit.index] = edit.numeral
            seen.add(edit.index)
        found = [token for token in tokenize(wrong) if token.is_numeral]
        assert [token.text for token in found] == expected
        assert [(token.start, token.end) for token in found] == spans
    assert seen
    assert all(numerals[index].text != "10" for index in seen)  # the base of a power


@pytest.mark.parametrize("kind", KINDS)
def test_errors_of_every_kind_in_a_table(kind: str) -> None:
    channel, right = Channel([kind]), [number.text for number in numbers_of(TABLE)]
    places, sight = channel.cell_places(TABLE), sight_of("")
    assert [place.numeral for place in places] == right
    made = 0
    for seed in range(20):
        edits = channel.some(places, sight, np.random.default_rng(seed), 0.5)
        wrong = apply_to_table(TABLE, edits)
        expected = list(right)
        for edit in edits:
            expected[edit.index] = edit.numeral
        assert [number.text for number in numbers_of(wrong)] == expected
        assert wrong.header[0][3] == wrong.header[0][4]  # one cell, spanning two columns
        made += len(edits)
    assert made
    assert TABLE.header[0][3] == "Both (n = 98)"


def test_the_cells_beside_one() -> None:
    table = CellNumbers.of(TABLE)
    assert set(table.beside("71.5")) == {"49", "70.2"}  # an empty cell is passed over
    assert set(table.beside("87")) == {"85", "71.5", "48"}  # the third, or the last, of its cell
    assert table.beside("12") == []


def test_one_error_or_none() -> None:
    channel, generator = Channel([NEIGHBOUR]), np.random.default_rng(1)
    places = channel.places("12 or 71.5 kg", tokenize("12 or 71.5 kg"))
    edit = channel.one(places, sight_of(""), generator)
    assert edit is not None
    assert edit.index == 1  # 12 stands in no cell
    assert channel.one(places[:1], sight_of(""), generator) is None
    assert Channel([SIGHT]).one(places[:1], InSight(["12", "12.0"]), generator) is None
    assert Channel([ELSEWHERE]).one([], sight_of(""), generator) is None


def test_a_numeral_that_would_be_cut_otherwise_is_no_error() -> None:
    """`day 84 120 patients` are two numbers, `1 120 patients` is one."""
    channel = Channel(["digit dropped"])
    text = "in 12 120 patients"
    for seed in range(20):
        places = channel.places(text, tokenize(text))
        edits = channel.some(places, InSight(), np.random.default_rng(seed), 1.0)
        wrong, _ = apply(text, [(t.start, t.end) for t in tokenize(text) if t.is_numeral], edits)
        assert len(tokenize(wrong)) == len(tokenize(text))


def test_a_decimal_comma() -> None:
    rules = ReadingRules(decimal="comma")
    text = "im Mittel 12,5 kg"
    channel = Channel(["factor 10"], rules)
    edit = channel.one(
        channel.places(text, tokenize(text, rules)), InSight(), np.random.default_rng(1)
    )
    assert edit in (
        Edit(0, "factor 10", "125", "125"),
        Edit(0, "factor 10", "1,25", "1.25"),
    )


def test_kinds_held_out_are_not_trained() -> None:
    assert set(HELD_OUT) | set(TRAINED) == set(KINDS)
    assert not set(HELD_OUT) & set(TRAINED)
    with pytest.raises(NumerateError, match="kind of error"):
        Channel(["typo"])
    assert Place("10", "10", after="^6").is_base
