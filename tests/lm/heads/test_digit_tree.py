"""Best-first search over digits is exact, against enumeration."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice, product

import numpy as np
import pytest
from scipy import stats

from numerate.errors import NumerateError
from numerate.lm.data.numeral_table import END, START, SYMBOL_COUNT, SYMBOLS
from numerate.lm.heads.digit_tree import DigitTree, legal_symbols
from numerate.lm.model.numeral_distribution import draw_named
from numerate.numeral import MAX_DIGITS, is_numeral


class Markov:
    """A writer whose next symbol depends on the last one: every probability can be worked out."""

    def __init__(self, seed: int, ending: float) -> None:
        scores = np.random.default_rng(seed).normal(0, 1.5, (SYMBOL_COUNT, SYMBOL_COUNT))
        scores[:, END] += ending
        self.log_probs = scores - np.logaddexp.reduce(scores, axis=1)[:, None]
        self.written = 0

    def start(self) -> tuple[int, np.ndarray]:
        return START, self.log_probs[START]

    def write(self, states: Sequence[int], symbols: Sequence[int]) -> tuple[list[int], np.ndarray]:
        self.written += len(symbols)
        return list(symbols), self.log_probs[list(symbols)]

    def score(self, numeral: str) -> float:
        return self.score_prefix(numeral, end=True)

    def score_prefix(self, prefix: str, *, end: bool = False) -> float:
        symbols = [*(SYMBOLS.index(symbol) for symbol in prefix), *([END] if end else [])]
        return float(
            sum(self.log_probs[a, b] for a, b in zip([START, *symbols], symbols, strict=False))
        )


BestFirst = Callable[..., None]


@pytest.mark.parametrize("seed", range(8))
def test_the_best_come_first(
    seed: int, short_numerals: list[str], assert_best_first: BestFirst
) -> None:
    writer = Markov(seed, ending=4.0)
    # A longer numeral is no more probable than the prefix of it that has four characters.
    prefixes = map("".join, product(SYMBOLS, repeat=4))
    beyond = np.exp(max(writer.score_prefix(p) for p in prefixes if legal_symbols(p)))
    assert_best_first(
        DigitTree(writer),
        short_numerals,
        lambda texts: map(writer.score, texts),
        beyond=beyond,
        at_least=8,
    )


def test_a_long_numeral_is_found_where_it_is_best() -> None:
    writer = Markov(0, ending=0.0)
    wanted = "31415926535.8979"
    writer.log_probs[:] = np.log(1e-4)
    path = [START, *(SYMBOLS.index(symbol) for symbol in wanted)]

    class Knows(Markov):
        """Follows one path with certainty, whatever the last symbol."""

        def start(self) -> tuple[int, np.ndarray]:
            return 0, self._following(0)

        def write(
            self, states: Sequence[int], symbols: Sequence[int]
        ) -> tuple[list[int], np.ndarray]:
            on = [
                s + 1 if s >= 0 and path[s + 1] == x else -1
                for s, x in zip(states, symbols, strict=True)
            ]
            return on, np.stack([self._following(state) for state in on])

        def _following(self, state: int) -> np.ndarray:
            chances = np.full(SYMBOL_COUNT, 0.1 / (SYMBOL_COUNT - 1))
            following = [*path[1:], END]
            chances[following[state] if state >= 0 else END] = 0.9
            return np.log(chances)

    best, log_prob = next(DigitTree(Knows(0, 0.0)).stream())
    assert best == wanted
    assert log_prob == pytest.approx((len(wanted) + 1) * np.log(0.9))


@pytest.mark.parametrize("seed", range(4))
def test_the_line_holds_all_mass_but_what_it_says(seed: int, short_numerals: list[str]) -> None:
    writer = Markov(seed, ending=3.0)
    tree = DigitTree(writer)
    values = np.array([float(text) for text in short_numerals])
    chances = np.exp([writer.score(text) for text in short_numerals])
    malformed_or_longer = 1 - chances.sum()
    for number in (0, 0.5, 1, 3.3, 9, 42, 99.9, 1000):
        exact = chances[values <= number].sum()
        found = float(tree.mass_up_to(np.array([number]))[0])
        # Longer numerals may lie below; what is unresolved may lie above.
        slack = 0.011 * number  # a narrow prefix counts where it begins
        below = chances[values <= number + slack].sum()
        assert exact - 1e-9 <= found <= below + malformed_or_longer + tree.unresolved + 1e-9
    assert 0 <= tree.unresolved < 0.05
    assert chances.sum() - 1e-9 <= tree.total <= 1


def test_the_line_is_exact_where_numerals_are_short(short_numerals: list[str]) -> None:
    """With a writer that ends after two digits, brute force knows everything."""
    writer = Markov(5, ending=0.0)

    class Short(Markov):
        def start(self) -> tuple[int, np.ndarray]:
            return 0, self.log_probs[START]

        def write(
            self, states: Sequence[int], symbols: Sequence[int]
        ) -> tuple[list[int], np.ndarray]:
            end = np.full(SYMBOL_COUNT, -np.inf)
            end[END] = 0.0
            rows = [end if s else self.log_probs[x] for s, x in zip(states, symbols, strict=True)]
            return [state + 1 for state in states], np.stack(rows)

    short = Short(5, 0.0)
    texts = [text for text in short_numerals if len(text) <= 2]
    chances = {}
    for text in texts:
        symbols = [SYMBOLS.index(symbol) for symbol in text]
        log_prob = writer.log_probs[START, symbols[0]]
        log_prob += writer.log_probs[symbols[0], symbols[1] if len(symbols) > 1 else END]
        chances[text] = np.exp(log_prob)
    tree = DigitTree(short)
    numbers = np.arange(100.0)
    expected = [sum(p for t, p in chances.items() if float(t) <= x) for x in numbers]
    np.testing.assert_allclose(tree.mass_up_to(numbers), expected, atol=tree.unresolved + 1e-12)


def test_draws_follow_the_probabilities() -> None:
    """χ² over the most probable numerals; the seed is fixed, chance of failure was 1 in 1,000."""
    writer = Markov(3, ending=4.0)
    tree = DigitTree(writer)
    count = 4000
    drawn = draw_named(tree, count, np.random.default_rng(1))
    assert len(drawn) == count
    assert all(is_numeral(text) for text in drawn)
    best = [text for text, _ in islice(tree.stream(), 20)]
    chances = np.exp([writer.score(text) for text in best]) / tree.total
    found = Counter(drawn)
    observed = np.array([*(found[text] for text in best), count - sum(found[t] for t in best)])
    expected = count * np.array([*chances, 1 - chances.sum()])
    assert stats.chisquare(observed, expected).pvalue > 1e-3
    assert draw_named(tree, 50, np.random.default_rng(7)) == draw_named(
        tree, 50, np.random.default_rng(7)
    )


def test_only_numerals_can_be_written(short_numerals: list[str]) -> None:
    """What `legal_symbols` lets through is a numeral, and all numerals get through."""
    written = {""}
    ended = set()
    for _ in range(4):
        longer = set()
        for prefix in written:
            for symbol in legal_symbols(prefix):
                if symbol == END:
                    ended.add(prefix)
                else:
                    longer.add(prefix + SYMBOLS[symbol])
        written = longer
    ended |= {prefix for prefix in written if END in legal_symbols(prefix)}
    assert ended == set(short_numerals)
    longest = "1" * MAX_DIGITS
    assert legal_symbols(longest) == (END,)
    assert legal_symbols(longest[:-1] + ".1") == (END,)


class Endless(Markov):
    """Writes digits, the same ones everywhere, and never comes to an end."""

    def __init__(self) -> None:
        super().__init__(0, ending=-np.inf)


def test_numerals_that_do_not_end_are_not_searched_for_ever() -> None:
    writer = Endless()
    tree = DigitTree(writer, searched=500)
    found = list(tree.stream())
    assert writer.written <= 500 + 64
    assert all(log_prob == -np.inf for _, log_prob in found)
    assert tree.unresolved > 0.5
    with pytest.raises(NumerateError, match="do not end"):
        draw_named(tree, 100, np.random.default_rng(1))
    assert len(tree._nodes) < 5000


def test_a_search_that_is_cut_short_says_what_it_has_found() -> None:
    """The order is that of the probabilities; nothing is said twice."""
    writer = Markov(5, ending=-4.0)
    found = list(DigitTree(writer, searched=300).stream())
    assert len({text for text, _ in found}) == len(found) > 100
    log_probs = [log_prob for _, log_prob in found]
    assert log_probs == sorted(log_probs, reverse=True)
    np.testing.assert_allclose(log_probs, [writer.score(text) for text, _ in found], rtol=1e-9)


def test_probabilities_that_are_no_numbers_are_refused() -> None:
    writer = Markov(0, ending=0.0)
    writer.log_probs[3] = np.nan
    with pytest.raises(NumerateError, match="not numbers"):
        list(islice(DigitTree(writer).stream(), 50))
