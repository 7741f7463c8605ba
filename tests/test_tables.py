"""Names of runs and files stand in tables, and no character of them acts."""

import csv
import io
import re
from pathlib import Path

import pytest

from numerate.report.exhibit import Table
from numerate.tables import ResultTable, as_latex, as_markdown, csv_text, print_tables

HOSTILE = "[/b]:100:\x1b[2J\u202e|\\input{x}$~^"
SHOWN = r"[/b]:100:\x1b[2J\u202e|\input{x}$~^"


@pytest.fixture
def table() -> ResultTable:
    return ResultTable(HOSTILE, ["model\n%", HOSTILE], [[HOSTILE, "1.5 [1, 2]"]], (HOSTILE,))


def test_the_terminal_shows_names_as_they_are(
    table: ResultTable, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    print_tables([table])
    assert capsys.readouterr().out.count(SHOWN) == 4


def test_markdown_keeps_its_columns(table: ResultTable) -> None:
    lines = as_markdown([table]).splitlines()
    for line in lines[2:5]:
        assert len(re.findall(r"(?<!\\)\|", line)) == 3
    assert "\x1b" not in "".join(lines)


def test_latex_has_no_command_of_a_stranger(table: ResultTable) -> None:
    text = as_latex([table])
    assert r"\input" not in text
    assert text.count(r"\textbackslash{}input\{x\}\$\textasciitilde{}\textasciicircum{}") == 4


def test_a_spreadsheet_computes_nothing_and_keeps_numbers() -> None:
    numbers = [-1, -0.5, 1e-9, True, None, "-0.5", "+1.2e-3", "−5", "2.0"]
    texts = ["=1+1", "@A1", "+A1", "-A1", "\t=1", "\r\n=1", Path("=x"), "a=1", "=5"]
    read_numbers, read_texts = csv.reader(io.StringIO(csv_text([numbers, texts])))
    assert read_numbers == ["-1", "-0.5", "1e-09", "True", "", "-0.5", "+1.2e-3", "−5", "2.0"]
    assert read_texts == ["'=1+1", "'@A1", "'+A1", "'-A1", "' =1", "'  =1", "'=x", "a=1", "'=5"]
    assert Table(["run", "value"], [["=1+1", -2.0]]).csv() == "run,value\n'=1+1,-2.0\n"
