"""The tables that paragraphs of a split have in view, at hand, so that sources have names."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import overload

from numerate.documents.document import Table
from numerate.lm.backbones.pretrained.language_model import read_paragraphs
from numerate.lm.backbones.pretrained.layout import Paragraph
from numerate.lm.data.batching import columns_in_view
from numerate.lm.data.dataset import Dataset, Split
from numerate.text.columns import EarlierParagraph, SightColumns


def named_columns(dataset: Dataset, split: str, sight: str) -> SightColumns | None:
    """The numbers in view of a split's paragraphs, and the tables they stand in."""
    of = dataset.split(split)
    columns = columns_in_view(of, sight)
    if columns is None or columns.sources is None:
        return columns
    tables = TablesInView(of, columns.sources.tolist())
    return replace(columns, tables=tables, rules=dataset.reading)


class TablesInView(Sequence[Table | EarlierParagraph]):
    """What the sources of a sight say; read when it is asked for, since few are ever shown."""

    def __init__(self, split: Split, sources: list[int]) -> None:
        self._split, self._sources = split, sources

    def __len__(self) -> int:
        return len(self._sources)

    @overload
    def __getitem__(self, index: int) -> Table | EarlierParagraph: ...
    @overload
    def __getitem__(self, index: slice) -> list[Table | EarlierParagraph]: ...
    def __getitem__(
        self, index: int | slice
    ) -> Table | EarlierParagraph | list[Table | EarlierParagraph]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        source = self._sources[index]
        if source >= 0:
            return self._tables[source]
        row = -1 - source
        paragraph = self._paragraphs[row]
        return EarlierParagraph(self._places[row], paragraph.text, paragraph.tokens())

    @cached_property
    def _tables(self) -> list[Table]:
        return self._split.tables()

    @cached_property
    def _paragraphs(self) -> list[Paragraph]:
        return read_paragraphs(self._split)

    @cached_property
    def _places(self) -> list[int]:
        """Of each paragraph, which one of its document it is."""
        firsts: dict[str, int] = {}
        documents = self._split.read(["document"])["document"].to_pylist()
        return [row - firsts.setdefault(of, row) for row, of in enumerate(documents)]
