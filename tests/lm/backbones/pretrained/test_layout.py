"""Words and numerals of a text are paid for once, whatever the tokenizer and the text."""

import math

import numpy as np
import pytest
import torch
from tests.lm.backbones.pretrained.conftest import paragraph

from numerate.lm.backbones.pretrained.language_model import PretrainedLM
from numerate.lm.backbones.pretrained.layout import Paragraph, Planner
from numerate.lm.backbones.spelling.numeral_tokens import REACH
from numerate.text.reading_rules import ReadingRules
from numerate.text.tokenizer import DEFAULT_RULES, tokenize

KINDS = ("single", "glued", "metaspace", "mixed", "gpt2")
Models = dict[str, PretrainedLM]
COMMA = ReadingRules("comma")
ODD_TEXTS = [
    "the mean was 12.5 (from 100 to 999) in 7",
    "7",
    "7 8 9",
    "a",
    "5mg, then 10%-20% or 5. And (6)",
    "😀 5 😀5 e\N{COMBINING ACUTE ACCENT}5 café",
    "no\N{NO-BREAK SPACE}5 and  6 and\t7\n8\n\n9   10",
    "0.123456789012345678901234567890 is long",
    "a list 1,23,4 and 0,5 and 1.2.3 and 5.. 5.a",
    "-5 +6 ±7 =8 <0.05 p<.5 fev1 x2 10⁶ ²",
    "（５ and １２.５）５％",
    "trailing 5 \n",
]


def log_p_of_text(lm: PretrainedLM, text: str) -> float:
    """The model's own log p of its tokens and of the text's end."""
    ids = lm.backbone.tokenizer(text, add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        logits = lm.backbone.model(torch.tensor([[lm.start, *ids]])).logits[0].double()
    steps = logits.log_softmax(-1)
    ends = torch.from_numpy(lm.tokens.kinds[-1])
    own = sum(float(steps[place, token]) for place, token in enumerate(ids))
    return own + float(steps[-1, ends].logsumexp(0))


@pytest.mark.parametrize("kind", ["single", "metaspace"])
@pytest.mark.parametrize("text", ODD_TEXTS)
def test_targets_sum_to_the_text(kind: str, text: str, language_models: Models) -> None:
    """Where a numeral has one spelling, nothing is lost, and nothing paid for twice."""
    lm = language_models[kind]
    found = lm.score(lm.lay_out([paragraph(text)]))[0]
    plain = text.translate(str.maketrans("５１２", "512")).replace("１２.５", "12.5")
    plain = plain.replace("<.5", "<0.5")  # as every numeral, with a digit before its point
    assert found.targets.sum() == pytest.approx(log_p_of_text(lm, plain), abs=2e-3)


@pytest.mark.parametrize(
    ("text", "plain", "rules"),
    [
        ("at p<.05 of 1’000 (mm)", "at p<0.05 of 1,000 (mm)", DEFAULT_RULES),
        ("of 1\u2009000 or 17 863", "of 1,000 or 17,863", DEFAULT_RULES),
        ("then 0·05 or ７.５", "then 0.05 or 7.5", DEFAULT_RULES),
        ("from 74,5 to 1.234,5", "from 74.5 to 1,234.5", COMMA),
    ],
)
@pytest.mark.parametrize("kind", ["single", "mixed"])
def test_every_written_form_is_scored_as_the_spelled_one(
    kind: str, text: str, plain: str, rules: ReadingRules, language_models: Models
) -> None:
    lm = language_models[kind]
    (found,) = lm.score(lm.lay_out([Paragraph.of(text, tokenize(text, rules))]))
    (spelled,) = lm.score(lm.lay_out([paragraph(plain)]))
    for name in ("targets", "numerals", "gates"):
        np.testing.assert_allclose(getattr(found, name), getattr(spelled, name), atol=1e-6)


@pytest.mark.parametrize("text", ["on 74.5, or 5.5 and 1,5.5", "IL-6, 5-HT in 1.2.3 at 3:05 is 7"])
def test_a_point_between_two_numerals_is_paid_once(text: str, language_models: Models) -> None:
    """With a decimal comma, `5.5` is a 5, a point and a 5."""
    lm = language_models["single"]
    (found,) = lm.score(lm.lay_out([Paragraph.of(text, tokenize(text, COMMA))]))
    plain = text.replace("1,5", "1.5")
    assert found.targets.sum() == pytest.approx(log_p_of_text(lm, plain), abs=2e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_odd_texts_have_finite_scores_for_every_target(kind: str, language_models: Models) -> None:
    lm = language_models[kind]
    paragraphs = [paragraph(text) for text in [*ODD_TEXTS, "1234567890" * 3 + " 9", "", "  "]]
    for some, found in zip(paragraphs, lm.score(lm.lay_out(paragraphs)), strict=True):
        assert len(found.targets) == len(some.starts) + 1
        assert len(found.numerals) == len(found.gates) == len(found.states) == len(some.numerals)
        for values in (found.targets, found.numerals, found.gates):
            assert np.all((values <= 0) & (values > -1e4)), some.text
        joint = found.targets[sorted(some.numerals)]
        np.testing.assert_allclose(joint, found.numerals + found.gates, atol=1e-6)
        assert np.isfinite(found.states).all()


@pytest.mark.parametrize("kind", KINDS)
def test_chains_are_the_text_and_numerals_stand_where_they_stand(
    kind: str, language_models: Models
) -> None:
    lm = language_models[kind]
    for text in ODD_TEXTS[:5]:
        some = paragraph(text)
        plan = lm.lay_out([some])[0].windows[0]
        written = [lm.tokens.texts[token] for token in plan.tokens[1 : plan.length]]
        is_readable = not any("<0x" in piece for piece in written)
        assert not is_readable or "".join(written).strip(" ") == text
        assert plan.targets == list(range(len(some.starts) + 1))
        for (root, space), numeral in zip(plan.roots, sorted(some.numerals), strict=True):
            rest = "".join(written[root:])
            start = some.starts[numeral]
            assert rest == space + text[start:] or not is_readable
            assert space == (" " if start and text[start - 1] == " " else space)


def test_a_token_of_several_words_is_paid_once(language_models: Models) -> None:
    lm = language_models["mixed"]  # `),` may be one token; `5mg` is cut
    plan = lm.lay_out([paragraph("then 5mg, then")])[0].windows[0]
    written = [lm.tokens.texts[token] for token in plan.tokens[1 : plan.length]]
    assert "5mg" not in "".join(written[:1])
    assert all(text.strip(" ") in {"", "5"} for text in written if "5" in text)
    paid = [node for _, node in plan.words]
    assert len(set(paid)) == len(paid)


def long_text() -> str:
    words = ["the mean was 12.5 (from 100 to 2,000) in 7 of 120,", "then 5mg or 10%"]
    return " ".join(words[n % 2] for n in range(40))


@pytest.mark.parametrize("kind", KINDS)
def test_windows_have_every_target_once(kind: str, language_models: Models) -> None:
    lm = language_models[kind]
    some = paragraph(long_text())
    windows = Planner(lm.backbone.tokenizer, lm.tokens, lm.start, 2 * REACH).plans([some])[0]
    assert len(windows) > 5
    assert [t for plan in windows for t in plan.targets] == list(range(len(some.starts) + 1))
    assert sum(len(plan.numerals) for plan in windows) == len(some.numerals)
    for plan in windows:
        assert max(plan.positions) < 2 * REACH
        assert plan.targets[-1] not in some.numerals  # what follows one must know that it ended
    for plan in windows[1:]:
        first = min(node for _, node in plan.words)
        assert first > REACH // 4  # half of a window is seen again


def test_a_window_as_long_as_the_text_is_the_text(language_models: Models) -> None:
    lm = language_models["single"]
    some = paragraph("the mean was 12.5 in 7")
    whole = lm.score(lm.lay_out([some]))[0]
    planner = Planner(lm.backbone.tokenizer, lm.tokens, lm.start, 10**6)
    (plan,) = planner.plans([some])[0]
    with torch.no_grad():
        alone = lm.scorer.score([plan])
    np.testing.assert_allclose(alone.targets, whole.targets, atol=1e-5)


def test_a_long_text_is_scored_within_the_positions_of_the_model(language_models: Models) -> None:
    """GPT-2 has 256 positions and an error for the next: branches must not reach it."""
    lm = language_models["gpt2"]
    assert lm.window == 256
    some = paragraph(long_text())
    found = lm.score(lm.lay_out([some]))[0]
    assert len(found.targets) == len(some.starts) + 1
    assert np.isfinite(found.targets).all()


def test_a_word_longer_than_a_window_and_numerals_without_words(language_models: Models) -> None:
    lm = language_models["single"]
    for text in ("x" * 700 + " 5", "1 " * 400 + "1"):
        some = paragraph(text)
        found = lm.score(lm.lay_out([some]))[0]
        assert len(found.targets) == len(some.starts) + 1
        assert len(found.numerals) == len(some.numerals)
        assert math.isfinite(found.targets.sum())
