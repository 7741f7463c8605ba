"""Blocks of a split's paragraphs, and who reads them: this process, or workers with a model each.

In this process nothing is copied: the model is the one that is here, and paragraphs are as they
have been laid out. To a worker goes as little as will do: of the model where it is and which one,
of the paragraphs their texts. So a worker needs the model's files, but not the dataset's.
"""

import os
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import torch

from numerate.engines import LOCAL, Engine, engine
from numerate.errors import BackboneError, FailureError, NumerateError, one_line
from numerate.lm.backbones.pretrained.language_model import (
    LaidOut,
    Layouts,
    ParagraphScores,
    PretrainedLM,
)
from numerate.lm.backbones.spelling.best_first import Beside
from numerate.lm.heads.digit_adapter import DigitAdapter
from numerate.threads import use_threads

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Block:
    """Some paragraphs of a split, with what stands `beside` the model's digits in each, if asked.

    It travels as texts, which are laid out where they arrive.
    """

    def __init__(
        self, layouts: Layouts, which: Sequence[int], beside: Sequence[Beside] | None = None
    ) -> None:
        self.beside = beside
        self.lay_out: Callable[[PretrainedLM], list[LaidOut]] = lambda _: layouts.of(which)
        self._texts = partial(layouts.texts, which)

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, (*self._texts(), self.beside)


def _arrived(*texts: Any) -> Block:
    block = Block.__new__(Block)
    *apart, block.beside = texts
    block.lay_out = lambda lm: lm.lay_out(*apart)
    return block


class Work(Protocol[R_co]):
    """What is to be found out of every block."""

    def __call__(self, lm: PretrainedLM, block: Block) -> R_co: ...

    def to(self, device: torch.device) -> None:
        """It has arrived where the model is on this device."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """What the model says of the text; `detailed`, for adapting digits."""

    detailed: bool

    def __call__(self, lm: PretrainedLM, block: Block) -> list[ParagraphScores]:
        return [
            replace(
                score,
                states=as_half(score.states),
                number_states=as_half(score.number_states),
                node_states=as_half(score.node_states),
            )
            for score in lm.score(block.lay_out(lm), detailed=self.detailed)
        ]

    def to(self, device: torch.device) -> None:
        pass


@dataclass(slots=True)
class _OfCandidates:
    candidates: tuple[str, ...]
    adapter: DigitAdapter | None

    def to(self, device: torch.device) -> None:
        if self.adapter is not None:
            self.adapter.to(device)

    def __reduce__(self) -> tuple[Any, ...]:
        # As arrays: tensors that go from process to process by themselves are shared, not sent.
        sizes, weights = None, dict[str, np.ndarray]()
        if self.adapter is not None:
            sizes = self.adapter.sizes
            weights = {name: w.cpu().numpy() for name, w in self.adapter.state_dict().items()}
        return _with_adapter, (type(self), self.candidates, sizes, weights)


def _with_adapter(
    kind: Callable[..., R],
    candidates: tuple[str, ...],
    sizes: tuple[int, int] | None,
    weights: dict[str, np.ndarray],
) -> R:
    if sizes is None:
        return kind(candidates, None)
    adapter = DigitAdapter(*sizes, dropout=0.0).eval()
    adapter.load_state_dict({name: torch.from_numpy(w) for name, w in weights.items()})
    return kind(candidates, adapter)


class Tabling(_OfCandidates):
    """log p(candidate | a numeral comes) before each numeral: of each block float32 [N, C]."""

    def __call__(self, lm: PretrainedLM, block: Block) -> np.ndarray:
        ranking = lm.ranking(self.candidates)
        plans = [plan for laid_out in block.lay_out(lm) for plan in laid_out.windows]
        found = [ranking.table(plan, self.adapter).astype(np.float32) for plan in plans]
        return np.concatenate(found)


class Searching(_OfCandidates):
    """The likeliest candidate before each numeral: of each block int32 [N]."""

    def __call__(self, lm: PretrainedLM, block: Block) -> np.ndarray:
        ranking = lm.ranking(self.candidates)
        found: list[np.ndarray] = []
        for index, laid_out in enumerate(block.lay_out(lm)):
            first = 0
            for plan in laid_out.windows:
                rows = slice(first, first + len(plan.roots))
                beside = None if block.beside is None else block.beside[index].at(rows)
                found.append(ranking.best(plan, beside, self.adapter).astype(np.int32))
                first = rows.stop
        return np.concatenate(found)


@dataclass(frozen=True, slots=True)
class Readers:
    """Who reads: this process, unless an engine with workers was chosen."""

    engine: Engine = field(default_factory=engine)
    device: str | None = None  # of each worker; None: the best it has

    @classmethod
    def chosen(
        cls, name: str, address: str | None, processes: int | None, device: str | None
    ) -> "Readers | None":
        """Those of the command line; None: this process."""
        if name == LOCAL and address is None and processes in (None, 1):
            return None
        kind, _, number = (device or "").partition(":")
        if number:
            raise NumerateError(
                f"device {device}: got a number, but each worker has a GPU of its own; "
                f"expected {kind}"
            )
        gpus = 0 if kind not in ("", "cuda") else 1
        chosen = engine(name, processes=processes or 0, address=address, gpus=gpus)
        return cls(chosen, kind or None)

    def read(self, lm: PretrainedLM, work: Work[R], blocks: Iterable[Block]) -> Iterator[R]:
        """In the order of the blocks."""
        return self.engine.map(_Reader(lm, work, self.device), blocks)


class _Reader(Generic[R]):
    """Makes what an engine does with blocks: with the model that is here, or one opened there."""

    def __init__(self, lm: PretrainedLM, work: Work[R], device: str | None) -> None:
        self._lm: PretrainedLM | None = lm
        self._work = work
        self._elsewhere = _Elsewhere(lm, device)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_lm": None}

    def __call__(self) -> Callable[[Block], R]:
        lm, where = self._lm, ""
        if lm is None:
            where = f"worker on {socket.gethostname()}: "
            lm = self._elsewhere.open(where)
            self._work.to(lm.scorer.device)
        return partial(_read, self._work, lm, where)


def _read(work: Work[R], lm: PretrainedLM, where: str, block: Block) -> R:
    try:
        return work(lm, block)
    except (MemoryError, RuntimeError) as error:
        _explain(error, lm.backbone.place, lm.scorer.device, where)
        raise


@dataclass(slots=True, init=False)
class _Elsewhere:
    """How a worker comes to the same model."""

    place: str
    open_again: Callable[[torch.device], PretrainedLM]
    digest: str
    start: int | None
    device: str | None
    threads: int | None  # where they were told, they are told to all: results depend on them

    def __init__(self, lm: PretrainedLM, device: str | None) -> None:
        self.place, self.open_again, self.digest = lm.backbone.place, lm.open_again, lm.digest
        self.start, self.device = lm.start, device
        self.threads = torch.get_num_threads() if "OMP_NUM_THREADS" in os.environ else None

    def open(self, where: str) -> PretrainedLM:
        use_threads(self.threads)
        kind = self.device or ("cuda" if torch.cuda.is_available() else "cpu")
        try:
            device = torch.zeros(1, device=torch.device(kind)).device  # with its number
        except (RuntimeError, AssertionError) as error:
            reason = one_line(str(error).splitlines()[0])
            raise NumerateError(f"{where}device {kind!r} cannot be used: {reason}") from None
        try:
            lm = self.open_again(device)
        except NumerateError as error:
            raise BackboneError(f"{where}{error}") from None
        except (MemoryError, RuntimeError) as error:
            _explain(error, self.place, device, where)
            raise
        if lm.digest != self.digest:
            raise BackboneError(
                f"{where}{self.place}: another model than here: its hash is {lm.digest[:12]}, "
                f"expected {self.digest[:12]}"
            )
        lm.start = self.start
        return lm


def _explain(error: Exception, place: str, device: torch.device, where: str) -> None:
    """Want of memory is told in one line."""
    of_device = isinstance(error, MemoryError | torch.OutOfMemoryError)
    if of_device or "can't allocate memory" in str(error):
        raise FailureError(
            f"{where}{place}: not enough memory on {device}; what was read before is kept: go on "
            "with fewer --processes, or on a device with more"
        ) from None


def as_half(states: np.ndarray) -> np.ndarray:
    """In float16: what is beyond its range is as large as it can be, not infinite."""
    largest = float(np.finfo(np.float16).max)
    return states.clip(-largest, largest).astype(np.float16)
