"""Tables written out as text, to be read before a paragraph, within the window of a model.

What does not fit is left out line by line: those nearest to the paragraph's words stay, in their
order, and with them the headers of their tables. Where a paragraph sees all of its document, the
paragraphs before it are written too, a sentence a line.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress, pairwise
from math import log
from typing import Any

import numpy as np

from numerate.documents.document import Table
from numerate.lm.backbones.pretrained.layout import Paragraph, as_spelled
from numerate.lm.backbones.pretrained.prefix import Prefix
from numerate.lm.backbones.spelling.written import spelled_form
from numerate.text.reading_rules import ReadingRules
from numerate.text.table_numbers import MAX_NUMBERS, NumberInTable, numbers_in_sight

WRITING = 1  # the version of how tables are written: what was read of them otherwise is no more so
_WORD = re.compile(r"[^\W\d_]{2,}")
_SENTENCE = re.compile(r"(?<=[.!?;]) +(?=[^\W\d_a-z])")  # where one begins, as a rule

Source = Table | Paragraph


@dataclass(frozen=True, slots=True)
class Line:
    """What is written or left out as a whole: a row, a sentence, a table's caption and header."""

    tokens: list[int]
    numbers: list[tuple[int, int]]  # which of its table, and the token it ends with
    words: frozenset[str]

    def cut(self, size: int) -> "Line":
        """Without what is beyond so many tokens."""
        numbers = [(number, end) for number, end in self.numbers if end < size]
        return Line(self.tokens[:size], numbers, self.words)


@dataclass(frozen=True, slots=True)
class Written:
    """A table; or a paragraph, whose header is empty."""

    lines: list[Line]  # the header, then each row
    numbers: int  # how many there are


def words_of(text: str) -> frozenset[str]:
    """Numerals are none: those of a paragraph are yet to be predicted."""
    return frozenset(_WORD.findall(text.lower()))


class TableWriter:
    """Writes tables for one tokenizer."""

    def __init__(self, tokenizer: Any, start: int, room: int, rules: ReadingRules) -> None:
        """`room` is for the start symbol and everything that is written."""
        self._tokenizer, self._start, self._room, self._rules = tokenizer, start, room, rules
        (closing,) = self._encode([_Text("\n")])
        self._closing = closing.tokens  # an empty line after each table

    def written(self, sources: Sequence[Source]) -> list[Written]:
        texts = [
            _rows(source, self._rules) if isinstance(source, Table) else _sentences(source)
            for source in sources
        ]
        encoded = iter(self._encode([text for some in texts for text in some]))
        found = []
        for some in texts:
            header, *rows = (next(encoded) for _ in some)
            lines = [header.cut(self._room // 2), *rows]  # the other half is for rows
            found.append(Written(lines, sum(len(text.numbers) for text in some)))
        return found

    def selected(self, tables: Sequence[Written], words: frozenset[str]) -> list[list[bool]]:
        """Which lines of each table are written before a paragraph of such words."""
        keep = [[False] * len(table.lines) for table in tables]
        sizes = [[len(line.tokens) for line in table.lines] for table in tables]
        closing, room = len(self._closing), self._room - 1
        if sum(sum(some) + closing for some in sizes) <= room:
            return [[True] * len(some) for some in keep]
        places = [(table, line) for table, some in enumerate(sizes) for line in range(len(some))]
        nearness = _nearness([tables[table].lines[line] for table, line in places], words)
        for index in np.argsort(-nearness, kind="stable").tolist():
            table, line = places[index]
            # With the first of its rows comes the header.
            new = [] if keep[table][0] else [0]
            new += [line] if line else []
            cost = sum(sizes[table][each] for each in new) + (0 if keep[table][0] else closing)
            if cost <= room:
                room -= cost
                for each in new:
                    keep[table][each] = True
        return keep

    def prefix(self, tables: Sequence[Written], keep: list[list[bool]]) -> Prefix | None:
        """The lines of tables that are to be written; None where there is nothing to say of any."""
        tokens, ends = [self._start], list[int]()
        for table, kept in zip(tables, keep, strict=True):
            first, missing = len(ends), [-1] * table.numbers
            ends += missing
            for line in compress(table.lines, kept):
                for number, end in line.numbers:
                    ends[first + number] = len(tokens) + end
                tokens += line.tokens
            tokens += self._closing if kept[0] else []
        if len(tokens) == 1:
            if not ends:
                return None
            tokens += self._closing
        left_out = sum(kept[1:].count(False) for kept in keep)
        return Prefix(np.array(tokens[:-1]), tokens[-1], np.array(ends, dtype=np.int64), left_out)

    def _encode(self, texts: "Sequence[_Text]") -> list[Line]:
        if not texts:  # of which tokenizers make an error
            return []
        encoded = self._tokenizer(
            [text.text for text in texts],
            add_special_tokens=False,
            return_offsets_mapping=True,
            return_attention_mask=False,
            verbose=False,
        )
        found = []
        rows = zip(texts, encoded["input_ids"], encoded["offset_mapping"], strict=True)
        for text, ids, spans in rows:
            starts = [start for start, _ in spans]
            numbers = [(number, bisect_left(starts, end) - 1) for number, end in text.numbers]
            found.append(Line(ids, numbers, words_of(text.text)))
        return found


class Prefixes:
    """Those of the paragraphs of a corpus; equal ones are one."""

    def __init__(
        self,
        writer: TableWriter,
        sources: Sequence[Source],
        views: Iterable[Sequence[int]],
        texts: Iterable[str],
    ) -> None:
        """`views` are the sources that each of the texts has in sight."""
        written = writer.written(sources)
        known: dict[tuple[object, ...], int] = {}
        self.distinct: list[Prefix | None] = []
        which = []
        for view, text in zip(views, texts, strict=True):
            some = [written[source] for source in view]
            keep = writer.selected(some, words_of(text))
            key = (*view, *map(tuple, keep))
            if key not in known:
                known[key] = len(self.distinct)
                self.distinct.append(writer.prefix(some, keep))
            which.append(known[key])
        self.which = np.array(which, dtype=np.int64)  # [paragraphs] among the distinct ones

    def __len__(self) -> int:
        return len(self.which)

    def __getitem__(self, paragraph: int) -> Prefix | None:
        return self.distinct[int(self.which[paragraph])]

    @property
    def left_out(self) -> tuple[int, int]:
        """Rows, and numbers, that did not fit: each as often as a paragraph lacks it."""
        counts = np.bincount(self.which, minlength=len(self.distinct))
        pairs = [
            (prefix.rows_left_out, int((~prefix.seen).sum())) if prefix else (0, 0)
            for prefix in self.distinct
        ]
        rows, numbers = (counts @ np.array(pairs, dtype=np.int64).reshape(-1, 2)).tolist()
        return rows, numbers


def _nearness(lines: Sequence[Line], words: frozenset[str]) -> np.ndarray:
    """How many of a paragraph's words each line has; rare ones among the lines count more."""
    shared = [line.words & words for line in lines]
    often = Counter(word for some in shared for word in some)
    weight = {word: log(1 + len(lines) / count) for word, count in often.items()}
    return np.array([sum(weight[word] for word in some) for some in shared])


@dataclass(slots=True)
class _Text:
    text: str = ""
    numbers: list[tuple[int, int]] = field(default_factory=list)  # which, where it ends

    def add_cell(self, cell: str, numbers: Iterable[tuple[int, NumberInTable]]) -> None:
        """Its numbers are written as those of paragraphs are."""
        done = 0
        for which, number in numbers:
            form = spelled_form(cell[number.start : number.end], number.text)
            self.text += cell[done : number.start] + form
            self.numbers.append((which, len(self.text)))
            done = number.end
        self.text += cell[done:]


def _rows(table: Table, rules: ReadingRules) -> list[_Text]:
    """The label, caption and header, then each row: cells between bars.

    A cell that spans others is written once.
    """
    numbers: dict[tuple[int, int], list[tuple[int, NumberInTable]]] = {}
    for which, number in enumerate(numbers_in_sight(table, rules)):
        numbers.setdefault((number.row, number.column), []).append((which, number))

    def add_row(text: _Text, cells: Sequence[str], row: int) -> None:
        if not any(cells):
            return
        text.text += "|"
        for column, cell in enumerate(cells):
            if cell and (row, column) not in table.repeated:
                text.text += " "
                text.add_cell(cell, numbers.get((row, column), ()))
            text.text += " |"
        text.text += "\n"

    title = ". ".join(filter(None, (table.label.strip(" ."), table.caption.strip())))
    header = _Text(f"{title}\n" if title else "")
    for row, cells in enumerate(table.header, -len(table.header)):
        add_row(header, cells, row)
    found = [header]
    for row, cells in enumerate(table.body):
        found.append(_Text())
        add_row(found[-1], cells, row)
    return found


def _sentences(paragraph: Paragraph) -> list[_Text]:
    """After an empty header, the sentences of a paragraph, which end a line each."""
    plain = as_spelled(paragraph)
    ends = [plain.ends[index] for index in sorted(plain.numerals)[:MAX_NUMBERS]]
    borders = [0, *(match.end() for match in _SENTENCE.finditer(plain.text)), len(plain.text)]
    found = [_Text()]
    for begin, end in pairwise(borders):
        inside = range(bisect_right(ends, begin), bisect_right(ends, end))
        numbers = [(which, ends[which] - begin) for which in inside]
        found.append(_Text(f"{plain.text[begin:end].rstrip()}\n", numbers))
    return found
