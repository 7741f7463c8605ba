"""`numerate train-detector`: from a dataset to the folder of a detector."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

import numerate
from numerate.atomic import write_file
from numerate.corpus.dataset import Dataset
from numerate.detector.articles import TEXTS_ALONE, Article, articles_of, labels, numerals_of
from numerate.detector.classifier import NumeralClassifier
from numerate.detector.fitting import (
    DEV_SEED,
    Fitted,
    FittingOptions,
    Report,
    draw_errors,
    fit,
    score,
)
from numerate.detector.log_odds import LogOdds
from numerate.detector.pretrained import PretrainedClassifier
from numerate.detector.small import SmallClassifier, SmallOptions
from numerate.detector.trained import (
    DETECTOR,
    FORMAT,
    VERSION,
    Calibrations,
    DetectorConfig,
    save_detector,
)
from numerate.errors import DatasetError, NumerateError
from numerate.model.device import usable_device
from numerate.places import as_place, is_remote
from numerate.pretrained.backbone import open_backbone, parse_reference
from numerate.runs.folder import LOG, RunFolder
from numerate.storage import published
from numerate.training.environment import record_end, record_environment
from numerate.vocabulary import Vocabulary

VOCABULARY = 8000


@dataclass(frozen=True, slots=True)
class DetectorResult:
    folder: str | Path  # as it was given
    fitted: Fitted


Make = Callable[[Dataset], NumeralClassifier]
"""A classifier to be trained on a dataset."""


def small_classifier(options: SmallOptions, vocabulary: int = VOCABULARY) -> Make:
    def make(dataset: Dataset) -> NumeralClassifier:
        encoded = dataset.split("train").encode()
        size = min(vocabulary, len(encoded.types))
        return SmallClassifier(Vocabulary.build(encoded.types, encoded.counts, size), options)

    return make


def pretrained_classifier(
    path: Path, finetune: str, options: SmallOptions, vocabulary: int = VOCABULARY
) -> Make:
    def make(dataset: Dataset) -> NumeralClassifier:
        small = small_classifier(options, vocabulary)(dataset)
        assert isinstance(small, SmallClassifier)
        return PretrainedClassifier(open_backbone(path), small, finetune)

    return make


def train_detector(
    dataset: str | Path,
    out: str | Path,
    *,
    make: Make | None = None,
    options: FittingOptions | None = None,
    about: dict[str, Any] | None = None,
    device: str | None = None,
    force: bool = False,
    report: Report | None = None,
) -> DetectorResult:
    """Train a detector, by default the small one, and write its folder, which appears when it is
    complete; an interrupt (Ctrl-C) ends training in good order and keeps the best epoch so far.

    `about` is what else the folder shall say of its training.
    """
    options, make = options or FittingOptions(), make or small_classifier(SmallOptions())
    opened = Dataset.open(dataset, verified=True)
    chosen = usable_device(device)
    with published(out, DETECTOR, force=force) as folder:
        record_environment(folder, chosen)
        train, dev = (articles_of(opened.split(name), opened.reading) for name in ("train", "dev"))
        for name, articles in (("train", train), ("dev", dev)):
            if not numerals_of(articles):
                raise DatasetError(f"{opened.folder}: no numeral in the {name} split")
        torch.manual_seed(options.seed)
        classifier = make(opened).to(chosen)
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
                classifier.kind,
                classifier.options(),
                place,
                {**asdict(options), **(about or {})},
                fitted.state,
                fitted.best_epoch,
                numerate.__version__,
            ),
            calibrations,
        )
        classifier.keep(folder)
        RunFolder(folder).write_documents([article.name for article in train])
        lines = "".join(json.dumps(record) + "\n" for record in fitted.history)
        write_file(folder / LOG, lines.encode())
        record_end(folder)
    return DetectorResult(as_place(out), fitted)


def calibrate(
    classifier: NumeralClassifier, dev: Sequence[Article], elsewhere: Sequence[str]
) -> Calibrations:
    """On the dev split, with errors other than those by which the best epoch was chosen."""
    prepared = classifier.prepare(dev)
    errors = draw_errors(dev, dev[0].rules, [DEV_SEED, 1], elsewhere)
    of_texts, _ = labels(dev, errors)
    texts_alone = [TEXTS_ALONE] * len(dev)
    found = score(classifier, prepared, errors, selections=texts_alone)
    right = score(classifier, prepared)
    texts = LogOdds.fit(found.texts, of_texts, right.texts)
    errors = draw_errors(dev, dev[0].rules, [DEV_SEED, 2], elsewhere, spoilt=1.0)
    _, of_tables = labels(dev, errors)
    if right.cells is None or not of_tables.any():
        return Calibrations(texts)
    found = score(classifier, prepared, errors)
    assert found.cells is not None
    return Calibrations(texts, LogOdds.fit(found.cells, of_tables, right.cells))


def train_with_report(
    dataset: str | Path,
    out: str | Path,
    *,
    backbone: str,
    finetune: str,
    hidden: int,
    dropout: float,
    layers: int,
    vocabulary: int,
    options: FittingOptions,
    device: str | None,
    force: bool,
) -> DetectorResult:
    """The same, with a line an epoch."""
    path = parse_reference(backbone)
    small = SmallOptions(hidden, dropout, "lstm" if path else backbone, layers)
    if path is None:
        make = small_classifier(small, vocabulary)
        if finetune != "none":
            raise NumerateError(f"finetune: got {finetune} for {backbone}, expected hf:PATH")
    else:
        make = pretrained_classifier(path, finetune, small, vocabulary)
    result = train_detector(
        dataset,
        out,
        make=make,
        options=replace(options),
        about={"vocabulary": vocabulary},
        device=device,
        force=force,
        report=print_epoch,
    )
    best = result.fitted.best_epoch
    print(f"{result.folder}: {result.fitted.state}, best epoch {best}")
    return result


def print_epoch(record: dict[str, Any]) -> None:
    cells = record["dev_cell_loss"]
    also = "" if cells is None else f", of cells {cells:.4f}"
    print(
        f"epoch {record['epoch']}: train loss {record['train_loss']:.4f}, dev loss "
        f"{record['dev_loss']:.4f}{also} ({record['seconds']:.0f} s)",
        flush=True,
    )
