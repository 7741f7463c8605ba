"""What do intervals and tests over a few seeds hold of what they say, by simulation?

    python benchmarks/seed_coverage.py

A figure is a mean over documents, off by documents, by seeds and by both together. First, how often
95 % intervals contain the truth. Four ways to make them: documents alone resampled; documents and
seeds both resampled, crossed, as many seeds as there are or one fewer; and documents resampled,
seeds drawn from Student's t, as `numerate reproduce --seeds` does.

Then, how often any of several equal rows is told from the best at the 5 % level; and of rows that
are worse, how many are.
"""

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from numerate.lm.evaluate.crossed import OverSeeds, against_best
from numerate.lm.evaluate.observed import by_document
from numerate.reports.tables import LOW

DOCUMENTS, OF_BOTH = 200, 0.5  # standard deviations are in units of that between documents
SAMPLES = 400
FEW_DOCUMENTS, OF_BOTH_IN_ROWS = 60, 0.2
WAYS = ("documents", "both resampled", "one seed fewer", "Student's t")


class Rows(NamedTuple):
    """So many alike: their seeds, how these spread, and how much worse than the best they are."""

    count: int
    seeds: int
    spread: float
    worse: float = 0.0


EQUAL = (
    [Rows(2, 3, 0.1)],
    [Rows(1, 3, 0.3), Rows(1, 3, 0.0)],
    [Rows(1, 10, 0.03), Rows(1, 3, 0.3)],
    [Rows(7, 1, 0.0)],
    [Rows(7, 3, 0.0)],
    [Rows(7, 3, 0.1)],
    [Rows(7, 3, 0.3)],
    [Rows(3, 3, 0.03), Rows(4, 3, 0.3)],
    [Rows(7, 2, 0.1)],
    [Rows(7, 5, 0.1)],
    [Rows(15, 3, 0.1)],
)
WORSE = (
    [Rows(1, 3, 0.1), Rows(6, 3, 0.1, 0.25)],
    [Rows(1, 3, 0.1), Rows(6, 3, 0.1, 0.5)],
    [Rows(1, 5, 0.1), Rows(6, 5, 0.1, 0.25)],
)


def intervals(values: np.ndarray, generator: np.random.Generator) -> dict[str, np.ndarray]:
    """Of the mean of `values` [K, D]: low and high by each way."""
    seeds, documents = values.shape
    counts = generator.multinomial(documents, [1 / documents] * documents, SAMPLES)
    drawn = counts @ values.T / documents  # [S, K]
    crossed, fewer = (
        np.take_along_axis(drawn, generator.integers(seeds, size=(SAMPLES, of)), axis=1)
        for of in (seeds, seeds - 1)
    )
    runs = [by_document(row, np.arange(documents)) for row in values]
    found = [np.quantile(way.mean(1), [0.025, 0.975]) for way in (drawn, crossed, fewer)]
    found.append(np.array(OverSeeds(runs, SAMPLES).interval(0.95)))
    return dict(zip(WAYS, found, strict=True))


def coverage(worlds: int, generator: np.random.Generator) -> None:
    print(f"| seeds | spread of seeds | {' | '.join(WAYS)} |")
    print("|---:" * (2 + len(WAYS)) + "|")
    for seeds in (3, 5):
        for spread in (0.0, 0.03, 0.1, 0.3):
            hits = dict.fromkeys(WAYS, 0)
            for _ in range(worlds):
                values = generator.normal(0, 1, DOCUMENTS) + generator.normal(0, spread, (seeds, 1))
                values += generator.normal(0, OF_BOTH, (seeds, DOCUMENTS))
                for way, (low, high) in intervals(values, generator).items():
                    hits[way] += int(low <= 0 <= high)
            shares = " | ".join(share(hit / worlds) for hit in hits.values())
            print(f"| {seeds} | {spread:g} | {shares} |", flush=True)


def told_apart(rows: Sequence[Rows], generator: np.random.Generator) -> list[bool]:
    """In one simulated world, of each row, whether it is told from the best."""
    documents = generator.normal(0, 1, FEW_DOCUMENTS)
    column = {}
    for row in (kind for kind in rows for _ in range(kind.count)):
        values = documents + generator.normal(row.worse, row.spread, (row.seeds, 1))
        values = values + generator.normal(0, OF_BOTH_IN_ROWS, (row.seeds, FEW_DOCUMENTS))
        runs = [by_document(run, np.arange(FEW_DOCUMENTS)) for run in values]
        column[f"{len(column)}"] = OverSeeds(runs, SAMPLES)
    found = against_best(column, LOW, 0.95)
    return [found[name].p_holm <= 0.05 for name in column]


def tests(worlds: int, generator: np.random.Generator) -> None:
    print(
        "\n| rows × seeds, spread of seeds | a best row told from the best | rows that are worse |"
    )
    print("|---|---:|---:|")
    for rows in (*EQUAL, *WORSE):
        found = np.array([told_apart(rows, generator) for _ in range(worlds)])
        worse = np.repeat([row.worse > 0 for row in rows], [row.count for row in rows])
        wrongly = share(found[:, ~worse].any(axis=1).mean())
        rightly = share(found[:, worse].mean()) if worse.any() else ""
        print(f"| {'; '.join(map(described, rows))} | {wrongly} | {rightly} |", flush=True)


def described(row: Rows) -> str:
    text = f"{row.count} × {row.seeds}, {row.spread:g}"
    return text + (f", worse by {row.worse:g}" if row.worse else "")


def share(of_one: float) -> str:
    return f"{of_one:.1%}".replace("%", " %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=1000)
    worlds = parser.parse_args().worlds
    coverage(worlds, np.random.default_rng(1))
    tests(worlds, np.random.default_rng(1))


if __name__ == "__main__":
    main()
