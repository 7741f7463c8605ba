"""Commands that train models and measure them."""

from pathlib import Path
from typing import Annotated

import typer

from numerate.cli.app import command
from numerate.cli.chosen import first_given
from numerate.cli.named_places import FOLDER
from numerate.cli.shared_options import (
    USUAL,
    Address,
    BatchSize,
    Cache,
    Clip,
    DatasetFolder,
    Device,
    Dropout,
    Engine,
    Epochs,
    HalveAfter,
    Hidden,
    LearningRate,
    Limit,
    Metrics,
    MixedPrecision,
    MovedBackbone,
    Patience,
    PlainMixture,
    ReadingProcesses,
    Seed,
    StateSize,
    Threads,
    Truncate,
    TrustRemoteCode,
    VocabularySize,
    WordVectors,
    usual,
)
from numerate.lm.heads.registry import check_head_name, head_names
from numerate.lm.train.options import TrainingOptions, usual_of
from numerate.storage import path_here
from numerate.threads import use_threads


@command
def train(
    dataset: DatasetFolder,
    out: Annotated[str, typer.Option(help="Folder of the run.", metavar="FOLDER")],
    model: Annotated[
        str, typer.Option(help="One of: " + ", ".join(head_names()) + ".", metavar="NAME")
    ] = "combination",
    members: Annotated[
        list[str] | None,
        typer.Option(
            help="combination: of which models, comma-separated or repeated.",
            metavar="NAME,…",
            show_default="the paper's three, with a backbone also lm",
        ),
    ] = None,
    sight: Annotated[
        str | None,
        typer.Option(
            help="Which numbers it sees: none, paragraph (those before), tables (and those that "
            "the paragraph refers to), document (and all tables and earlier paragraphs).",
            metavar="LEVEL",
            show_default="tables for grounded, none for others",
        ),
    ] = None,
    epochs: Epochs = USUAL.epochs,
    batch_size: BatchSize = USUAL.batch_size,
    learning_rate: LearningRate = None,
    halve_after: HalveAfter = USUAL.halve_after,
    patience: Patience = USUAL.patience,
    clip: Clip = USUAL.clip,
    backbone: Annotated[
        str,
        typer.Option(
            help="What reads text: lstm or transformer, trained from scratch, or a pretrained "
            "language model, a folder or a GGUF file.",
            metavar="lstm|transformer|hf:PATH",
        ),
    ] = "lstm",
    layers: Annotated[
        int | None,
        typer.Option(help="Of a network from scratch.", show_default=usual("layers")),
    ] = None,
    heads: Annotated[
        int | None,
        typer.Option(help="Of a transformer's attention.", show_default=usual("heads")),
    ] = None,
    inputs: Annotated[
        str | None,
        typer.Option(
            help="How a network from scratch reads numerals: by their digits, as the paper does, "
            "or by Fourier features.",
            metavar="digits|fourier",
            show_default="digits",
        ),
    ] = None,
    hidden: StateSize = None,
    dropout: Dropout = None,
    vocabulary: VocabularySize = 1000,
    vectors: WordVectors = None,
    truncate: Truncate = False,
    plain_mixture: PlainMixture = USUAL.plain_mixture,
    finetune: Annotated[
        str,
        typer.Option(help="What of the backbone is trained too: none, lora, full.", metavar="WHAT"),
    ] = "none",
    cache: Cache = None,
    trust_remote_code: TrustRemoteCode = False,
    seed: Seed = USUAL.seed,
    device: Device = None,
    threads: Threads = None,
    mixed_precision: MixedPrecision = USUAL.mixed_precision,
    engine: Engine = "local",
    address: Address = None,
    processes: ReadingProcesses = None,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Also write TensorBoard files into the run.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run that was interrupted or killed.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing run.")] = False,
) -> None:
    """Train a model on a dataset, or a head over a pretrained model."""
    for name in (model, *_listed(members)):
        check_head_name(name)
    of_it = usual_of(backbone)
    use_threads(threads)
    from numerate.cli.train_command import train_with_progress
    from numerate.lm.backbones.pretrained.block_reader import Readers

    train_with_progress(
        dataset,
        out,
        options=TrainingOptions(
            epochs=epochs,
            batch_size=batch_size,
            learning_rate=first_given(learning_rate, of_it.learning_rate),
            halve_after=halve_after,
            patience=patience,
            clip=clip,
            seed=seed,
            mixed_precision=mixed_precision,
            plain_mixture=plain_mixture,
        ),
        tensorboard=tensorboard,
        model=model,
        vocabulary=vocabulary,
        hidden=first_given(hidden, of_it.hidden),
        dropout=first_given(dropout, of_it.dropout),
        truncate=truncate,
        vectors=vectors,
        backbone=backbone,
        layers=of_it.layers if layers is None else layers,
        heads=of_it.heads if heads is None else heads,
        inputs=inputs,
        finetune=finetune,
        members=_listed(members),
        sight=sight,
        cache=cache,
        trust_remote_code=trust_remote_code,
        readers=Readers.chosen(engine, address, processes, device),
        device=device,
        resume=resume,
        force=force,
    )


@command
def train_detector(
    dataset: DatasetFolder,
    out: Annotated[str, typer.Option(help="Folder of the detector.", metavar="FOLDER")],
    hidden: Hidden = 128,
    layers: Annotated[int, typer.Option(help="Layers of the LSTM.")] = 1,
    dropout: Annotated[float, typer.Option(help="Of embeddings and states.")] = 0.2,
    vocabulary: VocabularySize = 8000,
    epochs: Annotated[int, typer.Option(help="So many epochs, each with fresh errors.")] = 30,
    batch_size: Annotated[int, typer.Option(help="Documents a batch.")] = 4,
    learning_rate: Annotated[float, typer.Option(help="Of AdamW, at its highest.")] = 0.0015,
    clip: Clip = USUAL.clip,
    seed: Annotated[int, typer.Option(help="Of weights, errors and the order of batches.")] = 1,
    processes: Annotated[
        int, typer.Option(help="That make batches, beside the one that learns.")
    ] = 0,
    device: Device = None,
    threads: Threads = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing detector.")] = False,
) -> None:
    """Train a detector of wrong numbers on a dataset, with errors put into its numerals."""
    use_threads(threads)
    from numerate.detector.small import SmallOptions
    from numerate.lm.train.detector_fitting import FittingOptions
    from numerate.lm.train.train_detector import train_with_report

    train_with_report(
        dataset,
        out,
        network=SmallOptions(hidden, dropout, layers),
        vocabulary=vocabulary,
        options=FittingOptions(
            epochs=epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            clip=clip,
            seed=seed,
            processes=processes,
        ),
        device=device,
        force=force,
    )


@command
def evaluate(
    runs: Annotated[
        list[str],
        typer.Argument(
            help="Folders of trained runs, RUN:MEMBER of a combination, hf:PATH, pretrained models."
        ),
    ],
    dataset: Annotated[
        Path | None,
        typer.Option(help="Dataset.", show_default="the one each run was trained on", **FOLDER),
    ] = None,
    split: Annotated[str, typer.Option(help="test, dev or train.")] = "test",
    metrics: Metrics = "paper",
    confidence: Annotated[
        float | None,
        typer.Option(
            help="Level of intervals by resampling documents, for example 0.95.",
            show_default="no intervals",
        ),
    ] = None,
    compare: Annotated[
        bool,
        typer.Option("--compare", help="A paired test between two runs: nats, errors of numbers."),
    ] = False,
    oov_set: Annotated[
        str, typer.Option(help="Whose types are unknown: all splits', or train's.", metavar="SET")
    ] = "all",
    format: Annotated[
        str, typer.Option(help="table, markdown, latex, csv or json.", metavar="NAME")
    ] = "table",
    limit: Limit = None,
    vocabulary: Annotated[
        int | None,
        typer.Option(
            help="hf: the vocabulary that the candidates come from.",
            show_default="that of the runs beside it, or 1,000",
        ),
    ] = None,
    sight: Annotated[
        str | None,
        typer.Option(
            help="hf: which numbers it reads before a paragraph: none, tables or document.",
            metavar="LEVEL",
            show_default="none",
        ),
    ] = None,
    backbone: MovedBackbone = None,
    cache: Cache = None,
    trust_remote_code: TrustRemoteCode = False,
    device: Device = None,
    threads: Threads = None,
    engine: Engine = "local",
    address: Address = None,
    processes: ReadingProcesses = None,
) -> None:
    """Print the paper's two result tables for trained runs, and write metrics.json into each."""
    use_threads(threads)
    from numerate.cli.evaluate_command import evaluate_runs
    from numerate.lm.backbones.pretrained.block_reader import Readers

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
        backbone=backbone,
        cache=cache,
        trust_remote_code=trust_remote_code,
        sight=sight,
        readers=Readers.chosen(engine, address, processes, device),
    )


@command
def reproduce(
    dataset: DatasetFolder,
    out: Annotated[
        str, typer.Option(help="Folder for runs, tables, figures and report.", metavar="FOLDER")
    ],
    suite: Annotated[
        str,
        typer.Option(
            help="What is compared: paper (its seven), heads (these and all others that stand "
            "alone), grounded (with more and less in sight), pretrained (a language model bare and "
            "under heads).",
            metavar="NAME",
        ),
    ] = "paper",
    models: Annotated[
        list[str] | None,
        typer.Option(
            help="Some rows of the suite, comma-separated or repeated.",
            metavar="NAME,…",
            show_default="all",
        ),
    ] = None,
    backbone: Annotated[
        str | None,
        typer.Option(
            help="pretrained: the language model, a folder or a GGUF file.",
            metavar="hf:PATH",
            show_default="none",
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(
            help="So many runs a row, each with the next seed: mean and spread of them, intervals "
            "that count them, and who cannot be told from the best."
        ),
    ] = 1,
    epochs: Epochs = USUAL.epochs,
    batch_size: BatchSize = USUAL.batch_size,
    learning_rate: LearningRate = None,
    halve_after: HalveAfter = USUAL.halve_after,
    patience: Patience = USUAL.patience,
    clip: Clip = USUAL.clip,
    hidden: StateSize = None,
    dropout: Dropout = None,
    vocabulary: VocabularySize = 1000,
    vectors: WordVectors = None,
    truncate: Truncate = False,
    plain_mixture: PlainMixture = USUAL.plain_mixture,
    cache: Cache = None,
    trust_remote_code: TrustRemoteCode = False,
    seed: Seed = USUAL.seed,
    device: Device = None,
    threads: Threads = None,
    mixed_precision: MixedPrecision = USUAL.mixed_precision,
    processes: Annotated[
        int,
        typer.Option(
            help="Runs trained at a time, sharing cores and GPU; 0: one per core, of a pretrained "
            "model one."
        ),
    ] = 0,
    confidence: Annotated[
        float, typer.Option(help="Level of intervals by resampling documents; 0: none.")
    ] = 0.95,
    metrics: Metrics = "all",
) -> None:
    """Train the models of a suite, evaluate them, and write tables, figures and a report.

    Called again, it goes on where it stopped; other rows and more seeds are added to the tables. In
    the folder it touches only what it wrote itself.
    """
    from numerate.cli.reproduce_command import reproduce as reproduce_plan
    from numerate.lm.reproduce.choices import Plan

    plan = Plan(
        dataset,
        path_here(out),
        suite=suite,
        backbone=backbone,
        models=_listed(models) if models else None,
        seeds=seeds,
        options=TrainingOptions(
            epochs=epochs,
            batch_size=batch_size,
            learning_rate=first_given(learning_rate, USUAL.learning_rate),
            halve_after=halve_after,
            patience=patience,
            clip=clip,
            seed=seed,
            mixed_precision=mixed_precision,
            plain_mixture=plain_mixture,
        ),
        learning_rate=learning_rate,
        hidden=hidden,
        dropout=dropout,
        vocabulary=vocabulary,
        truncate=truncate,
        vectors=vectors,
        cache=cache,
        trust_remote_code=trust_remote_code,
        device=device,
        processes=processes,
        given_threads=threads,
        confidence=confidence or None,
        metrics=metrics,
    )
    reproduce_plan(plan)


def _listed(names: list[str] | None) -> tuple[str, ...]:
    return tuple(name.strip() for part in names or () for name in part.split(","))
