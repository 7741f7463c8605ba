"""What writers say of findings in the text is heeded, and told where it is not needed."""

import json
from pathlib import Path

import pytest
from tests.proofread.papers import RIGHT, WRONG, FakeDetector

from numerate.documents.document import Document, Paragraph
from numerate.documents.text import read_text
from numerate.proofread.inputs import read_document
from numerate.proofread.model_evidence import looked_for
from numerate.proofread.proofread import proofread
from numerate.proofread.selection import all_rules
from numerate.proofread.suppression import suppress
from numerate.rules.finding import DETECTED, RECOMPUTED


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def left_and_told(text: str, codes: set[str] | None = None) -> tuple[int, list[str]]:
    found = proofread(read_text(text, "a.md"))
    left, told = suppress(found, looked_for(codes or all_rules(), []))
    assert left.hidden == len(found) - len(left)
    return len(left), told


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{WRONG} <!-- numerate: ignore -->", 0),
        (f"{WRONG} <!-- numerate: ignore[NUM301] -->", 0),
        (f"{WRONG} <!-- numerate: ignore[NUM3] -->", 0),
        (f"{WRONG} <!-- Numerate: Ignore [num301, NUM900] -->", 0),
        (f"{WRONG} <!-- numerate: ignore[NUM900] -->", 1),
        (f"{WRONG} <!-- numerate: ignored -->", 1),
        (f"{WRONG}\n{WRONG} <!-- numerate: ignore -->", 1),  # that line
        (f"% numerate: ignore\n{WRONG}\n{WRONG}", 0),  # the paragraph
        (f"{WRONG}\n{WRONG}\n<!-- numerate: ignore -->", 0),
        (f"<!-- numerate: ignore -->\n\n{WRONG}\n\n{WRONG}", 1),  # the next one
        (f"{WRONG}\n\n<!-- numerate: ignore -->", 1),  # after the last there is none
        (f"{WRONG}\r\n\r\n% numerate: ignore\r\n\r\n\r\n{WRONG}\r\n", 1),
        ("| t | df | p |\n|-|-|-|\n| 2.05 | 28 | 0.49 <!-- numerate: ignore --> |", 0),
    ],
)  # fmt: skip
def test_what_it_is_about(text: str, left: int) -> None:
    assert left_and_told(text)[0] == left


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{RIGHT} <!-- numerate: ignore -->", "a.md:1:52: numerate: ignore is not needed"),
        (f"{RIGHT}\n% numerate: ignore[NUM301]", "a.md:2:3: numerate: ignore[NUM301] is not nee"),
        (
            f"{WRONG} <!-- numerate: ignore[NUM301,NUM3x] -->",
            "a.md:1:51: numerate: ignore[NUM3x]: the",
        ),
        (f"{RIGHT} <!-- numerate: ignore[NUM900] -->", None),  # no model was asked
        (f"{WRONG} <!-- numerate: ignore -->", None),
    ],
)
def test_what_is_not_needed_is_told(text: str, told: str | None) -> None:
    lines = left_and_told(text)[1]
    assert len(lines) == (told is not None)
    assert all(line.startswith(str(told)) for line in lines)


def test_of_what_is_not_looked_for_nothing_is_told() -> None:
    assert left_and_told(f"{RIGHT} <!-- numerate: ignore[NUM301] -->", {"NUM900"})[1] == []
    assert left_and_told(f"{RIGHT} <!-- numerate: ignore -->", {"NUM1"})[1] == []


@pytest.mark.parametrize(
    ("said", "codes", "kinds"),
    [
        ("", ("NUM301", "NUM800"), (RECOMPUTED, DETECTED)),
        ("numerate: ignore[NUM800]", ("NUM301",), (RECOMPUTED,)),
        ("numerate: ignore[NUM301]", ("NUM800",), (DETECTED,)),
        ("numerate: ignore[NUM3,NUM8]", (), ()),
        ("numerate: ignore", (), ()),
    ],
)
def test_what_else_is_said_of_the_numeral_stays(
    said: str, codes: tuple[str, ...], kinds: tuple[str, ...]
) -> None:
    detector = FakeDetector(_0_36=2.0)
    found = proofread(read_text(f"{WRONG} <!-- {said} -->"), models=[detector])
    left, told = suppress(found, looked_for(all_rules(), [detector]))
    assert [(one.codes, one.kinds) for one in left] == ([(codes, kinds)] if codes else [])
    assert left.hidden == (not codes)
    assert told == []
    alone = {("NUM301",): [], ("NUM800",): [detector]}
    if codes in alone:  # as if the other had not been asked
        (one,) = left
        asked = proofread(read_text(WRONG), models=alone[codes], select=codes)
        assert (one.probability, one.message) == (asked[0].probability, asked[0].message)


def test_what_a_model_does_not_flag_needs_no_suppression() -> None:
    detector = FakeDetector()
    found = proofread(read_text(f"{WRONG} <!-- numerate: ignore[NUM800] -->"), models=[detector])
    _, told = suppress(found, looked_for(all_rules(), [detector]))
    assert [line.split(": ", 1)[1] for line in told] == [
        "numerate: ignore[NUM800] is not needed: NUM800 is not found there"
    ]


def read(text: str, name: str) -> Document:
    Path(name).write_text(text)
    (document,) = read_document(name)
    return document


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "{} <!-- numerate: ignore -->"),
        ("a.md", "See `numerate`. {} <!-- hidden, numerate: ignore[NUM3], as agreed -->"),
        ("a.md", "<!--\nnumerate: ignore\n-->\n\n{}"),
        ("a.md", "```\ncode\n```\n\n{} <!-- numerate: ignore -->"),
        ("a.txt", "{} <!-- numerate: ignore -->"),
        ("a.txt", "# numerate: ignore\n{}"),
        ("a.txt", "  %% Numerate: ignore[NUM301]\n\n{}"),
        ("a.rst", ".. numerate: ignore\n\n{}"),
        ("a.tex", "{} % numerate: ignore"),
        ("a.tex", "{} \\\\% numerate: ignore"),
        ("a.tex", "\\verb|a % b| {} %numerate: ignore"),
        ("a.tex", "\\begin{{verbatim}}\n%\n\\end{{verbatim}}\n{} % numerate: ignore"),
        ("a.tex", "% numerate: ignore\n\n{}"),
    ],
)
def test_comments_of_every_format_hide_findings(name: str, text: str) -> None:
    left, told = suppress(proofread(read(text.format(WRONG), name)), looked_for(all_rules(), []))
    assert (len(left), left.hidden, told) == (0, 1, [])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "{} numerate: ignore"),
        ("a.md", "{} Say `numerate: ignore` for that."),
        ("a.md", "{} Say `<!-- numerate: ignore -->` for that."),
        ("a.md", "{} Say ``<!-- numerate: ignore[NUM4x] --> ` ``."),
        ("a.md", "```\n<!-- numerate: ignore -->\n```\n{}"),
        ("a.md", "```r\n# numerate: ignore\n```\n\n{}"),
        ("a.md", "# numerate: ignore\n\n{}"),
        ("a.md", "{} % numerate: ignore"),
        ("a.md", '{} <img alt="<!-- numerate: ignore -->">'),
        ("a.md", "{} <code>numerate: ignore</code>"),
        ("a.txt", "{} numerate: ignore"),
        ("a.txt", "{} Say `<!-- numerate: ignore -->` for that."),
        ("a.txt", "{} Write # numerate: ignore"),
        ("a.txt", "{}\n# numerate: ignore is what to write\n"),
        ("a.txt", "```\n# numerate: ignore\n```\n{}"),
        ("a.tex", "{} numerate: ignore"),
        ("a.tex", "{} \\% numerate: ignore"),
        ("a.tex", "{} \\verb|% numerate: ignore|"),
        ("a.tex", "\\begin{{verbatim}}\n% numerate: ignore\n\\end{{verbatim}}\n{}"),
        ("a.tex", "{} <!-- numerate: ignore -->"),
        ("a.html", "<html><p>{} <code>numerate: ignore</code></p></html>"),
        ("a.html", "<html><p title='numerate: ignore'>{}</p></html>"),
        ("a.html", "<html><p title='<!-- numerate: ignore -->'>{}</p></html>"),
        ("a.html", "<html><p>{} &lt;!-- numerate: ignore --&gt;</p></html>"),
        ("a.html", "<html><p>{} <code><!-- numerate: ignore --></code></p></html>"),
        ("a.html", "<html><pre><!-- numerate: ignore --></pre><p>{}</p></html>"),
        ("a.html", "<html><script><!-- numerate: ignore --></script><p>{}</p></html>"),
        ("a.html", "<html><p>{}</p><p>One.</p><!-- numerate: ignored --></html>"),
        ("a.xml", "<article><body><p>{}</p><fig><!-- numerate: ignore --></fig></body></article>"),
    ],
)
def test_elsewhere_the_words_do_nothing(name: str, text: str) -> None:
    left, told = suppress(proofread(read(text.format(WRONG), name)), looked_for(all_rules(), []))
    assert (len(left), left.hidden, told) == (1, 0, [])


def test_a_paragraph_of_an_article_that_mentions_it_is_checked() -> None:
    document = Document("a.docx", map(Paragraph, [f"{WRONG} (<!-- numerate: ignore -->)", WRONG]))
    left, told = suppress(proofread(document), looked_for(all_rules(), []))
    assert (len(left), told) == (2, [])


def test_in_a_notebook_comments_stand_in_its_cells(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": f"{WRONG} <!-- numerate: ignore -->"},
        {"cell_type": "markdown", "source": f"`{WRONG}` and {WRONG}"},
    ]
    document = read(json.dumps({"cells": cells}), "a.ipynb")
    left, _ = suppress(proofread(document), looked_for(all_rules(), []))
    assert [finding.where.paragraph for finding in left] == [1]
    assert left.hidden == 1


@pytest.mark.parametrize(
    ("source", "left", "told"),
    [
        ("table()  # numerate: ignore[NUM301]", 0, []),
        ("# numerate: ignore\ntable()", 0, []),
        ("'# numerate: ignore'; table()", 1, []),
        ('"""\n# numerate: ignore\n"""', 1, []),
        ("numerate: ignore", 1, []),
        (
            "table()  # numerate: ignore[NUM101]",
            1,
            ["a.ipynb, cell 1: numerate: ignore[NUM101] is"],
        ),
    ],
)
def test_a_comment_in_the_code_of_a_notebook_is_about_the_output_of_its_cell(
    source: str, left: int, told: list[str]
) -> None:
    output = {"data": {"text/markdown": "| t | df | p |\n|-|-|-|\n| 2.05 | 28 | 0.49 |"}}
    cells = [
        {"cell_type": "code", "source": source, "outputs": [output]},
        {"cell_type": "code", "source": "table()", "outputs": [output]},
    ]
    document = read(json.dumps({"cells": cells}), "a.ipynb")
    found, lines = suppress(proofread(document), looked_for(all_rules(), []))
    assert (len(found), found.hidden) == (left + 1, 1 - left)
    assert [line.startswith(said) for line, said in zip(lines, told, strict=True)] == [True] * len(
        told
    )


_LATEXML = '<document xmlns="http://dlmf.nist.gov/LaTeXML">{}</document>'
_LATEXML_PAGE = '<html><div class="ltx_document">{}</div></html>'


def in_markup(name: str, blocks: str) -> str:
    """Blocks of a page, `<p>` and `<table>`, in the markup of other formats."""
    if name.startswith("page"):
        return f"<html><body>{blocks}</body></html>"
    if name.startswith("jats"):
        wrapped = blocks.replace("<table>", "<table-wrap><table>")
        wrapped = wrapped.replace("</table>", "</table></table-wrap>")
        return f"<article><body>{wrapped}</body></article>"
    if name.endswith(".html"):
        blocks = blocks.replace("<p>", '<div class="ltx_para"><p class="ltx_p">')
        blocks = blocks.replace("</p>", "</p></div>")
        blocks = blocks.replace("<table>", '<figure class="ltx_table"><table class="ltx_tabular">')
        return _LATEXML_PAGE.format(blocks.replace("</table>", "</table></figure>"))
    blocks = blocks.replace("<table>", "<table><tabular>")
    blocks = blocks.replace("<p>", "<para><p>").replace("</p>", "</p></para>")
    return _LATEXML.format(blocks.replace("</table>", "</tabular></table>"))


TABLE = "<tr><th>t</th><th>df</th><th>p</th></tr><tr><td>2.05</td><td>28</td><td>0.49</td></tr>"


@pytest.mark.parametrize("name", ["page.html", "jats.xml", "latexml.html", "latexml.xml"])
@pytest.mark.parametrize(
    ("blocks", "left"),
    [
        ("<p>{0} <!-- numerate: ignore --></p><p>{0}</p>", [1]),
        ("<p><!-- numerate: ignore[NUM301] -->{0}</p><p>{0}</p>", [1]),
        ("<p>See <em>this <!-- numerate: ignore --></em>: {0}</p><p>{0}</p>", [1]),
        ("<p>{0}</p><!-- numerate: ignore --><!-- of 2020 --><p>{0}</p><p>{0}</p>", [0, 2]),
        ("<p>{0}</p><!-- A --> <!-- numerate: ignore[NUM3] --> <p>{0}</p><p>{0}</p>", [0, 2]),
        ("<p>{0}</p><!-- numerate: ignore[NUM101] --><p>{0}</p>", [0, 1]),
        ("<p>{0}</p><!-- numerate: ignore -->", [0]),
        ("<p>{0}</p><!-- numerate: ignore --><table>{1}</table><p>{0}</p>", [0, 1]),
        ("<p>{0}</p><table><!-- numerate: ignore -->{1}</table><p>{0}</p>", [0, 1]),
        ("<p>{0}</p><!-- {0} --><table>{1}</table><!-- numerate: ignore --><p>Of it.</p>",
         [0, None]),
    ],
)  # fmt: skip
def test_a_comment_of_markup_is_about_its_paragraph_or_table_or_the_next(
    name: str, blocks: str, left: list[int | None]
) -> None:
    document = read(in_markup(name, blocks.format(WRONG, TABLE)), name)
    found, _ = suppress(proofread(document), looked_for(all_rules(), []))
    assert [finding.where.paragraph for finding in found.in_text_order] == left


@pytest.mark.parametrize("name", ["page.html", "jats.xml", "latexml.html", "latexml.xml"])
def test_of_markup_too_what_is_not_needed_is_told(name: str) -> None:
    blocks = (
        f"<p>{RIGHT} <!-- numerate: ignore[NUM301] --></p>\n"
        f"<!-- numerate: ignore[NUM3x] -->\n<p>{WRONG}</p>\n<!-- numerate: ignore -->"
    )
    document = read(in_markup(name, blocks), name)
    left, lines = suppress(proofread(document), looked_for(all_rules(), []))
    assert (len(left), left.hidden) == (1, 0)
    assert lines == [
        f"{name}:1: numerate: ignore[NUM301] is not needed: NUM301 is not found there",
        f"{name}:2: numerate: ignore[NUM3x]: there is no such code",
        f"{name}:4: numerate: ignore is not needed: nothing is found there;"
        " not every kind of model was asked",
    ]


def test_many_of_them_take_no_long_time() -> None:
    """Each is looked at once, and so is each finding."""
    text = f"{WRONG} <!-- numerate: ignore[NUM9] --> " * 3000
    found = proofread(read_text(text))
    left, _ = suppress(found, looked_for(all_rules(), []))
    assert len(left) == 3000
