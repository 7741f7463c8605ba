"""Texts as a model from scratch reads them."""

import copy
import math

import numpy as np
import pytest
import torch

from numerate.errors import NumerateError
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.registry import paper_heads
from numerate.lm.model.calibration import calibrate
from numerate.lm.model.checker import Checker
from numerate.lm.model.numeral_lm import NumeralLM

TEXTS = [
    "The ejection fraction is 55 %, the end diastolic volume 143.5 ml.",
    "no numeral here",
    "",
    "7",
]


@pytest.mark.parametrize("name", paper_heads())
def test_no_numbers_are_no_all_clear(models: dict[str, NumeralLM], name: str) -> None:
    """Weights that were spoilt after they were loaded, so that only their answers can tell."""
    healthy = models[name]
    spoilt = copy.deepcopy(healthy)
    spoilt.use(healthy.reference, Checker(spoilt, lambda: healthy.checker.calibration))
    with torch.no_grad():
        next(spoilt.backbone.lstm.parameters()).fill_(math.nan)
    for ask in (
        lambda: spoilt.check(TEXTS[0]),
        lambda: spoilt.rank(["55 ml", "56 ml"]),
        lambda: spoilt.predict("The fraction is").top(1),
        lambda: spoilt.predict("The fraction is ___ %"),
        lambda: calibrate(spoilt, spoilt.read_texts(TEXTS, going_on=True)),
    ):
        with pytest.raises(NumerateError, match="not numbers"):
            ask()


@pytest.mark.parametrize("name", paper_heads())
def test_a_text_is_read_token_by_token(models: dict[str, NumeralLM], name: str) -> None:
    model = models[name]
    readings = model.read_texts(TEXTS)
    for text, reading in zip(TEXTS, readings, strict=True):
        assert len(reading.log_probs) == len(reading.tokens) + 1
        assert np.isfinite(reading.log_probs).all()
        assert [text[t.start : t.end] for t in reading.numerals] == [
            token.text for token in reading.tokens if token.is_numeral
        ]
        for index, token in enumerate(reading.numerals):
            # The same context, reached as the end of a text; the same numeral, from a table.
            context = model.context_after([text[: token.start]])
            found = model.log_prob_table(context, NumeralTable([token.text]))[0, 0]
            assert found == pytest.approx(reading.numeral_log_probs[index], abs=1e-4)
            position = reading.positions[index]
            assert reading.log_probs[position] == pytest.approx(
                reading.numeral_log_probs[index] + reading.gates[index]
            )


@pytest.mark.parametrize("name", paper_heads())
def test_neighbours_in_a_batch_change_nothing(models: dict[str, NumeralLM], name: str) -> None:
    model = models[name]
    together = model.read_texts(TEXTS)
    for text, reading in zip(TEXTS, together, strict=True):
        (alone,) = model.read_texts([text])
        np.testing.assert_allclose(alone.log_probs, reading.log_probs, rtol=1e-4, atol=1e-5)


def test_shares_are_those_of_the_members(models: dict[str, NumeralLM]) -> None:
    model = models["combination"]
    shares = model.mixture_weights(model.context_after(TEXTS))
    assert shares.shape == (len(TEXTS), len(model.members))
    np.testing.assert_allclose(shares.sum(1), 1, rtol=1e-6)
    assert model.members == ("h-softmax", "d-rnn", "mog")
    assert models["mog"].members == ()
    assert math.isclose(
        sum(models["combination"].predict("the volume is").mixture_weights.values()),
        1,
        rel_tol=1e-6,
    )
