"""Word documents: what a reader of them sees, and nothing else."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.documents.office import (
    DATA,
    NAMESPACES,
    REPORT,
    cell,
    paragraph,
    replaced,
    row,
    run,
    table,
    word,
)

from numerate.documents import documents, read_file
from numerate.documents.document import Document, Table
from numerate.documents.reader import Unit
from numerate.errors import DocumentError

HEADER = "<w:tblHeader/>"
DELETED = '<w:del w:id="1" w:author="A"/>'


def read(body: str, **parts: str) -> Document:
    return read_bytes(word(body, **parts))


def read_bytes(data: bytes) -> Document:
    (document,) = documents(Unit("a.docx", "docx", data))
    assert isinstance(document, Document)
    return document


def texts(*body: str, **parts: str) -> list[str]:
    return [one.text for one in read("".join(body), **parts).paragraphs]


def line(*runs: str) -> str:
    (text,) = texts(paragraph(*runs))
    return text


def tables(*body: str) -> list[Table]:
    return read("".join(body)).tables


def grid(*rows: str) -> tuple[list[list[str]], list[list[str]]]:
    (found,) = tables(table(*rows))
    return found.header, found.body


def test_a_revised_document_of_libreoffice() -> None:
    """Tracked changes, notes, a comment, a text box in two notations, hidden text, references."""
    (document,) = read_file(str(DATA / "office/revised.docx"))
    assert [one.text for one in document.paragraphs] == [
        "A revised report",
        "Of the dogs, 22 of 40 (55%) slept. They ran 10^6 m and drank H2O.",
        "Boxed text, as Table _ref_ shows.",
        "In the box, 8 of 16 (50%).",
        "12 barked",
        "7 did not",
        "The second half.",
        "Of these, 3 snored.",
        "None of 40 barked.",
    ]
    (dogs,) = document.tables
    assert [one.text for one in document.paragraphs if one.tables == (dogs.id,)] == [
        "Boxed text, as Table _ref_ shows."
    ]
    assert (dogs.label, dogs.caption) == ("Table 1", "Dogs by age")
    assert dogs.header == [["Dog", "Age", "Age"], ["Dog", "Mean", "SD^a"]]
    assert dogs.body == [["Small", "4.5", "1.2"], ["Large", "6.1", "2.0"]]
    assert dogs.repeated == {(-2, 2), (-1, 0)}


RAISED, LOWERED = '<w:vertAlign w:val="superscript"/>', '<w:vertAlign w:val="subscript"/>'


@pytest.mark.parametrize(
    ("runs", "text"),
    [
        (["4", "2 of ", "120"], "42 of 120"),
        (["10", run("1", RAISED), run("2", RAISED), " cells"], "10^12 cells"),
        (["10", run("6", '<w:position w:val="8"/>'), " cells"], "10^6 cells"),
        (["FEV", run("1", LOWERED)], "FEV1"),
        (["4", run("5", '<w:vertAlign w:val="baseline"/>')], "45"),
        (["p", "<w:r><w:noBreakHyphen/></w:r>", "value"], "p-value"),
        (["14", "<w:r><w:tab/><w:t>15</w:t><w:br/><w:t>16</w:t></w:r>"], "14 15 16"),
        (["5 ", '<w:r><w:sym w:font="Symbol" w:char="F0B1"/></w:r>', " 2"], "5 ± 2"),
        (["5 \uf0b3 2"], "5 ≥ 2"),
        (['<w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>', "5"], "5"),
        ([run("6", '<w:vanish w:val="0"/>')], "6"),
        ([run("5", "<w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange>")], "5"),
        (["in ", "<w:smartTag>" + run("7") + "</w:smartTag>", " cities"], "in 7 cities"),
        (["a soft", "<w:r><w:softHyphen/></w:r>", "ly said 8"], "a softly said 8"),
        (["أخذ 42 من 120 (35%)"], "أخذ 42 من 120 (35%)"),
        (["13\u202f459 people"], "13,459 people"),
    ],
)  # fmt: skip
def test_runs_are_one_text(runs: list[str], text: str) -> None:
    assert line(*runs) == text


def field(code: str, shown: str) -> str:
    return (
        f'<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>{code}</w:instrText></w:r>'
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run(shown)}'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


@pytest.mark.parametrize(
    ("code", "shown", "text"),
    [
        (" REF _Ref99 \\h ", "Table 2", "See Table _ref_, 5."),
        ("= 7 * 9", "63", "See 63, 5."),
        ('ADDIN ZOTERO_ITEM CSL_CITATION {"id": 77}', "(Low 2019)", "See _cite_, 5."),
        ("ADDIN EN.CITE", "[1]", "See _cite_, 5."),
        ("CITATION Low19 \\l 1033", "(3)", "See _cite_, 5."),
        ("PAGEREF _Toc1", "14", "See , 5."),
    ],
)
def test_fields_show_their_results_and_not_their_code(code: str, shown: str, text: str) -> None:
    assert line("See ", field(code, shown), ", 5.") == text
    quoted = code.replace('"', "&quot;")
    simple = f'<w:fldSimple w:instr="{quoted}">{run(shown)}</w:fldSimple>'
    assert line("See ", simple, ", 5.") == text


def test_fields_within_fields_and_those_that_never_end() -> None:
    begin, separate, end = (
        f'<w:r><w:fldChar w:fldCharType="{one}"/></w:r>' for one in ("begin", "separate", "end")
    )
    nested = f"{begin}<w:r><w:instrText>IF </w:instrText></w:r>{field('= 5', '5')}{separate}"
    assert line(nested, "yes", end, ", 6") == "yes, 6"
    assert line("7", end, separate) == "7"
    assert line(f'<w:fldSimple w:instr="X">{end}{run("6")}</w:fldSimple>', "7") == "67"
    hidden = separate.replace("<w:r>", "<w:r><w:rPr><w:vanish/></w:rPr>")
    assert line(begin, "XE 5", hidden, "6", end, ", 7") == "6, 7"
    assert texts(paragraph("1", begin, "2"), paragraph("3")) == ["1", "3"]
    contents = f"{begin}<w:r><w:instrText>TOC \\o</w:instrText></w:r>{separate}"
    several = [paragraph(contents, "Methods 3"), paragraph("Results 4", end), paragraph("5")]
    assert texts(*several) == ["5"]


@pytest.mark.parametrize("code", ["PAGE", "NOTEREF x", "TOC", "INDEX", "ADDIN ZOTERO_BIBL"])
@pytest.mark.parametrize("inner", ["", "REF x"])
def test_a_field_that_never_ends_takes_nothing_along(code: str, inner: str) -> None:
    """Nor does one within a cell, which ends there."""
    begin = "".join(field(one, "1").rpartition("<w:r>")[0] for one in (code, inner) if one)
    kept = [paragraph("Of 50 dogs, 30 ran."), AGES, paragraph("And 7 slept.")]
    assert texts(paragraph(begin), *kept) == ["Of 50 dogs, 30 ran.", "And 7 slept."]
    within = cell(paragraph(begin) + paragraph("49"))
    assert grid(row("Dog", "Age"), row("A", within))[1] == [["A", "49"]]
    contents = [paragraph(field("TOC", "Methods 3")), paragraph("5")]
    assert texts(*contents, paragraph("6", begin), paragraph("7")) == ["5", "6", "7"]


def test_links_show_where_they_lead_or_not() -> None:
    link = "<w:hyperlink>{}</w:hyperlink>"
    assert line("at ", link.format(run("https://example.org/42")), ".") == "at _ref_."
    assert line("of ", link.format(run("42 people")), ".") == "of 42 people."


def test_tracked_changes_are_accepted() -> None:
    changed = [
        '<w:moveFrom w:id="1"><w:r><w:t>1</w:t></w:r></w:moveFrom>',
        f'<w:del w:id="2"><w:r><w:delText>2</w:delText></w:r>{run("3")}</w:del>',
        f'<w:ins w:id="3">{run("4")}<w:del w:id="4">{run("5")}</w:del></w:ins>',
        f'<w:moveTo w:id="5">{run("6")}</w:moveTo>',
    ]
    assert line(*changed) == "46"
    mark = f"<w:rPr>{DELETED}</w:rPr>"
    assert texts(paragraph("One ", properties=mark), paragraph("and 2.")) == ["One and 2."]
    last = paragraph("And 3.", properties=mark)
    assert texts(last, table(row("a", "b")), last) == ["And 3.", "And 3."]
    rows = [row("Group", "Age"), row("A", "1", properties=DELETED), row("B", cell("2"))]
    gone = row("C", "3", cell("4", "<w:cellDel/>"), properties="<w:ins/>")
    assert grid(*rows, gone) == ([["Group", "Age"]], [["B", "2"], ["C", "3"]])


def test_what_styles_hide_and_raise() -> None:
    styles = (
        '<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        '<w:style w:styleId="H"><w:name w:val="H"/><w:rPr><w:vanish/></w:rPr></w:style>'
        '<w:style w:styleId="I"><w:basedOn w:val="H"/></w:style>'
        '<w:style w:styleId="R"><w:basedOn w:val="R"/><w:rPr>' + RAISED + "</w:rPr></w:style>"
        '<w:style w:styleId="T"><w:name w:val="toc 1"/></w:style></w:styles>'
    )
    named = '<w:rStyle w:val="{}"/>'
    runs = [run("5", named.format("I")), "10", run("6", named.format("R"))]
    body = [paragraph(*runs), paragraph("7", style="H"), paragraph("Methods 3", style="T")]
    assert texts(*body, styles=styles) == ["10^6"]


def test_forms_and_tables_of_contents() -> None:
    control = "<w:sdt><w:sdtPr>{}</w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>"
    gallery = '<w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj>'
    body = [
        control.format(gallery, paragraph("Methods 3")),
        control.format("", paragraph("Filled in: 4")),
        paragraph("Age ", control.format("<w:showingPlcHdr/>", run("Enter 2 digits"))),
        paragraph("Age ", control.format("", run("42"))),
    ]
    assert texts(*body) == ["Filled in: 4", "Age", "Age 42"]


def test_merged_cells() -> None:
    down, on = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    wide = '<w:gridSpan w:val="2"/>'
    marked = [
        row(cell("Group", down), cell("Age", wide), properties=HEADER),
        row(cell("", on), "Mean", "SD"),
        row("A", "49", "9"),
        row(cell("B", wide), "8"),
    ]
    header, body = grid(*marked)
    assert header == [["Group", "Age", "Age"], ["Group", "Mean", "SD"]]
    assert body == [["A", "49", "9"], ["B", "B", "8"]]
    assert grid(*(one.replace(HEADER, "") for one in marked)) == (header, body)
    before = row("47", "7", properties='<w:gridBefore w:val="1"/>')
    old = row("C", cell("46", '<w:hMerge w:val="restart"/>'), cell("", "<w:hMerge/>"))
    assert grid(*marked, before, old)[1][2:] == [["", "47", "7"], ["C", "46", "46"]]
    lost = row(cell("", on), "1", "2")
    assert grid(lost, row("A", "3", "4"))[1] == [["", "1", "2"], ["A", "3", "4"]]


def test_cells_hold_paragraphs_lists_and_notes() -> None:
    control = f"<w:sdt><w:sdtContent>{paragraph('12')}</w:sdtContent></w:sdt>"
    several = cell(paragraph("49") + paragraph("(19–87)") + control)
    assert grid(row("Group", "Age"), row("A", several))[1] == [["A", "49 (19–87) 12"]]


def test_tables_that_only_arrange_things_are_text() -> None:
    inner = table(row("Group", "Age"), row("A", "49"))
    outer = table(row(cell(paragraph("On the left, 5") + inner), "On the right, 6"))
    document = read(outer)
    assert [one.text for one in document.paragraphs] == ["On the left, 5", "On the right, 6"]
    assert [one.body for one in document.tables] == [[["A", "49"]]]
    box = table(row("A box"), row("with 7 words"))
    assert texts(box) == ["A box", "with 7 words"]
    assert [one.body for one in tables(paragraph("Table 1. Words"), box)] == [[["with 7 words"]]]


AGES = table(row("Group", "Age"), row("A", "49"))


@pytest.mark.parametrize(
    ("body", "told", "left"),
    [
        ([paragraph("Table 1. Ages"), AGES], [("Table 1", "Ages")], []),
        ([paragraph("TABLE 2"), paragraph("Ages in years"), AGES], [("TABLE 2", "Ages in years")],
         []),
        ([paragraph("Ages", style="TableCaption"), AGES], [("Table 1", "Ages")], []),
        ([paragraph("Ages, see Table 9", style="TableCaption"), AGES],
         [("Table 1", "Ages, see Table _ref_")], []),
        ([paragraph("Table 1 shows 5 ages."), AGES], [("Table 1", "")],
         ["Table _ref_ shows 5 ages."]),
        ([paragraph("Figure 1. Dogs", style="ImageCaption"), AGES], [("Table 1", "")],
         ["Figure _ref_. Dogs"]),
        ([AGES, paragraph("Table 1: Ages"), AGES, paragraph("Table 2: More")],
         [("Table 1", "Ages"), ("Table 2", "More")], []),
        ([paragraph("Table 1: Ages"), AGES, paragraph("Table 2 More ages"), AGES, paragraph("5")],
         [("Table 1", "Ages"), ("Table 2", "More ages")], ["5"]),
        ([paragraph("Table S3: Ages"), AGES, paragraph("5"), AGES],
         [("Table S3", "Ages"), ("", "")], ["5"]),
    ],
)  # fmt: skip
def test_captions(body: list[str], told: list[tuple[str, str]], left: list[str]) -> None:
    document = read("".join(body))
    assert [(one.label, one.caption) for one in document.tables] == told
    assert [one.text for one in document.paragraphs] == left


def test_notes_of_a_table() -> None:
    notes = [
        paragraph("Note. SD is 5."),
        paragraph(run("a", RAISED), " Of 9"),
        paragraph("* p = 1"),
    ]
    body = [paragraph("Table 1. Ages"), AGES, *notes, paragraph("Table 1.")]
    document = read("".join(body))
    assert document.tables[0].notes == "Note. SD is 5. ^a Of 9 * p = 1"
    assert [one.tables for one in document.paragraphs] == [("#1",)]


def test_abstract_and_references() -> None:
    body = [
        paragraph("A title", style="Title"),
        paragraph("Abstract", style="Heading1"),
        paragraph("Results", style="Heading2"),
        paragraph("We saw 5."),
        paragraph("Introduction", style="Heading1"),
        paragraph("In all, 6."),
        paragraph("References", style="Heading1"),
        paragraph("Low A. Dogs. 2019;5:1–9."),
        paragraph("Appendix", style="Heading1"),
        paragraph("Summary", style="Heading2"),
        paragraph("And 7."),
        paragraph("Low B. Cats. 2020;6:1–9.", style="Bibliography"),
    ]
    document = read("".join(body))
    assert [(one.text, one.in_abstract) for one in document.paragraphs] == [
        ("A title", False),
        ("Abstract", True),
        ("Results", True),
        ("We saw 5.", True),
        ("Introduction", False),
        ("In all, 6.", False),
        ("References", False),
        ("Appendix", False),
        ("Summary", False),
        ("And 7.", False),
    ]


def test_what_a_heading_numbers_and_a_list_cites_is_no_quantity() -> None:
    body = [
        paragraph("An abstract with 5.", style="Abstract"),
        paragraph("2.1. Methods of BMAL1 complexes", style="Heading2"),
        paragraph("We saw 3 dogs [1, 2], as did others", run("2", RAISED), " (CI [1, 2])."),
        paragraph("with 4 legs", properties="<w:numPr/>"),
        paragraph("References", style="Heading2"),
        paragraph("Low A. Dogs."),
        paragraph("Low B. Cats."),
    ]
    document = read("".join(body))
    assert [(one.text, one.kind) for one in document.paragraphs] == [
        ("An abstract with 5.", ""),
        ("Methods of BMAL1 complexes", "##"),
        ("We saw 3 dogs [_cite_], as did others _cite_ (CI [1, 2]).", ""),
        ("with 4 legs", "item"),
        ("References", "##"),
    ]
    assert [one.in_abstract for one in document.paragraphs][:2] == [True, False]


def test_headings_without_styles() -> None:
    plain = ["Summary", "We saw 5.", "Methods", "In all, 6.", "References", "1. Low A. 2019;5:1.",
             "Figure legends", "Figure 1. All 8 dogs."]  # fmt: skip
    document = read("".join(map(paragraph, plain)))
    assert [one.text for one in document.paragraphs if one.in_abstract] == ["Summary", "We saw 5."]
    assert [one.text for one in document.paragraphs][2:] == [
        "Methods", "In all, 6.", "References", "Figure legends", "Figure _ref_. All 8 dogs.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("after", "left"),
    [
        ([paragraph("Supplement"), paragraph("Of 50 dogs, 30 ran.")],
         ["Supplement", "Of 50 dogs, 30 ran."]),
        ([paragraph("Legends", style="Heading2"), paragraph("All 8 dogs.")],
         ["Legends", "All 8 dogs."]),
        ([paragraph("Figure 1. All 8 dogs."), paragraph("Bars: 5.")],
         ["Figure _ref_. All 8 dogs.", "Bars: 5."]),
        ([table(row("Dog", "Age"), row("A", "4")), paragraph("In all, 6.")], ["In all, 6."]),
        # Headings of a list that goes on.
        ([paragraph("Web pages", style="Heading2"), paragraph("2. High C. Cats. 2020.")], []),
        ([paragraph("Books"), paragraph("van High, C. (2020). Cats."), paragraph("WHO 2021.")], []),
        ([paragraph("World Cat Club. Cats. 2020.")], []),
    ],
)  # fmt: skip
def test_a_list_of_references_ends_where_something_else_begins(
    after: list[str], left: list[str]
) -> None:
    before = [paragraph("References", style="Heading1"), paragraph("1. Low A. Dogs. 2019;5:1.")]
    assert texts(*before, *after) == ["References", *left]


def math(inside: str) -> str:
    return f"<m:oMath>{inside}</m:oMath>"


def sign(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (sign("t") + f"<m:d><m:e>{sign('28')}</m:e></m:d>" + sign("=2.20"), "t(28) = 2.20"),
        (f"<m:sSup><m:e>{sign('10')}</m:e><m:sup>{sign('−6')}</m:sup></m:sSup>", "10^−6"),
        (f"<m:sSub><m:e>{sign('x')}</m:e><m:sub>{sign('1')}</m:sub></m:sSub>", "x1"),
        (f"<m:f><m:num>{sign('42')}</m:num><m:den>{sign('n+1')}</m:den></m:f>", "42/(n + 1)"),
        (f"<m:rad><m:deg/><m:e>{sign('2')}</m:e></m:rad>", "√(2)"),
        (f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>{sign("i")}</m:sub>'
         f"<m:sup>{sign('9')}</m:sup><m:e>{sign('x')}</m:e></m:nary>", "∑_i^9 x"),
        (f"<m:m><m:mr><m:e>{sign('1')}</m:e><m:e>{sign('2')}</m:e></m:mr></m:m>", "1 2"),
        (f"<m:acc><m:accPr/><m:e>{sign('x')}</m:e></m:acc>", "x"),
    ],
)  # fmt: skip
def test_formulas(formula: str, text: str) -> None:
    assert line("so ", math(formula), " 5") == f"so {text} 5"


def test_documents_of_the_strict_kind() -> None:
    strict = NAMESPACES.replace(
        "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "http://purl.oclc.org/ooxml/wordprocessingml/main",
    )
    body = f"<w:document {strict}><w:body>{paragraph('Of 9, 3')}{AGES}</w:body></w:document>"
    document = read_bytes(replaced(REPORT, {"word/document.xml": body}))
    assert document.text == "Of 9, 3"
    assert document.tables[0].body == [["A", "49"]]


@pytest.mark.parametrize("part", ["styles", "footnotes", "numbering", "settings"])
def test_parts_that_are_not_there(tmp_path: Path, part: str) -> None:
    """What the relations name and the archive lacks is one line; what neither has is not missed."""
    path = tmp_path / "a.docx"
    path.write_bytes(replaced(REPORT, {f"word/{part}.xml": None}))
    if part in ("styles", "footnotes"):
        with pytest.raises(DocumentError, match=f"its part word/{part}.xml is missing"):
            read_file(str(path))
    else:
        assert len(read_file(str(path))[0].paragraphs) == 15


PIECES = [
    "<w:p>", "</w:p>", "<w:tbl>", "</w:tbl>", "<w:tr>", "</w:tr>", "<w:tc>", "</w:tc>",
    '<w:tcPr><w:gridSpan w:val="' + "9" * 9000 + '"/><w:vMerge/></w:tcPr>', run("5"),
    run("6", RAISED),
    field("TOC", "7"), '<w:r><w:fldChar w:fldCharType="begin"/></w:r>',
    '<w:r><w:fldChar w:fldCharType="separate"/></w:r>', "<w:ins>", "</w:ins>", "<w:sdt>",
    '<w:r><w:fldChar w:fldCharType="end"/></w:r>', "<w:fldSimple>", "</w:fldSimple>",
    "</w:sdt>", "<w:sdtContent>", "</w:sdtContent>", '<w:r><w:footnoteReference w:id="20"/></w:r>',
    "<mc:AlternateContent/>", '<w:r><w:sym w:char="zz"/></w:r>', "<m:oMath><m:f/></m:oMath>",
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
            if piece.count("<") == 1 and not piece.endswith("/>"):
                opened.append(piece[1:-1])
    body += [f"</{name}>" for name in reversed(opened)]
    (found,) = documents(Unit("a.docx", "docx", word("".join(body))))
    assert isinstance(found, Document)
