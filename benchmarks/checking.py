"""How long do loading a run and checking a document take?

    python benchmarks/checking.py RUN [DATASET] [--tokens 1000] [--rounds 7]

RUN has been used before, so that it is calibrated (it is done first if not); the document is made
of paragraphs of the test split of DATASET, by default the run's own, until it has so many tokens.
Loading is timed in fresh processes, with the start of Python and its imports and without;
checking in this one, after loading, as the median and the largest of the rounds. One thread: small
models want no more, and a second one only waits where the cores are busy.
Checking must take at most 0.5 s at the usual rate of alarms, loading at most 2 s, otherwise the
exit status is 1; ten times as many alarms show what a closer look at each costs.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch

import numerate
from numerate.lm.data.dataset import Dataset
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.run_folder import CONFIG, read_json
from numerate.text.tokenizer import tokenize

MOST_CHECKING, MOST_LOADING = 0.5, 2.0  # seconds
ALARMS = (0.01, 0.1)  # the usual, and so many that there is something to look at closely
LOAD = """
import sys, time
start = time.perf_counter()
import numerate.lm.model.load, torch
torch.set_num_threads(1)
imported = time.perf_counter()
numerate.load(sys.argv[1]).calibration
print(imported - start, time.perf_counter() - imported)
"""


def document(dataset: Dataset, tokens: int) -> str:
    """Whole paragraphs of held-out text, the last one cut."""
    kept: list[str] = []
    for text in dataset.split("test").read(["text"])["text"].to_pylist():
        found = tokenize(text)[:tokens]
        kept.append(text[: found[-1].end])
        tokens -= len(found)
        if not tokens:
            return "\n\n".join(kept)
    raise SystemExit(f"{dataset.folder}: {tokens} tokens short in the test split")


def time_checking(model: NumeralLM, text: str, alarms: float, rounds: int) -> float:
    """Print how long it takes; the median."""
    numerals, flagged = len(model.checker.assess(text)), len(model.check(text, alarms))  # warms up
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        model.check(text, alarms)
        seconds.append(time.perf_counter() - start)
    median = statistics.median(seconds)
    print(
        f"checking at {alarms:g}: {numerals} numerals, {flagged} flagged: "
        f"median {1000 * median:.0f} ms, largest {1000 * max(seconds):.0f} ms",
        flush=True,
    )
    return median


def time_loading(run: Path, rounds: int) -> tuple[float, float]:
    """Medians: loading alone, and a whole process that loads, from its start to its end."""
    alone, whole = [], []
    for _ in range(rounds):
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", LOAD, str(run)], capture_output=True, text=True, check=True
        )
        whole.append(time.perf_counter() - start)
        alone.append(float(done.stdout.split()[1]))
    return statistics.median(alone), statistics.median(whole)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("dataset", type=Path, nargs="?")
    parser.add_argument("--tokens", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    os.environ["OMP_NUM_THREADS"] = "1"
    model = numerate.load(arguments.run, arguments.dataset)
    path = arguments.dataset or read_json(arguments.run / CONFIG)["dataset"]["path"]
    text = document(Dataset.open(path), arguments.tokens)
    print(f"{arguments.tokens:,} tokens")
    usual, _ = [time_checking(model, text, alarms, arguments.rounds) for alarms in ALARMS]
    alone, whole = time_loading(arguments.run, arguments.rounds)
    print(f"loading: {1000 * alone:.0f} ms; with the start of Python and imports {whole:.2f} s")
    if usual > MOST_CHECKING or alone > MOST_LOADING:
        raise SystemExit(f"expected at most {MOST_CHECKING} s and {MOST_LOADING} s")


if __name__ == "__main__":
    main()
