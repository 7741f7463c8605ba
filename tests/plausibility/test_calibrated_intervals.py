"""Intervals as people are shown them: calibrated once, kept in the run, told where they are not."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import numerate
from numerate.batching import load_corpora
from numerate.cli import app
from numerate.corpus.dataset import Dataset
from numerate.documents.document import Table
from numerate.errors import NumerateError
from numerate.evaluation.evaluate import evaluate
from numerate.heads.registry import paper_heads
from numerate.model.candidate_line import CandidateLine
from numerate.model.numeral_lm import NumeralLM
from numerate.notices import Loudness, set_loudness
from numerate.plausibility.assess import LEVEL
from numerate.plausibility.filling import fill
from numerate.plausibility.load import calibrate_anew
from numerate.runs.folder import CALIBRATION, METRICS

TEXT = "Left ventricular ejection fraction is"


@pytest.fixture
def run(runs: dict[str, Path], tmp_path: Path) -> Path:
    """A copy that a test may spoil, calibrated."""
    folder = shutil.copytree(runs["combination"], tmp_path / "run")
    _ = numerate.load(folder).checker.calibration
    return folder


def forget_intervals(run: Path) -> None:
    """As if an earlier version had calibrated it."""
    record = json.loads((run / CALIBRATION).read_text())
    del record["record"]["intervals"]
    (run / CALIBRATION).write_text(json.dumps(record))


@pytest.mark.parametrize("name", paper_heads())
def test_of_any_head_intervals_end_at_numerals_and_grow(
    models: dict[str, NumeralLM], name: str
) -> None:
    lm = models[name]
    distribution = lm.predict(TEXT)
    assert distribution.is_calibrated
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
    intervals = lm.intervals
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


def test_predict_says_which_interval_it_is(run: Path) -> None:
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
    assert err.count("numerate calibrate") == 1
    done = CliRunner().invoke(app, ["calibrate", str(run)])
    assert done.exit_code == 0, done.output
    assert f"{run}: calibrated on 12 documents" in done.stderr.replace("\n", "")
    assert (
        predict("--format", "json")[0]
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
        assert not distribution.is_calibrated
        with pytest.raises(NumerateError, match="not known how to calibrate it"):
            distribution.interval(0.9, calibrated=True)
    said = " ".join(capsys.readouterr().err.split())
    assert said.count("intervals are not calibrated") == 1
    assert f"numerate calibrate {run}" in said


def test_with_text_after_the_gap_the_interval_is_the_models_own(
    models: dict[str, NumeralLM],
) -> None:
    """No place of the dev split was judged by what follows it."""
    distribution = models["mog"].predict("It is ___ % today.")
    assert not distribution.is_calibrated
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
    truth, intervals = test.table.values[test.rows], lm.intervals
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
    (run / CALIBRATION).unlink()
    fitted = evaluate(run, metrics="all").figures["central"]["calibrated"]
    assert fitted["coverage_90"] == pytest.approx(figures["coverage_90"], abs=0.05)
