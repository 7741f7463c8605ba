"""Rows of tables as lines, and the empty cells of a table that a model fills."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from numerate import load, prepare, train
from numerate.cli import main
from numerate.documents.document import Table
from numerate.errors import DatasetError, NumerateError
from numerate.lm.data.dataset import SPLITS, Dataset
from numerate.lm.data.table_rows import row_lines, without_row
from numerate.lm.model.filling import empty_cells, fill
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.source import ModelSource
from numerate.lm.train.options import TrainingOptions

TRIAL = Table(
    "t1",
    "Table 1",
    "Baseline",
    [["", "Group", "Group"], ["", "Placebo (n = 48)", "Losartan"]],
    [
        ["Demographics", "", ""],
        ["Age, years", "51 (9.8)", "NA"],
        ["Men", "–", "31"],
        ["Blood pressure", "", ""],
        ["Systolic", "142", ""],
        ["", "140 at 6 months", "131"],
    ],
)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows") / "data"
    prepare("cardiac", folder, documents=30, tables=True, keep="rows")
    return folder


@pytest.fixture(scope="module")
def run(rows: Path) -> Path:
    out = rows.parent / "run"
    train(
        rows,
        out,
        model="grounded",
        members=("d-rnn", "copy"),  # the fastest to ask
        hidden=8,
        vocabulary=60,
        options=TrainingOptions(epochs=1, batch_size=50),
        device="cpu",
    )
    return out


@pytest.fixture(scope="module")
def model(run: Path) -> NumeralLM:
    return load(run, device="cpu")


def test_a_row_is_a_line_with_what_is_above_it() -> None:
    age, men, systolic, later = row_lines(TRIAL)
    assert age.text(age.columns) == "Demographics, Age, years; Group Placebo (n = 48): 51 (9.8)"
    assert age.before(2) == f"{age.text(age.columns)}; Group Losartan: "
    assert men.before(1) == "Demographics, Men; Group Losartan: 31; Group Placebo (n = 48): "
    assert later.label == "Blood pressure, Systolic"
    assert later.text((2, 1)) == (
        "Blood pressure, Systolic; Group Losartan: 131; Group Placebo (n = 48): 140 at 6 months"
    )
    assert [line.row for line in (age, men, systolic, later)] == [1, 2, 4, 5]


def test_the_line_up_to_a_cell_is_how_the_line_with_it_begins() -> None:
    [age] = row_lines(Table("", "", "", [["", "Placebo", ""]], [["Age", "51", "49"]]))
    assert age.before(2) == "Age; Placebo: 51; "
    for columns in ((1, 2), (2, 1)):
        last = columns[-1]
        assert age.text(columns) == age.before(last) + age.texts[last]
    [bare] = row_lines(Table("", "", "", [], [["", "51"]]))
    assert bare.before(1) == ""


def test_the_rest_of_a_table_lacks_the_row() -> None:
    rest = without_row(TRIAL, 1)
    assert rest.body[1] == ["Age, years", "", ""]
    assert [rest.body[0], *rest.body[2:]] == [TRIAL.body[0], *TRIAL.body[2:]]
    assert TRIAL.body[1][1] == "51 (9.8)"
    assert rest.id != TRIAL.id


def test_rows_of_tables_can_be_learnt_from(rows: Path) -> None:
    dataset = Dataset.open(rows, verified=True)
    assert dataset.has_rows
    assert not dataset.has_oracle
    train = dataset.split("train")
    columns = train.read(["text", "tables"]).to_pydict()
    tables = {}
    for document, table in zip(documents_of_tables(dataset), train.tables(), strict=True):
        tables[document, table.id] = table
    documents = train.read(["document"])["document"].to_pylist()
    for document, text, (seen,) in zip(documents, *columns.values(), strict=True):
        label, _, value = text.partition("; Value: ")
        body = dict(tables[document, seen].body)
        assert body.pop(label) == ""
        assert float(value) > 0
        assert any(body.values())
    again = prepare("cardiac", rows.parent / "again", documents=30, tables=True, keep="rows")
    assert again["content_hash"] == dataset.manifest["content_hash"]


def documents_of_tables(dataset: Dataset) -> list[str]:
    train = set(dataset.split("train").read(["document"])["document"].to_pylist())
    found = [name for batch in dataset.tables() for name in batch["document"].to_pylist()]
    return [name for name in found if name in train]


def test_rows_that_show_each_other_are_no_data(rows: Path, tmp_path: Path) -> None:
    with pytest.raises(NumerateError, match="sight: got document for rows of tables"):
        train(rows, tmp_path / "run", model="grounded", vocabulary=60, sight="document")
    assert not (tmp_path / "run").exists()
    for name in SPLITS:  # whoever asks for it
        with pytest.raises(DatasetError, match="sight: got document for rows of tables"):
            Dataset.open(rows).split(name).sight("document")


def test_empty_cells_are_those_where_a_number_is_missing(model: NumeralLM) -> None:
    found = [(line.label, column) for line, column in empty_cells(model, TRIAL)]
    assert found == [
        ("Demographics, Age, years", 2),
        ("Demographics, Men", 1),
        ("Blood pressure, Systolic", 2),
    ]
    words = Table("", "", "", [["", "Sex", "Age"]], [["A", "male", "61"], ["B", "", "-"]])
    assert [column for _, column in empty_cells(model, words)] == [2]


def test_each_cell_is_filled_by_what_is_in_its_row_and_table(model: NumeralLM) -> None:
    found = fill(model, TRIAL)
    assert [(cell.row, cell.column) for cell in found] == [(2, 3), (3, 2), (5, 3)]
    for cell in found:
        assert cell.low <= cell.median <= cell.high
        assert 0 < cell.probability <= 1
        float(cell.likeliest)
    body = [list(cells) for cells in TRIAL.body]
    body[2][1], body[4][2] = "yes", "x"
    [alone] = fill(model, Table("", "Table 1", "Baseline", TRIAL.header, body))
    assert alone.median == pytest.approx(found[0].median, rel=1e-4)
    body[2][2] = "9000"  # another number in sight
    [other] = fill(model, Table("", "Table 1", "Baseline", TRIAL.header, body))
    assert other.probability != pytest.approx(alone.probability, rel=1e-6)
    told = fill(model, TRIAL, "The mean age was 52 years in the losartan group.")
    assert told[0].probability != pytest.approx(found[0].probability, rel=1e-6)


@pytest.fixture
def ask(
    model: NumeralLM, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """`numerate fill`, with a model that is open already."""
    monkeypatch.setattr(ModelSource, "load", lambda _: model)
    monkeypatch.setattr("signal.signal", lambda *_: None)

    def run(*arguments: object) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["numerate", "fill", "hf:m", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        return int(left.value.code or 0), "".join(capsys.readouterr())

    return run


def test_the_filled_table_stands_beside_the_original(
    ask: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    path = tmp_path / "ages.csv"
    path.write_text("Patient,Age,Weight\nA,61,72\nB,,80\nC,55,NA\n", encoding="utf-8")
    (tmp_path / "about.txt").write_text("B is 64 years old.", encoding="utf-8")
    status, output = ask(path, "--format", "json", "--text", tmp_path / "about.txt")
    assert status == 0
    cells = json.loads(output)
    assert [(cell["label"], cell["header"]) for cell in cells] == [("B", "Age"), ("C", "Weight")]
    written = (tmp_path / "ages.filled.csv").read_text(encoding="utf-8")
    head, first, second, third = csv.reader(written.splitlines())
    assert (head, first) == (["Patient", "Age", "Weight"], ["A", "61", "72"])
    assert second[1].startswith(f"{cells[0]['likeliest']} (median ")
    assert third[:2] == ["C", "55"]
    assert f"{cells[1]['high']:.6g})" in third[2]
    assert path.read_text(encoding="utf-8").endswith("C,55,NA\n")
    status, output = ask(path)
    assert status != 0
    assert "ages.filled.csv: exists; --force replaces it" in output
    assert (tmp_path / "ages.filled.csv").read_text(encoding="utf-8") == written
    status, output = ask(path, "--force")
    assert status == 0
    assert "2 cells filled" in " ".join(output.split())
    assert ask(path, "--force", "--format", "csv")[1].count("\n") == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("Patient,Age\nA,61\n", "no empty cell in a column or row of numbers"),
        ("Patient,Sex\nA,male\nB,\n", "no empty cell"),
        ("", "empty, expected a table"),
    ],
)
def test_what_cannot_be_filled_is_told(
    ask: Callable[..., tuple[int, str]], tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(content, encoding="utf-8")
    status, output = ask(path)
    assert status != 0
    assert message in output
    assert not (tmp_path / "table.filled.csv").exists()
    assert ask(path, tmp_path / "other.csv")[1].count("expected one: numerate fill RUN TABLE") == 1
