"""What is told of one version of a text."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from numerate.proofread.proofread import ProofreadDocument
from numerate.rules.where import Where
from numerate.serve.editors.buffers import Buffer

if TYPE_CHECKING:
    from numerate.serve.editors.remembering import RememberingModel


@dataclass(frozen=True, slots=True)
class Proof:
    buffer: Buffer
    found: ProofreadDocument
    notes: tuple[str, ...] = ()  # lines that are good to know
    language_model: "RememberingModel | None" = field(default=None, compare=False)

    def span(self, where: Where) -> tuple[int, int] | None:
        """Offsets into the buffer; None if it stands in a file that the text takes in."""
        span = self.found.read.span(where)
        return span if span is not None and span[1] <= len(self.buffer.text) else None
