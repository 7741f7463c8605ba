"""The benchmark measures what it says, against scikit-learn and against reading errors in place."""

import json
import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from numerate.cli import main
from numerate.cli.benchmark_command import benchmark_checking
from numerate.detector.articles import article_of
from numerate.detector.edits import Edit
from numerate.detector.kinds_of_error import HELD_OUT, KINDS
from numerate.detector.trained import Calibrations, Detector, open_detector
from numerate.documents.document import Document, Paragraph
from numerate.errors import DatasetError, NumerateError, RunError
from numerate.lm.backbones.lstm import LSTMBackbone
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.prepare import prepare
from numerate.lm.evaluate import trial as trial_module
from numerate.lm.evaluate.benchmark import Hearing, run_benchmark, together
from numerate.lm.evaluate.judges import (
    Distance,
    Ruled,
    RuleDoubts,
    by_model,
    by_rules,
    by_surprisal,
    score_in_place,
)
from numerate.lm.evaluate.trial import (
    FIGURES,
    TABLE_CELL,
    Injected,
    Trial,
    cell_places,
    document_of,
    text_places,
)
from numerate.lm.model.numeral_lm import NumeralLM, TextReading
from numerate.lm.model.source import ModelSource
from numerate.numeral import is_numeral
from numerate.proofread.proofread import proofread
from numerate.text.tokenizer import tokenize


@pytest.fixture(scope="module")
def detector(detector_run: Path) -> Detector:
    return open_detector(detector_run, "cpu")


def test_one_error_in_each_paragraph_and_table(trials: Path) -> None:
    trial = Trial(Dataset.open(trials / "data"), "dev", seed=3)
    texts = sum(len(article.texts) for article in trial.articles)
    assert {kind for kinds in FIGURES.values() for kind in kinds} == set(KINDS)
    rows, cells = trial.in_texts.rows, trial.in_tables.rows[TABLE_CELL]
    assert len(rows["digit replaced"]) == texts
    for injected in rows.values():
        for errors, article in zip(injected.errors, trial.articles, strict=True):
            assert all(len(some) <= 1 for some in errors.texts)
            assert not any(errors.tables)
            assert len(errors.texts) == len(article.texts)
        for place, numeral in zip(injected.places, injected.numerals, strict=True):
            assert float(trial.numerals[place]) != float(numeral)
    assert len(cells) == len(trial.articles)
    for errors in cells.errors:
        assert all(len(some) <= 1 for some in errors.tables)
        assert not any(errors.texts)
    again = Trial(Dataset.open(trials / "data"), "dev", seed=3)
    assert all(again.in_texts.rows[name].errors == rows[name].errors for name in rows)
    few = Trial(Dataset.open(trials / "data"), "dev", seed=3, limit=3)
    assert few.texts == [trial.texts[index] for index in few.chosen]


def test_errors_are_scored_where_they_stand(models: dict[str, NumeralLM]) -> None:
    """As if each were written into the text, by itself, and the text read again."""
    model = models["combination"]
    texts = ["The fraction is 55 % and the volume 140.5 ml.", "No numeral.", "Age 67, mass 80 g."]
    readings = model.read_texts(texts)
    numerals = [token.text for reading in readings for token in reading.numerals]
    errors = {"some": Injected([], np.array([0, 1, 2]), ["65", "14.5", "6.7"]),
              "other": Injected([], np.array([3]), ["8"])}  # fmt: skip
    (scores,) = score_in_place([by_surprisal(model)], readings, numerals, errors)
    owners = [(text, token) for text, reading in zip(texts, readings, strict=True)
              for token in reading.numerals]  # fmt: skip
    np.testing.assert_allclose(
        scores.right,
        np.concatenate([-r.log_probs[r.positions] for r in readings]),
        rtol=1e-4,
    )
    for kind, injected in errors.items():
        pairs = zip(injected.places, injected.numerals, scores.wrong[kind], strict=True)
        for place, error, score in pairs:
            text, token = owners[place]
            (reading,) = model.read_texts([text[: token.start] + error + text[token.end :]])
            index = [t.start for t in reading.tokens].index(token.start)
            assert -reading.log_probs[index] == pytest.approx(score, rel=1e-3)


def test_distance_is_on_a_log_scale() -> None:
    np.testing.assert_allclose(Distance(10.0)(["10", "100", "1", "0"]), [0, 1, 1, 2])


def test_the_median_is_that_of_the_training_numbers(
    models: dict[str, NumeralLM], dataset: Path
) -> None:
    tokens = Dataset.open(dataset).split("train").read(["tokens"])["tokens"].to_pylist()
    numbers = [float(t) for text in tokens for t in text if is_numeral(t)]
    assert models["mog"].reference.median == statistics.median(numbers)


def test_without_numerals_there_is_nothing_to_find(
    trials: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial_module, "numerals_of", lambda articles: [])
    with pytest.raises(DatasetError, match="no numeral in these 3 paragraphs"):
        run_benchmark(Dataset.open(trials / "data"), limit=3)


def test_a_model_beats_the_baselines(models: dict[str, NumeralLM], dataset: Path) -> None:
    lm = models["combination"]
    opened = Dataset.open(dataset)
    result = run_benchmark(opened, models=[lm], softmax=models["softmax"], seed=1)
    names = ["rules", "likelihood", "likelihood at first sight", "all together",
             "distance from the median", "surprisal of softmax"]  # fmt: skip
    assert list(result.judges) == names
    assert list(result.first) == names
    for found in result.judges.values():
        assert all(0 <= one.recall.estimate <= 1 for one in found.values())
    ours, theirs = (
        np.mean([one.auc.estimate for one in result.judges[name].values()])
        for name in ("likelihood", "distance from the median")
    )
    assert ours > theirs  # after two epochs
    assert result.judges["likelihood"]["factor 100 or 1,000"].auc.estimate > 0.9


def test_a_detector_finds_what_stands_otherwise_in_the_table(
    trials: Path, detector: Detector
) -> None:
    opened = Dataset.open(trials / "data")
    told: list[tuple[str, int, int]] = []
    result = run_benchmark(
        opened, detectors=[detector], split="test", told=lambda *step: told.append(step)
    )
    assert {what for what, _, _ in told} == {"recomputing", detector.name}
    steps = [done for what, done, _ in told if what == detector.name]
    assert steps == [*range(len(FIGURES) + 3)]
    assert all(done <= total for _, done, total in told)
    some = [run_benchmark(opened, detectors=[detector], limit=4) for _ in range(2)]
    assert some[0].record() == some[1].record()
    assert list(result.judges) == ["rules", "detector", "all together"]
    for found in result.judges.values():
        assert list(found) == [*FIGURES, TABLE_CELL]
    assert result.judges["detector"]["digit replaced"].auc.estimate > 0.75
    assert set(HELD_OUT) <= set(result.judges["detector"])
    assert list(result.first["detector"]) == ["texts", "table cells", "texts and table cells"]
    assert list(result.flagged) == ["detector"]
    for found in result.flagged["detector"].values():
        assert 0 <= found.estimate < 0.2


def test_rules_see_what_does_not_add_up(trials: Path) -> None:
    text = "Of the patients, 42 of 120 (35%) were women; 7 were not."
    article = article_of(Document("one", [Paragraph(text)]))
    assert not Ruled.of(RuleDoubts(article), text_places(article)).scores().any()
    assert cell_places(article) == []
    errors = replace(article.no_errors(), texts=[[Edit(2, "digit replaced", "53", "53")]])
    wrong = article.with_errors(errors)
    scores = Ruled.of(RuleDoubts(wrong), text_places(wrong)).scores()
    assert scores[2] > 0.5
    assert 0 < scores[0] < scores[2]  # it may be another one of the three
    assert scores[3] == 0
    trial = Trial(Dataset.open(trials / "data"), "test", seed=1, limit=4)
    heard = by_rules(trial).judgement()
    assert not heard.texts.right.any()
    assert {name: len(found) for name, found in heard.texts.wrong.items()} == {
        name: len(injected) for name, injected in trial.in_texts.rows.items()
    }
    assert document_of(trial.articles[0]).paragraphs[0].tables == ("0",)


def test_whoever_recomputes_the_rules_say_the_same(trials: Path) -> None:
    trial = Trial(Dataset.open(trials / "data"), "test", seed=1, limit=4)
    here, beside = (by_rules(trial, processes).texts for processes in (0, 2))
    np.testing.assert_equal(here.right.pointed, beside.right.pointed)
    for name, found in here.wrong.items():
        np.testing.assert_equal(found.involved, beside.wrong[name].involved)


def test_the_probability_is_that_of_check(trials: Path, detector: Detector) -> None:
    """Of all that check finds in an article with errors."""
    trial = Trial(Dataset.open(trials / "data"), "test", seed=1, limit=6)
    compared, of_rules, of_cells = 0, 0, 0
    article = trial.articles[0]
    text = "Of the patients, 42 of 120 (53%) were women; 7 were not."
    trial.articles = [
        replace(article, texts=[text, *article.texts], views=[[], *article.views],
                tokens=[tokenize(text, article.rules), *article.tokens])
    ]  # fmt: skip
    trial.in_texts = replace(trial.in_texts, rows={})
    trial.in_tables = replace(trial.in_tables, rows={})
    other = replace(detector.calibrations.texts, offset=-3.0)
    calibrations = Calibrations(other, detector.calibrations.cells)
    two = [detector, Detector("again", detector.classifier, detector.rules, calibrations)]
    judged = together(Hearing(trial, [], two))
    assert judged.cells is not None
    places = [*text_places(trial.articles[0]), *cell_places(trial.articles[0])]
    chances = dict(zip(places, [*judged.texts.right, *judged.cells.right], strict=True))
    document = document_of(trial.articles[0])
    for finding in proofread(document, models=two, alarms=0.9):
        rules = [code for code in finding.codes if code != "NUM800"]
        suspects = finding.involved if rules else (finding.where,)
        assert finding.probability == pytest.approx(max(chances[w] for w in suspects), rel=1e-3)
        assert finding.probability >= chances[finding.where] - 1e-6
        compared += 1
        of_rules += bool(rules)
        of_cells += finding.where.table is not None
    assert min(compared - of_rules - of_cells, of_rules, of_cells) > 0


def test_the_probability_is_that_of_check_with_language_models(
    models: dict[str, NumeralLM], dataset: Path
) -> None:
    trial = Trial(Dataset.open(dataset), "test", seed=1, limit=6)
    two = [models["combination"], models["mog"]]
    judged = together(Hearing(trial, two, [])).texts.right
    compared = 0
    for index, article in enumerate(trial.articles):
        own = judged[trial.in_texts.documents == index]
        chances = dict(zip(text_places(article), own, strict=True))
        found = proofread(document_of(article), models=two, alarms=0.9)
        for finding in found if all(fit.calibrated for fit in found.fits) else ():
            assert finding.probability == pytest.approx(chances[finding.where], rel=1e-3)
            compared += 1
    assert compared > 5


def test_it_reads_a_few_paragraphs_at_a_time(
    models: dict[str, NumeralLM], dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory does not grow with the split, and nothing else depends on the portions."""
    lm = models["combination"]
    trial = Trial(Dataset.open(dataset), "test", limit=8)
    (whole,) = by_model(lm, [by_surprisal(lm)], trial)
    portions: list[int] = []
    read = NumeralLM.read_in_view

    def counted(
        model: NumeralLM, texts: Sequence[str], columns: None, **choices: Any
    ) -> list[TextReading]:
        portions.append(len(texts))
        return read(model, texts, columns, **choices)

    monkeypatch.setattr(NumeralLM, "read_in_view", counted)
    monkeypatch.setattr(LSTMBackbone, "texts_at_once", 3)
    (parts,) = by_model(lm, [by_surprisal(lm)], trial)
    assert max(portions) == 3
    assert sum(portions) == 8
    np.testing.assert_allclose(parts.right, whole.right, rtol=1e-5)


def test_runs_that_cut_text_differently_are_not_compared(models: dict[str, NumeralLM]) -> None:
    model = models["mog"]
    readings = model.read_texts(["It is 5 or 67."])
    for numerals, reason in (
        (["5"], "got 67 by reading it, none by cutting it"),
        (["5", "68"], "got 67 by reading it, 68 by cutting it"),
        (["5", "67", "8"], "got none by reading it, 8 by cutting it"),
    ):
        with pytest.raises(NumerateError, match=f"{reason} into tokens; expected the same"):
            score_in_place([by_surprisal(model)], readings, numerals, {})
    (scores,) = score_in_place([by_surprisal(model)], readings, ["5", "67"], {})
    assert len(scores.right) == 2


def test_a_detector_is_not_asked_about_what_it_was_trained_on(
    trials: Path, detector: Detector, tmp_path: Path
) -> None:
    """Drawn with another seed, some of its documents are in the test split."""
    prepare(trials / "articles", tmp_path / "other", seed=2, processes=1)
    with pytest.raises(RunError, match=r"trained on \d+ documents of the test split"):
        benchmark_checking(
            ModelSource("", tmp_path / "other"),
            [detector.name],
            softmax=None,
            split="test",
            seed=1,
            limit=2,
            format="json",
        )


@pytest.mark.parametrize("format", ["table", "markdown", "json"])
def test_the_command(
    trials: Path, detector: Detector, format: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["check-benchmark", str(trials / "data"), "--model", detector.name, "--limit", "4"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["numerate", *arguments, "--format", format])
        patch.setattr("signal.signal", lambda *_: None)
        with pytest.raises(SystemExit) as left:
            main()
    assert not left.value.code
    out = capsys.readouterr().out
    if format == "json":
        assert {"rules", "detector", "all together"} == set(json.loads(out)["judges"])
    else:
        for part in ("Recall, %, at 1% false alarms", "held out", "table cell",
                     "Precision, %, among the first 100 findings"):  # fmt: skip
            assert part in out
