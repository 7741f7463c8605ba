"""PDFs as a program could write them, with text, rules and pictures where a test wants them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass
class Page:
    """Points from the lower left corner, as in PDF."""

    width: float = 595
    height: float = 842
    rotate: int = 0
    content: list[str] = field(default_factory=list)
    has_picture: bool = False

    def text(
        self, x: float, y: float, text: str, *, size: float = 10, bold: bool = False, turn: int = 0
    ) -> "Page":
        cos, sin = {0: (1, 0), 90: (0, 1), 180: (-1, 0), 270: (0, -1)}[turn]
        told = text.encode("cp1252").decode("latin-1")
        for sign in ("\\", "(", ")"):
            told = told.replace(sign, "\\" + sign)
        font = "F2" if bold else "F1"
        self.content.append(
            f"BT /{font} {size} Tf {cos} {sin} {-sin} {cos} {x} {y} Tm ({told}) Tj ET"
        )
        return self

    def lines(
        self, x: float, y: float, lines: Iterable[str], *, size: float = 10, leading: float = 12
    ) -> "Page":
        for number, line in enumerate(lines):
            self.text(x, y - number * leading, line, size=size)
        return self

    def rule(self, x: float, y: float, to: float) -> "Page":
        self.content.append(f"0.5 w {x} {y} m {to} {y} l S")
        return self

    def picture(self) -> "Page":
        self.has_picture = True
        self.content.append("q 500 0 0 700 50 50 cm /P Do Q")
        return self


def pdf(pages: Sequence[Page], *, catalog: str = "") -> bytes:
    """A whole file, with an xref table that is right."""
    kids = " ".join(f"{6 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {catalog} >>".encode(),
        f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>".encode(),
        _font("Helvetica"),
        _font("Helvetica-Bold"),
        _stream(
            b"\x80",
            "/Type /XObject /Subtype /Image /Width 1 /Height 1 "
            "/ColorSpace /DeviceGray /BitsPerComponent 8",
        ),
    ]
    for page in pages:
        picture = "/XObject << /P 5 0 R >>" if page.has_picture else ""
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {page.width} {page.height}] "
            f"/Rotate {page.rotate} /Contents {len(objects) + 2} 0 R "
            f"/Resources << /Font << /F1 3 0 R /F2 4 0 R >> {picture} >> >>".encode()
        )
        objects.append(_stream("\n".join(page.content).encode("latin-1")))
    written = bytearray(b"%PDF-1.7\n")
    places = []
    for number, one in enumerate(objects, 1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    start = len(written)
    written += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    written += b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    return bytes(written) + trailer.encode()


def _font(name: str) -> bytes:
    told = f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>"
    return told.encode()


def _stream(data: bytes, entries: str = "") -> bytes:
    return f"<< {entries} /Length {len(data)} >>\nstream\n".encode() + data + b"\nendstream"
