"""The command line: thin commands over the library's functions.

Heavy modules are imported inside the commands that use them, so that `--help` is instant.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from numerate import __version__
from numerate.errors import NumerateError
from numerate.model.names import MODELS, check_model_name

app = typer.Typer(
    help="Language models that understand numbers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
    dataset: Annotated[Path, typer.Argument(help="Folder of a prepared dataset.")],
    out: Annotated[Path, typer.Option(help="Folder of the run.")],
    model: Annotated[
        str, typer.Option(help="One of: " + ", ".join(MODELS) + ".", metavar="NAME")
    ] = "combination",
    epochs: Annotated[int, typer.Option(help="At most so many epochs.")] = 100,
    batch_size: Annotated[int, typer.Option(help="Paragraphs a batch, per process.")] = 50,
    learning_rate: Annotated[
        float, typer.Option(help="Of Adam; halved after each epoch without progress.")
    ] = 0.01,
    patience: Annotated[
        int, typer.Option(help="Stop after so many epochs without a lower dev loss.")
    ] = 5,
    clip: Annotated[float, typer.Option(help="Largest norm of the gradient.")] = 5.0,
    hidden: Annotated[int, typer.Option(help="Size D of embeddings and hidden states.")] = 50,
    dropout: Annotated[float, typer.Option(help="On input and output of the LSTM.")] = 0.1,
    vocabulary: Annotated[int, typer.Option(help="Token types with an identity.")] = 1000,
    vectors: Annotated[
        str | None,
        typer.Option(help="Text file of word vectors, or 'glove' for GloVe 6B.", metavar="FILE"),
    ] = None,
    truncate: Annotated[
        bool, typer.Option("--truncate", help="mog: renormalise over non-negative numerals.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of weights, dropout and the order of batches.")] = 1,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda, cuda:1, mps; the best there is by default.")
    ] = None,
    mixed_precision: Annotated[
        str, typer.Option(help="no, bf16 or fp16; the mixture stays float64.", metavar="KIND")
    ] = "no",
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Also write TensorBoard files into the run.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run that was interrupted or killed.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing run.")] = False,
) -> None:
    """Train one of the seven models on a dataset."""
    check_model_name(model)
    from numerate.training.command import train_with_progress
    from numerate.training.options import TrainingOptions

    train_with_progress(
        dataset,
        out,
        options=TrainingOptions(
            epochs=epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            patience=patience,
            clip=clip,
            seed=seed,
            mixed_precision=mixed_precision,
        ),
        tensorboard=tensorboard,
        model=model,
        vocabulary=vocabulary,
        hidden=hidden,
        dropout=dropout,
        truncate=truncate,
        vectors=vectors,
        device=device,
        resume=resume,
        force=force,
    )


def main() -> None:
    """Run the command; every error a user can mend is one line on standard error."""
    try:
        app()
    except NumerateError as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename or 'input/output'}: {error.strerror or error}")


def _fail(message: str) -> None:
    print(f"numerate: {' '.join(message.split())}", file=sys.stderr)
    raise SystemExit(1)
