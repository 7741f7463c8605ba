"""Runs over a pretrained model answer what exhibits ask as the model itself would."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.lm.inspect.conftest import BACKBONE, HEADED, LIMIT

from numerate.errors import NumerateError, RunError
from numerate.lm.backbones.causal import CausalBackbone
from numerate.lm.backbones.pretrained.language_model import read_paragraphs
from numerate.lm.backbones.pretrained.layout import Paragraph
from numerate.lm.backbones.texts import Texts
from numerate.lm.data.dataset import some_paragraphs
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.inspect.components import component_weights, gaussian_components
from numerate.lm.inspect.contexts import dev_contexts, picked_contexts, typed_context
from numerate.lm.inspect.digit_embeddings import digit_similarities
from numerate.lm.inspect.errors_by_magnitude import errors_by_magnitude
from numerate.lm.inspect.next_numeral import next_numeral
from numerate.lm.inspect.runs import Run, open_runs
from numerate.lm.inspect.strategies import strategy_shares
from numerate.lm.model.opening import Settings
from numerate.text.tokenizer import tokenize

TOLERANCE = {"atol": 5e-3, "rtol": 5e-3}  # states are kept in 16 bits


def paragraphs_of(run: Run) -> list[Paragraph]:
    """What the run looks at, read from the dataset anew."""
    whole = read_paragraphs(run.shared.dataset.split("dev"))
    return [whole[index] for index in some_paragraphs(len(whole), LIMIT)]


def backbone_of(run: Run) -> CausalBackbone:
    assert isinstance(run.model.backbone, CausalBackbone)
    return run.model.backbone


@pytest.mark.parametrize("model", HEADED)
def test_states_and_probabilities_are_those_of_the_text(headed: dict[str, Run], model: str) -> None:
    run = headed[model]
    backbone = backbone_of(run)
    some = paragraphs_of(run)
    raw = np.concatenate([score.states for score in backbone.lm.score(backbone.lm.lay_out(some))])
    with torch.no_grad():
        expected = backbone.hidden(torch.from_numpy(raw))
    torch.testing.assert_close(run.dev_states, expected, **TOLERANCE)
    texts = [paragraph.text for paragraph in some]
    corpus = Texts(texts, [tokenize(text) for text in texts]).corpus(run.model.vocabulary)
    log_probs = run.model.numeral_log_probs(run.model.read(corpus))
    np.testing.assert_allclose(run.dev_log_probs(), log_probs, **TOLERANCE)
    written = [paragraph.written[i] for paragraph in some for i in sorted(paragraph.numerals)]
    assert [run.shared.dev.table.texts[row] for row in run.shared.dev.rows] == written


@pytest.mark.parametrize("model", HEADED)
def test_tables_have_the_probability_of_what_stands_there(
    headed: dict[str, Run], model: str
) -> None:
    """Of places that are asked for together, of one place, and after the same text typed."""
    run = headed[model]
    texts = list(dict.fromkeys(run.shared.dev.table.texts[row] for row in run.shared.dev.rows))
    candidates = NumeralTable(texts, run.model.vocabulary.numeral_ids())
    places = np.array([5, 1, len(run.shared.dev.rows) - 1])
    (found,) = [table for _, table in run.tables(candidates, places)]
    expected = run.dev_log_probs()
    for row, place in zip(found.numpy(), places.tolist(), strict=True):
        text = run.shared.dev.table.texts[run.shared.dev.rows[place]]
        assert row[texts.index(text)] == pytest.approx(expected[place], abs=5e-3)
        (one,) = run.table_in(run.at(place), candidates).numpy()
        np.testing.assert_allclose(one, row, **TOLERANCE)
        torch.testing.assert_close(run.at(place).hidden[0], run.dev_states[place])
    paragraph = paragraphs_of(run)[0]
    before = paragraph.text[: paragraph.starts[sorted(paragraph.numerals)[1]]]
    typed = run.after(before.rstrip())
    torch.testing.assert_close(typed.hidden[0], run.dev_states[1], **TOLERANCE)
    np.testing.assert_allclose(run.table_in(typed, candidates)[0], found[1], **TOLERANCE)


def test_contexts_of_some_paragraphs_are_within_them(headed: dict[str, Run]) -> None:
    run = headed["mog"]
    texts = [paragraph.text for paragraph in paragraphs_of(run)]
    places = list(range(0, len(run.shared.dev.rows), 7))
    for place, context in zip(
        places, dev_contexts(run.shared.dataset, run.shared.dev, places), strict=True
    ):
        assert context.truth == run.shared.dev.table.texts[run.shared.dev.rows[place]]
        assert any(f"{context.before}{context.truth}{context.after}" in text for text in texts)


def test_runs_over_one_model_share_it(headed: dict[str, Run]) -> None:
    backbones = [backbone_of(run) for run in headed.values()]
    assert len(backbones) == len(HEADED)
    assert len({id(backbone.lm) for backbone in backbones}) == 1
    assert len({id(backbone.store) for backbone in backbones}) == 1


def test_how_much_is_looked_at_is_bounded_and_said(
    mixed: dict[str, Run],
    headed_folders: dict[str, Path],
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shared = next(iter(mixed.values())).shared
    assert len(shared.dev) == LIMIT
    whole = shared.dataset.manifest["splits"]["dev"]
    assert shared.extent == f"{LIMIT} of {whole['paragraphs']} paragraphs of the dev split"
    first = len(paragraphs_of(mixed["mog"])[0].numerals)
    monkeypatch.setattr("numerate.lm.inspect.runs.RANKED", {"cpu": first})
    monkeypatch.setattr("numerate.lm.inspect.runs.READ", 2)
    folders = [headed_folders["mog"], headed_folders["combination"]]
    runs = open_runs(folders, device="cpu", settings=settings)
    shared = runs[0].shared
    assert len(shared.dev) == 2
    assert 0 < len(shared.ranked) < len(shared.dev.rows)
    exhibit = errors_by_magnitude(runs)
    counts = [row[2] for row in exhibit.table.rows if row[0] == runs[0].label]
    assert sum(map(int, counts)) == len(shared.ranked)
    assert f"{len(shared.ranked)} of {whole['numerals']:,} numerals" in exhibit.caption
    (alone,) = open_runs([headed_folders["combination"]], device="cpu", settings=settings)
    chosen = picked_contexts([alone])
    assert {context.dev_place for context in chosen} <= set(alone.shared.ranked.tolist())
    # Without the language model's digits, candidates cost no more than a head's states.
    (cheap,) = open_runs([headed_folders["mog"]], device="cpu", limit=9, settings=settings)
    assert len(cheap.shared.ranked) == len(cheap.shared.dev.rows)


def test_labels_name_the_backbone(mixed: dict[str, Run]) -> None:
    assert list(mixed) == [*HEADED, *(f"{BACKBONE} · {model}" for model in HEADED)]
    slugs = {run.slug for run in mixed.values()}
    assert f"{BACKBONE}-mog" in slugs
    assert len(slugs) == len(mixed)


def test_exhibits_of_both_kinds_side_by_side(mixed: dict[str, Run]) -> None:
    runs = list(mixed.values())
    shares = strategy_shares(mixed[f"{BACKBONE} · combination"])
    assert list(shares.table.columns) == [
        "numeral", "occurrences", "h-softmax", "d-rnn", "mog", "lm",
    ]  # fmt: skip
    for row in shares.table.rows:
        assert sum(map(float, row[2:])) == pytest.approx(1)
    assert [row[0] for row in shares.shown[1].rows] == ["h-softmax", "d-rnn", "mog", "lm"]
    titles = digit_similarities(mixed[f"{BACKBONE} · combination"]).table.column("table")
    written = ["written before (d-rnn)", "to be written (d-rnn)"]
    assert set(titles) == {"read at the input", "to be written (lm)", *written}
    context = typed_context("The ejection fraction is")
    curves = next_numeral(runs, context).table
    assert set(curves.column("run")) == set(mixed)
    for label, run in mixed.items():
        total = sum(float(row[3]) for row in curves.rows if row[0] == label)
        assert 0 < total <= 1 + 1e-6, run.label
    heavy = component_weights(mixed[f"{BACKBONE} · mog"], context)
    assert heavy.name == f"component-weights-{BACKBONE}-mog"
    assert sum(map(float, heavy.table.column("weight"))) == pytest.approx(1)
    own, other = (gaussian_components(mixed[label]) for label in ("mog", f"{BACKBONE} · mog"))
    assert own.table.rows == other.table.rows, "fitted to the same numbers"


def test_a_backbone_that_moved_or_changed_or_cannot_be_read(
    headed_folders: dict[str, Path],
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shutil.copytree(headed_folders["mog"], tmp_path / "run")
    config = tmp_path / "run" / "config.json"
    record = json.loads(config.read_text())
    original = Path(record["backbone"]["path"])

    def attempt(path: Path) -> None:
        record["backbone"]["path"] = str(path)
        config.write_text(json.dumps(record))
        open_runs([tmp_path / "run"], device="cpu", settings=settings)

    with pytest.raises(RunError, match=r"its pretrained model is not at .*gone any more"):
        attempt(tmp_path / "gone")
    shutil.copytree(original, tmp_path / "model")
    (tmp_path / "model" / "tokenizer_config.json").write_text("{}")
    with pytest.raises(RunError, match="not the pretrained model this run was made with"):
        attempt(tmp_path / "model")
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(NumerateError, match=r"need transformers: pip install 'numerate\[hf\]'"):
        attempt(original)
