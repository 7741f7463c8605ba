"""The command line: thin commands over the library's functions.

Heavy modules are imported inside the commands that use them, so that `--help` is instant.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from numerate import __version__
from numerate.errors import NumerateError, check_choice
from numerate.model.names import MODELS, check_model_name
from numerate.training.options import TrainingOptions

app = typer.Typer(
    help="Language models that understand numbers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


USUAL = TrainingOptions()
# What a model trained from scratch and a head over a pretrained one do not have in common.
FROM_SCRATCH = {"hidden": 50, "dropout": 0.1, "learning_rate": USUAL.learning_rate}
OVER_BACKBONE = {"hidden": 256, "dropout": 0.5, "learning_rate": 0.001}

# Options that more than one command has.
DatasetFolder = Annotated[Path, typer.Argument(help="Folder of a prepared dataset.")]
Epochs = Annotated[int, typer.Option(help="At most so many epochs.")]
BatchSize = Annotated[int, typer.Option(help="Paragraphs a batch, per process.")]
LearningRate = Annotated[float, typer.Option(help="Of Adam; halved when there is no progress.")]
HalveAfter = Annotated[
    int, typer.Option(help="Halve the rate after so many epochs without a lower dev loss.")
]
Patience = Annotated[int, typer.Option(help="Stop after so many epochs without a lower dev loss.")]
Clip = Annotated[float, typer.Option(help="Largest norm of the gradient.")]
Hidden = Annotated[int, typer.Option(help="Size D of embeddings and hidden states.")]
Dropout = Annotated[float, typer.Option(help="On input and output of the LSTM.")]
VocabularySize = Annotated[int, typer.Option(help="Token types with an identity.")]
WordVectors = Annotated[
    str | None,
    typer.Option(help="Text file of word vectors, or 'glove' for GloVe 6B.", metavar="FILE"),
]
Truncate = Annotated[
    bool, typer.Option("--truncate", help="mog: renormalise over non-negative numerals.")
]
Seed = Annotated[int, typer.Option(help="Of weights, dropout and the order of batches.")]
Device = Annotated[
    str | None, typer.Option(help="cpu, cuda, cuda:1, mps; the best there is by default.")
]
MixedPrecision = Annotated[
    str, typer.Option(help="no, bf16 or fp16; the mixture stays float64.", metavar="KIND")
]
Metrics = Annotated[str, typer.Option(help="paper, or all.", metavar="WHICH")]
Cache = Annotated[
    Path | None,
    typer.Option(
        help="Where pretrained models' states and scores are kept; by default a folder of yours.",
        show_default=False,
    ),
]
TrustRemoteCode = Annotated[
    bool,
    typer.Option("--trust-remote-code", help="Run Python code that comes with a pretrained model."),
]


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"numerate {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


@app.command()
def prepare(
    source: Annotated[
        str, typer.Argument(help="A file, folder or archive of documents, or 'cardiac'.")
    ],
    out: Annotated[Path, typer.Option(help="Folder to write the dataset to.")],
    format: Annotated[
        str, typer.Option(help="auto, text, jsonl, jats or latexml.", metavar="NAME")
    ] = "auto",
    keep: Annotated[
        str | None,
        typer.Option(
            help="Paragraphs to keep: table-refs (default for articles), numerals, all.",
            metavar="RULE",
            show_default=False,
        ),
    ] = None,
    field: Annotated[str, typer.Option(help="jsonl: the field that holds the text.")] = "text",
    split_names: Annotated[
        bool, typer.Option("--split-names", help="Split fev1 into fev and 1.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of the split, and of the built-in corpus.")] = 1,
    documents: Annotated[int, typer.Option(help="cardiac: how many reports to write.")] = 2000,
    processes: Annotated[int, typer.Option(help="Worker processes; 0: one per core.")] = 0,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first document that cannot be read.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing folder.")] = False,
) -> None:
    """Read documents and write a dataset: split by document, tokenised, as Parquet."""
    from numerate.console import prepare_with_progress

    prepare_with_progress(
        source,
        out,
        format=format,
        keep=keep,
        field=field,
        split_names=split_names,
        seed=seed,
        documents=documents,
        processes=processes,
        strict=strict,
        force=force,
    )


@app.command()
def describe(
    dataset: Annotated[Path, typer.Argument(help="Folder of a prepared dataset.")],
    vocabulary: Annotated[int, typer.Option(help="Vocabulary size for the unknown rates.")] = 1000,
) -> None:
    """Print the statistics of a dataset: the paper's Table 1, unknown rates, frequent numerals."""
    from numerate.console import print_description
    from numerate.corpus.dataset import Dataset
    from numerate.corpus.describe import describe as describe_dataset

    opened = Dataset.open(dataset)
    print_description(opened, describe_dataset(opened, vocabulary))


@app.command()
def train(
    dataset: DatasetFolder,
    out: Annotated[Path, typer.Option(help="Folder of the run.")],
    model: Annotated[
        str, typer.Option(help="One of: " + ", ".join(MODELS) + ".", metavar="NAME")
    ] = "combination",
    epochs: Epochs = USUAL.epochs,
    batch_size: BatchSize = USUAL.batch_size,
    learning_rate: Annotated[
        float | None,
        typer.Option(help="Of Adam; 0.01, with a backbone 0.001; halved without progress."),
    ] = None,
    halve_after: HalveAfter = USUAL.halve_after,
    patience: Patience = USUAL.patience,
    clip: Clip = USUAL.clip,
    hidden: Annotated[
        int | None, typer.Option(help="Size D of hidden states; 50, with a backbone 256.")
    ] = None,
    dropout: Annotated[
        float | None, typer.Option(help="Before and after the states; 0.1, with a backbone 0.5.")
    ] = None,
    vocabulary: VocabularySize = 1000,
    vectors: WordVectors = None,
    truncate: Truncate = False,
    backbone: Annotated[
        str | None,
        typer.Option(
            help="Train a head over a pretrained language model: a folder or a GGUF file.",
            metavar="hf:PATH",
        ),
    ] = None,
    finetune: Annotated[
        str,
        typer.Option(help="What of the backbone is trained too: none, lora, full.", metavar="WHAT"),
    ] = "none",
    cache: Cache = None,
    trust_remote_code: TrustRemoteCode = False,
    seed: Seed = USUAL.seed,
    device: Device = None,
    mixed_precision: MixedPrecision = USUAL.mixed_precision,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Also write TensorBoard files into the run.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run that was interrupted or killed.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing run.")] = False,
) -> None:
    """Train one of the seven models on a dataset, or a head over a pretrained model."""
    check_model_name(model)
    usual = OVER_BACKBONE if backbone else FROM_SCRATCH
    from numerate.training.command import train_with_progress

    train_with_progress(
        dataset,
        out,
        options=TrainingOptions(
            epochs=epochs,
            batch_size=batch_size,
            learning_rate=_given(learning_rate, usual["learning_rate"]),
            halve_after=halve_after,
            patience=patience,
            clip=clip,
            seed=seed,
            mixed_precision=mixed_precision,
        ),
        tensorboard=tensorboard,
        model=model,
        vocabulary=vocabulary,
        hidden=int(_given(hidden, usual["hidden"])),
        dropout=_given(dropout, usual["dropout"]),
        truncate=truncate,
        vectors=vectors,
        backbone=backbone,
        finetune=finetune,
        cache=cache,
        trust_remote_code=trust_remote_code,
        device=device,
        resume=resume,
        force=force,
    )


@app.command()
def evaluate(
    runs: Annotated[
        list[str], typer.Argument(help="Folders of trained runs, or hf:PATH, pretrained models.")
    ],
    dataset: Annotated[
        Path | None,
        typer.Option(help="Dataset; by default the one each run was trained on."),
    ] = None,
    split: Annotated[str, typer.Option(help="test, dev or train.")] = "test",
    metrics: Metrics = "paper",
    confidence: Annotated[
        float | None,
        typer.Option(help="Level of intervals by resampling documents, for example 0.95."),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="A paired test between two runs.")
    ] = False,
    oov_set: Annotated[
        str, typer.Option(help="Whose types are unknown: all splits', or train's.", metavar="SET")
    ] = "all",
    format: Annotated[
        str, typer.Option(help="table, markdown, latex, csv or json.", metavar="NAME")
    ] = "table",
    limit: Annotated[
        int | None, typer.Option(help="Take so many paragraphs, always the same; default: all.")
    ] = None,
    vocabulary: Annotated[
        int | None,
        typer.Option(
            help="hf: the vocabulary that the candidates come from; by default that of the runs "
            "beside it, or 1,000.",
            show_default=False,
        ),
    ] = None,
    cache: Cache = None,
    trust_remote_code: TrustRemoteCode = False,
    device: Device = None,
) -> None:
    """Print the paper's two result tables for trained runs, and write metrics.json into each."""
    from numerate.evaluation.command import evaluate_runs

    evaluate_runs(
        runs,
        dataset,
        split=split,
        metrics=metrics,
        confidence=confidence,
        compared=compare,
        oov_set=oov_set,
        format=format,
        device=device,
        limit=limit,
        vocabulary=vocabulary,
        cache=cache,
        trust_remote_code=trust_remote_code,
    )


@app.command()
def reproduce(
    dataset: DatasetFolder,
    out: Annotated[Path, typer.Option(help="Folder for runs, tables, figures and report.")],
    models: Annotated[
        list[str] | None,
        typer.Option(
            help="Some of the seven models, comma-separated or repeated.",
            metavar="NAME,…",
            show_default=False,
        ),
    ] = None,
    epochs: Epochs = USUAL.epochs,
    batch_size: BatchSize = USUAL.batch_size,
    learning_rate: LearningRate = USUAL.learning_rate,
    halve_after: HalveAfter = USUAL.halve_after,
    patience: Patience = USUAL.patience,
    clip: Clip = USUAL.clip,
    hidden: Hidden = int(FROM_SCRATCH["hidden"]),
    dropout: Dropout = FROM_SCRATCH["dropout"],
    vocabulary: VocabularySize = 1000,
    vectors: WordVectors = None,
    truncate: Truncate = False,
    seed: Seed = USUAL.seed,
    device: Device = None,
    mixed_precision: MixedPrecision = USUAL.mixed_precision,
    processes: Annotated[
        int, typer.Option(help="Models trained at a time, sharing the cores; 0: one per core.")
    ] = 0,
    confidence: Annotated[
        float, typer.Option(help="Level of intervals by resampling documents; 0: none.")
    ] = 0.95,
    metrics: Metrics = "all",
) -> None:
    """Train the seven models, evaluate them, and write tables, figures and a report.

    Called again, it goes on where it stopped.
    """
    check_choice("value of --metrics", metrics, ("paper", "all"))
    from numerate.reproduce.plan import Plan

    plan = Plan(
        dataset,
        out,
        models=tuple(name for part in models for name in part.split(",")) if models else MODELS,
        options=TrainingOptions(
            epochs=epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            halve_after=halve_after,
            patience=patience,
            clip=clip,
            seed=seed,
            mixed_precision=mixed_precision,
        ),
        vocabulary=vocabulary,
        hidden=hidden,
        dropout=dropout,
        truncate=truncate,
        vectors=vectors,
        device=device,
        processes=processes,
        confidence=confidence or None,
        everything=metrics == "all",
    )
    from numerate.reproduce.command import reproduce as reproduce_plan

    reproduce_plan(plan)


@app.command()
def inspect(
    runs: Annotated[list[Path], typer.Argument(help="Folders of trained runs of one dataset.")],
    out: Annotated[Path, typer.Option(help="Folder for figures, their data and the report.")],
    context: Annotated[
        list[str] | None,
        typer.Option(
            help="Text before a numeral to predict; may be repeated. By default two of the dev "
            "split.",
            metavar="TEXT",
            show_default=False,
        ),
    ] = None,
    dataset: Annotated[
        Path | None,
        typer.Option(help="Dataset; by default the one the runs were trained on."),
    ] = None,
    device: Device = None,
) -> None:
    """Show what the models learnt: figures and tables of embeddings, predictions and errors.

    In the folder of a reproduction or of an earlier report, it adds to what is there.
    """
    from numerate.analysis.command import inspect_with_progress

    inspect_with_progress(runs, out, contexts=context or [], dataset=dataset, device=device)


@app.command()
def benford(
    source: Annotated[
        str,
        typer.Argument(
            help="A file of text or of numbers, a folder or archive, a dataset, or - for "
            "standard input."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the figure as PNG and SVG, and its data.")
    ] = None,
    field: Annotated[str, typer.Option(help="jsonl: the field that holds the text.")] = "text",
    format: Annotated[
        str, typer.Option(help="table, markdown, latex or csv.", metavar="NAME")
    ] = "table",
) -> None:
    """Compare the significant digits of numbers with Benford's law."""
    from numerate.analysis.benford import print_benford

    print_benford(source, out, field=field, format=format)


Run = Annotated[
    str, typer.Argument(help="Folder of a trained run, or hf:PATH, a pretrained model.")
]
MovedDataset = Annotated[
    Path | None,
    typer.Option(help="Where the run's dataset is now, if it has moved; one for hf:PATH."),
]
OutputFormat = Annotated[str, typer.Option(help="table or json.", metavar="NAME")]


@app.command()
def predict(
    run: Run,
    text: Annotated[str, typer.Argument(help="What comes before the number; ___ marks a gap.")],
    top: Annotated[int, typer.Option(help="How many of the most probable numerals.")] = 5,
    interval: Annotated[float, typer.Option(help="Probability of the central interval.")] = 0.9,
    plot: Annotated[
        Path | None, typer.Option(help="Also draw the distribution: .png, .svg or .pdf.")
    ] = None,
    dataset: MovedDataset = None,
    format: OutputFormat = "table",
) -> None:
    """Print which numerals a model expects next, or in the gap ___ of a text."""
    from numerate.plausibility.command import predict_numeral

    predict_numeral(
        run, text, dataset=dataset, top=top, interval=interval, plot=plot, format=format
    )


@app.command()
def rank(
    run: Run,
    claims: Annotated[list[str], typer.Argument(help="Texts with numerals.")],
    by: Annotated[
        str, typer.Option(help="Probability of: numerals, or the whole sentence.", metavar="WAY")
    ] = "numerals",
    dataset: MovedDataset = None,
    format: OutputFormat = "table",
) -> None:
    """Order claims by the probability of their numerals, and say what makes the difference."""
    from numerate.plausibility.command import rank_claims

    rank_claims(run, claims, dataset=dataset, by=by, format=format)


@app.command()
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
) -> None:
    """Report every numeral that is implausible where it stands.

    Exit status: 0 when nothing is flagged, 1 when something is, 2 when something is wrong with
    the files, the run or the options.
    """
    with _errors_exit_with(2):
        from numerate.plausibility.command import check_files

        status = check_files(
            run,
            files,
            dataset=dataset,
            alarms=alarms,
            input_format=input_format,
            format=format,
            everything=everything,
            colour=colour,
        )
    raise typer.Exit(status)


@app.command()
def check_benchmark(
    run: Run,
    dataset: DatasetFolder,
    softmax: Annotated[
        str | None,
        typer.Option(help="Run of a plain softmax, for the baseline of its surprisal."),
    ] = None,
    split: Annotated[str, typer.Option(help="test or dev.")] = "test",
    seed: Annotated[int, typer.Option(help="Of the errors.")] = 1,
    format: Annotated[str, typer.Option(help="table, markdown or json.", metavar="NAME")] = "table",
) -> None:
    """Put known errors into held-out text and print how many of them checking finds."""
    from numerate.plausibility.command import benchmark_checking

    benchmark_checking(run, dataset, softmax=softmax, split=split, seed=seed, format=format)


@app.command()
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
    quiet: Annotated[bool, typer.Option("--quiet", help="Log errors only.")] = False,
) -> None:
    """Serve a page in the browser, and a JSON API, that check texts with a model."""
    from numerate.server.command import serve as serve_run

    serve_run(run, host=host, port=port, token=token, dataset=dataset, quiet=quiet)


def _given(value: float | None, usual: float) -> float:
    return usual if value is None else value


def main() -> None:
    """Run the command; every error a user can mend is one line on standard error."""
    signal.signal(signal.SIGTERM, _terminate)
    with _errors_exit_with(1):
        try:
            app()
        finally:
            sys.stdout.flush()


@contextmanager
def _errors_exit_with(status: int) -> Iterator[None]:
    try:
        yield
    except NumerateError as error:
        _fail(str(error), status)
    except BrokenPipeError:  # who reads has left, as `head` does: nothing more to say, or to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(status) from None
    except OSError as error:
        _fail(f"{error.filename or 'input/output'}: {error.strerror or error}", status)


def _terminate(number: int, frame: FrameType | None) -> None:
    """Leave as after Ctrl-C: what has begun is cleaned up."""
    raise SystemExit(128 + number)


def _fail(message: str, status: int) -> None:
    print(f"numerate: {' '.join(message.split())}", file=sys.stderr)
    raise SystemExit(status)
