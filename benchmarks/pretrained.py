"""How fast is a pretrained language model scored? Against its bare forward pass, in one run.

    python benchmarks/pretrained.py [--model PATH] [--dataset DIR] [--paragraphs 48] [--rounds 7]

Scoring is all that `PretrainedLM.score` does: tokens, spellings, one pass, sums. The bare pass is
what transformers does with the same batches of paragraphs, padded alike and laid out beforehand:
logits of every token, and nothing else. Rounds of both alternate and the ratio is the median over
rounds, so that a noisy machine disturbs both alike; it must be at least 0.9. Then the likeliest
candidate before the numerals of a few paragraphs is looked for by search, and by scoring all
candidates. Last, heads are trained on cached states of the built-in corpus, at 20,000 tokens a
second or more. If one of the two demands is not met, the exit status is 1. Without --model, a small
random one is made on the spot; without --dataset, the built-in corpus is.
"""

import argparse
import math
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from numerate.lm.backbones.pretrained.backbone import open_backbone
from numerate.lm.backbones.pretrained.language_model import PretrainedLM, read_paragraphs
from numerate.lm.backbones.pretrained.layout import Paragraph
from numerate.lm.data.batching import load_corpora
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.prepare import prepare
from numerate.lm.model.candidates import candidate_numerals
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.over_backbone import BackboneChoice
from numerate.lm.train.run import train
from numerate.text.vocabulary import Vocabulary

LEAST_RATIO = 0.9
LEAST_SPEED = 20_000  # tokens of a paragraph, words included, a second
THREADS = 2
RANKED = 3  # paragraphs in which candidates are ranked
VOCABULARY = 1000  # that makes the candidates


def make_model(folder: Path, paragraphs: list[Paragraph]) -> Path:
    """A small Llama with random weights and a tokenizer that writes digits one by one."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=8192,
        special_tokens=["</s>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    learner.train_from_iterator((paragraph.text for paragraph in paragraphs), trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=learner, eos_token="</s>")
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=16384,
        hidden_size=384,
        intermediate_size=1024,
        num_hidden_layers=8,
        num_attention_heads=6,
        num_key_value_heads=3,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


class BarePass:
    """The model's own forward pass over the windows that scoring reads, batch by batch."""

    def __init__(self, lm: PretrainedLM, paragraphs: list[Paragraph]) -> None:
        self.model = lm.backbone.model
        plans = [plan for one in lm.lay_out(paragraphs) for plan in one.windows]
        chains = [
            [plans[index].tokens[: plans[index].length] for index in batch]
            for batch in lm.batches(plans)
        ]
        self.tokens = sum(len(chain) - 1 for batch in chains for chain in batch)
        self.nodes = sum(len(plan.tokens) - 1 for plan in plans)
        self.batches = [self._pad(batch) for batch in chains]

    def _pad(self, chains: list[list[int]]) -> tuple[Tensor, Tensor]:
        size = max(map(len, chains))
        ids = torch.zeros(len(chains), size, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, chain in enumerate(chains):
            ids[row, : len(chain)] = torch.tensor(chain)
            mask[row, : len(chain)] = 1
        return ids, mask

    @torch.no_grad()
    def run(self) -> None:
        for ids, mask in self.batches:
            _ = self.model(input_ids=ids, attention_mask=mask).logits


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def compare_scoring(lm: PretrainedLM, paragraphs: list[Paragraph], rounds: int) -> bool:
    """Print how scoring compares with the bare pass; whether that is good enough."""
    bare = BarePass(lm, paragraphs)
    numerals = sum(len(paragraph.numerals) for paragraph in paragraphs)
    print(
        f"{len(paragraphs)} paragraphs, {bare.tokens:,} tokens in {len(bare.batches)} batches; "
        f"{numerals:,} numerals, whose spellings add {bare.nodes / bare.tokens - 1:.1%}"
    )
    ways = (lambda: lm.score(lm.lay_out(paragraphs)), bare.run)
    for way in ways:
        way()
    pairs = []
    for index in range(rounds):
        order = ways if index % 2 == 0 else ways[::-1]
        times = {way: seconds(way) for way in order}
        pairs.append((times[ways[0]], times[ways[1]]))
    ratio = statistics.median(base / ours for ours, base in pairs)
    best, best_bare = (bare.tokens / min(column) for column in zip(*pairs, strict=True))
    print(
        f"scoring      ratio to the bare pass {ratio:.3f} (best of each {best / best_bare:.3f})   "
        f"{best:,.0f} tokens/s, bare {best_bare:,.0f}",
        flush=True,
    )
    return ratio >= LEAST_RATIO


def compare_ranking(lm: PretrainedLM, dataset: Dataset, paragraphs: list[Paragraph]) -> None:
    """Print how the search for the likeliest candidate compares with scoring all of them."""
    encoded = dataset.split("train").encode()
    size = min(VOCABULARY, len(encoded.types))
    vocabulary = Vocabulary.build(encoded.types, encoded.counts, size)
    candidates = candidate_numerals(load_corpora(dataset, vocabulary)["train"])
    some = [paragraph for paragraph in paragraphs if paragraph.numerals][:RANKED]
    plans = [plan for one in lm.lay_out(some) for plan in one.windows]
    numerals = sum(len(plan.roots) for plan in plans)
    found: dict[str, list[np.ndarray]] = {"search": [], "table": []}
    quick = seconds(lambda: found["search"].extend(lm.best(plan, candidates) for plan in plans))
    slow = seconds(
        lambda: found["table"].extend(lm.table(plan, candidates).argmax(1) for plan in plans)
    )
    same = sum(int((a == b).sum()) for a, b in zip(*found.values(), strict=True))
    print(
        f"ranking      {len(candidates)} candidates before {numerals} numerals: search "
        f"{slow / quick:.1f} times as fast as scoring all, {same} of {numerals} the same",
        flush=True,
    )


def train_heads(model: Path, home: Path) -> bool:
    """Print how fast heads are trained on states that were read before; whether fast enough."""
    prepare("cardiac", home / "reports", documents=120)
    slowest = math.inf
    for name in ("d-rnn", "mog", "combination"):
        result = train(
            home / "reports",
            home / name,
            model=name,
            vocabulary=300,
            hidden=256,
            dropout=0.5,
            backbone=BackboneChoice(model, cache=home / "cache"),
            options=TrainingOptions(epochs=4, learning_rate=0.001),
            device="cpu",
        )
        speed = max(record["tokens_per_second"] for record in result.history[1:])
        print(f"training     {name:12} {speed:,} tokens/s on cached states", flush=True)
        slowest = min(slowest, speed)
    return slowest >= LEAST_SPEED


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path)
    parser.add_argument("--dataset", type=Path)
    parser.add_argument("--paragraphs", type=int, default=48)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    torch.set_num_threads(THREADS)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        if arguments.dataset is None:
            prepare("cardiac", home / "cardiac", documents=200)
        dataset = Dataset.open(arguments.dataset or home / "cardiac")
        everything = read_paragraphs(dataset.split("test"))
        chosen = np.random.default_rng(1).permutation(len(everything))[: arguments.paragraphs]
        paragraphs = [everything[index] for index in chosen]
        model = arguments.model or make_model(home / "model", everything)
        lm = PretrainedLM(open_backbone(model))
        lm.choose_start(paragraphs[:2])
        good = compare_scoring(lm, paragraphs, arguments.rounds)
        compare_ranking(lm, dataset, paragraphs)
        quick = train_heads(model, home)
    if not (good and quick):
        raise SystemExit(f"expected a ratio of {LEAST_RATIO} and {LEAST_SPEED:,} tokens/s or more")


if __name__ == "__main__":
    main()
