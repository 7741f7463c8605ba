"""Tables in files of people's own: what is read of them, and what is refused in one line."""

import csv
import io
import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.documents import read_file
from numerate.documents.document import Table
from numerate.documents.separated_source import SeparatedSource
from numerate.documents.table_file import read_table_file, read_tables
from numerate.documents.text import read_text
from numerate.errors import NumerateError
from numerate.text.table_numbers import numbers_of


def read(tmp_path: Path, name: str, content: str | bytes) -> list[Table]:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_tables(path)


AGES = [["Group", "Age", "n"], ["Placebo", "49 (19–87)", "1,204"], ["Drug", "51", "48"]]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", 'Group,Age,n\nPlacebo,49 (19–87),"1,204"\nDrug,51,48\n'),
        ("t.csv", '\ufeffGroup,Age,n\r\n\r\nPlacebo,49 (19–87),"1,204",\r\nDrug,51,48\r\n'),
        ("t.csv", "Group;Age;n\nPlacebo;49 (19–87);1,204\nDrug;51;48"),
        ("t.tsv", "Group\tAge\tn\nPlacebo\t49 (19–87)\t1,204\nDrug\t51\t48\n"),
        ("t.dat", "Group\tAge\tn\nPlacebo\t49 (19–87)\t1,204\nDrug\t51\t48\n"),
        (
            "t.md",
            "Text.\n\n| Group | Age | n |\n|:--|--:|-|\n|Placebo|49 (19–87)|1,204|\nDrug|51|48\n",
        ),
        ("t", "Group | Age | n\n--|--|--\nPlacebo|49 (19–87)|1,204\nDrug|51|48\nText."),
        (
            "t.html",
            "<p>Text<table><thead><tr><th>Group<th>Age<th>n</thead>"
            "<tr><td>Placebo<td>49 (19–87)<td>1,204<tr><td>Drug<td>51<td>48</table>",
        ),
        (
            "t.htm",
            "<table><tr><td>Group<td>Age<td>n<tr><th>Placebo<td>49 (19–87)<td>1,204"
            "<tr><th>Drug<td>51<td>48</table>",
        ),
    ],
)
def test_the_same_table_in_every_format(tmp_path: Path, name: str, content: str) -> None:
    [table] = read(tmp_path, name, content)
    assert table.header == AGES[:1]
    assert table.body == AGES[1:]
    assert [number.text for number in numbers_of(table)] == ["49", "19", "87", "1204", "51", "48"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    [table] = read(tmp_path, "t.csv", "Größe,±\nfünf,5 µg\n".encode(encoding))
    assert (table.header, table.body) == ([["Größe", "±"]], [["fünf", "5 µg"]])


@pytest.mark.parametrize(
    ("text", "height"),
    [
        ("a,b\n1,2\n", 1),
        ("1,2\n3,4\n", 0),
        (",Placebo (n = 48),95% CI\nAge,5,6\n", 1),
        (",Lambs,\n,mean,SD\nweight,5,6\n", 2),
        (",Lambs,Lambs\n,mean,SD\nweight,5,6\n", 2),
        ("Name,City\nAnna,Paris\nIda,Rome\n", 1),
        ("Group,2019,2020\nA,5,6\n", 1),
        ("Group,2020,2020\nA,5,6\n", 0),
        ("Age,5\n", 0),
    ],
)
def test_headers_are_found(tmp_path: Path, text: str, height: int) -> None:
    [table] = read(tmp_path, "t.csv", text)
    assert len(table.header) == height


def test_all_tables_of_a_page(tmp_path: Path) -> None:
    page = """<html><body><table id="layout"><tr><td>
      <table id="x"><caption>Table 2. Ages, n = 5</caption>
      <tr><th rowspan=2>Group</th><th colspan=2>n = 4<sup>1</sup></th></tr>
      <tr><th>m<sub>1</sub></th><th>SD</th></tr>
      <tr><td>all</td><td>3<br>4</td><td>5<sup>a</sup></td></tr></table>
    </td></tr></table><table></table></body></html>"""
    [table] = read(tmp_path, "t.html", page)
    assert (table.id, table.label, table.caption) == ("x", "Table 2", "Ages, n = 5")
    assert table.header == [["Group", "n = 4^1", "n = 4^1"], ["Group", "m1", "SD"]]
    assert table.body == [["all", "3 4", "5^a"]]
    assert [number.text for number in numbers_of(table)] == ["4", "3", "4", "5"]


def test_a_header_found_in_a_page_keeps_its_spans(tmp_path: Path) -> None:
    page = "<table><tr><td>G<td colspan=2>n = 4<tr><td>a<td rowspan=2>5<td>6<tr><td>b<td>7</table>"
    [table] = read(tmp_path, "t.html", page)
    assert table.repeated == {(-1, 2), (1, 1)}
    assert [number.text for number in numbers_of(table)] == ["4", "5", "6", "7"]


def test_all_tables_of_a_text(tmp_path: Path) -> None:
    text = """# Results

**Table 3:** Ages

| a | b \\| c |
|---|---|
| **1**<sup>a</sup> | [2](x) `3` |
| 4 |

```
| no | table |
|---|---|
```

| x | y |
|---|:-:|
: Weights
"""
    ages, weights = read(tmp_path, "t.md", text)
    assert (ages.label, ages.caption) == ("Table 3", "Ages")
    assert ages.header == [["a", "b | c"]]
    assert ages.body == [["1^a", "2 _math_"], ["4", ""]]
    assert (weights.label, weights.caption, weights.body) == ("Table 2", "Weights", [])


def test_tables_of_an_article() -> None:
    [table] = read_tables(Path(__file__).parents[2] / "examples/articles/heart.xml")
    assert table.label == "Table 1"


GRID = "+---+---+\n| a | b |\n+===+===+\n| x | 5 |\n+---+---+\n\n: Ages {#tbl-a}\n"
TEX = (
    "\\begin{table}\\caption{Ages}\n\\begin{tabular}{ll}\na & b \\\\ \\hline\n"
    "x & 5 \\\\\n\\end{tabular}\\end{table}\n"
)
NOTEBOOK = {"cells": [{"cell_type": "markdown", "source": GRID}], "nbformat": 4, "metadata": {}}


@pytest.mark.parametrize(
    ("name", "content"),
    [("t.md", GRID), ("t.qmd", GRID), ("t.tex", TEX), ("t.ipynb", json.dumps(NOTEBOOK))],
)
def test_tables_of_documents_are_those_that_a_check_reads(
    tmp_path: Path, name: str, content: str
) -> None:
    [table] = read(tmp_path, name, content)
    assert (table.caption, table.header, table.body) == ("Ages", [["a", "b"]], [["x", "5"]])
    (checked,) = read_file(str(tmp_path / name))
    assert checked.tables == [table]
    assert table.file is not None
    assert (table.file.given, table.file.parts) == (checked.given, checked.parts)


def test_findings_in_tables_beside_a_text_have_their_places(tmp_path: Path) -> None:
    (tmp_path / "t.tex").write_text("\\input{rows}")
    (tmp_path / "rows.tex").write_text(
        "\\begin{tabular}{lr}\nGroup & Share \\\\ \\hline\nMen & 30 (70) \\\\\n\\end{tabular}"
    )
    beside = read_table_file(tmp_path / "t.tex")
    source = beside.tables[0].source
    assert source is not None
    start, end = source.span(0, 1, 0, 2)
    assert (beside.given or "")[start:end] == "30"
    assert beside.source.place(start, end).line == 3


BAD = {
    "empty": ("t.csv", " \n", r"t\.csv: empty, expected a table"),
    "blank cells": ("t.csv", ",,\n,,\n", "no table: got 1 without a word in them"),
    "ragged": ("t.csv", "a,b\n1,2\n3\n4,5\n", r"t\.csv:3: got 1 cells, expected 2 as in the first"),
    "long row": ("t.csv", "a,b\n1,2,3\n", "got 3 cells, expected 2"),
    "long row of bars": ("t.txt", "|a|b|\n|-|-|\n|1|2|3|\n", "Table 1, row 1: got 3 cells, exp"),
    "open quote": ("t.csv", 'a,b\n"1,2\n', r"t\.csv:\d: not separated values: unexpected end"),
    "binary": ("t.csv", b"a,b\n\0\1,2", "not a table as text: got a zero byte at offset 4"),
    "workbook": ("t.csv", b"PK\x03\x04abc", "got a ZIP archive, or a document that is one, exp"),
    "prose": ("t.dat", "Nothing but words here.\nNor here.", "not a table: got no commas"),
    "prose as Markdown": ("t.md", "Nothing | here", "no table: got none"),
    "page without tables": ("t.html", "<p>Nothing</p>", "no table: got none"),
    "empty tables": ("t.html", "<table><tr><td></table>", "no table: got 1 without a word"),
    "many cells": ("t.csv", ("," * 9_999 + "\n") * 101, "too large: expected at most 1,000,000"),
    "many bars": ("t.txt", "|" * 1_000_001, "too large: expected at most 1,000,000 cells"),
    "notebook without tables": ("t.ipynb", '{"cells": [], "nbformat": 4}', "no table: got none"),
    "many cells of a page": ("t.html", "<table>" + "<tr>" + "<td>" * 1_000_001, "too large"),
    "half UTF-16": ("t.csv", b"\xff\xfea\0,\0b", "not UTF-16"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_table_is_one_line(tmp_path: Path, kind: str) -> None:
    name, content, reason = BAD[kind]
    with pytest.raises(NumerateError, match=reason) as raised:
        read(tmp_path, name, content)
    assert str(raised.value).isprintable()


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(NumerateError, match="no such file"):
        read_tables(tmp_path / "none.csv")
    with pytest.raises(NumerateError, match="a folder, expected a file"):
        read_tables(tmp_path)


def test_ten_thousand_cells(tmp_path: Path) -> None:
    text = "\n".join(["name," + ",".join(f"c{c}" for c in range(99))] + ["x" + ",1" * 99] * 99)
    [table] = read(tmp_path, "t.csv", text)
    assert len(numbers_of(table)) == 99 * 99


CELLS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)


@given(
    rows=st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=5
        )
    )
)
def test_what_a_table_says_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]
) -> None:
    written = io.StringIO()
    csv.writer(written, delimiter="\t", quoting=csv.QUOTE_ALL).writerows(rows)
    folder = tmp_path_factory.mktemp("t")
    expected = [[" ".join(cell.split()) for cell in row] for row in rows]
    if any(map(any, expected)):
        [table] = read(folder, "t.tsv", written.getvalue())
        assert [*table.header, *table.body] == expected
    else:
        with pytest.raises(NumerateError):
            read(folder, "t.tsv", written.getvalue())


@given(
    data=st.binary(max_size=200), name=st.sampled_from(["t.csv", "t.tsv", "t.md", "t.html", "t"])
)
def test_no_bytes_end_in_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, name: str
) -> None:
    with suppress(NumerateError):
        assert read(tmp_path_factory.mktemp("t"), name, data)


@given(text=st.text(alphabet="|-: \n`ab1*_[]()<>\\", max_size=80))
def test_no_markdown_ends_in_a_traceback(text: str) -> None:
    document = read_text(text)
    assert document.given == text
    for table in document.tables:
        assert all(len(row) >= len(table.header[0]) for row in table.body)


# Documents


def test_a_text_brings_its_own_tables() -> None:
    document = read_text(
        "As in Tables 1 and 2–3, and Table 9.\n\nTable 1. Ages\n\n|a|b|\n|-|-|\n|1|2|\n\n"
        "|c|d|\n|-|-|\n|3|Table 1|\n\nNothing. See Table 2 again.\n\nSee table 9.\n"
    )
    assert [table.caption for table in document.tables] == ["Ages", ""]
    assert [paragraph.tables for paragraph in document.paragraphs] == [
        ("#1", "#2"),
        ("#1",),
        (),
        (),
        ("#2",),
        (),
    ]
    assert [p.holds for p in document.paragraphs] == [(), (), ("#1",), ("#2",), (), ()]
    assert document.tables_of(document.paragraphs[4])[0].body == [["3", "Table 1"]]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["116,4", "1,1"], ["116.4", "1.1"]),
        (["1.234,5", "71"], ["1234.5", "71"]),
        (["1,204", "48,5 %"], ["1.204", "48.5 %"]),  # the one says what the other means
        (["1,204", "48"], ["1,204", "48"]),
        (["1,204", "48.5"], ["1,204", "48.5"]),
        (["1,5", "48.5"], ["1,5", "48.5"]),  # nobody can tell
        (["49 (19–87)", "3,5"], ["49 (19–87)", "3.5"]),
    ],
)
def test_decimal_commas_between_semicolons(
    tmp_path: Path, cells: list[str], expected: list[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Group;Age;n\nPlacebo;" + ";".join(cells) + "\n", encoding="utf-8")
    (table,) = read_tables(path)
    assert table.body == [["Placebo", *expected]]


@given(
    st.lists(
        st.lists(st.text('ab 1.,;"\n\r\t\u3000', max_size=6), min_size=1, max_size=4), max_size=5
    ),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_every_character_of_a_cell_has_its_place(
    written: list[list[str]], delimiter: str, end: str
) -> None:
    """As Python's own reader cuts them."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=end).writerows(written)
    text = out.getvalue()
    source = SeparatedSource(text, delimiter)
    lines = io.StringIO(text, newline="")
    rows = filter(None, csv.reader(lines, delimiter=delimiter, strict=True))
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            for at, sign in enumerate(" ".join(cell.split())):
                start, stop = source.span(row, column, at, at + 1)
                assert (" ".join(text[start:stop].split()) or " ", stop - start) == (sign, 1)


def test_decimal_commas_keep_their_places(tmp_path: Path) -> None:
    content = "Group;Cost\nDrug;1.234,5\nAll; 12,25 \n"
    [table] = read(tmp_path, "t.csv", content)
    assert table.body == [["Drug", "1234.5"], ["All", "12.25"]]
    assert table.source is not None
    for row, written in enumerate(["1.234,5", "12,25"]):
        start, end = table.source.span(row, 1, 0, len(table.body[row][1]))
        assert content[start:end] == written
