"""A combination from scratch: members that learn, shares that the dev split calls for."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from numerate.lm.data.batching import Corpus, load_corpora
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.prepare import prepare
from numerate.lm.heads.combination import CombinationHead
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.opening import open_stored
from numerate.lm.model.run_folder import read_json
from numerate.lm.train.mixture_weights import fit_mixture_weights
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.run import train


@pytest.fixture(scope="module")
def cardiac(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "cardiac"
    prepare("cardiac", folder, documents=100)
    return folder


@pytest.fixture(scope="module")
def runs(cardiac: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    """Whether it was trained plainly → the run."""
    folder = tmp_path_factory.mktemp("runs")
    for plain in (False, True):
        options = TrainingOptions(epochs=5, batch_size=5, plain_mixture=plain)
        choices: dict[str, Any] = {"vocabulary": 100, "hidden": 8, "device": "cpu"}
        train(cardiac, folder / str(plain), options=options, **choices)
    return {plain: folder / str(plain) for plain in (False, True)}


def dev_split(model: NumeralLM, folder: Path) -> Corpus:
    return load_corpora(Dataset.open(folder), model.vocabulary)["dev"]


def by_member(model: NumeralLM, dev: Corpus) -> tuple[torch.Tensor, torch.Tensor]:
    batch = dev.collate(np.arange(len(dev)))
    assert isinstance(model.head, CombinationHead)
    assert batch.numerals is not None
    with torch.no_grad():
        context = model.backbone.contexts(batch)
        return context.hidden, model.head.log_prob_by_member(context, batch.numerals)


def test_digits_are_learnt_beside_members_that_learn_faster(
    runs: dict[bool, Path], cardiac: Path
) -> None:
    found = {}
    for plain, folder in runs.items():
        model = open_stored(folder)
        place = model.members.index("d-rnn")
        found[plain] = float(by_member(model, dev_split(model, cardiac))[1][:, place].mean())
    assert found[False] > found[True] + 0.5


def test_only_fitted_shares_are_remembered(runs: dict[bool, Path]) -> None:
    fitted = read_json(runs[False] / "config.json")
    assert fitted["training"]["plain_mixture"] is False
    assert set(fitted["mixture_weights"]) == {"strength", "gain"}
    plain = read_json(runs[True] / "config.json")
    assert plain["training"]["plain_mixture"] is True
    assert "mixture_weights" not in plain


def test_a_gate_that_trusts_the_wrong_member_is_put_right(
    runs: dict[bool, Path], cardiac: Path
) -> None:
    model = open_stored(runs[False])
    dev = dev_split(model, cardiac)
    head = model.head
    assert isinstance(head, CombinationHead)
    hidden, members = by_member(model, dev)
    mean = hidden.mean(0)
    worst = int(torch.where(members.isfinite(), members, -20.0).mean(0).argmin())
    with torch.no_grad():
        head.weights.zero_()
        head.weights[worst] = 2 * mean / mean.square().sum()

    def numerals() -> float:
        with torch.no_grad():
            return float(head.mix(hidden, members).mean())

    before, weights = numerals(), model.weights()
    documents = np.array(Dataset.open(cardiac).split("dev").read(["document"])["document"])
    found = fit_mixture_weights(model, dev, documents, batch_size=3)["mixture_weights"]
    assert found["strength"] is not None
    assert numerals() - before > found["gain"] > 0.01
    changed = {name for name, tensor in model.weights().items() if not tensor.equal(weights[name])}
    assert changed == {"head.weights"}
    head.plain = True
    assert fit_mixture_weights(model, dev, documents, batch_size=3) == {}


def test_a_batch_knows_the_paragraphs_of_its_numerals(
    runs: dict[bool, Path], cardiac: Path
) -> None:
    dev = dev_split(open_stored(runs[False]), cardiac)
    some = np.array([4, 0, 7])
    batch = dev.collate(some)
    assert batch.numerals is not None
    found: dict[int, list[str]] = {int(paragraph): [] for paragraph in some}
    pairs = zip(dev.numeral_paragraphs(some), batch.numerals.rows.tolist(), strict=True)
    for paragraph, row in pairs:
        found[paragraph].append(dev.table.texts[row])
    texts = Dataset.open(cardiac).split("dev").read(["tokens"])["tokens"].to_pylist()
    for paragraph in some:
        expected = [token for token in texts[paragraph] if token[0].isdigit()]
        assert sorted(found[paragraph]) == sorted(expected)
