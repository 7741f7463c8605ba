"""The simulated reports: what they look like, and that the claimed probabilities are exact.

Statistical tests have fixed seeds; the rate stated is that at which a correct program would
fail with a seed drawn at random.
"""

import math
import re
from collections import Counter
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from numerate.documents.document import Document
from numerate.lm.data.cardiac import (
    END,
    Oracle,
    generate,
    log_probs,
    next_token_distribution,
    render,
)
from numerate.lm.data.cardiac.measurements import SEX, WALLS
from numerate.lm.data.cardiac.oracle import grammar
from numerate.lm.data.cardiac.slots import Measured
from numerate.numeral import is_numeral
from numerate.text.tokenizer import tokenize

REPORTS = 600
Charts = list[tuple[str, dict[str, str]]]


@pytest.fixture(scope="module")
def reports() -> list[Document]:
    return list(generate(REPORTS, seed=1))


def tokens_of(document: Document) -> list[str]:
    return [token.text for token in tokenize(document.paragraphs[0].text)]


class Walk:
    """Reads reports with the whole distribution at hand at every step."""

    def __init__(self, documents: list[Document]) -> None:
        generator = np.random.default_rng(0)
        self.totals: list[float] = []  # of the probabilities of all alternatives
        self.differences: list[float] = []  # between recorded and listed log-probability
        self.surprise: list[tuple[float, float]] = []  # log p minus its mean, variance of log p
        self.excess: Counter[str] = Counter()  # occurrences minus the sum of p, by type
        self.variance: Counter[str] = Counter()
        self.ranks: dict[str, list[float]] = {}  # randomised ranks of measured numbers
        for document in documents:
            oracle = Oracle()
            record = document.paragraphs[0].log_probs
            assert record is not None
            for token, claimed in zip([*tokens_of(document), END], record, strict=True):
                options = oracle.distribution()
                p = np.array(list(options.values()))
                self.totals.append(math.fsum(p))
                self.differences.append(claimed - math.log(options[token]))
                mean = float(p @ np.log(p))
                self.surprise.append((claimed - mean, float(p @ np.log(p) ** 2) - mean**2))
                if isinstance(oracle.slot, Measured):
                    below = math.fsum(p[: list(options).index(token)])
                    rank = below + generator.random() * options[token]
                    self.ranks.setdefault(oracle.slot.name, []).append(rank)
                else:
                    self.excess[token] += 1
                    for option, share in options.items():
                        self.excess[option] -= share
                        self.variance[option] += share * (1 - share)
                oracle.advance(token)


@pytest.fixture(scope="module")
def walk(reports: list[Document]) -> Walk:
    return Walk(reports[:60])


def test_probabilities_of_all_alternatives_sum_to_one_at_every_step(walk: Walk) -> None:
    assert len(walk.totals) > 5000
    assert walk.totals == pytest.approx([1.0] * len(walk.totals), abs=1e-10)


def test_the_record_is_what_the_distribution_lists(walk: Walk) -> None:
    assert np.abs(walk.differences).max() < 1e-10


def test_surprise_is_the_entropy_on_average(walk: Walk) -> None:
    """A sum of martingale differences is nearly Gaussian: fails once in 10,000 seeds."""
    surprise, variance = np.array(walk.surprise).T
    assert abs(surprise.sum() / math.sqrt(variance.sum())) < 3.9


def test_every_type_occurs_as_often_as_claimed(walk: Walk) -> None:
    """z-scores of some 300 types, the largest below 5.5: fails about once in 10,000 seeds."""
    z = [walk.excess[t] / math.sqrt(v) for t, v in walk.variance.items() if v > 5]
    assert len(z) > 100
    assert max(map(abs, z)) < 5.5
    assert 0.7 < np.mean(np.square(z)) < 1.4


def test_measured_numbers_are_spread_as_claimed(walk: Walk) -> None:
    """Randomised ranks are uniform: fails once in 10,000 seeds."""
    assert len(walk.ranks) >= 15
    ranks = [rank for name in walk.ranks for rank in walk.ranks[name]]
    assert len(ranks) > 400
    assert stats.kstest(ranks, "uniform").pvalue > 1e-4


def test_first_tokens_are_as_frequent_as_claimed(reports: list[Document]) -> None:
    """Chi-square over words and, pooled, numerals: fails once in 10,000 seeds."""
    claimed: Counter[str] = Counter()
    for token, p in next_token_distribution([]).items():
        claimed["numeral" if is_numeral(token) else token] += p
    seen = Counter(
        "numeral" if is_numeral(first) else first
        for first in (tokens_of(document)[0] for document in reports)
    )
    assert seen.keys() <= claimed.keys()
    observed = [seen[token] for token in claimed]
    expected = [REPORTS * p / math.fsum(claimed.values()) for p in claimed.values()]
    assert stats.chisquare(observed, expected).pvalue > 1e-4


def test_text_alone_gives_the_record(reports: list[Document]) -> None:
    for document in reports[:150]:
        record = document.paragraphs[0].log_probs
        assert log_probs(tokens_of(document)) == record


def test_there_is_a_finite_log_probability_for_every_token_and_the_end(
    reports: list[Document],
) -> None:
    for document in reports:
        (paragraph,) = document.paragraphs
        tokens = tokens_of(document)
        assert paragraph.log_probs is not None
        assert len(paragraph.log_probs) == len(tokens) + 1
        assert all(-50 < value <= 0 for value in paragraph.log_probs)
        assert render(tokens) == paragraph.text


def test_reports_depend_on_seed_and_index_alone(reports: list[Document]) -> None:
    assert list(generate(3, seed=1, start=7)) == reports[7:10]
    assert [document.id for document in generate(2, seed=1, start=7)] == [
        "cardiac-1-000007",
        "cardiac-1-000008",
    ]
    grammar.cache_clear()  # nor on what was generated before
    assert list(generate(5, seed=1, start=REPORTS - 5)) == reports[-5:]
    assert next(generate(1, seed=2)).paragraphs != reports[0].paragraphs
    assert len({document.paragraphs[0].text for document in reports}) == REPORTS


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"documents": -1, "seed": 0}, "documents: got -1, expected a whole number"),
        ({"documents": 1.5, "seed": 0}, "documents: got 1.5, expected"),
        ({"documents": 1, "seed": -3}, "seed: got -3, expected"),
        ({"documents": 1, "seed": 0, "start": -1}, "start: got -1, expected"),
        ({"documents": True, "seed": 0}, "documents: got True, expected"),
    ],
)
def test_bad_arguments_are_refused_at_once(arguments: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        generate(**arguments)


def test_no_documents_is_no_documents() -> None:
    assert list(generate(0, seed=0)) == []


@pytest.mark.parametrize("tokens", [["banana"], ["indication", ":", "700"], ["indication"]])
def test_what_cannot_be_a_report_is_refused(tokens: list[str]) -> None:
    with pytest.raises(ValueError, match=r"not a report: got .*, expected one of "):
        log_probs(tokens)


def test_statistics_resemble_the_clinical_corpus(reports: list[Document]) -> None:
    lengths, words, numerals = [], Counter[str](), Counter[str]()
    for document in reports:
        tokens = tokens_of(document)
        lengths.append(len(tokens))
        for token in tokens:
            (numerals if is_numeral(token) else words)[token] += 1
    assert 150 < np.mean(lengths) < 220
    assert np.mean([100 <= length <= 250 for length in lengths]) > 0.95
    assert 0.04 < numerals.total() / (numerals.total() + words.total()) < 0.10
    assert len(numerals) / (len(numerals) + len(words)) > 0.40
    assert 300 <= len(words) <= 720
    assert {"0.1", "17", "140", "1.5", "2012"} <= numerals.keys()


@pytest.fixture(scope="module")
def charts(reports: list[Document]) -> Charts:
    """The text and the named tokens of each report."""
    found = []
    for document in reports[:500]:
        oracle = Oracle()
        for token in tokens_of(document):
            oracle.advance(token)
        found.append((document.paragraphs[0].text, oracle.chart.written))
    return found


def rounded(value: Decimal, like: str) -> Decimal:
    return value.quantize(Decimal(like), ROUND_HALF_UP)


def test_arithmetic_holds_between_numbers_as_written(charts: Charts) -> None:
    checked: Counter[str] = Counter()
    for _, written in charts:
        number = {name: Decimal(text) for name, text in written.items() if is_numeral(text)}
        for side in ("lv", "rv"):
            if f"{side}_esv" not in number:
                continue
            edv, esv = number[f"{side}_edv"], number[f"{side}_esv"]
            if f"{side}_sv" in number:
                checked["sv"] += 1
                assert number[f"{side}_sv"] == edv - esv
            if f"{side}_ef" in number:
                checked["ef"] += 1
                fraction = 100 * (edv - esv) / edv
                assert number[f"{side}_ef"] == rounded(fraction, written[f"{side}_ef"])
        if "surface_area" in number:
            checked["surface area"] += 1
            height = number["height"] * (100 if "." in written["height"] else 1)
            area = (height * number["weight"] / 3600).sqrt()
            assert number["surface_area"] == rounded(area, "0.01")
            if "lv_edv_index" in number:
                checked["index"] += 1
                index = number["lv_edv"] / number["surface_area"]
                assert number["lv_edv_index"] == rounded(index, written["lv_edv_index"])
        if "cardiac_output" in number:
            checked["output"] += 1
            output = (number["lv_edv"] - number["lv_esv"]) * number["heart_rate"] / 1000
            assert number["cardiac_output"] == rounded(output, "0.1")
        if "systolic" in number:
            assert number["diastolic"] <= number["systolic"] - 20
    assert min(checked[name] for name in ("sv", "ef", "surface area", "index", "output")) > 10


def test_copies_copy(charts: Charts) -> None:
    checked: Counter[str] = Counter()
    for _, written in charts:
        for name in [name for name in written if name.endswith("_again")]:
            checked[name] += 1
            original = written[name.removesuffix("_again")]
            same = written[name] == original
            assert same or (
                name == "lv_ef_again" and Decimal(written[name]) == rounded(Decimal(original), "1")
            )
        if "lv_ef_about" in written:
            assert int(written["lv_ef_about"]) % 5 == 0
            assert abs(Decimal(written["lv_ef_about"]) - Decimal(written["lv_ef"])) <= Decimal(
                "2.5"
            )
    assert checked["lv_ef_again"] > 50
    assert checked["infarct_segments_again"] > 5


def test_words_agree_with_numbers(charts: Charts) -> None:
    for text, written in charts:
        head = r"(?:Conclusion|Impression|Summary|Opinion|In summary|In conclusion):"
        (conclusion,) = re.findall(rf"{head}(.*)", text)
        function = re.search(r"(\w+) (?:global |systolic )*(?:function|contract)", conclusion)
        if function and float(written["lv_ef"]) < 47:
            assert function[1] in {"impaired", "reduced", "poor"}, text
        if float(written["lv_ef"]) < 53:
            assert "normal heart" not in conclusion
        if written["sex"] in {"woman", "female", "lady"}:
            assert not re.search(r"\b(?:He|he|His|his)\b", text)
        if "adenosine" not in written:
            assert "defect" not in text


def test_reports_are_well_formed_sentences(reports: list[Document]) -> None:
    for document in reports:
        text = document.paragraphs[0].text
        assert text[0].isupper() or text[0].isdigit()
        assert text.endswith(".")
        assert text.count("(") == text.count(")")
        assert not re.search(
            r"  |\s[.,;:%)]|\(\s|[.,;:]{2}|\ban [^aeiouAEIOUHLR8]|\ba [aeiou]", text
        )
        assert not any(a == b and a.isalpha() for a, b in pairwise(tokens_of(document)))
        assert all(sentence[0].isupper() or sentence[0].isdigit() for sentence in text.split(". "))


def test_the_chart_says_what_filled_a_slot() -> None:
    """No reader can be in doubt which slot a token filled, whatever the templates before it.

    Walks every set of nodes that some sequence of labels leads to, guards ignored on the way.
    """
    words = {*SEX, *WALLS}
    start = frozenset([grammar().start])
    seen, waiting = {start}, [start]
    while waiting:
        steps = [step for node in waiting.pop() for step in node.steps]
        following: dict[object, set[object]] = {}
        for step in steps:
            following.setdefault(step.label, set()).add(step.target)
        for slot in (step for step in steps if not isinstance(step.label, str)):
            for other in steps:
                exclusive = any(g == h and k != m for g, k in slot.guards for h, m in other.guards)
                if other.label is not slot.label and not exclusive:
                    assert isinstance(other.label, str)
                    assert not is_numeral(other.label)
                    if slot.label.name in {"sex", "wall", "wall_again"}:
                        assert other.label not in words
        for places in map(frozenset, following.values()):
            if places not in seen:
                seen.add(places)
                waiting.append(places)
    assert len(seen) > 1000
