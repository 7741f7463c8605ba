"""Steps: the same whether batches are padded, and on a GPU, where they are recorded."""

from pathlib import Path

import numpy as np
import pytest
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState

from numerate.lm.data.batching import Corpus, load_corpora
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.prepare import prepare
from numerate.lm.heads.base import HeadOptions
from numerate.lm.heads.registry import head_class, paper_heads
from numerate.lm.model.config import ModelConfig, NetworkConfig
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.opening import from_scratch
from numerate.lm.train.loop import Trainer
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.run import training_numerals
from numerate.text.vocabulary import Vocabulary

BATCH = 10


@pytest.fixture(scope="module")
def cardiac(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("data") / "cardiac"
    prepare("cardiac", folder, documents=100)
    return Dataset.open(folder)


@pytest.fixture
def corpora(cardiac: Dataset) -> dict[str, Corpus]:
    encoded = cardiac.split("train").encode()
    return load_corpora(cardiac, Vocabulary.build(encoded.types, encoded.counts, 200))


def make(name: str, corpus: Corpus, network: NetworkConfig | None = None) -> NumeralLM:
    torch.manual_seed(1)
    config = ModelConfig(name, hidden=8, dropout=0.0, network=network or NetworkConfig())
    head = head_class(name).fit(training_numerals(corpus), config.hidden, HeadOptions())
    return from_scratch(config, corpus.vocabulary, head)


@pytest.mark.parametrize("chosen", [[3, 0, 17, 3], [5], []], ids=["one twice", "one", "all"])
def test_a_padded_batch_has_the_targets_of_a_packed_one(
    corpora: dict[str, Corpus], chosen: list[int]
) -> None:
    corpus = corpora["train"]
    paragraphs = np.array(chosen or range(len(corpus)))
    packed = corpus.collate(paragraphs)
    padded = corpus.collate_padded(torch.from_numpy(paragraphs), corpus.layout(paragraphs))
    assert packed.numerals is not None
    assert padded.numerals is not None
    assert padded.weights is not None
    words, numerals = padded.by_class(padded.weights)
    size = len(paragraphs)
    length = packed.shape[0]
    assert torch.equal(padded.words[words], packed.words)
    found = sorted(zip(padded.positions.tolist(), padded.weights.tolist(), strict=True))
    assert [position for position, counts in found if counts] == sorted(packed.positions.tolist())
    _, places = packed.by_class(packed.positions)
    _, padded_places = padded.by_class(padded.positions)
    expected = sorted(zip(places.tolist(), packed.numerals.texts, strict=True))
    rows = [padded.numerals.texts[index] for index in numerals.nonzero()[:, 0].tolist()]
    assert sorted(zip(padded_places[numerals].tolist(), rows, strict=True)) == expected
    # What is read before each of them.
    assert packed.numerals_read is not None
    start = len(corpus.vocabulary.words)
    texts = padded.numerals_read.texts if padded.numerals_read else []
    for mine, theirs in zip(
        padded.inputs[: length * size].tolist(), packed.inputs.tolist(), strict=True
    ):
        if theirs > start:
            assert texts[mine - start - 1] == packed.numerals_read.texts[theirs - start - 1]
        else:
            assert mine == theirs


def test_layouts_are_few(corpora: dict[str, Corpus]) -> None:
    corpus = corpora["train"]
    plans = [corpus.batches(BATCH, np.random.default_rng(seed)) for seed in range(20)]
    layouts = {corpus.layout(batch) for plan in plans for batch in plan if len(batch) == BATCH}
    assert len(layouts) < 10
    numerals = [corpus.numeral_offsets[p + 1] - corpus.numeral_offsets[p] for p in plans[0]]
    for batch, counts in zip(plans[0], numerals, strict=True):
        assert corpus.layout(batch).room >= counts.sum()
        assert corpus.layout(batch).length > corpus.lengths[batch].max()


RIVALS = ["bins", "dexp", "flow", "fone", "learned-bins", "log-mog", "log-normal", "regression"]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize(
    ("name", "network"),
    [
        *((name, NetworkConfig()) for name in (*paper_heads(), *RIVALS)),
        ("combination", NetworkConfig("lstm", layers=2)),
        ("combination", NetworkConfig("lstm", inputs="fourier")),
        ("combination", NetworkConfig("transformer", layers=2, heads=2)),
    ],
)
def test_recorded_steps_do_what_plain_ones_do(
    cardiac: Dataset, name: str, network: NetworkConfig, tmp_path: Path
) -> None:
    losses = {}
    encoded = cardiac.split("train").encode()
    vocabulary = Vocabulary.build(encoded.types, encoded.counts, 200)
    for device in ("cpu", "cuda"):
        AcceleratorState._reset_state(reset_partial_state=True)
        accelerator = Accelerator(cpu=device == "cpu")
        corpora = load_corpora(cardiac, vocabulary)
        corpus = corpora["train"]
        model = make(name, corpus, network)
        trainer = Trainer(model, corpora, TrainingOptions(), accelerator, tmp_path, identity={})
        trainer.step.start(0, 0.0)
        found = []
        with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
            for _ in range(3):
                trainer.model.train()
                for paragraphs in corpus.batches(BATCH):
                    trainer.step.take(corpus, paragraphs)
                found += [trainer.step.loss, *trainer.dev_losses().values()]
        losses[device] = found
    assert losses["cuda"] == pytest.approx(losses["cpu"], rel=1e-4)
