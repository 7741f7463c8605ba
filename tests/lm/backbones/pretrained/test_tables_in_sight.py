"""Over a pretrained model with tables in sight: cached, trained, evaluated, asked."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.trials import TABLE, TEXT

import numerate
from numerate.cli.evaluate_command import evaluate_runs
from numerate.documents.text import read_text
from numerate.errors import NumerateError
from numerate.lm.backbones import causal_batches
from numerate.lm.backbones.causal import CausalBackbone
from numerate.lm.backbones.pretrained import language_model
from numerate.lm.backbones.pretrained.backbone import open_backbone
from numerate.lm.backbones.pretrained.language_model import (
    Layouts,
    PretrainedLM,
    prefixes_of,
    read_paragraphs,
)
from numerate.lm.backbones.pretrained.store import Store
from numerate.lm.backbones.texts import Texts
from numerate.lm.data.batching import load_corpora
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.data.prepare import prepare
from numerate.lm.evaluate.evaluate import evaluate
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.opening import Settings, open_model
from numerate.lm.model.passages import read_passages
from numerate.lm.model.source import ModelSource
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.over_backbone import BackboneChoice
from numerate.lm.train.run import RunResult, train
from numerate.text.table_numbers import columns_of_texts
from numerate.text.vocabulary import Vocabulary

MEMBERS = ("mog", "lm", "copy", "compute")


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "cardiac"
    prepare("cardiac", folder, documents=14, tables=True)
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def trained(
    reports: Path,
    out: Path,
    model: Path,
    cache: Path,
    finetune: str = "none",
    dropout: float = 0.1,
    **choices,
) -> RunResult:
    return train(
        reports,
        out,
        model="grounded",
        vocabulary=100,
        hidden=8,
        dropout=dropout,
        members=MEMBERS,
        backbone=BackboneChoice(model, finetune, cache),
        options=TrainingOptions(epochs=2, batch_size=4, learning_rate=0.003, **choices),
        device="cpu",
    )


@pytest.fixture(scope="module")
def run(
    reports: Path,
    cache: Path,
    tiny_models: dict[str, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> RunResult:
    return trained(reports, tmp_path_factory.mktemp("runs") / "run", tiny_models["single"], cache)


@pytest.fixture
def lm(tiny_models: dict[str, Path]) -> PretrainedLM:
    return PretrainedLM(open_backbone(tiny_models["single"]), start=0)


@pytest.mark.parametrize("level", ["paragraph", "tables", "document"])
def test_states_after_numbers_are_cached_in_the_order_of_sight(
    level: str, tmp_path: Path, lm: PretrainedLM, reports: Path
) -> None:
    dataset = Dataset.open(reports)
    corpus = load_corpora(dataset, Vocabulary.nothing(), level)["test"]
    split = Store(tmp_path, lm, dataset, level).split("test")
    split.fill()
    assert corpus.sight is not None
    assert split.numbers is not None
    some = np.array([2, 0, 1])
    counts = corpus.sight.numbers_in_tables[some]
    assert bool(counts.sum()) == (level != "paragraph")
    states, seen = split.numbers.gather(some, counts)
    before = None if split.prefixes is None else [split.prefixes[index] for index in some]
    scores = lm.score(lm.lay_out([split.paragraphs[index] for index in some], before))
    expected = np.concatenate([score.number_states for score in scores])
    assert len(states) == int(np.diff(corpus.sight.offsets)[some].sum())
    np.testing.assert_array_equal(seen, np.concatenate([score.seen for score in scores]))
    np.testing.assert_allclose(states[seen], expected[seen], atol=5e-3)


def test_levels_have_caches_of_their_own(tmp_path: Path, lm: PretrainedLM, reports: Path) -> None:
    dataset = Dataset.open(reports)
    blind, seeing = Store(tmp_path, lm, dataset), Store(tmp_path, lm, dataset, "tables")
    assert blind.folder != seeing.folder
    for store in (blind, seeing):
        store.split("test").fill(range(2))
    found = [np.array(store.split("test").targets) for store in (blind, seeing)]
    assert np.abs(found[0] - found[1]).max() > 0.01


def test_a_model_as_it_comes_reads_tables(
    reports: Path, cache: Path, tiny_models: dict[str, Path], lm: PretrainedLM, capsys
) -> None:
    """Figures are those of the passes, and with sight they are other ones."""
    reference = f"hf:{tiny_models['single']}"
    figures = {}
    for level in ("none", "paragraph", "tables"):
        found = evaluate(
            reference,
            reports,
            device="cpu",
            limit=2,
            metrics="all",
            settings=Settings(cache, 100, sight=level),
        )
        figures[level] = found.figures["perplexity"]["numerals"]["pp"]
        assert found.figures["beyond"]
    assert figures["none"] == figures["paragraph"] != figures["tables"]
    told = capsys.readouterr().err
    assert "do not fit the window" in told
    assert "each paragraph's words, later ones too" in told, "figures may be too good"


def test_runs_see_as_they_were_trained_to(run: RunResult, cache: Path) -> None:
    with pytest.raises(NumerateError, match="sees as it was trained to"):
        evaluate_runs(
            [str(run.folder)],
            None,
            split="dev",
            metrics="paper",
            confidence=None,
            compared=False,
            oov_set="all",
            format="table",
            device="cpu",
            cache=cache,
            sight="tables",
        )


def test_a_frozen_model_is_trained_and_says_what_it_said(run: RunResult, cache: Path) -> None:
    losses = [record["train_loss"] for record in run.history]
    assert losses[1] < losses[0]
    found = evaluate(run.folder, split="dev", device="cpu", settings=Settings(cache=cache))
    best = run.history[run.best_epoch - 1]["dev_word_perplexity"]
    assert found.figures["perplexity"]["words"]["pp"] == pytest.approx(best, rel=0.01)
    model = open_model(run.folder, device="cpu").model
    assert model.members == MEMBERS
    assert isinstance(model.backbone, CausalBackbone)
    assert model.backbone.see is not None


@pytest.mark.parametrize("finetune", ["lora", "full"])
def test_a_tuned_model_is_trained_and_says_what_it_said(
    finetune: str, reports: Path, tiny_models: dict[str, Path], tmp_path: Path, cache: Path
) -> None:
    result = trained(
        reports,
        tmp_path / "run",
        tiny_models["single"],
        cache,
        finetune,
        plain_mixture=True,  # weights stay those of the last epoch
    )
    losses = [record["train_loss"] for record in result.history]
    assert losses[1] < losses[0]
    found = evaluate(result.folder, split="dev", device="cpu", settings=Settings(cache=cache))
    best = result.history[result.best_epoch - 1]
    for name in ("numeral", "word"):
        pp = found.figures["perplexity"][f"{name}s"]["pp"]
        assert math.log(pp) == pytest.approx(math.log(best[f"dev_{name}_perplexity"]), abs=0.01)


def seeing(run: RunResult, cache: Path) -> tuple[NumeralLM, Dataset]:
    opened = open_model(run.folder, device="cpu", settings=Settings(cache=cache))
    return opened.model, opened.on(None)


def test_texts_with_tables_are_read_as_those_of_a_split(run: RunResult, cache: Path) -> None:
    """Just typed, cached, in a batch of training: the same numbers in view, the same figures."""
    model, dataset = seeing(run, cache)
    split = dataset.split("test")
    corpus = load_corpora(dataset, model.vocabulary, "tables")["test"].take(np.array([0, 2]))
    cached = model.read(corpus)
    numerals = model.numeral_log_probs(cached)
    sight, tables = split.sight("tables"), split.tables()
    assert isinstance(model.backbone, CausalBackbone)
    assert model.backbone.store is not None
    paragraphs = [model.backbone.store.split("test").paragraphs[index] for index in (0, 2)]
    in_view = []
    for index in (0, 2):
        views = sight.views[slice(*sight.view_offsets[index : index + 2])]
        assert sight.sources is not None
        in_view.append([tables[sight.sources[view]] for view in views])
    texts = Texts(
        [paragraph.text for paragraph in paragraphs],
        [paragraph.tokens() for paragraph in paragraphs],
        columns_of_texts(in_view, dataset.reading),
    )
    typed = model.read(texts.corpus(model.vocabulary))
    np.testing.assert_allclose(typed.log_probs, cached.log_probs, atol=1e-3)
    np.testing.assert_allclose(model.numeral_log_probs(typed), numerals, atol=2e-2)


def test_a_distribution_after_a_text_sees_what_the_text_does(run: RunResult, cache: Path) -> None:
    """The last numeral of a text, asked for as what comes after the text before it."""
    model, dataset = seeing(run, cache)
    split = dataset.split("test")
    assert isinstance(model.backbone, CausalBackbone)
    assert model.backbone.store is not None
    paragraph = model.backbone.store.split("test").paragraphs[0]
    tokens = paragraph.tokens()
    third = sorted(paragraph.numerals)[2]
    numeral = tokens[third]
    text = paragraph.text[: numeral.start]
    # Little enough to fit, so that rows are not chosen by words.
    table = split.tables()[0]
    table.body = table.body[:3]
    columns = columns_of_texts([[table]], dataset.reading)
    after = model.backbone.after(Texts([text], [tokens[:third]], columns))
    candidates = NumeralTable([numeral.text, "5", "7.5"])
    with torch.no_grad():
        found = model.head.log_prob_table(after, candidates)[0, 0]
    whole = Texts([text + numeral.text], [tokens[: third + 1]], columns)
    expected = model.numeral_log_probs(model.read(whole.corpus(model.vocabulary)))[-1]
    assert float(found) == pytest.approx(expected, abs=1e-3)


def test_mixed_precision_reads_the_model_alone(
    reports: Path, tiny_models: dict[str, Path], tmp_path: Path, cache: Path
) -> None:
    choice = {"finetune": "full", "plain_mixture": True}
    whole = trained(reports, tmp_path / "whole", tiny_models["single"], cache, **choice)
    mixed = trained(
        reports, tmp_path / "mixed", tiny_models["single"], cache, mixed_precision="bf16", **choice
    )
    losses = [[record["train_loss"] for record in run.history] for run in (whole, mixed)]
    assert losses[0] != losses[1]
    np.testing.assert_allclose(losses[0], losses[1], rtol=0.02)


def test_a_step_is_the_same_in_parts_where_memory_is_short(
    reports: Path,
    tiny_models: dict[str, Path],
    tmp_path: Path,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    choice = {"finetune": "full", "plain_mixture": True, "dropout": 0.0}
    whole = trained(reports, tmp_path / "whole", tiny_models["single"], cache, **choice)
    learnt: list[int] = []
    collate = causal_batches.TextCorpus.collate

    def listening(corpus: causal_batches.TextCorpus, paragraphs: np.ndarray) -> Any:
        learnt.append(len(paragraphs))
        return collate(corpus, paragraphs)

    monkeypatch.setattr(causal_batches, "KEPT", 1)
    monkeypatch.setattr(causal_batches.TextCorpus, "collate", listening)
    parts = trained(reports, tmp_path / "parts", tiny_models["single"], cache, **choice)
    paragraphs = len(Dataset.open(reports).split("train").read(["document"]))
    assert learnt[:paragraphs] == [1] * paragraphs
    for name in ("train_loss", "dev_loss"):
        losses = [[record[name] for record in run.history] for run in (whole, parts)]
        np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)


def test_what_is_asked_for_again_at_once_is_laid_out_once(
    lm: PretrainedLM, reports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = Dataset.open(reports).split("train")
    paragraphs = read_paragraphs(split)
    monkeypatch.setattr(language_model, "CACHED_NODES", len(paragraphs[0].text) // 2)  # few
    layouts = Layouts(lm, paragraphs)
    done: list[int] = []
    lay_out = lm.lay_out

    def listening(some: Any, prefixes: Any = None) -> Any:
        done.extend(paragraphs.index(one) for one in some)
        return lay_out(some, prefixes)

    monkeypatch.setattr(lm, "lay_out", listening)
    step = layouts.of([0, 3, 2, 1])
    assert layouts.of([2, 3]) == [step[2], step[1]]
    assert sorted(done) == [0, 1, 2, 3]
    assert [one.paragraph for one in layouts.of([4, 3])] == [paragraphs[4], paragraphs[3]]
    assert layouts.of([3]) == [step[1]]
    assert sorted(done) == [0, 1, 2, 3, 4]
    layouts.of([1, 2])
    assert len(done) > 5, "not all of them are kept"


def test_what_is_left_out_is_told_once(lm: PretrainedLM, reports: Path, capsys) -> None:
    dataset = Dataset.open(reports)
    split = dataset.split("test")
    store = Store(reports.parent / "told", lm, dataset, "tables")
    paragraphs = store.split("test").paragraphs
    told = capsys.readouterr().err
    assert told.count("do not fit the window of single") == 1
    store.split("test").fill(range(2))
    assert not capsys.readouterr().err
    prefixes = prefixes_of(lm, split, "tables", paragraphs, dataset.reading)
    assert prefixes is not None
    rows, numbers = prefixes.left_out
    assert f"{rows:,} rows with {numbers:,} numbers" in told


def test_a_run_is_asked_with_tables_and_names_its_sources(run: RunResult, cache: Path) -> None:
    model = numerate.load(run.folder, cache=cache, device="cpu")
    found = model.predict("Mean age was", [TABLE])
    assert found.sources
    copies = [source for source in found.sources if source.kind is None]
    total = sum(source.probability for source in copies)
    assert total == pytest.approx(found.mixture_weights["copy"], abs=1e-5)
    assert "Table 2, Age (years), Placebo" in {source.reason for source in copies}
    findings = model.checker.assess(TEXT, 0.5, [TABLE])
    for finding in findings:
        judged = model.checker.judge_at(TEXT, finding.start, [TABLE])
        assert judged is not None
        assert -judged[0].log_prob(finding.numeral) == pytest.approx(finding.surprisal, abs=0.02)


def test_a_model_as_it_comes_is_asked_with_tables(
    tiny_models: dict[str, Path], cache: Path
) -> None:
    reference = f"hf:{tiny_models['single']}"
    blind = numerate.load(reference, cache=cache, device="cpu")
    with pytest.raises(NumerateError, match="unknown value of sight 'far'"):
        numerate.load(reference, cache=cache, sight="far")
    with pytest.raises(NumerateError, match=r"got tables for .*, which sees as it was trained to"):
        numerate.load(cache, sight="tables")
    with pytest.raises(NumerateError, match="sees none; expected a model with tables in sight"):
        blind.predict("Mean age was", [TABLE])
    model = ModelSource(reference, cache=cache, device="cpu").load(with_tables=True)
    without = model.predict("Mean age was").log_prob("57.3")
    assert without == pytest.approx(blind.predict("Mean age was").log_prob("57.3"), abs=1e-4)
    found = model.predict("Mean age was", [TABLE])
    assert abs(found.log_prob("57.3") - without) > 1e-3
    assert found.sources == []


@pytest.mark.parametrize("sight", ["tables", "document"])
def test_paragraphs_of_a_document_are_read_before_those_after_them(
    tiny_models: dict[str, Path], cache: Path, sight: str
) -> None:
    reference = f"hf:{tiny_models['single']}"
    model = numerate.load(reference, cache=cache, device="cpu", sight=sight)
    told, asked = "Age was 57.3 years.", "Mean age was 57.3 years."

    def last(text: str) -> np.ndarray:
        (passages,) = read_passages(model, read_text(text))
        return passages[-1].reading.log_probs

    differ = np.abs(last(f"{told}\n\n{asked}") - last(asked)).max() > 1e-3
    assert differ == (sight == "document")
