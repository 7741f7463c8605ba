"""A passage is shown with the references that its author wrote, whatever the format: `(Table 1)`,
though models and rules read `(Table _ref_)`."""

import json
from pathlib import Path

import pytest
from tests.documents.office import cell, paragraph, row, run, table, word
from tests.documents.samples import NAMESPACE
from tests.documents.written_pdf import Page, pdf
from typer.testing import CliRunner

from numerate.cli import app
from numerate.documents.flow import CITE, REF, Flow, RunningText
from numerate.serve.limits import Limits
from numerate.serve.opened_files import OpenedFiles

CLAIM = "Of 80 people, 20 (35%) walked ({}), as Figures 2 and 3 show."
WRITTEN = CLAIM.format("Table 1")


def field(code: str, shown: str) -> str:
    def sign(kind: str) -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'

    return (
        f"{sign('begin')}<w:r><w:instrText>{code}</w:instrText></w:r>"
        f"{sign('separate')}{run(shown)}{sign('end')}"
    )


WORD_TABLE = table(row(cell("Group"), cell("n")), row(cell("Walk"), cell("20")))
BEFORE, AFTER = CLAIM.split("{}")
XREF = '<xref ref-type="table" rid="t1">Table 1</xref>'
LTX_REF = '<a href="#T1" class="ltx_ref">Table <span class="ltx_text">1</span></a>'
FILES: dict[str, str | bytes] = {
    "a.txt": WRITTEN,
    "a.md": WRITTEN,
    "linked.md": CLAIM.format("[Table 1](#t1)"),
    "a.html": f"<html><body><p>{WRITTEN}</p></body></html>",
    "linked.html": f"<html><body><p>{CLAIM.format('<a href=#t1>Table 1</a>')}</p></body></html>",
    "a.xml": f"<article><body><p>{WRITTEN}</p></body></article>",
    "linked.xml": f"<article><body><p>{CLAIM.format(XREF)}</p></body></article>",
    "latexml.xml": f'<document xmlns="{NAMESPACE}"><para><p>{WRITTEN}</p></para></document>',
    "latexml.html": f'<html><body><p class="ltx_p">{CLAIM.format(LTX_REF)}</p></body></html>',
    "a.tex": "\\documentclass{article}\\begin{document}"
    + WRITTEN.replace("%", "\\%").replace("Table 1", "Table~1")
    + "\\end{document}",
    "a.ipynb": json.dumps({"cells": [{"cell_type": "markdown", "source": [WRITTEN]}]}),
    "a.jsonl": json.dumps({"text": WRITTEN}),
    "a.docx": word(paragraph(WRITTEN)),
    "field.docx": word(
        paragraph(run(BEFORE), field(" REF _Ref1 \\h ", "Table 1"), run(AFTER))
        + paragraph("Table 1. Steps")
        + WORD_TABLE
    ),
    "a.pdf": pdf([Page().text(60, 700, WRITTEN)]),
}


@pytest.fixture(params=list(FILES))
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path, content = tmp_path / request.param, FILES[request.param]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def check(file: Path, *options: str) -> str:
    return CliRunner().invoke(app, ["check", str(file), *options]).stdout


def test_a_terminal_shows_what_was_written(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert WRITTEN in check(file)


def test_a_report_shows_what_was_written(file: Path) -> None:
    page = check(file, "--format", "html")
    assert "walked (Table 1), as Figures 2 and 3 show." in page


def test_no_mark_is_in_json(file: Path) -> None:
    found = check(file, "--format", "json")
    assert json.loads(found)["findings"]
    assert REF not in found


def test_the_page_shows_what_was_written(file: Path) -> None:
    opened = OpenedFiles(models=(), tables=(), limits=Limits())
    blocks = opened.answer(file.name, file.read_bytes()).model_dump()["blocks"]
    shown = [
        "".join(one if isinstance(one, str) else one["text"] for one in block["text"])
        for block in blocks
        if "text" in block
    ]
    assert WRITTEN in shown


def test_what_references_were_written_as() -> None:
    flow = Flow()
    flow.text("See Table 4 and")
    flow.mark(REF, shown="Figure\n2")
    flow.mark(CITE)
    flow.text("and")
    flow.mark(REF)
    flow.text(", Tables 5, 6 and\u00a07.")
    text = flow.finish()
    assert text == f"See Table {REF} and {REF} {CITE} and {REF}, Tables {REF}."
    assert isinstance(text, RunningText)
    assert text.references() == ["4", "Figure 2", "", "5, 6 and 7"]
