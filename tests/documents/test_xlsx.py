"""Workbooks: sheets as tables, cells as they are shown, places by their names."""

import zipfile
from io import BytesIO
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.office import DATA, replaced

import numerate
from numerate.documents import documents
from numerate.documents.document import Document
from numerate.documents.reader import Unit
from numerate.documents.xlsx.sheet import column_name
from numerate.documents.xlsx.sheet_content import Sheet, sheet_content
from numerate.errors import DocumentError
from numerate.lm.inspect.benford import count_digits_of
from numerate.rules.reading import ReadDocument
from numerate.rules.where import Where

DOGS = (DATA / "office/dogs.xlsx").read_bytes()
SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">{}</worksheet>'
)


def workbook(rows: list[list[str | float | None]], merged: str = "", before: str = "") -> bytes:
    """The first sheet of a real one replaced; the others are as they were."""
    lines = []
    for number, row in enumerate(rows, 1):
        cells = []
        for column, content in enumerate(row):
            name = f"{chr(65 + column)}{number}"
            if isinstance(content, str):
                cells.append(f'<c r="{name}" t="inlineStr"><is><t>{escape(content)}</t></is></c>')
            elif content is not None:
                cells.append(f'<c r="{name}"><v>{content}</v></c>')
        lines.append(f'<row r="{number}">{"".join(cells)}</row>')
    spans = "".join(f'<mergeCell ref="{one}"/>' for one in merged.split())
    inside = f"{before}<sheetData>{''.join(lines)}</sheetData><mergeCells>{spans}</mergeCells>"
    return replaced(DOGS, {"xl/worksheets/sheet1.xml": SHEET.format(inside)})


def read(data: bytes) -> Document:
    (document,) = documents(Unit("a.xlsx", "xlsx", data))
    assert isinstance(document, Document)
    return document


def dogs(rows: list[list[str | float | None]], merged: str = "", before: str = "") -> Document:
    """Without the other sheet."""
    document = read(workbook(rows, merged, before))
    document.tables = [
        one for one in document.tables if one.sheet is not None and one.sheet.sheet == "Dogs"
    ]
    return document


def test_a_workbook_of_libreoffice() -> None:
    """Formats, merged cells, formulas, raised letters; what is hidden is not there."""
    document = read(DOGS)
    assert not document.paragraphs
    weights, walks, mice = document.tables
    assert (weights.label, weights.caption) == ("Table 1", "Dogs and what they weigh")
    assert weights.notes == "a: of all 40 dogs."
    assert weights.header == [
        ["Dog", "Sleeping", "Sleeping", "Cost"],
        ["Dog", "n", "%^a", "in 10^3 euros"],
    ]
    assert weights.body == [
        ["Small", "7", "17.5%", "1,234.50"],
        ["Large", "33", "82.5%", "-2.00"],
        ["Total", "40", "", "0.333333333"],
    ]
    assert weights.repeated == {(-2, 2), (-1, 0)}
    assert walks.body == [["2025-03-05", "2"], ["2025-12-31", "3"]]
    assert (mice.label, mice.header, mice.body[1]) == (
        "Days of 2025 2", [["Cat", "Mice"]], ["Kit", "4"],
    )  # fmt: skip


def test_cells_have_the_names_that_they_have_in_the_workbook() -> None:
    read_dogs = ReadDocument(read(DOGS))
    total = Where(0, 2, table=0, row=2, column=1)
    assert read_dogs.describe(total) == "Dogs!B8, row Total, column Sleeping, n"
    assert read_dogs.describe(Where(0, 1, table=0, row=-1, column=2)).startswith("Dogs!C4, header")
    assert read_dogs.describe(Where(0, 1, table=2, row=1, column=1)) == (
        "'Days of 2025'!E3, row Kit, column Mice"
    )
    assert read_dogs.describe(Where(0, 1, table=0)) == "Table 1, caption"


def test_findings_have_places_and_tables_stand_beside_a_text(tmp_path: Path) -> None:
    rows = [["Group", "n"], ["Women", 42], ["Men", 79], ["Total", 120]]
    path = tmp_path / "a.xlsx"
    path.write_bytes(workbook([*rows, [], ["In all, 42 of 120 (35%) were women."]]))
    found = numerate.check(path)
    assert [(one.written, found.read.describe(one.where)) for one in found] == [
        ("120", "Dogs!B4, row Total, column n")
    ]
    assert len(numerate.read_tables(path)) == 3
    beside = numerate.check("All is well.", tables=numerate.read_tables(path))
    assert [one.written for one in beside] == ["120"]


@pytest.mark.parametrize(
    ("rows", "bodies"),
    [
        # One table with a row and a column left empty to make it easier to read.
        ([["Dog", "n", None, "%"], ["A", 1, None, 2], [], ["B", 3, None, 4]],
         [[["A", "1", "2"], ["B", "3", "4"]]]),
        ([["Dog", "n"], ["A", 1], [], ["Others"], ["B", 3]],
         [[["A", "1"], ["Others", ""], ["B", "3"]]]),
        # Two, one under the other or beside it.
        ([["Dog", "n"], ["A", 1], [], ["Cat", "n"], ["B", 3]], [[["A", "1"]], [["B", "3"]]]),
        ([["Dog", "n"], ["A", 1], ["Table 2: Cats"], ["Cat", "n"], ["B", 3]],
         [[["A", "1"]], [["B", "3"]]]),
        ([["Dog", "n", None, "Cat", "n"], ["A", 1, None, "B", 2], ["C", 3, None, "D", 4]],
         [[["A", "1"], ["C", "3"]], [["B", "2"], ["D", "4"]]]),
        # A heading over one column, and a group before the first row with numbers.
        ([[None, "n (%)"], ["Sex"], ["Women", "5 (50)"], ["Men", "5 (50)"]],
         [[["Sex", ""], ["Women", "5 (50)"], ["Men", "5 (50)"]]]),
        # Numbers under a heading are a table, too.
        ([["Age"], [49], [50]], [[["49"], ["50"]]]),
        ([[1, 2], [3, 4]], [[["1", "2"], ["3", "4"]]]),
    ],
)  # fmt: skip
def test_where_tables_are_cut(rows: list[list[str | float | None]], bodies: object) -> None:
    assert [table.body for table in dogs(rows).tables] == bodies


def test_titles_notes_and_sentences() -> None:
    rows = [
        ["We saw 5 of 10 dogs (50%)."], [],
        ["Table 1: Dogs"], ["Dog", "n"], ["A", 1], ["No dog was hurt."], [],
        ["Cats"], ["Cat", "n"], ["B", 3], [], *([f"Note {n} on 5 cats."] for n in range(7)),
    ]  # fmt: skip
    document = dogs(rows)
    told = [(one.label, one.caption, one.notes) for one in document.tables]
    assert told[0] == ("Table 1", "Dogs", "No dog was hurt.")
    assert told[1][:2] == ("Dogs 2", "Cats")
    assert told[1][2].count("Note") == 5
    assert [(one.cell, one.text) for one in document.paragraphs] == [
        ("Dogs!A1", "We saw 5 of 10 dogs (50%)."),
        ("Dogs!A17", "Note 5 on 5 cats."),
        ("Dogs!A18", "Note 6 on 5 cats."),
    ]


def test_merged_cells_and_headings_over_some_columns() -> None:
    rows = [[None, "Age", None], ["Dog", "Mean", "SD"], ["A", 5, 1], [None, 6, 2]]
    (table,) = dogs(rows, "B1:C1 A3:A4 Z1 A1:XFD1048576").tables
    assert table.header == [["", "Age", "Age"], ["Dog", "Mean", "SD"]]
    assert table.body == [["A", "5", "1"], ["A", "6", "2"]]
    assert table.repeated == {(-2, 2), (1, 0)}


def test_text_that_is_merged_over_rows_is_said_once() -> None:
    rows = [
        ["We saw 5 of 10 dogs (50%)."], [], [], ["Table 1: Dogs"], [], [],
        ["Dog", "n"], ["A", 1], ["B", 2], [None, 3], ["No dog of 3 was hurt."], [], [],
    ]  # fmt: skip
    document = dogs(rows, "A1:B3 A4:B6 A9:A10 A11:B13")
    assert [(one.cell, one.text) for one in document.paragraphs] == [("Dogs!A1", rows[0][0])]
    (table,) = document.tables
    assert (table.label, table.caption, table.notes) == ("Table 1", "Dogs", rows[10][0])
    assert table.body == [["A", "1"], ["B", "2"], ["B", "3"]]


def test_what_is_hidden_stays_hidden_where_it_is_merged() -> None:
    """A cell that is partly hidden shows its text in the rest; nothing is cut where it was."""
    rows = [
        [None, "Sleeping", None, None, None, "Cost"], ["Dog", "n", "id", "Kind", "%", "in euros"],
        ["A", 7, 901, "small", 20, 5], [None, 8, 902, "large", 30, 6],
        ["B", 9, 903, "small", 40, 7], [None, 10, 904, "large", 50, 8], ["All of them"],
    ]  # fmt: skip
    before = '<cols><col min="2" max="3" hidden="1"/></cols>'
    data = workbook(rows, "B1:E1 A3:A4 A5:A6", before)
    with zipfile.ZipFile(BytesIO(data)) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
    for number in (4, 5, 6):
        sheet = sheet.replace(f'<row r="{number}">', f'<row r="{number}" hidden="1">')
    table = read(replaced(data, {"xl/worksheets/sheet1.xml": sheet})).tables[0]
    assert table.header == [
        ["", "Sleeping", "Sleeping", "Cost"], ["Dog", "Kind", "%", "in euros"],
    ]  # fmt: skip
    assert table.body == [["A", "small", "20", "5"], ["All of them", "", "", ""]]
    assert table.repeated == {(-2, 2)}
    assert table.sheet is not None
    assert table.sheet.name(0, 1) == "Dogs!D3"


def test_hidden_columns_and_cells_without_names() -> None:
    before = '<cols><col min="2" max="2" hidden="1"/><col min="9" max="x" hidden="1"/></cols>'
    rows = [["Dog", "n", "Age"], ["A", 1, 5]]
    assert dogs(rows, before=before).tables[0].body == [["A", "5"]]
    data = workbook(rows)
    nameless = "<sheetData><row><c><v>1</v></c><c><v>2</v></c></row><row><c/><c><v>3</v></c></row>"
    sheet = SHEET.format(nameless + "</sheetData>")
    found = read(replaced(data, {"xl/worksheets/sheet1.xml": sheet}))
    assert found.tables[0].body == [["1", "2"], ["", "3"]]


def test_kinds_of_cells(capsys: pytest.CaptureFixture[str]) -> None:
    kinds = {"b": "1", "e": "#DIV/0!", "str": "so_x000D_\n so", "d": "2025-03-05", "s": "9" * 9000,
             "n": "1e999"}  # fmt: skip
    cells = "".join(f'<c t="{kind}"><f>A1</f><v>{value}</v></c>' for kind, value in kinds.items())
    sheet = SHEET.format(
        f"<sheetData><row>{cells}<c><f>A1</f></c><c><f>A1</f><v/></c></row></sheetData>"
    )
    found = read(replaced(DOGS, {"xl/worksheets/sheet1.xml": sheet}))
    assert found.tables[0].body == [["TRUE", "#DIV/0!", "so so", "2025-03-05", "1e999"]]
    assert capsys.readouterr().err.startswith("numerate: a.xlsx: 2 formulas without a stored value")


def test_what_is_too_large_is_one_line() -> None:
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    lone = SHEET.format(f"<sheetData><row><c><v>1</v></c></row>{far}</sheetData>")
    assert len(read(replaced(DOGS, {"xl/worksheets/sheet1.xml": lone})).tables) == 4
    rows = f"<row>{'<c><v>12</v></c>' * 1001}</row>" * 1000
    many = SHEET.format(f"<sheetData>{rows}</sheetData>")
    (error,) = documents(Unit("a.xlsx", "xlsx", replaced(DOGS, {"xl/worksheets/sheet1.xml": many})))
    assert isinstance(error, DocumentError)
    assert "too large" in str(error)


def test_tables_that_are_mostly_empty_are_bounded_together() -> None:
    """Each is small enough; they are on two sheets."""
    cells = "".join(
        f'<row r="{row}"><c r="{column_name(row)}{row}"><v>5</v></c>'
        f'<c r="{column_name(row + 1)}{row}"><v>6</v></c></row>'
        for row in range(1, 801)
    )
    sheet = SHEET.format(f"<sheetData>{cells}</sheetData>")
    one = replaced(DOGS, {"xl/worksheets/sheet1.xml": sheet})
    assert len(read(one).tables[0].body) == 800
    (error,) = documents(Unit("a.xlsx", "xlsx", replaced(one, {"xl/worksheets/sheet2.xml": sheet})))
    assert "Days of 2025: too large: expected at most 1,000,000 cells in all" in str(error)


@pytest.mark.parametrize(
    ("cells", "tables"),
    [
        ({(2 * row, column): "5" for row in range(1, 20_001) for column in (1, 2)}, 1),
        ({(3 * pair + row, 3 * pair + column): "Dog" for pair in range(5_000)
          for row in (1, 2, 3) for column in (1, 2)}, 5_000),
    ],
    ids=["rows", "columns"],
)  # fmt: skip
def test_time_is_linear_in_what_is_apart(cells: dict[tuple[int, int], str], tables: int) -> None:
    """In other than linear time it would take half a minute."""
    assert len(sheet_content(Sheet("Dogs", cells), "a.xlsx")[1]) == tables


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"xl/workbook.xml": "<html/>"}, "not a workbook (.xlsx): got root <html>"),
        ({"xl/worksheets/sheet1.xml": None}, "its part xl/worksheets/sheet1.xml is missing"),
        ({"xl/worksheets/sheet1.xml": "<worksheet"}, "not well-formed XML"),
        ({"xl/sharedStrings.xml": '<!DOCTYPE a [<!ENTITY b "c">]><sst/>'}, "declares XML entities"),
    ],
)
def test_what_is_no_workbook_is_one_line(parts: dict[str, str | bytes | None], reason: str) -> None:
    (error,) = documents(Unit("a.xlsx", "xlsx", replaced(DOGS, parts)))
    assert isinstance(error, DocumentError)
    assert reason in str(error)


def test_digits_of_its_cells_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(workbook([["Dog", "n"], ["A", 12], ["B", 34], ["All 2", 46]]))
    assert count_digits_of(str(path)).numbers == 4 + 2 + 2  # and of the other sheet


CELL = st.one_of(
    st.none(), st.integers(-9, 9).map(float), st.sampled_from(["Age", "A 1.", "Table 2: Dogs", "5"])
)


@given(st.lists(st.lists(CELL, max_size=6), max_size=12), st.sampled_from(["", "A1:C2 B2:B9"]))
@settings(max_examples=60)
def test_everything_is_read_once(rows: list[list[str | float | None]], merged: str) -> None:
    """Each cell that is not covered by another is in a table, a caption, notes or a paragraph."""
    document = dogs(rows, merged)
    said = " ".join(
        [
            *(one.text for one in document.paragraphs),
            *(f"{one.label} {one.caption} {one.notes}" for one in document.tables),
            *(
                text
                for one in document.tables
                for row, texts in enumerate([*one.header, *one.body], -len(one.header))
                for column, text in enumerate(texts)
                if (row, column) not in one.repeated
            ),
        ]
    )
    if not merged:
        count = sum(content == "Age" for row in rows for content in row)
        assert said.count("Age") == count
    for table in document.tables:
        assert table.sheet is not None
        for cell in table.cells():
            assert table.sheet.name(cell.row, cell.column).startswith("Dogs!")


@given(st.data())
@settings(max_examples=40)
def test_damaged_workbooks_are_read_or_refused(data: st.DataObject) -> None:
    damaged = bytearray(DOGS)
    for _ in range(data.draw(st.integers(1, 8))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    for found in documents(Unit("a.xlsx", "xlsx", bytes(damaged))):
        assert isinstance(found, Document) or str(found).isprintable()
