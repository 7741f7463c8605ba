"""Every spelling of a numeral counts, once; given that a numeral comes, all of them sum to one."""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from tests.lm.backbones.pretrained import brute_force
from tests.lm.backbones.pretrained.conftest import make_tokenizer, paragraph

from numerate.lm.backbones.pretrained.language_model import PretrainedLM
from numerate.lm.backbones.pretrained.ranking import Ranking
from numerate.lm.backbones.spelling.numeral_tokens import NumeralTokens
from numerate.lm.backbones.spelling.written import written_forms

KINDS = ("single", "glued", "metaspace", "mixed")
Models = dict[str, PretrainedLM]
DIGITS = "0123456789"


def short_numerals() -> list[str]:
    """Every numeral of up to three characters, leading zeros included."""
    whole = ["".join(s) for n in (1, 2, 3) for s in itertools.product(DIGITS, repeat=n)]
    return whole + [f"{a}.{b}" for a, b in itertools.product(DIGITS, repeat=2)]


def oracle(lm: PretrainedLM) -> brute_force.Model:
    return brute_force.Model(lm.backbone.model, lm.backbone.tokenizer)


def place(lm: PretrainedLM, text: str) -> tuple[list[int], str]:
    """The tokens before the last numeral of a text, and whether a space is still to come."""
    plan = lm.lay_out([paragraph(text)])[0].windows[0]
    root, space = plan.roots[-1]
    return plan.tokens[: root + 1], space


def score(lm: PretrainedLM, text: str) -> tuple[float, float]:
    """log p(numeral | a numeral comes) and log p(a numeral comes) of a text's last numeral."""
    found = lm.score(lm.lay_out([paragraph(text)]))[0]
    return float(found.numerals[-1]), float(found.gates[-1])


@pytest.mark.parametrize("before", ["to ", "a ("])
@pytest.mark.parametrize("kind", KINDS)
def test_given_that_a_numeral_comes_the_distribution_is_proper(
    kind: str, before: str, language_models: Models
) -> None:
    lm, strings = language_models[kind], short_numerals()
    context, space = place(lm, before + "7")
    assert space == (" " if before.endswith(" ") else "")
    known = set(strings)

    @cache
    def classify(text: str) -> brute_force.Outcome:
        rest = text.removeprefix(space)
        if not text.startswith(space) or not rest:
            return None if space.startswith(text) else brute_force.DEAD
        if not brute_force.is_digit(rest):
            return brute_force.DEAD
        numeral = brute_force.first_numeral(rest)
        if numeral is None and len(rest.rstrip(".,")) <= 3:
            return None
        return numeral if numeral in known else "longer"

    outcomes = oracle(lm).outcomes(context, classify)
    dead = outcomes.pop(brute_force.DEAD)
    gate = math.fsum(outcomes.values())
    assert gate + dead == pytest.approx(1, abs=1e-9)
    assert 0.001 < outcomes["longer"] / gate < 0.99

    table = Ranking(lm.scorer, lm.tokens, ["7"])
    table.forms = tuple((string,) for string in strings)
    found = table.table(lm.lay_out([paragraph(before + "7")])[0].windows[0])[-1]
    expected = np.log([outcomes[string] / gate for string in strings])
    np.testing.assert_allclose(found, expected, atol=2e-4)
    assert math.fsum(np.exp(found)) + outcomes["longer"] / gate == pytest.approx(1, abs=1e-5)
    for string in ("7", "05", "120", "2.5"):
        numeral, begins = score(lm, before + string)
        forms = {string, string.lstrip("0")}  # a numeral may be written with zeros before it
        p = sum(outcomes[form] for form in forms)
        assert (numeral, begins) == pytest.approx((math.log(p / gate), math.log(gate)), abs=2e-4)


@pytest.mark.parametrize(
    "numeral", ["2000", "12.5", "5", "10", "123456", "1234.5", "0.123", "120123250", "1000000000"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_all_segmentations_are_summed(kind: str, numeral: str, language_models: Models) -> None:
    lm = language_models[kind]
    context, space = place(lm, f"in {numeral}")
    model = oracle(lm)
    p = sum(model.numeral(context, space, form) for form in written_forms(numeral))
    gate = model.begins(context, space)
    found = score(lm, f"in {numeral}")
    assert found == pytest.approx((math.log(p / gate), math.log(gate)), abs=2e-4)
    if "." not in numeral and len(numeral) > 3:  # as 2,000, it is the same numeral
        grouped = f"{int(numeral):,}"
        assert sum(score(lm, f"in {grouped}")) == pytest.approx(sum(found), abs=2e-4)


def test_what_is_glued_to_a_numeral_counts_as_its_end(language_models: Models) -> None:
    """Without `5mg` and its like, much would be missing from 5."""
    lm = language_models["mixed"]
    tree = lm.tokens.tree(" ", (("5",),))
    glued = {lm.tokens.texts[token] for _, _, token in tree.closings}
    assert {"5mg", " 5mg"} & glued
    assert all(text.lstrip(" ").startswith("5") for text in glued)


@pytest.mark.parametrize("kind", KINDS)
def test_what_tokens_write(kind: str) -> None:
    tokenizer = make_tokenizer(kind)
    tokens = NumeralTokens(tokenizer, [tokenizer.eos_token_id])
    for index, text in enumerate(brute_force.written_by(tokenizer)):
        if text.isprintable() and text.isascii():
            assert tokens.texts[index] == text
    starts = [index for index, text in tokens.texts.items() if text[0] in DIGITS]
    assert tokens.kinds[0].tolist() == starts
    assert tokenizer.eos_token_id in tokens.kinds[-1]
    line_break = tokenizer("\n", add_special_tokens=False)["input_ids"][-1]
    assert line_break in tokens.kinds[-1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", [" 12345678901234.5", "mean", "98765432109876543210", " from the"])
def test_parts_of_a_text_are_spelled_as_they_stand(kind: str, text: str) -> None:
    tokens = NumeralTokens(make_tokenizer(kind), [])
    assert "".join(tokens.texts[token] for token in tokens.spell(text)) == text
