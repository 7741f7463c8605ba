"""What writers say of findings in the text itself: `numerate: ignore`, `numerate: ignore[NUM101]`.

At the end of a line it is about that line; on a line of its own, usually in a comment, about the
paragraph it stands in, or about the next one if it stands alone.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from numerate.checking.finding import Finding
from numerate.checking.rule import RULES
from numerate.documents.source_map import name_in
from numerate.proofreading.model_rules import MODEL_RULES
from numerate.proofreading.proofread import ProofreadDocument, Said
from numerate.proofreading.selection import all_rules, codes_like, split_codes

_SAID = re.compile(r"numerate:[ \t]*ignore(?![\w-])(?:[ \t]*\[([^\]\n]{0,200})\])?", re.IGNORECASE)
_MARKS = re.compile(r"[\s%#*{}()<>!.;:,/\\-]+")  # of comments
LONG = 1000  # characters
_BLANK = re.compile(r"\n(?:[ \t\r]*\n)+")


@dataclass(frozen=True, slots=True)
class Suppression:
    start: int  # where it is said, offsets into the text
    end: int
    about: tuple[int, int]  # a line or a paragraph
    written: tuple[str, ...]  # codes or their beginnings; none: all

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


def suppressions(text: str) -> Iterator[Suppression]:
    borders = _Borders(text)
    for said in _SAID.finditer(text):
        about = line = borders.line(said.start())
        if not _words(text, said, line):
            paragraph = borders.paragraph(said.start())
            alone = not _words(text, said, paragraph)
            about = borders.paragraph(said.start(), later=1) if alone else paragraph
        codes = tuple(split_codes([said[1]])) if said[1] else ()
        yield Suppression(said.start(), said.end(), about, codes)


def _words(text: str, said: re.Match[str], within: tuple[int, int]) -> str:
    """What else stands there, but for the marks of comments; a long text has words."""
    if within[1] - within[0] > LONG:
        return text[within[0] : within[0] + LONG]
    return _MARKS.sub("", text[within[0] : said.start()] + text[said.end() : within[1]])


def suppress(
    proofread: ProofreadDocument, looked_for: frozenset[str]
) -> tuple[ProofreadDocument, list[str]]:
    """Without what the writer has looked at, and a line for each suppression that is not needed.

    Only what has the code is left out: what else is said of the numeral is told. Of codes that
    were not looked for, nobody can tell whether they are needed.
    """
    found = list(suppressions(proofread.document.source.text))
    if not found:
        return proofread, []
    borders = _Borders(proofread.document.source.text)
    about: dict[tuple[int, int], set[str]] = {}
    for one in found:
        about.setdefault(one.about, set()).update(one.codes)
    used: set[tuple[tuple[int, int], str]] = set()

    def is_unwanted(said: Said) -> bool:
        span = proofread.read.span(said.where)
        if span is None:
            return False
        around = {borders.line(span[0]), borders.paragraph(span[0])}
        hits = {(scope, said.code) for scope in around if said.code in about.get(scope, ())}
        if isinstance(said, Finding) or said.flagged:
            used.update(hits)
        return bool(hits)

    left = proofread.without(is_unwanted)
    return left, [line for one in found for line in _unneeded(proofread, one, used, looked_for)]


def _unneeded(
    proofread: ProofreadDocument,
    one: Suppression,
    used: Collection[tuple[tuple[int, int], str]],
    looked_for: frozenset[str],
) -> Iterator[str]:
    place = proofread.document.source.place(one.start, one.end)
    at = f":{place.line}:{place.column}" if place.line else f", paragraph {place.paragraph}"
    where = f"{name_in(proofread.document.name, place)}{at}"
    if (
        not one.written
        and looked_for >= RULES.keys()
        and not any((one.about, code) in used for code in one.codes)
    ):
        by = "" if looked_for >= MODEL_RULES.keys() else " without all kinds of models"
        yield f"{where}: numerate: ignore is not needed: nothing is found there{by}"
    for written in one.written:
        like = codes_like(written)
        if not like:
            yield f"{where}: numerate: ignore[{written}]: there is no such code"
        elif like <= looked_for and not any((one.about, code) in used for code in like):
            yield f"{where}: numerate: ignore[{written}] is not needed: it is not found there"
