"""The candidate set against an independent construction in exact arithmetic."""

from decimal import Decimal
from fractions import Fraction
from math import ceil

import numpy as np
import pytest

from numerate.lm.data.batching import Corpus
from numerate.lm.data.dataset import Encoded
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.model.candidates import candidate_numerals
from numerate.numeral import MAX_DIGITS, count_digits, is_numeral
from numerate.text.vocabulary import UNKNOWN_NUMERAL, UNKNOWN_WORD, Vocabulary


class Training:
    """A training split of one paragraph."""

    name = "train"

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens

    def encode(self) -> Encoded:
        types = list(dict.fromkeys(self.tokens))
        codes = np.array([types.index(token) for token in self.tokens], dtype=np.int32)
        return Encoded(types, codes, np.array([0, len(codes)]))


def corpus(tokens: list[str], vocabulary: tuple[str, ...] = ()) -> Corpus:
    known = Vocabulary((UNKNOWN_WORD, "<eos>"), (UNKNOWN_NUMERAL, *vocabulary))
    texts = sorted({token for token in tokens if is_numeral(token)}, key=lambda t: (-len(t), t))
    return Corpus(Training(tokens), known, NumeralTable(texts, known.numeral_ids()))  # type: ignore[arg-type]


def random_numerals(seed: int, count: int) -> list[str]:
    random = np.random.default_rng(seed)
    decimals = random.choice([0, 0, 0, 0, 1, 1, 2, 3], count)
    values = random.lognormal(3, 2, count)
    return [f"{value:.{places}f}" for value, places in zip(values, decimals, strict=True)]


def decimals_of(text: str) -> int:
    return len(text.partition(".")[2])


def expected_texts(numerals: list[str], vocabulary: tuple[str, ...]) -> set[str]:
    count = len(numerals)
    covered = [sum(decimals_of(text) <= n for text in numerals) for n in range(33)]
    n = next(n for n in range(33) if Fraction(covered[n], count) >= Fraction(9, 10))
    ascending = sorted(map(Decimal, numerals))
    points = [ascending[ceil(Fraction(2 * j + 1, 200) * count) - 1] for j in range(100)]
    values = {*points, *map(Decimal, vocabulary)}
    written = {f"{value:.{places}f}" for value in values for places in range(n + 1)}
    return {text for text in written if count_digits(text) <= MAX_DIGITS} | set(vocabulary)


@pytest.mark.parametrize("count", [1, 2, 99, 100, 101, 200, 360, 599, 2000])
@pytest.mark.parametrize("known", [0, 20])
def test_candidates_are_those_of_exact_arithmetic(count: int, known: int) -> None:
    numerals = random_numerals(count, count)
    vocabulary = tuple(dict.fromkeys(numerals))[:known]
    found = candidate_numerals(corpus(numerals, vocabulary))
    assert set(found.texts) == expected_texts(numerals, vocabulary)
    assert len(found.texts) == len(set(found.texts))
    assert [found.texts[row] for row in np.flatnonzero(found.known)] == list(vocabulary)
    assert found.known[: len(vocabulary)].tolist() == list(range(1, len(vocabulary) + 1))


def test_percentile_points_are_inverted_cdf_percentiles() -> None:
    # A prime number of integers: no percentile falls on a rank, where rounding could decide.
    numerals = [text for text in random_numerals(5, 3000) if "." not in text][:997]
    assert len(numerals) == 997
    points = np.percentile(
        [float(text) for text in numerals], np.arange(100) + 0.5, method="inverted_cdf"
    )
    found = candidate_numerals(corpus(numerals))
    assert sorted(set(found.values)) == sorted(set(points))


@pytest.mark.parametrize(
    ("decimals", "formats"),
    [
        ([0] * 9 + [2], 0),  # nine tenths are whole: enough
        ([0] * 89 + [1] * 11, 1),
        ([0] * 50 + [1] * 39 + [3] * 11, 3),
        ([2] * 10, 2),
    ],
)
def test_formats_cover_nine_tenths_of_the_numerals_and_no_more(
    decimals: list[int], formats: int
) -> None:
    numerals = [f"{7:.{places}f}" for places in decimals]
    found = candidate_numerals(corpus(numerals))
    assert found.texts == [f"{7:.{places}f}" for places in range(formats + 1)]


def test_vocabulary_numerals_are_there_as_written_and_in_every_format() -> None:
    numerals = ["10"] * 8 + ["2.5"] * 2 + ["0.12345"]
    found = candidate_numerals(corpus(numerals, ("0.12345", "10")))
    assert found.texts[:2] == ["0.12345", "10"]
    assert set(found.texts) == {"0.12345", "10", "10.0", "0", "0.1", "2", "2.5"}


def test_words_and_the_order_of_the_corpus_do_not_matter() -> None:
    # The same number in several formats, more precise than the formats to come.
    numerals = random_numerals(1, 400) + ["5", "5.0", "5.000", "5.00"] * 30
    shuffled = np.random.default_rng(1).permutation([*numerals, *["word"] * 50]).tolist()
    vocabulary = ("5", "5.00")
    first = candidate_numerals(corpus(numerals, vocabulary))
    assert candidate_numerals(corpus(shuffled, vocabulary)).texts == first.texts


def test_huge_and_long_numerals_stay_exact() -> None:
    huge = "9" * 32
    long = "0." + "1" * 31
    tokens = [huge] * 40 + [long] * 40 + ["1.5"] * 20
    found = candidate_numerals(corpus(tokens, (huge,)))
    assert {huge, long, "1.5"} <= set(found.texts)
    assert huge + ".0" not in found.texts  # 33 digits: an identifier
    assert all(is_numeral(text) for text in found.texts)
    assert np.isfinite(found.values).all()


def test_numbers_that_float64_confuses_do_not_depend_on_the_order_of_the_corpus() -> None:
    near = [f"1234567890123456789{digit}" for digit in range(10)]
    assert len({float(text) for text in near}) == 1
    tokens = near + ["3"] * 90
    found = candidate_numerals(corpus(tokens)).texts
    assert candidate_numerals(corpus(tokens[::-1])).texts == found
