"""Jupyter notebooks: their Markdown, and the tables among the outputs; code is no text."""

import json
import re
from collections.abc import Iterator
from typing import Any

from numerate.documents.document import BETWEEN, Document, Remark
from numerate.documents.html_cells import outer_tables
from numerate.documents.markdown.reader import MarkdownBody
from numerate.documents.reader import Reader, Unit, decode_marked
from numerate.documents.source_map import Part
from numerate.errors import DocumentError, one_line

_OUTPUT = "output of cell {}"
_STRING_OR_COMMENT = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|"(?:[^"\\\n]|\\.)*+"|'
    r"'''(?:[^\\]|\\.)*?'''|'(?:[^'\\\n]|\\.)*+'"
    r"|#[^\n]*",
    re.DOTALL,
)


class NotebookReader(Reader):
    """One document a file; its places are lines of its cells."""

    suffixes = (".ipynb",)

    def read(self, unit: Unit) -> Iterator[Document]:
        texts: list[str] = []
        parts: list[Part] = []
        bodies: list[MarkdownBody] = []
        start = tables = 0
        outputs: dict[str, tuple[int, int]] = {}
        cells = _cells(unit)
        for name, text in _shown(cells):
            body = MarkdownBody(text, start, tables)
            bodies.append(body)
            parts.append(Part(start, name, is_file=False))
            texts.append(text)
            outputs[name] = outputs.get(name, (start,))[0], start + len(text)
            start += len(text) + len(BETWEEN)
            tables += len(body.tables)
        every = [table for body in bodies for table in body.tables]
        for body in bodies:
            body.refer(every)
        paragraphs = [paragraph for body in bodies for paragraph in body.paragraphs]
        given = BETWEEN.join(texts)
        remarks = list(_remarks(cells, outputs))
        yield Document(unit.name, paragraphs, every, given=given, parts=parts, remarks=remarks)


def _cells(unit: Unit) -> list[Any]:
    try:
        notebook = json.loads(decode_marked(unit.data, unit.name))
    except (ValueError, RecursionError) as error:
        raise DocumentError(unit.name, f"not JSON: {one_line(error)}") from None
    if isinstance(notebook, dict):
        sheets = notebook.get("worksheets")  # before 2015
        first = sheets[0] if isinstance(sheets, list) and sheets else notebook
        cells = first.get("cells") if isinstance(first, dict) else None
        if isinstance(cells, list):
            return cells
    got = f"keys {list(notebook)[:5]}" if isinstance(notebook, dict) else type(notebook).__name__
    raise DocumentError(unit.name, f"not a notebook: got {got}, expected an object with 'cells'")


def _shown(cells: list[Any]) -> Iterator[tuple[str, str]]:
    """Texts of Markdown, each after the name of its cell; cells count from 1, code among them."""
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, dict):
            continue
        if cell.get("cell_type") == "markdown":
            yield f"cell {number}", _text(cell.get("source"))
        elif cell.get("cell_type") == "heading":
            yield f"cell {number}", f"# {_text(cell.get('source'))}"
        elif isinstance(outputs := cell.get("outputs"), list):
            for output in outputs:
                if told := _output(output):
                    yield _OUTPUT.format(number), told


def _remarks(cells: list[Any], outputs: dict[str, tuple[int, int]]) -> Iterator[Remark]:
    """Comments in the code of cells, each about what its cell shows."""
    for number, cell in enumerate(cells, 1):
        about = outputs.get(_OUTPUT.format(number))
        if about is not None:
            for found in _STRING_OR_COMMENT.finditer(_text(cell.get("source"))):
                if found[0].startswith("#"):
                    yield Remark(found[0], f", cell {number}", about)


def _output(output: Any) -> str:
    """Of several kinds of the same, its Markdown or the tables of its HTML."""
    data = output.get("data") if isinstance(output, dict) else None
    if not isinstance(data, dict):
        return ""
    if markdown := _text(data.get("text/markdown")):
        return markdown
    html = _text(data.get("text/html"))
    return BETWEEN.join(html[start:end] for start, end in outer_tables(html))


def _text(source: Any) -> str:
    """A string, or its lines; what UTF-8 cannot hold is replaced."""
    lines = source if isinstance(source, list) else [source]
    text = "".join(line for line in lines if isinstance(line, str))
    return text.encode("utf-8", "replace").decode()
