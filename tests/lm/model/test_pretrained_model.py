"""Pretrained models, as they come and with a head: predict, rank, check."""

import json
import math
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
from tests.lm.backbones.pretrained.conftest import paragraph, save
from tests.lm.backbones.pretrained.test_backbone import with_own_code
from tests.lm.model.plausibility.test_command import numerate as command

import numerate
from numerate.errors import BackboneError, NumerateError
from numerate.lm.backbones.causal import CausalBackbone
from numerate.lm.backbones.contract import AFTER
from numerate.lm.backbones.pretrained.files import digest
from numerate.lm.backbones.pretrained.language_model import PretrainedLM
from numerate.lm.backbones.pretrained.scorer import Scorer
from numerate.lm.backbones.pretrained.store import SplitStore
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.model.calibration import calibrate
from numerate.lm.model.candidates import plain_candidates
from numerate.lm.model.gap import after_numeral, apart_from_numeral, before_numeral
from numerate.lm.model.known_places import KnownPlaces
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.over_backbone import BackboneChoice
from numerate.lm.train.run import train
from numerate.numeral import is_numeral
from numerate.text.tokenizer import tokenize

TEXTS = [
    "The ejection fraction is 55 %, the end diastolic volume 143.5 ml (from 2,000).",
    "no numeral here",
    "",
    "7",
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pretrained")


@pytest.fixture(scope="module", autouse=True)
def cache(home: Path) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        yield home / "cache" / "numerate"


@pytest.fixture(scope="module")
def reference(home: Path) -> str:
    return f"hf:{save(home / 'tiny', 'single')}"


@pytest.fixture(scope="module")
def bare(reference: str, dataset: Path) -> NumeralLM:
    return numerate.load(reference, dataset)


@pytest.fixture(scope="module")
def headed_runs(home: Path, reference: str, dataset: Path) -> dict[str, Path]:
    backbone = BackboneChoice(Path(reference.removeprefix("hf:")), cache=home / "states")
    options = TrainingOptions(epochs=1, batch_size=10)
    for name in ("combination", "h-softmax"):
        train(
            dataset,
            home / name,
            model=name,
            vocabulary=300,
            hidden=16,
            backbone=backbone,
            options=options,
            device="cpu",
        )
    return {name: home / name for name in ("combination", "h-softmax")}


@pytest.fixture(scope="module")
def models(bare: NumeralLM, headed_runs: dict[str, Path]) -> dict[str, NumeralLM]:
    return {"bare": bare} | {name: numerate.load(run) for name, run in headed_runs.items()}


NAMES = ("bare", "combination", "h-softmax")


@pytest.mark.parametrize("name", NAMES)
def test_a_text_is_read_token_by_token(models: dict[str, NumeralLM], name: str) -> None:
    model = models[name]
    for text, reading in zip(TEXTS, model.read_texts(TEXTS), strict=True):
        assert len(reading.log_probs) == len(reading.tokens) + 1
        assert np.isfinite(reading.log_probs).all()
        assert len(reading.context) == len(reading.positions)
        numerals = [token.text for token in reading.numerals]
        if numerals:
            table = model.log_prob_table(reading.context, NumeralTable(numerals))
            np.testing.assert_allclose(np.diag(table), reading.numeral_log_probs, atol=1e-3)
        for index, token in enumerate(reading.numerals):
            # The same place, reached as the end of a text.
            context = model.context_after([text[: token.start]])
            found = model.log_prob_table(context, NumeralTable([token.text]))[0, 0]
            assert found == pytest.approx(reading.numeral_log_probs[index], abs=1e-3)
    assert model.read_texts([]) == []


@pytest.mark.parametrize("name", NAMES)
def test_in_the_place_of_another_a_numeral_is_read_as_if_it_stood_there(
    models: dict[str, NumeralLM], name: str
) -> None:
    """And so is what follows, but for the few ways to go on that are not asked for."""
    model = models[name]
    text = "the volume is 143 ml and the mass 57 g"
    (reading,) = model.read_texts([text], going_on=True)
    rows, numerals = np.array([0, 1, 0]), ["98.5", "57", "7"]
    log_probs, after = model.in_place(reading, rows, numerals)
    for row, numeral, log_prob, following in zip(rows, numerals, log_probs, after, strict=True):
        token, place = reading.numerals[row], int(reading.positions[row])
        (other,) = model.read_texts([text[: token.start] + numeral + text[token.end :]])
        assert other.numeral_log_probs[row] == pytest.approx(log_prob, abs=1e-3)
        expected = other.log_probs[place + 1 : -1][:AFTER].sum()
        assert following == pytest.approx(expected, abs=0.1)


def test_a_bare_model_says_what_it_is_scored_by(bare: NumeralLM) -> None:
    backbone = bare.backbone
    assert isinstance(backbone, CausalBackbone)
    (reading,) = bare.read_texts(TEXTS[:1])
    (scores,) = backbone.lm.score(backbone.lm.lay_out([paragraph(TEXTS[0])]))
    np.testing.assert_allclose(reading.numeral_log_probs, scores.numerals, atol=1e-6)
    np.testing.assert_allclose(reading.log_probs, scores.targets, atol=1e-6)
    found = bare.predict(TEXTS[0][: TEXTS[0].index("143")])
    assert math.log(found.prob("143.5")) == pytest.approx(scores.numerals[1], abs=1e-3)
    assert bare.name == "tiny"
    assert bare.members == ()


@pytest.mark.parametrize("name", NAMES)
def test_the_best_numerals_are_the_best_of_all_short_ones(
    models: dict[str, NumeralLM], name: str, short_numerals: list[str]
) -> None:
    model = models[name]
    state = model.context_after(["the ejection fraction is "])
    short = [text for text in short_numerals if len(text) <= 3]
    log_probs = model.log_prob_table(state, NumeralTable(short))[0]
    found = [pair for pair in islice(model.next_numeral(state).stream(), 40) if len(pair[0]) <= 3]
    if not model.open_vocabulary:  # the unknown can be named by none
        known = {text for text, _ in model.next_numeral(state).stream()}
        log_probs[[text not in known for text in short]] = -np.inf
    best = np.sort(log_probs)[::-1]
    assert len(found) > 5
    np.testing.assert_allclose([p for _, p in found], best[: len(found)], atol=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_predictions(models: dict[str, NumeralLM], name: str) -> None:
    model = models[name]
    found = model.predict("the ejection fraction is")
    top = found.top(5)
    for text, probability in top:
        assert is_numeral(text)
        assert found.prob(text) == pytest.approx(probability, rel=1e-3)
    low, high = found.interval(0.8)
    assert low <= found.median() <= high
    assert found.cdf(high) >= 0.9 - 1e-9
    assert sum(p for _, p in top) <= 1 - found.unnamed + 1e-6
    assert len(found.sample(20)) == 20
    assert set(found.mixture_weights) == set(model.members)
    assert sum(found.mixture_weights.values()) == pytest.approx(float(bool(model.members)))


def test_draws_follow_the_probabilities(bare: NumeralLM) -> None:
    found = bare.predict("the ejection fraction is")
    drawn = found.sample(2000)
    for text, probability in found.top(3):
        chance = probability / (1 - found.unnamed)
        spread = math.sqrt(2000 * chance * (1 - chance))
        assert abs(drawn.count(text) - 2000 * chance) < 4 * spread


def test_what_follows_a_gap_counts(reference: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numerate.lm.model.gap.BEST", 5)
    monkeypatch.setattr("numerate.lm.model.reference.plain_candidates", lambda: ("7",))
    model = numerate.load(reference)
    found = model.predict("the volume is ___ ml (from 5)")
    texts = [text for text, _ in found.top(6)]
    reading = model.read_texts([f"the volume is {text} ml (from 5)" for text in texts])
    # By Bayes: the whole text with each numeral in it, over all of them.
    whole = np.array([one.log_probs[3:-1].sum() - one.gates[0] for one in reading])
    expected = np.exp(whole - np.logaddexp.reduce(whole))
    np.testing.assert_allclose([found.prob(text) for text in texts], expected, rtol=1e-2)
    assert sum(expected) == pytest.approx(1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("is", "is "), ("is ", "is "), ("", ""), ("is (", "is ("), ("for $", "for $"), ("5-", "5- ")],
)
def test_a_numeral_stands_apart_as_a_writer_would_have_it(text: str, expected: str) -> None:
    assert before_numeral(text) == expected
    assert after_numeral(" ml") == " ml"
    assert after_numeral("ml") == " ml"
    assert after_numeral("%") == "%"


@pytest.mark.parametrize(
    "after",
    [".5 mg", ",000", "-HT levels", "-12-31", ":30", "/12/2020", " 863", "’000", "·5", "5", "mg"],
)
@pytest.mark.parametrize("before", ["took 17 ", "in 17\u2009863 ", "p < ", "IL-", "day-", "("])
def test_what_stands_around_a_gap_never_becomes_part_of_its_numeral(
    before: str, after: str
) -> None:
    begin = apart_from_numeral(before_numeral(before))
    place = len(tokenize(begin))
    for numeral in ("5", "31", "863", "2020", "0.5"):
        tokens = tokenize(begin + numeral + after_numeral(after))
        assert (tokens[place].text, tokens[place].is_numeral) == (numeral, True)
        assert [t.text for t in tokens[:place]] == [t.text for t in tokenize(begin)]


@pytest.mark.parametrize("name", NAMES)
def test_claims_and_checks(models: dict[str, NumeralLM], name: str) -> None:
    model = models[name]
    claims = ["the volume is 7 ml", "the volume is 123456789.123 ml"]
    ranking = model.rank(claims)
    assert [claim.place for claim in ranking.claims] == [0, 1]
    assert "123456789.123" in ranking.claims[1].reason
    text = f"{claims[0]}.\n\n{claims[1]}."
    findings = model.checker.assess(text, alarms=0.02)
    assert [finding.written for finding in findings] == ["7", "123456789.123"]
    assert [finding.start for finding in findings] == [14, text.index("1234")]
    assert findings[0].surprisal < findings[1].surprisal
    assert findings[1].percentile > 0.99
    for finding in findings:
        judged = model.checker.judge_at(text, finding.start)
        assert judged is not None
        assert judged[1] == finding.reason
        assert -judged[0].log_prob(finding.numeral) == pytest.approx(finding.surprisal, abs=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_a_numeral_is_judged_after_exactly_what_stands_before_it(
    models: dict[str, NumeralLM], name: str
) -> None:
    """Signs leave no space: to the model, `p<5` is another text than `p< 5`."""
    text = "It is rare (p<5), in 12/20 of them, from -14 to 3-8 (+7), x=9 or ~6."
    (reading,) = models[name].read_texts([text])
    assert len(reading.numerals) == 9
    for token, log_prob in zip(reading.numerals, reading.numeral_log_probs, strict=True):
        judged = models[name].checker.judge_at(text, token.start)
        assert judged is not None
        assert judged[0].log_prob(token.text) == pytest.approx(log_prob, abs=1e-3)


@pytest.mark.parametrize("name", ["combination", "h-softmax"])
def test_a_place_is_read_once_whatever_is_asked_of_it(
    models: dict[str, NumeralLM], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes: list[int] = []
    score = Scorer.score

    def counted(scorer: Scorer, plans: Any, **choices: Any) -> Any:
        passes.append(len(plans))
        return score(scorer, plans, **choices)

    monkeypatch.setattr(Scorer, "score", counted)
    judged = models[name].checker.judge_at("the volume is 7 ml", 14)
    assert judged is not None
    distribution, _ = judged
    assert distribution.prob("7") > 0
    assert distribution.top(3)
    assert passes == [1]


def test_a_combination_has_the_language_model_as_a_member(
    models: dict[str, NumeralLM],
) -> None:
    model = models["combination"]
    assert isinstance(model.backbone, CausalBackbone)
    assert model.members == ("h-softmax", "d-rnn", "mog", "lm")
    assert model.name == "tiny · combination"


def test_calibration_takes_some_paragraphs_once(
    reference: str,
    dataset: Path,
    cache: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("numerate.lm.model.load.PARAGRAPHS", 5)
    for file in cache.glob("*/*/calibration.json"):
        file.unlink()
    model = numerate.load(reference, dataset)
    first = model.checker.calibration
    assert model.backbone.progress is None, "nobody is told any more"
    assert "on 5 paragraphs of the dev split" in capsys.readouterr().err
    again = numerate.load(reference, dataset).checker.calibration
    assert capsys.readouterr().err == ""
    np.testing.assert_allclose(again.strangeness, first.strangeness)
    assert len(list(cache.glob("*/*/calibration.json"))) == 1


@pytest.mark.parametrize("name", NAMES)
def test_interrupted_calibration_goes_on(
    name: str,
    reference: str,
    headed_runs: dict[str, Path],
    dataset: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("numerate.lm.model.load.PARAGRAPHS", 9)
    monkeypatch.setattr("numerate.lm.backbones.pretrained.store.PARAGRAPHS", {"cpu": 4})
    run = reference
    if name in headed_runs:
        run = str(copytree(headed_runs[name], tmp_path / name))
        (tmp_path / name / "calibration.json").unlink(missing_ok=True)
    read: list[int] = []
    score = PretrainedLM.score

    def interrupted(lm: PretrainedLM, paragraphs: Any, **options: Any) -> Any:
        read.append(len(paragraphs))
        if len(read) == 3:
            raise KeyboardInterrupt
        return score(lm, paragraphs, **options)

    model = numerate.load(run, dataset, cache=tmp_path / "cache")
    monkeypatch.setattr(PretrainedLM, "score", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _ = model.checker.calibration
    again = numerate.load(run, dataset, cache=tmp_path / "cache")
    assert read == [4, 4, 1]
    found = again.checker.calibration
    assert read == [4, 4, 1, 1]
    monkeypatch.setattr(PretrainedLM, "score", score)
    split = Dataset.open(dataset).split("dev").read(["text"])["text"].to_pylist()
    chosen = np.sort(np.random.default_rng(1).permutation(len(split))[:9])
    expected = calibrate(again, again.read_texts([split[index] for index in chosen], going_on=True))
    # States are kept in half precision.
    np.testing.assert_allclose(found.strangeness, expected.strangeness, atol=0.02)
    assert found.domain.stretches.keys() == {"word_surprisal", "strangeness"}
    for trait, stretches in expected.domain.stretches.items():
        kept = found.domain.stretches[trait]
        assert [s.length for s in kept] == [s.length for s in stretches]
        np.testing.assert_allclose(
            [(s.usual, s.limit) for s in kept], [(s.usual, s.limit) for s in stretches], atol=0.02
        )


def test_calibration_caches_no_tables_of_a_few_numerals(
    reference: str, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table is one of the whole split: one for every strange numeral would fill a disk. The
    grid's, which intervals are fitted to, is the only one."""
    monkeypatch.setattr("numerate.lm.model.load.PARAGRAPHS", 3)
    asked, table = [], SplitStore.table

    def recorded(split: SplitStore, candidates: NumeralTable, *rest: Any) -> np.ndarray:
        asked.append(candidates.texts)
        return table(split, candidates, *rest)

    monkeypatch.setattr(SplitStore, "table", recorded)
    lm = numerate.load(reference, dataset, cache=tmp_path)
    assert not lm.predict("5 of").is_calibrated()  # who asks for an interval does not wait for that
    assert len(lm.checker.calibration.strangeness)
    assert asked
    assert all(texts == lm.candidates.texts for texts in asked)
    again = numerate.load(reference, dataset, cache=tmp_path).predict("5 of")
    low, high = again.interval(0.9, calibrated=True)
    assert {low, high} <= {*lm.candidates.values.tolist()}
    (stored,) = tmp_path.glob("*/*/calibration.json")
    stored.write_text(stored.read_text().replace('"version": 4', '"version": 3', 1))
    asked.clear()
    assert not numerate.load(reference, dataset, cache=tmp_path).predict("5 of").is_calibrated()
    assert not asked  # nor for one that is of something else


def test_what_is_read_says_how_many_numerals_are_taken(
    reference: str, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the dev split, of which a slow model reads a part."""
    monkeypatch.setattr("numerate.lm.model.load.PARAGRAPHS", 3)
    told: list[int] = []
    makes = KnownPlaces.__init__

    def recorded(places: KnownPlaces, model: NumeralLM, numerals: int) -> None:
        told.append(numerals)
        makes(places, model, numerals)

    monkeypatch.setattr(KnownPlaces, "__init__", recorded)
    lm = numerate.load(reference, dataset, cache=tmp_path)
    assert told == []
    assert [len(lm.checker.calibration.strangeness)] == told


def test_what_training_has_read_is_not_read_again(
    headed_runs: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The run remembers where training was told to keep states."""
    run = copytree(headed_runs["combination"], tmp_path / "run")
    (run / "calibration.json").unlink(missing_ok=True)
    model = numerate.load(run)
    monkeypatch.setattr(PretrainedLM, "score", lambda *_, **__: pytest.fail("read once more"))
    assert len(model.checker.calibration.strangeness) > 50


def test_without_a_dataset_it_predicts_and_ranks_but_does_not_check(reference: str) -> None:
    model = numerate.load(reference)
    assert model.predict("the volume is").top(1)
    assert model.rank(["it is 5", "it is 123456"]).claims[0].place == 0
    with pytest.raises(NumerateError, match="no dataset of its own: --dataset"):
        model.check("it is 5")
    assert 200 < len(plain_candidates()) < 400


def test_what_is_no_causal_language_model_is_named(tmp_path: Path, reference: str) -> None:
    folder = save(tmp_path / "other", "single")
    config = json.loads((folder / "config.json").read_text())
    config.update(architectures=["BertForMaskedLM"], model_type="bert")
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(BackboneError, match="causal"):
        numerate.load(f"hf:{folder}")
    with pytest.raises(BackboneError, match="does not exist"):
        numerate.load(f"hf:{tmp_path / 'gone'}")


def test_commands(
    capsys: pytest.CaptureFixture[str], reference: str, dataset: Path, tmp_path: Path
) -> None:
    status, out, _ = command(capsys, "predict", reference, "the volume is", "--format", "json")
    assert status == 0
    assert len(json.loads(out)["top"]) == 5
    status, out, _ = command(capsys, "rank", reference, "it is 123456789.5", "it is 5")
    assert status == 0
    assert out.index("it is 5") < out.index("it is 123456789.5")
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("The ejection fraction is 123456789.123 %.")
    arguments = ["--dataset", str(dataset), "--alarms", "0.02"]
    status, out, _ = command(capsys, "check", str(wrong), "--model", reference, *arguments)
    assert status in {0, 1}
    assert "read 1 number; no statement to recompute" in out
    status, out, err = command(capsys, "check", str(wrong), "--model", reference)
    assert (status, out) == (2, "")
    assert err.startswith("numerate: hf:")
    assert err.count("\n") == 1
    status, _, err = command(capsys, "serve", reference, "--port", "0")
    assert status == 2
    assert "--dataset" in err


@pytest.fixture
def own_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model that comes with code of its own, which transformers copies before it runs it."""
    monkeypatch.setattr(
        "transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules")
    )
    monkeypatch.setattr("sys.path", [*sys.path])
    return with_own_code(save(tmp_path / "own", "single"), model_type="own")


def test_every_command_runs_code_of_a_model_only_if_told_to(
    capsys: pytest.CaptureFixture[str],
    own_code: Path,
    headed_runs: dict[str, Path],
    dataset: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("numerate.lm.model.load.PARAGRAPHS", 2)
    text = tmp_path / "text.txt"
    text.write_text("It is 5.")
    run = copytree(headed_runs["h-softmax"], tmp_path / "run")
    config = json.loads((run / "config.json").read_text())
    config["backbone"] |= {"path": str(own_code), "digest": digest(own_code)}
    (run / "config.json").write_text(json.dumps(config))
    model, calibrated = f"hf:{own_code}", ["--alarms", "0.2", "--dataset", str(dataset)]
    done: list[tuple[list[str], int]] = [
        (["predict", model, "it is"], 0),
        (["predict", str(run), "it is"], 0),
        (["rank", model, "it is 5", "it is 7"], 0),
        (["check", str(text), "--model", model, *calibrated], 0),
        (["check-benchmark", str(dataset), "--model", model, "--limit", "2"], 0),
        (["serve", model, "--port", "0"], 2),  # there is no dataset
    ]
    capsys.readouterr()
    for arguments, _ in done:
        refused, out, err = command(capsys, *arguments)
        assert (refused, out) == (2, "")
        assert err.count("\n") == 1
        assert err.endswith("if you trust it, add --trust-remote-code\n")
        assert not list(own_code.parent.rglob("was-here"))
    for arguments, status in done:
        found, out, err = command(capsys, *arguments, "--trust-remote-code")
        assert found == status, err
        assert "trust" not in out + err
    assert list(own_code.parent.rglob("was-here"))
