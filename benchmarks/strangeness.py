"""Which statistic tells wrong numerals from right ones best? Several, on the dev split.

    python benchmarks/strangeness.py RUN [DATASET] [--seed 1]

Errors are those of `numerate check-benchmark`. For each statistic, the mean over the kinds of error
of the area under the ROC curve and of the recall at 1 % false alarms, in per cent. What
`numerate check` uses must have the best recall of all, otherwise the exit status is 1.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

import numerate
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.evaluate.detection import area_under_roc, threshold_of
from numerate.lm.evaluate.judges import Oddness, Score, score_in_place
from numerate.lm.evaluate.trial import Trial
from numerate.lm.model.assess import Strangeness, first_sight, log_odds, log_probs_of
from numerate.lm.model.grid import Grid, Written
from numerate.lm.model.numeral_lm import NumeralLM, TextReading
from numerate.lm.model.run_folder import CONFIG, read_json

LN10 = np.log(10)
Statistic = Callable[[Grid, Written, np.ndarray], np.ndarray]  # from log-probabilities too: [E]


class Once:
    """What all statistics need of a reading, computed once."""

    def __init__(self, model: NumeralLM) -> None:
        self._model = model
        self._known: dict[int, tuple[Grid, Written, np.ndarray]] = {}

    def of(
        self, reading: TextReading, rows: np.ndarray, numerals: list[str]
    ) -> tuple[Grid, Written, np.ndarray]:
        if id(reading) not in self._known:
            candidates = self._model.candidates
            grid = Grid(candidates, self._model.log_prob_table(reading.context, candidates))
            log_probs = log_probs_of(self._model, reading, rows, numerals)
            self._known[id(reading)] = (grid[rows], Written.of(numerals), log_probs)
        return self._known[id(reading)]


def entropy(grid: Grid) -> np.ndarray:
    return -(grid.weights * np.log(grid.weights + 1e-300)).sum(1)


def typicality(grid: Grid, written: Written, log_probs: np.ndarray) -> np.ndarray:
    """−log of the probability of all candidates that are at most as probable."""
    chances = np.exp(log_probs)
    less = (grid.weights * (grid.weights <= chances[:, None])).sum(1)
    return -np.log(less + chances + 1e-300)


def tail(grid: Grid, written: Written, log_probs: np.ndarray) -> np.ndarray:
    """−log of the probability as far out on the number line, on the nearer side."""
    middle = grid.percentile(written.values)
    return -np.log(np.minimum(middle, 1 - middle) + 1e-12)


def all_digits(written: Written) -> np.ndarray:
    """Significant digits when the zeros at the end of 1,200 count as well."""
    magnitude = np.floor(np.log10(np.maximum(written.values, 1e-9))) + 1
    return np.maximum(1, magnitude + written.precisions)


def surprisal(grid: Grid, written: Written, log_probs: np.ndarray) -> np.ndarray:
    return -log_probs


def magnitude(grid: Grid, written: Written, log_probs: np.ndarray) -> np.ndarray:
    return grid.magnitude_cost(written.values)


def precision(grid: Grid, written: Written, log_probs: np.ndarray) -> np.ndarray:
    return grid.precision_cost(written.precisions)


def per_digit(grid: Grid, written: Written, log_probs: np.ndarray) -> np.ndarray:
    return -log_probs - written.significant * LN10


FIRST_SIGHT = "surprisal − ln 10 a digit (first sight)"
BEFORE_ONLY = "odds of a slip, without what follows"
EVERYWHERE = "odds of a slip, everywhere"
USED = "odds of a slip, where strange at first sight"
STATISTICS: dict[str, Statistic] = {
    "surprisal": surprisal,
    "surprisal − entropy": lambda *x: surprisal(*x) - entropy(x[0]),
    "typicality": typicality,
    "tail of the number line": tail,
    "magnitude: probability near it": magnitude,
    "precision: probability of its decimals": precision,
    "surprisal + tail": lambda *x: surprisal(*x) + tail(*x),
    "surprisal + ½ magnitude + ½ precision": lambda *x: (
        surprisal(*x) + (magnitude(*x) + precision(*x)) / 2
    ),
    FIRST_SIGHT: per_digit,
    "… counting zeros at the end": lambda *x: surprisal(*x) - all_digits(x[1]) * LN10,
    "… − ½ entropy": lambda *x: per_digit(*x) - entropy(x[0]) / 2,
    "… + ½ magnitude": lambda *x: per_digit(*x) + magnitude(*x) / 2,
    "… + ½ magnitude + ½ precision": lambda *x: per_digit(*x) + (magnitude(*x) + precision(*x)) / 2,
}
RANKS = "ranks of surprisal and tail, added"
AVERAGE = "surprisal − 1 a digit − ½ average surprisal"
PARAGRAPHS = 10  # of the train split, over whose numerals' contexts the average is taken


def ranks_added(found: dict[str, Oddness]) -> Oddness:
    """Each score as −log of the share of right numerals that reach it, then the sum."""

    def share(right: np.ndarray, scores: np.ndarray) -> np.ndarray:
        below = np.searchsorted(np.sort(right), scores, side="left")
        return -np.log((len(right) - below + 1) / (len(right) + 1))

    parts = [found["surprisal"], found["tail of the number line"]]
    kinds = parts[0].wrong
    return Oddness(
        np.sum([share(part.right, part.right) for part in parts], axis=0),
        {kind: np.sum([share(p.right, p.wrong[kind]) for p in parts], axis=0) for kind in kinds},
    )


class LessAverage:
    """Half of what a numeral costs in the average context is taken off, and 1 for each digit."""

    def __init__(self, model: NumeralLM, contexts: list[TextReading], once: Once) -> None:
        self._model, self._contexts, self._once = model, contexts, once
        self._log_average: dict[str, float] = {}

    def __call__(self, reading: TextReading, rows: np.ndarray, numerals: list[str]) -> np.ndarray:
        new = [text for text in dict.fromkeys(numerals) if text not in self._log_average]
        if new:
            table = NumeralTable(new)
            scores = [
                self._model.log_prob_table(context.context, table) for context in self._contexts
            ]
            stacked = np.concatenate(scores)  # [contexts, C]
            averages = np.logaddexp.reduce(stacked, axis=0) - np.log(len(stacked))
            self._log_average |= dict(zip(new, averages.tolist(), strict=True))
        _, written, log_probs = self._once.of(reading, rows, numerals)
        average = np.array([self._log_average[text] for text in numerals])
        return -log_probs - written.significant + 0.5 * average


class Blind:
    """A model that does not look at what follows a numeral."""

    def __init__(self, model: NumeralLM) -> None:
        self._model = model

    def in_place(
        self, reading: TextReading, rows: np.ndarray, numerals: list[str]
    ) -> tuple[np.ndarray, np.ndarray]:
        log_probs, after = self._model.in_place(reading, rows, numerals)
        return log_probs, np.zeros_like(after)


def contexts_of(model: NumeralLM, texts: list[str], seed: int) -> list[TextReading]:
    chosen = np.random.default_rng(seed).choice(len(texts), PARAGRAPHS, replace=False)
    return [r for r in model.read_texts([texts[index] for index in chosen]) if len(r.positions)]


def means(scores: Oddness, trial: Trial) -> tuple[float, float]:
    threshold = threshold_of(scores.right)
    areas, recalls = [], []
    for kind, injected in trial.in_texts.rows.items():
        if len(injected):
            areas.append(area_under_roc(scores.right[injected.places], scores.wrong[kind]))
            recalls.append((scores.wrong[kind] > threshold).mean())
    return float(np.mean(areas)), 100 * float(np.mean(recalls))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("dataset", type=Path, nargs="?")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    model = numerate.load(arguments.run, arguments.dataset)
    path = arguments.dataset or read_json(arguments.run / CONFIG)["dataset"]["path"]
    trial = Trial(Dataset.open(path), "dev", seed=arguments.seed)
    readings = model.read_texts(trial.texts, going_on=True)

    def detect(score: Score) -> Oddness:
        return score_in_place([score], readings, trial.numerals, trial.in_texts.rows)[0]

    once = Once(model)
    found = {
        name: detect(lambda r, rows, texts, s=s: s(*once.of(r, rows, texts)))
        for name, s in STATISTICS.items()
    }
    found[RANKS] = ranks_added(found)
    blind = Blind(model)
    found[BEFORE_ONLY] = detect(lambda *x: log_odds(blind, *x))  # type: ignore[arg-type]
    found[EVERYWHERE] = detect(Strangeness(model))
    sights = [first_sight([t.text for t in r.numerals], r.numeral_log_probs) for r in readings]
    least = float(
        np.quantile(np.concatenate(sights), 1 - model.backbone.second_looks, method="higher")
    )
    found[USED] = detect(Strangeness(model, least))
    train = Dataset.open(path).split("train").read(["text"])["text"].to_pylist()
    contexts = contexts_of(model, train, arguments.seed)
    found[AVERAGE] = detect(LessAverage(model, contexts, once))
    count = sum(len(context.positions) for context in contexts)
    print(f"average surprisal over {count} contexts\n{'statistic':44}  AUC    recall")
    quality = {name: means(scores, trial) for name, scores in found.items()}
    for name, (auc, recall) in quality.items():
        print(f"{name:44}  {auc:.3f}  {recall:5.1f}")
    best = max(quality.keys() - {EVERYWHERE}, key=lambda name: quality[name][1])
    if best != USED:
        raise SystemExit(f"better than what checking uses: {best}")


if __name__ == "__main__":
    main()
