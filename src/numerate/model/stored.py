"""Models as folders: configuration, vocabulary and weights, written whole and read with care."""

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor, nn

import numerate
from numerate.atomic import write_file
from numerate.errors import RunError
from numerate.heads.combination import CombinationHead
from numerate.heads.mixture_fit import Components
from numerate.model.names import check_model_name
from numerate.tensor_file import load_tensors, save_tensors
from numerate.vocabulary import Vocabulary

CONFIG, VOCABULARY, WEIGHTS = "config.json", "vocabulary.json", "model.safetensors"
_WEIGHTS_FORMAT = "numerate model 1"


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """What is needed to build the network again; defaults are the paper's."""

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
            "format": "numerate model",
            "version": 1,
            "numerate": numerate.__version__,
            **asdict(self.config),
            "components": next(iter(components.values()), 0),
            **(about or {}),
        }
        write_file(folder / CONFIG, _json(record))
        lists = {"words": self.vocabulary.words, "numerals": self.vocabulary.numerals}
        write_file(folder / VOCABULARY, _json(lists))
        if weights:
            about = {"vocabulary": _fingerprint(self.vocabulary)}
            save_tensors(folder / WEIGHTS, _WEIGHTS_FORMAT, self.weights(), about)

    def weights(self) -> dict[str, Tensor]:
        """A copy of all weights and components, on the CPU."""
        return {
            name: tensor.detach().to("cpu", copy=True).contiguous()
            for name, tensor in self.state_dict().items()
        }

    def load_weights(self, folder: Path) -> None:
        """Take the weights of a folder whose configuration this model was built from."""
        tensors, metadata = load_tensors(folder / WEIGHTS, _WEIGHTS_FORMAT)
        if metadata.get("vocabulary") != _fingerprint(self.vocabulary):
            raise RunError(f"{folder / VOCABULARY}: not the vocabulary of these weights")
        for name, tensor in tensors.items():
            if not tensor.isfinite().all():
                raise RunError(f"{folder / WEIGHTS}: weights are not finite: {name}")
        try:
            self.load_state_dict(tensors)
        except RuntimeError as error:
            reason = " ".join(str(error).split())[:200]
            raise RunError(f"{folder / WEIGHTS}: weights do not fit: {reason}") from None


@dataclass(frozen=True, slots=True)
class StoredParts:
    """What a folder says of its model, before the model is built."""

    record: dict[str, Any]
    config: ModelConfig
    vocabulary: Vocabulary
    components: Components | None

    @classmethod
    def read(cls, folder: Path) -> "StoredParts":
        record = read_json(folder / CONFIG)
        if record.get("format") != "numerate model" or record.get("version") != 1:
            raise RunError(f"{folder / CONFIG}: not the configuration of a model of this version")
        lists = read_json(folder / VOCABULARY)
        try:
            vocabulary = Vocabulary(tuple(lists["words"]), tuple(lists["numerals"]))
            fields = ModelConfig.__dataclass_fields__
            config = ModelConfig(**{name: record[name] for name in fields})
            components = _empty_components(record["components"])
        except KeyError as error:
            raise RunError(f"{folder}: incomplete model: {error} is missing") from None
        except (TypeError, ValueError) as error:
            raise RunError(f"{folder}: broken model: {error}") from None
        return cls(record, config, vocabulary, components)


def _fingerprint(vocabulary: Vocabulary) -> str:
    text = "\0".join([*vocabulary.words, "", *vocabulary.numerals])
    return hashlib.sha256(text.encode()).hexdigest()


def _empty_components(count: int) -> Components | None:
    """Room for components that are read from the weights file."""
    if not count:
        return None
    return Components(np.zeros(count), np.ones(count), np.zeros(count), np.zeros(count, np.int64))


def _json(record: dict[str, Any]) -> bytes:
    return (json.dumps(record, indent=2, ensure_ascii=False) + "\n").encode()


def read_json(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunError(f"{path.parent}: not a run: {path.name} is missing") from None
    except (OSError, ValueError) as error:
        raise RunError(f"{path}: cannot be read: {error}") from None
    if not isinstance(record, dict):
        raise RunError(f"{path}: got {type(record).__name__}, expected an object")
    return record
