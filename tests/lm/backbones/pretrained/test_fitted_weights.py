"""At the end of a training over a backbone, members get the shares that the dev split calls for."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from numerate.cli.train_command import train_with_progress
from numerate.lm.backbones.causal import CausalBackbone
from numerate.lm.backbones.causal_batches import StateCorpus
from numerate.lm.backbones.pretrained.store import Store
from numerate.lm.data.batching import load_corpora
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.prepare import prepare
from numerate.lm.heads.combination import CombinationHead
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.opening import open_stored
from numerate.lm.model.run_folder import read_json
from numerate.lm.train import mixture_weights
from numerate.lm.train.mixture_weights import fit_mixture_weights
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.over_backbone import BackboneChoice
from numerate.lm.train.run import RunResult, train


@pytest.fixture(scope="module")
def cardiac(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "cardiac"
    prepare("cardiac", folder, documents=100)
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


CHOICES: dict[str, Any] = {"vocabulary": 100, "hidden": 8, "device": "cpu"}
OPTIONS = TrainingOptions(epochs=2, batch_size=4, learning_rate=0.003)
ONCE = TrainingOptions(epochs=1, batch_size=20)


def short(cardiac: Path, out: Path, backbone: BackboneChoice, **changes: Any) -> RunResult:
    choices = {"options": OPTIONS, **CHOICES, **changes}
    return train(cardiac, out, backbone=backbone, **choices)


@pytest.fixture(scope="module")
def run(
    cardiac: Path,
    cache: Path,
    tiny_models: dict[str, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    short(cardiac, folder, BackboneChoice(tiny_models["single"], cache=cache))
    return folder


def dev_states(model: NumeralLM, folder: Path, cache: Path) -> StateCorpus:
    dataset = Dataset.open(folder)
    corpus = load_corpora(dataset, model.vocabulary)["dev"]
    assert isinstance(model.backbone, CausalBackbone)
    split = Store(cache, model.backbone.lm, dataset).split("dev")
    return StateCorpus(corpus, dataset.split("dev"), split, detailed=True)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return open_stored(folder).weights()


def test_a_gate_that_trusts_the_wrong_member_is_put_right(
    run: Path, cardiac: Path, cache: Path
) -> None:
    model = open_stored(run)
    head, dev = model.head, dev_states(model, cardiac, cache)
    assert isinstance(head, CombinationHead)
    everything = dev.collate(np.arange(len(dev)))

    def numerals() -> float:
        with torch.no_grad():
            return float(everything.by_class(model.log_prob(everything))[1].double().mean())

    def trust(member: int) -> float:
        """Nearly alone, wherever states are as they are on average."""
        with torch.no_grad():
            mean = model.backbone.contexts(everything).hidden.mean(0)
            head.weights.zero_()
            head.weights[member] = 2 * mean / mean.square().sum()
        return numerals()

    worst = trust(int(np.argmin([trust(member) for member in range(len(model.members))])))
    before = model.weights()
    sources = np.array(Dataset.open(cardiac).split("dev").read(["document"])["document"])
    found = fit_mixture_weights(model, dev, sources, batch_size=7)["mixture_weights"]
    assert found["strength"] is not None
    assert found["gain"] > 0.01
    assert numerals() - worst > found["gain"], "fitted on all, it is better than left out"
    changed = {name for name, tensor in model.weights().items() if not tensor.equal(before[name])}
    assert changed == {"head.weights"}
    again = fit_mixture_weights(model, dev, sources, batch_size=50)["mixture_weights"]
    assert again["gain"] < found["gain"] / 2, "less is left to put right"


def test_a_run_ends_with_fitted_shares_however_it_ends(
    run: Path,
    cardiac: Path,
    cache: Path,
    tiny_models: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Stopped while they are fitted, a run can be resumed and ends as if nothing had happened."""
    remembered = read_json(run / "config.json")["mixture_weights"]
    assert set(remembered) == {"strength", "gain"}
    assert remembered["gain"] >= 0
    backbone = BackboneChoice(tiny_models["single"], cache=cache)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(mixture_weights, "fit_gate", interrupt)
        assert short(cardiac, tmp_path / "run", backbone).state == "interrupted"
    stopped = read_json(tmp_path / "run" / "config.json")
    assert stopped["state"] == "interrupted"
    assert "mixture_weights" not in stopped
    assert weights(tmp_path / "run").keys() == weights(run).keys()
    result = short(cardiac, tmp_path / "run", backbone, resume=True)
    assert result.state == "finished"
    assert read_json(tmp_path / "run" / "config.json")["mixture_weights"] == pytest.approx(
        remembered
    )
    for name, tensor in weights(tmp_path / "run").items():
        torch.testing.assert_close(tensor, weights(run)[name])


def test_an_error_while_shares_are_fitted_is_no_interrupt(
    cardiac: Path,
    cache: Path,
    tiny_models: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(mixture_weights, "fit_gate", fail)
    backbone = BackboneChoice(tiny_models["single"], cache=cache)
    with pytest.raises(RuntimeError, match="out of memory"):
        short(cardiac, tmp_path / "run", backbone, options=ONCE)
    assert read_json(tmp_path / "run" / "config.json")["state"] == "failed"


def test_few_documents_leave_shares_alone(run: Path, cardiac: Path, cache: Path) -> None:
    model = open_stored(run)
    dev = dev_states(model, cardiac, cache)
    before = model.weights()
    assert fit_mixture_weights(model, dev, np.arange(len(dev)) % 4, batch_size=7) == {}
    after = model.weights()
    assert all(tensor.equal(after[name]) for name, tensor in before.items())


def test_other_heads_have_no_shares(
    cardiac: Path, cache: Path, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    backbone = BackboneChoice(tiny_models["single"], cache=cache)
    short(cardiac, tmp_path / "mog", backbone, model="mog", options=ONCE)
    assert "mixture_weights" not in read_json(tmp_path / "mog" / "config.json")


def test_training_says_what_became_of_the_shares(
    cardiac: Path,
    cache: Path,
    tiny_models: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arguments: dict[str, Any] = {
        "model": "combination",
        "options": ONCE,
        "tensorboard": False,
        "backbone": f"hf:{tiny_models['single']}",
        "cache": cache,
        **CHOICES,
    }
    fitted = {"mixture_weights": {"strength": 30.0, "gain": np.log(2.0)}}
    monkeypatch.setattr("numerate.lm.train.run.fit_mixture_weights", lambda *_: fitted)
    result = train_with_progress(cardiac, tmp_path / "fitted", **arguments)
    half = result.history[result.best_epoch - 1]["dev_numeral_perplexity"] / 2
    assert (
        f"fitted on dev: numeral perplexity {half:,.1f} by cross-validation"
        in capsys.readouterr().out
    )
    kept = {"mixture_weights": {"strength": None, "gain": 0.0}}
    monkeypatch.setattr("numerate.lm.train.run.fit_mixture_weights", lambda *_: kept)
    train_with_progress(cardiac, tmp_path / "kept", **arguments)
    assert "stay as they were trained" in capsys.readouterr().out
