"""How fast is a training step? Every model against a bare LSTM language model, in one run.

    python benchmarks/training.py DATASET [--device cuda] [--batch-size 50] [--epochs 24]
    python benchmarks/training.py DATASET --models combination grounded --backbones lstm transformer

The bare model is an embedding, an `nn.LSTM` and one softmax over the whole vocabulary, of the
paper's sizes, on the same batches, which it gets ready-made; ours are timed with collation,
gradient clipping and the check for a finite loss. Blocks of both alternate, and the printed
ratio is the median over blocks, so that a noisy machine disturbs both alike. Of several models
with one backbone, all but the first are also compared with the first: tokens a second, as a
part of the first one's.

With `--busy`, steps take one thread each and its CPU time counts, which is less disturbed by
what else runs on the machine.

With `--epochs`, so many epochs of `numerate train` are timed too: first to last, with the
evaluation on dev and the checkpoint after each, and with the recording of steps on a GPU.
"""

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch import nn

import numerate
from numerate.lm.data.batching import Corpus, bucketed_batches, load_corpora
from numerate.lm.data.dataset import Dataset
from numerate.lm.heads.base import HeadOptions
from numerate.lm.heads.registry import head_class, paper_heads
from numerate.lm.model.config import NETWORKS, ModelConfig, NetworkConfig
from numerate.lm.model.opening import from_scratch
from numerate.lm.train.loop import Trainer
from numerate.lm.train.options import OF_BACKBONE, TrainingOptions
from numerate.lm.train.run import training_numerals
from numerate.text.vocabulary import Vocabulary


class BareModel(nn.Module):
    def __init__(self, vocabulary: int, size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary + 1, size)
        self.lstm = nn.LSTM(size, size)
        self.output = nn.Linear(size, vocabulary)

    def forward(self, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        hidden, _ = self.lstm(self.embedding(inputs))
        return F.cross_entropy(self.output(hidden).flatten(0, 1), targets)


class BareRun:
    def __init__(self, corpus: Corpus, plan: list[np.ndarray], device: torch.device) -> None:
        count = len(corpus.vocabulary.words) + len(corpus.vocabulary.numerals)
        torch.manual_seed(1)
        self.model = BareModel(count, 50).to(device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), 0.001)
        shapes = [(int(corpus.lengths[p].max()) + 1, len(p)) for p in plan]
        self.batches = [
            (
                torch.randint(count, shape, device=device),
                torch.randint(count, (shape[0] * shape[1],), device=device),
            )
            for shape in shapes
        ]

    def run(self) -> None:
        for inputs, targets in self.batches:
            self.optimizer.zero_grad()
            self.model(inputs, targets).backward()
            self.optimizer.step()


class OurRun:
    def __init__(self, corpus: Corpus, plan: list[np.ndarray], trainer: Trainer) -> None:
        self.corpus, self.plan, self.trainer = corpus, plan, trainer

    def run(self) -> None:
        for step, paragraphs in enumerate(self.plan):
            torch.manual_seed(step)
            self.trainer.step.take(self.corpus, paragraphs)
        assert self.trainer.step.first_bad < 0  # waits for the device


class Watch:
    """A reporter that looks at the clock when an epoch is done."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def on_start(self, options: TrainingOptions, tokens: int, epoch: int) -> None:
        self.tokens = tokens
        self.times.append(time.perf_counter())

    def on_step(self, epoch: int, tokens: int, loss: float | None) -> None:
        pass

    def on_epoch(self, record: dict[str, object]) -> None:
        self.times.append(time.perf_counter())

    def speeds(self) -> tuple[float, float]:
        """Tokens a second in all epochs together, and in the median one."""
        epochs = np.diff(self.times)
        return self.tokens * len(epochs) / epochs.sum(), self.tokens / np.median(epochs)


def config_of(name: str, backbone: str) -> ModelConfig:
    """With the sizes that are usual."""
    usual = OF_BACKBONE[backbone]
    return ModelConfig(
        name,
        usual.hidden,
        usual.dropout,
        sight=head_class(name).usual_sight,
        network=NetworkConfig(backbone, usual.layers or 1, usual.heads or 1),
    )


def train(
    config: ModelConfig, dataset: Path, device: torch.device, batch_size: int, epochs: int
) -> Watch:
    watch = Watch()
    options = TrainingOptions(epochs=epochs, patience=epochs, batch_size=batch_size)
    with tempfile.TemporaryDirectory() as folder:
        numerate.train(
            dataset,
            Path(folder) / "run",
            model=config.model,
            hidden=config.hidden,
            dropout=config.dropout,
            backbone=config.network,
            options=options,
            device=str(device),
            reporter=watch,
        )
    return watch


def seconds(
    run: BareRun | OurRun, device: torch.device, clock: Callable[[], float] = time.perf_counter
) -> float:
    if device.type == "cuda":
        torch.cuda.synchronize()
    start = clock()
    run.run()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return clock() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=0)
    parser.add_argument("--models", nargs="*", default=paper_heads())
    parser.add_argument("--backbones", nargs="*", default=["lstm"], choices=list(NETWORKS))
    parser.add_argument("--busy", action="store_true", help="one thread, and its CPU time")
    arguments = parser.parse_args()
    device = torch.device(arguments.device)
    clock = time.process_time if arguments.busy else time.perf_counter
    if device.type == "cpu":
        torch.set_num_threads(1 if arguments.busy else 2)
    accelerator = Accelerator(cpu=device.type == "cpu")
    dataset = Dataset.open(arguments.dataset)
    encoded = dataset.split("train").encode()
    vocabulary = Vocabulary.build(encoded.types, encoded.counts, 1000)
    levels = {head_class(name).usual_sight for name in arguments.models}
    all_corpora = {level: load_corpora(dataset, vocabulary, level) for level in levels}
    for corpora in all_corpora.values():
        corpora["train"].table.to(device)
    corpus = corpora["train"]
    generator = np.random.default_rng(1)
    plan = bucketed_batches(corpus.lengths, arguments.batch_size, generator)[: arguments.batches]
    tokens = sum(int(corpus.lengths[p].sum()) + len(p) for p in plan)
    bare = BareRun(corpus, plan, device)
    seconds(bare, device)
    print(f"{tokens:,} tokens in {len(plan)} batches of {arguments.batch_size} on {device}")
    firsts: dict[str, float] = {}  # of each backbone
    for backbone, name in product(arguments.backbones, arguments.models):
        torch.manual_seed(1)
        config = config_of(name, backbone)
        corpora = all_corpora[config.sight]
        numerals = training_numerals(corpora["train"])
        head = head_class(name).fit(numerals, config.hidden, HeadOptions())
        model = from_scratch(config, vocabulary, head)
        options = TrainingOptions(batch_size=arguments.batch_size)
        folder = Path(tempfile.gettempdir())
        trainer = Trainer(model, corpora, options, accelerator, folder, {})
        ours = OurRun(corpora["train"], plan, trainer)
        trainer.model.train()
        for _ in range(3):  # caches, autotuning, recording
            seconds(ours, device)
        pairs = [
            (seconds(ours, device, clock), seconds(bare, device, clock))
            for _ in range(arguments.blocks)
        ]
        ratio = statistics.median(our / base for our, base in pairs)
        best, best_bare = (min(column) for column in zip(*pairs, strict=True))
        first = firsts.setdefault(backbone, ratio)
        print(
            f"{backbone:11} {name:14} ratio to bare {ratio:5.2f}   {tokens / best / 1e6:6.3f} "
            f"M tokens/s (bare {tokens / best_bare / 1e6:.3f})   "
            f"{first / ratio:.0%} of {arguments.models[0]}",
            flush=True,
        )
        if arguments.epochs:
            whole, median = train(
                config, arguments.dataset, device, arguments.batch_size, arguments.epochs
            ).speeds()
            print(
                f"{'':26} numerate train: {whole / 1e6:6.3f} M tokens/s in {arguments.epochs} "
                f"epochs ({whole * best / tokens:.0%} of a step's), median epoch "
                f"{median / 1e6:.3f} ({median * best / tokens:.0%})",
                flush=True,
            )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of the process {peak:,.0f} MiB")


if __name__ == "__main__":
    main()
