"""OpenDocument texts: what a reader of them sees, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.documents.office import DATA, replaced
from tests.documents.open_document import box, cell, fodt, note, odt, p, row, span, table

from numerate.documents import documents, read_file
from numerate.documents.document import Document, Table
from numerate.documents.reader import Unit
from numerate.errors import DocumentError

POWER = (
    '<math xmlns="http://www.w3.org/1998/Math/MathML"><msup><mn>10</mn><mrow><mo>−</mo><mn>6</mn>'
    "</mrow></msup></math>"
)
MATH = (
    '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow><msup><mn>10</mn><mn>6</mn>'
    '</msup></mrow><annotation encoding="StarMath 5.0">10^{6} 99</annotation></semantics></math>'
)


def read(data: bytes) -> Document:
    (document,) = documents(Unit("a.odt", "odt", data))
    if isinstance(document, DocumentError):
        raise document
    return document


def texts(*body: str, styles: str = "") -> list[str]:
    return [one.text for one in read(odt("".join(body), styles)).paragraphs]


def line(*content: str) -> str:
    (text,) = texts(p(*content))
    return text


def tables(*body: str) -> list[Table]:
    return read(odt("".join(body))).tables


@pytest.mark.parametrize("name", ["revised.odt", "revised.fodt", "revised.rtf"])
def test_a_revised_document_of_libreoffice(name: str) -> None:
    """Tracked changes, notes, a comment, a text box, hidden text, references."""
    (document,) = read_file(str(DATA / "office" / name))
    (word,) = read_file(str(DATA / "office/revised.docx"))
    assert document.text == word.text
    assert [one.tables for one in document.paragraphs] == [one.tables for one in word.paragraphs]
    assert document.tables == word.tables


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (["4", span("2 of "), "120"], "42 of 120"),
        (["10", span("1", "Raised"), span("2", "Raised"), " cells"], "10^12 cells"),
        (["FEV", span("1", "Lowered"), " rose"], "FEV1 rose"),
        (["14<text:tab/>15<text:s text:c='3'/>16<text:line-break/>17"], "14 15 16 17"),
        (["5<text:s text:c='999999999999'/>6"], "5 6"),
        (["5", span("6", "Hidden"), " 7"], "5 7"),
        (["5<text:hidden-text text:is-hidden='true'>6</text:hidden-text> 7"], "5 7"),
        (["page <text:page-number>3</text:page-number> of 5"], "page of 5"),
        (["see <text:bookmark-ref text:reference-format='chapter'>2.1</text:bookmark-ref>, 5"],
         "see _ref_, 5"),
        (["see <text:bookmark-ref text:reference-format='text'>25</text:bookmark-ref>, 5"],
         "see 25, 5"),
        (["see <text:note-ref>4</text:note-ref>, 5"], "see , 5"),
        (["at <text:a xlink:href='https://example.org/4'>https://example.org/4</text:a>, 5"],
         "at _ref_, 5"),
        (["at <text:a xlink:href='https://example.org/4'>4 dogs</text:a>, 5"], "at 4 dogs, 5"),
        (["so <text:bibliography-mark>[7]</text:bibliography-mark>, 5"], "so _cite_, 5"),
        (["so <text:reference-mark-start text:name='ZOTERO_ITEM CSL_CITATION {9}'/>(Low 2019)"
          "<text:reference-mark-end text:name='ZOTERO_ITEM CSL_CITATION {9}'/>, 5"],
         "so _cite_, 5"),
        (["so <text:reference-mark-start text:name='ZOTERO_ITEM CSL_CITATION {9}'/>4, 5"],
         "so 4, 5"),
        (["so <text:reference-mark-start text:name='mine'/>4<text:reference-mark-end "
          "text:name='mine'/>, 5"], "so 4, 5"),
        ([f"so <draw:frame><draw:object>{MATH}</draw:object></draw:frame>5"], "so 10^6 5"),
        ([f"so <draw:frame><draw:object>{POWER}</draw:object></draw:frame>, 5"], "so 10^−6, 5"),
        (["a <text:ruby><text:ruby-base>8</text:ruby-base><text:ruby-text>9</text:ruby-text>"
          "</text:ruby> b"], "a 8 b"),
    ],
)  # fmt: skip
def test_what_stands_in_a_line(content: list[str], text: str) -> None:
    assert line(*content) == text


def test_a_formula_in_a_part_of_its_own() -> None:
    frame = '<draw:frame><draw:object xlink:href="./{}"/><draw:image/></draw:frame>'
    body = p("so ", frame.format("Object 1"), "5, ", frame.format("Object 2"), "6")
    parts = {"Object 1__content_xml": MATH, "Object 2__content_xml": "<chart>77</chart>"}
    assert read(odt(body, **parts)).text == "so 10^6 5, 6"


def test_styles_that_styles_are_based_on() -> None:
    def style(name: str, parent: str, family: str = "text", inside: str = "") -> str:
        return (
            f'<style:style style:name="{name}" style:parent-style-name="{parent}" '
            f'style:family="{family}">{inside}</style:style>'
        )

    flat = '<style:text-properties style:text-position="0% 100%"/>'
    styles = [
        style("T1", "Raised"), style("T2", "Raised", inside=flat), style("Loop", "Loop"),
        style("P1", "Heading_20_2", "paragraph"), style("P2", "Contents_20_1", "paragraph"),
    ]  # fmt: skip
    body = [
        p("10", span("6", "T1"), " 4", span("5", "T2"), span(" x", "Loop")),
        p("Methods", style="P1"),
    ]
    found = read(odt("".join([*body, p("Methods 3", style="P2")]), "".join(styles)))
    assert [(one.kind, one.text) for one in found.paragraphs] == [
        ("", "10^6 45 x"), ("##", "Methods"),
    ]  # fmt: skip


def test_what_a_program_makes_of_the_rest_is_no_text() -> None:
    def index(name: str, *content: str) -> str:
        return f"<text:{name}><text:index-body>{''.join(content)}</text:index-body></text:{name}>"

    assert texts(
        index("table-of-content", p("Methods 3")),
        p("Of 9 dogs, 4 ran [1]."),
        '<text:section text:display="none"><text:p>77</text:p></text:section>',
        '<text:section text:name="S"><text:p>In 5</text:p></text:section>',
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>88</text:p>"
        "</text:deletion></text:changed-region></text:tracked-changes>",
        index("bibliography", p("Low A. 2019;5:1.")),
    ) == ["Of 9 dogs, 4 ran [_cite_].", "In 5"]


def test_cells_that_span_and_repeat() -> None:
    head = row(
        cell("Dog", 'table:number-rows-spanned="2"'),
        cell("Age", 'table:number-columns-spanned="2"'), "<table:covered-table-cell/>",
    ) + row("<table:covered-table-cell/>", "Mean", "SD")  # fmt: skip
    body = row("A", cell("4", 'table:number-columns-repeated="2"'))
    hidden = row("B", "77", "78", attributes='table:visibility="collapse"')
    (found,) = tables(table(body, hidden, header=head))
    assert found.header == [["Dog", "Age", "Age"], ["Dog", "Mean", "SD"]]
    assert found.body == [["A", "4", "4"]]
    assert found.repeated == {(-2, 2), (-1, 0)}
    (found,) = tables(table(row("Dog", "Age"), row("A", "4")))
    assert (found.header, found.body) == ([["Dog", "Age"]], [["A", "4"]])


def test_notes_and_boxes_of_cells_come_after_their_table() -> None:
    ages = table(
        row("Dog", "Age"), row("A", f"<text:p>4{note('As of 5.')}9{box(p('Box 6.'))}</text:p>")
    )
    document = read(odt(ages + p("After 7.")))
    assert [one.text for one in document.paragraphs] == ["Box 6.", "After 7.", "As of 5."]
    assert document.tables[0].body == [["A", "4 9"]]


def test_a_table_that_only_arranges_text() -> None:
    inner = table(row("Dog", "Age"), row("A", "4"))
    document = read(odt(table(row(f"{p('Left 5.')}{inner}", "Right 6."))))
    assert [one.text for one in document.paragraphs] == ["Left 5.", "Right 6."]
    assert document.tables[0].body == [["A", "4"]]


ENTITIES = '<!DOCTYPE x [<!ENTITY a "9"><!ENTITY b "&a;&a;">]>'
LARGE = cell("5", 'table:number-columns-repeated="999999999" table:number-rows-spanned="200"')
BAD = {
    "empty": (b"", "not an OpenDocument text (.odt): got an empty file"),
    "text": (b"Nothing", "not an OpenDocument text (.odt): got no ZIP archive"),
    "cut": (odt(p("5"))[:300], "broken archive"),
    "sheet": (
        replaced(odt(""), {"mimetype": "application/vnd.oasis.opendocument.spreadsheet"}),
        "got application/vnd.oasis.opendocument.spreadsheet",
    ),
    "no content": (replaced(odt(""), {"content.xml": None}), "its part content.xml is missing"),
    "other XML": (replaced(odt(""), {"content.xml": "<html/>"}), "got root <html> without a text"),
    "locked": (
        odt("", **{"META-INF__manifest_xml": "<manifest:encryption-data/>"}),
        "encrypted: expected a document that opens without a password",
    ),
    "entities": (
        replaced(odt(""), {"content.xml": f"{ENTITIES}<a>&b;</a>"}), "declares XML entities",
    ),
    "flat entities": (f"{ENTITIES}<a>&b;</a>".encode(), "declares XML entities"),
    "large tables": (odt(table(row(LARGE), row("4")) * 30), "expected at most 1,000,000 cells"),
    "deep": (odt("<text:section>" * 300 + "</text:section>" * 300), "Excessive depth"),
    "a bomb": (odt(p(" " * (9 << 20))), "times as many as compressed"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_document_is_one_line(kind: str) -> None:
    data, reason = BAD[kind]
    with pytest.raises(DocumentError) as raised:
        read(data)
    assert reason in str(raised.value)
    assert str(raised.value).isprintable()


def test_an_object_named_often_stays_within_the_bounds() -> None:
    frames = '<draw:frame><draw:object xlink:href="./A"/></draw:frame>' * 1000
    part = f"<math>{'<mn>5</mn>' * 9000}<!--{'x y z' * 300}--></math>"
    with pytest.raises(DocumentError, match="too large"):
        read(odt(p(frames), A__content_xml=part))


PIECES = [
    "<text:p>", "</text:p>", "<table:table>", "</table:table>", "<table:table-row>",
    "</table:table-row>", f'<table:table-cell table:number-columns-spanned="{"9" * 5000}">',
    "</table:table-cell>", "<text:list>", "</text:list>", "5", "<text:s/>", note("6"), box(p("7")),
    "<text:reference-mark-start text:name='ZOTERO_ITEM'/>", "<text:h text:outline-level='99'/>",
    "<text:reference-mark-end text:name='ZOTERO_ITEM'/>", "<draw:frame><draw:object/></draw:frame>",
    f"<draw:frame><draw:object>{MATH}</draw:object></draw:frame>", "<text:section>",
    "</text:section>", "<text:h text:outline-level='x'>8</text:h>",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_no_document_breaks_it(pieces: list[str]) -> None:
    """Tags that are left open are closed, and others left out, so that it is XML."""
    body, opened = [], list[str]()
    for piece in pieces:
        if piece.startswith("</"):
            if opened and opened[-1] == piece[2:-1]:
                body.append(piece)
                opened.pop()
        else:
            body.append(piece)
            if piece.startswith("<") and piece.count("<") == 1 and not piece.endswith("/>"):
                opened.append(piece[1:-1].partition(" ")[0])
    body += [f"</{name}>" for name in reversed(opened)]
    found = read(fodt("".join(body)))
    assert isinstance(found, Document)
