"""PDFs: what stands where on a page is all that is known of them."""

import random
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.written_pdf import Page, pdf

from numerate.documents import documents, read_file
from numerate.documents.document import Document
from numerate.documents.reader import Unit
from numerate.errors import DocumentError

REPORT = Path(__file__).parents[1] / "data" / "report"
LEFT = [
    "The left column of the first page has",
    "lines that are as long as they can be in",
    "a column of this width, and its last sen-",
    "tence about 35 patients goes on in the",
]
RIGHT = [
    "right column, where 12 of them come to",
    "an end, so that the words of both stand",
    "in one paragraph of this short document",
    "as they were meant to be read, in turn.",
]


def read(*pages: Page) -> Document:
    (document,) = documents(Unit("a.pdf", "pdf", pdf(pages)))
    assert isinstance(document, Document), document
    return document


def texts(*pages: Page) -> list[str]:
    return [paragraph.text for paragraph in read(*pages).paragraphs]


def error(data: bytes) -> str:
    (found,) = documents(Unit("a.pdf", "pdf", data))
    assert isinstance(found, DocumentError)
    return str(found)


def columns() -> Page:
    page = Page()
    page.lines(60, 700, LEFT * 4).lines(320, 700, RIGHT * 4)
    return page


def test_columns_are_read_one_after_the_other_and_hyphens_undone() -> None:
    (text,) = texts(columns())
    assert text.index("goes on in the right column") > text.index("sentence about 35")
    assert text.count("sentence about 35 patients") == 4
    assert "sen-" not in text


def test_what_spans_columns_is_read_before_them() -> None:
    page = columns().text(60, 760, "A title that stands above both of the columns", size=18)
    page.text(
        60,
        735,
        "An abstract of 120 words stands above both of them, all the way over to the right.",
    )
    first, second, third = texts(page)
    assert (first, second) == (
        "A title that stands above both of the columns",
        "An abstract of 120 words stands above both of them, all the way over to the right.",
    )
    assert third.startswith("The left column")


def test_running_heads_and_page_numbers_are_no_text() -> None:
    pages = [
        Page()
        .text(60, 810, f"Evening walks {number}", size=8)
        .text(290, 30, str(number))
        .lines(60, 700, [f"On page {number} there are {word} words, and no more than these."])
        for number, word in enumerate(["ten", "twenty", "thirty", "forty", "fifty"], 1)
    ]
    assert texts(*pages) == [
        f"On page {number} there are {word} words, and no more than these."
        for number, word in enumerate(["ten", "twenty", "thirty", "forty", "fifty"], 1)
    ]


def test_lines_that_are_numbered_lose_their_numbers() -> None:
    page = Page()
    for number in range(30):
        page.text(30, 780 - 20 * number, str(number + 1), size=8)
        page.text(60, 780 - 20 * number, "In this draft every line has a number of its own,")
    assert not any(character.isdigit() for text in texts(page) for character in text)


def test_scripts_are_told_from_numbers() -> None:
    page = Page().text(60, 700, "Cells, 10").text(104, 704, "6", size=6).text(109, 700, "of them.")
    page.text(150, 700, "It was known.").text(212, 704, "12,13", size=6).text(235, 700, "We saw.")
    assert texts(page) == ["Cells, 10^6 of them. It was known._cite_ We saw."]


def test_a_paragraph_goes_on_after_a_turn_of_the_page() -> None:
    one = Page().lines(60, 100, ["The mean of the first group was 42 and that of the second was"])
    two = Page().lines(60, 780, ["51 with a difference of 9."])
    (paragraph,) = read(one, two).paragraphs
    assert paragraph.text.endswith("the second was 51 with a difference of 9.")
    at = paragraph.text.index("51")
    assert (paragraph.page_at(at - 3), paragraph.page_at(at)) == (1, 2)


ROWS = [("Age, years", "54.2", "53.8"), ("Women", "61", "58"), ("Smokers", "12", "14")]


def table(page: Page, *, ruled: bool) -> Page:
    """Below a caption; rules above, below the header and at the end."""
    page.text(60, 700, "Table 1. Who took part")
    for x, head in ((60, "Characteristic"), (200, "Walks"), (300, "Care")):
        page.text(x, 680, head)
    for number, row in enumerate(ROWS):
        for x, cell in zip((60, 200, 300), row, strict=True):
            page.text(x, 660 - 15 * number, cell)
    if ruled:
        for y in (692, 674, 620):
            page.rule(60, y, 340)
    return page


@pytest.mark.parametrize("ruled", [True, False])
def test_tables_are_told(ruled: bool) -> None:
    page = table(Page(), ruled=ruled)
    page.lines(60, 580, ["As Table 1 shows, the groups had much in common before the walks began."])
    document = read(page)
    (found,) = document.tables
    assert (found.label, found.caption, found.page) == ("Table 1", "Who took part", 1)
    assert found.header == [["Characteristic", "Walks", "Care"]]
    assert found.body == [list(row) for row in ROWS]
    (paragraph,) = document.paragraphs
    assert paragraph.tables == (found.id,)


def test_a_table_on_its_side_is_read() -> None:
    page = Page()
    page.text(100, 60, "Table 1. Who took part", turn=90)
    for number, row in enumerate([("Characteristic", "Walks", "Care"), *ROWS]):
        for y, cell in zip((60, 200, 300), row, strict=True):
            page.text(125 + 15 * number, y, cell, turn=90)
    (found,) = read(page).tables
    assert [*found.header, *found.body] == [["Characteristic", "Walks", "Care"], *map(list, ROWS)]


@pytest.mark.parametrize("rotate", [90, 180, 270])
def test_pages_may_be_turned(rotate: int) -> None:
    page = columns()
    page.rotate = rotate
    assert texts(page) == texts(columns())


def test_references_are_not_text() -> None:
    page = Page().lines(60, 700, ["It was seen before [2], in 34 of 40 people (85%)."])
    page.text(60, 660, "References", bold=True, size=12)
    page.lines(60, 640, ["1. Doe J. Walks. 2001;12:34-56.", "2. Roe R. Care. 2002;13:9."])
    page.text(60, 580, "Appendix", bold=True, size=12)
    page.lines(60, 560, ["There were 17 more."])
    assert texts(page) == [
        "It was seen before [_cite_], in 34 of 40 people (85%).",
        "Appendix",
        "There were 17 more.",
    ]


def test_the_abstract_is_known() -> None:
    page = Page().text(60, 720, "Abstract", bold=True, size=12)
    page.text(60, 700, "Results", bold=True)
    page.lines(60, 685, ["Of 40 people, 34 (85%) were well."])
    page.text(60, 640, "Introduction", bold=True, size=12)
    page.lines(60, 620, ["There were 17 before."])
    known = {paragraph.text: paragraph.in_abstract for paragraph in read(page).paragraphs}
    assert known["Of 40 people, 34 (85%) were well."]
    assert not known["There were 17 before."]


def test_numbers_along_the_axes_of_a_figure_are_no_text() -> None:
    page = Page().lines(60, 700, ["Pressure fell in 34 of 40 people (85%), as the figure shows."])
    for number in range(8):
        page.text(80, 600 - 20 * number, f"{140 - 2.5 * number}", size=8)
        page.text(100 + 30 * number, 440, f"{1.5 * number}", size=8)
    assert texts(page) == ["Pressure fell in 34 of 40 people (85%), as the figure shows."]


def test_scanned_pages_are_told_and_the_others_read(capsys: pytest.CaptureFixture[str]) -> None:
    scan = Page().picture()
    assert texts(scan, Page().text(60, 700, "There were 17 of them."), scan) == [
        "There were 17 of them."
    ]
    told = capsys.readouterr().err
    assert told == (
        "numerate: a.pdf: pages 1, 3 are without text, as of a scan: not read; the others are\n"
    )
    assert error(pdf([scan, scan])) == (
        "a.pdf: no text: 2 pages of pictures, as of a scan; expected text"
    )


def test_what_is_encrypted() -> None:
    with pytest.raises(DocumentError, match=r"locked\.pdf: a PDF that needs a password"):
        read_file(str(REPORT / "locked.pdf"))
    (document,) = read_file(str(REPORT / "restricted.pdf"))
    assert document.text == "Of 120 people, 30 (25%) came."


def test_what_is_no_pdf_or_broken() -> None:
    assert error(b"Of 120 people") == "a.pdf: not a PDF: it begins with b'Of 120 p'"
    assert error(b"%PDF-1.7\n") == "a.pdf: a broken PDF: its pages cannot be found"


def test_nothing_in_it_is_run(tmp_path: Path) -> None:
    made = tmp_path / "made"
    script = f"/OpenAction << /S /JavaScript /JS (app.launchURL('file://{made}')) >>"
    launch = f"/AA << /WC << /S /Launch /F (touch {made}) >> >>"
    data = pdf([Page().text(60, 700, "There were 17.")], catalog=f"{script} {launch}")
    (document,) = documents(Unit("a.pdf", "pdf", data))
    assert isinstance(document, Document)
    assert document.text == "There were 17."
    assert not made.exists()


def test_huge_pages_take_no_more_memory() -> None:
    page = Page(width=14_400_000, height=14_400_000)
    page.text(60, 14_000_000, "There were 17.").text(13_000_000, 60, "And 18 there.")
    assert texts(page) == ["There were 17.", "And 18 there."]


def test_what_is_too_long_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = [Page().text(60, 700, f"There were 1{page} of them.") for page in range(3)]
    monkeypatch.setattr("numerate.documents.pdf.page.MAX_CHARACTERS", 12)
    monkeypatch.setattr("numerate.documents.pdf.document.MAX_CHARACTERS", 12)
    assert texts(pages[0]) == ["There were 1"]
    assert "page 1 is too long: read are at most 12 characters" in capsys.readouterr().err
    monkeypatch.setattr("numerate.documents.pdf.document.MAX_TEXT", 20)
    assert "expected at most 20 characters, got more by page 2" in error(pdf(pages))
    monkeypatch.setattr("numerate.documents.pdf.document.MAX_PAGES", 2)
    assert "got 3 pages, expected at most 2" in error(pdf(pages))


def test_text_from_right_to_left_is_read() -> None:
    (document,) = read_file(str(REPORT / "right-to-left.pdf"))
    assert document.text == "מתוך 120 אנשים, 30 (25%) באו."


def test_without_the_library_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    monkeypatch.setitem(sys.modules, "pypdfium2.raw", None)
    told = "a.pdf: a PDF, which is read after: pip install 'numerate[documents]'"
    assert error(pdf([Page().text(60, 700, "There were 17.")])) == told


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(sorted(REPORT.glob("*.pdf"))))
def test_damage_is_one_line(seed: int, path: Path) -> None:
    rng = random.Random(seed)
    data = bytearray(path.read_bytes())
    for _ in range(rng.randrange(1, 30)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    if rng.random() < 0.5:
        del data[rng.randrange(len(data)) :]
    for found in documents(Unit("a.pdf", "pdf", bytes(data))):
        assert isinstance(found, Document | DocumentError)
