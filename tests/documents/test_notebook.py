"""Notebooks: cells of Markdown and tables of outputs, with cell and line."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import numerate
from numerate.documents import documents
from numerate.documents.document import Document
from numerate.documents.reader import Unit
from numerate.errors import DocumentError
from numerate.proofread.fixing import fixes
from numerate.proofread.formats.sarif import as_sarif
from numerate.proofread.report import Report, location

FRAME = (
    "<div><style scoped>.x {width: 5px}</style><table border='1'><thead><tr><th></th><th>n</th>"
    "<th>%</th></tr></thead>\n<tbody><tr><th>Women</th><td>42</td><td>35.0</td></tr>\n"
    "<tr><th>Men</th><td>78</td><td>56.0</td></tr></tbody></table></div>"
)
CELLS: list[dict[str, Any]] = [
    {"cell_type": "markdown", "source": "# Walks\n\nAs Table 1 shows, *42* of 120 (35%) did."},
    {
        "cell_type": "code",
        "source": "print(53)",
        "outputs": [
            {"output_type": "stream", "text": ["53\n"]},
            {"output_type": "execute_result", "data": {"text/html": FRAME, "text/plain": "n 5"}},
            {"output_type": "display_data", "data": {"text/markdown": ["Of 12, ", "3 (25%)."]}},
        ],
    },
    {
        "cell_type": "markdown",
        "source": ["First.\n", "\n", "Then 42 of 120 (53%) did.\n"],
        "attachments": {"a.png": {"image/png": "55"}},
    },
    {"cell_type": "raw", "source": "77"},
]


def notebook(cells: object) -> bytes:
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}).encode()


def read(data: bytes) -> Document:
    (document,) = documents(Unit("a.ipynb", "notebook", data))
    if isinstance(document, DocumentError):
        raise document
    return document


def test_cells_are_read() -> None:
    found = read(notebook(CELLS))
    assert [p.text for p in found.paragraphs] == [
        "Walks",
        "As Table _ref_ shows, 42 of 120 (35%) did.",
        "Of 12, 3 (25%).",
        "First.",
        "Then 42 of 120 (53%) did.",
    ]
    (table,) = found.tables
    assert (table.header, table.body[0]) == ([["", "n", "%"]], ["Women", "42", "35.0"])
    assert [p.tables for p in found.paragraphs] == [(), ("#1",), (), (), ()]


def test_places_are_lines_of_cells(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(notebook(CELLS))
    found = numerate.check(path)
    (finding,) = [one for one in found if one.code == "NUM101"]
    assert location(found, finding.where) == f"{path}, cell 3:3:17"
    assert found.read.describe(finding.where) == "cell 3, line 3"
    assert found.read.file(finding.where) == str(path)
    assert fixes(found) == []
    results = json.loads(as_sarif(Report([found])))["runs"][0]["results"]
    physical = [one["locations"][0]["physicalLocation"] for one in results]
    assert all("region" not in one for one in physical)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[1]", "not a notebook: got list"),
        (b'{"a": 1}', "not a notebook: got keys"),
        (b'{"cells": 5}', "not a notebook: got keys"),
        (b"\xff{}", "not UTF-8"),
    ],
)
def test_what_cannot_be_read(data: bytes, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        read(data)


VALUES = st.recursive(
    st.one_of(st.none(), st.integers(), st.text(max_size=8), st.sampled_from(["markdown", "code"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(["cell_type", "source", "outputs", "data", "text/html", "cells"]), inner
        ),
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(VALUES)
def test_no_notebook_breaks_it(cells: object) -> None:
    try:
        found = read(notebook(cells))
    except DocumentError:
        return
    assert found.given is not None
    for paragraph in found.paragraphs:
        start, end = found.span(paragraph, 0, len(paragraph.text))
        assert 0 <= start < end <= len(found.given)
