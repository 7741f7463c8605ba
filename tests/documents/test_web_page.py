"""Ordinary pages: what of them is text, and what stands around it."""

import io
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.documents import documents, read_file
from numerate.documents.reader import Unit
from numerate.errors import DocumentError

PAGE = """<!doctype html>
<html><head><title>Not 5</title><style>p { margin: 5px }</style></head>
<body><nav>1 2 3</nav>
<main><h1>Trial</h1>
<p>In all, 42 of <b>120</b> (53%) <i>were</i> women,<br>x<sup>2</sup> &amp; H<sub>2</sub>O.</p>
<div>Bare 7<ul><li>one, see Table\n1<li>two <code>x = 5</code></ul>tail<p hidden>6</div>
<table><caption>Table 1. Ages</caption><tr><th>Group<th>Age<tr><td>Drug<td>49</table>
<table role="presentation"><tr><td>left 8<td>right 9</table>
</main><footer>2024</footer></body></html>"""


def page(text: str) -> list[str]:
    (found,) = documents(Unit("a.html", "page", text.encode()))
    assert not isinstance(found, DocumentError)
    return [paragraph.text for paragraph in found.paragraphs]


def test_blocks_are_paragraphs_and_what_is_around_them_is_not(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text(PAGE)
    (document,) = read_file(str(path))
    assert [(one.line, one.text) for one in document.paragraphs] == [
        (4, "Trial"),
        (5, "In all, 42 of 120 (53%) were women, x^2 & H2O."),
        (6, "Bare 7"),
        (6, "one, see Table _ref_"),
        (7, "two"),
        (6, "tail"),
        (9, "left 8"),
        (9, "right 9"),
    ]
    (table,) = document.tables
    assert (table.label, table.header, table.body) == (
        "Table 1",
        [["Group", "Age"]],
        [["Drug", "49"]],
    )
    assert [one.text for one in document.paragraphs if one.tables] == ["one, see Table _ref_"]


def test_only_the_article_of_a_page_that_has_one() -> None:
    text = "<html><body>1<article><p>2</article>{}</body></html>"
    assert page(text.format("")) == ["2"]
    assert page(text.format("<article>3</article>")) == ["1", "2", "3"]


def test_it_is_told_from_articles_of_latexml(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where there is no name."""
    for text, paragraphs in (
        (PAGE, 8),
        ("<html><body>1<p class='ltx_p'>An article with 5.</p></body></html>", 1),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        (document,) = read_file("-")
        assert len(document.paragraphs) == paragraphs


@given(
    st.lists(
        st.sampled_from(
            ["<p>", "</p>", "<table>", "<td colspan=9>", "</table>", "<li>", "<sup>", "</sup>", "5",
             "&nbsp;", "&x;", "<math><mn>5</mn></math>", "<b>", "<main>", "<code>", "<!--", "<svg>"]
        ),
        max_size=30,
    ).map("".join)
)  # fmt: skip
def test_no_page_breaks_it(text: str) -> None:
    assert list(documents(Unit("a.html", "page", f"<html><body>{text}".encode())))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.html"
    path.write_text("<html><body><p>Naïve – 5</p></body></html>", encoding=encoding)
    assert read_file(str(path))[0].text == "Naïve – 5"


def test_deep_pages_are_one_line() -> None:
    (error,) = documents(Unit("a.html", "page", b"<div>" * 3000))
    assert isinstance(error, DocumentError)
