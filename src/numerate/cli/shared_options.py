"""Options that more than one command has."""

from pathlib import Path
from typing import Annotated

import typer

from numerate.cli.named_places import FILE, FOLDER, OWN_FOLDER
from numerate.lm.train.options import OF_BACKBONE, TrainingOptions
from numerate.plugins import READERS, names
from numerate.proofread.model_evidence import ALARMS
from numerate.proofread.options import MIN_PROBABILITY

USUAL = TrainingOptions()


def usual(name: str) -> str:
    """What an option is by default, of each kind of backbone that has it."""
    found = ((backbone, getattr(of_it, name)) for backbone, of_it in OF_BACKBONE.items())
    return ", ".join(f"{backbone} {value}" for backbone, value in found if value is not None)


DatasetFolder = Annotated[
    Path, typer.Argument(help="Folder of a prepared dataset.", **(FOLDER | {"metavar": "DATASET"}))
]
Epochs = Annotated[int, typer.Option(help="At most so many epochs.")]
BatchSize = Annotated[int, typer.Option(help="Paragraphs a batch, per process.")]
LearningRate = Annotated[
    float | None,
    typer.Option(
        help="Of Adam; halved when there is no progress.", show_default=usual("learning_rate")
    ),
]
StateSize = Annotated[
    int | None, typer.Option(help="Size D of hidden states.", show_default=usual("hidden"))
]
HalveAfter = Annotated[
    int, typer.Option(help="Halve the rate after so many epochs without a lower dev loss.")
]
Patience = Annotated[int, typer.Option(help="Stop after so many epochs without a lower dev loss.")]
Clip = Annotated[float, typer.Option(help="Largest norm of the gradient.")]
Hidden = Annotated[int, typer.Option(help="Size D of embeddings and hidden states.")]
Dropout = Annotated[
    float | None, typer.Option(help="Before and after the states.", show_default=usual("dropout"))
]
VocabularySize = Annotated[int, typer.Option(help="Token types with an identity.")]
WordVectors = Annotated[
    str | None,
    typer.Option(
        help="Start embeddings from word vectors: a text file, or 'glove' for GloVe 6B, which the "
        "paper has.",
        metavar="FILE",
        show_default="at random",
    ),
]
Truncate = Annotated[
    bool, typer.Option("--truncate", help="mog: renormalise over non-negative numerals.")
]
PlainMixture = Annotated[
    bool,
    typer.Option(
        "--plain-mixture",
        help="combination: train it as the paper does, by the likelihood of the mixture alone, "
        "and leave the mixture weights of its members as learnt.",
    ),
]
Seed = Annotated[int, typer.Option(help="Of weights, dropout and the order of batches.")]
Device = Annotated[
    str | None, typer.Option(help="cpu, cuda, cuda:1 or mps.", show_default="the best there is")
]
Threads = Annotated[
    int | None,
    typer.Option(
        help="Threads of a process that computes.",
        show_default="OMP_NUM_THREADS, or the cores it has",
    ),
]
Engine = Annotated[
    str,
    typer.Option(help="Where the work is done: local, or ray, a cluster.", metavar="NAME"),
]
Address = Annotated[
    str | None,
    typer.Option(
        help="ray: the cluster, as HOST:PORT or auto.",
        metavar="ADDRESS",
        show_default="RAY_ADDRESS, or one of this machine alone",
    ),
]
Processes = Annotated[
    int, typer.Option(help="Worker processes; 0: one per core, of all machines with ray.")
]
ReadingProcesses = Annotated[
    int | None,
    typer.Option(
        "--processes",
        help="hf: workers that read the dataset, each with the model, on a GPU of its own where "
        "there are any; 0: one per GPU, or core.",
        show_default="this process alone; with ray 0, of all machines",
    ),
]
MixedPrecision = Annotated[
    str, typer.Option(help="no, bf16 or fp16; the mixture stays float64.", metavar="KIND")
]
Metrics = Annotated[str, typer.Option(help="perplexity alone, paper, or all.", metavar="WHICH")]
Limit = Annotated[
    int | None,
    typer.Option(help="Take so many paragraphs, always the same.", show_default="all"),
]
Cache = Annotated[
    Path | None,
    typer.Option(
        help="Where pretrained models' states and scores are kept.",
        **OWN_FOLDER,
        show_default="where the run's training was told to, or a folder of yours",
    ),
]
TrustRemoteCode = Annotated[
    bool,
    typer.Option("--trust-remote-code", help="Run Python code that comes with a pretrained model."),
]
*_SOME, _LAST = ["auto", *names(READERS)]
INPUT_FORMATS = f"{', '.join(_SOME)} or {_LAST}."
Field = Annotated[str, typer.Option(help="jsonl: the field that holds the text.")]
RUN_OR_CONFIGURED = "Run: folder of a trained run, or hf:PATH; by default the configured one."
Run = Annotated[
    str, typer.Argument(help="Folder of a trained run, or hf:PATH, a pretrained model.")
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        help="A model to ask: folder of a trained run or detector, hf:PATH, an installed model, or "
        "none; once for each.",
        metavar="REFERENCE",
        show_default="the configured ones",
    ),
]
Tables = Annotated[
    list[Path] | None,
    typer.Option(
        "--table",
        help="A table that the model sees: CSV, TSV or any document with tables; once for each.",
        **FILE,
        show_default="none",
    ),
]
MovedDataset = Annotated[
    Path | None,
    typer.Option(
        help="Where the run's dataset is now, if it has moved; one for hf:PATH.",
        **FOLDER,
        show_default="where it was",
    ),
]
MovedBackbone = Annotated[
    str | None,
    typer.Option(
        help="Where the run's pretrained model is now, if it has moved.",
        metavar="hf:PATH",
        show_default="where it was",
    ),
]
SplitNames = Annotated[
    bool,
    typer.Option("--split-names", help="Cut fev1, IL-6, 1.2.3, dates and times into parts."),
]
Decimal = Annotated[
    str,
    typer.Option(help="The decimal mark of the texts: point, or comma (74,5 and 1.234,5)."),
]
OutputFormat = Annotated[str, typer.Option(help="table or json.", metavar="NAME")]
SelectedRules = Annotated[
    list[str] | None,
    typer.Option(
        help="Codes of rules, or their beginnings: NUM1,NUM301.",
        metavar="CODES",
        show_default="all",
    ),
]
IgnoredRules = Annotated[
    list[str] | None,
    typer.Option(
        help="Codes that are not looked for, or their beginnings.",
        metavar="CODES",
        show_default="none",
    ),
]
Alarms = Annotated[
    float | None,
    typer.Option(
        help="Share of right numbers that a model may flag on text like the training data.",
        show_default=f"{ALARMS}, or the least that the model allows",
    ),
]
MinProbability = Annotated[
    float | None,
    typer.Option(
        help="Only count findings that are less probable to be errors.",
        show_default=str(MIN_PROBABILITY),
    ),
]
