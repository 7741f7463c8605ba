"""The likeliest candidate is that of the whole table, though few of its nodes are read."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.lm.backbones.pretrained.conftest import paragraph, shaken

from numerate.lm.backbones.pretrained.branches import Branches
from numerate.lm.backbones.pretrained.language_model import PretrainedLM
from numerate.lm.backbones.pretrained.ranking import Ranking
from numerate.lm.backbones.spelling.best_first import Beside
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.data.prepare import prepare
from numerate.lm.evaluate.evaluate import evaluate
from numerate.lm.model.opening import Settings
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.over_backbone import BackboneChoice
from numerate.lm.train.run import train

KINDS = ("single", "glued", "metaspace", "mixed", "gpt2")
TEXT = (
    "a dose of 5mg in 1,234 of 2000 patients (61.7%) and 10% of 120, 7, 8 and 9 after 3 months "
    "was 54.3 and 0.05 as in 1,23."
)
CANDIDATES = NumeralTable(
    [
        *(str(value) for value in range(120)),
        *(f"{value / 10:.1f}" for value in range(200)),
        *("1000", "2000", "1234", "1234567", "0.05", "0.001", "12345678901234"),
    ]
)
Models = dict[str, PretrainedLM]


@contextmanager
def reading(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many nodes each pass reads."""
    passes: list[int] = []
    original = Branches.read

    def counted(self: Branches, parents: list[int], *rest: list[int]) -> torch.Tensor:
        passes.append(len(parents))
        return original(self, parents, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(Branches, "read", counted)
        yield passes


@pytest.mark.parametrize("adapted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_best_of_the_whole_table(
    kind: str, adapted: bool, language_models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = language_models[kind]
    adapter = shaken(lm) if adapted else None
    plan = lm.lay_out([paragraph(TEXT)])[0].windows[0]
    table = lm.table(plan, CANDIDATES, adapter=adapter)
    with reading(monkeypatch) as passes:
        np.testing.assert_array_equal(lm.best(plan, CANDIDATES, adapter=adapter), table.argmax(1))
    assert 0 < sum(passes) < 60 * len(table), "of 600 nodes and more"
    generator = np.random.default_rng(1)
    share = generator.random(len(table))
    others = np.exp(generator.normal(-6, 2, table.shape))
    together = share[:, None] * np.exp(table) + others
    assert (together.argmax(1) != table.argmax(1)).any()
    found = lm.best(plan, CANDIDATES, Beside(share, others), adapter)
    np.testing.assert_array_equal(found, together.argmax(1))


@pytest.mark.parametrize("at_once", [1, 3, 10_000])
def test_how_much_is_read_at_once_changes_nothing(
    at_once: int, language_models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = language_models["glued"]
    plan = lm.lay_out([paragraph(TEXT)])[0].windows[0]
    expected = lm.table(plan, CANDIDATES).argmax(1)
    monkeypatch.setattr("numerate.lm.backbones.pretrained.ranking.AT_ONCE", {"cpu": at_once})
    with reading(monkeypatch) as passes:
        np.testing.assert_array_equal(lm.best(plan, CANDIDATES), expected)
    assert max(passes) <= at_once * len(expected)


def test_models_that_take_no_masks(
    language_models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = language_models["single"]
    plan = lm.lay_out([paragraph("from 12.5 (5) to 100")])[0].windows[0]
    expected = lm.best(plan, CANDIDATES)
    monkeypatch.setattr(lm.scorer, "takes_masks", False)
    np.testing.assert_array_equal(lm.best(plan, CANDIDATES), expected)


def test_one_candidate_and_no_numeral(language_models: Models) -> None:
    lm = language_models["single"]
    search = Ranking(lm.scorer, lm.tokens, ["5"])
    assert search.best(lm.lay_out([paragraph("7 of 8")])[0].windows[0]).tolist() == [0, 0]
    assert search.best(lm.lay_out([paragraph("none")])[0].windows[0]).tolist() == []


@pytest.fixture(scope="module")
def cardiac(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "cardiac"
    prepare("cardiac", folder, documents=20)
    return folder


@pytest.fixture(scope="module")
def run(
    cardiac: Path, tiny_models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    options = TrainingOptions(epochs=2, batch_size=4, learning_rate=0.003)
    backbone = BackboneChoice(tiny_models["single"], cache=folder.parent / "cache")
    train(cardiac, folder, vocabulary=100, hidden=8, backbone=backbone, options=options)
    return folder


@pytest.mark.parametrize("which", ["hf", "run", "member"])
def test_the_number_line_is_that_of_the_tables(
    which: str,
    cardiac: Path,
    run: Path,
    tiny_models: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Found by search, in two goes; with all figures, from tables; then from these again, where
    they are of no more numerals than are searched: a run is asked for those it is used with too."""
    model = {"hf": f"hf:{tiny_models['single']}", "run": run, "member": f"{run}:lm"}[which]
    settings = Settings(cache=tmp_path)

    def figures(*, metrics: str = "paper", limit: int | None = None) -> dict[str, float]:
        found = evaluate(
            model, cardiac, metrics=metrics, limit=limit, device="cpu", settings=settings
        )
        line: dict[str, float] = found.figures["number_line"]
        return line

    def refuse(*_: object) -> None:
        raise AssertionError("searched again")

    figures(limit=2)
    with reading(monkeypatch) as passes:
        searched = figures()
    assert passes
    with monkeypatch.context() as patch:
        patch.setattr(Ranking, "best", refuse)
        assert figures() == searched
        assert figures(metrics="all") == searched
        for path in tmp_path.rglob("*-best*.npy"):
            path.unlink()
        if which == "hf":
            assert figures() == searched
