"""One look for all figures: legible in a two-column page, safe for colour-blind readers."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from textwrap import wrap
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from numerate.errors import printable

WIDTH = 3.3  # inches: a column of a two-column page
INK = "#24292f"  # of all text and lines; a page replaces it by the colour of its text
COLOURS = {  # Okabe and Ito
    "grey": "#7f7f7f",
    "blue": "#0072b2",
    "green": "#009e73",
    "orange": "#d55e00",
    "pink": "#cc79a7",
    "sky": "#56b4e9",
    "amber": "#e69f00",
}
_DASHES = ("-", ":", "-.", (0, (5, 1)), (0, (1, 3)), (0, (3, 1, 1, 1)))
_LETTER, _TITLE_LETTER = 3.6, 4.2  # points: the width of most letters of a legend, of a title
_LEGEND_LINE = 0.125  # inches
_LEGEND_MARK = 28.0  # points: what stands before a label of a legend, and the gap after it
_LOOK: Any = {
    "font.size": 7,
    "axes.titlesize": 7,
    "axes.labelsize": 7,
    "xtick.labelsize": 6,
    "ytick.labelsize": 6,
    "legend.fontsize": 6,
    "legend.frameon": False,
    "lines.linewidth": 1.1,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.2,
    "grid.linewidth": 0.4,
    "svg.hashsalt": "numerate",  # the same figure gives the same bytes
    **dict.fromkeys(
        ["text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"], INK
    ),
    "grid.color": INK,
}


@contextmanager
def look() -> Iterator[None]:
    """Draw and save within it."""
    with rc_context(_LOOK):
        yield


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """An empty figure, in inches."""
    return Figure(figsize=(width, height), layout="constrained")


def legend_above(figure: Figure, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """One legend for the whole figure, in as many columns as its width holds.

    Lines beyond the second make the figure taller.
    """
    room = int(72 * figure.get_figwidth() / (_LEGEND_MARK + _LETTER * max(map(len, labels))))
    columns = max(1, min(4, len(labels), room))
    lines = -(-len(labels) // columns)
    figure.set_figheight(figure.get_figheight() + _LEGEND_LINE * max(0, lines - 2))
    figure.legend(handles, list(map(drawn, labels)), loc="outside upper center", ncols=columns)


def drawn(name: str) -> str:
    """A name of a run or a file as it is to stand in a figure: dollars in it are no formula."""
    return printable(name).replace("$", r"\$")


def wrapped(label: str, width: float) -> str:
    """The title of a panel, broken into lines of so many inches, first between its parts."""
    letters = max(8, int(72 * width / _TITLE_LETTER))
    parts = [label] if len(label) <= letters else label.split(" · ")
    return "\n".join(drawn(line) for part in parts for line in wrap(part, letters))


def colour_of(style: tuple[str, str]) -> str:
    """That of a head; of a name that the look does not have, ink."""
    return COLOURS.get(style[0], INK)


def line_styles(styles: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Colour and dashes for each line, other dashes where a style comes again."""
    lines = []
    for index, style in enumerate(styles):
        again = styles[:index].count(style)
        dash = _DASHES[again % len(_DASHES)] if again else style[1]
        lines.append({"color": colour_of(style), "linestyle": dash})
    return lines
