"""The language model: embedding, backbone and output joined; saved and loaded."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import numerate
from numerate.atomic import write_file
from numerate.batching import Batch
from numerate.errors import RunError
from numerate.heads.base import NumeralHead
from numerate.heads.combination import CombinationHead
from numerate.heads.digit_rnn import DigitRNNHead
from numerate.heads.mixture import MixtureHead
from numerate.heads.mixture_fit import Components
from numerate.heads.softmax import SoftmaxHead
from numerate.model.backbone import LSTMBackbone
from numerate.model.embedding import InputEmbedding
from numerate.model.names import MODELS, NEEDS_COMPONENTS, check_model_name
from numerate.model.output import FlatOutput, HierarchicalOutput, OutputLayer
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


class LanguageModel(nn.Module):
    def __init__(
        self, config: ModelConfig, vocabulary: Vocabulary, components: Components | None = None
    ) -> None:
        super().__init__()
        self.config = config
        self.vocabulary = vocabulary
        self.embedding = InputEmbedding(config.hidden, vocabulary)
        self.backbone = LSTMBackbone(config.hidden, config.dropout)
        self.output = _build_output(config, vocabulary, components)

    def hidden(self, batch: Batch) -> Tensor:  # [L * B, D]
        return self.backbone(self.embedding(batch)).flatten(0, 1)  # type: ignore[no-any-return]

    def log_prob(self, batch: Batch) -> Tensor:
        """log p of the batch's targets, words first: [W + N]."""
        return self.output.log_prob(self.hidden(batch), batch)

    def forward(self, batch: Batch) -> Tensor:
        """The summed negative log-probability of the batch's tokens."""
        log_probs = self.log_prob(batch)
        if batch.weights is not None:
            log_probs = log_probs * batch.weights
        return -log_probs.sum()

    def start_from_vectors(self, words: np.ndarray, numerals: np.ndarray) -> None:
        """Start the token embeddings, of input and output, from pretrained vectors."""
        with torch.no_grad():
            self.embedding.words[:-1] = torch.from_numpy(words)
            self.embedding.numerals[:] = torch.from_numpy(numerals)
            self.output.words[:] = torch.from_numpy(words)

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

    @classmethod
    def load(cls, folder: str | Path) -> "LanguageModel":
        folder = Path(folder)
        record = read_json(folder / CONFIG)
        if record.get("format") != "numerate model" or record.get("version") != 1:
            raise RunError(f"{folder / CONFIG}: not the configuration of a model of this version")
        lists = read_json(folder / VOCABULARY)
        tensors, metadata = load_tensors(folder / WEIGHTS, _WEIGHTS_FORMAT)
        try:
            vocabulary = Vocabulary(tuple(lists["words"]), tuple(lists["numerals"]))
            fields = ModelConfig.__dataclass_fields__
            config = ModelConfig(**{name: record[name] for name in fields})
            model = cls(config, vocabulary, _empty_components(record["components"]))
        except KeyError as error:
            raise RunError(f"{folder}: incomplete model: {error} is missing") from None
        except (TypeError, ValueError) as error:
            raise RunError(f"{folder}: broken model: {error}") from None
        if metadata.get("vocabulary") != _fingerprint(vocabulary):
            raise RunError(f"{folder / VOCABULARY}: not the vocabulary of these weights")
        try:
            model.load_state_dict(tensors)
        except RuntimeError as error:
            reason = " ".join(str(error).split())[:200]
            raise RunError(f"{folder / WEIGHTS}: weights do not fit: {reason}") from None
        return model.eval()


def _fingerprint(vocabulary: Vocabulary) -> str:
    text = "\0".join([*vocabulary.words, "", *vocabulary.numerals])
    return hashlib.sha256(text.encode()).hexdigest()


def _build_output(
    config: ModelConfig, vocabulary: Vocabulary, components: Components | None
) -> OutputLayer:
    size = config.hidden
    if config.model in {"softmax", "softmax+rnn"}:
        return FlatOutput(size, vocabulary, digits=config.model == "softmax+rnn")
    return HierarchicalOutput(size, vocabulary, build_head(config, vocabulary, components))


def build_head(
    config: ModelConfig, vocabulary: Vocabulary, components: Components | None
) -> NumeralHead:
    """The numeral head of a hierarchical model."""
    size, numerals = config.hidden, vocabulary.numerals
    if config.model in {"h-softmax", "h-softmax+rnn"}:
        return SoftmaxHead(size, numerals, digits=config.model == "h-softmax+rnn")
    if config.model == "d-rnn":
        return DigitRNNHead(size)
    if components is None:
        raise ValueError(f"{config.model} needs the components of its mixture: got none")
    mixture = MixtureHead(size, components, truncate=config.truncate)
    if config.model == "mog":
        return mixture
    members: dict[str, NumeralHead] = {"d-rnn": DigitRNNHead(size), "mog": mixture}
    if len(numerals) > 1:  # a vocabulary without numerals has nothing to memorise
        members = {"h-softmax": SoftmaxHead(size, numerals, unknown=False), **members}
    return CombinationHead(size, members)


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


__all__ = ["MODELS", "NEEDS_COMPONENTS", "LanguageModel", "ModelConfig", "build_head", "read_json"]
