"""Cells of a table of a PDF, as they are put together."""

import re
from dataclasses import dataclass, field

from numerate.documents.pdf.lines import Line

NUMBER = re.compile(r"\s*[<>≤≥=+−–-]?\s*[€$£]?[0-9.]")


@dataclass(slots=True, eq=False)
class Block:
    """Lines of one cell."""

    first: int  # column
    last: int
    lines: list[Line]
    number: int = 0  # of its first line among those of the table
    rows: int = 1

    @property
    def top(self) -> float:
        return self.lines[0].top

    @property
    def bottom(self) -> float:
        return self.lines[-1].bottom


@dataclass(slots=True, eq=False)
class CellGrid:
    """Cells by rows, each with the columns and rows that it spans."""

    edges: list[float]  # of columns
    rows: list[list[Block]] = field(default_factory=list)
    header: int = 0  # rows at the top that a rule or bold type sets apart

    @property
    def columns(self) -> int:
        return len(self.edges) - 1
