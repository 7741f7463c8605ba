"""LaTeX: what is written as articles and reports, before it is set."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from numerate.documents.captions import reads_as_caption
from numerate.documents.document import Document, Paragraph, Table
from numerate.documents.flow import PlacedFlow
from numerate.documents.latex.arguments import ENVIRONMENT_ARGUMENTS
from numerate.documents.latex.cells import TexCells
from numerate.documents.latex.inputs import Inputs, declared_codec, tex_source
from numerate.documents.latex.macros import MacroStream
from numerate.documents.latex.tables import FIRST_ARGUMENTS, TexTable
from numerate.documents.latex.tokens import TEXT, Token
from numerate.documents.pipe_tables import label_and_caption, tables_named
from numerate.documents.placed_table import NOTHING, PlacedSource, after_label
from numerate.documents.placed_text import PlacedText
from numerate.documents.reader import Reader, Unit
from numerate.documents.source_map import SourceMap
from numerate.reports.notices import say

_BEGINS = re.compile(r"^[^%\n]*\\begin\s*\{document\}", re.MULTILINE)
_COMMAND = re.compile(rb"(?:\s|%[^\n]*+\n)*+\\[A-Za-z]")  # is the first that is no comment
_NO_TEXT = {
    "verbatim", "verbatim*", "Verbatim", "lstlisting", "minted", "comment", "Highlighting",
    "filecontents", "filecontents*", "thebibliography", "tikzpicture", "picture", "alltt",
    "algorithm", "algorithmic", "algorithm2e", "CCSXML", "pgfpicture", "forest", "references",
    "Sinput", "Soutput", "Schunk", "CSLReferences", "bibliography", "axis", "CJK@", "spverbatim",
}  # fmt: skip
_FLOATS = {
    "table", "table*", "sidewaystable", "sidewaystable*", "wraptable", "margintable", "figure",
    "figure*", "sidewaysfigure", "wrapfigure", "SCfigure", "SCtable", "marginfigure",
    "figwindow", "floatrow", "listing", "code",
}  # fmt: skip
_LISTS = {"itemize": "item", "enumerate": "numbered", "description": "item", "compactitem": "item"}
_HEADINGS = {
    "part": "#", "chapter": "#", "section": "##", "subsection": "###", "subsubsection": "####",
    "paragraph": "#####", "subparagraph": "######",
}  # fmt: skip
UNNUMBERED = "Table in line"  # what it is called that has no number
_INPUTS = {"input", "include", "subfile", "subfileinclude", "import", "subimport"}


class LatexReader(Reader):
    """One document a file, with the files that it takes in."""

    suffixes = (".tex", ".ltx", ".latex")
    articles = True

    def recognises(self, beginning: bytes) -> bool:
        return _COMMAND.match(beginning) is not None and b"\\documentclass" in beginning

    def read(self, unit: Unit) -> Iterator[Document]:
        text = tex_source(unit.data, unit.name)
        note = partial(_note, unit.name)
        inputs = Inputs(text, unit.name, unit.folder, declared_codec(unit.data), note)
        yield _LatexDocument(text, unit.name, inputs).document()


@dataclass(slots=True)
class TexParagraph:
    """A paragraph, and what it says of tables."""

    paragraph: Paragraph
    text: str  # with the numbers of tables it names
    labels: list[str]
    placed: PlacedText


def latex_fragment(text: str, number: int) -> tuple[list[TexParagraph], list[Table]]:
    """What stands in another format; so many tables before it have a number."""
    nothing = Inputs(text, "", None, None, lambda _what: None)
    found = _LatexDocument(text, "", nothing, number)
    found.document()
    return found.written, found.tables


def _note(name: str, what: str) -> None:
    say(f"{name}: {what}")


@dataclass(slots=True)
class _Float:
    """What moves to where there is room, with all that belongs to it."""

    outer: PlacedFlow
    is_figure: bool
    start: int
    of_table: bool = False  # that stands where it is written
    caption: PlacedText = NOTHING
    number: int | None = None
    label: str = ""
    labels: list[str] = field(default_factory=list)
    tables: list[TexTable] = field(default_factory=list)


class _LatexDocument(TexCells):
    def __init__(self, text: str, name: str, inputs: Inputs, number: int = 0) -> None:
        super().__init__(MacroStream(text, self._note))
        self._name, self._inputs, self._source = name, inputs, text
        self.written: list[TexParagraph] = []
        self._notes: list[TexParagraph] = []  # at the foot, until their paragraph has ended
        self.tables: list[Table] = []
        self._labels: dict[str, str] = {}  # of tables: their ids
        self._number = number  # of tables that have one
        self._float: _Float | None = None
        self._abstracts = 0
        self._lists: list[str] = []
        self._kind = ""

    def _note(self, what: str, at: int) -> None:
        lines = SourceMap.of_runs(self._inputs.given, [], self._inputs.parts)
        place = lines.place(at, at + 1)
        name = place.part.name if place.part else self._name
        say(f"{name}:{place.line}: {what}")

    def document(self) -> Document:
        if _BEGINS.search(self._source):
            self._read_preamble()
        self.run()
        if self._float is not None:  # which nobody ended
            self._end_float()
        self.paragraph_end()
        for one in self.written:
            ids = [self._labels[label] for label in one.labels if label in self._labels]
            named = tables_named(one.text, self.tables)
            one.paragraph.tables = tuple(dict.fromkeys([*ids, *named]))
        paragraphs = [one.paragraph for one in self.written]
        given, parts = self._inputs.given, self._inputs.parts
        found = Document(self._name, paragraphs, self.tables, given=given, parts=parts)
        for table in self.tables:
            if not table.label and table.source is not None:
                line, _ = found.source.line_and_column(table.source.stretches[0][0])
                table.label = f"{UNNUMBERED} {line}"
        return found

    def _read_preamble(self) -> None:
        """For what it defines; nothing of it is text."""
        while (token := self.stream.next()) is not None:
            if token.is_command("begin"):
                name = self.stream.words()
                if name == "document":
                    break
                self.stream.skip_to(f"\\end{{{name}}}")
            elif token.is_command(*_INPUTS):
                self._input(token)
            elif token.is_command("sisetup", "newcommand", "usepackage", "newenvironment"):
                self.command(token)
        self.flow = PlacedFlow(0)

    # Paragraphs

    def paragraph_end(self) -> None:
        if self.apart or self._float is not None or self.table is not None:
            self.flow.space()
            return
        self._keep(self.flow, self.referred, self._kind)
        self.flow, self.referred, self._kind = PlacedFlow(self.flow.at), [], ""
        self.written += self._notes
        self._notes = []

    def _keep(self, flow: PlacedFlow, labels: list[str], kind: str = "") -> None:
        if one := self._paragraph(flow, labels, kind):
            self.written.append(one)

    def _paragraph(
        self, flow: PlacedFlow, labels: list[str], kind: str = ""
    ) -> TexParagraph | None:
        text = flow.placed()
        if not text.text:
            return None
        paragraph = Paragraph.placed(text, in_abstract=self._abstracts > 0, kind=kind)
        return TexParagraph(paragraph, flow.written, labels, text)

    def _apart_from_it(self, tokens: Sequence[Token]) -> tuple[PlacedFlow, list[str]]:
        """A text that is no part of the one around it, and what it refers to."""
        referred, self.referred = self.referred, []
        flow = self.inside(tokens)
        labels, self.referred = self.referred, referred
        return flow, labels

    # Commands

    def command(self, token: Token) -> None:
        name = token.text
        if name in _INPUTS:
            self._input(token)
        elif name in ("par", "newpage", "clearpage", "cleardoublepage", "bigskip", "medskip"):
            self.paragraph_end()
        elif name in _HEADINGS:
            self._heading(name)
        elif name == "item":
            self._item()
        elif name in ("footnote", "footnotetext", "sidenote", "marginpar", "endnote"):
            self._footnote()
        elif name in ("caption", "captionof", "topcaption", "tablecaption", "bottomcaption"):
            self._caption(token)
        elif name == "label":
            label = self.stream.words().strip()
            if self._float is not None:
                self._float.labels.append(label)
        elif name == "abstract":
            self._abstract()
        else:
            super().command(token)

    def _heading(self, name: str) -> None:
        self.stream.takes("*")
        self.stream.optional()
        flow, labels = self._apart_from_it(self.stream.argument())
        self.paragraph_end()
        self._keep(flow, labels, _HEADINGS[name])

    def _item(self) -> None:
        label = self.stream.optional()
        self.paragraph_end()
        if self._lists and not self.apart and self._float is None:
            self._kind = _LISTS.get(self._lists[-1], "item")
            if label and self._lists[-1] == "description":
                self.stream.put_back([*label, Token(TEXT, " ", label[-1].end, label[-1].end, 1)])

    def _footnote(self) -> None:
        self.flow.border()
        self.stream.optional()
        flow, labels = self._apart_from_it(self.stream.argument())
        if note := self._paragraph(flow, labels):
            (self._notes if self._float is None else self.written).append(note)

    def _caption(self, token: Token) -> None:
        numbered = not self.stream.takes("*")
        kind = self.stream.words() if token.text == "captionof" else ""
        self.stream.optional()
        flow, labels = self._apart_from_it(self.stream.argument())
        if self._float is None:
            self._keep(flow, labels)
            return
        float = self._float
        if kind == "table":
            float.is_figure = False
        if not float.caption.text:
            label, words = label_and_caption(" ".join(flow.written.split()))
            told = flow.placed()
            if label and words:  # typed by hand
                float.label, told = label, after_label(told)
            float.caption = told
        elif self.table is None:  # of a part of it
            self.flow.text(*flow.placed())
        if numbered and not float.is_figure and float.number is None:
            self._number += 1
            float.number = self._number

    def _abstract(self) -> None:
        """As a command, in some classes."""
        tokens = self.stream.argument()
        self._abstracts += 1
        self._run_all(tokens)
        self.paragraph_end()
        self._abstracts -= 1

    def _input(self, token: Token) -> None:
        if token.text in ("import", "subimport"):
            folder = self.stream.words().strip()
            written = f"{folder.rstrip('/')}/{self.stream.words().strip()}".lstrip("/")
        elif (ahead := self.stream.peek()) is not None and ahead.kind == TEXT:
            self.stream.raw()  # without braces, up to a space
            written = ahead.text.split()[0] if ahead.text.split() else ""
            after = ahead.text.index(written) + len(written)
            self.stream.put_back([ahead.part(after)] if ahead.text[after:] else [])
        else:
            written = self.stream.words()
        found = self._inputs.open(written, self.stream.open_bases())
        apart = token.text in ("include", "subfile", "subfileinclude")
        if apart:
            self.paragraph_end()
        if found is not None:
            self.stream.open(*found, apart=apart)

    # Environments

    def environment(self, name: str, token: Token) -> None:
        if name in _NO_TEXT:
            self.stream.skip_to(f"\\end{{{name}}}")
            self.flow.space()
        elif name in FIRST_ARGUMENTS:
            if self.begins_cells(name, token):
                if self._float is None:
                    self._begin_float("table", token)
                    assert self._float is not None
                    self._float.of_table = True
                self.begin_cells(token)
        elif name in _FLOATS:
            self.skip(ENVIRONMENT_ARGUMENTS.get(name, "o"))
            if self._float is None and not self.apart:
                self._begin_float(name, token)
        else:
            self.skip(ENVIRONMENT_ARGUMENTS.get(name, "o"))
            if name in ("abstract", "abstract*"):
                self._abstracts += 1
            elif name in _LISTS:
                self._lists.append(name)
            self.paragraph_end()

    def environment_end(self, name: str) -> None:
        if name == "document":
            self.stream.stop()
        elif name in FIRST_ARGUMENTS:
            if self._float is not None and (done := self.end_cells()):
                self._float.tables += [done] if done.rows or done.head else []
                if self._float.of_table:
                    self._end_float()
        elif name in _FLOATS:
            if self._float is not None and not self.apart:
                self._end_float()
        else:
            self.paragraph_end()
            if name in ("abstract", "abstract*"):
                self._abstracts = max(self._abstracts - 1, 0)
            elif name in _LISTS and name in self._lists:
                self._lists.pop()

    def _begin_float(self, name: str, token: Token) -> None:
        self._float = _Float(self.flow, "table" not in name.lower(), token.at)
        self.flow = PlacedFlow(token.at)

    def _end_float(self) -> None:
        assert self._float is not None
        if table := self.end_all_cells():
            self._float.tables.append(table)
        done, self._float = self._float, None
        notes, self.flow = self.flow.placed(), done.outer
        self.flow.space()
        if done.is_figure and not done.tables:
            if done.caption.text:
                caption = Paragraph.placed(done.caption)
                self._notes.append(TexParagraph(caption, done.caption.text, [], done.caption))
            return
        if done.of_table and not done.caption.text:
            self._take_caption(done)
        label = done.label or (f"Table {done.number}" if done.number else "")
        id = next(iter(done.labels), f"#{len(self.tables) + 1}")
        self._labels |= dict.fromkeys(done.labels, id)
        if not done.tables:  # a picture of one
            source = PlacedSource((done.start, done.start + 1), caption=done.caption.places)
            self.tables.append(
                Table(id, label, done.caption.text, [], [], is_picture=True, source=source)
            )
        for index, table in enumerate(done.tables, 1):
            told = done.caption if index == 1 else NOTHING
            below = notes if index == len(done.tables) else NOTHING
            self.tables.append(table.finish(id, label, below, told))

    def _take_caption(self, done: _Float) -> None:
        """Of a table that stands where it is written: the paragraph before it, if it says so."""
        if not self.written or self.flow.written.strip():
            return
        told = " ".join(self.written[-1].text.split())
        label, words = label_and_caption(told)
        if words and reads_as_caption(told) and not self.written[-1].paragraph.kind:
            done.label, done.caption = label, after_label(self.written.pop().placed)
