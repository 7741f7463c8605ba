"""Batches, on a small dataset made by hand."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from numerate.errors import DatasetError
from numerate.lm.data.batching import Corpus, bucketed_batches, load_corpora, shuffled_batches
from numerate.lm.data.dataset import SPLITS, Dataset
from numerate.lm.data.prepare import prepare
from numerate.lm.heads.digit_rnn import DigitRNNHead
from numerate.lm.model.config import ModelConfig
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.opening import from_scratch
from numerate.text.vocabulary import Vocabulary

TEXTS = {
    "train": [
        "the 12 patients took 2.0 mg",
        "the dose was 2 mg",
        "the dose was 2 g",
        "the dose was 3 mg",
        "zinc",
        "7",
        "0.5 0.25 12345678901234 7 7",
        "of 2,000 patients 12 died and the rest took 2.0 mg of zinc a day for 12 days",
    ],
    "dev": ["dev dev 5", "dev 7 2"],
    "test": ["test 6", "test test test 6 6.0", "only words here"],
}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("dataset")
    source = folder / "source"
    source.mkdir()
    for split, texts in TEXTS.items():
        write_lines(source / f"{split}.jsonl", split, texts)
    prepare(source, folder / "out", keep="all")
    return Dataset.open(folder / "out")


def write_lines(path: Path, split: str, texts: list[str]) -> None:
    lines = [json.dumps({"id": f"{split}{n}", "text": text}) for n, text in enumerate(texts)]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def vocabulary(dataset: Dataset) -> Vocabulary:
    encoded = dataset.split("train").encode()
    return Vocabulary.build(encoded.types, encoded.counts, 9)


@pytest.fixture(scope="module")
def corpora(dataset: Dataset, vocabulary: Vocabulary) -> dict[str, Corpus]:
    return load_corpora(dataset, vocabulary)


@pytest.fixture(scope="module")
def model(vocabulary: Vocabulary) -> NumeralLM:
    torch.manual_seed(2)
    model = from_scratch(ModelConfig("d-rnn", hidden=6), vocabulary, DigitRNNHead(6))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.8)
    return model.eval()


def counts(corpus: Corpus, paragraphs: list[int]) -> tuple[int, int]:
    batch = corpus.collate(np.array(paragraphs))
    return batch.word_count, batch.numeral_count


def row(text: str) -> int:
    return TEXTS["train"].index(text)


@torch.no_grad()
def token_scores(model: NumeralLM, corpus: Corpus, text: str) -> Counter[float]:
    """The log-probabilities of one paragraph's tokens, in no order, rounded to be comparable."""
    scores = model.log_prob(corpus.collate(np.array([row(text)])))
    return Counter(scores.double().round(decimals=3).tolist())


@pytest.mark.parametrize("split", SPLITS)
def test_words_ends_and_numerals_are_all_to_be_predicted(
    corpora: dict[str, Corpus], split: str
) -> None:
    for index, text in enumerate(TEXTS[split]):
        tokens = text.split()
        numerals = sum(token[0].isdigit() for token in tokens)
        assert counts(corpora[split], [index]) == (len(tokens) - numerals + 1, numerals)
        batch = corpora[split].collate(np.array([index]))
        assert batch.shape == (len(tokens) + 1, 1)


def test_a_batch_is_as_long_as_its_longest_paragraph(corpora: dict[str, Corpus]) -> None:
    chosen = [row("zinc"), row("the dose was 2 mg"), row("7")]
    batch = corpora["train"].collate(np.array(chosen))
    assert batch.shape == (6, 3)
    assert (batch.word_count, batch.numeral_count) == (1 + 4 + 0 + 3, 0 + 1 + 1)


def test_a_batch_without_numerals_has_words_only(corpora: dict[str, Corpus]) -> None:
    assert counts(corpora["train"], [row("zinc")]) == (2, 0)


def test_a_token_is_predicted_from_those_before_it(
    corpora: dict[str, Corpus], model: NumeralLM
) -> None:
    """Inputs are the targets one step later: two paragraphs part where their tokens do."""
    train = corpora["train"]
    milligrams = token_scores(model, train, "the dose was 2 mg")
    grams = token_scores(model, train, "the dose was 2 g")
    three = token_scores(model, train, "the dose was 3 mg")
    assert milligrams.total() == grams.total() == three.total() == 6
    assert (milligrams & grams).total() == 4  # all but the last word and the end after it
    assert (milligrams & three).total() == 3  # all but the numeral and what follows it


def test_the_first_token_is_predicted_from_the_start_alone(
    corpora: dict[str, Corpus], model: NumeralLM
) -> None:
    train = corpora["train"]
    patients = token_scores(model, train, "the 12 patients took 2.0 mg")
    assert (patients & token_scores(model, train, "the dose was 2 mg")).total() == 1
    assert (patients & token_scores(model, train, "7")).total() == 0


def test_a_paragraph_scores_the_same_in_any_batch(
    corpora: dict[str, Corpus], model: NumeralLM
) -> None:
    train = corpora["train"]
    alone = sum((token_scores(model, train, text) for text in TEXTS["train"]), Counter())
    order = np.random.default_rng(0).permutation(len(train))
    with torch.no_grad():
        together = model.log_prob(train.collate(order)).double()
    assert sorted(together.tolist()) == pytest.approx(sorted(alone.elements()), abs=1e-3)


def test_splits_hold_their_own_paragraphs(corpora: dict[str, Corpus], dataset: Dataset) -> None:
    assert tuple(corpora) == SPLITS
    for name, corpus in corpora.items():
        assert corpus.name == name
        tokens = dataset.split(name).read(["tokens"])["tokens"].to_pylist()
        assert [len(paragraph) for paragraph in tokens] == corpus.lengths.tolist()
        assert [len(text.split()) for text in TEXTS[name]] == corpus.lengths.tolist()
    signatures = {
        name: [counts(corpus, [index]) for index in range(len(corpus))]
        for name, corpus in corpora.items()
    }
    assert signatures["dev"] == [(3, 1), (2, 2)]
    assert signatures["test"] == [(2, 1), (4, 2), (4, 0)]


def test_a_split_that_does_not_exist_is_refused(dataset: Dataset) -> None:
    with pytest.raises(DatasetError, match="unknown split 'valid': expected one of train, dev"):
        dataset.split("valid")


def test_splits_share_one_table_of_distinct_numerals(
    corpora: dict[str, Corpus], vocabulary: Vocabulary
) -> None:
    table = corpora["train"].table
    assert all(corpus.table is table for corpus in corpora.values())
    numerals = {
        token.replace(",", "") for texts in TEXTS.values() for token in " ".join(texts).split()
    }
    numerals = {token for token in numerals if token[0].isdigit()}
    assert len(table) == len(numerals)
    assert set(table.texts) == numerals
    ids = vocabulary.numeral_ids()
    assert table.known.tolist() == [ids.get(text, 0) for text in table.texts]
    assert {"2", "2.0"} <= set(table.texts)


def test_numerals_are_columns_of_their_own(
    corpora: dict[str, Corpus], dataset: Dataset, vocabulary: Vocabulary
) -> None:
    ids = vocabulary.word_ids()
    for name, corpus in corpora.items():
        paragraphs = dataset.split(name).read(["tokens"])["tokens"].to_pylist()
        tokens = [token for paragraph in paragraphs for token in paragraph]
        numeral = [token[0].isdigit() for token in tokens]
        assert corpus.is_numeral.tolist() == numeral
        expected = [
            0 if is_one else ids.get(token, 0)
            for token, is_one in zip(tokens, numeral, strict=True)
        ]
        assert corpus.words.tolist() == expected
        for index, paragraph in enumerate(paragraphs):
            found = corpus.rows[corpus.numerals_of(np.array([index]))]
            expected = [token for token in paragraph if token[0].isdigit()]
            assert [corpus.table.texts[row] for row in found] == expected


# Buckets


def realistic_lengths(count: int = 5000) -> np.ndarray:
    return np.random.default_rng(1).lognormal(4.3, 0.6, count).astype(np.int64).clip(1, 1000)


@pytest.mark.parametrize("seed", [None, 0, 1])
@pytest.mark.parametrize("count", [1, 49, 50, 51, 1234])
@pytest.mark.parametrize("bucketed", [True, False])
def test_every_paragraph_is_in_exactly_one_batch(
    count: int, seed: int | None, bucketed: bool
) -> None:
    generator = None if seed is None else np.random.default_rng(seed)
    if bucketed:
        batches = bucketed_batches(realistic_lengths(count), 50, generator)
    else:
        batches = shuffled_batches(count, 50, generator)
    assert sorted(np.concatenate(batches).tolist()) == list(range(count))
    assert {len(batch) for batch in batches} <= {50, count % 50}
    assert len(batches) == -(-count // 50)


def test_batches_depend_on_the_generator_alone() -> None:
    lengths = realistic_lengths()
    first, same, other = (
        bucketed_batches(lengths, 50, np.random.default_rng(seed)) for seed in (3, 3, 4)
    )
    assert all(np.array_equal(a, b) for a, b in zip(first, same, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


def test_lengths_are_not_changed() -> None:
    lengths = realistic_lengths()
    before = lengths.copy()
    bucketed_batches(lengths, 50, np.random.default_rng(0))
    assert np.array_equal(lengths, before)


def test_paragraphs_get_other_neighbours_in_each_epoch() -> None:
    lengths, generator = realistic_lengths(), np.random.default_rng(5)
    epochs = [bucketed_batches(lengths, 50, generator) for _ in range(2)]
    mates = [
        {index: set(batch.tolist()) for batch in batches for index in batch.tolist()}
        for batches in epochs
    ]
    kept = np.mean([len(mates[0][i] & mates[1][i]) - 1 for i in range(len(lengths))]) / 49
    assert kept < 0.5


def test_batches_are_not_in_order_of_length() -> None:
    lengths = realistic_lengths()
    batches = bucketed_batches(lengths, 50, np.random.default_rng(6))
    means = np.array([lengths[batch].mean() for batch in batches])
    # Of independent draws, 100 batches correlate with their order by more than 0.4 once in 20,000.
    assert abs(np.corrcoef(means, np.arange(len(means)))[0, 1]) < 0.4


@pytest.mark.parametrize("seed", [None, 7])
def test_padding_is_small(seed: int | None) -> None:
    lengths = realistic_lengths()
    generator = None if seed is None else np.random.default_rng(seed)
    batches = bucketed_batches(lengths, 50, generator)
    padded = sum(len(batch) * lengths[batch].max() for batch in batches)
    at_random = np.random.default_rng(8).permutation(len(lengths)).reshape(-1, 50)
    assert padded < 1.1 * lengths.sum()
    assert 50 * lengths[at_random].max(axis=1).sum() > 2 * lengths.sum()  # so it matters
