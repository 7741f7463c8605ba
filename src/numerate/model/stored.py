"""Models as folders: configuration, vocabulary and weights, written whole and read with care."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

import numerate
from numerate.errors import NumerateError, RunError, one_line
from numerate.heads.combination import CombinationHead
from numerate.heads.mixture_fit import Components
from numerate.model.names import check_model_name
from numerate.records import write_record
from numerate.runs.contents import RunConfig
from numerate.runs.folder import CONFIG, FORMAT, VERSION, VOCABULARY, WEIGHTS, RunFolder
from numerate.tensor_file import load_tensors, save_tensors
from numerate.vocabulary import Vocabulary

_WEIGHTS_FORMAT = "numerate model 1"


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """What is needed to build the network again; the sizes are the paper's by default."""

    model: str
    hidden: int = 50
    dropout: float = 0.1
    truncate: bool = False

    def __post_init__(self) -> None:
        check_model_name(self.model)
        if self.hidden < 1:
            raise RunError(f"hidden size: got {self.hidden}, expected 1 or more")
        if not 0 <= self.dropout < 1:
            raise RunError(f"dropout: got {self.dropout}, expected 0 or more and less than 1")


class StoredModel(nn.Module, ABC):
    """A model with a configuration and a vocabulary, as a folder holds it."""

    config: ModelConfig
    vocabulary: Vocabulary
    records_steps = True  # whether a GPU may record a training step and replay it

    @abstractmethod
    def log_prob(self, batch: Any) -> Tensor:
        """log p of the batch's targets, words first: [W + N]."""

    @property
    @abstractmethod
    def combination(self) -> CombinationHead | None:
        """Its numeral head, if that combines several."""

    @abstractmethod
    def by_member(self, batch: Any) -> tuple[Tensor, Tensor]:
        """What a combination's gate sees of a batch's numerals, and each member's log p of them.

        [N, D] and [N, M].
        """

    def parameter_groups(self) -> list[dict[str, Any]]:
        """What is trained, and by which part of the learning rate."""
        return [{"params": list(self.parameters()), "scale": 1.0}]

    def save(
        self, folder: Path, about: dict[str, Any] | None = None, *, weights: bool = True
    ) -> None:
        """Write config, vocabulary and weights; each file appears whole or not at all.

        `about` is what the configuration file shall also say of the run.
        """
        components = {
            name: len(buffer) for name, buffer in self.named_buffers() if name.endswith("means")
        }
        record = {
            "format": FORMAT,
            "version": VERSION,
            "numerate": numerate.__version__,
            **asdict(self.config),
            "components": next(iter(components.values()), 0),
            **(about or {}),
        }
        RunFolder(folder).write_vocabulary(self.vocabulary)
        if weights:
            of = {"vocabulary": _fingerprint(self.vocabulary)}
            save_tensors(folder / WEIGHTS, _WEIGHTS_FORMAT, self.weights(), of)
        write_record(folder / CONFIG, record)  # last, since it says that the rest is there

    def weights(self) -> dict[str, Tensor]:
        """A copy of all weights and components, on the CPU."""
        return {
            name: tensor.detach().to("cpu", copy=True).contiguous()
            for name, tensor in self.state_dict().items()
        }


Stored = TypeVar("Stored", bound=StoredModel)


@dataclass(frozen=True, slots=True)
class StoredParts:
    """What a folder says of its model, before the model is built."""

    record: RunConfig
    config: ModelConfig
    vocabulary: Vocabulary

    @classmethod
    def read(cls, folder: Path) -> "StoredParts":
        run = RunFolder.open(folder)
        record = run.config()
        try:
            config = ModelConfig(record.model, record.hidden, record.dropout, record.truncate)
        except NumerateError as error:
            raise RunError(f"{folder / CONFIG}: {error}") from None
        return cls(record, config, run.vocabulary())

    def build(self, folder: Path, make: Callable[[Components | None], Stored]) -> Stored:
        """The model that `make` makes, with the weights of the folder.

        It is made without memory first: sizes that do not fit the weights could be any.
        """
        tensors, metadata = load_tensors(folder / WEIGHTS, _WEIGHTS_FORMAT)
        if metadata.get("vocabulary") != _fingerprint(self.vocabulary):
            raise RunError(f"{folder / VOCABULARY}: not the vocabulary of these weights")
        for name, tensor in tensors.items():
            if not tensor.isfinite().all():
                raise RunError(f"{folder / WEIGHTS}: weights are not finite: {name}")
        means = [len(tensor) for name, tensor in tensors.items() if name.endswith("means")]
        count = next(iter(means), 0)
        if self.record.components != count:
            raise RunError(
                f"{folder / CONFIG}: components: got {self.record.components}, expected {count}, "
                "as many as the weights have"
            )
        try:
            with torch.device("meta"):
                shell = make(_empty_components(count))
            _refuse_misfits(shell, tensors)
            model = make(_empty_components(count))
            model.load_state_dict(tensors)
        except (TypeError, ValueError, RuntimeError) as error:
            reason = one_line(error)
            raise RunError(f"{folder / WEIGHTS}: weights do not fit: {reason}") from None
        return model


def _refuse_misfits(model: StoredModel, tensors: dict[str, Tensor]) -> None:
    expected = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    for name in sorted(expected.keys() | found.keys()):
        got, needed = found.get(name, "none"), expected.get(name, "none")
        if got != needed:
            raise ValueError(f"{name}: got {got}, expected {needed}")


def _fingerprint(vocabulary: Vocabulary) -> str:
    text = "\0".join([*vocabulary.words, "", *vocabulary.numerals])
    return hashlib.sha256(text.encode()).hexdigest()


def _empty_components(count: int) -> Components | None:
    """Room for components that are read from the weights file."""
    if not count:
        return None
    return Components(np.zeros(count), np.ones(count), np.zeros(count), np.zeros(count, np.int64))
