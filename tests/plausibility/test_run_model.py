"""What a run says as a `NumberModel` is what the language model says."""

import copy
import math

import numpy as np
import pytest
import torch
from numerate.model.names import MODELS
from numerate.plausibility.model import NumerateModel
from numerate.plausibility.run_model import RunModel

from numerate.errors import NumerateError
from numerate.numeral_table import NumeralTable
from numerate.plausibility.calibration import calibrate

TEXTS = [
    "The ejection fraction is 55 %, the end diastolic volume 143.5 ml.",
    "no numeral here",
    "",
    "7",
]


@pytest.mark.parametrize("name", MODELS)
def test_no_numbers_are_no_all_clear(models: dict[str, NumerateModel], name: str) -> None:
    """Weights that were spoilt after they were loaded, so that only their answers can tell."""
    healthy = models[name]
    network = copy.deepcopy(healthy.model._model)
    with torch.no_grad():
        next(network.backbone.parameters()).fill_(math.nan)
    spoilt = NumerateModel(RunModel(network, healthy.model._reference), lambda: healthy.calibration)
    for ask in (
        lambda: spoilt.check(TEXTS[0]),
        lambda: spoilt.rank(["55 ml", "56 ml"]),
        lambda: spoilt.predict("The fraction is").top(1),
        lambda: spoilt.predict("The fraction is ___ %"),
        lambda: calibrate(spoilt.model, spoilt.model.read(TEXTS)),
    ):
        with pytest.raises(NumerateError, match="not numbers"):
            ask()


@pytest.mark.parametrize("name", MODELS)
def test_a_text_is_read_token_by_token(models: dict[str, NumerateModel], name: str) -> None:
    model = models[name].model
    readings = model.read(TEXTS)
    for text, reading in zip(TEXTS, readings, strict=True):
        assert len(reading.log_probs) == len(reading.tokens) + 1
        assert np.isfinite(reading.log_probs).all()
        assert [text[t.start : t.end] for t in reading.numerals] == [
            token.text for token in reading.tokens if token.is_numeral
        ]
        for index, token in enumerate(reading.numerals):
            # The same context, reached as the end of a text; the same numeral, from a table.
            context = model.contexts([text[: token.start]])
            found = model.log_probs(context, NumeralTable([token.text]))[0, 0]
            assert found == pytest.approx(reading.numeral_log_probs[index], abs=1e-4)
            position = reading.positions[index]
            assert reading.log_probs[position] == pytest.approx(
                reading.numeral_log_probs[index] + reading.gates[index]
            )


@pytest.mark.parametrize("name", MODELS)
def test_neighbours_in_a_batch_change_nothing(models: dict[str, NumerateModel], name: str) -> None:
    model = models[name].model
    together = model.read(TEXTS)
    for text, reading in zip(TEXTS, together, strict=True):
        (alone,) = model.read([text])
        np.testing.assert_allclose(alone.log_probs, reading.log_probs, rtol=1e-4, atol=1e-5)


def test_shares_are_those_of_the_members(models: dict[str, NumerateModel]) -> None:
    model = models["combination"].model
    shares = model.shares(model.contexts(TEXTS))
    assert shares.shape == (len(TEXTS), len(model.members))
    np.testing.assert_allclose(shares.sum(1), 1, rtol=1e-6)
    assert model.members == ("h-softmax", "d-rnn", "mog")
    assert models["mog"].members == ()
    assert math.isclose(
        sum(models["combination"].predict("the volume is").shares.values()), 1, rel_tol=1e-6
    )
