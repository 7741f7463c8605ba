"""One report, saved in every format: the same findings, but for their places."""

import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from tests.documents.office import replaced

import numerate

REPORT = Path(__file__).parents[1] / "data" / "report"  # `save.sh` there makes all of report.md
ERRORS = [("NUM101", "53", "63"), ("NUM103", "26.5", "20.5"), ("NUM301", "0.099", "0.010")]
CELL = "Table 1, row Current smokers, column Usual care (n = 122), %"
IN_PDF = CELL.replace("Table 1", "Table 1 on page 1")


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("report.html", ["paragraph 7", CELL, "paragraph 8"]),
        ("report.docx", ["paragraph 7", CELL, "paragraph 8"]),
        ("report-libreoffice.docx", ["paragraph 7", CELL, "paragraph 8"]),
        ("report-libreoffice.odt", ["paragraph 7", CELL, "paragraph 8"]),
        ("report.rtf", ["paragraph 7", CELL.replace("Usual care (n = 122), ", ""), "paragraph 8"]),
        ("report-libreoffice.rtf", ["paragraph 7", CELL, "paragraph 8"]),
        ("report-chromium.pdf", ["paragraph 7 on page 1", IN_PDF, "paragraph 8 on page 2"]),
        ("report-columns.pdf", ["paragraph 7 on page 1", IN_PDF, "paragraph 8 on page 1"]),
        (
            "report-libreoffice.pdf",
            ["paragraph 7 on page 1", IN_PDF, "paragraph 8 on page 1"],
        ),
        ("report.tex", ["line 92", CELL, "line 118"]),
        ("report.xlsx", ["Sheet1!A7", CELL.replace("Table 1", "Sheet1!E12"), "Sheet1 1, notes"]),
        ("report.md", ["line 13", CELL, "line 29"]),
        ("report.qmd", ["line 25", CELL, "line 40"]),
        ("report.ipynb", ["cell 1, line 21", CELL, "cell 1, line 36"]),
    ],
)
def test_the_three_errors_are_found(name: str, places: list[str]) -> None:
    found = numerate.check(REPORT / name)
    told = [(one.code, one.written, one.suggestion and one.suggestion.text) for one in found]
    assert sorted(told) == ERRORS
    words = {one.code: found.read.describe(one.where) for one in found}
    assert [words[code] for code, _, _ in ERRORS] == places


def test_an_odt_of_pandoc_has_what_pandoc_wrote() -> None:
    """It leaves out the second row of a header, which says that the column has percentages."""
    found = numerate.check(REPORT / "pandoc.odt")
    assert sorted((one.code, one.written) for one in found) == [
        (code, written) for code, written, _ in ERRORS if code != "NUM103"
    ]


CORRECTED = {"(53%)": "(62.9%)", "26.5": "20.5", "0.099": "0.010"}


def corrected(name: str) -> bytes:
    """The file without its three errors."""
    data = (REPORT / name).read_bytes()
    if name.endswith(".rtf"):
        return swapped(data)
    with zipfile.ZipFile(BytesIO(data)) as package:
        return replaced(data, {"content.xml": swapped(package.read("content.xml"))})


def swapped(data: bytes) -> bytes:
    for wrong, right in CORRECTED.items():
        assert data.count(wrong.encode()) == 1
        data = data.replace(wrong.encode(), right.encode())
    return data


@pytest.mark.parametrize("name", ["report-libreoffice.odt", "report.rtf", "report-libreoffice.rtf"])
def test_nothing_is_found_once_they_are_corrected(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(corrected(name))
    assert list(numerate.check(path)) == []
