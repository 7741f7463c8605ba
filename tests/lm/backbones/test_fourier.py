"""Fourier features of numerals, with whole numbers as the oracle, and models that read so."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch

import numerate
from numerate.errors import NumerateError
from numerate.lm.backbones.fourier import PERIODS, fourier_features
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.data.prepare import prepare
from numerate.lm.model.config import NetworkConfig
from numerate.lm.train.options import TrainingOptions

TEXTS = ["0", "18", "18.0", "99.99", "123456789012345678901234567890", "0.000001", "7.123456"]


def test_features_are_places_in_every_period() -> None:
    features = fourier_features(NumeralTable(TEXTS)).numpy()
    assert features.shape == (len(TEXTS), 2 * len(PERIODS))
    for text, row in zip(TEXTS, features, strict=True):
        for index, power in enumerate(PERIODS):
            turns = float(Fraction(text) / Fraction(10) ** power % 1)
            angle = 2 * math.pi * turns
            expected = [math.cos(angle), math.sin(angle)]
            np.testing.assert_allclose(row[2 * index : 2 * index + 2], expected, atol=1e-6)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fourier") / "cardiac"
    prepare("cardiac", folder, documents=30, seed=1)
    return folder


def test_a_model_that_reads_so_trains_and_opens_again(dataset: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    numerate.train(
        dataset,
        run,
        model="mog",
        hidden=6,
        vocabulary=60,
        backbone=NetworkConfig(inputs="fourier"),
        options=TrainingOptions(epochs=1),
        device="cpu",
    )
    assert json.loads((run / "config.json").read_text())["network"]["inputs"] == "fourier"
    model = numerate.load(run, device="cpu")
    names = {name for name, _ in model.backbone.embedding.named_parameters()}
    assert names == {"words", "fourier.project.weight", "fourier.project.bias"}
    known, unseen = (
        model.predict(f"The heart rate is {number} beats and the mass is")
        for number in ("60", "61.375")
    )
    assert known.top(1) != unseen.top(1)


def test_other_inputs_are_refused() -> None:
    with pytest.raises(NumerateError, match="inputs"):
        NetworkConfig(inputs="words")


def test_digits_that_stand_for_nothing_have_no_phase() -> None:
    two, hundredths = fourier_features(NumeralTable(["2", "2.00"]))
    assert torch.equal(two, hundredths)
