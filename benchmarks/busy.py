"""How fast is training beside busy processes? Threads that sleep or spin, against one thread.

    python benchmarks/busy.py DATASET [--busy 2] [--model d-rnn] [--threads 2]

Rounds in which each way has its turn; the printed ratios are medians over rounds of the rate to
that of one thread in the same round, so that a machine that is busy by itself disturbs all alike.
Every turn is a process of its own, since OpenMP reads how to wait only once.
"""

import argparse
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numerate  # before torch, as the command line does: it says how threads shall wait

WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
SPINS = "300000"  # what GNU OpenMP does if nothing is said


def spin(parent: int) -> None:
    while os.getppid() == parent:  # never longer than the benchmark, however that ends
        pass


def tokens_per_second(dataset: Path, model: str, seconds: float) -> float:
    import numpy as np
    import torch
    from accelerate import Accelerator

    from numerate.lm.data.batching import load_corpora
    from numerate.lm.data.dataset import Dataset
    from numerate.lm.heads.registry import head_class
    from numerate.lm.model.config import ModelConfig
    from numerate.lm.model.opening import from_scratch
    from numerate.lm.train.loop import Trainer
    from numerate.lm.train.options import TrainingOptions
    from numerate.lm.train.run import training_numerals
    from numerate.text.vocabulary import Vocabulary

    opened = Dataset.open(dataset)
    encoded = opened.split("train").encode()
    vocabulary = Vocabulary.build(encoded.types, encoded.counts, 1000)
    corpora = load_corpora(opened, vocabulary)
    corpus = corpora["train"]
    torch.manual_seed(1)
    config = ModelConfig(model)
    head = head_class(model).fit(training_numerals(corpus), config.hidden, config.options)
    network = from_scratch(config, vocabulary, head)
    folder = Path(tempfile.gettempdir())
    trainer = Trainer(network, corpora, TrainingOptions(), Accelerator(cpu=True), folder, {})
    plan = corpus.batches(50, np.random.default_rng(1))
    network.train()
    trainer.step.take(corpus, plan[0])
    steps, tokens, start = 0, 0, time.perf_counter()
    while (passed := time.perf_counter() - start) < seconds:
        paragraphs = plan[steps % len(plan)]
        trainer.step.take(corpus, paragraphs)
        tokens += corpus.token_count(paragraphs)
        steps += 1
    return tokens / passed


def turn(arguments: argparse.Namespace, threads: int, waiting: dict[str, str]) -> float:
    """One way of computing, in a process of its own."""
    clean = {name: value for name, value in os.environ.items() if name not in WAITING}
    command = [sys.executable, __file__, str(arguments.dataset), "--turn", "--model"]
    command += [arguments.model, "--seconds", str(arguments.seconds)]
    environment = {**clean, **waiting, "OMP_NUM_THREADS": str(threads)}
    found = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return float(found.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--busy", type=int, default=2, help="processes that keep a core busy")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--model", default="d-rnn")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each turn")
    parser.add_argument("--turn", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.turn:
        print(tokens_per_second(arguments.dataset, arguments.model, arguments.seconds))
        return
    ways: dict[str, tuple[int, dict[str, str]]] = {
        "one thread": (1, {}),
        f"{arguments.threads} threads that sleep": (arguments.threads, {}),
        f"{arguments.threads} threads that spin": (arguments.threads, {"GOMP_SPINCOUNT": SPINS}),
    }
    busy = [
        multiprocessing.Process(target=spin, args=(os.getpid(),)) for _ in range(arguments.busy)
    ]
    for process in busy:
        process.start()
    rates: list[dict[str, float]] = []
    try:
        for _ in range(arguments.rounds):
            rates.append({name: turn(arguments, *way) for name, way in ways.items()})
            print("  ".join(f"{name} {rate:,.0f}" for name, rate in rates[-1].items()), flush=True)
    finally:
        for process in busy:
            process.kill()
    about = f"numerate {numerate.__version__}, {arguments.model}"
    print(f"{about}, {arguments.busy} busy processes, tokens/s:")
    for name in ways:
        ratio = statistics.median(rate[name] / rate["one thread"] for rate in rates)
        usual = statistics.median(rate[name] for rate in rates)
        print(f"{name:24} {usual:8,.0f}   {ratio:6.3f} of one thread")


if __name__ == "__main__":
    main()
