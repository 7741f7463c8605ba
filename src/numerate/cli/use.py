"""Commands that use a model: predict a number, rank claims, check a text, serve a page."""

from pathlib import Path
from typing import Annotated

import typer

from numerate.cli.app import command
from numerate.cli.options import (
    Cache,
    DatasetFolder,
    Limit,
    MovedDataset,
    OutputFormat,
    Run,
    TrustRemoteCode,
)
from numerate.plausibility.source import ModelSource


@command
def predict(
    run: Run,
    text: Annotated[
        str,
        typer.Argument(
            help="What comes before the number; ___ marks a gap; - reads one text a line."
        ),
    ],
    top: Annotated[int, typer.Option(help="How many of the most probable numerals.")] = 5,
    interval: Annotated[float, typer.Option(help="Probability of the central interval.")] = 0.9,
    plot: Annotated[
        Path | None, typer.Option(help="Also draw the distribution: .png, .svg or .pdf.")
    ] = None,
    dataset: MovedDataset = None,
    cache: Cache = None,
    trust_remote_code: TrustRemoteCode = False,
    format: OutputFormat = "table",
) -> None:
    """Print which numerals a model expects next, or in the gap ___ of a text."""
    from numerate.plausibility.asking import predict_numeral

    source = ModelSource(run, dataset, cache, trust_remote_code)
    predict_numeral(source, text, top=top, interval=interval, plot=plot, format=format)


@command
def rank(
    run: Run,
    claims: Annotated[list[str], typer.Argument(help="Texts with numerals; - reads one a line.")],
    by: Annotated[
        str, typer.Option(help="Probability of: numerals, or the whole sentence.", metavar="WAY")
    ] = "numerals",
    dataset: MovedDataset = None,
    cache: Cache = None,
    trust_remote_code: TrustRemoteCode = False,
    format: OutputFormat = "table",
) -> None:
    """Order claims by the probability of their numerals, and say what makes the difference."""
    from numerate.plausibility.asking import rank_claims

    rank_claims(ModelSource(run, dataset, cache, trust_remote_code), claims, by=by, format=format)


@command
def check(
    run: Run,
    files: Annotated[
        list[str], typer.Argument(help="Text, JATS or LaTeXML; - for standard input.")
    ],
    alarms: Annotated[
        float,
        typer.Option(help="Share of numerals that may be flagged on text like the training data."),
    ] = 0.01,
    input_format: Annotated[
        str, typer.Option(help="auto, text, jats or latexml.", metavar="NAME")
    ] = "auto",
    format: Annotated[
        str, typer.Option(help="terminal, json, csv, sarif or html.", metavar="NAME")
    ] = "terminal",
    everything: Annotated[
        bool, typer.Option("--all", help="Also what is not flagged; not in HTML.")
    ] = False,
    colour: Annotated[
        bool | None, typer.Option(help="Colours; by default where there is a terminal.")
    ] = None,
    dataset: MovedDataset = None,
    cache: Cache = None,
    trust_remote_code: TrustRemoteCode = False,
) -> None:
    """Report every numeral that is implausible where it stands."""
    from numerate.plausibility.command import check_files

    status = check_files(
        ModelSource(run, dataset, cache, trust_remote_code),
        files,
        alarms=alarms,
        input_format=input_format,
        format=format,
        everything=everything,
        colour=colour,
    )
    raise typer.Exit(status)


@command
def check_benchmark(
    run: Run,
    dataset: DatasetFolder,
    softmax: Annotated[
        str | None,
        typer.Option(help="Run of a plain softmax, for the baseline of its surprisal."),
    ] = None,
    split: Annotated[str, typer.Option(help="test or dev.")] = "test",
    seed: Annotated[int, typer.Option(help="Of the errors.")] = 1,
    limit: Limit = None,
    cache: Cache = None,
    trust_remote_code: TrustRemoteCode = False,
    format: Annotated[str, typer.Option(help="table, markdown or json.", metavar="NAME")] = "table",
) -> None:
    """Put known errors into held-out text and print how many of them checking finds."""
    from numerate.plausibility.command import benchmark_checking

    source = ModelSource(run, dataset, cache, trust_remote_code)
    benchmark_checking(source, softmax=softmax, split=split, seed=seed, limit=limit, format=format)


@command
def serve(
    run: Run,
    host: Annotated[
        str, typer.Option(help="Address to listen on; one that others can reach needs --token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0: any free one.", min=0, max=65535)] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            help="What clients must send as Authorization: Bearer.", envvar="NUMERATE_TOKEN"
        ),
    ] = None,
    dataset: MovedDataset = None,
    cache: Cache = None,
    trust_remote_code: TrustRemoteCode = False,
) -> None:
    """Serve a page in the browser, and a JSON API, that check texts with a model."""
    from numerate.server.command import serve as serve_run

    source = ModelSource(run, dataset, cache, trust_remote_code)
    serve_run(source, host=host, port=port, token=token)
