"""Texts, corpora and documents as a model reads them, some paragraphs at a time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from numerate.documents.document import Document, Paragraph, Table
from numerate.lm.backbones.texts import paragraphs_of
from numerate.lm.data.batching import Corpus
from numerate.lm.data.document_sight import KeptParagraph, sight_of_document
from numerate.lm.model.numeral_lm import NumeralLM, TextReading
from numerate.text.columns import EarlierParagraph, SightColumns, sees_tables
from numerate.text.seen_numbers import Source
from numerate.text.tokenizer import Token

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

    def located(self, source: Source) -> Source:
        """The same with offsets into what was given, whichever paragraph a number stands in."""
        return located_in(self.document, self.paragraph, source)


def located_in(document: Document, paragraph: Paragraph, source: Source) -> Source:
    numbers = []
    for number in source.numbers:
        if number.start is not None and number.end is not None:
            own = number.paragraph is None
            within = paragraph if own else document.paragraphs[number.paragraph or 0]
            start, end = document.span(within, number.start, number.end)
            number = replace(number, start=start, end=end)
        numbers.append(number)
    return replace(source, numbers=tuple(numbers))


def columns_of(
    model: NumeralLM, document: Document, tables: Sequence[Table] = ()
) -> SightColumns | None:
    """What each paragraph of a document has in view, as it would have in a dataset: its tables, as
    the model's sight goes, and those that are given beside them, which are counted first."""
    model.check_tables(tables)
    level = model.config.sight
    if not sees_tables(level):
        return model.columns([()] * len(document.paragraphs))
    given = [replace(table, id=f"given {number}") for number, table in enumerate(tables)]
    ids = tuple(table.id for table in given)
    everything = [*given, *document.tables]
    earlier: list[EarlierParagraph] = []
    kept = []
    for index, paragraph in enumerate(document.paragraphs):
        tokens = model.tokens(paragraph.text) if level == "document" else []
        numerals = [place for place, token in enumerate(tokens) if token.is_numeral]
        referred = (*paragraph.tables, *ids)
        texts = [token.text for token in tokens]
        kept.append(KeptParagraph(texts, numerals, referred, paragraph.holds))
        earlier.append(EarlierParagraph(index, paragraph.text, tokens))
    rules = model.reference.reading
    sight = sight_of_document(everything, kept, rules)
    found = replace(sight.columns, tables=(*everything, *earlier[:-1]), rules=rules)
    return found if level == "tables" else found.with_views(sight.document_views)


def read_texts(
    model: NumeralLM, texts: Sequence[str], columns: SightColumns | None
) -> Iterator[TextReading]:
    """One after another, each with what it has in view."""
    everything = np.arange(len(texts))
    for part in _parts(model, len(texts)):
        in_view = None if columns is None else columns.take(everything[part])
        yield from model.read_in_view(texts[part], in_view, going_on=True)


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
    tables: Sequence[Table] = (),
    report: Report | None = None,
    heed: Callable[[TextReading], None] | None = None,
) -> Iterator[list[Passage]]:
    """Paragraphs that have numerals, those read together at a time; `heed` is shown how all of
    them are read. The `tables` are in view of each, beside those of the document itself."""
    columns = columns_of(model, document, tables)
    everything = np.arange(len(document.paragraphs))
    for part in _parts(model, len(document.paragraphs), report):
        some = document.paragraphs[part]
        in_view = None if columns is None else columns.take(everything[part])
        texts = [paragraph.text for paragraph in some]
        readings = model.read_in_view(texts, in_view, going_on=True)
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
