"""What the files of a run say, as types. Reading ignores what later versions may add."""

from dataclasses import asdict, dataclass, field
from typing import Any

from numerate.storage.records import Unbounded
from numerate.text.reading_rules import ReadingRules

Option = str | int | float | bool | None
Figure = float | None  # JSON has no nan
Interval = tuple[Figure, Figure]


@dataclass(frozen=True, slots=True)
class DatasetPlace:
    """Which dataset, and where it was: seen from the root, and from the run's folder.

    The hash is of texts; the same ones cut by other rules are not what the run was trained on.
    """

    path: str
    content_hash: str
    relative: str | None
    reading: ReadingRules
    tables: str | None  # their hash, where the run sees them

    @property
    def content(self) -> dict[str, Any]:
        """Name what a run learnt from, wherever it lies."""
        reading = asdict(self.reading)
        return {"dataset": self.content_hash, "tables": self.tables, "reading": reading}


@dataclass(frozen=True, slots=True)
class BackboneRecord:
    """The pretrained model that a head stands on."""

    path: str
    digest: str
    start: int | None
    finetune: str
    layers: list[int]


@dataclass(frozen=True, slots=True)
class NetworkRecord:
    """What reads text in a model from scratch."""

    kind: str = "lstm"
    layers: int = 1
    heads: int = 1
    inputs: str = "digits"


@dataclass(frozen=True, slots=True)
class ChosenOptions:
    """What was chosen about the head."""

    truncate: bool = False
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FittedWeights:
    """How the mixture weights of a combination were fitted."""

    strength: float | None  # None: as they were trained
    gain: float


@dataclass(frozen=True, slots=True)
class RunConfig:
    """`config.json`; what follows `numerate` is not known of a model that is no run."""

    format: str
    version: int
    model: str
    hidden: int
    dropout: float
    options: ChosenOptions
    sight: str
    network: NetworkRecord | None  # none over a backbone
    head: dict[str, Any]  # what it was made with
    numerate: str
    dataset: DatasetPlace | None = None
    training: dict[str, Option] = field(default_factory=dict)
    backbone: BackboneRecord | None = None
    cache: str | None = None
    mixture_weights: FittedWeights | None = None
    state: str | None = None  # training, finished, interrupted or failed
    best_epoch: int | None = None

    @property
    def network_options(self) -> dict[str, Option]:
        """What was chosen of a network from scratch; nothing where there is none."""
        network = self.network
        if self.backbone is not None or network is None:
            return {}
        heads = None if network.kind == "lstm" else network.heads
        inputs = None if network.inputs == NetworkRecord().inputs else network.inputs
        return {
            "backbone": network.kind,
            "layers": network.layers,
            "heads": heads,
            "inputs": inputs,
        }


@dataclass(frozen=True, slots=True)
class TrainedConfig(RunConfig):
    """That of a run that has been trained."""

    dataset: DatasetPlace = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class VocabularyLists:
    """`vocabulary.json`"""

    words: tuple[str, ...]
    numerals: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Documents:
    """`documents.json`: what it was trained on, so that it is never tested on it."""

    train: list[str]


@dataclass(frozen=True, slots=True)
class Environment:
    """`environment.json`: when, where and with which versions; of packages, what it names."""

    started: str
    finished: str | None = None


@dataclass(frozen=True, slots=True)
class Epoch:
    """A line of `log.jsonl`."""

    epoch: int
    train_loss: Unbounded
    dev_loss: Unbounded
    dev_word_perplexity: Unbounded
    dev_numeral_perplexity: Unbounded
    learning_rate: Unbounded
    seconds: float
    tokens_per_second: float


@dataclass(frozen=True, slots=True)
class Perplexity:
    pp: Figure
    app: Figure


@dataclass(frozen=True, slots=True)
class Perplexities:
    words: Perplexity
    numerals: Perplexity
    all: Perplexity


@dataclass(frozen=True, slots=True)
class NumberLineErrors:
    rmse: Figure
    mae: Figure
    mdae: Figure
    mape: Figure
    mdape: Figure
    zeros: float


@dataclass(frozen=True, slots=True)
class Beyond:
    accuracy: Figure
    order_accuracy: Figure
    log10_error: Figure
    crps: Figure


@dataclass(frozen=True, slots=True)
class Central:
    """Of intervals: how often they contain the truth, and how wide they are."""

    coverage_50: Figure
    coverage_90: Figure
    median_width_50: Figure
    median_width_90: Figure
    mean_width_50: Figure
    mean_width_90: Figure


@dataclass(frozen=True, slots=True)
class Selected:
    mae: Figure
    mdae: Figure
    mape: Figure
    mdape: Figure


@dataclass(frozen=True, slots=True)
class ByClass:
    words: Figure
    numerals: Figure
    all: Figure


@dataclass(frozen=True, slots=True)
class Oracle:
    perplexity: ByClass
    nats_above: ByClass


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Under which circumstances `numerate reproduce` evaluated a run."""

    weights: str
    confidence: float | None
    metrics: str


@dataclass(frozen=True, slots=True)
class Metrics:
    """`metrics.json`"""

    model: str
    dataset: str
    split: str
    perplexity: Perplexities
    intervals: dict[str, dict[str, Interval | dict[str, Interval]]]
    counts: dict[str, int]
    baselines: dict[str, NumberLineErrors]
    oracle: Oracle | None
    oracle_with_tables: Oracle | None
    sight: str
    limit: int | None
    oov_set: str
    confidence: Figure
    calibrated_on: str | None
    number_line: NumberLineErrors | None = None  # none where perplexity alone was asked for
    beyond: Beyond | None = None
    selected: Selected | None = None
    central: dict[str, Central] | None = None
    evaluated: Evaluated | None = None
