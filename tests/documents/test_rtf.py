"""Rich Text: what a reader of it sees, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.documents import documents
from numerate.documents.document import Document, Table
from numerate.documents.reader import Unit
from numerate.errors import DocumentError

FONTS = (
    r"{\fonttbl{\f0\fcharset0 Times;}{\f1\fcharset204 Times Cyr;}{\f2\fcharset2 Symbol;}"
    r"{\f3\fcharset128 MS Mincho;}}"
)
STYLES = (
    r"{\stylesheet{Normal;}{\s1\sbasedon0 heading 1;}{\s2\sbasedon1 Mine;}{\s3 caption;}"
    r"{\s4 toc 1;}{\*\cs9 heading 3;}}"
)


def rtf(body: str) -> bytes:
    return (rf"{{\rtf1\ansi\ansicpg1252\deff0{FONTS}{STYLES}" + body + "}").encode("latin-1")


def read(body: str | bytes) -> Document:
    data = body if isinstance(body, bytes) else rtf(body)
    (document,) = documents(Unit("a.rtf", "rtf", data))
    if isinstance(document, DocumentError):
        raise document
    return document


def texts(body: str) -> list[str]:
    return [one.text for one in read(body).paragraphs]


def tables(body: str) -> list[Table]:
    return read(body).tables


def field(code: str, shown: str) -> str:
    return rf"{{\field{{\*\fldinst {{{code}}}}}{{\fldrslt {{{shown}}}}}}}"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"4{\b 2} of 120\par", "42 of 120"),
        (r"10{\super 1}{\super 2} cells", "10^12 cells"),
        (r"10\super 6\nosupersub  5 cells", "10^6 5 cells"),
        (r"10{\up6 6} m and H{\dn4 2}O, 4{\up0 5}", "10^6 m and H2O, 45"),
        (r"10\super 6\super0 5", "10^6 5"),
        (r"5\tab 6\line 7\~8", "5 6 7 8"),
        ("12\\\n13", "12\n13"),
        (r"4\-5 and 4\_5", "45 and 4-5"),
        (r"\'a35 \'96 6", "£5 – 6"),
        (r"{\f1 \'ef\'ff\'f2\'fc} 5", "пять 5"),
        (r"{\f3 \'8c\'dc} 5", "五 5"),
        (r"5 {\f2 \'b1} 2", "5 ± 2"),
        (r"5 \u61617? 2", "5 ± 2"),
        (r"\u8722?5 \u-10179?\u-8704? 6", "−5 😀 6"),
        (r"\uc2 \u8722 ab5", "−5"),
        (r"{\uc0 \u8722}5", "−5"),
        (r"{\upr{5 -}{\*\ud{5 \u8722?}}} 6", "5 − 6"),
        (r"5{\v 6} 7{\deleted 8} {\revised 9}", "5 7 9"),
        (r"\v 5\v0 6\plain 7", "67"),
        (r"5{\*\unknown 6}{\annotation 7}{\pict\bin3 }}}} 8", "5 8"),
        (r"5{\header 6}{\*\bkmkstart _Ref7} 8", "5 8"),
        (r"5\emdash 6 \lquote 7\rquote", "5—6 ‘7’"),
        ("5\r\n6", "56"),
    ],
)
def test_what_stands_in_a_line(body: str, text: str) -> None:
    assert read(body).text == "\n\n".join(text.splitlines())


@pytest.mark.parametrize(
    ("code", "shown", "text"),
    [
        (r" REF _Ref9 \\h ", "Table 2", "See Table _ref_, 5."),
        (r" REF _Ref9 \\r ", "2.1", "See _ref_, 5."),
        ("= 7 * 9", "63", "See 63, 5."),
        ("ADDIN ZOTERO_ITEM CSL_CITATION 77", "(Low 2019)", "See _cite_, 5."),
        ("PAGEREF _Toc1", "14", "See , 5."),
        ('HYPERLINK "https://example.org/4"', "https://example.org/4", "See _ref_, 5."),
        ('HYPERLINK "https://example.org/4"', "4 dogs", "See 4 dogs, 5."),
        ("IF " + field("= 4", "4"), "six", "See six, 5."),
    ],
)
def test_fields_show_their_results_and_not_their_code(code: str, shown: str, text: str) -> None:
    assert texts(f"See {field(code, shown)}, 5.") == [text]


def test_headings_items_and_contents() -> None:
    body = (
        r"\pard\s2 Title\par\pard\outlinelevel1 Methods\par\pard\s4 Methods 3\par"
        r"\pard\ls1{\listtext 1.\tab}5 dogs\par\pard\fi-360 \bullet\tab 6 cats\par"
        r"\pard\fi-360 2.\tab 7 mice\par\pard 8.\tab 9\par"
    )
    assert [(one.kind, one.text) for one in read(body).paragraphs] == [
        ("#", "Title"), ("##", "Methods"), ("item", "5 dogs"), ("item", "6 cats"),
        ("item", "7 mice"), ("", "8. 9"),
    ]  # fmt: skip


def test_notes_and_boxes() -> None:
    body = (
        r"Of 40{\super\chftn}{\footnote\pard\plain\chftn\tab In 5.{\footnote Or 6.}\par} dogs"
        r"{\shp{\*\shpinst{\sp{\sn a}{\sv 77}}{\shptxt Box 7.\par}}{\shprslt Box 78.}} ran."
        r"{\v{\footnote 79}}\par After 8.{\footnote\ftnalt End 9.}\par"
    )
    assert texts(body) == ["Of 40 dogs ran.", "Box 7.", "After 8.", "Or 6.", "In 5.", "End 9."]


def test_a_deleted_end_of_a_paragraph() -> None:
    assert texts(r"One{\deleted\par} 5\par Two 6\par") == ["One 5", "Two 6"]


def row(*cells: str, ends: str = r"\cellx1000\cellx2000\cellx3000", more: str = "") -> str:
    inside = "".join(rf"\pard\intbl {one}\cell" for one in cells)
    return rf"\trowd{more}{ends}{inside}\row"


def test_cells_that_span() -> None:
    head = row("Dog", "Age", ends=r"\clvmgf\cellx1000\cellx3005", more=r"\trhdr")
    second = row("", "Mean", "SD", ends=r"\clvmrg\cellx1000\cellx2000\cellx3000", more=r"\trhdr")
    (found,) = tables(head + second + row("A", "4", "5") + r"\pard After\par")
    assert found.header == [["Dog", "Age", "Age"], ["Dog", "Mean", "SD"]]
    assert found.body == [["A", "4", "5"]]
    assert found.repeated == {(-2, 2), (-1, 0)}
    joined = row("Dog", "Age", "", ends=r"\cellx1000\clmgf\cellx2000\clmrg\cellx3000")
    (found,) = tables(joined + row("A", "4", "5"))
    assert (found.header, found.body) == ([["Dog", "Age", "Age"]], [["A", "4", "5"]])


def test_rules_of_a_row_may_come_after_its_cells() -> None:
    ends = r"{\trowd\cellx1000\cellx2000\row}"
    one = r"\pard\intbl Dog\cell Age\cell" + ends
    (found,) = tables(one + r"\pard\intbl A\par B\cell 4\cell" + ends)
    assert found.body == [["A B", "4"]]


def test_a_table_within_a_cell_arranges_text() -> None:
    nested = (
        r"\pard\intbl\itap2 Dog\nestcell Age\nestcell{\*\nesttableprops\trowd\cellx500\cellx900"
        r"\nestrow}{\nonesttables\par 77}A\nestcell 4\nestcell{\*\nesttableprops\nestrow}"
    )
    outer = rf"\trowd\cellx1000\cellx2000\pard\intbl Left 5.\par{nested}\pard\intbl\cell"
    document = read(outer + r" Right 6.\cell\row\pard After 7.\par")
    assert [one.text for one in document.paragraphs] == ["Left 5.", "Right 6.", "After 7."]
    assert document.tables[0].body == [["A", "4"]]


def test_a_caption_and_two_tables_with_text_between_them() -> None:
    ages = row("Dog", "Age", ends=r"\cellx1\cellx2000") + row("A", "4", ends=r"\cellx1\cellx2000")
    body = rf"\pard\s3 Table 1. Ages\par{ages}\pard Of 9, 4.\par{ages}"
    first, second = tables(body)
    assert (first.label, first.caption) == ("Table 1", "Ages")
    assert texts(body) == ["Of 9, 4."]
    assert second.body == [["A", "4"]]


def test_formulas() -> None:
    run = r"{\mr\mscr0 "
    power = rf"{{\msSup{{\msSupPr{{\mctrlPr\i 77}}}}{{\me{run}10}}}}{{\msup{run}\u8722?6}}}}}}"
    formula = rf"{{\mmath{{\*\moMath{run}p=}}{power}}}{{\mmathPict 78}}}}"
    assert texts(rf"so {formula}5\par") == ["so p = 10^−6 5"]
    fenced = rf"{{\mmath{{\*\moMath{{\md{{\mdPr{{\mbegChr [}}{{\mendChr ]}}}}{{\me{run}5}}}}}}}}}}"
    assert texts(fenced) == ["[5]"]


NARROW = "".join(rf"\cellx{100 * number}" for number in range(1, 201))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not Rich Text (.rtf): got an empty file"),
        (b"Nothing", r"not Rich Text (.rtf): got another beginning than {\rtf"),
        (rtf("{" * 300), "groups nested more than 256 deep"),
        (rtf(row(*"5" * 200, ends=NARROW) + row("7", ends=r"\cellx20000") * 5_100),
         "expected at most 1,000,000 cells in its tables"),
    ],
    ids=["empty", "text", "deep", "wide"],
)  # fmt: skip
def test_what_is_no_document_is_one_line(data: bytes, reason: str) -> None:
    with pytest.raises(DocumentError) as raised:
        read(data)
    assert reason in str(raised.value)
    assert str(raised.value).isprintable()


def test_one_that_is_cut_is_read_as_far_as_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    whole = rtf(r"Of 40 dogs, {\b 5 ran}\par After 6\par")
    assert read(whole[:-12]).text.startswith("Of 40 dogs, 5 ran")
    assert "a.rtf: its last group has no end; read as far as it goes" in capsys.readouterr().err
    assert read(whole + b" 77").text == "Of 40 dogs, 5 ran\n\nAfter 6"


PIECES = [
    "{", "}", r"\par", r"\cell", r"\row", r"\trowd", r"\cellx-99999999", r"\cellx999999999",
    r"\itap99999", r"\nestcell", r"\nestrow", r"{\footnote", r"{\*\fldinst REF", r"{\field",
    r"{\fldrslt", r"{\shptxt", r"\u-1", r"\u9999999999", r"\uc-5", r"\'81", "\x81", r"\*", r"\pard",
    r"\intbl", "5", r"{\mmath", r"{\*\moMath", r"{\mr", r"{\mf", r"\bin-4", r"\bin99", r"\super",
    r"{\stylesheet", r"\s5\sbasedon5", r"{\fonttbl", r"\f9", r"\cpg99", r"\ansicpg77", r"\deleted",
    r"{\upr", r"{\*\ud", r"\fcharset2", "Symbol;", r"\tab", r"\clvmrg", r"\clmrg", "\\",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_no_document_breaks_it(pieces: list[str]) -> None:
    (found,) = documents(Unit("a.rtf", "rtf", rtf(" ".join(pieces))))
    assert isinstance(found, Document)
