"""Candidates have the probabilities they would have in the text."""

import numpy as np
import pytest
from tests.lm.backbones.pretrained.conftest import paragraph

from numerate.lm.backbones.pretrained.language_model import PretrainedLM
from numerate.lm.backbones.pretrained.ranking import Ranking
from numerate.lm.data.numeral_table import NumeralTable

KINDS = ("single", "glued", "metaspace", "mixed", "gpt2")
CANDIDATES = ["0", "5", "7", "10", "12.5", "100", "120", "0.05", "2000", "1234567", "1" * 30]
TEXTS = ["the mean was {} (from", "({}", "then  {}mg", "{}", "7 of {}%"]
Models = dict[str, PretrainedLM]


@pytest.mark.parametrize("takes_masks", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_candidate_is_scored_as_in_its_place(
    kind: str, takes_masks: bool, language_models: Models, monkeypatch
) -> None:
    lm = language_models[kind]
    monkeypatch.setattr(lm.scorer, "takes_masks", takes_masks)
    # What a tokenizer glues to digits changes its own spelling of a long numeral.
    candidates = CANDIDATES[:-1] if kind == "mixed" else CANDIDATES
    for text in TEXTS:
        place = text.split("{}")[0].count("7 of")  # numerals before the candidate
        texts = [text.format(candidate) for candidate in candidates]
        scores = lm.score(lm.lay_out([paragraph(text) for text in texts]))
        expected = np.array([score.numerals[place] for score in scores])
        plan = lm.lay_out([paragraph(text.format("7"))])[0].windows[0]
        found = lm.table(plan, NumeralTable(candidates))[place]
        np.testing.assert_allclose(found, expected, atol=2e-4)


@pytest.mark.parametrize("kind", ["single", "glued"])
def test_every_numeral_of_a_text_has_a_row(kind: str, language_models: Models, monkeypatch) -> None:
    lm = language_models[kind]
    some = paragraph("from 12.5 (5) to 100 in 7 of 2000, 10")
    plan = lm.lay_out([some])[0].windows[0]
    numerals = [some.written[index] for index in sorted(some.numerals)]
    whole = Ranking(lm.scorer, lm.tokens, numerals).table(plan)
    own = lm.score(lm.lay_out([some]))[0].numerals
    np.testing.assert_allclose(np.diag(whole), own, atol=1e-4)
    assert whole.shape == (6, 6)
    assert np.exp(whole).sum(1).max() < 1
    monkeypatch.setattr("numerate.lm.backbones.pretrained.ranking.STATES", {"cpu": 40})
    monkeypatch.setattr("numerate.lm.backbones.pretrained.ranking.BLOCK", {"cpu": 2})
    parts = Ranking(lm.scorer, lm.tokens, numerals).table(plan)
    np.testing.assert_allclose(parts, whole, atol=1e-4)


def test_a_tree_that_would_be_too_large_is_several(language_models: Models, monkeypatch) -> None:
    lm = language_models["glued"]
    plan = lm.lay_out([paragraph("from 12.5 (5) to 100")])[0].windows[0]
    table = Ranking(lm.scorer, lm.tokens, CANDIDATES)
    whole = table.table(plan)
    monkeypatch.setattr("numerate.lm.backbones.pretrained.ranking.TREE", 60)
    cut = Ranking(lm.scorer, lm.tokens, CANDIDATES)
    np.testing.assert_allclose(cut.table(plan), whole, atol=1e-4)
    for space in ("", " "):
        trees = cut._trees_after(space)
        assert len(trees) > len(table._trees_after(space))
        assert all(len(t.spelling.parents) <= 60 or len(t.candidates) == 1 for t in trees)


def test_a_text_without_numerals_has_no_rows(language_models: Models) -> None:
    lm = language_models["single"]
    table = Ranking(lm.scorer, lm.tokens, ["5"])
    assert table.table(lm.lay_out([paragraph("none")])[0].windows[0]).shape == (0, 1)
