"""Gaps with text after them, and claims in order."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from numerate.documents.document import Table
from numerate.errors import NumerateError
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.registry import paper_heads
from numerate.lm.model import gap
from numerate.lm.model.gap import split_at_gap
from numerate.lm.model.numeral_lm import NumeralLM, TextReading

CLAIMS = ["the ejection fraction is 55 %", "the ejection fraction is 999.999 %"]


@pytest.mark.parametrize("name", ["combination", "d-rnn", "softmax"])
def test_what_follows_counts(models: dict[str, NumeralLM], name: str) -> None:
    """By Bayes, one sentence at a time."""
    lm = models[name]
    found = lm.predict("the volume is ___ ml")
    candidates = found._numerals.numerals[:40]  # type: ignore[attr-defined]
    before = lm.context_after(["the volume is"])
    expected = []
    for numeral in candidates:
        (reading,) = lm.read_texts([f"the volume is {numeral} ml"])
        after = reading.log_probs[4]
        expected.append(lm.log_prob_table(before, NumeralTable([numeral]))[0, 0] + after)
    ratios = np.exp(np.array(expected) - expected[0])
    probabilities = np.array([found.prob(numeral) for numeral in candidates])
    np.testing.assert_allclose(probabilities / probabilities[0], ratios, rtol=1e-3)
    assert found.cdf(1e30) == pytest.approx(1)
    assert sum(p for _, p in found.top(10_000)) == pytest.approx(1)
    assert found.prob("123.456789") < found.top(1)[0][1]  # not a candidate, scored all the same


def test_text_around_a_gap_is_read_in_parts_and_not_beyond_a_limit(
    models: dict[str, NumeralLM], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it is read once for every candidate: time and memory are those of the longest."""
    lm = models["combination"]
    whole = lm.predict("the volume is ___ ml").top(5)
    sizes: list[int] = []

    def read(texts: Sequence[str], tables: Sequence[Table]) -> list[TextReading]:
        assert not tables
        sizes.append(sum(len(lm.tokens(text)) for text in texts))
        return NumeralLM.read_texts(lm, texts)

    monkeypatch.setattr(lm, "read_texts", read)
    monkeypatch.setattr(gap, "READ_AT_ONCE", 500)
    parts = lm.predict("the volume is ___ ml").top(5)
    assert max(sizes) <= 500
    assert [numeral for numeral, _ in parts] == [numeral for numeral, _ in whole]
    np.testing.assert_allclose([p for _, p in parts], [p for _, p in whole], rtol=1e-4)
    sizes.clear()
    for text in ("the volume is ___ ml" + " and so on" * 700, "and so on " * 700 + "___ ml"):
        with pytest.raises(NumerateError) as error:
            lm.predict(text)
        assert "tokens around the gap, expected at most 2,000" in str(error.value)
    with pytest.raises(NumerateError, match="got 4 tokens around the gap, expected at most 3"):
        lm.predict("the volume is ___ ml", longest=3)
    assert not sizes  # refused before anything was read
    assert lm.predict("and so on " * 700 + "the volume is").top(1)  # without a gap it is read once


def test_a_gap_at_the_end_is_no_gap(models: dict[str, NumeralLM]) -> None:
    lm = models["combination"]
    assert lm.predict("the volume is ___").top(3) == lm.predict("the volume is").top(3)
    assert lm.predict("___ ml").top(1)  # nothing before it is fine


def test_gaps_are_found() -> None:
    assert split_at_gap("a ____ b") == ("a ", " b")
    assert split_at_gap("snake_case is no gap") == ("snake_case is no gap", "")
    with pytest.raises(NumerateError, match="got 2 gaps ___, expected at most one"):
        split_at_gap("a ___ b ___ c")


@pytest.mark.parametrize("text", ["", "   ", "___"])
def test_nothing_to_go_by_is_refused(models: dict[str, NumeralLM], text: str) -> None:
    with pytest.raises(NumerateError, match="text: got none"):
        models["mog"].predict(text)


@pytest.mark.parametrize("name", paper_heads())
def test_claims_are_ordered_by_their_numerals(models: dict[str, NumeralLM], name: str) -> None:
    lm = models[name]
    ranking = lm.rank(list(reversed(CLAIMS)))
    assert [claim.text for claim in ranking.claims] == CLAIMS
    assert [claim.place for claim in ranking.claims] == [1, 0]
    for claim in ranking.claims:
        (numeral,) = claim.numerals
        assert claim.text[numeral.start : numeral.end] == numeral.numeral
        state = lm.context_after([claim.text[: numeral.start]])
        exact = lm.log_prob_table(state, NumeralTable([numeral.numeral]))[0, 0]
        assert claim.log_prob == pytest.approx(exact, abs=1e-4)
    assert ranking.claims[0].reason == ""
    assert ranking.claims[1].reason.startswith("55 against 999.999: ")


@pytest.mark.parametrize("by", ["numerals", "sentence"])
def test_equal_claims_stay_in_order(models: dict[str, NumeralLM], by: str) -> None:
    ranking = models["combination"].rank(["He weighs 74 kg"] * 3, by)
    assert [claim.place for claim in ranking.claims] == [0, 1, 2]
    assert ranking.claims[1].reason == "74 where it stands: equally probable"


def test_a_sentence_is_all_its_tokens(models: dict[str, NumeralLM]) -> None:
    lm = models["combination"]
    ranking = lm.rank(CLAIMS, by="sentence")
    for claim in ranking.claims:
        (reading,) = lm.read_texts([claim.text])
        assert claim.log_prob == pytest.approx(reading.log_probs.sum())
        assert claim.words_log_prob + claim.numerals[0].log_prob == pytest.approx(claim.log_prob)


def test_the_reason_names_what_differs_most(models: dict[str, NumeralLM]) -> None:
    lm = models["combination"]
    ranking = lm.rank(["volume 150 ml, fraction 55 %", "volume 150 ml, fraction 8888.5 %"])
    assert ranking.claims[1].reason.startswith("55 against 8888.5: ")
    ranking = lm.rank(["fraction 55 %", "fraction 55 %, volume 140 ml"])
    assert ranking.claims[1].reason.startswith("more numerals; the least probable is ")
    ranking = lm.rank(["fraction 55 %", "fraction zebra zebra zebra of 55 %"], by="sentence")
    assert ranking.claims[1].reason.startswith("the words: ")
    record = ranking.record()
    assert record["by"] == "sentence"
    assert math.isfinite(record["claims"][1]["log_prob"])


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ([], "claims: expected a list"),
        ("one text", "claims: expected a list"),
        (["fraction 55 %", "no number here"], "claim 2: no numeral in 'no number here'"),
        ([""], "claim 1: no numeral in ''"),
    ],
)
def test_claims_need_numerals(
    models: dict[str, NumeralLM], claims: list[str], message: str
) -> None:
    with pytest.raises(NumerateError, match=message):
        models["mog"].rank(claims)
    with pytest.raises(NumerateError, match="unknown way to rank 'word'"):
        models["mog"].rank(CLAIMS, by="word")
