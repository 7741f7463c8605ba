"""Networks from scratch: what each reads, whatever stands beside it, and how it goes on."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from numerate.lm.backbones.contract import AFTER, exactly
from numerate.lm.backbones.lstm import LSTMBackbone
from numerate.lm.backbones.scratch import ScratchBackbone
from numerate.lm.backbones.texts import Texts
from numerate.lm.backbones.transformer import TransformerBackbone
from numerate.lm.data.batching import Corpus
from numerate.lm.heads.digit_rnn import DigitRNNHead
from numerate.lm.model.config import NETWORKS, ModelConfig, NetworkConfig
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.opening import from_scratch
from numerate.text.tokenizer import tokenize
from numerate.text.vocabulary import UNKNOWN_NUMERAL, UNKNOWN_WORD, Vocabulary

SIZE = 8
VOCABULARY = Vocabulary(
    (UNKNOWN_WORD, "<eos>", "of", "mg", "patients", "the"), (UNKNOWN_NUMERAL, "12", "2", "2.0", "7")
)
TEXTS = [
    "of 12 patients 7 took 2.0 mg",
    "",
    "mortality fell from 33.3 to 4 in 2000 controls of the 12 patients of the 7 of the 2 mg",
    "the 12 patients",
    "7",
]
CHOSEN = {
    "lstm": NetworkConfig(),
    "lstm of three layers": NetworkConfig("lstm", layers=3),
    "transformer": NetworkConfig("transformer"),
    "transformer of three layers": NetworkConfig("transformer", layers=3, heads=2),
}


def corpus_of(texts: list[str]) -> Corpus:
    return Texts(texts, [tokenize(text) for text in texts]).corpus(VOCABULARY)


def make(network: NetworkConfig) -> NumeralLM:
    """Random weights throughout: some start at zero, which would hide mistakes."""
    torch.manual_seed(1)
    config = ModelConfig("d-rnn", SIZE, network=network)
    model = from_scratch(config, VOCABULARY, DigitRNNHead(SIZE))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.5)
    return model.eval()


@pytest.fixture(params=CHOSEN.values(), ids=CHOSEN)
def model(request: pytest.FixtureRequest) -> NumeralLM:
    return make(request.param)


@pytest.fixture
def backbone(model: NumeralLM) -> ScratchBackbone:
    assert isinstance(model.backbone, ScratchBackbone)
    return model.backbone


@torch.no_grad()
def test_no_token_changes_what_was_before_it(backbone: ScratchBackbone) -> None:
    embedded = torch.randn(7, 2, SIZE)
    states = backbone._states(embedded)
    for step in range(7):
        changed = embedded.clone()
        changed[step] = torch.randn(2, SIZE)
        found = backbone._states(changed)
        assert torch.equal(found[:step], states[:step])
        assert ((found[step:] - states[step:]).abs().amax(2) > 1e-6).all()


def test_what_stands_beside_a_text_changes_nothing(model: NumeralLM) -> None:
    together = model.read(corpus_of(TEXTS))
    alone = [model.read(corpus_of([text])) for text in TEXTS]
    parts = [reading.log_probs for reading in alone]
    np.testing.assert_allclose(together.log_probs, np.concatenate(parts), rtol=1e-5)
    states = torch.cat([reading.context.hidden for reading in alone])
    torch.testing.assert_close(together.context.hidden, states)


@torch.no_grad()
def test_padding_changes_nothing(model: NumeralLM) -> None:
    corpus, paragraphs = corpus_of(TEXTS), np.arange(len(TEXTS))
    packed = corpus.collate(paragraphs)
    padded = corpus.collate_padded(torch.from_numpy(paragraphs), corpus.layout(paragraphs))
    assert padded.shape[0] > packed.shape[0]
    torch.testing.assert_close(model(padded), model(packed))


def test_a_training_batch_has_the_log_probabilities_of_a_reading(model: NumeralLM) -> None:
    corpus, paragraphs = corpus_of(TEXTS), np.arange(len(TEXTS))
    expected = model.log_probs(model.read(corpus)).sum()
    with exactly():
        assert float(-model(corpus.collate(paragraphs))) == pytest.approx(expected, rel=1e-5)


def test_the_state_after_a_text_is_that_before_what_comes_next(
    model: NumeralLM, backbone: ScratchBackbone
) -> None:
    text = TEXTS[2]
    tokens = [token for token in tokenize(text) if token.is_numeral]
    before = [text[: token.start] for token in tokens]
    found = backbone.after(Texts(before, [tokenize(text) for text in before]))
    torch.testing.assert_close(found.hidden, model.read(corpus_of([text])).context.hidden)


def test_going_on_is_reading_the_text_with_the_other_numeral(
    model: NumeralLM, backbone: ScratchBackbone
) -> None:
    reading = model.read(corpus_of(TEXTS), going_on=True)
    plain = model.read(corpus_of(TEXTS))
    np.testing.assert_allclose(reading.log_probs, plain.log_probs, rtol=1e-5)
    places = [
        (text, index, token)
        for text in TEXTS
        for index, token in enumerate(tokenize(text))
        if token.is_numeral
    ]
    rows = np.array([0, 2, 2, 3, 5, 6, 7, 8, 9, 0])
    numerals = ["2", "31.5", "2.0", "12", "123456789", "7", "0.1", "12", "88", "12"]
    log_probs, after = backbone.following(reading, model.head, rows, numerals)
    for row, numeral, log_prob, following in zip(rows, numerals, log_probs, after, strict=True):
        text, index, token = places[row]
        other = model.read(corpus_of([text[: token.start] + numeral + text[token.end :]]))
        expected = model.log_probs(other)
        at = int(other.corpus.is_numeral[:index].sum())
        assert log_prob == pytest.approx(expected[index] - other.gates[at], rel=1e-4)
        assert following == pytest.approx(expected[index + 1 : -1][:AFTER].sum(), rel=1e-4)


@torch.no_grad()
def test_layers_of_lstms_are_those_of_torch() -> None:
    backbone = make(CHOSEN["lstm of three layers"]).backbone
    assert isinstance(backbone, LSTMBackbone)
    torchs = nn.LSTM(SIZE, SIZE, 3)
    weights = [weight for lstm in backbone._layers for weight in lstm.parameters()]
    for theirs, ours in zip(torchs.parameters(), weights, strict=True):
        theirs.copy_(ours)
    embedded = torch.randn(5, 4, SIZE)
    torch.testing.assert_close(backbone._states(embedded), torchs(embedded)[0])


@torch.no_grad()
def test_a_transformer_is_what_it_says_one_token_at_a_time() -> None:
    """Float64, plain loops, positions as turns of complex numbers."""
    backbone = make(CHOSEN["transformer of three layers"]).backbone
    assert isinstance(backbone, TransformerBackbone)
    embedded = torch.randn(6, 1, SIZE)
    found = backbone._states(embedded)[:, 0].double()
    states = list(embedded[:, 0].double())
    for block in backbone.double().blocks:
        parts = [
            block.attention(block.before_attention(state)).view(3, 2, SIZE // 2) for state in states
        ]
        attended = []
        for now, (queries, _, _) in enumerate(parts):
            seen = parts[: now + 1]
            heads = []
            for head in range(2):
                query = turned(queries[head], now).conj()
                scores = [
                    (query * turned(keys[head], step)).sum().real / 2
                    for step, (_, keys, _) in enumerate(seen)
                ]
                weights = torch.stack(scores).softmax(0)
                values = torch.stack([values[head] for _, _, values in seen])
                heads.append(weights @ values)
            attended.append(block.attended(torch.cat(heads)))
        states = [state + add for state, add in zip(states, attended, strict=True)]
        states = [
            state + block.narrow(nn.functional.gelu(block.widen(block.before_widening(state))))
            for state in states
        ]
    expected = torch.stack([backbone.norm(state) for state in states])
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def turned(vector: Tensor, position: int) -> Tensor:  # [4] → complex [2]
    speeds = torch.tensor([1.0, 0.01], dtype=torch.float64)  # 10,000 to the powers 0 and −1/2
    turn = torch.polar(torch.ones_like(speeds), speeds * position)
    return torch.complex(vector[:2], vector[2:]) * turn


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"kind": "transformers"}, "unknown network 'transformers': did you mean transformer?"),
        ({"kind": "transformer", "heads": 3}, "heads: got 3 for hidden size 8, expected a number"),
        ({"kind": "transformer", "heads": 8}, "heads: got 8 for hidden size 8, expected a number"),
        ({"kind": "transformer", "heads": 0}, "heads: got 0, expected 1 or more"),
        ({"layers": 0}, "layers: got 0, expected 1 to 100"),
        ({"layers": 10**30}, "layers: got 1000000000000000000000000000000, expected 1 to 100"),
        ({"heads": 2}, "heads: got 2 for an LSTM, which has no attention"),
    ],
)
def test_sizes_that_cannot_be_are_refused(chosen: dict[str, Any], message: str) -> None:
    with pytest.raises(Exception, match=message) as refused:
        ModelConfig("mog", SIZE, network=NetworkConfig(**chosen))
    assert "\n" not in str(refused.value)


def test_all_networks_are_tested() -> None:
    assert {network.kind for network in CHOSEN.values()} == set(NETWORKS)
