"""`numerate train-detector`: from a dataset to the folder of a detector."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

import numerate
from numerate.detector.articles import TEXTS_ALONE, Article, labels, numerals_of
from numerate.detector.log_odds import LogOdds
from numerate.detector.small import SmallClassifier, SmallOptions
from numerate.detector.trained import (
    DETECTOR,
    FORMAT,
    KIND,
    VERSION,
    Calibrations,
    DetectorConfig,
    save_detector,
)
from numerate.errors import DatasetError
from numerate.lm.data.dataset import Dataset
from numerate.lm.model.device import usable_device
from numerate.lm.model.run_folder import LOG, RunFolder
from numerate.lm.train.detector_articles import articles_of
from numerate.lm.train.detector_fitting import (
    DEV_SEED,
    Fitted,
    FittingOptions,
    Report,
    draw_errors,
    fit,
    score,
)
from numerate.lm.train.environment import record_end, record_environment
from numerate.places import as_place, is_remote
from numerate.storage import published
from numerate.storage.atomic import write_file
from numerate.text.vocabulary import Vocabulary

VOCABULARY = 8000


@dataclass(frozen=True, slots=True)
class DetectorResult:
    folder: str | Path  # as it was given
    fitted: Fitted


def train_detector(
    dataset: str | Path,
    out: str | Path,
    *,
    network: SmallOptions | None = None,
    vocabulary: int = VOCABULARY,
    options: FittingOptions | None = None,
    device: str | None = None,
    force: bool = False,
    report: Report | None = None,
) -> DetectorResult:
    """Train a detector and write its folder, which appears when it is complete; an interrupt
    (Ctrl-C) ends training in good order and keeps the best epoch so far.
    """
    options = options or FittingOptions()
    opened = Dataset.open(dataset, verified=True)
    chosen = usable_device(device)
    with published(out, DETECTOR, force=force) as folder:
        record_environment(folder, chosen)
        train, dev = (articles_of(opened.split(name), opened.reading) for name in ("train", "dev"))
        for name, articles in (("train", train), ("dev", dev)):
            if not numerals_of(articles):
                raise DatasetError(f"{opened.folder}: no numeral in the {name} split")
        torch.manual_seed(options.seed)
        words = _vocabulary(opened, vocabulary)
        classifier = SmallClassifier(words, network or SmallOptions()).to(chosen)
        fitted = fit(classifier, train, dev, opened.reading, options, report)
        calibrations = calibrate(classifier, dev, numerals_of(train))
        # Seen from where the folder will be.
        target = folder if is_remote(out) else Path(as_place(out))
        place = RunFolder(target).place_of(opened, "tables")
        save_detector(
            folder,
            classifier,
            DetectorConfig(
                FORMAT,
                VERSION,
                KIND,
                classifier.options(),
                place,
                {**asdict(options), "vocabulary": vocabulary},
                fitted.state,
                fitted.best_epoch,
                numerate.__version__,
            ),
            calibrations,
        )
        RunFolder(folder).write_vocabulary(words)
        RunFolder(folder).write_documents([article.name for article in train])
        lines = "".join(json.dumps(record) + "\n" for record in fitted.history)
        write_file(folder / LOG, lines.encode())
        record_end(folder)
    return DetectorResult(as_place(out), fitted)


def _vocabulary(dataset: Dataset, size: int) -> Vocabulary:
    encoded = dataset.split("train").encode()
    return Vocabulary.build(encoded.types, encoded.counts, min(size, len(encoded.types)))


def calibrate(
    classifier: SmallClassifier, dev: Sequence[Article], elsewhere: Sequence[str]
) -> Calibrations:
    """Calibrate on the dev split, with other errors than those that chose the best epoch."""
    prepared = classifier.prepare(dev)
    errors = draw_errors(dev, dev[0].rules, [DEV_SEED, 1], elsewhere)
    of_texts, _ = labels(dev, errors)
    texts_alone = [TEXTS_ALONE] * len(dev)
    found = score(classifier, prepared, errors, selections=texts_alone)
    right = score(classifier, prepared)
    texts = LogOdds.fit(found.texts, of_texts, right.texts)
    errors = draw_errors(dev, dev[0].rules, [DEV_SEED, 2], elsewhere, spoilt=1.0)
    _, of_tables = labels(dev, errors)
    if not of_tables.any():
        return Calibrations(texts)
    found = score(classifier, prepared, errors)
    return Calibrations(texts, LogOdds.fit(found.cells, of_tables, right.cells))


def train_with_report(
    dataset: str | Path,
    out: str | Path,
    *,
    network: SmallOptions,
    vocabulary: int,
    options: FittingOptions,
    device: str | None,
    force: bool,
) -> DetectorResult:
    """Train a detector, and print a line an epoch."""
    result = train_detector(
        dataset,
        out,
        network=network,
        vocabulary=vocabulary,
        options=options,
        device=device,
        force=force,
        report=print_epoch,
    )
    best = result.fitted.best_epoch
    print(f"{result.folder}: {result.fitted.state}, best epoch {best}")
    return result


def print_epoch(record: dict[str, Any]) -> None:
    print(
        f"epoch {record['epoch']}: train loss {record['train_loss']:.4f}, dev loss "
        f"{record['dev_loss']:.4f}, of cells {record['dev_cell_loss']:.4f} "
        f"({record['seconds']:.0f} s)",
        flush=True,
    )
