"""Do calibrated intervals hold on another corpus?

    python benchmarks/intervals.py RUN DATASET …

fits intervals to the dev split of each dataset and measures, on the test split of each, how often
they contain the number and how wide they are, beside the model's own. Documents that the run was
trained on are left out. Of each split at most 600 paragraphs are read, as `--limit 600` takes them.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

import numerate
from numerate.lm.data.batching import Corpus, load_corpora
from numerate.lm.data.dataset import Dataset, some_paragraphs
from numerate.lm.evaluate.bootstrap import bootstrap_mean
from numerate.lm.model.candidate_line import CandidateLine
from numerate.lm.model.conformal import ConformalIntervals
from numerate.lm.model.known_places import fit_intervals
from numerate.lm.model.numeral_lm import NumeralLM

LEVELS = (0.5, 0.9)
PARAGRAPHS, AT_ONCE = 600, 50


class Places(NamedTuple):
    """A part of a split's numerals, in order."""

    line: CandidateLine
    truth: np.ndarray
    documents: np.ndarray


def some(model: NumeralLM, dataset: Dataset, split: str) -> tuple[Corpus, np.ndarray]:
    """Paragraphs of a split, and of which document each is."""
    corpus = load_corpora(dataset, model.vocabulary, model.config.sight)[split]
    ids = np.array(dataset.split(split).read(["document"])["document"].to_pylist(), dtype=str)
    chosen = some_paragraphs(len(corpus), PARAGRAPHS)
    seen = [] if model.run is None else model.run.trained_documents()
    chosen = chosen[~np.isin(ids[chosen], seen)]
    return corpus.take(chosen), ids[chosen]


def places(model: NumeralLM, corpus: Corpus, documents: np.ndarray) -> list[Places]:
    found = []
    for begin in range(0, len(corpus), AT_ONCE):
        part = corpus.take(np.arange(begin, min(begin + AT_ONCE, len(corpus))))
        table = model.log_prob_table(model.read(part).context, model.candidates)
        targets = model.targets(part)
        of_places = documents[begin + targets.paragraphs[targets.is_numeral]]
        line = CandidateLine.of(model.candidates, table)
        found.append(Places(line, part.table.values[part.rows], of_places))
    return found


def show(label: str, parts: list[Places], intervals: ConformalIntervals | None) -> None:
    cells = []
    documents = np.concatenate([part.documents for part in parts])
    for level in LEVELS:
        inside, widths = [], []
        for line, truth, _ in parts:
            if intervals is None:
                low, high = (line.quantile((1 + sign * level) / 2) for sign in (-1, 1))
            else:
                low, high = intervals.bounds(line, level)
            inside.append((low <= truth) & (truth <= high))
            widths.append(high - low)
        share = bootstrap_mean(np.concatenate(inside).astype(float), documents, bounds=(0, 1))
        ends = f"[{100 * share.low:.1f}, {100 * share.high:.1f}]"
        cells += [f"{100 * share.estimate:.1f} {ends}", f"{np.median(np.concatenate(widths)):.4g}"]
    print(label, *cells, sep="\t", flush=True)


def main() -> None:
    run, *names = sys.argv[1:]
    model = numerate.load(run)
    fitted = {
        Path(name).name: fit_intervals(model, *some(model, Dataset.open(name), "dev"))
        for name in names
    }
    print("measured on, calibrated on", "in 50 %", "width", "in 90 %", "width", sep="\t")
    for name in names:
        parts = places(model, *some(model, Dataset.open(name), "test"))
        show(f"{Path(name).name}, own", parts, None)
        for other, intervals in fitted.items():
            show(f"{Path(name).name}, {other}", parts, intervals)


if __name__ == "__main__":
    main()
