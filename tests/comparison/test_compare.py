"""Numbers of a text beside its sources: quoted, derived or unsupported, and why."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import numerate
from numerate.cli import app
from numerate.comparison.compare import COLUMNS, Comparison
from numerate.documents.document import Table
from numerate.documents.text import read_text
from numerate.errors import NumerateError

SOURCE = (
    "We enrolled 1,240 patients at 17 hospitals. The mean age was 61.34 years in the treatment "
    "group and 59.8 years in the placebo group. Of 618 patients who were given the drug, 93 died "
    "within 30 days; of 622 with placebo, 131 died."
)
TABLE = Table(
    "t1",
    "Table 1",
    "Blood pressure at baseline",
    [["", "Drug", "Placebo"]],
    [["Systolic pressure (mm Hg)", "141.2", "138.7"], ["Diastolic pressure (mm Hg)", "88", "86"]],
)


def verdicts(found: Comparison) -> list[tuple[str, str]]:
    return [(one.written, one.verdict) for one in found]


def test_what_a_source_says_is_quoted_with_its_place() -> None:
    found = numerate.compare("In all 1,240 patients were enrolled at 17 hospitals.", SOURCE)
    assert verdicts(found) == [("1,240", "quoted"), ("17", "quoted")]
    assert found[0].because == "line 1"
    assert not found.unsupported


def test_what_is_rounded_is_quoted() -> None:
    (one,) = numerate.compare("The mean age in the treatment group was 61.3 years.", SOURCE)
    assert one.verdict == "quoted"
    assert one.because == "rounded from 61.34 in line 1"


def test_what_follows_is_derived_with_its_formula() -> None:
    text = "Of the patients who were given the drug, 15.0% died within 30 days."
    found = numerate.compare(text, SOURCE)
    assert verdicts(found) == [("15.0", "derived"), ("30", "quoted")]
    assert found[0].because == "100 · 93/618 (line 1)"


@pytest.mark.parametrize("wrong", ["1,420", "1,204", "12,400", "1,241"])
def test_a_slip_is_unsupported_and_what_is_said_is_told(wrong: str) -> None:
    found = numerate.compare(f"In all {wrong} patients were enrolled at 17 hospitals.", SOURCE)
    assert verdicts(found) == [(wrong, "unsupported"), ("17", "quoted")]
    assert found[0].because == "1,240 is said in line 1"


def test_cells_of_tables_are_sources() -> None:
    text = "Systolic pressure was 141.2 mm Hg with the drug and 138.7 mm Hg with placebo."
    found = numerate.compare(text, [SOURCE, TABLE])
    assert {one.verdict for one in found} == {"quoted"}
    assert found[0].because == "source 2, Table 1, row Systolic pressure (mm Hg), column Drug"
    assert found[1].because == "source 2, Table 1, row Systolic pressure (mm Hg), column Placebo"


def test_the_difference_of_two_cells_is_derived() -> None:
    (one,) = numerate.compare("Systolic pressure differed by 2.5 mm Hg.", TABLE)
    assert one.verdict == "derived"
    assert one.because.startswith("|138.7 − 141.2|") or one.because.startswith("|141.2 − 138.7|")


def test_files_and_documents_are_read(tmp_path: Path) -> None:
    source, table = tmp_path / "report.md", tmp_path / "data.csv"
    source.write_text(SOURCE)
    table.write_text("group,systolic pressure\nDrug,141.2\nPlacebo,138.7\n")
    text = "Of 1,240 patients, those with the drug had a systolic pressure of 141.2."
    found = numerate.compare(read_text(text), [source, table])
    assert verdicts(found) == [("1,240", "quoted"), ("141.2", "quoted")]
    assert found[0].because == f"{source}, line 1"
    assert str(table) in found[1].because


def test_a_lower_share_of_alarms_calls_fewer_unsupported() -> None:
    text = "There were 12 nurses, 40 beds, 1,241 patients and 7 wards at 17 hospitals in 1999."
    counts = [
        len(numerate.compare(text, SOURCE, alarms=alarms).unsupported) for alarms in (0.01, 0.2)
    ]
    assert counts[0] <= counts[1]


def test_places_are_those_of_the_text() -> None:
    text = "First 17 hospitals.\n\nThen 1,240 patients."
    found = numerate.compare(text, SOURCE)
    assert [text[one.start : one.end] for one in found] == ["17", "1,240"]


@pytest.mark.parametrize(
    ("text", "source", "verdict"),
    [
        ("It cost 15.1 billion dollars.", "It cost 15.1 million dollars.", "unsupported"),
        ("It cost 15,100,000 dollars.", "It cost 15.1 million dollars.", "quoted"),
        ("It cost €15.1 million.", "It cost $15.1 million.", "unsupported"),
        ("The route is 9.6 miles long.", "The route is 9.6 km long.", "unsupported"),
        ("The route is 9.6 km long.", "The route is 9.6 km long.", "quoted"),
        ("It has about 6,700 employees.", "It has 6,677 employees.", "quoted"),
        ("It has about 6,800 employees.", "It has 6,677 employees.", "unsupported"),
    ],
)
def test_scales_currencies_measures_and_round_numbers(text: str, source: str, verdict: str) -> None:
    (one,) = numerate.compare(text, source)
    assert one.verdict == verdict


def test_a_further_source_takes_nothing_away() -> None:
    text = "Systolic pressure was 141.2 mm Hg."
    other = "The hospital plans to spend 30 million dollars on blood pressure by 2027."
    for sources in ([TABLE], [TABLE, other], [other, TABLE]):
        assert verdicts(numerate.compare(text, sources)) == [("141.2", "quoted")]


def test_a_percentage_follows_from_what_stands_right_before_it() -> None:
    text = "Deaths: 93/618 (15%) with the drug, 131/622 (21%) with placebo."
    found = numerate.compare(text, SOURCE)
    assert [one.because for one in found if one.verdict == "derived"] == [
        "100 · 93/618",
        "100 · 131/622",
    ]
    wrong = numerate.compare(text.replace("15%", "51%"), SOURCE)
    assert ("51", "unsupported") in verdicts(wrong)


def test_a_number_does_not_follow_from_itself() -> None:
    source = "Nothing is here but 77 dogs and 3.3 cats."
    found = numerate.compare("Of 1,420 patients 0.3 were lost.", source, alarms=0.01)
    assert {one.verdict for one in found} == {"unsupported"}


def test_items_of_lists_and_times_of_day_are_no_claims() -> None:
    text = "1. We met at 10:30 to speak of 17 hospitals."
    assert verdicts(numerate.compare(text, SOURCE)) == [("17", "quoted")]


def test_a_text_is_never_the_name_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "results.csv").write_text("a,5\n")
    monkeypatch.chdir(tmp_path)
    assert len(numerate.compare("results.csv", SOURCE)) == 0
    assert len(numerate.compare(Path("results.csv"), SOURCE)) == 1


def test_sources_without_names_are_counted() -> None:
    found = numerate.compare("We met 12 cats and 31 dogs.", ["We met 12 cats.", "We met 31 dogs."])
    assert [one.because for one in found] == ["line 1", "source 2, line 1"]


@pytest.mark.parametrize("source", ["", "No number here."])
def test_without_a_number_in_the_source_nothing_is_supported(source: str) -> None:
    found = numerate.compare("There were 12 men.", source)
    assert verdicts(found) == [("12", "unsupported")]
    assert found[0].because == ""


def test_a_text_without_numbers_has_no_rows_but_all_columns() -> None:
    table = numerate.compare("No number here.", SOURCE).to_arrow()
    assert table.num_rows == 0
    assert table.column_names == list(COLUMNS)


def test_tables_of_arrow_and_pandas_have_a_row_for_each_number() -> None:
    found = numerate.compare("In all 1,240 patients at 17 hospitals.", SOURCE)
    assert found.to_arrow().to_pylist()[1]["written"] == "17"
    pandas = pytest.importorskip("pandas")
    frame = found.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["verdict"].tolist() == ["quoted", "quoted"]


@pytest.mark.parametrize(
    ("answer", "sources", "alarms", "said"),
    [
        ("1 man", [], 0.05, "sources: got none"),
        ("1 man", [3], 0.05, "source: got int"),
        ("1 man", None, 0.05, "sources: got NoneType"),
        (3, "1 man", 0.05, "compare: got int"),
        ("1 man", "1 man", 0.5, "alarms: got 0.5"),
        ("1 man", "missing.md", 0.05, "missing.md"),
    ],
)
def test_what_cannot_be_compared_is_said(
    answer: object, sources: object, alarms: float, said: str
) -> None:
    with pytest.raises(NumerateError, match=said):
        numerate.compare(answer, sources, alarms=alarms)  # type: ignore[arg-type]


NUMBERS = st.lists(
    st.sampled_from(
        ["0", "0.0", "12", "7%", "1e300", "-3.2", "10^-5", "99999999999", "½", "1,000"]
    ),
    max_size=12,
)


@given(NUMBERS, NUMBERS)
@settings(max_examples=60, deadline=None)
def test_any_numbers_can_be_compared(text: list[str], source: list[str]) -> None:
    found = numerate.compare(" and ".join(text) or "none", " or ".join(source) or "none")
    assert all(0 <= one.probability <= 1 for one in found)
    assert all(one.verdict in {"quoted", "derived", "unsupported"} for one in found)


def test_the_command_tells_what_is_unsupported(tmp_path: Path) -> None:
    answer, source = tmp_path / "answer.txt", tmp_path / "source.txt"
    answer.write_text("In all 1,420 patients were enrolled at 17 hospitals.")
    source.write_text(SOURCE)
    run = CliRunner().invoke(app, ["compare", str(answer), "--source", str(source)])
    assert run.exit_code == 1
    assert "1,420 unsupported: 1,240 is said in" in run.output.replace("\n", " ")
    assert "2 numbers: 1 quoted, 0 derived, 1 unsupported." in run.output
    answer.write_text("In all 1,240 patients were enrolled at 17 hospitals.")
    arguments = ["compare", str(answer), "--source", str(source), "--format", "json"]
    run = CliRunner().invoke(app, arguments)
    assert run.exit_code == 0
    assert [one["verdict"] for one in json.loads(run.stdout)["numbers"]] == ["quoted", "quoted"]
    run = CliRunner().invoke(app, [*arguments[:-1], "csv"])
    assert run.stdout.splitlines()[0].split(",") == list(COLUMNS)
    run = CliRunner().invoke(app, [*arguments[:-1], "xml"])
    assert "format 'xml': expected one of terminal, json, csv" in str(run.exception)


def test_every_source_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The ejection fraction was 41 %.")
    gone = [str(tmp_path / name) for name in ("one.txt", "two.txt")]
    sources = [part for source in gone for part in ("--source", source)]
    command = [sys.executable, "-m", "numerate", "compare", str(tmp_path / "a.txt"), *sources]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.splitlines() == [f"numerate: {source}: no such file" for source in gone]


def test_it_needs_neither_torch_nor_arrow() -> None:
    code = (
        "import sys, numerate\n"
        "found = numerate.compare('36 of 120 are 30 %.', '36 of 120 died.')\n"
        "print(*(one.verdict for one in found), {'torch', 'pyarrow'} & {*sys.modules})"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "quoted quoted derived set()\n"
