"""How text is cut into tokens: what a dataset remembers, so that new text is cut alike."""

from dataclasses import asdict, dataclass
from typing import Any

from numerate.errors import NumerateError, check_choice
from numerate.numeral import DECIMALS

GRAMMAR = 2
"""The version of the tokenizer's grammar."""


@dataclass(frozen=True, slots=True)
class ReadingRules:
    """Kept in the manifest of a dataset and in the reference of a run.

    The `grammar` is what the tokenizer takes for a numeral or a name. A model must see when it is
    used what it saw when it learnt, so rules of another grammar are refused.
    """

    decimal: str = "point"
    split_names: bool = False
    grammar: int = GRAMMAR

    def __post_init__(self) -> None:
        check_choice("decimal mark", self.decimal, DECIMALS)
        if self.grammar != GRAMMAR:
            raise NumerateError(f"grammar: got {self.grammar}, expected {GRAMMAR}")

    @property
    def tag(self) -> str:
        """Name the rules in the names of what rests on them."""
        return f"-{self.grammar}-{self.decimal}{'-split' if self.split_names else ''}"

    def record(self) -> dict[str, Any]:
        return asdict(self)
