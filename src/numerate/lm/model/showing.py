"""How answers look in a notebook: tables and pictures in HTML, no script, nothing fetched."""

import base64
import io
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def as_picture(figure: "Figure", words: str) -> str:
    """A figure with the words that say what it shows, drawn as an image of its own: nothing in it
    can clash with the page around it."""
    from numerate.reports.look import look  # matplotlib only where something is drawn

    stream = io.BytesIO()
    with look():
        figure.savefig(stream, format="svg", metadata={"Date": None})
    data = base64.b64encode(stream.getvalue()).decode()
    return (
        f'<figure><img alt="{escape(words)}" src="data:image/svg+xml;base64,{data}">'
        f"<figcaption>{escape(words)}</figcaption></figure>"
    )


def as_table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )
