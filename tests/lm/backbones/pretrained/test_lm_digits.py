"""A language model's digits as contexts bring them: the contract of heads holds over them."""

from pathlib import Path

import numpy as np
import pytest
import torch

import numerate
from numerate.lm.backbones.texts import Texts
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.base import Context
from numerate.lm.heads.combination import CombinationHead
from numerate.lm.heads.digit_rnn import DigitRNNHead
from numerate.lm.heads.lm import LMHead
from numerate.lm.heads.testing import check_head
from numerate.lm.model.numeral_distribution import NumeralDistributions
from numerate.lm.model.numeral_lm import NumeralLM

TEXTS = ["the mean was 12.5 (from 3 to 20) in 120", "the mean was 7 in 99"]
NUMERALS = ("5", "12.5", "2000", "0.5", "77")


@pytest.fixture(scope="module")
def model(tiny_models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> NumeralLM:
    cache = tmp_path_factory.mktemp("cache")
    return numerate.load(f"hf:{tiny_models['single']}", device="cpu", cache=cache)


@pytest.fixture(scope="module", params=["before a numeral", "of texts"])
def context(request: pytest.FixtureRequest, model: NumeralLM) -> Context:
    if request.param == "before a numeral":
        found = model.context_after(["the mean was ", "from 3 to "])
    else:
        tokens = [model.tokens(text) for text in TEXTS]
        found = model.read(Texts(TEXTS, tokens).corpus(model.vocabulary)).context
    hidden = torch.tanh(torch.randn(len(found), 4, generator=torch.Generator().manual_seed(0)))
    return Context(hidden, digits=found.digits)


def test_the_language_model_keeps_the_contract(context: Context) -> None:
    check_head(LMHead(4), 4, context=context, numerals=NUMERALS)


def test_so_does_a_combination_with_it(context: Context) -> None:
    torch.manual_seed(1)
    head = CombinationHead(4, {"d-rnn": DigitRNNHead(4), "lm": LMHead(4)})
    check_head(head, 4, context=context, numerals=NUMERALS)


def test_what_stands_there_is_known_without_reading_it_again(model: NumeralLM) -> None:
    """And is what reading it as a candidate would give."""
    tokens = [model.tokens(text) for text in TEXTS]
    corpus = Texts(TEXTS, tokens).corpus(model.vocabulary)
    context = model.read(corpus).context
    there = corpus.table.batch(corpus.rows)
    assert context.digits is not None
    assert context.digits.stand_there(there)  # type: ignore[attr-defined]
    assert not context.digits[:2].stand_there(corpus.table.batch(corpus.rows[::-1][:2].copy()))  # type: ignore[attr-defined]
    known = model.head.log_prob(context, there)
    table = model.head.log_prob_table(context, corpus.table)
    rows = torch.from_numpy(corpus.rows)
    expected = table[torch.arange(len(rows)), rows]
    torch.testing.assert_close(known, expected, rtol=1e-4, atol=1e-4)


def test_many_places_are_asked_at_once(model: NumeralLM) -> None:
    context = model.context_after(["the mean was ", "from 3 to ", "in "])
    found = NumeralDistributions(model.head, context)
    numerals = ["5", "120", "5"]
    table = model.head.log_prob_table(context, NumeralTable(["5", "120"])).numpy()
    assert found.log_prob(numerals).tolist() == pytest.approx(table[[0, 1, 2], [0, 1, 0]].tolist())
    assert found[:0].log_prob([]).shape == (0,)
    assert found[:0].sample((2,)).shape == (2, 0)
    assert (np.diff([float(found.cdf(x)[0]) for x in (1, 10, 100)]) >= 0).all()
