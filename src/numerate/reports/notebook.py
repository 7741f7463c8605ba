"""How answers look in a notebook: tables and pictures in HTML, no script, nothing fetched."""

import base64
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from numerate.reports.templates import render

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def as_picture(figure: "Figure", words: str) -> str:
    """Draw a figure, with the words that say what it shows, as an image of its own: nothing in it
    can clash with the page around it."""
    from numerate.reports.look import look  # matplotlib only where something is drawn

    stream = io.BytesIO()
    with look():
        figure.savefig(stream, format="svg", metadata={"Date": None})
    data = base64.b64encode(stream.getvalue()).decode()
    return str(render("reports/notebook_picture.html.jinja", words=words, data=data))


def as_table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    template = "reports/notebook_table.html.jinja"
    return str(render(template, caption=caption, columns=columns, rows=rows))
