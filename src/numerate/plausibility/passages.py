"""The paragraphs of a text as a model reads them, some at a time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

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
    """One after another; no more are read at a time than the model reads well together."""
    for begin in range(0, len(texts), model.backbone.texts_at_once):
        yield from model.read_texts(
            texts[begin : begin + model.backbone.texts_at_once], going_on=True
        )


def read_passages(
    model: NumeralLM,
    document: Document,
    report: Report | None = None,
    heed: Callable[[TextReading], None] | None = None,
) -> Iterator[list[Passage]]:
    """Paragraphs that have numerals; `heed` is shown how all of them are read.

    They come as many at a time as the model reads well together, so that memory does not grow
    with the document, and who waits is told how far it is.
    """
    paragraphs = document.paragraphs
    for begin in range(0, len(paragraphs), model.backbone.texts_at_once):
        if report:
            report(begin)
        some = paragraphs[begin : begin + model.backbone.texts_at_once]
        readings = model.read_texts([paragraph.text for paragraph in some], going_on=True)
        if heed:
            for reading in readings:
                heed(reading)
        yield [
            Passage(document, paragraph, reading)
            for paragraph, reading in zip(some, readings, strict=True)
            if len(reading.positions)
        ]
    if report:
        report(len(paragraphs))
