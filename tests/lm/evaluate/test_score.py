"""Log-probabilities and predictions stand where the corpus has their tokens."""

import numpy as np
import pytest
import torch

from numerate.lm.backbones import scratch
from numerate.lm.backbones.contract import Targets
from numerate.lm.data.batching import Corpus, load_corpora
from numerate.lm.data.dataset import Dataset, Encoded
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.data.prepare import prepare
from numerate.lm.evaluate.score import Predictions, rank_tables
from numerate.lm.heads.base import Context, HeadOptions
from numerate.lm.heads.registry import head_class
from numerate.lm.model import numeral_lm
from numerate.lm.model.candidates import candidate_numerals
from numerate.lm.model.config import ModelConfig
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.opening import from_scratch
from numerate.lm.train.run import training_numerals
from numerate.numeral import is_numeral
from numerate.text.vocabulary import Vocabulary

TEXTS = [
    "the dose was 5 mg in 12 of 30 patients",
    "no number here",
    "0.50 or 12 ?",
    "a rare 987.65 and a rarer 3",
    "words alone again and again",
    "5",
]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("data")
    (folder / "texts").mkdir()
    for split, texts in (("train", TEXTS[::-1]), ("dev", TEXTS[:2]), ("test", TEXTS)):
        (folder / "texts" / f"{split}.txt").write_text("\n\n".join(texts))
    prepare(folder / "texts", folder / "out", keep="all")
    return Dataset.open(folder / "out")


@pytest.fixture(scope="module")
def corpora(dataset: Dataset) -> dict[str, Corpus]:
    encoded = dataset.split("train").encode()
    vocabulary = Vocabulary.build(encoded.types, encoded.counts, 6)
    return load_corpora(dataset, vocabulary)


def language_model(corpora: dict[str, Corpus], name: str) -> NumeralLM:
    torch.manual_seed(4)
    head = head_class(name).fit(training_numerals(corpora["train"]), 5, HeadOptions())
    model = from_scratch(ModelConfig(name, hidden=5), corpora["train"].vocabulary, head)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.5 * torch.randn_like(parameter)  # no two places alike
    return model.eval()


def ranked(
    model: NumeralLM,
    corpus: Corpus,
    candidates: NumeralTable,
    oov_numerals: int,
    *,
    distribution: bool = False,
) -> Predictions:
    """As `evaluate` does it."""
    return rank_tables(
        model.tables(model.read(corpus).context, candidates),
        corpus.table,
        Targets.of(corpus).rows,
        candidates,
        oov_numerals,
        open_vocabulary=model.open_vocabulary,
        distribution=distribution,
    )


def tokens_of(dataset: Dataset) -> list[list[str]]:
    return dataset.split("test").read(["tokens"])["tokens"].to_pylist()


def test_targets_are_the_tokens_and_ends_of_the_split(
    dataset: Dataset, corpora: dict[str, Corpus]
) -> None:
    targets = Targets.of(corpora["test"])
    vocabulary = corpora["test"].vocabulary
    known = {*vocabulary.words, *vocabulary.numerals}
    expected = [
        (is_numeral(token), token not in known, index)
        for index, tokens in enumerate(tokens_of(dataset))
        for token in [*tokens, "<eos>"]
    ]
    columns = (targets.is_numeral, targets.is_unknown, targets.paragraphs)
    assert list(zip(*(c.tolist() for c in columns), strict=True)) == expected
    numerals = [t for tokens in tokens_of(dataset) for t in tokens if is_numeral(t)]
    assert [corpora["test"].table.texts[row] for row in targets.rows] == numerals
    assert {(n, u) for n, u, _ in expected} == {(n, u) for n in (0, 1) for u in (0, 1)}


@pytest.mark.parametrize("name", ["softmax+rnn", "combination"])
@pytest.mark.parametrize("batch_size", [1, 2, 50])
def test_log_probabilities_are_in_the_order_of_the_corpus(
    corpora: dict[str, Corpus], monkeypatch: pytest.MonkeyPatch, name: str, batch_size: int
) -> None:
    monkeypatch.setattr(scratch, "BATCH_SIZE", batch_size)
    model, corpus = language_model(corpora, name), corpora["test"]
    expected = []
    for index in range(len(corpus)):
        batch = corpus.collate(np.array([index]))
        with torch.no_grad():
            found = zip(batch.positions.tolist(), model.log_prob(batch).tolist(), strict=True)
        expected += [log_prob for _, log_prob in sorted(found)]
    assert len(set(np.round(expected, 4))) > 15
    np.testing.assert_allclose(model.log_probs(model.read(corpus)), expected, rtol=1e-5)


@pytest.mark.parametrize("name", ["softmax", "h-softmax", "d-rnn", "mog", "combination"])
@pytest.mark.parametrize(("batch_size", "rows"), [(1, 64), (50, 2), (50, 64)])
def test_predictions_are_in_the_order_of_the_corpus(
    corpora: dict[str, Corpus],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    batch_size: int,
    rows: int,
) -> None:
    monkeypatch.setattr(scratch, "BATCH_SIZE", batch_size)
    monkeypatch.setattr(numeral_lm, "TABLE_ROWS", rows)
    model, corpus = language_model(corpora, name), corpora["test"]
    candidates = candidate_numerals(corpora["train"])
    found = ranked(model, corpus, candidates, 1, distribution=True)
    best = []
    for index in range(len(corpus)):
        batch = corpus.collate(np.array([index]))
        _, positions = batch.by_class(batch.positions)
        with torch.no_grad():
            context = Context(model.backbone.hidden(batch)[positions.sort().values])
            best += model.head.log_prob_table(context, candidates).argmax(1).tolist()
    assert found.values.tolist() == candidates.values[best].tolist()
    targets = Targets.of(corpus)
    truth = [corpus.table.texts[row] for row in targets.rows]
    assert found.exact.tolist() == [
        candidates.texts[b] == t for b, t in zip(best, truth, strict=True)
    ]
    assert np.isfinite(found.crps).all()


def test_without_the_distribution_the_best_candidates_are_the_same(
    corpora: dict[str, Corpus],
) -> None:
    model, candidates = language_model(corpora, "d-rnn"), candidate_numerals(corpora["train"])
    plain = ranked(model, corpora["test"], candidates, 3)
    full = ranked(model, corpora["test"], candidates, 3, distribution=True)
    assert plain.values.tolist() == full.values.tolist()
    assert np.isnan(plain.crps).all()


@pytest.mark.parametrize(("oov_numerals", "unknown_wins"), [(1, True), (2, True), (3, False)])
@pytest.mark.parametrize("name", ["softmax", "h-softmax"])
def test_an_unknown_candidate_has_its_part_of_the_unknown_symbol_only(
    corpora: dict[str, Corpus],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    oov_numerals: int,
    unknown_wins: bool,
) -> None:
    model, candidates = language_model(corpora, name), candidate_numerals(corpora["train"])

    def log_prob_table(context: Context, candidates: NumeralTable) -> torch.Tensor:
        shares = np.where(candidates.known == 0, 0.5, 0.2)
        return torch.from_numpy(np.log(shares)).expand(len(context), -1)

    monkeypatch.setattr(model.head, "log_prob_table", log_prob_table)
    found = ranked(model, corpora["test"], candidates, oov_numerals)
    first = np.flatnonzero((candidates.known == 0) == unknown_wins)[0]
    assert set(found.values) == {candidates.values[first]}


class OnlyWords:
    """The test split with a word in the place of every numeral."""

    name = "test"

    def __init__(self, dataset: Dataset) -> None:
        self.encoded = dataset.split("test").encode()

    def encode(self) -> Encoded:
        types = ["word" if is_numeral(type) else type for type in self.encoded.types]
        return Encoded(types, self.encoded.codes, self.encoded.offsets)


def test_a_split_without_numerals_has_no_predictions(
    dataset: Dataset, corpora: dict[str, Corpus]
) -> None:
    model, candidates = language_model(corpora, "mog"), candidate_numerals(corpora["train"])
    corpus = Corpus(OnlyWords(dataset), corpora["test"].vocabulary, corpora["test"].table)
    found = ranked(model, corpus, candidates, 1, distribution=True)
    assert found.values.shape == found.exact.shape == found.crps.shape == (0,)
    assert len(model.log_probs(model.read(corpus))) == len(corpus.words) + len(corpus)
