"""The paragraphs of a text as a model reads them, some at a time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from numerate.model.numeral_lm import NumeralLM, TextReading
from numerate.plausibility.paragraphs import iter_paragraphs

Report = Callable[[int], None]  # how many paragraphs of the text have been dealt with


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph with at least one numeral, where it starts, and how it is read."""

    offset: int
    text: str
    reading: TextReading


def read_texts(model: NumeralLM, texts: Sequence[str]) -> Iterator[TextReading]:
    """One after another; no more are read at a time than the model reads well together."""
    for begin in range(0, len(texts), model.backbone.texts_at_once):
        yield from model.read_texts(
            texts[begin : begin + model.backbone.texts_at_once], going_on=True
        )


def read_passages(
    model: NumeralLM,
    text: str,
    report: Report | None = None,
    heed: Callable[[TextReading], None] | None = None,
) -> Iterator[list[Passage]]:
    """Paragraphs that have numerals; `heed` is shown how all of them are read.

    They come as many at a time as the model reads well together, so that memory does not grow
    with the text, and who waits is told how far it is.
    """
    parts = list(iter_paragraphs(text))
    for begin in range(0, len(parts), model.backbone.texts_at_once):
        if report:
            report(begin)
        some = parts[begin : begin + model.backbone.texts_at_once]
        passages = [
            Passage(offset, part, reading)
            for (offset, part), reading in zip(
                some, model.read_texts([part for _, part in some], going_on=True), strict=True
            )
        ]
        if heed:
            for passage in passages:
                heed(passage.reading)
        yield [passage for passage in passages if len(passage.reading.positions)]
    if report:
        report(len(parts))
