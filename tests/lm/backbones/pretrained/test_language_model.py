"""A pretrained model finds its own start symbol and refuses what it cannot score."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.lm.backbones.pretrained.conftest import paragraph

from numerate.errors import BackboneError
from numerate.lm.backbones.pretrained.backbone import open_backbone
from numerate.lm.backbones.pretrained.language_model import PretrainedLM
from numerate.lm.backbones.pretrained.layout import Plan

TEXTS = ["the mean was 12.5 (from 100 to 2,000) in 7", "from 5 to 10", "7 in 100"]


def test_a_start_that_the_tokenizer_adds_is_kept(tiny_models: dict[str, Path]) -> None:
    backbone = open_backbone(tiny_models["metaspace"])
    lm = PretrainedLM(backbone)
    assert lm.choose_start([paragraph(text) for text in TEXTS]) == backbone.adds_start
    assert lm.start == backbone.tokenizer.bos_token_id


@pytest.mark.parametrize("best", ["<s>", "</s>", "Ċ"])
def test_otherwise_the_start_that_predicts_best_is_chosen(
    best: str, tiny_models: dict[str, Path], monkeypatch
) -> None:
    """A line break is tried too: for some models it is the best by far."""
    lm = PretrainedLM(open_backbone(tiny_models["single"]))
    assert lm.start is None
    tried = []

    def score(paragraphs):
        tried.append(lm.start)
        bonus = float(lm.start == lm.backbone.tokenizer.convert_tokens_to_ids(best))
        found = PretrainedLM.score(lm, paragraphs)
        for scores in found:
            scores.targets[:] += 100 * (bonus - 1)
        return found

    monkeypatch.setattr(lm, "score", score)
    chosen = lm.choose_start([paragraph(text) for text in TEXTS])
    assert lm.backbone.tokenizer.convert_ids_to_tokens(chosen) == best
    assert len(tried) == len(set(tried)) == 3
    assert lm.choose_start([]) == chosen  # once and for all


def test_scores_without_tricks_choose_the_start(tiny_models: dict[str, Path]) -> None:
    lm = PretrainedLM(open_backbone(tiny_models["single"]))
    paragraphs = [paragraph(text) for text in TEXTS]
    chosen = lm.choose_start(paragraphs)
    means = {}
    for start in (*lm.backbone.tokenizer.all_special_ids, 201):
        lm.start = start
        means[start] = np.concatenate([s.targets for s in lm.score(lm.lay_out(paragraphs))]).mean()
    assert means[chosen] >= max(means[start] for start in lm.backbone.tokenizer.all_special_ids)


def test_results_come_in_the_order_of_the_paragraphs(language_models, monkeypatch) -> None:
    monkeypatch.setattr("numerate.lm.backbones.pretrained.language_model.NODES", {"cpu": 60})
    lm = language_models["single"]
    paragraphs = [paragraph(text) for text in (*TEXTS, *TEXTS[::-1], "a 5")]
    found = lm.score(lm.lay_out(paragraphs))
    for some, scores in zip(paragraphs, found, strict=True):
        assert len(scores.targets) == len(some.starts) + 1
        (alone,) = lm.score(lm.lay_out([some]))
        np.testing.assert_allclose(scores.targets, alone.targets, atol=1e-4)


def test_windows_without_a_numeral_have_no_details_of_their_own(
    language_models, monkeypatch
) -> None:
    """Each is read alone here; those of the only numerals are what the paragraph has."""
    monkeypatch.setattr("numerate.lm.backbones.pretrained.language_model.NODES", {"cpu": 1})
    lm = language_models["single"]
    last = "in 12.5 of 7"
    some = paragraph("the mean was in " * 200 + last)
    assert len(lm.lay_out([some])[0].windows) > 2
    (found,) = lm.score(lm.lay_out([some]), detailed=True)
    (short,) = lm.score(lm.lay_out([paragraph(last)]), detailed=True)
    for name in ("node_states", "node_masses", "node_costs", "node_closings"):
        assert getattr(found, name).shape == getattr(short, name).shape
    assert len(found.node_states) > 5
    (none,) = lm.score(lm.lay_out([paragraph("the mean was in")]), detailed=True)
    assert none.node_states.shape == (0, lm.scorer.state_size)


def test_batches_hold_every_window_once_and_few_nodes(language_models, monkeypatch) -> None:
    monkeypatch.setattr("numerate.lm.backbones.pretrained.language_model.NODES", {"cpu": 100})
    sizes = [30, 120, 7, 45, 44, 8, 30]
    plans = [Plan(n, [0] * n, [], [], []) for n in sizes]
    batches = language_models["single"].batches(plans)
    assert sorted(index for batch in batches for index in batch) == list(range(len(sizes)))
    for batch in batches:
        most = max(sizes[index] for index in batch)
        assert len(batch) == 1 or len(batch) * most <= 100


def test_a_model_with_a_tiny_window_is_refused(make_tiny) -> None:
    backbone = open_backbone(make_tiny(max_position_embeddings=50))
    with pytest.raises(BackboneError, match="window is 50 tokens, expected 96 or more"):
        PretrainedLM(backbone)


def test_a_tokenizer_without_digits_is_refused(tiny_models: dict[str, Path], monkeypatch) -> None:
    backbone = open_backbone(tiny_models["single"])
    vocabulary = {t: i for t, i in backbone.tokenizer.get_vocab().items() if t != "7"}
    monkeypatch.setattr(backbone.tokenizer, "get_vocab", lambda: vocabulary)
    with pytest.raises(BackboneError, match="no token for '7'"):
        PretrainedLM(backbone)


def test_scoring_leaves_no_gradients(language_models) -> None:
    lm = language_models["single"]
    lm.score(lm.lay_out([paragraph(TEXTS[0])]))
    assert all(parameter.grad is None for parameter in lm.backbone.model.parameters())
    assert torch.is_grad_enabled()
