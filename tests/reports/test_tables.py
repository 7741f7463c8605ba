"""Names of runs and files stand in tables, and no character of them acts."""

import csv
import io
import re
from pathlib import Path

import pytest

from numerate.lm.inspect.exhibit import Table
from numerate.reports.tables import ResultTable, as_latex, as_markdown, csv_text, print_tables

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


def test_latex_prints_signs_as_they_are_meant() -> None:
    cells = ["-3.02 ±0.1 [-15, 2]", "-11 to -1", "p < .05 > -.5", "(-1,234) [-inf, 1e-20]", "−2|"]
    words = ["mog (seed-2)", "2018-2019", "a - b", "--limit", "runs/-1"]
    columns = ["model", *map(str, range(len(cells)))]
    text = as_latex([ResultTable("-5 %", columns, [["a", *cells], ["b", *words]])])
    assert r"a & $-$3.02 $\pm$0.1 [$-$15, 2] & $-$11 to $-$1 & p $<$ .05 $>$ $-$.5 & " in text
    assert r" & ($-$1,234) [$-$inf, 1e-20] & $-$2\textbar{} \\" in text
    assert " & ".join(["b", *words]) in text
    assert r"\caption{$-$5 \%}" in text


def test_latex_says_once_what_it_needs_and_a_note_leaves_the_caption_its_size() -> None:
    one = ResultTable("one", ["model", "PP"], [["mog", "1.5"]], ("First.", "Second."))
    lines = as_latex([one, one]).splitlines()
    assert lines[0] == r"% needs \usepackage{booktabs}"
    assert sum("booktabs" in line for line in lines) == 1
    begin = lines.index(r"\begin{table}")
    assert lines[begin + 1] == r"\centering"
    end = lines.index(r"\end{tabular}")
    assert lines[end + 1 : end + 5] == [
        r"\par{\footnotesize First.\par}",
        r"\par{\footnotesize Second.\par}",
        r"\caption{one}",
        r"\end{table}",
    ]


def test_a_pipe_has_stars_where_a_terminal_has_bold_type(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [["mog", "251.3 ±2.0 [240.0, 260.0]", "7 %"], ["d-rnn", "300.1", "9 %"]]
    notes = ("Bold: the best of each column.", "Of the Bold: nothing.")
    best = frozenset({(0, 1), (1, 2)})
    print_tables([ResultTable("t", ["model", "PP", "x"], rows, notes, best)])
    shown = capsys.readouterr().out
    assert "251.3* ±2.0 [240.0, 260.0]" in shown
    assert "9 %*" in shown
    assert shown.count("*") == 3
    assert "\n*: the best of each column.\nOf the Bold: nothing.\n" in shown


def test_a_spreadsheet_computes_nothing_and_keeps_numbers() -> None:
    numbers = [-1, -0.5, 1e-9, True, None, "-0.5", "+1.2e-3", "−5", "2.0"]
    texts = ["=1+1", "@A1", "+A1", "-A1", "\t=1", "\r\n=1", Path("=x"), "a=1", "=5"]
    read_numbers, read_texts = csv.reader(io.StringIO(csv_text([numbers, texts])))
    assert read_numbers == ["-1", "-0.5", "1e-09", "True", "", "-0.5", "+1.2e-3", "−5", "2.0"]
    assert read_texts == ["'=1+1", "'@A1", "'+A1", "'-A1", "' =1", "'  =1", "'=x", "a=1", "'=5"]
    assert Table(["run", "value"], [["=1+1", -2.0]]).csv() == "run,value\n'=1+1,-2.0\n"
