"""Means with their standard deviations, standard errors, sample sizes and the range of values, as
far as they are stated: `mean 4.21 (SD 1.30, n = 19; scale 1–7)`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from numerate.rules.group_sizes import Size, group_sizes
from numerate.rules.numbers import MINUS
from numerate.rules.percentage import is_count
from numerate.rules.reading import Piece, ReadDocument
from numerate.rules.reported_intervals import SIGN, UNIT
from numerate.rules.shape import Shape, shape_of
from numerate.rules.stated import Stated
from numerate.rules.table_columns import MARKS, Line, lines_of, single
from numerate.rules.where import Where

MISSING = 0.2  # share of a group of which a value may be missing


@dataclass(frozen=True, slots=True)
class ReportedMean:
    mean: Stated
    where: Where
    deviation: Stated | None = None
    error: Stated | None = None  # standard
    size: Stated | None = None
    is_own_size: bool = True  # not that of a group, of which some values may be missing
    values: tuple[Stated, Stated] | None = None  # the least and the greatest that there may be
    name: str = ""  # what it is the mean of

    @property
    def sizes(self) -> range:
        """How many values there may have been."""
        if self.size is None or not is_count(self.size.number):
            return range(0)
        size = int(self.size.number.value)
        return range(size if self.is_own_size else max(1, round(size * (1 - MISSING))), size + 1)


_REACH = 120
_SD = r"(?:SD|S\.D\.|s\.d\.|[Ss]tandard deviation|[Ss]td)"
_SE = r"(?:SEM?|S\.E\.M?\.?|s\.e\.m?\.?|[Ss]tandard error)"
_MEAN = re.compile(
    rf"(?P<mean>{SIGN}\#){UNIT}{{0,2}}[\s,;(\[]{{0,3}}"
    rf"(?:[nN]\s?=\s?(?P<n0>\#)[;,]\s)?(?:±\s?)?{_SD}\s?(?:=|of|:|±)?\s?(?P<sd>\#){UNIT}?"
    rf"(?:[\s,;]{{1,3}}{_SE}\s?[=:]?\s?(?P<se>\#))?"
    rf"(?:[\s,;]{{1,3}}range\s?[=:]?\s?(?:from\s)?(?P<least>{SIGN}\#)\s?(?:to|[–-])\s?"
    rf"(?P<most>{SIGN}\#))?"
    r"(?:[)\],;\s(\[]{1,3}[nN]\s?=\s?(?P<n>\#))?"
)
_SCALE = re.compile(
    r"\b(?:[Ss]cales?|[Ss]cores?|[Rr]ated|[Rr]atings?|VAS|NRS|Likert|[Qq]uestionnaire)\b"
    r"[^#.;]{0,30}(?P<least>\#)\s?(?:to|through|[–-])\s?(?P<most>\#)(?!\s?[%/])"
)
_BESIDE = re.compile(r"\b(?:[nN]|SD|SE|p|P|[Rr]ange)\s?[=<>]?\s?\Z|[±/–-]\s?\Z")
_NUMBER_AND_SPREAD = re.compile(
    rf"(?P<mean>{SIGN}\#)\s?(?:±\s?|[(\[]\s?(?:±\s?)?)(?P<sd>\#)\s?[)\]]?{MARKS}"
)
_MEAN_AND_SD = re.compile(
    r"mean\s?(?:±|\(|,|\[|and|\+/-)\s?(?:s\.?d\b|standard dev)", re.IGNORECASE
)
_HEADERS = {
    "n": re.compile(r"[nN]|no\.|number"),
    "mean": re.compile(r"mean|M|average"),
    "sd": re.compile(r"s\.?d\.?|std\.? ?dev(?:iation)?\.?|standard deviation"),
    "se": re.compile(r"s\.?e\.?m?\.?|std\.? ?err(?:or)?\.?|standard error(?: of the mean)?"),
}


def reported_means(read: ReadDocument) -> list[ReportedMean]:
    found = [
        mean
        for piece in read.running()
        if "SD" in piece.text or "s.d." in piece.text or "tandard dev" in piece.text
        for mean in _in_piece(piece)
    ]
    for table in range(len(read.tables)):
        for run in lines_of(read, table, _is_header):
            for line in run:
                found += _in_line(line)
        found += _in_groups(read, table)
    return found


def _in_piece(piece: Piece) -> Iterator[ReportedMean]:
    shape = shape_of(piece)
    text = shape.text
    for match in _MEAN.finditer(text):
        begin = match.start()
        first = max(0, begin - _REACH, text.rfind(". ", max(0, begin - _REACH), begin) + 1)
        before = text[first:begin]
        mean = placed(shape, match.end("mean") - 1)
        is_range = match["mean"][0] in MINUS and mean.number.value >= 0
        if is_range or _BESIDE.search(before):
            continue
        group = "n0" if match["n0"] else "n"
        yield ReportedMean(
            mean,
            shape.where(*match.span()),
            placed(shape, match.start("sd")),
            placed(shape, match.start("se")) if match["se"] else None,
            placed(shape, match.start(group)) if match[group] else None,
            values=_values(shape, match) if match["least"] else scale_in(shape, first, begin),
            name=before,
        )


def placed(shape: Shape, index: int) -> Stated:
    number = shape.number(index)
    return Stated(number, shape.piece.of(number))


def _values(shape: Shape, match: re.Match[str]) -> tuple[Stated, Stated] | None:
    least, most = (placed(shape, match.end(name) - 1) for name in ("least", "most"))
    return (least, most) if float(least) < float(most) else None


def scale_in(shape: Shape, start: int, end: int) -> tuple[Stated, Stated] | None:
    """The values of a scale that is named there, if one is."""
    found = list(_SCALE.finditer(shape.text, start, end))
    return _values(shape, found[0]) if len(found) == 1 else None


def _is_header(texts: Sequence[str]) -> bool:
    return any(map(_HEADERS["mean"].fullmatch, texts)) and any(map(_HEADERS["sd"].fullmatch, texts))


def _in_line(line: Line) -> Iterator[ReportedMean]:
    """`n`, `Mean`, `SD`, `SE` in columns, in whatever order, perhaps for several groups."""
    roles = [
        next((role for role, header in _HEADERS.items() if header.fullmatch(text)), "")
        for text in line.headers
    ]
    means = [column for column, role in enumerate(roles) if role == "mean"]
    for index, column in enumerate(means):
        mean = single(line.cells[column])
        if mean is None:
            continue
        start = means[index - 1] + 1 if index else 0
        end = means[index + 1] if index + 1 < len(means) else len(roles)
        beside: dict[str, Stated] = {}
        for role, places in (("n", range(column - 1, start - 1, -1)), ("sd", range(column, end)),
                             ("se", range(column, end))):  # fmt: skip
            for other in places:
                if roles[other] == role and (value := single(line.cells[other])):
                    beside.setdefault(role, value)
        yield ReportedMean(
            mean,
            mean.where,
            beside.get("sd"),
            beside.get("se"),
            beside.get("n"),
            name=f"{line.label} {line.above[column]}",
        )


def _in_groups(read: ReadDocument, table: int) -> Iterator[ReportedMean]:
    """`4.2 (1.3)` in the column of a group whose size is stated."""
    source, cells = read.tables[table], read.cells[table]
    if not any(_MEAN_AND_SD.search(text) for text in _texts_about(read, table)):
        return
    sizes: Mapping[int, Size] = group_sizes(read, table)
    about_all = _MEAN_AND_SD.search(source.caption) is not None
    for (row, column), piece in cells.items():
        if row < 0 or column == 0 or len(piece.text) > 30 or len(piece.numbers) != 2:
            continue
        shape = shape_of(piece)
        match = _NUMBER_AND_SPREAD.fullmatch(shape.text)
        if match is None:
            continue
        cell = source.cell(row, column)
        label = f"{cell.row_header} {' '.join(cell.column_header)}"
        if not (_MEAN_AND_SD.search(label) or about_all):
            continue
        header = cells.get((row, 0))
        size = sizes.get(column)
        yield ReportedMean(
            placed(shape, match.end("mean") - 1),
            piece.place,
            placed(shape, match.start("sd")),
            size=Stated(size.number, size.where) if size else None,
            is_own_size=False,
            values=scale_in(shape_of(header), 0, len(header.text)) if header else None,
            name=label,
        )


def _texts_about(read: ReadDocument, table: int) -> Iterator[str]:
    source = read.tables[table]
    yield source.caption
    for row in source.header:
        yield from row
    for row in source.body:
        yield from row[:1]
