"""Best-first search over the number line is exact, and so is its distribution function."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy import stats

from numerate.errors import NumerateError
from numerate.lm.heads.mixture import Gaussians
from numerate.lm.heads.number_line_search import FINEST, MOST_RANGES, NumberLine
from numerate.lm.model.numeral_distribution import draw_named


def gaussian_line(
    log_weights: torch.Tensor,
    means: torch.Tensor,
    sds: torch.Tensor,
    log_precisions: torch.Tensor,
    most: int = MOST_RANGES,
) -> NumberLine:
    law = Gaussians(log_weights[None].double(), means, sds)
    return NumberLine(law, log_precisions, most=most)


def line(seed: int, *, spread: float, finest: int) -> tuple[NumberLine, np.ndarray]:
    """A random mixture with probability on precisions 0 to `finest`, and the parts of it."""
    generator = np.random.default_rng(seed)
    weights = generator.dirichlet(np.ones(5))
    means = generator.uniform(0, 60, 5)
    sds = spread * generator.uniform(0.05, 1, 5)
    precisions = np.full(FINEST + 1, -np.inf)
    precisions[: finest + 1] = np.log(generator.dirichlet(np.ones(finest + 1)))
    parts = [torch.from_numpy(part) for part in (np.log(weights), means, sds, precisions)]
    return gaussian_line(*parts), np.array([weights, means, sds])


def chances(texts: list[str], parts: np.ndarray, log_precisions: np.ndarray) -> np.ndarray:
    weights, means, sds = parts
    precisions = np.array([len(text.partition(".")[2]) for text in texts])
    half = 0.5 * 10.0 ** -precisions[:, None].astype(float)
    values = np.array([float(text) for text in texts])[:, None]
    mass = stats.norm.cdf(values + half, means, sds) - stats.norm.cdf(values - half, means, sds)
    return np.exp(log_precisions[precisions]) * (mass @ weights)


def numerals(finest: int, largest: int) -> list[str]:
    return [
        f"{number / 10**precision:.{precision}f}"
        for precision in range(finest + 1)
        for number in range(largest * 10**precision)
    ]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("spread", [0.3, 5.0])
def test_the_best_come_first(
    seed: int, spread: float, assert_best_first: Callable[..., None]
) -> None:
    found, parts = line(seed, spread=spread, finest=2)
    precisions = found._log_precisions

    def score(texts: list[str]) -> np.ndarray:
        return np.log(np.maximum(chances(texts, parts, precisions), 1e-300))

    weights, means, sds = parts
    # The enumerated end at 100; differences of Φ are good to some 1e-15.
    beyond = max(1e-8, float(weights @ stats.norm.sf(99, means, sds)))
    assert_best_first(found, numerals(2, 100), score, beyond=beyond, at_least=20, tolerance=1e-6)


def test_very_wide_components_are_searched_too() -> None:
    """A component as wide as a million: a group's bound must not need all its cells."""
    precisions = torch.full((FINEST + 1,), -np.inf, dtype=torch.float64)
    precisions[0] = 0.0
    means, sds = torch.tensor([3e6, 7.0]).double(), torch.tensor([1e6, 0.1]).double()
    found = gaussian_line(torch.tensor([0.7, 0.3]).log(), means, sds, precisions)
    stream = found.stream()
    best = [next(stream) for _ in range(4)]
    assert best[0][0] == "7"
    assert {text for text, _ in best[1:]} == {"2999999", "3000000", "3000001"}
    expected = np.log(0.7 * (stats.norm.cdf(0.5e-6) - stats.norm.cdf(-0.5e-6)))
    assert best[1][1] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_distribution_function_is_the_sum_over_numerals(seed: int) -> None:
    found, parts = line(seed, spread=3.0, finest=2)
    texts = numerals(2, 120)
    values = np.array([float(text) for text in texts])
    exact = chances(texts, parts, found._log_precisions)
    numbers = np.array([-1, 0, 0.004, 0.29, 0.3, 5, 17.25, 17.254, 42, 60, 119])
    expected = [exact[values <= number].sum() for number in numbers]
    np.testing.assert_allclose(found.mass_up_to(numbers), expected, atol=1e-8)
    assert found.total == pytest.approx(exact.sum(), abs=1e-8)


def test_draws_follow_the_distribution_function() -> None:
    """Kolmogorov–Smirnov; ties make it conservative."""
    found, _ = line(1, spread=3.0, finest=2)
    drawn = draw_named(found, 3000, np.random.default_rng(1))
    values = np.sort([float(text) for text in drawn])
    cdf = found.mass_up_to(values) / found.total
    before = found.mass_up_to(values - 1e-6) / found.total
    through = np.searchsorted(values, values, side="right") / len(values)
    below = np.searchsorted(values, values, side="left") / len(values)
    distance = max(np.abs(through - cdf).max(), np.abs(below - before).max())
    assert distance < 1.95 / np.sqrt(len(values))  # 1 in 1,000
    assert draw_named(found, 20, np.random.default_rng(5)) == draw_named(
        found, 20, np.random.default_rng(5)
    )


def test_a_search_ends() -> None:
    """There are 10 to the 32 cells; what is found before it ends comes in order."""
    broad = torch.tensor([1e20], dtype=torch.float64)
    precisions = torch.full((FINEST + 1,), -np.inf, dtype=torch.float64)
    precisions[:2] = np.log(0.5)
    line = gaussian_line(torch.zeros(1), broad, broad, precisions, most=1000)
    found = list(line.stream())
    assert 0 < len(found) < 1000
    assert [cost for _, cost in found] == sorted((cost for _, cost in found), reverse=True)


def test_a_mixture_of_no_numbers_is_refused() -> None:
    means = torch.tensor([np.nan], dtype=torch.float64)
    precisions = torch.zeros(FINEST + 1, dtype=torch.float64)
    with pytest.raises(NumerateError, match="not numbers"):
        next(gaussian_line(torch.zeros(1), means, means, precisions).stream())
