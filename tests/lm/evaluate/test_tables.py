"""Tables in every format hold the figures, and can be read back."""

import csv
import html
import io
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from numerate.lm.backbones.contract import Targets
from numerate.lm.evaluate.bootstrap import PairedResult
from numerate.lm.evaluate.compared_tables import comparison_tables, models_table
from numerate.lm.evaluate.evaluate import Evaluation, strict
from numerate.lm.evaluate.figure_cells import labelled
from numerate.lm.evaluate.figures_as_data import as_csv, as_json
from numerate.lm.evaluate.result_tables import result_tables
from numerate.lm.evaluate.summary import summary
from numerate.places import copy_folder
from numerate.reports import tables
from numerate.reports.page import Section, page
from numerate.reports.tables import ResultTable, as_latex, as_markdown, format_figure, print_tables

NOTHING = np.zeros(0)


def evaluation(name: str, folder: str = "runs/one", **changes: Any) -> Evaluation:
    perplexities = {c: {"pp": 2.0 + i, "app": 3.0 + i} for i, c in enumerate("wna")}
    perplexities = dict(zip(("words", "numerals", "all"), perplexities.values(), strict=True))
    errors = {"rmse": 1.5, "mae": 2.5, "mdae": 3.5, "mape": 4.5, "mdape": 5.5, "zeros": 0.0}
    fields: dict[str, Any] = {
        "figures": {"perplexity": perplexities, "number_line": errors},
        "intervals": {},
        "limit": None,
        "counts": {"tokens": 10},
        "baselines": {"mean": errors, "median": errors | {"rmse": 9.5}},
        "sight": "none",
        "oracle": None,
        "oracle_with_tables": None,
        **changes,
    }
    targets = Targets(NOTHING, NOTHING, NOTHING, NOTHING)
    return Evaluation(
        name=name,
        folder=Path(folder),
        dataset="0123",
        split="test",
        adjusted=NOTHING,
        targets=targets,
        documents=NOTHING,
        by_numeral={},
        **fields,
    )


ORACLE = {
    "perplexity": {"words": 1.25, "numerals": 1.5, "all": 1.375},
    "nats_above": {"words": 0.25, "numerals": 0.875, "all": 0.5},
}
SEEING = {
    "perplexity": {"words": 1.25, "numerals": 1.125, "all": 1.25},
    "nats_above": {"words": 0.25, "numerals": 0.125, "all": 0.25},
}
COMPARISON = {
    "words": PairedResult(0.5, -0.25, 1.25, 0.0625, 0.125),
    "mape": PairedResult(-1234.5, -2000.0, 3.0, 0.25, 0.25),
}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.000"),
        (0.12345, "0.1235"),
        (12.345678, "12.35"),
        (123.456, "123.5"),
        (999.9, "999.9"),
        (1234.5, "1,234"),
        (9_999_999.0, "9,999,999"),
        (1e7, "1.00e+07"),
        (1.5e31, "1.50e+31"),
        (math.inf, "inf"),
        (math.nan, "–"),
    ],
)
def test_figures_have_four_digits(value: float, text: str) -> None:
    assert format_figure(value) == text


def test_the_tables_are_those_of_the_paper() -> None:
    perplexity, number_line = result_tables([evaluation("mog"), evaluation("d-rnn")])
    columns = [column.replace("\n", " ") for column in perplexity.columns]
    assert columns[1:] == [f"{c} {k}" for c in ("words", "numerals", "all") for k in ("PP", "APP")]
    assert perplexity.rows[0] == ["mog", "2.000", "3.000", "3.000", "4.000", "4.000", "5.000"]
    assert [row[0] for row in perplexity.rows] == ["mog", "d-rnn"]
    assert number_line.columns[1:] == ["RMSE", "MAE", "MdAE", "MAPE %", "MdAPE %"]
    assert [row[0] for row in number_line.rows] == ["mean", "median", "mog", "d-rnn"]
    assert number_line.rows[1] == ["median", "9.500", "2.500", "3.500", "4.500", "5.500"]
    assert all(len(row) == len(t.columns) for t in (perplexity, number_line) for row in t.rows)


def test_runs_of_one_model_are_told_apart_by_their_folders() -> None:
    runs = [evaluation("mog", "runs/a"), evaluation("d-rnn", "runs/b"), evaluation("mog", "runs/c")]
    for table in result_tables(runs):
        assert [row[0] for row in table.rows[-3:]] == ["mog (a)", "d-rnn", "mog (c)"]
    for other, title in ((2, "mog (a) against mog (c)"), (1, "mog against d-rnn")):
        tables = comparison_tables(runs[0], runs[other], COMPARISON)
        assert all(table.title.startswith(title) for table in tables)


@pytest.mark.parametrize(
    ("folders", "shown"),
    [
        (["runs/mog", "runs/seed-2/mog"], ["runs/mog", "seed-2/mog"]),
        (["runs/a", "runs/c", "old/c"], ["a", "runs/c", "old/c"]),
        (["x/1/mog", "y/1/mog", "x/1/mog"], ["x/1/mog", "y/1/mog", "x/1/mog"]),
        (["runs/mog", "runs/mog"], ["mog", "mog"]),
        (["runs/mog", "/tmp/runs/mog"], ["runs/mog", "tmp/runs/mog"]),
        (["mog", "/mog"], ["mog", "/mog"]),
    ],
)
def test_as_much_of_a_path_is_shown_as_tells_runs_apart(
    folders: list[str], shown: list[str]
) -> None:
    runs = [evaluation("mog", folder) for folder in folders]
    assert labelled(runs) == [f"mog ({ending})" for ending in shown]


def test_a_copy_of_a_run_elsewhere_is_called_by_its_address() -> None:
    copies = [copy_folder(f"s3://bucket/{name}/mog", "0123") for name in ("one", "two")]
    runs = [evaluation("mog", str(copy)) for copy in copies]
    assert labelled(runs) == ["mog (one/mog)", "mog (two/mog)"]


def test_comparisons_are_in_nats_and_in_the_units_of_the_errors() -> None:
    runs = [evaluation("mog", "runs/a"), evaluation("d-rnn", "runs/b")]
    nats, errors = comparison_tables(runs[0], runs[1], COMPARISON)
    assert nats.rows == [["words", "+0.5000", "-0.2500 to +1.2500", "0.0625", "0.1250"]]
    assert errors.rows == [["MAPE %", "-1,234", "-2,000 to +3", "0.2500", "0.2500"]]
    assert "the 2 figures of this comparison" in nats.notes[0]
    assert errors.notes[1] == (
        "p is of models that change places in documents, the interval of documents drawn anew: "
        "near the edge they may disagree."
    )
    level = {"mdae": PairedResult(0.0, -0.4, -0.0, 1.0, 1.0)}
    (row,) = comparison_tables(*runs, level)[1].rows
    assert row[1:3] == ["+0", "-0.4 to +0"]
    in_nats = {"words": COMPARISON["words"]}  # of perplexity alone there are no errors
    assert [table.columns[0] for table in comparison_tables(*runs, in_nats)] == ["tokens"]


def test_the_rows_of_selected_numbers_are_called_as_their_table_is() -> None:
    one = evaluation("mog")
    one.figures["selected"] = dict.fromkeys(("mae", "mdae", "mape", "mdape"), 0.5)
    title = result_tables([one])[-1].title
    assert title.startswith("With numbers that suit the error (selected): the median of the ")
    selected = {"selected_mae": PairedResult(0.5, -0.25, 1.25, 0.0625, 0.125)}
    (row,) = comparison_tables(one, one, selected)[1].rows
    assert row[0] == "MAE, selected"


def test_the_oracle_that_sees_what_a_model_sees_is_the_measure() -> None:
    both = {"oracle": ORACLE, "oracle_with_tables": SEEING}
    seeing, blind = (evaluation(sight, sight=sight, **both) for sight in ("tables", "paragraph"))
    for evaluations, labels, above in (
        ([seeing, blind], ["oracle", "oracle with tables in sight"], ["0.125", "0.875"]),
        ([seeing], ["oracle with tables in sight"], ["0.125"]),
        ([blind], ["oracle", "oracle with tables in sight"], ["0.875"]),
    ):
        rows = result_tables(evaluations)[0].rows
        assert [row[0] for row in rows[len(evaluations) :]] == labels
        assert [row[-1] for row in rows[: len(evaluations)]] == above
    farther = evaluation("farther", **both | {"oracle": SEEING})
    for evaluations, has_best in (([seeing, blind], False), ([blind, farther], True)):
        table = result_tables(evaluations)[0]
        # Distances to two different oracles say nothing of who is better.
        assert any(column == len(table.columns) - 1 for _, column in table.best) is has_best
        assert any("the oracle that sees as much" in note for note in table.notes) is not has_best
    rows = result_tables([blind])[0].rows
    assert rows[-1][3:5] == ["1.125", "1.125"]
    assert "the oracle with tables in sight has 1.125" in summary([seeing, blind])


def test_the_oracle_has_the_last_row_and_each_model_its_distance() -> None:
    table, _ = result_tables([evaluation("mog", oracle=ORACLE), evaluation("d-rnn", oracle=ORACLE)])
    assert [row[0] for row in table.rows] == ["mog", "d-rnn", "oracle"]
    assert table.rows[-1][1:] == ["1.250", "1.250", "1.500", "1.500", "1.375", "1.375", "0"]
    assert [row[-1] for row in table.rows[:-1]] == ["0.875", "0.875"]
    assert "oracle" in table.columns[-1]


def test_a_perplexity_that_a_few_numerals_make_is_told_in_every_format(
    capsys: pytest.CaptureFixture[str],
) -> None:
    spoilt = evaluation("mog", counts={"tokens": 5000, "numerals": 400})
    without = {"count": 2, "numerals": 72.25, "all": 2.625}
    spoilt.figures["perplexity"]["without_improbable"] = without
    tables = result_tables([spoilt, evaluation("d-rnn")])
    (note,) = tables[0].notes
    assert note == (
        "mog: 2 of 400 numerals, of a probability below 1e-20 each, make its perplexity; "
        "without them it is 72.25 on numerals, 2.625 on all."
    )
    print_tables(tables)
    terminal = " ".join(capsys.readouterr().out.split())
    shown = (
        terminal,
        as_markdown(tables),
        as_latex(tables),
        page("t", [Section("s", tables=tables)]),
    )
    assert all(note in text for text in shown)
    assert "perplexity.without_improbable.count,2," in as_csv([spoilt])
    record = json.loads(as_json([spoilt], None))["runs"]["runs/one"]
    assert record["perplexity"]["without_improbable"] == without


def test_true_zeros_are_mentioned() -> None:
    figures = evaluation("mog").figures
    figures["number_line"]["zeros"] = 1234.0
    assert "skip 1,234 true zeros" in result_tables([evaluation("mog", figures=figures)])[1].title
    assert "zeros" not in result_tables([evaluation("mog")])[1].title


def test_intervals_follow_their_figures() -> None:
    intervals = {"perplexity": {"words": {"pp": [1.5, 2.5]}}, "number_line": {"mae": [2.0, 3.0]}}
    perplexity, number_line = result_tables([evaluation("mog", intervals=intervals)])
    assert perplexity.rows[0][1:3] == ["2.000 [1.500, 2.500]", "3.000"]
    assert number_line.rows[2][1:3] == ["1.500", "2.500 [2.000, 3.000]"]
    assert number_line.notes[0].startswith("Intervals resample documents. Where ")
    assert number_line.notes[0].endswith(" they contain the truth less often than they say.")
    notes = [note for table in result_tables([evaluation("mog")]) for note in table.notes]
    assert notes == ["Bold: the best of each column."]  # two constants and a model, by their RMSE


@pytest.mark.parametrize(("ends", "told"), [([0.0, 1.0], True), ([0.0, 0.9], False)])
def test_an_interval_that_leaves_everything_open_is_said_to(ends: list[float], told: bool) -> None:
    figures = evaluation("mog").figures
    figures["beyond"] = dict.fromkeys(("accuracy", "order_accuracy", "log10_error", "crps"), 0.5)
    intervals = {"beyond": {"accuracy": ends}}
    *_, beyond = result_tables([evaluation("mog", figures=figures, intervals=intervals)])
    assert beyond.rows[0][1] == f"0.5000 [{ends[0]:.3f}, {'1.000' if told else '0.9000'}]"
    assert [note.split(":")[0] for note in beyond.notes] == (
        ["An interval from 0 to 1 leaves everything open"] if told else []
    )


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_markdown_has_one_cell_per_column() -> None:
    tables = result_tables([evaluation("softmax+rnn", oracle=ORACLE), evaluation("mog")])
    for block, table in zip(as_markdown(tables).split("\n\n**"), tables, strict=True):
        lines = [line for line in block.splitlines() if line.startswith("|")]
        assert len(lines) == 2 + len(table.rows)
        assert {len(cells(line)) for line in lines} == {len(table.columns)}
        assert set(cells(lines[1])) <= {"---", "---:"}
        assert [cells(line.replace("**", "")) for line in lines[2:]] == table.rows


def test_latex_is_balanced_and_escaped() -> None:
    odd = ResultTable("50 % of a_b & c", ["model", "x\n#"], [["a_b & 5 %", "–"], ["c", "1.0"]])
    tables = [*result_tables([evaluation("mog")]), odd]
    text = as_latex(tables)
    begun = re.findall(r"\\begin\{(\w+)\}", text)
    assert sorted(begun) == sorted(re.findall(r"\\end\{(\w+)\}", text))
    assert begun == ["table", "tabular"] * 3
    assert text.count("{") == text.count("}")
    needed, _, text = text.partition("\n")
    assert needed.startswith("% needs ")
    for block, table in zip(text.split("\n\n"), tables, strict=True):
        rows = [line for line in block.splitlines() if line.endswith(r"\\")]
        assert len(rows) == 1 + len(table.rows)
        for row in rows:
            assert len(re.findall(r"(?<!\\)&", row)) == len(table.columns) - 1
        assert not re.search(r"(?<!\\)[%#_]", block)
    assert r"a\_b \& 5 \% & -- \\" in text


def test_csv_has_every_figure_with_its_interval() -> None:
    one = evaluation(
        "mog", intervals={"perplexity": {"words": {"pp": [1.5, math.inf]}}}, oracle=ORACLE
    )
    two = evaluation("d-rnn", "runs/two, too")
    two.figures["number_line"]["mape"] = math.nan
    rows = list(csv.DictReader(io.StringIO(as_csv([one, two], COMPARISON))))
    assert all(set(row) == {"run", "model", "figure", "value", "low", "high"} for row in rows)
    found = {(row["run"], row["figure"]): row for row in rows}
    assert len(found) == len(rows)
    pp = found["runs/one", "perplexity.words.pp"]
    assert (pp["model"], float(pp["value"]), float(pp["low"]), pp["high"]) == ("mog", 2, 1.5, "")
    assert float(found["runs/two, too", "number_line.rmse"]["value"]) == 1.5
    assert found["runs/two, too", "number_line.mape"]["value"] == ""
    assert float(found["runs/one", "baselines.median.rmse"]["value"]) == 9.5
    assert float(found["runs/one", "oracle.nats_above.numerals"]["value"]) == 0.875
    difference = found["runs/one", "comparison.words"]
    assert difference["model"] == "against runs/two, too"
    assert [float(difference[k]) for k in ("value", "low", "high")] == [0.5, -0.25, 1.25]
    assert float(found["runs/one", "comparison.words.p_value"]["value"]) == 0.0625
    assert float(found["runs/one", "comparison.words.p_holm"]["value"]) == 0.125


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def test_json_has_null_where_there_is_no_number() -> None:
    one = evaluation("mog", intervals={"number_line": {"mae": [math.nan, math.inf]}})
    one.figures["perplexity"]["numerals"]["pp"] = math.inf
    one.baselines["mean"] = {"rmse": -math.inf}
    unsure = {"words": PairedResult(0.5, math.nan, math.nan, 1.0)}
    text = as_json([one], unsure)
    record = json.loads(text, parse_constant=refuse)
    run = record["runs"]["runs/one"]
    assert run["perplexity"]["numerals"] == {"pp": None, "app": 4.0}
    assert run["intervals"]["number_line"]["mae"] == [None, None]
    assert run["baselines"]["mean"]["rmse"] is None
    assert record["comparison"]["words"] == {
        "difference": 0.5,
        "low": None,
        "high": None,
        "p_value": 1.0,
        "p_holm": None,
    }
    assert "comparison" not in json.loads(as_json([one], None))


def test_strict_leaves_everything_else_as_it_is() -> None:
    value = {"a": [1, 2.5, "x", None, True], "b": {"c": 0.0}}
    assert strict(value) == value


def test_the_terminal_shows_brackets_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """Also such as could be taken for mark-up."""
    print_tables([ResultTable("title", ["model", "PP"], [["mog", "inf [inf, inf]"]])])
    assert "inf [inf, inf]" in capsys.readouterr().out


def test_notes_stand_under_their_table_in_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    """In the order given, after the last row and before the next table."""
    first = ResultTable("one", ["model", "PP"], [["mog", "1.5"]], ("5 % of <all>", "Second."))
    second = ResultTable("two", ["model", "PP"], [["d-rnn", "2.5"]])
    print_tables([first, second])
    html_page = page("t", [Section("s", tables=[first, second])])
    written = {
        "terminal": capsys.readouterr().out,
        "markdown": as_markdown([first, second]),
        "latex": re.sub(r"\\(%)|\$([<>])\$", r"\1\2", as_latex([first, second])),
        "page": html.unescape(html_page.partition("<main>")[2]),
    }
    for kind, text in written.items():
        places = [text.index(part) for part in ("1.5", "5 % of <all>", "Second.", "2.5")]
        assert places == sorted(places), kind
    assert "| mog | 1.5 |\n\n5 % of <all>\n\nSecond.\n\n**two**" in written["markdown"]


def better(name: str, **changes: float) -> Evaluation:
    """With lower errors where they are given: RMSE of 1.5 and so on elsewhere."""
    one = evaluation(name)
    one.figures["number_line"] = one.figures["number_line"] | changes
    return one


def test_the_best_of_each_column_is_marked() -> None:
    """Constants compete, the oracle does not; ties share; where all are equal there is no best."""
    first, second = better("mog", mae=1.0, mape=9.0), better("d-rnn", mdae=3.5001)
    first.figures["perplexity"]["words"] = {"pp": 1.9, "app": 2.9}
    perplexity, number_line = result_tables([first, second])
    assert perplexity.best == {(0, 2)}  # words APP; PP does not compare models
    names = [row[0] for row in number_line.rows]
    marked = {(names[row], number_line.columns[column]) for row, column in number_line.best}
    assert marked == {
        *((name, "RMSE") for name in ("mean", "mog", "d-rnn")),  # the median has 9.5
        ("mog", "MAE"),
        *((name, "MAPE %") for name in ("mean", "median", "d-rnn")),
    }
    goals = {"accuracy": 0.5, "order_accuracy": 0.5, "log10_error": 0.5, "crps": 0.5}
    beyond = [goals | {"accuracy": 0.6}, goals | {"crps": 0.4}]
    widths = {f"{kind}_width_{level}": 3.0 for kind in ("median", "mean") for level in (50, 90)}
    central = [
        {"own": widths | {"coverage_50": 0.4, "coverage_90": 0.99}},
        {
            "own": widths | {"coverage_50": 0.55, "coverage_90": 0.7},
            "calibrated": widths | {"coverage_50": 0.6, "coverage_90": 0.91, "mean_width_90": 9.0},
        },
    ]
    runs = [
        evaluation(name, figures=first.figures | {"beyond": figures, "central": intervals})
        for name, figures, intervals in zip(("mog", "d-rnn"), beyond, central, strict=True)
    ]
    *_, table, intervals_table = result_tables(runs)
    assert intervals_table.title.endswith("own, and those calibrated on the dev split")
    assert result_tables(runs[:1])[-1].title.endswith("; the model's own")
    marked = {(table.rows[row][0], table.columns[column]) for row, column in table.best}
    assert marked == {("mog", "exact"), ("d-rnn", "CRPS")}
    names = [row[0] for row in intervals_table.rows]
    assert names == ["mog", "d-rnn", "d-rnn, calibrated"]
    marked = {(names[row], intervals_table.columns[column]) for row, column in intervals_table.best}
    # The nearest to what they say; a narrow interval is no merit by itself.
    assert marked == {("d-rnn", "in 50 %"), ("d-rnn, calibrated", "in 90 %")}
    plain = "Bold: the best of each column."
    covering = "Bold: the best of each column; of coverage, the nearest to what is said."
    assert table.notes == perplexity.notes == number_line.notes == (plain,)
    assert intervals_table.notes == (covering,)
    costs = models_table(runs)
    assert costs.best
    assert costs.notes[-1] == covering
    alike = [evaluation("mog"), evaluation("d-rnn")]
    assert not models_table(alike).best
    for one in (models_table(alike), result_tables(alike)[0]):
        assert not any("Bold" in note for note in one.notes)


def told_apart(**numerals: tuple[float, float, float, float]) -> list[Evaluation]:
    """Models by PP, APP and its interval on numerals."""
    found = []
    for name, (pp, app, low, high) in numerals.items():
        one = evaluation(name.replace("_", "-"))
        one.figures["perplexity"]["numerals"] = {"pp": pp, "app": app}
        one.intervals["perplexity"] = {"numerals": {"app": [low, high]}}
        found.append(one)
    return found


def test_what_the_tables_say_follows_from_their_figures() -> None:
    runs = told_apart(softmax=(10, 160, 150, 170), mog=(80, 80, 75, 85), d_rnn=(77, 77, 72, 82))
    runs[1].figures["number_line"]["mdape"] = 2.25
    runs[0].oracle = ORACLE
    first, second = re.split(r"(?<=\.) (?=On the)", summary(runs))
    assert first == (
        "On numerals, d-rnn has the lowest adjusted perplexity, 77.00, with overlapping intervals "
        "for mog (80.00); of those that know only a list of numerals, the best is softmax (160.0), "
        "2.1 times as high; the oracle has 1.500."
    )
    assert second.replace("\xa0", " ") == (
        "On the number line, mog comes nearest, with a median percentage error of 2.250 %; always "
        "answering the mean of the training numbers has one of 5.500 %."
    )


def test_what_the_tables_say_of_other_figures() -> None:
    apart = told_apart(mog=(80, 80, 75, 85), h_softmax=(10, 60, 55, 65), softmax=(9, 70, 68, 72))
    first, second = re.split(r"(?<=\.) (?=On the)", summary(apart))
    assert first == (
        "On numerals, h-softmax has the lowest adjusted perplexity, 60.00, before softmax (70.00)."
    )
    assert "and no model a lower one: the nearest, h-softmax, has 5.500" in second
    alone = evaluation("mog")
    alone.figures["number_line"]["mdape"] = math.nan
    alone.figures["perplexity"]["numerals"] = {"pp": 4.0, "app": 4.0}
    assert summary([alone]) == "On numerals, mog has the lowest adjusted perplexity, 4.000."


def test_marks_in_every_format() -> None:
    rows = [["mog", "2.5 [2.0, 3.0]", "7 %"], ["d-rnn", "3.5 [3.0, 4.0]", "9 %"]]
    table = ResultTable("t", ["model", "PP", "x"], rows, best=frozenset({(0, 1), (1, 2)}))
    assert "| mog | **2.5** [2.0, 3.0] | 7 % |" in as_markdown([table])
    assert r"d-rnn & 3.5 [3.0, 4.0] & \textbf{9 \%} \\" in as_latex([table])
    shown = page("t", [Section("s", tables=[table])])
    assert "<td><strong>2.5</strong> <small>[2.0, 3.0]</small></td><td>7 %</td>" in shown
    assert "<td>3.5 <small>[3.0, 4.0]</small></td><td><strong>9 %</strong></td>" in shown


def test_the_terminal_has_marks_where_it_has_bold_type(monkeypatch: pytest.MonkeyPatch) -> None:
    table = ResultTable("t", ["model", "PP"], [["mog", "2.5"]], best=frozenset({(0, 1)}))
    for colours, expected in (("standard", "\x1b[1m2.5\x1b[0m"), (None, " 2.5 ")):
        stream = io.StringIO()
        console = Console(file=stream, force_terminal=True, color_system=colours)
        monkeypatch.setattr(tables, "plain_console", lambda console=console: console)
        print_tables([table])
        assert expected in stream.getvalue()


@pytest.mark.parametrize("columns", ["40", "80"])
def test_a_narrow_terminal_folds_names_but_never_cuts_figures(
    columns: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    names = ["a-pretrained-model · combination: mog", "h-softmax+rnn"]
    cells = ["0.03412 [0.01412, 0.05412]", "1,234,567", "12.34", "0.5678", "1.23e+10", "98.76"]
    table = ResultTable("title", ["model", *"abcdef"], [[name, *cells] for name in names])
    print_tables([table])
    shown = capsys.readouterr().out
    assert "…" not in shown
    for word in " ".join(cells).split():
        assert shown.count(word) == 2
    assert "h-softmax+rnn" in shown


def test_every_table_says_that_it_rests_on_some_paragraphs() -> None:
    some = [evaluation("mog", limit=1200), evaluation("d-rnn", limit=1200)]
    note = "Of 1,200 paragraphs of the test split only (--limit), always the same."
    for table in [*result_tables(some), *comparison_tables(*some, COMPARISON)]:
        assert table.notes[-1] == note
    assert note in as_markdown(result_tables(some))
    whole = [evaluation("mog"), evaluation("d-rnn")]
    for table in [*result_tables(whole), *comparison_tables(*whole, COMPARISON)]:
        assert not any("--limit" in sentence for sentence in table.notes)


def test_models_without_the_number_line_are_left_out_of_its_table_alone() -> None:
    """As where one run was evaluated with `--metrics perplexity`, and another with more."""
    whole, part = evaluation("mog"), evaluation("softmax", "runs/two")
    del part.figures["number_line"]
    for found in ([whole, part], [part, whole]):
        perplexities, line = result_tables(found)
        assert {row[0] for row in perplexities.rows} == {"mog", "softmax"}
        assert [row[0] for row in line.rows if row[0] in {"mog", "softmax"}] == ["mog"]
        assert "On the number line" in summary(found)
    assert "On the number line" not in summary([part])
