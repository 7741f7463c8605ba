"""A trained detector: its folder, how it is opened, and what it says of a document."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from numerate.detector.articles import Article, Selection, article_of
from numerate.detector.evidence import evidence_of
from numerate.detector.habits import Habits
from numerate.detector.known import GROUP, KnownArticles
from numerate.detector.log_odds import LogOdds
from numerate.detector.scored import Scored, Told
from numerate.detector.small import Logits, SmallClassifier, SmallOptions, stored_options
from numerate.documents.document import Document, Table
from numerate.errors import NumerateError, RunError
from numerate.lm.data.tensor_file import (
    Sizes,
    load_tensors,
    read_header,
    refuse_misfits,
    save_tensors,
)
from numerate.lm.model.device import usable_device
from numerate.lm.model.run_contents import DatasetPlace
from numerate.lm.model.run_folder import CALIBRATION, CONFIG, NAMES, WEIGHTS, RunFolder
from numerate.lm.model.stored import NothingDrawn, explained, sizes_of
from numerate.rules.finding import Suggestion
from numerate.rules.where import Where
from numerate.storage.folder_kind import FolderKind
from numerate.storage.records import read_record, typed, write_record
from numerate.text.reading_rules import ReadingRules

FORMAT, VERSION = "numerate detector", 1
KIND = "small"
TOKENS_AT_ONCE = 16_000  # of texts that are read together
PAIRS_AT_ONCE = 500_000  # of numerals and numbers they are compared with, that are read together
PAIRS_OF_CELL = 2 * GROUP
TEXTS_OF_TABLE = 64  # that a table's numbers are compared with, the first ones


@dataclass(frozen=True, slots=True)
class DetectorConfig:
    """`config.json`"""

    format: str
    version: int
    kind: str  # `KIND`
    options: dict[str, Any]
    dataset: DatasetPlace
    training: dict[str, Any]
    state: str
    best_epoch: int
    numerate: str = ""


@dataclass(frozen=True, slots=True)
class Calibrations:
    """`calibration.json`"""

    texts: LogOdds
    cells: LogOdds | None = None


class Detector:
    def __init__(
        self,
        name: str,
        classifier: SmallClassifier,
        rules: ReadingRules,
        calibrations: Calibrations,
    ) -> None:
        self.name, self.classifier, self.rules = name, classifier, rules
        self.calibrations = calibrations

    @property
    def finest_alarms(self) -> float:
        return self.calibrations.texts.finest

    def log_odds(
        self, document: Document, tables: Sequence[Table] = (), told: Told | None = None
    ) -> list[Scored]:
        """Of every numeral of a document's paragraphs, and of every number of its tables and of
        those given beside them: as it reads them, in their order. It is read group by group, and
        `told` how many paragraphs have been."""
        article = article_of(document, tables, self.rules)
        if not article.count and not any(article.numbers):
            return []
        prepared = self.classifier.prepare([article])
        texts: list[Scored] = []
        cells: dict[int, list[Scored]] = {}
        for selection in self._groups(article):
            found = self._read(prepared, selection)
            if selection.scores_texts:
                texts += self._of_texts(article, selection.texts or (), found)
                if told is not None and selection.texts:
                    told(article.origins[selection.texts[-1]][0] + 1)
            if selection.tables:
                cells |= self._of_cells(article, selection.tables, found.cells)
        if told is not None:
            told(len(document.paragraphs))
        return [*texts, *(one for _, some in sorted(cells.items()) for one in some)]

    def _groups(self, article: Article) -> list[Selection]:
        """So that memory does not grow with the document: texts, with the tables that only they
        view; then tables that others view as well, or none does."""
        groups = list(_grouped_texts(article))
        if self.calibrations.cells is None:
            return [Selection(texts, ()) for texts in groups]
        viewing: list[list[int]] = [[] for _ in article.tables]
        for text, views in enumerate(article.views):
            for table in views:
                viewing[table].append(text)
        group_of = {text: index for index, texts in enumerate(groups) for text in texts}
        tables: list[list[int]] = [[] for _ in groups]
        shared, alone = [], []
        for table, texts in enumerate(viewing):
            of = {group_of[text] for text in texts}
            if len(of) == 1:
                tables[of.pop()].append(table)
            elif of:
                shared.append(Selection(texts[:TEXTS_OF_TABLE], [table], scores_texts=False))
            else:
                alone.append(table)
        sizes = [PAIRS_OF_CELL * len(article.numbers[table]) for table in alone]
        unseen = [[alone[at] for at in some] for some in _filled(sizes, PAIRS_AT_ONCE)]
        return [
            *(Selection(texts, some) for texts, some in zip(groups, tables, strict=True)),
            *shared,
            *(Selection((), some, scores_texts=False) for some in unseen),
        ]

    def _read(self, prepared: KnownArticles, selection: Selection) -> Logits:
        self.classifier.eval()
        with torch.inference_mode():
            evidence = evidence_of(prepared, [0], None, [selection])
            found: Logits = self.classifier(evidence, suggest=selection.scores_texts)
            return found

    def _of_texts(self, article: Article, chosen: Sequence[int], found: Logits) -> Iterator[Scored]:
        logits = found.texts.double().cpu().numpy()
        calibration = self.calibrations.texts
        odds, alarms = calibration.of(logits), calibration.alarms(logits)
        meant = found.suggestions or [None] * len(logits)
        at = 0
        for text in chosen:
            whole, (paragraph, first) = article.texts[text], article.origins[text]
            numerals = [token for token in article.tokens[text] if token.is_numeral]
            written = [whole[token.start : token.end] for token in numerals]
            habits = Habits.of(written, self.rules.decimal)
            for token, one in zip(numerals, written, strict=True):
                where = Where(first + token.start, first + token.end, paragraph)
                instead, suggestion = meant[at], None
                if instead is not None:
                    meant_text, chance = instead
                    suggestion = Suggestion(habits.written_like(meant_text, one), chance)
                yield Scored(where, one, float(odds[at]), float(alarms[at]), suggestion)
                at += 1

    def _of_cells(
        self, article: Article, tables: Sequence[int], cells: Tensor
    ) -> dict[int, list[Scored]]:
        """Of all numbers of some tables."""
        calibration = self.calibrations.cells
        assert calibration is not None
        logits = cells.double().cpu().numpy()
        numbers = [(table, one) for table in tables for one in article.numbers[table]]
        odds, alarms = calibration.of(logits), calibration.alarms(logits)
        found: dict[int, list[Scored]] = {table: [] for table in tables}
        for (table, number), log_odds, alarm in zip(numbers, odds, alarms, strict=True):
            of = article.tables[table]
            row = of.body if number.row >= 0 else of.header
            written = row[number.row][number.column][number.start : number.end]
            where = Where(number.start, number.end, None, table, number.row, number.column)
            found[table].append(Scored(where, written, float(log_odds), float(alarm)))
        return found


def _grouped_texts(article: Article) -> Iterator[list[int]]:
    """Group texts that are read together, with a bounded number of tokens and pairs, unless one has
    more."""
    sizes = []
    for places, words, views in zip(article.places, article.tokens, article.views, strict=True):
        seen = sum(len(article.numbers[view]) for view in views)
        pairs = len(places) * (len(places) + seen)
        sizes.append(max(pairs / PAIRS_AT_ONCE, len(words) / TOKENS_AT_ONCE))
    return _filled(sizes, 1.0)


def _filled(sizes: Sequence[float], room: float) -> Iterator[list[int]]:
    """Neighbours, of which no more than fit are together."""
    group: list[int] = []
    total = 0.0
    for index, size in enumerate(sizes):
        if group and total + size > room:
            yield group
            group, total = [], 0.0
        group.append(index)
        total += size
    if group:
        yield group


def save_detector(
    folder: Path,
    classifier: SmallClassifier,
    config: DetectorConfig,
    calibrations: Calibrations,
) -> None:
    """Write all but the vocabulary."""
    record = {name: getattr(config, name) for name in DetectorConfig.__dataclass_fields__}
    place = config.dataset
    record["dataset"] = {name: getattr(place, name) for name in DatasetPlace.__dataclass_fields__}
    record["dataset"]["reading"] = place.reading.record()
    write_record(folder / CONFIG, record)
    write_record(
        folder / CALIBRATION,
        {
            "texts": calibrations.texts.record(),
            "cells": calibrations.cells.record() if calibrations.cells else None,
        },
        indent=None,
    )
    weights = {
        name: value.detach().cpu().contiguous() for name, value in classifier.state_dict().items()
    }
    save_tensors(folder / WEIGHTS, FORMAT, weights, {"kind": KIND})


def open_detector(reference: str | Path, device: str | None = None) -> Detector:
    """From the folder of a run of `train-detector`."""
    run = RunFolder.open(reference)
    config = read_config(run.path)
    try:
        record = read_record(run.path / CALIBRATION, Calibrations, RunError)
    except (FileNotFoundError, NotADirectoryError):
        raise RunError(f"{run.path}: incomplete run: {CALIBRATION} is missing") from None
    sizes = read_header(run.path / WEIGHTS, FORMAT).sizes
    with explained(run.path):
        options = stored_options(config.options)
        _refuse_sizes(run, options, sizes)
        classifier = SmallClassifier(run.vocabulary(), options)
    tensors, _ = load_tensors(run.path / WEIGHTS, FORMAT)
    with explained(run.path):
        classifier.load_state_dict(tensors)
    classifier.to(usable_device(device)).eval()
    rules = config.dataset.reading
    return Detector(str(reference), classifier, rules, typed(Calibrations, record))


def _refuse_sizes(run: RunFolder, options: SmallOptions, sizes: Sizes) -> None:
    """Make the network without memory: sizes that do not fit those of the weights could be any."""
    if options.layers > len(sizes):  # each takes time
        raise NumerateError(f"layers: got {options.layers:,}, expected at most {len(sizes)}")
    with torch.device("meta"), NothingDrawn():
        refuse_misfits(sizes, sizes_of(SmallClassifier(run.vocabulary(), options)))


def read_config(folder: Path) -> DetectorConfig:
    path = folder / CONFIG
    try:
        about = read_record(path, {}, RunError)
    except (FileNotFoundError, NotADirectoryError):
        raise RunError(f"{folder}: not a detector: {CONFIG} is missing") from None
    if about.get("format") != FORMAT or about.get("version") != VERSION:
        got = f"{about.get('format', 'none')} {about.get('version', '')}".strip()
        raise RunError(f"{path}: not a detector: got format {got!r}, expected '{FORMAT} {VERSION}'")
    config = typed(DetectorConfig, read_record(path, DetectorConfig, RunError))
    if config.kind != KIND:
        raise RunError(f"{path}: kind: got {config.kind!r}, expected {KIND!r}; train it anew")
    return config


def is_detector(folder: Path) -> bool:
    """Whether a folder is a run of `train-detector`, whatever else may be wrong with it."""
    try:
        return read_record(folder / CONFIG, {}, RunError).get("format") == FORMAT
    except (OSError, RunError):
        return False


def _fault(folder: Path) -> str | None:
    try:
        read_config(folder)
    except RunError:
        return f"not a detector of ours, by its {CONFIG}"
    return None


DETECTOR = FolderKind("a detector", CONFIG, _fault, NAMES)
