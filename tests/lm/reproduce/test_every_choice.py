"""Every suite comes to its end with every choice of metrics: tables, figures and report."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.lm.backbones.pretrained.conftest import save
from tests.lm.reproduce.test_reproduce import evaluated_here, train_in_copies  # noqa: F401

from numerate.cli.reproduce_command import reproduce
from numerate.lm.data.prepare import prepare
from numerate.lm.evaluate.observed import PARTS
from numerate.lm.inspect.exhibit import Exhibit
from numerate.lm.reproduce import results
from numerate.lm.reproduce.children import Children
from numerate.lm.reproduce.choices import Plan
from numerate.lm.reproduce.suites import SUITES
from numerate.lm.train.options import TrainingOptions

ROWS = {  # of each kind some
    "paper": ("d-rnn", "combination"),
    "heads": ("softmax", "log-normal"),
    "grounded": ("combination", "grounded-tables-transformer"),
    "pretrained": ("bare", "mog"),
}


@pytest.fixture(scope="module")
def cardiac(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "cardiac"
    prepare("cardiac", folder, documents=20, processes=1)
    return folder


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.usefixtures("evaluated_here")
def test_every_suite_ends_with_every_choice_of_metrics(
    suite: str, cardiac: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Children, "train", train_in_copies)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    backbone = f"hf:{save(tmp_path / 'model', 'single')}" if suite == "pretrained" else None
    plan = Plan(
        cardiac,
        tmp_path / "out",
        suite=suite,
        backbone=backbone,
        models=ROWS[suite],
        options=TrainingOptions(epochs=1, batch_size=20),
        vocabulary=200,
        hidden=8,
        device="cpu",
        given_threads=1,
    )
    for metrics in PARTS:
        (plan.out / "report.html").unlink(missing_ok=True)
        reproduce(replace(plan, metrics=metrics))
        tables = {one: (plan.out / f"tables.{one}").read_text() for one in ("md", "tex", "csv")}
        report = (plan.out / "report.html").read_text(encoding="utf-8")
        for row in ROWS[suite]:
            assert all(row in text for text in [*tables.values(), report]), row
        assert all("Perplexity and" in text for text in (tables["md"], tables["tex"], report))
        for text in (tables["md"], tables["tex"], report):
            assert ("On the number line;" in text) == (metrics != "perplexity")
            assert ("Central intervals:" in text) == (metrics == "all")
        # Drawn once: figures know nothing of metrics.
        monkeypatch.setattr(Exhibit, "save", lambda exhibit, folder: "<svg></svg>")
    monkeypatch.setattr(results, "evaluate_task", None)  # would be called
    reproduce(replace(plan, metrics="perplexity"))
    assert "number line" not in (plan.out / "tables.md").read_text()
