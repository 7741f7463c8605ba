"""The best numerals of every model, against all numerals of up to four characters."""

from collections.abc import Callable
from itertools import islice

import numpy as np
import pytest
import torch
from numerate.model.names import MODELS
from numerate.model.output import HierarchicalOutput
from numerate.plausibility.digit_tree import DigitTree, legal_symbols
from numerate.plausibility.model import NumerateModel
from numerate.plausibility.search import next_numeral

from numerate.heads.base import NumeralHead
from numerate.numeral_table import NumeralTable

CONTEXTS = ["the ejection fraction is", "end diastolic volume of", "age"]


@pytest.mark.parametrize("name", MODELS)
def test_the_best_numerals_are_the_best_of_all_short_ones(
    models: dict[str, NumerateModel], name: str, short_numerals: list[str]
) -> None:
    """All that the search finds before its first longer numeral; none of up to four is missed."""
    model = models[name].model
    table = NumeralTable(short_numerals)
    states = model.contexts(CONTEXTS)
    found = 0
    for index in range(len(CONTEXTS)):
        state = states[index : index + 1]
        log_probs = model.log_probs(state, table)[0]
        if not model.open_vocabulary:  # the unknown can be named by none
            known = {text for text, _ in model.next_numeral(state).stream()}
            log_probs[[text not in known for text in short_numerals]] = -np.inf
        best = np.sort(log_probs)[::-1]
        short = [(t, p) for t, p in islice(model.next_numeral(state).stream(), 40) if len(t) <= 4]
        np.testing.assert_allclose([p for _, p in short], best[: len(short)], atol=2e-5)
        for text, log_prob in short:
            exact = model.log_probs(state, NumeralTable([text]))[0, 0]
            assert exact == pytest.approx(log_prob, abs=2e-5)
        found += len(short)
    assert found > 40


@pytest.mark.parametrize("context", CONTEXTS)
def test_the_digit_rnn_is_searched_exactly(
    models: dict[str, NumerateModel],
    context: str,
    short_numerals: list[str],
    assert_best_first: Callable[..., None],
) -> None:
    """Against enumeration; no longer numeral can beat the prefix it begins with."""
    model = models["d-rnn"].model
    state = model.contexts([context])
    tree = model.next_numeral(state)
    assert isinstance(tree, DigitTree)
    prefixes = [""]
    for _ in range(4):
        prefixes = [p for _, p in _longer(tree, prefixes)]
    beyond = max(np.exp(tree._nodes[p[:-1]].log_prob + _symbol(tree, p)) for p in prefixes)
    assert_best_first(
        model.next_numeral(state),
        short_numerals,
        lambda texts: model.log_probs(state, NumeralTable(texts))[0],
        beyond=float(beyond),
        at_least=10,
    )


def _longer(tree: DigitTree, prefixes: list[str]) -> list[tuple[float, str]]:
    return [(p, text) for text, p, ended in tree._continue(prefixes) if not ended]


def _symbol(tree: DigitTree, prefix: str) -> float:
    return float(tree._nodes[prefix[:-1]].following["0123456789.".index(prefix[-1])])


@pytest.mark.parametrize("name", MODELS)
def test_probability_is_nowhere_twice(models: dict[str, NumerateModel], name: str) -> None:
    distribution = models[name].predict("the ejection fraction is")
    assert sum(p for _, p in distribution.top(100)) <= 1 - distribution.unnamed + 1e-5
    assert 0 <= distribution.unnamed < 1


def test_a_head_without_a_search_is_named() -> None:
    class NewHead(NumeralHead):
        open_vocabulary = True

        def log_prob(self, hidden, numerals):  # type: ignore[no-untyped-def]
            return hidden

        def log_prob_table(self, hidden, candidates):  # type: ignore[no-untyped-def]
            return hidden

    output = HierarchicalOutput.__new__(HierarchicalOutput)
    torch.nn.Module.__init__(output)
    output.head = NewHead()
    with pytest.raises(TypeError, match="no search for NewHead"):
        next_numeral(output, torch.zeros(1, 4), NumeralTable([]))


def test_legal_symbols_never_lead_nowhere() -> None:
    for prefix in ("", "0", "7", "0.", "0.0", "12.", "12.5"):
        assert legal_symbols(prefix)
