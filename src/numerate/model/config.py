"""What is needed to build a network again; the sizes are the paper's by default."""

from dataclasses import asdict, dataclass, field
from typing import Any

from numerate.errors import RunError
from numerate.heads.base import HeadOptions
from numerate.heads.registry import check_head_name
from numerate.sight.columns import check_level


@dataclass(frozen=True, slots=True)
class ModelConfig:
    model: str  # the name of its head
    hidden: int = 50
    dropout: float = 0.1
    options: HeadOptions = field(default_factory=HeadOptions)
    sight: str = "none"  # how far it sees: `sight/columns.py`

    def __post_init__(self) -> None:
        check_level(self.sight)
        check_head_name(self.model)
        if self.hidden < 1:
            raise RunError(f"hidden size: got {self.hidden}, expected 1 or more")
        if not 0 <= self.dropout < 1:
            raise RunError(f"dropout: got {self.dropout}, expected 0 or more and less than 1")

    def record(self) -> dict[str, Any]:
        """As JSON has it."""
        options = {**asdict(self.options), "members": list(self.options.members)}
        return {**asdict(self), "options": options}
