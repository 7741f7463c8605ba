"""Texts, corpora and documents as a model reads them, some paragraphs at a time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from numerate.backbones.texts import paragraphs_of
from numerate.batching import Corpus
from numerate.corpus.tokenizer import Token
from numerate.documents.document import Document, Paragraph
from numerate.model.numeral_lm import NumeralLM, TextReading

Report = Callable[[int], None]  # how many paragraphs of the text have been dealt with


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph with at least one numeral, and how it is read."""

    document: Document
    paragraph: Paragraph
    reading: TextReading

    def place(self, token: Token) -> tuple[int, int, str]:
        """Where a token stands in what was given, and how it is written, in one line."""
        start, end = self.document.span(self.paragraph, token.start, token.end)
        return start, end, self.paragraph.text[token.start : token.end]


def read_texts(model: NumeralLM, texts: Sequence[str]) -> Iterator[TextReading]:
    """One after another."""
    for part in _parts(model, len(texts)):
        yield from model.read_texts(texts[part], going_on=True)


def read_corpus(model: NumeralLM, corpus: Corpus) -> Iterator[TextReading]:
    """Its paragraphs one after another, from what is cached of them where they are of a dataset."""
    for part in _parts(model, len(corpus)):
        some = corpus.take(np.arange(len(corpus))[part])
        paragraphs = paragraphs_of(some)
        texts = [paragraph.text for paragraph in paragraphs]
        tokens = [paragraph.tokens() for paragraph in paragraphs]
        yield from model.text_readings(texts, tokens, model.read(some, going_on=True))


def read_passages(
    model: NumeralLM,
    document: Document,
    report: Report | None = None,
    heed: Callable[[TextReading], None] | None = None,
) -> Iterator[list[Passage]]:
    """Paragraphs that have numerals, those read together at a time; `heed` is shown how all of
    them are read."""
    for part in _parts(model, len(document.paragraphs), report):
        some = document.paragraphs[part]
        readings = model.read_texts([paragraph.text for paragraph in some], going_on=True)
        if heed:
            for reading in readings:
                heed(reading)
        yield [
            Passage(document, paragraph, reading)
            for paragraph, reading in zip(some, readings, strict=True)
            if len(reading.positions)
        ]


def _parts(model: NumeralLM, count: int, report: Report | None = None) -> Iterator[slice]:
    """As many texts at a time as the model reads well together, so that memory does not grow
    with their number, and who waits is told how far it is."""
    for begin in range(0, count, model.backbone.texts_at_once):
        if report:
            report(begin)
        yield slice(begin, begin + model.backbone.texts_at_once)
    if report:
        report(count)
