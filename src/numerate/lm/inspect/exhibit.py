"""A figure together with the data behind it: looked at, saved, and put on a page."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from numerate.errors import NumerateError
from numerate.reports.look import look
from numerate.reports.tables import ResultTable, csv_text
from numerate.storage.atomic import write_file

Cell = str | int | float
KINDS = ("png", "svg", "csv")  # of files that an exhibit is saved as


class NothingToShowError(NumerateError):
    """A figure that these runs cannot have; the message says why."""


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows, as a spreadsheet or a program reads them."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def column(self, name: str) -> list[Cell]:
        index = list(self.columns).index(name)
        return [row[index] for row in self.rows]

    def csv(self) -> str:
        return csv_text([self.columns, *self.rows])


@dataclass(frozen=True, slots=True)
class Exhibit:
    """What each function of `numerate.lm.inspect` returns."""

    name: str  # of its files
    title: str
    caption: str
    figure: Figure
    table: Table  # the data behind the figure
    shown: tuple[ResultTable, ...] = ()  # what of it a page shows as tables

    def save(self, folder: str | Path) -> str:
        """Write NAME.png, NAME.svg and NAME.csv; returns the SVG."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        images = {}
        self.figure.align_ylabels()
        layout = self.figure.get_layout_engine()
        with look():
            for format, about in (("png", {"Software": None}), ("svg", {"Date": None})):
                stream = io.BytesIO()
                self.figure.savefig(
                    stream, format=format, dpi=300, transparent=format == "svg", metadata=about
                )
                images[format] = stream.getvalue()
                write_file(folder / f"{self.name}.{format}", images[format])
                self.figure.set_layout_engine(None)  # all is in its place, in every format
        self.figure.set_layout_engine(layout)
        write_file(folder / f"{self.name}.csv", self.table.csv().encode())
        return images["svg"].decode()
