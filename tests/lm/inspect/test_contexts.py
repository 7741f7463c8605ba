"""Contexts: the state after a text, and sentences around the numerals of the dev split."""

import pytest
import torch

from numerate.errors import NumerateError
from numerate.lm.backbones.contract import Targets
from numerate.lm.inspect.contexts import dev_contexts, picked_contexts, typed_context
from numerate.lm.inspect.runs import Run


@pytest.mark.parametrize("model", ["softmax+rnn", "combination"])
def test_a_typed_text_gives_the_state_that_the_same_text_has_in_the_corpus(
    runs: dict[str, Run], model: str
) -> None:
    run = runs[model]
    text = run.shared.dataset.split("dev").read(["text", "starts", "numerals"])
    found = 0
    place = 0
    for paragraph in range(5):
        starts, numerals = text["starts"][paragraph].as_py(), text["numerals"][paragraph].as_py()
        for token in numerals:
            before = text["text"][paragraph].as_py()[: starts[token]]
            if before.strip():
                state = typed_context(before).place(run).hidden
                torch.testing.assert_close(state[0], run.dev_states[place], atol=1e-5, rtol=1e-4)
                found += 1
            place += 1
    assert found > 5


def test_contexts_of_the_dev_split_know_their_numeral(runs: dict[str, Run]) -> None:
    run = runs["mog"]
    rows = Targets.of(run.shared.dev).rows
    places = [0, 1, len(rows) // 2, len(rows) - 1]
    texts = run.shared.dataset.split("dev").read(["text"])["text"].to_pylist()
    for place, context in zip(
        places, dev_contexts(run.shared.dataset, run.shared.dev, places), strict=True
    ):
        assert context.truth == run.shared.dev.table.texts[rows[place]]
        assert any(f"{context.before}{context.truth}{context.after}" in text for text in texts)
        assert ". " not in context.before
        torch.testing.assert_close(context.place(run).hidden, run.dev_states[place : place + 1])


def test_picked_contexts_take_turns_and_stay_the_same(runs: dict[str, Run]) -> None:
    chosen = [runs["h-softmax"], runs["mog"]]
    contexts = picked_contexts(chosen, 4)
    assert contexts == picked_contexts(chosen, 4)
    assert len({context.dev_place for context in contexts}) == 4
    assert ["." in (context.truth or "") for context in contexts] == [True, False] * 2


def test_an_empty_context_is_refused() -> None:
    with pytest.raises(NumerateError, match="context: got an empty text"):
        typed_context(" \n")


def test_a_long_context_is_shortened_at_a_word() -> None:
    context = typed_context("one two three four five six")
    assert context.ending(12) == "… five six"
    assert context.ending(100) == "one two three four five six"
