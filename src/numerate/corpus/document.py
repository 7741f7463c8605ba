"""What readers produce: documents of paragraphs, with the tables the paragraphs refer to."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Paragraph:
    text: str  # as extracted, case kept, white space collapsed
    tables: tuple[str, ...] = ()  # ids of the tables it refers to, known or not
    log_probs: Sequence[float] | None = None  # exact, per token and end, where the source knows


@dataclass(slots=True)
class Table:
    id: str
    label: str
    caption: str
    header: list[list[str]]  # rows of cells
    body: list[list[str]]


@dataclass(slots=True)
class Document:
    id: str
    paragraphs: list[Paragraph]
    tables: list[Table] = field(default_factory=list)
