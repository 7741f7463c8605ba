"""Words and lines of a page of a PDF, in the order in which they are read."""

from dataclasses import dataclass, field

import numpy as np

from numerate.documents.pdf.page import Flags, Floats, Glyphs, Ints

RAISED, LOWERED = 1, -1
_MIRRORED = {ord(a): ord(b) for a, b in ("()", ")(", "[]", "][", "{}", "}{", "<>", "><")}
_SMALLER = 0.88  # of the line's size: scripts are
_APART = 0.3  # em between two characters that are of two words, whatever was drawn
_SPACE = 0.45  # em at most, between two words that are not stretched apart
_GLUED = 0.09  # em between two words that are one


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Boxes of words; which characters each has is a range of `glyphs`."""

    glyphs: Glyphs
    first: Ints
    last: Ints  # exclusive
    left: Floats
    right: Floats
    base: Floats
    size: Floats
    apart: Flags  # no space was drawn before it, in a document that draws spaces

    def __len__(self) -> int:
        return len(self.first)

    def __getitem__(self, which: Ints | Flags) -> "Words":
        picked = (getattr(self, name)[which] for name in self.__slots__[1:])
        return Words(self.glyphs, *picked)

    @property
    def top(self) -> Floats:
        return self.base - 0.75 * self.size

    @property
    def bottom(self) -> Floats:
        return self.base + 0.2 * self.size

    def text(self, index: int) -> str:
        return "".join(map(chr, self.glyphs.codes[self.first[index] : self.last[index]]))


_NONE = np.empty(0)
_NO_FLAGS = np.empty(0, dtype=np.bool_)
_NO_INTS = np.empty(0, dtype=np.int64)
_NO_GLYPHS = Glyphs(
    _NO_INTS, _NONE, _NONE, _NONE, _NONE, _NO_FLAGS, _NO_FLAGS, _NO_FLAGS, _NO_FLAGS
)
NO_WORDS = Words(_NO_GLYPHS, _NO_INTS, _NO_INTS, _NONE, _NONE, _NONE, _NONE, _NO_FLAGS)


def words_of(glyphs: Glyphs) -> Words:
    """Cut characters where white space was drawn, and where the next one stands elsewhere."""
    if not len(glyphs):
        return NO_WORDS
    em = np.maximum(glyphs.size[1:], glyphs.size[:-1])
    gap = glyphs.left[1:] - glyphs.right[:-1]
    rise = np.abs(glyphs.base[1:] - glyphs.base[:-1])
    cut = glyphs.after_space[1:] | (gap > _APART * em) | (gap < -0.6 * em) | (rise > 0.65 * em)
    first = np.concatenate([[0], np.flatnonzero(cut) + 1])
    last = np.append(first[1:], len(glyphs))
    size = np.maximum.reduceat(glyphs.size, first)
    is_large = glyphs.size >= _SMALLER * np.repeat(size, last - first)
    goes_on = glyphs.before_space[:-1] | glyphs.goes_on[1:]
    goes_on &= (gap > -0.6 * em) & (rise < 0.65 * em)
    base = np.where(is_large, glyphs.base, -np.inf)  # scripts do not say where a word stands
    return Words(
        glyphs,
        first,
        last,
        np.minimum.reduceat(glyphs.left, first),
        np.maximum.reduceat(glyphs.right, first),
        np.maximum.reduceat(base, first),
        size,
        np.append(True, ~goes_on)[first],
    )


def drawn_spaces(words: Words) -> tuple[int, int]:
    """Count the gaps that have a space drawn in them, and all gaps that are as wide as a space.

    TeX draws no spaces; LibreOffice, Word and browsers draw one between two words of a cell, and
    none between two cells.
    """
    gap = (words.left[1:] - words.right[:-1]) / words.size[1:]
    level = np.abs(words.base[1:] - words.base[:-1]) < 0.1 * words.size[1:]
    narrow = level & (gap > _GLUED) & (gap < _SPACE)
    return int((narrow & ~words.apart[1:]).sum()), int(narrow.sum())


@dataclass(slots=True, eq=False)
class Run:
    """Characters of one level: on the line, raised or lowered."""

    level: int
    text: str


@dataclass(slots=True, eq=False)
class Line:
    """Words that stand side by side, in one column."""

    words: Words  # from left to right
    left: float
    right: float
    base: float
    size: float
    is_bold: bool
    first_word: float  # how wide it is
    runs: list[Run] = field(repr=False)
    ends_with_space: bool = False  # white space was drawn after its last word
    page: int = 0
    column: tuple[float, float] = (0.0, 0.0)  # from where to where others of its column reach

    def forget_words(self) -> None:
        """Once it is known what it is of: they hold on to all that stands on the page."""
        self.words = NO_WORDS

    @property
    def text(self) -> str:
        return "".join(run.text for run in self.runs)

    @property
    def top(self) -> float:
        return self.base - 0.75 * self.size

    @property
    def bottom(self) -> float:
        return self.base + 0.2 * self.size


def lines_of(words: Words) -> list[Line]:
    """Those of one column, from the top down."""
    if not len(words):
        return []
    lines = [make_line(words[np.array(row)]) for row in _lines(np.arange(len(words)), words)]
    return sorted(lines, key=lambda line: (line.base, line.left))


def outer_lines(words: Words, count: int) -> list[Line]:
    """The first and the last of a page; what is between them is not looked at."""
    if not len(words):
        return []
    rows = _lines(np.arange(len(words)), words)
    rows.sort(key=lambda row: float(words.base[row[0]]))
    outer = rows if len(rows) <= 2 * count else [*rows[:count], *rows[-count:]]
    return [make_line(words[np.array(row)]) for row in outer]


def _lines(which: Ints, words: Words) -> list[list[int]]:
    """Which words stand on one line, with scripts of what they stand beside."""
    counts = (words.last - words.first)[which]
    usual = float(np.median(np.repeat(words.size[which], counts)))
    small = words.size[which] < _SMALLER * usual
    rows = _rows(which[~small], words)
    left_over = []
    for index in which[small].tolist():
        home = _line_beside(index, rows, words)
        if home is None:
            left_over.append(index)
        else:
            home.append(index)
    if left_over:  # smaller type, with scripts of its own
        rows += _lines(np.array(left_over, dtype=np.int64), words)
    return rows


def _rows(which: Ints, words: Words) -> list[list[int]]:
    """Words by the line that they stand on."""
    rows: list[list[int]] = []
    reach = -np.inf
    for index in which[np.argsort(words.base[which], kind="stable")].tolist():
        base, size = words.base[index], words.size[index]
        if not rows or base > reach + 0.3 * size:
            rows.append([])
            reach = base
        rows[-1].append(index)
    return rows


def _line_beside(index: int, rows: list[list[int]], words: Words) -> list[int] | None:
    """The line that a small word is a script of."""
    best, nearest = None, np.inf
    for row in rows:
        near = np.array(row)
        size = words.size[near].max()
        rise = words.base[near[0]] - words.base[index]
        if not -0.4 * size <= rise <= 0.8 * size:
            continue
        gaps = np.maximum(
            words.left[near] - words.right[index], words.left[index] - words.right[near]
        )
        distance = float(np.maximum(gaps, 0).min()) + abs(rise)
        if gaps.min() < 0.5 * size and distance < nearest:
            best, nearest = row, distance
    return best


def make_line(words: Words) -> Line:
    words = words[np.argsort(words.left, kind="stable")]
    counts = words.last - words.first
    glyphs = words.glyphs[_ranges(words.first, counts)]
    if _is_from_right(glyphs.codes):  # as it was drawn, since parts of it are read from the left
        words = words[np.argsort(words.first)]
        counts = words.last - words.first
        glyphs = words.glyphs[_ranges(words.first, counts)]
        glyphs.codes[:] = [_MIRRORED.get(code, code) for code in glyphs.codes.tolist()]
    size = _most_frequent(glyphs.size)
    large = glyphs.size >= _SMALLER * size
    base = float(np.median(glyphs.base[large]))
    return Line(
        words,
        float(words.left.min()),
        float(words.right.max()),
        base,
        size,
        bool(glyphs.bold.mean() > 0.6),
        float(words.right[0] - words.left[0]),
        _runs(glyphs, words, counts, base, size),
        bool(glyphs.before_space[-1]),
    )


def _is_from_right(codes: Ints) -> bool:
    """Whether most letters are Hebrew, Arabic or of other scripts that are read from the right."""
    right = ((codes >= 0x590) & (codes < 0x900)) | ((codes >= 0xFB1D) & (codes < 0xFF00))
    return bool(right.sum() > ((codes >= 65) & (codes < 0x590)).sum())


def _most_frequent(sizes: Floats) -> float:
    values, counts = np.unique(np.round(sizes, 1), return_counts=True)
    return float(values[np.argmax(counts)]) or 1.0


def _ranges(first: Ints, counts: Ints) -> Ints:
    """`first[0], first[0] + 1, …, first[1], …`, of each as many as it counts."""
    offsets = np.repeat(first - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
    found: Ints = offsets + np.arange(counts.sum())
    return found


def _runs(glyphs: Glyphs, words: Words, counts: Ints, base: float, size: float) -> list[Run]:
    level = np.zeros(len(glyphs), dtype=np.int64)
    small = glyphs.size < _SMALLER * size
    rise = (base - glyphs.base) / size
    level[(rise > 0.18) & (small | (rise < 0.7))] = RAISED
    level[(rise < -0.07) & small | (rise < -0.15)] = LOWERED
    begins = np.cumsum(counts) - counts
    after, before = words.left[1:] - words.right[:-1], words.left[:-1] - words.right[1:]
    gap = np.append(0.0, np.maximum(after, before))
    spaced = np.zeros(len(glyphs), dtype=bool)
    spaced[begins] = gap > _GLUED * size
    runs: list[Run] = []
    cuts = np.flatnonzero(np.diff(level)) + 1
    for part in np.split(np.arange(len(glyphs)), cuts):
        text = "".join(
            f" {chr(code)}" if space else chr(code)
            for code, space in zip(glyphs.codes[part].tolist(), spaced[part].tolist(), strict=True)
        )
        runs.append(Run(int(level[part[0]]), text))
    return runs
