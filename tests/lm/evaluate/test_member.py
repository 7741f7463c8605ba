"""Members of a combination by themselves: each says what it says inside the mixture."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from numerate.cli.evaluate_command import evaluate_runs
from numerate.errors import RunError
from numerate.lm.data.batching import load_corpora
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.prepare import prepare
from numerate.lm.evaluate.evaluate import evaluate
from numerate.lm.heads.combination import CombinationHead
from numerate.lm.model import run_reference
from numerate.lm.model.opening import open_stored
from numerate.lm.model.run_reference import split_reference
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.run import train


@pytest.fixture(scope="module")
def cardiac(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "cardiac"
    prepare("cardiac", folder, documents=20)
    return folder


@pytest.fixture(scope="module")
def make(cardiac: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("runs")

    def run(model: str) -> Path:
        if not (folder / model).exists():
            options = TrainingOptions(epochs=3, batch_size=3, learning_rate=0.03)
            sizes = {"vocabulary": 150, "hidden": 6}
            train(cardiac, folder / model, model=model, device="cpu", options=options, **sizes)
        return folder / model

    return run


def test_a_member_says_what_it_says_in_the_mixture(
    make: Callable[[str], Path], cardiac: Path
) -> None:
    """One numeral at a time, through the mixture's own parts."""
    run = make("combination")
    model = open_stored(run)
    head = model.head
    assert isinstance(head, CombinationHead)
    corpus = load_corpora(Dataset.open(cardiac), model.vocabulary)["test"]
    expected: dict[str, list[float]] = {name: [] for name in model.members}
    with torch.no_grad():
        for index in range(len(corpus)):
            batch = corpus.collate(np.array([index]))
            assert batch.numerals is not None
            _, places = batch.by_class(batch.positions)
            context = model.backbone.contexts(batch)
            each = head.log_prob_by_member(context, batch.numerals)
            gates = torch.sigmoid(context.hidden @ model.backbone.words.gate).log()
            each = each + gates[:, None]
            order = places.argsort()  # as they stand in the paragraph
            for name, column in zip(model.members, each[order].T, strict=True):
                expected[name] += column.tolist()
    whole = evaluate(run, device="cpu")
    for name in ("d-rnn", "mog"):
        found = evaluate(f"{run}:{name}", device="cpu")
        numeral = found.targets.is_numeral
        assert found.adjusted[numeral] == pytest.approx(expected[name], rel=1e-5)
        assert found.adjusted[~numeral] == pytest.approx(whole.adjusted[~numeral], rel=1e-6)
        assert found.name == f"combination: {name}"
        assert found.adjusted[numeral] != pytest.approx(whole.adjusted[numeral], rel=1e-3)


def test_a_member_is_compared_with_its_combination(
    make: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    run = make("combination")
    before = sorted(run.parent.rglob("*"))
    evaluate_runs(
        [f"{run}:mog", f"{run}:d-rnn"],
        None,
        split="test",
        metrics="paper",
        confidence=None,
        compared=True,
        oov_set="all",
        format="markdown",
        device="cpu",
    )
    assert "combination: mog against combination: d-rnn" in capsys.readouterr().out
    assert sorted(run.parent.rglob("*")) == before, "a member has no folder to write into"


@pytest.mark.parametrize(
    ("model", "member", "message"),
    [
        ("combination", "h-softmax", "numerals that it does not know; expected one of d-rnn, mog"),
        ("combination", "lm", "member 'lm'; expected one of d-rnn, mog"),
        ("mog", "mog", "mog has no members, so no 'mog'"),
        ("softmax", "mog", "softmax has no members, so no 'mog'"),
    ],
)
def test_what_is_no_member_is_refused(
    make: Callable[[str], Path], model: str, member: str, message: str
) -> None:
    with pytest.raises(RunError, match=message):
        evaluate(f"{make(model)}:{member}", device="cpu")


def test_a_folder_may_have_a_colon_in_its_name(tmp_path: Path) -> None:
    for name in ("run", "run:mog"):
        (tmp_path / name).mkdir()
    assert split_reference(tmp_path / "run:mog") == (tmp_path / "run:mog", None)
    assert split_reference(tmp_path / "run:d-rnn") == (tmp_path / "run", "d-rnn")
    assert split_reference(tmp_path / "nothing:mog") == (tmp_path / "nothing:mog", None)


def test_an_installed_model_has_a_folder_too() -> None:
    folder, member = split_reference("articles")
    assert ((folder / "config.json").is_file(), member) == (True, None)


def test_a_folder_that_is_called_as_an_installed_model_stays_as_it_is(
    make: Callable[[str], Path], cardiac: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a folder of articles, which are to be read with the model `articles`."""
    monkeypatch.setattr(run_reference, "language_model_of", lambda _: str(make("mog")))
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / "articles" / "metrics.json"
    mine.parent.mkdir()
    mine.write_text("mine")
    evaluate("articles", cardiac, device="cpu").save()
    assert mine.read_text() == "mine"
    assert [path.name for path in mine.parent.iterdir()] == ["metrics.json"]
