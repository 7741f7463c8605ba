"""Draws `describe.svg`: a report of the built-in corpus, and what `numerate describe` prints.

numerate prepare cardiac --documents 2000 --seed 1 --out demo/cardiac
python docs/images/draw.py demo/cardiac
"""

import io
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from numerate.cli.console import print_description
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.describe import describe

WIDTH = 92


def report(dataset: Dataset) -> Text:
    """The first report of the training split, its numerals in colour."""
    columns = ["text", "starts", "ends", "numerals"]
    row = dataset.split("train").read(columns).slice(0, 1).to_pylist()[0]
    text = Text(row["text"])
    for position in row["numerals"]:
        text.stylize("bold cyan", row["starts"][position], row["ends"][position])
    return text


def main() -> None:
    dataset = Dataset.open(sys.argv[1])
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Panel(report(dataset), title="one of the reports", border_style="dim"))
    print_description(dataset, describe(dataset, 1000), console)
    svg = console.export_svg(title="numerate describe demo/cardiac", unique_id="describe")
    # A picture in a document fetches nothing: the reader's own monospaced font will do.
    svg = re.sub(r"\s*@font-face \{[^}]*\}", "", svg)
    svg = svg.replace("Fira Code, monospace", "DejaVu Sans Mono, Menlo, Consolas, monospace")
    Path(__file__).with_name("describe.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
