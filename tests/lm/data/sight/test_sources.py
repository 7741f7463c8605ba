"""Tables given to a model: what it then expects, and where that comes from."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.trials import TABLE, TEXT

from numerate.documents import read_file
from numerate.documents.document import Table
from numerate.errors import NumerateError
from numerate.lm.backbones.tables_in_view import named_columns
from numerate.lm.data.batching import load_corpora
from numerate.lm.data.dataset import Dataset, some_paragraphs
from numerate.lm.evaluate.judges import by_model, by_surprisal
from numerate.lm.evaluate.trial import Trial
from numerate.lm.model.domain import Fit
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.passages import read_corpus, read_passages, read_texts
from numerate.lm.model.wording import explain
from numerate.text.seen_numbers import SeenNumber, Source, merged

AGE = "Mean age was"


@pytest.fixture
def lm(grounded: dict[str, NumeralLM]) -> NumeralLM:
    return grounded["tables"]


def test_sources_add_up_to_what_the_strategies_with_sources_weigh(lm: NumeralLM) -> None:
    found = lm.predict(AGE, [TABLE])
    assert found.sources
    probabilities = [source.probability for source in found.sources]
    assert probabilities == sorted(probabilities, reverse=True)
    copies = [source for source in found.sources if source.kind is None]
    assert {source.numeral for source in copies} >= {"48", "51", "57.3", "61.5", "12", "30", "57"}
    total = sum(source.probability for source in copies)
    assert total == pytest.approx(found.mixture_weights["copy"], abs=1e-6)
    for numeral in {source.numeral for source in found.sources}:
        of_it = sum(s.probability for s in found.sources if s.numeral == numeral)
        assert of_it <= found.prob(numeral) + 1e-6


def test_a_table_changes_what_is_expected(lm: NumeralLM) -> None:
    with_table, without = lm.predict(AGE, [TABLE]), lm.predict(AGE)
    assert without.sources == []
    assert with_table.prob("57.3") > 2 * without.prob("57.3")
    right, wrong = f"{AGE} 57.3 years", f"{AGE} 57.4 years"
    assert lm.rank([wrong, right], tables=[TABLE])[0].text == right


def test_sources_say_where_their_numbers_stand(lm: NumeralLM) -> None:
    before = "Of 48 patients with placebo, 12 ("
    found = lm.predict(before, [TABLE])
    by_text = {str(source).rsplit(" ", 1)[0]: source for source in found.sources}
    cell = by_text["Table 2, Women, Placebo: 12"]
    (number,) = cell.numbers
    assert TABLE.body[number.row or 0][number.column or 0] == "12"
    (own,) = by_text["text: 48"].numbers
    assert before[own.start : own.end] == "48"
    rounded = by_text["Table 2, Age (years), Placebo: 57, of 57.3"]
    assert rounded.numbers[0].text == "57.3"
    percentages = [s for s in lm.predict(before).sources if s.kind == "percentage"]
    assert {(s.numeral, s.operation) for s in percentages} >= {("25", "100 · 12/48")}
    for source in percentages:
        a, b = (float(number.text) for number in source.numbers)
        decimals = len(source.numeral.partition(".")[2])
        assert abs(float(source.numeral) - 100 * a / b) <= 0.5001 * 10.0**-decimals


def test_what_follows_a_gap_weighs_its_sources(lm: NumeralLM) -> None:
    text = "Of 48 patients with placebo, ___ (25.0 %) were women"
    found = lm.predict(text, [TABLE])
    prior = lm.predict(text.partition("___")[0], [TABLE])
    before = {(s.numeral, s.reason): s.probability for s in prior.sources}
    for source in found.sources[:10]:
        by_bayes = found.prob(source.numeral) / prior.prob(source.numeral)
        expected = before[source.numeral, source.reason] * by_bayes
        assert source.probability == pytest.approx(expected, rel=1e-4)


def test_equal_sources_are_told_once() -> None:
    cell, other = SeenNumber("12", table=0, row=2, column=1), SeenNumber("3", table=0, row=1)
    again = SeenNumber("12", token=7)
    sources = [
        Source("12", 0.1, (SeenNumber("12", token=3),)),
        Source("15", 0.2, (cell, other), "sum", "12 + 3"),
        Source("12", 0.3, (again,)),
        Source("15", 0.25, (other, cell), "sum", "3 + 12"),
        Source("12", 0.15, (cell,)),
    ]
    found = [(s.numeral, s.kind, round(s.probability, 6)) for s in merged(sources)]
    assert found == [("15", "sum", 0.45), ("12", None, 0.4), ("12", None, 0.15)]
    assert str(merged(sources)[0]) == "12 + 3 = 15 (0.45)"


@pytest.mark.parametrize("sight", ["tables", "document"])
def test_a_document_is_read_as_the_dataset_has_it(
    grounded: dict[str, NumeralLM], trials: Path, sight: str
) -> None:
    """Its tables in view of what refers to them; with `document`, also what was said before."""
    model = grounded[sight]
    dataset = Dataset.open(trials / "data")
    dev = load_corpora(dataset, model.vocabulary, sight)["dev"]
    names = dataset.split("dev").read(["document"])["document"].to_pylist()
    expected: dict[str, list[np.ndarray]] = {}
    for name, reading in zip(names, read_corpus(model, dev), strict=True):
        expected.setdefault(name, []).append(reading.log_probs)
    for name, parts in expected.items():
        (document,) = read_file(str(trials / "articles" / Path(name).name))
        readings = [p.reading for some in read_passages(model, document) for p in some]
        assert len(readings) == len(parts)
        for reading, log_probs in zip(readings, parts, strict=True):
            np.testing.assert_allclose(reading.log_probs, log_probs, atol=1e-4)


@pytest.mark.parametrize("sight", ["tables", "document"])
def test_a_benchmark_reads_a_split_with_what_it_has_in_view(
    grounded: dict[str, NumeralLM], trials: Path, sight: str
) -> None:
    model = grounded[sight]
    dataset = Dataset.open(trials / "data")
    dev = load_corpora(dataset, model.vocabulary, sight)["dev"]
    texts = dataset.split("dev").read(["text"])["text"].to_pylist()
    columns = named_columns(dataset, "dev", sight)
    readings = list(read_texts(model, texts, columns))
    for reading, expected in zip(readings, read_corpus(model, dev), strict=True):
        np.testing.assert_allclose(reading.log_probs, expected.log_probs, atol=1e-4)
    sources = [s for r in readings[:2] for s in model.sources(r.context[-1:], r.tokens)]
    assert "Table 1, Women, Placebo" in {source.reason for source in sources}
    if sight == "document":  # of two paragraphs a document, the first is earlier
        shown = [s for r in readings for s in model.sources(r.context[-1:], r.tokens)]
        earlier = {number.paragraph for source in shown for number in source.numbers}
        assert earlier == {None, 0}
    trial = Trial(dataset, "dev", limit=4)
    (scores,) = by_model(model, [by_surprisal(model)], trial)
    some = [readings[i] for i in some_paragraphs(len(texts), 4)]
    expected = np.concatenate([-r.log_probs[r.positions] for r in some])
    np.testing.assert_allclose(scores.right, expected, rtol=1e-3)


@pytest.mark.parametrize("sight", ["tables", "document"])
def test_a_numeral_is_judged_with_what_it_was_checked_with(
    grounded: dict[str, NumeralLM], sight: str
) -> None:
    model = grounded[sight]
    text = f"{AGE} 57.3 years with placebo.\n\n{TEXT}"
    findings = model.checker.assess(text, 0.2, [TABLE])
    assert len(findings) == 4
    for finding in findings:
        judged = model.checker.judge_at(text, finding.start, [TABLE])
        assert judged is not None
        distribution, _ = judged
        assert -distribution.log_prob(finding.numeral) == pytest.approx(finding.surprisal, abs=1e-3)
    for number in (number for source in distribution.sources for number in source.numbers):
        if number.table is None:
            assert text[number.start : number.end] == number.text
    earlier = {n.paragraph for source in distribution.sources for n in source.numbers}
    assert (0 in earlier) == (sight == "document")


def test_findings_name_the_sources_of_what_was_expected(lm: NumeralLM) -> None:
    text = f"{AGE} 573 years with placebo and 61.5 years with treatment (_ref_)."
    finding, *_ = lm.check(text, 0.2, tables=[TABLE])
    assert finding.numeral == "573"
    source = finding.sources[0]
    assert finding.record()["sources"][0]["numbers"][0]["label"] == "Table 2"
    likely = replace(finding, likely=source.numeral)
    assert explain(likely, Fit()).endswith(f"most likely {source.numeral} ({source.reason}).")
    assert source.reason == "Table 2, Age (years), Placebo"


@pytest.mark.filterwarnings("ignore::numerate.errors.DomainWarning")
def test_a_model_without_sight_says_so_and_leaves_tables_of_documents_alone(
    models: dict[str, NumeralLM], trials: Path
) -> None:
    model = models["h-softmax"]
    line = "tables: h-softmax sees none; expected a model with tables in sight"
    for ask in (
        lambda: model.predict(AGE, [TABLE]),
        lambda: model.rank(["He is 5"], tables=[TABLE]),
        lambda: model.check("He is 5", 0.2, tables=[TABLE]),
        lambda: model.read_texts(["He is 5"], [TABLE]),
    ):
        with pytest.raises(NumerateError, match=line):
            ask()
    (document,) = read_file(str(trials / "articles" / "trial-000.xml"))
    assert document.tables
    assert model.check(document, 0.2).numerals == 5
    assert model.predict(AGE).sources == []


@pytest.mark.parametrize("wrong", [TABLE, "a.csv", ["a.csv"], [None], Path("a.csv")])
def test_what_is_no_list_of_tables_is_one_line(lm: NumeralLM, wrong: Any) -> None:
    with pytest.raises(NumerateError, match=r"tables: got .*, expected a list of tables, as"):
        lm.predict(AGE, wrong)


def test_tables_without_numbers_change_nothing(lm: NumeralLM) -> None:
    empty = Table("t", "Table 1", "", [["Name"]], [["none"], [""]])
    found = lm.predict(AGE, [empty, Table("u", "", "", [], [])])
    assert found.top(3) == lm.predict(AGE).top(3)
    assert found.sources == []
