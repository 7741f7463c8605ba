"""Documents checked some paragraphs at a time."""

from pathlib import Path

import pytest

from numerate.backbones.lstm import LSTMBackbone
from numerate.corpus.extract import Rules, extract
from numerate.corpus.keep import Keep
from numerate.documents import read_file
from numerate.documents.reader import Unit
from numerate.documents.text import read_text
from numerate.model.numeral_lm import NumeralLM, TextReading
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


def test_what_the_model_reads_is_what_a_dataset_of_the_file_has(
    models: dict[str, NumeralLM],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Byte for byte, however a text comes to it; findings have the places of what was given."""
    lm = models["combination"]
    text = (
        "\ufeffThe fraction\r\nis 55\u00a0%,\t of  17\n863.\r\n\r\nThe volume is\n123456789.123 ml."
    )
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode())
    rows = extract(Unit("a.txt", "text", path.read_bytes()), Rules(Keep.ALL)).paragraphs
    heard: list[str] = []
    read = NumeralLM.read_in_view

    def listen(
        self: NumeralLM, texts: list[str], columns: None, **options: bool
    ) -> list[TextReading]:
        heard.extend(texts)
        return read(self, texts, columns, **options)

    monkeypatch.setattr(NumeralLM, "read_in_view", listen)
    given = text.removeprefix("\ufeff")
    check_documents(lm, read_file(str(path)), 0.05)
    found = lm.checker.assess(given, 0.05)
    glances = lm.checker.glance(given, 0.05)
    stored = rows["text"].to_pylist()
    assert heard == stored * 3
    expected = ["55", "17\n863", "123456789.123"]
    for findings in (found, glances):
        assert [given[finding.start : finding.end] for finding in findings] == expected
    assert [finding.written for finding in found] == ["55", "17 863", "123456789.123"]
    tokens = [token.text for token in lm.tokens(stored[0])]
    assert tokens == rows["tokens"].to_pylist()[0]
    token = lm.checker.numeral_at(given, given.index("17"))
    assert given[token.start : token.end] == "17\n863"
