"""Commands that draw figures: what the models learnt, and what digits numbers have."""

from pathlib import Path
from typing import Annotated

import typer

from numerate.cli.app import command
from numerate.cli.named_places import FOLDER
from numerate.cli.shared_options import (
    Cache,
    Decimal,
    Device,
    Field,
    MovedBackbone,
    SplitNames,
    TrustRemoteCode,
)


@command
def inspect(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Folders of trained runs of one dataset.", **(FOLDER | {"metavar": "RUN…"})
        ),
    ],
    out: Annotated[
        str,
        typer.Option(help="Folder for figures, their data and the report.", metavar="FOLDER"),
    ],
    context: Annotated[
        list[str] | None,
        typer.Option(
            help="Text before a numeral to predict; may be repeated.",
            metavar="TEXT",
            show_default="two of the dev split",
        ),
    ] = None,
    dataset: Annotated[
        Path | None,
        typer.Option(help="Dataset.", show_default="the one the runs were trained on", **FOLDER),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            help="Look at so many paragraphs of the dev split, always the same.",
            show_default="all, or 200 where a pretrained model reads them",
        ),
    ] = None,
    backbone: MovedBackbone = None,
    cache: Cache = None,
    trust_remote_code: TrustRemoteCode = False,
    device: Device = None,
) -> None:
    """Show what the models learnt: figures and tables of embeddings, predictions and errors.

    In the folder of a reproduction or of an earlier report, it adds to what is there.
    """
    from numerate.cli.inspect_command import inspect_with_progress

    inspect_with_progress(
        runs,
        out,
        contexts=context or [],
        dataset=dataset,
        device=device,
        limit=limit,
        backbone=backbone,
        cache=cache,
        trust_remote_code=trust_remote_code,
    )


@command
def benford(
    source: Annotated[
        str,
        typer.Argument(
            help="A file of text or of numbers, a folder or archive, a dataset, or - for "
            "standard input."
        ),
    ],
    out: Annotated[
        str | None,
        typer.Option(
            help="Folder for the figure as PNG and SVG, and its data.",
            metavar="FOLDER",
            show_default="none",
        ),
    ] = None,
    field: Field = "text",
    format: Annotated[
        str, typer.Option(help="table, markdown, latex or csv.", metavar="NAME")
    ] = "table",
    split_names: SplitNames = False,
    decimal: Decimal = "point",
) -> None:
    """Compare the significant digits of numbers with Benford's law."""
    from numerate.lm.inspect.benford import print_benford
    from numerate.text.reading_rules import ReadingRules

    rules = ReadingRules(decimal, split_names)
    print_benford(source, out, field=field, format=format, rules=rules)
