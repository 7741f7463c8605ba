"""Documents of Office made for a test: real files with parts of them replaced."""

import zipfile
from io import BytesIO
from pathlib import Path

DATA = Path(__file__).parents[1] / "data"
REPORT = (DATA / "report/report.docx").read_bytes()
NAMESPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:v="urn:schemas-microsoft-com:vml"'
)


def replaced(package: bytes, parts: dict[str, str | bytes | None]) -> bytes:
    """With other parts, new ones among them; without those that are None."""
    made = BytesIO()
    with zipfile.ZipFile(BytesIO(package)) as old, zipfile.ZipFile(made, "w") as new:
        contents: dict[str, str | bytes | None] = {name: old.read(name) for name in old.namelist()}
        for name, content in (contents | parts).items():
            if content is not None:
                new.writestr(name, content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def word(body: str, **parts: str) -> bytes:
    """A Word document with this body; parts by their names in `word/`, without suffix."""
    others = {f"word/{name}.xml": content for name, content in parts.items()}
    document = f"<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>"
    return replaced(REPORT, {"word/document.xml": document, **others})


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*content: str, style: str = "", properties: str = "") -> str:
    """Of runs, or of texts that are to be."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    runs = "".join(one if one.startswith("<") else run(one) for one in content)
    return f"<w:p><w:pPr>{named}{properties}</w:pPr>{runs}</w:p>"


def table(*rows: str) -> str:
    return f"<w:tbl>{''.join(rows)}</w:tbl>"


def row(*cells: str, properties: str = "") -> str:
    made = (one if one.startswith("<") else cell(one) for one in cells)
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(made)}</w:tr>"


def cell(content: str, properties: str = "") -> str:
    inside = content if content.startswith("<") else paragraph(content)
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inside}</w:tc>"
