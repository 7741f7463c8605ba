"""Texts that are in no dataset, as a corpus takes them."""

from collections.abc import Sequence

import numpy as np

from numerate.lm.backbones.pretrained.language_model import read_paragraphs
from numerate.lm.backbones.pretrained.layout import Paragraph
from numerate.lm.data.batching import Corpus
from numerate.lm.data.dataset import Encoded, Split
from numerate.lm.data.numeral_table import NumeralTable
from numerate.numeral import is_numeral
from numerate.text.columns import SightColumns
from numerate.text.tokenizer import Token
from numerate.text.vocabulary import Vocabulary


class Texts:
    """Each is a paragraph from its start to its end."""

    name = "text"

    def __init__(
        self,
        texts: Sequence[str],
        tokens: Sequence[list[Token]],
        columns: SightColumns | None = None,
    ) -> None:
        """`columns` are the tables in view of each, where the model sees any numbers."""
        self.texts, self.tokens, self.columns = list(texts), list(tokens), columns
        codes: dict[str, int] = {}
        flat = [codes.setdefault(token.text, len(codes)) for some in tokens for token in some]
        ends = np.cumsum([0, *map(len, tokens)])
        self._encoded = Encoded(list(codes), np.array(flat, dtype=np.int32), ends)

    def encode(self) -> Encoded:
        return self._encoded

    def corpus(self, vocabulary: Vocabulary) -> Corpus:
        numerals = {*filter(is_numeral, self._encoded.types)}
        numerals.update(self.columns.numerals if self.columns is not None else ())
        table = NumeralTable.of_text(numerals, vocabulary.numeral_ids())
        return Corpus(self, vocabulary, table, self.columns)


def paragraphs_of(corpus: Corpus) -> list[Paragraph]:
    """The texts of a corpus with their tokens."""
    split = corpus.split
    if isinstance(split, Texts):
        pairs = zip(split.texts, split.tokens, strict=True)
        everything = [Paragraph.of(*pair) for pair in pairs]
    elif isinstance(split, Split):
        everything = read_paragraphs(split)
    else:
        raise ValueError("a corpus of columns has no texts")
    return [everything[index] for index in corpus.sources]
