"""Tables by themselves, in files of people's own: CSV and TSV, what is pasted, and those of
documents that a reader knows."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from io import StringIO
from pathlib import Path

from numerate.documents import PLAIN, read_file, suits
from numerate.documents.cell_grid import MAX_AREA, SpanningCell, cell_grid
from numerate.documents.document import Document, Table
from numerate.documents.flow import Flow
from numerate.documents.header_rows import header_rows, with_header
from numerate.documents.opened_file import opened_file
from numerate.documents.pipe_tables import label_and_caption, pipe_tables
from numerate.documents.reader import MAX_DOCUMENT, UTF_16, decode_text
from numerate.documents.separated_source import SeparatedSource
from numerate.documents.xml import Element, entity_text, line_of, local_name, parse_html
from numerate.errors import DocumentError

DELIMITERS = "\t;,|"
SAMPLE = 50  # rows by which a delimiter is found

_KINDS = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv"}
_BLOCKS = {"br", "p", "div", "li", "ul", "ol", "dd", "dt", "dl", "td", "th", "tr", "hr"}
_SILENT = {"script", "style", "table", "template"}
_COMMA = re.compile(r"[+−-]?(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]+),[0-9]+ ?%?")
_THOUSANDS = re.compile(r"[+−-]?[1-9][0-9]{0,2},[0-9]{3} ?%?")
_POINT = re.compile(
    r"[+−-]?(?:[0-9]+\.(?:[0-9]{1,2}|[0-9]{4,})|[0-9]{1,3}(?:,[0-9]{3})+\.[0-9]+) ?%?"
)


def read_tables(path: str | Path) -> list[Table]:
    """All tables of a file, in their order; what cannot be read is one line.

    The suffix says what it is: .csv or .tsv, or that of a document which a reader is registered
    for; otherwise a look inside.

    Examples:
        >>> from numerate import read_tables
        >>> from pathlib import Path
        >>> _ = Path("ages.csv").write_text("Group,Age\\nPlacebo,49 (19–87)\\n", encoding="utf-8")
        >>> [table] = read_tables("ages.csv")
        >>> table.header, table.body
        ([['Group', 'Age']], [['Placebo', '49 (19–87)']])
    """
    return read_table_file(path).tables


def read_table_file(path: str | Path, data: bytes | None = None) -> Document:
    """The same as a document without text; where they stand in the file is kept. A file whose
    `data` are given is not opened."""
    name = str(path)
    is_known = suits(name) and not suits(name, PLAIN) and not is_table_file(name)
    document = _of_document(name, data) if is_known else _of_lone_tables(name, data)
    for table in document.tables:
        table.file = document
    return document


def _of_document(name: str, data: bytes | None) -> Document:
    documents = read_file(name, data=data)
    found = _filled([table for one in documents for table in one.tables], name)
    if len(documents) > 1:  # each has places of its own
        return Document(name, [], found)
    (one,) = documents
    document = Document(
        name, [], found, given=one.given, code=one.code, comments=one.comments, parts=one.parts
    )
    document.format, document.folder = one.format, one.folder
    return document


def _of_lone_tables(name: str, data: bytes | None) -> Document:
    bare, data = _bare(Path(name)), _bytes(Path(name), data)
    kind = _KINDS.get(bare.suffix.lower())
    if kind is None and _is_html(data):
        return Document(name, [], _filled(_html_tables(data, name), name))
    text = _text(data, name)
    return Document(name, [], _text_tables(text, name, kind, bare.stem), given=text)


def is_table_file(name: str) -> bool:
    """Whether it holds nothing but a table, as its name says."""
    return _bare(Path(name)).suffix.lower() in _KINDS


def _bare(path: Path) -> Path:
    """Its name, without what says that it is compressed."""
    return Path(path.name[: -len(".gz")] if path.name.lower().endswith(".gz") else path.name)


def tables_in(text: str, name: str = "table") -> list[Table]:
    """All tables of a text that somebody pasted; a look inside tells what it is."""
    if not text.strip():
        raise DocumentError(name, "empty, expected a table")
    data = text.encode("utf-8", "replace")
    if _is_html(data):
        return _filled(_html_tables(data, name), name)
    return _text_tables(_text(data, name), name, None, "")


def _text_tables(text: str, name: str, kind: str | None, title: str) -> list[Table]:
    found = [] if kind else list(pipe_tables(text))
    if not found:
        found = [_separated(text, name, "\t" if kind == "tsv" else None, title)]
    _refuse_long_rows(found, name)
    return _filled(found, name)


def _is_html(data: bytes) -> bool:
    return data.lstrip()[:1] == b"<"


def _filled(found: list[Table], name: str) -> list[Table]:
    filled = [table for table in found if any(map(any, [*table.header, *table.body]))]
    if not filled:
        got = f"{len(found)} without a word in them" if found else "none"
        raise DocumentError(name, f"no table: got {got}, expected at least one with cells")
    return filled


def _bytes(path: Path, data: bytes | None) -> bytes:
    with opened_file(path, data=data) as stream:
        data = stream.read(MAX_DOCUMENT + 1)
    if len(data) > MAX_DOCUMENT:
        expected = f"expected at most {MAX_DOCUMENT >> 20} MiB"
        raise DocumentError(str(path), f"too large for a table: {expected}")
    if not data.strip():
        raise DocumentError(str(path), "empty, expected a table")
    return data


def _text(data: bytes, name: str) -> str:
    zero = -1 if data.startswith(UTF_16) else data.find(b"\0")
    if zero >= 0:
        reason = f"not a table as text: got a zero byte at offset {zero}, expected CSV or the like"
        raise DocumentError(name, reason)
    return decode_text(data, name)


# Separated values


def _separated(text: str, name: str, delimiter: str | None, title: str) -> Table:
    delimiter = delimiter or _delimiter(text)
    if delimiter is None:
        if not name.lower().endswith(".csv"):
            reason = "not a table: got no commas, semicolons, tabs or bars between cells"
            raise DocumentError(name, reason)
        delimiter = ","
    rows: list[list[str]] = []
    cells = 0
    width = 0
    for line, row in _rows(text, name, delimiter):
        if not rows:
            width = len(row)
        while len(row) > width and not row[-1]:
            row.pop()
        if len(row) != width:
            raise DocumentError(
                f"{name}:{line}", f"got {len(row)} cells, expected {width} as in the first row"
            )
        cells += width
        if cells > MAX_AREA:
            raise DocumentError(f"{name}:{line}", f"too large: expected at most {MAX_AREA:,} cells")
        rows.append(row)
    source = SeparatedSource(text, delimiter)
    if delimiter == ";" and _has_decimal_commas(rows):
        rows = [[_with_point(cell) for cell in row] for row in rows]
        source.drops = _COMMA
    height = source.height = header_rows(rows)
    return Table("#1", title, "", rows[:height], rows[height:], source=source)


def _has_decimal_commas(rows: list[list[str]]) -> bool:
    """Where commas come before decimals, as in files whose cells stand between semicolons.

    One number with a comma that can stand for nothing else says so of all, unless another has a
    point that can only come before decimals.
    """
    cells = [cell.strip() for row in rows for cell in row]
    commas = any(_COMMA.fullmatch(cell) and not _THOUSANDS.fullmatch(cell) for cell in cells)
    return commas and not any(_POINT.fullmatch(cell) for cell in cells)


def _with_point(cell: str) -> str:
    return cell.replace(".", "").replace(",", ".") if _COMMA.fullmatch(cell) else cell


def _rows(text: str, name: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, with the number of the line where each ends."""
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num, [" ".join(cell.split()) for cell in row]
    except csv.Error as error:
        reason = f"not separated values: {error}"
        raise DocumentError(f"{name}:{reader.line_num}", reason) from None


def _delimiter(text: str) -> str | None:
    """The one by which most rows have as many cells as the others; None if there is none."""
    best, best_score = None, (0.0, 0)
    for delimiter in DELIMITERS:
        widths: list[int] = []
        try:
            for _, row in _rows(text, "", delimiter):
                widths.append(len(row))
                if len(widths) == SAMPLE:
                    break
        except DocumentError:
            pass  # quotes are told of when it is read
        wide = Counter(width for width in widths if width > 1)
        if wide:
            [(width, count)] = wide.most_common(1)
            score = (count / len(widths), width)
            if score > best_score:
                best, best_score = delimiter, score
    return best


def _refuse_long_rows(tables: Iterable[Table], name: str) -> None:
    for table in tables:
        width = max(map(len, table.header), default=0)
        for number, row in enumerate(table.body, 1):
            if width and len(row) > width:
                got = f"got {len(row)} cells, expected {width} as in its header"
                raise DocumentError(name, f"{table.label}, row {number}: {got}")


# HTML


def _html_tables(data: bytes, name: str) -> list[Table]:
    """Tables within cells stand by themselves, and are no part of the text of the cell."""
    root = parse_html(data, name)
    if sum(1 for _ in root.iter("{*}td", "{*}th")) > MAX_AREA:
        raise DocumentError(name, f"too large: expected at most {MAX_AREA:,} cells")
    try:
        return [html_table(table, number) for number, table in enumerate(root.iter("{*}table"), 1)]
    except RecursionError:
        raise DocumentError(name, "elements nested too deeply") from None


def html_table(table: Element, number: int) -> Table:
    header: list[list[SpanningCell]] = []
    body: list[list[SpanningCell]] = []
    for row in _html_rows(table):
        cells = [cell for cell in row if local_name(cell) in {"td", "th"}]
        parent = row.getparent()
        in_head = parent is not None and local_name(parent) == "thead"
        of_headings = bool(cells) and all(local_name(cell) == "th" for cell in cells)
        is_header = in_head or (of_headings and not body)
        spanning = [
            SpanningCell(_cell_text(cell), cell.get("colspan"), cell.get("rowspan"))
            for cell in cells
        ]
        (header if is_header else body).append(spanning)
    grid = with_header(cell_grid(header, body))
    caption = next((child for child in table if local_name(child) == "caption"), None)
    told = "" if caption is None else " ".join("".join(map(str, caption.itertext())).split())
    label, words = label_and_caption(told)
    inner = sum(1 for _ in table.iter("{*}table")) - 1
    return Table(
        table.get("id") or f"#{number}",
        label or f"Table {number}",
        words,
        *grid,
        nested=inner,
        line=line_of(table),
    )


def _html_rows(parent: Element) -> Iterator[Element]:
    for child in parent:
        name = local_name(child)
        if name == "tr":
            yield child
        elif name not in {"table", "caption"}:
            yield from _html_rows(child)


def _cell_text(cell: Element) -> str:
    flow = Flow()
    _write(flow, cell)
    return flow.finish()


def _write(flow: Flow, element: Element) -> None:
    flow.text(element.text)
    for child in element:
        name = local_name(child)
        if name == "&":
            flow.text(entity_text(child))
        elif name == "sup":
            flow.superscript(_cell_text(child))
        elif name == "sub":
            flow.subscript(_cell_text(child))
        elif name in _SILENT:
            flow.space()
        elif name in _BLOCKS:
            flow.space()
            _write(flow, child)
            flow.space()
        else:
            _write(flow, child)
        flow.text(child.tail)
