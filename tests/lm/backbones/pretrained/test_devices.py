"""What a model says does not depend on where it computes."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import numerate
from numerate.lm.data.prepare import prepare
from numerate.lm.evaluate.evaluate import evaluate
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.opening import Settings
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.over_backbone import BackboneChoice
from numerate.lm.train.run import train

# Where there is no GPU the same is asked of the CPU twice: that the option is heeded everywhere.
OTHER = "cuda" if torch.cuda.is_available() else "cpu"
TEXT = "He weighs 74 kg at a height of 184 m. Heart rate 64 bpm.\n\nEjection fraction 560 %."


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "cardiac"
    prepare("cardiac", folder, documents=16)
    return folder


@pytest.fixture(scope="module", params=["from scratch", "over a backbone", "as it comes"])
def reference(
    request: pytest.FixtureRequest,
    dataset: Path,
    tiny_models: dict[str, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> str:
    if request.param == "as it comes":
        return f"hf:{tiny_models['single']}"
    home = tmp_path_factory.mktemp("run")
    backbone = None
    if request.param == "over a backbone":
        backbone = BackboneChoice(tiny_models["single"], cache=home / "cache")
    options = TrainingOptions(epochs=1, batch_size=8)
    sizes = {"vocabulary": 120, "hidden": 6, "device": "cpu"}
    train(dataset, home / "run", options=options, backbone=backbone, **sizes)
    return str(home / "run")


@pytest.fixture
def on_both(reference: str, dataset: Path, tmp_path: Path) -> list[NumeralLM]:
    """Opened on the CPU and on the other device; each finds out for itself what is usual."""
    found = []
    for place, device in enumerate(("cpu", OTHER)):
        path = reference
        if not reference.startswith("hf:"):
            path = str(shutil.copytree(reference, tmp_path / f"run{place}"))
        cache = tmp_path / f"cache{place}"
        found.append(numerate.load(path, dataset, device=device, cache=cache))
        assert found[-1].device.type == device
    return found


def test_predictions_and_ranks_are_the_same(on_both: list[NumeralLM]) -> None:
    here, there = (model.predict("a height of") for model in on_both)
    texts, probabilities = zip(*here.top(5), strict=True)
    assert [there.prob(text) for text in texts] == pytest.approx(probabilities, rel=1e-4)
    assert there.median() == pytest.approx(here.median(), rel=1e-3)
    assert here.interval(0.9) == pytest.approx(there.interval(0.9), rel=1e-3)
    claims = ["He weighs 74 kg.", "He weighs 740 kg."]
    here_ranked, there_ranked = (model.rank(claims) for model in on_both)
    assert [claim.place for claim in here_ranked] == [claim.place for claim in there_ranked]
    expected = [claim.log_prob for claim in here_ranked]
    assert [claim.log_prob for claim in there_ranked] == pytest.approx(expected, rel=1e-4)


@pytest.mark.filterwarnings("ignore::numerate.errors.DomainWarning")
def test_findings_are_the_same(on_both: list[NumeralLM]) -> None:
    here, there = (model.checker.assess(TEXT, 0.5) for model in on_both)
    assert [one.numeral for one in here] == [one.numeral for one in there]
    surprisals = [one.surprisal for one in here]
    assert [one.surprisal for one in there] == pytest.approx(surprisals, rel=1e-4)
    plausibilities = [one.plausibility for one in here]
    assert [one.plausibility for one in there] == pytest.approx(plausibilities, abs=0.05)


def test_figures_are_the_same(reference: str, dataset: Path, tmp_path: Path) -> None:
    figures = [
        evaluate(
            reference,
            dataset,
            metrics="all",
            device=device,
            limit=3,
            settings=Settings(cache=tmp_path / device),
        ).figures
        for device in ("cpu", OTHER)
    ]
    for table in ("perplexity", "number_line", "beyond"):
        here, there = (_numbers(figure[table]) for figure in figures)
        assert there == pytest.approx(here, rel=1e-3, nan_ok=True)


def _numbers(figures: dict[str, object]) -> list[float]:
    found: list[float] = []
    for value in figures.values():
        found += _numbers(value) if isinstance(value, dict) else [float(np.float64(value))]  # type: ignore[arg-type]
    return found
