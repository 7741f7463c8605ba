"""Every number of a table once, in one order, with the words of its headers."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.documents.document import Table
from numerate.numeral import is_numeral
from numerate.text.columns import HEADER_WORDS, SightColumns
from numerate.text.reading_rules import ReadingRules
from numerate.text.table_numbers import (
    MAX_NUMBERS,
    MAX_PLACE,
    ColumnsBuilder,
    columns_of_texts,
    numbers_of,
)
from numerate.text.tokenizer import Token, iter_tokens, tokenize


def table(header: list[list[str]], body: list[list[str]], caption: str = "") -> Table:
    return Table("t", "", caption, header, body)


def texts(header: list[list[str]], body: list[list[str]]) -> list[str]:
    return [number.text for number in numbers_of(table(header, body))]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("49 (19–87)", ["49", "19", "87"]),
        ("408 ± 79", ["408", "79"]),
        ("12a", ["12"]),
        ("12 a,b", ["12"]),
        ("640 ± 144*", ["640", "144"]),
        ("35.1 ± 3^†", ["35.1", "3"]),
        ("35.1^†(12)", ["35.1", "12"]),
        ("35.1^1", ["35.1"]),
        ("35.1^1,2 (7)", ["35.1", "7"]),
        ("35.1^(1)", ["35.1"]),
        ("35.1^{2}", ["35.1"]),
        ("45^{+5}", ["45", "5"]),  # a limit, not a mark
        ("12¹", ["12"]),
        ("22.5 kg/m^2", ["22.5"]),
        ("3.2 × 10^6", ["3.2", "10", "6"]),
        ("3.2 × 10^−6", ["3.2", "10", "6"]),
        ("5mg", ["5"]),
        ("12%", ["12"]),
        ("1,234", ["1234"]),
        (".05", ["0.05"]),
        ("IL-6", []),
        ("_ref_ 5 _cite_", ["5"]),
        ("", []),
        ("–", []),
    ],
)
def test_numbers_of_a_cell(cell: str, expected: list[str]) -> None:
    assert texts([], [[cell]]) == expected


def test_header_comes_first_and_rows_of_it_count_upwards() -> None:
    numbers = numbers_of(
        table([["", "Placebo (n = 48)"], ["", "week 2"]], [["Age > 65", "7 (15)"]])
    )
    assert [(number.text, number.row, number.column) for number in numbers] == [
        ("48", -2, 1),
        ("2", -1, 1),
        ("65", 0, 0),
        ("7", 0, 1),
        ("15", 0, 1),
    ]
    assert [(number.start, number.end) for number in numbers[-2:]] == [(0, 1), (3, 5)]


def test_a_cell_that_spans_others_is_read_once() -> None:
    spanning = table([["a", "b"]], [["1", "5", "5"], ["1", "5", "5"], ["2", "5", "5"]])
    assert [number.text for number in numbers_of(spanning)].count("5") == 6
    spanning.repeated = frozenset({(0, 2), (1, 0), (1, 1), (1, 2)})
    assert [number.text for number in numbers_of(spanning)] == ["1", "5", "2", "5", "5"]


def test_equal_neighbours_in_a_header_are_one_cell() -> None:
    header = [["", "n = 48", "n = 48", "n = 50"], ["", "n = 48", "day 1", "n = 48"]]
    assert texts(header, []) == ["48", "50", "1", "48"]


def test_the_rules_of_a_dataset_hold_for_its_tables() -> None:
    cells = table([], [["74,5", "1.234"]])
    comma = numbers_of(cells, ReadingRules("comma"))
    assert [number.text for number in comma] == ["74.5", "1234"]


PIECES = [
    "12", "3.50", "1,000", ".5", "Age", "kg", "%", "±", "(", ")", "^†", "^1", "^a", "10^6", "–",
    " ", "5mg", "n = 4", "_ref_", "é", "７",
]  # fmt: skip
CELLS = st.lists(st.sampled_from(PIECES), max_size=6).map("".join) | st.text(max_size=12)
ROWS = st.lists(st.lists(CELLS, max_size=5), max_size=6)


@given(header=ROWS, body=ROWS)
def test_places_are_those_of_the_numerals(header: list[list[str]], body: list[list[str]]) -> None:
    found = table(header, body)
    places = []
    for number in numbers_of(found):
        cell = (found.header if number.row < 0 else found.body)[number.row][number.column]
        written = cell[number.start : number.end]
        assert is_numeral(number.text)
        assert {token.text for token in tokenize(written) if token.is_numeral} == {number.text}
        places.append(number[1:4])
    assert places == sorted(places)


@given(body=ROWS)
def test_nothing_but_raised_numbers_is_left_out(body: list[list[str]]) -> None:
    plain = [[cell.replace("^", "") for cell in row] for row in body]
    expected = [t.text for row in plain for cell in row for t in tokenize(cell) if t.is_numeral]
    assert texts([], plain) == expected


# Columns


def in_words(columns: SightColumns, which: int = 0) -> list[tuple[str, list[str], list[str]]]:
    """The numbers of a table with the words of their rows and columns."""

    def words(bag: int) -> list[str]:
        codes = columns.bags[columns.bag_offsets[which] + bag]
        return [columns.words[code] for code in codes if code >= 0]

    return [
        (
            columns.numerals[columns.number_numerals[entry]],
            words(columns.number_rows[entry]),
            words(columns.number_columns[entry]),
        )
        for entry in range(columns.number_offsets[which], columns.number_offsets[which + 1])
    ]


def test_headers_are_words_and_units() -> None:
    given = table(
        [["", "Lambs", "Lambs"], ["", "Born in % (n = 4)", "_ref_ P^1"]],
        [
            ["Body weight (kg)", "", ""],
            ["All lambs", "408 ± 79", "0.3"],
            ["Age", "Age", "Age"],
            ["> 5 years", "7", ""],
        ],
        "Weights of 2 lambs",
    )
    columns = columns_of_texts([[given]])
    born, p = ["lambs", "born", "in", "%", "n"], ["lambs", "p"]
    weight = ["body", "weight", "kg", "all", "lambs"]
    assert in_words(columns) == [
        ("4", [], born),
        ("408", weight, born),
        ("79", weight, born),
        ("0.3", weight, p),
        ("5", ["age", "years"], []),
        ("7", ["age", "years"], born),
    ]
    caption = columns.bags[columns.bag_offsets[0]]
    assert [columns.words[code] for code in caption if code >= 0] == ["weights", "of", "lambs"]
    assert columns.cell_rows.tolist() == [-1, 1, 1, 1, 3, 3]
    # The same row is the same bag, and another row another one, whatever it says.
    assert len(set(columns.number_rows.tolist())) == 3


def test_rows_are_told_by_all_leading_columns_of_words() -> None:
    given = table(
        [["Drug", "Phase", "Low"]],
        [["Placebo", "I", "1115"], ["", "III", "1119"], ["Haloperidol", "I", "1111"]],
    )
    rows = [row for _, row, _ in in_words(columns_of_texts([[given]]))]
    assert rows == [["placebo", "i"], ["placebo", "iii"], ["haloperidol", "i"]]


def test_an_empty_leading_cell_goes_on_with_the_one_above() -> None:
    body = [
        ["Craving", "Own", "baseline", "7"],
        ["", "", "end", "8"],
        ["", "Other", "6 months", "9"],
        ["Sleep", "", "end", "10 mg"],
    ]
    numbers = in_words(columns_of_texts([[table([], body)]]))
    assert [(numeral, row) for numeral, row, _ in numbers] == [
        ("7", ["craving", "own", "baseline"]),
        ("8", ["craving", "own", "end"]),
        ("6", ["craving", "other", "months"]),
        ("9", ["craving", "other", "months"]),
        ("10", ["sleep", "end"]),
    ]


def test_marks_of_footnotes_are_no_words() -> None:
    given = table([["", "Dose^a (mg^2)", "ZAL2^m"]], [["Lactate^b,c", "5", "6"]])
    assert in_words(columns_of_texts([[given]])) == [
        ("5", ["lactate"], ["dose", "mg"]),
        ("6", ["lactate"], ["zal2", "m"]),
    ]


def test_without_a_header_the_first_row_is_one_if_it_has_no_number() -> None:
    bare = table([], [["", "Mean"], ["Age", "54"]])
    assert in_words(columns_of_texts([[bare]])) == [("54", ["age"], ["mean"])]
    numbers = table([], [["Age", "54"]])
    assert in_words(columns_of_texts([[numbers]])) == [("54", ["age"], [])]


def test_of_long_headers_the_last_words_count() -> None:
    words = [f"{letter}x" for letter in "abcdefghijkl"]
    [(_, row, _)] = in_words(columns_of_texts([[table([], [[" ".join(words), "1"]])]]))
    assert row == words[-HEADER_WORDS:]


def test_a_table_of_several_texts_is_there_once() -> None:
    first, second, empty = table([], [["1"]]), table([], [["2", "3"]]), table([], [["none"]])
    columns = columns_of_texts([[first], [], [second, empty, first]])
    assert columns.tables == (first, second, empty)
    assert columns.view_offsets.tolist() == [0, 1, 1, 3]
    assert columns.views.tolist() == [0, 1, 0]  # the order in which they were given
    assert len(columns) == 3


def test_paragraphs_are_tables_of_the_words_around_their_numerals() -> None:
    tokens = [token.text for token in tokenize("Of 20 patients, 12 (60 %) improved.")]
    builder = ColumnsBuilder()
    builder.add_paragraph(tokens, [at for at, token in enumerate(tokens) if is_numeral(token)])
    columns = builder.finish()
    assert in_words(columns) == [
        ("20", ["of"], ["patients", "%", "improved"]),
        ("12", ["of", "patients"], ["%", "improved"]),
        ("60", ["of", "patients"], ["%", "improved"]),
    ]
    assert columns.cell_rows.tolist() == [0, 1, 2]


def test_numbers_that_are_too_many_or_too_far_away_are_counted() -> None:
    builder = ColumnsBuilder()
    builder.add_table(table([], [["1"] * 100] * 100))
    assert builder.sizes == [MAX_NUMBERS]
    assert builder.left_out == 100 * 100 - MAX_NUMBERS
    builder.add_table(table([], [["1"] + [""] * MAX_PLACE + ["2"]]))
    assert builder.sizes[1] == 1
    assert builder.left_out == 100 * 100 - MAX_NUMBERS + 1


def test_what_does_not_fit_in_view_is_left_out_whole() -> None:
    large, small = table([], [["1"] * 4000]), table([], [["2"] * 60])
    columns = columns_of_texts([[large, small, small, large], [small]])
    assert columns.views.tolist() == [0, 1, 1]


def test_each_distinct_text_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def noting(text: str, rules: ReadingRules) -> Iterator[Token]:
        read.append(text)
        return iter_tokens(text, rules)

    monkeypatch.setattr("numerate.text.table_numbers.iter_tokens", noting)
    tables = [table([["n"]], [["Age", "5"]] * 50) for _ in range(2)]
    columns_of_texts([tables])
    assert sorted(read) == [" ", "5", "Age", "n"]


@given(header=ROWS, body=ROWS)
def test_columns_hold_what_numbers_of_says(header: list[list[str]], body: list[list[str]]) -> None:
    given_table = table(header, body, "A caption")
    numbers, columns = numbers_of(given_table), columns_of_texts([[given_table]])
    assert [columns.numerals[code] for code in columns.number_numerals] == [n.text for n in numbers]
    assert columns.cell_rows.tolist() == [number.row for number in numbers]
    assert columns.cell_columns.tolist() == [number.column for number in numbers]
    bags = int(columns.bag_offsets[-1])
    assert np.all(columns.number_rows < bags)
    assert np.all((columns.bags >= -1) & (columns.bags < max(1, len(columns.words))))
    rows = {number.row for number in numbers}
    assert len(set(columns.number_rows.tolist())) == len(rows)
