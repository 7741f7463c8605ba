"""Train a detector: fresh errors in every epoch, the best one kept."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from numerate.detector.articles import NOTHING, Article, Errors, Selection, labels, numerals_of
from numerate.detector.beside import made_beside
from numerate.detector.channel import Channel, Place
from numerate.detector.evidence import Evidence, evidence_of
from numerate.detector.kinds_of_error import TRAINED
from numerate.detector.known import KnownArticles
from numerate.detector.small import Logits, SmallClassifier
from numerate.errors import NumerateError
from numerate.lm.data.batching import bucketed_batches
from numerate.text.reading_rules import ReadingRules

RATE = 0.12
"""Of numerals that are made wrong in training; more than in life, so that there is enough to
learn from. The calibration knows."""
CELL_RATE, SPOILT_TABLES = 0.08, 0.2
"""Of numbers of tables, and of tables in which any are wrong; texts are compared with them."""
CELLS_WEIGH = 0.5  # as much as a numeral of a text
POINTER_WEIGHS = 0.3
WARM_UP = 0.05  # of all steps, in which the learning rate rises
DEV_SEED = 12345

Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class FittingOptions:
    epochs: int = 30
    batch_size: int = 4  # articles
    learning_rate: float = 1.5e-3
    weight_decay: float = 0.01
    clip: float = 1.0
    seed: int = 1
    processes: int = 0  # that make batches beside the one that learns

    def __post_init__(self) -> None:
        for name, least in (("epochs", 1), ("batch_size", 1), ("seed", 0), ("processes", 0)):
            if getattr(self, name) < least:
                raise NumerateError(f"{name}: got {getattr(self, name)}, expected {least} or more")
        for name in ("learning_rate", "clip"):
            value = getattr(self, name)
            if not (value > 0 and math.isfinite(value)):
                raise NumerateError(f"{name}: got {value}, expected more than 0")


@dataclass(frozen=True, slots=True)
class NumeralLogits:
    """Log-odds of articles: of their texts' numerals [N], and of their tables' numbers [C]."""

    texts: np.ndarray
    cells: np.ndarray


@dataclass(frozen=True, slots=True)
class Fitted:
    history: list[dict[str, Any]]
    best_epoch: int  # counted from 1; 0: none was completed
    state: str  # finished, or interrupted


def draw_errors(
    articles: Sequence[Article],
    rules: ReadingRules,
    seed: Sequence[int],
    elsewhere: Sequence[str],
    kinds: Sequence[str] = TRAINED,
    spoilt: float = SPOILT_TABLES,
) -> list[Errors]:
    """For an epoch; `spoilt` is the share of tables in which any numbers are wrong."""
    generator, channel = np.random.default_rng(seed), Channel(kinds, rules)
    return [
        article.errors(
            channel,
            generator,
            rate=RATE,
            cell_rate=CELL_RATE,
            tables=spoilt,
            elsewhere=elsewhere,
        )
        for article in articles
    ]


def score(
    classifier: SmallClassifier,
    prepared: KnownArticles,
    errors: Sequence[Errors] | None = None,
    batch_size: int = 12,
    *,
    selections: Sequence[Selection] | None = None,
    processes: int = 0,
) -> NumeralLogits:
    """Every numeral of all articles, in their order; nan of those that are not selected."""
    articles = prepared.articles
    chosen = selections if selections is not None else [Selection()] * len(articles)
    texts = [np.full(article.count, np.nan) for article in articles]
    cells = [np.full(sum(map(len, article.cell_places)), np.nan) for article in articles]
    rows = np.array([row for row, one in enumerate(chosen) if one != NOTHING], dtype=np.int64)
    batches = [rows[some] for some in bucketed_batches(prepared.sizes[rows], batch_size)]

    def gather(batch: int) -> Evidence:
        rows = batches[batch].tolist()
        wrong = None if errors is None else [errors[row] for row in rows]
        some = None if selections is None else [chosen[row] for row in rows]
        return evidence_of(prepared, rows, wrong, some)

    classifier.eval()
    with torch.inference_mode():
        made = made_beside(gather, len(batches), processes)
        for batch, gathered in zip(batches, made, strict=True):
            found: Logits = classifier(gathered)
            at = [_selected(articles[row].places, chosen[row].texts) for row in batch]
            _put(found.texts, texts, batch, at)
            at = [_selected(articles[row].cell_places, chosen[row].tables) for row in batch]
            _put(found.cells, cells, batch, at)
    return NumeralLogits(
        np.concatenate([np.zeros(0), *texts]), np.concatenate([np.zeros(0), *cells])
    )


def _selected(places: Sequence[Sequence[Place]], chosen: Sequence[int] | None) -> np.ndarray:
    """Of the places of some texts, or tables, which are among all of them."""
    ends = np.cumsum([0, *map(len, places)])
    if chosen is None:
        return np.arange(ends[-1])
    parts = [np.arange(ends[one], ends[one + 1]) for one in chosen]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _put(
    logits: Tensor, into: list[np.ndarray], rows: np.ndarray, at: Sequence[np.ndarray]
) -> None:
    cuts = np.cumsum([len(places) for places in at])[:-1]
    for row, places, part in zip(rows, at, np.split(_array(logits), cuts), strict=True):
        into[row][places] = part


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.double().cpu().numpy()


def fit(
    classifier: SmallClassifier,
    train: Sequence[Article],
    dev: Sequence[Article],
    rules: ReadingRules,
    options: FittingOptions,
    report: Report | None = None,
) -> Fitted:
    """Train; at the end, and when interrupted, the weights are those of the best epoch by the
    loss on the dev split, whose errors are always the same."""
    torch.manual_seed(options.seed)
    elsewhere = numerals_of(train)
    dev_errors = draw_errors(dev, rules, [DEV_SEED], elsewhere)
    prepared_dev = classifier.prepare(dev)
    optimizer = torch.optim.AdamW(
        classifier.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay
    )
    steps = options.epochs * -(-len(train) // options.batch_size)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step / steps))
    history: list[dict[str, Any]] = []
    best: dict[str, Tensor] = {}
    best_epoch = 0
    state = "finished"
    try:
        for epoch in range(options.epochs):
            began = time.monotonic()
            loss = _train_epoch(
                classifier, train, rules, options, epoch, elsewhere, optimizer, schedule
            )
            dev_loss, dev_cells = dev_losses(
                classifier, prepared_dev, dev_errors, options.processes
            )
            record = {
                "epoch": epoch + 1,
                "train_loss": loss,
                "dev_loss": dev_loss,
                "dev_cell_loss": dev_cells,
                "learning_rate": schedule.get_last_lr()[0],
                "seconds": time.monotonic() - began,
            }
            history.append(record)
            total = [one["dev_loss"] + CELLS_WEIGH * one["dev_cell_loss"] for one in history]
            if total[-1] == min(total):
                best_epoch = epoch + 1
                best = {name: value.clone() for name, value in classifier.state_dict().items()}
            if report is not None:
                report(record)
    except KeyboardInterrupt:
        state = "interrupted"
    if best:
        classifier.load_state_dict(best)
    return Fitted(history, best_epoch, state)


def _rate(done: float) -> float:
    """Up, then down along a cosine."""
    if done < WARM_UP:
        return done / WARM_UP
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (done - WARM_UP) / (1 - WARM_UP))))


def _train_epoch(
    classifier: SmallClassifier,
    articles: Sequence[Article],
    rules: ReadingRules,
    options: FittingOptions,
    epoch: int,
    elsewhere: Sequence[str],
    optimizer: torch.optim.Optimizer,
    schedule: torch.optim.lr_scheduler.LambdaLR,
) -> float:
    seed = [options.seed, epoch]
    sizes = np.array([article.size for article in articles])
    batches = bucketed_batches(sizes, options.batch_size, np.random.default_rng([*seed, 1]))

    def make(batch: int) -> tuple[np.ndarray, np.ndarray, Evidence]:
        """Make labels of texts and of tables, and the articles, whose tables without errors are not
        scored; where there are processes, all of it is
        theirs, since it takes longer than to learn from it."""
        some = [articles[row] for row in batches[batch].tolist()]
        wrong = draw_errors(some, rules, [*seed, 2, batch], elsewhere)
        spoilt = [[at for at, edits in enumerate(one.tables) if edits] for one in wrong]
        selections = [Selection(tables=tables) for tables in spoilt]
        prepared = classifier.prepare(some)
        gathered = evidence_of(prepared, range(len(some)), wrong, selections)
        return *labels(some, wrong), gathered

    classifier.train()
    total = torch.zeros((), dtype=torch.float64, device=classifier.device)
    count = 0
    for of_texts, of_tables, gathered in made_beside(make, len(batches), options.processes):
        found: Logits = classifier(gathered)
        if not len(found.texts):
            continue
        loss = _loss(found.texts, of_texts)
        total += loss.detach().double() * len(of_texts)
        count += len(of_texts)
        if len(found.cells):
            loss = loss + CELLS_WEIGH * _loss(found.cells, of_tables[found.cell_places])
        if found.auxiliary is not None:
            loss = loss + POINTER_WEIGHS * found.auxiliary
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(classifier.parameters(), options.clip)
        optimizer.step()
        schedule.step()
    return float(total) / max(count, 1)


def _loss(logits: Tensor, is_wrong: np.ndarray) -> Tensor:
    target = torch.from_numpy(is_wrong).to(logits.device, torch.float32)
    return F.binary_cross_entropy_with_logits(logits.float(), target)


def dev_losses(
    classifier: SmallClassifier,
    prepared: KnownArticles,
    errors: Sequence[Errors],
    processes: int = 0,
) -> tuple[float, float]:
    """Return the mean log loss of numerals of texts, and of numbers of tables."""
    of_texts, of_tables = labels(prepared.articles, errors)
    found = score(classifier, prepared, errors, processes=processes)
    return _log_loss(found.texts, of_texts), _log_loss(found.cells, of_tables)


def _log_loss(log_odds: np.ndarray, is_wrong: np.ndarray) -> float:
    if not len(log_odds):
        return 0.0
    return float(np.logaddexp(0, np.where(is_wrong, -log_odds, log_odds)).mean())
