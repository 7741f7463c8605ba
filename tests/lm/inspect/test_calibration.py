"""The transform is uniform when the numbers come from the model, and not when they do not."""

import numpy as np
import pytest
import torch
from scipy import stats

from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.mixture import MixtureHead
from numerate.lm.heads.mixture_fit import Components
from numerate.lm.inspect.exhibit import NothingToShowError
from numerate.lm.inspect.probability_transform import calibration, randomised_transform
from numerate.lm.inspect.runs import Run

COUNT, SIZE = 4000, 2


def new_head(means: list[float], sds: list[float], *, truncate: bool = False) -> MixtureHead:
    sizes = np.full(len(means), len(means))
    shares = np.full(len(means), 1 / len(means))
    components = Components(np.array(means), np.array(sds), shares, sizes)
    torch.manual_seed(1)
    head = MixtureHead(SIZE, components, truncate=truncate)
    with torch.no_grad():
        head.weights.normal_()
    return head


def draw(head: MixtureHead, decimals: int) -> tuple[torch.Tensor, list[str]]:
    """States, and numerals that the head would write in them."""
    generator = np.random.default_rng(5)
    hidden = torch.from_numpy(generator.normal(size=(COUNT, SIZE))).float()
    with torch.no_grad():
        weights = head.log_weights(hidden).exp().numpy()
    texts = []
    for row in weights:
        while True:
            component = generator.choice(len(row), p=row / row.sum())
            value = generator.normal(float(head.means[component]), float(head.sds[component]))
            rounded = round(value, decimals)
            if rounded >= 0:
                break
        texts.append(f"{abs(rounded):.{decimals}f}")
    return hidden, texts


def transform(head: MixtureHead, hidden: torch.Tensor, texts: list[str]) -> np.ndarray:
    table = NumeralTable(sorted(set(texts)))
    index = {text: row for row, text in enumerate(table.texts)}
    rows = np.array([index[text] for text in texts])
    return randomised_transform(head, hidden, table, rows, np.random.default_rng(6))


@pytest.mark.parametrize("decimals", [0, 1, 3])
def test_a_calibrated_model_is_uniform(decimals: int) -> None:
    head = new_head([50.0, 80.0, 81.0], [10.0, 5.0, 0.3])
    found = transform(head, *draw(head, decimals))
    assert stats.kstest(found, "uniform").pvalue > 0.01  # fails for one seed in a hundred


def test_a_truncated_model_is_uniform_over_what_is_left() -> None:
    head = new_head([1.0, 3.0], [2.0, 4.0], truncate=True)
    hidden, texts = draw(head, 1)
    assert stats.kstest(transform(head, hidden, texts), "uniform").pvalue > 0.01
    whole = new_head([1.0, 3.0], [2.0, 4.0])
    assert stats.kstest(transform(whole, hidden, texts), "uniform").pvalue < 1e-6


def test_a_model_too_narrow_or_off_is_told() -> None:
    hidden, texts = draw(new_head([50.0], [10.0]), 1)
    for mean, sd in ((50.0, 5.0), (55.0, 10.0)):
        found = transform(new_head([mean], [sd]), hidden, texts)
        assert stats.kstest(found, "uniform").pvalue < 1e-6


def test_it_lies_between_the_ends_of_the_interval() -> None:
    head = new_head([50.0], [10.0])
    texts = ["0", "41", "50", "50.0", "93.25"]
    found = transform(head, torch.zeros(len(texts), SIZE), texts)
    for text, value in zip(texts, found, strict=True):
        half = 0.5 * 10.0 ** -len(text.partition(".")[2])
        low, high = stats.norm.cdf([float(text) - half, float(text) + half], 50, 10)
        assert low - 1e-12 <= value <= high + 1e-12


def test_the_exhibit_counts_all_numerals(runs: dict[str, Run]) -> None:
    exhibit = calibration(list(runs.values()))
    heads = list(dict.fromkeys(exhibit.table.column("head")))
    assert heads == ["mog", "mog in combination"]
    for head in heads:
        shares = [row[3] for row in exhibit.table.rows if row[0] == head]
        assert sum(map(float, shares)) == pytest.approx(1)
    summary = {row[0]: row for row in exhibit.shown[0].rows}
    assert summary["mog"][1] == f"{len(runs['mog'].shared.dev.rows):,}"
    with pytest.raises(NothingToShowError, match="no run with a distribution on the number line"):
        calibration([runs["d-rnn"]])
