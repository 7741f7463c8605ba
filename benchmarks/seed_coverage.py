"""How often do 95 % intervals of models of a few seeds contain the truth, by simulation?

    python benchmarks/seed_coverage.py

A figure is a mean over documents, off by documents, by seeds and by both together. Three ways to
tell how far: documents alone resampled; documents and seeds both resampled, crossed; and documents
resampled, seeds drawn from Student's t, as `numerate reproduce --seeds` does.
"""

import argparse

import numpy as np

from numerate.evaluation.crossed import OverSeeds
from numerate.evaluation.observed import by_document

DOCUMENTS, OF_BOTH = 200, 0.5  # standard deviations are in units of that between documents
SAMPLES = 400


def intervals(values: np.ndarray, generator: np.random.Generator) -> dict[str, np.ndarray]:
    """Of the mean of `values` [K, D]: low and high by each way."""
    seeds, documents = values.shape
    counts = generator.multinomial(documents, [1 / documents] * documents, SAMPLES)
    drawn = counts @ values.T / documents  # [S, K]
    crossed = np.take_along_axis(drawn, generator.integers(seeds, size=(SAMPLES, seeds)), axis=1)
    runs = [by_document(row, np.arange(documents)) for row in values]
    return {
        "documents": np.quantile(drawn.mean(1), [0.025, 0.975]),
        "both resampled": np.quantile(crossed.mean(1), [0.025, 0.975]),
        "Student's t": np.array(OverSeeds(runs, SAMPLES).interval(0.95)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=1000)
    worlds = parser.parse_args().worlds
    generator = np.random.default_rng(1)
    print("| seeds | spread of seeds | documents | both resampled | Student's t |")
    print("|---:|---:|---:|---:|---:|")
    for seeds in (3, 5):
        for spread in (0.0, 0.03, 0.1, 0.3):
            hits = dict.fromkeys(("documents", "both resampled", "Student's t"), 0)
            for _ in range(worlds):
                values = generator.normal(0, 1, DOCUMENTS) + generator.normal(0, spread, (seeds, 1))
                values += generator.normal(0, OF_BOTH, (seeds, DOCUMENTS))
                for way, (low, high) in intervals(values, generator).items():
                    hits[way] += int(low <= 0 <= high)
            shares = " | ".join(f"{hit / worlds:.1%}".replace("%", " %") for hit in hits.values())
            print(f"| {seeds} | {spread:g} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
