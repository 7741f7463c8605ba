"""How documents of Office are written, for the contract of readers."""

import json

from tests.documents import office, open_document
from tests.documents.markup_parts import DEEP, ENTITIES, NOTES, cells, swapped
from tests.documents.written_pdf import Page, pdf

from numerate.documents.testing import Markup


def word(body: str) -> bytes:
    """A Word document whose notes say their numbers."""
    notes = "".join(
        f'<w:footnote w:id="{number}">{office.paragraph(f"Note {number}.")}</w:footnote>'
        for number in NOTES
    )
    part = f"<w:footnotes {office.NAMESPACES}>{notes}</w:footnotes>"
    return office.word(body, footnotes=part)


def field(code: str, shown: str) -> str:
    return f'<w:fldSimple w:instr="{code}">{office.run(shown)}</w:fldSimple>'


DOCX = Markup(
    "a.docx",
    word,
    paragraph=lambda line: office.paragraph(*runs_of(line)),
    table=lambda rows: office.table(*(office.row(*row) for row in rows)),
    superscript=lambda text: office.run(text, '<w:vertAlign w:val="superscript"/>'),
    subscript=lambda text: office.run(text, '<w:vertAlign w:val="subscript"/>'),
    runs={
        "strong": lambda text: office.run(text, "<w:b/>"),
        "inserted": lambda text: f"<w:ins>{office.run(text)}</w:ins>",
        "formula": lambda text: f"<m:oMath><m:r><m:t>{text}</m:t></m:r></m:oMath>",
    },
    notes={"footnote": '<w:r><w:footnoteReference w:id="{}"/></w:r>'.format},
    boxes={
        "text box": lambda text: (
            f"<w:r><w:pict><v:shape><v:textbox><w:txbxContent>{office.paragraph(text)}"
            "</w:txbxContent></v:textbox></v:shape></w:pict></w:r>"
        )
    },
    blocks={"heading": lambda text: office.paragraph(text, style="Heading2")},
    hidden={
        "hidden": lambda text: office.run(text, "<w:vanish/>"),
        "deleted": lambda text: f"<w:del><w:r><w:delText>{text}</w:delText></w:r></w:del>",
    },
    marks={
        "citation": lambda text: (
            f'<w:fldSimple w:instr="CITATION L">{office.run(text)}</w:fldSimple>'
        ),
        "page": lambda text: f'<w:fldSimple w:instr="PAGEREF L">{office.run(text)}</w:fldSimple>',
    },
    bombs={
        "zip": office.word(" " * (5 << 20)),
        "entities": swapped(office.word(""), "word/document.xml", ENTITIES + "<w>&g;</w>"),
        "nesting": office.word("<w:ins>" * DEEP + "</w:ins>" * DEEP),
        "spans": office.word(
            office.table(*[office.row(office.cell("5", '<w:gridSpan w:val="999999"/>'))] * 9000)
        ),
    },
    fetching=lambda at: office.replaced(
        office.word(office.paragraph("5")),
        {
            "word/_rels/document.xml.rels": '<Relationships><Relationship Id="r1" '
            f'Type="http://x/styles" Target="{at}" TargetMode="External"/></Relationships>'
        },
    ),
)


def runs_of(line: str) -> list[str]:
    """Pieces of a line that are marked up, and those between them."""
    found, depth = list[str](), 0
    for part in line.replace("<", "\0<").replace(">", ">\0").split("\0"):
        if not part.startswith("<"):
            if depth:
                found[-1] += part
            elif part:
                found.append(part)
            continue
        if not depth and not part.startswith("</"):
            found.append("")
        found[-1] += part
        depth += -1 if part.startswith("</") else 0 if part.endswith("/>") else 1
    return found


LARGE = 'table:number-columns-spanned="9999" table:number-rows-spanned="9999"'
ODT = Markup(
    "a.odt",
    open_document.odt,
    paragraph=open_document.p,
    table=lambda rows: open_document.table(*(open_document.row(*row) for row in rows)),
    superscript=lambda text: open_document.span(text, "Raised"),
    subscript=lambda text: open_document.span(text, "Lowered"),
    runs={
        "strong": lambda text: open_document.span(text, "Strong"),
        "link": '<text:a xlink:href="https://example.org">{}</text:a>'.format,
        "formula": lambda text: (
            f"<draw:frame><draw:object><math><mn>{text}</mn></math></draw:object></draw:frame>"
        ),
    },
    notes={
        "footnote": lambda text: open_document.note(text),
        "endnote": lambda text: open_document.note(text, "endnote"),
    },
    boxes={"text box": lambda text: open_document.box(open_document.p(text))},
    blocks={
        "heading": '<text:h text:outline-level="1">{}</text:h>'.format,
        "item": "<text:list><text:list-item><text:p>{}</text:p></text:list-item>"
        "</text:list>".format,
        "section": "<text:section><text:p>{}</text:p></text:section>".format,
        "caption": lambda text: open_document.p(f"Figure of {text}", style="Illustration"),
    },
    hidden={
        "hidden": lambda text: open_document.span(text, "Hidden"),
        "comment": "<office:annotation><text:p>{}</text:p></office:annotation>".format,
    },
    hidden_blocks={
        "deleted": "<text:tracked-changes><text:changed-region><text:deletion><text:p>{}</text:p>"
        "</text:deletion></text:changed-region></text:tracked-changes>".format,
        "contents": "<text:table-of-content><text:index-body><text:p>{}</text:p></text:index-body>"
        "</text:table-of-content>".format,
    },
    marks={
        "citation": "<text:bibliography-mark>[{}]</text:bibliography-mark>".format,
        "reference": '<text:bookmark-ref text:reference-format="chapter">{}'
        "</text:bookmark-ref>".format,
        "page": '<text:bookmark-ref text:reference-format="page">{}</text:bookmark-ref>'.format,
    },
    bombs={
        "zip": open_document.odt(open_document.p(" " * (5 << 20))),
        "entities": swapped(open_document.odt(""), "content.xml", ENTITIES + "<w>&g;</w>"),
        "nesting": open_document.odt("<text:list>" * DEEP + "</text:list>" * DEEP),
        "spans": open_document.odt(
            open_document.table(*[open_document.row(open_document.cell("5", LARGE), "6")] * 900)
        ),
        "spaces": open_document.odt(open_document.p("<text:s text:c='999999999'/>" * 900 + "5")),
    },
    fetching=lambda at: open_document.odt(
        f'<text:section><text:section-source xlink:href="{at}"/>{open_document.p("5")}'
        f'</text:section><draw:frame><draw:object xlink:href="{at}"/>'
        f'<draw:image xlink:href="{at}"/></draw:frame>'
    ),
)

FODT = Markup(
    "a.fodt",
    open_document.fodt,
    **{
        name: getattr(ODT, name)
        for name in (
            "paragraph", "table", "superscript", "subscript", "runs", "notes", "boxes", "blocks",
            "hidden", "hidden_blocks", "marks",
        )
    },
    bombs={"entities": (ENTITIES + "<w>&g;</w>").encode()},
    fetching=lambda at: (
        open_document.fodt(f'<text:section><text:section-source xlink:href="{at}"/></text:section>')
        .replace(b"?>", f'?><!DOCTYPE office:document SYSTEM "{at}">'.encode(), 1)
    ),
)  # fmt: skip

EDGES = r"\cellx1000\cellx2000\cellx3000"
RTF = Markup(
    "a.rtf",
    lambda body: rf"{{\rtf1\ansi {body}}}".encode(),
    paragraph=r"\pard {}\par ".format,
    table=lambda rows: rf"\trowd{EDGES}" + cells(rows, r"{}\row ", r"\pard\intbl {}\cell "),
    superscript=r"{{\super {}}}".format,
    subscript=r"{{\sub {}}}".format,
    runs={
        "strong": r"{{\b {}}}".format,
        "result": r"{{\field{{\*\fldinst = 7 * 9}}{{\fldrslt {}}}}}".format,
        "inserted": r"{{\revised {}}}".format,
        "formula": r"{{\mmath{{\*\moMath{{\mr {}}}}}}}".format,
    },
    notes={
        "footnote": r"{{\super\chftn}}{{\footnote\pard\plain\chftn\~{}\par}}".format,
        "endnote": r"{{\footnote\ftnalt {}}}".format,
    },
    boxes={"text box": r"{{\shp{{\*\shpinst{{\shptxt {}\par}}}}}}".format},
    blocks={
        "heading": r"\pard\outlinelevel0 {}\par ".format,
        "item": r"\pard\fi-360\bullet\tab {}\par ".format,
    },
    hidden={
        "hidden": r"{{\v {}}}".format,
        "deleted": r"{{\deleted {}}}".format,
        "comment": r"{{\*\annotation {}}}".format,
        "code": r"{{\field{{\*\fldinst QUOTE {}}}{{\fldrslt x}}}}".format,
        "picture": r"{{\pict\wmetafile8 {}}}".format,
    },
    hidden_blocks={
        "header": r"{{\header {}\par}}".format,
        "info": r"{{\info{{\title {}}}}}".format,
    },
    marks={
        "citation": r"{{\field{{\*\fldinst ADDIN ZOTERO_ITEM 5}}{{\fldrslt [{}]}}}}".format,
        "reference": r"{{\field{{\*\fldinst REF a}}{{\fldrslt {}}}}}".format,
        "page": r"{{\field{{\*\fldinst PAGEREF a}}{{\fldrslt {}}}}}".format,
    },
    bombs={
        "nesting": rb"{\rtf1 " + b"{" * DEEP,
        "nested cells": rb"{\rtf1 \intbl\itap999999 5\nestcell" + rb"\nestrow" * 900,
        "spans": rb"{\rtf1 \trowd\cellx1\cellx999999\intbl 5\cell 6\cell\row" * 900,
        "binary": rb"{\rtf1 {\pict\bin99999999999 }}",
    },
    fetching=lambda at: (
        rf'{{\rtf1{{\*\template {at}}}{{\field{{\*\fldinst INCLUDETEXT "{at}"}}{{\fldrslt 5}}}}'
        rf'{{\field{{\*\fldinst INCLUDEPICTURE "{at}"}}{{\fldrslt 6}}}}}}'
    ).encode(),
)


def printed(body: str) -> bytes:
    page = Page()
    for number, line in enumerate(body.split("\n")):
        page.text(60, 780 - 40 * number, line.replace("\t", " "))
    return pdf([page])


PDF = Markup("a.pdf", printed, paragraph="{}\n".format)


def workbook(body: str) -> bytes:
    """Of rows of JSON; other sheets are as they were."""
    rows = [json.loads(line) for line in body.splitlines() if line.startswith("[")]
    lines = "".join(
        f'<row r="{number}">'
        + "".join(
            f'<c r="{"ABC"[column]}{number}"><v>{one}</v></c>'
            if one.isdecimal()
            else f'<c r="{"ABC"[column]}{number}" t="inlineStr"><is><t>{one}</t></is></c>'
            for column, one in enumerate(row)
        )
        + "</row>"
        for number, row in enumerate(rows, 1)
    )
    return office.replaced(
        (office.DATA / "office/dogs.xlsx").read_bytes(),
        {"xl/worksheets/sheet1.xml": SHEET.format(f"<sheetData>{lines}</sheetData>")},
    )


SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">{}</worksheet>'
)
XLSX = Markup(
    "a.xlsx",
    workbook,
    table=lambda rows: "".join(json.dumps(row) + "\n" for row in rows),
    bombs={
        "entities": swapped(workbook(""), "xl/worksheets/sheet1.xml", ENTITIES + "<w>&g;</w>"),
        "far away": swapped(
            workbook(""),
            "xl/worksheets/sheet1.xml",
            SHEET.format(
                '<sheetData><row r="1048576"><c r="XFD1048576"><v>5</v></c></row></sheetData>'
            ),
        ),
    },
)
