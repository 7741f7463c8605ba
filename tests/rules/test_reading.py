"""Documents as rules read them: everything once, and every place found again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.documents.document import Document, Paragraph, Table
from numerate.documents.pipe_tables import _plain, _plain_with_places
from numerate.documents.text import read_text
from numerate.rules.reading import ReadDocument
from numerate.rules.where import Where
from numerate.text.tokenizer import tokenize

TEXT = """Of 120 patients, 42 (35%) were women.

Table 2. Vital signs of 120 patients
| Sign | **Placebo** (n = 60) | Drug |
|---|---:|---:|
| Heart rate | 79.5 | <b>81</b>.2 |
| Weight,  kg | [70](https://a.org/70) \\| 70 | 10<sup>3</sup> |
We saw 3 deaths
  in 60.
"""


def test_a_table_in_a_paragraph_is_read_once() -> None:
    read = ReadDocument(read_text(TEXT))
    assert [piece.text for piece in read.paragraphs] == [
        "Of 120 patients, 42 (35%) were women.",
        "We saw 3 deaths in 60.",
    ]
    assert [piece.text for piece in read.captions] == ["Vital signs of 120 patients"]
    for piece in read.pieces():
        assert read.text(piece.place) == piece.text


def test_every_number_has_a_line_and_a_column() -> None:
    read = ReadDocument(read_text(TEXT))
    lines = TEXT.splitlines()
    numbers = [(piece, number) for piece in read.pieces() for number in piece.numbers]
    assert len(numbers) == 13  # 10^3 is one
    for piece, number in numbers:
        place = read.place(piece.of(number))
        assert place.line is not None
        assert place.column is not None
        assert TEXT[place.start : place.end] == number.written
        assert lines[place.line - 1][place.column - 1 :].startswith(number.written)


def test_places_in_words() -> None:
    read = ReadDocument(read_text(TEXT), [Table("#1", "", "", [["", "Age"]], [["", "40"]])])
    words = [
        read.describe(where)
        for where in (
            Where(3, 6, paragraph=0),
            Where(0, 4, table=0, row=0, column=1),
            Where(0, 10, table=0, row=0, column=0),
            Where(13, 15, table=0, row=-1, column=1),
            Where(15, 18, table=0),
            Where(0, 2, table=1, row=0, column=1),
        )
    ]
    assert words == [
        "line 1",
        "Table 2, row Heart rate, column Placebo (n = 60)",
        "Table 2, row Heart rate",
        "Table 2, header of column Placebo (n = 60)",
        "Table 2, caption",
        "Table 2, row 1, column Age",
    ]


def test_an_article_has_no_lines() -> None:
    paragraphs = [Paragraph("Of 9, 3 died.", in_abstract=True), Paragraph("Of 9, 4 died.")]
    table = Table("t1", "Table 1", "", [], [["Dead", "4"]], notes="4 of 9.")
    read = ReadDocument(Document("a.xml", paragraphs, [table]))
    notes = Where(0, 1, table=0, in_notes=True)
    assert read.describe(Where(3, 4, paragraph=0)) == "abstract"
    assert read.describe(Where(3, 4, paragraph=1)) == "paragraph 1"
    assert read.describe(notes) == "Table 1, notes"
    assert read.text(notes) == "4"
    assert read.place(notes).line is None
    assert read.place(Where(3, 4, paragraph=1)).start == 3


def test_paragraphs_before_the_abstract_are_counted() -> None:
    paragraphs = [Paragraph("A title"), Paragraph("We.", in_abstract=True)]
    read = ReadDocument(Document("a.docx", [*paragraphs, Paragraph("All."), Paragraph("Most.")]))
    words = [read.describe(Where(0, 1, paragraph=index)) for index in range(4)]
    assert words == ["paragraph 1", "abstract", "paragraph 2", "paragraph 3"]


MARKDOWN = st.text(st.sampled_from("|12 3.\n-:\\*`_~[]()<>bsup/ Ta"), max_size=80)


@given(MARKDOWN)
def test_markup_is_taken_out_the_same_way_with_places(text: str) -> None:
    plain, places = _plain_with_places(text)
    assert plain == _plain(text)
    assert len(places) == len(plain)
    assert places == sorted(places)
    same = [text[at] == sign for sign, at in zip(plain, places, strict=True) if sign not in " ^"]
    assert all(same)


@given(st.lists(st.sampled_from(["|a|1|\n", "|-|-|\n", "Table 1. 2\n", ": 3\n", "4\n", "\n", " "])))
def test_every_number_is_read_once_wherever_tables_stand(lines: list[str]) -> None:
    text = "".join(lines)
    read = ReadDocument(read_text(text))
    places = [read.place(piece.of(number)) for piece in read.pieces() for number in piece.numbers]
    found = [(place.start, text[place.start : place.end]) for place in places]
    digits = [(at, sign) for at, sign in enumerate(text) if sign.isdigit()]
    labels = {at for at, _ in digits if text[:at].endswith("Table ")}
    assert sorted(set(found)) == sorted(found)
    assert {at for at, _ in digits} - labels <= {at for at, _ in found}


@pytest.mark.parametrize(
    ("text", "quantities"),
    [
        ("See 10.1186/s13031-018-0142-4 for 12 of 40.", ["12", "40"]),
        ("See (doi: 10.1186/s13031-018) and 3.5.", ["3.5"]),
        ("At https://a.org/2.5/7 or www.b.org/8.1, 9 more.", ["9"]),
        ("Stra6 (NM_0010029924.1) of 3 rats.", ["3"]),
        ("In 24 hours, p < 2E-09, then p = 4.21e−15.", ["24"]),
        ("From 10.1186 to 5 e.g. 7, 10/12, _ref_ 3.", ["10.1186", "5", "7", "10", "12", "3"]),
    ],
)
def test_digits_of_addresses_names_and_exponents_are_no_quantities(
    text: str, quantities: list[str]
) -> None:
    read = ReadDocument(Document("d", [Paragraph(text)], [Table("t", "", "", [], [[text]])]))
    tokens = [token for token in tokenize(text) if token.is_numeral]
    for place in ({"paragraph": 0}, {"table": 0, "row": 0, "column": 0}):
        kept = [
            text[token.start : token.end]
            for token in tokens
            if read.is_quantity(Where(token.start, token.end, **place))
        ]
        assert kept == quantities
