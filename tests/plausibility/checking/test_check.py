"""Documents checked some paragraphs at a time."""

import pytest

from numerate.backbones.lstm import LSTMBackbone
from numerate.documents.text import read_text
from numerate.model.numeral_lm import NumeralLM
from numerate.plausibility.checking.check import check_documents

TEXTS = [
    "The fraction is 55 %.\n\nNothing.\n\nThe volume is 140 ml, or 123456789.123 ml.",
    "",
    "A mass of 90 g.\n\nA mass of 9000000 g.",
]


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_how_many_are_read_at_once_changes_nothing(
    models: dict[str, NumeralLM],
    monkeypatch: pytest.MonkeyPatch,
    everything: bool,
    at_once: int,
) -> None:
    lm = models["combination"]
    documents = [read_text(text, f"{n}") for n, text in enumerate(TEXTS)]
    expected = check_documents(lm, documents, 0.05, everything=everything)
    monkeypatch.setattr(LSTMBackbone, "texts_at_once", at_once)
    told: list[tuple[str, int, int]] = []
    found = check_documents(
        lm,
        documents,
        0.05,
        everything=everything,
        progress=lambda *state: told.append(state),
    )
    assert found.numerals == expected.numerals == 5
    assert found.flagged == expected.flagged > 0
    pairs = zip(found.findings(everything=True), expected.findings(everything=True), strict=True)
    for (_, one), (_, other) in pairs:
        assert (one.start, one.end, one.flagged) == (other.start, other.end, other.flagged)
        assert (one.likely, one.reason) == (other.likely, other.reason)
        assert one.surprisal == pytest.approx(other.surprisal, rel=1e-5)
    counts = [done for _, done, _ in told]
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (0, 5)
    assert {(what, total) for what, _, total in told} == {("checking", 5)}
    if at_once == 1:
        assert set(counts) == set(range(6))
