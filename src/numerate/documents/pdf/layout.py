"""From the pages of a PDF to lines and tables in reading order, page by page."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from numerate.documents.pdf.cells import CellGrid
from numerate.documents.pdf.columns import Gutter, columns_in_order, find_gutters
from numerate.documents.pdf.furniture import Edges, line_numbers, running
from numerate.documents.pdf.lines import NO_WORDS, Line, Words, drawn_spaces, words_of
from numerate.documents.pdf.page import Side
from numerate.documents.pdf.rules import joined, without_underlines
from numerate.documents.pdf.tables import FoundTable, tables_among

_WINDOW = 2  # pages before and after one that its running heads are looked for on
_LEAST = 40  # characters written in another direction that are more than labels of a figure
_DRAWN = 0.7  # of all gaps as wide as a space, in a document that draws its spaces
_KEPT = 6  # gutters of earlier pages that are remembered


@dataclass(slots=True, eq=False)
class _Page:
    number: int
    sides: list[Side]
    words: list[Words]
    edges: Edges


@dataclass(slots=True, eq=False)
class Layout:
    """What has been learnt of a document so far."""

    sizes: Counter[float] = field(default_factory=Counter)
    gutters: deque[Gutter] = field(default_factory=lambda: deque(maxlen=_KEPT))
    last_table: CellGrid | None = None  # of the page before
    drawn: int = 0  # spaces between words that are drawn as characters
    gaps: int = 0  # as wide as a space

    @property
    def body(self) -> float:
        """The size of most characters."""
        return self.sizes.most_common(1)[0][0] if self.sizes else 10.0

    def items(self, pages: Iterable[tuple[int, list[Side]]]) -> Iterator[Line | FoundTable]:
        """Lines and tables; at no time more than a few pages are held."""
        near: deque[_Page] = deque()
        for number, sides in pages:
            near.append(self._opened(number, sides))
            if len(near) > _WINDOW:
                yield from self._read(near[-1 - _WINDOW], near)
            if len(near) > 2 * _WINDOW:
                near.popleft()
        for page in list(near)[max(len(near) - _WINDOW, 0) :]:
            yield from self._read(page, near)

    def _opened(self, number: int, sides: list[Side]) -> _Page:
        sides = [side for index, side in enumerate(sides) if not index or len(side.glyphs) > _LEAST]
        words = [words_of(side.glyphs) for side in sides]
        words = [some[~line_numbers(some)] for some in words]
        for some in words:
            drawn, gaps = drawn_spaces(some)
            self.drawn, self.gaps = self.drawn + drawn, self.gaps + gaps
        for side in sides[:1]:
            sizes, counts = np.unique(np.round(side.glyphs.size, 1), return_counts=True)
            self.sizes.update(dict(zip(sizes.tolist(), counts.tolist(), strict=True)))
        return _Page(number, sides, words, Edges(words[0] if words else NO_WORDS))

    def _read(self, page: _Page, near: Iterable[_Page]) -> Iterator[Line | FoundTable]:
        others = [other.edges for other in near if other is not page]
        for index, (side, words) in enumerate(zip(page.sides, page.words, strict=True)):
            if not index:
                words = words[~running(words, page.edges, others)]
            if self.drawn < _DRAWN * self.gaps:
                words.apart[:] = False  # gaps say nothing where spaces are not drawn
            yield from self._side(page.number, side, words)

    def _side(self, number: int, side: Side, words: Words) -> Iterator[Line | FoundTable]:
        if not len(words):
            return
        across = without_underlines(joined(side.across), words)
        gutters = find_gutters(words, across, list(self.gutters))
        self.gutters.extend(gutters[:1])
        before, self.last_table = self.last_table, None
        for lines in columns_in_order(words, gutters):
            for line in lines:
                line.page = number
            for item in tables_among(lines, across, side.down, self.body, before):
                if isinstance(item, FoundTable):
                    before, self.last_table = None, item.grid
                _forget(item, number)
                yield item


def _forget(item: Line | FoundTable, page: int) -> None:
    if isinstance(item, Line):
        item.forget_words()
        return
    item.page = item.last_page = page
    cells = [] if item.grid is None else [b for row in item.grid.rows for b in row]
    for line in [*item.lines, *item.caption, *item.notes, *(x for b in cells for x in b.lines)]:
        line.page = page
        line.forget_words()
