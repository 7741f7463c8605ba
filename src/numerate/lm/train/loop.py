"""The training loop: epochs, early stopping, and nothing lost on the way.

Every random number is drawn from a generator seeded by the run's seed, the epoch and the
step, so a run that was killed and resumed ends with the same weights as one that was not.
"""

import json
import math
import time
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from accelerate import Accelerator
from torch import Tensor

from numerate.errors import FailureError, RunError
from numerate.lm.data.batching import Corpus
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.run_folder import CHECKPOINT, LOG
from numerate.lm.train.checkpoint import Progress, load_checkpoint, save_checkpoint
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.step import DevLoss, TrainingStep
from numerate.storage.atomic import write_file

CHECK_EVERY = 50  # steps between looks at the loss, each of which waits for the device
CHECKPOINT_SECONDS = 300.0  # within long epochs


class Reporter(Protocol):
    """What watches a run: the progress bar, TensorBoard, or nobody."""

    def on_start(self, options: TrainingOptions, tokens: int, epoch: int) -> None: ...
    def on_step(self, epoch: int, tokens: int, loss: float | None) -> None: ...
    def on_epoch(self, record: dict[str, Any]) -> None: ...


class Trainer:
    """One run. All processes of a distributed run hold one each and see the same batches."""

    def __init__(
        self,
        model: NumeralLM,
        corpora: dict[str, Corpus],
        options: TrainingOptions,
        accelerator: Accelerator,
        folder: Path,
        identity: dict[str, Any],
        reporter: Reporter | None = None,
    ) -> None:
        self.options = options
        self.accelerator = accelerator
        self.folder = folder
        self.identity = identity
        self.reporter = reporter
        self.train_corpus, self.dev_corpus = corpora["train"], corpora["dev"]
        self.train_corpus.table.to(accelerator.device)
        self.model = model.to(accelerator.device)
        self.step = TrainingStep(model, options, accelerator)
        self._dev_loss = DevLoss(model, accelerator)
        self.progress = Progress()
        self.best: dict[str, Tensor] = {}
        self._good = model.weights()  # the last weights known to give a finite loss

    @property
    def finished(self) -> bool:
        """Whether the dev loss has stopped falling, or all epochs are done."""
        stale = self.progress.epoch - 1 - self.progress.best_epoch
        return self.progress.epoch >= self.options.epochs or stale >= self.options.patience

    def resume(self) -> bool:
        """Go on from the run's checkpoint, if there is one; all processes, or none."""
        found = (self.folder / CHECKPOINT).exists()
        seeing, processes = int(self._total(float(found))), self.accelerator.num_processes
        if 0 < seeing < processes:
            raise RunError(
                f"{self.folder / CHECKPOINT}: seen by {seeing} of {processes} processes, expected "
                "all: a run is resumed from a folder that all machines have"
            )
        if not found:
            return False
        self.progress, self.best = load_checkpoint(
            self.folder, self.identity, self.model, self.step.optimizer
        )
        self._good = self.model.weights()
        return True

    def train(self) -> None:
        """Train until early stopping, then restore the best weights."""
        if self.reporter:
            tokens = self.train_corpus.token_count(np.arange(len(self.train_corpus)))
            self.reporter.on_start(self.options, tokens, self.progress.epoch)
        while not self.finished:
            self._train_epoch()
            self._finish_epoch()
        self.restore_best()

    def restore_best(self) -> None:
        self.model.load_state_dict(self.best or self._good)

    def learning_rate(self) -> float:
        """Halved whenever the dev loss has not fallen for some epochs."""
        rate, best, stale = self.options.learning_rate, math.inf, 0
        for record in self.progress.history:
            stale = 0 if record["dev_loss"] < best else stale + 1
            best = min(best, record["dev_loss"])
            if stale and stale % self.options.halve_after == 0:
                rate /= 2
        return rate

    def _train_epoch(self) -> None:
        self.model.train()
        progress, options = self.progress, self.options
        generator = np.random.default_rng([options.seed, progress.epoch])
        size = options.batch_size * self.accelerator.num_processes
        plan = self.train_corpus.batches(size, generator)
        self.step.start(progress.step, progress.loss if self.accelerator.is_main_process else 0.0)
        rate = self.learning_rate()
        self.step.set_rate(rate)
        clock = time.monotonic()
        for index in range(progress.step, len(plan)):
            if self.model.backbone.tunes:
                steps = progress.epoch * len(plan) + index
                self.step.set_rate(rate, steps, steps / (options.epochs * len(plan)))
            torch.manual_seed(_step_seed(options.seed, progress.epoch, index))
            self.step.take(self.train_corpus, plan[index])
            tokens = self.train_corpus.token_count(plan[index])
            progress.tokens += tokens
            look = (index + 1) % CHECK_EVERY == 0 or index + 1 == len(plan)
            if look:
                self._check(plan)
            if self.reporter:
                world = self.accelerator.num_processes
                loss = self.step.loss * world / progress.tokens if look else None
                self.reporter.on_step(progress.epoch, tokens, loss)
            if look and self._is_due(clock):
                progress.step, progress.loss = index + 1, self._total(self.step.loss)
                now = time.monotonic()
                progress.seconds, clock = progress.seconds + now - clock, now
                self._save()
        progress.step, progress.loss = 0, self._total(self.step.loss)
        progress.seconds += time.monotonic() - clock

    def _is_due(self, clock: float) -> bool:
        """Whether to save within the epoch: the first process's clock decides for all."""
        late = time.monotonic() - clock > CHECKPOINT_SECONDS
        return self._total(float(late and self.accelerator.is_main_process)) > 0

    def _total(self, value: float) -> float:
        """The sum over all processes."""
        tensor = torch.tensor(value, dtype=torch.float64, device=self.accelerator.device)
        return float(self.accelerator.reduce(tensor))

    def _check(self, plan: list[np.ndarray]) -> None:
        bad = self.step.first_bad
        if bad < 0:
            return
        self.restore_best()
        kept = "the start"
        if self.best:
            kept = f"epoch {self.progress.best_epoch + 1}"
        elif self.progress.epoch:
            kept = "the last checkpoint"
        paragraphs = ", ".join(str(index) for index in sorted(plan[bad])[:5])
        raise FailureError(
            f"loss is not finite in epoch {self.progress.epoch + 1}, batch {bad + 1} of "
            f"{len(plan)} (training paragraphs {paragraphs}, …): stopped, kept weights of {kept}"
        )

    def _finish_epoch(self) -> None:
        progress = self.progress
        dev = self.dev_losses()
        record = {
            "epoch": progress.epoch + 1,
            "train_loss": progress.loss / progress.tokens,
            "dev_loss": dev["loss"],
            "dev_word_perplexity": _perplexity(dev["words"]),
            "dev_numeral_perplexity": _perplexity(dev["numerals"]),
            "learning_rate": self.learning_rate(),
            "seconds": round(progress.seconds, 3),
            "tokens_per_second": round(progress.tokens / max(progress.seconds, 1e-9)),
        }
        is_best = progress.best_loss is None or dev["loss"] < progress.best_loss
        if is_best:
            progress.best_loss, progress.best_epoch = dev["loss"], progress.epoch
            self.best = self.model.weights()
        progress.history.append(record)
        progress.epoch += 1
        progress.loss, progress.tokens, progress.seconds = 0.0, 0, 0.0
        self._good = self.best if is_best else self.model.weights()
        self._save()
        self.write_log()
        if self.reporter:
            self.reporter.on_epoch(record)

    def dev_losses(self) -> dict[str, float]:
        """Mean negative log-probability on the dev split: all tokens, words, numerals."""
        corpus = self.dev_corpus
        world, rank = self.accelerator.num_processes, self.accelerator.process_index
        plan = corpus.batches(self.options.batch_size)[rank::world]
        words, numerals = self.accelerator.reduce(self._dev_loss.of(corpus, plan)).tolist()
        numeral_count = len(corpus.rows)
        word_count = len(corpus.target_is_numeral) - numeral_count
        return {
            "loss": (words + numerals) / (word_count + numeral_count),
            "words": words / word_count,
            "numerals": numerals / numeral_count if numeral_count else math.nan,
        }

    def write_log(self) -> None:
        """One line per epoch done."""
        if self.accelerator.is_main_process:
            lines = [json.dumps(record) + "\n" for record in self.progress.history]
            write_file(self.folder / LOG, "".join(lines).encode())

    def _save(self) -> None:
        if self.accelerator.is_main_process:
            save_checkpoint(
                self.folder,
                self.identity,
                self.progress,
                self.model,
                self.step.optimizer,
                self.best,
            )
        self.accelerator.wait_for_everyone()


def _perplexity(loss: float) -> float:
    return math.exp(loss) if loss < 700 else math.inf


def _step_seed(seed: int, epoch: int, step: int) -> int:
    return int(np.random.SeedSequence([seed, epoch, step]).generate_state(1, np.uint64)[0] >> 1)
