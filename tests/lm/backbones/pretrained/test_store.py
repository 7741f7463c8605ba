"""Scores on disk are made once; an interrupted pass goes on where it stopped."""

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from numerate.errors import BackboneError
from numerate.lm.backbones.pretrained import store as stores
from numerate.lm.backbones.pretrained.backbone import open_backbone
from numerate.lm.backbones.pretrained.block_reader import as_half
from numerate.lm.backbones.pretrained.language_model import PretrainedLM
from numerate.lm.backbones.pretrained.store import Store, remembered_cache
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.data.prepare import prepare
from numerate.places import default_cache
from numerate.text.reading_rules import ReadingRules

CANDIDATES = ["5", "7", "60", "120"]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("store") / "cardiac"
    prepare("cardiac", folder, documents=20, seed=3)
    return Dataset.open(folder)


@pytest.fixture
def lm(tiny_models: dict[str, Path]) -> PretrainedLM:
    return PretrainedLM(open_backbone(tiny_models["single"]), start=0)


class Counting:
    """Counts the paragraphs that are scored, and stops after some."""

    def __init__(self, lm: PretrainedLM, monkeypatch, stop_after: int | None = None) -> None:
        self.paragraphs = 0
        score = lm.score

        def counted(paragraphs, **choices):
            if stop_after is not None and self.paragraphs >= stop_after:
                raise KeyboardInterrupt
            self.paragraphs += len(paragraphs)
            return score(paragraphs, **choices)

        monkeypatch.setattr(lm, "score", counted)


def test_what_is_stored_is_what_the_model_says(tmp_path: Path, lm, dataset) -> None:
    split = Store(tmp_path, lm, dataset).split("test")
    split.fill()
    found = lm.score(lm.lay_out(split.paragraphs))
    np.testing.assert_allclose(split.targets, np.concatenate([s.targets for s in found]), atol=1e-4)
    np.testing.assert_allclose(split.gates, np.concatenate([s.gates for s in found]), atol=1e-4)
    numerals = np.concatenate([s.numerals for s in found])
    np.testing.assert_allclose(split.numerals, numerals, atol=1e-4)
    states = np.concatenate([s.states for s in found])
    np.testing.assert_allclose(split.states, states, atol=5e-3)
    assert split.states.dtype == np.float16
    assert isinstance(split.states, np.memmap)
    assert split.states.shape == (len(split.numerals), lm.scorer.state_size)


def test_details_are_gathered_for_numerals_in_any_order(tmp_path: Path, lm, dataset) -> None:
    split = Store(tmp_path, lm, dataset).split("test")
    split.fill(detailed=True)
    numerals = np.random.default_rng(1).permutation(len(split.numerals))[:25]
    batch = split.details.gather(numerals, torch.device("cpu"))
    assert batch is not None
    laid_out = lm.lay_out(split.paragraphs)
    trees = [tree for one in laid_out for tree in one.trees]
    scores = lm.score(laid_out, detailed=True)
    costs, closings = (
        np.concatenate([getattr(score, name) for score in scores])
        for name in ("node_costs", "node_closings")
    )
    nodes = np.cumsum([0, *(len(tree.parents) if tree else 0 for tree in trees)])
    ends = np.cumsum([0, *(len(tree.closings) if tree else 0 for tree in trees)])
    tokens = [trees[index].tokens[1:] for index in numerals if trees[index]]
    steps = len(batch.forest.below)
    np.testing.assert_array_equal(batch.forest.edges[1, :steps], np.concatenate(tokens))
    for found, everything, starts in (
        (batch.details.costs, costs, nodes),
        (batch.details.closings, closings, ends),
    ):
        expected = [everything[starts[index] : starts[index + 1]] for index in numerals]
        np.testing.assert_allclose(found, np.concatenate(expected), atol=1e-4)


@pytest.mark.parametrize("cached", ["all", "one"])
def test_a_paragraph_is_laid_out_once_whatever_is_asked(
    tmp_path: Path, lm, dataset, monkeypatch, cached: str
) -> None:
    """There is room for all, or for the first; of the others, those asked for last stay."""
    split = Store(tmp_path, lm, dataset).split("test")
    lay_out = lm.lay_out
    if cached == "one":
        (first,) = lay_out(split.paragraphs[:1])
        room = sum(len(plan.tokens) for plan in first.windows)
        monkeypatch.setattr("numerate.lm.backbones.pretrained.language_model.CACHED_NODES", room)
        split = Store(tmp_path, lm, dataset).split("test")
    laid_out: list[Any] = []

    def counted(paragraphs: Any, prefixes: Any) -> Any:
        laid_out.extend(paragraphs)
        return lay_out(paragraphs, prefixes)

    monkeypatch.setattr(lm, "lay_out", counted)
    split.fill(detailed=True)
    split.table(NumeralTable(CANDIDATES))
    split.best(NumeralTable(CANDIDATES))
    times = [sum(one is paragraph for one in laid_out) for paragraph in split.paragraphs]
    assert times == [1] * len(times), "for the trees, the scores, the table, the best"


def test_states_beyond_half_precision_stay_finite() -> None:
    found = as_half(np.array([1.5, 1e6, -1e6], dtype=np.float32))
    assert found.dtype == np.float16
    assert found.tolist() == [1.5, 65504, -65504]


def test_an_interrupted_pass_goes_on(tmp_path: Path, lm, dataset, monkeypatch) -> None:
    monkeypatch.setattr(stores, "PARAGRAPHS", {"cpu": 3})
    total = len(Store(tmp_path, lm, dataset).split("train").paragraphs)
    first = Counting(lm, monkeypatch, stop_after=6)
    with pytest.raises(KeyboardInterrupt):
        Store(tmp_path, lm, dataset).split("train").fill()
    assert first.paragraphs == 6
    monkeypatch.undo()
    monkeypatch.setattr(stores, "PARAGRAPHS", {"cpu": 3})
    second = Counting(lm, monkeypatch)
    seen: list[tuple[str, int, int]] = []
    split = Store(tmp_path, lm, dataset).split("train")
    split.fill(progress=lambda *step: seen.append(step))
    assert second.paragraphs == total - 6
    assert seen[0] == ("reading train", 0, total - 6)
    assert seen[-1] == ("reading train", total - 6, total - 6)
    split.fill()
    assert second.paragraphs == total - 6
    whole = Store(tmp_path / "other", lm, dataset).split("train")
    whole.fill()
    np.testing.assert_allclose(split.targets, whole.targets, atol=1e-4)


def test_chosen_paragraphs_alone(tmp_path: Path, lm, dataset, monkeypatch) -> None:
    counting = Counting(lm, monkeypatch)
    split = Store(tmp_path, lm, dataset).split("dev")
    split.fill([1])
    assert counting.paragraphs == 1
    assert np.flatnonzero(split.done).tolist() == [1]
    split.fill([0, 1])
    assert counting.paragraphs == 2


def test_the_start_is_chosen_once(tmp_path: Path, tiny_models, dataset, monkeypatch) -> None:
    backbone = open_backbone(tiny_models["single"])
    chosen = PretrainedLM(backbone)
    monkeypatch.setattr(chosen, "choose_start", lambda paragraphs: setattr(chosen, "start", 17))
    folder = Store(tmp_path, chosen, dataset).folder
    assert json.loads((folder / "about.json").read_text())["start"] == 17
    again = PretrainedLM(backbone)
    monkeypatch.setattr(again, "choose_start", lambda paragraphs: pytest.fail("chosen again"))
    Store(tmp_path, again, dataset)
    assert again.start == 17


def test_candidates_are_stored_and_go_on(tmp_path: Path, lm, dataset, monkeypatch) -> None:
    monkeypatch.setattr(stores, "PARAGRAPHS", {"cpu": 2})
    candidates = NumeralTable(CANDIDATES)
    split = Store(tmp_path, lm, dataset).split("dev")
    split.table(candidates, [0])
    table = split.table(candidates)
    assert table.shape == (len(split.numerals), len(CANDIDATES))
    plans = [plan for one in lm.lay_out(split.paragraphs) for plan in one.windows]
    rows = [lm.table(plan, candidates) for plan in plans]
    np.testing.assert_allclose(table, np.concatenate(rows), atol=1e-3)
    monkeypatch.setattr(
        "numerate.lm.backbones.pretrained.ranking.Ranking.table",
        lambda self, plan: pytest.fail("scored again"),
    )
    np.testing.assert_array_equal(
        Store(tmp_path, lm, dataset).split("dev").table(candidates), table
    )


def no_links(*_: object) -> None:
    """`os.link` of a file system without hard links."""
    raise PermissionError(errno.EPERM, "Operation not permitted")


@pytest.mark.parametrize("link", [os.link, no_links])
def test_who_comes_second_takes_the_array_of_the_first(
    link: Any, tmp_path: Path, lm, dataset, monkeypatch
) -> None:
    """The other process makes its array, and fills it, while this one is making its own."""
    monkeypatch.setattr(os, "link", link)
    split = Store(tmp_path, lm, dataset).split("dev")
    make = np.lib.format.open_memmap
    theirs: list[np.ndarray] = []

    def interrupted(path: Path, **choices: Any) -> np.ndarray:
        mine = make(path, **choices)
        if choices["mode"] == "w+" and not theirs:
            theirs.append(np.empty(0))  # the other is not interrupted
            theirs[0] = split.array("new", np.bool_, (3,))
            theirs[0][1] = True
        return mine

    monkeypatch.setattr(np.lib.format, "open_memmap", interrupted)
    mine = split.array("new", np.bool_, (3,))
    assert mine.tolist() == [False, True, False]
    mine[2] = True
    assert theirs[0].tolist() == [False, True, True]
    assert not list(tmp_path.rglob("*partial*"))


def test_a_file_system_without_links(tmp_path: Path, lm, dataset, monkeypatch) -> None:
    monkeypatch.setattr(os, "link", no_links)
    split = Store(tmp_path, lm, dataset).split("dev")
    assert not split.done.any()
    assert not list(tmp_path.rglob("*partial*"))


@pytest.mark.parametrize("name", ["targets", "states", "done"])
@pytest.mark.parametrize("damage", ["foreign", "truncated", "empty", "other shape"])
def test_a_spoilt_file_is_refused_in_one_line(
    name: str, damage: str, tmp_path: Path, lm, dataset
) -> None:
    split = Store(tmp_path, lm, dataset).split("dev")
    path = split.store.folder / f"dev-{name}.npy"
    content = path.read_bytes()
    if damage == "other shape":
        np.save(path, np.zeros(3))
    else:
        spoilt = {"foreign": b"PK\x03\x04 no array", "truncated": content[:-1], "empty": b""}
        path.unlink()
        path.write_bytes(spoilt[damage])
    with pytest.raises(BackboneError) as error:
        Store(tmp_path, lm, dataset).split("dev")
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": "other"}'])
def test_a_foreign_folder_is_refused(content: str, tmp_path: Path, lm, dataset) -> None:
    about = Store(tmp_path, lm, dataset).folder / "about.json"
    about.write_text(content)
    with pytest.raises(Exception, match=r"about\.json") as error:
        Store(tmp_path, lm, dataset)
    assert "\n" not in str(error.value)
    assert type(error.value).__module__ == "numerate.errors"


def test_the_same_texts_cut_by_other_rules_have_a_folder_of_their_own(
    tmp_path: Path, lm, dataset, monkeypatch
) -> None:
    folders = [Store(tmp_path, lm, dataset).folder]
    for rules in (ReadingRules(split_names=True), ReadingRules(decimal="comma")):
        monkeypatch.setattr(type(dataset), "reading", rules)
        folders.append(Store(tmp_path, lm, dataset).folder)
    assert len(set(folders)) == 3


def test_where_the_cache_is(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache() == tmp_path / "numerate"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/someone")
    assert default_cache() == Path("/home/someone/.cache/numerate")


@contextmanager
def without_the_rights_of_root() -> Iterator[None]:
    """Root may read and write everything: for a while, be nobody."""
    mine = os.getuid()
    if mine == 0:
        os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        os.setresuid(mine, mine, mine)


def test_a_remembered_cache_of_others_is_not_used(tmp_path: Path) -> None:
    private = tmp_path / "private"
    states = private / "states"
    states.mkdir(parents=True)
    assert remembered_cache(str(states)) == states
    private.chmod(0)
    with without_the_rights_of_root():
        assert remembered_cache(str(states)) is None, "its parent cannot be looked into"
        assert remembered_cache("/") is None, "it cannot be written to"
    private.chmod(0o755)
    assert remembered_cache(str(tmp_path / "gone")) is None
    assert remembered_cache(None) is None


def test_scores_after_another_start_are_kept_apart(
    tmp_path: Path, tiny_models: dict[str, Path], dataset: Dataset
) -> None:
    """A head was trained after one start; what another choice found must not be taken for it."""
    found = []
    for start in (0, 5):
        lm = PretrainedLM(open_backbone(tiny_models["single"]), start=start)
        split = Store(tmp_path, lm, dataset).split("dev")
        split.fill([0])
        assert lm.start == start
        found.append(np.array(split.targets[split.targets_of(np.array([0]))]))
    assert not np.allclose(*found)
