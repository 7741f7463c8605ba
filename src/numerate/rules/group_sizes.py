"""How many there are in the groups that the columns of a table stand for."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from numerate.rules.numbers import Number
from numerate.rules.percentage import is_count
from numerate.rules.reading import Piece, ReadDocument
from numerate.rules.where import Where

N_IS = re.compile(r"(?<![\w.])(?:n|N|No\.|no\.)\s?[=:]\s?(?=[0-9])")
_NUMBER_OF = re.compile(
    r"(?:total\s)?(?:n|no\.?|numbers?|#|sample size|N)"
    r"(?:\s(?:of\s)?(?:all\s)?(?:patients?|participants?|subjects?|women|men|children|people|infants"
    r"|individuals|respondents|students|adults|cases|animals|mice|rats|eyes))?"
    r"(?:\s?\(n\)|,?\sn|\srandomi[sz]ed|\sanaly[sz]ed)?",
    re.IGNORECASE,
)
# `Placebo, 60 patients`, `(total 60)`, in headers
_SO_MANY = re.compile(
    r"(?<![\w.,/–-])[0-9][0-9,]*(?=\s(?:patients|participants|subjects|women|men|children|cases"
    r"|individuals)\b)|(?<=\btotal\s)[0-9][0-9,]*(?=\)|$)",
    re.IGNORECASE,
)
TOP = 4  # rows of the body among which the sizes may stand


@dataclass(frozen=True, slots=True)
class Size:
    number: Number
    where: Where

    @property
    def value(self) -> int:
        return int(self.number.value)


def size_said_in(piece: Piece) -> Size | None:
    """`Placebo (n = 60)`: the one that is said; None if there are several."""
    text = piece.text
    after = {match.end() for match in N_IS.finditer(text)} if "=" in text or ":" in text else set()
    if not after and piece.numbers and piece.place.row is not None and piece.place.row < 0:
        after = {match.start() for match in _SO_MANY.finditer(text)}
    found = [number for number in piece.numbers if number.start in after and is_count(number)]
    if not found or len({number.value for number in found}) > 1 or not found[0].value:
        return None
    return Size(found[0], piece.of(found[0]))


def group_sizes(read: ReadDocument, table: int) -> Mapping[int, Size]:
    """By column: from its header, or from a row at the top that counts (`No. of patients`)."""
    source, cells = read.tables[table], read.cells[table]
    sizes: dict[int, Size] = {}
    width = max(map(len, source.body), default=0)
    top = len(source.header)
    for row in range(-top, 0):
        size: Size | None = None
        for column in range(width):
            piece = cells.get((row, column))
            if piece is not None:
                size = size_said_in(piece) if column else None
            elif (row, column) not in source.repeated or not _is_of_last(
                source.header[row], column
            ):
                size = None
            if size is not None:
                sizes[column] = size  # of a lower header before that of one above it
    for row in range(min(TOP, len(source.body))):
        label = source.body[row][0] if source.body[row] else ""
        counts = _NUMBER_OF.fullmatch(label.strip(" :,"))
        for column in range(1, len(source.body[row])):
            piece = cells.get((row, column))
            if piece is None or column in sizes:
                continue
            if (
                counts
                and len(piece.numbers) == 1
                and _is_bare(piece)
                and is_count(piece.numbers[0])
            ):
                if piece.numbers[0].value:
                    sizes[column] = Size(piece.numbers[0], piece.of(piece.numbers[0]))
            elif not label and (said := size_said_in(piece)):
                sizes[column] = said
    return sizes


def _is_of_last(texts: Sequence[str], column: int) -> bool:
    """Whether a cell repeats the one before it, and not one above."""
    return 0 < column < len(texts) and texts[column] == texts[column - 1]


def _is_bare(piece: Piece) -> bool:
    number = piece.numbers[0]
    around = piece.text[: number.start] + piece.text[number.stop :]
    return around.strip(" ()nN=") == ""
