"""Runs from dataset to folder: learning, stopping, interrupting, failing."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.datasets import replace_rows

from numerate.errors import DatasetError, FailureError, NumerateError, RunError
from numerate.lm.data.batching import load_corpora
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.prepare import prepare
from numerate.lm.data.tensor_file import load_tensors, save_tensors
from numerate.lm.heads.registry import paper_heads
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.opening import open_stored
from numerate.lm.model.run_folder import RunFolder
from numerate.lm.train.loop import Trainer
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.report import TensorBoardReporter
from numerate.lm.train.run import train


@pytest.fixture(scope="module")
def cardiac(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "cardiac"
    prepare("cardiac", folder, documents=100)
    return folder


def options(**changes: Any) -> TrainingOptions:
    return TrainingOptions(**{"epochs": 2, "batch_size": 20, **changes})


def quick(dataset: Path, out: Path, **changes: Any) -> Any:
    choices = {"model": "h-softmax", "vocabulary": 200, "hidden": 8, "device": "cpu", **changes}
    return train(dataset, out, **{"options": options(), **choices})


class Recorder:
    """A reporter that interrupts, as Ctrl-C does, after so many steps."""

    def __init__(self, interrupt_after: int | None = None) -> None:
        self.steps = 0
        self.epochs: list[dict[str, Any]] = []
        self.interrupt_after = interrupt_after

    def on_start(self, options: TrainingOptions, tokens: int, epoch: int) -> None:
        self.tokens = tokens

    def on_step(self, epoch: int, tokens: int, loss: float | None) -> None:
        self.steps += 1
        if self.steps == self.interrupt_after:
            raise KeyboardInterrupt

    def on_epoch(self, record: dict[str, Any]) -> None:
        self.epochs.append(record)


@pytest.mark.parametrize("model", paper_heads())
def test_every_model_learns(cardiac: Path, tmp_path: Path, model: str) -> None:
    result = quick(cardiac, tmp_path / "run", model=model, options=options(epochs=3))
    losses = [record["dev_loss"] for record in result.history]
    assert losses[2] < losses[1] < losses[0]
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "config.json",
        "documents.json",
        "environment.json",
        "log.jsonl",
        "model.safetensors",
        "vocabulary.json",
    ]
    lines = (tmp_path / "run" / "log.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == result.history
    assert open_stored(tmp_path / "run").config.model == model


def test_the_dates_of_a_run_are_noted(cardiac: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    quick(cardiac, run)
    noted = RunFolder(run).environment()
    assert noted["started"] <= noted["finished"]
    os.utime(run / "model.safetensors", (0, 0))  # as a copy may have another
    assert RunFolder(run).environment() == noted
    (run / "environment.json").unlink()
    assert RunFolder(run).environment() == {}


def test_the_best_weights_are_restored(cardiac: Path, tmp_path: Path) -> None:
    # So high a rate that the dev loss goes up and down.
    rough = options(epochs=20, learning_rate=20.0, patience=1)
    result = quick(cardiac, tmp_path / "run", options=rough)
    losses = [record["dev_loss"] for record in result.history]
    assert losses[-1] > min(losses)
    assert result.best_epoch == losses.index(min(losses)) + 1
    model = open_stored(tmp_path / "run")
    corpora = load_corpora(Dataset.open(cardiac), model.vocabulary)
    batch = corpora["dev"].collate(torch.arange(len(corpora["dev"])).numpy())
    tokens = batch.word_count + batch.numeral_count
    assert model(batch).item() / tokens == pytest.approx(min(losses), rel=1e-5)


def test_training_stops_when_the_dev_loss_stops_falling(cardiac: Path, tmp_path: Path) -> None:
    fast = options(epochs=80, learning_rate=1.0, patience=2)
    result = quick(cardiac, tmp_path / "run", options=fast)
    assert len(result.history) < 80
    assert len(result.history) == result.best_epoch + 2


def test_the_rate_is_halved_when_the_dev_loss_does_not_fall(
    cardiac: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = iter([5.0, 4.0, 4.5, 4.0, 4.1, 3.9, 4.2, 4.2])
    monkeypatch.setattr(
        Trainer,
        "dev_losses",
        lambda self: dict.fromkeys(("loss", "words", "numerals"), next(losses)),
    )
    plan = options(epochs=8, learning_rate=0.08, halve_after=2, patience=5)
    result = quick(cardiac, tmp_path / "run", options=plan)
    rates = [record["learning_rate"] for record in result.history]
    assert rates == [0.08, 0.08, 0.08, 0.08, 0.04, 0.04, 0.04, 0.04]
    assert result.best_epoch == 6


def test_the_same_seed_gives_the_same_weights(cardiac: Path, tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        quick(cardiac, tmp_path / name, options=options(epochs=1, seed=seed))
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in "abc"]
    assert weights[0] == weights[1]
    assert weights[0] != weights[2]


def test_an_interrupt_keeps_the_best_weights_and_can_be_resumed(
    cardiac: Path, tmp_path: Path
) -> None:
    whole = quick(cardiac, tmp_path / "whole", options=options(epochs=3))
    steps = 3 * 4  # 70 training paragraphs in batches of 20
    recorder = Recorder(interrupt_after=steps // 2 + 1)
    result = quick(cardiac, tmp_path / "cut", options=options(epochs=3), reporter=recorder)
    assert result.state == "interrupted"
    assert len(result.history) == 1
    open_stored(tmp_path / "cut")  # usable as it is
    result = quick(cardiac, tmp_path / "cut", options=options(epochs=3), resume=True)
    assert result.state == "finished"
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "cut")]
    assert weights[0] == weights[1]
    times = ("seconds", "tokens_per_second")
    for mine, theirs in zip(result.history, whole.history, strict=True):
        assert {k: v for k, v in mine.items() if k not in times} == {
            k: v for k, v in theirs.items() if k not in times
        }


def test_a_finished_run_is_not_trained_again(cardiac: Path, tmp_path: Path) -> None:
    first = quick(cardiac, tmp_path / "run")
    recorder = Recorder()
    again = quick(cardiac, tmp_path / "run", resume=True, reporter=recorder)
    assert recorder.steps == 0
    assert again.history == first.history
    with pytest.raises(RunError, match="finished with other options: hidden was 8, got 9"):
        quick(cardiac, tmp_path / "run", resume=True, hidden=9)
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    del config["training"]  # a spoilt folder is told in one line too
    (tmp_path / "run" / "config.json").write_text(json.dumps(config))
    with pytest.raises(RunError, match="finished with other options: "):
        quick(cardiac, tmp_path / "run", resume=True)


def test_the_log_grows_with_every_epoch(cardiac: Path, tmp_path: Path) -> None:
    lengths = []

    class Look(Recorder):
        def on_epoch(self, record: dict[str, Any]) -> None:
            lengths.append(len((tmp_path / "run" / "log.jsonl").read_text().splitlines()))

    quick(cardiac, tmp_path / "run", options=options(epochs=3), reporter=Look())
    assert lengths == [1, 2, 3]


def test_tensorboard_gets_the_figures_of_every_epoch(cardiac: Path, tmp_path: Path) -> None:
    quick(cardiac, tmp_path / "run", reporter=TensorBoardReporter(tmp_path / "run"))
    (events,) = (tmp_path / "run" / "tensorboard").iterdir()
    content = events.read_bytes()
    for name in (b"dev_loss", b"dev_word_perplexity", b"dev_numeral_perplexity", b"train_loss"):
        assert content.count(name) == 2


def interrupted(cardiac: Path, folder: Path) -> Path:
    quick(cardiac, folder, reporter=Recorder(interrupt_after=6))
    return folder / "checkpoint.safetensors"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[: len(data) // 2], "broken"),
        (lambda data: b"", "broken"),
        (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "does not match its digest"),
    ],
)
def test_a_damaged_checkpoint_is_refused(
    cardiac: Path, tmp_path: Path, damage: Any, message: str
) -> None:
    checkpoint = interrupted(cardiac, tmp_path / "run")
    checkpoint.write_bytes(damage(checkpoint.read_bytes()))
    with pytest.raises(RunError, match=message):
        quick(cardiac, tmp_path / "run", resume=True)


def test_a_checkpoint_of_0_5_goes_on(cardiac: Path, tmp_path: Path) -> None:
    """Its options name the networks that adapt digits, of which there is one."""
    checkpoint = interrupted(cardiac, tmp_path / "run")
    tensors, metadata = load_tensors(checkpoint, "numerate checkpoint 1")
    identity = json.loads(metadata["identity"])
    identity["options"]["ensemble_size"] = 1
    metadata["identity"] = json.dumps(identity)
    save_tensors(checkpoint, "numerate checkpoint 1", tensors, metadata)
    assert quick(cardiac, tmp_path / "run", resume=True).state == "finished"


def test_a_foreign_checkpoint_is_refused(cardiac: Path, tmp_path: Path) -> None:
    checkpoint = interrupted(cardiac, tmp_path / "run")
    with pytest.raises(RunError, match=r"another run: learning_rate was 0\.01, got 0\.02"):
        quick(cardiac, tmp_path / "run", resume=True, options=options(learning_rate=0.02))
    prepare("cardiac", tmp_path / "other", documents=100, seed=2)
    with pytest.raises(RunError, match="another run: dataset was"):
        quick(tmp_path / "other", tmp_path / "run", resume=True)
    quick(cardiac, tmp_path / "finished")
    checkpoint.write_bytes((tmp_path / "finished" / "model.safetensors").read_bytes())
    with pytest.raises(RunError, match="of another kind"):
        quick(cardiac, tmp_path / "run", resume=True)


def test_a_loss_that_is_not_finite_stops_the_run(
    cardiac: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = NumeralLM.forward
    calls = 0

    def poisoned(self: NumeralLM, batch: Any) -> torch.Tensor:
        nonlocal calls
        calls += 1
        loss: torch.Tensor = original(self, batch)
        return loss * float("nan") if calls == 6 else loss

    monkeypatch.setattr(NumeralLM, "forward", poisoned)
    with pytest.raises(
        FailureError, match=r"not finite in epoch 2, batch 2 of 4 .* weights of epoch 1"
    ):
        quick(cardiac, tmp_path / "run")
    model = open_stored(tmp_path / "run")
    assert all(torch.isfinite(parameter).all() for parameter in model.parameters())
    assert json.loads((tmp_path / "run" / "config.json").read_text())["state"] == "failed"


class OnlyLook(Recorder):
    """Stops before the first step."""

    def on_start(self, options: TrainingOptions, tokens: int, epoch: int) -> None:
        raise KeyboardInterrupt


@pytest.mark.parametrize("model", paper_heads())
def test_word_vectors_start_the_embeddings(cardiac: Path, tmp_path: Path, model: str) -> None:
    """Of words and numerals, of input and output; d-rnn and mog write numerals without any."""
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("the 1 2 3\nof 4 5 6\n140 7 8 9\n")
    choices: dict[str, Any] = {"hidden": 3, "vectors": str(vectors), "reporter": OnlyLook()}
    result = quick(cardiac, tmp_path / "run", model=model, **choices)
    assert result.vectors is not None
    assert "words have a vector" in result.vectors
    loaded = open_stored(tmp_path / "run")
    word, numeral = loaded.vocabulary.word_ids()["the"], loaded.vocabulary.numeral_ids()["140"]
    weights = loaded.weights()
    outside = {"backbone.embedding.words", "backbone.embedding.numerals", "backbone.words.weight"}
    tables = {
        name: weights[name][word if "words" in name else numeral].tolist()
        for name in weights
        if name in outside or name.endswith("tokens")
    }
    assert len(tables) == (3 if model in {"d-rnn", "mog"} else 4)
    for name, vector in tables.items():
        assert vector == ([1, 2, 3] if "words" in name else [7, 8, 9]), name


@pytest.mark.parametrize("model", ["mog", "combination"])
def test_mixed_precision_leaves_the_mixture_alone(
    cardiac: Path, tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from numerate.lm.heads.mixture import MixtureHead
    from numerate.lm.heads.recurrent import is_fused

    seen: set[torch.dtype] = set()
    original = MixtureHead.log_weights

    def watched(self: MixtureHead, hidden: torch.Tensor) -> torch.Tensor:
        seen.add(hidden.dtype)
        result = original(self, hidden)
        assert result.dtype == self.log_masses(next(iter(tables))).dtype == torch.float64
        return result

    tables: list[Any] = []
    init = Trainer.__init__

    def remember(self: Trainer, *arguments: Any, **named: Any) -> None:
        init(self, *arguments, **named)
        tables.append(self.train_corpus.table)

    monkeypatch.setattr(Trainer, "__init__", remember)
    monkeypatch.setattr(MixtureHead, "log_weights", watched)
    mixed = options(mixed_precision="bf16")
    result = quick(cardiac, tmp_path / "run", model=model, options=mixed)
    # The network itself ran in mixed precision, where this processor's LSTM can.
    assert (torch.bfloat16 in seen) == is_fused(torch.bfloat16)
    losses = [record["dev_loss"] for record in result.history]
    assert losses[1] < losses[0]


def test_bad_input(cardiac: Path, tmp_path: Path) -> None:
    quick(cardiac, tmp_path / "run")
    with pytest.raises(NumerateError, match="already exists"):
        quick(cardiac, tmp_path / "run")
    quick(cardiac, tmp_path / "run", force=True)
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.txt").write_text("irreplaceable")
    with pytest.raises(NumerateError, match="not a run"):
        quick(cardiac, tmp_path / "precious", force=True)
    assert (tmp_path / "precious" / "thesis.txt").exists()
    with pytest.raises(NumerateError, match="vocabulary larger than the corpus"):
        quick(cardiac, tmp_path / "x", vocabulary=10**6)
    with pytest.raises(NumerateError, match="did you mean d-rnn"):
        quick(cardiac, tmp_path / "x", model="drnn")
    with pytest.raises(NumerateError, match="device 'warp' cannot be used"):
        quick(cardiac, tmp_path / "x", device="warp")
    for name, value in (
        ("epochs", 0),
        ("batch_size", 0),
        ("learning_rate", 0.0),
        ("learning_rate", float("nan")),
        ("patience", 0),
        ("mixed_precision", "fp8"),
    ):
        with pytest.raises(NumerateError, match=f"{name}: got"):
            options(**{name: value})
    assert not (tmp_path / "x").exists()


def test_a_combination_of_chosen_members(cardiac: Path, tmp_path: Path) -> None:
    quick(cardiac, tmp_path / "run", model="combination", members=("d-rnn", "mog"))
    assert open_stored(tmp_path / "run").members == ("d-rnn", "mog")
    again: Any = {"model": "combination", "resume": True}
    with pytest.raises(RunError, match=r"other options: options\.members was \['d-rnn', 'mog'\]"):
        quick(cardiac, tmp_path / "run", members=("mog",), **again)


@pytest.mark.parametrize(
    ("choices", "reason"),
    [
        ({"members": ("d-rnn", "drnn")}, "unknown model 'drnn': did you mean d-rnn?"),
        ({"members": ("mog", "d-rnn", "mog")}, "members: .*; 'mog' cannot be one of them twice"),
        ({"members": ("d-rnn", "softmax")}, "members: .*; 'softmax' cannot be one of them$"),
        ({"members": ("d-rnn", "combination")}, "'combination' cannot be one of them$"),
        ({"members": ("h-softmax",)}, "members: got h-softmax, expected one .* any numeral$"),
        ({"members": ("d-rnn", "lm")}, "head 'lm': .* it needs --backbone$"),
        ({"model": "lm"}, "head 'lm': .* it needs --backbone$"),
        ({"model": "mog", "members": ("d-rnn",)}, "members: got d-rnn for mog"),
    ],
)
def test_heads_that_cannot_be_are_refused_in_one_line(
    cardiac: Path, tmp_path: Path, choices: dict[str, Any], reason: str
) -> None:
    with pytest.raises(NumerateError, match=reason) as caught:
        quick(cardiac, tmp_path / "run", **{"model": "combination", **choices})
    assert len(str(caught.value).splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_a_dataset_that_cannot_be_trained_on(cardiac: Path, tmp_path: Path) -> None:
    manifest = json.loads((cardiac / "manifest.json").read_text())
    broken = tmp_path / "broken"
    broken.mkdir()
    for path in cardiac.iterdir():
        (broken / path.name).write_bytes(path.read_bytes())

    def refuses(changed: dict[str, Any], message: str) -> None:
        (broken / "manifest.json").write_text(json.dumps(changed))
        with pytest.raises(DatasetError, match=message):
            quick(broken, tmp_path / "x")
        assert not (tmp_path / "x").exists()

    refuses({**manifest, "version": 99}, "another version: got 99, expected 1")
    (broken / "dev-00000.parquet").unlink()
    refuses(manifest, "incomplete dataset: dev-00000.parquet is missing")
    replace_rows(broken, "dev", None)
    refuses(json.loads((broken / "manifest.json").read_text()), "dev split is empty")
