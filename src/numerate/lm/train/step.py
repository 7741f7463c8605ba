"""One step of gradient descent, and how to take it without waiting for the device.

What a step leaves behind (the loss so far, the first step that went wrong) stays on the
device until somebody asks. On a GPU a small model's step is hundreds of tiny kernels, and
launching them one by one takes longer than running them; so steps of the same layout are
recorded once as a CUDA graph, collation included, and replayed: only the numbers of the
paragraphs travel.
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import DistributedType
from torch import Tensor

from numerate.lm.data.batching import Batch, Corpus, Layout
from numerate.lm.data.packing import move
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.train.options import TrainingOptions

WARM_UP = 100  # steps until weights that were trained before are tuned at full rate
REHEARSALS = 2  # with numerals, before anything is recorded: what is made once is made then


class TrainingStep:
    """Adam with clipped gradients on this process's part of a batch."""

    def __init__(
        self, model: NumeralLM, options: TrainingOptions, accelerator: Accelerator
    ) -> None:
        self.accelerator = accelerator
        self.clip = options.clip
        device = accelerator.device
        recorded = _can_record(accelerator) and model.backbone.records_steps
        # One kernel for all parameters; a recorded step reads the rate from the device.
        rate = torch.tensor(options.learning_rate, device=device) if recorded else None
        optimizer = torch.optim.Adam(
            model.parameter_groups(),
            options.learning_rate if rate is None else rate,
            fused=device.type in {"cuda", "cpu"},
            capturable=recorded,
        )
        self.model, self.optimizer = accelerator.prepare(model, optimizer)
        self._parameters = [weight for weight in model.parameters() if weight.requires_grad]
        self._loss = torch.zeros((), dtype=torch.float64, device=device)
        self._step = torch.zeros((), dtype=torch.int64, device=device)
        self._first_bad = torch.full_like(self._step, -1)
        self._share = torch.zeros((), device=device)
        self._recorded = Recorded(self._descend_recorded, self._has_state) if recorded else None

    def start(self, step: int, loss: float) -> None:
        """Begin, or go on with, an epoch."""
        self._loss.fill_(loss)
        self._step.fill_(step)
        self._first_bad.fill_(-1)

    def set_rate(self, rate: float, steps: int = WARM_UP, done: float = 0.0) -> None:
        """After so many steps, with so much of the training `done`.

        Weights that were trained before, and are tuned, warm up and then decay to nothing.
        """
        tuning = min(1.0, (steps + 1) / WARM_UP) * (1 - done)
        for group in self.optimizer.param_groups:
            own = rate * group["scale"] * (tuning if group.get("decays") else 1.0)
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(own)
            else:
                group["lr"] = own

    @property
    def loss(self) -> float:
        """The summed loss of this process since the epoch began; waits for the device."""
        return float(self._loss)

    @property
    def first_bad(self) -> int:
        """The first step whose gradient was not finite, or −1; waits for the device."""
        return int(self._first_bad)

    def take(self, corpus: Corpus, paragraphs: np.ndarray) -> None:
        """One step. `paragraphs` is the batch of all processes together."""
        world, rank = self.accelerator.num_processes, self.accelerator.process_index
        mine = paragraphs[rank::world]
        # Gradients are averaged over processes: the factor makes the average a sum.
        share = world / corpus.token_count(paragraphs)
        if self._recorded is not None:
            self._share.fill_(share)
            self._recorded.run(corpus, mine)
        elif len(mine):
            self.descend([partial(corpus.collate, part) for part in corpus.parts(mine)], share)
        else:  # every process must take part in every step
            self.descend([partial(corpus.collate, paragraphs[:1])], 0.0)

    def _descend_recorded(self, batch: Batch) -> None:
        self.descend([lambda: batch], self._share)

    def _has_state(self) -> bool:
        """Whether Adam has its moments: made while a step is recorded, they would be made anew
        whenever it is replayed.
        """
        return len(self.optimizer.state) == len(self._parameters)

    def descend(self, parts: Sequence[Callable[[], Batch]], share: float | Tensor) -> None:
        """One step on all parts of a batch, which are made, and held, one after another."""
        whole = self._loss.new_zeros(())
        for number, part in enumerate(parts, 1):
            # Processes, which may have different numbers of parts, meet at the last.
            alone = number < len(parts)
            with self.accelerator.no_sync(self.model) if alone else nullcontext():
                loss = self.model(part())
                if self.accelerator.scaler is None:
                    (loss * share).backward()
                else:
                    self.accelerator.backward(loss * share)
            whole += loss.detach()
        if self.accelerator.scaler is not None:
            self.accelerator.unscale_gradients()
        norm = torch.nn.utils.clip_grad_norm_(self._parameters, self.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self._loss.add_(whole * (share != 0))
        bad = ~torch.isfinite(norm) & (self._first_bad < 0)
        self._first_bad.copy_(torch.where(bad, self._step, self._first_bad))
        self._step.add_(1)


class DevLoss:
    """The summed negative log-probability of a split's words, and of its numerals."""

    def __init__(self, model: NumeralLM, accelerator: Accelerator) -> None:
        self.model = model
        self._sums = torch.zeros(2, dtype=torch.float64, device=accelerator.device)
        recorded = _can_record(accelerator) and model.backbone.records_steps
        self._recorded = Recorded(self._add, lambda: True) if recorded else None

    @torch.no_grad()
    def of(self, corpus: Corpus, plan: list[np.ndarray]) -> Tensor:
        """Of these batches: float64 [2], on the device."""
        self._sums.zero_()
        self.model.eval()
        for paragraphs in plan:
            if self._recorded is not None:
                self._recorded.run(corpus, paragraphs)
            else:
                self._add(corpus.collate(paragraphs))
        return self._sums

    def _add(self, batch: Batch) -> None:
        log_probs = self.model.log_prob(batch)
        if batch.weights is not None:
            log_probs = torch.where(batch.weights, log_probs, 0.0)
        self._sums.sub_(torch.stack([part.double().sum() for part in batch.by_class(log_probs)]))


class Recorded:
    """Work on batches, recorded once per layout and replayed on other paragraphs."""

    def __init__(self, work: Callable[[Batch], None], ready: Callable[[], bool]) -> None:
        self.work = work
        self._ready = ready
        self._rehearsals = 0
        self._graphs: dict[tuple[Corpus, Layout], tuple[torch.cuda.CUDAGraph, Tensor]] = {}
        self._stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        self._pool = torch.cuda.graph_pool_handle()

    def run(self, corpus: Corpus, paragraphs: np.ndarray) -> None:
        layout = corpus.layout(paragraphs)
        moved = move(paragraphs, corpus.table.device)
        key = corpus, layout
        if key not in self._graphs and self._rehearsals >= REHEARSALS and self._ready():
            self._graphs[key] = self._record(corpus, moved, layout)
        if key in self._graphs:
            graph, place = self._graphs[key]
            place.copy_(moved)
            graph.replay()
            return
        self._rehearsals += layout.room > 0
        # On the stream of the recordings, as CUDA graphs want their rehearsals.
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream):
            self.work(corpus.collate_padded(moved, layout))
        torch.cuda.current_stream().wait_stream(self._stream)

    def _record(
        self, corpus: Corpus, paragraphs: Tensor, layout: Layout
    ) -> tuple[torch.cuda.CUDAGraph, Tensor]:
        place = paragraphs.clone()
        graph = torch.cuda.CUDAGraph()
        with _nothing_collected(), torch.cuda.graph(graph, pool=self._pool, stream=self._stream):
            self.work(corpus.collate_padded(place, layout))
        return graph, place


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """A graph of before that Python's collector frees meanwhile would spoil a recording."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _can_record(accelerator: Accelerator) -> bool:
    alone = accelerator.distributed_type == DistributedType.NO
    return bool(accelerator.device.type == "cuda" and alone and accelerator.scaler is None)
