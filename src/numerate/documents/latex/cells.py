"""Text of LaTeX with tables in it: where one is being read, signs end cells, and lines rows."""

import re
from collections.abc import Sequence

from numerate.documents.cell_grid import MAX_SPAN
from numerate.documents.flow import PlacedFlow
from numerate.documents.latex.macros import MacroStream
from numerate.documents.latex.tables import FIRST_ARGUMENTS, TexTable, columns_of
from numerate.documents.latex.text import TexText
from numerate.documents.latex.tokens import COMMAND, TEXT, Token, plain
from numerate.documents.placed_table import PlacedCell

_RULES = {"toprule", "midrule", "bottomrule", "hline", "specialrule", "Xhline", "hhline"}
_RULE_ARGUMENTS = {"specialrule": "mmm", "Xhline": "m", "hhline": "m"}


class TexCells(TexText):
    def __init__(self, stream: MacroStream) -> None:
        super().__init__(stream)
        self.table: TexTable | None = None
        self.apart = 0  # texts that are being read and no paragraphs: captions, notes
        self._columns: list[str] = []
        self._within_cell = 0  # tables in the cell

    def inside(self, tokens: Sequence[Token]) -> PlacedFlow:
        outer = self.table, self._within_cell
        self.table, self._within_cell = None, 0
        self.apart += 1
        found = super().inside(tokens)
        self.apart -= 1
        self.table, self._within_cell = outer
        return found

    def begins_cells(self, name: str, token: Token) -> bool:
        """Whether a table does; one within a cell, or a caption, is but text."""
        self.skip(FIRST_ARGUMENTS[name])
        self._columns = columns_of(plain(self.stream.argument()))
        if self.table is None and not self.apart:
            return True
        self._within_cell += 1
        self.flow.space()
        return False

    def begin_cells(self, token: Token) -> None:
        self.table = TexTable(token.at, self._columns, self.numbers, self.flow)
        self.flow = PlacedFlow(token.at)

    def end_cells(self) -> TexTable | None:
        """The table that ends, unless it is one within a cell."""
        if self._within_cell:
            self._within_cell -= 1
            if self.table is not None:
                self.table.nested += 1
            self.flow.space()
            return None
        if self.table is None:
            return None
        done = self.table
        done.braces = 0
        self.line_end()
        self.table, self.flow = None, done.around
        return done

    def end_all_cells(self) -> TexTable | None:
        """Of a table that is not ended by itself, but with what it stands in."""
        self._within_cell = 0
        return self.end_cells()

    def command(self, token: Token) -> None:
        if self.table is None or self._within_cell or not self._in_table(token):
            super().command(token)

    def before(self, token: Token) -> None:
        """Within braces, no sign ends a cell."""
        if self.table is not None:
            if token.kind == "{" or (token.kind == TEXT and not token.text.isspace()):
                self.table.begins(in_braces=token.kind == "{")
            self.table.braces += (token.kind == "{") - (token.kind == "}")

    def cell_end(self) -> None:
        if self.table is None or self._within_cell or self.table.braces > 0:
            self.flow.space()
            return
        self.table.cell(self.flow.placed())
        self.flow = PlacedFlow(self.flow.at)

    def line_end(self) -> None:
        self.cell_end()
        if self.table is not None and not self._within_cell and self.table.braces <= 0:
            self.table.row_end()

    def _in_table(self, token: Token) -> bool:
        """Whether a command says how a table is set."""
        assert self.table is not None
        name, stream = token.text, self.stream
        if name in _RULES:
            self.skip("o" + _RULE_ARGUMENTS.get(name, ""))
            self.table.rule()
        elif name == "multicolumn":
            self.table.spans(columns=_whole(stream.words()))
            stream.argument()
        elif name == "multirow":
            stream.optional()
            self.table.spans(rows=_whole(stream.words()))
            self.skip("omo")
        elif name == "SetCell":
            options = dict(re.findall(r"\b([cr])\s*=\s*([0-9]+)", plain(stream.optional() or [])))
            self.table.spans(_whole(options.get("c", "1")), _whole(options.get("r", "1")))
            stream.argument()
        elif name in ("endfirsthead", "endhead", "endfoot", "endlastfoot"):
            self.table.part_end(name)
        elif name == "tablehead":
            last = Token(COMMAND, "\\", token.end, token.end, 1)
            stream.put_back([*stream.argument(), last, last._replace(text="endhead")])
        elif name in ("tablecomments", "tablenotetext", "tablerefs"):
            self.skip("om" if name == "tablenotetext" else "")
            self.table.foot.append([PlacedCell(self.inside(stream.argument()).placed())])
        elif name not in ("startdata", "enddata"):
            return False
        return True


def _whole(written: str) -> int:
    """How much a cell spans; what is none of our numbers spans nothing more."""
    bare = written.strip().removeprefix("-")
    if not bare.isdecimal() or len(bare) > 4:
        return 1
    size = min(int(bare), MAX_SPAN)
    return -size if written.strip().startswith("-") else size
