"""A run to figures: both tables of the paper, and what goes beyond them."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import numerate
from numerate.atomic import write_file
from numerate.batching import Corpus, load_corpora
from numerate.corpus.dataset import SPLITS, Split, some_paragraphs
from numerate.errors import DatasetError, RunError
from numerate.evaluation.bootstrap import Interval, bootstrap_intervals, bootstrap_means
from numerate.evaluation.candidates import candidate_numerals
from numerate.evaluation.number_line import (
    absolute_errors,
    mean_absolute_log10_error,
    number_line_errors,
    order_of_magnitude_accuracy,
)
from numerate.evaluation.perplexity import adjusted_log_probs, perplexity
from numerate.evaluation.score import Predictions, Targets, predict_best, rank_tables
from numerate.evaluation.subject import Settings, open_subject
from numerate.model.device import usable_device
from numerate.model.language_model import read_json
from numerate.packing import ranges

METRICS = "metrics.json"
CLASSES = ("words", "numerals", "all")
OOV_SETS = ("all", "train")

Figures = dict[str, Any]  # nested: table → figure, or table → class → figure


@dataclass(slots=True)
class Evaluation:
    """The figures of one run, with what a comparison of two runs needs."""

    name: str
    folder: Path  # of the run; the reference of a member or a pretrained model
    dataset: str
    split: str
    limit: int | None  # so many paragraphs of it; None: all
    figures: Figures
    intervals: Figures  # the same names → [low, high]; empty without `confidence`
    counts: dict[str, int]
    baselines: dict[str, dict[str, float]]
    oracle: Figures | None
    adjusted: np.ndarray = field(repr=False)  # [T] log p' of every target
    targets: Targets = field(repr=False)
    documents: np.ndarray = field(repr=False)  # [T]
    by_numeral: dict[str, dict[str, np.ndarray]] = field(repr=False)  # [N] mean or median of what

    def record(self) -> dict[str, Any]:
        """All figures as plain values, fit for JSON."""
        record: dict[str, Any] = strict(
            {
                "model": self.name,
                "numerate": numerate.__version__,
                "dataset": self.dataset,
                "split": self.split,
                "limit": self.limit,
                **self.figures,
                "intervals": self.intervals,
                "baselines": self.baselines,
                "oracle": self.oracle,
                "counts": self.counts,
            }
        )
        return record

    def save(self) -> None:
        """Write `metrics.json` into the run, if there is one; a part never replaces a whole."""
        if not self.folder.is_dir():  # a member of a run, or a pretrained model
            return
        path = self.folder / METRICS
        if self.limit is not None and path.exists() and read_json(path).get("limit") is None:
            return
        write_file(path, (json.dumps(self.record(), indent=2) + "\n").encode())


def strict(value: Any) -> Any:
    """The same with None for nan and infinities, which JSON does not have."""
    if isinstance(value, dict):
        return {key: strict(item) for key, item in value.items()}
    if isinstance(value, list):
        return [strict(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def evaluate(
    run: str | Path,
    dataset: str | Path | None = None,
    *,
    split: str = "test",
    oov_set: str = "all",
    everything: bool = False,
    confidence: float | None = None,
    device: str | None = None,
    limit: int | None = None,
    settings: Settings | None = None,
) -> Evaluation:
    """Evaluate a run on a split of a dataset, by default the one it was trained on.

    `run` may also be `RUN:MEMBER`, a member of a combination by itself, or `hf:PATH`, a pretrained
    language model; `settings` are for these. `limit` takes so many paragraphs only, always the
    same.

    `everything` adds the figures beyond the paper; `confidence` gives every figure an interval
    by resampling documents. `oov_set` says whose types count as unknown: those of all splits,
    or of the training split alone.
    """
    if oov_set not in OOV_SETS:
        raise RunError(f"OOV set: got {oov_set!r}, expected one of {', '.join(OOV_SETS)}")
    target_device = usable_device(device)
    subject = open_subject(run, dataset, split, target_device, settings or Settings())
    opened = subject.dataset
    corpora = load_corpora(opened, subject.vocabulary)
    if not (corpora["train"].tokens < 0).any():
        raise DatasetError(f"{opened.folder}: no numeral in the train split, so no candidates")
    corpus = corpora[split]
    ids = opened.split(split).read(["document"])["document"].to_pylist()
    if limit is not None:
        whole = len(corpus)
        corpus = corpus.take(some_paragraphs(whole, limit))
        limit = limit if len(corpus) < whole else None
        ids = [ids[index] for index in corpus.sources]
        if not (corpus.tokens < 0).any():
            raise DatasetError(f"{opened.folder}: no numeral in these {len(corpus)} paragraphs")
    corpus.table.to(target_device)
    types = [
        type
        for name in (SPLITS if oov_set == "all" else ("train",))
        for type in opened.split(name).encode().types
    ]
    oov_words, oov_numerals = map(len, subject.vocabulary.unknown(types))
    targets = Targets.of(corpus)
    if subject.open_words:
        targets = targets.knowing_words()
    # Ranks of ids, not order of appearance: the bootstrap draws documents by number.
    _, ranks = np.unique(np.array(ids, dtype=object), return_inverse=True)
    documents = ranks[targets.paragraphs]
    log_probs = subject.log_probs(corpus)
    # A test token may be of a type that a training-only OOV set does not have.
    adjusted = adjusted_log_probs(
        log_probs,
        targets.is_numeral,
        targets.is_unknown,
        max(1, oov_words),
        max(1, oov_numerals),
        open_vocabulary=subject.open_numerals,
    )
    candidates = candidate_numerals(corpora["train"]).to(target_device)
    best = None if everything else subject.best(corpus, candidates)
    if best is not None:
        predictions = predict_best(best, corpus.table, targets.rows, candidates)
    else:
        predictions = rank_tables(
            subject.tables(corpus, candidates),
            corpus.table,
            targets.rows,
            candidates,
            oov_numerals,
            open_vocabulary=subject.open_numerals,
            distribution=everything,
        )
    truth = corpus.table.values[targets.rows]
    means = _means(log_probs, adjusted, targets, predictions, everything)
    figures, intervals = _figures(
        means, documents, targets, truth, predictions, confidence, everything
    )
    oracle = None
    if opened.has_oracle:
        oracle = _oracle(_oracle_log_probs(opened.split(split), corpus), targets, adjusted)
    return Evaluation(
        name=subject.name,
        folder=subject.folder,
        dataset=opened.manifest["content_hash"],
        split=split,
        limit=limit,
        figures=figures,
        intervals=intervals,
        counts={
            "tokens": len(adjusted),
            "numerals": len(truth),
            "oov_words": oov_words,
            "oov_numerals": oov_numerals,
            "unknown_words": int((targets.is_unknown & ~targets.is_numeral).sum()),
            "unknown_numerals": int((targets.is_unknown & targets.is_numeral).sum()),
        },
        baselines=_baselines(corpora["train"], truth),
        oracle=oracle,
        adjusted=adjusted,
        targets=targets,
        documents=documents,
        by_numeral=_by_numeral(truth, predictions, everything),
    )


def _by_numeral(
    truth: np.ndarray, predictions: Predictions, everything: bool
) -> dict[str, dict[str, np.ndarray]]:
    """Of each numeral what the figures on the number line are a mean or a median of."""
    error, percentage = absolute_errors(truth, predictions.values)
    means, medians = {"mae": error, "mape": percentage}, {"mdae": error, "mdape": percentage}
    if everything:
        error, percentage = absolute_errors(truth, predictions.medians)
        _, by_percentage = absolute_errors(truth, predictions.percentage_medians)
        means |= {"accuracy": predictions.exact.astype(float), "crps": predictions.crps}
        means |= {"suited_mae": error, "suited_mape": by_percentage}
        medians |= {"suited_mdae": error, "suited_mdape": percentage}
    return {"mean": means, "median": medians}


def _oracle_log_probs(split: Split, corpus: Corpus) -> np.ndarray:
    lengths = split.encode().lengths + 1
    starts = np.concatenate([[0], np.cumsum(lengths)])
    places = ranges(starts[corpus.sources], starts[corpus.sources + 1])
    return np.asarray(split.log_probs()[places])


@dataclass(frozen=True, slots=True)
class _Mean:
    """A figure that is a function of a mean over tokens: perplexities, accuracies, CRPS."""

    path: tuple[str, ...]
    values: np.ndarray
    members: np.ndarray  # [T] which tokens it is over
    function: Callable[[float], float] = float


def token_classes(targets: Targets) -> dict[str, np.ndarray]:
    numeral = targets.is_numeral
    return dict(zip(CLASSES, (~numeral, numeral, np.ones_like(numeral)), strict=True))


def _means(
    log_probs: np.ndarray,
    adjusted: np.ndarray,
    targets: Targets,
    predictions: Predictions,
    everything: bool,
) -> list[_Mean]:
    means = [
        _Mean(("perplexity", name, kind), -values[members], members, perplexity)
        for name, members in token_classes(targets).items()
        for kind, values in (("pp", log_probs), ("app", adjusted))
    ]
    if everything:
        columns = {
            "accuracy": predictions.exact.astype(float),
            "crps": predictions.crps,
            **{
                f"coverage_{level:.0%}".rstrip("%"): covered.astype(float)
                for level, covered in predictions.covered.items()
            },
        }
        means += [_Mean(("beyond", k), v, targets.is_numeral) for k, v in columns.items()]
    return means


def _figures(
    means: list[_Mean],
    documents: np.ndarray,
    targets: Targets,
    truth: np.ndarray,
    predictions: Predictions,
    confidence: float | None,
    everything: bool,
) -> tuple[Figures, Figures]:
    figures: Figures = {}
    intervals: Figures = {}

    def enter(path: tuple[str, ...], interval: Interval) -> None:
        _put(figures, path, interval.estimate)
        if confidence is not None:
            _put(intervals, path, [interval.low, interval.high])

    samples = 1000 if confidence is not None else 1
    level = confidence or 0.95
    for mean in means:
        interval = bootstrap_means(
            mean.values, documents[mean.members], confidence=level, samples=samples
        )
        enter(mean.path, interval.mapped(mean.function))

    drawn = bootstrap_intervals(
        lambda weights: _number_line(truth, predictions, weights, everything),
        documents[targets.is_numeral],
        confidence=level,
        samples=samples,
    )
    for name, interval in drawn.items():
        enter(tuple(name.split(".")), interval)
    return figures, intervals


def _number_line(
    truth: np.ndarray, predictions: Predictions, weights: np.ndarray, everything: bool
) -> dict[str, float]:
    """Of the best candidate, as in the paper; with `everything`, also of numbers that suit errors.

    What is likeliest need not be near: errors are least at the median, percentage errors at a
    median of their own.
    """
    best = predictions.values
    errors = number_line_errors(truth, best, weights)
    found = {f"number_line.{name}": error for name, error in errors.items()}
    if everything:
        found["beyond.order_accuracy"] = order_of_magnitude_accuracy(truth, best, weights)
        for name, error in mean_absolute_log10_error(truth, best, weights).items():
            found[f"beyond.{name}"] = error
        middle = number_line_errors(truth, predictions.medians, weights)
        found |= {f"suited.{name}": middle[name] for name in ("mae", "mdae", "mdape")}
        relative = number_line_errors(truth, predictions.percentage_medians, weights)
        found["suited.mape"] = relative["mape"]
    return found


def _put(figures: Figures, path: tuple[str, ...], value: object) -> None:
    *parents, last = path
    for parent in parents:
        figures = figures.setdefault(parent, {})
    figures[last] = value


def _baselines(train: Corpus, truth: np.ndarray) -> dict[str, dict[str, float]]:
    """Always the mean, always the median of the training numbers."""
    numbers = train.table.values[-1 - train.tokens[train.tokens < 0]]
    constants = {"mean": float(numbers.mean()), "median": float(np.median(numbers))}
    return {
        name: number_line_errors(truth, np.full(len(truth), value))
        for name, value in constants.items()
    }


def _oracle(log_probs: np.ndarray, targets: Targets, adjusted: np.ndarray) -> Figures:
    """The process that wrote the corpus: its perplexity, and how far the model is from it."""
    classes = token_classes(targets)
    return {
        "perplexity": {
            name: perplexity(-float(log_probs[members].mean())) for name, members in classes.items()
        },
        "nats_above": {
            name: float((log_probs - adjusted)[members].mean()) for name, members in classes.items()
        },
    }
