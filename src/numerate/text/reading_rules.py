"""How text is cut into tokens: what a dataset remembers, so that new text is cut alike."""

from dataclasses import asdict, dataclass
from typing import Any

from numerate.errors import NumerateError, check_choice
from numerate.numeral import DECIMALS

GRAMMAR = 2
OLDER = 1


@dataclass(frozen=True, slots=True)
class ReadingRules:
    """Kept in the manifest of a dataset and in the reference of a run.

    The `grammar` is what the tokenizer takes for a numeral or a name. Datasets that say nothing
    of it come from before `.05`, `IL-6` and dates were one token each, and what was trained on
    them goes on reading so: a model must see when it is used what it saw when it learnt.
    """

    decimal: str = "point"
    split_names: bool = False
    grammar: int = GRAMMAR

    def __post_init__(self) -> None:
        check_choice("decimal mark", self.decimal, DECIMALS)
        check_choice("grammar", str(self.grammar), [str(GRAMMAR), str(OLDER)])

    @property
    def tag(self) -> str:
        """For names of what rests on it; none for the oldest rules, which had no name."""
        if self == ReadingRules(grammar=OLDER):
            return ""
        return f"-{self.grammar}-{self.decimal}{'-split' if self.split_names else ''}"

    def record(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, options: dict[str, Any]) -> "ReadingRules":
        """From what a dataset or a run has kept, of whatever age."""
        kept = options.get("reading")
        if kept is not None:
            try:
                return cls(**kept)
            except TypeError:
                raise NumerateError(f"rules of reading: cannot be read: got {kept!r:.80}") from None
        return cls(split_names=bool(options.get("split_names")), grammar=OLDER)
