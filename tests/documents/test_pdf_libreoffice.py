"""Read PDFs as LibreOffice writes them: each line of a cell or a paragraph is one string.

Its spaces are drawn, also the one that a line is broken at, unless the line is justified. Pages
here have the operators of PDFs that `soffice --headless --convert-to pdf` made.
"""

import pytest
from tests.documents.written_pdf import Page, pdf

import numerate
from numerate.documents import documents
from numerate.documents.document import Document, Table
from numerate.documents.reader import Unit

ROWS = [
    ["Depot", "Q1", "Q2", "Q3", "Total"],
    ["North", "2,310", "2,455", "610", "5,375"],
    ["South", "3,120", "275", "3,410", "6,805"],
    ["Total", "5,430", "2,730", "4,020", "12,180"],
]
# The left edge of labels, and the right edges of numbers.
COLUMNS, WIDE = (60, 130, 158, 186, 220), (60, 200, 260, 320, 400)
PROSE = [
    "The depots of the company sell bread, cheese and preserves, and the numbers of the ",
    "year were written down by hand in each of them, from the first week to the last, with ",
    "care. ",
]


def read(*pages: Page) -> Document:
    (document,) = documents(Unit("a.pdf", "pdf", pdf(pages)))
    assert isinstance(document, Document), document
    return document


def texts(*lines: str) -> list[str]:
    page = Page().lines(60, 700, lines)
    return [paragraph.text for paragraph in read(page).paragraphs]


def test_a_short_statement_is_no_axis_of_a_figure() -> None:
    statement = "They correlated (r = 0.31, n = 50, p = 0.003)."
    assert texts(statement) == [statement]
    assert texts("0 10 20 30 40 50 60 70 80 90 100 mm") == []


def width(text: str) -> float:
    """Return the width of a number or a short word in Helvetica of 10 points."""
    narrow = {**dict.fromkeys(",. t", 2.78), "-": 3.33, "l": 2.22, "T": 6.11, "Q": 7.78}
    return sum(narrow.get(sign, 5.56) for sign in text)


def row(page: Page, y: float, cells: list[str], columns: tuple[float, ...] = COLUMNS) -> None:
    page.text(columns[0], y, cells[0])
    for x, cell in zip(columns[1:], cells[1:], strict=True):
        page.text(x - width(cell), y, cell)


def rows(page: Page, y: float, some: list[list[str]], columns: tuple[float, ...] = COLUMNS) -> Page:
    for number, cells in enumerate(some):
        row(page, y - 13 * number, cells, columns)
    return page


def cells(table: Table) -> list[list[str]]:
    return [*table.header, *table.body]


def test_a_minus_at_the_end_of_a_line_belongs_to_its_number() -> None:
    (text,) = texts(
        "The temperature of the cold store fell in the second week of the month by -",
        "0.5 degrees (95% CI -0.9 to -",
        "0.1), and it rose in the week after it, when the ovens were hot all day long, to ",
        "12 degrees, as it had been before. ",
    )
    assert "by -0.5 degrees (95% CI -0.9 to -0.1), and" in text
    assert "long, to 12 degrees" in text


@pytest.mark.parametrize("dash", ["-", "–"])
def test_a_dash_that_a_space_is_drawn_after_is_no_minus(dash: str) -> None:
    (text,) = texts(
        f"Most of them came by train on the day before, and all of the others {dash} ",
        f"12 people {dash} came by bus in the morning. Nobody came by car, as there was no ",
        "place for any. ",
    )
    assert f"the others {dash} 12 people {dash} came" in text


@pytest.mark.parametrize(
    ("end", "start", "written"),
    [
        ("the difference was smaller (95% CI, –", "0.9 to 0.1)", "(95% CI, –0.9 to 0.1)"),
        ("the difference between both was –", "0.5 points", "both was –0.5 points"),
        ("the difference between them was 1.5 –", "0.5 points", "was 1.5 – 0.5 points"),
        ("all of the others who were there –", "12 in all", "there – _math_ in all"),
        ("we saw none of the people aged 45–", "50 years", "aged 45–50 years"),
    ],
)
def test_where_no_spaces_are_drawn_words_before_a_dash_say_what_it_is(
    end: str, start: str, written: str
) -> None:
    """A browser does not draw the space that a line is broken at."""
    (text,) = texts(
        f"In the first group of the people that we wrote to by post, {end}", f"{start}, as before."
    )
    assert written in text


def test_the_sign_at_the_end_of_a_line_makes_no_false_finding() -> None:
    page = Page().lines(
        60,
        700,
        [
            "The mood of all people was asked for twice. The median change of the score was -",
            "0.5 (IQR -1.0 to -0.1) with walks, and it was smaller in the others, who stayed at ",
            "home in the evenings. ",
        ],
    )
    assert [one.code for one in numerate.check(read(page))] == []


def test_cells_with_narrow_gaps_are_told_by_the_spaces_that_are_not_drawn() -> None:
    page = Page().lines(60, 760, PROSE).text(60, 700, "Table 1. Crates by depot")
    (table,) = read(rows(page, 680, ROWS)).tables
    assert cells(table) == ROWS


def test_a_caption_ends_the_table_above_it() -> None:
    """Rules of both tables have the same reach, and only one short line is between the tables."""
    page = Page().lines(60, 780, PROSE)
    for y, caption in ((720, "Table 1. Crates by depot"), (640, "Table 2. Boxes by depot")):
        rows(page.text(60, y, caption), y - 18, ROWS)
        for rule in (y - 8, y - 21, y - 61):
            page.rule(58, rule, 222)
    one, two = read(page).tables
    assert (one.caption, two.caption) == ("Crates by depot", "Boxes by depot")
    assert cells(one) == cells(two) == ROWS


def test_a_heading_ends_the_table_above_it() -> None:
    page = Page().lines(60, 780, PROSE)
    for y in (720, 620):
        page.text(60, y + 20, "Crates by depot", bold=True, size=12)
        rows(page, y, ROWS, WIDE)
        for rule in (y + 10, y - 3, y - 43):
            page.rule(58, rule, 402)
    one, two = read(page).tables
    assert cells(one) == cells(two) == ROWS


def test_a_stretched_line_below_a_table_is_no_row_of_it() -> None:
    """LibreOffice writes a justified line as one string, with wide gaps beside its spaces."""
    page = Page().lines(60, 780, PROSE).text(60, 720, "Table 1. Crates by depot")
    rows(page, 700, ROWS)
    page.rule(58, 697, 222)
    words = "In 120 shops we sold all of it".replace(" ", ") -400 ( ) -400 (")
    page.content.append(f"BT /F1 10 Tf 60 640 Td [({words})] TJ ET")
    page.text(60, 628, "by noon on most of the days.")
    document = read(page)
    (table,) = document.tables
    assert cells(table) == ROWS
    assert "In 120 shops we sold all of it by noon" in document.paragraphs[-1].text


def test_the_last_row_of_a_table_on_the_next_page_is_of_it() -> None:
    first = Page().lines(60, 180, PROSE).text(60, 120, "Table 1. Crates by depot")
    rows(first, 105, ROWS[:3])
    second = rows(Page(), 780, [ROWS[0], ROWS[3]])
    second.lines(60, 720, PROSE)
    (table,) = read(first, second).tables
    assert cells(table) == ROWS


def test_a_table_after_text_on_the_next_page_is_another() -> None:
    first = rows(Page().lines(60, 780, PROSE), 700, ROWS, WIDE)
    second = Page().lines(60, 780, ["People of both sexes work in the depots, as this shows. "])
    other = [["Function", "Women", "Men", "Others", "All"], ["Bakery", "84", "76", "1", "161"]]
    rows(
        second,
        700,
        [*other, ["Office", "58", "32", "2", "92"], ["All", "142", "108", "3", "253"]],
        WIDE,
    )
    one, two = read(first, second).tables
    assert len(cells(one)) == len(cells(two)) == 4


def test_rows_at_the_top_of_pages_that_differ_in_numbers_are_no_running_heads() -> None:
    pages = []
    for number in range(3):
        some = [
            [word, *(f"{17 * number + at + line:,}" for at in (310, 1455, 610, 2375))]
            for line, word in enumerate(["Total", "Fir", "Oak", "Elm"])
        ]
        pages.append(rows(Page(), 780, some, WIDE))
    read_rows = [cells for table in read(*pages).tables for cells in [*table.header, *table.body]]
    totals = [cells[1] for cells in read_rows if cells[0] == "Total"]
    assert totals == ["310", "327", "344"]


def test_lines_of_a_cell_above_and_below_those_of_its_row_are_of_it() -> None:
    columns = (60, 200, 260, 400)
    page = Page().lines(60, 780, PROSE)
    page.text(330, 722, "Difference")
    row(page, 710, ["Visit", "Walks", "Care", "95% CI"], columns)
    for number, week in enumerate((4, 8, 12)):
        y = 692 - 26 * number
        row(page, y, [f"Week {week}", "-4.1", "-1.0", "-3.1 (-5.0 to "], columns)
        page.text(340, y - 12, "-1.2)")
    page.rule(58, 705, 402)
    page.lines(60, 590, PROSE)
    (table,) = read(page).tables
    assert table.header == [["Visit", "Walks", "Care", "Difference 95% CI"]]
    assert [cells[0] for cells in table.body] == ["Week 4", "Week 8", "Week 12"]
    assert [cells[3] for cells in table.body] == ["-3.1 (-5.0 to -1.2)"] * 3


def test_ruled_tables_as_wide_as_columns_stand_in_columns() -> None:
    """In both columns, so that hardly any running text is on both sides of the white space."""
    page = Page()
    for left in (60, 320):
        page.lines(
            left, 780, ["The crates that each of the depots", "had are in the table below. "]
        )
        columns = tuple(left + at for at in (0, 90, 140, 190, 240))
        for number in range(12):
            y = 740 - 15 * number
            row(page, y, ROWS[min(number, 1)], columns)
            page.rule(left - 5, y - 4, left + 245)
    one, two = read(page).tables
    assert {len(cells) for table in (one, two) for cells in [*table.header, *table.body]} == {5}
