"""Where the comments of a document stand, in which writers say `numerate: ignore`."""

import re
from collections.abc import Iterator

from numerate.documents import PLAIN
from numerate.documents.document import BETWEEN, Document
from numerate.documents.markdown.code import (
    Stretches,
    markdown_code_and_comments,
    stretch_at,
)
from numerate.documents.table_file import is_table_file

LATEX, MARKDOWN, NOTEBOOK = "latex", "markdown", "notebook"
_OWN_LINE = re.compile(
    r"^[ \t]*(?:[#%]+[ \t]*|\.\.[ \t]+)numerate:[ \t]*ignore(?:[ \t]*\[[^\]\n]*\])?[ \t\r]*$",
    re.IGNORECASE | re.MULTILINE,
)
_TAG = re.compile(
    r"<[A-Za-z][^<>\"'\n]{0,200}(?:(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}')[^<>\"'\n]{0,200}){1,20}>"
)
_TEX = re.compile(
    r"\\begin\{(?P<environment>[BL]?[Vv]erbatim|spverbatim|alltt|lstlisting|minted|comment|"
    r"filecontents|Highlighting|S(?:input|output|chunk))\*?\}"
    r"|\\(?:[vV]erb|lstinline|mintinline)\*?(?P<sign>[^\sA-Za-z*{\[])"
    r"|\\."
    r"|%[^\n]*",
    re.DOTALL,
)


def comments(document: Document) -> Stretches:
    """Stretches of the document's source, in their order; none where its format has no comments
    that are read."""
    if document.given is None or is_table_file(document.name):
        return []
    if document.format == LATEX:
        return list(_of_latex(document.given))
    if document.format == MARKDOWN:
        return _of_markdown(document.given)
    if document.format == NOTEBOOK:
        return list(_of_cells(document))
    if document.format in ("", PLAIN):
        return _of_plain_text(document)
    return []


def _of_cells(document: Document) -> Iterator[tuple[int, int]]:
    text = document.given or ""
    ends = [part.start - len(BETWEEN) for part in document.parts[1:]]
    for part, end in zip(document.parts, [*ends, len(text)], strict=True):
        for first, last in _of_markdown(text[part.start : end]):
            yield part.start + first, part.start + last


def _of_markdown(text: str) -> Stretches:
    """What looks like one in an attribute of HTML is none."""
    found = markdown_code_and_comments(text)[1]
    if not found:
        return []
    tags = [tag.span() for tag in _TAG.finditer(text)]
    return [one for one in found if stretch_at(tags, one[0]) is None]


def _of_plain_text(document: Document) -> Stretches:
    """Comments of HTML, and lines that say nothing else behind the mark of a comment."""
    text = document.given or ""
    code, _ = markdown_code_and_comments(text)
    marked = _of_markdown(text)
    others = sorted([*code, *marked])
    lines = [line.span() for line in _OWN_LINE.finditer(text)]
    return sorted([*marked, *(one for one in lines if stretch_at(others, one[0]) is None)])


def _of_latex(text: str) -> Iterator[tuple[int, int]]:
    """From a percent sign to the end of its line, but where it is escaped or printed verbatim."""
    at, endless = 0, set[str]()
    while found := _TEX.search(text, at):
        at = found.end()
        if found[0].startswith("%"):
            yield found.span()
        elif name := found["environment"]:
            end = -1 if name in endless else text.find(f"\\end{{{name}", at)
            if end < 0:
                endless.add(name)
            else:
                at = end
        elif sign := found["sign"]:
            line_end = text.find("\n", at)
            close = text.find(sign, at, len(text) if line_end < 0 else line_end)
            at = max(close + 1, at)
