import numpy as np
import pytest

from numerate.errors import NumerateError
from numerate.text.vocabulary import END, UNKNOWN_NUMERAL, UNKNOWN_WORD, Vocabulary

COUNTS = {"of": 9, "7": 8, "patients": 5, "2.0": 5, "2": 4, "mg": 2, "zinc": 1, "41": 1, "apt": 1}


def build(size: int, counts: dict[str, int] | None = None) -> Vocabulary:
    counts = COUNTS if counts is None else counts
    return Vocabulary.build(list(counts), np.array(list(counts.values())), size)


def test_the_most_frequent_types_are_kept_words_and_numerals_together() -> None:
    vocabulary = build(4)
    assert vocabulary.words == (UNKNOWN_WORD, END, "of", "patients")
    assert vocabulary.numerals == (UNKNOWN_NUMERAL, "7", "2.0")


@pytest.mark.parametrize("size", range(1, len(COUNTS) + 1))
def test_special_symbols_do_not_count(size: int) -> None:
    vocabulary = build(size)
    kept = {*vocabulary.words[2:], *vocabulary.numerals[1:]}
    assert len(vocabulary.words) + len(vocabulary.numerals) == size + 3
    assert len(kept) == size
    assert min(COUNTS[type] for type in kept) >= max(
        (COUNTS[type] for type in COUNTS.keys() - kept), default=0
    )


def test_ties_are_broken_by_text() -> None:
    assert build(5).numerals == (UNKNOWN_NUMERAL, "7", "2.0", "2")
    ties = {"b": 1, "c": 1, "a": 1, "1": 1}
    assert build(2, ties) == Vocabulary((UNKNOWN_WORD, END, "a"), (UNKNOWN_NUMERAL, "1"))


def test_order_of_the_corpus_does_not_matter() -> None:
    backwards = dict(reversed(COUNTS.items()))
    for size in range(1, len(COUNTS) + 1):
        assert build(size, backwards) == build(size)


def test_ids_count_from_the_special_symbols() -> None:
    vocabulary = build(4)
    assert vocabulary.word_ids() == {UNKNOWN_WORD: 0, END: 1, "of": 2, "patients": 3}
    assert vocabulary.numeral_ids() == {UNKNOWN_NUMERAL: 0, "7": 1, "2.0": 2}


def test_equal_values_written_differently_are_two_types() -> None:
    ids = build(5).numeral_ids()
    assert ids["2"] != ids["2.0"]


def test_a_long_string_of_digits_is_a_word() -> None:
    vocabulary = build(2, {"1" * 33: 2, "1" * 32: 1})
    assert vocabulary.words[2:] == ("1" * 33,)
    assert vocabulary.numerals[1:] == ("1" * 32,)


def test_oov_sets_are_the_types_left_out_by_class() -> None:
    words, numerals = build(4).unknown([*COUNTS, "new", "3.5", "of", "3.5"])
    assert words == {"mg", "zinc", "apt", "new"}
    assert numerals == {"2", "41", "3.5"}


def test_nothing_is_left_out_of_a_full_vocabulary() -> None:
    assert build(len(COUNTS)).unknown(COUNTS) == (set(), set())


def test_a_corpus_of_words_has_only_the_unknown_numeral() -> None:
    assert build(2, {"a": 2, "b": 1}).numerals == (UNKNOWN_NUMERAL,)


def test_a_vocabulary_larger_than_the_corpus_is_refused() -> None:
    with pytest.raises(NumerateError, match=r"larger than the corpus: got 10, .* at most its 9 "):
        build(len(COUNTS) + 1)


@pytest.mark.parametrize("size", [0, -5])
def test_a_vocabulary_without_types_is_refused(size: int) -> None:
    with pytest.raises(NumerateError, match=f"got {size}, expected 1 or more"):
        build(size)
