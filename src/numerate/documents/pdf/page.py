"""What stands on a page of a PDF: its characters and its rules, as arrays.

PDFium reads the file. Nothing in it is run, and what it embeds or links to is not opened.
"""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from numerate.errors import NotInstalledError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

MAX_OBJECTS = 50_000  # drawn on one page, of which rules are looked for
MAX_CHARACTERS = 200_000  # of one page
_MAX_SEGMENTS = 400  # of one path: a grid has fewer, a curve of data more
_THIN = 2.5  # points: a rule is not thicker
_SHORT = 8.0  # points: nor shorter
_BOLD = ("bold", "black", "heavy", "demi")


def pdfium(name: str) -> ModuleType:
    """The library, or one line of a document's that says how to have it."""
    try:
        import pypdfium2.raw
    except ImportError:
        reason = "a PDF, which is read after: pip install 'numerate[documents]'"
        raise NotInstalledError(name, reason) from None
    raw: ModuleType = pypdfium2.raw
    return raw


@dataclass(frozen=True, slots=True, eq=False)
class Glyphs:
    """Characters in the order in which they were drawn; x to the right, y down, in points."""

    codes: Ints
    left: Floats
    right: Floats
    base: Floats  # y of the line that they stand on
    size: Floats  # of the font
    bold: Flags
    after_space: Flags  # white space was drawn before it, or is to be read there
    before_space: Flags  # white space was drawn after it
    goes_on: Flags  # it is of the same string as the one before it

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, which: Ints | Flags | slice) -> "Glyphs":
        return Glyphs(*(getattr(self, name)[which] for name in self.__slots__))


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """Straight lines, along the text or across it: where each begins and ends, and where it is."""

    start: Floats
    end: Floats
    at: Floats

    def __len__(self) -> int:
        return len(self.at)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """All that is written on a page in one direction, turned so that it is read from the left."""

    glyphs: Glyphs
    across: Rules  # under and over text
    down: Rules  # beside it
    width: float
    height: float


def read_page(raw: ModuleType, page: Any) -> tuple[list[Side], int]:
    """One side; or several, where tables or labels are written in other directions. And how many
    characters there are, of which the first `MAX_CHARACTERS` are read."""
    text = raw.FPDFText_LoadPage(page)
    if not text:
        return [], 0
    try:
        count = raw.FPDFText_CountChars(text)
        characters = _characters(raw, text)
    finally:
        raw.FPDFText_ClosePage(text)
    quarter = characters["quarter"]
    rules = _rules(raw, page) if len(quarter) else np.empty((0, 4))
    sides = [
        _side(characters[quarter == turned], rules, turned)
        for turned in np.unique(quarter)[np.argsort(-np.unique(quarter, return_counts=True)[1])]
    ]
    return sides, count


_CHARACTER = np.dtype(
    [
        ("code", np.int64),
        ("left", np.float64),
        ("bottom", np.float64),
        ("right", np.float64),
        ("top", np.float64),
        ("x", np.float64),
        ("y", np.float64),
        ("size", np.float64),
        ("bold", np.bool_),
        ("quarter", np.int64),  # of a full turn, against the clock
        ("after_space", np.bool_),
        ("before_space", np.bool_),
        ("goes_on", np.bool_),
    ]
)


_BEFORE_SPACE = (_CHARACTER.names or ()).index("before_space")


def _characters(raw: ModuleType, text: Any) -> Any:
    """Return a structured array, without white space."""
    rows: list[list[Any]] = []
    box, x, y = raw.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
    looks: dict[int, tuple[float, bool, int]] = {}
    after_space, high, last = True, 0, 0
    for index in range(min(raw.FPDFText_CountChars(text), MAX_CHARACTERS)):
        code = raw.FPDFText_GetUnicode(text, index)
        if (code <= 32 and code != 2) or code in (0xA0, 0x2028, 0xFEFF):
            after_space = True
            if rows and not raw.FPDFText_IsGenerated(text, index):
                rows[-1][_BEFORE_SPACE] = True
            continue
        if 0xD800 <= code < 0xDC00:  # the first half of a character beyond the basic plane
            high = code
            continue
        if 0xDC00 <= code < 0xE000:
            code = 0x10000 + ((high - 0xD800) << 10) + code - 0xDC00 if high else 0xFFFD
            high = 0
        drawn = raw.FPDFText_GetTextObject(text, index)
        key = ctypes.cast(drawn, ctypes.c_void_p).value or 0
        look = looks.get(key)
        if look is None:
            look = looks[key] = _look(raw, text, index)
        raw.FPDFText_GetLooseCharBox(text, index, box)
        raw.FPDFText_GetCharOrigin(text, index, x, y)
        place = (box.left, box.bottom, box.right, box.top, x.value, y.value)
        rows.append([code, *place, *look, after_space, False, key == last])
        after_space, last = False, key
    return np.array(list(map(tuple, rows)), dtype=_CHARACTER)


def _look(raw: ModuleType, text: Any, index: int) -> tuple[float, bool, int]:
    """The size of a font on the page, whether it is bold, and in which direction it is written."""
    matrix = raw.FS_MATRIX()
    raw.FPDFText_GetMatrix(text, index, matrix)
    size = raw.FPDFText_GetFontSize(text, index) * np.hypot(matrix.c, matrix.d)
    angle = np.arctan2(matrix.b, matrix.a)
    name = ctypes.create_string_buffer(128)
    flags = ctypes.c_int()
    raw.FPDFText_GetFontInfo(text, index, name, len(name), flags)
    told = name.value.decode("ascii", "replace").lower()
    bold = any(word in told for word in _BOLD) or raw.FPDFText_GetFontWeight(text, index) >= 600
    return abs(float(size)) or 1.0, bold, round(float(angle) / (np.pi / 2)) % 4


def _side(characters: Any, rules: Floats, quarter: int) -> Side:
    """Turned back by quarters, with the upper left corner of what is written at the origin."""
    left, low, right, high = (characters[name] for name in ("left", "bottom", "right", "top"))
    x, y = characters["x"], characters["y"]
    lines = rules
    for _ in range(quarter):  # clockwise: x' = y, y' = −x
        left, low, right, high = low, -right, high, -left
        x, y = y, -x
        lines = np.stack([lines[:, 1], -lines[:, 2], lines[:, 3], -lines[:, 0]], axis=1)
    x0, y1 = left.min(initial=0.0), high.max(initial=0.0)
    glyphs = Glyphs(
        characters["code"],
        np.minimum(left, x) - x0,
        np.maximum(right, left) - x0,
        y1 - y,
        characters["size"],
        characters["bold"],
        characters["after_space"],
        characters["before_space"],
        characters["goes_on"],
    )
    a, b, c, d = lines.T
    flat = (d - b <= _THIN) & (c - a >= _SHORT)
    upright = (c - a <= _THIN) & (d - b >= _SHORT)
    across = Rules(a[flat] - x0, c[flat] - x0, y1 - (b[flat] + d[flat]) / 2)
    down = Rules(y1 - d[upright], y1 - b[upright], (a[upright] + c[upright]) / 2 - x0)
    return Side(glyphs, across, down, float(np.ptp(glyphs.right)), float(np.ptp(glyphs.base)))


def _rules(raw: ModuleType, page: Any) -> Floats:
    """Boxes of all straight lines: left, bottom, right, top."""
    found: list[tuple[float, float, float, float]] = []
    for index in range(min(raw.FPDFPage_CountObjects(page), MAX_OBJECTS)):
        drawn = raw.FPDFPage_GetObject(page, index)
        if raw.FPDFPageObj_GetType(drawn) == raw.FPDF_PAGEOBJ_PATH:
            found.extend(_lines_of(raw, drawn))
    return np.array(found, dtype=np.float64).reshape(-1, 4)


def _lines_of(raw: ModuleType, path: Any) -> Iterator[tuple[float, float, float, float]]:
    """A thin box is one; of a larger one that is stroked, the edges are."""
    sides = [ctypes.c_float() for _ in range(4)]
    raw.FPDFPageObj_GetBounds(path, *sides)
    left, low, right, high = (side.value for side in sides)
    if min(right - left, high - low) <= _THIN:
        yield left, low, right, high
        return
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(path, fill, stroke)
    count = raw.FPDFPath_CountSegments(path)
    if not stroke.value or count > _MAX_SEGMENTS:
        return
    m = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(path, m)
    x, y = ctypes.c_float(), ctypes.c_float()
    points: list[tuple[float, float]] = []
    for index in range(count):
        segment = raw.FPDFPath_GetPathSegment(path, index)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        point = (m.a * x.value + m.c * y.value + m.e, m.b * x.value + m.d * y.value + m.f)
        if points and raw.FPDFPathSegment_GetType(segment) == raw.FPDF_SEGMENT_LINETO:
            (x0, y0), (x1, y1) = points[-1], point
            yield min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)
        points.append(point)
