"""The whole job on a tiny corpus: everything written, nothing done twice, nothing lost."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from html.parser import HTMLParser
from inspect import signature
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
from tests.processes import copy_of_this_process

from numerate.cli import app, learning
from numerate.cli.reproduce_command import reproduce
from numerate.errors import NumerateError, RunError
from numerate.lm.data.prepare import prepare
from numerate.lm.inspect.exhibit import Exhibit
from numerate.lm.inspect.inspect import inspect_runs
from numerate.lm.model.conformal import DOCUMENTS
from numerate.lm.reproduce import results
from numerate.lm.reproduce.children import Children, exclusive
from numerate.lm.reproduce.choices import Plan, Task
from numerate.lm.reproduce.standings import Standings
from numerate.lm.train.options import TrainingOptions

MODELS = ("softmax", "mog")
EPOCHS = 12  # long enough to be interrupted
TABLES = ("tables.md", "tables.tex", "tables.csv", "metrics.json", "statistics.md")


@pytest.fixture(scope="module")
def cardiac(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "cardiac"
    prepare("cardiac", folder, documents=60, processes=1)
    return folder


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare the figures, most of the time it takes; they are drawn where they are looked at."""
    monkeypatch.setattr(Exhibit, "save", lambda exhibit, folder: "<svg></svg>")


@pytest.fixture
def evaluated_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare the processes that evaluate; `done` has them, and they know nothing of what else is
    changed for tests."""
    monkeypatch.setattr(results, "each_task", one_by_one)
    monkeypatch.setattr("numerate.lm.model.conformal.DOCUMENTS", DOCUMENTS)


def one_by_one(plan: Plan, work: Any, tasks: Sequence[Task]) -> Iterator[tuple[Task, Any]]:
    for task in tasks:
        yield task, work(plan, task)


def task_of(plan: Plan, model: str) -> Task:
    return next(task for task in plan.tasks if task.row.name == model)


def run_of(plan: Plan, model: str) -> Path:
    return plan.run(task_of(plan, model))


def tiny(cardiac: Path, out: Path, **changes: Any) -> Plan:
    options = TrainingOptions(epochs=EPOCHS, patience=EPOCHS, batch_size=20)
    choices: dict[str, Any] = {"models": MODELS, "vocabulary": 200, "hidden": 8, "device": "cpu"}
    choices["given_threads"] = 1  # other numbers of them round otherwise
    return Plan(cardiac, out, **{"options": options, **choices, **changes})


def arguments(plan: Plan) -> list[str]:
    """The command that makes the plan."""
    options = f"--epochs {EPOCHS} --patience {EPOCHS} --batch-size 20 --vocabulary 200 --hidden 8"
    models = [
        "--models",
        ",".join(row.name for row in plan.rows),
        "--device",
        "cpu",
        "--threads",
        "1",
    ]
    return ["reproduce", str(plan.dataset), "--out", str(plan.out), *models, *options.split()]


@pytest.fixture(scope="module")
def done(cardiac: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, str, str]:
    """A finished reproduction, and what it wrote to its two streams."""
    plan = tiny(cardiac, tmp_path_factory.mktemp("done") / "out", processes=1)
    printed, progress = io.StringIO(), io.StringIO()
    with redirect_stdout(printed), redirect_stderr(progress):
        reproduce(plan)
    return plan, printed.getvalue(), progress.getvalue()


def test_everything_is_written(done: tuple[Plan, str, str]) -> None:
    plan, printed, progress = done
    shown = ("training-curves", "numeral-similarities", "next-numeral-1", "errors-by-magnitude")
    figures = [f"figures/{name}.{kind}" for name in shown for kind in ("png", "svg", "csv")]
    for name in [*TABLES, *figures, "report.html"]:
        assert (plan.out / name).stat().st_size > 0
    for model in MODELS:
        assert (run_of(plan, model) / "model.safetensors").exists()
        assert f"{model}: trained in" in progress
        assert model in (plan.out / "tables.md").read_text()
    assert f"{EPOCHS} epochs, dev loss" in progress
    assert printed.endswith(f"Report: {plan.out / 'report.html'}\n")
    runs = json.loads((plan.out / "metrics.json").read_text())["runs"]
    assert list(runs) == [f"runs/{model}" for model in MODELS]
    assert runs["runs/mog"]["intervals"]["perplexity"]["numerals"]["app"]
    assert "| oracle perplexity, numerals |" in (plan.out / "statistics.md").read_text()
    assert not list(plan.out.rglob(".*")), "a temporary file was left"


class Reader(HTMLParser):
    """What a browser would fetch, where links lead, and whether every element is closed."""

    VOID = frozenset({"meta", "link", "br", "hr", "img", "input"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.references: list[str] = []
        self.ids: set[str] = set()
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in {"src", "href", "xlink:href", "srcset", "action"}:
                self.references.append(value or "")
            if name == "id":
                assert value not in self.ids, value
                self.ids.add(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_report_is_one_file_and_says_what_it_is_of(done: tuple[Plan, str, str]) -> None:
    plan = done[0]
    page = (plan.out / "report.html").read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    assert reader.references
    for reference in reader.references:
        if not reference.startswith("data:image/png;base64,"):  # heat maps
            assert reference.startswith("#")
            assert reference[1:] in reader.ids
    assert not re.search(r"@import|url\((?!#)", page)
    assert "prefers-color-scheme: dark" in page
    text = " ".join(reader.text)
    manifest = json.loads((plan.dataset / "manifest.json").read_text())
    for word in [*MODELS, "oracle", manifest["content_hash"], "batch size", "torch", "finished"]:
        assert word in text


def test_a_second_call_trains_and_evaluates_nothing(
    done: tuple[Plan, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    plan = done[0]
    files = [path for path in plan.out.rglob("*") if path.is_file()]
    before = {path: path.read_bytes() for path in files}
    times = {path: path.stat().st_mtime_ns for path in (plan.out / "runs").rglob("*")}
    reproduce(plan)
    assert {path: path.read_bytes() for path in files} == before
    assert {path: path.stat().st_mtime_ns for path in (plan.out / "runs").rglob("*")} == times
    assert "trained" not in capsys.readouterr().err


@pytest.mark.usefixtures("undrawn", "evaluated_here")
def test_figures_of_an_older_version_are_found_anew(
    done: tuple[Plan, str, str], tmp_path: Path
) -> None:
    """A table that one run lacks would leave it out without a word."""
    shutil.copytree(done[0].out, tmp_path / "out")
    plan = replace(done[0], out=tmp_path / "out")
    path = run_of(plan, MODELS[0]) / "metrics.json"
    whole = path.read_bytes()
    record = json.loads(whole)
    older = [{**record, "selected": None}, record | {"accuracy": 0.5}]
    older[1]["evaluated"] = record["evaluated"] | {"numerate": "0.1.0"}
    for spoilt in older:
        path.write_text(json.dumps(spoilt))
        reproduce(plan)
        assert path.read_bytes() == whole


@pytest.mark.usefixtures("undrawn")
def test_what_is_inspected_is_added_to_the_report(
    done: tuple[Plan, str, str], tmp_path: Path
) -> None:
    shutil.copytree(done[0].out, tmp_path / "out")
    before = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    inspect_runs([tmp_path / "out" / "runs" / "mog"], tmp_path / "out", contexts=["aged"])
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for word in ["Next numeral: “aged …”", "Perplexity and adjusted perplexity", *MODELS]:
        assert word in page
    assert "aged …" not in before
    for name in TABLES:
        assert (tmp_path / "out" / name).read_bytes() == (done[0].out / name).read_bytes()


def wait_for_an_epoch(plan: Plan, model: str, process: BaseProcess) -> None:
    deadline = time.monotonic() + 60
    while not (run_of(plan, model) / "checkpoint.safetensors").exists():
        assert process.is_alive()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def kill_training(plan: Plan, model: str) -> None:
    process = copy_of_this_process(app, plan.training_arguments(task_of(plan, model)))
    wait_for_an_epoch(plan, model, process)
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL


def interrupt(plan: Plan, model: str, errors: Path) -> int | None:
    """Start the command and interrupt it once the model has trained an epoch."""

    def command() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # wherever tests run
        with errors.open("w", encoding="utf-8") as sys.stderr:
            app(arguments(plan))

    process = copy_of_this_process(command)
    wait_for_an_epoch(plan, model, process)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGINT)
    process.join()
    return process.exitcode


def train_in_copies(children: Children, tasks: Sequence[Task]) -> None:
    """Spare the seconds in which processes load torch; `done` and what is interrupted have them."""
    for task in tasks:
        process = copy_of_this_process(app, children.plan.training_arguments(task))
        process.join()
        children.standings.rows[task.name].end("failed" if process.exitcode else "trained")


@pytest.mark.usefixtures("undrawn", "evaluated_here")
def test_killed_and_interrupted_and_called_again_it_gives_the_same_tables(
    done: tuple[Plan, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished = done[0]
    plan = tiny(finished.dataset, tmp_path / "out")
    kill_training(plan, "mog")
    assert interrupt(plan, "softmax", tmp_path / "errors") == 130
    lines = (tmp_path / "errors").read_text(encoding="utf-8").splitlines()
    assert lines[-1] == "numerate: interrupted; the same command goes on where it stopped"
    assert (
        json.loads((run_of(plan, "softmax") / "config.json").read_text())["state"] == "interrupted"
    )
    assert not (plan.out / "report.html").exists()
    with exclusive(plan.out):
        pass  # no child holds it any more
    monkeypatch.setattr(Children, "train", train_in_copies)
    reproduce(plan)
    for name in TABLES:
        assert (plan.out / name).read_bytes() == (finished.out / name).read_bytes()


@pytest.mark.usefixtures("undrawn")
def test_a_model_that_fails_is_named_and_the_others_go_on(
    done: tuple[Plan, str, str], tmp_path: Path
) -> None:
    finished = done[0]
    shutil.copytree(finished.out, tmp_path / "out")
    plan = tiny(finished.dataset, tmp_path / "out", models=("d-rnn", *MODELS))
    run_of(plan, "d-rnn").mkdir()
    (run_of(plan, "d-rnn") / "checkpoint.safetensors").write_bytes(b"half")
    with pytest.raises(NumerateError, match=r"^failed: d-rnn \(.*not a run.*\); the same command"):
        reproduce(plan)
    for name in TABLES:
        assert (plan.out / name).read_bytes() == (finished.out / name).read_bytes()


@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        ("sys.exit('numerate: CUDA out of memory')", "CUDA out of memory"),
        ("os.kill(os.getpid(), 9)", "killed by SIGKILL, perhaps for want of memory"),
        ("sys.exit(3)", "data, train: 12 rows of tables do not fit"),
    ],
)
def test_why_a_run_failed_is_what_it_said_last(
    ending: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not what it noticed before, nor how far it had come."""
    script = (
        "import os, sys\n"
        "print('numerate: data, train: 12 rows of tables do not fit', file=sys.stderr)\n"
        "print('epoch   1  train loss 6.0  dev loss 5.4  word perplexity 2.00  numeral perplexity'"
        " ' 3.0', file=sys.stderr, flush=True)\n" + ending
    )
    plan = Plan(tmp_path, tmp_path / "out", models=("mog",))
    started = subprocess.Popen(
        [sys.executable, "-c", script], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    standings = Standings(["mog"])
    children = Children(plan, standings, 0)
    monkeypatch.setattr(children, "_start", lambda task: started)
    shown: list[tuple[object, ...]] = []
    monkeypatch.setattr(standings, "show", lambda *step: shown.append(step))
    children.train(plan.tasks)
    assert (standings.rows["mog"].state, standings.rows["mog"].reason) == ("failed", reason)
    assert standings.rows["mog"].dev_loss == "5.4"
    epochs = plan.options.epochs
    assert shown == [("training", "epochs", 1, epochs), ("training", "epochs", epochs, epochs)]


@pytest.mark.parametrize("change", [{"hidden": 9}, {"options": TrainingOptions(epochs=3)}])
def test_runs_of_other_options_are_refused(
    done: tuple[Plan, str, str], change: dict[str, Any]
) -> None:
    finished = done[0]
    with pytest.raises(RunError, match=r"options or data: (hidden|batch_size) was"):
        reproduce(tiny(finished.dataset, finished.out, **change))


def test_two_at_a_time_are_refused(done: tuple[Plan, str, str]) -> None:
    plan = done[0]
    with exclusive(plan.out), pytest.raises(NumerateError, match="still writing here"):
        reproduce(plan)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"models": ("soft",)}, "unknown model 'soft'"),
        ({"models": ("mog", "mog")}, "got one twice"),
        ({"models": ()}, "models: got none"),
        ({"processes": -1}, "processes: got -1"),
        ({"confidence": 1.5}, "confidence: got 1.5"),
    ],
)
def test_bad_choices_are_refused(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(NumerateError, match=message):
        Plan(Path("data"), Path("out"), **choices)


def test_training_has_the_same_defaults_here_as_alone() -> None:
    alone, here = (signature(call).parameters for call in (learning.train, learning.reproduce))
    shared = (alone.keys() & here.keys()) - {"dataset", "out"}
    assert shared >= TrainingOptions.__dataclass_fields__.keys()
    shared -= {"backbone", "processes"}  # which the rows of a suite have; and of whole runs
    assert {name: here[name].default for name in shared} == {
        name: alone[name].default for name in shared
    }


def test_the_cores_are_shared_out() -> None:
    cores = len(os.sched_getaffinity(0))
    plan = Plan(Path("data"), Path("out"), processes=1)
    assert (plan.workers, plan.threads) == (1, cores)
    assert Plan(Path("data"), Path("out")).threads == max(1, cores // 7)
