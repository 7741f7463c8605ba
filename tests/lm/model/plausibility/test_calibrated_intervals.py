"""Intervals as people are shown them: calibrated once, kept in the run, told where they are not."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import numerate
from numerate.cli import app
from numerate.documents.document import Table
from numerate.errors import CalibrationError, NumerateError
from numerate.lm.data.batching import Corpus, load_corpora
from numerate.lm.data.dataset import Dataset
from numerate.lm.evaluate import central_intervals
from numerate.lm.evaluate.evaluate import evaluate
from numerate.lm.evaluate.result_tables import result_tables
from numerate.lm.heads.registry import paper_heads
from numerate.lm.model.assess import LEVEL
from numerate.lm.model.candidate_line import CandidateLine
from numerate.lm.model.conformal import ConformalIntervals, Placed
from numerate.lm.model.filling import fill
from numerate.lm.model.known_places import fit_intervals
from numerate.lm.model.load import calibrate_anew
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.run_folder import CALIBRATION, CONFIG, METRICS, REFERENCE
from numerate.reports.notices import Loudness, set_loudness
from numerate.serve.answers import checked
from numerate.serve.messages import CheckRequest

TEXT = "Left ventricular ejection fraction is"


@pytest.fixture
def run(runs: dict[str, Path], tmp_path: Path) -> Path:
    """A copy that a test may spoil, calibrated."""
    folder = shutil.copytree(runs["combination"], tmp_path / "run")
    _ = numerate.load(folder).checker.calibration
    return folder


def forget_intervals(run: Path) -> None:
    """As if its dev split had been too small for them, and had gone."""
    change(run, CALIBRATION, lambda found: found["record"]["intervals"].update(documents=0))
    change(run, CONFIG, lambda found: found["dataset"].update(path="gone", relative="../gone"))


def change(run: Path, name: str, how: Callable[[Any], object]) -> None:
    record = json.loads((run / name).read_text())
    how(record)
    (run / name).write_text(json.dumps(record))


@pytest.mark.parametrize("name", paper_heads())
def test_of_any_head_intervals_end_at_numerals_and_grow(
    models: dict[str, NumeralLM], name: str
) -> None:
    lm = models[name]
    distribution = lm.predict(TEXT)
    assert distribution.is_calibrated()
    before = (np.inf, -np.inf)
    for level in (0.1, 0.5, 0.9, 0.99):
        low, high = distribution.interval(level, calibrated=True)
        assert {low, high} <= {*lm.candidates.values.tolist()}
        assert low <= min(before[0], high)
        assert high >= max(before[1], low)
        before = (low, high)
    with pytest.raises(NumerateError, match="level: got 2"):
        distribution.interval(2, calibrated=True)


@pytest.mark.parametrize("sight", ["tables", "document"])
def test_of_models_that_see_tables(grounded: dict[str, NumeralLM], sight: str) -> None:
    table = Table("", "", "", [["", "Treated"]], [["Patients", "61"]])
    low, high = grounded[sight].predict("There were", [table]).interval(0.9, calibrated=True)
    assert low <= high


@pytest.mark.parametrize("name", ["combination", "h-softmax"])
def test_on_the_split_it_was_fitted_to_it_holds_what_it_says(
    models: dict[str, NumeralLM], dataset: Path, name: str
) -> None:
    """By document, asked place by place as `predict` does; one document counts as one."""
    lm, opened = models[name], Dataset.open(dataset)
    dev = load_corpora(opened, lm.vocabulary)["dev"]
    line = CandidateLine.of(lm.candidates, lm.log_prob_table(lm.read(dev).context, lm.candidates))
    truth, targets = dev.table.values[dev.rows], lm.targets(dev)
    paragraphs = targets.paragraphs[targets.is_numeral]
    intervals = lm.find_intervals()
    assert intervals is not None
    assert intervals.documents == len(dev)  # of one paragraph each
    for level in (0.5, 0.9):
        low, high = intervals.bounds(line, level)
        inside = (low <= truth) & (truth <= high)
        shares = np.bincount(paragraphs, inside) / np.bincount(paragraphs)
        assert level - 1e-6 <= shares.mean() < level + 2 / len(dev)


def test_it_is_found_out_once_and_kept(run: Path) -> None:
    stored = (run / CALIBRATION).read_bytes()
    first = numerate.load(run).predict(TEXT).interval(0.9, calibrated=True)
    assert numerate.load(run).predict(TEXT).interval(0.9, calibrated=True) == first
    assert (run / CALIBRATION).read_bytes() == stored
    member = numerate.load(f"{run}:mog").predict(TEXT)
    assert member.interval(0.9, calibrated=True) != member.interval(0.9)


def test_check_shows_calibrated_ranges(run: Path) -> None:
    lm = numerate.load(run)
    text = f"{TEXT} 980 %."
    for search in (False, True):
        (found,) = lm.checker.assess(text, 0.5, search=search)
        assert found.interval == lm.predict(f"{TEXT} ").interval(LEVEL, calibrated=True)
    forget_intervals(run)
    (older,) = numerate.load(run).checker.assess(text, 0.5)
    assert older.interval != found.interval


def test_fill_shows_calibrated_ranges(run: Path) -> None:
    lm = numerate.load(run)
    table = Table("", "", "", [["", "First", "Then"]], [["Heart rate", "71", ""]])
    (cell,) = fill(lm, table)
    forget_intervals(run)
    (older,) = fill(numerate.load(run), table)
    assert (cell.low, cell.high) != (older.low, older.high)
    assert cell.likeliest == older.likeliest


def test_predict_says_which_interval_it_is(run: Path, dataset: Path) -> None:
    def predict(*options: str) -> tuple[str, str]:
        done = CliRunner().invoke(app, ["predict", str(run), TEXT, *options])
        assert done.exit_code == 0, done.output
        return done.stdout, done.stderr

    distribution = numerate.load(run).predict(TEXT)
    for options, calibrated in (((), True), (("--uncalibrated",), False)):
        record = json.loads(predict("--format", "json", *options)[0])
        assert record["calibrated"] is calibrated
        assert record["interval"] == list(distribution.interval(0.9, calibrated=calibrated))
        assert ("(uncalibrated)" in predict(*options)[0]) is not calibrated
    forget_intervals(run)
    out, err = predict()
    assert "(uncalibrated)" in out
    assert err.count("intervals are not calibrated") == 1
    done = CliRunner().invoke(app, ["calibrate", str(run), "--dataset", str(dataset)])
    assert done.exit_code == 0, done.output
    assert f"{run}: calibrated on 12 documents\n" == done.stdout
    assert (
        predict("--format", "json", "--dataset", str(dataset))[0]
        == json.dumps(
            record
            | {"interval": list(distribution.interval(0.9, calibrated=True)), "calibrated": True},
            ensure_ascii=False,
        )
        + "\n"
    )


def test_what_is_not_known_is_said_once(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forget_intervals(run)
    set_loudness(Loudness.USUAL)
    lm = numerate.load(run)
    for _ in range(2):
        distribution = lm.predict(TEXT)
        assert not distribution.is_calibrated()
        with pytest.raises(NumerateError, match="interval: not calibrated"):
            distribution.interval(0.9, calibrated=True)
    said = " ".join(capsys.readouterr().err.split())
    assert said.count("intervals are not calibrated") == 1
    assert f"{run}: got 0 documents with numerals in the dev split" in said


def test_intervals_of_another_version_are_fitted_anew(run: Path) -> None:
    stored = json.loads((run / CALIBRATION).read_text())
    assert stored["identity"].keys() == {"version", "dataset", "weights"}

    def spoil(found: Any) -> None:
        found["record"]["intervals"] |= {"version": 1}

    change(run, CALIBRATION, spoil)
    assert numerate.load(run).predict(TEXT).is_calibrated()
    assert json.loads((run / CALIBRATION).read_text()) == stored


def test_a_few_documents_calibrate_nothing(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("numerate.lm.model.conformal.DOCUMENTS", 20)
    done = CliRunner().invoke(app, ["calibrate", str(run)])
    said = "got 12 documents with numerals in the dev split, expected at least 20"
    assert done.exit_code == 0, done.output
    assert " ".join(done.stderr.split()).count(said) == 1
    set_loudness(Loudness.USUAL)
    lm = numerate.load(run)
    assert not lm.predict(TEXT).is_calibrated()
    assert lm.checker.assess(f"{TEXT} 55 %.", 0.5)  # alarms are calibrated all the same
    assert " ".join(capsys.readouterr().err.split()).count(said) == 1
    found = evaluate(run, metrics="all")
    assert found.figures["central"].keys() == {"own"}
    there = said.replace("dev split", "dev split of cardiac")
    assert found.calibrated_on == f"not calibrated: {there}"


def test_without_numerals_to_calibrate_on_a_model_predicts_and_serves(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And where there are some later, they are found: failures are not remembered."""

    def without_numerals(*asked: Any) -> dict[str, Corpus]:
        return {"dev": load_corpora(*asked)["dev"].take(np.arange(0))}

    (run / CALIBRATION).unlink()
    set_loudness(Loudness.USUAL)
    lm = numerate.load(run)
    monkeypatch.setattr("numerate.lm.model.load.load_corpora", without_numerals)
    for _ in range(2):
        assert not lm.predict(TEXT).is_calibrated()
    said = " ".join(capsys.readouterr().err.split())
    assert said.count("intervals are not calibrated: calibration: got no numeral in the dev") == 1
    with pytest.raises(CalibrationError, match=r"got no numeral in the dev split of .*, expected"):
        lm.check(f"{TEXT} 55 %.")
    answer = checked(lm, CheckRequest(text=f"{TEXT} 55 %. Of 10 patients, 9 (50%) came."))
    assert (answer.domain, answer.numerals) == (None, [])
    assert answer.findings  # the rules need no model
    monkeypatch.undo()
    assert lm.predict(TEXT).is_calibrated()


@pytest.mark.parametrize("most", [7, 10**6])
def test_of_many_numerals_some_are_taken(
    models: dict[str, NumeralLM], dataset: Path, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Evenly, wherever the texts are cut, and never none."""
    monkeypatch.setattr("numerate.lm.model.known_places.MOST_PLACES", most)
    lm, taken = models["mog"], []
    dev = load_corpora(Dataset.open(dataset), lm.vocabulary)["dev"]
    of = Placed.of
    monkeypatch.setattr(Placed, "of", lambda line, truth: taken.extend(truth) or of(line, truth))
    numbers = dev.table.values[dev.rows].tolist()
    every = max(1, -(-len(numbers) // most))
    for at_once in (5, 10**6):
        monkeypatch.setattr(type(lm.backbone), "texts_at_once", at_once)
        taken.clear()
        found = fit_intervals(lm, dev, range(len(dev)))
        assert taken == numbers[::every]
        assert found.documents <= min(len(dev), len(taken))


def test_with_text_after_the_gap_the_interval_is_the_models_own(
    models: dict[str, NumeralLM],
) -> None:
    """No place of the dev split was judged by what follows it."""
    distribution = models["mog"].predict("It is ___ % today.")
    assert not distribution.is_calibrated()
    with pytest.raises(NumerateError, match="nothing after the number"):
        distribution.interval(0.9, calibrated=True)


def test_installed_models_come_calibrated() -> None:
    with pytest.raises(NumerateError, match=r"articles, which comes calibrated; expected one of"):
        calibrate_anew("articles")


def test_evaluation_measures_what_is_shown(run: Path, dataset: Path) -> None:
    """The intervals that the run is used with, at every place of the test split."""
    lm = numerate.load(run)
    test = load_corpora(Dataset.open(dataset), lm.vocabulary)["test"]
    line = CandidateLine.of(lm.candidates, lm.log_prob_table(lm.read(test).context, lm.candidates))
    truth, intervals = test.table.values[test.rows], lm.find_intervals()
    assert intervals is not None
    found = evaluate(run, metrics="all")
    found.save()
    for level in (0.5, 0.9):
        low, high = intervals.bounds(line, level)
        name = f"{100 * level:.0f}"
        figures = found.figures["central"]["calibrated"]
        assert figures[f"coverage_{name}"] == pytest.approx(
            ((low <= truth) & (truth <= high)).mean()
        )
        assert figures[f"median_width_{name}"] == pytest.approx(np.median(high - low))
        assert figures[f"mean_width_{name}"] == pytest.approx((high - low).mean())
    assert "central" in json.loads((run / METRICS).read_text())
    assert "calibrated" not in evaluate(run, split="dev", metrics="all").figures["central"]


@pytest.mark.parametrize("name", ["combination", "h-softmax"])
def test_figures_do_not_depend_on_what_is_stored(
    runs: dict[str, Path], tmp_path: Path, name: str
) -> None:
    """Nothing, all, and a calibration of other data or an earlier version."""
    run = shutil.copytree(runs[name], tmp_path / "run")
    for file in (REFERENCE, CALIBRATION):
        (run / file).unlink(missing_ok=True)
    bare = evaluate(run, metrics="all")
    assert not (run / CALIBRATION).exists()
    assert bare.calibrated_on == "calibrated on 12 documents of the dev split of cardiac"
    _ = numerate.load(run).checker.calibration
    stored = evaluate(run, metrics="all")
    assert stored.calibrated_on == bare.calibrated_on
    assert stored.figures["central"] == bare.figures["central"]
    change(run, CALIBRATION, lambda found: found["record"]["intervals"].update(documents=99))
    assert evaluate(run, metrics="all").calibrated_on.startswith("calibrated on 99 documents")
    for spoil in (
        lambda found: found["identity"].update(dataset="of other data"),
        lambda found: found["record"]["intervals"].update(version=1),
    ):
        change(run, CALIBRATION, spoil)
        assert evaluate(run, metrics="all").calibrated_on == bare.calibrated_on
        _ = calibrate_anew(run)
        change(run, CALIBRATION, lambda found: found["record"]["intervals"].update(documents=99))


def test_a_part_is_calibrated_on_a_part(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (run / CALIBRATION).unlink()
    read, fit = [], central_intervals.fit_intervals

    def counted(model: NumeralLM, corpus: Corpus, documents: list[object]) -> ConformalIntervals:
        read.append(len(corpus))
        return fit(model, corpus, documents)

    monkeypatch.setattr(central_intervals, "fit_intervals", counted)
    found = evaluate(run, metrics="all", limit=8)
    assert read == [8]
    said = "calibrated on 8 documents of 8 paragraphs of the dev split of cardiac"
    assert found.calibrated_on == said
    tables = result_tables([found])
    assert [table.title for table in tables if f"combination: {said}." in table.notes] == [
        table.title for table in tables if table.title.startswith("Central intervals")
    ]
