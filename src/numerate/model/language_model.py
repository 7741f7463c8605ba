"""The language model: embedding, backbone and output joined; saved and loaded."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from numerate.batching import Batch
from numerate.errors import RunError
from numerate.heads.base import NumeralHead
from numerate.heads.combination import CombinationHead
from numerate.heads.digit_rnn import DigitRNNHead
from numerate.heads.mixture import MixtureHead
from numerate.heads.mixture_fit import Components
from numerate.heads.softmax import NumeralEmbedding, SoftmaxHead
from numerate.model.backbone import LSTMBackbone
from numerate.model.embedding import InputEmbedding
from numerate.model.names import MODELS, NEEDS_COMPONENTS
from numerate.model.output import FlatOutput, HierarchicalOutput, OutputLayer
from numerate.model.stored import ModelConfig, StoredModel, StoredParts
from numerate.vocabulary import Vocabulary


class LanguageModel(StoredModel):
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

    @property
    def combination(self) -> CombinationHead | None:
        head = self.output.head if isinstance(self.output, HierarchicalOutput) else None
        return head if isinstance(head, CombinationHead) else None

    def by_member(self, batch: Batch) -> tuple[Tensor, Tensor]:
        assert self.combination is not None
        assert batch.numerals is not None
        _, positions = batch.by_class(batch.positions)
        hidden = self.hidden(batch).index_select(0, positions)
        return hidden, self.combination.log_prob_of_each(hidden, batch.numerals)

    def forward(self, batch: Batch) -> Tensor:
        """The summed negative log-probability of the batch's tokens."""
        log_probs = self.log_prob(batch)
        if batch.weights is not None:
            log_probs = log_probs * batch.weights
        return -log_probs.sum()

    def start_from_vectors(self, words: np.ndarray, numerals: np.ndarray) -> None:
        """Start the token embeddings, of input and output, from pretrained vectors.

        Of output embeddings of numerals a model has those of its softmaxes, or none.
        """
        outputs = [part for part in self.output.modules() if isinstance(part, NumeralEmbedding)]
        with torch.no_grad():
            self.embedding.words[:-1] = torch.from_numpy(words)
            self.embedding.numerals[:] = torch.from_numpy(numerals)
            self.output.words[:] = torch.from_numpy(words)
            for embedding in outputs:
                embedding.tokens[:] = torch.from_numpy(numerals)

    @classmethod
    def load(cls, folder: str | Path) -> "LanguageModel":
        folder = Path(folder)
        parts = StoredParts.read(folder)
        if parts.record.backbone is not None:
            raise RunError(f"{folder}: heads over a pretrained model, expected a whole model")

        def make(components: Components | None) -> LanguageModel:
            return cls(parts.config, parts.vocabulary, components)

        return parts.build(folder, make).eval()


def _build_output(
    config: ModelConfig, vocabulary: Vocabulary, components: Components | None
) -> OutputLayer:
    size = config.hidden
    if config.model in {"softmax", "softmax+rnn"}:
        return FlatOutput(size, vocabulary, digits=config.model == "softmax+rnn")
    return HierarchicalOutput(size, vocabulary, build_head(config, vocabulary, components))


def build_head(
    config: ModelConfig,
    vocabulary: Vocabulary,
    components: Components | None,
    given: tuple[str, ...] = (),
) -> NumeralHead:
    """The numeral head of a hierarchical model; `given` are further members of a combination."""
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
    return CombinationHead(size, members, given)


__all__ = [
    "MODELS",
    "NEEDS_COMPONENTS",
    "LanguageModel",
    "ModelConfig",
    "build_head",
]
