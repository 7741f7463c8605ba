"""What is needed to build a network again; the sizes are the paper's by default."""

from dataclasses import asdict, dataclass, field
from typing import Any

from numerate.errors import RunError, check_choice
from numerate.lm.backbones.embedding import INPUTS
from numerate.lm.backbones.lstm import LSTMBackbone
from numerate.lm.backbones.scratch import ScratchBackbone
from numerate.lm.backbones.transformer import TransformerBackbone
from numerate.lm.heads.base import HeadOptions
from numerate.lm.heads.registry import check_head_name
from numerate.text.columns import check_level

MOST_LAYERS = 100  # a file may say anything
NETWORKS: dict[str, type[ScratchBackbone]] = {
    "lstm": LSTMBackbone,
    "transformer": TransformerBackbone,
}


@dataclass(frozen=True, slots=True)
class NetworkConfig:
    """Which network reads text in a model from scratch; the paper's by default."""

    kind: str = "lstm"
    layers: int = 1
    heads: int = 1  # of attention
    inputs: str = "digits"  # how it reads numerals: `lm/backbones/embedding.py`

    def __post_init__(self) -> None:
        check_choice("network", self.kind, NETWORKS)
        check_choice("inputs", self.inputs, INPUTS)
        if not 1 <= self.layers <= MOST_LAYERS:
            raise RunError(f"layers: got {self.layers}, expected 1 to {MOST_LAYERS}")
        if self.heads < 1:
            raise RunError(f"heads: got {self.heads}, expected 1 or more")


@dataclass(frozen=True, slots=True)
class ModelConfig:
    model: str  # the name of its head
    hidden: int = 50
    dropout: float = 0.1
    options: HeadOptions = field(default_factory=HeadOptions)
    sight: str = "none"  # how far it sees: `text/columns.py`
    network: NetworkConfig = field(default_factory=NetworkConfig)

    def __post_init__(self) -> None:
        check_level(self.sight)
        check_head_name(self.model)
        if self.hidden < 1:
            raise RunError(f"hidden size: got {self.hidden}, expected 1 or more")
        if not 0 <= self.dropout < 1:
            raise RunError(f"dropout: got {self.dropout}, expected 0 or more and less than 1")
        NETWORKS[self.network.kind].check_heads(self.network.heads, self.hidden)

    def record(self) -> dict[str, Any]:
        """As JSON has it."""
        options = {**asdict(self.options), "members": list(self.options.members)}
        return {**asdict(self), "options": options}
