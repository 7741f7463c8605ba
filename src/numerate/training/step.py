"""One step of gradient descent, and how to take it without waiting for the device.

What a step leaves behind (the loss so far, the first step that went wrong) stays on the
device until somebody asks. On a GPU a small model's step is hundreds of tiny kernels, and
launching them one by one takes longer than running them; so steps of the same layout are
recorded once as a CUDA graph and replayed.
"""

from collections import Counter

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import DistributedType
from torch import Tensor

from numerate.batching import Batch, Corpus, Layout
from numerate.model.numeral_lm import NumeralLM
from numerate.packing import move
from numerate.training.options import TrainingOptions

RECORD_AFTER = 2  # a layout is recorded when it comes up again after so many plain steps


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
        self._graphs = GraphedSteps(self) if recorded else None

    def start(self, step: int, loss: float) -> None:
        """Begin, or go on with, an epoch."""
        self._loss.fill_(loss)
        self._step.fill_(step)
        self._first_bad.fill_(-1)

    def set_rate(self, rate: float) -> None:
        for group in self.optimizer.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate * group["scale"])
            else:
                group["lr"] = rate * group["scale"]

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
        if self._graphs is not None:
            self._graphs.take(corpus, mine, share)
        elif len(mine):
            self.descend(corpus.collate(mine), share)
        else:  # every process must take part in every step
            self.descend(corpus.collate(paragraphs[:1]), 0.0)

    def descend(self, batch: Batch, share: float | Tensor) -> None:
        loss = self.model(batch)
        scaled = loss * share
        if self.accelerator.scaler is None:
            scaled.backward()
        else:
            self.accelerator.backward(scaled)
            self.accelerator.unscale_gradients()
        norm = torch.nn.utils.clip_grad_norm_(self._parameters, self.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self._loss.add_(loss.detach() * (share != 0))
        bad = ~torch.isfinite(norm) & (self._first_bad < 0)
        self._first_bad.copy_(torch.where(bad, self._step, self._first_bad))
        self._step.add_(1)


class GraphedSteps:
    """Steps recorded once per layout of a batch, then replayed on new content."""

    def __init__(self, step: TrainingStep) -> None:
        self.step = step
        self._seen: Counter[Layout] = Counter()
        self._recorded: dict[Layout, tuple[torch.cuda.CUDAGraph, Tensor]] = {}
        self._share = torch.zeros((), device=step.accelerator.device)
        self._stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        self._pool = torch.cuda.graph_pool_handle()

    def take(self, corpus: Corpus, paragraphs: np.ndarray, share: float) -> None:
        flat, layout = corpus.collate_arrays(paragraphs, padded=True)
        content = move(flat, corpus.table.device)
        self._share.fill_(share)
        if layout in self._recorded:
            graph, place = self._recorded[layout]
            place.copy_(content)
            graph.replay()
            return
        self._seen[layout] += 1
        if self._seen[layout] > RECORD_AFTER and layout.padded:
            self._record(corpus, content, layout).replay()
            return
        # On the stream of the recordings, as CUDA graphs want their rehearsals.
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream):
            self.step.descend(layout.assemble(content, corpus.table), self._share)
        torch.cuda.current_stream().wait_stream(self._stream)

    def _record(self, corpus: Corpus, content: Tensor, layout: Layout) -> torch.cuda.CUDAGraph:
        place = content.clone()
        batch = layout.assemble(place, corpus.table)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool, stream=self._stream):
            self.step.descend(batch, self._share)
        self._recorded[layout] = (graph, place)
        return graph


def _can_record(accelerator: Accelerator) -> bool:
    alone = accelerator.distributed_type == DistributedType.NO
    return bool(accelerator.device.type == "cuda" and alone and accelerator.scaler is None)
