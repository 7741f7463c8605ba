"""The benchmark measures what it says, against scikit-learn and against reading errors in place."""

import statistics
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from numerate.backbones.lstm import LSTMBackbone
from numerate.corpus.dataset import Dataset
from numerate.detector.slips import KINDS
from numerate.errors import DatasetError, NumerateError
from numerate.model.numeral_lm import NumeralLM, TextReading
from numerate.plausibility.benchmark import (
    BySurprisal,
    Distance,
    Scores,
    area_under_roc,
    detect,
    make_errors,
    qualities,
    run_benchmark,
)


@pytest.mark.parametrize("seed", range(5))
def test_area_under_the_curve(seed: int) -> None:
    generator = np.random.default_rng(seed)
    right = generator.normal(size=200).round(1)  # with ties
    wrong = generator.normal(0.7, size=90).round(1)
    truth = np.repeat([0, 1], [len(right), len(wrong)])
    expected = roc_auc_score(truth, np.concatenate([right, wrong]))
    assert area_under_roc(right, wrong) == pytest.approx(expected, rel=1e-12)


def test_recall_is_at_one_percent_of_the_right_numerals() -> None:
    right = np.arange(1000.0)
    wrong = np.array([985.0, 991.0, 995.0, 2000.0])
    places = np.array([985, 991, 995, 3])
    found = qualities(Scores(right, {"kind": wrong}), {"kind": (places, ["1"] * 4)})["kind"]
    assert (right > np.quantile(right, 0.99, method="higher")).mean() <= 0.01
    assert found.count == 4
    assert found.recall == pytest.approx(0.75)  # the threshold is 990
    assert found.auc == area_under_roc(right[places], wrong)


def test_errors_are_scored_where_they_stand(models: dict[str, NumeralLM]) -> None:
    """As if each were written into the text, by itself, and the text read again."""
    model = models["combination"]
    texts = ["The fraction is 55 % and the volume 140.5 ml.", "No numeral.", "Age 67, mass 80 g."]
    readings = model.read_texts(texts)
    numerals = [token.text for reading in readings for token in reading.numerals]
    errors = make_errors(numerals, np.array([0, 0, 1, 1]), seed=3)
    scores = detect(BySurprisal(model), readings, numerals, errors)
    owners = [(text, token) for text, reading in zip(texts, readings, strict=True)
              for token in reading.numerals]  # fmt: skip
    np.testing.assert_allclose(
        scores.right,
        np.concatenate([-r.log_probs[r.positions] for r in readings]),
        rtol=1e-4,
    )
    for kind, (places, wrong) in errors.items():
        for place, error, score in zip(places, wrong, scores.wrong[kind], strict=True):
            text, token = owners[place]
            (reading,) = model.read_texts([text[: token.start] + error + text[token.end :]])
            index = [t.start for t in reading.tokens].index(token.start)
            assert -reading.log_probs[index] == pytest.approx(score, rel=1e-3)


def test_distance_is_on_a_log_scale() -> None:
    np.testing.assert_allclose(Distance(10.0)(["10", "100", "1", "0"]), [0, 1, 1, 2])


def test_the_median_is_that_of_the_training_numbers(
    models: dict[str, NumeralLM], dataset: Path
) -> None:
    from numerate.numeral import is_numeral

    tokens = Dataset.open(dataset).split("train").read(["tokens"])["tokens"].to_pylist()
    numbers = [float(t) for text in tokens for t in text if is_numeral(t)]
    assert models["mog"].reference.median == statistics.median(numbers)


def test_without_numerals_there_is_nothing_to_find(dataset: Path) -> None:
    blind: Any = SimpleNamespace(tokens=lambda text: [])
    with pytest.raises(DatasetError, match="no numeral in these 3 paragraphs"):
        run_benchmark(blind, Dataset.open(dataset), limit=3)


def test_a_model_beats_the_baselines(models: dict[str, NumeralLM], dataset: Path) -> None:
    lm = models["combination"]
    opened = Dataset.open(dataset)
    result = run_benchmark(lm, opened, softmax=models["softmax"], seed=1)
    some = [run_benchmark(lm, opened, softmax=models["softmax"], limit=4) for _ in range(2)]
    assert some[0].record() == some[1].record()
    names = ["combination", "combination at first sight", "distance from the median"]
    assert list(result.detectors) == [*names, "surprisal of softmax"]
    for found in result.detectors.values():
        assert list(found) == list(KINDS)
        assert all(0 <= quality.recall <= 1 for quality in found.values())
    ours = [quality.auc for quality in result.detectors["combination"].values()]
    theirs = [quality.auc for quality in result.detectors["distance from the median"].values()]
    assert np.mean(ours) > np.mean(theirs)  # after two epochs
    assert result.detectors["combination"]["factor 1,000"].auc > 0.9
    recalls = [
        np.mean([quality.recall for quality in result.detectors[name].values()])
        for name in names[:2]
    ]
    assert recalls[0] > recalls[1]
    assert 0 <= result.flagged < 0.05
    without = run_benchmark(lm, opened, limit=4)
    assert list(without.detectors) == names


def test_it_reads_a_few_paragraphs_at_a_time(
    models: dict[str, NumeralLM], dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory does not grow with the split, and nothing else depends on the portions."""
    opened, lm = Dataset.open(dataset), models["combination"]
    choices: Any = {"softmax": models["softmax"], "limit": 8}
    whole = run_benchmark(lm, opened, **choices).record()
    portions: list[int] = []
    read = NumeralLM.read_in_view

    def counted(
        model: NumeralLM, texts: Sequence[str], columns: None, **choices: Any
    ) -> list[TextReading]:
        portions.append(len(texts))
        return read(model, texts, columns, **choices)

    monkeypatch.setattr(NumeralLM, "read_in_view", counted)
    monkeypatch.setattr(LSTMBackbone, "texts_at_once", 3)
    parts = run_benchmark(lm, opened, **choices).record()
    assert max(portions) == 3
    assert sum(portions) == 2 * choices["limit"]
    for name, kinds in whole.pop("detectors").items():
        for kind, quality in kinds.items():
            assert parts["detectors"][name][kind] == pytest.approx(quality, rel=1e-9), name
    del parts["detectors"]
    assert parts == whole


def test_runs_that_cut_text_differently_are_not_compared(models: dict[str, NumeralLM]) -> None:
    model = models["mog"]
    readings = model.read_texts(["It is 5 or 67."])
    for numerals, reason in (
        (["5"], "got 67 by reading it, none by cutting it"),
        (["5", "68"], "got 67 by reading it, 68 by cutting it"),
        (["5", "67", "8"], "got none by reading it, 8 by cutting it"),
    ):
        with pytest.raises(NumerateError, match=f"{reason} into tokens; expected the same"):
            detect(BySurprisal(model), readings, numerals, {})
    assert len(detect(BySurprisal(model), readings, ["5", "67"], {}).right) == 2
