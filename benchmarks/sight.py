"""How fast are paragraphs scored with their tables before them? Against the model's bare pass.

    python benchmarks/sight.py --model PATH --dataset DIR [--device cuda] [--paragraphs 256]
                               [--rounds 5] [--sight tables] [--bf16]

Scoring is all that `PretrainedLM.score` does: tokens, spellings, tables read once for all
paragraphs that share them, one pass over each paragraph, sums. The bare pass is what transformers
does with the same tokens, tables and paragraph as one sequence each, sorted by length, padded and
laid out beforehand: the states of every token, and the logits of the paragraph's, nothing else.
Rounds of both alternate, and the ratio is the median over rounds. It must be at least 0.7, or the
exit status is 1. With `--bf16` both run in that precision.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from numerate.lm.backbones.pretrained.backbone import open_backbone
from numerate.lm.backbones.pretrained.language_model import (
    PretrainedLM,
    prefixes_of,
    read_paragraphs,
)
from numerate.lm.backbones.pretrained.layout import Plan
from numerate.lm.backbones.pretrained.memory_room import PADDING, PREFIX_TOKENS, in_batches, room
from numerate.lm.data.dataset import Dataset, some_paragraphs

LEAST_RATIO = 0.7


class BarePass:
    """The model's own forward pass over tables and paragraphs, and the logits of the latter."""

    def __init__(self, lm: PretrainedLM, plans: list[Plan]) -> None:
        self.model, device = lm.backbone.model, lm.scorer.device
        chains = [[*plan.before.tolist(), *plan.tokens[: plan.length]] for plan in plans]
        self.tokens = sum(map(len, chains))
        self.batches: list[tuple[Tensor, Tensor]] = []
        waste = PADDING.get(device.type, PADDING["cpu"])
        most = room(PREFIX_TOKENS, device)
        for batch in in_batches([len(chain) for chain in chains], most, waste):
            size = max(len(chains[index]) for index in batch)
            ids = np.zeros((len(batch), size), dtype=np.int64)
            own = np.zeros((len(batch), size), dtype=np.bool_)
            for row, index in enumerate(batch):
                ids[row, : len(chains[index])] = chains[index]
                own[row, len(plans[index].before) : len(chains[index])] = True
            self.batches.append(
                (torch.from_numpy(ids).to(device), torch.from_numpy(own).to(device))
            )

    @torch.inference_mode()
    def run(self) -> None:
        for ids, own in self.batches:
            states = self.model.base_model(input_ids=ids, use_cache=False).last_hidden_state
            for some in torch.split(states[own], 8192):
                self.model.get_output_embeddings()(some)


def seconds(run: Callable[[], object], device: torch.device) -> float:
    start = time.perf_counter()
    run()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--dataset", type=Path, required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--paragraphs", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sight", default="tables")
    parser.add_argument("--bf16", action="store_true")
    arguments = parser.parse_args()
    device = torch.device(arguments.device)
    dataset = Dataset.open(arguments.dataset)
    split = dataset.split("test")
    paragraphs = read_paragraphs(split)
    lm = PretrainedLM(open_backbone(arguments.model, device=device))
    lm.choose_start(read_paragraphs(dataset.split("train")))
    prefixes = prefixes_of(lm, split, arguments.sight, paragraphs, dataset.reading)
    assert prefixes is not None, "tables or document"
    chosen = some_paragraphs(len(paragraphs), arguments.paragraphs).tolist()
    some, before = [paragraphs[index] for index in chosen], [prefixes[index] for index in chosen]
    plans = [plan for one in lm.lay_out(some, before) for plan in one.windows]
    bare = BarePass(lm, plans)
    distinct = {plan.prefix for plan in plans if plan.prefix is not None}
    read = sum(map(len, distinct)) + sum(plan.length for plan in plans)
    print(
        f"{len(some)} paragraphs, {bare.tokens:,} tokens with their tables, "
        f"{len(distinct)} lists of tables: {read:,} tokens if each is read once"
    )

    def precision() -> AbstractContextManager[object]:
        return torch.autocast(device.type, torch.bfloat16) if arguments.bf16 else nullcontext()

    def score() -> None:
        with precision():
            lm.score(lm.lay_out(some, before))

    def pass_over() -> None:
        with precision():
            bare.run()

    ways = (score, pass_over)
    for way in ways:
        seconds(way, device)
    pairs = []
    for index in range(arguments.rounds):
        order = ways if index % 2 == 0 else ways[::-1]
        times = {way: seconds(way, device) for way in order}
        pairs.append((times[score], times[pass_over]))
    ratio = statistics.median(base / ours for ours, base in pairs)
    best, best_bare = (bare.tokens / min(column) for column in zip(*pairs, strict=True))
    print(
        f"ratio to the bare pass {ratio:.3f} (best of each {best / best_bare:.3f})   "
        f"{best:,.0f} tokens/s, bare {best_bare:,.0f}"
    )
    if ratio < LEAST_RATIO:
        raise SystemExit(f"expected a ratio of {LEAST_RATIO} or more")


if __name__ == "__main__":
    main()
