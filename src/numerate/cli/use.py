"""Commands that use a model: predict a number, rank claims, fill a table, check, serve, lsp."""

from pathlib import Path
from typing import Annotated

import typer

from numerate.cli.app import command
from numerate.cli.chosen import here, run_and_rest
from numerate.cli.named_places import FILE
from numerate.cli.shared_options import (
    INPUT_FORMATS,
    RUN_OR_CONFIGURED,
    Address,
    Alarms,
    Cache,
    DatasetFolder,
    Device,
    Engine,
    Field,
    IgnoredRules,
    Limit,
    MinProbability,
    Models,
    MovedBackbone,
    MovedDataset,
    OutputFormat,
    Processes,
    ReadingProcesses,
    SelectedRules,
    Tables,
    TrustRemoteCode,
)
from numerate.errors import NumerateError
from numerate.lm.model.source import ModelSource
from numerate.reports.notices import is_verbose
from numerate.storage import file_here


@command
def predict(
    arguments: Annotated[
        list[str],
        typer.Argument(
            help=f"{RUN_OR_CONFIGURED} Text: what comes before the number; ___ marks a gap; - "
            "reads one text a line.",
            metavar="[RUN] TEXT",
        ),
    ],
    top: Annotated[int, typer.Option(help="How many of the most probable numerals.")] = 5,
    interval: Annotated[float, typer.Option(help="Probability of the central interval.")] = 0.9,
    uncalibrated: Annotated[
        bool,
        typer.Option("--uncalibrated", help="The model's own interval, as wide as it thinks."),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Also draw the distribution: .png, .svg or .pdf.",
            show_default="no picture",
            **FILE,
        ),
    ] = None,
    table: Tables = None,
    dataset: MovedDataset = None,
    backbone: MovedBackbone = None,
    cache: Cache = None,
    trust_remote_code: TrustRemoteCode = False,
    device: Device = None,
    format: OutputFormat = "table",
) -> None:
    """Print which numerals a model expects next, or in the gap ___ of a text."""
    from numerate.lm.model.asking import predict_numeral

    usage = "numerate predict RUN TEXT"
    run, texts, _ = run_and_rest(arguments, here, usage)
    if len(texts) > 1:
        raise NumerateError(f"got {len(texts)} texts, expected one, in quotation marks: {usage}")
    source = ModelSource(run, dataset, cache, trust_remote_code, device, backbone)
    predict_numeral(
        source,
        texts[0],
        table or [],
        top=top,
        interval=interval,
        uncalibrated=uncalibrated,
        plot=plot,
        format=format,
    )


@command
def calibrate(
    run: Annotated[
        str, typer.Argument(help="Folder of a run, RUN:MEMBER, or hf:PATH.", metavar="RUN")
    ],
    dataset: MovedDataset = None,
    backbone: MovedBackbone = None,
    cache: Cache = None,
    trust_remote_code: TrustRemoteCode = False,
    device: Device = None,
    engine: Engine = "local",
    address: Address = None,
    processes: ReadingProcesses = None,
) -> None:
    """Calibrate alarms and intervals of a run on its dev split, and keep that in the run."""
    from numerate.lm.backbones.pretrained.block_reader import Readers

    readers = Readers.chosen(engine, address, processes, device)
    ModelSource(run, dataset, cache, trust_remote_code, device, backbone).calibrate(readers)


@command
def rank(
    arguments: Annotated[
        list[str],
        typer.Argument(
            help=f"{RUN_OR_CONFIGURED} Claims: texts with numerals; - reads one a line.",
            metavar="[RUN] CLAIM…",
        ),
    ],
    by: Annotated[
        str, typer.Option(help="Probability of: numerals, or the whole sentence.", metavar="WAY")
    ] = "numerals",
    table: Tables = None,
    dataset: MovedDataset = None,
    backbone: MovedBackbone = None,
    cache: Cache = None,
    trust_remote_code: TrustRemoteCode = False,
    device: Device = None,
    format: OutputFormat = "table",
) -> None:
    """Order claims by the probability of their numerals, and say what makes the difference."""
    from numerate.lm.model.asking import rank_claims

    run, claims, _ = run_and_rest(arguments, here, "numerate rank RUN CLAIM…")
    source = ModelSource(run, dataset, cache, trust_remote_code, device, backbone)
    rank_claims(source, claims, table or [], by=by, format=format)


@command
def fill(
    arguments: Annotated[
        list[str],
        typer.Argument(
            help=f"{RUN_OR_CONFIGURED} Table: CSV, TSV, Markdown, HTML or XLSX, with empty cells.",
            metavar="[RUN] TABLE",
        ),
    ],
    text: Annotated[
        Path | None, typer.Option(help="A text about the table.", show_default="none", **FILE)
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the table that was filled before.")
    ] = False,
    dataset: MovedDataset = None,
    backbone: MovedBackbone = None,
    cache: Cache = None,
    trust_remote_code: TrustRemoteCode = False,
    device: Device = None,
    format: Annotated[
        str, typer.Option(help="table, csv or json: the cells that were filled.", metavar="NAME")
    ] = "table",
) -> None:
    """Fill the empty numeric cells of a table, and write it beside the original as CSV."""
    from numerate.lm.model.filling import fill_table

    usage = "numerate fill RUN TABLE"
    run, tables, _ = run_and_rest(arguments, here, usage)
    if len(tables) > 1:
        raise NumerateError(f"got {len(tables)} tables, expected one: {usage}")
    source = ModelSource(run, dataset, cache, trust_remote_code, device, backbone)
    fill_table(source, file_here(tables[0]), text, force=force, format=format)


@command
def check(
    files: Annotated[
        list[str],
        typer.Argument(help="Files and folders; - for standard input.", metavar="FILE…"),
    ],
    model: Models = None,
    select: SelectedRules = None,
    ignore: IgnoredRules = None,
    alarms: Alarms = None,
    min_probability: MinProbability = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            help="A file of known findings, which are not reported.", show_default="none", **FILE
        ),
    ] = None,
    write_baseline: Annotated[
        bool, typer.Option("--write-baseline", help="Write what is found to --baseline.")
    ] = False,
    fix: Annotated[
        bool,
        typer.Option("--fix", help="Offer to write each suggestion into the file; always asks."),
    ] = False,
    input_format: Annotated[str, typer.Option(help=INPUT_FORMATS, metavar="NAME")] = "auto",
    field: Field = "text",
    format: Annotated[
        str | None,
        typer.Option(
            help="terminal, json, csv, sarif or html.", metavar="NAME", show_default="terminal"
        ),
    ] = None,
    colour: Annotated[
        bool | None, typer.Option(help="Colours.", show_default="where there is a terminal")
    ] = None,
    table: Tables = None,
    dataset: MovedDataset = None,
    backbone: MovedBackbone = None,
    cache: Cache = None,
    trust_remote_code: TrustRemoteCode = False,
    device: Device = None,
) -> None:
    """Proofread the numbers of documents: recompute them, and ask models about them."""
    from numerate.cli.check_command import check_files, configuration_for
    from numerate.proofread.models import Opening
    from numerate.proofread.options import CheckOptions

    wanted = CheckOptions(
        tables=tuple(table or ()),
        write_baseline=write_baseline,
        fix=fix,
        colour=colour,
        verbose=is_verbose(),
        input_format=input_format,
        field=field,
    ).configured(
        configuration_for(files[0]),
        models=tuple(model or ()),
        select=tuple(select or ()),
        ignore=tuple(ignore or ()),
        alarms=alarms,
        min_probability=min_probability,
        format=format,
        baseline=baseline,
    )
    opening = Opening(dataset, cache, trust_remote_code, device, backbone)
    raise typer.Exit(check_files(files, wanted, opening))


@command
def audit(
    source: Annotated[str, typer.Argument(help="A file, folder or archive of documents.")],
    out: Annotated[
        str, typer.Option(help="Folder for what is found; one that is there is continued.")
    ],
    model: Models = None,
    select: SelectedRules = None,
    ignore: IgnoredRules = None,
    alarms: Alarms = None,
    min_probability: MinProbability = None,
    input_format: Annotated[
        str, typer.Option("--format", help=INPUT_FORMATS, metavar="NAME")
    ] = "auto",
    field: Field = "text",
    follow_links: Annotated[
        bool, typer.Option("--follow-links", help="Also read what links out of the source lead to.")
    ] = False,
    timeout: Annotated[
        float, typer.Option(help="Seconds for one document, which is left out then; 0: no end.")
    ] = 600.0,
    force: Annotated[
        bool, typer.Option("--force", help="Check all documents again, and begin anew.")
    ] = False,
    engine: Engine = "local",
    address: Address = None,
    processes: Processes = 0,
    gpus: Annotated[
        float, typer.Option(help="GPUs of a worker, where there are any; 0.25: four share one.")
    ] = 1.0,
    dataset: MovedDataset = None,
    backbone: MovedBackbone = None,
    cache: Cache = None,
    trust_remote_code: TrustRemoteCode = False,
    device: Device = None,
) -> None:
    """Check every document of a corpus: findings as Parquet, a summary, a page to browse them."""
    from numerate.cli.audit_command import audit_corpus
    from numerate.cli.check_command import configuration_for
    from numerate.engines import engine as engine_of
    from numerate.proofread.audit.looked_for import LookedFor
    from numerate.proofread.models import Opening
    from numerate.proofread.options import CheckOptions

    project = configuration_for(source)
    wanted = CheckOptions(input_format=input_format, field=field).configured(
        project,
        models=tuple(model or ()),
        select=tuple(select or ()),
        ignore=tuple(ignore or ()),
        alarms=alarms,
        min_probability=min_probability,
    )
    opening = Opening(dataset, cache, trust_remote_code, device, backbone)
    what = LookedFor(wanted, project, opening, device)
    workers = engine_of(engine, processes=processes, address=address, gpus=what.gpus(gpus))
    status = audit_corpus(
        source, out, what, workers, timeout=timeout, follow_links=follow_links, force=force
    )
    raise typer.Exit(status)


@command
def compare(
    file: Annotated[str, typer.Argument(help="What was written.")],
    source: Annotated[
        list[str],
        typer.Option(help="A file that it was written from; may be repeated.", metavar="FILE"),
    ],
    alarms: Annotated[
        float, typer.Option(help="Share of right numbers that are called unsupported.")
    ] = 0.05,
    format: Annotated[
        str, typer.Option(help="terminal, json or csv.", metavar="NAME")
    ] = "terminal",
) -> None:
    """Say which numbers of a text are not supported by its sources; with --verbose, where each
    stands in them, or what it follows from."""
    from numerate.cli.compare_command import compare_files

    raise typer.Exit(compare_files(file, source, alarms, format, verbose=is_verbose()))


@command
def rule(
    code: Annotated[
        str | None,
        typer.Argument(help="Of the rule, or its beginning: NUM101, NUM1.", show_default=False),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All rules.")] = False,
    format: Annotated[str, typer.Option(help="text, json or markdown.", metavar="NAME")] = "text",
) -> None:
    """Print what a rule of `check` looks for, why, an example, and what to do about it."""
    from numerate.proofread.rule_page import show_rules

    print(show_rules(code, everything=everything, format=format))


@command
def models(
    name: Annotated[
        str | None, typer.Argument(help="Of one of them: its figures.", show_default="all")
    ] = None,
    format: Annotated[str, typer.Option(help="table, markdown or json.", metavar="NAME")] = "table",
) -> None:
    """List the models that are installed, or show what one says of itself."""
    from numerate.lm.model.shipped.listing import show_models

    show_models(name, format)


@command
def check_benchmark(
    dataset: DatasetFolder,
    model: Models = None,
    softmax: Annotated[
        str | None,
        typer.Option(
            help="Run of a plain softmax, for the baseline of its surprisal.", show_default="none"
        ),
    ] = None,
    split: Annotated[str, typer.Option(help="test or dev.")] = "test",
    seed: Annotated[int, typer.Option(help="Of the errors.")] = 1,
    processes: Annotated[
        int, typer.Option(help="That recompute, and read for detectors, beside this one.")
    ] = 0,
    limit: Limit = None,
    backbone: MovedBackbone = None,
    cache: Cache = None,
    trust_remote_code: TrustRemoteCode = False,
    device: Device = None,
    format: Annotated[str, typer.Option(help="table, markdown or json.", metavar="NAME")] = "table",
) -> None:
    """Put known errors into held-out text and print how many of them checking finds."""
    from numerate.cli.benchmark_command import benchmark_checking

    source = ModelSource("", dataset, cache, trust_remote_code, device, backbone)
    benchmark_checking(
        source,
        model or [],
        softmax=softmax,
        split=split,
        seed=seed,
        limit=limit,
        format=format,
        processes=processes,
    )


@command
def serve(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            help="A run or hf:PATH, and detectors; by default the configured ones, or rules alone.",
            metavar="[MODEL…]",
            show_default=False,
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; one that others can reach needs --token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0: any free one.", min=0, max=65535)] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            help="What clients must send as Authorization: Bearer.",
            envvar="NUMERATE_TOKEN",
            show_default="none",
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option(help="Processes that answer; each loads the models.", min=1, max=64)
    ] = 1,
    table: Tables = None,
    dataset: MovedDataset = None,
    backbone: MovedBackbone = None,
    cache: Cache = None,
    trust_remote_code: TrustRemoteCode = False,
    device: Device = None,
) -> None:
    """Serve a page in the browser, and a JSON API, that check texts, with models or without."""
    from numerate.cli.serve_command import serve as serve_run

    serve_run(
        [
            ModelSource(reference, dataset, cache, trust_remote_code, device, backbone)
            for reference in models or here().models
        ],
        host=host,
        port=port,
        token=token,
        tables=table or [],
        workers=workers,
    )


@command
def lsp(
    stdio: Annotated[
        bool, typer.Option("--stdio", help="On standard input and output, as it is anyway.")
    ] = False,
) -> None:
    """Proofread in an editor, as you type: a language server on standard input and output."""
    from numerate.cli.lsp_command import serve_editor

    serve_editor()
