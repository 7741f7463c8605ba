"""A run with a transformer is used like any other: trained, resumed, evaluated, asked, checked."""

import json
from pathlib import Path
from typing import Any

import pytest

import numerate
from numerate.cli import main
from numerate.errors import RunError
from numerate.lm.evaluate.evaluate import evaluate
from numerate.lm.model.config import NetworkConfig
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.opening import open_stored
from numerate.lm.model.run_folder import RunFolder
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.run import RunResult, train

NETWORK = NetworkConfig("transformer", layers=2, heads=2)


def quick(dataset: Path, out: Path, epochs: int = 2, **changes: Any) -> RunResult:
    choices: dict[str, Any] = {"model": "combination", "backbone": NETWORK, **changes}
    options = TrainingOptions(epochs=epochs, batch_size=10, learning_rate=0.005)
    return train(dataset, out, vocabulary=300, hidden=16, options=options, device="cpu", **choices)


class Interrupt:
    """As Ctrl-C does, after so many steps."""

    def __init__(self, after: int) -> None:
        self.left = after

    def on_start(self, options: TrainingOptions, tokens: int, epoch: int) -> None:
        pass

    def on_step(self, epoch: int, tokens: int, loss: float | None) -> None:
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt

    def on_epoch(self, record: dict[str, Any]) -> None:
        pass


@pytest.fixture(scope="module")
def result(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    return quick(dataset, tmp_path_factory.mktemp("runs") / "transformer")


@pytest.fixture(scope="module")
def lm(result: RunResult) -> NumeralLM:
    return numerate.load(result.folder)


def test_it_learns(result: RunResult) -> None:
    first, last = result.history[0], result.history[-1]
    for figure in ("train_loss", "dev_loss", "dev_word_perplexity"):
        assert last[figure] < 0.97 * first[figure]


def test_words_and_numerals_in_one_softmax_can_have_one(dataset: Path, tmp_path: Path) -> None:
    (epoch,) = quick(dataset, tmp_path / "run", epochs=1, model="softmax+rnn").history
    assert epoch["dev_loss"] < epoch["train_loss"]
    open_stored(tmp_path / "run")


def test_it_is_stored_and_shown(result: RunResult, lm: NumeralLM, tmp_path: Path) -> None:
    config = json.loads((result.folder / "config.json").read_text())
    assert config["network"] == {"kind": "transformer", "layers": 2, "heads": 2, "inputs": "digits"}
    assert lm.config.network == NETWORK
    lm.save_pretrained(tmp_path / "shared")
    card = (tmp_path / "shared" / "README.md").read_text()
    for option, value in (("backbone", "transformer"), ("layers", 2), ("heads", 2)):
        assert f"| {option} | {value} |" in " ".join(card.split())
    assert numerate.load(tmp_path / "shared").config.network == NETWORK


def test_the_network_of_a_run_is_the_papers_unless_told(dataset: Path, tmp_path: Path) -> None:
    run = RunFolder(quick(dataset, tmp_path / "run", 1, model="mog", backbone=None).folder)
    assert run.config().network_options == {
        "backbone": "lstm",
        "layers": 1,
        "heads": None,
        "inputs": None,
    }
    config = json.loads((run.path / "config.json").read_text())
    assert config["network"] == {"kind": "lstm", "layers": 1, "heads": 1, "inputs": "digits"}


def test_it_is_evaluated_asked_and_checked(lm: NumeralLM, result: RunResult) -> None:
    figures = evaluate(result.folder, device="cpu").figures
    assert 1 < figures["perplexity"]["words"]["pp"] < result.history[0]["dev_word_perplexity"]
    text = "LV ejection fraction is 55%, volume 140.5 mL, age 61 years."
    assert 0 < lm.predict("LV ejection fraction is").median() < 1000
    assert lm.predict("LV ejection fraction is ___ %, volume 140").median() > 0
    assert len(lm.rank(["The age is 61 years", "The age is 6111.5 years"]).claims) == 2
    wrong = text.replace("61", "98765.4321")
    found = [finding.numeral for finding in lm.check(wrong, alarms=0.1)]
    assert "98765.4321" in found


def test_what_was_interrupted_goes_on_as_if_nothing_had_been(
    dataset: Path, tmp_path: Path, result: RunResult
) -> None:
    cut = quick(dataset, tmp_path / "run", reporter=Interrupt(after=12))
    assert cut.state == "interrupted"
    with pytest.raises(RunError, match=r"another run: network\.heads was 2, got 1"):
        quick(dataset, tmp_path / "run", resume=True, backbone=NetworkConfig("transformer"))
    again = quick(dataset, tmp_path / "run", resume=True)
    weights = [(r.folder / "model.safetensors").read_bytes() for r in (again, result)]
    assert weights[0] == weights[1]
    with pytest.raises(RunError, match=r"other options: network\.heads was 2, got 1"):
        quick(dataset, tmp_path / "run", resume=True, backbone=None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--backbone", "gpt"], "unknown backbone 'gpt': expected one of lstm, transformer, hf:P"),
        (["--backbone", "transformer", "--heads", "3"], "heads: got 3 for hidden size 64"),
        (["--backbone", "transformer", "--layers", "0"], "layers: got 0, expected 1 to 100"),
        (["--heads", "2"], "heads: got 2 for an LSTM, which has no attention"),
        (["--backbone", "hf:nowhere", "--layers", "2"], "layers: got 2, but a pretrained backbone"),
        (["--backbone", "transformer", "--finetune", "lora"], "finetune lora: got backbone trans"),
    ],
)
def test_bad_options_are_told_in_one_line(
    dataset: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    message: str,
) -> None:
    arguments = ["numerate", "train", str(dataset), "--out", str(tmp_path / "run"), *options]
    monkeypatch.setattr("sys.argv", arguments)
    with pytest.raises(SystemExit) as ended:
        main()
    (line,) = capsys.readouterr().err.splitlines()
    assert ended.value.code == 2
    assert message in line
    assert not (tmp_path / "run").exists()
