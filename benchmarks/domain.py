"""How often are documents told to be unlike what a run was trained on?

    python benchmarks/domain.py RUN DATASET OTHER …

prints the share of test documents that are, of the run's own dataset (false: at most 2 % are
wanted) and of others; whole documents, and their first words.
"""

import sys
from itertools import groupby
from pathlib import Path

import numerate
from numerate.lm.data.dataset import Dataset
from numerate.lm.model.numeral_lm import NumeralLM

LENGTHS = (40, 100, 250, None)  # words from the beginning; None: all
MOST = 500  # documents of a dataset


def documents(dataset: Path) -> list[str]:
    columns = Dataset.open(dataset).split("test").read(["document", "text"])
    rows = zip(columns["document"].to_pylist(), columns["text"].to_pylist(), strict=True)
    return ["\n\n".join(text for _, text in some) for _, some in groupby(rows, lambda row: row[0])][
        :MOST
    ]


def beginning(text: str, words: int | None) -> str:
    """Up to so many words; paragraphs are kept."""
    if words is None:
        return text
    parts = text.split(" ")
    return " ".join(parts[:words])


def refused(model: NumeralLM, texts: list[str]) -> float:
    fits = [model.checker.glance(text, model.checker.usual_alarms).domain.fits for text in texts]
    return sum(fit is False for fit in fits) / len(fits)


def main() -> None:
    run, *datasets = sys.argv[1:]
    model = numerate.load(run)
    print("dataset", "documents", *(f"{n or 'all'} words" for n in LENGTHS), sep="\t")
    for dataset in datasets:
        texts = documents(Path(dataset))
        shares = [refused(model, [beginning(text, n) for text in texts]) for n in LENGTHS]
        print(dataset, len(texts), *(f"{100 * share:.1f} %" for share in shares), sep="\t")


if __name__ == "__main__":
    main()
