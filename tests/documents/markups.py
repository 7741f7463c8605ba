"""How each format is written, for the contract of readers."""

import json

from tests.documents.markup_parts import DEEP, ENTITIES, NOTES, cells
from tests.documents.office_markups import DOCX, FODT, ODT, PDF, RTF, XLSX
from tests.documents.samples import NAMESPACE

from numerate.documents.testing import Markup


def between_bars(rows: list[list[str]]) -> str:
    head, *body = (f"| {' | '.join(cells)} |\n" for cells in rows)
    return f"\n{head}|{' --- |' * len(rows[0])}\n{''.join(body)}\n"


def markdown(body: str) -> bytes:
    notes = "".join(
        f"[^n{number}]: Note {number}.\n\n" for number in NOTES if f"n{number}]" in body
    )
    return f"{body}\n{notes}".encode()


MARKDOWN = Markup(
    "a.md",
    markdown,
    paragraph="{}\n\n".format,
    table=between_bars,
    superscript="^{}^".format,
    subscript="~{}~".format,
    runs={"strong": "**{}**".format, "link": "[{}](https://example.org/1)".format},
    notes={"footnote": "[^n{}]".format},
    blocks={"heading": "# {}\n\n".format, "item": "- {}\n\n".format, "quote": "> {}\n\n".format},
    hidden={"comment": "<!-- {} -->".format, "code": "`{}`".format},
    hidden_blocks={"code": "```\n{}\n```\n\n".format},
    marks={"citation": "[@low{}]".format, "reference": "[{}](#t1)".format},
    bombs={"nesting": b"> " * 9000 + b"5", "brackets": b"[" * 9000, "emphasis": b"*a **b " * 9000},
    fetching=lambda at: f'![5]({at}) <img src="{at}">\n<iframe src="{at}"></iframe>'.encode(),
)

HTML = Markup(
    "a.html",
    lambda body: f"<html><body>{body}</body></html>".encode(),
    paragraph="<p>{}</p>".format,
    table=lambda rows: "<table>{}</table>".format(
        cells(rows[:1], "<tr>{}</tr>", "<th>{}</th>")
        + cells(rows[1:], "<tr>{}</tr>", "<td>{}</td>")
    ),
    superscript="<sup>{}</sup>".format,
    subscript="<sub>{}</sub>".format,
    runs={"strong": "<b>{}</b>".format, "MathML": "<math><mn>{}</mn></math>".format},
    blocks={"heading": "<h2>{}</h2>".format, "item": "<ul><li>{}</li></ul>".format},
    hidden={"comment": "<!-- {} -->".format, "hidden": "<span hidden>{}</span>".format},
    hidden_blocks={"script": "<script>{}</script>".format, "form": "<form>{}</form>".format},
    bombs={
        "nesting": b"<div>" * DEEP + b"5",
        "spans": b"<table>" + b"<tr><td colspan=9999 rowspan=9999>5<td>6</tr>" * 900 + b"</table>",
        "entities": (ENTITIES + "<html><body><p>&g;</p></body></html>").encode(),
    },
    fetching=lambda at: (
        f'<!DOCTYPE html SYSTEM "{at}"><html><head><link rel="stylesheet" href="{at}"></head>'
        f'<body><img src="{at}"><iframe src="{at}"></iframe><p>5</p></body></html>'
    ).encode(),
)

JATS = Markup(
    "a.xml",
    lambda body: f"<article><body>{body}</body></article>".encode(),
    paragraph="<p>{}</p>".format,
    table=lambda rows: "<table-wrap><table><thead>{}</thead>{}</table></table-wrap>".format(
        cells(rows[:1], "<tr>{}</tr>", "<th>{}</th>"), cells(rows[1:], "<tr>{}</tr>", "<td>{}</td>")
    ),
    superscript="<sup>{}</sup>".format,
    subscript="<sub>{}</sub>".format,
    runs={"strong": "<bold>{}</bold>".format},
    blocks={"item": "<list><list-item><p>{}</p></list-item></list>".format},
    hidden={"comment": "<!-- {} -->".format},
    marks={
        "citation": '<xref ref-type="bibr" rid="b">{}</xref>'.format,
        "reference": '<xref ref-type="fig" rid="f">{}</xref>'.format,
    },
    bombs={
        "entities": (ENTITIES + "<article><body><p>&g;</p></body></article>").encode(),
        "nesting": b"<article><body>" + b"<sec>" * DEEP,
        "spans": (
            "<article><body><table-wrap><table>"
            + '<tr><td colspan="9999" rowspan="9999">5</td></tr>' * 900
            + "</table></table-wrap></body></article>"
        ).encode(),
    },
    fetching=lambda at: (
        f'<!DOCTYPE article SYSTEM "{at}"><?xml-stylesheet href="{at}"?><article '
        f'xmlns:xi="http://www.w3.org/2001/XInclude"><body><xi:include href="{at}"/><p>5</p>'
        "</body></article>"
    ).encode(),
)

LATEXML = Markup(
    "a.xml",
    lambda body: f'<document xmlns="{NAMESPACE}">{body}</document>'.encode(),
    paragraph="<para><p>{}</p></para>".format,
    superscript="<sup>{}</sup>".format,
    subscript="<sub>{}</sub>".format,
    runs={"strong": '<text font="bold">{}</text>'.format},
    hidden={"comment": "<!-- {} -->".format},
    marks={"citation": "<cite>[<bibref>{}</bibref>]</cite>".format},
    bombs={
        "entities": (ENTITIES + f'<document xmlns="{NAMESPACE}">&g;</document>').encode(),
        "nesting": f'<document xmlns="{NAMESPACE}">'.encode() + b"<para>" * DEEP,
    },
    fetching=lambda at: (
        f'<!DOCTYPE document SYSTEM "{at}"><document xmlns="{NAMESPACE}"><para><p>5</p></para>'
        "</document>"
    ).encode(),
)

LATEX = Markup(
    "a.tex",
    lambda body: f"\\documentclass{{article}}\\begin{{document}}\n{body}\\end{{document}}".encode(),
    paragraph="{}\n\n".format,
    table=lambda rows: "\\begin{{tabular}}{{lll}}\n{}\\end{{tabular}}\n\n".format(
        "\\\\ \n".join(" & ".join(row) for row in rows).replace("\\\\", "\\\\ \\hline", 1)
        + "\\\\\n"
    ),
    superscript="$^{{{}}}$".format,
    subscript="$_{{{}}}$".format,
    runs={"strong": "\\textbf{{{}}}".format, "formula": "${}$".format},
    notes={"footnote": "\\footnote{{{}}}".format},
    blocks={
        "heading": "\\section{{{}}}\n".format,
        "item": "\\begin{{itemize}}\\item {}\\end{{itemize}}\n".format,
        "caption": "\\begin{{figure}}\\caption{{{}}}\\end{{figure}}\n".format,
    },
    hidden={"comment": "% {}\n".format, "label": "\\label{{s{}}}".format},
    hidden_blocks={"comment": "\\begin{{comment}}\n{}\n\\end{{comment}}\n".format},
    marks={"citation": "\\cite{{low{}}}".format, "reference": "\\ref{{t{}}}".format},
    bombs={
        "macros": b"\\def\\a{9}"
        + b"".join(
            b"\\def\\%c{%s}" % (new, b"\\%c" % old * 20)
            for old, new in zip(b"abcdef", b"bcdefg", strict=True)
        )
        + b"\\begin{document}\\g\\end{document}",
        "nesting": b"\\begin{document}" + b"{" * DEEP + b"5",
        "spans": b"\\begin{document}\\begin{tabular}{l}"
        + b"\\multicolumn{99999}{c}{5}\\\\" * 900
        + b"\\end{tabular}\\end{document}",
    },
    fetching=lambda at: (
        f"\\documentclass{{article}}\\begin{{document}}\\input{{{at}}}\\input{{{at[7:]}}}"
        f"\\includegraphics{{{at}}}5\\write18{{curl {at}}}\\end{{document}}"
    ).encode(),
)


def notebook(body: str) -> bytes:
    return json.dumps({"cells": [{"cell_type": "markdown", "source": [body]}]}).encode()


NOTEBOOK = Markup(
    "a.ipynb",
    lambda body: notebook(markdown(body).decode()),
    paragraph=MARKDOWN.paragraph,
    table=MARKDOWN.table,
    superscript=MARKDOWN.superscript,
    runs=MARKDOWN.runs,
    notes=MARKDOWN.notes,
    blocks=MARKDOWN.blocks,
    hidden=MARKDOWN.hidden,
    marks=MARKDOWN.marks,
    bombs={"nesting": b"[" * 90_000, "objects": b'{"cells":' * 9000},
    fetching=lambda at: notebook(f"![5]({at})"),
)

TEXT = Markup("a.txt", str.encode, paragraph="{}\n\n".format, bombs={"long": b"5 " * (1 << 20)})

JSONL = Markup(
    "a.jsonl",
    str.encode,
    paragraph=lambda text: json.dumps({"text": text}) + "\n",
    bombs={"nesting": b"[" * 90_000},
)


MARKUPS: dict[str, tuple[str, Markup]] = {
    "text": ("text", TEXT),
    "markdown": ("markdown", MARKDOWN),
    "notebook": ("notebook", NOTEBOOK),
    "jsonl": ("jsonl", JSONL),
    "latex": ("latex", LATEX),
    "jats": ("jats", JATS),
    "page": ("page", HTML),
    "latexml": ("latexml", LATEXML),
    "docx": ("docx", DOCX),
    "odt": ("odt", ODT),
    "odt, flat": ("odt", FODT),
    "rtf": ("rtf", RTF),
    "pdf": ("pdf", PDF),
    "xlsx": ("xlsx", XLSX),
}
