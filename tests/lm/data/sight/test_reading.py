"""Models from scratch see the same numbers however a text reaches them."""

from pathlib import Path

import numpy as np
import pytest
import torch

from numerate.lm.data.batching import Corpus, load_corpora
from numerate.lm.data.dataset import Dataset
from numerate.lm.heads.base import HeadOptions
from numerate.lm.heads.registry import head_class
from numerate.lm.model.config import ModelConfig, NetworkConfig
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.opening import from_scratch
from numerate.lm.train.run import training_numerals
from numerate.text.vocabulary import Vocabulary

SOME = np.arange(5)


@pytest.fixture(scope="module")
def corpora(trials: Path) -> dict[str, Corpus]:
    dataset = Dataset.open(trials / "data")
    encoded = dataset.split("train").encode()
    vocabulary = Vocabulary.build(encoded.types, encoded.counts, 100)
    return load_corpora(dataset, vocabulary, "tables")


@pytest.fixture(params=["lstm", "transformer"])
def model(request: pytest.FixtureRequest, corpora: dict[str, Corpus]) -> NumeralLM:
    torch.manual_seed(1)
    train = corpora["train"]
    head = head_class("grounded").fit(training_numerals(train), 8, HeadOptions())
    network = NetworkConfig(request.param)
    config = ModelConfig("grounded", 8, 0.0, sight="tables", network=network)
    made = from_scratch(config, train.vocabulary, head)
    for weight in made.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    return made


def test_what_is_read_is_what_is_trained(model: NumeralLM, corpora: dict[str, Corpus]) -> None:
    train = corpora["train"]
    assert train.sight is not None
    assert len(train.sight.rows) > len(train.rows), "there are numbers of tables in view"
    log_probs = model.eval().log_probs(model.read(train))
    expected = -log_probs[train.targets_of(SOME)].sum()
    plain = model(train.collate(SOME))
    padded = model(train.collate_padded(torch.from_numpy(SOME), train.layout(SOME)))
    assert plain.item() == pytest.approx(expected, rel=1e-5)
    assert padded.item() == pytest.approx(expected, rel=1e-5)


def test_a_batch_without_numerals_may_have_tables_in_view(
    model: NumeralLM, corpora: dict[str, Corpus]
) -> None:
    train = corpora["train"]
    assert train.sight is not None
    words = Corpus.of_columns(
        train.vocabulary,
        train.table,
        words=np.array([2, 3, 2]),
        is_numeral=np.zeros(3, dtype=np.bool_),
        rows=np.zeros(0, dtype=np.int64),
        lengths=np.array([2, 1]),
    )
    words._types, words._codes = ["a", "b"], np.array([0, 1, 0])
    words._see(train.sight.columns.take(np.array([0, 1])))
    loss = model.train()(words.collate(np.array([0, 1])))
    loss.backward()
    assert loss.isfinite()


def test_padding_changes_no_gradient(model: NumeralLM, corpora: dict[str, Corpus]) -> None:
    train = corpora["train"]
    found = []
    for batch in (
        train.collate(SOME),
        train.collate_padded(torch.from_numpy(SOME), train.layout(SOME)),
    ):
        model.train().zero_grad()
        model(batch).backward()
        found.append({n: w.grad.clone() for n, w in model.named_parameters() if w.grad is not None})
    plain, padded = found
    largest = max(gradient.abs().max() for gradient in plain.values())
    for name, gradient in plain.items():
        torch.testing.assert_close(gradient, padded[name], rtol=1e-3, atol=1e-6 * largest.item())


def test_some_paragraphs_see_what_they_see_among_all(
    model: NumeralLM, corpora: dict[str, Corpus]
) -> None:
    train = corpora["train"]
    everything = model.eval().numeral_log_probs(model.read(train))
    wanted = np.array([3, 0])
    some = model.numeral_log_probs(model.read(train.take(wanted)))
    np.testing.assert_allclose(some, everything[train.numerals_of(wanted)], rtol=1e-4)


def test_a_later_numeral_changes_nothing_before_it(
    model: NumeralLM, corpora: dict[str, Corpus]
) -> None:
    """What is in view is what stands before, in the text, whatever follows."""
    train = corpora["train"]
    view = model.eval().read(train).context.sight.laid_out()  # type: ignore[union-attr]
    own = view.of_pairs(view.order)
    assert (own < view.for_pairs(view.before)).all()
    assert (own >= 0).any()
