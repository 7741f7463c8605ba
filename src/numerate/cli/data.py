"""Commands that need no model: documents in, a dataset and its statistics out."""

from typing import Annotated

import typer

from numerate.cli.app import command
from numerate.cli.shared_options import (
    INPUT_FORMATS,
    Address,
    DatasetFolder,
    Decimal,
    Engine,
    Field,
    Processes,
    SplitNames,
)


@command
def prepare(
    source: Annotated[
        str,
        typer.Argument(
            help="A file, folder or archive of documents, here or elsewhere (s3://…), or 'cardiac' "
            "(a folder of that name is ./cardiac)."
        ),
    ],
    out: Annotated[
        str,
        typer.Option(help="Folder to write the dataset to, here or elsewhere.", metavar="PLACE"),
    ],
    input_format: Annotated[
        str, typer.Option("--format", help=INPUT_FORMATS, metavar="NAME")
    ] = "auto",
    keep: Annotated[
        str | None,
        typer.Option(
            help="Paragraphs to keep: table-refs, mixed (those, and one in eight of the others), "
            "numerals, all; or rows of tables.",
            metavar="RULE",
            show_default="table-refs of articles, numerals of other text",
        ),
    ] = None,
    field: Field = "text",
    split_names: SplitNames = False,
    decimal: Decimal = "point",
    seed: Annotated[int, typer.Option(help="Of the split, and of the built-in corpus.")] = 1,
    documents: Annotated[int, typer.Option(help="cardiac: how many reports to write.")] = 2000,
    tables: Annotated[
        bool,
        typer.Option("--tables", help="cardiac: with a table of the patient beside each report."),
    ] = False,
    processes: Processes = 0,
    engine: Engine = "local",
    address: Address = None,
    follow_links: Annotated[
        bool, typer.Option("--follow-links", help="Also read what links out of the source lead to.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first thing that cannot be read.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing folder.")] = False,
) -> None:
    """Read documents and write a dataset: split by document, tokenised, as Parquet."""
    from numerate.cli.console import prepare_with_progress

    prepare_with_progress(
        source,
        out,
        format=input_format,
        keep=keep,
        field=field,
        split_names=split_names,
        decimal=decimal,
        seed=seed,
        documents=documents,
        tables=tables,
        processes=processes,
        engine=engine,
        address=address,
        follow_links=follow_links,
        strict=strict,
        force=force,
    )


@command
def describe(
    dataset: DatasetFolder,
    vocabulary: Annotated[int, typer.Option(help="Vocabulary size for the unknown rates.")] = 1000,
    signed: Annotated[
        bool,
        typer.Option("--signed", help="Numbers with their signs and powers of ten, read whole."),
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="First compare every file with its hash.")
    ] = False,
) -> None:
    """Print the statistics of a dataset: the paper's Table 1, unknown rates, frequent numerals."""
    from numerate.cli.console import print_description
    from numerate.lm.data.dataset import Dataset
    from numerate.lm.data.describe import describe as describe_dataset

    opened = Dataset.open(dataset, verified=verify)
    print_description(opened, describe_dataset(opened, vocabulary, signed=signed))
