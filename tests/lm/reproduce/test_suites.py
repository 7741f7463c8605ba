"""Which rows a suite has, what they are trained with, and seeds beside seeds on a tiny corpus."""

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.lm.evaluate.test_tables import evaluation
from tests.lm.reproduce.test_reproduce import (  # noqa: F401
    TABLES,
    cardiac,
    evaluated_here,
    tiny,
    train_in_copies,
    undrawn,
)
from tests.packages import install

from numerate.cli.reproduce_command import reproduce
from numerate.errors import FailureError, NumerateError
from numerate.lm.data.prepare import prepare
from numerate.lm.evaluate.evaluate import Evaluation
from numerate.lm.evaluate.observed import by_document
from numerate.lm.heads.registry import head_names, paper_heads
from numerate.lm.inspect.inspect import inspect_runs
from numerate.lm.reproduce import results, write
from numerate.lm.reproduce.children import Children
from numerate.lm.reproduce.choices import Plan
from numerate.lm.reproduce.standings import Standings
from numerate.lm.reproduce.suites import SUITES, Row, rows_of
from numerate.lm.train.options import TrainingOptions, usual_of
from numerate.plugins import HEADS

HEAD = """
from numerate.lm.heads.mixture import MixtureHead


class Rival(MixtureHead):
    paper_row = None


class Seeing(MixtureHead):
    needs_sight = True


class Digits(MixtureHead):
    needs_digits = True
"""


def names(suite: str, backbone: str | None = None) -> list[str]:
    return [row.name for row in rows_of(suite, backbone)]


def test_a_head_of_another_package_is_in_the_table_without_an_edit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = names("heads")
    assert before[:7] == names("paper") == list(paper_heads())
    assert before[-1] == "grounded"  # what they are measured against
    assert not {"copy", "compute", "lm"} & set(before)
    assert len(before) + 3 == len(head_names())
    entries = {"rival": "rivals:Rival", "seeing": "rivals:Seeing", "digits": "rivals:Digits"}
    entries["broken"] = "no_such_module:Head"  # its training will say so
    install(tmp_path / "site", "others", {HEADS: entries}, rivals=HEAD)
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert set(names("heads")) - set(before) == {"rival", "broken"}
    assert set(names("pretrained", "hf:x")) >= {"rival", "digits", "lm", "d-rnn"}
    assert names("paper") == list(paper_heads())


def test_grounded_has_more_and_less_in_sight() -> None:
    rows = {row.name: row for row in rows_of("grounded")}
    assert rows["combination"].sight == "none"
    seen = {rows[f"grounded-{level}"].sight for level in ("paragraph", "tables", "document")}
    assert seen == {"paragraph", "tables", "document"}
    assert rows["grounded-tables-transformer"].backbone == "transformer"
    assert "copy" not in rows["grounded-no-copy"].members
    assert {"compute", "d-rnn", "mog"} <= set(rows["grounded-no-copy"].members)
    assert "compute" not in rows["grounded-no-compute"].members


def test_pretrained_has_the_model_bare_frozen_and_tuned() -> None:
    rows = {row.name: row for row in rows_of("pretrained", "hf:some")}
    assert [row.name for row in rows.values() if not row.is_trained] == ["bare", "bare-tables"]
    assert rows["grounded-lora"].finetune == "lora"
    assert not {"softmax", "softmax+rnn"} & set(rows), "words are the pretrained model's"


def test_names_of_rows_are_those_of_one_folder_each() -> None:
    for suite in SUITES:
        found = names(suite, "hf:x" if suite == "pretrained" else None)
        assert len(set(found)) == len(found)
        assert all("/" not in name for name in found)


def test_a_row_has_what_is_usual_for_its_backbone(tmp_path: Path) -> None:
    plan = Plan(tmp_path, tmp_path / "out", suite="grounded", hidden=32)
    tasks = {task.row.name: task for task in plan.tasks}
    lstm, transformer = (plan.settings(tasks[f"combination{k}"]) for k in ("", "-transformer"))
    assert lstm["learning_rate"] == usual_of("lstm").learning_rate
    assert transformer["learning_rate"] == usual_of("transformer").learning_rate
    assert lstm["hidden"] == transformer["hidden"] == 32
    told = plan.training_arguments(tasks["grounded-no-copy"])
    assert {"--sight=tables", "--model=grounded", "--backbone=lstm"} <= set(told)
    assert any(argument.startswith("--members=") for argument in told)


def test_every_seed_has_a_folder_and_the_first_that_of_a_single_one(tmp_path: Path) -> None:
    one = Plan(tmp_path, tmp_path / "out", models=("mog",))
    three = replace(one, seeds=3, options=TrainingOptions(seed=4))
    assert [one.run(task).relative_to(one.out) for task in one.tasks] == [Path("runs/mog")]
    assert [three.run(task).relative_to(one.out) for task in three.tasks] == [
        Path("runs/mog"),
        Path("runs/seed-5/mog"),
        Path("runs/seed-6/mog"),
    ]
    assert [three.settings(task)["seed"] for task in three.tasks] == [4, 5, 6]
    assert [task.name for task in three.tasks] == [f"mog, seed {seed}" for seed in (4, 5, 6)]


def test_a_model_as_it_comes_has_one_run_and_trains_never(tmp_path: Path) -> None:
    backbone = f"hf:{tmp_path}"
    plan = Plan(tmp_path, tmp_path / "out", suite="pretrained", backbone=backbone, seeds=3)
    bare = [task for task in plan.tasks if not task.row.is_trained]
    assert len(bare) == 2
    assert all(plan.is_trained(task) for task in bare)
    assert plan.workers == 1
    assert replace(plan, processes=4).workers == 4


@pytest.mark.parametrize("suite", ["paper", "heads"])
def test_a_head_beyond_the_suite_sees_as_usual(suite: str, tmp_path: Path) -> None:
    plan = Plan(tmp_path, tmp_path / "out", suite=suite, models=("mog", "grounded"))
    mog, grounded = plan.tasks
    assert "--sight=none" in plan.training_arguments(mog)
    assert "--sight=tables" in plan.training_arguments(grounded)


@pytest.mark.usefixtures("evaluated_here")
def test_a_model_as_it_comes_is_evaluated_anew_where_anything_is_another(
    cardiac: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = tmp_path / "other"
    prepare("cardiac", other, documents=20, processes=1)
    asked: list[object] = []

    def evaluate(model: str, *given: object, **_: object) -> Evaluation:
        asked.append(given)
        values = by_document(np.ones(3), np.arange(3))
        return replace(evaluation("bare"), observed={("perplexity", "all", "app"): values})

    monkeypatch.setattr(results, "evaluate", evaluate)
    monkeypatch.setattr(results, "digest", lambda path: "the same")
    plan = Plan(
        cardiac,
        tmp_path / "out",
        suite="pretrained",
        backbone=f"hf:{tmp_path}",
        models=("bare",),
        metrics="paper",
    )
    plans = [plan, plan, replace(plan, dataset=other), replace(plan, dataset=other, vocabulary=7)]
    counts = []
    for one in plans:
        (task,) = one.tasks
        assert list(results.evaluate_tasks(one, one.tasks, Standings([task.name]))) == [task]
        counts.append(len(asked))
    assert counts == [1, 1, 2, 3]


def test_figures_that_are_not_there_afterwards_are_a_failure(
    cardiac: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = tiny(cardiac, tmp_path / "out", options=TrainingOptions(epochs=1))
    standings = Standings([task.name for task in plan.tasks])
    monkeypatch.setattr(results, "each_task", lambda plan, do, tasks: ((t, None) for t in tasks))
    assert results.evaluate_tasks(plan, plan.tasks, standings) == {}
    assert {row.state for row in standings.rows.values()} == {"failed"}
    assert "no figures of these choices" in standings.rows["mog"].reason


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"suite": "head"}, r"unknown suite 'head': did you mean heads\?"),
        ({"suite": "pretrained"}, "backbone: got none for the suite pretrained, expected hf:PATH"),
        ({"suite": "pretrained", "backbone": "lstm"}, "backbone: got 'lstm'"),
        ({"suite": "pretrained", "backbone": "hf:gone"}, "gone: does not exist"),
        ({"backbone": "hf:x"}, "backbone: got 'hf:x' for the suite paper, which has its own"),
        ({"suite": "pretrained", "backbone": "hf:x", "models": ("copy",)}, "unknown model 'copy'"),
        ({"metrics": "papers"}, r"unknown metrics 'papers': did you mean paper\?"),
        ({"seeds": 0}, "seeds: got 0, expected 1 or more"),
        ({"suite": "grounded", "models": ("grounded-no-way",)}, "unknown model 'grounded-no-way'"),
    ],
)
def test_bad_choices_are_told_in_one_line(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(NumerateError, match=message) as told:
        Plan(Path("data"), Path("out"), **choices)
    with pytest.raises(NumerateError, match="data: the dataset itself, expected another folder"):
        Plan(Path("data"), Path("data"))
    assert "\n" not in str(told.value)
    assert not Path("out").exists()


@contextmanager
def unreported() -> Iterator[None]:
    """Spare the report, most of the time it takes; it is made where it is looked at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write, "inspect_runs", lambda runs, out, **_: out / "report.html")
        yield


@pytest.mark.usefixtures("undrawn", "evaluated_here")
def test_seeds_are_added_and_nothing_is_done_twice(
    cardiac: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = TrainingOptions(epochs=1, batch_size=20)
    plan = tiny(cardiac, tmp_path / "out", options=options, seeds=2, metrics="paper")
    trained: list[str] = []

    def train(children: Children, tasks: Any) -> None:
        trained.extend(task.name for task in tasks)
        train_in_copies(children, tasks)

    monkeypatch.setattr(Children, "train", train)
    with unreported():
        reproduce(replace(plan, seeds=1))
    capsys.readouterr()
    reproduce(plan)
    assert trained == ["softmax", "mog", "softmax, seed 2", "mog, seed 2"]
    printed = capsys.readouterr().out
    assert "Mean ±standard deviation over 2 seeds." in printed
    assert " ±" in (plan.out / "tables.md").read_text()
    assert r"$\pm$" in (plan.out / "tables.tex").read_text()
    lines = list(csv.DictReader((plan.out / "tables.csv").read_text().splitlines()))
    assert {line["seeds"] for line in lines} == {"2"}
    runs = json.loads((plan.out / "metrics.json").read_text())["runs"]
    assert runs["runs/mog"]["spread"]["perplexity"]["numerals"]["app"] > 0
    report = (plan.out / "report.html").read_text(encoding="utf-8")
    assert "±" in report
    assert "which counts documents and seeds" in report
    before = {name: (plan.out / name).read_bytes() for name in TABLES}
    monkeypatch.setattr(results, "evaluate_task", None)  # would be called
    with unreported():
        reproduce(plan)
    assert len(trained) == 4
    assert {name: (plan.out / name).read_bytes() for name in TABLES} == before
    inspect_runs([plan.out / "runs" / "mog"], plan.out, contexts=["aged"], device="cpu")
    kept = (plan.out / "report.html").read_text(encoding="utf-8")
    assert "Mean ±standard deviation over 2 seeds." in kept
    with unreported():
        reproduce(replace(plan, seeds=1, models=("mog",)))
    assert len(trained) == 4
    assert {name: (plan.out / name).read_bytes() for name in TABLES} == before


@pytest.mark.usefixtures("evaluated_here")
def test_a_seed_that_fails_is_named_and_the_rest_goes_on(
    cardiac: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Children, "train", train_in_copies)
    options = TrainingOptions(epochs=1, batch_size=20)
    plan = tiny(cardiac, tmp_path / "out", options=options, seeds=2, metrics="perplexity")
    plan = replace(plan, models=("mog", "h-softmax"))
    spoilt = next(task for task in plan.tasks if task.name == "mog, seed 2")
    plan.run(spoilt).mkdir(parents=True)
    (plan.run(spoilt) / "checkpoint.safetensors").write_bytes(b"half")
    failed = pytest.raises(FailureError, match=r"^failed: mog, seed 2 \(.*\); the same command")
    with failed, unreported():
        reproduce(plan)
    tables = (plan.out / "tables.md").read_text()
    assert "over 2 seeds (mog 1)" in tables
    assert "| h-softmax |" in tables
    assert "On the number line" not in tables


def test_rows_can_be_told_apart() -> None:
    assert Row("a", "mog") != Row("a", "mog", sight="tables")
    assert len({Row("a", "mog"), Row("a", "mog")}) == 1
