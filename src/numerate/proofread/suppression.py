"""Comments that hide findings: `numerate: ignore`, `numerate: ignore[NUM101]`.

At the end of a line a comment is about that line; on a line of its own about the paragraph it
stands in, or about the next one if it stands alone. In HTML and XML it is about the paragraph or
table it stands in, or about the next one. Outside comments the words do nothing.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from numerate.documents.document import Document, Paragraph, Remark, Table
from numerate.documents.markdown.code import stretch_at
from numerate.documents.source_map import name_in
from numerate.proofread.comments import comments
from numerate.proofread.model_rules import MODEL_RULES
from numerate.proofread.proofread import ProofreadDocument, Said
from numerate.proofread.selection import all_rules, codes_like, split_codes
from numerate.rules.rule import RULES

_SAID = re.compile(r"numerate:[ \t]*ignore(?![\w-])(?:[ \t]*\[([^\]\n]{0,200})\])?", re.IGNORECASE)
_WORD = re.compile(r"[^\s%#*{}()<>!.;:,/\\-]")  # or anything but marks
_BLANK = re.compile(r"\n(?:[ \t\r]*\n)+")


About = tuple[int, int] | str | None
"""A line, a paragraph or another stretch of the text; the id of a table; or nothing."""


@dataclass(frozen=True, slots=True)
class Suppression:
    start: int  # where it is said, offsets into the text
    end: int
    about: About
    written: tuple[str, ...]  # codes or their beginnings; none: all
    remark: str = ""  # where it is said, if outside the text

    @property
    def codes(self) -> set[str]:
        if not self.written:
            return set(all_rules())
        return {code for one in self.written for code in codes_like(one)}


class _Borders:
    """The line and the paragraph around an offset."""

    def __init__(self, text: str) -> None:
        self._text = text
        blanks = [blank.span() for blank in _BLANK.finditer(text)]
        self._firsts = [0, *(end for _, end in blanks)]
        self._lasts = [*(start for start, _ in blanks), len(text)]

    def line(self, offset: int) -> tuple[int, int]:
        end = self._text.find("\n", offset)
        return self._text.rfind("\n", 0, offset) + 1, len(self._text) if end < 0 else end

    def paragraph(self, offset: int, later: int = 0) -> tuple[int, int]:
        index = min(bisect_right(self._firsts, offset) - 1 + later, len(self._firsts) - 1)
        return self._firsts[index], self._lasts[index]


def suppressions(document: Document) -> Iterator[Suppression]:
    for remark in document.remarks:
        for said in _SAID.finditer(remark.text):
            yield Suppression(*said.span(), _about(remark), _codes(said), remark.where)
    text, stretches = document.source.text, comments(document)
    directives = [said for start, end in stretches for said in _SAID.finditer(text, start, end)]
    if not directives:
        return
    borders, shown = _Borders(text), _without(text, stretches)
    for said in directives:
        about = line = borders.line(said.start())
        if not _has_words(shown, line):
            paragraph = borders.paragraph(said.start())
            alone = not _has_words(shown, paragraph)
            about = borders.paragraph(said.start(), later=1) if alone else paragraph
        yield Suppression(*said.span(), about, _codes(said))


def _about(remark: Remark) -> About:
    if isinstance(remark.about, Paragraph):
        return remark.about.start, remark.about.end
    return remark.about.id if isinstance(remark.about, Table) else remark.about


def _codes(said: re.Match[str]) -> tuple[str, ...]:
    return tuple(split_codes([said[1]])) if said[1] else ()


def _without(text: str, stretches: Sequence[tuple[int, int]]) -> str:
    """The text with spaces for comments, all else in its place."""
    pieces, done = list[str](), 0
    for start, end in stretches:
        pieces += [text[done:start], " " * (end - start)]
        done = end
    return "".join([*pieces, text[done:]])


def _has_words(shown: str, within: tuple[int, int]) -> bool:
    return _WORD.search(shown, *within) is not None


def suppress(
    proofread: ProofreadDocument, looked_for: frozenset[str]
) -> tuple[ProofreadDocument, list[str]]:
    """Leave out findings that comments hide; returns also a line for each unneeded suppression.

    Only findings of these codes are left out, not what else is said of the numeral. Suppressions of
    codes that were not looked for may be needed, and are not reported.
    """
    found = list(suppressions(proofread.document))
    if not found:
        return proofread, []
    borders = _Borders(proofread.document.source.text)
    about: dict[About, set[str]] = {}
    for one in found:
        about.setdefault(one.about, set()).update(one.codes)
    remarked = sorted({one.about for one in found if one.remark and isinstance(one.about, tuple)})
    used: set[tuple[About, str]] = set()

    def is_unwanted(said: Said) -> bool:
        read, where = proofread.read, said.where
        if read.is_beside(where):
            return False
        around: set[About] = set()
        if where.table is not None:
            around.add(read.tables[where.table].id)
        if span := read.span(where):
            around |= {borders.line(span[0]), borders.paragraph(span[0])}
            around.add(stretch_at(remarked, span[0]))
        around.discard(None)
        hits = {(scope, said.code) for scope in around if said.code in about.get(scope, ())}
        used.update(hits)
        return bool(hits)

    left = proofread.without(is_unwanted)
    return left, [line for one in found for line in _unneeded(proofread, one, used, looked_for)]


def _unneeded(
    proofread: ProofreadDocument,
    one: Suppression,
    used: Collection[tuple[About, str]],
    looked_for: frozenset[str],
) -> Iterator[str]:
    if one.remark:
        where = proofread.document.name + one.remark
    else:
        place = proofread.document.source.place(one.start, one.end)
        where = f"{name_in(proofread.document.name, place)}:{place.line}:{place.column}"
    if (
        not one.written
        and looked_for >= RULES.keys()
        and not any((one.about, code) in used for code in one.codes)
    ):
        by = "" if looked_for >= MODEL_RULES.keys() else "; not every kind of model was asked"
        yield f"{where}: numerate: ignore is not needed: nothing is found there{by}"
    for written in one.written:
        like = codes_like(written)
        if not like:
            yield f"{where}: numerate: ignore[{written}]: there is no such code"
        elif like <= looked_for and not any((one.about, code) in used for code in like):
            why = f"{written} is not found there"
            yield f"{where}: numerate: ignore[{written}] is not needed: {why}"
