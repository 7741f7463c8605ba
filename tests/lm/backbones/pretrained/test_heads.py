"""Heads over a pretrained model: exact at the start, trained on states read once, kept apart."""

import json
import math
import shutil
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.lm.backbones.pretrained.conftest import paragraph, shaken
from torch import Tensor
from typer.testing import CliRunner

from numerate.cli import app
from numerate.errors import NumerateError, RunError
from numerate.lm.backbones.causal import CausalBackbone
from numerate.lm.backbones.causal_batches import StateCorpus
from numerate.lm.backbones.contract import Reading
from numerate.lm.backbones.pretrained.backbone import open_backbone
from numerate.lm.backbones.pretrained.language_model import (
    ParagraphScores,
    PretrainedLM,
    join_scores,
)
from numerate.lm.backbones.pretrained.merged_adapters import AdaptedLayers
from numerate.lm.backbones.pretrained.store import Store
from numerate.lm.backbones.spelling.forest import Trees
from numerate.lm.backbones.texts import Texts
from numerate.lm.data.batching import load_corpora
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.numeral_table import POINT, NumeralTable
from numerate.lm.data.prepare import prepare
from numerate.lm.evaluate.evaluate import evaluate
from numerate.lm.heads.combination import CombinationHead
from numerate.lm.heads.digit_adapter import DigitAdapter, DigitBatch
from numerate.lm.heads.registry import head_class, head_names
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.opening import Settings, open_stored
from numerate.lm.model.run_folder import read_json
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.over_backbone import BackboneChoice
from numerate.lm.train.run import RunResult, train
from numerate.text.tokenizer import tokenize
from numerate.text.vocabulary import Vocabulary

BLIND = [name for name in head_names() if head_class(name).usual_sight == "none"]
HEADS = tuple(n for n in BLIND if not (head_class(n).flat or head_class(n).needs_sight))
KINDS = ("single", "glued", "metaspace", "mixed")
TEXT = (
    "a dose of 5mg in 1,234 of 2000 patients (61.7%) and 10% of 120, 7, 8 and 9 after 3 months "
    "was 54.3 and 0.05 as in 1,23."
)
ADAPTING = ("combination", "lm")
OPTIONS = TrainingOptions(epochs=3, batch_size=4, learning_rate=0.003)


@pytest.fixture(scope="module")
def cardiac(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "cardiac"
    prepare("cardiac", folder, documents=12)
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def short(
    cardiac: Path, out: Path, model: str, tiny_models: dict[str, Path], cache: Path
) -> RunResult:
    return train(
        cardiac,
        out,
        model=model,
        vocabulary=100,
        hidden=8,
        backbone=BackboneChoice(tiny_models["single"], cache=cache),
        options=OPTIONS,
        device="cpu",
    )


@pytest.fixture(scope="module")
def runs(
    cardiac: Path,
    cache: Path,
    tiny_models: dict[str, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    for model in HEADS:
        short(cardiac, folder / model, model, tiny_models, cache)
    return {model: folder / model for model in HEADS}


def opened(folder: Path) -> PretrainedLM:
    lm = PretrainedLM(open_backbone(folder))
    lm.choose_start([paragraph(TEXT)])
    return lm


def lm_of(model: NumeralLM) -> PretrainedLM:
    assert isinstance(model.backbone, CausalBackbone)
    return model.backbone.lm


def states_of(model: NumeralLM, folder: Path, cache: Path, name: str) -> StateCorpus:
    dataset = Dataset.open(folder)
    split = Store(cache, lm_of(model), dataset).split(name)
    corpus = load_corpora(dataset, model.vocabulary)[name]
    detailed = model.head.digit_adapter() is not None
    return StateCorpus(corpus, dataset.split(name), split, detailed=detailed)


def read(model: NumeralLM, folder: Path, split: str, count: int) -> tuple[Reading, ParagraphScores]:
    """Some paragraphs as the model has them, and as the language model by itself."""
    texts = Dataset.open(folder).split(split).read(["text"])["text"].to_pylist()[:count]
    corpus = Texts(texts, [tokenize(text) for text in texts]).corpus(model.vocabulary)
    lm = lm_of(model)
    own = join_scores(lm.score(lm.lay_out([paragraph(text) for text in texts])))
    return model.read(corpus), own


@pytest.mark.parametrize("kind", KINDS)
def test_untrained_offsets_leave_the_digits_as_they_are(
    tiny_models: dict[str, Path], kind: str
) -> None:
    lm = opened(tiny_models[kind])
    (plan,) = lm.lay_out([paragraph(TEXT)])[0].windows
    with torch.no_grad():
        scores = lm.scorer.score([plan], detailed=True)
        assert scores.details is not None
        trees = [pair and pair[0] for pair in plan.trees]
        assert None in trees, "the list 1,23 has no tree of its own"
        batch = DigitBatch.of(Trees.of(trees), scores.details)
        assert batch is not None
        fresh = DigitAdapter(lm.scorer.state_size, 8, 0.0).eval()
        same = fresh.log_prob(scores.numerals, batch, lm.scorer.classes)
        moved = shaken(lm).log_prob(scores.numerals, batch, lm.scorer.classes)
    torch.testing.assert_close(same, scores.numerals, rtol=1e-5, atol=1e-5)
    assert (moved - scores.numerals)[batch.where].abs().min() > 1e-4


@pytest.mark.parametrize("kind", KINDS)
def test_adapted_digits_are_a_distribution(tiny_models: dict[str, Path], kind: str) -> None:
    """Numerals of one character, and what goes on beyond each of them, are everything."""
    lm = opened(tiny_models[kind])
    adapter = shaken(lm)
    (plan,) = lm.lay_out([paragraph("it was 7 then")])[0].windows
    texts = [str(value) for value in range(10)]
    table = lm.table(plan, NumeralTable(texts), adapter=adapter)[0]
    own = lm.table(plan, NumeralTable(texts))[0]
    assert not np.allclose(table, own)
    writer = lm.writer(plan, 0, adapter)
    start, first = writer.start()
    _, second = writer.write([start] * 10, range(10))
    goes_on = np.exp(first[:10, None] + second[:, : POINT + 1]).sum()
    assert np.exp(table).sum() + goes_on == pytest.approx(1, abs=1e-5)
    assert 0.01 < goes_on < 0.99
    # The one written, as a token of the text and as a candidate.
    with torch.no_grad():
        scores = lm.scorer.score([plan], detailed=True)
        assert scores.details is not None
        trees = Trees.of(pair and pair[0] for pair in plan.trees)
        batch = DigitBatch.of(trees, scores.details)
        assert batch is not None
        found = adapter.log_prob(scores.numerals, batch, lm.scorer.classes)
    assert table[7] == pytest.approx(float(found[0]), abs=1e-4)


@pytest.mark.parametrize("model", HEADS)
def test_a_run_keeps_heads_and_the_name_of_the_backbone(
    runs: dict[str, Path], tiny_models: dict[str, Path], model: str
) -> None:
    record = json.loads((runs[model] / "config.json").read_text())
    assert record["backbone"]["path"] == str(tiny_models["single"])
    assert len(record["backbone"]["digest"]) == 64
    assert record["backbone"]["finetune"] == "none"
    names = set(open_stored(runs[model]).state_dict())
    backbone = {name for name in names if name.startswith("backbone.")}
    assert all(name.startswith("backbone.project.") for name in backbone)
    assert any("adapter." in name for name in names) == (model in ADAPTING)


@pytest.mark.parametrize("model", HEADS)
def test_words_and_gate_stay_the_language_models_own(
    runs: dict[str, Path], cardiac: Path, model: str
) -> None:
    network = open_stored(runs[model])
    reading, own = read(network, cardiac, "test", 2)
    ours, numerals = network.log_probs(reading), reading.corpus.target_is_numeral
    np.testing.assert_array_equal(ours[~numerals], own.targets[~numerals])
    np.testing.assert_array_equal(reading.gates, own.gates)
    rest = own.targets[numerals] - own.numerals
    found = network.numeral_log_probs(reading)
    np.testing.assert_allclose(ours[numerals] - found, rest, atol=1e-9)
    assert not np.allclose(found, own.numerals)
    assert np.isfinite(ours).all()


@pytest.mark.parametrize("model", HEADS)
def test_a_table_agrees_with_the_numerals_of_the_text(
    runs: dict[str, Path], cardiac: Path, model: str
) -> None:
    network = open_stored(runs[model])
    reading, _ = read(network, cardiac, "test", 1)
    candidates = reading.corpus.table
    table = np.concatenate([some for _, some in network.tables(reading.context, candidates)])
    found = table[np.arange(len(reading.corpus.rows)), reading.corpus.rows]
    np.testing.assert_allclose(found, network.numeral_log_probs(reading), atol=2e-3)


def test_the_combination_gains_on_what_it_was_trained_on(
    runs: dict[str, Path], cardiac: Path, cache: Path, tiny_models: dict[str, Path]
) -> None:
    model = open_stored(runs["combination"])
    reading, own = read(model, cardiac, "train", 4)
    assert model.numeral_log_probs(reading).mean() > own.numerals.mean() + 0.1
    assert model.members == ("h-softmax", "d-rnn", "mog", "lm")


def test_members_learn_where_they_have_no_share(
    runs: dict[str, Path], cardiac: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loss is that of the combination; its gradient also teaches every member alone."""
    model = open_stored(runs["combination"])
    head, adapter = model.head, model.head.digit_adapter()
    batch = states_of(model, cardiac, cache, "train").collate(np.arange(4))
    assert batch.digits.spelled is not None
    assert isinstance(head, CombinationHead)
    assert adapter is not None
    with torch.no_grad():
        loss = float(model(batch))
        assert loss == pytest.approx(-float(model.log_prob(batch).sum()), rel=1e-9)
    assert model.members == ("h-softmax", "d-rnn", "mog", "lm")
    weights = torch.tensor([-1e4, 0.0, -1e4, -1e4]).log_softmax(0)
    monkeypatch.setattr(CombinationHead, "log_weights", lambda self, hidden, evidence: weights)
    head.train()
    adapter.eval()  # without dropout, as before the head
    model(batch).backward()
    without_share = [head.members["h-softmax"], head.members["mog"], adapter]
    learning = [weight for member in without_share for weight in member.parameters()]
    found = [weight.grad.clone() for weight in learning]
    model.zero_grad()
    context = model.backbone.contexts(batch)
    known = head.members_by_name()["h-softmax"].log_prob(context, batch.numerals)
    known = known[known.isfinite()]
    assert 0 < len(known) < batch.numeral_count, "it does not know some of them"
    own, spelled = batch.digits.log_probs, batch.digits.spelled
    digits = adapter.log_prob(own, spelled, lm_of(model).scorer.classes)
    mixture = head.members_by_name()["mog"].log_prob(context, batch.numerals)
    (-known.sum() - mixture.sum() - digits.sum()).backward()
    for ours, weight in zip(found, learning, strict=True):
        torch.testing.assert_close(ours, weight.grad, rtol=1e-3, atol=1e-5)
    assert min(float(gradient.abs().max()) for gradient in found) > 1e-6


def test_steps_take_paragraphs_whatever_their_length(
    runs: dict[str, Path], cardiac: Path, cache: Path
) -> None:
    """Where all of a step are short, each of their numerals would teach more."""
    states = states_of(open_stored(runs["mog"]), cardiac, cache, "train")
    found = np.zeros((len(states), len(states)))
    epochs = 2000
    for epoch in range(epochs):
        for batch in states.batches(2, np.random.default_rng(epoch)):
            assert len(batch) == 2 or len(states) % 2 == 1
            found[batch[0], batch[-1]] += 1
    pairs = (found + found.T)[~np.eye(len(states), dtype=bool)]
    # Any two come together equally often: within six standard deviations of a binomial.
    expected = epochs / (len(states) - 1 + len(states) % 2)
    assert np.abs(pairs - expected).max() < 6 * math.sqrt(expected)


def test_states_are_read_once(
    cardiac: Path,
    cache: Path,
    runs: dict[str, Path],
    tiny_models: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr(PretrainedLM, "score", refuse)
    for model in ("combination", "d-rnn"):
        result = short(cardiac, tmp_path / model, model, tiny_models, cache)
        before = [json.loads(line) for line in (runs[model] / "log.jsonl").read_text().splitlines()]
        assert [record["dev_loss"] for record in result.history] == pytest.approx(
            [record["dev_loss"] for record in before], rel=1e-6
        )


@pytest.mark.parametrize("finetune", ["lora", "full"])
def test_the_backbone_can_be_trained_too(
    cardiac: Path,
    tiny_models: dict[str, Path],
    tmp_path: Path,
    finetune: str,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    merged: list[int] = []
    using = AdaptedLayers.using

    def watched(layers: AdaptedLayers, weights: Sequence[Tensor]) -> AbstractContextManager[None]:
        merged.append(len(weights))
        return using(layers, weights)

    monkeypatch.setattr(AdaptedLayers, "using", watched)
    folder = tmp_path / "run"
    before = open_backbone(tiny_models["single"]).digest
    result = train(
        cardiac,
        folder,
        model="combination",
        vocabulary=100,
        hidden=8,
        backbone=BackboneChoice(tiny_models["single"], finetune, cache),
        options=TrainingOptions(epochs=2, batch_size=4, learning_rate=0.01),
        device="cpu",
    )
    losses = [record["train_loss"] for record in result.history]
    assert losses[1] < losses[0]
    assert (merged[-1] > 0) == (finetune == "lora"), "adapters are merged while they are trained"
    assert open_backbone(tiny_models["single"]).digest == before
    model = open_stored(folder)
    tuned = {name for name in model.state_dict() if name.startswith("backbone.tuned.")}
    assert tuned
    assert all("lora_" in name for name in tuned) == (finetune == "lora")
    assert lm_of(model).digest != before, "its states are other ones"
    # What is read back is what was trained: the dev loss of the best epoch.
    found = evaluate(folder, split="dev", device="cpu", settings=Settings(cache=cache))
    assert merged[-1] == 0, "for good once it is opened"
    best = result.history[result.best_epoch - 1]
    numerals = found.figures["perplexity"]["numerals"]["pp"]
    assert math.log(numerals) == pytest.approx(math.log(best["dev_numeral_perplexity"]), abs=0.01)
    words = found.figures["perplexity"]["words"]["pp"]
    assert math.log(words) == pytest.approx(math.log(best["dev_word_perplexity"]), abs=0.01)


def test_evaluation_puts_all_in_the_same_tables(
    runs: dict[str, Path], cardiac: Path, cache: Path, tiny_models: dict[str, Path]
) -> None:
    settings = Settings(cache=cache, vocabulary=100)
    reference = f"hf:{tiny_models['single']}"
    options = {"device": "cpu", "limit": 1, "settings": settings, "metrics": "all"}
    bare = evaluate(reference, cardiac, **options)
    ours = evaluate(runs["combination"], cardiac, **options)
    closed = evaluate(runs["h-softmax"], cardiac, **options)
    assert bare.counts["numerals"] == ours.counts["numerals"] > 0
    assert bare.baselines == ours.baselines
    words = [found.figures["perplexity"]["words"] for found in (bare, ours, closed)]
    assert words[0] == pytest.approx(words[1], rel=1e-6)
    assert words[0] == pytest.approx(words[2], rel=1e-6)
    assert words[0]["pp"] == words[0]["app"], "no word is unknown to a pretrained model"
    numerals = closed.figures["perplexity"]["numerals"]
    assert numerals["app"] > numerals["pp"], "numerals are unknown to a closed head"
    assert bare.oracle is not None
    assert bare.oracle["nats_above"]["numerals"] > 0
    again = evaluate(reference, cardiac, **options)
    assert again.figures == bare.figures
    assert set(bare.figures["beyond"]) >= {"crps", "accuracy"}
    assert set(bare.figures["central"]) == {"own", "calibrated"}
    beside = Settings(cache=cache, vocabulary=Vocabulary(("a", "b"), ("<unk-numeral>", "7")))
    fewer = evaluate(reference, cardiac, **{**options, "settings": beside})
    assert fewer.figures["perplexity"]["numerals"]["pp"] == pytest.approx(
        bare.figures["perplexity"]["numerals"]["pp"]
    )
    assert fewer.figures["number_line"] != bare.figures["number_line"], "other candidates"
    # A part of the split is remembered as one, and never replaces the whole.
    metrics = runs["combination"] / "metrics.json"
    assert (bare.limit, ours.limit) == (1, 1)
    ours.save()
    assert read_json(metrics)["limit"] == 1
    replace(ours, limit=None).save()
    ours.save()
    assert read_json(metrics)["limit"] is None
    bare.save()  # there is no run to write into
    assert not Path(reference).exists()


def test_members_by_themselves_say_what_they_say_in_the_mixture(
    runs: dict[str, Path], cardiac: Path, cache: Path
) -> None:
    model = open_stored(runs["combination"])
    corpus = states_of(model, cardiac, cache, "dev")
    batch = corpus.collate(np.arange(len(corpus)))
    order = np.argsort(corpus.rows, kind="stable")  # as the batch has them
    assert isinstance(model.head, CombinationHead)
    assert batch.numerals is not None
    with torch.no_grad():
        each = model.head.log_prob_by_member(model.backbone.contexts(batch), batch.numerals)
    for name, expected in zip(model.members, each.T, strict=True):
        if name == "h-softmax":
            continue
        settings = Settings(cache=cache)
        found = evaluate(
            f"{runs['combination']}:{name}", split="dev", device="cpu", settings=settings
        )
        numerals = found.adjusted[found.targets.is_numeral][order]
        assert numerals == pytest.approx((batch.gates + expected).numpy(), rel=1e-5)
        assert found.name == f"{model.name}: {name}"


def test_states_of_other_layers_are_refused(runs: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(runs["mog"], folder)
    record = read_json(folder / "config.json")
    assert record["backbone"]["layers"] == [1]
    record["backbone"]["layers"] = [2, 3]
    (folder / "config.json").write_text(json.dumps(record))
    with pytest.raises(RunError, match=r"reads the states of layers \[2, 3\], this version those"):
        open_stored(folder)


def test_a_run_remembers_where_its_states_are(
    runs: dict[str, Path],
    cardiac: Path,
    cache: Path,
    tiny_models: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "usual"))
    run = tmp_path / "run"
    shutil.copytree(runs["d-rnn"], run)
    again = BackboneChoice(tiny_models["single"])
    given: Any = {"vocabulary": 100, "hidden": 8, "options": OPTIONS, "device": "cpu"}
    with monkeypatch.context() as patch:
        patch.setattr(PretrainedLM, "score", lambda *_, **__: pytest.fail("read once more"))
        expected = evaluate(run, split="dev", device="cpu").figures
        train(cardiac, run, model="d-rnn", backbone=again, resume=True, **given)
    assert not (tmp_path / "usual").exists()
    other = Settings(cache=tmp_path / "other")
    assert evaluate(run, split="dev", device="cpu", settings=other).figures == expected
    assert (tmp_path / "other").exists(), "an option counts more than memory"
    record = read_json(run / "config.json")
    assert record["cache"] == str(cache)
    (run / "config.json").write_text(json.dumps({**record, "cache": str(tmp_path / "gone")}))
    evaluate(run, split="dev", device="cpu", limit=1)
    assert (tmp_path / "usual" / "numerate").exists()
    assert not (tmp_path / "gone").exists()


def test_bad_input_is_one_line(
    runs: dict[str, Path], cardiac: Path, cache: Path, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    frozen = BackboneChoice(tiny_models["single"], cache=cache)

    def attempt(**choices: object) -> None:
        train(cardiac, tmp_path / "run", vocabulary=100, device="cpu", **choices)  # type: ignore[arg-type]

    with pytest.raises(NumerateError, match="words and class gate are the pretrained"):
        attempt(model="softmax", backbone=frozen)
    with pytest.raises(NumerateError, match="embeddings"):
        attempt(model="mog", backbone=frozen, vectors="glove")
    with pytest.raises(NumerateError, match="finetune"):
        BackboneChoice(tiny_models["single"], "some")
    with pytest.raises(NumerateError, match="--dataset"):
        evaluate(f"hf:{tiny_models['single']}", device="cpu")
    config = json.loads((runs["mog"] / "config.json").read_text())
    moved = tmp_path / "moved"
    moved.mkdir()
    for name in ("vocabulary.json", "model.safetensors", "documents.json"):
        (moved / name).write_bytes((runs["mog"] / name).read_bytes())
    config["backbone"]["path"] = str(tmp_path / "nowhere")
    (moved / "config.json").write_text(json.dumps(config))
    with pytest.raises(RunError, match=r"not at .*nowhere any more"):
        open_stored(moved)
    config["backbone"]["path"] = str(tiny_models["glued"])
    (moved / "config.json").write_text(json.dumps(config))
    with pytest.raises(RunError, match="not the pretrained model this run was made with"):
        open_stored(moved)


def test_a_run_of_0_5_is_opened_unless_several_networks_adapt_its_digits(
    runs: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(runs["lm"], folder)
    config = json.loads((folder / "config.json").read_text())
    config["options"]["ensemble_size"] = config["head"]["ensemble_size"] = 1
    config["backbone"]["number_token_loss"] = 0.3
    (folder / "config.json").write_text(json.dumps(config))
    assert open_stored(folder).head.digit_adapter() is not None
    config["head"]["ensemble_size"] = 16
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(RunError, match="got 16 networks that adapt digits, expected one; train"):
        open_stored(folder)


def test_some_paragraphs_of_a_corpus(cardiac: Path) -> None:
    dataset = Dataset.open(cardiac)
    encoded = dataset.split("train").encode()
    vocabulary = Vocabulary.build(encoded.types, encoded.counts, 100)
    corpus = load_corpora(dataset, vocabulary)["train"]
    taken = corpus.take(np.array([1, 3]))
    assert taken.sources.tolist() == [1, 3]
    for index, source in enumerate(taken.sources):
        for column in ("words", "is_numeral"):
            found = getattr(taken, column)[taken.offsets[index] : taken.offsets[index + 1]]
            expected = getattr(corpus, column)[corpus.offsets[source] : corpus.offsets[source + 1]]
            assert found.tolist() == expected.tolist()
        numerals = corpus.rows[corpus.numerals_of(np.array([source]))]
        assert taken.rows[taken.numerals_of(np.array([index]))].tolist() == numerals.tolist()
    assert len(taken) == 2
    assert len(corpus) > 2


def test_a_combination_of_chosen_members(
    runs: dict[str, Path], cardiac: Path, cache: Path, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    arguments = ["train", str(cardiac), "--out", str(tmp_path / "run"), "--device", "cpu"]
    arguments += ["--model", "combination", "--members", "d-rnn,lm", "--epochs", "1"]
    arguments += ["--backbone", f"hf:{tiny_models['single']}", "--cache", str(cache)]
    arguments += ["--vocabulary", "100", "--hidden", "8"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    model = open_stored(tmp_path / "run")
    assert model.members == ("d-rnn", "lm")
    reading, own = read(model, cardiac, "test", 1)
    weights = model.mixture_weights(reading.context)
    assert weights.shape == (len(own.numerals), 2)
    members = [member.log_prob(reading.context, reading.corpus.table.batch(reading.corpus.rows))
               for member in model.head.members_by_name().values()]  # fmt: skip
    each = torch.stack(members, dim=1).detach().numpy()
    expected = np.log((weights * np.exp(each)).sum(1))
    np.testing.assert_allclose(model.numeral_log_probs(reading), expected, atol=1e-5)
