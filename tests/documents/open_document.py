"""OpenDocument texts made for a test."""

import zipfile
from io import BytesIO

TYPE = "application/vnd.oasis.opendocument.text"
NAMESPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{last}:1.0"'
    for name, last in {
        "office": "office", "text": "text", "table": "table", "style": "style",
        "draw": "drawing", "fo": "xsl-fo-compatible",
    }.items()
) + ' xmlns:xlink="http://www.w3.org/1999/xlink"'  # fmt: skip
STYLES = "".join(
    f'<style:style style:name="{name}" style:family="text">'
    f"<style:text-properties {properties}/></style:style>"
    for name, properties in {
        "Raised": 'style:text-position="super 58%"',
        "Lowered": 'style:text-position="-33% 58%"',
        "Hidden": 'text:display="none"',
    }.items()
)


def odt(body: str, styles: str = "", **parts: str | bytes) -> bytes:
    """A package with this body; parts by their paths, with `__` for a slash and `_` for a point."""
    made = BytesIO()
    with zipfile.ZipFile(made, "w") as package:
        package.writestr("mimetype", TYPE, zipfile.ZIP_STORED)
        content = (
            f"<office:document-content {NAMESPACES}><office:automatic-styles>{STYLES}{styles}"
            f"</office:automatic-styles><office:body><office:text>{body}</office:text>"
            "</office:body></office:document-content>"
        )
        package.writestr("content.xml", content, zipfile.ZIP_DEFLATED)
        for path, part in parts.items():
            package.writestr(path.replace("__", "/").replace("_", "."), part, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def fodt(body: str) -> bytes:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document {NAMESPACES} '
        f'office:mimetype="{TYPE}"><office:automatic-styles>{STYLES}</office:automatic-styles>'
        f"<office:body><office:text>{body}</office:text></office:body></office:document>"
    ).encode()


def p(*content: str, style: str = "") -> str:
    return f'<text:p text:style-name="{style}">{"".join(content)}</text:p>'


def span(text: str, style: str = "") -> str:
    return f'<text:span text:style-name="{style}">{text}</text:span>'


def note(text: str, kind: str = "footnote") -> str:
    return (
        f'<text:note text:note-class="{kind}"><text:note-citation>1</text:note-citation>'
        f"<text:note-body>{p(text)}</text:note-body></text:note>"
    )


def cell(content: str, attributes: str = "") -> str:
    inside = content if content.startswith("<") else p(content)
    return f"<table:table-cell {attributes}>{inside}</table:table-cell>"


def row(*cells: str, attributes: str = "") -> str:
    made = "".join(one if one.startswith("<table:") else cell(one) for one in cells)
    return f"<table:table-row {attributes}>{made}</table:table-row>"


def table(*rows: str, header: str = "") -> str:
    head = f"<table:table-header-rows>{header}</table:table-header-rows>" if header else ""
    return f"<table:table>{head}{''.join(rows)}</table:table>"


def box(*paragraphs: str) -> str:
    return f"<draw:frame><draw:text-box>{''.join(paragraphs)}</draw:text-box></draw:frame>"
