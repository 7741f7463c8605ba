"""The best numerals of every model, against all numerals of up to four characters."""

from collections.abc import Callable
from itertools import islice

import numpy as np
import pytest

from numerate.lm.backbones.contract import exactly
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.base import NumeralHead
from numerate.lm.heads.digit_tree import DigitTree, legal_symbols
from numerate.lm.heads.registry import paper_heads
from numerate.lm.model.numeral_lm import NumeralLM

CONTEXTS = ["the ejection fraction is", "end diastolic volume of", "age"]


@pytest.mark.parametrize("name", paper_heads())
def test_the_best_numerals_are_the_best_of_all_short_ones(
    models: dict[str, NumeralLM], name: str, short_numerals: list[str]
) -> None:
    """All that the search finds before its first longer numeral; none of up to four is missed."""
    model = models[name]
    table = NumeralTable(short_numerals)
    states = model.context_after(CONTEXTS)
    found = 0
    for index in range(len(CONTEXTS)):
        state = states[index : index + 1]
        log_probs = model.log_prob_table(state, table)[0]
        if not model.open_vocabulary:  # the unknown can be named by none
            known = {text for text, _ in model.next_numeral(state).stream()}
            log_probs[[text not in known for text in short_numerals]] = -np.inf
        best = np.sort(log_probs)[::-1]
        short = [(t, p) for t, p in islice(model.next_numeral(state).stream(), 40) if len(t) <= 4]
        np.testing.assert_allclose([p for _, p in short], best[: len(short)], atol=2e-5)
        for text, log_prob in short:
            exact = model.log_prob_table(state, NumeralTable([text]))[0, 0]
            assert exact == pytest.approx(log_prob, abs=2e-5)
        found += len(short)
    assert found > 40


@pytest.mark.parametrize("context", CONTEXTS)
def test_the_digit_rnn_is_searched_exactly(
    models: dict[str, NumeralLM],
    context: str,
    short_numerals: list[str],
    assert_best_first: Callable[..., None],
) -> None:
    """Against enumeration; no longer numeral can beat the prefix it begins with."""
    model = models["d-rnn"]
    state = model.context_after([context])
    tree = model.next_numeral(state)
    assert isinstance(tree, DigitTree)
    prefixes = [""]
    for _ in range(4):
        prefixes = [p for _, p in _longer(tree, prefixes)]
    beyond = max(np.exp(tree._nodes[p[:-1]].log_prob + _symbol(tree, p)) for p in prefixes)
    assert_best_first(
        model.next_numeral(state),
        short_numerals,
        lambda texts: model.log_prob_table(state, NumeralTable(texts))[0],
        beyond=float(beyond),
        at_least=10,
    )


def _longer(tree: DigitTree, prefixes: list[str]) -> list[tuple[float, str]]:
    return [(p, text) for text, p, ended in tree._continue(prefixes) if not ended]


def _symbol(tree: DigitTree, prefix: str) -> float:
    return float(tree._nodes[prefix[:-1]].following["0123456789.".index(prefix[-1])])


@pytest.mark.parametrize("name", paper_heads())
def test_probability_is_nowhere_twice(models: dict[str, NumeralLM], name: str) -> None:
    distribution = models[name].predict("the ejection fraction is")
    assert sum(p for _, p in distribution.top(100)) <= 1 - distribution.unnamed + 1e-5
    assert 0 <= distribution.unnamed < 1


def test_a_head_without_a_search_of_its_own_is_searched_too(models: dict[str, NumeralLM]) -> None:
    """By what every head has; what is not looked at is missing, nothing is there twice."""
    model = models["mog"]
    context = model.context_after(["the ejection fraction is"])
    exact = model.next_numeral(context)
    with exactly():
        found = NumeralHead.next_numeral(model.head, context)
    best, expected = (list(islice(numerals.stream(), 20)) for numerals in (found, exact))
    np.testing.assert_allclose([p for _, p in best], [p for _, p in expected], atol=2e-5)
    assert 0.5 * exact.total < found.total <= exact.total + 1e-5


def test_legal_symbols_never_lead_nowhere() -> None:
    for prefix in ("", "0", "7", "0.", "0.0", "12.", "12.5"):
        assert legal_symbols(prefix)
