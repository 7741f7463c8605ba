"""How fast are candidates ranked? All at once against each by itself, in one run.

    python benchmarks/ranking.py RUN [DATASET] [--states 256] [--rounds 5]

RUN is a trained combination, which has the digit RNN and the mixture as members. Ranking the whole
test split comes first, so that the peak memory is its own. Then all at once (prefix tree,
matrix product) against `log_prob` of each pair of state and candidate, in chunks that are laid
out beforehand and not timed, on the same states and candidates. Rounds of both alternate and the
ratio is the median over rounds, so that a noisy machine disturbs both alike. It must be at least 4,
and the results the same; otherwise the exit status is 1.
"""

import argparse
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from numerate.lm.data.batching import Corpus, bucketed_batches, load_corpora
from numerate.lm.data.dataset import SPLITS, Dataset
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.evaluate.score import rank_tables
from numerate.lm.heads.base import Context, NumeralHead
from numerate.lm.heads.combination import CombinationHead
from numerate.lm.model.candidates import candidate_numerals
from numerate.lm.model.numeral_lm import TABLE_ROWS, NumeralLM
from numerate.lm.model.opening import open_stored
from numerate.lm.model.run_folder import CONFIG, read_json

LEAST_RATIO = 4
TOLERANCE = 1e-4  # nats: float32 over the digits of a numeral
PAIRS = 1 << 11  # of state and candidate in a chunk: as fast as it gets


def numeral_states(model: NumeralLM, corpus: Corpus, count: int) -> Tensor:
    """Hidden states before numerals, from paragraphs of all lengths: [count, D]."""
    batches = bucketed_batches(corpus.lengths, 10, np.random.default_rng(1))
    states: list[Tensor] = []
    while batches and sum(map(len, states)) < count:
        batch = corpus.collate(batches.pop())
        states.append(model.backbone.contexts(batch).hidden)
    return torch.cat(states)[:count]


class Separately:
    """Each candidate by itself in each state."""

    def __init__(self, hidden: Tensor, candidates: NumeralTable) -> None:
        self.count = len(candidates)
        self.states = torch.split(hidden, max(1, PAIRS // self.count))
        every = np.arange(self.count)
        sizes = {len(part) for part in self.states}
        self.batches = {size: candidates.batch(np.tile(every, size)) for size in sizes}

    def score(self, head: NumeralHead) -> Tensor:
        scores = [
            head.log_prob(Context(part.repeat_interleave(self.count, 0)), self.batches[len(part)])
            for part in self.states
        ]
        return torch.cat(scores).reshape(-1, self.count)


def timed(score: Callable[[], Tensor]) -> float:
    start = time.perf_counter()
    score()
    return time.perf_counter() - start


def compare(
    name: str, head: NumeralHead, hidden: Tensor, candidates: NumeralTable, rounds: int
) -> bool:
    """Print how the two ways compare; whether that is good enough."""
    separately = Separately(hidden, candidates)
    parts = [Context(part) for part in torch.split(hidden, TABLE_ROWS)]  # as the evaluation does
    ways = (
        lambda: separately.score(head),
        lambda: torch.cat([head.log_prob_table(part, candidates) for part in parts]),
    )
    expected, found = (way() for way in ways)  # also fills caches
    difference = float((expected - found).abs().max())
    same = float((expected.argmax(1) == found.argmax(1)).double().mean())
    pairs = [(timed(ways[0]), timed(ways[1])) for _ in range(rounds)]
    ratio = statistics.median(apart / together for apart, together in pairs)
    apart, together = (1000 * min(column) for column in zip(*pairs, strict=True))
    print(
        f"{name:12} ratio {ratio:6.1f}   separately {apart:8.1f} ms, at once {together:7.1f} ms   "
        f"largest difference {difference:.1e} nats, same best candidate {same:.2%}",
        flush=True,
    )
    return ratio >= LEAST_RATIO and difference <= TOLERANCE


def rank_split(
    model: NumeralLM, corpus: Corpus, candidates: NumeralTable, oov_numerals: int
) -> None:
    """Print the time and the memory that the whole split takes."""
    numerals = len(corpus.rows)
    for distribution in (False, True):
        start = time.perf_counter()
        rank_tables(
            model.tables(model.read(corpus).context, candidates),
            corpus.table,
            corpus.rows,
            candidates,
            oov_numerals,
            open_vocabulary=model.open_vocabulary,
            distribution=distribution,
        )
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        what = "best candidates, CRPS and coverage" if distribution else "best candidates"
        print(
            f"{numerals:,} numerals of the {corpus.name} split × {len(candidates):,} candidates, "
            f"{what}: {seconds:.1f} s, peak memory of the process {peak:,.0f} MiB",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("dataset", type=Path, nargs="?")
    parser.add_argument("--states", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(2)
    model = open_stored(arguments.run)
    head = model.head
    if not isinstance(head, CombinationHead):
        parser.error(f"{arguments.run}: got {model.config.model}, expected a combination")
    path = arguments.dataset or read_json(arguments.run / CONFIG)["dataset"]["path"]
    dataset = Dataset.open(path)
    corpora = load_corpora(dataset, model.vocabulary)
    candidates = candidate_numerals(corpora["train"])
    types = [type for name in SPLITS for type in dataset.split(name).encode().types]
    _, oov_numerals = model.vocabulary.unknown(types)
    with torch.no_grad():
        rank_split(model, corpora["test"], candidates, len(oov_numerals))
        hidden = numeral_states(model, corpora["test"], arguments.states)
        print(f"{len(hidden)} states × {len(candidates):,} candidates")
        members = head.members_by_name()
        heads = {"d-rnn": members["d-rnn"], "mog": members["mog"], "combination": head}
        good = [
            compare(name, member, hidden, candidates, arguments.rounds)
            for name, member in heads.items()
        ]
    if not all(good):
        raise SystemExit(f"expected ratios of {LEAST_RATIO} and differences up to {TOLERANCE}")


if __name__ == "__main__":
    main()
