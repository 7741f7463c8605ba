"""Numerals symbol by symbol have the probabilities of whole numerals, in every tokenizer."""

from itertools import islice, product

import numpy as np
import pytest
import torch
from tests.lm.backbones.pretrained.conftest import paragraph

from numerate.lm.backbones.pretrained.language_model import PretrainedLM
from numerate.lm.backbones.spelling.symbol_by_symbol import NumeralWriter
from numerate.lm.data.numeral_table import END, NumeralTable
from numerate.lm.heads.digit_adapter import DigitAdapter
from numerate.lm.heads.digit_tree import DigitTree
from numerate.numeral import is_numeral

KINDS = ("single", "glued", "metaspace", "mixed", "gpt2")
TEXTS = ["the mean was 5", "then  (5", "5"]
Models = dict[str, PretrainedLM]


def writer(lm: PretrainedLM, text: str, adapter: DigitAdapter | None = None) -> NumeralWriter:
    plan = lm.lay_out([paragraph(text)])[0].windows[0]
    return lm.writer(plan, 0, adapter)


def expected(lm: PretrainedLM, text: str, numerals: list[str], adapter=None) -> np.ndarray:
    plan = lm.lay_out([paragraph(text)])[0].windows[0]
    return lm.table(plan, NumeralTable(numerals), adapter=adapter)[0]


def short_numerals() -> list[str]:
    strings = ("".join(s) for n in (1, 2) for s in product("0123456789.", repeat=n))
    return [text for text in strings if is_numeral(text)]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_best_numerals_are_the_best_of_all(
    kind: str, text: str, language_models: Models
) -> None:
    """All that is found of up to two characters are the best of these, in order."""
    lm = language_models[kind]
    found = list(islice(DigitTree(writer(lm, text), at_once=4).stream(), 20))
    texts, log_probs = map(list, zip(*found, strict=True))
    assert log_probs == sorted(log_probs, reverse=True)
    assert len(set(texts)) == len(texts)
    np.testing.assert_allclose(log_probs, expected(lm, text, texts), atol=2e-4)
    best = np.sort(expected(lm, text, short_numerals()))[::-1]
    short = [log_prob for own, log_prob in found if len(own) <= 2]
    assert len(short) >= 5
    np.testing.assert_allclose(short, best[: len(short)], atol=2e-4)


@pytest.mark.parametrize("kind", ["single", "glued", "mixed"])
def test_thousands_groups_are_part_of_a_numeral(
    kind: str, language_models: Models, monkeypatch
) -> None:
    monkeypatch.setattr("numerate.lm.backbones.spelling.symbol_by_symbol.NEGLIGIBLE", 0.0)
    lm = language_models[kind]
    for numeral in ("2000", "1234", "12345.6"):
        found = _log_prob(writer(lm, TEXTS[0]), numeral)
        assert found == pytest.approx(expected(lm, TEXTS[0], [numeral])[0], abs=1e-3)


def test_symbols_share_what_is_no_malformed_numeral(language_models: Models, monkeypatch) -> None:
    monkeypatch.setattr("numerate.lm.backbones.spelling.symbol_by_symbol.NEGLIGIBLE", 0.0)
    lm = language_models["single"]
    asked = writer(lm, TEXTS[0])
    state, following = asked.start()
    assert np.exp(following).sum() == pytest.approx(1)  # a numeral begins with a digit
    (state,), following = asked.write([state], [7])
    assert state == "7"
    assert np.exp(following).sum() == pytest.approx(1)
    (state,), following = asked.write(["7"], [1])
    assert np.exp(following[0]).sum() < 1 - 1e-6  # `7,1` may end, and is then no numeral
    for symbol in (10, *[0] * 9):
        (state,), following = asked.write([state], [symbol])
    assert state == "71." + "0" * 9
    assert np.isneginf(following[0, :END]).all()  # longer numerals are not written
    assert np.isfinite(following[0, END])


def test_a_model_that_takes_no_masks_writes_the_same(language_models: Models, monkeypatch) -> None:
    lm = language_models["glued"]
    masked = list(islice(DigitTree(writer(lm, TEXTS[0])).stream(), 5))
    monkeypatch.setattr(lm.scorer, "takes_masks", False)
    plain = list(islice(DigitTree(writer(lm, TEXTS[0])).stream(), 5))
    assert [text for text, _ in plain] == [text for text, _ in masked]
    np.testing.assert_allclose([p for _, p in plain], [p for _, p in masked], atol=1e-4)


@pytest.mark.parametrize("kind", ["single", "mixed"])
def test_adapted_digits_are_written_as_they_are_scored(kind: str, language_models: Models) -> None:
    lm = language_models[kind]
    torch.manual_seed(1)
    adapter = DigitAdapter(lm.scorer.state_size, 16, 0.0).eval()
    with torch.no_grad():
        for weight in adapter.parameters():
            weight.normal_(0, 0.5)
    found = list(islice(DigitTree(writer(lm, TEXTS[0], adapter), at_once=8).stream(), 15))
    texts = [text for text, _ in found]
    adapted = expected(lm, TEXTS[0], texts, adapter)
    np.testing.assert_allclose([p for _, p in found], adapted, atol=1e-3)
    assert np.abs(adapted - expected(lm, TEXTS[0], texts)).max() > 0.1


def _log_prob(asked: NumeralWriter, numeral: str) -> float:
    state, following = asked.start()
    total = 0.0
    for symbol in ["0123456789.".index(mark) for mark in numeral]:
        total += following[symbol]
        (state,), (following,) = asked.write([state], [symbol])
    return float(total + following[END])
