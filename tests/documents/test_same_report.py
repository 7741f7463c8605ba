"""One report, saved in every format: the same findings, but for their places."""

from pathlib import Path

import pytest

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
