"""A run to figures: both tables of the paper, and what goes beyond them."""

import math
import operator
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import numerate
from numerate.errors import DatasetError, RunError, check_choice
from numerate.lm.backbones.contract import Targets
from numerate.lm.data.batching import Corpus, load_corpora
from numerate.lm.data.dataset import SPLITS, Split, some_paragraphs
from numerate.lm.evaluate.figures import (
    Figures,
    figures_and_intervals,
    perplexities,
    put,
    token_classes,
)
from numerate.lm.evaluate.number_line import number_line_errors
from numerate.lm.evaluate.observed import PARTS, FigurePath, Observed, by_document
from numerate.lm.evaluate.on_line import OnLine, measured_on_line
from numerate.lm.model.opening import Opened, Settings, open_model
from numerate.lm.model.reference import oov_sizes
from numerate.lm.model.run_contents import Option
from numerate.lm.model.run_folder import CONFIG, METRICS, RunFolder
from numerate.lm.perplexity import perplexity, proper, without_improbable
from numerate.places import is_remote, local_path
from numerate.storage.records import write_record
from numerate.text.columns import sees_tables
from numerate.text.ragged import ranges
from numerate.text.vocabulary import Vocabulary

OOV_SETS = ("all", "train")
ORACLES = {False: "oracle", True: "oracle_with_tables"}  # by whether they see tables


@dataclass(slots=True)
class Evaluation:
    """The figures of one run, with what a comparison of two runs needs."""

    name: str
    folder: Path  # of the run; the reference of a member, a pretrained or an installed model
    dataset: str
    split: str
    limit: int | None  # so many paragraphs of it; None: all
    figures: Figures
    intervals: Figures  # the same names → [low, high]; empty without `confidence`
    counts: dict[str, int]
    baselines: dict[str, dict[str, float]]
    sight: str  # how far the model sees
    oracle: Figures | None  # of the text alone
    oracle_with_tables: Figures | None  # of the text and the tables it refers to
    adjusted: np.ndarray = field(repr=False)  # [T] log p' of every target
    targets: Targets = field(repr=False)
    documents: np.ndarray = field(repr=False)  # [T]
    by_numeral: dict[str, dict[str, np.ndarray]] = field(repr=False)  # [N] mean or median of what
    observed: dict[FigurePath, Observed] = field(default_factory=dict, repr=False)  # by document
    parameters: int = 0  # of model and backbone; 0: not known, of what was evaluated before
    tokens_per_second: float = math.nan  # read and scored; nan of what was cached
    calibrated_on: str | None = None  # what intervals are, or why they are not; None: not asked
    vocabulary: Vocabulary | None = field(default=None, repr=False)  # None: not known, as of before
    oov_set: str = "all"  # whose types are unknown
    confidence: float | None = None  # of the intervals
    training: Mapping[str, Option] = field(default_factory=dict, repr=False)  # empty: not known

    @property
    def best_possible(self) -> Figures | None:
        """The oracle that sees what the model sees: no model of this sight can do better."""
        return self.oracle_with_tables if self._is_seeing else self.oracle

    @property
    def above_oracle(self) -> FigurePath:
        """How far it is above that one."""
        return ORACLES[self._is_seeing], "nats_above", "numerals"

    @property
    def _is_seeing(self) -> bool:
        return sees_tables(self.sight) and self.oracle_with_tables is not None

    def record(self) -> dict[str, Any]:
        """All figures as plain values, fit for JSON."""
        record: dict[str, Any] = strict(
            {
                "model": self.name,
                "numerate": numerate.__version__,
                "dataset": self.dataset,
                "split": self.split,
                "limit": self.limit,
                "oov_set": self.oov_set,
                "confidence": self.confidence,
                **self.figures,
                "intervals": self.intervals,
                "baselines": self.baselines,
                "sight": self.sight,
                "oracle": self.oracle,
                "oracle_with_tables": self.oracle_with_tables,
                "counts": self.counts,
                "calibrated_on": self.calibrated_on,
            }
        )
        return record

    def save(self) -> None:
        """Write `metrics.json` into the run, if there is one; a part never replaces a whole, nor
        do figures of another OOV set, split or dataset the usual ones, which stand beside those of
        other runs.

        A member, a pretrained model and an installed one have none: a folder that happens to be
        called as they are is somebody else's.
        """
        if not (self.folder / CONFIG).is_file():
            return
        if "number_line" not in self.figures:
            return
        run = RunFolder(self.folder)
        try:
            before = run.metrics()
        except RunError:  # spoilt, so nothing is lost
            before = None
        own, record = run.config().dataset, self.record()

        def usual(one: dict[str, Any]) -> list[bool]:
            of_own = own is not None and one["dataset"] == own.content_hash
            whole, every = one.get("limit") is None, one.get("oov_set", "all") == "all"
            return [of_own, one["split"] == "test", whole, every]

        if before is not None and any(map(operator.gt, usual(before), usual(record))):
            return
        write_record(run.path / METRICS, record)


def oracles(evaluations: Sequence[Evaluation]) -> Iterator[tuple[str, Figures]]:
    """Those that tell how good the models could be; the one without tables, if all see them."""
    first = evaluations[0]
    if first.oracle and not all(found.best_possible is not found.oracle for found in evaluations):
        yield "oracle", first.oracle
    if first.oracle_with_tables:
        yield "oracle with tables in sight", first.oracle_with_tables


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
    metrics: str = "paper",
    confidence: float | None = None,
    device: str | None = None,
    limit: int | None = None,
    settings: Settings | None = None,
) -> Evaluation:
    """Evaluate a run on a split of a dataset, by default the one it was trained on.

    `run` may also be `RUN:MEMBER`, a member of a combination by itself, or `hf:PATH`, a pretrained
    language model; `settings` are for these. `limit` takes so many paragraphs only, always the
    same.

    `metrics` are `"perplexity"` alone, which is quick, `"paper"`, or `"all"`, with the figures
    beyond the paper; `confidence` gives every figure an interval by resampling documents.
    `oov_set` says whose types count as unknown: those of all splits, or of the training split
    alone.

    Examples:
        >>> import numerate
        >>> evaluation = numerate.evaluate("demo/runs/combination", split="dev")
        >>> adjusted = evaluation.figures["perplexity"]["numerals"]["app"]
        >>> adjusted > evaluation.oracle["perplexity"]["numerals"]  # the best that can be
        True
    """
    if oov_set not in OOV_SETS:
        raise RunError(f"OOV set: got {oov_set!r}, expected one of {', '.join(OOV_SETS)}")
    check_choice("metrics", metrics, PARTS)
    if confidence is not None and not 0 < confidence < 1:
        raise RunError(f"confidence: got {confidence}, expected between 0 and 1")
    subject = open_model(run, device=device, settings=settings)
    model = subject.model
    opened = subject.on(dataset, split)
    vocabulary = subject.vocabulary(opened)
    corpora = load_corpora(opened, vocabulary, model.config.sight)
    if not len(corpora["train"].rows):
        raise DatasetError(f"{opened.folder}: no numeral in the train split, so no candidates")
    corpus, asked = corpora[split], limit
    ids = opened.split(split).read(["document"])["document"].to_pylist()
    if limit is not None:
        whole = len(corpus)
        corpus = corpus.take(some_paragraphs(whole, limit))
        limit = limit if len(corpus) < whole else None
        ids = [ids[index] for index in corpus.sources]
        if not len(corpus.rows):
            raise DatasetError(f"{opened.folder}: no numeral in these {len(corpus)} paragraphs")
    corpus.table.to(model.device)
    oov = oov_sizes(opened, vocabulary, SPLITS if oov_set == "all" else ("train",))
    targets = model.targets(corpus)
    # Ranks of ids, not order of appearance: the bootstrap draws documents by number.
    _, ranks = np.unique(np.array(ids, dtype=object), return_inverse=True)
    documents = ranks[targets.paragraphs]
    is_new = model.backbone.reads_anew(corpus)
    began = time.perf_counter()
    reading = model.read(corpus)
    log_probs = model.log_probs(reading)
    seconds = time.perf_counter() - began
    adjusted = proper(log_probs) + model.charges(targets, oov)
    truth = corpus.table.values[targets.rows]
    line = OnLine([], {}, {})
    if metrics != "perplexity":
        line = measured_on_line(
            subject,
            opened,
            corpora,
            reading,
            documents[targets.is_numeral],
            oov_numerals=oov[1],
            split=split,
            everything=metrics == "all",
            limit=asked,
        )
    measured = [*perplexities(log_probs, adjusted, targets, documents), *line.measured]
    figures, intervals = figures_and_intervals(measured, confidence)
    if without := without_improbable(adjusted, targets.is_numeral):
        figures["perplexity"]["without_improbable"] = without
    for path, count in line.zeros.items():
        put(figures, path, float(count))

    observed = {one.path: one.observed() for one in measured}
    known = {False: opened.has_oracle, True: opened.has_oracle_with_tables}
    oracle: dict[bool, Figures] = {}  # without and with tables
    for with_tables in (which for which, is_known in known.items() if is_known):
        best_possible = _oracle_log_probs(opened.split(split), corpus, with_tables)
        oracle[with_tables] = _oracle(best_possible, targets, adjusted)
        above, of_numerals = best_possible - adjusted, targets.is_numeral
        path = ORACLES[with_tables], "nats_above", "numerals"
        observed[path] = by_document(above[of_numerals], documents[of_numerals])
    return Evaluation(
        name=model.name,
        folder=_folder(subject),
        dataset=opened.manifest["content_hash"],
        split=split,
        limit=limit,
        figures=figures,
        intervals=intervals,
        counts={
            "tokens": len(adjusted),
            "numerals": len(truth),
            "oov_words": oov[0],
            "oov_numerals": oov[1],
            "unknown_words": int((targets.is_unknown & ~targets.is_numeral).sum()),
            "unknown_numerals": int((targets.is_unknown & targets.is_numeral).sum()),
        },
        baselines=_baselines(corpora["train"], truth),
        sight=model.config.sight,
        oracle=oracle.get(False),
        oracle_with_tables=oracle.get(True),
        adjusted=adjusted,
        targets=targets,
        documents=documents,
        by_numeral=line.by_numeral,
        observed=observed,
        parameters=model.parameter_count,
        tokens_per_second=len(adjusted) / seconds if is_new else math.nan,
        calibrated_on=line.calibrated_on,
        vocabulary=vocabulary,
        oov_set=oov_set,
        confidence=confidence,
        training=subject.record.training if subject.record is not None else {},
    )


def _folder(subject: Opened) -> Path:
    """That of its run; of what has none of its own, as a member, the name it was opened by."""
    if subject.run is not None and is_remote(subject.reference):
        member = subject.model.member
        return subject.run.path if member is None else Path(f"{subject.run.path}:{member}")
    return local_path(subject.reference)


def _oracle_log_probs(split: Split, corpus: Corpus, with_tables: bool) -> np.ndarray:
    lengths = split.encode().lengths + 1
    starts = np.concatenate([[0], np.cumsum(lengths)])
    places = ranges(starts[corpus.sources], starts[corpus.sources + 1])
    return np.asarray(split.log_probs(with_tables=with_tables)[places])


def _baselines(train: Corpus, truth: np.ndarray) -> dict[str, dict[str, float]]:
    """Always the mean, always the median of the training numbers."""
    numbers = train.table.values[train.rows]
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
