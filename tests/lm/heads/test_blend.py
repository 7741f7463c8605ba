"""The threshold algorithm gives the order of the whole, without looking at everything."""

from collections.abc import Iterator
from itertools import count, islice

import numpy as np
import pytest

from numerate.lm.heads.blend import Blend
from numerate.lm.heads.known_numerals import KnownNumerals
from numerate.lm.model.numeral_distribution import draw_named

TEXTS = [str(number) for number in range(400)]


def blend(seed: int) -> tuple[Blend, np.ndarray, list[KnownNumerals]]:
    generator = np.random.default_rng(seed)
    shares = generator.dirichlet(np.ones(3))
    chances = [generator.dirichlet(np.full(len(TEXTS), 0.05)) + 1e-12 for _ in shares]
    whole = np.log(shares @ np.stack(chances))
    members = [KnownNumerals(TEXTS, np.log(part)) for part in chances]
    scores = dict(zip(TEXTS, whole, strict=True))
    return (
        Blend(shares, members, lambda texts: np.array([scores[t] for t in texts])),
        whole,
        members,
    )


@pytest.mark.parametrize("seed", range(10))
def test_all_come_in_the_order_of_the_whole(seed: int) -> None:
    found, whole, _ = blend(seed)
    streamed = list(found.stream())
    assert sorted(text for text, _ in streamed) == sorted(TEXTS)
    np.testing.assert_allclose([p for _, p in streamed], np.sort(whole)[::-1], rtol=1e-12)


def test_the_first_need_only_a_part_of_the_members() -> None:
    found, whole, _ = blend(1)
    asked: list[str] = []
    score = found._score
    found._score = lambda texts: asked.extend(texts) or score(texts)  # type: ignore[func-returns-value]
    best = list(islice(found.stream(), 3))
    assert [text for text, _ in best] == [TEXTS[index] for index in np.argsort(-whole)[:3]]
    assert len(asked) < len(TEXTS) / 2


def test_the_line_is_the_sum_of_the_members() -> None:
    found, whole, _ = blend(2)
    numbers = np.array([0.0, 17, 200, 399])
    expected = [np.exp(whole[: int(number) + 1]).sum() for number in numbers]
    np.testing.assert_allclose(found.mass_up_to(numbers), expected, rtol=1e-12)
    assert found.total == pytest.approx(np.exp(whole).sum())


def test_draws_come_from_all_members() -> None:
    found, whole, _ = blend(3)
    drawn = draw_named(found, 5000, np.random.default_rng(1))
    best = int(np.argmax(whole))
    share = drawn.count(TEXTS[best]) / 5000
    assert share == pytest.approx(float(np.exp(whole[best])), abs=4 * 0.5 / np.sqrt(5000))


class Plateau(KnownNumerals):
    """Numerals without end that are all as good as each other."""

    def __init__(self, first: int) -> None:
        super().__init__(["0"], np.zeros(1))
        self._first = first

    def stream(self) -> Iterator[tuple[str, float]]:
        return ((str(number), -7.0) for number in count(self._first, 2))


def test_members_that_do_not_end_are_not_searched_for_ever() -> None:
    """What one of them names is improbable to the other: nothing beats the bound."""
    asked: list[str] = []

    def score(texts: list[str]) -> np.ndarray:
        asked.extend(texts)
        return np.full(len(texts), -7.0 - np.log(2))

    found = list(Blend(np.array([0.5, 0.5]), [Plateau(1), Plateau(2)], score, most=300).stream())
    assert len(found) == len(asked) == len(set(asked))
    assert 300 <= len(asked) < 500
