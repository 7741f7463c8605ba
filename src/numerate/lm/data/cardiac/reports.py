"""Reports of heart MRI scans, with the exact log-probability of every token."""

from collections.abc import Iterable, Iterator

import numpy as np

from numerate.documents.document import Document, Paragraph
from numerate.lm.data.cardiac.foresight import log_probs_given
from numerate.lm.data.cardiac.graph import END
from numerate.lm.data.cardiac.oracle import Oracle, grammar
from numerate.lm.data.cardiac.patient_table import PatientTable

_NO_SPACE_BEFORE = frozenset(".,;:%)-/")
_NO_SPACE_AFTER = frozenset("(-/")


def render(tokens: Iterable[str]) -> str:
    """The text that the tokens write: sentence case and spaces are functions of the tokens."""
    display = grammar().display
    pieces: list[str] = []
    before = "."
    for token in tokens:
        written = display.get(token, token)
        if before == ".":
            written = written[0].upper() + written[1:]
        if pieces and token not in _NO_SPACE_BEFORE and before not in _NO_SPACE_AFTER:
            pieces.append(" ")
        pieces.append(written)
        before = token
    return "".join(pieces)


def _uniforms(generator: np.random.Generator) -> Iterator[float]:
    while True:
        yield from generator.random(256).tolist()


def write(oracle: Oracle, generator: np.random.Generator) -> tuple[list[str], list[float]]:
    """The tokens of one report, and their log-probabilities followed by that of the end."""
    uniform = _uniforms(generator).__next__
    tokens: list[str] = []
    log_probs: list[float] = []
    while True:
        token = oracle.draw(uniform)
        log_probs.append(oracle.advance(token))
        if token == END:
            return tokens, log_probs
        tokens.append(token)


def generate(
    documents: int, seed: int, *, start: int = 0, tables: bool = False
) -> Iterator[Document]:
    """Reports `start` to `start + documents` of the endless sequence that `seed` determines.

    Report i depends on (seed, i) alone, so that processes can share the work. With `tables` each
    comes with a table of its patient; the reports are the same.
    """
    for name, value in (("documents", documents), ("seed", seed), ("start", start)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ValueError(f"{name}: got {value!r}, expected a whole number, zero or more")
    return (_report(seed, index, tables) for index in range(start, start + documents))


def _report(seed: int, index: int, with_table: bool) -> Document:
    def generator(*key: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(index, *key)))

    oracle = Oracle()
    tokens, log_probs = write(oracle, generator())
    paragraph = Paragraph(render(tokens), log_probs=log_probs)
    tables = []
    if with_table:
        record = PatientTable.draw(oracle.filled, oracle.belief, generator(1).random)
        paragraph.log_probs_with_tables = log_probs_given(record, tokens)
        tables = [record.table()]
        paragraph.tables = tuple(table.id for table in tables)
    return Document(f"cardiac-{seed}-{index:06d}", [paragraph], tables)
