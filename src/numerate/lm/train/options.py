"""What can be chosen about a training run; docs/reproduction.md says what is not the paper's."""

import math
from dataclasses import dataclass

from numerate.config import PRETRAINED
from numerate.errors import NumerateError, check_choice


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    epochs: int = 100
    batch_size: int = 50
    learning_rate: float = 0.01
    halve_after: int = 2
    patience: int = 5
    clip: float = 1.0
    seed: int = 1
    mixed_precision: str = "no"
    plain_mixture: bool = False  # the paper's training of the combination

    def __post_init__(self) -> None:
        for name, least in (
            ("epochs", 1),
            ("batch_size", 1),
            ("patience", 1),
            ("halve_after", 1),
            ("seed", 0),
        ):
            if getattr(self, name) < least:
                raise NumerateError(f"{name}: got {getattr(self, name)}, expected {least} or more")
        for name in ("learning_rate", "clip"):
            value = getattr(self, name)
            if not (value > 0 and math.isfinite(value)):
                raise NumerateError(f"{name}: got {value}, expected more than 0")
        if self.mixed_precision not in {"no", "bf16", "fp16"}:
            raise NumerateError(
                f"mixed_precision: got {self.mixed_precision!r}, expected no, bf16 or fp16"
            )

    @property
    def combination(self) -> str:
        """How a combination is trained, in words."""
        if self.plain_mixture:
            return "trained as in the paper, by the likelihood of the mixture alone"
        return (
            "every member learns from every numeral, mixture weights are fitted on dev "
            "(not in the paper; --plain-mixture leaves both out)"
        )


@dataclass(frozen=True, slots=True)
class UsualOf:
    """What is usual depends on what reads text."""

    learning_rate: float
    hidden: int
    dropout: float
    layers: int | None = None  # a pretrained model has its own
    heads: int | None = None


OF_BACKBONE = {
    "lstm": UsualOf(TrainingOptions().learning_rate, hidden=50, dropout=0.1, layers=1, heads=1),
    "transformer": UsualOf(0.005, hidden=64, dropout=0.1, layers=2, heads=4),
    f"{PRETRAINED}PATH": UsualOf(0.001, hidden=256, dropout=0.5),
}


def usual_of(backbone: str) -> UsualOf:
    """Of `lstm`, `transformer` or `hf:PATH`."""
    kind = f"{PRETRAINED}PATH" if backbone.startswith(PRETRAINED) else backbone
    check_choice("backbone", kind, OF_BACKBONE)
    return OF_BACKBONE[kind]
