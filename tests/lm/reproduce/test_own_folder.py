"""What a reproduction leaves in its folder: all rows, whatever fails, and nothing of others."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.lm.reproduce.test_reproduce import TABLES, evaluated_here, one_by_one  # noqa: F401
from typer.testing import CliRunner

from numerate.cli import app
from numerate.cli.exits import errors_exit
from numerate.cli.reproduce_command import reproduce
from numerate.errors import BROKEN, FAILED, FailureError, NumerateError, RunError
from numerate.lm.data.prepare import prepare
from numerate.lm.inspect import inspect
from numerate.lm.inspect.exhibit import Exhibit
from numerate.lm.reproduce import results
from numerate.lm.reproduce.children import Children
from numerate.lm.reproduce.choices import Plan, Task
from numerate.lm.train.options import TrainingOptions

TRAINED: list[str] = []


def train_here(children: Children, tasks: list[Task]) -> None:
    for task in tasks:
        TRAINED.append(task.name)
        found = CliRunner().invoke(app, children.plan.training_arguments(task))
        children.standings.rows[task.name].end("failed" if found.exit_code else "trained")


@pytest.fixture(autouse=True)
def trained_here(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what is trained."""
    monkeypatch.setattr(Children, "train", train_here)
    TRAINED.clear()
    return TRAINED


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare the saving of figures, which takes longest."""
    monkeypatch.setattr(Exhibit, "save", lambda exhibit, folder: "<svg></svg>")


pytestmark = pytest.mark.usefixtures("drawn", "evaluated_here")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """A finished reproduction of two rows."""
    root = tmp_path_factory.mktemp("made")
    prepare("cardiac", root / "cardiac", documents=20, processes=1)
    plan = Plan(
        root / "cardiac",
        root / "out",
        models=("softmax", "mog"),
        options=TrainingOptions(epochs=1, batch_size=20),
        vocabulary=200,
        hidden=8,
        device="cpu",
        given_threads=1,
        metrics="perplexity",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Children, "train", train_here)
        patch.setattr(results, "each_task", one_by_one)
        patch.setattr(Exhibit, "save", lambda exhibit, folder: "<svg></svg>")
        reproduce(plan)
    return plan


@pytest.fixture
def plan(made: Plan, tmp_path: Path) -> Plan:
    """The same in a folder that a test may spoil."""
    shutil.copytree(made.out, tmp_path / "out")
    return replace(made, out=tmp_path / "out")


def rows(plan: Plan) -> dict[str, Any]:
    """By row what `metrics.json` says of it."""
    found = json.loads((plan.out / "metrics.json").read_text())["runs"]
    return {Path(run).name: record for run, record in found.items()}


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def fails(error: BaseException) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


# Whatever fails in the report


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (KeyError("number_line"), BROKEN, "report: KeyError: 'number_line'; the tables are in"),
        (RunError("mog: spoilt"), FAILED, "mog: spoilt"),
        (KeyboardInterrupt(), 130, "interrupted; the same command goes on"),
    ],
)
@pytest.mark.parametrize("where", ["errors_by_magnitude", "open_runs", "results_section"])
def test_tables_are_printed_and_kept_whatever_fails_in_the_report(
    where: str,
    error: BaseException,
    status: int,
    said: str,
    plan: Plan,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = {name: (plan.out / name).read_bytes() for name in TABLES}
    for name in (*TABLES, "report.html"):
        (plan.out / name).unlink()
    monkeypatch.setattr(inspect, where, fails(error))
    with pytest.raises(SystemExit) as left, errors_exit():
        reproduce(plan)
    assert left.value.code == status
    assert {name: (plan.out / name).read_bytes() for name in TABLES} == before
    found = capsys.readouterr()
    assert "Perplexity and adjusted perplexity" in found.out
    assert [line for line in found.err.splitlines() if line.startswith("numerate: ")] != []
    assert said in found.err
    is_figure = where == "errors_by_magnitude" and isinstance(error, Exception)
    assert (plan.out / "report.html").exists() == is_figure


def test_a_figure_that_fails_costs_no_other(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = json.loads((plan.out / "report.json").read_text())["figures"]
    draw = inspect.next_numeral

    def draw_some(*about: Any, name: str) -> Exhibit:
        if name == "next-numeral-1":
            raise ZeroDivisionError("by nothing")
        return draw(*about, name=name)

    monkeypatch.setattr(inspect, "next_numeral", draw_some)
    monkeypatch.setattr(inspect, "gaussian_components", fails(NumerateError("no components")))
    with pytest.raises(ZeroDivisionError, match="by nothing"):
        reproduce(plan)
    made = json.loads((plan.out / "report.json").read_text())["figures"]
    assert [*whole] == sorted([*made, "next-numeral-1", "gaussian-components-mog"], key=whole.index)
    page = (plan.out / "report.html").read_text(encoding="utf-8")
    told = capsys.readouterr().err
    for line in ("Next numeral: ZeroDivisionError: by nothing", "components: no components"):
        assert line in page
        assert f"{line}\n" in told


def test_a_file_with_the_name_of_a_figure_is_refused_before_anything_is_trained(
    plan: Plan, trained_here: list[str]
) -> None:
    theirs = plan.out / "figures" / "calibration.png"
    (plan.out / "figures").mkdir(exist_ok=True)
    theirs.write_bytes(b"irreplaceable")
    record = json.loads((plan.out / "report.json").read_text())
    record["figures"].remove("calibration")
    (plan.out / "report.json").write_text(json.dumps(record))
    before = files(plan.out)
    with pytest.raises(NumerateError, match=r"holds figures/calibration\.png, which numerate did"):
        reproduce(replace(plan, models=("d-rnn",)))
    assert trained_here == []
    assert files(plan.out) == before


def test_rows_that_failed_are_named_beside_what_failed_in_the_report(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(inspect, "results_section", fails(RunError("no results")))
    plan = replace(plan, models=("d-rnn",))
    plan.run(plan.tasks[0]).mkdir()
    (plan.run(plan.tasks[0]) / "checkpoint.safetensors").write_bytes(b"half")
    with pytest.raises(FailureError, match=r"^report: no results; the tables are in"):
        reproduce(plan)
    assert "numerate: failed: d-rnn (" in capsys.readouterr().err


# Rows and seeds are added


def test_rows_and_seeds_are_added_in_the_order_of_the_suite_and_of_addition(
    plan: Plan, trained_here: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    reproduce(replace(plan, models=("log-normal",)))
    assert trained_here == ["log-normal"]
    assert [*rows(plan)] == ["softmax", "mog", "log-normal"]
    printed = capsys.readouterr().out
    assert all(f" {row} " in printed for row in rows(plan))
    reproduce(replace(plan, models=("d-rnn",), seeds=2))
    assert trained_here == ["log-normal", "d-rnn, seed 1", "d-rnn, seed 2"]
    found = rows(plan)
    assert [*found] == ["softmax", "d-rnn", "mog", "log-normal"]
    assert {name: row["seeds"] for name, row in found.items()} == {
        "softmax": 1, "d-rnn": 2, "mog": 1, "log-normal": 1,
    }  # fmt: skip
    whole = (plan.out / "tables.md").read_text()
    reproduce(replace(plan, models=("mog",)))  # also of seeds
    assert (plan.out / "tables.md").read_text() == whole
    page = (plan.out / "report.html").read_text(encoding="utf-8")
    assert all(f">{name}<" in page for name in found)


def test_rows_of_a_folder_are_found_without_a_record(plan: Plan) -> None:
    """As in folders of earlier versions, with what they had beside the runs moved away."""
    for path in plan.out.iterdir():
        if path.name != "runs":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    reproduce(replace(plan, models=("mog",)))
    assert [*rows(plan)] == ["softmax", "mog"]


def test_rows_that_are_not_finished_are_left_out(plan: Plan) -> None:
    config = plan.run(plan.tasks[0]) / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "state": "interrupted"}))
    reproduce(replace(plan, models=("mog",)))
    assert [*rows(plan)] == ["mog"]


def test_rows_of_other_options_are_refused_before_any_is_trained(
    plan: Plan, trained_here: list[str]
) -> None:
    before = files(plan.out)
    other = TrainingOptions(epochs=2, batch_size=20)
    with pytest.raises(RunError, match=r"softmax: a run of other options or data: epochs was 1"):
        reproduce(replace(plan, models=("d-rnn",), options=other))
    assert trained_here == []
    assert files(plan.out) == before


def test_rows_over_a_pretrained_model_stand_by_themselves(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    shutil.rmtree(plan.out / "runs" / "mog")  # which the other suite has, too
    other = replace(plan, suite="pretrained", backbone=f"hf:{tmp_path / 'model'}", models=("lm",))
    with pytest.raises(RunError, match="softmax: a run of other options or data: backbone was"):
        reproduce(other)


def test_figures_of_more_metrics_are_read_and_those_of_fewer_found_anew(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    reproduce(replace(plan, models=("mog",), metrics="paper"))
    assert all(row["number_line"]["mae"] for row in rows(plan).values())
    whole = files(plan.out / "runs")
    monkeypatch.setattr(results, "evaluate_task", None)  # would be called
    reproduce(replace(plan, models=("mog",), metrics="perplexity"))
    assert all("number_line" not in row for row in rows(plan).values())
    assert files(plan.out / "runs") == whole


# Files of others


@pytest.mark.parametrize("name", [*TABLES, "report.html", "report.json", "figures"])
def test_files_of_others_are_refused_before_any_training(
    name: str, made: Plan, tmp_path: Path, trained_here: list[str]
) -> None:
    plan = replace(made, out=tmp_path / "out")
    plan.out.mkdir()
    (plan.out / name).write_text("mine")
    with pytest.raises(NumerateError, match=rf"out: {name}: not written by a reproduction"):
        reproduce(plan)
    assert trained_here == []
    assert {path.name: path.read_text() for path in plan.out.iterdir()} == {name: "mine"}


def test_files_beside_its_own_stay_as_they_are(made: Plan, tmp_path: Path) -> None:
    plan = replace(made, out=tmp_path, models=("mog",))
    shutil.copytree(made.dataset, tmp_path / "cardiac")
    (tmp_path / "tables.txt").write_text("mine")
    before = files(tmp_path)
    reproduce(replace(plan, dataset=tmp_path / "cardiac"))
    assert before.items() <= files(tmp_path).items()
    record = json.loads((tmp_path / "reproduce.json").read_text())
    assert record["files"] == sorted([*TABLES, "report.html", "report.json", "figures"])
    assert [row["name"] for row in record["rows"]] == ["mog"]


def test_a_file_that_has_appeared_during_training_is_kept(
    made: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = replace(made, out=tmp_path / "out", models=("mog",))

    def train(children: Children, tasks: list[Task]) -> None:
        train_here(children, tasks)
        (plan.out / "tables.md").write_text("mine")

    monkeypatch.setattr(Children, "train", train)
    with pytest.raises(NumerateError, match="not written by a reproduction"):
        reproduce(plan)
    assert (plan.out / "tables.md").read_text() == "mine"


@pytest.mark.parametrize("text", ["mine", "{}", '{"format": "numerate reproduction"}'])
def test_a_record_that_is_not_ours_is_refused(text: str, plan: Plan) -> None:
    (plan.out / "reproduce.json").write_text(text)
    before = files(plan.out)
    with pytest.raises(NumerateError, match=r"reproduce\.json: not the record of a reproduction"):
        reproduce(plan)
    assert files(plan.out) == before


def test_figures_of_a_model_as_it_comes_replace_no_file_of_others(
    made: Plan, tmp_path: Path
) -> None:
    (tmp_path / "model").mkdir()
    choices: Any = {"suite": "pretrained", "backbone": f"hf:{tmp_path / 'model'}"}
    plan = replace(made, out=tmp_path / "out", models=("bare",), **choices)
    (plan.out / "runs" / "bare").mkdir(parents=True)
    (plan.out / "runs" / "bare" / "metrics.json").write_text("mine")
    with pytest.raises(NumerateError, match="out: runs/bare: not written by a reproduction"):
        reproduce(plan)
    assert (plan.out / "runs" / "bare" / "metrics.json").read_text() == "mine"
